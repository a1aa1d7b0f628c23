//! Managed dispatch where jobs raise the mode, without a kernel but for the descriptors: what becomes of jobs, waits, and bottom halves
//! at a rise and at the return, step by step.

use super::scripted_tests::{EPOCH, Scripted, US};
use super::*;
use crate::cpu::Terms;
use crate::device::{Attached, Device, Devices};
use crate::driver::dispatch::scripted;
use crate::monitor::Monitor;
use crate::sys::pipe::packets;
use crate::task::Wait;
use std::ops::{Deref, DerefMut};
use vestal_core::server::{ByLevel, ServerKind, Utilization, WhenFull};
use vestal_core::{
    DeviceConfiguration, Duration, Hierarchy, HierarchyConfiguration, LevelSet, LocalOrder, Modes,
    ServedTask, ServerConfiguration, ServerId, Service, Task, TaskConfiguration, Wcet,
};

const MS: u64 = 1_000 * US;
const PERIOD: Duration = Duration::from_millis(20);

const LO: Level = Level(0);
const HI: Level = Level(1);

/// By their numbers, as tasks and as servers, by falling priorities. The first has 2 ms, and 6 in mode HI; the reader 4, and nothing in HI. The
/// bottom halves have a tenth for the reader, and nothing in HI; a tenth for the first, and a fiftieth in HI; and of level HI
/// a twentieth for the first, and a tenth in HI.
const CONTROL: usize = 0;
const READER: usize = 1;
const VIDEO: usize = 2;
const LOG: usize = 3;
const SENSOR: usize = 4;
const TASKS: usize = 5;

const fn level(number: usize) -> Level {
    match number {
        CONTROL | SENSOR => HI,
        _ => LO,
    }
}

fn by_level<T: Copy>([lo, hi]: [T; 2]) -> ByLevel<T> {
    ByLevel::from_fn(|level| if level == LO { lo } else { hi })
}

fn sporadic(millis: [u64; 2]) -> ServerKind {
    ServerKind::Sporadic {
        period: PERIOD,
        capacity: by_level(millis.map(Service::from_millis)),
        replenishments: 8,
        full: WhenFull::MergeTail,
    }
}

fn pibs(shares: [u64; 2]) -> ServerKind {
    let share = |divisor| match divisor {
        0 => Utilization::ZERO,
        divisor => Utilization::new(1, divisor).unwrap(),
    };
    ServerKind::Pibs {
        utilization: by_level(shares.map(share)),
    }
}

fn task(number: usize) -> Task {
    let millis = if number == CONTROL { [2, 6] } else { [4, 4] };
    let wcet = millis.map(Service::from_millis);
    let wcet = Wcet::new(&wcet[..=level(number).index()]).unwrap();
    Task::new(level(number), PERIOD, PERIOD, wcet).unwrap()
}

fn engine(pibs_raise: bool) -> Hierarchy {
    let kinds = [
        sporadic([2, 6]),
        sporadic([4, 0]),
        pibs([10, 0]),
        pibs([10, 50]),
        pibs([20, 10]),
    ];
    let servers = kinds.into_iter().zip(0..);
    let servers = servers.map(|(kind, number)| ServerConfiguration {
        kind,
        priority: 9 - number,
        criticality: level(number as usize),
        order: LocalOrder::FixedPriority,
    });
    let servers: Vec<ServerConfiguration> = servers.collect();
    let hosts = [
        None,
        None,
        Some(ServerId(1)),
        Some(ServerId(0)),
        Some(ServerId(0)),
    ];
    let tasks = hosts.into_iter().zip(0..);
    let tasks = tasks.map(|(on_behalf_of, number)| ServedTask {
        task: task(usize::from(number)),
        server: ServerId(number),
        priority: 1,
        on_behalf_of,
    });
    let tasks: Vec<ServedTask> = tasks.collect();
    let devices = [2, 3, 4].map(|half| DeviceConfiguration {
        bottom_half: TaskId(half),
    });
    let engine = Hierarchy::new(&HierarchyConfiguration {
        servers: &servers,
        tasks: &tasks,
        devices: &devices,
        levels: LevelSet::new(2).unwrap(),
        modes: Modes::Adaptive { pibs_raise },
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    });
    engine.unwrap()
}

