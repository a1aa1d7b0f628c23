//! The executive: checks that a run is possible, starts its threads, ends it, and reports.

use crate::allowance::Allowance;
use crate::body::{Body, Cancelled, JobContext};
use crate::calibrate::calibrate;
use crate::config::{Config, Monitor, TaskSpec};
use crate::cpu_lock::{CpuLock, NoLock};
use crate::decider::{CpuSpec, RunScheduler};
use crate::driver::{Driver, Enactor, Huang2014, Kind, Managed, Manager, Native};
use crate::error::RunError;
use crate::foreign::Observer;
use crate::left_behind;
use crate::managed;
use crate::plan::{CpuPlan, RunPlan, tolerance};
use crate::processor::Processor;
use crate::queue::JobQueue;
use crate::recording::{Beginning, Consumer, Gatherer, Recorded, Recording, Rings, Tracer};
use crate::report::{Ended, ManagerRecord, Report};
use crate::rights::Rights;
use crate::shared::{Shared, StopCause, TaskShared};
use crate::stolen::Thief;
use crate::stop::Watch;
use crate::summary::{Measured, MeasuredCpu, report};
use crate::sys::clock::monotonic_nanos;
use crate::sys::continued::Continued;
use crate::sys::memory::LockedMemory;
use crate::sys::sched::LoweredPriorityLimit;
use crate::sys::suspension::SuspensionSignal;
use crate::thread::idle::IdleDetector;
use crate::thread::start::{Started, Threads};
use crate::thread::watchdog::Watchdog;
use crate::thread::worker::Worker;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use vestal_core::{Duration, Enforcer, Level, Scheduler, Service, TaskId};
use vestal_statistics::Summary;
use vestal_trace::{Record, Recorder};

/// Threads get so long to set themselves up, and the first release is so far from the start.
const HEAD_START_NANOS: u64 = 20_000_000;

/// A set of tasks with their bodies on one or more CPUs, about to run.
///
/// See the [crate's description](crate) for an example.
pub struct Executive {
    pub(crate) config: Config,
    pub(crate) cpus: Vec<CpuTasks>,
    /// A task that was added before there was a CPU for it.
    pub(crate) homeless: Option<String>,
    pub(crate) recording: Option<Recording>,
    #[cfg(feature = "real")]
    fault: Option<crate::fault::Fault>,
}

/// A CPU of the set with its tasks.
pub(crate) struct CpuTasks {
    pub(crate) spec: CpuSpec,
    pub(crate) tasks: Vec<(TaskSpec, Bodies)>,
}

impl std::fmt::Debug for CpuTasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tasks: Vec<_> = self.tasks.iter().map(|(spec, _)| spec).collect();
        f.debug_struct("CpuTasks")
            .field("spec", &self.spec)
            .field("tasks", &tasks)
            .finish()
    }
}

/// What a task's jobs do, and how much of it.
pub(crate) struct Bodies {
    body: Box<Body>,
    demand: Box<dyn FnMut(u64) -> Service + Send>,
}

impl std::fmt::Debug for Executive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executive")
            .field("config", &self.config)
            .field("cpus", &self.cpus)
            .finish_non_exhaustive()
    }
}

