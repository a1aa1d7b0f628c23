//! What a hierarchical engine is built from.

use crate::ids::{ServerId, TaskId};
use crate::model::{Level, LevelSet, TASKS_MAX, Task};
use crate::server::{ByLevel, ServerKind, Utilization};
use crate::time::{Duration, Service};
use core::fmt;

/// The order of the jobs of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LocalOrder {
    /// By [`ServedTask::priority`].
    FixedPriority,
    /// By absolute deadline.
    EarliestDeadline,
}

/// A server with what its policy decided about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerConfiguration {
    /// What it is.
    pub kind: ServerKind,
    /// Its fixed priority; larger is more urgent, equal ones go to the server that stands first. A
    /// PIBS inherits instead.
    pub priority: u32,
    /// How critical it is; in a raised mode this decides on whose behalf a PIBS may be activated.
    pub criticality: Level,
    /// The order of its jobs.
    pub order: LocalOrder,
}

/// A task and the server that executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServedTask {
    /// The task. Its execution times are not enforced: the server's budget is. [`Modes::Adaptive`] judges by them when
    /// the mode has to rise.
    pub task: Task,
    /// Its server.
    pub server: ServerId,
    /// Its fixed priority inside that server; larger is more urgent, equal ones go to the task that
    /// stands first.
    pub priority: u32,
    /// Inside a PIBS: on whose behalf it runs unless [`crate::Fact::Woken`] names another task.
    pub on_behalf_of: Option<ServerId>,
}

/// A device that interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceConfiguration {
    /// The task each job of which is the bottom half of one interrupt, in order of arrival. Its jobs
    /// come from [`crate::Fact::Interrupt`] only, and are numbered from 0 as they are begun. Queued
    /// interrupts are counted, not dated: under a local EDF order the deadline of one that waited
    /// counts from the end of its predecessor.
    pub bottom_half: TaskId,
}

/// When the mode changes, and what becomes of jobs then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modes {
    /// It rises on request only ([`crate::Fact::ModeRequested`]), and returns when nothing is pending that the mode
    /// lets run. Jobs of servers without a budget in it wait.
    Requested,
    /// It rises as well when a job of a task above the mode, in a server above it with a period, has used its execution
    /// time of that mode and is not done (Missimer, Missimer and West 2016), and returns when no server with a period, of the mode's criticality at
    /// least, has a pending job that is no bottom half. Jobs of servers without a budget in a raised mode are dropped,
    /// and none are admitted; events of devices are kept.
    Adaptive {
        /// The mode rises also when a PIBS above the mode has used up its capacity and has work left, if such a server
        /// is pending.
        pibs_raise: bool,
    },
}

/// Fixed priority over servers on one CPU, and a local order inside each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HierarchyConfiguration<'a> {
    /// The servers; a [`ServerId`] is the index in this list.
    pub servers: &'a [ServerConfiguration],
    /// The tasks; a [`TaskId`] is the index in this list.
    pub tasks: &'a [ServedTask],
    /// The devices; a [`crate::DeviceId`] is the index in this list.
    pub devices: &'a [DeviceConfiguration],
    /// How many levels there are.
    pub levels: LevelSet,
    /// When the mode changes.
    pub modes: Modes,
    /// The smallest budget the world can enforce: a smaller remainder counts as exhausted (C2).
    pub granularity: Service,
    /// How late the world may wake the scheduler before that is worth a notice (C6).
    pub wake_granularity: Duration,
}

