#!/usr/bin/env bash
# What a new policy touches: scripts/check-new-policy.sh
#
# For each example of examples/new-policy: lays its files over a copy of this tree, applies its list entries, and
# counts the files that are new or changed, tests apart. Then everything is compiled and tested there: the
# formatting, every crate, the laws that every policy keeps (crates/policy/tests), and the examples' own tests.
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
readonly EXAMPLES="$ROOT/examples/new-policy"
readonly TREE="$ROOT/target/new-policy"
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

# A copy of what git knows, in $TREE.
copy_tree() {
    rm -rf "$TREE"
    mkdir -p "$TREE"
    git ls-files -z --cached --others --exclude-standard | tar --null --files-from - --create --ignore-failed-read |
        tar --extract --directory "$TREE" || return
    git -C "$TREE" init --quiet && git -C "$TREE" add --all
}

# lay_over NAME: the files of an example and its list entries, in the copy.
lay_over() {
    cp -R "$EXAMPLES/$1/." "$TREE" && rm "$TREE/lists.patch" && git -C "$TREE" apply "$EXAMPLES/$1/lists.patch"
}

# Only what concerns the examples; third-party crates come from the workspace's own target directory.
build_and_test() {
    cd "$TREE" || return
    export CARGO_TARGET_DIR="$ROOT/target"
    cargo fmt --check && cargo check --locked --workspace &&
        cargo test --locked --package vestal-analysis --lib &&
        cargo test "${AS_TESTED[@]}" --test policies "${own[@]}"
}

copy_tree || die 1 "check-new-policy: the tree cannot be copied"
while read -r name _; do
    [ -n "$name" ] || continue
    git -C "$TREE" apply --check "$EXAMPLES/$name/lists.patch"
    verdict $? "$name: its list entries fit this tree"
done <<<"$LIMITS"
# Both at once, so that everything is compiled once.
own=()
while read -r name limit; do
    [ -n "$name" ] || continue
    lay_over "$name"
    verdict $? "$name: its files and list entries fit beside those before it"
    touched="$(cd "$TREE" && { git diff --name-only && git ls-files --others; } | grep -Ev '/tests(/|\.rs$)')"
    count="$(grep -c '' <<<"$touched")"
    sed 's/^/        /' <<<"$touched"
    [ "$count" -le "$limit" ]
    verdict $? "$name: it touches $count files, at most $limit"
    [ ! -f "$TREE/crates/sim/tests/$name.rs" ] || own+=(--test "$name")
    git -C "$TREE" add --all
done <<<"$LIMITS"
(build_and_test)
verdict $? "they compile and keep the laws of policies"
rm -rf "${TREE:?}"
printf 'test result: %s. %d passed; %d failed; new policies\n' \
    "$([ "$failed" = 0 ] && echo ok || echo FAILED)" "$passed" "$failed"
[ "$failed" = 0 ]
