//! What calls cost, counted in times that are read from queues or written to them.

use std::cell::Cell;
use vestal_hsf::{
    Everything, Hsf, Kind, LocalOrder, Pick, ServerId, ServerSpec, TaskId, Tick, nodes,
};

thread_local! {
    static ACCESSES: Cell<u64> = const { Cell::new(0) };
}

/// 8 bits that count how often they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted(u8);

impl Tick for Counted {
    const ZERO: Self = Self(0);
    const MAX: u32 = 255;

    fn get(self) -> u32 {
        ACCESSES.set(ACCESSES.get() + 1);
        self.0.into()
    }

    fn of(ticks: u32) -> Self {
        ACCESSES.set(ACCESSES.get() + 1);
        Self(u8::of(ticks))
    }
}

fn cost<T>(call: impl FnOnce() -> T) -> (u64, T) {
    ACCESSES.set(0);
    let result = call();
    (ACCESSES.get(), result)
}

type Large = Hsf<Everything<Counted>, 40, 40, { nodes(40, 40) }>;

const LONG: u32 = 10_000;

fn server(hsf: &mut Large, kind: Kind, priority: u8, capacity: u32) -> ServerId {
    let order = LocalOrder::FixedPriority;
    let period = LONG;
    let spec = ServerSpec {
        kind,
        priority,
        order,
        period,
        capacity,
    };
    hsf.create_server(&spec).unwrap()
}

/// An idling server runs above `others` servers of all kinds with a periodic task each.
fn with_inactive(others: u8) -> Large {
    let mut hsf = Large::new();
    server(&mut hsf, Kind::Idling, 0, LONG);
    for number in 0..others {
        let kind = [Kind::Polling, Kind::Idling, Kind::Deferrable][usize::from(number % 3)];
        let id = server(&mut hsf, kind, 1 + number, 100);
        let task = hsf.add_task(id, 0, 1).unwrap();
        hsf.make_periodic(task, u32::from(number) % 7, 7).unwrap();
    }
    assert_eq!(hsf.schedule(), Pick::Idling(ServerId::new(0)));
    hsf
}

#[test]
fn a_tick_without_an_event_costs_the_same_whatever_is_inactive() {
    let costs = [0, 3, 12, 39].map(|others| {
        let mut hsf = with_inactive(others);
        let (tick, handled) = cost(|| hsf.tick());
        assert!(!handled);
        let (budget, _) = cost(|| hsf.budget(ServerId::new(0)));
        let (next, _) = cost(|| hsf.next_event());
        (tick, budget, next)
    });
    assert!(costs.iter().all(|&other| other == costs[0]), "{costs:?}");
    assert!(
        costs[0].0 <= 6 && costs[0].1 <= 2 && costs[0].2 <= 2,
        "{costs:?}"
    );
}

#[test]
fn a_tick_that_settles_costs_the_same_whatever_is_inactive() {
    // The 255th tick, at which only a dummy ends.
    let costs = [0, 3, 12, 39].map(|others| {
        let mut hsf = with_inactive(others);
        let _ = hsf.advance(254);
        let (tick, handled) = cost(|| hsf.tick());
        assert!(!handled);
        tick
    });
    assert!(
        costs[1..].iter().all(|&other| other == costs[1]),
        "{costs:?}"
    );
    assert!(costs[1] <= 40, "{costs:?}");
}

/// `delays` tasks of a server below delay themselves until 10; it is inactive when that is over, and then switched in.
fn switch_in(delays: u8) -> u64 {
    let mut hsf = Large::new();
    let upper = server(&mut hsf, Kind::Deferrable, 0, LONG);
    let lower = server(&mut hsf, Kind::Deferrable, 1, LONG);
    let long = hsf.add_task(upper, 0, 1).unwrap();
    for priority in 0..delays {
        let task = hsf.add_task(lower, priority, 1).unwrap();
        hsf.release(task).unwrap();
    }
    let other = hsf.add_task(lower, 255, 1).unwrap();
    hsf.release(other).unwrap();
    hsf.schedule();
    for number in 0..delays {
        hsf.delay(TaskId::new(1 + number), 10).unwrap();
    }
    assert_eq!(hsf.schedule(), Pick::Task(other));
    hsf.release(long).unwrap();
    hsf.schedule();
    let _ = hsf.advance(20);
    hsf.wait_period(long).unwrap();
    let (cost, pick) = cost(|| hsf.schedule());
    assert_eq!(pick, Pick::Task(TaskId::new(1)));
    cost
}

