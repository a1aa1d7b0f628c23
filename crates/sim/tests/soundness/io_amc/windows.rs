//! What a server that nothing preempts executes in any window of its period, in simulated time: a sporadic server at most C,
//! a PIBS at most (2 - U) U T, each of which is reached.

use crate::common::Random;
use vestal_core::{
    ByLevel, DeviceConfiguration, DeviceId, Hierarchy, HierarchyConfiguration, Instant, Level,
    LevelSet, LocalOrder, Modes, ServedTask, ServerConfiguration, ServerId, ServerKind, Service,
    Task, TaskId, Utilization, Wcet, WhenFull,
};
use vestal_sim::outside::Device;
use vestal_sim::workload::{ListedDemand, ListedReleases};
use vestal_sim::{
    Amid, Backlog, Events, JobState, Observer, Outside, Segment, Setting, simulate_amid,
};
use vestal_testkit::short::{at, ns, span};

/// When so many events come.
struct Listed(Vec<(u64, u64)>);

impl Events for Listed {
    fn interrupt(&self, _: DeviceId, index: u64, _: Option<Instant>) -> Option<(Instant, u64)> {
        let (when, count) = *self.0.get(index as usize)?;
        Some((at(when), count))
    }
    fn mode_request(&self, _: u64) -> Option<(Instant, Level)> {
        None
    }
}

/// When something executed.
#[derive(Default)]
struct Executed(Vec<(u64, u64)>);

impl Observer for Executed {
    fn executed(&mut self, segment: Segment, _: &JobState) {
        let (start, end) = (segment.start.as_nanos(), segment.end.as_nanos());
        self.0.push((start, end));
    }
}

impl Executed {
    fn within(&self, from: u64, to: u64) -> u64 {
        let parts = self.0.iter();
        let parts = parts.map(|&(start, end)| end.min(to).saturating_sub(start.max(from)));
        parts.sum()
    }

    /// The most in any window of this length: one that begins where something begins does, or one that ends with something.
    fn most_in(&self, window: u64) -> u64 {
        let ends = self.0.iter().map(|&(_, end)| end.saturating_sub(window));
        let starts = self.0.iter().map(|&(start, _)| start).chain(ends);
        let all = starts.map(|start| self.within(start, start + window));
        all.max().unwrap_or(0)
    }
}

fn sporadic(period: u64, capacity: u64, random: &mut Random) -> ServerKind {
    ServerKind::Sporadic {
        period: span(period),
        capacity: ByLevel::constant(ns(capacity)),
        replenishments: random.between(2, 6) as u16,
        full: random.one_of(&[WhenFull::MergeHead, WhenFull::MergeTail]),
    }
}

fn pibs((n, d): (u64, u64)) -> ServerKind {
    let share = Utilization::new(n, d).unwrap();
    ServerKind::Pibs {
        utilization: ByLevel::constant(share),
    }
}

/// Events of one unit in the first of two servers; the other one, whom it may serve, has this period and nothing to do.
fn alone(kind: ServerKind, period: u64, events: Vec<(u64, u64)>, end: u64) -> Executed {
    let server = |kind, priority| ServerConfiguration {
        kind,
        priority,
        criticality: Level(0),
        order: LocalOrder::FixedPriority,
    };
    let host = ServerKind::Sporadic {
        period: span(period),
        capacity: ByLevel::constant(ns(1)),
        replenishments: 2,
        full: WhenFull::MergeHead,
    };
    let servers = [server(kind, 2), server(host, 1)];
    let task = Task::new(Level(0), span(period), span(period), Wcet::constant(ns(1))).unwrap();
    let inherits = matches!(kind, ServerKind::Pibs { .. });
    let tasks = [ServedTask {
        task,
        server: ServerId(0),
        priority: 1,
        on_behalf_of: inherits.then_some(ServerId(1)),
    }];
    let bottom_half = TaskId(0);
    let configuration = HierarchyConfiguration {
        servers: &servers,
        tasks: &tasks,
        devices: &[DeviceConfiguration { bottom_half }],
        levels: LevelSet::new(1).unwrap(),
        modes: Modes::Adaptive { pibs_raise: false },
        granularity: Service::ZERO,
        wake_granularity: vestal_core::Duration::ZERO,
    };
    let outside = Outside {
        devices: vec![Device {
            bottom_half,
            cost: ns(1),
            requested: false,
            inherits,
        }],
        waits: Vec::new(),
        hosts: Vec::new(),
    };
    let listed = Listed(events);
    let setting = Setting {
        tasks: &[task],
        cpus: 1,
        end: at(end),
        backlog: Backlog::UNLIMITED,
    };
    let amid = Amid {
        outside: Some((&outside, &listed)),
        costs: None,
    };
    let releases = ListedReleases {
        tasks: vec![Vec::new()],
    };
    let demand = ListedDemand::default();
    let mut executed = Executed::default();
    let mut engine = Hierarchy::new(&configuration).unwrap();
    simulate_amid(
        &mut engine,
        &setting,
        amid,
        &releases,
        &demand,
        &mut executed,
    )
    .unwrap();
    executed
}

