//! What a policy builds a system from.

use crate::options::Options;
use crate::system::Proof;
use std::fmt;
use vestal_analysis::{Outcome, Overheads, Parameters, Problem, Test};
use vestal_core::{ClassicOrder, Duration, LevelSet, OnMiss, Task, TaskConfiguration, TaskId};
use vestal_workload::{TaskSet, model};

/// What is given instead of being found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// By `--parameters`, or by a recording.
    pub parameters: Parameters,
    /// By fields of the task set.
    pub file: Parameters,
}

impl Given {
    /// All of it; where both give something, what `--parameters` says.
    #[must_use]
    pub fn all(&self) -> Parameters {
        self.parameters.or(&self.file)
    }
}

/// Where a parameter comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was given.
    Parameters,
    /// The task set has it.
    File,
    /// A test found it.
    Found(String),
}

/// `of --parameters`, `of the file`, `found by TEST`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters => f.write_str("of --parameters"),
            Self::File => f.write_str("of the file"),
            Self::Found(test) => write!(f, "found by {test}"),
        }
    }
}

/// What a policy builds a system from.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The file as it was read: names, servers, devices, the platform.
    pub set: &'a TaskSet,
    /// The tasks in the order of the file; a [`TaskId`] is an index in this list.
    pub tasks: &'a [Task],
    /// How many levels there are.
    pub levels: LevelSet,
    /// The options.
    pub options: &'a Options,
    /// What was given of the policy's parameters.
    pub given: &'a Given,
    /// What the policy's own rule says ([`crate::Policy::rule`]).
    pub rule: &'a Parameters,
    /// What its test was asked; `None` for a recording, and without a test.
    pub problem: Option<&'a Problem>,
    /// What it answered.
    pub found: Option<(&'a Test, &'a Outcome)>,
    /// What carrying the policy out costs, if that is taken into account.
    pub overheads: Option<Overheads>,
    /// What follows from that.
    pub proof: &'a Proof,
}

impl Setup<'_> {
    /// A parameter: given, or else found.
    pub fn choose<T: Clone>(&self, of: impl Fn(&Parameters) -> Option<&T>) -> Option<(T, Origin)> {
        if let Some(given) = of(&self.given.parameters) {
            return Some((given.clone(), Origin::Parameters));
        }
        if let Some(given) = of(&self.given.file) {
            return Some((given.clone(), Origin::File));
        }
        let (test, outcome) = self.found?;
        let found = of(&outcome.parameters)?;
        Some((found.clone(), Origin::Found(test.to_string())))
    }

    /// The tasks with these priorities; a priority of 0 where there is none.
    #[must_use]
    pub fn with_priorities(&self, priorities: &[u32]) -> Vec<TaskConfiguration> {
        let priorities = priorities.iter().copied().chain(std::iter::repeat(0));
        let tasks = self.tasks.iter().zip(&self.set.tasks).zip(priorities);
        tasks
            .map(|((task, spec), priority)| TaskConfiguration {
                on_miss: match spec.on_miss {
                    Some(model::OnMiss::Abort) => OnMiss::Abort,
                    Some(model::OnMiss::Continue) | None => OnMiss::Continue,
                },
                ..TaskConfiguration::new(*task, priority)
            })
            .collect()
    }

    /// The priorities of a classic order.
    #[must_use]
    pub fn classic(&self, order: ClassicOrder) -> Vec<u32> {
        let numbers = (0..self.tasks.len()).filter_map(|task| u16::try_from(task).ok());
        let priority = |task| order.priority_of(TaskId(task), self.tasks);
        numbers.filter_map(priority).collect()
    }

    /// The deadlines of the tasks.
    #[must_use]
    pub fn deadlines(&self) -> Vec<Duration> {
        self.tasks.iter().map(|task| task.deadline).collect()
    }

    /// What the test is called that was asked.
    #[must_use]
    pub fn test_name(&self) -> String {
        self.found
            .map_or_else(|| "no test".to_owned(), |(test, _)| test.to_string())
    }
}

/// What a classic order is called.
#[must_use]
pub(crate) const fn order_name(order: ClassicOrder) -> &'static str {
    match order {
        ClassicOrder::RateMonotonic => "rate-monotonic order",
        ClassicOrder::DeadlineMonotonic => "deadline-monotonic order",
        ClassicOrder::CriticalityMonotonic => "criticality-monotonic order",
    }
}
