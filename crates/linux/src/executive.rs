//! The executive: checks that a run is possible, starts its threads, ends it, and reports.

use crate::body::{Body, Cancelled, JobContext};
use crate::calibrate::calibrate;
use crate::config::{Config, Monitor, TaskSpec};
use crate::error::RunError;
use crate::idle::IdleDetector;
use crate::manager::Manager;
use crate::report::{Ended, ManagerRecord, Report};
use crate::rights::{Needs, Refusal, Rights, judge};
use crate::shared::{RUN, Shared, StopCause, TaskShared};
use crate::stats::Summary;
use crate::summary::{Measured, report};
use crate::sys::clock::monotonic_nanos;
use crate::sys::futex;
use crate::sys::memory::LockedMemory;
use crate::sys::signal::StopSignals;
use crate::threads::{Crew, Started};
use crate::watchdog::Watchdog;
use crate::worker::Worker;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use vestal_core::engine::Configuration;
use vestal_core::{Duration, Guard, Level, OnMiss, Service, TaskConfiguration, TaskId};

/// Threads get so long to reach their places, and the first release is so far from the start.
const HEAD_START_NANOS: u64 = 20_000_000;

/// The priorities of a run beside its workers: idle detector below, manager and watchdog above.
const PRIORITIES_BESIDE_WORKERS: usize = 3;

/// A set of tasks with their bodies, about to run on one CPU.
///
/// See the [crate's description](crate) for an example.
pub struct Executive {
    config: Config,
    tasks: Vec<(TaskSpec, Bodies)>,
    #[cfg(feature = "real")]
    fault: Option<crate::fault::Fault>,
}

/// What a task's jobs do, and how much of it.
struct Bodies {
    body: Box<Body>,
    demand: Box<dyn FnMut(u64) -> Service + Send>,
}

impl std::fmt::Debug for Executive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tasks: Vec<_> = self.tasks.iter().map(|(spec, _)| spec).collect();
        f.debug_struct("Executive")
            .field("config", &self.config)
            .field("tasks", &tasks)
            .finish_non_exhaustive()
    }
}

