#!/usr/bin/env bash
# Perfetto traces against Perfetto's own schema: scripts/check-perfetto.sh [--install-only|DIRECTORY]
#
# Decodes what the tests of crates/trace and simulations of examples/fms.toml write (or NAME.csv with
# NAME.pftrace in DIRECTORY, and NAME.json for its result) with the `perfetto` package of PyPI, which goes into a virtual environment below target/. Exits 1 when
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
[ "${1:-}" = --install-only ] && exit 0
directory="${1:-}"
if [ -z "$directory" ]; then
    directory="$(mktemp -d)"
    trap 'rm -rf "$directory"' EXIT
    VESTAL_KEEP="$directory" cargo test "${AS_TESTED[@]}" --quiet --test trace perfetto::
    # As `cargo test` builds it, so that nothing is built twice.
    cargo build "${AS_TESTED[@]}" --quiet --profile test --bin vestal
    for dispatch in managed native; do
        for scenario in lo hi overrun=0.5; do
            base="$directory/fms-$dispatch-$scenario"
            # Not schedulable is an answer too.
            "${CARGO_TARGET_DIR:-target}/debug/vestal" --format json simulate examples/fms.toml --policy amc \
                --dispatch "$dispatch" --scenario "$scenario" --for 10s \
                --trace "$base.pftrace" --trace "$base.csv" 2>/dev/null >"$base.json" || [ $? = 1 ]
        done
    done
fi
"$venv/bin/python" scripts/check_perfetto.py "$directory"
