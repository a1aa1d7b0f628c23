#!/usr/bin/env bash
# Rules that no compiler checks: scripts/hygiene.sh [TREE]
#
# Looks at every file git would track in TREE (default: this repository). Prints one line for each
# finding, `file:line: what is wrong; what to do`, and exits 1 when there is one. Needs git, grep,
# sed, awk and coreutils only. Its own test is scripts/hygiene-selftest.sh, which plants each violation once.
#
# Words that may not occur are written here with brackets, so that this file does not contain them.
set -uo pipefail
export LC_ALL=C

# Where `unsafe` may stand: the Linux world's system calls, the trace rings, the bare-metal world. (Extended regular expression on paths.)
readonly UNSAFE_ALLOWED='^crates/(sys/src/|trace/src/ring(/|\.rs$)|kernel/)'

# The unit-step reference scheduler, and all of vestal_core it may see.
readonly REFERENCE='^crates/sim/(src|tests)/reference(/|\.rs$)'
readonly REFERENCE_MAY_IMPORT='model|ids|time'

# The members of the workspace.
readonly MANIFESTS='^(crates|examples)/[^/]*/Cargo\.toml$'

# crate: what it may depend on | what its tests may use besides. `-` is none, `*` is any.
# Only vestal crates are named; `external` allows others at all.
readonly DIRECTIONS='
core      -                        vestal-testkit,external
hsf       -                        vestal-core,vestal-testkit
workload  vestal-core,external     *
analysis  vestal-core,external     *
policy    vestal-core,vestal-analysis,vestal-workload,external *
statistics external                -
sim       vestal-core,vestal-statistics,external *
trace     vestal-core,external     vestal-core,vestal-testkit,external
result    vestal-statistics,external -
report    vestal-core,vestal-result,vestal-trace,external *
account   vestal-core,vestal-statistics,vestal-trace -
sys       external                 -
linux     vestal-core,vestal-statistics,vestal-account,vestal-sys,vestal-trace,external *
bench     vestal-core,vestal-statistics,vestal-sys,vestal-trace,vestal-linux,external *
figure    -                        -
experiment vestal-core,vestal-figure,vestal-workload,vestal-analysis,vestal-policy,vestal-result,vestal-sim,vestal-statistics,external *
cli       *                        *
readers   *                        -
testkit   vestal-core,vestal-sim,vestal-sys,external -
own-policy vestal,vestal-core,vestal-analysis,vestal-policy *
'

# Where policies have their names; elsewhere nobody asks for one. Figures and tables of measurements name policies in data.
readonly POLICIES='^crates/policy/src/policies/[^/]*\.rs$'
readonly MAY_NAME_POLICIES='^crates/(policy/src/policies/|analysis/src/(controls|schedulability/)|experiment/src/figure/)|/tests?(/|\.rs$)|_(tests|cases)\.rs$'

# Worlds read permits and configurations; kinds of policies stand in core and policy alone. Benchmarks and
# measurements choose kinds, as data.
readonly WORLDS='^crates/(sim|linux|trace|cli|report)/src/.*\.rs$'
readonly KINDS='Enforcement|TaskOrder|Configuration'
readonly MAY_KNOW_KINDS='/(slack_trace|bench)(/|\.rs$)|/tests?(/|\.rs$)|_(tests|cases)\.rs$'

