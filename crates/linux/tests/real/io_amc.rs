//! Servers whose jobs raise the mode, with devices: Missimer, Missimer and West (2016).

use crate::looks::{MS, keeping, replayed};
use crate::support::{self, HI, LO, alone_and_well, spec};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use vestal_core::engine::Hierarchy;
use vestal_core::server::{ByLevel, ServerKind, Utilization, WhenFull};
use vestal_core::{
    DeviceConfiguration, Duration, HierarchyConfiguration, Instant, Level, LevelSet, LocalOrder,
    Modes, ServedTask, ServerConfiguration, ServerId, Service, TaskConfiguration, TaskId,
};
use vestal_linux::device::{clock_nanos, keep_off, sleep_until};
use vestal_linux::pipe::packets;
use vestal_linux::{
    BoxedScheduler, Config, CpuSpec, Device, Executive, JobContext, Monitor, Report, Sender,
    TaskSpec,
};
use vestal_trace::Record;

const PERIOD_MS: u64 = 40;

/// By their numbers, as tasks and as servers, by falling priorities.
const CONTROL: usize = 0;
const READER: usize = 1;
const VIDEO: u16 = 2;
const LOG: u16 = 3;

/// These jobs of `control` need more than it has in either mode: while they are late the mode stays.
const OVERRUNS: std::ops::Range<u64> = 10..20;
const EVENT: Service = Service::from_micros(50);

fn by_level<T: Copy>([lo, hi]: [T; 2]) -> ByLevel<T> {
    ByLevel::from_fn(|level| if level == LO { lo } else { hi })
}

fn sporadic(millis: [u64; 2]) -> ServerKind {
    ServerKind::Sporadic {
        period: Duration::from_millis(PERIOD_MS),
        capacity: by_level(millis.map(Service::from_millis)),
        replenishments: 16,
        full: WhenFull::MergeTail,
    }
}

/// 5 ms of each 40 ms, and 16 in mode HI; 8, and nothing in HI; a tenth for the bottom half that serves the reader, and nothing in HI;
/// a tenth for that which serves `control`, and a fiftieth in HI. The latter three are of level LO.
fn engine(tasks: &[TaskConfiguration], granularity: Service) -> Result<Hierarchy, String> {
    let share = |divisor| Utilization::new(1, divisor).unwrap();
    let pibs = |utilization| ServerKind::Pibs { utilization };
    let kinds = [
        (sporadic([5, 16]), HI),
        (sporadic([8, 0]), LO),
        (pibs(by_level([share(10), Utilization::ZERO])), LO),
        (pibs(by_level([share(10), share(50)])), LO),
    ];
    let servers = kinds.into_iter().zip(0_u32..);
    let servers = servers.map(|((kind, criticality), number)| ServerConfiguration {
        kind,
        priority: 9 - number,
        criticality,
        order: LocalOrder::FixedPriority,
    });
    let servers: Vec<ServerConfiguration> = servers.collect();
    let hosts = [None, None, Some(ServerId(1)), Some(ServerId(0))];
    let served = tasks.iter().zip(hosts).zip(0..);
    let served = served.map(|((entry, on_behalf_of), number)| ServedTask {
        task: entry.task,
        server: ServerId(number),
        priority: 1,
        on_behalf_of,
    });
    let served: Vec<ServedTask> = served.collect();
    let engine = Hierarchy::new(&HierarchyConfiguration {
        servers: &servers,
        tasks: &served,
        devices: &[VIDEO, LOG].map(|half| DeviceConfiguration {
            bottom_half: TaskId(half),
        }),
        levels: LevelSet::new(2).unwrap(),
        modes: Modes::Adaptive { pibs_raise: false },
        granularity,
        wake_granularity: Duration::ZERO,
    });
    engine.map_err(|error| error.to_string())
}

/// Jobs of the reader begin to wait half a period before those of `control` are released.
fn specs() -> [TaskSpec; 4] {
    let task = |name, level: Level, wcet| spec(name, level, 1, PERIOD_MS, wcet);
    let control = TaskSpec {
        offset: Duration::from_millis(PERIOD_MS / 2),
        ..task("control", HI, &[4, 15])
    };
    [
        control,
        task("reader", LO, &[4]),
        task("video", LO, &[2]),
        task("log", LO, &[2]),
    ]
}

fn of_control(job: &JobContext<'_>) -> Service {
    let overruns = OVERRUNS.contains(&job.id().sequence);
    Service::from_millis(if overruns { 18 } else { 2 })
}

/// Sends at this distance until it is told to end.
fn send(sender: &Sender, every: u64, is_over: &AtomicBool) {
    let mut next = clock_nanos();
    while !is_over.load(Ordering::SeqCst) {
        sender.send(&[0]).unwrap();
        next += every;
        sleep_until(next);
    }
}

struct Run {
    report: Report,
    /// When events of each device were served, since the run began.
    served: [Vec<u64>; 2],
    /// How many waits ended because their job was dropped.
    dropped_waits: u64,
    records: Vec<Record>,
}

