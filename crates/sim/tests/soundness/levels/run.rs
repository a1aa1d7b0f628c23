//! Runs of an accepted set, and what is seen of them.

use vestal_analysis::{Outcome, Problem};
use vestal_core::{
    Budgets, Container, CpuTable, DropReason, Duration, Instant, Level, LevelB, Levelled,
    LevelledConfiguration, LevelledTask, Service, Task, TaskId,
};
use vestal_sim::guarantee::{Guarantee, Judge};
use vestal_sim::{Backlog, Demand, JobState, Observer, Releases, Segment, Setting, simulate};
use vestal_testkit::Random;
use vestal_testkit::random::mix;
use vestal_testkit::short::{at, ns};

const END: u64 = 480;
pub(super) const C: u8 = 1;
pub(super) const B: u8 = 2;
pub(super) const A: u8 = 3;

/// What jobs need, so that the guarantees of this level and those above it hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) level: u8,
    /// Jobs of this level and above need less than their bound at times, and those of levels B and C come late.
    pub(super) is_mixed: bool,
    pub(super) stray: Stray,
}

/// What one task does that takes back what is promised to it alone, or to it and what its CPU has below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stray {
    None,
    /// A task of level C needs more than its budget: all others keep theirs, as long as budgets hold.
    Overruns,
    /// A task of level A comes late, and then not when its slots expect it: other CPUs keep their levels A and B, and its own all other tasks of
    /// level A.
    Late,
}

/// An accepted set as it is carried out.
#[derive(Clone, Debug)]
pub(super) struct Accepted {
    pub(super) tasks: Vec<LevelledTask>,
    outcome: Outcome,
    order: LevelB,
    cpus: u16,
    /// As many jobs of a task wait at most as the bounds ask for.
    pub(super) backlog: usize,
}

impl Accepted {
    pub(super) fn new(problem: &Problem, outcome: Outcome, order: LevelB) -> Self {
        let homes = outcome.parameters.partition.as_ref().unwrap();
        let tasks = problem.tasks().iter().zip(homes);
        let tasks = tasks.map(|(&task, &home)| LevelledTask {
            task,
            container: match (task.criticality.0, home) {
                (A, Some(cpu)) => Container::Table(cpu),
                (B, Some(cpu)) => Container::Local(cpu),
                (C, None) => Container::Global,
                _ => Container::BestEffort,
            },
        });
        let late = outcome.parameters.tardiness.as_ref().unwrap();
        let need = |(task, late): (&Task, &Option<Duration>)| {
            let span = task.deadline.as_nanos() + late.unwrap_or_default().as_nanos();
            (span / task.period.as_nanos() + 1) as usize
        };
        let needs = problem.tasks().iter().zip(late).map(need);
        Self {
            backlog: needs.max().unwrap(),
            tasks: tasks.collect(),
            outcome,
            order,
            cpus: problem.cpus(),
        }
    }

    pub(super) fn late(&self) -> &[Option<Duration>] {
        self.outcome.parameters.tardiness.as_ref().unwrap()
    }

    /// The tasks that could.
    fn strays(&self, stray: Stray) -> Vec<TaskId> {
        let is_one = |container| match stray {
            Stray::None => false,
            Stray::Overruns => container == Container::Global,
            Stray::Late => matches!(container, Container::Table(_)),
        };
        let numbered = (0..).map(TaskId).zip(&self.tasks);
        let strays = numbered.filter(|(_, entry)| is_one(entry.container));
        strays.map(|(task, _)| task).collect()
    }

    /// A run in which jobs need so much; everything is drawn from the seed.
    pub(super) fn run(&self, needs: Needs, budgets: Budgets, seed: u64) -> Seen {
        let tables = self.outcome.parameters.tables.as_ref().unwrap();
        let tables: Vec<CpuTable<'_>> = tables
            .iter()
            .map(|table| CpuTable {
                cycle: table.cycle,
                slots: &table.slots,
            })
            .collect();
        let configuration = LevelledConfiguration {
            tasks: &self.tasks,
            tables: &tables,
            backlog: self.backlog,
            budgets,
            level_b: self.order,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        };
        let mut engine = Levelled::new(&configuration).unwrap();
        let tasks: Vec<Task> = self.tasks.iter().map(|entry| entry.task).collect();
        let setting = Setting {
            tasks: &tasks,
            cpus: self.cpus,
            end: at(END),
            backlog: Backlog::UNLIMITED,
        };
        let starts = tables.iter().flat_map(|table| table.slots);
        let starts: Vec<u64> = starts.map(|slot| slot.start.as_nanos()).collect();
        let strays = self.strays(needs.stray);
        let stray = match strays.as_slice() {
            [] => None,
            strays => Some(Random::new(seed).one_of(strays)),
        };
        let drawn = Drawn {
            tasks: &self.tasks,
            starts,
            needs,
            stray,
            seed,
        };
        let mut judged = 0;
        let guarantee = Guarantee::of_levels(&configuration, self.late());
        let judge = Judge::new(guarantee, |_, _: &JobState, guaranteed| {
            judged += u64::from(guaranteed);
        });
        let mut watch = Watch {
            tasks: &self.tasks,
            late: self.late(),
            level: Level(needs.level),
            spared: stray.map(|task| (task, needs.stray)),
            seen: Seen {
                tardiness: vec![0; self.tasks.len()],
                ..Seen::default()
            },
        };
        simulate(
            &mut engine,
            &setting,
            &drawn,
            &drawn,
            &mut (judge, &mut watch),
        )
        .unwrap();
        let mut seen = watch.seen;
        seen.strayed = stray.is_some();
        if judged > 0 && seen.broken.is_none() {
            seen.broken = Some(format!("{judged} guarantees by the judge alone"));
        }
        seen
    }
}

