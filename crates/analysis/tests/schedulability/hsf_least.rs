//! `hsf:least-budgets`: what it chooses is enough, and a unit less of any is not.

use crate::hsf::{KINDS, Replenished, kind, problem, random_problem, server, task};
use vestal_analysis::parameters::ServerBudget;
use vestal_analysis::{Problem, Server, Test, Verdict, find};
use vestal_core::{ByLevel, LocalOrder, ServerKind};
use vestal_testkit::Random;
use vestal_testkit::short::ns;

fn least() -> &'static Test {
    find("hsf", Some("least-budgets")).unwrap()
}

/// What it chose, in ns.
fn chosen(problem: &Problem) -> (Verdict, Vec<u64>) {
    let outcome = least().analyse(problem);
    let servers = outcome.parameters.servers.unwrap();
    let capacities = servers.iter().map(|server| match &server.budget {
        ServerBudget::Capacity { by_level, .. } => by_level[0].as_nanos(),
        ServerBudget::Utilization { .. } => panic!("no PIBS was drawn"),
    });
    (outcome.verdict, capacities.collect())
}

/// The same problem with these capacities.
fn with(problem: &Problem, capacities: &[u64]) -> Problem {
    let mut servers: Vec<Server> = problem.servers().to_vec();
    for (server, &own) in servers.iter_mut().zip(capacities) {
        let (ServerKind::Polling { capacity, .. }
        | ServerKind::IdlingPeriodic { capacity, .. }
        | ServerKind::Deferrable { capacity, .. }) = &mut server.configuration.kind
        else {
            panic!("another kind");
        };
        *capacity = ByLevel::constant(ns(own));
    }
    let bare = Problem::new(problem.tasks().to_vec(), problem.levels()).unwrap();
    bare.with_servers(servers, Vec::new()).unwrap()
}

#[test]
fn what_is_chosen_is_enough_and_a_unit_less_is_not() {
    let plain = find("hsf", None).unwrap();
    let (mut accepted, mut refused, mut less, mut saved) = (0, 0, 0, 0);
    for seed in 0..600 {
        let drawn = random_problem(&mut Random::new(seed), &KINDS, 1);
        let (verdict, capacities) = chosen(&drawn);
        let enough = with(&drawn, &capacities);
        assert_eq!(plain.analyse(&enough).verdict, verdict, "{seed}");
        if verdict != Verdict::Schedulable {
            refused += 1;
            // Deferrable servers apart, whose jitter grows as their capacity falls, no given capacities do better.
            let defers = |server: &Server| {
                let kind = &server.configuration.kind;
                matches!(kind, ServerKind::Deferrable { .. })
            };
            if !drawn.servers().iter().any(defers) {
                assert_eq!(plain.analyse(&drawn).verdict, Verdict::NotProven, "{seed}");
            }
            continue;
        }
        accepted += 1;
        saved += u32::from(plain.analyse(&drawn).verdict == Verdict::NotProven);
        for (index, server) in drawn.servers().iter().enumerate() {
            let mut fewer = capacities.clone();
            fewer[index] -= 1;
            if server.tasks.is_empty() || fewer[index] == 0 {
                continue;
            }
            let found = plain.analyse(&with(&drawn, &fewer));
            assert_eq!(found.verdict, Verdict::NotProven, "{seed}, server {index}");
            less += 1;
        }
    }
    println!(
        "{accepted} accepted, {saved} of them not as given, {refused} refused, {less} a unit less"
    );
    assert!(accepted > 30 && refused > 30 && less > 30 && saved > 5);
}

/// A job of 3 in a server with period 10 is supplied after 2 (10 - Theta) + (ceil(3 / Theta) - 1) (10 - Theta) + 3: 17 with 3, and 27 with 2. A polling
/// server is silent for Theta more: 20 with 3, and 19 with 4.
#[test]
fn by_hand() {
    for (replenished, deadline, capacity) in [
        (Replenished::Idling, 20, 3),
        (Replenished::Idling, 27, 2),
        (Replenished::Idling, 26, 3),
        (Replenished::Polling, 20, 3),
        (Replenished::Polling, 19, 4),
    ] {
        let given = kind(replenished, 10, 9);
        let set = problem(
            1,
            vec![task(0, 40, deadline, &[3])],
            vec![server(given, 1, LocalOrder::FixedPriority, &[(0, 0)])],
        );
        let (verdict, found) = chosen(&set);
        let what = format!("{replenished:?}, {deadline}");
        assert_eq!(
            (verdict, found),
            (Verdict::Schedulable, vec![capacity]),
            "{what}"
        );
    }
}
