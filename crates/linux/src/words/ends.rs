//! Which jobs of a worker have ended, and whether somebody waits for the end of the next one.

use super::sync::{AtomicU64, Ordering};

/// Below the number of the first job that has not ended: its end is awaited.
const AWAITED: u64 = 1;

/// The worker ends one job after another; the manager awaits the end of the first that has not ended. Both
/// read-modify-write the word: either the manager sees that the job has ended, or the worker that its end is awaited.
#[derive(Debug, Default)]
pub(crate) struct Ends(AtomicU64);

impl Ends {
    /// Job `number` has ended; says whether its end, or that of one before, was awaited. By the worker.
    pub(crate) fn end(&self, number: u64) -> bool {
        let next = number.saturating_add(1);
        self.0.swap(next << 1, Ordering::AcqRel) & AWAITED != 0
    }

    /// The first job that has not ended.
    pub(crate) fn first(&self) -> u64 {
        self.0.load(Ordering::Acquire) >> 1
    }

    /// The end of job `number` is awaited from here on; says whether it is still the first that has not ended. By the
    /// manager.
    pub(crate) fn await_end(&self, number: u64) -> bool {
        let awaited = self.0.compare_exchange(
            number << 1,
            number << 1 | AWAITED,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        awaited.is_ok()
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// A job ends while the manager finds it incomplete.
    fn end_against_look(
        end: fn(&Ends, &AtomicU64) -> bool,
        await_end: fn(&Ends, &AtomicU64) -> bool,
    ) {
        loom::model(move || {
            let words = Arc::new((Ends::default(), AtomicU64::new(0)));
            let other = Arc::clone(&words);
            let manager = thread::spawn(move || await_end(&other.0, &other.1));
            let called = end(&words.0, &words.1);
            let incomplete = manager.join().unwrap();
            assert_eq!(called, incomplete, "its end is not reported, or was known");
        });
    }

    #[test]
    fn the_end_of_a_job_that_was_found_incomplete_is_reported() {
        end_against_look(|ends, _| ends.end(0), |ends, _| ends.await_end(0));
    }

    /// What was there before: the manager read which jobs had ended, and then wrote in a word of its own that it takes
    /// one for incomplete. On two CPUs the job can end in between, and nobody calls.
    #[test]
    #[should_panic = "its end is not reported"]
    fn refuted_a_word_for_each_side() {
        end_against_look(
            |ends, incomplete| {
                ends.end(0);
                incomplete.load(Ordering::SeqCst) == 1
            },
            |ends, incomplete| {
                let has_not_ended = ends.first() == 0;
                if has_not_ended {
                    incomplete.store(1, Ordering::SeqCst);
                }
                has_not_ended
            },
        );
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_was_awaited_says_so_once() {
        let ends = Ends::default();
        assert!(!ends.await_end(1), "not the first");
        assert!(ends.await_end(0) && !ends.await_end(0));
        assert_eq!(ends.first(), 0);
        assert!(ends.end(0) && ends.first() == 1 && !ends.await_end(0));
        assert!(!ends.end(1));
    }
}
