//! From `[[server]]`, `[[device]]` and `io` of a file to the core's configuration of servers.
//!
//! Order of servers and, inside each, of tasks: the priorities of the file, or rate-monotonically where it gives
//! none; equal ones as they stand in the file. Bottom halves go before the tasks of their server.

use crate::configuration::Servers;
use crate::refusal::Refusal;
use crate::setup::Setup;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use vestal_core::{
    ByLevel, DeviceConfiguration, Duration, Level, LocalOrder, ServedTask, ServerConfiguration,
    ServerId, ServerKind, Service, Task, TaskConfiguration, TaskId, Utilization, Wcet, WhenFull,
};
use vestal_workload::diagnostic::{Sink, one_of, quote};
use vestal_workload::model::{
    DeviceArrival, LocalScheduler, MergeAt, PerLevel, ServerKind as Given, ServerRule, ServerSpec,
};
use vestal_workload::{Ratio, TaskSet, codes};

/// The longest replenishment list of a sporadic server whose file does not say.
pub const REPLENISHMENTS: u16 = 32;

/// The servers, tasks and devices of a set. A set without servers gets one for each task.
///
/// # Errors
/// Everything in the file that servers cannot do, as `user`, a policy, would have it.
pub(crate) fn of_set(setup: &Setup<'_>, user: &str) -> Result<Servers, Refusal> {
    if setup.set.servers.is_empty() {
        return one_for_each(setup);
    }
    let mut reading = Reading {
        set: setup.set,
        user,
        sink: Sink::new(Arc::clone(&setup.set.origin.source)),
    };
    let order = reading.priorities();
    let servers = reading.servers(&order);
    let homes = reading.homes();
    let hosts = Hosts::of(setup.set, &order, &homes);
    reading.inheritance(&hosts, &homes);
    reading.sink.into_result().map_err(Refusal::diagnosed)?;
    let served = served(setup, &homes, &hosts)?;
    let (bottom_halves, devices) = bottom_halves(setup.set, &hosts)?;
    let mut tasks = setup.with_priorities(&[]);
    tasks.extend(
        bottom_halves
            .iter()
            .map(|half| TaskConfiguration::new(half.task, 0)),
    );
    let all: Vec<ServedTask> = served.into_iter().chain(bottom_halves).collect();
    for (entry, task) in tasks.iter_mut().zip(&all) {
        entry.priority = order.get(task.server.index()).copied().unwrap_or(0);
    }
    Ok(Servers {
        tasks,
        names: setup
            .set
            .servers
            .iter()
            .map(|server| server.name.clone())
            .collect(),
        servers,
        served: all,
        devices,
        levels: setup.levels,
    })
}

/// A deferrable server for each task, with its period and its budget: nothing that one task does costs another
/// more than that.
fn one_for_each(setup: &Setup<'_>) -> Result<Servers, Refusal> {
    let given = setup.given.file.priorities.clone();
    let priorities =
        given.unwrap_or_else(|| setup.classic(vestal_core::ClassicOrder::RateMonotonic));
    let tasks = setup.with_priorities(&priorities);
    let servers = tasks.iter().map(|entry| {
        let Task {
            period,
            degraded,
            criticality,
            ..
        } = entry.task;
        let own = entry.task.own_wcet();
        let whole = Service::supplied_during(period);
        let capacity = |level: Level| match level <= criticality {
            true => own.min(whole),
            false => degraded.unwrap_or(Service::ZERO).min(whole),
        };
        ServerConfiguration {
            kind: ServerKind::Deferrable {
                period,
                capacity: by_level(setup.set, capacity),
            },
            priority: entry.priority,
            criticality,
            order: LocalOrder::FixedPriority,
        }
    });
    let served = tasks.iter().zip(0..).map(|(entry, number)| ServedTask {
        task: entry.task,
        server: ServerId(number),
        priority: 1,
        on_behalf_of: None,
    });
    Ok(Servers {
        servers: servers.collect(),
        served: served.collect(),
        names: setup
            .set
            .tasks
            .iter()
            .map(|task| task.name.clone())
            .collect(),
        devices: Vec::new(),
        levels: setup.levels,
        tasks,
    })
}

