//! The executive: takes the CPUs of a set with their tasks and bodies, checks that a run is possible, and runs them.

use crate::arming::{ROUNDS, choose};
use crate::blocking::bottom_half;
use crate::body::{Bodies, Cancelled, JobContext};
use crate::calibrate::{Calibration, calibrate};
use crate::config::{Config, Dispatcher, Mechanism, TOLERANCE_MIN, TaskSpec};
use crate::cpu_lock::{CpuLock, NoLock};
use crate::decider::{CpuSpec, Decider};
use crate::device::{Attached, Device};
use crate::error::RunError;
use crate::frames::{self, Frames};
use crate::launch::Launch;
use crate::marker::Marker;
use crate::plan::{CpuPlan, CpuTasks, RunPlan, Wish};
use crate::recording::Recording;
use crate::report::{Ended, Report};
use crate::rights::Rights;
use crate::server_trial;
use crate::skew::{ClockSkew, clock_skew};
use crate::stop::{self, Watch};
use crate::sys::Processor;
use crate::sys::continued::Continued;
use crate::sys::memory::LockedMemory;
use crate::sys::sched::LoweredPriorityLimit;
use crate::sys::suspension::SuspensionSignal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use vestal_core::{Duration, Level, Service, TaskId};
use vestal_statistics::Summary;

