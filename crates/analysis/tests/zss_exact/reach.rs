//! Every run of a small set under zero-slack scheduling: breadth first over all states, with every
//! sporadic release pattern and every execution time in whole ticks. A job that needs nothing is complete
//! when it is first given the CPU.
//!
//! It shares nothing with the analyses, the engine and the reference scheduler but the task model. Within
//! runs of level l each job of j executes 1 to C_j(min(l, z_j)) ticks, or none where that is 0. At an instant: completions,
//! then who is critical or late, then releases, then a tick of whoever goes first. A task has at most two
//! incomplete jobs, which only one that is guaranteed nothing can have; it releases no more then.

use std::collections::HashSet;
use vestal_core::{Level, Task};

const TASKS_MAX: usize = 4;

/// The most urgent task first, each with its zero-slack instant.
pub(crate) struct System<'a> {
    pub(crate) tasks: &'a [(Task, u64)],
    /// Where each stands in the set.
    pub(crate) numbers: &'a [usize],
    /// No job executes for more than its task's value of this level.
    pub(crate) level: Level,
}

/// What an exhaustive search came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// No task of the level or above ever misses; the longest response time of each task, 0 for those that
    /// are guaranteed nothing.
    Safe { states: usize, longest: Vec<u64> },
    /// A job of `task` is incomplete at its deadline, at the earliest instant at which any can be.
    Miss {
        task: usize,
        at: u64,
        ticks: Vec<Tick>,
    },
    /// More states than asked for.
    Undecided,
}

/// What happened in one tick on the way to a miss: who was released, and who ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tick {
    pub(crate) released: Vec<usize>,
    pub(crate) ran: Option<usize>,
    pub(crate) completed: bool,
}

/// One task: ticks since the last release, up to T; the age of its current job plus one, 0 without one;
/// what that one has executed; and the age of the job behind it plus one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Entry {
    since: u8,
    first: u8,
    executed: u8,
    second: u8,
}

type State = [Entry; TASKS_MAX];

/// A state, and how it came about: from which one found before, by which releases, and whether the job
/// that ran was complete.
struct Found {
    state: State,
    from: usize,
    pattern: u8,
    completes: bool,
}

fn nanos(time: vestal_core::Duration) -> u8 {
    u8::try_from(time.as_nanos()).expect("times of a small set")
}

