//! The tasks of one domain with their jobs and budgets: what local and shared domains have in common.
//!
//! A task of level B or C is a container of its own: each release brings a budget and a deadline.
//! Budgets queue like jobs and are used in their order, whichever job needs them, so that a tardy
//! task keeps every budget with its own deadline, and an overrunning job goes on with the next one
//! (Herman et al., RTAS 2012, section 2.2). A budget is used up by its task's jobs, or, while the
//! task has no work, by its *ghost*.
//!
//! ```text
//!  release        work is charged (1)                 used up (2): the next budget, or
//!  --------> budget --------------------> budget ----------------> none until a release (3)
//!     (3)          \   no work: ghost (1)   /
//!                   +----------------------+
//! ```
//! (1) `consume`, (2) `consume`, (3) `admit`.
//!
//! What is charged beyond all budgets, because the world stopped a job late, is a debt that the
//! next budget pays.
//!
//! Invariants: I1 a task is in `by_urgency` exactly if it has a budget; I2 a budget in the queue is
//! not used up; I3 a best-effort task is in `by_release` exactly if it has a job.

use super::configuration::{Budgets, LevelB, LevelledConfiguration, LevelledTask};
use crate::configuration_error::ConfigurationError;
use crate::engine::clock::Clock;
use crate::fact::{Fact, StopReason};
use crate::ids::{CpuId, JobId, TaskId};
use crate::job_table::{Arrival, Ring, Staged};
use crate::notice::{DropReason, Event};
use crate::plan::{Budget, BudgetOwner, OnExhaustion, Permit, Slot, Until};
use crate::queue::{Cursor, ReadyHeap, Rows, TaskBits};
use crate::scheduler::ContractViolation;
use crate::store::Store;
use crate::time::{Instant, Service};
use crate::urgency::Urgency;

/// An allowance that a release brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Allowance {
    deadline: Instant,
    remaining: Service,
}

/// The job that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Served {
    arrival: Arrival,
    executed: Service,
    /// Its overrun was noticed already.
    overrun: bool,
}

/// What is remembered of one task, beside its queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Server {
    current: Option<Served>,
    /// Where the world confirmed its current job to be running (C5).
    running: Option<CpuId>,
    /// Releases since the last decision, oldest first.
    arrived: Ring<Staged>,
    /// The smallest sequence the next release may have.
    next_sequence: u64,
    /// What its job was charged since the last decision.
    charged: Service,
    /// Its job was reported complete since the last decision.
    completed: bool,
    /// What was charged beyond all budgets.
    debt: Service,
    /// What its ghosts used up.
    ghost: Service,
}

/// The tasks of one domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Servers<S: Store> {
    tasks: S::Table<LevelledTask>,
    /// The CPU whose own domain this is; `None` for the shared one.
    home: Option<CpuId>,
    servers: S::Table<Server>,
    waiting: Rows<Arrival, S>,
    allowances: Rows<Allowance, S>,
    /// Tasks with a budget, by its deadline, or by their periods.
    pub(super) by_urgency: ReadyHeap<S>,
    /// Best-effort tasks with a job, by its release.
    pub(super) by_release: ReadyHeap<S>,
    /// For each CPU what runs there as far as this domain is concerned.
    running: S::Table<Option<JobId>>,
    dirty: TaskBits<S>,
    budgets: Budgets,
    /// Who goes first here; the shared domain always goes by deadlines.
    order: LevelB,
    granularity: Service,
    pub(super) clock: Clock<S>,
}

