//! What a recording has to agree with itself about, whatever the scheduler.
//!
//! - **W1** the jobs of a task are released in the order of their numbers, each once;
//! - **W2** a job of a task whose releases are recorded starts, is charged and completes after its
//!   release only;
//! - **W3** a job completes once, and starts no more afterwards;
//! - **W4** a job that runs does not start again before it stopped;
//! - **W5** only a job that runs stops, and only one that runs or is preempted completes, where starts
//!   of its task are recorded;
//! - **W6** no job starts while an earlier one of its task has started and neither stopped nor
//!   completed;
//! - **W7** the world drops a job after its release only, once, and not when it is complete;
//! - **W8** a world that tells its scheduler everything tells a release later than it happened only if it
//!   saw it then, at that very instant: the scheduler had no room (contract C7). What it saw of a task so
//!   is reported, or dropped, in that order;
//! - **M1** a miss names the deadline of its job, **M2** not before that deadline unless the job was
//!   dropped, **M3** not for a job that completed in time, **M4** once for each job; **M5** where the
//!   header says that misses are judged, each job that completes late without being dropped has one. A manager
//!   that cannot hold a job which just ends reports that when the job's turn comes, as a start and a completion at
//!   one instant; it completed after it was stopped before that, and only the world knows when;
//! - **O1** an overhead ends on the CPU on which it began, and all have ended at the end; threads that
//!   preempt each other nest theirs, one that waits in the middle of one does not;
//! - **G1** a gap is not longer than the time that has passed.
//!
//! Facts that were reported and facts that were only observed are two accounts; the rules hold in each.
//! A native world tells exceptions only, and releases late and as numbers: of its account only W1 is
//! checked, with repetitions allowed, and no deadline is computed from it.
//!
//! Memory: some figures for each task and its latest jobs, and an instant for each release that was seen and
//! not reported yet.

use crate::header::{Dispatch, Header};
use crate::recent::{REMEMBERED, Recent};
use crate::record::{Edge, Mechanism, Record, What};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use vestal_core::{CpuId, Duration, Event, Fact, Instant, JobId, TaskId};

/// The state of the checks.
#[derive(Clone, Debug)]
pub struct Checks {
    native: bool,
    /// What happened may be told later ([`Header::ordered`]).
    tells_later: bool,
    /// The highest release reported by a native world.
    numbers: BTreeMap<TaskId, u64>,
    reported: Account,
    observed: Account,
    /// Releases that were seen and neither reported nor dropped yet, oldest first.
    kept: BTreeMap<TaskId, VecDeque<(u64, Instant)>>,
    deadlines: Vec<Duration>,
    judges_misses: bool,
    missed: Recent,
    /// Jobs that the scheduler or the world dropped.
    dropped: Recent,
    /// Those of them that the world dropped by itself.
    dropped_by_world: Recent,
    /// Jobs that completed late and have no miss yet.
    owed: BTreeSet<JobId>,
    open: BTreeMap<CpuId, Vec<Mechanism>>,
}

/// One account of what happened to jobs.
#[derive(Clone, Debug, Default)]
struct Account {
    tasks: BTreeMap<TaskId, TaskAccount>,
    /// The latest completed jobs.
    completed_jobs: Recent,
    /// For each CPU the jobs that started there and neither stopped nor completed; the last one runs.
    running: BTreeMap<CpuId, Vec<JobId>>,
}

#[derive(Clone, Debug, Default)]
struct TaskAccount {
    /// The latest released jobs, oldest first, each with its release and its completion.
    jobs: VecDeque<(u64, Instant, Option<Instant>)>,
    /// Starts of the task are recorded.
    starts: bool,
    /// When a job of the task started last, and when one stopped last.
    last_start: Option<(JobId, Instant)>,
    last_stop: Option<(JobId, Instant)>,
}

type Verdict = Result<(), &'static str>;

