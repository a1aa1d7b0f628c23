//! The names of what messages are about.

use core::fmt;
use vestal_core::{Level, ServerId, TaskId};

/// The names of tasks, levels and servers for messages. A name that is missing is replaced by the number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// Task names in task order.
    pub tasks: &'a [String],
    /// Level names, lowest first.
    pub levels: &'a [String],
    /// Server names in the order of the problem.
    pub servers: &'a [String],
}

impl<'a> Names<'a> {
    pub(crate) const fn task(&self, task: TaskId) -> Named<'a> {
        Named::new(self.tasks, "task ", task.index())
    }

    pub(crate) const fn level(&self, level: Level) -> Named<'a> {
        Named::new(self.levels, "", level.index())
    }

    /// A server by its name, or by its number.
    pub(crate) fn server(&self, server: ServerId) -> String {
        match self.servers.get(server.index()) {
            Some(name) => format!("server {name}"),
            None => format!("server {}", usize::from(server.0) + 1),
        }
    }
}

/// A task or a level by its name, or by its number.
pub(crate) struct Named<'a> {
    names: &'a [String],
    what: &'static str,
    index: usize,
}

impl<'a> Named<'a> {
    const fn new(names: &'a [String], what: &'static str, index: usize) -> Self {
        Self { names, what, index }
    }
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.names.get(self.index) {
            Some(name) => f.write_str(name),
            None => write!(f, "{}{}", self.what, self.index),
        }
    }
}
