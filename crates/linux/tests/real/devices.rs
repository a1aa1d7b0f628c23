//! Devices: events that bottom halves serve within the budget of their server, and bodies that wait for them.

use crate::looks::{keeping, replayed};
use crate::support::{self, HI, LO, alone, alone_and_well, spec};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use vestal_core::engine::Hierarchy;
use vestal_core::server::{ByLevel, ServerKind, Utilization, WhenFull};
use vestal_core::{
    DeviceConfiguration, Duration, Fact, HierarchyConfiguration, Level, LevelSet, LocalOrder,
    Modes, ServedTask, ServerConfiguration, ServerId, Service, StopReason, TaskConfiguration,
    TaskId,
};
use vestal_linux::device::{Outcome, keep_off};
use vestal_linux::fault::{Fault, monotonic_nanos};
use vestal_linux::pipe::packets;
use vestal_linux::{
    BoxedScheduler, Config, CpuSpec, Device, Executive, JobContext, Monitor, Report, Sender, Taken,
    TaskSpec,
};
use vestal_trace::{Record, What};

const PERIOD_MS: u64 = 20;

/// By their numbers, as tasks and as servers: one of the higher level, one that waits, the bottom half.
const CONTROL: usize = 0;
const READER: usize = 1;
const HALF: u16 = 2;

const MS: u64 = 1_000_000;

fn sporadic(millis: u64) -> ServerKind {
    ServerKind::Sporadic {
        period: Duration::from_millis(PERIOD_MS),
        capacity: ByLevel::constant(Service::from_millis(millis)),
        replenishments: 16,
        full: WhenFull::MergeTail,
    }
}

/// 4 ms and 6 ms of each 20, and a tenth of the CPU for the bottom half, on behalf of the reader.
fn engine(tasks: &[TaskConfiguration], granularity: Service) -> Result<Hierarchy, String> {
    let half = ServerKind::Pibs {
        utilization: ByLevel::constant(Utilization::new(1, 10).unwrap()),
    };
    let kinds = [(sporadic(4), HI), (sporadic(6), LO), (half, LO)];
    let servers = kinds
        .into_iter()
        .zip(0_u32..)
        .map(|((kind, criticality), number)| ServerConfiguration {
            kind,
            priority: 9 - number,
            criticality,
            order: LocalOrder::FixedPriority,
        });
    let servers: Vec<ServerConfiguration> = servers.collect();
    let served = tasks.iter().zip(0..).map(|(entry, number)| ServedTask {
        task: entry.task,
        server: ServerId(number),
        priority: 1,
        on_behalf_of: (number == HALF).then_some(ServerId(1)),
    });
    let served: Vec<ServedTask> = served.collect();
    let engine = Hierarchy::new(&HierarchyConfiguration {
        servers: &servers,
        tasks: &served,
        devices: &[DeviceConfiguration {
            bottom_half: TaskId(HALF),
        }],
        levels: LevelSet::new(2).unwrap(),
        modes: Modes::Requested,
        granularity,
        wake_granularity: Duration::ZERO,
    });
    engine.map_err(|error| error.to_string())
}

fn cpu() -> CpuSpec {
    CpuSpec::managed(
        |tasks: &[TaskConfiguration], granularity| -> Result<BoxedScheduler, String> {
            Ok(Box::new(engine(tasks, granularity)?))
        },
    )
}

fn specs() -> [TaskSpec; 3] {
    let task = |name, level: Level, wcet| spec(name, level, 1, PERIOD_MS, wcet);
    [
        task("control", HI, &[2, 2]),
        task("reader", LO, &[4]),
        task("half", LO, &[2]),
    ]
}

