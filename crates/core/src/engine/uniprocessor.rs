//! One CPU, one job limit per job: fixed task priorities under static or adaptive enforcement.
//!
//! A job runs if it is the most urgent admitted one; jobs that used up their own level's limit run
//! below all admitted ones. Under adaptive enforcement a job that uses up its limit of the present
//! mode raises it, tasks below the mode lose their jobs, and the first instant without an admitted
//! job returns to mode 0 (Baruah, Burns and Davis, RTSS 2011; Fleming and Burns, WMC 2013).
//!
//! ```text
//!            admitted                 limit of own level            completed
//!  arrived ------------> admitted ------------------------> background ------> gone
//!     |  (1)                | |            (3)                   |      (5)
//!     | not admitted        | | completed (5)                    | successor admitted, deadline,
//!     v  (2)                | +-------------> gone               | mode rises above its task (4)
//!   dropped                 | mode rises above its task (4)      v
//!                           +-------------------------------> dropped
//! ```
//! (1) `admit`, (2) `admit`, (3) `exhaust`, (4) `drop_current`, (5) `settle_completions`.
//!
//! Invariants: I1 a task is in the ready heap exactly if its current job is admitted, and in the
//! background heap exactly if it is in the background; I2 no admitted job belongs to a task that the
//! mode does not admit; I3 a waiting job has an admitted current job before it.
//! [`Uniprocessor::check_invariants`] checks them after every decision in the tests.

use crate::enforce::{Enforcement, Exhaustion, OnMiss};
use crate::engine::configuration::{Configuration, ConfigurationError, TaskConfiguration};
use crate::fact::{Fact, StopReason};
use crate::ids::{CpuId, JobId, TaskId};
use crate::job_table::{Arrival, BACKLOG_MAX, Current, Jobs, Standing};
use crate::model::{Level, LevelSet};
use crate::notice::{DropReason, Event, Notice, NoticeQueue};
use crate::order::Urgency;
use crate::plan::{Budget, BudgetOwner, OnExhaustion, Permit, Plan, Slot, Wake, WakeReason};
use crate::queue::{ReadyHeap, TaskBits};
use crate::scheduler::{ContractViolation, Scheduler};
use crate::store::{Boxed, Store};
use crate::time::{Duration, Instant, Service};

/// The only CPU of this engine's domain.
pub const CPU: CpuId = CpuId(0);

/// The engine for one CPU.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Uniprocessor<S: Store = Boxed> {
    tasks: S::Table<TaskConfiguration>,
    levels: LevelSet,
    enforcement: Enforcement,
    exhaustion: Exhaustion,
    granularity: Service,
    wake_granularity: Duration,

    jobs: S::Table<Jobs>,
    /// Tasks whose current job is admitted, by urgency.
    ready: ReadyHeap<S>,
    /// Tasks whose current job is in the background, by urgency.
    background: ReadyHeap<S>,
    /// Tasks that abort late jobs and have a current one, by its absolute deadline.
    deadlines: ReadyHeap<S>,
    /// Tasks with facts since the last decision.
    touched: TaskBits<S>,
    mode: Level,
    clock: Instant,
    /// What the world confirmed to be running (C5).
    running: Option<JobId>,
    slots: [Option<Slot>; 1],
    wake: Option<Wake>,
    notices: NoticeQueue,
}

impl Uniprocessor<Boxed> {
    /// An engine whose tables are on the heap.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn new(configuration: &Configuration<'_>) -> Result<Self, ConfigurationError> {
        Self::with_store(configuration)
    }
}

