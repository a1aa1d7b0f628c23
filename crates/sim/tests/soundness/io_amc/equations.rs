//! The equations of Missimer, Missimer and West (2016) once more, in plain numbers: a twin of the analysis at any scale, and
//! what is wrong with them can be said.

use vestal_analysis::Problem;
use vestal_core::{Level, ServerKind};

/// What is wrong with the equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    None,
    /// A PIBS executes no more than its share in each period: without (1 - U) T U.
    NoCarryIn,
    /// The time by which the mode has risen knows no PIBS, as equation 8 is printed.
    RiseWithoutPibs,
}

/// A server with a period.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) server: usize,
    pub(super) priority: u32,
    pub(super) period: u64,
    pub(super) capacity: [u64; 2],
    pub(super) is_high: bool,
    limit: u64,
}

/// A PIBS, with the seats that it may serve.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) server: usize,
    pub(super) is_high: bool,
    /// Numerator and denominator, by mode.
    pub(super) shares: [(u64, u64); 2],
    hosts: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Equations {
    pub(super) seats: Vec<Seat>,
    pub(super) shares: Vec<Share>,
    /// Whether there is a mode 1.
    has_two: bool,
}

/// A server's number, and on whose behalf it is a burst.
pub(super) type Who = (usize, Option<usize>);

impl Equations {
    /// Of a problem whose servers have these priorities.
    pub(super) fn new(problem: &Problem, priorities: &[u32]) -> Self {
        let has_two = problem.levels().count() > 1;
        let mut new = Self {
            seats: Vec::new(),
            shares: Vec::new(),
            has_two,
        };
        let at = |low: u64, high: u64| [low, if has_two { high } else { 0 }];
        for (number, server) in problem.servers().iter().enumerate() {
            let configuration = &server.configuration;
            let ServerKind::Sporadic {
                period, capacity, ..
            } = &configuration.kind
            else {
                continue;
            };
            let deadlines = server
                .tasks
                .iter()
                .map(|member| problem.tasks()[member.task.index()].deadline);
            let [low, high] = [0, 1].map(|level| capacity.at(Level(level)).as_nanos());
            new.seats.push(Seat {
                server: number,
                priority: priorities[number],
                period: period.as_nanos(),
                capacity: at(low, high),
                is_high: configuration.criticality > Level(0),
                limit: deadlines.fold(*period, Ord::min).as_nanos(),
            });
        }
        for (number, server) in problem.servers().iter().enumerate() {
            let ServerKind::Pibs { utilization } = &server.configuration.kind else {
                continue;
            };
            let share = |level| {
                let share = utilization.at(Level(level));
                (share.numerator(), share.denominator())
            };
            let high = if has_two { share(1) } else { (0, 1) };
            let serves = |seat: &usize| {
                let hosts = server.serves.iter();
                hosts
                    .copied()
                    .any(|host| host.index() == new.seats[*seat].server)
            };
            new.shares.push(Share {
                server: number,
                is_high: server.configuration.criticality > Level(0),
                shares: [share(0), high],
                hosts: (0..new.seats.len()).filter(serves).collect(),
            });
        }
        new
    }

    pub(super) fn seat(&self, server: usize) -> &Seat {
        self.seats
            .iter()
            .find(|seat| seat.server == server)
            .unwrap()
    }

    /// All servers, and all PIBS with each server that they may serve.
    pub(super) fn subjects(&self) -> Vec<Who> {
        let mut all: Vec<Who> = self.seats.iter().map(|seat| (seat.server, None)).collect();
        for share in &self.shares {
            let hosts = share.hosts.iter();
            all.extend(hosts.map(|&host| (share.server, Some(self.seats[host].server))));
        }
        all
    }

