//! From a plan to a report: makes what the CPUs of a run share, starts its threads, ends it, and reports.

mod ending;

use crate::account::{Account, LATE_WAKE_NANOS};
use crate::body::Bodies;
use crate::calibrate::Calibration;
use crate::config::{Config, Dispatcher, TaskSpec};
use crate::control::ManagerRecord;
use crate::cpu::{Cpu, Planned, Terms};
use crate::decider::RunScheduler;
use crate::device::Devices;
use crate::driver::{Driver, Enactor, Huang2014, Kind, Managed, Manager, Native};
use crate::error::RunError;
use crate::evidence::note_left_behind;
use crate::foreign::Observer;
use crate::marker::Marker;
use crate::notes::{NoteReader, channel};
use crate::plan::{BesidePlan, CpuPlan, CpuTasks, RunPlan, tolerance};
use crate::queue::JobQueue;
use crate::recording::{
    Beginning, Consumer, FrameEvidence, Gathered, Gatherer, Lane, Last, Recording, Rings, Start,
    Tracer,
};
use crate::report::Report;
use crate::run::Run;
use crate::skew::ClockSkew;
use crate::summary::{Measured, MeasuredCpu, report};
use crate::sys::continued::Continued;
use crate::task::{TaskShared, Tasks};
use crate::thread::beside;
use crate::thread::idle::IdleDetector;
use crate::thread::start::{Place, Started, Threads};
use crate::thread::watchdog::Watchdog;
use crate::thread::worker::Worker;
use crate::words::Allowance;
pub(crate) use ending::{abandon, finish, go, how_it_ended, of_cpu};
use std::io;
use std::sync::Arc;
use vestal_core::{CpuId, Duration, Enforcer, Scheduler, Service, TaskId};
use vestal_trace::{DomainId, Recorder, Scope};

/// A run for which everything has been checked.
pub(crate) struct Launch {
    pub(crate) config: Config,
    pub(crate) plan: RunPlan,
    pub(crate) cpus: Vec<(CpuTasks, Vec<Bodies>)>,
    pub(crate) recording: Option<Recording>,
    /// Where the kernel's trace is told of jobs, if it is.
    pub(crate) marker: Option<Marker>,
    /// By CPU: what was tried out.
    pub(crate) calibrations: Vec<Calibration>,
    /// By how much the clocks of the processors differ.
    pub(crate) clock_skew: Option<ClockSkew>,
    /// For all CPUs, or for one of them.
    #[cfg(feature = "real")]
    pub(crate) fault: Option<(Option<CpuId>, crate::fault::Fault)>,
}

/// What all threads of one CPU share.
pub(crate) type SharedCpu = Arc<Cpu>;

/// Blocks of a run of its own, by number, processor, tasks and terms, with notes that nobody reads.
#[cfg(feature = "real")]
pub(crate) fn bare(blocks: Vec<(CpuId, crate::sys::Processor, Tasks, Terms)>) -> Vec<SharedCpu> {
    const NOTES: usize = 1 << 14;
    let run = Arc::new(Run::new(&Config::new(), None));
    let bare = |(id, processor, tasks, terms)| {
        let mut cpu = Cpu::new(&run, tasks, processor, terms);
        cpu.id = id;
        cpu.call = crate::cpu::Call::Futex(crate::words::Bell::default());
        cpu.notes = channel(NOTES).0;
        Arc::new(cpu)
    };
    blocks.into_iter().map(bare).collect()
}

/// A CPU of the set whose threads have not been started.
struct Draft {
    cpu: Arc<Cpu>,
    kind: Kind,
    scheduler: RunScheduler,
    bodies: Vec<Bodies>,
    /// The manager's, then those of the workers.
    tracers: Vec<Tracer>,
    manager: i32,
    /// What a monitor may be late by.
    late_beyond: u64,
}

/// The threads that a run has started, by CPU what comes from its manager.
struct Going {
    threads: Threads,
    managers: Vec<Started<ManagerRecord>>,
}

