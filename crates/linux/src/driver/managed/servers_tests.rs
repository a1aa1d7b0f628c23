//! Managed dispatch of servers without a kernel: scripted clocks of threads, and a slow obvious twin of the accounts.

use super::scripted_tests::{Scripted, US};
use super::*;
use crate::device::Devices;
use vestal_core::server::{ByLevel, ServerKind, WhenFull};
use vestal_core::{
    Duration, Hierarchy, HierarchyConfiguration, LevelSet, LocalOrder, Modes, ServedTask,
    ServerConfiguration, ServerId, Service, Task, TaskConfiguration, Wcet,
};
use vestal_testkit::random::Random;

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

/// Servers of tasks.
type World = Scripted;

impl Scripted {
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
        let tasks: Vec<(TaskConfiguration, u64)> =
            configured.into_iter().map(|entry| (entry, 0)).collect();
        Self::of(&tasks, inner.unwrap(), Devices::default(), leaves_nothing)
    }

    /// What was charged since the last call: for whose jobs, and how much.
    fn charged(&self) -> Vec<(usize, u64)> {
        let charged = self.told().into_iter().filter_map(|(_, fact)| {
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
