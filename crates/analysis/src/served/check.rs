//! Whether servers and devices are for a set of tasks.

use super::{Device, DeviceArrival, Server, Wait};
use crate::parameters::task_id;
use vestal_core::model::TASKS_MAX;
use vestal_core::server::{ByLevel, REPLENISHMENTS_MIN};
use vestal_core::time::HORIZON_NANOS;
use vestal_core::{
    DeviceId, Duration, Level, LevelSet, ServerId, ServerKind, Service, TaskId, Utilization,
};

/// Why servers and devices are not for the tasks of a problem. Places count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServedError {
    /// More servers, or tasks and devices, than the core has numbers for.
    #[error("{found} servers, or tasks and devices, at most {} are supported", TASKS_MAX - 1)]
    TooMany {
        /// How many of the larger kind there were.
        found: usize,
    },
    /// Something is wrong with a server.
    #[error("server {}: {fault}", .server.0)]
    Server {
        /// Which one.
        server: ServerId,
        /// What is wrong with it.
        fault: ServerFault,
    },
    /// Something is wrong with a device.
    #[error("device {}: {fault}", .device.0)]
    Device {
        /// Which one.
        device: DeviceId,
        /// What is wrong with it.
        fault: DeviceFault,
    },
    /// Not one list of waits for each task.
    #[error("lists of waits for {found} tasks, but there are {tasks}")]
    WaitLists {
        /// How many lists there were.
        found: usize,
        /// How many tasks there are.
        tasks: usize,
    },
    /// A task waits for a device that there is not.
    #[error("task {} waits for device {}, which does not exist", .task.0, .device.0)]
    UnknownDevice {
        /// Which task.
        task: TaskId,
        /// The device it names.
        device: DeviceId,
    },
    /// A task waits for no event.
    #[error("task {} waits for no event of device {}", .task.0, .device.0)]
    NoEvents {
        /// Which task.
        task: TaskId,
        /// For which device.
        device: DeviceId,
    },
}

/// What is wrong with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerFault {
    /// Its criticality is not a level of the set.
    #[error("its criticality {} is not among the levels", .0.0)]
    UnknownLevel(Level),
    /// A period of zero.
    #[error("its period is zero")]
    NoPeriod,
    /// A period that no world lasts ([`HORIZON_NANOS`]).
    #[error("its period is above {HORIZON_NANOS} ns, the longest time supported")]
    PeriodBeyondHorizon,
    /// No capacity at a level up to its own; of a PIBS no utilisation at the lowest one.
    #[error("it has no budget at level {}", .0.0)]
    NoBudget(Level),
    /// Up to its own level the capacity falls with the level.
    #[error("its capacity falls at level {}", .0.0)]
    CapacityFalls(Level),
    /// Above its own level the capacity is more than at it.
    #[error("its degraded budget at level {} is above its capacity", .0.0)]
    DegradedAboveCapacity(Level),
    /// A capacity is above the period.
    #[error("its capacity is above its period at level {}", .0.0)]
    CapacityAbovePeriod(Level),
    /// The replenishment list of a sporadic server is shorter than [`REPLENISHMENTS_MIN`].
    #[error("its list has room for less than {REPLENISHMENTS_MIN} replenishments")]
    ShortList,
    /// It serves a task that there is not.
    #[error("task {}, which it serves, does not exist", .0.0)]
    UnknownTask(TaskId),
    /// It serves a task that it, or a server before it, serves already.
    #[error("task {} is in a server already", .0.0)]
    TaskServedTwice(TaskId),
    /// It has a period of its own and runs on behalf of others.
    #[error("it has a period of its own and serves other servers")]
    ServesWithPeriod,
    /// A PIBS is to serve a server that does not exist or is a PIBS, or the same one twice.
    #[error("server {}, which it serves, has no period of its own, or is named twice", .0.0)]
    NothingToInherit(ServerId),
    /// A PIBS that may serve nobody, or only servers of which its share at the lowest level is below a nanosecond.
    #[error("there is no server on whose behalf it has a capacity")]
    ServesNobody,
    /// One of its tasks runs on behalf of a server that it does not serve; or of none, and it is a PIBS.
    #[error("task {} does not run on behalf of a server that it serves", .0.0)]
    NotOnBehalf(TaskId),
}

/// What is wrong with a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceFault {
    /// Its server does not exist.
    #[error("its server {} does not exist", .0.0)]
    UnknownServer(ServerId),
    /// A bottom half that does nothing.
    #[error("its bottom half costs nothing")]
    NoCost,
    /// A period of zero.
    #[error("its period is zero")]
    NoPeriod,
    /// A period that no world lasts ([`HORIZON_NANOS`]).
    #[error("its period is above {HORIZON_NANOS} ns, the longest time supported")]
    PeriodBeyondHorizon,
    /// A burst of no event.
    #[error("its burst has no event")]
    NoBurst,
    /// It runs on behalf of a server that its own does not serve; or of none, and that is a PIBS.
    #[error("it does not run on behalf of a server that its own serves")]
    NotOnBehalf,
}

/// Whether they are for `tasks` tasks. O(servers^2 + tasks + devices * servers), by the lists of whom PIBS serve.
pub(crate) fn check_servers(
    servers: &[Server],
    devices: &[Device],
    tasks: usize,
    levels: LevelSet,
) -> Result<(), ServedError> {
    let found = servers.len().max(tasks + devices.len());
    if found >= TASKS_MAX {
        return Err(ServedError::TooMany { found });
    }
    let mut taken = vec![false; tasks];
    for (server, number) in servers.iter().zip(0..) {
        let check = check_budget(server, levels)
            .and_then(|()| check_hosts(server, servers))
            .and_then(|()| check_tasks(server, &mut taken));
        check.map_err(|fault| ServedError::Server {
            server: ServerId(number),
            fault,
        })?;
    }
    for (device, number) in devices.iter().zip(0..) {
        check_device(device, servers).map_err(|fault| ServedError::Device {
            device: DeviceId(number),
            fault,
        })?;
    }
    Ok(())
}

