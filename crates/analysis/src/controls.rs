//! Wrong on purpose: tests with the mistakes that implementations of them have made.
//!
//! A soundness campaign simulates what a test accepts and looks for a miss. That it finds none in
//! the real tests shows something only if it finds one in these: they are its positive controls.
//! Never use them for anything else. They are not in [`crate::tests`], exist only with the feature
//! `controls`, and their kind is [`Kind::Unsafe`]: what they accept stands in
//! [`Outcome::claim`], and [`Test::accepts`] gives the same.
//!
//! Those for fixed priorities honour given ones and else run Audsley's algorithm on their wrong
//! bound; those for EDF-VD give the virtual deadlines to run with, on one CPU or on several. The code is slow and apart from
//! the real analyses, which therefore carry no switch for a mistake.

use crate::order;
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::task_id;
use crate::problem::{Problem, Row};
use crate::schedulability::amc_max::control::responses_without_plus_one;
use crate::schedulability::amc_rtb::control as amc_rtb;
use crate::schedulability::edf_vd::control as edf_vd;
use crate::schedulability::levels::control as levels;
use crate::schedulability::pedf_vd::control as pedf_vd;
use crate::schedulability::zss::control::{self as zss, Mistake};
use crate::schedulability::{ADAPTIVE, ZERO_SLACK};
use crate::tables::Tables;
use crate::test::{Test, test};
use core::cmp::Reverse;
use vestal_core::Duration;
use vestal_core::order::ClassicOrder;

/// All controls.
#[must_use]
pub fn tests() -> &'static [Test] {
    CONTROLS
}

