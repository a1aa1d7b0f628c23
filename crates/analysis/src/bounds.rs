//! How long the least urgent task of a set may take.
//!
//! Fixed-priority response-time analyses for deadlines D <= T share one property. Let U be a set of
//! tasks and i the least urgent of them. As long as a window ends at or before D_i <= T_i, it
//! contains exactly one job of i, so i's own execution time is the same as one more interfering
//! job: the fixed point over *all* of U does not depend on which member is the least urgent, only
//! on the level. Hence R_U(l), the fixed point at level l, decides for every member at once: i
//! passes at the bottom of U iff R_U(l) <= D_i for each l <= z_i.
//!
//! R_U(l) never falls with l for the bounds here, so level by level the search continues from the
//! level before, and R_U(z_i) <= D_i alone decides.

use crate::demand::{Bound, Demand};
use crate::problem::Row;

/// The bounds R_U(l) of one analysis.
pub(crate) trait Bounds {
    /// Says which member of the sets to come is the least urgent. Bounds for which that makes no
    /// difference, as described above, do not ask.
    fn least_urgent(&mut self, _row: &Row) {}

    /// For how many levels, from 0 on, `row` has to meet its deadline.
    fn levels(&self, row: &Row) -> usize {
        row.criticality + 1
    }

    /// Whether one of the bounds asked for so far is not known, for the steps that it takes.
    fn is_undecided(&self) -> bool;

    /// Starts with the set `set`, sorted by criticality, lowest first.
    fn load(&mut self, set: &[Row]);

    /// R_U(level), not searched above `limit`. To be asked for the levels 0, 1, 2, ... in turn, each
    /// after the one before was found; `set` is the one loaded.
    fn at(&mut self, set: &[Row], level: usize, limit: u64) -> Bound;
}

/// What a job of an interfering task may execute, as seen from level l.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charge {
    /// C_j(l): nothing stops a job.
    Unenforced,
    /// C_j(min(l, z_j)): a job is stopped at its own level's value.
    Enforced,
    /// C_j(z_j): the own level's value whatever the level.
    Own,
}

impl Charge {
    /// The execution time of a job of `row` at `level`.
    pub(crate) fn cost(self, row: &Row, level: usize) -> u64 {
        match self {
            Self::Unenforced => row.wcet[level],
            Self::Enforced => row.wcet[level.min(row.criticality)],
            Self::Own => row.own_wcet(),
        }
    }
}

/// R_U(l) = sum over j in U of ceil(R_U(l) / T_j) * X_j(l), where X is the [`Charge`].
#[derive(Debug)]
pub(crate) struct StaticBounds<'a> {
    charge: Charge,
    demand: &'a mut Demand,
}

impl<'a> StaticBounds<'a> {
    pub(crate) fn new(charge: Charge, demand: &'a mut Demand) -> Self {
        Self { charge, demand }
    }
}

impl Bounds for StaticBounds<'_> {
    fn is_undecided(&self) -> bool {
        self.demand.is_undecided()
    }

    fn load(&mut self, set: &[Row]) {
        self.demand.clear();
        for row in set {
            self.demand.add(row.period, self.charge.cost(row, 0));
        }
    }

    fn at(&mut self, set: &[Row], level: usize, limit: u64) -> Bound {
        if level > 0 {
            for (index, row) in set.iter().enumerate() {
                self.demand.raise(index, self.charge.cost(row, level));
            }
        }
        self.demand.solve(0, limit)
    }
}
