//! Frame tables: walkers, barriers and who decides, on two processors.

mod disturbed;
mod paper;
mod parts;

use crate::support::{
    HI, LO, alone, config, ms, native, real_time_threads, spec, two_processors, well_on_all,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use vestal_core::engine::frames::{self, FrameConfiguration, FrameTable, Span};
use vestal_core::model::LevelSet;
use vestal_core::{
    Duration, Enforcement, Event, Fact, Instant, Level, Service, TaskConfiguration, TaskId,
};
use vestal_linux::fault::monotonic_nanos;
use vestal_linux::report::{FrameCounts, JobCounts};
use vestal_linux::{
    Barrier, BoxedScheduler, Cancelled, Clock, Config, CpuSpec, Executive, Frames, Initialisation,
    JobContext, Monitor, Processor, Recording, Report, TaskSpec,
};
use vestal_trace::replay::{Failure, replay};
use vestal_trace::{Dispatch, Header, Record, TaskInfo, What, World};

const NOBODY: Vec<String> = Vec::new();

const BARRIERS: [Barrier; 3] = [Barrier::Pthread, Barrier::Futex, Barrier::Spin];

/// How long a frame is: long against what a machine like this takes away at times.
const FRAME_MS: u64 = 40;

/// What a sub-frame may be late by here.
const OVERHEAD: Service = Service::from_millis(2);

/// Each CPU has two HI tasks, the second of which stands first in the table, and a LO task.
const TASKS: [(&str, Level, &[u64]); 3] = [
    ("first", HI, &[3, 6]),
    ("second", HI, &[3, 6]),
    ("low", LO, &[6]),
];

/// What is done in a job: which CPU of the set, which of its tasks, which job.
type Place = (usize, usize, u64);

fn spec_of(cpu: usize, task: usize) -> TaskSpec {
    let (name, level, wcet) = TASKS[task];
    // The priority is for the control, which has no table.
    spec(
        &format!("{name}-{cpu}"),
        level,
        3 - task as u32,
        FRAME_MS,
        wcet,
    )
}

/// The tasks by their numbers: all that are first, all that are second, all that are low.
fn specs(cpus: usize) -> Vec<TaskSpec> {
    let tasks = (0..TASKS.len()).flat_map(|task| (0..cpus).map(move |cpu| spec_of(cpu, task)));
    tasks.collect()
}

fn number(cpus: usize, cpu: usize, task: usize) -> TaskId {
    TaskId(u16::try_from(task * cpus + cpu).unwrap())
}

/// The scheduler of the table for so many CPUs.
fn scheduler(cpus: usize, overhead: Service) -> BoxedScheduler {
    let (mut entries, mut spans) = (Vec::new(), Vec::new());
    // By criticality, the lowest first.
    for lists in [[2].as_slice(), &[1, 0]] {
        for cpu in 0..cpus {
            let (start, len) = (entries.len(), lists.len());
            spans.push(Span { start, len });
            entries.extend(lists.iter().map(|&task| number(cpus, cpu, task)));
        }
    }
    let tasks = specs(cpus).into_iter().map(|spec| spec.configuration.task);
    let engine = frames::Frames::new(&FrameConfiguration {
        tasks: &tasks.collect::<Vec<_>>(),
        levels: LevelSet::new(2).unwrap(),
        cpus: u16::try_from(cpus).unwrap(),
        table: FrameTable {
            frame: Duration::from_millis(FRAME_MS),
            spans: &spans,
            entries: &entries,
            barriers: &[6, 0, 6, 12].map(Duration::from_millis),
        },
        overhead: Duration::from_nanos(overhead.as_nanos()),
        wake_granularity: Duration::ZERO,
    });
    Box::new(engine.unwrap())
}

fn common(cpus: usize, barrier: Barrier) -> Frames {
    let numbers = (0..cpus).map(|cpu| {
        (0..TASKS.len())
            .map(|task| number(cpus, cpu, task))
            .collect()
    });
    Frames {
        make: Box::new(move |_: &[TaskConfiguration], overhead| Ok(scheduler(cpus, overhead))),
        numbers: numbers.collect(),
        length: Duration::from_millis(FRAME_MS),
        barrier,
        allowances: vec![[6, 0].map(Duration::from_millis).to_vec()],
        places: vec![vec![0]; TASKS.len() * cpus],
        clock: Clock::Monotonic,
        initialisation: Initialisation::Global,
    }
}

fn settings() -> Config {
    Config {
        tolerance: Some(OVERHEAD),
        patience: Duration::from_millis(200),
        ..config(Monitor::Manager)
    }
}

/// Clock readings at the beginning and the end of a body.
type Log = Arc<Mutex<Vec<(Place, u64, u64)>>>;

/// The tasks of each CPU on these processors, each a CPU as `cpu` makes it. A job burns what `demand` says.
fn with_tasks(
    set: Executive,
    places: &[usize],
    cpu: impl Fn() -> CpuSpec,
    demand: impl Fn(Place) -> Service + Clone + Send + 'static,
    log: &Log,
) -> Executive {
    let burns: Work = |job, amount| job.burn(amount);
    with_bodies(set, places, cpu, (burns, demand), log)
}

/// How a body does what its job demands.
type Work = fn(&mut JobContext<'_>, Service) -> Result<(), Cancelled>;

/// The same with bodies that work so.
fn with_bodies(
    mut set: Executive,
    places: &[usize],
    cpu: impl Fn() -> CpuSpec,
    (work, demand): (Work, impl Fn(Place) -> Service + Clone + Send + 'static),
    log: &Log,
) -> Executive {
    for (index, &place) in places.iter().enumerate() {
        set = set.cpu(cpu().on(Processor(place)));
        for task in 0..TASKS.len() {
            let (demand, log) = (demand.clone(), Arc::clone(log));
            let body = move |job: &mut JobContext<'_>| -> Result<(), Cancelled> {
                let place = (index, task, job.id().sequence);
                let begun = monotonic_nanos();
                let outcome = work(job, demand(place));
                log.lock().unwrap().push((place, begun, monotonic_nanos()));
                outcome
            };
            set = set.task(spec_of(index, task), body);
        }
    }
    set
}

/// What came of a run.
struct Ran {
    report: Report,
    records: Vec<Record>,
    log: Vec<(Place, u64, u64)>,
}

/// Runs ten frames with a table, records them, and replays what was recorded.
fn run(
    places: &[usize],
    barrier: Barrier,
    demand: impl Fn(Place) -> Service + Clone + Send + 'static,
) -> Ran {
    run_table(places, common(places.len(), barrier), demand)
}

fn run_table(
    places: &[usize],
    table: Frames,
    demand: impl Fn(Place) -> Service + Clone + Send + 'static,
) -> Ran {
    let log = Log::default();
    let set = Executive::new(settings()).frames(table);
    let cpu = || CpuSpec {
        // No body here goes on for what its level may need.
        utilization_ppm: (places.len() > 4).then_some(100_000),
        ..CpuSpec::common()
    };
    let set = with_tasks(set, places, cpu, demand, &log);
    let (report, records) = recorded(set, 10 * FRAME_MS);
    let summary = replayed(places.len(), &records, OVERHEAD).unwrap();
    assert_eq!(summary.counts.released, report.jobs.released);
    assert_eq!(summary.counts.completed, report.jobs.completed);
    assert_eq!(summary.counts.missed, report.jobs.missed);
    let log = std::mem::take(&mut *log.lock().unwrap());
    Ran {
        report,
        records,
        log,
    }
}

fn recorded(set: Executive, span_ms: u64) -> (Report, Vec<Record>) {
    let records = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&records);
    let recording = Recording::new(move |beginning| {
        assert_eq!(beginning.granularity, OVERHEAD);
        Ok(Box::new(move |batch| {
            sink.lock().unwrap().extend_from_slice(batch)
        }))
    });
    let report = set
        .recorded(recording)
        .run(Duration::from_millis(span_ms))
        .unwrap();
    let records = std::mem::take(&mut *records.lock().unwrap());
    (report, records)
}

/// The same facts again, to a fresh scheduler.
fn replayed(
    cpus: usize,
    records: &[Record],
    overhead: Service,
) -> Result<vestal_trace::replay::Summary, Failure<()>> {
    let info = |spec: TaskSpec| TaskInfo {
        name: spec.name,
        criticality: spec.configuration.task.criticality,
        period: spec.configuration.task.period,
        deadline: spec.configuration.task.deadline,
    };
    let header = Header {
        world: World::Linux,
        dispatch: Dispatch::Managed,
        ordered: false,
        granularity: overhead,
        levels: vec!["LO".to_owned(), "HI".to_owned()],
        tasks: specs(cpus).into_iter().map(info).collect(),
        judges_misses: true,
        cpus: u16::try_from(cpus).unwrap(),
        ..Header::new("a table")
    };
    let sure = records.iter().map(|record| Ok(*record));
    replay(&header, sure, scheduler(cpus, overhead).as_mut())
}

/// On CPU 0 a HI job burns 2 ms, on CPU 1 half of that, and a LO job 2 ms.
fn usual((cpu, task, _): Place) -> Service {
    match (cpu % 2, task) {
        (1, 0 | 1) => ms(1),
        (_, _) => ms(2),
    }
}

fn counts(report: &Report) -> FrameCounts {
    report.frames.unwrap().counts
}

/// Of ten frames so many went without LO jobs and so many were longer than that or skipped. No job was dropped for
/// nothing.
fn frames(lowest_skipped: u64, overrun: u64, skipped: u64) -> FrameCounts {
    FrameCounts {
        total: 10,
        skipped,
        lowest_skipped,
        overrun,
        // One for each sub-frame.
        barriers: 20 - lowest_skipped - 2 * skipped,
        unprovoked: 0,
        unprovoked_undecided: 0,
    }
}

/// By CPU of the set, what became of the jobs of its tasks.
fn jobs(report: &Report) -> Vec<[JobCounts; 3]> {
    let cpus = report.cpus.iter();
    let jobs = cpus.map(|cpu| [0, 1, 2].map(|task: usize| cpu.tasks[task].jobs));
    jobs.collect()
}

/// How many LO jobs were under way while a HI job of the same frame was, anywhere, as far as the clocks of the CPUs can say.
fn overlaps(log: &[(Place, u64, u64)], report: &Report) -> usize {
    let skew = report.clock_skew.unwrap().monotonic_nanos;
    // Long before the shortest job ends.
    assert!(skew < 100_000, "{skew} ns");
    let (low, high): (Vec<_>, Vec<_>) = log.iter().partition(|((_, task, _), _, _)| *task == 2);
    let meets = |((_, _, job), begun, ended): &(Place, u64, u64)| {
        let others = high.iter().filter(|((_, _, other), _, _)| other == job);
        others
            .into_iter()
            .any(|(_, from, to)| from + skew < *ended && begun + skew < *to)
    };
    low.iter().filter(|entry| meets(entry)).count()
}

/// By CPU and frame, the tasks in the order in which their jobs began.
fn order(log: &[(Place, u64, u64)]) -> BTreeMap<(usize, u64), Vec<usize>> {
    let mut log = log.to_vec();
    log.sort_by_key(|&(_, begun, _)| begun);
    let mut order: BTreeMap<(usize, u64), Vec<usize>> = BTreeMap::new();
    for ((cpu, task, job), _, _) in log {
        order.entry((cpu, job)).or_default().push(task);
    }
    order
}

/// What is drawn: starts and ends of jobs stand in the records in the order of time, and in each frame no LO job starts
/// before the last HI job was complete.
fn seen_in_order(records: &[Record]) {
    let mut seen: Vec<(Instant, Fact)> = Vec::new();
    for record in records {
        if let What::Observed(fact) = record.what {
            seen.push((record.at, fact));
        }
    }
    assert_eq!(seen.len(), 2 * 60);
    assert!(seen.is_sorted_by_key(|&(at, _)| at));
    let mut complete: BTreeMap<u64, usize> = BTreeMap::new();
    for (_, fact) in seen {
        if let Fact::Completed { job, .. } = fact {
            *complete.entry(job.sequence).or_default() += 1;
        }
        if let Fact::Started { job, .. } = fact
            && job.task >= TaskId(4)
        {
            assert!(complete[&job.sequence] >= 4, "{job:?} starts early");
        }
    }
}

#[test]
fn jobs_go_in_the_order_of_the_table_and_no_lo_job_beside_a_hi_job() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for barrier in BARRIERS {
        well_on_all(|| {
            let ran = run(&places, barrier, usual);
            let order = order(&ran.log);
            assert_eq!(order.len(), 20, "{barrier:?}: {order:?}");
            assert!(order.values().all(|tasks| *tasks == [1, 0, 2]), "{order:?}");
            assert_eq!(overlaps(&ran.log, &ran.report), 0, "{barrier:?}");
            assert_eq!(counts(&ran.report), frames(0, 0, 0), "{barrier:?}");
            assert_eq!(ran.report.jobs.completed, 60);
            seen_in_order(&ran.records);
            assert_eq!(ran.report.jobs.missed, 0);
            assert_eq!(ran.report.frames.unwrap().barrier, barrier);
            // Each of two barriers in ten frames is passed by one that waited.
            let passed = ran.report.frames.unwrap().passed;
            assert!((19..=20).contains(&passed.count), "{passed:?}");
        });
    }
    // The control: without barriers CPU 1 goes on with its LO job.
    let log = Log::default();
    let cpu = || native(Enforcement::Static);
    let set = with_tasks(Executive::new(settings()), &places, cpu, usual, &log);
    let report = set.run(Duration::from_millis(10 * FRAME_MS)).unwrap();
    let found = overlaps(&log.lock().unwrap(), &report);
    assert!(found >= 5, "{found} overlaps");
}

