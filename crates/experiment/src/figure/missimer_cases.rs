//! Made-up answers for the claims of Missimer et al. of which the verdict is known.

use super::claims_cases::{Case, case};
use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};

/// A sentence under both readings, each with its tests.
macro_rules! both {
    ($text:literal) => {
        [
            concat!($text, ", where it is known whom a PIBS serves."),
            concat!($text, ", where a PIBS may serve any server."),
        ]
    };
}

const GAP: [&str; 2] = both!("SS-rta is above SS+PIBS-rta by a small gap");
const SLIGHTLY: [&str; 2] = both!("AMC-rtb is slightly above IO-AMC-rtb");
const UB: &str = "The AMC UB is at or above AMC-rtb.";
const IO_UB: [&str; 2] = both!("The IO-AMC UB is at or above IO-AMC-rtb");
const UB_OF_OTHER: [&str; 2] = both!("The AMC UB is at or above IO-AMC-rtb");
const IO_UB_OF_OTHER: [&str; 2] = both!("The IO-AMC UB is at or above AMC-rtb");
const UBS: [&str; 2] = both!("The AMC UB is above the IO-AMC UB");
const RUNS: &str = "Sets that SS-rta accepts keep their deadlines.";
const RUNS_PIBS: [&str; 2] = both!("Sets that SS+PIBS-rta accepts keep their deadlines");
const RUNS_AMC: &str = "Sets that AMC-rtb accepts keep their deadlines.";
const BURSTS: &str =
    "Sets that SS-rta accepts keep the deadlines of their main tasks under bursts of interrupts.";
const BURSTS_AMC: &str =
    "Sets that AMC-rtb accepts keep the deadlines of their main tasks under bursts of interrupts.";
const RUNS_IO: [&str; 2] = both!("Sets that IO-AMC-rtb accepts keep their deadlines");
const OVER_HI: [&str; 2] = both!("The order is that of figure 8 whatever the share of HI tasks");
const OVER_CF: [&str; 2] = both!("The order is that of figure 8 whatever the criticality factor");
const OVER_TASKS: [&str; 2] =
    both!("The order is that of figure 8 whatever the number of tasks up to 100");

/// A curve by its kind, whichever system it is of.
fn is(column: &str, kind: &str) -> bool {
    column.starts_with(kind)
}

/// Of the claims that one test, or one kind of them, lies above another by a small gap.
macro_rules! gap {
    ($claims:expr, $above:literal) => {
        [
            // 2 % more.
            case($claims, Confirmed, 1000, |column, _| match column {
                column if is(column, $above) => 0..420,
                _ => 0..400,
            }),
            // Much more at one utilization, and little in the mean.
            case($claims, Confirmed, 1000, |column, position| {
                match (column, position) {
                    (column, 2) if is(column, $above) => 0..500,
                    (_, _) => 0..400,
                }
            }),
            // More, and no little.
            case($claims, Refuted, 1000, |column, _| match column {
                column if is(column, $above) => 0..500,
                _ => 0..400,
            }),
            case($claims, Refuted, 1000, |column, _| match column {
                column if is(column, $above) => 0..400,
                _ => 0..420,
            }),
            // Equal is not above.
            case($claims, Refuted, 1000, |_, _| 0..400),
            // About 5 %.
            case($claims, NotDecided, 1000, |column, _| match column {
                column if is(column, $above) => 0..450,
                _ => 0..400,
            }),
            // Whether it is above at all.
            case($claims, NotDecided, 1000, |column, _| match column {
                column if is(column, $above) => 0..402,
                _ => 0..400,
            }),
            // Twenty sets do not say how little.
            case($claims, NotDecided, 20, |column, _| match column {
                column if is(column, $above) => 0..9,
                _ => 0..8,
            }),
        ]
    };
}

