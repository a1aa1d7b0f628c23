//! Zero slack for a guard: who is suspended, as far as the world tells of jobs without slack.
//!
//! The rule is that of the engine (`suspension.rs` of [`crate::Uniprocessor`]); what differs is who is
//! known. A job counts from the moment at which the world tells of its release, and the world may leave
//! out every job that is complete before its zero-slack instant: until then a job stands for nothing.
//! So a job that keeps its instant costs no call, and one that does not costs three: its zero-slack
//! instant, its deadline if it does not keep that either, and its end.
//!
//! ```text
//!            told before or at r + Z_i (1)      Z_i (2)              D_i (2)
//!   unknown -----------------------------> early -------> critical ----------> late
//!                                            |               |                   |
//!                                            +---------------+-------------------+---> ended (3)
//! ```
//! (1) [`ZeroSlack::released`], (2) [`ZeroSlack::settle`], (3) [`ZeroSlack::ended`].
//!
//! Of each task the first job that is told and has not ended counts; one more may be told while it is
//! incomplete, so that an end and the next job's release may be told in any order.
//!
//! Invariant: the level is kappa over the jobs that count, and the heap of late jobs has those of level
//! kappa. O(log n) for a job, O(n log n) when kappa changes.

use crate::enforce::OnMiss;
use crate::engine::configuration::ConfigurationError;
use crate::engine::phases::{Phase, Phases};
use crate::ids::{JobId, TaskId};
use crate::plan::{Permit, Until, Wake, WakeReason};
use crate::queue::{ReadyHeap, TaskBits};
use crate::scheduler::ContractViolation;
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use crate::time::{Instant, Service};
use crate::urgency::Urgency;

/// How many jobs of a task are remembered that are told and have not ended.
const TOLD_MAX: usize = 2;

/// The jobs of one task that the world told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Told {
    /// Number and release, in the order of the numbers; the first one counts.
    jobs: [Option<(u64, Instant)>; TOLD_MAX],
    /// Jobs with smaller numbers have ended, or stand for nothing any more.
    ended: u64,
}

impl Told {
    const NOTHING: Self = Self {
        jobs: [None; TOLD_MAX],
        ended: 0,
    };

    fn first(&self) -> Option<(u64, Instant)> {
        self.jobs.first().copied().flatten()
    }

    /// Takes in a job; one that is known keeps the release told first. `false`: there is no room.
    fn insert(&mut self, sequence: u64, at: Instant) -> bool {
        let known =
            |entry: &Option<(u64, Instant)>| entry.is_some_and(|(present, _)| present == sequence);
        if sequence < self.ended || self.jobs.iter().any(known) {
            return true;
        }
        self.jobs = match self.jobs {
            [None, _] => [Some((sequence, at)), None],
            [Some(first), None] if first.0 < sequence => [Some(first), Some((sequence, at))],
            [Some(first), None] => [Some((sequence, at)), Some(first)],
            [Some(_), Some(_)] => return false,
        };
        true
    }

    fn end(&mut self, sequence: u64) {
        self.ended = self.ended.max(sequence.saturating_add(1));
        let ended = self.ended;
        let goes_on = |entry: &(u64, Instant)| entry.0 >= ended;
        self.jobs = match self.jobs.map(|entry| entry.filter(goes_on)) {
            [None, later] => [later, None],
            both => both,
        };
    }
}

/// What a guard remembers for zero-slack scheduling.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ZeroSlack<S: Store> {
    told: S::Table<Told>,
    phases: Phases<S>,
    /// Of the job that counts: its next zero-slack instant or deadline.
    instants: ReadyHeap<S>,
    /// The late jobs of level kappa, by their releases.
    late: ReadyHeap<S>,
    /// Tasks of which something was told since the last settlement.
    touched: TaskBits<S>,
}

impl<S: Store> ZeroSlack<S> {
    pub(super) fn new(tasks: usize) -> Result<Self, ConfigurationError> {
        let too_many = ConfigurationError::TooManyTasks { found: tasks };
        Ok(Self {
            told: S::table(tasks, Told::NOTHING).ok_or(too_many)?,
            phases: Phases::new(tasks)?,
            instants: ReadyHeap::new(tasks).ok_or(too_many)?,
            late: ReadyHeap::new(tasks).ok_or(too_many)?,
            touched: TaskBits::new(tasks).ok_or(too_many)?,
        })
    }

    /// The job was released at `at` and is not complete, unless its end is told.
    pub(super) fn released(&mut self, job: JobId, at: Instant) -> Result<(), ContractViolation> {
        let Some(told) = self.told.get_mut(job.task.index()) else {
            return Err(ContractViolation::UnknownTask(job.task));
        };
        if !told.insert(job.sequence, at) {
            let capacity = TOLD_MAX;
            return Err(ContractViolation::TooManyFacts { capacity });
        }
        self.touched.insert(job.task);
        Ok(())
    }

