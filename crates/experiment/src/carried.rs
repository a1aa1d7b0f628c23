//! A set of tasks under a policy on one CPU, as searches and simulations carry it out.

use vestal_core::{Enforcement, Exhaustion, Scheduler, Task};
use vestal_policy::{Configuration, Engine, Precision, System, Terms, Visitor};
use vestal_sim::{Demand, Observer, Releases, Setting, SimulationError, simulate};

/// A set on one CPU under a policy.
pub(crate) struct Carried<'a> {
    pub(crate) tasks: &'a [Task],
    configuration: &'a Configuration,
    pub(crate) enforcement: Enforcement,
    pub(crate) exhaustion: Exhaustion,
}

impl<'a> Carried<'a> {
    /// Of a system in one piece that guarantees deadlines.
    ///
    /// # Errors
    /// What it is instead.
    pub(crate) fn new(tasks: &'a [Task], system: &'a System) -> Result<Self, String> {
        let [cluster] = &system.clusters[..] else {
            return Err(format!("{} has several clusters", system.policy));
        };
        let mut domains = cluster.domains.iter().map(|domain| &domain.guarantee.terms);
        match (domains.next(), domains.next()) {
            (
                Some(&Terms::Deadlines {
                    enforcement,
                    exhaustion,
                }),
                None,
            ) => Ok(Self {
                tasks,
                configuration: &cluster.configuration,
                enforcement,
                exhaustion,
            }),
            _ => Err(format!("{} guarantees no deadlines", system.policy)),
        }
    }

    /// A scheduler before its first job.
    ///
    /// # Errors
    /// What is wrong with the parameters.
    pub(crate) fn engine(&self) -> Result<Engine, String> {
        let engine = self.configuration.engine(Precision::EXACT);
        engine.map_err(|refusal| refusal.to_string())
    }
}

/// A simulation of whatever scheduler it is given.
pub(crate) struct Run<'a, R, D, O> {
    pub(crate) setting: &'a Setting<'a>,
    pub(crate) releases: &'a R,
    pub(crate) demand: &'a D,
    pub(crate) observer: &'a mut O,
}

impl<R: Releases, D: Demand, O: Observer> Visitor for Run<'_, R, D, O> {
    type Output = Result<(), SimulationError>;

    fn visit<S: Scheduler + Send + ?Sized>(self, scheduler: &mut S) -> Self::Output {
        let Run {
            setting,
            releases,
            demand,
            observer,
        } = self;
        simulate(scheduler, setting, releases, demand, observer).map(|_| ())
    }
}
