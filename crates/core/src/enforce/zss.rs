//! Zero slack: which tasks are suspended, and for the sake of which jobs.
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
//! all others, the earliest release first. All other jobs go by their priorities.
//!
//! Known errors of the paper's heap of levels, which this definition does not have: a job that was
//! critical and then late pushes two levels and pops one; of two late jobs of one level the second is
//! never woken; a finishing job pops the top, which may be another job's. Here each job counts for at most
//! one level, and what is kept is how many count for each.
//!
//! ```text
//!            released (1)      Z_i (2)              D_i (2)
//!   unknown -----------> early -------> critical ----------> late
//!                          |               |                   |
//!                          +---------------+-------------------+---> ended (3)
//! ```
//! (1) [`ZeroSlack::released`], (2) [`ZeroSlack::settle`], (3) [`ZeroSlack::ended`].
//!
//! A job counts from the moment at which its release is reported, until it has ended or has used up its
//! own level's limit: it is guaranteed nothing then. Of each task the first such job counts: one that waits
//! behind it was released later, reaches the same instants later, and never counts for a higher level. One
//! more may be reported while it is incomplete, so that an end and the next job's release may be reported in
//! any order. A native world leaves out every job that is complete before its zero-slack instant: until then
//! a job suspends nothing. So there a job that keeps its instant costs no call, and one that does not costs
//! three: its zero-slack instant, its deadline if it does not keep that either, and its end.
//!
//! Whenever a job counts for a level, some job that does may run: one that counts for kappa is critical and
//! above kappa, or late and of level kappa. So the CPU is never idle while an admitted job is pending.
//!
//! Invariant: the level is kappa over the jobs that count, and the heap of late jobs has those of level
//! kappa; [`ZeroSlack::check`] computes all of it anew. O(log n) for a job, O(n log n) when kappa changes.

use super::{Asked, Seen};
use crate::configuration_error::ConfigurationError;
use crate::ids::{JobId, TaskId};
use crate::model::{LEVELS_MAX, Level};
use crate::plan::{Permit, Until, Wake, WakeReason};
use crate::queue::{ReadyHeap, TaskBits};
use crate::scheduler::ContractViolation;
use crate::store::Store;
use crate::task_configuration::{OnMiss, TaskConfiguration};
use crate::time::{Duration, Instant};
use crate::urgency::Urgency;

/// No zero-slack instant is after its task's deadline.
pub(super) fn check(tasks: &[TaskConfiguration]) -> Result<(), ConfigurationError> {
    let after = |entry: &TaskConfiguration| entry.critical_after() > entry.task.deadline;
    match tasks.iter().position(after) {
        Some(task) => Err(ConfigurationError::Parameter {
            task,
            what: "zero-slack instant",
            fault: "is after its deadline",
        }),
        None => Ok(()),
    }
}

/// How far a job is with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Before its zero-slack instant.
    Early,
    /// From its zero-slack instant on.
    Critical,
    /// From its deadline on.
    Late,
}

impl Phase {
    /// The phase of an incomplete job released so long ago.
    fn at_age(age: Duration, entry: &TaskConfiguration) -> Self {
        if age >= entry.task.deadline {
            Self::Late
        } else if age >= entry.critical_after() {
            Self::Critical
        } else {
            Self::Early
        }
    }

    /// The level up to which a job of this criticality suspends; `None`: it suspends nothing.
    fn suspends(self, criticality: Level) -> Option<Level> {
        match self {
            Self::Early => None,
            Self::Critical => criticality.0.checked_sub(1).map(Level),
            Self::Late => Some(criticality),
        }
    }
}

/// How many jobs of a task are remembered that are incomplete.
const INCOMPLETE_MAX: usize = 2;

