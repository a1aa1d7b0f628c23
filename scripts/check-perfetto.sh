#!/usr/bin/env bash
# Perfetto traces against Perfetto's own schema: scripts/check-perfetto.sh [DIRECTORY]
#
# Decodes what the tests of crates/trace write (or NAME.csv with NAME.pftrace in DIRECTORY) with the
# `perfetto` package of PyPI, which goes into a virtual environment below target/. Exits 1 when
# something is wrong, 3 when the package cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly PACKAGES=(perfetto==0.59.1 protobuf)
venv=target/perfetto-venv
if ! "$venv/bin/python" -c 'import perfetto, google.protobuf' 2>/dev/null; then
    python3 -m venv "$venv" && "$venv/bin/pip" --quiet install "${PACKAGES[@]}" || {
        echo "check-perfetto: the package perfetto cannot be installed; it needs PyPI" >&2
        exit 3
    }
fi
directory="${1:-}"
if [ -z "$directory" ]; then
    directory="$(mktemp -d)"
    trap 'rm -rf "$directory"' EXIT
    VESTAL_KEEP="$directory" cargo test --quiet -p vestal-trace --test trace perfetto::
fi
"$venv/bin/python" scripts/check_perfetto.py "$directory"
