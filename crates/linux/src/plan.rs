//! What is decided before anything starts: whether a run is possible here, and how.

use crate::arming::MonitorChoice;
use crate::config::{Config, Dispatcher, Mechanism, TOLERANCE_MAX, TOLERANCE_MIN, TaskSpec};
use crate::decider::{CpuSpec, Decider, RunScheduler, limits_of};
use crate::device::{Attached, twice};
use crate::driver::BEAT_NANOS;
use crate::error::RunError;
use crate::monitor::Monitor;
use crate::notes::{self, NOTE_BYTES};
use crate::pace::{BOUND_RANGE, HEARTBEAT_RANGE};
use crate::rights::{CpuNeeds, Needs, Refusal, Rights};
use crate::sys::{Processor, distinct};
use crate::zss::RANKS_BELOW;
use std::cmp::Reverse;
use vestal_core::{
    CpuId, Duration, Enforcer, Interest, Level, OnMiss, Scheduler, Service, TaskConfiguration,
};

use vestal_statistics::Summary;

/// The priorities of a run beside its workers: idle detector below, manager and watchdog above.
const PRIORITIES_BESIDE_WORKERS: usize = 3;

/// Suspended workers, the running one, manager and watchdog.
const PRIORITIES_MANAGED: usize = 4;

/// The same with a top half between the running worker and the manager.
const PRIORITIES_WITH_DEVICES: usize = 5;

/// The same with checkers below the manager, and a dispatcher above it.
const PRIORITIES_SIGRIST2015: usize = 6;

/// What is noted down for each task, its copy in the report included.
const RECORD_BYTES: u64 = 1 << 20;

/// Room for what a run allocates beside the stacks, in bytes: of what is locked so much is left for it and for who records.
pub const LOCKED_RESERVE_BYTES: u64 = 16 << 20;

/// What was decided before anything started.
pub(crate) struct RunPlan {
    /// For each CPU of the set.
    pub(crate) cpus: Vec<CpuPlan>,
    /// Where the watchdog lives, and its priority: above all managers.
    pub(crate) watchdog: (Processor, i32),
    /// What there is beside the managers.
    pub(crate) beside: BesidePlan,
    /// Every processor that the process may use and the run does not.
    pub(crate) other_processors: Vec<Processor>,
}

/// Where and at which priorities threads work beside managers, if there are any: those of a paper, or top halves of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BesidePlan {
    /// Where arrivals are dispatched; `None`: on the CPU that they come to.
    pub(crate) dispatcher: Option<Processor>,
    pub(crate) dispatcher_priority: i32,
    /// Above the workers, below the manager.
    pub(crate) checker_priority: i32,
    /// Likewise, where there are devices; nobody has both.
    pub(crate) top_half_priority: i32,
}

/// What was decided about a CPU of the set.
#[derive(Debug)]
pub(crate) struct CpuPlan {
    pub(crate) processor: Processor,
    /// Whether no other CPU of the set runs there. Where one does, no test speaks of the tasks.
    pub(crate) is_alone: bool,
    /// The SCHED_FIFO priorities of the workers, in the order of the tasks.
    pub(crate) fifo: Vec<i32>,
    /// That of the manager; all managers on one processor have the same.
    pub(crate) manager: i32,
    pub(crate) monitor: Monitor,
    pub(crate) fallback: Option<String>,
    /// Why it is that monitor, if the run chose it.
    pub(crate) choice: Option<MonitorChoice>,
    /// By how much it was late in a trial, if that is known already.
    pub(crate) calibrated: Option<Summary>,
    /// What its decider asks for.
    pub(crate) asked: Asked,
}

