//! What workers and manager share about tasks that suspend others for want of slack, see [`crate::zss`].

use super::TaskShared;
use crate::zss::{Rank, Slack};

/// What a worker learns when it takes a job off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TakenOff {
    /// The worker was demoted since the job began.
    pub(crate) demoted: bool,
    /// The guard knows that the job is incomplete, and the manager awaits its end.
    pub(crate) awaited: bool,
}

impl TaskShared {
    /// The task suspends others where it has no slack left, and is suspended. `low` is the lowest
    /// priority of the run.
    pub(crate) fn with_slack(mut self, low: i32) -> Self {
        let after = self.configuration.critical_after().as_nanos();
        self.slack = Some(Slack::new(after, low, self.fifo));
        self
    }

    /// The SCHED_FIFO priority that its worker has, or gets back when it was taken from it.
    pub(crate) fn present_priority(&self) -> i32 {
        self.slack.as_ref().map_or(self.fifo, Slack::priority)
    }

    pub(crate) fn rank(&self) -> Rank {
        self.slack.as_ref().map_or(Rank::Own, Slack::rank)
    }

    /// Notes the worker's new rank; its new priority, if that is another one.
    pub(crate) fn turn_to(&self, rank: Rank) -> Option<i32> {
        self.slack.as_ref()?.turn_to(rank, self.fifo)
    }

    /// The worker's job number `sequence`, released at `release` on the clock, has come to its end.
    pub(crate) fn take_off(&self, sequence: u64, release: u64) -> TakenOff {
        if let Some(slack) = &self.slack {
            let period = self.configuration.task.period.as_nanos();
            slack.await_end_of(release.saturating_add(period));
        }
        let demoted = self.finish(sequence);
        let ended = |slack: &Slack| slack.end(sequence);
        TakenOff {
            demoted,
            awaited: self.slack.as_ref().is_some_and(ended),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};

    fn shared() -> Cpu {
        let task = |fifo: i32, after| {
            let wcet = Wcet::new(&[Service::from_millis(1)]).unwrap();
            let period = Duration::from_millis(10);
            let configuration = TaskConfiguration {
                zero_slack: Some(Duration::from_millis(after)),
                ..TaskConfiguration::new(Task::new(Level(0), period, period, wcet).unwrap(), 1)
            };
            TaskShared::new(
                fifo.to_string(),
                configuration,
                0,
                fifo,
                crate::words::Allowance::UpTo(1_000_000),
            )
            .with_slack(1)
        };
        let tasks = vec![task(4, 6), task(5, 10), task(6, 10)];
        Cpu::in_test(tasks)
    }

    fn order(shared: &Cpu) -> Vec<&str> {
        shared.by_rank().map(|task| task.name.as_str()).collect()
    }

    #[test]
    fn tasks_stand_by_their_places_and_among_equals_by_their_priorities() {
        let shared = shared();
        assert_eq!(order(&shared), ["6", "5", "4"]);
        assert_eq!(shared.tasks[2].turn_to(Rank::Suspended), Some(2));
        assert_eq!(shared.tasks[1].turn_to(Rank::Suspended), Some(2));
        assert_eq!(shared.tasks[1].turn_to(Rank::Suspended), None);
        assert_eq!(order(&shared), ["4", "6", "5"]);
        assert_eq!(shared.tasks[0].turn_to(Rank::BelowAll), Some(3));
        assert_eq!(shared.tasks[1].turn_to(Rank::Own), Some(5));
        assert_eq!(order(&shared), ["5", "4", "6"]);
        assert_eq!(shared.tasks[0].present_priority(), 3);
    }

    #[test]
    fn the_end_of_an_incomplete_job_is_awaited_once() {
        let shared = shared();
        let task = &shared.tasks[0];
        let slack = task.slack.as_ref().unwrap();
        assert_eq!(slack.first(), 0);
        assert!(slack.await_end(0));
        let awaited = [0, 1].map(|sequence| {
            task.begin(sequence, 0);
            task.take_off(sequence, 0).awaited
        });
        assert_eq!(awaited, [true, false]);
        assert_eq!((slack.first(), task.running()), (2, None));
        assert!(!slack.await_end(1), "it has ended");
        assert_eq!(slack.instant_of(5), 6_000_005);
    }
}
