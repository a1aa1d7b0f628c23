//! When events of a device cost the server of its bottom half most.
//!
//! A PIBS of utilisation U on behalf of a server of period T executes at most (2 - U) U T in any window of length T (Missimer,
//! Missimer and West, 2016, Fig. 3). Events reach that as far as they are whole: with a capacity of C = U T, first as many
//! as take (1 - U) C, so that the PIBS may run again when C is left of the window, and at that instant more than it can handle.
//! With U = 1/4, T = 16 and events of 1: three at 0, five at 12, and it executes [0, 3) and [12, 16), which is 7 = (2 - U) U T.
//!
//! ```text
//!  0            ceil(first / U)      T            next multiple of T from which it has its whole capacity again
//!  |first   |        |C, and one event left       |first ...
//! ```
//!
//! A server with a budget and a period gets, every period, one event more than fit.
//!
//! For a PIBS that may run on behalf of several servers the first one is meant; without any, the first one of the file that
//! has a period. Utilisations and budgets are those of the lowest mode. It is the worst for the window, and for the server on
//! whose behalf it runs as far as that is released when it begins; nothing says that it is for every set.

use crate::model::{DeviceArrival, DeviceSpec, ServerKind, TaskSet};
use vestal_core::{Duration, Instant};

/// The events of one device, which come again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Storm {
    /// At 0, and one more time: when, and how many.
    first: u64,
    second: (Duration, u64),
    cycle: Duration,
}

impl Storm {
    /// `None` if jobs ask for the events, or the server can handle none.
    pub(super) fn of(device: &DeviceSpec, set: &TaskSet) -> Option<Self> {
        let cost = device.cost.as_nanos();
        if device.arrival == DeviceArrival::Requested || cost == 0 {
            return None;
        }
        match &set.servers.get(device.server)?.kind {
            ServerKind::Periodic {
                period, capacity, ..
            } => {
                let capacity = (*capacity.first()?)?.as_nanos();
                let count = capacity / cost + 1;
                let none = (Duration::ZERO, 0);
                (capacity > 0).then_some(Self {
                    first: count,
                    second: none,
                    cycle: *period,
                })
            }
            ServerKind::Pibs {
                utilization,
                serves,
            } => {
                let period_of = |index: usize| match set.servers.get(index)?.kind {
                    ServerKind::Periodic { period, .. } => Some(period.as_nanos()),
                    ServerKind::Pibs { .. } => None,
                };
                let mut hosts = serves.iter().copied().chain(0..set.servers.len());
                let period = u128::from(hosts.find_map(period_of)?);
                let share = (*utilization.first()?)?;
                let (n, d) = (
                    u128::from(share.numerator()),
                    u128::from(share.denominator()),
                );
                Self::of_pibs(period, (n, d), u128::from(cost))
            }
        }
    }

    fn of_pibs(period: u128, (n, d): (u128, u128), cost: u128) -> Option<Self> {
        let capacity = period * n / d;
        if n == 0 || n > d || capacity < cost {
            return None;
        }
        let rests = |used: u128| (used * d).div_ceil(n);
        let first = capacity * (d - n) / d / cost;
        let again = rests(first * cost);
        let fit = capacity / cost;
        // What fits is executed at once, and the one that is left when the PIBS may run again.
        let whole = again + rests(fit * cost) + rests(cost);
        let cycle = whole.div_ceil(period) * period;
        let nanos = |value: u128| u64::try_from(value).ok();
        Some(Self {
            first: nanos(first)?,
            second: (Duration::from_nanos(nanos(again)?), nanos(fit + 1)?),
            cycle: Duration::from_nanos(nanos(cycle)?),
        })
    }

    /// Event number `index`: when, and how many. `None` beyond all time.
    pub(super) fn events(&self, index: u64) -> Option<(Instant, u64)> {
        let zero = (Duration::ZERO, self.first);
        let parts = [zero, self.second];
        let mut parts = parts.into_iter().filter(|(_, count)| *count > 0);
        let each = if self.first > 0 && self.second.1 > 0 {
            2
        } else {
            1
        };
        let (offset, count) = parts.nth(usize::try_from(index % each).ok()?)?;
        let start = self.cycle.checked_mul(index / each)?;
        let at = Instant::EPOCH.checked_add(start)?.checked_add(offset)?;
        Some((at, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instants(storm: &Storm, most: u64) -> Vec<(u64, u64)> {
        let events = (0..most).filter_map(|index| storm.events(index));
        events.map(|(at, count)| (at.as_nanos(), count)).collect()
    }

    #[test]
    fn the_window_of_the_figure_is_filled() {
        let storm = Storm::of_pibs(16, (1, 4), 1).unwrap();
        let expected = [(0, 3), (12, 5), (32, 3), (44, 5), (64, 3)];
        assert_eq!(instants(&storm, 5), expected);
        // All of the CPU: no first part; every event that fits, and one more.
        let whole = Storm::of_pibs(10, (1, 1), 2).unwrap();
        assert_eq!(instants(&whole, 3), [(0, 6), (20, 6), (40, 6)]);
        // Only the second one: 1/2 of 4 is 2, half of that is less than an event.
        let coarse = Storm::of_pibs(4, (1, 2), 2).unwrap();
        assert_eq!(instants(&coarse, 3), [(0, 2), (8, 2), (16, 2)]);
        assert_eq!(Storm::of_pibs(4, (1, 2), 3), None);
        assert_eq!(Storm::of_pibs(4, (0, 2), 1), None);
    }

    /// In whole ticks with the rules of a PIBS: what it executes from the beginning of a cycle on.
    #[test]
    fn what_a_pibs_executes_in_a_window_is_the_bound_as_far_as_events_are_whole() {
        for period in 4..40_u64 {
            for d in 2..8_u64 {
                for cost in 1..4_u64 {
                    let Some(storm) = Storm::of_pibs(period.into(), (1, d.into()), cost.into())
                    else {
                        continue;
                    };
                    let capacity = period / d;
                    let events = instants(&storm, 8);
                    let ran = executed(&events, period * 12, capacity, d, cost);
                    let window =
                        |from: usize| -> u64 { ran[from..from + period as usize].iter().sum() };
                    let most = (0..(period * 8) as usize).map(window).max().unwrap();
                    // (2 - U) U T = (2 d - 1) T / d^2, in whole units of what may be executed.
                    assert!(most * d * d <= (2 * d - 1) * period, "{period} {d} {cost}");
                    let whole = |amount: u64| amount / cost * cost;
                    let reached = whole(capacity * (d - 1) / d) + capacity.min(period);
                    assert!(
                        most + cost + d > reached,
                        "{period} {d} {cost}: {most} of {reached}"
                    );
                }
            }
        }
    }

    /// By tick, whether a PIBS with this capacity and a utilisation of 1 / d executes; nobody preempts it.
    fn executed(events: &[(u64, u64)], until: u64, capacity: u64, d: u64, cost: u64) -> Vec<u64> {
        let (mut work, mut eligible, mut burst) = (0, 0, None);
        let tick = |now: u64| {
            let come = events.iter().filter(|(at, _)| *at == now);
            work += come.map(|(_, count)| count * cost).sum::<u64>();
            if let Some((start, used)) = burst
                && (work == 0 || used == capacity)
            {
                eligible = start + used * d;
                burst = None;
            }
            if burst.is_none() && work > 0 && eligible <= now {
                burst = Some((now, 0));
            }
            let Some((_, used)) = &mut burst else {
                return 0;
            };
            *used += 1;
            work -= 1;
            1
        };
        (0..until).map(tick).collect()
    }
}
