//! Managers of several CPUs with their workers on the kernel, and nothing else: no recording, no judge. For tests, as long as no
//! [`crate::Executive`] starts them.

use crate::body::Body;
use crate::control::ManagerRecord;
use crate::cpu::Terms;
use crate::driver::{
    Common, Demand, Home, Kind, Levels, Manager, Merging, Parts, Share, Together, Ways,
};
use crate::launch::{SharedCpu, bare, go};
use crate::levels::One;
use crate::queue::JobQueue;
use crate::sys::Processor;
use crate::sys::suspension::SuspensionSignal;
use crate::task::Tasks;
use crate::thread::start::{Started, Threads};
use crate::thread::watchdog::Watchdog;
use crate::thread::worker::Worker;
use crate::words::Cause;
use std::io;
use std::sync::Arc;
use vestal_core::{
    Container, CpuId, Duration, LevelledConfiguration, LocalDomain, Service, SharedDomain,
    TaskConfiguration, TaskId,
};
use vestal_trace::Recorder;

/// The lowest priority: of suspended workers. Above it those that run, their managers, and the watchdog.
const LOW: i32 = 10;
const STACK_BYTES: usize = 256 << 10;
const PATIENCE: Duration = Duration::from_millis(2_000);

/// What a task's jobs do, and how much.
pub struct Work {
    /// The body.
    pub body: Box<Body>,
    /// What each job is demanded to execute.
    pub demand: Service,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work")
            .field("demand", &self.demand)
            .finish_non_exhaustive()
    }
}

/// How managers divide their work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Division {
    /// Releases within a microsecond are one event.
    pub merges: bool,
    /// Who has the timers of all.
    pub master: Option<CpuId>,
    /// Whether a CPU that is taken back leaves to that what follows.
    pub redistributes: bool,
    /// One lock around all rounds.
    pub one_lock: bool,
    /// A fault: this CPU keeps the turn, or the one lock, so long ten times a second, in nanoseconds.
    pub keeps: Option<(CpuId, u64)>,
    /// What real-time threads may have of each second, as runtime and period in nanoseconds.
    pub throttling: Option<(u64, u64)>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// It ended because the time was over.
    pub finished: bool,
    /// What a manager said that panicked, or whose domain refused something.
    pub refused: Vec<String>,
    /// How often the turn was had, an offer was made, and one was taken when it was to be withdrawn.
    pub turns: u64,
    /// Offers.
    pub offers: u64,
    /// Offers that were taken when they were to be withdrawn.
    pub refusals: u64,
    /// By CPU how often a worker was held.
    pub held: Vec<u64>,
    /// By CPU how often somebody executed more than the tolerance although it was held.
    pub ineffective: Vec<u64>,
    /// By CPU how long the longest round took.
    pub longest_round_nanos: Vec<u64>,
    /// By CPU the longest wait for the one lock.
    pub longest_wait_nanos: Vec<u64>,
    /// By CPU how often level C left it to ordinary threads.
    pub yields: Vec<u64>,
    /// And for how long.
    pub yielded_nanos: Vec<u64>,
}

/// Each CPU of `levels` on one of these processors, for `span`.
///
/// # Errors
/// What could not be done, or did not end.
pub fn run(
    levels: &LevelledConfiguration<'_>,
    (processors, division): (&[Processor], Division),
    work: Vec<Work>,
    span: Duration,
) -> Result<Outcome, String> {
    let signal = SuspensionSignal::take_over();
    let _signal = signal.map_err(|error| error.to_string())?;
    let trial = Trial::new(levels, processors)?;
    let first = trial.cpus.first().ok_or("there is no CPU")?;
    let run = Arc::clone(&first.run);
    let mut threads = Threads::new(STACK_BYTES);
    let started = trial.start(&mut threads, (levels, division), work);
    let managers = match started {
        Ok(managers) => managers,
        Err(error) => {
            run.request_stop(Cause::SetupFailed);
            trial.halt();
            let _ = threads.join(PATIENCE);
            return Err(error.to_string());
        }
    };
    let mut all = trial.cpus.clone();
    all.push(Arc::clone(&trial.guests));
    go(&run, &all, span);
    let mut outcome = Outcome::default();
    for (started, cpu) in managers.into_iter().zip(&trial.cpus) {
        let Some(record) = started.join(&cpu.stopped_at, PATIENCE, || {}) else {
            outcome.refused.push("a manager hangs".to_owned());
            continue;
        };
        outcome.held.push(record.suspensions.times);
        outcome.ineffective.push(record.suspensions.ineffective);
        outcome
            .longest_round_nanos
            .push(record.handling.summary().max);
        let waits = record.lock_waits.summary();
        outcome.longest_wait_nanos.push(waits.max);
        outcome.yields.push(record.yields);
        outcome.yielded_nanos.push(record.yielded_nanos);
        let refused = cpu.panic_of_manager();
        if !refused.is_empty() {
            outcome.refused.push(refused);
        }
    }
    trial.halt();
    let stuck = threads.join(PATIENCE);
    if !stuck.is_empty() {
        return Err(format!("workers at {stuck:?} do not end"));
    }
    outcome.finished = run.stop_cause() == Some(Cause::Finished);
    if let Some(common) = Arc::into_inner(trial.common) {
        let record = common.into_record();
        (outcome.turns, outcome.offers, outcome.refusals) =
            (record.turns, record.offers, record.refused);
    }
    Ok(outcome)
}

