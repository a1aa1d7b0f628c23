//! What threads have used, by their clocks, or as a test says.

use crate::sys::clock::cpu_nanos_of;
use crate::task::Jobs;

/// The clock of its worker's thread; `None` if that is gone.
pub(crate) fn cpu_of(jobs: &Jobs) -> Option<u64> {
    #[cfg(test)]
    if let Some(clock) = scripted::clock_of(jobs.tid()) {
        return Some(clock);
    }
    cpu_nanos_of(jobs.tid())
}

/// Clocks of workers that exist in a test alone.
#[cfg(test)]
pub(crate) mod scripted {
    use crate::sys::Tid;
    use std::cell::RefCell;

    thread_local! {
        static CLOCKS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    }

    /// So many threads, whose clocks have gone on already.
    pub(crate) fn begin(threads: usize) {
        CLOCKS.set(vec![77; threads]);
    }

    pub(crate) fn advance(thread: usize, nanos: u64) {
        CLOCKS.with_borrow_mut(|clocks| clocks[thread] += nanos);
    }

    /// What the worker of this task is called: nobody, so that nobody's priority is changed.
    pub(crate) fn tid_of(thread: usize) -> Tid {
        Tid::MAX - Tid::try_from(thread).unwrap()
    }

    pub(super) fn clock_of(tid: Tid) -> Option<u64> {
        let thread = usize::try_from(Tid::MAX - tid).ok()?;
        CLOCKS.with_borrow(|clocks| clocks.get(thread).copied())
    }
}
