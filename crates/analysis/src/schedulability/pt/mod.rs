//! `pt`: period transformation. Rate-monotonic over slices, each job in slices of its own.
//!
//! What is bounded: the response time of whole jobs under preemptive fixed priorities where a job of
//! task j released at r may execute, by r + floor(k T_j / n_j), at most ceil((k + 1) C_j(z_j) / n_j)
//! in all, and waits for its next slice when it has. The guarantee is Vestal's: a job of task i
//! meets its deadline in every run in which each job of every task j needs at most C_j(z_i).
//! Priorities are the problem's own, or rate-monotonic over T_j / n_j, equal ones to the more
//! critical task. The n_j are the problem's own, or chosen from the lowest level upwards so that
//! T_i / n_i is at most every slice period of less critical tasks; the order is then monotonic by
//! criticality, too (reconstructed from Vestal, RTSS 2007, and Huang, Gill, Li and Lu, RTAS 2012).
//!
//! Equation: with g_j(t) as in module `slices`, for the slices k = 0, ..., n_i - 1 that a job of
//! C_i(l) needs,
//!
//! L_i(k) = C_i(l) - ceil(k C_i(z_i) / n_i) + sum over j in hp(i) of g_j(L_i(k)), least solution;
//! R_i(l) = max over k of floor(k T_i / n_i) + L_i(k) <= D_i.
//!
//! Assumptions: A1 one CPU, preemptive, no blocking, no overhead. A2 sporadic tasks with
//! D_i <= T_i. A3 releases of any phase. A4 limits are enforced exactly. A5 boundaries count from
//! the job's own release; for servers on a fixed grid the test is [`servers`].
//!
//! # Why it is sufficient
//!
//! Take a job of i released at r that finishes at f, and the last instant t0 <= f before which no
//! granted work of i or hp(i) is undone. While i executes nothing granted to hp(i) is undone, so t0
//! is not before the job's last interval of granted work began: with k the first slice that begins
//! at t0 or later, i has executed all that the slices before grant. (If k = 0 the job before has
//! finished, for D_i <= T_i.) In [t0, t0 + x) the tasks of hp(i) are granted at most g_j(x) each,
//! i needs at most C_i(l) - ceil(k C_i(z_i) / n_i), so f <= t0 + L_i(k) <= r + floor(k T_i / n_i) +
//! L_i(k). The run in which hp(i) is released together with slice k reaches the bound wherever the
//! slices before could be executed by then, which roundings may prevent: hence not exact.
//!
//! # What the decision skips
//!
//! g is subadditive, so L for m slices is at most m times L for one. If L_1, the least solution
//! with ceil(C_i(z_i) / n_i) in front, is at most T_i / n_i, then for each k = n_i - m
//! floor(k T / n) + L_i(k) <= floor((n - 1) T / n) - (m - 1) L_1 + m L_1: one fixed point decides.
//!
//! # Variant `printed`
//!
//! Huang, Gill and Lu (TECS 2014, equation 3) sum g over hp(i) and i itself and call the least
//! fixed point R > 0 the response time. (As printed, g has a ceiling where the floor belongs, which
//! counts the present period twice; the variant has the floor.) That is where the *first slice* can
//! be done, not the job: with tau_1 (T 4, C 1) and tau_2 (T 15, C 3, three slices) it is 2, and the
//! job takes 12. Refuted; kept to reproduce the paper.
//!
//! Slow twins: `pt::oracle::sliced_response` tries each window, and
//! `pt::oracle::sliced_schedule` executes slices tick by tick.

#[cfg(feature = "oracle")]
pub mod oracle;
pub mod servers;
mod slices;

pub use slices::priorities_over_slices;

use crate::assumptions::trivially_infeasible;
use crate::demand::Bound;
use crate::fixed_priority::responses_of;
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::task_id;
use crate::problem::Problem;
use crate::schedulability::pt::slices::{Sliced, SlicedDemand, SlicedTables};
use crate::scratch::Scratch;
use vestal_core::Duration;

/// What is called the response time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounded {
    Job,
    FirstSlice,
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    in_order(problem, scratch, |order, position, demand| {
        passes(order, position, demand)
    })
}

/// Whether the condition of the variant `printed` holds.
#[must_use]
pub fn accepts_printed(problem: &Problem, scratch: &mut Scratch) -> bool {
    in_order(problem, scratch, |order, position, demand| {
        let row = &order[position].row;
        prepare(order, position + 1, row.criticality, demand);
        matches!(demand.solve(row.deadline), Bound::Found(_))
    })
}

