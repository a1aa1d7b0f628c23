//! Managers of several CPUs in every order that a draw comes upon: whoever has the turn is interrupted between any two words.
//!
//! Twin: one scheduler that is told of everything in one order, and decided when everything was told. At the end of each tick, when no manager
//! has anything to do, both have the same jobs running. Nothing else is common: neither words nor CPUs, for which of them has a job is
//! a matter of order.

mod system;
mod twin;
mod world;

use super::domain::SharedRecord;
use super::facts::What;
use super::fault::{Fault, inject};
use super::settle::{ROUNDS, Settler, Step};
use super::shared::Shared;
use super::side::{Decided, Full, LocalStep, Published, Side};
use system::{Gate, System};
use twin::Twin;
use vestal_core::{
    Budgets, Container, ContractViolation, CpuId, JobId, LevelledTask, Notice, Scheduler,
    SharedDomain, TaskId,
};
use vestal_testkit::Random;
use vestal_testkit::short::{at, ns, task};
use world::{TICKS, World, Wrong};

/// What was seen of all systems.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    ticks: u64,
    /// In which each open CPU had a job.
    contended: u64,
    /// What was told.
    told: u64,
    record: SharedRecord,
}

fn run(system: &System, tells_late: bool) -> Result<Seen, Wrong> {
    let world = World::new(system, tells_late);
    let cpus = usize::from(system.cpus);
    let mut twin = Twin {
        domain: system.domain(),
        running: vec![None; cpus],
        open: vec![false; cpus],
    };
    let mut random = Random::new(system.seed ^ 0x09e4);
    let mut open = vec![false; cpus];
    let mut seen = Seen::default();
    for now in 0..TICKS {
        world.now.set(now);
        for open in &mut open {
            *open ^= random.once_in(4);
        }
        for manager in &world.managers {
            // At the end all go on.
            manager.borrow_mut().is_frozen = system.stalls && now + 1 < TICKS && random.once_in(3);
        }
        world.begin_tick(&open);
        world.settle_all()?;
        if !system.stalls {
            twin.tick(now, system, &world, &open);
            let (found, expected) = (world.jobs(), twin.jobs());
            if found != expected {
                return Err(format!("at {now} {found:?} run instead of {expected:?}"));
            }
            seen.contended += u64::from(
                expected.len() == open.iter().filter(|open| **open).count() && !expected.is_empty(),
            );
        }
        let is_frozen = world
            .managers
            .iter()
            .any(|manager| manager.borrow().is_frozen);
        if world.shared.has_more() && open.contains(&true) && !is_frozen {
            return Err(format!("at {now} something is left behind"));
        }
        seen.ticks += 1;
        if now + 1 < TICKS {
            world.execute();
        }
    }
    // That a job has started is told, and nobody called for it; and no CPU may be open.
    world.call(0);
    world.settle_all()?;
    let is_left = world.shared.has_more();
    seen.told = world.told.get();
    let (domain, record) = world.shared.into_parts();
    if is_left || record.facts != seen.told {
        return Err(format!("{} facts of {}", record.facts, seen.told));
    }
    if !system.stalls {
        // Ghosts use up the same, whoever was interrupted.
        for task in (0..system.tasks.len()).map(|task| TaskId(task as u16)) {
            let (found, expected) = (domain.ghost_time(task), twin.domain.ghost_time(task));
            if found != expected {
                return Err(format!(
                    "ghosts of {task:?}: {found:?} instead of {expected:?}"
                ));
            }
        }
    }
    seen.record = record;
    Ok(seen)
}

