#!/usr/bin/env bash
# Makes this machine able to run a make target: scripts/setup.sh demo|test|bench|kernel|fuzz|ci
#
# Looks first and changes nothing that is there. What is missing is installed when we are root,
# after saying what and why; otherwise the command that installs it is named and we exit with 3.
# VESTAL_NO_INSTALL=1 makes root behave like everybody else. Nothing is fetched but by apt-get
# and rustup from the places they are configured for.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

RUST_OLDEST="$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' "$ROOT/Cargo.toml")"
readonly RUST_OLDEST

missing=0
apt_updated=0

may_install() { [ "$(id -u)" = 0 ] && [ -z "${VESTAL_NO_INSTALL:-}" ]; }

# provide WHAT WHY COMMAND...: runs the command when we may, names it otherwise.
provide() {
    local what="$1" why="$2" command
    shift 2
    command="$*"
    command="${command/#apt_install/apt-get -y --no-install-recommends install}"
    command="${command/#add_target/rustup target add}"
    if may_install; then
        say "setup: installing $what ($why): $command"
        "$@" || die 3 "setup: could not install $what; run '$command' by hand to see why, then try again."
    else
        say "setup: missing $what ($why). Install it with: $command" >&2
        missing=1
    fi
}

# A fresh image has empty package lists, a warm one need not fetch them again.
apt_install() {
    have apt-get || die 3 "setup: no apt-get here; install $* with this system's package manager."
    if [ "$apt_updated" = 0 ] && ! apt-get -y --no-install-recommends --dry-run install "$@" >/dev/null 2>&1; then
        say "setup: the package lists do not know $*: apt-get update"
        apt-get update
        apt_updated=1
    fi
    DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends install "$@"
}

# need_package COMMAND WHY PACKAGE...
need_package() {
    local command="$1" why="$2"
    shift 2
    have "$command" && return
    provide "$*" "$why" apt_install "$@"
    hash -r
}

# older A B: is version A below version B?
older() { [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

need_rust() {
    if ! have cargo && ! have rustup; then
        need_package rustup "the Rust toolchain builds everything here; see also https://rustup.rs" rustup
        have rustup || return 0
    fi
    if have rustup && ! rustup show active-toolchain >/dev/null 2>&1; then
        provide "the Rust toolchain $TESTED_TOOLCHAIN" "rustup has none selected" \
            rustup toolchain install "$TESTED_TOOLCHAIN" --profile minimal --no-self-update
        may_install || return 0
        rustup default "$TESTED_TOOLCHAIN"
    fi
    local version
    version="$(cd "$ROOT" && rustc --version 2>/dev/null | cut -d' ' -f2 | cut -d- -f1)" || version=""
    if [ -n "$version" ] && older "$version" "$RUST_OLDEST"; then
        have rustup || die 3 "setup: rustc $version is older than $RUST_OLDEST and not rustup's; install rustup (https://rustup.rs)."
        provide "a newer Rust" "rustc $version is older than $RUST_OLDEST" \
            rustup toolchain install "$TESTED_TOOLCHAIN" --profile minimal --no-self-update
        # Which toolchain is the default is the user's to change.
        die 3 "setup: rustc $version is selected; select the newer one with 'rustup default $TESTED_TOOLCHAIN'."
    fi
}

# need_component COMMAND COMPONENT WHY: rustup leaves a proxy for every tool, so the tool itself is asked.
need_component() {
    "$1" --version >/dev/null 2>&1 && return
    provide "$2" "$3" rustup component add "$2"
}

# Any Chromium will do.
need_browser() {
    have chromium-browser || have google-chrome || need_package chromium "part report looks at pages" chromium
}

need_target() {
    toolchain_for "$1" >/dev/null && return
    provide "the Rust target $1" "$2" add_target "$1"
}

add_target() {
    rustup target add "$1" && return
    say "setup: this toolchain is not offered with $1; adding toolchain $TESTED_TOOLCHAIN for it"
    rustup toolchain install "$TESTED_TOOLCHAIN" --profile minimal --no-self-update --target "$1"
}

finish() {
    [ "$missing" = 0 ] || die 3 "setup: install what is named above (or run this as root), then try again."
}

demo_needs() {
    need_package git "the version tells its commit" git
    need_package cc "the linker of every Rust program" gcc libc6-dev
    need_rust
    # Without a toolchain the questions below have no answer.
    finish
}

kernel_needs() {
    local riscv=qemu-system-misc
    # From Debian 13 on it has a package of its own, which is no name in older lists.
    have apt-cache && [ -n "$(apt-cache search --names-only '^qemu-system-riscv$')" ] && riscv=qemu-system-riscv
    need_target thumbv7m-none-eabi "parts bare-metal and kernel build for a microcontroller"
    need_target riscv32imac-unknown-none-elf "part kernel builds for another one"
    need_package strings "part kernel looks for panics" binutils
    need_package qemu-system-arm "parts bare-metal and kernel run their images" qemu-system-arm
    need_package qemu-system-riscv32 "part kernel runs its images" "$riscv"
}

test_needs() {
    demo_needs
    need_package timeout "every part is bounded" coreutils
    need_package chrt "asks whether real-time priorities are allowed" util-linux
    need_component rustfmt rustfmt "part fmt"
    need_component cargo-clippy clippy "part clippy"
    need_package valgrind "part bench counts instructions" valgrind
    kernel_needs
    need_package python3 "part report drives a browser" python3
    need_browser
    python3 -c 'import ensurepip, venv' 2>/dev/null || provide python3-venv "parts perfetto and simso have Python packages of their own" apt_install python3-venv
}

# Below target/, so nobody's Python changes. Without them their parts say NOT RUN.
python_packages() {
    scripts/check-perfetto.sh --install-only || say "setup: the part perfetto cannot run without PyPI" >&2
    scripts/check-simso.sh --install-only || say "setup: the part simso cannot run without PyPI" >&2
}

bench_needs() {
    demo_needs
    need_package valgrind "benchmarks count instructions" valgrind
}

fuzz_needs() {
    demo_needs
    need_package c++ "the fuzzer itself is C++" g++
}

cd "$ROOT"
case "${1:-}" in
    demo) demo_needs ;;
    test)
        test_needs
        finish
        python_packages
        ;;
    bench) bench_needs ;;
    kernel)
        demo_needs
        kernel_needs
        ;;
    fuzz) fuzz_needs ;;
    ci) need_package make ".ci/run calls make" make ;;
    *) die 2 "usage: scripts/setup.sh demo|test|bench|kernel|fuzz|ci" ;;
esac
finish
