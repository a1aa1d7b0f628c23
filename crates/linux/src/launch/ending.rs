//! How a run begins on all CPUs, and how it ends.

use super::SharedCpu;
use crate::error::RunError;
use crate::let_go::{Waiting, let_go};
use crate::recording::{Gathered, Gatherer, Last};
use crate::report::Ended;
use crate::run::Run;
use crate::thread::start::{Place, Threads};
use crate::words::Cause;
use std::io;
use vestal_core::{Duration, TaskId};
use vestal_trace::Record;

/// Of these places the tasks on CPU `index` of the set.
pub(crate) fn of_cpu(places: &[Place], index: usize) -> Vec<usize> {
    let here = places.iter().filter(|(cpu, _)| *cpu == index);
    here.map(|&(_, task)| task).collect()
}

/// Ends a run of which not all threads could be started.
pub(crate) fn abandon(run: &Run, cpus: &[SharedCpu], threads: Threads, patience: Duration) {
    run.request_stop(Cause::SetupFailed);
    cpus.iter().for_each(|cpu| cpu.halt());
    let _ = threads.join(patience);
}

pub(crate) fn finish(
    gatherer: Gatherer,
    last: Vec<Last>,
    common: Option<Record>,
) -> Result<Gathered, RunError> {
    let finished = gatherer.finish(last, common);
    finished.map_err(RunError::system("gather notes and records"))
}

/// Opens the run, on all CPUs with one epoch.
pub(crate) fn go(run: &Run, cpus: &[SharedCpu], span: Duration) {
    let waiting = cpus.iter().map(|cpu| Waiting {
        notes: &cpu.notes,
        beat: &cpu.beat,
        phase: &cpu.phase,
    });
    let_go(run, &waiting.collect::<Vec<Waiting<'_>>>(), span);
}

pub(crate) fn how_it_ended(run: &Run, cpus: &[SharedCpu]) -> Result<Ended, RunError> {
    let of = |cpu: u16| cpus.get(usize::from(cpu));
    match run.stop_cause() {
        Some(Cause::Finished) => Ok(Ended::Finished),
        Some(Cause::Signal(signal)) => Ok(Ended::Signal(signal)),
        Some(Cause::BodyPanicked { cpu, task }) => {
            let found = of(cpu).and_then(|cpu| cpu.panic_of(TaskId(task)));
            let (task, message) = found.unwrap_or_default();
            Err(RunError::BodyPanicked { task, message })
        }
        Some(Cause::ManagerPanicked(cpu)) => Err(RunError::ManagerPanicked {
            message: of(cpu).map_or_else(String::new, |cpu| cpu.panic_of_manager()),
        }),
        Some(Cause::SetupFailed) => Err(RunError::System {
            what: "restore a worker's priority",
            source: io::Error::other("refused during the run"),
        }),
        Some(Cause::ManagerHung(_)) | None => Err(RunError::ManagerHung),
    }
}
