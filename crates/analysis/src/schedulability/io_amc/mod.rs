//! `ss-rta`, `ss-pibs-rta`, `io-amc-rtb`, `io-amc-ub`, `amc-rtb:servers`, `amc-ub:servers`: sporadic servers and PIBS by fixed
//! priorities, in one mode or in two.
//!
//! What is bounded: how long a server may take, from when its budget is there and wanted, until it has executed as much
//! as it has; and how long a PIBS may take, from its activation on behalf of a server to the end of its burst. The mode
//! rises when a job of a HI task has executed C(LO) and is not done, and returns when no HI job is pending; LO servers
//! have nothing then, or a smaller budget.
//!
//! Equations (Missimer, Missimer and West, 2016). A sporadic server is a periodic task (C, T) to others (Stanovich,
//! Baker, Wang and Gonzalez Harbour, RTAS 2010). A PIBS k with share U on behalf of a server q executes in a window t
//! at most
//!
//! I(k, q, t, l) = (1 + ceil(t / T_q) - U_k(l)) T_q U_k(l), and P(t, l, H) is the sum over all k of the largest for q in H
//! whom k serves; I of no share is 0. With hp(i) the more urgent servers, hip(i) = hp(i) and i:
//!
//! - (1), (10) R = C_i(LO) + sum over hp(i) of ceil(R / T_j) C_j(LO) + P(R, LO, hip(i))
//! - (11) the same with HI; LO PIBS on behalf of HI servers only
//! - (14) R = C_i(HI) + sum over HI of hp(i) of ceil(R / T_j) C_j(HI)
//!   plus sum over LO of hp(i) of ceil(R' / T_j) C_j(LO) + (ceil(R / T_j) - ceil(R' / T_j)) C_j(HI)
//!   plus HI PIBS as in (11) + LO PIBS: P(R', LO, hip(i)) + P(R - R', HI, HI of hip(i)), with R' the (10) that has
//!   min(C_i(LO), C_i(HI)) as its first term
//! - (2), (12), (13), (15) a PIBS p on behalf of s: (2 - U) U T_s instead of C_i, hip(s) instead of hp(i), and all PIBS
//!   but p.
//!
//! (11) to (15) are looked at for whoever has something in HI. Each is to be at most the server's period, and the
//! deadline of its task. Corrections to the paper: R' counts PIBS (its equation 8, as printed, does not), (11) counts a HI
//! PIBS on behalf of LO servers, which it serves in HI as well, degraded LO servers are in all of them, and in HI a LO PIBS
//! is activated for HI servers only ([`vestal_core::server::Pibs`]).
//!
//! Whom a PIBS serves is what [`crate::Server::serves`] says; in the variants `:any`, any server with a period. Priorities
//! are those of the servers, or, if these leave them open ([`crate::Problem::with_free_server_order`]), rate-monotonic ones
//! if they pass, else Audsley's over servers, each with the bursts on its behalf.
//!
//! Assumptions: A1 one CPU, preemptive, no overhead. A2 sporadic servers and PIBS; each task in a sporadic server of its
//! criticality, alone and without bottom halves. A3 D_i <= T_i, T_i at least the server's period, C_i(l) at most its capacity.
//! A4 a task that blocks on a device is not itself bounded; to others its server is. A5 a share never falls with the
//! level for a HI PIBS, never rises for a LO one. A6 at most two levels; for `ss-rta` and `ss-pibs-rta` one.
//!
//! Kind: sufficient. `io-amc-ub` leaves (14) and (15) out, and is a claim only: what it accepts may miss.
//!
//! `ss-rta` is for servers without PIBS and `ss-pibs-rta` for both.
//!
//! `amc-rtb:servers` and `amc-ub:servers` are for servers without PIBS in two modes: what the paper's evaluation calls
//! AMC, "an AMC system containing only Sporadic Servers". Without PIBS, (10) and (11) are its R^LO and R^HI, which have no
//! numbers, and (14) is (9): the RLO* of (8) with (7), in which a HI server has C_i(LO) as the smaller of its capacities. So
//! the former accepts exactly what `io-amc-rtb` accepts of such sets. The latter asks for (10) and (11) only, and
//! is necessary: where a server that its task fills in all modes fails, some run is late. All servers of the level and
//! above release together and as often as they may, and each job executes C(L), as for `amc-ub`; a sporadic server
//! whose job comes a period after the last one has its whole capacity then. A mode that the first job raises stays raised as long
//! as the one that fails is pending. Nothing of the kind is known where a server has more than its task asks for, or goes on with less.
//!
//! All is in whole ns: execution is, so the demand of each PIBS is rounded down.
//!
//! Slow twin: `io_amc::oracle`, which also makes the mistakes that a campaign has to refute.

