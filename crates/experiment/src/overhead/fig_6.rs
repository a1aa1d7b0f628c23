//! The paper's claims about Fig. 6 against what the micro-benchmark found.
//!
//! A group of fresh threads is a repetition. Groups with different numbers of threads are not neighbours in time,
//! so that numbers of threads are compared by the intervals of their medians; what is compared within a group is
//! paired. All intervals of a claim are right together with 99 % confidence.

use super::claims::inside;
use super::paper::Printed;
use super::{Group, Preemptions};
use crate::number::as_f64;
use crate::verdict;
use vestal_result::claim::Verdict;
use vestal_statistics::{Quartiles, median_interval};

/// Costs that differ by no more than this factor over all numbers of threads do not depend on them.
const CONSTANT: f64 = 1.5;
/// A line that explains so much of the variance is what the values follow.
const LINEAR: f64 = 0.9;
/// The first adjustment costs far more from this factor on.
const FAR_MORE: f64 = 2.0;

/// Preemption and return cost as much whatever the number of threads.
pub(super) fn constant(rows: &[Preemptions], printed: &Printed) -> (Verdict, String) {
    if rows.len() < 3 {
        return too_few();
    }
    let of = |value: fn(&Group) -> u64| spans(rows, value, 2 * rows.len());
    let (preemption, back) = (of(|group| group.preemption_ns), of(|group| group.return_ns));
    let numbers = format!(
        "preemption {} us (paper: about {:.0}), return {} us (paper: about {:.0}), in intervals of the medians with {} threads; constant is within a factor of {CONSTANT}",
        shown(&preemption),
        as_f64(printed.preemption_ns) / 1000.0,
        shown(&back),
        as_f64(printed.return_ns) / 1000.0,
        threads(rows),
    );
    (
        verdict::all([&preemption, &back].map(|one| within(one, CONSTANT))),
        numbers,
    )
}

/// The interval of the median of the groups, by number of threads, as one of a family.
fn spans(rows: &[Preemptions], value: fn(&Group) -> u64, family: usize) -> Vec<Option<(f64, f64)>> {
    let rows = rows.iter();
    rows.map(|row| {
        let groups = row.groups.iter().map(|group| as_f64(value(group)));
        median_interval(groups.collect(), family)
    })
    .collect()
}

/// Whether the largest value is at most `factor` times the smallest.
fn within(intervals: &[Option<(f64, f64)>], factor: f64) -> Verdict {
    let known: Vec<(f64, f64)> = intervals.iter().copied().flatten().collect();
    let least = |of: fn(&(f64, f64)) -> f64| known.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, f64)) -> f64| known.iter().map(of).fold(0.0, f64::max);
    let all = known.len() == intervals.len() && !known.is_empty();
    let for_it = all && most(|one| one.1) <= factor * least(|one| one.0);
    let against = most(|one| one.0) > factor * least(|one| one.1);
    verdict::from_evidence(for_it, against)
}

