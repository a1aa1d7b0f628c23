//! Random tasks on two CPUs, some of which move between them.

use crate::common::Random;
use crate::several_cpus::levelled;
use vestal_core::*;
use vestal_sim::workload::{ListedDemand, ListedReleases};
use vestal_sim::{
    Amid, Backlog, Charges, Costs, Observer, Setting, Statistics, simulate, simulate_amid,
};
use vestal_testkit::short::task;

pub(crate) struct Moving {
    tasks: Vec<LevelledTask>,
    releases: ListedReleases,
    demand: ListedDemand,
    homes: Vec<CpuId>,
    pub(crate) end: u64,
}

impl Moving {
    pub(crate) fn random(random: &mut Random) -> Self {
        let end = random.between(10, 80);
        let (mut tasks, mut releases, mut demand) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..random.between(1, 6) {
            let container = random.one_of(&[
                Container::Local(CpuId(0)),
                Container::Local(CpuId(1)),
                Container::Global,
                Container::Global,
                Container::BestEffort,
            ]);
            let level = match container {
                Container::Table(_) => 3,
                Container::Local(_) => 2,
                Container::Global => 1,
                Container::BestEffort => 0,
            };
            let period = random.between(3, 16);
            let need = random.between(1, period.div_ceil(3));
            let task = task(level, period, &vec![need; usize::from(level) + 1]);
            let (mut instants, mut needs) = (Vec::new(), Vec::new());
            let mut at = random.between(0, 4);
            while at < end {
                instants.push(Instant::from_nanos(at));
                needs.push(Service::from_nanos(random.between(1, need + 1)));
                at += period + random.between(0, 3);
            }
            tasks.push(LevelledTask { task, container });
            releases.push(instants);
            demand.push(needs);
        }
        Self {
            homes: tasks
                .iter()
                .map(|_| CpuId(random.between(0, 1) as u16))
                .collect(),
            tasks,
            releases: ListedReleases { tasks: releases },
            demand: ListedDemand {
                tasks: demand,
                otherwise: Vec::new(),
            },
            end,
        }
    }

    fn models(&self) -> Vec<Task> {
        self.tasks.iter().map(|entry| entry.task).collect()
    }

    pub(crate) fn statistics(&self) -> Statistics {
        Statistics::new(&self.models(), 2, Enforcement::Static, Exhaustion::Continue)
    }

    pub(crate) fn simulate<O: Observer>(&self, costs: Option<&Costs>, observer: &mut O) {
        let none = CpuTable {
            cycle: Duration::ZERO,
            slots: &[],
        };
        let mut engine = levelled(&self.tasks, &[none, none]);
        let tasks = self.models();
        let setting = Setting {
            tasks: &tasks,
            cpus: 2,
            end: Instant::from_nanos(self.end),
            backlog: Backlog::UNLIMITED,
        };
        let (releases, demand) = (&self.releases, &self.demand);
        if costs.is_none() {
            simulate(&mut engine, &setting, releases, demand, observer).unwrap();
            return;
        }
        let amid = Amid {
            outside: None,
            costs: costs.map(|costs| (Charges::Fixed(costs), &self.homes[..])),
        };
        simulate_amid(&mut engine, &setting, amid, releases, demand, observer).unwrap();
    }
}
