//! The resolved task set back as TOML. Reading it again gives an equal set.

use crate::model::{FileTable, TaskSet};
use crate::table::{self, Keys, Table};

impl TaskSet {
    /// The set as a TOML file. Comments and the spelling of numbers are not kept; every time is
    /// written exactly, with its own unit.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        table::write(&FileTable::of(self).shown(&self.names()), &mut text);
        text
    }
}
