//! Servers and PIBS of a problem as plain numbers, if the tests speak of such a problem.

use super::{Form, Hosts};
use crate::problem::{Problem, Row};
use crate::served::{Member, Server};
use crate::served_reason::ServedReason;
use crate::sporadic_reason::SporadicReason;
use vestal_core::{Level, ServerId, ServerKind, TaskId, Utilization};

/// A sporadic server; all times in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    pub(super) server: ServerId,
    /// Larger is more urgent, equal ones by their order.
    pub(super) priority: u32,
    /// T.
    pub(super) period: u64,
    /// By when it has to have its capacity: its period, or the deadline of its task if that is shorter.
    pub(super) limit: u64,
    /// C(0) and C(1); nothing at 1 in a set of one level.
    pub(super) capacity: [u64; 2],
    /// Whether its level is the higher one of two.
    pub(super) is_high: bool,
    /// Its only task, if that blocks on no device: the server's bound is one on its response time.
    pub(super) task: Option<TaskId>,
}

/// A PIBS on behalf of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Host {
    pub(super) seat: usize,
    /// What it executes, by mode.
    pub(super) demand: [Demand; 2],
    /// Whether it may be activated for this server in mode 1.
    pub(super) is_served_high: bool,
}

/// A PIBS.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) server: ServerId,
    pub(super) is_high: bool,
    /// Its share by mode, about.
    about: [f64; 2],
    pub(super) hosts: Vec<Host>,
}

/// What a PIBS with share U = n / d may execute on behalf of a server with period T: T U = a + b / d.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    /// Of the share.
    numerator: i128,
    denominator: i128,
    /// a.
    whole: i128,
    /// b, below d.
    rest: i128,
    /// U b, rounded up: what the second power of U takes off beyond whole parts of d.
    squared: i128,
}

impl Demand {
    fn new(period: u64, share: Utilization) -> Self {
        let (n, d) = (
            i128::from(share.numerator()),
            i128::from(share.denominator()),
        );
        let product = i128::from(period) * n;
        let rest = product % d;
        Self {
            numerator: n,
            denominator: d,
            whole: product / d,
            rest,
            // n b < 2^128: as natural numbers, and the quotient is below 2^64.
            squared: i128::try_from(
                (n.unsigned_abs() * rest.unsigned_abs()).div_ceil(d.unsigned_abs()),
            )
            .unwrap_or(i128::MAX),
        }
    }

    pub(super) const fn is_nothing(&self) -> bool {
        self.numerator == 0
    }

    /// (1 + `periods` - U) T U, rounded down: what it executes in a window in which so many periods begin. All executed is
    /// in whole ns, so nothing is lost by rounding.
    ///
    /// With c periods that is (1 + c) a + ((1 + c) b - n a - U b) / d, and every part is below 2^127 for c and T
    /// up to 2^62 and n, d up to 2^64.
    pub(super) fn in_periods(&self, periods: u64) -> u64 {
        if self.is_nothing() {
            return 0;
        }
        let times = 1 + i128::from(periods);
        let fraction = times * self.rest - self.numerator * self.whole - self.squared;
        let demand = times * self.whole + fraction.div_euclid(self.denominator);
        u64::try_from(demand.max(0)).unwrap_or(u64::MAX)
    }
}

/// How many periods of a server begin in a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    periods: u64,
    /// Of that, 1 + c, and T, about.
    about: [f64; 2],
}

impl Span {
    pub(super) fn new(window: u64, period: u64) -> Self {
        let periods = window.div_ceil(period);
        Self {
            periods,
            about: [1.0 + about(periods), about(period)],
        }
    }

