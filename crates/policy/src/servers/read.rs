//! From a file to the core's servers, tasks and devices.

use super::common::{by_level, number, period_of};
use super::hosts::Hosts;
use super::reading::Reading;
use crate::refusal::Refusal;
use vestal_core::{
    DeviceConfiguration, Level, LocalOrder, ServedTask, ServerConfiguration, ServerId, ServerKind,
    Service, Task, TaskId, Wcet,
};
use vestal_workload::TaskSet;
use vestal_workload::diagnostic::quote;
use vestal_workload::model::DeviceArrival;

/// What the core's engine of servers is configured with.
pub(super) struct Read {
    /// The servers of the file; of a file without any, one for each task.
    pub(super) servers: Vec<ServerConfiguration>,
    /// The tasks of the file with their servers, and behind them the bottom halves of the devices.
    pub(super) served: Vec<ServedTask>,
    /// The devices.
    pub(super) devices: Vec<DeviceConfiguration>,
}

/// The servers, tasks and devices of a set, whose `tasks` have these priorities. A set without servers gets one for
/// each task.
///
/// # Errors
/// Everything in the file that servers cannot do, as `user`, a policy or a test, would have it.
pub(super) fn read(
    set: &TaskSet,
    user: &str,
    tasks: &[Task],
    priorities: &[u32],
) -> Result<Read, Refusal> {
    if set.servers.is_empty() {
        return Ok(one_for_each(set, tasks, priorities));
    }
    let mut reading = Reading::new(set, user);
    let order = reading.priorities();
    let servers = reading.servers(&order);
    let homes = reading.homes();
    let hosts = Hosts::of(set, &order, &homes);
    reading.inheritance(&hosts, &homes);
    reading.finish().map_err(Refusal::diagnosed)?;
    let mut served = served(set, (tasks, priorities), &homes, &hosts)?;
    let (bottom_halves, devices) = bottom_halves(set, &hosts)?;
    served.extend(bottom_halves);
    Ok(Read {
        servers,
        served,
        devices,
    })
}

/// A deferrable server for each task, with its period and its budget: nothing that one task does costs another
/// more than that. Above its level it has no more than at it, whatever the task's `degraded` says.
fn one_for_each(set: &TaskSet, tasks: &[Task], priorities: &[u32]) -> Read {
    let servers = tasks.iter().zip(priorities).map(|(task, priority)| {
        let Task {
            period,
            degraded,
            criticality,
            ..
        } = *task;
        let own = task.own_wcet();
        let whole = Service::supplied_during(period);
        let capacity = |level: Level| match level <= criticality {
            true => own.min(whole),
            false => degraded.unwrap_or(Service::ZERO).min(own).min(whole),
        };
        ServerConfiguration {
            kind: ServerKind::Deferrable {
                period,
                capacity: by_level(set, capacity),
            },
            priority: *priority,
            criticality,
            order: LocalOrder::FixedPriority,
        }
    });
    let served = tasks.iter().zip(0..).map(|(task, number)| ServedTask {
        task: *task,
        server: ServerId(number),
        priority: 1,
        on_behalf_of: None,
    });
    Read {
        servers: servers.collect(),
        served: served.collect(),
        devices: Vec::new(),
    }
}

/// The tasks of the file with their servers.
fn served(
    set: &TaskSet,
    (tasks, priorities): (&[Task], &[u32]),
    homes: &[Option<usize>],
    hosts: &Hosts,
) -> Result<Vec<ServedTask>, Refusal> {
    let mut served = Vec::with_capacity(tasks.len());
    for ((task, home), priority) in tasks.iter().zip(homes).zip(priorities) {
        let server = home.and_then(number);
        let server = server.ok_or_else(|| Refusal::bug("a task has no server"))?;
        let home = server.index();
        served.push(ServedTask {
            task: *task,
            server,
            priority: *priority,
            on_behalf_of: Hosts::for_pibs(set, home, hosts.of_servers.get(home).copied().flatten()),
        });
    }
    Ok(served)
}

/// The bottom halves of the devices, which stand behind the tasks of the file, and who of them is whose. The first
/// device's is the most urgent one, and due a period of the device after it began, or of its server.
fn bottom_halves(
    set: &TaskSet,
    hosts: &Hosts,
) -> Result<(Vec<ServedTask>, Vec<DeviceConfiguration>), Refusal> {
    let mut halves = Vec::with_capacity(set.devices.len());
    let mut devices = Vec::with_capacity(set.devices.len());
    let last = u32::try_from(set.tasks.len() + set.devices.len()).unwrap_or(u32::MAX);
    for ((place, device), priority) in set.devices.iter().enumerate().zip((0..=last).rev()) {
        let host = hosts.of_devices.get(place).copied().flatten();
        let own = set.servers.get(device.server);
        let inherited = host.and_then(|host| period_of(set.servers.get(host)?));
        let period = match device.arrival {
            DeviceArrival::Requested => inherited,
            DeviceArrival::Periodic { period }
            | DeviceArrival::Sporadic { period }
            | DeviceArrival::Burst { period, .. } => Some(period),
        };
        let (Some(own), Some(period), Some(server), Ok(number)) = (
            own,
            period,
            number(device.server),
            u16::try_from(set.tasks.len() + place),
        ) else {
            return Err(Refusal::input(format!(
                "the bottom half of {} is one task too many",
                quote(&device.name)
            )));
        };
        let task = Task::new(own.criticality, period, period, Wcet::constant(device.cost));
        let task = task.map_err(|error| Refusal::bug(error.to_string()))?;
        devices.push(DeviceConfiguration {
            bottom_half: TaskId(number),
        });
        halves.push(ServedTask {
            task,
            server,
            priority,
            on_behalf_of: Hosts::for_pibs(set, device.server, host),
        });
    }
    Ok((halves, devices))
}
