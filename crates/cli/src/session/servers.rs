//! Period transformation by deferrable servers on a fixed grid instead of slices of each job.

use super::{OrderTables, Session};
use crate::failure::Failure;
use vestal_analysis::Test;
use vestal_core::{
    Hierarchy, HierarchyConfiguration, LocalOrder, OrderRule, Policy, Scheduler, ServedTask,
    ServerConfiguration, ServerId,
};

/// The key of `--set` that chooses them.
const OPTION: &str = "servers";

/// The variant of the policy's test that speaks of them.
const VARIANT: &str = "servers";

/// The keys of `--set` that policies with slices know.
pub(super) const OPTIONS: &[&str] = &[OPTION];

/// The test that speaks of servers.
pub(super) fn test_of(policy: &Policy) -> Result<&'static Test, Failure> {
    vestal_analysis::find(policy.test, Some(VARIANT)).ok_or_else(|| {
        Failure::bug(
            format!("use the policy {}", policy.name),
            format!("there is no test {}:{VARIANT}", policy.test),
        )
    })
}

/// The variant of the test that states the promise, by the options; `None`: the policy's own test.
pub(super) fn variant(
    policy: &Policy,
    options: &[(String, String)],
    what: &str,
) -> Result<Option<&'static str>, Failure> {
    let known = policy.order == OrderRule::Slices;
    let mut named = options
        .iter()
        .rev()
        .filter(|(key, _)| known && key == OPTION);
    let refused = |why: String, help: &str| Err(Failure::input(what, why).with_help(help));
    match named.next().map(|(_, value)| value.as_str()) {
        None | Some("aligned") => Ok(None),
        Some("deferrable") if options.iter().any(|(key, _)| key == "exhaustion") => refused(
            "servers have budgets of their own, and jobs have no limit".to_owned(),
            "leave `exhaustion` out",
        ),
        Some("deferrable") => Ok(Some(VARIANT)),
        Some(value) => refused(
            format!("`{value}` is no value of `{OPTION}`"),
            "this version knows: aligned, deferrable",
        ),
    }
}

/// Two-level scheduling with a deferrable server for each task, as urgent as the task.
pub(super) fn scheduler(
    session: &Session,
    what: &str,
) -> Result<Box<dyn Scheduler + Send>, Failure> {
    let failure = |why: String| Failure::input(what, why);
    let OrderTables::Slices(counts) = &session.tables else {
        return Err(Failure::bug(what, "servers without slices".to_owned()));
    };
    let configuration = session.configuration();
    let entries = configuration.tasks.iter().zip(counts);
    let servers: Vec<ServerConfiguration> = entries
        .map(|(entry, count)| ServerConfiguration {
            kind: count.deferrable_server(&entry.task),
            priority: entry.priority,
            criticality: entry.task.criticality,
            order: LocalOrder::FixedPriority,
        })
        .collect();
    let tasks = configuration.tasks.iter().zip(0..);
    let tasks: Vec<ServedTask> = tasks
        .map(|(entry, number)| ServedTask {
            task: entry.task,
            server: ServerId(number),
            priority: 1,
            on_behalf_of: None,
        })
        .collect();
    let engine = Hierarchy::new(&HierarchyConfiguration {
        servers: &servers,
        tasks: &tasks,
        devices: &[],
        levels: configuration.levels,
        granularity: configuration.granularity,
        wake_granularity: configuration.wake_granularity,
    });
    match engine {
        Ok(engine) => Ok(Box::new(engine)),
        Err(error) => Err(failure(error.to_string())),
    }
}