/// A configuration that no hierarchical engine can be built from. Places count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HierarchyError {
    /// There is no server.
    NoServers,
    /// There is no task.
    NoTasks,
    /// More tasks, servers, devices or replenishments than numbers can distinguish, or than the
    /// storage holds.
    TooMany {
        /// How many of the largest kind there were.
        found: usize,
    },
    /// A task's server is not in the list.
    UnknownServer {
        /// The task's index.
        task: usize,
        /// The server it names.
        server: ServerId,
    },
    /// A device's bottom half is not in the list, or is that of another device already.
    BottomHalf {
        /// The device's index.
        device: usize,
    },
    /// A criticality is not among the levels.
    UnknownLevel {
        /// The server's index.
        server: usize,
        /// Its criticality.
        level: Level,
    },
    /// A period of zero.
    NoPeriod {
        /// The server's index.
        server: usize,
    },
    /// A capacity, or a PIBS' utilisation, of zero at the lowest level; or at any level one that is above the period or, but for zero, below the
    /// world's granularity: its jobs would be pending for ever.
    Capacity {
        /// The server's index.
        server: usize,
    },
    /// Under [`Modes::Adaptive`] no capacity at a level up to the server's own: a mode that its jobs raise would not let
    /// them go on.
    NoCapacity {
        /// The server's index.
        server: usize,
    },
    /// Under [`Modes::Adaptive`] a task that is no bottom half, of another criticality than its server: which modes it
    /// raises, and which drop it, would differ.
    OtherCriticality {
        /// The task's index.
        task: usize,
    },
    /// Under [`Modes::Adaptive`] a task whose execution time at a level below its own is above its server's capacity: the
    /// budget would be used up before it could raise the mode.
    AboveCapacity {
        /// The task's index.
        task: usize,
    },
    /// A replenishment list shorter than two.
    ShortList {
        /// The server's index.
        server: usize,
    },
    /// A task in a PIBS that names no server to inherit from, itself a PIBS, or a server with so short
    /// a period that floor(U * T) is zero or below the world's granularity, at the lowest level or at another one at
    /// which U is not zero.
    NothingToInherit {
        /// The task's index.
        task: usize,
    },
}

impl fmt::Display for HierarchyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServers => f.write_str("there is no server"),
            Self::NoTasks => f.write_str("there is no task to schedule"),
            Self::TooMany { found } => write!(f, "{found} are more than there is room for"),
            Self::UnknownServer {
                task,
                server: ServerId(server),
            } => write!(f, "task {task} names server {server}, which does not exist"),
            Self::BottomHalf { device } => write!(
                f,
                "the bottom half of device {device} does not exist or belongs to another device"
            ),
            Self::UnknownLevel {
                server,
                level: Level(level),
            } => write!(
                f,
                "server {server} has criticality {level}, which is not among the levels"
            ),
            Self::NoPeriod { server } => write!(f, "server {server} has a period of zero"),
            Self::Capacity { server } => write!(
                f,
                "server {server} has a capacity of zero, below the granularity, or above its period"
            ),
            Self::NoCapacity { server } => write!(
                f,
                "server {server} has no capacity in a mode that its jobs can raise"
            ),
            Self::OtherCriticality { task } => {
                write!(f, "task {task} and its server differ in criticality")
            }
            Self::AboveCapacity { task } => write!(
                f,
                "task {task} needs more than the capacity of its server at a level below its own"
            ),
            Self::ShortList { server } => write!(
                f,
                "server {server} needs a list of at least two replenishments"
            ),
            Self::NothingToInherit { task } => write!(
                f,
                "task {task} runs in a PIBS and names no server whose period gives it a capacity"
            ),
        }
    }
}

impl core::error::Error for HierarchyError {}

