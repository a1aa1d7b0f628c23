//! The engine in the simulated world, against the unit-step reference, on random systems.

use crate::common::Random;
use crate::common::recorder::run_engine;
use crate::common::system::{shrink, text};
use crate::random_systems::draw;
use crate::reference::{self, Reason, System};

/// How many systems are compared; `VESTAL_REFERENCE_SYSTEMS` overrides it.
const SYSTEMS: u64 = 50_000;

#[test]
fn engine_and_unit_step_reference_give_the_same_schedule() {
    let systems =
        std::env::var("VESTAL_REFERENCE_SYSTEMS").map_or(SYSTEMS, |count| count.parse().unwrap());
    let mut rises = 0;
    let mut reasons = [0_u64; 5];
    for seed in 0..systems {
        let system = draw(&mut Random(seed));
        let expected = reference::schedule(&system);
        rises += u64::from(expected.rises > 0);
        for &(_, _, _, why) in &expected.dropped {
            let place = match why {
                Reason::Mode => 0,
                Reason::Exhausted => 1,
                Reason::Superseded => 2,
                Reason::Deadline => 3,
                Reason::BacklogFull => 4,
            };
            reasons[place] += 1;
        }
        if run_engine(&system) != expected {
            let fails = |system: &System| run_engine(system) != reference::schedule(system);
            let small = shrink(system, fails);
            panic!(
                "seed {seed}\n{}reference {:?}\nengine    {:?}",
                text(&small),
                reference::schedule(&small),
                run_engine(&small)
            );
        }
    }
    // The comparison says something only where the rules were met.
    assert!(rises > systems / 5, "{rises} systems with a raised mode");
    assert!(
        reasons.iter().all(|&count| count > systems / 50),
        "{reasons:?}"
    );
}
