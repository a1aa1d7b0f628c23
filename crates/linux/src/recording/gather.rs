//! The side that empties the rings and brings the records into one order.

use super::tracer::Flag;
use super::{Consumer, Recording, Tracer};
use crate::report::Recorded;
use crate::shared::Shared;
use crate::sys::clock::monotonic_nanos;
use crate::sys::{futex, sched};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{Fact, Instant, JobId, TaskId};
use vestal_trace::ring::{Consumer as Reader, channel};
use vestal_trace::{Record, What};

/// How many records may wait for their turn before the rings are left to fill and lose some: a
/// thread that was preempted within a group holds the others back.
const WAITING_MAX: usize = 1 << 20;

/// Clocks of one CPU are compared with those of another.
const SKEW_NANOS: u64 = 1_000;

/// The rings of a run: the manager's first, then the workers' in the order of the tasks.
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
}

impl Rings {
    /// Another ring; its memory is reserved here, and locked if the process's memory is.
    pub(crate) fn add(&mut self, records: usize) -> Tracer {
        let (producer, reader) = channel(records);
        let flag = Arc::new(Flag::default());
        self.0.push(Ring {
            reader,
            flag: Arc::clone(&flag),
            waiting: VecDeque::new(),
            latest: 0,
            complete_until: 0,
            lost: 0,
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

/// The thread that gathers.
pub(crate) struct Gatherer {
    stop: Arc<AtomicU32>,
    thread: JoinHandle<Merger>,
}

impl Gatherer {
    /// Starts the thread, on one of `cpus` if there is one, else at the lowest priority.
    pub(crate) fn start(
        rings: Rings,
        shared: &Arc<Shared>,
        consumer: Box<Consumer>,
        cpus: Vec<usize>,
    ) -> io::Result<Self> {
        let stop = Arc::new(AtomicU32::new(0));
        let mut merger = Merger {
            rings: rings.0,
            releases: Releases::new(shared),
            shared: Arc::clone(shared),
            consumer,
            batch: Vec::new(),
            clock: Instant::EPOCH,
            recorded: Recorded::default(),
        };
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("vestal-gather".to_owned())
            .spawn(move || {
                if cpus.is_empty() || sched::pin_to_any(&cpus).is_err() {
                    sched::lowest_priority();
                }
                while stopped.load(Ordering::SeqCst) == 0 {
                    merger.round();
                    let next = monotonic_nanos().saturating_add(Recording::PERIOD.as_nanos());
                    futex::wait_until(&stopped, 0, Some(next));
                }
                merger
            })?;
        Ok(Self { stop, thread })
    }

    /// Ends the recording with the records of `rest` and with `end`, the last one of all; to be called
    /// when the threads of the run are gone. None without an end: the manager did not come to one.
    pub(crate) fn finish(self, rest: Vec<Record>, end: Option<Record>) -> io::Result<Recorded> {
        self.stop.store(1, Ordering::SeqCst);
        futex::wake_all(&self.stop);
        let panicked = |_| io::Error::other("the thread that gathers the records panicked");
        let mut merger = self.thread.join().map_err(panicked)?;
        merger.finish(rest, end);
        Ok(merger.recorded)
    }
}

/// Merges the rings.
struct Merger {
    rings: Vec<Ring>,
    releases: Releases,
    shared: Arc<Shared>,
    consumer: Box<Consumer>,
    batch: Vec<Record>,
    clock: Instant,
    recorded: Recorded,
}

impl Merger {
    /// Empties the rings and hands on what is complete.
    fn round(&mut self) {
        let now = self.shared.instant(monotonic_nanos()).as_nanos();
        let waiting: usize = self.rings.iter().map(|ring| ring.waiting.len()).sum();
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
        let complete = self.rings.iter().map(|ring| ring.complete_until).min();
        let released = self.releases_until().min(now);
        self.hand_on_until(complete.unwrap_or(now), released);
        (self.consumer)(&self.batch);
        self.batch.clear();
    }

    /// Hands on everything that there is, and after it `rest` and `end`.
    fn finish(&mut self, rest: Vec<Record>, end: Option<Record>) {
        let mut lost = 0;
        for ring in &mut self.rings {
            ring.empty();
            lost += ring.newly_lost();
        }
        self.hand_on_until(u64::MAX, self.releases_until());
        self.note_lost(lost);
        self.ends_never_reported();
        for record in rest.into_iter().chain(end) {
            let at = record.at.max(self.clock);
            self.hand_on(Record { at, ..record });
        }
        (self.consumer)(&self.batch);
        self.batch.clear();
    }

    /// When jobs cease to be released: at the end of the run, planned or not.
    fn releases_until(&self) -> u64 {
        let end = self.shared.end.get();
        let until = match self.shared.stopped_at.get() {
            0 => end,
            stopped => stopped.min(end),
        };
        self.shared.instant(until).as_nanos()
    }

    /// Hands on, in the order of time, all before `complete`, with the releases before `released`.
    /// Of one instant the manager's come first, whole; then releases; then the workers'.
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
            let limit = complete.min(released);
            let before = |at: u64| match earliest {
                Some((key, 0)) => at < key,
                Some((key, _)) => at <= key,
                None => true,
            };
            if let Some(at) = self.releases.next().filter(|&at| at < limit && before(at)) {
                let job = self.releases.take();
                let what = What::Observed(Fact::Released { job });
                let at = Instant::from_nanos(at);
                self.hand_on(Record { at, what });
                continue;
            }
            let Some((_, index)) = earliest else { return };
            let ring = self.rings.get_mut(index);
            let Some((_, record)) = ring.and_then(|ring| ring.waiting.pop_front()) else {
                return;
            };
            self.hand_on(record);
        }
    }

    fn hand_on(&mut self, record: Record) {
        self.clock = self.clock.max(record.at);
        self.recorded.records += 1;
        self.batch.push(record);
    }

    fn note_lost(&mut self, count: u64) {
        if count > 0 {
            self.recorded.lost += count;
            let at = self.clock;
            let what = What::Lost { count };
            self.hand_on(Record { at, what });
        }
    }

    /// Under managed dispatch: jobs that came to their end when the manager had stopped to listen.
    fn ends_never_reported(&mut self) {
        if self.shared.duties.is_native() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        for task in &shared.tasks {
            let Some(done) = task.handover.take_done() else {
                continue;
            };
            if done.completed && !task.lost_its_priority(done.sequence) {
                let (cpu, job) = (CPU, task.job(done.sequence));
                let at = shared.instant(done.finished).max(self.clock);
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
struct Releases(Vec<Release>);

#[derive(Clone, Copy)]
struct Release {
    at: u64,
    period: u64,
    job: JobId,
}

impl Releases {
    fn new(shared: &Shared) -> Self {
        if !shared.duties.is_native() {
            return Self(Vec::new());
        }
        let first = shared.tasks.iter().map(|task| Release {
            at: task.offset_nanos,
            period: task.period_nanos(),
            job: task.job(0),
        });
        Self(first.collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Monitor};
    use crate::shared::TaskShared;
    use std::sync::Mutex;
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};

    fn shared(tasks: usize) -> Arc<Shared> {
        let wcet = Wcet::new(&[Service::from_millis(1)]).unwrap();
        let period = Duration::from_millis(10);
        let configuration =
            TaskConfiguration::new(Task::new(Level(0), period, period, wcet).unwrap(), 1);
        let tasks = (0..tasks).map(|number| {
            TaskShared::new(
                number.to_string(),
                configuration,
                5,
                2,
                crate::allowance::Allowance::UpTo(1_000_000),
            )
        });
        let config = Config::new();
        let (monitor, tolerance) = (Monitor::Manager, Service::ZERO);
        let shared = Shared::new(tasks.collect(), &config, 0, monitor, tolerance);
        Arc::new(shared)
    }

    fn merger(tasks: usize) -> (Merger, Vec<Tracer>, Arc<Mutex<Vec<u64>>>) {
        let shared = shared(tasks);
        let mut rings = Rings::default();
        let tracers = (0..=tasks).map(|_| rings.add(8)).collect();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let merger = Merger {
            rings: rings.0,
            releases: Releases::new(&shared),
            shared,
            consumer: Box::new(move |records| {
                let times = records.iter().map(|record| record.at.as_nanos());
                sink.lock().unwrap().extend(times);
            }),
            batch: Vec::new(),
            clock: Instant::EPOCH,
            recorded: Recorded::default(),
        };
        (merger, tracers, seen)
    }

    fn timer(tracer: &mut Tracer, at: u64) {
        tracer.observed(Instant::from_nanos(at), Fact::Timer);
    }

    #[test]
    fn records_of_several_rings_come_in_the_order_of_time_with_the_releases_between() {
        let (mut merger, mut tracers, seen) = merger(2);
        timer(&mut tracers[1], 3);
        timer(&mut tracers[2], 9);
        timer(&mut tracers[0], 7);
        timer(&mut tracers[1], 20_000_000);
        merger.shared.end.set(15_000_000);
        merger.shared.stopped_at.set(u64::MAX);
        let end = Record {
            at: Instant::from_nanos(6),
            what: What::End { facts: 0 },
        };
        merger.finish(Vec::new(), Some(end));
        let release = 10_000_005;
        let expected = [3, 5, 5, 7, 9, release, release, 20_000_000, 20_000_000];
        assert_eq!(*seen.lock().unwrap(), expected);
        assert_eq!(
            merger.recorded,
            Recorded {
                records: 9,
                lost: 0
            }
        );
    }

    #[test]
    fn nothing_is_handed_on_past_a_group_that_is_still_open() {
        let (mut merger, mut tracers, seen) = merger(1);
        merger.releases = Releases(Vec::new());
        tracers[1].open();
        timer(&mut tracers[0], 3);
        merger.round();
        assert_eq!(*seen.lock().unwrap(), [0; 0]);
        timer(&mut tracers[1], 2);
        tracers[1].close();
        merger.round();
        assert_eq!(*seen.lock().unwrap(), [2, 3]);
    }

    #[test]
    fn what_found_no_room_is_counted_and_has_its_place() {
        let (mut merger, mut tracers, seen) = merger(1);
        merger.releases = Releases(Vec::new());
        (0..11).for_each(|at| timer(&mut tracers[1], at));
        merger.round();
        assert_eq!(
            merger.recorded,
            Recorded {
                records: 9,
                lost: 3
            }
        );
        assert_eq!(seen.lock().unwrap().len(), 9);
    }
}
