//! Tasks in slices: how many, in which order, and what the slices of a set demand.
//!
//! A job of j is cut into n_j slices: by r_j + floor(k T_j / n_j) it may execute
//! ceil((k + 1) C_j(z_j) / n_j) in all ([`vestal_core::order::Slices`]). In runs of level l it
//! executes at most C_j(l), the first slices fully. The most that j can ask for in a window of
//! length t that begins with nothing of j granted and undone is
//!
//! g_j(t) = floor(t / T_j) C_j(l) + min(ceil(m C_j(z_j) / n_j), C_j(l)),
//! m = ceil((t mod T_j) n_j / T_j), the slices of the last job that begin inside.
//!
//! It is what a job released at the start of the window asks for. Later starts ask for no more:
//! between two boundaries lies at least the floor of their distance, k slices together grant at
//! most the ceiling of their share, and a job that ends early has left only what comes first. In
//! other words g_j is subadditive, g_j(a + b) <= g_j(a) + g_j(b); the tests try all small cases.

use crate::charge::{Charge, Charged, Paid};
use crate::demand::{Bound, PASSES_MAX};
use crate::order::priorities_of;
use crate::parameters::task_id;
use crate::problem::{Problem, Row};
use std::cmp::Ordering;

use vestal_core::{SLICES_MAX, SliceCount, Task, TaskId};

/// A row with its number of slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sliced {
    pub(crate) row: Row,
    /// n_i.
    pub(crate) count: u64,
}

impl Sliced {
    /// When slice `k` of a job begins, from its release on: floor(k T / n).
    pub(crate) fn boundary_floor(&self, k: u64) -> u64 {
        multiply_divide(k, self.row.period, self.count)
    }

    /// What the first `k` slices grant together: ceil(k C / n).
    pub(crate) fn granted_ceil(&self, k: u64) -> u64 {
        k.saturating_mul(self.row.own_wcet()).div_ceil(self.count)
    }

    /// C(min(level, z)): what a job executes at most in runs of `level`.
    pub(crate) fn enforced(&self, level: usize) -> u64 {
        self.row.wcet[level.min(self.row.criticality)]
    }

    /// The shorter slice period first, then the more critical task, then the first of the set.
    pub(crate) fn urgency(&self, other: &Self) -> Ordering {
        let (here, there) = (&self.row, &other.row);
        let products = match (
            here.period.checked_mul(other.count),
            there.period.checked_mul(self.count),
        ) {
            (Some(here), Some(there)) => here.cmp(&there),
            _ => (u128::from(here.period) * u128::from(other.count))
                .cmp(&(u128::from(there.period) * u128::from(self.count))),
        };
        products
            .then(there.criticality.cmp(&here.criticality))
            .then(here.task.cmp(&there.task))
    }
}

/// floor(a b / c) for products that fit as long as the problem was checked.
fn multiply_divide(a: u64, b: u64, c: u64) -> u64 {
    a.saturating_mul(b) / c
}

/// A problem's tasks with their slices, most urgent first.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlicedTables {
    pub(crate) order: Vec<Sliced>,
    counts: Vec<u64>,
    demand: SlicedDemand,
}

