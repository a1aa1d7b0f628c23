#!/usr/bin/env bash
# Keeps figures of a paper in the documentation: scripts/keep-figures.sh DIR
#
# DIR is what `vestal reproduce PAPER -o DIR` has written. Copies the answers about the sets of each figure to docs/PAPER/FIGURE, and
# writes everything that follows from them anew: claims.md and the charts beside it, and the table in docs/experiments.md. A test compares
# them with the answers ever after. Figures that are not in DIR stay as they are.
set -euo pipefail

shopt -s nullglob
answers=()
if [ $# -eq 1 ]; then answers=("$1"/missimer/*/answers.txt); fi
if [ ${#answers[@]} -eq 0 ]; then
    echo "usage: scripts/keep-figures.sh DIR, where DIR has what vestal reproduce missimer wrote" >&2
    exit 2
fi
from="$(realpath "$1")"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for file in "$from"/missimer/*/answers.txt; do
    to="docs/${file#"$from"/}"
    mkdir -p "$(dirname "$to")"
    cp "$file" "$to"
done
VESTAL_BLESS=1 cargo test -q -p vestal-experiment --test experiments -- what_the_documentation_says_of_figures
git status --short docs
cargo test -q -p vestal-experiment --test experiments kept_
