//! Figure 6 of Herman et al. (2012), section 4: what becomes of jobs that draw their execution times from C(A), with budgets and without.
//!
//! **Readings.** Which capacities the sets have is not said. By the capacities of section 3.3 at the times of each level itself (10, 10 and
//! 55 %, which is what is drawn) level C at x = 0.075 and P = 0.5 asks for 69 % of all CPUs and all levels together for 71 %. The same capacities at level C's times
//! would ask for tables of 2 CPUs on each CPU; with 5, 5 and 65 % for all of each, which suits the paper's numbers and can hardly be placed: that reading is not drawn. Jobs of level C
//! are then tardy by budgets that come once a period, and not by a CPU that is not there.

use super::measured;
use super::{Axis, Claim, Figure, StandIn};

macro_rules! experiment {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../experiments/herman2012/",
            $name,
            ".toml"
        ))
    };
}

const MEAN: Axis = Axis {
    parameter: "x",
    label: "mean of what jobs draw with probability P, as a share of C(A)",
};

/// A part: what is measured of which level, with budgets or without, for one P.
macro_rules! part {
    ($what:literal, $budgets:literal, $p:literal, $level:literal) => {
        concat!(
            $what,
            ":mc2[budgets=",
            $budgets,
            "]/beta={x},",
            $p,
            ":",
            $level
        )
    };
}

/// What is hardly anything: fewer jobs than this. The number is ours.
const NEAR_NOTHING: f64 = 0.05;

/// `low` to `high` of a number that the paper gives, within a factor of 1.5: ours.
const fn about(value: f64) -> (f64, f64) {
    (value / 1.5, value * 1.5)
}

/// Nothing bounds it from above.
const WITHOUT_END: f64 = 1e9;

