//! Mode changes: what becomes of lists, bursts and hosts, in examples in which one rule less exceeds a published bound.
//!
//! Equations are those of Missimer, Missimer and West (2016), with the corrections that [`crate::server::Pibs`] names.

use super::*;
use std::string::String;

/// A server of criticality 1.
pub(super) fn high(kind: ServerKind, priority: u32) -> ServerConfiguration {
    ServerConfiguration {
        criticality: Level(1),
        ..server(kind, priority)
    }
}

pub(super) fn request() -> Fact {
    let level = Level(1);
    Fact::ModeRequested { level }
}

pub(super) fn woken(task: u16, server: Option<u16>) -> Fact {
    Fact::Woken {
        task: TaskId(task),
        on_behalf_of: server.map(ServerId),
    }
}

/// Lets ticks pass until `end`; `facts` says what happens at an instant.
pub(super) fn run(
    world: &mut World<'static>,
    end: u64,
    mut facts: impl FnMut(&mut World<'static>) -> Vec<Fact>,
) {
    while world.now < end {
        let facts = facts(world);
        world.step(&facts);
    }
}

/// All of criticality 1: T = 20, C = 4 or 8, whose first job blocks from 2 to 7 and so leaves a gap in its list;
/// T = D = 23, C = 12; T = 100, C = 1 or 2, which has used up its 1 at 23, when the job of the second arrives.
fn response_after_a_gap() -> usize {
    let servers = [
        high(by_mode(4, 8, 20), 3),
        high(by_mode(12, 12, 23), 2),
        high(by_mode(1, 2, 100), 1),
    ];
    let tasks = [task(0, 1, 20), task(1, 1, 23), task(2, 1, 100)];
    let mut world = world(
        &configuration(&servers, &tasks, &[]),
        vec![vec![2, 2], vec![12], vec![2]],
    );
    run(&mut world, 60, |world| match world.now {
        0 => vec![world.release(0)],
        7 => vec![woken(0, None)],
        20 | 40 => {
            world.set_program(0, vec![8]);
            vec![world.release(0)]
        }
        22 => vec![world.release(2)],
        23 => vec![request(), world.release(1)],
        _ => Vec::new(),
    });
    assert_eq!(world.rows[0][..23], *"00.....00...........002");
    end_of(&world.rows[0], '1', 60) - 23
}

#[test]
fn more_budget_counts_from_now_on_if_the_last_use_is_over() {
    // Equation 14: 12 + 8 is its least fixed point.
    assert_eq!(response_after_a_gap(), 20);
    assert_eq!(without(Rule::Grow, response_after_a_gap), 24);
}

pub(super) fn shares(low: (u64, u64), high: (u64, u64)) -> ServerKind {
    let [low, high] = [low, high].map(|(n, d)| Utilization::new(n, d).unwrap());
    ServerKind::Pibs {
        utilization: ByLevel::new(&[low, high]).unwrap(),
    }
}

pub(super) fn interrupts(count: u32) -> Fact {
    let device = DeviceId(0);
    Fact::Interrupt { device, count }
}

/// A bottom half of one unit in server `pibs`, on behalf of server `host`.
pub(super) fn bottom_half(pibs: u16, host: u16) -> ServedTask {
    ServedTask {
        on_behalf_of: Some(ServerId(host)),
        ..task(pibs, 1, 100)
    }
}

/// A PIBS that is dropped in mode 1, U = 1/2 before, on behalf of q with T = 16, C = 1 (LO), under h with T = 16,
/// C = 1 or 8 (HI); below them i with T = D = 17, C = 2 (LO). The mode rises at 2, within the first burst, and the job
/// of h that did it ends at 9, when i arrives.
fn response_after_a_cut_burst() -> usize {
    let servers = [
        high(by_mode(1, 8, 16), 3),
        server(shares((1, 2), (0, 1)), 0),
        server(by_mode(1, 0, 16), 2),
        server(by_mode(2, 0, 17), 1),
    ];
    let tasks = [
        task(0, 1, 16),
        bottom_half(1, 2),
        task(2, 1, 16),
        task(3, 1, 17),
    ];
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(1),
    }];
    let programs = vec![vec![8], vec![1], vec![1], vec![2]];
    let mut world = world(&configuration(&servers, &tasks, &devices), programs);
    run(&mut world, 40, |world| match world.now {
        0 => vec![interrupts(20)],
        1 => vec![world.release(0)],
        2 => vec![request()],
        9 => vec![world.release(2), world.release(3)],
        17 => {
            world.set_program(0, vec![1]);
            vec![world.release(0)]
        }
        _ => Vec::new(),
    });
    assert_eq!(world.rows[0][..9], *"100000000");
    end_of(&world.rows[0], '3', 40) - 9
}

