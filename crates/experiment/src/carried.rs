//! A set of tasks under a policy on one CPU, as searches and simulations carry it out.

use vestal_core::model::LEVELS_MAX;
use vestal_core::{Duration, Instant, LevelSet, Scheduler, Service, Task, TaskId};
use vestal_policy::{Cluster, Configuration, Engine, Precision, System, Visitor};
use vestal_sim::guarantee::Guarantee;
use vestal_sim::{Amid, Demand, Observer, Releases, Setting, SimulationError, simulate_amid};
use vestal_workload::Workload;

/// A set on one CPU under a policy.
pub(crate) struct Carried<'a> {
    pub(crate) tasks: &'a [Task],
    configuration: &'a Configuration,
    pub(crate) guarantee: Guarantee,
    pub(crate) amid: Amid<'a>,
}

/// What is guaranteed to the jobs of a cluster, if its test proves it.
pub(crate) fn guarantee(cluster: &Cluster) -> Guarantee {
    if let Some(servers) = cluster.guaranteed_servers() {
        let guarantee = Guarantee::of_servers(&servers.with(Precision::EXACT));
        return guarantee.within(cluster.server_bounds());
    }
    if let Some((levels, late)) = cluster.guaranteed_levels() {
        return levels.configured(Precision::EXACT, |all| Guarantee::of_levels(all, late));
    }
    let levels = LevelSet::new(LEVELS_MAX);
    let Some(((enforcement, exhaustion), levels)) = cluster.limits().zip(levels) else {
        return Guarantee::none();
    };
    Guarantee::of(&vestal_core::Configuration {
        tasks: cluster.configuration.tasks(),
        levels,
        enforcement,
        exhaustion,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    })
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
        Self::of(tasks, cluster).map_err(|why| format!("{} {why}", system.policy))
    }

    /// Of a cluster that guarantees deadlines, with its tasks.
    ///
    /// # Errors
    /// It guarantees none.
    pub(crate) fn of(tasks: &'a [Task], cluster: &'a Cluster) -> Result<Self, &'static str> {
        if cluster.limits().is_none() {
            return Err("guarantees no deadlines");
        }
        Ok(Self {
            tasks,
            configuration: &cluster.configuration,
            guarantee: guarantee(cluster),
            amid: Amid::default(),
        })
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

/// The jobs of a workload as the simulator asks for them.
// It asks whether to abort at each instant: a type of its own for who answers leaves no call there.
#[derive(Clone, Copy, Debug)]
pub struct Jobs<'a, A = fn() -> bool> {
    workload: &'a Workload,
    aborted: A,
}

impl<'a, A: Fn() -> bool> Jobs<'a, A> {
    /// All jobs of this workload; `aborted` says whether a simulation is to end before its time.
    #[must_use]
    pub const fn new(workload: &'a Workload, aborted: A) -> Self {
        Self { workload, aborted }
    }
}

impl<A: Fn() -> bool> Releases for Jobs<'_, A> {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        match previous {
            None => self.workload.release(task, sequence),
            Some(previous) => self.workload.next_release(task, sequence, previous),
        }
    }

    fn aborted(&self) -> bool {
        (self.aborted)()
    }
}

impl<A> Demand for Jobs<'_, A> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        self.workload.execution(task, sequence)
    }
}

/// A simulation of whatever scheduler it is given.
pub(crate) struct Run<'a, R, D, O> {
    pub(crate) amid: Amid<'a>,
    pub(crate) setting: &'a Setting<'a>,
    pub(crate) releases: &'a R,
    pub(crate) demand: &'a D,
    pub(crate) observer: &'a mut O,
}

impl<R: Releases, D: Demand, O: Observer> Visitor for Run<'_, R, D, O> {
    type Output = Result<(), SimulationError>;

    fn visit<S: Scheduler + Send + ?Sized>(self, scheduler: &mut S) -> Self::Output {
        let Run {
            amid,
            setting,
            releases,
            demand,
            observer,
        } = self;
        simulate_amid(scheduler, setting, amid, releases, demand, observer).map(|_| ())
    }
}
