//! The part `slices`: into how many slices jobs are cut (period transformation).

use super::{named_by_all, unknown_names};
use crate::model::TaskSet;
use crate::read::fields::Reader;
use crate::tree::{Node, Value};
use vestal_core::order::SLICES_MAX;

/// A number for each task: at least one. Whether it is one for its task is the analyses' rule
/// ([`vestal_core::SliceCount::new`]).
pub(super) fn slices(node: &Node, set: &TaskSet, reader: &mut Reader<'_>) -> Vec<(String, u32)> {
    const FIELD: &str = "slices";
    let Value::Table(entries) = &node.value else {
        let help = "write `{ \"task\": 3 }`";
        reader.wrong_type(node, FIELD, "a table from task name to number", help);
        return Vec::new();
    };
    unknown_names(entries, FIELD, set, reader);
    let expected = "a number of slices for every task of the set";
    let help = "add the tasks; one whose jobs stay whole has one slice";
    named_by_all(node, entries, (FIELD, expected, help), set, reader);
    let mut given = Vec::with_capacity(set.tasks.len());
    for task in &set.tasks {
        let Some(entry) = entries.iter().find(|entry| entry.key == task.name) else {
            continue;
        };
        let field = format!("{FIELD}.{}", entry.key);
        let count = reader.whole(&entry.node, &field, 1, u64::from(SLICES_MAX));
        let count = count.and_then(|count| u32::try_from(count).ok());
        given.extend(count.map(|count| (task.name.clone(), count)));
    }
    given
}
