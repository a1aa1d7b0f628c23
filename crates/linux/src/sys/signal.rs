//! Signals: how monitors and workers wake the manager, and how a user stops a run.
//!
//! All of them go to the *manager's* thread, which waits for them synchronously. What a task does
//! with its own signal mask therefore changes nothing.

use super::{Tid, checked};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// A budget monitor has fired.
pub(crate) fn monitor_signal() -> libc::c_int {
    libc::SIGRTMIN() + 1
}

/// A thread of ours has something to say.
pub(crate) fn kick_signal() -> libc::c_int {
    libc::SIGRTMIN() + 2
}

/// A job has no slack left.
pub(crate) fn instant_signal() -> libc::c_int {
    libc::SIGRTMIN() + 4
}

pub(super) fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set it is given.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
    }
    // SAFETY: initialised by the line above.
    let mut set = unsafe { set.assume_init() };
    for &signal in signals {
        // SAFETY: `set` is an initialised set; a number out of range is refused without effect.
        unsafe {
            libc::sigaddset(&raw mut set, signal);
        }
    }
    set
}

/// Blocks every signal in the calling thread that can be blocked without harm.
///
/// The ones that report a fault of the thread itself stay: blocked, they kill without a message.
pub(crate) fn block_all() -> io::Result<()> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` initialises the set it is given.
    unsafe {
        libc::sigfillset(set.as_mut_ptr());
    }
    // SAFETY: initialised by the line above.
    let mut set = unsafe { set.assume_init() };
    for fault in [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGABRT,
    ] {
        // SAFETY: `set` is an initialised set and the number is a signal.
        unsafe {
            libc::sigdelset(&raw mut set, fault);
        }
    }
    // SAFETY: `set` is valid for reading; no old mask is asked for.
    let error = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()) };
    if error == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(error))
    }
}

/// The signals for which the manager waits; it has to have blocked them.
pub(crate) struct ManagerSignals(libc::sigset_t);

impl ManagerSignals {
    pub(crate) fn new() -> Self {
        // SIGIO takes the place of a queued signal for which the kernel had no room.
        Self(set_of(&[
            monitor_signal(),
            kick_signal(),
            instant_signal(),
            libc::SIGIO,
        ]))
    }

    /// Waits for the next of them, or until `span_nanos` have passed; says which.
    pub(crate) fn wait(&self, span_nanos: u64) -> Option<libc::c_int> {
        let span = super::clock::timespec(span_nanos);
        let span = libc::timespec {
            tv_sec: span.tv_sec,
            tv_nsec: span.tv_nsec,
        };
        // SAFETY: set and span are valid for reading; no information about the signal is asked for.
        let signal =
            unsafe { libc::sigtimedwait(&raw const self.0, ptr::null_mut(), &raw const span) };
        (signal > 0).then_some(signal)
    }
}

/// Wakes the manager.
pub(crate) fn kick(tid: Tid) {
    // SAFETY: `tgkill` reads plain numbers; a thread that is gone gives ESRCH.
    unsafe {
        libc::tgkill(libc::getpid(), tid, kick_signal());
    }
}

/// The signal that asked for the end of the run; 0: none.
static REQUESTED: AtomicI32 = AtomicI32::new(0);

/// Counts the calls for whoever waits for such a signal.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Does only what is safe in a handler: atomic stores, and a system call that leaves the error number
/// of the interrupted code alone.
extern "C" fn on_stop_signal(signal: libc::c_int) {
    REQUESTED.store(signal, Ordering::SeqCst);
    // SAFETY: the place of the calling thread's error number is valid as long as the thread lives.
    let error = unsafe { *libc::__errno_location() };
    StopSignals::call();
    // SAFETY: as above.
    unsafe {
        *libc::__errno_location() = error;
    }
}

/// SIGINT and SIGTERM ask the run to end while this lives; afterwards they do what they did before.
pub(crate) struct StopSignals {
    before: Vec<(libc::c_int, libc::sigaction)>,
}

impl StopSignals {
    /// Takes the signals over. One that the process ignores stays ignored, as for every program
    /// that a shell starts in the background.
    pub(crate) fn take_over() -> io::Result<Self> {
        REQUESTED.store(0, Ordering::SeqCst);
        let mut taken = Self { before: Vec::new() };
        for signal in [libc::SIGINT, libc::SIGTERM] {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: no new action is given; `before` is a valid place for the present one.
            checked(unsafe { libc::sigaction(signal, ptr::null(), before.as_mut_ptr()) })?;
            // SAFETY: the call succeeded and filled it.
            let before = unsafe { before.assume_init() };
            if before.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut action = before;
            action.sa_sigaction = on_stop_signal as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            action.sa_mask = set_of(&[]);
            // SAFETY: the handler only stores an atomic, which is async-signal-safe.
            checked(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) })?;
            taken.before.push((signal, before));
        }
        Ok(taken)
    }

    /// Read before [`Self::requested`], for [`Self::wait_beyond`].
    pub(crate) fn calls() -> u32 {
        CALLS.load(Ordering::SeqCst)
    }

    /// Waits for a signal or a call, until an instant.
    pub(crate) fn wait_beyond(calls: u32, until_nanos: u64) {
        super::futex::wait_until(&CALLS, calls, Some(until_nanos));
    }

    /// Ends the wait without a signal.
    pub(crate) fn call() {
        CALLS.fetch_add(1, Ordering::SeqCst);
        super::futex::wake_all(&CALLS);
    }

    /// The signal that arrived, if any.
    pub(crate) fn requested() -> Option<i32> {
        let signal = REQUESTED.load(Ordering::SeqCst);
        (signal != 0).then_some(signal)
    }
}

impl Drop for StopSignals {
    fn drop(&mut self) {
        for (signal, before) in &self.before {
            // SAFETY: `before` is what the kernel gave as the action of this signal.
            unsafe {
                libc::sigaction(*signal, before, ptr::null_mut());
            }
        }
    }
}
