//! What a run has to say.

use crate::account::StolenLog;
pub use crate::account::{Duty, JobCounts, Reaction, Suspensions, ThreadCost};
use crate::arming::MonitorChoice;
use crate::barrier::Barrier;
use crate::config::Mechanism;
pub use crate::detections::Detections;
use crate::device::Outcome;
use crate::foreign::ForeignThread;
use crate::initialisation::Initialisation;
use crate::monitor::Monitor;
pub use crate::parts::Part;
pub use crate::recording::Recorded;
use crate::skew::ClockSkew;
use crate::stamps::Clock;
use crate::sys::Processor;
use vestal_core::{Duration, Instant, JobId, Level, Service};
use vestal_statistics::Summary;

/// How a run that took place came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// It ran for the time asked for.
    Finished,
    /// This signal (SIGINT or SIGTERM) ended it before.
    Signal(i32),
}

/// Everything a run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// How long it took.
    pub duration: Duration,
    /// Which threads handled what.
    pub mechanism: Mechanism,
    /// Sums over all tasks.
    pub jobs: JobCounts,
    /// What there is to say of each CPU of the set, in their order.
    pub cpus: Vec<CpuReport>,
    /// The CPU that has no tasks, but dispatcher, scheduler and checker of a frame table: see [`Dispatcher::Own`](crate::Dispatcher::Own). It has no jobs.
    pub dispatcher: Option<CpuReport>,
    /// What became of the frames of a table; `None` where there is none.
    pub frames: Option<FrameReport>,
    /// What the watchdog used; it has another processor if there is one.
    pub watchdog: ThreadCost,
    /// How often the process was continued after it had been stopped.
    pub continued: u64,
    /// By how much the clocks of its processors differ; `None` where it had one, and where that could not be found out in time.
    pub clock_skew: Option<ClockSkew>,
    /// What was recorded, if the run was.
    pub recorded: Option<Recorded>,
    /// Names of tasks whose body had not come to a cancellation point when patience ended. Their
    /// threads live on, outside the real-time classes.
    pub stuck: Vec<String>,
}

impl Report {
    /// The CPUs of the set, and behind them that of the dispatcher, if it has one of its own.
    pub fn all_cpus(&self) -> impl Iterator<Item = &CpuReport> + Clone {
        self.cpus.iter().chain(&self.dispatcher)
    }

    /// CPU time of watchdog, managers and idle detectors, and of dispatchers and checkers on CPUs of the run.
    #[must_use]
    pub fn own_cpu(&self) -> Service {
        let cpus = self.all_cpus().map(|cpu| cpu.threads.cpu());
        cpus.fold(self.watchdog.cpu, Service::saturating_add)
    }
}

/// What became of the frames of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// How many began within the run by the clock, also those that were skipped.
    pub total: u64,
    /// How many of them were skipped as a whole, because an earlier one had not ended, as far as that had ended within
    /// the run.
    pub skipped: u64,
    /// In how many the sub-frame of the lowest level was dropped, alone or with others above it.
    pub lowest_skipped: u64,
    /// How many ended before their last sub-frame did.
    pub overrun: u64,
    /// At how many barriers all CPUs came together: one for each sub-frame in which some CPU has a job and that was not
    /// dropped, as far as it ended within the run.
    pub barriers: u64,
    /// How many jobs were dropped with their sub-frame although a test says that they are not, and no job had needed more than
    /// at their level; 0 without a guarantee.
    pub unprovoked: u64,
    /// Of those: which only stolen time explains, on whichever CPU. Whether they would have run without it is not decided.
    pub unprovoked_undecided: u64,
}

/// The frames of a table that all CPUs of a set have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameReport {
    /// What became of them.
    pub counts: FrameCounts,
    /// Where the CPUs waited for each other.
    pub barrier: Barrier,
    /// What was read to measure how long something took, and while threads spun.
    pub clock: Clock,
    /// By how much later than its table says a sub-frame may begin.
    pub overhead: Service,
    /// By how much later than it should a frame began that no other one kept, in nanoseconds.
    pub begun_late: Summary,
    /// How long it took from when the last CPU came to a barrier, and had decided, until each of the others went on, in
    /// nanoseconds.
    pub passed: Summary,
    /// What frames lose.
    pub costs: FrameCosts,
    /// What the threads of Sigrist et al. (2015) found, if they ran the frames.
    pub paper: Option<PaperReport>,
}