mod bounds;
#[cfg(feature = "oracle")]
pub mod oracle;
mod order;
mod rows;

use crate::fixed_point::STEPS_MAX;
use crate::outcome::{EquationBound, Kind, Outcome, Reason, ServerOutcome, TaskOutcome, Verdict};
use crate::parameters::{Ratio, ServerBudget, ServerParameters};
use crate::problem::{Phasing, Problem};
use crate::served::Server;
use crate::served_reason::ServedReason;
use crate::sporadic_reason::SporadicReason;
use bounds::{Found, Phase};
use order::{Late, Ordered, Undecided};
use rows::{Rows, Seat};
use vestal_core::{Duration, Level, ServerId, ServerKind};

/// Which of the tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// What its answer is worth.
    pub(crate) kind: Kind,
    /// Whom PIBS serve.
    pub(crate) hosts: Hosts,
    /// What it speaks of.
    pub(crate) scope: Scope,
}

/// Whom a PIBS serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// Those that it says.
    Known,
    /// Any server with a period.
    Any,
}

/// What a test speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Sporadic servers in one mode.
    Servers,
    /// Sporadic servers and PIBS in one mode.
    OneMode,
    /// Both, in each of two modes.
    Steady,
    /// And while the mode rises.
    Rising,
    /// Sporadic servers, in each of two modes.
    ServersSteady,
    /// And while the mode rises.
    ServersRising,
}

impl Scope {
    const fn levels(self) -> usize {
        match self {
            Self::Servers | Self::OneMode => 1,
            Self::Steady | Self::Rising | Self::ServersSteady | Self::ServersRising => 2,
        }
    }

    const fn has_pibs(self) -> bool {
        match self {
            Self::Servers | Self::ServersSteady | Self::ServersRising => false,
            Self::OneMode | Self::Steady | Self::Rising => true,
        }
    }

    const fn rises(self) -> bool {
        match self {
            Self::Rising | Self::ServersRising => true,
            Self::Servers | Self::OneMode | Self::Steady | Self::ServersSteady => false,
        }
    }

    /// The number of the equation in the paper, of a server or of a burst.
    const fn equation(self, is_burst: bool, phase: Phase) -> u8 {
        let first = match (self, phase) {
            (Self::Servers | Self::OneMode, _) => return if is_burst { 2 } else { 1 },
            (_, Phase::Mode0) => 10,
            (_, Phase::Mode1) => 11,
            (Self::ServersSteady | Self::ServersRising, Phase::Rise) => 9,
            (Self::Steady | Self::Rising, Phase::Rise) => 14,
        };
        match (is_burst, phase) {
            (false, _) => first,
            (true, Phase::Mode0 | Phase::Mode1) => first + 2,
            (true, Phase::Rise) => first + 1,
        }
    }
}

/// The test's answer, with the bounds of servers and bursts, and of tasks that are alone in their server.
pub(crate) fn analyse(problem: &Problem, form: Form) -> Outcome {
    let count = problem.tasks().len();
    let outside = |why| Outcome::outside(form.kind, why, count);
    let rows = match Rows::new(problem, form) {
        Ok(rows) => rows,
        Err(why) => return outside(Reason::Served(why)),
    };
    let rises = form.scope.rises();
    let found = match problem.has_free_server_order() {
        true => order::free(&rows, rises),
        false => order::given(&rows, rises),
    };
    match found {
        Ok(found) => {
            let mut outcome = outcome(problem, form, (&rows, &found));
            if form.kind == Kind::Necessary && !is_reached(problem, &rows) {
                outcome.verdict = Verdict::NotProven;
            }
            outcome
        }
        Err(Undecided) => outside(Reason::SearchLimit { steps: STEPS_MAX }),
    }
}

/// Whether runs reach (10) and (11): each server is filled by its task, nobody goes on with less, and all may be released together.
fn is_reached(problem: &Problem, rows: &Rows) -> bool {
    let is_filled = |seat: &Seat| {
        let own = seat.task.map(|task| &problem.rows()[task.index()]);
        own.is_some_and(|row| {
            let needs = |level: usize| match level <= row.criticality {
                true => row.exact_wcet(level),
                false => 0,
            };
            row.period == seat.period && [needs(0), needs(1)] == seat.capacity
        })
    };
    problem.phasing() != Phasing::Restricted && rows.seats.iter().all(is_filled)
}

