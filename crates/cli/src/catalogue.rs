//! Every policy and every test that this program knows: the built-in ones, then its own.
//!
//! Own ones are set once, before anything is looked up, and then stay: like the static tables they
//! stand beside, they belong to the program and not to one command of it.

use crate::extension::{Composition, Extensions, OwnPolicy, OwnTest};
use crate::failure::Failure;
use crate::names;
use crate::session::WORLD_KEYS;
use std::sync::OnceLock;
use vestal_analysis::Test;
use vestal_core::policy::{self, POLICIES};
use vestal_core::{OrderRule, Policy};

static OWN: OnceLock<Extensions> = OnceLock::new();

/// Makes the extensions known. What is wrong with them is the fault of who wrote the program.
pub(crate) fn install(extensions: Extensions) -> Result<(), Failure> {
    check(&extensions)?;
    OWN.set(extensions).map_err(|_| {
        refused(
            "they were given before".to_owned(),
            "call main_with once in a process",
        )
    })
}

fn own_policies() -> &'static [OwnPolicy] {
    OWN.get().map_or(&[], |own| &own.policies)
}

fn own_tests() -> &'static [OwnTest] {
    OWN.get().map_or(&[], |own| &own.tests)
}

/// Every policy, built-in ones first.
pub(crate) fn policies() -> impl Iterator<Item = &'static Policy> {
    POLICIES
        .iter()
        .chain(own_policies().iter().map(|own| &own.policy))
}

/// The policy of this name.
pub(crate) fn find_policy(name: &str) -> Option<&'static Policy> {
    policies().find(|policy| policy.name == name)
}

/// What an own policy is made of; `None` for a built-in one.
pub(crate) fn own_policy(name: &str) -> Option<&'static OwnPolicy> {
    own_policies().iter().find(|own| own.policy.name == name)
}

/// Every test, built-in ones first.
pub(crate) fn tests() -> impl Iterator<Item = &'static Test> {
    vestal_analysis::tests()
        .iter()
        .chain(own_tests().iter().map(|own| &own.test))
}

/// The test of this name and variant.
pub(crate) fn find_test(name: &str, variant: Option<&str>) -> Option<&'static Test> {
    tests().find(|test| test.name == name && test.variant == variant)
}

/// Whether a test is none of those that are built in.
pub(crate) fn is_own_test(name: &str) -> bool {
    own_tests().iter().any(|own| own.test.name == name)
}

/// The page of an own policy or test, under its name and summary if it has no text.
pub(crate) fn own_page(name: &str) -> Option<String> {
    let policies = own_policies().iter().map(|own| (&own.policy, own.page));
    let policies = policies.map(|(policy, page)| (policy.name, policy.summary, page));
    let tests = own_tests()
        .iter()
        .map(|own| (own.test.name, own.test.summary, own.page));
    let (name, summary, page) = policies.chain(tests).find(|(known, ..)| *known == name)?;
    Some(match page {
        "" => format!("# {name}: {summary}\n"),
        page => page.to_owned(),
    })
}

fn refused(why: String, help: &str) -> Failure {
    Failure::input("use this program's own policies and tests", why).with_help(help)
}

/// Every name is well-formed and means one thing, and every test that a policy names exists.
fn check(extensions: &Extensions) -> Result<(), Failure> {
    let mut taken: Vec<&str> = Vec::new();
    let policies = extensions.policies.iter().map(|own| own.policy.name);
    let tests = extensions.tests.iter().map(|own| own.test.name);
    for name in policies.chain(tests) {
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(letter) {
            return Err(refused(
                format!("`{name}` is no name"),
                "a name is of lower-case letters, digits and hyphens",
            ));
        }
        let built_in = names::is_planned_policy(name) || names::is_planned_test(name);
        if built_in || taken.contains(&name) {
            return Err(refused(
                format!("the name `{name}` is taken"),
                "choose a name that no built-in, planned or other own policy or test has",
            ));
        }
        taken.push(name);
    }
    for key in WORLD_KEYS {
        let shadowing = |own: &&OwnPolicy| own.options.contains(&key);
        if let Some(own) = extensions.policies.iter().find(shadowing) {
            return Err(refused(
                format!(
                    "the option `{key}` of the policy `{}` is taken",
                    own.policy.name
                ),
                "every policy has it: for `exhaustion` there is Setup::exhaustion, and `backlog` is the \
                 business of the world",
            ));
        }
    }
    extensions
        .policies
        .iter()
        .try_for_each(|own| check_proof(own, &extensions.tests))
}

/// The test exists, and a built-in one speaks of fixed priorities and of the same limits: it would
/// ignore the priorities otherwise, or prove another policy.
fn check_proof(own: &OwnPolicy, tests: &[OwnTest]) -> Result<(), Failure> {
    let Policy { name, test, .. } = own.policy;
    if test.is_empty() || tests.iter().any(|own| own.test.name == test) {
        return Ok(());
    }
    let Some(found) = vestal_analysis::find(test, None) else {
        return Err(refused(
            format!("the policy `{name}` is proved by `{test}`, which is no test"),
            "name a built-in test, or add your own with Extensions::test",
        ));
    };
    let fits = policy::find(found.policy).is_some_and(|built_in| {
        matches!(built_in.order, OrderRule::Classic(_) | OrderRule::Assigned)
            && built_in.enforcement == own.policy.enforcement
    });
    match own.composition {
        Composition::FixedPriority(_) if !fits => Err(refused(
            format!("the policy `{name}` is proved by `{test}`, which speaks of other policies"),
            "name a test of fixed priorities under the same enforcement, or add your own",
        )),
        Composition::FixedPriority(_) | Composition::Scheduler(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{Enforcement, Task};

    fn policy(name: &'static str) -> OwnPolicy {
        let priorities = |tasks: &[Task]| vec![1; tasks.len()];
        OwnPolicy::fixed_priority(name, "all alike", Enforcement::Static, priorities)
    }

    fn refusal(extensions: Extensions) -> String {
        check(&extensions).unwrap_err().why
    }

    #[test]
    fn a_name_means_one_thing() {
        let two = Extensions::new()
            .policy(policy("alike"))
            .policy(policy("alike-2"));
        assert!(check(&two).is_ok());
        for name in ["amc", "edf", "amc-rtb", "hsf"] {
            assert!(refusal(Extensions::new().policy(policy(name))).contains("is taken"));
        }
        for name in ["", "Alike", "a:b", "a b"] {
            assert!(refusal(Extensions::new().policy(policy(name))).contains("is no name"));
        }
        let twice = Extensions::new()
            .policy(policy("alike"))
            .policy(policy("alike"));
        assert!(refusal(twice).contains("is taken"));
        for key in WORLD_KEYS {
            let shadowing = Extensions::new().policy(policy("alike").with_option(key));
            assert!(refusal(shadowing).contains("is taken"));
        }
    }

    #[test]
    fn a_policy_is_proved_by_a_test_that_exists() {
        let with = |test| Extensions::new().policy(policy("alike").proved_by(test));
        assert!(check(&with("smc")).is_ok());
        assert!(refusal(with("amc-rtb")).contains("other policies"));
        assert!(refusal(with("edf")).contains("other policies"));
        assert!(refusal(with("smcc")).contains("which is no test"));
    }

    #[test]
    fn built_in_names_are_all_here() {
        assert_eq!(find_test("smc", Some("printed")).unwrap().policy, "smc");
        assert_eq!(find_policy("amc").unwrap().test, "amc-rtb");
        assert!(find_policy("amcc").is_none() && own_policy("amc").is_none());
    }
}
