//! Why a test of servers with tasks inside says no, in numbers and in words. Servers are counted from 1 there, as they
//! stand in the file.

use crate::shown::Time;
use vestal_core::{Duration, ServerId, TaskId};

/// Why servers, or the tasks inside them, are not proved schedulable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedReason {
    /// Outside the assumptions: the server's budget does not come back as a whole and by time alone.
    NotReplenishedByTime {
        /// Which server.
        server: ServerId,
    },
    /// Outside the assumptions: the server has another budget in another mode.
    ChangesWithMode {
        /// Which server.
        server: ServerId,
    },
    /// Outside the assumptions: there are devices, whose interrupts execute in servers.
    Devices,
    /// Outside the assumptions: the task is in no server.
    Unserved {
        /// Which task.
        task: TaskId,
    },
    /// More urgent servers may keep the server from its capacity in one of its periods.
    LateServer {
        /// Which server.
        server: ServerId,
        /// It has its capacity after so long at the earliest that is proved; above the period.
        at_least: Duration,
        /// Its period.
        period: Duration,
    },
    /// EDF inside: the tasks ask for as large a share of the CPU as their server has, or for more.
    Share {
        /// Which server.
        server: ServerId,
    },
    /// EDF inside: jobs that are released and due within a window may need more than the server supplies in one.
    DemandExceedsSupply {
        /// Which server.
        server: ServerId,
        /// How long the window is.
        window: Duration,
        /// What the jobs may need.
        demand: Duration,
        /// What the server supplies at least.
        supply: Duration,
    },
}

impl ServedReason {
    /// In words; `name` is that of the task, if it is about one.
    pub(crate) fn in_words(&self, name: impl Fn(TaskId) -> String) -> String {
        let number = |server: ServerId| usize::from(server.0) + 1;
        match *self {
            Self::NotReplenishedByTime { server } => format!(
                "the test is for polling, idling periodic and deferrable servers; server {} is another",
                number(server)
            ),
            Self::ChangesWithMode { server } => format!(
                "the test is for servers with the same budget in every mode; server {} has others",
                number(server)
            ),
            Self::Devices => "the test is for servers without devices, there are some".to_owned(),
            Self::Unserved { task } => {
                format!(
                    "the test is for tasks in servers; {} is in none",
                    name(task)
                )
            }
            Self::LateServer {
                server,
                at_least,
                period,
            } => format!(
                "server {} may take {} or more until it has its capacity, its period is {}",
                number(server),
                Time(at_least),
                Time(period)
            ),
            Self::Share { server } => format!(
                "the tasks of server {} ask for all of its share of the CPU, or for more",
                number(server)
            ),
            Self::DemandExceedsSupply {
                server,
                window,
                demand,
                supply,
            } => format!(
                "jobs of server {} that are released and due within {} may need {}, and it supplies {}",
                number(server),
                Time(window),
                Time(demand),
                Time(supply)
            ),
        }
    }
}
