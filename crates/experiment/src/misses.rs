//! A search for a run in which a guaranteed deadline is missed.
//!
//! A test that is not sound may accept a set and choose priorities under which it misses a deadline. This
//! search looks for such a run; it is bounded by a number of instants, not by a clock, and follows from a seed, so
//! that it finds the same on every machine. What it finds is certain: the simulator judges the miss
//! ([`vestal_sim::guarantee`]). That it finds nothing says nothing.
//!
//! Why it is certain: releases of a task are T or more apart, no job executes more than the victim's level
//! allows, and the CPU is idle at the beginning. A job that finds no room in the scheduler's backlog counts as
//! not released, which sporadic tasks may do; the scheduler never hears of it, so that the priorities of
//! later jobs in lists are those of that run. A run ends with its first guaranteed miss.
//!
//! A run begins with an idle CPU and ends at the deadline of a job that it means to delay, the *victim*. Every
//! task releases its jobs periodically from an offset on; level m of the execution times is reached at an
//! instant s_m, and no job exceeds what the victim's level allows. Half of the offsets are the victim's own
//! (the critical instant); others let a job be under way at some s_m, or arrive just before the victim's
//! deadline, or are anything. A quarter of the runs begin from nothing; the others
//! change the best one known of a victim a little, by its response time, half of them that of the victim which
//! comes nearest to its deadline.

use crate::carried::Carried;
use std::cell::Cell;
use vestal_core::{Duration, Instant, Level, Scheduler, Service, Task, TaskId};
use vestal_sim::guarantee::{Judge, Promise};
use vestal_sim::workload::Periodic;
use vestal_sim::{
    Backlog, Demand, JobState, Observer, Releases, Setting, SimulationError, simulate,
};
use vestal_workload::generate::Random;

/// After so many instants at which something happened, in all runs together, a search ends, in the middle of
/// a run if need be: thousands of runs of four tasks, hundreds of twenty.
const INSTANTS: u64 = 100_000;

/// Whether a run with a guaranteed miss was found. `weak` are the tasks whose jobs it means to delay.
///
/// # Errors
/// A scheduler that cannot be built or a run that fails: a bug of ours.
pub(crate) fn finds_miss(carried: &Carried<'_>, weak: &[usize], seed: u64) -> Result<bool, String> {
    let mut random = Random::new(seed);
    let mut best: Vec<Option<(u64, Attempt)>> = vec![None; weak.len()];
    let left = Cell::new(INSTANTS);
    let mut run = 0_usize;
    while left.get() > 0 {
        let begun = best.iter().position(Option::is_none);
        let kind = random.below(4);
        let fresh = begun.is_some() || kind == 0;
        let next = run.checked_rem(weak.len());
        let place = match kind {
            _ if begun.is_some() => begun,
            0 | 1 => next,
            _ => most_delayed(&best),
        };
        let Some(place) = place else {
            return Ok(false);
        };
        let victim = weak[place];
        let attempt = match &best[place] {
            Some((_, known)) if !fresh => known.changed(carried.tasks, &mut random),
            Some(_) | None => Attempt::draw(victim, carried.tasks, &mut random),
        };
        let Some(delay) = attempt.run(carried, &left)? else {
            return Ok(true);
        };
        run += 1;
        if best[place]
            .as_ref()
            .is_none_or(|(known, _)| delay >= *known)
        {
            best[place] = Some((delay, attempt));
        }
    }
    Ok(false)
}

/// The victim that came nearest to its deadline.
fn most_delayed(best: &[Option<(u64, Attempt)>]) -> Option<usize> {
    let known = best.iter().enumerate();
    let known = known.filter_map(|(place, one)| one.as_ref().map(|(delay, _)| (*delay, place)));
    known.max().map(|(_, place)| place)
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
    /// By task, whether its jobs keep to the lowest level's value.
    modest: Vec<bool>,
}

