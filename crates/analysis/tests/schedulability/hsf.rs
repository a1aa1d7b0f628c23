//! `hsf` against its slow twin, and against runs of the core's engine of servers; each mistake is found by such runs.

use std::collections::VecDeque;
use vestal_analysis::schedulability::hsf::oracle::{self, Mistake};
use vestal_analysis::{Kind, Member, Problem, Reason, ServedReason, Server, Test, Verdict, find};
use vestal_core::{
    ByLevel, Duration, Level, LevelSet, LocalOrder, ServerConfiguration, ServerId, ServerKind,
    Service, Task, TaskId, Wcet, WhenFull,
};
use vestal_testkit::Random;
use vestal_testkit::hierarchies as core_world;
use vestal_testkit::short::{ns, span};
use vestal_testkit::world::drawn;

const TICKS: u64 = 400;

fn hsf() -> &'static Test {
    find("hsf", None).unwrap()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Replenished {
    Polling,
    Idling,
    Deferrable,
}

pub(crate) const KINDS: [Replenished; 3] = [
    Replenished::Polling,
    Replenished::Idling,
    Replenished::Deferrable,
];

pub(crate) fn kind(kind: Replenished, period: u64, capacity: u64) -> ServerKind {
    let (period, capacity) = (span(period), ByLevel::constant(ns(capacity)));
    match kind {
        Replenished::Polling => ServerKind::Polling { period, capacity },
        Replenished::Idling => ServerKind::IdlingPeriodic { period, capacity },
        Replenished::Deferrable => ServerKind::Deferrable { period, capacity },
    }
}

/// A server with these tasks, each with its priority.
pub(crate) fn server(
    kind: ServerKind,
    priority: u32,
    order: LocalOrder,
    tasks: &[(u16, u32)],
) -> Server {
    let member = |&(task, priority): &(u16, u32)| Member {
        task: TaskId(task),
        priority,
        on_behalf_of: None,
    };
    Server {
        configuration: ServerConfiguration {
            kind,
            priority,
            criticality: Level(0),
            order,
        },
        tasks: tasks.iter().map(member).collect(),
        serves: Vec::new(),
    }
}

pub(crate) fn task(criticality: u8, period: u64, deadline: u64, wcet: &[u64]) -> Task {
    let values: Vec<Service> = wcet.iter().copied().map(ns).collect();
    let wcet = Wcet::new(&values).unwrap();
    Task::new(Level(criticality), span(period), span(deadline), wcet).unwrap()
}

pub(crate) fn problem(levels: usize, tasks: Vec<Task>, servers: Vec<Server>) -> Problem {
    let problem = Problem::new(tasks, LevelSet::new(levels).unwrap()).unwrap();
    problem.with_servers(servers, Vec::new()).unwrap()
}

/// Up to three servers of these kinds, and up to five tasks of up to `levels` levels.
pub(crate) fn random_problem(random: &mut Random, kinds: &[Replenished], levels: u8) -> Problem {
    let count = 1 + random.below(3);
    let tasks: Vec<Task> = (0..2 + random.below(4))
        .map(|_| {
            let period = 8 + random.below(50);
            let deadline = period - random.below(2) * random.below(period / 2);
            let first = 1 + random.below(4);
            let wcet: Vec<u64> = (0..u64::from(levels)).map(|level| first + level).collect();
            let criticality = u8::try_from(random.below(u64::from(levels))).unwrap();
            task(criticality, period, deadline, &wcet)
        })
        .collect();
    let home: Vec<u64> = tasks.iter().map(|_| random.below(count)).collect();
    let servers = (0..count).map(|number| {
        let members: Vec<(u16, u32)> = (0..)
            .zip(&home)
            .filter(|(_, at)| **at == number)
            .map(|(task, _)| (task, random.below(3) as u32))
            .collect();
        let period = 4 + random.below(12);
        let capacity = 1 + random.below((period / count).max(1));
        let order = random.one_of(&[LocalOrder::FixedPriority, LocalOrder::EarliestDeadline]);
        let kind = kind(random.one_of(kinds), period, capacity);
        server(kind, random.below(3) as u32, order, &members)
    });
    let servers = servers.collect();
    problem(levels.into(), tasks, servers)
}

