//! Sets that `amc-rtb` accepts, each task in a sporadic server of its own: a server interferes as its task does (equations
//! 7 to 9 and 14 of Missimer, Missimer and West, 2016, without PIBS), so that no job that is guaranteed anything by
//! [`Guarantee::of_servers`] takes longer than its bound, whatever the other jobs do: block, overrun, or wait in a queue.
//!
//! The bounds stand for the deadlines. A judge that does not hear of something must find fault with such runs, and a scheduler
//! that does not do what was proved must be found at fault.

use crate::common::Random;
use crate::common::system::{text, workload_of};
use crate::control;
use crate::patterns;
use crate::reference::System;
use crate::sets::Sets;
use crate::subject::{Subject, system_of};
use crate::the_test;
use std::cell::Cell;
use vestal_analysis::{Outcome, Problem, Scratch, Test};
use vestal_core::{
    ByLevel, CpuId, DeviceConfiguration, DeviceId, DropReason, Exhaustion, Hierarchy,
    HierarchyConfiguration, Instant, JobId, Level, LevelSet, LocalOrder, Modes, ServedTask,
    ServerConfiguration, ServerId, ServerKind, Service, Task, TaskId, Wcet, WhenFull,
};
use vestal_sim::guarantee::{Guarantee, Judge};
use vestal_sim::outside::{Device, Wait};
use vestal_sim::{Amid, Backlog, JobState, Observer, Outside, Segment, Setting, simulate_amid};
use vestal_testkit::random::mix;
use vestal_testkit::short::{at, ns, span};

const SETS: u64 = 8_000;
const RUNS: u64 = 8;

/// What is not as it was proved, or not heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The scheduler has the servers of the set in the opposite order.
    Order,
    /// It gives the most urgent server a capacity of one more.
    Capacity,
    /// The judge does not hear of changes of mode.
    Modes,
    /// Of jobs that block.
    Blocking,
    /// Of what jobs execute.
    Executions,
    /// It takes every server for one that has done nothing when the mode returns.
    CleanAtReturn,
}

/// Tells the judge, but for what the fault is.
struct Hears<J> {
    judge: J,
    /// Before it has heard of anything.
    fresh: J,
    /// Jobs that are not over.
    pending: Vec<JobState>,
    fault: Fault,
    mode: Level,
    /// By task, whether it is of the lower level.
    low: Vec<bool>,
    seen: Seen,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Sets for which there are such servers.
    sets: u64,
    accepted: u64,
    runs: u64,
    jobs: u64,
    rises: u64,
    blocked: u64,
    /// Jobs of servers that go on with less executed above their level.
    degraded: u64,
    excused: u64,
    broken: u64,
}

impl<J: Observer + Clone> Hears<J> {
    /// Forgets all but how many jobs of each task wait, none of which is to be judged.
    fn forget(&mut self, at: Instant) {
        self.judge = self.fresh.clone();
        for job in &self.pending {
            let mut unknown = *job;
            unknown.id.sequence = u64::MAX;
            self.judge.released(at, &unknown);
        }
    }

    fn is_over(&mut self, job: &JobState) {
        self.pending.retain(|other| other.id != job.id);
    }
}

impl<J: Observer + Clone> Observer for Hears<J> {
    fn released(&mut self, at: Instant, job: &JobState) {
        self.seen.jobs += 1;
        self.pending.push(*job);
        self.judge.released(at, job);
    }
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let is_above = self.mode > Level(0) && self.low[job.id.task.index()];
        self.seen.degraded += u64::from(is_above);
        if self.fault != Fault::Executions {
            self.judge.executed(segment, job);
        }
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.is_over(job);
        self.judge.completed(at, job);
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        self.is_over(job);
        self.judge.dropped(at, job, why);
    }
    fn blocked(&mut self, at: Instant, cpu: CpuId, job: &JobState, device: DeviceId) {
        self.seen.blocked += 1;
        if self.fault != Fault::Blocking {
            self.judge.blocked(at, cpu, job, device);
        }
    }
    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, cause: Option<JobId>) {
        self.seen.rises += u64::from(to > from);
        self.mode = to;
        if self.fault == Fault::CleanAtReturn && to == Level(0) {
            self.forget(at);
        } else if self.fault != Fault::Modes {
            self.judge.mode_changed(at, from, to, cause);
        }
    }
    fn unfinished(&mut self, end: Instant, job: &JobState) {
        self.judge.unfinished(end, job);
    }
}

/// A set in servers, with a device that serves those who block below everybody.
struct InServers {
    servers: Vec<ServerConfiguration>,
    tasks: Vec<ServedTask>,
    waits: Vec<Vec<Wait>>,
}

