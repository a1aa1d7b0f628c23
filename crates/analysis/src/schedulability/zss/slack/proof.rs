//! Whether given zero-slack instants keep the guarantee of a level: each job of a task of that level
//! meets its deadline in every run in which no job of any j executes for more than C_j(l).
//!
//! Three ways; [`crate::schedulability::zss`] has the equations and the proofs. [`SlackTables::undisturbed`]:
//! no task is ever suspended. [`SlackTables::bounded`]: response times that bound one another. And
//! the form of [`SlackTables::response`], which asks for nothing but deadlines.

use super::{SlackTables, Stream, TIGHTENED, charge};
use crate::demand::Bound;
use crate::problem::Row;

/// Which ways a proof may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ways {
    /// No task is suspended, or response times bound one another.
    Plain,
    /// Or the tightened form.
    Tightened,
}

/// After so many rounds, in each of which a bound grows, response times that bound one another are not decided.
const ROUNDS_MAX: u32 = 10_000;

/// Why a level is not proved: the task at `position` may take longer than its deadline, or that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    pub(crate) position: usize,
    pub(crate) level: usize,
    /// What was found instead of its bound.
    pub(crate) bound: Bound,
}

/// The level of the most critical task.
pub(crate) fn highest(order: &[Row]) -> usize {
    order.iter().map(|row| row.criticality).max().unwrap_or(0)
}

/// Whether some task is of this level: others have no guarantee to keep.
pub(crate) fn is_used(order: &[Row], level: usize) -> bool {
    order.iter().any(|row| row.criticality == level)
}

impl SlackTables {
    /// Whether the plain response times at `level`, by rate-monotonic analysis with all tasks'
    /// C(min(l, z)), keep all deadlines. They are in `responses` then.
    pub(crate) fn plain_responses(&mut self, order: &[Row], level: usize) -> Result<(), Excess> {
        self.responses.clear();
        self.plain.clear();
        for (position, row) in order.iter().enumerate() {
            self.plain.add(row.period, charge(row, level));
            match self.plain.solve(0, row.deadline) {
                Bound::Found(response) => self.responses.push(response),
                bound @ (Bound::AtLeast(_) | Bound::Undecided) => {
                    return Err(Excess {
                        position,
                        level,
                        bound,
                    });
                }
            }
        }
        Ok(())
    }

    /// A(l): no task, of whatever level, comes to its instant in runs of `level`. The response times are
    /// in `responses` then.
    pub(crate) fn undisturbed(&mut self, order: &[Row], level: usize) -> bool {
        self.plain_responses(order, level).is_ok()
            && self
                .responses
                .iter()
                .zip(&self.instants)
                .all(|(response, instant)| response <= instant)
    }

    /// Looks for bounds of the tasks of `level` and above that hold in runs of `level` if all of them
    /// hold: the least ones, from below. They are in `responses` then.
    ///
    /// Less critical tasks of some level and above have bounds too, unless one of these may be late. With
    /// [`ROUNDS_MAX`] the analysis runs out of steps: then no task is bounded.
    pub(crate) fn bounded(&mut self, order: &[Row], level: usize) -> Result<(), Excess> {
        self.responses.clear();
        self.responses
            .extend(order.iter().map(|row| charge(row, level)));
        // Tasks below this level may be late, and are out of the way at their deadlines only.
        let mut lowest = 0;
        for round in 0.. {
            self.ran_out |= round == ROUNDS_MAX;
            let mut settled = true;
            for (position, row) in order.iter().enumerate() {
                if row.criticality < lowest {
                    continue;
                }
                self.load_bounded(order, position, level, lowest);
                let (own, from) = (charge(row, level), self.responses[position]);
                match self.solve(own, from, self.instants[position], row.deadline) {
                    Bound::Found(response) if response == from => {}
                    Bound::Found(response) => {
                        self.responses[position] = response;
                        settled = false;
                    }
                    bound if row.criticality >= level => {
                        return Err(Excess {
                            position,
                            level,
                            bound,
                        });
                    }
                    Bound::AtLeast(_) | Bound::Undecided => {
                        lowest = row.criticality + 1;
                        settled = false;
                    }
                }
            }
            if settled {
                break;
            }
        }
        Ok(())
    }

    /// Gathers what interferes with the task at `position` in runs of `level`, with the bounds found so
    /// far for the tasks from the level `lowest` on.
    fn load_bounded(&mut self, order: &[Row], position: usize, level: usize, lowest: usize) {
        let own = order[position].criticality;
        self.always.clear();
        self.suspended.clear();
        let stream = |responses: &[u64], other: usize| {
            let row = &order[other];
            let reach = if row.criticality < lowest {
                row.deadline
            } else {
                responses[other]
            };
            Stream::within(row, charge(row, level), reach)
        };
        for (other, row) in order[..position].iter().enumerate() {
            let stream = stream(&self.responses, other);
            if row.criticality >= own {
                self.always.push(stream);
            } else {
                self.suspended.push(stream);
            }
        }
        // Less urgent tasks get ahead only while one of them is critical.
        let above = || (position + 1..order.len()).filter(|&other| order[other].criticality > own);
        if above().any(|other| self.responses[other] > self.instants[other]) {
            let streams = above().map(|other| stream(&self.responses, other));
            self.always.extend(streams);
        }
    }

    /// Whether every task of `level` passes the tightened form.
    fn passes_form(&mut self, order: &[Row], level: usize) -> bool {
        (0..order.len()).all(|position| {
            order[position].criticality != level || self.passes(order, position, TIGHTENED)
        })
    }

    /// Whether `level` keeps its guarantee although a task may be suspended in its runs.
    pub(crate) fn proves_level(
        &mut self,
        order: &[Row],
        level: usize,
        ways: Ways,
    ) -> Result<(), Excess> {
        match self.bounded(order, level) {
            Err(_) if ways == Ways::Tightened && self.passes_form(order, level) => Ok(()),
            result => result,
        }
    }

    /// Whether the levels above the `done` lowest ones are proved with the present instants.
    pub(crate) fn proves_from(
        &mut self,
        order: &[Row],
        done: usize,
        ways: Ways,
    ) -> Result<(), Excess> {
        // The least critical first: it is overtaken by all others, and fails most often.
        (done..=highest(order))
            .filter(|&level| is_used(order, level))
            .try_for_each(|level| self.proves_level(order, level, ways))
    }

    /// How many levels, from the lowest on, have runs in which no task is ever suspended. Where it is so
    /// in a level's runs it is so in those of all lower ones, which are among them.
    pub(crate) fn undisturbed_levels(&mut self, order: &[Row]) -> usize {
        let mut levels = 0..=highest(order);
        let disturbed = levels.find(|&level| !self.undisturbed(order, level));
        disturbed.unwrap_or(highest(order) + 1)
    }

    /// Whether the present instants keep every guarantee.
    pub(crate) fn proves(&mut self, order: &[Row], ways: Ways) -> Result<(), Excess> {
        let done = self.undisturbed_levels(order);
        self.proves_from(order, done, ways)
    }
}