impl Executive {
    /// An executive without tasks.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self {
            config,
            tasks: Vec::new(),
            #[cfg(feature = "real")]
            fault: None,
        }
    }

    /// Adds a task whose jobs do what `body` does. [`JobContext::demand`] is C(0).
    ///
    /// Task numbers follow the order of these calls. A body that panics ends the run; one that
    /// blocks keeps the mode up while it waits.
    #[must_use]
    pub fn task(
        self,
        spec: TaskSpec,
        body: impl FnMut(&mut JobContext<'_>) -> Result<(), Cancelled> + Send + 'static,
    ) -> Self {
        let usual = spec.configuration.task.wcet.at(Level::LOWEST);
        self.task_with_demand(spec, move |_| usual, body)
    }

    /// Adds a task whose job number k is demanded to execute `demand(k)`, as
    /// [`JobContext::demand`] tells the body. Job numbers never fall; dropped jobs are not asked for.
    #[must_use]
    pub fn task_with_demand(
        mut self,
        spec: TaskSpec,
        demand: impl FnMut(u64) -> Service + Send + 'static,
        body: impl FnMut(&mut JobContext<'_>) -> Result<(), Cancelled> + Send + 'static,
    ) -> Self {
        let bodies = Bodies {
            body: Box::new(body),
            demand: Box::new(demand),
        };
        self.tasks.push((spec, bodies));
        self
    }

    /// Lets something go wrong, for tests.
    #[cfg(feature = "real")]
    #[must_use]
    pub const fn with_fault(mut self, fault: crate::fault::Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Runs for `span`, or until SIGINT or SIGTERM.
    ///
    /// Blocks the calling thread, which stays in its scheduling class. Afterwards no thread of the
    /// run is in a real-time class, whatever the outcome.
    ///
    /// # Errors
    /// [`RunError`]; nothing has run unless it says so.
    pub fn run(self, span: Duration) -> Result<Report, RunError> {
        let (_alone, plan) = (Alone::claim()?, self.prepare(&Rights::probe())?);
        let _locked = self.lock_memory()?;
        let _signals =
            StopSignals::take_over().map_err(RunError::system("handle SIGINT and SIGTERM"))?;
        let calibration = self.calibrate(&plan)?;
        self.execute(&plan, calibration, span)
    }

    /// Whether [`Self::run`] would be refused with these rights; nothing runs.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn check(&self, rights: &Rights) -> Result<(), RunError> {
        self.prepare(rights).map(|_| ())
    }

    fn prepare(&self, rights: &Rights) -> Result<RunPlan, RunError> {
        let configurations: Vec<TaskConfiguration> = self
            .tasks
            .iter()
            .map(|(spec, _)| spec.configuration)
            .collect();
        let guard = Guard::new(&Configuration {
            tasks: &configurations,
            levels: self.config.levels,
            enforcement: self.config.enforcement,
            exhaustion: self.config.exhaustion,
            granularity: self.config.tolerance,
            wake_granularity: Duration::ZERO,
        })
        .map_err(RunError::Configuration)?;
        let fifo = self.fifo_priorities()?;
        let highest = self.config.priorities.0 as usize + self.tasks.len() + 2;
        let specs = || self.tasks.iter().map(|(spec, _)| spec);
        if let Some(spec) = specs().find(|spec| spec.configuration.on_miss == OnMiss::Abort) {
            return Err(RunError::Unsupported(format!(
                "{}: on_miss = \"abort\" needs managed dispatch; native dispatch watches limits, not deadlines (use on_miss = \"continue\")",
                spec.name
            )));
        }
        let stacks = self.config.stack_bytes as u64 * (self.tasks.len() as u64 + 3);
        let needs = Needs {
            priority: u8::try_from(highest).unwrap_or(u8::MAX),
            cpu: self.config.cpu,
            locked_bytes: self
                .config
                .lock_memory
                .then_some(stacks + LOCKED_RESERVE_BYTES),
            utilization_ppm: utilization_ppm(specs()),
            margin_ppm: u64::from(self.config.throttling_margin_permille) * 1_000,
        };
        let refusals = judge(rights, &needs);
        if !refusals.is_empty() {
            return Err(RunError::Refused(refusals));
        }
        let Some(cpu) = self.config.cpu.or_else(|| rights.cpus.last().copied()) else {
            return Err(RunError::Refused(vec![Refusal::CpuNotAllowed {
                cpu: 0,
                allowed: Vec::new(),
            }]));
        };
        let elsewhere = rights.cpus.iter().copied().find(|&other| other != cpu);
        let fallback = self.config.monitor == Monitor::Perf && !rights.perf;
        Ok(RunPlan {
            guard,
            fifo,
            cpu,
            watchdog_cpu: elsewhere.unwrap_or(cpu),
            monitor: if fallback {
                Monitor::Manager
            } else {
                self.config.monitor
            },
            fallback: fallback.then(|| {
                "perf_event_open is refused (kernel.perf_event_paranoid above 1 without CAP_PERFMON, or a sandbox)"
                    .to_owned()
            }),
        })
    }

    /// A distinct SCHED_FIFO priority per task, in the order of the tasks' priorities; of equals the
    /// first task gets the higher one.
    fn fifo_priorities(&self) -> Result<Vec<i32>, RunError> {
        let (low, high) = self.config.priorities;
        let needed = self.tasks.len() + PRIORITIES_BESIDE_WORKERS;
        let room = (usize::from(high) + 1).saturating_sub(usize::from(low));
        if low == 0 || high > 99 || needed > room {
            return Err(RunError::Unsupported(format!(
                "{} tasks need {needed} SCHED_FIFO priorities within 1 to 99, but {low} to {high} was given",
                self.tasks.len()
            )));
        }
        let mut least_urgent_first: Vec<usize> = (0..self.tasks.len()).collect();
        least_urgent_first.sort_by_key(|&index| {
            let priority = self
                .tasks
                .get(index)
                .map_or(0, |(spec, _)| spec.configuration.priority);
            (priority, std::cmp::Reverse(index))
        });
        let mut fifo = vec![0; self.tasks.len()];
        for (index, priority) in least_urgent_first.into_iter().zip(i32::from(low) + 1..) {
            if let Some(entry) = fifo.get_mut(index) {
                *entry = priority;
            }
        }
        Ok(fifo)
    }

    fn lock_memory(&self) -> Result<Option<LockedMemory>, RunError> {
        if !self.config.lock_memory {
            return Ok(None);
        }
        LockedMemory::lock()
            .map(Some)
            .map_err(RunError::system("lock the process's memory"))
    }

    fn calibrate(&self, plan: &RunPlan) -> Result<Option<Summary>, RunError> {
        if !self.config.calibrate {
            return Ok(None);
        }
        let low = i32::from(self.config.priorities.0);
        calibrate(plan.monitor, plan.cpu, (low, low + 1))
            .map(Some)
            .map_err(RunError::system("calibrate the budget monitor"))
    }

    /// What the threads of the run will share, and what only the workers will have.
    fn share(self, plan: &RunPlan) -> (Arc<Shared>, Vec<Bodies>, Config) {
        let config = self.config;
        let (specs, bodies): (Vec<TaskSpec>, Vec<Bodies>) = self.tasks.into_iter().unzip();
        let tasks = specs
            .into_iter()
            .zip(&plan.fifo)
            .map(|(spec, &fifo)| {
                let limit = first_limit(&config, &spec.configuration);
                let offset = spec.offset.as_nanos();
                TaskShared::new(spec.name, spec.configuration, offset, fifo, limit)
            })
            .collect();
        #[cfg_attr(
            not(feature = "real"),
            expect(unused_mut, reason = "only tests inject faults")
        )]
        let mut shared = Shared::new(tasks, &config, plan.cpu, plan.monitor);
        #[cfg(feature = "real")]
        {
            shared.fault = self.fault;
        }
        (Arc::new(shared), bodies, config)
    }

    fn execute(
        self,
        plan: &RunPlan,
        calibration: Option<Summary>,
        span: Duration,
    ) -> Result<Report, RunError> {
        let count = self.tasks.len();
        let low = i32::from(self.config.priorities.0);
        let over = low + 1 + i32::try_from(count).unwrap_or(i32::MAX / 2);
        let (shared, bodies, config) = self.share(plan);
        let granularity = calibration.map(|summary| Service::from_nanos(summary.p99));
        let late_beyond = granularity.map_or(0, Service::as_nanos);

        let mut crew = Crew::new(Arc::clone(&shared), config.stack_bytes);
        let manager = Manager {
            shared: Arc::clone(&shared),
            guard: plan.guard.clone(),
            charged: vec![(0, 0); count],
            record: ManagerRecord::new(count, late_beyond),
            priority: over,
        };
        let started = start_all(&mut crew, manager, bodies, plan, low);
        let manager = match started {
            Ok(manager) => manager,
            Err(error) => {
                shared.request_stop(StopCause::SetupFailed);
                shared.halt();
                let _ = crew.gather(config.patience);
                return Err(RunError::System {
                    what: "start the threads of the run",
                    source: error,
                });
            }
        };
        go(&shared, span);
        let record = manager.join(&shared, config.patience);
        let stuck = crew.gather(config.patience);
        let ended = how_it_ended(&shared)?;
        let Some(record) = record else {
            return Err(RunError::ManagerHung);
        };
        Ok(report(
            &shared,
            &Measured {
                ended,
                calibration,
                granularity,
                config: &config,
                fallback: plan.fallback.clone(),
                manager: record,
                stuck,
            },
        ))
    }
}

