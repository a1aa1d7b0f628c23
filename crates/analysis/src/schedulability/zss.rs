//! `zss`: zero-slack scheduling, sound for sporadic tasks; and `zss:harmonic`, which is not.
//!
//! Policy: fixed priorities by rate (or the problem's own). A job of i that is incomplete Z_i after
//! its release suspends all less critical tasks until it is complete; one that is incomplete at its
//! deadline suspends those of its level too, and goes on below everybody else. A job may execute
//! C_i(z_i) in all. De Niz, Lakshmanan and Rajkumar, RTSS 2009; Huang, Gill and Lu, TECS 2014.
//!
//! What is bounded: the response time of every task at each level up to its own, and chosen: the
//! latest Z_i that keeps it within D_i. The guarantee is Vestal's: a job of i meets its deadline in
//! every run in which each job of every j executes for at most C_j(z_i). Only the values C_j(l) of
//! one level l matter for each bound, so that vectors need not have the papers' two values.
//!
//! Workload of j in any window of length w > 0, each job of it complete or demoted by its deadline:
//!
//! W_j(w, C) = N C + min(C, w + D_j - C - N T_j) with N = floor((w + D_j - C) / T_j)
//!
//! R_i(Z) is the least R with, for l = z_i,
//!
//! R = C_i(l) + sum over j in hp(i), z_j >= z_i of W_j(R, C_j(l))
//!   + sum over j in hp(i), z_j < z_i of min(min(R, Z), W_j(min(R, Z), C_j(z_j)))
//!   + sum over j in lp(i), z_j > z_i of W_j(R, C_j(l))
//!
//! and Z_i the largest Z in [0, D_i] with R_i(Z) <= D_i. The last sum: such a j gets the CPU before
//! i while i is suspended for its sake or for another's. For a level l below z_i the same equation
//! with the values of l and the Z_i found bounds the response time in runs of level l.
//!
//! *The carry-in.* That W_j lets a job be under way when the window begins, as late as its deadline
//! allows, is what the published instants lack (noted by Huang, Gill, Lu, RTAS 2012): a less
//! critical task that somebody else's critical job suspended goes on later, and its next job follows
//! at once. The form of W_j is that of Bertogna, Cirinei and Lipari (ECRTS 2005).
//!
//! **`zss:tightened`** (sufficient, too, and accepts more). In the last sum C_j(l) shrinks by what j
//! is sure to have done before its own zero-slack instant, when it cannot get ahead of i:
//! C'_j = max(0, C_j(l) - sure_j) with
//!
//! sure_j = max(0, Z_j - sum over k in hp(j) of W_k(Z_j, C_k(l))
//!               - sum over k in lp(j), z_k > z_j of W_k(Z_j, C_k(l)))
//!
//! This is right only if no k in lp(j) has z_i < z_k <= z_j: such a k suspends i before Z_j but not j,
//! which then runs ahead of i with work that was taken for done. Where there is one, C_j(l) counts in
//! full. Without that condition random sets are refuted (`crate::controls`). Tasks are looked at in
//! the order of falling criticality, because Z_j is needed.
//!
//! **`zss:harmonic`** (unsafe in general) has W_j(w, C) = floor(w / T_j) C + min(C, w mod T_j), no job
//! under way, and the tightening. It stands for the published instants: for periodic tasks released
//! together whose periods divide each other. Table I of Huang, Gill and Lu is such a set: Z_h = 6,
//! accepted; `zss` has Z_h = 4 and does not accept it. Sporadic releases refute it.
//!
//! Assumptions: A1 one CPU, preemptive, no blocking, no overhead. A2 sporadic tasks with D_i <= T_i.
//! A3 a late job goes below everybody else, or is withdrawn. A4 a job is stopped at C_i(z_i).
//! Kind: sufficient, a no means nothing: the worst releases of all others are assumed together. What
//! is called sound here was checked by exhaustive and random search, not proved on paper.
//!
//! With given instants (`Problem::with_zero_slack`) the same bounds decide about these; an earlier
//! instant than the latest one is always as good.
//!
//! The highest Z is found by bisection, since R_i(Z) never falls. For Z = 0 the second sum is empty,
//! so that whether a set is accepted needs no instants but with the tightening. Slow twin:
//! [`crate::oracle::zero_slack_instants`], a linear search over Z with a fixed point that tries every R.

use crate::demand::Bound;
use crate::fixed_priority::{Scratch, hopeless};
use crate::order;
use crate::outcome::{Kind, Outcome, Parameters, Reason, TaskOutcome};
use crate::problem::{Problem, Row, task_id};
use crate::slack::{Form, SlackTables, Tightening};
use vestal_core::order::ClassicOrder;
use vestal_core::{Duration, Level};

/// Sound for sporadic tasks.
const SPORADIC: Form = Form {
    carry_in: true,
    tightening: Tightening::Never,
};

