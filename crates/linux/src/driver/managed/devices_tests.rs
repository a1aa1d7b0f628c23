//! Managed dispatch with devices, without a kernel but for the descriptors: who is told what, step by step.

use super::queue::scripted;
use super::*;
use crate::control::ManagerRecord;
use crate::cpu::{Cpu, Terms};
use crate::device::{Attached, Device, Devices};
use crate::driver::Kind;
use crate::job::Ended;
use crate::monitor::Monitor;
use crate::recording::Tracer;
use crate::sys::pipe::packets;
use crate::sys::source::Sender;
use crate::task::Wait;
use crate::words::Allowance;
use std::sync::{Arc, Mutex};
use vestal_core::server::{ByLevel, ServerKind, Utilization, WhenFull};
use vestal_core::{
    DeviceConfiguration, DeviceId, Duration, Hierarchy, HierarchyConfiguration, LevelSet,
    LocalOrder, Modes, Notice, Plan, ServedTask, ServerConfiguration, ServerId, Service, Task,
    TaskConfiguration, Wcet,
};
use vestal_trace::Recorder;

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
/// Beyond all that the machine's clock says, which so is no instant of these runs.
const EPOCH: u64 = 1 << 60;

/// By their numbers, as tasks and as servers: one that waits, the bottom half, one that computes.
const READER: usize = 0;
const HALF: usize = 1;
const OTHER: usize = 2;

/// Writes down what it is told.
struct Spy {
    inner: Hierarchy,
    facts: Arc<Mutex<Vec<(u64, Fact)>>>,
}

impl Scheduler for Spy {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), vestal_core::ContractViolation> {
        self.facts.lock().unwrap().push((at.as_nanos() / US, fact));
        self.inner.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, vestal_core::ContractViolation> {
        self.inner.decide(now)
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.inner.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.inner.take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.inner.lost_notices()
    }
}

struct World {
    cpu: Cpu,
    record: ManagerRecord,
    managed: Managed,
    facts: Arc<Mutex<Vec<(u64, Fact)>>>,
    device: Device,
    sender: Sender,
    active: [Option<Assignment>; 3],
    now: u64,
}

fn sporadic(millis: u64, hi_millis: u64) -> ServerKind {
    let of = |millis| Service::from_millis(millis);
    let capacity = |level| {
        if level == Level::LOWEST {
            of(millis)
        } else {
            of(hi_millis)
        }
    };
    ServerKind::Sporadic {
        period: Duration::from_millis(20),
        capacity: ByLevel::from_fn(capacity),
        replenishments: 8,
        full: WhenFull::MergeTail,
    }
}

fn level(number: usize) -> Level {
    if number == OTHER {
        Level(1)
    } else {
        Level::LOWEST
    }
}

fn task(number: usize) -> Task {
    let (period, level) = (Duration::from_millis(20), level(number));
    let wcet = Wcet::new(&[Service::from_millis(1); 2][..=level.index()]).unwrap();
    Task::new(level, period, period, wcet).unwrap()
}

/// The reader's server is the more urgent one, of the lowest level, and has nothing in a raised mode.
fn engine() -> Hierarchy {
    let half = ServerKind::Pibs {
        utilization: ByLevel::constant(Utilization::new(1, 10).unwrap()),
    };
    let kinds = [sporadic(4, 0), half, sporadic(8, 8)].into_iter().zip(0..);
    let servers = kinds.map(|(kind, number)| ServerConfiguration {
        kind,
        priority: 9 - number,
        criticality: level(number as usize),
        order: LocalOrder::FixedPriority,
    });
    let servers: Vec<ServerConfiguration> = servers.collect();
    let tasks = [None, Some(ServerId(2)), None].into_iter().zip(0..);
    let tasks = tasks.map(|(on_behalf_of, number)| ServedTask {
        task: task(usize::from(number)),
        server: ServerId(number),
        priority: 1,
        on_behalf_of,
    });
    let tasks: Vec<ServedTask> = tasks.collect();
    let engine = Hierarchy::new(&HierarchyConfiguration {
        servers: &servers,
        tasks: &tasks,
        devices: &[DeviceConfiguration {
            bottom_half: TaskId(1),
        }],
        levels: LevelSet::new(2).unwrap(),
        modes: Modes::Adaptive { pibs_raise: false },
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    });
    engine.unwrap()
}

