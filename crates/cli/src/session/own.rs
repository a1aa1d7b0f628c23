//! Sessions under a policy that is not built in.

use super::{Order, Session};
use crate::catalogue;
use crate::extension::{Composition, OwnPolicy, Setup};
use crate::failure::Failure;
use crate::problem::{self, Given};
use std::cmp::Reverse;
use std::path::Path;
use vestal_analysis::{Names, Verdict};
use vestal_core::{Policy, Scheduler, Task};
use vestal_workload::TaskSet;

/// The keys of `--set` that only the policy knows.
pub(super) fn option_keys(policy: &Policy) -> &'static [&'static str] {
    catalogue::own_policy(policy.name).map_or(&[], |own| &own.options)
}

/// The values given for those keys.
pub(super) fn options(policy: &Policy, given: &[String]) -> Vec<(String, String)> {
    let keys = option_keys(policy);
    let pairs = given.iter().filter_map(|option| option.split_once('='));
    pairs
        .filter(|(key, _)| keys.contains(key))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// Whether the policy is an own one with a scheduler of its own.
pub(super) fn has_scheduler(policy: &Policy) -> bool {
    matches!(
        catalogue::own_policy(policy.name).map(|own| &own.composition),
        Some(Composition::Scheduler(_))
    )
}

impl Session {
    /// The scheduler of an own policy that is no fixed-priority composition.
    pub(crate) fn own_scheduler(&self, what: &str) -> Result<Option<Box<dyn Scheduler>>, Failure> {
        let composition = catalogue::own_policy(self.policy.name).map(|own| &own.composition);
        let Some(Composition::Scheduler(build)) = composition else {
            return Ok(None);
        };
        let setup = Setup {
            set: &self.set,
            tasks: &self.configurations,
            levels: self.levels,
            exhaustion: self.exhaustion,
            options: &self.own_options,
        };
        build(&setup)
            .map(Some)
            .map_err(|why| Failure::input(what, why))
    }

    /// Whether the kernel's fixed priorities can keep the policy's order.
    pub(crate) fn check_native(&self) -> Result<(), Failure> {
        let name = self.policy.name;
        if !has_scheduler(self.policy) {
            return Ok(());
        }
        Err(Failure::input(
            format!("run under {name}"),
            "the kernel's fixed priorities cannot keep its order, so it needs managed dispatch, which \
             own policies do not get in this version",
        )
        .with_help(format!("`simulate --policy {name}` knows it")))
    }
}

impl Order {
    /// The order of an own policy, and what the test that it names says of it.
    pub(super) fn own(
        path: &Path,
        set: &TaskSet,
        tasks: &[Task],
        own: &OwnPolicy,
    ) -> Result<Self, Failure> {
        let Policy { name, test, .. } = own.policy;
        let (priorities, origin) = match &own.composition {
            Composition::FixedPriority(rule) => (rule(tasks), format!("priorities of {name}")),
            Composition::Scheduler(_) => (vec![0; tasks.len()], format!("the scheduler {name}")),
        };
        if priorities.len() != tasks.len() {
            return Err(Failure::input(
                format!("use the policy {name}"),
                format!(
                    "it gives {} priorities for {} tasks",
                    priorities.len(),
                    tasks.len()
                ),
            )
            .with_help(
                "its closure returns one priority for each task, in the order of the tasks",
            ));
        }
        let Some(test) = catalogue::find_test(test, None) else {
            return Ok(Self::doubted(
                priorities,
                &origin,
                &format!("no test speaks of {name}"),
                "",
            ));
        };
        let mut problem = problem::problem(path, set, test, &Given::default())?;
        let fixed = matches!(own.composition, Composition::FixedPriority(_));
        if fixed && test.policy != name {
            // A test of another policy's order proves this one only if it gets its priorities.
            problem = problem
                .with_priorities(priorities.clone())
                .map_err(|error| Failure::bug(format!("use {test}"), error.to_string()))?;
        }
        let found = test.analyse(&problem);
        if let (true, Some(proved)) = (fixed, &found.parameters.priorities) {
            if by_urgency(proved) != by_urgency(&priorities) {
                let why = format!("it speaks of another order than {name} has");
                return Ok(Self::unproved_by(
                    priorities,
                    &origin,
                    &test.to_string(),
                    &why,
                ));
            }
        }
        if found.verdict == Verdict::Schedulable {
            return Ok(Self {
                priorities,
                virtual_deadlines: None,
                description: format!("{origin}; {test} proves the set schedulable"),
                unproved: None,
            });
        }
        let task_names: Vec<String> = set.tasks.iter().map(|task| task.name.clone()).collect();
        let names = Names {
            tasks: &task_names,
            levels: &set.levels,
        };
        let why = found.why.as_ref().map_or_else(
            || "no reason is known".to_owned(),
            |why| why.with_names(names).to_string(),
        );
        Ok(Self::unproved_by(
            priorities,
            &origin,
            &test.to_string(),
            &why,
        ))
    }

    fn unproved_by(priorities: Vec<u32>, origin: &str, test: &str, why: &str) -> Self {
        let doubt = format!("{test} does not prove the set schedulable");
        Self::doubted(priorities, origin, &doubt, &format!(": {why}"))
    }

    fn doubted(priorities: Vec<u32>, origin: &str, doubt: &str, why: &str) -> Self {
        Self {
            priorities,
            virtual_deadlines: None,
            description: format!("{origin}; {doubt}"),
            unproved: Some(format!(
                "{doubt}, so nothing is promised{why}; the order used is: {origin}"
            )),
        }
    }
}

/// The places of the tasks, most urgent first; among equal priorities the first one is.
fn by_urgency(priorities: &[u32]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..priorities.len()).collect();
    places.sort_by_key(|&place| Reverse(priorities.get(place)));
    places
}
