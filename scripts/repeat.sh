#!/usr/bin/env bash
# Parts of the tests many times in a row: scripts/repeat.sh TIMES PART...
#
# For what shows itself in one run of many, as the real-time tests (`make steady`), on a machine that does nothing
# else. Prints a row for each run: what the hypervisor stole from all CPUs meanwhile, what passed and what failed.
# Ends with the first run that fails, whose logs stay in target/test-logs. Exits 0 when none did, 1 when one did, 2 when
# it was asked for what there is not.
set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 4

[ $# -ge 2 ] && [[ "$1" =~ ^[1-9][0-9]*$ ]] || die 2 "usage: scripts/repeat.sh TIMES PART..." \
    "(how often, at least once; parts: scripts/test.sh --help)"
times="$1"
shift

# In seconds, since the machine started.
stolen() { awk -v ticks="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.2f", $9 / ticks }' /proc/stat; }
difference() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", b - a }'; }

output="$(mktemp)" || exit 3
trap 'rm -f "$output"' EXIT
printf '%s%4s %-8s %8s %9s  %s%s\n' "$BOLD" run begins time stolen result "$PLAIN"
for ((run = 1; run <= times; run++)); do
    begins="$(date +%T)" start="$SECONDS" before="$(stolen)"
    scripts/test.sh "$@" >"$output" 2>&1
    code=$?
    [ "$code" != 2 ] || { cat "$output" >&2; exit 2; }
    printf '%4s %-8s %7ss %8ss  %s\n' "$run" "$begins" "$((SECONDS - start))" "$(difference "$before" "$(stolen)")" \
        "$(tail -n 1 "$output")"
    [ "$code" = 0 ] || { cat "$output"; say "run $run of $times failed"; exit 1; }
done
