//! What policies share that give each task a CPU of its own and decide each CPU by itself.

use crate::configuration::{Configuration, OneCpu};
use crate::policy::About;
use crate::setup::Setup;
use crate::system::{Cluster, Domain, Guarantee, System, Terms};
use vestal_analysis::Parameters;
use vestal_core::{CpuId, TaskId};

/// A CPU for each task: the given one, or else, in the order of the file, the CPU that has the least to do by
/// then, in terms of what its tasks need at their own levels. Of equal ones the first.
pub(super) fn complete(setup: &Setup<'_>, given: &[Option<CpuId>]) -> Vec<CpuId> {
    let mut loads = vec![0u64; usize::from(setup.set.platform.cpus.max(1))];
    let given = given.iter().copied().chain(std::iter::repeat(None));
    let placed: Vec<Option<CpuId>> = given.take(setup.tasks.len()).collect();
    let load = |task: usize| share(setup, task);
    for (task, cpu) in placed.iter().enumerate() {
        if let Some(place) = cpu.and_then(|cpu| loads.get_mut(cpu.index())) {
            *place = place.saturating_add(load(task));
        }
    }
    let mut place = |(task, cpu): (usize, &Option<CpuId>)| {
        cpu.unwrap_or_else(|| {
            let least = (0..).zip(&mut loads).min_by_key(|(_, load)| **load);
            least.map_or(CpuId(0), |(cpu, place)| {
                *place = place.saturating_add(load(task));
                CpuId(cpu)
            })
        })
    };
    placed.iter().enumerate().map(&mut place).collect()
}

/// C_i(z_i) / T_i in parts of 2^32, rounded up.
fn share(setup: &Setup<'_>, task: usize) -> u64 {
    setup.tasks.get(task).map_or(0, |task| {
        let work = u128::from(task.own_wcet().as_nanos()) << 32;
        let share = work.div_ceil(u128::from(task.period.as_nanos().max(1)));
        u64::try_from(share).unwrap_or(u64::MAX)
    })
}

/// A system in which each CPU that has tasks is a cluster, configured for its tasks.
pub(super) fn system(
    setup: &Setup<'_>,
    about: &About,
    (partition, configure): (&[CpuId], impl Fn(&[TaskId]) -> OneCpu),
    parameters: Parameters,
    origin: String,
) -> System {
    let cluster = |cpu: CpuId| {
        let tasks = (0..).map(TaskId).zip(partition);
        let tasks = tasks.filter(|(_, place)| **place == cpu);
        let tasks: Vec<TaskId> = tasks.map(|(task, _)| task).collect();
        (!tasks.is_empty()).then(|| {
            let one = configure(&tasks);
            let terms = Terms::Deadlines {
                enforcement: one.enforcement,
                exhaustion: one.exhaustion,
            };
            let proof = setup.proof.clone();
            Cluster {
                cpus: vec![cpu],
                domains: vec![Domain {
                    cpus: vec![CpuId(0)],
                    tasks: (0..).map(TaskId).take(tasks.len()).collect(),
                    guarantee: Guarantee::new(terms, proof),
                }],
                configuration: Configuration::OneCpu(one),
                tasks,
            }
        })
    };
    let cpus = setup.set.platform.cpus;
    System {
        policy: about.name.to_owned(),
        options: setup.options.clone(),
        parameters,
        cpus,
        clusters: (0..cpus).map(CpuId).filter_map(cluster).collect(),
        origin,
    }
}
