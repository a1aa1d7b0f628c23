#!/usr/bin/env bash
# What the hooks of vestal-hsf take in instructions, on the kernel in QEMU: scripts/bench-kernel.sh [--smoke] [--built] [--keep]
#
# One to six servers with one to six tasks each (Holenderski et al. 2010, section 9), two schedulers without servers, and single calls by the
# events that they have to do with. Instructions are read in the guest, under -icount; everything is run twice and has to be the same to the
# byte. A plugin of QEMU counts single calls from outside, where QEMU has plugins. Then what has to hold is looked at, and what was counted is
# compared with what is kept in docs/holenderski2010, if compiler and QEMU are those. With --built the images are there already; with --keep what was
# counted is kept, and everything that follows from it is written anew. There is nothing to leave out with --smoke.
# The last line is in the form of cargo's test programs.
set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/kernel.sh
. "$ROOT/scripts/kernel.sh"
cd "$ROOT" || exit 4

built='' keep=''
for option in "$@"; do
    case "$option" in
        --smoke) ;;
        --built) built=yes ;;
        --keep) keep=yes ;;
        *) die 2 "usage: scripts/bench-kernel.sh [--smoke] [--built] [--keep]" ;;
    esac
done

# Instructions of a tick at which nothing is due, whatever there is.
readonly IDLE=60
readonly KEPT=docs/holenderski2010/counts.txt
# Rows of a grid: four schedulers for each size, and two more for each where one of both numbers is 6.
readonly ROWS=$((4 * 36 + 2 * 11)) PARTS=$((1 + 9 + 4 * 7)) LOSSES=8 CALLS=6
# Those whose counts are kept.
readonly COUNTED=(mps2-an385 virt)

# The columns that the images print.
readonly COLUMNS='
name=1 servers=2 tasks=3 idle_n=5 idle_least=6 idle_mean=7 idle_most=8 due_n=10 due_least=11 due_mean=12 due_most=13
pick_n=15 pick_least=16 pick_mean=17 pick_most=18 change_n=20 change_least=21 change_mean=22 change_most=23
'

# holds TABLE PROGRAM: an awk program over the rows of a table, with the columns' names, which fails where it says `bad()`.
holds() {
    local name options=()
    for name in $COLUMNS; do options+=(-v "$name"); done
    awk "${options[@]}" 'function bad() { print "  " $0 > "/dev/stderr"; failed = 1 }
        '"$2"'
        END { exit failed || NR == 0 }' "$1"
}

# grows TABLE ROWS COLUMN [FACTOR]: from row to row of these it grows, and by no step more than FACTOR of another.
grows() {
    holds "$1" "$2"' { if (seen++) { step = $'"$3"' - last; if (step <= 0) bad()
            if (!most || step > most) most = step; if (!least || step < least) least = step }
            last = $'"$3"' }
        END { if (seen < 3 || '"${4:-1000}"' * least < most) failed = 1 }'
}

# within PARTS: each call takes at most what crates/kernel/rtos/src/bounds.rs says, whose constants stand before the calls. No call of 400 instructions may be
# allowed more.
within() {
    awk '/^constant / { constant[$2] = $3; if ($3 > 400) bad() }
        /^part idle / { most = constant["idle"] }
        /^part burst / { most = constant["tick"] + constant["event"] * $3 }
        /^part insert / { most = constant["call"] + constant["step"] * $3 }
        /^part switch-in / { most = constant["switch"] + constant["step"] + constant["event"] * ($3 + 1) }
        /^part / { if (!most || $4 > most) bad(); most = 0; seen++ }
        function bad() { print "  " $0 > "/dev/stderr"; failed = 1 }
        END { exit failed || seen == 0 }' "$1"
}

# twice BOARD TABLE LINES [IMAGE]: the same bytes twice, and so many lines, in $WORK/output.
twice() {
    local output="$WORK/output/bench-$1-$2" image="$WORK/$1/${4:-bench}"
    runs_twice "$1" "$image" "$2" "$output" "$output.again" &&
        cmp "$output" "$output.again" && [ "$(wc -l <"$output")" = "$3" ]
}

