#!/usr/bin/env bash
# What the hooks of vestal-hsf take in instructions, on the kernel in QEMU: scripts/bench-kernel.sh [--built]
#
# Six servers with so many tasks each and so many servers with six (Holenderski et al. 2010, section 9), and two schedulers
# without servers. Instructions are read in the guest, under -icount; everything is run twice and has to be the same to the byte. Then
# what the paper says of them is looked at, and the bound of an idle tick. With --built the images are there already.
# The last line is in the form of cargo's test programs.
set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/kernel.sh
. "$ROOT/scripts/kernel.sh"
cd "$ROOT" || exit 4

# Instructions of a tick at which nothing is due, whatever there is; and without wake-ups.
readonly IDLE=60 IDLE_NO_WAKE_UPS=61

# The columns that the images print.
readonly COLUMNS='
name=1 servers=2 tasks=3 idle_n=5 idle_mean=6 idle_most=7 due_n=9 due_mean=10 due_most=11
pick_n=13 pick_mean=14 pick_most=15 change_n=17 change_mean=18 change_most=19
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

# grows TABLE NAME COLUMN [FACTOR]: from row to row it grows, and by no step more than FACTOR of another.
grows() {
    holds "$1" '$name == "'"$2"'" { if (seen++) { step = $'"$3"' - last; if (step <= 0) bad()
            if (!most || step > most) most = step; if (!least || step < least) least = step }
            last = $'"$3"' }
        END { if (seen < 3 || '"${4:-1000}"' * least < most) failed = 1 }'
}

mkdir -p "$WORK/output"
# What looks at the tables can fail: a table in which the second row is as the first, and one that has no row.
printf 'a 1 1 idle 1 1 1 due 1 1 %s pick 1 1 1 change 1 1 1\n' 5 5 7 >"$WORK/output/bench-control"
said="$(grows "$WORK/output/bench-control" a due_most 2>&1)"
[ $? != 0 ] && [ "$said" = '  a 1 1 idle 1 1 1 due 1 1 5 pick 1 1 1 change 1 1 1' ] &&
    ! holds /dev/null '$0 { bad() }' && ! holds "$WORK/output/bench-control" '$due_most > 6 { bad() }' 2>/dev/null
verdict $? "a table that does not do as is said is found out"
for board in mps2-an385 virt; do
    [ "${1:-}" = --built ] || images "$board" || die 1 "the images of $board cannot be built"
    for table in servers tasks; do
        output="$WORK/output/bench-$board-$table"
        runs "$board" "$WORK/$board/bench" "$table" >"$output" && runs "$board" "$WORK/$board/bench" "$table" >"$output.again" &&
            cmp "$output" "$output.again" && [ "$(wc -l <"$output")" = 36 ]
        verdict $? "$board, $table: the same bytes twice"
        say "$board: scheduler, servers, tasks each; for ticks without and with an event, picks, changes: how many, mean, most"
        cat "$output"
    done
    servers="$WORK/output/bench-$board-servers" tasks="$WORK/output/bench-$board-tasks"
    idle='$name ~ /^(polling|idling|deferrable)$/ && $idle_most > '$IDLE' { bad() }
        $name == "no-wake-ups" && $idle_most > '$IDLE_NO_WAKE_UPS' { bad() }'
    holds "$servers" "$idle" && holds "$tasks" "$idle"
    verdict $? "$board: a tick at which nothing is due takes at most $IDLE instructions, $IDLE_NO_WAKE_UPS without wake-ups, whatever there is"
    grows "$servers" deferrable due_most 1.1
    verdict $? "$board: the worst tick grows with the servers, linear in the events that are due"
    holds "$tasks" '$name == "deferrable" { if (last && $due_most != last) bad(); last = $due_most }'
    verdict $? "$board: and not with the tasks in them"
    grows "$tasks" deferrable pick_most 1.1
    verdict $? "$board: the worst pick grows with the tasks of a server, linear in the events that it makes up for"
    holds "$tasks" '$name == "deferrable" { tick = $due_most; pick = $pick_most; sum = all() }
        $name == "no-wake-ups" { if ($due_most <= tick || $pick_most >= pick) bad()
            ratio = all() / sum; if ($tasks > 1 && (ratio > 1.25 || ratio < 1 / 1.25)) bad() }'
    verdict $? "$board: wake-ups move what ticks take to picks; with two tasks each or more their sum stays within 25 %"
    holds "$tasks" '$name == "deferrable" { hsf = all(); tick = $due_most; pick = $pick_most }
        $name == "scan" { if ($tasks == 1 && all() >= hsf) bad(); if ($tasks == 6 && all() <= hsf) bad()
            if ($due_most >= tick || $pick_most >= pick) bad() }'
    verdict $? "$board: six deferrable servers take more in all than counters of all tasks with 6 tasks, less with 36, and more at most in a tick and in a pick"
done

[ "$failed" = 0 ] && word=ok || word=FAILED
say "test result: $word. $passed passed; $failed failed; bench-kernel.sh"
[ "$failed" = 0 ]
