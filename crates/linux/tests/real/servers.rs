//! Managed dispatch of servers: what a server gives is bounded by its budget, however short its jobs are.

use crate::looks::{
    CYCLE, CYCLES, MS, executive, granularity, in_cycle, keeping, looking, replayed, undisturbed,
};
use crate::support::{LO, alone_and_well, pause, spec, stolen_interval, stolen_intervals};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::thread;
use vestal_core::engine::Hierarchy;
use vestal_core::server::{ByLevel, ServerKind, WhenFull};
use vestal_core::{
    Duration, HierarchyConfiguration, Instant, LevelSet, LocalOrder, Modes, ServedTask,
    ServerConfiguration, ServerId, Service, Task, TaskConfiguration, Wcet,
};
use vestal_linux::fault::{Fault, cpu_nanos_of, monotonic_nanos, own_thread};
use vestal_linux::{BoxedScheduler, Config, CpuSpec, Executive, Monitor, Report};
use vestal_trace::{Record, What};

const PERIOD_NANOS: u64 = 10_000_000;
const BUDGET_NANOS: u64 = 1_000_000;
const DEMAND: Service = Service::from_micros(20);

/// A deferrable server of 1 ms every 10 ms.
const ONE: &[(Kind, u64)] = &[(DEFERRABLE, BUDGET_NANOS)];

/// How many periods of the server a test looks at, unless `VESTAL_SERVER_PERIODS` says so.
const PERIODS: u64 = 1_000;

fn periods() -> u64 {
    let asked = std::env::var("VESTAL_SERVER_PERIODS").ok();
    asked.map_or(PERIODS, |periods| periods.parse().unwrap())
}

/// A server, by its period and its budget.
type Kind = fn(Duration, ByLevel<Service>) -> ServerKind;

const DEFERRABLE: Kind = |period, capacity| ServerKind::Deferrable { period, capacity };
const IDLING: Kind = |period, capacity| ServerKind::IdlingPeriodic { period, capacity };
const SPORADIC: Kind = |period, capacity| ServerKind::Sporadic {
    period,
    capacity,
    replenishments: 8,
    full: WhenFull::MergeTail,
};

/// A CPU with these servers by falling priorities, each of this budget every 10 ms; all tasks are in the last one, or one
/// in each.
fn served(servers: &'static [(Kind, u64)]) -> CpuSpec {
    CpuSpec::managed(
        move |tasks: &[TaskConfiguration], granularity| -> Result<BoxedScheduler, String> {
            Ok(Box::new(engine(servers, tasks, granularity)?))
        },
    )
}

fn engine(
    servers: &[(Kind, u64)],
    tasks: &[TaskConfiguration],
    granularity: Service,
) -> Result<Hierarchy, String> {
    let last = servers.len() - 1;
    let all = servers.iter().zip(0_u32..);
    let all = all.map(|(&(kind, budget), number)| ServerConfiguration {
        kind: kind(
            Duration::from_nanos(PERIOD_NANOS),
            ByLevel::constant(Service::from_nanos(budget)),
        ),
        priority: 10 - number,
        criticality: LO,
        order: LocalOrder::FixedPriority,
    });
    let all: Vec<ServerConfiguration> = all.collect();
    let served = tasks.iter().enumerate().map(|(number, entry)| ServedTask {
        task: entry.task,
        server: ServerId(u16::try_from(number.min(last)).unwrap()),
        priority: entry.priority,
        on_behalf_of: None,
    });
    let served: Vec<ServedTask> = served.collect();
    let engine = Hierarchy::new(&HierarchyConfiguration {
        servers: &all,
        tasks: &served,
        devices: &[],
        levels: LevelSet::new(1).unwrap(),
        modes: Modes::Requested,
        granularity,
        wake_granularity: Duration::ZERO,
    });
    engine.map_err(|error| error.to_string())
}

/// What somebody outside the run sees of a worker.
#[derive(Default)]
struct Watched {
    thread: AtomicI32,
    /// The clock when the run began.
    epoch: AtomicU64,
    over: AtomicBool,
}

/// The worker's clock as it was at this instant of the run.
#[derive(Clone, Copy)]
struct Look {
    at: u64,
    used: u64,
}

