//! What the machine and the mechanisms did in a real run: lines for the page, and values for the result.

use super::Settings;
use super::{choice, frames, parts, threads};
use crate::quantity::{apart, short};
use crate::session::Session;
use vestal_core::{Duration, Service};
use vestal_linux::report::{
    Cause, CpuReport, Detections, EnforcementReport, MachineReport, MonitoringReport, StolenTime,
    Suspensions,
};
use vestal_linux::{ClockSkew, Mechanism, Report, Summary};
use vestal_result::run::{self, Detected, Enforced, Machine, Monitoring, Stolen};
use vestal_trace::Dispatch;

/// What the machine and the mechanisms did.
pub(super) fn machine_lines(
    session: &Session,
    report: &Report,
    settings: &Settings,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, cpu) in report.cpus.iter().enumerate() {
        let others = report
            .cpus
            .iter()
            .filter(|other| other.processor == cpu.processor);
        let shared = others.count() > 1;
        let name = match report.cpus.len() {
            1 => format!("CPU {}", cpu.processor),
            _ => format!(
                "CPU {number} of the set on CPU {} of this machine",
                cpu.processor
            ),
        };
        match report.frames {
            Some(found) => lines.push(match found.paper {
                None => format!("{name}, the jobs of a sub-frame on one thread"),
                Some(_) => format!("{name}, the jobs of each task on a thread of its own"),
            }),
            None => lines.extend(enforcement_lines(report, cpu, &name, settings)),
        }
        lines.extend(stolen_lines(&cpu.machine, shared));
        lines.extend(lateness_line(cpu));
        lines.extend(paid_line(cpu));
    }
    lines.extend(choice::lines(report, settings));
    if let Some(cpu) = &report.dispatcher {
        lines.push(format!(
            "the scheduler of all CPUs on CPU {} of this machine",
            cpu.processor
        ));
        lines.extend(stolen_lines(&cpu.machine, false));
    }
    lines.extend(report.frames.as_ref().and_then(frames::paper_line));
    if let (Some(found), Some((_, lists))) = (&report.frames, frames::of(session)) {
        lines.extend(frames::lines(found, lists));
        lines.push(frames::terms(session, lists, settings));
    }
    lines.extend(skew_line(report));
    if report.continued > 0 {
        lines.push(format!(
            "the process was stopped and continued {} times",
            report.continued
        ));
    }
    if let Some(recorded) = report.recorded {
        lines.push(format!(
            "{} records were traced, {} were lost",
            recorded.records, recorded.lost
        ));
    }
    lines.push(parts::line(&parts::of_run(report)));
    let (own, busy) = (threads::costs(report), threads::busy_periods(&report.cpus));
    let others = match report.mechanism {
        Mechanism::Vestal | Mechanism::Huang2014 => "the idle detector",
        Mechanism::Sigrist2015 => "its dispatcher, the overrun checkers",
    };
    lines.push(format!(
        "{} busy periods with {:.1} thread switches each; jobs woke the manager {} times; it, {others} and the watchdog used {} of CPU time",
        busy.count,
        threads::switches_each(&busy),
        threads::by_jobs(&own.wakeups),
        short(report.own_cpu().as_nanos()),
    ));
    lines.extend(threads::top_half(&report.cpus));
    lines
}

/// By how much the clocks of CPUs differ, as results say it.
pub(super) fn clock_skew(found: ClockSkew) -> run::ClockSkew {
    run::ClockSkew {
        monotonic_ns: found.monotonic_nanos,
        tsc_ns: found.stamp_nanos,
    }
}

fn skew_line(report: &Report) -> Option<String> {
    let first = report.cpus.first()?.processor;
    let several = report.cpus.iter().any(|cpu| cpu.processor != first);
    several.then(|| match report.clock_skew {
        Some(skew) => apart(&clock_skew(skew)),
        None => "by how much the clocks of the CPUs differ could not be measured".to_owned(),
    })
}

fn lateness_line(cpu: &CpuReport) -> Option<String> {
    let lateness = &cpu.release_lateness;
    (lateness.count > 0).then(|| {
        format!(
            "releases came {} late in the median, {} in the 99th percentile, {} at most",
            short(lateness.median),
            short(lateness.p99),
            short(lateness.max)
        )
    })
}

