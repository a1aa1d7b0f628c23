//! The timers of the enforcement thread: section 5.1 of Huang, Gill and Lu (2014).
//!
//! Each task has a periodic timer for the zero-slack instants of its jobs, and one for their deadlines.
//! They wake the manager for *every* job, complete or not; it looks whether the job is incomplete, and
//! suspends others if so. A job that ends in its critical mode calls the manager as well. There is no
//! zero-slack timer for tasks that no other is less critical than, and no deadline timer for tasks that
//! no other is more critical than (section 5.4, on the two tasks of table I). Budgets are not monitored: a
//! job that exceeds that of its own level is found when it is complete.

use crate::shared::{Shared, TaskShared};
use crate::sys::signal::instant_signal;
use crate::sys::timer::SignalTimer;
use std::io;

/// Starts the timers, which signal the calling thread as long as they live.
pub(crate) fn start_timers(shared: &Shared) -> io::Result<Vec<SignalTimer>> {
    let manager = crate::sys::sched::own_tid();
    let epoch = shared.epoch();
    let instants = shared.tasks.iter().flat_map(|task| {
        let period = task.period_nanos();
        let release = epoch.saturating_add(task.offset_nanos);
        let after = instants(shared, task);
        after.map(move |after| (release.saturating_add(after), period))
    });
    let timers = instants.map(|(first, period)| {
        let timer = SignalTimer::wall_with(instant_signal(), manager)?;
        timer.set_periodic(first, period);
        Ok(timer)
    });
    timers.collect()
}

/// How long after a release the timers of `task` fire.
fn instants(shared: &Shared, task: &TaskShared) -> impl Iterator<Item = u64> + use<> {
    let model = &task.configuration.task;
    let levels = shared
        .tasks
        .iter()
        .map(|other| other.configuration.task.criticality);
    let (least, most) = levels.fold(
        (model.criticality, model.criticality),
        |(least, most), level| (least.min(level), most.max(level)),
    );
    let zero_slack = task
        .configuration
        .zero_slack
        .filter(|_| model.criticality > least);
    let deadline = (model.criticality < most).then_some(model.deadline);
    zero_slack
        .into_iter()
        .chain(deadline)
        .map(|after| after.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Monitor};
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};

    #[test]
    fn the_least_critical_have_no_zero_slack_timer_and_the_most_critical_no_deadline_timer() {
        let task = |level: u8| {
            let wcet = vec![Service::from_nanos(10); usize::from(level) + 1];
            let (deadline, period) = (Duration::from_nanos(80), Duration::from_nanos(100));
            let wcet = Wcet::new(&wcet).unwrap();
            let configuration = TaskConfiguration {
                zero_slack: Some(Duration::from_nanos(30)),
                ..TaskConfiguration::new(
                    Task::new(Level(level), period, deadline, wcet).unwrap(),
                    1,
                )
            };
            TaskShared::new(
                level.to_string(),
                configuration,
                0,
                2,
                crate::allowance::Allowance::UpTo(10),
            )
        };
        let config = Config::new();
        let tasks = vec![task(0), task(1), task(2)];
        let shared = Shared::new(tasks, &config, 0, Monitor::Manager, Service::ZERO);
        let after: Vec<Vec<u64>> = shared
            .tasks
            .iter()
            .map(|task| instants(&shared, task).collect())
            .collect();
        assert_eq!(after, [vec![80], vec![30, 80], vec![30]]);
    }
}
