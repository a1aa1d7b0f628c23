#!/usr/bin/env bash
# Keeps a measurement in the documentation: scripts/keep-overhead.sh DIR
#
# DIR is what `vestal bench overhead --paper huang2014 -o DIR` has written. Copies DIR/measured.json to
# docs/overhead and writes everything that follows from it anew: docs/overhead/claims.md, the figures beside it,
# and the section with verdicts and tables in docs/overhead.md. A test compares them with measured.json ever after;
# it says so if there are words left that are true only without a measurement, which are to be removed by hand.
set -euo pipefail

[ $# -eq 1 ] && [ -f "$1/measured.json" ] || {
    echo "usage: scripts/keep-overhead.sh DIR, where DIR has the measured.json of a vestal bench overhead" >&2
    exit 2
}
measured="$(realpath "$1")/measured.json"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p docs/overhead
cp "$measured" docs/overhead/measured.json
VESTAL_BLESS=1 cargo test -q -p vestal-experiment --test experiments -- what_the_documentation_says
git status --short docs
cargo test -q -p vestal-experiment --test experiments kept_measurement
