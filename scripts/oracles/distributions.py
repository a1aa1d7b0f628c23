#!/usr/bin/env python3
"""Histograms of vectors drawn by other people's samplers, for crates/workload/tests/generate.

    pip install convolutionalfixedsum simso
    scripts/oracles/distributions.py > crates/workload/tests/generate/oracle.json

convolutionalfixedsum (Griffin and Davis, RTAS 2025) draws vectors with a sum and bounds for each
component; SimSo's StaffordRandFixedSum draws them in the unit cube. For each case the numbers of
vectors are counted whose component, minimum or maximum falls into each of ten bins of equal width
between the two ends that the case names. The result changes with the versions of the packages.
"""

import json
import random

import numpy


def histogram(values, low, high):
    bins = [0] * 10
    for value in values:
        bins[min(max(int((value - low) / (high - low) * 10), 0), 9)] += 1
    return bins


def columns(vectors, which):
    """Histograms of the components, minimum and maximum that `which` names with their ends."""
    rows = []
    for name, low, high in which:
        pick = {"min": min, "max": max}.get(name, lambda vector: vector[int(name)])
        rows.append(
            {
                "what": name,
                "low": low,
                "high": high,
                "bins": histogram([pick(vector) for vector in vectors], low, high),
            }
        )
    return rows


def bounded(n, total, lower, upper, count, which):
    from convolutionalfixedsum import cfsn

    vectors = [
        list(cfsn(n, total, lower_constraints=lower, upper_constraints=upper))
        for _ in range(count)
    ]
    return {
        "sampler": "convolutionalfixedsum",
        "n": n,
        "total": total,
        "lower": lower,
        "upper": upper,
        "count": count,
        "histograms": columns(vectors, which),
    }


def stafford(n, total, count, which):
    from simso.generator.task_generator import StaffordRandFixedSum

    vectors = StaffordRandFixedSum(n, total, count)
    return {
        "sampler": "simso",
        "n": n,
        "total": total,
        "count": count,
        "histograms": columns([list(map(float, vector)) for vector in vectors], which),
    }


if __name__ == "__main__":
    numpy.random.seed(20140301)
    random.seed(20140301)
    uneven = [0.05 * (i % 4) / 10 for i in range(20)]
    wide = [0.05 + 0.9 * (i % 5) / 5 for i in range(20)]
    cases = [
        bounded(20, 4.0, uneven, wide, 2000, [("0", 0, 0.05), ("4", 0, 0.8), ("9", 0, 0.8), ("max", 0.3, 0.8)]),
        bounded(20, 6.5, uneven, wide, 2000, [("1", 0, 0.25), ("4", 0, 0.8), ("7", 0, 0.45)]),
        bounded(4, 1.0, [0, 0.1, 0, 0], [0.7, 0.4, 0.1, 1], 4000, [("0", 0, 0.7), ("1", 0.1, 0.4), ("2", 0, 0.1), ("3", 0, 0.9)]),
        stafford(5, 2.4, 20000, [("0", 0, 1), ("min", 0, 0.5), ("max", 0.4, 1)]),
        stafford(20, 1.5, 20000, [("0", 0, 0.4), ("7", 0, 0.4), ("max", 0.1, 0.6)]),
        stafford(8, 6.2, 20000, [("3", 0, 1), ("min", 0, 0.8)]),
    ]
    print("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]")
