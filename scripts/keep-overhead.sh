#!/usr/bin/env bash
# Keeps a measurement in the documentation: scripts/keep-overhead.sh DIR
#
# DIR is what `vestal bench overhead --paper PAPER -o DIR` has written, with `--paired`, `--growth` or `--alternatives` or without, or has what
# `vestal bench sleeps --format json` says as sleeps.json, or as sleeps-busy.json if others kept all CPUs busy meanwhile, or what `vestal bench
# barriers --format json` says as barriers.json, or what `scripts/compare-monitors.py --json` wrote as monitors.json. Copies
# what was measured to docs/overhead or a folder of it, or to docs/sigrist2015/fig11, and writes
# everything that follows from it anew: claims.md and the figures beside it, and the section with verdicts and tables in
# docs/overhead.md. A test compares them with what was measured ever after; it says so if there are words left that are true only
# without a measurement, which are to be removed by hand.
set -euo pipefail

if [ $# -eq 1 ] && [ -f "$1/measured.json" ]; then
    files=(measured.json) to=docs/overhead about=the_kept_measurement
elif [ $# -eq 1 ] && [ -f "$1/runs.jsonl" ] && [ -f "$1/result.json" ] && head -n 1 "$1/runs.jsonl" | grep -q '"vestal-cameras/'; then
    # Those of a kind of device are kept beside those of another: docs/overhead/missimer/pipe, docs/overhead/missimer/udp.
    kind="$(head -n 1 "$1/runs.jsonl" | sed -n 's/.*"device":"\([a-z]*\)".*/\1/p')"
    [ -n "$kind" ] || { echo "$1/runs.jsonl does not say what kind of device its cameras are" >&2; exit 2; }
    files=(runs.jsonl result.json) to="docs/overhead/missimer/$kind" about=cameras
elif [ $# -eq 1 ] && [ -f "$1/runs.jsonl" ] && [ -f "$1/result.json" ]; then
    files=(runs.jsonl result.json) to=docs/overhead/sigrist2015 about=shares
    if grep -q '"measurement": "pairs"' "$1/result.json"; then to=$to/paired; fi
    if grep -q '"measurement": "growth"' "$1/result.json"; then to=$to/growth; fi
    if grep -q '"measurement": "alternatives"' "$1/result.json"; then to=$to/alternatives; fi
elif [ $# -eq 1 ] && [ -f "$1/sleeps.json" ]; then
    files=(sleeps.json) to=docs/sigrist2015/fig11 about=sleeps
elif [ $# -eq 1 ] && [ -f "$1/sleeps-busy.json" ]; then
    files=(sleeps-busy.json) to=docs/sigrist2015/fig11 about=sleeps
elif [ $# -eq 1 ] && [ -f "$1/barriers.json" ]; then
    files=(barriers.json) to=docs/overhead/barriers about=barriers
elif [ $# -eq 1 ] && [ -f "$1/monitors.json" ]; then
    files=(monitors.json) to=docs/overhead/monitors about=monitors
else
    echo "usage: scripts/keep-overhead.sh DIR, where DIR has what a vestal bench overhead measured to its end, or one of sleeps.json, sleeps-busy.json, barriers.json and monitors.json" >&2
    exit 2
fi
from="$(realpath "$1")"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$to"
for file in "${files[@]}"; do cp "$from/$file" "$to/$file"; done
# What barriers took in runs is said of the shares, too; both write one page.
for one in "$about" barriers; do
    VESTAL_BLESS=1 cargo test -q -p vestal-experiment --test experiments -- "what_the_documentation_says_of_$one"
done
git status --short docs
cargo test -q -p vestal-experiment --test experiments kept_
