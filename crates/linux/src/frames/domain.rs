//! What all CPUs of a frame table have in common: the scheduler, what it was told, and what it said.
//!
//! Nothing in here waits, and no decision depends on a clock: instants come with the calls, and how long things take is
//! read by [`Domain::stamp`]. Instants are those of the run; tasks and CPUs have the numbers of the
//! scheduler.

use crate::account::{FrameNote, Note};
use crate::control::Traced;
use crate::decider::BoxedScheduler;
use crate::notes::NoteLog;
use crate::parts::{Part, Parts};
use crate::report::{FrameCounts, MODES_MAX, ModeChange};
use std::collections::VecDeque;
use std::sync::Arc;
use vestal_core::job_table::BACKLOG_MAX;
use vestal_core::{
    BarrierId, ContractViolation, CpuId, DropReason, Drops, Duration, Event, Fact, Instant, JobId,
    Level, Notice, Scheduler, TaskId,
};
use vestal_statistics::Histogram;
use vestal_trace::{Record, What};

/// The outcome of a call.
pub(super) type Step<T = ()> = Result<T, ContractViolation>;

/// What a walker is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// To run its jobs, and to come to this barrier.
    Walk(BarrierId),
    /// To wait at the barrier: it has come there, and others have not.
    Meet,
    /// To come back at this instant.
    Wait(Instant),
    /// Nothing any more: no frame begins before the run ends.
    End,
}

/// A task, and which of its jobs wait.
#[derive(Debug)]
pub(super) struct DomainTask {
    /// The CPU of the set, and the task's number there.
    pub(super) home: (usize, TaskId),
    pub(super) offset: Duration,
    pub(super) period: Duration,
    next_sequence: u64,
    /// How many of its jobs the scheduler was told of since it decided.
    told: u64,
    /// Released, and neither begun nor dropped, oldest first.
    waiting: VecDeque<u64>,
    pub(super) dropped: Drops,
}

impl DomainTask {
    /// A task without jobs, by its offset and period.
    pub(super) fn new(home: (usize, TaskId), [offset, period]: [Duration; 2]) -> Self {
        Self {
            home,
            offset,
            period,
            next_sequence: 0,
            told: 0,
            // Those that a decision is told of, the one before, and those of a sequence.
            waiting: VecDeque::with_capacity(2 * BACKLOG_MAX),
            dropped: Drops::default(),
        }
    }

    fn release(&self, sequence: u64) -> Instant {
        let since = self.period.saturating_mul(sequence);
        Instant::EPOCH
            .saturating_add(self.offset)
            .saturating_add(since)
    }

    /// The number of the first job that is released later than `at`, and not before `end`.
    fn next_after(&self, at: Instant, end: Instant) -> u64 {
        let first = self.release(0);
        let number = |at: Instant| (at >= first).then(|| at.saturating_since(first));
        let until = |at| number(at).and_then(|since| since.div_floor(self.period));
        let after = until(at).map_or(0, |newest| newest.saturating_add(1));
        // Of those before the end the last one is released before it.
        let all = number(end).map_or(0, |since| {
            since.as_nanos().div_ceil(self.period.as_nanos().max(1))
        });
        after.min(all)
    }

    /// Its jobs that never began.
    pub(super) fn never_begun(&self) -> impl Iterator<Item = u64> {
        self.waiting.iter().copied()
    }
}

/// What one CPU has to do.
#[derive(Debug, Default)]
struct Walk {
    sequence: Vec<JobId>,
    /// Whether it has taken its sequence.
    taken: bool,
    /// Whether it has come to the barrier.
    arrived: bool,
}

/// What a call of the domain came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    /// What the scheduler decided for, if it did.
    pub(super) decided: Option<Part>,
    /// How long it took to tell it of releases, in nanoseconds, if there were any.
    pub(super) arrivals: Option<u64>,
}

/// How many releases of one task the scheduler is told of before its next decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// As many as it has room for.
    All,
    /// One less, which stays for the youngest one when it decides.
    ForOneMore,
}

