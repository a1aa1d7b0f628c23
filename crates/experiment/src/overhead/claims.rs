//! Rules for claims of papers about overheads, and for ours about our mechanisms, against what was measured.
//!
//! Intervals decide: those of the median of paired differences, or ratios, of runs of the same repetition, at
//! each number of tasks ([`vestal_statistics::median_interval`]). All intervals of one claim are right together
//! with 99 % confidence: where one number of tasks refutes, each of eight may only be wrong with an eighth of
//! one percent. What lies inside for certain confirms, what lies outside for certain refutes, and the rest is not
//! decided. Thresholds behind words such as "strongly" are ours; every finding names them, and the numbers of
//! tasks it rests on.

use super::paper::Measured;
use super::{Cell, Run, Table};
use crate::number::as_f64;
use crate::verdict;
use vestal_result::claim::{Finding, Verdict};
use vestal_statistics::{Quartiles, median_interval, spearman};

/// Rank correlations from here on are strong.
const STRONG: f64 = 0.7;
/// Switch counts within this are equal.
const EQUAL_SWITCHES: f64 = 2.0;
/// A busy period that is longer by at most this share of the baseline's is not longer.
const EQUAL_LENGTH: f64 = 0.001;

/// A claim about a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Whose it is: `paper` or `vestal`.
    pub of: &'static str,
    /// The claim in a sentence.
    pub text: &'static str,
    /// What data say of it, and by which numbers.
    pub check: fn(Measured<'_>) -> (Verdict, String),
}

