//! Walking a priority order: the part that the tests for fixed task priorities share.

use crate::audsley;
use crate::bounds::{Bounds, Charge};
use crate::demand::{Bound, Demand};
use crate::order::{self, PriorityOrder};
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::problem::{Phasing, Problem, Row, task_id};
use vestal_core::model::LEVELS_MAX;
use vestal_core::{Duration, Level};

/// Memory that the fast path of a test uses again and again instead of allocating. One for each
/// thread; what it contains between two calls has no meaning.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Rows by urgency.
    pub(crate) order: Vec<Row>,
    /// The rows of a set, by criticality.
    pub(crate) set: Vec<Row>,
    /// Jobs counted, one collection for each level.
    pub(crate) demands: [Demand; LEVELS_MAX],
}

/// The task, if any, that needs more than its deadline when it is alone: C_i(z_i) > D_i.
///
/// Execution times never fall with the level, so this covers C_i(l) > D_i for every l <= z_i.
/// Checked before any iteration: a fixed point that starts above the deadline is not a bound.
pub(crate) fn hopeless(problem: &Problem) -> Option<Reason> {
    let row = problem
        .rows()
        .iter()
        .find(|row| row.own_wcet() > row.deadline)?;
    Some(Reason::WcetExceedsDeadline {
        task: task_id(row.task),
    })
}

/// What the answer of a test of `kind` is worth for this problem.
pub(crate) fn kind_for(problem: &Problem, kind: Kind) -> Kind {
    match (problem.phasing(), kind) {
        (Phasing::Restricted, Kind::Exact) => Kind::Sufficient,
        (Phasing::Restricted | Phasing::Arbitrary, _) => kind,
    }
}

/// The outcome for the problem's given priorities, or for the order of `rule` without them.
pub(crate) fn analyse_in_order(
    problem: &Problem,
    kind: Kind,
    rule: PriorityOrder,
    bounds: &mut impl Bounds,
) -> Outcome {
    let mut order = Vec::new();
    order::rows_by_urgency(problem, rule, &mut order);
    let mut tasks = vec![TaskOutcome::default(); order.len()];
    let mut why = hopeless(problem);
    let mut set: Vec<Row> = Vec::with_capacity(order.len());
    for (priority, row) in (1..=order.len()).rev().zip(&order) {
        let place = set.partition_point(|other| other.criticality <= row.criticality);
        set.insert(place, *row);
        bounds.load(&set);
        let (responses, excess) = responses_of(row, &set, bounds);
        why = why.or(excess);
        let priority = match problem.priorities() {
            Some(given) => given[row.task],
            None => u32::try_from(priority).unwrap_or(u32::MAX),
        };
        tasks[row.task] = TaskOutcome {
            priority: Some(priority),
            responses,
        };
    }
    Outcome::decided(kind_for(problem, kind), why, tasks)
}

/// The outcome for the problem's given priorities, or for those that Audsley's algorithm finds.
pub(crate) fn analyse_or_assign(
    problem: &Problem,
    kind: Kind,
    bounds: &mut impl Bounds,
) -> Outcome {
    if problem.priorities().is_some() {
        // The rule is not used: the problem's own priorities go before it.
        return analyse_in_order(problem, kind, PriorityOrder::DeadlineMonotonic, bounds);
    }
    let mut tasks = vec![TaskOutcome::default(); problem.rows().len()];
    for row in problem.rows() {
        tasks[row.task].responses = vec![None; row.criticality + 1];
    }
    if let Some(reason) = hopeless(problem) {
        return Outcome::decided(kind_for(problem, kind), Some(reason), tasks);
    }
    let mut left = Vec::new();
    let mut priority = 1;
    let complete = audsley::assign(problem, &mut left, bounds, |row, found| {
        let found = found.iter().map(|&nanos| Some(Duration::from_nanos(nanos)));
        tasks[row.task] = TaskOutcome {
            priority: Some(priority),
            responses: found.collect(),
        };
        priority += 1;
    });
    let why = (!complete).then(|| {
        let mut left: Vec<_> = left.iter().map(|row| task_id(row.task)).collect();
        left.sort_unstable();
        Reason::NobodyFits { priority, left }
    });
    Outcome::decided(kind_for(problem, kind), why, tasks)
}

/// Whether every task passes in the problem's given order, or in the order of `rule`.
pub(crate) fn accepts_in_order(
    problem: &Problem,
    rule: PriorityOrder,
    order: &mut Vec<Row>,
    set: &mut Vec<Row>,
    bounds: &mut impl Bounds,
) -> bool {
    if hopeless(problem).is_some() {
        return false;
    }
    order::rows_by_urgency(problem, rule, order);
    set.clear();
    order.iter().all(|row| {
        let place = set.partition_point(|other| other.criticality <= row.criticality);
        set.insert(place, *row);
        bounds.load(set);
        (0..=row.criticality)
            .all(|level| matches!(bounds.at(set, level, row.deadline), Bound::Found(_)))
    })
}

/// As [`accepts_in_order`] for bounds that charge each job a fixed amount: classic response-time
/// analysis.
///
/// Walking down the order the set only grows, so each level's jobs are counted once for the whole
/// set rather than once for each task (the warm start of Sjödin and Hansson, RTSS 1998, extended
/// to levels). A task needs only its own level's bound, and a level's set takes in the tasks it
/// missed when a task of that level needs it.
pub(crate) fn accepts_static(
    problem: &Problem,
    rule: PriorityOrder,
    charge: Charge,
    scratch: &mut Scratch,
) -> bool {
    if hopeless(problem).is_some() {
        return false;
    }
    let Scratch {
        order,
        demands,
        set: _,
    } = scratch;
    order::rows_by_urgency(problem, rule, order);
    demands.iter_mut().for_each(Demand::clear);
    order.iter().enumerate().all(|(place, row)| {
        let level = row.criticality;
        let demand = &mut demands[level];
        for missed in &order[demand.len()..=place] {
            demand.add(missed.period, charge.cost(missed, level));
        }
        matches!(demand.solve(0, row.deadline), Bound::Found(_))
    })
}

/// The response times of `row` at the bottom of `set` for the levels up to its own, and the first
/// that exceeds the deadline.
fn responses_of(
    row: &Row,
    set: &[Row],
    bounds: &mut impl Bounds,
) -> (Vec<Option<Duration>>, Option<Reason>) {
    let mut responses = vec![None; row.criticality + 1];
    for (level, response) in (0..).map(Level).zip(&mut responses) {
        match bounds.at(set, level.index(), row.deadline) {
            Bound::Found(nanos) => *response = Some(Duration::from_nanos(nanos)),
            Bound::AtLeast(nanos) => {
                let excess = Reason::ResponseExceedsDeadline {
                    task: task_id(row.task),
                    level,
                    at_least: Duration::from_nanos(nanos),
                    deadline: Duration::from_nanos(row.deadline),
                };
                return (responses, Some(excess));
            }
        }
    }
    (responses, None)
}
