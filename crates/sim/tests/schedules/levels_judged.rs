//! Random sets of MC² whose jobs need too much at times, judged: what was guaranteed is never missed, and wrong guarantees are.
//!
//! Level B has periods that are multiples of its CPU's cycle, and at most what level A leaves of it at the times of level B, which is
//! enough; the bound for level C is that of the analysis.

use vestal_analysis::schedulability::levels::tardiness::{Closed, Wanted, bounds};
use vestal_core::*;
use vestal_sim::guarantee::{Guarantee, Judge};
use vestal_sim::{Backlog, Demand, JobState, Observer, Releases, Segment, Setting, simulate};
use vestal_testkit::Random;
use vestal_testkit::random::mix;
use vestal_testkit::short::{at, ns, span};

pub(crate) const END: u64 = 600;

/// What is not as it is guaranteed, or not heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Level B has more than there is.
    FullB,
    /// Level C is said to be in time.
    NoTardiness,
    /// The judge does not hear of what jobs of one level execute.
    Deaf(Level),
}

#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) tasks: Vec<LevelledTask>,
    /// By CPU: its cycle and the slot of its task of level A, which begins so late.
    pub(crate) cpus: Vec<(u64, u64)>,
    pub(crate) tardiness: Vec<Option<Duration>>,
    pub(crate) budgets: Budgets,
    /// How far above the times of level C jobs go: in so many of 16 cases.
    pub(crate) wild: u64,
    pub(crate) seed: u64,
}

fn entry(container: Container, period: u64, values: &[u64]) -> LevelledTask {
    let task = vestal_testkit::short::task((values.len() - 1) as u8, period, values);
    LevelledTask { task, container }
}

/// Of level A a task with one slot for each CPU; `None` if level C has no bound.
pub(crate) fn set(random: &mut Random, fault: Fault) -> Option<Set> {
    let (mut tasks, mut cpus, mut closed) = (Vec::new(), Vec::new(), Vec::new());
    for cpu in (0..1 + random.below(3) as u16).map(CpuId) {
        let cycle = random.one_of(&[6, 10, 20]);
        let slot = random.between(1, cycle / 2);
        let at_b = random.between(1, slot);
        let at_c = random.between(1, at_b);
        tasks.push(entry(
            Container::Table(cpu),
            cycle,
            &[at_c, at_c, at_b, slot],
        ));
        cpus.push((cycle, random.between(0, cycle - slot)));
        let mut shares = vec![(at_c, cycle)];
        let mut burst = at_c;
        // So much of each cycle is left to level B at its times.
        let mut left = cycle - at_b + if fault == Fault::FullB { 2 } else { 0 };
        for _ in 0..random.below(3) {
            let factor = random.between(1, 3);
            let own = random.between(1, left);
            left -= own;
            let (period, budget) = (factor * cycle, factor * own);
            let wcet = random.between(1, budget);
            tasks.push(entry(Container::Local(cpu), period, &[wcet, wcet, budget]));
            shares.push((wcet, period));
            let deadline = period;
            burst += Wanted {
                wcet,
                period,
                deadline,
            }
            .burst();
            if left == 0 {
                break;
            }
        }
        closed.push(Closed { shares, burst });
    }
    let first = tasks.len();
    let mut wanted = Vec::new();
    for _ in 0..1 + random.below(5) {
        let period = random.between(4, 24);
        let wcet = random.between(1, period / 2);
        tasks.push(entry(Container::Global, period, &[wcet, wcet]));
        let deadline = period;
        wanted.push(Wanted {
            wcet,
            period,
            deadline,
        });
    }
    let late = bounds(&closed, &wanted).ok()?;
    let mut tardiness = vec![None; first];
    tardiness.extend(
        late.into_iter()
            .map(|late| Some(span(if fault == Fault::NoTardiness { 0 } else { late }))),
    );
    Some(Set {
        tasks,
        cpus,
        tardiness,
        budgets: random.one_of(&[Budgets::Enforced, Budgets::Enforced, Budgets::Ignored]),
        wild: random.one_of(&[0, 1, 4]),
        seed: random.next(),
    })
}

