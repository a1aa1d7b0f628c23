//! `ocbp`: own-criticality-based priorities for a finite set of jobs.
//!
//! What is decided: whether the jobs, each with a known release a and deadline d, have an order of
//! fixed priorities in which every job J meets its deadline in all runs in which no job executes more
//! than its value at z_J. A job that has executed its own level's value is stopped.
//!
//! Rule (Baruah, Li and Stougie, RTAS 2010): from the lowest priority up, J may be the lowest of a set
//! S if, when all other jobs J' of S go before it and execute c_J'(min(z_J, z_J')), at least c_J(z_J)
//! time in [a, d) is left over. Giving a task the lowest priority leaves more time to the others, so
//! the greedy choice never hurts: if any order passes, this finds one. The first job in the order of
//! the set that passes is taken.
//!
//! For two levels and loads LOAD(l), the largest demand of jobs of criticality l and more at level l in
//! a window over its length, LOAD(0)^2 + LOAD(1) <= 1 is enough (the speed-up of 1.618).
//!
//! Given priorities are decided about instead of being chosen.
//!
//! Assumptions: A1 one CPU, preemptive, no blocking, no overhead. A2 each job is released once, exactly
//! at its instant. Kind: sufficient; a set that has no such order may have a schedule all the same, and
//! discarding jobs below the mode is not taken into account. O(n^3) for n jobs.
//!
//! Slow twin: `plrs::oracle::some_job_order_passes` tries all orders, unit by unit.

use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::task_id;
use crate::problem::FiniteJob;
use crate::problem::Problem;
use core::cmp::Reverse;

/// The test's answer: a priority for each job, larger is more urgent.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    let jobs = problem.jobs();
    // Lowest first, where priorities are given.
    let given: Option<Vec<usize>> = problem.priorities().map(|priorities| {
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|&job| (priorities[job], Reverse(job)));
        order
    });
    let mut left: Vec<usize> = (0..jobs.len()).collect();
    let mut found = vec![TaskOutcome::default(); jobs.len()];
    let mut by_release: Vec<usize> = left.clone();
    by_release.sort_by_key(|&job| jobs[job].release);
    for position in 0..jobs.len() {
        let priority = match (problem.priorities(), &given) {
            (Some(priorities), Some(order)) => priorities[order[position]],
            _ => u32::try_from(position).map_or(u32::MAX, |position| position + 1),
        };
        let mut candidates = match &given {
            Some(order) => order[position..=position].iter(),
            None => left.iter(),
        };
        let lowest = candidates.find(|&&job| fits_below(jobs, &by_release, job));
        let Some(&job) = lowest else {
            let left = left.into_iter().map(task_id).collect();
            let reason = Reason::NoLowestJob { priority, left };
            return Outcome::decided(Kind::Sufficient, Some(reason), found);
        };
        left.retain(|&other| other != job);
        by_release.retain(|&other| other != job);
        found[job].priority = Some(priority);
    }
    Outcome::decided(Kind::Sufficient, None, found)
}

/// Whether the job gets what it needs at its own level below all others of `by_release`.
fn fits_below(jobs: &[FiniteJob], by_release: &[usize], job: usize) -> bool {
    let FiniteJob {
        criticality,
        release,
        deadline,
        ..
    } = jobs[job];
    let (release, deadline) = (release.as_nanos(), deadline.as_nanos());
    let needed = jobs[job].own_wcet();
    // The others one after the other, without gaps where they can: what lies between them is idle.
    let mut busy_until = 0_u64;
    let mut idle = 0_u64;
    let mut add_gap = |from: u64, to: u64| {
        let gap = to.min(deadline).saturating_sub(from.max(release));
        idle = idle.saturating_add(gap);
    };
    for &other in by_release {
        let row = &jobs[other];
        let at = row.release.as_nanos();
        if other == job || at >= deadline {
            continue;
        }
        if at > busy_until {
            add_gap(busy_until, at);
            busy_until = at;
        }
        let cost = row.wcet.at(criticality.min(row.criticality)).as_nanos();
        busy_until = busy_until.saturating_add(cost);
    }
    add_gap(busy_until, deadline);
    idle >= needed
}

/// The jobs, most urgent first, of an outcome that has a priority for each.
#[must_use]
pub fn order_of(outcome: &Outcome) -> Option<Vec<usize>> {
    let priorities: Option<Vec<u32>> = outcome.tasks.iter().map(|job| job.priority).collect();
    let priorities = priorities?;
    let mut order: Vec<usize> = (0..priorities.len()).collect();
    order.sort_by_key(|&job| Reverse(priorities[job]));
    Some(order)
}
