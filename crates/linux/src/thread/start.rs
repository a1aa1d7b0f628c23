//! Starting threads so that none runs before all are ready to run, and joining them again.
//!
//! A thread that enters SCHED_FIFO on a pinned CPU and then spins for the others can keep them from
//! ever starting. Each therefore blocks on the phase word, and the starter waits for each one's
//! report before it starts the next.

use super::names::Names;
use crate::scarce::{Resource, making};
use crate::started::StartedThread;
use crate::sys::Tid;
use crate::sys::clock::monotonic_nanos;
use crate::sys::futex::wait_until;
use crate::sys::sched::own_tid;
use crate::words::Latest;
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use vestal_core::Duration;

/// How long a thread may take to set itself up.
const SETUP_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// Where a worker is: the index of its CPU in the set, and of its task there.
pub(crate) type Place = (usize, usize);

/// The threads of a run.
pub(crate) struct Threads {
    stack_bytes: usize,
    /// Workers with their places.
    members: Vec<(Option<Place>, JoinHandle<()>)>,
    names: Names,
    known: Vec<StartedThread>,
}

/// A thread whose result matters.
pub(crate) struct Started<T> {
    result: std::sync::mpsc::Receiver<T>,
}

impl<T> Started<T> {
    /// Waits for the end of the thread; `None` if it ended without a result, or did not end within
    /// `patience` after its CPU had stopped. That it stops is the watchdog's business. `meanwhile` is
    /// called some times in a second.
    pub(crate) fn join(
        self,
        stopped_at: &Latest<u64>,
        patience: Duration,
        mut meanwhile: impl FnMut(),
    ) -> Option<T> {
        const POLL: std::time::Duration = std::time::Duration::from_millis(50);
        loop {
            match self.result.recv_timeout(POLL) {
                Ok(result) => return Some(result),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => meanwhile(),
            }
            let stopped = stopped_at.get();
            if stopped != 0 && monotonic_nanos() > stopped.saturating_add(patience.as_nanos()) {
                return None;
            }
        }
    }
}

impl Threads {
    pub(crate) fn new(stack_bytes: usize) -> Self {
        Self {
            stack_bytes,
            members: Vec::new(),
            names: Names::default(),
            known: Vec::new(),
        }
    }

    /// All threads that were started.
    pub(crate) fn known(&self) -> &[StartedThread] {
        &self.known
    }

    /// Starts a thread that sets itself up, reports, and then does `main`; a worker with its place. The kernel calls it `name` as
    /// far as that has room and is no other thread's.
    pub(crate) fn start<M: Send + 'static, T: Send + 'static>(
        &mut self,
        name: &str,
        worker: Option<Place>,
        member: M,
        set_up: fn(&M) -> io::Result<()>,
        main: fn(M) -> T,
    ) -> io::Result<Started<T>> {
        let (ready, is_ready) = sync_channel::<io::Result<Tid>>(1);
        let (give, result) = sync_channel::<T>(1);
        let (wanted, name) = (name.to_owned(), self.names.unique(name));
        let handle = thread::Builder::new()
            .name(name.clone())
            .stack_size(self.stack_bytes)
            .spawn(move || {
                let outcome = set_up(&member).map(|()| own_tid());
                let failed = outcome.is_err();
                // The starter may have stopped waiting; then the phase says what to do.
                let _ = ready.send(outcome);
                if !failed {
                    // The channel has room for the one value; its receiver may be gone.
                    let _ = give.send(main(member));
                }
            })
            .map_err(making(Resource::Thread))?;
        self.members.push((worker, handle));
        let tid = is_ready
            .recv_timeout(SETUP_TIMEOUT)
            .map_err(|_| io::Error::other("a thread was not ready within 5 s"))??;
        self.known.push(StartedThread {
            tid: u32::try_from(tid).unwrap_or_default(),
            name,
            works: worker.is_some(),
            wanted,
        });
        Ok(Started { result })
    }

    /// Waits for all threads, `patience` at most; gives the places of the workers that are still busy.
    pub(crate) fn join(self, patience: Duration) -> Vec<Place> {
        const POLL_NANOS: u64 = 1_000_000;
        let until = monotonic_nanos().saturating_add(patience.as_nanos());
        let never = AtomicU32::new(0);
        let mut members = self.members;
        loop {
            members.retain(|(_, handle)| !handle.is_finished());
            let now = monotonic_nanos();
            if members.is_empty() || now >= until {
                break;
            }
            wait_until(&never, 0, Some(now + POLL_NANOS));
        }
        members.iter().filter_map(|(worker, _)| *worker).collect()
    }
}
