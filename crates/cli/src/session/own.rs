//! Sessions under a policy that is not built in.

use super::{Order, OrderTables, Session};
use crate::catalogue;
use crate::extension::{Build, Composition, OwnPolicy, Setup};
use crate::failure::{Exit, Failure};
use crate::problem::{self, Given};
use std::cmp::Reverse;
use std::path::Path;
use vestal_analysis::{Names, Verdict};
use vestal_core::{Exhaustion, LevelSet, OrderRule, Policy, Scheduler, Task, TaskConfiguration};
use vestal_workload::TaskSet;

/// The keys of `--set` that only the policy knows.
pub(super) fn option_keys(policy: &Policy) -> &'static [&'static str] {
    match catalogue::own_policy(policy.name) {
        Some(own) => &own.options,
        None if policy.order == OrderRule::Slices => super::servers::OPTIONS,
        None => super::zero_slack::option_keys(policy),
    }
}

/// The values given for those keys.
pub(super) fn options(policy: &Policy, given: &[String]) -> Vec<(String, String)> {
    let keys = option_keys(policy);
    let known = super::pairs(given).into_iter();
    known
        .filter(|(key, _)| keys.contains(&key.as_str()))
        .collect()
}

/// Whether the policy is an own one with a scheduler of its own.
pub(super) fn has_scheduler(policy: &Policy) -> bool {
    matches!(
        catalogue::own_policy(policy.name).map(|own| &own.composition),
        Some(Composition::Scheduler(_))
    )
}

/// What the scheduler of an own policy is built from, apart from the session: a real run builds it
/// on its own account, more than once.
pub(crate) struct OwnBuilder {
    build: &'static Build,
    set: TaskSet,
    configurations: Vec<TaskConfiguration>,
    levels: LevelSet,
    exhaustion: Exhaustion,
    options: Vec<(String, String)>,
}

impl OwnBuilder {
    /// The scheduler, or why there is none.
    pub(crate) fn build(&self) -> Result<Box<dyn Scheduler + Send>, String> {
        (self.build)(&Setup {
            set: &self.set,
            tasks: &self.configurations,
            levels: self.levels,
            exhaustion: self.exhaustion,
            options: &self.options,
        })
    }
}

impl Session {
    /// The builder of an own policy that is no fixed-priority composition.
    pub(crate) fn own_builder(&self) -> Option<OwnBuilder> {
        let own = catalogue::own_policy(self.policy.name)?;
        let Composition::Scheduler(build) = &own.composition else {
            return None;
        };
        Some(OwnBuilder {
            build,
            set: self.set.clone(),
            configurations: self.configurations.clone(),
            levels: self.levels,
            exhaustion: self.exhaustion,
            options: self.own_options.clone(),
        })
    }

    /// The scheduler of an own policy that is no fixed-priority composition. `what` is about to be
    /// done with it.
    pub(crate) fn own_scheduler(
        &self,
        what: &str,
    ) -> Result<Option<Box<dyn Scheduler + Send>>, Failure> {
        self.own_builder()
            .map(|builder| builder.build())
            .transpose()
            .map_err(|why| Failure::input(what, why))
    }

    /// Where a fault is looked for first if the scheduler is not ours.
    pub(crate) fn own_fault(&self, failure: Failure) -> Failure {
        if failure.exit != Exit::Bug || !has_scheduler(self.policy) {
            return failure;
        }
        failure.with_help(format!(
            "the scheduler of {} is this program's own: does it keep the rules C1 to C9 of vestal_core::scheduler?",
            self.policy.name
        ))
    }
}

/// Whether fixed priorities can keep the policy's order. `verb` is what is about to be done.
pub(crate) fn check_native(policy: &Policy, verb: &str) -> Result<(), Failure> {
    let why = if has_scheduler(policy) {
        "fixed priorities cannot carry out the plans of its own scheduler"
    } else if matches!(policy.order, OrderRule::EarliestDeadline(_)) {
        "fixed priorities cannot order jobs by deadline"
    } else if matches!(policy.order, OrderRule::JobLists(_)) {
        "fixed priorities of tasks cannot give each job its own"
    } else {
        return Ok(());
    };
    let what = format!("{verb} under the policy {}", policy.name);
    let help = "--dispatch managed can: a manager carries out the plans of the scheduler";
    Err(Failure::input(what, why).with_help(help))
}

/// Whether a simulated native run can be recorded.
pub(crate) fn check_native_simulation(policy: &Policy, verb: &str) -> Result<(), Failure> {
    if policy.order != OrderRule::Slices {
        return Ok(());
    }
    let why = "a simulated native run does not say when a job waits for its next slice";
    let what = format!("{verb} under the policy {}", policy.name);
    Err(Failure::input(what, why).with_help(
        "leave out --dispatch native: the schedule is the same when the scheduler decides everything",
    ))
}

