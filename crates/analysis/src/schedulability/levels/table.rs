//! The table of a CPU: its level-A tasks by earliest deadlines over their hyperperiod.

use super::Effort;
use crate::level_reason::LevelReason;
use crate::parameters::{DispatchTable, task_id};
use crate::problem::Row;
use num_integer::Integer;
use std::collections::{BTreeSet, BinaryHeap};
use vestal_core::time::HORIZON_NANOS;
use vestal_core::{CpuId, Duration, TableSlot};

/// So many jobs of a cycle are looked at.
pub(super) const JOBS_MAX: u64 = 65_536;

/// The least cycle of a table for these tasks; 0 without tasks. Within the horizon, and at most [`JOBS_MAX`] jobs.
///
/// # Errors
/// [`LevelReason::CycleTooLong`].
fn cycle(cpu: CpuId, rows: &[&Row]) -> Result<u64, LevelReason> {
    let too_long = LevelReason::CycleTooLong {
        cpu,
        jobs_max: JOBS_MAX,
    };
    let Some((first, rest)) = rows.split_first() else {
        return Ok(0);
    };
    let mut cycle = first.period;
    for row in rest {
        let factor = row.period / cycle.gcd(&row.period);
        cycle = cycle.checked_mul(factor).ok_or(too_long)?;
    }
    match cycle <= HORIZON_NANOS && jobs(cycle, rows) <= JOBS_MAX {
        true => Ok(cycle),
        false => Err(too_long),
    }
}

/// How many jobs a cycle has.
pub(super) fn jobs(cycle: u64, rows: &[&Row]) -> u64 {
    let each = rows.iter().map(|row| cycle / row.period);
    each.fold(0, u64::saturating_add)
}

/// A table in which each job of the tasks has C_i(A) between its release, a multiple of its period, and its
/// deadline: that of preemptive EDF over the hyperperiod, where of equal deadlines the shorter period goes first, then the
/// task that comes first. EDF is optimal on one CPU: where it is late, there is no such table. O(n log n) for n jobs.
///
/// # Errors
/// [`LevelReason::CycleTooLong`], [`LevelReason::NoTable`], [`LevelReason::NotDecided`].
pub(super) fn build(
    cpu: CpuId,
    rows: &[&Row],
    effort: &mut Effort,
) -> Result<DispatchTable, LevelReason> {
    let cycle = cycle(cpu, rows)?;
    if !effort.take(jobs(cycle, rows)) {
        return Err(LevelReason::NotDecided { cpu });
    }
    let mut slots: Vec<TableSlot> = Vec::new();
    // At most one job of a task is pending: none is late.
    let mut left = vec![0; rows.len()];
    let mut ready: BTreeSet<(u64, u64, usize)> = BTreeSet::new();
    let first = (0..rows.len()).map(|place| core::cmp::Reverse((0, place)));
    let mut releases: BinaryHeap<core::cmp::Reverse<(u64, usize)>> = first.collect();
    let mut now = 0;
    loop {
        while let Some(&core::cmp::Reverse((release, place))) = releases.peek()
            && release <= now
        {
            releases.pop();
            let row = rows[place];
            left[place] = row.own_wcet();
            ready.insert((release + row.deadline, row.period, place));
            if cycle - release > row.period {
                releases.push(core::cmp::Reverse((release + row.period, place)));
            }
        }
        let next = releases.peek().map(|released| released.0.0);
        let Some(&(deadline, period, place)) = ready.first() else {
            match next {
                Some(next) => now = next,
                None => break,
            }
            continue;
        };
        let row = rows[place];
        let end = now.saturating_add(left[place]);
        let until = next.map_or(end, |next| next.min(end));
        if until > deadline {
            let (task, job) = (task_id(row.task), (deadline - row.deadline) / period);
            return Err(LevelReason::NoTable { cpu, task, job });
        }
        let begins = left[place] == row.own_wcet();
        give(&mut slots, row, (now, until), begins);
        left[place] -= until - now;
        if left[place] == 0 {
            ready.remove(&(deadline, period, place));
        }
        now = until;
    }
    Ok(DispatchTable {
        cycle: Duration::from_nanos(cycle),
        slots,
    })
}

/// Adds a piece of a job; pieces of one job that touch are one slot.
fn give(slots: &mut Vec<TableSlot>, row: &Row, (start, end): (u64, u64), begins: bool) {
    let (start, length) = (
        Duration::from_nanos(start),
        Duration::from_nanos(end - start),
    );
    let task = task_id(row.task);
    if let Some(last) = slots.last_mut()
        && !begins
        && last.task == task
        && last.start.saturating_add(last.length) == start
    {
        last.length = last.length.saturating_add(length);
        return;
    }
    slots.push(TableSlot {
        start,
        length,
        task,
    });
}
