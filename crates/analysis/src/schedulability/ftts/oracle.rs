//! What the search is judged by: every placement of a small set is looked at, one after another.

use super::anneal::{Effort, search};
use super::cycle::Cycle;
use super::start::worst_fit;
use super::state::{Move, State};
use super::table::{Places, barriers, longest, slowest};
use crate::outcome::Reason;
use crate::problem::Problem;
use core::cmp::Reverse;
use vestal_core::Duration;

/// How long the longest frame of the worst-fit placement is; with it how long that frame may be.
///
/// # Errors
/// What the test does not speak of.
pub fn worst_fit_length(problem: &Problem) -> Result<(Duration, Duration), Reason> {
    let cycle = Cycle::of_periods(problem, Duration::ZERO)?;
    Ok((length(&cycle, &worst_fit(&cycle)), limit(&cycle)))
}

/// The same of the placement that a search ends with.
///
/// # Errors
/// What the test does not speak of.
pub fn searched_length(problem: &Problem, effort: &Effort) -> Result<(Duration, Duration), Reason> {
    let cycle = Cycle::of_periods(problem, Duration::ZERO)?;
    Ok((length(&cycle, &search(&cycle, effort)), limit(&cycle)))
}

fn limit(cycle: &Cycle) -> Duration {
    Duration::from_nanos(cycle.limit())
}

/// From the lists of the table.
fn length(cycle: &Cycle, places: &Places) -> Duration {
    let map = places.map(cycle);
    let times = map.map(|map| barriers(cycle, &map)).unwrap_or_default();
    let long = longest(cycle, &times).length;
    Duration::from_nanos(u64::try_from(long).unwrap_or(u64::MAX))
}