/// Looks at the worker's clock from another CPU, again and again.
fn watch(watched: &Watched) -> Vec<Look> {
    let mut looks = Vec::new();
    while !watched.over.load(Ordering::SeqCst) {
        let thread = watched.thread.load(Ordering::SeqCst);
        let before = monotonic_nanos();
        let used = cpu_nanos_of(thread).filter(|_| thread != 0);
        let after = monotonic_nanos();
        // One that took long says nothing about when it was.
        if let Some(used) = used.filter(|_| after - before < PERIOD_NANOS / 100) {
            let at = after.saturating_sub(watched.epoch.load(Ordering::SeqCst));
            looks.push(Look { at, used });
        }
        pause(1);
    }
    looks
}

/// The last look in the second half of a period, in which a worker stands whose server keeps its budget: all that it used
/// up to there, it used in this period or before. Shortly before the next one the look may be too late.
fn standing(looks: &[Look], period: u64) -> Option<Look> {
    let from = period * PERIOD_NANOS + PERIOD_NANOS / 2;
    let until = (period + 1) * PERIOD_NANOS - PERIOD_NANOS / 50;
    let mut within = looks.iter().filter(|look| (from..until).contains(&look.at));
    within.next_back().copied()
}

/// What the worker's thread used between two looks, and whether time was stolen meanwhile.
#[derive(Clone, Copy, Debug)]
struct Used {
    since: u64,
    nanos: u64,
    stolen: bool,
}

/// From when to when somebody shall run: each use of the only server of a run.
fn uses(records: &[Record]) -> Vec<(u64, u64)> {
    let mut uses = Vec::new();
    let mut since = None;
    for record in records {
        let What::Slot { slot, .. } = record.what else {
            continue;
        };
        let at = record.at.as_nanos();
        if slot.is_some() {
            since = since.or(Some(at));
        } else {
            uses.extend(since.take().map(|since| (since, at)));
        }
    }
    uses
}

/// A run of short jobs.
struct Watch {
    /// What its thread used by its own clock.
    looks: Vec<Look>,
    stolen: Vec<(u64, u64)>,
    uses: Vec<(u64, u64)>,
    periods: u64,
    report: Report,
}

fn watched_run(servers: &'static [(Kind, u64)], periods: u64, fault: Option<Fault>) -> Watch {
    let watched = Arc::new(Watched::default());
    let own = Arc::clone(&watched);
    let mut task = spec("short", LO, 1, 1, &[1]);
    let releases = Duration::from_micros(200);
    let demand = Wcet::new(&[DEMAND]).unwrap();
    task.configuration.task = Task::new(LO, releases, releases, demand).unwrap();
    let (recording, records) = keeping();
    let config = Config {
        monitor: Monitor::Manager,
        ..Config::new()
    };
    let mut executive = Executive::new(config)
        .cpu(served(servers))
        .task(task, move |job| {
            if own.thread.load(Ordering::SeqCst) == 0 {
                let since = job.now().saturating_since(Instant::EPOCH).as_nanos();
                let epoch = monotonic_nanos().saturating_sub(since);
                own.epoch.store(epoch, Ordering::SeqCst);
                own.thread.store(own_thread(), Ordering::SeqCst);
            }
            job.burn_demand()
        })
        .recorded(recording);
    if let Some(fault) = fault {
        executive = executive.with_fault(fault);
    }
    let run = || executive.run(Duration::from_nanos(PERIOD_NANOS * (periods + 2)));
    let (report, looks) = thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&watched));
        let report = run();
        watched.over.store(true, Ordering::SeqCst);
        (report, watcher.join().unwrap())
    });
    let records = records.lock().unwrap();
    Watch {
        looks,
        stolen: records.iter().filter_map(stolen_interval).collect(),
        uses: uses(&records),
        periods,
        report: report.unwrap(),
    }
}

impl Watch {
    fn used(&self, before: Look, after: Look) -> Used {
        let meets = |&(from, to): &(u64, u64)| from < after.at && to > before.at;
        Used {
            since: before.at,
            nanos: after.used - before.used,
            stolen: self.stolen.iter().any(meets),
        }
    }

    /// In each period of a server that stands in its second half.
    fn by_period(&self) -> Verdict {
        let used = (1..=self.periods).filter_map(|period| {
            let before = standing(&self.looks, period - 1)?;
            Some(self.used(before, standing(&self.looks, period)?))
        });
        Verdict::of(&used.collect::<Vec<Used>>(), &self.report)
    }

