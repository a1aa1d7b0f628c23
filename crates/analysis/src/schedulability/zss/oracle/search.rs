//! Whether zero-slack instants keep every guarantee, straight from the equations: every window is
//! tried, and bounds are raised together, round by round.

use super::{SlackFormula, charge, response, zero_slack_instants};
use vestal_core::{Duration, Level, Task, TaskId};

/// The bounds of the tasks in one level's runs, by position; `None`: the task may be late.
type LevelBounds = Vec<Option<u64>>;

/// What a task with jobs of `cost` that leave the CPU `reach` after their releases does in `window`.
fn work(task: &Task, cost: u64, reach: u64, window: u64) -> u64 {
    if window == 0 || cost == 0 {
        return 0;
    }
    let period = task.period.as_nanos();
    let span = window + reach.max(cost) - cost;
    span / period * cost + cost.min(span % period)
}

fn deadline(task: &Task) -> u64 {
    task.deadline.as_nanos()
}

/// R_j(l) of every task where no task is suspended, if none is above its limit.
fn plain(order: &[&Task], level: Level, limits: &[u64]) -> Option<Vec<u64>> {
    let response = |position: usize| {
        let needed = |window: u64| {
            let above = order[..position].iter();
            let jobs =
                above.map(|other| window.div_ceil(other.period.as_nanos()) * charge(other, level));
            charge(order[position], level) + jobs.sum::<u64>()
        };
        (1..=limits[position]).find(|&window| needed(window) <= window)
    };
    (0..order.len()).map(response).collect()
}

/// Bounds that bound one another in runs of `level`; `None` if a task of it, or above, has none.
fn bounded(order: &[&Task], level: Level, instants: &[u64]) -> Option<LevelBounds> {
    let costs = order.iter().map(|task| charge(task, level));
    let mut bounds: LevelBounds = costs.map(Some).collect();
    loop {
        let mut next: LevelBounds = (0..order.len())
            .map(|position| {
                bounds[position]?;
                let needed =
                    |window| interference(order, level, instants, &bounds, position, window);
                (1..=deadline(order[position])).find(|&window| needed(window) <= window)
            })
            .collect();
        // Who may be late suspends those of its level, and those below.
        for position in 0..order.len() {
            let late = |other: usize| {
                next[other].is_none() && order[other].criticality >= order[position].criticality
            };
            if (0..order.len()).any(late) {
                next[position] = None;
            }
        }
        let guaranteed = |position: &usize| order[*position].criticality >= level;
        if (0..order.len())
            .filter(guaranteed)
            .any(|position| next[position].is_none())
        {
            return None;
        }
        if next == bounds {
            return Some(bounds);
        }
        bounds = next;
    }
}

/// The right-hand side of the equation for the task at `position`.
fn interference(
    order: &[&Task],
    level: Level,
    instants: &[u64],
    bounds: &LevelBounds,
    position: usize,
    window: u64,
) -> u64 {
    let this = order[position];
    let mut sum = charge(this, level);
    let may_be_critical = |other: usize| {
        other > position
            && order[other].criticality > this.criticality
            && bounds[other].is_none_or(|bound| bound > instants[other])
    };
    let overtaken = (0..order.len()).any(may_be_critical);
    for (other, task) in order.iter().enumerate() {
        let cost = charge(task, level);
        let reach = bounds[other].unwrap_or(deadline(task));
        if other < position && task.criticality >= this.criticality {
            sum += work(task, cost, reach, window);
        } else if other < position {
            let until = window.min(instants[position]);
            sum += until.min(work(task, cost, reach, until));
        } else if other > position && task.criticality > this.criticality && overtaken {
            sum += work(task, cost, reach, window);
        }
    }
    sum
}

/// Whether all tasks of `level` pass the tightened form.
fn passes_form(order: &[&Task], level: Level, instants: &[u64]) -> bool {
    (0..order.len()).all(|position| {
        let formula = SlackFormula::Tightened;
        order[position].criticality != level
            || response(
                order,
                position,
                level,
                instants[position],
                formula,
                instants,
            )
            .is_some()
    })
}

fn level_holds(order: &[&Task], level: Level, instants: &[u64], tightened: bool) -> bool {
    plain(order, level, instants).is_some()
        || bounded(order, level, instants).is_some()
        || tightened && passes_form(order, level, instants)
}

fn all_hold(order: &[&Task], instants: &[u64], tightened: bool) -> bool {
    let mut levels = order.iter().map(|task| task.criticality);
    levels.all(|level| level_holds(order, level, instants, tightened))
}

