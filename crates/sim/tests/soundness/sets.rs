//! Random task sets near the border between accepted and not accepted.

use crate::common::Random;
use std::num::NonZeroU16;
use vestal_analysis::{Parameters, Problem};
use vestal_core::{Duration, Level, LevelSet, Service, Task, Wcet};

/// A drawn set: mostly two to five tasks with times of a few ticks, so that a short run meets every
/// phase; now and then a larger one.
#[derive(Clone)]
pub(crate) struct DrawnSet {
    pub(crate) levels: usize,
    /// How many ticks the sets' own unit of time has: with more than one, rounding to ticks decides
    /// less.
    pub(crate) unit: u64,
    /// How many CPUs there are.
    cpus: u16,
    tasks: Vec<DrawnTask>,
    /// Virtual deadlines that the test is given.
    given: Option<Vec<u64>>,
}

/// Which sets are drawn for a test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sets {
    /// Two to four levels, deadlines up to the periods.
    General,
    /// Three or four levels, otherwise the same.
    SeveralLevels,
    /// General ones in which most tasks below the highest level keep a degraded budget, now and then of more than C.
    Degraded,
    /// The same as general ones in a finer unit: no instant that matters lies between two ticks.
    Finer,
    /// What period transformation is for: some critical task has a longer period than a less critical
    /// one, so that its jobs are cut into slices; half of the sets in a finer unit.
    InSlices,
    /// What EDF-VD is for: two levels, deadlines equal to the periods.
    TwoLevels,
    /// The same for two or three CPUs.
    OnSeveralCpus,
    /// What EDF-VD is for with virtual deadlines that need not be proportional to the periods.
    GivenDeadlines,
    /// Made so that a virtual deadline that comes a little too late is missed for; see
    /// [`DrawnSet::draw_for_late_deadlines`].
    LateDeadlines,
}

impl Sets {
    pub(crate) fn draw(self, random: &mut Random) -> DrawnSet {
        match self {
            Self::General => DrawnSet::draw(random, &[2, 2, 3, 4]),
            Self::SeveralLevels => DrawnSet::draw(random, &[3, 4]),
            Self::Degraded => DrawnSet::draw_degraded(random),
            Self::Finer => DrawnSet::draw(random, &[2, 2, 3, 4]).in_units_of(64),
            Self::InSlices => DrawnSet::draw_in_slices(random),
            Self::TwoLevels => DrawnSet::draw_two_levels(random, 1),
            Self::OnSeveralCpus => {
                let cpus = random.between(2, 3);
                DrawnSet::draw_two_levels(random, cpus)
            }
            Self::GivenDeadlines => DrawnSet::draw_with_given_deadlines(random),
            Self::LateDeadlines => DrawnSet::draw_for_late_deadlines(random),
        }
    }
}

#[derive(Clone)]
struct DrawnTask {
    criticality: u8,
    period: u64,
    deadline: u64,
    /// C(0), ..., C(z).
    wcet: Vec<u64>,
    /// What it keeps in modes above its level.
    degraded: Option<u64>,
}

/// One task in ten may execute nothing up to some level below its own: its job waits for the CPU there all
/// the same.
fn needs_nothing_below_its_level(wcet: &mut [u64], random: &mut Random) {
    let lower = wcet.len() as u64 - 1;
    if lower > 0 && random.once_in(10) {
        let levels = random.between(1, lower) as usize;
        wcet[..levels].fill(0);
    }
}

