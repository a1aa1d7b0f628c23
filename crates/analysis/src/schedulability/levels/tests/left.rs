//! What levels A and B take from level C, in runs drawn tick by tick.

use super::super::Closed;
use super::super::oracle::closed_ticks;
use super::*;
use crate::parameters::Parameters;
use crate::rational::Bracket;

/// Levels A and B of one CPU with a table.
fn draw(random: &mut Random) -> Option<Problem> {
    let mut tasks = draw_level_a(random, 2);
    let above = problem(tasks.clone(), 1);
    let cycles = random.between(1, 2);
    let table = draw_table(random, &rows(&above, A), cycles)?;
    for _ in 0..random.between(1, 3) {
        let period = random.one_of(&[4u64, 6, 8, 10, 12, 20, 24]);
        let deadline = random.between(period.div_ceil(2), period);
        let own = random.between(1, deadline.div_ceil(3));
        let below = random.between(own / 2, own);
        tasks.push(task(B, (period, deadline), &[below, below, own]));
    }
    let given = Parameters {
        tables: Some(vec![table]),
        ..Parameters::default()
    };
    problem(tasks, 1).with(&given).ok()
}

struct Job {
    place: usize,
    deadline: u64,
    /// Of its budget, C(B).
    budget: u64,
    /// Of its work, C(C).
    work: u64,
}

/// In which ticks levels A and B execute: jobs of level A the first C(C) of their slots, those of level B by deadlines, C(C) each
/// somewhere in their budgets of C(B), at first or at last.
fn run(random: &mut Random, problem: &Problem, length: u64) -> Vec<bool> {
    let (level_a, level_b) = (rows(problem, A), rows(problem, B));
    let table = &problem.given().tables.as_ref().unwrap()[0];
    let at_c = closed_ticks(table, &level_a, usize::from(C));
    let late_once_in = random.between(1, 8);
    let is_first = random.once_in(2);
    let mut next: Vec<u64> = level_b.iter().map(|row| random.below(row.period)).collect();
    let mut jobs: Vec<Job> = Vec::new();
    let mut closed = Vec::new();
    for now in 0..length {
        for (place, row) in level_b.iter().enumerate() {
            if next[place] == now {
                next[place] += row.period;
                if random.once_in(late_once_in) {
                    next[place] += random.below(6);
                }
                let deadline = now + row.deadline;
                let (budget, work) = (row.own_wcet(), row.exact_wcet(usize::from(C)));
                jobs.push(Job {
                    place,
                    deadline,
                    budget,
                    work,
                });
            }
        }
        if at_c[(now % at_c.len() as u64) as usize] {
            closed.push(true);
            continue;
        }
        let first = jobs.iter_mut().min_by_key(|job| (job.deadline, job.place));
        closed.push(first.is_some_and(|job| {
            job.budget -= 1;
            // A ghost leaves the CPU open.
            let executes = job.work > 0 && (is_first || job.budget < job.work);
            job.work -= u64::from(executes);
            executes
        }));
        assert!(jobs.iter().all(|job| job.budget == 0 || job.deadline > now));
        jobs.retain(|job| job.budget > 0);
    }
    closed
}

/// The most that any window has beyond its share, in 2^-60 ns; negative: 0.
fn most_beyond(closed: &[bool], left: &Closed) -> u128 {
    let mut used = Bracket::default();
    for &(time, period) in &left.shares {
        used.add(time, period);
    }
    // A sum that begins anew where that is more: the largest sum of a window.
    let (mut sum, mut most) = (0i128, 0i128);
    for &closed in closed {
        let tick = (i128::from(closed) << 60) - used.high as i128;
        sum = (sum + tick).max(0);
        most = most.max(sum);
    }
    most.unsigned_abs()
}

#[test]
fn no_window_has_more_of_levels_a_and_b_than_their_share_and_the_burst() {
    let mut random = Random::new(70);
    let (mut compared, mut near, mut without_b, mut without_a) = (0, 0, 0, 0);
    while compared < 600 {
        let Some(problem) = draw(&mut random) else {
            continue;
        };
        let Ok(found) = decide(&problem, Order::Deadlines) else {
            continue;
        };
        let left = &found.closed[0];
        if left.never() {
            continue;
        }
        compared += 1;
        let alone = super::super::pattern::Pattern::new(
            &found.tables[0],
            &rows(&problem, A),
            usize::from(C),
        );
        let burst_a = u128::from(alone.burst_nanos());
        let burst = u128::from(left.burst);
        let mut most = 0;
        for _ in 0..6 {
            let closed = run(&mut random, &problem, 400);
            most = most.max(most_beyond(&closed, left));
        }
        assert!(most <= burst << 60, "{most} > {left:?}: {problem:?}");
        near += usize::from(most * 10 >= (burst << 60) * 7);
        without_b += usize::from(most > burst_a << 60);
        without_a += usize::from(burst_a > 0 && most > (burst - burst_a) << 60);
    }
    // The bursts of level A and of level B alone are not enough.
    assert!(
        near > 10 && without_b > 30 && without_a > 3,
        "{near} {without_b} {without_a}"
    );
}
