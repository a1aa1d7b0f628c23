//! The names in the tables of a file, to which others refer.

use crate::codes::{self, Code};
use crate::tree::{Node, items};
use vestal_core::Level;

/// The names of each list of tables as they stand there, right or wrong: a reference to a task whose period is
/// missing is no error of its own.
#[derive(Default)]
pub(crate) struct Written {
    /// Of a set that is to be written.
    pub(crate) levels: Vec<String>,
    pub(crate) tasks: Names,
    pub(crate) servers: Names,
    pub(crate) devices: Names,
}

impl Written {
    pub(crate) fn of(root: &Node<'_>) -> Self {
        let name = |item: &Node<'_>| item.get("name").and_then(Node::as_text).map(str::to_owned);
        let names = |key| {
            Names::of(
                items(root.get(key))
                    .iter()
                    .map(|item| name(item).unwrap_or_default()),
            )
        };
        Self {
            levels: Vec::new(),
            tasks: names("task"),
            servers: names("server"),
            devices: names("device"),
        }
    }

    /// The name of a level; empty for one that there is not.
    pub(super) fn level(&self, level: Level) -> &str {
        self.levels.get(level.index()).map_or("", String::as_str)
    }

    /// The place of what has this name.
    pub(crate) fn place<W: Named>(&self, name: &str) -> Option<usize> {
        W::list(self).place(name)
    }
}

/// Names in the order of their table, found by name without a search through all of them.
#[derive(Default)]
pub(crate) struct Names {
    list: Vec<String>,
    /// Their places, in the order of the names. Of equal names the first one counts; that there are two is an error of its own.
    sorted: Vec<usize>,
}

impl Names {
    pub(crate) fn of(list: impl Iterator<Item = String>) -> Self {
        let list: Vec<String> = list.collect();
        let mut sorted: Vec<usize> = (0..list.len()).collect();
        // Equal ones stay in the order of the list.
        sorted.sort_by_key(|&place| list.get(place));
        Self { list, sorted }
    }
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        let is_less = |place: &usize| self.list.get(*place).is_some_and(|at| at.as_str() < name);
        let first = self.sorted.partition_point(is_less);
        let place = self.sorted.get(first).copied()?;
        (self.get(place)? == name).then_some(place)
    }
    pub(crate) fn get(&self, place: usize) -> Option<&str> {
        self.list.get(place).map(String::as_str)
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(String::as_str)
    }
}

/// What other tables name.
pub(crate) trait Named {
    /// The key of its tables.
    const KEY: &'static str;
    /// Of what they are named: a set that was read before, or the file itself, to which more can be added.
    const IS_OF_SET: bool;
    /// The code of a name that is not there.
    const UNKNOWN: Code;
    fn list(written: &Written) -> &Names;
}

macro_rules! named {
    ($($type:ident $key:literal $list:ident $is_of_set:literal $unknown:ident;)+) => {$(
        pub(crate) struct $type;
        impl Named for $type {
            const KEY: &'static str = $key;
            const IS_OF_SET: bool = $is_of_set;
            const UNKNOWN: Code = codes::$unknown;
            fn list(written: &Written) -> &Names {
                &written.$list
            }
        }
    )+};
}

named! {
    ATask "task" tasks false UNKNOWN_TASK;
    AServer "server" servers false UNKNOWN_SERVER;
    ADevice "device" devices false UNKNOWN_DEVICE;
    TaskOfSet "task" tasks true SCENARIO_UNKNOWN_TASK;
    DeviceOfSet "device" devices true SCENARIO_UNKNOWN_TASK;
}