/// What the threads of Sigrist et al. (RTAS 2015, section VI-A) found while they ran the frames of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperReport {
    /// Whether dispatcher, scheduler and checker had a processor of their own.
    pub has_own_processor: bool,
    /// Who gave the workers their orders.
    pub initialisation: Initialisation,
    /// How many jobs began before all CPUs had been initialised for their sub-frame: 0 with [`Initialisation::Global`].
    pub started_early: u64,
    /// How often the checker looked.
    pub checks: u64,
    /// How many sub-frames it found to go on when the one below should have begun: all of these were dropped.
    pub late: u64,
}

/// What frames lose beside what it takes to begin and to end each job, one after the other; in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameCosts {
    /// From when a frame should begin until a CPU that waited for it knows its jobs: of each.
    pub frame: Summary,
    /// From when the last CPU comes to a barrier until it opens it.
    pub sub_frame: Summary,
    /// From then until a CPU knows what is next: of each.
    pub barrier: Summary,
}

/// What a run measured on one CPU of its set.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuReport {
    /// The CPU of the machine that it ran on.
    pub processor: Processor,
    /// CPU time of the workers.
    pub busy: Service,
    /// Context switches of the workers.
    pub switches: u64,
    /// Of those, forced ones.
    pub preemptions: u64,
    /// The budget monitor used, of [`Mechanism::Sigrist2015`] that of its checkers; with [`Mechanism::Huang2014`] and native dispatch
    /// [`Monitor::Manager`] stands for its two timers.
    pub monitor: Monitor,
    /// Why another monitor than the one asked for was used, if so.
    pub monitor_fallback: Option<String>,
    /// Why it was used, if the run chose it: see [`crate::Config::chooses_monitor`].
    pub monitor_choice: Option<MonitorChoice>,
    /// What that did; `None` where nothing was enforced, where budgets outlive jobs, and with [`Mechanism::Huang2014`].
    pub monitoring: Option<MonitoringReport>,
    /// Whether limits were enforced.
    pub enforced: bool,
    /// Under managed dispatch: how often a worker found itself running a job that the plan of that
    /// moment did not name. `None` under native dispatch, where the kernel keeps the order.
    pub inversions: Option<u64>,
    /// Mode changes, oldest first; at most [`MODES_MAX`].
    pub modes: Vec<ModeChange>,
    /// Mode changes beyond those.
    pub modes_lost: u64,
    /// Per task, in the order of the CPU's tasks.
    pub tasks: Vec<TaskReport>,
    /// What the mechanisms of this world cost.
    pub overhead: Vec<Overhead>,
    /// The same in the parts of Sigrist et al. (2015).
    pub parts: PartsReport,
    /// What the CPU's own threads used, and why its manager was woken.
    pub threads: ThreadCosts,
    /// Intervals in which there were jobs to do.
    pub busy_periods: BusyReport,
    /// What the machine took away.
    pub machine: MachineReport,
    /// How many notes of the threads found no room. Missed deadlines whose busy periods have lost notes are not
    /// decided, and what is counted may be too little.
    pub lost_notes: u64,
    /// How well limits were enforced.
    pub enforcement: EnforcementReport,
    /// By server, if its scheduler has any: those of which something is to be said, and all before them.
    pub servers: Vec<ServerReport>,
    /// How late workers woke for releases that found the CPU free.
    pub release_lateness: Summary,
    /// Notices of the scheduler that no thread could take in time.
    pub lost_notices: u64,
    /// How jobs were suspended in the middle of their bodies; `None` if the policy asks for that nowhere.
    pub suspensions: Option<Suspensions>,
    /// By device.
    pub devices: Vec<Outcome>,
}

/// What the monitor of budgets did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonitoringReport {
    /// How often it had the manager look; with [`Mechanism::Sigrist2015`] how often checkers looked.
    pub activations: u64,
    /// How often for a job that did not have the CPU just then, once for each such job: no timer that stands still meanwhile
    /// does that.
    pub without_cpu: u64,
    /// How many jobs had more activations than their monitor may need: of a heartbeat, and of [`Monitor::Manager`], as often
    /// as its period or lower bound fits into their response times, rounded up, and one; of [`Monitor::Remainder`] one for each
    /// limit that they used up, at least one, one for each time that another thread than the manager that it woke took
    /// the CPU from them, and under managed dispatch one for each time that they had not had the CPU for all of the time since
    /// the timer was set: the manager itself has it when it sets it, and interrupts take it. `None` for others.
    pub beyond_bound: Option<u64>,
    /// In which activation used-up limits were found.
    pub detected: Detections,
}

/// How many mode changes a report lists.
pub const MODES_MAX: usize = 10_000;