    /// In each interval that begins with a look and is no longer than a period, wherever that is: a sporadic server
    /// may run late in one period and early in the next. All of a use comes back a period after it began, also what was
    /// used after others, the manager too, had taken the CPU meanwhile: of an interval that begins within a use the period
    /// counts from where that began.
    fn by_interval(&self) -> Verdict {
        // A look may be so much older than it says.
        const LONGEST: u64 = PERIOD_NANOS - PERIOD_NANOS / 100;
        let used = self.looks.iter().map(|&before| {
            let begun = self.uses.partition_point(|&(from, _)| from <= before.at);
            let within = begun.checked_sub(1).map(|last| self.uses[last]);
            let within = within.filter(|&(_, until)| before.at < until);
            let until = within.map_or(before.at, |(from, _)| from) + LONGEST;
            let later = self.looks.partition_point(|look| look.at <= until);
            let after = self.looks[..later].last().copied();
            // A use of a whole period leaves nothing of it.
            self.used(
                before,
                after
                    .filter(|after| before.at <= after.at)
                    .unwrap_or(before),
            )
        });
        Verdict::of(&used.collect::<Vec<Used>>(), &self.report)
    }
}

/// What came of the periods or intervals of a run.
struct Verdict {
    measured: usize,
    /// Those that gave more than the budget and the granularity that a trial before the run found.
    beyond: Vec<Used>,
    /// For people.
    text: String,
}

impl Verdict {
    fn of(used: &[Used], report: &Report) -> Self {
        let enforcement = &report.cpus[0].enforcement;
        let granularity = enforcement.server_granularity.unwrap();
        let most = BUDGET_NANOS + granularity.as_nanos();
        let beyond = used.iter().filter(|used| used.nanos > most);
        let beyond: Vec<Used> = beyond.copied().collect();
        let mut nanos: Vec<u64> = used.iter().map(|used| used.nanos).collect();
        nanos.sort_unstable();
        let disturbed = used.iter().filter(|used| used.stolen).count();
        let most_used = nanos.last();
        let shown = beyond
            .iter()
            .map(|used| (used.since, used.nanos, used.stolen));
        let shown: Vec<_> = shown.collect();
        let text = format!(
            "{} measured, {disturbed} with stolen time, the most {most_used:?}, beyond {most}: {shown:?}; {enforcement:?}",
            used.len()
        );
        let measured = used.len();
        Self {
            measured,
            beyond,
            text,
        }
    }

    /// 99 of 100 keep to it, and all in which no time was stolen.
    fn holds(&self) -> bool {
        self.beyond.len() * 100 <= self.measured && self.beyond.iter().all(|used| used.stolen)
    }
}

/// `VESTAL_SERVER_PERIODS=10000` for a longer run, with `--nocapture` for its figures.
#[test]
fn short_jobs_get_no_more_than_the_budget_of_their_server() {
    alone_and_well(|| {
        let watch = watched_run(ONE, periods(), None);
        let (verdict, report) = (watch.by_period(), &watch.report);
        eprintln!("{}", verdict.text);
        let enough = periods() * 9 / 10;
        assert!(verdict.measured as u64 > enough, "{}", verdict.text);
        assert!(verdict.holds(), "{}", verdict.text);
        let exhausted = report.cpus[0].enforcement.server_overshoot.count;
        assert!(
            exhausted >= periods(),
            "each budget is used up: {exhausted}"
        );
        assert_eq!(report.cpus[0].lost_notes, 0);
    });
}

#[test]
fn a_tolerance_for_each_job_gives_away_the_budget() {
    // More than half of them give too much: a tenth of the periods shows it.
    const PERIODS: u64 = 100;
    alone_and_well(|| {
        let verdict = watched_run(ONE, PERIODS, Some(Fault::ChargesByJob)).by_period();
        assert!(
            verdict.measured as u64 > PERIODS * 9 / 10,
            "{}",
            verdict.text
        );
        assert!(!verdict.holds(), "{}", verdict.text);
        assert!(
            verdict.beyond.len() * 2 > verdict.measured,
            "{}",
            verdict.text
        );
    });
}

