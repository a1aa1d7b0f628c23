//! The signal that suspends a thread: its handler waits until it is allowed to go on.
//!
//! A lower priority does not suspend a thread, because it runs whenever the CPU is free. What does
//! is a wait inside the thread, and only a signal handler begins one in the middle of a body that
//! knows nothing of it. The handler does what is safe in a handler: it reads a thread-local pointer,
//! atomics, and waits on a futex; `errno` stays what it was.

use super::Tid;
use super::signal::Taken;
use crate::suspension::Suspension;
use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::ptr;

/// The signal that tells a worker to look at its [`Suspension`].
fn suspension_signal() -> libc::c_int {
    libc::SIGRTMIN() + 3
}

thread_local! {
    /// Where the handler of this thread looks; null: nowhere. It needs neither construction nor
    /// destruction, so reading it is a plain load.
    static OWN: Cell<*const Suspension> = const { Cell::new(ptr::null()) };
}

/// Waits while the thread is suspended.
extern "C" fn on_suspension_signal(_: libc::c_int) {
    let suspension = OWN.get();
    if suspension.is_null() {
        return;
    }
    // SAFETY: the pointer is the thread's own `errno`, which lives as long as the thread.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: `attach` has set the pointer on this thread, and what it borrows lives until
    // `Attached` is dropped on this thread, which sets it back to null.
    unsafe { &*suspension }.answer();
    // SAFETY: as above.
    unsafe {
        *libc::__errno_location() = errno;
    }
}

/// The handler is in place while this lives; afterwards the signal does what it did before.
pub(crate) struct SuspensionSignal {
    _taken: Taken,
}

impl SuspensionSignal {
    pub(crate) fn take_over() -> io::Result<Self> {
        // SAFETY: the handler is async-signal-safe, see above.
        let _taken = unsafe { Taken::over(suspension_signal(), on_suspension_signal) }?;
        Ok(Self { _taken })
    }
}

/// The calling thread answers for a [`Suspension`] while this lives; it must not be forgotten. It stays on
/// its thread.
pub(crate) struct Attached<'a>(PhantomData<(&'a Suspension, *const Suspension)>);

/// Lets the handler of the calling thread look at `suspension`.
pub(crate) fn attach(suspension: &Suspension) -> Attached<'_> {
    OWN.set(suspension);
    Attached(PhantomData)
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        OWN.set(ptr::null());
    }
}

/// Lets the signal through in the calling thread, whatever the body of the job before did.
pub(crate) fn unblock() {
    let set = super::signal::set_of(&[suspension_signal()]);
    // SAFETY: `set` is valid for reading; no old mask is asked for. It fails for no valid `how`.
    unsafe {
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut());
    }
}

/// Tells thread `tid` to look at its [`Suspension`]; says whether the signal is on its way.
pub(crate) fn signal(tid: Tid) -> bool {
    // SAFETY: `tgkill` reads plain numbers; a thread that is gone gives ESRCH.
    unsafe { libc::tgkill(libc::getpid(), tid, suspension_signal()) == 0 }
}
