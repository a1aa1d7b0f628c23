//! A domain without threads: a table of two CPUs, told by hand what walkers do.

use super::*;
use crate::notes::{NoteReader, channel};
use crate::recording::Tracer;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use vestal_core::engine::frames::{FrameConfiguration, FrameTable, Frames, Span};
use vestal_core::{LevelSet, Permit, Plan, Service, Task, Wcet};
use vestal_trace::Recorder;

const HI: Level = Level(1);
const LO: Level = Level(0);

const FRAME: u64 = 100;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

const fn job(task: u16, sequence: u64) -> JobId {
    let task = TaskId(task);
    JobId { task, sequence }
}

/// HI tasks 0 and 1 on CPU 0, LO tasks 2 and 3 on CPU 1; each in every frame of 100 but task 1, which has the second of
/// two. HI jobs take 10 or 30, LO jobs 20.
fn domain() -> Domain {
    domain_of(|engine| engine)
}

/// The same under a scheduler that has the engine.
fn domain_of(scheduler: impl FnOnce(BoxedScheduler) -> BoxedScheduler) -> Domain {
    let task = |level: Level, period: u64, wcet: &[u64]| {
        let wcet: Vec<Service> = wcet.iter().copied().map(Service::from_nanos).collect();
        let period = Duration::from_nanos(period);
        Task::new(level, period, period, Wcet::new(&wcet).unwrap()).unwrap()
    };
    let tasks = [
        task(HI, FRAME, &[10, 30]),
        task(HI, 2 * FRAME, &[10, 30]),
        task(LO, FRAME, &[20]),
        task(LO, FRAME, &[20]),
    ];
    let entries = [0, 0, 1, 2, 3].map(TaskId);
    let span = |start, len| Span { start, len };
    let spans = [
        span(0, 0),
        span(3, 2),
        span(0, 1),
        span(0, 0),
        // The second frame.
        span(0, 0),
        span(3, 2),
        span(1, 2),
        span(0, 0),
    ];
    let ns = Duration::from_nanos;
    let barriers = [40, 0, 10, 30, 40, 0, 20, 60].map(ns);
    let engine = Frames::new(&FrameConfiguration {
        tasks: &tasks,
        levels: LevelSet::new(2).unwrap(),
        cpus: 2,
        table: FrameTable {
            frame: ns(FRAME),
            spans: &spans,
            entries: &entries,
            barriers: &barriers,
        },
        overhead: Duration::ZERO,
        wake_granularity: Duration::ZERO,
    });
    let scheduler = scheduler(Box::new(engine.unwrap()));
    let homes = [
        (0, TaskId(0)),
        (0, TaskId(1)),
        (1, TaskId(0)),
        (1, TaskId(1)),
    ];
    let tasks = tasks.iter().zip(homes);
    let tasks = tasks.map(|(task, home)| DomainTask::new(home, [Duration::ZERO, task.period]));
    let recorder = Recorder::new(scheduler, Tracer::list());
    let table = (tasks.collect(), Duration::from_nanos(FRAME));
    let mut domain = Domain::new(recorder, table, (2, 2), channel(64).0);
    domain.begin(at(10 * FRAME));
    domain
}

impl Domain {
    /// The walker of `cpu` looks for its turn, and has to walk these jobs of its CPU.
    fn walks(&mut self, cpu: usize, now: u64, expected: &[JobId]) -> BarrierId {
        let mut jobs = vec![job(9, 9)];
        let turn = self.turn(cpu, at(now), &mut jobs).unwrap();
        let Turn::Walk(barrier) = turn else {
            panic!("CPU {cpu} at {now}: {turn:?}");
        };
        assert_eq!(jobs, expected, "CPU {cpu} at {now}");
        barrier
    }

    fn waits(&mut self, cpu: usize, now: u64, until: u64) {
        let turn = self.turn(cpu, at(now), &mut Vec::new()).unwrap();
        assert_eq!(turn, Turn::Wait(at(until)), "CPU {cpu} at {now}");
    }

