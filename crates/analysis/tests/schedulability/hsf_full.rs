//! `hsf:davis-burns` against its slow twin, against `hsf`, and against runs of the core's engine of servers; what is wrong with it is found by such runs.

use crate::hsf::{KINDS, Replenished, by_deadline, kind, longest_responses, problem};
use crate::hsf::{random_problem, server, task};
use vestal_analysis::schedulability::hsf::oracle::{self, Mistake};
use vestal_analysis::{Problem, Test, Verdict, find};
use vestal_core::{Duration, Level, LocalOrder};
use vestal_testkit::Random;
use vestal_testkit::short::span;

fn full() -> &'static Test {
    find("hsf", Some("davis-burns")).unwrap()
}

/// For each task of a server with fixed priorities its server, its place there, and its number.
fn fixed(problem: &Problem) -> Vec<(usize, usize, usize)> {
    let servers = problem.servers().iter().enumerate();
    let servers = servers.filter(|(_, server)| !by_deadline(server));
    let tasks = servers.flat_map(|(index, server)| {
        let members = server.tasks.iter().enumerate();
        members.map(move |(place, member)| (index, place, member.task.index()))
    });
    tasks.collect()
}

/// Bounds are those of the slow twin; where a server has its capacity in time none is above that of `hsf`, and many are below.
#[test]
fn bounds_are_those_of_the_slow_twin_and_at_most_those_of_the_supply() {
    let plain = find("hsf", None).unwrap();
    let (mut bounded, mut less, mut same) = (0, 0, 0);
    for seed in 0..400 {
        let problem = random_problem(&mut Random::new(seed), &KINDS, 2);
        let (outcome, supply) = (full().analyse(&problem), plain.analyse(&problem));
        for (index, place, number) in fixed(&problem) {
            let member = &problem.servers()[index].tasks[place];
            let found = &outcome.tasks[number].responses;
            let own = problem.tasks()[number].criticality;
            let twin = |level: u8| {
                let bound = oracle::full_response(&problem, (index, member), Level(level), None);
                bound.map(Duration::from_nanos)
            };
            let expected: Vec<_> = (0..=own.0).map(twin).collect();
            assert_eq!(*found, expected, "{seed}, task {number}: {problem:#?}");
            bounded += found.iter().flatten().count();
            let in_time = outcome.servers[index].responses[0].is_some();
            for (full, supply) in found.iter().zip(&supply.tasks[number].responses) {
                let Some(supply) = supply.filter(|_| in_time) else {
                    continue;
                };
                let full = full.unwrap_or_else(|| panic!("{seed}: not bounded, {supply:?}"));
                assert!(full <= supply, "{seed}, task {number}: {full:?} {supply:?}");
                less += u32::from(full < supply);
                same += u32::from(full == supply);
            }
        }
    }
    println!("{bounded} bounds, {less} below those of the supply, {same} the same");
    assert!(bounded > 300 && less > 100 && same > 10);
}

#[derive(Debug, Default)]
struct Seen {
    accepted: u32,
    /// Accepted by the full form alone.
    alone: u32,
    compared: u32,
    exceeded: u32,
    reached: u32,
}

/// Systems in which each server has its capacity in time: runs of those in which the full form bounds a task, with or without a mistake.
fn campaign(systems: u64, kinds: &[Replenished], mistake: Option<Mistake>) -> Seen {
    let plain = find("hsf", None).unwrap();
    let mut seen = Seen::default();
    for seed in 0..systems {
        let mut random = Random::new(seed);
        let problem = random_problem(&mut random, kinds, 1);
        let outcome = full().analyse(&problem);
        let late = |server: &vestal_analysis::ServerOutcome| server.responses[0].is_none();
        let in_time = !outcome.servers.iter().any(late);
        let ends = |&(index, place, _): &(usize, usize, usize)| {
            let member = &problem.servers()[index].tasks[place];
            oracle::full_response(&problem, (index, member), Level(0), mistake)
        };
        let tasks = fixed(&problem);
        // One task that has no bound may hold up others of its server.
        if !in_time || tasks.is_empty() || tasks.iter().any(|task| ends(task).is_none()) {
            continue;
        }
        let accepted = outcome.verdict == Verdict::Schedulable;
        seen.accepted += u32::from(accepted);
        seen.alone += u32::from(accepted && plain.analyse(&problem).verdict == Verdict::NotProven);
        for _ in 0..3 {
            let longest = longest_responses(&problem, &mut random);
            for task in &tasks {
                let bound = ends(task).unwrap();
                let response = longest[task.2];
                seen.compared += 1;
                seen.exceeded += u32::from(response > bound);
                seen.reached += u32::from(response == bound);
            }
        }
    }
    seen
}

#[test]
fn no_response_exceeds_its_full_bound() {
    let seen = campaign(2000, &KINDS, None);
    println!("{seen:?}");
    assert_eq!(seen.exceeded, 0);
    assert!(seen.compared > 2000 && seen.reached > 50, "{seen:?}");
    assert!(seen.accepted > 60 && seen.alone > 10, "{seen:?}");
}

/// That deferrable servers have no jitter is refuted by hand: `a_deferrable_server_executes_twice_in_a_row`.
#[test]
fn mistakes_of_the_full_form_are_refuted_by_the_same_runs() {
    for (mistake, kinds) in [
        (Mistake::PollingLikeOthers, &KINDS[..1]),
        (Mistake::NoInnerJitter, &KINDS[..]),
    ] {
        let seen = campaign(1000, kinds, Some(mistake));
        println!("{mistake:?}: {seen:?}");
        assert!(seen.exceeded > 3, "{mistake:?}: {seen:?}");
    }
}

/// A server of 5 in 10 below one of 2 in 10, both idling. A job of 3 comes when the budget has just been used up: it waits 10 - 5, then for the 2 of the
/// other, and ends after 5 + 2 + 3 = 10; one of 6 needs the next budget, too: 5 + 10 + 2 + 1 = 18. The supply says 2 (10 - 5) + 3 = 13, and
/// 10 + 5 + 6 = 21.
#[test]
fn by_hand() {
    let idling = |capacity| kind(Replenished::Idling, 10, capacity);
    let order = LocalOrder::FixedPriority;
    for (work, full_bound, supply_bound) in [(3, 10, 13), (6, 18, 21)] {
        let tasks = vec![task(0, 100, 100, &[work])];
        let servers = vec![
            server(idling(2), 2, order, &[]),
            server(idling(5), 1, order, &[(0, 0)]),
        ];
        let set = problem(1, tasks, servers);
        let bound = |test: &Test| test.analyse(&set).tasks[0].responses.clone();
        assert_eq!(bound(full()), [Some(span(full_bound))]);
        let supply = find("hsf", None).unwrap();
        assert_eq!(bound(supply), [Some(span(supply_bound))]);
    }
}
