//! Puts the notes of all threads together.

use crate::account::{Account, StolenLog, TaskRecord, Thief, ThreadCost};
use crate::arming::MonitorChoice;
use crate::calibrate::Calibration;
use crate::config::Mechanism;
use crate::control::ManagerRecord;
use crate::cpu::{ActivationBound, Cpu, Planned};
use crate::foreign::ForeignThread;
use crate::parts::{Part, Parts};
use crate::recording::Recorded;
use crate::report::{
    BusyPeriod, BusyReport, Cause, CpuReport, Ended, EnforcementReport, JobCounts, MachineReport,
    MonitoringReport, Overhead, PartsReport, Report, StolenTime, TaskReport, ThreadCosts,
};
use crate::run::Run;
use crate::skew::ClockSkew;
use vestal_core::{Duration, Instant, Level, Service};
use vestal_statistics::{Histogram, Summary};

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
    pub(crate) choice: Option<MonitorChoice>,
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
    for ((cpu, _), report) in cpus.iter().zip(&reports) {
        // Bottom halves have their own account: that of their devices.
        let tasks = cpu.tasks.iter().zip(&report.tasks);
        let tasks = tasks.filter(|(task, _)| cpu.devices.of_task(task.id).is_none());
        tasks.for_each(|(_, task)| jobs.add(&task.jobs));
    }
    let stopped = cpus.iter().map(|(cpu, _)| cpu.stopped_at.get()).max();
    let nanos = stopped.unwrap_or(0).saturating_sub(run.epoch());
    Report {
        ended: measured.ended,
        duration: Duration::from_nanos(nanos),
        mechanism: measured.mechanism,
        jobs,
        cpus: reports,
        dispatcher: None,
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
    let overhead = [
        ("job-start", &totals.start_cost),
        ("job-end", &totals.end_cost),
        ("manager", &manager.handling),
        ("demotion", &manager.demotion),
    ]
    .map(|(mechanism, costs)| overhead(mechanism, costs, nanos));
    let threads = thread_costs(cpu, &totals, measured, continued);
    CpuReport {
        processor: cpu.processor,
        busy: totals.used.cpu,
        switches: totals.used.switches(),
        preemptions: totals.used.involuntary,
        monitor: cpu.terms.monitor,
        monitor_fallback: measured.fallback.clone(),
        monitor_choice: measured.choice.clone(),
        monitoring: monitoring_report(cpu, manager),
        enforced: cpu.terms.duties.enforces,
        inversions: cpu.planned.as_ref().map(Planned::inversions),
        modes: manager.modes.clone(),
        modes_lost: manager.modes_lost,
        tasks: task_reports(cpu, &records, measured),
        overhead: overhead.to_vec(),
        parts: parts_report(&with_those_beside(cpu, &manager.parts), &totals, &threads),
        threads,
        busy_periods: busy_report(cpu, &totals, account),
        machine: machine_report(&account.stolen, measured, cpu.epoch()),
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
        devices: cpu
            .devices
            .iter()
            .map(|each| each.device.outcome())
            .collect(),
    }
}

fn monitoring_report(cpu: &Cpu, manager: &ManagerRecord) -> Option<MonitoringReport> {
    let is_bounded = cpu.terms.activation_bound() != ActivationBound::Unknown;
    let without_cpu = cpu.tasks.iter().map(|task| {
        let counted = task.watched.counted();
        counted.activations.saturating_sub(counted.from_job)
    });
    let beyond = || {
        cpu.tasks
            .iter()
            .map(|task| task.watched.jobs().beyond_bound)
    };
    let beside = cpu.accounts.beside();
    let (activations, detected) = match cpu.terms.duties.has_checkers {
        true => (beside.activations, beside.detected),
        false => (manager.activations.count, manager.activations.detected),
    };
    cpu.terms.counts_activations().then(|| MonitoringReport {
        activations,
        without_cpu: without_cpu.sum(),
        beyond_bound: is_bounded.then(|| beyond().sum()),
        detected,
    })
}