# from_outside BOARD: single calls take as many instructions for a plugin of QEMU as the guest has read.
from_outside() {
    local words output="$WORK/output/bench-$1-outside"
    read -ra words <<<"$(emulator "$1" "$WORK/$1/bench")"
    words[-1]+=",arg=parts"
    "${words[@]}" -plugin "file=$WORK/libcount.so,out=$output" </dev/null >"$output.parts" || return
    # The first two are nothing, and twenty thousand instructions.
    awk '/^part / { guest[++parts] = $4; line[parts] = $0 }
        FILENAME ~ /outside$/ { if (++seen == 1) nothing = $1; else if (seen > 2) plugin[seen - 2] = $1 - nothing }
        END {
            if (parts < 5 || seen != parts + 2) exit 1
            for (part = 1; part <= parts; part++) {
                apart = guest[part] - plugin[part]
                # The guest counts what the compiler puts between a reading and a mark, too.
                most = 8 + plugin[part] / 1000
                if (apart > most || apart < -most) { print "  " line[part] ", and " plugin[part] " from outside" > "/dev/stderr"; failed = 1 }
            }
            exit failed
        }' "$output.parts" "$output"
}

# version COMMAND...: the first line of what it says of itself.
version() { "$@" --version 2>/dev/null | head -n 1; }

mkdir -p "$WORK/output"
# What looks at the tables can fail: a table in which the second row is as the first, and one that has no row.
printf 'a 1 1 idle 1 1 1 1 due 1 1 1 %s pick 1 1 1 1 change 1 1 1 1\n' 5 5 7 >"$WORK/output/bench-control"
said="$(grows "$WORK/output/bench-control" '$name == "a"' due_most 2>&1)"
[ $? != 0 ] && [ "$said" = '  a 1 1 idle 1 1 1 1 due 1 1 1 5 pick 1 1 1 1 change 1 1 1 1' ] &&
    ! holds /dev/null '$0 { bad() }' && ! holds "$WORK/output/bench-control" '$due_most > 6 { bad() }' 2>/dev/null
verdict $? "a table that does not do as is said is found out"
# One instruction more than each kind of call may take, a call of no kind, a constant that is too large, and none at all.
constants="$(printf 'constant %s\n' 'idle 60' 'tick 400' 'event 400' 'pick 400' 'switch 400' 'call 400' 'step 40')"
within <(printf '%s\n' "$constants" 'part idle 2 60' 'part burst 2 1200' 'part insert 2 480' 'part switch-in 2 1640')
found=$?
for bad in 'part idle 2 61' 'part burst 2 1201' 'part insert 2 481' 'part switch-in 2 1641' 'part other 2 1' 'constant other 401'; do
    ! within <(printf '%s\n' "$constants" 'part idle 2 60' "$bad") 2>/dev/null || found=1
done
[ "$found" = 0 ] && ! within /dev/null && ! within <(echo 'part burst 2 1') 2>/dev/null
verdict $? "a call that takes an instruction more than it may is found out"

toolchain="$(toolchain_for thumbv7m-none-eabi)"
counts="$WORK/output/counts.txt"
# shellcheck disable=SC2086
{
    echo "vestal-kernel-counts/1"
    echo "rustc $(version rustc $toolchain)"
    echo "qemu $(version qemu-system-arm)"
} >"$counts"
# What is weighed is an image that is nothing else, and says by its exit code what a tick takes in it at which nothing is due.
footprint="$WORK/build/footprint/thumbv7m-none-eabi/release/vestal-footprint"
# shellcheck disable=SC2086
CARGO_INCREMENTAL=0 cargo $toolchain build --locked --quiet --release --manifest-path crates/kernel/footprint/Cargo.toml \
    --target thumbv7m-none-eabi --target-dir "$WORK/build/footprint"
verdict $? "one image to weigh, and to count in"
code="$(size "$footprint" | awk 'NR == 2 { print $1 + $2 }')"
runs mps2-an385 "$footprint" none
printf 'code %s\ncode-idle %s\n' "$code" "$(($? - 100))" | tee -a "$counts"
awk '/^code / { code = $2 } /^code-idle / { idle = $2 } END { exit !(code > 0 && code <= 8192 && idle > 0 && idle <= '$IDLE') }' "$counts"
verdict $? "this image takes at most 8192 bytes, and a tick at which nothing is due at most $IDLE instructions in it, with 36 tasks"

plugins=''
# The whole help is read: who leaves it at the first match has QEMU fail for that.
has_plugins() { [[ "$("$1" -help)" == *$'\n-plugin'* ]]; }
if has_plugins qemu-system-arm && has_plugins qemu-system-riscv32; then
    plugins=yes
    cc -std=c99 -Wall -Wextra -Werror -O2 -shared -fPIC "$CRATE/plugin/count.c" -o "$WORK/libcount.so"
    verdict $? "a plugin for QEMU"
else
    say "this QEMU has no plugins: nothing is counted from outside"
fi

