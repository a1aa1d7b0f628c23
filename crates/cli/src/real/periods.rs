//! Periods that no real run keeps, looked at before anything is taken of the machine.

use crate::failure::Failure;
use crate::input::shown;
use crate::session::Session;
use vestal_core::Duration;
use vestal_linux::config::TOLERANCE_MIN;
use vestal_workload::model::ServerKind;

/// Refuses tasks that are released, and servers that have their budgets back, faster than a run notices that one was exceeded.
/// Of a PIBS the period is that of whom it serves.
pub(super) fn check(session: &Session) -> Result<(), Failure> {
    let tasks = session.set.tasks.iter();
    let tasks = tasks.map(|task| (task.name.as_str(), task.period));
    let mut clusters = session.system.clusters.iter();
    let has_servers = clusters.any(|cluster| cluster.configuration.servers().is_some());
    let servers = session.set.servers.iter().filter(|_| has_servers);
    let servers = servers.filter_map(|server| match server.kind {
        ServerKind::Periodic { period, .. } => Some((server.name.as_str(), period)),
        ServerKind::Pibs { .. } => None,
    });
    let least = TOLERANCE_MIN.as_nanos();
    let is_short = |(_, period): &(&str, Duration)| period.as_nanos() < least;
    let Some((name, period)) = tasks.chain(servers).find(is_short) else {
        return Ok(());
    };
    let why = format!(
        "{name}: its period of {} ns is below the granularity of a real run, {least} ns, by which a budget may be exceeded before that is noticed",
        period.as_nanos()
    );
    Err(Failure::input(format!("run {}", shown(&session.file)), why)
        .with_help("make the period longer, or simulate the set"))
}