/// That an upper bound lies at or above a test.
macro_rules! bounds {
    ($claim:expr, $above:literal) => {
        [
            case($claim, Confirmed, 1000, |column, _| match column {
                column if is(column, $above) => 0..500,
                _ => 0..400,
            }),
            // Equal is not below.
            case($claim, Confirmed, 1000, |_, _| 0..400),
            case($claim, Refuted, 1000, |column, _| match column {
                column if is(column, $above) => 0..400,
                _ => 0..500,
            }),
            // Below at one place.
            case($claim, Refuted, 1000, |column, position| {
                match (column, position) {
                    (column, 1) if is(column, $above) => 0..200,
                    (column, _) if is(column, $above) => 0..700,
                    (_, _) => 0..300,
                }
            }),
            // Below by a few, which may be chance.
            case($claim, NotDecided, 1000, |column, _| match column {
                column if is(column, $above) => 0..400,
                _ => 0..402,
            }),
            case($claim, NotDecided, 20, |_, _| 0..10),
        ]
    };
}

/// That a test lies above another.
macro_rules! above {
    ($claim:expr, $above:literal) => {
        [
            case($claim, Confirmed, 1000, |column, _| match column {
                column if is(column, $above) => 0..500,
                _ => 0..400,
            }),
            case($claim, Refuted, 1000, |column, _| match column {
                column if is(column, $above) => 0..400,
                _ => 0..500,
            }),
            case($claim, Refuted, 1000, |column, position| {
                match (column, position) {
                    (column, 1) if is(column, $above) => 0..200,
                    (column, _) if is(column, $above) => 0..700,
                    (_, _) => 0..300,
                }
            }),
            case($claim, NotDecided, 20, |column, _| match column {
                column if is(column, $above) => 0..11,
                _ => 0..10,
            }),
        ]
    };
}

/// That what a test accepts runs well.
macro_rules! runs {
    ($claim:expr) => {
        [
            // What runs well and is not accepted is nothing against it.
            case($claim, Confirmed, 1000, |column, _| match column {
                column if is(column, "sim:") => 0..500,
                _ => 0..400,
            }),
            case($claim, Refuted, 1000, |column, position| {
                match (column, position) {
                    (column, 3) if !is(column, "sim:") => 0..501,
                    (_, _) => 0..500,
                }
            }),
            case($claim, NotDecided, 100, |_, _| 0..50),
        ]
    };
}

/// Bounds as in figure 8, of both systems at this place.
fn in_order(column: &str) -> u32 {
    match (is(column, "io-"), column.contains("-ub")) {
        (false, true) => 600,
        (true, true) => 560,
        (false, false) => 450,
        (true, false) => 400,
    }
}

/// That all is as in figure 8.
macro_rules! order {
    ($claim:expr) => {
        [
            case($claim, Confirmed, 1000, |column, _| 0..in_order(column)),
            // One pair at one place the other way round, whichever it is.
            case($claim, Refuted, 1000, |column, position| {
                match (column, position) {
                    (column, 3) if is(column, "amc-ub") => 0..300,
                    (column, _) => 0..in_order(column),
                }
            }),
            case($claim, Refuted, 1000, |column, position| {
                match (column, position) {
                    (column, 0) if is(column, "io-amc-ub") => 0..300,
                    (column, _) => 0..in_order(column),
                }
            }),
            case($claim, Refuted, 1000, |column, position| {
                match (column, position) {
                    (column, 4) if is(column, "io-amc-rtb") => 0..500,
                    (column, _) => 0..in_order(column),
                }
            }),
            case($claim, Refuted, 1000, |column, position| {
                match (column, position) {
                    (column, 2) if is(column, "io-amc-ub") => 0..700,
                    (column, _) => 0..in_order(column),
                }
            }),
            // That of the other system alone: the upper bound of the one lies below what it does not bound.
            case($claim, Refuted, 1000, |column, position| {
                match (column, position) {
                    (column, 3) if is(column, "io-amc-ub") => 0..420,
                    (column, _) => 0..in_order(column),
                }
            }),
            case($claim, Refuted, 1000, |column, _| match column {
                column if is(column, "io-amc-ub") => 0..420,
                column => 0..in_order(column),
            }),
            // An upper bound may be reached.
            case($claim, Confirmed, 1000, |column, _| match column {
                column if is(column, "io-amc-ub") => 0..in_order("amc-rtb"),
                column => 0..in_order(column),
            }),
            // A pair that is equal, and is to be none.
            case($claim, Refuted, 1000, |column, _| match column {
                column if is(column, "amc-ub") => 0..in_order("io-amc-ub"),
                column => 0..in_order(column),
            }),
            // All pairs but one are certain.
            case($claim, NotDecided, 1000, |column, _| match column {
                column if is(column, "amc-ub") => 0..in_order("io-amc-ub") + 2,
                column => 0..in_order(column),
            }),
            case($claim, NotDecided, 20, |column, _| 0..in_order(column) / 50),
        ]
    };
}

