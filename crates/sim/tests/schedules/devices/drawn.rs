//! Drawn by eye: figures of Missimer et al., waits at both ends of a job, and who is counted for.

use super::*;

/// Missimer, Missimer and West (2016), Figures 5 and 6: task 0 executes 8, waits for four events of a device, which
/// arrive at 9, 11, 13 and 15, and goes on with 8 more. Its server has 8 units every 16; the bottom half, task 1,
/// executes 1 in the server of `kind`.
fn missimer(kind: ServerKind) -> Case {
    let inherits = kind.period().is_none();
    let servers = vec![server(sporadic(8, 16, 3), 2), server(kind, 1)];
    let mut bottom_half = task(1, 1, 16);
    bottom_half.on_behalf_of = Some(ServerId(0));
    let wait = Wait {
        after: ns(8),
        device: DeviceId(0),
        events: 4,
    };
    Case {
        servers,
        tasks: vec![task(0, 1, 16), bottom_half],
        releases: vec![vec![0], Vec::new()],
        demand: vec![16, 1],
        outside: Outside {
            devices: vec![Device {
                bottom_half: TaskId(1),
                cost: ns(1),
                requested: false,
                inherits,
            }],
            waits: vec![vec![wait]],
            hosts: vec![Some(ServerId(0)), None],
        },
        listed: Listed {
            events: vec![vec![(9, 1), (11, 1), (13, 1), (15, 1)]],
            modes: Vec::new(),
        },
        modes: Modes::Requested,
        end: 34,
    }
}

fn row(case: &Case) -> String {
    String::from_utf8(simulated(case).row).unwrap()
}

/// The sporadic server has 4 units every 16 and places for three replenishments. The one unit of 9 comes back at 25,
/// that of 11 at 27, and for that of 13 there is no place: the two units at hand join those of 25. So the event of
/// 15 is served at 25, and task 0 goes on at 26.
#[test]
fn figure_5_of_missimer_a_sporadic_server_postpones_the_last_bottom_half() {
    let case = missimer(sporadic(4, 16, 3));
    let expected = [
        ('0', 0, 8),
        ('1', 9, 10),
        ('1', 11, 12),
        ('1', 13, 14),
        ('1', 25, 26),
        ('0', 26, 34),
    ];
    assert_eq!(row(&case), drawn(&expected, 34));
    let postponed = (14, "postponed 1 1".to_owned());
    assert!(simulated(&case).events.contains(&postponed));
}

/// A PIBS of 1/4 has 4 units of the 16 of server 0. The burst of 1 unit at 9 makes the next one possible at 9 + 4 = 13;
/// that serves the events of 11 and 13, and that of 15 just when it would have run out of work. Task 0 goes on at 16.
#[test]
fn figure_6_of_missimer_a_pibs_gathers_events_and_the_task_goes_on_in_time() {
    let expected = [('0', 0, 8), ('1', 9, 10), ('1', 13, 16), ('0', 16, 24)];
    assert_eq!(row(&missimer(pibs(1, 4))), drawn(&expected, 34));
}

/// Asked for, all four events arrive at 8. The PIBS has 4 units for server 0, and serves them at once; server 0 has no
/// budget before 16.
#[test]
fn a_device_that_is_asked_raises_its_events_when_the_job_blocks() {
    let mut case = missimer(pibs(1, 4));
    case.outside.devices[0].requested = true;
    case.listed.events.clear();
    let expected = [('0', 0, 8), ('1', 8, 12), ('0', 16, 24)];
    assert_eq!(row(&case), drawn(&expected, 34));
}

/// A job that waits before it has executed anything, once more at the same place, and at its end: it completes when
/// the last event was served, without executing any more.
/// A device has four events at 0, on behalf of the least urgent server: two of them are handled at once, the others have
/// to wait until 8, when task 1 runs. But task 0 of the most urgent server begins to wait for them at 3, so that they
/// are handled on its behalf.
#[test]
fn who_begins_to_wait_for_events_that_have_come_has_them_handled_on_its_behalf() {
    let servers = vec![
        server(sporadic(8, 16, 3), 3),
        server(sporadic(12, 16, 3), 2),
        server(sporadic(1, 8, 3), 1),
        server(pibs(1, 4), 0),
    ];
    let mut bottom_half = task(3, 1, 16);
    bottom_half.on_behalf_of = Some(ServerId(2));
    let wait = Wait {
        after: ns(1),
        device: DeviceId(0),
        events: 2,
    };
    let case = Case {
        servers,
        tasks: vec![task(0, 1, 16), task(1, 1, 16), bottom_half],
        releases: vec![vec![2], vec![2], Vec::new()],
        demand: vec![2, 10, 1],
        outside: Outside {
            devices: vec![Device {
                bottom_half: TaskId(2),
                cost: ns(1),
                requested: false,
                inherits: true,
            }],
            waits: vec![vec![wait]],
            hosts: vec![Some(ServerId(0)), Some(ServerId(1)), None],
        },
        listed: Listed {
            events: vec![vec![(0, 4)]],
            modes: Vec::new(),
        },
        modes: Modes::Requested,
        end: 18,
    };
    let expected = [
        ('2', 0, 2),
        ('0', 2, 3),
        ('1', 3, 8),
        ('2', 8, 10),
        ('0', 10, 11),
        ('1', 11, 16),
    ];
    assert_eq!(row(&case), drawn(&expected, 18));
}

#[test]
fn a_job_may_wait_before_it_begins_and_at_its_end() {
    let mut case = missimer(sporadic(8, 16, 8));
    case.outside.devices[0].requested = true;
    case.listed.events.clear();
    case.demand = vec![3, 1];
    let wait = |after, events| Wait {
        after: ns(after),
        device: DeviceId(0),
        events,
    };
    case.outside.waits = vec![vec![wait(0, 1), wait(0, 2), wait(3, 1), wait(4, 9)]];
    case.releases[0] = vec![0, 20];
    let job = |from| {
        [
            ('1', from, from + 3),
            ('0', from + 3, from + 6),
            ('1', from + 6, from + 7),
        ]
    };
    let expected = [job(0), job(20)].concat();
    let seen = simulated(&case);
    assert_eq!(String::from_utf8(seen.row).unwrap(), drawn(&expected, 34));
    assert_eq!((seen.blocked, seen.woken, seen.served), (6, 6, 8));
}

/// Two jobs wait for one device: the first one for two events, the other one for one. Each event counts for who has
/// waited longest.
#[test]
fn events_are_counted_for_the_oldest_wait() {
    let mut case = missimer(sporadic(8, 16, 8));
    case.servers.push(server(sporadic(8, 16, 8), 3));
    case.tasks = vec![task(0, 1, 16), case.tasks[1], task(2, 1, 16)];
    case.releases = vec![vec![0], Vec::new(), vec![2]];
    case.demand = vec![2, 1, 2];
    let wait = |events| Wait {
        after: ns(1),
        device: DeviceId(0),
        events,
    };
    case.outside.waits = vec![vec![wait(2)], Vec::new(), vec![wait(1)]];
    case.outside.hosts = vec![Some(ServerId(0)), None, Some(ServerId(2))];
    case.listed.events = vec![vec![(5, 1), (7, 1), (9, 1)]];
    let expected = [
        ('0', 0, 1),
        ('2', 2, 3),
        ('1', 5, 6),
        ('1', 7, 8),
        ('0', 8, 9),
        ('1', 9, 10),
        ('2', 10, 11),
    ];
    assert_eq!(row(&case), drawn(&expected, 34));
}
