#!/usr/bin/env bash
# The tests of the whole repository: scripts/test.sh [PART...]
#
# Runs the enabled parts of the table below (or just those named, in that order), each bounded by its
# time limit and with its output in target/test-logs/PART.log. Prints one row a part as it ends, the end of the
# log of each part that failed, and as the last line `N passed, N failed`: the sum over all test
# programs, to which a part that failed without a failing test adds one. A part that cannot run
# here is NOT RUN, which is a failure. Exits 0 when nothing failed, 1 otherwise.
#
# All parts together run in two lanes, one beside the other, and those that want the machine for themselves after both:
# most parts have work for one and a half CPUs. Time and CPU time of a row are its own; the total is what passed.
set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 4

# name       state  lane   seconds  what it is
#            `off` keeps a part out of `make test` until the code it tests exists.
#            The second lane has what needs a target directory of its own. `bench` and `kernel` share one.
readonly TABLE='
fmt          on     1      120      formatting
hygiene      on     1      120      rules no compiler checks, and a test of that checker
clippy       on     1      1200     lints, on every target and feature
doc          on     1      900      documentation builds without a broken link
tests        on     1      1800     unit tests, doctests and integration tests of every crate
soundness    on     1      1200     campaign, smoke size: no accepted set misses, every control is refuted
hsf-c        on     1      900      hsf from C: figures, the sheet of promises, a host on Linux judged by the core
perfetto     on     1      600      traces against the schema of Perfetto, and against results
simso        on     1      300      completions in overload that the tests compare with, against SimSo
bare-metal   on     2      600      the core on a Cortex-M3: no panic path, the same plans in QEMU; hsf in 8 KB, for C in 9
loom         on     2      600      the trace ring and the words of a run under a model checker: every interleaving of small cases
bench        on     2      1500     instructions of the analyses and the simulator against their limits
kernel       on     2      900      a kernel that hosts hsf, in QEMU on three boards: figures, preemption, judged by the core
install      on     2      1200     cargo install, version, completions, man pages
report       on     alone  300      report pages in a headless Chromium: driven, checked, frames measured
real         on     alone  900      enforcement on the real kernel, one test at a time
new-policy   on     alone  600      examples of new policies over a copy of the tree: files counted, compiled, tested
demo         on     alone  420      make demo: build, then the demo itself within 120 s
'

# What each part does. A part runs in a shell of its own, with stdin closed; it fails when its
# last command does, and may say `not_run WHY`.
readonly NOT_RUN=77

not_run() {
    say "NOT RUN: $*"
    exit $NOT_RUN
}

part_fmt() { cargo fmt --check -- --color never; }

part_hygiene() { scripts/hygiene.sh && scripts/hygiene-selftest.sh && { ! have python3 || scripts/compare-overhead.py --self-test; }; }

# Also as users build it: what only a feature uses is a warning without it. A target with `test = false` is none
# of "all targets".
part_clippy() {
    cargo clippy --locked --workspace --all-targets --all-features -- -D warnings &&
        cargo clippy --locked --workspace --all-features --test soundness --test real --test c_host -- -D warnings &&
        cargo clippy --locked --workspace -- -D warnings
}

# What a feature hides must not be linked from what is always there.
part_doc() {
    export RUSTDOCFLAGS="-D warnings"
    cargo doc --locked --workspace --no-deps --all-features && cargo doc --locked --package vestal-analysis --no-deps
}

part_bare-metal() {
    toolchain_for thumbv7m-none-eabi >/dev/null ||
        not_run "no toolchain builds for thumbv7m-none-eabi: rustup target add thumbv7m-none-eabi"
    have qemu-system-arm || not_run "no qemu-system-arm: apt-get install qemu-system-arm"
    scripts/check-bare-metal.sh
}

# One C compiler will do; it links every Rust program as well.
part_hsf-c() {
    have cc || not_run "no C compiler called cc: apt-get install gcc libc6-dev"
    have nm || not_run "no nm: apt-get install binutils"
    scripts/check-hsf-c.sh
}

part_kernel() {
    local target
    for target in thumbv7m-none-eabi riscv32imac-unknown-none-elf; do
        toolchain_for "$target" >/dev/null || not_run "no toolchain builds for $target: rustup target add $target"
    done
    have qemu-system-arm || not_run "no qemu-system-arm: apt-get install qemu-system-arm"
    have strings || not_run "no strings: apt-get install binutils"
    have qemu-system-riscv32 || not_run "no qemu-system-riscv32: apt-get install qemu-system-misc (from Debian 13 on: qemu-system-riscv)"
    scripts/check-kernel.sh
}

# The real-time tests and the campaign are parts of their own: their targets have `test = false`.
part_tests() { cargo test "${AS_TESTED[@]}" --no-fail-fast; }

# Built apart: the cfg changes every crate.
part_loom() {
    RUSTFLAGS="--cfg loom" cargo test --locked --package vestal-trace --lib ring:: --target-dir target/loom &&
        RUSTFLAGS="--cfg loom" cargo test --locked --package vestal-linux --lib --target-dir target/loom -- words:: notes::
}

