//! What happens outside of the CPUs of a simulation, where its policy has servers: devices, jobs that wait for them,
//! requests for modes.

use vestal_core::{DeviceId, Instant, Level, ServerId, ServerKind};
use vestal_policy::Cluster;
use vestal_sim::outside::{Device, Wait};
use vestal_sim::{Events, Outside};
use vestal_workload::{TaskSet, Workload};

/// Events and requests of a workload.
pub struct Arrivals<'a>(pub &'a Workload);

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

/// What is outside of the cluster of a set, if it has servers.
#[must_use]
pub fn outside(set: &TaskSet, workload: &Workload, cluster: &Cluster) -> Option<Outside> {
    let servers = cluster.configuration.servers()?;
    let is_pibs = |home: ServerId| {
        let kind = servers.servers.get(home.index()).map(|server| &server.kind);
        matches!(kind, Some(ServerKind::Pibs { .. }))
    };
    let numbers = || (0..u16::MAX).map(DeviceId);
    let configured = servers.devices.iter().zip(&set.devices);
    let devices = configured.zip(numbers()).map(|((entry, spec), number)| {
        let home = servers.served.get(entry.bottom_half.index());
        Device {
            bottom_half: entry.bottom_half,
            cost: spec.cost,
            requested: workload.is_requested(number),
            inherits: home.is_some_and(|task| is_pibs(task.server)),
        }
    });
    let device_called = |name: &str| {
        let mut devices = numbers().zip(&set.devices);
        let (number, _) = devices.find(|(_, device)| device.name == name)?;
        Some(number)
    };
    let waits = set.tasks.iter().map(|task| {
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
