#!/usr/bin/env bash
# The long comparison of searches for frame tables: annealing against exact search on small sets, and the time that it
# takes for sets of eight CPUs.
#
# `make test` runs the same tests at their smoke size. VESTAL_CAMPAIGN=long is what tells them apart.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

# For a thousand sets that are not refused at once, with their simulations.
readonly SECONDS_MAX=600
export VESTAL_CAMPAIGN=long

small=(--package vestal-analysis --test schedulability)
large=(--package vestal-policy --test policies)
nice cargo test --locked --release "${small[@]}" -- --nocapture ftts::search::annealing_solves_what_exact_search_solves
nice cargo test --locked --release "${large[@]}" --no-run
# The time of children that have ended, user and system, in whole seconds.
children() { awk '{ printf "%d\n", ($16 + $17) / tick }' "tick=$(getconf CLK_TCK)" "/proc/$$/stat"; }
before="$(children)"
nice cargo test --locked --release "${large[@]}" -- --nocapture frames_found::tables_for_sets_of_the_paper
used=$(($(children) - before))
say "a thousand sets on eight CPUs took $used s of CPU time, at most $SECONDS_MAX s"
[ "$used" -le "$SECONDS_MAX" ] || die 1 "the search takes too long"
