#!/usr/bin/env python3
"""What a change costs: scripts/compare-overhead.py OLD NEW [ROUNDS]

OLD and NEW are two `vestal` programs. In each of ROUNDS (20, ten minutes) rounds OLD, OLD again as the control, and NEW
run `vestal bench overhead --paper huang2014 --quick --repetitions 5`, in an order that rotates. Printed is by how much
the median of the CPU time of the run's own threads and its workers differs from OLD's, for each variant and number of
tasks; what the control differs is noise. Ends with 1 if a variant of NEW takes 5 % more. Wants a quiet machine.
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
        sys.exit(f"{program} ended with {run.returncode}:\n{run.stderr}")
    rows = json.loads(run.stdout)["busy_periods"]
    return {(row["variant"], row["size"]): row["own_cpu_ns"]["median"] + row["workers_cpu_ns"]["median"] for row in rows}


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    rounds = int(sys.argv[3]) if len(sys.argv) == 4 else 20
    arms = [("old", sys.argv[1]), ("control", sys.argv[1]), ("new", sys.argv[2])]
    measured = defaultdict(lambda: defaultdict(list))
    for number in range(rounds):
        first = number % len(arms)
        for arm, program in arms[first:] + arms[:first]:
            for row, nanos in busy_periods(program).items():
                measured[row][arm].append(nanos)
        print(f"\rround {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print("variant         tasks    old, us  control      new")
    worst = 0
    for (variant, size), of_arm in measured.items():
        old, control, new = (statistics.median(of_arm[arm]) for arm, _ in arms)
        print(f"{variant:15} {size:5} {old / 1000:10.1f} {control / old - 1:+8.1%} {new / old - 1:+8.1%}")
        worst = max(worst, new / old - 1)
    sys.exit(worst > LIMIT)


if __name__ == "__main__":
    main()