impl<S: Store> Servers<S> {
    pub(super) fn new(
        configuration: &LevelledConfiguration<'_>,
        home: Option<CpuId>,
    ) -> Result<Self, ConfigurationError> {
        let count = configuration.tasks.len();
        let members = configuration
            .tasks
            .iter()
            .filter(|entry| entry.container.home() == home)
            .fold(0_usize, |members, _| members.saturating_add(1));
        let too_many = ConfigurationError::TooManyTasks { found: count };
        let first = *configuration
            .tasks
            .first()
            .ok_or(ConfigurationError::NoTasks)?;
        let server = Server {
            current: None,
            running: None,
            arrived: Ring::EMPTY,
            next_sequence: 0,
            charged: Service::ZERO,
            completed: false,
            debt: Service::ZERO,
            ghost: Service::ZERO,
        };
        // The current job's budget stands in the queue with those of the waiting ones.
        let allowances = configuration.backlog.saturating_add(1);
        Ok(Self {
            tasks: S::copied(configuration.tasks, first).ok_or(too_many)?,
            home,
            servers: S::table(count, server).ok_or(too_many)?,
            waiting: Rows::new(count, configuration.backlog).ok_or(too_many)?,
            allowances: Rows::new(count, allowances).ok_or(too_many)?,
            by_urgency: ReadyHeap::new(count).ok_or(too_many)?,
            by_release: ReadyHeap::new(count).ok_or(too_many)?,
            running: S::table(configuration.tables.len(), None).ok_or(too_many)?,
            dirty: TaskBits::new(count).ok_or(too_many)?,
            budgets: configuration.budgets,
            order: match home {
                Some(_) => configuration.level_b,
                None => LevelB::EarliestDeadline,
            },
            granularity: configuration.granularity,
            clock: Clock::new(configuration.wake_granularity, members),
        })
    }

    /// The task, if it belongs to this domain.
    pub(super) fn entry(&self, task: TaskId) -> Option<&LevelledTask> {
        self.tasks
            .get(task.index())
            .filter(|entry| entry.container.home() == self.home)
    }

    /// Whether the task has a job that may run.
    pub(super) fn has_work(&self, task: TaskId) -> bool {
        self.current(task).is_some()
    }

    fn current(&self, task: TaskId) -> Option<Served> {
        self.servers.get(task.index())?.current
    }

    /// Where the task's job is confirmed to run.
    pub(super) fn running(&self, task: TaskId) -> Option<CpuId> {
        self.servers.get(task.index())?.running
    }

    /// What is left of the task's present budget.
    pub(super) fn remaining(&self, task: TaskId) -> Option<Service> {
        self.allowances
            .first(task.index())
            .map(|allowance| allowance.remaining)
    }

    /// The current job of a task that goes by its budgets, or has none.
    pub(super) fn budgeted_slot(&self, task: TaskId) -> Option<Slot> {
        let remaining = match self.budgets {
            Budgets::Enforced => self.remaining(task),
            Budgets::Ignored => None,
        };
        self.slot(task, remaining)
    }

    /// The task's current job, with what it may execute before it has to wait.
    pub(super) fn slot(&self, task: TaskId, remaining: Option<Service>) -> Option<Slot> {
        let sequence = self.current(task)?.arrival.sequence;
        let budget = remaining.map(|remaining| Budget {
            remaining,
            owner: BudgetOwner::Task(task),
            on_exhaustion: OnExhaustion::Suspend,
        });
        let job = JobId { task, sequence };
        Some(Slot { job, budget })
    }

    /// What a task with a budget may do; its limit counts from its job's start.
    pub(super) fn permit(&self, task: TaskId) -> Permit {
        match self.remaining(task) {
            _ if self.budgets == Budgets::Ignored => Permit::Run { limit: None },
            Some(remaining) => {
                let executed = self.current(task).map(|current| current.executed);
                let limit = executed.unwrap_or(Service::ZERO).saturating_add(remaining);
                Permit::Run { limit: Some(limit) }
            }
            None => Permit::Suspended {
                until: Until::Event,
            },
        }
    }

    /// Visits the tasks with facts, in task order.
    pub(super) fn for_dirty(&mut self, mut settle: impl FnMut(&mut Self, TaskId)) {
        let mut cursor = Cursor::default();
        while let Some(task) = self.dirty.next(&mut cursor) {
            settle(self, task);
        }
    }

