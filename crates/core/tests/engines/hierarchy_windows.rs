//! How much a server that is not preempted executes in any window of one period.

use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::hierarchies::*;
use vestal_testkit::short::{CPU, at, ns, span};
use vestal_testkit::world::drawn;

const TICKS: u64 = 300;

/// The most that any server executed in `period` consecutive ticks.
fn most_in_a_window(trace: &str, period: usize) -> usize {
    let ran: Vec<bool> = trace.chars().map(|who| who.is_ascii_digit()).collect();
    let busy = |window: &[bool]| window.iter().filter(|&&ran| ran).count();
    ran.windows(period).map(busy).max().unwrap()
}

/// Server 0 runs one task; jobs of random length, from one unit to twice the capacity, arrive at
/// random. If it is a PIBS it runs on behalf of server 1, which has no work of its own.
fn run(kind: ServerKind, capacity: u64, period: u64, random: &mut Random) -> String {
    let servers = [server(kind, 1), server(sporadic(1, period, 2), 0)];
    let mut only = task(0, 1, period);
    only.on_behalf_of = Some(ServerId(1));
    let tasks = [only];
    let mut world = world(&configuration(&servers, &tasks, &[]), vec![vec![1]]);
    while world.now < TICKS {
        let mut arrivals = Vec::new();
        if random.below(period) < 3 {
            world.set_program(0, vec![1 + random.below(2 * capacity)]);
            arrivals.push(world.release(0));
        }
        world.step(&arrivals);
    }
    world.rows.remove(0)
}

fn most_of_many(runs: u64, kind: impl Fn(u64, u64, &mut Random) -> ServerKind) -> (u64, u64) {
    let (mut reached, mut exceeded) = (0, 0);
    for seed in 0..runs {
        let mut random = Random::new(seed);
        let period = 4 + random.below(20);
        let capacity = 1 + random.below(period - 1);
        let kind = kind(capacity, period, &mut random);
        let trace = run(kind, capacity, period, &mut random);
        let most = most_in_a_window(&trace, period as usize) as u64;
        reached += u64::from(most == capacity);
        exceeded += u64::from(most > capacity);
    }
    (reached, exceeded)
}

#[test]
fn a_sporadic_server_executes_at_most_its_capacity_in_any_window_of_its_period() {
    let (reached, exceeded) = most_of_many(1500, |capacity, period, random| {
        let full = [WhenFull::MergeHead, WhenFull::MergeTail][random.below(2) as usize];
        ServerKind::Sporadic {
            period: span(period),
            capacity: ByLevel::constant(ns(capacity)),
            replenishments: 2 + random.below(4) as u16,
            full,
        }
    });
    assert_eq!(exceeded, 0);
    assert!(reached > 1000, "{reached} runs reach the bound");
}

/// The control: the same check finds the double hit of a deferrable server.
#[test]
fn a_deferrable_server_executes_more_than_its_capacity_in_some_window() {
    let (_, exceeded) = most_of_many(300, |capacity, period, _| ServerKind::Deferrable {
        period: span(period),
        capacity: ByLevel::constant(ns(capacity)),
    });
    assert!(exceeded > 200, "{exceeded} of 300 runs");
}

/// All four units of the use that began at 0 come back at 10, also the two before which it was preempted: the window from 5
/// on holds six. The period that began with the use holds four.
#[test]
fn a_preempted_sporadic_server_exceeds_its_capacity_in_a_window_that_begins_within_a_use() {
    let servers = [server(sporadic(4, 10, 4), 0), server(sporadic(3, 20, 4), 1)];
    let tasks = [task(0, 1, 20), task(1, 1, 20)];
    let mut world = world(
        &configuration(&servers, &tasks, &[]),
        vec![vec![8], vec![3]],
    );
    let low = world.release(0);
    world.step(&[low]);
    world.step(&[]);
    let high = world.release(1);
    world.step(&[high]);
    while world.now < 20 {
        world.step(&[]);
    }
    let expected = [('0', 0, 2), ('1', 2, 5), ('0', 5, 7), ('0', 10, 14)];
    assert_eq!(world.rows[0], drawn(&expected, 20));
    let executed = |from: usize, to: usize| world.rows[0][from..to].matches('0').count();
    assert_eq!(executed(5, 15), 6);
    assert_eq!(executed(0, 10), 4);
}