/// What the threads share.
struct Trial {
    cpus: Vec<SharedCpu>,
    guests: SharedCpu,
    common: Arc<Together>,
    /// By CPU the numbers of its tasks, and those of the guests.
    own: Vec<Vec<TaskId>>,
    all_guests: Vec<TaskId>,
}

/// By the number of the set the tasks with such a container.
fn tasks_of(levels: &LevelledConfiguration<'_>, is: impl Fn(Container) -> bool) -> Vec<TaskId> {
    let each = (0..).map(TaskId).zip(levels.tasks);
    let each = each.filter(|(_, entry)| is(entry.container));
    each.map(|(id, _)| id).collect()
}

/// The workers of some tasks.
fn workers(levels: &LevelledConfiguration<'_>, tasks: &[TaskId]) -> Tasks {
    let workers = tasks.iter().filter_map(|id| {
        let entry = levels.tasks.get(id.index())?;
        let configuration = TaskConfiguration::new(entry.task, 1);
        Some((format!("task-{}", id.0), configuration))
    });
    Tasks::in_trial(workers, LOW + 1)
}

impl Trial {
    fn new(levels: &LevelledConfiguration<'_>, processors: &[Processor]) -> Result<Self, String> {
        let count = levels.tables.len();
        if processors.len() != count {
            return Err(format!("{count} CPUs need as many processors"));
        }
        let own = (0..).map(CpuId).take(count).map(|cpu| {
            tasks_of(levels, |container| {
                container == Container::Table(cpu) || container == Container::Local(cpu)
            })
        });
        let own: Vec<Vec<TaskId>> = own.collect();
        let all_guests = tasks_of(levels, |container| container == Container::Global);
        let (enforces, futex) = (true, true);
        let duties = Kind::Managed { enforces, futex }.duties();
        let first = processors.first().copied().unwrap_or(Processor(0));
        let placed = (0..).map(CpuId).zip(processors.iter().copied()).zip(&own);
        let blocks: Vec<_> = placed
            .map(|((id, processor), own)| (id, processor, own))
            .chain([(CpuId(u16::MAX), first, &all_guests)])
            .map(|(id, processor, tasks)| {
                let terms = Terms::in_trial(duties);
                (id, processor, workers(levels, tasks), terms)
            })
            .collect();
        let mut cpus = bare(blocks);
        let guests = cpus.pop().ok_or("no block of the guests")?;
        let place = |id: TaskId, among: &[TaskId]| among.iter().position(|other| *other == id);
        let home = |id: TaskId| {
            let own = own.iter().enumerate();
            let mut own = own.filter_map(|(cpu, tasks)| Some((cpu, place(id, tasks)?)));
            match (own.next(), place(id, &all_guests)) {
                (Some((cpu, index)), _) => {
                    Home::Own(CpuId(u16::try_from(cpu).unwrap_or(u16::MAX)), index)
                }
                (None, Some(index)) => Home::Guest(index),
                (None, None) => Home::Nowhere,
            }
        };
        let homes = (0..).map(TaskId).take(levels.tasks.len()).map(home);
        let shared: SharedDomain =
            SharedDomain::with_store(levels).map_err(|error| error.to_string())?;
        let shared: crate::BoxedScheduler = Box::new(shared);
        let shared = Recorder::new(shared, Default::default());
        let common = Common::new(shared, (homes.collect(), Arc::clone(&guests)), count, 1_024);
        common.set_cpus(&cpus);
        Ok(Self {
            cpus,
            guests,
            common: Arc::new(common),
            own,
            all_guests,
        })
    }

