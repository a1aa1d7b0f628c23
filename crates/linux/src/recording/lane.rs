//! The records of one CPU, brought into one order.

use super::Tracer;
use super::evidence::Evidence;
use crate::account::{Account, Closing, Judge, Rules, TaskFacts};
use crate::cpu::Cpu;
use crate::notes::NoteReader;
use crate::sys::clock::{is_steal_reported, monotonic_nanos};
use crate::words::Flag;
use std::collections::VecDeque;
use std::sync::Arc;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{Fact, Instant, JobId, TaskId};
use vestal_trace::ring::{Consumer as Reader, channel};
use vestal_trace::{Record, Scope, What};

/// How many records may wait for their turn before the rings are left to fill and lose some: a
/// thread that was preempted within a group holds the others back.
const WAITING_MAX: usize = 1 << 20;

/// Clocks of one CPU are compared with those of another.
pub(super) const SKEW_NANOS: u64 = 1_000;

/// The rings of a CPU: the manager's first, then the workers' in the order of the tasks.
#[derive(Debug, Default)]
pub(crate) struct Rings(Vec<Ring>);

/// One ring, and what came out of it.
#[derive(Debug)]
struct Ring {
    reader: Reader<Record>,
    flag: Arc<Flag>,
    /// Records with the instants by which they are merged: that of the latest record of this ring so
    /// far, because a manager may tell of something that happened before its last call.
    waiting: VecDeque<(u64, Record)>,
    latest: u64,
    /// Whatever comes later is not from before this instant.
    complete_until: u64,
    lost: u64,
    /// Its records have the numbers of the recording already.
    is_common: bool,
}

impl Rings {
    /// Another ring; its memory is reserved here, and locked if the process's memory is.
    pub(crate) fn add(&mut self, records: usize) -> Tracer {
        self.push(records, false)
    }

    /// A ring of what is about tasks and CPUs beyond this CPU: with the numbers of the recording.
    pub(crate) fn add_common(&mut self, records: usize) -> Tracer {
        self.push(records, true)
    }

    fn push(&mut self, records: usize, is_common: bool) -> Tracer {
        let (producer, reader) = channel(records);
        let flag = Arc::new(Flag::default());
        self.0.push(Ring {
            reader,
            flag: Arc::clone(&flag),
            waiting: VecDeque::new(),
            latest: 0,
            complete_until: 0,
            lost: 0,
            is_common,
        });
        Tracer::new(producer, flag)
    }

    /// Empties all rings into nothing.
    pub(crate) fn discard(&mut self) {
        for ring in &mut self.0 {
            while ring.reader.pop().is_some() {}
        }
    }
}

/// Merges the rings of one CPU, and has its notes judged.
pub(crate) struct Lane {
    rings: Vec<Ring>,
    evidence: Evidence,
    pub(super) releases: Releases,
    cpu: Arc<Cpu>,
    /// What its tasks and its CPU are called in the recording.
    scope: Scope,
    /// What is complete, in its order and with the numbers of the recording, with the instants by which it is merged with
    /// that of other CPUs.
    ready: VecDeque<(u64, Record)>,
    clock: Instant,
    /// Whatever comes later into `ready` is not from before this instant.
    complete_until: u64,
    lost: u64,
}

impl Lane {
    /// Of a CPU whose notes come from `notes`.
    pub(crate) fn new(rings: Rings, notes: NoteReader, cpu: &Arc<Cpu>, scope: Scope) -> Self {
        let rules = Rules {
            tolerance_nanos: cpu.terms.tolerance_nanos,
            guarantee: cpu.terms.guarantee,
            stops_at_own_limit: cpu.terms.duties.watches_budgets && cpu.terms.stops_at_own_limit,
            steal_reported: is_steal_reported(),
            managed: cpu.planned.is_some(),
            common: cpu.terms.duties.is_walked(),
            late_wake_nanos: cpu.terms.late_wake_nanos,
        };
        let tasks = cpu.tasks.iter().map(|task| TaskFacts {
            model: task.configuration.task,
            offset_nanos: task.offset_nanos,
        });
        Self {
            rings: rings.0,
            evidence: Evidence::new(notes, tasks, rules),
            releases: Releases::new(cpu),
            cpu: Arc::clone(cpu),
            scope,
            ready: VecDeque::new(),
            clock: Instant::EPOCH,
            complete_until: 0,
            lost: 0,
        }
    }

