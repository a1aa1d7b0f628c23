//! Simulations of one scheduler from beginning to end.

use super::{Effort, Setting, World};
use crate::costs::{Charges, Costing};
use crate::error::SimulationError;
use crate::observer::Observer;
use crate::outside::{Costly, Events, Happening, Outside, Surroundings};
use crate::workload::{Demand, Releases};
use vestal_core::{CpuId, Scheduler};

/// What a simulation is amid, beside its jobs.
#[derive(Clone, Copy, Default)]
pub struct Amid<'a> {
    /// Devices, jobs that wait for them, and requests for modes; with when those come that come by themselves. Only
    /// schedulers that know devices take such facts.
    pub outside: Option<(&'a Outside, &'a dyn Events)>,
    /// What carrying the policy out costs; with the CPU of each task, the first one for those that are not listed.
    pub costs: Option<(Charges<'a>, &'a [CpuId])>,
}

/// Simulates `scheduler` on `setting` from the epoch to the end.
///
/// # Errors
/// [`SimulationError`]: a workload that contradicts itself, more waiting jobs than may be kept, or a
/// broken invariant. Missed deadlines are no errors.
pub fn simulate<S, R, D, O>(
    scheduler: &mut S,
    setting: &Setting<'_>,
    releases: &R,
    demand: &D,
    observer: &mut O,
) -> Result<Effort, SimulationError>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
{
    simulate_in(scheduler, setting, (), (releases, demand), observer)
}

/// The same amid more than jobs.
///
/// O(devices) more for each of their events; where it costs something, O(CPUs) for each event.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_amid<S, R, D, O>(
    scheduler: &mut S,
    setting: &Setting<'_>,
    amid: Amid<'_>,
    releases: &R,
    demand: &D,
    observer: &mut O,
) -> Result<Effort, SimulationError>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
{
    let jobs = (releases, demand);
    let tasks = setting.tasks.len();
    match (amid.happening(tasks), amid.costs) {
        (None, None) => simulate(scheduler, setting, releases, demand, observer),
        (Some(around), None) => simulate_in(scheduler, setting, around, jobs, observer),
        (happening, Some(costs)) => {
            let costing = Costing::new(costs, (tasks, setting.cpus));
            let around = Costly { costing, happening };
            simulate_in(scheduler, setting, around, jobs, observer)
        }
    }
}

impl<'a> Amid<'a> {
    /// What happens outside during a run of so many tasks.
    pub(super) fn happening(&self, tasks: usize) -> Option<Happening<'a>> {
        let (outside, events) = self.outside?;
        Some(Happening::new(outside, events, tasks))
    }
}

fn simulate_in<'a, S, R, D, O, X>(
    scheduler: &mut S,
    setting: &'a Setting<'a>,
    outside: X,
    jobs: (&'a R, &'a D),
    observer: &mut O,
) -> Result<Effort, SimulationError>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
    X: Surroundings<'a>,
{
    if setting.cpus == 1 {
        simulate_on::<S, R, D, O, X, true>(scheduler, setting, outside, jobs, observer)
    } else {
        simulate_on::<S, R, D, O, X, false>(scheduler, setting, outside, jobs, observer)
    }
}

/// The same; `ALONE` says that there is exactly one CPU.
// Not in line: each loop has the registers for itself then.
#[inline(never)]
fn simulate_on<'a, S, R, D, O, X, const ALONE: bool>(
    scheduler: &mut S,
    setting: &'a Setting<'a>,
    outside: X,
    jobs: (&'a R, &'a D),
    observer: &mut O,
) -> Result<Effort, SimulationError>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
    X: Surroundings<'a>,
{
    let mut world =
        World::<_, _, _, _, _, ALONE>::new(scheduler, setting, outside, jobs, observer)?;
    let ended = world.run();
    world.ended(ended)
}
