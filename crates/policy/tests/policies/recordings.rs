//! A recording holds the task set, the policy, its options and its parameters; assembled again from them alone,
//! without any analysis, a system is the same.

use crate::needs::needs;
use std::path::Path;
use std::sync::Arc;
use vestal_analysis::Parameters;
use vestal_core::{Instant, Scheduler};
use vestal_policy::{
    Analysis, Options, Policy, Precision, Registry, System, Values, assemble, parameters,
};
use vestal_workload::generate::Recipe;
use vestal_workload::{Source, TaskSet};

/// Every choice of values of the options that have a list of them, one option at a time.
fn options(registry: &Registry, policy: &dyn Policy) -> Vec<Options> {
    let mut all = vec![Options::default()];
    for option in policy.about().options {
        let Values::OneOf(values) = option.values else {
            continue;
        };
        for value in values {
            let given = [(option.name.to_owned(), (*value).to_owned())];
            all.extend(registry.options(policy, &given));
        }
    }
    all
}

/// The same system from what a recording of it would hold.
fn recorded(registry: &Registry, policy: &dyn Policy, system: &System, set: &TaskSet) -> System {
    let text = parameters::to_file(&system.parameters, set);
    let read = match text.as_str() {
        "" => Parameters::default(),
        text => parameters::read(&Source::new("recorded", text), set).unwrap(),
    };
    assert_eq!(read, system.parameters, "{text}");
    let by = (policy, &system.options);
    assemble(registry, by, set, &read, Analysis::Skip).unwrap()
}

/// How many systems of the set came back the same, of how many policies with options.
fn compare(registry: &Registry, set: &TaskSet) -> (usize, usize) {
    let (mut same, mut tried) = (0, 0);
    for policy in registry.policies() {
        for options in options(registry, policy) {
            tried += 1;
            let by = (policy, &options);
            let given = needs(policy, set);
            let asked = assemble(registry, by, set, &given, Analysis::Ask);
            let Ok(asked) = asked else {
                continue;
            };
            let again = recorded(registry, policy, &asked, set);
            let of = |system: &System| {
                let clusters = system.clusters.iter();
                clusters
                    .map(|cluster| cluster.configuration.clone())
                    .collect::<Vec<_>>()
            };
            let name = policy.about().name;
            assert_eq!(of(&again), of(&asked), "{name} {:?}", options.pairs());
            assert_eq!(again.parameters, asked.parameters, "{name}");
            same += 1;
        }
    }
    (same, tried)
}

fn example(name: &str) -> Arc<Source> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text = std::fs::read_to_string(examples.join(name)).unwrap();
    Source::new(name, &text)
}

#[test]
fn every_policy_comes_back_from_a_recording_of_every_example() {
    let registry = Registry::default();
    let mut same = 0;
    for entry in
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")).unwrap()
    {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".toml") {
            continue;
        }
        let set = TaskSet::from_source(&example(&name)).unwrap();
        same += compare(&registry, &set).0;
    }
    assert!(same > 200, "{same} systems were compared");
}

#[test]
fn every_policy_comes_back_from_a_recording_of_random_sets() {
    let registry = Registry::default();
    for utilization in ["0.4", "0.7"] {
        let mut recipe = Recipe::named("huang2014").unwrap();
        for (name, value) in [("tasks", "5"), ("utilization", utilization)] {
            recipe.set(name, value).unwrap();
        }
        let (mut same, mut tried) = (0, 0);
        for seed in 1..=40 {
            let (one, all) = compare(&registry, &recipe.draw(seed).unwrap());
            (same, tried) = (same + one, tried + all);
        }
        // Job priorities are not found for each of them.
        assert!(same * 10 > tried * 7, "{same} of {tried}");
    }
}

/// Jobs of the LO task cannot be cut, so its period is shorter than any slice; and the two others have the same.
#[test]
fn equal_periods_that_cannot_be_cut_keep_their_order() {
    let registry = Registry::default();
    let text = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\n\
        [[task]]\nname = \"fast\"\ncriticality = \"LO\"\nperiod = \"10ns\"\nwcet = { LO = \"1ns\" }\n\
        [[task]]\nname = \"low\"\ncriticality = \"LO\"\nperiod = \"20ms\"\nwcet = { LO = \"4ms\" }\n\
        [[task]]\nname = \"high\"\ncriticality = \"HI\"\nperiod = \"20ms\"\nwcet = { LO = \"4ms\", HI = \"8ms\" }\n";
    let set = TaskSet::from_source(&Source::new("set.toml", text)).unwrap();
    let (same, _) = compare(&registry, &set);
    assert!(same > 10, "{same}");
}

#[test]
fn a_system_makes_as_many_engines_as_are_asked_for_and_they_are_alike() {
    let registry = Registry::default();
    let set = TaskSet::from_source(&example("fms.toml")).unwrap();
    for policy in registry.policies() {
        let by = (policy, &Options::default());
        let given = needs(policy, &set);
        let system = assemble(&registry, by, &set, &given, Analysis::Ask).unwrap();
        for cluster in &system.clusters {
            let configuration = &cluster.configuration;
            let engine = || configuration.engine(Precision::EXACT).unwrap().boxed();
            let (mut one, mut other) = (engine(), engine());
            let plans =
                [&mut one, &mut other].map(|engine| format!("{:?}", engine.decide(Instant::EPOCH)));
            assert_eq!(plans[0], plans[1], "{}", policy.about().name);
        }
    }
}