    /// The job, and with it every earlier one of its task, stands for nothing any more.
    pub(super) fn ended(&mut self, job: JobId) {
        if let Some(told) = self.told.get_mut(job.task.index()) {
            told.end(job.sequence);
            self.touched.insert(job.task);
        }
    }

    fn first(&self, task: TaskId) -> Option<(u64, Instant)> {
        self.told.get(task.index())?.first()
    }

    /// Everything up to `now`: who ended, zero-slack instants, deadlines, and then kappa.
    pub(super) fn settle(&mut self, now: Instant, tasks: &[TaskConfiguration]) {
        while let Some(task) = self.touched.take_first() {
            self.settle_task(task, now, tasks);
        }
        let reached = Urgency::of_deadline_nanos(now.as_nanos());
        while let Some((instant, task)) = self.instants.first() {
            if reached.is_more_urgent_than(instant) {
                break;
            }
            self.settle_task(task, now, tasks);
        }
        if self.phases.settle_level() {
            for (index, entry) in (0..=u16::MAX).zip(tasks) {
                self.place(TaskId(index), entry);
            }
        }
    }

    /// The phase of the task's first job, and when the next one begins: always after `now`.
    fn settle_task(&mut self, task: TaskId, now: Instant, tasks: &[TaskConfiguration]) {
        let Some(entry) = tasks.get(task.index()) else {
            return;
        };
        let (phase, next) = loop {
            let Some((sequence, released)) = self.first(task) else {
                break (Phase::Nothing, None);
            };
            let phase = Phase::at_age(now.saturating_since(released), entry);
            let after = match phase {
                Phase::Early => Some(entry.critical_after()),
                Phase::Critical => Some(entry.task.deadline),
                // The world withdraws it by itself.
                Phase::Late if entry.on_miss == OnMiss::Abort => {
                    if let Some(told) = self.told.get_mut(task.index()) {
                        told.end(sequence);
                    }
                    continue;
                }
                Phase::Late | Phase::Nothing => None,
            };
            break (phase, after.map(|after| released.saturating_add(after)));
        };
        match next {
            Some(at) => {
                let urgency = Urgency::of_deadline_nanos(at.as_nanos());
                self.instants.insert(task, urgency);
            }
            None => {
                self.instants.remove(task);
            }
        }
        self.phases.enter(task, entry.task.criticality, phase);
        self.place(task, entry);
    }

    /// Whether kappa, as last settled, lets the task's job run below everybody.
    fn place(&mut self, task: TaskId, entry: &TaskConfiguration) {
        let is_late = self.phases.phase(task) == Phase::Late;
        let of_the_level = Some(entry.task.criticality) == self.phases.level();
        match self.first(task) {
            Some((_, released)) if is_late && of_the_level => {
                let urgency = Urgency::of_deadline_nanos(released.as_nanos());
                self.late.insert(task, urgency);
            }
            Some(_) | None => {
                self.late.remove(task);
            }
        }
    }

    /// What kappa makes of the permit of a job of `task`, the first incomplete one if `sequence` is
    /// `None`, that has this limit; it says nothing about jobs that it lets run.
    pub(super) fn permit(
        &self,
        task: TaskId,
        entry: &TaskConfiguration,
        (sequence, limit): (Option<u64>, Option<Service>),
    ) -> Option<Permit> {
        if Some(entry.task.criticality) > self.phases.level() {
            return None;
        }
        let first = self.first(task).map(|(first, _)| first);
        let is_first = sequence.is_none() || first == sequence;
        let goes_on = self.late.first().is_some_and(|(_, late)| late == task);
        Some(if goes_on && is_first {
            Permit::Below { limit }
        } else {
            let until = Until::Event;
            Permit::Suspended { until }
        })
    }

    /// The next zero-slack instant or deadline, and whose.
    pub(super) fn next(&self, tasks: &[TaskConfiguration]) -> Option<Wake> {
        let (_, task) = self.instants.first()?;
        let (entry, (sequence, released)) = (tasks.get(task.index())?, self.first(task)?);
        let job = JobId { task, sequence };
        let critical_after = entry.critical_after();
        let is_early = self.phases.phase(task) == Phase::Early;
        let (after, why) = if is_early && critical_after < entry.task.deadline {
            (critical_after, WakeReason::ZeroSlack(job))
        } else {
            (entry.task.deadline, WakeReason::Deadline(job))
        };
        Some(Wake {
            at: released.saturating_add(after),
            why,
        })
    }
}