# Rooms: the one module of its crate that each may name, its own (`*`: any), and what else it may not.
readonly ROOMS='
crates/account/src     *     std::(sync|thread|time|fs|process|net|os|env)|target_(os|family|env)|cfg\((unix|windows)
crates/linux/src/words words vestal_(core|trace|statistics|account)|std::(time|fs|process)
'

# Inside a crate no file is imported by more than so many others; but those of the rooms that all share words by.
readonly FEW_IMPORTERS='^crates/linux/src$'
readonly MOST_IMPORTERS=10
readonly WIDELY_IMPORTED='^crates/linux/src/words/'

# Words that threads share: where their cells are, who may have some, and the page with a row for each.
readonly CELLS=crates/linux/src/words/
readonly SHARING='^crates/(linux|sys)/src/.*\.rs$'
readonly WORDS_PAGE=docs/linux-words.md

# Files of tests alone, and of models, which are some.
readonly TEST_FILES='/tests?(/|\.rs$)|_(tests|cases)\.rs$'
readonly MODEL_FILES='^crates/linux/src/.*(_models?|/models)\.rs$'

readonly LONGEST_FILE=600
readonly LONG_FILES=scripts/long-files.txt

# Traces of one machine's directories and of tools that have no place in a published tree.
readonly FORBIDDEN='(^|[^A-Za-z0-9_.-])/([w]ork|[f]arm)/|/tmp/[w]t(/|$)|(^|[^a-z])[s]hared/(design|reference)|[a]lgorithms\.md'
readonly FORBIDDEN_WORDS='[c]laude|[a]nthropic|chat[g]pt|[o]penai|[c]opilot|[g]emini|[c]odex|[l]lms?|[c]o-authored-by|[i]ssue #?[0-9]+'

# Work that was put off.
readonly PUT_OFF='T[O]DO|F[I]XME|(t[o]do|u[n]implemented)!|#!?\[i[g]nore'

# ---------------------------------------------------------------------------------------------

SCRIPTS="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)" || exit 3
readonly SCRIPTS
NOT_TESTS="$(<"$SCRIPTS/not-tests.awk")" || exit 3
readonly NOT_TESTS
cd "${1:-$SCRIPTS/..}" || exit 3
git rev-parse --is-inside-work-tree >/dev/null || exit 3

# New files count before they are committed; deleted ones no longer do.
mapfile -t FILES < <(git ls-files --cached --others --exclude-standard | sort -u |
    while IFS= read -r file; do [ -f "$file" ] && printf '%s\n' "$file"; done)

# report REMEDY: each line `file:line: what` of stdin is a finding.
report() {
    local line
    while IFS= read -r line; do
        [ -z "$line" ] || printf "%s; %s\n" "$line" "$1"
    done
}

files() { printf '%s\n' "${FILES[@]}" | grep -E -- "$1"; }

# search PATTERN [GREP-OPTION...]: `file:line: text` for each match in the files on stdin.
search() {
    local pattern="$1"
    shift
    tr '\n' '\0' | xargs -0 -r grep -HnIE "$@" -e "$pattern" -- | cut -c -160 |
        sed -E 's/^([^:]*:[0-9]+):[[:space:]]*/\1: /'
}

# Rust without comments, string and character literals: `file:line: code` for the files on stdin.
rust_code() {
    tr '\n' '\0' | xargs -0 -r awk '
        { code = $0
          gsub(/\\["\\]/, "", code); gsub(/\047"\047/, "", code); gsub(/"[^"]*"/, "\"\"", code)
          sub(/\/\/.*/, "", code)
          if (code ~ /[^ \t]/) { sub(/^[ \t]+/, "", code); print FILENAME ":" FNR ": " code } }'
}

check_licences() {
    local file manifest
    for file in LICENSE-MIT LICENSE-APACHE; do
        [ -s "$file" ] || echo "$file:1: the licence text is missing"
    done | report "restore the file: the workspace is MIT OR Apache-2.0"
    for manifest in $(files "$MANIFESTS"); do
        grep -qE '^license(\.workspace)? *= *(true|"MIT OR Apache-2\.0")' "$manifest" ||
            echo "$manifest:1: no licence"
    done | report "add 'license.workspace = true' under [package]"
}

check_forbidden_traces() {
    files . | search "$FORBIDDEN" | report "name the thing by what it is in this repository"
    files . | search "$FORBIDDEN_WORDS" -iw | report "say it without naming a tool or a ticket"
}

check_put_off() {
    files . | search "$PUT_OFF" | report "do it now, or describe what is missing in CAVEATS.md"
}

check_unsafe() {
    files '\.rs$' | grep -vE "$UNSAFE_ALLOWED" | rust_code |
        grep -E '^[^:]*:[0-9]+:.*(^|[^A-Za-z0-9_])unsafe([^A-Za-z0-9_]|$)' |
        report "put the system call behind a safe function in crates/sys"
}

check_long_files() {
    local file lines
    files '\.(rs|sh|py|js|css|html|md|toml|c|h)$' | while IFS= read -r file; do
        lines="$(wc -l <"$file")"
        [ "$lines" -gt "$LONGEST_FILE" ] || continue
        grep -qE "^${file//./\\.}[[:space:]]+[^[:space:]]" "$LONG_FILES" 2>/dev/null ||
            echo "$file:$lines: $lines lines, at most $LONGEST_FILE"
    done | report "split it, or name it with a reason in $LONG_FILES"
    [ -f "$LONG_FILES" ] || return 0
    awk '!/^#/ && NF { print FNR, $1, (NF > 1) }' "$LONG_FILES" | while read -r lines file reason; do
        if [ "$reason" = 0 ]; then
            echo "$LONG_FILES:$lines: $file has no reason"
        elif [ ! -f "$file" ] || [ "$(wc -l <"$file")" -le "$LONGEST_FILE" ]; then
            echo "$LONG_FILES:$lines: $file is not a long file (any more)"
        fi
    done | report "write 'path reason', and drop entries that are no longer needed"
}

# The reference is a second opinion only as long as it shares no code with what it checks.
check_reference() {
    local code
    code="$(files "$REFERENCE" | rust_code)"
    grep -E ': .*vestal_core' <<<"$code" |
        awk -v may="^::($REFERENCE_MAY_IMPORT)([^A-Za-z0-9_]|\$)" '
            { rest = $0; bad = 0; sub(/^[^:]*:[0-9]+: /, "", rest)
              while (match(rest, /vestal_core/)) { rest = substr(rest, RSTART + RLENGTH); if (rest !~ may) bad = 1 }
              if (bad) print }' |
        report "import single items of vestal_core::{$REFERENCE_MAY_IMPORT} only, one 'use' for each module"
    grep -E '(^|[^A-Za-z0-9_])(crate::|vestal_sim::|super::super)' <<<"$code" |
        grep -vE '(crate|vestal_sim)::reference' |
        report "the reference may not use the simulator it checks"
}

# `section dependency line` of a manifest; dotted tables ([dependencies.foo]) included.
dependencies_of() {
    awk '/^\[/ { section = $0; gsub(/[][ \t]/, "", section)
                 dotted = section
                 if (match(dotted, /dependencies\./)) {
                     print substr(dotted, 1, RSTART + 11), substr(dotted, RSTART + RLENGTH), FNR; section = "" }
                 next }
         section ~ /dependencies$/ && /^[A-Za-z0-9_-]+/ { name = $0; sub(/[ \t.=].*/, "", name); print section, name, FNR }' "$1"
}