# The processor of lm3s6965evb is that of mps2-an385, at another clock: single calls have to be the same but for rounding.
[ -n "$built" ] || images lm3s6965evb || die 1 "the images of lm3s6965evb cannot be built"
twice lm3s6965evb parts "$PARTS"
verdict $? "lm3s6965evb, single calls: the same bytes twice"
twice lm3s6965evb losses "$LOSSES" isolation
verdict $? "lm3s6965evb: a server takes from another no more than its budget and the sum of what each event, switch and interrupt takes at most"
for board in "${COUNTED[@]}"; do
    [ -n "$built" ] || images "$board" || die 1 "the images of $board cannot be built"
    twice "$board" grid "$ROWS"
    verdict $? "$board, servers and tasks: the same bytes twice"
    twice "$board" parts "$PARTS"
    verdict $? "$board, single calls: the same bytes twice"
    grid="$WORK/output/bench-$board-grid" parts="$WORK/output/bench-$board-parts"
    say "$board: scheduler, servers, tasks each; for ticks without and with an event, picks, ends of jobs: how many, least, mean, most"
    cat "$grid"
    say "$board: single calls, by events"
    cat "$parts"
    twice "$board" calls "$CALLS" isolation
    verdict $? "$board: no call of the scheduler takes more than it may by its events, switches and passed nodes"
    twice "$board" losses "$LOSSES" isolation
    verdict $? "$board: a server takes from another no more than its budget and the sum of what each event, switch and interrupt takes at most"
    calls="$WORK/output/bench-$board-calls" losses="$WORK/output/bench-$board-losses"
    cat "$calls" "$losses"
    { echo "board $board" && cat "$parts" "$calls" "$losses" "$grid"; } >>"$counts"
    holds "$grid" '$name ~ /^(polling|idling|deferrable|no-wake-ups)$/ && $idle_most > '$IDLE' { bad() }'
    verdict $? "$board: a tick at which nothing is due takes at most $IDLE instructions, whatever there is"
    grows "$grid" '$name == "deferrable" && $tasks == 6' due_most 1.1
    verdict $? "$board: the worst tick grows with the servers, linear in the events that are due"
    holds "$grid" '$name == "deferrable" && $servers == 6 { if (last && $due_most != last) bad(); last = $due_most }'
    verdict $? "$board: and not with the tasks in them"
    grows "$grid" '$name == "deferrable" && $servers == 6' pick_most 1.1
    verdict $? "$board: the worst pick grows with the tasks of a server, linear in the events that it makes up for"
    holds "$grid" '$name == "deferrable" { tick = $due_most; pick = $pick_most }
        $name == "no-wake-ups" && $servers == 6 && ($due_most <= tick || $pick_most >= pick) { bad() }'
    verdict $? "$board: wake-ups move what ticks take to picks"
    within "$parts"
    verdict $? "$board: calls by the events that they have to do with are within the bounds of crates/kernel/rtos/src/bounds.rs"
    if [ -n "$plugins" ]; then
        from_outside "$board"
        verdict $? "$board: a plugin of QEMU counts single calls as the guest does, within 8 and 0.1 %"
    fi
done
awk '/^part / { if (FILENAME ~ /lm3s/) slow[$2 " " $3] = $4
        else { apart = slow[$2 " " $3] - $4; seen++; if (apart > 2 || apart < -2) { print "  " $0 > "/dev/stderr"; failed = 1 } } }
    END { exit failed || seen < 5 }' "$WORK/output/bench-lm3s6965evb-parts" "$WORK/output/bench-mps2-an385-parts"
verdict $? "lm3s6965evb: single calls take as many instructions as on mps2-an385, within 2, as its clock has half the pace"

if [ -n "$keep" ]; then
    mkdir -p "$(dirname "$KEPT")"
    cp "$counts" "$KEPT"
    VESTAL_BLESS=1 cargo test --locked --quiet --package vestal-experiment --test experiments -- what_the_documentation_says_of_instructions the_tables_of_instructions
    verdict $? "what follows from the counts is written anew"
elif [ "$(sed -n 2,3p "$counts")" = "$(sed -n 2,3p "$KEPT")" ]; then
    cmp "$counts" "$KEPT"
    verdict $? "what is kept is what was counted"
else
    say "NOT COMPARED: what is kept was counted with $(sed -n '2s/^rustc //p' "$KEPT") and $(sed -n '3s/^qemu //p' "$KEPT"); the constants above hold for this one"
fi

[ "$failed" = 0 ] && word=ok || word=FAILED
say "test result: $word. $passed passed; $failed failed; bench-kernel.sh"
[ "$failed" = 0 ]
