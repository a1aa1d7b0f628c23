//! What servers have to be where the mode rises by itself.

use super::common::period_of;
use super::hosts::Hosts;
use super::reading::Reading;
use vestal_core::{Duration, Level, Service, Utilization};
use vestal_workload::codes;
use vestal_workload::diagnostic::quote;
use vestal_workload::model::{
    DeviceArrival, DeviceSpec, IoSpec, PerLevel, ServerKind, ServerRule, ServerSpec, TaskSpec,
};

/// What a server has at a level: a capacity, or a share.
#[derive(Clone, Copy)]
enum Budget {
    Capacity(Duration, Service),
    Share(Utilization),
}

impl Budget {
    fn of(spec: &ServerSpec, level: Level) -> Self {
        match &spec.kind {
            ServerKind::Periodic {
                period, capacity, ..
            } => {
                let values = match level <= spec.criticality {
                    true => capacity,
                    false => &spec.degraded,
                };
                Self::Capacity(*period, at(values, level).unwrap_or(Service::ZERO))
            }
            ServerKind::Pibs { utilization, .. } => {
                let share = at(utilization, level);
                let share = share
                    .and_then(|share| Utilization::new(share.numerator(), share.denominator()));
                Self::Share(share.unwrap_or(Utilization::ZERO))
            }
        }
    }

    const fn is_none(self) -> bool {
        match self {
            Self::Capacity(_, capacity) => capacity.is_zero(),
            Self::Share(share) => share.is_zero(),
        }
    }

    /// What it supplies at least within one period of a server that waits.
    fn within(self, period: Duration) -> u128 {
        match self {
            Self::Capacity(own, capacity) => {
                let times = period.as_nanos().checked_div(own.as_nanos()).unwrap_or(0);
                u128::from(times).saturating_mul(u128::from(capacity.as_nanos()))
            }
            Self::Share(share) => u128::from(share.of_floor(period).as_nanos()),
        }
    }
}

fn at<T: Copy>(values: &PerLevel<T>, level: Level) -> Option<T> {
    values.get(level.index()).copied().flatten()
}