pub(crate) fn by_deadline(server: &Server) -> bool {
    server.configuration.order == LocalOrder::EarliestDeadline
}

/// Long enough for every window that can be overfull while the tasks ask for less than the server has.
const LONG: u64 = 3000;

#[test]
fn bounds_are_those_of_the_slow_twin() {
    let (mut bounded, mut accepted, mut by_deadlines, mut refused) = (0, 0, 0, 0);
    for seed in 0..400 {
        let problem = random_problem(&mut Random::new(seed), &KINDS, 2);
        let outcome = hsf().analyse(&problem);
        let twin = oracle::server_responses(&problem, None).unwrap();
        for (index, server) in problem.servers().iter().enumerate() {
            let expected = twin[index].map(Duration::from_nanos);
            assert_eq!(outcome.servers[index].responses, [expected; 2], "{seed}");
            if by_deadline(server) {
                continue;
            }
            for member in &server.tasks {
                let found = &outcome.tasks[member.task.index()].responses;
                let own = problem.tasks()[member.task.index()].criticality;
                let level = |level: u8| {
                    let bound = oracle::response(&problem, (server, member), Level(level), None);
                    bound.map(Duration::from_nanos)
                };
                let expected: Vec<_> = (0..=own.0).map(level).collect();
                assert_eq!(*found, expected, "{seed}: {problem:#?}");
                bounded += expected.iter().flatten().count();
            }
        }
        let twin = oracle::accepts(&problem, LONG, None);
        let test = outcome.verdict == Verdict::Schedulable;
        accepted += u32::from(test);
        by_deadlines += u32::from(test && problem.servers().iter().any(by_deadline));
        let shares = matches!(
            outcome.why,
            Some(Reason::Served(ServedReason::Share { .. }))
        );
        refused += u32::from(shares && twin);
        assert!(
            test == twin || (twin && shares),
            "{seed}: {:?}",
            outcome.why
        );
    }
    println!(
        "{bounded} bounds, {accepted} accepted, {by_deadlines} with deadlines, {refused} refused by shares alone"
    );
    assert!(bounded > 300 && accepted > 40 && by_deadlines > 20);
}

/// The longest response of each task over one run of sporadic releases.
pub(crate) fn longest_responses(problem: &Problem, random: &mut Random) -> Vec<u64> {
    let home = |task: usize| {
        let mut servers = problem.servers().iter().enumerate();
        servers.find_map(|(index, server)| {
            let mut members = server.tasks.iter();
            let member = members.find(|member| member.task.index() == task)?;
            Some((index, member.priority))
        })
    };
    let tasks: Vec<_> = problem
        .tasks()
        .iter()
        .enumerate()
        .map(|(number, task)| {
            let (server, priority) = home(number).unwrap();
            core_world::task(server as u16, priority, task.deadline.as_nanos())
        })
        .collect();
    let servers: Vec<_> = problem
        .servers()
        .iter()
        .map(|server| server.configuration)
        .collect();
    let demand = |task: &Task| vec![task.wcet.at(task.criticality).as_nanos()];
    let programs = problem.tasks().iter().map(demand).collect();
    let mut world = core_world::world(&core_world::configuration(&servers, &tasks, &[]), programs);
    let count = tasks.len();
    let mut next: Vec<u64> = (0..count).map(|_| random.below(20)).collect();
    let mut released = vec![VecDeque::new(); count];
    let mut longest = vec![0; count];
    while world.now < TICKS {
        let mut facts = Vec::new();
        for task in 0..count {
            if world.completes_now(task as u16) {
                let at: u64 = released[task].pop_front().unwrap();
                longest[task] = longest[task].max(world.now - at);
            }
            if next[task] == world.now && released[task].len() < 5 {
                released[task].push_back(world.now);
                facts.push(world.release(task as u16));
            }
            if next[task] <= world.now {
                let late = random.below(2) * random.below(8);
                next[task] = world.now + problem.tasks()[task].period.as_nanos() + late;
            }
        }
        world.step(&facts);
    }
    // What has not come to its end counts up to now.
    for (longest, waiting) in longest.iter_mut().zip(&released) {
        let oldest = waiting.front().map_or(0, |at| TICKS - at);
        *longest = (*longest).max(oldest);
    }
    longest
}

