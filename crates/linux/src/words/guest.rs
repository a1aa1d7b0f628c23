//! What threads that come and go have used of one CPU.

use super::sync::{AtomicU64, Ordering};

/// What the guests of a CPU have used of it. A guest may go to another CPU before its clock is read: whoever reads it asks again
/// afterwards whether it is there still, and takes nothing else for used here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Guests {
    /// Whose clock is to be read for what the present guest used, if there is one.
    pub(crate) thread: Option<i32>,
    /// That clock when the guest came.
    pub(crate) base: u64,
    /// What those before used, in nanoseconds.
    pub(crate) used: u64,
}

/// The same as three words that are read together. One thread writes, and any reads.
#[derive(Debug, Default)]
pub(crate) struct GuestWord {
    /// Odd while the words are written.
    version: AtomicU64,
    /// Read and written Relaxed: the version says when.
    words: [AtomicU64; 3],
}

/// In the place of a thread: none.
const NONE: u64 = 0;

impl GuestWord {
    /// By the manager of the CPU.
    pub(crate) fn set(&self, guests: Guests) {
        let thread = guests.thread.and_then(|thread| u64::try_from(thread).ok());
        let words = [thread.unwrap_or(NONE), guests.base, guests.used];
        self.version.fetch_add(1, Ordering::AcqRel);
        for (word, value) in self.words.iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// What the manager set last; `None` if it does so meanwhile: whoever has the CPU of it waits for nothing by looking again, and others
    /// look again soon.
    pub(crate) fn get(&self) -> Option<Guests> {
        let before = self.version.load(Ordering::Acquire);
        if before % 2 == 1 {
            return None;
        }
        let [thread, base, used] = self
            .words
            .each_ref()
            .map(|word| word.load(Ordering::Relaxed));
        // The manager's next change comes after this one, and after what was read before.
        if self.version.fetch_or(0, Ordering::AcqRel) != before {
            return None;
        }
        let thread = i32::try_from(thread).ok();
        Some(Guests {
            thread: thread.filter(|&thread| thread > 0),
            base,
            used,
        })
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    const fn of(number: u64) -> Guests {
        Guests {
            thread: Some(5),
            base: number,
            used: 10 * number,
        }
    }

    fn read_whole(set: fn(&GuestWord, Guests)) {
        loom::model(move || {
            let word = Arc::new(GuestWord::default());
            let other = Arc::clone(&word);
            let manager = thread::spawn(move || {
                set(&other, of(1));
                set(&other, of(2));
            });
            if let Some(guests) = word.get() {
                assert_eq!(guests.used, 10 * guests.base, "torn");
            }
            manager.join().unwrap();
            assert_eq!(word.get(), Some(of(2)));
        });
    }

    #[test]
    fn what_guests_used_is_read_whole() {
        read_whole(GuestWord::set);
    }

    #[test]
    #[should_panic = "torn"]
    fn refuted_a_version_that_is_changed_relaxed() {
        read_whole(|word, guests| {
            word.version.fetch_add(1, Ordering::Relaxed);
            word.words[0].store(5, Ordering::Relaxed);
            word.words[1].store(guests.base, Ordering::Relaxed);
            word.words[2].store(guests.used, Ordering::Relaxed);
            word.version.fetch_add(1, Ordering::Relaxed);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_what_was_set() {
        let word = GuestWord::default();
        assert_eq!(word.get(), Some(Guests::default()));
        for thread in [None, Some(1), Some(i32::MAX)] {
            let (base, used) = (7, u64::MAX);
            let guests = Guests { thread, base, used };
            word.set(guests);
            assert_eq!(word.get(), Some(guests));
        }
        // While it is written nothing is read.
        word.version.fetch_add(1, Ordering::AcqRel);
        assert_eq!(word.get(), None);
    }
}
