//! The core's engine and this crate give the same schedule, tick by tick.

use crate::host::{Clock, Host, Scheduler};
use crate::paper_queue::Flaw;
use crate::paper_scheduler::{PaperScheduler, Wrong};
use crate::system::{
    Arrivals, KINDS, ORDERS, System, TaskSpec, Waits, core_schedule, random_system, random_task,
};
use crate::{is_long, seeds};
use std::collections::HashMap;
use std::marker::PhantomData;
use vestal_hsf::{Bounded, Everything, Features, Kind, ServerId, ServerSpec, Tick};
use vestal_testkit::Random;

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
fn run<F: Features>(system: &System, clock: Clock, ticks: u64) -> Host<'_, Scheduler<F>> {
    let mut host = Host::<Scheduler<F>>::new(system, clock);
    for _ in 0..ticks {
        host.step();
        assert!(host.hsf.check_invariants(), "{:?}", host.hsf);
        assert!(replenishes_by_period(&host.hsf, system), "{:?}", host.hsf);
    }
    host
}

/// Whether each budget comes back at a multiple of its period, whatever happened before: all servers are created at 0.
fn replenishes_by_period<F: Features>(hsf: &Scheduler<F>, system: &System) -> bool {
    (0..).zip(&system.servers).all(|(number, server)| {
        let after = hsf.replenishes_in(ServerId::new(number));
        after.is_some_and(|after| (hsf.now() + after).is_multiple_of(server.period.into()))
    })
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
    let mut reversed = Host::<Scheduler<Everything<Bits4>>>::new(system, Clock::Tick);
    reversed.outside_first = true;
    (0..ticks).for_each(|_| reversed.step());
    same("other order of calls", &reversed.row);
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
    let seeds = seeds(if is_long() { 100_000 } else { 1200 });
    let systems = seeds.len() as u64;
    let (mut idled, mut busy, mut whole) = (0, 0, 0);
    let mut kinds: HashMap<(Kind, bool), u64> = HashMap::new();
    for seed in seeds {
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
    println!("{systems} systems, {busy} ticks of jobs, {whole} to the end");
    assert!(idled > systems / 5, "idling servers idle in {idled} runs");
    assert!(busy > systems * TICKS / 6, "jobs run for {busy} ticks");
    assert!(whole > systems / 3, "{whole} were compared to the end");
    assert_eq!(kinds.len(), 6);
}

/// Server periods up to 60, of which several do not fit into 4 bits: a deferrable server with a periodic task and a sporadic one in it, and what
/// else is drawn.
fn system_of_long_periods(seed: u64) -> System {
    let mut system = random_system(seed, 1);
    let mut random = Random::new(!seed << 16);
    for server in &mut system.servers {
        let period = 20 + random.below(41) as u32;
        let capacity = period / 4 + random.below(u64::from(period) / 2) as u32;
        (server.period, server.capacity) = (period, capacity);
    }
    system.servers[0].kind = Kind::Deferrable;
    system.tasks.truncate(1);
    for arrivals in [
        Arrivals::Periodic {
            offset: random.below(12) as u32,
            period: 20 + random.below(60) as u32,
        },
        Arrivals::Sporadic {
            gap: 10 + random.below(30),
        },
    ] {
        system.tasks.push(TaskSpec {
            arrivals,
            server: 0,
            ..random_task(&mut random, 1, 1)
        });
    }
    system
}

/// Deferrable servers that wait, are woken by arrivals from outside, and whose replenishments are further away than 4 bits.
#[test]
fn servers_of_long_periods_have_the_schedule_of_the_core() {
    let seeds = seeds(if is_long() { 20_000 } else { 250 });
    let (systems, ticks) = (seeds.len() as u64, 300);
    let (mut compared, mut overflow) = (0, 0);
    for seed in seeds {
        let system = system_of_long_periods(seed);
        compared += compare(&system, ticks).len() as u64;
        let longest = system.servers.iter().map(|server| server.period).max();
        overflow += u64::from(longest > Some(45));
    }
    println!("{compared} ticks, {overflow} of {systems} systems");
    assert!(compared > systems * ticks / 2, "{compared} ticks");
    assert!(overflow > systems / 2, "{overflow} need three nodes' times");
}

/// The paper's scheduler with something wrong in it, or nothing; whether it has the schedule of the core.
fn paper_agrees(system: &System, wrong: Option<Wrong>) -> bool {
    let scheduler = PaperScheduler::new(system, wrong);
    let mut host = Host::with(scheduler, system, Clock::Tick);
    for _ in 0..TICKS {
        host.step();
    }
    let core = core_schedule(system, &host.log, TICKS);
    host.row[..core.len()] == core
}

#[test]
fn the_papers_scheduler_has_the_schedule_of_the_core_once_its_errors_are_mended() {
    for seed in 0..300 {
        let system = random_system(seed, 1);
        assert!(paper_agrees(&system, None), "seed {seed}");
    }
}

/// What would be noticed if it were wrong here; most of it is in the paper.
#[test]
fn every_wrong_scheduler_has_another_schedule() {
    let all = [
        Wrong::Queues(Flaw::HandledBeforePopped),
        Wrong::Queues(Flaw::Drifts),
        Wrong::Queues(Flaw::DeletedTimeIsLost),
        Wrong::Queues(Flaw::OverflowIsLost),
        Wrong::Queues(Flaw::NextIsNotRelative),
        Wrong::NotSettled,
        Wrong::OneQueueAfterTheOther,
        Wrong::DepletedServersWakeUp,
        Wrong::StaysWithoutWork,
        Wrong::PollingLosesBudgetWhenPreempted,
        Wrong::PollingAskedLate,
        Wrong::ArrivalsNotCounted,
    ];
    for wrong in all {
        let differs = |seed: &u64| !paper_agrees(&random_system(*seed, 1), Some(wrong));
        let count = (0..100).filter(differs).count();
        assert!(count > 0, "{wrong:?} goes unnoticed");
    }
}

/// Servers of both kinds of local order in every combination of kinds and of small numbers, on ticks of two bits.
#[test]
fn all_small_systems_have_the_schedule_of_the_core() {
    type Bits2 = Bounded<u8, 3>;
    let ticks = 66;
    let mut systems = 0_u64;
    let mut check = |system: &System| {
        let with = run::<Everything<Bits2>>(system, Clock::Tick, ticks);
        let core = core_schedule(system, &with.log, ticks);
        assert_eq!(with.row[..core.len()], core, "{system:#?}");
        let without = run::<NoWakeUps<Bits2>>(system, Clock::Timer, ticks);
        assert_eq!(
            without.row[..core.len()],
            core,
            "without wake-ups: {system:#?}"
        );
        systems += 1;
    };
    let numbers = [(3, 1), (3, 2), (4, 2), (5, 2)];
    let periods: &[(u32, u32)] = if is_long() {
        &[(0, 3), (1, 4), (0, 5), (2, 6), (5, 11), (0, 15)]
    } else {
        &[(0, 5), (1, 4), (5, 11)]
    };
    let servers = |kinds: [Kind; 2], numbers: [(u32, u32); 2], order| {
        let spec = |index: usize| ServerSpec {
            kind: kinds[index],
            priority: index as u8,
            order,
            period: numbers[index].0,
            capacity: numbers[index].1,
        };
        vec![spec(0), spec(1)]
    };
    let task = |server, (offset, period), execution| TaskSpec {
        server,
        priority: 0,
        deadline: period,
        arrivals: Arrivals::Periodic { offset, period },
        parts: vec![execution],
        waits: Waits::Delay,
    };
    for (first, second) in pairs(&KINDS) {
        for (one, other) in pairs(&numbers) {
            for (upper, lower) in pairs(periods) {
                for (execution, order) in [(1, ORDERS[0]), (2, ORDERS[1])] {
                    check(&System {
                        servers: servers([first, second], [one, other], order),
                        // The third task makes the local order matter.
                        tasks: vec![
                            task(0, upper, execution),
                            task(1, lower, 2),
                            task(1, (1, 7), 1),
                        ],
                        seed: 0,
                    });
                }
            }
        }
    }
    let count = 9 * 16 * 2 * (periods.len() * periods.len()) as u64;
    assert_eq!(systems, count);
}

fn pairs<T: Copy>(items: &[T]) -> impl Iterator<Item = (T, T)> {
    items
        .iter()
        .flat_map(|&one| items.iter().map(move |&other| (one, other)))
}

/// Twenty and more times as long, so that 8 bits overflow as well.
#[test]
fn long_systems_have_the_schedule_of_the_core() {
    let seeds = seeds(if is_long() { 1000 } else { 12 });
    println!("{} systems", seeds.len());
    for seed in seeds {
        let row = compare(&random_system(seed, 25 + seed % 100), TICKS * 25);
        assert!(row.len() > 20);
    }
}
