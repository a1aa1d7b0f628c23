//! What one test says, for people: its verdict, its reason, its tables.

use super::result::{TestResult, has_several_cpus};
use super::{chosen, levels, servers};
use crate::output::{Output, Style};
use crate::quantity::exact;
use crate::table::{Grid, styled};
use std::cmp::Reverse;
use std::fmt::Write as _;
use vestal_result::analysis::{self as said, TaskBound};
use vestal_workload::TaskSet;

pub(super) fn verdict_style(verdict: said::Verdict) -> Style {
    match verdict {
        said::Verdict::Schedulable => Style::Good,
        said::Verdict::Unschedulable => Style::Bad,
        said::Verdict::NotProven => Style::Caution,
    }
}

/// What an answer means that is neither a proof nor a refutation.
pub(super) fn worth(result: &TestResult) -> Option<String> {
    let said = &result.said;
    if result.chooses_budgets {
        return Some(format!(
            "it speaks of the capacities that it chose, {}, and not of those of the file",
            servers::capacities(&result.chosen, &said.servers)
        ));
    }
    match (said.claim, said.kind) {
        (Some(said::Verdict::Schedulable), _) if result.is_upper_bound => {
            Some("as an upper bound it accepts the set, which proves nothing".to_owned())
        }
        (Some(_), _) if result.is_upper_bound => Some(
            "as an upper bound it does not accept the set, which shows nothing either".to_owned(),
        ),
        (Some(claim), _) => Some(format!(
            "its paper claims: {claim}; this test is refuted and kept for comparison"
        )),
        (None, said::Kind::Necessary) if said.why.is_none() => Some(
            "it passes, as every set has to that can be proved; that alone proves nothing"
                .to_owned(),
        ),
        (None, _) => None,
    }
}

/// One test for people: its verdict, its table, its reason.
pub(crate) fn section(result: &TestResult, set: &TaskSet, output: &Output) -> String {
    let (painter, said) = (output.painter(), &result.said);
    let proof = result.is_proved().then(|| said.name());
    let with = said.mechanism.as_ref();
    let with = with.map_or_else(String::new, |name| {
        format!(", with the overheads of {name}")
    });
    let mut text = format!(
        "{}: {} ({} test{with}, took {} us)\n",
        painter.paint(Style::Bold, &said.name()),
        painter.paint(verdict_style(said.verdict), &said.verdict.to_string()),
        said.kind,
        said.elapsed_us
    );
    if let Some(words) = worth(result) {
        let _ = writeln!(text, "  {words}");
    }
    if let Some(why) = &said.why {
        let _ = writeln!(text, "  why: {why}");
    }
    let mut tasks: Vec<(usize, &TaskBound)> = said.tasks.iter().enumerate().collect();
    tasks.sort_by_key(|(_, task)| Reverse(task.priority));
    let mut grid = Grid::of(&tasks, output)
        .text("task", |(_, task)| &task.name)
        .text("criticality", |(_, task)| &task.criticality);
    if has_several_cpus(set) {
        grid = grid.number("CPU", |(_, task)| match task.cpu {
            Some(cpu) => cpu.to_string(),
            None => "-".to_owned(),
        });
    }
    grid = grid
        .number("priority", |(_, task)| match task.priority {
            Some(priority) => priority.to_string(),
            None => "-".to_owned(),
        })
        .number("deadline", |(_, task)| exact(task.deadline_ns));
    for column in chosen::columns(&result.chosen) {
        grid = grid.number(column.name, |(index, _)| column.cell(*index));
    }
    for level in &set.levels {
        grid = grid.number(&format!("response {level}"), |(_, task)| {
            match task.response_ns.get(level) {
                None => styled("", None),
                Some(None) => styled("-", Some(Style::Bad)),
                Some(Some(bound)) => {
                    let late = *bound > task.deadline_ns;
                    styled(exact(*bound), late.then_some(Style::Bad))
                }
            }
        });
    }
    text.push_str(&grid.render());
    text.push_str(&servers::table(&said.servers, &set.levels, output));
    text.push_str(&chosen::lines(&result.chosen, set, proof.as_deref()));
    text.push_str(&levels::text(&result.chosen, set));
    text.push('\n');
    text
}
