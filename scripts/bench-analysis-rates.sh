#!/usr/bin/env bash
# How many sets a second the tests of Huang, Gill and Lu decide: scripts/bench-analysis-rates.sh [--smoke]
#
# Sets by the recipe of their section 4.1 (TECS 2014): 20 tasks, four levels, level 0 not inflated, at the
# utilisation where the test accepts about half; accepted and rejected sets apart. A gate is a number of
# sets a second at a thousand million instructions a second, counted by callgrind, so that it repeats on
# a busy machine; --smoke leaves out the rates of this machine, which are only shown.
set -uo pipefail
# shellcheck source=scripts/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
cd "$ROOT" || exit 4

sets=1000
case "${1:-}" in
    "") ;;
    --smoke) sets=200 ;;
    *) die 2 "usage: scripts/bench-analysis-rates.sh [--smoke]" ;;
esac
have valgrind || die 3 "bench-analysis-rates: valgrind is missing; run scripts/setup.sh bench."
cargo build --locked --release --package vestal-analysis --example analysis_rate || die 4 "bench-analysis-rates: the program does not build"
readonly PROGRAM="${CARGO_TARGET_DIR:-target}/release/examples/analysis_rate"

# counted TEST CLASS: "INSTRUCTIONS SETS"
counted() {
    local errors output
    errors="$(mktemp)"
    output="$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='*measured*' \
        "$PROGRAM" "$1" "$sets" "$2" 2>"$errors")" || { cat "$errors" >&2; die 4 "bench-analysis-rates: callgrind failed"; }
    printf '%s %s\n' "$(sed -n 's/^==[0-9]*== Collected : *\([0-9]*\).*/\1/p' "$errors")" "$output"
    rm -f "$errors"
}

# test and the sets a second that it has to reach; a set that `zss` rejects has been tried with all instants
readonly TESTS='
pt        20000
zss       1000
zss:form  20000
amc-max   200
amc-ia    200
'

if [ "$sets" = 1000 ]; then
    say "Sets a second on this machine, 20 tasks, where the test accepts about half"
    for test in pt zss zss:tightened zss:form amc-rtb amc-max amc-ia amc-ia:full; do
        "$PROGRAM" "$test" "$sets"
    done
    say ""
fi
heading "Sets a second"
while read -r test minimum; do
    [ -n "$test" ] || continue
    for class in accepted rejected; do
        read -r instructions count _ <<<"$(counted "$test" "$class")"
        if [ "${count:-0}" -lt 20 ]; then
            not_run_gate "$test, instructions a set, $class" "only ${count:-0} such sets"
            continue
        fi
        gate "$test, instructions a set, $class" "$((instructions / count))" "$((1000000000 / minimum))"
    done
done <<<"$TESTS"
verdict
