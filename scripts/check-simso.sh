#!/usr/bin/env bash
# Completions of overloaded sets against SimSo's: scripts/check-simso.sh [--install-only|--bless]
#
# Compares crates/sim/tests/overload/simso.txt, with which the tests of crates/sim compare the simulator,
# with what scripts/simso_overload.py finds with SimSo now; --bless rewrites the file. SimSo goes into a
# virtual environment below target/, which scripts/bench-simulator.sh uses too. Exits 1 when something
# differs, 3 when SimSo cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly SIMSO=0.8.5
readonly VENV=target/simso-venv
readonly GOLDEN=crates/sim/tests/overload/simso.txt

if ! "$VENV/bin/python" -c 'import simso' 2>/dev/null; then
    [ -z "${VESTAL_NO_INSTALL:-}" ] || { echo "VESTAL_NO_INSTALL is set, and $VENV has no SimSo" >&2; exit 3; }
    command -v python3 >/dev/null || { echo "no python3: apt-get install python3-venv" >&2; exit 3; }
    python3 -m venv "$VENV" && "$VENV/bin/pip" --quiet install "simso==$SIMSO" || {
        echo "check-simso: SimSo $SIMSO cannot be installed; it needs PyPI" >&2
        exit 3
    }
fi
[ "${1:-}" = --install-only ] && exit 0
if [ "${1:-}" = --bless ]; then
    "$VENV/bin/python" scripts/simso_overload.py >"$GOLDEN"
    exit
fi
sets="$(grep -c '^set ' "$GOLDEN")"
if "$VENV/bin/python" scripts/simso_overload.py | diff -u "$GOLDEN" - | head -40; then
    echo "test result: ok. $sets passed; 0 failed;"
else
    echo "test result: FAILED. 0 passed; $sets failed;"
    exit 1
fi