impl System<'_> {
    fn cost(&self, task: usize) -> u8 {
        let (task, _) = &self.tasks[task];
        u8::try_from(task.enforced_wcet(self.level).as_nanos()).expect("times of a small set")
    }

    /// kappa by its definition, counted from 1; 0: no task is suspended.
    fn suspended_up_to(&self, state: &State) -> u8 {
        let mut kappa = 0;
        for ((task, instant), entry) in self.tasks.iter().zip(state) {
            for age in [entry.first, entry.second] {
                let Some(age) = age.checked_sub(1) else {
                    continue;
                };
                if age >= nanos(task.deadline) {
                    kappa = kappa.max(task.criticality.0 + 1);
                } else if u64::from(age) >= *instant {
                    kappa = kappa.max(task.criticality.0);
                }
            }
        }
        kappa
    }

    /// Whose current job has the CPU next.
    fn chosen(&self, state: &State) -> Option<usize> {
        let kappa = self.suspended_up_to(state);
        let pending = || (0..self.tasks.len()).filter(|&task| state[task].first > 0);
        let criticality = |task: usize| self.tasks[task].0.criticality.0;
        let free = pending().find(|&task| criticality(task) + 1 > kappa);
        // Late jobs of the level up to which tasks are suspended, the one released first before the
        // others, of those released together that of the task that stands first in the set.
        free.or_else(|| {
            pending()
                .filter(|&task| {
                    criticality(task) + 1 == kappa
                        && state[task].first > nanos(self.tasks[task].0.deadline)
                })
                .min_by_key(|&task| (u8::MAX - state[task].first, self.numbers[task]))
        })
    }

    fn is_guaranteed(&self, task: usize) -> bool {
        self.tasks[task].0.criticality >= self.level
    }

    /// Time goes on: what is older than any deadline keeps only its place among its like.
    fn age(&self, state: &mut State) {
        for ((task, _), entry) in self.tasks.iter().zip(state.iter_mut()) {
            entry.since = (entry.since + 1).min(nanos(task.period));
            for age in [&mut entry.first, &mut entry.second] {
                if *age > 0 {
                    *age += 1;
                }
            }
        }
        let deadlines = self.tasks.iter().map(|(task, _)| nanos(task.deadline));
        let oldest = deadlines.max().unwrap_or(0) + 1;
        let mut old: Vec<u8> = state
            .iter()
            .flat_map(|entry| [entry.first, entry.second])
            .filter(|&age| age > oldest)
            .collect();
        old.sort_unstable();
        old.dedup();
        for entry in state.iter_mut() {
            for age in [&mut entry.first, &mut entry.second] {
                if let Ok(position) = old.binary_search(age) {
                    *age = oldest + 1 + u8::try_from(position).expect("few jobs");
                }
            }
        }
    }

    /// Whose next job may be released now.
    fn free(&self, state: &State) -> Vec<usize> {
        let may_release = |task: &usize| {
            state[*task].since >= nanos(self.tasks[*task].0.period) && state[*task].second == 0
        };
        (0..self.tasks.len()).filter(may_release).collect()
    }

    /// The state with jobs of these tasks, of which `pattern` has the bits.
    fn released(state: &State, free: &[usize], pattern: u8) -> (State, Vec<usize>) {
        let mut after = *state;
        let mut tasks = Vec::new();
        for (bit, &task) in free.iter().enumerate() {
            if pattern >> bit & 1 == 0 {
                continue;
            }
            let entry = &mut after[task];
            entry.since = 0;
            if entry.first == 0 {
                (entry.first, entry.executed) = (1, 0);
            } else {
                entry.second = 1;
            }
            tasks.push(task);
        }
        (after, tasks)
    }

    /// Whose current job has the CPU next, jobs that need nothing being complete as soon as they have it;
    /// `longest` learns how long these took.
    fn begun(&self, mut state: State, longest: &mut [u64]) -> (State, Option<usize>) {
        loop {
            let chosen = self.chosen(&state);
            let Some(task) = chosen.filter(|&task| self.cost(task) == 0) else {
                return (state, chosen);
            };
            if self.is_guaranteed(task) {
                longest[task] = longest[task].max(u64::from(state[task].first) - 1);
            }
            Self::complete(&mut state[task]);
        }
    }

    fn complete(entry: &mut Entry) {
        (entry.first, entry.executed) = (entry.second, 0);
        entry.second = 0;
    }

    /// The state after a tick of `ran`, whose job then is complete or goes on, if it can.
    fn ran(&self, mut state: State, ran: Option<usize>, completes: bool) -> Option<State> {
        match ran {
            None if completes => {}
            None => return None,
            Some(task) => {
                let entry = &mut state[task];
                entry.executed += 1;
                if completes {
                    Self::complete(entry);
                } else if entry.executed >= self.cost(task) {
                    return None;
                }
            }
        }
        self.age(&mut state);
        Some(state)
    }

    fn missed(&self, state: &State) -> Option<usize> {
        (0..self.tasks.len()).find(|&task| {
            self.is_guaranteed(task) && state[task].first > nanos(self.tasks[task].0.deadline)
        })
    }

    /// All runs, in at most `states_max` states.
    pub(crate) fn explore(&self, states_max: usize) -> Reach {
        assert!(self.tasks.len() <= TASKS_MAX);
        let mut start = State::default();
        for (entry, (task, _)) in start.iter_mut().zip(self.tasks) {
            entry.since = nanos(task.period);
        }
        let mut known = HashSet::from([start]);
        let mut found = vec![Found {
            state: start,
            from: 0,
            pattern: 0,
            completes: false,
        }];
        let mut longest = vec![0; self.tasks.len()];
        let mut from = 0;
        while from < found.len() {
            let before = found[from].state;
            let free = self.free(&before);
            for pattern in 0..1_u8 << free.len() {
                let (begun, _) = Self::released(&before, &free, pattern);
                let (begun, chosen) = self.begun(begun, &mut longest);
                if let Some(task) = chosen.filter(|&task| self.is_guaranteed(task)) {
                    // It may be complete at the end of the tick.
                    longest[task] = longest[task].max(u64::from(begun[task].first));
                }
                for completes in [true, false] {
                    let Some(state) = self.ran(begun, chosen, completes) else {
                        continue;
                    };
                    if !known.insert(state) {
                        continue;
                    }
                    found.push(Found {
                        state,
                        from,
                        pattern,
                        completes,
                    });
                    if let Some(task) = self.missed(&state) {
                        let ticks = self.path(&found);
                        let at = ticks.len() as u64;
                        return Reach::Miss { task, at, ticks };
                    }
                    if found.len() > states_max {
                        return Reach::Undecided;
                    }
                }
            }
            from += 1;
        }
        let states = found.len();
        Reach::Safe { states, longest }
    }

    /// How the state found last came about.
    fn path(&self, found: &[Found]) -> Vec<Tick> {
        let mut ticks = Vec::new();
        let mut number = found.len() - 1;
        while number > 0 {
            let how = &found[number];
            let before = found[how.from].state;
            let (begun, released) = Self::released(&before, &self.free(&before), how.pattern);
            let (_, ran) = self.begun(begun, &mut vec![0; self.tasks.len()]);
            ticks.push(Tick {
                released,
                ran,
                completed: how.completes && ran.is_some(),
            });
            number = how.from;
        }
        ticks.reverse();
        ticks
    }
}