impl Launch {
    /// Runs for `span`.
    pub(crate) fn execute(mut self, span: Duration) -> Result<Report, RunError> {
        let granularities = self.calibrations.iter();
        let granularity = granularities.filter_map(Calibration::granularity).max();
        // One for all CPUs: a recording says it once.
        let tolerance = tolerance(&self.config, granularity);
        let schedulers = self.cpus.iter().map(|(cpu, _)| cpu.decide_with(tolerance));
        let schedulers: Vec<RunScheduler> = schedulers.collect::<Result<_, _>>()?;
        let run = Arc::new(Run::new(&self.config, self.marker.take()));
        let scopes = self.scopes();
        let recording = self.recording.take();
        let ring_records = recording.as_ref().map(|recording| recording.ring_records);
        let has_guard = |scheduler: &RunScheduler| matches!(scheduler, RunScheduler::Guard(_));
        let granularity = match schedulers.iter().any(has_guard) {
            true => tolerance,
            false => Service::ZERO,
        };
        let consumer = recording.map(|recording| self.begin(recording, granularity, &run));
        let consumer = consumer.transpose()?;
        let is_recorded = consumer.is_some();
        let (mut drafts, mut lanes) = (Vec::new(), Vec::new());
        let cpus = std::mem::take(&mut self.cpus).into_iter().zip(schedulers);
        for ((index, cpu), scope) in cpus.enumerate().zip(scopes) {
            let (draft, lane) = self.draft(&run, index, cpu, (ring_records, scope), tolerance)?;
            drafts.push(draft);
            lanes.push(lane);
        }
        let cpus: Vec<Arc<Cpu>> = drafts.iter().map(|draft| Arc::clone(&draft.cpu)).collect();
        let gatherer = self.gather((lanes, None), consumer)?;
        let patience = self.config.patience;
        let going = match self.start(&run, &cpus, drafts, is_recorded) {
            Ok(going) => going,
            Err((source, threads)) => {
                abandon(&run, &cpus, threads, patience);
                finish(gatherer, Vec::new(), None)?;
                let what = "start the threads of the run";
                return Err(RunError::System { what, source });
            }
        };
        let mut others: Vec<Observer> = cpus
            .iter()
            .map(|cpu| Observer::new(cpu.processor.0))
            .collect();
        run.name_threads(going.threads.known());
        go(&run, &cpus, span);
        let (records, stuck) = going.join(&cpus, patience, &mut others);
        let last = cpus.iter().enumerate().zip(&records);
        let last = last.map(|((index, cpu), record)| Last {
            rest: note_left_behind(cpu, &of_cpu(&stuck, index)),
            end: record.as_ref().and_then(|record| record.end),
        });
        let finished = finish(gatherer, last.collect(), None);
        let ended = how_it_ended(&run, &cpus)?;
        let records: Option<Vec<ManagerRecord>> = records.into_iter().collect();
        let records = records.ok_or(RunError::ManagerHung)?;
        let Gathered {
            recorded, accounts, ..
        } = finished?;
        let measured = Measured {
            ended,
            mechanism: self.config.mechanism,
            clock_skew: self.clock_skew,
            recorded,
            continued: Continued::instants(),
            watchdog: run.watchdog.cost(),
        };
        let noted = records.into_iter().zip(accounts).zip(others);
        let parts = self.parts(noted, &stuck);
        let parts: Vec<(&Cpu, &MeasuredCpu)> = cpus.iter().map(AsRef::as_ref).zip(&parts).collect();
        Ok(report(&run, &measured, &parts))
    }

    /// Whether the last CPU has no tasks, but dispatcher, scheduler and checker of a frame table.
    pub(crate) fn has_own_dispatcher(&self) -> bool {
        self.config.is_of_sigrist2015() && matches!(self.config.dispatcher, Dispatcher::Own(_))
    }

    /// What there is beside the shared words, by CPU.
    pub(crate) fn parts(
        &self,
        noted: impl Iterator<Item = ((ManagerRecord, Account), Observer)>,
        stuck: &[Place],
    ) -> Vec<MeasuredCpu> {
        let noted = noted.zip(&self.plan.cpus).zip(&self.calibrations);
        let part = |(index, ((((manager, account), others), plan), calibration))| {
            let (plan, calibration): (&CpuPlan, &Calibration) = (plan, calibration);
            let others: Observer = others;
            MeasuredCpu {
                calibration: *calibration,
                limits: plan.asked.limits.clone(),
                fallback: plan.fallback.clone(),
                choice: plan.choice.clone(),
                manager,
                account,
                stuck: of_cpu(stuck, index),
                foreign: others.finish(),
            }
        };
        noted.enumerate().map(part).collect()
    }

