//! `hsf:davis-burns` against its slow twin, against `hsf`, and against runs of the core's engine of servers; what is wrong with it is found by such runs.

use crate::hsf::{KINDS, Replenished, by_deadline, kind, longest_responses, problem};
use crate::hsf::{random_problem, server, task};
use vestal_analysis::schedulability::hsf::oracle::{self, Mistake};
use vestal_analysis::{Problem, Test, Verdict, find};
use vestal_core::{Duration, Level, LocalOrder};
use vestal_testkit::Random;
use vestal_testkit::hierarchies as core_world;
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

/// That deferrable servers have no jitter is refuted below, by runs that are made for it.
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

/// A deferrable server above an idling one, with one task each; the urgent one needs two budgets.
fn below_a_deferrable_server(
    (upper_period, upper): (u64, u64),
    (lower_period, lower): (u64, u64),
    (work, deadline): (u64, u64),
) -> Problem {
    let order = LocalOrder::FixedPriority;
    let tasks = vec![
        task(0, 1000, 1000, &[2 * upper]),
        task(0, 1000, deadline, &[work]),
    ];
    let servers = vec![
        server(
            kind(Replenished::Deferrable, upper_period, upper),
            2,
            order,
            &[(0, 0)],
        ),
        server(
            kind(Replenished::Idling, lower_period, lower),
            1,
            order,
            &[(1, 0)],
        ),
    ];
    problem(1, tasks, servers)
}

/// The response of the less urgent task, whose job comes when its server has idled its budget away, where the urgent server executes twice in a row as that budget
/// comes back: with what it has left in one period, and with all of the next.
fn response_behind_two_budgets(problem: &Problem) -> u64 {
    let number = |kind: &vestal_core::ServerKind| {
        let capacity = kind.capacity().unwrap().at(Level(0)).as_nanos();
        (kind.replenishment_period().unwrap().as_nanos(), capacity)
    };
    let servers: Vec<_> = problem
        .servers()
        .iter()
        .map(|server| server.configuration)
        .collect();
    let [(upper_period, upper), (lower_period, lower)] = [0, 1].map(|it| number(&servers[it].kind));
    // How long after the budget of the lower one that of the upper one comes back: best after as long as that can execute.
    let after = |at: u64| (upper_period - at % upper_period) % upper_period;
    let instants = (1..=upper_period).map(|period| period * lower_period);
    let (_, back) = instants
        .filter(|&at| after(at) <= upper)
        .map(|at| (after(at), at))
        .max_by_key(|&(after, at)| (after, std::cmp::Reverse(at)))
        .unwrap();
    let comes = back - lower_period + lower;
    let others = (back + after(back) - upper).max(comes);
    let work = |task: usize| vec![problem.tasks()[task].wcet.at(Level(0)).as_nanos()];
    let served = [0, 1].map(|server| core_world::task(server, 0, 1000));
    let configuration = core_world::configuration(&servers, &served, &[]);
    let mut world = core_world::world(&configuration, vec![work(0), work(1)]);
    loop {
        if world.now > comes && world.completes_now(1) {
            return world.now - comes;
        }
        let mut facts = Vec::new();
        if world.now == comes {
            facts.push(world.release(1));
        }
        if world.now == others {
            facts.push(world.release(0));
        }
        world.step(&facts);
        assert!(world.now < comes + 1000, "it never ends");
    }
}

/// A server of 5 in 20 below a deferrable one of 4 in 12. A job of 3 comes at 5, when the budget has been idled away; the budget comes back at 20, and the other
/// executes in [20, 24) and [24, 28): (20 - 5) + 2 * 4 + 3 = 26. Who forgets the jitter of 12 - 4 says 22.
#[test]
fn the_last_budget_waits_for_two_of_a_deferrable_server_by_hand() {
    let set = below_a_deferrable_server((12, 4), (20, 5), (3, 100));
    let found = full().analyse(&set).tasks[1].responses.clone();
    assert_eq!(found, [Some(span(26))]);
    let member = &set.servers()[1].tasks[0];
    let twin = |mistake| oracle::full_response(&set, (1, member), Level(0), mistake);
    assert_eq!(twin(None), Some(26));
    assert_eq!(twin(Some(Mistake::NoJitter)), Some(22));
    assert_eq!(response_behind_two_budgets(&set), 26);
}

/// Deadlines near the bound: what is accepted keeps them where the deferrable server executes twice in a row, and who forgets its jitter accepts what does not.
#[test]
fn deferrable_servers_have_their_jitter_in_the_full_form() {
    let (mut compared, mut accepted, mut reached) = (0, 0, 0);
    let (mut late, mut refuted) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let upper_period = 6 + random.below(10);
        let upper = (upper_period, 1 + random.below(upper_period / 2));
        let lower_period = 12 + random.below(20);
        let lower = (lower_period, 1 + random.below(lower_period / 3));
        let work = 1 + random.below(lower.1);
        let deadline = lower_period - lower.1 + work + upper.1 + random.below(2 * upper.1 + 1);
        let set = below_a_deferrable_server(upper, lower, (work, deadline));
        let outcome = full().analyse(&set);
        if outcome.servers[1].responses[0].is_none() {
            continue;
        }
        let member = &set.servers()[1].tasks[0];
        let twin = |mistake| oracle::full_response(&set, (1, member), Level(0), mistake);
        let bound = twin(None);
        let found = outcome.tasks[1].responses[0].map(Duration::as_nanos);
        assert_eq!(found, bound, "{seed}: {set:#?}");
        let response = response_behind_two_budgets(&set);
        compared += 1;
        accepted += u32::from(bound.is_some());
        assert!(
            bound.is_none_or(|bound| response <= bound),
            "{seed}: {response}, {bound:?}"
        );
        reached += u32::from(bound == Some(response));
        late += u32::from(bound.is_none() && response > deadline);
        let forgot = twin(Some(Mistake::NoJitter));
        refuted += u32::from(forgot.is_some_and(|forgot| response > forgot));
    }
    println!(
        "{compared} compared, {accepted} accepted, {reached} reach their bound; {late} of the others are late, {refuted} refute no jitter"
    );
    assert!(compared > 500, "{compared}");
    let share = accepted * 100 / compared;
    assert!((5..=95).contains(&share), "{share} % are accepted");
    assert!(reached > 50 && late > 50 && refuted > 50);
}

/// A job of 6 s beside jobs of 5 us every 10 us, in a server that has all of the time: its response of 12 s has more arrivals in it than a search makes steps.
#[test]
fn a_response_over_many_arrivals_is_found_in_a_few_steps() {
    let order = LocalOrder::FixedPriority;
    let (us, s) = (1_000, 1_000_000_000);
    let tasks = vec![
        task(0, 10 * us, 10 * us, &[5 * us]),
        task(0, 20 * s, 20 * s, &[6 * s]),
    ];
    let whole = kind(Replenished::Idling, 10 * us, 10 * us);
    let set = problem(1, tasks, vec![server(whole, 1, order, &[(0, 1), (1, 0)])]);
    let plain = find("hsf", None).unwrap().analyse(&set);
    let outcome = full().analyse(&set);
    assert_eq!(outcome.tasks[1].responses, [Some(span(12 * s))]);
    assert_eq!(outcome.tasks[1].responses, plain.tasks[1].responses);
    assert_eq!(outcome.verdict, Verdict::Schedulable);
}
