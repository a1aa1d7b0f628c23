//! Modes that rise by themselves: what jobs and budgets bring along to the return, and what a PIBS that raises gains.

use super::changes::*;
use super::*;
use std::string::String;

/// A task of a server, with its execution times.
pub(super) fn judged(server: u16, criticality: u8, period: u64, wcet: &[u64]) -> ServedTask {
    ServedTask {
        task: kit::short::task(criticality, period, wcet),
        ..task(server, 1, period)
    }
}

/// j with T = 10, C = 4 (LO) and 2 in mode 1, under h with C = 1 or 6 (HI), above i with C = 5 (LO). h executes in
/// [4, 10) and raises the mode at 5, when work comes for j; at its end the mode returns, and a job of i arrives.
fn response_after_a_degraded_backlog() -> usize {
    let servers = [
        high(by_mode(1, 6, 40), 3),
        server(by_mode(4, 2, 10), 2),
        server(by_mode(5, 0, 40), 1),
    ];
    let tasks = [
        judged(0, 1, 40, &[1, 6]),
        judged(1, 0, 10, &[4]),
        judged(2, 0, 40, &[5]),
    ];
    let configuration = configuration(&servers, &tasks, &[]);
    let mut world = world(
        &adaptive(&configuration, false),
        vec![vec![6], vec![30], vec![5]],
    );
    run(&mut world, 30, |world| match world.now {
        4 => vec![world.release(0)],
        5 => vec![world.release(1)],
        10 => vec![world.release(2)],
        _ => Vec::new(),
    });
    assert_eq!(world.rows[0][..10], *"....000000");
    end_of(&world.rows[0], '2', 30) - 10
}

#[test]
fn what_a_degraded_server_has_at_hand_counts_from_the_return() {
    // Equation 10: 5 + 4 + 1 is its least fixed point.
    assert_eq!(response_after_a_degraded_backlog(), 9);
    assert_eq!(without(Rule::Uses, response_after_a_degraded_backlog), 13);
}

/// t1 with T = 3, C = 1 or 2 (HI); t2 with T = 3, C = 1 (LO). The first job of t1 raises the mode until 2, when the
/// first of t2 has not begun. When the second of t2, released at 3, is complete.
fn end_after_a_backlog() -> usize {
    let servers = [high(by_mode(1, 2, 3), 2), server(by_mode(1, 0, 3), 1)];
    let tasks = [judged(0, 1, 3, &[1, 2]), judged(1, 0, 3, &[1])];
    let configuration = configuration(&servers, &tasks, &[]);
    let mut world = world(&adaptive(&configuration, false), vec![vec![2], vec![1]]);
    let mut end = 0;
    run(&mut world, 9, |world| {
        if world.completes_now(1) && end <= 3 {
            end = world.now as usize;
        }
        world.set_program(0, vec![if world.now < 3 { 2 } else { 1 }]);
        match world.now {
            0 | 3 => vec![world.release(0), world.release(1)],
            _ => Vec::new(),
        }
    });
    end
}

#[test]
fn low_jobs_that_waited_for_the_return_would_make_later_ones_late() {
    // Equation 10: 1 + 1 after the release at 3.
    assert_eq!(end_after_a_backlog(), 5);
    assert_eq!(without(Rule::Drops, end_after_a_backlog), 6);
}

/// The job of h, T = 16 (HI), waits for events of a HI PIBS with U = 1/4, or 1/2 in mode 1. More come at 1 than the
/// first burst can handle.
fn bursts_of(pibs_raise: bool) -> String {
    let servers = [high(by_mode(2, 8, 16), 1), high(shares((1, 4), (1, 2)), 0)];
    let tasks = [judged(0, 1, 16, &[2, 8]), bottom_half(1, 0)];
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(1),
    }];
    let configuration = configuration(&servers, &tasks, &devices);
    let mut world = world(
        &adaptive(&configuration, pibs_raise),
        vec![vec![1, 1], vec![1]],
    );
    run(&mut world, 20, |world| match world.now {
        0 => vec![world.release(0)],
        1 => vec![interrupts(30)],
        _ => Vec::new(),
    });
    world.rows.remove(0)
}

