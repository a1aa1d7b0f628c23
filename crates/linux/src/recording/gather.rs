//! The side that empties the rings of all CPUs and brings the records into one order, and hands the notes to the judges.

use super::evidence::Evidence;
use super::frames::FrameEvidence;
use super::lane::Lane;
use super::{Consumer, Recorded, Recording};
use crate::account::{Account, FrameVerdicts};
use crate::scarce::{Resource, making};
use crate::sys::clock::monotonic_nanos;
use crate::sys::{futex, sched};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use vestal_trace::domains::DomainSink;
use vestal_trace::{DomainId, Domains, Record};

/// The thread that gathers.
pub(crate) struct Gatherer {
    stop: Arc<AtomicU32>,
    thread: JoinHandle<Merger>,
}

/// What is recorded of a CPU last: the records of `rest`, and the end of all; none without an end: its manager did not
/// come to one.
#[derive(Debug, Default)]
pub(crate) struct Last {
    pub(crate) rest: Vec<Record>,
    pub(crate) end: Option<Record>,
}

/// What came of a recording, and of the notes.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// None without a consumer.
    pub(crate) recorded: Option<Recorded>,
    /// By CPU.
    pub(crate) accounts: Vec<Account>,
    /// Of the frames that all CPUs have in common.
    pub(crate) frames: FrameVerdicts,
}

impl Gatherer {
    /// Starts the thread, on one of `processors` if there is one, else at the lowest priority. Without a consumer the
    /// run is judged, and nothing is merged.
    pub(crate) fn start(
        (lanes, frames): (Vec<Lane>, Option<FrameEvidence>),
        consumer: Option<Box<Consumer>>,
        processors: Vec<usize>,
    ) -> io::Result<Self> {
        let stop = Arc::new(AtomicU32::new(0));
        let period = if consumer.is_some() {
            Recording::PERIOD
        } else {
            Evidence::PERIOD
        };
        let mut merger = Merger {
            lanes,
            frames,
            consumer,
            batch: Domains::default(),
            records: 0,
        };
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("vestal-gather".to_owned())
            .spawn(move || {
                if processors.is_empty() || sched::pin_to_any(&processors).is_err() {
                    sched::lowest_priority();
                }
                while stopped.load(Ordering::SeqCst) == 0 {
                    merger.round();
                    let next = monotonic_nanos().saturating_add(period.as_nanos());
                    futex::wait_until(&stopped, 0, Some(next));
                }
                merger
            })
            .map_err(making(Resource::Thread))?;
        Ok(Self { stop, thread })
    }

    /// Ends the recording with what is the last of each CPU, and what is the last of all CPUs that have one domain in
    /// common; and the accounts. To be called when the threads of the run are gone.
    pub(crate) fn finish(self, last: Vec<Last>, common: Option<Record>) -> io::Result<Gathered> {
        self.stop.store(1, Ordering::SeqCst);
        futex::wake_all(&self.stop);
        let panicked = |_| io::Error::other("the thread that gathers the records panicked");
        let mut merger = self.thread.join().map_err(panicked)?;
        merger.finish(last);
        merger.end(common);
        let recorded = merger.consumer.is_some().then(|| merger.recorded());
        let accounts = merger.lanes.into_iter().map(Lane::into_account);
        Ok(Gathered {
            recorded,
            accounts: accounts.collect(),
            frames: merger
                .frames
                .map(FrameEvidence::into_verdicts)
                .unwrap_or_default(),
        })
    }
}

/// Merges the records of all CPUs.
struct Merger {
    lanes: Vec<Lane>,
    /// If all CPUs have a frame table in common.
    frames: Option<FrameEvidence>,
    consumer: Option<Box<Consumer>>,
    batch: Domains<Vec<Record>>,
    records: u64,
}

