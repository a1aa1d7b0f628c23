//! Bottom halves of a real run that went on although a job of a more urgent and more critical server was ready.

use super::{SWITCH, inverted, open, unreadable};
use crate::failure::Failure;
use crate::session::Session;
use std::path::Path;
use vestal_core::engine::hierarchy::configuration::has_capacity;
use vestal_core::server::ServerKind;
use vestal_core::{DeviceId, ServerId, Service, TaskId};
use vestal_policy::Servers;
use vestal_result::replay::Inverted;
use vestal_trace::replay::bottom_halves::{Above, Below, first_inversion};
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
    for (half, device) in halves.zip((0..).map(DeviceId)) {
        let Some(order) = Order::of(servers, half, header.granularity) else {
            continue;
        };
        let below = Below {
            half,
            device,
            server: order.server,
            shares: order.shares,
            priority: order.priority,
            lends: &order.lends,
            above: &order.above,
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

/// Who is above a bottom half, and when.
struct Order {
    /// The bottom half's own server, and whether other tasks are in it.
    server: ServerId,
    shares: bool,
    /// How urgent it is where nobody is named on whose behalf it runs.
    priority: u32,
    /// On behalf of each server, where its own inherits.
    lends: Vec<Option<u32>>,
    above: Vec<Above>,
}

impl Order {
    /// Of a bottom half; `None`: nobody is above it. Those that may be are the tasks of servers that are more critical than its own and keep
    /// their budgets while they have nothing to do: whether one of another kind has any a recording does not say.
    fn of(servers: &Servers, half: TaskId, granularity: Service) -> Option<Self> {
        let served = servers.served.get(half.index())?;
        let server = |id: ServerId| servers.servers.get(id.index());
        let own = server(served.server)?;
        let host = server(served.on_behalf_of.unwrap_or(served.server))?;
        let lends = match &own.kind {
            ServerKind::Pibs { utilization } => {
                let each = servers.servers.iter();
                let lends = each.map(|host| {
                    let period = host.kind.period()?;
                    has_capacity(utilization, period, granularity).then_some(host.priority)
                });
                lends.collect()
            }
            ServerKind::Polling { .. }
            | ServerKind::IdlingPeriodic { .. }
            | ServerKind::Deferrable { .. }
            | ServerKind::Sporadic { .. } => Vec::new(),
        };
        let tasks = servers.served.iter().zip((0..).map(TaskId));
        let above = tasks.filter_map(|(task, id)| {
            let other = server(task.server).filter(|it| it.criticality > own.criticality)?;
            let (period, capacity, replenishments) = match &other.kind {
                ServerKind::Sporadic {
                    period,
                    capacity,
                    replenishments,
                    ..
                } => (*period, capacity, *replenishments),
                ServerKind::Deferrable { period, capacity } => (*period, capacity, u16::MAX),
                ServerKind::Polling { .. }
                | ServerKind::IdlingPeriodic { .. }
                | ServerKind::Pibs { .. } => return None,
            };
            let levels = servers.levels.highest().up_to_self();
            let least = levels.map(|mode| capacity.at(mode)).min();
            Some(Above {
                task: id,
                server: task.server,
                priority: other.priority,
                capacity: least.unwrap_or(Service::ZERO),
                period,
                replenishments,
            })
        });
        let above: Vec<Above> = above.collect();
        let priority = host.priority;
        let in_it = servers.served.iter();
        let in_it = in_it.filter(|task| task.server == served.server);
        (!above.is_empty()).then_some(Self {
            server: served.server,
            shares: in_it.count() > 1,
            priority,
            lends,
            above,
        })
    }
}