#[test]
fn switching_in_is_linear_in_the_events_that_are_due() {
    let base = switch_in(1);
    let each = switch_in(2) - base;
    assert!(each > 0 && each <= 4, "{each}");
    for delays in 3..30 {
        assert_eq!(switch_in(delays), base + u64::from(delays - 1) * each);
    }
}

/// `count` tasks of the active server get a job at the same tick; the next arrivals are those of `period` later.
fn arrivals(count: u8, period: impl Fn(u8) -> u32) -> u64 {
    let mut hsf = Large::new();
    let only = server(&mut hsf, Kind::Idling, 0, LONG);
    for number in 0..count {
        let task = hsf.add_task(only, number, 1).unwrap();
        hsf.make_periodic(task, 10, period(number)).unwrap();
    }
    hsf.schedule();
    let _ = hsf.advance(9);
    let (cost, handled) = cost(|| hsf.tick());
    assert!(handled);
    cost
}

/// `count` servers get their budget at the same tick; the most urgent one is active.
fn replenishments(count: u8) -> u64 {
    let mut hsf = Large::new();
    for number in 0..count {
        let order = LocalOrder::FixedPriority;
        let (period, capacity, priority) = (100, 100, number);
        let kind = Kind::Idling;
        let spec = ServerSpec {
            kind,
            priority,
            order,
            period,
            capacity,
        };
        hsf.create_server(&spec).unwrap();
    }
    hsf.schedule();
    let _ = hsf.advance(99);
    let (cost, handled) = cost(|| hsf.tick());
    assert!(handled);
    cost
}

/// How many times each cost is that of the line through the first two.
fn is_linear(costs: &[u64]) -> bool {
    let each = costs[1] - costs[0];
    let line = (0..).map(|number| costs[0] + number * each);
    costs.iter().zip(line).all(|(&cost, line)| cost <= line)
}

#[test]
fn a_tick_is_linear_in_the_events_that_are_due() {
    let same: Vec<_> = (2..30).map(|count| arrivals(count, |_| 50)).collect();
    let later: Vec<_> = (2..30)
        .map(|count| arrivals(count, |number| 50 + u32::from(number)))
        .collect();
    let replenished: Vec<_> = (2..30).map(replenishments).collect();
    for costs in [&same, &later, &replenished] {
        assert!(is_linear(costs), "{costs:?}");
        assert!(costs[27] > costs[0], "the count counts");
    }
    // Where each comes again before the one before it all are walked past, as always before.
    let earlier: Vec<_> = (2..30)
        .map(|count| arrivals(count, |number| 99 - u32::from(number)))
        .collect();
    assert!(!is_linear(&earlier), "{earlier:?}");
}

/// `before` servers were switched out later than the one that is switched in.
fn schedule(before: u8) -> u64 {
    let mut hsf = Large::new();
    for priority in 0..=before {
        let id = server(&mut hsf, Kind::Deferrable, priority, 100);
        hsf.add_task(id, 0, 1).unwrap();
    }
    hsf.schedule();
    // One after the other comes and goes, the first one first.
    for number in 0..=before {
        hsf.release(TaskId::new(number)).unwrap();
        hsf.schedule();
        let _ = hsf.advance(3);
        hsf.wait_period(TaskId::new(number)).unwrap();
        hsf.schedule();
    }
    hsf.release(TaskId::new(0)).unwrap();
    let (cost, pick) = cost(|| hsf.schedule());
    assert_eq!(pick, Pick::Task(TaskId::new(0)));
    cost
}

#[test]
fn scheduling_is_linear_in_the_servers() {
    let costs: Vec<_> = (1..39).map(schedule).collect();
    let each = costs[1] - costs[0];
    assert!(each <= 4, "{costs:?}");
    for (before, cost) in costs.iter().enumerate() {
        assert!(*cost <= costs[0] + before as u64 * each, "{costs:?}");
    }
    assert!(costs[37] > costs[0], "the count counts");
}
