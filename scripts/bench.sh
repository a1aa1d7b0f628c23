#!/usr/bin/env bash
# Every benchmark: scripts/bench.sh [--smoke]
#
# Runs each scripts/bench-*.sh in turn; each prints its table of figures against their limits. Exits 1
# if a figure misses its limit or could not be measured. --smoke runs what is counted in instructions,
# on shorter runs, and finishes within a minute.
set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 4

case "${1:-}" in
    "" | --smoke) ;;
    *) die 2 "usage: scripts/bench.sh [--smoke]" ;;
esac

failed=0
for script in scripts/bench-*.sh; do
    [ "$script" = scripts/bench-lib.sh ] && continue
    # Part `kernel` of the tests runs it, with images that are built there.
    [ "$script $*" = 'scripts/bench-kernel.sh --smoke' ] && continue
    "$script" "$@" || failed=1
done
exit "$failed"
