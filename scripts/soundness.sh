#!/usr/bin/env bash
# The long soundness campaign: what an analysis accepts is simulated until somebody misses.
#
# `make test` runs the same tests at their smoke size. VESTAL_CAMPAIGN=long is what tells them apart.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

[ -e crates/sim/tests/soundness.rs ] || [ -e crates/sim/tests/soundness/main.rs ] ||
    die 2 "the soundness campaign is not in this version"
export VESTAL_CAMPAIGN="${VESTAL_CAMPAIGN:-long}"
exec nice cargo test --locked --release --package vestal-sim --test soundness -- --nocapture
