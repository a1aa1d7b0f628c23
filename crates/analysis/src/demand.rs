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
//!
//! Where the tasks ask for nearly all of the CPU, or for more, a pass may gain next to nothing of a
//! long way. So each [`PASSES_A_LEAP`]-th pass is followed by a leap to what [`ahead`] shows to be no
//! later than R (**I3**), or by the answer that there is no R. Whether there is one within the limit is
//! NP-hard to say (Eisenbrand and Rothvoss, RTSS 2008), so it may still take long: after [`PASSES_MAX`]
//! passes the answer is [`Bound::Undecided`].
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
    /// Of how many passes each search of an analysis may be; after one that was not decided no other is begun. `None`: the searches
    /// belong to no analysis, and each has [`PASSES_MAX`].
    passes: Option<u64>,
    /// A search was not decided.
    ran_out: bool,
}

/// A bound that was found, or why the search was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The least fixed point.
    Found(u64),
    /// The least fixed point is at least this, and this is above the limit.
    AtLeast(u64),
    /// Nothing is known after so many steps as a search may take.
    Undecided,
}

/// So many passes over the tasks may take one search.
pub(crate) const PASSES_MAX: u64 = 1_000_000;

/// After so many passes that have not come to an end the search leaps; next to all take fewer.
const PASSES_A_LEAP: u64 = 64;

/// What is known of the least fixed point beyond the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ahead {
    /// It is no earlier than this.
    From(u64),
    /// There is none.
    Never,
}

impl Demand {
    /// For the searches of one analysis, which ends with the first one that takes too long.
    pub(crate) fn of_analysis() -> Self {
        Self {
            passes: Some(PASSES_MAX),
            ..Self::default()
        }
    }

    /// The same with so few passes a search.
    #[cfg(test)]
    pub(crate) fn with_passes(passes: u64) -> Self {
        Self {
            passes: Some(passes),
            ..Self::default()
        }
    }

    /// From now on no search was undecided.
    pub(crate) fn begin(&mut self) {
        self.ran_out = false;
    }

    /// Whether a search was not decided.
    pub(crate) fn is_undecided(&self) -> bool {
        self.ran_out
    }

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
    /// exceeds `limit`, or until it is not decided after [`PASSES_MAX`] passes. The jobs of the tasks
    /// before `first` stay as counted.
    pub(crate) fn solve(&mut self, first: usize, limit: u64) -> Bound {
        let passes = match self.passes {
            Some(_) if self.ran_out => 0,
            passes => passes.unwrap_or(PASSES_MAX),
        };
        self.search(first, limit, PASSES_A_LEAP, passes)
    }

    /// As [`Self::solve`] with at most so many passes, and a leap after each `leap`-th.
    #[inline]
    fn search(&mut self, first: usize, limit: u64, leap: u64, passes: u64) -> Bound {
        let mut until_leap = leap;
        for _ in 0..passes {
            let before = self.window;
            if before > limit {
                return Bound::AtLeast(before);
            }
            self.pass(first);
            if self.window == before {
                return Bound::Found(before);
            }
            until_leap -= 1;
            if until_leap == 0 {
                until_leap = leap;
                match ahead(&self.counted[first..], self.window) {
                    Some(Ahead::Never) => return Bound::AtLeast(limit.saturating_add(1)),
                    Some(Ahead::From(least)) if least > limit => return Bound::AtLeast(least),
                    Some(Ahead::From(least)) => self.count(first, least),
                    None => {}
                }
            }
        }
        self.ran_out = true;
        Bound::Undecided
    }

    /// Counts the jobs released inside the window, which grows with each.
    #[inline]
    fn pass(&mut self, first: usize) {
        let mut window = self.window;
        for counted in &mut self.counted[first..] {
            if counted.next_release < window {
                window = window.saturating_add(counted.count_until(window));
            }
        }
        self.window = window;
    }

    /// Counts the jobs released before `end`, which is not above the fixed point.
    fn count(&mut self, first: usize, end: u64) {
        for counted in &mut self.counted[first..] {
            if counted.next_release < end {
                let growth = counted.count_until(end);
                self.window = self.window.saturating_add(growth);
            }
        }
    }
}

