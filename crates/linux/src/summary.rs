//! Puts the notes of all threads together.

use crate::account::{Account, StolenLog, TaskRecord, Thief, ThreadCost};
use crate::calibrate::Calibration;
use crate::config::Mechanism;
use crate::control::ManagerRecord;
use crate::cpu::{Cpu, Planned};
use crate::foreign::ForeignThread;
use crate::recording::Recorded;
use crate::report::{
    BusyPeriod, BusyReport, Cause, CpuReport, Ended, EnforcementReport, JobCounts, MachineReport,
    Overhead, Report, StolenTime, TaskReport, ThreadCosts,
};
use crate::run::Run;
use crate::skew::ClockSkew;
use vestal_core::{Duration, Level, Service};
use vestal_statistics::Histogram;

/// What there is beside the shared words, of the whole run.
pub(crate) struct Measured {
    pub(crate) ended: Ended,
    pub(crate) mechanism: Mechanism,
    pub(crate) clock_skew: Option<ClockSkew>,
    pub(crate) recorded: Option<Recorded>,
    /// Clock readings at which the process was continued.
    pub(crate) continued: Vec<u64>,
    /// What the watchdog used.
    pub(crate) watchdog: ThreadCost,
}

/// What there is beside the shared words, of one CPU of the set.
pub(crate) struct MeasuredCpu {
    pub(crate) calibration: Calibration,
    /// By task, the limits that its jobs can have, and the level of each.
    pub(crate) limits: Vec<Vec<(Level, Service)>>,
    pub(crate) fallback: Option<String>,
    pub(crate) manager: ManagerRecord,
    pub(crate) account: Account,
    /// Indices of the tasks whose workers did not come back.
    pub(crate) stuck: Vec<usize>,
    pub(crate) foreign: Vec<ForeignThread>,
}

/// The report of a run that has ended: of each CPU of the set what its threads share, and what was measured beside that.
pub(crate) fn report(run: &Run, measured: &Measured, cpus: &[(&Cpu, &MeasuredCpu)]) -> Report {
    let stuck = cpus.iter().flat_map(|(cpu, measured)| {
        let tasks = measured
            .stuck
            .iter()
            .filter_map(|&index| cpu.tasks.get(index));
        tasks.map(|task| task.name.clone())
    });
    let stuck = stuck.collect();
    let reports = cpus
        .iter()
        .map(|(cpu, own)| cpu_report(cpu, own, &measured.continued));
    let reports: Vec<CpuReport> = reports.collect();
    let mut jobs = JobCounts::default();
    let tasks = reports.iter().flat_map(|cpu| &cpu.tasks);
    tasks.for_each(|task| jobs.add(&task.jobs));
    let stopped = cpus.iter().map(|(cpu, _)| cpu.stopped_at.get()).max();
    let nanos = stopped.unwrap_or(0).saturating_sub(run.epoch());
    Report {
        ended: measured.ended,
        duration: Duration::from_nanos(nanos),
        mechanism: measured.mechanism,
        jobs,
        cpus: reports,
        frames: None,
        watchdog: measured.watchdog,
        continued: measured.continued.len() as u64,
        clock_skew: measured.clock_skew,
        recorded: measured.recorded,
        stuck,
    }
}

/// What there is to say of one CPU of the set; `continued`: clock readings at which the process was.
fn cpu_report(cpu: &Cpu, measured: &MeasuredCpu, continued: &[u64]) -> CpuReport {
    let account = &measured.account;
    let mut records = account.tasks.clone();
    let each = records.iter_mut();
    each.for_each(|record| record.excuse_stops(continued));
    let mut totals = TaskRecord::default();
    records.iter().for_each(|record| totals.add(record));
    let manager = &measured.manager;
    totals.lateness.merge(&manager.lateness);
    let stopped = cpu.stopped_at.get();
    let nanos = stopped.saturating_sub(cpu.epoch());
    let tasks = cpu
        .tasks
        .iter()
        .zip(&records)
        .zip(&manager.overruns)
        .zip(&measured.limits)
        .map(|(((task, record), &overruns), limits)| {
            let below = limits_below(limits, measured.calibration.granularity());
            task_report(&task.name, record, overruns, below)
        })
        .collect();
    let overhead = [
        ("job-start", &totals.start_cost),
        ("job-end", &totals.end_cost),
        ("manager", &manager.handling),
        ("demotion", &manager.demotion),
    ]
    .map(|(mechanism, costs)| overhead(mechanism, costs, nanos));
    CpuReport {
        processor: cpu.processor,
        busy: totals.used.cpu,
        switches: totals.used.switches(),
        preemptions: totals.used.involuntary,
        monitor: cpu.terms.monitor,
        monitor_fallback: measured.fallback.clone(),
        enforced: cpu.terms.duties.enforces,
        inversions: cpu.planned.as_ref().map(Planned::inversions),
        modes: manager.modes.clone(),
        modes_lost: manager.modes_lost,
        tasks,
        overhead: overhead.to_vec(),
        threads: thread_costs(cpu, &totals, measured, continued),
        busy_periods: busy_report(cpu, &totals, account),
        machine: machine_report(&account.stolen, measured),
        lost_notes: account.lost,
        enforcement: EnforcementReport {
            calibration: measured.calibration.monitor,
            granularity: measured.calibration.granularity(),
            overshoot: manager.overshoot.summary(),
            late: manager.late,
            tolerance: Service::from_nanos(cpu.terms.tolerance_nanos),
            server_granularity: measured.calibration.servers,
            server_overshoot: account.exceeded.all.summary(),
            server_overshoot_undisturbed: account.exceeded.undisturbed.summary(),
        },
        servers: manager.servers.clone(),
        release_lateness: totals.lateness.summary(),
        lost_notices: manager.lost_notices,
        suspensions: cpu
            .tasks
            .iter()
            .any(|task| task.is_sliced())
            .then(|| manager.suspensions.and(totals.suspensions)),
    }
}

