//! From counts to verdicts: what a sentence about curves takes to be confirmed or refuted.
//!
//! Every rule looks at intervals ([`super::compare`]), never at a share alone: what they leave open is *not
//! decided*. A sentence that compares ("more", "better") is strict: tests that answer alike do not confirm it.
//! Numbers behind the words of a paper are ours, and each finding names those that it used.

use super::compare::{Interval, Level, Pairing, Sign};
use super::{Checked, View};
use crate::evaluate::check_label;
use crate::number::as_f64;
use crate::verdict;
use std::fmt::Write as _;
use vestal_result::claim::Verdict;

/// Two curves differ visibly from here on.
const NEAR: f64 = 0.05;
/// A curve is flat if its weighted shares stay within this.
const FLAT: f64 = 0.1;
/// *Slightly* above, and above *by a small gap*, is a mean over the axis of less than this.
const SMALL_GAP: f64 = 0.05;
/// What happens to fewer sets than this is taken not to happen.
const RARE: f64 = 0.005;
/// A share so near to 0 or 1 looks like 0 or 1.
const EDGE: f64 = 0.02;
/// An advantage consists of sets of some kind if these are more than this share of it.
const MOST: f64 = 0.5;

pub(super) fn percent((yes, sets): (u64, u64)) -> String {
    let share = 100.0 * as_f64(yes) / as_f64(sets.max(1));
    format!("{share:.2} % of {sets}")
}

fn shown(examples: &[(usize, u32)]) -> String {
    let examples = examples.iter();
    let list: Vec<String> = examples
        .map(|(point, index)| format!("point {point} index {index}"))
        .collect();
    match list.is_empty() {
        true => String::new(),
        false => format!(" (for instance {})", list.join(", ")),
    }
}

/// An interval in percent.
pub(super) fn range(Interval { low, high }: Interval) -> String {
    format!("{:+.2} to {:+.2} %", 100.0 * low, 100.0 * high)
}

/// Both tests' counts, and how they differ.
fn counts(view: &View<'_>, first: &str, second: &str) -> String {
    let (a, b) = (view.accepted(first), view.accepted(second));
    let ((by_first, examples), (by_second, others)) =
        (view.only(first, second), view.only(second, first));
    format!(
        "{first} accepts {}, {second} {} sets; {by_first} by {first} only{}, {by_second} by {second} only{}; the difference is {}{}",
        percent(a),
        percent(b),
        shown(&examples),
        shown(&others),
        range(view.pairing(first, second).difference()),
        left_out(view, &[first, second]),
    )
}

/// How many searches of the tests reached their limit, if any: such a set counts as not accepted. And about how many sets
/// they were not asked, which count neither way.
fn left_out(view: &View<'_>, tests: &[&str]) -> String {
    let each = tests.iter().map(|test| {
        let undecided = match view.undecided(test) {
            0 => String::new(),
            count => format!("; {test} leaves {count} undecided"),
        };
        let refused = match view.refused(test) {
            0 => String::new(),
            count => format!("; {test} is not asked about {count}"),
        };
        undecided + &refused
    });
    each.collect()
}

/// `first` accepts more sets than `second`. Confirmed by the sign of the difference; refuted by the other
/// sign, and if they are equal.
pub(super) fn more(view: &View<'_>, first: &str, second: &str) -> Checked {
    let pairing = view.pairing(first, second);
    let verdict = match pairing.sign() {
        Sign::Above => Verdict::Confirmed,
        Sign::Below => Verdict::Refuted,
        Sign::Open => verdict::from_evidence(false, are_equal(&pairing)),
    };
    Checked {
        verdict,
        numbers: format!("{}; {EQUAL} {RARE}", counts(view, first, second)),
    }
}