# allowed LIST NAME
allowed() {
    [ "$1" = "*" ] && return 0
    case ",$1," in *",$2,"*) return 0 ;; esac
    case "$2" in vestal*) return 1 ;; esac
    case ",$1," in *,external,*) return 0 ;; esac
    return 1
}

check_directions() {
    local crate manifest rule code_may tests_may section name line
    for manifest in $(files "$MANIFESTS"); do
        crate="${manifest#*/}" crate="${crate%/Cargo.toml}"
        rule="$(awk -v crate="$crate" '$1 == crate { print $2, $3 }' <<<"$DIRECTIONS")"
        if [ -z "$rule" ]; then
            echo "$manifest:1: what crate $crate may know is not written down"
            continue
        fi
        read -r code_may tests_may <<<"$rule"
        dependencies_of "$manifest" | while read -r section name line; do
            case "$section" in
                *dev-dependencies) allowed "$tests_may" "$name" ;;
                *) allowed "$code_may" "$name" ;;
            esac || echo "$manifest:$line: crate $crate may not know $name ($section)"
        done
    done | report "see DIRECTIONS in scripts/hygiene.sh and 'The crates' in ARCHITECTURE.md"
}

# A policy says what it is; who compares its name knows what only it should.
check_policy_names() {
    local names
    names="$(files "$POLICIES" | tr '\n' '\0' | xargs -0 -r sed -nE 's/^ *name: "([a-z-]+)",$/\1/p' | sort -u | paste -sd '|')"
    [ -n "$names" ] || return 0
    files '^(crates|examples)/[^/]*/src/.*\.rs$' | grep -vE "$MAY_NAME_POLICIES" | tr '\n' '\0' |
        xargs -0 -r awk -v name="\"($names)\"" "$NOT_TESTS"'
            !/^ *\/\// && ($0 ~ "[=!]= *&?" name || $0 ~ name " *([=!]=|=>|\\|)" || $0 ~ "\\| *" name ||
                $0 ~ "(matches!|contains|starts_with|ends_with)\\(.*" name) {
                code = $0; sub(/^[ \t]+/, "", code); print FILENAME ":" FNR ": " code }' |
        report "ask the policy: a method of vestal_policy::Policy, or a field of its About"
}

