//! What a program of your own adds to the command line: policies and schedulability tests.

use std::fmt;
use vestal_analysis::Test;
use vestal_core::{
    Enforcement, Exhaustion, LevelSet, OrderRule, Policy, Scheduler, Task, TaskConfiguration,
};
use vestal_workload::TaskSet;

/// Policies and tests that the commands know besides the built-in ones.
#[derive(Debug, Default)]
pub struct Extensions {
    pub(crate) policies: Vec<OwnPolicy>,
    pub(crate) tests: Vec<OwnTest>,
}

/// A test with its page for `explain`.
#[derive(Debug)]
pub(crate) struct OwnTest {
    pub(crate) test: Test,
    pub(crate) page: &'static str,
}

impl Extensions {
    /// Nothing besides what is built in.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a policy.
    #[must_use]
    pub fn policy(mut self, policy: OwnPolicy) -> Self {
        self.policies.push(policy);
        self
    }

    /// Adds a test, made by [`Test::own`]; `page` is its text for `explain`, in Markdown.
    #[must_use]
    pub fn test(mut self, test: Test, page: &'static str) -> Self {
        self.tests.push(OwnTest { test, page });
        self
    }
}

/// A policy that is not built in.
///
/// Names are of lower-case letters, digits and hyphens, and differ from every name of the interface
/// and of the other extensions.
pub struct OwnPolicy {
    /// Name, summary and enforcement; the order is always [`OrderRule::Assigned`]. The test is empty
    /// if there is none.
    pub(crate) policy: Policy,
    pub(crate) page: &'static str,
    /// The keys of `--set` that it knows besides those that every policy has.
    pub(crate) options: Vec<&'static str>,
    pub(crate) composition: Composition,
}

/// Gives each task its priority, in task order; larger is more urgent.
type Priorities = Box<dyn Fn(&[Task]) -> Vec<u32> + Send + Sync>;
/// Builds a scheduler, or says in one sentence without a full stop why it cannot.
pub(crate) type Build =
    Box<dyn Fn(&Setup<'_>) -> Result<Box<dyn Scheduler + Send>, String> + Send + Sync>;

/// How an own policy decides.
pub(crate) enum Composition {
    /// The engine for one CPU in `simulate`, the kernel's fixed priorities in `run`.
    FixedPriority(Priorities),
    /// Anything that keeps the contract. A real run has to dispatch every job itself.
    Scheduler(Build),
}

/// What a scheduler is built from.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The file as it was read: names, servers, devices, the platform.
    pub set: &'a TaskSet,
    /// The tasks in the order of the file; a [`vestal_core::TaskId`] is a place in this list. All
    /// priorities are 0.
    pub tasks: &'a [TaskConfiguration],
    /// How many levels there are.
    pub levels: LevelSet,
    /// The value of `--set exhaustion=...`.
    pub exhaustion: Exhaustion,
    /// `--set KEY=VALUE` for the keys that the policy knows ([`OwnPolicy::with_option`]), in the
    /// order of the command line.
    pub options: &'a [(String, String)],
}

impl OwnPolicy {
    /// A policy of fixed task priorities: one CPU, preemptive, the engine
    /// [`vestal_core::Uniprocessor`]. `priorities` gives each task its priority, in task order;
    /// larger is more urgent, equal ones go to the task that stands first. `simulate` and `run`
    /// both know it.
    #[must_use]
    pub fn fixed_priority(
        name: &'static str,
        summary: &'static str,
        enforcement: Enforcement,
        priorities: impl Fn(&[Task]) -> Vec<u32> + Send + Sync + 'static,
    ) -> Self {
        let composition = Composition::FixedPriority(Box::new(priorities));
        Self::new(name, summary, enforcement, composition)
    }

    /// A policy with a scheduler of its own for one CPU, for `simulate` and, with `--dispatch
    /// managed`, for `run`. `enforcement` says which deadlines count as guaranteed. `build` may fail
    /// with one sentence without a full stop; it is called more than once, and the same setup must
    /// give the same scheduler.
    #[must_use]
    pub fn scheduler(
        name: &'static str,
        summary: &'static str,
        enforcement: Enforcement,
        build: impl Fn(&Setup<'_>) -> Result<Box<dyn Scheduler + Send>, String> + Send + Sync + 'static,
    ) -> Self {
        let composition = Composition::Scheduler(Box::new(build));
        Self::new(name, summary, enforcement, composition)
    }

    fn new(
        name: &'static str,
        summary: &'static str,
        enforcement: Enforcement,
        composition: Composition,
    ) -> Self {
        Self {
            policy: Policy {
                name,
                summary,
                order: OrderRule::Assigned,
                enforcement,
                test: "",
            },
            page: "",
            options: Vec::new(),
            composition,
        }
    }

    /// The test, built in or own, that states its promise. A policy of fixed priorities hands the
    /// test its priorities. Without a test nothing is promised, and `simulate` says so.
    #[must_use]
    pub fn proved_by(mut self, test: &'static str) -> Self {
        self.policy.test = test;
        self
    }

    /// Its text for `explain`, in Markdown; by default name and summary.
    #[must_use]
    pub fn with_page(mut self, page: &'static str) -> Self {
        self.page = page;
        self
    }

    /// A key of `--set` that it knows. Only a [`OwnPolicy::scheduler`] gets to see the value.
    #[must_use]
    pub fn with_option(mut self, key: &'static str) -> Self {
        self.options.push(key);
        self
    }
}

impl fmt::Debug for OwnPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnPolicy").field(&self.policy.name).finish()
    }
}