/// What is used comes back a period after it could be used, and with it no more than the budget.
#[test]
fn a_sporadic_server_gives_no_more_than_its_budget_in_any_interval_of_its_period() {
    const PERIODS: u64 = 100;
    const SPORADIC_ONE: &[(Kind, u64)] = &[(SPORADIC, BUDGET_NANOS)];
    alone_and_well(|| {
        let watch = watched_run(SPORADIC_ONE, PERIODS, None);
        let verdict = watch.by_interval();
        let text = &verdict.text;
        assert!(verdict.measured as u64 > PERIODS * 5, "{text}");
        assert!(verdict.holds(), "{text}");
        let (first, last) = (watch.looks[0], watch.looks[watch.looks.len() - 1]);
        let least = (last.at - first.at) / PERIOD_NANOS * BUDGET_NANOS * 9 / 10;
        assert!(
            last.used - first.used > least,
            "it gives what there is: {text}"
        );
        let verdict = watched_run(SPORADIC_ONE, PERIODS, Some(Fault::ChargesByJob)).by_interval();
        assert!(!verdict.holds(), "{}", verdict.text);
    });
}

/// The server of the first task has 3 ms and needs 0.2: below it nothing runs until it has idled the rest away, on a CPU
/// that is free.
#[test]
fn nothing_below_an_idling_server_runs_while_it_idles() {
    const IDLES: &[(Kind, u64)] = &[(IDLING, 3 * MS), (DEFERRABLE, 6 * MS)];
    const LEAVES: &[(Kind, u64)] = &[(DEFERRABLE, 3 * MS), (DEFERRABLE, 6 * MS)];
    for (servers, idles) in [(IDLES, true), (LEAVES, false)] {
        alone_and_well(|| {
            let (recording, stolen) = stolen_intervals();
            let (of_above, above) = looking(Service::from_micros(200));
            let (of_below, below) = looking(Service::from_micros(4_500));
            let report = executive()
                .cpu(served(servers))
                .task(spec("above", LO, 2, 10, &[1]), above)
                .task(spec("below", LO, 1, 10, &[5]), below)
                .recorded(recording)
                .run(Duration::from_nanos(CYCLES * CYCLE))
                .unwrap();
            let cycles = undisturbed(&stolen.lock().unwrap());
            assert!(cycles.len() as u64 > CYCLES / 5, "{stolen:?}");
            let [above, below] = [of_above, of_below].map(|looks| looks.lock().unwrap().clone());
            let late = granularity(&report);
            for cycle in cycles {
                let [above, below] = [&above, &below].map(|looks| in_cycle(looks, cycle));
                assert!(above.iter().all(|&at| at < MS), "{cycle}: {above:?}");
                let meanwhile = below.iter().filter(|&&at| late < at && at < 3 * MS).count();
                assert_eq!(meanwhile == 0, idles, "{cycle}: {below:?}");
                assert!(!below.is_empty(), "{cycle}: it runs later");
            }
        });
    }
}

/// Whatever the kind of the server: what was charged, begun and held is what a fresh scheduler makes of the facts.
#[test]
fn what_was_recorded_of_servers_is_decided_again() {
    const POLLING: Kind = |period, capacity| ServerKind::Polling { period, capacity };
    const SETS: [&[(Kind, u64)]; 4] = [
        &[(POLLING, MS), (POLLING, 3 * MS)],
        &[(IDLING, MS), (IDLING, 3 * MS)],
        &[(DEFERRABLE, MS), (DEFERRABLE, 3 * MS)],
        &[(SPORADIC, MS), (SPORADIC, 3 * MS)],
    ];
    for servers in SETS {
        alone_and_well(|| {
            let (recording, records) = keeping();
            let specs = [
                spec("first", LO, 2, 3, &[1]),
                spec("second", LO, 1, 7, &[4]),
            ];
            let config = Config {
                calibrate: false,
                monitor: Monitor::Manager,
                ..Config::new()
            };
            let report = Executive::new(config)
                .cpu(served(servers))
                .task(specs[0].clone(), |job| job.burn(Service::from_micros(400)))
                .task(specs[1].clone(), |job| job.burn(Service::from_millis(4)))
                .recorded(recording)
                .run(Duration::from_millis(300))
                .unwrap();
            assert_eq!(report.cpus[0].lost_notices, 0);
            let enforcement = report.cpus[0].enforcement;
            assert_eq!(
                enforcement.server_granularity, None,
                "nothing was tried out"
            );
            assert!(enforcement.server_overshoot.count > 0, "{enforcement:?}");
            let tasks = specs.clone().map(|spec| spec.configuration);
            let mut again = engine(servers, &tasks, Service::ZERO).unwrap();
            let summary = replayed(&specs, &mut again, &records.lock().unwrap());
            assert!(
                summary.facts > 300 && summary.decisions > 100,
                "{summary:?}"
            );
        });
    }
}
