//! `pt`: jobs in slices, rate-monotonic over slice periods.

use super::one_cpu;
use crate::configuration::{Configuration, Servers};
use crate::options::{EXHAUSTION, OptionKey, Options, Values};
use crate::policy::{About, Native, Policy};
use crate::refusal::Refusal;
use crate::setup::{Setup, order_name};
use crate::system::{System, Terms};
use vestal_analysis::schedulability::pt::priorities_over_slices;
use vestal_analysis::{Parameter, Parameters};
use vestal_core::{
    ClassicOrder, Enforcement, Exhaustion, LocalOrder, Modes, ServedTask, ServerConfiguration,
    ServerId, SliceCount, TaskConfiguration, TaskOrder,
};

pub(super) struct Pt;

/// Servers on a fixed grid, as Huang, Gill and Lu (TECS 2014) carry slices out, to compare with.
const SERVERS: OptionKey = OptionKey {
    name: "servers",
    summary: "whether slices are aligned with jobs, or deferrable servers on a fixed grid take their place",
    values: Values::OneOf(&["aligned", "deferrable"]),
};

static ABOUT: About = About {
    name: "pt",
    summary: "period transformation: jobs in slices, rate-monotonic over slice periods",
    page: include_str!("../../../../docs/explain/pt.md"),
    parameters: &[Parameter::Slices],
    options: &[EXHAUSTION, SERVERS],
    tests: &["pt", "pt:printed", "pt:servers"],
    native: Native::Yes,
};

fn by_servers(options: &Options) -> bool {
    options.value(&SERVERS) == "deferrable"
}

impl Policy for Pt {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn test(&self, options: &Options) -> Result<Option<&str>, Refusal> {
        match by_servers(options) {
            false => Ok(Some("pt")),
            true if options.given(&EXHAUSTION).is_some() => {
                let why = "servers have budgets of their own, and jobs have no limit";
                Err(Refusal::input(why).with_help("leave `exhaustion` out"))
            }
            true => Ok(Some("pt:servers")),
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let (counts, origin) = match setup.choose(|all| all.slices.as_ref()) {
            Some((counts, by)) => (counts, format!("rate-monotonic over slices, slices {by}")),
            None => {
                let order = order_name(ClassicOrder::RateMonotonic);
                (
                    vec![SliceCount::ONE; setup.tasks.len()],
                    format!("{order}, jobs in one piece"),
                )
            }
        };
        // Found or given: their order is the same, also among equal periods.
        let mut tasks = setup.with_priorities(&priorities_over_slices(setup.tasks, &counts));
        for (entry, count) in tasks.iter_mut().zip(&counts) {
            entry.slices = *count;
        }
        let parameters = Parameters {
            slices: Some(counts),
            ..Parameters::default()
        };
        if !by_servers(setup.options) {
            let order = (tasks, TaskOrder::FixedPriority);
            return Ok(one_cpu::ordered(
                setup,
                &ABOUT,
                order,
                Enforcement::Slices,
                parameters,
                origin,
            ));
        }
        let servers = Configuration::Servers(on_a_grid(setup, tasks));
        // A server's budget stands in for the limits of its jobs.
        let terms = Terms::Deadlines {
            enforcement: Enforcement::Static,
            exhaustion: Exhaustion::Continue,
        };
        Ok(one_cpu::system(
            setup,
            &ABOUT,
            (servers, terms),
            parameters,
            origin,
        ))
    }
}

/// A deferrable server for each task, as urgent as the task.
fn on_a_grid(setup: &Setup<'_>, tasks: Vec<TaskConfiguration>) -> Servers {
    let servers = tasks.iter().map(|entry| ServerConfiguration {
        kind: entry.slices.deferrable_server(&entry.task),
        priority: entry.priority,
        criticality: entry.task.criticality,
        order: LocalOrder::FixedPriority,
    });
    let served = tasks.iter().zip(0..).map(|(entry, number)| ServedTask {
        task: entry.task,
        server: ServerId(number),
        priority: 1,
        on_behalf_of: None,
    });
    Servers {
        names: setup
            .set
            .tasks
            .iter()
            .map(|task| task.name.clone())
            .collect(),
        servers: servers.collect(),
        served: served.collect(),
        devices: Vec::new(),
        levels: setup.levels,
        modes: Modes::Requested,
        tasks,
    }
}