/// What the decider of a CPU asks of this world: plain values, found once, whichever rule of limits it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Whether the manager dispatches.
    pub(crate) managed: bool,
    /// Whether there is none, and a walker goes from barrier to barrier.
    pub(crate) walked: bool,
    /// Whether jobs without slack have others suspended, by priorities below those of the workers.
    pub(crate) suspends: bool,
    /// Whether jobs are suspended until instants, and then held.
    pub(crate) slices: bool,
    /// Whether budgets can be a task's or a server's.
    pub(crate) budgets_outlive_jobs: bool,
    /// Whether a job that used up the limit of its own level makes way for all others.
    pub(crate) stops_at_own_limit: bool,
    /// By task, the limits that its jobs can have, and the level of each.
    pub(crate) limits: Vec<Vec<(Level, Service)>>,
}

/// A CPU of the set with its tasks.
#[derive(Debug)]
pub(crate) struct CpuTasks {
    pub(crate) spec: CpuSpec,
    pub(crate) tasks: Vec<TaskSpec>,
    /// The devices whose bottom halves are among the tasks.
    pub(crate) devices: Vec<Attached>,
}

/// What is planned.
pub(crate) struct Wish<'a> {
    pub(crate) config: &'a Config,
    pub(crate) cpus: &'a [CpuTasks],
    /// A CPU without tasks behind them, for the threads of a paper that are to have one of their own.
    pub(crate) beside: Option<&'a CpuTasks>,
    /// A task that was added before there was a CPU for it.
    pub(crate) homeless: Option<&'a str>,
    /// What the rings of a recording take in memory.
    pub(crate) ring_bytes: u64,
}

impl Wish<'_> {
    /// Checks the tasks against each other, the settings and the rights.
    pub(crate) fn plan(&self, rights: &Rights) -> Result<RunPlan, RunError> {
        if let Some(task) = self.homeless {
            return Err(RunError::Unsupported(format!(
                "{task} has no CPU: `Executive::cpu` comes before the tasks that run there"
            )));
        }
        if self.cpus.is_empty() {
            return Err(RunError::Unsupported(
                "there is no CPU to run: see `Executive::cpu`".to_owned(),
            ));
        }
        check_paces(self.config)?;
        if let Some(device) = twice(self.cpus.iter().flat_map(|cpu| &cpu.devices)) {
            return Err(RunError::Unsupported(format!(
                "device {} has two bottom halves: what one takes the other never sees; give each its own `Device`",
                device.name()
            )));
        }
        let several = self.cpus.len() > 1;
        let drafts = self.all().zip((0..).map(CpuId));
        let drafts = drafts.map(|(cpu, id)| cpu.draft(self.config, several.then_some(id)));
        let drafts = drafts.collect::<Result<Vec<Draft>, RunError>>()?;
        let needs = self.needs(&drafts);
        let processors = rights.processors_for(&needs);
        let processors = processors.map_err(RunError::Refused)?;
        let dispatcher = match self.beside {
            // It has that CPU.
            Some(_) => None,
            None => own_dispatcher(self.config, rights, &processors)?,
        };
        let cpus = drafts.into_iter().zip(&processors);
        let mut cpus: Vec<CpuPlan> = cpus
            .map(|(draft, &processor)| draft.on(processor, &processors, self.config, rights))
            .collect();
        equalize_managers(&mut cpus);
        let others = rights.processors.iter().copied();
        let others = others.filter(|other| !processors.contains(other));
        let others = others.filter(|&other| Some(other) != dispatcher);
        let other_processors: Vec<Processor> = others.collect();
        // One that has no workers is as good for it.
        let outside: Vec<Processor> = other_processors.iter().copied().chain(dispatcher).collect();
        let highest = cpus.iter().map(|cpu| cpu.manager).max();
        let above = self.threads_above();
        let above_workers = i32::from(self.config.priorities.0).saturating_add(2);
        Ok(RunPlan {
            watchdog: (
                watchdog_processor(&processors, &outside),
                highest.unwrap_or(0).saturating_add(above).saturating_add(1),
            ),
            beside: BesidePlan {
                dispatcher,
                dispatcher_priority: highest.unwrap_or(0).saturating_add(above),
                checker_priority: above_workers,
                top_half_priority: above_workers,
            },
            cpus,
            other_processors,
        })
    }

    /// All CPUs, also one without tasks.
    fn all(&self) -> impl Iterator<Item = &CpuTasks> {
        self.cpus.iter().chain(self.beside)
    }

    /// How many priorities there are above the managers, below the watchdog.
    fn threads_above(&self) -> i32 {
        i32::from(self.config.mechanism == Mechanism::Sigrist2015)
    }

    fn needs(&self, drafts: &[Draft]) -> Needs {
        let config = self.config;
        let tasks: usize = drafts.iter().map(|draft| draft.fifo.len()).sum();
        let cpus = drafts.len();
        // A checker of each task and a dispatcher of each CPU, where there are any.
        let beside = match self.config.mechanism {
            Mechanism::Sigrist2015 => tasks + cpus,
            Mechanism::Vestal | Mechanism::Huang2014 => 0,
        };
        let top_halves = self.all().filter(|cpu| !cpu.devices.is_empty()).count();
        // Manager and idle detector of each CPU, and the watchdog.
        let threads = (tasks + beside + top_halves + 2 * cpus + 1) as u64;
        let stacks = config.stack_bytes as u64 * threads;
        let rooms = self
            .all()
            .zip(drafts)
            .map(|(cpu, draft)| cpu.room_for_notes(config, &draft.asked) as u64);
        let notes = rooms.sum::<u64>() * NOTE_BYTES;
        let records = RECORD_BYTES * tasks as u64 + self.ring_bytes + notes;
        let of_cpu = |(cpu, draft): (&CpuTasks, &Draft)| CpuNeeds {
            processor: cpu.spec.processor,
            // The watchdog's.
            priority: u8::try_from(draft.manager.saturating_add(self.threads_above() + 1))
                .unwrap_or(u8::MAX),
            utilization_ppm: cpu
                .spec
                .utilization_ppm
                .unwrap_or_else(|| utilization_ppm(cpu.specs())),
        };
        Needs {
            cpus: self.all().zip(drafts).map(of_cpu).collect(),
            locked_bytes: config
                .lock_memory
                .then_some(stacks + records + LOCKED_RESERVE_BYTES),
            margin_ppm: u64::from(config.throttling_margin_permille) * 1_000,
        }
    }
}

