//! What a run was like, in sentences; and a simulated run beside the real one.

use crate::output::Output;
use crate::quantity::{exact, percent, short};
use crate::session::Session;
use crate::table::{Column, Grid};
use vestal_result::run::Run;

/// How often each task raised the mode, the most frequent first.
fn causes(run: &Run) -> Vec<(String, usize)> {
    let mut causes: Vec<(String, usize)> = Vec::new();
    for cause in run.modes.iter().filter_map(|change| change.cause.as_ref()) {
        match causes.iter_mut().find(|(task, _)| task == cause) {
            Some((_, times)) => *times += 1,
            None => causes.push((cause.clone(), 1)),
        }
    }
    causes.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    causes
}

/// How often the mode rose, as far as the changes are listed.
pub(crate) fn rises(run: &Run) -> usize {
    run.modes
        .iter()
        .filter(|change| change.cause.is_some())
        .count()
}

fn times_text(times: usize) -> String {
    match times {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    }
}

/// For how long the mode was above the lowest, as far as the changes are listed.
fn raised_ns(run: &Run, lowest: &str) -> u64 {
    let mut since = None;
    let mut sum: u64 = 0;
    for change in &run.modes {
        match (since, change.to == lowest) {
            (None, false) => since = Some(change.at_ns),
            (Some(start), true) => {
                sum = sum.saturating_add(change.at_ns.saturating_sub(start));
                since = None;
            }
            (None, true) | (Some(_), false) => {}
        }
    }
    let rest = since.map_or(0, |start| run.duration_ns.saturating_sub(start));
    sum.saturating_add(rest)
}

/// What happened, a sentence each, for a reader who has never seen such a run.
pub(crate) fn story(run: &Run, session: &Session) -> Vec<String> {
    let levels = &session.set.levels;
    let (Some(lowest), Some(highest)) = (levels.first(), levels.last()) else {
        return Vec::new();
    };
    let mut story = Vec::new();
    let causes = causes(run);
    if causes.is_empty() {
        story.push(format!(
            "No task used up its {lowest} budget, so the mode stayed {lowest}."
        ));
    } else {
        let named: Vec<String> = causes
            .iter()
            .map(|(task, times)| format!("{task} {}", times_text(*times)))
            .collect();
        story.push(format!(
            "The mode rose {} times, because a job had used up its {lowest} budget and needed more: {}.",
            rises(run),
            named.join(", ")
        ));
        story.push(format!(
            "It fell back each time nothing admitted was left to do; in all it was raised for {} of the time.",
            percent(raised_ns(run, lowest), run.duration_ns)
        ));
    }
    story.push(dropped(run, session, highest));
    story
}

fn dropped(run: &Run, session: &Session, highest: &str) -> String {
    let tasks = run.tasks.iter().zip(&session.set.tasks);
    let (mut below, mut top) = (0, 0);
    for (row, spec) in tasks {
        match session.set.level_name(spec.criticality) == highest {
            true => top += row.dropped,
            false => below += row.dropped,
        }
    }
    if below + top == 0 {
        return "No job was dropped.".to_owned();
    }
    let whose = match top {
        0 => "all".to_owned(),
        _ => below.to_string(),
    };
    let mut text = format!(
        "{} of the {} jobs were dropped, {whose} of them of tasks below {highest}: while the mode is above a task's level its jobs are not admitted, and a job that needs more than its own level's budget is stopped. Nothing is guaranteed to either.",
        below + top,
        run.jobs.released
    );
    if top > 0 {
        text.push_str(&format!(
            " {top} belonged to {highest} tasks and needed more than their {highest} budget."
        ));
    }
    text
}

/// Both runs, figure by figure and task by task; `bounds` are the proved response times.
pub(crate) fn table(
    simulated: &Run,
    real: &Run,
    bounds: &[Option<u64>],
    session: &Session,
    output: &Output,
) -> String {
    let columns = [
        Column::Text(""),
        Column::Number("simulated"),
        Column::Number("real"),
    ];
    let mut grid = Grid::new(output, &columns);
    let figures: [(&str, u64, u64); 6] = [
        ("jobs released", simulated.jobs.released, real.jobs.released),
        (
            "jobs completed",
            simulated.jobs.completed,
            real.jobs.completed,
        ),
        ("jobs dropped", simulated.jobs.dropped, real.jobs.dropped),
        ("mode rises", rises(simulated) as u64, rises(real) as u64),
        ("deadlines missed", simulated.jobs.missed, real.jobs.missed),
        (
            "guaranteed deadlines missed",
            simulated.jobs.missed_guaranteed,
            real.jobs.missed_guaranteed,
        ),
    ];
    for (what, one, other) in figures {
        grid.row(vec![what.to_owned(), one.to_string(), other.to_string()]);
    }
    let mut text = grid.render();
    text.push('\n');
    let columns = [
        Column::Text("longest response time"),
        Column::Text("level"),
        Column::Number("simulated"),
        Column::Number("real"),
        Column::Number("proved bound"),
        Column::Number("deadline"),
    ];
    let mut grid = Grid::new(output, &columns);
    let time = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), short);
    let rows = simulated
        .tasks
        .iter()
        .zip(&real.tasks)
        .zip(&session.set.tasks)
        .zip(bounds);
    for (((one, other), spec), bound) in rows {
        grid.row(vec![
            one.name.clone(),
            session.set.level_name(spec.criticality).to_owned(),
            time(one.response_ns.max),
            time(other.response_ns.max),
            time(*bound),
            exact(spec.deadline.as_nanos()),
        ]);
    }
    text.push_str(&grid.render());
    text
}

/// Whether a completed job of the real run took longer than was proved for an ideal machine.
pub(crate) fn exceeds_bounds(real: &Run, bounds: &[Option<u64>]) -> bool {
    let rows = real.tasks.iter().zip(bounds);
    rows.filter_map(|(row, bound)| row.response_ns.max.zip(*bound))
        .any(|(found, bound)| found > bound)
}
