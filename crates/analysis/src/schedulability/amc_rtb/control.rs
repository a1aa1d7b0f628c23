//! Wrong on purpose: what is easily forgotten of degraded budgets.

use super::AdaptiveBounds;
use super::degraded::{Budgets, DegradedBounds};
use crate::audsley::assign_one_by_one;
use crate::bounds::Bounds;
use crate::demand::{Bound, Demand};
use crate::fixed_priority::{analyse_or, analyse_or_assign};
use crate::outcome::{Kind, Outcome};
use crate::problem::{Problem, Row};

/// Only up to its own level a task is asked for its response times.
struct Unguaranteed<'a>(DegradedBounds<'a>);

impl Bounds for Unguaranteed<'_> {
    fn is_undecided(&self) -> bool {
        self.0.is_undecided()
    }

    fn least_urgent(&mut self, row: &Row) {
        self.0.least_urgent(row);
    }

    fn load(&mut self, set: &[Row]) {
        self.0.load(set);
    }

    fn at(&mut self, set: &[Row], level: usize, limit: u64) -> Bound {
        self.0.at(set, level, limit)
    }
}

/// The mistake: a task with a degraded budget is proved for the modes up to its level only, as if it were dropped above.
pub(crate) fn analyse_unguaranteed(problem: &Problem) -> Outcome {
    let mut demand = Demand::of_analysis();
    let Some(budgets) = Budgets::of(problem) else {
        return analyse_or_assign(problem, Kind::Unsafe, &mut AdaptiveBounds::new(&mut demand));
    };
    let mut bounds = Unguaranteed(DegradedBounds::new(&budgets, &mut demand));
    analyse_or(
        problem,
        Kind::Unsafe,
        &mut bounds,
        |tables, bounds, position| {
            let passes = |row: &Row, set: &[Row]| {
                bounds.least_urgent(row);
                matches!(
                    bounds.at(set, row.criticality, row.deadline),
                    Bound::Found(_)
                )
            };
            assign_one_by_one(problem, tables, passes, position);
        },
    )
}
