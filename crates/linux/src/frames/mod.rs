//! Frame tables on several CPUs: flexible time-triggered scheduling (Sigrist, Giannopoulou, Huang, Gomez and Thiele,
//! RTAS 2015, sections III-B and V).
//!
//! Each CPU has one *walker*: a thread that runs the bodies of all tasks of its CPU, one after the other, as its sequence
//! says. There are no managers: all CPUs are one domain, with one scheduler behind one lock, and whoever is there when
//! it has to decide calls it.
//!
//! ```text
//!             frame begins (1)                  last job of the sequence
//!   waiting ------------------> walks sub-frame ------------------------> arrived ---+
//!      ^                              ^                                     |        | not the last:
//!      |                              |  next sub-frame            the last |        | waits at the barrier
//!      |    the rest is dropped,      |                            decides  v        |
//!      +--- or nothing is left -------+------------------------- barrier opens <-----+
//! ```
//! (1) Whoever wakes first decides; the others find the decision.
//!
//! The lock is taken when a frame begins, when a walker arrives and when it goes on, and nowhere else. Who has it never
//! waits for anything else.
//!
//! What the walkers have to do before a sub-frame can begin is no part of what the table says. By so much may it begin
//! later: [`overhead`], or [`crate::Config::tolerance`]. The scheduler has it as its granularity.
//!
//! A sub-frame that goes on when its frame is over is noticed by whoever arrives next, or by the end of the run. A body
//! that never returns keeps all CPUs at the barrier until then, and outlives the run.

mod barrier;
mod common;
mod domain;
mod launch;
mod paper;
mod record;
mod waits;
mod walker;

pub(crate) use barrier::{Meeting, meeting};
pub(crate) use launch::execute;

use crate::account::{FrameFacts, FrameTask, LATE_WAKE_NANOS, SWITCH_NANOS_MAX, TaskFacts};
use crate::barrier::Barrier;
use crate::config::{Config, Dispatcher, TOLERANCE_MIN};
use crate::decider::MakeScheduler;
use crate::initialisation::Initialisation;
use crate::stamps::Clock;
use std::fmt;
use vestal_core::{Duration, Service, TaskId};

/// By how much later than its table says a sub-frame may begin where frames have so many levels, and a CPU so many jobs at
/// most in one of them: for each level two wake-ups of threads, of which on a virtual machine few take longer than
/// 62.5 us, and for each job twice what it may execute beyond its limits. At least 500 us.
#[must_use]
pub fn overhead(levels: usize, jobs: usize) -> Service {
    const LEAST: Service = Service::from_micros(500);
    let [levels, jobs] = [levels, jobs].map(|count| count as u64);
    let nanos = levels.saturating_mul(125_000);
    let nanos = nanos.saturating_add(jobs.saturating_mul(2 * TOLERANCE_MIN.as_nanos()));
    LEAST.max(Service::from_nanos(nanos))
}

/// The same by the threads of Sigrist et al. (RTAS 2015, section VI-A): as much for one more level, because a frame begins with two
/// more wake-ups, and for each job half a level, because its worker has to be woken. Beyond that what `looks` of an overrun checker
/// take of the CPU in a frame.
#[must_use]
pub fn overhead_of_sigrist2015(levels: usize, jobs: usize, looks: u64) -> Service {
    let woken = Service::from_nanos((jobs as u64).saturating_mul(62_500));
    overhead(levels.saturating_add(1), jobs)
        .saturating_add(woken)
        .saturating_add(of_looks(looks))
}

/// What so many looks of an overrun checker take of the CPU of a worker: each the two switches to the checker's thread and back,
/// and what that notes.
fn of_looks(looks: u64) -> Service {
    Service::from_nanos(looks.saturating_mul(LOOK_NANOS))
}

/// One of them: half of what a wake-up takes. On a virtual machine few take longer.
const LOOK_NANOS: u64 = 31_250;

/// How often an overrun checker that looks each `period` does so in a frame, at most: one beat just before it may be put off into it.
/// Never where it has no period.
#[must_use]
pub fn looks_in_frame(length: Duration, period: Option<Duration>) -> u64 {
    period.map_or(0, |period| {
        let beats = length.as_nanos().div_ceil(period.as_nanos().max(1));
        beats.saturating_add(1)
    })
}

