//! From `[[server]]`, `[[device]]` and `io` of a file to the core's configuration of servers, and to what tests
//! are asked about them: one reading for both.
//!
//! Order of servers and, inside each, of tasks: the priorities of the file, or rate-monotonically where it gives
//! none; equal ones as they stand in the file. Bottom halves go before the tasks of their server.

mod adaptive;
mod asked;
mod common;
mod hosts;
mod own;
mod read;
mod reading;
mod rules;

use crate::configuration::Servers;
use crate::refusal::Refusal;
use crate::setup::{Origin, Setup};
use std::sync::Arc;
use vestal_core::{Modes, TaskConfiguration};
use vestal_workload::{Diagnostics, TaskSet};

pub(crate) use asked::in_servers;
pub use own::server_names;
pub(crate) use own::with_own;
pub(crate) use read::User;
pub use reading::REPLENISHMENTS;
pub use rules::{BottomHalves, LooseTasks, ServerKinds, ServerOrder, ServerRules};

/// The priorities of the tasks inside their servers, all different, and where they come from: given, or `None`.
pub(crate) fn priorities(setup: &Setup<'_>) -> (Vec<u32>, Option<Origin>) {
    match setup.choose(|all| all.priorities.as_ref()) {
        Some((given, by)) => (common::given_ranks(&given), Some(by)),
        None => (common::rate_monotonic(setup.tasks), None),
    }
}

/// What `user`, a policy with these rules, has against the servers of a set, or else warns of.
pub(crate) fn said(set: &TaskSet, user: User<'_>) -> Option<Diagnostics> {
    let tasks = set.to_tasks(user.name).ok()?;
    match read::read(set, user, &tasks, &common::rate_monotonic(&tasks)) {
        Ok(read) => {
            let source = Arc::clone(&set.origin.source);
            (!read.warnings.is_empty()).then(|| Diagnostics::from_list(source, read.warnings))
        }
        Err(refusal) => refusal.found.map(|found| *found),
    }
}

/// The servers, tasks and devices of a set, whose tasks have these priorities, as `user`, a policy, reads them.
///
/// # Errors
/// Everything in the file that servers cannot do, as it would have it.
pub(crate) fn of_set(
    setup: &Setup<'_>,
    user: User<'_>,
    priorities: &[u32],
) -> Result<Servers, Refusal> {
    let read = read::read(setup.set, user, setup.tasks, priorities)?;
    let mut tasks = setup.with_priorities(&[]);
    let bottom_halves = read.served.iter().skip(tasks.len());
    let bottom_halves = bottom_halves.map(|half| TaskConfiguration::new(half.task, 0));
    tasks.extend(bottom_halves.collect::<Vec<_>>());
    for (entry, task) in tasks.iter_mut().zip(&read.served) {
        let server = read.servers.get(task.server.index());
        entry.priority = server.map_or(0, |server| server.priority);
    }
    Ok(Servers {
        tasks,
        names: server_names(setup.set),
        servers: read.servers,
        served: read.served,
        devices: read.devices,
        levels: setup.levels,
        modes: Modes::Requested,
    })
}