    /// The watchdog, the managers, and the workers, each ready before the next one is started.
    fn start(
        &self,
        threads: &mut Threads,
        (levels, division): (&LevelledConfiguration<'_>, Division),
        work: Vec<Work>,
    ) -> io::Result<Vec<Started<ManagerRecord>>> {
        let Some(first) = self.cpus.first() else {
            return Ok(Vec::new());
        };
        let watchdog = Watchdog {
            run: Arc::clone(&first.run),
            cpus: self.cpus.clone(),
            processor: first.processor,
            priority: LOW + 3,
            common: None,
        };
        let (set_up, main) = (Watchdog::set_up, Watchdog::main);
        threads.start("trial-watchdog", None, watchdog, set_up, main)?;
        let one = division.one_lock.then(|| Arc::new(One::default()));
        let mut managers = Vec::new();
        let placed = self.cpus.iter().zip(&self.own).zip(levels.tables);
        for ((cpu, own), table) in placed {
            let domain: LocalDomain = LocalDomain::with_store(levels, cpu.id)
                .map_err(|error| io::Error::other(error.to_string()))?;
            let domain: crate::BoxedScheduler = Box::new(domain);
            let is_local = |id: &TaskId| {
                let entry = levels.tasks.get(id.index());
                entry.is_some_and(|entry| entry.container == Container::Local(cpu.id))
            };
            let local = cpu.tasks.iter().zip(own).filter(|(_, id)| is_local(id));
            let local = local.map(|(task, _)| (&task.configuration, task.offset_nanos));
            let parts = Parts {
                domain: Recorder::new(domain, Default::default()),
                cpu: cpu.id,
                tasks: own.clone(),
                common: Arc::clone(&self.common),
                cpus: self.cpus.len(),
                ways: Ways {
                    merging: match division.merges {
                        true => Merging::Within(1_000),
                        false => Merging::EachInstant,
                    },
                    master: division.master,
                    redistributes: division.redistributes,
                },
                share: Share::new(division.throttling, 20_000_000),
                demand: Demand::of(table, local),
                one: one.clone(),
                keeps: match division.keeps {
                    Some((keeper, nanos)) if keeper == cpu.id => nanos,
                    Some(_) | None => 0,
                },
            };
            let record = ManagerRecord::new(cpu.tasks.len(), 0);
            let manager = Manager::new(Arc::clone(cpu), Levels::new(parts, LOW), record, LOW + 2);
            let (set_up, main) = (Manager::set_up, Manager::main);
            let name = format!("trial-{}", cpu.id.0);
            managers.push(threads.start(&name, None, manager, set_up, main)?);
        }
        self.start_workers(threads, work)?;
        Ok(managers)
    }

    fn start_workers(&self, threads: &mut Threads, work: Vec<Work>) -> io::Result<()> {
        for (id, Work { body, demand }) in (0..).map(TaskId).zip(work) {
            let blocks = self.cpus.iter().zip(&self.own);
            let mut blocks = blocks.chain([(&self.guests, &self.all_guests)]);
            let found = blocks.find_map(|(block, tasks)| {
                let index = tasks.iter().position(|other| *other == id)?;
                Some((block, index))
            });
            let Some((block, index)) = found else {
                continue;
            };
            let worker = Worker {
                cpu: Arc::clone(block),
                index,
                body,
                demand: Box::new(move |_| demand),
                queue: JobQueue::new(None),
                trace: Default::default(),
            };
            let place = Some((usize::from(block.id.0), index));
            let (set_up, main) = (Worker::set_up, Worker::main);
            threads.start(&format!("trial-w{}", id.0), place, worker, set_up, main)?;
        }
        Ok(())
    }

    fn halt(&self) {
        self.cpus.iter().for_each(|cpu| cpu.halt());
        self.guests.halt();
    }
}