part_soundness() { cargo test "${AS_TESTED[@]}" --test soundness; }

# What is counted in instructions. Memory, times and the comparison with SimSo are for `make bench`.
part_bench() {
    have valgrind || not_run "no valgrind: apt-get install valgrind"
    scripts/bench.sh --smoke
}

# Building takes longest; the browser itself less than a minute.
part_report() {
    have python3 || not_run "no python3: apt-get install python3"
    have chromium || have chromium-browser || have google-chrome || not_run "no Chromium: apt-get install chromium"
    scripts/check-report.sh
}

part_perfetto() {
    scripts/check-perfetto.sh --install-only || not_run "the package perfetto of PyPI cannot be had"
    scripts/check-perfetto.sh
}

part_simso() {
    scripts/check-simso.sh --install-only || not_run "the package simso of PyPI cannot be had"
    scripts/check-simso.sh
}

# What a release is optimised by takes minutes of a core and is asked about by no part that runs the program: `bench` counts
# instructions of programs that have it.
readonly BUILT_FAST=(env CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16)

part_install() {
    local root="$ROOT/target/install-test" commit
    rm -rf "$root"
    "${BUILT_FAST[@]}" cargo install --path crates/cli --root "$root" --locked || return
    commit="$(git rev-parse --short=7 HEAD)" || return
    "$root/bin/vestal" --version | tee "$root/version" || return
    grep -q "$commit" "$root/version" || { say "vestal --version does not name the commit $commit"; return 1; }
    for shell in bash zsh fish; do
        "$root/bin/vestal" completions "$shell" >"$root/completions.$shell" || return
        grep -q vestal "$root/completions.$shell" || { say "no completions for $shell"; return 1; }
    done
    "$root/bin/vestal" manpages "$root/man" || return
    grep -q '^\.TH' "$root/man/vestal.1" || { say "no man page vestal.1"; return 1; }
    # Without the feature of the live view, which every other test has.
    "$root/bin/vestal" run examples/fms.toml --policy amc --watch 2>"$root/no-watch"
    [ $? = 2 ] || { say "--watch without its feature does not end with 2"; return 1; }
    grep -q -e '--features watch' "$root/no-watch" || { say "--watch without its feature does not name it"; return 1; }
}

# Real-time tests want the machine for themselves: built first, then run one after the other.
part_real() {
    local run=(cargo test "${AS_TESTED[@]}" --test real)
    chrt --fifo 10 true || not_run "this user may not use SCHED_FIFO. Run as root, or raise" \
        "RLIMIT_RTPRIO ('ulimit -r 90'; in /etc/security/limits.conf: '$(id -un) - rtprio 90')," \
        "or in a container add the capability SYS_NICE."
    "${run[@]}" --no-run && "${run[@]}" -- --test-threads=1 &&
        scripts/compare-monitors.py --smoke "${CARGO_TARGET_DIR:-target}/debug/vestal"
}

# After all that is tested of this tree: the copy's crates take the place of this tree's in the target directory.
part_new-policy() { scripts/check-new-policy.sh; }

# What a newcomer must be told stands in the summary; a demo that says nothing has not been shown.
part_demo() {
    local output="$LOGS/demo-output.txt" word
    "${BUILT_FAST[@]}" scripts/demo.sh --build-only || return
    timeout -k 10 120 "${BUILT_FAST[@]}" scripts/demo.sh | tee "$output" || return
    for word in schedulable mode dropped guaranteed; do
        grep -qi "$word" "$output" || { say "the demo says nothing about '$word'"; return 1; }
    done
    [ -s "${CARGO_TARGET_DIR:-target}/demo/report.html" ] || { say "the demo left no page"; return 1; }
}

# ---------------------------------------------------------------------------------------------

readonly LOGS=target/test-logs
readonly LOG_TAIL=60

names() { awk -v states="$1" 'NF && index(states, " " $2 " ") { print $1 }' <<<"$TABLE"; }
limit_of() { awk -v part="$1" '$1 == part { print $4 }' <<<"$TABLE"; }
in_lane() { awk -v lane="$1" '$2 == "on" && $3 == lane { print $1 }' <<<"$TABLE"; }

# Every test program, cargo's or ours, ends with `test result: ok. N passed; N failed; ...`.
count() {
    sed 's/\x1b\[[0-9;]*m//g' "$2" |
        awk -v word="$1;" '/^test result: / { for (i = 2; i <= NF; i++) if ($i == word) n += $(i - 1) }
                           END { print n + 0 }'
}

elapsed() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", b - a }'; }

usage() {
    say "usage: scripts/test.sh [PART...]"
    say "parts:"
    awk 'NF { printf "  %-10s %-4s", $1, $2; $1 = $2 = $3 = $4 = ""; print " " $0 }' <<<"$TABLE"
}

