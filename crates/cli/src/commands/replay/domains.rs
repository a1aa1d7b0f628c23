//! Recordings of several scheduling domains: each is decided again by a scheduler of its own.
//!
//! A cluster of one domain has an engine or a guard, which knows its tasks and CPUs by their places in the cluster.
//! Levels that share CPUs have a scheduler for each domain; other domains that share a cluster are not decided again
//! yet.

use super::{jobs, precision, ranks, scheduler};
use crate::failure::Failure;
use std::fmt::Write as _;
use vestal_core::{CpuId, Scheduler};
use vestal_policy::{Levels, System};
use vestal_result::replay::ReplayedDomain;
use vestal_trace::replay::{self, Replayed};
use vestal_trace::{DomainId, Header, Record, Scope};

/// Why the trace cannot be replayed with a task set that the policy divides otherwise.
pub(super) fn others(what: &str) -> Failure {
    let why = "its tasks are in other domains than in the trace, so the facts were told to other schedulers";
    Failure::input(what, why).with_help("replay the trace without FILE, or record a run of FILE")
}

/// Replays records with a fresh scheduler for each domain of the system, which are those of the header.
///
/// # Errors
/// Domains that share a cluster; a scheduler that cannot be made.
pub(super) fn replay<E>(
    header: &Header,
    records: impl IntoIterator<Item = Result<Record, E>>,
    system: &System,
    what: &str,
) -> Result<Result<Replayed, replay::Failure<E>>, Failure> {
    let mut schedulers: Vec<(Scope, Box<dyn Scheduler>)> = Vec::new();
    let scopes = crate::tracing::scopes(system);
    for (cluster, scopes) in system.clusters.iter().zip(scopes) {
        if let Some(levels) = cluster.configuration.levels() {
            schedulers.extend(scopes.into_iter().zip(of_levels(header, levels, what)?));
            continue;
        }
        let [alone] = scopes.as_slice() else {
            let why = format!(
                "{} domains decide together about {}, and this version replays domains that decide by themselves only",
                scopes.len(),
                cpus(&cluster.cpus)
            );
            return Err(Failure::input(what, why)
                .with_help("`vestal report` draws the trace; nothing decides it again yet"));
        };
        schedulers.push((
            alone.clone(),
            scheduler(header, &cluster.configuration, what)?,
        ));
    }
    let schedulers = schedulers
        .iter_mut()
        .map(|(scope, scheduler)| (scope.clone(), scheduler.as_mut()));
    Ok(replay::replay_domains(header, records, schedulers))
}

/// The domain of each CPU and the shared one, in the order in which the header has them.
fn of_levels(
    header: &Header,
    levels: &Levels,
    what: &str,
) -> Result<Vec<Box<dyn Scheduler>>, Failure> {
    let precision = precision(header);
    let refused = |refusal| Failure::refused(what, refusal);
    let mut domains: Vec<Box<dyn Scheduler>> = Vec::new();
    for cpu in levels.cpus() {
        let local = levels.local(cpu, precision).map_err(refused)?;
        domains.push(Box::new(local));
    }
    let shared = levels.shared(precision).map_err(refused)?;
    domains.push(Box::new(shared));
    Ok(domains)
}

fn cpus(cpus: &[CpuId]) -> String {
    let numbers: Vec<String> = cpus.iter().map(|cpu| cpu.0.to_string()).collect();
    format!("CPU {}", numbers.join(", "))
}

/// By task of the set: how urgent it is among those of its cluster, and the first CPU of that.
pub(super) fn order(system: &System) -> (Vec<u32>, Vec<CpuId>) {
    let tasks = system.clusters.iter().map(|cluster| cluster.tasks.len());
    let count = tasks.sum();
    let (mut priorities, mut placement) = (vec![0; count], vec![CpuId(0); count]);
    for cluster in &system.clusters {
        let cpu = cluster.cpus.first().copied().unwrap_or(CpuId(0));
        for (task, rank) in cluster.tasks.iter().zip(ranks(&cluster.configuration)) {
            if let Some(entry) = priorities.get_mut(task.index()) {
                *entry = rank;
            }
            if let Some(entry) = placement.get_mut(task.index()) {
                *entry = cpu;
            }
        }
    }
    (priorities, placement)
}