/// Why the scheduler decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// A frame is to begin, and nothing keeps it.
    Due,
    /// All CPUs have come to the barrier.
    AllCame,
    /// A frame is over, and a sub-frame of it is not.
    Overrun,
}

/// What was noted down for the report.
#[derive(Debug)]
pub(super) struct FrameRecord {
    pub(super) frames: FrameCounts,
    pub(super) modes: Vec<ModeChange>,
    pub(super) modes_lost: u64,
    /// By how much later than it should a frame began, of those that nothing kept.
    pub(super) begun_late: Histogram,
    /// What decisions took that all CPUs wait for.
    pub(super) parts: Parts,
}

/// The domain.
pub(super) struct Domain {
    pub(super) scheduler: Traced<BoxedScheduler>,
    pub(super) tasks: Vec<DomainTask>,
    walks: Vec<Walk>,
    /// How many walkers meet.
    threads: usize,
    /// The barrier at the end of the sub-frame that goes on.
    sub_frame: Option<BarrierId>,
    /// When the scheduler wants to decide at the latest.
    wake: Option<Instant>,
    length: Duration,
    /// The first frame that has neither begun nor passed.
    next_frame: u64,
    /// As of the last notice.
    mode: Level,
    /// What becomes of frames is noted there, for the judge of all CPUs: in a log that no thread has for its own.
    notes: Arc<NoteLog>,
    /// No decision is at an earlier instant (C1).
    clock: Instant,
    /// When it has decided last.
    decided: Instant,
    /// What it was told since the last decision.
    facts: u32,
    /// No job is released and no frame begins from here on.
    end: Instant,
    /// A call of the scheduler has not come back, or was refused: it is called no more.
    has_failed: bool,
    /// A clock in nanoseconds, by which nothing is decided.
    pub(super) stamp: fn() -> u64,
    /// Since that was asked last.
    spent: Spent,
    /// Whether the decision at hand drops sub-frames.
    drops: bool,
    pub(super) record: FrameRecord,
}

impl Domain {
    /// Of these tasks by their numbers, in frames of this length, on so many CPUs, of which `threads` have walkers. Until
    /// [`Self::begin`] no frame begins.
    pub(super) fn new(
        scheduler: Traced<BoxedScheduler>,
        (tasks, length): (Vec<DomainTask>, Duration),
        (cpus, threads): (usize, usize),
        notes: Arc<NoteLog>,
    ) -> Self {
        let walk = || Walk {
            sequence: Vec::with_capacity(tasks.len()),
            ..Walk::default()
        };
        Self {
            walks: (0..cpus).map(|_| walk()).collect(),
            scheduler,
            tasks,
            threads,
            sub_frame: None,
            wake: Some(Instant::EPOCH),
            length,
            next_frame: 0,
            mode: Level::LOWEST,
            notes,
            clock: Instant::EPOCH,
            decided: Instant::EPOCH,
            facts: 0,
            end: Instant::EPOCH,
            has_failed: false,
            stamp: || 0,
            spent: Spent::default(),
            drops: false,
            record: FrameRecord {
                frames: FrameCounts::default(),
                modes: Vec::with_capacity(MODES_MAX),
                modes_lost: 0,
                begun_late: Histogram::default(),
                parts: Parts::of(&Part::OF_FRAMES),
            },
        }
    }

    /// What the calls since the last time came to.
    pub(super) fn take_spent(&mut self) -> Spent {
        std::mem::take(&mut self.spent)
    }

    /// The run is to end then.
    pub(super) fn begin(&mut self, end: Instant) {
        self.end = end;
    }

