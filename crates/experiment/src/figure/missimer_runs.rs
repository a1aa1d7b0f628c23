//! Figures 3 to 6 of Missimer, Missimer and West (2016): what a PIBS executes in a window, how a task, its server and a PIBS interact, and
//! bottom halves in a sporadic server and in a PIBS.

use super::drawing::{Check, Drawing, DrawingClaim};
use super::drawing_rules::{
    at_most_in, begins, half_as_often, has_by, lasts, preempts, request_is_handled,
};
use super::grid::Set;

const SCENARIO: &str = include_str!("../../../../examples/missimer-figures-5-6.csv");

const POLICY: &str = "io-amc";

pub(super) const FIGURES: &[Drawing] = &[
    Drawing {
        name: "missimer/fig3",
        caption: "a PIBS of a quarter that uses a part of its capacity, and all of it as soon as it may again",
        set: Set {
            path: "examples/missimer-figure-3.toml",
            text: include_str!("../../../../examples/missimer-figure-3.toml"),
            origin: "ours, with U = 1/4 and T = 16 ms.",
        },
        scenario: include_str!("../../../../examples/missimer-figure-3.csv"),
        policy: POLICY,
        millis: 48,
        claims: &[DrawingClaim {
            text: "In a window T a PIBS executes at most (2 - U) U T, which it reaches.",
            check: Check::Alone(|run| at_most_in(run, "device", (16, 7))),
        }],
    },
    Drawing {
        name: "missimer/fig4",
        caption: "a request of a task, from its wait to when it goes on",
        set: Set {
            path: "examples/missimer-figure-4.toml",
            text: include_str!("../../../../examples/missimer-figure-4.toml"),
            origin: "ours; the paper's figure has steps and no set.",
        },
        scenario: include_str!("../../../../examples/missimer-figure-4.csv"),
        policy: POLICY,
        millis: 20,
        claims: &[
            DrawingClaim {
                text: "A task waits, its device interrupts, the bottom half executes in the PIBS, and the task goes on.",
                check: Check::Alone(|run| request_is_handled(run, ("task1", "device"))),
            },
            DrawingClaim {
                text: "The PIBS has the priority of the server on whose behalf it executes: it preempts a task that is less urgent than that.",
                check: Check::Alone(|run| preempts(run, ("device", "task2"))),
            },
        ],
    },
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
                check: Check::Alone(|run| begins(run, ("device", 4), 25)),
            },
            DrawingClaim {
                text: "tau_1 goes on at 26.",
                check: Check::Alone(|run| begins(run, ("task1", 2), 26)),
            },
            DrawingClaim {
                text: "tau_1 then has 6 of its 8 units by its deadline, 32.",
                check: Check::Alone(|run| has_by(run, ("task1", 2), (6, 32))),
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
                check: Check::Alone(|run| lasts(run, ("device", 2), (13, 16))),
            },
            DrawingClaim {
                text: "tau_1 goes on at 16.",
                check: Check::Alone(|run| begins(run, ("task1", 2), 16)),
            },
            DrawingClaim {
                text: "tau_1 then has all of its 8 units by its deadline, 32.",
                check: Check::Alone(|run| has_by(run, ("task1", 2), (8, 32))),
            },
            DrawingClaim {
                text: "There are half of the switches to and from bottom halves that there are in figure 5.",
                check: Check::Beside("missimer/fig5", |run, other| {
                    half_as_often(run, other, "device")
                }),
            },
        ],
    },
];