    /// Facts of the past in the order of C3: completions, then exhaustion. Releases come later.
    pub(super) fn settle_past(&mut self) {
        self.for_dirty(Self::settle_completion);
        self.for_dirty(Self::settle_exhaustion);
    }

    fn settle_completion(&mut self, task: TaskId) {
        let Some(server) = self.servers.get_mut(task.index()) else {
            return;
        };
        if core::mem::take(&mut server.completed) {
            // One that was charged more than it may be has overrun although it is complete (C2).
            let granularity = self.granularity;
            self.notice_overrun(task, |own, executed| {
                executed > own.saturating_add(granularity)
            });
            if let Some(server) = self.servers.get_mut(task.index()) {
                server.current = None;
            }
            self.by_release.remove(task);
            if self.budgets == Budgets::Ignored {
                // Each job has one allowance of its own, which only says when it is due.
                self.allowances.pop(task.index());
                self.queue(task);
            }
            if let Some(arrival) = self.waiting.pop(task.index()) {
                self.serve(task, arrival);
            }
        }
    }

    fn settle_exhaustion(&mut self, task: TaskId) {
        let granularity = self.granularity;
        self.notice_overrun(task, |own, executed| {
            let left = own.saturating_sub(executed);
            left.is_zero() || left < granularity
        });
        let charged = self
            .servers
            .get_mut(task.index())
            .map(|server| core::mem::take(&mut server.charged));
        self.consume(task, charged.unwrap_or(Service::ZERO));
    }

    /// Says once that the current job used up what its task needs at its own level.
    fn notice_overrun(&mut self, task: TaskId, overran: impl Fn(Service, Service) -> bool) {
        let (Some(entry), Some(current)) = (
            self.tasks.get(task.index()),
            self.servers
                .get_mut(task.index())
                .and_then(|server| server.current.as_mut()),
        ) else {
            return;
        };
        let guaranteed = !entry.container.is_best_effort();
        if guaranteed && !current.overrun && overran(entry.task.own_wcet(), current.executed) {
            current.overrun = true;
            let sequence = current.arrival.sequence;
            let event = Event::Overrun {
                job: JobId { task, sequence },
                level: entry.task.criticality,
                executed: current.executed,
            };
            self.clock.notice(event);
        }
    }

    /// Uses up budgets of a task, the oldest first; the excess becomes a debt.
    pub(super) fn consume(&mut self, task: TaskId, mut amount: Service) {
        let budgeted = self
            .tasks
            .get(task.index())
            .is_some_and(|entry| entry.container.has_budget());
        if !budgeted || amount.is_zero() || self.budgets == Budgets::Ignored {
            return;
        }
        while let Some(allowance) = self.allowances.first_mut(task.index())
            && !amount.is_zero()
        {
            let paid = amount.min(allowance.remaining);
            amount = amount.saturating_sub(paid);
            allowance.remaining = allowance.remaining.saturating_sub(paid);
            if allowance.remaining.is_zero() || allowance.remaining < self.granularity {
                self.allowances.pop(task.index());
            }
        }
        if let Some(server) = self.servers.get_mut(task.index()) {
            server.debt = server.debt.saturating_add(amount);
        }
        self.queue(task);
    }

    /// Lets the ghost of a task use up its present budget, and no more than that.
    pub(super) fn consume_as_ghost(&mut self, task: TaskId, amount: Service) {
        let remaining = self.remaining(task).unwrap_or(Service::ZERO);
        let used = amount.min(remaining);
        self.count_ghost(task, used);
        self.consume(task, used);
    }

    /// Counts what a ghost used up.
    pub(super) fn count_ghost(&mut self, task: TaskId, used: Service) {
        if let Some(server) = self.servers.get_mut(task.index()) {
            server.ghost = server.ghost.saturating_add(used);
        }
    }

