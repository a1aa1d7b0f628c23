//! `hsf`: servers by fixed priorities, and an order inside each.

use super::one_cpu;
use crate::configuration::{BY_SERVER, Configuration};
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::servers::{self, ServerRules, User};
use crate::setup::{Setup, order_name};
use crate::system::{System, Terms};
use vestal_analysis::{Parameter, Parameters};
use vestal_core::ClassicOrder;

pub(super) struct Hsf;

static ABOUT: About = About {
    name: "hsf",
    summary: "hierarchical: servers by fixed priorities, fixed priorities or EDF inside each",
    page: include_str!("../../../../docs/explain/hsf.md"),
    // Budgets of servers would be another one.
    parameters: &[Parameter::Priorities],
    options: &[],
    tests: &[],
    native: Native::No(BY_SERVER),
};

impl Policy for Hsf {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            degraded: Use::Rule(
                "is what a task's own server has above its level, in a set without servers; others have theirs",
            ),
            ..Fields::IN_SERVERS
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        // Budgets that are given as parameters would take the place of the file's here.
        let (priorities, by) = servers::priorities(setup);
        let user = User {
            name: ABOUT.name,
            rules: &ServerRules::EVERY_KIND,
            given: None,
        };
        let servers = servers::of_set(setup, user, &priorities)?;
        let set = setup.set;
        let inside = match by {
            Some(by) => format!("priorities {by}"),
            None => order_name(ClassicOrder::RateMonotonic).to_owned(),
        };
        let given = set.servers.iter().any(|server| server.priority.is_some());
        let origin = match (set.servers.is_empty(), given) {
            (true, _) => format!("a deferrable server for each task, {inside}"),
            (false, true) => format!("servers by priorities of the file, inside {inside}"),
            (false, false) => format!("servers in rate-monotonic order, inside {inside}"),
        };
        Ok(one_cpu::system(
            setup,
            &ABOUT,
            (Configuration::Servers(servers), Terms::Nothing),
            Parameters {
                priorities: Some(priorities),
                ..Parameters::default()
            },
            origin,
        ))
    }
}
