#!/usr/bin/env bash
# Builds the release and runs `vestal demo`: scripts/demo.sh [--build-only]
#
# Its page is target/demo/report.html.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

cargo build --locked --release --package vestal --bin vestal
[ "${1:-}" = --build-only ] && exit 0
exec "${CARGO_TARGET_DIR:-target}/release/vestal" demo --output "${CARGO_TARGET_DIR:-target}/demo"
