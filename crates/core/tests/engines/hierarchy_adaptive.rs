//! Servers whose jobs raise the mode by themselves: drawn schedules, and when a job does or does not.

use vestal_core::model::LEVELS_MAX;
use vestal_core::*;
use vestal_testkit::hierarchies::*;
use vestal_testkit::short::{self, CPU, at, job, ns};

/// A server with a period and its only task: criticality, period, C by level, priority.
#[derive(Clone, Copy)]
struct Own<'a>(u8, u64, &'a [u64], u32);

/// Capacities are C, and nothing above the own level but what `degraded` says.
fn servers(own: &[Own<'_>], degraded: &[u64]) -> (Vec<ServerConfiguration>, Vec<ServedTask>) {
    let pairs = (0..)
        .zip(own)
        .map(|(number, &Own(level, period, wcet, priority))| {
            let mut capacity = wcet.to_vec();
            let rest = degraded.get(usize::from(number)).copied().unwrap_or(0);
            capacity.resize(LEVELS_MAX, wcet[wcet.len() - 1]);
            capacity[usize::from(level) + 1..].fill(rest);
            let server = ServerConfiguration {
                criticality: Level(level),
                ..server(sporadic_by_mode(&capacity, period), priority)
            };
            let served = ServedTask {
                task: short::task(level, period, wcet),
                ..task(number, 1, period)
            };
            (server, served)
        });
    pairs.unzip()
}

fn world_of(own: &[Own<'_>], degraded: &[u64], programs: Vec<Vec<u64>>) -> World<'static> {
    let (servers, tasks) = servers(own, degraded);
    let mut configuration = configuration(&servers, &tasks, &[]);
    configuration.levels = LevelSet::new(3).unwrap();
    world(&adaptive(&configuration, false), programs)
}

fn dropped(world: &mut World<'_>) -> Vec<(u64, JobId)> {
    let mut dropped = Vec::new();
    for (at, event) in world.events() {
        if let Event::Dropped { job, why } = event
            && why == DropReason::Mode
        {
            dropped.push((at, job));
        }
    }
    dropped
}

const L: Own<'_> = Own(0, 10, &[1], 1);
const H: Own<'_> = Own(1, 20, &[2, 5], 2);
const M: Own<'_> = Own(0, 4, &[1], 3);

#[test]
fn a_high_job_that_uses_more_than_its_low_time_drops_low_jobs_until_it_is_done() {
    let mut world = world_of(&[L, H, M], &[], vec![vec![1], vec![5], vec![1]]);
    while world.now < 9 {
        let facts = match world.now {
            0 => vec![world.release(0), world.release(2)],
            1 => vec![world.release(1)],
            4 | 8 => vec![world.release(2)],
            _ => Vec::new(),
        };
        // The job of 0 is not done: it is the least urgent.
        world.step(&facts);
        if world.now == 4 {
            assert_eq!(world.engine.mode(), Level(1));
            assert_eq!(world.engine.permit(TaskId(2)), Permit::NotAdmitted);
        }
    }
    assert_eq!(world.rows[0], "211111..2");
    assert_eq!(dropped(&mut world), [(3, job(0, 0)), (4, job(2, 1))]);
    assert_eq!(world.engine.mode(), Level(0));
}

#[test]
fn a_degraded_server_goes_on_with_less_and_keeps_its_jobs() {
    // m has 3 in mode 0 and 1 above it. Its job of 0 has executed 3 of 5 when the mode rises at 5, and waits for the
    // replenishment; that of 4 waits behind it. At the return at 12 it gets the other two.
    let (h, m) = (Own(1, 20, &[2, 8], 2), Own(0, 8, &[3], 3));
    let mut world = world_of(&[h, m], &[0, 1], vec![vec![8], vec![5]]);
    while world.now < 14 {
        let facts = match world.now {
            0 => vec![world.release(0), world.release(1)],
            4 => vec![world.release(1)],
            _ => Vec::new(),
        };
        world.step(&facts);
    }
    assert_eq!(world.rows[0], "11100000100011");
    assert_eq!(dropped(&mut world), []);
}

/// What one job of the only task, of criticality 2, does to the mode when it executes so much without an end.
fn mode_after(wcet: &[u64], amounts: &[u64]) -> Level {
    let own = Own(2, 50, wcet, 1);
    let (servers, tasks) = servers(&[own], &[]);
    let mut configuration = configuration(&servers, &tasks, &[]);
    configuration.levels = LevelSet::new(3).unwrap();
    let mut engine = Hierarchy::new(&adaptive(&configuration, false)).unwrap();
    let mut run = Run(&mut engine, 0);
    run.tell(&[Fact::Released { job: job(0, 0) }]);
    run.tell(&[Fact::Started {
        cpu: CPU,
        job: job(0, 0),
    }]);
    for &amount in amounts {
        run.1 += amount;
        run.tell(&[charged(amount)]);
    }
    engine.mode()
}

struct Run<'a>(&'a mut Hierarchy, u64);

impl Run<'_> {
    /// The slot of a decision after these facts.
    fn tell(&mut self, facts: &[Fact]) -> Option<Budget> {
        for fact in facts {
            self.0.apply(at(self.1), *fact).unwrap();
        }
        let slot = self.0.decide(at(self.1)).unwrap().slot(CPU);
        assert!(self.0.check_invariants());
        slot.and_then(|slot| slot.budget)
    }
}

fn charged(amount: u64) -> Fact {
    let amount = ns(amount);
    let (cpu, job) = (CPU, job(0, 0));
    Fact::Charged { cpu, job, amount }
}

#[test]
fn the_mode_rises_to_the_next_level_that_allows_more_and_as_far_as_was_used() {
    assert_eq!(mode_after(&[4, 5, 8], &[3]), Level(0));
    assert_eq!(mode_after(&[4, 5, 8], &[4]), Level(1));
    assert_eq!(mode_after(&[4, 4, 8], &[4]), Level(2));
    assert_eq!(mode_after(&[4, 5, 8], &[5]), Level(2));
    assert_eq!(
        mode_after(&[4, 8, 8], &[9]),
        Level(1),
        "more is its own overrun"
    );
    assert_eq!(mode_after(&[4, 4, 4], &[4]), Level(0));
}

/// C2: what is left is less than the world can enforce. The server would discard it, but has more by then.
#[test]
fn a_remainder_below_the_granularity_raises_the_mode_and_is_not_lost() {
    let (servers, tasks) = servers(&[Own(1, 50, &[5, 8], 1)], &[]);
    let mut configuration = configuration(&servers, &tasks, &[]);
    configuration.granularity = ns(3);
    let mut engine = Hierarchy::new(&adaptive(&configuration, false)).unwrap();
    let mut run = Run(&mut engine, 0);
    let (cpu, job) = (CPU, job(0, 0));
    run.tell(&[Fact::Released { job }]);
    run.tell(&[Fact::Started { cpu, job }]);
    run.1 = 3;
    let budget = run.tell(&[charged(3)]).unwrap();
    assert_eq!(budget.remaining, ns(5));
    assert_eq!(engine.mode(), Level(1));
}

#[test]
fn a_job_beyond_its_own_level_goes_on_and_is_said_to_have_overrun_once() {
    let (servers, tasks) = servers(&[Own(1, 10, &[4, 4], 1)], &[]);
    let configuration = configuration(&servers, &tasks, &[]);
    let mut engine = Hierarchy::new(&adaptive(&configuration, false)).unwrap();
    let mut run = Run(&mut engine, 0);
    let (cpu, job) = (CPU, job(0, 0));
    run.tell(&[Fact::Released { job }]);
    run.tell(&[Fact::Started { cpu, job }]);
    run.1 = 4;
    assert_eq!(run.tell(&[charged(4)]), None, "its server is used up");
    for _ in 0..3 {
        run.1 += 10;
        run.tell(&[]);
        run.tell(&[charged(4)]);
    }
    let events = vestal_testkit::world::events(&mut engine);
    let overruns = events.iter().filter_map(|(at, event)| match event {
        Event::Overrun { level, .. } => Some((*at, *level)),
        Event::ModeChanged { .. }
        | Event::Dropped { .. }
        | Event::Depleted { .. }
        | Event::Postponed { .. }
        | Event::FrameOverrun { .. }
        | Event::FramesSkipped { .. }
        | Event::Late { .. } => None,
    });
    assert_eq!(overruns.collect::<Vec<_>>(), [(4, Level(1))]);
    assert_eq!(engine.mode(), Level(0));
}

#[test]
fn a_slot_says_when_the_mode_rises_and_whose_budget_it_is() {
    let (servers, tasks) = servers(&[H], &[]);
    let configuration = configuration(&servers, &tasks, &[]);
    let mut engine = Hierarchy::new(&adaptive(&configuration, false)).unwrap();
    let mut run = Run(&mut engine, 0);
    let budget = |remaining, on_exhaustion| {
        Some(Budget {
            remaining: ns(remaining),
            owner: BudgetOwner::Server(ServerId(0)),
            on_exhaustion,
        })
    };
    let raise = OnExhaustion::RaiseMode(Level(1));
    assert_eq!(
        run.tell(&[Fact::Released { job: job(0, 0) }]),
        budget(2, raise)
    );
    run.tell(&[Fact::Started {
        cpu: CPU,
        job: job(0, 0),
    }]);
    run.1 = 2;
    // Used up and not done; the three that it has now are those of its server.
    assert_eq!(run.tell(&[charged(2)]), budget(3, OnExhaustion::Suspend));
    let raised = Event::ModeChanged {
        from: Level(0),
        to: Level(1),
        cause: Some(job(0, 0)),
    };
    let events = vestal_testkit::world::events(&mut engine);
    assert!(events.contains(&(2, raised)));
}

/// A job that blocked exactly at its low time: it goes on with a slot without budget, and only if it executes at all,
/// or says that it would, it raises the mode.
#[test]
fn a_job_that_blocks_exactly_at_its_low_time_raises_the_mode_only_if_it_goes_on() {
    let with = |last: Fact| {
        let (servers, tasks) = servers(&[Own(1, 20, &[2, 5], 1)], &[]);
        let mut configuration = configuration(&servers, &tasks, &[]);
        let kind = sporadic_by_mode(&[3, 5], 20);
        let servers = [ServerConfiguration { kind, ..servers[0] }];
        configuration.servers = &servers;
        let mut engine = Hierarchy::new(&adaptive(&configuration, false)).unwrap();
        let mut run = Run(&mut engine, 0);
        let (cpu, job) = (CPU, job(0, 0));
        run.tell(&[Fact::Released { job }]);
        run.tell(&[Fact::Started { cpu, job }]);
        run.1 = 2;
        let why = StopReason::Blocked;
        run.tell(&[charged(2), Fact::Stopped { cpu, job, why }]);
        run.1 = 4;
        let (task, on_behalf_of) = (TaskId(0), None);
        let budget = run.tell(&[Fact::Woken { task, on_behalf_of }]).unwrap();
        assert_eq!(budget.remaining, Service::ZERO);
        assert_eq!(budget.on_exhaustion, OnExhaustion::RaiseMode(Level(1)));
        assert_eq!(run.0.mode(), Level(0));
        run.tell(&[Fact::Started { cpu, job }]);
        assert_eq!(run.0.mode(), Level(0), "it has not run");
        run.tell(&[last]);
        engine.mode()
    };
    let (cpu, job) = (CPU, job(0, 0));
    assert_eq!(with(Fact::Completed { cpu, job }), Level(0));
    assert_eq!(with(charged(0)), Level(1));
}

/// A world that stops late, or completes beyond the limit: the low job that waits is dropped all the same if a high one
/// waits too. Without one the mode would return in the same decision, and the servers of those that were dropped would
/// have gained a budget.
#[test]
fn a_completed_overrun_beyond_the_granularity_raises_the_mode_if_a_high_job_is_pending() {
    let after = |granularity: u64, another: bool| {
        let (servers, tasks) = servers(
            &[
                Own(1, 20, &[3, 6], 3),
                Own(0, 20, &[3], 2),
                Own(1, 40, &[1, 2], 1),
            ],
            &[],
        );
        let mut configuration = configuration(&servers, &tasks, &[]);
        configuration.granularity = ns(granularity);
        let mut engine = Hierarchy::new(&adaptive(&configuration, false)).unwrap();
        let mut run = Run(&mut engine, 0);
        let all = [job(0, 0), job(1, 0), job(2, 0)].map(|job| Fact::Released { job });
        run.tell(&all[..if another { 3 } else { 2 }]);
        let (cpu, job) = (CPU, job(0, 0));
        run.tell(&[Fact::Started { cpu, job }]);
        run.1 = 4;
        run.tell(&[charged(4), Fact::Completed { cpu, job }]);
        let mode = engine.mode();
        let events = vestal_testkit::world::events(&mut engine);
        let count = |of: fn(&Event) -> bool| events.iter().filter(|(_, event)| of(event)).count();
        let overruns = count(|event| matches!(event, Event::Overrun { .. }));
        let changes = count(|event| matches!(event, Event::ModeChanged { .. }));
        let drops = count(|event| matches!(event, Event::Dropped { .. }));
        (overruns, changes, drops, mode)
    };
    assert_eq!(after(0, true), (1, 1, 1, Level(1)));
    assert_eq!(after(0, false), (1, 0, 0, Level(0)));
    assert_eq!(after(1, true), (0, 0, 0, Level(0)));
}

/// It has used more than the low time when it is found to have blocked: it raises the mode at once, and not only when it
/// goes on.
#[test]
fn a_job_that_blocks_beyond_its_low_time_raises_the_mode() {
    let mode_after = |executed: u64, granularity: u64| {
        let (servers, tasks) = servers(&[Own(1, 20, &[2, 8], 1)], &[]);
        let mut configuration = configuration(&servers, &tasks, &[]);
        configuration.granularity = ns(granularity);
        let mut engine = Hierarchy::new(&adaptive(&configuration, false)).unwrap();
        let mut run = Run(&mut engine, 0);
        let (cpu, job, why) = (CPU, job(0, 0), StopReason::Blocked);
        run.tell(&[Fact::Released { job }]);
        run.tell(&[Fact::Started { cpu, job }]);
        run.1 = executed;
        run.tell(&[charged(executed), Fact::Stopped { cpu, job, why }]);
        engine.mode()
    };
    assert_eq!(mode_after(2, 0), Level(0));
    assert_eq!(mode_after(3, 0), Level(1));
    assert_eq!(mode_after(3, 1), Level(0));
    assert_eq!(mode_after(4, 1), Level(1));
}

/// The mode is asked for at the instant of the first high job: that counts, whatever is told first; a low job of that
/// instant is dropped. At an instant without a high job it means nothing.
#[test]
fn a_request_at_the_instant_of_the_first_high_job_raises_the_mode() {
    let rows = |with_high: bool, is_first: bool| {
        let mut world = world_of(&[L, H], &[], vec![vec![1], vec![2]]);
        let (low, high) = (world.release(0), world.release(1));
        let request = Fact::ModeRequested { level: Level(1) };
        let mut facts = vec![low];
        facts.extend(with_high.then_some(high));
        facts.insert(if is_first { 0 } else { facts.len() }, request);
        world.step(&facts);
        let mode = world.engine.mode();
        for _ in 0..4 {
            world.step(&[]);
        }
        (world.rows.remove(0), mode)
    };
    for is_first in [true, false] {
        assert_eq!(rows(true, is_first), ("11...".to_owned(), Level(1)));
        assert_eq!(rows(false, is_first), ("0....".to_owned(), Level(0)));
    }
}

/// A job of level 1 keeps its degraded server in mode 2. At the return it goes on, and raises no mode any more.
#[test]
fn a_job_that_was_pending_at_the_return_raises_no_mode() {
    let top = Own(2, 50, &[1, 1, 6], 3);
    let middle = Own(1, 50, &[3, 5], 2);
    let mut world = world_of(&[top, middle], &[0, 2], vec![vec![3], vec![6]]);
    while world.now < 12 {
        let facts = match world.now {
            0 => vec![world.release(1)],
            2 => vec![world.release(0)],
            _ => Vec::new(),
        };
        world.step(&facts);
    }
    // In mode 2 from 3 to 5, which took one of the two that its server had used. It has used its three then, and no more:
    // nothing raises the mode to 1, in which it would have five.
    assert_eq!(world.rows[0], "110001......");
    assert_eq!(world.engine.mode(), Level(0));
}
