//! Several worlds in one run: each decided by itself, all in the order of their instants.

use super::{Amid, Effort, Setting, Step, World};
use crate::costs::Costing;
use crate::error::SimulationError;
use crate::observer::Observer;
use crate::outside::{Costly, Surroundings};
use crate::workload::{Demand, Releases};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use vestal_core::{Instant, Scheduler};

/// A world that goes from instant to instant when it is told to.
pub trait Steps {
    /// The next instant at which anything can happen in it.
    fn next_instant(&self) -> Instant;

    /// Goes there; says whether that was the end of the run.
    ///
    /// # Errors
    /// As [`super::simulate`].
    fn advance(&mut self) -> Result<bool, SimulationError>;

    /// The run ends at this instant, which no instant so far was after.
    fn cut(&mut self, end: Instant);

    /// How much work it was so far.
    fn effort(&self) -> Effort;
}

/// The world of [`super::simulate`], to be stepped.
///
/// # Errors
/// As [`super::simulate`], of the first releases.
pub fn stepwise<'a, S, R, D, O>(
    scheduler: &'a mut S,
    setting: &'a Setting<'a>,
    releases: &'a R,
    demand: &'a D,
    observer: &'a mut O,
) -> Result<Box<dyn Steps + 'a>, SimulationError>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
{
    stepped(scheduler, setting, (), (releases, demand), observer)
}

/// The world of [`super::simulate_amid`], to be stepped.
///
/// # Errors
/// As [`stepwise`].
pub fn stepwise_amid<'a, S, R, D, O>(
    scheduler: &'a mut S,
    setting: &'a Setting<'a>,
    amid: Amid<'a>,
    releases: &'a R,
    demand: &'a D,
    observer: &'a mut O,
) -> Result<Box<dyn Steps + 'a>, SimulationError>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
{
    let jobs = (releases, demand);
    let tasks = setting.tasks.len();
    match (amid.happening(tasks), amid.costs) {
        (None, None) => stepped(scheduler, setting, (), jobs, observer),
        (Some(around), None) => stepped(scheduler, setting, around, jobs, observer),
        (happening, Some(costs)) => {
            let costing = Costing::new(costs, (tasks, setting.cpus));
            let around = Costly { costing, happening };
            stepped(scheduler, setting, around, jobs, observer)
        }
    }
}

fn stepped<'a, S, R, D, O, X>(
    scheduler: &'a mut S,
    setting: &'a Setting<'a>,
    outside: X,
    jobs: (&'a R, &'a D),
    observer: &'a mut O,
) -> Result<Box<dyn Steps + 'a>, SimulationError>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
    X: Surroundings<'a> + 'a,
{
    Ok(if setting.cpus == 1 {
        let world = World::<_, _, _, _, _, true>::new(scheduler, setting, outside, jobs, observer)?;
        Box::new(Stepped(world))
    } else {
        let world =
            World::<_, _, _, _, _, false>::new(scheduler, setting, outside, jobs, observer)?;
        Box::new(Stepped(world))
    })
}

struct Stepped<'a, 'o, S: ?Sized, R: ?Sized, D: ?Sized, O: ?Sized, X, const ALONE: bool>(
    World<'a, 'o, S, R, D, O, X, ALONE>,
);

impl<'a, S, R, D, O, X, const ALONE: bool> Steps for Stepped<'a, '_, S, R, D, O, X, ALONE>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
    X: Surroundings<'a>,
{
    fn next_instant(&self) -> Instant {
        self.0.next_instant()
    }

    fn advance(&mut self) -> Result<bool, SimulationError> {
        let step: Step<bool> = self.0.advance();
        match step {
            Ok(false) => Ok(false),
            ended => self.0.ended(ended.map(drop)).map(|_| true),
        }
    }

    fn cut(&mut self, end: Instant) {
        self.0.end = self.0.end.min(end);
    }

    fn effort(&self) -> Effort {
        self.0.effort
    }
}

/// Simulates worlds that have nothing to do with one another in one run: whichever has the earliest next
/// instant goes on, the first of them at equal ones, so that what they report is in the order of its
/// instants. Each of them goes as it would alone. Where one has more waiting jobs than it may keep, the others
/// end at that instant too.
///
/// O(log m) for each step, m worlds.
///
/// # Errors
/// That of the world that had one first.
pub fn simulate_together(worlds: &mut [Box<dyn Steps + '_>]) -> Result<Effort, SimulationError> {
    let mut cut = None;
    let mut queue = BinaryHeap::with_capacity(worlds.len());
    queue.extend(
        worlds
            .iter()
            .enumerate()
            .map(|(number, world)| turn(number, &**world)),
    );
    while let Some(Reverse((_, number))) = queue.pop() {
        let world = &mut worlds[number];
        match world.advance() {
            Ok(true) => {}
            Ok(false) => queue.push(turn(number, &**world)),
            Err(SimulationError::TooManyKept { at, kept }) => {
                // The first of them says why; one that is cut may have too many there as well.
                cut = cut.or(Some(SimulationError::TooManyKept { at, kept }));
                worlds.iter_mut().for_each(|world| world.cut(at));
                let waiting: Vec<usize> = queue.drain().map(|Reverse((_, other))| other).collect();
                queue.extend(
                    waiting
                        .into_iter()
                        .map(|other| turn(other, &*worlds[other])),
                );
            }
            Err(error) => return Err(error),
        }
    }
    match cut {
        Some(error) => Err(error),
        None => Ok(worlds.iter().fold(Effort::default(), |sum, world| Effort {
            decisions: sum.decisions + world.effort().decisions,
            facts: sum.facts + world.effort().facts,
        })),
    }
}

/// The place of a world in the queue.
fn turn(number: usize, world: &dyn Steps) -> Reverse<(Instant, usize)> {
    Reverse((world.next_instant(), number))
}