impl Checks {
    /// Checks for a recording with this header.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        Self {
            native: header.dispatch == Dispatch::Native,
            tells_later: !header.ordered,
            numbers: BTreeMap::new(),
            reported: Account::default(),
            observed: Account::default(),
            kept: BTreeMap::new(),
            deadlines: header.tasks.iter().map(|task| task.deadline).collect(),
            judges_misses: header.judges_misses,
            missed: Recent::new(),
            dropped: Recent::new(),
            dropped_by_world: Recent::new(),
            owed: BTreeSet::new(),
            open: BTreeMap::new(),
        }
    }

    /// Takes in the next record.
    ///
    /// # Errors
    /// The rule it breaks.
    pub fn see(&mut self, record: &Record) -> Verdict {
        let at = record.at;
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "most records break no rule of the world"
        )]
        match record.what {
            What::Fact(Fact::Released { job }) if self.native => {
                let last = self.numbers.entry(job.task).or_default();
                if job.sequence < *last {
                    return Err("W1: a later job of the task was released before");
                }
                *last = job.sequence;
                Ok(())
            }
            What::Fact(_) if self.native => Ok(()),
            What::Fact(fact) => {
                if let Fact::Released { job } = fact {
                    self.hand_on(at, job)?;
                }
                self.reported.see(at, fact, &self.observed)?;
                self.owe(self.not_over_before(at, fact), fact)
            }
            What::Observed(fact) => {
                self.observed.see(at, fact, &self.reported)?;
                if let Fact::Released { job } = fact
                    && !self.native
                {
                    let kept = self.kept.entry(job.task).or_default();
                    kept.push_back((job.sequence, at));
                }
                self.owe(at, fact)
            }
            What::Miss { job, deadline, .. } => self.miss(at, job, deadline),
            What::Overhead {
                cpu,
                mechanism,
                edge,
            } => self.overhead(cpu, mechanism, edge),
            What::Gap { length, .. } => {
                if length.as_nanos() > at.as_nanos() {
                    return Err("G1: the gap is longer than the time that has passed");
                }
                Ok(())
            }
            What::End { .. } => self.end(),
            What::Notice(Event::Dropped { job, .. }) => {
                self.dropped.insert(job);
                Ok(())
            }
            What::Dropped { job, .. } => self.drop_job(job),
            _ => Ok(()),
        }
    }

    /// A release that was seen before is reported at last.
    fn hand_on(&mut self, at: Instant, job: JobId) -> Verdict {
        let Some(kept) = self.kept.get_mut(&job.task) else {
            return Ok(());
        };
        match kept.pop_front() {
            None => Ok(()),
            Some(oldest) if oldest == (job.sequence, at) => Ok(()),
            Some(_) => Err("W8: another release of the task was seen before and not reported"),
        }
    }

    /// Whether the release was seen at that instant and is the next of its task to be reported.
    #[must_use]
    pub fn is_kept(&self, at: Instant, job: JobId) -> bool {
        let kept = self.kept.get(&job.task);
        kept.and_then(VecDeque::front) == Some(&(job.sequence, at))
    }

    /// When a job was released that was seen and neither reported nor dropped yet.
    fn kept_since(&self, job: JobId) -> Option<Instant> {
        let kept = self.kept.get(&job.task)?;
        let place = kept.binary_search_by_key(&job.sequence, |(number, _)| *number);
        kept.get(place.ok()?).map(|(_, at)| *at)
    }

    /// Whether releases of the task are recorded, and the job's would be remembered but is not there.
    fn is_unreleased(&self, job: JobId) -> bool {
        let accounts = [&self.reported, &self.observed];
        if accounts.iter().any(|known| known.released(job).is_some()) {
            return false;
        }
        if self.kept_since(job).is_some() {
            return false;
        }
        let newest = accounts.iter().filter_map(|known| known.newest(job.task));
        newest.max().is_some_and(|newest| job.sequence > newest)
            || accounts.iter().any(|known| known.should_know(job))
    }

    fn deadline(&self, job: JobId) -> Option<Instant> {
        let relative = *self.deadlines.get(job.task.index())?;
        if relative.is_zero() {
            return None;
        }
        let released = self
            .reported
            .released(job)
            .or_else(|| self.observed.released(job))
            .or_else(|| self.kept_since(job))?;
        Some(released.saturating_add(relative))
    }

    fn drop_job(&mut self, job: JobId) -> Verdict {
        if self.dropped_by_world.contains(job) {
            return Err("W7: the job was dropped before");
        }
        if self.observed.is_over(job) {
            return Err("W7: the job is complete");
        }
        if self.is_unreleased(job) {
            return Err("W7: the job was not released");
        }
        if let Some(kept) = self.kept.get_mut(&job.task)
            && let Ok(place) = kept.binary_search_by_key(&job.sequence, |(number, _)| *number)
        {
            kept.remove(place);
        }
        self.dropped.insert(job);
        self.dropped_by_world.insert(job);
        Ok(())
    }

    /// When what is told now had not happened yet for certain: a job that completes where it starts again, as far as
    /// its world tells so later, was not over when it was stopped.
    fn not_over_before(&self, at: Instant, fact: Fact) -> Instant {
        if let Fact::Completed { job, .. } = fact
            && self.tells_later
        {
            return self.reported.stopped_before_start_at(at, job).unwrap_or(at);
        }
        at
    }

    /// A late completion asks for a miss.
    fn owe(&mut self, at: Instant, fact: Fact) -> Verdict {
        if let Fact::Completed { job, .. } = fact
            && self.judges_misses
            && self.deadline(job).is_some_and(|deadline| at > deadline)
            && !self.missed.contains(job)
            && !self.dropped.contains(job)
        {
            self.owed.insert(job);
        }
        Ok(())
    }

    fn miss(&mut self, at: Instant, job: JobId, deadline: Instant) -> Verdict {
        if self.missed.contains(job) {
            return Err("M4: the job has missed its deadline already");
        }
        if at < deadline && !self.dropped.contains(job) {
            return Err("M2: the deadline is still to come");
        }
        match self.deadline(job) {
            Some(known) if known != deadline => {
                return Err("M1: the job has another deadline");
            }
            None if self.is_unreleased(job) => {
                return Err("M1: no such job was released lately");
            }
            Some(_) | None => {}
        }
        let completed = self
            .reported
            .completed(job)
            .or_else(|| self.observed.completed(job));
        if completed.is_some_and(|completed| completed <= deadline) {
            return Err("M3: the job was complete at its deadline");
        }
        self.missed.insert(job);
        self.owed.remove(&job);
        Ok(())
    }

    fn overhead(&mut self, cpu: CpuId, mechanism: Mechanism, edge: Edge) -> Verdict {
        let open = self.open.entry(cpu).or_default();
        match edge {
            Edge::Begin => open.push(mechanism),
            Edge::End => {
                let last = open.iter().rposition(|other| *other == mechanism);
                open.remove(last.ok_or("O1: this overhead never began")?);
            }
        }
        Ok(())
    }

    fn end(&self) -> Verdict {
        if self.open.values().any(|open| !open.is_empty()) {
            return Err("O1: an overhead has not ended");
        }
        if !self.owed.is_empty() {
            return Err("M5: a job completed late without a recorded miss");
        }
        Ok(())
    }
}

