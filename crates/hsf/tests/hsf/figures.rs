//! The paper's figures: 5 and 6 (a queue), 8 (the stopwatch), 14 (a deferrable and an idling server).

use crate::host::{Clock, Host, Scheduler};
use crate::same_schedule::{Bits4, NoWakeUps};
use crate::system::{Arrivals, System, TaskSpec, Waits};
use vestal_hsf::relteq::{Entry, Item};
use vestal_hsf::{
    Everything, Features, Hsf, Kind, LocalOrder, Pick, Pool, Queue, ServerId, ServerSpec, TaskId,
    nodes,
};
use vestal_testkit::world::drawn;

/// `A:3` is an event 3 after the one before it; `.:15` a dummy; `.:2+15*3` is a run of four.
fn shown<E: Into<char>>(items: impl Iterator<Item = Item<E>>) -> String {
    let one = |item: Item<E>| match item.entry {
        Entry::Event(event) => format!("{}:{}", event.into(), item.time),
        Entry::Dummies { more: 0 } => format!(".:{}", item.time),
        Entry::Dummies { more } => format!(".:{}+15*{more}", item.time),
    };
    items.map(one).collect::<Vec<_>>().join(" ")
}

type Events = Pool<Bits4, char, 16>;

#[test]
fn figure_5_events_are_relative_to_the_one_before_and_the_head_to_now() {
    let (mut pool, mut queue) = (Events::new(), Queue::new());
    for (delay, event) in [(10, 'C'), (5, 'A'), (9, 'B'), (20, 'D')] {
        pool.insert(&mut queue, delay, event).unwrap();
    }
    assert_eq!(shown(pool.items(&queue)), "A:5 B:4 C:1 D:10");
    pool.elapse(&queue, 3);
    assert_eq!(
        shown(pool.items(&queue)),
        "A:2 B:4 C:1 D:10",
        "only the head changes"
    );
    assert!(pool.delete(&mut queue, 'B'));
    assert_eq!(shown(pool.items(&queue)), "A:2 C:5 D:10");
    assert_eq!(pool.pop(&mut queue), Some('A'));
    assert_eq!(shown(pool.items(&queue)), "C:5 D:10");
}

#[test]
fn figure_6_a_time_that_does_not_fit_follows_dummies() {
    let (mut pool, mut queue) = (Events::new(), Queue::new());
    pool.insert(&mut queue, 3, 'A').unwrap();
    pool.insert(&mut queue, 3 + 15 + 6, 'B').unwrap();
    assert_eq!(shown(pool.items(&queue)), "A:3 .:15 B:6");
    pool.insert(&mut queue, 24 + 15, 'C').unwrap();
    assert_eq!(
        shown(pool.items(&queue)),
        "A:3 .:15 B:6 C:15",
        "15 still fits"
    );
    pool.insert(&mut queue, 39 + 50, 'D').unwrap();
    assert_eq!(shown(pool.items(&queue)), "A:3 .:15 B:6 C:15 .:15+15*2 D:5");
    pool.insert(&mut queue, 39 + 33, 'E').unwrap();
    assert_eq!(
        shown(pool.items(&queue)),
        "A:3 .:15 B:6 C:15 .:15+15*1 E:3 .:12 D:5",
        "in the middle of a run"
    );
    assert!(pool.delete(&mut queue, 'D'));
    assert!(pool.delete(&mut queue, 'E'));
    assert_eq!(
        shown(pool.items(&queue)),
        "A:3 .:15 B:6 C:15",
        "no dummies at the end"
    );
    assert!(pool.delete(&mut queue, 'B'));
    assert_eq!(
        shown(pool.items(&queue)),
        "A:3 .:6+15*1 C:15",
        "B's time goes to the dummy"
    );
}

fn deferrable(priority: u8) -> ServerSpec {
    ServerSpec {
        kind: Kind::Deferrable,
        priority,
        order: LocalOrder::FixedPriority,
        period: 1000,
        capacity: 500,
    }
}