    /// (1 + c - U) T, within some parts in 2^50: nothing large is taken off anything, unless no period begins, where all have the same factor.
    fn about(&self, share: f64) -> f64 {
        let [times, period] = self.about;
        (times - share) * period
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is to be about that")]
const fn about(number: u64) -> f64 {
    number as f64
}

impl Share {
    /// The most that it executes in mode `level` on behalf of one host, of those that count.
    ///
    /// It is U of (1 + c - U) T, and U is that of the share whoever the host is: the largest of these gives the most, rounded down or not. So only those are
    /// computed exactly that are about as large as the largest.
    pub(super) fn most(&self, level: usize, span: impl Fn(&Host) -> Option<Span>) -> u64 {
        /// Far more than what rounding does.
        const CLOSE: f64 = 1.0 - 1e-9;
        let share = self.about[level];
        let all = || {
            let hosts = self.hosts.iter();
            hosts.filter_map(|host| Some((host, span(host)?)))
        };
        let values = all().map(|(_, span)| span.about(share));
        let largest = values.fold(0.0, f64::max) * CLOSE;
        let close = all().filter(|(_, span)| span.about(share) >= largest);
        close
            .map(|(host, span)| host.demand[level].in_periods(span.periods))
            .max()
            .unwrap_or(0)
    }
}

/// All of them.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) seats: Vec<Seat>,
    pub(super) shares: Vec<Share>,
}

impl Rows {
    /// # Errors
    /// What puts the problem outside the test, or is wrong with a server whatever its priority.
    pub(super) fn new(problem: &Problem, form: Form) -> Result<Self, ServedReason> {
        let (found, most) = (problem.levels().count(), form.scope.levels());
        if found > most {
            return Err(ServedReason::Sporadic(SporadicReason::TooManyLevels {
                found,
                most,
            }));
        }
        check_tasks(problem)?;
        let mut seats = Vec::new();
        let mut places = vec![None; problem.servers().len()];
        for (place, (server, id)) in problem
            .servers()
            .iter()
            .zip((0..).map(ServerId))
            .enumerate()
        {
            let seat = seat(problem, id, server).map_err(ServedReason::Sporadic)?;
            if let Some(seat) = seat {
                places[place] = Some(seats.len());
                seats.push(seat);
            }
        }
        let mut shares = Vec::new();
        for (server, id) in problem.servers().iter().zip((0..).map(ServerId)) {
            if let ServerKind::Pibs { utilization } = &server.configuration.kind {
                if !form.scope.has_pibs() {
                    return Err(ServedReason::Sporadic(SporadicReason::HasPibs {
                        server: id,
                    }));
                }
                let at = |level| match level < found {
                    true => utilization.at(Level(u8::from(level > 0))),
                    false => Utilization::ZERO,
                };
                let shares_of = [at(0), at(1)];
                let hosts = hosts_of(server, form.hosts, &places, &seats);
                let share = share(id, server, shares_of, (hosts, &seats));
                shares.push(share.map_err(ServedReason::Sporadic)?);
            }
        }
        Ok(Self { seats, shares })
    }
}

/// Each task is in a server of its criticality that is no PIBS.
fn check_tasks(problem: &Problem) -> Result<(), ServedReason> {
    let homes: Vec<&Server> = problem.servers().iter().collect();
    for row in problem.rows() {
        let task = crate::parameters::task_id(row.task);
        let is_home = |server: &&&Server| server.tasks.iter().any(|member| member.task == task);
        let Some(home) = homes.iter().find(is_home) else {
            return Err(ServedReason::Unserved { task });
        };
        if matches!(home.configuration.kind, ServerKind::Pibs { .. }) {
            return Err(ServedReason::Sporadic(SporadicReason::InPibs { task }));
        }
        if home.configuration.criticality.index() != row.criticality {
            return Err(ServedReason::Sporadic(SporadicReason::OtherCriticality {
                task,
            }));
        }
    }
    Ok(())
}

/// `None` for a PIBS.
fn seat(problem: &Problem, id: ServerId, server: &Server) -> Result<Option<Seat>, SporadicReason> {
    let configuration = &server.configuration;
    let (period, capacity) = match &configuration.kind {
        ServerKind::Sporadic {
            period, capacity, ..
        } => (period.as_nanos(), capacity),
        ServerKind::Pibs { .. } => return Ok(None),
        ServerKind::Polling { .. }
        | ServerKind::IdlingPeriodic { .. }
        | ServerKind::Deferrable { .. } => return Err(SporadicReason::NotSporadic { server: id }),
    };
    let levels = problem.levels().count();
    let at = |level: u8| match usize::from(level) < levels {
        true => capacity.at(Level(level)).as_nanos(),
        false => 0,
    };
    let capacity = [at(0), at(1)];
    let bottom_halves = problem.devices().iter();
    let bottom_halves = bottom_halves.filter(|device| device.server == id).count();
    let task = match server.tasks.as_slice() {
        [] => None,
        [member] if bottom_halves == 0 => Some(member),
        [..] => return Err(SporadicReason::SharedServer { server: id }),
    };
    let row = task.map(|member| &problem.rows()[member.task.index()]);
    if let Some(row) = row {
        fits(id, row, (period, capacity))?;
    }
    let blocks = |member: &Member| !problem.waits(member.task).is_empty();
    Ok(Some(Seat {
        server: id,
        priority: configuration.priority,
        period,
        limit: row.map_or(period, |row| period.min(row.deadline)),
        capacity,
        is_high: configuration.criticality > Level(0),
        task: task
            .filter(|member| !blocks(member))
            .map(|member| member.task),
    }))
}

/// Whether each job of the task finds the whole capacity, and needs no more.
fn fits(
    server: ServerId,
    row: &Row,
    (period, capacity): (u64, [u64; 2]),
) -> Result<(), SporadicReason> {
    let task = crate::parameters::task_id(row.task);
    if row.period < period {
        return Err(SporadicReason::ShortPeriod { task, server });
    }
    let levels = row.wcet.iter().zip(capacity).take(row.criticality + 1);
    let mut levels = levels.zip((0..).map(Level));
    match levels.find(|((needed, capacity), _)| *needed > capacity) {
        None => Ok(()),
        Some((_, level)) => Err(SporadicReason::NeedsMore {
            task,
            server,
            level,
        }),
    }
}

/// The seats on whose behalf a PIBS may run.
fn hosts_of(server: &Server, hosts: Hosts, places: &[Option<usize>], seats: &[Seat]) -> Vec<usize> {
    match hosts {
        Hosts::Known => {
            let named = server.serves.iter();
            named.filter_map(|host| places[host.index()]).collect()
        }
        Hosts::Any => (0..seats.len()).collect(),
    }
}

fn share(
    id: ServerId,
    server: &Server,
    shares: [Utilization; 2],
    (hosts, seats): (Vec<usize>, &[Seat]),
) -> Result<Share, SporadicReason> {
    let is_high = server.configuration.criticality > Level(0);
    let [low, high] = shares;
    let is_sound = match is_high {
        true => !low.exceeds(high),
        false => !high.exceeds(low),
    };
    if !is_sound {
        return Err(SporadicReason::ShareAgainstLevel { server: id });
    }
    let host = |seat: usize| Host {
        seat,
        demand: shares.map(|share| Demand::new(seats[seat].period, share)),
        is_served_high: !high.is_zero() && (is_high || seats[seat].is_high),
    };
    Ok(Share {
        server: id,
        is_high,
        about: shares.map(|share| about(share.numerator()) / about(share.denominator())),
        hosts: hosts.into_iter().map(host).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_testkit::random::Random;

    /// The slow twin computes each exactly. Periods are alike or far apart, some of them multiples of others, so that several hosts are about as good.
    #[test]
    fn the_most_on_behalf_of_one_is_found_though_few_are_computed() {
        let mut random = Random::new(17);
        let (mut ties, mut differ) = (0, 0);
        for round in 0..4_000 {
            let large = round % 4 == 0;
            let unit = if large {
                1 << 40
            } else {
                1 + random.below(1_000)
            };
            let denominator = 1 + random.below(if large { u64::MAX / 2 } else { 100 });
            let numerator = random.below(denominator + 1);
            let share = Utilization::new(numerator, denominator).unwrap();
            let count = 1 + random.below(8);
            let periods: Vec<u64> = (0..count).map(|_| unit * (1 + random.below(12))).collect();
            let hosts = periods.iter().enumerate().map(|(seat, &period)| Host {
                seat,
                demand: [Demand::new(period, share); 2],
                is_served_high: random.below(4) > 0,
            });
            let share = Share {
                server: ServerId(0),
                is_high: true,
                about: [about(numerator) / about(denominator); 2],
                hosts: hosts.collect(),
            };
            let window = unit * random.below(60) + random.below(3);
            let span = |host: &Host| {
                let counts = host.is_served_high;
                counts.then(|| Span::new(window, periods[host.seat]))
            };
            let counted = share.hosts.iter().filter(|host| host.is_served_high);
            let exact =
                |host: &Host| host.demand[1].in_periods(window.div_ceil(periods[host.seat]));
            let each: Vec<u64> = counted.map(exact).collect();
            let most = each.iter().copied().max().unwrap_or(0);
            assert_eq!(share.most(1, span), most, "{each:?}");
            let reached = each.iter().filter(|value| **value == most).count();
            ties += u64::from(reached > 1 && most > 0);
            differ += u64::from(each.iter().any(|value| *value != most));
        }
        assert!(ties > 200 && differ > 2_000, "{ties} {differ}");
    }
}
