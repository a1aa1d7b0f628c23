//! Tables that are given instead of being built.

use super::table::{JOBS_MAX, jobs};
use crate::level_reason::LevelReason;
use crate::parameters::{DispatchTable, SlotFault, task_id};
use crate::problem::Row;
use vestal_core::CpuId;
use vestal_core::time::HORIZON_NANOS;

/// Checks the table of a CPU with these tasks of level A: slots in their order and within the cycle, each of one of the tasks,
/// the cycle a multiple of each period, and for each job C_i(A) in its task's slots between its release, a multiple of its period,
/// and its deadline. Necessary and sufficient for jobs that come then, and what
/// [`vestal_core::engine::levelled`] asks for. O(s log s + j) for s slots and j jobs.
///
/// # Errors
/// The first of these that does not hold, or [`LevelReason::CycleTooLong`].
pub(super) fn check(cpu: CpuId, table: &DispatchTable, rows: &[&Row]) -> Result<(), LevelReason> {
    if let Some((position, fault)) = table.fault() {
        return Err(LevelReason::SlotOrder {
            cpu,
            position,
            fault,
        });
    }
    let cycle = table.cycle.as_nanos();
    if cycle > HORIZON_NANOS {
        return Err(LevelReason::SlotOrder {
            cpu,
            position: 0,
            fault: SlotFault::BeyondCycle,
        });
    }
    for (position, slot) in table.slots.iter().enumerate() {
        let task = slot.task;
        if !rows.iter().any(|row| task_id(row.task) == task) {
            return Err(LevelReason::WrongSlot {
                cpu,
                position,
                task,
            });
        }
    }
    for row in rows {
        if cycle == 0 || !cycle.is_multiple_of(row.period) {
            let task = task_id(row.task);
            return Err(LevelReason::PeriodAndCycle { cpu, task });
        }
    }
    if jobs(cycle, rows) > JOBS_MAX {
        let jobs_max = JOBS_MAX;
        return Err(LevelReason::CycleTooLong { cpu, jobs_max });
    }
    rows.iter().try_for_each(|row| has_room(cpu, table, row))
}

/// For each job of a task C_i(A) in its slots.
fn has_room(cpu: CpuId, table: &DispatchTable, row: &Row) -> Result<(), LevelReason> {
    let task = task_id(row.task);
    let jobs = table.cycle.as_nanos() / row.period;
    let mut own = table.slots.iter().filter(|slot| slot.task == task);
    let mut current = own.next();
    for job in 0..jobs {
        let release = job * row.period;
        let (deadline, next) = (release + row.deadline, release + row.period);
        let mut given = 0;
        while let Some(slot) = current {
            let start = slot.start.as_nanos();
            let end = start + slot.length.as_nanos();
            given += end.min(deadline).saturating_sub(start.max(release));
            if end > next {
                break;
            }
            current = own.next();
        }
        if given < row.own_wcet() {
            return Err(LevelReason::SlotsTooShort { cpu, task, job });
        }
    }
    Ok(())
}
