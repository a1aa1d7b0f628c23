//! Managed dispatch of servers without a kernel: scripted clocks of threads, and a slow obvious twin of the accounts.

use super::queue::scripted;
use super::*;
use crate::control::ManagerRecord;
use crate::cpu::{Cpu, Terms};
use crate::driver::Kind;
use crate::job::Ended;
use crate::monitor::Monitor;
use crate::recording::Tracer;
use crate::words::Allowance;
use std::sync::{Arc, Mutex};
use vestal_core::server::{ByLevel, ServerKind, WhenFull};
use vestal_core::{
    ContractViolation, Duration, Hierarchy, HierarchyConfiguration, LevelSet, LocalOrder, Modes,
    Notice, Plan, ServedTask, ServerConfiguration, ServerId, Service, Task, TaskConfiguration,
    Wcet,
};
use vestal_testkit::random::Random;
use vestal_trace::Recorder;

const US: u64 = 1_000;
/// Beyond all that the machine's clock says, which so is no instant of these runs.
const EPOCH: u64 = 1 << 60;
const PERIOD: u64 = 5_000 * US;
const CAPACITY: u64 = 1_000 * US;

const PERIODIC: [fn(Duration, ByLevel<Service>) -> ServerKind; 3] = [
    |period, capacity| ServerKind::Polling { period, capacity },
    |period, capacity| ServerKind::IdlingPeriodic { period, capacity },
    |period, capacity| ServerKind::Deferrable { period, capacity },
];

fn sporadic(period: Duration, capacity: ByLevel<Service>) -> ServerKind {
    ServerKind::Sporadic {
        period,
        capacity,
        replenishments: 4,
        full: WhenFull::MergeTail,
    }
}

/// Writes down what it is told, and may leave a job nothing.
struct Spy {
    inner: Hierarchy,
    facts: Arc<Mutex<Vec<Fact>>>,
    leaves_nothing: bool,
    slots: [Option<Slot>; 1],
}

impl Scheduler for Spy {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.facts.lock().unwrap().push(fact);
        self.inner.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        let plan = self.inner.decide(now)?;
        if !self.leaves_nothing {
            return Ok(plan);
        }
        let mut slot = plan.slot(CPU);
        if let Some(budget) = slot.as_mut().and_then(|slot| slot.budget.as_mut()) {
            budget.remaining = Service::ZERO;
        }
        self.slots = [slot];
        let slots = &self.slots;
        Ok(Plan { slots, ..plan })
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

/// A manager with the workers of its tasks, of which each does what the test says.
struct World {
    cpu: Cpu,
    record: ManagerRecord,
    managed: Managed,
    facts: Arc<Mutex<Vec<Fact>>>,
    /// By task: the job that its worker has begun.
    active: Vec<Option<Assignment>>,
    now: u64,
}

impl World {
    /// Tasks with these periods, each in the server with this number; servers of this kind by falling priorities.
    fn new(
        tasks: &[(u64, u16)],
        kind: fn(Duration, ByLevel<Service>) -> ServerKind,
        servers: u16,
    ) -> Self {
        Self::with(tasks, kind, servers, false)
    }

    fn with(
        tasks: &[(u64, u16)],
        kind: fn(Duration, ByLevel<Service>) -> ServerKind,
        servers: u16,
        leaves_nothing: bool,
    ) -> Self {
        let configured = tasks.iter().map(|&(period, _)| {
            let period = Duration::from_nanos(period);
            let wcet = Wcet::new(&[Service::from_micros(50)]).unwrap();
            let task = Task::new(Level::LOWEST, period, period, wcet).unwrap();
            TaskConfiguration::new(task, 1)
        });
        let configured: Vec<TaskConfiguration> = configured.collect();
        let served = configured.iter().zip(tasks);
        let served = served.map(|(entry, &(_, server))| ServedTask {
            task: entry.task,
            server: ServerId(server),
            priority: 1,
            on_behalf_of: None,
        });
        let served: Vec<ServedTask> = served.collect();
        let capacity = ByLevel::constant(Service::from_nanos(CAPACITY));
        let server = |number| ServerConfiguration {
            kind: kind(Duration::from_nanos(PERIOD), capacity),
            priority: u32::from(servers - number),
            criticality: Level::LOWEST,
            order: LocalOrder::FixedPriority,
        };
        let all: Vec<ServerConfiguration> = (0..servers).map(server).collect();
        let inner = Hierarchy::new(&HierarchyConfiguration {
            servers: &all,
            tasks: &served,
            devices: &[],
            levels: LevelSet::new(1).unwrap(),
            modes: Modes::Requested,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        });
        let facts = Arc::new(Mutex::new(Vec::new()));
        let spy = Spy {
            inner: inner.unwrap(),
            facts: Arc::clone(&facts),
            leaves_nothing,
            slots: [None],
        };
        let workers = configured.iter().zip(0..).map(|(&entry, number)| {
            let task = TaskShared::new("task".to_owned(), entry, 0, 2, Allowance::Unlimited);
            task.jobs.tid.set(scripted::tid_of(number));
            task.in_slices()
        });
        let (enforces, futex) = (true, true);
        let terms = Terms {
            duties: Kind::Managed { enforces, futex }.duties(),
            ..Terms::in_test(Monitor::Manager)
        };
        let cpu = Cpu::in_test(workers.collect(), terms);
        cpu.run.epoch.set(EPOCH);
        cpu.run.end.set(u64::MAX);
        let spy: BoxedScheduler = Box::new(spy);
        let count = tasks.len();
        let mut managed = Managed::new(count, Recorder::new(spy, Tracer::off()), None, 1);
        let mut record = ManagerRecord::new(count, 0);
        managed.start(&Control::new(&cpu, &mut record)).unwrap();
        scripted::begin(count);
        Self {
            cpu,
            record,
            managed,
            facts,
            active: vec![None; count],
            now: EPOCH,
        }
    }

