//! Partitioned EDF-VD: each task on a CPU of its own, and on each CPU EDF-VD with a mode of its own.

use super::partitioned;
use crate::configuration::OneCpu;
use crate::options::{DISPATCHER, EXHAUSTION, OptionKey, Options, QUEUES, Values};
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_analysis::{Parameter, Parameters};
use vestal_core::order::BY_DEADLINE;
use vestal_core::{CpuId, Enforcement, TaskId, TaskOrder};

/// How the test places tasks that no one has placed.
const PLACEMENT: OptionKey = OptionKey {
    name: "placement",
    summary: "which CPU takes a task: the first on which both sums stay at most 3/4, in the order of the file or \
              by decreasing utilisation, HI tasks first; or the first that the test edf-vd accepts with it",
    values: Values::OneOf(&["first-fit", "decreasing", "edf-vd"]),
};

static ABOUT: About = About {
    name: "pedf-vd",
    summary: "partitioned EDF-VD: each CPU by itself, with a mode of its own",
    page: include_str!("../../../../docs/explain/pedf-vd.md"),
    parameters: &[Parameter::Partition, Parameter::VirtualDeadlines],
    options: &[EXHAUSTION, PLACEMENT, QUEUES, DISPATCHER],
    tests: &["pedf-vd", "pedf-vd:decreasing", "pedf-vd:edf-vd"],
    native: Native::No(BY_DEADLINE),
};

pub(super) struct PedfVd;

impl Policy for PedfVd {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            cpu: Use::Rule("the task runs there; who has none is placed by the test"),
            cpus: Use::Reads,
            ..Fields::ADAPTIVE
        }
    }

    fn test(&self, options: &Options) -> Result<Option<&str>, Refusal> {
        Ok(Some(match options.value(&PLACEMENT) {
            "decreasing" => "pedf-vd:decreasing",
            "edf-vd" => "pedf-vd:edf-vd",
            _ => "pedf-vd",
        }))
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let (partition, by) = partition(setup);
        let (due, due_by) = match setup.choose(|all| all.virtual_deadlines.as_ref()) {
            Some((due, by)) => (due, format!("virtual deadlines {by}")),
            None => (
                setup.deadlines(),
                "real deadlines as virtual ones".to_owned(),
            ),
        };
        let tasks = setup.with_priorities(&[]);
        let configure = |placed: &[TaskId]| OneCpu {
            tasks: of_each(placed, &tasks),
            levels: setup.levels,
            enforcement: Enforcement::Adaptive,
            exhaustion: setup.options.exhaustion(),
            order: TaskOrder::EarliestDeadline {
                virtual_deadlines: of_each(placed, &due).into(),
                queues: setup.options.queues(),
            },
        };
        let parameters = Parameters {
            partition: Some(partition.iter().copied().map(Some).collect()),
            virtual_deadlines: Some(due.clone()),
            ..Parameters::default()
        };
        let origin = format!("earliest deadline first on each CPU, {by}, {due_by}");
        let placed = (partition.as_slice(), configure);
        Ok(partitioned::system(
            setup, &ABOUT, placed, parameters, origin,
        ))
    }
}

/// The CPU of each task, and where that comes from: what the test found has the given ones in it; where it found
/// none, the others are placed here, without a proof.
fn partition(setup: &Setup<'_>) -> (Vec<CpuId>, String) {
    let found = setup.found.and_then(|(test, outcome)| {
        let partition = outcome.parameters.partition.as_ref()?;
        let complete: Option<Vec<CpuId>> = partition.iter().copied().collect();
        Some((complete?, format!("placed by {test}")))
    });
    found.unwrap_or_else(|| {
        let given = setup.given.all().partition.unwrap_or_default();
        let all = given.len() == setup.tasks.len() && given.iter().all(Option::is_some);
        let by = match all {
            true => "placed as given",
            false => "placed where there is least to do",
        };
        (partitioned::complete(setup, &given), by.to_owned())
    })
}

/// The entries of these tasks.
fn of_each<T: Clone>(tasks: &[TaskId], all: &[T]) -> Vec<T> {
    tasks
        .iter()
        .filter_map(|task| all.get(task.index()).cloned())
        .collect()
}
