//! Which missed deadlines of MC² had been guaranteed on one CPU (Herman et al., RTAS 2012, section 2).
//!
//! | level | to be complete at | unless before that one of these exceeded its bound |
//! |---|---|---|
//! | A | its deadline | its own task, C(A) |
//! | B | its deadline | its own task, C(B); a task of level A here, its C(B) |
//!
//! Budgets keep all other tasks of level B to themselves; where they are ignored, all tasks of level B count as its own does. *No instant
//! restores it*: budgets outlive jobs, so that one who exceeded its bound may have left its task behind for any number of periods.
//! So there are no busy periods here. The same rule is the simulator's (`vestal_sim`, `guarantee/levelled.rs`), for exact time.

use crate::guarantee::beyond;
use vestal_core::model::{LEVELS_MAX, Task};
use vestal_core::{Instant, Level};

/// How a task of levels A and B is served on its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Level A: in slots of a table.
    Table,
    /// Level B: with budgets of its own, or without, if they are ignored.
    Local {
        /// Whether its budgets hold.
        is_budgeted: bool,
    },
}

/// By level, the first instant at which one of some jobs exceeded its C of that level, as a clock reading.
#[derive(Clone, Copy, Debug, Default)]
struct Crossings([Option<u64>; LEVELS_MAX]);

impl Crossings {
    fn add(&mut self, level: usize, since: u64) {
        if let Some(known) = self.0.get_mut(level) {
            *known = Some(known.map_or(since, |before| before.min(since)));
        }
    }

    fn at(&self, level: Level) -> Option<u64> {
        self.0.get(level.index()).copied().flatten()
    }
}

/// All tasks of a CPU.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    own: Vec<(Layer, Crossings)>,
    /// Of those on whom others of level B depend.
    shared: Crossings,
}

impl Layers {
    /// By task.
    pub(super) fn new(each: impl IntoIterator<Item = Layer>) -> Self {
        let own = each.into_iter().map(|layer| (layer, Crossings::default()));
        Self {
            own: own.collect(),
            shared: Crossings::default(),
        }
    }

    /// A job of the task with this index has executed so much by `now`.
    pub(super) fn note_execution(
        &mut self,
        index: usize,
        task: &Task,
        (executed, tolerance): (u64, u64),
        now: u64,
    ) {
        let Some((layer, own)) = self.own.get_mut(index) else {
            return;
        };
        let is_shared = match layer {
            Layer::Table => true,
            Layer::Local { is_budgeted } => !*is_budgeted,
        };
        for (number, level) in (0..).map(Level).enumerate().take(LEVELS_MAX) {
            if let Some(since) = beyond(task.wcet.at(level), executed, tolerance, now) {
                own.add(number, since);
                if is_shared {
                    self.shared.add(number, since);
                }
            }
        }
    }

    /// Since when nothing is guaranteed to jobs of this task, whose level this is.
    pub(super) fn exceeded(&self, index: usize, level: Level) -> Option<Instant> {
        let (layer, own) = self.own.get(index)?;
        let others = match layer {
            Layer::Table => None,
            Layer::Local { .. } => self.shared.at(level),
        };
        let each = own.at(level).into_iter().chain(others);
        each.min().map(Instant::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::guarantee::covers;
    use vestal_core::{Duration, Service, Wcet};

    const A: usize = 0;
    const B: usize = 1;
    const OTHER_B: usize = 2;

    /// One task of level A, and two of level B, whose budgets hold or not.
    fn layers(is_budgeted: bool) -> Layers {
        let local = Layer::Local { is_budgeted };
        Layers::new([Layer::Table, local, local])
    }

    /// Levels C, B, A are 0, 1, 2.
    fn task(level: u8, wcet: &[u64]) -> Task {
        let wcet: Vec<Service> = wcet.iter().copied().map(Service::from_nanos).collect();
        let period = Duration::from_nanos(1_000);
        Task::new(Level(level), period, period, Wcet::new(&wcet).unwrap()).unwrap()
    }

    fn of_a() -> Task {
        task(2, &[10, 20, 50])
    }

    fn of_b() -> Task {
        task(1, &[10, 30])
    }

    fn guaranteed(layers: &Layers, who: usize, level: u8, deadline: u64) -> bool {
        covers(
            Instant::from_nanos(deadline),
            layers.exceeded(who, Level(level)),
            None,
        )
    }

    /// A of 40 is beyond its C(B) from 20 on: B's guarantee ends there, and A's own does not.
    #[test]
    fn a_job_of_level_a_beyond_its_c_of_b_ends_the_guarantee_of_b_here() {
        let mut layers = layers(true);
        layers.note_execution(A, &of_a(), (40, 0), 100);
        assert!(guaranteed(&layers, B, 1, 80) && !guaranteed(&layers, B, 1, 81));
        assert!(guaranteed(&layers, A, 2, 10_000));
        layers.note_execution(A, &of_a(), (51, 0), 200);
        assert!(guaranteed(&layers, A, 2, 199) && !guaranteed(&layers, A, 2, 200));
    }

    /// The old rule, by which whoever is beyond its own C ends the guarantee to all where nothing stops it, is wrong here.
    #[test]
    fn a_job_of_level_b_beyond_its_c_takes_from_its_own_task_alone_while_budgets_hold() {
        let mut layers = layers(true);
        layers.note_execution(B, &of_b(), (1_000, 0), 2_000);
        assert!(!guaranteed(&layers, B, 1, 3_000));
        assert!(guaranteed(&layers, OTHER_B, 1, 3_000) && guaranteed(&layers, A, 2, 3_000));
    }

    #[test]
    fn where_budgets_are_ignored_all_of_level_b_count_and_level_a_is_safe_still() {
        let mut layers = layers(false);
        layers.note_execution(B, &of_b(), (1_000, 0), 2_000);
        assert!(!guaranteed(&layers, OTHER_B, 1, 3_000));
        assert!(guaranteed(&layers, A, 2, 3_000));
    }

    /// However long ago it was: budgets outlive jobs.
    #[test]
    fn no_instant_restores_a_guarantee_and_what_is_tolerated_ends_none() {
        let mut layers = layers(true);
        layers.note_execution(B, &of_b(), (35, 5), 100);
        assert!(guaranteed(&layers, B, 1, u64::MAX / 2));
        layers.note_execution(B, &of_b(), (36, 5), 200);
        layers.note_execution(B, &of_b(), (3, 5), 9_000);
        assert!(!guaranteed(&layers, B, 1, u64::MAX / 2));
        // 6 of the 36 were too much.
        assert!(guaranteed(&layers, B, 1, 194));
    }
}
