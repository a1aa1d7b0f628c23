//! Orders that are given and orders that are found, and what puts a set outside.

use super::sets::{Own, Set, own, pibs, random_set, sporadic};
use super::{bound, test, three_servers};
use vestal_analysis::parameters::{ServerBudget, ServerParameters};
use vestal_analysis::schedulability::io_amc::oracle::Case;
use vestal_analysis::{
    Device, DeviceArrival, Kind, Parameters, Problem, Reason, ServedReason, SporadicReason,
    Verdict, Wait,
};
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::short::{ns, span};

/// All orders of so many servers.
fn orders(count: u16) -> Vec<Vec<ServerId>> {
    let mut orders = vec![Vec::new()];
    for number in (0..count).map(ServerId) {
        orders = orders
            .iter()
            .flat_map(|order| {
                (0..=order.len()).map(move |place| {
                    let mut longer = order.clone();
                    longer.insert(place, number);
                    longer
                })
            })
            .collect();
    }
    orders
}

#[test]
fn an_order_is_found_exactly_if_there_is_one() {
    let (mut by_rate, mut others, mut none) = (0, 0, 0);
    for seed in 0..4000 {
        let mut set = random_set(&mut Random::new(seed), 20);
        for pibs in &mut set.pibs {
            // Where a low PIBS has a share in mode 1, an order may be missed.
            pibs.shares[1].0 *= u64::from(pibs.high);
        }
        let problem = set.problem();
        let outcome = test("io-amc-rtb").analyse(&problem.clone().with_free_server_order());
        let accepts = |order: &Vec<ServerId>| {
            let case = Case {
                problem: &problem,
                order,
                any: false,
                mistake: None,
            };
            case.accepts(true)
        };
        let mut rate: Vec<ServerId> = set.order();
        rate.sort_by_key(|id| set.own[id.index()].period);
        let mut found: Vec<ServerId> = set.order();
        found.sort_by_key(|id| core::cmp::Reverse(outcome.servers[id.index()].priority));
        let holds = outcome.verdict == Verdict::Schedulable;
        match (holds, accepts(&rate)) {
            (true, true) => {
                assert_eq!(found, rate, "{seed}");
                by_rate += 1;
            }
            (true, false) => {
                assert!(accepts(&found), "{seed}: {set:?}");
                others += 1;
            }
            (false, _) => {
                let mut all = orders(set.own.len() as u16).into_iter();
                assert!(!all.any(|order| accepts(&order)), "{seed}: {set:?}");
                let why = outcome.why.clone();
                assert!(
                    matches!(
                        why,
                        Some(Reason::Served(ServedReason::Sporadic(
                            SporadicReason::NoServerFits { .. }
                        )))
                    ),
                    "{why:?}"
                );
                none += 1;
            }
        }
        assert_eq!(outcome.parameters.servers.is_some(), holds);
    }
    println!("{by_rate} rate-monotonically, {others} otherwise, {none} in no order");
    assert!(by_rate > 500 && others > 20 && none > 1000);
}

/// The HI server in front of the LO one, which has the shorter period, and budgets of parameters.
#[test]
fn a_given_order_stays() {
    let set = three_servers();
    let free = test("io-amc-rtb").analyse(&set.problem().with_free_server_order());
    let priorities = |servers: &[ServerParameters]| -> Vec<u32> {
        servers.iter().map(|server| server.priority).collect()
    };
    let mut given = free.parameters.servers.unwrap();
    assert_eq!(priorities(&given), [3, 2, 1, 0, 0]);
    given[1].priority = 4;
    given[1].budget = ServerBudget::Capacity {
        period: span(20_000),
        by_level: vec![span(3_000), span(7_000)],
    };
    let parameters = Parameters {
        servers: Some(given),
        ..Parameters::default()
    };
    let problem = set.problem().with_free_server_order().with(&parameters);
    let outcome = test("io-amc-rtb").analyse(&problem.unwrap());
    assert_eq!(
        priorities(&outcome.parameters.servers.clone().unwrap()),
        [3, 4, 1, 0, 0]
    );
    // C(HI) = 7 and (2 - 1/10) 2 of its own PIBS.
    assert_eq!(bound(&outcome, 1, None, 11), Some(10_800));
}