/// Room for what a run allocates beside the stacks.
const LOCKED_RESERVE_BYTES: u64 = 16 << 20;

/// What was decided before anything started.
struct RunPlan {
    guard: Guard,
    fifo: Vec<i32>,
    cpu: usize,
    watchdog_cpu: usize,
    monitor: Monitor,
    fallback: Option<String>,
}

/// Starts every thread and waits until it stands at its place: in its class, on its CPU, blocked.
fn start_all(
    crew: &mut Crew,
    manager: Manager,
    bodies: Vec<Bodies>,
    plan: &RunPlan,
    low: i32,
) -> io::Result<Started<ManagerRecord>> {
    let shared = Arc::clone(&manager.shared);
    let over = manager.priority;
    let watchdog = Watchdog {
        shared: Arc::clone(&shared),
        cpu: plan.watchdog_cpu,
        priority: over + 1,
    };
    crew.start(
        "vestal-watchdog",
        watchdog,
        Watchdog::set_up,
        Watchdog::main,
    )?;
    let manager = crew.start("vestal-manager", manager, Manager::set_up, Manager::main)?;
    let idle = IdleDetector {
        shared: Arc::clone(&shared),
        priority: low,
    };
    crew.start(
        "vestal-idle",
        idle,
        IdleDetector::set_up,
        IdleDetector::main,
    )?;
    for (index, bodies) in bodies.into_iter().enumerate() {
        let worker = Worker {
            shared: Arc::clone(&shared),
            index,
            id: TaskId(u16::try_from(index).unwrap_or(u16::MAX)),
            body: bodies.body,
            demand: bodies.demand,
        };
        crew.start_worker(index, worker, Worker::set_up, Worker::main)?;
    }
    Ok(manager)
}

