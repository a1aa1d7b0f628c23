//! From what was measured to verdicts: what a sentence about a measure takes to be confirmed or refuted.
//!
//! As with tests, what intervals leave open is *not decided*. An interval is that of a mean over sets, and
//! certain with four standard errors ([`Confidence::FOUR_ERRORS`]).

use super::compare::{Interval, Sign};
use super::rules::Course;
use super::{Checked, View};
use crate::measure::Values;
use crate::measured::Part;
use crate::number::as_f64;
use crate::verdict;
use vestal_result::claim::Verdict;
use vestal_statistics::{Confidence, Mean};

const CERTAIN: Confidence = Confidence::FOUR_ERRORS;

/// What happens in fewer sets than this is taken not to happen.
const RARE: f64 = 0.005;

fn not_measured(names: &[&str]) -> Checked {
    Checked {
        verdict: Verdict::NotDecided,
        numbers: format!("not measured: {}", names.join(", ")),
    }
}

fn interval(Mean { low, high, .. }: Mean) -> Interval {
    Interval { low, high }
}

fn shown(Mean { value, low, high }: Mean) -> String {
    format!("{value:.4} ({low:.4} to {high:.4})")
}

/// The mean of the part at each value of the axis.
fn means(view: &View<'_>, part: &Part) -> Vec<(f64, Mean)> {
    let positions = view.selection().positions().into_iter();
    positions
        .map(|(x, points)| (x, part.mean(&points, CERTAIN)))
        .collect()
}

/// The mean of `second` minus `first` over the sets of which both have a value: of points together, by rounds.
fn difference(first: &Part, second: &Part, points: &[usize]) -> Mean {
    let both = points.iter().filter_map(|point| {
        let pair = first.samples.get(*point)?.values.iter();
        let pair = pair.zip(&second.samples.get(*point)?.values);
        Some(pair.map(|(a, b)| Some(b.as_ref()? - a.as_ref()?)).collect())
    });
    let both: Vec<Vec<Option<f64>>> = both.collect();
    let rounds = both.iter().map(Vec::len).min().unwrap_or(0);
    let count = as_f64(both.len() as u64);
    let round = |index: usize| {
        let sum: Option<f64> = both.iter().map(|point| point[index]).sum();
        sum.map(|sum| sum / count)
    };
    let values: Vec<f64> = (0..rounds).filter_map(round).collect();
    match first.measure.values {
        Values::Numbers { .. } => Mean::of(&values, CERTAIN),
        // From -1 to 1.
        Values::Shares => {
            let halved: Vec<f64> = values
                .iter()
                .map(|value| f64::midpoint(1.0, *value))
                .collect();
            let Mean { value, low, high } = Mean::of_bounded(&halved, CERTAIN);
            let doubled = |value: f64| 2.0 * value - 1.0;
            Mean {
                value: if values.is_empty() {
                    0.0
                } else {
                    doubled(value)
                },
                low: doubled(low),
                high: doubled(high),
            }
        }
    }
}

/// The values of `lower` are below those of `higher`: over all sets for certain, and at no value of the axis certainly
/// above. Refuted if they are certainly above over all sets, or somewhere.
#[must_use]
pub fn lower(view: &View<'_>, lower: &str, higher: &str) -> Checked {
    let summary = view.selection().summary;
    let (Some(first), Some(second)) = (summary.measured(lower), summary.measured(higher)) else {
        return not_measured(&[lower, higher]);
    };
    let all = difference(first, second, &view.selection().points);
    let positions = view.selection().positions().into_iter();
    let each = positions.map(|(x, points)| (x, difference(first, second, &points)));
    let above: Vec<String> = each
        .filter(|(_, mean)| interval(*mean).side_of(0.0) == Sign::Below)
        .map(|(x, _)| x.to_string())
        .collect();
    let sign = interval(all).side_of(0.0);
    Checked {
        verdict: verdict::from_evidence(
            sign == Sign::Above,
            sign == Sign::Below || !above.is_empty(),
        ),
        numbers: format!(
            "{higher} minus {lower}, set by set: {}; certainly the other way at {}",
            shown(all),
            match above.is_empty() {
                true => "no point".to_owned(),
                false => above.join(" "),
            }
        ),
    }
}

