//! What policies of one CPU share, built-in and own ones.

use crate::configuration::{Configuration, OneCpu, Precision, User};
use crate::policy::{About, Fields, Use};
use crate::setup::{Setup, order_name};
use crate::system::{Cluster, Domain, Guarantee, System, Terms};
use std::sync::Arc;
use vestal_analysis::{Parameter, Parameters};
use vestal_core::{
    ClassicOrder, CpuId, Enforcement, Scheduler, TaskConfiguration, TaskId, TaskOrder,
};

/// The fields of a policy whose test lets jobs run to completion.
pub const TO_COMPLETION: Fields = Fields {
    estimates: Use::Rule(
        "its test counts them, as if jobs were not stopped at their own level's value",
    ),
    ..Fields::ONE_CPU
};

/// The whole system on one CPU, in one domain.
pub fn system(
    setup: &Setup<'_>,
    about: &About,
    (configuration, terms): (Configuration, Terms),
    parameters: Parameters,
    origin: String,
) -> System {
    let cpus = vec![CpuId(0)];
    // Bottom halves are tasks that stand behind those of the file.
    let count = configuration.tasks().len();
    let numbers = (0..count).filter_map(|task| u16::try_from(task).ok());
    let tasks: Vec<TaskId> = numbers.map(TaskId).collect();
    let proof = setup.proof.clone();
    let domain = Domain {
        cpus: cpus.clone(),
        tasks: tasks.clone(),
        guarantee: Guarantee::new(terms, proof),
    };
    System {
        policy: about.name.to_owned(),
        options: setup.options.clone(),
        parameters,
        cpus: 1,
        clusters: vec![Cluster {
            cpus,
            tasks,
            configuration,
            domains: vec![domain],
        }],
        origin,
    }
}

/// Tasks with an order and limits.
pub fn ordered(
    setup: &Setup<'_>,
    about: &About,
    (tasks, order): (Vec<TaskConfiguration>, TaskOrder<'static>),
    enforcement: Enforcement,
    parameters: Parameters,
    origin: String,
) -> System {
    let exhaustion = setup.options.exhaustion();
    let configuration = Configuration::OneCpu(OneCpu {
        tasks,
        levels: setup.levels,
        enforcement,
        exhaustion,
        order,
    });
    let terms = Terms::Deadlines {
        enforcement,
        exhaustion,
    };
    system(setup, about, (configuration, terms), parameters, origin)
}

/// Fixed priorities by a classic rule, and static limits.
pub fn classic(setup: &Setup<'_>, about: &About, order: ClassicOrder) -> System {
    let tasks = setup.with_priorities(&setup.classic(order));
    let origin = order_name(order).to_owned();
    let order = (tasks, TaskOrder::FixedPriority);
    ordered(
        setup,
        about,
        order,
        Enforcement::Static,
        Parameters::default(),
        origin,
    )
}

/// Fixed priorities that are given or found, else deadline-monotonic ones.
pub fn assigned(setup: &Setup<'_>, about: &About, enforcement: Enforcement) -> System {
    let (priorities, origin) = match setup.choose(|all| all.priorities.as_ref()) {
        Some((priorities, origin)) => (priorities, format!("priorities {origin}")),
        None => {
            let order = ClassicOrder::DeadlineMonotonic;
            (setup.classic(order), order_name(order).to_owned())
        }
    };
    let order = (setup.with_priorities(&priorities), TaskOrder::FixedPriority);
    let parameters = Parameters {
        priorities: Some(priorities),
        ..Parameters::default()
    };
    ordered(setup, about, order, enforcement, parameters, origin)
}

/// The job that is due first goes first, in mode 0 at its virtual deadline if the policy has such.
pub(super) fn by_deadline(setup: &Setup<'_>, about: &About, enforcement: Enforcement) -> System {
    let is_virtual = about.parameters.contains(&Parameter::VirtualDeadlines);
    let (due, origin) = match setup.choose(|all| all.virtual_deadlines.as_ref()) {
        Some((due, by)) if is_virtual => (due, format!("virtual deadlines {by}")),
        None if is_virtual => (
            setup.deadlines(),
            "real deadlines as virtual ones".to_owned(),
        ),
        Some(_) | None => (setup.deadlines(), "real deadlines".to_owned()),
    };
    let virtual_deadlines = due.clone().into();
    let order = TaskOrder::EarliestDeadline {
        virtual_deadlines,
        queues: setup.options.queues(),
    };
    let order = (setup.with_priorities(&[]), order);
    let parameters = Parameters {
        virtual_deadlines: is_virtual.then_some(due),
        ..Parameters::default()
    };
    let origin = format!("earliest deadline first, {origin}");
    ordered(setup, about, order, enforcement, parameters, origin)
}

/// Fixed priorities by the policy's own rule.
pub fn by_rule(setup: &Setup<'_>, about: &About, enforcement: Enforcement) -> System {
    let priorities = setup.rule.priorities.as_deref().unwrap_or(&[]);
    let order = (setup.with_priorities(priorities), TaskOrder::FixedPriority);
    let origin = format!("priorities of {}", about.name);
    ordered(
        setup,
        about,
        order,
        enforcement,
        Parameters::default(),
        origin,
    )
}

/// A scheduler of the program's own: anything that keeps the contract. `enforcement` says which deadlines
/// count as guaranteed. The same precision must give the same scheduler.
pub fn user(
    setup: &Setup<'_>,
    about: &About,
    enforcement: Enforcement,
    build: impl Fn(Precision) -> Result<Box<dyn Scheduler + Send>, String> + Send + Sync + 'static,
) -> System {
    let configuration = Configuration::User(User {
        tasks: setup.with_priorities(&[]),
        build: Arc::new(build),
    });
    let terms = Terms::Deadlines {
        enforcement,
        exhaustion: setup.options.exhaustion(),
    };
    let origin = format!("the scheduler {}", about.name);
    system(
        setup,
        about,
        (configuration, terms),
        Parameters::default(),
        origin,
    )
}
