//! Faults for the tests on the real kernel, present only with the feature `real`.

pub(crate) mod point;

pub use crate::sys::process::reap;
pub use point::Point;

use crate::sys;
use crate::words::{Phase, Stage};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What goes wrong inside the manager, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It panics so many milliseconds after the start.
    ManagerPanics(u64),
    /// It goes on for ever, so many milliseconds after the start, without a look at anything.
    ManagerHangs(u64),
    /// Woken earlier than so many milliseconds after the start, it does not get on until then, between
    /// its look at jobs that completed and its look at those that run; as when the kernel throttles it.
    ManagerSleepsUntil(u64),
    /// Budgets of servers are charged job by job, less the tolerance, as limits of jobs are.
    ChargesByJob,
    /// Monitors that should stand still while their jobs are preempted run on.
    MonitorsRunOn,
    /// A manager that dispatches sets its monitors for half of what is left.
    MonitorsComeEarly,
    /// In every other activation of a monitor the manager looks at no job.
    LooksAway,
    /// A device is unmasked when its interrupt is told, and not when its bottom half has ended; the first 200 times.
    UnmasksAtOnce,
    /// A device is not masked when it is told, but heard again at once; the first 200 times.
    NeverMasks,
    /// A thread of the run is slow.
    Delay(Delay),
}

/// A delay at a point of the run's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// Where.
    pub point: Point,
    /// What the thread does meanwhile.
    pub how: How,
    /// How long.
    pub milliseconds: u64,
    /// Each so many-th time that a thread comes there; 0: never.
    pub every: u64,
}

/// What a thread does while it is delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It consumes CPU time.
    Burn,
    /// It sleeps.
    Sleep,
}

/// Blocks every signal in the calling thread, as a job body might.
///
/// # Errors
/// What the system call says.
pub fn block_all_signals() -> std::io::Result<()> {
    sys::signal::block_all()
}

/// Tries to give the calling thread a SCHED_FIFO priority, as a job body might.
///
/// # Errors
/// What the system call says.
pub fn set_own_priority(priority: i32) -> std::io::Result<()> {
    sys::sched::set_fifo(sys::sched::own_tid(), priority)
}

/// What the calling thread has used of the CPU, in nanoseconds.
#[must_use]
pub fn own_cpu_nanos() -> u64 {
    sys::clock::own_cpu_nanos()
}

/// The number of the calling thread.
#[must_use]
pub fn own_thread() -> i32 {
    sys::sched::own_tid()
}

/// What thread `thread` of this process has used of the CPU, in nanoseconds; `None` if there is none.
#[must_use]
pub fn cpu_nanos_of(thread: i32) -> Option<u64> {
    sys::clock::cpu_nanos_of(thread)
}

/// The clock of releases and deadlines, in nanoseconds.
#[must_use]
pub fn monotonic_nanos() -> u64 {
    sys::clock::monotonic_nanos()
}

/// Starts a child process that burns CPU time for so many milliseconds; gives its number.
///
/// # Errors
/// What the system call says.
pub fn fork_burner(milliseconds: u64) -> std::io::Result<i32> {
    sys::process::fork_burner(milliseconds * 1_000_000)
}

/// Starts a child process that takes CPU `cpu` in SCHED_FIFO at `priority` for so many milliseconds of
/// each period, and lives for so many; gives its number.
///
/// # Errors
/// What the system call says.
pub fn fork_thief(
    cpu: usize,
    priority: i32,
    (burst_ms, period_ms, life_ms): (u64, u64, u64),
) -> std::io::Result<i32> {
    const MS: u64 = 1_000_000;
    sys::process::fork_thief(cpu, priority, (burst_ms * MS, period_ms * MS, life_ms * MS))
}

/// The same, a microsecond later from period to period: whatever has that period is met everywhere in the course of time.
///
/// # Errors
/// What the system call says.
pub fn fork_wandering_thief(
    cpu: usize,
    priority: i32,
    (burst_ms, period_ms, life_ms): (u64, u64, u64),
) -> std::io::Result<i32> {
    const MS: u64 = 1_000_000;
    let period = period_ms * MS + 1_000;
    sys::process::fork_thief(cpu, priority, (burst_ms * MS, period, life_ms * MS))
}

/// The CPUs that the calling thread may use.
///
/// # Errors
/// What the system call says.
pub fn affinity() -> std::io::Result<Vec<usize>> {
    sys::sched::affinity()
}

/// Lets the calling thread, and those that it starts, use these CPUs only.
///
/// # Errors
/// What the system call says.
pub fn set_affinity(cpus: &[usize]) -> std::io::Result<()> {
    sys::sched::pin_to_any(cpus)
}

