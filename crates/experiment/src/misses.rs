//! A search for a run in which a guaranteed deadline is missed.
//!
//! A test that is not sound may accept a set and choose priorities under which it misses a deadline. This
//! search looks for such a run; it is bounded by a number of decisions, not by a clock, and follows from a seed, so
//! that it finds the same on every machine. What it finds is certain: the simulator judges the miss
//! ([`vestal_sim::guarantee`]). That it finds nothing says nothing.
//!
//! A run begins with an idle CPU and ends at the deadline of a job that it means to delay, the *victim*. Every
//! task releases its jobs periodically from an offset on; level m of the execution times is reached at an
//! instant s_m, and no job exceeds what the victim's level allows. Half of the offsets are the victim's own
//! (the critical instant); others let a job be under way at some s_m, or arrive just before the victim's
//! deadline, or are anything. A quarter of the runs begin from nothing; the others
//! change the best one known of a victim a little, by its response time, half of them that of the victim which
//! comes nearest to its deadline.

use crate::carried::Carried;
use vestal_core::{Duration, Instant, Level, Service, Task, TaskId};
use vestal_sim::guarantee::{Judge, Promise};
use vestal_sim::workload::Periodic;
use vestal_sim::{Backlog, Demand, JobState, Observer, Setting, simulate};
use vestal_workload::generate::Random;

/// After so many decisions of the scheduler in all runs together a search ends: thousands of runs of four
/// tasks, hundreds of twenty.
pub(crate) const DECISIONS: u64 = 100_000;

/// Whether a run with a guaranteed miss was found. `weak` are the tasks whose jobs it means to delay.
///
/// # Errors
/// A scheduler that cannot be built or a run that fails: a bug of ours.
pub(crate) fn finds_miss(carried: &Carried<'_>, weak: &[usize], seed: u64) -> Result<bool, String> {
    let mut random = Random::new(seed);
    let mut best: Vec<Option<(u64, Attempt)>> = vec![None; weak.len()];
    let (mut decisions, mut run) = (0, 0_usize);
    while decisions < DECISIONS {
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
        let ran = attempt.run(carried)?;
        let Some(delay) = ran.delay else {
            return Ok(true);
        };
        decisions += ran.decisions.max(1);
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

/// What a run came to.
struct Ran {
    /// The victim's response time in millionths of its deadline; `None` if a guaranteed deadline was missed.
    delay: Option<u64>,
    decisions: u64,
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

    fn run(&self, carried: &Carried<'_>) -> Result<Ran, String> {
        let tasks = carried.tasks;
        let deadline = tasks[self.victim].deadline;
        let release = Instant::from_nanos(self.offsets[self.victim]);
        let setting = Setting {
            tasks,
            cpus: 1,
            end: release.saturating_add(deadline),
            backlog: Backlog::UNLIMITED,
        };
        let offsets = self.offsets.iter().zip(tasks);
        let releases = Periodic {
            tasks: offsets
                .map(|(offset, task)| (Instant::from_nanos(*offset), task.period))
                .collect(),
        };
        let demand = ByLevel {
            attempt: self,
            tasks,
        };
        let mut missed = false;
        let promise = Promise::new(tasks, carried.enforcement(), Carried::EXHAUSTION);
        let judge = Judge::new(promise, |_, _, guaranteed| missed |= guaranteed);
        let victim = First {
            task: self.victim,
            response: Duration::ZERO,
        };
        let mut watch = (judge, victim);
        let mut scheduler = carried.scheduler()?;
        let effort = simulate(&mut scheduler, &setting, &releases, &demand, &mut watch)
            .map_err(|error| error.to_string())?;
        let response = u128::from(watch.1.response.as_nanos());
        let share = response * 1_000_000 / u128::from(deadline.as_nanos().max(1));
        let delay = u64::try_from(share).unwrap_or(u64::MAX);
        Ok(Ran {
            delay: (!missed).then_some(delay),
            decisions: effort.decisions,
        })
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
    use vestal_analysis::{Problem, find};
    use vestal_core::{LevelSet, Wcet, policy};

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

    /// What a sound test accepts has no miss to be found, and the same seed gives the same search.
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
}
