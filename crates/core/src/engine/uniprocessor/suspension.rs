//! Zero-slack scheduling: who is suspended, and for whose sake.
//!
//! Rule (Huang, Gill and Lu, TECS 2014, sections 2.2 and 5.1, with the definition below in place of
//! their heap). A job of i that is incomplete is *critical* from its release plus Z_i on, and *late*
//! from its deadline on. The *suspension level*
//!
//! ```text
//! kappa = max over incomplete jobs of  z_i - 1  for a critical one,  z_i  for a late one
//! ```
//!
//! suspends the tasks with z <= kappa, apart from the late jobs of level kappa: those run below
//! everybody else, the earliest release first. All other jobs go by their priorities.
//!
//! Known errors of the paper's heap of levels, which this definition does not have: a job that was
//! critical and then late pushes two levels and pops one; of two late jobs of one level the second is
//! never woken; a finishing job pops the top, which may be somebody else's. Here each job of the
//! table stands for at most one level, and what is kept is how many stand for each.
//!
//! ```text
//!           Z_i (1)              D_i (1)
//!   early -----------> critical ---------> late
//!     |                    |                 |
//!     +--------------------+-----------------+---> nothing: complete, dropped, in the background (2)
//! ```
//! (1) `settle_instants`, (2) `withdraw_phase`.
//!
//! Only a task's current job is looked at: one that waits behind it was released later, reaches the
//! same instants later, and never stands for a higher level.
//!
//! A job that has used up its own level's limit stands for nothing: nothing is promised to it, and it
//! runs only where nobody else is left. Whenever a job stands for a level, some job that does may
//! run: one that stands for kappa is critical and above kappa, or late and of level kappa. So the
//! CPU is never idle while an admitted job is pending, and no job waits for ever for one that waits.
//!
//! Invariant I4: the counts are those of the phases, the level is kappa by the definition above, and
//! a task is in the ready heap or in the heap of late jobs exactly if kappa lets it run there.
//! [`Uniprocessor::check_invariants`] computes all of it anew. O(log n) for a job, O(n log n) when
//! kappa changes.

use super::Uniprocessor;
use crate::enforce::OnMiss;
use crate::engine::configuration::ConfigurationError;
use crate::engine::phases::{Phase, Phases};
use crate::ids::{JobId, TaskId};
use crate::job_table::Standing;
use crate::model::Level;
use crate::notice::DropReason;
use crate::plan::{Wake, WakeReason};
use crate::queue::ReadyHeap;
use crate::store::Store;
use crate::time::Instant;
use crate::urgency::Urgency;

/// What zero-slack scheduling remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Suspension<S: Store> {
    /// Of each task's current, admitted job; kappa with them.
    phases: Phases<S>,
    /// The late jobs of level kappa, by their releases.
    late: ReadyHeap<S>,
}

impl<S: Store> Suspension<S> {
    pub(super) fn new(tasks: usize) -> Result<Self, ConfigurationError> {
        let too_many = ConfigurationError::TooManyTasks { found: tasks };
        Ok(Self {
            phases: Phases::new(tasks)?,
            late: ReadyHeap::new(tasks).ok_or(too_many)?,
        })
    }

    /// The suspension level; `None` if nobody is suspended.
    pub(super) const fn level(&self) -> Option<Level> {
        self.phases.level()
    }

    fn phase(&self, task: TaskId) -> Phase {
        self.phases.phase(task)
    }
}

impl<S: Store> Uniprocessor<S> {
    /// The suspension level as of the last decision; `None` if nobody is suspended.
    #[must_use]
    pub fn suspension_level(&self) -> Option<Level> {
        self.suspension.as_ref().and_then(Suspension::level)
    }

    /// Whether kappa keeps jobs of `task` from running by their priority.
    pub(super) fn is_suspended(&self, task: TaskId) -> bool {
        let level = self.suspension_level();
        self.account
            .entry(task)
            .is_some_and(|entry| Some(entry.task.criticality) <= level)
    }

    /// Whether the current job of `task` is the late one that goes on, below everybody else.
    pub(super) fn goes_on_late(&self, task: TaskId) -> bool {
        self.first_late().is_some_and(|(_, late)| late == task)
    }

    /// The late job that goes first.
    pub(super) fn first_late(&self) -> Option<(Urgency, TaskId)> {
        self.suspension.as_ref()?.late.first()
    }

    /// The current job of `task` is admitted from now on.
    #[cold]
    pub(super) fn begin_phase(&mut self, task: TaskId) {
        self.change_phase(task, Phase::Early);
    }

    /// The current job of `task` has ended or stands for nothing any more.
    #[cold]
    pub(super) fn withdraw_phase(&mut self, task: TaskId) {
        self.change_phase(task, Phase::Nothing);
    }

    fn change_phase(&mut self, task: TaskId, phase: Phase) {
        let Some(entry) = self.account.entry(task) else {
            return;
        };
        let (criticality, deadline) = (entry.task.criticality, entry.task.deadline);
        let current = self.jobs.get(task.index()).and_then(|jobs| jobs.current);
        let next = match phase {
            Phase::Early => Some(entry.critical_after()),
            Phase::Critical => Some(deadline),
            // One in the background is withdrawn at its deadline, where its task wants that.
            Phase::Nothing if entry.on_miss == OnMiss::Abort => current
                .filter(|current| current.standing == Standing::Background)
                .map(|_| deadline),
            Phase::Nothing | Phase::Late => None,
        };
        let instant = current.zip(next);
        let instant = instant.map(|(current, after)| current.arrival.at.saturating_add(after));
        match instant {
            Some(at) => {
                let urgency = Urgency::of_deadline_nanos(at.as_nanos());
                self.deadlines.insert(task, urgency);
            }
            None => {
                self.deadlines.remove(task);
            }
        }
        if let Some(suspension) = self.suspension.as_mut() {
            suspension.phases.enter(task, criticality, phase);
        }
        self.place(task);
    }