struct World {
    scripted: Scripted,
    devices: Vec<Device>,
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

impl World {
    /// Of what a job is charged so much is taken off.
    fn new(tolerance_nanos: u64, pibs_raise: bool) -> Self {
        let tasks = (0..TASKS).map(|number| (TaskConfiguration::new(task(number), 1), 0));
        let tasks: Vec<(TaskConfiguration, u64)> = tasks.collect();
        let devices: Vec<Device> = ["video", "log", "sensor"]
            .into_iter()
            .map(|name| Device::new(name, packets(16).unwrap().1))
            .collect();
        let attached = devices.iter().zip([VIDEO, LOG, SENSOR]);
        let attached = attached.map(|(device, task)| Attached {
            task: TaskId(u16::try_from(task).unwrap()),
            device: device.clone(),
        });
        let terms = Terms {
            tolerance_nanos,
            tolerates_each_job: true,
            ..Terms::in_test(Monitor::Manager)
        };
        let attached = Devices::new(attached.collect()).unwrap();
        let scripted = Scripted::on(&tasks, engine(pibs_raise), attached, (false, terms));
        Self { scripted, devices }
    }

    /// The manager goes round at so many microseconds after the epoch.
    fn round(&mut self, micros: u64) {
        self.scripted.round(micros * US);
    }

    /// The mode, and whose job runs.
    fn state(&self) -> (Level, Option<usize>) {
        (self.managed.mode, self.running())
    }

    /// How much the thread that runs may use before the manager has to look.
    fn left(&mut self) -> Option<u64> {
        let Scripted {
            cpu,
            record,
            managed,
            ..
        } = &mut self.scripted;
        let job = managed.running?;
        let budget = managed.server_budget(&Control::new(cpu, record), job)?;
        Some(budget.left(0))
    }

    /// The job of this task waits for an event of the device with this number.
    fn wait(&mut self, task: usize, device: usize) {
        let shared = &self.cpu.tasks[task];
        shared.suspension.leave(0, 0, &mut Default::default());
        shared.handover.wait(Wait {
            sequence: self.active[task].unwrap().sequence,
            device,
            events: 1,
            served: self.devices[device].served(),
            at: self.now,
        });
    }

    fn goes_on(&self, task: usize) -> bool {
        self.cpu.tasks[task].handover.take_go_on()
    }

