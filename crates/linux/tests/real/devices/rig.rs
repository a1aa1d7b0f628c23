//! A CPU with a device: a critical task, one that waits for events, and the bottom half that serves them.

use crate::looks::keeping;
use crate::support::{self, HI, LO, spec};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use vestal_core::engine::Hierarchy;
use vestal_core::server::{ByLevel, ServerKind, Utilization, WhenFull};
use vestal_core::{
    DeviceConfiguration, DeviceId, Duration, Fact, HierarchyConfiguration, JobId, Level, LevelSet,
    LocalOrder, Modes, ServedTask, ServerConfiguration, ServerId, Service, StopReason,
    TaskConfiguration, TaskId,
};
use vestal_linux::device::{Outcome, keep_off};
use vestal_linux::fault::{Fault, monotonic_nanos};
use vestal_linux::{
    BoxedScheduler, Config, CpuSpec, Device, Executive, Input, Monitor, Report, Sender, Taken,
    TaskSpec, pipe,
};
use vestal_trace::replay::bottom_halves::{Above, Below, count_inversions};
use vestal_trace::{Record, What};

const PERIOD_MS: u64 = 20;
pub(crate) const PERIOD: u64 = PERIOD_MS * MS;
pub(crate) const MS: u64 = 1_000_000;

/// By their numbers, as tasks and as servers: one of the higher level, one that waits, the bottom half.
pub(crate) const CONTROL: usize = 0;
pub(crate) const READER: usize = 1;
pub(crate) const HALF: usize = 2;

/// A tenth of the CPU.
pub(crate) const SHARE: u64 = 10;

/// What the bottom half runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// A PIBS with a tenth of the CPU, on behalf of the reader's server, which is below that of the critical task.
    Pibs,
    /// The same, where the reader's server is above all others.
    PibsAbove,
    /// A sporadic server with a tenth, below the others.
    Sporadic,
    /// A sporadic server with nine tenths, above all others.
    Above,
}

impl Half {
    fn kind(self) -> ServerKind {
        match self {
            Self::Pibs | Self::PibsAbove => ServerKind::Pibs {
                utilization: ByLevel::constant(Utilization::new(1, SHARE).unwrap()),
            },
            Self::Sporadic => sporadic(PERIOD_MS / SHARE),
            Self::Above => sporadic(PERIOD_MS - PERIOD_MS / SHARE),
        }
    }

    /// Of the servers.
    const fn priorities(self) -> [u32; 3] {
        match self {
            Self::Pibs | Self::Sporadic => [9, 8, 7],
            Self::PibsAbove => [7, 9, 8],
            Self::Above => [8, 7, 9],
        }
    }
}

fn sporadic(millis: u64) -> ServerKind {
    ServerKind::Sporadic {
        period: Duration::from_millis(PERIOD_MS),
        capacity: ByLevel::constant(Service::from_millis(millis)),
        replenishments: 16,
        full: WhenFull::MergeTail,
    }
}

/// 4 ms and 6 ms of each 20, and what the bottom half has.
pub(crate) fn engine(
    half: Half,
    tasks: &[TaskConfiguration],
    granularity: Service,
) -> Result<Hierarchy, String> {
    let kinds = [(sporadic(4), HI), (sporadic(6), LO), (half.kind(), LO)];
    let servers = kinds.into_iter().zip(half.priorities());
    let servers = servers.map(|((kind, criticality), priority)| ServerConfiguration {
        kind,
        priority,
        criticality,
        order: LocalOrder::FixedPriority,
    });
    let servers: Vec<ServerConfiguration> = servers.collect();
    let is_pibs = matches!(half.kind(), ServerKind::Pibs { .. });
    let served = tasks.iter().zip(0..).map(|(entry, number)| ServedTask {
        task: entry.task,
        server: ServerId(number),
        priority: 1,
        on_behalf_of: (usize::from(number) == HALF && is_pibs).then_some(ServerId(1)),
    });
    let served: Vec<ServedTask> = served.collect();
    let engine = Hierarchy::new(&HierarchyConfiguration {
        servers: &servers,
        tasks: &served,
        devices: &[DeviceConfiguration {
            bottom_half: TaskId(2),
        }],
        levels: LevelSet::new(2).unwrap(),
        modes: Modes::Requested,
        granularity,
        wake_granularity: Duration::ZERO,
    });
    engine.map_err(|error| error.to_string())
}