/// What the rates of these tasks say of the least fixed point R >= `window`, if anything.
///
/// **I3.** Let a task's first job that is not counted be released at n. Of the jobs from n on those released before R are at
/// least (R - n) / T, for n below R and beyond. So for any tasks and any shares u <= C / T of them
/// R >= window + sum of u (R - n), that is (1 - U) R >= K with U = sum of u and K = window - sum of u n. Where K > 0 it follows
/// that R >= K / (1 - U) if U < 1, and that there is no R if U >= 1. Here u is C / T rounded down, and the tasks are each time
/// those with the smallest n: what holds for one number of them holds, and the best is taken. All of them together say little, for
/// what is counted is about u n; what helps is that those whose next release is far away are left out.
fn ahead(counted: &[Counted], window: u64) -> Option<Ahead> {
    /// Shares are in units of 2^-62, so that sums of products with times stay within 128 bits.
    const ONE: u128 = 1 << 62;
    let mut tasks: Vec<&Counted> = counted.iter().collect();
    tasks.sort_unstable_by_key(|task| task.next_release);
    let (mut share, mut offset) = (0_u128, 0_u128);
    let mut best = None;
    // Beyond all numbers a release is only known to be late.
    for task in tasks.iter().take_while(|task| task.next_release < u64::MAX) {
        let own = (u128::from(task.cost) << 62) / u128::from(task.period);
        let own = own.min(ONE);
        share += own;
        let Some(sum) = offset.checked_add(own * u128::from(task.next_release)) else {
            break;
        };
        offset = sum;
        let rest = (u128::from(window) * ONE).saturating_sub(offset);
        if rest == 0 {
            continue;
        }
        let Some(idle) = ONE.checked_sub(share).filter(|&idle| idle > 0) else {
            return Some(Ahead::Never);
        };
        best = best.max(Some(rest.div_ceil(idle)));
    }
    best.map(|least| Ahead::From(u64::try_from(least).unwrap_or(u64::MAX)))
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

    /// Of all sets of three such tasks: from those that ask for a third of the CPU to those that ask for far too much.
    fn small_sets() -> impl Iterator<Item = [(u64, u64); 3]> {
        let costs =
            (1..=4).flat_map(|a| (1..=5).flat_map(move |b| (1..=9).map(move |c| [a, b, c])));
        costs.flat_map(|[a, b, c]| {
            [[4, 6, 20], [3, 7, 23], [5, 5, 31], [2, 40, 41]]
                .map(|[s, t, u]| [(s, a), (t, b), (u, c)])
        })
    }

    fn of(tasks: &[(u64, u64)]) -> Demand {
        let mut demand = Demand::default();
        for &(period, cost) in tasks {
            demand.add(period, cost);
        }
        demand
    }

    #[test]
    fn leaps_find_the_least_fixed_point_as_well() {
        const LIMIT: u64 = 3_000;
        let (mut found, mut none, mut fewer) = (0, 0, 0);
        for tasks in small_sets() {
            let expected = slow(&tasks, LIMIT);
            for leap in [1, 2, 5] {
                match (of(&tasks).search(0, LIMIT, leap, u64::MAX), expected) {
                    (Bound::Found(bound), Some(least)) => assert_eq!(bound, least, "{tasks:?}"),
                    (Bound::AtLeast(bound), None) => assert!(bound > LIMIT, "{tasks:?}"),
                    other => panic!("{tasks:?}: {other:?}"),
                }
            }
            *if expected.is_some() {
                &mut found
            } else {
                &mut none
            } += 1;
            // What is found with no more passes than leaps take, and not without.
            let decided = |leap| of(&tasks).search(0, LIMIT, leap, 4) != Bound::Undecided;
            fewer += u64::from(decided(1) && !decided(u64::MAX));
        }
        assert!(
            found > 100 && none > 100 && fewer > 100,
            "{found} {none} {fewer}"
        );
    }

    #[test]
    fn a_leap_says_nothing_of_what_is_earlier_than_it_is() {
        // Wrong by one, or with the shares rounded up, it passes some fixed point.
        for tasks in small_sets() {
            let Some(least) = slow(&tasks, 3_000) else {
                continue;
            };
            let mut demand = of(&tasks);
            loop {
                let window = demand.window;
                match ahead(&demand.counted, window) {
                    Some(Ahead::From(from)) => assert!(from <= least, "{tasks:?}: {from}, {least}"),
                    Some(Ahead::Never) => panic!("{tasks:?}: {least}"),
                    None => {}
                }
                demand.pass(0);
                if demand.window == window {
                    break;
                }
            }
        }
    }

    #[test]
    fn what_takes_for_ever_is_decided_or_ends() {
        const FAR: u64 = 1 << 62;
        // One task takes the whole CPU, and there is another.
        assert_eq!(
            of(&[(2, 2), (FAR, 7)]).solve(0, FAR),
            Bound::AtLeast(FAR + 1)
        );
        // All but 2^-40 of it: some 2^59 passes without leaps.
        let nearly = [(1 << 40, (1 << 40) - 1), (FAR, 1 << 19)];
        let Bound::Found(bound) = of(&nearly).solve(0, FAR) else {
            panic!("not found");
        };
        assert_eq!(bound, (1 << 19) << 40);
        // What leaps do not shorten ends, and with it the analysis that it belongs to.
        let mut demand = of(&nearly);
        assert_eq!(demand.search(0, FAR, u64::MAX, 1_000), Bound::Undecided);
        assert!(demand.is_undecided());
        assert!(matches!(demand.solve(0, FAR), Bound::Found(_)));
        demand.passes = Some(PASSES_MAX);
        assert_eq!(demand.solve(0, FAR), Bound::Undecided);
    }
}
