//! Rules (a) and (b) of [`crate::server::Pibs`], and those of mode changes, can be broken here, to show what they
//! are good for.

mod campaign;
mod changes;
mod returns;

/// A unit test's core is not the one that the kit of tests is built with, so its world is built with this one.
#[allow(
    dead_code,
    unreachable_pub,
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "not all of a public kit is used here, and a test may fail loudly"
)]
#[path = "."]
mod kit {
    #[path = "../../../../testkit/src/hierarchies.rs"]
    pub(super) mod hierarchies;
    #[path = "../../../../testkit/src/random.rs"]
    pub(super) mod random;
    #[path = "../../../../testkit/src/short.rs"]
    pub(super) mod short;
    #[path = "../../../../testkit/src/world.rs"]
    pub(super) mod world;
}

use super::Hierarchy;
use super::modes::Burst;
use crate::server::Server;
use crate::store::Store;
use crate::*;
use core::cell::Cell;
use kit::hierarchies::*;
use kit::random::Random;
use kit::short::{ns, span};
use std::vec;
use std::vec::Vec;

/// A rule that can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A burst keeps priority and capacity of its activation.
    A,
    /// Whom a PIBS may serve in a raised mode.
    B,
    /// More budget counts from the use that ends in the same decision only.
    Grow,
    /// What was used of a capacity that fell is used of one that rises again.
    Memory,
    /// Bursts end when the mode returns, or leaves no place for them.
    Bursts,
    /// Hosts are remembered by mode.
    Hosts,
    /// A request for a mode in which nothing is pending means nothing.
    Requests,
    /// At the return the use of a sporadic server ends.
    Uses,
    /// Jobs of servers without a budget are dropped.
    Drops,
    /// A larger share makes a burst that is over count for a shorter time.
    Regain,
    /// A burst under way has the capacity of the new mode.
    Resize,
}

std::thread_local! {
    static BROKEN: Cell<Option<Rule>> = const { Cell::new(None) };
}

/// Whether engines of this thread do without `rule`.
pub(super) fn is_broken(rule: Rule) -> bool {
    BROKEN.get() == Some(rule)
}

/// What `run` gives without `rule`.
fn without<T>(rule: Rule, run: impl FnOnce() -> T) -> T {
    BROKEN.set(Some(rule));
    let given = run();
    BROKEN.set(None);
    given
}

/// An active PIBS takes over the priority of whom its latest event is for.
pub(super) fn break_rule_a<S: Store>(engine: &mut Hierarchy<S>, task: TaskId) {
    if !is_broken(Rule::A) {
        return;
    }
    let own = engine.tasks[task.index()].server;
    let served = engine.work[task.index()].hosts.at(engine.mode);
    let priority = served.map(|served| engine.seats[served.index()].configuration.priority);
    if let (Some((seat, _)), Some(priority)) = (engine.seat_mut(own), priority)
        && let Server::Pibs(pibs) = &mut seat.server
    {
        pibs.inherit_while_active(priority);
    }
}

/// More budget counts from the last use, whenever that ended, or whatever was used before.
pub(super) fn break_growing(server: &mut Server, now: Instant) {
    let Server::Sporadic(server) = server else {
        return;
    };
    if is_broken(Rule::Grow) {
        server.pretend_used_up(now);
    }
    if is_broken(Rule::Memory) {
        server.forget();
    }
}

/// Bursts go on with what they had, or larger shares change nothing for them.
pub(super) fn break_bursts(is_rise: bool, burst: Burst) -> (bool, Burst) {
    match (BROKEN.get(), burst) {
        (Some(Rule::Bursts), _) | (Some(Rule::Resize), Burst::HasCapacityFor(_)) => {
            (is_rise, Burst::GoesOn)
        }
        (Some(Rule::Regain), _) => (false, burst),
        _ => (is_rise, burst),
    }
}

/// The last tick of `who` before `until`, plus one: when its job was complete.
fn end_of(trace: &str, who: char, until: usize) -> usize {
    trace[..until].rfind(who).unwrap() + 1
}

fn interrupt_for(server: u16, count: u32) -> [Fact; 2] {
    [
        Fact::Interrupt {
            device: DeviceId(0),
            count,
        },
        Fact::Woken {
            task: TaskId(1),
            on_behalf_of: Some(ServerId(server)),
        },
    ]
}

/// Servers T = 21, C = 1 and T = 7, C = 1, and between them in the order of ties a PIBS with U = 1/7
/// that runs on behalf of either. A task in each, one unit a job.
fn system_a() -> World<'static> {
    let servers = [
        server(sporadic(1, 21, 4), 1),
        server(pibs(1, 7), 0),
        server(sporadic(1, 7, 4), 2),
    ];
    let mut tasks = [task(0, 1, 21), task(1, 1, 21), task(2, 1, 7)];
    tasks[1].on_behalf_of = Some(ServerId(0));
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(1),
    }];
    let programs = vec![vec![1], vec![1], vec![1]];
    world(&configuration(&servers, &tasks, &devices), programs)
}

