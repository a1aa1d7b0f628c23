//! The one system in static memory, and who may touch it.

use core::cell::UnsafeCell;
#[cfg(not(target_has_atomic = "8"))]
use core::sync::atomic::compiler_fence;
use core::sync::atomic::{AtomicBool, Ordering};

/// A value that one call at a time may use.
pub(crate) struct Cell<T> {
    value: UnsafeCell<T>,
    busy: AtomicBool,
}

// SAFETY: `with` hands out at most one reference at a time, and whoever takes the word after somebody gave it back sees
// what that one wrote.
unsafe impl<T: Send> Sync for Cell<T> {}

impl<T> Cell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            value: UnsafeCell::new(value),
            busy: AtomicBool::new(false),
        }
    }

    /// Uses the value; nothing if a call that this one interrupted uses it.
    pub(crate) fn with<R>(&self, what: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.take() {
            return None;
        }
        // SAFETY: the word was free and is ours until it is given back below; nobody else has a reference until then.
        let result = what(unsafe { &mut *self.value.get() });
        self.busy.store(false, Ordering::Release);
        Some(result)
    }

    /// Whether somebody has it; else it is taken. One copy for all calls: an exchange is a loop on small processors.
    #[cfg(target_has_atomic = "8")]
    #[inline(never)]
    fn take(&self) -> bool {
        self.busy.swap(true, Ordering::Acquire)
    }

    /// The same on a processor that cannot exchange. It has to be the only one, and whatever interrupts this call has to end
    /// before that goes on: then a call that comes between the two steps has given the word back before the second. No
    /// other thread may go on within a call.
    #[cfg(not(target_has_atomic = "8"))]
    fn take(&self) -> bool {
        let taken = self.busy.load(Ordering::Acquire);
        self.busy.store(true, Ordering::Relaxed);
        // What follows stays behind the store: an interrupt on this processor sees them in that order. No test looks at it: the
        // processors that it is for cannot exchange bytes, those that the tests are compiled for can (Cortex-M3, x86-64), and
        // on one thread without interrupts it changes nothing.
        compiler_fence(Ordering::SeqCst);
        taken
    }
}