/// The incomplete jobs of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Incomplete {
    /// Number and release, in the order of the numbers; the first one counts.
    jobs: [Option<(u64, Instant)>; INCOMPLETE_MAX],
    /// Jobs with smaller numbers have ended, or are guaranteed nothing any more.
    ended: u64,
    /// Of the one that counts, as of the last settlement.
    phase: Option<Phase>,
}

impl Incomplete {
    const NONE: Self = Self {
        jobs: [None; INCOMPLETE_MAX],
        ended: 0,
        phase: None,
    };

    fn first(&self) -> Option<(u64, Instant)> {
        self.jobs.first().copied().flatten()
    }

    /// Takes in a job; one that is known keeps the release reported first. `false`: there is no room.
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

    /// Whether nothing is known of the task's jobs but that earlier ones have ended, as of the last settlement too.
    #[inline]
    const fn is_free_for(&self, sequence: u64) -> bool {
        matches!((self.jobs, self.phase), ([None, _], None)) && sequence >= self.ended
    }

    /// Whether that job is all that is known, and was before its zero-slack instant.
    #[inline]
    const fn is_early_alone(&self, sequence: u64) -> bool {
        let is_early = matches!(self.phase, Some(Phase::Early));
        is_early && matches!(self.jobs, [Some((first, _)), None] if first == sequence)
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

/// What zero-slack scheduling remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ZeroSlack<S: Store> {
    incomplete: S::Table<Incomplete>,
    /// By level, how many jobs suspend up to there.
    counts: [u16; LEVELS_MAX],
    /// kappa, as of the last settlement.
    level: Option<Level>,
    /// Of the job that counts: its next zero-slack instant or deadline.
    instants: ReadyHeap<S>,
    /// The late jobs of level kappa, by their releases.
    late: ReadyHeap<S>,
    /// Tasks of which something was reported since the last settlement.
    dirty: TaskBits<S>,
}

impl<S: Store> ZeroSlack<S> {
    pub(super) fn new(tasks: usize) -> Option<Self> {
        Some(Self {
            incomplete: S::table(tasks, Incomplete::NONE)?,
            counts: [0; LEVELS_MAX],
            level: None,
            instants: ReadyHeap::new(tasks)?,
            late: ReadyHeap::new(tasks)?,
            dirty: TaskBits::new(tasks)?,
        })
    }

    /// The suspension level as of the last settlement; `None` if no task is suspended.
    pub(super) const fn level(&self) -> Option<Level> {
        self.level
    }

    /// The job was released at `at` and is not complete, unless its end is reported.
    pub(super) fn released(&mut self, job: JobId, at: Instant) -> Result<(), ContractViolation> {
        let Some(incomplete) = self.incomplete.get_mut(job.task.index()) else {
            return Err(ContractViolation::UnknownTask(job.task));
        };
        if !incomplete.insert(job.sequence, at) {
            let capacity = INCOMPLETE_MAX;
            return Err(ContractViolation::TooManyFacts { capacity });
        }
        self.dirty.insert(job.task);
        Ok(())
    }

    /// The same of a job that is the first of its task for an engine that settles `now`; says whether it runs by its priority.
    /// What nearly every job finds is drawn at once: none of its task is before it, and its zero-slack instant is to come. It
    /// counts for no level then. Of all others the next settlement says it.
    #[inline]
    pub(super) fn begins(
        &mut self,
        job: JobId,
        (at, now): (Instant, Instant),
        entry: &TaskConfiguration,
    ) -> bool {
        let Some(incomplete) = self.incomplete.get_mut(job.task.index()) else {
            return false;
        };
        let critical = at.saturating_add(entry.critical_after());
        if incomplete.is_free_for(job.sequence) && now < critical {
            incomplete.jobs = [Some((job.sequence, at)), None];
            incomplete.phase = Some(Phase::Early);
            let urgency = Urgency::of_deadline_nanos(critical.as_nanos());
            self.instants.insert(job.task, urgency);
            return Some(entry.task.criticality) > self.level;
        }
        // A second job of a task that is incomplete: there is room.
        let _known = self.released(job, at);
        false
    }

