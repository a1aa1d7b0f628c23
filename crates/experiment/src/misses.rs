//! A search for a run in which a guaranteed deadline is missed.
//!
//! A test that is not sound may accept a set and choose priorities under which it misses a deadline. This
//! search looks for such a run; it is bounded by a number of instants, not by a clock, and follows from a seed, so
//! that it finds the same on every machine. What it finds is certain: the simulator judges the miss
//! ([`vestal_sim::guarantee`]). That it finds nothing says nothing.
//!
//! Why it is certain: releases of a task are T or more apart, no job executes more than the victim's level
//! allows, and the CPU is idle at the beginning. A job that finds no room in the scheduler's backlog counts as
//! not released, which sporadic tasks may do; the scheduler never learns of it, so that the priorities of
//! later jobs in lists are those of that run. A run ends with its first guaranteed miss.
//!
//! A run begins with an idle CPU and ends at the deadline of a job that it means to delay, the *victim*. Every
//! task releases its jobs periodically from an offset on; level m of the execution times is reached at an
//! instant s_m, and no job exceeds what the victim's level allows. Half of the offsets are the victim's own
//! (the critical instant); others let a job be under way at some s_m, or arrive just before the victim's
//! deadline, or are anything. Every run is drawn anew; to change the worst ones known a little
//! was tried, and finds no more. Where carrying the policy out costs something, jobs that may be stopped also want more
//! than their own level's value.

use crate::carried::{Carried, Run};
use std::cell::Cell;
use vestal_core::{Instant, Level, Scheduler, Service, Task, TaskId};
use vestal_policy::Visitor;
use vestal_sim::guarantee::Judge;
use vestal_sim::workload::Periodic;
use vestal_sim::{Backlog, Demand, Observer, Releases, Setting, SimulationError};
use vestal_workload::generate::Random;

/// After so many instants at which something happened, in all runs together, a search ends, in the middle of
/// a run if need be: thousands of runs of four tasks, hundreds of twenty.
const INSTANTS: u64 = 100_000;

/// How many jobs a scheduler lets wait.
struct BacklogOf;

impl Visitor for BacklogOf {
    type Output = usize;

    fn visit<S: Scheduler + Send + ?Sized>(self, scheduler: &mut S) -> usize {
        scheduler.backlog()
    }
}

/// Whether a run with a guaranteed miss was found. `weak` are the tasks whose jobs it means to delay.
///
/// # Errors
/// A scheduler that cannot be built or a run that fails: a bug of Vestal.
pub(crate) fn finds_miss(carried: &Carried<'_>, weak: &[usize], seed: u64) -> Result<bool, String> {
    finds_miss_within(INSTANTS, carried, weak, (seed, &mut ()))
}