/// What holds whatever P is.
macro_rules! whatever {
    ($p:literal, $($more:expr),*) => {
        &[
            Claim {
                text: "No job of level A misses its deadline, with budgets.",
                needs: &[part!("miss-ratio", "enforced", $p, "A")],
                check: |view| measured::never(view, part!("miss-ratio", "enforced", $p, "A")),
            },
            Claim {
                text: "No job of level A misses its deadline, without budgets.",
                needs: &[part!("miss-ratio", "ignored", $p, "A")],
                check: |view| measured::never(view, part!("miss-ratio", "ignored", $p, "A")),
            },
            Claim {
                text: "Fewer jobs of level B miss their deadlines without budgets.",
                needs: &[
                    part!("miss-ratio", "ignored", $p, "B"),
                    part!("miss-ratio", "enforced", $p, "B"),
                ],
                check: |view| {
                    measured::lower(
                        view,
                        part!("miss-ratio", "ignored", $p, "B"),
                        part!("miss-ratio", "enforced", $p, "B"),
                    )
                },
            },
            Claim {
                text: "Level B responds sooner without budgets.",
                needs: &[
                    part!("relative-response", "ignored", $p, "B"),
                    part!("relative-response", "enforced", $p, "B"),
                ],
                check: |view| {
                    measured::lower(
                        view,
                        part!("relative-response", "ignored", $p, "B"),
                        part!("relative-response", "enforced", $p, "B"),
                    )
                },
            },
            Claim {
                text: "Level C responds sooner without budgets.",
                needs: &[
                    part!("relative-response", "ignored", $p, "C"),
                    part!("relative-response", "enforced", $p, "C"),
                ],
                check: |view| {
                    measured::lower(
                        view,
                        part!("relative-response", "ignored", $p, "C"),
                        part!("relative-response", "enforced", $p, "C"),
                    )
                },
            },
            Claim {
                text: "Response times of level B are above the period for x > 0.8 only, with budgets.",
                needs: &[part!("relative-response", "enforced", $p, "B")],
                check: |view| {
                    let part = part!("relative-response", "enforced", $p, "B");
                    measured::between(view, part, (0.0, 0.8), (0.0, 1.0))
                },
            },
            Claim {
                text: "Response times of level B are above the period for x > 0.8 only, without budgets.",
                needs: &[part!("relative-response", "ignored", $p, "B")],
                check: |view| {
                    let part = part!("relative-response", "ignored", $p, "B");
                    measured::between(view, part, (0.0, 0.8), (0.0, 1.0))
                },
            },
            $($more),*
        ]
    };
}

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "herman2012/fig6_p05",
        caption: "response times and missed deadlines over the mean execution time, P = 0.5, with budgets and without, on 6 CPUs",
        text: experiment!("fig6_p05"),
        overheads: None,
        x: MEAN,
        readings: None,
        stand_ins: STAND_INS_P05,
        claims: whatever!(
            "0.5",
            Claim {
                text: "With budgets 10 % of the jobs of level B miss their deadlines at x = 0.4.",
                needs: &[part!("miss-ratio", "enforced", "0.5", "B")],
                check: |view| {
                    let part = part!("miss-ratio", "enforced", "0.5", "B");
                    measured::between(view, part, (0.4, 0.4), about(0.1))
                },
            },
            Claim {
                text: "With budgets 50 % of the jobs of level B miss their deadlines at x = 0.6.",
                needs: &[part!("miss-ratio", "enforced", "0.5", "B")],
                check: |view| {
                    let part = part!("miss-ratio", "enforced", "0.5", "B");
                    measured::between(view, part, (0.6, 0.6), about(0.5))
                },
            },
            Claim {
                text: "Without budgets jobs of level B miss their deadlines from x = 0.8 on only.",
                needs: &[part!("miss-ratio", "ignored", "0.5", "B")],
                check: |view| {
                    let part = part!("miss-ratio", "ignored", "0.5", "B");
                    measured::crosses(view, part, NEAR_NOTHING, (0.75, 0.9))
                },
            },
            Claim {
                text: "Without budgets response times of level C reach 30 periods at x = 0.075.",
                needs: &[part!("relative-response", "ignored", "0.5", "C")],
                check: |view| {
                    let part = part!("relative-response", "ignored", "0.5", "C");
                    let (least, _) = about(30.0);
                    measured::between(view, part, (0.075, 0.075), (least, WITHOUT_END))
                },
            }
        ),
    },
    Figure {
        name: "herman2012/fig6_p01",
        caption: "response times and missed deadlines over the mean execution time, P = 0.1, with budgets and without, on 6 CPUs",
        text: experiment!("fig6_p01"),
        overheads: None,
        x: MEAN,
        readings: None,
        stand_ins: STAND_INS_P01,
        claims: whatever!(
            "0.1",
            Claim {
                text: "With budgets at most 20 % of the jobs of level B miss their deadlines.",
                needs: &[part!("miss-ratio", "enforced", "0.1", "B")],
                check: |view| {
                    let part = part!("miss-ratio", "enforced", "0.1", "B");
                    measured::between(view, part, (0.0, 1.0), (0.0, 0.2))
                },
            },
            Claim {
                text: "Without budgets hardly any job of level B misses its deadline.",
                needs: &[part!("miss-ratio", "ignored", "0.1", "B")],
                check: |view| {
                    let part = part!("miss-ratio", "ignored", "0.1", "B");
                    measured::between(view, part, (0.0, 1.0), (0.0, NEAR_NOTHING))
                },
            },
            Claim {
                text: "Without budgets response times of level C are below 0.3 periods at x = 0.1.",
                needs: &[part!("relative-response", "ignored", "0.1", "C")],
                check: |view| {
                    let part = part!("relative-response", "ignored", "0.1", "C");
                    measured::between(view, part, (0.1, 0.1), (0.0, 0.3))
                },
            }
        ),
    },
];

/// What the paper did not draw.
const STAND_INS_P05: &[StandIn] = &[
    ("pending-ratio:mc2[budgets=enforced]/beta={x},0.5", PENDING),
    ("pending-ratio:mc2[budgets=ignored]/beta={x},0.5", PENDING),
];
const STAND_INS_P01: &[StandIn] = &[
    ("pending-ratio:mc2[budgets=enforced]/beta={x},0.1", PENDING),
    ("pending-ratio:mc2[budgets=ignored]/beta={x},0.1", PENDING),
];

const PENDING: &str = "is not drawn in the paper: jobs that are not complete when a run of 10 s ends. They are in no response time, so an overload \
     shows here first. What finds no room in a queue of 64 is dropped, and counts as missed and not as pending";
