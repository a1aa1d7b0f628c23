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
# Nothing is installed in passing: setup.sh does that, and says so.
export RUSTUP_AUTO_INSTALL=0

# The toolchain everything was last tested with. Others from `rust-version` on are used as found.
readonly TESTED_TOOLCHAIN=1.95.0

# Colour belongs to a person at a terminal who did not refuse it.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    RED=$'\e[31m' GREEN=$'\e[32m' BOLD=$'\e[1m' PLAIN=$'\e[0m'
else
    RED='' GREEN='' BOLD='' PLAIN=''
    export CARGO_TERM_COLOR=never
fi
# shellcheck disable=SC2034
readonly ROOT RED GREEN BOLD PLAIN

# What every test is built with. One selection, so that cargo builds nothing twice: it compiles a crate anew for
# each set of features, and which it takes depends on the packages that are selected.
# shellcheck disable=SC2034
readonly AS_TESTED=(--locked --workspace --features vestal/real,vestal/watch,vestal-bench/real,vestal-example-own-policy/real)

say() { printf '%s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

# toolchain_for TARGET: the rustup argument (may be empty) of an installed toolchain that builds for
# TARGET; the active one if it can, since not every release is offered with every target.
toolchain_for() {
    if [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]; then
        return 0
    elif have rustup && rustup toolchain list | grep -q "^$TESTED_TOOLCHAIN" &&
        [ -d "$(rustc "+$TESTED_TOOLCHAIN" --print sysroot)/lib/rustlib/$1/lib" ]; then
        printf '%s\n' "+$TESTED_TOOLCHAIN"
    else
        return 1
    fi
}

# die CODE MESSAGE: exit codes are those of `vestal` (docs/interfaces.md).
die() {
    local code="$1"
    shift
    printf '%s\n' "$*" >&2
    exit "$code"
}
