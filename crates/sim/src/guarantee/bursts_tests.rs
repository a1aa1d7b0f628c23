//! Bursts by what happens to them: a PIBS of a quarter, in mode 1 of a half or of less, on behalf of a server with T = 16.

use super::*;
use crate::guarantee::Guarantee;
use crate::observer::Observer;
use crate::statistics::Statistics;
use vestal_core::{
    DeviceConfiguration, LevelSet, LocalOrder, Modes, ServedTask, ServerConfiguration, Task, Wcet,
    WhenFull,
};
use vestal_testkit::short::{CPU, at, job, ns, span};

const LO: Level = Level(0);
const HI: Level = Level(1);
const DEVICE: DeviceId = DeviceId(0);
/// The task of the host, one of another server, and the bottom half.
const OWN: u16 = 0;
const OTHER: u16 = 1;
const HALF: u16 = 2;

struct Run(Guarantee);

/// A PIBS of this level with these shares; its host is HI, and so is the other server.
fn run(level: Level, shares: [(u64, u64); 2]) -> Run {
    let server = |kind, criticality| ServerConfiguration {
        kind,
        priority: 1,
        criticality,
        order: LocalOrder::FixedPriority,
    };
    let sporadic = ServerKind::Sporadic {
        period: span(16),
        capacity: ByLevel::constant(ns(4)),
        replenishments: 8,
        full: WhenFull::MergeHead,
    };
    let utilization = ByLevel::new(&shares.map(|(n, d)| Utilization::new(n, d).unwrap())).unwrap();
    let servers = [
        server(sporadic, HI),
        server(sporadic, HI),
        server(ServerKind::Pibs { utilization }, level),
    ];
    let task = |server, on_behalf_of| ServedTask {
        task: Task::new(HI, span(16), span(16), Wcet::constant(ns(4))).unwrap(),
        server: ServerId(server),
        priority: 1,
        on_behalf_of,
    };
    let tasks = [
        task(OWN, None),
        task(OTHER, None),
        task(HALF, Some(ServerId(OWN))),
    ];
    Run(Guarantee::of_servers(&HierarchyConfiguration {
        servers: &servers,
        tasks: &tasks,
        devices: &[DeviceConfiguration {
            bottom_half: TaskId(HALF),
        }],
        levels: LevelSet::new(2).unwrap(),
        modes: Modes::Adaptive { pibs_raise: false },
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    }))
}

fn quarter() -> Run {
    run(LO, [(1, 4), (0, 1)])
}

fn state(task: u16) -> JobState {
    JobState::arriving(job(task, 0), at(0), span(16), ns(1))
}

impl Run {
    fn come(&mut self, now: u64, events: u64) -> &mut Self {
        self.0.interrupted(at(now), DEVICE, events, 0);
        self
    }
    fn ran(&mut self, from: u64, to: u64) -> &mut Self {
        let segment = Segment {
            cpu: CPU,
            start: at(from),
            end: at(to),
        };
        self.0.executed(segment, &state(HALF));
        self
    }
    fn served(&mut self, now: u64, events: u64) -> &mut Self {
        for _ in 0..events {
            self.0.served(at(now), DEVICE, &state(HALF));
        }
        self
    }
    fn mode(&mut self, from: Level, to: Level, now: u64) -> &mut Self {
        self.0.mode_changed(at(now), from, to, None);
        self
    }
    fn end(&mut self, now: u64) -> BurstCounts {
        self.0.finished(at(now));
        self.0.bursts()
    }
}

const fn counts(kept: u64, broken: u64) -> BurstCounts {
    BurstCounts {
        kept,
        broken,
        of_others: 0,
        cut: 0,
        uncalled: 0,
    }
}

/// The next burst of a quarter that has used 2 of a period of 16 may begin at 8, and each may use 4.
#[test]
fn what_begins_too_early_or_takes_too_long_in_one_piece_is_found() {
    let again_at = |from: u64, to: u64| {
        let mut run = quarter();
        run.come(0, 1).ran(0, 2).served(2, 1).come(3, 1);
        run.ran(from, to).served(to, 1).end(90)
    };
    let with = |kept, uncalled| BurstCounts {
        uncalled,
        ..counts(kept, 0)
    };
    assert_eq!(again_at(8, 10), with(2, 0));
    assert_eq!(again_at(5, 9), with(2, 1));
    let once_until = |to: u64| quarter().come(0, 1).ran(0, to).served(to, 1).end(90);
    assert_eq!(once_until(4), with(1, 0));
    assert_eq!(once_until(7), with(1, 1));
}

