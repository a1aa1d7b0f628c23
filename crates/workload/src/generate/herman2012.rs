//! Herman, Kenna, Mollison, Anderson and Johnson: RTOS Support for Multicore Mixed-Criticality
//! Systems. RTAS 2012, section 3.3.
//!
//! Level A: periods of 25, 50 or 100 ms. Level B: a random multiple of the level-A hyperperiod, at
//! most 300 ms. Level C: a multiple of 5 ms in 10..100. The three levels may use 5, 5 and 65 % of the m
//! CPUs together (or 10, 10, 55; or 20, 20, 35). One execution time for each task.
//!
//! The paper does not say how many tasks are of which level, how the utilisation of a level is
//! shared out, or how tasks are placed. Here each of the n tasks draws its level among A, B and C, all
//! as likely, drawn again until each level has enough to use its capacity; RandFixedSum shares out
//! the full capacity of a level; tasks of A and B go, the heaviest first, to the CPU that is least used, CPU 0 left
//! out because it takes the interrupts; tasks of C are global. Level D has no tasks.
//!
//! Every level has a task to begin with. A set draws the levels of the others, and then, for A, B and C in
//! turn, the level's utilisations and for each of its tasks the period.

use super::parameter::{Given, Parameter, ParameterError, recipe};
use super::periods::Periods;
use super::set::{nanos_of, task, task_set};
use super::utilization::{RandFixedSum, from_count};
use super::{DrawError, Random};
use crate::model::{Arrival, TaskSet};
use crate::number::Ratio;
use vestal_core::{Level, Service, Task};

recipe! { Herman2012, "Herman et al. (2012), section 3.3: MC2 on several CPUs";
    tasks: usize = "20",
        "number of tasks of the levels A, B and C together, at least 3", count(3, super::parameter::DRAWN_TASKS_MAX);
    cpus: u16 = "6", "number of CPUs, at least 2; CPU 0 takes the interrupts", cpus(2);
    capacity_a: Ratio = "0.05", "utilization of level A, as a share of all CPUs", positive_ratio(1);
    capacity_b: Ratio = "0.05", "utilization of level B, as a share of all CPUs", positive_ratio(1);
    capacity_c: Ratio = "0.65", "utilization of level C, as a share of all CPUs", positive_ratio(1);
}

const MS_NANOS: u64 = 1_000_000;
/// The longest period of level B.
const PERIOD_B_MAX_MS: u64 = 300;
const TRIES: u32 = 10_000;
/// Level names, lowest first; A is the highest.
const LEVELS: [&str; 4] = ["D", "C", "B", "A"];

impl Herman2012 {
    /// The next set.
    ///
    /// # Errors
    /// [`DrawError`] if a level has more capacity than its tasks can use.
    pub fn draw(&self, random: &mut Random) -> Result<TaskSet, DrawError> {
        let capacities = [self.capacity_a, self.capacity_b, self.capacity_c];
        let totals = capacities.map(|capacity| capacity.approximate() * f64::from(self.cpus));
        let counts = self.counts(totals, random)?;
        let mut tasks = Vec::with_capacity(self.tasks);
        let mut hyperperiod = 25;
        for (place, (count, total)) in counts.into_iter().zip(totals).enumerate() {
            let sampler = RandFixedSum::new(count, total);
            let shares = sampler
                .map(|sampler| sampler.draw(random))
                .unwrap_or_default();
            let periods = match place {
                0 => Periods::List(vec![25, 50, 100]),
                1 => Periods::Uniform {
                    least: hyperperiod,
                    most: PERIOD_B_MAX_MS,
                    step: hyperperiod,
                },
                _ => Periods::Uniform {
                    least: 10,
                    most: 100,
                    step: 5,
                },
            };
            for share in shares {
                let period = periods.draw(random);
                if place == 0 {
                    // 25, 50 and 100 divide one another.
                    hyperperiod = hyperperiod.max(period);
                }
                tasks.push(of_level(3 - place, period * MS_NANOS, share));
            }
        }
        let name = format!("herman2012, {} tasks, {} CPUs", self.tasks, self.cpus);
        let mut set = task_set(name, LEVELS.len(), &tasks);
        set.levels = LEVELS.map(str::to_owned).to_vec();
        set.platform.cpus = self.cpus;
        set.platform.interrupt_master = Some(0);
        for task in &mut set.tasks {
            task.arrival = Arrival::Periodic;
        }
        self.place(&mut set);
        Ok(set)
    }