/// Sound for sporadic tasks, too.
const TIGHTENED: Form = Form {
    carry_in: true,
    tightening: Tightening::WhereSound,
};

/// For periodic tasks in phase with harmonic periods.
const HARMONIC: Form = Form {
    carry_in: false,
    tightening: Tightening::WhereSound,
};

/// The answer of `zss`, with response times and zero-slack instants.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    analyse_form(problem, Kind::Sufficient, SPORADIC)
}

/// The answer of `zss:tightened`.
#[must_use]
pub fn analyse_tightened(problem: &Problem) -> Outcome {
    analyse_form(problem, Kind::Sufficient, TIGHTENED)
}

/// The answer of `zss:harmonic`.
#[must_use]
pub fn analyse_harmonic(problem: &Problem) -> Outcome {
    analyse_form(problem, Kind::Unsafe, HARMONIC)
}

/// Whether the condition of `zss` holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    accepts_form(problem, SPORADIC, scratch)
}

/// Whether the condition of `zss:tightened` holds.
#[must_use]
pub fn accepts_tightened(problem: &Problem, scratch: &mut Scratch) -> bool {
    accepts_form(problem, TIGHTENED, scratch)
}

/// Whether the condition of `zss:harmonic` holds.
#[must_use]
pub fn accepts_harmonic(problem: &Problem, scratch: &mut Scratch) -> bool {
    accepts_form(problem, HARMONIC, scratch)
}

/// Whether every task of `problem` has an instant, or gets by with the given one.
pub(crate) fn accepts_form(problem: &Problem, form: Form, scratch: &mut Scratch) -> bool {
    if hopeless(problem).is_some() {
        return false;
    }
    let Scratch { tables, slack, .. } = scratch;
    order::rows_by_urgency(problem, ClassicOrder::RateMonotonic, tables);
    let order = tables.order.as_slice();
    if let Some(given) = problem.zero_slack() {
        slack.given(order, given);
        return (0..order.len()).all(|place| {
            let level = order[place].criticality;
            let instant = slack.instants[place];
            matches!(
                slack.response(order, place, level, instant, form),
                Bound::Found(_)
            )
        });
    }
    if form.tightening == Tightening::Never {
        // The earliest instant is the best, and nobody asks for another one's.
        return (0..order.len()).all(|place| {
            let level = order[place].criticality;
            matches!(
                slack.response(order, place, level, 0, form),
                Bound::Found(_)
            )
        });
    }
    slack.choose(order, form).is_none()
}

/// The outcome of a form of the test.
pub(crate) fn analyse_form(problem: &Problem, kind: Kind, form: Form) -> Outcome {
    let Scratch {
        mut tables,
        mut slack,
        ..
    } = Scratch::default();
    order::rows_by_urgency(problem, ClassicOrder::RateMonotonic, &mut tables);
    let order = tables.order.as_slice();
    let mut tasks = vec![TaskOutcome::default(); order.len()];
    for (priority, row) in (1..).zip(order.iter().rev()) {
        tasks[row.task] = TaskOutcome {
            priority: problem
                .priorities()
                .map_or(Some(priority), |given| given.get(row.task).copied()),
            responses: vec![None; row.criticality + 1],
        };
    }
    let mut why = hopeless(problem);
    if why.is_some() {
        // No bound means anything, and no instant.
        return Outcome::decided(kind, why, tasks);
    }
    match problem.zero_slack() {
        Some(given) => slack.given(order, given),
        None => {
            slack.choose(order, form);
        }
    }
    for (place, row) in order.iter().enumerate() {
        let excess = respond(order, place, form, &mut slack, &mut tasks[row.task]);
        why = why.or(excess);
    }
    let mut instants = vec![Duration::ZERO; order.len()];
    for (row, &instant) in order.iter().zip(&slack.instants) {
        instants[row.task] = Duration::from_nanos(instant);
    }
    let outcome = Outcome::decided(kind, why, tasks);
    Outcome {
        parameters: Parameters {
            zero_slack: Some(instants),
            ..outcome.parameters
        },
        ..outcome
    }
}

/// The bounds of the task at `place` for the levels up to its own, and the first above its deadline.
fn respond(
    order: &[Row],
    place: usize,
    form: Form,
    slack: &mut SlackTables,
    outcome: &mut TaskOutcome,
) -> Option<Reason> {
    let (row, instant) = (&order[place], slack.instants[place]);
    for (level, response) in (0..).map(Level).zip(&mut outcome.responses) {
        match slack.response(order, place, level.index(), instant, form) {
            Bound::Found(nanos) => *response = Some(Duration::from_nanos(nanos)),
            Bound::AtLeast(nanos) => {
                return Some(Reason::ResponseExceedsDeadline {
                    task: task_id(row.task),
                    level,
                    at_least: Duration::from_nanos(nanos),
                    deadline: Duration::from_nanos(row.deadline),
                });
            }
        }
    }
    None
}
