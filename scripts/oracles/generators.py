#!/usr/bin/env python3
"""A second implementation of the recipes for random task sets, from their definitions. Needs Python only.

    scripts/oracles/generators.py > crates/workload/tests/generate/golden.json

It shares nothing with crates/workload but the rules that the heads of its files state: which numbers a
recipe draws, in which order, and what is made of them. Where a sampler needs volumes, they are exact
fractions here. crates/workload/tests/generate/golden.rs compares the sets.
"""

import json
import math
from fractions import Fraction

MASK = (1 << 64) - 1
MS = 1_000_000


def mix(value):
    z = (value + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def derived_seed(seed, parts):
    value = mix(seed)
    for part in parts:
        value = mix(value ^ part)
    return value


class Random:
    """xoshiro256++ seeded by SplitMix64."""

    def __init__(self, seed):
        self.state = [mix((seed + i * 0x9E3779B97F4A7C15) & MASK) for i in range(4)]

    def word(self):
        s = self.state
        rotl = lambda x, k: ((x << k) | (x >> (64 - k))) & MASK
        result = (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
        return result

    def unit(self):
        return ((self.word() >> 11) + 0.5) / 2**53

    def below(self, n):
        reject = ((-n) & MASK) % n
        while True:
            wide = self.word() * n
            if wide & MASK >= reject:
                return wide >> 64

    def between(self, low, high):
        return low + (high - low) * self.unit()

    def shuffle(self, items):
        for last in range(len(items) - 1, 0, -1):
            chosen = self.below(last + 1)
            items[last], items[chosen] = items[chosen], items[last]


# Samplers of utilisations.


def uunifast(random, n, total):
    shares = []
    for left in range(n - 1, 0, -1):
        rest = total * random.unit() ** (1 / left)
        shares.append(total - rest)
        total = rest
    return shares + [total] if n else []


def rand_fixed_sum(random, n, total):
    """Stafford's sampler. volume[j] is the content of a slice of the i-dimensional unit cube."""
    whole = max(min(math.floor(total), n - 1), 0)
    above = [Fraction(total) - whole + j for j in range(n)]
    below = [whole + n - j - Fraction(total) for j in range(n)]
    volume = {0: Fraction(1)}
    up = {}
    for i in range(2, n + 1):
        down_part = {j: volume.get(j, 0) * above[j] / i for j in range(i)}
        up_part = {j: volume.get(j - 1, 0) * below[n - i + j] / i for j in range(i)}
        volume = {j: down_part[j] + up_part[j] for j in range(i)}
        up[i - 1] = {j: up_part[j] / volume[j] if volume[j] else Fraction(0) for j in range(i)}
    values, column, rest, base, scale = [], whole, total, 0.0, 1.0
    for left in range(n - 1, 0, -1):
        step = 1 if random.unit() <= up[left][column] else 0
        shrink = random.unit() ** (1 / left)
        base += (1 - shrink) * scale * rest / (left + 1)
        scale *= shrink
        values.append(base + scale * step)
        rest -= step
        column -= step
    values.append(base + scale * rest)
    random.shuffle(values)
    return [min(max(value, 0.0), 1.0) for value in values]


def total_of(values):
    # The built-in sum compensates for rounding in some versions of Python.
    total = 0.0
    for value in values:
        total += value
    return total


def tilt(widths, goal):
    """The rate by bisection, to a fiftieth, for which the truncated exponentials have about this sum."""
    if goal >= total_of(widths) * 0.499:
        return 0.0

    def mean(x, w):
        return w * (0.5 - x * w / 12) if x * w < 1e-3 else 1 / x - w / math.expm1(x * w)

    low, high = 0.0, len(widths) / goal
    for _ in range(24):
        middle = 0.5 * (low + high)
        if total_of(mean(middle, w) for w in widths) > goal:
            low = middle
        else:
            high = middle
        if high - low < 0.02 * high:
            break
    return 0.5 * (low + high)


def bounded_sum(random, upper, total):
    """Lower bounds 0. All varying components but the widest (the last such) are drawn, in their order."""
    span = total_of(upper)
    reflected = total > span / 2
    goal = span - total if reflected else total
    varying = [i for i, w in enumerate(upper) if w > 0]
    widest = max(varying, key=lambda i: (upper[i], i))
    drawn = [i for i in varying if i != widest]
    rate = tilt([upper[i] for i in drawn + [widest]], goal)
    while True:
        values, rest = [0.0] * len(upper), goal
        for at, i in enumerate(drawn):
            unit = random.unit()
            if rate > 0:
                value = min(-math.log(1 - unit * -math.expm1(-rate * upper[i])) / rate, upper[i])
            else:
                value = unit * upper[i]
            rest -= value
            room = total_of(upper[k] for k in reversed(drawn[at + 1 :]))
            if rest < 0 or rest - room > upper[widest]:
                break
            values[i] = value
        else:
            values[widest] = rest
            if rest <= upper[widest] and (rate == 0 or random.unit() < math.exp(-rate * rest)):
                break
    return [min(max(w - y if reflected else y, 0.0), w) for y, w in zip(values, upper)]


# Periods.


def uniform_period(random, least, most, step):
    first = -(-least // step)
    return (first + random.below(most // step - first + 1)) * step


def log_uniform_period(random, least, most, step):
    drawn = int(math.exp(random.between(math.log(least), math.log(most + step))))
    return min(max(drawn // step * step, least), most)


def listed_period(random, periods):
    return periods[random.below(len(periods))]


# Recipes. A task is [level, period, deadline, execution times up to its level, CPU or None] in ns.


def number(settings, name, default):
    return float(settings.get(name, default))


def huang2014(random, settings):
    n, levels = int(settings.get("tasks", 20)), int(settings.get("levels", 2))
    factor = Fraction(settings.get("criticality_factor", "1.5"))
    inflate = settings.get("inflate_level0", "false") == "true"
    tasks = []
    for i, share in enumerate(uunifast(random, n, number(settings, "utilization", 0.5)), 1):
        period = 100 * (1 + random.below(100))
        own = i % levels
        normal = max(int(period * share), 1)
        raised = math.floor(normal * factor)
        if own == 0:
            wcet = [raised if inflate else normal]
        else:
            wcet = [normal] * own + [raised]
        tasks.append([own, period * 1000, period * 1000, [c * 1000 for c in wcet], None])
    return tasks, []


def sigrist2015(random, settings):
    target, probability = number(settings, "utilization", 1.6), number(settings, "share_high", 0.4)
    uniform = settings.get("periods") == "uniform"
    chain = None if uniform else listed_period(random, [[2, 4, 8], [2, 6], [3, 6], [4, 8]])
    low_sum = high_normal = high_sum = 0.0
    tasks = []
    while target - max(low_sum + high_normal, high_sum) > 1e-6:
        is_high = random.unit() < probability
        while True:
            low, high = random.between(0.05, 0.5), None
            if not is_high:
                break
            high = low * random.between(1.0, 4.0)
            if high <= 1:
                break
        period = uniform_period(random, 2, 2000, 1) * MS if uniform else listed_period(random, chain) * 100 * MS
        fit = (target - low_sum - high_normal) / low
        if is_high:
            fit = min(fit, (target - high_sum) / high)
        fit = min(max(fit, 0.0), 1.0)
        if is_high:
            high_normal += low * fit
            high_sum += high * fit
        else:
            low_sum += low * fit
        wcet = [max(int(period * (share * fit)), 1) for share in ([low, high] if is_high else [low])]
        tasks.append([int(is_high), period, period, wcet, None])
    return tasks, []


def herman2012(random, settings):
    n, cpus = int(settings.get("tasks", 20)), int(settings.get("cpus", 6))
    totals = [number(settings, f"capacity_{name}", default) * cpus for name, default in [("a", 0.05), ("b", 0.05), ("c", 0.65)]]
    while True:
        counts = [1, 1, 1]
        for _ in range(n - 3):
            counts[random.below(3)] += 1
        if all(count >= total for count, total in zip(counts, totals)):
            break
    tasks, hyperperiod = [], 25
    for place, (count, total) in enumerate(zip(counts, totals)):
        for share in rand_fixed_sum(random, count, total):
            if place == 0:
                period = listed_period(random, [25, 50, 100])
            elif place == 1:
                period = uniform_period(random, hyperperiod, 300, hyperperiod)
            else:
                period = uniform_period(random, 10, 100, 5)
            wcet = max(int(period * MS * share), 1)
            tasks.append([3 - place, period * MS, period * MS, [wcet] * (4 - place), None])
        if place == 0:
            hyperperiod = max(task[1] for task in tasks) // MS
    used = [0] * cpus
    demand = lambda task: task[3][0] * 1_000_000 // task[1]
    for task in sorted((task for task in tasks if task[0] > 1), key=demand, reverse=True):
        cpu = min(range(1, cpus), key=lambda cpu: used[cpu])
        used[cpu] += demand(task)
        task[4] = cpu
    return tasks, []


def missimer(random, settings):
    n, io_n = int(settings.get("tasks", 15)), int(settings.get("io_tasks", 5))
    factor = Fraction(settings.get("criticality_factor", "2"))
    probability = number(settings, "share_high", 0.5)
    io = number(settings, "io_utilization", 0.05) if io_n else 0.0
    tasks, pibs = [], []
    for share in uunifast(random, n, max(number(settings, "utilization", 0.5) - io, 0.0)):
        period = log_uniform_period(random, MS, 100 * MS, 1)
        low = max(int(period * share), 1)
        high = min(math.floor(low * factor), period)
        is_high = random.unit() < probability
        tasks.append([int(is_high), period, period, [low, high] if is_high else [low], None])
    for share in uunifast(random, io_n, io):
        low = max(int(10**9 * share), 10**9 // MS)
        high = min(math.floor(low * factor), 10**9)
        level = int(random.unit() < probability)
        among = [i for i, task in enumerate(tasks) if task[0] == level] or list(range(n))
        served = among[random.below(len(among))]
        # Level, billionths of the CPU for each level, the server of which task it serves.
        pibs.append([level, [low, high] if level else [low], served])
    return tasks, pibs


def standard(random, settings):
    n, probability = int(settings.get("tasks", 20)), number(settings, "share_high", 0.5)
    low_total, high_total = number(settings, "utilization", 0.5), number(settings, "utilization_high", 0)
    factor = Fraction(settings.get("criticality_factor", "2"))
    least, most, step = 10 * MS, 1000 * MS, int(settings.get("granularity", "1us")[:-2]) * 1000
    rule = settings.get("periods", "log-uniform")

    def period_of():
        if rule == "harmonic":
            return least << random.below(int(math.log2(most // least)) + 1)
        if rule == "uniform":
            return uniform_period(random, least, most, step)
        if rule == "log-uniform":
            return log_uniform_period(random, least, most, step)
        return listed_period(random, [int(text[:-2]) * MS for text in rule.split(",")])

    while True:
        is_high = [random.unit() < probability for _ in range(n)]
        if not (0 < high_total < low_total and all(is_high)):
            break
    if high_total == 0:
        low, high = rand_fixed_sum(random, n, low_total), None
    else:
        count = sum(is_high)
        drawn = iter(rand_fixed_sum(random, count, high_total) if count else [])
        high = [next(drawn) if of_high else 1.0 for of_high in is_high]
        low = bounded_sum(random, high, low_total)
    tasks = []
    for i in range(n):
        period = period_of()
        wcet = [max(int(period * low[i]), 1)]
        if is_high[i] and high:
            wcet.append(max(int(period * high[i]), wcet[0]))
        elif is_high[i]:
            wcet.append(min(math.floor(wcet[0] * factor), period))
        deadline = period
        if settings.get("deadlines") == "constrained":
            own = min(wcet[-1], period)
            deadline = own + random.below(period - own + 1)
        tasks.append([int(is_high[i]), period, deadline, wcet, None])
    return tasks, []


SETS = 5
CASES = [
    (huang2014, {}),
    (huang2014, {"tasks": "6", "utilization": "0.9", "levels": "4", "inflate_level0": "true"}),
    (huang2014, {"tasks": "3", "utilization": "0.05", "criticality_factor": "1.25"}),
    (sigrist2015, {}),
    (sigrist2015, {"utilization": "6.4", "share_high": "0.7"}),
    (herman2012, {}),
    (herman2012, {"tasks": "40", "cpus": "4"}),
    (herman2012, {"capacity_a": "0.2", "capacity_b": "0.2", "capacity_c": "0.35"}),
    (missimer, {}),
    (missimer, {"tasks": "6", "io_tasks": "3", "criticality_factor": "3", "share_high": "0.1"}),
    (standard, {}),
    (standard, {"utilization_high": "0.7"}),
    (standard, {"utilization": "0.6", "utilization_high": "0.5", "tasks": "3"}),
    (standard, {"utilization": "0.95", "utilization_high": "0.9", "tasks": "6", "share_high": "0.9"}),
    (standard, {"periods": "harmonic", "criticality_factor": "1.5"}),
    (standard, {"periods": "5ms,20ms,70ms", "tasks": "8"}),
    (standard, {"periods": "uniform", "granularity": "700us", "tasks": "8"}),
    (standard, {"deadlines": "constrained", "share_high": "0.2"}),
    (sigrist2015, {"utilization": "0.8", "periods": "uniform"}),
]

if __name__ == "__main__":
    rows = []
    for case, (recipe, settings) in enumerate(CASES):
        for index in range(SETS):
            random = Random(derived_seed(1, [case, index]))
            tasks, pibs = recipe(random, settings)
            row = {"recipe": recipe.__name__, "set": settings, "seed": [1, case, index]}
            rows.append(json.dumps({**row, "tasks": tasks, "pibs": pibs}, separators=(",", ":")))
    print("[\n" + ",\n".join(rows) + "\n]")