/// At each value of the axis from the one to the other, the mean is from `low` to `high`. One value refutes, all
/// confirm, and without any nothing is decided.
#[must_use]
pub fn between(
    view: &View<'_>,
    name: &str,
    (from, to): (f64, f64),
    (low, high): (f64, f64),
) -> Checked {
    let Some(part) = view.selection().summary.measured(name) else {
        return not_measured(&[name]);
    };
    let inside = means(view, part)
        .into_iter()
        .filter(|(x, _)| (from..=to).contains(x));
    let inside: Vec<(f64, Mean)> = inside.collect();
    let verdicts = inside.iter().map(|(_, mean)| {
        let found = interval(*mean);
        let kept = low <= found.low && found.high <= high;
        verdict::from_evidence(kept, found.high < low || high < found.low)
    });
    let parts = inside
        .iter()
        .map(|(x, mean)| format!("{} at {x}", shown(*mean)));
    Checked {
        verdict: verdict::all(verdicts),
        numbers: format!(
            "{name} {}; from {low} to {high} is meant",
            match inside.is_empty() {
                true => "has no value there".to_owned(),
                false => parts.collect::<Vec<_>>().join(", "),
            }
        ),
    }
}

/// From each value of the axis to the next the mean rises, or falls. One step that goes the other way refutes. A step
/// is certain if the intervals have nothing in common.
#[must_use]
pub fn monotone(view: &View<'_>, name: &str, course: Course) -> Checked {
    let Some(part) = view.selection().summary.measured(name) else {
        return not_measured(&[name]);
    };
    let means = means(view, part);
    let step = |pair: &[(f64, Mean)]| {
        let (from, to) = match course {
            Course::Rising => (pair[0].1, pair[1].1),
            Course::Falling => (pair[1].1, pair[0].1),
        };
        verdict::from_evidence(to.low > from.high, to.high < from.low)
    };
    let ends = [means.first(), means.last()].into_iter().flatten();
    let ends: Vec<String> = ends
        .map(|(x, mean)| format!("{} at {x}", shown(*mean)))
        .collect();
    Checked {
        verdict: verdict::all(means.windows(2).map(step)),
        numbers: format!("{name} {}, by {} values", ends.join(" to "), means.len()),
    }
}

/// Nothing is counted in any set. One set refutes; without any the sets to the contrary have to be certainly rare, over all points together.
#[must_use]
pub fn never(view: &View<'_>, name: &str) -> Checked {
    let Some(part) = view.selection().summary.measured(name) else {
        return not_measured(&[name]);
    };
    let points = view.selection().points.iter();
    let samples = points.filter_map(|point| part.samples.get(*point));
    let values = samples.clone().flat_map(|sample| &sample.values).flatten();
    let (mut sets, mut against) = (0, 0);
    for value in values {
        sets += 1;
        against += u64::from(*value > 0.0);
    }
    let rare = Interval::of_share(against, sets).high;
    let counts = samples.fold([0_u64; 2], |sum, sample| {
        [0, 1].map(|side| sum[side].saturating_add(sample.counts[side]))
    });
    Checked {
        verdict: verdict::from_evidence(rare < RARE, against > 0),
        numbers: format!(
            "{name}: {} of {} jobs, in {against} of {sets} sets; such sets are certainly fewer than {:.2} %; ours for never is {RARE}",
            counts[0],
            counts[1],
            100.0 * rare
        ),
    }
}

/// The mean is below the value before the first of these values of the axis, and above it behind the second: one value of the axis that is not so
/// refutes, all confirm.
#[must_use]
pub fn crosses(view: &View<'_>, name: &str, value: f64, (from, to): (f64, f64)) -> Checked {
    let Some(part) = view.selection().summary.measured(name) else {
        return not_measured(&[name]);
    };
    let means = means(view, part);
    let outside = means.iter().filter(|(x, _)| *x < from || *x > to);
    let verdicts = outside.clone().map(|(x, mean)| {
        let (below, above) = match interval(*mean).side_of(value) {
            Sign::Below => (true, false),
            Sign::Above => (false, true),
            Sign::Open => (false, false),
        };
        match *x < from {
            true => verdict::from_evidence(below, above),
            false => verdict::from_evidence(above, below),
        }
    });
    let nearest = means.iter().filter(|(x, _)| (from..=to).contains(x));
    let before = means.iter().rev().find(|(x, _)| *x < from);
    let behind = means.iter().find(|(x, _)| *x > to);
    let told = before.into_iter().chain(nearest).chain(behind);
    let told = told.map(|(x, mean)| format!("{} at {x}", shown(*mean)));
    Checked {
        verdict: verdict::all(verdicts),
        numbers: format!(
            "{name} {}; below {value} before {from}, above it behind {to} is meant, by {} values",
            told.collect::<Vec<_>>().join(", "),
            outside.count()
        ),
    }
}