impl InServers {
    /// Deadlines are the bounds.
    fn new(problem: &Problem, outcome: &Outcome, random: &mut Random) -> Self {
        let highest = Level(1);
        let mut new = Self {
            servers: Vec::new(),
            tasks: Vec::new(),
            waits: Vec::new(),
        };
        for (task, found) in problem.tasks().iter().zip(&outcome.tasks) {
            let above = match task.criticality {
                level if level == highest => task.own_wcet(),
                _ => task.degraded.unwrap_or(Service::ZERO),
            };
            let capacity = [task.wcet.at(Level(0)), above];
            let bound = found.responses[task.criticality.index()].unwrap();
            let task = Task {
                deadline: bound,
                ..*task
            };
            new.add(task, capacity, found.priority.unwrap() + 1);
            let wait = Wait {
                after: ns(random.between(0, task.own_wcet().as_nanos())),
                device: DeviceId(0),
                events: random.between(1, 3),
            };
            new.waits.push(match random.once_in(3) {
                true => vec![wait],
                false => Vec::new(),
            });
        }
        let wcet = Wcet::constant(ns(1));
        let bottom_half = Task::new(highest, span(1), span(1), wcet).unwrap();
        new.add(bottom_half, [ns(2); 2], 0);
        new
    }

    fn add(&mut self, task: Task, capacity: [Service; 2], priority: u32) {
        let server = ServerId(self.servers.len() as u16);
        self.servers.push(ServerConfiguration {
            kind: ServerKind::Sporadic {
                period: task.period.max(span(2)),
                capacity: ByLevel::new(&capacity).unwrap(),
                replenishments: 200,
                full: WhenFull::MergeHead,
            },
            priority,
            criticality: task.criticality,
            order: LocalOrder::FixedPriority,
        });
        self.tasks.push(ServedTask {
            task,
            server,
            priority: 1,
            on_behalf_of: None,
        });
    }

    fn bottom_half(&self) -> TaskId {
        TaskId(self.tasks.len() as u16 - 1)
    }

