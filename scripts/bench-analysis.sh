#!/usr/bin/env bash
# What the analyses cost beside plain textbook loops: scripts/bench-analysis.sh [SETS]
#
# Runs crates/analysis/examples/analysis_cost under callgrind and prints, for each test and apart
# for the sets it accepts and rejects, the instructions a set of the plain loop and of ours, and
# their ratio. The inputs are SETS (default 1000) sets by recipe and seed, so the numbers are the
# same in every run of the same build. --smoke takes 200 sets. Exits 1 when a ratio exceeds its gate
# or a verdict differs.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

case "${1:-}" in
    --smoke) SETS=200 ;;
    *) SETS="${1:-1000}" ;;
esac
readonly SETS
readonly PROGRAM="${CARGO_TARGET_DIR:-target}/release/examples/analysis_cost"

# test     largest ratio of ours to the plain loop
readonly GATES='
rta        1.2
amc-rtb    0.6
amc-max    0.35
'

have valgrind || die 3 "bench-analysis: valgrind is missing; run scripts/setup.sh bench."
cargo build --locked --release --package vestal-analysis --example analysis_cost

# instructions WHO TEST CLASS: "INSTRUCTIONS SETS ACCEPTED"
instructions() {
    local errors count output
    errors="$(mktemp)"
    output="$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='*measured*' \
        "$PROGRAM" "$1" "$2" "$3" "$SETS" 2>"$errors")" || { cat "$errors" >&2; die 4 "bench-analysis: callgrind failed"; }
    count="$(sed -n 's/^==[0-9]*== Collected : *\([0-9]*\).*/\1/p' "$errors")"
    rm -f "$errors"
    [ -n "$count" ] || die 4 "bench-analysis: callgrind counted nothing"
    printf '%s %s\n' "$count" "$output"
}

failed=0
gates=0
printf '%-8s %-9s %6s %14s %14s %8s %6s\n' test class sets 'plain/set' 'ours/set' ratio gate
while read -r test gate; do
    [ -n "$test" ] || continue
    for class in accepted rejected; do
        read -r plain sets plain_accepted <<<"$(instructions plain "$test" "$class")"
        read -r ours _ ours_accepted <<<"$(instructions ours "$test" "$class")"
        if [ "$sets" = 0 ]; then
            printf '%-8s %-9s %6d %14s %14s %8s %6s\n' "$test" "$class" 0 - - - "$gate"
            continue
        fi
        verdict="$(awk -v p="$plain" -v o="$ours" -v g="$gate" 'BEGIN { print (o <= g * p) ? "" : "above the gate" }')"
        # Of the accepted sets both accept all, of the rejected ones none.
        [ "$plain_accepted" = "$ours_accepted" ] || verdict="verdicts differ: $plain_accepted and $ours_accepted"
        printf '%-8s %-9s %6d %14d %14d %8.3f %6s %s\n' "$test" "$class" "$sets" \
            $((plain / sets)) $((ours / sets)) \
            "$(awk -v p="$plain" -v o="$ours" 'BEGIN { print o / p }')" "$gate" "$RED$verdict$PLAIN"
        gates=$((gates + 1))
        [ -z "$verdict" ] || failed=$((failed + 1))
    done
done <<<"$GATES"
# The line by which scripts/test.sh counts.
printf 'test result: %s. %d passed; %d failed;\n' "$([ "$failed" = 0 ] && echo ok || echo FAILED)" \
    "$((gates - failed))" "$failed"
exit "$((failed > 0))"