impl Merger {
    /// Empties the rings and hands on what is complete.
    fn round(&mut self) {
        if let Some(frames) = &mut self.frames {
            frames.look();
        }
        self.lanes.iter_mut().for_each(Lane::round);
        let now = self.lanes.first().map_or(0, Lane::now);
        if let Some(frames) = &mut self.frames {
            let are_whole = self.lanes.iter().all(Lane::is_whole);
            frames.take(are_whole, now, self.lanes.iter_mut().map(Lane::judge));
        }
        self.give();
    }

    /// Hands on everything that there is.
    fn finish(&mut self, last: Vec<Last>) {
        if let Some(frames) = &mut self.frames {
            self.lanes.iter_mut().for_each(Lane::take_last_notes);
            let now = self.lanes.first().map_or(0, Lane::now);
            frames.take_last(now, self.lanes.iter_mut().map(Lane::judge));
        }
        let mut last = last.into_iter();
        for lane in &mut self.lanes {
            let Last { rest, end } = last.next().unwrap_or_default();
            lane.finish(rest, end);
        }
        self.give();
    }

    /// The end of the domain that all CPUs have in common, if they have one: nothing follows.
    fn end(&mut self, end: Option<Record>) {
        if let (Some(end), Some(consumer)) = (end, &mut self.consumer) {
            self.records += 1;
            consumer(&[end]);
        }
    }

    /// Hands on, in the order of time, all that no CPU can have anything before. Of one instant those of the first CPU come
    /// first, whole.
    fn give(&mut self) {
        let Some(consumer) = &mut self.consumer else {
            self.lanes.iter_mut().for_each(Lane::forget);
            return;
        };
        while let Some(record) = next_of(&mut self.lanes) {
            let (domain, record) = record;
            self.batch.put_in(domain, record);
        }
        let batch = self.batch.sink_mut();
        self.records += batch.len() as u64;
        consumer(batch);
        batch.clear();
    }

    fn recorded(&self) -> Recorded {
        Recorded {
            records: self.records,
            lost: self.lanes.iter().map(Lane::lost).sum(),
        }
    }
}

