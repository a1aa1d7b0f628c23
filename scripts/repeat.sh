#!/usr/bin/env bash
# Parts of the tests many times in a row: scripts/repeat.sh TIMES PART...
#
# For what shows itself in one run of many, as the real-time tests (`make steady`), on a machine that does nothing
# else. Prints a row for each run: what the hypervisor stole from all CPUs meanwhile, what passed and what failed.
# The rows are kept in target/test-logs/repeated-PART...: stopped and begun again, it goes on after the last whole run of the
# same commit, as long as nothing is changed in the tree. Ends with the first run that fails, whose logs stay in
# target/test-logs, and begins anew after it. Exits 0 when none failed, 1 when one did, 2 when it was asked for what there is not.
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

mkdir -p target/test-logs || exit 3
kept="target/test-logs/repeated-$(IFS=-; printf '%s' "$*")"
tree="$(git rev-parse HEAD 2>/dev/null)"
[ -n "$tree" ] && [ -z "$(git status --porcelain 2>/dev/null)" ] || tree=changed
[ "$tree" != changed ] && [ "$(head -n 1 "$kept" 2>/dev/null)" = "$tree" ] || printf '%s\n' "$tree" >"$kept" || exit 3

output="$(mktemp)" || exit 3
trap 'rm -f "$output"' EXIT
printf '%s%4s %-8s %8s %9s  %s%s\n' "$BOLD" run begins time stolen result "$PLAIN"
tail -n +2 "$kept"
for ((run = $(wc -l <"$kept"); run <= times; run++)); do
    begins="$(date +%T)" start="$SECONDS" before="$(stolen)"
    scripts/test.sh "$@" >"$output" 2>&1
    code=$?
    [ "$code" != 2 ] || { cat "$output" >&2; exit 2; }
    row="$(printf '%4s %-8s %7ss %8ss  %s' "$run" "$begins" "$((SECONDS - start))" "$(difference "$before" "$(stolen)")" \
        "$(tail -n 1 "$output")")"
    say "$row"
    [ "$code" = 0 ] || { rm -f "$kept"; cat "$output"; say "run $run of $times failed"; exit 1; }
    printf '%s\n' "$row" >>"$kept" || exit 3
done