    /// What the tasks and the CPUs are called in a recording: as it says, else by their order.
    fn scopes(&self) -> Vec<Scope> {
        let given = self
            .recording
            .iter()
            .flat_map(|recording| &recording.scopes);
        let mut given = given.cloned();
        let mut tasks = (0..=u16::MAX).map(TaskId);
        let cpus = self.cpus.iter().zip(0..=u16::MAX);
        cpus.map(|((cpu, _), number)| {
            let own: Vec<TaskId> = tasks.by_ref().take(cpu.tasks.len()).collect();
            let by_order = Scope::new(DomainId(number), &own, &[CpuId(number)]);
            given.next().unwrap_or(by_order)
        })
        .collect()
    }

    /// Makes the consumer of a recording.
    pub(crate) fn begin(
        &self,
        recording: Recording,
        granularity: Service,
        run: &Arc<Run>,
    ) -> Result<Box<Consumer>, RunError> {
        let known = self.plan.cpus.len() - usize::from(self.has_own_dispatcher());
        let beginning = Beginning {
            granularity,
            start: Start::of(Arc::clone(run)),
            // Those of the set.
            processors: self
                .plan
                .cpus
                .iter()
                .map(|cpu| cpu.processor)
                .take(known)
                .collect(),
        };
        (recording.begin)(&beginning).map_err(RunError::system("begin the recording"))
    }

    /// What the threads of CPU `index` will share, and what only some of them will have; and who takes their records.
    fn draft(
        &self,
        run: &Arc<Run>,
        index: usize,
        ((cpu, bodies), scheduler): ((CpuTasks, Vec<Bodies>), RunScheduler),
        (ring_records, scope): (Option<usize>, Scope),
        tolerance: Service,
    ) -> Result<(Draft, Lane), RunError> {
        let Some(plan) = self.plan.cpus.get(index) else {
            return Err(RunError::Unsupported(
                "there is no plan for a CPU".to_owned(),
            ));
        };
        let kind = driver(&self.config, plan, &scheduler);
        let mut rings = Rings::default();
        let tracers = (0..=cpu.tasks.len()).map(|_| match ring_records {
            Some(records) => rings.add(records),
            None => Tracer::off(),
        });
        let tracers = tracers.collect();
        let limit = |id| first_limit(&scheduler, id);
        let allowed = (tolerance, LATE_WAKE_NANOS);
        let cpu = self.share(run, index, cpu, (plan, kind), allowed, limit);
        let failed = RunError::system("make the descriptors that threads wait for");
        let (cpu, notes) = cpu.map_err(failed)?;
        let lane = Lane::new(rings, notes, &cpu, scope);
        let calibration = self.calibrations.get(index).copied().unwrap_or_default();
        let late_beyond = calibration.late_beyond(cpu.terms.heartbeat_nanos);
        let draft = Draft {
            cpu,
            kind,
            scheduler,
            bodies,
            tracers,
            manager: plan.manager,
            late_beyond,
        };
        Ok((draft, lane))
    }