    /// What the ghosts of a task used up; `None` for tasks that are served elsewhere, and where there is no guarantee, or no task.
    pub(super) fn ghost_time(&self, task: TaskId) -> Option<Service> {
        let container = self.tasks.get(task.index())?.container;
        let is_here = container.home() == self.home && !container.is_best_effort();
        let server = self.servers.get(task.index())?;
        is_here.then_some(server.ghost)
    }

    /// The CPU whose own domain this is.
    pub(super) const fn home(&self) -> Option<CpuId> {
        self.home
    }

    /// Puts the task where its present budget belongs among those of its domain.
    fn queue(&mut self, task: TaskId) {
        let (Some(entry), Some(allowance)) = (
            self.tasks.get(task.index()),
            self.allowances.first(task.index()),
        ) else {
            self.by_urgency.remove(task);
            return;
        };
        let nanos = match self.order {
            LevelB::EarliestDeadline => allowance.deadline.as_nanos(),
            LevelB::RateMonotonic => entry.task.period.as_nanos(),
        };
        self.by_urgency
            .insert(task, Urgency::of_deadline_nanos(nanos));
    }

    fn serve(&mut self, task: TaskId, arrival: Arrival) {
        let Some(server) = self.servers.get_mut(task.index()) else {
            return;
        };
        server.current = Some(Served {
            arrival,
            executed: Service::ZERO,
            overrun: false,
        });
        let best_effort = self
            .tasks
            .get(task.index())
            .is_some_and(|entry| entry.container.is_best_effort());
        if best_effort {
            let urgency = Urgency::of_deadline_nanos(arrival.at.as_nanos());
            self.by_release.insert(task, urgency);
        }
    }

    /// Admits the releases since the last decision, in task order.
    pub(super) fn admit_all(&mut self) {
        self.for_dirty(|servers, task| {
            while let Some(arrival) = servers
                .servers
                .get_mut(task.index())
                .and_then(|server| server.arrived.pop())
            {
                servers.admit(task, arrival.into());
            }
        });
        self.dirty.clear();
    }

    fn admit(&mut self, task: TaskId, arrival: Arrival) {
        let (Some(entry), Some(server)) = (
            self.tasks.get(task.index()).copied(),
            self.servers.get_mut(task.index()),
        ) else {
            return;
        };
        let mut room = true;
        if entry.container.has_budget() {
            room = !self.allowances.is_full(task.index());
            if room {
                let paid = server.debt.min(entry.task.own_wcet());
                server.debt = server.debt.saturating_sub(paid);
                let remaining = entry.task.own_wcet().saturating_sub(paid);
                let deadline = arrival.at.saturating_add(entry.task.deadline);
                let allowance = Allowance {
                    deadline,
                    remaining,
                };
                let useful = !remaining.is_zero() && remaining >= self.granularity;
                if useful || self.budgets == Budgets::Ignored {
                    room = self.allowances.push(task.index(), allowance);
                }
            }
            self.queue(task);
        }
        // A job whose budget found no room has no claim to be served either.
        if room && !self.has_work(task) {
            self.serve(task, arrival);
        } else if !room || !self.waiting.push(task.index(), arrival) {
            let sequence = arrival.sequence;
            let job = JobId { task, sequence };
            let why = DropReason::BacklogFull;
            self.clock.notice(Event::Dropped { job, why });
        }
    }

    /// Whether the invariants of this module hold; for tests.
    pub(super) fn check_invariants(&self) -> bool {
        (0..self.tasks.len()).all(|index| {
            let Ok(number) = u16::try_from(index) else {
                return false;
            };
            let task = TaskId(number);
            let budget = self.remaining(task);
            let used_up = budget.is_some_and(|left| left.is_zero() || left < self.granularity);
            let best_effort = self
                .entry(task)
                .is_some_and(|entry| entry.container.is_best_effort());
            self.by_urgency.contains(task) == budget.is_some()
                && !used_up
                && self.by_release.contains(task) == (best_effort && self.has_work(task))
        })
    }
}