impl World {
    fn new() -> Self {
        let facts = Arc::new(Mutex::new(Vec::new()));
        let spy: BoxedScheduler = Box::new(Spy {
            inner: engine(),
            facts: Arc::clone(&facts),
        });
        let workers = (0..3).map(|number| {
            let entry = TaskConfiguration::new(task(number), 1);
            let offset = number as u64 * 100 * US;
            let task = TaskShared::new(String::new(), entry, offset, 2, Allowance::Unlimited);
            task.jobs.tid.set(scripted::tid_of(number));
            task.in_slices()
        });
        let (enforces, futex) = (true, true);
        let terms = Terms {
            duties: Kind::Managed { enforces, futex }.duties(),
            ..Terms::in_test(Monitor::Manager)
        };
        let mut cpu = Cpu::in_test(workers.collect(), terms);
        let (sender, input) = packets(16).unwrap();
        let device = Device::new("pipe", input);
        cpu.devices = Devices::new(vec![Attached {
            task: TaskId(1),
            device: device.clone(),
        }])
        .unwrap();
        cpu.run.epoch.set(EPOCH);
        cpu.run.end.set(u64::MAX);
        let mut managed = Managed::new(3, Recorder::new(spy, Tracer::off()), None, 1);
        let mut record = ManagerRecord::new(3, 0);
        managed.start(&Control::new(&cpu, &mut record)).unwrap();
        scripted::begin(3);
        Self {
            cpu,
            record,
            managed,
            facts,
            device,
            sender,
            active: [None; 3],
            now: EPOCH,
        }
    }

    /// The manager goes round at so many microseconds after the epoch; workers begin what it assigns.
    fn round(&mut self, micros: u64) {
        self.now = EPOCH + micros * US;
        let mut control = Control::new(&self.cpu, &mut self.record);
        self.managed.step(&mut control, self.now).unwrap();
        for (task, active) in self.cpu.tasks.iter().zip(&mut self.active) {
            if let Some(assigned) = task.handover.take_assigned() {
                assert!(active.is_none(), "it has a job");
                task.jobs.begin(assigned.sequence, 0);
                task.suspension.enter();
                *active = Some(assigned);
            }
        }
    }

    fn running(&self) -> Option<usize> {
        self.managed.running.map(|job| job.task.index())
    }

    /// The job of this task waits for so many events.
    fn wait(&mut self, task: usize, events: u64) {
        self.leave(task);
        self.report_wait(task, events);
    }

    /// It is on its way from its body to a wait.
    fn leave(&self, task: usize) {
        let suspension = &self.cpu.tasks[task].suspension;
        suspension.leave(0, 0, &mut Default::default());
    }

    fn report_wait(&mut self, task: usize, events: u64) {
        let Assignment { sequence, .. } = self.active[task].unwrap();
        self.cpu.tasks[task].handover.wait(Wait {
            sequence,
            device: 0,
            events,
            served: self.device.served(),
            at: self.now,
        });
    }

    /// Whether the job that waits was told to go on.
    fn goes_on(&mut self, task: usize) -> bool {
        let goes_on = self.cpu.tasks[task].handover.take_go_on();
        if goes_on {
            self.cpu.tasks[task].suspension.enter();
        }
        goes_on
    }

    fn end(&mut self, task: usize) {
        let Assignment { sequence, release } = self.active[task].take().unwrap();
        let worker = &self.cpu.tasks[task];
        worker.suspension.leave(0, 0, &mut Default::default());
        worker.handover.hand_back(Ended {
            sequence,
            release,
            finished: self.now,
            executed: 0,
            completed: true,
        });
        worker.jobs.finish(sequence);
    }

    /// The top half finds the device ready; says whether it was to.
    fn found(&self, micros: u64) -> bool {
        self.device.raise(EPOCH + micros * US)
    }

