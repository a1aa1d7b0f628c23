//! A world of one CPU that moves in whole ticks and records every fact it tells.

use vestal_core::*;

pub(crate) const CPU: CpuId = CpuId(0);

/// A small generator, so that a run is named by its seed alone (Steele, Lea and Flood 2014).
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// A random configuration near full load, kept so that engines can be built from it again.
pub(crate) struct Setup {
    pub(crate) tasks: Vec<TaskConfiguration>,
    pub(crate) levels: LevelSet,
    pub(crate) enforcement: Enforcement,
    pub(crate) exhaustion: Exhaustion,
    pub(crate) virtual_deadlines: Option<Vec<Duration>>,
    pub(crate) lists: Option<Vec<Vec<u32>>>,
    /// Whether the priorities in the lists are computed anew rather than reused.
    pub(crate) recomputed: bool,
    pub(crate) offsets: Vec<u64>,
}

impl Setup {
    pub(crate) fn random(random: &mut Random) -> Self {
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

    pub(crate) fn configuration(&self) -> Configuration<'_> {
        Configuration {
            tasks: &self.tasks,
            levels: self.levels,
            enforcement: self.enforcement,
            exhaustion: self.exhaustion,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        }
    }

    pub(crate) fn engine(&self) -> Uniprocessor {
        let lists = self.lists.iter().flatten();
        let lists = lists.map(|list| list.into()).collect();
        let order = match (&self.virtual_deadlines, &self.lists) {
            (Some(due), _) => TaskOrder::EarliestDeadline {
                virtual_deadlines: due.into(),
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
pub(crate) const LIST_LENGTH: usize = 5;

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
pub(crate) struct Step {
    pub(crate) at: u64,
    pub(crate) facts: Vec<Fact>,
    pub(crate) slot: Option<Slot>,
    pub(crate) next: Option<Wake>,
    pub(crate) mode: Level,
}

/// What the world itself remembers of a task.
#[derive(Clone, Copy)]
struct Source {
    next: u64,
    sequence: u64,
    /// Demand left of the job that was started last, and its number.
    job: Option<(u64, u64)>,
}

/// Runs `setup` for `ticks` and returns every step. `disturb` may reorder or add to the facts of an
/// instant before they are reported.
pub(crate) fn run(
    setup: &Setup,
    engine: &mut dyn Scheduler,
    random: &mut Random,
    ticks: u64,
    mut disturb: impl FnMut(&mut Vec<Fact>),
) -> Vec<Step> {
    let mut sources: Vec<Source> = setup
        .offsets
        .iter()
        .map(|&next| Source {
            next,
            sequence: 0,
            job: None,
        })
        .collect();
    let mut running: Option<JobId> = None;
    let mut steps = Vec::new();
    for at in 0..ticks {
        let mut facts = Vec::new();
        if let Some(job) = running {
            facts.push(Fact::Charged {
                cpu: CPU,
                job,
                amount: Service::from_nanos(1),
            });
            let source = &mut sources[job.task.index()];
            if let Some((_, left)) = source.job.as_mut() {
                *left -= 1;
                if *left == 0 {
                    facts.push(Fact::Completed { cpu: CPU, job });
                    running = None;
                }
            }
        }
        for (index, source) in sources.iter_mut().enumerate() {
            if source.next == at {
                let job = JobId {
                    task: TaskId(index as u16),
                    sequence: source.sequence,
                };
                facts.push(Fact::Released { job });
                source.sequence += 1;
                let period = setup.tasks[index].task.period.as_nanos();
                source.next = at + period + random.below(2) * random.below(5);
            }
        }
        disturb(&mut facts);
        for fact in &facts {
            engine.apply(Instant::from_nanos(at), *fact).unwrap();
        }
        let plan = engine.decide(Instant::from_nanos(at)).unwrap();
        let slot = plan.slot(CPU);
        steps.push(Step {
            at,
            facts,
            slot,
            next: plan.next,
            mode: plan.mode,
        });
        running = follow(setup, engine, random, &mut sources, running, slot, at);
    }
    steps
}

/// Confirms what the plan asked for, and draws the demand of a job that starts for the first time.
fn follow(
    setup: &Setup,
    engine: &mut dyn Scheduler,
    random: &mut Random,
    sources: &mut [Source],
    running: Option<JobId>,
    slot: Option<Slot>,
    at: u64,
) -> Option<JobId> {
    let wanted = slot.map(|slot| slot.job);
    if running == wanted {
        return running;
    }
    let now = Instant::from_nanos(at);
    if let Some(job) = running {
        let stopped = Fact::Stopped {
            cpu: CPU,
            job,
            why: StopReason::Preempted,
        };
        engine.apply(now, stopped).unwrap();
    }
    if let Some(job) = wanted {
        engine.apply(now, Fact::Started { cpu: CPU, job }).unwrap();
        let task = &setup.tasks[job.task.index()].task;
        let source = &mut sources[job.task.index()];
        if source
            .job
            .is_none_or(|(sequence, _)| sequence != job.sequence)
        {
            // At a budget, one past it, at the own level's, one past that.
            let lower = task
                .wcet
                .at(Level(random.below(3) as u8).min(task.criticality));
            let demand = lower.as_nanos() + random.below(2);
            source.job = Some((job.sequence, demand.max(1)));
        }
    }
    wanted
}
