#!/usr/bin/env python3
"""A second implementation of the generators, from their definitions: prints the values that
crates/workload/tests/generate/golden.rs pins. Needs Python only."""

MASK = (1 << 64) - 1


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


def huang2014(seed, tasks, utilization, levels, factor, inflate_level0):
    """Rows (criticality, period, C(0), C(own level) above level 0); factor as a fraction (a, b)."""
    random = Random(seed)
    shares, total = [], utilization
    for left in range(tasks - 1, 0, -1):
        rest = total * random.unit() ** (1 / left)
        shares.append(total - rest)
        total = rest
    shares.append(total)
    rows = []
    for number, share in enumerate(shares, 1):
        period = 100 * (1 + random.below(100))
        own = number % levels
        normal = max(int(period * share), 1)
        overload = normal * factor[0] // factor[1]
        first = overload if own == 0 and inflate_level0 else normal
        rows.append((own, period, first, overload if own else None))
    return rows


if __name__ == "__main__":
    for arguments in [
        (derived_seed(1, [0, 0]), 5, 0.6, 2, (3, 2), False),
        (derived_seed(1, [3, 7]), 6, 0.9, 4, (3, 2), True),
        (derived_seed(42, [0, 999]), 3, 0.05, 2, (5, 4), False),
    ]:
        print(*huang2014(*arguments), sep="\n", end="\n\n")
