//! The engine in the simulated world against the unit-step reference, and the statistics' judgement
//! over misses against its definition, on random systems.

use crate::common::Random;
use crate::common::judgement::cross_check;
use crate::random_systems::draw;
use crate::reference::{Lists, Reason, Schedule, System};

/// How many systems are compared; `VESTAL_REFERENCE_SYSTEMS` overrides it.
const SYSTEMS: u64 = 50_000;

#[test]
fn engine_and_unit_step_reference_give_the_same_schedule() {
    let systems =
        std::env::var("VESTAL_REFERENCE_SYSTEMS").map_or(SYSTEMS, |count| count.parse().unwrap());
    let (mut rises, mut guaranteed, mut crowded) = (0, 0, 0);
    let mut reasons = [0_u64; 5];
    let (mut reused, mut recomputed, mut beyond) = (0, 0, 0);
    for seed in 0..systems {
        let system = draw(&mut Random::new(seed));
        let expected = cross_check(&system);
        crowded += u64::from(most_pending(&system, &expected.0) > 5);
        rises += u64::from(expected.0.rises > 0);
        reused += u64::from(system.lists == Lists::Reused);
        recomputed += u64::from(system.lists == Lists::Recomputed);
        beyond += u64::from(expected.0.beyond_pattern > 0);
        for &(_, _, _, why) in &expected.0.dropped {
            let position = match why {
                Reason::Mode => 0,
                Reason::Exhausted => 1,
                Reason::Superseded => 2,
                Reason::Deadline => 3,
                Reason::BacklogFull => 4,
            };
            reasons[position] += 1;
        }
        guaranteed += u64::from(expected.1 > 0);
    }
    // The comparison says something only where the rules were met.
    assert!(rises > systems / 5, "{rises} systems with a raised mode");
    let with_lists = [reused, recomputed, beyond];
    assert!(
        with_lists.iter().all(|&count| count > systems / 20),
        "{with_lists:?}"
    );
    assert!(crowded > systems / 50, "{crowded} systems keep jobs");
    assert!(guaranteed > systems / 20, "{guaranteed} systems miss");
    assert!(
        reasons.iter().all(|&count| count > systems / 50),
        "{reasons:?}"
    );
}

/// The most jobs of one task that are pending when one of it arrives; a scheduler has room for five.
fn most_pending(system: &System, schedule: &Schedule) -> usize {
    let completed = schedule.completed.iter().copied();
    let dropped = schedule.dropped.iter().map(|&(at, i, k, _)| (at, i, k));
    let ends: Vec<(u64, usize, usize)> = completed.chain(dropped).collect();
    let of_task = |(i, releases): (usize, &Vec<u64>)| {
        let at_release = releases.iter().enumerate().map(|(k, &release)| {
            let over = ends.iter().filter(|end| end.1 == i && end.0 <= release);
            k + 1 - over.count()
        });
        at_release.max().unwrap_or(0)
    };
    let tasks = system.releases.iter().enumerate();
    tasks.map(of_task).max().unwrap_or(0)
}
