//! The paper's claims about Table II, Fig. 5, Table III and Fig. 6, and ours about our mechanisms, against
//! what was measured.
//!
//! Orders between busy periods are decided by paired differences with 99 % confidence at each number of
//! tasks (see [`super::statistics::sign`]). Thresholds behind words such as "strongly" are ours; every
//! finding names them.

use super::paper;
use super::result::as_f64;
use super::statistics::{Sign, Spread, sign, spearman};
use super::{BASELINE, Cell, Column, Preemptions, Table, VARIANTS, Variant};
use serde::Serialize;
use std::fmt;

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The data say yes.
    Confirmed,
    /// They say no.
    Refuted,
    /// They say neither, or what the claim speaks of was not measured.
    NotDecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::NotDecided => "not decided",
        })
    }
}

impl Verdict {
    const fn of(holds: bool) -> Self {
        if holds {
            Self::Confirmed
        } else {
            Self::Refuted
        }
    }
}

/// A claim with what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Whose it is: `paper` or `vestal`.
    pub of: &'static str,
    /// The claim in a sentence.
    pub claim: &'static str,
    /// What became of it.
    pub verdict: Verdict,
    /// By which numbers.
    pub numbers: String,
}

/// Rank correlations from here on are strong.
const STRONG: f64 = 0.7;
/// Costs that differ by less than this factor from the fewest to the most threads do not depend on them.
const CONSTANT: f64 = 1.5;
/// Switch counts within this are equal.
const EQUAL_SWITCHES: f64 = 2.0;
/// PLRS takes at most this much longer than FTP-SMC in the paper, in percent.
const PLRS_MOST_PERCENT: f64 = 4.205;

/// Every claim, in the order of the paper; ours last. `table` is of busy periods, `whole` of hyperperiods,
/// in which also a policy that holds jobs back on a free CPU has done what others have.
#[must_use]
pub fn findings(table: &Table, whole: &Table, preemptions: &[Preemptions]) -> Vec<Finding> {
    let paper = |claim, (verdict, numbers)| Finding {
        of: "paper",
        claim,
        verdict,
        numbers,
    };
    let ours = |claim, (verdict, numbers)| Finding {
        of: "vestal",
        claim,
        verdict,
        numbers,
    };
    use Column::{FtpAmc, FtpSmc, Plrs, Pt, Zss};
    vec![
        paper(
            "Busy periods are shorter under FTP-SMC than under ZSS.",
            order(table, FtpSmc, Zss, false),
        ),
        paper(
            "They are shorter under ZSS than under FTP-AMC.",
            order(table, Zss, FtpAmc, false),
        ),
        paper(
            "They are not longer under FTP-AMC than under PLRS.",
            order(table, FtpAmc, Plrs, true),
        ),
        paper(
            "They are shorter under PLRS than under PT.",
            order(table, Plrs, Pt, false),
        ),
        paper(
            "Overheads correlate strongly with thread switches.",
            correlation(table),
        ),
        paper(
            "FTP-AMC and PLRS switch threads equally often.",
            equal_switches(table),
        ),
        paper(
            "PLRS takes at most 4.2 % longer than FTP-SMC.",
            plrs_at_most(table),
        ),
        paper(
            "An invocation of the manager costs most under PLRS, then FTP-AMC, PT, ZSS.",
            invocation_order(table),
        ),
        paper(
            "Preemption and return do not depend on the number of threads.",
            constant(preemptions),
        ),
        paper(
            "The cost of adjusting priorities is linear in the number of threads.",
            linear(preemptions),
        ),
        paper(
            "The first adjustment costs far more than later ones.",
            first_is_dearer(preemptions),
        ),
        ours(
            "Our threads' CPU time per busy period is at most a third of the paper's mechanism for amc.",
            own_cpu(table, &["amc/perf"], "amc/huang2014", 1.0 / 3.0),
        ),
        ours(
            "Our threads' CPU time per hyperperiod is at most half of the paper's mechanism for pt.",
            own_cpu(whole, &["pt/native", "pt/managed"], "pt/huang2014", 0.5),
        ),
        ours(
            "So it is at most a third for amc, per hyperperiod.",
            own_cpu(whole, &["amc/perf"], "amc/huang2014", 1.0 / 3.0),
        ),
        ours(
            "Native amc switches threads at most twice more per busy period than FTP-SMC.",
            few_switches(table),
        ),
    ]
}