    /// The walker of `cpu` has run its jobs, and arrives. Says whether it was the last.
    fn arrives(&mut self, cpu: usize, now: u64) -> bool {
        let barrier = self.sub_frame.unwrap();
        self.arrive(cpu, (at(now), at(now)), barrier).unwrap()
    }

    fn modes(&self) -> Vec<(u64, Level)> {
        let modes = self.record.modes.iter();
        modes
            .map(|change| (change.at.as_nanos(), change.to))
            .collect()
    }

    fn counts(&self) -> [u64; 3] {
        let frames = self.record.frames;
        [frames.lowest_skipped, frames.overrun, frames.skipped]
    }

    /// By task, how many jobs were dropped and which never began.
    fn left(&self) -> Vec<(u64, Vec<u64>)> {
        let tasks = self.tasks.iter();
        let left = tasks.map(|task| (task.dropped.total(), task.never_begun().collect()));
        left.collect()
    }
}

#[test]
fn each_cpu_has_its_jobs_of_one_sub_frame_and_who_comes_last_decides() {
    let mut domain = domain();
    domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 1, &[]);
    assert!(!domain.arrives(1, 1));
    // Nothing of LO begins while CPU 0 has a HI job.
    let turn = domain.turn(1, at(2), &mut Vec::new()).unwrap();
    assert_eq!(turn, Turn::Meet);
    assert!(domain.arrives(0, 8));
    domain.walks(1, 8, &[job(0, 0), job(1, 0)]);
    domain.walks(0, 8, &[]);
    assert!(!domain.arrives(0, 8));
    assert!(domain.arrives(1, 48));
    for cpu in [0, 1] {
        domain.waits(cpu, 50, FRAME);
    }
    // The first one that wakes finds the next frame due, the second one finds it begun.
    assert!(domain.is_due(at(103)));
    domain.walks(1, 103, &[]);
    assert!(!domain.is_due(at(104)));
    domain.walks(0, 104, &[job(0, 1), job(1, 0)]);
    assert_eq!(domain.record.begun_late.summary().max, 3);
    assert_eq!(domain.modes(), []);
}

/// Two frames, in whose first the HI job takes 11 of 10.
#[test]
fn a_late_sub_frame_drops_what_is_below_it_in_that_frame_only() {
    let mut domain = domain();
    domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 0, &[]);
    assert!(!domain.arrives(1, 0));
    assert!(domain.arrives(0, 11));
    domain.waits(0, 11, FRAME);
    domain.waits(1, 11, FRAME);
    assert_eq!(domain.modes(), [(11, HI)]);
    assert_eq!(domain.left()[2..], [(1, vec![]), (1, vec![])]);
    domain.walks(0, FRAME, &[job(0, 1), job(1, 0)]);
    domain.walks(1, FRAME, &[]);
    assert!(!domain.arrives(1, FRAME));
    assert!(domain.arrives(0, FRAME + 20));
    // Exactly in time.
    domain.walks(1, FRAME + 20, &[job(0, 1), job(1, 1)]);
    assert_eq!(domain.modes(), [(11, HI), (FRAME, LO)]);
    assert_eq!(domain.counts(), [1, 0, 0]);
}

/// The HI job takes until 350: its frame is over since 100, frames 1 and 2 pass.
#[test]
fn an_overrun_is_noticed_by_who_arrives_and_the_frames_that_passed_are_skipped() {
    let mut domain = domain();
    domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 0, &[]);
    assert!(!domain.arrives(1, 0));
    assert_eq!(domain.counts(), [0, 0, 0]);
    assert!(domain.arrives(0, 350));
    assert_eq!(domain.counts(), [1, 1, 2]);
    // Frame 3 begins late, the second of the cycle, with the youngest jobs.
    domain.walks(0, 350, &[job(0, 3), job(1, 1)]);
    domain.walks(1, 350, &[]);
    // Of tasks 2 and 3 the first was dropped with its frame, and two made way for the fourth.
    assert_eq!(domain.left()[2..], [(3, vec![3]), (3, vec![3])]);
    assert_eq!(domain.modes(), [(350, HI), (350, LO)]);
}

