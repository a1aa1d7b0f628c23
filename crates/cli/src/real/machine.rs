//! What the machine and the mechanisms did in a real run: lines for the page, and values for the result.

use super::Settings;
use super::threads;
use crate::quantity::short;
use vestal_core::Service;
use vestal_linux::report::{Cause, MachineReport, StolenTime};
use vestal_linux::{Mechanism, Report};
use vestal_result::run::{Enforced, Machine, Stolen};
use vestal_trace::Dispatch;

/// What the machine and the mechanisms did.
pub(super) fn machine_lines(report: &Report, settings: &Settings) -> Vec<String> {
    let mut lines = enforcement_lines(report, settings);
    lines.extend(stolen_lines(&report.machine));
    let lateness = &report.release_lateness;
    if lateness.count > 0 {
        lines.push(format!(
            "releases came {} late in the median, {} in the 99th percentile, {} at most",
            short(lateness.median),
            short(lateness.p99),
            short(lateness.max)
        ));
    }
    if let Some(recorded) = report.recorded {
        lines.push(format!(
            "{} records were traced, {} were lost",
            recorded.records, recorded.lost
        ));
    }
    let share: f64 = report.overhead.iter().map(|overhead| overhead.share).sum();
    lines.push(format!(
        "our own mechanisms cost {:.3}% of the time",
        share * 100.0
    ));
    let (threads, busy) = (&report.threads, &report.busy_periods);
    lines.push(format!(
        "{} busy periods with {:.1} thread switches each; jobs woke the manager {} times; it, the idle detector and the watchdog used {} of CPU time",
        busy.count,
        busy.switches_each(),
        threads.wakeups.by_jobs(),
        short(threads.cpu().as_nanos()),
    ));
    lines
}

/// How budgets were enforced, and how well.
fn enforcement_lines(report: &Report, settings: &Settings) -> Vec<String> {
    let of_paper = report.mechanism == Mechanism::Huang2014;
    let native = report.inversions.is_none();
    let enforced = if report.enforced && of_paper && native {
        "enforced as in Huang, Gill and Lu (2014)".to_owned()
    } else if report.enforced {
        format!("budgets monitored by {}", report.monitor.name())
    } else if of_paper && !settings.observe {
        "nothing was enforced, as in the baseline of Huang, Gill and Lu (2014)".to_owned()
    } else {
        "nothing was enforced, as --observe asks".to_owned()
    };
    let mut lines = vec![format!("CPU {}, {enforced}", report.cpu.cpu)];
    if report.monitor == vestal_linux::Monitor::PosixTimer {
        lines.push(
            "posix-timer is bound to the kernel's tick: budgets are noticed milliseconds late"
                .to_owned(),
        );
    }
    if let Some(inversions) = report.inversions {
        lines.push(format!(
            "dispatched by the manager; jobs found running against the plan: {inversions}"
        ));
    }
    if let Some(held) = report.suspensions {
        lines.push(format!(
            "jobs were suspended between their slices {} times, {} times without effect",
            held.times, held.ineffective
        ));
    }
    if let Some(why) = &report.monitor_fallback {
        lines.push(format!("not by the monitor asked for: {why}"));
    }
    let enforcement = &report.enforcement;
    if let Some(granularity) = enforcement.granularity {
        let granularity = short(granularity.as_nanos());
        lines.push(format!(
            "granularity obtained: {granularity} (99th percentile of a trial)"
        ));
    }
    let overshoot = &enforcement.overshoot;
    if overshoot.count > 0 {
        lines.push(format!(
            "a job may exceed its budget by {} before that counts; {} used-up budgets were noticed {} after that in the median, {} at most, {} of them later than the granularity",
            short(enforcement.tolerance.as_nanos()),
            overshoot.count,
            short(overshoot.median),
            short(overshoot.max),
            enforcement.late,
        ));
    }
    for task in &report.tasks {
        for (level, limit) in &task.limits_below_granularity {
            lines.push(format!(
                "{}: its budget of level {}, {}, is below the granularity and cannot be enforced exactly",
                task.name,
                level.0,
                short(limit.as_nanos())
            ));
        }
    }
    lines
}

/// What others took, and who might take more.
fn stolen_lines(machine: &MachineReport) -> Vec<String> {
    let mut lines = Vec::new();
    if machine.gaps > 0 {
        let causes = machine.stolen.iter().map(|stolen| {
            let time = short(stolen.time.as_nanos());
            match &stolen.cause {
                Cause::RealTimeThread(names) => format!("{time} by {names}"),
                Cause::Hypervisor => format!("{time} by the hypervisor"),
                Cause::Unknown => format!("{time} by a cause that does not show"),
            }
        });
        let causes: Vec<String> = causes.collect();
        lines.push(format!(
            "others took the CPU away {} times, {} in all ({}), {} at the longest",
            machine.gaps,
            short(machine.lost.as_nanos()),
            causes.join("; "),
            short(machine.longest_gap.as_nanos())
        ));
    }
    if machine.continued > 0 {
        lines.push(format!(
            "the process was stopped and continued {} times",
            machine.continued
        ));
    }
    if !machine.foreign.is_empty() {
        let threads = machine.foreign.iter().map(ToString::to_string);
        let threads: Vec<String> = threads.collect();
        lines.push(format!(
            "threads of other processes in a real-time class may use this CPU: {}",
            threads.join(", ")
        ));
    }
    lines
}

fn stolen(stolen: &StolenTime) -> Stolen {
    let name = match &stolen.cause {
        Cause::RealTimeThread(names) => Some(names.clone()),
        Cause::Hypervisor | Cause::Unknown => None,
    };
    Stolen {
        cause: stolen.cause.name().to_owned(),
        name,
        ns: stolen.time.as_nanos(),
    }
}

pub(super) fn machine(report: &Report) -> Machine {
    let enforcement = &report.enforcement;
    Machine {
        gaps: report.machine.gaps,
        longest_gap_ns: report.machine.longest_gap.as_nanos(),
        lost_ns: report.machine.lost.as_nanos(),
        missed_outside_gaps: report.machine.missed_outside_gaps,
        stolen: report.machine.stolen.iter().map(stolen).collect(),
        enforced: Some(Enforced {
            dispatch: match report.inversions {
                Some(_) => Dispatch::Managed.word(),
                None => Dispatch::Native.word(),
            }
            .to_owned(),
            inversions: report.inversions,
            mechanism: report.mechanism.name().to_owned(),
            observed_only: !report.enforced,
            monitor: report.monitor.name().to_owned(),
            granularity_ns: enforcement.granularity.map(Service::as_nanos),
            tolerance_ns: enforcement.tolerance.as_nanos(),
            overruns_noticed: enforcement.overshoot.count,
            overshoot_median_ns: enforcement.overshoot.median,
            overshoot_max_ns: enforcement.overshoot.max,
            noticed_late: enforcement.late,
            held: report.suspensions.map(|held| held.times),
            held_in_vain: report.suspensions.map(|held| held.ineffective),
            records: report.recorded.map(|recorded| recorded.records),
            records_lost: lost_in_all(report),
            own: threads::costs(report),
            busy_periods: threads::busy_periods(report),
        }),
    }
}

/// Notices, mode changes and trace records that are missing.
fn lost_in_all(report: &Report) -> u64 {
    let records = report.recorded.map_or(0, |recorded| recorded.lost);
    report
        .lost_notices
        .saturating_add(report.modes_lost)
        .saturating_add(records)
}
