//! Made-up answers of which the verdict is known: the rules' boundaries, on both sides.

use std::ops::Range;
use vestal_result::claim::Verdict::{self, Confirmed, NotDecided, Refuted};

/// Made-up answers: which of the sets of a point each test accepts, by the index on the axis, 0 to 4. Sets
/// that are not named are rejected, or left undecided if they are in `undecided`. A check says *no* of the sets
/// `missed`, *yes* of those `proved`.
pub(super) struct Case {
    pub(super) claim: &'static str,
    pub(super) expected: Verdict,
    pub(super) sets: u32,
    pub(super) accepts: fn(&str, usize) -> Range<u32>,
    pub(super) undecided: Range<u32>,
    pub(super) missed: Range<u32>,
    pub(super) proved: Range<u32>,
    /// What a measure counts, by the name of its part, which is that of a level; none where nothing is measured.
    pub(super) counts: Option<Counts>,
}

/// Of a part, at the position on the axis, in a set.
pub(super) type Counts = fn(&str, usize, u32) -> [u64; 2];

pub(super) const fn case(
    claim: &'static str,
    expected: Verdict,
    sets: u32,
    accepts: fn(&str, usize) -> Range<u32>,
) -> Case {
    Case {
        claim,
        expected,
        sets,
        accepts,
        undecided: 0..0,
        missed: 0..0,
        proved: 0..0,
        counts: None,
    }
}

/// So many sets, in which a measure counts this.
pub(super) const fn counted(
    claim: &'static str,
    expected: Verdict,
    sets: u32,
    counts: Counts,
) -> Case {
    Case {
        counts: Some(counts),
        ..case(claim, expected, sets, |_, _| 0..0)
    }
}

/// The set 500 reaches the search limit of the tests that do not accept it.
pub(super) const fn with_one_undecided(
    claim: &'static str,
    expected: Verdict,
    accepts: fn(&str, usize) -> Range<u32>,
) -> Case {
    Case {
        undecided: 500..501,
        ..case(claim, expected, 1000, accepts)
    }
}

/// The check of a test that accepts the sets up to 500, of which a sound one accepts those up to 400.
pub(super) const fn checked(
    claim: &'static str,
    expected: Verdict,
    accepts: fn(&str, usize) -> Range<u32>,
    missed: Range<u32>,
    proved: Range<u32>,
) -> Case {
    Case {
        missed,
        proved,
        ..case(claim, expected, 1000, accepts)
    }
}

pub(super) const AMC_MORE: &str = "FTP-AMC accepts more sets than FTP-SMC.";
pub(super) const MAX_DOMINATES: &str = "AMC-MAX accepts every set that AMC-RT accepts.";
pub(super) const IA_MORE: &str = "AMC-IA accepts more sets than AMC-MAX.";
pub(super) const IA_GAINS: &str = "AMC-IA's advantage over AMC-MAX is a gain in schedulability.";
pub(super) const CLOSE: &str = "The differences between the three AMC analyses are very small.";
pub(super) const RANGE: &str = "Outside 0.55 to 0.88 the fraction is either 1 or 0.";
pub(super) const FLAT: &str = "The curves over the number of tasks are relatively flat.";
pub(super) const SLIGHTLY: &str = "AMC-IA performs slightly better than AMC-MAX and AMC-RT.";
pub(super) const FALLS: &str = "Schedulability decreases as the criticality factor increases.";
pub(super) const FAR: &str = "FJP-IJA is far better than FJP-LB.";
pub(super) const NONE: &str = "FJP-LB accepts none of the sets.";
pub(super) const CMS: &str = "CMS performs very badly.";
pub(super) const ABOVE_ZSS: &str = "AMC-IA performs better than ZSS.";
pub(super) const BEST: &str = "FJP-IJA performs best everywhere.";
pub(super) const IJA_GAINS: &str = "FJP-IJA's advantage is a gain in schedulability.";
pub(super) const NOT_DOMINANT: &str =
    "FJP-IJA does not dominate: some sets are accepted by another approach only.";
pub(super) const EARLY: &str =
    "FTP-SMC and AMC-IA accept more sets as the number of tasks grows, mostly where it is small.";
pub(super) const FOUR_RISE: &str =
    "RMS, FTP-SMC, AMC-IA and FJP-IJA accept more sets with more criticality levels.";
pub(super) const ZSS_RISES: &str = "ZSS accepts more sets with more criticality levels.";

