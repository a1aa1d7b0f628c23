//! The core's engine and this crate give the same schedule, tick by tick.

use crate::host::{Clock, Host};
use crate::is_long;
use crate::system::{System, core_schedule, random_system};
use std::collections::HashMap;
use std::marker::PhantomData;
use vestal_hsf::{Bounded, Everything, Features, Kind, Tick};

/// The variant in which queues of deferrable servers never rest.
#[derive(Debug)]
pub(crate) struct NoWakeUps<T>(PhantomData<T>);

impl<T: Tick> Features for NoWakeUps<T> {
    type Tick = T;
    const WAKE_UPS: bool = false;
}

pub(crate) type Bits4 = Bounded<u8, 15>;

const TICKS: u64 = 240;

/// Runs a system; the invariants hold after every tick.
fn run<F: Features>(system: &System, clock: Clock, ticks: u64) -> Host<'_, F> {
    let mut host = Host::<F>::new(system, clock);
    for _ in 0..ticks {
        host.step();
        assert!(host.hsf.check_invariants(), "{:?}", host.hsf);
    }
    host
}

/// The same system in all widths, with and without wake-ups, by ticks and by a timer; the core's schedule.
fn compare(system: &System, ticks: u64) -> String {
    let host = run::<Everything<Bits4>>(system, Clock::Tick, ticks);
    let core = core_schedule(system, &host.log, ticks);
    let same = |what: &str, row: &str| {
        assert_eq!(row[..core.len()], core, "{what} of {system:#?}");
    };
    same("4 bits", &host.row);
    same(
        "8 bits",
        &run::<Everything<u8>>(system, Clock::Timer, ticks).row,
    );
    same(
        "16 bits",
        &run::<Everything<u16>>(system, Clock::Tick, ticks).row,
    );
    same(
        "32 bits",
        &run::<Everything<u32>>(system, Clock::Timer, ticks).row,
    );
    let other = [Clock::Timer, Clock::Tick];
    same(
        "4 bits, without",
        &run::<NoWakeUps<Bits4>>(system, other[0], ticks).row,
    );
    same(
        "8 bits, without",
        &run::<NoWakeUps<u8>>(system, other[1], ticks).row,
    );
    same(
        "16 bits, without",
        &run::<NoWakeUps<u16>>(system, other[0], ticks).row,
    );
    same(
        "32 bits, without",
        &run::<NoWakeUps<u32>>(system, other[1], ticks).row,
    );
    core
}

#[test]
fn random_systems_of_all_kinds_have_the_schedule_of_the_core() {
    let systems = if is_long() { 100_000 } else { 1200 };
    let (mut idled, mut busy, mut whole) = (0, 0, 0);
    let mut kinds: HashMap<(Kind, bool), u64> = HashMap::new();
    for seed in 0..systems {
        let system = random_system(seed, 1);
        let row = compare(&system, TICKS);
        idled += u64::from(row.contains(|who: char| who.is_ascii_lowercase()));
        busy += row.matches(|who: char| who.is_ascii_digit()).count() as u64;
        whole += u64::from(row.len() as u64 == TICKS);
        for server in &system.servers {
            let by_deadline = server.order == vestal_hsf::LocalOrder::EarliestDeadline;
            *kinds.entry((server.kind, by_deadline)).or_default() += 1;
        }
    }
    assert!(idled > systems / 5, "idling servers idle in {idled} runs");
    assert!(busy > systems * TICKS / 6, "jobs run for {busy} ticks");
    assert!(whole > systems / 3, "{whole} were compared to the end");
    assert_eq!(kinds.len(), 6);
}