pub(crate) fn specs() -> [TaskSpec; 3] {
    let task = |name, level: Level, wcet| spec(name, level, 1, PERIOD_MS, wcet);
    [
        task("control", HI, &[2, 2]),
        task("reader", LO, &[4]),
        task("half", LO, &[2]),
    ]
}

/// When events are sent.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// As fast as they can be.
    Storm,
    /// One so often, in nanoseconds.
    Every(u64),
    /// So many at once, and so many again after so many nanoseconds; and the same again when all is over for long.
    Twice { first: u64, after: u64, second: u64 },
}

/// Makes a device.
pub(crate) type Make = fn() -> io::Result<(Sender, Input)>;

/// What is run.
#[derive(Clone, Copy)]
pub(crate) struct Rig {
    pub(crate) make: Make,
    pub(crate) half: Half,
    pub(crate) pace: Pace,
    /// For how many of them each job of the reader waits.
    pub(crate) events: u64,
    /// What an event costs.
    pub(crate) cost: Service,
    pub(crate) millis: u64,
    pub(crate) fault: Option<Fault>,
    /// Whether it is tried out before the run what budgets are exceeded by.
    pub(crate) calibrate: bool,
}

impl Rig {
    /// A storm on a pipe.
    pub(crate) fn storm() -> Self {
        Self {
            make: || pipe::packets(256),
            half: Half::Pibs,
            pace: Pace::Storm,
            events: 1,
            cost: Service::from_micros(50),
            millis: 1_500,
            fault: None,
            calibrate: false,
        }
    }

    /// An event so often, in microseconds.
    pub(crate) fn paced(micros: u64) -> Self {
        Self {
            pace: Pace::Every(micros * 1_000),
            ..Self::storm()
        }
    }

    pub(crate) fn run(self) -> Run {
        let (sender, input) = (self.make)().unwrap();
        let device = Device::new("device", input);
        let (is_over, sent) = (AtomicBool::new(false), AtomicU64::new(0));
        let waits = Arc::new(Mutex::new(Vec::with_capacity(1_024)));
        let (recording, records) = keeping();
        let mut executive = self.executive(&device, &waits).recorded(recording);
        if let Some(fault) = self.fault {
            executive = executive.with_fault(fault);
        }
        let report = thread::scope(|scope| {
            scope.spawn(|| {
                while !device.is_in_use() && !is_over.load(Ordering::SeqCst) {
                    support::sleep_micros(500);
                }
                sent.store(send(&sender, self.pace, &is_over), Ordering::SeqCst);
            });
            let report = executive.run(Duration::from_millis(self.millis));
            is_over.store(true, Ordering::SeqCst);
            report
        });
        let waits = waits.lock().unwrap().clone();
        let records = records.lock().unwrap().clone();
        let mut run = Run {
            report: report.unwrap(),
            half: self.half,
            device,
            sent: sent.into_inner(),
            queued: 0,
            waits,
            records,
        };
        run.drain();
        run
    }

    fn executive(self, device: &Device, waits: &Arc<Mutex<Vec<(u64, u64)>>>) -> Executive {
        let (seen, waited) = (Arc::clone(waits), device.clone());
        let Self {
            half, events, cost, ..
        } = self;
        let cpu = CpuSpec::managed(
            move |tasks: &[TaskConfiguration], granularity| -> Result<BoxedScheduler, String> {
                Ok(Box::new(engine(half, tasks, granularity)?))
            },
        );
        // It is to do what no check lets it.
        let cpu = CpuSpec {
            utilization_ppm: (half == Half::Above).then_some(800_000),
            ..cpu
        };
        let [control, reader, bottom_half] = specs();
        let config = Config {
            calibrate: self.calibrate,
            monitor: Monitor::Manager,
            ..Config::new()
        };
        Executive::new(config)
            .cpu(cpu)
            .task(control, |job| job.burn(Service::from_millis(1)))
            .task(reader, move |job| {
                let before = waited.served();
                job.wait_for(&waited, events)?;
                seen.lock().unwrap().push((before, waited.served()));
                job.burn(Service::from_micros(500))
            })
            .bottom_half(bottom_half, device, move |job, event| {
                assert!(!event.is_empty());
                match cost {
                    Service::ZERO => Ok(()),
                    cost => job.burn(cost),
                }
            })
    }
}

