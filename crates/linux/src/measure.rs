//! What of this world can be measured apart from a run, for benchmarks.

mod pair;

pub use crate::arming::{BUDGET_NANOS, arming_costs};
pub use crate::calibrate::calibrate;
pub use crate::marker::trace_marks;
pub use crate::skew::clock_skew;
pub use pair::{Met, Pair};

use crate::error::RunError;
use crate::recording::{Recording, Rings};
use crate::rights::{CpuNeeds, Needs, Rights};
use crate::sys::Processor;
use crate::sys::clock::monotonic_nanos;
use std::hint::black_box;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{Fact, Instant, JobId, TaskId};
use vestal_statistics::Histogram;

/// The CPU for threads that measure, with SCHED_FIFO priorities up to `priority`: that asked for, or the last one
/// that the process may use.
///
/// # Errors
/// [`RunError::Refused`] if the process has no right to such priorities, or may not use that CPU.
pub fn cpu_for(rights: &Rights, priority: u8, wanted: Option<usize>) -> Result<usize, RunError> {
    let cpu = CpuNeeds {
        processor: wanted.map(Processor),
        priority,
        utilization_ppm: 0,
    };
    let needs = Needs {
        cpus: vec![cpu],
        ..Needs::default()
    };
    let processors = rights.processors_for(&needs);
    let processors = processors.map_err(RunError::Refused)?;
    let allowed = |&Processor(number): &Processor| number;
    processors
        .first()
        .map(allowed)
        .ok_or_else(|| RunError::Refused(Vec::new()))
}

/// What the record of an event costs the thread that writes it, in nanoseconds: `rounds` figures.
///
/// Each is the mean over 64 records in groups of four, as workers write them, to a ring of the usual size, which
/// is emptied between two figures. Reading the clock for the instants of the records is not part of it.
#[must_use]
pub fn trace_records(rounds: u32) -> Histogram {
    const GROUPS: u64 = 16;
    const OF: u64 = 4;
    let mut rings = Rings::default();
    let mut trace = rings.add(Recording::RING_RECORDS);
    let mut costs = Histogram::default();
    let job = JobId {
        task: TaskId(0),
        sequence: 0,
    };
    for round in 0..u64::from(rounds) {
        let before = monotonic_nanos();
        for group in 0..GROUPS {
            trace.open();
            for number in 0..OF {
                let at = Instant::from_nanos(black_box(round + group + number));
                trace.observed(at, Fact::Started { cpu: CPU, job });
            }
            trace.close();
        }
        let spent = monotonic_nanos().saturating_sub(before);
        costs.record(spent / (GROUPS * OF));
        rings.discard();
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_gives_one_figure() {
        assert_eq!(trace_records(3).summary().count, 3);
    }
}
