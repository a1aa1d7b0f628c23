#!/usr/bin/env bash
# Report pages in a headless Chromium: scripts/check-report.sh [DIRECTORY]
#
# Makes the pages of the tests of crates/report, one of a simulated run of examples/fms.toml and one
# of 100 000 jobs, in DIRECTORY (default: target/report-pages), and drives them with
# scripts/check_report.py. Exits 1 when something is wrong, 3 when there is no Chromium.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

python3 -c 'import sys; sys.path.insert(0, "scripts"); import browser; sys.exit(browser.find() is None)' ||
    die 3 "check-report: no Chromium: apt-get install chromium"
directory="${1:-target/report-pages}"
mkdir -p "$directory"
rm -f "$directory"/*.html "$directory"/*.htm
VESTAL_KEEP="$(realpath "$directory")" cargo test "${AS_TESTED[@]}" --quiet --test page
# As `cargo test` builds it, so that nothing is built twice.
cargo build "${AS_TESTED[@]}" --quiet --profile test --bin vestal
vestal="${CARGO_TARGET_DIR:-target}/debug/vestal"

# pages NAME TIME: the proof and a simulation of the flight management system for that long.
pages() {
    local name="$1" time="$2" base="$directory/$1"
    "$vestal" --format json analyze examples/fms.toml --all >"$base.proof.json"
    "$vestal" --format json simulate examples/fms.toml --policy amc --scenario overrun=0.5 --for "$time" \
        --trace "$base.vtrace" >"$base.json"
    "$vestal" report "$base.proof.json" "$base.json" "$base.vtrace" -o "$base.html"
}
pages run 10s
pages large 2050s
python3 scripts/check_report.py "$directory"
