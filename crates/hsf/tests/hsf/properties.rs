//! What always holds: budgets, the stopwatch, states, jobs; each with a wrong scheduler or a wrong account that
//! the same check finds.

use crate::host::{Clock, Host, Scheduler, Target};
use crate::paper_queue::Flaw;
use crate::paper_scheduler::{PaperScheduler, Wrong};
use crate::same_schedule::{Bits4, NoWakeUps};
use crate::system::{Arrivals, System, TaskSpec, Waits, random_system};
use std::cell::RefCell;
use std::collections::HashSet;
use vestal_hsf::{
    Change, Everything, Features, Kind, LocalOrder, Pick, ServerId, ServerSpec, State, TaskId,
};

const TICKS: u64 = 240;
const SYSTEMS: u64 = 150;

thread_local! {
    static TRANSITIONS: RefCell<Vec<(ServerId, State, State)>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug)]
struct Traced;

impl Features for Traced {
    type Tick = Bits4;

    fn on_transition(server: ServerId, from: State, to: State) {
        TRANSITIONS.with_borrow_mut(|seen| seen.push((server, from, to)));
    }
}

/// Figures 3 and 4, where an idling server never waits; and section 3.2.4, by which a polling server is depleted at its
/// replenishment. A server that was created is ready.
fn is_drawn(kind: Kind, from: State, to: State) -> bool {
    match (from, to) {
        (State::Ready, State::Running)
        | (State::Running, State::Ready | State::Depleted)
        | (State::Depleted, State::Ready) => true,
        (State::Running, State::Waiting) | (State::Waiting, State::Ready) => {
            kind == Kind::Deferrable
        }
        (State::Ready, State::Depleted) => kind == Kind::Polling,
        _ => false,
    }
}

#[test]
fn servers_make_the_transitions_that_are_drawn_and_no_others() {
    let mut seen = HashSet::new();
    for seed in 0..SYSTEMS {
        let system = random_system(seed, 1);
        TRANSITIONS.take();
        let mut host = Host::<Scheduler<Traced>>::new(&system, Clock::Tick);
        let mut states = vec![State::Ready; system.servers.len()];
        for _ in 0..TICKS {
            host.step();
            for (server, from, to) in TRANSITIONS.take() {
                let kind = system.servers[server.index()].kind;
                assert!(
                    is_drawn(kind, from, to),
                    "{kind:?} {from:?} -> {to:?}, seed {seed}"
                );
                assert_eq!(from, states[server.index()], "seed {seed}");
                states[server.index()] = to;
                seen.insert((kind, from, to));
            }
        }
    }
    let states = [
        State::Ready,
        State::Running,
        State::Waiting,
        State::Depleted,
    ];
    let all = [Kind::Polling, Kind::Idling, Kind::Deferrable]
        .into_iter()
        .flat_map(|kind| {
            let from = move |from| states.map(|to| (kind, from, to));
            states.into_iter().flat_map(from)
        });
    for (kind, from, to) in all {
        let drawn = is_drawn(kind, from, to);
        assert_eq!(
            seen.contains(&(kind, from, to)),
            drawn,
            "{kind:?} {from:?} -> {to:?}"
        );
    }
}

/// Whose budget a tick of a row consumed.
fn consumer(system: &System, who: char) -> Option<usize> {
    match who.to_digit(10) {
        Some(task) => Some(system.tasks[task as usize].server.into()),
        None => who.is_ascii_lowercase().then(|| (who as u8 - b'a').into()),
    }
}

/// What each server has executed by the row from its last replenishment on.
fn consumed(system: &System, row: &str, server: usize) -> u32 {
    let period = system.servers[server].period as usize;
    let from = row.len() / period * period;
    let own = |&who: &char| consumer(system, who) == Some(server);
    row[from..].chars().filter(own).count() as u32
}

/// No server executes more than its capacity between two replenishments.
fn stays_within_capacity(system: &System, row: &str) -> bool {
    system.servers.iter().enumerate().all(|(server, spec)| {
        row.as_bytes().chunks(spec.period as usize).all(|window| {
            let own = |&&who: &&u8| consumer(system, who.into()) == Some(server);
            window.iter().filter(own).count() <= spec.capacity as usize
        })
    })
}