# Runs one part, prints its row, and adds a line to the file of results: passed, failed, CPU time, exit code, part.
run_part() {
    local part="$1" log="$LOGS/$1.log" limit result start code seconds colour row_passed row_failed row_cpu TIMEFORMAT='%U %S'
    limit="$(limit_of "$part")"
    start="$EPOCHREALTIME"
    # User and system time of all the part's processes.
    { time timeout -k 10 "$limit" bash "$0" --one "$part" >"$log" 2>&1 </dev/null; } 2>"$LOGS/$part.cpu"
    code=$?
    row_cpu="$(awk 'END { printf "%.1f", $1 + $2 }' "$LOGS/$part.cpu")"
    rm -f "$LOGS/$part.cpu"
    seconds="$(elapsed "$start" "$EPOCHREALTIME")"
    row_passed="$(count passed "$log")"
    row_failed="$(count failed "$log")"
    colour="$RED"
    case "$code" in
        0) result=ok colour="$GREEN" ;;
        "$NOT_RUN") result="NOT RUN" ;;
        124 | 137) result="TIMEOUT" && say "stopped after the limit of $limit s" >>"$log" ;;
        *) result=FAILED ;;
    esac
    # A part of tests in which no test ran has shown nothing.
    case "$part:$code:$row_passed" in
        hsf-c:0:0 | kernel:0:0 | tests:0:0 | loom:0:0 | soundness:0:0 | bench:0:0 | report:0:0 | perfetto:0:0 | simso:0:0 | real:0:0) result=FAILED code=1 && say "no test ran" >>"$log" ;;
    esac
    [ "$code" = 0 ] || [ "$row_failed" != 0 ] || row_failed=1
    printf '%-10s %s%-8s%s %7d %7d %8ss %8ss\n' \
        "$part" "$colour" "$result" "$PLAIN" "$row_passed" "$row_failed" "$seconds" "$row_cpu"
    printf '%s %s %s %s %s\n' "$row_passed" "$row_failed" "$row_cpu" "$code" "$part" >>"$results"
}

# One part after the other, in the background of this shell, which can be stopped meanwhile. Under job control nothing there
# ignores SIGINT, as tests send it.
lane() {
    (
        set +m
        trap - INT TERM
        [ "$1" != 2 ] || renice -n 3 "$BASHPID" >/dev/null
        for part in "${@:2}"; do run_part "$part"; done
    ) &
}

# Each `timeout` has a process group of its own, which no terminal's Ctrl-C reaches, and hands its signal on.
stop_all() {
    local lane
    exec 2>/dev/null
    for lane in $(jobs -p); do
        kill "$lane" $(cat "/proc/$lane/task/$lane/children")
    done
    rm -f "$results"
    exit 130
}

# The second lane steps back: tests of the first one have times to keep.
run_in_lanes() {
    local lane parts
    for lane in 1 2 alone; do
        [ "$lane" != alone ] || wait
        mapfile -t parts < <(in_lane "$lane")
        lane "$lane" "${parts[@]}"
    done
}

main() {
    local bad=() part expected passed failed cpu start="$EPOCHREALTIME"
    case "${1:-}" in --help | -h) usage && return 0 ;; esac
    for part in "$@"; do
        [ -n "$(limit_of "$part")" ] || { usage >&2 && return 2; }
    done
    expected=$#
    [ $# != 0 ] || expected="$(names " on " | wc -l)"
    mkdir -p "$LOGS" && results="$(mktemp)" || return 3
    trap stop_all INT TERM
    set -m
    printf '%s%-10s %-8s %7s %7s %9s %9s%s\n' "$BOLD" part result passed failed time CPU "$PLAIN"
    if [ $# = 0 ]; then run_in_lanes; else lane named "$@"; fi
    wait
    read -r passed failed cpu < <(awk '{ p += $1; f += $2; c += $3 } END { printf "%d %d %.1f\n", p, f, c }' "$results")
    mapfile -t bad < <(awk '$4 != 0 { print $5 }' "$results")
    [ "$(wc -l <"$results")" = "$expected" ] || { say "a lane was ended before its parts were"; failed=$((failed + 1)); }
    rm -f "$results"
    printf '%-10s %34ss %8ss\n' total "$(elapsed "$start" "$EPOCHREALTIME")" "$cpu"
    for part in "${bad[@]}"; do
        printf '\n%s--- %s: the last lines of %s%s\n' "$BOLD" "$part" "$LOGS/$part.log" "$PLAIN"
        tail -n "$LOG_TAIL" "$LOGS/$part.log"
    done
    if [ $# = 0 ] && [ -n "$(names " off ")" ]; then
        printf '\nNot tested here, because the table in scripts/test.sh has it off: %s\n' "$(names " off " | paste -sd' ')"
    fi
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [ "${#bad[@]}" = 0 ] && [ "$failed" = 0 ]
}

if [ "${1:-}" = --one ]; then
    "part_$2"
else
    main "$@"
fi
