#!/usr/bin/env bash
# What MC² on several CPUs does for one step, however many tasks there are: scripts/bench-claims.sh
#
# Runs crates/linux/examples/claims under callgrind with 20 and with 120 tasks, and prints the instructions a step and their ratio: what
# the domain of a CPU does when a job ends (`local`), and publishing, taking and giving back a job of level C (`claim`). A manager's round has
# more, which is not counted here: it looks at each of its own workers. Exits 1 if a ratio exceeds its limit, or if one that looks at each task
# besides (`walk`), which is the control of `claim`, does not. With --smoke it does nothing: the program takes longer to build than to run.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

case "${1:-}" in
    "") ;;
    --smoke) exit 0 ;;
    *) die 2 "usage: scripts/bench-claims.sh [--smoke]" ;;
esac
readonly ROUNDS=2000
readonly PROGRAM="${CARGO_TARGET_DIR:-target}/release/examples/claims"

have valgrind || die 3 "bench-claims: valgrind is missing; run scripts/setup.sh bench."
cargo build --locked --release --package vestal-linux --features real --example claims || die 4 "bench-claims: the program does not build"

# instructions WHAT TASKS: a step
instructions() {
    local errors count
    errors="$(mktemp)"
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='*measured_*' \
        "$PROGRAM" "$1" "$2" "$ROUNDS" >/dev/null 2>"$errors" || { cat "$errors" >&2; die 4 "bench-claims: callgrind failed"; }
    count="$(sed -n 's/^==[0-9]*== Collected : *\([0-9]*\).*/\1/p' "$errors")"
    rm -f "$errors"
    [ -n "$count" ] && [ "$count" -gt 0 ] || die 4 "bench-claims: callgrind counted nothing"
    printf '%s\n' "$((count / ROUNDS))"
}

failed=0
gates=0
printf '%-8s %10s %10s %8s %8s\n' step '20 tasks' '120 tasks' ratio limit
while read -r what limit; do
    [ -n "$what" ] || continue
    few="$(instructions "$what" 20)"
    many="$(instructions "$what" 120)"
    # Of the control the limit is to be exceeded.
    verdict="$(awk -v f="$few" -v m="$many" -v l="$limit" -v w="$what" \
        'BEGIN { above = (m > l * f); if (w == "walk") print above ? "" : "the control is not found"; else print above ? "above the limit" : "" }')"
    printf '%-8s %10d %10d %8.3f %8s %s\n' "$what" "$few" "$many" "$(awk -v f="$few" -v m="$many" 'BEGIN { print m / f }')" "$limit" "$RED$verdict$PLAIN"
    gates=$((gates + 1))
    [ -z "$verdict" ] || failed=$((failed + 1))
done <<'LIMITS'
local 1.3
claim 1.05
walk  1.05
LIMITS
printf 'test result: %s. %d passed; %d failed;\n' "$([ "$failed" = 0 ] && echo ok || echo FAILED)" \
    "$((gates - failed))" "$failed"
exit "$((failed > 0))"