#[test]
fn a_burst_of_a_pibs_that_is_dropped_ends_with_the_rise() {
    // Equation 10: 2 + 1 + 1 + (1 + 1 - 1/2) * 16 * 1/2, the PIBS' server known.
    assert_eq!(response_after_a_cut_burst(), 12);
    assert_eq!(
        without(Rule::Bursts, response_after_a_cut_burst),
        19,
        "more than 16"
    );
}

/// A PIBS (HI) with U = 1/8 and in mode 1 1/2, on behalf of h with T = 16, C = 1 (HI); below them i with C = 3. It has
/// handled its only event of mode 1 when more arrive, and jobs of h and i.
fn response_to_a_burst_of_another_mode() -> usize {
    let servers = [
        high(sporadic(2, 50, 4), 4),
        high(sporadic(1, 16, 4), 3),
        high(shares((1, 8), (1, 2)), 0),
        high(sporadic(3, 30, 4), 1),
    ];
    let tasks = [
        task(0, 1, 50),
        task(1, 1, 16),
        bottom_half(2, 1),
        task(3, 1, 30),
    ];
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(2),
    }];
    let programs = vec![vec![2], vec![1], vec![1], vec![3]];
    let mut world = world(&configuration(&servers, &tasks, &devices), programs);
    run(&mut world, 30, |world| match world.now {
        0 => vec![world.release(0)],
        1 => vec![request(), interrupts(1)],
        3 => vec![interrupts(20), world.release(1), world.release(3)],
        _ => Vec::new(),
    });
    assert_eq!(world.rows[0][..3], *"002");
    end_of(&world.rows[0], '3', 30) - 3
}

#[test]
fn a_burst_of_a_raised_mode_ends_with_the_return() {
    // Equation 10: 3 + 1 + (1 + 1 - 1/8) * 16 * 1/8 = 7 3/4.
    assert_eq!(response_to_a_burst_of_another_mode(), 6);
    assert_eq!(
        without(Rule::Bursts, response_to_a_burst_of_another_mode),
        11
    );
}

/// The job of h, T = 16, C = 2 or 4 (HI), waits for three events of a LO PIBS with U = 1/4 when the mode rises. They
/// have come on behalf of the more urgent server q, T = 8, C = 1 (LO), as well. The drawing of 10 ticks, and the mode
/// after them.
fn served_after_a_rise() -> (String, Level) {
    let servers = [
        server(by_mode(1, 0, 8), 3),
        high(by_mode(2, 4, 16), 2),
        server(shares((1, 4), (1, 4)), 0),
    ];
    let tasks = [task(0, 1, 8), task(1, 1, 16), bottom_half(2, 0)];
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(2),
    }];
    let programs = vec![vec![1], vec![1, 1], vec![1]];
    let mut world = world(&configuration(&servers, &tasks, &devices), programs);
    run(&mut world, 10, |world| match world.now {
        0 => vec![world.release(1)],
        1 => vec![
            request(),
            interrupts(3),
            woken(2, Some(0)),
            woken(2, Some(1)),
        ],
        _ if world.completes_now(2) && world.completed[2] == 3 => vec![woken(1, None)],
        _ => Vec::new(),
    });
    (world.rows.remove(0), world.engine.mode())
}