    /// The job, and with it every earlier one of its task, counts no more.
    #[inline]
    pub(super) fn ended(&mut self, job: JobId) {
        let Some(incomplete) = self.incomplete.get_mut(job.task.index()) else {
            return;
        };
        if incomplete.is_early_alone(job.sequence) {
            // It counted for no level: nothing changes for any other task.
            *incomplete = Incomplete {
                ended: job.sequence.saturating_add(1),
                ..Incomplete::NONE
            };
            self.instants.remove(job.task);
            return;
        }
        incomplete.end(job.sequence);
        self.dirty.insert(job.task);
    }

    /// Whether anything was reported that is not drawn yet, or an instant has come.
    #[inline]
    pub(super) fn has_to_settle(&self, now: Instant) -> bool {
        let reached = Urgency::of_deadline_nanos(now.as_nanos());
        let first = self.instants.first();
        !self.dirty.is_empty()
            || first.is_some_and(|(instant, _)| !reached.is_more_urgent_than(instant))
    }

    /// Everything up to `now`: jobs that ended, zero-slack instants, deadlines, and then kappa.
    pub(super) fn settle(
        &mut self,
        now: Instant,
        tasks: &[TaskConfiguration],
        mut place: impl FnMut(TaskId, bool),
    ) {
        let mut counts_changed = false;
        while let Some(task) = self.dirty.take_first() {
            counts_changed |= self.settle_task(task, now, tasks, &mut place);
        }
        let reached = Urgency::of_deadline_nanos(now.as_nanos());
        while let Some((instant, task)) = self.instants.first() {
            if reached.is_more_urgent_than(instant) {
                break;
            }
            counts_changed |= self.settle_task(task, now, tasks, &mut place);
        }
        // Most jobs are early all their time, and count for nothing.
        if !counts_changed {
            return;
        }
        let level = self.counted();
        if core::mem::replace(&mut self.level, level) != level {
            for (index, entry) in (0..=u16::MAX).zip(tasks) {
                self.place(TaskId(index), entry, &mut place);
            }
        }
    }

    /// kappa, from the counts.
    fn counted(&self) -> Option<Level> {
        let levels = (0..).map(Level).zip(self.counts);
        let counted = levels.filter(|&(_, count)| count > 0);
        counted.last().map(|(level, _)| level)
    }

