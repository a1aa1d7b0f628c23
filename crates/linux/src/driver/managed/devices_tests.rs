//! Managed dispatch with devices, without a kernel but for the descriptors: who is told what, step by step.

use super::scripted_tests::{EPOCH, Scripted, US};
use super::*;
use crate::device::{Attached, Device, Devices};
use crate::sys::pipe::packets;
use crate::sys::source::Sender;
use crate::task::Wait;
use std::ops::{Deref, DerefMut};
use vestal_core::server::{ByLevel, ServerKind, Utilization, WhenFull};
use vestal_core::{
    DeviceConfiguration, DeviceId, Duration, Hierarchy, HierarchyConfiguration, LevelSet,
    LocalOrder, Modes, ServedTask, ServerConfiguration, ServerId, Service, Task, TaskConfiguration,
    Wcet,
};

const MS: u64 = 1_000 * US;

/// By their numbers, as tasks and as servers: one that waits, the bottom half, one that computes.
const READER: usize = 0;
const HALF: usize = 1;
const OTHER: usize = 2;

struct World {
    scripted: Scripted,
    device: Device,
    sender: Sender,
}

impl Deref for World {
    type Target = Scripted;
    fn deref(&self) -> &Scripted {
        &self.scripted
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Scripted {
        &mut self.scripted
    }
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
        let tasks = (0..3).map(|number| {
            let offset = number as u64 * 100 * US;
            (TaskConfiguration::new(task(number), 1), offset)
        });
        let tasks: Vec<(TaskConfiguration, u64)> = tasks.collect();
        let (sender, input) = packets(16).unwrap();
        let device = Device::new("pipe", input);
        let devices = Devices::new(vec![Attached {
            task: TaskId(1),
            device: device.clone(),
        }]);
        Self {
            scripted: Scripted::of(&tasks, engine(), devices.unwrap(), false),
            device,
            sender,
        }
    }

    /// The manager goes round at so many microseconds after the epoch.
    fn round(&mut self, micros: u64) {
        self.scripted.round(micros * US);
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

    /// The bottom half has served an event at so many microseconds after the epoch; says whether somebody waits for it.
    fn serve(&self, micros: u64) -> bool {
        self.device.serve(EPOCH + micros * US)
    }

    /// The top half finds the device ready; says whether it was to.
    fn found(&self, micros: u64) -> bool {
        self.device.raise(EPOCH + micros * US)
    }

    /// What was said since the last call of devices and of jobs that block, wake, start and end: when, of which task.
    fn said(&self) -> Vec<(u64, &'static str, usize)> {
        let said = self
            .told()
            .into_iter()
            .map(|(at, fact)| (at.as_nanos() / US, fact));
        let said = said.filter_map(|(at, fact)| match fact {
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
    assert!(!world.serve(390), "one of two");
    world.round(400);
    assert!(world.serve(450), "it is to call");
    assert!(world.said().is_empty() && !world.goes_on(READER));
    world.round(500);
    assert_eq!(world.running(), Some(READER));
    assert!(world.goes_on(READER) && !world.goes_on(READER));
    assert_eq!(
        world.said(),
        [
            // When its event was served, and not when the manager looked.
            (450, "woken", READER),
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
    world.use_cpu(HALF, MS);
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
    assert!(!world.serve(20_070), "nobody waits for it");
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
            (20_100, "started", OTHER),
        ]
    );
    assert_eq!(world.running(), Some(OTHER));
    assert!(world.goes_on(OTHER));
}

/// Who calls before a run begins is not heard, and neither is an interrupt of that time unless the manager looks for it when it goes
/// to wait.
#[test]
fn an_interrupt_from_before_the_run_is_taken_when_it_begins() {
    let mut world = World::new();
    world.round(0);
    world.end(READER);
    world.round(250);
    world.end(OTHER);
    world.round(300);
    let looks = |world: &mut World| {
        let Scripted {
            cpu,
            record,
            managed,
            ..
        } = &mut world.scripted;
        managed.arm(&Control::new(cpu, record))
    };
    assert!(looks(&mut world) > EPOCH + 10 * MS, "nothing is to be done");
    assert!(world.found(0));
    assert_eq!(looks(&mut world), EPOCH, "at once, but not before");
    world.round(310);
    assert_eq!(world.running(), Some(HALF));
}

#[test]
fn of_an_interrupt_at_the_end_of_the_run_the_scheduler_is_not_told_and_none_is_counted() {
    let mut world = World::new();
    world.round(0);
    world.cpu.run.end.set(EPOCH + 200 * US);
    assert!(world.found(200));
    world.said();
    world.round(210);
    assert!(world.said().iter().all(|(_, what, _)| *what != "interrupt"));
    assert_eq!(world.device.outcome().interrupts, 0);
}

/// What a round was for, by what there was to look at.
#[test]
fn a_round_is_about_devices_when_one_is_ready_or_somebody_waits_or_has_what_he_waited_for() {
    let mut world = World::new();
    world.round(0);
    let why = |world: &mut World| {
        let now = world.now;
        let Scripted {
            cpu,
            record,
            managed,
            ..
        } = &mut world.scripted;
        managed.reason(&mut Control::new(cpu, record), &None, now)
    };
    assert_eq!(why(&mut world), Reason::Beat);
    world.wait(READER, 1);
    assert_eq!(why(&mut world), Reason::Device, "it waits");
    world.round(210);
    assert_eq!(why(&mut world), Reason::Beat);
    assert!(world.found(220));
    assert_eq!(why(&mut world), Reason::Device, "it is ready");
    world.round(230);
    assert_eq!(why(&mut world), Reason::Beat);
    assert!(world.serve(0));
    assert_eq!(why(&mut world), Reason::Device, "its event was served");
    world.round(240);
    world.end(READER);
    assert_eq!(why(&mut world), Reason::Completion);
}

/// Two wait, of which the more urgent one has its event first. The bottom half ends then, as its worker does, and the next one runs
/// on behalf of who still waits: below the job of the more urgent server that has gone on, and with that server's priority no more.
#[test]
fn a_bottom_half_after_a_wait_has_ended_runs_for_who_still_waits() {
    let mut world = World::new();
    world.round(0);
    world.wait(READER, 1);
    world.round(200);
    world.wait(OTHER, 1);
    world.round(210);
    assert!(world.found(220));
    world.said();
    world.round(230);
    assert_eq!(world.running(), Some(HALF));
    let of = |world: &World| {
        let said = world.said().into_iter();
        let hosts = said.filter(|(_, what, _)| *what == "for");
        hosts.map(|(.., server)| server).collect::<Vec<_>>()
    };
    assert_eq!(of(&world), [READER, OTHER]);
    assert!(world.serve(0));
    world.use_cpu(HALF, 50 * US);
    world.end(HALF);
    world.round(300);
    assert_eq!(world.running(), Some(READER));
    // It goes on being ready, and is found again.
    assert!(world.found(310));
    world.said();
    world.round(320);
    assert_eq!(of(&world), [OTHER]);
    world.end(READER);
    world.round(330);
    assert_eq!(world.running(), None, "its share comes again at 0.73");
    world.round(740);
    assert_eq!(world.running(), Some(HALF));
    let budget = world.managed.slot.unwrap().budget.unwrap();
    // A tenth of 20 ms, less nothing: of the server that still waits.
    assert_eq!(budget.remaining.as_nanos(), 2 * MS);
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
    assert!(world.serve(0), "the only one waits for it");
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
    world.use_cpu(OTHER, 8 * MS);
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
        world.serve(0);
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