/// Random moves on the placement of worst fit, half of them taken back at once; after each what is kept up to date
/// is compared with what follows from the lists. The number of moves, or the first at which they differ.
///
/// # Errors
/// What the test does not speak of.
pub fn moves_until_cost_differs(
    problem: &Problem,
    mut draw: impl FnMut(usize) -> usize,
    moves: usize,
) -> Result<Option<usize>, Reason> {
    let cycle = Cycle::of_periods(problem, Duration::ZERO)?;
    let mut state = State::new(&cycle, worst_fit(&cycle));
    for number in 0..moves {
        let Some(change) = any_move(&state, &mut draw) else {
            continue;
        };
        let before = state.places().clone();
        let back = state.make(change);
        let takes_back = draw(2) == 0;
        if takes_back {
            state.make(back);
        }
        let is_as_before = *state.places() == before;
        if !agrees(&cycle, &state) || (takes_back && !is_as_before) {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

fn any_move(state: &State<'_>, draw: &mut impl FnMut(usize) -> usize) -> Option<Move> {
    let cycle = state.cycle;
    let (tasks, jobs) = (cycle.pieces.len(), cycle.jobs.len());
    Some(match draw(4) {
        0 => Move::Cpu {
            task: draw(tasks),
            to: draw(cycle.cpus),
        },
        1 => {
            let job = draw(jobs);
            let window = cycle.jobs[job].window.clone();
            let to = window.start + draw(window.len());
            Move::Frame { job, to }
        }
        2 => Move::SwapCpus {
            one: draw(tasks),
            other: draw(tasks),
        },
        _ => {
            let (one, other) = (draw(jobs), draw(jobs));
            let (from, to) = (state.places().frames[one], state.places().frames[other]);
            let fit =
                cycle.jobs[one].window.contains(&to) && cycle.jobs[other].window.contains(&from);
            fit.then_some(Move::SwapFrames { one, other })?
        }
    })
}

fn agrees(cycle: &Cycle, state: &State<'_>) -> bool {
    let Some(map) = state.places().map(cycle) else {
        return false;
    };
    let times = barriers(cycle, &map);
    let long = longest(cycle, &times).length;
    let limit = u128::from(cycle.limit());
    let expected = match long <= limit {
        true => times.iter().sum(),
        false => (1 << 120) + long - limit,
    };
    state.cost() == expected && state.longest() == long && state.is_feasible() == (long <= limit)
}

/// Whether some placement of all jobs leaves every frame long enough; `None` if more than `steps_max` partial ones
/// would have to be looked at. Tasks come one after another, large ones first, on each CPU and in each frame of each
/// job's window; what is too long already is not continued, and of CPUs that have nothing one is as good as another.
///
/// # Errors
/// What the test does not speak of.
pub fn some_placement_fits(problem: &Problem, steps_max: u64) -> Result<Option<bool>, Reason> {
    let cycle = Cycle::of_periods(problem, Duration::ZERO)?;
    let mut order: Vec<usize> = (0..cycle.pieces.len()).collect();
    let work = |task: &usize| {
        let piece = &cycle.pieces[*task];
        Reverse(u128::from(piece.own_wcet()) * piece.jobs.len() as u128)
    };
    order.sort_by_key(work);
    let loads = cycle.frames * cycle.levels * cycle.levels * cycle.cpus;
    let mut look = Look {
        cycle: &cycle,
        order,
        work: vec![0; loads],
        accesses: vec![0; loads],
        used: vec![0; cycle.cpus],
        left: steps_max,
    };
    Ok(look.place_tasks(0))
}

struct Look<'a> {
    cycle: &'a Cycle,
    order: Vec<usize>,
    /// At `((frame * levels + criticality) * levels + level) * cpus + cpu`.
    work: Vec<u128>,
    accesses: Vec<u128>,
    /// How many tasks each CPU has.
    used: Vec<usize>,
    left: u64,
}

impl Look<'_> {
    /// Whether the tasks from this position on can be placed.
    fn place_tasks(&mut self, position: usize) -> Option<bool> {
        let Some(&task) = self.order.get(position) else {
            return Some(true);
        };
        let pinned = self.cycle.pieces[task].pinned;
        let none_is_pinned = self.cycle.pieces.iter().all(|it| it.pinned.is_none());
        let mut has_tried_empty = false;
        for cpu in 0..self.cycle.cpus {
            if pinned.is_some_and(|pinned| pinned != cpu) {
                continue;
            }
            if self.used[cpu] == 0
                && none_is_pinned
                && std::mem::replace(&mut has_tried_empty, true)
            {
                continue;
            }
            self.used[cpu] += 1;
            let job = self.cycle.pieces[task].jobs.start;
            let found = self.place_jobs(position, cpu, job);
            self.used[cpu] -= 1;
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }

    /// Whether the jobs of a task on this CPU from this one on can be placed, and the tasks after it.
    fn place_jobs(&mut self, position: usize, cpu: usize, job: usize) -> Option<bool> {
        let task = self.order[position];
        if job == self.cycle.pieces[task].jobs.end {
            return self.place_tasks(position + 1);
        }
        for frame in self.cycle.jobs[job].window.clone() {
            self.left = self.left.checked_sub(1)?;
            self.change(task, (frame, cpu), |load, by| *load += u128::from(by));
            let found = match self.fits(frame) {
                true => self.place_jobs(position, cpu, job + 1),
                false => Some(false),
            };
            self.change(task, (frame, cpu), |load, by| *load -= u128::from(by));
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }

    fn change(&mut self, task: usize, (frame, cpu): (usize, usize), by: fn(&mut u128, u64)) {
        let cycle = self.cycle;
        let piece = &cycle.pieces[task];
        for level in 0..=piece.criticality {
            let sub_frame = frame * cycle.levels + piece.criticality;
            let at = (sub_frame * cycle.levels + level) * cycle.cpus + cpu;
            by(&mut self.work[at], piece.wcet[level]);
            by(&mut self.accesses[at], piece.accesses[level]);
        }
    }

    fn fits(&self, frame: usize) -> bool {
        let cycle = self.cycle;
        (0..cycle.levels).all(|level| {
            let barriers = (level..cycle.levels).map(|criticality| {
                let sub_frame = frame * cycle.levels + criticality;
                let at = (sub_frame * cycle.levels + level) * cycle.cpus;
                let loads = at..at + cycle.cpus;
                slowest(
                    &self.work[loads.clone()],
                    &self.accesses[loads],
                    cycle.access,
                )
            });
            cycle.fits(barriers.sum())
        })
    }
}