/// The fault of a run, and how often threads have come to its point.
#[derive(Debug, Default)]
pub(crate) struct Injected {
    pub(crate) fault: Option<Fault>,
    /// How often a thread has come to the point of a delay in this run.
    passes: AtomicU64,
}

impl Injected {
    /// Whether budgets of servers are charged job by job.
    pub(crate) fn charges_by_job(&self) -> bool {
        self.fault == Some(Fault::ChargesByJob)
    }

    /// Whether monitors run on while their jobs are preempted.
    pub(crate) fn lets_monitors_run_on(&self) -> bool {
        self.fault == Some(Fault::MonitorsRunOn)
    }

    /// What a monitor is set for, of which so much is left.
    pub(crate) fn early_or(&self, left: u64) -> u64 {
        if self.fault == Some(Fault::MonitorsComeEarly) {
            (left / 2).max(1)
        } else {
            left
        }
    }

    /// Whether a device is unmasked when its interrupt is told, up to so often.
    pub(crate) fn unmasks_at_once(&self) -> bool {
        const MOST: u64 = 200;
        self.fault == Some(Fault::UnmasksAtOnce)
            && self.passes.fetch_add(1, Ordering::SeqCst) < MOST
    }

    /// Whether a device that is told is heard again at once, up to so often.
    pub(crate) fn never_masks(&self) -> bool {
        const MOST: u64 = 200;
        self.fault == Some(Fault::NeverMasks) && self.passes.fetch_add(1, Ordering::SeqCst) < MOST
    }

    /// Whether the activation with this number is one in which no job is looked at.
    pub(crate) fn looks_away(&self, number: u64) -> bool {
        self.fault == Some(Fault::LooksAway) && number.is_multiple_of(2)
    }
}

/// A run in which something may go wrong.
pub(crate) trait Faulty {
    fn injected(&self) -> &Injected;
    fn phase(&self) -> &Phase;
    /// The clock when it began.
    fn begun(&self) -> u64;
}

/// Lets the fault happen if its time has come.
#[expect(clippy::panic, reason = "this is the injected fault")]
pub(crate) fn strike(run: &impl Faulty, now: u64) {
    let since_ms = now.saturating_sub(run.begun()) / 1_000_000;
    match run.injected().fault {
        Some(Fault::ManagerPanics(at)) if since_ms >= at => panic!("injected fault"),
        Some(Fault::ManagerHangs(at)) if since_ms >= at => {
            // Bounded all the same: a failing test must not leave a busy machine.
            while run.phase().stage() != Stage::Over
                && sys::clock::monotonic_nanos() < now + 5_000_000_000
            {}
        }
        Some(
            Fault::ManagerPanics(_)
            | Fault::ManagerHangs(_)
            | Fault::ManagerSleepsUntil(_)
            | Fault::ChargesByJob
            | Fault::MonitorsRunOn
            | Fault::MonitorsComeEarly
            | Fault::LooksAway
            | Fault::UnmasksAtOnce
            | Fault::NeverMasks
            | Fault::Delay(_),
        )
        | None => {}
    }
}

/// Lets the manager sleep if that is the fault.
pub(crate) fn sleep(run: &impl Faulty) {
    if let Some(Fault::ManagerSleepsUntil(until_ms)) = run.injected().fault {
        let until = run.begun() + until_ms * 1_000_000;
        while sys::clock::monotonic_nanos() < until && is_running(run) {
            run.phase().wait_while(Stage::Running, Some(until));
        }
    }
}

fn is_running(run: &impl Faulty) -> bool {
    run.phase().stage() == Stage::Running
}

/// Delays the calling thread where the workers of its CPU get their orders, if that is the fault.
pub(crate) fn delay_initialisation(run: &impl Faulty) {
    delay(run, Point::CpuInitialised);
}

/// Delays the calling thread if it is its turn.
pub(crate) fn delay(run: &impl Faulty, point: Point) {
    let Some(Fault::Delay(delay)) = run.injected().fault else {
        return;
    };
    if delay.point != point || !is_running(run) {
        return;
    }
    let pass = run.injected().passes.fetch_add(1, Ordering::SeqCst) + 1;
    if pass.checked_rem(delay.every) != Some(0) {
        return;
    }
    let nanos = delay.milliseconds * 1_000_000;
    match delay.how {
        How::Burn => {
            let end = sys::clock::own_cpu_nanos() + nanos;
            while sys::clock::own_cpu_nanos() < end {}
        }
        How::Sleep => {
            let never = AtomicU32::new(0);
            let until = sys::clock::monotonic_nanos() + nanos;
            while sys::clock::monotonic_nanos() < until {
                sys::futex::wait_until(&never, 0, Some(until));
            }
        }
    }
}