impl Attempt {
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
            modest: vec![false; tasks.len()],
        };
        for place in 0..attempt.instants.len() {
            attempt.draw_instant(place, tasks, random);
        }
        for task in (0..tasks.len()).filter(|task| *task != victim) {
            attempt.draw_offset(task, tasks, random);
        }
        attempt
    }

    /// A neighbour: up to three things are drawn again.
    fn changed(&self, tasks: &[Task], random: &mut Random) -> Self {
        let mut other = self.clone();
        let all = tasks.len() as u64;
        for _ in 0..=random.below(3) {
            match random.below(8) {
                0 => other.by_deadline = !other.by_deadline,
                1 => {
                    let task = index(random.below(all));
                    other.modest[task] = !other.modest[task];
                }
                2 | 3 if !other.instants.is_empty() => {
                    let place = index(random.below(other.instants.len() as u64));
                    other.draw_instant(place, tasks, random);
                }
                _ => {
                    let task = index(random.below(all));
                    if task != other.victim {
                        other.draw_offset(task, tasks, random);
                    }
                }
            }
        }
        other
    }

    /// Instants lie between the victim's release and its deadline, and in order.
    fn draw_instant(&mut self, place: usize, tasks: &[Task], random: &mut Random) {
        let release = self.offsets[self.victim];
        self.instants[place] = release + random.below(tasks[self.victim].deadline.as_nanos());
        self.instants.sort_unstable();
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

    /// The victim's response time in millionths of its deadline; `None` if a guaranteed deadline was missed.
    /// Takes the instants of the run from `left`, and ends without any.
    fn run(&self, carried: &Carried<'_>, left: &Cell<u64>) -> Result<Option<u64>, String> {
        let tasks = carried.tasks;
        let mut scheduler = carried.scheduler()?;
        let deadline = tasks[self.victim].deadline;
        let release = Instant::from_nanos(self.offsets[self.victim]);
        let setting = Setting {
            tasks,
            cpus: 1,
            end: release.saturating_add(deadline),
            backlog: Backlog::at_most(scheduler.backlog()),
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
        let promise = Promise::new(tasks, carried.enforcement(), Carried::EXHAUSTION);
        let judge = Judge::new(promise, |_, _, guaranteed| {
            missed.set(missed.get() || guaranteed)
        });
        let victim = First {
            task: self.victim,
            response: Duration::ZERO,
        };
        let mut watch = (judge, victim);
        match simulate(&mut scheduler, &setting, &releases, &demand, &mut watch) {
            Ok(_) | Err(SimulationError::GivenUp(_)) => (),
            Err(error) => return Err(error.to_string()),
        }
        let response = u128::from(watch.1.response.as_nanos());
        let share = response * 1_000_000 / u128::from(deadline.as_nanos().max(1));
        let delay = u64::try_from(share).unwrap_or(u64::MAX);
        Ok((!missed.get()).then_some(delay))
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
    fn given_up(&self) -> bool {
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
        let place = task.index();
        let task = &self.tasks[place];
        let offset = self.attempt.offsets[place];
        let release = offset.saturating_add(sequence.saturating_mul(task.period.as_nanos()));
        let looked_at = match self.attempt.by_deadline {
            true => release.saturating_add(task.deadline.as_nanos()),
            false => release,
        };
        let reached = self.attempt.instants.iter().filter(|s| **s < looked_at);
        let level = match self.attempt.modest[place] {
            true => 0,
            false => reached.count(),
        };
        task.enforced_wcet(Level(u8::try_from(level).unwrap_or(u8::MAX)))
    }
}

/// The response time of a task's first job.
struct First {
    task: usize,
    response: Duration,
}

impl Observer for First {
    fn completed(&mut self, at: Instant, job: &JobState) {
        if job.id.task.index() == self.task && job.id.sequence == 0 {
            self.response = at.saturating_since(job.released);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_analysis::{Parameters, Problem, find};
    use vestal_core::{LevelSet, Wcet, policy};
    use vestal_workload::generate::Recipe;

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

    fn found(problem: &Problem, test: &str, seed: u64) -> bool {
        let test = find(test, None).unwrap();
        let outcome = test.analyse(problem);
        assert_eq!(outcome.why, None, "{test} accepts the set");
        let policy = policy::find(test.policy).unwrap();
        let (tasks, levels) = (problem.tasks(), problem.levels());
        let carried = Carried::with(policy, tasks, levels, outcome.parameters).unwrap();
        let all: Vec<usize> = (0..tasks.len()).collect();
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
    }

    /// Nor in drawn sets, whatever the policy.
    #[test]
    fn nothing_is_found_in_drawn_sets_that_a_sound_test_accepts() {
        let mut recipe = Recipe::named("huang2014").unwrap();
        for (name, value) in [("tasks", "4"), ("levels", "3"), ("utilization", "0.6")] {
            recipe.set(name, value).unwrap();
        }
        for test in ["rms", "cms", "smc", "amc-rtb", "amc-max", "fjp-mode", "edf"] {
            let accepted = (1..1000).filter_map(|seed| {
                let set = recipe.draw(seed).unwrap();
                let levels = LevelSet::new(set.levels.len()).unwrap();
                let problem = Problem::new(set.to_tasks("x").unwrap(), levels).unwrap();
                let outcome = find(test, None).unwrap().analyse(&problem);
                outcome.why.is_none().then_some((problem, seed))
            });
            let searched: Vec<bool> = accepted
                .take(3)
                .map(|(problem, seed)| found(&problem, test, seed))
                .collect();
            assert_eq!(searched, [false; 3], "{test}");
        }
    }

    /// The set under the adaptive limits of `amc` with these priorities.
    fn with_priorities<'a>(problem: &'a Problem, priorities: &[u32]) -> Carried<'a> {
        let chosen = Parameters {
            priorities: Some(priorities.to_vec()),
            ..Parameters::default()
        };
        let policy = policy::find("amc").unwrap();
        Carried::with(policy, problem.tasks(), problem.levels(), chosen).unwrap()
    }

    /// A run of a short and a very long period has millions of jobs; the search ends in the middle of it.
    #[test]
    fn a_search_ends_after_so_many_instants() {
        let problem = problem(&[(0, 10, &[1]), (1, 1_000_000_000, &[2, 3])]);
        let carried = with_priorities(&problem, &[2, 1]);
        let attempt = Attempt::draw(1, problem.tasks(), &mut Random::new(1));
        let left = Cell::new(1000);
        assert!(attempt.run(&carried, &left).unwrap().is_some());
        assert_eq!(left.get(), 0);
        assert!(!finds_miss(&carried, &[1], 1).unwrap());
    }

    /// The first guaranteed miss ends a run, far from its end.
    #[test]
    fn a_run_ends_with_its_miss() {
        let problem = problem(&[(1, 10, &[6, 6]), (1, 1_000_000, &[600_000, 600_000])]);
        let carried = with_priorities(&problem, &[1, 2]);
        let attempt = Attempt {
            victim: 1,
            offsets: vec![0, 0],
            instants: vec![0],
            by_deadline: true,
            modest: vec![false; 2],
        };
        let left = Cell::new(INSTANTS);
        assert_eq!(attempt.run(&carried, &left).unwrap(), None);
        // The job that misses completes after 600 000.
        assert!(INSTANTS - left.get() < 70_000, "{}", left.get());
    }
}
