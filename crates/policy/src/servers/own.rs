//! Servers that no file has: of tasks in none, and in the place of PIBS.

use super::common::{period_of, ranks};
use super::hosts::Hosts;
use super::rules::{LooseTasks, ServerRules};
use crate::refusal::Refusal;
use std::borrow::Cow;
use std::cmp::Reverse;
use vestal_analysis::parameters::{ServerBudget, ServerParameters};
use vestal_core::{Level, Service, Utilization};
use vestal_workload::diagnostic::quote;
use vestal_workload::model::{
    LocalScheduler, PerLevel, ServerKind, ServerPlaces, ServerRule, ServerSpec, TaskSpec,
};
use vestal_workload::{Ratio, TaskSet};

const SPORADIC: ServerRule = ServerRule::Sporadic {
    replenishments: None,
    full: None,
};

/// What the servers of a set are called that policies and tests see: those of the file, and behind them one for each
/// task that is in none of them.
#[must_use]
pub fn server_names(set: &TaskSet) -> Vec<String> {
    let all = with_own(set);
    all.servers
        .iter()
        .map(|server| server.name.clone())
        .collect()
}

/// The set as a policy of these rules sees it.
pub(super) fn seen<'a>(set: &'a TaskSet, rules: &ServerRules) -> Cow<'a, TaskSet> {
    match rules.loose {
        LooseTasks::Refused => Cow::Borrowed(set),
        LooseTasks::OwnSporadic => with_own(set),
    }
}

/// The set with a sporadic server of its own for each task that is in none.
pub(crate) fn with_own(set: &TaskSet) -> Cow<'_, TaskSet> {
    let mut is_served = vec![false; set.tasks.len()];
    for task in set.servers.iter().flat_map(|server| &server.tasks) {
        if let Some(served) = is_served.get_mut(*task) {
            *served = true;
        }
    }
    if is_served.iter().all(|served| *served) {
        return Cow::Borrowed(set);
    }
    let mut all = set.clone();
    // Servers are in an order that the file gives or does not; a task's priority is its place in its server otherwise.
    let given = set.servers.iter().any(|server| server.priority.is_some());
    let takes_priority = given || set.servers.is_empty();
    let tasks = set.tasks.iter().enumerate().zip(is_served);
    for ((place, task), _) in tasks.filter(|(_, served)| !served) {
        let name = free_name(&all, &task.name);
        all.servers.push(ServerSpec {
            name,
            priority: task.priority.filter(|_| takes_priority),
            ..of_its_own(set, task, place)
        });
    }
    Cow::Owned(all)
}

/// A name that no server has.
fn free_name(set: &TaskSet, task: &str) -> String {
    let mut name = task.to_owned();
    while set.servers.iter().any(|server| server.name == name) {
        name.push('\'');
    }
    name
}

/// A server (C(l), T) that has the task alone. Above its level it has no more than at it, whatever its `degraded` says.
fn of_its_own(set: &TaskSet, task: &TaskSpec, place: usize) -> ServerSpec {
    let own = task.criticality;
    let whole = Service::supplied_during(task.period);
    let at = |values: &PerLevel<Service>, level: Level| {
        let value = values.get(level.index()).copied().flatten();
        Some(value?.min(whole))
    };
    let most = at(&task.wcet, own);
    let levels = || (0..u8::MAX).map(Level).take(set.levels.len());
    let upto = |level: Level| at(&task.wcet, level).filter(|_| level <= own);
    let above = |level: Level| {
        let degraded = at(&task.degraded, level).filter(|_| level > own)?;
        most.map(|most| degraded.min(most))
    };
    ServerSpec {
        name: String::new(),
        kind: ServerKind::Periodic {
            rule: SPORADIC,
            period: task.period,
            capacity: levels().map(upto).collect(),
        },
        criticality: own,
        priority: None,
        cpu: task.cpu,
        degraded: levels().map(above).collect(),
        scheduler: LocalScheduler::FixedPriority,
        tasks: vec![place],
        place: task.places.name,
        places: ServerPlaces::at(task.places.name),
    }
}