/// A straight line through the medians explains all but a tenth of their variance, and rises. Noise, too, leaves
/// little to a line: what refutes is that besides no rising line keeps within the intervals of all medians.
pub(super) fn linear(rows: &[Preemptions], printed: &Printed) -> (Verdict, String) {
    if rows.len() < 3 {
        return too_few();
    }
    // One group of each number of threads at a time; any would do, because they are independent.
    let groups = rows.iter().map(|row| row.groups.len()).min().unwrap_or(0);
    let lines = (0..groups).filter_map(|number| {
        let of = |row: &Preemptions| row.groups.get(number).map(|group| group.later_ns);
        line(&points(rows, of))
    });
    let (slopes, explained): (Vec<f64>, Vec<f64>) = lines
        .map(|(slope, _, explained)| (slope, explained))
        .unzip();
    let both = verdict::all([
        inside(median_interval(slopes, 2), f64::MIN_POSITIVE, f64::INFINITY),
        inside(median_interval(explained.clone(), 2), LINEAR, 1.0),
    ]);
    let intervals = spans(rows, |group| group.later_ns, rows.len());
    let may_fit = a_line_may_fit(rows, &intervals);
    let verdict = match both {
        Verdict::Refuted if may_fit => Verdict::NotDecided,
        Verdict::Confirmed | Verdict::Refuted | Verdict::NotDecided => both,
    };
    let all = line(&points(rows, |row| Some(row.later_ns.0)));
    let fitted = all.map_or_else(
        || "the medians lie on no line".to_owned(),
        |(slope, offset, explained)| {
            let of_8 = (offset + 8.0 * slope) / 1000.0;
            format!(
                "{:.2} us and {:.2} us more for each thread explain {:.1} % of the variance of the medians; 8 threads take {of_8:.1} us (paper: about {:.0})",
                offset / 1000.0,
                slope / 1000.0,
                explained * 100.0,
                as_f64(printed.adjustment_of_8_ns) / 1000.0,
            )
        },
    );
    let numbers = format!(
        "{fitted}; group by group {} with {} threads; {} rising line keeps within the intervals of all medians; linear is {:.0} %",
        percent(median_interval(explained, 2)),
        threads(rows),
        if may_fit { "a" } else { "no" },
        LINEAR * 100.0
    );
    (verdict, numbers)
}

/// Whether some rising line keeps within all intervals; one that is not known excludes none. For a slope a, a
/// line does if and only if low_i - a x_i <= high_j - a x_j for all i and j, which bounds a.
fn a_line_may_fit(rows: &[Preemptions], intervals: &[Option<(f64, f64)>]) -> bool {
    let known = || {
        let rows = rows.iter().zip(intervals);
        rows.filter_map(|(row, interval)| interval.map(|found| (as_f64(row.threads as u64), found)))
    };
    let (mut least, mut most) = (f64::MIN_POSITIVE, f64::INFINITY);
    for (x, (low, high)) in known() {
        for (later, (from, to)) in known().filter(|(later, _)| *later > x) {
            least = least.max((from - high) / (later - x));
            most = most.min((to - low) / (later - x));
        }
    }
    least <= most
}

fn points(rows: &[Preemptions], value: impl Fn(&Preemptions) -> Option<u64>) -> Vec<(f64, f64)> {
    let rows = rows.iter();
    rows.filter_map(|row| Some((as_f64(row.threads as u64), as_f64(value(row)?))))
        .collect()
}

/// Least squares: slope, offset, and the share of the variance that they explain.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    if points.len() < 3 {
        return None;
    }
    let n = as_f64(points.len() as u64);
    let (x, y) = points
        .iter()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|&(a, b)| f(a - x, b - y)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|a, _| a * a), sum(&|a, b| a * b), sum(&|_, b| b * b));
    if xx <= 0.0 || yy <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    // Rounding may lead a little beyond.
    let explained = (xy * xy / (xx * yy)).min(1.0);
    Some((slope, y - slope * x, explained))
}

/// With each number of threads, the first adjustment costs a multiple of the later ones in the same group.
pub(super) fn first_is_dearer(rows: &[Preemptions]) -> (Verdict, String) {
    let ratios = |row: &Preemptions| -> Vec<f64> {
        let groups = row.groups.iter().filter(|group| group.later_ns > 0);
        groups
            .map(|group| as_f64(group.first_ns) / as_f64(group.later_ns))
            .collect()
    };
    let (mut verdicts, mut parts) = (Vec::new(), Vec::new());
    for row in rows {
        let found = median_interval(ratios(row), rows.len());
        let verdict = inside(found, FAR_MORE, f64::INFINITY);
        let middle = Quartiles::of(ratios(row));
        parts.push(format!(
            "{} ({}; {verdict})",
            middle.map_or_else(|| "-".to_owned(), |s| format!("{:.2}", s.median)),
            found.map_or_else(
                || "too few groups".to_owned(),
                |(low, high)| format!("{low:.2} to {high:.2}")
            )
        ));
        verdicts.push(verdict);
    }
    let numbers = match parts.is_empty() {
        true => "not measured".to_owned(),
        false => format!(
            "the first adjustment is the median of later ones of its group times, with {} threads, {}; far more is {FAR_MORE} times",
            threads(rows),
            parts.join(", ")
        ),
    };
    (verdict::all(verdicts), numbers)
}

