//! How sharply budgets that outlive jobs are kept here: tried out before a run that has such budgets, by a short run of the
//! same kind on the same processor.
//!
//! The monitor of a budget says when it is used up; what the thread uses from there until it stands is not in that: it
//! may have to be held by a signal, or be between two bodies, where nobody holds it. So the trial is a run itself, with the
//! dispatch, the monitor and the priorities of the run that follows. A deferrable server gives less than its task wants,
//! and its budget ends inside long bodies as well as anywhere in short jobs.

use crate::account::SWITCH_NANOS_MAX;
use crate::config::TaskSpec;
use crate::decider::{BoxedScheduler, CpuSpec, NoScheduler};
use crate::report::Report;
use vestal_core::server::{ByLevel, ServerKind};
use vestal_core::{
    Duration, Hierarchy, HierarchyConfiguration, Level, LevelSet, LocalOrder, Modes, ServedTask,
    ServerConfiguration, ServerId, Service, Task, TaskConfiguration, Wcet,
};

/// How long the trial takes: 250 budgets.
pub(crate) const SPAN: Duration = Duration::from_millis(750);

/// In the rest of a period others use the CPU and its caches, as they do between the budgets of a run.
const PERIOD: Duration = Duration::from_millis(3);
const BUDGET: Service = Service::from_micros(300);

/// Jobs come so often that there is always one to do.
const RELEASES: Duration = Duration::from_micros(100);

/// Of so many jobs one is long: it goes on over three budgets, and the short ones use up about as many.
const CYCLE: u64 = 16;
const SHORT: Service = Service::from_micros(20);
const LONG: Service = Service::from_micros(700);

/// The CPU of the trial.
pub(crate) fn cpu() -> CpuSpec {
    let spec = CpuSpec::managed(one_server);
    CpuSpec {
        guarantee: false,
        // Those that are late anyway are dropped.
        backlog: Some(1),
        ..spec
    }
}

/// Its task.
pub(crate) fn task() -> TaskSpec {
    let demand = Wcet::constant(SHORT);
    let task = Task {
        criticality: Level::LOWEST,
        period: RELEASES,
        deadline: RELEASES,
        wcet: demand,
        degraded: None,
    };
    TaskSpec {
        name: "trial".to_owned(),
        configuration: TaskConfiguration::new(task, 1),
        offset: Duration::ZERO,
        demand_max: None,
    }
}

/// What its job number `sequence` is to execute.
pub(crate) const fn demand(sequence: u64) -> Service {
    if sequence.is_multiple_of(CYCLE) {
        LONG
    } else {
        SHORT
    }
}

/// A trial that time was stolen from all along is made again, so often in all.
pub(crate) const ATTEMPTS: u32 = 3;

/// What a trial says that a budget may be exceeded by: the most that one was in which no time was stolen, and what may be
/// taken at a switch from one thread to another without counting as that. `None` if there was no such budget.
pub(crate) fn granularity(report: &Report) -> Option<Service> {
    let cpu = report.cpus.first()?;
    let beyond = cpu.enforcement.server_overshoot_undisturbed;
    let most = beyond.max.saturating_add(SWITCH_NANOS_MAX);
    (beyond.count > 0).then(|| Service::from_nanos(most))
}

fn one_server(
    tasks: &[TaskConfiguration],
    granularity: Service,
) -> Result<BoxedScheduler, NoScheduler> {
    let server = ServerConfiguration {
        kind: ServerKind::Deferrable {
            period: PERIOD,
            capacity: ByLevel::constant(BUDGET),
        },
        priority: 1,
        criticality: Level::LOWEST,
        order: LocalOrder::FixedPriority,
    };
    let served = tasks.iter().map(|entry| ServedTask {
        task: entry.task,
        server: ServerId(0),
        priority: entry.priority,
        on_behalf_of: None,
    });
    let served: Vec<ServedTask> = served.collect();
    let levels = LevelSet::new(1).ok_or("there is no set of one level")?;
    let engine = Hierarchy::new(&HierarchyConfiguration {
        servers: &[server],
        tasks: &served,
        devices: &[],
        levels,
        modes: Modes::Requested,
        granularity,
        wake_granularity: Duration::ZERO,
    })?;
    Ok(Box::new(engine))
}
