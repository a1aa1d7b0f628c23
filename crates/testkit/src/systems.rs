//! Random systems of one CPU near full load, and every step of them in the world of whole ticks.

use super::random::Random;
use super::world::World;
use std::cell::RefCell;
use vestal_core::*;

/// A random configuration near full load, kept so that engines can be built from it again.
pub struct Setup {
    /// The tasks.
    pub tasks: Vec<TaskConfiguration>,
    /// Their levels.
    pub levels: LevelSet,
    /// How long jobs may execute.
    pub enforcement: Enforcement,
    /// What happens then.
    pub exhaustion: Exhaustion,
    /// The order is by these, if there are some.
    pub virtual_deadlines: Option<Vec<Duration>>,
    /// The order is by these, if there are some.
    pub lists: Option<Vec<Vec<u32>>>,
    /// Whether the priorities in the lists are computed anew rather than reused.
    pub recomputed: bool,
    /// When tasks arrive first.
    pub offsets: Vec<u64>,
}

impl Setup {
    /// Two to five tasks.
    ///
    /// # Panics
    /// Never: what is drawn is valid.
    #[must_use]
    pub fn random(random: &mut Random) -> Self {
        let levels = LevelSet::new(2 + random.below(3) as usize).unwrap();
        let enforcement = [
            Enforcement::Adaptive,
            Enforcement::Adaptive,
            Enforcement::Static,
            Enforcement::Static,
            Enforcement::ZeroSlack,
        ][random.below(5) as usize];
        // Zero-slack instants and slices go with fixed priorities.
        let any_order = enforcement != Enforcement::ZeroSlack;
        let count = 2 + random.below(4);
        let mut tasks: Vec<_> = (0..count)
            .map(|_| random_task(random, levels, count))
            .collect();
        let sliced = enforcement == Enforcement::Static && random.below(2) == 0;
        if sliced {
            for entry in &mut tasks {
                entry.slices = random_slices(random, entry);
            }
        }
        let any_order = any_order && !sliced;
        let virtual_deadlines = (any_order && random.below(3) == 0).then(|| {
            let due = |entry: &TaskConfiguration, random: &mut Random| {
                Duration::from_nanos(1 + random.below(entry.task.deadline.as_nanos()))
            };
            tasks.iter().map(|entry| due(entry, random)).collect()
        });
        let lists = (any_order && virtual_deadlines.is_none() && random.below(3) == 0)
            .then(|| random_lists(random, tasks.len()));
        Self {
            recomputed: lists.is_some() && random.below(2) == 0,
            lists,
            offsets: tasks.iter().map(|_| random.below(8)).collect(),
            tasks,
            levels,
            enforcement: if sliced {
                Enforcement::Slices
            } else {
                enforcement
            },
            exhaustion: [
                Exhaustion::Background,
                Exhaustion::Abort,
                Exhaustion::Continue,
            ][random.below(3) as usize],
            virtual_deadlines,
        }
    }

    /// What an engine is made of.
    #[must_use]
    pub fn configuration(&self) -> Configuration<'_> {
        Configuration {
            tasks: &self.tasks,
            levels: self.levels,
            enforcement: self.enforcement,
            exhaustion: self.exhaustion,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        }
    }

    /// The engine.
    ///
    /// # Panics
    /// Never: what is drawn is valid.
    #[must_use]
    pub fn engine(&self) -> Uniprocessor {
        self.engine_with(DeadlineQueues::One)
    }

    /// The same, if the order is by deadlines with so many queues of ready jobs.
    ///
    /// # Panics
    /// Never: what is drawn is valid.
    #[must_use]
    pub fn engine_with(&self, queues: DeadlineQueues) -> Uniprocessor {
        let lists = self.lists.iter().flatten();
        let lists = lists.map(|list| list.into()).collect();
        let order = match (&self.virtual_deadlines, &self.lists) {
            (Some(due), _) => TaskOrder::EarliestDeadline {
                virtual_deadlines: due.into(),
                queues,
            },
            (None, Some(_)) if self.recomputed => TaskOrder::RecomputedLists { lists },
            (None, Some(_)) => TaskOrder::ReusedLists { lists },
            (None, None) => TaskOrder::FixedPriority,
        };
        Uniprocessor::with_order(&self.configuration(), &order).unwrap()
    }
}

