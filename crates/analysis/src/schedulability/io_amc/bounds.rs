//! The equations: how long a server or a burst may take, over a set of more urgent servers.

use super::rows::{Host, Rows, Share, Span};
use crate::fixed_point::{Unbounded, least_fixed_point};

/// A server until it has its capacity, or a PIBS from its activation to the end of its burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window<'a> {
    rows: &'a Rows,
    /// The first term, by mode.
    first: [u64; 2],
    limit: u64,
    /// The servers whose capacities are counted, by seat.
    servers: &'a [bool],
    /// The servers on whose behalf PIBS delay it, by seat.
    hosts: &'a [bool],
    /// The PIBS that is not counted: its own demand is the first term.
    without: Option<usize>,
    /// Whether it is there in mode 1.
    is_in_mode_1: bool,
}

/// What was found of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Equations 1 and 10, of a burst 2 and 12: in mode 0.
    pub(super) mode_0: Result<u64, Unbounded>,
    /// Equation 11, of a burst 13: in mode 1. `None`: it is not there, or nobody asks.
    pub(super) mode_1: Option<Result<u64, Unbounded>>,
    /// Equation 14, of a burst 15: while the mode rises. Not looked at where there is no bound in mode 0.
    pub(super) rise: Option<Result<u64, Unbounded>>,
}

impl Found {
    /// The bounds in mode 0, in mode 1 and while it rises, of those that it has.
    pub(super) fn bounds(&self) -> impl Iterator<Item = (Phase, Result<u64, Unbounded>)> {
        let all = [
            (Phase::Mode0, Some(self.mode_0)),
            (Phase::Mode1, self.mode_1),
            (Phase::Rise, self.rise),
        ];
        all.into_iter()
            .filter_map(|(phase, bound)| Some((phase, bound?)))
    }

    /// By mode; in mode 1 whichever is later. `None`: not bounded.
    pub(super) fn by_mode(&self) -> Vec<Option<u64>> {
        let low = self.mode_0.ok();
        match self.mode_1 {
            None => vec![low],
            Some(steady) => {
                let rise = match self.rise {
                    // It comes after mode 0 only.
                    None => low,
                    Some(rise) => rise.ok(),
                };
                vec![
                    low,
                    steady.ok().zip(rise).map(|(one, other)| one.max(other)),
                ]
            }
        }
    }
}

/// What an equation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Mode0,
    Mode1,
    Rise,
}

impl<'a> Window<'a> {
    /// That of the server at `seat`.
    pub(super) fn of_server(
        rows: &'a Rows,
        seat: usize,
        (servers, hosts): (&'a [bool], &'a [bool]),
    ) -> Self {
        let own = &rows.seats[seat];
        Self {
            rows,
            first: own.capacity,
            limit: own.limit,
            servers,
            hosts,
            without: None,
            is_in_mode_1: own.capacity[1] > 0,
        }
    }

    /// That of a burst of the PIBS at `share` on behalf of `host`: the server itself delays it as well.
    pub(super) fn of_burst(rows: &'a Rows, share: usize, host: &Host, servers: &'a [bool]) -> Self {
        Self {
            rows,
            first: host.demand.map(|demand| demand.in_periods(1)),
            limit: rows.seats[host.seat].period,
            servers,
            hosts: servers,
            without: Some(share),
            is_in_mode_1: host.is_served_high,
        }
    }

    /// With `rises`, also what a rise of the mode needs.
    pub(super) fn solve(&self, rises: bool) -> Found {
        let mode_0 = self.in_mode_0(self.first[0]);
        let mode_1 = self.is_in_mode_1.then(|| self.in_mode_1());
        let rise = match mode_0 {
            Ok(_) if rises && self.is_in_mode_1 => {
                let until = self.in_mode_0(self.first[0].min(self.first[1]));
                Some(until.and_then(|until| self.while_it_rises(until)))
            }
            Ok(_) | Err(_) => None,
        };
        Found {
            mode_0,
            mode_1,
            rise,
        }
    }