    /// The bound in mode 0, in mode 1 and while the mode rises, of those that there are; `None`: none within the period.
    pub(super) fn bounds(&self, who: Who, mistake: Mistake) -> [Option<Option<u64>>; 3] {
        let seat = self.seat(who.1.unwrap_or(who.0));
        let own = self.shares.iter().find(|share| share.server == who.0);
        let window = Window {
            all: self,
            priority: seat.priority,
            own: own.map(|share| share.server),
            limit: if own.is_some() {
                seat.period
            } else {
                seat.limit
            },
            mistake,
        };
        let first = [0, 1].map(|mode: usize| match own {
            None => seat.capacity[mode],
            Some(share) => demand(share.shares[mode], seat.period, 1, mistake),
        });
        let is_there = self.has_two
            && match own {
                None => first[1] > 0,
                Some(share) => share.shares[1].0 > 0 && (share.is_high || seat.is_high),
            };
        let low = window.in_mode_0(first[0], true);
        let high = is_there.then(|| window.in_mode_1(first[1]));
        let rise = (is_there && low.is_some()).then(|| {
            let with_pibs = mistake != Mistake::RiseWithoutPibs;
            let until = window.in_mode_0(first[0].min(first[1]), with_pibs)?;
            window.while_it_rises(first[1], until)
        });
        [Some(low), high, rise]
    }
}

/// (1 + c - U) T U for c periods, rounded down.
fn demand((n, d): (u64, u64), period: u64, periods: u64, mistake: Mistake) -> u64 {
    let [n, d, period, periods] = [n, d, period, periods].map(u128::from);
    let exact = match mistake {
        _ if n == 0 => 0,
        Mistake::NoCarryIn => periods * period * n / d,
        Mistake::None | Mistake::RiseWithoutPibs => ((1 + periods) * d - n) * period * n / (d * d),
    };
    u64::try_from(exact).unwrap()
}

struct Window<'a> {
    all: &'a Equations,
    priority: u32,
    /// The PIBS whose burst it is.
    own: Option<usize>,
    limit: u64,
    mistake: Mistake,
}

impl Window<'_> {
    fn least(&self, first: u64, others: impl Fn(u64) -> u64) -> Option<u64> {
        let mut window = first.max(1);
        loop {
            let next = (first + others(window)).max(1);
            if next > self.limit {
                return None;
            }
            if next == window {
                return Some(window);
            }
            window = next;
        }
    }

    /// Over the servers whose capacities delay it.
    fn servers(&self, of: impl Fn(&Seat) -> u64) -> u64 {
        let least = self.priority + u32::from(self.own.is_none());
        let above = self.all.seats.iter().filter(|seat| seat.priority >= least);
        above.map(of).sum()
    }

    /// Over PIBS, each with the most on behalf of somebody.
    fn pibs(
        &self,
        (window, mode): (u64, usize),
        counts: impl Fn(&Share) -> bool,
        serves: impl Fn(&Share, &Seat) -> bool,
    ) -> u64 {
        let others = self.all.shares.iter();
        let others = others.filter(|share| Some(share.server) != self.own && counts(share));
        let most = |share: &Share| {
            let hosts = share.hosts.iter().map(|&host| &self.all.seats[host]);
            let hosts = hosts.filter(|seat| seat.priority >= self.priority && serves(share, seat));
            let demands = hosts.map(|seat| {
                let periods = window.div_ceil(seat.period);
                demand(share.shares[mode], seat.period, periods, self.mistake)
            });
            demands.max().unwrap_or(0)
        };
        others.map(most).sum()
    }

    fn in_mode_0(&self, first: u64, with_pibs: bool) -> Option<u64> {
        self.least(first, |window| {
            let servers = self.servers(|seat| window.div_ceil(seat.period) * seat.capacity[0]);
            servers + self.pibs((window, 0), |_| with_pibs, |_, _| true)
        })
    }

    fn in_mode_1(&self, first: u64) -> Option<u64> {
        self.least(first, |window| {
            let servers = self.servers(|seat| window.div_ceil(seat.period) * seat.capacity[1]);
            servers
                + self.pibs(
                    (window, 1),
                    |_| true,
                    |share, seat| share.is_high || seat.is_high,
                )
        })
    }

    fn while_it_rises(&self, first: u64, until: u64) -> Option<u64> {
        self.least(first, |window| {
            let servers = self.servers(|seat| {
                let [low, high] = seat.capacity;
                let all = window.div_ceil(seat.period);
                let early = if seat.is_high {
                    0
                } else {
                    until.div_ceil(seat.period)
                };
                early * low + all.saturating_sub(early) * high
            });
            let rest = (window.saturating_sub(until), 1);
            servers
                + self.pibs((window, 1), |share| share.is_high, |_, _| true)
                + self.pibs((until, 0), |share| !share.is_high, |_, _| true)
                + self.pibs(rest, |share| !share.is_high, |_, seat| seat.is_high)
        })
    }
}
