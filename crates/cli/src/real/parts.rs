//! What carrying a policy out took of the CPUs, in the parts of Sigrist et al. (2015, section VI-C).

use super::threads::on_all;
use vestal_linux::Report;
use vestal_linux::report::PartsReport;
use vestal_result::Ordered;
use vestal_result::run::{Parts, PerCpu};

/// What each part took of a CPU.
pub(super) fn of_cpu(found: &PartsReport) -> Ordered<u64> {
    let parts = found.parts.iter();
    parts
        .map(|(part, times)| (part.name(), times.sum))
        .collect()
}

/// What was taken of all CPUs.
pub(super) fn of_run(report: &Report) -> Parts {
    let interval = report.duration.as_nanos();
    let all = report.cpus.iter().map(|cpu| &cpu.parts);
    // Those of all CPUs are the same, in the same order.
    let named = report.cpus.first().map(|cpu| cpu.parts.parts.as_slice());
    let parts = named.unwrap_or_default().iter().map(|(part, _)| {
        let on_cpus = all.clone().flat_map(|found| &found.parts);
        let of_part = on_cpus.filter(|(other, _)| other == part);
        let each = of_part.map(|(_, times)| (*times, share(times.sum, interval)));
        (part.name(), on_all(&each.collect::<Vec<_>>()))
    });
    Parts {
        parts: parts.collect(),
        scheduler: per_cpu(
            all.clone().map(|found| found.scheduler().as_nanos()),
            interval,
        ),
        system: per_cpu(all.clone().map(|found| found.system.as_nanos()), interval),
    }
}

fn per_cpu(each: impl ExactSizeIterator<Item = u64> + Clone, interval: u64) -> PerCpu {
    let (count, max_ns) = (each.len().max(1) as u64, each.clone().max().unwrap_or(0));
    let sum = each.fold(0, u64::saturating_add);
    PerCpu {
        mean_ns: sum / count,
        max_ns,
        share: share(sum, interval.saturating_mul(count)),
        share_max: share(max_ns, interval),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for display")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The same for people.
pub(super) fn line(found: &Parts) -> String {
    let parts = found.parts.0.iter().map(|(name, cost)| {
        let share = cost.share.unwrap_or_default();
        format!("{name} {}", percent(share))
    });
    let parts: Vec<String> = parts.collect();
    let [scheduler, system] =
        [&found.scheduler, &found.system].map(|of| match of.share < of.share_max {
            true => format!(
                "{} ({} of one CPU)",
                percent(of.share),
                percent(of.share_max)
            ),
            false => percent(of.share),
        });
    format!(
        "scheduler overhead {scheduler} of the time: {}; system overhead {system}",
        parts.join(", ")
    )
}

fn percent(share: f64) -> String {
    format!("{:.3}%", share * 100.0)
}
