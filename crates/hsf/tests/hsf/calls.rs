//! What single calls do: errors, delays in both times, arrivals from outside, late timers, what is switched off.

use crate::same_schedule::Bits4;
use std::mem::size_of;
use vestal_hsf::relteq::InsertError;
use vestal_hsf::{
    Error, Everything, Features, Hsf, Kind, LocalOrder, Pass, Pick, Pool, Queue, ServerId,
    ServerSpec, State, TaskId, TaskState, nodes,
};

type Small<F> = Hsf<F, 3, 4, { nodes(3, 4) }>;

fn spec(kind: Kind, priority: u8, capacity: u32, period: u32) -> ServerSpec {
    ServerSpec {
        kind,
        priority,
        order: LocalOrder::FixedPriority,
        period,
        capacity,
    }
}

/// One server with `tasks` tasks, which all have a job.
fn one_server(spec: &ServerSpec, tasks: u8) -> (Small<Everything<Bits4>>, ServerId, Vec<TaskId>) {
    let mut hsf = Small::new();
    let server = hsf.create_server(spec).unwrap();
    let tasks: Vec<_> = (0..tasks)
        .map(|priority| hsf.add_task(server, priority, 10).unwrap())
        .collect();
    for &task in &tasks {
        hsf.release(task).unwrap();
    }
    (hsf, server, tasks)
}

/// So many ticks, one by one; who was picked for each.
fn ticks<F: Features>(hsf: &mut Small<F>, count: u32) -> String {
    let mut row = String::new();
    for _ in 0..count {
        row.push(match hsf.schedule() {
            Pick::Task(task) => char::from_digit(task.index() as u32, 10).unwrap(),
            Pick::Idling(_) => 'i',
            Pick::Idle => '.',
        });
        assert!(hsf.check_invariants());
        let _ = hsf.tick();
    }
    row
}

#[test]
fn impossible_servers_and_tasks_are_refused() {
    let mut hsf = Small::<Everything<u8>>::new();
    let idling = |capacity, period| spec(Kind::Idling, 0, capacity, period);
    assert_eq!(hsf.create_server(&idling(0, 5)), Err(Error::Capacity));
    assert_eq!(hsf.create_server(&idling(6, 5)), Err(Error::Capacity));
    assert_eq!(hsf.create_server(&idling(0, 0)), Err(Error::Period));
    assert_eq!(
        hsf.add_task(ServerId::new(0), 0, 1),
        Err(Error::UnknownServer)
    );
    assert_eq!(hsf.server_state(ServerId::new(0)), None);
    for number in 0..3 {
        assert_eq!(hsf.create_server(&idling(5, 5)), Ok(ServerId::new(number)));
    }
    assert_eq!(hsf.create_server(&idling(5, 5)), Err(Error::NoRoom));
    for number in 0..4 {
        assert_eq!(
            hsf.make_periodic(TaskId::new(number), 0, 1),
            Err(Error::UnknownTask)
        );
        assert_eq!(hsf.release(TaskId::new(number)), Err(Error::UnknownTask));
        assert_eq!(
            hsf.add_task(ServerId::new(0), 0, 1),
            Ok(TaskId::new(number))
        );
    }
    assert_eq!(hsf.add_task(ServerId::new(0), 0, 1), Err(Error::NoRoom));
    assert_eq!(hsf.make_periodic(TaskId::new(0), 0, 0), Err(Error::Period));
}

#[test]
fn a_call_from_the_wrong_state_is_refused() {
    let (mut hsf, _, tasks) = one_server(&spec(Kind::Idling, 0, 5, 10), 1);
    let task = tasks[0];
    assert_eq!(hsf.ready(task), Err(Error::WrongState), "it is ready");
    hsf.wait_period(task).unwrap();
    assert_eq!(hsf.task_state(task), Some(TaskState::Waits));
    assert_eq!(hsf.wait_period(task), Err(Error::WrongState));
    assert_eq!(hsf.delay(task, 1), Err(Error::WrongState));
    assert_eq!(hsf.delay_virtual(task, 1), Err(Error::WrongState));
    assert_eq!(hsf.block(task), Err(Error::WrongState));
    assert_eq!(hsf.ready(task), Err(Error::WrongState), "it has no job");
    assert_eq!(hsf.wait_period(TaskId::new(3)), Err(Error::UnknownTask));
    assert!(hsf.check_invariants());
}

#[derive(Debug)]
struct IdlingOnly;

impl Features for IdlingOnly {
    type Tick = u8;
    const POLLING: bool = false;
    const DEFERRABLE: bool = false;
    const EDF: bool = false;
}

