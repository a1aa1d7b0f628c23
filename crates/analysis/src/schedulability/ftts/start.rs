//! Worst fit: where a search begins, and all that the paper's case study needs.

use super::cycle::{Cycle, Piece};
use super::table::Places;
use core::cmp::Reverse;

/// Tasks with the largest C_i(z_i) / T_i first, equal ones in the order of the problem; those that have their CPU
/// before all others. A task goes to the CPU with the least utilisation by then, each of its jobs to the frame of its
/// window in which that CPU has the least to do by then, in terms of C(z); of equal ones to the first.
/// O(n log n + n m + e w) for n tasks, m CPUs, and e jobs with windows of w frames.
pub(crate) fn worst_fit(cycle: &Cycle) -> Places {
    let mut order: Vec<usize> = (0..cycle.pieces.len()).collect();
    let share = |task: usize| {
        let piece = &cycle.pieces[task];
        (u128::from(piece.own_wcet()) << 60) / u128::from(piece.period)
    };
    order.sort_by_key(|&task| (cycle.pieces[task].pinned.is_none(), Reverse(share(task))));
    let mut places = Places {
        cpus: vec![0; cycle.pieces.len()],
        frames: vec![0; cycle.jobs.len()],
    };
    let mut shares = vec![0_u128; cycle.cpus];
    let mut work = vec![0_u128; cycle.cpus * cycle.frames];
    for task in order {
        let piece = &cycle.pieces[task];
        let cpu = piece
            .pinned
            .or_else(|| least(0..cycle.cpus, |cpu| shares[cpu]));
        let cpu = cpu.unwrap_or(0);
        shares[cpu] += share(task);
        places.cpus[task] = cpu;
        place_jobs(
            cycle,
            piece,
            &mut work[cpu * cycle.frames..],
            &mut places.frames,
        );
    }
    places
}

/// `work` is that of the CPU, by frame.
fn place_jobs(cycle: &Cycle, piece: &Piece, work: &mut [u128], frames: &mut [usize]) {
    for job in piece.jobs.clone() {
        let window = cycle.jobs[job].window.clone();
        let frame = least(window.clone(), |frame| work[frame]).unwrap_or(window.start);
        work[frame] += u128::from(piece.own_wcet());
        frames[job] = frame;
    }
}

/// The first with the smallest value.
fn least(mut of: impl Iterator<Item = usize>, value: impl Fn(usize) -> u128) -> Option<usize> {
    let first = of.next()?;
    let smaller = |best: usize, other: usize| match value(other) < value(best) {
        true => other,
        false => best,
    };
    Some(of.fold(first, smaller))
}
