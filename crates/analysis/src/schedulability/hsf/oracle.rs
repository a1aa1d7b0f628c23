//! The same answers from a drawing of the worst supply, tick by tick; and what is wrong with it can be said.

use crate::problem::Problem;
use crate::served::{Member, Server};
use vestal_core::{Level, LocalOrder, ServerKind, Task};

/// What is wrong with an analysis of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Polling servers are silent for no longer than others.
    PollingLikeOthers,
    /// Deferrable servers take their capacities from others a period apart.
    NoJitter,
    /// Nothing is silent for longer than one gap between two budgets.
    HalfBlackout,
    /// Full form: tasks inside come a period apart when their server begins to supply, whenever they were released.
    NoInnerJitter,
}

fn numbers(server: &Server) -> Option<(u64, u64)> {
    let kind = &server.configuration.kind;
    let capacity = kind.capacity()?.at(Level(0)).as_nanos();
    Some((kind.replenishment_period()?.as_nanos(), capacity))
}

/// For each tick from the beginning of a window whether the server supplies it for sure.
fn pattern(server: &Server, ticks: u64, mistake: Option<Mistake>) -> Option<Vec<bool>> {
    let (period, capacity) = numbers(server)?;
    let polling = matches!(server.configuration.kind, ServerKind::Polling { .. });
    let discards = polling && mistake != Some(Mistake::PollingLikeOthers);
    let gaps = if mistake == Some(Mistake::HalfBlackout) {
        1
    } else {
        2
    };
    let mut drawn = Vec::new();
    // The budget that was discarded, the rest of that period, and the next one's at its end.
    drawn.extend((0..capacity).filter(|_| discards).map(|_| false));
    drawn.extend((0..gaps * (period - capacity)).map(|_| false));
    while (drawn.len() as u64) < ticks {
        drawn.extend((0..period).map(|tick| tick < capacity));
    }
    Some(drawn)
}

/// In which tick after its replenishment each server has its capacity, if by the end of its period: by trying every
/// window. `None` if the problem has another kind of server.
#[must_use]
pub fn server_responses(problem: &Problem, mistake: Option<Mistake>) -> Option<Vec<Option<u64>>> {
    let servers = problem.servers();
    let all: Option<Vec<(u64, u64)>> = servers.iter().map(numbers).collect();
    let all = all?;
    let of = |index: usize| {
        let (period, capacity) = all[index];
        let priority = |other: usize| servers[other].configuration.priority;
        let above = (0..all.len()).filter(|&other| {
            priority(other) > priority(index)
                || (priority(other) == priority(index) && other < index)
        });
        let above: Vec<usize> = above.collect();
        let taken = |window: u64, other: usize| {
            let (period, capacity) = all[other];
            let defers = matches!(
                servers[other].configuration.kind,
                ServerKind::Deferrable { .. }
            );
            let early = defers && mistake != Some(Mistake::NoJitter);
            let early = if early { period - capacity } else { 0 };
            // How many periods begin in a window that is longer by the jitter.
            (0..window + early)
                .filter(|tick| tick % period == 0)
                .count() as u64
                * capacity
        };
        (1..=period).find(|&window| {
            let others: u64 = above.iter().map(|&other| taken(window, other)).sum();
            capacity + others <= window
        })
    };
    Some((0..all.len()).map(of).collect())
}

/// For a task of a server with fixed priorities: the first tick in which all work of a run of `level` that comes before the end of its
/// job is supplied, if by the deadline.
#[must_use]
pub fn response(
    problem: &Problem,
    (server, member): (&Server, &Member),
    level: Level,
    mistake: Option<Mistake>,
) -> Option<u64> {
    let task = |member: &Member| &problem.tasks()[member.task.index()];
    let own = task(member);
    let deadline = own.deadline.as_nanos();
    let drawn = pattern(server, deadline, mistake)?;
    let needs = |task: &Task| task.wcet.at(level).as_nanos().max(1);
    let mut supplied = 0;
    (1..=deadline).find(|&window| {
        supplied += u64::from(drawn[(window - 1) as usize]);
        let above = server.tasks.iter().filter(|other| {
            other.priority > member.priority
                || (other.priority == member.priority && other.task < member.task)
        });
        let others: u64 = above
            .map(|other| {
                let period = task(other).period.as_nanos();
                let released = (0..window).filter(|tick| tick % period == 0).count() as u64;
                released * needs(task(other))
            })
            .sum();
        supplied >= needs(own) + others
    })
}

