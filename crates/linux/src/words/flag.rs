//! Raised while a thread may write of an instant that has passed.

use super::sync::{AtomicBool, Ordering};

/// A thread raises it before it reads the clock for what it writes, and lowers it when that is written. Who gathers reads the clock,
/// looks here, and then takes what is written: if it was down, whatever comes later is of an instant behind that reading. Alone on
/// its cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    /// By its thread, before it reads the clock.
    pub(crate) fn raise(&self) {
        // A full barrier: no later reading of the clock comes before it.
        self.0.swap(true, Ordering::SeqCst);
    }

    /// By its thread: all is written.
    pub(crate) fn lower(&self) {
        self.0.store(false, Ordering::Release);
    }

    /// Whether it is up. What its thread reads from the clock after it was seen to be down is later
    /// than what this thread read before it looked.
    pub(crate) fn is_up(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::words::Latest;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU64;
    use loom::thread;

    /// What a thread and who gathers share. The clock is a word that each reading moves on, and who reads later sees what came before an
    /// earlier reading: what the barrier of [`Flag::raise`] makes of a real clock, for which there is no model.
    struct Shared {
        flag: Flag,
        clock: AtomicU64,
        /// The instant that was written; 0: none.
        written: Latest<u64>,
    }

    impl Shared {
        fn read_clock(&self) -> u64 {
            self.clock.fetch_add(1, Ordering::AcqRel)
        }
    }

    fn writes(shared: &Shared) {
        shared.flag.raise();
        let at = shared.read_clock();
        shared.written.set(at);
        shared.flag.lower();
    }

    /// What was found; and until when all is there, if the flag was down.
    type Round = (u64, Option<u64>);

    fn gathers(shared: &Shared) -> Round {
        let now = shared.read_clock();
        let is_up = shared.flag.is_up();
        (shared.written.get(), (!is_up).then_some(now))
    }

    /// One thread writes while the other one gathers: what that did not find is of no instant by which it said that all is there.
    fn model(writes: fn(&Shared), gathers: fn(&Shared) -> Round) {
        loom::model(move || {
            let shared = Arc::new(Shared {
                flag: Flag::default(),
                clock: AtomicU64::new(1),
                written: Latest::default(),
            });
            let other = Arc::clone(&shared);
            let writer = thread::spawn(move || writes(&other));
            let (found, complete_until) = gathers(&shared);
            writer.join().unwrap();
            let late = (found == 0).then(|| shared.written.get());
            if let (Some(late), Some(until)) = (late, complete_until) {
                assert!(late > until, "it was said to be complete");
            }
        });
    }

    #[test]
    fn what_is_found_later_is_of_a_later_instant() {
        model(writes, gathers);
    }

    #[test]
    #[should_panic = "it was said to be complete"]
    fn refuted_who_reads_the_clock_before_it_raises_the_flag() {
        model(
            |shared| {
                let at = shared.read_clock();
                shared.flag.raise();
                shared.written.set(at);
                shared.flag.lower();
            },
            gathers,
        );
    }

    #[test]
    #[should_panic = "it was said to be complete"]
    fn refuted_who_looks_at_the_flag_before_it_reads_the_clock() {
        model(writes, |shared| {
            let is_up = shared.flag.is_up();
            let now = shared.read_clock();
            (shared.written.get(), (!is_up).then_some(now))
        });
    }

    #[test]
    #[should_panic = "it was said to be complete"]
    fn refuted_who_takes_what_is_written_before_it_looks_at_the_flag() {
        model(writes, |shared| {
            let now = shared.read_clock();
            let found = shared.written.get();
            (found, (!shared.flag.is_up()).then_some(now))
        });
    }

    #[test]
    #[should_panic = "it was said to be complete"]
    fn refuted_who_lowers_the_flag_before_it_writes() {
        model(
            |shared| {
                shared.flag.raise();
                let at = shared.read_clock();
                shared.flag.lower();
                shared.written.set(at);
            },
            gathers,
        );
    }
}