/// In each pair the curve of the first is above that of the second by the margin, as in [`better`]. What is found is said of each.
pub(super) fn ordered(view: &View<'_>, pairs: &[(&str, &str, Margin)]) -> Checked {
    let mut once: Vec<&str> = Vec::new();
    let (mut verdicts, mut numbers) = (Vec::new(), String::new());
    for (above, below, margin) in pairs {
        let (verdict, found) = better_than(view, above, below, *margin);
        let (words, accepted) = (margin.words(), percent(view.accepted(above)));
        let _ = write!(
            numbers,
            "\n     - {above} {words} {below}: **{verdict}**; {above} accepts {accepted}, {found}"
        );
        verdicts.push(verdict);
        for test in [*above, *below] {
            if !once.contains(&test) {
                once.push(test);
            }
        }
    }
    Checked {
        verdict: verdict::all(verdicts),
        numbers: format!(
            "ours for visible is {NEAR}; {EQUAL} {RARE}{}; pair by pair:{numbers}",
            left_out(view, &once)
        ),
    }
}

/// The words for [`are_equal`].
const EQUAL: &str = "ours for equal is that the first alone accepts no more than the second alone, and a share below";

/// The first test accepts no more than the second: what it alone accepts is certainly rare, and does not
/// outnumber what the second alone accepts. The drawn sets would contradict the verdict otherwise.
fn are_equal(pairing: &Pairing) -> bool {
    pairing.first() <= pairing.second() && pairing.share_of_first().high < RARE
}

/// `more` accepts every set that `less` accepts. One set to the contrary refutes.
pub(super) fn dominates(view: &View<'_>, more: &str, less: &str) -> Checked {
    let against = view.pairing(less, more);
    let rare = against.share_of_first().high < RARE;
    Checked {
        verdict: verdict::from_evidence(rare, view.rejected(less, more) > 0),
        numbers: format!(
            "{}; sets to the contrary are certainly fewer than {:.2} %; ours for none is {RARE}",
            counts(view, more, less),
            100.0 * against.share_of_first().high
        ),
    }
}

/// How much better is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Margin {
    /// No worse: equal will do.
    AtLeast,
    /// At all.
    Any,
    /// But by little.
    Slight,
}

impl Margin {
    /// Between the names of two curves.
    const fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at or above",
            Self::Any => "above",
            Self::Slight => "slightly above",
        }
    }
}

/// The curve of `test` is above that of each rival: over all sets for certain, and nowhere below. If it is to be so by little, the
/// mean over the axis is small, whatever it is at single points. If it is to be no worse, it is nowhere below, and accepts more
/// over all sets for certain, or what the rival alone accepts is certainly rare.
pub(super) fn better(view: &View<'_>, test: &str, rivals: &[&str], margin: Margin) -> Checked {
    let each: Vec<(Verdict, String)> = rivals
        .iter()
        .map(|rival| better_than(view, test, rival, margin))
        .collect();
    let ours = match margin {
        Margin::AtLeast => format!("ours for rare is {RARE}"),
        Margin::Any => format!("{EQUAL} {RARE}"),
        Margin::Slight => {
            format!(
                "ours for slightly is a mean over the axis of less than {SMALL_GAP}; {EQUAL} {RARE}"
            )
        }
    };
    let parts: Vec<&str> = each.iter().map(|(_, numbers)| numbers.as_str()).collect();
    Checked {
        verdict: verdict::all(each.iter().map(|(verdict, _)| *verdict)),
        numbers: format!(
            "{test} accepts {}; {}{}; ours for visible is {NEAR}; {ours}",
            percent(view.accepted(test)),
            parts.join("; "),
            left_out(view, &[&[test], rivals].concat())
        ),
    }
}

fn better_than(view: &View<'_>, test: &str, rival: &str, margin: Margin) -> (Verdict, String) {
    let all = view.pairing(test, rival);
    let (sign, gap) = (all.sign(), all.difference());
    let positions = view.pairings(test, rival);
    let below: Vec<f64> = positions
        .iter()
        .filter(|(_, pairing)| pairing.sign() == Sign::Below)
        .map(|(x, _)| *x)
        .collect();
    let never_more = sign == Sign::Open && are_equal(&all);
    let rival_alone = Interval::of_share(all.second(), all.sets());
    let (holds, fails) = match margin {
        Margin::AtLeast => (sign == Sign::Above || rival_alone.high < RARE, false),
        Margin::Any => (sign == Sign::Above, never_more),
        Margin::Slight => (
            sign == Sign::Above && gap.high < SMALL_GAP,
            never_more || gap.low > SMALL_GAP,
        ),
    };
    let each = positions.iter();
    let each: Vec<(f64, Interval)> = each.map(|(x, pair)| (*x, pair.difference())).collect();
    let nowhere_below = each.iter().all(|(_, found)| found.low > -NEAR);
    let against = !below.is_empty() || sign == Sign::Below || fails;
    let at: Vec<String> = below.iter().map(|x| format!("{x}")).collect();
    let numbers = format!(
        "{rival} {}: {} by {test} only, {} by {rival} only, difference {}, certainly below at {}{}",
        percent(view.accepted(rival)),
        all.first(),
        all.second(),
        range(gap),
        match at.is_empty() {
            true => "no point".to_owned(),
            false => at.join(" "),
        },
        match margin {
            Margin::AtLeast | Margin::Any => String::new(),
            Margin::Slight => widest(&each),
        }
    );
    (
        verdict::from_evidence(nowhere_below && holds, against),
        numbers,
    )
}

