//! What the threads of a run cost that are not jobs, for the result of the run.

use super::linux::whole;
use crate::report::{self, BusyPeriods, Reaction, ThreadCosts, Wakeups};
use serde::Serialize;
use vestal_linux::report::{Overhead, ThreadCost};
use vestal_linux::{Report, Summary};

/// The run's own threads.
pub(super) fn costs(report: &Report) -> ThreadCosts {
    let threads = &report.threads;
    let thread = |cost: ThreadCost| report::ThreadCost {
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
                (reaction.duty.name(), Reaction { count, max })
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

#[derive(Serialize)]
struct Cost {
    count: u64,
    mean: f64,
    p99: u64,
    max: u64,
    share: f64,
}

/// What each mechanism cost, by its name.
pub(super) fn overhead(found: &[Overhead]) -> serde_json::Value {
    let entries = found.iter().map(|overhead| {
        let Summary {
            count,
            mean,
            p99,
            max,
            ..
        } = overhead.summary;
        let cost = Cost {
            count,
            mean,
            p99,
            max,
            share: overhead.share,
        };
        // Plain numbers always become a value.
        (
            overhead.mechanism.to_owned(),
            serde_json::to_value(cost).unwrap_or_default(),
        )
    });
    serde_json::Value::Object(entries.collect())
}
