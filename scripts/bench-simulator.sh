#!/usr/bin/env bash
# The simulator's speed: scripts/bench-simulator.sh [--smoke]
#
# The task sets are those of crates/sim/examples/speed: 20, 200 or 1000 tasks, U = 0.8 by UUniFast, T
# log-uniform in 10..1000 ms, seeds 1 to 3. Instructions a job are the difference of callgrind's counts
# for a longer and a shorter run over the difference of their jobs, so that reading the arguments and
# allocating the tables do not count. Memory is the peak of the heap as DHAT sees it. Jobs a second are
# of CPU time. What `vestal simulate` takes is counted in the same way for the whole process, with the
# same sets as files. The yardstick is a loop written by hand for fixed priorities alone (hand.rs), whose counts
# have to be those of the simulator. SimSo (Cheramy, Hladik and Deplanche 2014) simulates the same set under
# rate-monotonic priorities, which here order the tasks as ours do.
set -uo pipefail
# shellcheck source=scripts/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
cd "$ROOT" || exit 4

readonly TARGET="${CARGO_TARGET_DIR:-target}"
readonly SPEED="$TARGET/release/examples/speed"
readonly VESTAL="$TARGET/release/vestal"
readonly WORK="$TARGET/bench"
# As scripts/check-simso.sh installs it.
readonly SIMSO=0.8.5
readonly SIMSO_PYTHON=target/simso-venv/bin/python

smoke=0
seeds=(1 2 3)
[ "${1:-}" = --smoke ] && smoke=1 seeds=(1)

# field NAME: the number after NAME in the line of results.
field() { awk -v name="$1" '$1 == "jobs" { for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }'; }

# counted ARGUMENT...: instructions and jobs of one run of the example.
counted() {
    local output
    output=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$SPEED" "$@" 2>&1) || return
    awk '$1 == "jobs" { jobs = $2 } / Collected / { count = $NF } END { print count, jobs }' <<<"$output"
}

# per_job ARGUMENT...: instructions a job of the example with these arguments, for some seconds, over all seeds.
per_job() {
    local seed short long
    for seed in "${seeds[@]}"; do
        short=$(counted "$@" 5 "$seed") && long=$(counted "$@" 25 "$seed") || return
        echo "$short $long"
    done | awk '{ count += $3 - $1; jobs += $4 - $2 } END { if (jobs > 0) printf "%.0f", count / jobs }'
}

instructions() {
    local statistics trace large
    statistics=$(per_job run amc statistics 20)
    trace=$(per_job run amc trace 20)
    large=$(per_job run amc statistics 200)
    gate "instructions a job, statistics, 20 tasks" "$statistics" 1000
    gate "... with a full trace, times that" "$(ratio "$trace" "$statistics")" 4
    gate "... of 200 tasks, times that of 20" "$(ratio "$large" "$statistics")" 2
    by_hand "$statistics"
    [ "$smoke" = 1 ] && return
    shown "... the same, one HI job in a hundred overruns" "$(per_job run amc-overruns statistics 20)" ""
    shown "... the same under EDF" "$(per_job run edf statistics 20)" ""
    local tasks
    for tasks in 20 200; do
        shown "... EDF-VD with overruns, $tasks tasks, one queue" "$(per_job run edf-vd statistics $tasks)" ""
        shown "... and two queues" "$(per_job run edf-vd-two-queues statistics $tasks)" ""
    done
}

# by_hand INSTRUCTIONS: the yardstick beside what the simulator takes a job, and whether both simulate the same.
by_hand() {
    local hand seed ours theirs
    hand=$(per_job hand 20)
    gate "the loop by hand, 20 tasks" "$hand" 320
    shown "... times that, the simulator" "$(ratio "$1" "$hand")" ""
    for seed in "${seeds[@]}"; do
        ours=$("$SPEED" run amc statistics 20 100 "$seed")
        theirs=$("$SPEED" hand 20 100 "$seed")
        same "jobs, completions, misses, worst responses, seed $seed" "$(counts_of "$ours")" "$(counts_of "$theirs")"
    done
}

# counts_of LINE: what the yardstick counts.
counts_of() { awk '{ for (i = 1; i < NF; i += 2) if ($i ~ /^(jobs|completed|missed|worst)$/) printf "%s ", $(i + 1) }' <<<"$1"; }

# set_of TASKS SEED SHARE: a set as `vestal` reads it, with that share of its execution times.
set_of() {
    printf 'format = "vestal/1"\nname = "bench"\nlevels = ["LO", "HI"]\nunit = "ns"\n'
    "$SPEED" list "$1" "$2" | awk -v share="$3" '{
        low = int($2 * share) + 1
        high = $3 + 0 > $2 + 0
        printf("\n[[task]]\nname = \"t%d\"\ncriticality = \"%s\"\nperiod = %s\n", NR, high ? "HI" : "LO", $1)
        printf("wcet = { LO = %d%s }\n", low, high ? ", HI = " 2 * low : "")
    }'
}

# command_counted POLICY SECONDS FILE: jobs and instructions of one `vestal simulate`, the whole process.
command_counted() {
    local output
    output=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$VESTAL" simulate "$3" --policy "$1" --for "$2s" --format json 2>&1 >"$WORK/simulated.json")
    awk '/"released":/ { split($0, parts, /"released": */); jobs = parts[2] + 0; exit } END { printf "%d ", jobs }' "$WORK/simulated.json"
    awk '/ Collected / { print $NF }' <<<"$output"
}