/// What is ours of that overhead, and what the machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spare {
    /// By how much a job may execute more than it should: half of the overhead is for all of a CPU and a frame.
    pub(crate) tolerance: Service,
    /// A wake-up that is so late is the machine's doing: half of the overhead is for one in each sub-frame, and by the threads of
    /// a paper for one more in each frame and one for each job.
    pub(crate) late_wake_nanos: u64,
}

impl Spare {
    /// Of that overhead without what looks take, with so many jobs and wake-ups.
    fn of(overhead: Service, jobs: usize, wakes: usize) -> Self {
        let half = overhead.as_nanos() / 2;
        let [jobs, wakes] = [jobs, wakes].map(|count| (count as u64).max(1));
        Self {
            tolerance: TOLERANCE_MIN.min(Service::from_nanos(half / jobs)),
            late_wake_nanos: (half / wakes).clamp(SWITCH_NANOS_MAX, LATE_WAKE_NANOS),
        }
    }
}

/// The frame table that all CPUs of a set have in common.
pub struct Frames {
    /// Makes the scheduler, from the tasks of all CPUs in the order of their numbers and what a sub-frame may be late by.
    pub make: Box<MakeScheduler>,
    /// For each CPU, what the scheduler calls its tasks. Together they have all numbers from 0.
    pub numbers: Vec<Vec<TaskId>>,
    /// How long a frame is.
    pub length: Duration,
    /// Where the CPUs wait for each other.
    pub barrier: Barrier,
    /// By frame of the cycle and level, how old the frame may be when the sub-frame of that level begins, without what this
    /// world adds: by that, late and dropped jobs are judged.
    pub allowances: Vec<Vec<Duration>>,
    /// By the scheduler's number of a task, in which frames of the cycle it has a place.
    pub places: Vec<Vec<usize>>,
    /// What threads read to measure how long something takes, and while they spin.
    pub clock: Clock,
    /// Who gives workers their orders, with [`Mechanism::Sigrist2015`](crate::Mechanism::Sigrist2015).
    pub initialisation: Initialisation,
}

impl Frames {
    /// How many levels there are, and how many jobs a CPU has at most in a frame.
    fn size(&self) -> (usize, usize) {
        let levels = self.allowances.first().map_or(0, Vec::len);
        let has_place = |task: &TaskId, frame| {
            let places = self.places.get(task.index());
            places.is_some_and(|places| places.contains(&frame))
        };
        let frames = 0..self.allowances.len();
        let jobs = frames.flat_map(|frame| {
            let each = self.numbers.iter();
            each.map(move |own| own.iter().filter(|task| has_place(task, frame)).count())
        });
        (levels, jobs.max().unwrap_or(0))
    }

    /// What a sub-frame may be late by: as the configuration says, or as usual.
    fn overhead(&self, config: &Config) -> Service {
        let (levels, jobs) = self.size();
        config
            .tolerance
            .unwrap_or_else(|| match config.is_of_sigrist2015() {
                true => overhead_of_sigrist2015(levels, jobs, self.looks(config)),
                false => overhead(levels, jobs),
            })
    }

    /// How often an overrun checker looks in a frame on a CPU that has workers, whether there is a reason or not.
    fn looks(&self, config: &Config) -> u64 {
        match config.dispatcher {
            Dispatcher::Shared => looks_in_frame(self.length, config.period()),
            Dispatcher::Own(_) => 0,
        }
    }

    /// What is ours of that overhead, and what the machine's.
    fn spare(&self, overhead: Service, config: &Config) -> Spare {
        let (levels, jobs) = self.size();
        if !config.is_of_sigrist2015() {
            return Spare::of(overhead, jobs, levels);
        }
        let wakes = levels.saturating_add(1).saturating_add(jobs);
        // Looks are no part of an overhead that a user gave.
        let looks = config.tolerance.map_or_else(|| self.looks(config), |_| 0);
        Spare::of(overhead.saturating_sub(of_looks(looks)), jobs, wakes)
    }

    /// By frame of the cycle and level, how old the frame may be when the sub-frame of that level begins.
    fn allowances_with(&self, overhead: Service) -> Vec<Vec<Duration>> {
        let spare = Duration::from_nanos(overhead.as_nanos());
        let later = |levels: &Vec<Duration>| {
            let levels = levels.iter();
            levels
                .map(|allowance| allowance.saturating_add(spare))
                .collect()
        };
        self.allowances.iter().map(later).collect()
    }

