#!/usr/bin/env bash
# Fuzzers of everything that reads files of others: scripts/fuzz.sh [--up-to] [SECONDS [TARGET...]]
#
# Each target for SECONDS (default: 60), one after the other, from its corpus in fuzz/corpus on; what it comes upon stays
# in target/fuzz/corpus, and an input that breaks a reader in target/fuzz/artifacts. Such an input goes to fuzz/corpus
# together with the mended reader: the tests of crates/readers read it again from then on. Prints a line for each target
# and how many have a finding; exits 1 if one has, 3 if something to build them with is missing.
#
# With --up-to each target has SECONDS in all runs together, those before this one too: docs/fuzz.md, the record, has how
# long each ran at which commit. It runs in pieces of a minute, whoever has the least first, and each is on record when
# it is over, so that it may be ended at any time and goes on where it was. Nothing that is not committed is recorded.
#
# The targets have the layout of `cargo fuzz`, which can run them too. It is not needed here: without a sanitizer, for
# which nothing of ours is unsafe enough, the flags below are all that it passes, and any toolchain takes them.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

readonly RECORD=docs/fuzz.md PIECE=60
up_to=
if [ "${1:-}" = --up-to ]; then
    up_to=1
    shift
fi
seconds="${1:-60}"
[[ "$seconds" =~ ^[1-9][0-9]*$ ]] || die 2 "usage: scripts/fuzz.sh [--up-to] [SECONDS [TARGET...]]"
shift || true
targets=("$@")
[ "${#targets[@]}" != 0 ] || mapfile -t targets < <(find fuzz/fuzz_targets -name '*.rs' -exec basename {} .rs \; | sort)
for target in "${targets[@]}"; do
    [ -f "fuzz/fuzz_targets/$target.rs" ] || die 2 "fuzz: there is no target $target"
done
have c++ || die 3 "fuzz: no C++ compiler, in which the fuzzer is written: apt-get install g++"

if [ -n "$up_to" ]; then
    changed="$(git status --porcelain -- Cargo.toml Cargo.lock crates fuzz)"
    [ -z "$changed" ] || die 2 "fuzz: what runs is on record by its commit; commit this first:"$'\n'"$changed"
fi

host="$(rustc -vV | sed -n 's/^host: //p')"
into="${CARGO_TARGET_DIR:-$ROOT/target}/fuzz"
# What code was reached and what it compared is what a fuzzer goes by. Named as for another machine, so that no build
# script and no macro has it.
flags=(--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares)
bins=()
for target in "${targets[@]}"; do bins+=(--bin "$target"); done
RUSTFLAGS="${flags[*]}" cargo build --locked --manifest-path fuzz/Cargo.toml --release --target "$host" \
    --target-dir "$into" "${bins[@]}" || die 3 "fuzz: the targets could not be built"

# recorded TARGET: how many seconds are on record, at any commit.
recorded() {
    awk -F ' *[|] *' -v target="$1" '$2 == target { sum += $3 } END { print sum + 0 }' "$RECORD"
}

# record TARGET SECONDS INPUTS: adds them to the row of this commit.
record() {
    local commit
    commit="$(git rev-parse --short=12 HEAD)"
    awk -F ' *[|] *' -v target="$1" -v seconds="$2" -v inputs="$3" -v commit="$commit" '
        function row(s, i) { printf "| %s | %d | %d | %s |\n", target, s, i, commit; done = 1 }
        $2 == target && $5 == commit { row($3 + seconds, $4 + inputs); next }
        { print }
        END { if (!done) row(seconds, inputs) }
    ' "$RECORD" >"$RECORD.new"
    mv "$RECORD.new" "$RECORD"
}

# forget TARGET: what it ran without a finding does not count once there is one.
forget() {
    awk -F ' *[|] *' -v target="$1" '$2 != target' "$RECORD" >"$RECORD.new"
    mv "$RECORD.new" "$RECORD"
}

# one TARGET SECONDS: runs it for so long, and says what came of it; fails if that is a finding.
one() {
    local target="$1" log="$into/logs/$1.log" done_line='^Done \([0-9]*\) runs in \([0-9]*\) second.*'
    mkdir -p "$into/corpus/$target" "$into/artifacts/$target" "$into/logs"
    # No input may take more time or memory than is good for a command.
    if "$into/$host/release/$target" "$into/corpus/$target" "fuzz/corpus/$target" \
        -max_total_time="$2" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
        -artifact_prefix="$into/artifacts/$target/" >"$log" 2>&1; then
        ran="$(sed -n "s/$done_line/\\2 \\1/p" "$log")"
        say "fuzz $target: ${ran#* } inputs in ${ran% *} s, no finding"
    else
        say "fuzz $target: a finding; the end of $log:"
        tail -n 20 "$log"
        return 1
    fi
}

# least: the target with the least on record, with its seconds.
least() {
    local target
    for target in "${targets[@]}"; do say "$(recorded "$target") $target"; done | sort -n -s -k 1,1 | head -n 1
}

if [ -n "$up_to" ]; then
    while read -r had target < <(least) && [ "$had" -lt "$seconds" ]; do
        piece=$((seconds - had < PIECE ? seconds - had : PIECE))
        one "$target" "$piece" || { forget "$target"; die 1 "fuzz: a finding after ${had} s of $target"; }
        read -r ran_seconds ran_inputs <<<"$ran"
        record "$target" "$ran_seconds" "$ran_inputs"
    done
    say "fuzz: ${#targets[@]} targets have $seconds s each in $RECORD, none with a finding"
    exit
fi

found=0
for target in "${targets[@]}"; do
    one "$target" "$seconds" || { forget "$target"; found=$((found + 1)); }
done
say "fuzz: ${#targets[@]} targets, $found with a finding"
[ "$found" = 0 ]
