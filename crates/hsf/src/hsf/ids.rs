//! Names of servers and tasks, what was chosen, and what can be wrong.

use core::fmt;

/// A server, by the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerId(u8);

/// A task, by the order of addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskId(u8);

impl ServerId {
    /// The server with this number, from 0.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) const fn number(self) -> u8 {
        self.0
    }
}

impl TaskId {
    /// The task with this number, from 0.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) const fn number(self) -> u8 {
        self.0
    }
}

/// The active server or none, in one byte: its number and 1, as there are at most 255 servers. None is 0, so that a system that has just been made is all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Active(u8);

impl Active {
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn of(server: ServerId) -> Self {
        Self(server.0.wrapping_add(1))
    }

    /// Where it is among the servers; behind all of them if there is none.
    pub(super) const fn index(self) -> usize {
        (self.0 as usize).wrapping_sub(1)
    }

    pub(super) const fn server(self) -> Option<ServerId> {
        match self.0.checked_sub(1) {
            Some(number) => Some(ServerId(number)),
            None => None,
        }
    }

    /// Whether it is that one.
    pub(super) const fn is(self, server: ServerId) -> bool {
        self.0 == Self::of(server).0
    }
}

/// What the processor does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pick {
    /// It executes this task.
    Task(TaskId),
    /// It executes the idle task, at the expense of this idling server. One idle task will do for all.
    Idling(ServerId),
    /// It executes the idle task, at no server's expense.
    Idle,
}

/// Why a call was refused. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// There is no room for another server or task.
    NoRoom,
    /// The kind of server or the local order is switched off ([`super::Features`]).
    SwitchedOff,
    /// A period of 0.
    Period,
    /// A capacity of 0, or above the period.
    Capacity,
    /// There is no such server.
    UnknownServer,
    /// There is no such task.
    UnknownTask,
    /// The task is not in a state in which it could make this call.
    WrongState,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRoom => "there is no room for another one",
            Self::SwitchedOff => "this kind of server or local order is switched off",
            Self::Period => "a period of zero",
            Self::Capacity => "a capacity of zero, or above the period",
            Self::UnknownServer => "there is no such server",
            Self::UnknownTask => "there is no such task",
            Self::WrongState => "the task is in another state than this call needs",
        })
    }
}

impl core::error::Error for Error {}
