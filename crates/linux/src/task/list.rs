//! The tasks of one CPU.

use super::TaskShared;
use crate::words::Phase;
use crate::zss::Rank;
use std::cmp::Reverse;
use std::ops::Deref;
use std::sync::Arc;
use vestal_core::{ContractViolation, TaskId};

/// The tasks of one CPU by their numbers, which they get here.
#[derive(Debug)]
pub(crate) struct Tasks {
    each: Vec<TaskShared>,
    /// Indices, the most urgent first.
    by_urgency: Vec<usize>,
    /// Of the CPU; its end takes the priorities of all jobs.
    pub(crate) phase: Arc<Phase>,
}

impl Tasks {
    pub(crate) fn new(mut each: Vec<TaskShared>) -> Self {
        let phase: Arc<Phase> = Arc::default();
        for (task, id) in each.iter_mut().zip((0..).map(TaskId)) {
            task.id = id;
            task.jobs.phase = Arc::clone(&phase);
        }
        let mut by_urgency: Vec<usize> = (0..each.len()).collect();
        by_urgency.sort_by_key(|&index| each.get(index).map(|task| Reverse(task.fifo)));
        Self {
            each,
            by_urgency,
            phase,
        }
    }

    /// Of a trial: tasks that nobody judges, by name, whose jobs may be held.
    #[cfg(feature = "real")]
    pub(crate) fn in_trial(
        each: impl Iterator<Item = (String, vestal_core::TaskConfiguration)>,
        fifo: i32,
    ) -> Self {
        let unlimited = crate::words::Allowance::Unlimited;
        let task = |(name, entry)| TaskShared::new(name, entry, 0, fifo, unlimited).in_slices();
        Self::new(each.map(task).collect())
    }

    /// The task with this number.
    pub(crate) fn of(&self, id: TaskId) -> Result<&TaskShared, ContractViolation> {
        let task = self.get(id.index());
        task.ok_or(ContractViolation::UnknownTask(id))
    }

    /// The most urgent first.
    pub(crate) fn by_urgency(&self) -> impl DoubleEndedIterator<Item = &TaskShared> {
        let indices = self.by_urgency.iter();
        indices.filter_map(|&index| self.get(index))
    }

    /// As they stand just now, the most urgent first.
    pub(crate) fn by_rank(&self) -> impl Iterator<Item = &TaskShared> {
        Rank::ALL.into_iter().flat_map(|rank| {
            let tasks = self.by_urgency();
            tasks.filter(move |task| task.rank() == rank)
        })
    }
}

impl Deref for Tasks {
    type Target = [TaskShared];

    fn deref(&self) -> &[TaskShared] {
        &self.each
    }
}

impl<'a> IntoIterator for &'a Tasks {
    type Item = &'a TaskShared;
    type IntoIter = std::slice::Iter<'a, TaskShared>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Allowance;
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};

    fn tasks() -> Tasks {
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
                Allowance::UpTo(1_000_000),
            )
            .with_slack(1)
        };
        let tasks = vec![task(4, 6), task(5, 10), task(6, 10)];
        Tasks::new(tasks)
    }

    fn order(tasks: &Tasks) -> Vec<&str> {
        tasks.by_rank().map(|task| task.name.as_str()).collect()
    }

    #[test]
    fn tasks_stand_by_their_places_and_among_equals_by_their_priorities() {
        let tasks = tasks();
        assert_eq!(order(&tasks), ["6", "5", "4"]);
        assert_eq!(tasks[2].turn_to(Rank::Suspended), Some(2));
        assert_eq!(tasks[1].turn_to(Rank::Suspended), Some(2));
        assert_eq!(tasks[1].turn_to(Rank::Suspended), None);
        assert_eq!(order(&tasks), ["4", "6", "5"]);
        assert_eq!(tasks[0].turn_to(Rank::BelowAll), Some(3));
        assert_eq!(tasks[1].turn_to(Rank::Own), Some(5));
        assert_eq!(order(&tasks), ["5", "4", "6"]);
        assert_eq!(tasks[0].present_priority(), 3);
    }

    #[test]
    fn the_end_of_an_incomplete_job_is_awaited_once() {
        let tasks = tasks();
        let task = &tasks[0];
        let slack = task.slack.as_ref().unwrap();
        assert_eq!(slack.first(), 0);
        assert!(slack.await_end(0));
        let awaited = [0, 1].map(|sequence| {
            task.jobs.begin(sequence, 0);
            task.take_off(sequence, 0).awaited
        });
        assert_eq!(awaited, [true, false]);
        assert_eq!((slack.first(), task.jobs.running()), (2, None));
        assert!(!slack.await_end(1), "it has ended");
        assert_eq!(slack.instant_of(5), 6_000_005);
    }
}
