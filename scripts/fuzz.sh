#!/usr/bin/env bash
# Fuzzers of everything that reads files of others: scripts/fuzz.sh [SECONDS [TARGET...]]
#
# Each target for SECONDS (default: 60), one after the other, from its corpus in fuzz/corpus on; what it comes upon stays
# in target/fuzz/corpus, and an input that breaks a reader in target/fuzz/artifacts. Such an input goes to fuzz/corpus
# together with the mended reader: the tests of crates/readers read it again from then on. Prints a line for each target
# and how many have a finding; exits 1 if one has, 3 if something to build them with is missing.
#
# The targets have the layout of `cargo fuzz`, which can run them too. It is not needed here: without a sanitizer, for
# which nothing of ours is unsafe enough, the flags below are all that it passes, and any toolchain takes them.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

seconds="${1:-60}"
[[ "$seconds" =~ ^[1-9][0-9]*$ ]] || die 2 "usage: scripts/fuzz.sh [SECONDS [TARGET...]]"
shift || true
targets=("$@")
[ "${#targets[@]}" != 0 ] || mapfile -t targets < <(find fuzz/fuzz_targets -name '*.rs' -exec basename {} .rs \; | sort)
for target in "${targets[@]}"; do
    [ -f "fuzz/fuzz_targets/$target.rs" ] || die 2 "fuzz: there is no target $target"
done
have c++ || die 3 "fuzz: no C++ compiler, in which the fuzzer is written: apt-get install g++"

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

found=0
for target in "${targets[@]}"; do
    mkdir -p "$into/corpus/$target" "$into/artifacts/$target" "$into/logs"
    log="$into/logs/$target.log"
    # No input may take more time or memory than is good for a command.
    if "$into/$host/release/$target" "$into/corpus/$target" "fuzz/corpus/$target" \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
        -artifact_prefix="$into/artifacts/$target/" >"$log" 2>&1; then
        say "fuzz $target: $(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) second.*/\1 inputs in \2 s, no finding/p' "$log")"
    else
        found=$((found + 1))
        say "fuzz $target: a finding; the end of $log:"
        tail -n 20 "$log"
    fi
done
say "fuzz: ${#targets[@]} targets, $found with a finding"
[ "$found" = 0 ]