fn by_level<T: Copy>(set: &TaskSet, of: impl Fn(Level) -> T) -> ByLevel<T> {
    let levels = (0..u8::MAX).map(Level).take(set.levels.len());
    let values: Vec<T> = levels.map(&of).collect();
    ByLevel::new(&values).unwrap_or_else(|| ByLevel::constant(of(Level::LOWEST)))
}

/// Ranks, the larger the more urgent: by keys, of which the smallest is the most urgent, and then by place. Where there
/// is none comes last.
fn ranks(keys: impl Iterator<Item = Option<u64>>) -> Vec<u32> {
    let mut order: Vec<(bool, Option<u64>, usize)> = keys
        .enumerate()
        .map(|(place, key)| (key.is_none(), key, place))
        .collect();
    order.sort_unstable();
    let mut ranks = vec![0; order.len()];
    for (rank, (.., place)) in (1..).zip(order.iter().rev()) {
        if let Some(entry) = ranks.get_mut(*place) {
            *entry = rank;
        }
    }
    ranks
}

/// A priority as a key of [`ranks`].
const fn by_priority(priority: u32) -> u64 {
    (u32::MAX - priority) as u64
}

fn period_of(server: &ServerSpec) -> Option<Duration> {
    match server.kind {
        Given::Periodic { period, .. } => Some(period),
        Given::Pibs { .. } => None,
    }
}

/// Whom a PIBS may serve: the servers with periods that it names, or any.
fn candidates(set: &TaskSet, pibs: usize) -> Vec<usize> {
    let named: &[usize] = match set.servers.get(pibs).map(|server| &server.kind) {
        Some(Given::Pibs { serves, .. }) => serves,
        Some(Given::Periodic { .. }) | None => &[],
    };
    let servers = set.servers.iter().enumerate();
    let with_period = servers.filter(|(_, server)| period_of(server).is_some());
    with_period
        .map(|(place, _)| place)
        .filter(|place| named.is_empty() || named.contains(place))
        .collect()
}

/// On whose behalf things run that do not say it themselves.
struct Hosts {
    /// By server: itself, or whom a PIBS serves where nothing else is known.
    of_servers: Vec<Option<usize>>,
    /// By device, the same for its bottom half.
    of_devices: Vec<Option<usize>>,
}

impl Hosts {
    /// `order` has the priorities of the servers, `homes` the servers of the tasks.
    fn of(set: &TaskSet, order: &[u32], homes: &[Option<usize>]) -> Self {
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
    fn for_pibs(set: &TaskSet, server: usize, host: Option<usize>) -> Option<ServerId> {
        let own = set.servers.get(server)?;
        match period_of(own) {
            Some(_) => None,
            None => host.and_then(number),
        }
    }
}

fn number(place: usize) -> Option<ServerId> {
    u16::try_from(place).ok().map(ServerId)
}

struct Reading<'a> {
    set: &'a TaskSet,
    user: &'a str,
    sink: Sink,
}

