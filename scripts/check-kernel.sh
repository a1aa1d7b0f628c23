#!/usr/bin/env bash
# The kernel on bare metal: scripts/check-kernel.sh
#
# Tests what knows no processor on this host; builds the images of crates/kernel/rtos for each board, and runs them in QEMU:
# what is compared with a text twice, the stacks, what ends an image and random systems once. Figures are those that the Rust tests expect, byte for byte; random systems are judged by
# the core (crates/hsf/tests/c_host), where each kernel with a fault in it has to be found out. The lines that
# connect the kernel with vestal-hsf are counted. The last line is in the form of cargo's test programs.
set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/kernel.sh
. "$ROOT/scripts/kernel.sh"
cd "$ROOT" || exit 4

# Lines of code that connect a host with the library, at most.
readonly GLUE=150
readonly GOLDEN=crates/hsf/tests/golden

# prints BOARD IMAGE ARGUMENT EXPECTED: it ends well, twice, and prints what that file has.
prints() {
    local output="$WORK/output/$1-$3"
    runs_twice "$1" "$WORK/$1/$2" "$3" "$output.first" "$output.second" &&
        cmp "$output.first" "$output.second" && cmp "$output.first" "$4"
}

# symbols BOARD: the strings of its images, each of which has to have the names of its entry and of functions of the kernel.
symbols() {
    local image text
    for image in "${IMAGES[@]}"; do
        text="$(strings -a "$WORK/$1/$image")" && grep -q image_main <<<"$text" && grep -q vestal_kernel <<<"$text" || return
        printf '%s\n' "$text"
    done
}

# host NAME BOARD IMAGE: a program for the judge, which reads systems from stdin.
host() {
    printf '#!/bin/sh\nsystems="%s"\ncat >"$systems"\n%s,arg=judged,arg="$systems" </dev/null\n' \
        "$WORK/hosts/.$1.systems" "$(emulator "$2" "$3" | sed 's/ $//')" >"$WORK/hosts/$1"
    chmod +x "$WORK/hosts/$1"
}

# changed NAME FILE SED-SCRIPT: a copy of the crate with a fault in it, $WORK/crates/NAME.
changed() {
    local copy="$WORK/crates/$1"
    rm -rf "$copy"
    mkdir -p "$copy"
    # Not what was built there by hand.
    cp -r "$CRATE"/{Cargo.toml,Cargo.lock,build.rs,boards,src} "$copy"
    sed -i "s|\"../../hsf\"|\"$ROOT/crates/hsf\"|" "$copy/Cargo.toml"
    sed -i "$3" "$copy/$2"
    ! cmp -s "$CRATE/$2" "$copy/$2"
}

# hsf_with NAME FILE SED-SCRIPT: a copy of vestal-hsf with a fault in it, $WORK/crates/NAME.
hsf_with() {
    local copy="$WORK/crates/$1"
    rm -rf "$copy"
    mkdir -p "$copy"
    cp -r crates/hsf/src "$copy"
    printf '[package]\nname = "vestal-hsf"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n' >"$copy/Cargo.toml"
    sed -i "$3" "$copy/$2"
    ! cmp -s "crates/hsf/$2" "$copy/$2"
}

# found FAULT WHAT WORDS: the image ends, and says that this is wrong.
found() {
    runs mps2-an385 "$WORK/wrong-$1/isolation" "$2" >"$WORK/output/$1-$2"
    [ $? = 1 ] && grep -qx "$3" "$WORK/output/$1-$2"
    verdict $? "isolation $2 finds $1: $3"
}

# wrong NAME FILE SED-SCRIPT: a kernel with a fault in it, for the judge.
wrong() {
    changed "$@" && images "${boards[0]}" "$WORK/crates/$1" "wrong-$1" judged &&
        host "wrong-$1" "${boards[0]}" "$WORK/wrong-$1/judged"
    verdict $? "a kernel with a fault: $1"
}

# Lines of Rust that are not blank and not only comment.
code_lines() { awk '{ sub(/\/\/.*/, "") } /[^ \t]/ { lines++ } END { print lines + 0 }' "$@"; }

rm -rf "$WORK/hosts" "$WORK/output"
mkdir -p "$WORK/hosts" "$WORK/output"

cargo fmt --manifest-path "$CRATE/Cargo.toml" --check -- --color never
verdict $? "formatting"
cargo clippy --locked --quiet --manifest-path "$CRATE/Cargo.toml" --target-dir "$WORK/build/host" --tests -- -D warnings
verdict $? "lints, on this host"
cargo test --locked --quiet --manifest-path "$CRATE/Cargo.toml" --target-dir "$WORK/build/host"
verdict $? "tests of what knows no processor"

# Three lines of code: the counter is right.
printf '//! a\n\nuse b; // c\n    /// d\n    fn e() {}\n  \n}\n' >"$WORK/counted.rs"
[ "$(code_lines "$WORK/counted.rs")" = 3 ]
verdict $? "lines of code are counted right"
lines="$(code_lines "$CRATE/src/glue.rs")"
all="$(cat "$CRATE"/src/{glue,kernel,call,semaphore,stack,cell,system,task}.rs | code_lines)"
[ "$lines" -gt 0 ] && [ "$lines" -le "$GLUE" ]
verdict $? "$lines lines of code connect the kernel with vestal-hsf, at most $GLUE; with the rest of it $all, without ports"
grep -q "the three hooks, $lines lines of code" docs/porting.md && grep -q "^Without ports and images it is $all lines" docs/porting.md
verdict $? "docs/porting.md has these numbers"

