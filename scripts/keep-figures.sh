#!/usr/bin/env bash
# Keeps figures of a paper in the documentation: scripts/keep-figures.sh DIR
#
# DIR is what `vestal reproduce PAPER -o DIR` has written, by whichever version. Copies the answers about the sets of each figure to
# docs/PAPER/FIGURE, or counts them from its results where there are no answers yet, with the command that claims.md beside them names. If
# any of that is not whole, nothing is written; else everything that follows from them anew:
# claims.md and the charts beside it, and the tables in docs/experiments.md. A test compares them with the answers ever after. Figures that
# are not in DIR stay as they are.
set -euo pipefail

shopt -s nullglob
found=()
if [ $# -eq 1 ]; then found=("$1"/*/*/answers.txt "$1"/*/*/results.parquet); fi
if [ ${#found[@]} -eq 0 ]; then
    echo "usage: scripts/keep-figures.sh DIR, where DIR has what vestal reproduce wrote" >&2
    exit 2
fi
VESTAL_KEEP="$(realpath "$1")"
export VESTAL_KEEP
cd "$(dirname "${BASH_SOURCE[0]}")/.."
VESTAL_BLESS=1 cargo test -q -p vestal-experiment --test experiments -- what_the_documentation_says_of_figures
unset VESTAL_KEEP
git status --short docs
cargo test -q -p vestal-experiment --test experiments kept_