fn campaign(systems: u64, stalls: bool) -> Seen {
    let mut all = Seen::default();
    for seed in 0..systems {
        let system = System::draw(seed, stalls);
        let seen = run(&system, false).unwrap_or_else(|wrong| panic!("system {seed}: {wrong}"));
        all.ticks += seen.ticks;
        all.contended += seen.contended;
        all.told += seen.told;
        let (sum, record) = (&mut all.record, seen.record);
        sum.turns += record.turns;
        sum.decisions += record.decisions;
        sum.handed_on += record.handed_on;
        sum.offers += record.offers;
        sum.withdrawn += record.withdrawn;
        sum.refused += record.refused;
        sum.ahead += record.ahead;
        sum.facts += record.facts;
    }
    println!("{systems} systems, stalls {stalls}: {all:?}");
    all
}

#[test]
fn in_every_order_the_jobs_run_that_one_scheduler_would_run() {
    let seen = campaign(3_000, false);
    assert!(seen.contended * 20 > seen.ticks && seen.contended * 20 < 19 * seen.ticks);
    let SharedRecord {
        handed_on,
        withdrawn,
        refused,
        ahead,
        ..
    } = seen.record;
    for often in [handed_on, withdrawn, refused, ahead] {
        assert!(often > 100, "{seen:?}");
    }
}

#[test]
fn managers_that_stand_still_hold_up_nobody_else_and_lose_nothing() {
    let seen = campaign(2_000, true);
    assert!(
        seen.record.ahead > 100 && seen.record.refused > 100,
        "{seen:?}"
    );
}

/// Each fault is found, by what it breaks.
#[test]
fn each_fault_of_who_settles_is_found() {
    let faults = [Fault::GivesTwice, Fault::LeavesFacts, Fault::OffersRunning];
    for fault in faults {
        inject(Some(fault));
        let found = (0..1_000).find_map(|seed| run(&System::draw(seed, false), false).err());
        inject(None);
        println!("{fault:?}: {found:?}");
        assert!(found.is_some(), "{fault:?} is not found");
    }
    let found = (0..1_000).find_map(|seed| run(&System::draw(seed, false), true).err());
    assert!(found.is_some(), "a charge before the start is not found");
}

/// CPU 0 stops a job, gives it back and takes the next one between two looks at it.
fn taken_between_two_looks() -> Step<SharedRecord> {
    struct Acts<'a>(&'a Shared<SharedDomain>, &'a mut Side, bool);
    impl Settler for Acts<'_> {
        fn notice(&mut self, _: &Notice) {}
        fn between(&mut self) {
            if std::mem::take(&mut self.2) {
                let (shared, side) = (self.0, &mut *self.1);
                let first = side.held().unwrap();
                side.tell(shared, at(1), What::Stopped(first)).unwrap();
                assert!(side.give_back(shared) && side.take(shared).is_some());
            }
        }
    }
    let entry = |period, own| LevelledTask {
        task: task(1, period, &[own, own]),
        container: Container::Global,
    };
    let system = System {
        tasks: vec![entry(10, 4), entry(5, 2)],
        cpus: 2,
        room: 8,
        budgets: Budgets::Enforced,
        ..System::draw(0, false)
    };
    let released = |task| {
        let (task, sequence) = (TaskId(task), 0);
        What::Released(JobId { task, sequence })
    };
    let shared = Shared::new(system.domain(), (2, 2), system.room);
    let mut sides = [0, 1].map(|cpu| Side::new(CpuId(cpu), 8));
    let [own, other] = &mut sides;
    let mut calls = Vec::with_capacity(2);
    own.tell(&shared, at(0), released(0)).unwrap();
    let held = publish(own, false, &shared).attempt(own, &shared);
    held.unwrap().settle(at(0), (&mut Nobody, &mut calls))?;
    let first = own.take(&shared).unwrap().guest;
    own.tell(&shared, at(0), What::Started(first)).unwrap();
    // The second has the earlier deadline; then the CPU takes it while that is looked at.
    other.tell(&shared, at(1), released(1)).unwrap();
    for acts in [false, true] {
        let held = publish(other, true, &shared).attempt(other, &shared);
        let mut acts = Acts(&shared, &mut *own, acts);
        held.unwrap().settle(at(1), (&mut acts, &mut calls))?;
    }
    Ok(shared.into_parts().1)
}