    fn with<T>(
        &self,
        servers: &[ServerConfiguration],
        what: impl FnOnce(&HierarchyConfiguration<'_>) -> T,
    ) -> T {
        let bottom_half = self.bottom_half();
        what(&HierarchyConfiguration {
            servers,
            tasks: &self.tasks,
            devices: &[DeviceConfiguration { bottom_half }],
            levels: LevelSet::new(2).unwrap(),
            modes: Modes::Adaptive { pibs_raise: false },
            granularity: Service::ZERO,
            wake_granularity: vestal_core::Duration::ZERO,
        })
    }

    fn engine(&self, fault: Fault) -> Hierarchy {
        let mut servers = self.servers.clone();
        let own = servers.len() as u32 - 1;
        let changed = servers.iter_mut().filter(|server| server.priority > 0);
        for server in changed {
            match fault {
                Fault::Order => server.priority = own + 1 - server.priority,
                Fault::Capacity if server.priority == own => {
                    if let ServerKind::Sporadic {
                        capacity, period, ..
                    } = &mut server.kind
                    {
                        let more = |level| capacity.at(level).saturating_add(ns(1));
                        let whole = Service::supplied_during(*period);
                        *capacity = ByLevel::from_fn(|level| more(level).min(whole));
                    }
                }
                Fault::Capacity
                | Fault::None
                | Fault::Modes
                | Fault::Blocking
                | Fault::Executions
                | Fault::CleanAtReturn => {}
            }
        }
        self.with(&servers, |configuration| {
            Hierarchy::new(configuration).unwrap()
        })
    }

    fn run(&self, system: &System, fault: Fault) -> Seen {
        let tasks: Vec<Task> = self.tasks.iter().map(|entry| entry.task).collect();
        let outside = Outside {
            devices: vec![Device {
                bottom_half: self.bottom_half(),
                cost: ns(1),
                requested: true,
                inherits: false,
            }],
            waits: self.waits.clone(),
            hosts: Vec::new(),
        };
        let (mut releases, mut demand) = workload_of(system);
        releases.tasks.push(Vec::new());
        demand.tasks.push(Vec::new());
        let setting = Setting {
            tasks: &tasks,
            cpus: 1,
            end: at(system.end),
            backlog: Backlog::UNLIMITED,
        };
        let amid = Amid {
            outside: Some((&outside, &())),
            costs: None,
        };
        let guarantee = self.with(&self.servers, Guarantee::of_servers);
        let (excused, broken) = (Cell::new(0), Cell::new(0));
        let count = |now: Instant, job: &JobState, guaranteed: bool| {
            if guaranteed && broken.get() == 0 {
                println!("at {now:?} {job:?}");
            }
            excused.set(excused.get() + u64::from(!guaranteed));
            broken.set(broken.get() + u64::from(guaranteed));
        };
        let judge = Judge::new(guarantee, count);
        let mut hears = Hears {
            fresh: judge.clone(),
            judge,
            pending: Vec::new(),
            fault,
            mode: Level(0),
            low: tasks
                .iter()
                .map(|task| task.criticality == Level(0))
                .collect(),
            seen: Seen::default(),
        };
        let mut engine = self.engine(fault);
        simulate_amid(&mut engine, &setting, amid, &releases, &demand, &mut hears).unwrap();
        let seen = hears.seen;
        Seen {
            runs: 1,
            excused: excused.get(),
            broken: broken.get(),
            ..seen
        }
    }
}

impl Seen {
    fn add(&mut self, more: &Self) {
        self.runs += more.runs;
        self.jobs += more.jobs;
        self.rises += more.rises;
        self.blocked += more.blocked;
        self.degraded += more.degraded;
        self.excused += more.excused;
        self.broken += more.broken;
    }
}

/// Two levels, and no server with nothing at its level or more above it.
fn can_be_served(problem: &Problem) -> bool {
    let mut tasks = problem.tasks().iter();
    let fits = |task: &Task| {
        let own = task.own_wcet();
        !task.wcet.at(Level(0)).is_zero() && task.degraded.is_none_or(|budget| budget <= own)
    };
    problem.levels().count() == 2 && tasks.all(fits)
}

/// Until the first guarantee that was not kept.
fn campaign(test: &'static Test, fault: Fault) -> Seen {
    let subject = Subject {
        sets: Sets::Degraded,
        ..Subject::real(test)
    };
    let mut scratch = Scratch::default();
    let mut all = Seen::default();
    for number in 0..SETS {
        let mut random = Random::new(mix(number));
        let mut set = subject.sets.draw(&mut random);
        if !can_be_served(&set.problem()) {
            continue;
        }
        all.sets += 1;
        let mut accepts =
            |problem: &Problem| can_be_served(problem) && test.accepts(problem, &mut scratch);
        if !accepts(&set.problem()) {
            continue;
        }
        if random.once_in(2) {
            set.move_to_border(&mut accepts, &mut random);
        }
        all.accepted += 1;
        let problem = set.problem();
        let outcome = test.analyse(&problem);
        let mut system = system_of(&problem, &outcome, &subject, Exhaustion::Background);
        for _ in 0..RUNS {
            let served = InServers::new(&problem, &outcome, &mut random);
            patterns::draw(&mut system, set.unit, &mut random);
            let seen = served.run(&system, fault);
            all.add(&seen);
            if seen.broken > 0 {
                println!("set {number}: {:?}\n{}", served.waits, text(&system));
                return all;
            }
        }
    }
    all
}

#[test]
fn what_amc_rtb_accepts_keeps_its_bounds_in_sporadic_servers() {
    let seen = campaign(the_test("amc-rtb"), Fault::None);
    println!("{seen:?}");
    assert_eq!(seen.broken, 0, "{seen:?}");
    let percent = seen.accepted * 100 / seen.sets;
    assert!((5..=95).contains(&percent), "{seen:?}");
    let each = [seen.rises, seen.blocked, seen.degraded, seen.excused];
    assert!(each.iter().all(|&count| count > 1000), "{seen:?}");
}

/// What was proved of others, or is not carried out: somebody who was guaranteed something is late, and the judge says so.
#[test]
fn who_is_late_by_our_own_fault_was_guaranteed_something() {
    let dropped = control("control-degraded-dropped");
    let real = the_test("amc-rtb");
    for (test, fault) in [
        (dropped, Fault::None),
        (real, Fault::Order),
        (real, Fault::Capacity),
    ] {
        let seen = campaign(test, fault);
        println!("{test} {fault:?}: {seen:?}");
        assert!(seen.broken > 0, "{test} {fault:?}: {seen:?}");
    }
}

/// Every excuse is needed.
#[test]
fn a_judge_that_does_not_hear_of_an_excuse_finds_fault_where_there_is_none() {
    for fault in [
        Fault::Modes,
        Fault::Blocking,
        Fault::Executions,
        Fault::CleanAtReturn,
    ] {
        let seen = campaign(the_test("amc-rtb"), fault);
        println!("{fault:?}: {seen:?}");
        assert!(seen.broken > 0, "{fault:?}: {seen:?}");
    }
}