/// At which point the difference is largest.
fn widest(each: &[(f64, Interval)]) -> String {
    let middle = |found: &Interval| f64::midpoint(found.low, found.high);
    let widest = each
        .iter()
        .max_by(|(_, a), (_, b)| middle(a).total_cmp(&middle(b)));
    widest.map_or_else(String::new, |(x, found)| {
        format!(", at one point at most, at {x:.2}: {}", range(*found))
    })
}

/// The tests differ nowhere visibly.
pub(super) fn close(view: &View<'_>, tests: &[&str]) -> Checked {
    let mut verdicts = Vec::new();
    let mut widest = (0.0, "none".to_owned());
    for (position, first) in tests.iter().enumerate() {
        for second in &tests[position + 1..] {
            for (x, pairing) in view.pairings(first, second) {
                let found = pairing.difference();
                let inside = found.low > -NEAR && found.high < NEAR;
                let outside = found.low > NEAR || found.high < -NEAR;
                verdicts.push(verdict::from_evidence(inside, outside));
                let most = f64::midpoint(found.low, found.high).abs();
                if most > widest.0 {
                    let text = format!("{} between {first} and {second} at {x:.2}", range(found));
                    widest = (most, text);
                }
            }
        }
    }
    Checked {
        verdict: verdict::all(verdicts),
        numbers: format!(
            "the largest difference is {}; ours for very small is {NEAR}",
            widest.1
        ),
    }
}

/// Outside of these values of the axis each test accepts all sets of a point or none.
pub(super) fn all_or_none_outside(view: &View<'_>, (from, to): (f64, f64)) -> Checked {
    let mut verdicts = Vec::new();
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut wrong = Vec::new();
    for test in view.tests() {
        for (x, share) in view.shares(test) {
            let between = share.low > EDGE && share.high < 1.0 - EDGE;
            if between {
                first = first.min(x);
                last = last.max(x);
            }
            if (from..=to).contains(&x) {
                continue;
            }
            let at_the_edge = share.high < EDGE || share.low > 1.0 - EDGE;
            verdicts.push(verdict::from_evidence(at_the_edge, between));
            if between && !wrong.contains(&test) {
                wrong.push(test);
            }
        }
    }
    let inside = match first <= last {
        true => format!("lie from {first:.2} to {last:.2}"),
        false => "are nowhere certain".to_owned(),
    };
    let but = match wrong.is_empty() {
        true => String::new(),
        false => format!("; outside the range: {}", wrong.join(", ")),
    };
    Checked {
        verdict: verdict::all(verdicts),
        numbers: format!(
            "fractions other than 0 and 1 {inside}{but}; ours for 0 and 1 is within {EDGE} of them"
        ),
    }
}

/// The curves change little from one end of the axis to the other.
pub(super) fn flat(view: &View<'_>, tests: &[&str]) -> Checked {
    let (mut verdicts, mut parts) = (Vec::new(), Vec::new());
    for test in tests {
        let levels = view.levels(test);
        for (position, (_, low)) in levels.iter().enumerate() {
            for (_, high) in &levels[position + 1..] {
                let found = Level::contrast(&[(1.0, *high), (-1.0, *low)]);
                let inside = found.low > -FLAT && found.high < FLAT;
                let outside = found.low > FLAT || found.high < -FLAT;
                verdicts.push(verdict::from_evidence(inside, outside));
            }
        }
        let values = || levels.iter().map(|(_, level)| level.value);
        let (low, high) = (values().fold(1.0, f64::min), values().fold(0.0, f64::max));
        parts.push(format!("{test} {low:.3} to {high:.3}"));
    }
    Checked {
        verdict: verdict::all(verdicts),
        numbers: format!("{}; ours for flat is a span of {FLAT}", parts.join(", ")),
    }
}