/// Where priorities are equal a PIBS on behalf of the second server delays the first as well.
#[test]
fn between_a_burst_and_servers_as_urgent_as_its_host_nothing_is_decided() {
    let set = Set {
        levels: 1,
        own: vec![own(false, 10, [2, 2]), own(false, 10, [2, 2])],
        pibs: vec![pibs(false, [(1, 5), (1, 5)], &[1])],
    };
    let at = |priorities: [u32; 2]| {
        let mut servers = set.servers();
        for (server, priority) in servers.iter_mut().zip(priorities) {
            server.configuration.priority = priority;
        }
        let problem = set.problem().with_servers(servers, Vec::new()).unwrap();
        let outcome = test("ss-pibs-rta").analyse(&problem);
        [0, 1].map(|server| bound(&outcome, server, None, 1))
    };
    assert_eq!(at([2, 1]), [Some(2), Some(7)]);
    assert_eq!(at([1, 1]), [Some(5), Some(7)]);
}

#[test]
fn the_upper_bound_is_a_claim_and_accepts_what_the_test_does() {
    let mut more = 0;
    for seed in 0..600 {
        let problem = random_set(&mut Random::new(seed), 30).problem();
        let rtb = test("io-amc-rtb").analyse(&problem);
        let ub = test("io-amc-ub").analyse(&problem);
        assert_eq!((ub.kind, ub.verdict), (Kind::Unsafe, Verdict::NotProven));
        let holds = rtb.verdict == Verdict::Schedulable;
        let claims = ub.claim == Some(Verdict::Schedulable);
        assert!(claims || !holds, "{seed}");
        more += u32::from(claims && !holds);
        let any = test("io-amc-rtb:any").analyse(&problem);
        assert!(any.verdict != Verdict::Schedulable || holds, "{seed}");
    }
    assert!(more > 10);
}

fn why(problem: &Problem, name: &str) -> String {
    let outcome = test(name).analyse(problem);
    assert_eq!(outcome.verdict, Verdict::NotProven);
    outcome.why.unwrap().to_string()
}

/// One server and its task, changed.
fn changed(change: impl FnOnce(&mut Set)) -> Set {
    let mut set = Set {
        levels: 2,
        own: vec![own(true, 20, [4, 8])],
        pibs: vec![pibs(true, [(1, 10), (1, 5)], &[0])],
    };
    change(&mut set);
    set
}

#[test]
fn it_says_what_is_too_long() {
    let rtb = |set: &Set| why(&set.problem(), "io-amc-rtb");
    let long = changed(|set| set.own.push(own(true, 20, [6, 9])));
    assert_eq!(
        rtb(&long),
        "by equation 11 server 2 may take 24 ns or more until it has its capacity, and 20 ns is the most"
    );
    let burst = changed(|set| set.own[0] = own(true, 20, [4, 14]));
    assert_eq!(
        rtb(&burst),
        "by equation 11 server 1 may take 21 ns or more until it has its capacity, and 20 ns is the most"
    );
    // On behalf of a LO server, which has nothing in mode 1: (2 - 1/4) 5, and 15.
    let burst = Set {
        levels: 2,
        own: vec![own(true, 20, [5, 15]), own(false, 20, [2, 0])],
        pibs: vec![pibs(true, [(1, 10), (1, 4)], &[1])],
    };
    assert_eq!(
        rtb(&burst),
        "by equation 13 a burst of server 3 on behalf of server 2 may take 23 ns or more, and 20 ns is the most"
    );
    let free = long.problem().with_free_server_order();
    assert_eq!(
        why(&free, "io-amc-rtb"),
        "no server is in time at priority 1, of 2 that are left for it"
    );
}

#[test]
fn it_says_what_it_is_not_for() {
    let plain = changed(|_| {});
    let one_mode = "the test is for sets of up to 1 level, this one has 2";
    assert_eq!(why(&plain.problem(), "ss-pibs-rta"), one_mode);
    let one = changed(|set| {
        set.levels = 1;
        set.own[0] = own(false, 20, [4, 4]);
        set.pibs[0].high = false;
        set.pibs[0].shares[1] = (1, 10);
    });
    let has_pibs = "the test is for servers with a period; server 2 is a PIBS";
    assert_eq!(why(&one.problem(), "ss-rta"), has_pibs);
    let rising = changed(|set| set.pibs[0].shares[1] = (1, 20));
    let against = "the test is for PIBS whose utilization never falls up to their level and never rises above it; \
                   server 2 has another";
    assert_eq!(why(&rising.problem(), "io-amc-rtb"), against);
}