    /// What was said since the last call of devices and of jobs that block, wake, start and end: when, of which task.
    fn said(&self) -> Vec<(u64, &'static str, usize)> {
        let facts = std::mem::take(&mut *self.facts.lock().unwrap());
        let said = facts.into_iter().filter_map(|(at, fact)| match fact {
            Fact::Interrupt { device, count } => {
                assert_eq!((device, count), (DeviceId(0), 1));
                Some((at, "interrupt", HALF))
            }
            Fact::Woken {
                task,
                on_behalf_of: Some(server),
            } => {
                assert_eq!(task, TaskId(1));
                Some((at, "for", server.index()))
            }
            Fact::Woken { task, .. } => Some((at, "woken", task.index())),
            Fact::Started { job, .. } => Some((at, "started", job.task.index())),
            Fact::Stopped { job, why, .. } => {
                let what = match why {
                    StopReason::Preempted => "preempted",
                    StopReason::Blocked => "blocked",
                    StopReason::Cancelled => "cancelled",
                };
                Some((at, what, job.task.index()))
            }
            Fact::Completed { job, .. } => Some((at, "completed", job.task.index())),
            Fact::Released { .. }
            | Fact::Charged { .. }
            | Fact::Timer
            | Fact::Idle { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => None,
        });
        said.collect()
    }
}

#[test]
fn a_job_that_waits_is_blocked_until_its_events_were_served_and_the_bottom_half_runs_for_its_server()
 {
    let mut world = World::new();
    world.round(0);
    assert_eq!(world.running(), Some(READER));
    assert_eq!(world.said(), [(0, "started", READER)]);
    world.wait(READER, 2);
    world.round(200);
    assert_eq!(world.running(), Some(OTHER), "it has the CPU meanwhile");
    assert_eq!(
        world.said(),
        [(0, "blocked", READER), (200, "started", OTHER)]
    );
    // A device is ready: its bottom half goes before the job of the less urgent server.
    assert!(world.found(300) && !world.found(310), "it is masked");
    world.round(320);
    assert_eq!(world.running(), Some(HALF));
    assert_eq!(
        world.said(),
        [
            (300, "interrupt", HALF),
            (300, "for", READER),
            (320, "preempted", OTHER),
            (320, "started", HALF),
        ]
    );
    assert!(!world.device.serve(), "one of two");
    world.round(400);
    assert!(world.device.serve(), "it is to call");
    assert!(world.said().is_empty() && !world.goes_on(READER));
    world.round(500);
    assert_eq!(world.running(), Some(READER));
    assert!(world.goes_on(READER) && !world.goes_on(READER));
    assert_eq!(
        world.said(),
        [
            (500, "woken", READER),
            (500, "preempted", HALF),
            (500, "started", READER),
        ]
    );
    world.end(READER);
    world.round(600);
    assert_eq!(world.running(), Some(HALF));
    // Nothing is lost of what comes meanwhile: the device is unmasked by the end of its bottom half, once.
    assert!(!world.found(610));
    world.end(HALF);
    world.round(700);
    assert!(world.found(710) && !world.found(720));
    assert_eq!(world.running(), Some(OTHER));
}

/// A device that is always ready is found once for each bottom half, and the next one waits for the budget: 1/10 of 20 ms on
/// behalf of the less urgent server, of which the first used up 1 ms.
#[test]
fn a_storm_wakes_the_top_half_once_for_each_bottom_half() {
    let mut world = World::new();
    let ready = |world: &World| {
        let devices = &world.cpu.devices;
        world.sender.send(&[1]).unwrap();
        // What the top half would do; it waits for ever if there is nothing, so the end is there.
        devices.stop();
        let ready = devices.wait().unwrap().unwrap();
        devices.of(&ready).count()
    };
    assert_eq!(ready(&world), 1);
    assert!(world.found(0));
    world.round(0);
    assert_eq!(world.running(), Some(READER));
    world.end(READER);
    world.round(10);
    assert_eq!(world.running(), Some(HALF));
    for _ in 0..10 {
        assert_eq!(ready(&world), 0, "it is masked");
    }
    scripted::advance(HALF, MS);
    world.end(HALF);
    world.round(1_000);
    assert_eq!(ready(&world), 1);
    assert!(world.found(1_010));
    world.said();
    world.round(1_020);
    assert_ne!(
        world.running(),
        Some(HALF),
        "it began at 0.01 and used a ms"
    );
    assert_eq!(world.said()[0], (1_010, "interrupt", HALF));
    assert_eq!(ready(&world), 0);
    // Others have nothing to do then.
    world.end(OTHER);
    world.round(10_000);
    assert_eq!(world.running(), None);
    world.round(10_011);
    assert_eq!(world.running(), Some(HALF));
    let outcome = world.device.outcome();
    assert_eq!(
        (outcome.interrupts, outcome.wakes, outcome.spurious),
        (2, 2, 0)
    );
}

#[test]
fn a_wait_that_was_begun_while_others_had_the_cpu_is_reported_when_the_plan_names_its_job() {
    let mut world = World::new();
    world.round(100);
    assert_eq!(world.running(), Some(READER));
    world.end(READER);
    world.round(250);
    assert_eq!(world.running(), Some(OTHER));
    // Its wait is under way when the manager gives the CPU to another job.
    world.said();
    world.round(20_000);
    assert_eq!(world.running(), Some(READER));
    world.wait(OTHER, 1);
    world.round(20_050);
    assert_eq!(
        world.said(),
        [(20_000, "preempted", OTHER), (20_000, "started", READER)],
        "it does not run"
    );
    assert!(!world.device.serve(), "nobody waits for it");
    world.end(READER);
    world.round(20_100);
    assert_eq!(
        world.said(),
        [
            (20_050, "completed", READER),
            (20_100, "started", OTHER),
            (20_100, "blocked", OTHER),
            // What was served since it began to wait counts, and nobody will call for that.
            (20_100, "woken", OTHER),
            // The clock of the machine is before this run.
            (0, "started", OTHER),
        ]
    );
    assert_eq!(world.running(), Some(OTHER));
    assert!(world.goes_on(OTHER));
}

/// Two wait, the first for three events. It is dropped in the decision itself: the second waits for the first event from then on
/// and not for the fourth, and the bottom half is to call for that.
#[test]
fn the_drop_of_who_waits_first_lets_the_bottom_half_call_for_the_next() {
    let mut world = World::new();
    world.round(0);
    world.wait(READER, 3);
    world.round(200);
    assert_eq!(world.running(), Some(OTHER));
    world.wait(OTHER, 1);
    world.round(300);
    assert_eq!(world.running(), None);
    let (at, level) = (Instant::from_nanos(400 * US), Level(1));
    let request = Fact::ModeRequested { level };
    world.managed.scheduler.apply(at, request).unwrap();
    world.round(400);
    assert!(world.goes_on(READER), "it was dropped");
    assert!(world.device.serve(), "the only one waits for it");
    world.round(500);
    assert_eq!(world.running(), Some(OTHER));
    assert!(world.goes_on(OTHER));
}

/// Its budget is used up on the way from its body to its wait, so that the plan leaves the CPU free.
#[test]
fn the_manager_does_not_look_again_and_again_for_a_job_that_waits_while_no_plan_names_it() {
    let mut world = World::new();
    world.round(0);
    world.end(READER);
    world.round(250);
    assert_eq!(world.running(), Some(OTHER));
    world.leave(OTHER);
    scripted::advance(OTHER, 8 * MS);
    world.round(8_250);
    assert_eq!(world.running(), None);
    assert!(world.managed.look_again, "it is neither inside nor waits");
    world.report_wait(OTHER, 1);
    world.round(8_270);
    assert_eq!(world.running(), None);
    assert!(!world.managed.look_again);
}

#[test]
fn a_job_that_is_dropped_while_it_waits_goes_on_to_its_end_and_nothing_is_served_for_it() {
    for early in [false, true] {
        let mut world = World::new();
        world.round(0);
        assert_eq!(world.running(), Some(READER));
        if !early {
            world.wait(READER, 1);
        }
        world.round(200);
        // Something outside asks for the mode in which the reader's server has nothing.
        let (at, level) = (Instant::from_nanos(300 * US), Level(1));
        let request = Fact::ModeRequested { level };
        world.managed.scheduler.apply(at, request).unwrap();
        world.round(300);
        assert_eq!(world.managed.mode, Level(1));
        let sequence = world.active[READER].unwrap().sequence;
        assert!(world.cpu.tasks[READER].jobs.lost_its_priority(sequence));
        if early {
            // It was on its way to wait.
            world.wait(READER, 1);
            world.round(310);
        }
        assert!(world.goes_on(READER), "{early}");
        // Somebody did wait, so there may be a call for nothing.
        world.device.serve();
        world.end(READER);
        world.said();
        world.round(400);
        assert_eq!(world.running(), Some(OTHER));
        let said = world.said();
        assert!(said.iter().all(|&(_, what, _)| what != "woken"), "{said:?}");
        // The next one is admitted in the mode that lets it.
        world.end(OTHER);
        world.round(500);
        world.round(20_000);
        assert_eq!(
            (world.managed.mode, world.running()),
            (Level(0), Some(READER))
        );
    }
}
