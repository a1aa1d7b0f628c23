//! From `[[server]]`, `[[device]]` and `io` of a file to the core's configuration of servers, and to what tests
//! are asked about them: one reading for both.
//!
//! Order of servers and, inside each, of tasks: the priorities of the file, or rate-monotonically where it gives
//! none; equal ones as they stand in the file. Bottom halves go before the tasks of their server.

mod asked;
mod common;
mod hosts;
mod read;
mod reading;

use crate::configuration::Servers;
use crate::refusal::Refusal;
use crate::setup::{Origin, Setup};
use vestal_core::TaskConfiguration;
use vestal_workload::TaskSet;

pub(crate) use asked::in_servers;
pub use reading::REPLENISHMENTS;

/// The priorities of the tasks inside their servers, all different, and where they come from: given, or `None`.
pub(crate) fn priorities(setup: &Setup<'_>) -> (Vec<u32>, Option<Origin>) {
    match setup.choose(|all| all.priorities.as_ref()) {
        Some((given, by)) => (common::given_ranks(&given), Some(by)),
        None => (common::rate_monotonic(setup.tasks), None),
    }
}

/// What the servers of a set are called that policies and tests see: those of the file, or, without any, one for
/// each task.
#[must_use]
pub fn server_names(set: &TaskSet) -> Vec<String> {
    match set.servers.is_empty() {
        true => set.tasks.iter().map(|task| task.name.clone()).collect(),
        false => set
            .servers
            .iter()
            .map(|server| server.name.clone())
            .collect(),
    }
}

/// The servers, tasks and devices of a set, whose tasks have these priorities. A set without servers gets one for each task.
///
/// # Errors
/// Everything in the file that servers cannot do, as `user`, a policy, would have it.
pub(crate) fn of_set(
    setup: &Setup<'_>,
    user: &str,
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
    })
}