    /// What the threads of CPU `index` will share. What is beyond `tolerance` is an overrun, and who wakes as late as that was
    /// kept by the machine.
    pub(crate) fn share(
        &self,
        run: &Arc<Run>,
        index: usize,
        cpu: CpuTasks,
        (plan, kind): (&CpuPlan, Kind),
        (tolerance, late_wake_nanos): (Service, u64),
        limit: impl Fn(TaskId) -> Allowance,
    ) -> io::Result<(Arc<Cpu>, NoteReader)> {
        let config = &self.config;
        let (notes, reader) = channel(cpu.room_for_notes(config, &plan.asked));
        let tolerated = kind.duties().enforces.then(|| tolerance.as_nanos());
        let tasks = cpu.tasks.into_iter().zip(&plan.fifo).zip((0..).map(TaskId));
        let tasks = tasks.map(|((spec, &fifo), id)| {
            let mut task = self.task(spec, plan, fifo, limit(id));
            task.limits.tolerated_nanos = tolerated;
            task
        });
        let tasks = Tasks::new(tasks.collect());
        let terms = Terms {
            monitor: plan.monitor,
            heartbeat_nanos: plan.monitor.beats().then(|| config.heartbeat.as_nanos()),
            bound_nanos: config.bound.as_nanos(),
            has_job_budgets: !plan.asked.budgets_outlive_jobs,
            stops_at_own_limit: plan.asked.stops_at_own_limit,
            // What a job waits for is in no test's account.
            guarantee: cpu.spec.guarantee && plan.is_alone && cpu.devices.is_empty(),
            backlog: cpu.spec.backlog,
            tolerance_nanos: tolerance.as_nanos(),
            tolerates_each_job: cpu.spec.tolerates_each_job,
            late_wake_nanos,
            duties: kind.duties(),
        };
        let devices = Devices::new(cpu.devices)?;
        let mut cpu = Cpu::new(run, tasks, plan.processor, terms);
        cpu.devices = devices;
        cpu.id = CpuId(u16::try_from(index).unwrap_or(u16::MAX));
        cpu.planned = plan.asked.managed.then(Planned::default);
        cpu.call = kind.call()?;
        cpu.notes = notes;
        #[cfg(feature = "real")]
        {
            let fault = self
                .fault
                .filter(|(on, _)| on.is_none_or(|on| on == cpu.id));
            cpu.injected.fault = fault.map(|(_, fault)| fault);
        }
        Ok((Arc::new(cpu), reader))
    }

    fn task(&self, spec: TaskSpec, plan: &CpuPlan, fifo: i32, limit: Allowance) -> TaskShared {
        let offset = spec.offset.as_nanos();
        let task = TaskShared::new(spec.name, spec.configuration, offset, fifo, limit);
        let task = match plan.asked.slices {
            true => task.in_slices(),
            false => task,
        };
        match plan.asked.suspends {
            true => task.with_slack(i32::from(self.config.priorities.0)),
            false => task,
        }
    }

    /// Starts the thread that takes notes and records, on any processor that the run does not use.
    pub(crate) fn gather(
        &self,
        judged: (Vec<Lane>, Option<FrameEvidence>),
        consumer: Option<Box<Consumer>>,
    ) -> Result<Gatherer, RunError> {
        let failed = RunError::system("start the thread that gathers notes and records");
        let elsewhere = self.plan.other_processors.iter().map(|other| other.0);
        Gatherer::start(judged, consumer, elsewhere.collect()).map_err(failed)
    }

    /// Starts all threads. Each is ready before the next one is started: in its class, on its processor, blocked.
    fn start(
        &self,
        run: &Arc<Run>,
        cpus: &[Arc<Cpu>],
        drafts: Vec<Draft>,
        is_recorded: bool,
    ) -> Result<Going, (io::Error, Threads)> {
        let mut threads = Threads::new(self.config.stack_bytes);
        let (processor, priority) = self.plan.watchdog;
        let watchdog = Watchdog {
            run: Arc::clone(run),
            cpus: cpus.to_vec(),
            processor,
            priority,
            common: None,
        };
        let (low, beside) = (i32::from(self.config.priorities.0), self.plan.beside);
        let (set_up, main) = (Watchdog::set_up, Watchdog::main);
        if let Err(error) = threads.start("vestal-watchdog", None, watchdog, set_up, main) {
            return Err((error, threads));
        }
        let mut managers = Vec::new();
        for draft in drafts {
            let started = draft.start(&mut threads, cpus.len() > 1, is_recorded, (low, beside));
            match started {
                Ok(manager) => managers.push(manager),
                Err(error) => return Err((error, threads)),
            }
        }
        Ok(Going { threads, managers })
    }
}

impl Draft {
    /// Starts the manager of the CPU, with one that asks for it the idle detector, and the workers.
    fn start(
        self,
        threads: &mut Threads,
        is_one_of_several: bool,
        is_recorded: bool,
        (low, beside): (i32, BesidePlan),
    ) -> io::Result<Started<ManagerRecord>> {
        let Self {
            cpu,
            kind,
            scheduler,
            bodies,
            tracers,
            manager,
            late_beyond,
        } = self;
        let prefix = match is_one_of_several {
            true => format!("vestal-{}-", cpu.id.0),
            false => "vestal-".to_owned(),
        };
        let mut start = Starting {
            threads,
            cpu: &cpu,
            prefix,
        };
        let mut tracers = tracers.into_iter();
        let trace = (tracers.next().unwrap_or(Tracer::off()), is_recorded);
        let record = ManagerRecord::new(cpu.tasks.len(), late_beyond);
        let manager = start.manager((kind, scheduler), trace, record, (low, manager))?;
        start.workers(bodies.into_iter().zip(tracers))?;
        let prefix = start.prefix;
        beside::start(threads, &cpu, &prefix, beside)?;
        Ok(manager)
    }
}

