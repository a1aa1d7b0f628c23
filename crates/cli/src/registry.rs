//! The policies and tests that this program knows: the built-in ones, and those it was handed.
//!
//! They are set once, before anything is looked up, and then stay: they belong to the program and not to one
//! command of it.

use crate::failure::Failure;
use crate::names;
use std::sync::OnceLock;
use vestal_analysis::Test;
use vestal_policy::{Native, Policy, Refusal, Registry};

static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// Makes a program's registry known. What is wrong with it is the fault of who wrote the program.
pub(crate) fn install(registry: Result<Registry, Refusal>) -> Result<(), Failure> {
    const WHAT: &str = "use this program's own policies and tests";
    let registry = registry.map_err(|refusal| Failure::refused(WHAT, refusal))?;
    REGISTRY.set(registry).map_err(|_| {
        Failure::input(WHAT, "they were given before").with_help("call main_with once in a process")
    })
}

/// Every policy and every test.
pub(crate) fn registry() -> &'static Registry {
    REGISTRY.get_or_init(Registry::default)
}

/// The policy of this name. `what` is about to be done with it.
pub(crate) fn find_policy(name: &str, what: &str) -> Result<&'static dyn Policy, Failure> {
    policy_of(registry(), name, what)
}

/// The policy of this name in this registry.
pub(crate) fn policy_of<'a>(
    registry: &'a Registry,
    name: &str,
    what: &str,
) -> Result<&'a dyn Policy, Failure> {
    if let Some(policy) = registry.policy(name) {
        return Ok(policy);
    }
    let known = registry.policies().map(|policy| policy.about().name);
    Err(names::unknown(what, "policy", name, known))
}

/// The test written as `name` or `name:variant`. `what` is about to be done with it.
pub(crate) fn find_test(text: &str, what: &str) -> Result<&'static Test, Failure> {
    let found = registry().test(text);
    found.ok_or_else(|| no_test(text, what))
}

/// The failure for a test that there is not, written as `name` or `name:variant`.
pub(crate) fn no_test(text: &str, what: &str) -> Failure {
    let registry = registry();
    let name = text.split(':').next().unwrap_or_default();
    let exists = registry.test(name).is_some();
    let kind = if exists {
        "variant of that test"
    } else {
        "test"
    };
    names::unknown(what, kind, text, registry.tests())
}

/// Whether fixed priorities can keep the policy's order. `verb` is what is about to be done.
pub(crate) fn check_native(policy: &dyn Policy, verb: &str) -> Result<(), Failure> {
    let about = policy.about();
    match about.native {
        Native::Yes => Ok(()),
        Native::No(why) => {
            let what = format!("{verb} under the policy {}", about.name);
            let help = "--dispatch managed can: a manager carries out the plans of the scheduler";
            Err(Failure::input(what, why).with_help(help))
        }
    }
}
