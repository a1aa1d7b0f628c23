//! What is drawn: tasks, what their jobs need, and CPUs that are told when they are wanted otherwise.

use vestal_core::plan::{Plan, Sequences, Slot};
use vestal_core::{
    Budgets, Container, ContractViolation, CpuTable, Duration, Fact, Instant, JobId, Level, LevelB,
    LevelledConfiguration, LevelledTask, Notice, Permit, Scheduler, Service, SharedDomain, TaskId,
};
use vestal_testkit::Random;
use vestal_testkit::short::{span, task};

/// A CPU's own domain that is told whether it wants its CPU.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) wants: bool,
    pub(super) slots: Vec<Option<Slot>>,
}

impl Scheduler for Gate {
    fn apply(&mut self, _: Instant, _: Fact) -> Result<(), ContractViolation> {
        Ok(())
    }

    fn decide(&mut self, _: Instant) -> Result<Plan<'_>, ContractViolation> {
        let job = JobId {
            task: TaskId(0),
            sequence: 0,
        };
        let slot = Slot { job, budget: None };
        if let Some(last) = self.slots.last_mut() {
            *last = self.wants.then_some(slot);
        }
        Ok(Plan {
            slots: &self.slots,
            sequences: Sequences::NONE,
            next: None,
            mode: Level::LOWEST,
        })
    }

    fn permit(&self, _: TaskId) -> Permit {
        Permit::NotAdmitted
    }

    fn take_notice(&mut self) -> Option<Notice> {
        None
    }

    fn lost_notices(&self) -> u64 {
        0
    }
}

/// What is drawn of a system.
pub(super) struct System {
    pub(super) seed: u64,
    pub(super) cpus: u16,
    pub(super) tasks: Vec<LevelledTask>,
    pub(super) budgets: Budgets,
    /// How many facts of a CPU nobody need have looked at.
    pub(super) room: usize,
    /// Managers stand still for some ticks.
    pub(super) stalls: bool,
}

impl System {
    pub(super) fn draw(seed: u64, stalls: bool) -> Self {
        let mut random = Random::new(seed);
        let cpus = random.between(1, 4) as u16;
        let count = random.between(1, 2 + 2 * u64::from(cpus));
        let tasks = (0..count).map(|_| {
            let period = random.between(3, 16);
            let own = random.between(1, period.div_ceil(2));
            LevelledTask {
                task: task(1, period, &[own, own]),
                container: Container::Global,
            }
        });
        Self {
            seed,
            cpus,
            tasks: tasks.collect(),
            budgets: random.one_of(&[Budgets::Enforced, Budgets::Enforced, Budgets::Ignored]),
            room: random.one_of(&[1, 2, 5, 64]) as usize,
            stalls,
        }
    }

    pub(super) fn domain(&self) -> SharedDomain {
        let table = CpuTable {
            cycle: span(1),
            slots: &[],
        };
        let tables = vec![table; usize::from(self.cpus)];
        SharedDomain::with_store(&LevelledConfiguration {
            tasks: &self.tasks,
            tables: &tables,
            backlog: 50,
            budgets: self.budgets,
            level_b: LevelB::EarliestDeadline,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        })
        .unwrap()
    }

    /// What a job needs: less than its budget, as much, or more.
    pub(super) fn demand(&self, job: JobId) -> u64 {
        let own = self.tasks[job.task.index()].task.own_wcet().as_nanos();
        let mixed = self.seed ^ u64::from(job.task.0) << 40 ^ job.sequence << 8;
        let mut random = Random::new(mixed);
        match random.below(8) {
            0 => own + random.between(1, own),
            1..4 => random.between(1, own),
            _ => own,
        }
    }

    /// The jobs that are released at a tick.
    pub(super) fn released(&self, now: u64) -> impl Iterator<Item = JobId> {
        (0..).zip(&self.tasks).filter_map(move |(task, entry)| {
            let period = entry.task.period.as_nanos();
            let (task, sequence) = (TaskId(task), now / period);
            now.is_multiple_of(period)
                .then_some(JobId { task, sequence })
        })
    }
}