/// Sends until it is told to end; how many found room. It keeps away from the processor of the run, which is the last one, if
/// there is another.
fn send(sender: &Sender, pace: Pace, is_over: &AtomicBool) -> u64 {
    keep_off(&[]).unwrap();
    let event = vec![1; sender.most().min(64)];
    let send = |count: u64| {
        let sent = (0..count).map(|_| u64::from(sender.send(&event).unwrap()));
        sent.sum::<u64>()
    };
    let wait = |until: u64| {
        while monotonic_nanos() < until && !is_over.load(Ordering::SeqCst) {
            support::sleep_micros(20);
        }
    };
    let mut sent = 0;
    let mut next = monotonic_nanos();
    while !is_over.load(Ordering::SeqCst) {
        match pace {
            Pace::Storm => sent += send(1),
            Pace::Every(every) => {
                sent += send(1);
                next += every;
                wait(next);
            }
            Pace::Twice {
                first,
                after,
                second,
            } => {
                sent += send(first);
                wait(next + after);
                sent += send(second);
                next += 4 * PERIOD;
                wait(next);
            }
        }
    }
    sent
}

pub(crate) struct Run {
    pub(crate) report: Report,
    half: Half,
    device: Device,
    pub(crate) sent: u64,
    pub(crate) queued: u64,
    /// What each wait of a job saw: served before it and after it.
    pub(crate) waits: Vec<(u64, u64)>,
    pub(crate) records: Vec<Record>,
}

/// A job of the bottom half: when it began first, and what it was charged, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct HalfJob {
    began: u64,
    used: u64,
}

impl Run {
    pub(crate) fn device(&self) -> &Outcome {
        &self.report.cpus[0].devices[0]
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.device.dropped().unwrap()
    }

    /// Takes what nobody has served; a pseudo-terminal's events may still be under way.
    fn drain(&mut self) {
        let mut buffer = [0; 128];
        for _ in 0..50 {
            while let Taken::Event(_) = self.device.input().take(&mut buffer).unwrap() {
                self.queued += 1;
            }
            if self.unaccounted() == 0 {
                return;
            }
            support::pause(2);
        }
    }

    fn unaccounted(&self) -> i128 {
        let device = self.device();
        let known = [device.served, device.lost, self.queued, self.dropped()];
        i128::from(self.sent) - known.map(i128::from).iter().sum::<i128>()
    }

    /// What was sent is somewhere.
    pub(crate) fn accounts_for_all(&self) {
        let device = self.device();
        let (queued, dropped) = (self.queued, self.dropped());
        assert_eq!(self.unaccounted(), 0, "{device:?} {queued} {dropped}");
        assert_eq!((device.is_over, device.failed), (false, None), "{device:?}");
        assert!(device.interrupts <= device.wakes, "{device:?}");
        assert_eq!(self.report.cpus[0].lost_notes, 0);
    }

    /// Nobody found a device that was masked.
    pub(crate) fn masks_well(&self) {
        assert_eq!(self.device().spurious, 0, "{:?}", self.device());
    }

    pub(crate) fn facts(&self) -> impl Iterator<Item = (u64, Fact)> {
        self.records.iter().filter_map(|record| {
            let What::Fact(fact) = record.what else {
                return None;
            };
            Some((record.at.as_nanos(), fact))
        })
    }