/// Sends until it is told to end, `every` so many nanoseconds or without a pause; how many were sent, and how many found no room.
/// It keeps away from the processor of the run, which is the last one, if there is another.
fn send(sender: &Sender, every: Option<u64>, is_over: &AtomicBool) -> (u64, u64) {
    keep_off(&[]).unwrap();
    let (mut sent, mut refused) = (0, 0);
    let mut next = monotonic_nanos();
    while !is_over.load(Ordering::SeqCst) {
        match sender.send(&[1; 64]).unwrap() {
            true => sent += 1,
            false => refused += 1,
        }
        if let Some(every) = every {
            next += every;
            while monotonic_nanos() < next && !is_over.load(Ordering::SeqCst) {
                support::sleep_micros(50);
            }
        }
    }
    (sent, refused)
}

struct Run {
    report: Report,
    sent: u64,
    queued: u64,
    /// What each wait of a job saw: served before it and after it.
    waits: Vec<(u64, u64)>,
    records: Vec<Record>,
}

/// What comes of the device and of the tasks in a second and a half.
fn run(every: Option<u64>, fault: Option<Fault>, of_reader: fn(&mut JobContext<'_>) -> u64) -> Run {
    const SPAN: Duration = Duration::from_millis(1_500);
    let (sender, input) = packets(256).unwrap();
    let device = Device::new("pipe", input);
    let (is_over, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let waits = Arc::new(Mutex::new(Vec::with_capacity(1_024)));
    let (seen, waited) = (Arc::clone(&waits), device.clone());
    let (recording, records) = keeping();
    let [control, reader, half] = specs();
    let config = Config {
        calibrate: false,
        monitor: Monitor::Manager,
        ..Config::new()
    };
    let mut executive = Executive::new(config)
        .cpu(cpu())
        .task(control, |job| job.burn(Service::from_millis(1)))
        .task(reader, move |job| {
            let events = of_reader(job);
            let before = waited.served();
            job.wait_for(&waited, events)?;
            seen.lock().unwrap().push((before, waited.served()));
            job.burn(Service::from_micros(500))
        })
        .bottom_half(half, &device, |job, event| {
            assert_eq!(event.len(), 64);
            job.burn(Service::from_micros(50))
        })
        .recorded(recording);
    if let Some(fault) = fault {
        executive = executive.with_fault(fault);
    }
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            while !device.is_in_use() && !is_over.load(Ordering::SeqCst) {
                support::sleep_micros(500);
            }
            let (ours, _) = send(&sender, every, &is_over);
            sent.store(ours, Ordering::SeqCst);
        });
        let report = executive.run(SPAN);
        is_over.store(true, Ordering::SeqCst);
        report
    });
    let (mut queued, mut buffer) = (0, [0; 64]);
    while let Taken::Event(_) = device.input().take(&mut buffer).unwrap() {
        queued += 1;
    }
    let waits = waits.lock().unwrap().clone();
    let records = records.lock().unwrap().clone();
    Run {
        report: report.unwrap(),
        sent: sent.into_inner(),
        queued,
        waits,
        records,
    }
}

impl Run {
    fn device(&self) -> &Outcome {
        &self.report.cpus[0].devices[0]
    }

    /// What was sent is somewhere.
    fn accounts_for_all(&self) {
        let device = self.device();
        let known = device.served + device.lost + self.queued;
        assert_eq!(self.sent, known, "{device:?} {}", self.queued);
        assert_eq!((device.spurious, device.is_over), (0, false), "{device:?}");
        assert!(device.interrupts <= device.wakes, "{device:?}");
        assert_eq!(self.report.cpus[0].lost_notes, 0);
    }

    /// How often the scheduler was told that a job waits, that one has what it waited for, and of interrupts.
    fn told(&self) -> [u64; 3] {
        let mut told = [0; 3];
        for record in &self.records {
            let What::Fact(fact) = record.what else {
                continue;
            };
            let why = StopReason::Blocked;
            let kinds = [
                matches!(fact, Fact::Stopped { why: stopped, .. } if stopped == why),
                matches!(
                    fact,
                    Fact::Woken {
                        on_behalf_of: None,
                        ..
                    }
                ),
                matches!(fact, Fact::Interrupt { .. }),
            ];
            for (count, is) in told.iter_mut().zip(kinds) {
                *count += u64::from(is);
            }
        }
        told
    }
}