#[rustfmt::skip]
const CONTROLS: &[Test] = &[
    test!("amc-rtb", Some("control-one-pass"), Unsafe, ADAPTIVE, [Priorities], Jobs,
        "WRONG: amc-rtb whose equation is evaluated once instead of to the fixed point",
        |problem| analyse(problem, responses_by_one_pass),
        Some(|problem, _| accepted_order(problem, responses_by_one_pass).is_ok())),
    test!("amc-rtb", Some("control-unchecked"), Unsafe, ADAPTIVE, [Priorities], Jobs,
        "WRONG: amc-rtb that never compares C(l) with the deadline",
        |problem| analyse(problem, responses_unchecked),
        Some(|problem, _| accepted_order(problem, responses_unchecked).is_ok())),
    test!("amc-rtb", Some("control-nothing-needed"), Unsafe, ADAPTIVE, [Priorities], Jobs,
        "WRONG: amc-rtb that takes a job that needs nothing for complete at once",
        |problem| analyse(problem, responses_with_nothing_needed),
        Some(|problem, _| accepted_order(problem, responses_with_nothing_needed).is_ok())),
    test!("amc-rtb", Some("control-degraded-dropped"), Unsafe, ADAPTIVE, [Priorities], Jobs,
        "WRONG: amc-rtb that takes tasks with a degraded budget for dropped",
        |problem| analyse(problem, responses_of_dropped),
        Some(|problem, _| accepted_order(problem, responses_of_dropped).is_ok())),
    test!("amc-rtb", Some("control-degraded-unguaranteed"), Unsafe, ADAPTIVE, [Priorities], Jobs,
        "WRONG: amc-rtb that does not ask when tasks with a degraded budget have executed it",
        amc_rtb::analyse_unguaranteed, None),
    test!("amc-max", Some("control-no-plus-one"), Unsafe, ADAPTIVE, [Priorities], Jobs,
        "WRONG: amc-max that forgets the job under way when the mode changes",
        |problem| analyse(problem, responses_without_plus_one),
        Some(|problem, _| accepted_order(problem, responses_without_plus_one).is_ok())),
    test!("zss", Some("control-tightened-everywhere"), Unsafe, ZERO_SLACK, [ZeroSlack], Jobs,
        "WRONG: zss that takes work for done whoever lets the task run",
        zss::analyse_tightened_everywhere,
        Some(zss::accepts_tightened_everywhere)),
    test!("zss", Some("control-latest"), Unsafe, ZERO_SLACK, [ZeroSlack], Jobs,
        "WRONG: zss that suspends no task before a deadline where rms accepts",
        zss::analyse_latest,
        None),
    test!("zss", Some("control-guaranteed-only"), Unsafe, ZERO_SLACK, [ZeroSlack], Jobs,
        "WRONG: zss that forgets that less critical tasks may be late",
        |problem| zss::analyse_mistaken(problem, Mistake::GuaranteedOnly),
        None),
    test!("zss", Some("control-nothing-carried-in"), Unsafe, ZERO_SLACK, [ZeroSlack], Jobs,
        "WRONG: zss that forgets suspended jobs under way",
        |problem| zss::analyse_mistaken(problem, Mistake::NothingCarriedIn),
        None),
    test!("zss", Some("control-never-overtaken"), Unsafe, ZERO_SLACK, [ZeroSlack], Jobs,
        "WRONG: zss that forgets who gets ahead when it is critical",
        |problem| zss::analyse_mistaken(problem, Mistake::NeverOvertaken),
        None),
    test!("edf-vd", Some("control-no-guard"), Unsafe, ADAPTIVE, [VirtualDeadlines], Jobs,
        "WRONG: edf-vd that does not ask whether the LO tasks alone fit",
        edf_vd::analyse_without_guard,
        Some(|problem, _| edf_vd::accepts_without_guard(problem))),
    test!("edf-vd", Some("control-rounded-up"), Unsafe, ADAPTIVE, [VirtualDeadlines], Jobs,
        "WRONG: edf-vd whose factor is rounded up to eighths",
        edf_vd::analyse_rounded_up,
        Some(|problem, _| edf_vd::accepts_by_theorem(problem))),
    test!("pedf-vd", Some("control-mode-0"), Unsafe, ADAPTIVE, [Partition, VirtualDeadlines], Jobs,
        "WRONG: pedf-vd that fills the CPUs with what the tasks need while nothing overruns",
        pedf_vd::analyse_mode_0, None).on_several_cpus(),
    test!("mc2", Some("control-no-burst"), Unsafe, None, [Partition, Tables, Tardiness], No,
        "WRONG: mc2 that takes what levels A and B leave for spread evenly",
        levels::analyse_without_burst, None).on_several_cpus(),
    test!("mc2", Some("control-any-periods"), Unsafe, None, [Partition, Tables, Tardiness], No,
        "WRONG: mc2 that adds up shares at level B, whatever the periods are",
        levels::analyse_any_periods, None).on_several_cpus(),
    test!("mc2", Some("control-own-cycle"), Unsafe, None, [Partition, Tables, Tardiness], No,
        "WRONG: mc2 that adds up shares at level B for multiples of level A's own hyperperiod, however long its table is",
        levels::analyse_own_cycle, None).on_several_cpus(),
];

/// A wrong way to find the window that an equation asks for: from the own execution time, the
/// right-hand side and the deadline.
type WrongSearch = fn(u64, &dyn Fn(u64) -> u64, u64) -> Option<u64>;

/// The mistake: the right-hand side for the window C_i(L) is taken for the response time. Jobs
/// released between C_i(L) and the end are forgotten.
fn one_pass(own: u64, needed: &dyn Fn(u64) -> u64, deadline: u64) -> Option<u64> {
    let window = needed(own);
    (own <= deadline && window <= deadline).then_some(window)
}

/// The mistake: the loop rejects an iterate beyond the deadline, but not the value it starts from.
/// Where nothing interferes, that value is a fixed point at once and comes back however large it
/// is. It takes a task with C_i(l) > D_i to see it.
fn unchecked(own: u64, needed: &dyn Fn(u64) -> u64, deadline: u64) -> Option<u64> {
    let mut window = own;
    loop {
        let next = needed(window);
        if next == window {
            return Some(window);
        }
        if next > deadline {
            return None;
        }
        window = next;
    }
}