/// Whether monitors look neither so often that jobs get nowhere, nor too seldom to be tried out.
fn check_paces(config: &Config) -> Result<(), RunError> {
    let paces = [
        (
            "the period of a heartbeat",
            config.heartbeat,
            HEARTBEAT_RANGE,
        ),
        ("the lower bound of a monitor", config.bound, BOUND_RANGE),
    ];
    for (what, pace, range) in paces {
        if !range.contains(&pace) {
            let [pace, least, most] =
                [&pace, range.start(), range.end()].map(|pace| pace.as_nanos());
            return Err(RunError::Unsupported(format!(
                "{what} is {pace} ns, and has to be within {least} and {most} ns"
            )));
        }
    }
    Ok(())
}

/// Whether the threads of Sigrist et al. can do what a CPU's decider asks for.
fn check_mechanism(config: &Config, asked: &Asked) -> Result<(), RunError> {
    let why = match config.mechanism {
        Mechanism::Vestal | Mechanism::Huang2014 => return Ok(()),
        Mechanism::Sigrist2015 if asked.walked => return Ok(()),
        Mechanism::Sigrist2015 if !asked.managed => {
            "a CPU where the kernel orders: see `CpuSpec::managed`"
        }
        Mechanism::Sigrist2015 if asked.budgets_outlive_jobs => "budgets that outlive jobs",
        Mechanism::Sigrist2015 => return Ok(()),
    };
    Err(RunError::Unsupported(format!(
        "the threads of Sigrist et al. (2015) are not for {why}"
    )))
}

