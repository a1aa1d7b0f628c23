//! When the process was continued after it had been stopped (SIGSTOP, SIGTSTP, a debugger).

use super::clock::monotonic_nanos;
use super::{checked, signal::set_of};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
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
pub(crate) struct Continued {
    before: libc::sigaction,
}

impl Continued {
    /// Takes the signal over, with nothing noted yet.
    pub(crate) fn take_over() -> io::Result<Self> {
        COUNT.store(0, Ordering::SeqCst);
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: no new action is given; `before` is a valid place for the present one.
        checked(unsafe { libc::sigaction(libc::SIGCONT, ptr::null(), before.as_mut_ptr()) })?;
        // SAFETY: the call succeeded and filled it.
        let before = unsafe { before.assume_init() };
        let mut action = before;
        action.sa_sigaction = on_continue as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        action.sa_mask = set_of(&[]);
        // SAFETY: the handler reads a clock and stores atomics, which is async-signal-safe.
        checked(unsafe { libc::sigaction(libc::SIGCONT, &raw const action, ptr::null_mut()) })?;
        Ok(Self { before })
    }

    /// The clock readings at which the process was continued, oldest first. The handler may run a
    /// little after the other threads.
    pub(crate) fn instants() -> Vec<u64> {
        let count = COUNT.load(Ordering::SeqCst);
        let instants = INSTANTS.iter().take(count);
        instants
            .map(|instant| instant.load(Ordering::SeqCst))
            .filter(|&instant| instant != 0)
            .collect()
    }
}

impl Drop for Continued {
    fn drop(&mut self) {
        // SAFETY: `before` is what the kernel gave as the action of this signal.
        unsafe {
            libc::sigaction(libc::SIGCONT, &raw const self.before, ptr::null_mut());
        }
    }
}
