//! Between the command line and the examination of this machine.

use super::Wish;
use super::choice::tried;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::ClockProgress;
use std::path::Path;
use std::time::Duration;
use vestal_linux::Summary;
use vestal_linux::doctor::{self, Facts, Probes};
use vestal_result::Format;
use vestal_result::doctor::{
    Basis, Budget, Examination, Finding, Gaps, Measured, Section, State, Times, Verdict, WakeUp,
};

/// Reads, measures and judges.
pub(crate) fn examine(wish: &Wish, output: &Output) -> Result<Examination, Failure> {
    let root = wish.root.as_deref().unwrap_or(Path::new("/"));
    let facts = Facts::read(root, wish.cpu);
    let allowed = facts.status.known().map(|status| &status.cpus);
    let probes = (wish.probes && allowed.is_none_or(|cpus| cpus.contains(&facts.cpu))).then(|| {
        let progress = ClockProgress::start(output, "measuring", Duration::from_secs(2));
        let probes = Probes::measure(facts.cpu);
        drop(progress);
        probes
    });
    let findings = doctor::judge(&facts, probes.as_ref());
    Ok(Examination {
        format: Format::V1,
        verdict: match doctor::Verdict::of(&findings) {
            doctor::Verdict::Fit => Verdict::Fit,
            doctor::Verdict::Findings => Verdict::Findings,
            doctor::Verdict::Cannot => Verdict::Cannot,
        },
        root: wish.root.as_ref().map(|root| root.display().to_string()),
        kernel: facts.release.known().cloned(),
        cpus: facts.online.known().cloned(),
        cpu: facts.cpu,
        findings: findings.into_iter().map(finding).collect(),
        measured: probes.as_ref().map(measured),
    })
}

fn finding(finding: doctor::Finding) -> Finding {
    Finding {
        check: finding.check.to_owned(),
        title: finding.title.to_owned(),
        section: match finding.section {
            doctor::Section::Process => Section::Process,
            doctor::Section::Kernel => Section::Kernel,
            doctor::Section::Cpu => Section::Cpu,
            doctor::Section::Measured => Section::Measured,
        },
        required: finding.required,
        state: match finding.state {
            doctor::State::Good => State::Good,
            doctor::State::Note => State::Note,
            doctor::State::Unknown => State::Unknown,
            doctor::State::Matters => State::Matters,
            doctor::State::Missing => State::Missing,
        },
        basis: match finding.basis {
            doctor::Basis::Read => Basis::Read,
            doctor::Basis::Tried => Basis::Tried,
            doctor::Basis::Measured => Basis::Measured,
        },
        source: finding.source,
        found: finding.found,
        meaning: finding.meaning,
        remedy: finding.remedy,
    }
}

fn measured(probes: &Probes) -> Measured {
    Measured {
        fifo: probes.fifo,
        perf: probes.perf,
        wake_up: probes.wake_up.as_ref().ok().map(|probe| WakeUp {
            real_time: probe.real_time,
            lateness_ns: times(&probe.lateness),
        }),
        gaps: probes.gaps.as_ref().ok().map(|probe| Gaps {
            count: probe.gaps.count,
            longest_ns: probe.gaps.max,
            lost_ns: probe.gaps.sum,
            observed_ns: probe.observed_nanos,
        }),
        budgets: probes
            .budgets
            .iter()
            .map(|budget| Budget {
                monitor: budget.monitor.name().to_owned(),
                overshoot_ns: budget.overshoot.as_ref().ok().map(times),
            })
            .collect(),
        arming: probes.monitor.as_ref().map_or_else(|_| Vec::new(), tried),
        monitor: probes
            .monitor
            .as_ref()
            .ok()
            .map(|choice| choice.monitor().name().to_owned()),
    }
}

fn times(summary: &Summary) -> Times {
    Times {
        count: summary.count,
        min: summary.min,
        median: summary.median,
        p99: summary.p99,
        max: summary.max,
    }
}
