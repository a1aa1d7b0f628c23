//! A set under a policy on all its CPUs, simulated with or without what carrying the policy out costs.

use crate::carried::{Jobs, Run as Alone, guarantee};
use crate::costs;
use crate::outside::{Arrivals, outside};
use vestal_core::{CpuId, Instant, Scheduler, Task};
use vestal_policy::{Cluster, Precision, System};
use vestal_sim::statistics::{Figures, Part};
use vestal_sim::workload::OfPart;
use vestal_sim::{
    Amid, Backlog, FrameCounter, FrameStatistics, Observer, Outside, Setting, SimulationError,
    Statistics, simulate_together, stepwise_amid,
};
use vestal_workload::{TaskSet, Workload};

/// What a simulation was like.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) figures: Figures,
    /// What became of its frames, if it has any.
    pub(crate) frames: Option<FrameStatistics>,
    /// How many bursts of PIBS were not over in time, and how often one of them executed when it had none.
    pub(crate) bursts_broken: u64,
}

/// Of what was counted in a cluster.
fn broken(statistics: &Statistics) -> u64 {
    let bursts = statistics.bursts();
    bursts.broken + bursts.uncalled
}

/// What is simulated, apart from the system.
pub(crate) struct Run<'a> {
    pub(crate) set: &'a TaskSet,
    pub(crate) workload: &'a Workload,
    pub(crate) end: Instant,
    pub(crate) backlog: Backlog,
    /// What carrying the policy out costs, and the seed from which it is drawn.
    pub(crate) costs: Option<(&'a costs::Simulated, u64)>,
}

/// Whether it can be simulated in a sweep; with costs if they are `costly`.
///
/// # Errors
/// Why not.
pub(crate) fn check(system: &System, costly: bool) -> Result<(), String> {
    let policy = &system.policy;
    for cluster in &system.clusters {
        let is_judged = cluster.limits().is_some()
            || cluster.guaranteed_servers().is_some()
            || cluster.guaranteed_levels().is_some();
        if !is_judged {
            return Err(format!("{policy} guarantees no deadlines"));
        }
        if costly {
            takes_costs(cluster).map_err(|why| format!("{policy}: {why}"))?;
        }
    }
    Ok(())
}

/// Whether the world of a cluster knows what its mechanisms cost.
///
/// # Errors
/// Why not.
pub fn takes_costs(cluster: &Cluster) -> Result<(), &'static str> {
    let configuration = &cluster.configuration;
    if configuration.servers().is_some() {
        return Err("what servers cost is not in this version");
    }
    if configuration.levels().is_some() {
        return Err("what tables, budgets and ghosts of levels cost is not in this version");
    }
    match configuration.frames() {
        None if cluster.cpus.len() > 1 => {
            Err("what CPUs with one queue cost is not in this version")
        }
        Some(_) | None => Ok(()),
    }
}

/// A cluster with everything that its world needs.
struct Ready<'a> {
    number: usize,
    cluster: &'a Cluster,
    tasks: Vec<Task>,
    homes: Vec<CpuId>,
    cpus: u16,
    outside: Option<Outside>,
    arrivals: Arrivals<'a>,
}

impl<'a> Ready<'a> {
    fn new(run: &Run<'a>, (number, cluster): (usize, &'a Cluster)) -> Self {
        let entries = cluster.configuration.tasks().iter();
        Self {
            number,
            cluster,
            tasks: entries.map(|entry| entry.task).collect(),
            homes: cluster.homes(),
            cpus: u16::try_from(cluster.cpus.len()).unwrap_or(u16::MAX),
            outside: outside(run.set, run.workload, cluster),
            arrivals: Arrivals(run.workload),
        }
    }

    fn setting(&self, run: &Run<'_>) -> Setting<'_> {
        Setting {
            tasks: &self.tasks,
            cpus: self.cpus,
            end: run.end,
            // Schedulers of levels have that room, and drop the others after taking the budget that each release brings.
            backlog: match self.cluster.configuration.levels() {
                Some(_) => Backlog::UNLIMITED,
                None => run.backlog,
            },
        }
    }

    fn amid<'b>(&'b self, run: &Run<'b>) -> Amid<'b> {
        Amid {
            outside: self
                .outside
                .as_ref()
                .map(|outside| (outside, &self.arrivals as _)),
            costs: run
                .costs
                .map(|(costs, seed)| costs.charges((self.number, &self.homes), seed)),
        }
    }

    fn statistics(&self) -> Statistics {
        Statistics::of_guarantee(guarantee(self.cluster), self.tasks.len(), self.cpus)
    }

    fn frames(&self) -> Option<FrameCounter> {
        let frames = self.cluster.configuration.frames()?;
        Some(FrameCounter::new(frames.map().length(), self.tasks.clone()))
    }
}

