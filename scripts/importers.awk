# Which modules of a crate import each of its files: `count file importers...` for each that is imported at all.
#
#     awk -v src=crates/linux/src -f not-tests.awk -f importers.awk crates/linux/src/*.rs ...
#
# An import is counted for the file in which the item is defined, whatever re-exports it comes through; the root of
# the crate imports nothing here. A module is written `driver/managed`.

# The module of a file.
function module_of(file) {
    file = substr(file, length(src) + 2)
    sub(/\.rs$/, "", file); sub(/\/mod$/, "", file)
    return file
}

function join(module, path) { return module == "lib" ? path : module "/" path }

# The module whose file defines what `path` names, seen from the root; through so many re-exports at most.
function home(path, depth,   parts, n, i, at, rest) {
    n = split(path, parts, "/"); at = "lib"
    for (i = 1; i <= n && join(at, parts[i]) in file_of; i++) at = join(at, parts[i])
    if (i > n || depth == 0 || !((at, parts[i]) in comes_from)) return at
    rest = comes_from[at, parts[i]]
    while (++i <= n) rest = rest "/" parts[i]
    return home(rest, depth - 1)
}

# `path` as written in `module`, seen from the root; nothing if it is of another crate.
function absolute(module, path,   first) {
    gsub(/ /, "", path); gsub(/::/, "/", path)
    if (sub(/^crate\//, "", path)) return path
    if (sub(/^self\//, "", path)) return join(module, path)
    if (path ~ /^super\//) {
        while (sub(/^super\//, "", path)) if (!sub(/\/[^\/]*$/, "", module)) module = "lib"
        return join(module, path)
    }
    first = path; sub(/\/.*/, "", first)
    return join(module, first) in file_of ? join(module, path) : ""
}

# Takes each path of the tree of a `use`, which makes it known here; a public one is no import.
function take(module, prefix, tree, public,   i, c, depth, item, name, open, path) {
    for (i = 1; i <= length(tree) + 1; i++) {
        c = substr(tree, i, 1)
        depth += (c == "{") - (c == "}")
        if (c != "" && (c != "," || depth > 0)) { item = item c; continue }
        gsub(/^ +| +$/, "", item)
        open = index(item, "{")
        if (open) {
            take(module, prefix substr(item, 1, open - 1), substr(item, open + 1, length(item) - open - 1), public)
        } else if (item != "") {
            name = item; if (!sub(/.* as /, "", name)) sub(/.*::/, "", name)
            sub(/ as .*/, "", item); sub(/(::)?self$/, "", item)
            path = prefix item; sub(/::$/, "", path); path = absolute(module, path)
            # Modules inside of this one know it by the same name.
            if (path != "") comes_from[module, name] = path
            if (path != "" && !public) uses[module] = uses[module] " " path
        }
        item = ""
    }
}

FILENAME != present { present = FILENAME; module = module_of(FILENAME); file_of[module] = FILENAME; modules[++count] = module }
{
    code = $0
    gsub(/"[^"]*"/, "", code); sub(/\/\/.*/, "", code)
    text[module] = text[module] " " code
}

END {
    for (m = 1; m <= count; m++) {
        module = modules[m]; code = text[module]; rest = ""
        while (match(code, /(pub(\([a-z]*\))? +)?use +[a-z][^;()]*;/)) {
            statement = substr(code, RSTART, RLENGTH - 1)
            rest = rest substr(code, 1, RSTART - 1); code = substr(code, RSTART + RLENGTH)
            public = statement ~ /^pub/
            sub(/^(pub(\([a-z]*\))? +)?use +/, "", statement)
            take(module, "", statement, public)
        }
        code = rest code
        while (match(code, /(crate|super)::[A-Za-z0-9_:]+/)) {
            uses[module] = uses[module] " " absolute(module, substr(code, RSTART, RLENGTH))
            code = substr(code, RSTART + RLENGTH)
        }
    }
    for (m = 1; m <= count; m++) {
        module = modules[m]
        if (module == "lib") continue
        n = split(uses[module], paths, " ")
        for (i = 1; i <= n; i++) {
            other = home(paths[i], 9)
            if (other == module || other == "lib" || (other, module) in known) continue
            known[other, module] = 1; importers[other]++; names[other] = names[other] " " module
        }
    }
    for (module in importers) print importers[module], file_of[module] names[module]
}
