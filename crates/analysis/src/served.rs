//! Servers and devices of a problem: what tests of hierarchical scheduling and of I/O are asked about.
//!
//! What the core's engine of servers is configured with stands here as the core has it; what only an analysis
//! wants to know of devices and of the tasks that wait for them stands beside it.

mod check;
mod given;

use vestal_core::{DeviceId, Duration, ServerConfiguration, ServerId, Service, TaskId};

pub use check::{DeviceFault, ServedError, ServerFault};
pub(crate) use check::{check_servers, check_waits};
pub(crate) use given::apply;

/// A server and whom it serves. A [`ServerId`] is an index in the problem's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its kind with period, capacity or utilisation, priority, criticality and local order. The priority of a
    /// PIBS means nothing. Above its own level a server has what its policy leaves it in raised modes, which
    /// may be nothing.
    pub configuration: ServerConfiguration,
    /// Its tasks; a task without a server is in none of these lists.
    pub tasks: Vec<Member>,
    /// On whose behalf a PIBS may run: servers with a period of their own. One entry: it is known whom it
    /// serves; several: it may be any of them. Empty for a server with a period.
    pub serves: Vec<ServerId>,
}

/// A task in a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Which task.
    pub task: TaskId,
    /// Its fixed priority inside the server; larger = more urgent, equal ones as the tasks stand in the set.
    pub priority: u32,
    /// Inside a PIBS: on whose behalf it runs unless it wakes for a task that waits.
    pub on_behalf_of: Option<ServerId>,
}

/// A device that interrupts. A [`DeviceId`] is an index in the problem's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// The server in which its bottom halves run, before the tasks of that server.
    pub server: ServerId,
    /// How long one bottom half executes, in every mode.
    pub cost: Service,
    /// When its events come.
    pub arrival: DeviceArrival,
    /// If the server is a PIBS: on whose behalf a bottom half runs for which no task waits.
    pub on_behalf_of: Option<ServerId>,
}

/// When the events of a device come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceArrival {
    /// When a job begins to wait for them, as many as it waits for.
    Requested,
    /// One every period, from the beginning on.
    Periodic {
        /// The period.
        period: Duration,
    },
    /// At least a period apart.
    Sporadic {
        /// The minimum inter-arrival time.
        period: Duration,
    },
    /// Several at once every period.
    Burst {
        /// The period.
        period: Duration,
        /// How many at once.
        burst: u64,
    },
}

impl DeviceArrival {
    /// The period; `None`: the events are requested.
    #[must_use]
    pub const fn period(&self) -> Option<Duration> {
        match self {
            Self::Requested => None,
            Self::Periodic { period } | Self::Sporadic { period } | Self::Burst { period, .. } => {
                Some(*period)
            }
        }
    }
}

/// Where each job of a task blocks until events of a device were served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wait {
    /// How long the job has executed then; a job that completes earlier does not wait.
    pub after: Service,
    /// For which device.
    pub device: DeviceId,
    /// For how many events.
    pub events: u64,
}
