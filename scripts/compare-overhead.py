#!/usr/bin/env python3
"""What a change costs: scripts/compare-overhead.py OLD NEW [ROUNDS]

OLD and NEW are two `vestal` programs. In each of ROUNDS (20, ten minutes) rounds OLD, OLD again as the control, and NEW
run `vestal bench overhead --paper huang2014 --quick --repetitions 5`, in an order that rotates. Printed is by how much
the median of the CPU time of the run's own threads and its workers differs from OLD's, for each variant and number of
tasks; what the control differs is noise. A variant is judged by its row `all`: the median, over the rounds and the numbers
of tasks, of what it takes to what OLD took in the same round, so that each number of tasks counts alike. `sum` is beside it:
the median over the rounds of what all numbers of tasks take together, of which the largest is most. Ends with 1 if a
variant takes 5 % more, and with 2 if something was not compared: a program that cannot be measured, or a row that one of
both did not measure each time. Wants a quiet machine. Its own test: scripts/compare-overhead.py --self-test
"""

import json
import statistics
import subprocess
import sys
from collections import defaultdict

COMMAND = "bench overhead --paper huang2014 --quick --repetitions 5 --format json".split()
LIMIT = 0.05


def refuse(why):
    """Nothing is said of what was not compared."""
    print(why, file=sys.stderr)
    sys.exit(2)


def busy_periods(program):
    """CPU time in nanoseconds by variant and number of tasks."""
    try:
        run = subprocess.run([program, *COMMAND], capture_output=True, text=True)
    except OSError as error:
        refuse(f"{program}: {error}")
    if run.returncode not in (0, 1):
        refuse(f"{program} ended with {run.returncode}:\n{run.stderr}")
    try:
        return costs_of(json.loads(run.stdout))
    except (ValueError, KeyError, TypeError) as error:
        refuse(f"{program} wrote no result of the benchmark: {error!r}")


def costs_of(document):
    costs = {(row["variant"], row["size"]): (row["own_cpu_ns"], row["workers_cpu_ns"]) for row in document["busy_periods"]}
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


def ratios(measured, variant, arm):
    """What an arm takes of a variant, of what OLD took in the same round with as many tasks."""
    rows = [of_arm for (name, _), of_arm in measured.items() if name == variant]
    return [taken / old for of_arm in rows for taken, old in zip(of_arm[arm], of_arm["old"])]


def table(measured):
    """The lines of the table, and the variants that take too much more."""
    lines, beyond = ["variant         tasks    old, us  control      new"], []

    def line(variant, size, old, control, new):
        lines.append(f"{variant:15} {size:>5} {old:>10} {control:+8.1%} {new:+8.1%}")

    def compare(variant, size, of_arm):
        old, control, new = compared(of_arm)
        line(variant, size, f"{old / 1000:.1f}", control, new)

    for (variant, size), of_arm in measured.items():
        compare(variant, size, of_arm)
    for variant, of_arm in by_variant(measured).items():
        compare(variant, "sum", of_arm)
        control, new = (statistics.median(ratios(measured, variant, arm)) - 1 for arm in ("control", "new"))
        line(variant, "all", "", control, new)
        if new > LIMIT:
            beyond.append(variant)
    return lines, beyond


def whole(measured, rounds):
    """The rows of OLD, of which there have to be some; all programs measured them each time. What only NEW has is nothing to compare."""
    for variant, size in [row for row, of_arm in measured.items() if not of_arm["old"]]:
        print(f"only NEW has: {variant} with {size} tasks", file=sys.stderr)
    measured = {row: of_arm for row, of_arm in measured.items() if of_arm["old"]}
    missing = [row for row, of_arm in measured.items() if any(len(of_arm[arm]) != rounds for arm in ARMS)]
    for variant, size in missing:
        print(f"not compared: {variant} with {size} tasks", file=sys.stderr)
    if missing or not measured:
        refuse("not everything was measured each time")
    return measured


def self_test():
    """Each number of tasks counts alike, whatever it takes; one round in three that takes much more is none that does."""

    def arms(old, new):
        return {"old": [old, old + 2, old - 2], "control": [old] * 3, "new": [new, new, 9 * new]}

    def ends_with(code, call):
        try:
            call()
        except SystemExit as end:
            assert end.code == code, end.code
        else:
            raise AssertionError("it went on")

    measured = {
        ("a", 4): arms(1_000, 1_030), ("a", 32): arms(90_000, 90_000),
        # More with few tasks, which their sum does not show.
        ("b", 4): arms(1_000, 1_500), ("b", 8): arms(2_000, 2_200), ("b", 32): arms(90_000, 90_000),
    }
    lines, beyond = table(measured)
    assert beyond == ["b"], (lines, beyond)
    assert [line.split()[-1] for line in lines if line.split()[:2] == ["b", "sum"]] == ["+0.8%"], lines
    assert len(lines) == 1 + 5 + 4, lines
    assert whole(measured | {("c", 4): {"old": [], "control": [], "new": [1, 2, 3]}}, 3) == measured
    ends_with(2, lambda: whole({}, 3))
    ends_with(2, lambda: whole(measured, 4))
    ends_with(2, lambda: busy_periods("/nowhere/vestal"))
    ends_with(2, lambda: busy_periods("/bin/true"))
    assert costs_of({"busy_periods": [{"variant": "a", "size": 4, "own_cpu_ns": None, "workers_cpu_ns": None}]}) == {}
    print("compare-overhead: ok")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) not in (3, 4):
        refuse(__doc__)
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
    lines, beyond = table(whole(measured, rounds))
    print("\n".join(lines))
    sys.exit(bool(beyond))


if __name__ == "__main__":
    main()
