//! The barrier of the pthread library.

use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;

/// A barrier at which so many threads meet: each waits until all have come, round after round.
///
/// Nothing ends a wait but the last thread of its round: whoever wants to has to send that many threads in.
#[derive(Debug)]
pub struct PthreadBarrier(Box<UnsafeCell<libc::pthread_barrier_t>>);

// SAFETY: the library made the barrier to be waited at by several threads, through its address, which the box keeps;
// nothing else reaches what it consists of.
unsafe impl Send for PthreadBarrier {}
// SAFETY: as above.
unsafe impl Sync for PthreadBarrier {}

impl PthreadBarrier {
    /// A barrier for so many threads.
    ///
    /// # Errors
    /// What the library says, for instance that no barrier is for no thread.
    pub fn new(threads: u32) -> io::Result<Self> {
        // SAFETY: a barrier is plain old data of the library, which the call below initializes in its place.
        let blank = unsafe { MaybeUninit::<libc::pthread_barrier_t>::zeroed().assume_init() };
        let place = Box::new(UnsafeCell::new(blank));
        // SAFETY: the address is valid, and nobody waits at a barrier that is not there yet; without attributes.
        let outcome = unsafe { libc::pthread_barrier_init(place.get(), std::ptr::null(), threads) };
        if outcome != 0 {
            // There is none to destroy.
            return Err(io::Error::from_raw_os_error(outcome));
        }
        Ok(Self(place))
    }

    /// Waits until as many threads have come as it is for.
    pub fn wait(&self) {
        // SAFETY: the barrier was initialized, and it lives as long as this reference.
        unsafe { libc::pthread_barrier_wait(self.0.get()) };
    }
}

impl Drop for PthreadBarrier {
    fn drop(&mut self) {
        // SAFETY: it was initialized, and nobody has a reference to wait with any more; the library waits for those that
        // are just leaving.
        unsafe { libc::pthread_barrier_destroy(self.0.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn nobody_passes_before_the_last_has_come() {
        const ROUNDS: u32 = 100;
        let (barrier, arrived) = (PthreadBarrier::new(3).unwrap(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=ROUNDS {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        barrier.wait();
                        assert!(arrived.load(Ordering::SeqCst) >= 3 * round);
                        barrier.wait();
                    }
                });
            }
        });
    }

    #[test]
    fn a_barrier_for_nobody_is_refused() {
        assert!(PthreadBarrier::new(0).is_err());
    }
}
