//! Figures 1 to 4 of Huang, Gill and Lu (2014), section 4.3.
//!
//! Each sentence of the paper beside the rule that decides it; [`rules`] has the numbers behind words such
//! as "very small".

use super::rules::{self, Course, Margin};
use super::{Axis, Checked, Claim, Figure, Reading, Readings, StandIn, View};

macro_rules! experiment {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../experiments/huang2014/",
            $name,
            ".toml"
        ))
    };
}

const UTILIZATION: Axis = Axis {
    parameter: "utilization",
    label: "utilization at level 0",
};
const TASKS: Axis = Axis {
    parameter: "tasks",
    label: "number of tasks",
};
const FACTOR: Axis = Axis {
    parameter: "criticality_factor",
    label: "criticality factor",
};
const LEVELS: Axis = Axis {
    parameter: "levels",
    label: "number of criticality levels",
};

/// What the criticality factor applies to.
static READINGS: Readings = Readings {
    parameter: "inflate_level0",
    each: &[
        Reading {
            value: "true",
            text: "CF applies to level 0 too",
            slug: "literal",
        },
        Reading {
            value: "false",
            text: "CF applies above level 0",
            slug: "level0-plain",
        },
    ],
    words: "The paper can be read in two ways: the criticality factor applies to tasks of every level, or \
            not to those of level 0 (`vestal explain` and the recipe's documentation say more). Every claim is \
            looked at under both.",
};

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "huang2014/fig1",
        caption: "FTP-SMC and three analyses of FTP-AMC over utilization; 20 tasks, 2 levels, CF 1.5",
        text: experiment!("fig1"),
        overheads: None,
        x: UTILIZATION,
        readings: Some(&READINGS),
        stand_ins: STAND_INS,
        claims: &[
            Claim {
                text: "FTP-AMC accepts more sets than FTP-SMC.",
                needs: &["smc", "amc-rtb"],
                check: |view| rules::more(view, "amc-rtb", "smc"),
            },
            Claim {
                text: "AMC-MAX accepts every set that AMC-RT accepts.",
                needs: &["amc-rtb", "amc-max"],
                check: |view| rules::dominates(view, "amc-max", "amc-rtb"),
            },
            Claim {
                text: "AMC-IA accepts more sets than AMC-MAX.",
                needs: &["amc-max", "amc-ia"],
                check: |view| rules::more(view, "amc-ia", "amc-max"),
            },
            Claim {
                text: "AMC-IA's advantage over AMC-MAX is a gain in schedulability.",
                needs: &["amc-max", "amc-ia", "check:amc-ia"],
                check: |view| rules::gain(view, "amc-ia", "amc-max"),
            },
            Claim {
                text: "The differences between the three AMC analyses are very small.",
                needs: &["amc-rtb", "amc-max", "amc-ia"],
                check: |view| rules::close(view, &["amc-rtb", "amc-max", "amc-ia"]),
            },
            Claim {
                text: "Outside 0.55 to 0.88 the fraction is either 1 or 0.",
                needs: &["smc", "amc-rtb", "amc-max"],
                check: |view| rules::all_or_none_outside(view, (0.55, 0.88)),
            },
        ],
    },
    Figure {
        name: "huang2014/fig2a",
        caption: "weighted schedulability over the number of tasks; 2 levels, CF 1.5",
        text: experiment!("fig2a"),
        overheads: None,
        x: TASKS,
        readings: Some(&READINGS),
        stand_ins: STAND_INS,
        claims: &[
            Claim {
                text: "The curves over the number of tasks are relatively flat.",
                needs: &["smc", "amc-rtb", "amc-max"],
                check: |view| rules::flat(view, &view.tests()),
            },
            Claim {
                text: "AMC-IA performs slightly better than AMC-MAX and AMC-RT.",
                needs: &["amc-rtb", "amc-max", "amc-ia"],
                check: ia_slightly_better,
            },
        ],
    },
    Figure {
        name: "huang2014/fig2b",
        caption: "weighted schedulability over the criticality factor; 20 tasks, 2 levels",
        text: experiment!("fig2b"),
        overheads: None,
        x: FACTOR,
        readings: Some(&READINGS),
        stand_ins: STAND_INS,
        claims: &[
            Claim {
                text: "Schedulability decreases as the criticality factor increases.",
                needs: &AMC,
                check: |view| rules::monotone(view, &AMC, Course::Falling),
            },
            Claim {
                text: "AMC-IA performs slightly better than AMC-MAX and AMC-RT.",
                needs: &["amc-rtb", "amc-max", "amc-ia"],
                check: ia_slightly_better,
            },
        ],
    },
    Figure {
        name: "huang2014/fig3",
        caption: "fixed job priorities by two job-arrival patterns; 4 tasks, 4 levels, CF 1.5",
        text: experiment!("fig3"),
        overheads: None,
        x: UTILIZATION,
        readings: Some(&READINGS),
        stand_ins: STAND_INS,
        claims: &[
            Claim {
                text: "FJP-IJA is far better than FJP-LB.",
                needs: &["fjp-lb", "fjp-ija"],
                check: |view| rules::far_better(view, "fjp-ija", "fjp-lb"),
            },
            Claim {
                text: "FJP-LB accepts none of the sets.",
                needs: &["fjp-lb"],
                check: |view| rules::none(view, "fjp-lb"),
            },
            IJA_GAINS,
        ],
    },
    Figure {
        name: "huang2014/fig4a",
        caption: "all approaches over utilization; 20 tasks, 4 levels, CF 1.5",
        text: experiment!("fig4a"),
        overheads: None,
        x: UTILIZATION,
        readings: Some(&READINGS),
        stand_ins: STAND_INS,
        claims: FIGURE_4,
    },
    Figure {
        name: "huang2014/fig4b",
        caption: "weighted schedulability of all approaches over the number of tasks; 4 levels, CF 1.5",
        text: experiment!("fig4b"),
        overheads: None,
        x: TASKS,
        readings: Some(&READINGS),
        stand_ins: STAND_INS,
        claims: &[
            CMS_BAD,
            IA_ABOVE_ZSS,
            IJA_BEST,
            Claim {
                text: "FTP-SMC and AMC-IA accept more sets as the number of tasks grows, mostly where it is small.",
                needs: &["smc", "amc-ia"],
                check: |view| rules::rises_early(view, &["smc", "amc-ia"]),
            },
        ],
    },
    Figure {
        name: "huang2014/fig4c",
        caption: "weighted schedulability of all approaches over the criticality factor; 20 tasks, 4 levels",
        text: experiment!("fig4c"),
        overheads: None,
        x: FACTOR,
        readings: Some(&READINGS),
        stand_ins: STAND_INS,
        claims: FIGURE_4,
    },
    Figure {
        name: "huang2014/fig4d",
        caption: "weighted schedulability of all approaches over the number of criticality levels; 20 tasks, CF 1.5",
        text: experiment!("fig4d"),
        overheads: None,
        x: LEVELS,
        readings: Some(&READINGS),
        stand_ins: STAND_INS,
        claims: &[
            CMS_BAD,
            IA_ABOVE_ZSS,
            IJA_BEST,
            // One sentence of the paper, "except for CMS and PT", by approach.
            Claim {
                text: "RMS, FTP-SMC, AMC-IA and FJP-IJA accept more sets with more criticality levels.",
                needs: &["rms", "smc", "amc-ia", "fjp-ija"],
                check: |view| {
                    let tests = ["rms", "smc", "amc-ia", "fjp-ija"];
                    rules::monotone(view, &tests, Course::Rising)
                },
            },
            Claim {
                text: "ZSS accepts more sets with more criticality levels.",
                needs: &["zss"],
                check: |view| rules::monotone(view, &["zss"], Course::Rising),
            },
        ],
    },
];

