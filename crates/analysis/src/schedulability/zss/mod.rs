//! `zss`: zero-slack scheduling, proved level by level; `zss:form`, each task by itself; and
//! `zss:harmonic`, which is not sound.
//!
//! Policy: fixed priorities by rate (or the problem's own). A job of i that is incomplete Z_i after
//! its release suspends all less critical tasks until it is complete; one that is incomplete at its
//! deadline suspends those of its level too, and goes on below all others. A job may execute
//! C_i(z_i) in all. De Niz, Lakshmanan and Rajkumar, RTSS 2009; Huang, Gill and Lu, TECS 2014.
//!
//! What is bounded: the response time of every task at each level up to its own, and chosen: the Z_i.
//! The guarantee is Vestal's: a job of i meets its deadline in every run of level l = z_i, that is, in
//! which each job of every j executes for at most C_j(l), at most C_j(z_j) where l is above z_j. Only the
//! values of one level matter for each bound, so that vectors need not have the papers' two values. Each
//! level is proved by itself, in one of two ways, or three; no bound of one is used for another.
//!
//! A job that needs nothing is complete when it is first given the CPU. Until then it is incomplete, and
//! may be critical. Wherever C_j(l) is 0, it stands for 1 below: R_i - 1 units of others leave the job one.
//!
//! Workload of j in any window of length w > 0, each job of it off the CPU r after its release:
//!
//! W_j(w, C, r) = N C + min(C, w + r - C - N T_j) with N = floor((w + r - C) / T_j)
//!
//! **1. No task is suspended: A(l).** With R_j = C_j(l) + sum over hp(j) of ceil(R_j / T_k) C_k(l): if
//! R_j <= Z_j for *every* j, also for those with z_j < l, then no job is critical or late in any run of
//! level l. Proof: take the first instant at which one of j becomes so. Until then the schedule was
//! that of the priorities, and the job was complete R_j <= Z_j after its release. Completions come first
//! at an instant: a contradiction. A(l) implies A(l') for l' < l, whose runs are among those of l.
//!
//! *The trap.* Where `rms` accepts, Z = D is not safe: it asks R_j <= D_j of the tasks of each level in
//! that level's runs only. Less critical ones may be late then, and suspend their like, which carry work
//! in. With (z; C; T; D) = (1; 1, 3; 5; 4), (0; 1; 4; 3), (0; 1; 6; 6) the first task misses at 29.
//!
//! **2. Bounds that bound one another.** Let S be a set of tasks that contains, with each task, all that
//! are as critical or more, and contains all those of level l and above. Numbers R_i <= D_i for i in S are
//! bounds in runs of level l if for each
//!
//! R_i >= C_i(l) + sum over j in hp(i), z_j >= z_i of W_j(R_i, C_j(l), R_j)
//!      + sum over j in hp(i), z_j < z_i of min(w, W_j(w, C_j(l), r_j)) with w = min(R_i, Z_i)
//!      + sum over j in lp(i), z_j > z_i of W_j(R_i, C_j(l), R_j), if R_k > Z_k for one of these j
//!
//! where r_j is R_j in S and D_j outside, where a job is out of the way at its deadline: it then goes
//! below all others. Proof: take the first instant at which a job of some i in S, released at r, is
//! incomplete R_i later. Until then all bounds held, so no task in S was late, and of those only
//! tasks with R_k > Z_k were critical. Who is outside S suspends no task in it: it is less
//! critical than all of S. In [r, r + R_i) the CPU is with the job, or with more urgent tasks, the less
//! critical of them before r + Z_i only; or the job is suspended by a critical one. Of these take
//! the most critical, k: it is neither suspended nor late, so that k runs or a task more urgent, above
//! kappa >= z_i. If k is in hp(i), so is he who runs; else k is in lp(i) and R_k > Z_k. Each W covers what its
//! task does in the window: jobs of S under way at r keep to their bounds, and late jobs outside S run
//! below i and k. So the job got C_i(l): a contradiction.
//!
//! The least such numbers are found from below, all together; a task outside the levels of l and above
//! that has none takes itself and all as critical or less out of S.
//!
//! **3. `zss:tightened`** also lets a level pass by the form below, with its tightening.
//!
//! Which Z: `slack::search` has what is tried. With given ones (`Problem::with_zero_slack`) the same
//! proofs decide about these. An earlier instant need not be as good: A(l) may need the later one.
//!
//! **`zss:form`** proves each task by itself: R_i(Z) is the least R with, for l = z_i,
//!
//! R = C_i(l) + sum over j in hp(i), z_j >= z_i of W_j(R, C_j(l))
//!   + sum over j in hp(i), z_j < z_i of min(min(R, Z), W_j(min(R, Z), C_j(z_j)))
//!   + sum over j in lp(i), z_j > z_i of W_j(R, C_j(l))
//!
//! where W_j(w, C) = W_j(w, C, D_j), and Z_i the largest Z in [0, D_i] with R_i(Z) <= D_i. What it accepts
//! `zss` accepts: its equations have larger terms throughout.
//!
//! *The carry-in.* That W_j lets a job be under way when the window begins, as late as its deadline
//! allows, is what the published instants lack (noted by Huang, Gill, Lu, RTAS 2012): a less
//! critical task that another task's critical job suspended goes on later, and its next job follows
//! at once. The form of W_j is that of Bertogna, Cirinei and Lipari (ECRTS 2005), and so is the use of
//! bounds in it.
//!
//! *The tightening.* In the last sum C_j(l) shrinks by what j is sure to have done before its own
//! zero-slack instant, when it cannot get ahead of i: C'_j = max(0, C_j(l) - sure_j) with
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
//! accepted; `zss:form` has Z_h = 4 and does not accept it. Sporadic releases refute it.
//!
//! Assumptions: A1 one CPU, preemptive, no blocking, no overhead. A2 sporadic tasks with D_i <= T_i.
//! A3 a late job goes below all others, or is dropped. A4 a job is stopped at C_i(z_i).
//! Kind: sufficient, a no means nothing: the worst releases of all others are assumed together, and few
//! instants are tried.
//!
//! Slow twins: `zss::oracle::zero_slack_proves` and `zss::oracle::zero_slack_search` try every
//! R and raise all bounds round by round; `zss::oracle::zero_slack_instants` for the forms. A test
//! runs all there is of small sets: every release pattern, every execution time.