#[test]
fn a_burst_is_to_be_over_a_period_after_its_activation() {
    let handled_at = |now: u64| {
        quarter()
            .come(3, 1)
            .ran(now - 1, now)
            .served(now, 1)
            .end(90)
    };
    assert_eq!(handled_at(19), counts(1, 0));
    assert_eq!(handled_at(20), counts(0, 1));
    // Not handled at all until the end of the run.
    assert_eq!(quarter().come(3, 1).end(19), counts(0, 0));
    assert_eq!(quarter().come(3, 1).end(20), counts(0, 1));
    assert_eq!(quarter().end(90), counts(0, 0));
}

/// With the bounds of a test, in mode 0 and in any.
#[test]
fn a_burst_is_to_be_over_within_its_bound_if_that_is_known() {
    let handled_at = |now: u64, rise: Option<u64>| {
        let mut run = run(HI, [(1, 4), (1, 4)]);
        let bounds = vec![Vec::new(), Vec::new(), vec![Some(span(5)), Some(span(9))]];
        run.0 = run.0.within(&bounds);
        run.come(3, 1);
        if let Some(rise) = rise {
            run.mode(LO, HI, rise);
        }
        run.ran(now - 1, now).served(now, 1).end(90)
    };
    assert_eq!(
        (handled_at(8, None), handled_at(9, None)),
        (counts(1, 0), counts(0, 1))
    );
    let raised = [12, 13].map(|now| handled_at(now, Some(4)));
    assert_eq!(raised, [counts(1, 0), counts(0, 1)]);
}

/// Figure 6: [9, 10), and again from 9 + 1 / U = 13 on, three units; then not before 25. An event that waits for that is not in
/// any burst.
#[test]
fn what_waits_for_the_next_burst_is_in_none() {
    let mut run = quarter();
    run.come(9, 1).ran(9, 10).served(10, 1);
    run.come(11, 1).ran(28, 29).served(29, 1);
    // From 13 on, not from 11.
    assert_eq!(run.end(40), counts(2, 0));
    let mut run = quarter();
    run.come(9, 1).ran(9, 10).served(10, 1);
    run.come(11, 1).ran(29, 30).served(30, 1);
    assert_eq!(run.end(40), counts(1, 1));
    // Four units are all that there is for a period: the fifth event is in the burst from 16 on.
    let mut run = quarter();
    run.come(0, 5).ran(0, 4).served(4, 4);
    assert_eq!(run.0.bursts(), counts(1, 0));
    run.ran(31, 32).served(32, 1);
    assert_eq!(run.end(90), counts(2, 0));
}

/// One that comes at the instant at which a burst has no work left extends it.
#[test]
fn an_event_at_the_end_of_a_burst_belongs_to_it() {
    let mut run = quarter();
    run.come(0, 1).ran(0, 1).served(1, 1).come(1, 1);
    run.ran(1, 2).served(2, 1);
    assert_eq!(run.end(90), counts(1, 0));
    // Two units from 0 on: not before 8.
    let early = |from: u64| {
        let mut run = quarter();
        run.come(0, 1).ran(0, 1).served(1, 1).come(1, 1);
        run.ran(1, 2).served(2, 1).come(3, 1);
        run.ran(from, from + 1).served(from + 1, 1).end(90)
    };
    assert_eq!(early(8), counts(2, 0));
    assert_eq!(early(7).uncalled, 1);
}

/// The job that was woken by it waits again at once: that is decided later, and the event after that.
#[test]
fn an_event_that_a_woken_job_asks_for_at_the_end_of_a_burst_belongs_to_the_next_one() {
    let again = |from: u64| {
        let mut run = quarter();
        run.come(0, 1).ran(0, 1).served(1, 1);
        run.0.blocked(at(1), CPU, &state(OWN), DEVICE);
        run.come(1, 1)
            .ran(from, from + 1)
            .served(from + 1, 1)
            .end(90)
    };
    assert_eq!(again(4), counts(2, 0));
    assert_eq!(again(3).uncalled, 1);
    assert_eq!((again(19), again(20)), (counts(2, 0), counts(1, 1)));
}

