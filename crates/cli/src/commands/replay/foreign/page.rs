//! What `replay` says of a recording of perf or ftrace, for people.

use crate::output::{Output, Style};
use crate::quantity::{count, exact, short, short_or_dash};
use crate::table::Grid;
use std::fmt::Write as _;
use vestal_result::replay::Comparison;

/// The result for people.
pub(super) fn page(origin: &str, document: &Comparison, output: &Output) -> String {
    let mut text = format!(
        "Checked {} against {}: {} on CPU {}, {} records\norder: {}; tolerance {}\n\n",
        document.file,
        document.task_set_file,
        count(document.tasks.len(), "task"),
        document.cpu,
        document.records,
        origin,
        exact(document.tolerance_ns)
    );
    text.push_str(&table(document, output));
    text.push('\n');
    let painter = output.painter();
    for (holds, line) in verdicts(document) {
        let style = if holds { Style::Good } else { Style::Bad };
        text.push_str(&painter.paint(style, &line));
        text.push('\n');
    }
    // Writing into a string cannot fail.
    for line in notes(document) {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "\nThe recording does not say:");
    for line in &document.unknown {
        let _ = writeln!(text, "- {line}");
    }
    text
}

/// Task by task the longest execution and response, and the shortest distance of arrivals.
fn table(document: &Comparison, output: &Output) -> String {
    let grid = Grid::of(&document.tasks, output)
        .text("task", |row| &row.name)
        .text("level", |row| &row.criticality)
        .number("prio", |row| row.priority)
        .number("jobs", |row| row.released)
        .number("missed", |row| row.missed)
        .number("execution", |row| short_or_dash(row.execution_max_ns))
        .text("over C", |row| {
            let exceeded: Vec<String> = row.exceeded.iter().map(u64::to_string).collect();
            exceeded.join(" ")
        })
        .number("response", |row| short_or_dash(row.response_max_ns))
        .number("deadline", |row| exact(row.deadline_ns))
        .number("distance", |row| short_or_dash(row.distance_min_ns))
        .number("period", |row| exact(row.period_ns));
    grid.render()
        + "execution, response: the longest; over C: how many jobs executed more than C(l), level by level;\n\
           distance: the shortest between two arrivals\n"
}

/// Each thing that was compared, and whether it holds.
fn verdicts(document: &Comparison) -> Vec<(bool, String)> {
    let mut lines = Vec::new();
    let tolerance = exact(document.tolerance_ns);
    lines.push(match &document.inversion {
        None => (
            true,
            format!(
                "The order was kept: no job ran for more than {tolerance} while a more urgent one was ready."
            ),
        ),
        Some(found) => (
            false,
            format!(
                "The order was not kept: from {} to {} {} ran although {} was ready.",
                short(found.from_ns),
                short(found.to_ns),
                found.running,
                found.waiting
            ),
        ),
    });
    lines.push(match &document.beyond {
        None => (
            true,
            "No job executed more than its own level's time.".to_owned(),
        ),
        Some(found) => (
            false,
            format!(
                "{} executed {}, more than the {} of its own level.",
                found.job,
                short(found.executed_ns),
                exact(found.limit_ns)
            ),
        ),
    });
    let missed = document.jobs.missed;
    lines.push(match (&document.missed, missed) {
        (None, 0) => (true, "No deadline was missed.".to_owned()),
        (None, _) => (
            true,
            format!("Deadlines missed: {missed}, none of which was guaranteed."),
        ),
        (Some(first), _) => (
            false,
            format!(
                "Deadlines missed: {missed}, {} of them guaranteed, the first at {} by {}.",
                document.jobs.missed_guaranteed,
                short(first.deadline_ns),
                first.job
            ),
        ),
    });
    if let Some(at) = document.lost_at_ns {
        let why = format!(
            "Events are missing at {}: nothing from then on was judged.",
            short(at)
        );
        lines.push((false, why));
    }
    lines
}

/// What a reader should know besides.
fn notes(document: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    if document.withheld_ns > 0 {
        lines.push(format!(
            "A job was ready and none ran for {} in all, {} at once: other threads, interrupts or switches.",
            short(document.withheld_ns),
            short(document.longest_withheld_ns)
        ));
    }
    for row in &document.tasks {
        if let Some(least) = row.distance_min_ns
            && least.saturating_add(document.tolerance_ns) < row.period_ns
        {
            lines.push(format!(
                "{} woke up {} after its job before, closer than its period of {}.",
                row.name,
                short(least),
                exact(row.period_ns)
            ));
        }
        if row.unseen > 0 {
            lines.push(format!(
                "{} of {} began before the recording, at its start or under another name, and {} not judged.",
                count(usize::try_from(row.unseen).unwrap_or(usize::MAX), "job"),
                row.name,
                if row.unseen == 1 { "was" } else { "were" }
            ));
        }
    }
    for name in &document.not_seen {
        lines.push(format!(
            "No thread is called {name}: nothing is known of it."
        ));
    }
    lines
}