/// Where a curve goes along its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// Up.
    Rising,
    /// Down.
    Falling,
}

impl Course {
    /// Where a curve certainly goes from each value of the axis to the next: `Above` is this way.
    fn steps(self, levels: &[(f64, Level)]) -> Vec<Sign> {
        let towards = match self {
            Self::Rising => 1.0,
            Self::Falling => -1.0,
        };
        let pairs = levels.windows(2);
        pairs
            .map(|pair| {
                let step = [(towards, pair[1].1), (-towards, pair[0].1)];
                Level::contrast(&step).side_of(0.0)
            })
            .collect()
    }
}

/// From each value of the axis to the next, every curve rises, or falls. One step the other way refutes.
pub(super) fn monotone(view: &View<'_>, tests: &[&str], course: Course) -> Checked {
    let (mut verdicts, mut parts) = (Vec::new(), Vec::new());
    for test in tests {
        let levels = view.levels(test);
        let steps = course.steps(&levels);
        let count = |sign| steps.iter().filter(|step| **step == sign).count();
        let (with, against) = (count(Sign::Above), count(Sign::Below));
        let all = !steps.is_empty() && with == steps.len();
        verdicts.push(verdict::from_evidence(all, against > 0));
        let end = |level: Option<&(f64, Level)>| level.map_or(0.0, |(_, level)| level.value);
        parts.push(format!(
            "{test} {:.3} to {:.3}, {with} of {} steps this way and {against} the other way for certain",
            end(levels.first()),
            end(levels.last()),
            steps.len()
        ));
    }
    Checked {
        verdict: verdict::all(verdicts),
        numbers: parts.join("; "),
    }
}

/// The curves end higher than they begin, fall nowhere for certain, and more than half of the rise comes in
/// the first half of the axis.
pub(super) fn rises_early(view: &View<'_>, tests: &[&str]) -> Checked {
    let (mut verdicts, mut parts) = (Vec::new(), Vec::new());
    for test in tests {
        let levels = view.levels(test);
        let (Some(&(from, first)), Some(&(to, last))) = (levels.first(), levels.last()) else {
            verdicts.push(Verdict::NotDecided);
            continue;
        };
        let half = f64::midpoint(from, to);
        let before = levels.iter().rev().find(|(x, _)| *x <= half);
        let (at, middle) = before.map_or((from, first), |found| *found);
        let rise = Level::contrast(&[(1.0, last), (-1.0, first)]).side_of(0.0);
        let early = Level::contrast(&[(2.0, middle), (-1.0, first), (-1.0, last)]).side_of(0.0);
        let falls = Course::Rising.steps(&levels).contains(&Sign::Below);
        let both = rise == Sign::Above && early == Sign::Above;
        let against = rise == Sign::Below || early == Sign::Below || falls;
        verdicts.push(match levels.len() {
            0..=2 => Verdict::NotDecided,
            _ => verdict::from_evidence(both, against),
        });
        let dip = match falls {
            true => ", with a certain fall on the way",
            false => "",
        };
        parts.push(format!(
            "{test} {:.3} at {from}, {:.3} at {at}, {:.3} at {to}{dip}",
            first.value, middle.value, last.value
        ));
    }
    Checked {
        verdict: verdict::all(verdicts),
        numbers: parts.join("; "),
    }
}

/// `better` accepts more than twice as many sets.
pub(super) fn far_better(view: &View<'_>, better: &str, worse: &str) -> Checked {
    let sign = view.pairing(better, worse).sign_of_scores(1.0, -2.0, -1.0);
    Checked {
        verdict: verdict::from_evidence(sign == Sign::Above, sign == Sign::Below),
        numbers: format!(
            "{}; ours for far is twice as many",
            counts(view, better, worse)
        ),
    }
}

