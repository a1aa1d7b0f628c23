//! What budgets that outlive jobs let their tasks use of a CPU: RT throttling stops who uses too much of it.

use vestal_core::{Budgets, Container, Duration, Level, Modes, ServerKind, Service, TaskId};
use vestal_policy::{Configuration, Levels, Servers};

/// RT throttling looks at windows of a second.
const WINDOW: Duration = Duration::from_nanos(vestal_core::time::NANOS_PER_SECOND);

/// The most that the tasks of a CPU use, in millionths of it, if no job of a task demands more than `demand` says; `None`
/// where each job has a limit of its own. Jobs that exceed their own C_i are no more than these budgets allow; without a
/// budget they go on. Where servers have what one job needs, `tolerance` is what each job may use without being charged for it.
pub(super) fn share_ppm(
    configuration: &Configuration,
    tolerance: Service,
    demand: impl Fn(TaskId) -> Service,
) -> Option<u64> {
    let tasks = configuration.tasks().iter().zip(0..);
    let demands = tasks.map(|(task, id)| ppm(demand(TaskId(id)), task.task.period));
    let demands: Vec<u64> = demands.collect();
    if let Some(servers) = configuration.servers() {
        let tolerated = tolerated(configuration, servers, tolerance);
        return Some(of_servers(servers, &demands, &tolerated));
    }
    configuration
        .levels()
        .map(|levels| of_levels(levels, &demands))
}

/// Whether servers have what one job of theirs needs, so that the tolerance is taken off what each is charged.
pub(super) const fn tolerates_each_job(servers: &Servers) -> bool {
    matches!(servers.modes, Modes::Adaptive { .. })
}

/// What the jobs of each server use without being charged for it: those of bottom halves nothing.
fn tolerated(configuration: &Configuration, servers: &Servers, tolerance: Service) -> Vec<u64> {
    let mut sums = vec![0_u64; servers.servers.len()];
    if !tolerates_each_job(servers) {
        return sums;
    }
    let tasks = configuration.tasks().iter().zip(&servers.served);
    for ((task, served), id) in tasks.zip(0..) {
        let mut devices = servers.devices.iter();
        if devices.any(|device| device.bottom_half == TaskId(id)) {
            continue;
        }
        if let Some(sum) = sums.get_mut(served.server.index()) {
            *sum = sum.saturating_add(ppm(tolerance, task.task.period));
        }
    }
    sums
}

/// In the mode in which it is most: where jobs raise none it is the lowest.
fn of_servers(servers: &Servers, demands: &[u64], tolerated: &[u64]) -> u64 {
    let mut asked = vec![0_u64; servers.servers.len()];
    for (served, &demand) in servers.served.iter().zip(demands) {
        if let Some(sum) = asked.get_mut(served.server.index()) {
            *sum = sum.saturating_add(demand);
        }
    }
    let highest = match servers.modes {
        Modes::Requested => Level::LOWEST,
        Modes::Adaptive { .. } => servers.levels.highest(),
    };
    let of_mode = |mode| {
        let kinds = servers.servers.iter();
        let kinds = kinds.map(|server| supply(&server.kind, mode));
        let supplies = kinds.zip(tolerated);
        // Who has no budget in a mode has no jobs there.
        let supplies = supplies.map(|(supply, &tolerated)| match supply {
            0 => 0,
            some => some.saturating_add(tolerated),
        });
        let shares = supplies
            .zip(&asked)
            .map(|(supply, &asked)| supply.min(asked));
        shares.fold(0, u64::saturating_add)
    };
    highest.up_to_self().map(of_mode).max().unwrap_or(0)
}

fn supply(kind: &ServerKind, mode: Level) -> u64 {
    match kind {
        ServerKind::Polling { period, capacity }
        | ServerKind::IdlingPeriodic { period, capacity }
        | ServerKind::Deferrable { period, capacity }
        | ServerKind::Sporadic {
            period, capacity, ..
        } => ppm(capacity.at(mode), *period),
        ServerKind::Pibs { utilization } => ppm(utilization.at(mode).of_floor(WINDOW), WINDOW),
    }
}

fn of_levels(levels: &Levels, demands: &[u64]) -> u64 {
    let tasks = levels.tasks.iter().zip(&levels.containers).zip(demands);
    let shares = tasks.zip(0..).map(|(((task, container), &demand), id)| {
        let supply = match (container, levels.budgets) {
            (Container::Table(_), _) => slots(levels, TaskId(id)),
            (Container::Local(_) | Container::Global, Budgets::Enforced) => {
                ppm(task.task.own_wcet(), task.task.period)
            }
            (Container::Local(_) | Container::Global, Budgets::Ignored)
            | (Container::BestEffort, _) => u64::MAX,
        };
        supply.min(demand)
    });
    shares.fold(0, u64::saturating_add)
}

/// What the tables give to a task.
fn slots(levels: &Levels, task: TaskId) -> u64 {
    let shares = levels.tables.iter().map(|table| {
        let own = table.slots.iter().filter(|slot| slot.task == task);
        let given = own.fold(0, |sum: u64, slot| {
            sum.saturating_add(slot.length.as_nanos())
        });
        ppm(Service::from_nanos(given), table.cycle)
    });
    shares.fold(0, u64::saturating_add)
}

/// So much in each period, or at once if that is longer than the window.
pub(super) fn ppm(amount: Service, period: Duration) -> u64 {
    let window = period.min(WINDOW).as_nanos().max(1);
    let ppm = u128::from(amount.as_nanos()) * 1_000_000 / u128::from(window);
    u64::try_from(ppm).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "share_tests.rs"]
mod tests;