fn machine_report(stolen: &StolenLog, measured: &MeasuredCpu) -> MachineReport {
    MachineReport {
        gaps: stolen.count(),
        longest_gap: Duration::from_nanos(stolen.longest_nanos()),
        longest_charged: Service::from_nanos(stolen.longest_charged_nanos()),
        lost: Duration::from_nanos(stolen.lost_nanos()),
        stolen: stolen_time(stolen, &measured.foreign),
        foreign: measured.foreign.clone(),
    }
}

/// What was stolen, by cause. A thread that took time and is not among the real-time threads of other
/// processes is not known: one of the kernel, or one that is gone.
fn stolen_time(stolen: &StolenLog, foreign: &[ForeignThread]) -> Vec<StolenTime> {
    let active = foreign
        .iter()
        .filter(|thread| thread.executed > Service::ZERO);
    let names: Vec<String> = active.map(ForeignThread::to_string).collect();
    let [by_thread, by_hypervisor, by_unknown] =
        [Thief::Thread, Thief::Hypervisor, Thief::Unknown].map(|thief| stolen.stolen_by(thief));
    let (by_thread, by_unknown) = if names.is_empty() {
        (0, by_unknown.saturating_add(by_thread))
    } else {
        (by_thread, by_unknown)
    };
    let all = [
        (Cause::RealTimeThread(names.join(", ")), by_thread),
        (Cause::Hypervisor, by_hypervisor),
        (Cause::Unknown, by_unknown),
    ];
    let some = all.into_iter().filter(|&(_, nanos)| nanos > 0);
    some.map(|(cause, nanos)| StolenTime {
        cause,
        time: Duration::from_nanos(nanos),
    })
    .collect()
}

fn thread_costs(
    cpu: &Cpu,
    totals: &TaskRecord,
    measured: &MeasuredCpu,
    continued: &[u64],
) -> ThreadCosts {
    ThreadCosts {
        manager: cpu.accounts.manager.cost(),
        idle: cpu.accounts.idle.cost(),
        workers: totals
            .used
            .cpu
            .saturating_sub(Service::from_nanos(totals.executed_nanos)),
        wakeups: measured.manager.wakeups,
        reactions: measured.account.reactions.of_duties(continued),
    }
}

fn busy_report(cpu: &Cpu, totals: &TaskRecord, account: &Account) -> BusyReport {
    let log = &account.busy;
    let mut length = Histogram::default();
    let periods = log.iter().map(|(from, to)| {
        length.record(to - from);
        BusyPeriod {
            start: cpu.instant(from),
            length: Duration::from_nanos(to - from),
        }
    });
    let periods = periods.collect();
    let own = [&cpu.accounts.manager, &cpu.accounts.idle].map(|account| account.cost().switches());
    BusyReport {
        count: log.count(),
        length: length.summary(),
        periods,
        switches: own.iter().fold(totals.used.switches(), |sum, &each| {
            sum.saturating_add(each)
        }),
    }
}

fn overhead(mechanism: &'static str, costs: &Histogram, run_nanos: u64) -> Overhead {
    let summary = costs.summary();
    Overhead {
        mechanism,
        summary,
        share: summary.sum as f64 / run_nanos.max(1) as f64,
    }
}

fn task_report(
    name: &str,
    record: &TaskRecord,
    overruns: u64,
    limits_below_granularity: Vec<(Level, Service)>,
) -> TaskReport {
    TaskReport {
        name: name.to_owned(),
        jobs: record.jobs,
        overruns,
        preemptions: record.used.involuntary,
        response: record.response.summary(),
        execution: record.execution.summary(),
        tardiness: record.tardiness.summary(),
        limits_below_granularity,
    }
}

/// The limits that are too small to be enforced at the granularity obtained, if one was.
fn limits_below(
    limits: &[(Level, Service)],
    granularity: Option<Service>,
) -> Vec<(Level, Service)> {
    let limits = limits.iter().copied();
    limits
        .filter(|&(_, limit)| granularity.is_some_and(|granularity| limit < granularity))
        .collect()
}