/// The test accepts nothing. One set refutes.
pub(super) fn none(view: &View<'_>, test: &str) -> Checked {
    let (yes, sets) = view.accepted(test);
    let found = Interval::of_share(yes, sets);
    Checked {
        verdict: verdict::from_evidence(found.high < RARE, yes > 0),
        numbers: format!(
            "{test} accepts {yes} of {sets} sets, at most {:.2} % of all; ours for none is {RARE}",
            100.0 * found.high
        ),
    }
}

/// The test accepts less than half of what the best one accepts.
pub(super) fn very_badly(view: &View<'_>, test: &str, others: &[&str]) -> Checked {
    let others: Vec<&str> = others
        .iter()
        .copied()
        .filter(|other| *other != test)
        .collect();
    let best = others.iter().max_by_key(|other| view.accepted(other).0);
    let Some(best) = best else {
        return Checked {
            verdict: Verdict::NotDecided,
            numbers: "there is no other test".to_owned(),
        };
    };
    let sign = view.pairing(best, test).sign_of_scores(1.0, -2.0, -1.0);
    let ours = view.accepted(test).0;
    let below = others.iter().map(|other| (view.accepted(other).0, other));
    let below = below.filter(|(count, _)| *count < ours);
    let below: Vec<String> = below
        .map(|(count, other)| format!("{other} {count}"))
        .collect();
    let below = match below.is_empty() {
        true => "no test accepts fewer".to_owned(),
        false => format!("fewer: {}", below.join(", ")),
    };
    Checked {
        verdict: verdict::from_evidence(sign == Sign::Above, sign == Sign::Below),
        numbers: format!(
            "{}; {below}; ours for very badly is less than half of the best",
            counts(view, best, test)
        ),
    }
}

/// Some set is accepted by a rival and not by the test. One such set confirms it.
pub(super) fn not_dominant(view: &View<'_>, test: &str, rivals: &[&str]) -> Checked {
    let (mut some, mut rare, mut parts) = (false, !rivals.is_empty(), Vec::new());
    for rival in rivals {
        let (count, examples) = view.only(rival, test);
        if count > 0 {
            parts.push(format!("{count} by {rival}{}", shown(&examples)));
        }
        some |= view.rejected(rival, test) > 0;
        rare &= view.pairing(rival, test).share_of_first().high < RARE;
    }
    Checked {
        verdict: match some {
            true => Verdict::Confirmed,
            false => verdict::from_evidence(false, rare),
        },
        numbers: match parts.is_empty() {
            true => format!("no set is accepted by another test only; ours for none is {RARE}"),
            false => format!(
                "accepted, and not by {test}: {}{}",
                parts.join(", "),
                left_out(view, &[test])
            ),
        },
    }
}

/// What `test` accepts beyond the sound `sound` is schedulable. It is decided by what was found about each of
/// these sets: confirmed if most of them are proved by another sound test of the policy, refuted if most of
/// them are shown to miss a deadline under what `test` chose. A search that finds no miss proves nothing.
pub(super) fn gain(view: &View<'_>, test: &str, sound: &str) -> Checked {
    let beyond = view.pairing(test, sound);
    let (only, lost) = (beyond.first(), beyond.second());
    let check = check_label(test);
    let proved = view.pairing(&check, sound).first().min(only);
    let missed = view.said_no(&check).min(only - proved);
    let open = only - proved - missed;
    let (right, wrong) = (
        Interval::of_share(proved, only),
        Interval::of_share(missed, only),
    );
    let (_, examples) = view.only(test, sound);
    Checked {
        verdict: verdict::from_evidence(right.low > MOST, wrong.low > MOST),
        numbers: format!(
            "{only} sets are accepted by {test} and not by the sound {sound}{}, {lost} the other way round; of the {only}, {missed} are shown to miss a guaranteed deadline ({}; {:.1} to {:.1} % in general), {proved} are proved by another sound test, and {open} are open; ours for a gain is that more than half are proved, for none that more than half miss",
            shown(&examples),
            percent((missed, only)),
            100.0 * wrong.low,
            100.0 * wrong.high,
        ),
    }
}