#[test]
fn what_stopped_before_a_job_was_taken_is_heard_before_its_start() {
    assert_eq!(taken_between_two_looks().unwrap().ahead, 1);
    inject(Some(Fault::NoSecondDrain));
    let found = taken_between_two_looks();
    inject(None);
    assert!(
        matches!(found, Err(ContractViolation::CpuBusy { .. })),
        "{found:?}"
    );
}

/// What was kept for want of room is told in order, and nothing is taken meanwhile.
#[test]
fn a_full_queue_keeps_its_order_and_takes_nothing() {
    let system = System {
        tasks: vec![LevelledTask {
            task: task(1, 4, &[2, 2]),
            container: Container::Global,
        }],
        cpus: 1,
        room: 1,
        budgets: Budgets::Enforced,
        ..System::draw(0, false)
    };
    let shared = Shared::new(system.domain(), (1, 1), system.room);
    let mut side = Side::new(CpuId(0), 2);
    let job = |sequence| JobId {
        task: TaskId(0),
        sequence,
    };
    let (wants, slots) = (false, vec![None]);
    let mut gate = Gate { wants, slots };
    let decided = LocalStep(&mut gate).decide(at(0), (&mut side, &shared), || true);
    let Decided { own, published, .. } = decided.unwrap();
    assert_eq!(own, None, "the CPU is open");
    for sequence in 0..2 {
        side.tell(&shared, at(0), What::Released(job(sequence)))
            .unwrap();
    }
    assert_eq!(side.tell(&shared, at(0), What::Released(job(2))), Err(Full));
    let mut calls = Vec::with_capacity(1);
    let mut settler = Nobody;
    let held = published.attempt(&mut side, &shared).unwrap();
    held.settle(at(0), (&mut settler, &mut calls)).unwrap();
    // The CPU's opening was looked at, and a release is told now; the other is kept.
    assert!(!side.flush(&shared) && side.take(&shared).is_none());
    for _ in 0..2 {
        let decided = LocalStep(&mut gate).decide(at(0), (&mut side, &shared), || true);
        let published = decided.unwrap().published;
        let held = published.attempt(&mut side, &shared).unwrap();
        held.settle(at(0), (&mut settler, &mut calls)).unwrap();
        side.flush(&shared);
    }
    assert_eq!(calls, [CpuId(0)]);
    let taken = side.take(&shared).unwrap();
    assert_eq!((taken.guest.job, taken.remaining), (job(0), Some(ns(2))));
    assert_eq!(side.held(), Some(taken.guest));
}

/// A manager that stood still has more releases of one task than a scheduler takes at once.
#[test]
fn releases_at_which_nobody_has_looked_for_long_are_all_taken() {
    let system = System {
        tasks: vec![LevelledTask {
            task: task(1, 4, &[2, 2]),
            container: Container::Global,
        }],
        cpus: 1,
        room: 128,
        budgets: Budgets::Enforced,
        ..System::draw(0, false)
    };
    let shared = Shared::new(system.domain(), (1, 1), system.room);
    let mut side = Side::new(CpuId(0), 2);
    for sequence in 0..60 {
        let task = TaskId(0);
        let released = What::Released(JobId { task, sequence });
        side.tell(&shared, at(4 * sequence), released).unwrap();
    }
    struct Counts(u64);
    impl Settler for Counts {
        fn notice(&mut self, notice: &Notice) {
            self.0 += u64::from(matches!(notice.what, vestal_core::Event::Dropped { .. }));
        }
    }
    let mut dropped = Counts(0);
    let held = publish(&mut side, false, &shared).attempt(&mut side, &shared);
    let mut calls = Vec::with_capacity(1);
    let settled = held.unwrap().settle(at(240), (&mut dropped, &mut calls));
    assert_eq!(settled, Ok(false));
    assert_eq!(side.take(&shared).unwrap().guest.job.sequence, 0);
    let (domain, record) = shared.into_parts();
    assert_eq!((record.facts, domain.lost_notices()), (61, 0));
    // One has the CPU, and 50 may wait.
    assert_eq!(dropped.0, 9);
}