/// What the domain has noted of frames since it was made with a log of which this is the reader.
fn noted(reader: &mut NoteReader) -> Vec<FrameNote> {
    let extent = reader.extent();
    let notes = std::iter::from_fn(|| reader.next(extent));
    let frames = notes.map(|note| {
        let Note::Frame(note) = note else {
            panic!("{note:?}");
        };
        note
    });
    frames.collect()
}

/// The HI job takes until 150: LO jobs of frame 0 are dropped then, and frame 1 begins late. Nothing keeps frame 3, but both
/// CPUs sleep through frame 2.
#[test]
fn frames_and_dropped_jobs_are_noted_with_what_kept_them() {
    let mut domain = domain();
    let (log, mut reader) = channel(64);
    domain.notes = log;
    let begun = |frame, first, at, kept| FrameNote::Began {
        frame,
        first,
        at,
        kept,
    };
    let dropped = |task, sequence, why, at| FrameNote::Dropped {
        task,
        sequence,
        why,
        late: LO,
        at,
    };
    domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 0, &[]);
    assert!(!domain.arrives(1, 0));
    assert!(domain.arrives(0, 150));
    let mode = DropReason::Mode;
    let expected = [
        begun(0, 0, 0, false),
        dropped(2, 0, mode, 150),
        dropped(3, 0, mode, 150),
        begun(1, 1, 150, true),
    ];
    assert_eq!(noted(&mut reader), expected);
    domain.walks(0, 151, &[job(0, 1), job(1, 0)]);
    domain.walks(1, 151, &[]);
    assert!(!domain.arrives(1, 152));
    assert!(domain.arrives(0, 160));
    // Too late for LO.
    let expected = [dropped(2, 1, mode, 160), dropped(3, 1, mode, 160)];
    assert_eq!(noted(&mut reader), expected);
    domain.walks(0, 350, &[job(0, 3), job(1, 1)]);
    let made_way = |task| dropped(task, 2, DropReason::Superseded, 350);
    let found = noted(&mut reader);
    assert_eq!(found[0], begun(3, 2, 350, false));
    assert_eq!(found[1..], [0, 2, 3].map(made_way));
}

/// The control of the last one: a sub-frame that ends with its frame is no overrun.
#[test]
fn a_sub_frame_that_ends_with_its_frame_is_no_overrun() {
    let mut domain = domain();
    domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 0, &[]);
    assert!(!domain.arrives(1, 0));
    assert!(domain.arrives(0, FRAME));
    assert_eq!(domain.counts(), [1, 0, 0]);
}

/// A walker without jobs comes late: nobody's job made the frame longer.
#[test]
fn a_cpu_without_jobs_that_comes_late_is_no_overrun_but_it_is_waited_for() {
    let mut domain = domain();
    domain.walks(0, 0, &[job(0, 0)]);
    assert!(!domain.arrives(0, 9));
    domain.walks(1, 150, &[]);
    assert!(domain.arrives(1, 150));
    assert_eq!(domain.counts(), [1, 0, 0]);
    domain.walks(0, 151, &[job(0, 1), job(1, 0)]);
}

/// More releases than the scheduler has room for in one decision: the older ones would have made way anyway.
#[test]
fn of_many_releases_at_once_the_scheduler_is_told_of_the_youngest() {
    let mut domain = domain();
    domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 0, &[]);
    assert!(!domain.arrives(1, 0));
    assert!(domain.arrives(0, 850));
    assert_eq!(domain.counts(), [1, 1, 7]);
    domain.walks(0, 850, &[job(0, 8)]);
    let left = domain.left();
    assert_eq!(left[0], (7, vec![8]));
    assert_eq!(left[2], (8, vec![8]));
    let (_, trace) = domain.scheduler.finish(at(850));
    let records = trace.into_records();
    let by_world = records
        .iter()
        .filter(|record| matches!(record.what, What::Dropped { .. }));
    // Of jobs 1 to 8 the last four were told, for each of tasks 0, 2 and 3; of task 1 all four.
    assert_eq!(by_world.count(), 3 * 4);
}

