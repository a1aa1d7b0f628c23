#!/usr/bin/env bash
# The samplers' speed: scripts/bench-generators.sh [--smoke]
#
# Vectors of 20 utilisations with bounds for each and a given sum, drawn exactly (BoundedSum), by
# crates/workload/examples/draw_speed. 100 000 of them in a second of CPU time are required. The sum lies at
# places from one to the other end of what the bounds allow. Instructions a vector are the difference of
# callgrind's counts for a longer and a shorter run over the difference of their vectors; the limit of 30 000
# is the requirement where a CPU carries out 3 * 10^9 instructions a second. Without --smoke the vectors a
# second of CPU time are measured too; where the limit was chosen they were 306 000 to 5 million.
set -uo pipefail
# shellcheck source=scripts/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
cd "$ROOT" || exit 4

readonly DRAW="${CARGO_TARGET_DIR:-target}/release/examples/draw_speed"
readonly PERCENTS=(1 10 30 50 75 99)

# counted SAMPLER COUNT PERCENT: instructions of one run.
counted() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$DRAW" "$1" 20 "$2" "$3" 2>&1 |
        awk '/ Collected / { print $NF }'
}

# per_vector SAMPLER PERCENT
per_vector() {
    local short long
    short=$(counted "$1" 500 "$2") && long=$(counted "$1" 2500 "$2") || return
    ratio "$((long - short))" 2000 0
}

# vectors_a_second PERCENT
vectors_a_second() {
    local TIMEFORMAT='%U' seconds
    seconds=$({ time "$DRAW" bounded 20 1000000 "$1" >/dev/null; } 2>&1)
    ratio 1000000 "$seconds" 0
}

main() {
    local percent
    have valgrind || die 3 "no valgrind: run scripts/setup.sh bench"
    cargo build --locked --quiet --release --package vestal-workload --example draw_speed || return 1
    heading "samplers of 20 utilisations"
    for percent in "${PERCENTS[@]}"; do
        gate "instructions a vector, bounded, sum at $percent %" "$(per_vector bounded "$percent")" 30000
    done
    shown "... RandFixedSum, sum at 30 %" "$(per_vector randfixedsum 30)" ""
    if [ "${1:-}" != --smoke ]; then
        for percent in "${PERCENTS[@]}"; do
            at_least "vectors a CPU-second, bounded, sum at $percent %" "$(vectors_a_second "$percent")" 100000
        done
    fi
    verdict
}

main "$@"
