//! Walking a priority order: the part that the tests for fixed task priorities share.

use crate::assumptions::{kind_for, trivially_infeasible};
use crate::audsley;
use crate::bounds::{Bounds, Charge};
use crate::demand::{Bound, Demand, PASSES_MAX};
use crate::order;
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::task_id;
use crate::problem::{Problem, Row};
use crate::scratch::Scratch;
use crate::tables::Tables;
use vestal_core::order::ClassicOrder;
use vestal_core::{Duration, Level};

/// The outcome for the problem's given priorities, or for the order of `rule` without them.
pub(crate) fn analyse_in_order(
    problem: &Problem,
    kind: Kind,
    rule: ClassicOrder,
    bounds: &mut impl Bounds,
) -> Outcome {
    let Tables { order, set, .. } = &mut order::tables_by_urgency(problem, rule);
    let mut tasks = vec![TaskOutcome::default(); order.len()];
    let excess = respond(set, order, bounds, &mut tasks);
    if let Some(given) = problem.priorities() {
        for (task, &priority) in tasks.iter_mut().zip(given) {
            task.priority = Some(priority);
        }
    }
    let why = trivially_infeasible(problem).or(excess);
    Outcome::decided(kind_for(problem, kind), why, tasks)
}

/// The outcome for the problem's given priorities, or for those that Audsley's algorithm finds.
pub(crate) fn analyse_or_assign(
    problem: &Problem,
    kind: Kind,
    bounds: &mut impl Bounds,
) -> Outcome {
    analyse_or(problem, kind, bounds, |tables, bounds, position| {
        audsley::assign(problem, tables, bounds, position);
    })
}

/// The outcome for the problem's given priorities, or for those that `assign` finds ([`analyse_assigned`]).
pub(crate) fn analyse_or<B: Bounds>(
    problem: &Problem,
    kind: Kind,
    bounds: &mut B,
    assign: impl FnOnce(&mut Tables, &mut B, &mut dyn FnMut(&Row)),
) -> Outcome {
    if problem.priorities().is_some() {
        // The rule is not used: the problem's own priorities go before it.
        return analyse_in_order(problem, kind, ClassicOrder::DeadlineMonotonic, bounds);
    }
    analyse_assigned(problem, kind, bounds, assign)
}

/// The outcome for the priorities that `assign` finds; it places the least urgent task first and
/// leaves in the set of the tables those that have no priority.
pub(crate) fn analyse_assigned<B: Bounds>(
    problem: &Problem,
    kind: Kind,
    bounds: &mut B,
    assign: impl FnOnce(&mut Tables, &mut B, &mut dyn FnMut(&Row)),
) -> Outcome {
    let kind = kind_for(problem, kind);
    let unknown = |row: &Row| TaskOutcome {
        priority: None,
        responses: vec![None; row.criticality + 1],
        ..TaskOutcome::default()
    };
    let mut tasks: Vec<_> = problem.rows().iter().map(unknown).collect();
    if let Some(reason) = trivially_infeasible(problem) {
        return Outcome::decided(kind, Some(reason), tasks);
    }
    let mut tables = Tables::default();
    let mut placed = Vec::new();
    assign(&mut tables, bounds, &mut |row| placed.push(*row));
    placed.reverse();
    let left = &mut tables.set;
    let mut missing: Vec<_> = left.iter().map(|row| task_id(row.task)).collect();
    missing.sort_unstable();
    // Another order might have been found with what is not known.
    let is_undecided = bounds.is_undecided();
    let excess = respond(left, &placed, bounds, &mut tasks);
    let why = if missing.is_empty() {
        excess
    } else if is_undecided {
        Some(OUT_OF_STEPS)
    } else {
        let priority = u32::try_from(placed.len()).map_or(u32::MAX, |count| count + 1);
        Some(Reason::NobodyFits {
            priority,
            left: missing,
        })
    };
    Outcome::decided(kind, why, tasks)
}

/// Writes down priorities n, ..., 1 and the response times of the tasks of `order`, most urgent
/// first, below those of `set`, which is sorted by criticality. The first bound that exceeds a
/// deadline is the result.
fn respond(
    set: &mut Vec<Row>,
    order: &[Row],
    bounds: &mut impl Bounds,
    tasks: &mut [TaskOutcome],
) -> Option<Reason> {
    let mut why = None;
    for (priority, row) in (1..=order.len()).rev().zip(order) {
        let position = set.partition_point(|other| other.criticality <= row.criticality);
        set.insert(position, *row);
        bounds.least_urgent(row);
        bounds.load(set);
        let levels = bounds.levels(row);
        let (responses, excess) =
            responses_of(row, levels, |level| bounds.at(set, level, row.deadline));
        why = why.or(excess);
        let priority = u32::try_from(priority).unwrap_or(u32::MAX);
        tasks[row.task] = TaskOutcome {
            priority: Some(priority),
            responses,
            ..TaskOutcome::default()
        };
    }
    why
}

