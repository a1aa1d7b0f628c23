//! Random task sets near the border between accepted and not accepted.

use crate::common::Random;
use vestal_analysis::{Problem, Scratch, Test};
use vestal_core::{Duration, Level, LevelSet, Service, Task, Wcet};

/// A drawn set: mostly two to five tasks with times of a few ticks, so that a short run meets every
/// phase; now and then a larger one.
pub(crate) struct DrawnSet {
    pub(crate) levels: usize,
    tasks: Vec<DrawnTask>,
}

#[derive(Clone)]
struct DrawnTask {
    criticality: u8,
    period: u64,
    deadline: u64,
    /// C(0), ..., C(z).
    wcet: Vec<u64>,
}

impl DrawnSet {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let levels = random.pick(&[2, 2, 3, 4]);
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
                    random.pick(&[3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40])
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
                DrawnTask {
                    criticality,
                    period,
                    deadline,
                    wcet,
                }
            })
            .collect();
        Self {
            levels: levels as usize,
            tasks,
        }
    }

    pub(crate) fn problem(&self) -> Problem {
        let span = Duration::from_nanos;
        let tasks = self.tasks.iter().map(|task| {
            let values: Vec<Service> = task.wcet.iter().map(|&c| Service::from_nanos(c)).collect();
            let wcet = Wcet::new(&values).unwrap();
            let (period, deadline) = (span(task.period), span(task.deadline));
            Task::new(Level(task.criticality), period, deadline, wcet).unwrap()
        });
        Problem::new(tasks.collect(), LevelSet::new(self.levels).unwrap()).unwrap()
    }

    /// Lets execution times grow one by one as long as `test` accepts: at the border a bound that
    /// is one tick too small shows.
    pub(crate) fn move_to_border(
        &mut self,
        test: &Test,
        scratch: &mut Scratch,
        random: &mut Random,
    ) {
        let mut refused = 0;
        while refused < 12 {
            let i = random.between(0, self.tasks.len() as u64 - 1) as usize;
            let level = random.between(0, self.tasks[i].wcet.len() as u64 - 1) as usize;
            let before = self.tasks[i].wcet.clone();
            self.tasks[i].wcet[level] += 1;
            if !self.tasks[i].wcet.is_sorted() || !test.accepts(&self.problem(), scratch) {
                self.tasks[i].wcet = before;
                refused += 1;
            }
        }
    }
}
