//! How a thread is called.

use super::sync::{AtomicU32, Ordering, wait_while, wake_all};

/// Counts the calls for one thread, which waits for them. It reads the count, then looks at what there is to
/// do, and then waits for a call beyond that count: one that comes while it looks ends the wait.
///
/// Who rings writes first what there is to do. If the look misses that, the count was read before the
/// ring, so that the wait ends at once.
#[derive(Debug, Default)]
pub(crate) struct Bell(AtomicU32);

impl Bell {
    /// How many calls there were, modulo 2^32. To be read before looking.
    pub(crate) fn count(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Another one: wakes the thread.
    pub(crate) fn ring(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
        wake_all(&self.0);
    }

    /// Waits for one beyond `count`, or until the clock reads `deadline_nanos`. May return earlier.
    pub(crate) fn wait_beyond(&self, count: u32, deadline_nanos: Option<u64>) {
        wait_while(&self.0, count, deadline_nanos);
    }
}

#[cfg(all(test, loom))]
impl Bell {
    /// Waits until there was another call, from which there is no other way out, as in the kernel: one that is lost hangs.
    pub(super) fn hang_beyond(&self, count: u32) {
        // It sees what was written last: else it might hang for want of that.
        while self.0.fetch_or(0, Ordering::Relaxed) == count {
            loom::thread::yield_now();
        }
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// One side writes and rings twice, the other waits until it has seen both.
    fn two_calls(look: fn(&Bell, &AtomicU32) -> (u32, u32)) {
        loom::model(move || {
            let (bell, work) = (Arc::new(Bell::default()), Arc::new(AtomicU32::new(0)));
            let (other_bell, other_work) = (Arc::clone(&bell), Arc::clone(&work));
            let caller = thread::spawn(move || {
                for done in 1..=2 {
                    other_work.store(done, Ordering::Relaxed);
                    other_bell.ring();
                }
            });
            loop {
                let (count, seen) = look(&bell, &work);
                if seen == 2 {
                    break;
                }
                bell.hang_beyond(count);
            }
            caller.join().unwrap();
        });
    }

    #[test]
    fn a_call_between_look_and_wait_is_not_lost() {
        two_calls(|bell, work| {
            let count = bell.count();
            (count, work.load(Ordering::Relaxed))
        });
    }

    #[test]
    #[should_panic = "Model exceeded maximum number of branches"]
    fn refuted_who_looks_before_reading_the_count_misses_calls() {
        two_calls(|bell, work| {
            let seen = work.load(Ordering::Relaxed);
            (bell.count(), seen)
        });
    }

    #[test]
    #[should_panic = "Model exceeded maximum number of branches"]
    fn refuted_a_count_that_is_read_relaxed_promises_nothing() {
        two_calls(|bell, work| {
            let count = bell.0.load(Ordering::Relaxed);
            (count, work.load(Ordering::Relaxed))
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_a_call_that_has_come_ends_at_once() {
        let bell = Bell::default();
        let before = bell.count();
        bell.ring();
        bell.wait_beyond(before, None);
        assert_eq!(bell.count(), before + 1);
    }
}