/// Response time of the task of the server with T = 7, when an event on its behalf arrives together
/// with its job while the PIBS has three units to execute for the other server.
fn response_a() -> usize {
    let mut world = system_a();
    let mut first = Vec::from(interrupt_for(0, 3));
    first.push(world.release(0));
    world.step(&first);
    let mut second = Vec::from(interrupt_for(2, 1));
    second.push(world.release(2));
    world.step(&second);
    for _ in 2..7 {
        world.step(&[]);
    }
    end_of(&world.rows[0], '2', 7) - 1
}

/// Response-time bound of that task: 1 + (1 + 1 - U) U T = 20/7 (Missimer et al. 2016, equation 1).
const BOUND_A_SEVENTHS: usize = 20;

#[test]
fn rule_a_a_burst_keeps_the_priority_of_whom_it_was_started_for() {
    assert_eq!(response_a(), 1);
    let broken = without(Rule::A, response_a);
    assert_eq!(broken, 4);
    assert!(broken * 7 > BOUND_A_SEVENTHS);
}

/// The longest response of that task over random arrivals.
fn longest_response_a(runs: u64) -> usize {
    let mut longest = 0;
    for seed in 0..runs {
        let mut random = Random::new(seed);
        let mut world = system_a();
        let (mut next_short, mut next_long) = (random.below(10), random.below(10));
        let mut released = None;
        for now in 0..150 {
            let mut facts = Vec::new();
            if world.completes_now(2) {
                longest = longest.max((now - released.take().unwrap()) as usize);
            }
            if random.below(4) == 0 {
                let served = if random.below(2) == 0 { 0 } else { 2 };
                facts.extend(interrupt_for(served, 1 + random.below(3) as u32));
            }
            if now == next_long {
                next_long = now + 21 + random.below(5);
                facts.push(world.release(0));
            }
            if now == next_short {
                next_short = now + 7 + random.below(5);
                released = Some(now);
                facts.push(world.release(2));
            }
            world.step(&facts);
        }
    }
    longest
}

#[test]
fn rule_a_keeps_random_systems_below_the_bound_and_without_it_they_exceed_it() {
    assert!(longest_response_a(1000) * 7 <= BOUND_A_SEVENTHS);
    assert!(without(Rule::A, || longest_response_a(1000)) * 7 > BOUND_A_SEVENTHS);
}

fn by_mode(low: u64, high: u64, period: u64) -> ServerKind {
    ServerKind::Sporadic {
        period: span(period),
        capacity: ByLevel::new(&[ns(low), ns(high)]).unwrap(),
        replenishments: 8,
        full: WhenFull::MergeHead,
    }
}

/// Servers T = 5, C = 1 (LO); T = 11, C = 1 (HI); T = 25, C = 6 or 11 (HI); a LO PIBS with U = 1/5
/// that serves the first. All always want to run; the job of the last needs 11. Returns the
/// world after 40 ticks; the mode rises at the instant at which that job has used up its 6.
fn run_b() -> World<'static> {
    let mut servers = [
        server(by_mode(1, 0, 5), 3),
        server(pibs(1, 5), 0),
        server(by_mode(1, 1, 11), 2),
        server(by_mode(6, 11, 25), 1),
    ];
    servers[2].criticality = Level(1);
    servers[3].criticality = Level(1);
    let mut tasks = [task(0, 1, 5), task(1, 1, 5), task(2, 1, 11), task(3, 1, 25)];
    tasks[1].on_behalf_of = Some(ServerId(0));
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(1),
    }];
    let programs = vec![vec![1], vec![1], vec![1], vec![11]];
    let mut world = kit::hierarchies::world(&configuration(&servers, &tasks, &devices), programs);
    while world.now < 40 {
        let mut facts = Vec::new();
        if world.now == 0 {
            facts.extend(interrupt_for(0, 9));
            facts.push(world.release(3));
        }
        if world.now.is_multiple_of(5) {
            facts.push(world.release(0));
        }
        if world.now.is_multiple_of(11) {
            facts.push(world.release(2));
        }
        if world.rows[0].matches('3').count() == 6 && world.engine.mode() == Level(0) {
            facts.push(Fact::ModeRequested { level: Level(1) });
        }
        world.step(&facts);
    }
    world
}

fn response_b() -> usize {
    end_of(&run_b().rows[0], '3', 25)
}

#[test]
fn events_that_rule_b_holds_back_do_not_hold_up_the_return_to_mode_0() {
    let world = run_b();
    // The HI job ends at 19, and with it the raised mode: task 0 goes on with its job of 15, the PIBS
    // with the next event; the job of 20 has to wait until 24.
    assert_eq!(world.rows[0][14..22], *"3333301.");
    assert_eq!(world.engine.mode(), Level(0));
}

#[test]
fn rule_b_a_low_pibs_serves_only_high_servers_after_the_switch() {
    // 11 + 2 * 1 + 3 * 1 + (1 + 3 - 1/5) * 5 * 1/5 (Missimer et al. 2016, equation 14, the PIBS' server
    // known).
    let bound_fifths = 99;
    let kept = response_b();
    let broken = without(Rule::B, response_b);
    assert_eq!((kept, broken), (19, 20));
    assert!(kept * 5 <= bound_fifths);
    assert!(broken * 5 > bound_fifths);
}