fn outcome(problem: &Problem, form: Form, (rows, found): (&Rows, &Ordered)) -> Outcome {
    let left = found.priorities.iter().filter(|place| place.is_none());
    let why = match left.count() {
        0 => found.late().map(|late| too_late(form, late)),
        left => Some(SporadicReason::NoServerFits {
            priority: u32::try_from(found.priorities.len() - left + 1).unwrap_or(u32::MAX),
            left,
        }),
    };
    let mut tasks = vec![TaskOutcome::default(); problem.tasks().len()];
    for (seat, judged) in rows.seats.iter().zip(&found.judged) {
        if let (Some(task), Some(judged)) = (seat.task, judged) {
            let own = problem.tasks()[task.index()].criticality.index();
            let responses = judged.own.by_mode().into_iter().take(own + 1);
            tasks[task.index()].responses = responses.map(in_time).collect();
        }
    }
    let servers = servers(problem, form, (rows, found));
    let mut outcome = Outcome::decided(
        form.kind,
        why.map(|why| Reason::Served(ServedReason::Sporadic(why))),
        tasks,
    );
    outcome.parameters.servers = parameters(problem, &servers);
    outcome.with_servers(servers)
}

fn in_time(bound: Option<u64>) -> Option<Duration> {
    bound.map(Duration::from_nanos)
}

fn too_late(form: Form, late: Late) -> SporadicReason {
    SporadicReason::LateByEquation {
        server: late.server,
        on_behalf_of: late.on_behalf_of,
        equation: form.scope.equation(late.on_behalf_of.is_some(), late.phase),
        at_least: Duration::from_nanos(late.at_least),
        limit: Duration::from_nanos(late.limit),
    }
}

/// What was found of each server of the problem.
fn servers(problem: &Problem, form: Form, (rows, found): (&Rows, &Ordered)) -> Vec<ServerOutcome> {
    let mut servers = vec![ServerOutcome::default(); problem.servers().len()];
    let equations = |host: Option<ServerId>, found: &Found| {
        let bounds = found.bounds();
        let bounds = bounds.map(move |(phase, bound)| EquationBound {
            equation: form.scope.equation(host.is_some(), phase),
            on_behalf_of: host,
            bound: in_time(bound.ok()),
        });
        bounds.collect::<Vec<_>>()
    };
    for ((seat, judged), priority) in rows.seats.iter().zip(&found.judged).zip(&found.priorities) {
        let own = &mut servers[seat.server.index()];
        own.priority = *priority;
        if let Some(judged) = judged {
            own.responses = judged.own.by_mode().into_iter().map(in_time).collect();
            own.equations = equations(None, &judged.own);
        }
    }
    for (place, share) in rows.shares.iter().enumerate() {
        let own = &mut servers[share.server.index()];
        let mut by_mode: Vec<Option<u64>> = Vec::new();
        let mut is_complete = true;
        for host in &share.hosts {
            let judged = found.judged[host.seat].as_ref();
            let bursts = judged.map(|judged| judged.bursts.iter());
            let burst = bursts.and_then(|mut bursts| bursts.find(|(of, _)| *of == place));
            let Some((_, burst)) = burst else {
                is_complete = false;
                continue;
            };
            own.equations
                .extend(equations(Some(rows.seats[host.seat].server), burst));
            for (mode, bound) in burst.by_mode().into_iter().enumerate() {
                match by_mode.get_mut(mode) {
                    None => by_mode.push(bound),
                    Some(longest) => *longest = longest.zip(bound).map(|(a, b)| a.max(b)),
                }
            }
        }
        if is_complete {
            own.responses = by_mode.into_iter().map(in_time).collect();
        }
    }
    servers
}

/// What the servers run with, if each has its place.
fn parameters(problem: &Problem, found: &[ServerOutcome]) -> Option<Vec<ServerParameters>> {
    let servers = problem.servers().iter().zip(found);
    servers
        .map(|(server, found)| {
            let is_pibs = matches!(server.configuration.kind, ServerKind::Pibs { .. });
            Some(ServerParameters {
                budget: budget(server)?,
                priority: found.priority.or(is_pibs.then_some(0))?,
            })
        })
        .collect()
}

/// Up to the server's own level.
fn budget(server: &Server) -> Option<ServerBudget> {
    let levels = server.configuration.criticality.up_to_self();
    match &server.configuration.kind {
        ServerKind::Sporadic {
            period, capacity, ..
        } => {
            let at = |level: Level| Duration::from_nanos(capacity.at(level).as_nanos());
            Some(ServerBudget::Capacity {
                period: *period,
                by_level: levels.map(at).collect(),
            })
        }
        ServerKind::Pibs { utilization } => {
            let at = |level: Level| {
                let share = utilization.at(level);
                Ratio {
                    numerator: share.numerator(),
                    denominator: share.denominator(),
                }
            };
            let by_level = levels.map(at).collect();
            Some(ServerBudget::Utilization { by_level })
        }
        ServerKind::Polling { .. }
        | ServerKind::IdlingPeriodic { .. }
        | ServerKind::Deferrable { .. } => None,
    }
}