#[test]
fn what_is_switched_off_is_refused() {
    let mut hsf = Small::<IdlingOnly>::new();
    for kind in [Kind::Polling, Kind::Deferrable] {
        assert_eq!(
            hsf.create_server(&spec(kind, 0, 1, 2)),
            Err(Error::SwitchedOff)
        );
    }
    let by_deadline = ServerSpec {
        order: LocalOrder::EarliestDeadline,
        ..spec(Kind::Idling, 0, 1, 2)
    };
    assert_eq!(hsf.create_server(&by_deadline), Err(Error::SwitchedOff));
    let server = hsf.create_server(&spec(Kind::Idling, 0, 1, 2)).unwrap();
    let task = hsf.add_task(server, 0, 4).unwrap();
    hsf.make_periodic(task, 0, 3).unwrap();
    assert_eq!(ticks(&mut hsf, 2), "0.");
}

/// The server has 2 of 6 ticks; its own time stands still for the other four.
#[test]
fn a_delay_in_the_servers_time_passes_only_while_it_runs() {
    let (mut hsf, _, tasks) = one_server(&spec(Kind::Idling, 0, 2, 6), 2);
    assert_eq!(hsf.schedule(), Pick::Task(tasks[0]));
    hsf.delay_virtual(tasks[0], 3).unwrap();
    assert_eq!(ticks(&mut hsf, 14), "11....10....00");
    let (mut hsf, _, tasks) = one_server(&spec(Kind::Idling, 0, 2, 6), 2);
    hsf.delay(tasks[0], 3).unwrap();
    assert_eq!(ticks(&mut hsf, 14), "11....00....00");
}

#[test]
fn a_delay_may_end_early() {
    let (mut hsf, server, tasks) = one_server(&spec(Kind::Deferrable, 0, 5, 10), 1);
    assert_eq!(ticks(&mut hsf, 1), "0");
    hsf.delay(tasks[0], 100).unwrap();
    assert_eq!(ticks(&mut hsf, 3), "...");
    assert_eq!(hsf.server_state(server), Some(State::Waiting));
    hsf.ready(tasks[0]).unwrap();
    assert_eq!(hsf.server_state(server), Some(State::Ready));
    assert_eq!(ticks(&mut hsf, 2), "00");
    hsf.delay_virtual(tasks[0], 1).unwrap();
    assert_eq!(ticks(&mut hsf, 3), "...");
    hsf.ready(tasks[0]).unwrap();
    // The last of the first budget, and then all of the others.
    let expected = format!("0{}", "00000.....".repeat(12));
    assert_eq!(ticks(&mut hsf, 120), expected[..120]);
}

#[test]
fn jobs_of_a_task_do_not_overlap_and_arrivals_are_counted() {
    let (mut hsf, server, tasks) = one_server(&spec(Kind::Deferrable, 0, 5, 10), 1);
    for _ in 0..3 {
        hsf.release(tasks[0]).unwrap();
    }
    assert_eq!(hsf.pending(tasks[0]), 3);
    for left in (0..3).rev() {
        assert_eq!(hsf.schedule(), Pick::Task(tasks[0]));
        hsf.wait_period(tasks[0]).unwrap();
        assert_eq!(hsf.pending(tasks[0]), left);
    }
    assert_eq!(hsf.schedule(), Pick::Task(tasks[0]));
    hsf.wait_period(tasks[0]).unwrap();
    assert_eq!(hsf.schedule(), Pick::Idle);
    assert_eq!(hsf.server_state(server), Some(State::Waiting));
}

#[test]
fn the_budget_can_be_asked_for_between_events() {
    let (mut hsf, server, _) = one_server(&spec(Kind::Deferrable, 0, 5, 10), 1);
    assert_eq!(hsf.budget(server), 5);
    for left in [4, 3, 2, 1, 0] {
        hsf.schedule();
        let _ = hsf.tick();
        assert_eq!(hsf.budget(server), left);
    }
    assert_eq!(hsf.schedule(), Pick::Idle);
    assert_eq!(hsf.server_state(server), Some(State::Depleted));
    assert!(hsf.advance(5));
    assert_eq!(hsf.budget(server), 5);
    assert_eq!(hsf.now(), 10);
    assert_eq!(hsf.budget(ServerId::new(2)), 0, "there is no such server");
}

