//! Holenderski, Cools, Bril and Lukkien (2010), Figure 14: a deferrable server above an idling one.

use vestal_core::*;
use vestal_testkit::hierarchies::*;
use vestal_testkit::short::{ns, span};
use vestal_testkit::world::drawn;

/// Server 0 (deferrable, more urgent) runs task 0: period 30, 5 units, from 5 on. Server 1 (idling)
/// runs task 1: 5 units, from 0 on. Both servers have 10 units every 25. An `b` is server 1 idling.
fn run(period_of_task_1: u64, ticks: u64) -> World<'static> {
    let capacity = ByLevel::constant(ns(10));
    let period = span(25);
    let servers = [
        server(ServerKind::Deferrable { period, capacity }, 2),
        server(ServerKind::IdlingPeriodic { period, capacity }, 1),
    ];
    let tasks = [task(0, 1, 30), task(1, 1, period_of_task_1)];
    let programs = vec![vec![5], vec![5]];
    let mut world = world(&configuration(&servers, &tasks, &[]), programs);
    while world.now < ticks {
        let mut arrivals = Vec::new();
        if world.now % 30 == 5 {
            arrivals.push(world.release(0));
        }
        if world.now.is_multiple_of(period_of_task_1) {
            arrivals.push(world.release(1));
        }
        world.step(&arrivals);
    }
    world
}

#[test]
fn figure_14_with_period_30() {
    let expected = [
        ('1', 0, 5),
        ('0', 5, 10),
        ('b', 10, 15),
        ('b', 25, 30),
        ('1', 30, 35),
        ('0', 35, 40),
        ('b', 50, 60),
        ('0', 65, 70),
        ('1', 75, 80),
        ('b', 80, 85),
        ('0', 95, 100),
        ('1', 100, 105),
        ('b', 105, 110),
    ];
    assert_eq!(run(30, 125).rows[0], drawn(&expected, 125));
}

#[test]
fn figure_14_with_period_40_the_release_at_40_is_postponed_until_50() {
    let expected = [
        ('1', 0, 5),
        ('0', 5, 10),
        ('b', 10, 15),
        ('b', 25, 35),
        ('0', 35, 40),
        ('1', 50, 55),
        ('b', 55, 60),
        ('0', 65, 70),
        ('b', 75, 80),
        ('1', 80, 85),
        ('0', 95, 100),
        ('b', 100, 110),
    ];
    assert_eq!(run(40, 120).rows[0], drawn(&expected, 120));
}

#[test]
fn figure_14_the_deferrable_server_keeps_its_budget_and_the_idling_one_does_not() {
    let servers = [ServerId(0), ServerId(1)];
    let world = run(30, 15);
    let left = servers.map(|server| world.engine.remaining(server));
    assert_eq!(left, [Some(ns(5)), Some(ns(1))], "decided at 14");
    let world = run(30, 27);
    let left = servers.map(|server| world.engine.remaining(server));
    assert_eq!(left[1], Some(ns(9)), "replenished at 25, idling since");
}
