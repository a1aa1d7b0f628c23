//! Managed dispatch of servers: what a server gives is bounded by its budget, however short its jobs are.

use crate::support::{LO, alone_and_well, config, spec};
use std::sync::{Arc, Mutex};
use vestal_core::engine::Hierarchy;
use vestal_core::server::{ByLevel, ServerKind};
use vestal_core::{
    Duration, HierarchyConfiguration, LevelSet, LocalOrder, ServedTask, ServerConfiguration,
    ServerId, Service, TaskConfiguration,
};
use vestal_linux::fault::{Fault, own_cpu_nanos};
use vestal_linux::{BoxedScheduler, CpuSpec, Executive, JobContext, Monitor, Report};

const PERIOD_NANOS: u64 = 10_000_000;
const BUDGET_NANOS: u64 = 1_000_000;
const DEMAND_NANOS: u64 = 20_000;
const PERIODS: u64 = 300;

/// A deferrable server of 1 ms every 10 ms for all tasks.
fn one_server(tasks: &[TaskConfiguration], granularity: Service) -> Result<BoxedScheduler, String> {
    let server = ServerConfiguration {
        kind: ServerKind::Deferrable {
            period: Duration::from_nanos(PERIOD_NANOS),
            capacity: ByLevel::constant(Service::from_nanos(BUDGET_NANOS)),
        },
        priority: 1,
        criticality: LO,
        order: LocalOrder::FixedPriority,
    };
    let served = |entry: &TaskConfiguration| ServedTask {
        task: entry.task,
        server: ServerId(0),
        priority: entry.priority,
        on_behalf_of: None,
    };
    let served: Vec<ServedTask> = tasks.iter().map(served).collect();
    let engine = Hierarchy::new(&HierarchyConfiguration {
        servers: &[server],
        tasks: &served,
        devices: &[],
        levels: LevelSet::new(1).unwrap(),
        granularity,
        wake_granularity: Duration::ZERO,
    });
    Ok(Box::new(engine.map_err(|error| error.to_string())?))
}

/// What the worker's thread used in each period of the server, by its own clock, from where its body looked first in
/// one period to where it did in the next.
fn used_by_period(fault: Option<Fault>) -> (Vec<u64>, Report) {
    let looks = Arc::new(Mutex::new(Vec::with_capacity(2 * PERIODS as usize)));
    let seen = Arc::clone(&looks);
    let body = move |job: &mut JobContext<'_>| {
        while job.executed().as_nanos() < DEMAND_NANOS {
            let period = job
                .now()
                .saturating_since(vestal_core::Instant::EPOCH)
                .as_nanos()
                / PERIOD_NANOS;
            let mut looks = seen.lock().unwrap();
            if looks.last().is_none_or(|&(last, _)| last < period) {
                looks.push((period, own_cpu_nanos()));
            }
        }
        Ok(())
    };
    let mut task = spec("short", LO, 1, 1, &[1]);
    let period = Duration::from_micros(200);
    let demand = vestal_core::Wcet::new(&[Service::from_nanos(DEMAND_NANOS)]).unwrap();
    task.configuration.task = vestal_core::Task::new(LO, period, period, demand).unwrap();
    let mut executive = Executive::new(config(Monitor::Manager))
        .cpu(CpuSpec::managed(one_server))
        .task(task, body);
    if let Some(fault) = fault {
        executive = executive.with_fault(fault);
    }
    let report = executive
        .run(Duration::from_nanos(PERIOD_NANOS * PERIODS))
        .unwrap();
    let looks = looks.lock().unwrap().clone();
    let next = looks.windows(2).filter_map(|pair| match pair {
        [(period, before), (next, after)] if *next == period + 1 => Some(after - before),
        _ => None,
    });
    (next.collect(), report)
}

/// How many of the periods gave more than the budget and the granularity: what the manager found used beyond the budget
/// when it came, and what a thread used from there until it stood, in 99 of 100.
fn beyond(used: &[u64], report: &Report) -> usize {
    let detection = report.cpus[0].enforcement.overshoot.p99;
    let most = BUDGET_NANOS + detection + HOLD_NANOS;
    let mut sorted = used.to_vec();
    sorted.sort_unstable();
    println!(
        "{} periods, median {:?}, most {:?}, detection {detection}, hold {HOLD_NANOS}, overshoot {:?}",
        sorted.len(),
        sorted.get(sorted.len() / 2),
        sorted.last(),
        report.cpus[0].enforcement.overshoot
    );
    used.iter().filter(|&&used| used > most).count()
}

/// A signal's handler, and a job's way to it or to its end, on this kind of machine.
const HOLD_NANOS: u64 = 50_000;

#[test]
fn short_jobs_get_no_more_than_the_budget_of_their_server() {
    alone_and_well(|| {
        let (used, report) = used_by_period(None);
        assert!(used.len() as u64 > PERIODS * 9 / 10, "{}", used.len());
        let beyond = beyond(&used, &report);
        assert!(beyond * 100 <= used.len(), "{beyond}: {used:?}");
    });
}

#[test]
fn a_tolerance_for_each_job_gives_away_the_budget() {
    alone_and_well(|| {
        let (used, report) = used_by_period(Some(Fault::ChargesByJob));
        let beyond = beyond(&used, &report);
        assert!(beyond * 2 > used.len(), "{beyond}: {used:?}");
    });
}