impl DrawnSet {
    fn draw(random: &mut Random, levels: &[u64]) -> Self {
        let levels = random.one_of(levels);
        let is_large = random.once_in(12);
        let count = if is_large {
            random.between(6, 10)
        } else {
            random.between(2, 5)
        };
        let implicit = random.once_in(2);
        // Thousandths of the processor for each task's own level, shared out at random cuts.
        let total = random.between(550, 1150);
        let mut cuts: Vec<u64> = (1..count).map(|_| random.between(0, total)).collect();
        cuts.extend([0, total]);
        cuts.sort_unstable();
        let tasks = cuts
            .windows(2)
            .map(|cut| {
                let criticality = random.between(0, levels - 1) as u8;
                let period = if is_large {
                    random.between(10, 200)
                } else {
                    random.one_of(&[3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40])
                };
                let deadline = if implicit || random.once_in(3) {
                    period
                } else {
                    random.between(period.div_ceil(2), period)
                };
                // Rarely more than the deadline allows: a test has to see that first.
                let own = (period * (cut[1] - cut[0]) / 1000).max(1);
                let own = if random.once_in(40) {
                    deadline + random.between(1, 3)
                } else {
                    own
                };
                let mut wcet: Vec<u64> = (0..criticality)
                    .map(|_| random.between(own.div_ceil(4), own))
                    .collect();
                wcet.push(own);
                wcet.sort_unstable();
                needs_nothing_below_its_level(&mut wcet, random);
                DrawnTask {
                    criticality,
                    period,
                    deadline,
                    wcet,
                    degraded: None,
                }
            })
            .collect();
        Self {
            levels: levels as usize,
            unit: 1,
            cpus: 1,
            tasks,
            given: None,
        }
    }

    fn draw_degraded(random: &mut Random) -> Self {
        loop {
            let mut set = Self::draw(random, &[2, 2, 3, 4]);
            let highest = set.tasks.iter().map(|task| task.criticality).max();
            let mut lower: Vec<_> = set.tasks.iter_mut().collect();
            lower.retain(|task| Some(task.criticality) < highest);
            if lower.is_empty() {
                continue;
            }
            for task in lower {
                let own = *task.wcet.last().unwrap();
                let budget = match random.between(0, 9) {
                    0..=1 => None,
                    2 => Some(own + random.between(1, 2)),
                    _ => Some(random.between(1, own)),
                };
                task.degraded = budget;
            }
            return set;
        }
    }

    fn draw_in_slices(random: &mut Random) -> Self {
        loop {
            let set = Self::draw(random, &[2, 2, 3, 4]);
            let goes_before = |task: &DrawnTask, other: &DrawnTask| {
                task.criticality > other.criticality && task.period > other.period
            };
            let mut tasks = set.tasks.iter();
            if !tasks.any(|task| set.tasks.iter().any(|other| goes_before(task, other))) {
                continue;
            }
            return set.in_units_of(random.one_of(&[1, 1, 6, 12]));
        }
    }

    /// The same set with so many ticks for each.
    fn in_units_of(mut self, unit: u64) -> Self {
        self.unit = unit;
        for task in &mut self.tasks {
            task.period *= unit;
            task.deadline *= unit;
            for value in task.wcet.iter_mut().chain(&mut task.degraded) {
                *value *= unit;
            }
        }
        self
    }

    /// Two levels, deadlines equal to the periods, half of the sets in a finer unit; so much for each CPU.
    fn draw_two_levels(random: &mut Random, cpus: u64) -> Self {
        let unit = random.one_of(&[1, 1, 12, 60]);
        let count = random.between(2, 5) * cpus;
        let total = random.between(700, 1500) * cpus;
        let mut cuts: Vec<u64> = (1..count).map(|_| random.between(0, total)).collect();
        cuts.extend([0, total]);
        cuts.sort_unstable();
        let task = |cut: &[u64]| {
            let period = unit * random.one_of(&[3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40]);
            let own = (period * (cut[1] - cut[0]) / 1000).clamp(1, period);
            let critical = random.once_in(2);
            let mut wcet = vec![own];
            if critical {
                wcet.insert(0, random.between(own.div_ceil(4), own));
                needs_nothing_below_its_level(&mut wcet, random);
            }
            DrawnTask {
                criticality: u8::from(critical),
                period,
                deadline: period,
                wcet,
                degraded: None,
            }
        };
        Self {
            levels: 2,
            unit,
            cpus: cpus as u16,
            tasks: cuts.windows(2).map(task).collect(),
            given: None,
        }
    }

