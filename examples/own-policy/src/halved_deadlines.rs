//! A policy with a scheduler of its own: EDF in which tasks above level 0 count as due after a part
//! of their deadline as long as the mode is 0.
//!
//! The parts of a scheduler are in `vestal_core`; anything else that keeps the contract at the head
//! of `vestal_core::scheduler` can stand behind the box as well. No test speaks of this policy, so
//! nothing is promised. `--set divisor=N`: the part is 1/N, by default 1/2.

use vestal::{OwnPolicy, Setup};
use vestal_core::{
    Configuration, Duration, Enforcement, Level, Scheduler, Service, TaskOrder, Uniprocessor,
};

/// The policy, for `vestal::Extensions`.
#[must_use]
pub fn policy() -> OwnPolicy {
    OwnPolicy::scheduler(
        "halved-deadlines",
        "EDF, deadlines above level 0 divided in mode 0; --set divisor=N",
        Enforcement::Adaptive,
        build,
    )
    .with_option("divisor")
}

fn build(setup: &Setup<'_>) -> Result<Box<dyn Scheduler + Send>, String> {
    let mut divisor = 2;
    for (_, value) in setup.options {
        let parsed = value.parse().ok().filter(|&divisor: &u64| divisor > 0);
        divisor = parsed.ok_or_else(|| format!("divisor={value} is not a positive number"))?;
    }
    let tasks = setup.tasks.iter().map(|entry| entry.task);
    let virtual_deadlines: Vec<Duration> = tasks
        .map(|task| match task.criticality {
            Level::LOWEST => task.deadline,
            _ => Duration::from_nanos((task.deadline.as_nanos() / divisor).max(1)),
        })
        .collect();
    let configuration = Configuration {
        tasks: setup.tasks,
        levels: setup.levels,
        enforcement: Enforcement::Adaptive,
        exhaustion: setup.exhaustion,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let order = TaskOrder::EarliestDeadline {
        virtual_deadlines: &virtual_deadlines,
    };
    match Uniprocessor::with_order(&configuration, order) {
        Ok(scheduler) => Ok(Box::new(scheduler)),
        Err(error) => Err(error.to_string()),
    }
}
