#!/usr/bin/env python3
"""Is the monitor that `run` picks the cheaper one? scripts/compare-monitors.py [--smoke] [--rounds N] [--seconds S] [--json FILE] VESTAL

Runs the examples below with each monitor that nobody's limits rule out, and as `run` does it when nobody asks for one. In each
of N rounds (9) all monitors run one after the other, in an order that rotates, for S seconds (2) each. What a run costs is the CPU
time of its own threads and of its workers outside the bodies of jobs. An example is wrong if the median of a monitor that was
picked in any round is more than 10 % above that of another one, or if it cannot run. Ends with 1 if an example is wrong. Wants the rights of
`vestal run` and a machine that does nothing else.

--json FILE: writes down what each run cost, for `scripts/keep-overhead.sh` if FILE is called monitors.json.

--smoke judges no time: each example runs once, briefly, and has to say what it picked, why, and what it cost.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict

EXAMPLES = [
    ("fms", "amc"),
    ("fms", "zss"),
    ("fms-200", "smc"),
    ("fms-core-i5", "amc"),
    ("starter", "amc"),
    ("starter", "smc"),
    ("period-transformation", "pt"),
    ("starter", "edf-vd"),
    ("fms", "edf-vd"),
]
SMOKE = [("starter", "amc"), ("starter", "edf-vd")]
MONITORS = [None, "perf", "manager", "remainder"]
LIMIT = 0.10


def run(program, example, monitor, seconds):
    """The document of a run, or why there is none."""
    name, policy = example
    command = [program, "run", f"examples/{name}.toml", "--policy", policy, "--scenario", "overrun=0.2"]
    command += ["--for", seconds, "--format", "json", "--tolerate-stolen-time"]
    command += ["--monitor", monitor] if monitor else []
    done = subprocess.run(command, capture_output=True, text=True)
    # A deadline that was missed says nothing of costs.
    if done.returncode not in (0, 1, 5):
        return None, next((line for line in done.stderr.splitlines() if line), f"exit code {done.returncode}")
    return json.loads(done.stdout)["machine"], None


def cost(machine):
    """CPU time of the run's own threads, and of its workers outside the bodies of jobs, in nanoseconds."""
    own = machine["own"]
    return own["workers_cpu_ns"] + sum(part["cpu_ns"] for part in own.values() if isinstance(part, dict) and "cpu_ns" in part)


def details(machine):
    """What the manager took, what the workers took, and how often the monitor had the manager look."""
    looks = (machine["monitoring"] or {}).get("activations", 0)
    return machine["own"]["manager"]["cpu_ns"], machine["own"]["workers_cpu_ns"], looks


def measure(program, example, rounds, seconds):
    """By monitor what its runs cost, and what was picked; or why it could not be measured."""
    costs, parts, picked, runs = defaultdict(list), defaultdict(list), set(), []
    for number in range(rounds):
        first = number % len(MONITORS)
        for monitor in MONITORS[first:] + MONITORS[:first]:
            machine, why = run(program, example, monitor, seconds)
            if machine is None:
                return None, why
            if monitor is None:
                picked.add(machine["monitor"])
            elif machine["monitor"] != monitor:
                return None, f"{monitor} is refused: {machine['monitor']} runs in its place"
            costs[monitor].append(cost(machine))
            parts[monitor].append(details(machine))
            runs.append({"round": number, "asked": monitor, "monitor": machine["monitor"], "cpu_ns": cost(machine)})
    return (costs, parts, picked, runs), None


def judge(costs, picked):
    """A word for what was picked, and whether each that was picked is right: none by chance."""
    medians = {monitor: statistics.median(found) for monitor, found in costs.items() if monitor}
    best = min(medians, key=medians.get)
    beyond, name = max((medians[name] / medians[best] - 1, name) for name in picked)
    if beyond > LIMIT + 1e-9:
        return f"WRONG: picked {name}, {beyond:.0%} above {best}", False
    return f"ok: picked {' or '.join(sorted(picked))}", True


def expected(choice):
    """What is to be taken after such a trial: the manager if it is clearly cheaper and no less sharp."""
    if len(choice["tried"]) != 2:
        return "manager"
    perf, manager = choice["tried"]
    cheaper = 100 * manager["next_ns"] < 80 * perf["next_ns"]
    sharp = manager["late_ns"] is not None and manager["late_ns"] <= max(perf["late_ns"], 50_000)
    return "manager" if cheaper and sharp else "perf"


def smoke(program):
    """How many examples failed to say what they picked."""
    wrong = 0
    for example in SMOKE:
        machine, why = run(program, example, None, "300ms")
        choices = (machine or {}).get("monitor_choices", [])
        fine = len(choices) == 1 and choices[0]["why"] != "" and cost(machine) > 0
        fine = fine and machine["monitor"] == choices[0]["monitor"] == expected(choices[0])
        wrong += not fine
        print(f"{'ok' if fine else 'WRONG'}: {' '.join(example)}: {why or choices}")
    return wrong, len(SMOKE) - wrong


def machine():
    """Processor, CPUs and kernel, as `bench` says them."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        lines = [line for line in file if ":" in line]
    values = {key.strip(): value.strip() for key, value in (line.split(":", 1) for line in reversed(lines))}
    virtual = ", a virtual machine" if "hypervisor" in values.get("flags", "").split() else ""
    return f"{values.get('model name', 'unknown processor')}, {os.cpu_count()} CPUs{virtual}, Linux {os.uname().release}"


def compare(program, rounds, seconds, into):
    """How many examples are wrong, and how many right; what each run cost goes to the file `into`, if there is one."""
    wrong = right = 0
    kept = []
    print(f"{'example':32} {'perf':>9} {'manager':>9} {'remainder':>9}  CPU time in us, medians of {rounds} runs")
    for example in EXAMPLES:
        found, why = measure(program, example, rounds, seconds)
        name = " ".join(example)
        if found is None:
            print(f"{name:32} NOT RUN: {why}")
            kept.append({"example": example[0], "policy": example[1], "not_run": why})
            wrong += 1
            continue
        costs, parts, picked, runs = found
        kept.append({"example": example[0], "policy": example[1], "runs": runs})
        words, fine = judge(costs, picked)
        figures = " ".join(f"{statistics.median(costs[monitor]) / 1000:9.0f}" for monitor in MONITORS if monitor)
        print(f"{name:32} {figures}  {words}", flush=True)
        for monitor in filter(None, MONITORS):
            manager, workers, looks = (statistics.median(each) for each in zip(*parts[monitor]))
            print(f"    {monitor:28} manager {manager / 1000:.0f} us, workers {workers / 1000:.0f} us, {looks:.0f} looks", flush=True)
        wrong, right = wrong + (fine is False), right + (fine is True)
    if into:
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        document = {"bench": "monitors", "version": version, "machine": machine(), "rounds": rounds, "seconds": seconds, "examples": kept}
        with open(into, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
    return wrong, right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", default="2")
    parser.add_argument("--json")
    given = parser.parse_args()
    if given.smoke:
        wrong, right = smoke(given.program)
    else:
        wrong, right = compare(given.program, given.rounds, f"{given.seconds}s", given.json)
    print(f"test result: {'FAILED' if wrong or not right else 'ok'}. {right} passed; {wrong} failed;")
    sys.exit(1 if wrong or not right else 0)


main()