impl Reading<'_> {
    /// Everything that servers, tasks and devices have to be for it.
    pub(super) fn adaptive(&mut self, homes: &[Option<usize>], hosts: &Hosts) {
        let set = self.set;
        for (place, server) in set.servers.iter().enumerate() {
            self.only_sporadic(place, server);
            self.level_of_its_tasks(place, server);
            self.no_more_above(place, server);
        }
        for (place, task) in set.tasks.iter().enumerate() {
            let home = homes.get(place).copied().flatten();
            let host = home.and_then(|home| hosts.of_servers.get(home).copied().flatten());
            let period = host.and_then(|host| period_of(set.servers.get(host)?));
            self.has_execution_times((place, task), home);
            for (index, io) in task.io.iter().enumerate() {
                let device = set.devices.iter().find(|device| device.name == io.device);
                let server = device.and_then(|device| set.servers.get(device.server));
                let (Some(device), Some(server)) = (device, server) else {
                    continue;
                };
                let field = format!("task[{place}].io[{index}]");
                if self.is_served((&field, task, io), device, server) {
                    self.is_short((&field, task, io), (device, server), period);
                }
            }
        }
    }

    fn only_sporadic(&mut self, place: usize, server: &ServerSpec) {
        let kind = match &server.kind {
            ServerKind::Periodic { rule, .. } => match rule {
                ServerRule::Polling => "polling",
                ServerRule::IdlingPeriodic => "idling-periodic",
                ServerRule::Deferrable => "deferrable",
                ServerRule::Sporadic { .. } => return,
            },
            ServerKind::Pibs { .. } => return,
        };
        self.sink.error(
            codes::SERVER_KIND,
            server.places.kind.0,
            &format!("server[{place}].kind"),
            format!("{} server {}", quote(kind), quote(&server.name)),
            format!("`sporadic` or `pibs`: {} has no others", quote(self.user)),
            "make it `sporadic`, or use the policy `hsf`",
        );
    }

    fn level_of_its_tasks(&mut self, place: usize, server: &ServerSpec) {
        let set = self.set;
        let mut tasks = server.tasks.iter().filter_map(|task| set.tasks.get(*task));
        let other = tasks.find(|task| task.criticality != server.criticality);
        let Some(other) = other else { return };
        let own = set.level_name(server.criticality);
        let level = set.level_name(other.criticality);
        self.sink.error(
            codes::SERVER_LEVEL,
            server.places.criticality.0,
            &format!("server[{place}].criticality"),
            format!(
                "{} with task {} of {}",
                quote(own),
                quote(&other.name),
                quote(level)
            ),
            "the level of all its tasks: a rise of the mode re-dimensions a server with what it serves",
            format!(
                "make its `criticality` {}, or move the task to a server of that level",
                quote(level)
            ),
        );
    }

    /// A PIBS; servers with a period are looked at when the file is read.
    fn no_more_above(&mut self, place: usize, server: &ServerSpec) {
        let ServerKind::Pibs { .. } = server.kind else {
            return;
        };
        let share = |level: Level| match Budget::of(server, level) {
            Budget::Share(share) => share,
            Budget::Capacity(..) => Utilization::ZERO,
        };
        let own = server.criticality;
        let levels = (1..u8::MAX).map(Level).take(self.set.levels.len() - 1);
        let mut last = share(Level::LOWEST);
        for level in levels {
            let here = share(level);
            let found = match level <= own {
                true if last.exceeds(here) => "less than at the level below",
                false if here.exceeds(last) => "more than at its own level",
                true => {
                    last = here;
                    continue;
                }
                false => continue,
            };
            let name = self.set.level_name(level);
            self.sink.error(
                codes::UTILIZATION_BY_LEVEL,
                server.places.utilization.0,
                &format!("server[{place}].utilization"),
                format!(
                    "PIBS {} with {found} at {}",
                    quote(&server.name),
                    quote(name)
                ),
                "a utilisation that does not fall up to its own level, and is no more above it",
                format!("change its `utilization` at {}", quote(name)),
            );
            return;
        }
    }

    /// What a server of a task alone has for a capacity.
    fn has_execution_times(&mut self, (place, task): (usize, &TaskSpec), home: Option<usize>) {
        let is_own = home.is_some_and(|home| home >= self.in_file);
        let lacks = |level: &Level| at(&task.wcet, *level).is_none_or(Service::is_zero);
        let Some(level) = task.criticality.up_to_self().find(lacks).filter(|_| is_own) else {
            return;
        };
        let name = self.set.level_name(level);
        self.sink.error(
            codes::CAPACITY_MISSING,
            task.places.wcet.0,
            &format!("task[{place}].wcet"),
            format!("task {} in no server, and no execution time at {}", quote(&task.name), quote(name)),
            "an execution time above 0 at each level up to its own: it is the capacity of a server of its own",
            "raise it, or add the task to the `tasks` of a server",
        );
    }

    /// Jobs raise the mode before they have used up the capacity of their server.
    pub(super) fn fit_below(&mut self, homes: &[Option<usize>]) {
        let set = self.set;
        for (place, (task, home)) in set.tasks.iter().zip(homes).enumerate() {
            self.fits_below((place, task), *home);
        }
    }

    /// At its own level a job raises nothing, whatever it takes.
    fn fits_below(&mut self, (place, task): (usize, &TaskSpec), home: Option<usize>) {
        let Some(server) = home.and_then(|home| self.set.servers.get(home)) else {
            return;
        };
        let too_long = |level: Level| match Budget::of(server, level) {
            // A capacity that is missing was said before.
            Budget::Capacity(_, capacity) if capacity.is_zero() => None,
            Budget::Capacity(_, capacity) => {
                let time = at(&task.wcet, level).filter(|time| *time > capacity)?;
                Some((level, time, capacity))
            }
            Budget::Share(_) => None,
        };
        let mut below = task
            .criticality
            .up_to_self()
            .filter(|level| *level < task.criticality);
        let Some((level, time, capacity)) = below.find_map(too_long) else {
            return;
        };
        let name = quote(self.set.level_name(level));
        let (task_name, server_name) = (quote(&task.name), quote(&server.name));
        self.sink.error(
            codes::TASK_ABOVE_SERVER,
            task.places.wcet.0,
            &format!("task[{place}].wcet"),
            format!(
                "task {task_name} with {} ns at {name}, in server {server_name} with a capacity of {} ns there",
                time.as_nanos(),
                capacity.as_nanos()
            ),
            "an execution time of at most the capacity at each level below its own: else the budget is used up before a \
             job can raise the mode",
            format!(
                "raise the `capacity` of {server_name} at {name}, or lower the execution time of {task_name} there"
            ),
        );
    }

    /// Whether the server of a device has a budget in every mode in which jobs of the task wait.
    fn is_served(
        &mut self,
        (field, task, io): (&str, &TaskSpec, &IoSpec),
        device: &DeviceSpec,
        server: &ServerSpec,
    ) -> bool {
        let mut levels = task.criticality.up_to_self();
        let Some(level) = levels.find(|level| Budget::of(server, *level).is_none()) else {
            return true;
        };
        let name = self.set.level_name(level);
        self.sink.error(
            codes::WAITS_FOR_NOTHING,
            io.places.device.0,
            &format!("{field}.device"),
            format!(
                "{}, whose server {} has nothing at {}",
                quote(&device.name),
                quote(&server.name),
                quote(name)
            ),
            "a device that is served at every level up to the task's own: else its jobs wait for ever in that mode",
            format!("give {} a budget at {}", quote(&server.name), quote(name)),
        );
        false
    }

    /// Whether what a job waits for is there by the next replenishment of its server.
    fn is_short(
        &mut self,
        (field, task, io): (&str, &TaskSpec, &IoSpec),
        (device, server): (&DeviceSpec, &ServerSpec),
        period: Option<Duration>,
    ) {
        let Some(period) = period else { return };
        let bottom_halves =
            u128::from(io.events).saturating_mul(u128::from(device.cost.as_nanos()));
        let levels = task.criticality.up_to_self();
        let supplied = levels.map(|level| Budget::of(server, level).within(period));
        let supplied = supplied.min().unwrap_or(0);
        let arrive = match device.arrival {
            DeviceArrival::Requested => 0,
            DeviceArrival::Periodic { period } | DeviceArrival::Sporadic { period } => {
                u128::from(period.as_nanos()).saturating_mul(u128::from(io.events))
            }
            DeviceArrival::Burst { period, burst } => {
                let bursts = io.events.div_ceil(burst.max(1));
                u128::from(period.as_nanos()).saturating_mul(u128::from(bursts))
            }
        };
        let found = match (
            bottom_halves > supplied,
            arrive > u128::from(period.as_nanos()),
        ) {
            (true, _) => "take longer to be served",
            (false, true) => "take longer to arrive",
            (false, false) => return,
        };
        self.sink.warning(
            codes::WAITS_LONG,
            io.places.events.0,
            &format!("{field}.events"),
            format!(
                "{} events of {} that {found} than a period of the task's server",
                io.events,
                quote(&device.name)
            ),
            "a wait that ends by the next replenishment of the task's server, which the analysis of `io` assumes",
            "wait for fewer events at once, give the device's server more, or the task's server a longer period",
        );
    }
}
