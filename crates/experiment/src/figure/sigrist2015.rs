//! Figure 9 of Sigrist, Giannopoulou, Huang, Gomez and Thiele (RTAS 2015), section VII-B, and what the same section says of
//! pEDF-VD, of which the paper has no figure.
//!
//! The paper ran its sets for 10 s on a Xeon Phi. Here the runs are simulated: frames draw what they cost from Table I.

use super::across::{Across, AcrossClaim};
use super::{Axis, Claim, Figure, StandIn, differences, rules};

macro_rules! experiment {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../experiments/sigrist2015/",
            $name,
            ".toml"
        ))
    };
}

const TABLE_1: &str = include_str!("../../../../examples/overheads/sigrist2015-table-1.json");
const EPYC: &str = include_str!("../../../../examples/overheads/epyc.json");

/// What the runs of the paper are here.
const RUNS: &str = "sim:ftts/overrun=0.3@drawn";
const RUNS_OF_PEDF_VD: &str = "sim:pedf-vd/overrun=0.5@drawn";

/// The paper's axis is this over the number of CPUs.
macro_rules! utilization {
    ($cpus:literal) => {
        Axis {
            parameter: "utilization",
            label: concat!(
                "U of all ",
                $cpus,
                " CPUs together (paper: U/m, m = ",
                $cpus,
                ")"
            ),
        }
    };
}

/// A figure of frame tables on so many CPUs.
macro_rules! frame_tables {
    ($name:literal, $cpus:literal, $claims:expr) => {
        Figure {
            name: concat!("sigrist2015/", $name),
            caption: concat!(
                "frame tables (FTTS) on ",
                $cpus,
                " CPUs: theory without overheads, with the mean and with the largest of Table I, and simulated runs in \
                 place of those on a Xeon Phi"
            ),
            text: experiment!($name),
            overheads: Some(TABLE_1),
            x: utilization!($cpus),
            readings: None,
            stand_ins: STAND_INS,
            claims: $claims,
        }
    };
}

/// That theory without overheads and runs are so many percent of the sets apart where they are most.
macro_rules! apart {
    ($percent:literal) => {
        Claim {
            text: concat!(
                "Theory without overheads and runs differ by up to ",
                $percent,
                " % of the sets of a point."
            ),
            needs: &["ftts", RUNS],
            check: |view| differences::at_most_apart(view, ("ftts", RUNS), $percent / 100.0),
        }
    };
}

pub(super) const FIGURES: &[Figure] = &[
    frame_tables!("fig9a", 4, &[PESSIMISTIC, OPTIMISTIC, apart!(20.0)]),
    frame_tables!(
        "fig9b",
        8,
        &[
            NOTHING,
            PESSIMISTIC,
            OPTIMISTIC,
            apart!(50.3),
            FEASIBLE,
            FEASIBLE_OF_THOSE_RUN
        ]
    ),
    frame_tables!(
        "fig9c",
        16,
        &[NOTHING, PESSIMISTIC, OPTIMISTIC, apart!(82.2)]
    ),
    frame_tables!(
        "fig9d",
        32,
        &[NOTHING, PESSIMISTIC, OPTIMISTIC, apart!(97.3)]
    ),
    Figure {
        name: "sigrist2015/pedf-vd",
        caption: "partitioned EDF-VD on 4 CPUs: theory, and simulated runs in place of those on a Xeon Phi",
        text: experiment!("pedf-vd"),
        overheads: Some(EPYC),
        x: utilization!(4),
        readings: None,
        stand_ins: STAND_INS,
        claims: &[
            // The paper ran the sets that theory accepts, and no others: the curves are equal if all of these run well.
            Claim {
                text: "Every set that theory accepts runs well.",
                needs: &["pedf-vd", RUNS_OF_PEDF_VD],
                check: |view| rules::dominates(view, RUNS_OF_PEDF_VD, "pedf-vd"),
            },
        ],
    },
];

const NOTHING: Claim = Claim {
    text: "With the largest overhead no set is accepted, however small its utilization.",
    needs: &["ftts@max"],
    check: |view| rules::none(view, "ftts@max"),
};
const PESSIMISTIC: Claim = Claim {
    text: "The largest overhead is too pessimistic: more sets run well than are accepted with it.",
    needs: &["ftts@max", RUNS],
    check: |view| rules::more(view, RUNS, "ftts@max"),
};
const OPTIMISTIC: Claim = Claim {
    text: "The mean overhead is too optimistic: more sets are accepted with it than run well.",
    needs: &["ftts@mean", RUNS],
    check: |view| rules::more(view, "ftts@mean", RUNS),
};

/// Feasible schedules of the 8 cores' 100 by utilization (section VII-A). The paper ran at most 100 sets of each utilization, and only such
/// as theory accepts, so that its 100 may be drawn sets or those that were run.
const FEASIBLE_ON_8: &[(f64, f64)] = &[(0.2, 0.99), (3.2, 0.61), (7.2, 0.0)];
const FEASIBLE: Claim = Claim {
    text: "On 8 cores 99, 61 and 0 of 100 sets run well at U = 0.2, 3.2 and 7.2, of all drawn sets.",
    needs: &[RUNS],
    check: |view| differences::shares_are(view, RUNS, None, FEASIBLE_ON_8),
};
const FEASIBLE_OF_THOSE_RUN: Claim = Claim {
    text: "On 8 cores 99, 61 and 0 of 100 sets run well at U = 0.2, 3.2 and 7.2, of those that theory accepts.",
    needs: &["ftts", RUNS],
    check: |view| differences::shares_are(view, RUNS, Some("ftts"), FEASIBLE_ON_8),
};

/// What the paper says of figures together.
pub(super) const ACROSS: &[Across] = &[Across {
    name: "sigrist2015/fig9",
    caption: "frame tables (FTTS) on 4, 8, 16 and 32 CPUs beside each other",
    figures: &[
        "sigrist2015/fig9a",
        "sigrist2015/fig9b",
        "sigrist2015/fig9c",
        "sigrist2015/fig9d",
    ],
    claims: &[AcrossClaim {
        text: "The largest difference between theory without overheads and runs grows with the number of cores as printed: 20, 50.3, 82.2, 97.3 %.",
        needs: &["ftts", RUNS],
        check: |views| {
            differences::farther_apart(views, ("ftts", RUNS), &[0.2, 0.503, 0.822, 0.973])
        },
    }],
}];

/// Curves that are not what the paper drew under their names.
const STAND_INS: &[StandIn] = &[
    (
        RUNS,
        "is extrapolated from Table I alone: a simulation of 10 s in which each frame draws what it costs, so that the mean \
         and the largest are those of the table and a frame in a hundred is dear, and nothing else takes time. The paper ran the \
         sets on a Xeon Phi, where much else did",
    ),
    (
        RUNS_OF_PEDF_VD,
        "is a simulation of 10 s with costs that were measured on another machine under another implementation \
         (`examples/overheads/epyc.json`), drawn each time. It also runs sets that theory does not accept, which the \
         paper did not",
    ),
];