/// Whether every task passes in the problem's given order, or in the order of `rule`.
pub(crate) fn accepts_in_order(
    problem: &Problem,
    rule: ClassicOrder,
    tables: &mut Tables,
    bounds: &mut impl Bounds,
) -> bool {
    if trivially_infeasible(problem).is_some() {
        return false;
    }
    order::rows_by_urgency(problem, rule, tables);
    let Tables { order, set, .. } = tables;
    set.clear();
    order.iter().all(|row| {
        let position = set.partition_point(|other| other.criticality <= row.criticality);
        set.insert(position, *row);
        bounds.least_urgent(row);
        bounds.load(set);
        (0..bounds.levels(row))
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
    rule: ClassicOrder,
    charge: Charge,
    scratch: &mut Scratch,
) -> bool {
    if trivially_infeasible(problem).is_some() {
        return false;
    }
    let Scratch {
        tables, demands, ..
    } = scratch;
    order::rows_by_urgency(problem, rule, tables);
    let order = &tables.order;
    demands.iter_mut().for_each(Demand::clear);
    order.iter().enumerate().all(|(position, row)| {
        let level = row.criticality;
        let demand = &mut demands[level];
        for missed in &order[demand.len()..=position] {
            demand.add(missed.period, charge.cost(missed, level));
        }
        matches!(demand.solve(0, row.deadline), Bound::Found(_))
    })
}

/// The response times of a task for so many levels, and the first that exceeds the deadline.
pub(crate) fn responses_of(
    row: &Row,
    levels: usize,
    mut bound: impl FnMut(usize) -> Bound,
) -> (Vec<Option<Duration>>, Option<Reason>) {
    let mut responses = vec![None; levels];
    for (level, response) in responses.iter_mut().enumerate() {
        match bound(level) {
            Bound::Found(nanos) => *response = Some(Duration::from_nanos(nanos)),
            late @ (Bound::AtLeast(_) | Bound::Undecided) => {
                return (responses, Some(excess(row, level, late)));
            }
        }
    }
    (responses, None)
}

/// No answer, for its steps.
pub(crate) const OUT_OF_STEPS: Reason = Reason::SearchLimit { steps: PASSES_MAX };

/// Why a task without a bound in runs of `level` does not pass: it may take longer than its deadline, or that is not known.
pub(crate) fn excess(row: &Row, level: usize, bound: Bound) -> Reason {
    match bound {
        Bound::Found(nanos) | Bound::AtLeast(nanos) => Reason::ResponseExceedsDeadline {
            task: task_id(row.task),
            level: Level(u8::try_from(level).unwrap_or(u8::MAX)),
            at_least: Duration::from_nanos(nanos),
            deadline: Duration::from_nanos(row.deadline),
        },
        Bound::Undecided => OUT_OF_STEPS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::StaticBounds;
    use crate::outcome::Verdict;
    use vestal_core::{LevelSet, Service, Task, Wcet};

    /// Sets of three tasks of two levels, of which about half pass.
    fn sets() -> impl Iterator<Item = Problem> {
        let task = |level: u8, period: u64, low: u64| {
            let period = Duration::from_nanos(period);
            let wcet = [low, low + 1].map(Service::from_nanos);
            let wcet = Wcet::new(&wcet[..=usize::from(level)]).unwrap();
            Task::new(Level(level), period, period, wcet).unwrap()
        };
        (1..=3).flat_map(move |a| {
            (1..=6).flat_map(move |b| {
                (1..=9).map(move |c| {
                    let tasks = vec![task(0, 7, a), task(1, 11, b), task(0, 26, c)];
                    Problem::new(tasks, LevelSet::new(2).unwrap()).unwrap()
                })
            })
        })
    }

    #[test]
    fn what_takes_too_many_passes_is_never_called_unschedulable() {
        let verdict = |problem: &Problem, passes, in_order| {
            let mut demand = Demand::with_passes(passes);
            let mut bounds = StaticBounds::new(Charge::Enforced, &mut demand);
            let outcome = match in_order {
                true => analyse_in_order(
                    problem,
                    Kind::Exact,
                    ClassicOrder::RateMonotonic,
                    &mut bounds,
                ),
                false => analyse_or_assign(problem, Kind::Exact, &mut bounds),
            };
            (outcome.verdict, outcome.why)
        };
        for in_order in [true, false] {
            let (mut undecided, mut same) = (0, 0);
            for problem in sets() {
                let (known, _) = verdict(&problem, PASSES_MAX, in_order);
                assert_ne!(known, Verdict::NotProven);
                for passes in 0..=3 {
                    match verdict(&problem, passes, in_order) {
                        (Verdict::NotProven, why) => {
                            assert_eq!(why, Some(OUT_OF_STEPS));
                            undecided += 1;
                        }
                        (verdict, _) => {
                            assert_eq!(verdict, known, "{problem:?}");
                            same += 1;
                        }
                    }
                }
            }
            assert!(undecided > 100 && same > 100, "{undecided} {same}");
        }
    }
}
