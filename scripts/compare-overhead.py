#!/usr/bin/env python3
"""What a change costs: scripts/compare-overhead.py OLD NEW [ROUNDS]

OLD and NEW are two `vestal` programs. In each of ROUNDS (20, ten minutes) rounds OLD, OLD again as the control, and NEW
run `vestal bench overhead --paper huang2014 --quick --repetitions 5`, in an order that rotates. Printed is by how much
the median of the CPU time of the run's own threads and its workers differs from OLD's, for each variant and number of
tasks, and for each variant, with the busy periods of all numbers of tasks together: the median over the rounds of their
sum. What the control differs is noise. Ends with 1 if a variant of NEW takes 5 % more with all of them together, and with 2
if a program cannot be measured. Wants a quiet machine. Its own test: scripts/compare-overhead.py --self-test
"""

import json
import statistics
import subprocess
import sys
from collections import defaultdict

COMMAND = "bench overhead --paper huang2014 --quick --repetitions 5 --format json".split()
LIMIT = 0.05


def busy_periods(program):
    """CPU time in nanoseconds by variant and number of tasks."""
    run = subprocess.run([program, *COMMAND], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        print(f"{program} ended with {run.returncode}:\n{run.stderr}", file=sys.stderr)
        sys.exit(2)
    rows = json.loads(run.stdout)["busy_periods"]
    costs = {(row["variant"], row["size"]): (row["own_cpu_ns"], row["workers_cpu_ns"]) for row in rows}
    # A variant that cannot be run here has none.
    return {row: own["median"] + workers["median"] for row, (own, workers) in costs.items() if own and workers}


ARMS = ("old", "control", "new")


def compared(of_arm):
    """The median of OLD in nanoseconds, and by which share of it those of the control and of NEW differ."""
    old, control, new = (statistics.median(of_arm[arm]) for arm in ARMS)
    return old, control / old - 1, new / old - 1


def by_variant(measured):
    """Of each variant what its busy periods come to with all numbers of tasks, by arm, a figure for each round."""
    sums = defaultdict(lambda: defaultdict(list))
    for (variant, _), of_arm in measured.items():
        for arm in ARMS:
            known = sums[variant][arm]
            for number, nanos in enumerate(of_arm[arm]):
                if number == len(known):
                    known.append(0)
                known[number] += nanos
    return sums


def table(measured):
    """The lines of the table, and the variants that take too much more."""
    lines, beyond = ["variant         tasks    old, us  control      new"], []

    def line(variant, size, of_arm):
        old, control, new = compared(of_arm)
        lines.append(f"{variant:15} {size:>5} {old / 1000:10.1f} {control:+8.1%} {new:+8.1%}")
        return new

    for (variant, size), of_arm in measured.items():
        line(variant, size, of_arm)
    for variant, of_arm in by_variant(measured).items():
        if line(variant, "all", of_arm) > LIMIT:
            beyond.append(variant)
    return lines, beyond


def self_test():
    """A variant of which one number of tasks takes more is none that does, unless all of them together do."""

    def arms(old, new):
        return {"old": [old, old + 2, old - 2], "control": [old] * 3, "new": [new, new, 9 * new]}

    measured = {("a", 4): arms(1_000, 1_100), ("a", 32): arms(9_000, 9_000), ("b", 4): arms(1_000, 1_060), ("b", 32): arms(9_000, 9_450)}
    lines, beyond = table(measured)
    assert beyond == ["b"], (lines, beyond)
    assert lines[5].split() == ["a", "all", "10.0", "+0.0%", "+1.0%"], lines
    assert lines[6].split()[-1] == "+5.1%", lines
    assert len(lines) == 7, lines
    print("compare-overhead: ok")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    rounds = int(sys.argv[3]) if len(sys.argv) == 4 else 20
    arms = list(zip(ARMS, (sys.argv[1], sys.argv[1], sys.argv[2])))
    measured = defaultdict(lambda: defaultdict(list))
    for number in range(rounds):
        first = number % len(arms)
        for arm, program in arms[first:] + arms[:first]:
            for row, nanos in busy_periods(program).items():
                measured[row][arm].append(nanos)
        print(f"\rround {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    # What one of both programs does not have, or did not measure each time, is not compared.
    whole = {row: of_arm for row, of_arm in measured.items() if all(len(of_arm[arm]) == rounds for arm in ARMS)}
    for row in measured.keys() - whole.keys():
        print(f"not compared: {row[0]} with {row[1]} tasks", file=sys.stderr)
    lines, beyond = table(whole)
    print("\n".join(lines))
    sys.exit(bool(beyond))


if __name__ == "__main__":
    main()