impl Executive {
    /// An executive without CPUs.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self {
            config,
            cpus: Vec::new(),
            homeless: None,
            recording: None,
            #[cfg(feature = "real")]
            fault: None,
        }
    }

    /// Begins a CPU of the set: the tasks that are added from now on run there. CPU numbers follow the order of these
    /// calls.
    #[must_use]
    pub fn cpu(mut self, spec: CpuSpec) -> Self {
        let tasks = Vec::new();
        self.cpus.push(CpuTasks { spec, tasks });
        self
    }

    /// Adds a task whose jobs do what `body` does. [`JobContext::demand`] is C(0).
    ///
    /// Task numbers follow the order of these calls, and begin anew on each CPU. A body that panics ends the run; one that
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
        match self.cpus.last_mut() {
            Some(cpu) => cpu.tasks.push((spec, bodies)),
            None => self.homeless = self.homeless.or(Some(spec.name)),
        }
        self
    }

    /// Records what happens, for a consumer that gets the records while the run goes on.
    ///
    /// A thread of the run needs some tens of nanoseconds for a record, and some hundred microseconds of
    /// the gatherer's time go to every thousand of them, on another CPU if there is one.
    #[must_use]
    pub fn recorded(mut self, recording: Recording) -> Self {
        self.recording = Some(recording);
        self
    }

    /// Lets something go wrong, for tests.
    #[cfg(feature = "real")]
    #[must_use]
    pub const fn with_fault(mut self, fault: crate::fault::Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Runs for `span`, or until SIGINT or SIGTERM: also until one that came before, and that no run
    /// has acknowledged; see [`crate::stop`].
    ///
    /// Blocks the calling thread, which stays in its scheduling class. Afterwards no thread of the
    /// run is in a real-time class, whatever the outcome.
    ///
    /// # Errors
    /// [`RunError`]; nothing has run unless it says so.
    pub fn run(self, span: Duration) -> Result<Report, RunError> {
        let rights = Rights::probe();
        let (_alone, plan) = (Alone::claim()?, self.prepare(&rights)?);
        let [cpu] = plan.cpus.as_slice() else {
            return Err(RunError::Unsupported(format!(
                "this version runs the tasks of one CPU, and the set has {}",
                plan.cpus.len()
            )));
        };
        let processors = plan.cpus.iter().map(|cpu| cpu.processor);
        let _locks = CpuLock::claim_all(processors).map_err(no_cpu)?;
        let _lowered = rights.cap_sys_nice.then(LoweredPriorityLimit::lower);
        let _locked = self.lock_memory()?;
        let _signals = Watch::begin().map_err(RunError::system("handle SIGINT and SIGTERM"))?;
        let _continued = Continued::take_over()
            .map_err(RunError::system("note when the process is continued"))?;
        let slices = plan.cpus.iter().any(|cpu| cpu.asked.slices);
        let _suspension = slices.then(SuspensionSignal::take_over).transpose();
        let _suspension =
            _suspension.map_err(RunError::system("handle the signal that suspends jobs"))?;
        let calibration = self.calibrate(cpu)?;
        self.execute(&plan, cpu, calibration, span)
    }

    /// Whether [`Self::run`] would be refused with these rights; nothing runs.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn check(&self, rights: &Rights) -> Result<(), RunError> {
        self.prepare(rights).map(|_| ())
    }

    fn lock_memory(&self) -> Result<Option<LockedMemory>, RunError> {
        if !self.config.lock_memory {
            return Ok(None);
        }
        LockedMemory::lock()
            .map(Some)
            .map_err(RunError::system("lock the process's memory"))
    }

    fn calibrate(&self, cpu: &CpuPlan) -> Result<Option<Summary>, RunError> {
        if !self.config.calibrate {
            return Ok(None);
        }
        let low = i32::from(self.config.priorities.0);
        let heartbeat = self.config.heartbeat.as_nanos();
        calibrate(cpu.monitor, heartbeat, cpu.processor.0, (low, low + 1))
            .map(|overshoots| Some(overshoots.summary()))
            .map_err(RunError::system("calibrate the budget monitor"))
    }

    /// What the threads of a CPU will share, and what only its workers will have.
    fn share(
        self,
        cpu: CpuTasks,
        plan: &CpuPlan,
        kind: Kind,
        tolerance: Service,
        scheduler: &RunScheduler,
    ) -> io::Result<(Arc<Shared>, Vec<Bodies>, Config)> {
        let config = self.config;
        let asked = &plan.asked;
        let (specs, bodies): (Vec<TaskSpec>, Vec<Bodies>) = cpu.tasks.into_iter().unzip();
        let tasks = specs
            .into_iter()
            .zip(&plan.fifo)
            .zip((0..).map(TaskId))
            .map(|((spec, &fifo), id)| {
                let limit = first_limit(scheduler, id);
                let offset = spec.offset.as_nanos();
                let task = TaskShared::new(spec.name, spec.configuration, offset, fifo, limit);
                let task = match asked.slices {
                    true => task.in_slices(),
                    false => task,
                };
                match asked.suspends {
                    true => task.with_slack(i32::from(config.priorities.0)),
                    false => task,
                }
            })
            .collect();
        let mut shared = Shared::new(tasks, &config, plan.processor.0, plan.monitor, tolerance);
        shared.stops_at_own_limit = asked.stops_at_own_limit;
        shared.guarantee = cpu.spec.guarantee;
        shared.backlog = cpu.spec.backlog;
        shared.managed = asked.managed.then(managed::Managed::default);
        (shared.duties, shared.call) = (kind.duties(), kind.call()?);
        #[cfg(feature = "real")]
        {
            shared.injected.fault = self.fault;
        }
        Ok((Arc::new(shared), bodies, config))
    }

    /// The rings of a recorded run, the manager's first; nothing is recorded without them.
    fn rings(&self) -> (Rings, Vec<Tracer>) {
        let mut rings = Rings::default();
        let tasks = self.cpus.iter().map(|cpu| cpu.tasks.len());
        let count = tasks.fold(self.cpus.len(), usize::saturating_add);
        let tracers = (0..count).map(|_| match &self.recording {
            Some(recording) => rings.add(recording.ring_records),
            None => Tracer::off(),
        });
        let tracers = tracers.collect();
        (rings, tracers)
    }

    /// Runs the only CPU of the set.
    fn execute(
        mut self,
        plan: &RunPlan,
        cpu: &CpuPlan,
        calibration: Option<Summary>,
        span: Duration,
    ) -> Result<Report, RunError> {
        let granularity = calibration.map(|summary| Service::from_nanos(summary.p99));
        let tolerance = tolerance(&self.config, granularity);
        let (rings, mut tracers) = self.rings();
        let consumer = self.recording.take();
        let only = self.cpus.remove(0);
        let scheduler = only.decide_with(tolerance)?;
        let kind = driver(&self.config, cpu, &scheduler);
        let granted = match &scheduler {
            RunScheduler::Guard(_) => tolerance,
            RunScheduler::Dispatching(_) => Service::ZERO,
        };
        let consumer = consumer.map(|recording| begin(recording, plan, granted));
        let consumer = consumer.transpose()?;
        let manager_trace = tracers.remove(0);
        let shared = self.share(only, cpu, kind, tolerance, &scheduler);
        let (shared, bodies, config) =
            shared.map_err(RunError::system("make the manager's event descriptor"))?;
        let late_beyond = granularity.map_or(0, Service::as_nanos);

        let mut threads = Threads::new(config.stack_bytes);
        let record = ManagerRecord::new(shared.tasks.len(), late_beyond);
        let trace = (manager_trace, consumer.is_some());
        let gatherer = consumer.map(|consumer| gather(rings, &shared, consumer, plan));
        let gatherer = gatherer.transpose()?;
        let bodies = bodies.into_iter().zip(tracers);
        // Each is ready before the next one is started: in its class, on its CPU, blocked.
        let priorities = (i32::from(config.priorities.0), cpu.manager);
        let decider = (kind, scheduler);
        let started = start_watchdog(&mut threads, &shared, plan.watchdog)
            .and_then(|()| start_manager(&mut threads, &shared, decider, trace, record, priorities))
            .and_then(|manager| start_workers(&mut threads, &shared, bodies).map(|()| manager));
        let manager = match started {
            Ok(manager) => manager,
            Err(source) => {
                shared.request_stop(StopCause::SetupFailed);
                shared.halt();
                let _ = threads.join(config.patience);
                finish(gatherer, Vec::new(), None)?;
                let what = "start the threads of the run";
                return Err(RunError::System { what, source });
            }
        };
        let mut others = Observer::new(cpu.processor.0);
        go(&shared, span);
        let record = manager.join(&shared, config.patience, || {
            others.look_if(shared.stolen.stolen_by(Thief::Thread));
        });
        let stuck = threads.join(config.patience);
        let rest = left_behind::account(&shared, &stuck);
        let end = record.as_ref().and_then(|record| record.end);
        let recorded = finish(gatherer, rest, end);
        let ended = how_it_ended(&shared)?;
        let Some(record) = record else {
            return Err(RunError::ManagerHung);
        };
        let measured = Measured {
            ended,
            mechanism: config.mechanism,
            recorded: recorded?,
            continued: Continued::instants(),
        };
        let on_cpu = MeasuredCpu {
            calibration,
            granularity,
            limits: cpu.asked.limits.clone(),
            fallback: cpu.fallback.clone(),
            manager: record,
            stuck,
            foreign: others.finish(),
        };
        Ok(report(&shared, &measured, &on_cpu))
    }
}

