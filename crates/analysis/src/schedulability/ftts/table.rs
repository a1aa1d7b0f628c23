//! Tables as such: places of jobs as lists, and what follows from lists by the definition, from scratch.

use super::cycle::{Cycle, level_of, saturated};
use crate::parameters::task_id;
use crate::parameters::{FrameBarriers, FrameMap};
use vestal_core::{CpuId, Duration, LevelSet, TaskId};

/// A place for each job, and with it for each task a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// By task.
    pub(crate) cpus: Vec<usize>,
    /// By job.
    pub(crate) frames: Vec<usize>,
}

/// A frame that is longer than any other, seen at the level at which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Longest {
    pub(crate) frame: usize,
    pub(crate) level: usize,
    pub(crate) length: u128,
}

impl Places {
    /// As lists: in each sub-frame and CPU the tasks in the order of the problem. `None` if no table has this shape.
    pub(crate) fn map(&self, cycle: &Cycle) -> Option<FrameMap> {
        let levels = LevelSet::new(cycle.levels)?;
        let cpus = u16::try_from(cycle.cpus).ok()?;
        let mut lists = vec![Vec::new(); cycle.frames * cycle.levels * cycle.cpus];
        for (job, &frame) in cycle.jobs.iter().zip(&self.frames) {
            let piece = &cycle.pieces[job.task];
            let sub_frame = frame * cycle.levels + piece.criticality;
            lists[sub_frame * cycle.cpus + self.cpus[job.task]].push(task_id(job.task));
        }
        FrameMap::new(Duration::from_nanos(cycle.frame), levels, cpus, lists)
    }
}

/// Longer than every frame; nothing is longer. Sums of it over a whole table stay far from the largest number.
const BEYOND: u128 = 1 << 96;

/// How long the CPU with the most to do takes: its work, and for each other CPU as many accesses as both may have, in
/// each of which it may have to wait for one of the other's. [`BEYOND`] if that is less.
pub(crate) fn slowest(work: &[u128], accesses: &[u128], access: u64) -> u128 {
    let delay = |cpu: usize| {
        let Some(&own) = accesses.get(cpu) else {
            return 0;
        };
        let others = accesses
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != cpu);
        let waits = others.fold(0_u128, |sum, (_, &other)| {
            sum.saturating_add(own.min(other))
        });
        waits.saturating_mul(u128::from(access))
    };
    let longest = work
        .iter()
        .enumerate()
        .fold(0_u128, |longest, (cpu, &work)| {
            longest.max(work.saturating_add(delay(cpu)))
        });
    longest.min(BEYOND)
}

/// barrier(f,k,l) of these lists in ns, for each l up to k; in the order of [`FrameBarriers::new`], zero for the others.
/// O(e) for e entries, and the shape of the table.
pub(crate) fn barriers(cycle: &Cycle, map: &FrameMap) -> Vec<u128> {
    let mut times = Vec::with_capacity(cycle.frames * cycle.levels * cycle.levels);
    for frame in 0..cycle.frames {
        for criticality in 0..cycle.levels {
            let lists: Vec<&[TaskId]> = (0..map.cpus())
                .map(|cpu| map.tasks(frame, level_of(criticality), CpuId(cpu)))
                .collect();
            for level in 0..cycle.levels {
                times.push(match level <= criticality {
                    true => barrier(cycle, &lists, level),
                    false => 0,
                });
            }
        }
    }
    times
}

fn barrier(cycle: &Cycle, lists: &[&[TaskId]], level: usize) -> u128 {
    let sum = |list: &[TaskId], of: fn(&super::cycle::Piece, usize) -> u64| -> u128 {
        let pieces = list.iter().map(|task| &cycle.pieces[task.index()]);
        pieces.map(|piece| u128::from(of(piece, level))).sum()
    };
    let work: Vec<u128> = lists
        .iter()
        .map(|list| sum(list, |piece, level| piece.wcet[level]))
        .collect();
    let accesses: Vec<u128> = lists
        .iter()
        .map(|list| sum(list, |piece, level| piece.accesses[level]))
        .collect();
    slowest(&work, &accesses, cycle.access)
}

/// The same as parameters have them. A time beyond every clock becomes the longest one.
pub(crate) fn as_parameter(cycle: &Cycle, times: &[u128]) -> Option<FrameBarriers> {
    let times = times
        .iter()
        .map(|&time| Duration::from_nanos(saturated(time)));
    FrameBarriers::new(LevelSet::new(cycle.levels)?, times.collect())
}

/// The longest frame by these barriers, the first of several: equation 2, for every level l the sum over the
/// sub-frames of at least criticality l of barrier(f,.,l).
pub(crate) fn longest(cycle: &Cycle, times: &[u128]) -> Longest {
    let mut longest = Longest {
        frame: 0,
        level: 0,
        length: 0,
    };
    for frame in 0..cycle.frames {
        for level in 0..cycle.levels {
            let sub_frames = (level..cycle.levels).map(|criticality| {
                times[(frame * cycle.levels + criticality) * cycle.levels + level]
            });
            let length: u128 = sub_frames.sum();
            if length > longest.length {
                longest = Longest {
                    frame,
                    level,
                    length,
                };
            }
        }
    }
    longest
}