fn too_few() -> (Verdict, String) {
    let numbers = "fewer than three numbers of threads".to_owned();
    (Verdict::NotDecided, numbers)
}

fn threads(rows: &[Preemptions]) -> String {
    let all: Vec<String> = rows.iter().map(|row| row.threads.to_string()).collect();
    all.join(" ")
}

/// Intervals in microseconds.
fn shown(intervals: &[Option<(f64, f64)>]) -> String {
    let each = intervals.iter().map(|one| match one {
        Some((low, high)) => format!("{:.2}-{:.2}", low / 1000.0, high / 1000.0),
        None => "too few".to_owned(),
    });
    each.collect::<Vec<String>>().join(", ")
}

fn percent(interval: Option<(f64, f64)>) -> String {
    interval.map_or_else(
        || "too few groups".to_owned(),
        |(low, high)| format!("{:.1} to {:.1} %", low * 100.0, high * 100.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overhead::HUANG2014;

    #[test]
    fn a_line_is_found() {
        let (slope, offset, explained) = line(&[(1.0, 3.0), (2.0, 5.0), (4.0, 9.0)]).unwrap();
        assert!((slope - 2.0).abs() < 1e-9 && (offset - 1.0).abs() < 1e-9);
        assert!((explained - 1.0).abs() < 1e-9 && explained <= 1.0);
        assert_eq!(line(&[(1.0, 3.0), (2.0, 5.0)]), None);
    }

    #[test]
    fn a_factor_is_kept_or_exceeded_only_where_no_interval_says_otherwise() {
        let verdict = |all: &[(f64, f64)]| {
            let all: Vec<_> = all.iter().map(|one| Some(*one)).collect();
            within(&all, 1.5)
        };
        assert_eq!(verdict(&[(10.0, 12.0), (11.0, 15.0)]), Verdict::Confirmed);
        assert_eq!(verdict(&[(10.0, 12.0), (11.0, 15.1)]), Verdict::NotDecided);
        assert_eq!(verdict(&[(10.0, 12.0), (18.0, 25.0)]), Verdict::NotDecided);
        assert_eq!(verdict(&[(10.0, 12.0), (18.1, 25.0)]), Verdict::Refuted);
        assert_eq!(verdict(&[]), Verdict::NotDecided);
        let some = |other| within(&[Some((10.0, 12.0)), None, other], 1.5);
        assert_eq!(some(Some((10.0, 12.0))), Verdict::NotDecided);
        assert_eq!(some(Some((19.0, 20.0))), Verdict::Refuted);
    }

    const ALIKE: Group = Group {
        preemption_ns: 1000,
        return_ns: 1000,
        first_ns: 1000,
        later_ns: 1000,
    };

    /// Twelve equal groups for each number of threads.
    fn rows(of_threads: fn(u64) -> Group) -> Vec<Preemptions> {
        let rows = [1, 2, 4, 8, 12].map(|threads: u64| {
            let group = of_threads(threads);
            Preemptions {
                threads: threads as usize,
                preemption_ns: (group.preemption_ns, 0),
                return_ns: (group.return_ns, 0),
                first_ns: (group.first_ns, 0),
                later_ns: (group.later_ns, 0.0, 0),
                groups: vec![group; 12],
            }
        });
        rows.to_vec()
    }

    #[test]
    fn constant_is_within_a_factor_of_one_and_a_half() {
        let verdict = |of_threads| constant(&rows(of_threads), &HUANG2014.printed).0;
        assert_eq!(verdict(|_| ALIKE), Verdict::Confirmed);
        let found = verdict(|threads| Group {
            preemption_ns: 1000 + 500 * (threads / 12),
            ..ALIKE
        });
        assert_eq!(found, Verdict::Confirmed);
        let found = verdict(|threads| Group {
            preemption_ns: 1000 + 501 * (threads / 12),
            ..ALIKE
        });
        assert_eq!(found, Verdict::Refuted);
        let found = verdict(|threads| Group {
            return_ns: 1000 + 501 * (threads / 12),
            ..ALIKE
        });
        assert_eq!(found, Verdict::Refuted);
    }

    #[test]
    fn far_more_is_twice() {
        let verdict = |of_threads| first_is_dearer(&rows(of_threads)).0;
        let found = verdict(|_| Group {
            first_ns: 2000,
            ..ALIKE
        });
        assert_eq!(found, Verdict::Confirmed);
        let found = verdict(|_| Group {
            first_ns: 1999,
            ..ALIKE
        });
        assert_eq!(found, Verdict::Refuted);
    }

    /// 0 0 0 8 12 beside 1 2 4 8 12 lie on a rising line by 94 %, and 0 0 0 13 13 by 85 %.
    #[test]
    fn linear_is_ninety_percent_of_the_variance_and_rising() {
        let verdict = |of_threads| linear(&rows(of_threads), &HUANG2014.printed).0;
        let found = verdict(|threads| Group {
            later_ns: if threads < 8 {
                1000
            } else {
                1000 + 1000 * threads
            },
            ..ALIKE
        });
        assert_eq!(found, Verdict::Confirmed);
        let found = verdict(|threads| Group {
            later_ns: if threads < 8 { 1000 } else { 14_000 },
            ..ALIKE
        });
        assert_eq!(found, Verdict::Refuted);
        let found = verdict(|threads| Group {
            later_ns: 100_000 - 1000 * threads,
            ..ALIKE
        });
        assert_eq!(found, Verdict::Refuted);
    }

    /// Noise that hides a line in every group does not refute it.
    #[test]
    fn a_line_in_noise_is_not_decided() {
        let mut rows = rows(|threads| Group {
            later_ns: 20_000 + 100 * threads,
            ..ALIKE
        });
        for (index, row) in rows.iter_mut().enumerate() {
            for (number, group) in row.groups.iter_mut().enumerate() {
                group.later_ns += 1000 * ((number + index * index) % 5) as u64;
            }
        }
        let (verdict, numbers) = linear(&rows, &HUANG2014.printed);
        assert_eq!(verdict, Verdict::NotDecided, "{numbers}");
        let explained = (0..12).filter_map(|number| {
            let later = |row: &Preemptions| Some(row.groups[number].later_ns);
            line(&points(&rows, later)).map(|(_, _, explained)| explained)
        });
        let interval = median_interval(explained.collect(), 2);
        assert_eq!(
            inside(interval, LINEAR, 1.0),
            Verdict::Refuted,
            "{interval:?}"
        );
    }

    #[test]
    fn a_line_fits_if_it_keeps_within_every_interval() {
        let rows = rows(|_| ALIKE);
        let fits = |intervals: [(f64, f64); 5]| a_line_may_fit(&rows, &intervals.map(Some));
        // 1 2 4 8 12 threads.
        assert!(fits([
            (1.0, 1.0),
            (2.0, 2.0),
            (4.0, 4.0),
            (8.0, 8.0),
            (12.0, 12.0)
        ]));
        assert!(fits([
            (0.0, 2.0),
            (0.0, 2.0),
            (0.0, 4.0),
            (8.0, 9.0),
            (12.0, 15.0)
        ]));
        assert!(!fits([
            (0.0, 0.0),
            (0.0, 0.0),
            (0.0, 4.0),
            (8.0, 9.0),
            (12.0, 15.0)
        ]));
        assert!(!fits([
            (3.0, 4.0),
            (2.0, 3.0),
            (1.0, 2.0),
            (0.0, 1.0),
            (0.0, 0.5)
        ]));
        let unknown = [
            Some((0.0, 0.0)),
            Some((0.0, 0.0)),
            None,
            Some((8.0, 9.0)),
            None,
        ];
        assert!(!a_line_may_fit(&rows, &unknown));
        assert!(a_line_may_fit(&rows, &[None; 5]));
    }
}
