//! Traces of simulated and real runs: what stands in their header, who writes them, and to which
//! files.

#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only real runs have traces written so")
)]
mod behind;
mod files;
mod simulated;

#[cfg(target_os = "linux")]
pub(crate) use files::Reserved;
pub(crate) use files::{TraceFiles, check};
pub(crate) use simulated::{OfTask, recorded};

use crate::session::Session;
use std::collections::BTreeSet;
use vestal_core::{CpuId, Duration, Service, Task, TaskId};
use vestal_policy::{Cluster, System, parameters};
use vestal_trace::{Dispatch, DomainId, DomainInfo, Header, Scope, TaskInfo, World};
#[cfg(target_os = "linux")]
use vestal_trace::{Origin, ThreadInfo};

/// Everything that a replay needs beside the records of this world.
///
/// The task set stands there as it was understood, so that a replay does not depend on the spelling
/// of a file; the parameters are all that the system was built with.
pub(crate) fn header(session: &Session, world: World, dispatch: Dispatch) -> Header {
    let info = |name: &str, task: &Task| TaskInfo {
        name: name.to_owned(),
        criticality: task.criticality,
        period: task.period,
        deadline: task.deadline,
    };
    let tasks = session.set.tasks.iter().zip(&session.tasks);
    let mut tasks: Vec<TaskInfo> = tasks.map(|(spec, task)| info(&spec.name, task)).collect();
    let mut servers = Vec::new();
    if let Some(served) = session.configuration().servers() {
        servers.clone_from(&served.names);
        let halves = served.tasks.iter().skip(tasks.len());
        let devices = session.set.devices.iter().zip(halves);
        let devices = devices.map(|(spec, entry)| info(&spec.name, &entry.task));
        tasks.extend(devices.collect::<Vec<_>>());
    }
    Header {
        world,
        dispatch,
        options: session.system.options.pairs().to_vec(),
        parameters: parameters::to_file(&session.system.parameters, &session.set),
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
        seed: session.seed,
        levels: session.set.levels.clone(),
        task_set: session.set.to_toml(),
        tasks,
        servers,
        judges_misses: true,
        records_permits: dispatch == Dispatch::Native,
        cpus: session.system.cpus,
        ..Header::new(&session.system.policy)
    }
    .with_domains(domains(&session.system, world))
}

/// The header of a recording of a run that has begun: when it was, and by which threads.
#[cfg(target_os = "linux")]
pub(crate) fn with_origin(header: Header, started: vestal_linux::Started) -> Header {
    let of_name = |name: &str| {
        let found = header.tasks.iter().position(|task| task.name == name)?;
        u16::try_from(found).ok().map(TaskId)
    };
    let threads = started.threads.into_iter().map(|thread| ThreadInfo {
        tid: thread.tid,
        task: of_name(&thread.wanted).filter(|_| thread.works),
        name: thread.name,
    });
    let origin = Origin {
        process: std::process::id(),
        clock: started.clock,
        threads: threads.collect(),
    };
    Header {
        origin: Some(origin),
        ..header
    }
}

/// The domains of a system as a header names them: with the numbers of the task set, and called by their CPUs. On Linux
/// one manager decides for all domains of a cluster.
pub(crate) fn domains(system: &System, world: World) -> Vec<DomainInfo> {
    let mut domains = Vec::new();
    let mut names = BTreeSet::new();
    for (number, cluster) in (0..).zip(&system.clusters) {
        let task = |task: &TaskId| cluster.tasks.get(task.index()).copied();
        let cpu = |cpu: &CpuId| cluster.cpus.get(cpu.index()).copied();
        if world == World::Linux && cluster.domains.len() > 1 {
            domains.push(DomainInfo {
                name: name_of(cluster.cpus.first().copied(), &mut names),
                cluster: number,
                cpus: cluster.cpus.clone(),
                tasks: cluster.tasks.clone(),
            });
            continue;
        }
        for (place, domain) in cluster.domains.iter().enumerate() {
            domains.push(DomainInfo {
                name: name_of(cluster.own_cpu(place), &mut names),
                cluster: number,
                cpus: domain.cpus.iter().filter_map(cpu).collect(),
                tasks: domain.tasks.iter().filter_map(task).collect(),
            });
        }
    }
    domains
}

/// `CPU 2` for that CPU's own, `shared` for one of several domains; with a number if another domain is called so.
fn name_of(own: Option<CpuId>, names: &mut BTreeSet<String>) -> String {
    let name = own.map_or_else(|| "shared".to_owned(), |cpu| format!("CPU {}", cpu.0));
    let others = (2..).map(|number| format!("{name} ({number})"));
    let mut candidates = std::iter::once(name.clone()).chain(others);
    candidates
        .find(|name| names.insert(name.clone()))
        .unwrap_or(name)
}

/// By cluster the scopes of its domains, in the order in which [`header`] lists them: all of a cluster have its numbers.
pub(crate) fn scopes(system: &System) -> Vec<Vec<Scope>> {
    let mut numbers = (0..=u16::MAX).map(DomainId);
    let clusters = system.clusters.iter();
    let of_cluster = |cluster: &Cluster| {
        let domains = numbers.by_ref().take(cluster.domains.len());
        let scopes = domains.map(|domain| Scope::new(domain, &cluster.tasks, &cluster.cpus));
        scopes.collect()
    };
    clusters.map(of_cluster).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_codes_of_the_trace_crate_are_explained_under_its_titles() {
        let table = vestal_workload::codes::all();
        let explained: Vec<(String, &str)> = table
            .map(|info| (info.code.to_string(), info.title))
            .filter(|(code, _)| code.starts_with("V080") || code.starts_with("V081"))
            .collect();
        let named = vestal_trace::error::CODES.map(|(code, title)| (code.to_owned(), title));
        // The last one is about writing files, which is the command line's business.
        assert_eq!(explained[..named.len()], named);
        assert_eq!(explained.len(), named.len() + 1);
    }
}
