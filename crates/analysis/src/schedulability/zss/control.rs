//! Wrong ways to prove zero-slack instants.

use crate::assumptions::trivially_infeasible;
use crate::demand::Bound;
use crate::fixed_priority::excess;
use crate::order;
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::problem::{Problem, Row};
use crate::schedulability::classic;
use crate::schedulability::zss::slack::{Form, Tightening};
use crate::schedulability::zss::{accepts_form, analyse_form, with_instants};
use crate::scratch::Scratch;
use crate::tables::Tables;
use vestal_core::order::ClassicOrder;

/// The mistake: a more critical, less urgent task j is always charged less by what it is sure to have
/// done before its zero-slack instant. A third task that suspends i but not j lets j do that work
/// ahead of i.
const TIGHTENED_EVERYWHERE: Form = Form {
    carry_in: true,
    tightening: Tightening::Everywhere,
};

pub(crate) fn analyse_tightened_everywhere(problem: &Problem) -> Outcome {
    analyse_form(problem, Kind::Unsafe, TIGHTENED_EVERYWHERE)
}

pub(crate) fn accepts_tightened_everywhere(problem: &Problem, scratch: &mut Scratch) -> bool {
    accepts_form(problem, TIGHTENED_EVERYWHERE, scratch)
}

/// What a search for instants forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// That less critical tasks have to be complete before their deadlines, too, if no task is to be
    /// suspended in a level's runs: a late one suspends its like, which are carried in.
    GuaranteedOnly,
    /// That less critical tasks have jobs under way.
    NothingCarriedIn,
    /// That a critical job gets ahead of a more urgent, less critical task.
    NeverOvertaken,
}

pub(crate) fn analyse_mistaken(problem: &Problem, mistake: Mistake) -> Outcome {
    analyse(problem, &|order| instants(order, mistake))
}

/// The mistake: what `rms` accepts needs no task to be suspended before the deadlines.
pub(crate) fn analyse_latest(problem: &Problem) -> Outcome {
    analyse(problem, &|order| {
        let accepted = classic::analyse(problem, ClassicOrder::RateMonotonic).why;
        let deadlines = order.iter().map(|row| row.deadline).collect();
        accepted.map_or(Ok(deadlines), Err)
    })
}

/// The instants for an order, or why there are none.
type Search<'a> = &'a dyn Fn(&[Row]) -> Result<Vec<u64>, Reason>;

/// The outcome with the instants that `find` gives, or its reason.
fn analyse(problem: &Problem, find: Search<'_>) -> Outcome {
    let mut tables = Tables::default();
    order::rows_by_urgency(problem, ClassicOrder::RateMonotonic, &mut tables);
    let order = tables.order.as_slice();
    let found = trivially_infeasible(problem).map_or_else(|| find(order), Err);
    let mut tasks = vec![TaskOutcome::default(); order.len()];
    for (priority, row) in (1..).zip(order.iter().rev()) {
        tasks[row.task].priority = problem
            .priorities()
            .map_or(Some(priority), |given| given.get(row.task).copied());
    }
    let instants = found.clone().unwrap_or_default();
    let outcome = Outcome::decided(Kind::Unsafe, found.err(), tasks);
    with_instants(outcome, order, &instants)
}

/// The search of `zss` for the earliest instants, with a mistake.
fn instants(order: &[Row], mistake: Mistake) -> Result<Vec<u64>, Reason> {
    let top = order.iter().map(|row| row.criticality).max().unwrap_or(0);
    let mut why = None;
    for quiet in (0..=top + 1).rev() {
        let mut instants = vec![0; order.len()];
        let Ok(()) = (0..quiet).try_for_each(|level| plain(order, level, mistake, &mut instants))
        else {
            continue;
        };
        for (instant, row) in instants.iter_mut().zip(order) {
            if row.criticality < quiet {
                *instant = row.deadline;
            }
        }
        let failed = (quiet..=top).find_map(|level| unbounded(order, level, &instants, mistake));
        let Some((row, level)) = failed else {
            return Ok(instants);
        };
        why = why.or(Some(excess(row, level, Bound::AtLeast(row.deadline + 1))));
    }
    // Without any quiet level there is always a failure to report.
    why.map_or(Ok(Vec::new()), Err)
}

fn cost(row: &Row, level: usize) -> u64 {
    row.wcet[level.min(row.criticality)]
}

/// The least window from `from` on that is enough, up to the deadline.
fn window(from: u64, deadline: u64, needed: &dyn Fn(u64) -> u64) -> Option<u64> {
    let mut window = from.max(1);
    while window <= deadline {
        let next = needed(window);
        if next <= window {
            return Some(window);
        }
        window = next;
    }
    None
}

/// Response times at `level` where no task is suspended.
fn plain(order: &[Row], level: usize, mistake: Mistake, into: &mut [u64]) -> Result<(), ()> {
    for (position, row) in order.iter().enumerate() {
        let needed = |window: u64| {
            let above = order[..position].iter();
            let jobs = above.map(|other| window.div_ceil(other.period) * cost(other, level));
            cost(row, level) + jobs.sum::<u64>()
        };
        let forgotten = mistake == Mistake::GuaranteedOnly && row.criticality < level;
        match window(cost(row, level), row.deadline, &needed) {
            Some(response) => into[position] = response,
            None if forgotten => {}
            None => return Err(()),
        }
    }
    Ok(())
}

/// Some task of `level` or above that has no bound in its runs.
fn unbounded<'a>(
    order: &'a [Row],
    level: usize,
    instants: &[u64],
    mistake: Mistake,
) -> Option<(&'a Row, usize)> {
    let mut bounds: Vec<u64> = order.iter().map(|row| cost(row, level).max(1)).collect();
    loop {
        let before = bounds.clone();
        for (position, row) in order.iter().enumerate() {
            if row.criticality < level {
                continue;
            }
            let needed =
                |window| interference(order, level, instants, &before, position, window, mistake);
            match window(before[position], row.deadline, &needed) {
                Some(bound) => bounds[position] = bound,
                None => return Some((row, level)),
            }
        }
        if bounds == before {
            return None;
        }
    }
}

fn interference(
    order: &[Row],
    level: usize,
    instants: &[u64],
    bounds: &[u64],
    position: usize,
    window: u64,
    mistake: Mistake,
) -> u64 {
    let this = &order[position];
    let critical = |&other: &usize| {
        other > position
            && order[other].criticality > this.criticality
            && bounds[other] > instants[other]
    };
    let overtaken =
        mistake != Mistake::NeverOvertaken && (0..order.len()).any(|other| critical(&other));
    let mut sum = cost(this, level);
    for (other, row) in order.iter().enumerate() {
        let counts = if other < position {
            true
        } else {
            other > position && overtaken && row.criticality > this.criticality
        };
        if !counts {
            continue;
        }
        let until = if row.criticality < this.criticality {
            window.min(instants[position])
        } else {
            window
        };
        let cost = cost(row, level);
        let reach = if row.criticality >= level {
            bounds[other]
        } else if mistake == Mistake::NothingCarriedIn {
            cost
        } else {
            row.deadline
        };
        if until > 0 && cost > 0 {
            let span = until + reach.max(cost) - cost;
            sum += (span / row.period * cost + cost.min(span % row.period)).min(until);
        }
    }
    sum
}
