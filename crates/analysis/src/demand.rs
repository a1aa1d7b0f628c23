//! The least fixed point behind every response-time analysis.
//!
//! A [`Demand`] counts jobs of a set of tasks, all released first at 0, and the *window* is the
//! execution time of all jobs counted so far. A job is counted only if it is released strictly
//! inside the window, that is before the window's current end.
//!
//! - **I1** (bracketed by the tests below): the window never exceeds the least R > 0 with
//!   R = sum over j of ceil(R / T_j) * C_j. Proof: by induction all jobs counted are released
//!   before R, so they are among the jobs whose execution times add up to R.
//! - **I2**: when a pass over all tasks counts nothing more, the window is a fixed point, and by I1
//!   the least one.
//!
//! I1 speaks only of the jobs counted, so counting may go on after the set has grown or after
//! execution times have grown: both move the fixed point up. That is the warm start all analyses
//! use, and why a job may be counted against a window that has grown within the same pass.
//! All sums saturate; a saturated window exceeds every deadline, for those end at 2^62 ns.

/// The jobs of one task counted so far.
#[derive(Clone, Copy, Debug)]
struct Counted {
    /// T_j.
    period: u64,
    /// The execution time of each job.
    cost: u64,
    /// How many jobs are counted.
    jobs: u64,
    /// When the first job that is not counted is released: jobs * T_j.
    next_release: u64,
}

/// Jobs counted so far and the time they need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    counted: Vec<Counted>,
    window: u64,
}

/// A bound that was found, or that the search was ended because it exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The least fixed point.
    Found(u64),
    /// The least fixed point is at least this, and this is above the limit.
    AtLeast(u64),
}

impl Demand {
    /// Forgets all tasks.
    pub(crate) fn clear(&mut self) {
        self.counted.clear();
        self.window = 0;
    }

    /// The number of tasks.
    pub(crate) fn len(&self) -> usize {
        self.counted.len()
    }

    /// Adds a task and counts its first job.
    pub(crate) fn add(&mut self, period: u64, cost: u64) {
        self.counted.push(Counted {
            period,
            cost,
            jobs: 1,
            next_release: period,
        });
        self.window = self.window.saturating_add(cost);
    }

    /// Adds time that every window contains.
    pub(crate) fn add_constant(&mut self, time: u64) {
        self.window = self.window.saturating_add(time);
    }

    /// Adds what grows by `cost` at `next_release` and each `period` later, and has already grown
    /// `jobs` times. All of these are to be before the fixed point (I1).
    pub(crate) fn add_running(&mut self, next_release: u64, period: u64, cost: u64, jobs: u64) {
        self.counted.push(Counted {
            period,
            cost,
            jobs,
            next_release,
        });
        self.window = self.window.saturating_add(cost.saturating_mul(jobs));
    }

    /// Raises the execution time of each job of the task that was added as the `index`-th, those
    /// counted already included. `cost` is never below the previous one.
    pub(crate) fn raise(&mut self, index: usize, cost: u64) {
        let counted = &mut self.counted[index];
        let growth = cost
            .saturating_sub(counted.cost)
            .saturating_mul(counted.jobs);
        counted.cost = cost;
        self.window = self.window.saturating_add(growth);
    }

    /// From now on each job of the `index`-th task has the execution time `cost`; those that are counted keep theirs if
    /// it is longer.
    pub(crate) fn degrade(&mut self, index: usize, cost: u64) {
        if self.counted[index].cost < cost {
            self.raise(index, cost);
        } else {
            self.counted[index].cost = cost;
        }
    }

    /// Counts further jobs of the tasks from the `first`-th on until the window is a fixed point or
    /// exceeds `limit`. The jobs of the tasks before `first` stay as counted.
    pub(crate) fn solve(&mut self, first: usize, limit: u64) -> Bound {
        let mut window = self.window;
        loop {
            if window > limit {
                self.window = window;
                return Bound::AtLeast(window);
            }
            let before = window;
            for counted in &mut self.counted[first..] {
                if counted.next_release < window {
                    window = window.saturating_add(counted.count_until(window));
                }
            }
            if window == before {
                self.window = window;
                return Bound::Found(window);
            }
        }
    }
}

impl Counted {
    /// Counts the jobs released before `end` that are not counted yet; at least one is. Returns
    /// their execution time.
    fn count_until(&mut self, end: u64) -> u64 {
        let uncovered = end - self.next_release;
        // Most windows pass one release at a time: a comparison saves the division.
        let more = if uncovered <= self.period {
            1
        } else {
            uncovered.div_ceil(self.period)
        };
        self.jobs = self.jobs.saturating_add(more);
        self.next_release = self
            .next_release
            .saturating_add(more.saturating_mul(self.period));
        self.cost.saturating_mul(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least R in 0..=limit by trying each.
    fn slow(tasks: &[(u64, u64)], limit: u64) -> Option<u64> {
        (0..=limit).find(|&window| {
            tasks
                .iter()
                .map(|&(period, cost)| window.div_ceil(period).max(1) * cost)
                .sum::<u64>()
                <= window
        })
    }

    #[test]
    fn the_fixed_point_is_the_least_one_and_grows_with_the_set() {
        let tasks = [(7, 2), (5, 1), (11, 3), (26, 2), (40, 3)];
        let mut demand = Demand::default();
        for count in 1..=tasks.len() {
            let (period, cost) = tasks[count - 1];
            demand.add(period, cost);
            let expected = slow(&tasks[..count], 1000).map_or(Bound::AtLeast(1001), Bound::Found);
            assert_eq!(demand.solve(0, 1000), expected, "{count} tasks");
        }
        // The set now asks for more than the whole CPU: there is no fixed point.
        demand.add(2, 1);
        assert!(matches!(demand.solve(0, 1000), Bound::AtLeast(1001..)));
    }

    #[test]
    fn raising_costs_continues_where_the_lower_costs_ended() {
        let mut demand = Demand::default();
        demand.add(10, 3);
        demand.add(14, 4);
        assert_eq!(demand.solve(0, 100), Bound::Found(7));
        demand.raise(0, 5);
        demand.raise(1, 6);
        assert_eq!(
            demand.solve(0, 100),
            slow(&[(10, 5), (14, 6)], 100).map_or(Bound::AtLeast(0), Bound::Found)
        );
    }

    #[test]
    fn a_demand_beyond_all_numbers_exceeds_every_limit() {
        let mut demand = Demand::default();
        demand.add(1, u64::MAX);
        demand.add(1, u64::MAX);
        assert_eq!(demand.solve(0, 1 << 62), Bound::AtLeast(u64::MAX));
    }
}