/// The full form of Davis and Burns for a task of the server at `index`, which goes by fixed priorities: the response time to which the first window
/// leads that is long enough, by trying every one, if by the deadline.
#[must_use]
pub fn full_response(
    problem: &Problem,
    (index, member): (usize, &Member),
    level: Level,
    mistake: Option<Mistake>,
) -> Option<u64> {
    let servers = problem.servers();
    let server = &servers[index];
    let (period, capacity) = numbers(server)?;
    let task = |member: &Member| &problem.tasks()[member.task.index()];
    let needs = |task: &Task| task.wcet.at(level).as_nanos().max(1);
    let polling = matches!(server.configuration.kind, ServerKind::Polling { .. });
    let late = match polling && mistake != Some(Mistake::PollingLikeOthers) {
        true => period,
        false => period - capacity,
    };
    let early = if mistake == Some(Mistake::NoInnerJitter) {
        0
    } else {
        late
    };
    let begun =
        |window: u64, period: u64| (0..window).filter(|tick| tick % period == 0).count() as u64;
    let priority = |other: usize| servers[other].configuration.priority;
    let is_above = |other: usize| {
        priority(other) > priority(index) || (priority(other) == priority(index) && other < index)
    };
    let deadline = task(member).deadline.as_nanos();
    let window = (1..=deadline.saturating_sub(late)).find(|&window| {
        let above = server.tasks.iter().filter(|other| {
            other.priority > member.priority
                || (other.priority == member.priority && other.task < member.task)
        });
        let others = above
            .map(|other| begun(window + early, task(other).period.as_nanos()) * needs(task(other)));
        let mut left = needs(task(member)) + others.sum::<u64>();
        // Whole budgets, each in its period; the rest in the next one, after the more urgent servers.
        let mut until = 0;
        while left > capacity {
            left -= capacity;
            until += period;
        }
        let in_last = window.saturating_sub(until);
        let servers_above = (0..servers.len()).filter(|&other| is_above(other));
        let taken = servers_above.map(|other| {
            let (period, capacity) = numbers(&servers[other]).unwrap_or((1, 0));
            let kind = &servers[other].configuration.kind;
            let defers = matches!(kind, ServerKind::Deferrable { .. });
            let early = if defers && mistake != Some(Mistake::NoJitter) {
                period - capacity
            } else {
                0
            };
            begun(in_last + early, period) * capacity
        });
        until + left + taken.sum::<u64>() <= window
    })?;
    Some(window + late)
}

/// For a server that goes by deadlines: the first window up to `end` in which jobs may need more than is supplied, with both.
#[must_use]
pub fn first_overfull_window(
    problem: &Problem,
    server: &Server,
    end: u64,
    mistake: Option<Mistake>,
) -> Option<(u64, u64, u64)> {
    let tasks: Vec<&Task> = server
        .tasks
        .iter()
        .map(|member| &problem.tasks()[member.task.index()])
        .collect();
    let level = tasks.iter().map(|task| task.criticality).max()?;
    let drawn = pattern(server, end, mistake)?;
    let mut supplied = 0;
    (1..=end).find_map(|window| {
        supplied += u64::from(drawn[(window - 1) as usize]);
        let needed: u64 = tasks
            .iter()
            .map(|task| {
                let (period, deadline) = (task.period.as_nanos(), task.deadline.as_nanos());
                let due =
                    (0..window).filter(|tick| tick % period == 0 && tick + deadline <= window);
                due.count() as u64 * task.wcet.at(level).as_nanos().max(1)
            })
            .sum();
        (needed > supplied).then_some((window, needed, supplied))
    })
}

/// Whether every server has its capacity in time, and every task of a server with fixed priorities its bound by the
/// deadline; of those with deadlines, no window up to `end` is overfull.
#[must_use]
pub fn accepts(problem: &Problem, end: u64, mistake: Option<Mistake>) -> bool {
    let Some(responses) = server_responses(problem, mistake) else {
        return false;
    };
    let servers = problem.servers().iter().zip(responses);
    servers
        .filter(|(server, _)| !server.tasks.is_empty())
        .all(|(server, bound)| {
            let inside = match server.configuration.order {
                LocalOrder::FixedPriority => server.tasks.iter().all(|member| {
                    let level = problem.tasks()[member.task.index()].criticality;
                    response(problem, (server, member), level, mistake).is_some()
                }),
                LocalOrder::EarliestDeadline => {
                    first_overfull_window(problem, server, end, mistake).is_none()
                }
            };
            bound.is_some() && inside
        })
}
