//! Names of things: small, copyable, comparable only for equality and table order.

/// A task: its index in the task set's order. Also the last tie-breaker between equal urgencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u16);

/// A processor of the world, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u16);

/// A server: its index in the configuration of a hierarchical policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub u16);

/// A device that interrupts: its index in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u16);

/// A barrier at which CPUs wait for each other, numbered within its policy's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BarrierId(pub u32);

/// One release of a task: the task and the number of the release, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId {
    /// Whose job.
    pub task: TaskId,
    /// The how-manieth release of that task, from 0.
    pub sequence: u64,
}

impl TaskId {
    /// The task's index in tables indexed by task.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl CpuId {
    /// The CPU's index in tables indexed by CPU.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl ServerId {
    /// The server's index in tables indexed by server.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl DeviceId {
    /// The device's index in tables indexed by device.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
