//! From counts to verdicts where a paper prints by how much curves differ, or how high they are.

use super::compare::Interval;
use super::rules::{percent, range};
use super::{Checked, View};
use crate::verdict;
use vestal_result::claim::Verdict;

/// Shares are as printed if they are no further away.
const AS_MUCH: f64 = 0.1;

/// Where a curve is most above another.
struct Apart {
    /// There.
    at: f64,
    /// By how much, to our knowledge.
    by: f64,
    /// What the largest difference may be follows from those that each point may have.
    largest: Interval,
}

impl Apart {
    /// How far `above` is above `below`; nothing without points.
    fn of(view: &View<'_>, above: &str, below: &str) -> Option<Self> {
        let pairings = view.pairings(above, below).into_iter();
        let each: Vec<_> = pairings
            .map(|(x, pairing)| (x, pairing.difference()))
            .collect();
        let middle = |found: &Interval| f64::midpoint(found.low, found.high);
        let (at, widest) = each
            .iter()
            .max_by(|(_, a), (_, b)| middle(a).total_cmp(&middle(b)))?;
        let most = |of: fn(&Interval) -> f64| {
            let each = each.iter().map(|(_, found)| of(found));
            each.fold(f64::NEG_INFINITY, f64::max)
        };
        Some(Self {
            at: *at,
            by: middle(widest),
            largest: Interval {
                low: most(|found| found.low),
                high: most(|found| found.high),
            },
        })
    }
}

const NO_POINT: &str = "there is no point";

/// Where the curve of `above` is most above that of `below`, it is so by this share of the sets of a point.
pub(super) fn at_most_apart(
    view: &View<'_>,
    (above, below): (&str, &str),
    printed: f64,
) -> Checked {
    let Some(Apart { at, by, largest }) = Apart::of(view, above, below) else {
        return Checked {
            verdict: Verdict::NotDecided,
            numbers: NO_POINT.to_owned(),
        };
    };
    let from = printed - AS_MUCH;
    let shares = view.shares(above).into_iter();
    let room: Vec<String> = shares
        .filter(|(_, share)| share.low > from)
        .map(|(x, _)| format!("{x}"))
        .collect();
    Checked {
        verdict: as_printed(largest, printed),
        numbers: format!(
            "{above} is most above {below} at {at}, by {:.2} %; the largest difference is {}; {above} certainly accepts more \
             than {:.1} % of the sets, as a difference of that size takes, at {}; ours for the {:.1} % of the paper is \
             within {AS_MUCH} of it",
            100.0 * by,
            range(largest),
            100.0 * from,
            match room.is_empty() {
                true => "no point".to_owned(),
                false => room.join(" "),
            },
            100.0 * printed,
        ),
    }
}

/// Whether a share of which this is known is as printed.
fn as_printed(known: Interval, printed: f64) -> Verdict {
    let (from, to) = (printed - AS_MUCH, printed + AS_MUCH);
    verdict::from_evidence(
        known.low > from && known.high < to,
        known.high < from || known.low > to,
    )
}

/// By how much `above` is most above `below` grows from each view to the next, and is what is printed for each; they rest on different sets.
pub(super) fn farther_apart(
    views: &[View<'_>],
    (above, below): (&str, &str),
    printed: &[f64],
) -> Checked {
    let each = views.iter().map(|view| Apart::of(view, above, below));
    let each: Option<Vec<Apart>> = each.collect();
    let Some(each) = each else {
        return Checked {
            verdict: Verdict::NotDecided,
            numbers: NO_POINT.to_owned(),
        };
    };
    let steps = each.windows(2).map(|pair| {
        let (before, after) = (pair[0].largest, pair[1].largest);
        verdict::from_evidence(after.low > before.high, after.high < before.low)
    });
    let sizes = each
        .iter()
        .zip(printed)
        .map(|(apart, &printed)| as_printed(apart.largest, printed));
    let words = each.iter().map(|apart| {
        let (by, at) = (100.0 * apart.by, apart.at);
        format!("{by:.2} % at {at} ({})", range(apart.largest))
    });
    let words: Vec<String> = words.collect();
    Checked {
        verdict: verdict::all(steps.chain(sizes)),
        numbers: format!(
            "{above} is most above {below} by {}; ours for as printed is within {AS_MUCH}",
            words.join(", then by ")
        ),
    }
}

/// What `test` accepts at these values of the axis is as printed: of all sets, or of those that `of` accepts.
pub(super) fn shares_are(
    view: &View<'_>,
    test: &str,
    of: Option<&str>,
    printed: &[(f64, f64)],
) -> Checked {
    let found = |x: f64| -> (u64, u64) {
        let pairings = view.pairings(test, of.unwrap_or(test)).into_iter();
        let here = pairings.filter(|(at, _)| (at - x).abs() < 1e-9);
        here.fold((0, 0), |(yes, sets), (_, pairing)| match of {
            None => (yes + pairing.both(), sets + pairing.sets()),
            Some(_) => (
                yes + pairing.both(),
                sets + pairing.both() + pairing.second(),
            ),
        })
    };
    let each = printed.iter().map(|&(x, share)| {
        let (yes, sets) = found(x);
        let interval = Interval::of_share(yes, sets);
        let verdict = as_printed(interval, share);
        let words = format!(
            "{} at {x} (paper: {:.0} %; {:.2} to {:.2} % in general)",
            percent((yes, sets)),
            100.0 * share,
            100.0 * interval.low,
            100.0 * interval.high
        );
        (verdict, words)
    });
    let (verdicts, words): (Vec<Verdict>, Vec<String>) = each.unzip();
    let among = of.map_or_else(String::new, |of| format!(" of the sets that {of} accepts"));
    Checked {
        verdict: verdict::all(verdicts),
        numbers: format!(
            "{test} accepts{among} {}; ours for as printed is within {AS_MUCH}",
            words.join(", ")
        ),
    }
}