#[test]
fn a_period_can_be_changed() {
    let mut hsf = Small::<Everything<Bits4>>::new();
    let server = hsf.create_server(&spec(Kind::Deferrable, 0, 5, 5)).unwrap();
    let task = hsf.add_task(server, 0, 10).unwrap();
    hsf.make_periodic(task, 20, 40).unwrap();
    let mut arrivals = Vec::new();
    for now in 0..100 {
        if now == 21 {
            hsf.make_periodic(task, 0, 17).unwrap();
        }
        if hsf.schedule() == Pick::Task(task) {
            arrivals.push(now);
            hsf.wait_period(task).unwrap();
            hsf.schedule();
        }
        assert!(hsf.check_invariants());
        let _ = hsf.tick();
    }
    assert_eq!(arrivals, [20, 21, 38, 55, 72, 89]);
}

#[test]
fn a_late_timer_is_settled_as_if_it_had_been_in_time() {
    let build = || {
        let mut hsf = Small::<Everything<Bits4>>::new();
        for (kind, priority) in [(Kind::Deferrable, 0), (Kind::Polling, 1), (Kind::Idling, 2)] {
            let server = hsf.create_server(&spec(kind, priority, 4, 13)).unwrap();
            let task = hsf.add_task(server, 0, 10).unwrap();
            hsf.make_periodic(task, priority.into(), 9).unwrap();
        }
        hsf.schedule();
        hsf
    };
    for late in 1..60 {
        let (mut one, mut other) = (build(), build());
        let _ = one.advance(late);
        for _ in 0..late {
            let _ = other.tick();
            other.schedule();
        }
        assert_eq!(one.schedule(), other.schedule(), "{late}");
        assert_eq!(format!("{one:?}"), format!("{other:?}"), "{late}");
    }
}

#[test]
fn a_full_pool_refuses_and_changes_nothing() {
    let (mut pool, mut queue) = (Pool::<Bits4, u8, 3>::new(), Queue::new());
    pool.insert(&mut queue, 5, 1).unwrap();
    pool.insert(&mut queue, 9, 2).unwrap();
    let before: Vec<_> = pool.items(&queue).collect();
    assert_eq!(
        pool.insert(&mut queue, 9 + 16, 3),
        Err(InsertError::Full),
        "a dummy too"
    );
    assert_eq!(pool.items(&queue).collect::<Vec<_>>(), before);
    pool.insert(&mut queue, 9 + 15, 3).unwrap();
    assert_eq!(pool.insert(&mut queue, 0, 4), Err(InsertError::Full));
    assert_eq!(pool.push_front(&mut queue, 4), Err(InsertError::Full));
    assert_eq!(pool.push_dummy(&mut queue), Err(InsertError::Full));
    pool.elapse(&queue, 5);
    assert_eq!(pool.grow(&mut queue, 15), Ok(()));
    assert_eq!(pool.grow(&mut queue, 1), Err(InsertError::Full));
    assert_eq!((pool.used(), pool.unused()), (3, 0));
    assert_eq!(
        [(); 3].map(|()| pool.pop(&mut queue)),
        [Some(1), Some(2), Some(3)]
    );
    assert_eq!((pool.used(), pool.unused()), (0, 3));
}

#[test]
fn what_is_too_far_away_is_refused() {
    let (mut pool, mut queue) = (Pool::<Bits4, u8, 4>::new(), Queue::new());
    let farthest = 15 << 32;
    assert_eq!(
        pool.insert(&mut queue, farthest + 1, 1),
        Err(InsertError::TooFar)
    );
    assert!(queue.is_empty());
    pool.insert(&mut queue, farthest, 1).unwrap();
    assert_eq!(pool.first(&queue), Some((farthest, 1)));
    let mut pass = Pass::over(farthest - 1);
    assert_eq!(pool.synchronise(&mut queue, &mut pass), None);
    assert_eq!(pass.left(), 0);
    assert_eq!(pool.first(&queue), Some((1, 1)));
}