    /// The manager goes round at so many nanoseconds after the epoch; workers begin what it assigns.
    fn round(&mut self, at: u64) {
        self.now = EPOCH + at;
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

    /// The thread of this task uses the CPU.
    fn use_cpu(&self, task: usize, nanos: u64) {
        scripted::advance(task, nanos);
    }

    /// Its job ends.
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

    /// What was charged since the last call: for whose jobs, and how much.
    fn charged(&self) -> Vec<(usize, u64)> {
        let facts = std::mem::take(&mut *self.facts.lock().unwrap());
        let charged = facts.into_iter().filter_map(|fact| {
            if let Fact::Charged { job, amount, .. } = fact {
                return Some((job.task.index(), amount.as_nanos()));
            }
            None
        });
        charged.collect()
    }
}

/// What threads used, bit by bit, and whether it was paid.
struct Twin {
    server_of: Vec<u16>,
    /// Thread, amount, and whether a server paid for it.
    uses: Vec<(usize, u64, bool)>,
    /// By thread: its server paid for it when its job ran, and since then not for the rest.
    owes: Vec<bool>,
}

impl Twin {
    /// A charge of a job of this task; gives what it has to be.
    fn charge(&mut self, task: usize) -> u64 {
        let server = self.server_of[task];
        let mut sum = 0;
        for (thread, amount, paid) in &mut self.uses {
            let same = self.server_of[*thread] == server && self.owes[*thread];
            if !*paid && (*thread == task || same) {
                sum += *amount;
                *paid = true;
            }
        }
        for (thread, owes) in self.owes.iter_mut().enumerate() {
            if self.server_of[thread] == server {
                *owes = thread == task;
            }
        }
        sum
    }

    fn unpaid_of(&self, task: usize) -> u64 {
        let unpaid = self
            .uses
            .iter()
            .filter(|use_of| use_of.0 == task && !use_of.2);
        unpaid.map(|&(_, amount, _)| amount).sum()
    }
}

/// What has to happen for the twin to say something.
#[derive(Debug, Default)]
struct Seen {
    preempted: u64,
    depleted: u64,
    /// Charges with what other threads used after their jobs.
    rests: u64,
}

const TASKS: [(u64, u16); 4] = [
    (700 * US, 0),
    (1_300 * US, 0),
    (900 * US, 1),
    (1_900 * US, 1),
];

/// Two servers of two tasks each, whose threads use the CPU at random.
struct RandomRun {
    random: Random,
    world: World,
    twin: Twin,
    /// By server: what was charged.
    charged: [u64; 2],
    /// The largest charge.
    most: u64,
    at: u64,
}

impl RandomRun {
    fn new(kind: fn(Duration, ByLevel<Service>) -> ServerKind, seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            world: World::new(&TASKS, kind, 2),
            twin: Twin {
                server_of: TASKS.iter().map(|&(_, server)| server).collect(),
                uses: Vec::new(),
                owes: vec![false; TASKS.len()],
            },
            charged: [0; 2],
            most: 0,
            at: 0,
        }
    }

    /// The manager goes round, and what it charges is what the twin says.
    fn round(&mut self, seen: &mut Seen) {
        self.at += self.random.between(1, 400 * US);
        let before = self.world.running();
        self.world.round(self.at);
        for (task, amount) in self.world.charged() {
            seen.rests += u64::from(amount > self.twin.unpaid_of(task));
            assert_eq!(amount, self.twin.charge(task), "{}", self.at);
            self.charged[usize::from(TASKS[task].1)] += amount;
            self.most = self.most.max(amount);
        }
        let (running, active) = (self.world.running(), &self.world.active);
        let lost = before.filter(|&task| running != Some(task) && active[task].is_some());
        seen.preempted += u64::from(lost.is_some());
        seen.depleted += u64::from(running.is_none() && active.iter().any(Option::is_some));
    }