/// The same with servers, devices and waits that are changed.
fn with_parts(
    change: impl FnOnce(&mut Vec<vestal_analysis::Server>, &mut Vec<Task>, &mut Vec<Device>),
) -> Problem {
    let set = changed(|_| {});
    let (mut servers, mut tasks, mut devices) = (set.servers(), set.tasks(), Vec::new());
    change(&mut servers, &mut tasks, &mut devices);
    let problem = Problem::new(tasks, LevelSet::new(2).unwrap()).unwrap();
    problem.with_servers(servers, devices).unwrap()
}

fn device(server: u16) -> Device {
    Device {
        server: ServerId(server),
        cost: ns(1),
        arrival: DeviceArrival::Requested,
        on_behalf_of: (server == 1).then_some(ServerId(0)),
    }
}

#[test]
fn it_says_which_tasks_it_is_not_for() {
    let rtb = |problem: &Problem| why(problem, "io-amc-rtb");
    let again = |set: &Own| {
        Set {
            levels: 2,
            own: vec![*set],
            pibs: Vec::new(),
        }
        .tasks()[0]
    };
    let task = again(&own(true, 20, [4, 8]));
    let deferrable = with_parts(|servers, _, _| {
        let (period, capacity) = (span(20), ByLevel::constant(ns(4)));
        servers[0].configuration.kind = ServerKind::Deferrable { period, capacity };
    });
    assert_eq!(
        rtb(&deferrable),
        "the test is for sporadic servers and PIBS; server 1 is another"
    );
    let short = with_parts(|_, tasks, _| tasks[0] = again(&own(true, 19, [4, 8])));
    assert_eq!(
        rtb(&short),
        "the period of task 0 is shorter than that of server 1, in which the budget comes back"
    );
    let more = with_parts(|_, tasks, _| tasks[0] = again(&own(true, 20, [4, 9])));
    assert_eq!(
        rtb(&more),
        "a job of task 0 may need more than the capacity of server 1 in mode 1"
    );
    let low = with_parts(|servers, _, _| {
        servers[0].configuration.criticality = Level(0);
        servers[0].configuration.kind = sporadic(20, [8, 8]);
    });
    assert_eq!(
        rtb(&low),
        "the test is for tasks in servers of their own criticality; task 0 is in another"
    );
    let shared =
        "the test is for servers with one task and no bottom halves beside it; server 1 has more";
    let two = with_parts(|servers, tasks, _| {
        tasks.push(task);
        let mut member = servers[0].tasks[0];
        member.task = TaskId(1);
        servers[0].tasks.push(member);
    });
    assert_eq!(rtb(&two), shared);
    assert_eq!(
        rtb(&with_parts(|_, _, devices| devices.push(device(0)))),
        shared
    );
    let inside = with_parts(|servers, _, _| {
        let mut member = servers[0].tasks.remove(0);
        member.on_behalf_of = Some(ServerId(0));
        servers[1].tasks.push(member);
    });
    assert_eq!(
        rtb(&inside),
        "the test is for tasks in servers with a period; task 0 is in a PIBS"
    );
    let alone = with_parts(|_, tasks, _| tasks.push(task));
    assert_eq!(
        rtb(&alone),
        "the test is for tasks in servers; task 1 is in none"
    );
}

/// Its server is as it was, and nothing is said of when it is done.
#[test]
fn a_task_that_blocks_is_not_bounded() {
    let problem = with_parts(|_, _, devices| devices.push(device(1)));
    let free = test("io-amc-rtb").analyse(&problem);
    assert_eq!(free.tasks[0].responses.len(), 2);
    let wait = Wait {
        after: ns(2),
        device: DeviceId(0),
        events: 1,
    };
    let waits = problem.with_waits(vec![vec![wait]]).unwrap();
    let blocks = test("io-amc-rtb").analyse(&waits);
    assert_eq!(blocks.verdict, Verdict::Schedulable);
    assert_eq!(blocks.servers, free.servers);
    assert!(blocks.tasks[0].responses.is_empty());
}