    /// A ring of what is about tasks and CPUs beyond this one, behind those that there are.
    #[cfg(test)]
    pub(super) fn add_common_ring(&mut self, records: usize) -> Tracer {
        let mut rings = Rings::default();
        let tracer = rings.add_common(records);
        self.rings.append(&mut rings.0);
        tracer
    }

    pub(super) const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// How many records were lost.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }

    /// The instant by which the next complete record is merged; none: nothing is complete.
    pub(super) fn next(&self) -> Option<u64> {
        self.ready.front().map(|&(key, _)| key)
    }

    /// Whether all that comes later is merged behind `key`.
    pub(super) fn is_past(&self, key: u64) -> bool {
        self.complete_until > key
    }

    pub(super) fn take(&mut self) -> Option<Record> {
        self.ready.pop_front().map(|(_, record)| record)
    }

    /// Nobody wants records.
    pub(super) fn forget(&mut self) {
        self.ready.clear();
        self.evidence.forget_findings();
    }

    /// Who judges its notes.
    pub(super) const fn judge(&mut self) -> &mut Judge {
        self.evidence.judge()
    }

    /// The clock, in nanoseconds after the run began.
    pub(super) fn now(&self) -> u64 {
        self.cpu.instant(monotonic_nanos()).as_nanos()
    }

    /// Whether nothing holds notes back that had been noted when the round before this call began.
    pub(super) const fn is_whole(&self) -> bool {
        self.evidence.is_whole()
    }

    /// Has all notes judged, when no thread writes any more.
    pub(super) fn take_last_notes(&mut self) {
        self.evidence.take_last_notes();
    }

    pub(super) fn into_account(self) -> Account {
        self.evidence.into_account(self.cpu.stopped_at.get())
    }

    /// Empties the rings and hands on what is complete.
    pub(super) fn round(&mut self) {
        // Before the run begins nothing happens in it, and no reading of the clock is an instant of it.
        if self.cpu.epoch() == 0 {
            return;
        }
        let now = self.now();
        let rings = self.rings.iter().map(|ring| ring.waiting.len());
        let waiting = rings.fold(self.ready.len(), usize::saturating_add);
        let mut lost = 0;
        for ring in &mut self.rings {
            // First the flag, then the ring: a group that ended before is in the ring.
            let open = ring.flag.is_up();
            if waiting < WAITING_MAX {
                ring.empty();
            } else {
                continue;
            }
            if !open {
                ring.complete_until = now.saturating_sub(SKEW_NANOS);
            }
            lost += ring.newly_lost();
        }
        self.note_lost(lost);
        // What a thread noted in a group that ended before is in the log.
        let stolen = self.evidence.take_notes();
        self.cpu.online.note_stolen_by_threads(stolen);
        let complete = self.rings.iter().map(|ring| ring.complete_until).min();
        let released = self.releases_until().min(now);
        // Without rings no flag says that somebody is in a group: what is found later stands where that was found.
        let complete = complete.unwrap_or(now.saturating_sub(SKEW_NANOS));
        self.hand_on_until(complete, released);
        self.complete_until = complete;
    }

    /// Hands on everything that there is, and after it `rest` and `end`.
    pub(super) fn finish(&mut self, rest: Vec<Record>, end: Option<Record>) {
        let mut lost = 0;
        for ring in &mut self.rings {
            ring.empty();
            lost += ring.newly_lost();
        }
        self.evidence.take_last_notes();
        self.hand_on_until(u64::MAX, self.releases_until());
        self.note_lost(lost);
        self.ends_never_reported();
        let never_noted = self.evidence.close(Closing {
            stopped: self.cpu.stopped_at.get(),
            end: self.cpu.run.end.get(),
            at: monotonic_nanos(),
            consumed: self.cpu.consumed(),
        });
        for record in rest.into_iter().chain(never_noted).chain(end) {
            let at = record.at.max(self.clock);
            self.hand_on(Record { at, ..record });
        }
        self.complete_until = u64::MAX;
    }

    /// When jobs cease to be released: at the end of the run, planned or not.
    fn releases_until(&self) -> u64 {
        let end = self.cpu.run.end.get();
        let until = match self.cpu.stopped_at.get() {
            0 => end,
            stopped => stopped.min(end),
        };
        self.cpu.instant(until).as_nanos()
    }

