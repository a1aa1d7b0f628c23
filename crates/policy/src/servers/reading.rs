//! What servers cannot do with a file, and what they can.

use super::common::{by_level, by_priority, candidates, period_of, ranks};
use super::hosts::Hosts;
use std::collections::BTreeSet;
use std::sync::Arc;
use vestal_core::{
    ByLevel, Level, LocalOrder, ServerConfiguration, ServerKind, Service, Utilization, WhenFull,
};
use vestal_workload::diagnostic::{Sink, one_of, quote};
use vestal_workload::model::{
    LocalScheduler, MergeAt, PerLevel, ServerKind as Given, ServerRule, ServerSpec,
};
use vestal_workload::{Diagnostic, Diagnostics, Ratio, TaskSet, codes};

/// The longest replenishment list of a sporadic server whose file does not say.
pub const REPLENISHMENTS: u16 = 32;

pub(super) struct Reading<'a> {
    pub(super) set: &'a TaskSet,
    /// How many of its servers stand in the file.
    pub(super) in_file: usize,
    pub(super) user: &'a str,
    pub(super) sink: Sink,
}

impl<'a> Reading<'a> {
    /// For `user`, a policy or a test. The first `in_file` servers of `set` stand in the file.
    pub(super) fn new((set, in_file): (&'a TaskSet, usize), user: &'a str) -> Self {
        Self {
            set,
            in_file,
            user,
            sink: Sink::new(Arc::clone(&set.origin.source)),
        }
    }

    /// What was found: errors, or else warnings.
    pub(super) fn finish(self) -> Result<Vec<Diagnostic>, Diagnostics> {
        self.sink.into_result()
    }

    /// The servers' priorities, as ranks.
    pub(super) fn priorities(&mut self) -> Vec<u32> {
        let servers = &self.set.servers;
        let own = || servers.iter().filter(|server| period_of(server).is_some());
        let without = || own().filter(|server| server.priority.is_none());
        let given = own().any(|server| server.priority.is_some());
        if let Some(first) = without().next().filter(|_| given) {
            let names = one_of(without().map(|server| server.name.as_str()));
            self.sink.error(
                codes::PRIORITIES_PARTIAL,
                first.place.0,
                "server.priority",
                format!("no priority for {names}"),
                "a priority for all servers with a period, or for none",
                "add the missing ones, or remove `priority` everywhere to let the policy assign them",
            );
        }
        for (place, server) in servers.iter().enumerate() {
            if period_of(server).is_some() {
                continue;
            }
            let degraded = server.degraded.iter().any(Option::is_some);
            let keys = [
                ("priority", server.priority.is_some()),
                ("degraded", degraded),
            ];
            for (key, _) in keys.into_iter().filter(|(_, given)| *given) {
                self.sink.error(
                    codes::PIBS_OF_ITS_OWN,
                    server.place.0,
                    &format!("server[{place}].{key}"),
                    format!("{} on the PIBS {}", quote(key), quote(&server.name)),
                    "a priority and a capacity that it inherits",
                    "remove it: priority and period are those of the server on whose behalf it runs, and \
                     `utilization` may differ by level",
                );
            }
        }
        ranks(servers.iter().map(|server| {
            let period = period_of(server)?;
            Some(match server.priority {
                Some(priority) => by_priority(priority),
                None => period.as_nanos(),
            })
        }))
    }

    pub(super) fn servers(&mut self, order: &[u32]) -> Vec<ServerConfiguration> {
        let specs = self.set.servers.iter().enumerate().zip(order);
        let mut servers = Vec::with_capacity(self.set.servers.len());
        for ((place, spec), priority) in specs {
            servers.push(ServerConfiguration {
                kind: self.kind(place, spec),
                priority: *priority,
                criticality: spec.criticality,
                order: match spec.scheduler {
                    LocalScheduler::FixedPriority => LocalOrder::FixedPriority,
                    LocalScheduler::Edf => LocalOrder::EarliestDeadline,
                },
            });
        }
        servers
    }

    fn kind(&mut self, place: usize, spec: &ServerSpec) -> ServerKind {
        let (rule, period, capacity) = match &spec.kind {
            Given::Periodic {
                rule,
                period,
                capacity,
            } => (*rule, *period, self.capacity(place, spec, capacity)),
            Given::Pibs { utilization, .. } => {
                let utilization = self.utilization(place, spec, utilization);
                return ServerKind::Pibs { utilization };
            }
        };
        match rule {
            ServerRule::Polling => ServerKind::Polling { period, capacity },
            ServerRule::IdlingPeriodic => ServerKind::IdlingPeriodic { period, capacity },
            ServerRule::Deferrable => ServerKind::Deferrable { period, capacity },
            ServerRule::Sporadic {
                replenishments,
                full,
            } => ServerKind::Sporadic {
                period,
                capacity,
                replenishments: replenishments
                    .and_then(|most| u16::try_from(most).ok())
                    .unwrap_or(REPLENISHMENTS),
                full: match full {
                    Some(MergeAt::Tail) => WhenFull::MergeTail,
                    Some(MergeAt::Head) | None => WhenFull::MergeHead,
                },
            },
        }
    }

    /// Up to the own level what `capacity` says, above it what `degraded` says: without that nothing.
    fn capacity(
        &mut self,
        place: usize,
        spec: &ServerSpec,
        capacity: &PerLevel<Service>,
    ) -> ByLevel<Service> {
        let at =
            |values: &PerLevel<Service>, level: Level| values.get(level.index()).copied().flatten();
        let levels = spec.criticality.up_to_self();
        let missing: Vec<Level> = levels
            .filter(|level| at(capacity, *level).is_none())
            .collect();
        self.missing((place, spec), "capacity", &missing);
        by_level(self.set, |level| {
            let values = match level <= spec.criticality {
                true => capacity,
                false => &spec.degraded,
            };
            at(values, level).unwrap_or(Service::ZERO)
        })
    }

    /// At a level that has none it is none.
    fn utilization(
        &mut self,
        place: usize,
        spec: &ServerSpec,
        values: &PerLevel<Ratio>,
    ) -> ByLevel<Utilization> {
        let lowest = values.first().copied().flatten();
        if lowest.is_none() {
            self.missing((place, spec), "utilization", &[Level::LOWEST]);
        }
        by_level(self.set, |level| {
            let share = values.get(level.index()).copied().flatten();
            let share =
                share.and_then(|share| Utilization::new(share.numerator(), share.denominator()));
            share.unwrap_or(Utilization::ZERO)
        })
    }

    fn missing(&mut self, (place, spec): (usize, &ServerSpec), key: &str, levels: &[Level]) {
        if levels.is_empty() {
            return;
        }
        let names = levels.iter().map(|level| self.set.level_name(*level));
        let names: Vec<&str> = names.collect();
        let example: Vec<String> = names.iter().map(|name| format!("{name} = ...")).collect();
        self.sink.error(
            codes::CAPACITY_MISSING,
            spec.place.0,
            &format!("server[{place}].{key}"),
            format!("server {} without a value for {}", quote(&spec.name), one_of(names)),
            format!(
                "a value for the lowest level, and of a capacity for every level up to the server's own: {} starts in \
                 the lowest mode",
                quote(self.user)
            ),
            format!("add `{}` to its `{key}`", example.join(", ")),
        );
    }

    /// The server of each task.
    pub(super) fn homes(&mut self) -> Vec<Option<usize>> {
        let mut homes = vec![None; self.set.tasks.len()];
        for (place, server) in self.set.servers.iter().enumerate() {
            for task in &server.tasks {
                if let Some(home) = homes.get_mut(*task) {
                    *home = Some(place);
                }
            }
        }
        let alone = || self.set.tasks.iter().zip(&homes).enumerate();
        for (place, (task, _)) in alone().filter(|(_, (_, home))| home.is_none()) {
            self.sink.error(
                codes::TASK_WITHOUT_SERVER,
                task.places.name.0,
                &format!("task[{place}]"),
                format!("task {} in no server", quote(&task.name)),
                format!("a server that names it in its `tasks`: {} executes nothing else", quote(self.user)),
                format!(
                    "add {} to the `tasks` of a server, or remove all servers: then each task gets one of its own",
                    quote(&task.name)
                ),
            );
        }
        homes
    }

    /// Whoever runs in a PIBS runs on behalf of somebody whose period gives it a capacity.
    pub(super) fn inheritance(&mut self, hosts: &Hosts, homes: &[Option<usize>]) {
        // Who may be named, by PIBS.
        let mut named: BTreeSet<(usize, Option<usize>)> = BTreeSet::new();
        let of_server = |place: usize| hosts.of_servers.get(place).copied().flatten();
        for home in homes.iter().flatten() {
            named.insert((*home, of_server(*home)));
        }
        for (device, host) in self.set.devices.iter().zip(&hosts.of_devices) {
            named.insert((device.server, *host));
        }
        for (place, (task, home)) in self.set.tasks.iter().zip(homes).enumerate() {
            for (at, io) in task.io.iter().enumerate() {
                let mut devices = self.set.devices.iter();
                let Some(device) = devices.find(|device| device.name == io.device) else {
                    continue;
                };
                let Some(server) = self.set.servers.get(device.server) else {
                    continue;
                };
                let Some(host) = home.and_then(of_server) else {
                    continue;
                };
                if period_of(server).is_some() {
                    continue;
                }
                if candidates(self.set, device.server).contains(&host) {
                    named.insert((device.server, Some(host)));
                    continue;
                }
                let host = self
                    .set
                    .servers
                    .get(host)
                    .map_or("", |host| host.name.as_str());
                self.sink.error(
                    codes::WAITS_FOR_OTHERS_PIBS,
                    task.places.name.0,
                    &format!("task[{place}].io[{at}].device"),
                    format!(
                        "{}, handled by the PIBS {}",
                        quote(&device.name),
                        quote(&server.name)
                    ),
                    format!(
                        "a device whose PIBS serves {}, for which the task waits",
                        quote(host)
                    ),
                    format!(
                        "add {} to the `serves` of {}, or leave `serves` out",
                        quote(host),
                        quote(&server.name)
                    ),
                );
            }
        }
        let idle = |pibs: &usize| !named.iter().any(|(used, _)| used == pibs);
        for pibs in (0..self.set.servers.len()).filter(idle) {
            self.idle(pibs);
        }
        for (pibs, host) in named {
            self.host(pibs, host);
        }
    }

    fn host(&mut self, pibs: usize, host: Option<usize>) {
        let Some(spec) = self.set.servers.get(pibs) else {
            return;
        };
        let Given::Pibs { utilization, .. } = &spec.kind else {
            return;
        };
        // At the lowest level it has to have a share, at others it may have none.
        let shares = shares(utilization).filter(|(level, share)| *level == 0 || !share.is_zero());
        let host = host.and_then(|host| self.set.servers.get(host));
        let period = host.and_then(period_of);
        let least = period.and_then(|period| {
            let capacities = shares.map(|(level, share)| (share.of_floor(period), level));
            capacities.min()
        });
        let found = match (host, least) {
            (Some(_), Some((capacity, _))) if !capacity.is_zero() => return,
            // Said before.
            (Some(_), None) => return,
            (Some(host), Some((_, level))) => format!(
                "less than 1 ns at {} in a period of {}",
                quote(self.set.level_name(Level(level))),
                quote(&host.name)
            ),
            (None, _) => "no server with a period".to_owned(),
        };
        self.nothing_to_inherit((pibs, spec), &found);
    }

    /// A PIBS in which nothing runs: there is somebody on whose behalf something could.
    fn idle(&mut self, pibs: usize) {
        let Some(spec) = self.set.servers.get(pibs) else {
            return;
        };
        let Given::Pibs { utilization, .. } = &spec.kind else {
            return;
        };
        // Said before.
        let Some((_, share)) = shares(utilization).find(|(level, _)| *level == 0) else {
            return;
        };
        let candidates = candidates(self.set, pibs);
        let servers = candidates
            .iter()
            .filter_map(|host| self.set.servers.get(*host));
        let most = servers
            .filter_map(period_of)
            .map(|period| share.of_floor(period))
            .max();
        let found = match most {
            Some(capacity) if !capacity.is_zero() => return,
            Some(_) => format!(
                "less than 1 ns at {} in a period of whomever it may serve",
                quote(self.set.level_name(Level::LOWEST))
            ),
            None => "no server with a period".to_owned(),
        };
        self.nothing_to_inherit((pibs, spec), &found);
    }

    fn nothing_to_inherit(&mut self, (pibs, spec): (usize, &ServerSpec), found: &str) {
        self.sink.error(
            codes::NOTHING_TO_INHERIT,
            spec.place.0,
            &format!("server[{pibs}]"),
            format!("PIBS {} with {found}", quote(&spec.name)),
            "a server with a period on whose behalf it runs, of which its utilisation is at least 1 ns at the lowest \
             level, and at each other one none or at least 1 ns",
            "add a server with a period, or raise `utilization`",
        );
    }
}

/// What is given of a PIBS, by the number of the level.
fn shares(utilization: &PerLevel<Ratio>) -> impl Iterator<Item = (u8, Utilization)> {
    (0..=u8::MAX).zip(utilization).filter_map(|(level, share)| {
        let share = (*share)?;
        Some((
            level,
            Utilization::new(share.numerator(), share.denominator())?,
        ))
    })
}