/// Whether the budget that was reported at the end of `row` is what the row has left.
fn is_budget(system: &System, row: &str, server: usize, budget: u32) -> bool {
    let spec = system.servers[server];
    let left = spec.capacity - consumed(system, row, server);
    budget == left || (spec.kind == Kind::Polling && budget == 0)
}

#[test]
fn a_budget_is_what_has_not_been_executed_since_the_replenishment() {
    let (mut discarded, mut off_by_one) = (0, 0);
    for seed in 0..SYSTEMS {
        let system = random_system(seed, 1);
        let mut host = Host::<Scheduler<Everything<Bits4>>>::new(&system, Clock::Tick);
        for _ in 0..TICKS {
            let row = host.row.clone();
            host.step();
            for server in 0..system.servers.len() {
                let budget = host.hsf.budget(ServerId::new(server as u8));
                assert!(budget <= system.servers[server].capacity);
                assert!(
                    is_budget(&system, &row, server, budget),
                    "seed {seed}, {row}"
                );
                let left = system.servers[server].capacity - consumed(&system, &row, server);
                discarded += u64::from(budget < left);
                off_by_one += u64::from(!is_budget(&system, &row, server, budget + 1));
            }
        }
        assert!(stays_within_capacity(&system, &host.row), "seed {seed}");
    }
    assert!(
        discarded > 1000,
        "polling servers discarded in {discarded} ticks"
    );
    assert!(
        off_by_one > SYSTEMS * TICKS / 2,
        "one tick too many is found in {off_by_one}"
    );
}

#[test]
fn a_depleted_server_that_wakes_up_exceeds_its_capacity() {
    let exceeds = |seed: &u64| {
        let system = random_system(*seed, 1);
        let wrong = PaperScheduler::new(&system, Some(Wrong::DepletedServersWakeUp));
        let mut host = Host::with(wrong, &system, Clock::Tick);
        for _ in 0..TICKS {
            host.step();
        }
        !stays_within_capacity(&system, &host.row)
    };
    assert!((0..SYSTEMS).any(|seed| exceeds(&seed)));
}

/// Whether the stopwatch has one entry for each inactive server, and no other.
fn entries_are_right<S: Target>(host: &Host<'_, S>, servers: usize) -> bool {
    let items = host.hsf.stopwatch();
    let inactive = (0..servers).filter(|&server| host.hsf.active() != Some(server));
    let mut found: Vec<_> = items.iter().filter_map(|(server, ..)| *server).collect();
    found.sort_unstable();
    found == inactive.collect::<Vec<_>>()
}

/// The paper's section 8.3: at most t / M + S dummies, where t is the longest absence.
fn dummies_are_few<S: Target>(host: &Host<'_, S>, servers: usize, max: u64) -> bool {
    let items = host.hsf.stopwatch();
    let absence: u64 = items.iter().map(|(.., time)| time).sum();
    let dummies = items.iter().filter(|item| item.0.is_none());
    dummies.map(|item| item.1).sum::<u64>() <= absence / max + servers as u64
}

