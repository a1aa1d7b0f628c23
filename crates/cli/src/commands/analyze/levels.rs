//! What people are told of dispatch tables and of how late tasks may be.

use crate::quantity::exact;
use std::fmt::Write as _;
use vestal_analysis::{Grade, Parameter, Parameters, Test};
use vestal_core::Level;
use vestal_workload::TaskSet;

/// How many slots of a table people are shown.
const SLOTS_SHOWN: usize = 8;

/// Whether this test promises what the file asks for: deadlines of all tasks, or less, where its levels have the names of MC².
/// Whoever has levels of other names did not say that the two lowest of four are promised none.
pub(super) fn are_meant(test: &Test, set: &TaskSet) -> bool {
    !is_for_levels(test) || are_named(set)
}

/// Whether this test is for the levels of MC².
pub(super) fn is_for_levels(test: &Test) -> bool {
    test.takes.contains(&Parameter::Tardiness)
}

/// Whether the file says which tasks are promised no deadlines under MC²: by the names of its levels, or because there are none.
pub(super) fn are_named(set: &TaskSet) -> bool {
    let is_name = |name: &String| Grade::ALL.iter().any(|grade| grade.name() == name);
    set.levels.iter().any(is_name) || (of(set, Grade::C).is_empty() && of(set, Grade::D).is_empty())
}

/// What the test says of levels C and D; nothing if there are none.
pub(super) fn promised(set: &TaskSet) -> String {
    let row = |grade, words| match of(set, grade) {
        tasks if tasks.is_empty() => String::new(),
        tasks => format!("Under mc2 {words} {}.\n", tasks.join(", ")),
    };
    let late = row(Grade::C, "these may be late, by a bound at most:");
    late + &row(Grade::D, "nothing is promised to")
}

/// The names of the tasks of a level.
fn of(set: &TaskSet, grade: Grade) -> Vec<&str> {
    let grades = Grade::of_levels(&set.levels).unwrap_or_default();
    let grade_of = |level: Level| grades.get(level.index()).copied();
    let tasks = set.tasks.iter();
    let tasks = tasks.filter(|task| grade_of(task.criticality) == Some(grade));
    tasks.map(|task| task.name.as_str()).collect()
}

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
