//! The engine in the simulated world, against the unit-step reference, on random systems.

use crate::common::Random;
use crate::random_systems::{Recorder, configuration, draw, shrink, tasks_of, text, workload_of};
use crate::reference::{self, Reason, Schedule, System};
use vestal_core::{Instant, Task, Uniprocessor};
use vestal_sim::{Setting, simulate};

/// How many systems are compared; `VESTAL_REFERENCE_SYSTEMS` overrides it.
const SYSTEMS: u64 = 50_000;

pub(crate) fn run_engine(system: &System) -> Schedule {
    let configured = tasks_of(system);
    let tasks: Vec<Task> = configured.iter().map(|entry| entry.task).collect();
    let mut engine = Uniprocessor::new(&configuration(system, &configured)).unwrap();
    let (releases, demand) = workload_of(system);
    let mut recorder = Recorder::new(system.end);
    let setting = Setting {
        tasks: &tasks,
        cpus: 1,
        end: Instant::from_nanos(system.end),
    };
    simulate(&mut engine, &setting, &releases, &demand, &mut recorder).unwrap();
    assert!(engine.check_invariants());
    recorder.schedule
}

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