/// How budgets were enforced, and how well.
fn enforcement_lines(
    report: &Report,
    cpu: &CpuReport,
    name: &str,
    settings: &Settings,
) -> Vec<String> {
    let of_paper = report.mechanism == Mechanism::Huang2014;
    let native = cpu.inversions.is_none();
    let enforced = if cpu.enforced && report.mechanism == Mechanism::Sigrist2015 {
        let monitor = cpu.monitor.name();
        format!("enforced as in Sigrist et al. (2015), with budgets monitored by {monitor}")
    } else if cpu.enforced && of_paper && native {
        "enforced as in Huang, Gill and Lu (2014)".to_owned()
    } else if cpu.enforced {
        format!("budgets monitored by {}", cpu.monitor.name())
    } else if of_paper && !settings.observe {
        "nothing was enforced, as in the baseline of Huang, Gill and Lu (2014)".to_owned()
    } else {
        "nothing was enforced, as --observe asks".to_owned()
    };
    let mut lines = vec![format!("{name}, {enforced}")];
    if cpu.monitor == vestal_linux::Monitor::PosixTimer {
        lines.push(
            "posix-timer is bound to the kernel's tick: budgets are noticed milliseconds late"
                .to_owned(),
        );
    }
    if let Some(inversions) = cpu.inversions {
        lines.push(format!(
            "dispatched by the manager; jobs found running against the plan: {inversions}"
        ));
    }
    if let Some(held) = cpu.suspensions {
        lines.push(format!(
            "jobs were suspended until their next slice or budget {} times, {} times without effect",
            held.times, held.ineffective
        ));
    }
    if let Some(why) = &cpu.monitor_fallback {
        lines.push(format!("not by the monitor asked for: {why}"));
    }
    let enforcement = &cpu.enforcement;
    if let Some(granularity) = enforcement.granularity {
        let granularity = short(granularity.as_nanos());
        lines.push(format!(
            "granularity obtained: {granularity} (99th percentile of a trial)"
        ));
    }
    lines.extend(monitoring_line(report.mechanism, cpu));
    lines.extend(server_line(enforcement));
    let overshoot = &enforcement.overshoot;
    if overshoot.count > 0 {
        lines.push(format!(
            "a job may exceed its budget by {} before that counts; {} used-up budgets were noticed {} after that in the median, {} in the 90th percentile, {} in the 99th, {} at most, {} of them later than the granularity",
            short(enforcement.tolerance.as_nanos()),
            overshoot.count,
            short(overshoot.median),
            short(overshoot.p90),
            short(overshoot.p99),
            short(overshoot.max),
            enforcement.late,
        ));
    }
    for task in &cpu.tasks {
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

/// How often the monitor looked or had the manager look, and when it found what was used up.
fn monitoring_line(mechanism: Mechanism, cpu: &CpuReport) -> Option<String> {
    let monitoring = cpu.monitoring?;
    let most = most_for_a_job(std::slice::from_ref(cpu));
    Some(monitoring_words(mechanism, &monitoring, most))
}

/// The same in words, with the most looks at one job.
fn monitoring_words(mechanism: Mechanism, monitoring: &MonitoringReport, most: u64) -> String {
    let found = monitoring.detected;
    // Each task has a thread of its own for that with the last one.
    let looked = match mechanism {
        Mechanism::Vestal | Mechanism::Huang2014 => "the monitor had the manager look",
        Mechanism::Sigrist2015 => "the overrun checkers looked",
    };
    let beyond = match monitoring.beyond_bound {
        Some(jobs) => format!("; more often than it may for {jobs} jobs"),
        None => String::new(),
    };
    format!(
        "{looked} {} times, {most} times at most for one job{beyond}; {} used-up budgets were found the first time after that, {} the second time, {} later",
        monitoring.activations, found.first, found.second, found.later
    )
}

/// The most activations that the monitor of any job had.
fn most_for_a_job(cpus: &[CpuReport]) -> u64 {
    let tasks = cpus.iter().flat_map(|cpu| &cpu.tasks);
    tasks.map(|task| task.activations.max).max().unwrap_or(0)
}

/// What the monitors of all CPUs did; nothing where none counts.
fn monitoring(cpus: &[CpuReport]) -> Option<Monitoring> {
    let joined = joined(
        cpus,
        |cpu| cpu.monitoring,
        |all, each| MonitoringReport {
            activations: all.activations + each.activations,
            without_cpu: all.without_cpu + each.without_cpu,
            // One monitor may take another one's place, which has no bound.
            beyond_bound: all.beyond_bound.zip(each.beyond_bound).map(|(a, b)| a + b),
            detected: Detections {
                first: all.detected.first + each.detected.first,
                second: all.detected.second + each.detected.second,
                later: all.detected.later + each.detected.later,
            },
        },
    )?;
    let Detections {
        first,
        second,
        later,
    } = joined.detected;
    Some(Monitoring {
        activations: joined.activations,
        without_cpu: joined.without_cpu,
        per_job_max: most_for_a_job(cpus),
        beyond_bound: joined.beyond_bound,
        detected: Detected {
            first,
            second,
            later,
        },
    })
}

/// What budgets that outlive jobs pay for beside them.
fn paid_line(cpu: &CpuReport) -> Option<String> {
    cpu.enforcement.server_granularity?;
    let completed = cpu
        .tasks
        .iter()
        .map(|task| task.jobs.completed)
        .sum::<u64>();
    let each = cpu.threads.workers.as_nanos().checked_div(completed)?;
    Some(format!(
        "to begin and to end a job took {} of its budget on average: one that only just fits is late",
        short(each)
    ))
}

/// By how much budgets that outlive jobs may be exceeded, and were.
fn server_line(enforcement: &EnforcementReport) -> Option<String> {
    let granularity = enforcement.server_granularity?;
    let judged = &enforcement.server_overshoot_undisturbed;
    let mut line = format!(
        "granularity of servers' and tasks' budgets: {} (the most of a trial)",
        short(granularity.as_nanos())
    );
    if judged.count > 0 {
        line += &format!(
            "; {} of {} that were used up lost no time to others, and were exceeded by {} in the median, {} at most",
            judged.count,
            enforcement.server_overshoot.count,
            short(judged.median),
            short(judged.max)
        );
    }
    Some(line)
}

/// What others took, and who might take more; where the processor is `shared`, other CPUs of the set did too.
fn stolen_lines(machine: &MachineReport, shared: bool) -> Vec<String> {
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
            "{} took the CPU away {} times, {} in all ({}), {} at the longest",
            if shared {
                "others, other CPUs of the set among them,"
            } else {
                "others"
            },
            machine.gaps,
            short(machine.lost.as_nanos()),
            causes.join("; "),
            short(machine.longest_gap.as_nanos())
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

/// What was stolen on all CPUs, by who took it.
fn stolen_in_all<'m>(machines: impl Iterator<Item = &'m MachineReport>) -> Vec<Stolen> {
    let mut all: Vec<Stolen> = Vec::new();
    for each in machines.flat_map(|machine| &machine.stolen).map(stolen) {
        let same = |known: &&mut Stolen| (&known.cause, &known.name) == (&each.cause, &each.name);
        match all.iter_mut().find(same) {
            Some(known) => known.ns = known.ns.saturating_add(each.ns),
            None => all.push(each),
        }
    }
    all
}

/// A figure of each CPU, where there is one, put together.
fn joined<T>(
    cpus: &[CpuReport],
    figure: impl Fn(&CpuReport) -> Option<T>,
    join: impl Fn(T, T) -> T,
) -> Option<T> {
    cpus.iter().filter_map(figure).reduce(join)
}

/// What the machine did on all CPUs of the run: counts and times are sums, extremes those of all; a median is the
/// largest of theirs. What is taken from the dispatcher of arrivals keeps all CPUs, so it counts where it is.
pub(super) fn machine(report: &Report, dispatch: Dispatch, settings: &Settings) -> Machine {
    let cpus = report.cpus.as_slice();
    // No budget is watched: only the order of the table is kept.
    let walked = report.frames.is_some();
    let machines = report.all_cpus().map(|cpu| &cpu.machine);
    let sum = |figure: &dyn Fn(&CpuReport) -> u64| cpus.iter().map(figure).sum();
    let most = |figure: &dyn Fn(&CpuReport) -> u64| cpus.iter().map(figure).max().unwrap_or(0);
    let overshoot = cpus.iter().map(|cpu| cpu.enforcement.overshoot);
    let overshoot = overshoot.fold(Summary::default(), |all, each| all.and(&each));
    let servers = cpus
        .iter()
        .map(|cpu| cpu.enforcement.server_overshoot_undisturbed)
        .fold(Summary::default(), |all, each| all.and(&each));
    let counted = |figure: fn(Suspensions) -> u64| {
        joined(cpus, |cpu| cpu.suspensions.map(figure), u64::saturating_add)
    };
    Machine {
        gaps: machines.clone().map(|machine| machine.gaps).sum(),
        longest_gap_ns: {
            let longest = machines.clone().map(|machine| machine.longest_gap);
            longest.max().map_or(0, Duration::as_nanos)
        },
        lost_ns: {
            let lost = machines.clone().map(|machine| machine.lost.as_nanos());
            lost.sum()
        },
        missed_outside_gaps: report.jobs.missed_outside_gaps,
        stolen: stolen_in_all(machines),
        // Who ran it has looked.
        interrupts: Vec::new(),
        enforced: Some(Enforced {
            dispatch: dispatch.word().to_owned(),
            inversions: joined(cpus, |cpu| cpu.inversions, u64::saturating_add),
            mechanism: report.mechanism.name().to_owned(),
            observed_only: !walked && cpus.iter().all(|cpu| !cpu.enforced),
            monitor: if walked {
                "none".to_owned()
            } else {
                monitors(cpus)
            },
            monitor_choices: choice::choices(report, settings),
            monitoring: monitoring(cpus),
            granularity_ns: joined(cpus, |cpu| cpu.enforcement.granularity, Service::max)
                .map(Service::as_nanos),
            tolerance_ns: most(&|cpu| cpu.enforcement.tolerance.as_nanos()),
            overruns_noticed: overshoot.count,
            overshoot_median_ns: overshoot.median,
            overshoot_p90_ns: Some(overshoot.p90),
            overshoot_p99_ns: Some(overshoot.p99),
            overshoot_max_ns: overshoot.max,
            noticed_late: sum(&|cpu| cpu.enforcement.late),
            server_granularity_ns: joined(
                cpus,
                |cpu| cpu.enforcement.server_granularity,
                Service::max,
            )
            .map(Service::as_nanos),
            server_budgets_judged: servers.count,
            server_overshoot_median_ns: servers.median,
            server_overshoot_max_ns: servers.max,
            held: counted(|held| held.times),
            held_in_vain: counted(|held| held.ineffective),
            clock_skew: report.clock_skew.map(clock_skew),
            records: report.recorded.map(|recorded| recorded.records),
            records_lost: lost_in_all(report),
            own: threads::costs(report),
            busy_periods: threads::busy_periods(cpus),
        }),
    }
}

/// The budget monitors of all CPUs, each once.
fn monitors(cpus: &[CpuReport]) -> String {
    let mut names: Vec<&str> = cpus.iter().map(|cpu| cpu.monitor.name()).collect();
    names.dedup();
    names.join(", ")
}

/// Notices, mode changes, notes and trace records that are missing.
fn lost_in_all(report: &Report) -> u64 {
    let records = report.recorded.map_or(0, |recorded| recorded.lost);
    let cpus = report.all_cpus();
    let lost = cpus.flat_map(|cpu| [cpu.lost_notices, cpu.modes_lost, cpu.lost_notes]);
    lost.fold(records, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_the_paper_s_threads_checkers_look_and_no_manager() {
        let found = MonitoringReport {
            activations: 7,
            ..MonitoringReport::default()
        };
        let words = |mechanism| monitoring_words(mechanism, &found, 2);
        for mechanism in [Mechanism::Vestal, Mechanism::Huang2014] {
            let words = words(mechanism);
            assert!(
                words.starts_with("the monitor had the manager look 7 times, 2 times at most"),
                "{words}"
            );
        }
        let words = words(Mechanism::Sigrist2015);
        assert!(
            words.starts_with("the overrun checkers looked 7 times, 2 times at most"),
            "{words}"
        );
        assert!(!words.contains("manager"), "{words}");
    }
}