    /// The job that runs uses the CPU, and may end; others come to rest after their jobs, or until they stand.
    fn work(&mut self) {
        let running = self.world.running();
        for thread in 0..TASKS.len() {
            let has_run = self.world.managed.queues[thread].lane.is_open();
            let amount = match running == Some(thread) {
                true => self.random.between(1, 300 * US),
                false if has_run && self.random.once_in(4) => self.random.between(1, 30 * US),
                false => continue,
            };
            self.world.use_cpu(thread, amount);
            self.twin.uses.push((thread, amount, false));
        }
        if let Some(task) = running.filter(|_| self.random.once_in(2)) {
            self.world.end(task);
        }
    }
}

/// Every nanosecond that a thread used since its first job is charged once, to the server whose job runs; in the long run no
/// server gives more than its budgets.
#[test]
fn what_is_charged_is_what_the_clocks_of_the_threads_went_on_by() {
    let kinds = PERIODIC.into_iter().chain([sporadic as fn(_, _) -> _]);
    for (number, kind) in kinds.enumerate() {
        let mut seen = Seen::default();
        for seed in 0..40 {
            let mut run = RandomRun::new(kind, seed);
            for _ in 0..400 {
                run.round(&mut seen);
                if number < PERIODIC.len() {
                    let supplied = CAPACITY * (run.at / PERIOD + 1);
                    // What the last charge found beyond the budget is taken off the next ones.
                    let kept = run.charged.iter().all(|&sum| sum <= supplied + run.most);
                    assert!(kept, "{number} {seed} {}", run.at);
                }
                run.work();
            }
            let used: u64 = run.twin.uses.iter().map(|use_of| use_of.1).sum();
            let sum: u64 = run.charged.iter().sum();
            let unpaid: u64 = (0..TASKS.len()).map(|task| run.twin.unpaid_of(task)).sum();
            assert_eq!(sum + unpaid, used, "{number} {seed}");
            let lanes = run.world.cpu.tasks.iter().zip(&run.world.managed.queues);
            let open = lanes.map(|(task, queue)| queue.lane.uncharged(cpu_of(&task.jobs)));
            assert_eq!(open.sum::<u64>(), unpaid, "{number} {seed}");
        }
        let Seen {
            preempted,
            depleted,
            rests,
        } = seen;
        let enough = preempted.min(depleted).min(rests) > 20;
        assert!(enough, "{number}: {seen:?}");
    }
}

/// What a budget was exceeded by is missing in the next one.
#[test]
fn what_was_used_beyond_a_budget_is_taken_off_the_next() {
    let beyond = 150 * US;
    for kind in PERIODIC {
        let mut world = World::new(&[(PERIOD, 0)], kind, 1);
        let left = |world: &World| {
            world
                .managed
                .slot
                .and_then(|slot| slot.budget)
                .map(|budget| budget.remaining.as_nanos())
        };
        world.round(0);
        assert_eq!((world.running(), left(&world)), (Some(0), Some(CAPACITY)));
        world.use_cpu(0, CAPACITY + beyond - 40 * US);
        world.round(CAPACITY + beyond);
        assert_eq!(world.running(), None, "its budget is used up");
        let worker = &world.cpu.tasks[0];
        assert!(
            worker.suspension.is_suspended(),
            "it is held, for the CPU is free"
        );
        // Until it stands.
        world.use_cpu(0, 40 * US);
        world.round(PERIOD);
        // That is charged with what it uses next.
        assert_eq!(
            (world.running(), left(&world)),
            (Some(0), Some(CAPACITY - beyond + 40 * US))
        );
        assert!(!world.cpu.tasks[0].suspension.is_suspended());
        world.round(PERIOD + 1);
        assert_eq!(left(&world), Some(CAPACITY - beyond));
    }
}

/// A job that blocked at the limit of a mode may be done when it goes on: its slot has no budget, and one look tells.
#[test]
fn a_job_whose_slot_has_no_budget_is_charged_nothing_when_it_is_not_done_at_the_next_look() {
    for (leaves_nothing, charged) in [(true, &[(0, 0)][..]), (false, &[])] {
        let mut world = World::with(&[(PERIOD, 0)], sporadic, 1, leaves_nothing);
        world.round(0);
        assert_eq!(world.charged(), []);
        world.round(1);
        assert_eq!(world.charged(), charged);
    }
}

/// While an idling server has the CPU, nothing below it begins; a deferrable one leaves it.
#[test]
fn nothing_below_an_idling_server_runs_while_it_idles() {
    let [_, idling, deferrable] = PERIODIC;
    for (kind, idles) in [(idling, true), (deferrable, false)] {
        // The first server's task comes once, and is gone.
        let mut world = World::new(&[(100 * PERIOD, 0), (PERIOD, 1)], kind, 2);
        world.round(0);
        assert_eq!(world.running(), Some(0));
        world.use_cpu(0, 200 * US);
        world.end(0);
        world.round(200 * US);
        assert_eq!(world.running().is_none(), idles);
        assert_eq!(world.active[1].is_none(), idles, "not begun");
        if idles {
            world.round(CAPACITY - 1);
            assert_eq!(world.running(), None);
            world.round(CAPACITY);
            assert_eq!(world.running(), Some(1), "its budget is idled away");
            // The server's next budget comes, and the job below is held.
            world.round(PERIOD);
            assert_eq!(world.running(), None);
            assert!(world.cpu.tasks[1].suspension.is_suspended());
        }
    }
}
