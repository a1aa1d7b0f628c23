#!/usr/bin/env bash
# The long comparison of vestal-hsf: scripts/queues.sh [TEST...]: all of its tests, or those whose names contain one of these.
#
# Event queues of each width take ten million random operations beside a reference priority queue, with 4 bits a thousand million ticks pass, and
# servers are compared with the core's on more and longer systems. `make test` runs the same tests at their small size; VESTAL_CAMPAIGN=long
# is what tells them apart.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

export VESTAL_CAMPAIGN="${VESTAL_CAMPAIGN:-long}"
exec nice cargo test --locked --release --package vestal-hsf --test hsf -- --nocapture "$@"
