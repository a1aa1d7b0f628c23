//! `hsf`: servers by fixed priorities, and tasks inside each by fixed priorities or by deadlines.
//!
//! What is bounded: how long a server may take until it has its capacity, from each of its replenishments on; and the response
//! time of each task whose server goes by fixed priorities, in a run of level l, in which no job of any task of its
//! server executes longer than C_j(l). Servers keep tasks of different servers apart, whatever they do.
//!
//! **Servers** (Davis and Burns, RTSS 2005; the jitter of deferrable ones by Strosnider, Lehoczky and Sha 1995), over
//! the more urgent ones,
//!
//! R_s = Theta_s + sum of ceil((R_s + J_x) / Pi_x) Theta_x <= Pi_s, J_x = Pi_x - Theta_x if x is deferrable, else 0.
//!
//! **Tasks** need what their server supplies for sure (periodic resource model of Shin and Lee, RTSS 2003): in the worst case its
//! budget is used up just before the release and comes back at the latest, so that nothing is supplied for B = 2 (Pi - Theta), and then
//! Theta in each period. A polling server may have discarded its budget just before: B = 2 (Pi - Theta) + Theta.
//!
//! - Fixed priorities: the least t by which C_i(l) + sum of ceil(t / T_j) C_j(l) over the more urgent tasks of the server is
//!   supplied is at most D_i. x is supplied after B + (ceil(x / Theta) - 1) (Pi - Theta) + x.
//! - Deadlines: the jobs that are released and due within any window need at most what is supplied in it, each at the highest level of
//!   any task of the server. With U the sum of C_i / T_i below a = Theta / Pi, windows up to
//!   (sum of U_i (T_i - D_i) + a B) / (a - U) are looked at; without that the answer is *not proven*.
//!
//! Assumptions: A1 one CPU, preemptive, no overhead. A2 sporadic tasks with D_i <= T_i, each in a server. A3
//! polling, idling periodic and deferrable servers with the same budget in every mode. A4 no devices, no blocking.
//!
//! Kind: sufficient. Where all tasks of a server stay far below its capacity the blackout is pessimistic: `hsf:davis-burns` has the full form of Davis
//! and Burns for fixed priorities inside, which knows what the more urgent servers are (`full`).
//!
//! The bound for polling servers with the blackout of the others is refuted, and so are servers without the jitter of deferrable
//! ones: `tests/schedulability/hsf`.
//!
//! Slow twin: `hsf::oracle` draws the worst supply tick by tick.

mod full;
mod inside;
mod least;
#[cfg(feature = "oracle")]
pub mod oracle;
mod supply;

use crate::assumptions::trivially_infeasible;
use crate::fixed_point::{STEPS_MAX, Unbounded};
use crate::outcome::{Kind, Outcome, Reason, ServerOutcome, TaskOutcome};
use crate::problem::Problem;
use crate::served_reason::ServedReason;
use supply::Resource;
use vestal_core::{Duration, LocalOrder, ServerId, TaskId};

/// What is known of the time in which a server supplies something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The periodic resource model: its own period and capacity.
    Supply,
    /// The full form of Davis and Burns, for fixed priorities inside: the more urgent servers, too.
    Full,
}

/// Which capacities servers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budgets {
    /// Those that are given.
    Given,
    /// The least with which their tasks meet their deadlines by the periodic resource model; the test chooses them.
    Least,
}

/// The test's answer, with response times of servers and of the tasks that go by fixed priorities.
#[must_use]
pub fn analyse(problem: &Problem, form: Form, budgets: Budgets) -> Outcome {
    let count = problem.tasks().len();
    let mut resources = match resources(problem) {
        Ok(resources) => resources,
        Err(why) => return Outcome::outside(Kind::Sufficient, Reason::Served(why), count),
    };
    if budgets == Budgets::Least {
        least::give(problem, &mut resources);
    }
    let mut why = trivially_infeasible(problem);
    let mut tasks = vec![TaskOutcome::default(); count];
    let mut servers = Vec::new();
    for (position, id) in (0..resources.len()).zip((0..).map(ServerId)) {
        let (found, late) = server(problem, &resources, position, id);
        servers.push(found);
        why = why.or(late);
        let inside = match problem.servers()[position].configuration.order {
            LocalOrder::FixedPriority => {
                fixed_priorities(problem, (&resources, position), form, &mut tasks)
            }
            LocalOrder::EarliestDeadline => {
                let members = &problem.servers()[position].tasks;
                inside::obstacle(problem, id, &resources[position], members)
            }
        };
        why = why.or(inside);
    }
    match why {
        Some(why @ Reason::SearchLimit { .. }) => Outcome::outside(Kind::Sufficient, why, count),
        why => {
            let mut outcome = Outcome::decided(Kind::Sufficient, why, tasks);
            if budgets == Budgets::Least {
                outcome.parameters.servers = Some(least::parameters(problem, &resources));
            }
            outcome.with_servers(servers)
        }
    }
}

/// The servers, if the test speaks of such a problem.
fn resources(problem: &Problem) -> Result<Vec<Resource>, ServedReason> {
    if !problem.devices().is_empty() {
        return Err(ServedReason::Devices);
    }
    let servers = problem.servers();
    let is_served = |task: &TaskId| {
        let mut members = servers.iter().flat_map(|server| &server.tasks);
        members.any(|member| member.task == *task)
    };
    let mut tasks = (0..).map(TaskId).take(problem.tasks().len());
    if let Some(task) = tasks.find(|task| !is_served(task)) {
        return Err(ServedReason::Unserved { task });
    }
    let servers = (0..).map(ServerId).zip(servers);
    servers
        .map(|(id, server)| Resource::new(problem, id, server))
        .collect()
}

/// What is found of a server, and whether it is late. Nobody is harmed by one without tasks.
fn server(
    problem: &Problem,
    resources: &[Resource],
    position: usize,
    id: ServerId,
) -> (ServerOutcome, Option<Reason>) {
    let (server, resource) = (&problem.servers()[position], &resources[position]);
    let response = supply::response(resources, position);
    let found = ServerOutcome {
        priority: Some(server.configuration.priority),
        responses: vec![response.ok().map(Duration::from_nanos); problem.levels().count()],
        equations: Vec::new(),
    };
    let why = response.err().map(|why| match why {
        Unbounded::AtLeast(at_least) => Reason::Served(ServedReason::LateServer {
            server: id,
            at_least: Duration::from_nanos(at_least),
            period: Duration::from_nanos(resource.period),
        }),
        Unbounded::Undecided => Reason::SearchLimit { steps: STEPS_MAX },
    });
    (found, why.filter(|_| !server.tasks.is_empty()))
}

/// Fills in the response times of a server's tasks; the first that is too long.
fn fixed_priorities(
    problem: &Problem,
    (resources, position): (&[Resource], usize),
    form: Form,
    tasks: &mut [TaskOutcome],
) -> Option<Reason> {
    let members = &problem.servers()[position].tasks;
    let mut why = None;
    for (place, member) in members.iter().enumerate() {
        let responses = match form {
            Form::Supply => inside::responses(problem, &resources[position], members, place),
            Form::Full => full::responses(problem, (resources, position), members, place),
        };
        for (level, response) in responses.iter().enumerate() {
            if let Err(unbounded) = response {
                why = why.or_else(|| Some(inside::late(member, level, *unbounded, problem)));
            }
        }
        tasks[member.task.index()].responses = responses
            .into_iter()
            .map(|response| response.ok().map(Duration::from_nanos))
            .collect();
    }
    why
}