/// Starts the threads of one CPU.
struct Starting<'a> {
    threads: &'a mut Threads,
    cpu: &'a Arc<Cpu>,
    /// Of their names.
    prefix: String,
}

impl Starting<'_> {
    fn manager(
        &mut self,
        (kind, scheduler): (Kind, RunScheduler),
        (trace, is_recorded): (Tracer, bool),
        record: ManagerRecord,
        (low, priority): (i32, i32),
    ) -> io::Result<Started<ManagerRecord>> {
        let cpu = self.cpu;
        let tasks = cpu.tasks.len();
        let guard = match scheduler {
            RunScheduler::Dispatching(scheduler) => {
                let managed = Managed::new(
                    tasks,
                    Recorder::new(scheduler, trace),
                    cpu.terms.backlog,
                    low,
                );
                return self.driver(managed, record, priority);
            }
            RunScheduler::Guard(guard) if is_recorded => {
                Recorder::with_permits(*guard, trace, tasks)
            }
            RunScheduler::Guard(guard) => Recorder::new(*guard, trace),
        };
        let enactor = Enactor::new(guard, tasks);
        let started = match kind {
            Kind::Huang2014(paper) => {
                self.driver(Huang2014::new(enactor, paper), record, priority)?
            }
            Kind::Native { .. }
            | Kind::Managed { .. }
            | Kind::Sigrist2015 { .. }
            | Kind::Walked => self.driver(Native::new(enactor), record, priority)?,
        };
        if kind.needs_idle_detector() {
            let idle = IdleDetector {
                cpu: Arc::clone(cpu),
                priority: low,
            };
            let (set_up, main) = (IdleDetector::set_up, IdleDetector::main);
            let name = format!("{}idle", self.prefix);
            self.threads.start(&name, None, idle, set_up, main)?;
        }
        Ok(started)
    }

    fn driver<D: Driver + Send + 'static>(
        &mut self,
        driver: D,
        record: ManagerRecord,
        priority: i32,
    ) -> io::Result<Started<ManagerRecord>> {
        let manager = Manager::new(Arc::clone(self.cpu), driver, record, priority);
        let (set_up, main) = (Manager::set_up, Manager::main);
        let name = format!("{}manager", self.prefix);
        self.threads.start(&name, None, manager, set_up, main)
    }

    fn workers(&mut self, bodies: impl Iterator<Item = (Bodies, Tracer)>) -> io::Result<()> {
        for (index, (bodies, trace)) in bodies.enumerate() {
            let worker = Worker {
                cpu: Arc::clone(self.cpu),
                index,
                body: bodies.body,
                demand: bodies.demand,
                queue: JobQueue::new(self.cpu.terms.backlog),
                trace,
            };
            let place = (usize::from(self.cpu.id.0), index);
            let task = self.cpu.tasks.get(index);
            let name = task.map_or_else(String::new, |task| task.name.clone());
            let (set_up, main) = (Worker::set_up, Worker::main);
            self.threads
                .start(&name, Some(place), worker, set_up, main)?;
        }
        Ok(())
    }
}

impl Going {
    /// Waits until the run has ended; gives what the managers have noted, if they came to an end, and the places of the
    /// workers that did not.
    fn join(
        self,
        cpus: &[Arc<Cpu>],
        patience: Duration,
        others: &mut [Observer],
    ) -> (Vec<Option<ManagerRecord>>, Vec<Place>) {
        let mut records = Vec::new();
        for (manager, cpu) in self.managers.into_iter().zip(cpus) {
            let meanwhile = || {
                for (cpu, others) in cpus.iter().zip(others.iter_mut()) {
                    others.look_if(cpu.online.stolen_by_threads());
                }
            };
            records.push(manager.join(&cpu.stopped_at, patience, meanwhile));
        }
        (records, self.threads.join(patience))
    }
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
        RunScheduler::Dispatching(_) => Kind::dispatching(config.mechanism, enforces, plan.monitor),
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