impl SlicedTables {
    /// Fills the tables: slices as given or by the rule of transformation, the order by given
    /// priorities or by slice periods; with overheads in each slice. Fails with the position of a task that would have to be cut into
    /// too many slices.
    ///
    /// The rule (reconstructed from Vestal 2007): from the lowest level upwards a task gets the
    /// fewest slices with which its slice period is at most each slice period of less critical tasks.
    pub(crate) fn fill(&mut self, problem: &Problem) -> Result<(), usize> {
        let rows = problem.rows();
        self.counts.clear();
        match &problem.given().slices {
            Some(given) => {
                let given = given.iter().map(|count| u64::from(count.get()));
                self.counts.extend(given);
            }
            None => {
                self.counts.resize(rows.len(), 1);
                self.choose(problem)?;
            }
        }
        let highest = problem.levels().count() - 1;
        let charge = problem.overheads().map(|overheads| {
            let pairs = rows.iter().zip(&self.counts);
            let tasks = pairs.map(|(row, &slices)| Charged {
                slices,
                ..Charged::whole(problem, row, highest)
            });
            Charge::new(overheads, tasks, highest + 1, Paid::Slices)
        });
        self.order.clear();
        let pairs = rows.iter().zip(&self.counts);
        self.order.extend(pairs.map(|(&row, &count)| Sliced {
            row: charge.map_or(row, |charge| charge.row(&row, count)),
            count,
        }));
        // What slices grant together is counted in 64 bits.
        let counted = |one: &&Sliced| one.row.own_wcet().checked_mul(one.count).is_none();
        if let Some(one) = self.order.iter().find(counted) {
            return Err(one.row.task);
        }
        match problem.priorities() {
            Some(given) => self.order.sort_by_key(|one| {
                let row = &one.row;
                (u32::MAX - given[row.task], row.task)
            }),
            None => self.order.sort_unstable_by(Sliced::urgency),
        }
        Ok(())
    }

    fn choose(&mut self, problem: &Problem) -> Result<(), usize> {
        let rows = problem.rows();
        // The shortest slice period of the levels below: T / n.
        let mut shortest: Option<(u64, u64)> = None;
        for level in 0..problem.levels().count() {
            let mut here = shortest;
            for (row, slot) in rows.iter().zip(&mut self.counts) {
                if row.criticality != level {
                    continue;
                }
                let mut count = 1;
                if let Some((period, slices)) = shortest {
                    count = fewest(row.period, period, slices).ok_or(row.task)?;
                    SliceCount::new(count, &problem.tasks()[row.task]).ok_or(row.task)?;
                }
                *slot = u64::from(count);
                let own = (row.period, *slot);
                if here.is_none_or(|other| is_shorter(own, other)) {
                    here = Some(own);
                }
            }
            shortest = here;
        }
        Ok(())
    }

    /// The counts in task order; `None` if one is not for its task.
    pub(crate) fn slice_counts(&self, problem: &Problem) -> Option<Vec<SliceCount>> {
        let pairs = self.counts.iter().zip(problem.tasks());
        pairs
            .map(|(&count, task)| SliceCount::new(u32::try_from(count).ok()?, task))
            .collect()
    }

    /// The order and memory for what it demands.
    pub(crate) fn parts(&mut self) -> (&[Sliced], &mut SlicedDemand) {
        (&self.order, &mut self.demand)
    }
}

/// The least n with `whole` / n <= `period` / `slices`.
fn fewest(whole: u64, period: u64, slices: u64) -> Option<u32> {
    let count = match whole.checked_mul(slices) {
        Some(product) => product.div_ceil(period),
        None => {
            let product = u128::from(whole) * u128::from(slices);
            u64::try_from(product.div_ceil(u128::from(period))).ok()?
        }
    };
    let count = u32::try_from(count).ok()?;
    (count <= SLICES_MAX).then_some(count.max(1))
}

fn is_shorter(one: (u64, u64), other: (u64, u64)) -> bool {
    u128::from(one.0) * u128::from(other.1) < u128::from(other.0) * u128::from(one.1)
}

/// The slices of one task counted so far.
#[derive(Clone, Copy, Debug)]
struct Counted {
    task: Sliced,
    /// C_j(l).
    cost: u64,
    /// When the job begins whose slices are being counted.
    base: u64,
    /// How many of its slices are counted, and what they need together.
    slices: u64,
    used: u64,
    /// When the first slice that is not counted begins.
    next: u64,
}

impl Counted {
    fn new(task: &Sliced, cost: u64) -> Self {
        Self {
            task: *task,
            cost,
            base: 0,
            slices: 0,
            used: 0,
            next: 0,
        }
    }

