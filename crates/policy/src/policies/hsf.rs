//! `hsf`: servers by fixed priorities, and an order inside each.

use super::one_cpu;
use crate::configuration::{BY_SERVER, Configuration};
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::servers;
use crate::setup::Setup;
use crate::system::{System, Terms};
use vestal_analysis::Parameters;

pub(super) struct Hsf;

static ABOUT: About = About {
    name: "hsf",
    summary: "hierarchical: servers by fixed priorities, fixed priorities or EDF inside each",
    page: include_str!("../../../../docs/explain/hsf.md"),
    // Budgets of servers would be given here.
    parameters: &[],
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
            priority: Use::Reads,
            on_miss: Use::Ignored("a late job goes on within the budget of its server"),
            io: Use::Reads,
            estimates: Use::Ignored(
                "no job is stopped, whatever it takes; only the scenario `beta` looks at estimates above the own level",
            ),
            servers: Use::Reads,
            devices: Use::Reads,
            ..Fields::ONE_CPU
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        // Budgets that are given as parameters would take the place of the file's here.
        let servers = servers::of_set(setup, ABOUT.name)?;
        let set = setup.set;
        let inside = match setup.given.file.priorities {
            Some(_) => "priorities of the file",
            None => "rate-monotonic order",
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
            Parameters::default(),
            origin,
        ))
    }
}
