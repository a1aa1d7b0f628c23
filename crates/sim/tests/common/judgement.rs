//! Who missed, and whether that was guaranteed not to happen: by definition, from the unit-step
//! schedule, with everything looked up where it is needed.

use super::recorder::run_engine;
use super::system::{configuration, shrink, tasks_of, text};
use crate::reference::{self, AtLimit, Inside, Limits, Reason, Schedule, System};
use vestal_core::Level;
use vestal_core::model::LEVELS_MAX;
use vestal_sim::Statistics;

/// By task, the missed jobs and those of them whose deadlines were guaranteed.
type Misses = Vec<(u64, u64)>;

/// Asserts that engine and reference agree on the schedule, and statistics and definition on the
/// misses; else shows the smallest system near this one on which they do not. Returns the
/// reference's schedule and its guaranteed misses.
pub(crate) fn cross_check(system: &System) -> (Schedule, u64) {
    let (schedule, inside) = reference::schedule(system);
    let expected = misses(system, &schedule, &inside);
    if run_engine_and_count(system) != (schedule.clone(), expected.clone()) {
        let small = shrink(system.clone(), disagree);
        let (schedule, inside) = reference::schedule(&small);
        let (found, counted) = run_engine_and_count(&small);
        panic!(
            "{}reference {schedule:?}\nengine    {found:?}\nmisses by definition {:?}, by the \
             statistics {counted:?}",
            text(&small),
            misses(&small, &schedule, &inside)
        );
    }
    let guaranteed = expected.iter().map(|task| task.1).sum();
    (schedule, guaranteed)
}

fn disagree(system: &System) -> bool {
    let (schedule, inside) = reference::schedule(system);
    let expected = misses(system, &schedule, &inside);
    run_engine_and_count(system) != (schedule, expected)
}

fn run_engine_and_count(system: &System) -> (Schedule, Misses) {
    let configured = tasks_of(system);
    let mut statistics = Statistics::of(&configuration(system, &configured), 1);
    let schedule = run_engine(system, &mut statistics);
    let counts = statistics.tasks().iter();
    let counts = counts.map(|task| (task.missed, task.missed_guaranteed));
    (schedule, counts.collect())
}

fn misses(system: &System, schedule: &Schedule, inside: &Inside) -> Misses {
    let all = (0..system.tasks.len()).map(|i| {
        let jobs = 0..system.releases[i].len();
        let late = jobs.filter(|&k| is_missed(system, schedule, i, k));
        late.fold((0, 0), |(missed, guaranteed), k| {
            let broken = is_guaranteed(system, schedule, inside, i, k);
            (missed + 1, guaranteed + u64::from(broken))
        })
    });
    all.collect()
}

fn deadline(system: &System, i: usize, k: usize) -> u64 {
    system.releases[i][k] + system.tasks[i].task.deadline.as_nanos()
}

fn is_missed(system: &System, schedule: &Schedule, i: usize, k: usize) -> bool {
    let deadline = deadline(system, i, k);
    let mut drops = schedule.dropped.iter();
    match drops.find(|drop| (drop.1, drop.2) == (i, k)) {
        Some((_, _, _, Reason::BacklogFull)) => return true,
        Some(&(at, ..)) if at < deadline => return false,
        Some(_) | None => {}
    }
    let mut completions = schedule.completed.iter();
    let in_time = completions.any(|&(at, task, job)| (task, job) == (i, k) && at <= deadline);
    !in_time && deadline <= system.end
}