/// 5 KB of memory for six servers with six tasks each, as in the paper.
#[test]
fn a_system_of_six_servers_with_six_tasks_each_takes_at_most_5_kb() {
    type Paper<T> = Hsf<Everything<T>, 6, 36, { nodes(6, 36) }>;
    assert!(size_of::<Paper<u16>>() <= 5 * 1024);
    assert!(size_of::<Paper<u32>>() <= 5 * 1024);
    // What is documented.
    assert_eq!(size_of::<Paper<u8>>(), 3640);
    let (short, long) = (size_of::<Paper<u16>>(), size_of::<Paper<u32>>());
    assert_eq!((short, long), (3640, 4416));
    // What the documentation says.
    let words = format!("{short}, with ticks of 32 bits {long}");
    for text in [
        include_str!("../../src/hsf/mod.rs"),
        include_str!("../../../../docs/porting.md"),
    ] {
        assert!(text.contains(&words), "{words}");
    }
    let more = |other: usize| other - size_of::<Small<Everything<u16>>>();
    let [node, server, task] = [
        more(size_of::<Hsf<Everything<u16>, 3, 4, { nodes(3, 4) + 10 }>>()),
        more(size_of::<Hsf<Everything<u16>, 13, 4, { nodes(3, 4) }>>()),
        more(size_of::<Hsf<Everything<u16>, 3, 14, { nodes(3, 4) }>>()),
    ];
    assert_eq!([node, server, task], [120, 240, 320]);
    let wide = size_of::<Hsf<Everything<u32>, 3, 4, { nodes(3, 4) + 10 }>>()
        - size_of::<Small<Everything<u32>>>();
    assert_eq!(wide, 160);
}

/// It can live in a static.
static PLACE: std::sync::Mutex<Small<Everything<u16>>> = std::sync::Mutex::new(Small::new());

#[test]
fn a_system_can_be_a_static() {
    let mut hsf = PLACE.lock().unwrap();
    assert_eq!(hsf.schedule(), Pick::Idle);
    assert!(!hsf.advance(100_000), "nothing ever happens");
    assert_eq!(hsf.now(), 100_000);
}

#[test]
fn a_system_that_was_cleared_is_a_new_one() {
    let used = |hsf: &mut Small<Everything<Bits4>>| {
        for (kind, priority) in [(Kind::Deferrable, 1), (Kind::Idling, 2), (Kind::Polling, 0)] {
            let server = hsf.create_server(&spec(kind, priority, 4, 30)).unwrap();
            let task = hsf.add_task(server, 0, 10).unwrap();
            hsf.make_periodic(task, 7, 50).unwrap();
        }
        let row = ticks(hsf, 100);
        format!(
            "{row} {:?} {}",
            hsf.stopwatch().collect::<Vec<_>>(),
            hsf.now()
        )
    };
    let mut hsf = Small::new();
    let first = used(&mut hsf);
    assert!(first.contains('0') && first.contains('i'));
    hsf.clear();
    assert_eq!(hsf.server_state(ServerId::new(0)), None);
    assert_eq!((hsf.now(), hsf.schedule()), (0, Pick::Idle));
    assert_eq!(used(&mut hsf), first);
}

/// What is printed of 300 ticks: who executes, and the budget; a job of the second task arrives at `at`.
fn with_an_arrival_at<F: Features>(at: u32) -> String {
    let mut hsf = Small::<F>::new();
    let server = hsf
        .create_server(&spec(Kind::Deferrable, 0, 20, 40))
        .unwrap();
    let tasks = [0, 1].map(|priority| hsf.add_task(server, priority, 40).unwrap());
    hsf.make_periodic(tasks[0], 0, 23).unwrap();
    let mut printed = String::new();
    // The first task's jobs take 13, the second's 1.
    let mut left = [13_u32, 1];
    // Who picks at every tick settles at every tick.
    let (mut changed, mut picked) = (true, Pick::Idle);
    for now in 0..300 {
        if now == at {
            hsf.release(tasks[1]).unwrap();
            changed = true;
        }
        if changed {
            picked = hsf.schedule();
        }
        let sign = if picked == Pick::Idle { '.' } else { '#' };
        printed.push(sign);
        printed.push_str(&hsf.budget(server).to_string());
        assert!(hsf.check_invariants());
        changed = hsf.tick();
        if let Pick::Task(task) = picked {
            let left = &mut left[task.index()];
            *left -= 1;
            if *left == 0 && hsf.task_state(task) == Some(TaskState::Ready) {
                *left = if task == tasks[0] { 13 } else { 1 };
                hsf.wait_period(task).unwrap();
                changed = true;
            }
        }
    }
    printed
}

/// A wake-up that is not needed any more gives its time to a run of dummies, whose first is then nearer than the ticks since the queues were last settled.
#[test]
fn an_arrival_in_a_waiting_server_takes_no_time_from_its_replenishment() {
    for at in 0..300 {
        let wide = with_an_arrival_at::<Everything<u32>>(at);
        assert_eq!(with_an_arrival_at::<Everything<Bits4>>(at), wide, "at {at}");
        assert_eq!(with_an_arrival_at::<Everything<u8>>(at), wide, "at {at}");
    }
}
