//! Traces of simulated and real runs: what stands in their header, who writes them, and to which
//! files.

mod files;
mod simulated;

#[cfg(target_os = "linux")]
pub(crate) use files::Reserved;
pub(crate) use files::{TraceFiles, check};
pub(crate) use simulated::{observed, told};

use crate::session::{OrderTables, Session};
use vestal_core::{Duration, Service};
use vestal_trace::{Dispatch, Header, TaskInfo, World};
use vestal_workload::Parameters;

/// Everything that a replay needs beside the records, for a simulated world.
///
/// The task set stands there as it was understood, so that a replay does not depend on the spelling
/// of a file; of the parameters only what the policy's order leaves open.
pub(crate) fn header(session: &Session, dispatch: Dispatch) -> Header {
    let tasks = session.set.tasks.iter().zip(&session.tasks);
    let tasks = tasks.map(|(spec, task)| TaskInfo {
        name: spec.name.clone(),
        criticality: task.criticality,
        period: task.period,
        deadline: task.deadline,
    });
    Header {
        world: World::Simulator,
        dispatch,
        options: session.options.clone(),
        parameters: parameters(session),
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
        seed: session.seed,
        levels: session.set.levels.clone(),
        task_set: session.set.to_toml(),
        tasks: tasks.collect(),
        judges_misses: true,
        records_permits: dispatch == Dispatch::Native,
        ..Header::new(session.policy.name)
    }
}

/// What was chosen or given where the policy's order asks for it, as a parameters file.
fn parameters(session: &Session) -> String {
    let mut chosen = Parameters::default();
    if session.takes_priorities() {
        let priorities = session.configurations.iter().map(|entry| entry.priority);
        let priorities: Vec<u32> = priorities.collect();
        chosen = Parameters::with_priorities(&session.set, &priorities);
    }
    match &session.tables {
        OrderTables::VirtualDeadlines(deadlines) if session.takes_virtual_deadlines() => {
            chosen = chosen.and_virtual_deadlines(&session.set, deadlines);
        }
        OrderTables::JobPriorities(_, lists) => {
            chosen = chosen.and_job_priorities(&session.set, Some(lists), None, None);
        }
        OrderTables::Slices(counts) => chosen = chosen.and_slices(&session.set, counts),
        OrderTables::VirtualDeadlines(_) | OrderTables::Priorities => {}
    }
    if session.takes_zero_slack() {
        let instants = session.configurations.iter();
        let instants: Vec<_> = instants.map(|entry| entry.critical_after()).collect();
        chosen = chosen.and_zero_slack(&session.set, &instants);
    }
    if chosen.is_empty() {
        return String::new();
    }
    chosen.to_file()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_codes_of_the_trace_crate_are_explained_under_its_titles() {
        let table = vestal_workload::codes::all();
        let explained: Vec<(String, &str)> = table
            .map(|info| (info.code.to_string(), info.title))
            .filter(|(code, _)| code.starts_with("V080") || code.starts_with("V081"))
            .collect();
        let named = vestal_trace::error::CODES.map(|(code, title)| (code.to_owned(), title));
        // The last one is about writing files, which is the command line's business.
        assert_eq!(explained[..named.len()], named);
        assert_eq!(explained.len(), named.len() + 1);
    }
}