#[derive(Debug, Default)]
struct Seen {
    compared: u32,
    /// Of servers with fixed priorities, and of servers with deadlines.
    exceeded: [u32; 2],
    reached: u32,
}

/// Runs what the test accepts, or what the slow twin with a mistake accepts, and compares with its bounds.
fn campaign(systems: u64, kinds: &[Replenished], mistake: Option<Mistake>) -> Seen {
    let mut seen = Seen::default();
    for seed in 0..systems {
        let mut random = Random::new(seed);
        let problem = random_problem(&mut random, kinds, 1);
        let accepts = match mistake {
            None => hsf().analyse(&problem).verdict == Verdict::Schedulable,
            Some(_) => oracle::accepts(&problem, 400, mistake),
        };
        if !accepts {
            continue;
        }
        for _ in 0..3 {
            let longest = longest_responses(&problem, &mut random);
            for server in problem.servers() {
                for member in &server.tasks {
                    let response = longest[member.task.index()];
                    let bound = if by_deadline(server) {
                        problem.tasks()[member.task.index()].deadline.as_nanos()
                    } else {
                        oracle::response(&problem, (server, member), Level(0), mistake).unwrap()
                    };
                    seen.compared += 1;
                    seen.exceeded[usize::from(by_deadline(server))] += u32::from(response > bound);
                    seen.reached += u32::from(response == bound);
                }
            }
        }
    }
    seen
}

#[test]
fn no_response_exceeds_its_bound_and_no_deadline_is_missed() {
    let seen = campaign(4000, &KINDS, None);
    println!("{seen:?}");
    assert_eq!(seen.exceeded, [0, 0]);
    assert!(seen.compared > 2000 && seen.reached > 30, "{seen:?}");
}

#[test]
fn mistakes_are_refuted_by_the_same_runs() {
    for (mistake, kinds) in [
        (Mistake::PollingLikeOthers, &KINDS[..1]),
        (Mistake::HalfBlackout, &KINDS[1..2]),
    ] {
        let seen = campaign(1000, kinds, Some(mistake));
        println!("{mistake:?}: {seen:?}");
        assert!(
            seen.exceeded.iter().all(|&exceeded| exceeded > 3),
            "{mistake:?}: {seen:?}"
        );
    }
}

/// Two polling servers of 2 in 4. Work that arrives just after the discarded budget waits a whole period longer than
/// the blackout of the periodic resource model says: 7, where 2 (4 - 2) + 2 = 6.
#[test]
fn a_polling_server_is_silent_for_longer_than_the_periodic_resource_model_says() {
    let polling = |priority, member| {
        let kind = kind(Replenished::Polling, 4, 2);
        server(kind, priority, LocalOrder::FixedPriority, &[member])
    };
    let tasks = vec![task(0, 100, 100, &[2]); 2];
    let set = problem(1, tasks, vec![polling(1, (0, 0)), polling(0, (1, 0))]);
    let outcome = hsf().analyse(&set);
    assert_eq!(outcome.tasks[1].responses, [Some(span(8))]);
    let bounds: Vec<_> = outcome
        .servers
        .iter()
        .map(|server| server.responses[0])
        .collect();
    assert_eq!(bounds, [Some(span(2)), Some(span(4))]);
    let member = (&set.servers()[1], &set.servers()[1].tasks[0]);
    let wrong = oracle::response(&set, member, Level(0), Some(Mistake::PollingLikeOthers));
    assert_eq!(wrong, Some(6));

    let servers: Vec<_> = set.servers().iter().map(|one| one.configuration).collect();
    let served = [0, 1].map(|server| core_world::task(server, 0, 100));
    let configuration = core_world::configuration(&servers, &served, &[]);
    let mut world = core_world::world(&configuration, vec![vec![2], vec![2]]);
    while world.now < 10 {
        let facts = match world.now {
            1 => vec![world.release(1)],
            4 => vec![world.release(0)],
            _ => Vec::new(),
        };
        world.step(&facts);
    }
    assert_eq!(world.rows[0], drawn(&[('0', 4, 6), ('1', 6, 8)], 10));
}

