//! Bottom halves of a real run that went on although a job of a more urgent and more critical server was ready.

use super::{SWITCH, inverted, open, unreadable};
use crate::failure::Failure;
use crate::session::Session;
use std::path::Path;
use vestal_core::server::ServerKind;
use vestal_core::{ServerId, TaskId};
use vestal_policy::Servers;
use vestal_result::replay::Inverted;
use vestal_trace::replay::bottom_halves::{Below, first_inversion};
use vestal_trace::{Header, World};

/// The first of them; none where no such server is above a device.
pub(super) fn inversion(
    path: &Path,
    header: &Header,
    session: &Session,
) -> Result<Option<Inverted>, Failure> {
    if header.world != World::Linux || !header.domains.is_empty() {
        return Ok(None);
    }
    let Some(servers) = session.configuration().servers() else {
        return Ok(None);
    };
    let halves = servers.devices.iter().map(|device| device.bottom_half);
    let mut found = Vec::new();
    for half in halves {
        let above = above(servers, half);
        if above.is_empty() {
            continue;
        }
        let below = Below {
            bottom_halves: &[half],
            above: &above,
            granularity: header.granularity,
            tolerance: SWITCH,
        };
        let first = first_inversion(open(path)?, below);
        found.extend(first.map_err(|error| unreadable(path, &error))?);
    }
    let first = found.into_iter().min_by_key(|inversion| inversion.from);
    let name = |job: vestal_core::JobId| {
        let halves = servers.devices.iter().zip(&session.set.devices);
        let mut named = halves.filter(|(device, _)| device.bottom_half == job.task);
        match named.next() {
            Some((_, spec)) => format!("bottom half {} of {}", job.sequence, spec.name),
            None => format!("job {} of {}", job.sequence, session.task_name(job.task)),
        }
    };
    Ok(first.map(|inversion| inverted(&inversion, name)))
}

/// The tasks of servers that are more critical than that of a bottom half, more urgent than whoever it runs for, and keep their
/// budgets while they have nothing to do: whether one of another kind has any a recording does not say.
fn above(servers: &Servers, half: TaskId) -> Vec<(TaskId, ServerId)> {
    let own = servers.served.get(half.index());
    let server = |id: ServerId| servers.servers.get(id.index());
    let Some((own, host)) = own.and_then(|own| {
        let host = own.on_behalf_of.unwrap_or(own.server);
        Some((server(own.server)?, server(host)?))
    }) else {
        return Vec::new();
    };
    let tasks = servers.served.iter().zip((0..).map(TaskId));
    let above = tasks.filter_map(|(task, id)| {
        let other = server(task.server)?;
        let keeps = matches!(
            other.kind,
            ServerKind::Sporadic { .. } | ServerKind::Deferrable { .. }
        );
        let is_above = other.criticality > own.criticality && other.priority > host.priority;
        (keeps && is_above).then_some((id, task.server))
    });
    above.collect()
}
