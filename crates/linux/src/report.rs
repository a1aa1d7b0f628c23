//! What a run has to say.

use crate::config::{Mechanism, Monitor};
use crate::foreign::ForeignThread;
use crate::processor::Processor;
use vestal_core::{DropReason, Drops, Duration, Event, Instant, JobId, Level, Notice, Service};
use vestal_statistics::{Histogram, Summary};
use vestal_trace::Record;

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
    /// What the watchdog used; it has another processor if there is one.
    pub watchdog: ThreadCost,
    /// How often the process was continued after it had been stopped.
    pub continued: u64,
    /// What was recorded, if the run was.
    pub recorded: Option<Recorded>,
    /// Names of tasks whose body had not come to a cancellation point when patience ended. Their
    /// threads live on, outside the real-time classes.
    pub stuck: Vec<String>,
}

impl Report {
    /// CPU time of watchdog, managers and idle detectors.
    #[must_use]
    pub fn own_cpu(&self) -> Service {
        let cpus = self.cpus.iter().map(|cpu| cpu.threads.cpu());
        cpus.fold(self.watchdog.cpu, Service::saturating_add)
    }
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
    /// The budget monitor used; with [`Mechanism::Huang2014`] and native dispatch
    /// [`Monitor::Manager`] stands for its two timers.
    pub monitor: Monitor,
    /// Why another monitor than the one asked for was used, if so.
    pub monitor_fallback: Option<String>,
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
    /// What the CPU's own threads used, and why its manager was woken.
    pub threads: ThreadCosts,
    /// Intervals in which there were jobs to do.
    pub busy_periods: BusyReport,
    /// What the machine took away.
    pub machine: MachineReport,
    /// How well limits were enforced.
    pub enforcement: EnforcementReport,
    /// How late workers woke for releases that found the CPU free.
    pub release_lateness: Summary,
    /// Notices of the scheduler that no thread could take in time.
    pub lost_notices: u64,
    /// How jobs were suspended between their slices; `None` if no job is cut into slices.
    pub suspensions: Option<Suspensions>,
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

/// Sums over jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Released.
    pub released: u64,
    /// Completed.
    pub completed: u64,
    /// Not admitted, demoted by enforcement, or too many to wait.
    pub dropped: u64,
    /// The same by reason.
    pub dropped_by: Drops,
    /// Neither when the run ended.
    pub unfinished: u64,
    /// Completed after their deadline, or unfinished with a deadline before the end.
    pub missed: u64,
    /// Missed although the policy had guaranteed them: there is a guarantee ([`crate::Config`]), and no
    /// job had exceeded its C at the level of the late job's task, in the same busy period and before
    /// that deadline. A job that is stopped at the limit of its own level counts there for itself only,
    /// and for those of its task that wait behind its body.
    pub missed_guaranteed: u64,
    /// Of those: missed also with the stolen time in their window taken out. What decides about success.
    pub missed_outside_gaps: u64,
}

impl JobCounts {
    /// Guaranteed deadlines that were missed and only stolen time explains: whether the schedule would
    /// have kept them without it is not decided.
    #[must_use]
    pub const fn missed_undecided(&self) -> u64 {
        self.missed_guaranteed
            .saturating_sub(self.missed_outside_gaps)
    }

    /// Counts jobs that were released and then dropped.
    pub(crate) fn count_drops(&mut self, drops: &Drops) {
        self.released += drops.total();
        self.dropped += drops.total();
        self.dropped_by = self.dropped_by.and(drops);
    }

    /// Counts a job that was released and then dropped for this reason.
    pub(crate) fn count_drop(&mut self, why: DropReason) {
        let mut drops = Drops::default();
        drops.add(why, 1);
        self.count_drops(&drops);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.released += other.released;
        self.completed += other.completed;
        self.dropped += other.dropped;
        self.dropped_by = self.dropped_by.and(&other.dropped_by);
        self.unfinished += other.unfinished;
        self.missed += other.missed;
        self.missed_guaranteed += other.missed_guaranteed;
        self.missed_outside_gaps += other.missed_outside_gaps;
    }
}