/// All is as with the clock, and what is decided is the same in a replay.
#[test]
fn by_the_time_stamp_counter_walkers_spin_and_measure_and_decide_nothing() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    if !Clock::Tsc.is_there() {
        return;
    }
    well_on_all(|| {
        let table = Frames {
            clock: Clock::Tsc,
            ..common(2, Barrier::Spin)
        };
        let ran = run_table(&places, table, usual);
        assert_eq!(counts(&ran.report), frames(0, 0, 0));
        assert_eq!(overlaps(&ran.log, &ran.report), 0);
        seen_in_order(&ran.records);
        let found = ran.report.frames.unwrap();
        assert_eq!(found.clock, Clock::Tsc);
        assert!((19..=20).contains(&found.passed.count), "{found:?}");
        // A look at a word, or a wake-up, and far from a frame.
        assert!(found.passed.median < FRAME_MS * 100_000, "{found:?}");
    });
}

#[test]
fn a_late_hi_sub_frame_drops_the_lo_jobs_of_its_frame_on_all_cpus_and_of_no_other() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for barrier in BARRIERS {
        well_on_all(|| {
            // 11 ms, where 6 and what may be spared are 8.
            let demand = |place| match place {
                (0, 0, 4) => ms(9),
                place => usual(place),
            };
            let ran = run(&places, barrier, demand);
            assert_eq!(counts(&ran.report), frames(1, 0, 0), "{barrier:?}");
            for [first, second, low] in jobs(&ran.report) {
                assert_eq!([first.completed, second.completed], [10, 10]);
                assert_eq!((low.completed, low.dropped), (9, 1));
            }
            let order = order(&ran.log);
            for cpu in [0, 1] {
                let without = (0..10).filter(|&frame| !order[&(cpu, frame)].contains(&2));
                assert_eq!(without.collect::<Vec<_>>(), [4]);
            }
            let modes: Vec<Level> = ran.report.cpus[0]
                .modes
                .iter()
                .map(|change| change.to)
                .collect();
            assert_eq!(modes, [HI, LO], "up and down with the frame");
        });
    }
}

