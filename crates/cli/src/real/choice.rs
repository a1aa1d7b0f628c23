//! Why a run has the monitor of budgets that it has, where nobody asked for one.

use super::Settings;
use crate::quantity::short;
use vestal_linux::report::CpuReport;
use vestal_linux::{ArmingCost, Mechanism, Monitor, MonitorChoice, Report};
use vestal_result::run;

/// By CPU of the set why its monitor was taken; empty where it was asked for, and where nothing is monitored by one of several.
pub(super) fn choices(report: &Report, settings: &Settings) -> Vec<run::MonitorChoice> {
    let has_monitors = report.mechanism == Mechanism::Vestal && report.frames.is_none();
    if settings.monitor.is_some() || !has_monitors {
        return Vec::new();
    }
    let enforced = report.cpus.iter().filter(|cpu| cpu.enforced);
    enforced.map(choice).collect()
}

fn choice(cpu: &CpuReport) -> run::MonitorChoice {
    let tried = cpu.monitor_choice.iter().flat_map(|choice| &choice.tried);
    run::MonitorChoice {
        why: why(cpu),
        tried: tried.map(arming).collect(),
    }
}

fn why(cpu: &CpuReport) -> String {
    if let Some(why) = &cpu.monitor_fallback {
        return why.clone();
    }
    match &cpu.monitor_choice {
        Some(choice) => words(choice),
        None => "a manager that dispatches sets its timer itself".to_owned(),
    }
}

/// What the choice was between, and how it came out.
fn words(choice: &MonitorChoice) -> String {
    let tried = choice.tried.iter().map(|cost| {
        let name = cost.monitor.name();
        format!("{name} takes {}", short(cost.next.median))
    });
    let tried: Vec<String> = tried.collect();
    let verdict = match choice.monitor {
        Monitor::Manager => "a wall timer is clearly cheaper to set",
        Monitor::Perf | Monitor::Remainder | Monitor::Heartbeat | Monitor::PosixTimer => {
            "a wall timer is not clearly cheaper to set"
        }
    };
    format!(
        "{verdict}: to arm and to disarm {} a job, where nothing else is due earlier",
        tried.join(", ")
    )
}

/// What it costs to watch a budget, as results say it.
pub(super) fn arming(cost: &ArmingCost) -> run::Arming {
    run::Arming {
        monitor: cost.monitor.name().to_owned(),
        next_ns: cost.next.median,
        behind_ns: cost.behind.median,
    }
}

/// The same for people, each reason once.
pub(super) fn lines(report: &Report, settings: &Settings) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let cpus = report.cpus.iter().filter(|cpu| cpu.enforced);
    for (cpu, choice) in cpus.zip(choices(report, settings)) {
        let line = format!(
            "monitored by {}, as nobody asked for another one: {}",
            cpu.monitor.name(),
            choice.why
        );
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_linux::Summary;

    fn cost(monitor: Monitor, nanos: u64) -> ArmingCost {
        let costs = Summary {
            count: 1,
            median: nanos,
            ..Summary::default()
        };
        ArmingCost {
            monitor,
            next: costs,
            behind: Summary {
                median: nanos / 10,
                ..costs
            },
        }
    }

    #[test]
    fn a_choice_says_what_it_was_between_and_how_it_came_out() {
        let choice = MonitorChoice {
            tried: vec![cost(Monitor::Perf, 23_000), cost(Monitor::Manager, 11_000)],
            monitor: Monitor::Manager,
        };
        assert_eq!(
            words(&choice),
            "a wall timer is clearly cheaper to set: to arm and to disarm perf takes 23us, manager takes 11us a job, where nothing else is due earlier"
        );
        let kept = MonitorChoice {
            monitor: Monitor::Perf,
            ..choice
        };
        assert!(words(&kept).starts_with("a wall timer is not clearly cheaper"));
    }

    #[test]
    fn both_figures_of_a_monitor_are_in_results() {
        let found = arming(&cost(Monitor::Perf, 23_000));
        assert_eq!(
            (found.monitor.as_str(), found.next_ns, found.behind_ns),
            ("perf", 23_000, 2_300)
        );
    }
}