/// The set with a sporadic server in the place of each PIBS, and the order of its servers; `order` is the one before.
pub(super) fn without_pibs(set: &TaskSet, hosts: &Hosts, order: &[u32]) -> (TaskSet, Vec<u32>) {
    let mut all = set.clone();
    let mut keys: Vec<Option<u64>> = Vec::with_capacity(order.len());
    for (place, server) in all.servers.iter_mut().enumerate() {
        let host = match period_of(server) {
            Some(_) => Some(place),
            None => host_of(set, hosts, order, place),
        };
        let period = host.and_then(|host| period_of(set.servers.get(host)?));
        // Behind its host, before whom that precedes.
        let rank = host.and_then(|host| order.get(host)).copied();
        let behind = u64::from(host != Some(place));
        keys.push(rank.map(|rank| u64::from(u32::MAX - rank) * 2 + behind));
        let ServerKind::Pibs { utilization, .. } = &server.kind else {
            continue;
        };
        // Without a host it was refused.
        let Some(period) = period else { continue };
        let capacity = |share: &Option<Ratio>| {
            let share = (*share)?;
            let share = Utilization::new(share.numerator(), share.denominator())?;
            Some(share.of_floor(period)).filter(|capacity| !capacity.is_zero())
        };
        let capacity: PerLevel<Service> = utilization.iter().map(capacity).collect();
        server.degraded.clone_from(&capacity);
        server.kind = ServerKind::Periodic {
            rule: SPORADIC,
            period,
            capacity,
        };
    }
    (all, ranks(keys.into_iter()))
}

/// The most urgent server on whose behalf something runs in a PIBS.
fn host_of(set: &TaskSet, hosts: &Hosts, order: &[u32], pibs: usize) -> Option<usize> {
    let devices = set.devices.iter().zip(&hosts.of_devices);
    let devices = devices.filter(|(device, _)| device.server == pibs);
    let known = devices.filter_map(|(_, host)| *host);
    let most_urgent = known.min_by_key(|place| (Reverse(order.get(*place)), *place));
    most_urgent.or_else(|| hosts.of_servers.get(pibs).copied().flatten())
}

/// Makes priority, period and budget up to the own level of each server those of `given`; above it a server keeps what it
/// has. The priority of a PIBS means nothing.
///
/// # Errors
/// Not one for each server, or one of another kind.
pub(super) fn give(set: &mut TaskSet, given: &[ServerParameters]) -> Result<(), Refusal> {
    if given.len() != set.servers.len() {
        let (found, servers) = (given.len(), set.servers.len());
        return Err(Refusal::input(format!(
            "parameters of {found} servers, but there are {servers}"
        ))
        .with_help(
            "parameters of servers are for all of the set, with those of tasks that are in none",
        ));
    }
    for (server, given) in set.servers.iter_mut().zip(given) {
        match (&given.budget, &mut server.kind) {
            (
                ServerBudget::Capacity {
                    period: new,
                    by_level,
                },
                ServerKind::Periodic {
                    period, capacity, ..
                },
            ) => {
                *period = *new;
                replace(capacity, by_level, |time| {
                    Some(Service::supplied_during(*time))
                });
                server.priority = Some(given.priority);
            }
            (ServerBudget::Utilization { by_level }, ServerKind::Pibs { utilization, .. }) => {
                replace(utilization, by_level, |share| {
                    Ratio::new(share.numerator, share.denominator)
                });
            }
            (ServerBudget::Capacity { .. }, ServerKind::Pibs { .. }) => {
                let found = "`period` and `capacity`";
                let expected = "a PIBS, which has `utilization`";
                let help = "give it `utilization` there; `bottom-halves=sporadic` puts a sporadic server, which has \
                            them, in the place of each PIBS";
                return Err(other_kind(&server.name, (found, expected)).with_help(help));
            }
            (ServerBudget::Utilization { .. }, ServerKind::Periodic { .. }) => {
                let expected = "a server with `period` and `capacity`";
                let help = "give it these there, or leave `bottom-halves=sporadic` out, which puts a sporadic server in \
                            the place of each PIBS";
                return Err(other_kind(&server.name, ("`utilization`", expected)).with_help(help));
            }
        }
    }
    Ok(())
}

fn other_kind(server: &str, (found, expected): (&str, &str)) -> Refusal {
    let name = quote(server);
    Refusal::input(format!(
        "the parameters give {found} of {name}, which is {expected}"
    ))
}

/// The first values.
fn replace<T, U>(values: &mut PerLevel<T>, new: &[U], of: impl Fn(&U) -> Option<T>) {
    for (value, new) in values.iter_mut().zip(new) {
        *value = of(new);
    }
}