/// What the domain of a difference is called; `None` if the trace names no domains.
pub(super) fn name(header: &Header, domain: Option<DomainId>) -> Option<String> {
    domain.map(|domain| header.domain_name(domain))
}

/// A line for each domain; nothing if there is only one.
pub(super) fn page(header: &Header, replayed: &Replayed) -> String {
    let mut text = String::new();
    for (domain, summary) in header.domains.iter().zip(&replayed.domains) {
        let counts = &summary.counts;
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "{}: {} facts, {} decisions, {} permits, {} notices; {} jobs, {} missed; {} changes of its mode",
            domain.name,
            summary.facts,
            summary.decisions,
            summary.permits,
            summary.notices,
            counts.released,
            counts.missed,
            counts.mode_changes
        );
    }
    text
}

/// The same for programs. Without an outcome only the domains themselves are known.
pub(super) fn documents(header: &Header, replayed: Option<&Replayed>) -> Vec<ReplayedDomain> {
    let document = |(domain, info): (DomainId, &vestal_trace::DomainInfo)| {
        let summary = replayed.and_then(|replayed| replayed.domains.get(domain.index()));
        let task = |task: &vestal_core::TaskId| header.tasks.get(task.index());
        let tasks = info.tasks.iter().filter_map(task);
        ReplayedDomain {
            name: info.name.clone(),
            cpus: info.cpus.iter().map(|cpu| cpu.0).collect(),
            tasks: tasks.map(|task| task.name.clone()).collect(),
            records: summary.map(|summary| summary.records),
            facts: summary.map(|summary| summary.facts),
            decisions: summary.map(|summary| summary.decisions),
            permits: summary.map(|summary| summary.permits),
            notices: summary.map(|summary| summary.notices),
            jobs: summary.map(jobs),
            modes: summary.map(|summary| summary.counts.mode_changes),
        }
    };
    header
        .domain_ids()
        .zip(&header.domains)
        .map(document)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format as PrintFormat;
    use crate::commands::replay::{Found, document, page as whole_page};
    use crate::output::Output;
    use std::cell::RefCell;
    use std::path::Path;
    use vestal_analysis::Parameters;
    use vestal_core::{
        DeadlineQueues, Duration, Enforcement, Exhaustion, Instant, JobId, Level, LevelSet,
        TaskConfiguration, TaskId, TaskOrder,
    };
    use vestal_policy::{
        Cluster, Configuration, Domain, Guarantee, OneCpu, Options, Precision, Proof, Terms,
    };
    use vestal_testkit::short::task;
    use vestal_testkit::world::World;
    use vestal_trace::{Domains, Recorder, TaskInfo, What};

    /// The tasks of the set: name, level, period, execution times.
    const TASKS: [(&str, u8, u64, &[u64]); 4] = [
        ("a", 0, 6, &[2]),
        ("b", 1, 10, &[2, 4]),
        ("c", 0, 5, &[1]),
        ("d", 1, 8, &[3, 5]),
    ];

    /// Tasks on a CPU, under earliest virtual deadlines or by priorities.
    fn cluster(cpu: u16, own: &[u16], by_deadline: bool) -> Cluster {
        let entries = own.iter().zip(1..).map(|(number, priority)| {
            let (_, level, period, wcet) = TASKS[usize::from(*number)];
            TaskConfiguration::new(task(level, period, wcet), priority)
        });
        let entries: Vec<TaskConfiguration> = entries.collect();
        let due = entries.iter().map(|entry| {
            let deadline = entry.task.deadline.as_nanos();
            let level = u64::from(entry.task.criticality.0);
            Duration::from_nanos(deadline - level * deadline / 3)
        });
        let virtual_deadlines: Vec<Duration> = due.collect();
        let order = match by_deadline {
            true => TaskOrder::EarliestDeadline {
                virtual_deadlines: virtual_deadlines.into(),
                queues: DeadlineQueues::One,
            },
            false => TaskOrder::FixedPriority,
        };
        let domain = Domain {
            cpus: vec![CpuId(0)],
            tasks: (0..own.len() as u16).map(TaskId).collect(),
            guarantee: Guarantee::new(Terms::Tardiness(Vec::new()), Proof::NotAsked),
        };
        Cluster {
            cpus: vec![CpuId(cpu)],
            tasks: own.iter().copied().map(TaskId).collect(),
            configuration: Configuration::OneCpu(OneCpu {
                tasks: entries,
                levels: LevelSet::new(2).unwrap(),
                enforcement: Enforcement::Adaptive,
                exhaustion: Exhaustion::Background,
                order,
            }),
            domains: vec![domain],
        }
    }

    /// Two clusters whose numbers are not those of the set.
    fn system(by_deadline: bool) -> System {
        System {
            cpus: 2,
            policy: "pedf-vd".to_owned(),
            options: Options::default(),
            parameters: Parameters::default(),
            clusters: vec![
                cluster(1, &[2, 1], by_deadline),
                cluster(0, &[3, 0], by_deadline),
            ],
            origin: "a test".to_owned(),
        }
    }

    fn header(system: &System) -> Header {
        let tasks = TASKS.map(|(name, level, period, _)| TaskInfo {
            name: name.to_owned(),
            criticality: Level(level),
            period: Duration::from_nanos(period),
            deadline: Duration::from_nanos(period),
        });
        Header {
            cpus: 2,
            levels: vec!["LO".to_owned(), "HI".to_owned()],
            tasks: tasks.to_vec(),
            ..Header::new(&system.policy)
        }
        .with_domains(crate::tracing::domains(
            system,
            vestal_trace::World::Simulator,
        ))
    }

    /// A run over 60 ticks in which every third job of each task takes as long as its highest level allows.
    fn recording(system: &System) -> (Header, Vec<Record>) {
        let header = header(system);
        let shared = RefCell::new(Domains::new(Vec::new()));
        let scopes: Vec<Scope> = (0..)
            .zip(&system.clusters)
            .map(|(number, cluster)| Scope::new(DomainId(number), &cluster.tasks, &cluster.cpus))
            .collect();
        let mut worlds = Vec::new();
        for (cluster, scope) in system.clusters.iter().zip(&scopes) {
            let engine = cluster.configuration.engine(Precision::EXACT).unwrap();
            let recorder = Recorder::of_domain(engine.boxed(), &shared, scope);
            let tasks: Vec<_> = cluster.configuration.tasks().iter().collect();
            let tasks: Vec<vestal_core::Task> = tasks.iter().map(|entry| entry.task).collect();
            let own = tasks.clone();
            let need = move |job: JobId| {
                let task = &own[job.task.index()];
                let level = if job.sequence % 3 == 2 {
                    task.criticality
                } else {
                    Level::LOWEST
                };
                vec![task.wcet.at(level).as_nanos()]
            };
            worlds.push((World::new(recorder, 1, tasks.len(), need), tasks));
        }
        for _ in 0..60 {
            for (world, tasks) in &mut worlds {
                let arrivals = world.periodic(tasks.iter());
                world.step(&arrivals);
                while world.engine.take_notice().is_some() {}
            }
        }
        for (world, _) in worlds {
            world.engine.finish(Instant::from_nanos(60));
        }
        (header, shared.into_inner().into_inner())
    }

    fn found(header: &Header, records: &[Record], system: &System) -> Found {
        let sure = records.iter().map(|record| Ok::<_, ()>(*record));
        let outcome = match replay(header, sure, system, "replay x").unwrap() {
            Ok(replayed) => Ok(replayed),
            Err(replay::Failure::Differs(difference)) => Err(difference),
            Err(replay::Failure::Unreadable(())) => unreachable!("records in memory"),
        };
        Found {
            header: header.clone(),
            outcome,
            inversion: None,
            levels: None,
            windows: Vec::new(),
            lists: Vec::new(),
            task_set: Vec::new(),
        }
    }

    #[test]
    fn each_domain_is_decided_again_and_told_of_by_its_name() {
        let system = system(true);
        let (header, records) = recording(&system);
        let found = found(&header, &records, &system);
        let document = document(Path::new("x.csv"), &found);
        assert!(document.equal);
        assert_eq!(document.records, records.len() as u64);
        let [first, second] = document.domains.as_slice() else {
            panic!("two domains: {document:?}");
        };
        assert_eq!(
            (first.name.as_str(), second.name.as_str()),
            ("CPU 1", "CPU 0")
        );
        assert_eq!((&first.cpus, &second.cpus), (&vec![1], &vec![0]));
        assert_eq!(
            (&first.tasks[..], &second.tasks[..]),
            (
                &["c", "b"].map(str::to_owned)[..],
                &["d", "a"].map(str::to_owned)[..]
            )
        );
        assert_eq!((first.decisions, second.decisions), (Some(60), Some(60)));
        assert_eq!(document.decisions, Some(120));
        let released = |own: &ReplayedDomain| own.jobs.as_ref().unwrap().released;
        assert_eq!((released(first), released(second)), (12 + 6, 8 + 10));
        assert_eq!(document.jobs.as_ref().unwrap().released, 36);
        let modes = (first.modes.unwrap(), second.modes.unwrap());
        assert!(modes.0 > 0 && modes.1 > 0, "{modes:?}");
        assert_eq!(document.modes, Some(modes.0 + modes.1));
        let page = whole_page(
            Path::new("x.csv"),
            &found,
            &document,
            &Output::new(PrintFormat::Human),
        );
        for line in ["CPU 1: ", "CPU 0: ", "120 decisions", "every plan is equal"] {
            assert!(page.contains(line), "{page}");
        }
    }

    #[test]
    fn a_difference_names_its_domain() {
        let system = system(true);
        let (header, mut records) = recording(&system);
        let mut domain = DomainId::FIRST;
        let place = records.iter().position(|record| {
            if let What::Domain { domain: next } = record.what {
                domain = next;
            }
            domain == DomainId(1) && matches!(record.what, What::Decided { .. })
        });
        let place = place.unwrap();
        if let What::Decided { hash, .. } = &mut records[place].what {
            *hash ^= 1;
        }
        let found = found(&header, &records, &system);
        let document = document(Path::new("x.csv"), &found);
        let difference = document.difference.as_ref().unwrap();
        assert_eq!(difference.domain.as_deref(), Some("CPU 0"));
        assert_eq!(difference.number, place as u64);
        // Which domains there are is known all the same; what the rest would be is not.
        assert!(document.domains.iter().all(|domain| domain.facts.is_none()));
        let page = whole_page(
            Path::new("x.csv"),
            &found,
            &document,
            &Output::new(PrintFormat::Human),
        );
        let expected = format!("The replay differs at record {place}, in the domain CPU 0.");
        assert!(page.contains(&expected), "{page}");
    }

    #[test]
    fn another_system_decides_otherwise_in_the_domain_that_changed() {
        let system = system(true);
        let (header, records) = recording(&system);
        let mut other = system.clone();
        if let Configuration::OneCpu(one) = &mut other.clusters[1].configuration {
            one.order = TaskOrder::FixedPriority;
        }
        let found = found(&header, &records, &other);
        assert_eq!(found.outcome.unwrap_err().domain, Some(DomainId(1)));
    }

    #[test]
    fn domains_that_share_a_cluster_are_refused() {
        let mut system = system(true);
        let (header, records) = recording(&system);
        let again = system.clusters[0].domains[0].clone();
        system.clusters[0].domains.push(again);
        let sure = records.iter().map(|record| Ok::<_, ()>(*record));
        let refused = replay(&header, sure, &system, "replay x").unwrap_err();
        assert!(
            refused
                .why
                .contains("2 domains decide together about CPU 1"),
            "{refused:?}"
        );
    }

    #[test]
    fn priorities_and_cpus_have_the_numbers_of_the_set() {
        let (priorities, placement) = order(&system(false));
        assert_eq!(placement, [CpuId(0), CpuId(1), CpuId(1), CpuId(0)]);
        // In each cluster the task that stands later has the higher priority.
        assert_eq!(priorities, [2, 2, 1, 1]);
    }

    #[test]
    fn domains_on_the_same_cpus_have_different_names() {
        let mut system = system(true);
        let again = system.clusters[0].domains[0].clone();
        system.clusters[0].domains.push(again);
        let names = crate::tracing::domains(&system, vestal_trace::World::Simulator);
        let names: Vec<&str> = names.iter().map(|domain| domain.name.as_str()).collect();
        assert_eq!(names, ["CPU 1", "shared", "CPU 0"]);
    }
}
