#!/usr/bin/env bash
# The long comparison of vestal-hsf: scripts/queues.sh [TEST...]: all of its tests, or those whose names contain one of these.
#
# Event queues of each width take ten million random operations beside a reference priority queue, with 4 bits a thousand million ticks pass, and
# servers are compared with the core's on more and longer systems. `make test` runs the same tests at their small size; VESTAL_CAMPAIGN=long
# is what tells them apart. All of it takes long, so that it goes by pieces, one for each CPU at a time: a test, or of those that compare many systems a tenth. A piece that
# passed is not run again by the same program: who stops has only to go on, and with VESTAL_SECONDS it begins no piece after so many.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

readonly PIECES=10
# Those that compare many systems.
readonly MANY='random_systems_of_all_kinds|servers_of_long_periods|long_systems_have|invariants_hold_whatever_is_called'

# piece PROGRAM FOLDER TEST PIECE: runs it, unless it has passed already or there is no time left.
piece() {
    local log="$2/${3//:/_}.${4/\//-}" begun
    [ -e "$log.passed" ] && return
    [ -n "${VESTAL_SECONDS:-}" ] && [ "$(date +%s)" -ge "$((BEGUN + VESTAL_SECONDS))" ] && return
    begun="$(date +%s)"
    if VESTAL_PIECE="$4" nice "$1" --exact "$3" --nocapture >"$log.log" 2>&1 && grep -q '^test result: ok. 1 passed' "$log.log"; then
        mv "$log.log" "$log.passed"
        say "ok      $3 $4 ($(($(date +%s) - begun)) s)"
    else
        tail -n 30 "$log.log"
        say "FAILED  $3 $4"
    fi
}

export VESTAL_CAMPAIGN="${VESTAL_CAMPAIGN:-long}"
program="$(cargo test --locked --release --package vestal-hsf --test hsf --no-run 2>&1 | tee /dev/stderr | sed -n 's/.*Executable .*(\(.*\))$/\1/p')"
[ -x "$program" ] || die 3 "the tests cannot be built"
# What has passed is known by the bytes of the program.
folder="$(realpath -m "${CARGO_TARGET_DIR:-target}")/queues/$(sha256sum "$program" | cut -c 1-16)-$VESTAL_CAMPAIGN"
mkdir -p "$folder"
BEGUN="$(date +%s)"
export BEGUN
export -f piece say

pieces=()
while IFS= read -r test; do
    if [ "$#" -gt 0 ]; then
        wanted=''
        for name in "$@"; do [[ "$test" == *"$name"* ]] && wanted=yes; done
        [ -n "$wanted" ] || continue
    fi
    if [[ "$test" =~ $MANY ]]; then
        for ((number = 1; number <= PIECES; number++)); do pieces+=("$test $number/$PIECES"); done
    else
        pieces+=("$test 1/1")
    fi
done < <("$program" --list --format terse | sed -n 's/: test$//p')
[ "${#pieces[@]}" -gt 0 ] || die 2 "no test has such a name"

# shellcheck disable=SC2016
printf '%s\n' "${pieces[@]}" | xargs -P "$(nproc)" -L 1 bash -c 'piece "$0" "$1" "$2" "$3"' "$program" "$folder"
passed=0
for words in "${pieces[@]}"; do
    read -r test number <<<"$words"
    [ ! -e "$folder/${test//:/_}.${number/\//-}.passed" ] || passed=$((passed + 1))
done
say "$passed of ${#pieces[@]} pieces have passed ($folder)"
[ "$passed" = "${#pieces[@]}" ]
