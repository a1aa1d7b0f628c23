//! What a run was like, in sentences; and a simulated run beside the real one.

use crate::output::Output;
use crate::quantity::{exact, percent, short_or_dash};
use crate::session::Session;
use crate::table::Grid;
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

/// A figure of a run.
type Figure = fn(&Run) -> u64;

/// Both runs, figure by figure and task by task; `bounds` are the proved response times.
pub(crate) fn table(
    simulated: &Run,
    real: &Run,
    bounds: &[Option<u64>],
    session: &Session,
    output: &Output,
) -> String {
    let figures: [(&str, Figure); 6] = [
        ("jobs released", |run| run.jobs.released),
        ("jobs completed", |run| run.jobs.completed),
        ("jobs dropped", |run| run.jobs.dropped),
        ("mode rises", |run| rises(run) as u64),
        ("deadlines missed", |run| run.jobs.missed),
        ("guaranteed deadlines missed", |run| {
            run.jobs.missed_guaranteed
        }),
    ];
    let in_all = Grid::of(&figures, output)
        .text("", |(what, _)| what)
        .number("simulated", |(_, of)| of(simulated))
        .number("real", |(_, of)| of(real));
    let runs = simulated.tasks.iter().zip(&real.tasks);
    let rows: Vec<_> = runs.zip(session.set.tasks.iter().zip(bounds)).collect();
    let by_task = Grid::of(&rows, output)
        .text("longest response time", |((one, _), _)| &one.name)
        .text("level", |(_, (spec, _))| {
            session.set.level_name(spec.criticality)
        })
        .number("simulated", |((one, _), _)| {
            short_or_dash(one.response_ns.max)
        })
        .number("real", |((_, other), _)| {
            short_or_dash(other.response_ns.max)
        })
        .number("proved bound", |(_, (_, bound))| short_or_dash(**bound))
        .number("deadline", |(_, (spec, _))| exact(spec.deadline.as_nanos()));
    in_all.render() + "\n" + &by_task.render()
}

/// Whether a completed job of the real run took longer than was proved for an ideal machine.
pub(crate) fn exceeds_bounds(real: &Run, bounds: &[Option<u64>]) -> bool {
    let rows = real.tasks.iter().zip(bounds);
    rows.filter_map(|(row, bound)| row.response_ns.max.zip(*bound))
        .any(|(found, bound)| found > bound)
}