/// A set of tasks with their bodies on one or more CPUs, about to run.
///
/// See the [crate's description](crate) for an example.
pub struct Executive {
    pub(crate) config: Config,
    cpus: Vec<CpuTasks>,
    /// By CPU and task.
    bodies: Vec<Vec<Bodies>>,
    /// A task that was added before there was a CPU for it.
    homeless: Option<String>,
    recording: Option<Recording>,
    /// What all CPUs have in common, if their jobs are in a frame table.
    frames: Option<Frames>,
    #[cfg(feature = "real")]
    fault: Option<(Option<vestal_core::CpuId>, crate::fault::Fault)>,
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
            bodies: Vec::new(),
            homeless: None,
            recording: None,
            frames: None,
            #[cfg(feature = "real")]
            fault: None,
        }
    }

    /// Begins a CPU of the set: the tasks that are added from now on run there. CPU numbers follow the order of these
    /// calls.
    #[must_use]
    pub fn cpu(mut self, spec: CpuSpec) -> Self {
        self.cpus.push(CpuTasks {
            spec,
            tasks: Vec::new(),
            devices: Vec::new(),
        });
        self.bodies.push(Vec::new());
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
        let made = Bodies {
            body: Box::new(body),
            demand: Box::new(demand),
        };
        match (self.cpus.last_mut(), self.bodies.last_mut()) {
            (Some(cpu), Some(bodies)) => {
                cpu.tasks.push(spec);
                bodies.push(made);
            }
            _ => self.homeless = self.homeless.or(Some(spec.name)),
        }
        self
    }

    /// Adds the bottom half of a device: a task whose jobs take the events that are there, and do with each what `each` says. They
    /// come when the device is ready, and not by the period of `spec`, which only says what it is when one is late. Device numbers
    /// follow the order of these calls, and are those of the scheduler, to which this task has to be the bottom half of that device.
    /// What a job takes of the CPU is bounded by the budget of its server.
    ///
    /// For managed dispatch. No miss counts as guaranteed not to happen on a CPU with devices.
    #[must_use]
    pub fn bottom_half(
        mut self,
        spec: TaskSpec,
        device: &Device,
        each: impl FnMut(&mut JobContext<'_>, &[u8]) -> Result<(), Cancelled> + Send + 'static,
    ) -> Self {
        if let Some(cpu) = self.cpus.last_mut() {
            let number = u16::try_from(cpu.tasks.len()).unwrap_or(u16::MAX);
            cpu.devices.push(Attached {
                task: TaskId(number),
                device: device.clone(),
            });
        }
        self.task(spec, bottom_half(device.clone(), each))
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

    /// Tells the kernel's own trace of jobs: see [`Config::trace_marker`].
    #[must_use]
    pub fn marked(mut self, marker: PathBuf) -> Self {
        self.config.trace_marker = Some(marker);
        self
    }

    /// Gives all CPUs the scheduler of a frame table: each of them is [`CpuSpec::common`], and has the tasks whose places
    /// are there. Monitor, termination and heartbeat of the configuration are not used, and nothing is enforced
    /// but the order. With [`Mechanism::Sigrist2015`](crate::Mechanism::Sigrist2015) the threads are those of the paper, its checker
    /// has a heartbeat if that is the monitor, and [`Config::dispatcher`] is followed.
    #[must_use]
    pub fn frames(mut self, frames: Frames) -> Self {
        self.frames = Some(frames);
        self
    }

    /// Lets something go wrong on every CPU of the set, for tests.
    #[cfg(feature = "real")]
    #[must_use]
    pub const fn with_fault(mut self, fault: crate::fault::Fault) -> Self {
        self.fault = Some((None, fault));
        self
    }

    /// The same on this CPU of the set alone.
    #[cfg(feature = "real")]
    #[must_use]
    pub const fn with_fault_on(
        mut self,
        cpu: vestal_core::CpuId,
        fault: crate::fault::Fault,
    ) -> Self {
        self.fault = Some((Some(cpu), fault));
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
    pub fn run(mut self, span: Duration) -> Result<Report, RunError> {
        let rights = Rights::probe();
        let (_alone, mut plan) = (Alone::claim()?, self.prepare(&rights)?);
        let processors = plan.cpus.iter().map(|cpu| cpu.processor);
        let processors = processors.chain(plan.beside.dispatcher);
        let marker = self.marker()?;
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
        for cpu in &mut plan.cpus {
            self.choose_monitor(cpu)?;
        }
        let calibrations = plan.cpus.iter().map(|cpu| self.calibrate(cpu, &rights));
        let calibrations = calibrations.collect::<Result<_, _>>()?;
        let processors = plan.cpus.iter().map(|cpu| cpu.processor);
        let clock_skew = clock_skew(processors, i32::from(self.config.priorities.0));
        if let Some(beside) = self.beside() {
            self.cpus.push(beside);
            self.bodies.push(Vec::new());
            let numbers = self.frames.as_mut().map(|frames| &mut frames.numbers);
            numbers
                .into_iter()
                .for_each(|numbers| numbers.push(Vec::new()));
        }
        let frames = self.frames.take();
        let mut launch = self.launch(plan, calibrations, clock_skew);
        launch.marker = marker;
        match frames {
            Some(frames) => frames::execute(launch, frames, span),
            None => launch.execute(span),
        }
    }

    /// Whether [`Self::run`] would be refused with these rights; nothing runs.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn check(&self, rights: &Rights) -> Result<(), RunError> {
        self.prepare(rights).map(|_| ())
    }

    /// Checks the tasks against each other, the settings and the rights.
    pub(crate) fn prepare(&self, rights: &Rights) -> Result<RunPlan, RunError> {
        let tasks = self.cpus.iter().map(|cpu| cpu.tasks.len());
        let (tasks, cpus) = (tasks.sum(), self.cpus.len());
        let recording = self.recording.as_ref();
        let beside = self.beside();
        let wish = Wish {
            config: &self.config,
            cpus: &self.cpus,
            beside: beside.as_ref(),
            homeless: self.homeless.as_deref(),
            ring_bytes: recording.map_or(0, |recording| recording.bytes(tasks, cpus)),
        };
        if let Some(why) = self.mixed() {
            return Err(RunError::Unsupported(why));
        }
        wish.plan(rights)
    }

    /// The CPU without tasks that dispatcher, scheduler and checker of a frame table are to have for themselves, if so.
    fn beside(&self) -> Option<CpuTasks> {
        let Dispatcher::Own(processor) = self.config.dispatcher else {
            return None;
        };
        let is_asked_for = self.frames.is_some() && self.config.is_of_sigrist2015();
        is_asked_for.then(|| {
            let spec = CpuSpec {
                guarantee: self.cpus.iter().all(|cpu| cpu.spec.guarantee),
                utilization_ppm: Some(0),
                ..CpuSpec::common()
            };
            CpuTasks {
                spec: spec.on(processor),
                tasks: Vec::new(),
                devices: Vec::new(),
            }
        })
    }

    /// What does not fit of CPUs with and without a scheduler of their own.
    fn mixed(&self) -> Option<String> {
        let is_common = |cpu: &CpuTasks| matches!(cpu.spec.decider, Decider::Common);
        let common = self.cpus.iter().filter(|cpu| is_common(cpu)).count();
        let Some(frames) = &self.frames else {
            let why = "a CPU of a frame table needs one: see `Executive::frames`";
            return (common > 0).then(|| why.to_owned());
        };
        if common < self.cpus.len() {
            let why = "all CPUs of a frame table have its scheduler: see `CpuSpec::common`";
            return Some(why.to_owned());
        }
        frames.misfit(self.cpus.iter().map(|cpu| cpu.tasks.len()))
    }

    fn launch(
        self,
        plan: RunPlan,
        calibrations: Vec<Calibration>,
        clock_skew: Option<ClockSkew>,
    ) -> Launch {
        Launch {
            config: self.config,
            plan,
            cpus: self.cpus.into_iter().zip(self.bodies).collect(),
            recording: self.recording,
            marker: None,
            calibrations,
            clock_skew,
            #[cfg(feature = "real")]
            fault: self.fault,
        }
    }

    fn lock_memory(&self) -> Result<Option<LockedMemory>, RunError> {
        if !self.config.lock_memory {
            return Ok(None);
        }
        LockedMemory::lock()
            .map(Some)
            .map_err(RunError::system("lock the process's memory"))
    }

    /// Where the kernel's trace is told of jobs, if it is to be.
    fn marker(&self) -> Result<Option<Marker>, RunError> {
        let Some(path) = &self.config.trace_marker else {
            return Ok(None);
        };
        let refused = |source| RunError::NoTraceMarker {
            path: path.clone(),
            source,
        };
        Marker::open(path).map(Some).map_err(refused)
    }

    /// Gives a CPU whose lock is held the cheaper monitor, if it may be another one than was asked for, and finds what is used up no later.
    fn choose_monitor(&self, cpu: &mut CpuPlan) -> Result<(), RunError> {
        let config = &self.config;
        let arms_itself = !cpu.asked.managed && config.mechanism == Mechanism::Vestal;
        // Without a calibration nobody would know how late the one that was taken is.
        let may_choose = config.chooses_monitor && config.enforce && config.calibrate;
        if !may_choose || !arms_itself || self.frames.is_some() {
            return Ok(());
        }
        if is_to_end() {
            // Perf is what there is without a trial.
            return Ok(());
        }
        let low = i32::from(config.priorities.0);
        let Some(mut choice) = choose(cpu.monitor, cpu.processor.0, low, ROUNDS) else {
            return Ok(());
        };
        if choice.is_manager {
            let (perf, manager) = (self.late(cpu)?, choice.monitor());
            cpu.monitor = manager;
            // Who cannot be tried out is not taken, and nobody asked for it.
            (choice, cpu.calibrated) = match self.late(cpu) {
                Ok(late) => {
                    let tolerated = TOLERANCE_MIN.as_nanos();
                    let choice = choice.if_as_sharp((perf.p99, late.p99), tolerated);
                    let taken = if choice.is_manager { late } else { perf };
                    (choice, Some(taken))
                }
                Err(error) => (choice.refused(&error), Some(perf)),
            };
        }
        cpu.monitor = choice.monitor();
        cpu.choice = Some(choice);
        Ok(())
    }

    /// By how much a thread exceeds its budget before the monitor of `cpu` says so.
    fn late(&self, cpu: &CpuPlan) -> Result<Summary, RunError> {
        let low = i32::from(self.config.priorities.0);
        let pace = self.config.pace_of(cpu.monitor);
        calibrate(cpu.monitor, pace, cpu.processor.0, (low, low + 1))
            .map(|overshoots| overshoots.summary())
            .map_err(RunError::system("calibrate the budget monitor"))
    }

    fn calibrate(&self, cpu: &CpuPlan, rights: &Rights) -> Result<Calibration, RunError> {
        if !self.config.calibrate || self.frames.is_some() || is_to_end() {
            return Ok(Calibration::default());
        }
        let monitor = match cpu.calibrated {
            Some(calibrated) => calibrated,
            None => self.late(cpu)?,
        };
        let servers = match cpu.asked.budgets_outlive_jobs && self.config.enforce {
            true => self.try_out_servers(cpu, rights)?,
            false => None,
        };
        Ok(Calibration {
            monitor: Some(monitor),
            servers,
        })
    }

    /// Tries out what budgets that outlive jobs may be exceeded by on the processor of `cpu`, whose lock is held; `None` if
    /// nothing was found: because the run is to end, time was stolen all along, or the machine leaves no room for a trial.
    fn try_out_servers(&self, cpu: &CpuPlan, rights: &Rights) -> Result<Option<Service>, RunError> {
        for _ in 0..server_trial::ATTEMPTS {
            let config = Config {
                monitor: cpu.monitor,
                calibrate: false,
                // Of its jobs nobody wants to hear.
                trace_marker: None,
                ..self.config.clone()
            };
            let trial = Self::new(config)
                .cpu(server_trial::cpu().on(cpu.processor))
                .task_with_demand(server_trial::task(), server_trial::demand, |job| {
                    job.burn_demand()
                });
            // What it would use may be more than the machine leaves: then nothing is tried out.
            let Ok(plan) = trial.prepare(rights) else {
                return Ok(None);
            };
            let launch = trial.launch(plan, vec![Calibration::default()], None);
            let report = launch.execute(server_trial::SPAN)?;
            let found = server_trial::granularity(&report);
            if found.is_some() || report.ended != Ended::Finished {
                return Ok(found);
            }
        }
        Ok(None)
    }
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

/// Whether a stop was requested, so that the run ends as soon as it begins: then nothing is tried out for it. A trial takes up to
/// half a second for each CPU.
fn is_to_end() -> bool {
    stop::asked().is_some()
}
