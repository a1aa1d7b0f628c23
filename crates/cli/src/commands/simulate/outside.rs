//! What happens outside of a session's CPUs, where its policy has servers: devices, jobs that wait for them, requests
//! for modes; and what came of it.

use crate::session::Session;
use vestal_core::{DeviceId, Duration, Instant, Level, ServerId, ServerKind};
use vestal_policy::Cluster;
use vestal_result::run::{DeviceRow, ServerRow};
use vestal_sim::outside::{Device, Wait};
use vestal_sim::{Events, Outside, Served};
use vestal_workload::Workload;

/// Events and requests of a workload.
pub(super) struct Arrivals<'a>(pub(super) &'a Workload);

impl Events for Arrivals<'_> {
    fn interrupt(
        &self,
        device: DeviceId,
        index: u64,
        previous: Option<Instant>,
    ) -> Option<(Instant, u64)> {
        self.0.interrupt(device, index, previous)
    }

    fn mode_request(&self, index: u64) -> Option<(Instant, Level)> {
        self.0.mode_request(index)
    }
}

/// What is outside of a cluster, if it has servers.
pub(super) fn of(session: &Session, cluster: &Cluster) -> Option<Outside> {
    let servers = cluster.configuration.servers()?;
    let is_pibs = |home: ServerId| {
        let kind = servers.servers.get(home.index()).map(|server| &server.kind);
        matches!(kind, Some(ServerKind::Pibs { .. }))
    };
    let numbers = || (0..u16::MAX).map(DeviceId);
    let configured = servers.devices.iter().zip(&session.set.devices);
    let devices = configured.zip(numbers()).map(|((entry, spec), number)| {
        let home = servers.served.get(entry.bottom_half.index());
        Device {
            bottom_half: entry.bottom_half,
            cost: spec.cost,
            requested: session.workload.is_requested(number),
            inherits: home.is_some_and(|task| is_pibs(task.server)),
        }
    });
    let device_called = |name: &str| {
        let mut devices = numbers().zip(&session.set.devices);
        let (number, _) = devices.find(|(_, device)| device.name == name)?;
        Some(number)
    };
    let waits = session.set.tasks.iter().map(|task| {
        let waits = task.io.iter().filter_map(|io| {
            Some(Wait {
                after: io.after,
                device: device_called(&io.device)?,
                events: io.events,
            })
        });
        // Where no device is configured nobody serves, and nobody waits.
        match servers.devices.is_empty() {
            true => Vec::new(),
            false => waits.collect(),
        }
    });
    // Whoever runs in a PIBS runs on behalf of another one, and so do those for whom it waits.
    let hosts = servers
        .served
        .iter()
        .map(|task| match is_pibs(task.server) {
            true => task.on_behalf_of,
            false => Some(task.server),
        });
    Some(Outside {
        devices: devices.collect(),
        waits: waits.collect(),
        hosts: hosts.collect(),
    })
}

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
