//! What threads that come and go have used of one CPU.

use super::sync::{AtomicU64, Ordering};

/// What the guests of a CPU have used of it.
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

    /// What the manager set last, with the present guest's clock, which `clock` reads; `None` if it sets anew meanwhile: whoever has
    /// the CPU of it waits for nothing by looking again, and others look again soon.
    ///
    /// The word is asked again after the clock was read. A guest goes to another CPU when the manager has set that it left, so a clock
    /// that counts what it used there is never taken for one of this CPU.
    pub(crate) fn get_with<C>(&self, clock: impl FnOnce(i32) -> C) -> Option<(Guests, Option<C>)> {
        let before = self.version.load(Ordering::Acquire);
        if before % 2 == 1 {
            return None;
        }
        let [thread, base, used] = self
            .words
            .each_ref()
            .map(|word| word.load(Ordering::Relaxed));
        let thread = i32::try_from(thread).ok().filter(|&thread| thread > 0);
        let clock = thread.map(clock);
        // The manager's next change comes after this one, and after what was read before.
        let is_still = self.version.fetch_or(0, Ordering::AcqRel) == before;
        let guests = Guests { thread, base, used };
        is_still.then_some((guests, clock))
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// Each has a thread of its own.
    fn of(number: u64) -> Guests {
        Guests {
            thread: i32::try_from(number).ok(),
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
            if let Some((guests, clock)) = word.get_with(|thread| thread) {
                assert_eq!(guests.used, 10 * guests.base, "torn");
                let thread = guests.thread.unwrap_or(0);
                assert_eq!(u64::try_from(thread), Ok(guests.base), "torn");
                assert_eq!(clock, guests.thread);
            }
            manager.join().unwrap();
            assert_eq!(word.get_with(|_| ()), Some((of(2), Some(()))));
        });
    }

    #[test]
    fn what_guests_used_is_read_whole() {
        read_whole(GuestWord::set);
    }

    /// By a relaxed version, with the thread's number as the last word or the first.
    fn set_relaxed(word: &GuestWord, guests: Guests, order: [usize; 3]) {
        let thread = u64::try_from(guests.thread.unwrap()).unwrap();
        let words = [thread, guests.base, guests.used];
        word.version.fetch_add(1, Ordering::Relaxed);
        for place in order {
            word.words[place].store(words[place], Ordering::Relaxed);
        }
        word.version.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    #[should_panic = "torn"]
    fn refuted_a_version_that_is_changed_relaxed() {
        read_whole(|word, guests| set_relaxed(word, guests, [0, 1, 2]));
    }

    /// The guest has used 3 here, goes, and uses 20 elsewhere.
    fn a_guest_goes(used: fn(&GuestWord, &AtomicU64) -> Option<u64>) {
        loom::model(move || {
            let shared = Arc::new((GuestWord::default(), AtomicU64::new(0)));
            let come = Guests {
                thread: Some(7),
                base: 0,
                used: 100,
            };
            shared.0.set(come);
            let other = Arc::clone(&shared);
            let manager = thread::spawn(move || {
                let (word, clock) = &*other;
                clock.store(3, Ordering::Release);
                let gone = Guests {
                    thread: None,
                    base: 0,
                    used: 103,
                };
                word.set(gone);
                clock.store(23, Ordering::Release);
            });
            let (word, clock) = &*shared;
            if let Some(used) = used(word, clock) {
                assert!(matches!(used, 100 | 103), "used elsewhere: {used}");
            }
            manager.join().unwrap();
        });
    }

    fn all_of(guests: Guests, clock: Option<u64>) -> u64 {
        let present = clock.map_or(0, |clock| clock - guests.base);
        guests.used + present
    }

    #[test]
    fn what_a_guest_uses_elsewhere_is_not_used_here() {
        a_guest_goes(|word, clock| {
            let (guests, clock) = word.get_with(|_| clock.load(Ordering::Acquire))?;
            Some(all_of(guests, clock))
        });
    }

    #[test]
    #[should_panic = "used elsewhere"]
    fn refuted_reading_the_clock_after_the_word_was_asked_again() {
        a_guest_goes(|word, clock| {
            let (guests, clock) = word.get_with(|_| clock)?;
            let clock = clock.map(|clock| clock.load(Ordering::Acquire));
            Some(all_of(guests, clock))
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_what_was_set() {
        let word = GuestWord::default();
        let none = |_| -> u64 { unreachable!("there is no guest") };
        assert_eq!(word.get_with(none), Some((Guests::default(), None)));
        for thread in [None, Some(1), Some(i32::MAX)] {
            let (base, used) = (7, u64::MAX);
            let guests = Guests { thread, base, used };
            word.set(guests);
            let clock = thread.map(i64::from);
            assert_eq!(word.get_with(i64::from), Some((guests, clock)));
        }
        // While it is written nothing is read.
        word.version.fetch_add(1, Ordering::AcqRel);
        assert_eq!(word.get_with(|_| ()), None);
    }
}