/// A deferrable server of 5 in 10 executes in [5, 10) and in [10, 15). A less urgent idling server of 3 in 8 has idled its
/// budget away when its job comes at 3, and gets 1 of the next one: 15 instead of 2 (8 - 3) + 3 = 13, if the jitter of
/// the former is forgotten.
#[test]
fn a_deferrable_server_executes_twice_in_a_row() {
    let upper = kind(Replenished::Deferrable, 10, 5);
    let lower = kind(Replenished::Idling, 8, 3);
    let fixed = LocalOrder::FixedPriority;
    let tasks = vec![
        task(0, 100, 100, &[5]),
        task(0, 100, 100, &[5]),
        task(0, 100, 13, &[3]),
    ];
    let servers = vec![
        server(upper, 2, fixed, &[(0, 0), (1, 0)]),
        server(lower, 1, fixed, &[(2, 0)]),
    ];
    let set = problem(1, tasks, servers);
    let late = ServedReason::LateServer {
        server: ServerId(1),
        at_least: span(13),
        period: span(8),
    };
    assert_eq!(why(&set), Some(Reason::Served(late)));
    assert!(oracle::accepts(&set, 100, Some(Mistake::NoJitter)));
    let member = (&set.servers()[1], &set.servers()[1].tasks[0]);
    let bound = oracle::response(&set, member, Level(0), Some(Mistake::NoJitter));
    assert_eq!(bound, Some(13));
    // The full form says 5 + 5 + 3 without the jitter, too; with it, 5 + 2 * 5 + 3.
    let full = |mistake| oracle::full_response(&set, (1, member.1), Level(0), mistake);
    assert_eq!(full(Some(Mistake::NoJitter)), Some(13));
    assert_eq!(full(None), None);

    let servers: Vec<_> = set.servers().iter().map(|one| one.configuration).collect();
    let served = [0, 0, 1].map(|server| core_world::task(server, 0, 100));
    let configuration = core_world::configuration(&servers, &served, &[]);
    let mut world = core_world::world(&configuration, vec![vec![5], vec![5], vec![3]]);
    while world.now < 18 {
        let facts = match world.now {
            3 => vec![world.release(2)],
            5 => vec![world.release(0)],
            10 => vec![world.release(1)],
            _ => Vec::new(),
        };
        world.step(&facts);
    }
    let ran = [('b', 0, 3), ('0', 5, 10), ('1', 10, 15), ('2', 15, 18)];
    assert_eq!(world.rows[0], drawn(&ran, 18));
}

fn why(set: &Problem) -> Option<Reason> {
    let outcome = hsf().analyse(set);
    assert_eq!(outcome.kind, Kind::Sufficient);
    assert_eq!(
        outcome.why.is_none(),
        outcome.verdict == Verdict::Schedulable
    );
    outcome.why
}