    /// The phase of the task's first job, and when the next one begins: always after `now`. Says whether the counts
    /// have changed.
    fn settle_task(
        &mut self,
        task: TaskId,
        now: Instant,
        tasks: &[TaskConfiguration],
        place: &mut impl FnMut(TaskId, bool),
    ) -> bool {
        let (Some(entry), Some(incomplete)) = (
            tasks.get(task.index()),
            self.incomplete.get_mut(task.index()),
        ) else {
            return false;
        };
        let (phase, next) = loop {
            let Some((sequence, released)) = incomplete.first() else {
                break (None, None);
            };
            let phase = Phase::at_age(now.saturating_since(released), entry);
            let after = match phase {
                Phase::Early => Some(entry.critical_after()),
                Phase::Critical => Some(entry.task.deadline),
                // It is dropped at its deadline, without a fact.
                Phase::Late if entry.on_miss == OnMiss::Abort => {
                    incomplete.end(sequence);
                    continue;
                }
                Phase::Late => None,
            };
            break (
                Some(phase),
                after.map(|after| released.saturating_add(after)),
            );
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
        let before = core::mem::replace(&mut incomplete.phase, phase);
        let fewer = self.count(before, entry, u16::saturating_sub);
        let more = self.count(phase, entry, u16::saturating_add);
        self.place(task, entry, place);
        fewer || more
    }

    /// Counts a job of that phase, or does so no more; says whether it counts for a level.
    fn count(
        &mut self,
        phase: Option<Phase>,
        entry: &TaskConfiguration,
        by: fn(u16, u16) -> u16,
    ) -> bool {
        let level = phase.and_then(|phase| phase.suspends(entry.task.criticality));
        let count = level.and_then(|level| self.counts.get_mut(level.index()));
        let Some(count) = count else {
            return false;
        };
        *count = by(*count, 1);
        true
    }

    /// Where kappa, as last settled, lets the task's job run: by its priority, below all others, or not.
    fn place(
        &mut self,
        task: TaskId,
        entry: &TaskConfiguration,
        place: &mut impl FnMut(TaskId, bool),
    ) {
        let Some(incomplete) = self.incomplete.get(task.index()) else {
            return;
        };
        let level = Some(entry.task.criticality);
        place(task, incomplete.phase.is_some() && level > self.level);
        match incomplete.first() {
            Some((_, released)) if incomplete.phase == Some(Phase::Late) && level == self.level => {
                let urgency = Urgency::of_deadline_nanos(released.as_nanos());
                self.late.insert(task, urgency);
            }
            Some(_) | None => {
                self.late.remove(task);
            }
        }
    }

    /// The late job that goes first.
    pub(super) fn first_late(&self) -> Option<TaskId> {
        self.late.first().map(|(_, task)| task)
    }

    /// What kappa makes of a permit; it says nothing about jobs that it lets run.
    pub(super) fn permit(&self, asked: &Asked<'_>) -> Option<Permit> {
        if Some(asked.entry.task.criticality) > self.level {
            return None;
        }
        let incomplete = self.incomplete.get(asked.task.index());
        let first = incomplete
            .and_then(Incomplete::first)
            .map(|(first, _)| first);
        let is_first = asked.sequence.is_none() || first == asked.sequence;
        Some(if is_first && self.first_late() == Some(asked.task) {
            Permit::Below { limit: asked.limit }
        } else {
            let until = Until::Event;
            Permit::Suspended { until }
        })
    }

    /// The next zero-slack instant or deadline, and whose.
    #[inline]
    pub(super) fn next(&self, tasks: &[TaskConfiguration]) -> Option<Wake> {
        let (instant, task) = self.instants.first()?;
        let (entry, incomplete) = (tasks.get(task.index())?, self.incomplete.get(task.index())?);
        let (sequence, _) = incomplete.first()?;
        let job = JobId { task, sequence };
        let is_early = incomplete.phase == Some(Phase::Early);
        let why = if is_early && entry.critical_after() < entry.task.deadline {
            WakeReason::ZeroSlack(job)
        } else {
            WakeReason::Deadline(job)
        };
        let at = Instant::from_nanos(instant.as_deadline_nanos());
        Some(Wake { at, why })
    }

    /// The invariant, for tests: everything computed anew from the jobs and the clock.
    pub(super) fn check(
        &self,
        now: Instant,
        tasks: &[TaskConfiguration],
        seen: impl Fn(TaskId) -> Seen,
    ) -> bool {
        let defined = || {
            (0..=u16::MAX).map(TaskId).zip(tasks).map(|(task, entry)| {
                let seen = seen(task);
                let age = seen.admitted.map(|released| now.saturating_since(released));
                (task, entry, seen, age.map(|age| Phase::at_age(age, entry)))
            })
        };
        let kappa = defined()
            .filter_map(|(_, entry, _, phase)| phase?.suspends(entry.task.criticality))
            .max();
        let placed = defined().all(|(task, entry, seen, phase)| {
            let level = Some(entry.task.criticality);
            let late = phase == Some(Phase::Late) && level == kappa;
            let incomplete = self.incomplete.get(task.index());
            incomplete.is_some_and(|incomplete| incomplete.phase == phase)
                && seen.runs == (phase.is_some() && level > kappa)
                && self.late.contains(task) == late
        });
        kappa == self.level && kappa == self.counted() && placed
    }
}