impl Claim {
    pub(super) const fn of_paper(
        text: &'static str,
        check: fn(Measured<'_>) -> (Verdict, String),
    ) -> Self {
        let of = "paper";
        Self { of, text, check }
    }

    pub(super) const fn of_ours(
        text: &'static str,
        check: fn(Measured<'_>) -> (Verdict, String),
    ) -> Self {
        let of = "vestal";
        Self { of, text, check }
    }

    /// What becomes of it.
    #[must_use]
    pub fn finding(&self, measured: Measured<'_>) -> Finding {
        let (verdict, numbers) = (self.check)(measured);
        Finding {
            of: self.of.to_owned(),
            claim: self.text.to_owned(),
            verdict,
            numbers,
        }
    }
}

/// Whether busy periods of one column are shorter than those of another: at half of the numbers of tasks at least
/// for certain, and at none for certain not. With `or_equal`, not longer is meant, and longer is what exceeds
/// [`EQUAL_LENGTH`] of the baseline's.
pub(super) fn order(table: &Table, first: &str, second: &str, or_equal: bool) -> (Verdict, String) {
    let (Some(a), Some(b)) = (table.stands_for(first), table.stands_for(second)) else {
        return not_measured(&[first, second], table);
    };
    let (mut certain, mut contrary, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for &size in &table.sizes {
        let differences = table.differences(size, a, b, |run| run.busy_ns);
        let base = table
            .cell(size, table.paper.baseline)
            .and_then(|cell| cell.busy_ns);
        let room = base.map_or(0.0, |base| EQUAL_LENGTH * base.median);
        let bound = if or_equal { -room } else { f64::MIN_POSITIVE };
        let interval = median_interval(differences, table.sizes.len());
        let sizes = match inside(interval, bound, f64::INFINITY) {
            Verdict::Confirmed => &mut certain,
            Verdict::Refuted => &mut contrary,
            Verdict::NotDecided => &mut open,
        };
        sizes.push(size);
    }
    let half = table.sizes.len().div_ceil(2);
    let verdict = verdict::from_evidence(certain.len() >= half, !contrary.is_empty());
    let (yes, no) = match or_equal {
        true => ("not shorter", "shorter"),
        false => ("longer", "not longer"),
    };
    let room = match or_equal {
        true => format!(" (beyond {:.1} % of the baseline's)", EQUAL_LENGTH * 100.0),
        false => String::new(),
    };
    let numbers = format!(
        "{} against {}: {yes} with {}; {no}{room} with {}; undecided with {} tasks. In the median {}",
        table.paper.name_at(b),
        table.paper.name_at(a),
        listed(&certain),
        listed(&contrary),
        listed(&open),
        medians(table, a, b),
    );
    (verdict, numbers)
}

/// The medians of the differences, by number of tasks.
fn medians(table: &Table, first: usize, second: usize) -> String {
    let parts = table.sizes.iter().filter_map(|&size| {
        let differences = table.differences(size, first, second, |run| run.busy_ns);
        let spread = Quartiles::of(differences)?;
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

fn not_measured(columns: &[&str], table: &Table) -> (Verdict, String) {
    let missing = columns.iter().filter(|c| table.stands_for(c).is_none());
    let missing: Vec<&str> = missing.copied().collect();
    let numbers = format!("not measured: {}", missing.join(", "));
    (Verdict::NotDecided, numbers)
}

/// Extra time and extra switches rise together.
pub(super) fn correlation(table: &Table) -> (Verdict, String) {
    let (mut each, mut sizes) = (Vec::new(), Vec::new());
    let (mut extra, mut more) = (Vec::new(), Vec::new());
    for &size in &table.sizes {
        let base = table
            .cell(size, table.paper.baseline)
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
            sizes.push(size);
        }
        extra.extend(lengths);
        more.extend(switches);
    }
    let (Some(all), Some(spread)) = (spearman(&extra, &more), Quartiles::of(each.clone())) else {
        return (
            Verdict::NotDecided,
            "too few variants were measured".to_owned(),
        );
    };
    let shown: Vec<String> = each.iter().map(|one| format!("{one:.2}")).collect();
    let numbers = format!(
        "Spearman's rank correlation of extra time and extra switches: {all:.2} over all {} cells, by number of tasks {} (median {:.2}) with {}; ours for strong is {STRONG}, for certain by the interval of the median",
        extra.len(),
        shown.join(", "),
        spread.median,
        listed(&sizes)
    );
    (inside(median_interval(each, 1), STRONG, 1.0), numbers)
}

/// Both columns switch threads equally often. For the first one stands the first of these variants that was measured.
pub(super) fn equal_switches(
    table: &Table,
    (first, variants): (&str, &[&str]),
    second: &str,
) -> (Verdict, String) {
    let index = |name: &&str| table.paper.variant(name).map(|(index, _)| index);
    let measured = |index: &usize| table.variants.contains(index);
    let amc = variants
        .iter()
        .filter_map(index)
        .find(measured)
        .or_else(|| table.stands_for(first));
    let (Some(amc), Some(plrs)) = (amc, table.stands_for(second)) else {
        return not_measured(&[first, second], table);
    };
    let (verdict, shown) = by_size(table, (-EQUAL_SWITCHES, EQUAL_SWITCHES), |size| {
        table.differences(size, amc, plrs, |run| run.switches)
    });
    let numbers = format!(
        "{} minus {}: {shown}; equal is within {EQUAL_SWITCHES:.0}",
        table.paper.name_at(plrs),
        table.paper.name_at(amc)
    );
    (verdict, numbers)
}

/// A column takes at most as much longer than the baseline as the paper printed.
pub(super) fn at_most_as_printed(table: &Table, column: &str) -> (Verdict, String) {
    let Some(plrs) = table.stands_for(column) else {
        return not_measured(&[column], table);
    };
    let cells = table.paper.set.sizes.iter();
    let cells = cells.filter_map(|&size| (table.paper.printed.busy_period)(size, column));
    let most = cells.map(|cell| cell.overhead_milli_percent).max();
    let most = as_f64(most.unwrap_or(0)) / 1000.0;
    let bounds = (f64::NEG_INFINITY, most);
    let (verdict, shown) = by_size(table, bounds, |size| table.overheads_percent(size, plrs));
    let numbers = format!(
        "{}: in percent, at most {most:.3}: {shown}",
        table.paper.name_at(plrs)
    );
    (verdict, numbers)
}

/// The runs in which the managers' invocations are looked at: hyperperiods have all of their work, and those of
/// period transformation; without any, busy periods.
#[must_use]
pub fn of_managers<'a>(table: &'a Table, whole: &'a Table) -> &'a Table {
    match whole.runs().is_empty() {
        true => table,
        false => whole,
    }
}

/// Each of the columns costs more than the next, by the means of the invocations in a run: paired by repetition,
/// all numbers of tasks together.
pub(super) fn invocation_order(table: &Table, columns: &[&'static str]) -> (Verdict, String) {
    let rows = table.invocations();
    let found: Vec<(&str, usize, f64)> = columns
        .iter()
        .copied()
        .filter_map(|column| {
            let index = table.stands_for(column)?;
            let row = rows
                .iter()
                .find(|row| row.variant == table.paper.name_at(index))?;
            Some((column, index, row.invocations.mean_ns))
        })
        .collect();
    let parts: Vec<String> = found
        .iter()
        .map(|(_, index, mean)| format!("{} {:.2} us", table.paper.name_at(*index), mean / 1000.0))
        .collect();
    let steps = found.windows(2).map(|pair| {
        let sizes = table.sizes.iter();
        let pairs = sizes.flat_map(|&size| table.pairs(size, pair[1].1, pair[0].1));
        let differences = pairs.map(|(later, first)| first.manager.mean_ns - later.manager.mean_ns);
        median_interval(differences.collect(), columns.len() - 1)
    });
    let steps: Vec<Option<(f64, f64)>> = steps.collect();
    let shown: Vec<String> = steps.iter().map(|step| micros(*step)).collect();
    let missing = columns.iter().filter(|c| found.iter().all(|f| f.0 != **c));
    let missing: Vec<&str> = missing.copied().collect();
    let mut numbers = format!(
        "means: {}; each minus the next, paired, with {} tasks together: {}",
        parts.join(", "),
        listed(&table.sizes),
        shown.join(", ")
    );
    let mut verdicts: Vec<Verdict> = steps
        .into_iter()
        .map(|step| inside(step, f64::MIN_POSITIVE, f64::INFINITY))
        .collect();
    if !missing.is_empty() {
        numbers = format!("{numbers}; not measured: {}", missing.join(", "));
        // What is there can refute the order, and not confirm it.
        verdicts.push(Verdict::NotDecided);
    }
    (verdict::all(verdicts), numbers)
}

/// An interval of nanoseconds.
fn micros(interval: Option<(f64, f64)>) -> String {
    interval.map_or_else(
        || "too few runs".to_owned(),
        |(low, high)| format!("{:+.2} to {:+.2} us", low / 1000.0, high / 1000.0),
    )
}

/// Mechanisms of ours, of which the first that was measured counts, and the paper's.
pub(super) type Mechanisms = (&'static [&'static str], &'static str);

/// Whose CPU time is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accounts {
    /// That of the threads which are the run's own: manager, idle detector, watchdog.
    Own,
    /// With that of the workers outside the bodies of jobs.
    AndWorkers,
}

impl Accounts {
    fn of(self, run: &Run) -> f64 {
        as_f64(match self {
            Self::Own => run.own_cpu_ns,
            Self::AndWorkers => run.own_cpu_ns.saturating_add(run.workers_cpu_ns),
        })
    }
}

/// CPU time against that of the paper's mechanism, as a ratio in each repetition, at each number of tasks.
pub(super) fn own_cpu(
    table: &Table,
    (ours, theirs): Mechanisms,
    share: f64,
    accounts: Accounts,
) -> (Verdict, String) {
    let measured = |name: &&str| {
        let (index, _) = table.paper.variant(name)?;
        table.variants.contains(&index).then_some(index)
    };
    let (Some(own), Some(paper)) = (ours.iter().find_map(measured), measured(&theirs)) else {
        return (
            Verdict::NotDecided,
            format!("not measured: {} beside {theirs}", ours.join(" or ")),
        );
    };
    let ratios = |size: usize, accounts: Accounts| -> Vec<f64> {
        let pairs = table.pairs(size, own, paper);
        pairs
            .map(|(own, paper)| accounts.of(own) / accounts.of(paper).max(1.0))
            .collect()
    };
    let most = (f64::NEG_INFINITY, share);
    let (verdict, shown) = by_size(table, most, |size| ratios(size, accounts));
    let sum = |accounts: Accounts| {
        let sizes = table.sizes.iter();
        let sums = sizes.filter_map(|&size| {
            let pairs = || table.pairs(size, own, paper);
            let own = Quartiles::of(pairs().map(|(own, _)| accounts.of(own)).collect())?;
            let paper = Quartiles::of(pairs().map(|(_, paper)| accounts.of(paper)).collect())?;
            Some((own.median, paper.median))
        });
        sums.fold((0.0, 0.0), |(a, b), (own, paper)| (a + own, b + paper))
    };
    let total = |(own, paper): (f64, f64)| match paper > 0.0 {
        true => format!(
            "{:.0} us against {:.0} us, {:.2} of it",
            own / 1000.0,
            paper / 1000.0,
            own / paper
        ),
        false => "no pair of clean runs".to_owned(),
    };
    let numbers = format!(
        "{} against {theirs}, medians summed over the numbers of tasks: own threads alone {}; with the workers' time outside the bodies of jobs {}. The ratio that is judged, at most {share:.2}: {shown}",
        table.paper.name_at(own),
        total(sum(Accounts::Own)),
        total(sum(Accounts::AndWorkers)),
    );
    (verdict, numbers)
}

/// A variant switches threads hardly more often than the baseline.
pub(super) fn few_switches(table: &Table, variant: &str) -> (Verdict, String) {
    let Some((amc, _)) = table.paper.variant(variant) else {
        return (Verdict::NotDecided, "not measured".to_owned());
    };
    let most = (f64::NEG_INFINITY, EQUAL_SWITCHES);
    let (verdict, shown) = by_size(table, most, |size| {
        table.differences(size, table.paper.baseline, amc, |run| run.switches)
    });
    let numbers = format!(
        "{} minus {}: {shown}",
        table.paper.name_at(amc),
        table.paper.name_at(table.paper.baseline)
    );
    (verdict, numbers)
}

/// Whether an interval lies between bounds, these included: for certain if all of it does, certainly not if
/// nothing does.
pub(super) fn inside(interval: Option<(f64, f64)>, low: f64, high: f64) -> Verdict {
    match interval {
        Some((from, to)) => {
            verdict::from_evidence(low <= from && to <= high, to < low || high < from)
        }
        None => Verdict::NotDecided,
    }
}

/// Whether the median of values lies between bounds at each number of tasks, and the medians with their
/// intervals. One number of tasks refutes, all confirm.
fn by_size(
    table: &Table,
    (low, high): (f64, f64),
    values: impl Fn(usize) -> Vec<f64>,
) -> (Verdict, String) {
    let (mut verdicts, mut parts) = (Vec::new(), Vec::new());
    for &size in &table.sizes {
        let values = values(size);
        let count = values.len();
        let interval = median_interval(values.clone(), table.sizes.len());
        let shown =
            Quartiles::of(values).map_or_else(|| "-".to_owned(), |s| format!("{:+.2}", s.median));
        let certain = interval.map_or_else(
            || format!("{count} are too few"),
            |(from, to)| format!("{from:+.2} to {to:+.2}"),
        );
        let verdict = inside(interval, low, high);
        parts.push(format!("with {size} tasks {shown} ({certain}; {verdict})"));
        verdicts.push(verdict);
    }
    let shown = match parts.is_empty() {
        true => "nothing was measured".to_owned(),
        false => parts.join(", "),
    };
    (verdict::all(verdicts), shown)
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
