//! What came of servers and devices.

use crate::session::Session;
use vestal_core::{Duration, ServerId};
use vestal_policy::Cluster;
use vestal_result::run::{DeviceRow, ServerRow};
use vestal_sim::Served;

/// Who keeps account of the servers and devices of a cluster, if it has any.
pub(super) fn observer(cluster: &Cluster) -> Option<Served> {
    let servers = cluster.configuration.servers()?;
    let homes: Vec<ServerId> = servers.served.iter().map(|task| task.server).collect();
    let grids: Vec<Option<Duration>> = servers
        .servers
        .iter()
        .map(|server| server.kind.replenishment_period())
        .collect();
    let bottom_halves = servers.devices.iter().map(|device| device.bottom_half);
    Some(Served::new(&homes, &grids, bottom_halves.collect()))
}

/// The rows of a result.
pub(super) fn rows(session: &Session, served: Option<&Served>) -> (Vec<ServerRow>, Vec<DeviceRow>) {
    let (Some(served), Some(servers)) = (served, session.configuration().servers()) else {
        return (Vec::new(), Vec::new());
    };
    let rows = servers.names.iter().zip(served.servers());
    let rows = rows.map(|(name, found)| ServerRow {
        name: name.clone(),
        served_ns: found.served.as_nanos(),
        replenishments: Some(found.replenishments),
        exhausted: found.exhausted,
        postponed_ns: found.postponed.as_nanos(),
    });
    let devices = session.set.devices.iter().zip(served.devices());
    let devices = devices.map(|(spec, found)| DeviceRow {
        name: spec.name.clone(),
        arrived: found.arrived,
        served: found.served,
        queued: found.queued,
        dropped: found.dropped,
    });
    (rows.collect(), devices.collect())
}