struct Nobody;

impl Settler for Nobody {
    fn notice(&mut self, _: &Notice) {}
}

/// Who finds the turn taken leaves it; one who may not stay hands what comes on, and who is called finds it.
#[test]
fn a_closed_cpu_settles_once_and_calls_an_open_one() {
    struct Comes<'a>(&'a Shared<SharedDomain>, u32);
    impl Settler for Comes<'_> {
        fn notice(&mut self, _: &Notice) {}
        fn between(&mut self) {
            // Somebody comes each time.
            self.0.turn.leave_work();
            self.1 += 1;
        }
    }
    let system = System {
        cpus: 2,
        room: 8,
        ..System::draw(3, false)
    };
    let shared = Shared::new(system.domain(), (2, system.tasks.len()), system.room);
    let mut sides = [0, 1].map(|cpu| Side::new(CpuId(cpu), 8));
    let [first, second] = &mut sides;
    publish(second, false, &shared).leave(second, &shared);
    assert!(shared.has_more());
    let mut calls = Vec::with_capacity(2);
    let held = publish(first, true, &shared).attempt(first, &shared);
    let held = held.unwrap();
    let other = publish(second, false, &shared);
    assert!(other.attempt(second, &shared).is_none(), "one has it");
    let mut comes = Comes(&shared, 0);
    held.settle(at(0), (&mut comes, &mut calls)).unwrap();
    assert!(comes.1 > 0 && calls.contains(&CpuId(1)) && shared.has_more());
    let held = publish(second, false, &shared).attempt(second, &shared);
    let held = held.unwrap();
    held.settle(at(0), (&mut Nobody, &mut calls)).unwrap();
    assert!(!shared.has_more());
    assert_eq!(shared.into_parts().1.handed_on, 1);
}

/// Somebody comes each time that an open CPU has the turn: it goes so many rounds, and leaves the rest to another open one, or to itself
/// for later.
#[test]
fn an_open_cpu_goes_a_few_rounds_and_leaves_the_rest() {
    struct Comes<'a>(&'a Shared<SharedDomain>);
    impl Settler for Comes<'_> {
        fn notice(&mut self, _: &Notice) {}
        fn between(&mut self) {
            self.0.turn.leave_work();
        }
    }
    for other_is_open in [true, false] {
        let system = System {
            cpus: 2,
            room: 8,
            ..System::draw(3, false)
        };
        let shared = Shared::new(system.domain(), (2, system.tasks.len()), system.room);
        let mut sides = [0, 1].map(|cpu| Side::new(CpuId(cpu), 8));
        let [first, second] = &mut sides;
        publish(second, !other_is_open, &shared).leave(second, &shared);
        let held = publish(first, false, &shared).attempt(first, &shared);
        let mut calls = Vec::with_capacity(2);
        let again = held
            .unwrap()
            .settle(at(0), (&mut Comes(&shared), &mut calls));
        assert_eq!(again, Ok(!other_is_open));
        assert!(shared.has_more() && !calls.contains(&CpuId(0)));
        assert_eq!(calls.contains(&CpuId(1)), other_is_open);
        let record = shared.into_parts().1;
        assert_eq!((record.turns, record.handed_on), (u64::from(ROUNDS), 1));
    }
}

fn publish(side: &mut Side, wants: bool, shared: &Shared<SharedDomain>) -> Published {
    let slots = vec![None; side.cpu().index() + 1];
    let mut gate = Gate { wants, slots };
    let decided = LocalStep(&mut gate).decide(at(0), (side, shared), || true);
    decided.unwrap().published
}
