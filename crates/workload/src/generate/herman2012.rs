//! Herman, Kenna, Mollison, Anderson and Johnson: RTOS Support for Multicore Mixed-Criticality
//! Systems. RTAS 2012, section 3.3.
//!
//! Level A: periods of 25, 50 or 100 ms. Level B: a random multiple of the level-A hyperperiod, at
//! most 300 ms. Level C: a multiple of 5 ms in 10..100. The three levels may use 5, 5 and 65 % of the m
//! CPUs together (or 10, 10, 55; or 20, 20, 35). One execution time for each task.
//!
//! Section 4 (Fig. 6) has an execution time for each level, e_B = 10 e_C and e_A = 2 e_B: `factor_b` and `factor_a`. Then each task has
//! all of them, those above its own level as estimates, because its jobs draw from e_A. The capacity of a level is that at its own times;
//! at the times of level C level A would ask for `factor_a` times `factor_b` as much in its tables.
//!
//! The paper does not say how many tasks are of which level, how the utilisation of a level is
//! shared out, or how tasks are placed. Here each of the n tasks draws its level among A, B and C, all
//! as likely, drawn again until each level has enough to use its capacity; RandFixedSum shares out
//! the full capacity of a level; tasks of A and B go, the heaviest first, to the CPU that is least used, CPU 0 left
//! out because it takes the interrupts; tasks of C are global. Level D has no tasks.
//!
//! Every level has a task to begin with. A set draws the levels of the others, and then, for A, B and C in
//! turn, the level's utilisations and for each of its tasks the period.

use super::parameter::{Given, Parameter, ParameterError, recipe, scaled_floor};
use super::periods::Periods;
use super::set::{nanos_of, task, task_set};
use super::utilization::{RandFixedSum, from_count};
use super::{DrawError, Random};
use crate::model::{Arrival, TaskSet, TaskSpec};
use crate::number::Ratio;
use vestal_core::{Level, Service, Task};

recipe! { Herman2012, "Herman et al. (2012), section 3.3: MC2 on several CPUs";
    tasks: usize = "20",
        "number of tasks of the levels A, B and C together, at least 3", count(3, super::parameter::DRAWN_TASKS_MAX);
    cpus: u16 = "6", "number of CPUs, at least 2; CPU 0 takes the interrupts", cpus(2);
    capacity_a: Ratio = "0.05", "utilization of level A, as a share of all CPUs", positive_ratio(1);
    capacity_b: Ratio = "0.05", "utilization of level B, as a share of all CPUs", positive_ratio(1);
    capacity_c: Ratio = "0.65", "utilization of level C, as a share of all CPUs", positive_ratio(1);
    factor_b: Ratio = "1", "C(B)/C(C); with this or the next each task has all execution times, section 4 has 10", ratio(1, 1000);
    factor_a: Ratio = "1", "C(A)/C(B), section 4 has 2", ratio(1, 1000);
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
        let one = |factor: Ratio| factor.numerator() == factor.denominator();
        if !(one(self.factor_a) && one(self.factor_b)) {
            for task in &mut set.tasks {
                let times = self.times(task.criticality, own(task));
                task.wcet = times.map(|time| Some(Service::from_nanos(time))).to_vec();
            }
        }
        Ok(set)
    }

    /// The execution times of levels D, C, B and A of a task that has this one at its own level; none is 0.
    fn times(&self, level: Level, own: u64) -> [u64; 4] {
        let less = |time, factor| lessened(time, factor).max(1);
        let (c, b, a) = match level {
            Level(3) => {
                let b = less(own, self.factor_a);
                (less(b, self.factor_b), b, own)
            }
            Level(2) => (
                less(own, self.factor_b),
                own,
                scaled_floor(own, self.factor_a),
            ),
            Level(_) => {
                let b = scaled_floor(own, self.factor_b);
                (own, b, scaled_floor(b, self.factor_a))
            }
        };
        [c, c, b, a]
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
            // Periods and execution times are below 2^32 ns, so the product fits.
            own(task) * 1_000_000 / task.period.as_nanos()
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

/// What a task needs at its own level; before estimates are added it is the same at all.
fn own(task: &TaskSpec) -> u64 {
    let own = task.wcet.get(task.criticality.index()).copied();
    own.flatten().unwrap_or(Service::ZERO).as_nanos()
}

/// `value / factor`, rounded down, exactly.
fn lessened(value: u64, factor: Ratio) -> u64 {
    let product = u128::from(value) * u128::from(factor.denominator());
    u64::try_from(product / u128::from(factor.numerator())).unwrap_or(u64::MAX)
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

    /// As in section 4: the utilization of a level is that at its own times, and the estimates above are beyond the period at times.
    #[test]
    fn with_factors_every_task_has_a_time_for_each_level() {
        let mut recipe = Herman2012::new().unwrap();
        let changes = [
            ("factor_b", "10"),
            ("factor_a", "2"),
            ("capacity_a", "0.1"),
            ("capacity_b", "0.1"),
            ("capacity_c", "0.55"),
            ("tasks", "40"),
        ];
        for (name, value) in changes {
            recipe.set(name, value).unwrap();
        }
        let mut random = Random::new(9);
        let mut beyond = 0;
        for _ in 0..20 {
            let set = recipe.draw(&mut random).unwrap();
            let mut used = [0.0; 4];
            for task in &set.tasks {
                let times: Vec<u64> = task
                    .wcet
                    .iter()
                    .map(|time| time.unwrap().as_nanos())
                    .collect();
                let [d, c, b, a] = times[..] else {
                    panic!("four times: {times:?}");
                };
                assert_eq!(d, c);
                // Rounded down from the level above, or exact.
                assert!(b / 10 == c && a / 2 == b, "{times:?}");
                let level = task.criticality.index();
                let period = task.period.as_nanos();
                used[level] += times[level] as f64 / period as f64;
                assert!(times[level] <= period);
                beyond += u32::from(a > period);
            }
            for (level, share) in [(3, 0.1), (2, 0.1), (1, 0.55)] {
                assert!((used[level] - share * 6.0).abs() < 1e-4, "{used:?}");
            }
            assert_eq!(TaskSet::parse("x.toml", &set.to_toml()).unwrap(), set);
            assert!(set.to_tasks("mc2").is_ok());
        }
        assert!(beyond > 100, "{beyond}");
    }

    /// The same tasks as without factors, at their own levels and on their CPUs.
    #[test]
    fn factors_draw_nothing() {
        let plain = Herman2012::new().unwrap();
        let mut other = plain.clone();
        other.set("factor_b", "2.5").unwrap();
        let draw = |recipe: &Herman2012| recipe.draw(&mut Random::new(10)).unwrap();
        let (plain, other) = (draw(&plain), draw(&other));
        for (plain, other) in plain.tasks.iter().zip(&other.tasks) {
            assert_eq!((own(plain), plain.period), (own(other), other.period));
            assert_eq!(plain.cpu, other.cpu);
            assert_ne!(plain.wcet, other.wcet);
        }
    }

    /// 10 % of level A at the times of level C is 20 times as much at its own.
    #[test]
    fn a_capacity_of_more_than_all_cpus_is_refused() {
        let mut recipe = Herman2012::new().unwrap();
        let at_c = 0.1;
        let at_a = format!("{}", at_c * 10.0 * 2.0);
        assert_eq!(at_a, "2");
        assert!(recipe.set("capacity_a", &at_a).is_err());
    }
}
