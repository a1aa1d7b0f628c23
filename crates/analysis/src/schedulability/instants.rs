//! What the searches over the instants at which the mode may change have in common: `amc-max` and `amc-ia`.
//!
//! A depth-first search: at depth l the instants s_1 <= ... <= s_l are fixed (the mode becomes l at s_l), and the
//! greatest response time over all of them is sought.

use crate::assumptions::{self, trivially_infeasible};
use crate::audsley::{self, Heads};
use crate::bounds::Bounds;
use crate::demand::{Bound, Demand};
use crate::fixed_priority::{accepts_in_order, analyse_assigned, analyse_in_order};
use crate::outcome::{Kind, Outcome, Reason};
use crate::problem::{Problem, Row};
use crate::schedulability::amc_rtb::AdaptiveBounds;
use crate::scratch::Scratch;
use crate::tables::Tables;
use core::any::Any;
use vestal_core::model::LEVELS_MAX;
use vestal_core::order::ClassicOrder;

/// After so many change instants one analysis ends undecided. Twenty tasks with two
/// levels need some hundreds, with four up to a hundred thousand.
const STEPS_MAX: u64 = 10_000_000;

/// After so many change instants the search for one exact value is replaced by a decision, which
/// finds an upper bound of it. With two levels no value needs a thousand.
const VALUE_STEPS_MAX: u64 = 20_000;

/// The rule where the problem has priorities of its own, which go before every rule.
const UNUSED: ClassicOrder = ClassicOrder::DeadlineMonotonic;

/// One kind of search, with memory that is used again for the next one.
pub(crate) trait Search: Any + Default + Send {
    /// Looks at all instants for the set, which is sorted by criticality, lowest first, and its task `own`.
    fn walk(&mut self, set: &[Row], own: usize, path: &mut Path<'_>) -> Result<(), Stop>;
}

/// The greatest response times of the task named by [`Bounds::least_urgent`] in a set, over all instants.
#[derive(Debug)]
pub(crate) struct SearchedBounds<S> {
    search: S,
    searches: Searches,
    own: usize,
}

impl<S: Search> SearchedBounds<S> {
    pub(crate) const fn new(goal: Goal, search: S) -> Self {
        Self {
            search,
            searches: Searches::new(goal),
            own: 0,
        }
    }
}

impl<S: Search> Bounds for SearchedBounds<S> {
    fn is_undecided(&self) -> bool {
        self.searches.is_undecided()
    }

    fn least_urgent(&mut self, row: &Row) {
        self.own = row.task;
    }

    fn load(&mut self, _: &[Row]) {}

    fn at(&mut self, set: &[Row], level: usize, limit: u64) -> Bound {
        let (search, own) = (&mut self.search, self.own);
        self.searches.greatest(level, limit, |mut path| {
            search.walk(set, own, &mut path)?;
            Ok(path.reached)
        })
    }
}

/// The answer of a test with response times, by searches that `make` makes.
pub(crate) fn analyse<S: Search>(problem: &Problem, kind: Kind, make: impl Fn() -> S) -> Outcome {
    if let Some(reason) = assumptions::degraded(problem) {
        return Outcome::outside(kind, reason, problem.tasks().len());
    }
    let mut bounds = SearchedBounds::new(Goal::Value, make());
    let mut outcome = if problem.priorities().is_some() {
        analyse_in_order(problem, kind, UNUSED, &mut bounds)
    } else {
        analyse_assigned(problem, kind, &mut bounds, |tables, bounds, position| {
            let mut decisions = SearchedBounds::new(Goal::Decision, make());
            let mut demand = Demand::of_analysis();
            assign(problem, tables, &mut demand, &mut decisions, position);
            if decisions.is_undecided() || demand.is_undecided() {
                bounds.searches.set_undecided();
            }
        })
    };
    if bounds.searches.is_undecided() && outcome.why.is_some() {
        outcome.why = Some(Reason::SearchLimit { steps: STEPS_MAX });
    }
    outcome
}

/// Whether the condition of such a test holds, by a search that was used before and that `prepare` prepares.
pub(crate) fn accepts<S: Search>(
    problem: &Problem,
    scratch: &mut Scratch,
    prepare: impl FnOnce(&mut S),
) -> bool {
    if assumptions::degraded(problem).is_some() || trivially_infeasible(problem).is_some() {
        return false;
    }
    let Scratch {
        tables,
        demands: [demand, ..],
        own,
        ran_out,
    } = scratch;
    let search: &mut S = own.of();
    prepare(search);
    let mut bounds = SearchedBounds::new(Goal::Decision, core::mem::take(search));
    let holds = if problem.priorities().is_some() {
        accepts_in_order(problem, UNUSED, tables, &mut bounds)
    } else {
        assign(problem, tables, demand, &mut bounds, |_| {})
    };
    *ran_out |= bounds.is_undecided();
    *search = bounds.search;
    holds
}

/// Audsley's algorithm: by the bounds of `amc-rtb`, and where they let no task pass, by those that are searched.
fn assign(
    problem: &Problem,
    tables: &mut Tables,
    demand: &mut Demand,
    bounds: &mut impl Bounds,
    position: impl FnMut(&Row),
) -> bool {
    let rescue = |left: &[Row], heads: &Heads| {
        (0..heads.levels()).find(|&level| {
            let Some(head) = heads.row(left, level) else {
                return false;
            };
            bounds.least_urgent(head);
            (0..=level).all(|l| matches!(bounds.at(left, l, head.deadline), Bound::Found(_)))
        })
    };
    let mut simple = AdaptiveBounds::new(demand);
    audsley::assign_with_rescue(problem, tables, &mut simple, rescue, position)
}

/// What is asked of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Whether the greatest response time is within the limit. What is found is an upper bound of
    /// it that is within the limit.
    Decision,
    /// The greatest response time itself, or an upper bound that is within the limit if the search
    /// for it takes more than [`VALUE_STEPS_MAX`] instants.
    Value,
}

