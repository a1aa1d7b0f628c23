//! Why a run has the monitor of budgets that it has, where nobody asked for one.

use super::Settings;
use crate::quantity::short;
use vestal_linux::report::CpuReport;
use vestal_linux::{Mechanism, MonitorChoice, Report};
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
    run::MonitorChoice {
        monitor: cpu.monitor.name().to_owned(),
        why: why(cpu),
        tried: cpu.monitor_choice.as_ref().map_or_else(Vec::new, tried),
    }
}

fn why(cpu: &CpuReport) -> String {
    if let Some(why) = &cpu.monitor_fallback {
        return why.clone();
    }
    match &cpu.monitor_choice {
        Some(choice) => words(choice),
        None if cpu.inversions.is_some() => {
            "a manager that dispatches sets its timer itself".to_owned()
        }
        None => "nothing was tried out".to_owned(),
    }
}

/// What the choice was between, and how it came out.
fn words(choice: &MonitorChoice) -> String {
    if let Some(error) = &choice.failed {
        return format!("others could not be tried out: {error}");
    }
    let each = choice.tried.iter().map(|cost| {
        let name = cost.monitor.name();
        format!("{name} takes {}", short(cost.next.median))
    });
    let each: Vec<String> = each.collect();
    let costs = format!(
        "to arm and to disarm {} a job, where nothing else is due earlier",
        each.join(", ")
    );
    match (choice.is_manager, choice.late.as_slice()) {
        (true, _) => format!("a wall timer is clearly cheaper to set: {costs}"),
        (false, [perf, manager]) => format!(
            "a wall timer is cheaper to set, and finds what is used up too late: {} after that in 99 of 100 cases, perf {}; {costs}",
            short(*manager),
            short(*perf)
        ),
        (false, _) => format!("a wall timer is not clearly cheaper to set: {costs}"),
    }
}

/// What was tried, as results say it.
pub(super) fn tried(choice: &MonitorChoice) -> Vec<run::Arming> {
    let late = choice.late.iter().copied().map(Some);
    let late = late.chain(std::iter::repeat(None));
    let each = choice.tried.iter().zip(late);
    each.map(|(cost, late_ns)| run::Arming {
        monitor: cost.monitor.name().to_owned(),
        next_ns: cost.next.median,
        behind_ns: cost.behind.median,
        late_ns,
    })
    .collect()
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
    use vestal_linux::{ArmingCost, Monitor, Summary};

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

    fn cheaper() -> MonitorChoice {
        MonitorChoice {
            tried: vec![cost(Monitor::Perf, 23_000), cost(Monitor::Manager, 11_000)],
            late: vec![60_000, 30_000],
            failed: None,
            is_manager: true,
        }
    }

    #[test]
    fn a_choice_says_what_it_was_between_and_how_it_came_out() {
        const COSTS: &str = "to arm and to disarm perf takes 23us, manager takes 11us a job, where nothing else is due earlier";
        assert_eq!(
            words(&cheaper()),
            format!("a wall timer is clearly cheaper to set: {COSTS}")
        );
        let blunt = MonitorChoice {
            late: vec![60_000, 300_000],
            is_manager: false,
            ..cheaper()
        };
        assert_eq!(
            words(&blunt),
            format!(
                "a wall timer is cheaper to set, and finds what is used up too late: 300us after that in 99 of 100 cases, perf 60us; {COSTS}"
            )
        );
        let dear = MonitorChoice {
            late: Vec::new(),
            ..blunt
        };
        assert_eq!(
            words(&dear),
            format!("a wall timer is not clearly cheaper to set: {COSTS}")
        );
        let failed = MonitorChoice {
            failed: Some("no timer".to_owned()),
            ..MonitorChoice::default()
        };
        assert_eq!(words(&failed), "others could not be tried out: no timer");
    }

    #[test]
    fn all_figures_of_a_monitor_are_in_results() {
        let found = tried(&cheaper());
        let perf = &found[0];
        assert_eq!(
            (
                perf.monitor.as_str(),
                perf.next_ns,
                perf.behind_ns,
                perf.late_ns
            ),
            ("perf", 23_000, 2_300, Some(60_000))
        );
        assert_eq!((found.len(), found[1].late_ns), (2, Some(30_000)));
    }
}
