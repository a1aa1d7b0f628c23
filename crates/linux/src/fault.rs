//! Faults for the tests on the real kernel, present only with the feature `real`.

use crate::shared::{STOP, Shared};
use crate::sys;
use std::sync::atomic::Ordering;

/// What goes wrong inside the manager, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It panics so many milliseconds after the start.
    ManagerPanics(u64),
    /// It goes on for ever, so many milliseconds after the start, without a look at anything.
    ManagerHangs(u64),
}

/// Blocks every signal in the calling thread, as a job body might.
///
/// # Errors
/// What the system call says.
pub fn block_all_signals() -> std::io::Result<()> {
    sys::signal::block_all()
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
        Some(Fault::ManagerPanics(_) | Fault::ManagerHangs(_)) | None => {}
    }
}