/// Whether something holds after every tick of many systems.
fn always<S: Target>(
    create: impl Fn(&System) -> S,
    holds: impl Fn(&Host<'_, S>, usize) -> bool,
) -> bool {
    (0..SYSTEMS).all(|seed| {
        let system = random_system(seed, 1);
        let mut host = Host::with(create(&system), &system, Clock::Tick);
        (0..TICKS).all(|_| {
            host.step();
            holds(&host, system.servers.len())
        })
    })
}

#[test]
fn the_stopwatch_has_an_entry_for_each_inactive_server_and_no_other() {
    assert!(always(
        Scheduler::<Everything<Bits4>>::create,
        entries_are_right
    ));
    let paper = |wrong| {
        always(
            |system| PaperScheduler::new(system, wrong),
            entries_are_right,
        )
    };
    assert!(paper(None));
    assert!(!paper(Some(Wrong::StopwatchEventStays)));
}

fn few_dummies<S: Target>(max: u64) -> impl Fn(&Host<'_, S>, usize) -> bool {
    move |host, servers| dummies_are_few(host, servers, max)
}

#[test]
fn the_stopwatch_has_as_few_dummies_as_the_paper_says() {
    assert!(always(
        Scheduler::<Everything<Bits4>>::create,
        few_dummies(15)
    ));
    assert!(always(
        Scheduler::<NoWakeUps<Bits4>>::create,
        few_dummies(15)
    ));
    assert!(always(
        Scheduler::<Everything<u16>>::create,
        few_dummies(0xffff)
    ));
    assert!(!always(PaperScheduler::create, few_dummies(15)));
}

/// Nodes of the stopwatch after 100 ticks in which server 0 is away and server 1 comes 25 times, each time after the
/// processor was idle.
fn stopwatch_nodes<S: Target>(create: impl Fn(&System) -> S) -> usize {
    let server = |priority, period| ServerSpec {
        kind: Kind::Idling,
        priority,
        order: LocalOrder::FixedPriority,
        period,
        capacity: 1,
    };
    let system = System {
        servers: vec![server(0, 200), server(1, 4)],
        tasks: Vec::new(),
        seed: 0,
    };
    let mut host = Host::with(create(&system), &system, Clock::Tick);
    for _ in 0..100 {
        host.step();
    }
    host.hsf.stopwatch().len()
}

/// Each time the paper's stopwatch gets a dummy, and they stay side by side while server 0 is away: its bound of
/// t / M + S, which is 8 here, holds only where neighbours are made one.
#[test]
fn dummies_side_by_side_are_one_and_in_the_paper_they_add_up() {
    assert!(stopwatch_nodes(Scheduler::<Everything<Bits4>>::create) <= 5);
    assert!(stopwatch_nodes(PaperScheduler::create) > 2 + 20);
}

/// The most queues that were active at once.
fn active_queues<F: Features>() -> usize {
    let most = |seed| {
        let system = random_system(seed, 1);
        let mut host = Host::<Scheduler<F>>::new(&system, Clock::Tick);
        let queues = (0..TICKS).map(|_| {
            host.step();
            host.hsf.active_queues()
        });
        queues.max().unwrap()
    };
    (0..SYSTEMS).map(most).max().unwrap()
}

#[test]
fn at_most_four_queues_are_active_because_of_wake_ups() {
    assert_eq!(active_queues::<Everything<Bits4>>(), 4);
    assert_eq!(
        active_queues::<NoWakeUps<Bits4>>(),
        6,
        "two of three servers wait with theirs"
    );
}

/// Every arrival of a periodic task is an ended job, its current job, or pending: jobs do not overlap, and none is
/// lost.
fn no_job_is_lost<S: Target>(create: impl Fn(&System) -> S) -> bool {
    (0..SYSTEMS).all(|seed| {
        let system = random_system(seed, 1);
        let mut host = Host::with(create(&system), &system, Clock::Tick);
        (0..TICKS).all(|now| {
            host.step();
            system.tasks.iter().enumerate().all(|(number, spec)| {
                let Arrivals::Periodic { offset, period } = spec.arrivals else {
                    return true;
                };
                // The events of inactive servers are not handled yet.
                if host.hsf.active() != Some(spec.server.into()) {
                    return true;
                }
                let since = now.checked_sub(offset.into());
                let arrived = since.map_or(0, |since| since / u64::from(period) + 1);
                let task = TaskId::new(number as u8);
                let current = u64::from(!host.hsf.waits(task));
                let pending = u64::from(host.hsf.pending(task));
                arrived == host.completed[number] + current + pending
            })
        })
    })
}

#[test]
fn jobs_of_a_task_do_not_overlap_and_none_is_lost() {
    assert!(no_job_is_lost(Scheduler::<Everything<Bits4>>::create));
    let lossy = |system: &System| PaperScheduler::new(system, Some(Wrong::ArrivalsNotCounted));
    assert!(!no_job_is_lost(lossy));
}

/// A delay in a server's own time lasts until the server has consumed so many ticks, and not one less or more.
/// Says whether that holds, and how many delays ended.
fn virtual_delays<S: Target>(create: impl Fn(&System) -> S) -> (bool, u64) {
    let mut ended = 0;
    let holds = (0..SYSTEMS).all(|seed| {
        let mut system = random_system(seed, 1);
        let waits = |task: &mut TaskSpec| task.waits = Waits::Virtual;
        system.tasks.iter_mut().for_each(waits);
        let mut host = Host::with(create(&system), &system, Clock::Tick);
        let mut delays = vec![None; system.tasks.len()];
        (0..TICKS).all(|_| {
            let row = host.row.clone();
            host.step();
            (0..system.tasks.len()).all(|number| {
                let began = host.virtual_delays[number];
                let Some((at, ticks)) = began else {
                    return true;
                };
                let server = system.tasks[number].server.into();
                let own = |&who: &char| consumer(&system, who) == Some(server);
                let consumed = row[at as usize..].chars().filter(own).count() as u64;
                let delayed = host.hsf.is_delayed(TaskId::new(number as u8));
                if !delayed && delays[number] != began {
                    delays[number] = began;
                    ended += u64::from(ticks > 0);
                }
                delayed == (consumed < ticks)
            })
        })
    });
    (holds, ended)
}

#[test]
fn a_virtual_delay_lasts_as_long_as_its_server_executes() {
    let (holds, ended) = virtual_delays(Scheduler::<Everything<Bits4>>::create);
    assert!(holds && ended > 500, "{ended}");
    assert!(virtual_delays(PaperScheduler::create).0);
    let early = |wrong| virtual_delays(move |system| PaperScheduler::new(system, Some(wrong))).0;
    assert!(!early(Wrong::NotSettled));
    assert!(!early(Wrong::Queues(Flaw::DeletedTimeIsLost)));
}

/// One idling server that always runs, and a task that delays itself for 10 at 5.
fn end_of_delay<S: Target>(create: impl Fn(&System) -> S) -> u64 {
    let system = System {
        servers: vec![ServerSpec {
            kind: Kind::Idling,
            priority: 0,
            order: LocalOrder::FixedPriority,
            period: 60,
            capacity: 60,
        }],
        tasks: vec![TaskSpec {
            server: 0,
            priority: 0,
            deadline: 1,
            arrivals: Arrivals::Sporadic { gap: 1 },
            parts: vec![1],
            waits: Waits::Delay,
        }],
        seed: 0,
    };
    let task = TaskId::new(0);
    let mut target = create(&system);
    target.task(task, Change::Released).unwrap();
    assert_eq!(target.pick(), Pick::Task(task));
    for _ in 0..5 {
        let _ = target.timer(1);
    }
    target.task(task, Change::Delayed(10)).unwrap();
    let mut now = 5;
    while target.pick() != Pick::Task(task) {
        let _ = target.timer(1);
        now += 1;
    }
    now
}

/// No event was due since 0: the ticks up to 5 are in no queue yet. In the paper they are taken off the new event,
/// too.
#[test]
fn a_delay_between_two_events_ends_in_time_and_not_as_in_figure_12() {
    assert_eq!(end_of_delay(Scheduler::<Everything<u16>>::create), 15);
    assert_eq!(end_of_delay(|system| PaperScheduler::new(system, None)), 15);
    let not_settled = Some(Wrong::NotSettled);
    assert_eq!(
        end_of_delay(|system| PaperScheduler::new(system, not_settled)),
        10
    );
}

/// A deferrable server has a task that does nothing every `period` ticks: each arrival is seen at its instant, for a
/// thousand million ticks.
#[test]
fn arrivals_do_not_drift() {
    let (mut hsf, total) = (Scheduler::<Everything<u8>>::new(), 1_000_000_000);
    let (period, offset) = (1_000_003, 17);
    for priority in 0..2 {
        let spec = ServerSpec {
            kind: Kind::Deferrable,
            priority,
            order: LocalOrder::FixedPriority,
            period: 99_991,
            capacity: 10,
        };
        let server = hsf.create_server(&spec).unwrap();
        let task = hsf.add_task(server, 0, 1).unwrap();
        hsf.make_periodic(task, offset, period).unwrap();
    }
    let (mut now, mut arrivals) = (0, [0_u64; 2]);
    while now < total {
        while let Pick::Task(task) = hsf.schedule() {
            let number = task.index();
            assert_eq!(
                now,
                u64::from(offset) + arrivals[number] * u64::from(period)
            );
            arrivals[number] += 1;
            hsf.wait_period(task).unwrap();
        }
        let step = hsf.next_event();
        let _ = hsf.advance(step);
        now += u64::from(step);
        assert_eq!(hsf.now(), now);
    }
    assert_eq!(arrivals, [1000; 2]);
    assert!(hsf.check_invariants());
}
