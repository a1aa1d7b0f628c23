//! Random small systems.

use crate::common::Random;
use crate::reference::{AtLimit, Limits, Lists, ReferenceTask, System};
use vestal_core::{Duration, Level, Service, Task, Wcet};

/// Two to four levels, overload included: what matters here is that rules meet, not that sets are
/// schedulable.
pub(crate) fn draw(random: &mut Random) -> System {
    let levels = random.between(2, 4);
    let limits = random.one_of(&[
        Limits::Static,
        Limits::Static,
        Limits::Adaptive,
        Limits::Adaptive,
        Limits::ZeroSlack,
    ]);
    let at_limit = random.one_of(&[
        AtLimit::Background,
        AtLimit::Background,
        AtLimit::Abort,
        AtLimit::GoOn,
    ]);
    let end = random.between(10, 80);
    let with_degraded = random.once_in(3);
    let with_aborts = random.once_in(4);
    let crowded = random.once_in(6);
    let sliced = limits == Limits::Static && random.once_in(2);
    let count = random.between(1, 5);
    let mut tasks = Vec::new();
    let mut releases = Vec::new();
    let mut demand = Vec::new();
    for _ in 0..count {
        let task = draw_task(random, levels, with_degraded);
        let abort_when_late = with_aborts && random.once_in(2);
        releases.push(draw_releases(random, &task, end, crowded));
        demand.push(
            releases[releases.len() - 1]
                .iter()
                .map(|_| draw_demand(random, &task))
                .collect(),
        );
        tasks.push(ReferenceTask {
            task,
            priority: random.between(1, 4) as u32,
            virtual_deadline: random.between(1, task.deadline.as_nanos()),
            zero_slack: (!random.once_in(6)).then(|| random.between(0, task.deadline.as_nanos())),
            abort_when_late,
            list: Vec::new(),
            slices: if sliced {
                random.between(1, task.period.as_nanos().min(6))
            } else {
                1
            },
        });
    }
    let by_deadline = !sliced && random.once_in(3) && limits != Limits::ZeroSlack;
    let may_have_lists = !sliced && !by_deadline && limits != Limits::ZeroSlack;
    let lists = if may_have_lists && random.once_in(2) {
        draw_lists(random, &mut tasks);
        random.one_of(&[Lists::Reused, Lists::Recomputed])
    } else {
        Lists::No
    };
    let backlog = random.one_of(&[None, None, None, Some(0), Some(1), Some(4), Some(6)]);
    System {
        tasks,
        levels: levels as usize,
        by_deadline,
        lists,
        limits,
        at_limit,
        releases,
        demand,
        backlog,
        end,
    }
}

/// Falling lists over all priorities, interleaved at random, some of them too short for what comes.
fn draw_lists(random: &mut Random, tasks: &mut [ReferenceTask]) {
    let jobs = random.one_of(&[4, 12, 30]);
    for priority in (0..random.between(0, jobs)).rev() {
        let owner = random.between(0, tasks.len() as u64 - 1) as usize;
        tasks[owner].list.push(priority as u32);
    }
}

fn draw_task(random: &mut Random, levels: u64, with_degraded: bool) -> Task {
    let criticality = Level(random.between(0, levels - 1) as u8);
    let period = random.between(2, 16);
    let deadline = if random.once_in(2) {
        period
    } else {
        random.between(1, period)
    };
    let mut value = random.between(1, period.div_ceil(3));
    let mut values = Vec::new();
    for _ in 0..=criticality.0 {
        values.push(Service::from_nanos(value));
        value += random.between(0, 3);
    }
    let span = Duration::from_nanos;
    let wcet = Wcet::new(&values).unwrap();
    let task = Task::new(criticality, span(period), span(deadline), wcet).unwrap();
    let degraded =
        (with_degraded && random.once_in(2)).then(|| Service::from_nanos(random.between(1, value)));
    Task { degraded, ..task }
}

/// Periodic with an offset, sporadic, or so close together that jobs pile up.
fn draw_releases(random: &mut Random, task: &Task, end: u64, crowded: bool) -> Vec<u64> {
    let period = task.period.as_nanos();
    let slack = random.one_of(&[0, 0, 1, 5]);
    let mut at = random.one_of(&[0, 0, 1, 3]) * random.between(0, 4);
    let mut instants = Vec::new();
    while at < end {
        instants.push(at);
        at += if crowded {
            random.between(1, 2)
        } else {
            period + random.between(0, slack)
        };
    }
    instants
}

/// At a limit, one beyond it, one below it, anything up to the own level's, or beyond that.
fn draw_demand(random: &mut Random, task: &Task) -> u64 {
    let own = task.own_wcet().as_nanos();
    let level = Level(random.between(0, u64::from(task.criticality.0)) as u8);
    let limit = task.wcet.at(level).as_nanos();
    match random.between(0, 9) {
        0..=3 => limit,
        4..=5 => limit + 1,
        6 => limit.saturating_sub(1).max(1),
        7..=8 => random.between(1, own),
        _ => own + random.between(1, 20),
    }
}