#[test]
fn the_end_finds_an_overrun_that_nobody_came_to_notice_and_all_that_never_began() {
    let mut domain = domain();
    domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 0, &[]);
    assert!(!domain.arrives(1, 0));
    let begun = |cpu| usize::from(cpu == 0);
    domain.end(at(2 * FRAME + 50), begun).unwrap();
    assert_eq!(domain.counts(), [1, 1, 0]);
    // What is under way began; the second jobs made way for the third.
    let expected = [(1, vec![2]), (1, vec![1]), (2, vec![2]), (2, vec![2])];
    assert_eq!(domain.left(), expected);
    let last = domain.last_record(at(2 * FRAME + 50));
    assert_eq!(last.at, at(2 * FRAME + 50));
    assert_eq!(last.what, What::End { facts: 0 });
}

#[test]
fn no_frame_begins_and_no_job_is_released_from_the_end_on() {
    let mut domain = domain();
    domain.begin(at(FRAME));
    domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 0, &[]);
    assert!(!domain.arrives(1, 0));
    assert!(domain.arrives(0, 11));
    let turn = domain.turn(0, at(FRAME + 1), &mut Vec::new()).unwrap();
    assert_eq!(turn, Turn::End);
    domain.end(at(FRAME), |_| 0).unwrap();
    assert_eq!(domain.left()[0], (0, vec![]));
    assert_eq!(domain.left()[1], (0, vec![0]), "its place is in the second");
}

/// The last one comes when the run is over: frames that would begin then do not.
#[test]
fn who_comes_last_after_the_end_decides_nothing() {
    let mut domain = domain();
    domain.begin(at(2 * FRAME));
    domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 0, &[]);
    assert!(!domain.arrives(1, 0));
    assert!(!domain.arrives(0, 2 * FRAME));
    assert_eq!(domain.counts(), [1, 1, 0]);
    let turn = domain.turn(0, at(2 * FRAME + 1), &mut Vec::new()).unwrap();
    assert_eq!(turn, Turn::Meet);
}

/// One sub-frame in each frame, which always ends at the same barrier. CPU 1 has nothing in the first, because its task
/// begins with the second, and comes late.
fn of_one_sub_frame() -> Domain {
    let (ns, wcet) = (Duration::from_nanos(FRAME), [Service::from_nanos(30)]);
    let task = Task::new(LO, ns, ns, Wcet::new(&wcet).unwrap()).unwrap();
    let span = |start| Span { start, len: 1 };
    let engine = Frames::new(&FrameConfiguration {
        tasks: &[task; 2],
        levels: LevelSet::new(1).unwrap(),
        cpus: 2,
        table: FrameTable {
            frame: ns,
            spans: &[span(0), span(1)],
            entries: &[0, 1].map(TaskId),
            barriers: &[Duration::from_nanos(30)],
        },
        overhead: Duration::ZERO,
        wake_granularity: Duration::ZERO,
    });
    let scheduler: BoxedScheduler = Box::new(engine.unwrap());
    let offsets = [Duration::ZERO, ns].into_iter().enumerate();
    let tasks = offsets.map(|(cpu, offset)| DomainTask::new((cpu, TaskId(0)), [offset, ns]));
    let recorder = Recorder::new(scheduler, Tracer::list());
    let mut domain = Domain::new(recorder, (tasks.collect(), ns), (2, 2), channel(64).0);
    domain.begin(at(10 * FRAME));
    domain
}

#[test]
fn a_cpu_that_comes_late_to_a_barrier_has_not_come_to_the_next_one() {
    let mut domain = of_one_sub_frame();
    domain.walks(0, 0, &[job(0, 0)]);
    assert!(!domain.arrives(0, 9));
    domain.walks(1, 150, &[]);
    assert!(domain.arrives(1, 150));
    domain.walks(0, 151, &[job(0, 1)]);
    domain.walks(1, 151, &[job(0, 0)]);
    assert!(!domain.arrives(0, 160));
    // Frame 1 is over since 200, and CPU 1 had a job in it.
    assert!(domain.arrives(1, 250));
    assert_eq!(domain.record.frames.overrun, 1);
}

