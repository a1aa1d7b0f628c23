#!/usr/bin/env bash
# Fixed job priorities in figures: scripts/bench-job-order.sh [--smoke]
#
# Three tables on sets of Huang, Gill and Lu (TECS 2014, section 4.1), four levels, level 0 not inflated:
# how many job priorities the sets of their example need (they say about 115; printed only), how fast
# the tests decide (sets a second are printed, instructions a set are a gate), and what the online step
# of list reuse costs beside copying the lists, as described, and beside computing them anew (Li and
# Baruah). Instructions are callgrind's. Gates: twice the tasks cost at most four times the step, O(n^2);
# lists many times as long cost at most half as much again, and then no more than copying them; the step
# is not above that of computing anew; both kinds of list reuse give the same priorities. Copying a list
# of a few dozen entries is a little cheaper than not copying it, and shown. Exits 1 when a gate fails.
# --smoke leaves out what is timed.
set -uo pipefail
# shellcheck source=scripts/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
cd "$ROOT" || exit 4

smoke=0
case "${1:-}" in
    "") ;;
    --smoke) smoke=1 ;;
    *) die 2 "usage: scripts/bench-job-order.sh [--smoke]" ;;
esac
have valgrind || die 3 "bench-job-order: valgrind is missing; run scripts/setup.sh bench."
cargo build --locked --release --package vestal-analysis --example job_order --example analysis_rate || die 4 "bench-job-order: the programs do not build"
readonly PROGRAMS="${CARGO_TARGET_DIR:-target}/release/examples"

# counted PROGRAM ARGUMENTS...: "INSTRUCTIONS OUTPUT"
counted() {
    local errors output
    errors="$(mktemp)"
    output="$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='*measured*' \
        "$PROGRAMS/$1" "${@:2}" 2>"$errors")" || { cat "$errors" >&2; die 4 "bench-job-order: callgrind failed"; }
    printf '%s %s\n' "$(sed -n 's/^==[0-9]*== Collected : *\([0-9]*\).*/\1/p' "$errors")" "$output"
    rm -f "$errors"
}

say "Job priorities of 20 tasks at U 0.80, 1000 sets (the paper: about 115)"
"$PROGRAMS/job_order" distinct 1000
if [ "$smoke" = 0 ]; then
    say ""
    say "Sets a second, 20 tasks, where the test accepts about half"
    for test in fjp-mode fjp-own fjp-lb fjp-ija:ceil amc-rtb; do
        "$PROGRAMS/analysis_rate" "$test" 400
    done
    "$PROGRAMS/job_order" closed-form 1000
fi
say ""
heading "Fixed job priorities"
for class in accepted rejected; do
    read -r instructions sets _ <<<"$(counted analysis_rate fjp-mode 400 "$class")"
    # 500 sets a second at a thousand million instructions a second.
    gate "fjp-mode, instructions a set, $class" "$((instructions / sets))" 2000000
done
declare -A step entries given
for tasks in 10 20 40 80; do
    for who in pieces copied recomputed; do
        read -r instructions steps length hash <<<"$(counted job_order step "$who" fjp-mode "$tasks" 70)"
        step[$who-$tasks]=$((instructions / steps))
        entries[$tasks]=$length
        given[$who-$tasks]=$hash
    done
    shown "step, $tasks tasks, ${entries[$tasks]} entries: reused, copied" "${step[pieces-$tasks]}" "${step[copied-$tasks]}"
    gate "step of list reuse, $tasks tasks, against anew" "${step[pieces-$tasks]}" "${step[recomputed-$tasks]}"
    [ "${given[pieces-$tasks]}" = "${given[copied-$tasks]}" ] || not_run_gate "the same priorities" "the two kinds of list reuse differ"
done
for tasks in 10 20 40; do
    twice=$((2 * tasks))
    gate "step, $twice tasks against $tasks" "$(ratio "${step[pieces-$twice]}" "${step[pieces-$tasks]}")" 4
done
# The lists of fjp-lb are far longer than they need be.
for who in pieces copied recomputed; do
    read -r instructions steps long hash <<<"$(counted job_order step "$who" fjp-lb 20 72)"
    step[$who-long]=$((instructions / steps))
done
shown "step, 20 tasks, $long entries: copied, anew" "${step[copied-long]}" "${step[recomputed-long]}"
gate "step of list reuse, $long entries, against copying" "${step[pieces-long]}" "${step[copied-long]}"
gate "step, $long entries against ${entries[20]}" "$(ratio "${step[pieces-long]}" "${step[pieces-20]}")" 1.5
verdict
