#!/usr/bin/env bash
# vestal-hsf from C: scripts/check-hsf-c.sh
#
# Builds the library of crates/kernel/c in several widths, and with it, by `cc`, the examples of examples/hsf-c. What they
# print is compared with the figures that the Rust tests expect, twice; the sheet of promises in the header is tried;
# and the host's schedules are judged by the core (crates/hsf/tests/c_host), where each wrong host has to be found out.
# The host's lines are counted. The last line is in the form of cargo's test programs.
set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 4

# Lines of code that connect a host with the library, at most.
readonly GLUE=150
readonly PACKAGE=crates/kernel/c/Cargo.toml
readonly HEADER=crates/kernel/c/include/vestal_hsf.h
readonly EXAMPLES=examples/hsf-c
readonly GOLDEN=crates/hsf/tests/golden
WORK="$(realpath -m "${CARGO_TARGET_DIR:-target}")/hsf-c"
readonly WORK
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

# library NAME BITS [OPTION...]: $WORK/NAME.a with ticks of so many bits.
library() {
    local name="$1" bits="$2"
    shift 2
    HSF_TICK_BITS="$bits" cargo build --locked --quiet --release --manifest-path "$PACKAGE" --target-dir "$WORK/build" "$@" &&
        cp "$WORK/build/release/libvestal_hsf_c.a" "$WORK/$name.a"
}

# program OUTPUT LIBRARY FILE... [OPTION...]
program() {
    local output="$1" library="$2"
    shift 2
    cc -O1 -Wall -Wextra -Wpedantic -Werror "-I$(dirname "$HEADER")" "-I$EXAMPLES" "$@" "$WORK/$library.a" -o "$output"
}

# Lines that are not blank and not only comment, in C.
code_lines() {
    cat "$@" | awk '{ gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "")
        if (inside) { if (!sub(/^.*\*\//, "")) next; inside = 0 }
        if (sub(/\/\*.*$/, "")) inside = 1
        if (/[^ \t]/) lines++ } END { print lines + 0 }'
}

# wrong NAME SED-SCRIPT: a host with a fault in it, for the judge.
wrong() {
    local source="$WORK/wrong-$1.c"
    sed "$2" "$EXAMPLES/host.c" >"$source"
    ! cmp -s "$source" "$EXAMPLES/host.c" && program "$WORK/hosts/wrong-$1" 16 "$EXAMPLES/judged.c" "$source"
    verdict $? "a host with a fault: $1"
}

rm -rf "$WORK/hosts"
mkdir -p "$WORK/hosts"

cargo fmt --manifest-path "$PACKAGE" --check -- --color never &&
    cargo clippy --locked --quiet --manifest-path "$PACKAGE" --target-dir "$WORK/build" -- -D warnings
verdict $? "the library's formatting and lints"

for bits in 4 8 16 32; do
    library "$bits" "$bits"
    verdict $? "library with ticks of $bits bits"
done
library resting 8 --no-default-features --features polling,deferrable,edf
verdict $? "library without wake-ups"
library bare 16 --no-default-features
verdict $? "library without anything that can be left out"

# Three lines of code: the counter is right.
printf '/* one\n * two */\n\nint a; /* b */\n/* c */ int d; /* e\n f */ int g;\n  \n/* h */\n' >"$WORK/counted.c"
[ "$(code_lines "$WORK/counted.c")" = 3 ]
verdict $? "lines of code are counted right"
lines="$(code_lines "$EXAMPLES/host.c" "$EXAMPLES/host.h")"
[ "$lines" -gt 0 ] && [ "$lines" -le "$GLUE" ]
verdict $? "$lines lines of code of the host, at most $GLUE"

# What the header declares is what the library has.
declared="$(grep -oE '^[a-z0-9_]+ hsf_[a-z_]+\(' "$HEADER" | sed -E 's/.* (hsf_[a-z_]+)\(/\1/' | sort)"
defined="$(nm --defined-only "$WORK/16.a" 2>/dev/null | awk '$2 == "T" && $3 ~ /^hsf_/ { print $3 }' | sort)"
[ -n "$declared" ] && [ "$declared" = "$defined" ]
verdict $? "$(wc -w <<<"$declared") functions in the header, the same in the library"

for bits in 16 32; do
    program "$WORK/sheet-$bits" "$bits" "$EXAMPLES/sheet.c" "-DHSF_BITS=$bits" && "$WORK/sheet-$bits"
    verdict $? "the sheet of promises, $bits bits"
done
program "$WORK/sheet-bare" bare "$EXAMPLES/sheet.c" -DHSF_BITS=16 && "$WORK/sheet-bare" bare
verdict $? "what was left out is refused"

# code_of PROGRAM: bytes of the library's code in it.
code_of() { nm --size-sort --radix=d --print-size "$1" | awk '$4 ~ /^hsf_|vestal_hsf/ && $3 ~ /[Tt]/ { n += $2 } END { print n + 0 }'; }
all="$(code_of "$WORK/sheet-16")" bare="$(code_of "$WORK/sheet-bare")"
[ "$bare" -gt 0 ] && [ "$bare" -lt "$all" ]
verdict $? "code for this machine: $all bytes, $bare without what can be left out"
! nm "$WORK/sheet-16" | grep -E 'core9panicking|panic_fmt'
verdict $? "no call has a panic path"

for example in figure2 figure8 figure14; do
    program "$WORK/$example" 16 "$EXAMPLES/$example.c" "$EXAMPLES/host.c" &&
        "$WORK/$example" >"$WORK/$example.first" && "$WORK/$example" >"$WORK/$example.second" &&
        cmp "$WORK/$example.first" "$GOLDEN/$example.txt" && cmp "$WORK/$example.first" "$WORK/$example.second"
    verdict $? "$example, twice the same"
done

for name in 4 8 16 32 resting; do
    program "$WORK/hosts/judged-$name" "$name" "$EXAMPLES/judged.c" "$EXAMPLES/host.c"
    verdict $? "the host, library $name"
done
wrong picks-before-it-returns '/^void host_work/,/^}/ { s/dispatch();/swapped();/; s/tick();/dispatch();/; s/swapped();/tick();/ }'
wrong loses-ticks 's/owed++;/owed += now % 50 != 49;/'
wrong forgets-to-pick 's/^void host_ready.*/void host_ready(int32_t task) { tell_time(); host_checked(hsf_ready((uint32_t)task)); }/'
wrong calls-before-it-tells-the-time '/define TELL/,/while/ { /tell_time();/d }'
wrong sets-its-timer-too-late 's/owed == host_checked(hsf_next_event())/owed > host_checked(hsf_next_event())/'

VESTAL_HSF_HOSTS="$WORK/hosts" cargo test "${AS_TESTED[@]}" --test c_host
verdict $? "the core's judgement"

[ "$failed" = 0 ] && word=ok || word=FAILED
say "test result: $word. $passed passed; $failed failed; check-hsf-c.sh"
[ "$failed" = 0 ]
