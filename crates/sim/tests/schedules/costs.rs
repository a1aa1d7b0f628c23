//! The simulated world with costs: against a tick-by-tick twin, by hand, and its accounts.

mod accounts;
mod against_twin;
mod by_hand;
mod draw;
mod frames;
mod free;
mod levelled;
mod log;
mod twin;
mod witness;

use crate::common::recorder::engine_of;
use crate::common::system::{backlog_of, tasks_of, workload_of};
use crate::reference::{Reason, System};
use vestal_core::{CpuId, Instant, Task};
use vestal_sim::costs::Cause;
use vestal_sim::{Amid, Charges, Costs, Observer, Setting, simulate_amid};

/// Who has the CPU during a tick, by task and job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Body(usize, usize),
    Own(usize, usize),
    Mechanism(Cause),
}

/// What happened on one CPU, instant by instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) ticks: Vec<Option<Use>>,
    /// For each tick the mode.
    pub(crate) modes: Vec<u8>,
    /// Completions: instant, task, job.
    pub(crate) completed: Vec<(u64, usize, usize)>,
    /// Drops: instant, task, job, reason; sorted.
    pub(crate) dropped: Vec<(u64, usize, usize, Reason)>,
}

/// One sign for each tick: the number of the task for a body, its letter (a is task 0) for a job's own part, the first
/// letter of a cause, or a dot.
pub(crate) fn row(ticks: &[Option<Use>]) -> String {
    let sign = |used: &Option<Use>| match *used {
        None => '.',
        Some(Use::Body(task, _)) => char::from(b'0' + task as u8),
        Some(Use::Own(task, _)) => char::from(b'a' + task as u8),
        Some(Use::Mechanism(cause)) => match cause {
            Cause::Job => unreachable!("no mechanism has a CPU for that"),
            Cause::Release => 'R',
            Cause::Switch => 'S',
            Cause::Completion => 'C',
            Cause::Exhaustion => 'E',
            Cause::Mode => 'M',
            Cause::Wake => 'W',
            Cause::Frame => 'F',
            Cause::Heartbeat => 'H',
        },
    };
    ticks.iter().map(sign).collect()
}

/// Runs the system under the engine in the simulated world.
pub(crate) fn simulate_system<O: Observer>(
    system: &System,
    costs: Option<&Costs>,
    observer: &mut O,
) {
    let configured = tasks_of(system);
    let tasks: Vec<Task> = configured.iter().map(|entry| entry.task).collect();
    let mut engine = engine_of(system, &configured);
    let (releases, demand) = workload_of(system);
    let setting = Setting {
        tasks: &tasks,
        cpus: 1,
        end: Instant::from_nanos(system.end),
        backlog: backlog_of(system),
    };
    let amid = Amid {
        outside: None,
        costs: costs.map(|costs| (Charges::Fixed(costs), &[] as &[CpuId])),
    };
    simulate_amid(&mut engine, &setting, amid, &releases, &demand, observer).unwrap();
    assert!(engine.check_invariants());
}