/// Staging: what a fact records. No consequence is drawn here (C3).
impl<S: Store> Servers<S> {
    fn server(&mut self, task: TaskId) -> Result<&mut Server, ContractViolation> {
        if self.entry(task).is_none() {
            return Err(ContractViolation::UnknownTask(task));
        }
        self.servers
            .get_mut(task.index())
            .ok_or(ContractViolation::UnknownTask(task))
    }

    pub(super) fn release(&mut self, at: Instant, job: JobId) -> Result<(), ContractViolation> {
        let server = self.server(job.task)?;
        server.arrived.stage(&mut server.next_sequence, at, job)?;
        self.dirty.insert(job.task);
        Ok(())
    }

    fn check_cpu(&self, cpu: CpuId) -> Result<Option<JobId>, ContractViolation> {
        self.running
            .get(cpu.index())
            .copied()
            .filter(|_| self.home.is_none_or(|home| home == cpu))
            .ok_or(ContractViolation::UnknownCpu(cpu))
    }

    pub(super) fn charge(
        &mut self,
        cpu: CpuId,
        job: JobId,
        amount: Service,
    ) -> Result<(), ContractViolation> {
        if self.check_cpu(cpu)? != Some(job) {
            return Err(ContractViolation::ChargedWhileNotRunning(job));
        }
        let overflow = ContractViolation::ChargeOverflow { job, amount };
        let server = self.server(job.task)?;
        if let Some(current) = server.current.as_mut() {
            let charged = server.charged.checked_add(amount).ok_or(overflow)?;
            current.executed = current.executed.checked_add(amount).ok_or(overflow)?;
            server.charged = charged;
        }
        self.dirty.insert(job.task);
        Ok(())
    }

    pub(super) fn start(&mut self, cpu: CpuId, job: JobId) -> Result<(), ContractViolation> {
        if let Some(running) = self.check_cpu(cpu)? {
            return Err(ContractViolation::CpuBusy { cpu, running });
        }
        let server = self.server(job.task)?;
        let startable = server.running.is_none()
            && !server.completed
            && server
                .current
                .is_some_and(|current| current.arrival.sequence == job.sequence);
        if !startable {
            return Err(ContractViolation::UnknownJob(job));
        }
        server.running = Some(cpu);
        if let Some(entry) = self.running.get_mut(cpu.index()) {
            *entry = Some(job);
        }
        Ok(())
    }

    /// The job leaves the CPU, and its task if `gone`.
    pub(super) fn leave(
        &mut self,
        cpu: CpuId,
        job: JobId,
        gone: bool,
    ) -> Result<(), ContractViolation> {
        if self.check_cpu(cpu)? != Some(job) {
            return Err(ContractViolation::UnknownJob(job));
        }
        let server = self.server(job.task)?;
        server.running = None;
        server.completed |= gone;
        if let Some(entry) = self.running.get_mut(cpu.index()) {
            *entry = None;
        }
        self.dirty.insert(job.task);
        Ok(())
    }

    pub(super) fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        if at > Instant::HORIZON {
            return Err(ContractViolation::BeyondHorizon(at));
        }
        match fact {
            Fact::Released { job } => self.release(at, job),
            Fact::Charged { cpu, job, amount } => self.charge(cpu, job, amount),
            Fact::Completed { cpu, job } => self.leave(cpu, job, true),
            Fact::Started { cpu, job } => self.start(cpu, job),
            Fact::Stopped { cpu, job, why } => self.leave(cpu, job, why == StopReason::Cancelled),
            Fact::Idle { cpu } => self.check_cpu(cpu).map(|_| ()),
            Fact::Timer => Ok(()),
            Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => Err(ContractViolation::NotOfThisPolicy),
        }
    }
}
