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
//! later: [`FRAME_OVERHEAD`], or [`crate::Config::tolerance`]. The scheduler has it as its granularity.
//!
//! A sub-frame that goes on when its frame is over is noticed by whoever arrives next, or by the end of the run. A body
//! that never returns keeps all CPUs at the barrier until then, and outlives the run.

mod barrier;
mod common;
mod domain;
mod launch;
mod walker;

pub(crate) use barrier::{Meeting, meeting};
pub(crate) use launch::execute;

use crate::barrier::Barrier;
use crate::decider::MakeScheduler;
use crate::stamps::Clock;
use std::fmt;
use vestal_core::{Duration, Service, TaskId};

/// By how much later than its table says a sub-frame may begin, for what threads and barriers take: some wake-ups of
/// threads on a virtual machine, of which few take longer than a tenth of that.
pub const FRAME_OVERHEAD: Service = Service::from_micros(500);

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
    /// What threads read to measure how long something takes, and while they spin.
    pub clock: Clock,
}

impl Frames {
    /// Why CPUs with so many tasks each are not those of the table, if so.
    pub(crate) fn misfit(&self, tasks: impl Iterator<Item = usize>) -> Option<String> {
        let numbered: Vec<usize> = self.numbers.iter().map(Vec::len).collect();
        let mut numbers: Vec<TaskId> = self.numbers.iter().flatten().copied().collect();
        numbers.sort_unstable();
        let is_complete = numbers
            .iter()
            .copied()
            .eq((0..).map(TaskId).take(numbers.len()));
        let why = if !tasks.eq(numbered) {
            "the tasks of the CPUs are not those that the frame table numbers"
        } else if !is_complete {
            "the numbers of the tasks of a frame table are not those from 0, each once"
        } else if self.length.is_zero() || numbers.is_empty() {
            "a frame table has frames and tasks"
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
        let numbers = numbers.iter().map(|own| own.iter().copied().map(TaskId));
        Frames {
            make: Box::new(|_, _| Err("it is not asked for one".into())),
            numbers: numbers.map(Iterator::collect).collect(),
            length: Duration::from_millis(10),
            barrier: Barrier::default(),
            clock: Clock::default(),
        }
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
        // The control: in any order, also where a CPU has none.
        let fits = frames(&[&[2, 0], &[], &[1]]);
        assert_eq!(fits.misfit([2, 0, 1].into_iter()), None);
    }
}