impl Set {
    /// What is made of its configuration.
    pub(crate) fn configured<T>(&self, make: impl FnOnce(&LevelledConfiguration<'_>) -> T) -> T {
        let numbered = || (0..).map(TaskId).zip(&self.tasks);
        let of = |(cpu, &(_, start)): (CpuId, &(u64, u64))| {
            let own = numbered().filter(|(_, entry)| entry.container == Container::Table(cpu));
            let slots = own.map(|(task, entry)| TableSlot {
                start: span(start),
                length: entry.task.own_wcet().time_on_dedicated_cpu(),
                task,
            });
            slots.collect::<Vec<_>>()
        };
        let slots: Vec<Vec<TableSlot>> = (0..).map(CpuId).zip(&self.cpus).map(of).collect();
        let tables = self.cpus.iter().zip(&slots);
        let tables = tables.map(|(&(cycle, _), slots)| CpuTable {
            cycle: span(cycle),
            slots,
        });
        let tables: Vec<CpuTable<'_>> = tables.collect();
        make(&LevelledConfiguration {
            tasks: &self.tasks,
            tables: &tables,
            backlog: 200,
            budgets: self.budgets,
            level_b: LevelB::EarliestDeadline,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        })
    }

    fn number(&self, task: TaskId, sequence: u64, what: u64) -> Random {
        Random::new(mix(self.seed
            ^ (u64::from(task.0) << 40)
            ^ (sequence << 8)
            ^ what))
    }
}

impl Releases for Set {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        let entry = self.tasks[task.index()];
        let period = entry.task.period.as_nanos();
        let mut random = self.number(task, sequence, 1);
        let is_periodic = matches!(entry.container, Container::Table(_));
        let more = if !is_periodic && random.once_in(6) {
            random.below(period)
        } else {
            0
        };
        let next = previous.map_or(0, |previous| previous.as_nanos() + period);
        Some(at(next + more))
    }
}

impl Demand for Set {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        let wcet = self.tasks[task.index()].task.wcet;
        let mut random = self.number(task, sequence, 2);
        let low = wcet.at(Level(1)).as_nanos();
        let own = self.tasks[task.index()].task.own_wcet().as_nanos();
        if random.below(16) < self.wild {
            return ns(match random.below(4) {
                0 => own + random.between(1, 4),
                1 => own,
                _ => random.between(1, wcet.at(Level(2)).as_nanos()),
            });
        }
        ns(if random.once_in(4) {
            random.between(1, low)
        } else {
            low
        })
    }
}

/// Misses by what they are: guaranteed, or excused at levels C, B and A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    broken: u64,
    excused: [u64; 4],
}

/// A judge that may not hear all.
struct Hears<J> {
    judge: J,
    deaf: Option<Level>,
    levels: Vec<Level>,
}

impl<J: Observer> Observer for Hears<J> {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        if self.deaf != Some(self.levels[job.id.task.index()]) {
            self.judge.executed(segment, job);
        }
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.judge.completed(at, job);
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        self.judge.dropped(at, job, why);
    }
    fn idle(&mut self, at: Instant) {
        self.judge.idle(at);
    }
    fn unfinished(&mut self, end: Instant, job: &JobState) {
        self.judge.unfinished(end, job);
    }
}

fn run(set: &Set, fault: Fault, seen: &mut Seen) {
    let levels: Vec<Level> = set
        .tasks
        .iter()
        .map(|entry| entry.task.criticality)
        .collect();
    let guarantee = set.configured(|all| Guarantee::of_levels(all, &set.tardiness));
    let count = |now: Instant, job: &JobState, guaranteed: bool| {
        assert!(
            !guaranteed || fault != Fault::None,
            "at {now:?} {job:?} {set:?}"
        );
        seen.broken += u64::from(guaranteed);
        seen.excused[levels[job.id.task.index()].index()] += u64::from(!guaranteed);
    };
    let mut hears = Hears {
        judge: Judge::new(guarantee, count),
        deaf: if let Fault::Deaf(level) = fault {
            Some(level)
        } else {
            None
        },
        levels: levels.clone(),
    };
    let tasks: Vec<Task> = set.tasks.iter().map(|entry| entry.task).collect();
    let setting = Setting {
        tasks: &tasks,
        cpus: set.cpus.len() as u16,
        end: at(END),
        backlog: Backlog::UNLIMITED,
    };
    let mut engine = set.configured(Levelled::new).unwrap();
    simulate(&mut engine, &setting, set, set, &mut hears).unwrap();
}

fn seen(fault: Fault, sets: u64) -> Seen {
    let mut random = Random::new(42);
    let mut seen = Seen::default();
    let mut bounded = 0;
    while bounded < sets {
        if let Some(set) = set(&mut random, fault) {
            bounded += 1;
            run(&set, fault, &mut seen);
        }
    }
    seen
}

#[test]
fn nothing_that_is_guaranteed_on_four_levels_is_missed_whatever_jobs_need() {
    let seen = seen(Fault::None, 300);
    assert_eq!(seen.broken, 0);
    let [_, c, b, a] = seen.excused;
    assert!(c > 100 && b > 100 && a > 100, "{seen:?}");
}

#[test]
fn a_judge_of_four_levels_finds_what_is_wrong() {
    let deaf = [1, 2, 3].map(|level| Fault::Deaf(Level(level)));
    for fault in [Fault::FullB, Fault::NoTardiness].into_iter().chain(deaf) {
        let seen = seen(fault, 100);
        assert!(seen.broken > 0, "{fault:?} {seen:?}");
    }
}