/// One task's share of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskReport {
    /// Its name.
    pub name: String,
    /// Its jobs.
    pub jobs: JobCounts,
    /// How often a job of it used up a limit.
    pub overruns: u64,
    /// How often its worker was preempted.
    pub preemptions: u64,
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

/// What a thread used from the first release to the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCost {
    /// Its CPU time.
    pub cpu: Service,
    /// How often it gave up its CPU.
    pub voluntary: u64,
    /// How often the CPU was taken from it.
    pub involuntary: u64,
}

impl ThreadCost {
    /// How often it was switched away from.
    #[must_use]
    pub const fn switches(&self) -> u64 {
        self.voluntary.saturating_add(self.involuntary)
    }

    const fn and(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_add(other.cpu),
            voluntary: self.voluntary.saturating_add(other.voluntary),
            involuntary: self.involuntary.saturating_add(other.involuntary),
        }
    }
}

/// What a thread of the run has to do outside the bodies of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duty {
    /// A worker: from the instant at which it gets the CPU for a job until its body begins.
    JobStart,
    /// A worker: from the end of a body until it waits.
    JobEnd,
    /// The manager: from when it gets the CPU until it waits.
    Manager,
    /// The idle detector, likewise.
    Idle,
    /// The watchdog, likewise, if it shares the CPU of the run.
    Watchdog,
}

impl Duty {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::JobStart,
        Self::JobEnd,
        Self::Manager,
        Self::Idle,
        Self::Watchdog,
    ];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::JobStart => "job-start",
            Self::JobEnd => "job-end",
            Self::Manager => "manager",
            Self::Idle => "idle",
            Self::Watchdog => "watchdog",
        }
    }
}

/// How long the run's own threads took for one of their duties: CPU time and sleep, without the time for
/// which the kernel says that another thread had the CPU. This is the run's, never the machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// The duty.
    pub duty: Duty,
    /// How often it was done.
    pub count: u64,
    /// What it took at most.
    pub longest: Duration,
}

/// Why the manager was woken. Each wake-up counts once: for the first of these that applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wakeups {
    /// A job was completed, or a worker wants its priority back.
    pub completion: u64,
    /// A job was released.
    pub release: u64,
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
        self.completion + self.release + self.budget + self.timer + self.idle + self.other
    }
}

/// What the own threads of a CPU of the set used: everything beside the bodies of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadCosts {
    /// The manager.
    pub manager: ThreadCost,
    /// The idle detector; managed dispatch has none.
    pub idle: ThreadCost,
    /// CPU time of the workers outside the bodies of jobs: releasing jobs and ending them.
    pub workers: Service,
    /// Why the manager was woken.
    pub wakeups: Wakeups,
    /// How long each duty took at most, of those that were done.
    pub reactions: Vec<Reaction>,
}

impl ThreadCosts {
    /// CPU time of manager and idle detector.
    #[must_use]
    pub const fn cpu(&self) -> Service {
        self.manager.and(self.idle).cpu
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
    /// The same by cause; only causes that took something.
    pub stolen: Vec<StolenTime>,
    /// Threads of other processes in a real-time class that may use the CPU of the run.
    pub foreign: Vec<ForeignThread>,
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
}

/// Jobs that were suspended until their next slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Suspensions {
    /// How often.
    pub times: u64,
    /// Of those: how often the job went on all the same, by more than the tolerance, on a CPU that
    /// no other thread of the run wanted. Its body blocks signals and comes to no cancellation point.
    pub ineffective: u64,
}

impl Suspensions {
    /// The sum of both.
    #[must_use]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            times: self.times.saturating_add(other.times),
            ineffective: self.ineffective.saturating_add(other.ineffective),
        }
    }
}