impl Reading<'_> {
    /// The servers' priorities, as ranks.
    fn priorities(&mut self) -> Vec<u32> {
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

    fn servers(&mut self, order: &[u32]) -> Vec<ServerConfiguration> {
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

    /// At a level that has none, that of the level below continues.
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
            let known = values.iter().take(level.index() + 1).rev().flatten().next();
            let share =
                known.and_then(|share| Utilization::new(share.numerator(), share.denominator()));
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
    fn homes(&mut self) -> Vec<Option<usize>> {
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
    fn inheritance(&mut self, hosts: &Hosts, homes: &[Option<usize>]) {
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
        let lowest = utilization.first().copied().flatten();
        let share =
            lowest.and_then(|share| Utilization::new(share.numerator(), share.denominator()));
        let host = host.and_then(|host| self.set.servers.get(host));
        let capacity = host
            .and_then(period_of)
            .zip(share)
            .map(|(period, share)| share.of_floor(period));
        let found = match (host, capacity) {
            (Some(_), Some(capacity)) if !capacity.is_zero() => return,
            // Said before.
            (Some(_), None) => return,
            (Some(host), Some(_)) => format!("less than 1 ns in a period of {}", quote(&host.name)),
            (None, _) => "no server with a period".to_owned(),
        };
        self.sink.error(
            codes::NOTHING_TO_INHERIT,
            spec.place.0,
            &format!("server[{pibs}]"),
            format!("PIBS {} with {found}", quote(&spec.name)),
            "a server with a period on whose behalf it runs, of which its utilisation is at least 1 ns",
            "add a server with a period, or raise `utilization`",
        );
    }
}

/// The tasks of the file with their servers.
fn served(
    setup: &Setup<'_>,
    homes: &[Option<usize>],
    hosts: &Hosts,
) -> Result<Vec<ServedTask>, Refusal> {
    let given = setup.given.file.priorities.as_ref();
    let priorities = match given {
        Some(given) => ranks(given.iter().map(|priority| Some(by_priority(*priority)))),
        None => setup.classic(vestal_core::ClassicOrder::RateMonotonic),
    };
    let mut served = Vec::with_capacity(setup.tasks.len());
    for ((task, home), priority) in setup.tasks.iter().zip(homes).zip(priorities) {
        let server = home.and_then(number);
        let server = server.ok_or_else(|| Refusal::bug("a task has no server"))?;
        let home = server.index();
        served.push(ServedTask {
            task: *task,
            server,
            priority,
            on_behalf_of: Hosts::for_pibs(
                setup.set,
                home,
                hosts.of_servers.get(home).copied().flatten(),
            ),
        });
    }
    Ok(served)
}

/// The bottom halves of the devices, which stand behind the tasks of the file, and who of them is whose. The first
/// device's is the most urgent one, and due a period of the device after it began, or of its server.
fn bottom_halves(
    set: &TaskSet,
    hosts: &Hosts,
) -> Result<(Vec<ServedTask>, Vec<DeviceConfiguration>), Refusal> {
    let mut halves = Vec::with_capacity(set.devices.len());
    let mut devices = Vec::with_capacity(set.devices.len());
    let last = u32::try_from(set.tasks.len() + set.devices.len()).unwrap_or(u32::MAX);
    for ((place, device), priority) in set.devices.iter().enumerate().zip((0..=last).rev()) {
        let host = hosts.of_devices.get(place).copied().flatten();
        let own = set.servers.get(device.server);
        let inherited = host.and_then(|host| period_of(set.servers.get(host)?));
        let period = match device.arrival {
            DeviceArrival::Requested => inherited,
            DeviceArrival::Periodic { period }
            | DeviceArrival::Sporadic { period }
            | DeviceArrival::Burst { period, .. } => Some(period),
        };
        let (Some(own), Some(period), Some(server), Ok(number)) = (
            own,
            period,
            number(device.server),
            u16::try_from(set.tasks.len() + place),
        ) else {
            return Err(Refusal::input(format!(
                "the bottom half of {} is one task too many",
                quote(&device.name)
            )));
        };
        let task = Task::new(own.criticality, period, period, Wcet::constant(device.cost));
        let task = task.map_err(|error| Refusal::bug(error.to_string()))?;
        devices.push(DeviceConfiguration {
            bottom_half: TaskId(number),
        });
        halves.push(ServedTask {
            task,
            server,
            priority,
            on_behalf_of: Hosts::for_pibs(set, device.server, host),
        });
    }
    Ok((halves, devices))
}
