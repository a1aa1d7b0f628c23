//! Both schedulers against each other, and against `vestal-hsf` with one server that has all of the time.

use super::{Alarms, Flat, Queue, Scan};
use crate::kernel::TASKS;
use vestal_hsf::{
    Bounded, Change, Error, Everything, Hooks, Hsf, Kind, LocalOrder, Pick, ServerSpec, TaskId,
    nodes,
};

struct Random(u64);

impl Random {
    fn below(&mut self, most: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(most)) as u32
    }
}

/// By task: priority, offset, and period or 0.
type Tasks = Vec<(u8, u32, u32)>;

fn flat<A: Alarms>(tasks: &Tasks) -> Flat<A> {
    let mut flat = Flat::new();
    for &(priority, offset, period) in tasks {
        let task = flat.add_task(priority).unwrap();
        if period > 0 {
            flat.make_periodic(task, offset, period).unwrap();
        }
    }
    flat
}

type Servers = Hsf<Everything<Bounded<u8, 15>>, 1, TASKS, { nodes(1, TASKS) }>;

fn one_server(tasks: &Tasks) -> Servers {
    let mut hsf = Servers::new();
    let spec = ServerSpec {
        kind: Kind::Deferrable,
        priority: 0,
        order: LocalOrder::FixedPriority,
        period: 10,
        capacity: 10,
    };
    let server = hsf.create_server(&spec).unwrap();
    for &(priority, offset, period) in tasks {
        let task = hsf.add_task(server, priority, 1).unwrap();
        if period > 0 {
            hsf.make_periodic(task, offset, period).unwrap();
        }
    }
    hsf
}

fn random_tasks(random: &mut Random) -> Tasks {
    let most = [6, TASKS as u32][usize::from(random.below(8) == 0)];
    let count = 1 + random.below(most);
    let one = |_| {
        let periodic = random.below(4) > 0;
        let period = if periodic { 1 + random.below(60) } else { 0 };
        (random.below(5) as u8, random.below(20), period)
    };
    (0..count).map(one).collect()
}

/// What a host may do at an instant. `None` is the tick.
fn random_change(random: &mut Random, running: Pick, tasks: &Tasks) -> Option<(TaskId, Change)> {
    let any = TaskId::new(random.below(tasks.len() as u32 + 1) as u8);
    match random.below(12) {
        0 => return Some((any, Change::Ready)),
        1 => return Some((any, Change::Released)),
        _ => {}
    }
    let Pick::Task(task) = running else {
        return None;
    };
    match random.below(9) {
        0 | 1 => Some((task, Change::EndOfJob)),
        2 => Some((task, Change::Delayed(random.below(40)))),
        3 => Some((task, Change::Blocked)),
        _ => None,
    }
}

/// Runs all three by the same calls; how many picks there were that are no idling.
fn compare(seed: u64) -> u32 {
    let mut random = Random(seed);
    let tasks = random_tasks(&mut random);
    let (mut scan, mut queue) = (flat::<Scan>(&tasks), flat::<Queue>(&tasks));
    let mut servers = one_server(&tasks);
    let mut busy = 0;
    for step in 0..400 {
        let picks = [scan.pick(), queue.pick(), servers.pick()];
        assert_eq!(picks, [picks[2]; 3], "seed {seed}, step {step}, {tasks:?}");
        busy += u32::from(picks[0] != Pick::Idle);
        if let Some((task, change)) = random_change(&mut random, picks[0], &tasks) {
            let results = [&mut scan as &mut dyn Hooks, &mut queue, &mut servers]
                .map(|hooks| hooks.task(task, change));
            assert_eq!(
                results, [results[2]; 3],
                "seed {seed}, step {step}: {change:?}"
            );
            continue;
        }
        // Ticks one by one, or as far as all of them let.
        let far = scan
            .next_timer()
            .min(queue.next_timer())
            .min(servers.next_timer());
        assert!(
            scan.next_timer() >= queue.next_timer(),
            "a queue may stop at dummies"
        );
        let ticks = if random.below(2) == 0 { 1 } else { far };
        let due = [scan.timer(ticks), queue.timer(ticks)];
        assert_eq!(due, [due[0]; 2], "seed {seed}, step {step}");
        let _ = servers.timer(ticks);
    }
    busy
}

#[test]
fn scan_queue_and_one_server_with_all_of_the_time_pick_the_same() {
    let busy: Vec<_> = (0..500).map(compare).collect();
    let often = busy
        .iter()
        .filter(|&&busy| (40..380).contains(&busy))
        .count();
    assert!(
        often > 250,
        "{often} of 500 are neither idle nor always busy"
    );
}

/// A timer that is late is settled as ticks one by one would have been.
#[test]
fn many_ticks_at_once_are_as_many_ticks() {
    let tasks = vec![(0, 3, 7), (1, 0, 10), (2, 5, 3)];
    let mut at_once = [
        &mut flat::<Scan>(&tasks) as &mut dyn Hooks,
        &mut flat::<Queue>(&tasks),
    ];
    let mut one_by_one = flat::<Scan>(&tasks);
    for ticks in [1, 25, 40, 3] {
        for hooks in &mut at_once {
            assert!(hooks.timer(ticks) || ticks < 3);
        }
        for _ in 0..ticks {
            let _ = one_by_one.timer(1);
        }
        for number in (0..3).map(TaskId::new) {
            let mut results = vec![];
            for hooks in &mut at_once {
                results.push(hooks.task(number, Change::EndOfJob));
            }
            let expected = one_by_one.task(number, Change::EndOfJob);
            assert_eq!(results, [expected; 2], "{number:?} after {ticks}");
        }
    }
}

#[test]
fn what_does_not_fit_or_is_not_there_is_refused() {
    let mut scan = flat::<Scan>(&vec![(0, 0, 0); TASKS]);
    assert_eq!(scan.add_task(0), Err(Error::NoRoom));
    assert_eq!(scan.make_periodic(TaskId::new(0), 1, 0), Err(Error::Period));
    let few = TaskId::new(2);
    let mut queue = flat::<Queue>(&vec![(0, 0, 0); 2]);
    assert_eq!(queue.make_periodic(few, 1, 1), Err(Error::UnknownTask));
    assert_eq!(queue.task(few, Change::Released), Err(Error::UnknownTask));
    let first = TaskId::new(0);
    assert_eq!(queue.task(first, Change::EndOfJob), Err(Error::WrongState));
    assert_eq!(queue.task(first, Change::Ready), Err(Error::WrongState));
    assert_eq!(queue.task(first, Change::Released), Ok(()));
    assert_eq!(queue.task(first, Change::Ready), Err(Error::WrongState));
    assert_eq!(queue.task(first, Change::DelayedVirtual(3)), Ok(()));
    assert_eq!(queue.next_timer(), 3);
    assert_eq!(queue.task(first, Change::Ready), Ok(()));
    assert_eq!(queue.next_timer(), u32::MAX);
}
