//! What a test found, and what that is worth.

pub use crate::names::Names;
use crate::parameters::Parameters;
pub use crate::reason::Reason;
use vestal_core::{CpuId, Duration, ServerId};

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

/// What a test says of its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It holds.
    Holds,
    /// It does not hold.
    Fails,
    /// The search reached its limit.
    Undecided,
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
    /// Published and refuted, kept to reproduce its paper, or an upper bound on what tests accept whose *no* means nothing
    /// either: neither answer means anything.
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

    /// What an unsafe test says, or its paper; `None` for every other kind.
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
    /// What an unsafe test says, or its paper; `None` for every other test.
    pub claim: Option<Verdict>,
    /// One entry for each task, in task order.
    pub tasks: Vec<TaskOutcome>,
    /// One entry for each server, in the order of the problem; empty if the test is not about servers, or did
    /// not come that far.
    pub servers: Vec<ServerOutcome>,
    /// Why the condition fails, or why the test does not apply; `None` if the condition holds.
    pub why: Option<Reason>,
    /// What the test chose.
    pub parameters: Parameters,
}

/// What a test found out about one task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOutcome {
    /// Larger = more urgent; `None` if the assignment failed before this task had its priority.
    pub priority: Option<u32>,
    /// The bound on the response time at level l, for each l from 0 to the task's own level;
    /// `None`: not bounded within the deadline. Empty if the test did not come that far. Of a task with a degraded budget
    /// some tests go on with the levels above its own: how long it takes until it has executed that.
    pub responses: Vec<Option<Duration>>,
    /// Where it runs, if the test places tasks on CPUs and this one has its place.
    pub cpu: Option<CpuId>,
}

/// What a test found out about one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerOutcome {
    /// Larger = more urgent; `None` for a PIBS, which inherits, and before the server had its priority.
    pub priority: Option<u32>,
    /// At index l the bound on how long the server may take, from when its budget is there and wanted, until it
    /// has executed as much as it has in mode l; of a PIBS, until a burst is over, the longest on behalf of
    /// anyone. `None`: not bounded within its period, of a PIBS that of whom it serves. From the lowest level on,
    /// as many as the test speaks of; empty if it did not come that far.
    pub responses: Vec<Option<Duration>>,
    /// What these are the longest of, where a test has several bounds on a server and its paper numbers them.
    pub equations: Vec<EquationBound>,
}

/// A bound on a server by one equation of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EquationBound {
    /// Its number there.
    pub equation: u8,
    /// On whose behalf a PIBS executes; `None`: it is about a server with a period.
    pub on_behalf_of: Option<ServerId>,
    /// The bound; `None`: not within the period.
    pub bound: Option<Duration>,
}

impl Outcome {
    /// The outcome of a test of `kind` whose condition fails for the reason `why`, or holds if there
    /// is none; with [`Reason::SearchLimit`] it is not known which. The parameters are the tasks'
    /// priorities if each of them has one.
    #[must_use]
    pub fn decided(kind: Kind, why: Option<Reason>, tasks: Vec<TaskOutcome>) -> Self {
        let holds = why.is_none();
        let is_known = !matches!(why, Some(Reason::SearchLimit { .. }));
        let priorities = tasks.iter().map(|task| task.priority).collect();
        Self {
            verdict: if is_known {
                kind.verdict(holds)
            } else {
                Verdict::NotProven
            },
            kind,
            claim: kind.claim(holds).filter(|_| is_known),
            tasks,
            servers: Vec::new(),
            why,
            parameters: Parameters {
                priorities,
                ..Parameters::default()
            },
        }
    }

    /// The same with what was found out about each server.
    #[must_use]
    pub fn with_servers(mut self, servers: Vec<ServerOutcome>) -> Self {
        self.servers = servers;
        self
    }

    /// The outcome of a test whose assumptions the problem does not keep: it decides nothing.
    #[must_use]
    pub fn outside(kind: Kind, why: Reason, tasks: usize) -> Self {
        Self {
            verdict: Verdict::NotProven,
            kind,
            claim: None,
            tasks: vec![TaskOutcome::default(); tasks],
            servers: Vec::new(),
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