    /// What is known of the table before it runs; `tasks` are those of each CPU.
    fn facts(&self, tasks: &[Vec<TaskFacts>], overhead: Service, guarantee: bool) -> FrameFacts {
        let cpus = self.numbers.iter().zip(tasks).enumerate();
        let tasks = cpus.flat_map(|(cpu, (numbers, tasks))| {
            let own = numbers.iter().zip(tasks).enumerate();
            own.map(move |(place, (&number, &facts))| (number, (cpu, place), facts))
        });
        let mut tasks: Vec<_> = tasks.collect();
        tasks.sort_by_key(|&(number, ..)| number);
        let tasks = tasks.into_iter().map(|(number, home, facts)| FrameTask {
            home,
            facts,
            places: self.places.get(number.index()).cloned().unwrap_or_default(),
        });
        FrameFacts {
            length: self.length,
            allowances: self.allowances_with(overhead),
            tasks: tasks.collect(),
            guarantee,
        }
    }

    /// Why CPUs with so many tasks each are not those of the table, if so.
    pub(crate) fn misfit(&self, tasks: impl Iterator<Item = usize>) -> Option<String> {
        let numbered: Vec<usize> = self.numbers.iter().map(Vec::len).collect();
        let mut numbers: Vec<TaskId> = self.numbers.iter().flatten().copied().collect();
        numbers.sort_unstable();
        let is_complete = numbers
            .iter()
            .copied()
            .eq((0..).map(TaskId).take(numbers.len()));
        let levels = self.allowances.first().map_or(0, Vec::len);
        let frames = self.allowances.len();
        let has_places = |places: &Vec<usize>| places.iter().all(|&place| place < frames);
        let is_judged = self.allowances.iter().all(|each| each.len() == levels)
            && self.places.len() == numbers.len()
            && self.places.iter().all(has_places);
        let why = if !tasks.eq(numbered) {
            "the tasks of the CPUs are not those that the frame table numbers"
        } else if !is_complete {
            "the numbers of the tasks of a frame table are not those from 0, each once"
        } else if self.length.is_zero() || numbers.is_empty() {
            "a frame table has frames and tasks"
        } else if levels == 0 || !is_judged {
            "a frame table says of each level of each frame when it may begin, and of each task where its places are"
        } else {
            return None;
        };
        Some(why.to_owned())
    }
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames")
            .field("numbers", &self.numbers)
            .field("length", &self.length)
            .field("barrier", &self.barrier)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, CpuSpec, Executive, Rights, RunError, TaskSpec};
    use vestal_core::{Guard, Level, Task, TaskConfiguration, Wcet};

    fn frames(numbers: &[&[u16]]) -> Frames {
        let own = numbers.iter().map(|own| own.iter().copied().map(TaskId));
        Frames {
            make: Box::new(|_, _| Err("it is not asked for one".into())),
            numbers: own.map(Iterator::collect).collect(),
            length: Duration::from_millis(10),
            barrier: Barrier::default(),
            allowances: vec![vec![Duration::ZERO]],
            places: vec![vec![0]; numbers_of(numbers)],
            clock: Clock::default(),
            initialisation: Initialisation::default(),
        }
    }

    fn numbers_of(numbers: &[&[u16]]) -> usize {
        numbers.iter().map(|own| own.len()).sum()
    }

    fn spec() -> TaskSpec {
        let (span, wcet) = (Duration::from_millis(10), [Service::from_millis(1)]);
        let task = Task::new(Level(0), span, span, Wcet::new(&wcet).unwrap()).unwrap();
        TaskSpec {
            name: "task".to_owned(),
            configuration: TaskConfiguration::new(task, 1),
            offset: Duration::ZERO,
            demand_max: None,
        }
    }

    /// What there is against these CPUs with so many tasks each.
    fn refused(frames: Option<Frames>, cpus: Vec<(CpuSpec, usize)>) -> String {
        let mut set = Executive::new(Config::new());
        for (cpu, tasks) in cpus {
            set = set.cpu(cpu);
            for _ in 0..tasks {
                set = set.task(spec(), |_| Ok(()));
            }
        }
        let set = frames.into_iter().fold(set, Executive::frames);
        match set.check(&Rights::probe()) {
            Err(RunError::Unsupported(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn cpus_that_are_not_those_of_the_table_are_refused() {
        let common = |tasks| (CpuSpec::common(), tasks);
        let native = |_: &[TaskConfiguration], _| Err::<Guard, _>("it is not asked for one");
        let one = || Some(frames(&[&[0]]));
        let without = refused(None, vec![common(1)]);
        assert!(without.contains("needs one"), "{without}");
        let mixed = refused(one(), vec![common(1), (CpuSpec::native(native), 1)]);
        assert!(mixed.contains("all CPUs"), "{mixed}");
        for cpus in [vec![common(2)], vec![common(1), common(1)]] {
            let other = refused(one(), cpus);
            assert!(other.contains("are not those that"), "{other}");
        }
        for numbers in [[[0, 2].as_slice(), &[3]], [&[0, 1], &[1]], [&[1, 2], &[3]]] {
            let holes = refused(Some(frames(&numbers)), vec![common(2), common(1)]);
            assert!(holes.contains("from 0, each once"), "{holes}");
        }
        let empty = refused(Some(frames(&[&[]])), vec![common(0)]);
        assert!(empty.contains("frames and tasks"), "{empty}");
        let without_places = Frames {
            places: Vec::new(),
            ..frames(&[&[0]])
        };
        let no_row = Frames {
            places: vec![vec![1]],
            ..frames(&[&[0]])
        };
        let no_levels = Frames {
            allowances: vec![Vec::new()],
            ..frames(&[&[0]])
        };
        for table in [without_places, no_row, no_levels] {
            let unknown = refused(Some(table), vec![common(1)]);
            assert!(unknown.contains("where its places are"), "{unknown}");
        }
        // The control: in any order, also where a CPU has none.
        let fits = frames(&[&[2, 0], &[], &[1]]);
        assert_eq!(fits.misfit([2, 0, 1].into_iter()), None);
    }

    /// Three tasks on one CPU, two of them in the first frame.
    #[test]
    fn the_overhead_has_room_for_late_wake_ups_and_for_what_jobs_execute_more() {
        let table = Frames {
            allowances: vec![vec![Duration::ZERO; 2]; 2],
            places: vec![vec![0], vec![0, 1], vec![1], vec![0]],
            ..frames(&[&[0, 1], &[3, 2]])
        };
        assert_eq!(table.size(), (2, 2));
        let micros = Service::from_micros;
        assert_eq!(table.overhead(&Config::new()), micros(500));
        assert_eq!(overhead(3, 10), micros(1_375));
        for (levels, jobs) in [(1, 1), (2, 2), (2, 40), (5, 3), (5, 1)] {
            let all = overhead(levels, jobs);
            let spare = Spare::of(all, jobs, levels);
            let own = spare.tolerance.saturating_mul(jobs as u64);
            let wakes = Service::from_nanos(spare.late_wake_nanos * levels as u64);
            assert!(
                own.saturating_add(wakes) <= all,
                "{levels} {jobs}: {spare:?}"
            );
            assert_eq!(spare.tolerance, TOLERANCE_MIN, "{levels} {jobs}");
        }
        // Looks that the checker takes whether there is a reason or not are no room for anything else.
        let by = |monitor, dispatcher| Config {
            mechanism: crate::Mechanism::Sigrist2015,
            monitor,
            dispatcher,
            ..Config::new()
        };
        let deadline = by(crate::Monitor::Manager, Dispatcher::Shared);
        let beats = by(crate::Monitor::Heartbeat, Dispatcher::Shared);
        let elsewhere = by(crate::Monitor::Heartbeat, Dispatcher::Own(None));
        let all = |config: &Config| {
            let overhead = table.overhead(config);
            (overhead, table.spare(overhead, config))
        };
        let (usual, spare) = all(&deadline);
        assert_eq!(usual, micros(700));
        // Ten of them begin in a frame of 10 ms, and one is put off into it.
        let of_looks = Service::from_nanos(343_750);
        assert_eq!(all(&beats), (usual.saturating_add(of_looks), spare));
        assert_eq!(all(&elsewhere), (usual, spare));
        // What a user gives is for the rest, however little it is.
        let given = Config {
            tolerance: Some(micros(300)),
            ..beats
        };
        let spare = Spare::of(micros(300), 2, 5);
        assert_eq!(all(&given), (micros(300), spare));
        assert!(spare.tolerance > Service::ZERO, "{spare:?}");
        let spare = Spare::of(micros(60), 3, 2);
        assert_eq!(
            (spare.tolerance, spare.late_wake_nanos),
            (micros(10), 100_000)
        );
    }
}