impl Run<'_> {
    /// Simulates a system with so many tasks, and says how that ended.
    ///
    /// # Errors
    /// What is wrong with the parameters of the system.
    pub(crate) fn of(
        &self,
        system: &System,
        tasks: usize,
    ) -> Result<(Outcome, Result<(), SimulationError>), String> {
        let clusters = system.clusters.iter().enumerate();
        let ready: Vec<Ready<'_>> = clusters.map(|one| Ready::new(self, one)).collect();
        match ready.as_slice() {
            [alone] if alone.cpus == system.cpus => self.alone(alone),
            several => self.together(several, (tasks, system.cpus)),
        }
    }

    /// Simulates a system of one cluster without costs, and tells the observer.
    ///
    /// # Errors
    /// What is wrong with the parameters of the system; that too many jobs wait.
    pub(crate) fn observed(
        &self,
        system: &System,
        observer: &mut impl Observer,
    ) -> Result<(), String> {
        let [cluster] = system.clusters.as_slice() else {
            return Err(format!("{} has several clusters", system.policy));
        };
        let ready = Ready::new(self, (0, cluster));
        let jobs = Jobs::new(self.workload, || false);
        let engine = cluster.configuration.engine(Precision::EXACT);
        let mut engine = engine.map_err(|refusal| refusal.to_string())?;
        let ended = engine.visit(Alone {
            amid: ready.amid(self),
            setting: &ready.setting(self),
            releases: &jobs,
            demand: &jobs,
            observer,
        });
        ended.map_err(|error| error.to_string())
    }

    fn alone(&self, ready: &Ready<'_>) -> Result<(Outcome, Result<(), SimulationError>), String> {
        let jobs = Jobs::new(self.workload, || false);
        let engine = ready.cluster.configuration.engine(Precision::EXACT);
        let mut engine = engine.map_err(|refusal| refusal.to_string())?;
        let mut frames = ready.frames();
        let mut statistics = ready.statistics();
        let ended = engine.visit(Alone {
            amid: ready.amid(self),
            setting: &ready.setting(self),
            releases: &jobs,
            demand: &jobs,
            observer: &mut (&mut statistics, &mut frames),
        });
        let outcome = Outcome {
            bursts_broken: broken(&statistics),
            figures: statistics.into_figures(),
            frames: frames.map(|counter| counter.figures()),
        };
        Ok((outcome, ended))
    }

    fn together(
        &self,
        ready: &[Ready<'_>],
        (tasks, cpus): (usize, u16),
    ) -> Result<(Outcome, Result<(), SimulationError>), String> {
        let jobs = Jobs::new(self.workload, || false);
        let mut engines: Vec<Box<dyn Scheduler + Send>> = Vec::new();
        for one in ready {
            let engine = one.cluster.configuration.engine(Precision::EXACT);
            engines.push(engine.map_err(|refusal| refusal.to_string())?.boxed());
        }
        let mut counted: Vec<_> = ready
            .iter()
            .map(|one| (one.statistics(), one.frames()))
            .collect();
        let settings: Vec<Setting<'_>> = ready.iter().map(|one| one.setting(self)).collect();
        let parts: Vec<_> = ready
            .iter()
            .map(|one| OfPart {
                whole: &jobs,
                tasks: &one.cluster.tasks,
            })
            .collect();
        let mut worlds = Vec::new();
        let engines = engines.iter_mut().zip(&mut counted);
        for (((one, setting), jobs), (engine, counted)) in
            ready.iter().zip(&settings).zip(&parts).zip(engines)
        {
            let amid = one.amid(self);
            let world = stepwise_amid(&mut **engine, setting, amid, jobs, jobs, counted);
            worlds.push(world.map_err(|error| error.to_string())?);
        }
        let ended = simulate_together(&mut worlds).map(|_| ());
        drop(worlds);
        let parts: Vec<Part<'_>> = ready
            .iter()
            .zip(&counted)
            .map(|(one, (statistics, _))| Part {
                figures: statistics,
                tasks: &one.cluster.tasks,
                cpus: &one.cluster.cpus,
            })
            .collect();
        let frames = counted.iter().filter_map(|(_, frames)| frames.as_ref());
        let outcome = Outcome {
            figures: Figures::of_parts(tasks, usize::from(cpus), &parts),
            frames: frames
                .map(FrameCounter::figures)
                .reduce(|all, more| all.and(&more)),
            bursts_broken: counted
                .iter()
                .map(|(statistics, _)| broken(statistics))
                .sum(),
        };
        Ok((outcome, ended))
    }
}

#[cfg(test)]
#[path = "several_tests.rs"]
mod tests;