# command_per_job POLICY TASKS SHARE: the same a job, over all seeds, with this share of the execution times.
command_per_job() {
    local seed
    for seed in "${seeds[@]}"; do
        set_of "$2" "$seed" "$3" >"$WORK/simulated.toml"
        printf '%s %s\n' "$(command_counted "$1" 5 "$WORK/simulated.toml")" "$(command_counted "$1" 25 "$WORK/simulated.toml")"
    done | awk '{ jobs += $3 - $1; count += $4 - $2 } END { if (jobs > 0) printf "%.0f", count / jobs }'
}

# What users run: the whole process, statistics only. With 0.6 of the execution times every policy has what it takes:
# plrs finds priorities for jobs.
commands() {
    local policy kind limit twenty
    if ! cargo build --locked --quiet --release --package vestal; then
        not_run_gate "vestal simulate" "it does not build"
        return 1
    fi
    while read -r policy kind limit; do
        twenty=$(command_per_job "$policy" 20 0.6)
        "$kind" "instructions a job, vestal simulate, $policy" "$twenty" "$limit"
        [ "$policy" = amc ] || continue
        gate "... of 200 tasks, times that of 20" "$(ratio "$(command_per_job "$policy" 200 0.6)" "$twenty")" 1.5
        gate "... of 1000 tasks" "$(ratio "$(command_per_job "$policy" 1000 0.6)" "$twenty")" 2.5
    done <<'LIMITS'
amc gate 1000
rms gate 1000
edf gate 1300
plrs gate 1600
zss gate 1600
pt aim 1600
LIMITS
}

# user_seconds COMMAND...: CPU seconds in user space; nothing if it fails.
user_seconds() {
    local TIMEFORMAT='%U' seconds
    seconds=$({ time "$@" >/dev/null 2>&1; } 2>&1) && echo "$seconds"
}

# What users run beside the loop by hand, in CPU time: rounds of one run each, one after the other, so that a busy machine
# disturbs all alike. Both have the jobs of the same periods; the loop's execute all of their times and not 0.6 of them, so
# that it preempts more often.
beside_hand() {
    local -A seconds
    local round policy
    local policies=(amc rms edf plrs zss pt)
    set_of 20 1 0.6 >"$WORK/simulated.toml"
    for round in 1 2 3 4 5; do
        seconds[hand]="${seconds[hand]:-} $(user_seconds "$SPEED" hand 20 10000 1)"
        for policy in "${policies[@]}"; do
            seconds[$policy]="${seconds[$policy]:-} $(user_seconds "$VESTAL" simulate "$WORK/simulated.toml" --policy "$policy" --for 10000s --format json)"
        done
    done
    for policy in "${policies[@]}"; do
        shown "CPU time of the loop by hand over that of $policy" "$(ratio "$(sum "${seconds[hand]}")" "$(sum "${seconds[$policy]}")")" "$(aim_of "$policy")"
    done
}

sum() { awk '{ for (i = 1; i <= NF; i++) sum += $i } END { print sum }' <<<"$1"; }

aim_of() {
    case "$1" in
        amc | rms) echo "aim 0.38" ;;
        edf) echo "aim 0.33" ;;
        *) echo "aim 0.2" ;;
    esac
}

# heap_peak SECONDS: the largest number of bytes on the heap.
heap_peak() {
    valgrind --tool=dhat --dhat-out-file=/dev/null "$SPEED" run amc statistics 20 "$1" 1 2>&1 |
        sed -n 's/.*At t-gmax: *\([0-9,]*\) bytes.*/\1/p' | tr -d ,
}

memory() {
    local short long
    short=$(heap_peak 10)
    long=$(heap_peak 1000)
    gate "peak of the heap, 1000 s of time over 10 s" "$(ratio "$long" "$short" 4)" 1.01
    shown "... in bytes" "$long" ""
}

jobs_a_second() {
    local what="jobs a CPU-second, times SimSo's" why ours theirs jobs seconds
    local TIMEFORMAT='%U'
    seconds=$({ time "$SPEED" run amc statistics 20 10000 1 >"$WORK/ours"; } 2>&1)
    jobs=$(field jobs <"$WORK/ours")
    ours=$(ratio "$jobs" "$seconds" 0)
    shown "jobs a CPU-second, statistics, 20 tasks" "$ours" "aim 10000000"
    if ! why=$(scripts/check-simso.sh --install-only 2>&1); then
        not_run_gate "$what" "$why"
        return
    fi
    # The same span in both, so that the same jobs are known to have been simulated.
    theirs=$("$SPEED" list 20 1 | "$SIMSO_PYTHON" scripts/simso_jobs.py 100) || theirs=
    read -r theirs_jobs theirs <<<"$theirs"
    jobs=$("$SPEED" run amc statistics 20 100 1 | field completed)
    shown "jobs a CPU-second of SimSo $SIMSO" "$theirs" ""
    # SimSo reads milliseconds as floating-point numbers: a job at the very end may differ.
    gate "jobs completed in 100 s, SimSo's over ours" "$(ratio "${theirs_jobs:-0}" "$jobs" 4)" 1.0001
    gate "... and ours over SimSo's" "$(ratio "$jobs" "${theirs_jobs:-0}" 4)" 1.0001
    at_least "$what" "$(ratio "$ours" "${theirs:-0}" 0)" 1000
}

main() {
    have valgrind || die 3 "no valgrind: run scripts/setup.sh bench"
    mkdir -p "$WORK"
    cargo build --locked --quiet --release --package vestal-sim --example speed || return 1
    heading "simulator"
    instructions
    if [ "$smoke" = 0 ]; then
        commands && beside_hand
        memory
        jobs_a_second
    fi
    verdict
}

main
