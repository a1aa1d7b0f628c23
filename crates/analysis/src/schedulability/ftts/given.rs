//! Frames and barriers that are given instead of being searched for.

use super::cycle::{Cycle, level_of, refused, saturated};
use super::table::{Places, barriers, longest};
use crate::frame_reason::FrameReason;
use crate::outcome::Reason;
use crate::parameters::{FrameBarriers, FrameMap, task_id};
use crate::problem::Problem;
use vestal_core::{CpuId, Duration, TaskId};

/// The places of all jobs in given frames, and what the barriers are to be at least.
///
/// # Errors
/// A period that is no whole number of frames, a job without one place in time or a place without a job, a CPU that
/// the partition does not give, barriers below what the jobs need, and a frame that is too short for its barriers:
/// the given ones, or else what the jobs need.
pub(super) fn check(
    problem: &Problem,
    (map, given): (&FrameMap, Option<&FrameBarriers>),
    overhead: Duration,
) -> Result<(Cycle, Places, Vec<u128>), Reason> {
    let cycle = Cycle::new(problem, overhead, map.length().as_nanos(), map.frames())?;
    let places = places(&cycle, map)?;
    let needed = barriers(&cycle, map);
    let times = match given {
        None => needed.clone(),
        Some(given) => {
            check_barriers(&cycle, given, &needed)?;
            let times = given.times().iter();
            times.map(|time| u128::from(time.as_nanos())).collect()
        }
    };
    let long = longest(&cycle, &times);
    if !cycle.fits(long.length) {
        return Err(refused(FrameReason::TooLong {
            frame: long.frame,
            level: level_of(long.level),
            length: Duration::from_nanos(saturated(long.length)),
            limit: Duration::from_nanos(cycle.limit()),
        }));
    }
    Ok((cycle, places, needed))
}

fn places(cycle: &Cycle, map: &FrameMap) -> Result<Places, Reason> {
    // For each task the frames that have it, in their order.
    let mut found: Vec<Vec<usize>> = vec![Vec::new(); cycle.pieces.len()];
    let mut homes: Vec<Option<CpuId>> = vec![None; cycle.pieces.len()];
    for (frame, _, cpu, list) in map.lists() {
        for task in list {
            found[task.index()].push(frame);
            homes[task.index()] = Some(cpu);
        }
    }
    let mut frames = Vec::with_capacity(cycle.jobs.len());
    for (index, piece) in cycle.pieces.iter().enumerate() {
        let (task, all) = (task_id(index), &found[index]);
        for (job, of_cycle) in cycle.jobs[piece.jobs.clone()].iter().enumerate() {
            let mut inside = all.iter().filter(|frame| of_cycle.window.contains(frame));
            let (first, more) = (inside.next(), inside.count());
            match (first, more) {
                (Some(&frame), 0) => frames.push(frame),
                (first, more) => {
                    let found = more + usize::from(first.is_some());
                    return Err(refused(FrameReason::Places { task, job, found }));
                }
            }
        }
        if all.len() > piece.jobs.len() {
            return Err(refused(beyond(cycle, task, all)));
        }
        let home = homes[index];
        if let (Some(pinned), Some(frames)) = (piece.pinned, home)
            && pinned != frames.index()
        {
            return Err(refused(FrameReason::OtherCpu { task, frames }));
        }
    }
    let cpus = homes.iter().map(|home| home.map_or(0, |cpu| cpu.index()));
    Ok(Places {
        cpus: cpus.collect(),
        frames,
    })
}

/// Every job has its place; there is one more.
fn beyond(cycle: &Cycle, task: TaskId, all: &[usize]) -> FrameReason {
    let jobs = &cycle.jobs[cycle.pieces[task.index()].jobs.clone()];
    let is_of_a_job = |frame: usize| jobs.iter().any(|job| job.window.contains(&frame));
    let frame = all.iter().copied().find(|&frame| !is_of_a_job(frame));
    FrameReason::OutOfTime {
        task,
        frame: frame.unwrap_or(0),
    }
}

fn check_barriers(cycle: &Cycle, given: &FrameBarriers, needed: &[u128]) -> Result<(), Reason> {
    if given.frames() != cycle.frames {
        return Err(refused(FrameReason::BarrierCount {
            found: given.frames(),
            frames: cycle.frames,
        }));
    }
    for (position, (barrier, &needed)) in given.times().iter().zip(needed).enumerate() {
        if u128::from(barrier.as_nanos()) < needed {
            let sub_frame = position / cycle.levels;
            return Err(refused(FrameReason::BarrierTooShort {
                frame: sub_frame / cycle.levels,
                criticality: level_of(sub_frame % cycle.levels),
                level: level_of(position % cycle.levels),
                barrier: *barrier,
                needed: Duration::from_nanos(saturated(needed)),
            }));
        }
    }
    Ok(())
}
