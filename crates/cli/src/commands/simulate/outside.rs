//! What came of servers and devices.

use crate::session::Session;
use vestal_core::{Duration, Scheduler, ServerId};
use vestal_policy::Cluster;
use vestal_result::run::{Bursts, DeviceRow, ServerRow};
use vestal_sim::Served;
use vestal_sim::guarantee::BurstCounts;

/// What the servers of a cluster did.
pub(super) struct Found {
    pub(super) served: Served,
    /// By server, how many replenishments its list had when it was longest, if it has one.
    pub(super) lists: Vec<Option<u16>>,
}

impl Found {
    /// Nothing of a cluster without servers, which nobody watched.
    pub(super) fn new((served, lists): (Option<Served>, Vec<Option<u16>>)) -> Option<Self> {
        served.map(|served| Self { served, lists })
    }
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

/// How long the lists of a cluster's servers became, by who decided there.
pub(super) fn lists<S: Scheduler + ?Sized>(cluster: &Cluster, scheduler: &S) -> Vec<Option<u16>> {
    let servers = cluster.configuration.servers();
    let servers = servers.into_iter().flat_map(|known| &known.servers);
    let numbers = servers.zip(0..).map(|(_, number)| ServerId(number));
    numbers
        .map(|number| scheduler.longest_list(number))
        .collect()
}

/// The rows of a result: the servers of one cluster after those of another.
pub(super) fn rows(session: &Session, found: &[Option<Found>]) -> (Vec<ServerRow>, Vec<DeviceRow>) {
    let (mut servers, mut devices) = (Vec::new(), Vec::new());
    for (cluster, found) in session.system.clusters.iter().zip(found) {
        let (Some(found), Some(known)) = (found, cluster.configuration.servers()) else {
            continue;
        };
        let rows = known.names.iter().zip(found.served.servers());
        let rows = rows.zip(&found.lists);
        servers.extend(rows.map(|((name, row), longest)| ServerRow {
            name: name.clone(),
            served_ns: row.served.as_nanos(),
            tolerated_ns: 0,
            replenishments: Some(row.replenishments),
            exhausted: row.exhausted,
            postponed_ns: row.postponed.as_nanos(),
            longest_list: *longest,
        }));
        let rows = session.set.devices.iter().zip(found.served.devices());
        devices.extend(rows.map(|(spec, row)| DeviceRow {
            name: spec.name.clone(),
            arrived: row.arrived,
            served: row.served,
            queued: row.queued,
            dropped: row.dropped,
            ..DeviceRow::default()
        }));
    }
    (servers, devices)
}

/// What became of bursts, where a test proves that they end in time or where none does.
pub(super) const fn bursts(found: BurstCounts, is_proved: bool) -> Bursts {
    let BurstCounts {
        kept,
        broken,
        of_others,
        cut,
        uncalled,
    } = found;
    let open = of_others.saturating_add(cut);
    match is_proved {
        true => Bursts {
            kept,
            broken: broken.saturating_add(uncalled),
            not_guaranteed: open,
        },
        false => Bursts {
            kept: 0,
            broken: 0,
            not_guaranteed: open.saturating_add(kept).saturating_add(broken),
        },
    }
}
