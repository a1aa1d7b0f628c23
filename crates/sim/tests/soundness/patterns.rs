//! Release and execution patterns meant to find a late job.
//!
//! A run consists of windows. Each one begins with an idle processor, if the set is not overloaded,
//! and releases all tasks together or nearly so, after which they keep to their periods with a rare
//! delay: sporadic tasks may wait for that. Within a window the jobs have one plan: all keep to the
//! values of one level, or one task exceeds them from some job on.

use crate::common::Random;
use crate::reference::{ReferenceTask, System};
use vestal_core::{Level, Task};

/// How the jobs of one window execute.
struct Plan {
    /// No job exceeds this level's value, apart from `offender`.
    level: Level,
    /// This task may go up to its own level's value.
    offender: Option<usize>,
    /// Jobs may exceed what their own level allows: enforcement has to stop them.
    runaways: bool,
}

/// Fills in the releases and executions of `system` for a new run. Shifts count in ticks or in
/// units of `unit` ticks.
pub(crate) fn draw(system: &mut System, unit: u64, random: &mut Random) {
    let tasks: Vec<Task> = system.tasks.iter().map(|entry| entry.task).collect();
    let longest = tasks.iter().map(|task| task.period.as_nanos()).max();
    let length = longest.unwrap_or(1) * random.between(1, 3) + random.between(1, 8);
    let windows = random.between(3, 6);
    system.end = length * (windows + 1);
    system.releases = vec![Vec::new(); tasks.len()];
    system.demand = vec![Vec::new(); tasks.len()];
    for window in 0..windows {
        let start = window * length;
        let plan = draw_plan(&tasks, system.levels, random);
        // All together, or each up to a few ticks later: a job that was released just before the
        // critical instant of another one carries its work in.
        let shift = if unit > 1 {
            random.one_of(&[1, unit])
        } else {
            1
        };
        let spread = shift * random.one_of(&[0, 0, 1, 2, 6]);
        let is_late = random.once_in(4);
        let meeting = draw_meeting(system, random);
        for (i, task) in tasks.iter().enumerate() {
            let period = task.period.as_nanos();
            let earliest = system.releases[i].last().map_or(0, |last| last + period);
            let behind = match meeting {
                Some((victim, boundary)) if victim != i => boundary,
                Some(_) | None => 0,
            };
            let mut at = (start + behind + random.between(0, spread)).max(earliest);
            while at + period <= start + length {
                system.releases[i].push(at);
                system.demand[i].push(draw_execution(i, task, &plan, random));
                let delay = if is_late && random.once_in(3) {
                    shift * random.between(1, 3)
                } else {
                    0
                };
                at += period + delay;
            }
        }
    }
}

/// A task in slices, and how long after its release a slice of it begins together with all others.
fn draw_meeting(system: &System, random: &mut Random) -> Option<(usize, u64)> {
    let sliced = |entry: &ReferenceTask| entry.slices > 1;
    if !system.tasks.iter().any(sliced) || random.once_in(3) {
        return None;
    }
    let victim = random.between(0, system.tasks.len() as u64 - 1) as usize;
    let ReferenceTask { task, slices, .. } = &system.tasks[victim];
    let slice = random.between(0, slices - 1);
    Some((victim, slice * task.period.as_nanos() / slices))
}

fn draw_plan(tasks: &[Task], levels: usize, random: &mut Random) -> Plan {
    let offender = random.between(0, tasks.len() as u64 - 1) as usize;
    Plan {
        level: Level(random.between(0, levels as u64 - 1) as u8),
        offender: random.once_in(2).then_some(offender),
        runaways: random.once_in(3),
    }
}

/// Mostly all that is allowed, sometimes a lower level's value, that and one more, or anything. With a degraded budget that
/// as often as all that is allowed.
fn draw_execution(i: usize, task: &Task, plan: &Plan, random: &mut Random) -> u64 {
    let own = task.own_wcet().as_nanos();
    let most = if plan.offender == Some(i) {
        own
    } else {
        task.enforced_wcet(plan.level).as_nanos()
    };
    let level = Level(random.between(0, u64::from(task.criticality.0)) as u8);
    let lower = task.wcet.at(level).as_nanos().min(most);
    let kept = task.degraded.map(|budget| budget.as_nanos().min(most));
    match (random.between(0, 19), kept) {
        (0..=5 | 11..=14, Some(kept)) => kept,
        (drawn, _) => draw_plainly(drawn, (most, lower, own), plan, random),
    }
}

fn draw_plainly(
    drawn: u64,
    (most, lower, own): (u64, u64, u64),
    plan: &Plan,
    random: &mut Random,
) -> u64 {
    match drawn {
        0..=10 => most,
        11..=14 => lower,
        15..=16 => (lower + 1).min(most),
        17 => random.between(most.min(1), most),
        _ if plan.runaways => own + random.between(1, own + 5),
        _ => most,
    }
}
