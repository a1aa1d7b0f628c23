//! The full form of Davis and Burns (RTSS 2005): response times inside a server that know which servers are more urgent.
//!
//! A job comes when its server's budget has just been used up, J = Pi - Theta before it comes back; a polling server may have discarded
//! all of it, J = Pi. From there on, with L(w) = C_i + sum of ceil((w + J) / T_j) C_j over the more urgent tasks of the server and
//! k = ceil(L(w) / Theta), the first k - 1 budgets are supplied within their periods, and only in the last one do the more urgent servers X stand in the
//! way:
//!
//! w = L(w) + (k - 1) (Pi - Theta) + sum of ceil((max(0, w - (k - 1) Pi) + J_X) / Pi_X) Theta_X, and R_i = w + J.
//!
//! The right side does not grow with w where k does, so the least w that is not below it is looked for from one arrival to the next, between which it
//! grows. Where the server has its capacity in its period the sum is at most Pi - Theta, so that R_i is at most the bound by the periodic
//! resource model.

use super::inside::{is_above, row};
use super::supply::{self, Resource};
use crate::fixed_point::{Unbounded, least_fixed_point};
use crate::problem::{Problem, Row};
use crate::served::Member;

/// For each level up to the own one the bound on the response time of the task at `place`, in the server at `position`.
pub(super) fn responses(
    problem: &Problem,
    (resources, position): (&[Resource], usize),
    members: &[Member],
    place: usize,
) -> Vec<Result<u64, Unbounded>> {
    let own = row(problem, &members[place]);
    let above: Vec<&Row> = members
        .iter()
        .filter(|other| is_above(other, &members[place]))
        .map(|other| row(problem, other))
        .collect();
    (0..=own.criticality)
        .map(|level| response((resources, position), own, &above, level))
        .collect()
}

fn response(
    (resources, position): (&[Resource], usize),
    own: &Row,
    above: &[&Row],
    level: usize,
) -> Result<u64, Unbounded> {
    let resource = &resources[position];
    let late = resource.lateness();
    let Some(longest) = own.deadline.checked_sub(late) else {
        return Err(Unbounded::AtLeast(late.saturating_add(own.wcet[level])));
    };
    let jobs = |window: u64, other: &Row| window.saturating_add(late).div_ceil(other.period);
    let needed = |window: u64| {
        let of = |other: &&Row| jobs(window, other).saturating_mul(other.wcet[level]);
        let work = above.iter().map(of);
        let work = work.fold(own.wcet[level], u64::saturating_add);
        let whole = work.div_ceil(resource.capacity).saturating_sub(1);
        let before = whole.saturating_mul(resource.period);
        let rest = work.saturating_sub(whole.saturating_mul(resource.capacity));
        let last = window.saturating_sub(before);
        let others = supply::taken(resources, position, last);
        let alone = before.saturating_add(rest);
        (alone, alone.saturating_add(others))
    };
    // The first longer window in which another job counts.
    let changes = |window: u64| {
        let of = |other: &&Row| {
            let end = jobs(window, other).saturating_mul(other.period);
            end.saturating_sub(late).saturating_add(1)
        };
        above.iter().map(of).min().unwrap_or(u64::MAX)
    };
    let found = least_fixed_point(1, longest, |window| match needed(window) {
        (_, needed) if needed <= window => window,
        // Without the other servers it does not fall with w, so that no w below that is long enough, however many arrivals are between.
        (alone, needed) => needed.min(changes(window)).max(alone),
    });
    match found {
        Ok(window) => Ok(window.saturating_add(late)),
        Err(Unbounded::AtLeast(window)) => Err(Unbounded::AtLeast(window.saturating_add(late))),
        Err(Unbounded::Undecided) => Err(Unbounded::Undecided),
    }
}
