//! What a test is asked about servers.

use super::common::{given_ranks, number, rate_monotonic};
use super::read::{Read, User, read};
use super::rules::ServerOrder;
use crate::refusal::Refusal;
use crate::setup::Given;
use vestal_analysis::{Device, DeviceArrival, Member, Problem, Server, Wait};
use vestal_core::{DeviceId, ServedTask, ServerId, TaskId};
use vestal_workload::TaskSet;
use vestal_workload::model::{DeviceArrival as Arrival, TaskSpec};

/// `problem`, whose tasks are those of `set`, in the servers of the file and with its devices: what a policy would
/// run that reads them. Priorities inside servers are those given, whatever the test takes.
///
/// # Errors
/// Everything in the file that servers cannot do, as `user`, a test, would have it.
pub(crate) fn in_servers(
    problem: Problem,
    set: &TaskSet,
    user: User<'_>,
    given: &Given,
) -> Result<Problem, Refusal> {
    let tasks = problem.tasks();
    let priorities = match given.all().priorities {
        Some(priorities) => given_ranks(&priorities),
        None => rate_monotonic(tasks),
    };
    let Read {
        servers,
        served,
        serves,
        is_ordered,
        ..
    } = read(set, user, tasks, &priorities)?;
    let of_file = served.get(..tasks.len()).unwrap_or_default();
    let bottom_halves = served.get(tasks.len()..).unwrap_or_default();
    let servers = servers.iter().zip(serves).enumerate();
    let servers = servers.map(|(place, (configuration, serves))| Server {
        configuration: *configuration,
        tasks: members(of_file, place),
        serves: serves.into_iter().filter_map(number).collect(),
    });
    let devices = set.devices.iter().zip(bottom_halves);
    let devices = devices.map(|(device, half)| Device {
        server: half.server,
        cost: device.cost,
        arrival: match device.arrival {
            Arrival::Requested => DeviceArrival::Requested,
            Arrival::Periodic { period } => DeviceArrival::Periodic { period },
            Arrival::Sporadic { period } => DeviceArrival::Sporadic { period },
            Arrival::Burst { period, burst } => DeviceArrival::Burst { period, burst },
        },
        on_behalf_of: half.on_behalf_of,
    });
    let (servers, devices) = (servers.collect(), devices.collect());
    let waits = set.tasks.iter().map(|task| waits(set, task)).collect();
    let problem = problem
        .with_servers(servers, devices)
        .and_then(|new| new.with_waits(waits))
        .map_err(|error| Refusal::input(error.to_string()))?;
    let is_free = !is_ordered && user.rules.order == ServerOrder::Found;
    Ok(match is_free {
        true => problem.with_free_server_order(),
        false => problem,
    })
}

/// The tasks of a server, in the order of the file.
fn members(served: &[ServedTask], server: usize) -> Vec<Member> {
    let tasks = served.iter().zip((0..).map(TaskId));
    let own = tasks.filter(|(task, _)| task.server.index() == server);
    own.map(|(served, task)| Member {
        task,
        priority: served.priority,
        on_behalf_of: served.on_behalf_of,
    })
    .collect()
}

/// What the jobs of a task wait for.
fn waits(set: &TaskSet, task: &TaskSpec) -> Vec<Wait> {
    let device = |name: &str| {
        let place = set.devices.iter().position(|device| device.name == name)?;
        number(place).map(|ServerId(number)| DeviceId(number))
    };
    let waits = task.io.iter().map(|io| {
        Some(Wait {
            after: io.after,
            device: device(&io.device)?,
            events: io.events,
        })
    });
    // Every device that a valid file names is in it.
    waits.flatten().collect()
}