fn check_budget(server: &Server, levels: LevelSet) -> Result<(), ServerFault> {
    let configuration = &server.configuration;
    let own = configuration.criticality;
    if own > levels.highest() {
        return Err(ServerFault::UnknownLevel(own));
    }
    match &configuration.kind {
        ServerKind::Pibs { utilization } if utilization.at(Level::LOWEST).is_zero() => {
            Err(ServerFault::NoBudget(Level::LOWEST))
        }
        ServerKind::Pibs { .. } => Ok(()),
        ServerKind::Sporadic { replenishments, .. } if *replenishments < REPLENISHMENTS_MIN => {
            Err(ServerFault::ShortList)
        }
        ServerKind::Polling { period, capacity }
        | ServerKind::IdlingPeriodic { period, capacity }
        | ServerKind::Deferrable { period, capacity }
        | ServerKind::Sporadic {
            period, capacity, ..
        } => check_capacity(*period, capacity, (own, levels)),
    }
}

fn check_capacity(
    period: Duration,
    capacity: &ByLevel<Service>,
    (own, levels): (Level, LevelSet),
) -> Result<(), ServerFault> {
    if period.is_zero() {
        return Err(ServerFault::NoPeriod);
    }
    if period.as_nanos() > HORIZON_NANOS {
        return Err(ServerFault::PeriodBeyondHorizon);
    }
    let mut last = Service::ZERO;
    for level in levels.iter() {
        let value = capacity.at(level);
        if value.exceeds(period) {
            return Err(ServerFault::CapacityAbovePeriod(level));
        }
        match level <= own {
            true if value.is_zero() => return Err(ServerFault::NoBudget(level)),
            true if value < last => return Err(ServerFault::CapacityFalls(level)),
            true => last = value,
            false if value > last => return Err(ServerFault::DegradedAboveCapacity(level)),
            false => {}
        }
    }
    Ok(())
}

/// Whom it serves.
fn check_hosts(server: &Server, servers: &[Server]) -> Result<(), ServerFault> {
    let ServerKind::Pibs { utilization } = &server.configuration.kind else {
        return match server.serves.is_empty() {
            true => Ok(()),
            false => Err(ServerFault::ServesWithPeriod),
        };
    };
    let lowest: Utilization = utilization.at(Level::LOWEST);
    let mut named = vec![false; servers.len()];
    let mut has_capacity = false;
    for &host in &server.serves {
        let period = servers
            .get(host.index())
            .and_then(|host| host.configuration.kind.period());
        match (period, named.get_mut(host.index())) {
            (Some(period), Some(named)) if !*named => {
                *named = true;
                has_capacity |= !lowest.of_floor(period).is_zero();
            }
            _ => return Err(ServerFault::NothingToInherit(host)),
        }
    }
    match has_capacity {
        true => Ok(()),
        false => Err(ServerFault::ServesNobody),
    }
}

fn check_tasks(server: &Server, taken: &mut [bool]) -> Result<(), ServerFault> {
    for member in &server.tasks {
        let Some(taken) = taken.get_mut(member.task.index()) else {
            return Err(ServerFault::UnknownTask(member.task));
        };
        if std::mem::replace(taken, true) {
            return Err(ServerFault::TaskServedTwice(member.task));
        }
        if !is_on_behalf(server, member.on_behalf_of) {
            return Err(ServerFault::NotOnBehalf(member.task));
        }
    }
    Ok(())
}

/// Whether something in `server` may run on behalf of `host`: in a PIBS of one that it serves, else of nobody.
fn is_on_behalf(server: &Server, host: Option<ServerId>) -> bool {
    match (&server.configuration.kind, host) {
        (ServerKind::Pibs { .. }, Some(host)) => server.serves.contains(&host),
        (ServerKind::Pibs { .. }, None) => false,
        (_, host) => host.is_none(),
    }
}

fn check_device(device: &Device, servers: &[Server]) -> Result<(), DeviceFault> {
    let Some(server) = servers.get(device.server.index()) else {
        return Err(DeviceFault::UnknownServer(device.server));
    };
    if device.cost.is_zero() {
        return Err(DeviceFault::NoCost);
    }
    if let Some(period) = device.arrival.period() {
        if period.is_zero() {
            return Err(DeviceFault::NoPeriod);
        }
        if period.as_nanos() > HORIZON_NANOS {
            return Err(DeviceFault::PeriodBeyondHorizon);
        }
    }
    if matches!(device.arrival, DeviceArrival::Burst { burst: 0, .. }) {
        return Err(DeviceFault::NoBurst);
    }
    match is_on_behalf(server, device.on_behalf_of) {
        true => Ok(()),
        false => Err(DeviceFault::NotOnBehalf),
    }
}

/// Whether there is a list for each task, and everything in them for one of the devices.
pub(crate) fn check_waits(
    waits: &[Vec<Wait>],
    tasks: usize,
    devices: usize,
) -> Result<(), ServedError> {
    if waits.len() != tasks {
        let found = waits.len();
        return Err(ServedError::WaitLists { found, tasks });
    }
    for (index, list) in waits.iter().enumerate() {
        for &Wait { device, events, .. } in list {
            let task = task_id(index);
            if device.index() >= devices {
                return Err(ServedError::UnknownDevice { task, device });
            }
            if events == 0 {
                return Err(ServedError::NoEvents { task, device });
            }
        }
    }
    Ok(())
}