fn is_guaranteed(
    system: &System,
    schedule: &Schedule,
    inside: &Inside,
    i: usize,
    k: usize,
) -> bool {
    let deadline = deadline(system, i, k);
    let was_admitted = !schedule
        .dropped
        .iter()
        .any(|&(_, task, job, why)| (task, job, why) == (i, k, Reason::BacklogFull));
    let kept_its_place = !inside
        .demoted
        .iter()
        .any(|&(at, task, job)| (task, job) == (i, k) && at <= deadline);
    let task = &system.tasks[i].task;
    let kept = task.degraded.map(|budget| budget.min(task.own_wcet()));
    let is_kept = system.limits == Limits::Adaptive
        && kept.is_some_and(|kept| system.demand[i][k] <= kept.as_nanos());
    let level = match is_kept {
        // Whatever the mode.
        true => Level(LEVELS_MAX as u8 - 1),
        false => task.criticality,
    };
    // The job itself is pending from its release to its deadline, so that no idle instant lies in
    // between. One may coincide with a crossing: a job raises the mode and is aborted at once.
    let released = system.releases[i][k];
    let was_forgotten = |crossing: u64| inside.idle.iter().any(|&y| crossing <= y && y <= released);
    let assumption_held = crossings(system, schedule, inside, level)
        .into_iter()
        .all(|crossing| crossing >= deadline || was_forgotten(crossing));
    was_admitted && kept_its_place && assumption_held
}

/// Every instant at which an admitted job goes beyond what `level` assumes. That one which stands at the
/// limit is not complete is beyond it, too, once it makes a difference: it raises the mode, or suspends
/// others.
fn crossings(system: &System, schedule: &Schedule, inside: &Inside, level: Level) -> Vec<u64> {
    let mut executed: Vec<Vec<u64>> = system.demand.iter().map(|l| vec![0; l.len()]).collect();
    let mut all = Vec::new();
    if system.limits == Limits::Adaptive {
        // A job that needs more than the nothing it is given stands at that limit once it has the CPU.
        let begun = inside.begun.iter();
        let stand = begun.filter(|begun| {
            let (j, m) = begun.job;
            let task = &system.tasks[j].task;
            task.criticality > level
                && task.enforced_wcet(level).is_zero()
                && system.demand[j][m] > 0
        });
        all.extend(stand.map(|begun| begun.at));
    }
    for (now, ran) in (0..).zip(&schedule.ran) {
        let Some((j, m)) = *ran else { continue };
        let task = &system.tasks[j].task;
        let in_background = inside
            .demoted
            .iter()
            .any(|&(at, task, job)| (task, job) == (j, m) && at <= now);
        let before = executed[j][m];
        executed[j][m] += 1;
        let is_above = task.criticality > level;
        let limit = task.enforced_wcet(level).as_nanos();
        if in_background || !(is_above || system.at_limit == AtLimit::GoOn) {
            continue;
        }
        if before >= limit {
            all.push(now);
        }
        if before + 1 == limit && system.demand[j][m] > limit {
            match system.limits {
                Limits::Static => {}
                Limits::Adaptive => all.extend(is_above.then_some(now + 1)),
                Limits::ZeroSlack => {
                    all.extend(suspends_from(system, schedule, inside, (j, m), now + 1))
                }
            }
        }
    }
    all
}

/// The first instant, from `from` on, at which job m of task j suspends others, if it is there until then
/// and does not run: from its zero-slack instant on, or else its deadline.
fn suspends_from(
    system: &System,
    schedule: &Schedule,
    inside: &Inside,
    (j, m): (usize, usize),
    from: u64,
) -> Option<u64> {
    let entry = &system.tasks[j];
    let suspends = |&at: &u64| {
        let age = at - system.releases[j][m];
        age >= entry.task.deadline.as_nanos() || entry.zero_slack.is_some_and(|after| age >= after)
    };
    let at = (from..=system.end).find(suspends)?;
    let runs = schedule.ran[from as usize..at as usize].contains(&Some((j, m)));
    let mut drops = schedule.dropped.iter();
    let is_dropped = drops.any(|&(then, task, job, _)| (task, job) == (j, m) && then <= at);
    let mut demotions = inside.demoted.iter();
    let is_demoted = demotions.any(|&(then, task, job)| (task, job) == (j, m) && then <= at);
    (!runs && !is_dropped && !is_demoted).then_some(at)
}