/// (2 - U)UT for U = n/d, which is a whole number of ticks where d * d divides n * T.
fn pibs_bound(numerator: u64, denominator: u64, period: u64) -> u64 {
    (2 * denominator - numerator) * numerator * period / (denominator * denominator)
}

/// The largest window of a PIBS over many runs.
fn largest_pibs_window(numerator: u64, denominator: u64, period: u64) -> u64 {
    let capacity = numerator * period / denominator;
    let window = |seed| {
        let mut random = Random::new(seed);
        let trace = run(pibs(numerator, denominator), capacity, period, &mut random);
        most_in_a_window(&trace, period as usize) as u64
    };
    (0..300).map(window).max().unwrap()
}

#[test]
fn a_pibs_executes_up_to_the_published_bound_in_a_window_and_never_more() {
    for (numerator, denominator, period) in
        [(1, 4, 16), (1, 2, 8), (1, 3, 18), (2, 3, 9), (3, 4, 16)]
    {
        let bound = pibs_bound(numerator, denominator, period);
        let largest = largest_pibs_window(numerator, denominator, period);
        assert_eq!(
            largest, bound,
            "U = {numerator}/{denominator}, T = {period}"
        );
    }
}

/// Missimer et al. (2016), Fig. 3: U(T - UT) first, then UT.
#[test]
fn the_worst_window_of_a_pibs_is_the_one_of_figure_3() {
    let servers = [server(pibs(1, 4), 1), server(sporadic(1, 16, 2), 0)];
    let mut only = task(0, 1, 16);
    only.on_behalf_of = Some(ServerId(1));
    let mut world = world(&configuration(&servers, &[only], &[]), vec![vec![3]]);
    let first = world.release(0);
    world.step(&[first]);
    while world.now < 8 {
        world.step(&[]);
    }
    world.set_program(0, vec![20]);
    let second = world.release(0);
    world.step(&[second]);
    while world.now < 40 {
        world.step(&[]);
    }
    let expected = [('0', 0, 3), ('0', 12, 16), ('0', 28, 32)];
    assert_eq!(world.rows[0], drawn(&expected, 40));
    assert_eq!(most_in_a_window(&world.rows[0], 16), 7);
    assert_eq!(pibs_bound(1, 4, 16), 7);
}

/// Counted from the plan, the next burst would be possible at 16 already.
#[test]
fn a_pibs_counts_from_the_confirmed_start() {
    let servers = [server(pibs(1, 4), 1), server(sporadic(1, 16, 2), 0)];
    let mut only = task(0, 1, 16);
    only.on_behalf_of = Some(ServerId(1));
    let tasks = [only];
    let mut engine = Hierarchy::new(&configuration(&servers, &tasks, &[])).unwrap();
    let job = JobId {
        task: TaskId(0),
        sequence: 0,
    };
    engine.apply(at(0), Fact::Released { job }).unwrap();
    assert_eq!(engine.decide(at(0)).unwrap().slot(CPU).unwrap().job, job);
    // A decision in between, still unconfirmed, changes nothing.
    assert_eq!(engine.decide(at(3)).unwrap().slot(CPU).unwrap().job, job);
    engine
        .apply(at(5), Fact::Started { cpu: CPU, job })
        .unwrap();
    let amount = ns(4);
    engine
        .apply(
            at(9),
            Fact::Charged {
                cpu: CPU,
                job,
                amount,
            },
        )
        .unwrap();
    let plan = engine.decide(at(9)).unwrap();
    assert_eq!(plan.slot(CPU), None);
    let why = WakeReason::Replenishment;
    assert_eq!(plan.next, Some(Wake { at: at(21), why }), "5 + 4 / (1/4)");
}