impl<S: Store> Uniprocessor<S> {
    /// An engine whose tables are where `S` says.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn with_store(configuration: &Configuration<'_>) -> Result<Self, ConfigurationError> {
        configuration.check()?;
        let count = configuration.tasks.len();
        let too_many = ConfigurationError::TooManyTasks { found: count };
        let first = *configuration
            .tasks
            .first()
            .ok_or(ConfigurationError::NoTasks)?;
        let mut tasks = S::table(count, first).ok_or(too_many)?;
        for (entry, task) in tasks.iter_mut().zip(configuration.tasks) {
            *entry = *task;
        }
        Ok(Self {
            tasks,
            levels: configuration.levels,
            enforcement: configuration.enforcement,
            exhaustion: configuration.exhaustion,
            granularity: configuration.granularity,
            wake_granularity: configuration.wake_granularity,
            jobs: S::table(count, Jobs::NONE).ok_or(too_many)?,
            ready: ReadyHeap::new(count).ok_or(too_many)?,
            background: ReadyHeap::new(count).ok_or(too_many)?,
            deadlines: ReadyHeap::new(count).ok_or(too_many)?,
            touched: TaskBits::new(count).ok_or(too_many)?,
            mode: Level::LOWEST,
            clock: Instant::EPOCH,
            running: None,
            slots: [None],
            wake: None,
            notices: NoticeQueue::new(),
        })
    }

    /// The criticality indicator as of the last decision.
    #[must_use]
    pub const fn mode(&self) -> Level {
        self.mode
    }

    /// The job that the world confirmed to be running.
    #[must_use]
    pub const fn running(&self) -> Option<JobId> {
        self.running
    }

    /// Whether the invariants of this module hold; for tests.
    #[must_use]
    pub fn check_invariants(&self) -> bool {
        self.jobs
            .iter()
            .zip(self.tasks.iter())
            .enumerate()
            .all(|(index, (jobs, entry))| {
                let Ok(number) = u16::try_from(index) else {
                    return false;
                };
                let standing = jobs.current.map(|current| current.standing);
                let admitted = standing == Some(Standing::Admitted);
                let in_background = standing == Some(Standing::Background);
                self.ready.contains(TaskId(number)) == admitted
                    && self.background.contains(TaskId(number)) == in_background
                    && (!admitted || self.enforcement.admits(&entry.task, self.mode))
                    && (jobs.waiting.is_empty() || admitted)
            })
    }

    fn urgency(&self, task: TaskId) -> Urgency {
        Urgency::of_priority(
            self.tasks
                .get(task.index())
                .map_or(0, |entry| entry.priority),
        )
    }

    fn entry(&self, task: TaskId) -> Option<&TaskConfiguration> {
        self.tasks.get(task.index())
    }

    fn notice(&mut self, what: Event) {
        self.notices.push(Notice {
            at: self.clock,
            what,
        });
    }

    // ---- facts -------------------------------------------------------------------------------

    fn release(&mut self, at: Instant, job: JobId) -> Result<(), ContractViolation> {
        let jobs = self
            .jobs
            .get_mut(job.task.index())
            .ok_or(ContractViolation::UnknownTask(job.task))?;
        if job.sequence < jobs.next_sequence {
            return Err(ContractViolation::ReleaseOutOfOrder(job));
        }
        let Some(next) = job.sequence.checked_add(1) else {
            return Err(ContractViolation::ReleaseOutOfOrder(job));
        };
        if !jobs.arrived.push(Arrival {
            sequence: job.sequence,
            at,
        }) {
            return Err(ContractViolation::TooManyFacts {
                capacity: BACKLOG_MAX,
            });
        }
        jobs.next_sequence = next;
        self.touched.insert(job.task);
        Ok(())
    }

    fn charge(&mut self, job: JobId, amount: Service) -> Result<(), ContractViolation> {
        if self.running != Some(job) {
            return Err(ContractViolation::ChargedWhileNotRunning(job));
        }
        let jobs = self
            .jobs
            .get_mut(job.task.index())
            .ok_or(ContractViolation::UnknownTask(job.task))?;
        // A job withdrawn by the last plan goes on until the world confirms that it stopped: what
        // it executes meanwhile concerns nobody.
        let Some(current) = jobs.current.as_mut() else {
            return Ok(());
        };
        if current.arrival.sequence != job.sequence {
            return Ok(());
        }
        current.executed = current
            .executed
            .checked_add(amount)
            .ok_or(ContractViolation::ChargeOverflow { job, amount })?;
        self.touched.insert(job.task);
        Ok(())
    }

    fn complete(&mut self, job: JobId) -> Result<(), ContractViolation> {
        if self.running != Some(job) {
            return Err(ContractViolation::UnknownJob(job));
        }
        self.running = None;
        if let Some(jobs) = self.jobs.get_mut(job.task.index())
            && jobs.current_if(job.sequence).is_some()
        {
            jobs.completed = true;
            self.touched.insert(job.task);
        }
        Ok(())
    }

    fn start(&mut self, job: JobId) -> Result<(), ContractViolation> {
        if let Some(running) = self.running {
            return Err(ContractViolation::CpuBusy { cpu: CPU, running });
        }
        let jobs = self
            .jobs
            .get(job.task.index())
            .ok_or(ContractViolation::UnknownTask(job.task))?;
        match jobs.current_if(job.sequence) {
            Some(_) if !jobs.completed => {
                self.running = Some(job);
                Ok(())
            }
            Some(_) | None => Err(ContractViolation::UnknownJob(job)),
        }
    }

    fn stop(&mut self, job: JobId, why: StopReason) -> Result<(), ContractViolation> {
        if self.running != Some(job) {
            return Err(ContractViolation::UnknownJob(job));
        }
        self.running = None;
        match why {
            StopReason::Preempted | StopReason::Blocked => {}
            // The body is gone: whatever the job still stood for, it has ended.
            StopReason::Cancelled => {
                if let Some(jobs) = self.jobs.get_mut(job.task.index())
                    && jobs.current_if(job.sequence).is_some()
                {
                    jobs.completed = true;
                    self.touched.insert(job.task);
                }
            }
        }
        Ok(())
    }

    // ---- consequences ------------------------------------------------------------------------

    /// Ends the current job of `task`, which neither heap may hold afterwards, and moves its backlog
    /// up.
    fn end_current(&mut self, task: TaskId) {
        self.ready.remove(task);
        self.background.remove(task);
        self.deadlines.remove(task);
        if let Some(jobs) = self.jobs.get_mut(task.index())
            && jobs.advance()
        {
            self.make_ready(task);
        }
    }

    /// Queues the current job of `task` as admitted.
    fn make_ready(&mut self, task: TaskId) {
        self.ready.insert(task, self.urgency(task));
        let Some(entry) = self.tasks.get(task.index()) else {
            return;
        };
        if entry.on_miss == OnMiss::Abort
            && let Some(current) = self.jobs.get(task.index()).and_then(|jobs| jobs.current)
        {
            let deadline = current.arrival.at.saturating_add(entry.task.deadline);
            self.deadlines
                .insert(task, Urgency::of_deadline_nanos(deadline.as_nanos()));
        }
    }

    fn drop_current(&mut self, task: TaskId, why: DropReason) {
        if let Some(current) = self.jobs.get(task.index()).and_then(|jobs| jobs.current) {
            let job = JobId {
                task,
                sequence: current.arrival.sequence,
            };
            self.notice(Event::Dropped { job, why });
        }
        self.end_current(task);
    }

    /// Visits the tasks with facts, in task order.
    fn for_touched(&mut self, mut settle: impl FnMut(&mut Self, TaskId)) {
        let mut from = 0;
        while let Some(task) = self.touched.first_from(from) {
            from = task.index().saturating_add(1);
            settle(self, task);
        }
    }

    /// Completions come first, so that a job which completes exactly at its limit is no overrun. One
    /// that was charged more than its limit and the world's granularity has overrun all the same (C2).
    fn settle_completion(&mut self, task: TaskId) {
        let Some(jobs) = self.jobs.get_mut(task.index()) else {
            return;
        };
        let (Some(current), true) = (jobs.current, jobs.completed) else {
            return;
        };
        if current.standing == Standing::Admitted {
            jobs.overran = Some((current.arrival.sequence, current.executed));
        }
        self.end_current(task);
    }

    fn settle_exhaustion(&mut self, task: TaskId) {
        self.settle_completed_overrun(task);
        while let (Some(entry), Some(current)) = (
            self.entry(task),
            self.jobs.get(task.index()).and_then(|jobs| jobs.current),
        ) {
            let limit = self.enforcement.limit(&entry.task, self.mode);
            let remaining = limit.saturating_sub(current.executed);
            let used_up = remaining.is_zero() || remaining < self.granularity;
            if current.standing == Standing::Background || !used_up {
                break;
            }
            let job = JobId {
                task,
                sequence: current.arrival.sequence,
            };
            let Some(verdict) = self.overrun(job, current.executed) else {
                break;
            };
            self.exhaust(job, verdict);
        }
    }

    /// A job that is complete and used more than it had can only raise the mode.
    fn settle_completed_overrun(&mut self, task: TaskId) {
        let Some((sequence, executed)) = self
            .jobs
            .get_mut(task.index())
            .and_then(|jobs| jobs.overran.take())
        else {
            return;
        };
        while let Some(entry) = self.entry(task) {
            let limit = self.enforcement.limit(&entry.task, self.mode);
            if executed <= limit.saturating_add(self.granularity) {
                break;
            }
            match self.overrun(JobId { task, sequence }, executed) {
                Some(OnExhaustion::RaiseMode(to)) => {
                    self.raise_mode(to, JobId { task, sequence });
                }
                Some(OnExhaustion::Demote | OnExhaustion::Abort | OnExhaustion::Suspend) | None => {
                    break;
                }
            }
        }
    }

    /// Says that a limit was used up, and what that means; `None` if nothing.
    fn overrun(&mut self, job: JobId, executed: Service) -> Option<OnExhaustion> {
        let entry = self.entry(job.task)?;
        let verdict = self
            .enforcement
            .on_exhaustion(&entry.task, self.mode, self.exhaustion)?;
        let level = self.enforcement.limit_level(&entry.task, self.mode);
        self.notice(Event::Overrun {
            job,
            level,
            executed,
        });
        Some(verdict)
    }

    fn exhaust(&mut self, job: JobId, verdict: OnExhaustion) {
        match verdict {
            OnExhaustion::RaiseMode(to) => self.raise_mode(to, job),
            OnExhaustion::Abort => self.drop_current(job.task, DropReason::Exhausted),
            // The rules of enforcement never say `Suspend`: it belongs to budgets that come back.
            OnExhaustion::Demote | OnExhaustion::Suspend => {
                let Some(jobs) = self.jobs.get_mut(job.task.index()) else {
                    return;
                };
                if !jobs.waiting.is_empty() {
                    self.drop_current(job.task, DropReason::Superseded);
                    return;
                }
                if let Some(current) = jobs.current.as_mut() {
                    current.standing = Standing::Background;
                }
                self.ready.remove(job.task);
                self.background.insert(job.task, self.urgency(job.task));
            }
        }
    }

    /// O(n): every task below the new mode loses its jobs, admitted, waiting or in the background.
    fn raise_mode(&mut self, to: Level, cause: JobId) {
        let to = to.min(self.levels.highest());
        let from = self.mode;
        self.mode = to;
        self.notice(Event::ModeChanged {
            from,
            to,
            cause: Some(cause),
        });
        for index in 0..self.tasks.len() {
            let Ok(number) = u16::try_from(index) else {
                break;
            };
            let task = TaskId(number);
            let Some(entry) = self.entry(task) else { break };
            if self.enforcement.admits(&entry.task, to) {
                // A degraded budget may be used up already.
                if entry.task.criticality < to {
                    self.touched.insert(task);
                }
                continue;
            }
            while self
                .jobs
                .get(index)
                .is_some_and(|jobs| jobs.current.is_some())
            {
                self.drop_current(task, DropReason::Mode);
            }
        }
    }

    fn settle_deadlines(&mut self, now: Instant) {
        let reached = Urgency::of_deadline_nanos(now.as_nanos());
        while let Some((deadline, task)) = self.deadlines.first() {
            if reached.is_more_urgent_than(deadline) {
                break;
            }
            self.drop_current(task, DropReason::Deadline);
        }
    }

    fn settle_idle(&mut self) {
        if self.mode > Level::LOWEST && self.ready.is_empty() {
            let from = self.mode;
            self.mode = Level::LOWEST;
            self.notice(Event::ModeChanged {
                from,
                to: Level::LOWEST,
                cause: None,
            });
        }
    }

    fn admit(&mut self, task: TaskId) {
        loop {
            let Some(jobs) = self.jobs.get_mut(task.index()) else {
                return;
            };
            let Some(arrival) = jobs.arrived.pop() else {
                return;
            };
            let current = jobs.current;
            let job = JobId {
                task,
                sequence: arrival.sequence,
            };
            let Some(entry) = self.entry(task) else {
                return;
            };
            if !self.enforcement.admits(&entry.task, self.mode) {
                self.notice(Event::Dropped {
                    job,
                    why: DropReason::Mode,
                });
                continue;
            }
            if current.is_some_and(|current| current.standing == Standing::Background) {
                self.drop_current(task, DropReason::Superseded);
            }
            self.admit_one(task, arrival);
        }
    }

    fn admit_one(&mut self, task: TaskId, arrival: Arrival) {
        let Some(jobs) = self.jobs.get_mut(task.index()) else {
            return;
        };
        if jobs.current.is_some() {
            if !jobs.waiting.push(arrival) {
                let job = JobId {
                    task,
                    sequence: arrival.sequence,
                };
                self.notice(Event::Dropped {
                    job,
                    why: DropReason::BacklogFull,
                });
            }
            return;
        }
        jobs.current = Some(Current {
            arrival,
            executed: Service::ZERO,
            standing: Standing::Admitted,
        });
        jobs.completed = false;
        self.make_ready(task);
    }

    fn select(&mut self) {
        let chosen = self.ready.first().or_else(|| self.background.first());
        let slot = chosen.and_then(|(_, task)| {
            let entry = self.entry(task)?;
            let current = self.jobs.get(task.index())?.current?;
            Some(Slot {
                job: JobId {
                    task,
                    sequence: current.arrival.sequence,
                },
                budget: self.budget(entry, &current),
            })
        });
        self.slots = [slot];
        self.wake = self.deadlines.first().and_then(|(_, task)| {
            let current = self.jobs.get(task.index())?.current?;
            let at = current
                .arrival
                .at
                .saturating_add(self.entry(task)?.task.deadline);
            let job = JobId {
                task,
                sequence: current.arrival.sequence,
            };
            Some(Wake {
                at,
                why: WakeReason::Deadline(job),
            })
        });
    }

    fn budget(&self, entry: &TaskConfiguration, current: &Current) -> Option<Budget> {
        if current.standing == Standing::Background {
            return None;
        }
        let on_exhaustion =
            self.enforcement
                .on_exhaustion(&entry.task, self.mode, self.exhaustion)?;
        let limit = self.enforcement.limit(&entry.task, self.mode);
        let remaining = limit.saturating_sub(current.executed);
        Some(Budget {
            remaining,
            owner: BudgetOwner::Job,
            on_exhaustion,
        })
    }
}

