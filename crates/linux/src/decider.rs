//! The CPUs of a set: who decides on each of them.

mod make;

use crate::sys::Processor;
pub use make::{BoxedScheduler, MakeGuard, MakeScheduler, NoScheduler};
use std::fmt;
use vestal_core::{Guard, Level, Scheduler, Service, TaskConfiguration, TaskId};

/// Who decides on a CPU.
pub enum Decider {
    /// The kernel's fixed priorities keep the order of jobs, by the priorities of their tasks, and a guard enforces:
    /// *native dispatch*.
    Native(Box<MakeGuard>),
    /// A manager dispatches the jobs as a scheduler says, any of one CPU: *managed dispatch*.
    Managed(Box<MakeScheduler>),
    /// The scheduler of a frame table that all CPUs of the set have in common ([`crate::Executive::frames`]).
    Common,
}

impl fmt::Debug for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native(_) => "Native",
            Self::Managed(_) => "Managed",
            Self::Common => "Common",
        })
    }
}

/// One CPU of a set.
#[derive(Debug)]
pub struct CpuSpec {
    /// The CPU of the machine on which it runs; several may run on one. `None`: one of the last that the process may use
    /// (CPU 0 serves most interrupts), each on another.
    pub processor: Option<Processor>,
    /// Who decides on it.
    pub decider: Decider,
    /// Whether deadlines are guaranteed, because a schedulability test accepted its tasks. `false`: no miss counts as
    /// one that the policy had guaranteed not to happen; nor does any where CPUs of the set share a processor.
    pub guarantee: bool,
    /// How many jobs of one task may wait behind its current one; more are dropped. `None`: any number.
    pub backlog: Option<usize>,
    /// How much of the CPU its tasks may use in any second, in millionths, where something else than the limits of their
    /// jobs says so, such as budgets of servers. `None`: what those limits allow. Beyond what throttling of real-time
    /// threads leaves, a run is refused.
    pub utilization_ppm: Option<u64>,
    /// Whether the tolerance of the run ([`crate::Config::tolerance`]) is taken off what each job of a task is charged also where
    /// a budget outlives it: for servers that have what one job of theirs needs. A server gives as much more with each
    /// job then. Bottom halves are charged all that they use.
    pub tolerates_each_job: bool,
}

impl CpuSpec {
    /// A CPU with native dispatch and a guarantee; see [`MakeGuard`].
    pub fn native<E: Into<NoScheduler>>(
        make: impl Fn(&[TaskConfiguration], Service) -> Result<Guard, E> + Send + 'static,
    ) -> Self {
        Self::with(Decider::Native(Box::new(move |tasks, granularity| {
            make(tasks, granularity).map_err(Into::into)
        })))
    }

    /// A CPU with managed dispatch and a guarantee; see [`MakeScheduler`].
    pub fn managed<E: Into<NoScheduler>>(
        make: impl Fn(&[TaskConfiguration], Service) -> Result<BoxedScheduler, E> + Send + 'static,
    ) -> Self {
        Self::with(Decider::Managed(Box::new(move |tasks, granularity| {
            make(tasks, granularity).map_err(Into::into)
        })))
    }

    /// A CPU of a frame table with a guarantee, which holds if all CPUs of the table have one.
    #[must_use]
    pub const fn common() -> Self {
        Self::with(Decider::Common)
    }

    const fn with(decider: Decider) -> Self {
        Self {
            processor: None,
            decider,
            guarantee: true,
            backlog: None,
            utilization_ppm: None,
            tolerates_each_job: false,
        }
    }

    /// The same on this CPU of the machine.
    #[must_use]
    pub fn on(self, processor: impl Into<Option<Processor>>) -> Self {
        Self {
            processor: processor.into(),
            ..self
        }
    }
}

/// The state machine of a CPU.
pub(crate) enum RunScheduler {
    Guard(Box<Guard>),
    Dispatching(BoxedScheduler),
}

impl Decider {
    /// The state machine of a CPU with these tasks, for this granularity if it is native.
    pub(crate) fn make(
        &self,
        tasks: &[TaskConfiguration],
        granularity: Service,
    ) -> Result<RunScheduler, NoScheduler> {
        Ok(match self {
            Self::Native(make) => RunScheduler::Guard(Box::new(make(tasks, granularity)?)),
            Self::Managed(make) => RunScheduler::Dispatching(make(tasks, Service::ZERO)?),
            Self::Common => return Err("its CPU has no scheduler of its own".into()),
        })
    }
}

/// The limits that jobs of each task can have, and the level of each.
pub(crate) fn limits_of(
    decider: &(impl Scheduler + ?Sized),
    tasks: &[TaskConfiguration],
) -> Vec<Vec<(Level, Service)>> {
    let limits = |(entry, id): (&TaskConfiguration, TaskId)| {
        let levels = entry.task.criticality.up_to_self();
        let limits = levels.filter_map(|level| Some((level, decider.limit_at(id, level)?)));
        limits.collect()
    };
    tasks.iter().zip((0..).map(TaskId)).map(limits).collect()
}