/// What a worker notes down.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskRecord {
    pub(crate) jobs: JobCounts,
    pub(crate) response: Histogram,
    pub(crate) execution: Histogram,
    pub(crate) tardiness: Histogram,
    pub(crate) lateness: Histogram,
    pub(crate) start_cost: Histogram,
    pub(crate) end_cost: Histogram,
    pub(crate) used: ThreadCost,
    /// Inside the bodies of all jobs, also of those that were not completed.
    pub(crate) executed_nanos: u64,
    /// Bodies that went on although they were suspended, and returned.
    pub(crate) suspensions: Suspensions,
    /// Guaranteed misses that stolen time does not explain, unless the process was stopped meanwhile.
    pub(crate) misses: Vec<Miss>,
}

/// A guaranteed deadline that was missed: clock readings at the beginning of its busy period and at its
/// end, and whether it would have been met without all that no thread of the run consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Miss {
    pub(crate) since: u64,
    pub(crate) end: u64,
    pub(crate) met_if_stopped: bool,
}

/// How many misses a task remembers one by one.
pub(crate) const MISSES_MAX: usize = 1024;

impl TaskRecord {
    pub(crate) fn new() -> Self {
        Self {
            misses: Vec::with_capacity(MISSES_MAX),
            ..Self::default()
        }
    }

    /// Adds what the report sums over all tasks.
    pub(crate) fn add(&mut self, other: &Self) {
        self.jobs.add(&other.jobs);
        self.lateness.merge(&other.lateness);
        self.start_cost.merge(&other.start_cost);
        self.end_cost.merge(&other.end_cost);
        self.used = self.used.and(other.used);
        self.executed_nanos += other.executed_nanos;
        self.suspensions = self.suspensions.and(other.suspensions);
    }
}

/// What came of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// How many records were handed to the consumer.
    pub records: u64,
    /// How many found no room in a ring.
    pub lost: u64,
}

/// What the manager notes down.
#[derive(Clone, Debug, Default)]
pub(crate) struct ManagerRecord {
    pub(crate) modes: Vec<ModeChange>,
    pub(crate) modes_lost: u64,
    pub(crate) overruns: Vec<u64>,
    pub(crate) overshoot: Histogram,
    pub(crate) late: u64,
    pub(crate) late_beyond_nanos: u64,
    pub(crate) handling: Histogram,
    pub(crate) demotion: Histogram,
    /// Under managed dispatch: how late the manager woke for releases on a free CPU.
    pub(crate) lateness: Histogram,
    pub(crate) wakeups: Wakeups,
    pub(crate) suspensions: Suspensions,
    pub(crate) lost_notices: u64,
    /// The last record of a recording.
    pub(crate) end: Option<Record>,
}

impl ManagerRecord {
    pub(crate) fn new(tasks: usize, late_beyond_nanos: u64) -> Self {
        Self {
            modes: Vec::with_capacity(MODES_MAX),
            overruns: vec![0; tasks],
            late_beyond_nanos,
            ..Self::default()
        }
    }

    /// Notes down what concerns the report.
    pub(crate) fn note(&mut self, notice: &Notice) {
        match notice.what {
            Event::ModeChanged { from, to, cause } => {
                if self.modes.len() < MODES_MAX {
                    let at = notice.at;
                    self.modes.push(ModeChange {
                        at,
                        from,
                        to,
                        cause,
                    });
                } else {
                    self.modes_lost += 1;
                }
            }
            Event::Overrun { job, .. } => {
                if let Some(overruns) = self.overruns.get_mut(job.task.index()) {
                    *overruns += 1;
                }
            }
            // Whoever has a dropped job counts it.
            Event::Dropped { .. } | Event::Late { .. } => {}
            // Neither a guard nor an engine of one CPU has servers or frames.
            Event::Depleted { .. }
            | Event::Postponed { .. }
            | Event::FrameOverrun { .. }
            | Event::FramesSkipped { .. } => {}
        }
    }
}
