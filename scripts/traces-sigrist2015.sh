#!/usr/bin/env bash
# Figures 1, 3 and 4 of Sigrist et al. (RTAS 2015) as traces of real runs: scripts/traces-sigrist2015.sh DIR
#
# Needs the right to SCHED_FIFO and takes some seconds. Writes for each figure NAME.csv (every record), NAME.svg (a drawing) and NAME.json
# (the result) into DIR. Where stolen time made a run undecided (exit code 5) its files are there too. VESTAL is the program.
set -euo pipefail

EXAMPLES="$(cd "$(dirname "${BASH_SOURCE[0]}")/../examples/sigrist2015" && pwd)"
DIR="${1:?name a directory for the traces}"
VESTAL="${VESTAL:-vestal}"
mkdir -p "$DIR"

# traced NAME FILE OPTION...
traced() {
    local name="$1" file="$2" code=0
    shift 2
    "$VESTAL" run "$EXAMPLES/$file" --policy edf-vd --scenario hi "$@" \
        --trace "$DIR/$name.csv" --trace "$DIR/$name.svg" --format json >"$DIR/$name.json" || code=$?
    [ "$code" = 0 ] || [ "$code" = 5 ] || exit "$code"
}

# Fig. 1 is a part of Fig. 3a: one overrun and what delays its detection.
traced fig3a fig1.toml --monitor heartbeat --for 400ms
traced fig3b fig1.toml --monitor manager --for 400ms
traced fig4a fig4.toml --monitor manager --termination immediate --for 400ms
traced fig4b fig4.toml --monitor manager --termination deferred --for 400ms