/// The job of the second frame takes until 40 + 2 + 79 ms: frame 1 is over since 80, frame 2 passes, and frame 3 begins
/// late, by less than what may be spared.
#[test]
fn a_frame_that_overruns_is_counted_and_so_are_those_that_are_skipped() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for barrier in BARRIERS {
        well_on_all(|| {
            let demand = |place| match place {
                (0, 0, 1) => ms(79),
                place => usual(place),
            };
            let ran = run(&places, barrier, demand);
            assert_eq!(counts(&ran.report), frames(1, 1, 1), "{barrier:?}");
            let [zero, one] = jobs(&ran.report)[..] else {
                panic!("{:?}", ran.report);
            };
            // Of the frame that passed the jobs made way for those of the next.
            assert_eq!([zero, one].map(|[first, ..]| first.dropped), [1, 1]);
            assert_eq!([zero, one].map(|[.., low]| low.dropped), [2, 2]);
            // The late one, and of each task those that were dropped after their deadlines.
            assert_eq!([zero[0].missed, one[0].missed], [2, 1]);
            assert_eq!([zero, one].map(|[.., low]| low.missed), [2, 2]);
            let said = |event: fn(&Event) -> bool| {
                let is_said =
                    |record: &&Record| matches!(&record.what, What::Notice(found) if event(found));
                let notices = ran.records.iter().filter(is_said);
                notices.count()
            };
            assert_eq!(
                said(|event| matches!(event, Event::FrameOverrun { frame: 1 })),
                1
            );
            let skipped =
                |event: &Event| matches!(event, Event::FramesSkipped { first: 2, count: 1 });
            assert_eq!(said(skipped), 1);
        });
    }
}

