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
readonly ROWS=$((4 * 36 + 2 * 11)) PARTS=$((1 + 4 * 7))
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
        function all() {
            return $idle_n * $idle_mean + $due_n * $due_mean + $pick_n * $pick_mean + $change_n * $change_mean }
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

# within PARTS: each call takes at most what crates/kernel/rtos/src/bounds.rs says: a tick, a pick with a switch, or a call, so many events, and an insertion
# so many nodes that it passes.
within() {
    awk '/^part / { most["idle"] = 60; most["burst"] = 400 + 400 * $3; most["insert"] = 400 + 30 * $3; most["switch-in"] = 800 + 400 * $3
            seen++; if (!($2 in most) || $4 > most[$2]) { print "  " $0 > "/dev/stderr"; failed = 1 } }
        END { exit failed || seen == 0 }' "$1"
}

# twice BOARD TABLE LINES: the same bytes twice, and so many lines, in $WORK/output.
twice() {
    local output="$WORK/output/bench-$1-$2"
    runs "$1" "$WORK/$1/bench" "$2" >"$output" && runs "$1" "$WORK/$1/bench" "$2" >"$output.again" &&
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
    ! holds /dev/null '$0 { bad() }' && ! within /dev/null && ! within <(echo 'part burst 2 1201') 2>/dev/null && ! holds "$WORK/output/bench-control" '$due_most > 6 { bad() }' 2>/dev/null
verdict $? "a table that does not do as is said is found out"

toolchain="$(toolchain_for thumbv7m-none-eabi)"
counts="$WORK/output/counts.txt"
# shellcheck disable=SC2086
{
    echo "vestal-kernel-counts/1"
    echo "rustc $(version rustc $toolchain)"
    echo "qemu $(version qemu-system-arm)"
} >"$counts"
# weighs NAME [OPTION...]: how many bytes of flash the image `weight` takes, built with these.
weighs() {
    local folder="weight-$1"
    shift
    cargo_for mps2-an385 "$folder" build --manifest-path "$CRATE/Cargo.toml" --bin weight "$@" &&
        size "$WORK/build/$folder/thumbv7m-none-eabi/release/weight" | awk 'NR == 2 { print $1 + $2; seen = 1 } END { exit !seen }'
}
full="$(weighs full --features weight)" && empty="$(weighs empty --features weightless)" && [ "$empty" -gt 0 ] &&
    runs mps2-an385 "$WORK/build/weight-full/thumbv7m-none-eabi/release/weight" all >"$WORK/output/weight"
verdict $? "one image to weigh, and to count in"
echo "code $((full - empty))" | cat - "$WORK/output/weight" | tee -a "$counts"
awk '/^code / { code = $2 } /^code-idle / { idle = $2 } END { exit !(code > 6000 && code <= 8192 && idle > 0 && idle <= '$IDLE') }' "$counts"
verdict $? "in this image the crate takes at most 8192 bytes, and a tick at which nothing is due at most $IDLE instructions with 36 tasks"

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
    { echo "board $board" && cat "$parts" "$grid"; } >>"$counts"
    holds "$grid" '$name ~ /^(polling|idling|deferrable|no-wake-ups)$/ && $idle_most > '$IDLE' { bad() }'
    verdict $? "$board: a tick at which nothing is due takes at most $IDLE instructions, whatever there is"
    grows "$grid" '$name == "deferrable" && $tasks == 6' due_most 1.1
    verdict $? "$board: the worst tick grows with the servers, linear in the events that are due"
    holds "$grid" '$name == "deferrable" && $servers == 6 { if (last && $due_most != last) bad(); last = $due_most }'
    verdict $? "$board: and not with the tasks in them"
    grows "$grid" '$name == "deferrable" && $servers == 6' pick_most 1.1
    verdict $? "$board: the worst pick grows with the tasks of a server, linear in the events that it makes up for"
    holds "$grid" '$name == "deferrable" { tick = $due_most; pick = $pick_most; sum = all() }
        $name == "no-wake-ups" && $servers == 6 { if ($due_most <= tick || $pick_most >= pick) bad()
            ratio = all() / sum; if ($tasks > 1 && (ratio > 1.35 || ratio < 1 / 1.35)) bad() }'
    verdict $? "$board: wake-ups move what ticks take to picks; of six servers with two tasks each or more the sum stays within 35 %"
    within "$parts"
    verdict $? "$board: single calls are within the bounds of crates/kernel/rtos/src/bounds.rs"
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
    VESTAL_BLESS=1 cargo test --locked --quiet --package vestal-experiment --test experiments -- what_the_documentation_says_of_instructions
    verdict $? "what follows from the counts is written anew"
elif [ "$(sed -n 2,3p "$counts")" = "$(sed -n 2,3p "$KEPT")" ]; then
    cmp "$counts" "$KEPT"
    verdict $? "what is kept is what was counted"
else
    say "what is kept was counted with another compiler or QEMU, and is not compared"
fi

[ "$failed" = 0 ] && word=ok || word=FAILED
say "test result: $word. $passed passed; $failed failed; bench-kernel.sh"
[ "$failed" = 0 ]
