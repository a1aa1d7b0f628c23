//! The simulated world with costs against its twin, on random systems.

use super::twin::{self, Fault};
use super::witness::Witness;
use super::{Run, Use, draw, simulate_system};
use crate::common::Random;
use crate::common::system::{shrink, text};
use crate::reference::System;
use std::fmt::Write;
use vestal_core::Duration;
use vestal_sim::Costs;

/// How many systems are compared; `VESTAL_REFERENCE_SYSTEMS` overrides it.
const SYSTEMS: u64 = 25_000;

fn world(system: &System, costs: &Costs) -> Run {
    let mut witness = Witness::new(system.end);
    simulate_system(system, Some(costs), &mut witness);
    witness.run
}

fn drawn(seed: u64) -> (System, Costs) {
    let mut random = Random::new(seed);
    let system = draw::system(&mut random);
    let costs = draw::costs(&mut random);
    (system, costs)
}

#[test]
fn world_and_twin_give_the_same_run() {
    let systems =
        std::env::var("VESTAL_REFERENCE_SYSTEMS").map_or(SYSTEMS, |count| count.parse().unwrap());
    for seed in 0..systems {
        let (system, costs) = drawn(seed);
        if world(&system, &costs) != twin::run(&system, &costs, None) {
            let (system, costs) = shrunk((system, costs));
            panic!("seed {seed}\n{}", difference(&system, &costs));
        }
    }
}

/// As long as they differ, cheaper and smaller.
fn shrunk((mut system, mut costs): (System, Costs)) -> (System, Costs) {
    let differ =
        |system: &System, costs: &Costs| world(system, costs) != twin::run(system, costs, None);
    loop {
        system = shrink(system, |smaller| differ(smaller, &costs));
        let cheaper = cheaper(&costs).into_iter();
        match cheaper.clone().find(|cheaper| differ(&system, cheaper)) {
            Some(cheaper) => costs = cheaper,
            None => return (system, costs),
        }
    }
}

fn cheaper(costs: &Costs) -> Vec<Costs> {
    type Field = fn(&mut Costs) -> &mut Duration;
    let fields: [Field; 9] = [
        |costs| &mut costs.release,
        |costs| &mut costs.job,
        |costs| &mut costs.switch,
        |costs| &mut costs.completion,
        |costs| &mut costs.detection,
        |costs| &mut costs.exhaustion,
        |costs| &mut costs.change,
        |costs| &mut costs.termination,
        |costs| &mut costs.wake,
    ];
    let mut all = vec![Costs {
        heartbeat: None,
        ..*costs
    }];
    for field in fields {
        for less in 0..field(&mut costs.clone()).as_nanos() {
            let mut cheaper = *costs;
            *field(&mut cheaper) = Duration::from_nanos(less);
            all.push(cheaper);
        }
    }
    all.retain(|cheaper| cheaper != costs);
    all
}

fn difference(system: &System, costs: &Costs) -> String {
    let mut out = format!("{}{costs:?}\n", text(system));
    for (name, run) in [
        ("twin ", twin::run(system, costs, None)),
        ("world", world(system, costs)),
    ] {
        let modes: String = run.modes.iter().map(u8::to_string).collect();
        writeln!(out, "{name} {}\n      {modes}", row(&run)).unwrap();
        writeln!(out, "      completed {:?}", run.completed).unwrap();
        writeln!(out, "      dropped {:?}", run.dropped).unwrap();
    }
    out
}

/// One sign for each tick: the task from 0 for a body, a letter from a for a job's own part, the first letter of a cause.
fn row(run: &Run) -> String {
    let sign = |used: &Option<Use>| match used {
        None => '.',
        Some(Use::Body(task, _)) => char::from(b'0' + *task as u8),
        Some(Use::Own(task, _)) => char::from(b'a' + *task as u8),
        Some(Use::Mechanism(cause)) => format!("{cause:?}").chars().next().unwrap_or('?'),
    };
    run.ticks.iter().map(sign).collect()
}
