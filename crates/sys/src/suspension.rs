//! The signal that suspends a thread: its handler waits until it is allowed to go on.
//!
//! A lower priority does not suspend a thread, because it runs whenever the CPU is free. What does
//! is a wait inside the thread, and only a signal handler begins one in the middle of a body that
//! knows nothing of it. The handler does what is safe in a handler: it reads a thread-local pointer,
//! atomics, and waits on a futex; `errno` stays what it was.

use super::signal::Taken;
use super::{Tid, futex};
use std::cell::Cell;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};

/// The signal that tells a thread to look at its [`Gate`].
fn suspension_signal() -> libc::c_int {
    libc::SIGRTMIN() + 3
}

/// What holds a thread back in the handler of the signal.
#[derive(Clone, Copy, Debug)]
pub struct Gate<'a> {
    /// The thread waits as long as this word is [`Self::closed`]; whoever changes it wakes those that wait on it.
    pub word: &'a AtomicU32,
    /// The value of the word that holds the thread back.
    pub closed: u32,
    /// Cleared by the handler when it begins: the signal has come.
    pub signalled: &'a AtomicBool,
}

impl Gate<'_> {
    /// Waits while it is closed.
    pub fn wait(&self) {
        while self.word.load(Ordering::Acquire) == self.closed {
            futex::wait_until(self.word, self.closed, None);
        }
    }
}

thread_local! {
    /// Where the handler of this thread looks; null: nowhere. It needs neither construction nor
    /// destruction, so reading it is a plain load.
    static OWN: Cell<*const Gate<'static>> = const { Cell::new(ptr::null()) };
}

/// Waits while the thread's gate is closed.
extern "C" fn on_suspension_signal(_: libc::c_int) {
    let gate = OWN.get();
    if gate.is_null() {
        return;
    }
    // SAFETY: the pointer is the thread's own `errno`, which lives as long as the thread.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: `behind` has set the pointer on this thread, and what it points to lives until `behind` sets it back.
    let gate = unsafe { &*gate };
    // Whoever found the flag set has sent no signal, so this has to see what was written before.
    gate.signalled.swap(false, Ordering::AcqRel);
    gate.wait();
    // SAFETY: as above.
    unsafe {
        *libc::__errno_location() = errno;
    }
}

/// The handler is in place while this lives; afterwards the signal does what it did before.
#[derive(Debug)]
pub struct SuspensionSignal {
    _taken: Taken,
}

impl SuspensionSignal {
    /// Puts the handler in place, for the whole process.
    ///
    /// # Errors
    /// What the system call says.
    pub fn take_over() -> io::Result<Self> {
        // SAFETY: the handler is async-signal-safe: it reads atomics and waits on a futex.
        let _taken = unsafe { Taken::over(suspension_signal(), on_suspension_signal) }?;
        Ok(Self { _taken })
    }
}

/// Calls `body` with the calling thread behind `gate`: the signal's handler waits while that is closed.
pub fn behind<T>(gate: &Gate<'_>, body: impl FnOnce() -> T) -> T {
    /// Sets the pointer back, also when `body` panics.
    struct Behind(*const Gate<'static>);
    impl Drop for Behind {
        fn drop(&mut self) {
            compiler_fence(Ordering::SeqCst);
            OWN.set(self.0);
            // Nobody frees what the pointer led to before a handler can no longer find it.
            compiler_fence(Ordering::SeqCst);
        }
    }
    // The borrow outlives `_behind`, which is on this stack and cannot be forgotten.
    let gate: *const Gate<'_> = gate;
    let _behind = Behind(OWN.replace(gate.cast()));
    // A handler that interrupts the body finds the pointer.
    compiler_fence(Ordering::SeqCst);
    body()
}

/// Lets the signal through in the calling thread, whatever the body of the job before did.
pub fn unblock() {
    let set = super::signal::set_of(&[suspension_signal()]);
    // SAFETY: `set` is valid for reading; no old mask is asked for. It fails for no valid `how`.
    unsafe {
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut());
    }
}

/// Tells thread `tid` to look at its [`Gate`]; says whether the signal is on its way.
pub fn signal(tid: Tid) -> bool {
    // SAFETY: `tgkill` reads plain numbers; a thread that is gone gives ESRCH.
    unsafe { libc::tgkill(libc::getpid(), tid, suspension_signal()) == 0 }
}
