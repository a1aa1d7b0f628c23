//! Made-up counts for the claims of Herman et al. of which the verdict is known. The axis is 0.075, 0.1, 0.4, 0.6, 1.

use super::claims_cases::{Case, counted};
use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};

const A_WITH: &str = "No job of level A misses its deadline, with budgets.";
const A_WITHOUT: &str = "No job of level A misses its deadline, without budgets.";
const FEWER: &str = "Fewer jobs of level B miss their deadlines without budgets.";
const SOONER_B: &str = "Level B responds sooner without budgets.";
const SOONER_C: &str = "Level C responds sooner without budgets.";
const WITHIN_WITH: &str =
    "Response times of level B are above the period for x > 0.8 only, with budgets.";
const WITHIN_WITHOUT: &str =
    "Response times of level B are above the period for x > 0.8 only, without budgets.";
const TEN: &str = "With budgets 10 % of the jobs of level B miss their deadlines at x = 0.4.";
const HALF: &str = "With budgets 50 % of the jobs of level B miss their deadlines at x = 0.6.";
const FROM: &str = "Without budgets jobs of level B miss their deadlines from x = 0.8 on only.";
const THIRTY: &str = "Without budgets response times of level C reach 30 periods at x = 0.075.";
const FIFTH: &str = "With budgets at most 20 % of the jobs of level B miss their deadlines.";
const HARDLY: &str = "Without budgets hardly any job of level B misses its deadline.";
const SHORT: &str = "Without budgets response times of level C are below 0.3 periods at x = 0.1.";

/// So many of a thousand jobs, the same in all sets but for a little.
const fn nearly(thousandths: u64, set: u32) -> [u64; 2] {
    [thousandths + set as u64 % 3, 1000]
}

/// So many thousandths of a period on average, the same in all sets but for a little.
const fn response(thousandths: u64, set: u32) -> [u64; 2] {
    [(thousandths + set as u64 % 3) * 1000 * 100, 100]
}

fn is_enforced(part: &str) -> bool {
    part.contains("budgets=enforced")
}

/// That no job misses: none of 700 sets, one of 500, and none of few.
macro_rules! never {
    ($claim:expr) => {
        [
            counted($claim, Confirmed, 700, |_, _, _| [0, 1000]),
            counted($claim, Refuted, 500, |_, position, set| {
                [u64::from(position == 4 && set == 77), 1000]
            }),
            counted($claim, NotDecided, 50, |_, _, _| [0, 1000]),
        ]
    };
}

/// That without budgets it is less.
macro_rules! less {
    ($claim:expr, $of:expr) => {
        [
            counted($claim, Confirmed, 200, |part, _, set| {
                $of(if is_enforced(part) { 300 } else { 100 }, set)
            }),
            counted($claim, Refuted, 200, |part, _, set| {
                $of(if is_enforced(part) { 100 } else { 300 }, set)
            }),
            // More at one point.
            counted($claim, Refuted, 200, |part, position, set| {
                match (is_enforced(part), position) {
                    (false, 3) => $of(900, set),
                    (false, _) => $of(100, set),
                    (true, _) => $of(400, set),
                }
            }),
            counted($claim, NotDecided, 200, |_, _, set| $of(100, set)),
        ]
    };
}

/// That response times are within the period up to 0.8: the last value of the axis is beyond.
macro_rules! within {
    ($claim:expr) => {
        [
            counted($claim, Confirmed, 200, |_, position, set| {
                response(if position == 4 { 5000 } else { 500 }, set)
            }),
            counted($claim, Refuted, 200, |_, position, set| {
                response(if position == 3 { 1100 } else { 500 }, set)
            }),
            counted($claim, NotDecided, 200, |_, position, set| {
                response(if position == 3 { 999 } else { 500 }, set)
            }),
        ]
    };
}

/// That a share at one value of the axis is about so much; it may be anything elsewhere.
macro_rules! about {
    ($claim:expr, $at:literal, $right:literal, $low:literal, $high:literal, $border:literal) => {
        [
            counted($claim, Confirmed, 500, |_, position, set| {
                nearly(if position == $at { $right } else { 900 }, set)
            }),
            counted($claim, Refuted, 500, |_, position, set| {
                nearly(if position == $at { $low } else { $right }, set)
            }),
            counted($claim, Refuted, 500, |_, position, set| {
                nearly(if position == $at { $high } else { $right }, set)
            }),
            counted($claim, NotDecided, 500, |_, position, set| {
                nearly(if position == $at { $border } else { $right }, set)
            }),
        ]
    };
}

const FROM_CASES: [Case; 5] = [
    counted(FROM, Confirmed, 500, |_, position, set| {
        nearly(if position == 4 { 300 } else { 0 }, set)
    }),
    // At 0.6 already.
    counted(FROM, Refuted, 500, |_, position, set| {
        nearly(if position >= 3 { 300 } else { 0 }, set)
    }),
    // Not even at 1.
    counted(FROM, Refuted, 500, |_, _, set| nearly(0, set)),
    counted(FROM, NotDecided, 500, |_, position, set| {
        nearly(if position == 4 { 49 } else { 0 }, set)
    }),
    counted(FROM, NotDecided, 20, |_, position, set| {
        nearly(if position == 4 { 300 } else { 0 }, set)
    }),
];

const THIRTY_CASES: [Case; 3] = [
    counted(THIRTY, Confirmed, 200, |_, position, set| {
        response(if position == 0 { 31_000 } else { 100 }, set)
    }),
    counted(THIRTY, Refuted, 200, |_, position, set| {
        response(if position == 0 { 500 } else { 31_000 }, set)
    }),
    counted(THIRTY, NotDecided, 200, |_, position, set| {
        response(if position == 0 { 19_999 } else { 100 }, set)
    }),
];

/// At most this everywhere.
macro_rules! at_most {
    ($claim:expr, $right:literal, $wrong:literal, $border:literal) => {
        [
            counted($claim, Confirmed, 500, |_, _, set| nearly($right, set)),
            counted($claim, Refuted, 500, |_, position, set| {
                nearly(if position == 2 { $wrong } else { $right }, set)
            }),
            counted($claim, NotDecided, 500, |_, position, set| {
                nearly(if position == 2 { $border } else { $right }, set)
            }),
        ]
    };
}

const SHORT_CASES: [Case; 3] = [
    counted(SHORT, Confirmed, 200, |_, position, set| {
        response(if position == 1 { 250 } else { 900 }, set)
    }),
    counted(SHORT, Refuted, 200, |_, position, set| {
        response(if position == 1 { 350 } else { 100 }, set)
    }),
    counted(SHORT, NotDecided, 200, |_, position, set| {
        response(if position == 1 { 299 } else { 100 }, set)
    }),
];

pub(super) const CASES: &[&[Case]] = &[
    &never!(A_WITH),
    &never!(A_WITHOUT),
    &less!(FEWER, nearly),
    &less!(SOONER_B, response),
    &less!(SOONER_C, response),
    &within!(WITHIN_WITH),
    &within!(WITHIN_WITHOUT),
    &about!(TEN, 2, 100, 10, 300, 149),
    &about!(HALF, 3, 500, 200, 900, 749),
    &FROM_CASES,
    &THIRTY_CASES,
    &at_most!(FIFTH, 100, 300, 199),
    &at_most!(HARDLY, 5, 100, 49),
    &SHORT_CASES,
];
