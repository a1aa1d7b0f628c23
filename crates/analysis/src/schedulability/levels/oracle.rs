//! The same from drawings, tick by tick.

use super::Order;
pub(super) use super::control::hyperperiod;
use crate::parameters::{DispatchTable, task_id};
use crate::problem::Row;
use vestal_core::TaskId;

/// A job that is there.
struct Job {
    task: usize,
    release: u64,
    left: u64,
}

/// Who executes in each tick of the hyperperiod by earliest deadlines, shorter periods, positions; `None` if a job is late.
pub(super) fn edf_ticks(rows: &[&Row]) -> Option<Vec<Option<TaskId>>> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut ticks = Vec::new();
    let end = if rows.is_empty() {
        0
    } else {
        hyperperiod(1, rows)
    };
    for tick in 0..=end {
        let late = |job: &Job| job.left > 0 && job.release + rows[job.task].deadline <= tick;
        if jobs.iter().any(late) {
            return None;
        }
        for (task, row) in rows.iter().enumerate() {
            if tick % row.period == 0 {
                jobs.push(Job {
                    task,
                    release: tick,
                    left: row.own_wcet(),
                });
            }
        }
        let there = jobs.iter_mut().filter(|job| job.left > 0);
        let first = there.min_by_key(|job| {
            let row = rows[job.task];
            (job.release + row.deadline, row.period, job.task)
        });
        ticks.push(first.map(|job| {
            job.left -= 1;
            task_id(rows[job.task].task)
        }));
    }
    ticks.pop();
    Some(ticks)
}

/// Whose slot each tick of the cycle is.
pub(super) fn owners(table: &DispatchTable) -> Vec<Option<TaskId>> {
    let owner = |tick: u64| {
        let mut slots = table.slots.iter();
        let own = slots.find(|slot| {
            let start = slot.start.as_nanos();
            (start..start + slot.length.as_nanos()).contains(&tick)
        });
        own.map(|slot| slot.task)
    };
    (0..table.cycle.as_nanos()).map(owner).collect()
}

/// For each tick of the cycle whether it is closed, where each job executes the first C_i(level) ticks that it has.
pub(super) fn closed_ticks(table: &DispatchTable, rows: &[&Row], level: usize) -> Vec<bool> {
    let owners = owners(table);
    let mut closed = vec![false; owners.len()];
    for row in rows {
        for job in 0..table.cycle.as_nanos() / row.period {
            let window = job * row.period..(job + 1) * row.period;
            let own = window.filter(|&tick| owners[tick as usize] == Some(task_id(row.task)));
            for tick in own.take(row.exact_wcet(level) as usize) {
                closed[tick as usize] = true;
            }
        }
    }
    closed
}

/// How many ticks of a window are open.
pub(super) fn open(closed: &[bool], start: u64, window: u64) -> u64 {
    let ticks =
        (start..start + window).filter(|tick| !closed[(tick % closed.len() as u64) as usize]);
    ticks.count() as u64
}

/// The least over all starts.
pub(super) fn supply(closed: &[bool], window: u64) -> u64 {
    let starts = 0..closed.len() as u64;
    starts
        .map(|start| open(closed, start, window))
        .min()
        .unwrap()
}

/// b in 1 / P: the largest excess over W / P t of any window up to two cycles.
pub(super) fn burst(closed: &[bool]) -> u128 {
    let cycle = closed.len() as u64;
    let sum = cycle - open(closed, 0, cycle);
    let windows = (0..cycle).flat_map(|start| (0..=2 * cycle).map(move |window| (start, window)));
    let excess = windows.map(|(start, window)| {
        let inside = window - open(closed, start, window);
        i128::from(inside * cycle) - i128::from(sum * window)
    });
    excess.max().unwrap().unsigned_abs()
}

/// A run of level B: each task's jobs are released at these instants and execute C_i at its own level in open ticks. The
/// longest response of each task among those complete before `end`; `None` if a deadline up to `end` is missed.
pub(super) fn run(
    is_closed: impl Fn(u64) -> bool,
    rows: &[&Row],
    releases: &[Vec<u64>],
    order: Order,
    (start, end): (u64, u64),
) -> Option<Vec<u64>> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut longest = vec![0; rows.len()];
    for tick in start..=end {
        let late = |job: &Job| job.left > 0 && job.release + rows[job.task].deadline <= tick;
        if jobs.iter().any(late) {
            return None;
        }
        for (task, row) in rows.iter().enumerate() {
            if releases[task].contains(&tick) {
                jobs.push(Job {
                    task,
                    release: tick,
                    left: row.own_wcet(),
                });
            }
        }
        if is_closed(tick) {
            continue;
        }
        let there = jobs.iter_mut().filter(|job| job.left > 0);
        let first = there.min_by_key(|job| {
            let row = rows[job.task];
            match order {
                Order::Deadlines => (job.release + row.deadline, job.task),
                Order::Rates => (row.period, job.task),
            }
        });
        if let Some(job) = first {
            job.left -= 1;
            if job.left == 0 {
                longest[job.task] = longest[job.task].max(tick + 1 - job.release);
            }
        }
        jobs.retain(|job| job.left > 0);
    }
    Some(longest)
}

/// For each phase of the cycle the run in which all tasks come together and then as early as possible: over the
/// hyperperiod by deadlines, to the longest deadline by rates. The longest responses, `None` if a deadline is missed.
pub(super) fn all_phases(closed: &[bool], rows: &[&Row], order: Order) -> Option<Vec<u64>> {
    let cycle = closed.len() as u64;
    let length = match order {
        Order::Deadlines => hyperperiod(cycle, rows),
        Order::Rates => rows.iter().map(|row| row.deadline).max().unwrap_or(0),
    };
    let mut longest = vec![0; rows.len()];
    for start in 0..cycle {
        let span = start..start + length;
        let releases = rows
            .iter()
            .map(|row| span.clone().step_by(row.period as usize).collect());
        let releases: Vec<Vec<u64>> = releases.collect();
        let is_closed = |tick: u64| closed[(tick % cycle) as usize];
        let found = run(is_closed, rows, &releases, order, (start, span.end))?;
        for (longest, found) in longest.iter_mut().zip(found) {
            *longest = found.max(*longest);
        }
    }
    Some(longest)
}
