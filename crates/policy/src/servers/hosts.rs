//! On whose behalf things run in a PIBS.

use super::common::{candidates, number, period_of};
use std::cmp::Reverse;
use vestal_core::ServerId;
use vestal_workload::TaskSet;

/// On whose behalf things run that do not say it themselves.
pub(super) struct Hosts {
    /// By server: itself, or whom a PIBS serves where nothing else is known.
    pub(super) of_servers: Vec<Option<usize>>,
    /// By device, the same for its bottom half.
    pub(super) of_devices: Vec<Option<usize>>,
}

impl Hosts {
    /// `order` has the priorities of the servers, `homes` the servers of the tasks.
    pub(super) fn of(set: &TaskSet, order: &[u32], homes: &[Option<usize>]) -> Self {
        let preferred = |among: Vec<usize>| {
            let key = |place: &usize| (Reverse(order.get(*place)), *place);
            among.into_iter().min_by_key(key)
        };
        let servers = set.servers.iter().enumerate();
        let of_servers: Vec<Option<usize>> = servers
            .map(|(place, server)| match period_of(server) {
                Some(_) => Some(place),
                None => preferred(candidates(set, place)),
            })
            .collect();
        let of_server = |place: usize| of_servers.get(place).copied().flatten();
        let of_devices = set.devices.iter().map(|device| {
            let is_pibs = set
                .servers
                .get(device.server)
                .is_some_and(|own| period_of(own).is_none());
            if !is_pibs {
                return Some(device.server);
            }
            let may = candidates(set, device.server);
            let waiters = set.tasks.iter().zip(homes);
            let waiters =
                waiters.filter(|(task, _)| task.io.iter().any(|io| io.device == device.name));
            let waiting = waiters.filter_map(|(_, home)| of_server((*home)?));
            let waiting: Vec<usize> = waiting.filter(|place| may.contains(place)).collect();
            preferred(waiting).or_else(|| preferred(may))
        });
        Self {
            of_devices: of_devices.collect(),
            of_servers,
        }
    }

    /// What a task or a bottom half of `server` is configured with: nothing if the server has a period.
    pub(super) fn for_pibs(set: &TaskSet, server: usize, host: Option<usize>) -> Option<ServerId> {
        let own = set.servers.get(server)?;
        match period_of(own) {
            Some(_) => None,
            None => host.and_then(number),
        }
    }
}