#[test]
fn bodies_wait_for_events_and_all_that_was_sent_is_accounted_for() {
    const EVENTS: u64 = 5;
    alone_and_well(|| {
        let run = run(Some(MS), None, |job| {
            assert_eq!(job.id().task, TaskId(1));
            EVENTS
        });
        run.accounts_for_all();
        let (cpu, device) = (&run.report.cpus[0], run.device());
        assert_eq!(cpu.inversions, Some(0), "{:#?}", run.report);
        let reader = cpu.tasks[READER].jobs;
        eprintln!(
            "{device:?} sent {} reader {reader:?} top half {:?}",
            run.sent, cpu.threads.top_half
        );
        assert!(run.sent > 700 && device.served > 700, "{device:?}");
        // 75 jobs, of which each waits for 5 ms at least.
        assert!(reader.completed > 60, "{reader:?}");
        assert_eq!(run.waits.len() as u64, reader.completed);
        let enough = |&(before, after): &(u64, u64)| after >= before + EVENTS;
        assert!(run.waits.iter().all(enough), "{:?}", run.waits);
        let mut between = run.waits.windows(2);
        assert!(between.all(|pair| pair[1].1 >= pair[0].1 + EVENTS));
        assert_eq!(cpu.tasks[CONTROL].jobs.missed, 0);
        // Who waits costs nothing: it executes what it burns, and some more.
        assert!(cpu.tasks[READER].execution.median < 2 * MS);
        assert!(cpu.threads.top_half.cpu > Service::ZERO);
    });
}

#[test]
fn what_was_recorded_of_devices_is_decided_again() {
    alone_and_well(|| {
        let run = run(Some(MS), None, |_| 2);
        run.accounts_for_all();
        let [blocked, woken, interrupts] = run.told();
        assert!(blocked > 60 && blocked - woken <= 1, "{blocked} {woken}");
        assert_eq!(interrupts, run.device().interrupts);
        let tasks = specs().map(|spec| spec.configuration);
        let mut again = engine(&tasks, Service::ZERO).unwrap();
        let summary = replayed(&specs(), &mut again, &run.records);
        assert!(
            summary.facts > 1_000 && summary.decisions > 500,
            "{summary:?}"
        );
    });
}

/// The sender never pauses, and an event takes longer than to send one: a bottom half never finds the device empty.
#[test]
fn a_storm_gets_the_share_of_its_server_and_wakes_the_top_half_no_more_often_than_it_is_asked_to() {
    let storm = |fault| run(None, fault, |_| 1);
    alone_and_well(|| {
        let run = storm(None);
        run.accounts_for_all();
        let (cpu, device) = (&run.report.cpus[0], run.device());
        assert_eq!(cpu.inversions, Some(0), "{:#?}", run.report);
        eprintln!(
            "{device:?} sent {} {:?} {:?}",
            run.sent,
            cpu.tasks[usize::from(HALF)].execution,
            cpu.threads.top_half
        );
        assert!(
            run.sent > 2_000 && run.queued > 0,
            "{} {}",
            run.sent,
            run.queued
        );
        assert!(device.wakes <= 3, "{device:?}");
        // A tenth of 1.5 s, at 50 us an event and what it takes to read and to count one.
        assert!((1_000..3_100).contains(&device.served), "{device:?}");
        assert_eq!(cpu.tasks[CONTROL].jobs.missed, 0, "{cpu:?}");
        assert!(cpu.tasks[READER].jobs.completed > 60);
    });
    let _alone = alone();
    let control = storm(Some(Fault::UnmasksAtOnce));
    assert!(control.device().wakes > 50, "{:?}", control.device());
}
