//! MC² with a domain for each CPU and one that they share: recorded in one stream, each replayed by itself.

use crate::domains::{homes, of_domain};
use crate::lanes::chart;
use std::cell::RefCell;
use vestal_core::engine::levelled::{
    Budgets, Container, CpuTable, Levelled, LevelledConfiguration, LevelledTask, LocalDomain,
    SharedDomain, TableSlot,
};
use vestal_core::*;
use vestal_testkit::short::task;
use vestal_testkit::world::World;
use vestal_trace::replay::{Failure, Mismatch, Replayed, replay_domains};
use vestal_trace::{
    DomainId, DomainInfo, Domains, Header, Record, Recorder, Scope, TaskInfo, What,
};

/// The CPUs of the only cluster, and its tasks, by their numbers in the file.
const CPUS: [CpuId; 2] = [CpuId(1), CpuId(0)];
const TASKS: [TaskId; 7] = [
    TaskId(4),
    TaskId(0),
    TaskId(6),
    TaskId(1),
    TaskId(2),
    TaskId(5),
    TaskId(3),
];
const TICKS: u64 = 120;

fn span(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}

/// Levels A and B on each CPU, C and D on both.
fn tasks() -> Vec<LevelledTask> {
    let (first, second) = (CpuId(0), CpuId(1));
    let entries = [
        (Container::Table(first), 3, 10, 3),
        (Container::Local(first), 2, 20, 4),
        (Container::Table(second), 3, 10, 4),
        (Container::Local(second), 2, 10, 2),
        (Container::Global, 1, 10, 3),
        (Container::Global, 1, 20, 6),
        (Container::BestEffort, 0, 15, 3),
    ];
    let entries = entries.into_iter();
    let entry = |(container, level, period, budget)| LevelledTask {
        task: task(level, period, &[budget]),
        container,
    };
    entries.map(entry).collect()
}