/// Whether devices can be served where they are.
fn check_devices(config: &Config, asked: &Asked, devices: &[Attached]) -> Result<(), RunError> {
    if devices.is_empty() || (asked.managed && !asked.walked && !config.is_of_sigrist2015()) {
        return Ok(());
    }
    Err(RunError::Unsupported(
        "devices are for managed dispatch, by a scheduler that knows of them and with the threads of this tool: see `Executive::bottom_half`"
            .to_owned(),
    ))
}

/// The processor on which arrivals are dispatched, if that is to be one of its own.
fn own_dispatcher(
    config: &Config,
    rights: &Rights,
    processors: &[Processor],
) -> Result<Option<Processor>, RunError> {
    let Dispatcher::Own(wanted) = config.dispatcher else {
        return Ok(None);
    };
    if config.mechanism != Mechanism::Sigrist2015 {
        return Ok(None);
    }
    let allowed = rights.processors.iter().copied();
    let free: Vec<Processor> = allowed.filter(|one| !processors.contains(one)).collect();
    let found = match wanted {
        Some(wanted) => free.iter().find(|one| **one == wanted),
        None => free.last(),
    };
    let refused = || {
        RunError::Refused(vec![Refusal::NoCpuForDispatcher {
            wanted,
            free: free.clone(),
        }])
    };
    found.copied().map(Some).ok_or_else(refused)
}

/// Where budgets outlive jobs their manager may come back so often to replenish, to end and to hold, and a walker to its
/// barriers.
const SERVED_NANOS: u64 = 500_000;

/// The plan of a CPU that has no processor yet.
struct Draft {
    fifo: Vec<i32>,
    manager: i32,
    asked: Asked,
}

impl Draft {
    /// On this one of the processors of the set.
    fn on(
        self,
        processor: Processor,
        all: &[Processor],
        config: &Config,
        rights: &Rights,
    ) -> CpuPlan {
        let of_paper = match config.mechanism {
            Mechanism::Vestal => false,
            Mechanism::Huang2014 => !self.asked.managed,
            Mechanism::Sigrist2015 => config.monitor != Monitor::Heartbeat,
        };
        let fallback = !of_paper && config.monitor == Monitor::Perf && !rights.perf;
        CpuPlan {
            processor,
            is_alone: all.iter().filter(|other| **other == processor).count() == 1,
            fifo: self.fifo,
            manager: self.manager,
            monitor: if fallback || of_paper {
                Monitor::Manager
            } else {
                config.monitor
            },
            fallback: fallback.then(|| {
                "perf_event_open is refused (kernel.perf_event_paranoid above 1 without CAP_PERFMON, or a sandbox)"
                    .to_owned()
            }),
            choice: None,
            calibrated: None,
            asked: self.asked,
        }
    }
}

/// All managers on one processor have the priority of the highest: none of them is kept from its own CPU by another.
fn equalize_managers(cpus: &mut [CpuPlan]) {
    let own: Vec<(Processor, i32)> = cpus
        .iter()
        .map(|cpu| (cpu.processor, cpu.manager))
        .collect();
    for cpu in cpus {
        let there = own
            .iter()
            .filter(|(processor, _)| *processor == cpu.processor);
        cpu.manager = there
            .map(|&(_, manager)| manager)
            .fold(cpu.manager, i32::max);
    }
}

/// Outside the run if there is such a processor, else where the fewest CPUs of the set run; the first of equals.
fn watchdog_processor(processors: &[Processor], others: &[Processor]) -> Processor {
    let here = |on: &Processor| processors.iter().filter(|place| *place == on).count();
    let fewest = || {
        distinct(processors.iter().copied())
            .into_iter()
            .min_by_key(here)
    };
    let outside = others.first().copied();
    outside.or_else(fewest).unwrap_or(Processor(0))
}

impl CpuTasks {
    fn specs(&self) -> impl Iterator<Item = &TaskSpec> {
        self.tasks.iter()
    }