#[test]
fn it_says_why_not() {
    let idling = |period, capacity| kind(Replenished::Idling, period, capacity);
    let fixed = LocalOrder::FixedPriority;
    let one = |kind, order, tasks: Vec<Task>| {
        let members: Vec<(u16, u32)> = (0..tasks.len() as u16).map(|task| (task, 0)).collect();
        problem(2, tasks, vec![server(kind, 1, order, &members)])
    };
    let short = || vec![task(0, 20, 20, &[3, 3])];
    assert_eq!(why(&one(idling(10, 5), fixed, short())), None);
    let sporadic = ServerKind::Sporadic {
        period: span(10),
        capacity: ByLevel::constant(ns(5)),
        replenishments: 2,
        full: WhenFull::MergeHead,
    };
    let falls = ServerKind::IdlingPeriodic {
        period: span(10),
        capacity: ByLevel::new(&[ns(5), ns(0)]).unwrap(),
    };
    let edf = LocalOrder::EarliestDeadline;
    let id = ServerId(0);
    let cases = [
        (
            one(sporadic, fixed, short()),
            ServedReason::NotReplenishedByTime { server: id },
            "the test is for polling, idling periodic and deferrable servers; server 1 is another",
        ),
        (
            one(falls, fixed, short()),
            ServedReason::ChangesWithMode { server: id },
            "the test is for servers with the same budget in every mode; server 1 has others",
        ),
        (
            problem(2, short(), vec![server(idling(10, 5), 1, fixed, &[])]),
            ServedReason::Unserved { task: TaskId(0) },
            "the test is for tasks in servers; task 0 is in none",
        ),
        (
            one(idling(10, 5), edf, vec![task(0, 10, 10, &[5, 5])]),
            ServedReason::Share { server: id },
            "the tasks of server 1 ask for all of its share of the CPU, or for more",
        ),
        (
            one(idling(10, 5), edf, vec![task(0, 20, 12, &[3, 3])]),
            ServedReason::DemandExceedsSupply {
                server: id,
                window: span(12),
                demand: span(3),
                supply: span(2),
            },
            "jobs of server 1 that are released and due within 12 ns may need 3 ns, and it supplies 2 ns",
        ),
    ];
    for (set, expected, text) in cases {
        assert_eq!(why(&set), Some(Reason::Served(expected)));
        assert_eq!(Reason::Served(expected).to_string(), text);
    }
}

#[test]
fn a_server_or_a_task_that_is_late_is_named_with_its_bound() {
    let fixed = LocalOrder::FixedPriority;
    let idling = |period, capacity| kind(Replenished::Idling, period, capacity);
    let short = || vec![task(0, 20, 20, &[3, 3])];
    let two = |first: u64| {
        let servers = [(2, first), (1, 5)].map(|(priority, capacity)| {
            let tasks: &[(u16, u32)] = if priority == 2 { &[] } else { &[(0, 0)] };
            server(idling(10, capacity), priority, fixed, tasks)
        });
        problem(2, short(), servers.to_vec())
    };
    assert_eq!(why(&two(5)), None);
    let late = ServedReason::LateServer {
        server: ServerId(1),
        at_least: span(11),
        period: span(10),
    };
    assert_eq!(why(&two(6)), Some(Reason::Served(late)));
    let only = server(idling(10, 5), 1, fixed, &[(0, 0)]);
    let slow = why(&problem(2, vec![task(0, 20, 12, &[3, 3])], vec![only]));
    let expected = Reason::ResponseExceedsDeadline {
        task: TaskId(0),
        level: Level(0),
        at_least: span(13),
        deadline: span(12),
    };
    assert_eq!(slow, Some(expected));
}

/// Long periods, full servers, and servers that would be looked at for hours.
#[test]
fn the_largest_times_neither_overflow_nor_go_on_for_ever() {
    let fixed = LocalOrder::FixedPriority;
    let year = 365 * 24 * 3600 * 1_000_000_000;
    let idling = |period, capacity| kind(Replenished::Idling, period, capacity);
    let whole = vec![task(0, year, year, &[year])];
    let all = problem(
        1,
        whole,
        vec![server(idling(year, year), 1, fixed, &[(0, 0)])],
    );
    assert_eq!(hsf().analyse(&all).tasks[0].responses, [Some(span(year))]);
    let polling = kind(Replenished::Polling, year, year);
    let whole = vec![task(0, year, year, &[year])];
    let late = problem(1, whole, vec![server(polling, 1, fixed, &[(0, 0)])]);
    assert_eq!(hsf().analyse(&late).verdict, Verdict::NotProven);
    // The first takes the whole CPU, and the second asks for one unit more each time.
    let tasks = vec![task(0, year, year, &[1]), task(0, year, year, &[1])];
    let servers = vec![
        server(idling(1, 1), 2, fixed, &[(0, 0)]),
        server(idling(year, 1), 1, LocalOrder::EarliestDeadline, &[(1, 0)]),
    ];
    let outcome = hsf().analyse(&problem(1, tasks, servers));
    assert_eq!(outcome.why, Some(Reason::SearchLimit { steps: 1_000_000 }));
    assert_eq!(outcome.verdict, Verdict::NotProven);
}