    /// How often the scheduler was told that a job waits, that one has what it waited for, of interrupts, and that a
    /// bottom half has ended.
    pub(crate) fn told(&self) -> [u64; 4] {
        let mut told = [0; 4];
        for (_, fact) in self.facts() {
            let blocked = StopReason::Blocked;
            let kinds = [
                matches!(fact, Fact::Stopped { why, .. } if why == blocked),
                matches!(
                    fact,
                    Fact::Woken {
                        on_behalf_of: None,
                        ..
                    }
                ),
                matches!(fact, Fact::Interrupt { .. }),
                matches!(fact, Fact::Completed { job, .. } if is_half(job)),
            ];
            for (count, is) in told.iter_mut().zip(kinds) {
                *count += u64::from(is);
            }
        }
        told
    }

    /// How often a job of the critical task was ready while the bottom half had the CPU, for longer than a replay tolerates.
    pub(crate) fn inversions(&self) -> usize {
        let records = self.records.iter().map(|record| Ok::<_, ()>(*record));
        let control = Above {
            task: TaskId(0),
            server: ServerId(0),
            priority: 9,
            capacity: Service::from_millis(4),
            period: Duration::from_millis(PERIOD_MS),
            replenishments: 16,
        };
        let below = Below {
            half: TaskId(2),
            device: DeviceId(0),
            server: ServerId(2),
            shares: false,
            // As it should be: below the critical task, whatever it was made to be.
            priority: 8,
            lends: &[],
            above: &[control],
            granularity: Service::ZERO,
            tolerance: Duration::from_micros(100),
        };
        count_inversions(records, below).unwrap()
    }

    /// The jobs of the bottom half in their order.
    fn half_jobs(&self) -> Vec<HalfJob> {
        let mut jobs: Vec<(JobId, HalfJob)> = Vec::new();
        for (at, fact) in self.facts() {
            if let Fact::Started { job, .. } = fact
                && is_half(job)
                && jobs.last().is_none_or(|last| last.0 != job)
            {
                let (began, used) = (at, 0);
                jobs.push((job, HalfJob { began, used }));
            }
            if let Fact::Charged { job, amount, .. } = fact
                && is_half(job)
                && let Some((_, last)) = jobs.last_mut()
            {
                last.used += amount.as_nanos();
            }
        }
        jobs.into_iter().map(|(_, job)| job).collect()
    }

    /// How often the share of the bottom half began anew: each time it ran after a tenth of the CPU had given what it used since it
    /// did so last.
    pub(crate) fn bursts(&self) -> u64 {
        let (mut bursts, mut began, mut used) = (0, 0, 0);
        for job in self.half_jobs() {
            if bursts == 0 || job.began >= began + used * SHARE {
                (bursts, began, used) = (bursts + 1, job.began, 0);
            }
            used += job.used;
        }
        bursts
    }

    /// The most that the bottom half used within any window of its host's period, in nanoseconds, of those in which no time was
    /// stolen; and how many of these there were.
    pub(crate) fn most_in_a_window(&self) -> (u64, usize) {
        assert_ne!(self.half, Half::Pibs, "others preempt it");
        let pieces = self.facts().filter_map(|(at, fact)| {
            let Fact::Charged { job, amount, .. } = fact else {
                return None;
            };
            is_half(job).then_some((at.saturating_sub(amount.as_nanos()), at))
        });
        let pieces: Vec<(u64, u64)> = pieces.collect();
        let stolen = self.records.iter().filter_map(support::stolen_interval);
        let stolen: Vec<(u64, u64)> = stolen.collect();
        let (mut most, mut windows) = (0, 0);
        for (first, &(from, _)) in pieces.iter().enumerate() {
            let to = from + PERIOD;
            if stolen.iter().any(|&(begin, end)| begin < to && end > from) {
                continue;
            }
            let within = pieces[first..].iter().take_while(|piece| piece.0 < to);
            let used = within.map(|piece| piece.1.min(to) - piece.0).sum();
            most = most.max(used);
            windows += 1;
        }
        (most, windows)
    }
}

fn is_half(job: JobId) -> bool {
    job.task.index() == HALF
}