    fn configurations(&self) -> Vec<TaskConfiguration> {
        self.specs().map(|spec| spec.configuration).collect()
    }

    /// The state machine of this CPU, for this granularity if it is native.
    pub(crate) fn decide_with(&self, granularity: Service) -> Result<RunScheduler, RunError> {
        let made = self.spec.decider.make(&self.configurations(), granularity);
        made.map_err(RunError::Scheduler)
    }

    /// What its decider asks for.
    fn ask(&self, config: &Config) -> Result<Asked, RunError> {
        let tasks = self.configurations();
        if matches!(self.spec.decider, Decider::Common) {
            return Ok(Asked {
                managed: true,
                walked: true,
                suspends: false,
                slices: false,
                budgets_outlive_jobs: false,
                stops_at_own_limit: false,
                limits: vec![Vec::new(); tasks.len()],
            });
        }
        let decider = self.decide_with(Service::ZERO)?;
        let (scheduler, interest): (&dyn Scheduler, _) = match &decider {
            RunScheduler::Guard(guard) => (guard.as_ref(), Some(guard.interest())),
            RunScheduler::Dispatching(scheduler) => (scheduler, None),
        };
        Ok(Asked {
            managed: interest.is_none(),
            walked: false,
            suspends: config.enforce && interest == Some(Interest::IncompleteJobs),
            slices: scheduler.suspends_until_instants(),
            budgets_outlive_jobs: scheduler.budgets_outlive_jobs(),
            stops_at_own_limit: scheduler.stops_at_own_limit(),
            limits: limits_of(scheduler, &tasks),
        })
    }

    /// Checks what needs no rights; refusals name `cpu`, if there are several.
    fn draft(&self, config: &Config, cpu: Option<CpuId>) -> Result<Draft, RunError> {
        self.check_periods()?;
        let asked = self.ask(config)?;
        check_mechanism(config, &asked)?;
        check_devices(config, &asked, &self.devices)?;
        let aborts = |spec: &&TaskSpec| spec.configuration.on_miss == OnMiss::Abort;
        if !asked.managed
            && let Some(spec) = self.specs().find(aborts)
        {
            return Err(RunError::Unsupported(format!(
                "{}: on_miss = \"abort\" needs managed dispatch; native dispatch watches limits, not deadlines (use on_miss = \"continue\")",
                spec.name
            )));
        }
        let fifo = self.fifo_priorities(config, &asked, cpu)?;
        let low = i32::from(config.priorities.0);
        let manager = match asked.managed {
            // Above checkers.
            true if config.mechanism == Mechanism::Sigrist2015 => low.saturating_add(3),
            // Above the top half.
            true if !self.devices.is_empty() => low.saturating_add(3),
            // Above the running worker.
            true => low.saturating_add(2),
            false => fifo.iter().copied().fold(low, i32::max).saturating_add(1),
        };
        Ok(Draft {
            fifo,
            manager,
            asked,
        })
    }

    /// Whether jobs come no faster than a run notices that one takes too long.
    fn check_periods(&self) -> Result<(), RunError> {
        let least = TOLERANCE_MIN.as_nanos();
        let tasks = self.specs().enumerate();
        // A bottom half comes when its device does, and as often as its budget.
        let mut tasks = tasks.filter(|(index, _)| !self.is_bottom_half(*index));
        let short = tasks.find(|(_, spec)| spec.configuration.task.period.as_nanos() < least);
        let Some((_, spec)) = short else {
            return Ok(());
        };
        Err(RunError::Unsupported(format!(
            "{}: its period of {} ns is below the granularity of a real run, {least} ns, by which a job may exceed its budget before that is noticed (make the period longer, or simulate the set)",
            spec.name,
            spec.configuration.task.period.as_nanos()
        )))
    }

    fn is_bottom_half(&self, index: usize) -> bool {
        let mut devices = self.devices.iter();
        devices.any(|attached| attached.task.index() == index)
    }