/// The wrong R_i(L) of a task below others for each level up to its own; `None` if one exceeds the
/// deadline.
type WrongBound = fn(&Row, &[Row]) -> Option<Vec<u64>>;

fn responses_by_one_pass(row: &Row, more_urgent: &[Row]) -> Option<Vec<u64>> {
    responses(row, more_urgent, |row, level| row.wcet[level], one_pass)
}

fn responses_unchecked(row: &Row, more_urgent: &[Row]) -> Option<Vec<u64>> {
    responses(row, more_urgent, |row, level| row.wcet[level], unchecked)
}

/// No row knows of a degraded budget.
fn responses_of_dropped(row: &Row, more_urgent: &[Row]) -> Option<Vec<u64>> {
    let fits = row.own_wcet() <= row.deadline;
    fits.then(|| responses(row, more_urgent, |row, level| row.wcet[level], unchecked))?
}

fn responses_with_nothing_needed(row: &Row, more_urgent: &[Row]) -> Option<Vec<u64>> {
    let fits = row.own_wcet() <= row.deadline;
    fits.then(|| responses(row, more_urgent, Row::exact_wcet, unchecked))?
}

fn analyse(problem: &Problem, wrong: WrongBound) -> Outcome {
    let mut tasks = vec![TaskOutcome::default(); problem.rows().len()];
    let (order, why) = match accepted_order(problem, wrong) {
        Ok(order) => (order, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let count = order.len();
    for (position, row) in order.iter().enumerate() {
        let found = wrong(row, &order[..position]).unwrap_or_default();
        let computed = u32::try_from(count - position).unwrap_or(u32::MAX);
        let priority = problem
            .priorities()
            .map_or(computed, |given| given[row.task]);
        let responses = found
            .into_iter()
            .map(|nanos| Some(Duration::from_nanos(nanos)))
            .collect();
        tasks[row.task] = TaskOutcome {
            priority: Some(priority),
            responses,
            ..TaskOutcome::default()
        };
    }
    Outcome::decided(Kind::Unsafe, why, tasks)
}

/// An order, most urgent first, whose every task has a wrong bound.
fn accepted_order(problem: &Problem, wrong: WrongBound) -> Result<Vec<Row>, Reason> {
    let mut tables = Tables::default();
    order::rows_by_urgency(problem, ClassicOrder::DeadlineMonotonic, &mut tables);
    let mut left = tables.order;
    if problem.priorities().is_none() {
        left.sort_by_key(|row| (row.deadline, Reverse((row.criticality, row.task))));
    }
    let mut order = Vec::new();
    for priority in 1.. {
        let candidates = match problem.priorities() {
            Some(_) => left.len().saturating_sub(1)..left.len(),
            None => 0..left.len(),
        };
        if candidates.is_empty() {
            break;
        }
        let fits = |&position: &usize| {
            let mut others = left.clone();
            let row = others.remove(position);
            wrong(&row, &others).is_some()
        };
        let Some(position) = candidates.rev().find(fits) else {
            let left = left.iter().map(|row| task_id(row.task)).collect();
            return Err(Reason::NobodyFits { priority, left });
        };
        order.push(left.remove(position));
    }
    order.reverse();
    Ok(order)
}

/// The equation of `amc-rtb`, solved the wrong way.
fn responses(
    row: &Row,
    more_urgent: &[Row],
    cost: fn(&Row, usize) -> u64,
    search: WrongSearch,
) -> Option<Vec<u64>> {
    let mut found: Vec<u64> = Vec::new();
    for level in 0..=row.criticality {
        let needed = |window: u64| {
            more_urgent.iter().fold(cost(row, level), |sum, other| {
                let (until, each) = if other.criticality < level {
                    (found[other.criticality], other.own_wcet())
                } else {
                    (window, cost(other, level))
                };
                let jobs = until.div_ceil(other.period).max(1);
                sum.saturating_add(jobs.saturating_mul(each))
            })
        };
        let bound = search(cost(row, level), &needed, row.deadline)?;
        found.push(bound);
    }
    Some(found)
}