/// Whether busy periods of one column are shorter than those of another: at no number of tasks the other way
/// round, and at half of them at least for certain. With `or_equal` nothing has to be certain but that there
/// were repetitions enough to find the contrary.
fn order(table: &Table, first: Column, second: Column, or_equal: bool) -> (Verdict, String) {
    let (Some(a), Some(b)) = (table.stands_for(first), table.stands_for(second)) else {
        return not_measured(&[first, second], table);
    };
    let (mut above, mut below, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for &size in &table.sizes {
        match table.compared(size, a, b) {
            Sign::Above => above.push(size),
            Sign::Below => below.push(size),
            Sign::Open => open.push(size),
        }
    }
    let half = table.sizes.len().div_ceil(2);
    let decidable = table.sizes.iter().filter(|&&size| {
        let differences = table.differences(size, a, b, |run| run.busy_ns);
        sign(vec![1.0; differences.len()]) == Sign::Above
    });
    let verdict = if !below.is_empty() {
        Verdict::Refuted
    } else if above.len() >= half || or_equal && decidable.count() >= half {
        Verdict::Confirmed
    } else {
        Verdict::NotDecided
    };
    let numbers = format!(
        "{} against {}: longer with {}; shorter with {}; undecided with {} tasks. In the median {}",
        name(b),
        name(a),
        listed(&above),
        listed(&below),
        listed(&open),
        medians(table, a, b),
    );
    (verdict, numbers)
}

/// The medians of the differences, by number of tasks.
fn medians(table: &Table, first: usize, second: usize) -> String {
    let parts = table.sizes.iter().filter_map(|&size| {
        let differences = table.differences(size, first, second, |run| run.busy_ns);
        let spread = Spread::of(differences)?;
        Some(format!("{:+.1}", spread.median / 1000.0))
    });
    format!("{} us", parts.collect::<Vec<_>>().join(", "))
}

fn listed(sizes: &[usize]) -> String {
    match sizes.is_empty() {
        true => "none".to_owned(),
        false => sizes
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn name(place: usize) -> &'static str {
    VARIANTS.get(place).map_or("?", |variant| variant.name)
}

fn not_measured(columns: &[Column], table: &Table) -> (Verdict, String) {
    let missing = columns.iter().filter(|&&c| table.stands_for(c).is_none());
    let missing: Vec<&str> = missing.map(|column| column.name()).collect();
    let numbers = format!("not measured: {}", missing.join(", "));
    (Verdict::NotDecided, numbers)
}

fn correlation(table: &Table) -> (Verdict, String) {
    let mut each = Vec::new();
    let (mut extra, mut more) = (Vec::new(), Vec::new());
    for &size in &table.sizes {
        let base = table
            .cell(size, BASELINE)
            .map_or(0.0, Cell::median_switches);
        let cells: Vec<&Cell> = table
            .cells
            .iter()
            .filter(|cell| cell.size == size)
            .collect();
        let pairs = cells
            .iter()
            .filter_map(|cell| Some((cell.extra_ns?.median, cell.switches?.median - base)));
        let (lengths, switches): (Vec<f64>, Vec<f64>) = pairs.unzip();
        if let Some(found) = spearman(&lengths, &switches) {
            each.push(found);
        }
        extra.extend(lengths);
        more.extend(switches);
    }
    let (Some(all), Some(spread)) = (spearman(&extra, &more), Spread::of(each.clone())) else {
        return (
            Verdict::NotDecided,
            "too few variants were measured".to_owned(),
        );
    };
    let each: Vec<String> = each.iter().map(|one| format!("{one:.2}")).collect();
    let numbers = format!(
        "Spearman's rank correlation of extra time and extra switches: {all:.2} over all {} cells, by number of tasks {} (median {:.2}); ours for strong is {STRONG}",
        extra.len(),
        each.join(", "),
        spread.median
    );
    (
        Verdict::of(all >= STRONG && spread.median >= STRONG),
        numbers,
    )
}

fn equal_switches(table: &Table) -> (Verdict, String) {
    // With the same dispatcher if there is one: the paper had one for both.
    let place = |name| Variant::named(name).map(|(place, _)| place);
    let amc = ["amc/huang2014", "amc/managed"]
        .into_iter()
        .filter_map(place)
        .find(|place| table.variants.contains(place))
        .or_else(|| table.stands_for(Column::FtpAmc));
    let (Some(amc), Some(plrs)) = (amc, table.stands_for(Column::Plrs)) else {
        return not_measured(&[Column::FtpAmc, Column::Plrs], table);
    };
    let each = table.sizes.iter().map(|&size| {
        let differences = table.differences(size, amc, plrs, |run| run.switches);
        Difference::within(differences, -EQUAL_SWITCHES, EQUAL_SWITCHES)
    });
    let (verdict, shown) = Difference::all(each);
    let numbers = format!(
        "{} minus {}: {shown}; equal is within {EQUAL_SWITCHES:.0}",
        name(plrs),
        name(amc)
    );
    (verdict, numbers)
}

fn plrs_at_most(table: &Table) -> (Verdict, String) {
    let Some(plrs) = table.stands_for(Column::Plrs) else {
        return not_measured(&[Column::Plrs], table);
    };
    let each = table.sizes.iter().map(|&size| {
        let shares = table.overheads_percent(size, plrs);
        Difference::within(shares, f64::NEG_INFINITY, PLRS_MOST_PERCENT)
    });
    let (verdict, shown) = Difference::all(each);
    (verdict, format!("{}: in the median {shown} %", name(plrs)))
}

fn invocation_order(table: &Table) -> (Verdict, String) {
    let rows = table.invocations();
    let columns = [Column::Plrs, Column::FtpAmc, Column::Pt, Column::Zss];
    let found: Vec<(Column, &'static str, f64)> = columns
        .into_iter()
        .filter_map(|column| {
            let variant = VARIANTS.get(table.stands_for(column)?)?;
            let row = rows.iter().find(|row| row.variant == variant.name)?;
            Some((column, variant.name, row.invocations.mean_ns))
        })
        .collect();
    let parts: Vec<String> = found
        .iter()
        .map(|(_, name, mean)| format!("{name} {:.2} us", mean / 1000.0))
        .collect();
    let falls = found.windows(2).all(|pair| pair[0].2 > pair[1].2);
    let numbers = format!("means: {}", parts.join(", "));
    if found.len() < columns.len() {
        let missing = columns.iter().filter(|c| found.iter().all(|f| f.0 != **c));
        let missing: Vec<&str> = missing.map(|column| column.name()).collect();
        let numbers = format!("{numbers}; not measured: {}", missing.join(", "));
        // What is there can refute the order, and not confirm it.
        let verdict = if falls {
            Verdict::NotDecided
        } else {
            Verdict::Refuted
        };
        return (verdict, numbers);
    }
    (Verdict::of(falls), numbers)
}

fn constant(rows: &[Preemptions]) -> (Verdict, String) {
    if rows.len() < 3 {
        return (
            Verdict::NotDecided,
            "fewer than three numbers of threads".to_owned(),
        );
    }
    let ratio = |value: fn(&Preemptions) -> u64| {
        let values = || rows.iter().map(|row| as_f64(value(row)));
        let low = values().fold(f64::INFINITY, f64::min);
        (low, values().fold(0.0, f64::max))
    };
    let (preemption, back) = (
        ratio(|row| row.preemption_ns.0),
        ratio(|row| row.return_ns.0),
    );
    let holds = preemption.1 <= CONSTANT * preemption.0 && back.1 <= CONSTANT * back.0;
    let numbers = format!(
        "medians of preemption {:.2} to {:.2} us (paper: about {:.0}), of return {:.2} to {:.2} us (paper: about {:.0}); constant is within a factor of {CONSTANT}",
        preemption.0 / 1000.0,
        preemption.1 / 1000.0,
        as_f64(paper::PREEMPTION_NS) / 1000.0,
        back.0 / 1000.0,
        back.1 / 1000.0,
        as_f64(paper::RETURN_NS) / 1000.0,
    );
    (Verdict::of(holds), numbers)
}

/// A straight line through the medians explains all but a tenth of their variance, and rises.
fn linear(rows: &[Preemptions]) -> (Verdict, String) {
    #[expect(clippy::cast_precision_loss, reason = "a number of threads")]
    let points: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| (row.threads as f64, as_f64(row.later_ns.0)))
        .collect();
    let Some((slope, offset, explained)) = line(&points) else {
        return (
            Verdict::NotDecided,
            "fewer than three numbers of threads".to_owned(),
        );
    };
    let of_8 = (offset + 8.0 * slope) / 1000.0;
    let numbers = format!(
        "{:.2} us and {:.2} us more for each thread explain {:.1} % of the variance of the medians; 8 threads take {of_8:.1} us (paper: about {:.0}); linear is 90 %",
        offset / 1000.0,
        slope / 1000.0,
        explained * 100.0,
        as_f64(paper::ADJUSTMENT_OF_8_NS) / 1000.0,
    );
    (Verdict::of(slope > 0.0 && explained >= 0.9), numbers)
}

/// Least squares: slope, offset, and the share of the variance that they explain.
#[expect(clippy::cast_precision_loss, reason = "a few points")]
fn line(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    if points.len() < 3 {
        return None;
    }
    let n = points.len() as f64;
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
    Some((slope, y - slope * x, xy * xy / (xx * yy)))
}

fn first_is_dearer(rows: &[Preemptions]) -> (Verdict, String) {
    let ratios: Vec<f64> = rows
        .iter()
        .filter(|row| row.later_ns.0 > 0)
        .map(|row| as_f64(row.first_ns.0) / as_f64(row.later_ns.0))
        .collect();
    let shown: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    let numbers = format!(
        "the median of first adjustments is that of later ones times {}; far more is twice, everywhere",
        shown.join(", ")
    );
    match ratios.is_empty() {
        true => (Verdict::NotDecided, "not measured".to_owned()),
        false => (
            Verdict::of(ratios.iter().all(|ratio| *ratio >= 2.0)),
            numbers,
        ),
    }
}

/// CPU time of our threads against that of the paper's mechanism, summed over the numbers of tasks.
fn own_cpu(table: &Table, ours: &[&str], theirs: &str, share: f64) -> (Verdict, String) {
    let measured = |name: &&str| {
        let (place, _) = Variant::named(name)?;
        table.variants.contains(&place).then_some(place)
    };
    let (Some(own), Some(paper)) = (ours.iter().find_map(measured), measured(&theirs)) else {
        return (
            Verdict::NotDecided,
            format!("not measured: {} beside {theirs}", ours.join(" or ")),
        );
    };
    let sums = |value: fn(&Cell) -> Option<Spread>| {
        let pairs = table.sizes.iter().filter_map(|&size| {
            let own = value(table.cell(size, own)?)?;
            let paper = value(table.cell(size, paper)?)?;
            Some((own.median, paper.median))
        });
        pairs.fold((0.0, 0.0), |(a, b), (own, paper)| (a + own, b + paper))
    };
    let (raw, net) = (
        sums(|cell| cell.own_cpu_ns),
        sums(|cell| cell.own_cpu_extra_ns),
    );
    let workers = sums(|cell| cell.workers_cpu_ns);
    let numbers = format!(
        "{} {:.0} us, {theirs} {:.0} us, {:.2} of it, medians summed over all numbers of tasks; without what beginning and ending a run costs {:.0} and {:.0} us. Their workers take {:.0} and {:.0} us outside the bodies of jobs, which is not in that",
        name(own),
        raw.0 / 1000.0,
        raw.1 / 1000.0,
        raw.0 / raw.1,
        net.0 / 1000.0,
        net.1 / 1000.0,
        workers.0 / 1000.0,
        workers.1 / 1000.0,
    );
    match raw.1 > 0.0 {
        true => (Verdict::of(raw.0 <= share * raw.1), numbers),
        false => (Verdict::NotDecided, "no clean run".to_owned()),
    }
}

fn few_switches(table: &Table) -> (Verdict, String) {
    let Some((amc, _)) = Variant::named("amc/perf") else {
        return (Verdict::NotDecided, "not measured".to_owned());
    };
    let each = table.sizes.iter().map(|&size| {
        let differences = table.differences(size, BASELINE, amc, |run| run.switches);
        Difference::within(differences, f64::NEG_INFINITY, EQUAL_SWITCHES)
    });
    let (verdict, shown) = Difference::all(each);
    (verdict, format!("in the median {shown}"))
}

/// Paired differences at one number of tasks, against bounds.
struct Difference {
    verdict: Verdict,
    median: Option<f64>,
}

impl Difference {
    /// Refuted if the median lies outside for certain, confirmed if it lies inside and there are
    /// differences enough to find the contrary.
    fn within(differences: Vec<f64>, low: f64, high: f64) -> Self {
        let beyond = |bound: f64, side: Sign| {
            let shifted = differences.iter().map(|one| one - bound).collect();
            bound.is_finite() && sign(shifted) == side
        };
        let outside = beyond(high, Sign::Above) || beyond(low, Sign::Below);
        let enough = sign(vec![1.0; differences.len()]) == Sign::Above;
        let median = Spread::of(differences).map(|spread| spread.median);
        let inside = median.is_some_and(|median| (low..=high).contains(&median));
        let verdict = match (outside, inside && enough) {
            (true, _) => Verdict::Refuted,
            (false, true) => Verdict::Confirmed,
            (false, false) => Verdict::NotDecided,
        };
        Self { verdict, median }
    }

    /// Of all numbers of tasks, and the medians: one refutes, all confirm.
    fn all(each: impl Iterator<Item = Self>) -> (Verdict, String) {
        let each: Vec<Self> = each.collect();
        let has = |verdict| each.iter().any(|one| one.verdict == verdict);
        let verdict = if has(Verdict::Refuted) {
            Verdict::Refuted
        } else if each.is_empty() || has(Verdict::NotDecided) {
            Verdict::NotDecided
        } else {
            Verdict::Confirmed
        };
        let shown = each.iter().map(|one| match one.median {
            Some(median) => format!("{median:+.2}"),
            None => "-".to_owned(),
        });
        (verdict, shown.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
