//! Managers of several CPUs without a kernel: their workers' clocks and doings are a test's, their domains and words the real ones.
//!
//! Twin: the engine of the core that has all domains in one hand, told of everything in one order. After each tick, when no manager
//! is called any more, the same jobs run: of levels A and B on each CPU, of level C on any.

mod world;

use super::fault::{Fault, inject};
use super::{Ways, What, common::Home};
use std::collections::BTreeMap;
use vestal_core::engine::levelled::Levelled;
use vestal_core::{Budgets, Container, CpuId, JobId, LevelledTask, TableSlot, TaskId};
use vestal_testkit::Random;
use vestal_testkit::short::{job, span, task};
use world::{ALONE, CYCLE, Manager, System, TICKS, Twin, World, Wrong};

/// What was seen of all systems.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    ticks: u64,
    /// In which a guest ran, and one of level A or B did.
    guests: u64,
    own: u64,
    /// How often a guest went on on another CPU.
    moves: u64,
}

fn run(system: &System) -> Result<Seen, Wrong> {
    let mut world = World::new(system);
    let engine = system.configured(|levels| Levelled::new(levels).unwrap());
    let mut twin = Twin {
        engine,
        running: vec![None; system.slots.len()],
    };
    let (mut seen, mut places) = (Seen::default(), BTreeMap::new());
    for now in 0..TICKS {
        world.tick(now)?;
        twin.tick(now, &world);
        let is_guest = |job: &JobId| matches!(world.common.home(job.task), Home::Guest(_));
        let (mut guests, mut expected) = (Vec::new(), Vec::new());
        for (cpu, ([own, guest], twin)) in
            world.running().into_iter().zip(&twin.running).enumerate()
        {
            if own.is_some() && guest.is_some() {
                return Err(format!("at {now} CPU {cpu} runs {own:?} and {guest:?}"));
            }
            if own != twin.filter(|job| !is_guest(job)) {
                return Err(format!(
                    "at {now} CPU {cpu} runs {own:?} instead of {twin:?}"
                ));
            }
            guests.extend(guest);
            expected.extend(twin.filter(is_guest));
            seen.own += u64::from(own.is_some());
            if let Some(job) = guest {
                seen.guests += 1;
                let before = places.insert(job, cpu);
                seen.moves += u64::from(before.is_some_and(|before| before != cpu));
            }
        }
        guests.sort_unstable();
        expected.sort_unstable();
        if guests != expected {
            return Err(format!("at {now} {guests:?} run instead of {expected:?}"));
        }
        seen.ticks += system.slots.len() as u64;
        world.execute(now);
    }
    Ok(seen)
}

#[test]
fn managers_run_what_the_engine_of_all_domains_would() {
    let mut all = Seen::default();
    for seed in 0..400 {
        let system = System::draw(seed);
        let seen = run(&system).unwrap_or_else(|wrong| panic!("system {seed}: {wrong}"));
        all.ticks += seen.ticks;
        all.guests += seen.guests;
        all.own += seen.own;
        all.moves += seen.moves;
    }
    println!("{all:?}");
    for often in [all.guests, all.own] {
        assert!(
            often * 20 > all.ticks && often * 20 < 19 * all.ticks,
            "{all:?}"
        );
    }
    assert!(all.moves > 100, "{all:?}");
}

/// Managers stand still for some ticks, while their jobs run on beyond slots and budgets, and end: nothing is refused, no job is on two
/// CPUs, and when all go on everything that was told is looked at.
#[test]
fn managers_that_stand_still_break_nothing_for_others() {
    let (mut guests, mut stood) = (0, 0);
    for seed in 1_000..1_300 {
        let system = System::draw(seed);
        let mut world = World::new(&system);
        let mut random = Random::new(seed);
        let wrong = |wrong: Wrong| panic!("system {seed}: {wrong}");
        let mut goes = vec![true; system.slots.len()];
        for now in 0..TICKS {
            for goes in &mut goes {
                *goes ^= random.once_in(if *goes { 8 } else { 4 });
            }
            world.tick_of(now, &goes).unwrap_or_else(wrong);
            guests += world.running().iter().flat_map(|[_, guest]| guest).count();
            stood += goes.iter().filter(|goes| !**goes).count();
            world.execute(now);
        }
        world.tick(TICKS).unwrap_or_else(wrong);
        let open = |manager: &Manager| manager.levels.side.is_open();
        if !world.managers.iter().any(open) {
            continue;
        }
        assert!(!world.common.shared.has_more(), "system {seed}");
        // Who decides learns of starts by claims, and of charges with what comes after.
        let quiet = |what: &What| matches!(what, What::Started(_) | What::Charged(..));
        let unheard = world.common.shared.unheard();
        assert!(unheard.iter().all(quiet), "system {seed}: {unheard:?}");
    }
    println!("{guests} ticks of guests, {stood} of managers that stood still");
    assert!(guests > 5_000 && stood > 5_000);
}