fn rows<'a>(tasks: &'a [Task], order: &[TaskId]) -> Vec<&'a Task> {
    order.iter().map(|id| &tasks[id.index()]).collect()
}

/// Whether these instants, in task order, keep every guarantee by `zss`, or by `zss:tightened`.
#[must_use]
pub fn zero_slack_proves(
    tasks: &[Task],
    order: &[TaskId],
    instants: &[Duration],
    tightened: bool,
) -> bool {
    let by_place = order.iter().map(|id| instants[id.index()].as_nanos());
    all_hold(
        &rows(tasks, order),
        &by_place.collect::<Vec<_>>(),
        tightened,
    )
}

/// The bounds of these instants on the response times in runs of `level` by `zss`, in task order;
/// `None` where there is none.
#[must_use]
pub fn zero_slack_bounds(
    tasks: &[Task],
    order: &[TaskId],
    instants: &[Duration],
    level: Level,
) -> Vec<Option<Duration>> {
    let rows = rows(tasks, order);
    let by_place = order.iter().map(|id| instants[id.index()].as_nanos());
    let by_place: Vec<u64> = by_place.collect();
    let bounds = match plain(&rows, level, &by_place) {
        Some(responses) => responses.into_iter().map(Some).collect(),
        None => bounded(&rows, level, &by_place).unwrap_or(vec![None; rows.len()]),
    };
    let mut found = vec![None; tasks.len()];
    for (id, bound) in order.iter().zip(bounds) {
        found[id.index()] = bound.map(Duration::from_nanos);
    }
    found
}

/// Whether one of the instants that `zss`, or `zss:tightened`, tries keeps every guarantee.
#[must_use]
pub fn zero_slack_search(tasks: &[Task], order: &[TaskId], tightened: bool) -> bool {
    let rows = rows(tasks, order);
    let deadlines: Vec<u64> = rows.iter().map(|task| deadline(task)).collect();
    let mut levels: Vec<Level> = rows.iter().map(|task| task.criticality).collect();
    levels.sort_unstable();
    levels.dedup();
    let latest = |formula| -> Vec<u64> {
        let latest = zero_slack_instants(tasks, formula, order);
        let by_place = order.iter().map(|id| latest[id.index()]);
        by_place.map(|z| z.map_or(0, Duration::as_nanos)).collect()
    };
    let latest: Vec<Vec<u64>> = [SlackFormula::Sporadic, SlackFormula::Tightened]
        .into_iter()
        .filter(|&formula| tightened || formula == SlackFormula::Sporadic)
        .map(latest)
        .collect();
    let found = (0..=levels.len()).any(|quiet| {
        let base = match quiet.checked_sub(1) {
            None => Some(vec![0; rows.len()]),
            Some(last) => plain(&rows, levels[last], &deadlines),
        };
        let Some(base) = base else {
            return false;
        };
        let waiting: Vec<Level> = levels.iter().copied().skip(quiet.max(1)).collect();
        let of = |instants: &[u64]| -> Vec<u64> {
            (0..rows.len())
                .map(|position| {
                    if waiting.contains(&rows[position].criticality) {
                        instants[position]
                    } else {
                        deadlines[position]
                    }
                })
                .collect()
        };
        let earliest = of(&base);
        all_hold(&rows, &earliest, tightened)
            || staged(&rows, &levels[quiet..], &earliest)
                .is_some_and(|instants| all_hold(&rows, &instants, tightened))
            || latest
                .iter()
                .any(|instants| all_hold(&rows, &of(instants), tightened))
    });
    found
        || latest
            .iter()
            .any(|instants| all_hold(&rows, instants, tightened))
}

/// The instants of tasks above the first of `levels` are their bounds in runs of the level before.
fn staged(order: &[&Task], levels: &[Level], earliest: &[u64]) -> Option<Vec<u64>> {
    let mut instants: Vec<u64> = (0..order.len())
        .map(|position| {
            if levels
                .iter()
                .skip(1)
                .any(|&level| level == order[position].criticality)
            {
                deadline(order[position])
            } else {
                earliest[position]
            }
        })
        .collect();
    for pair in levels.windows(2) {
        let bounds = bounded(order, pair[0], &instants)?;
        for position in 0..order.len() {
            if order[position].criticality == pair[1] {
                instants[position] = bounds[position]?;
            }
        }
    }
    Some(instants)
}
