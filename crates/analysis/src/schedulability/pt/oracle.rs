//! Period transformation straight from its rules, and slices executed tick by tick.

use crate::schedulability::zss::oracle::charge;
use vestal_core::{Duration, Level, Task, TaskId};

/// The number of slices of each task: from the lowest level upwards the fewest with which T / n is
/// at most each T / n of the levels below, by trying 1, 2, 3, ...
#[must_use]
pub fn slices_by_rule(tasks: &[Task]) -> Vec<u64> {
    let mut counts = vec![1; tasks.len()];
    for index in by_level(tasks) {
        let below: Vec<usize> = (0..tasks.len())
            .filter(|&other| tasks[other].criticality < tasks[index].criticality)
            .collect();
        let fits = |count: &u64| {
            below.iter().all(|&other| {
                tasks[index].period.as_nanos() * counts[other]
                    <= tasks[other].period.as_nanos() * count
            })
        };
        counts[index] = (1..).find(fits).unwrap_or(1);
    }
    counts
}

fn by_level(tasks: &[Task]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..tasks.len()).collect();
    all.sort_by_key(|&index| tasks[index].criticality);
    all
}

/// The least window up to `limit` that covers what it needs, by trying each.
fn find_window(limit: u64, needed: impl Fn(u64) -> u64) -> Option<u64> {
    (0..=limit).find(|&window| needed(window) <= window)
}

/// What the slices of `task` that begin before `end`, of jobs at 0, T, 2 T, ..., need at `level`.
#[must_use]
pub fn sliced_demand(task: &Task, count: u64, level: Level, end: u64) -> u64 {
    let (period, whole) = (task.period.as_nanos(), task.own_wcet().as_nanos());
    let cost = charge(task, level);
    let mut sum = 0;
    for release in (0..end).step_by(usize::try_from(period).unwrap_or(usize::MAX)) {
        let begun = (0..count).filter(|slice| release + slice * period / count < end);
        let granted = begun.map(|slice| ((slice + 1) * whole).div_ceil(count));
        sum += granted.max().unwrap_or(0).min(cost);
    }
    sum
}

/// R_i(level) of `task` below the tasks `more_urgent`: for each slice it needs, the least window by
/// trying all; `None` if a slice is not done by the deadline.
#[must_use]
pub fn sliced_response(
    tasks: &[Task],
    counts: &[u64],
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
) -> Option<Duration> {
    let (this, count) = (&tasks[task.index()], counts[task.index()]);
    let own = charge(this, level);
    let whole = this.own_wcet().as_nanos();
    let mut greatest = 0;
    for slice in 0..count {
        let needed = own.saturating_sub((slice * whole).div_ceil(count));
        if needed == 0 && slice > 0 {
            break;
        }
        let start = slice * this.period.as_nanos() / count;
        let left = this.deadline.as_nanos().checked_sub(start)?;
        let window = find_window(left, |window| {
            // A slice that begins together with the one looked at always goes first.
            let others = more_urgent.iter().map(|id| {
                sliced_demand(&tasks[id.index()], counts[id.index()], level, window.max(1))
            });
            needed + others.sum::<u64>()
        })?;
        greatest = greatest.max(start + window);
    }
    Some(Duration::from_nanos(greatest))
}

/// The least R in 1..=D with the slices of `task` and the tasks `more_urgent` that begin before R
/// done by R: what `pt:printed` calls the response time.
#[must_use]
pub fn first_slice_response(
    tasks: &[Task],
    counts: &[u64],
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
) -> Option<Duration> {
    let all = || more_urgent.iter().chain([&task]);
    find_window(tasks[task.index()].deadline.as_nanos(), |window| {
        let demand = all()
            .map(|id| sliced_demand(&tasks[id.index()], counts[id.index()], level, window.max(1)));
        demand.sum()
    })
    .map(Duration::from_nanos)
}

/// R_i(level) with a deferrable server for each task, of period floor(T / n) and capacity
/// ceil(C / n): the least time by which the least supply covers the job, if every server gets its
/// capacity in each period.
#[must_use]
pub fn server_response(
    tasks: &[Task],
    counts: &[u64],
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
) -> Option<Duration> {
    let server = |id: TaskId| {
        let (this, count) = (&tasks[id.index()], counts[id.index()]);
        let period = this.period.as_nanos() / count;
        (period, this.own_wcet().as_nanos().div_ceil(count))
    };
    let (period, capacity) = server(task);
    find_window(period, |window| {
        let others = more_urgent.iter().map(|&id| {
            let (period, capacity) = server(id);
            // With a capacity above the period the server of that task fails by itself.
            (window + period.saturating_sub(capacity)).div_ceil(period) * capacity
        });
        capacity + others.sum::<u64>()
    })?;
    let this = &tasks[task.index()];
    let supply = |end: u64| {
        let gap = period - capacity;
        let Some(since) = end.checked_sub(gap) else {
            return 0;
        };
        let whole = since / period;
        whole * capacity + end.saturating_sub(2 * gap + whole * period)
    };
    let needed = charge(this, level);
    let found = (0..=this.deadline.as_nanos()).find(|&end| supply(end) >= needed);
    found.map(Duration::from_nanos)
}

/// The response time of the first job of `task`, released at 0, when the tasks `more_urgent` are
/// released first at `others_at` and then as early as they may, and each job executes what `level`
/// lets it: tick by tick. `None` if it is not done within `ticks`.
#[must_use]
pub fn sliced_schedule(
    tasks: &[Task],
    counts: &[u64],
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
    others_at: u64,
    ticks: u64,
) -> Option<u64> {
    // By task, most urgent first: release and execution of its jobs that are not done.
    let order: Vec<TaskId> = more_urgent.iter().copied().chain([task]).collect();
    let mut jobs: Vec<Vec<(u64, u64)>> = vec![Vec::new(); order.len()];
    let cost = |id: TaskId| charge(&tasks[id.index()], level);
    for now in 0..=ticks {
        for (list, &id) in jobs.iter_mut().zip(&order) {
            if list.first().is_some_and(|job| job.1 >= cost(id)) {
                let (release, _) = list.remove(0);
                if id == task {
                    return Some(now - release);
                }
            }
            let period = tasks[id.index()].period.as_nanos();
            let first = if id == task { 0 } else { others_at };
            let again = now.checked_sub(first).map(|since| since % period);
            if again == Some(0) && (id != task || now == 0) && cost(id) > 0 {
                list.push((now, 0));
            }
        }
        for (list, &id) in jobs.iter_mut().zip(&order) {
            let Some((release, executed)) = list.first_mut() else {
                continue;
            };
            let (this, count) = (&tasks[id.index()], counts[id.index()]);
            let slices = 0..count;
            let begun = slices.filter(|k| *release + k * this.period.as_nanos() / count <= now);
            let granted = begun.map(|k| ((k + 1) * this.own_wcet().as_nanos()).div_ceil(count));
            if *executed < granted.max().unwrap_or(0) {
                *executed += 1;
                break;
            }
        }
    }
    None
}