    /// Hands on, in the order of time, all before `complete`, with the releases before `released`.
    /// Of one instant the manager's come first, whole; then releases; then the workers'; then what the judge found.
    fn hand_on_until(&mut self, complete: u64, released: u64) {
        loop {
            let mut earliest: Option<(u64, usize)> = None;
            for (index, ring) in self.rings.iter().enumerate() {
                if let Some(&(key, _)) = ring.waiting.front()
                    && key < complete
                    && earliest.is_none_or(|(least, _)| key < least)
                {
                    earliest = Some((key, index));
                }
            }
            let found = self.evidence.next_finding().filter(|&at| at < complete);
            let found = found.filter(|&at| earliest.is_none_or(|(key, _)| at < key));
            let limit = complete.min(released);
            let before = |at: u64| match (found, earliest) {
                (Some(found), _) => at <= found,
                (None, Some((key, 0))) => at < key,
                (None, Some((key, _))) => at <= key,
                (None, None) => true,
            };
            if let Some(at) = self.releases.next().filter(|&at| at < limit && before(at)) {
                let job = self.releases.take();
                let what = What::Observed(Fact::Released { job });
                let at = Instant::from_nanos(at);
                self.hand_on(Record { at, what });
                continue;
            }
            if found.is_some() {
                self.evidence
                    .take_finding()
                    .into_iter()
                    .for_each(|record| self.hand_on(record));
                continue;
            }
            let Some((_, index)) = earliest else { break };
            let ring = self.rings.get_mut(index);
            let next = ring.and_then(|ring| Some((ring.waiting.pop_front()?, ring.is_common)));
            let Some(((_, record), is_common)) = next else {
                break;
            };
            match is_common {
                true => self.hand_on_as_it_is(record),
                false => self.hand_on(record),
            }
        }
        self.evidence.hand_on_until(Instant::from_nanos(complete));
    }

    /// Hands on a record of this CPU, with the numbers of the recording.
    fn hand_on(&mut self, record: Record) {
        self.hand_on_as_it_is(self.scope.to_file(record));
    }

    fn hand_on_as_it_is(&mut self, record: Record) {
        self.clock = self.clock.max(record.at);
        self.ready.push_back((self.clock.as_nanos(), record));
    }

    fn note_lost(&mut self, count: u64) {
        if count > 0 {
            self.lost += count;
            let at = self.clock;
            let what = What::Lost { count };
            self.hand_on(Record { at, what });
        }
    }

    /// Under managed dispatch: jobs that came to their end when the manager had stopped to listen.
    fn ends_never_reported(&mut self) {
        if self.cpu.terms.duties.is_native() {
            return;
        }
        let cpu = Arc::clone(&self.cpu);
        for task in &cpu.tasks {
            let Some(done) = task.handover.take_done() else {
                continue;
            };
            if done.completed && !task.jobs.lost_its_priority(done.sequence) {
                let at = cpu.instant(done.finished).max(self.clock);
                let (cpu, job) = (CPU, task.job(done.sequence));
                let what = What::Observed(Fact::Completed { cpu, job });
                self.hand_on(Record { at, what });
            }
        }
    }
}

impl Ring {
    fn empty(&mut self) {
        while let Some(record) = self.reader.pop() {
            self.latest = self.latest.max(record.at.as_nanos());
            self.waiting.push_back((self.latest, record));
        }
    }

    fn newly_lost(&mut self) -> u64 {
        let lost = self.reader.lost();
        let new = lost.saturating_sub(self.lost);
        self.lost = lost;
        new
    }
}

/// The releases of natively dispatched tasks, in the order of time.
pub(super) struct Releases(Vec<Release>);

#[derive(Clone, Copy)]
struct Release {
    at: u64,
    period: u64,
    job: JobId,
}

impl Releases {
    fn new(cpu: &Cpu) -> Self {
        if !cpu.terms.duties.is_native() {
            return Self(Vec::new());
        }
        let first = cpu.tasks.iter().map(|task| Release {
            at: task.offset_nanos,
            period: task.period_nanos(),
            job: task.job(0),
        });
        Self(first.collect())
    }

    /// No releases at all.
    #[cfg(test)]
    pub(super) const fn none() -> Self {
        Self(Vec::new())
    }

    fn next(&self) -> Option<u64> {
        self.0.iter().map(|release| release.at).min()
    }

    /// The job of the next release; of several at one instant that of the first task.
    fn take(&mut self) -> JobId {
        let none = JobId {
            task: TaskId(0),
            sequence: 0,
        };
        let Some(next) = self.0.iter_mut().min_by_key(|release| release.at) else {
            return none;
        };
        let job = next.job;
        next.at = next.at.saturating_add(next.period);
        next.job.sequence += 1;
        job
    }
}