# A permit says what a world has to do, and a configuration what it does; a world that asks for the kind of
# policy behind them would have to learn every new one.
check_kinds_in_worlds() {
    files "$WORLDS" | grep -vE "$MAY_KNOW_KINDS" | tr '\n' '\0' |
        xargs -0 -r awk -v kind="(^|[^A-Za-z0-9_])($KINDS)::[A-Z]" "$NOT_TESTS"'
            /^ *\/\// { next }
            { code = $0; gsub(/"[^"]*"/, "", code); sub(/\/\/.*/, "", code)
              if (code ~ kind) { sub(/^[ \t]+/, "", code); print FILENAME ":" FNR ": " code } }' |
        report "ask the permit, the interest of the enforcer, or a method of the kind itself"
}

# What is judged afterwards needs no machine, and a word that threads share knows nothing of what it is used for.
check_rooms() {
    local room module never code
    while read -r room module never; do
        [ -n "$room" ] || continue
        code="$(files "^$room(/|\.rs\$)" | rust_code | grep -v '/tests\.rs:')"
        [ "$module" = "*" ] ||
            grep -E '(^|[^A-Za-z0-9_])crate::' <<<"$code" | grep -vE "crate::$module([^A-Za-z0-9_]|\$)"
        grep -E "(^|[^A-Za-z0-9_])($never)" <<<"$code"
    done <<<"$ROOMS" | report "see ROOMS in scripts/hygiene.sh; hand it in as a parameter"
}

# The modules of a loop in the edges on stdin, if there is one.
loop_of() { tsort 2>&1 >/dev/null | grep -v 'contains a loop' | sed 's/^tsort: //' | paste -sd ' '; }

# Inside a crate, top-level modules know one another in one direction only; tests apart.
check_module_cycles() {
    local crate src loop
    for crate in $(files '^crates/[^/]*/src/lib\.rs$' | cut -d / -f 2); do
        src="crates/$crate/src"
        loop="$(files "^$src/.*\.rs$" | grep -vE "$TEST_FILES" | tr '\n' '\0' |
            xargs -0 -r awk "$NOT_TESTS"'
                FILENAME != present { present = FILENAME; module = FILENAME; sub(".*/src/", "", module); sub(/\.rs$/, "", module)
                           sub(/\/.*/, "", module) }
                module == "lib" || module == "main" { next }
                { code = $0; gsub(/"[^"]*"/, "", code); sub(/\/\/.*/, "", code)
                  if (match(code, /crate::\{.*/)) {
                      list = substr(code, RSTART + 8); gsub(/, */, " crate::", list); code = code " crate::" list }
                  while (match(code, /crate::[a-z_0-9]+/)) {
                      other = substr(code, RSTART + 7, RLENGTH - 7); code = substr(code, RSTART + RLENGTH)
                      if (other != module) print module, other } }' |
            sort -u | while read -r one other; do
                [ ! -e "$src/$other.rs" ] && [ ! -d "$src/$other" ] || echo "$one $other"
            done | loop_of)"
        [ -z "$loop" ] || echo "$src/lib.rs:1: modules that know each other: $loop"
    done | report "move what both need below them"
}

# Where few may import a file: `count file importers...` of the sources in a directory; tests apart.
importers() {
    files "^$1/.*\.rs$" | grep -vE "$TEST_FILES" | tr '\n' '\0' |
        xargs -0 -r awk -v src="$1" -f "$SCRIPTS/not-tests.awk" -f "$SCRIPTS/importers.awk"
}

# What many files know nobody can change: each imports the few things that it needs. And no two know each other, also through others, by what
# they import for themselves: a public use, and the path of a file below, is no import here.
check_importers() {
    local src list count file names name loop
    for src in $(files '^crates/[^/]*/src/lib\.rs$' | sed 's|/lib\.rs$||' | grep -E "$FEW_IMPORTERS"); do
        list="$(importers "$src")"
        while read -r count file names; do
            [ "${count:-0}" -le "$MOST_IMPORTERS" ] || grep -qE "$WIDELY_IMPORTED" <<<"$file" ||
                echo "$file:1: $count files import it: $names"
        done <<<"$list" | report "give each the part that it needs, in a file of its own"
        loop="$(while read -r _ file names; do
            file="${file#"$src"/}" file="${file%.rs}" file="${file%/mod}"
            for name in $names; do echo "$name $file"; done
        done <<<"$list" | loop_of)"
        [ -z "$loop" ] || echo "$src/lib.rs:1: files that know each other: $loop" | report "move what both need below them"
    done
}

