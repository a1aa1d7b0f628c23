//! The same bounds by trying every window in turn; and what is wrong with them can be said.

use crate::problem::Problem;
use crate::served::Server;
use vestal_core::{Level, ServerId, ServerKind};

/// What is wrong with an analysis of sporadic servers and PIBS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A PIBS executes no more than its share in each period: without (1 - U) T U.
    NoCarryIn,
    /// The time by which the mode has risen knows no PIBS, as equation 8 is printed.
    RiseWithoutPibs,
    /// With a raised mode in it, a window holds bursts on behalf of HI servers only, as equations 11 and 13 are printed;
    /// in 14 and 15 as well.
    HighHosts,
    /// Every bound is 1 ns less.
    TooSmall,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The servers, PIBS and all.
    pub problem: &'a Problem,
    /// The servers with a period, the most urgent first.
    pub order: &'a [ServerId],
    /// Whether a PIBS may serve any of them, whatever it says.
    pub any: bool,
    /// What is wrong.
    pub mistake: Option<Mistake>,
}

impl Case<'_> {
    fn server(&self, id: ServerId) -> &Server {
        &self.problem.servers()[id.index()]
    }

    fn is_high(&self, id: ServerId) -> bool {
        self.server(id).configuration.criticality == Level(1)
    }

    fn period(&self, id: ServerId) -> u64 {
        let period = self.server(id).configuration.kind.period();
        period.map_or(0, |period| period.as_nanos())
    }

    fn capacity(&self, id: ServerId, mode: u8) -> u64 {
        let capacity = self.server(id).configuration.kind.capacity();
        match usize::from(mode) < self.problem.levels().count() {
            true => capacity.map_or(0, |capacity| capacity.at(Level(mode)).as_nanos()),
            false => 0,
        }
    }

    /// Numerator and denominator.
    fn share(&self, pibs: ServerId, mode: u8) -> (u128, u128) {
        match &self.server(pibs).configuration.kind {
            ServerKind::Pibs { utilization }
                if usize::from(mode) < self.problem.levels().count() =>
            {
                let share = utilization.at(Level(mode));
                (share.numerator().into(), share.denominator().into())
            }
            ServerKind::Pibs { .. }
            | ServerKind::Polling { .. }
            | ServerKind::IdlingPeriodic { .. }
            | ServerKind::Deferrable { .. }
            | ServerKind::Sporadic { .. } => (0, 1),
        }
    }

    fn serves(&self, pibs: ServerId, host: ServerId) -> bool {
        self.any || self.server(pibs).serves.contains(&host)
    }

    fn pibs(&self) -> impl Iterator<Item = ServerId> {
        let servers = (0..).map(ServerId).zip(self.problem.servers());
        let is_pibs = |(_, server): &(ServerId, &Server)| {
            matches!(server.configuration.kind, ServerKind::Pibs { .. })
        };
        servers.filter(is_pibs).map(|(id, _)| id)
    }

    /// (1 + c - U) T U for c periods, rounded down.
    fn demand(&self, pibs: ServerId, host: ServerId, periods: u64, mode: u8) -> u64 {
        let ((n, d), period) = (self.share(pibs, mode), u128::from(self.period(host)));
        let periods = u128::from(periods);
        let demand = match self.mistake {
            Some(Mistake::NoCarryIn) => periods * period * n / d,
            _ if n == 0 => 0,
            _ => ((1 + periods) * d - n) * period * n / (d * d),
        };
        u64::try_from(demand).unwrap_or(u64::MAX)
    }

    /// How many periods of a server begin in a window.
    fn periods(&self, server: ServerId, window: u64) -> u64 {
        let begins = |tick: &u64| tick.is_multiple_of(self.period(server));
        (0..window).filter(begins).count() as u64
    }

    /// P(t, mode, hosts) over the PIBS that `counts` takes.
    fn interference(
        &self,
        (window, mode): (u64, u8),
        hosts: &[ServerId],
        counts: impl Fn(ServerId) -> bool,
        may: impl Fn(ServerId, ServerId) -> bool,
    ) -> u64 {
        let mut sum = 0;
        for pibs in self.pibs().filter(|pibs| counts(*pibs)) {
            let served = hosts.iter().filter(|host| self.serves(pibs, **host));
            let served = served.filter(|host| may(pibs, **host));
            let most =
                served.map(|&host| self.demand(pibs, host, self.periods(host, window), mode));
            sum += most.max().unwrap_or(0);
        }
        sum
    }

    /// Whether something is there in mode 1: a server, or a PIBS on behalf of one.
    #[must_use]
    pub fn is_in_mode_1(&self, server: ServerId, host: Option<ServerId>) -> bool {
        match host {
            None => self.capacity(server, 1) > 0,
            Some(host) => {
                self.share(server, 1).0 > 0 && (self.is_high(server) || self.is_high(host))
            }
        }
    }

    /// By when a server has to have its capacity, or a burst to be over.
    fn limit(&self, server: ServerId, host: Option<ServerId>) -> u64 {
        let tasks = host.is_none().then(|| &self.server(server).tasks);
        let tasks = tasks.into_iter().flatten();
        let deadlines = tasks.map(|member| {
            let task = &self.problem.tasks()[member.task.index()];
            task.deadline.as_nanos()
        });
        let period = self.period(host.unwrap_or(server));
        deadlines.fold(period, u64::min)
    }

    /// The bound by an equation, of a server or of a burst on behalf of `host`; `None`: more than it may be.
    #[must_use]
    pub fn bound(&self, server: ServerId, host: Option<ServerId>, equation: u8) -> Option<u64> {
        let seat = host.unwrap_or(server);
        let place = self.order.iter().position(|id| *id == seat)?;
        let with_own = &self.order[..=place];
        let servers = match host {
            None => &self.order[..place],
            Some(_) => with_own,
        };
        let counts = |pibs: ServerId| host.is_none() || pibs != server;
        let low = |pibs: ServerId| counts(pibs) && !self.is_high(pibs);
        let high = |pibs: ServerId| counts(pibs) && self.is_high(pibs);
        let all = |_: ServerId, _: ServerId| true;
        let to_high = |_: ServerId, host: ServerId| self.is_high(host);
        let high_may = |_: ServerId, host: ServerId| {
            self.mistake != Some(Mistake::HighHosts) || self.is_high(host)
        };
        let first = |mode| match host {
            None => self.capacity(server, mode),
            Some(host) => self.demand(server, host, 1, mode),
        };
        let limit = self.limit(server, host);
        let sum = |window, mode| -> u64 {
            let each = servers.iter();
            each.map(|id| self.periods(*id, window) * self.capacity(*id, mode))
                .sum()
        };
        let in_mode_0 = |first: u64, with_pibs: bool| {
            (1..=limit).find(|&window| {
                let pibs = match with_pibs {
                    true => self.interference((window, 0), with_own, counts, all),
                    false => 0,
                };
                first + sum(window, 0) + pibs <= window
            })
        };
        let found = match equation {
            10 | 12 => in_mode_0(first(0), true),
            11 | 13 => (1..=limit).find(|&window| {
                let at = (window, 1);
                let of_high = self.interference(at, with_own, high, high_may);
                let of_low = self.interference(at, with_own, low, to_high);
                first(1) + sum(window, 1) + of_high + of_low <= window
            }),
            _ => {
                let with_pibs = self.mistake != Some(Mistake::RiseWithoutPibs);
                let until = in_mode_0(first(0).min(first(1)), with_pibs)?;
                (1..=limit).find(|&window| {
                    let of_servers = servers.iter().map(|&id| {
                        let early = self.periods(id, until);
                        let all = self.periods(id, window);
                        match self.is_high(id) {
                            true => all * self.capacity(id, 1),
                            false => {
                                early * self.capacity(id, 0)
                                    + all.saturating_sub(early) * self.capacity(id, 1)
                            }
                        }
                    });
                    let rest = window.saturating_sub(until);
                    let of_pibs = self.interference((window, 1), with_own, high, high_may)
                        + self.interference((until, 0), with_own, low, all)
                        + self.interference((rest, 1), with_own, low, to_high);
                    first(1) + of_servers.sum::<u64>() + of_pibs <= window
                })
            }
        };
        let less = u64::from(self.mistake == Some(Mistake::TooSmall));
        found.map(|bound| bound.saturating_sub(less))
    }

    /// Which equations are about a server, or a burst on behalf of `host`; with `rises`, while the mode rises as well.
    #[must_use]
    pub fn equations(&self, server: ServerId, host: Option<ServerId>, rises: bool) -> Vec<u8> {
        let [low, high, rise] = match host {
            None => [10, 11, 14],
            Some(_) => [12, 13, 15],
        };
        let mut equations = vec![low];
        if self.is_in_mode_1(server, host) {
            equations.push(high);
            equations.extend(rises.then_some(rise));
        }
        equations
    }

    /// All servers, and all PIBS with each server that they may serve.
    #[must_use]
    pub fn subjects(&self) -> Vec<(ServerId, Option<ServerId>)> {
        let mut subjects: Vec<_> = self.order.iter().map(|id| (*id, None)).collect();
        for pibs in self.pibs() {
            let hosts = self.order.iter().filter(|host| self.serves(pibs, **host));
            subjects.extend(hosts.map(|host| (pibs, Some(*host))));
        }
        subjects
    }

    /// Whether nothing is late in this order.
    #[must_use]
    pub fn accepts(&self, rises: bool) -> bool {
        let subjects = self.subjects().into_iter();
        let mut asked = subjects.flat_map(|(server, host)| {
            let equations = self.equations(server, host, rises);
            equations
                .into_iter()
                .map(move |number| (server, host, number))
        });
        asked.all(|(server, host, equation)| self.bound(server, host, equation).is_some())
    }
}