/// What is made of the configuration.
fn with<T>(make: impl FnOnce(&LevelledConfiguration<'_>) -> T) -> T {
    let slot = |start, length, task| TableSlot {
        start: span(start),
        length: span(length),
        task: TaskId(task),
    };
    let slots = [[slot(0, 3, 0)], [slot(2, 4, 2)]];
    let tables = slots.each_ref().map(|slots| CpuTable {
        cycle: span(10),
        slots,
    });
    make(&LevelledConfiguration {
        tasks: &tasks(),
        tables: &tables,
        backlog: 4,
        budgets: Budgets::Enforced,
        level_b: LevelB::EarliestDeadline,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    })
}

fn home(entry: &LevelledTask) -> Option<CpuId> {
    match entry.container {
        Container::Table(cpu) | Container::Local(cpu) => Some(cpu),
        Container::Global | Container::BestEffort => None,
    }
}

fn header() -> Header {
    let own = |wanted: Option<CpuId>| {
        let tasks = tasks().into_iter().zip(TASKS);
        let at_home = tasks.filter(|(entry, _)| home(entry) == wanted);
        at_home.map(|(_, number)| number).collect::<Vec<TaskId>>()
    };
    let mut infos: Vec<(TaskId, TaskInfo)> = tasks()
        .iter()
        .zip(TASKS)
        .map(|(entry, number)| {
            let info = TaskInfo {
                name: format!("tau{}", number.0),
                criticality: entry.task.criticality,
                period: entry.task.period,
                deadline: entry.task.deadline,
            };
            (number, info)
        })
        .collect();
    infos.sort_by_key(|(number, _)| *number);
    let domain = |name: &str, cpus: &[CpuId], home: Option<CpuId>| DomainInfo {
        name: name.to_owned(),
        cluster: 0,
        cpus: cpus.to_vec(),
        tasks: own(home),
    };
    Header {
        cpus: 2,
        levels: ["D", "C", "B", "A"].map(str::to_owned).to_vec(),
        tasks: infos.into_iter().map(|(_, info)| info).collect(),
        domains: vec![
            domain("CPU 1", &CPUS[..1], Some(CpuId(0))),
            domain("CPU 0", &CPUS[1..], Some(CpuId(1))),
            domain("shared", &CPUS, None),
        ],
        ..Header::new("mc2")
    }
}

fn scopes() -> [Scope; 3] {
    [0, 1, 2].map(|domain| Scope::new(DomainId(domain), &TASKS, &CPUS))
}

fn recording() -> Vec<Record> {
    let shared = RefCell::new(Domains::new(Vec::new()));
    let scopes = scopes();
    let end = Instant::from_nanos(TICKS);
    let engine = with(|configuration| {
        let local = |cpu: u16| {
            let domain: LocalDomain = LocalDomain::with_store(configuration, CpuId(cpu)).unwrap();
            Recorder::of_domain(domain, &shared, &scopes[usize::from(cpu)])
        };
        let domain: SharedDomain = SharedDomain::with_store(configuration).unwrap();
        let domain = Recorder::of_domain(domain, &shared, &scopes[2]);
        Levelled::with_domains(configuration, [0, 1].map(local), domain).unwrap()
    });
    let models: Vec<Task> = tasks().iter().map(|entry| entry.task).collect();
    // Jobs that need more than their budget go on with the next one.
    let need = |job: JobId| {
        let budget = tasks()[job.task.index()]
            .task
            .wcet
            .at(Level::LOWEST)
            .as_nanos();
        vec![(budget + job.sequence % 3).saturating_sub(1).max(1)]
    };
    let mut world = World::new(engine, 2, models.len(), need);
    for _ in 0..TICKS {
        let arrivals = world.periodic(&models);
        world.step(&arrivals);
        while world.engine.take_notice().is_some() {}
    }
    let (locals, common) = world.engine.into_domains();
    for local in locals {
        local.finish(end);
    }
    common.finish(end);
    std::mem::take(shared.borrow_mut().sink_mut())
}

fn again(records: &[Record]) -> Result<Replayed, Failure<()>> {
    let mut schedulers: Vec<(Scope, Box<dyn Scheduler>)> = with(|configuration| {
        let local = |cpu| LocalDomain::with_store(configuration, CpuId(cpu)).unwrap();
        let locals = [0, 1].map(|cpu| -> Box<dyn Scheduler> {
            let domain: LocalDomain = local(cpu);
            Box::new(domain)
        });
        let domain: SharedDomain = SharedDomain::with_store(configuration).unwrap();
        let shared: Box<dyn Scheduler> = Box::new(domain);
        let all = locals.into_iter().chain([shared]);
        scopes().into_iter().zip(all).collect()
    });
    let schedulers = schedulers.iter_mut();
    let schedulers = schedulers.map(|(scope, domain)| (scope.clone(), domain.as_mut()));
    replay_domains(
        &header(),
        records.iter().map(|record| Ok(*record)),
        schedulers,
    )
}

#[test]
fn each_domain_of_a_cluster_replays_clean_and_has_its_own_records_only() {
    let (header, records) = (header(), recording());
    let text = header.to_text();
    assert_eq!(Header::from_text(&text).as_ref(), Ok(&header));
    let replayed = again(&records).unwrap_or_else(|failure| panic!("{failure:?}"));
    assert_eq!(replayed.domains.len(), 3);
    assert!(
        replayed
            .domains
            .iter()
            .all(|own| own.decisions >= TICKS && own.facts > 50)
    );
    // Jobs of the lower levels go from one CPU to the other.
    let chart = chart(&header, &records);
    let migrates = |row: &vestal_trace::chart::Row| {
        let cpus = row.slices.iter().map(|slice| slice.cpu);
        cpus.collect::<std::collections::BTreeSet<CpuId>>().len() == 2
    };
    let shared = &header.domains[2].tasks;
    let migrating = chart
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| migrates(row));
    let migrating: Vec<TaskId> = migrating.map(|(task, _)| TaskId(task as u16)).collect();
    assert!(!migrating.is_empty());
    assert!(migrating.iter().all(|task| shared.contains(task)));
    // That a CPU is open is a fact of the shared domain alone.
    for domain in header.domain_ids() {
        let own = of_domain(&records, domain);
        let open = own
            .iter()
            .filter(|(_, record)| matches!(record.what, What::Fact(Fact::CpuOpen { .. })));
        assert_eq!(open.count() > 0, domain == DomainId(2));
    }
}

#[test]
fn a_fact_of_one_domain_is_found_in_another_of_the_same_cluster() {
    let records = recording();
    let homes = homes(&records);
    let (mut found, mut refused) = (0, 0);
    for index in records.len() / 2..records.len() {
        let record = records[index];
        let What::Fact(fact) = record.what else {
            continue;
        };
        let (own, other) = (homes[index], DomainId((homes[index].0 + 1) % 3));
        let word = |domain| Record {
            at: record.at,
            what: What::Domain { domain },
        };
        let mut changed = records.clone();
        changed.splice(index..=index, [word(other), record, word(own)]);
        let Err(Failure::Differs(difference)) = again(&changed) else {
            panic!("{record} of {own:?} in {other:?} was not found");
        };
        assert!(
            difference
                .domain
                .is_some_and(|domain| domain == own || domain == other)
        );
        found += 1;
        refused += u32::from(matches!(difference.why, Mismatch::Inconsistent(_)));
        // A publication that says otherwise is another schedule, or the same one: then nothing wanted the CPU.
        if let Fact::CpuOpen { cpu, open } = fact {
            let mut changed = records.clone();
            changed[index].what = What::Fact(Fact::CpuOpen { cpu, open: !open });
            let differs = again(&changed).is_err();
            assert!(
                differs || open,
                "{record}: a claim on a CPU that is not open"
            );
        }
    }
    assert!(found > 200 && refused > 0, "{found} {refused}");
}