#[test]
fn what_is_executed_without_a_burst_is_found() {
    let mut run = quarter();
    run.ran(3, 4);
    assert_eq!(run.end(9).uncalled, 1);
    // More than its capacity of 4.
    let mut run = quarter();
    run.come(0, 9).ran(0, 4).served(4, 4).ran(4, 5);
    assert_eq!(run.end(9).uncalled, 1);
    // In a mode in which it has none; its events wait for the return.
    let mut run = quarter();
    run.mode(LO, HI, 2).come(3, 1).ran(5, 6);
    assert_eq!(run.end(9).uncalled, 1);
    let mut run = quarter();
    run.mode(LO, HI, 2).come(3, 1).mode(HI, LO, 50).ran(65, 66);
    assert_eq!(run.served(66, 1).end(90), counts(1, 0));
}

#[test]
fn a_burst_ends_with_the_mode_and_may_be_late_by_then() {
    let cut = |from: Level, to: Level, now: u64| {
        let mut run = run(HI, [(1, 4), (1, 2)]);
        if from == HI {
            run.mode(LO, HI, 1);
        }
        run.come(3, 1).mode(from, to, now).end(now)
    };
    // At the return: it began at 3.
    assert_eq!(
        (cut(HI, LO, 19), cut(HI, LO, 20)),
        (counts(1, 0), counts(0, 1))
    );
    // At a rise it goes on, with 8 instead of 4 units.
    assert_eq!(cut(LO, HI, 19), counts(0, 0));
    let mut run = run(HI, [(1, 4), (1, 2)]);
    run.come(0, 9).ran(0, 3).served(3, 3).mode(LO, HI, 3);
    run.ran(3, 8).served(8, 5);
    assert_eq!(run.0.bursts(), counts(1, 0));
    // The next one from 8 / (1/2) = 16 on.
    run.ran(16, 17).served(17, 1);
    assert_eq!(run.end(90), counts(2, 0));
}

/// A LO PIBS with an eighth in mode 1 that has executed one of its two units there, or has used them up.
#[test]
fn a_burst_whose_share_falls_is_not_guaranteed() {
    let mut early = run(LO, [(1, 4), (1, 8)]);
    early.come(0, 4).ran(0, 1).served(1, 1).mode(LO, HI, 1);
    early.ran(40, 41).served(41, 1);
    assert_eq!(
        early.end(41),
        BurstCounts {
            cut: 1,
            ..counts(0, 0)
        }
    );
    let mut late = run(LO, [(1, 4), (1, 8)]);
    late.come(0, 4).ran(0, 3).served(3, 3).mode(LO, HI, 3);
    assert_eq!(late.end(3), counts(1, 0));
}

#[test]
fn a_burst_for_which_a_task_of_another_server_waits_is_not_guaranteed() {
    let waits = |task: u16| {
        let mut run = quarter();
        run.0.blocked(at(1), CPU, &state(task), DEVICE);
        run.come(3, 1).ran(40, 41).served(41, 1).end(90)
    };
    assert_eq!(waits(OWN), counts(0, 1));
    let of_others = BurstCounts {
        of_others: 1,
        ..counts(0, 0)
    };
    assert_eq!(waits(OTHER), of_others);
}

/// What commands and sweeps count goes through statistics, which have to pass on all that a guarantee hears.
#[test]
fn statistics_count_bursts_as_their_guarantee_does() {
    let segment = |from, to| Segment {
        cpu: CPU,
        start: at(from),
        end: at(to),
    };
    let mut run = quarter();
    run.come(0, 1).ran(0, 2).served(2, 1);
    run.come(3, 1).ran(30, 31).served(31, 1);
    let mut statistics = Statistics::of_guarantee(quarter().0, 3, 1);
    for (come, from, to) in [(0, 0, 2), (3, 30, 31)] {
        statistics.interrupted(at(come), DEVICE, 1, 0);
        statistics.executed(segment(from, to), &state(HALF));
        statistics.served(at(to), DEVICE, &state(HALF));
    }
    statistics.finished(at(90));
    assert_eq!(run.end(90), counts(1, 1));
    assert_eq!(statistics.bursts(), counts(1, 1));
}
