//! What schedulability tests say.

use crate::{Format, Ordered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// The result of `analyze`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Analyses {
    /// The format.
    pub format: Format,
    /// The task-set file.
    pub file: String,
    /// Where overheads come from that were taken into account; null without.
    #[serde(default)]
    pub overheads: Option<Overheads>,
    /// The name of the strongest proof, with its variant; null if nothing proves what the file asks for. It is the one with the most tasks whose response it bounds
    /// lowest, then an exact test before others, then the first one.
    #[serde(default)]
    pub strongest: Option<String>,
    /// What each test said.
    pub results: Vec<Analysis>,
}

/// Where overheads come from that tests take into account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overheads {
    /// The file with what was measured; null if it was measured just before.
    pub file: Option<String>,
    /// Which statistic of it is taken: `mean`, `p99` or `max`.
    pub statistic: String,
}

/// What one test said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Analysis {
    /// The test.
    pub test: String,
    /// Its variant.
    pub variant: Option<String>,
    /// What it says.
    pub verdict: Verdict,
    /// What its word is worth.
    pub kind: Kind,
    /// What the paper of an unsafe test claims.
    pub claim: Option<Verdict>,
    /// By task, or by job of a finite set.
    #[serde(default)]
    pub tasks: Vec<TaskBound>,
    /// By server, in the order of the file; absent where the test is not about servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerBound>,
    /// What the test chose, as in a parameters file (`vestal-parameters/1`).
    #[serde(default)]
    pub parameters: Map<String, Value>,
    /// Why it is not proved.
    pub why: Option<String>,
    /// The mechanism whose overheads are taken into account; null without.
    #[serde(default)]
    pub mechanism: Option<String>,
    /// How long it took, in microseconds.
    #[serde(default)]
    pub elapsed_us: u64,
}

/// What a schedulability test says of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No guaranteed deadline is missed, whatever happens.
    Schedulable,
    /// Some guaranteed deadline can be missed.
    Unschedulable,
    /// The test cannot say.
    NotProven,
}

/// What the word of a test is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Right either way.
    Exact,
    /// Right where it accepts.
    Sufficient,
    /// Right where it rejects.
    Necessary,
    /// Right neither way: refuted, or an upper bound on what tests accept; for comparison.
    Unsafe,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::word(self, f)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::word(self, f)
    }
}

/// What a test says about one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskBound {
    /// Its name.
    pub name: String,
    /// The name of its criticality level.
    pub criticality: String,
    /// Larger is more urgent; null without fixed priorities.
    pub priority: Option<u32>,
    /// Its CPU.
    pub cpu: Option<u32>,
    /// Its relative deadline.
    pub deadline_ns: u64,
    /// A bound on the response time for each level up to its own; null where there is none.
    #[serde(default)]
    pub response_ns: Ordered<Option<u64>>,
}

/// What a test says about one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerBound {
    /// Its name; of a file without servers the name of the task that has it for itself.
    pub name: String,
    /// The name of its criticality level.
    pub criticality: String,
    /// Larger is more urgent; null for a PIBS, which inherits.
    pub priority: Option<u32>,
    /// Its period, within which it has to execute its budget; null for a PIBS, which inherits.
    pub period_ns: Option<u64>,
    /// A bound on how long it takes to execute its budget, of a PIBS to complete a burst, for each level up to
    /// its own and those above of which the test speaks; null where there is none.
    #[serde(default)]
    pub response_ns: Ordered<Option<u64>>,
    /// What these are the longest of, where the paper of the test numbers its equations; absent where it does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equations: Vec<EquationBound>,
}

/// A bound on a server by one equation of a paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EquationBound {
    /// Its number there.
    pub equation: u8,
    /// The server on whose behalf a PIBS executes; null for a server with a period.
    pub on_behalf_of: Option<String>,
    /// The bound; null if it is beyond the period.
    pub bound_ns: Option<u64>,
}

impl Analysis {
    /// The test's name with its variant.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}:{variant}", self.test),
            None => self.test.clone(),
        }
    }

    /// The bound on the response time of a task in the runs of its own level.
    #[must_use]
    pub fn own_bound(&self, task: usize) -> Option<u64> {
        let task = self.tasks.get(task)?;
        task.response_ns.get(&task.criticality).copied().flatten()
    }

    /// The names of the tasks by priority, the most urgent first; none if the test has no priorities.
    #[must_use]
    pub fn order(&self) -> Option<Vec<&str>> {
        let mut order: Vec<(u32, &str)> = Vec::new();
        for task in &self.tasks {
            order.push((task.priority?, &task.name));
        }
        order.sort_unstable_by(|a, b| b.cmp(a));
        Some(order.into_iter().map(|(_, name)| name).collect())
    }
}