#[test]
fn a_pibs_that_raises_the_mode_goes_on_as_if_its_burst_had_had_the_larger_share() {
    // The burst of 4 from 1 on counts for 8 with U = 1/2, for 16 with U = 1/4.
    assert_eq!(bursts_of(true), "01111....11111111...");
    assert_eq!(bursts_of(false), "01111............111");
    assert_eq!(
        without(Rule::Regain, || bursts_of(true)),
        "01111............111"
    );
}

/// q, T = 40, C = 1 or 3 (HI), above a PIBS with these shares, on behalf of h with T = 16, C = 1 (HI), that has more to do
/// than it can. q arrives at 2 and raises the mode at 3.
fn bursts_across_a_rise(pibs: ServerConfiguration) -> String {
    let servers = [high(by_mode(1, 3, 40), 2), high(by_mode(1, 1, 16), 1), pibs];
    let tasks = [
        judged(0, 1, 40, &[1, 3]),
        judged(1, 1, 16, &[1, 1]),
        bottom_half(2, 1),
    ];
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(2),
    }];
    let configuration = configuration(&servers, &tasks, &devices);
    let programs = vec![vec![3], vec![1, 1], vec![1]];
    let mut world = world(&adaptive(&configuration, false), programs);
    run(&mut world, 20, |world| match world.now {
        0 => vec![interrupts(30)],
        2 => vec![world.release(0)],
        // It waits for ever, and keeps the mode up.
        3 => vec![world.release(1)],
        _ => Vec::new(),
    });
    world.rows.remove(0)
}

#[test]
fn a_burst_under_way_has_the_capacity_of_the_raised_mode() {
    // 8 units for U = 1/2 and T = 16, and the next ones 16 after the start.
    let more = || bursts_across_a_rise(high(shares((1, 4), (1, 2)), 0));
    assert_eq!(more(), "220001222222....2222");
    assert_eq!(without(Rule::Resize, more), "2200012222222222....");
    // Equation 15 gives a burst (2 - 1/8) * 16 * 1/8 + 3 + 1 = 7 3/4 from its activation to its end. This one is over at
    // the rise, and the next one is of 2 units; else it would be over at 12.
    let less = || bursts_across_a_rise(server(shares((1, 2), (1, 8)), 0));
    assert_eq!(less(), "22000122............");
    assert_eq!(without(Rule::Resize, less), "220001222222....22..");
}

/// The same as before with a granularity of so much and two facts of three units each. How often the mode has risen.
fn rises_with_a_rest(granularity: u64, pibs_raise: bool) -> usize {
    let servers = [high(by_mode(2, 8, 16), 1), high(shares((1, 4), (1, 2)), 0)];
    let tasks = [judged(0, 1, 16, &[2, 8]), bottom_half(1, 0)];
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(1),
    }];
    let mut configuration = adaptive(&configuration(&servers, &tasks, &devices), pibs_raise);
    configuration.granularity = ns(granularity);
    let mut world = world(&configuration, vec![vec![1, 1], vec![3]]);
    run(&mut world, 5, |world| match world.now {
        0 => vec![world.release(0)],
        1 => vec![interrupts(2)],
        _ => Vec::new(),
    });
    let rises = |(_, event): &&(u64, Event)| matches!(event, Event::ModeChanged { .. });
    world.events().iter().filter(rises).count()
}

/// C2: the burst of 4 has 1 left at 4, which a world of granularity 2 cannot enforce.
#[test]
fn a_pibs_whose_rest_cannot_be_enforced_raises_the_mode() {
    assert_eq!(rises_with_a_rest(2, true), 1);
    assert_eq!(rises_with_a_rest(1, true), 0);
    assert_eq!(rises_with_a_rest(2, false), 0);
}