/// Refuses a decision, and counts what it is asked after that.
struct Refuses {
    engine: BoxedScheduler,
    decisions: u32,
    asked: Arc<AtomicU32>,
}

impl Refuses {
    fn note(&self) {
        if self.decisions == 0 {
            self.asked.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Scheduler for Refuses {
    fn apply(&mut self, at: Instant, fact: Fact) -> Step {
        self.note();
        self.engine.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Step<Plan<'_>> {
        self.note();
        self.decisions = self.decisions.saturating_sub(1);
        match self.decisions {
            0 => Err(ContractViolation::NotOfThisPolicy),
            _ => self.engine.decide(now),
        }
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.engine.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.engine.take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.engine.lost_notices()
    }
}

/// Its second decision is that for an overrun, in the middle of a sub-frame. The end finds a frame that is over, and releases
/// of which it was told nothing; it counts them, and asks no more.
#[test]
fn a_scheduler_that_failed_is_asked_no_more() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let mut domain = domain_of(move |engine| {
        Box::new(Refuses {
            engine,
            decisions: 2,
            asked: count,
        })
    });
    let barrier = domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 0, &[]);
    let late = at(FRAME + 5);
    domain.arrive(1, (late, late), barrier).unwrap_err();
    domain.end(at(2 * FRAME + 5), |_| 1).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    // Its first job began; those at 100 and 200 were released.
    assert_eq!(domain.left()[0], (0, vec![1, 2]));
}

#[test]
fn releases_are_counted_up_to_an_instant_and_before_the_end() {
    let task = DomainTask::new((0, TaskId(0)), [5, 10].map(Duration::from_nanos));
    let next = |now, end| task.next_after(at(now), at(end));
    // Released at 5, 15, 25, ...
    let found = [0, 4, 5, 14, 15, 26].map(|now| next(now, 1_000));
    assert_eq!(found, [0, 0, 1, 1, 2, 3]);
    let found = [0, 5, 6, 15, 16].map(|end| next(100, end));
    assert_eq!(found, [0, 0, 1, 1, 2]);
}

/// What calls of a domain come to whose clock goes on by 5 with each look.
#[test]
fn each_call_says_what_was_decided_and_how_long_it_took_to_tell_of_releases() {
    static CLOCK: AtomicU32 = AtomicU32::new(0);
    let spent = |decided, arrivals| Spent { decided, arrivals };
    let mut domain = domain();
    domain.stamp = || u64::from(CLOCK.fetch_add(5, Ordering::SeqCst));
    let barrier = domain.walks(0, 0, &[job(0, 0)]);
    assert_eq!(domain.take_spent(), spent(Some(Part::FrameInit), Some(5)));
    domain.walks(1, 1, &[]);
    assert_eq!(
        domain.take_spent(),
        Spent::default(),
        "it finds the decision"
    );
    assert!(!domain.arrives(1, 2));
    assert_eq!(domain.take_spent(), Spent::default());
    assert!(domain.arrive(0, (at(10), at(10)), barrier).unwrap());
    assert_eq!(domain.take_spent(), spent(Some(Part::SubFrameInit), None));
    domain.walks(0, 11, &[]);
    domain.walks(1, 11, &[job(0, 0), job(1, 0)]);
    domain.arrives(0, 12);
    assert!(domain.arrives(1, 40));
    assert_eq!(domain.take_spent(), spent(Some(Part::SubFrameInit), None));
    // In the second frame HI takes 40 where 20 are for it.
    domain.walks(0, 100, &[job(0, 1), job(1, 0)]);
    domain.walks(1, 100, &[]);
    domain.arrives(1, 101);
    assert_eq!(domain.take_spent(), spent(Some(Part::FrameInit), Some(5)));
    assert!(domain.arrives(0, 140));
    assert_eq!(
        domain.take_spent(),
        spent(Some(Part::SubFrameOverrun), None)
    );
}

/// Whoever comes last begins the next frame at once where it is due: what it decided was for that, whatever it dropped of the
/// one before.
#[test]
fn decisions_of_who_comes_last_count_for_the_frame_that_they_begin() {
    let begun = |of: fn() -> Domain, walks: &dyn Fn(&mut Domain), last: (usize, u64)| {
        let mut domain = of();
        walks(&mut domain);
        domain.take_spent();
        assert!(domain.arrives(last.0, last.1));
        let (skipped, overrun) = (domain.counts()[0], domain.counts()[1]);
        (domain.take_spent().decided, skipped, overrun)
    };
    let high = |domain: &mut Domain| {
        domain.walks(0, 0, &[job(0, 0)]);
        domain.walks(1, 0, &[]);
        assert!(!domain.arrives(1, 0));
    };
    // It drops LO and is in time for its frame; and it is not.
    let overrun = Some(Part::SubFrameOverrun);
    assert_eq!(begun(domain, &high, (0, 20)), (overrun, 1, 0));
    let frame = Some(Part::FrameInit);
    assert_eq!(begun(domain, &high, (0, FRAME + 50)), (frame, 1, 1));
    // Nothing is below the only sub-frame, and the CPU that comes late had no job: no overrun.
    let only = |domain: &mut Domain| {
        domain.walks(0, 0, &[job(0, 0)]);
        assert!(!domain.arrives(0, 9));
        domain.walks(1, 150, &[]);
    };
    assert_eq!(
        begun(of_one_sub_frame, &only, (1, FRAME + 50)),
        (frame, 0, 0)
    );
    // Nor is it one where a job ends with its frame.
    assert_eq!(begun(of_one_sub_frame, &only, (1, FRAME)), (frame, 0, 0));
}

/// Releases that somebody registers when they happen are the same as those that a decision finds, however many there are
/// before it: the scheduler has room for four of a task, and is told of three and of the youngest one.
#[test]
fn what_was_registered_when_it_happened_changes_nothing_that_is_decided() {
    let outcome = |registers: &[u64]| {
        let mut domain = domain();
        domain.walks(0, 0, &[job(0, 0)]);
        domain.walks(1, 0, &[]);
        assert!(!domain.arrives(1, 0));
        for &now in registers {
            let next = domain.register(at(now)).unwrap();
            // All of them are released every 100 or 200.
            assert_eq!(next, Some(at((now / FRAME + 1) * FRAME)));
        }
        assert!(domain.arrives(0, 650));
        domain.walks(0, 650, &[job(0, 6)]);
        (domain.left(), domain.counts(), domain.modes())
    };
    let never = outcome(&[]);
    for registers in [
        [100, 200, 300, 400, 500, 600].as_slice(),
        &[99, 110, 640],
        &[640],
        &[100, 640, 641],
    ] {
        assert_eq!(outcome(registers), never, "{registers:?}");
    }
    assert_eq!(never.0[0].0, 5, "of seven all but two were superseded");
}

/// A scheduler that reports late who came: meanwhile a release was registered, and no decision is before what it is based on,
/// nor anything that is told after it.
#[test]
fn who_is_reported_late_is_decided_about_after_what_was_registered_meanwhile() {
    let mut domain = domain();
    domain.walks(0, 0, &[job(0, 0)]);
    domain.walks(1, 0, &[]);
    domain.register(at(2 * FRAME)).unwrap();
    // CPU 1 came in the second frame, and CPU 0 has not come yet.
    let barrier = domain.sub_frame.unwrap();
    let came = FRAME + 50;
    let last = domain.arrive(1, (at(came), at(2 * FRAME + 10)), barrier);
    assert_eq!(last, Ok(false));
    assert_eq!(domain.decided, at(2 * FRAME));
    assert!(domain.arrives(0, 2 * FRAME + 20));
}
