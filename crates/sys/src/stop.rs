//! SIGINT and SIGTERM: the latch that they set, which stays set, and whoever waits for it.

use super::futex::Calls;
use super::signal::{Taken, action};
pub use libc::{SIGINT, SIGTERM};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// A stop was requested.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The first signal that did so; 0: none.
static FIRST: AtomicI32 = AtomicI32::new(0);

/// Whether a signal has come through the handler, as opposed to [`ask`].
static SIGNALLED: AtomicBool = AtomicBool::new(false);

/// Counts the calls for whoever waits for a stop.
pub static CALLS: Calls = Calls::new();

/// Does only what is safe in a handler: atomic stores, and system calls that leave the error number of
/// the interrupted code alone.
extern "C" fn on_signal(signal: libc::c_int) {
    // SAFETY: the place of the calling thread's error number is valid as long as the thread lives.
    let error = unsafe { *libc::__errno_location() };
    if SIGNALLED.swap(true, Ordering::SeqCst) {
        // Whoever insists does not want to wait. The signal is blocked until the handler returns,
        // and does then what it does by default: end the process.
        // SAFETY: both calls are async-signal-safe and take plain numbers.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
    ask(signal);
    // SAFETY: as above.
    unsafe {
        *libc::__errno_location() = error;
    }
}

/// Sets the latch as if `signal` had come, and wakes who waits for that.
pub fn ask(signal: i32) {
    // First the cause: whoever sees the latch set finds it.
    let _ = FIRST.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    ASKED.store(true, Ordering::SeqCst);
    CALLS.call();
}

/// The latch.
pub fn latch() -> &'static AtomicBool {
    &ASKED
}

/// What set the latch, if it is set.
pub fn asked() -> Option<i32> {
    let asked = ASKED.load(Ordering::SeqCst);
    asked.then(|| FIRST.load(Ordering::SeqCst))
}

/// Clears the latch; says what had set it.
pub fn acknowledge() -> Option<i32> {
    let asked = ASKED.swap(false, Ordering::SeqCst);
    SIGNALLED.store(false, Ordering::SeqCst);
    let signal = FIRST.swap(0, Ordering::SeqCst);
    asked.then_some(signal)
}

/// SIGINT and SIGTERM set the latch while this lives; afterwards they do what they did before. The
/// latch itself stays as it is.
#[derive(Debug)]
pub struct Handlers {
    _taken: Vec<Taken>,
}

impl Handlers {
    /// Takes the signals over, unless they are taken over already. One that the process ignores stays
    /// ignored, as for every program that a shell starts in the background.
    pub fn take_over() -> io::Result<Self> {
        let ours = on_signal as *const () as libc::sighandler_t;
        let mut taken = Vec::new();
        for signal in [libc::SIGINT, libc::SIGTERM] {
            if ![libc::SIG_IGN, ours].contains(&action(signal)?.sa_sigaction) {
                // SAFETY: the handler keeps to what is async-signal-safe.
                taken.push(unsafe { Taken::over(signal, on_signal) }?);
            }
        }
        Ok(Self { _taken: taken })
    }
}

/// Sends a signal to the calling thread.
pub fn raise(signal: i32) {
    // SAFETY: takes a plain number.
    unsafe {
        libc::raise(signal);
    }
}