/// A change of the criticality indicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeChange {
    /// When, counted from the start of the run.
    pub at: Instant,
    /// The mode before.
    pub from: Level,
    /// The mode from then on.
    pub to: Level,
    /// The job that overran, for a rise; `None` for the return at an idle instant.
    pub cause: Option<JobId>,
}

/// One task's share of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskReport {
    /// Its name.
    pub name: String,
    /// Its jobs.
    pub jobs: JobCounts,
    /// How often a job of it used up a limit. A frame table has none: there, how many of its jobs executed more than C at its
    /// own level and the tolerance.
    pub overruns: u64,
    /// How often its worker was preempted.
    pub preemptions: u64,
    /// How often the monitor had the manager look at each of its jobs that have ended.
    pub activations: Summary,
    /// From release to completion, of completed jobs, in nanoseconds.
    pub response: Summary,
    /// CPU time of completed jobs, in nanoseconds.
    pub execution: Summary,
    /// Time after the deadline (0 if before) of completed jobs, in nanoseconds.
    pub tardiness: Summary,
    /// Limits of it that are smaller than the granularity obtained: they cannot be enforced.
    pub limits_below_granularity: Vec<(Level, Service)>,
}

/// What one mechanism costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// `job-start`, `job-end`, `manager`, `demotion`.
    pub mechanism: &'static str,
    /// Its durations, in nanoseconds.
    pub summary: Summary,
    /// Their sum as a share of the run's duration.
    pub share: f64,
}

/// What carrying the policy out took of a CPU, as Sigrist et al. (2015, section VI-C) split it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartsReport {
    /// Each part, in the order of [`Part::OF_FRAMES`] or [`Part::OF_MANAGERS`]; its times in nanoseconds.
    pub parts: Vec<(Part, Summary)>,
    /// Their *system overhead*: CPU time of the CPU's own threads outside the bodies of jobs that is in no part, such as
    /// system calls and switches of threads, by the kernel's account. What a walker spins for while it waits for others is no
    /// part of it, and neither is what the watchdog uses.
    pub system: Service,
}

impl PartsReport {
    /// Their *scheduler overhead*: the sum of the parts, in wall-clock time.
    #[must_use]
    pub fn scheduler(&self) -> Duration {
        let sums = self.parts.iter().map(|(_, summary)| summary.sum);
        Duration::from_nanos(sums.fold(0, u64::saturating_add))
    }
}

/// Why the manager was woken. Each wake-up counts once: for the first of these that applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wakeups {
    /// A job was completed, or a worker wants its priority back.
    pub completion: u64,
    /// A job was released.
    pub release: u64,
    /// A device was ready, a job began to wait for events, or has those that it waited for.
    pub device: u64,
    /// A budget monitor: its signal, its timer, or a heartbeat's look at the accounts.
    pub budget: u64,
    /// An instant that the scheduler asked for: of a zero slack, a deadline, a slice.
    pub timer: u64,
    /// The idle detector ran.
    pub idle: u64,
    /// Its own regular sign of life, and the beginning and the end of the run.
    pub beat: u64,
    /// Anything else: a signal that was overtaken by the look at what it told, and such.
    pub other: u64,
}

impl Wakeups {
    /// Those that jobs are the reason for: all but the signs of life.
    #[must_use]
    pub const fn by_jobs(&self) -> u64 {
        let by_decider = self.budget + self.timer + self.idle + self.other;
        self.completion + self.release + self.device + by_decider
    }
}

/// What the own threads of a CPU of the set used: everything beside the bodies of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadCosts {
    /// The manager, or the scheduler of a frame table.
    pub manager: ThreadCost,
    /// The idle detector; managed dispatch has none.
    pub idle: ThreadCost,
    /// The thread that dispatches arrivals, with [`Mechanism::Sigrist2015`].
    pub dispatcher: ThreadCost,
    /// Whether that is on the CPU of the run.
    pub dispatcher_is_here: bool,
    /// The threads that check for overruns, with the same.
    pub checkers: ThreadCost,
    /// The thread that waits for devices.
    pub top_half: ThreadCost,
    /// CPU time of the workers outside the bodies of jobs: releasing jobs and ending them.
    pub workers: Service,
    /// Why the manager was woken.
    pub wakeups: Wakeups,
    /// How long each duty took at most, of those that were done.
    pub reactions: Vec<Reaction>,
}

impl ThreadCosts {
    /// CPU time of manager, idle detector and top half, and of the threads beside them that are on the CPU of the run.
    #[must_use]
    pub const fn cpu(&self) -> Service {
        let all = self.manager.and(self.idle).and(self.checkers);
        let all = all.and(self.top_half);
        match self.dispatcher_is_here {
            true => all.and(self.dispatcher).cpu,
            false => all.cpu,
        }
    }
}

