//! What the threads of a run cost that are not jobs, for the result of the run.

use super::linux::whole;
use std::collections::BTreeMap;
use vestal_linux::Report;
use vestal_linux::report::{self, Overhead};
use vestal_result::run::{BusyPeriods, Cost, Reaction, ThreadCost, ThreadCosts, Wakeups};

/// The run's own threads.
pub(super) fn costs(report: &Report) -> ThreadCosts {
    let threads = &report.threads;
    let thread = |cost: report::ThreadCost| ThreadCost {
        cpu_ns: cost.cpu.as_nanos(),
        voluntary: cost.voluntary,
        involuntary: cost.involuntary,
    };
    let woken = threads.wakeups;
    ThreadCosts {
        manager: thread(threads.manager),
        idle: thread(threads.idle),
        watchdog: thread(threads.watchdog),
        workers_cpu_ns: threads.workers.as_nanos(),
        wakeups: Wakeups {
            completion: woken.completion,
            release: woken.release,
            budget: woken.budget,
            timer: woken.timer,
            idle: woken.idle,
            beat: woken.beat,
            other: woken.other,
        },
        reactions_ns: threads
            .reactions
            .iter()
            .map(|reaction| {
                let (count, max) = (reaction.count, reaction.longest.as_nanos());
                (reaction.duty.name().to_owned(), Reaction { count, max })
            })
            .collect(),
    }
}

/// The busy periods of a run.
pub(super) fn busy_periods(report: &Report) -> BusyPeriods {
    let busy = &report.busy_periods;
    BusyPeriods {
        count: busy.count,
        median_ns: busy.length.median,
        mean_ns: whole(busy.length.mean),
        max_ns: busy.length.max,
        switches: busy.switches,
    }
}

/// What each mechanism cost, by its name.
pub(super) fn overhead(found: &[Overhead]) -> BTreeMap<String, Cost> {
    let entries = found.iter().map(|overhead| {
        let summary = &overhead.summary;
        let cost = Cost {
            count: summary.count,
            mean: Some(summary.mean),
            p99: Some(summary.p99),
            max: Some(summary.max),
            share: Some(overhead.share),
        };
        (overhead.mechanism.to_owned(), cost)
    });
    entries.collect()
}