pub(super) const CASES: &[Case] = &[
    case(AMC_MORE, Confirmed, 1000, |test, _| match test {
        "amc-rtb" => 0..500,
        _ => 0..400,
    }),
    case(AMC_MORE, Refuted, 1000, |test, _| match test {
        "amc-rtb" => 0..400,
        _ => 0..500,
    }),
    // Equal is not more.
    case(AMC_MORE, Refuted, 1000, |_, _| 0..500),
    case(AMC_MORE, NotDecided, 1000, |test, _| match test {
        "amc-rtb" => 0..402,
        _ => 0..400,
    }),
    // Three sets more are rare, and still more: nothing says that the sentence is wrong.
    case(AMC_MORE, NotDecided, 2000, |test, index| {
        match (test, index) {
            ("amc-rtb", 0) => 0..403,
            (_, _) => 0..400,
        }
    }),
    // As many on both sides are equal.
    case(AMC_MORE, Refuted, 2000, |test, index| match (test, index) {
        ("amc-rtb", 0) => 3..403,
        (_, _) => 0..400,
    }),
    case(MAX_DOMINATES, Confirmed, 1000, |test, _| match test {
        "amc-max" => 0..500,
        _ => 0..400,
    }),
    case(MAX_DOMINATES, Refuted, 1000, |test, index| {
        match (test, index) {
            ("amc-max", _) => 0..500,
            (_, 2) => 400..501,
            (_, _) => 0..400,
        }
    }),
    // A search that reached its limit is no rejection.
    with_one_undecided(MAX_DOMINATES, Confirmed, one_more_by_rtb),
    case(MAX_DOMINATES, NotDecided, 100, |test, _| match test {
        "amc-max" => 0..50,
        _ => 0..40,
    }),
    case(IA_MORE, Confirmed, 1000, |test, _| match test {
        "amc-ia" => 0..410,
        _ => 0..400,
    }),
    case(IA_MORE, Refuted, 1000, |test, _| match test {
        "amc-ia" => 0..390,
        _ => 0..400,
    }),
    case(IA_MORE, Refuted, 1000, |_, _| 0..400),
    case(IA_MORE, NotDecided, 1000, |test, _| match test {
        "amc-ia" => 10..411,
        _ => 0..400,
    }),
    checked(IA_GAINS, Refuted, ia_beyond, 400..480, 0..400),
    checked(IA_GAINS, Confirmed, ia_beyond, 0..0, 0..480),
    checked(IA_GAINS, NotDecided, ia_beyond, 400..450, 0..400),
    checked(IA_GAINS, NotDecided, ia_beyond, 0..0, 0..400),
    case(IA_GAINS, NotDecided, 1000, |_, _| 0..400),
    case(CLOSE, Confirmed, 1000, |test, _| match test {
        "amc-ia" => 0..410,
        "amc-max" => 0..405,
        _ => 0..400,
    }),
    // 0.02, and certainly below 0.05.
    case(CLOSE, Confirmed, 1000, |test, _| match test {
        "amc-ia" => 0..420,
        _ => 0..400,
    }),
    case(CLOSE, Refuted, 1000, |test, index| match (test, index) {
        ("amc-rtb", 3) => 0..300,
        (_, _) => 0..400,
    }),
    case(CLOSE, NotDecided, 1000, |test, _| match test {
        "amc-ia" => 0..450,
        _ => 0..400,
    }),
    case(RANGE, Confirmed, 1000, |_, index| match index {
        0 => 0..1000,
        4 => 0..0,
        _ => 0..500,
    }),
    case(RANGE, Refuted, 1000, |test, index| match (test, index) {
        ("amc-max", 0) => 0..900,
        (_, 0) => 0..1000,
        (_, _) => 0..0,
    }),
    case(RANGE, Refuted, 1000, |test, index| match (test, index) {
        (_, 0) => 0..1000,
        ("smc", 4) => 0..100,
        (_, _) => 0..0,
    }),
    case(RANGE, NotDecided, 1000, |_, index| match index {
        0 => 0..980,
        _ => 0..0,
    }),
    case(RANGE, NotDecided, 1000, |_, index| match index {
        0 => 0..1000,
        4 => 0..20,
        _ => 0..500,
    }),
    case(FLAT, Confirmed, 1000, |_, _| 0..300),
    case(FLAT, Refuted, 1000, |test, index| match (test, index) {
        ("smc", 1) => 0..600,
        (_, _) => 0..300,
    }),
    // 0.175, and certainly above 0.1.
    case(FLAT, Refuted, 1000, |_, index| match index {
        4 => 0..475,
        _ => 0..300,
    }),
    // Little from one value to the next, and much from end to end.
    case(FLAT, Refuted, 1000, |_, index| {
        0..[300, 350, 400, 450, 500][index]
    }),
    case(FLAT, NotDecided, 1000, |_, index| match index {
        4 => 0..400,
        _ => 0..300,
    }),
    case(SLIGHTLY, Confirmed, 1000, |test, _| match test {
        "amc-ia" => 0..420,
        // It is not among those that the sentence names.
        "smc" => 0..900,
        _ => 0..400,
    }),
    case(SLIGHTLY, Refuted, 1000, |_, _| 0..400),
    case(SLIGHTLY, Refuted, 1000, |test, _| match test {
        "amc-ia" => 0..420,
        "amc-max" => 0..440,
        _ => 0..400,
    }),
    case(SLIGHTLY, Refuted, 1000, |test, _| match test {
        "amc-ia" => 0..420,
        "amc-rtb" => 0..440,
        _ => 0..400,
    }),
    // More than slightly.
    case(SLIGHTLY, Refuted, 1000, |test, _| match test {
        "amc-ia" => 0..600,
        _ => 0..400,
    }),
    case(SLIGHTLY, Refuted, 1000, |test, index| match (test, index) {
        ("amc-ia", 2) => 0..350,
        ("amc-ia", _) => 0..430,
        (_, _) => 0..400,
    }),
    // Visible at one place, and little in the mean.
    case(SLIGHTLY, Confirmed, 1000, |test, index| {
        match (test, index) {
            ("amc-ia", 2) => 0..500,
            ("amc-ia", _) => 0..410,
            (_, _) => 0..400,
        }
    }),
    // Little at most places, and not in the mean.
    case(SLIGHTLY, Refuted, 1000, |test, index| match (test, index) {
        ("amc-ia", 2) => 0..900,
        ("amc-ia", _) => 0..410,
        (_, _) => 0..400,
    }),
    case(SLIGHTLY, NotDecided, 200, |test, _| match test {
        "amc-ia" => 0..82,
        _ => 0..80,
    }),
    case(FALLS, Confirmed, 1000, |_, index| falling(index)),
    case(FALLS, Refuted, 1000, |test, index| match (test, index) {
        ("amc-ia", 4) => 0..600,
        (_, _) => falling(index),
    }),
    case(FALLS, NotDecided, 1000, |_, _| 0..500),
    case(FAR, Confirmed, 1000, |test, _| match test {
        "fjp-ija" => 0..600,
        _ => 0..100,
    }),
    case(FAR, Refuted, 1000, |test, _| match test {
        "fjp-ija" => 0..600,
        _ => 0..500,
    }),
    case(FAR, NotDecided, 1000, |test, _| match test {
        "fjp-ija" => 0..400,
        _ => 0..200,
    }),
    case(NONE, Confirmed, 1000, |test, _| match test {
        "fjp-lb" => 0..0,
        _ => 0..400,
    }),
    case(NONE, Refuted, 1000, |test, index| match (test, index) {
        ("fjp-lb", 4) => 0..1,
        (_, _) => 0..0,
    }),
    case(NONE, NotDecided, 100, |_, _| 0..0),
    case(CMS, Confirmed, 1000, |test, _| match test {
        "cms" => 0..100,
        "smc" => 0..500,
        _ => 0..50,
    }),
    case(CMS, Refuted, 1000, |test, _| match test {
        "cms" => 0..400,
        _ => 0..500,
    }),
    case(CMS, NotDecided, 1000, |test, _| match test {
        "cms" => 0..250,
        _ => 0..500,
    }),
    case(ABOVE_ZSS, Confirmed, 1000, |test, _| match test {
        "amc-ia" => 0..500,
        _ => 0..300,
    }),
    case(ABOVE_ZSS, Refuted, 1000, |test, _| match test {
        "amc-ia" => 0..300,
        _ => 0..500,
    }),
    case(ABOVE_ZSS, Refuted, 1000, |_, _| 0..500),
    case(ABOVE_ZSS, NotDecided, 2000, |test, index| {
        match (test, index) {
            ("amc-ia", 1) => 0..403,
            (_, _) => 0..400,
        }
    }),
    // Above over all, and at one point perhaps visibly below.
    case(ABOVE_ZSS, NotDecided, 1000, |test, index| {
        match (test, index) {
            ("amc-ia", 1) => 200..600,
            ("amc-ia", _) => 0..700,
            (_, _) => 0..400,
        }
    }),
    // Below by so little that only all points together tell.
    case(ABOVE_ZSS, Refuted, 1000, |test, _| match test {
        "amc-ia" => 0..395,
        _ => 0..400,
    }),
    case(ABOVE_ZSS, Refuted, 1000, |test, index| {
        match (test, index) {
            ("amc-ia", 1) => 0..200,
            ("amc-ia", _) => 0..700,
            (_, _) => 0..300,
        }
    }),
    case(ABOVE_ZSS, NotDecided, 20, |test, _| match test {
        "amc-ia" => 0..11,
        _ => 0..10,
    }),
    // The sound test that the paper does not have is no rival.
    case(BEST, Confirmed, 1000, |test, _| match test {
        "fjp-ija" => 0..500,
        "fjp-mode" => 0..600,
        _ => 0..300,
    }),
    case(BEST, Refuted, 1000, |test, index| match (test, index) {
        ("rms", 3) => 0..600,
        ("fjp-ija", _) => 0..500,
        (_, _) => 0..300,
    }),
    case(BEST, Refuted, 1000, |_, _| 0..500),
    case(BEST, NotDecided, 20, |test, _| match test {
        "fjp-ija" => 0..11,
        _ => 0..10,
    }),
    checked(IJA_GAINS, Refuted, ija_beyond, 400..480, 0..400),
    checked(IJA_GAINS, Confirmed, ija_beyond, 0..0, 0..480),
    checked(IJA_GAINS, NotDecided, ija_beyond, 400..450, 0..400),
    checked(IJA_GAINS, NotDecided, ija_beyond, 0..0, 0..400),
    case(NOT_DOMINANT, Confirmed, 1000, |test, index| {
        match (test, index) {
            ("pt", 3) => 500..501,
            (_, _) => 0..500,
        }
    }),
    // It dominates all approaches, none of which dominates the others.
    case(NOT_DOMINANT, Refuted, 1000, |test, _| match test {
        "fjp-mode" => 0..600,
        "fjp-ija" => 0..500,
        "amc-ia" => 0..400,
        _ => 50..450,
    }),
    with_one_undecided(NOT_DOMINANT, Refuted, |test, index| match (test, index) {
        ("pt", 3) => 500..501,
        (_, _) => 0..500,
    }),
    case(NOT_DOMINANT, NotDecided, 100, |_, _| 0..50),
    case(EARLY, Confirmed, 1000, |_, index| {
        0..[100, 500, 600, 650, 680][index]
    }),
    case(EARLY, Refuted, 1000, |test, index| match test {
        "amc-ia" => 0..[100, 120, 150, 200, 680][index],
        _ => 0..[100, 500, 600, 650, 680][index],
    }),
    case(EARLY, Refuted, 1000, |test, index| match test {
        "smc" => falling(index),
        _ => 0..[100, 500, 600, 650, 680][index],
    }),
    // It ends higher, and most of that comes early, but not with every task more.
    case(EARLY, Refuted, 1000, |_, index| {
        0..[100, 600, 300, 650, 680][index]
    }),
    case(EARLY, NotDecided, 1000, |_, index| {
        0..[100, 400, 500, 600, 700][index]
    }),
    case(FOUR_RISE, Confirmed, 1000, |_, index| rising(index)),
    case(FOUR_RISE, Refuted, 1000, |test, index| match test {
        "fjp-ija" => falling(index),
        _ => rising(index),
    }),
    case(FOUR_RISE, Refuted, 1000, |test, index| match test {
        "rms" => falling(index),
        _ => rising(index),
    }),
    case(FOUR_RISE, NotDecided, 1000, |test, index| match test {
        "smc" => 0..500,
        _ => rising(index),
    }),
    case(ZSS_RISES, Confirmed, 1000, |test, index| match test {
        "zss" => rising(index),
        _ => falling(index),
    }),
    case(ZSS_RISES, Refuted, 1000, |test, index| {
        match (test, index) {
            ("zss", 4) => 0..300,
            (_, _) => rising(index),
        }
    }),
    case(ZSS_RISES, NotDecided, 1000, |_, _| 0..500),
];

pub(super) fn rising(index: usize) -> Range<u32> {
    0..[100, 250, 400, 550, 700][index]
}

pub(super) fn falling(index: usize) -> Range<u32> {
    0..[700, 550, 400, 250, 100][index]
}

pub(super) fn one_more_by_rtb(test: &str, index: usize) -> Range<u32> {
    match (test, index) {
        ("amc-rtb", 2) => 400..501,
        (_, _) => 0..500,
    }
}

pub(super) fn ia_beyond(test: &str, _: usize) -> Range<u32> {
    match test {
        "amc-ia" => 0..500,
        _ => 0..400,
    }
}

pub(super) fn ija_beyond(test: &str, _: usize) -> Range<u32> {
    match test {
        "fjp-ija" => 0..500,
        _ => 0..400,
    }
}
