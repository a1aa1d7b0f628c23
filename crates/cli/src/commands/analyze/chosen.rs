//! What a test chose, for people. What it is for does not matter here, only what its values belong to.

use crate::quantity::{exact, first_few};
use std::fmt::Write as _;
use vestal_analysis::parameters::{Ratio, Shape, Values};
use vestal_analysis::{Parameter, Parameters};
use vestal_workload::TaskSet;

/// How many job priorities of a task people are shown.
const PRIORITIES_SHOWN: usize = 12;

/// A value for each task.
pub(super) struct Column {
    pub(super) name: &'static str,
    /// In task order.
    cells: Vec<String>,
}

impl Column {
    /// What the task at this index has.
    pub(super) fn cell(&self, task: usize) -> &str {
        self.cells.get(task).map_or("-", String::as_str)
    }
}

/// What was chosen for each task, but for priorities: those have their column with every test.
pub(super) fn columns(chosen: &Parameters) -> Vec<Column> {
    let is_shown = |parameter: Parameter| parameter != Parameter::Priorities;
    let rows = chosen.rows();
    let rows = rows.filter(|row| row.shape == Shape::EachTask && is_shown(row.parameter));
    let column = rows.filter_map(|row| {
        Some(Column {
            name: row.value(),
            cells: cells((row.get)(chosen)?)?,
        })
    });
    column.collect()
}

fn cells(values: Values) -> Option<Vec<String>> {
    if let Values::Numbers(numbers) = values {
        return Some(numbers.iter().map(u64::to_string).collect());
    }
    if let Values::Times(times) = values {
        return Some(times.iter().map(|time| exact(time.as_nanos())).collect());
    }
    None
}

/// What was chosen besides, and is in no table: a line for what is single or belongs to a level, the lists of tasks, and what
/// there is too much of to be shown, if it is what this test proves the set with.
pub(super) fn lines(chosen: &Parameters, set: &TaskSet, proof: Option<&str>) -> String {
    let mut text = String::new();
    let mut unseen = Vec::new();
    for row in chosen.rows() {
        match row.shape {
            Shape::Single => {
                if let Some(Values::Fraction(factor)) = (row.get)(chosen) {
                    let _ = writeln!(
                        text,
                        "{}: x = {}",
                        row.words.trim_start_matches("the "),
                        fraction(factor)
                    );
                }
            }
            Shape::EachLevel => {
                let values = (row.get)(chosen).and_then(cells).unwrap_or_default();
                let each = set.levels.iter().zip(values);
                let each: Vec<String> = each
                    .map(|(level, value)| format!("{level} {value}"))
                    .collect();
                let _ = writeln!(text, "{}: {}", row.words, each.join(", "));
            }
            Shape::EachFrame | Shape::EachServer => unseen.push(row.words),
            // In a table, or below.
            Shape::EachTask | Shape::SomeTasks | Shape::EachCpu | Shape::ListEachTask => {}
        }
    }
    text.push_str(&job_order(chosen, set));
    if let Some(test) = proof.filter(|_| !unseen.is_empty()) {
        let unseen = unseen.join(" and the ");
        let _ = writeln!(text, "--test {test} --emit FILE writes the {unseen}");
    }
    match text.is_empty() {
        true => text,
        false => format!("\n{text}"),
    }
}

/// A fraction, and its first digits where it is no whole number.
fn fraction(factor: Ratio) -> String {
    let (numerator, denominator) = (u128::from(factor.numerator), u128::from(factor.denominator));
    if denominator <= 1 {
        return numerator.to_string();
    }
    let thousandths = numerator * 1000 / denominator;
    let (whole, rest) = (thousandths / 1000, thousandths % 1000);
    format!("{numerator}/{denominator} ({whole}.{rest:03})")
}

/// Job priorities, with how many of them a busy period can use.
fn job_order(chosen: &Parameters, set: &TaskSet) -> String {
    let mut text = String::new();
    if let Some(patterns) = &chosen.patterns {
        let total: u64 = patterns.iter().filter_map(|jobs| jobs.last()).sum();
        let _ = writeln!(text, "jobs in a busy period: {total}");
        let lists = chosen.job_priorities.iter().flatten().map(Vec::as_slice);
        let lists = lists.chain(std::iter::repeat(&[][..]));
        for ((task, jobs), list) in set.tasks.iter().zip(patterns).zip(lists) {
            let jobs: Vec<String> = jobs.iter().map(u64::to_string).collect();
            let priorities = match list.is_empty() {
                true => String::new(),
                false => format!(", priorities {}", first_few(list, PRIORITIES_SHOWN)),
            };
            let _ = writeln!(
                text,
                "  {}: {} by level{priorities}",
                task.name,
                jobs.join(" ")
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_has_its_first_digits_beside_it() {
        let shown = |numerator, denominator| {
            fraction(Ratio {
                numerator,
                denominator,
            })
        };
        assert_eq!(shown(3, 5), "3/5 (0.600)");
        assert_eq!(shown(6, 11), "6/11 (0.545)");
        assert_eq!(shown(1, 1), "1");
        assert_eq!(
            shown(u64::MAX - 1, u64::MAX),
            format!("{}/{} (0.999)", u64::MAX - 1, u64::MAX)
        );
    }
}
