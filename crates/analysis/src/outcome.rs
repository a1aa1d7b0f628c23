//! What a test found, and what that is worth.

pub use crate::reason::{Names, Reason};
use vestal_core::{Duration, SliceCount};

/// The answer of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Every guarantee holds in every run the model allows.
    Schedulable,
    /// Some run the model allows breaks a guarantee.
    Unschedulable,
    /// The test decides neither.
    NotProven,
}

/// What a test's yes and no are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Yes means schedulable, no means unschedulable.
    Exact,
    /// Yes means schedulable, no means nothing.
    Sufficient,
    /// Yes means nothing, no means unschedulable.
    Necessary,
    /// Published and refuted, kept to reproduce its paper: neither answer means anything.
    Unsafe,
}

impl Kind {
    /// The verdict that a test of this kind may give when its condition holds or fails.
    #[must_use]
    pub fn verdict(self, condition_holds: bool) -> Verdict {
        match (self, condition_holds) {
            (Self::Exact | Self::Sufficient, true) => Verdict::Schedulable,
            (Self::Exact | Self::Necessary, false) => Verdict::Unschedulable,
            (Self::Sufficient, false) | (Self::Necessary, true) | (Self::Unsafe, _) => {
                Verdict::NotProven
            }
        }
    }

    /// What the paper of an unsafe test says; `None` for every other kind.
    #[must_use]
    pub fn claim(self, condition_holds: bool) -> Option<Verdict> {
        match (self, condition_holds) {
            (Self::Unsafe, true) => Some(Verdict::Schedulable),
            (Self::Unsafe, false) => Some(Verdict::NotProven),
            (Self::Exact | Self::Sufficient | Self::Necessary, _) => None,
        }
    }
}

/// What a test found out about one problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// What the answer is worth for this problem: an exact test is only sufficient where the phases
    /// are restricted.
    pub kind: Kind,
    /// What an unsafe test's paper says; `None` for every other test.
    pub claim: Option<Verdict>,
    /// One entry for each task, in task order.
    pub tasks: Vec<TaskOutcome>,
    /// Why the condition fails, or why the test does not apply; `None` if the condition holds.
    pub why: Option<Reason>,
    /// What the test chose.
    pub parameters: Parameters,
}

/// What a test found out about one task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOutcome {
    /// Larger = more urgent; `None` if the assignment failed before this task had its place.
    pub priority: Option<u32>,
    /// The bound on the response time at level l, for each l from 0 to the task's own level;
    /// `None`: not bounded within the deadline. Empty if the test did not come that far.
    pub responses: Vec<Option<Duration>>,
}

/// What a test chose and a run may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// One for each task in task order, larger = more urgent; `None` if no complete order was found.
    pub priorities: Option<Vec<u32>>,
    /// EDF-VD's factor x: the virtual deadline of a task above level 0 is x T_i. At most 1.
    pub deadline_factor: Option<Ratio>,
    /// The relative virtual deadline of each task in task order, in whole nanoseconds and never 0;
    /// `None` if the test chooses none, or if no integers do what x does.
    pub virtual_deadlines: Option<Vec<Duration>>,
    /// The zero-slack instant of each task in task order, counted from the release: its deadline
    /// where it need not suspend anybody, 0 where no instant is early enough; `None` if the test
    /// chooses none.
    pub zero_slack: Option<Vec<Duration>>,
    /// Period transformation: into how many slices the jobs of each task are cut, in task order.
    pub slices: Option<Vec<SliceCount>>,
    /// For each task in task order the priorities of its first, second, ... job in a busy period,
    /// larger = more urgent (PLRS); no entry stands in two lists.
    pub job_priorities: Option<Vec<Vec<u32>>>,
    /// For each task in task order and each level m up to its own, how many of its jobs a busy period
    /// can contain before the mode exceeds m.
    pub patterns: Option<Vec<Vec<u64>>>,
    /// For each level m, how long a busy period can be before the mode exceeds m.
    pub busy_periods: Option<Vec<Duration>>,
}

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    /// The numerator.
    pub numerator: u64,
    /// The denominator, never 0.
    pub denominator: u64,
}

impl Outcome {
    /// The outcome of a test of `kind` whose condition fails for the reason `why`, or holds if there
    /// is none. The parameters are the tasks' priorities if each of them has one.
    #[must_use]
    pub fn decided(kind: Kind, why: Option<Reason>, tasks: Vec<TaskOutcome>) -> Self {
        let holds = why.is_none();
        let priorities = tasks.iter().map(|task| task.priority).collect();
        Self {
            verdict: kind.verdict(holds),
            kind,
            claim: kind.claim(holds),
            tasks,
            why,
            parameters: Parameters {
                priorities,
                ..Parameters::default()
            },
        }
    }

    /// The outcome of a test whose assumptions the problem does not keep: it decides nothing.
    #[must_use]
    pub fn outside(kind: Kind, why: Reason, tasks: usize) -> Self {
        Self {
            verdict: Verdict::NotProven,
            kind,
            claim: None,
            tasks: vec![TaskOutcome::default(); tasks],
            why: Some(why),
            parameters: Parameters::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_kind_says_more_than_it_may() {
        assert_eq!(Kind::Exact.verdict(true), Verdict::Schedulable);
        assert_eq!(Kind::Exact.verdict(false), Verdict::Unschedulable);
        assert_eq!(Kind::Sufficient.verdict(true), Verdict::Schedulable);
        assert_eq!(Kind::Sufficient.verdict(false), Verdict::NotProven);
        assert_eq!(Kind::Necessary.verdict(true), Verdict::NotProven);
        assert_eq!(Kind::Necessary.verdict(false), Verdict::Unschedulable);
        assert_eq!(Kind::Unsafe.verdict(true), Verdict::NotProven);
        assert_eq!(Kind::Unsafe.verdict(false), Verdict::NotProven);
        assert_eq!(Kind::Unsafe.claim(true), Some(Verdict::Schedulable));
        assert_eq!(Kind::Exact.claim(true), None);
    }
}