pub(super) const CASES: &[&[Case]] = &[
    &gap!(GAP[0], "ss-rta"),
    &gap!(GAP[1], "ss-rta"),
    &gap!(SLIGHTLY[0], "amc-rtb"),
    &gap!(SLIGHTLY[1], "amc-rtb"),
    &bounds!(UB, "amc-ub"),
    &bounds!(IO_UB[0], "io-amc-ub"),
    &bounds!(IO_UB[1], "io-amc-ub"),
    &bounds!(UB_OF_OTHER[0], "amc-ub"),
    &bounds!(UB_OF_OTHER[1], "amc-ub"),
    &bounds!(IO_UB_OF_OTHER[0], "io-amc-ub"),
    &bounds!(IO_UB_OF_OTHER[1], "io-amc-ub"),
    &above!(UBS[0], "amc-ub"),
    &above!(UBS[1], "amc-ub"),
    &runs!(RUNS),
    &runs!(RUNS_PIBS[0]),
    &runs!(RUNS_PIBS[1]),
    &runs!(RUNS_AMC),
    &runs!(BURSTS),
    &runs!(BURSTS_AMC),
    &runs!(RUNS_IO[0]),
    &runs!(RUNS_IO[1]),
    &order!(OVER_HI[0]),
    &order!(OVER_HI[1]),
    &order!(OVER_CF[0]),
    &order!(OVER_CF[1]),
    &order!(OVER_TASKS[0]),
    &order!(OVER_TASKS[1]),
    OF_ONE_READING,
];

/// What the tests of the other reading say does not matter.
const OF_ONE_READING: &[Case] = &[
    case(GAP[0], Confirmed, 1000, |column, _| match column {
        "ss-pibs-rta:any" => 0..1000,
        column if is(column, "ss-rta") => 0..420,
        _ => 0..400,
    }),
    case(GAP[1], Confirmed, 1000, |column, _| match column {
        "ss-pibs-rta" => 0..1000,
        column if is(column, "ss-rta") => 0..420,
        _ => 0..400,
    }),
    case(SLIGHTLY[0], Confirmed, 1000, |column, _| match column {
        "io-amc-rtb:any" => 0..1000,
        column if is(column, "amc-rtb") => 0..420,
        _ => 0..400,
    }),
    case(SLIGHTLY[1], Confirmed, 1000, |column, _| match column {
        "io-amc-rtb" => 0..1000,
        column if is(column, "amc-rtb") => 0..420,
        _ => 0..400,
    }),
    case(UBS[0], Confirmed, 1000, |column, _| match column {
        "io-amc-ub:any" => 0..1000,
        column if is(column, "amc-ub") => 0..500,
        _ => 0..400,
    }),
    case(RUNS_PIBS[0], Confirmed, 1000, |column, _| match column {
        "sim:io-amc/lo[map=any,events=burst]" => 0..0,
        column if is(column, "sim:") => 0..500,
        _ => 0..400,
    }),
    case(RUNS_IO[1], Confirmed, 1000, |column, _| match column {
        "sim:io-amc/hi[events=burst]" => 0..0,
        column if is(column, "sim:") => 0..500,
        _ => 0..400,
    }),
    case(OVER_HI[0], Confirmed, 1000, |column, _| match column {
        "io-amc-ub:any" => 0..1000,
        column => 0..in_order(column),
    }),
    case(OVER_CF[1], Confirmed, 1000, |column, _| match column {
        "io-amc-rtb" => 0..1000,
        column => 0..in_order(column),
    }),
];
