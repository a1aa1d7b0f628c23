//! Real runs: what the command line may ask of this machine, and what comes back.

use crate::failure::Failure;
use crate::report::RunResult;
use std::path::PathBuf;
use vestal_experiment::overhead::Invocations;
use vestal_experiment::overhead::sigrist2015::run::{Events, PerCpu};
use vestal_workload::model::DeviceKind;

#[cfg(target_os = "linux")]
mod barriers;
#[cfg(target_os = "linux")]
mod bursts;
#[cfg(target_os = "linux")]
mod cameras;
#[cfg(target_os = "linux")]
mod choice;
#[cfg(target_os = "linux")]
mod costs;
#[cfg(target_os = "linux")]
mod cpus;
#[cfg(target_os = "linux")]
mod devices;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod frames;
#[cfg(target_os = "linux")]
mod interrupts;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod outcome;
#[cfg(target_os = "linux")]
mod overhead;
#[cfg(target_os = "linux")]
mod pace;
#[cfg(target_os = "linux")]
mod parts;
#[cfg(target_os = "linux")]
mod periods;
#[cfg(target_os = "linux")]
mod share;
#[cfg(target_os = "linux")]
mod shares;
#[cfg(target_os = "linux")]
mod slack_trace;
#[cfg(target_os = "linux")]
mod sleeps;
#[cfg(target_os = "linux")]
mod threads;
#[cfg(target_os = "linux")]
mod work;

#[cfg(target_os = "linux")]
pub(crate) use barriers::barriers;
#[cfg(target_os = "linux")]
pub(crate) use cameras::cameras;
#[cfg(target_os = "linux")]
pub(crate) use costs::{costs, last_processor, two_processors};
#[cfg(target_os = "linux")]
pub(crate) use doctor::examine;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{
    RELEASE, SWITCH, barriers, cameras, check, costs, examine, execute, last_processor, machine,
    measure, preemptions, primitives, shares, slack_trace, sleeps, two_processors,
};
#[cfg(target_os = "linux")]
pub(crate) use linux::{execute, primitives};
#[cfg(target_os = "linux")]
pub(crate) use overhead::{machine, measure, preemptions};
#[cfg(target_os = "linux")]
pub(crate) use shares::{check, shares};
#[cfg(target_os = "linux")]
pub(crate) use slack_trace::slack_trace;
#[cfg(target_os = "linux")]
pub(crate) use sleeps::sleeps;
#[cfg(target_os = "linux")]
pub(crate) use vestal_bench::primitives::{RELEASE, SWITCH};

/// What the command line says about the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Whether a manager dispatches, rather than the kernel.
    pub(crate) managed: bool,
    /// Whether native dispatch was asked for by its name: where fixed priorities cannot carry a policy out, that is
    /// refused.
    pub(crate) native: bool,
    /// Which threads handle what.
    pub(crate) mechanism: Mechanism,
    /// What was asked for; by default the best one for the dispatch.
    pub(crate) monitor: Option<Monitor>,
    /// Of a heartbeat its period, of a monitor that waits for a predicted instant the least that it waits, if that was
    /// said.
    pub(crate) pace_ns: Option<u64>,
    /// Where the CPUs of a frame table wait for each other, if that was said.
    pub(crate) barrier: Option<Barrier>,
    /// What threads of a frame table read for stamps, if that was said.
    pub(crate) clock: Option<Clock>,
    /// Whether demoted jobs end at the next idle instant only, if that was said; else the mechanism's own way is taken.
    pub(crate) deferred: Option<bool>,
    /// Whether nothing is enforced.
    pub(crate) observe: bool,
    /// Whether the kernel's own trace is told of jobs.
    pub(crate) marks: bool,
    /// Whether the run is shown while it goes on.
    pub(crate) watch: bool,
    /// For each CPU of the set the CPU of the machine; by default the last ones that the process may use.
    pub(crate) cpus: Option<Vec<usize>>,
    /// The lowest and the highest SCHED_FIFO priority to use.
    pub(crate) priorities: Option<(u8, u8)>,
    /// What devices of the set are here.
    pub(crate) devices: Vec<RealDevice>,
    /// What a job may exceed a limit by; by default a trial before the run says so.
    pub(crate) tolerance_ns: Option<u64>,
}

