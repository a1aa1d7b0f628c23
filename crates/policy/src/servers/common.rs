//! What several rooms here ask of a file's servers.

use vestal_core::{ByLevel, ClassicOrder, Duration, Level, ServerId, Task, TaskId};
use vestal_workload::TaskSet;
use vestal_workload::model::{ServerKind as Given, ServerSpec};

pub(super) fn by_level<T: Copy>(set: &TaskSet, of: impl Fn(Level) -> T) -> ByLevel<T> {
    let levels = (0..u8::MAX).map(Level).take(set.levels.len());
    let values: Vec<T> = levels.map(&of).collect();
    ByLevel::new(&values).unwrap_or_else(|| ByLevel::constant(of(Level::LOWEST)))
}

/// Ranks, the larger the more urgent: by keys, of which the smallest is the most urgent, and then by place. Where there
/// is none comes last.
pub(super) fn ranks(keys: impl Iterator<Item = Option<u64>>) -> Vec<u32> {
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
pub(super) const fn by_priority(priority: u32) -> u64 {
    (u32::MAX - priority) as u64
}

/// The ranks of given priorities inside the servers.
pub(super) fn given_ranks(given: &[u32]) -> Vec<u32> {
    ranks(given.iter().map(|priority| Some(by_priority(*priority))))
}

/// The priorities inside the servers where none are given.
pub(super) fn rate_monotonic(tasks: &[Task]) -> Vec<u32> {
    let numbers = (0..tasks.len()).filter_map(|task| u16::try_from(task).ok());
    let priority = |task| ClassicOrder::RateMonotonic.priority_of(TaskId(task), tasks);
    numbers.filter_map(priority).collect()
}

pub(super) fn period_of(server: &ServerSpec) -> Option<Duration> {
    match server.kind {
        Given::Periodic { period, .. } => Some(period),
        Given::Pibs { .. } => None,
    }
}

/// Whom a PIBS may serve: the servers with periods that it names, or any.
pub(super) fn candidates(set: &TaskSet, pibs: usize) -> Vec<usize> {
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

pub(super) fn number(place: usize) -> Option<ServerId> {
    u16::try_from(place).ok().map(ServerId)
}