#[test]
fn a_pibs_serves_the_host_that_the_mode_leaves_though_a_more_urgent_one_waited_too() {
    let (row, mode) = served_after_a_rise();
    assert_eq!((&row[..], mode), ("12221.....", Level(0)));
    let (row, mode) = without(Rule::Hosts, served_after_a_rise);
    assert_eq!(
        (&row[..], mode),
        ("1.........", Level(1)),
        "it waits for ever"
    );
}

/// The job of h begins to wait when its device has events already, which came on behalf of q alone.
#[test]
fn who_begins_to_wait_for_events_that_have_come_is_served_with_them() {
    let servers = [
        server(by_mode(1, 0, 8), 3),
        high(by_mode(2, 4, 16), 2),
        server(shares((1, 4), (1, 4)), 0),
    ];
    let tasks = [task(0, 1, 8), task(1, 1, 16), bottom_half(2, 0)];
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(2),
    }];
    let programs = vec![vec![1], vec![1, 1], vec![1]];
    let row_if = |joins: bool| {
        let mut world = world(&configuration(&servers, &tasks, &devices), programs.clone());
        run(&mut world, 8, |world| match world.now {
            0 => vec![interrupts(5), world.release(1)],
            1 => vec![request()],
            2 if joins => vec![woken(2, Some(1))],
            _ => Vec::new(),
        });
        world.rows.remove(0)
    };
    assert_eq!(row_if(true), "21..2222");
    assert_eq!(row_if(false), "21......");
}

/// h, T = 20, C = 4 or 8 (HI) is the only server. Its job of 0 raises the mode at 4 and is done at 5; the next one wants
/// more, and at 9 the mode is asked for. What it executes in its first period.
fn executed_with_two_rises() -> usize {
    let servers = [high(by_mode(4, 8, 20), 1)];
    let tasks = [returns::judged(0, 1, 20, &[4, 8])];
    let configuration = configuration(&servers, &tasks, &[]);
    let mut world = world(&adaptive(&configuration, false), vec![vec![5]]);
    run(&mut world, 20, |world| match world.now {
        0 => vec![world.release(0)],
        5 => {
            world.set_program(0, vec![20]);
            vec![world.release(0)]
        }
        9 => vec![request()],
        _ => Vec::new(),
    });
    world.rows[0].matches('0').count()
}

#[test]
fn a_server_that_is_never_preempted_executes_its_larger_capacity_in_a_period_whatever_changes() {
    assert_eq!(executed_with_two_rises(), 8);
    assert_eq!(without(Rule::Memory, executed_with_two_rises), 12);
}

/// q, T = 10, C = 4 (LO) has a job that waits for its budget when a mode is requested in which it would have none. The
/// jobs that are dropped.
fn dropped_after_a_request_for_nothing() -> usize {
    let servers = [server(by_mode(4, 0, 10), 1), high(by_mode(2, 4, 10), 2)];
    let tasks = [
        returns::judged(0, 0, 10, &[4]),
        returns::judged(1, 1, 10, &[2, 4]),
    ];
    let configuration = configuration(&servers, &tasks, &[]);
    let mut world = world(&adaptive(&configuration, false), vec![vec![6], vec![1]]);
    run(&mut world, 8, |world| match world.now {
        0 => vec![world.release(0)],
        5 => vec![request()],
        _ => Vec::new(),
    });
    let events = world.events();
    let drops = events
        .iter()
        .filter(|(_, event)| matches!(event, Event::Dropped { .. }));
    drops.count()
}

#[test]
fn a_request_when_nothing_is_pending_that_it_is_about_drops_no_job() {
    assert_eq!(dropped_after_a_request_for_nothing(), 0);
    assert_eq!(
        without(Rule::Requests, dropped_after_a_request_for_nothing),
        1
    );
}