/// Opens the run.
fn go(shared: &Shared, span: Duration) {
    let epoch = monotonic_nanos() + HEAD_START_NANOS;
    shared.epoch.store(epoch, Ordering::SeqCst);
    shared
        .end
        .store(epoch.saturating_add(span.as_nanos()), Ordering::SeqCst);
    shared.beat.store(epoch, Ordering::SeqCst);
    shared.phase.store(RUN, Ordering::SeqCst);
    futex::wake_all(&shared.phase);
}

/// What a job may execute in mode 0.
fn first_limit(config: &Config, entry: &TaskConfiguration) -> u64 {
    let rule = config.enforcement;
    match rule.on_exhaustion(&entry.task, Level::LOWEST, config.exhaustion) {
        Some(_) => rule.limit(&entry.task, Level::LOWEST).as_nanos().max(1),
        None => crate::shared::UNLIMITED,
    }
}

fn how_it_ended(shared: &Shared) -> Result<Ended, RunError> {
    match shared.stop_cause() {
        Some(StopCause::Finished) => Ok(Ended::Finished),
        Some(StopCause::Signal(signal)) => Ok(Ended::Signal(signal)),
        Some(StopCause::BodyPanicked { task, message }) => Err(RunError::BodyPanicked {
            task: shared
                .tasks
                .get(task)
                .map_or_else(String::new, |task| task.name.clone()),
            message,
        }),
        Some(StopCause::ManagerPanicked { message }) => Err(RunError::ManagerPanicked { message }),
        Some(StopCause::SetupFailed) => Err(RunError::System {
            what: "restore a worker's priority",
            source: io::Error::other("refused during the run"),
        }),
        Some(StopCause::ManagerHung) | None => Err(RunError::ManagerHung),
    }
}

/// What the tasks may use of the CPU in the real-time class, in millionths: beyond its own C_i(z_i)
/// enforcement takes a job out of it.
///
/// A task with a period above a second counts with its whole job, because RT throttling looks at
/// single seconds. Without enforcement at run time the figure is only what the tasks promise.
fn utilization_ppm<'a>(specs: impl Iterator<Item = &'a TaskSpec>) -> u64 {
    specs
        .map(|spec| {
            let task = &spec.configuration.task;
            let own = task.own_wcet();
            let most = spec.demand_max.map_or(own, |demand| demand.min(own));
            let window = task
                .period
                .as_nanos()
                .min(vestal_core::time::NANOS_PER_SECOND);
            let ppm = u128::from(most.as_nanos()) * 1_000_000 / u128::from(window.max(1));
            u64::try_from(ppm).unwrap_or(u64::MAX)
        })
        .fold(0, u64::saturating_add)
}

/// Only one run at a time in a process: signal handlers and memory locks belong to all of it.
struct Alone;

static RUNNING: AtomicBool = AtomicBool::new(false);

impl Alone {
    fn claim() -> Result<Self, RunError> {
        if RUNNING.swap(true, Ordering::SeqCst) {
            return Err(RunError::AlreadyRunning);
        }
        Ok(Self)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        RUNNING.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
#[path = "executive_tests.rs"]
mod tests;