/// Each is found by what it breaks.
#[test]
fn each_fault_of_a_manager_is_found() {
    for fault in [
        Fault::IgnoresBudgets,
        Fault::LeavesGuestsFree,
        Fault::KeepsMemory,
    ] {
        inject(Some(fault));
        let found = (0..400).find_map(|seed| run(&System::draw(seed)).err());
        inject(None);
        println!("{fault:?}: {found:?}");
        assert!(found.is_some(), "{fault:?} is not found");
    }
}

/// A guest whose body does not listen comes to its end while it is stopped: whoever takes it next finds that.
#[test]
fn an_end_while_nobody_has_the_guest_is_found_by_who_takes_it() {
    let entry = |level, period, own, container| LevelledTask {
        task: task(level, period, &[own]),
        container,
    };
    let slot = TableSlot {
        start: span(2),
        length: span(4),
        task: TaskId(0),
    };
    let system = System {
        seed: 0,
        tasks: vec![
            entry(3, CYCLE, 4, Container::Table(CpuId(0))),
            entry(1, CYCLE, 9, Container::Global),
        ],
        slots: vec![vec![slot]],
        budgets: Budgets::Enforced,
        ways: ALONE,
        room: 64,
    };
    let mut world = World::new(&system);
    let guest = job(1, 0);
    for now in 0..4 {
        world.tick(now).unwrap();
        let expected = if now < 2 {
            [None, Some(guest)]
        } else {
            [Some(job(0, 0)), None]
        };
        assert_eq!(world.running(), [expected], "at {now}");
        if now < 2 {
            crate::driver::dispatch::scripted::advance(1, 1);
        }
    }
    // Level A ends early, and the guest meanwhile.
    world.end(guest, 4);
    world.end(job(0, 0), 4);
    world.tick(4).unwrap();
    assert_eq!(world.running(), [[None, None]]);
    // It was told: nothing of it is left to do.
    assert_eq!(world.common.shared.claim(CpuId(0)).unwrap().wanted, None);
    world.tick(5).unwrap();
    assert_eq!(world.running(), [[None, None]]);
}

/// Fig. 3 (b) of the paper: who takes its CPU back from level C leaves to the master what follows from that, or looks at it itself.
#[test]
fn with_redistribution_the_master_decides_for_a_cpu_that_is_taken_back() {
    let entry = |level, own, container| LevelledTask {
        task: task(level, CYCLE, &[own]),
        container,
    };
    let slot = TableSlot {
        start: span(2),
        length: span(4),
        task: TaskId(0),
    };
    for redistributes in [true, false] {
        let system = System {
            seed: 1,
            tasks: vec![
                entry(3, 4, Container::Table(CpuId(0))),
                entry(1, 9, Container::Global),
            ],
            slots: vec![vec![slot], Vec::new()],
            budgets: Budgets::Enforced,
            ways: Ways {
                master: Some(CpuId(1)),
                redistributes,
                ..ALONE
            },
            room: 64,
        };
        let mut world = World::new(&system);
        let (own, guest) = (job(0, 0), job(1, 0));
        // CPU 0 is open when the master releases the guest.
        world.tick_of(0, &[true, false]).unwrap();
        for now in 0..2 {
            world.tick(now).unwrap();
            assert_eq!(world.running(), [[None, Some(guest)], [None, None]]);
            crate::driver::dispatch::scripted::advance(1, 1);
        }
        world.tick_of(2, &[true, false]).unwrap();
        assert_eq!(world.running(), [[Some(own), None], [None, None]]);
        assert_eq!(world.common.shared.has_more(), redistributes);
        world.tick_of(2, &[false, true]).unwrap();
        assert_eq!(world.running(), [[Some(own), None], [None, Some(guest)]]);
        assert!(!world.common.shared.has_more());
    }
}