impl Account {
    /// `other` is the other account, in which the release may stand.
    fn see(&mut self, at: Instant, fact: Fact, other: &Self) -> Verdict {
        match fact {
            Fact::Released { job } => self.release(at, job),
            Fact::Started { cpu, job } => {
                self.exists(job, other)?;
                if self.is_over(job) {
                    return Err("W3: the job is complete");
                }
                let earlier = |other: &JobId| other.task == job.task && *other != job;
                if self.running.values().flatten().any(earlier) {
                    return Err("W6: another job of the task has not ended");
                }
                let account = self.tasks.entry(job.task).or_default();
                account.starts = true;
                account.last_start = Some((job, at));
                let running = self.running.entry(cpu).or_default();
                if running.last() == Some(&job) {
                    return Err("W4: the job runs already");
                }
                // A native world does not say when a job goes on after a preemption; it may say
                // `Started` again.
                running.retain(|other| *other != job);
                running.push(job);
                Ok(())
            }
            Fact::Stopped { cpu, job, .. } => {
                self.tasks.entry(job.task).or_default().last_stop = Some((job, at));
                self.leave(cpu, job)
            }
            Fact::Charged { job, .. } => self.exists(job, other),
            Fact::Completed { cpu, job } => {
                self.exists(job, other)?;
                if self.is_over(job) {
                    return Err("W3: the job completes twice");
                }
                let running = self.running.entry(cpu).or_default();
                let count = running.len();
                running.retain(|other| *other != job);
                let ran = running.len() < count;
                let account = self.tasks.entry(job.task).or_default();
                if account.starts && !ran {
                    return Err("W5: the job does not run there");
                }
                if let Some((_, _, done)) = account
                    .jobs
                    .iter_mut()
                    .find(|(sequence, _, _)| *sequence == job.sequence)
                {
                    *done = Some(at);
                }
                self.completed_jobs.insert(job);
                Ok(())
            }
            Fact::Timer
            | Fact::Idle { .. }
            | Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => Ok(()),
        }
    }

