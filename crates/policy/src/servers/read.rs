//! From a file to the core's servers, tasks and devices.

use super::common::{by_level, candidates, number, period_of};
use super::hosts::Hosts;
use super::own::{give, seen, without_pibs};
use super::reading::Reading;
use super::rules::{BottomHalves, LooseTasks, ServerKinds, ServerRules};
use crate::refusal::Refusal;
use vestal_analysis::parameters::ServerParameters;
use vestal_core::{
    DeviceConfiguration, Level, LocalOrder, ServedTask, ServerConfiguration, ServerId, ServerKind,
    Service, Task, TaskId, Wcet,
};
use vestal_workload::diagnostic::quote;
use vestal_workload::model::DeviceArrival;
use vestal_workload::{Diagnostic, TaskSet};

/// Who reads the servers of a file.
#[derive(Clone, Copy)]
pub(crate) struct User<'a> {
    /// The name of a policy or a test.
    pub(crate) name: &'a str,
    /// How it reads them.
    pub(crate) rules: &'a ServerRules,
    /// What is given of them instead of what the file says.
    pub(crate) given: Option<&'a [ServerParameters]>,
}

/// What the core's engine of servers is configured with.
pub(super) struct Read {
    /// The servers of the file; of a file without any, one for each task.
    pub(super) servers: Vec<ServerConfiguration>,
    /// The tasks of the file with their servers, and behind them the bottom halves of the devices.
    pub(super) served: Vec<ServedTask>,
    /// The devices.
    pub(super) devices: Vec<DeviceConfiguration>,
    /// Whom each server may run on behalf of: of one with a period nobody.
    pub(super) serves: Vec<Vec<usize>>,
    /// Whether their order is given, by the file or otherwise.
    pub(super) is_ordered: bool,
    /// What is worth a warning.
    pub(super) warnings: Vec<Diagnostic>,
}

/// The servers, tasks and devices of a set, whose `tasks` have these priorities, as `user` reads them.
///
/// # Errors
/// Everything in the file that servers cannot do, as `user`, a policy or a test, would have it.
pub(super) fn read(
    set: &TaskSet,
    user: User<'_>,
    tasks: &[Task],
    priorities: &[u32],
) -> Result<Read, Refusal> {
    if set.servers.is_empty() && user.rules.loose == LooseTasks::Refused {
        return Ok(one_for_each(set, tasks, priorities));
    }
    let in_file = set.servers.len();
    let mut seen = seen(set, user.rules);
    let is_ordered = user.given.is_some() || seen.servers.iter().any(|one| one.priority.is_some());
    let (of_file, of_others) = match user.rules.bottom_halves {
        BottomHalves::Pibs => (user.given, None),
        BottomHalves::Sporadic => (None, user.given),
    };
    if let Some(given) = of_file {
        give(seen.to_mut(), given)?;
    }
    let set = seen.as_ref();
    let mut reading = Reading::new((set, in_file), user.name);
    let order = reading.priorities();
    let servers = reading.servers(&order);
    let homes = reading.homes();
    let hosts = Hosts::of(set, &order, &homes);
    reading.inheritance(&hosts, &homes);
    match user.rules.kinds {
        ServerKinds::Every => {}
        ServerKinds::Adaptive => reading.adaptive(&homes, &hosts),
    }
    let is_adaptive = user.rules.kinds == ServerKinds::Adaptive;
    if is_adaptive && user.rules.bottom_halves == BottomHalves::Pibs {
        reading.fit_below(&homes);
    }
    let warnings = reading.finish().map_err(Refusal::diagnosed)?;
    let homes = (tasks, priorities, homes.as_slice());
    let found = match user.rules.bottom_halves {
        BottomHalves::Pibs => whole(set, servers, homes, &hosts),
        BottomHalves::Sporadic => {
            let (mut set, mut order) = without_pibs(set, &hosts, &order);
            let given = of_others.map(|given| give(&mut set, given)).transpose()?;
            let mut reading = Reading::new((&set, in_file), user.name);
            if given.is_some() {
                order = reading.priorities();
            }
            let servers = reading.servers(&order);
            if is_adaptive {
                reading.fit_below(homes.2);
            }
            reading.finish().map_err(Refusal::diagnosed)?;
            let hosts = Hosts::of(&set, &order, homes.2);
            whole(&set, servers, homes, &hosts)
        }
    };
    Ok(Read {
        is_ordered,
        warnings,
        ..found?
    })
}

/// All of it, of servers that were read.
fn whole(
    set: &TaskSet,
    servers: Vec<ServerConfiguration>,
    (tasks, priorities, homes): (&[Task], &[u32], &[Option<usize>]),
    hosts: &Hosts,
) -> Result<Read, Refusal> {
    let mut served = served(set, (tasks, priorities), homes, hosts)?;
    let (bottom_halves, devices) = bottom_halves(set, hosts)?;
    served.extend(bottom_halves);
    let places = set.servers.iter().enumerate();
    let serves = places.map(|(place, server)| match period_of(server) {
        Some(_) => Vec::new(),
        None => candidates(set, place),
    });
    Ok(Read {
        servers,
        served,
        devices,
        serves: serves.collect(),
        is_ordered: false,
        warnings: Vec::new(),
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
        serves: vec![Vec::new(); tasks.len()],
        is_ordered: false,
        warnings: Vec::new(),
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