fn machine_report(stolen: &StolenLog, measured: &MeasuredCpu, epoch: u64) -> MachineReport {
    let since = |at: u64| Instant::from_nanos(at.saturating_sub(epoch));
    let newest = stolen.newest().filter(|&(_, to)| to > epoch);
    MachineReport {
        gaps: stolen.count(),
        longest_gap: Duration::from_nanos(stolen.longest_nanos()),
        longest_charged: Service::from_nanos(stolen.longest_charged_nanos()),
        lost: Duration::from_nanos(stolen.lost_nanos()),
        newest: newest.map(|(from, to)| (since(from), since(to))).collect(),
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
    let beside = cpu.accounts.beside();
    ThreadCosts {
        manager: cpu.accounts.manager.cost(),
        idle: cpu.accounts.idle.cost(),
        dispatcher: beside.dispatcher,
        dispatcher_is_here: cpu.dispatcher_tid.get() != 0,
        checkers: beside.checkers,
        top_half: cpu.accounts.top_half.cost(),
        workers: totals
            .used
            .cpu
            .saturating_sub(Service::from_nanos(totals.executed_nanos)),
        wakeups: measured.manager.wakeups,
        reactions: measured.account.reactions.of_duties(continued),
    }
}

/// What a manager noted of the parts, with what was done by threads beside it.
fn with_those_beside(cpu: &Cpu, noted: &Parts) -> Parts {
    let beside = cpu.accounts.beside();
    let mut parts = noted.clone();
    parts.add(Part::JobArrival, &beside.arrivals);
    parts.add(Part::Monitoring, &beside.checks);
    parts
}

/// What carrying the policy out took: what managers or walkers noted, and what it took to begin and to end jobs.
fn parts_report(noted: &Parts, totals: &TaskRecord, threads: &ThreadCosts) -> PartsReport {
    let mut parts = noted.clone();
    let begins = match parts.has(Part::SubFrameInit) {
        true => Part::SubFrameInit,
        false => Part::JobArrival,
    };
    parts.add(begins, &totals.start_cost);
    parts.add(Part::JobFinish, &totals.end_cost);
    let used = threads.cpu().saturating_add(threads.workers).as_nanos();
    let within = parts.sum_nanos().saturating_sub(parts.elsewhere_nanos);
    let within = within.saturating_add(parts.waiting_nanos);
    PartsReport {
        parts: parts
            .iter()
            .map(|(part, times)| (part, times.summary()))
            .collect(),
        system: Service::from_nanos(used.saturating_sub(within)),
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
    let beside = cpu.accounts.beside();
    let dispatcher = match cpu.dispatcher_tid.get() {
        0 => 0,
        _ => beside.dispatcher.switches(),
    };
    let accounts = &cpu.accounts;
    let [manager, idle, top_half] = [&accounts.manager, &accounts.idle, &accounts.top_half]
        .map(|account| account.cost().switches());
    let checkers = beside.checkers.switches();
    let own = [manager, idle, top_half, dispatcher, checkers];
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

fn task_reports(cpu: &Cpu, records: &[TaskRecord], measured: &MeasuredCpu) -> Vec<TaskReport> {
    let granularity = measured.calibration.granularity();
    let overruns = measured.manager.overruns.iter().zip(&measured.limits);
    let each = cpu.tasks.iter().zip(records).zip(overruns);
    each.map(|((task, record), (&noticed, limits))| {
        // Where walkers go through frames there is no limit that anybody could notice.
        let overruns = match cpu.terms.duties.is_walked() {
            true => record.beyond_own,
            false => noticed,
        };
        let below = limits_below(limits, granularity);
        TaskReport {
            activations: task.watched.jobs().activations.summary(),
            ..task_report(&task.name, record, overruns, below)
        }
    })
    .collect()
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
        activations: Summary::default(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::ThreadCost;

    /// Of each part that took something, the sum; and scheduler and system overhead.
    fn found(parts: &[Part], used: u64) -> (Vec<(Part, u64)>, u64, u64) {
        let mut noted = Parts::of(parts);
        noted.record(Part::Barrier, 100);
        noted.record(Part::Monitoring, 100);
        (noted.elsewhere_nanos, noted.waiting_nanos) = (40, 30);
        let mut totals = TaskRecord::default();
        totals.start_cost.record(5);
        totals.end_cost.record(7);
        let threads = ThreadCosts {
            manager: ThreadCost {
                cpu: Service::from_nanos(20),
                ..ThreadCost::default()
            },
            workers: Service::from_nanos(used),
            ..ThreadCosts::default()
        };
        let report = parts_report(&noted, &totals, &threads);
        let sums = report.parts.iter().map(|(part, times)| (*part, times.sum));
        let some = sums.filter(|(_, sum)| *sum > 0).collect();
        let (scheduler, system) = (report.scheduler(), report.system);
        (some, scheduler.as_nanos(), system.as_nanos())
    }

    #[test]
    fn what_threads_used_is_in_a_part_or_spent_waiting_or_the_systems() {
        let walked = [
            (Part::SubFrameInit, 5),
            (Part::Barrier, 100),
            (Part::JobFinish, 7),
        ];
        let frames = found(&Part::OF_FRAMES, 480);
        // 500, of which 112 are in parts, 40 of them elsewhere, and 30 passed waiting.
        assert_eq!(frames, (walked.to_vec(), 112, 500 - 112 + 40 - 30));
        let managed = [
            (Part::JobArrival, 5),
            (Part::JobFinish, 7),
            (Part::Monitoring, 100),
        ];
        let managers = found(&Part::OF_MANAGERS, 480);
        assert_eq!(managers, (managed.to_vec(), 112, 398));
        // Parts are wall-clock times, and may be longer.
        let (_, scheduler, system) = found(&Part::OF_MANAGERS, 0);
        assert_eq!((scheduler, system), (112, 0));
    }
}
