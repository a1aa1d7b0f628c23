# The fields and statics that threads share, each as `file:line name`: those whose type is an atomic, a lock, or a cell.
#
#     awk -v cells=crates/linux/src/words/ -f not-tests.awk -f words.awk crates/linux/src/words/*.rs FILE...
#
# A cell is a type of the files under `cells` with such a field; give these first, and twice, so that a cell of cells is one too. Fields
# of a cell are its own affair, and borrowed words are somebody else's field. Cells are known in their own crate.

BEGIN { crate = cells; sub(/[^\/]*\/$/, "", crate) }

function is_word(type,   n, i, parts, own) {
    n = split(type, parts, /[^A-Za-z0-9_]+/); own = index(FILENAME, crate) == 1
    for (i = 1; i <= n; i++) if (own && parts[i] in cell || parts[i] ~ /^(Atomic[A-Z0-9][A-Za-z0-9]*|Mutex|RwLock|Condvar|OnceLock)$/) return 1
    return 0
}

FILENAME != present { present = FILENAME; name = "" }
{ code = $0; sub(/\/\/.*/, "", code); gsub(/"[^"]*"/, "", code) }
code ~ /^ *(pub(\([a-z]*\))? )?static [A-Z_]+:/ {
    item = code; sub(/^.*static /, "", item); sub(/:.*/, "", item)
    type = code; sub(/^[^:]*:/, "", type); sub(/=.*/, "", type)
    if (is_word(type) && index(FILENAME, cells) != 1) print FILENAME ":" FNR, item
    next
}
code ~ /^(pub(\([a-z]*\))? )?struct [A-Z]/ {
    public = code ~ /^pub/; name = code; sub(/^.*struct /, "", name); sub(/[^A-Za-z0-9_].*/, "", name)
    if (code ~ /;/) { if (is_word(code)) found(code); name = "" }
    next
}
code ~ /^}/ { name = ""; next }
name != "" && code ~ /^ *(pub(\([a-z]*\))? )?[a-z_0-9]+: *[^&]/ {
    item = code; sub(/:.*/, "", item); sub(/^.* /, "", item)
    type = code; sub(/^[^:]*:/, "", type)
    if (type !~ /&/ && is_word(type)) found(item)
}
# A cell, or a word that belongs to one of the others.
function found(item) {
    if (index(FILENAME, cells) == 1) { if (public) cell[name] = 1 }
    else if (item ~ /struct/) print FILENAME ":" FNR, name
    else print FILENAME ":" FNR, item
}
