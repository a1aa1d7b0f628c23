//! A policy of fixed priorities: the task with the least slack D_i - C_i(z_i) goes first, under
//! adaptive limits.
//!
//! The order is D-CMPO (Davis and Burns, Real-Time Systems 47, 2011), there for several CPUs; here
//! it is an example of a rule that Vestal does not have. Assumptions: one CPU, D_i <= T_i. Ties go
//! to the task that stands first. O(n log n), once.

use std::cmp::Reverse;
use vestal_analysis::Parameters;
use vestal_core::{Enforcement, Task};
use vestal_policy::{About, EXHAUSTION, Fields, Native, Policy, Refusal, Setup, System, one_cpu};

const PAGE: &str = "\
# slack-monotonic: the least slack first

The task with the smallest D_i - C_i(z_i) has the highest priority. A job that uses up C_i(mode)
raises the mode, as under `amc`. The guarantee is that of the test `one-point`.
";

static ABOUT: About = About {
    name: "slack-monotonic",
    summary: "priorities by D - C(own level), adaptive limits",
    page: PAGE,
    parameters: &[],
    options: &[EXHAUSTION],
    tests: &["one-point"],
    native: Native::Yes,
};

/// The policy.
pub struct SlackMonotonic;

impl Policy for SlackMonotonic {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields::ADAPTIVE
    }

    fn rule(&self, tasks: &[Task]) -> Parameters {
        Parameters {
            priorities: Some(priorities(tasks)),
            ..Parameters::default()
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        Ok(one_cpu::by_rule(setup, &ABOUT, Enforcement::Adaptive))
    }
}

/// n for the task with the least slack, 1 for the one with the most; in the order of `tasks`.
#[must_use]
pub fn priorities(tasks: &[Task]) -> Vec<u32> {
    let slack = |task: &Task| {
        let (deadline, wcet) = (task.deadline.as_nanos(), task.own_wcet().as_nanos());
        deadline.saturating_sub(wcet)
    };
    let mut order: Vec<(usize, &Task)> = tasks.iter().enumerate().collect();
    order.sort_by_key(|(place, task)| Reverse((slack(task), *place)));
    let mut priorities = vec![0; tasks.len()];
    for (priority, (place, _)) in (1..).zip(order) {
        priorities[place] = priority;
    }
    priorities
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{Duration, Level, Service, Wcet};

    #[test]
    fn the_least_slack_goes_first_and_ties_go_to_the_first() {
        let task = |deadline: u64, wcet: u64| {
            let deadline = Duration::from_millis(deadline);
            let wcet = Wcet::constant(Service::from_millis(wcet));
            Task::new(Level(0), deadline, deadline, wcet).unwrap()
        };
        // Slacks 9, 2, 9, 3: neither the order of the deadlines nor that of the execution times.
        let tasks = [task(10, 1), task(9, 7), task(12, 3), task(5, 2)];
        assert_eq!(priorities(&tasks), [2, 4, 1, 3]);
    }
}