    /// For how many notes its log has room.
    pub(crate) fn room_for_notes(&self, config: &Config, asked: &Asked) -> usize {
        // A bottom half comes as often as its budget does, whatever its period says.
        let periods =
            self.specs()
                .enumerate()
                .map(|(index, spec)| match self.is_bottom_half(index) {
                    true => Duration::from_nanos(SERVED_NANOS),
                    false => spec.configuration.task.period,
                });
        // As many again for each of the two threads beside the manager that a job has to do with.
        let (times, checkers) = match config.mechanism {
            Mechanism::Vestal | Mechanism::Huang2014 => (1, 1),
            Mechanism::Sigrist2015 => (3, self.tasks.len().max(1) as u64),
        };
        let periods = periods.flat_map(|period| std::iter::repeat_n(period, times));
        let beat = match config.monitor {
            Monitor::Heartbeat => config.heartbeat.as_nanos() / checkers,
            Monitor::Manager | Monitor::Remainder | Monitor::Perf | Monitor::PosixTimer => {
                BEAT_NANOS
            }
        };
        let beat = match asked.budgets_outlive_jobs || asked.walked {
            true => beat.min(SERVED_NANOS),
            false => beat,
        };
        notes::room(periods.map(|period| period.as_nanos()), beat)
    }

    /// A distinct SCHED_FIFO priority per task, in the order of the tasks' priorities; of equals the
    /// first task gets the higher one.
    fn fifo_priorities(
        &self,
        config: &Config,
        asked: &Asked,
        cpu: Option<CpuId>,
    ) -> Result<Vec<i32>, RunError> {
        let (low, high) = config.priorities;
        let count = self.tasks.len();
        let below = if asked.suspends { RANKS_BELOW } else { 0 };
        let needed = match asked.managed {
            true if config.mechanism == Mechanism::Sigrist2015 => PRIORITIES_SIGRIST2015,
            true if !self.devices.is_empty() => PRIORITIES_WITH_DEVICES,
            true => PRIORITIES_MANAGED,
            false => count + PRIORITIES_BESIDE_WORKERS + below,
        };
        let room = (usize::from(high) + 1).saturating_sub(usize::from(low));
        if low == 0 || high > 99 || needed > room {
            let of = cpu.map_or_else(String::new, |cpu| format!(" of CPU {} of the set", cpu.0));
            return Err(RunError::TooManyTasks {
                tasks: format!("{count} tasks{of}"),
                needed,
                native: !asked.managed,
                given: (low, high),
            });
        }
        if asked.managed {
            // Above the suspended ones.
            return Ok(vec![i32::from(low) + 1; count]);
        }
        let mut least_urgent_first: Vec<(u32, Reverse<usize>)> = self
            .specs()
            .enumerate()
            .map(|(index, spec)| (spec.configuration.priority, Reverse(index)))
            .collect();
        least_urgent_first.sort_unstable();
        let mut fifo = vec![0; count];
        let below = i32::try_from(below).unwrap_or(i32::MAX / 2);
        let priorities = i32::from(low) + 1 + below..;
        for ((_, Reverse(index)), priority) in least_urgent_first.into_iter().zip(priorities) {
            if let Some(entry) = fifo.get_mut(index) {
                *entry = priority;
            }
        }
        Ok(fifo)
    }
}

/// What the run tolerates, given the granularity that its monitor obtained.
pub(crate) fn tolerance(config: &Config, granularity: Option<Service>) -> Service {
    let obtained = granularity.unwrap_or(Service::ZERO);
    let usual = obtained.clamp(TOLERANCE_MIN, TOLERANCE_MAX);
    config.tolerance.unwrap_or(usual)
}

/// What the tasks may use of the CPU in the real-time class, in millionths: beyond its own C_i(z_i)
/// enforcement takes a job out of it.
///
/// A task with a period above a second counts with its whole job, because RT throttling looks at
/// single seconds. Without enforcement at run time the figure is only what the tasks keep to by themselves.
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

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