/// Makes the consumer of a recording.
fn begin(
    recording: Recording,
    plan: &RunPlan,
    granularity: Service,
) -> Result<Box<Consumer>, RunError> {
    let processors = plan.cpus.iter().map(|cpu| cpu.processor).collect();
    let beginning = Beginning {
        granularity,
        processors,
    };
    (recording.begin)(&beginning).map_err(RunError::system("begin the recording"))
}

/// Starts the thread that takes the records, on any processor that the run does not use.
fn gather(
    rings: Rings,
    shared: &Arc<Shared>,
    consumer: Box<Consumer>,
    plan: &RunPlan,
) -> Result<Gatherer, RunError> {
    let failed = RunError::system("start the thread that gathers the records");
    let elsewhere = plan.other_processors.iter().map(|other| other.0).collect();
    Gatherer::start(rings, shared, consumer, elsewhere).map_err(failed)
}

fn finish(
    gatherer: Option<Gatherer>,
    rest: Vec<Record>,
    end: Option<Record>,
) -> Result<Option<Recorded>, RunError> {
    let recorded = gatherer.map(|gatherer| gatherer.finish(rest, end));
    let recorded = recorded.transpose();
    recorded.map_err(RunError::system("gather the records"))
}

/// Which driver a CPU has.
fn driver(config: &Config, plan: &CpuPlan, scheduler: &RunScheduler) -> Kind {
    let enforces = config.enforce;
    match scheduler {
        RunScheduler::Guard(guard) => Kind::native(
            config.mechanism,
            enforces,
            guard.interest(),
            guard.has_modes(),
        ),
        RunScheduler::Dispatching(_) => Kind::Managed {
            enforces,
            futex: matches!(plan.monitor, Monitor::Manager | Monitor::Heartbeat),
        },
    }
}

