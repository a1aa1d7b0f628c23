//! Why a test of servers with tasks inside says no, in numbers and in words. Servers without names are counted from 1, as
//! they stand in the file.

use crate::names::Names;
use crate::shown::Time;
use crate::sporadic_reason::SporadicReason;
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
    /// Sporadic servers and PIBS: what is wrong with them.
    Sporadic(SporadicReason),
}

impl ServedReason {
    /// In words, with these names.
    pub(crate) fn in_words(&self, names: Names<'_>) -> String {
        let server_name = |server| names.server(server);
        match *self {
            Self::NotReplenishedByTime { server } => format!(
                "the test is for polling, idling periodic and deferrable servers; {} is another",
                server_name(server)
            ),
            Self::ChangesWithMode { server } => format!(
                "the test is for servers with the same budget in every mode; {} has others",
                server_name(server)
            ),
            Self::Devices => "the test is for servers without devices, there are some".to_owned(),
            Self::Unserved { task } => format!(
                "the test is for tasks in servers; {} is in none",
                names.task(task)
            ),
            Self::LateServer {
                server,
                at_least,
                period,
            } => format!(
                "{} may take {} or more until it has its capacity, its period is {}",
                server_name(server),
                Time(at_least),
                Time(period)
            ),
            Self::Share { server } => format!(
                "the tasks of {} ask for all of its share of the CPU, or for more",
                server_name(server)
            ),
            Self::DemandExceedsSupply {
                server,
                window,
                demand,
                supply,
            } => format!(
                "jobs of {} that are released and due within {} may need {}, and it supplies {}",
                server_name(server),
                Time(window),
                Time(demand),
                Time(supply)
            ),
            Self::Sporadic(why) => why.in_words(names),
        }
    }
}