/// The same within so many instants, in runs that somebody watches.
fn finds_miss_within(
    instants: u64,
    carried: &Carried<'_>,
    weak: &[usize],
    (seed, watching): (u64, &mut dyn Observer),
) -> Result<bool, String> {
    let mut random = Random::new(seed);
    let left = Cell::new(instants);
    for &victim in weak.iter().cycle() {
        if left.get() == 0 {
            break;
        }
        let mut attempt = Attempt::draw(victim, carried.tasks, &mut random);
        if carried.amid.costs.is_some() {
            attempt.draw_costly(carried.tasks, &mut random);
        }
        if attempt.misses(carried, (&left, &mut *watching))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// One run.
#[derive(Clone, Debug)]
struct Attempt {
    victim: usize,
    /// By task, the first release in nanoseconds.
    offsets: Vec<u64>,
    /// The instants s_1 <= s_2 <= ..., one for each level of the victim above 0.
    instants: Vec<u64>,
    /// A job executes what the level at its deadline allows; otherwise, what that at its release does.
    by_deadline: bool,
    /// Jobs of other tasks that are no more critical than the victim want more than their own level's value, where
    /// stopping them costs something.
    beyond: bool,
    /// By how much the others exceed C(0), if they do and may at all.
    excess: Option<u64>,
}

/// What is taken of a CPU is taken within so many nanoseconds of what happened, or a little later: searched are worlds of
/// such small numbers.
const NEARBY: u64 = 200;

impl Attempt {
    /// Where costs may add up: others are released just before the victim, or in turn, want more than they may, or a little
    /// more than C(0), and complete before anybody has noticed.
    fn draw_costly(&mut self, tasks: &[Task], random: &mut Random) {
        self.beyond = random.below(2) > 0;
        self.excess = (random.below(2) > 0).then(|| 1 + random.below(NEARBY / 4));
        if random.below(2) > 0 {
            return;
        }
        let lead = NEARBY + random.below(tasks[self.victim].period.as_nanos());
        self.offsets[self.victim] = lead;
        self.instants.fill(0);
        for (other, task) in tasks.iter().enumerate() {
            if other != self.victim {
                let before = match random.below(4) {
                    0 => 0,
                    1 => task.own_wcet().as_nanos() + random.below(NEARBY),
                    _ => random.below(NEARBY),
                };
                self.offsets[other] = lead.saturating_sub(before) % task.period.as_nanos();
            }
        }
    }

    fn draw(victim: usize, tasks: &[Task], random: &mut Random) -> Self {
        let deadline = tasks[victim].deadline.as_nanos();
        let lead = match random.below(2) {
            0 => 0,
            _ => random.below(deadline),
        };
        let mut attempt = Self {
            victim,
            offsets: vec![lead; tasks.len()],
            instants: vec![0; tasks[victim].criticality.index()],
            by_deadline: random.below(4) > 0,
            beyond: false,
            excess: None,
        };
        // From the beginning on, or between the victim's release and its deadline.
        for instant in &mut attempt.instants {
            *instant = random.below(2) * (lead + random.below(deadline));
        }
        attempt.instants.sort_unstable();
        for task in (0..tasks.len()).filter(|task| *task != victim) {
            attempt.draw_offset(task, tasks, random);
        }
        attempt
    }

    fn draw_offset(&mut self, task: usize, tasks: &[Task], random: &mut Random) {
        let release = self.offsets[self.victim];
        let end = release + tasks[self.victim].deadline.as_nanos();
        let (period, deadline) = (
            tasks[task].period.as_nanos(),
            tasks[task].deadline.as_nanos(),
        );
        let own = tasks[task].own_wcet().as_nanos();
        let instant = match self.instants.len() as u64 {
            0 => end,
            count => self.instants[index(random.below(count))],
        };
        self.offsets[task] = match random.below(8) {
            0..=3 => release,
            // A job is due soon after the instant, so that it may exceed the lower level's value.
            4 => (instant + 1 + random.below(own) + period - deadline % period) % period,
            // A job arrives with just enough time left before the victim's deadline.
            5 => end.saturating_sub(1 + random.below(own)) % period,
            // Others that are as long as some job go first.
            6 => {
                let other = &tasks[index(random.below(tasks.len() as u64))];
                release + random.below(other.own_wcet().as_nanos() + 1)
            }
            _ => random.below(period),
        };
    }

    /// Whether a guaranteed deadline is missed. Takes the instants of the run from `left`, and ends without any.
    fn misses(
        &self,
        carried: &Carried<'_>,
        (left, mut watching): (&Cell<u64>, &mut dyn Observer),
    ) -> Result<bool, String> {
        let tasks = carried.tasks;
        let deadline = tasks[self.victim].deadline;
        let release = Instant::from_nanos(self.offsets[self.victim]);
        let mut engine = carried.engine()?;
        let setting = Setting {
            tasks,
            cpus: 1,
            end: release.saturating_add(deadline),
            backlog: Backlog::at_most(engine.visit(BacklogOf)),
        };
        let missed = Cell::new(false);
        let offsets = self.offsets.iter().zip(tasks);
        let releases = Bounded {
            periodic: Periodic {
                tasks: offsets
                    .map(|(offset, task)| (Instant::from_nanos(*offset), task.period))
                    .collect(),
            },
            left,
            missed: &missed,
        };
        let demand = ByLevel {
            attempt: self,
            tasks,
        };
        let mut judge = Judge::new(carried.guarantee.clone(), |_, _, guaranteed| {
            missed.set(missed.get() || guaranteed);
        });
        let ended = engine.visit(Run {
            amid: carried.amid,
            setting: &setting,
            releases: &releases,
            demand: &demand,
            observer: &mut (&mut judge, &mut watching),
        });
        match ended {
            Ok(()) | Err(SimulationError::Aborted(_)) => Ok(missed.get()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Releases of a run that ends with a guaranteed miss, or where a search has no instants left.
struct Bounded<'a> {
    periodic: Periodic,
    left: &'a Cell<u64>,
    missed: &'a Cell<bool>,
}

impl Releases for Bounded<'_> {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        self.periodic.release(task, sequence, previous)
    }

    /// Is asked at each instant.
    fn aborted(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left == 0 || self.missed.get()
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// What jobs execute: what the level allows that is reached by their deadline, or at their release.
struct ByLevel<'a> {
    attempt: &'a Attempt,
    tasks: &'a [Task],
}

impl Demand for ByLevel<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        let position = task.index();
        let task = &self.tasks[position];
        let offset = self.attempt.offsets[position];
        let release = offset.saturating_add(sequence.saturating_mul(task.period.as_nanos()));
        let looked_at = match self.attempt.by_deadline {
            true => release.saturating_add(task.deadline.as_nanos()),
            false => release,
        };
        let reached = self.attempt.instants.iter().filter(|s| **s < looked_at);
        let level = u8::try_from(reached.count()).unwrap_or(u8::MAX);
        let victim = &self.tasks[self.attempt.victim];
        let is_other = position != self.attempt.victim;
        if self.attempt.beyond && is_other && task.criticality <= victim.criticality {
            return task.own_wcet().saturating_add(task.own_wcet());
        }
        if let Some(excess) = self.attempt.excess.filter(|_| is_other) {
            let more = task
                .enforced_wcet(Level(0))
                .saturating_add(Service::from_nanos(excess));
            return more.min(task.enforced_wcet(victim.criticality));
        }
        task.enforced_wcet(Level(level))
    }
}

#[cfg(test)]
mod costly;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::fmt::Write as _;
    use vestal_analysis::{Parameters, Problem, find};
    use vestal_core::{Duration, LevelSet, Wcet};
    use vestal_policy::{Analysis, Options, Registry, System, assemble};
    use vestal_workload::generate::Recipe;
    use vestal_workload::{Source, TaskSet};

    /// z, T = D, and C(0), ..., C(z) in units.
    type Row = (u8, u64, &'static [u64]);

    fn problem(rows: &[Row]) -> Problem {
        let task = |&(criticality, period, wcet): &Row| {
            let values: Vec<Service> = wcet.iter().map(|c| Service::from_nanos(*c)).collect();
            let span = Duration::from_nanos(period);
            Task::new(Level(criticality), span, span, Wcet::new(&values).unwrap()).unwrap()
        };
        let levels = LevelSet::new(2).unwrap();
        Problem::new(rows.iter().map(task).collect(), levels).unwrap()
    }

    /// The tasks of a problem as a file would have them.
    pub(crate) fn set(problem: &Problem) -> TaskSet {
        let levels = 0..problem.levels().count();
        let names: Vec<String> = levels.map(|level| format!("\"L{level}\"")).collect();
        let mut text = format!(
            "format = \"vestal/1\"\nlevels = [{}]\nunit = \"ns\"\n",
            names.join(", ")
        );
        for (number, task) in problem.tasks().iter().enumerate() {
            let (own, period) = (task.criticality, task.period.as_nanos());
            let levels = (0..=own.0).map(|level| {
                let wcet = task.enforced_wcet(Level(level)).as_nanos();
                format!("L{level} = {wcet}")
            });
            let wcet: Vec<String> = levels.collect();
            write!(
                text,
                "[[task]]\nname = \"t{number}\"\ncriticality = \"L{}\"\nperiod = {period}\ndeadline = {}\nwcet = {{ {} }}\n",
                own.0,
                task.deadline.as_nanos(),
                wcet.join(", ")
            )
            .unwrap();
        }
        TaskSet::from_source(&Source::new("drawn.toml", &text)).unwrap()
    }

    /// The set under a policy with what a test chose.
    fn system(problem: &Problem, policy: &str, chosen: &Parameters) -> System {
        let (registry, options) = (Registry::default(), Options::default());
        let by = (registry.policy(policy).unwrap(), &options);
        assemble(&registry, by, &set(problem), chosen, Analysis::Skip).unwrap()
    }

    fn found(problem: &Problem, test: &str, seed: u64) -> bool {
        let test = find(test, None).unwrap();
        let outcome = test.analyse(problem);
        assert_eq!(outcome.why, None, "{test} accepts the set");
        let registry = Registry::default();
        let policy = registry.policies_of(test).next().unwrap().about().name;
        let system = system(problem, policy, &outcome.parameters);
        let carried = Carried::new(problem.tasks(), &system).unwrap();
        let all: Vec<usize> = (0..problem.tasks().len()).collect();
        finds_miss(&carried, &all, seed).unwrap()
    }

    /// The runs are drawn in the simulator's tests: tau4 misses with releases at 0, 2, 2 and 0.
    #[test]
    fn what_amc_ia_wrongly_accepts_is_shown_to_miss() {
        let rows: [Row; 4] = [
            (0, 4, &[1]),
            (0, 10, &[2]),
            (1, 5, &[1, 2]),
            (1, 10, &[2, 3]),
        ];
        let free = problem(&rows);
        let given = free.with_priorities(vec![4, 3, 2, 1]).unwrap();
        assert!((1..=10).all(|seed| found(&given, "amc-ia", seed)));
    }

    #[test]
    fn what_fjp_ija_wrongly_accepts_is_shown_to_miss() {
        let rows: [Row; 4] = [
            (1, 5, &[1, 2]),
            (1, 14, &[2, 5]),
            (0, 4, &[1]),
            (1, 14, &[1, 5]),
        ];
        assert!((1..=10).all(|seed| found(&problem(&rows), "fjp-ija", seed)));
    }

    /// What a sound test accepts has no miss to be found.
    #[test]
    fn nothing_is_found_where_a_sound_test_accepts() {
        let rows: [Row; 4] = [
            (0, 4, &[1]),
            (1, 10, &[2, 4]),
            (1, 20, &[1, 2]),
            (0, 20, &[2]),
        ];
        for test in ["amc-rtb", "amc-max", "amc-ia", "fjp-mode"] {
            assert!(
                (1..=10).all(|seed| !found(&problem(&rows), test, seed)),
                "{test}"
            );
        }
        // The whole CPU is in use: a job earlier or longer by a nanosecond, and one is late.
        let full: [Row; 3] = [(0, 20, &[10]), (0, 40, &[10]), (0, 80, &[20])];
        assert!((1..=10).all(|seed| !found(&problem(&full), "rms", seed)));
    }

    /// Drawn sets of four tasks with their seeds.
    fn drawn(parameters: &[(&str, &str)]) -> impl Iterator<Item = (Problem, u64)> {
        let mut recipe = Recipe::named("huang2014").unwrap();
        for (name, value) in [&[("tasks", "4")], parameters].concat() {
            recipe.set(name, value).unwrap();
        }
        (1..).map(move |seed| {
            let set = recipe.draw(seed).unwrap();
            let levels = LevelSet::new(set.levels.len()).unwrap();
            let tasks = set.to_tasks("x").unwrap();
            (Problem::new(tasks, levels).unwrap(), seed)
        })
    }

    fn accepts(test: &str, problem: &Problem) -> bool {
        find(test, None).unwrap().analyse(problem).why.is_none()
    }

    /// Nor in drawn sets, whatever the policy.
    #[test]
    fn nothing_is_found_in_drawn_sets_that_a_sound_test_accepts() {
        for test in ["rms", "cms", "smc", "amc-rtb", "amc-max", "fjp-mode", "edf"] {
            let sets = drawn(&[("levels", "3"), ("utilization", "0.6")]).take(1000);
            let accepted = sets.filter(|(problem, _)| accepts(test, problem)).take(3);
            let searched: Vec<bool> = accepted
                .map(|(problem, seed)| found(&problem, test, seed))
                .collect();
            assert_eq!(searched, [false; 3], "{test}");
        }
    }

    /// A level-0 job that is late because a more critical one exceeds C(0) was guaranteed nothing.
    #[test]
    fn a_miss_that_was_not_guaranteed_is_none() {
        let problem = problem(&[(0, 10, &[4]), (1, 10, &[3, 7])]);
        assert!((1..=10).all(|seed| !found(&problem, "smc", seed)));
    }

    /// How much of what is wrong it finds, so that it does not become blunt unnoticed.
    #[test]
    fn the_search_finds_what_it_found_before() {
        let count = |parameters: &[(&str, &str)], unsound: &str, sound: &str| {
            let sets = drawn(parameters)
                .filter(|(problem, _)| accepts(unsound, problem) && !accepts(sound, problem));
            let sets = sets.take(40);
            sets.filter(|(problem, seed)| found(problem, unsound, *seed))
                .count()
        };
        let four = [
            ("levels", "4"),
            ("criticality_factor", "3"),
            ("utilization", "0.5"),
        ];
        let two = [
            ("levels", "2"),
            ("criticality_factor", "2"),
            ("utilization", "0.6"),
        ];
        let found = (
            count(&four, "fjp-ija", "fjp-mode"),
            count(&two, "amc-ia", "amc-max"),
        );
        assert!(found.0 >= 18 && found.1 >= 19, "{found:?} of 40");
    }

    /// The set under the adaptive limits of `amc` with these priorities.
    fn with_priorities(problem: &Problem, priorities: &[u32]) -> System {
        let chosen = Parameters {
            priorities: Some(priorities.to_vec()),
            ..Parameters::default()
        };
        system(problem, "amc", &chosen)
    }

    /// A run of a short and a very long period has millions of jobs; the search ends in the middle of it.
    #[test]
    fn a_search_ends_after_so_many_instants() {
        let problem = problem(&[(0, 10, &[1]), (1, 1_000_000_000, &[2, 3])]);
        let system = with_priorities(&problem, &[2, 1]);
        let carried = Carried::new(problem.tasks(), &system).unwrap();
        let attempt = Attempt::draw(1, problem.tasks(), &mut Random::new(1));
        let left = Cell::new(1000);
        assert!(!attempt.misses(&carried, (&left, &mut ())).unwrap());
        assert_eq!(left.get(), 0);
        assert!(!finds_miss(&carried, &[1], 1).unwrap());
    }

    /// The first guaranteed miss ends a run, far from its end.
    #[test]
    fn a_run_ends_with_its_miss() {
        let problem = problem(&[(1, 10, &[6, 6]), (1, 1_000_000, &[600_000, 600_000])]);
        let system = with_priorities(&problem, &[1, 2]);
        let carried = Carried::new(problem.tasks(), &system).unwrap();
        let attempt = Attempt {
            victim: 1,
            offsets: vec![0, 0],
            instants: vec![0],
            by_deadline: true,
            beyond: false,
            excess: None,
        };
        let left = Cell::new(INSTANTS);
        assert!(attempt.misses(&carried, (&left, &mut ())).unwrap());
        // The job that misses completes after 600 000.
        assert!(INSTANTS - left.get() < 70_000, "{}", left.get());
    }
}
