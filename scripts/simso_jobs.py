"""Simulates a task set with SimSo: simso_jobs.py SECONDS, the set on standard input.

A line of the set is T, C(LO), C(HI) in nanoseconds and a priority, of which T and C(LO) are used.
Prints how many jobs were completed, and how many that is a second of CPU time of the run itself.
"""

import sys
import time

from simso.configuration import Configuration
from simso.core import Model

NANOS_PER_MS = 1_000_000


def main():
    configuration = Configuration()
    configuration.cycles_per_ms = NANOS_PER_MS
    configuration.duration = int(sys.argv[1]) * 1000 * configuration.cycles_per_ms
    for number, line in enumerate(sys.stdin):
        period, wcet, _, _ = (int(word) for word in line.split())
        configuration.add_task(
            name=f"T{number}",
            identifier=number,
            period=period / NANOS_PER_MS,
            activation_date=0,
            wcet=wcet / NANOS_PER_MS,
            deadline=period / NANOS_PER_MS,
            abort_on_miss=False,
        )
    configuration.add_processor(name="CPU 0", identifier=0)
    configuration.scheduler_info.clas = "simso.schedulers.RM_mono"
    configuration.check_all()
    model = Model(configuration)
    begun = time.process_time()
    model.run_model()
    seconds = time.process_time() - begun
    tasks = model.results.tasks.values()
    completed = sum(1 for task in tasks for job in task.jobs if job.end_date is not None)
    print(completed, round(completed / seconds))


main()