    /// Equations 10 and 12 with this first term.
    fn in_mode_0(&self, first: u64) -> Result<u64, Unbounded> {
        self.least(first, |window| {
            let servers = self.servers_sum(|_, period, capacity| {
                window.div_ceil(period).saturating_mul(capacity[0])
            });
            servers.saturating_add(self.shares_sum((0, window), |_| true, |_| true))
        })
    }

    /// Equations 11 and 13.
    fn in_mode_1(&self) -> Result<u64, Unbounded> {
        self.least(self.first[1], |window| {
            let servers = self.servers_sum(|_, period, capacity| {
                window.div_ceil(period).saturating_mul(capacity[1])
            });
            let shares = self.shares_sum((1, window), |_| true, |host| host.is_served_high);
            servers.saturating_add(shares)
        })
    }

    /// Equations 14 and 15; the mode has risen by `until`, R'.
    ///
    /// A burst of a LO PIBS under way at the rise executes no more than its LO capacity in all, and is among what is counted before R'. In a busy
    /// window one that begins at s comes after at most U s of its PIBS and what is counted of all others, s (1 - U) <= R' -
    /// I(R') <= (1 - U) (R' - T U), so that U s + T U <= I(R').
    fn while_it_rises(&self, until: u64) -> Result<u64, Unbounded> {
        let is_high = |share: &Share| share.is_high;
        let is_low = |share: &Share| !share.is_high;
        let before = self.shares_sum((0, until), is_low, |_| true);
        self.least(self.first[1], |window| {
            let servers = self.servers_sum(|is_high, period, [low, high]| {
                let all = window.div_ceil(period);
                if is_high {
                    return all.saturating_mul(high);
                }
                let early = until.div_ceil(period);
                let late = all.saturating_sub(early);
                early
                    .saturating_mul(low)
                    .saturating_add(late.saturating_mul(high))
            });
            let after = window.saturating_sub(until);
            let high = self.shares_sum((1, window), is_high, |_| true);
            let low = self.shares_sum((1, after), is_low, |host| host.is_served_high);
            [before, high, low]
                .into_iter()
                .fold(servers, u64::saturating_add)
        })
    }

    /// The least window that has room for `first` and for `others` in it. No window is empty.
    fn least(&self, first: u64, others: impl Fn(u64) -> u64) -> Result<u64, Unbounded> {
        least_fixed_point(first.max(1), self.limit, |window| {
            first.saturating_add(others(window)).max(1)
        })
    }

    /// The sum over the servers that count; `of` is told the level, the period and the capacities of each.
    fn servers_sum(&self, of: impl Fn(bool, u64, [u64; 2]) -> u64) -> u64 {
        let seats = self.rows.seats.iter().zip(self.servers);
        seats
            .filter(|(_, counts)| **counts)
            .map(|(seat, _)| of(seat.is_high, seat.period, seat.capacity))
            .fold(0, u64::saturating_add)
    }

    /// The sum over the PIBS that `counts` takes, each with the most in that mode and window on behalf of anybody whom `serves` takes.
    fn shares_sum(
        &self,
        (level, window): (usize, u64),
        counts: impl Fn(&Share) -> bool,
        serves: impl Fn(&Host) -> bool,
    ) -> u64 {
        // Of each host that counts: how many of its periods begin in the window. All PIBS ask for the same.
        let hosts = self.rows.seats.iter().zip(self.hosts);
        let spans = hosts.map(|(seat, counts)| counts.then(|| Span::new(window, seat.period)));
        let spans: Vec<Option<Span>> = spans.collect();
        let shares = self.rows.shares.iter().enumerate();
        shares
            .filter(|(place, share)| Some(*place) != self.without && counts(share))
            .map(|(_, share)| {
                let of = |host: &Host| spans[host.seat].filter(|_| serves(host));
                share.most(level, of)
            })
            .fold(0, u64::saturating_add)
    }
}
