//! The first busy period of a set.

use vestal_core::{Duration, Level, Task};

/// The busy period that begins when all tasks are released together and every job executes C(0), on a
/// machine without overhead; any policy that never idles has the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusyPeriod {
    /// How long it is.
    pub length: Duration,
    /// When the next job is released, counted from its start.
    pub next_release: Duration,
    /// How many jobs are executed in it.
    pub jobs: u64,
}

/// The least w > 0 with w = sum of ceil(w / T) C(0); one that does not end within `at_most` is cut.
#[must_use]
pub fn first_busy_period(tasks: &[Task], at_most: Duration) -> BusyPeriod {
    let demand = |task: &Task| task.wcet.at(Level::LOWEST).as_nanos();
    let released = |task: &Task, until: u64| until.div_ceil(task.period.as_nanos().max(1));
    let mut length = tasks.iter().map(demand).sum::<u64>();
    loop {
        let next = tasks
            .iter()
            .map(|task| released(task, length) * demand(task));
        let next = next.sum::<u64>();
        // Above full load it would never end.
        if next <= length || next > at_most.as_nanos() {
            break;
        }
        length = next;
    }
    let next_releases = tasks
        .iter()
        .map(|task| released(task, length) * task.period.as_nanos());
    BusyPeriod {
        length: Duration::from_nanos(length),
        next_release: Duration::from_nanos(next_releases.min().unwrap_or(0)),
        jobs: tasks.iter().map(|task| released(task, length)).sum(),
    }
}
