//! Runs under adaptive enforcement, tick by tick: a second opinion on what the tests accept.

use super::Random;
use vestal_core::{Level, Task};

/// Who goes first.
pub(crate) enum Order<'a> {
    /// Larger = more urgent.
    Priorities(&'a [u32]),
    /// Relative deadlines in mode 0; real ones above.
    VirtualDeadlines(&'a [u64]),
}

struct Job {
    task: usize,
    release: u64,
    executed: u64,
    demand: u64,
}

/// Whether some admitted job is late in a random legal run of `length` ticks: offsets, now and then
/// a late release, jobs that need C(0) or their own level's value. All C(0) are to be positive.
pub(crate) fn misses(tasks: &[Task], order: &Order<'_>, length: u64, random: &mut Random) -> bool {
    let overruns_once_in = random.between(1, 6);
    let offset = |task: &Task| match random.once_in(2) {
        true => 0,
        false => random.between(0, task.period.as_nanos()),
    };
    let mut next: Vec<u64> = tasks.iter().map(offset).collect();
    let mut mode = Level::LOWEST;
    let mut pending: Vec<Job> = Vec::new();
    for now in 0..length {
        for (index, task) in tasks.iter().enumerate() {
            if next[index] != now {
                continue;
            }
            let late = if random.once_in(8) {
                random.between(0, 3)
            } else {
                0
            };
            next[index] = now + task.period.as_nanos() + late;
            let overruns = random.once_in(overruns_once_in);
            let level = if overruns {
                task.criticality
            } else {
                Level::LOWEST
            };
            if task.criticality >= mode {
                pending.push(Job {
                    task: index,
                    release: now,
                    executed: 0,
                    demand: task.wcet.at(level).as_nanos(),
                });
            }
        }
        let urgency = |job: &Job| {
            let key = match order {
                Order::Priorities(given) => u64::from(u32::MAX - given[job.task]),
                Order::VirtualDeadlines(given) if mode == Level::LOWEST => {
                    job.release + given[job.task]
                }
                Order::VirtualDeadlines(_) => job.release + tasks[job.task].deadline.as_nanos(),
            };
            (key, job.task, job.release)
        };
        let Some(position) = (0..pending.len()).min_by_key(|&position| urgency(&pending[position]))
        else {
            mode = Level::LOWEST;
            continue;
        };
        let job = &mut pending[position];
        job.executed += 1;
        let task = &tasks[job.task];
        if job.executed == job.demand {
            pending.remove(position);
        } else {
            while mode < task.criticality && job.executed >= task.wcet.at(mode).as_nanos() {
                mode = mode.next_higher();
            }
            pending.retain(|job| tasks[job.task].criticality >= mode);
        }
        let late = |job: &Job| job.release + tasks[job.task].deadline.as_nanos() <= now + 1;
        if pending.iter().any(late) {
            return true;
        }
        if pending.is_empty() {
            mode = Level::LOWEST;
        }
    }
    false
}
