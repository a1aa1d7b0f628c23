//! Missimer, Missimer and West (2016), Figures 5 and 6: a task that waits for I/O, its bottom halves in
//! a sporadic server or in a PIBS.

use vestal_core::*;
use vestal_testkit::hierarchies::*;
use vestal_testkit::short::ns;
use vestal_testkit::world::drawn;

/// Task 0 executes 8, waits until four bottom halves (task 1) are done, and goes on with 8 more. Its
/// server is number 0 with C = 8, T = 16; interrupts arrive at 9, 11, 13 and 15.
fn run(
    bottom_half_server: ServerKind,
    ticks: u64,
    mut watch: impl FnMut(&mut World<'_>),
) -> World<'static> {
    let servers = [server(sporadic(8, 16, 3), 2), server(bottom_half_server, 1)];
    let mut bottom_half = task(1, 1, 16);
    bottom_half.on_behalf_of = Some(ServerId(0));
    let tasks = [task(0, 1, 16), bottom_half];
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(1),
    }];
    let programs = vec![vec![8, 8], vec![1]];
    let mut world = world(&configuration(&servers, &tasks, &devices), programs);
    while world.now < ticks {
        let mut arrivals = Vec::new();
        match world.now {
            0 => arrivals.push(world.release(0)),
            9 | 11 | 13 | 15 => arrivals.push(Fact::Interrupt {
                device: DeviceId(0),
                count: 1,
            }),
            _ => {}
        }
        if world.completes_now(1) && world.completed[1] == 4 {
            arrivals.push(Fact::Woken {
                task: TaskId(0),
                on_behalf_of: None,
            });
        }
        world.step(&arrivals);
        watch(&mut world);
    }
    world
}

#[test]
fn figure_5_a_sporadic_server_runs_out_of_places_and_postpones_the_last_bottom_half() {
    let mut lists = Vec::new();
    let world = run(sporadic(4, 16, 3), 34, |world| {
        // The list as it stands after the decision of this tick.
        lists.push(list(world, 1));
    });
    let expected = [
        ('0', 0, 8),
        ('1', 9, 10),
        ('1', 11, 12),
        ('1', 13, 14),
        ('1', 25, 26),
        ('0', 26, 34),
    ];
    assert_eq!(world.rows[0], drawn(&expected, 34));
    assert_eq!(lists[8], [(0, 4)]);
    assert_eq!(lists[10], [(9, 3), (25, 1)]);
    assert_eq!(lists[12], [(11, 2), (25, 1), (27, 1)]);
    assert_eq!(lists[14], [(25, 2), (27, 1), (29, 1)]);
    assert_eq!(lists[26], [(27, 2), (29, 1), (41, 1)]);
    // Of the 8 units that task 0 owes until its deadline at 32 it gets 6.
    assert_eq!(world.rows[0][16..32].matches('0').count(), 6);
}

/// Also behind a reference and in a box.
#[test]
fn figure_5_the_longest_list_of_a_server_is_remembered() {
    let mut world = run(sporadic(4, 16, 3), 34, |_| {});
    assert_eq!(list(&world, 0).len(), 1);
    let longest = |engine: &dyn Scheduler| [0, 1, 2].map(|id| engine.longest_list(ServerId(id)));
    let expected = [Some(1), Some(3), None];
    assert_eq!(longest(&world.engine), expected);
    assert_eq!(longest(&&mut world.engine), expected);
    assert_eq!(longest(&Box::new(world.engine)), expected);
    let world = run(pibs(1, 4), 34, |_| {});
    assert_eq!(longest(&world.engine), [Some(1), None, None]);
}

#[test]
fn figure_5_the_first_burst_of_task_0_comes_back_at_16() {
    let world = run(sporadic(4, 16, 3), 9, |_| {});
    assert_eq!(list(&world, 0), [(16, 8)]);
}

#[test]
fn figure_5_the_postponed_budget_is_noticed() {
    let mut world = run(sporadic(4, 16, 3), 20, |_| {});
    let postponed: Vec<_> = world
        .events()
        .into_iter()
        .filter(|(_, event)| matches!(event, Event::Postponed { .. }))
        .collect();
    let event = Event::Postponed {
        server: ServerId(1),
        amount: ns(1),
    };
    assert_eq!(postponed, [(14, event)]);
}

#[test]
fn figure_6_a_pibs_gathers_two_interrupts_and_task_0_resumes_at_16() {
    let mut eligible = Vec::new();
    let world = run(pibs(1, 4), 24, |world| {
        let server::Server::Pibs(pibs) = world.engine.server(ServerId(1)).unwrap() else {
            unreachable!("server 1 is a PIBS")
        };
        eligible.push(pibs.eligible().as_nanos());
    });
    let expected = [('0', 0, 8), ('1', 9, 10), ('1', 13, 16), ('0', 16, 24)];
    assert_eq!(world.rows[0], drawn(&expected, 24));
    assert_eq!(eligible[10], 13, "1 unit from 9 on");
    assert_eq!(eligible[16], 25, "3 of 4 units from 13 on");
}
