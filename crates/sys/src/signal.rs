//! Signals: how monitors and workers wake the manager.
//!
//! All of them go to the *manager's* thread, which waits for them synchronously. What a task does
//! with its own signal mask therefore changes nothing.

use super::{Tid, checked};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// A budget monitor has fired.
pub fn monitor_signal() -> libc::c_int {
    libc::SIGRTMIN() + 1
}

/// A thread of the run has something to say.
pub fn kick_signal() -> libc::c_int {
    libc::SIGRTMIN() + 2
}

/// A job has no slack left.
pub fn instant_signal() -> libc::c_int {
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
pub fn block_all() -> io::Result<()> {
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
pub struct ManagerSignals(libc::sigset_t);

impl Default for ManagerSignals {
    fn default() -> Self {
        // SIGIO takes the place of a queued signal for which the kernel had no room.
        Self(set_of(&[
            monitor_signal(),
            kick_signal(),
            instant_signal(),
            libc::SIGIO,
        ]))
    }
}

/// A signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    /// Its number.
    pub signal: libc::c_int,
    /// What its timer was tagged with, if a timer sent it.
    pub tag: Option<usize>,
}

impl ManagerSignals {
    /// Waits for the next of them, or until `span_nanos` have passed; says which.
    pub fn wait(&self, span_nanos: u64) -> Option<Came> {
        let span = super::clock::libc_timespec(span_nanos);
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: set and span are valid for reading, `info` is a valid place for one siginfo_t.
        let signal =
            unsafe { libc::sigtimedwait(&raw const self.0, info.as_mut_ptr(), &raw const span) };
        if signal <= 0 {
            return None;
        }
        // SAFETY: the call filled it; zeroed memory is a value of it as well.
        let info = unsafe { info.assume_init() };
        let tag = (info.si_code == libc::SI_TIMER).then(|| {
            // SAFETY: a signal of a timer has a value. No memory is behind it: see `SignalTimer::on`.
            unsafe { info.si_value() }.sival_ptr.addr()
        });
        Some(Came { signal, tag })
    }
}

/// A signal that a handler of this crate takes while this lives; afterwards it does what it did before.
pub(super) struct Taken {
    signal: libc::c_int,
    before: libc::sigaction,
}

impl Taken {
    /// Takes a signal over. A system call that it meets goes on afterwards.
    ///
    /// # Safety
    /// The handler does only what is safe in a handler.
    pub(super) unsafe fn over(
        signal: libc::c_int,
        handler: extern "C" fn(libc::c_int),
    ) -> io::Result<Self> {
        let mut action = action(signal)?;
        let before = action;
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        action.sa_mask = set_of(&[]);
        // SAFETY: `action` is valid for reading; the caller answers for the handler.
        checked(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) })?;
        Ok(Self { signal, before })
    }
}

impl std::fmt::Debug for Taken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Taken").field(&self.signal).finish()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: the kernel gave this as the action of this signal.
        unsafe {
            libc::sigaction(self.signal, &raw const self.before, ptr::null_mut());
        }
    }
}

/// What a signal does at present.
pub(super) fn action(signal: libc::c_int) -> io::Result<libc::sigaction> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: no new action is given; `action` is a valid place for the present one.
    checked(unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) })?;
    // SAFETY: the call succeeded and filled it.
    Ok(unsafe { action.assume_init() })
}

/// Wakes the manager.
pub fn kick(tid: Tid) {
    // SAFETY: `tgkill` reads plain numbers; a thread that is gone gives ESRCH.
    unsafe {
        libc::tgkill(libc::getpid(), tid, kick_signal());
    }
}