    /// Counts what begins before `end`; returns the execution time that adds.
    fn count_until(&mut self, end: u64) -> u64 {
        let mut growth: u64 = 0;
        // Whole jobs at once, where a window has passed several.
        if let Some(passed) = end
            .checked_sub(self.base)
            .map(|span| span / self.task.row.period)
            && passed > 1
        {
            let skipped = passed - 1;
            growth = growth.saturating_add(skipped.saturating_mul(self.cost));
            self.base = self
                .base
                .saturating_add(skipped.saturating_mul(self.task.row.period));
            self.set_next();
        }
        while self.next < end {
            self.slices += 1;
            let used = self.task.granted_ceil(self.slices).min(self.cost);
            growth = growth.saturating_add(used - self.used);
            self.used = used;
            if used == self.cost || self.slices == self.task.count {
                self.base = self.base.saturating_add(self.task.row.period);
                (self.slices, self.used) = (0, 0);
            }
            self.set_next();
        }
        growth
    }

    fn set_next(&mut self) {
        let offset = self.task.boundary_floor(self.slices);
        self.next = self.base.saturating_add(offset);
    }
}

/// The least fixed point of a constant and the g_j(t) of a growing set, as
/// [`crate::demand::Demand`] finds it for whole jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlicedDemand {
    counted: Vec<Counted>,
    window: u64,
    level: usize,
    /// A search was not decided.
    pub(crate) ran_out: bool,
}

impl SlicedDemand {
    /// Forgets all tasks.
    pub(crate) fn clear(&mut self) {
        self.counted.clear();
        self.window = 0;
    }

    /// Speaks of runs of `level` from now on; what was counted for another one is forgotten.
    pub(crate) fn turn_to(&mut self, level: usize) {
        if self.level != level {
            self.level = level;
            self.clear();
        }
    }

    /// The number of tasks.
    pub(crate) fn len(&self) -> usize {
        self.counted.len()
    }

    /// Adds a task in runs of `level`, and counts its first slice.
    pub(crate) fn add(&mut self, task: &Sliced, level: usize) {
        let mut counted = Counted::new(task, task.enforced(level));
        let growth = counted.count_until(1);
        self.window = self.window.saturating_add(growth);
        self.counted.push(counted);
    }

    /// Adds time that every window contains.
    pub(crate) fn add_constant(&mut self, time: u64) {
        self.window = self.window.saturating_add(time);
    }

    /// Counts further slices until the window is a fixed point or exceeds `limit`, or until it is not
    /// decided after [`PASSES_MAX`] passes.
    pub(crate) fn solve(&mut self, limit: u64) -> Bound {
        for _ in 0..PASSES_MAX {
            if self.window > limit {
                return Bound::AtLeast(self.window);
            }
            let mut window = self.window;
            for counted in &mut self.counted {
                if counted.next < window {
                    window = window.saturating_add(counted.count_until(window));
                }
            }
            if window == self.window {
                return Bound::Found(window);
            }
            self.window = window;
        }
        self.ran_out = true;
        Bound::Undecided
    }
}

/// Rate-monotonic priorities over slices, as this test gives them: the shorter slice period first, then
/// the more critical task, then the one that stands first.
#[must_use]
pub fn priorities_over_slices(tasks: &[Task], counts: &[SliceCount]) -> Vec<u32> {
    let rows = tasks
        .iter()
        .enumerate()
        .map(|(index, task)| Row::new(index, task));
    let sliced = rows.zip(counts).map(|(row, count)| Sliced {
        row,
        count: u64::from(count.get()),
    });
    let mut order: Vec<Sliced> = sliced.collect();
    order.sort_unstable_by(Sliced::urgency);
    let order: Vec<TaskId> = order.iter().map(|one| task_id(one.row.task)).collect();
    priorities_of(&order, tasks.len())
}
