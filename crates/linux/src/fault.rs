//! Faults for the tests on the real kernel, present only with the feature `real`.

use crate::shared::{RUN, STOP, Shared};
use crate::sys;
use std::sync::atomic::Ordering;

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

/// Takes the calling thread out of the real-time class, as a job body might.
///
/// # Errors
/// What the system call says.
pub fn leave_real_time() -> std::io::Result<()> {
    sys::sched::set_other(sys::sched::own_tid())
}

/// Starts a child process that burns CPU time for so many milliseconds; gives its number.
///
/// # Errors
/// What the system call says.
pub fn fork_burner(milliseconds: u64) -> std::io::Result<i32> {
    sys::process::fork_burner(milliseconds * 1_000_000)
}

/// Waits for the end of a child process.
///
/// # Errors
/// What the system call says.
pub fn reap(child: i32) -> std::io::Result<()> {
    sys::process::reap(child)
}

/// Lets the fault happen if its time has come.
#[expect(clippy::panic, reason = "this is the injected fault")]
pub(crate) fn strike(shared: &Shared, now: u64) {
    let since_ms = now.saturating_sub(shared.epoch.load(Ordering::SeqCst)) / 1_000_000;
    match shared.fault {
        Some(Fault::ManagerPanics(at)) if since_ms >= at => panic!("injected fault"),
        Some(Fault::ManagerHangs(at)) if since_ms >= at => {
            // Bounded all the same: a failing test must not leave a busy machine.
            while shared.phase() != STOP && sys::clock::monotonic_nanos() < now + 5_000_000_000 {}
        }
        Some(Fault::ManagerPanics(_) | Fault::ManagerHangs(_) | Fault::ManagerSleepsUntil(_))
        | None => {}
    }
}

/// Lets the manager sleep if that is the fault.
pub(crate) fn sleep(shared: &Shared) {
    if let Some(Fault::ManagerSleepsUntil(until_ms)) = shared.fault {
        let until = shared.epoch.load(Ordering::SeqCst) + until_ms * 1_000_000;
        while sys::clock::monotonic_nanos() < until && shared.phase() == RUN {
            sys::futex::wait_until(&shared.phase, RUN, Some(until));
        }
    }
}