impl HierarchyConfiguration<'_> {
    /// Checks what construction relies on.
    pub(super) fn check(&self) -> Result<(), HierarchyError> {
        if self.servers.is_empty() {
            return Err(HierarchyError::NoServers);
        }
        if self.tasks.is_empty() {
            return Err(HierarchyError::NoTasks);
        }
        let found = self
            .tasks
            .len()
            .max(self.servers.len())
            .max(self.devices.len());
        if found >= TASKS_MAX {
            return Err(HierarchyError::TooMany { found });
        }
        for (index, server) in self.servers.iter().enumerate() {
            self.check_server(index, server)?;
        }
        for (index, task) in self.tasks.iter().enumerate() {
            self.check_task(index, task)?;
        }
        for (device, entry) in self.devices.iter().enumerate() {
            let others = self.devices.iter().take(device);
            let taken = others
                .map(|other| other.bottom_half)
                .any(|task| task == entry.bottom_half);
            if taken || entry.bottom_half.index() >= self.tasks.len() {
                return Err(HierarchyError::BottomHalf { device });
            }
        }
        Ok(())
    }

    fn check_server(
        &self,
        index: usize,
        server: &ServerConfiguration,
    ) -> Result<(), HierarchyError> {
        if server.criticality > self.levels.highest() {
            return Err(HierarchyError::UnknownLevel {
                server: index,
                level: server.criticality,
            });
        }
        if let (Some(period), Some(capacity)) = (server.kind.period(), server.kind.capacity()) {
            if period.is_zero() {
                return Err(HierarchyError::NoPeriod { server: index });
            }
            let lacks = capacity.at(Level::LOWEST).is_zero();
            let fits = |value: Service| {
                !value.exceeds(period) && (value.is_zero() || value >= self.granularity)
            };
            if lacks || !capacity.iter().all(fits) {
                return Err(HierarchyError::Capacity { server: index });
            }
            let mut own = server.criticality.up_to_self();
            if self.is_adaptive() && own.any(|level| capacity.at(level).is_zero()) {
                return Err(HierarchyError::NoCapacity { server: index });
            }
        }
        match server.kind {
            ServerKind::Sporadic { replenishments, .. }
                if replenishments < crate::server::REPLENISHMENTS_MIN =>
            {
                Err(HierarchyError::ShortList { server: index })
            }
            ServerKind::Sporadic { .. }
            | ServerKind::Polling { .. }
            | ServerKind::IdlingPeriodic { .. }
            | ServerKind::Deferrable { .. } => Ok(()),
            ServerKind::Pibs { utilization } if utilization.at(Level::LOWEST).is_zero() => {
                Err(HierarchyError::Capacity { server: index })
            }
            ServerKind::Pibs { .. } => Ok(()),
        }
    }

    fn check_task(&self, index: usize, task: &ServedTask) -> Result<(), HierarchyError> {
        let server = task.server;
        let Some(own) = self.servers.get(server.index()) else {
            return Err(HierarchyError::UnknownServer {
                task: index,
                server,
            });
        };
        if self.is_adaptive() {
            self.check_judged(index, task, own)?;
        }
        let ServerKind::Pibs { utilization } = own.kind else {
            return Ok(());
        };
        let period = task
            .on_behalf_of
            .and_then(|served| self.servers.get(served.index()))
            .and_then(|served| served.kind.period());
        match period {
            Some(period) if has_capacity(&utilization, period, self.granularity) => Ok(()),
            Some(_) | None => Err(HierarchyError::NothingToInherit { task: index }),
        }
    }

    const fn is_adaptive(&self) -> bool {
        matches!(self.modes, Modes::Adaptive { .. })
    }

    /// What judging jobs by their execution times relies on. Bottom halves are not judged.
    fn check_judged(
        &self,
        index: usize,
        task: &ServedTask,
        home: &ServerConfiguration,
    ) -> Result<(), HierarchyError> {
        let mut devices = self.devices.iter();
        if devices.any(|device| device.bottom_half.index() == index) {
            return Ok(());
        }
        let own = task.task.criticality;
        if own != home.criticality {
            return Err(HierarchyError::OtherCriticality { task: index });
        }
        let fits = |capacity: &ByLevel<Service>| {
            // At its own level it raises nothing, whatever it takes.
            let mut levels = own.up_to_self().filter(|level| *level < own);
            levels.all(|level| task.task.wcet.at(level) <= capacity.at(level))
        };
        match home.kind.capacity() {
            Some(capacity) if !fits(capacity) => Err(HierarchyError::AboveCapacity { task: index }),
            Some(_) | None => Ok(()),
        }
    }
}

/// Whether a PIBS can run on behalf of a server with `period`: in mode 0, and in every mode in which it has a share,
/// that period gives it a capacity that can be enforced.
#[must_use]
pub fn has_capacity(
    utilization: &ByLevel<Utilization>,
    period: Duration,
    granularity: Service,
) -> bool {
    let suffices = |share: Utilization| {
        let capacity = share.of_floor(period);
        !capacity.is_zero() && capacity >= granularity
    };
    suffices(utilization.at(Level::LOWEST))
        && utilization
            .iter()
            .all(|share| share.is_zero() || suffices(share))
}
