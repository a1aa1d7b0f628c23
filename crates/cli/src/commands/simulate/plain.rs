//! The simulated world of most runs: one cluster without servers, frames and costs, of which no trace is written.
//!
//! Who watches is known beforehand, and what kind of engine decides is asked once
//! ([`vestal_policy::Engine::visit`]): the world's loop is compiled for both, and calls nobody through a pointer.
//! All other runs take the same loop with observers and schedulers behind `dyn`, and come to the same.

use vestal_core::Scheduler;
use vestal_policy::{Engine, Visitor};
use vestal_sim::{Demand, Effort, Observer, Releases, Setting, SimulationError, simulate};

/// A simulation of whatever engine there is.
struct Run<'a, J, O> {
    setting: &'a Setting<'a>,
    jobs: &'a J,
    observer: &'a mut O,
}

impl<J: Releases + Demand, O: Observer> Visitor for Run<'_, J, O> {
    type Output = Result<Effort, SimulationError>;

    fn visit<S: Scheduler + Send + ?Sized>(self, scheduler: &mut S) -> Self::Output {
        simulate(scheduler, self.setting, self.jobs, self.jobs, self.observer)
    }
}

/// Simulates `engine` from the epoch to the end.
pub(super) fn run(
    engine: &mut Engine,
    setting: &Setting<'_>,
    jobs: &(impl Releases + Demand),
    observer: &mut impl Observer,
) -> Result<Effort, SimulationError> {
    engine.visit(Run {
        setting,
        jobs,
        observer,
    })
}
