#!/usr/bin/env bash
# What a new policy touches: scripts/check-new-policy.sh
#
# For each example of examples/new-policy: lays its files over a copy of this tree, applies its list entries,
# counts the files that are new or changed, tests apart, and lets everything be compiled and tested there: the
# formatting, every crate, the laws that every policy keeps (crates/policy/tests), and the example's own tests.
# The last line is in the form of cargo's test programs.
set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 4

# How many files each may touch.
readonly LIMITS='
gel     10
rms-amc 3
'
readonly TREES="$ROOT/target/new-policy"
passed=0 failed=0

# verdict CODE WHAT
verdict() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
        say "ok      $2"
    else
        failed=$((failed + 1))
        say "FAILED  $2"
    fi
}

# A copy of what git knows, with the example in it, in $TREES/NAME.
lay_out() {
    local tree="$TREES/$1"
    rm -rf "$tree"
    mkdir -p "$tree"
    git ls-files -z --cached --others --exclude-standard | tar --null --files-from - --create --ignore-failed-read |
        tar --extract --directory "$tree" || return
    cd "$tree" || return
    git init --quiet && git add --all || return
    cp -R "$ROOT/examples/new-policy/$1/." . && rm lists.patch && git apply "$ROOT/examples/new-policy/$1/lists.patch"
}

# Only what concerns the example; third-party crates come from the workspace's own target directory.
build_and_test() {
    export CARGO_TARGET_DIR="$ROOT/target"
    cargo fmt --check && cargo check --locked --workspace &&
        cargo test --locked --package vestal-analysis --lib && cargo test --locked --package vestal-policy || return
    [ ! -f "crates/sim/tests/$1.rs" ] || cargo test --locked --package vestal-sim --test "$1"
}

while read -r name limit; do
    [ -n "$name" ] || continue
    if ! (lay_out "$name"); then
        verdict 1 "$name: its files and list entries fit this tree"
        continue
    fi
    verdict 0 "$name: its files and list entries fit this tree"
    touched="$(cd "$TREES/$name" && { git diff --name-only && git ls-files --others; } | grep -v '/tests/')"
    count="$(grep -c '' <<<"$touched")"
    sed 's/^/        /' <<<"$touched"
    [ "$count" -le "$limit" ]
    verdict $? "$name: it touches $count files, at most $limit"
    (cd "$TREES/$name" && build_and_test "$name")
    verdict $? "$name: it compiles and keeps the laws of policies"
    rm -rf "${TREES:?}/$name"
done <<<"$LIMITS"
printf 'test result: %s. %d passed; %d failed; new policies\n' \
    "$([ "$failed" = 0 ] && echo ok || echo FAILED)" "$passed" "$failed"
[ "$failed" = 0 ]
