//! What a thread watches for another.

use super::{Bell, Latest};

/// A job, and how long it may execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    pub(crate) sequence: u64,
    /// What it may execute until it overruns, in nanoseconds.
    pub(crate) deadline: u64,
}

/// Who watches reads the count of calls, then what there is to watch, and then waits for a call beyond that count.
///
/// Job and deadline are two words of one writer, who calls after both: whoever reads one of each job is called, and reads
/// them again before it waits. What it does until then is a look too many.
#[derive(Debug, Default)]
pub(crate) struct WatchWord {
    calls: Bell,
    /// The number of the job plus one; 0: there is none.
    job: Latest<u64>,
    deadline: Latest<u64>,
}

impl WatchWord {
    /// Has this watched from now on, and calls who watches. By one thread.
    pub(crate) fn watch(&self, watched: Option<Watched>) {
        if let Some(watched) = watched {
            self.deadline.set(watched.deadline);
        }
        self.job
            .set(watched.map_or(0, |watched| watched.sequence.saturating_add(1)));
        self.calls.ring();
    }

    /// What is to be watched.
    pub(crate) fn watched(&self) -> Option<Watched> {
        let sequence = self.job.get().checked_sub(1)?;
        Some(Watched {
            sequence,
            deadline: self.deadline.get(),
        })
    }

    /// How many calls there were. To be read before [`Self::watched`].
    pub(crate) fn calls(&self) -> u32 {
        self.calls.count()
    }

    /// Calls who watches, for another reason.
    pub(crate) fn call(&self) {
        self.calls.ring();
    }

    /// Waits for a call beyond `calls`, or until the clock reads `deadline_nanos`. May return earlier.
    pub(crate) fn wait_beyond(&self, calls: u32, deadline_nanos: Option<u64>) {
        self.calls.wait_beyond(calls, deadline_nanos);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    const WATCHED: [Watched; 2] = [
        Watched {
            sequence: 0,
            deadline: 10,
        },
        Watched {
            sequence: 1,
            deadline: 20,
        },
    ];

    /// One side has two jobs watched; the other one is done when it is about to wait for the second.
    fn two_jobs(look: fn(&WatchWord) -> (u32, Option<Watched>)) {
        loom::model(move || {
            let word = Arc::new(WatchWord::default());
            let other = Arc::clone(&word);
            let scheduler = thread::spawn(move || {
                for watched in WATCHED {
                    other.watch(Some(watched));
                }
            });
            loop {
                let (calls, seen) = look(&word);
                if calls == 2 {
                    assert_eq!(seen, Some(WATCHED[1]), "it waits with another deadline");
                    break;
                }
                thread::yield_now();
            }
            scheduler.join().unwrap();
        });
    }

    #[test]
    fn who_waits_has_read_the_job_of_the_last_call_with_its_deadline() {
        two_jobs(|word| {
            let calls = word.calls();
            (calls, word.watched())
        });
    }

    #[test]
    #[should_panic = "it waits with another deadline"]
    fn refuted_who_reads_the_calls_last_waits_with_another_deadline() {
        two_jobs(|word| {
            let watched = word.watched();
            (word.calls(), watched)
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_that_was_said_is_watched_or_nothing() {
        let word = WatchWord::default();
        assert_eq!((word.watched(), word.calls()), (None, 0));
        for (sequence, deadline) in [(0, 5), (0, 9), (7, 0)] {
            let watched = Some(Watched { sequence, deadline });
            word.watch(watched);
            assert_eq!(word.watched(), watched);
        }
        word.watch(None);
        assert_eq!((word.watched(), word.calls()), (None, 4));
    }
}