# Who reads a word, and what for, is to be found in one place.
check_words() {
    local cells sharing rows at name
    mapfile -t cells < <(files "^$CELLS" | grep -vE "$TEST_FILES|$MODEL_FILES")
    mapfile -t sharing < <(files "$SHARING" | grep -vE "$TEST_FILES|$MODEL_FILES")
    [ "${#sharing[@]}" -gt 0 ] || return 0
    rows="$(sed -nE 's/^\| ([^|]*) \|.*/\1/p' "$WORDS_PAGE" 2>/dev/null)"
    awk -v cells="$CELLS" -f "$SCRIPTS/not-tests.awk" -f "$SCRIPTS/words.awk" "${cells[@]}" "${cells[@]}" "${sharing[@]}" | sort -u |
        while read -r at name; do
            grep -qE "\`([a-z_]+\.)*$name\`" <<<"$rows" || echo "$at: threads share $name, which has no row"
        done | report "say who writes and reads it, in what order and why, in $WORDS_PAGE"
}

# Every dependency has its reason in the decision record.
check_reasons() {
    local record=docs/adr/0002-dependencies.md name line
    awk '/^\[/ { on = /^\[workspace\.dependencies\]/; next }
         on && /^[A-Za-z0-9_-]+/ { name = $0; sub(/[ \t.=].*/, "", name); print name, FNR }' Cargo.toml |
        while read -r name line; do
            case "$name" in vestal*) continue ;; esac
            grep -qE "^\|.*\`$name\`" "$record" 2>/dev/null || echo "Cargo.toml:$line: $name has no reason"
        done | report "add a row to $record"
}

# Clippy finds the printing; here only that nobody has switched it off, and code before the tests.
check_printing() {
    local manifest
    grep -q '^print_stdout *=' Cargo.toml || echo "Cargo.toml:1: the lint print_stdout is off" |
        report "restore it under [workspace.lints.clippy]"
    for manifest in $(files "$MANIFESTS"); do
        awk '/^\[lints\]/ { on = 1; next } /^\[/ { on = 0 } on && /^workspace *= *true/ { found = 1 }
             END { exit !found }' "$manifest" || echo "$manifest:1: the workspace lints are off"
    done | report "add '[lints]' with 'workspace = true'"
    files '^(crates|examples)/[^/]*/src/.*\.rs$' | grep -vE '^crates/cli/|/tests?(/|\.rs$)' | rust_code |
        awk '{ file = $0; sub(/:.*/, "", file) }
             /#\[cfg\(test\)\]/ { in_tests[file] = 1 }
             !in_tests[file] && /(^|[^A-Za-z0-9_])(e?print(ln)?|dbg)!|allow\(.*print_std/' |
        report "return the text or a notice; only crates/cli prints"
}

# Relative links, inline and by reference, outside code.
check_links() {
    local file
    files '\.md$' | while IFS= read -r file; do
        awk '/^[ \t]*(```|~~~)/ { fenced = !fenced; next }
             fenced { next }
             { text = $0; gsub(/`[^`]*`/, "", text)
               if (match(text, /^ *\[[^]]+\]:[ \t]*[^ \t]+/)) {
                   link = substr(text, RSTART, RLENGTH); sub(/^[^:]*:[ \t]*/, "", link); print FNR "\t" link }
               while (match(text, /\]\([^) \t]+/)) {
                   print FNR "\t" substr(text, RSTART + 2, RLENGTH - 2); text = substr(text, RSTART + RLENGTH) } }' "$file" |
            while IFS=$'\t' read -r line link; do
                case "$link" in *://* | mailto:* | '#'*) continue ;; esac
                case "$link" in
                    /*) target=".${link%%#*}" ;;
                    *) target="$(dirname "$file")/${link%%#*}" ;;
                esac
                [ -e "$target" ] || echo "$file:$line: the link to $link leads nowhere"
            done
    done | report "mend the path, or write the name without a link"
}

# Findings are lines.
output="$(
    check_licences
    check_forbidden_traces
    check_put_off
    check_unsafe
    check_long_files
    check_reference
    check_directions
    check_policy_names
    check_kinds_in_worlds
    check_rooms
    check_module_cycles
    check_importers
    check_words
    check_reasons
    check_printing
    check_links
)"
[ -z "$output" ] || printf '%s\n' "$output"
findings="$(printf '%s' "$output" | grep -c '')"
printf 'hygiene: %d files, %d findings\n' "${#FILES[@]}" "$findings"
[ "$findings" = 0 ]
