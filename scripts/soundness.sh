#!/usr/bin/env bash
# The long soundness campaign: what an analysis accepts is simulated until somebody misses.
# scripts/soundness.sh [TEST...]: all tests of the campaign, or those whose names contain one of these.
#
# `make test` runs the same tests at their smoke size. VESTAL_CAMPAIGN=long is what tells them apart. Every
# test goes on until it has drawn its sets and simulated a million eventful busy periods. The progress says
# which set is next; how to go on there is at the head of crates/sim/tests/soundness/main.rs.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

[ -e crates/sim/tests/soundness.rs ] || [ -e crates/sim/tests/soundness/main.rs ] ||
    die 2 "the soundness campaign is not in this version"
export VESTAL_CAMPAIGN="${VESTAL_CAMPAIGN:-long}"
exec nice cargo test --locked --release --package vestal-sim --test soundness -- --nocapture "$@"