fn random_slices(random: &mut Random, entry: &TaskConfiguration) -> SliceCount {
    let most = entry.task.period.as_nanos().min(6);
    SliceCount::new(1 + random.below(most) as u32, &entry.task).unwrap()
}

/// How many jobs of a task a random list has room for.
pub const LIST_LENGTH: usize = 5;

/// Decreasing lists over all priorities, as an analysis would interleave them.
fn random_lists(random: &mut Random, tasks: usize) -> Vec<Vec<u32>> {
    let mut owners: Vec<usize> = (0..tasks * LIST_LENGTH)
        .map(|entry| entry % tasks)
        .collect();
    random.shuffle(&mut owners);
    let mut lists = vec![Vec::new(); tasks];
    for (priority, owner) in owners.iter().enumerate().rev() {
        lists[*owner].push(priority as u32);
    }
    lists
}

fn random_task(random: &mut Random, levels: LevelSet, count: u64) -> TaskConfiguration {
    let period = 4 + random.below(20);
    let criticality = Level(random.below(levels.count() as u64) as u8);
    let mut value = 1 + random.below(period / count + 1);
    let wcet: Vec<Service> = criticality
        .up_to_self()
        .map(|_| {
            let at = value;
            value += random.below(3);
            Service::from_nanos(at)
        })
        .collect();
    let span = Duration::from_nanos(period);
    let deadline = Duration::from_nanos(period - random.below(period / 3 + 1));
    let mut task = Task::new(criticality, span, deadline, Wcet::new(&wcet).unwrap()).unwrap();
    if random.below(6) == 0 {
        task.degraded = Some(Service::from_nanos(1));
    }
    let on_miss = if random.below(3) == 0 {
        OnMiss::Abort
    } else {
        OnMiss::Continue
    };
    let priority = random.below(6) as u32;
    TaskConfiguration {
        on_miss,
        zero_slack: (random.below(6) > 0)
            .then(|| Duration::from_nanos(random.below(deadline.as_nanos() + 1))),
        ..TaskConfiguration::new(task, priority)
    }
}

/// Facts of one instant, and the plan that followed.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// When.
    pub at: u64,
    /// What was told.
    pub facts: Vec<Fact>,
    /// Who was to run.
    pub slot: Option<Slot>,
    /// When the scheduler wanted to be asked again.
    pub next: Option<Wake>,
    /// The mode.
    pub mode: Level,
}

/// Runs `setup` for `ticks` and returns every step. `disturb` may reorder or add to the facts of an
/// instant before they are reported.
///
/// # Panics
/// If the engine refuses what it is told.
pub fn run(
    setup: &Setup,
    engine: &mut dyn Scheduler,
    random: &mut Random,
    ticks: u64,
    mut disturb: impl FnMut(&mut Vec<Fact>),
) -> Vec<Step> {
    let (random, mut next) = (RefCell::new(random), setup.offsets.clone());
    let program = |job: JobId| {
        let task = &setup.tasks[job.task.index()].task;
        vec![demand(task, &mut random.borrow_mut())]
    };
    let mut world = World::new(engine, 1, setup.tasks.len(), program);
    let mut steps = Vec::new();
    for at in 0..ticks {
        let mut facts = world.facts();
        for (number, next) in (0..).zip(&mut next).filter(|(_, next)| **next == at) {
            facts.push(world.release(number));
            let period = setup.tasks[usize::from(number)].task.period.as_nanos();
            let mut random = random.borrow_mut();
            *next = at + period + random.below(2) * random.below(5);
        }
        disturb(&mut facts);
        world.tell(&facts);
        world.settle();
        steps.push(Step {
            at,
            facts,
            slot: world.decided.slots[0],
            next: world.decided.next,
            mode: world.decided.mode,
        });
        world.enact();
        world.run();
    }
    steps
}

/// At a budget, one past it, at the own level's, one past that.
fn demand(task: &Task, random: &mut Random) -> u64 {
    let level = Level(random.below(3) as u8).min(task.criticality);
    (task.wcet.at(level).as_nanos() + random.below(2)).max(1)
}
