#!/usr/bin/env bash
# The long campaign of damages: 10 000 times a sweep's directory is damaged and gone on with.
#
# `make test` runs the same tests at their smoke size. VESTAL_CAMPAIGN=long is what tells them apart. What
# is damaged, and what may become of it, is at the head of crates/cli/tests/experiments/damage.rs.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

export VESTAL_CAMPAIGN="${VESTAL_CAMPAIGN:-long}"
exec nice cargo test --locked --package vestal --test experiments damage -- --nocapture
