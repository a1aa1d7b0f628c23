//! What people are told of dispatch tables and of how late tasks may be.

use crate::quantity::exact;
use std::fmt::Write as _;
use vestal_analysis::Parameters;
use vestal_workload::TaskSet;

/// How many slots of a table people are shown.
const SLOTS_SHOWN: usize = 8;

/// A line for each table that has slots, and one for all bounds on the tardiness.
pub(super) fn text(chosen: &Parameters, set: &TaskSet) -> String {
    let mut text = String::new();
    let name = |task: usize| set.tasks.get(task).map_or("-", |task| task.name.as_str());
    for (cpu, table) in chosen.tables.iter().flatten().enumerate() {
        let slots = table.slots.iter().map(|slot| {
            let (start, length) = (slot.start.as_nanos(), slot.length.as_nanos());
            let end = start.saturating_add(length);
            format!(
                "{} [{}, {})",
                name(slot.task.index()),
                exact(start),
                exact(end)
            )
        });
        let mut shown: Vec<String> = slots.take(SLOTS_SHOWN).collect();
        if table.slots.len() > SLOTS_SHOWN {
            shown.push("...".to_owned());
        }
        if !shown.is_empty() {
            let (cycle, slots) = (exact(table.cycle.as_nanos()), shown.join(", "));
            let _ = writeln!(text, "table of CPU {cpu}, cycle {cycle}: {slots}");
        }
    }
    let late = chosen.tardiness.iter().flatten().enumerate();
    let late = late.filter_map(|(task, late)| {
        let late = (*late)?;
        Some(format!("{} {}", name(task), exact(late.as_nanos())))
    });
    let late: Vec<String> = late.collect();
    if !late.is_empty() {
        let _ = writeln!(text, "after their deadlines at most: {}", late.join(", "));
    }
    match text.is_empty() {
        true => text,
        false => format!("\n{text}"),
    }
}