    fn release(&mut self, at: Instant, job: JobId) -> Verdict {
        let account = self.tasks.entry(job.task).or_default();
        if let Some((last, _, _)) = account.jobs.back()
            && job.sequence <= *last
        {
            return Err("W1: a later job of the task was released before");
        }
        if account.jobs.len() == REMEMBERED {
            account.jobs.pop_front();
        }
        account.jobs.push_back((job.sequence, at, None));
        Ok(())
    }

    fn leave(&mut self, cpu: CpuId, job: JobId) -> Verdict {
        let Some(running) = self.running.get_mut(&cpu) else {
            return Ok(());
        };
        let count = running.len();
        running.retain(|other| *other != job);
        if running.len() == count {
            return Err("W5: the job does not run there");
        }
        Ok(())
    }

    /// Whether the release of the job would be remembered if there had been one.
    fn should_know(&self, job: JobId) -> bool {
        let oldest = self.tasks.get(&job.task).and_then(|task| task.jobs.front());
        oldest.is_some_and(|(oldest, _, _)| job.sequence >= *oldest)
            && self.newest(job.task) >= Some(job.sequence)
    }

    /// The latest release of the task.
    fn newest(&self, task: TaskId) -> Option<u64> {
        let (newest, _, _) = self.tasks.get(&task)?.jobs.back()?;
        Some(*newest)
    }

    /// Where releases of the task are recorded, the job has to be among them.
    fn exists(&self, job: JobId, other: &Self) -> Verdict {
        let Some(account) = self.tasks.get(&job.task) else {
            return Ok(());
        };
        let Some((oldest, _, _)) = account.jobs.front() else {
            return Ok(());
        };
        let released = self.released(job).or_else(|| other.released(job));
        if job.sequence < *oldest || released.is_some() {
            return Ok(());
        }
        Err("W2: the job was not released")
    }

    fn is_over(&self, job: JobId) -> bool {
        self.completed_jobs.contains(job)
    }

    fn find(&self, job: JobId) -> Option<(Instant, Option<Instant>)> {
        let account = self.tasks.get(&job.task)?;
        let (_, at, done) = account
            .jobs
            .iter()
            .rev()
            .find(|(sequence, _, _)| *sequence == job.sequence)?;
        Some((*at, *done))
    }

    /// When the job was stopped before it started again at this instant.
    fn stopped_before_start_at(&self, at: Instant, job: JobId) -> Option<Instant> {
        let account = self.tasks.get(&job.task)?;
        let starts_now = account.last_start == Some((job, at));
        let stopped = account.last_stop.filter(|(stopped, _)| *stopped == job);
        stopped.filter(|_| starts_now).map(|(_, at)| at)
    }

    fn released(&self, job: JobId) -> Option<Instant> {
        self.find(job).map(|(at, _)| at)
    }

    fn completed(&self, job: JobId) -> Option<Instant> {
        self.find(job).and_then(|(_, done)| done)
    }
}