#[cfg(feature = "controls")]
pub(crate) mod control;
#[cfg(feature = "oracle")]
pub mod oracle;
pub(crate) mod slack;

use crate::assumptions::trivially_infeasible;
use crate::demand::Bound;
use crate::fixed_priority::{self, responses_of};
use crate::order;
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::Parameters;
use crate::problem::{Problem, Row};
use crate::schedulability::zss::slack::proof::{Ways, highest};
use crate::schedulability::zss::slack::{Form, SPORADIC, SlackTables, TIGHTENED, Tightening};
use crate::scratch::Scratch;
use crate::tables::Tables;
use vestal_core::Duration;
use vestal_core::order::ClassicOrder;

/// Whether there are instants that keep every guarantee, or the given ones do.
pub(super) fn accepts_levels(problem: &Problem, ways: Ways, scratch: &mut Scratch) -> bool {
    if trivially_infeasible(problem).is_some() {
        return false;
    }
    within(problem, scratch, |order, slack| {
        match &problem.given().zero_slack {
            Some(given) => {
                slack.given(order, given);
                slack.proves(order, ways).is_ok()
            }
            None => slack.search(order, ways),
        }
    })
}

/// Asks about the tasks in their order, and notes whether a search reached its limit.
fn within(
    problem: &Problem,
    scratch: &mut Scratch,
    asked: impl FnOnce(&[Row], &mut SlackTables) -> bool,
) -> bool {
    let Scratch {
        tables,
        own,
        ran_out,
        ..
    } = scratch;
    let slack = own.of::<SlackTables>();
    slack.begin();
    order::rows_by_urgency(problem, ClassicOrder::RateMonotonic, tables);
    let holds = asked(&tables.order, slack);
    *ran_out |= slack.is_undecided();
    holds
}

/// The outcome of a proof level by level. Where it finds no instants, those of the form it has beside
/// it are what a run may try, and their first failure is the reason.
pub(super) fn analyse_levels(problem: &Problem, ways: Ways) -> Outcome {
    let (mut tables, mut slack) = (Tables::default(), SlackTables::default());
    order::rows_by_urgency(problem, ClassicOrder::RateMonotonic, &mut tables);
    let order = tables.order.as_slice();
    let mut tasks = nothing_found(problem, order);
    let why = trivially_infeasible(problem);
    if why.is_some() {
        return Outcome::decided(Kind::Sufficient, why, tasks);
    }
    let form = match ways {
        Ways::Plain => SPORADIC,
        Ways::Tightened => TIGHTENED,
    };
    if let Some(given) = &problem.given().zero_slack {
        slack.given(order, given);
    } else if slack.search(order, ways) {
        slack.move_late(order, ways);
    } else {
        // The last ones that were tried, or as infeasible as all others.
        slack.choose(order, form);
    }
    let why = respond_by_level(order, ways, form, &mut slack, &mut tasks);
    with_instants(
        Outcome::decided(Kind::Sufficient, why, tasks),
        order,
        &slack.instants,
    )
}