/// C, B and A are created in this order; A executes in [0, 3), B in [3, 7), C in [7, 12), and B again
/// from 16 on.
#[test]
fn figure_8_one_stopwatch_for_all_servers() {
    let mut hsf: Hsf<Everything<Bits4>, 3, 3, { nodes(3, 3) }> = Hsf::new();
    let [c, b, a] = [3, 2, 1].map(|priority| {
        let server = hsf.create_server(&deferrable(priority)).unwrap();
        hsf.add_task(server, 0, 1).unwrap()
    });
    let shown = |hsf: &Hsf<_, 3, 3, { nodes(3, 3) }>| {
        let name = |id: ServerId| ['C', 'B', 'A'][id.index()];
        shown(hsf.stopwatch().map(|item| Item {
            time: item.time,
            entry: match item.entry {
                Entry::Event(server) => Entry::Event(name(server)),
                Entry::Dummies { more } => Entry::Dummies { more },
            },
        }))
    };
    assert_eq!(shown(&hsf), "A:0 B:0 C:0");
    let mut steps = Vec::new();
    let runs: [(u32, Option<TaskId>, Option<TaskId>); 5] = [
        (0, None, Some(a)),
        (3, Some(a), Some(b)),
        (7, Some(b), Some(c)),
        (12, Some(c), None),
        (16, None, Some(b)),
    ];
    let mut now = 0;
    for (at, ends, begins) in runs {
        let _ = hsf.advance(at - now);
        now = at;
        let before = shown(&hsf);
        if let Some(task) = ends {
            hsf.wait_period(task).unwrap();
        }
        if let Some(task) = begins {
            hsf.release(task).unwrap();
        }
        assert_eq!(hsf.schedule(), begins.map_or(Pick::Idle, Pick::Task));
        steps.push(format!("{at}: {before} -> {}", shown(&hsf)));
    }
    assert_eq!(
        steps,
        [
            "0: A:0 B:0 C:0 -> .:0 B:0 C:0",
            "3: .:3 B:0 C:0 -> A:0 .:3 C:0",
            "7: A:4 .:3 C:0 -> B:0 A:4",
            "12: B:5 A:4 -> C:0 B:5 A:4",
            "16: C:4 B:5 A:4 -> .:0 C:4 A:9",
        ]
    );
    let golden = include_str!("../golden/figure8.txt");
    assert_eq!(steps.join("\n") + "\n", golden);
}

/// Server 0 (deferrable, more urgent) has task 0: period 30, 5 ticks, from 5 on. Server 1 (idling) has
/// task 1: 5 ticks, from 0 on. Both servers have 10 ticks every 25. A `b` is server 1 idling.
fn figure_14<F: Features>(period_of_task_1: u32, clock: Clock, ticks: usize) -> String {
    let server = |kind, priority| ServerSpec {
        kind,
        priority,
        order: LocalOrder::FixedPriority,
        period: 25,
        capacity: 10,
    };
    let task = |server, offset, period| TaskSpec {
        server,
        priority: 0,
        deadline: period,
        arrivals: Arrivals::Periodic { offset, period },
        parts: vec![5],
        waits: Waits::Delay,
    };
    let system = System {
        servers: vec![server(Kind::Deferrable, 0), server(Kind::Idling, 1)],
        tasks: vec![task(0, 5, 30), task(1, 0, period_of_task_1)],
        seed: 0,
    };
    let mut host = Host::<Scheduler<F>>::new(&system, clock);
    for _ in 0..ticks {
        host.step();
    }
    host.row
}

/// What hosts in C print as well.
#[test]
fn figure_14_is_the_golden_one() {
    let rows = [(30, 125), (40, 120)].map(|(period, ticks)| {
        let row = figure_14::<Everything<u16>>(period, Clock::Tick, ticks);
        format!("period {period}\n{row}\n")
    });
    assert_eq!(rows.concat(), include_str!("../golden/figure14.txt"));
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
    let expected = drawn(&expected, 125);
    assert_eq!(
        figure_14::<Everything<Bits4>>(30, Clock::Tick, 125),
        expected
    );
    assert_eq!(
        figure_14::<Everything<u16>>(30, Clock::Timer, 125),
        expected
    );
    assert_eq!(
        figure_14::<NoWakeUps<Bits4>>(30, Clock::Timer, 125),
        expected
    );
}