/// What a device of the set is in a real run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RealDevice {
    pub(crate) name: String,
    pub(crate) kind: DeviceKind,
    /// How its events come, if not as the file says.
    pub(crate) storm: Option<Storm>,
}

/// Events that come whether somebody waits for them or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storm {
    /// As fast as they can be sent.
    Unbounded,
    /// So many a second, at even distances.
    Rate(u32),
}

/// What a short run measured, in nanoseconds and counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ShortRun {
    /// A signal ended it.
    pub(crate) interrupted: bool,
    /// The length of the first busy period; 0 if none ended.
    pub(crate) busy_ns: u64,
    pub(crate) busy_periods: u64,
    /// Switches of our threads on the CPU of the run.
    pub(crate) switches: u64,
    /// CPU time of manager, idle detector and watchdog.
    pub(crate) own_cpu_ns: u64,
    /// CPU time of workers outside the bodies of jobs.
    pub(crate) workers_cpu_ns: u64,
    /// How often jobs woke the manager.
    pub(crate) wakeups: u64,
    pub(crate) completed: u64,
    pub(crate) released: u64,
    pub(crate) missed: u64,
    pub(crate) overruns: u64,
    pub(crate) mode_changes: u64,
    /// What the machine took, in all and at once.
    pub(crate) lost_ns: u64,
    pub(crate) longest_gap_ns: u64,
    pub(crate) manager: Invocations,
}

/// What there is to say of a run of which the parts are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShareRun {
    /// Whether no job missed its deadline and no frame was late.
    pub(crate) kept: bool,
    pub(crate) span_ns: u64,
    /// On how many CPUs there were tasks.
    pub(crate) employed: u16,
    /// Each part by its name.
    pub(crate) parts: Vec<(&'static str, PerCpu)>,
    /// The sum of the parts.
    pub(crate) scheduler: PerCpu,
    pub(crate) system: PerCpu,
    pub(crate) events: Events,
    /// What others took of all CPUs.
    pub(crate) lost_ns: u64,
}

/// Which threads handle what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mechanism {
    /// Tasks release and end their jobs themselves.
    #[default]
    Vestal,
    /// Those of Huang, Gill and Lu (2014).
    Huang2014,
    /// Those of Sigrist et al. (2015).
    Sigrist2015,
}

/// What notices a used-up budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Monitor {
    /// A counter of the thread's own execution.
    Perf,
    /// A wall timer and the thread's CPU clock.
    Manager,
    /// The same, where the timer stands still while its job is preempted.
    Remainder,
    /// A look at all CPU clocks at regular intervals.
    Heartbeat,
    /// A POSIX timer on the thread's CPU time, bound to the tick.
    PosixTimer,
}

/// Where the CPUs of a frame table wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// `pthread_barrier_wait`.
    Pthread,
    /// A futex.
    Futex,
    /// A word that is looked at for some time before the futex.
    #[default]
    Spin,
}

/// What threads of a frame table read to measure how long something takes, and while they spin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Clock {
    /// `clock_gettime`.
    #[default]
    Monotonic,
    /// The time stamp counter.
    Tsc,
}

/// What `doctor` is asked for.
#[derive(Debug)]
pub(crate) struct Wish {
    /// Where the files are: the machine's own if there is none.
    pub(crate) root: Option<PathBuf>,
    pub(crate) cpu: Option<usize>,
    /// Whether to try and to measure.
    pub(crate) probes: bool,
}

/// What came of a real run.
#[derive(Debug)]
pub(crate) struct RealRun {
    pub(crate) result: RunResult,
    /// A signal ended it before its time.
    pub(crate) interrupted: bool,
    /// What the machine and the mechanisms did, a line each, for people.
    pub(crate) machine: Vec<String>,
    /// What a person must know before trusting the result.
    pub(crate) warnings: Vec<String>,
    /// Why a trace could not be written; the numbers hold all the same.
    pub(crate) unwritten: Option<Failure>,
}
