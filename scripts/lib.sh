# Shared by the scripts of this directory; sourced, never run.
#
# Sets ROOT (the repository) and PATH, and defines `say`, `die` and `have`.
# shellcheck shell=bash

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# rustup puts its tools here, but only a login shell has the directory on its PATH.
cargo_bin="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin"
if [ -d "$cargo_bin" ]; then
    case ":$PATH:" in
        *":$cargo_bin:"*) ;;
        *) PATH="$cargo_bin:$PATH" ;;
    esac
fi
export PATH

# Colour belongs to a person at a terminal who did not refuse it.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    RED=$'\e[31m' GREEN=$'\e[32m' BOLD=$'\e[1m' PLAIN=$'\e[0m'
else
    RED='' GREEN='' BOLD='' PLAIN=''
    export CARGO_TERM_COLOR=never
fi
# shellcheck disable=SC2034
readonly ROOT RED GREEN BOLD PLAIN

say() { printf '%s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

# die CODE MESSAGE: exit codes are those of `vestal` (docs/interfaces.md).
die() {
    local code="$1"
    shift
    printf '%s\n' "$*" >&2
    exit "$code"
}