fn in_order(
    problem: &Problem,
    scratch: &mut Scratch,
    mut passes: impl FnMut(&[Sliced], usize, &mut SlicedDemand) -> bool,
) -> bool {
    let Scratch { own, ran_out, .. } = scratch;
    let sliced = own.of::<SlicedTables>();
    if trivially_infeasible(problem).is_some() || sliced.fill(problem).is_err() {
        return false;
    }
    let (order, demand) = sliced.parts();
    demand.clear();
    demand.ran_out = false;
    let holds = (0..order.len()).all(|position| passes(order, position, demand));
    *ran_out |= demand.ran_out;
    holds
}

/// Makes `demand` hold the first `count` tasks of the order in runs of `level`. Down the order the
/// set grows, and what was counted for the task before stays counted.
fn prepare(order: &[Sliced], count: usize, level: usize, demand: &mut SlicedDemand) {
    demand.turn_to(level);
    for task in &order[demand.len()..count] {
        demand.add(task, level);
    }
}

/// Whether the task at this position of the order meets its deadline.
fn passes(order: &[Sliced], position: usize, demand: &mut SlicedDemand) -> bool {
    let task = &order[position];
    let row = &task.row;
    prepare(order, position + 1, row.criticality, demand);
    // With the first slice of the task itself among the others this is L_1 as long as it ends
    // before the second begins.
    let slice = row.period / task.count;
    if let Bound::Found(first) = demand.solve(slice)
        && task.boundary_floor(task.count - 1).saturating_add(first) <= row.deadline
    {
        return true;
    }
    let mut alone = SlicedDemand::default();
    let found = greatest(order, position, row.criticality, &mut alone);
    demand.ran_out |= alone.ran_out;
    matches!(found, Bound::Found(_))
}

/// R_i(level) of the task at this position, or what exceeds its deadline. From the last slice to the
/// first, since each needs more than the one after.
fn greatest(order: &[Sliced], position: usize, level: usize, demand: &mut SlicedDemand) -> Bound {
    let task = &order[position];
    let own = task.enforced(level);
    demand.clear();
    for other in &order[..position] {
        demand.add(other, level);
    }
    let (mut greatest, mut counted) = (0, 0);
    for k in (0..task.count).rev() {
        let needed = own.saturating_sub(task.granted_ceil(k));
        if needed == 0 && k > 0 {
            continue;
        }
        demand.add_constant(needed - counted);
        counted = needed;
        let start = task.boundary_floor(k);
        match demand.solve(row_limit(task, start)) {
            Bound::Found(window) => greatest = greatest.max(start.saturating_add(window)),
            Bound::AtLeast(window) => return Bound::AtLeast(start.saturating_add(window)),
            Bound::Undecided => return Bound::Undecided,
        }
    }
    Bound::Found(greatest)
}

fn row_limit(task: &Sliced, start: u64) -> u64 {
    task.row.deadline.saturating_sub(start)
}

/// The answer with response times, of what is called so.
#[must_use]
pub(crate) fn analyse(problem: &Problem, kind: Kind, bounded: Bounded) -> Outcome {
    analyse_sliced(problem, kind, |order, position, demand| {
        let row = &order[position].row;
        responses_of(row, row.criticality + 1, |level| match bounded {
            Bounded::Job => greatest(order, position, level, demand),
            Bounded::FirstSlice => {
                demand.clear();
                prepare(order, position + 1, level, demand);
                demand.solve(row.deadline)
            }
        })
    })
}

/// The outcome where `responses` says what the jobs of the task at a position of the order take, or why they may be
/// late.
fn analyse_sliced(
    problem: &Problem,
    kind: Kind,
    mut responses: impl FnMut(
        &[Sliced],
        usize,
        &mut SlicedDemand,
    ) -> (Vec<Option<Duration>>, Option<Reason>),
) -> Outcome {
    let mut tables = SlicedTables::default();
    if let Err(task) = tables.fill(problem) {
        let task = task_id(task);
        let tasks = problem.tasks().len();
        return Outcome::outside(kind, Reason::TooManySlices { task }, tasks);
    }
    let counts = tables.slice_counts(problem);
    let (order, demand) = tables.parts();
    let mut tasks = vec![TaskOutcome::default(); order.len()];
    let mut why = None;
    for (position, priority) in (0..order.len()).zip((1..=order.len()).rev()) {
        let (responses, late) = responses(order, position, demand);
        why = why.or(late);
        let task = order[position].row.task;
        let given = problem.priorities().map(|given| given[task]);
        tasks[task] = TaskOutcome {
            priority: given.or(u32::try_from(priority).ok()),
            responses,
            ..TaskOutcome::default()
        };
    }
    let mut outcome = Outcome::decided(kind, trivially_infeasible(problem).or(why), tasks);
    outcome.parameters.slices = counts;
    outcome
}
