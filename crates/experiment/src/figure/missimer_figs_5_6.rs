//! Figures 5 and 6 of Missimer, Missimer and West (2016): bottom halves in a sporadic server, and in a PIBS.

use super::drawing::{Drawing, DrawingClaim, begins, has_by, lasts};
use super::grid::Set;

const SCENARIO: &str = include_str!("../../../../examples/missimer-figures-5-6.csv");

const POLICY: &str = "io-amc";

pub(super) const FIGURES: &[Drawing] = &[
    Drawing {
        name: "missimer/fig5",
        caption: "a task waits for four bottom halves in a sporadic server with room for three replenishments",
        set: Set {
            path: "examples/missimer-figure-5.toml",
            text: include_str!("../../../../examples/missimer-figure-5.toml"),
            origin: "that of the paper.",
        },
        scenario: SCENARIO,
        policy: POLICY,
        millis: 36,
        claims: &[
            DrawingClaim {
                text: "The last interrupt finds the list of replenishments full, and its bottom half waits until 25.",
                check: |run| begins(run, ("device", 4), 25),
            },
            DrawingClaim {
                text: "tau_1 goes on at 26.",
                check: |run| begins(run, ("task1", 2), 26),
            },
            DrawingClaim {
                text: "tau_1 then has 6 of its 8 units by its deadline, 32.",
                check: |run| has_by(run, ("task1", 2), (6, 32)),
            },
        ],
    },
    Drawing {
        name: "missimer/fig6",
        caption: "the same task with its bottom halves in a PIBS of a quarter",
        set: Set {
            path: "examples/missimer-figure-6.toml",
            text: include_str!("../../../../examples/missimer-figure-6.toml"),
            origin: "that of the paper.",
        },
        scenario: SCENARIO,
        policy: POLICY,
        millis: 36,
        claims: &[
            DrawingClaim {
                text: "The PIBS may begin again at 13, and handles three interrupts at once.",
                check: |run| lasts(run, ("device", 2), (13, 16)),
            },
            DrawingClaim {
                text: "tau_1 goes on at 16.",
                check: |run| begins(run, ("task1", 2), 16),
            },
            DrawingClaim {
                text: "tau_1 then has all of its 8 units by its deadline, 32.",
                check: |run| has_by(run, ("task1", 2), (8, 32)),
            },
        ],
    },
];
