//! Runs of the overhead experiment: short, without calibration, one figure each.

use super::cpus::executive;
use super::linux::blame;
use super::{Settings, ShortRun};
use crate::failure::Failure;
use crate::session::Session;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use vestal_bench::preemption::{Effort, PreemptionCost};
use vestal_experiment::overhead::{Group, Invocations, Preemptions};
use vestal_linux::{Ended, Report, Summary};

/// Runs a session for its duration, which no job is meant to outlast.
pub(crate) fn measure(session: &Session, settings: &Settings) -> Result<ShortRun, Failure> {
    let refused = Arc::new(AtomicU64::new(0));
    let executive = executive(session, settings, &refused)?;
    let report = executive
        .run(session.duration)
        .map_err(|error| blame(format!("run under {}", session.system.policy), error))?;
    Ok(of(&report))
}

/// What there is to say of a run on one CPU.
fn of(report: &Report) -> ShortRun {
    let Some(cpu) = report.cpus.first() else {
        return ShortRun::default();
    };
    let busy = cpu.busy_periods.periods.first();
    let manager = cpu
        .overhead
        .iter()
        .find(|overhead| overhead.mechanism == "manager");
    let invocations = manager.map(|overhead| Invocations {
        count: overhead.summary.count,
        mean_ns: overhead.summary.mean,
        median_ns: overhead.summary.median,
        max_ns: overhead.summary.max,
    });
    ShortRun {
        interrupted: report.ended != Ended::Finished,
        busy_ns: busy.map_or(0, |busy| busy.length.as_nanos()),
        busy_periods: cpu.busy_periods.count,
        switches: cpu.busy_periods.switches,
        own_cpu_ns: report.own_cpu().as_nanos(),
        workers_cpu_ns: cpu.threads.workers.as_nanos(),
        wakeups: cpu.threads.wakeups.by_jobs(),
        completed: report.jobs.completed,
        released: report.jobs.released,
        missed: report.jobs.missed,
        overruns: cpu.tasks.iter().map(|task| task.overruns).sum(),
        mode_changes: cpu.modes.len() as u64,
        lost_ns: cpu.machine.lost.as_nanos(),
        longest_gap_ns: cpu.machine.longest_gap.as_nanos(),
        manager: invocations.unwrap_or_default(),
    }
}

/// The micro-benchmark of preemptions; fewer rows if a stop was requested.
pub(crate) fn preemptions(
    threads: &[usize],
    (groups, rounds): (u32, u32),
    cpu: Option<usize>,
    stop: &AtomicBool,
) -> Result<Vec<Preemptions>, Failure> {
    let effort = Effort { groups, rounds };
    let rows = vestal_bench::preemption::measure(threads, effort, cpu, stop);
    let rows = rows.map_err(|error| blame("measure preemptions".to_owned(), error))?;
    Ok(rows.iter().map(row).collect())
}

fn row(found: &PreemptionCost) -> Preemptions {
    let far = |summary: &Summary| (summary.median, summary.p99);
    Preemptions {
        threads: found.threads,
        preemption_ns: far(&found.preemption),
        return_ns: far(&found.back),
        first_ns: (found.first.median, found.first.max),
        later_ns: (found.later.median, found.later.mean, found.later.max),
        groups: found
            .groups
            .iter()
            .map(|group| Group {
                preemption_ns: group.preemption,
                return_ns: group.back,
                first_ns: group.first,
                later_ns: group.later,
            })
            .collect(),
    }
}

/// Processor, CPUs and kernel, for the head of a page.
pub(crate) fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpus = read("/proc/cpuinfo");
    let field = |name: &str| {
        let mut lines = cpus.lines().filter_map(|line| line.split_once(':'));
        lines
            .find(|(key, _)| key.trim() == name)
            .map(|(_, value)| value.trim().to_owned())
    };
    let virtual_machine = cpus.lines().any(|line| {
        line.starts_with("flags") && line.split_whitespace().any(|f| f == "hypervisor")
    });
    let count = cpus
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    format!(
        "{}, {count} CPUs{}, Linux {}",
        field("model name").unwrap_or_else(|| "unknown processor".to_owned()),
        if virtual_machine {
            ", a virtual machine"
        } else {
            ""
        },
        read("/proc/sys/kernel/osrelease").trim()
    )
}