    /// Whether a frame is to begin that nobody has begun yet.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let begins = self.frame_begins().filter(|_| self.sub_frame.is_none());
        begins.is_some_and(|at| at <= now)
    }

    /// What the walker of `cpu` is to do at `now`; `jobs` become those that it is to run, by the numbers of its CPU. If a
    /// frame is to begin, it begins.
    pub(super) fn turn(&mut self, cpu: usize, now: Instant, jobs: &mut Vec<JobId>) -> Step<Turn> {
        self.begin_if_due(now)?;
        let next = self.frame_begins().map_or(Turn::End, Turn::Wait);
        let (Some(barrier), Some(walk)) = (self.sub_frame, self.walks.get_mut(cpu)) else {
            return Ok(next);
        };
        if std::mem::replace(&mut walk.taken, true) {
            return Ok(Turn::Meet);
        }
        jobs.clear();
        for job in &walk.sequence {
            let Some(task) = self.tasks.get(job.task.index()) else {
                return Err(ContractViolation::UnknownTask(job.task));
            };
            let (_, task) = task.home;
            jobs.push(JobId { task, ..*job });
        }
        Ok(Turn::Walk(barrier))
    }

    /// If a frame is to begin, it begins.
    fn begin_if_due(&mut self, now: Instant) -> Step {
        if self.is_due(now) {
            let late = self
                .wake
                .map_or(0, |at| now.saturating_since(at).as_nanos());
            self.decide(now, Why::Due)?;
            self.spent.decided = Some(Part::FrameInit);
            self.record.begun_late.record(late);
        }
        Ok(())
    }

    /// The barrier of the sub-frame that goes on at `now`, if one does, for somebody who begins it for all CPUs. If a frame is
    /// to begin, it begins.
    pub(super) fn open_barrier(&mut self, now: Instant) -> Step<Option<BarrierId>> {
        self.begin_if_due(now)?;
        Ok(self.sub_frame)
    }

    /// The first job of the present sequence of a CPU, if it has any.
    pub(super) fn first_job(&self, cpu: usize) -> Option<JobId> {
        self.walks.get(cpu)?.sequence.first().copied()
    }

    /// The number of the frame that began last, counted from the epoch.
    pub(super) const fn frame(&self) -> u64 {
        self.next_frame.saturating_sub(1)
    }

    /// Tells the scheduler of the releases until `now`, for somebody who does so when they happen: of those that it has no room
    /// for it learns when it decides. Gives the instant of the next one, if there is one before the end.
    pub(super) fn register(&mut self, now: Instant) -> Step<Option<Instant>> {
        self.take_arrivals(now, Room::ForOneMore)?;
        let end = self.end;
        let next = self.tasks.iter();
        let next = next.map(|task| task.release(task.next_after(now, end)));
        Ok(next.filter(|&at| now < at && at < end).min())
    }

    /// When the next frame begins, if one does.
    fn frame_begins(&self) -> Option<Instant> {
        self.wake.filter(|&at| at < self.end)
    }

    /// The walker of `cpu` came to the barrier at `at`, after all of its jobs; it is `now`. Says whether it was the last: then
    /// the scheduler has decided, and the barrier is to be opened.
    pub(super) fn arrive(
        &mut self,
        cpu: usize,
        (at, now): (Instant, Instant),
        barrier: BarrierId,
    ) -> Step<bool> {
        self.notice_overrun(at)?;
        // Somebody else may have told of later releases before, and the decision was later than these.
        let at = at.max(self.decided);
        let number = cpu_of(cpu);
        self.apply(
            at,
            Fact::BarrierReached {
                cpu: number,
                barrier,
            },
        )?;
        if let Some(walk) = self.walks.get_mut(cpu) {
            walk.arrived = true;
        }
        let arrived = self.walks.iter().filter(|walk| walk.arrived).count();
        // What would begin after the end does not.
        if arrived < self.threads || now >= self.end {
            return Ok(false);
        }
        self.record.frames.barriers += 1;
        let next_frame = self.next_frame;
        self.decide(now, Why::AllCame)?;
        // Two decisions in one call are one entry: for the frame, if either was.
        let begins_frame = self.next_frame > next_frame || self.spent.decided.is_some();
        self.spent.decided = Some(match (begins_frame, self.drops) {
            (true, _) => Part::FrameInit,
            (false, true) => Part::SubFrameOverrun,
            (false, false) => Part::SubFrameInit,
        });
        Ok(true)
    }

    /// A frame is over when somebody comes at `at`, and its sub-frame is not: the scheduler learns that before it
    /// learns of who came.
    fn notice_overrun(&mut self, at: Instant) -> Step {
        let missing = |walk: &Walk| !walk.arrived && !walk.sequence.is_empty();
        if self.sub_frame.is_some()
            && self.wake.is_some_and(|wake| at > wake)
            && self.walks.iter().any(missing)
        {
            self.decide(at, Why::Overrun)?;
            self.spent.decided = Some(Part::FrameInit);
        }
        Ok(())
    }

    fn apply(&mut self, at: Instant, fact: Fact) -> Step {
        self.clock = self.clock.max(at);
        self.facts = self.facts.saturating_add(1);
        self.has_failed = true;
        self.scheduler.apply(at, fact)?;
        self.has_failed = false;
        Ok(())
    }

    /// The scheduler decides at `now`. Unless a sub-frame goes on what it says of sequences is new.
    fn decide(&mut self, now: Instant, why: Why) -> Step {
        let now = now.max(self.clock);
        (self.clock, self.decided) = (now, now);
        self.take_arrivals(now, Room::All)?;
        (self.facts, self.drops) = (0, false);
        // Until it has come back.
        self.has_failed = true;
        let plan = self.scheduler.decide(now)?;
        self.has_failed = false;
        self.tasks.iter_mut().for_each(|task| task.told = 0);
        self.wake = plan.next.map(|wake| wake.at);
        if why != Why::Overrun {
            self.sub_frame = None;
            for (walk, cpu) in self.walks.iter_mut().zip(0..) {
                // All that were there have come to their ends.
                let ended = walk.sequence.drain(..);
                ended.for_each(|job| take(&mut self.tasks, job));
                let sequence = plan.sequence(CpuId(cpu));
                (walk.taken, walk.arrived) = (false, false);
                if let Some(sequence) = sequence {
                    self.sub_frame = Some(sequence.barrier);
                    walk.sequence.extend_from_slice(sequence.jobs);
                }
            }
        }
        self.note_frame(now, why);
        while let Some(notice) = self.scheduler.take_notice() {
            self.note(&notice);
        }
        Ok(())
    }

    /// Tells the scheduler of all releases until `now`, and how long that takes.
    fn take_arrivals(&mut self, now: Instant, room: Room) -> Step {
        let before = (self.stamp)();
        if self.release_until(now, room)? {
            let took = (self.stamp)().saturating_sub(before);
            let arrivals = self.spent.arrivals.unwrap_or(0);
            self.spent.arrivals = Some(arrivals.saturating_add(took));
        }
        Ok(())
    }

    /// Notes which frame the scheduler has begun at `now`, if it has: as soon as the one before is over and no
    /// sub-frame goes on.
    fn note_frame(&mut self, now: Instant, why: Why) {
        let age = now.saturating_since(Instant::EPOCH);
        let frame = age.div_floor(self.length).unwrap_or(0);
        if why == Why::Overrun || frame < self.next_frame {
            return;
        }
        let first = std::mem::replace(&mut self.next_frame, frame.saturating_add(1));
        self.notes.write(Note::Frame(FrameNote::Began {
            frame,
            first,
            at: age.as_nanos(),
            kept: why == Why::AllCame,
        }));
    }

    /// Tells the scheduler of all releases until `now`; says whether there were any. Of each task it has room for some
    /// in a decision; where there are
    /// more, an older one would make way for the younger in the same decision anyway.
    fn release_until(&mut self, now: Instant, room: Room) -> Step<bool> {
        let mut any = false;
        for (task, id) in self.tasks.iter_mut().zip((0..).map(TaskId)) {
            let next = task.next_after(now, self.end);
            while task.next_sequence < next {
                let left = (BACKLOG_MAX as u64).saturating_sub(task.told);
                if left <= 1 && room == Room::ForOneMore {
                    break;
                }
                let sequence = task.next_sequence;
                task.next_sequence += 1;
                any = true;
                let (at, job) = (task.release(sequence), JobId { task: id, sequence });
                self.clock = self.clock.max(at);
                if next - sequence > left {
                    let why = DropReason::Superseded;
                    let trace = self.scheduler.sink_mut();
                    trace.observed(at, Fact::Released { job });
                    trace.record(at, What::Dropped { job, why });
                    task.dropped.add(why, 1);
                    note_dropped(&self.notes, job, why, (self.mode, now));
                    continue;
                }
                task.waiting.push_back(sequence);
                task.told += 1;
                if self.has_failed {
                    continue;
                }
                self.facts = self.facts.saturating_add(1);
                self.has_failed = true;
                self.scheduler.apply(at, Fact::Released { job })?;
                self.has_failed = false;
            }
        }
        Ok(any)
    }

    fn note(&mut self, notice: &Notice) {
        let frames = &mut self.record.frames;
        match notice.what {
            Event::Dropped { job, why } => {
                take(&mut self.tasks, job);
                if let Some(task) = self.tasks.get_mut(job.task.index()) {
                    task.dropped.add(why, 1);
                }
                note_dropped(&self.notes, job, why, (self.mode, self.clock));
            }
            Event::ModeChanged { from, to, cause } => {
                self.drops |= to > from;
                self.mode = to;
                // Whatever is dropped, all below it is: once in a frame at most.
                frames.lowest_skipped += u64::from(from == Level::LOWEST && to > from);
                if self.record.modes.len() < MODES_MAX {
                    let at = notice.at;
                    self.record.modes.push(ModeChange {
                        at,
                        from,
                        to,
                        cause,
                    });
                } else {
                    self.record.modes_lost += 1;
                }
            }
            Event::FrameOverrun { .. } => frames.overrun += 1,
            Event::FramesSkipped { count, .. } => {
                frames.skipped = frames.skipped.saturating_add(count);
            }
            // A table has neither limits nor servers; that a decision is late shows in when frames begin.
            Event::Overrun { .. }
            | Event::Depleted { .. }
            | Event::Postponed { .. }
            | Event::Late { .. } => {}
        }
    }

    /// The run was stopped then, when the walker of each CPU had begun so many jobs of its sequence as `begun` says. Takes
    /// all that was released.
    pub(super) fn end(&mut self, stopped: Instant, begun: impl Fn(usize) -> usize) -> Step {
        if !self.has_failed {
            self.notice_overrun(stopped)?;
        }
        for (cpu, walk) in self.walks.iter().enumerate() {
            let count = match (walk.taken, walk.arrived) {
                (false, _) => 0,
                (true, false) => begun(cpu),
                (true, true) => walk.sequence.len(),
            };
            let began = walk.sequence.iter().take(count);
            began.for_each(|job| take(&mut self.tasks, *job));
        }
        self.end = self.end.min(stopped);
        self.release_until(stopped, Room::All).map(|_| ())
    }

    /// The last record, at `at` or when the scheduler heard of something last. The scheduler stays: a walker whose body
    /// does not return may have a reference.
    pub(super) fn last_record(&self, at: Instant) -> Record {
        Record {
            at: at.max(self.clock),
            what: What::End { facts: self.facts },
        }
    }
}

/// Notes that a job was dropped at `now`, when the mode was that.
fn note_dropped(notes: &NoteLog, job: JobId, why: DropReason, (mode, now): (Level, Instant)) {
    notes.write(Note::Frame(FrameNote::Dropped {
        task: job.task.0,
        sequence: job.sequence,
        why,
        // The mode is the lowest level that was not dropped.
        late: Level(mode.0.saturating_sub(1)),
        at: now.saturating_since(Instant::EPOCH).as_nanos(),
    }));
}

/// A job leaves those that wait, if it is one of them.
fn take(tasks: &mut [DomainTask], job: JobId) {
    if let Some(task) = tasks.get_mut(job.task.index()) {
        task.waiting.retain(|waiting| *waiting != job.sequence);
    }
}

/// The number of the CPU at this place in the set.
pub(super) fn cpu_of(index: usize) -> CpuId {
    CpuId(u16::try_from(index).unwrap_or(u16::MAX))
}

#[cfg(test)]
#[path = "domain_tests.rs"]
mod tests;
