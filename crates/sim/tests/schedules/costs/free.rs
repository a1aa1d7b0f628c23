//! Where nothing costs anything, a run is the same as without costs.

use super::frames::Tables;
use super::levelled::Moving;
use super::log::Log;
use super::{draw, simulate_system};
use crate::common::Random;
use crate::devices::{self, simulate_case};
use crate::random_systems;
use vestal_sim::Costs;

#[test]
fn without_costs_nothing_differs_on_one_cpu() {
    let mut random = Random::new(1);
    for _ in 0..3000 {
        let system = random_systems::draw(&mut random);
        let (mut with, mut without) = (Log::default(), Log::default());
        simulate_system(&system, Some(&Costs::default()), &mut with);
        simulate_system(&system, None, &mut without);
        assert_eq!(with, without);
    }
}

#[test]
fn without_costs_nothing_differs_on_several_cpus() {
    let mut random = Random::new(2);
    for _ in 0..1000 {
        let tables = Tables::random(&mut random);
        let (mut with, mut without) = (Log::default(), Log::default());
        tables.simulate(Some(&Costs::default()), &mut with);
        tables.simulate(None, &mut without);
        assert_eq!(with, without);
        let moving = Moving::random(&mut random);
        let (mut with, mut without) = (Log::default(), Log::default());
        moving.simulate(Some(&Costs::default()), &mut with);
        moving.simulate(None, &mut without);
        assert_eq!(with, without);
    }
}

#[test]
fn without_costs_nothing_differs_with_servers_and_devices() {
    let mut random = Random::new(8);
    for _ in 0..1000 {
        let case = devices::draw(&mut random);
        if !devices::is_possible(&case) {
            continue;
        }
        let (mut with, mut without) = (Log::default(), Log::default());
        simulate_case(&case, Some(&Costs::default()), &mut with);
        simulate_case(&case, None, &mut without);
        assert_eq!(with, without);
    }
}

/// The comparison is one of something: with costs, logs differ.
#[test]
fn with_costs_runs_differ() {
    let mut random = Random::new(3);
    let differs = |_: &u32| {
        let system = draw::system(&mut random);
        let costs = draw::costs(&mut random);
        let (mut with, mut without) = (Log::default(), Log::default());
        simulate_system(&system, Some(&costs), &mut with);
        simulate_system(&system, None, &mut without);
        with != without
    };
    assert!((0..100).filter(differs).count() > 50);
}
