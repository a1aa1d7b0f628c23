//! Made-up answers for the claims of Sigrist et al., of which the verdict is known.

use super::claims_cases::{Case, case};
use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};

const RUNS: &str = "sim:ftts/overrun=0.3@drawn";

const NOTHING: &str =
    "With the largest overhead no set is accepted, however small its utilization.";
const PESSIMISTIC: &str =
    "The largest overhead is too pessimistic: more sets run well than are accepted with it.";
const OPTIMISTIC: &str =
    "The mean overhead is too optimistic: more sets are accepted with it than run well.";
const WELL: &str = "Every set that theory accepts runs well.";

const APART_4: &str =
    "Theory without overheads and runs differ by up to 20.0 % of the sets of a point.";
const APART_8: &str =
    "Theory without overheads and runs differ by up to 50.3 % of the sets of a point.";
const APART_16: &str =
    "Theory without overheads and runs differ by up to 82.2 % of the sets of a point.";
const APART_32: &str =
    "Theory without overheads and runs differ by up to 97.3 % of the sets of a point.";

/// Theory accepts so many of a thousand sets more than run well, at one value of the axis, and ten more at the others.
macro_rules! apart {
    ($claim:expr, $expected:expr, $more:literal) => {
        case($claim, $expected, 1000, |column, position| {
            match (column, position) {
                ("ftts", 2) => 0..$more,
                ("ftts", _) => 0..10,
                (_, _) => 0..0,
            }
        })
    };
}

const FEASIBLE: &str =
    "On 8 cores 99, 61 and 0 of 100 sets run well at U = 0.2, 3.2 and 7.2, of all drawn sets.";
const FEASIBLE_OF_THOSE_RUN: &str = "On 8 cores 99, 61 and 0 of 100 sets run well at U = 0.2, 3.2 and 7.2, of those that theory accepts.";

/// So many of a thousand sets run well at the last two values of the axis, 3.2 and 7.2, and 990 at the first.
macro_rules! feasible {
    ($claim:expr, $expected:expr, $fourth:literal, $last:literal) => {
        case($claim, $expected, 1000, |column, position| {
            match (column, position) {
                (RUNS, 0) => 0..990,
                (RUNS, 3) => 0..$fourth,
                (RUNS, 4) => 0..$last,
                (RUNS, _) => 0..0,
                (_, _) => 0..1000,
            }
        })
    };
}

pub(super) const CASES: &[Case] = &[
    case(NOTHING, Confirmed, 1000, |column, _| match column {
        "ftts@max" => 0..0,
        _ => 0..400,
    }),
    case(NOTHING, Refuted, 1000, |column, position| {
        match (column, position) {
            ("ftts@max", 0) => 0..1,
            ("ftts@max", _) => 0..0,
            (_, _) => 0..400,
        }
    }),
    case(NOTHING, NotDecided, 100, |_, _| 0..0),
    case(PESSIMISTIC, Confirmed, 1000, |column, _| match column {
        RUNS => 0..500,
        _ => 0..400,
    }),
    case(PESSIMISTIC, Refuted, 1000, |column, _| match column {
        RUNS => 0..400,
        _ => 0..500,
    }),
    case(PESSIMISTIC, Refuted, 1000, |_, _| 0..400),
    case(PESSIMISTIC, NotDecided, 1000, |column, _| match column {
        RUNS => 0..402,
        _ => 0..400,
    }),
    case(OPTIMISTIC, Confirmed, 1000, |column, _| match column {
        "ftts@mean" => 0..500,
        _ => 0..400,
    }),
    case(OPTIMISTIC, Refuted, 1000, |column, _| match column {
        RUNS => 0..500,
        _ => 0..400,
    }),
    case(OPTIMISTIC, Refuted, 1000, |_, _| 0..400),
    case(OPTIMISTIC, NotDecided, 1000, |column, _| match column {
        "ftts@mean" => 0..402,
        _ => 0..400,
    }),
    apart!(APART_4, Confirmed, 200),
    apart!(APART_4, Refuted, 30),
    apart!(APART_4, Refuted, 400),
    // Between equal and another.
    apart!(APART_4, NotDecided, 100),
    apart!(APART_4, NotDecided, 300),
    // Less apart at another value of the axis, where both accept much that the other does not, and perhaps more than 0.3.
    case(APART_4, NotDecided, 1000, |column, position| {
        match (column, position) {
            ("ftts", 2) => 0..200,
            ("ftts", 3) => 0..575,
            (RUNS, 3) => 575..965,
            (_, _) => 0..0,
        }
    }),
    // More apart at another value, and less surely so.
    case(APART_4, Refuted, 1000, |column, position| {
        match (column, position) {
            ("ftts", 2) => 0..380,
            ("ftts", 3) => 0..690,
            (RUNS, 3) => 690..980,
            (_, _) => 0..0,
        }
    }),
    // Theory below the runs.
    case(APART_4, Refuted, 1000, |column, _| match column {
        RUNS => 0..200,
        _ => 0..0,
    }),
    // Twenty sets do not say.
    case(APART_4, NotDecided, 20, |column, _| match column {
        "ftts" => 0..4,
        _ => 0..0,
    }),
    apart!(APART_8, Confirmed, 503),
    apart!(APART_8, Refuted, 200),
    apart!(APART_8, Refuted, 800),
    apart!(APART_8, NotDecided, 403),
    apart!(APART_16, Confirmed, 822),
    apart!(APART_16, Refuted, 503),
    apart!(APART_16, Refuted, 1000),
    apart!(APART_16, NotDecided, 722),
    apart!(APART_32, Confirmed, 973),
    apart!(APART_32, Confirmed, 1000),
    apart!(APART_32, Refuted, 822),
    apart!(APART_32, NotDecided, 873),
    feasible!(FEASIBLE, Confirmed, 610, 0),
    feasible!(FEASIBLE, Refuted, 400, 0),
    feasible!(FEASIBLE, Refuted, 610, 200),
    feasible!(FEASIBLE, NotDecided, 680, 0),
    feasible!(FEASIBLE_OF_THOSE_RUN, Confirmed, 610, 0),
    feasible!(FEASIBLE_OF_THOSE_RUN, Refuted, 400, 0),
    feasible!(FEASIBLE_OF_THOSE_RUN, NotDecided, 680, 0),
    // Few are accepted, of which 61 of a hundred run well; what runs well and is not accepted does not count.
    case(
        FEASIBLE_OF_THOSE_RUN,
        Confirmed,
        10_000,
        |column, position| match (column, position) {
            ("ftts", 3) => 0..3000,
            (RUNS, 3) => 1170..9000,
            (RUNS, 4) => 0..0,
            (_, _) => 0..9900,
        },
    ),
    // None is accepted: nothing can be said of such.
    case(
        FEASIBLE_OF_THOSE_RUN,
        NotDecided,
        1000,
        |column, position| match (column, position) {
            ("ftts", 4) | (RUNS, 4) => 0..0,
            (RUNS, 3) => 0..610,
            (RUNS, _) => 0..990,
            (_, _) => 0..1000,
        },
    ),
    // Runs of sets that theory does not accept are nothing against it.
    case(WELL, Confirmed, 1000, |column, _| match column {
        "pedf-vd" => 0..400,
        _ => 0..500,
    }),
    case(WELL, Refuted, 1000, |column, position| {
        match (column, position) {
            ("pedf-vd", 3) => 0..501,
            (_, _) => 0..500,
        }
    }),
    case(WELL, NotDecided, 100, |_, _| 0..50),
];