/// At any time, and in half of the runs one part of a whole capacity first, and a flood when that counts no more.
fn events(period: u64, (n, d): (u64, u64), random: &mut Random) -> Vec<(u64, u64)> {
    let capacity = (period * n / d).max(1);
    let mut events = Vec::new();
    let mut now = random.below(period);
    while now < 12 * period {
        let first = random.between(1, capacity);
        events.push((now, first));
        now += match random.once_in(2) {
            true => (first * d).div_ceil(n),
            false => random.between(1, period),
        };
        events.push((now, random.between(1, 3 * capacity)));
        now += random.between(1, 2 * period);
    }
    events
}

#[test]
fn in_any_window_of_its_period_a_sporadic_server_executes_at_most_its_capacity() {
    let mut reached = 0;
    for seed in 0..250 {
        let mut random = Random::new(seed);
        let period = random.between(4, 100);
        let capacity = random.between(1, period - 1);
        let kind = sporadic(period, capacity, &mut random);
        let events = events(period, (capacity, period), &mut random);
        let most = alone(kind, period, events, 14 * period).most_in(period);
        assert!(most <= capacity, "seed {seed}: {most} of {capacity}");
        reached += u64::from(most == capacity);
    }
    assert!(reached > 150, "{reached}");
}

/// The control: a deferrable server with the same events.
#[test]
fn control_in_some_window_a_deferrable_server_executes_more_than_its_capacity() {
    let exceeds = |seed: &u64| {
        let mut random = Random::new(*seed);
        let period = random.between(4, 100);
        let capacity = random.between(1, period - 1);
        let kind = ServerKind::Deferrable {
            period: span(period),
            capacity: ByLevel::constant(ns(capacity)),
        };
        let events = events(period, (capacity, period), &mut random);
        alone(kind, period, events, 14 * period).most_in(period) > capacity
    };
    let exceeding = (0..200).filter(exceeds).count();
    assert!(exceeding > 50, "{exceeding}");
}

#[test]
fn in_any_window_of_the_period_of_its_host_a_pibs_executes_at_most_its_bound() {
    let (mut reached, mut more_than_capacity) = (0, 0);
    for seed in 0..250 {
        let mut random = Random::new(seed);
        let period = random.between(8, 100);
        let d = random.between(2, 8);
        let n = random.between(1, d - 1);
        let events = events(period, (n, d), &mut random);
        let most = alone(pibs((n, d)), period, events, 14 * period).most_in(period);
        // (2 - U) U T = (2 d - n) n T / d^2.
        let bound = (2 * d - n) * n * period / (d * d);
        assert!(most <= bound, "seed {seed}: {most} of {bound}");
        reached += u64::from(most == bound);
        more_than_capacity += u64::from(most > period * n / d);
    }
    assert!(
        reached > 15 && more_than_capacity > 150,
        "{reached} {more_than_capacity}"
    );
}

/// U = 1/4, T = 16: 3 of the 4 at 0 make the next possible at 12, and that has all 4.
#[test]
fn a_pibs_reaches_its_bound_exactly() {
    let executed = alone(pibs((1, 4)), 16, vec![(0, 3), (12, 40)], 64);
    assert_eq!(executed.within(0, 16), 7);
    assert_eq!(executed.within(0, 3) + executed.within(12, 16), 7);
    assert_eq!(executed.most_in(16), 7);
}