    /// How many tasks each of the levels A, B and C has: enough to use its capacity.
    fn counts(&self, totals: [f64; 3], random: &mut Random) -> Result<[usize; 3], DrawError> {
        for _ in 0..TRIES {
            let mut counts = [1usize; 3];
            for _ in 3..self.tasks {
                let chosen = usize::try_from(random.below(3)).unwrap_or(0);
                counts[chosen] += 1;
            }
            if counts
                .into_iter()
                .zip(totals)
                .all(|(count, total)| from_count(count) >= total)
            {
                return Ok(counts);
            }
        }
        Err(DrawError(format!(
            "{} tasks can hardly use the capacities of {} CPUs: raise `tasks` or lower `cpus`",
            self.tasks, self.cpus
        )))
    }

    /// Worst fit, the heaviest first, on all CPUs but the one that takes the interrupts.
    fn place(&self, set: &mut TaskSet) {
        let demand = |set: &TaskSet, at: usize| {
            let task = &set.tasks[at];
            let wcet = task
                .wcet
                .first()
                .copied()
                .flatten()
                .unwrap_or(Service::ZERO);
            // Periods and execution times are below 2^32 ns, so the product fits.
            wcet.as_nanos() * 1_000_000 / task.period.as_nanos()
        };
        let mut order: Vec<usize> = (0..set.tasks.len())
            .filter(|&at| set.tasks[at].criticality > Level(1))
            .collect();
        order.sort_by_key(|&at| std::cmp::Reverse(demand(set, at)));
        let mut used = vec![0u64; usize::from(self.cpus)];
        for at in order {
            let cpu = (1..self.cpus)
                .min_by_key(|&cpu| used[usize::from(cpu)])
                .unwrap_or(1);
            used[usize::from(cpu)] += demand(set, at);
            set.tasks[at].cpu = Some(cpu);
        }
    }
}

fn of_level(level: usize, period: u64, share: f64) -> Task {
    let wcet = nanos_of(period, share).max(1);
    Task {
        criticality: Level(u8::try_from(level).unwrap_or(0)),
        ..task(period, period, &[wcet])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_their_periods_capacities_and_cpus() {
        let mut random = Random::new(8);
        for tasks in [20, 60, 120] {
            let recipe = Herman2012 {
                tasks,
                ..Herman2012::new().unwrap()
            };
            for _ in 0..20 {
                let set = recipe.draw(&mut random).unwrap();
                assert_eq!(set.tasks.len(), tasks);
                let mut used = [0.0; 4];
                let level_a = set.tasks.iter().filter(|task| task.criticality == Level(3));
                let hyperperiod =
                    level_a.map(|task| task.period.as_nanos()).max().unwrap() / MS_NANOS;
                for task in &set.tasks {
                    let period = task.period.as_nanos() / MS_NANOS;
                    let level = task.criticality.index();
                    used[level] +=
                        task.wcet[0].unwrap().as_nanos() as f64 / task.period.as_nanos() as f64;
                    match level {
                        3 => assert!([25, 50, 100].contains(&period)),
                        2 => assert!(period.is_multiple_of(hyperperiod) && period <= 300),
                        _ => assert!(period.is_multiple_of(5) && (10..=100).contains(&period)),
                    }
                    assert_eq!(task.cpu.is_some(), level > 1);
                    assert_ne!(task.cpu, Some(0));
                }
                for (level, share) in [(3, 0.05), (2, 0.05), (1, 0.65)] {
                    assert!((used[level] - share * 6.0).abs() < 1e-4, "{used:?}");
                }
                assert_eq!(TaskSet::parse("x.toml", &set.to_toml()).unwrap(), set);
            }
        }
    }
}
