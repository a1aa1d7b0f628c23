//! When the process was continued after it had been stopped (SIGSTOP, SIGTSTP, a debugger).

use super::clock::monotonic_nanos;
use super::signal::Taken;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How many of the first instants are remembered.
const REMEMBERED: usize = 64;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static INSTANTS: [AtomicU64; REMEMBERED] = [const { AtomicU64::new(0) }; REMEMBERED];

/// Does only what is safe in a handler: reads a clock and stores into atomics.
extern "C" fn on_continue(_signal: libc::c_int) {
    let now = monotonic_nanos();
    let index = COUNT.fetch_add(1, Ordering::SeqCst);
    if let Some(instant) = INSTANTS.get(index) {
        instant.store(now, Ordering::SeqCst);
    }
}

/// SIGCONT is noted while this lives; afterwards it does what it did before.
pub struct Continued {
    _taken: Taken,
}

impl Continued {
    /// Takes the signal over, with nothing noted yet.
    pub fn take_over() -> io::Result<Self> {
        COUNT.store(0, Ordering::SeqCst);
        // SAFETY: the handler reads a clock and stores atomics.
        let _taken = unsafe { Taken::over(libc::SIGCONT, on_continue) }?;
        Ok(Self { _taken })
    }

    /// The clock readings at which the process was continued, oldest first. The handler may run a
    /// little after the other threads.
    pub fn instants() -> Vec<u64> {
        let count = COUNT.load(Ordering::SeqCst);
        let instants = INSTANTS.iter().take(count);
        instants
            .map(|instant| instant.load(Ordering::SeqCst))
            .filter(|&instant| instant != 0)
            .collect()
    }
}
