//! Figure 2 of Sigrist, Giannopoulou, Huang, Gomez and Thiele (RTAS 2015), example IV.1: what monitoring and termination cost one
//! set under EDF-VD.
//!
//! The paper prints neither the set nor the ends of its axes. Figure 2a has no value of C_K with it: it is taken to be the region over all three.

use super::grid::{Grid, GridClaim, Population, Set, Values};
use super::grid_rules::{self, Axis};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

const EXAMPLE: Set = Set {
    path: "examples/sigrist2015/fig2.toml",
    text: include_str!("../../../../examples/sigrist2015/fig2.toml"),
    origin: "the first of those drawn by our recipe that with T_M = 1 ms and C_M = 20 us is schedulable up to the C_K of the paper's \
             set, 4.1 ms, which is not printed. That number is therefore chosen, and no finding.",
};

/// Where the example is from.
const DRAWN: Population = Population {
    recipe: "sigrist2015",
    parameters: &[
        ("utilization", "0.8"),
        ("periods", "uniform"),
        ("cpus", "1"),
    ],
    seed: 2015,
    sets: 1000,
};

const PERIODS: Values = Values {
    from: 100 * US,
    to: 6 * MS,
    step: 100 * US,
};
const COSTS: Values = Values {
    from: 0,
    to: 60 * US,
    step: US,
};

/// Beyond this C_K the paper's set is not schedulable.
const PRINTED: u64 = 4_100 * US;

pub(super) const FIGURES: &[Grid] = &[
    Grid {
        name: "sigrist2015/fig2a",
        caption: "where EDF-VD keeps a set schedulable, over T_M, C_M and C_K: below each curve",
        set: EXAMPLE,
        periods: PERIODS,
        costs: COSTS,
        terminations: Values {
            from: 0,
            to: 6 * MS,
            step: MS,
        },
        population: None,
        claims: &[GridClaim {
            text: "T_M, C_M and C_K all have to be chosen carefully to make the system schedulable.",
            check: |cells| {
                grid_rules::each_matters(cells, &[Axis::Period, Axis::Cost, Axis::Termination])
            },
        }],
    },
    Grid {
        name: "sigrist2015/fig2b",
        caption: "where EDF-VD keeps a set schedulable, over T_M and C_M with C_K = 3 ms: below the curve",
        set: EXAMPLE,
        periods: PERIODS,
        costs: COSTS,
        terminations: Values::one(3 * MS),
        population: None,
        claims: &[GridClaim {
            text: "T_M and C_M both have to be chosen carefully to make the system schedulable.",
            check: |cells| grid_rules::each_matters(cells, &[Axis::Period, Axis::Cost]),
        }],
    },
    Grid {
        name: "sigrist2015/fig2c",
        caption: "the condition of Lemma IV.1 over T_M, with C_M = 20 us and C_K = 2 ms",
        set: EXAMPLE,
        periods: PERIODS,
        costs: Values::one(20 * US),
        terminations: Values::one(2 * MS),
        population: Some(&DRAWN),
        claims: &[GridClaim {
            text: "A higher monitoring frequency is not necessarily better, and a low one is not either: some T_M in between is best.",
            check: grid_rules::optimum_inside,
        }],
    },
    Grid {
        name: "sigrist2015/fig2d",
        caption: "the condition of Lemma IV.1 over C_K, with T_M = 1 ms and C_M = 20 us",
        set: EXAMPLE,
        periods: Values::one(MS),
        costs: Values::one(20 * US),
        terminations: Values {
            from: 0,
            to: 6 * MS,
            step: 50 * US,
        },
        population: None,
        claims: &[GridClaim {
            text: "Beyond some total termination overhead C_K the system is unschedulable.",
            check: |cells| grid_rules::none_beyond(cells, PRINTED),
        }],
    },
];