/// Walkers of two processors, two and four on each. The HI jobs of a processor take 4 ms in all: in time for LO.
#[test]
fn cpus_that_share_processors_wait_for_each_other_and_come_through() {
    let _alone = alone();
    let Some(two) = two_processors() else {
        return;
    };
    for (each, barrier) in [2, 4]
        .into_iter()
        .flat_map(|each| BARRIERS.map(|kind| (each, kind)))
    {
        well_on_all(|| {
            let places = two.repeat(each);
            let demand = Service::from_micros(2_000 / each as u64);
            let ran = run(&places, barrier, move |_| demand);
            for task in jobs(&ran.report).iter().flatten() {
                let accounted = task.completed + task.dropped + task.unfinished;
                assert_eq!((task.released, accounted), (10, 10), "{task:?}");
            }
            // Each CPU of the set has its own jobs, in the order of the table.
            let order = order(&ran.log);
            assert_eq!(order.len(), 10 * places.len(), "{barrier:?}: {order:?}");
            assert!(order.values().all(|tasks| *tasks == [1, 0, 2]), "{order:?}");
            // Two walkers with 2 ms of HI each on a processor: in time for LO.
            assert_eq!(counts(&ran.report), frames(0, 0, 0), "{each} {barrier:?}");
            assert_eq!(overlaps(&ran.log, &ran.report), 0, "{barrier:?}");
            // Of each of 20 barriers all but the last one were passed by who had waited; at the very last the run may end.
            let passed = ran.report.frames.unwrap().passed.count;
            let (most, walkers) = (20 * (places.len() as u64 - 1), places.len() as u64);
            assert!(
                (most - walkers..=most).contains(&passed),
                "{passed} of {most}"
            );
            assert_eq!(ran.report.stuck, NOBODY);
            assert_eq!(real_time_threads(std::process::id()), NOBODY);
        });
    }
}

/// The HI jobs of a frame take 7 ms, where the table says 6 and 2 may be spared.
#[test]
fn a_replay_that_has_nothing_to_spare_decides_otherwise() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    well_on_all(|| {
        let demand = |place| match place {
            (0, 0, 4) => ms(5),
            place => usual(place),
        };
        let ran = run(&places, Barrier::Spin, demand);
        assert_eq!(counts(&ran.report), frames(0, 0, 0), "{:#?}", ran.report);
        let Err(Failure::Differs(found)) = replayed(2, &ran.records, Service::ZERO) else {
            panic!("the same plans");
        };
        let decided = found.recorded.unwrap();
        assert!(matches!(decided.what, What::Decided { .. }), "{found}");
        assert_eq!(decided.at.as_nanos() / 1_000_000 / FRAME_MS, 4, "{found}");
    });
}
