#!/usr/bin/env bash
# What to run while working: scripts/check.sh [COMMIT]
#
# Formatting, the rules that no compiler checks, lints, the unit tests of every crate that is built anew, and the
# test programs of the crates that differ from COMMIT (default: from what is committed, and if nothing differs,
# from the commit before). The rest is `make test`. Exits 1 at the first thing that is wrong.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

# The files that differ from a commit, new ones included.
changed() { { git diff --name-only "$1" -- && git ls-files --others --exclude-standard; } | sort -u; }

base="${1:-HEAD}"
git rev-parse --quiet --verify "$base^{commit}" >/dev/null ||
    die 2 "check: there is no commit '$base'. Name one, a branch or a tag: scripts/check.sh main"
files="$(changed "$base")"
if [ -z "$files" ] && [ $# = 0 ]; then
    base=HEAD~1
    files="$(changed "$base")"
fi
mapfile -t crates < <(sed -nE 's#^(crates|examples)/([^/]+)/.*\.(rs|toml)$#\1/\2#p' <<<"$files" | sort -u)

# The test programs of those crates; what has a part of its own in scripts/test.sh is not among them.
programs=()
for crate in "${crates[@]}"; do
    for path in "$crate"/tests/*.rs "$crate"/tests/*/main.rs; do
        [ -e "$path" ] || continue
        name="$(basename "${path%/main.rs}" .rs)"
        case "$name" in real | soundness | c_host) ;; *) programs+=(--test "$name") ;; esac
    done
done

# What a step prints is shown if it fails.
step() {
    local start="$EPOCHREALTIME" name="$1" log="$LOGS/check-$1.log"
    shift
    if ! "$@" >"$log" 2>&1; then
        tail -n 60 "$log"
        die 1 "check: $name failed: $*"
    fi
    awk -v name="$name" -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "check: %-9s %6.1f s\n", name, b - a }'
}

readonly LOGS=target/test-logs
mkdir -p "$LOGS"
say "check: differs from $base: ${crates[*]:-no crate}"
step format cargo fmt --check -- --color never
step hygiene scripts/hygiene.sh
step clippy cargo clippy --locked --quiet --workspace --all-targets --all-features -- -D warnings
step tests cargo test "${AS_TESTED[@]}" --lib "${programs[@]}"
awk '/^test result: / { n += $4 } END { print "check: " n " tests passed" }' "$LOGS/check-tests.log"
