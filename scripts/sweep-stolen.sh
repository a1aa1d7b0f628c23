#!/usr/bin/env bash
# Takes CPU time at every instant of a frame from a run with a frame table, and asks for all of it (4 minutes).
#
# Another real-time thread comes a microsecond later every second frame. `make test` runs the same test for two seconds.
# On a machine that does nothing else.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

export VESTAL_CAMPAIGN="${VESTAL_CAMPAIGN:-long}"
exec cargo test --locked --package vestal --all-features --test real -- --test-threads=1 whichever_instant
