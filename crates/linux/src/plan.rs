//! What is decided before anything starts: whether a run is possible here, and how.

use crate::config::{Config, Mechanism, Monitor, TOLERANCE_MAX, TOLERANCE_MIN, TaskSpec};
use crate::driver::BEAT_NANOS;
use crate::error::RunError;
use crate::evidence::{self, NOTE_BYTES};
use crate::executive::Executive;
use crate::managed::BoxedScheduler;
use crate::rights::{Needs, Rights};
use crate::zss::RANKS_BELOW;
use std::cmp::Reverse;
use vestal_core::engine::Configuration;
use vestal_core::{Duration, Guard, Interest, OnMiss, Service, TaskConfiguration};

/// The priorities of a run beside its workers: idle detector below, manager and watchdog above.
const PRIORITIES_BESIDE_WORKERS: usize = 3;

/// Suspended workers, the running one, manager and watchdog.
const PRIORITIES_MANAGED: usize = 4;

/// What is noted down for each task, its copy in the report included.
const RECORD_BYTES: u64 = 1 << 20;

/// Room for what a run allocates beside the stacks.
const LOCKED_RESERVE_BYTES: u64 = 16 << 20;

/// What was decided before anything started.
pub(crate) struct RunPlan {
    pub(crate) fifo: Vec<i32>,
    pub(crate) cpu: usize,
    pub(crate) watchdog_cpu: usize,
    /// Every other CPU that the process may use.
    pub(crate) other_cpus: Vec<usize>,
    pub(crate) monitor: Monitor,
    pub(crate) fallback: Option<String>,
    /// Whether the manager dispatches.
    pub(crate) managed: bool,
    /// Whether jobs without slack have others suspended, by priorities below those of the workers.
    pub(crate) suspends: bool,
}

impl Executive {
    /// Checks the tasks against each other, the settings and the rights.
    pub(crate) fn prepare(&self, rights: &Rights) -> Result<RunPlan, RunError> {
        self.guard(Service::ZERO)?;
        let fifo = self.fifo_priorities()?;
        let managed = self.scheduler()?.is_some();
        let highest = usize::from(self.config.priorities.0) + self.priorities_needed() - 1;
        let specs = || self.tasks.iter().map(|(spec, _)| spec);
        if !managed
            && let Some(spec) = specs().find(|spec| spec.configuration.on_miss == OnMiss::Abort)
        {
            return Err(RunError::Unsupported(format!(
                "{}: on_miss = \"abort\" needs managed dispatch; native dispatch watches limits, not deadlines (use on_miss = \"continue\")",
                spec.name
            )));
        }
        let of_paper = !managed && self.config.mechanism == Mechanism::Huang2014;
        let stacks = self.config.stack_bytes as u64 * (self.tasks.len() as u64 + 3);
        let recording = self.recording.as_ref();
        let rings = recording.map_or(0, |recording| recording.bytes(self.tasks.len()));
        let notes = self.room_for_notes() as u64 * NOTE_BYTES;
        let records = RECORD_BYTES * self.tasks.len() as u64 + rings + notes;
        let needs = Needs {
            priority: u8::try_from(highest).unwrap_or(u8::MAX),
            cpu: self.config.cpu,
            locked_bytes: self
                .config
                .lock_memory
                .then_some(stacks + records + LOCKED_RESERVE_BYTES),
            utilization_ppm: utilization_ppm(specs()),
            margin_ppm: u64::from(self.config.throttling_margin_permille) * 1_000,
        };
        let cpu = rights.cpu_for(&needs).map_err(RunError::Refused)?;
        let others = rights.cpus.iter().copied().filter(|&other| other != cpu);
        let other_cpus: Vec<usize> = others.collect();
        let fallback = !of_paper && self.config.monitor == Monitor::Perf && !rights.perf;
        Ok(RunPlan {
            fifo,
            cpu,
            watchdog_cpu: other_cpus.first().copied().unwrap_or(cpu),
            other_cpus,
            monitor: if fallback || of_paper {
                Monitor::Manager
            } else {
                self.config.monitor
            },
            fallback: fallback.then(|| {
                "perf_event_open is refused (kernel.perf_event_paranoid above 1 without CAP_PERFMON, or a sandbox)"
                    .to_owned()
            }),
            managed,
            suspends: self.suspends(),
        })
    }