impl<S: Store> Scheduler for Uniprocessor<S> {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        if at > Instant::HORIZON {
            return Err(ContractViolation::BeyondHorizon(at));
        }
        match fact {
            Fact::Released { job } => self.release(at, job),
            Fact::Charged { cpu, job, amount } => {
                on_this(cpu).and_then(|()| self.charge(job, amount))
            }
            Fact::Completed { cpu, job } => on_this(cpu).and_then(|()| self.complete(job)),
            Fact::Started { cpu, job } => on_this(cpu).and_then(|()| self.start(job)),
            Fact::Stopped { cpu, job, why } => on_this(cpu).and_then(|()| self.stop(job, why)),
            // This engine sees every job, and needs nobody to tell it that nothing is pending.
            Fact::Idle { cpu } => on_this(cpu),
            Fact::Timer => Ok(()),
            Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::ModeRequested { .. } => Err(ContractViolation::NotOfThisPolicy),
        }
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        if now < self.clock {
            return Err(ContractViolation::ClockWentBack {
                last: self.clock,
                now,
            });
        }
        if now > Instant::HORIZON {
            return Err(ContractViolation::BeyondHorizon(now));
        }
        self.clock = now;
        if let Some(wake) = self.wake {
            let by = now.saturating_since(wake.at);
            if by > self.wake_granularity {
                self.notice(Event::Late { by });
            }
        }
        self.for_touched(Self::settle_completion);
        // A rise may leave a degraded task, visited before, with less than it has used.
        loop {
            let mode = self.mode;
            self.for_touched(Self::settle_exhaustion);
            if self.mode == mode {
                break;
            }
        }
        self.settle_deadlines(now);
        self.settle_idle();
        self.for_touched(Self::admit);
        self.touched.clear();
        self.select();
        Ok(Plan {
            slots: &self.slots,
            next: self.wake,
            mode: self.mode,
        })
    }

    fn permit(&self, task: TaskId) -> Permit {
        let Some(entry) = self.entry(task) else {
            return Permit::NotAdmitted;
        };
        if !self.enforcement.admits(&entry.task, self.mode) {
            return Permit::NotAdmitted;
        }
        match self.jobs.get(task.index()).and_then(|jobs| jobs.current) {
            Some(Current {
                standing: Standing::Background,
                ..
            }) => Permit::Background,
            Some(Current {
                standing: Standing::Admitted,
                ..
            })
            | None => Permit::Run {
                limit: self
                    .enforcement
                    .on_exhaustion(&entry.task, self.mode, self.exhaustion)
                    .map(|_| self.enforcement.limit(&entry.task, self.mode)),
            },
        }
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop()
    }

    fn lost_notices(&self) -> u64 {
        self.notices.lost()
    }
}

fn on_this(cpu: CpuId) -> Result<(), ContractViolation> {
    if cpu == CPU {
        Ok(())
    } else {
        Err(ContractViolation::UnknownCpu(cpu))
    }
}
