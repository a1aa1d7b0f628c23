//! The tasks of one server, by fixed priorities or by deadlines.

use super::supply::Resource;
use crate::fixed_point::{STEPS_MAX, Unbounded, least_fixed_point};
use crate::outcome::Reason;
use crate::parameters::task_id;
use crate::problem::{Problem, Row};
use crate::served::Member;
use crate::served_reason::ServedReason;
use vestal_core::{Duration, Level, ServerId};

/// Fixed priorities: for each level up to the own one the bound on the response time of the task at this position.
pub(super) fn responses(
    problem: &Problem,
    resource: &Resource,
    members: &[Member],
    position: usize,
) -> Vec<Result<u64, Unbounded>> {
    let own = row(problem, &members[position]);
    let above: Vec<&Row> = members
        .iter()
        .filter(|other| is_above(other, &members[position]))
        .map(|other| row(problem, other))
        .collect();
    (0..=own.criticality)
        .map(|level| response(resource, own, &above, level))
        .collect()
}

/// Equally urgent tasks go as they stand in the set.
pub(super) fn is_above(other: &Member, own: &Member) -> bool {
    other.priority > own.priority || (other.priority == own.priority && other.task < own.task)
}

fn response(
    resource: &Resource,
    own: &Row,
    above: &[&Row],
    level: usize,
) -> Result<u64, Unbounded> {
    least_fixed_point(1, own.deadline, |window| {
        let of = |other: &&Row| {
            let jobs = window.div_ceil(other.period);
            jobs.saturating_mul(other.wcet[level])
        };
        let others = above.iter().map(of);
        resource.time_for(others.fold(own.wcet[level], u64::saturating_add))
    })
}

/// Deadlines: why some may be missed, if that is not excluded. All tasks of the server count at the highest level of
/// any of them.
pub(super) fn obstacle(
    problem: &Problem,
    server: ServerId,
    resource: &Resource,
    members: &[Member],
) -> Option<Reason> {
    let rows: Vec<&Row> = members.iter().map(|member| row(problem, member)).collect();
    let level = rows.iter().map(|row| row.criticality).max()?;
    let Some(end) = last_window(resource, &rows, level) else {
        return Some(Reason::Served(ServedReason::Share { server }));
    };
    let demand = |window: u64| {
        let of = |row: &&Row| match window.checked_sub(row.deadline) {
            None => 0,
            Some(rest) => (rest / row.period)
                .saturating_add(1)
                .saturating_mul(row.wcet[level]),
        };
        rows.iter().map(of).fold(0, u64::saturating_add)
    };
    let mut steps = 0;
    let mut window = rows.iter().map(|row| row.deadline).min()?;
    while window <= end {
        let (needed, supplied) = (demand(window), resource.supply(window));
        if needed > supplied {
            return Some(Reason::Served(ServedReason::DemandExceedsSupply {
                server,
                window: Duration::from_nanos(window),
                demand: Duration::from_nanos(needed),
                supply: Duration::from_nanos(supplied),
            }));
        }
        steps += 1;
        if steps == STEPS_MAX {
            return Some(Reason::SearchLimit { steps });
        }
        let next = |row: &&Row| match window.checked_sub(row.deadline) {
            None => row.deadline,
            Some(rest) => (rest / row.period)
                .saturating_add(1)
                .saturating_mul(row.period)
                .saturating_add(row.deadline),
        };
        window = rows.iter().map(next).min()?;
    }
    None
}

/// Up to which window the demand may exceed the supply: with U of the tasks, a = Theta / Pi of the server and its
/// blackout B, (sum of U_i (T_i - D_i) + a B) / (a - U), rounded up. `None` unless U < a. Sums of fractions are rounded
/// up in 2^-40, so that a set with U that close below a is refused.
fn last_window(resource: &Resource, rows: &[&Row], level: usize) -> Option<u64> {
    const ONE: u128 = 1 << 40;
    let up = |numerator: u128, denominator: u64| numerator.div_ceil(denominator.into());
    let used: u128 = rows
        .iter()
        .map(|row| up(u128::from(row.wcet[level]) * ONE, row.period))
        .sum();
    let share = u128::from(resource.capacity) * ONE / u128::from(resource.period);
    let free = share.checked_sub(used).filter(|&free| free > 0)?;
    let early: u128 = rows
        .iter()
        .map(|row| {
            let early = u128::from(row.period - row.deadline);
            up(u128::from(row.wcet[level]) * ONE, row.period).saturating_mul(early)
        })
        .sum();
    let silent = (share + 1).saturating_mul(resource.blackout().into());
    let end = early.saturating_add(silent).div_ceil(free);
    Some(u64::try_from(end).unwrap_or(u64::MAX))
}

/// Why the bound on a response time is not enough.
pub(super) fn late(member: &Member, level: usize, why: Unbounded, problem: &Problem) -> Reason {
    let row = row(problem, member);
    match why {
        Unbounded::AtLeast(at_least) => Reason::ResponseExceedsDeadline {
            task: task_id(row.task),
            level: Level(u8::try_from(level).unwrap_or(u8::MAX)),
            at_least: Duration::from_nanos(at_least),
            deadline: Duration::from_nanos(row.deadline),
        },
        Unbounded::Undecided => Reason::SearchLimit { steps: STEPS_MAX },
    }
}

pub(super) fn row<'a>(problem: &'a Problem, member: &Member) -> &'a Row {
    &problem.rows()[member.task.index()]
}
