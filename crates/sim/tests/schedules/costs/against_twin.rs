//! The simulated world with costs against its twin, on random systems.

use super::twin::{self, Fault};
use super::witness::Witness;
use super::{Run, Use, draw, row, simulate_system};
use crate::common::Random;
use crate::common::system::{shrink, text};
use crate::reference::{Reason, System};
use std::fmt::Write;
use vestal_core::Duration;
use vestal_sim::Costs;
use vestal_sim::costs::Cause;

/// How many systems are compared; `VESTAL_REFERENCE_SYSTEMS` overrides it.
const SYSTEMS: u64 = 25_000;

/// All but frames, which the twin does not know.
const CAUSES: [Cause; 7] = [
    Cause::Release,
    Cause::Switch,
    Cause::Completion,
    Cause::Exhaustion,
    Cause::Mode,
    Cause::Wake,
    Cause::Heartbeat,
];

const REASONS: [Reason; 5] = [
    Reason::Mode,
    Reason::Exhausted,
    Reason::Superseded,
    Reason::Deadline,
    Reason::BacklogFull,
];

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
    let (mut causes, mut own, mut raised) = ([0_u64; CAUSES.len()], 0, 0);
    let mut reasons = [0_u64; REASONS.len()];
    for seed in 0..systems {
        let (system, costs) = drawn(seed);
        let expected = twin::run(&system, &costs, None);
        if world(&system, &costs) != expected {
            let (system, costs) = shrunk((system, costs));
            panic!("seed {seed}\n{}", difference(&system, &costs));
        }
        for (count, cause) in causes.iter_mut().zip(CAUSES) {
            *count += u64::from(expected.ticks.contains(&Some(Use::Mechanism(cause))));
        }
        for (count, reason) in reasons.iter_mut().zip(REASONS) {
            *count += u64::from(expected.dropped.iter().any(|drop| drop.3 == reason));
        }
        let mut ticks = expected.ticks.iter();
        own += u64::from(ticks.any(|used| matches!(used, Some(Use::Own(..)))));
        raised += u64::from(expected.modes.iter().any(|&mode| mode > 0));
    }
    // The comparison says something only where the rules were met.
    assert!(
        causes.iter().all(|&count| count > systems / 20),
        "{causes:?}"
    );
    assert!(
        reasons.iter().all(|&count| count > systems / 50),
        "{reasons:?}"
    );
    assert!(own > systems / 5, "{own} systems with own parts");
    assert!(raised > systems / 10, "{raised} systems with a raised mode");
}

#[test]
fn every_fault_of_the_twin_is_found() {
    for fault in Fault::ALL {
        let differs = |seed: &u64| {
            let (system, costs) = drawn(*seed);
            world(&system, &costs) != twin::run(&system, &costs, Some(fault))
        };
        let found = (0..1000).filter(differs).count();
        assert!(found > 0, "{fault:?} is not found");
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
        writeln!(out, "{name} {}\n      {modes}", row(&run.ticks)).unwrap();
        writeln!(out, "      completed {:?}", run.completed).unwrap();
        writeln!(out, "      dropped {:?}", run.dropped).unwrap();
    }
    out
}