/// What was seen of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The first guarantee that was not kept.
    pub(super) broken: Option<String>,
    /// How many jobs were guaranteed something.
    pub(super) jobs: u64,
    /// By task, how late jobs were at most.
    pub(super) tardiness: Vec<u64>,
    /// There was a task that could stray.
    pub(super) strayed: bool,
}

/// Looks at deadlines and bounds, and at nothing that the judge goes by.
struct Watch<'a> {
    tasks: &'a [LevelledTask],
    late: &'a [Option<Duration>],
    /// This level and those above it are guaranteed.
    level: Level,
    /// Who strays, and how.
    spared: Option<(TaskId, Stray)>,
    seen: Seen,
}

impl Watch<'_> {
    /// Whether nothing is promised to a task because of the one that strays.
    fn is_spared(&self, task: TaskId) -> bool {
        let Some((stray, how)) = self.spared else {
            return false;
        };
        let of = |task: TaskId| self.tasks[task.index()].container;
        match (how, of(stray), of(task)) {
            _ if task == stray => true,
            (Stray::Late, Container::Table(cpu), Container::Local(own)) => cpu == own,
            (Stray::Late, _, Container::Global) => true,
            (Stray::None | Stray::Overruns | Stray::Late, _, _) => false,
        }
    }

    fn ended(&mut self, now: Instant, job: &JobState, how: &str) {
        let task = job.id.task.index();
        let is_complete = how == "complete";
        if self.tasks[task].task.criticality < self.level || self.is_spared(job.id.task) {
            return;
        }
        let due = job
            .deadline
            .saturating_add(self.late[task].unwrap_or_default());
        self.seen.jobs += 1;
        let tardiness = now.saturating_since(job.deadline).as_nanos();
        self.seen.tardiness[task] = self.seen.tardiness[task].max(tardiness);
        let is_kept = match is_complete {
            true => now <= due,
            false => now < due && how == "unfinished",
        };
        if !is_kept && self.seen.broken.is_none() {
            self.seen.broken = Some(format!("{:?} due at {due:?} is {how} at {now:?}", job.id));
        }
    }
}

impl Observer for Watch<'_> {
    fn executed(&mut self, _: Segment, _: &JobState) {}
    fn completed(&mut self, now: Instant, job: &JobState) {
        self.ended(now, job, "complete");
    }
    fn dropped(&mut self, now: Instant, job: &JobState, _: DropReason) {
        self.ended(now, job, "dropped");
    }
    fn unfinished(&mut self, end: Instant, job: &JobState) {
        self.ended(end, job, "unfinished");
    }
}

struct Drawn<'a> {
    tasks: &'a [LevelledTask],
    /// When slots begin.
    starts: Vec<u64>,
    needs: Needs,
    stray: Option<TaskId>,
    seed: u64,
}

impl Drawn<'_> {
    fn number(&self, task: TaskId, sequence: u64, what: u64) -> Random {
        Random::new(mix(self.seed
            ^ (u64::from(task.0) << 40)
            ^ (sequence << 8)
            ^ what))
    }
}

impl Releases for Drawn<'_> {
    /// Level A comes at multiples of its periods; all others from the beginning, from that of a slot or from anywhere.
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        let entry = self.tasks[task.index()];
        let period = entry.task.period.as_nanos();
        let mut random = self.number(task, sequence, 1);
        let is_periodic = matches!(entry.container, Container::Table(_));
        let Some(previous) = previous else {
            let anywhere = random.below(period);
            let slot = match self.starts.is_empty() {
                true => 0,
                false => random.one_of(&self.starts) % period,
            };
            let first = random.one_of(&[0, slot, slot, anywhere]);
            return Some(at(if is_periodic { 0 } else { first }));
        };
        let strays = self.stray == Some(task) && self.needs.stray == Stray::Late;
        let is_late = (strays || !is_periodic && self.needs.is_mixed) && random.once_in(6);
        let more = if is_late { random.below(period) } else { 0 };
        Some(at(previous.as_nanos() + period + more))
    }
}

impl Demand for Drawn<'_> {
    /// Jobs of the guaranteed levels at most what they need there; those below whatever they like.
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        let task_of = self.tasks[task.index()].task;
        let mut random = self.number(task, sequence, 2);
        let own = task_of.own_wcet().as_nanos();
        if self.stray == Some(task) && self.needs.stray == Stray::Overruns && random.once_in(2) {
            return ns(own + random.between(1, 3 * own));
        }
        if task_of.criticality < Level(self.needs.level) {
            return ns(match random.below(4) {
                0 => 3 * own + random.below(20),
                1 => random.between(1, own),
                _ => own,
            });
        }
        let bound = task_of.wcet.at(Level(self.needs.level)).as_nanos();
        ns(match self.needs.is_mixed && random.once_in(3) {
            true => random.between(bound.min(1), bound),
            false => bound,
        })
    }
}
