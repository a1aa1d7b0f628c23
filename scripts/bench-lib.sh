# Shared by the scripts/bench-*.sh; sourced, never run.
#
# Each of them calls `gate` (or `at_least`, `aim`, `not_run_gate`) for each of its figures and ends
# with `verdict`. Counts are callgrind's, so that they repeat on a busy machine.
# shellcheck shell=bash
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

gates_passed=0
gates_failed=0

heading() {
    printf '%s%s%s\n' "$BOLD" "$1" "$PLAIN"
    printf '%-52s %14s %14s  %s\n' figure measured limit result
}

# row WHAT MEASURED LIMIT HOLDS: one line of the table, and its part in the verdict.
row() {
    local result=ok colour="$GREEN"
    if [ "$4" = 1 ]; then
        gates_passed=$((gates_passed + 1))
    else
        result=FAILED colour="$RED" gates_failed=$((gates_failed + 1))
    fi
    printf '%-52s %14s %14s  %s%s%s\n' "$1" "$2" "$3" "$colour" "$result" "$PLAIN"
}

# gate WHAT MEASURED MAXIMUM
gate() { row "$1" "$2" "at most $3" "$(awk -v a="$2" -v b="$3" 'BEGIN { print (a != "" && a + 0 > 0 && a + 0 <= b + 0) }')"; }

# aim WHAT MEASURED MAXIMUM: a limit that is not kept yet: said, and no failure. One that is kept is to become a gate.
aim() {
    if [ -z "$2" ]; then
        not_run_gate "$1" "there is no figure"
        return
    fi
    local result="not yet"
    [ "$(awk -v a="$2" -v b="$3" 'BEGIN { print (a != "" && a + 0 > 0 && a + 0 <= b + 0) }')" = 1 ] && result="kept: make it a gate"
    printf '%-52s %14s %14s  %s\n' "$1" "$2" "aim $3" "$result"
}

# at_least WHAT MEASURED MINIMUM
at_least() { row "$1" "$2" "at least $3" "$(awk -v a="$2" -v b="$3" 'BEGIN { print (a != "" && a + 0 >= b + 0) }')"; }

# same WHAT ONE OTHER: two figures that have to be one.
same() {
    local holds=0
    [ -n "$2" ] && [ "$2" = "$3" ] && holds=1
    row "$1" "${2%% *}" "${3%% *}" "$holds"
}

# shown WHAT MEASURED NOTE: a figure that nothing depends on.
shown() { printf '%-52s %14s %14s\n' "$1" "$2" "$3"; }

# not_run_gate WHAT WHY: what could not be measured has not been shown to hold.
not_run_gate() {
    gates_failed=$((gates_failed + 1))
    printf '%-52s %sNOT RUN%s: %s\n' "$1" "$RED" "$PLAIN" "$2"
}

verdict() {
    local word=ok
    [ "$gates_failed" = 0 ] || word=FAILED
    printf 'test result: %s. %d passed; %d failed;\n' "$word" "$gates_passed" "$gates_failed"
    [ "$gates_failed" = 0 ]
}

ratio() { awk -v a="$1" -v b="$2" -v digits="${3:-2}" 'BEGIN { if (b > 0) printf "%.*f", digits, a / b }'; }