# The third form of Figure 2 has the schedule of the second, which waits for its period.
sed -n '/^form b/,$p' "$GOLDEN/figure2.txt" | sed 's/^form b/form c/' >"$WORK/figure2-semaphore.txt"
for _ in 1 2 3 4 5 6 7 8 9 10; do printf '011222.'; done >"$WORK/registers.txt"
printf '\nkept\n' >>"$WORK/registers.txt"
printf '1222002221112002211122200222\n' >"$WORK/semaphores.txt"
printf '\n\n\n012..\n01\n0012....\n' >"$WORK/faults.txt"
printf '000\n12.\n012.....\n' >"$WORK/rules.txt"
hundred="$(printf '0%.0s' {1..100})"
# How long the second run goes on until a tick ends in a call depends on what the kernel takes.
printf '%s\n0\n000\n%s\n' "$hundred" "$hundred" >"$WORK/late.txt"

mapfile -t boards < <(awk 'NF { print $1 }' <<<"$BOARDS")
for board in "${boards[@]}"; do
    cargo_for "$board" "$board" clippy --manifest-path "$CRATE/Cargo.toml" -- -D warnings
    verdict $? "$board: lints"
    images "$board"
    verdict $? "$board: images"
    symbols "$board" >"$WORK/output/$board-symbols" && ! grep -E 'core9panicking|panic_fmt|panic_bounds_check' "$WORK/output/$board-symbols"
    verdict $? "$board: no panic path"
    for figure in figure14 figure8 figure2; do
        prints "$board" figures "$figure" "$GOLDEN/$figure.txt"
        verdict $? "$board: $figure, twice the same"
    done
    prints "$board" figures figure2-semaphore "$WORK/figure2-semaphore.txt"
    verdict $? "$board: a task that waits for a semaphore of an interrupt has no jitter either"
    for check in registers semaphores faults rules late; do
        prints "$board" checks "$check" "$WORK/$check.txt"
        verdict $? "$board: $check"
    done
    # A Cortex-M takes a call in a handler for a fault; on riscv32 it is a trap in a trap, and the word that says who has the kernel is taken.
    case "$board" in
        virt) ends=103 said='a handler was interrupted by another' ;;
        *) ends=102 said='the processor met a fault' ;;
    esac
    runs "$board" "$WORK/$board/checks" nested >"$WORK/output/$board-nested"
    [ $? = "$ends" ] && [ "$(tail -n 1 "$WORK/output/$board-nested")" = "$said" ]
    verdict $? "$board: a call in a handler ends the image with $ends"
    runs "$board" "$WORK/$board/checks" stack
    verdict $? "$board: painted stacks, and one that is too small"
    host "judged-$board" "$board" "$WORK/$board/judged"
done

scripts/bench-kernel.sh --built
verdict $? "instructions of the hooks"

# Who does more than has to be done pays for it by the bounds; so it is counted, too.
changed picks-twice src/glue.rs 's/self.running = hooks.pick();/hooks.pick();&/' &&
    images mps2-an385 "$WORK/crates/picks-twice" wrong-picks-twice isolation
verdict $? "a kernel with a fault: picks-twice"
changed hands-out-twice Cargo.toml "s|\"$ROOT/crates/hsf\"|\"$WORK/crates/hsf-hands-out-twice\"|" &&
    hsf_with hsf-hands-out-twice src/hsf/tick.rs 's/self.handle(event, &mut pass);/&&/' &&
    images mps2-an385 "$WORK/crates/hands-out-twice" wrong-hands-out-twice isolation
verdict $? "a queue with a fault: hands-out-twice"
found picks-twice losses 'not what the load makes necessary'
found picks-twice calls 'another call, or a pick without a reason'
found hands-out-twice losses 'not what the load makes necessary'
found hands-out-twice calls 'more events than there are'

# The fault is in the port: who is switched in has another r10, or s11.
for board in mps2-an385 virt; do
    case "$board" in
        virt) changed "loses-s11" src/port/riscv.rs 's/"mv sp, a0",/"mv sp, a0", "sw zero, 108(sp)",/' ;;
        *) changed "loses-r10" src/port/cortex_m.rs 's/"ldmia r0!, {{r4-r11}}",/"ldmia r0!, {{r4-r11}}", "mov r10, r0",/' ;;
    esac
    [ $? = 0 ] && case "$board" in
        virt) images "$board" "$WORK/crates/loses-s11" "loses-$board" checks ;;
        *) images "$board" "$WORK/crates/loses-r10" "loses-$board" checks ;;
    esac && [ "$(runs "$board" "$WORK/loses-$board/checks" registers | tail -n 1)" = lost ]
    verdict $? "$board: a switch that loses a register is found out"
done

wrong picks-before-it-returns src/kernel.rs 's/self.over || !goes_on && self.is_to_switch()/self.is_to_switch()/'
wrong loses-ticks src/kernel.rs 's/self.glue.tick();/if self.now % 50 != 49 { self.glue.tick(); }/'
wrong forgets-to-pick src/glue.rs 's/self.changed = true;/self.changed |= change != Change::Ready;/'
wrong tells-before-the-time src/glue.rs '/fn tell(/,/^    }/ s/self.tell_time();//'

VESTAL_HSF_HOSTS="$WORK/hosts" cargo test "${AS_TESTED[@]}" --test c_host
verdict $? "the core's judgement"

[ "$failed" = 0 ] && word=ok || word=FAILED
say "test result: $word. $passed passed; $failed failed; check-kernel.sh"
[ "$failed" = 0 ]