/// The paper's text has an arrival of task 1 postponed until 50, which period 30 does not show.
#[test]
fn figure_14_with_period_40_the_arrival_at_40_is_handled_at_50() {
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
    let expected = drawn(&expected, 120);
    assert_eq!(
        figure_14::<Everything<Bits4>>(40, Clock::Tick, 120),
        expected
    );
    assert_eq!(
        figure_14::<Everything<u16>>(40, Clock::Timer, 120),
        expected
    );
}

/// Task 1 executes 3 ticks, and one more until it makes its call; in form (a) it has read the time before that. Task 0
/// takes 2 ticks from it, once just then. Who executes, and how much later than its period says each job of task 1
/// begins.
fn figure_2(form: char) -> (String, Vec<u32>) {
    const OFFSET: u32 = 2;
    const PERIOD: u32 = 10;
    let mut hsf: Hsf<Everything<Bits4>, 1, 2, { nodes(1, 2) }> = Hsf::new();
    let all = ServerSpec {
        capacity: 100,
        period: 100,
        ..deferrable(0)
    };
    let server = hsf.create_server(&all).unwrap();
    let tasks = [0, 1].map(|priority| hsf.add_task(server, priority, PERIOD).unwrap());
    hsf.make_periodic(tasks[0], 16, 29).unwrap();
    let delays = form == 'a';
    if delays {
        hsf.release(tasks[1]).unwrap();
        assert_eq!(hsf.schedule(), Pick::Task(tasks[1]));
        hsf.delay(tasks[1], OFFSET).unwrap();
    } else {
        hsf.make_periodic(tasks[1], OFFSET, PERIOD).unwrap();
    }
    let executes = [2, 4];
    let (mut left, mut read) = (executes, 0);
    let (mut row, mut late) = (String::new(), Vec::new());
    let mut pick = hsf.schedule();
    for now in 0..100 {
        let next = |late: &Vec<u32>| OFFSET + late.len() as u32 * PERIOD;
        let mut changed = now > 0 && hsf.tick();
        if let Pick::Task(task) = pick {
            let number = task.index();
            if number == 1 && left[1] == 1 {
                read = now;
            }
            if left[number] == 0 {
                left[number] = executes[number];
                changed = true;
                if number == 1 && delays {
                    hsf.delay(task, next(&late).saturating_sub(read)).unwrap();
                } else {
                    hsf.wait_period(task).unwrap();
                }
            }
        }
        if changed {
            pick = hsf.schedule();
        }
        if let Pick::Task(task) = pick {
            if task == tasks[1] && left[1] == executes[1] {
                late.push(now - next(&late));
            }
            left[task.index()] -= 1;
        }
        row.push(match pick {
            Pick::Task(task) => char::from_digit(task.index() as u32, 10).unwrap(),
            Pick::Idling(_) | Pick::Idle => '.',
        });
    }
    (row, late)
}

/// A job that is preempted between reading the time and delaying itself sleeps too long: the next begins 3 late, where
/// others begin 1 late. A task that waits for its period is never late by what it does itself.
#[test]
fn figure_2_a_task_that_delays_itself_has_jitter_and_one_that_waits_for_its_period_has_none() {
    let text = ['a', 'b'].map(|form| {
        let (row, late) = figure_2(form);
        let expected = match form {
            'a' => [0, 1, 3, 1, 1, 1, 1, 1, 1, 1],
            _ => [0; 10],
        };
        assert_eq!(late, expected);
        let late: String = late.iter().map(|ticks| format!(" {ticks}")).collect();
        format!("form {form}\n{row}\nlate{late}\n")
    });
    assert_eq!(text.concat(), include_str!("../golden/figure2.txt"));
}