    /// Whether native dispatch has to suspend tasks.
    fn suspends(&self) -> bool {
        self.make_scheduler.is_none()
            && self.config.enforce
            && self.config.enforcement.interest() == Interest::IncompleteJobs
    }

    /// How many priorities lie between the idle detector's and the workers'.
    fn priorities_below(&self) -> usize {
        if self.suspends() { RANKS_BELOW } else { 0 }
    }

    /// The state machine of a native run.
    pub(crate) fn guard(&self, tolerance: Service) -> Result<Guard, RunError> {
        self.with_configuration(tolerance, Guard::new)
            .map_err(RunError::Configuration)
    }

    /// The scheduler of a managed run; `None`: dispatch is native.
    pub(crate) fn scheduler(&self) -> Result<Option<BoxedScheduler>, RunError> {
        let Some(make) = &self.make_scheduler else {
            return Ok(None);
        };
        self.with_configuration(Service::ZERO, make)
            .map(Some)
            .map_err(RunError::Scheduler)
    }

    fn with_configuration<T, E>(
        &self,
        granularity: Service,
        make: impl FnOnce(&Configuration<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let configurations: Vec<TaskConfiguration> = self
            .tasks
            .iter()
            .map(|(spec, _)| spec.configuration)
            .collect();
        make(&Configuration {
            tasks: &configurations,
            levels: self.config.levels,
            enforcement: self.config.enforcement,
            exhaustion: self.config.exhaustion,
            granularity,
            wake_granularity: Duration::ZERO,
        })
    }

    /// For how many notes the log of the CPU has room.
    pub(crate) fn room_for_notes(&self) -> usize {
        let tasks = self.tasks.iter();
        let periods = tasks.map(|(spec, _)| spec.configuration.task.period.as_nanos());
        let beat = match self.config.monitor {
            Monitor::Heartbeat => self.config.heartbeat.as_nanos(),
            Monitor::Manager | Monitor::Perf | Monitor::PosixTimer => BEAT_NANOS,
        };
        evidence::room(periods, beat)
    }

    fn priorities_needed(&self) -> usize {
        if self.make_scheduler.is_some() {
            PRIORITIES_MANAGED
        } else {
            self.tasks.len() + PRIORITIES_BESIDE_WORKERS + self.priorities_below()
        }
    }

    /// A distinct SCHED_FIFO priority per task, in the order of the tasks' priorities; of equals the
    /// first task gets the higher one.
    fn fifo_priorities(&self) -> Result<Vec<i32>, RunError> {
        let (low, high) = self.config.priorities;
        let needed = self.priorities_needed();
        let room = (usize::from(high) + 1).saturating_sub(usize::from(low));
        if low == 0 || high > 99 || needed > room {
            return Err(RunError::Unsupported(format!(
                "{} tasks need {needed} SCHED_FIFO priorities within 1 to 99, but {low} to {high} was given",
                self.tasks.len()
            )));
        }
        if self.make_scheduler.is_some() {
            // Above the suspended ones.
            return Ok(vec![i32::from(low) + 1; self.tasks.len()]);
        }
        let tasks = self.tasks.iter().enumerate();
        let mut least_urgent_first: Vec<(u32, Reverse<usize>)> = tasks
            .map(|(index, (spec, _))| (spec.configuration.priority, Reverse(index)))
            .collect();
        least_urgent_first.sort_unstable();
        let mut fifo = vec![0; self.tasks.len()];
        let below = i32::try_from(self.priorities_below()).unwrap_or(i32::MAX / 2);
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
