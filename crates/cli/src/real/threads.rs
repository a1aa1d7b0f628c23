//! What the threads of a run cost that are not jobs, for the result of the run.

use super::outcome::whole;
use crate::quantity::short;
use std::collections::BTreeMap;
use vestal_linux::report::{self, CpuReport};
use vestal_linux::{Report, Summary};
use vestal_result::run::{BusyPeriods, Cost, Reaction, ThreadCost, ThreadCosts, Wakeups};

/// The run's own threads, those of all CPUs together, also of one that has no jobs.
pub(super) fn costs(report: &Report) -> ThreadCosts {
    let mut costs = ThreadCosts::default();
    add_cost(&mut costs.watchdog, report.watchdog);
    for threads in report.all_cpus().map(|cpu| &cpu.threads) {
        add_cost(&mut costs.manager, threads.manager);
        add_cost(&mut costs.idle, threads.idle);
        add_cost(&mut costs.dispatcher, threads.dispatcher);
        add_cost(&mut costs.checkers, threads.checkers);
        add_cost(&mut costs.top_half, threads.top_half);
        costs.workers_cpu_ns += threads.workers.as_nanos();
        add_wakeups(&mut costs.wakeups, &threads.wakeups);
        for reaction in &threads.reactions {
            let name = reaction.duty.name().to_owned();
            let all = costs.reactions_ns.entry(name);
            let all = all.or_insert(Reaction { count: 0, max: 0 });
            all.count += reaction.count;
            all.max = all.max.max(reaction.longest.as_nanos());
        }
    }
    costs
}

const fn add_cost(all: &mut ThreadCost, cost: report::ThreadCost) {
    all.cpu_ns += cost.cpu.as_nanos();
    all.voluntary += cost.voluntary;
    all.involuntary += cost.involuntary;
}

const fn add_wakeups(all: &mut Wakeups, woken: &report::Wakeups) {
    all.completion += woken.completion;
    all.release += woken.release;
    all.device += woken.device;
    all.budget += woken.budget;
    all.timer += woken.timer;
    all.idle += woken.idle;
    all.beat += woken.beat;
    all.other += woken.other;
}

/// What it cost to hear of devices, if there are any.
pub(super) fn top_half(cpus: &[CpuReport]) -> Option<String> {
    let devices = || cpus.iter().flat_map(|cpu| &cpu.devices);
    devices().next()?;
    let used = cpus.iter().map(|cpu| cpu.threads.top_half.cpu.as_nanos());
    let [wakes, spurious]: [u64; 2] = [
        devices().map(|device| device.wakes).sum(),
        devices().map(|device| device.spurious).sum(),
    ];
    Some(format!(
        "the top half found devices ready {wakes} times, {spurious} of them masked ones, and used {} of CPU time",
        short(used.sum())
    ))
}

/// How often jobs woke a manager: all but its signs of life.
pub(super) const fn by_jobs(woken: &Wakeups) -> u64 {
    let by_decider = woken.budget + woken.timer + woken.idle + woken.other;
    woken.completion + woken.release + woken.device + by_decider
}

/// The busy periods of a run, those of all CPUs together; their median is the largest of the CPUs'.
pub(super) fn busy_periods(cpus: &[CpuReport]) -> BusyPeriods {
    let all = cpus.iter().map(|cpu| &cpu.busy_periods);
    let lengths = all.clone().map(|busy| busy.length);
    let length = lengths.fold(Summary::default(), |all, each| all.and(&each));
    BusyPeriods {
        count: all.clone().map(|busy| busy.count).sum(),
        median_ns: length.median,
        mean_ns: whole(length.mean),
        max_ns: length.max,
        switches: all.map(|busy| busy.switches).sum(),
    }
}

/// Thread switches for each busy period, on average; 0 if there was none.
#[expect(clippy::cast_precision_loss, reason = "a figure for display")]
pub(super) fn switches_each(busy: &BusyPeriods) -> f64 {
    if busy.count == 0 {
        return 0.0;
    }
    busy.switches as f64 / busy.count as f64
}

/// What each mechanism cost on all CPUs, by its name; its share is that of the time of all of them.
pub(super) fn overhead(cpus: &[CpuReport]) -> BTreeMap<String, Cost> {
    let mut all: BTreeMap<&str, Vec<(Summary, f64)>> = BTreeMap::new();
    for found in cpus.iter().flat_map(|cpu| &cpu.overhead) {
        let each = all.entry(found.mechanism).or_default();
        each.push((found.summary, found.share));
    }
    let entries = all.into_iter();
    let entries = entries.map(|(name, each)| (name.to_owned(), on_all(&each)));
    entries.collect()
}

/// What cost so much on each CPU, with its share of that CPU's time.
#[expect(clippy::cast_precision_loss, reason = "a handful of CPUs")]
pub(super) fn on_all(each: &[(Summary, f64)]) -> Cost {
    let summary = each.iter().map(|(summary, _)| summary);
    let summary = summary.fold(Summary::default(), |all, each| all.and(each));
    let shares = each.iter().map(|(_, share)| *share);
    Cost {
        count: summary.count,
        mean: Some(summary.mean),
        p99: Some(summary.p99),
        max: Some(summary.max),
        share: Some(shares.clone().sum::<f64>() / each.len().max(1) as f64),
        share_max: Some(shares.fold(0.0, f64::max)),
    }
}
