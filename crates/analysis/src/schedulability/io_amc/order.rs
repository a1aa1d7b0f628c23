//! Orders of servers: as given, rate-monotonic, or Audsley's.

use super::bounds::{Found, Phase, Window};
use super::rows::Rows;
use crate::fixed_point::Unbounded;
use core::cmp::Reverse;
use vestal_core::ServerId;

/// A server, and the bursts of all PIBS on its behalf, with what was found.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) own: Found,
    /// With the PIBS, by its place among them.
    pub(super) bursts: Vec<(usize, Found)>,
    /// The first that is too long.
    pub(super) late: Option<Late>,
}

/// A server, or a burst, that may take too long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    pub(super) server: ServerId,
    pub(super) on_behalf_of: Option<ServerId>,
    pub(super) phase: Phase,
    pub(super) at_least: u64,
    pub(super) limit: u64,
}

/// A fixed point was not reached in as many steps as there may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undecided;

/// What was found in an order.
#[derive(Clone, Debug)]
pub(super) struct Ordered {
    /// By seat, larger is more urgent; `None` for those for which there is no place.
    pub(super) priorities: Vec<Option<u32>>,
    /// By seat, of those that have one.
    pub(super) judged: Vec<Option<Judged>>,
}

impl Ordered {
    /// The first that is too long.
    pub(super) fn late(&self) -> Option<Late> {
        self.judged.iter().flatten().find_map(|judged| judged.late)
    }

    /// Whether every server has a place and nothing in it is late.
    pub(super) fn holds(&self) -> bool {
        self.priorities.iter().all(Option::is_some) && self.late().is_none()
    }
}

/// The servers in the order that they have.
pub(super) fn given(rows: &Rows, rises: bool) -> Result<Ordered, Undecided> {
    let priorities: Vec<u32> = rows.seats.iter().map(|seat| seat.priority).collect();
    in_order(rows, priorities, rises)
}

/// The servers in the order in which they pass, if they do in one that is found: rate-monotonically, else in Audsley's.
pub(super) fn free(rows: &Rows, rises: bool) -> Result<Ordered, Undecided> {
    let by_rate = in_order(rows, rate_monotonic(rows), rises)?;
    match by_rate.holds() {
        true => Ok(by_rate),
        false => audsley(rows, rises),
    }
}

/// Ranks by periods, equal ones as they stand.
fn rate_monotonic(rows: &Rows) -> Vec<u32> {
    let mut order: Vec<usize> = (0..rows.seats.len()).collect();
    order.sort_by_key(|&seat| rows.seats[seat].period);
    let mut ranks = vec![0; order.len()];
    for (rank, &seat) in (1..).zip(order.iter().rev()) {
        ranks[seat] = rank;
    }
    ranks
}

fn in_order(rows: &Rows, priorities: Vec<u32>, rises: bool) -> Result<Ordered, Undecided> {
    let judged = (0..rows.seats.len()).map(|seat| {
        let own = priorities[seat];
        let servers = priorities.iter().enumerate();
        let servers =
            servers.map(|(other, &priority)| priority > own || (priority == own && other < seat));
        // Between bursts and servers of equal priorities the order of the servers decides nothing.
        let hosts = priorities.iter().map(|&priority| priority >= own);
        let (servers, hosts): (Vec<bool>, Vec<bool>) = (servers.collect(), hosts.collect());
        judge(rows, seat, (&servers, &hosts), rises).map(Some)
    });
    Ok(Ordered {
        judged: judged.collect::<Result<_, _>>()?,
        priorities: priorities.into_iter().map(Some).collect(),
    })
}

/// Audsley's algorithm (see `crate::audsley`): from the least urgent place up, whoever passes below all that are left
/// may have it, with the bursts on its behalf. Tried are the longest period, then the lower level, then the first.
///
/// What is found for a server depends only on the set of those above. It never falls when that set grows, unless
/// a low PIBS has a share in mode 1: then an order may be missed.
fn audsley(rows: &Rows, rises: bool) -> Result<Ordered, Undecided> {
    let mut candidates: Vec<usize> = (0..rows.seats.len()).collect();
    candidates.sort_by_key(|&seat| {
        let own = &rows.seats[seat];
        (Reverse(own.period), own.is_high)
    });
    let mut left = vec![true; candidates.len()];
    let mut found = Ordered {
        priorities: vec![None; candidates.len()],
        judged: vec![None; candidates.len()],
    };
    for priority in (1..).take(candidates.len()) {
        let mut lowest = None;
        for (place, &seat) in candidates.iter().enumerate() {
            let mut above = left.clone();
            above[seat] = false;
            let judged = judge(rows, seat, (&above, &left), rises)?;
            if judged.late.is_none() {
                lowest = Some((place, judged));
                break;
            }
        }
        let Some((place, judged)) = lowest else { break };
        let seat = candidates.remove(place);
        left[seat] = false;
        found.priorities[seat] = Some(priority);
        found.judged[seat] = Some(judged);
    }
    Ok(found)
}

/// The server at `seat` below `servers`, with all bursts on its behalf, which `hosts` and theirs delay.
fn judge(
    rows: &Rows,
    seat: usize,
    (servers, hosts): (&[bool], &[bool]),
    rises: bool,
) -> Result<Judged, Undecided> {
    let own = &rows.seats[seat];
    let mut late = None;
    let mut note = |server, on_behalf_of, found: &Found, limit| {
        for (phase, bound) in found.bounds() {
            match bound {
                Ok(_) => {}
                Err(Unbounded::Undecided) => return Err(Undecided),
                Err(Unbounded::AtLeast(at_least)) => {
                    late = late.or(Some(Late {
                        server,
                        on_behalf_of,
                        phase,
                        at_least,
                        limit,
                    }));
                }
            }
        }
        Ok(())
    };
    let found = Window::of_server(rows, seat, (servers, hosts)).solve(rises);
    note(own.server, None, &found, own.limit)?;
    let mut bursts = Vec::new();
    for (place, share) in rows.shares.iter().enumerate() {
        let Some(host) = share.hosts.iter().find(|host| host.seat == seat) else {
            continue;
        };
        let burst = Window::of_burst(rows, place, host, hosts).solve(rises);
        note(share.server, Some(own.server), &burst, own.period)?;
        bursts.push((place, burst));
    }
    Ok(Judged {
        own: found,
        bursts,
        late,
    })
}