    fn found(&self, device: usize, micros: u64) -> bool {
        self.devices[device].raise(EPOCH + micros * US)
    }
}

/// Its C(LO) is the capacity of its server, so that either would be used up by what it takes to begin the job.
#[test]
fn what_this_world_adds_to_a_job_raises_no_mode_and_is_taken_off_once() {
    const TOLERANCE: u64 = 100 * US;
    let mut world = World::new(TOLERANCE, false);
    world.round(0);
    assert_eq!(world.left(), Some(2 * MS + TOLERANCE));
    scripted::advance(CONTROL, 2 * MS + 60 * US);
    world.round(2_060);
    assert_eq!(world.state(), (LO, Some(CONTROL)));
    assert_eq!(world.left(), Some(40 * US));
    world.end(CONTROL);
    world.round(2_061);
    assert_eq!(world.state(), (LO, Some(READER)));
    assert_eq!(world.left(), Some(4 * MS + TOLERANCE), "it can be late");
    world.end(READER);
    // The next job has a tolerance of its own, also if that is found in parts.
    world.round(20_000);
    scripted::advance(CONTROL, 30 * US);
    world.round(20_030);
    assert_eq!(world.left(), Some(2 * MS + TOLERANCE - 30 * US));
    scripted::advance(CONTROL, 2 * MS + 69 * US);
    world.round(22_099);
    assert_eq!(world.state(), (LO, Some(CONTROL)));
    scripted::advance(CONTROL, US);
    world.round(22_100);
    assert_eq!(world.state(), (HI, Some(CONTROL)), "it has used C(LO)");
    assert_eq!(world.left(), Some(4 * MS), "and the rest of C(HI) as it is");
    // A bottom half has what its server has.
    let mut with_half = World::new(TOLERANCE, false);
    with_half.round(0);
    with_half.end(CONTROL);
    with_half.round(10);
    with_half.wait(READER, 0);
    with_half.round(20);
    assert!(with_half.found(0, 30));
    with_half.round(40);
    assert_eq!(with_half.state(), (LO, Some(VIDEO)));
    assert_eq!(with_half.left(), Some(2 * MS));
    // Nothing is added where nothing is tolerated.
    let mut strict = World::new(0, false);
    strict.round(0);
    scripted::advance(CONTROL, 2 * MS);
    strict.round(2_000);
    assert_eq!(strict.state(), (HI, Some(CONTROL)));
}

/// Beside the drop of who waits: the bottom half that worked for that is in the middle of a burst.
#[test]
fn at_a_rise_waits_are_dropped_and_bursts_end_and_what_goes_on_has_the_budget_of_the_mode() {
    let mut world = World::new(0, false);
    world.round(0);
    world.end(CONTROL);
    world.round(10);
    assert_eq!(world.state(), (LO, Some(READER)));
    world.wait(READER, 0);
    world.round(20);
    assert!(world.found(0, 30));
    world.round(40);
    assert_eq!(world.state(), (LO, Some(VIDEO)));
    assert_eq!(world.left(), Some(2 * MS));
    scripted::advance(VIDEO, 100 * US);
    // It is in the middle of it when the next job comes that will raise the mode.
    world.round(20_000);
    assert_eq!(world.state(), (LO, Some(CONTROL)));
    scripted::advance(CONTROL, 2 * MS);
    world.round(22_000);
    assert_eq!(world.state(), (HI, Some(CONTROL)));
    assert!(world.goes_on(READER), "it is dropped while it waits");
    world.end(READER);
    scripted::advance(CONTROL, 4 * MS);
    world.round(26_000);
    assert_eq!(world.state(), (HI, None), "no share in this mode");
    assert!(!world.found(0, 26_010), "so its device stays masked");
    // The other device of the lower level goes on for the higher one with a fiftieth.
    assert!(world.found(1, 26_100));
    world.round(26_110);
    assert_eq!(world.state(), (HI, Some(LOG)));
    assert_eq!(world.left(), Some(400 * US));
    scripted::advance(LOG, 400 * US);
    world.round(26_510);
    assert_eq!(world.state(), (HI, None));
    world.end(LOG);
    // The mode returns with the last job that it is about, and with it the half that was under way.
    world.round(40_000);
    assert_eq!(world.state(), (HI, Some(CONTROL)));
    world.end(CONTROL);
    world.round(40_100);
    assert_eq!(world.state(), (HI, Some(CONTROL)), "the job of 40 ms");
    world.end(CONTROL);
    world.round(40_200);
    assert_eq!(world.state(), (LO, Some(VIDEO)));
    assert_eq!(world.left(), Some(2 * MS));
    world.end(VIDEO);
    world.round(40_300);
    assert_eq!(
        world.state(),
        (LO, None),
        "jobs of 20 and 40 ms were dropped"
    );
    assert!(world.found(0, 40_310), "it is heard again");
    assert!(world.managed.waits.next_target(0).is_none());
    world.round(60_000);
    world.end(CONTROL);
    world.round(60_010);
    assert_eq!(world.state(), (LO, Some(READER)));
}

/// The bottom half of the higher level has 1 ms for the job that waits for it, and needs more.
#[test]
fn a_pibs_that_has_used_up_its_capacity_raises_the_mode_if_it_is_to() {
    for raises in [false, true] {
        let mut world = World::new(0, raises);
        world.round(0);
        world.wait(CONTROL, 2);
        world.round(10);
        world.end(READER);
        assert!(world.found(2, 20));
        world.round(30);
        assert_eq!(world.state(), (LO, Some(SENSOR)));
        assert_eq!(world.left(), Some(MS));
        scripted::advance(SENSOR, MS);
        world.round(1_030);
        let mode = if raises { HI } else { LO };
        assert_eq!(world.state().0, mode, "{raises}");
    }
}