/// The bounds of all tasks in the runs of each level up to their own, and the first failure.
fn respond_by_level(
    order: &[Row],
    ways: Ways,
    form: Form,
    slack: &mut SlackTables,
    tasks: &mut [TaskOutcome],
) -> Option<Reason> {
    let quiet = slack.undisturbed_levels(order);
    let mut why = None;
    for level in 0..=highest(order) {
        let proved = if level < quiet {
            slack.plain_responses(order, level)
        } else {
            slack.bounded(order, level)
        };
        let bounds = slack.responses.clone();
        let by_form = match proved {
            Err(excess) if slack.proves_level(order, level, ways).is_err() => {
                let row = &order[excess.position];
                why = why.or(Some(fixed_priority::excess(
                    row,
                    excess.level,
                    excess.bound,
                )));
                continue;
            }
            result => result.is_err(),
        };
        for (position, row) in order.iter().enumerate() {
            if row.criticality < level {
                continue;
            }
            let bound = if by_form {
                slack.response(order, position, level, slack.instants[position], form)
            } else {
                Bound::Found(bounds[position])
            };
            if let Bound::Found(nanos) = bound {
                tasks[row.task].responses[level] = Some(Duration::from_nanos(nanos));
            }
        }
    }
    if why.is_none() {
        // The runs of a level are among those of the next.
        for task in tasks.iter_mut() {
            for level in (1..task.responses.len()).rev() {
                let above = task.responses[level];
                let below = &mut task.responses[level - 1];
                *below = below.or(above);
            }
        }
    }
    why
}

/// Priorities, and no response times yet.
fn nothing_found(problem: &Problem, order: &[Row]) -> Vec<TaskOutcome> {
    let mut tasks = vec![TaskOutcome::default(); order.len()];
    for (priority, row) in (1..).zip(order.iter().rev()) {
        tasks[row.task] = TaskOutcome {
            priority: problem
                .priorities()
                .map_or(Some(priority), |given| given.get(row.task).copied()),
            responses: vec![None; row.criticality + 1],
            ..TaskOutcome::default()
        };
    }
    tasks
}

/// The outcome with these instants of the tasks in their order.
fn with_instants(outcome: Outcome, order: &[Row], instants: &[u64]) -> Outcome {
    let mut by_task = vec![Duration::ZERO; order.len()];
    for (row, &instant) in order.iter().zip(instants) {
        by_task[row.task] = Duration::from_nanos(instant);
    }
    Outcome {
        parameters: Parameters {
            zero_slack: Some(by_task),
            ..outcome.parameters
        },
        ..outcome
    }
}

/// Whether every task of `problem` has an instant, or gets by with the given one.
pub(crate) fn accepts_form(problem: &Problem, form: Form, scratch: &mut Scratch) -> bool {
    if trivially_infeasible(problem).is_some() {
        return false;
    }
    within(problem, scratch, |order, slack| {
        if let Some(given) = &problem.given().zero_slack {
            slack.given(order, given);
        } else if form.tightening == Tightening::Never {
            // The earliest instant is the best, and no other is asked for.
            slack.earliest(order);
        } else {
            return slack.choose(order, form).is_none();
        }
        (0..order.len()).all(|position| slack.passes(order, position, form))
    })
}

/// The outcome of a form of the test.
pub(crate) fn analyse_form(problem: &Problem, kind: Kind, form: Form) -> Outcome {
    let (mut tables, mut slack) = (Tables::default(), SlackTables::default());
    order::rows_by_urgency(problem, ClassicOrder::RateMonotonic, &mut tables);
    let order = tables.order.as_slice();
    let mut tasks = nothing_found(problem, order);
    let mut why = trivially_infeasible(problem);
    if why.is_some() {
        // No bound means anything, and no instant.
        return Outcome::decided(kind, why, tasks);
    }
    match &problem.given().zero_slack {
        Some(given) => slack.given(order, given),
        None => {
            slack.choose(order, form);
        }
    }
    for (position, row) in order.iter().enumerate() {
        let instant = slack.instants[position];
        let (responses, excess) = responses_of(row, row.criticality + 1, |level| {
            slack.response(order, position, level, instant, form)
        });
        tasks[row.task].responses = responses;
        why = why.or(excess);
    }
    with_instants(Outcome::decided(kind, why, tasks), order, &slack.instants)
}