    /// Queues the current job of `task` where kappa, as last settled, allows it to run.
    fn place(&mut self, task: TaskId) {
        let (Some(entry), Some(suspension)) = (self.account.entry(task), self.suspension.as_ref())
        else {
            return;
        };
        let phase = suspension.phase(task);
        let suspended = Some(entry.task.criticality) <= suspension.level();
        let is_lowest = phase == Phase::Late && Some(entry.task.criticality) == suspension.level();
        if phase != Phase::Nothing && !suspended {
            let urgency = self.urgency(task);
            self.ready.insert(task, urgency);
        } else {
            self.ready.remove(task);
        }
        let released = self
            .jobs
            .get(task.index())
            .and_then(|jobs| jobs.current)
            .map(|current| current.arrival.at.as_nanos());
        let Some(suspension) = self.suspension.as_mut() else {
            return;
        };
        match released {
            Some(released) if is_lowest => {
                let urgency = Urgency::of_deadline_nanos(released);
                suspension.late.insert(task, urgency);
            }
            Some(_) | None => {
                suspension.late.remove(task);
            }
        }
    }

    /// Zero-slack instants and deadlines up to `now`.
    #[cold]
    pub(super) fn settle_instants(&mut self, now: Instant) {
        let reached = Urgency::of_deadline_nanos(now.as_nanos());
        while let Some((instant, task)) = self.deadlines.first() {
            if reached.is_more_urgent_than(instant) {
                break;
            }
            let phase = self.suspension.as_ref().map(|all| all.phase(task));
            let aborts = self
                .account
                .entry(task)
                .is_some_and(|entry| entry.on_miss == OnMiss::Abort);
            match phase {
                Some(Phase::Early) => self.change_phase(task, Phase::Critical),
                Some(Phase::Critical | Phase::Nothing) if aborts => {
                    self.drop_current(task, DropReason::Deadline);
                }
                Some(Phase::Critical) => self.change_phase(task, Phase::Late),
                // Neither has an instant ahead; what is left over is taken away.
                Some(Phase::Nothing | Phase::Late) | None => {
                    self.deadlines.remove(task);
                }
            }
        }
    }

    /// Brings kappa up to date, and everybody to where it lets him run. Last before the selection: a
    /// job released just now may have no slack from the beginning.
    #[cold]
    pub(super) fn settle_suspension(&mut self) {
        self.settle_instants(self.account.clock);
        let Some(suspension) = self.suspension.as_mut() else {
            return;
        };
        if !suspension.phases.settle_level() {
            return;
        }
        for index in 0..self.account.tasks.len() {
            if let Ok(number) = u16::try_from(index) {
                self.place(TaskId(number));
            }
        }
    }

    /// When the next zero-slack instant or deadline is, and whose.
    pub(super) fn next_instant(&self) -> Option<Wake> {
        let (_, task) = self.deadlines.first()?;
        let entry = self.account.entry(task)?;
        let current = self.jobs.get(task.index())?.current.as_ref()?;
        let job = JobId {
            task,
            sequence: current.arrival.sequence,
        };
        let phase = self.suspension.as_ref()?.phase(task);
        let (after, why) = match phase {
            Phase::Early if entry.critical_after() < entry.task.deadline => {
                (entry.critical_after(), WakeReason::ZeroSlack(job))
            }
            Phase::Early | Phase::Critical | Phase::Late | Phase::Nothing => {
                (entry.task.deadline, WakeReason::Deadline(job))
            }
        };
        Some(Wake {
            at: current.arrival.at.saturating_add(after),
            why,
        })
    }

    /// Invariant I4, for tests: everything computed anew from the jobs and the clock.
    pub(super) fn check_suspension(&self) -> bool {
        let Some(suspension) = self.suspension.as_ref() else {
            return true;
        };
        let stands_for = |jobs: &crate::job_table::Jobs, entry: &super::TaskConfiguration| {
            let current = jobs
                .current
                .filter(|current| current.standing == Standing::Admitted)?;
            let age = self.account.clock.saturating_since(current.arrival.at);
            Some(Phase::at_age(age, entry))
        };
        let defined = || {
            self.jobs
                .iter()
                .zip(self.account.tasks.iter())
                .map(|(jobs, entry)| (stands_for(jobs, entry), entry.task.criticality))
        };
        let kappa = defined()
            .filter_map(|(phase, criticality)| phase?.suspends(criticality))
            .max();
        let placed = defined().zip(0..).all(|((phase, criticality), number)| {
            let task = TaskId(number);
            let free = phase.is_some() && Some(criticality) > kappa;
            let lowest = phase == Some(Phase::Late) && Some(criticality) == kappa;
            suspension.phase(task) == phase.unwrap_or(Phase::Nothing)
                && self.ready.contains(task) == free
                && suspension.late.contains(task) == lowest
        });
        kappa == suspension.level() && kappa == suspension.phases.counted() && placed
    }
}