/// What the first job of a task may execute. A dispatching scheduler says it of each job when it
/// gives it the CPU.
fn first_limit(scheduler: &RunScheduler, task: TaskId) -> Allowance {
    let permit = match scheduler {
        RunScheduler::Guard(guard) => guard.permit(task),
        RunScheduler::Dispatching(_) => return Allowance::Unlimited,
    };
    Allowance::of(permit).unwrap_or(Allowance::NotAdmitted)
}

/// Starts a manager, and with one that asks for it the idle detector.
fn start_manager(
    threads: &mut Threads,
    shared: &Arc<Shared>,
    (kind, scheduler): (Kind, RunScheduler),
    (trace, is_recorded): (Tracer, bool),
    record: ManagerRecord,
    (low, priority): (i32, i32),
) -> io::Result<Started<ManagerRecord>> {
    let tasks = shared.tasks.len();
    let guard = match scheduler {
        RunScheduler::Dispatching(scheduler) => {
            let managed = Managed::new(shared, Recorder::new(scheduler, trace), low);
            return start_driver(threads, shared, managed, record, priority);
        }
        RunScheduler::Guard(guard) if is_recorded => Recorder::with_permits(*guard, trace, tasks),
        RunScheduler::Guard(guard) => Recorder::new(*guard, trace),
    };
    let enactor = Enactor::new(guard, tasks);
    let started = match kind {
        Kind::Huang2014(paper) => {
            let driver = Huang2014::new(enactor, paper);
            start_driver(threads, shared, driver, record, priority)?
        }
        Kind::Native { .. } | Kind::Managed { .. } => {
            start_driver(threads, shared, Native::new(enactor), record, priority)?
        }
    };
    if kind.needs_idle_detector() {
        let idle = IdleDetector {
            shared: Arc::clone(shared),
            priority: low,
        };
        let (set_up, main) = (IdleDetector::set_up, IdleDetector::main);
        threads.start("vestal-idle", None, idle, set_up, main)?;
    }
    Ok(started)
}

fn start_driver<D: Driver + Send + 'static>(
    threads: &mut Threads,
    shared: &Arc<Shared>,
    driver: D,
    record: ManagerRecord,
    priority: i32,
) -> io::Result<Started<ManagerRecord>> {
    let manager = Manager::new(Arc::clone(shared), driver, record, priority);
    let (set_up, main) = (Manager::set_up, Manager::main);
    threads.start("vestal-manager", None, manager, set_up, main)
}

fn start_watchdog(
    threads: &mut Threads,
    shared: &Arc<Shared>,
    (processor, priority): (Processor, i32),
) -> io::Result<()> {
    let watchdog = Watchdog {
        shared: Arc::clone(shared),
        cpu: processor.0,
        priority,
    };
    let (set_up, main) = (Watchdog::set_up, Watchdog::main);
    threads.start("vestal-watchdog", None, watchdog, set_up, main)?;
    Ok(())
}

fn start_workers(
    threads: &mut Threads,
    shared: &Arc<Shared>,
    bodies: impl Iterator<Item = (Bodies, Tracer)>,
) -> io::Result<()> {
    for (index, (bodies, trace)) in bodies.enumerate() {
        let worker = Worker {
            shared: Arc::clone(shared),
            index,
            body: bodies.body,
            demand: bodies.demand,
            queue: JobQueue::new(shared.backlog),
            trace,
        };
        let name = format!("vestal-{index}");
        threads.start(&name, Some(index), worker, Worker::set_up, Worker::main)?;
    }
    Ok(())
}

fn no_cpu((processor, why): (Processor, NoLock)) -> RunError {
    match why {
        NoLock::Taken(lock) => RunError::CpuBusy { processor, lock },
        NoLock::Failed(source) => RunError::System {
            what: "lock the CPU for this run",
            source,
        },
    }
}

/// Opens the run.
fn go(shared: &Shared, span: Duration) {
    let epoch = monotonic_nanos() + HEAD_START_NANOS;
    shared.epoch.set(epoch);
    shared.end.set(epoch.saturating_add(span.as_nanos()));
    shared.beat.go_on();
    shared.phase.begin();
}

fn how_it_ended(shared: &Shared) -> Result<Ended, RunError> {
    match shared.stop_cause() {
        Some(StopCause::Finished) => Ok(Ended::Finished),
        Some(StopCause::Signal(signal)) => Ok(Ended::Signal(signal)),
        Some(StopCause::BodyPanicked { task, message }) => Err(RunError::BodyPanicked {
            task: shared
                .tasks
                .get(task.index())
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
