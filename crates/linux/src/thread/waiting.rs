//! How a worker waits for its next job.

use crate::sys::clock::monotonic_nanos;
use crate::words::{Bell, Phase, Stage};

/// How a worker waited.
pub(super) enum Waited {
    /// The run ends.
    RunOver,
    /// It found what it waits for.
    NotAtAll,
    /// It found it after waiting, when the clock said so.
    Until(u64),
}

impl Waited {
    const fn until(now: u64, waited: bool) -> Self {
        if waited {
            Self::Until(now)
        } else {
            Self::NotAtAll
        }
    }
}

/// Waits for `release`.
pub(super) fn wait_for_release(phase: &Phase, release: u64) -> Waited {
    let mut waited = false;
    loop {
        if phase.stage() != Stage::Running {
            return Waited::RunOver;
        }
        let now = monotonic_nanos();
        if now >= release {
            return Waited::until(now, waited);
        }
        waited = true;
        phase.wait_while(Stage::Running, Some(release));
    }
}

/// Waits until the manager has released the next job, for which it calls.
pub(super) fn wait_for_manager(
    phase: &Phase,
    calls: &Bell,
    is_released: impl Fn() -> bool,
) -> Waited {
    let mut waited = false;
    loop {
        // Read before looking, so that a call that comes while looking ends the wait.
        let count = calls.count();
        if phase.stage() != Stage::Running {
            return Waited::RunOver;
        }
        if is_released() {
            return Waited::until(monotonic_nanos(), waited);
        }
        waited = true;
        calls.wait_beyond(count, None);
    }
}