    /// The critical tasks' deadlines are shortened by a common share, and half of them by another
    /// one on top.
    fn draw_with_given_deadlines(random: &mut Random) -> Self {
        let mut set = Self::draw_two_levels(random, 1);
        let common = random.between(400, 1000);
        let given = set.tasks.iter().map(|task| {
            if task.criticality == 0 {
                return task.period;
            }
            let shorter = random.between(100, 1000);
            let further = random.one_of(&[1000, shorter]);
            (task.period * common * further / 1_000_000).max(1)
        });
        set.given = Some(given.collect());
        set
    }

    /// One or two LO tasks of period p and critical ones of period 8p, so that every multiple of
    /// 1/8 of a critical period is a deadline of all LO jobs: those due at a virtual deadline then
    /// go before the critical job to the last tick. What that takes from the critical job cannot be
    /// made up where the set is on the border, to which the campaign moves every one of these.
    fn draw_for_late_deadlines(random: &mut Random) -> Self {
        let unit = random.one_of(&[1, 10]);
        let low_period = unit * random.between(3, 8);
        let mut tasks = Vec::new();
        for _ in 0..random.between(1, 2) {
            tasks.push(DrawnTask {
                criticality: 0,
                period: low_period,
                deadline: low_period,
                wcet: vec![random.between(1, low_period / 2)],
                degraded: None,
            });
        }
        let critical = random.between(1, 2);
        for _ in 0..critical {
            let period = 8 * low_period;
            let own = random.between(period / 4, period * 3 / 4) / critical;
            tasks.push(DrawnTask {
                criticality: 1,
                period,
                deadline: period,
                wcet: vec![random.between(1, own), own],
                degraded: None,
            });
        }
        Self {
            levels: 2,
            unit,
            cpus: 1,
            tasks,
            given: None,
        }
    }

    pub(crate) fn problem(&self) -> Problem {
        let span = Duration::from_nanos;
        let tasks = self.tasks.iter().map(|task| {
            let values: Vec<Service> = task.wcet.iter().map(|&c| Service::from_nanos(c)).collect();
            let wcet = Wcet::new(&values).unwrap();
            let (period, deadline) = (span(task.period), span(task.deadline));
            let new = Task::new(Level(task.criticality), period, deadline, wcet).unwrap();
            let degraded = task.degraded.map(Service::from_nanos);
            Task { degraded, ..new }
        });
        let problem = Problem::new(tasks.collect(), LevelSet::new(self.levels).unwrap()).unwrap();
        let problem = problem
            .with_cpus(NonZeroU16::new(self.cpus).unwrap())
            .unwrap();
        match &self.given {
            None => problem,
            Some(given) => {
                let given = given.iter().copied().map(span).collect();
                problem
                    .with(&Parameters {
                        virtual_deadlines: Some(given),
                        ..Parameters::default()
                    })
                    .unwrap()
            }
        }
    }

    /// Lets execution times grow one by one as long as the set is accepted: at the border a bound
    /// that is one tick too small shows. First by units, then by ticks.
    pub(crate) fn move_to_border(
        &mut self,
        accepts: &mut dyn FnMut(&Problem) -> bool,
        random: &mut Random,
    ) {
        if self.unit > 1 {
            self.grow_by(self.unit, accepts, random);
        }
        self.grow_by(1, accepts, random);
    }

    fn grow_by(
        &mut self,
        step: u64,
        accepts: &mut dyn FnMut(&Problem) -> bool,
        random: &mut Random,
    ) {
        let mut refused = 0;
        while refused < 12 {
            let i = random.between(0, self.tasks.len() as u64 - 1) as usize;
            let level = random.between(0, self.tasks[i].wcet.len() as u64 - 1) as usize;
            let before = self.tasks[i].wcet.clone();
            self.tasks[i].wcet[level] += step;
            if !self.tasks[i].wcet.is_sorted() || !accepts(&self.problem()) {
                self.tasks[i].wcet = before;
                refused += 1;
            }
        }
    }
}