/// Why a search ended before it had seen everything.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    /// One response time is at least this, and this is above the limit.
    Exceeds(u64),
    OutOfSteps,
}

/// The searches of one analysis.
#[derive(Debug)]
struct Searches {
    goal: Goal,
    /// How many of the [`STEPS_MAX`] are left for all decisions together.
    steps_left: u64,
}

impl Searches {
    const fn new(goal: Goal) -> Self {
        Self {
            goal,
            steps_left: STEPS_MAX,
        }
    }

    /// Whether a search reached its limit undecided.
    const fn is_undecided(&self) -> bool {
        self.steps_left == 0
    }

    /// Another search, on whose answer this one rests, is undecided.
    const fn set_undecided(&mut self) {
        self.steps_left = 0;
    }

    /// The greatest response time at level `target` that `search` finds along a path.
    fn greatest(
        &mut self,
        target: usize,
        limit: u64,
        mut search: impl FnMut(Path<'_>) -> Result<u64, Stop>,
    ) -> Bound {
        let mut along = |goal, steps_left: &mut u64| {
            search(Path {
                instants: [0; LEVELS_MAX],
                target,
                limit,
                goal,
                reached: 0,
                steps_left,
            })
        };
        let mut value_steps = VALUE_STEPS_MAX;
        let mut found = match self.goal {
            Goal::Value => along(Goal::Value, &mut value_steps),
            Goal::Decision => Err(Stop::OutOfSteps),
        };
        if let Err(Stop::OutOfSteps) = found {
            found = along(Goal::Decision, &mut self.steps_left);
        }
        match found {
            Ok(greatest) => Bound::Found(greatest),
            Err(Stop::Exceeds(response)) => Bound::AtLeast(response),
            Err(Stop::OutOfSteps) => {
                self.set_undecided();
                Bound::Undecided
            }
        }
    }
}

/// The path that a search is on.
pub(crate) struct Path<'a> {
    /// s_{l + 1} at index l.
    pub(crate) instants: [u64; LEVELS_MAX],
    /// The level whose greatest response time is sought.
    pub(crate) target: usize,
    pub(crate) limit: u64,
    goal: Goal,
    /// The greatest value seen, bounds of pruned branches included.
    pub(crate) reached: u64,
    steps_left: &'a mut u64,
}

impl Path<'_> {
    /// R(level) below the target; `None` at the target, where it is one of those of which the greatest is sought.
    pub(crate) fn descend(&mut self, level: usize, response: Bound) -> Result<Option<u64>, Stop> {
        match response {
            Bound::AtLeast(response) => Err(Stop::Exceeds(response)),
            Bound::Undecided => Err(Stop::OutOfSteps),
            Bound::Found(response) if level == self.target => {
                self.reached = self.reached.max(response);
                Ok(None)
            }
            Bound::Found(response) => Ok(Some(response)),
        }
    }

    /// Whether a branch with this upper bound may be left out.
    pub(crate) fn settles(&mut self, bound: u64) -> bool {
        let enough = match self.goal {
            Goal::Decision => self.limit,
            Goal::Value => self.reached,
        };
        if bound > enough {
            return false;
        }
        self.reached = self.reached.max(bound);
        true
    }

    /// Looks at one more instant.
    pub(crate) fn step(&mut self) -> Result<(), Stop> {
        *self.steps_left = self.steps_left.saturating_sub(1);
        if *self.steps_left == 0 {
            return Err(Stop::OutOfSteps);
        }
        Ok(())
    }

    /// s_level, with s_0 = 0.
    pub(crate) fn latest(&self, level: usize) -> u64 {
        level.checked_sub(1).map_or(0, |index| self.instants[index])
    }

    /// The bound of `amc-rtb` for R(target; s) with s_1, ..., s_level as they are and R(level; s) = `response`.
    /// `demand` has what the tasks of lower criticality need, `rows` are the others, of which `own` has one job.
    pub(crate) fn branch_bound(
        &self,
        demand: &mut Demand,
        rows: &[Row],
        level: usize,
        own: Option<usize>,
        response: u64,
    ) -> Bound {
        for row in rows {
            let jobs = if row.criticality == level && Some(row.task) != own {
                response.div_ceil(row.period)
            } else {
                1
            };
            let next = jobs.saturating_mul(row.period);
            demand.add_running(next, row.period, row.wcet[level], jobs);
        }
        let mut bound = Bound::Found(response);
        for mode in level + 1..=self.target {
            let below = start(rows, mode);
            for (index, row) in rows.iter().enumerate().skip(below) {
                demand.raise(index, row.wcet[mode]);
            }
            bound = demand.solve(below, self.limit);
            if !matches!(bound, Bound::Found(_)) {
                break;
            }
        }
        bound
    }
}

/// The index of the first task of at least this criticality in a set that is sorted by it, lowest first.
pub(crate) fn start(set: &[Row], level: usize) -> usize {
    set.partition_point(|row| row.criticality < level)
}