/// Whether a real run can do what the policy asks of it.
pub(crate) fn check_real(policy: &Policy, managed: bool) -> Result<(), Failure> {
    if managed {
        Ok(())
    } else {
        check_native(policy, "run")
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
        let doubt = doubt_about(path, set, own, &priorities)?;
        let (description, unproved) = match doubt {
            None => (format!("{origin}; {test} proves the set schedulable"), None),
            Some((doubt, why)) => (
                format!("{origin}; {doubt}"),
                Some(format!(
                    "{doubt}, so nothing is promised{why}; the order used is: {origin}"
                )),
            ),
        };
        Ok(Self {
            test: test.to_owned(),
            priorities,
            tables: OrderTables::Priorities,
            zero_slack: None,
            description,
            unproved,
        })
    }
}

/// What keeps the test that an own policy names from proving the set, and why; `None` if it does.
fn doubt_about(
    path: &Path,
    set: &TaskSet,
    own: &OwnPolicy,
    priorities: &[u32],
) -> Result<Option<(String, String)>, Failure> {
    let name = own.policy.name;
    let Some(test) = catalogue::find_test(own.policy.test, None) else {
        return Ok(Some((format!("no test speaks of {name}"), String::new())));
    };
    let doubt = |why: &str| {
        let doubt = format!("{test} does not prove the set schedulable");
        Ok(Some((doubt, format!(": {why}"))))
    };
    let mut problem = problem::problem(path, set, test, &Given::default())?;
    let fixed = matches!(own.composition, Composition::FixedPriority(_));
    if fixed && test.policy != name {
        // A test of another policy's order proves this one only if it gets its priorities.
        problem = problem
            .with_priorities(priorities.to_vec())
            .map_err(|error| Failure::bug(format!("use {test}"), error.to_string()))?;
    }
    let found = test.analyse(&problem);
    if let (true, Some(proved)) = (fixed, &found.parameters.priorities)
        && by_urgency(proved) != by_urgency(priorities)
    {
        return doubt(&format!("it speaks of another order than {name} has"));
    }
    if found.verdict == Verdict::Schedulable {
        return Ok(None);
    }
    let task_names: Vec<String> = set.tasks.iter().map(|task| task.name.clone()).collect();
    let names = Names {
        tasks: &task_names,
        levels: &set.levels,
    };
    match &found.why {
        None => doubt("no reason is known"),
        Some(why) => doubt(&why.with_names(names).to_string()),
    }
}

/// The places of the tasks, most urgent first; among equal priorities the first one is.
fn by_urgency(priorities: &[u32]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..priorities.len()).collect();
    places.sort_by_key(|&place| Reverse(priorities.get(place)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::Enforcement;

    const THREE: &str = include_str!("../../../../examples/huang-three-tasks.toml");

    /// The order of `rule` over three tasks, proved by `test`.
    fn order(test: &'static str, rule: fn(&[Task]) -> Vec<u32>) -> Result<Order, Failure> {
        let set = TaskSet::parse("three.toml", THREE).unwrap();
        let tasks = set.to_tasks("mine").unwrap();
        let own = OwnPolicy::fixed_priority("mine", "a rule", Enforcement::Adaptive, rule);
        Order::own(Path::new("three.toml"), &set, &tasks, &own.proved_by(test))
    }

    #[test]
    fn a_built_in_test_is_given_the_priorities_of_the_rule() {
        let good = order("amc-rtb", |_| vec![3, 2, 1]).unwrap();
        assert_eq!((good.priorities, good.unproved), (vec![3, 2, 1], None));
        // tau2 has 10 ms, and tau3 before it takes more than that.
        let bad = order("amc-rtb", |_| vec![1, 2, 3]).unwrap();
        assert_eq!(bad.priorities, [1, 2, 3]);
        let doubt = bad.unproved.unwrap();
        assert!(
            doubt.starts_with("amc-rtb does not prove the set schedulable")
                && doubt.contains(": tau2 may take "),
            "{doubt}"
        );
        let none = order("", |_| vec![3, 2, 1]).unwrap().unproved.unwrap();
        assert!(none.starts_with("no test speaks of mine"), "{none}");
    }

    #[test]
    fn a_rule_that_forgets_tasks_is_named() {
        let failure = order("amc-rtb", |_| vec![1]).err().unwrap();
        assert_eq!(failure.why, "it gives 1 priorities for 3 tasks");
    }

    #[test]
    fn orders_are_compared_and_not_numbers() {
        assert_eq!(by_urgency(&[3, 2, 1]), by_urgency(&[9, 9, 4]));
        assert_ne!(by_urgency(&[3, 2, 1]), by_urgency(&[3, 1, 2]));
    }
}