/// A second and a half; an event of the first device comes each 10 ms, of which each job of the reader waits for three, of the second
/// one each 100 us.
fn run() -> Run {
    const SPAN: Duration = Duration::from_millis(1_500);
    let ends = ["video", "log"].map(|name| {
        let (sender, input) = packets(64).unwrap();
        (sender, Device::new(name, input))
    });
    let is_over = AtomicBool::new(false);
    let served = [(); 2].map(|()| Arc::new(Mutex::new(Vec::with_capacity(1 << 14))));
    let dropped = Arc::new(AtomicU64::new(0));
    let (recording, records) = keeping();
    let spec = CpuSpec::managed(
        |tasks: &[TaskConfiguration], granularity| -> Result<BoxedScheduler, String> {
            Ok(Box::new(engine(tasks, granularity)?))
        },
    );
    let [control, reader, video, log] = specs();
    let config = Config {
        calibrate: false,
        monitor: Monitor::Manager,
        ..Config::new()
    };
    let (awaited, counted) = (ends[0].1.clone(), Arc::clone(&dropped));
    let mut executive = Executive::new(config)
        .cpu(CpuSpec {
            guarantee: false,
            tolerates_each_job: true,
            ..spec
        })
        .task(control, |job| job.burn(of_control(job)))
        .task(reader, move |job| {
            if let Err(cancelled) = job.wait_for(&awaited, 3) {
                counted.fetch_add(1, Ordering::SeqCst);
                return Err(cancelled);
            }
            job.burn(Service::from_micros(500))
        });
    for ((half, (_, device)), seen) in [video, log].into_iter().zip(&ends).zip(&served) {
        let seen = Arc::clone(seen);
        executive = executive.bottom_half(half, device, move |job, _| {
            job.burn(EVENT)?;
            let now = job.now().saturating_since(Instant::EPOCH).as_nanos();
            seen.lock().unwrap().push(now);
            Ok(())
        });
    }
    let executive = executive.recorded(recording);
    let report = thread::scope(|scope| {
        for ((sender, device), every) in ends.iter().zip([10 * MS, MS / 10]) {
            let is_over = &is_over;
            scope.spawn(move || {
                keep_off(&[]).unwrap();
                while !device.is_in_use() && !is_over.load(Ordering::SeqCst) {
                    support::sleep_micros(500);
                }
                send(sender, every, is_over);
            });
        }
        let report = executive.run(SPAN);
        is_over.store(true, Ordering::SeqCst);
        report
    });
    let records = records.lock().unwrap().clone();
    Run {
        report: report.unwrap(),
        served: served.map(|seen| seen.lock().unwrap().clone()),
        dropped_waits: dropped.load(Ordering::SeqCst),
        records,
    }
}

/// The longest time in mode HI, in nanoseconds since the run began.
fn longest_rise(report: &Report) -> (u64, u64) {
    let modes = &report.cpus[0].modes;
    let rises = modes
        .iter()
        .zip(&modes[1..])
        .filter(|(rise, _)| rise.to == HI);
    let times = rises.map(|(rise, fall)| (rise.at.as_nanos(), fall.at.as_nanos()));
    times.max_by_key(|(from, to)| to - from).unwrap()
}

/// How many of these instants are in each millisecond of a time, in thousandths.
fn rate(instants: &[u64], (from, to): (u64, u64)) -> u64 {
    let within = instants.iter().filter(|at| (from..to).contains(at));
    within.count() as u64 * 1_000 * MS / (to - from)
}

#[test]
fn a_job_raises_the_mode_and_servers_jobs_that_wait_and_devices_change_with_it() {
    alone_and_well(|| {
        let run = run();
        let cpu = &run.report.cpus[0];
        let [control, reader] = [CONTROL, READER].map(|task| cpu.tasks[task].jobs);
        let (from, to) = longest_rise(&run.report);
        let quiet = (200 * MS, 400 * MS);
        // It began before the mode rose, or with the first event after that.
        let risen = (from + 2 * MS, to);
        let [video, log] = &run.served;
        let rates = [video, log].map(|of| [rate(of, quiet), rate(of, risen)]);
        eprintln!(
            "HI from {from} to {to}, {rates:?}, {} waits dropped, {reader:?} {control:?} {:?}",
            run.dropped_waits, cpu.devices
        );
        // The first job that needs more than 4 ms is released after 420.
        let first = cpu.modes.first().unwrap();
        assert_eq!((first.from, first.to), (LO, HI));
        assert_eq!(first.cause.unwrap().task, TaskId(0));
        assert_eq!(first.cause.unwrap().sequence, OVERRUNS.start);
        assert!(to - from > 200 * MS, "{from} {to}");
        assert_eq!(cpu.modes.last().unwrap().to, LO);
        // Who waited then was dropped, and whoever came while the mode was HI, and others again after that.
        assert!(run.dropped_waits >= 1);
        assert!(reader.dropped >= 5, "{reader:?}");
        assert!(reader.completed >= 12, "{reader:?}");
        assert_eq!(control.dropped, 0);
        assert_eq!(control.completed, control.released, "{control:?}");
        // Some hundred events a second, and none in mode HI; a tenth of the time for the other, and a fiftieth.
        let [[video_lo, video_hi], [log_lo, log_hi]] = rates;
        assert!(video_lo > 50 && video_hi == 0, "{rates:?}");
        assert!(
            log_lo > 800 && log_hi > 0 && log_lo > 3 * log_hi,
            "{rates:?}"
        );
        assert_eq!(cpu.inversions, Some(0), "{:#?}", run.report);
        let tasks = specs().map(|spec| spec.configuration);
        let mut again = engine(&tasks, Service::ZERO).unwrap();
        let summary = replayed(&specs(), &mut again, &run.records);
        assert!(summary.decisions > 500, "{summary:?}");
    });
}