const CMS_BAD: Claim = Claim {
    text: "CMS performs very badly.",
    needs: &["cms"],
    check: |view| rules::very_badly(view, "cms", &approaches(view)),
};
const IA_ABOVE_ZSS: Claim = Claim {
    text: "AMC-IA performs better than ZSS.",
    needs: &["zss", "amc-ia"],
    check: |view| rules::better(view, "amc-ia", &["zss"], Margin::Any),
};
const IJA_BEST: Claim = Claim {
    text: "FJP-IJA performs best everywhere.",
    needs: &["fjp-ija", "smc"],
    check: |view| rules::better(view, "fjp-ija", &others(view, "fjp-ija"), Margin::Any),
};
const IJA_NOT_DOMINANT: Claim = Claim {
    text: "FJP-IJA does not dominate: some sets are accepted by another approach only.",
    needs: &["fjp-ija", "smc"],
    check: |view| rules::not_dominant(view, "fjp-ija", &others(view, "fjp-ija")),
};
const IJA_GAINS: Claim = Claim {
    text: "FJP-IJA's advantage is a gain in schedulability.",
    needs: &["fjp-ija", "fjp-mode", "check:fjp-ija"],
    check: |view| rules::gain(view, "fjp-ija", "fjp-mode"),
};
const FIGURE_4: &[Claim] = &[CMS_BAD, IA_ABOVE_ZSS, IJA_BEST, IJA_GAINS, IJA_NOT_DOMINANT];

/// The analyses of fixed task priorities that figures 1 and 2 show.
const AMC: [&str; 4] = ["smc", "amc-rtb", "amc-max", "amc-ia"];

/// A test of Vestal that stands in the figures beside the paper's approaches.
const OURS: &str = "fjp-mode";

/// The paper's approaches.
fn approaches<'a>(view: &View<'a>) -> Vec<&'a str> {
    let tests = view.tests().into_iter();
    tests.filter(|test| *test != OURS).collect()
}

/// The paper's approaches but one.
fn others<'a>(view: &View<'a>, test: &str) -> Vec<&'a str> {
    let all = approaches(view).into_iter();
    all.filter(|other| *other != test).collect()
}

fn ia_slightly_better(view: &View<'_>) -> Checked {
    rules::better(view, "amc-ia", &["amc-max", "amc-rtb"], Margin::Slight)
}

/// Curves that are not what the paper drew under their names.
const STAND_INS: &[StandIn] = &[
    (
        "zss",
        "is Vestal's own sound test for zero-slack scheduling of sporadic tasks (`vestal explain zss`), not \
         the analysis that the paper used, which it does not print",
    ),
    (
        "fjp-lb",
        "stands in for the job-arrival pattern of Li and Baruah, which the paper does not print",
    ),
];