/// The next record of all, with the numbers of the recording; none as long as a CPU may still have an earlier one.
fn next_of(lanes: &mut [Lane]) -> Option<(DomainId, Record)> {
    let keys = lanes.iter().map(Lane::next).enumerate();
    let keys = keys.filter_map(|(index, key)| Some((key?, index)));
    let (key, index) = keys.min()?;
    let may_come = |lane: &Lane| lane.next().is_none() && !lane.is_past(key);
    if lanes.iter().any(may_come) {
        return None;
    }
    let lane = lanes.get_mut(index)?;
    let record = lane.take()?;
    Some((lane.scope().domain(), record))
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::account::{FrameFacts, FrameNote, FrameTask, Note, Return, TaskFacts, TaskNote};
    use crate::cpu::{Cpu, Terms};
    use crate::driver::Kind;
    use crate::monitor::Monitor;
    use crate::notes::channel as channel_of_notes;
    use crate::recording::Tracer;
    use crate::recording::lane::{Releases, Rings, SKEW_NANOS};
    use crate::task::TaskShared;
    use std::sync::Mutex;
    use vestal_core::{
        CpuId, DropReason, Duration, Fact, Instant, JobId, Level, Service, Task, TaskConfiguration,
        TaskId, Wcet,
    };
    use vestal_trace::{Scope, What};

    fn cpu(tasks: usize) -> Arc<Cpu> {
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
                crate::words::Allowance::UpTo(1_000_000),
            )
        });
        let cpu = Cpu::in_test(tasks.collect(), Terms::in_test(Monitor::Manager));
        cpu.run.epoch.set(1);
        Arc::new(cpu)
    }

    /// CPU `number` of a set with so many tasks on each, which are released if `released`.
    fn lane(number: u16, tasks: usize, released: bool) -> (Lane, Vec<Tracer>, Arc<Cpu>) {
        let mut cpu = cpu(tasks);
        let (notes, reader) = channel_of_notes(16);
        Arc::get_mut(&mut cpu).unwrap().notes = notes;
        let mut rings = Rings::default();
        let tracers = (0..=tasks).map(|_| rings.add(8)).collect();
        let own: Vec<TaskId> = (0..=u16::MAX)
            .skip(usize::from(number) * tasks)
            .take(tasks)
            .map(TaskId)
            .collect();
        let scope = Scope::new(DomainId(number), &own, &[CpuId(number)]);
        let mut lane = Lane::new(rings, reader, &cpu, scope);
        if !released {
            lane.releases = Releases::none();
        }
        (lane, tracers, cpu)
    }

    fn merger_of(lanes: Vec<Lane>) -> (Merger, Arc<Mutex<Vec<Record>>>) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let merger = Merger {
            lanes,
            frames: None,
            consumer: Some(Box::new(move |records| {
                sink.lock().unwrap().extend(records);
            })),
            batch: Domains::default(),
            records: 0,
        };
        (merger, seen)
    }

    type Seen = Arc<Mutex<Vec<Record>>>;

    fn merger(tasks: usize, released: bool) -> (Merger, Vec<Tracer>, Seen, Arc<Cpu>) {
        let (lane, tracers, cpu) = lane(0, tasks, released);
        let (merger, seen) = merger_of(vec![lane]);
        (merger, tracers, seen, cpu)
    }

    fn times(seen: &Mutex<Vec<Record>>) -> Vec<u64> {
        let seen = seen.lock().unwrap();
        seen.iter().map(|record| record.at.as_nanos()).collect()
    }

    fn last(end: Option<Record>) -> Vec<Last> {
        let rest = Vec::new();
        vec![Last { rest, end }]
    }

    fn timer(tracer: &mut Tracer, at: u64) {
        tracer.observed(Instant::from_nanos(at), Fact::Timer);
    }

    #[test]
    fn records_of_several_rings_come_in_the_order_of_time_with_the_releases_between() {
        let (mut merger, mut tracers, seen, cpu) = merger(2, true);
        timer(&mut tracers[1], 3);
        timer(&mut tracers[2], 9);
        timer(&mut tracers[0], 7);
        timer(&mut tracers[1], 20_000_000);
        cpu.run.end.set(15_000_000);
        cpu.stopped_at.set(u64::MAX);
        let end = Record {
            at: Instant::from_nanos(6),
            what: What::End { facts: 0 },
        };
        merger.finish(last(Some(end)));
        let release = 10_000_005;
        let expected = [3, 5, 5, 7, 9, release, release, 20_000_000, 20_000_000];
        assert_eq!(times(&seen), expected);
        assert_eq!(
            merger.recorded(),
            Recorded {
                records: 9,
                lost: 0
            }
        );
    }

    /// A scheduler of several CPUs writes with the numbers of the recording, and its end comes after all that CPUs say.
    #[test]
    fn what_cpus_have_in_common_keeps_its_numbers_and_ends_last() {
        let (mut lane, mut tracers, cpu) = lane(1, 1, false);
        cpu.stopped_at.set(u64::MAX);
        let mut common = lane.add_common_ring(8);
        let job = |task| JobId {
            task: TaskId(task),
            sequence: 3,
        };
        let released = |task| Fact::Released { job: job(task) };
        common.observed(Instant::from_nanos(4), released(0));
        tracers[1].observed(Instant::from_nanos(5), released(0));
        common.observed(Instant::from_nanos(6), released(2));
        let (mut merger, seen) = merger_of(vec![lane]);
        merger.finish(last(None));
        merger.end(Some(Record {
            at: Instant::from_nanos(2),
            what: What::End { facts: 0 },
        }));
        let seen = seen.lock().unwrap();
        // The first says which domain has the word.
        let jobs = [1, 2, 3].map(|place: usize| seen[place].what);
        // The only task of CPU 1 is task 1 of the recording.
        let expected = [0, 1, 2].map(|task| What::Observed(released(task)));
        assert_eq!(jobs, expected);
        assert_eq!(seen[4].what, What::End { facts: 0 });
        assert_eq!(merger.recorded().records, 5);
    }

    #[test]
    fn nothing_is_handed_on_past_a_group_that_is_still_open() {
        let (mut merger, mut tracers, seen, _) = merger(1, false);
        tracers[1].open();
        timer(&mut tracers[0], 3);
        merger.round();
        assert_eq!(times(&seen), [0; 0]);
        timer(&mut tracers[1], 2);
        tracers[1].close();
        merger.round();
        assert_eq!(times(&seen), [2, 3]);
    }

    #[test]
    fn what_the_judge_finds_has_its_place_among_the_records_and_none_behind_what_was_handed_on() {
        let (mut merger, mut tracers, seen, cpu) = merger(1, false);
        let stolen_until = |now| {
            let (since, waited) = (None, 1);
            cpu.notes.write(Note::Away { since, now, waited });
        };
        tracers[0].open();
        timer(&mut tracers[1], 3);
        stolen_until(5);
        stolen_until(4);
        merger.round();
        assert_eq!(times(&seen), [0; 0], "the manager's may come before");
        timer(&mut tracers[0], 2);
        timer(&mut tracers[0], 5);
        tracers[0].close();
        let before = cpu.instant(monotonic_nanos()).as_nanos() - SKEW_NANOS;
        merger.round();
        assert_eq!(times(&seen), [2, 3, 4, 5, 5]);
        // Of a thread that was in no group of records.
        stolen_until(7);
        merger.round();
        let last = *times(&seen).last().unwrap();
        assert!(last >= before, "{last} is of an instant that was complete");
    }

    /// It was put behind all records to come: what the clock said then was taken for an instant of the run.
    #[test]
    fn a_round_before_the_run_begins_puts_off_no_finding() {
        let (mut merger, mut tracers, seen, cpu) = merger(1, false);
        cpu.run.epoch.set(0);
        merger.round();
        let epoch = monotonic_nanos();
        cpu.run.epoch.set(epoch);
        cpu.notes.write(Note::Run { epoch });
        timer(&mut tracers[1], 3);
        let (since, now, waited) = (None, epoch + 2, 1);
        cpu.notes.write(Note::Away { since, now, waited });
        merger.finish(last(None));
        assert_eq!(times(&seen), [2, 3]);
    }

    #[test]
    fn what_found_no_room_is_counted_and_has_its_place() {
        let (mut merger, mut tracers, seen, _) = merger(1, false);
        (0..11).for_each(|at| timer(&mut tracers[1], at));
        merger.round();
        assert_eq!(
            merger.recorded(),
            Recorded {
                records: 9,
                lost: 3
            }
        );
        assert_eq!(seen.lock().unwrap().len(), 9);
    }

    /// Of two CPUs with a task each, whose jobs are called by the instants at which they begin.
    #[test]
    fn records_of_two_cpus_come_in_the_order_of_time_with_their_domains_and_the_numbers_of_the_set()
    {
        let (first, mut of_first, _) = lane(0, 1, false);
        let (second, mut of_second, _) = lane(1, 1, false);
        let (mut merger, seen) = merger_of(vec![first, second]);
        let begins = |tracer: &mut Tracer, at| {
            let (task, sequence) = (TaskId(0), at);
            let fact = Fact::Started {
                cpu: CpuId(0),
                job: JobId { task, sequence },
            };
            tracer.observed(Instant::from_nanos(at), fact);
        };
        begins(&mut of_first[1], 3);
        begins(&mut of_first[1], 5);
        begins(&mut of_second[1], 4);
        begins(&mut of_second[1], 5);
        // The first CPU may still have something before all that the second has.
        of_first[0].open();
        begins(&mut of_second[1], 7);
        merger.round();
        assert_eq!(times(&seen), [0; 0]);
        begins(&mut of_first[0], 6);
        of_first[0].close();
        merger.round();
        let seen = seen.lock().unwrap();
        let told = seen.iter().map(|record| {
            if let What::Domain { domain } = record.what {
                return format!("domain {}", domain.0);
            }
            let What::Observed(Fact::Started { cpu, job }) = record.what else {
                panic!("{record:?}");
            };
            format!("{} {} {}", cpu.0, job.task.0, job.sequence)
        });
        let expected = [
            "0 0 3", "domain 1", "1 1 4", "domain 0", "0 0 5", "domain 1", "1 1 5", "domain 0",
            "0 0 6", "domain 1", "1 1 7",
        ];
        let told: Vec<String> = told.collect();
        assert_eq!(told, expected);
    }

    /// CPU `number` of a frame table with a task, which may execute a millisecond in each frame of ten.
    fn walked(number: u16) -> (Lane, Arc<Cpu>) {
        let mut cpu = cpu(1);
        let (notes, reader) = channel_of_notes(16);
        let own = Arc::get_mut(&mut cpu).unwrap();
        own.notes = notes;
        own.terms.duties = Kind::Walked.duties();
        let scope = Scope::new(DomainId::FIRST, &[TaskId(number)], &[CpuId(number)]);
        let lane = Lane::new(Rings::default(), reader, &cpu, scope);
        cpu.notes.write(Note::Run { epoch: 1 });
        (lane, cpu)
    }

    /// How many jobs were dropped for nothing by what is noted of two CPUs: a job on the first executes so many milliseconds,
    /// that of the other one is dropped, and frames go on. The starter of the run was preempted within a note about the first.
    fn dropped_for_nothing(executed: u64) -> u64 {
        const MS: u64 = 1_000_000;
        let (lanes, cpus): (Vec<Lane>, Vec<Arc<Cpu>>) = [0, 1].map(walked).into_iter().unzip();
        let task = |cpu: usize| FrameTask {
            home: (cpu, 0),
            facts: TaskFacts {
                model: cpus[cpu].tasks[0].configuration.task,
                offset_nanos: 0,
            },
            places: vec![0],
        };
        let facts = FrameFacts {
            length: Duration::from_millis(10),
            allowances: vec![vec![Duration::from_millis(1)]],
            tasks: vec![task(0), task(1)],
            guarantee: true,
        };
        let (log, reader) = channel_of_notes(16);
        let (mut merger, _) = merger_of(lanes);
        merger.frames = Some(FrameEvidence::new(reader, facts));
        let place = cpus[0].notes.begin();
        let body = Return {
            sequence: 0,
            executed: executed * MS,
            now: 5 * MS,
            lost: false,
        };
        let (release, consumed) = (1, None);
        for note in [TaskNote::Begins { release, consumed }, TaskNote::Ends(body)] {
            cpus[0].notes.write(Note::Task(0, note));
        }
        let begun = |frame| {
            let (first, at, kept) = (frame, frame * 10 * MS, false);
            Note::Frame(FrameNote::Began {
                frame,
                first,
                at,
                kept,
            })
        };
        let dropped = Note::Frame(FrameNote::Dropped {
            task: 1,
            sequence: 0,
            why: DropReason::Mode,
            late: Level::LOWEST,
            at: 5 * MS,
        });
        for note in [begun(0), dropped, begun(1), begun(2)] {
            log.write(note);
        }
        merger.round();
        cpus[0].notes.go_on(place, Note::LetGo { now: 2, late: 1 });
        log.write(begun(3));
        merger.round();
        merger.finish(vec![Last::default(), Last::default()]);
        merger.frames.unwrap().into_verdicts().unprovoked
    }

    #[test]
    fn frames_are_judged_by_what_led_to_them_also_where_a_note_was_being_written() {
        assert_eq!(dropped_for_nothing(2), 0);
        // The control: the judge does say so of a job that was dropped for nothing.
        assert_eq!(dropped_for_nothing(1), 1);
    }
}