/// An interval in which there were jobs to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusyPeriod {
    /// The first release, counted from the start of the run.
    pub start: Instant,
    /// From there to the completion of the last job released in it. What the run's own threads do
    /// after that is not part of it.
    pub length: Duration,
}

/// The busy periods of a run, without the one that its end cut short.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyReport {
    /// How many.
    pub count: u64,
    /// Their lengths, in nanoseconds: of those in `periods`.
    pub length: Summary,
    /// One by one, oldest first; at most 32768.
    pub periods: Vec<BusyPeriod>,
    /// How often a thread of the run was switched away from on the CPU of the run: workers, manager, idle
    /// detector.
    pub switches: u64,
}

impl BusyReport {
    /// Thread switches for each busy period, on average; 0 if there was none.
    #[must_use]
    pub fn switches_each(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        self.switches as f64 / self.count as f64
    }
}

/// Who took time from the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Another thread in a real-time class; the names of those that executed meanwhile, the one that
    /// executed most first.
    RealTimeThread(String),
    /// A hypervisor, by the kernel's own account.
    Hypervisor,
    /// Nothing shows who.
    Unknown,
}

impl Cause {
    /// Its name in results.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RealTimeThread(_) => "realtime-thread",
            Self::Hypervisor => "hypervisor",
            Self::Unknown => "unknown",
        }
    }
}

/// Time that was stolen from the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StolenTime {
    /// By whom.
    pub cause: Cause,
    /// How much in all.
    pub time: Duration,
}

/// What the machine took away: while jobs were burning, while a thread of the run waited for a free CPU,
/// or while the kernel says that the manager was ready and another thread had the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineReport {
    /// Intervals in which the clock jumped and no thread of the run explains it.
    pub gaps: u64,
    /// The longest of them.
    pub longest_gap: Duration,
    /// The most that the kernel put on a job's account for one of them. With a limit closer than
    /// that, the machine can make a job overrun that did not.
    pub longest_charged: Service,
    /// All of them.
    pub lost: Duration,
    /// The newest of them, oldest first: from and to, counted from the start of the run. At most [`Self::NEWEST`]: with fewer none of the run is missing. Who saw
    /// the same time as another thread stands beside it.
    pub newest: Vec<(Instant, Instant)>,
    /// The same by cause; only causes that took something.
    pub stolen: Vec<StolenTime>,
    /// Threads of other processes in a real-time class that may use the CPU of the run.
    pub foreign: Vec<ForeignThread>,
}

impl MachineReport {
    /// Of so many gaps it is known when they were.
    pub const NEWEST: usize = StolenLog::NEWEST;
}

/// What one server did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerReport {
    /// What was charged to it: all that the threads of its tasks used, the beginning and the end of each job included.
    pub charged: Service,
    /// What they used beside that and was not charged: of each job the tolerance at most ([`EnforcementReport::tolerance`]), where
    /// [`CpuSpec::tolerates_each_job`](crate::CpuSpec::tolerates_each_job) says so.
    pub tolerated: Service,
    /// How often it used up its budget, idled away or not.
    pub exhausted: u64,
    /// How much budget came later than it would have, because a replenishment list was full.
    pub postponed: Service,
}

/// How well limits were enforced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnforcementReport {
    /// By how much a trial thread exceeded its budget before the monitor said so, in nanoseconds;
    /// `None` without calibration.
    pub calibration: Option<Summary>,
    /// The granularity obtained: the 99th percentile of that.
    pub granularity: Option<Service>,
    /// By how much jobs exceeded their limits and the tolerance when the manager noticed, in
    /// nanoseconds. A job that completed before it could be noticed is not among them.
    pub overshoot: Summary,
    /// Of those: by more than the granularity obtained in the calibration.
    pub late: u64,
    /// What a job may exceed a limit by ([`crate::Config::tolerance`]).
    pub tolerance: Service,
    /// What a budget that outlives jobs, a server's or a task's, may be exceeded by until the thread stands that used it up,
    /// if no time is stolen meanwhile: the most that any budget of a trial before the run was exceeded by without stolen
    /// time, and what may be taken at a switch of threads without being recorded as that. `None` without calibration, and
    /// where there are no such budgets.
    pub server_granularity: Option<Service>,
    /// By how much such a budget was exceeded until the thread stood that had used it up, in nanoseconds: of each that
    /// was used up, and whose thread went on since. It is taken off the next budget.
    pub server_overshoot: Summary,
    /// The same of those during which no time was stolen.
    pub server_overshoot_undisturbed: Summary,
}
