#!/usr/bin/env python3
"""Overloaded periodic task sets and when SimSo completes their jobs.

    scripts/check-simso.sh --bless       rewrites crates/sim/tests/overload/simso.txt with it

Draws 200 sets of two to four tasks with 1.02 <= U <= 1.3 and times in whole nanoseconds, and simulates
each under RM_mono and EDF_mono of SimSo (Cheramy, Hladik and Deplanche 2014). One cycle of SimSo stands
for a nanosecond and for one of its milliseconds, so that its floating-point times are whole numbers.

A block of lines for each set: `set NUMBER`, for each task `task PERIOD WCET OFFSET DEADLINE`, and for each
policy its name and the completions before the horizon as TASK:INSTANT, ordered by instant and task.
"""

import random
import sys
from fractions import Fraction

from simso.configuration import Configuration
from simso.core import Model

SETS = 200
HORIZON = 1200
POLICIES = {"rm": "simso.schedulers.RM_mono", "edf": "simso.schedulers.EDF_mono"}


def draw(rng):
    """A set of tasks (period, wcet, offset, deadline); drawn again until U is in range."""
    while True:
        tasks = []
        for _ in range(rng.randint(2, 4)):
            period = rng.randint(17, 61)
            tasks.append((period, rng.randint(1, period), 0, period))
        utilization = sum(Fraction(wcet, period) for period, wcet, _, _ in tasks)
        if not Fraction(102, 100) <= utilization <= Fraction(13, 10):
            continue
        if rng.random() < 0.5:
            tasks = [(t, c, rng.randrange(t), rng.randint(c, t)) for t, c, _, _ in tasks]
        return tasks


def completions(tasks, policy):
    configuration = Configuration()
    configuration.cycles_per_ms = 1
    configuration.duration = HORIZON
    for number, (period, wcet, offset, deadline) in enumerate(tasks):
        configuration.add_task(
            name=f"T{number}",
            identifier=number,
            period=period,
            activation_date=offset,
            wcet=wcet,
            deadline=deadline,
            abort_on_miss=False,
        )
    configuration.add_processor(name="CPU 0", identifier=0)
    configuration.scheduler_info.clas = policy
    configuration.check_all()
    model = Model(configuration)
    model.run_model()
    found = []
    for task in model.results.tasks:
        for job in model.results.tasks[task].jobs:
            if job.end_date is not None and job.end_date < HORIZON:
                found.append((int(job.end_date), task.identifier))
                assert found[-1][0] == job.end_date
    return sorted(found)


def main():
    rng = random.Random(1202)
    print("# Written by scripts/simso_overload.py with SimSo 0.8.5; do not edit.")
    print(f"horizon {HORIZON}")
    for number in range(SETS):
        tasks = draw(rng)
        print(f"set {number}")
        for task in tasks:
            print("task", *task)
        for name, policy in POLICIES.items():
            jobs = (f"{task}:{instant}" for instant, task in completions(tasks, policy))
            print(name, *jobs)


sys.exit(main())
