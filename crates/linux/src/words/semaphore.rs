//! Where a thread waits for what others say, one time for each time that they say it.

use super::sync::{AtomicU32, Ordering, wait_while, wake_all};

/// In the lowest bit; above it stands how often it was posted and not taken.
const CLOSED: u32 = 1;
const ONCE: u32 = 2;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It was posted, and that was taken.
    Posted,
    /// It was closed for good: nobody waits any more.
    Closed,
    /// The clock reads as much as was said.
    TimedOut,
}

impl Taken {
    /// Since when a thread was wanted that waits no more `now`, for something posted at that instant. Who ends it, or what it waited for
    /// in vain, wanted nothing of it before.
    pub(crate) fn wanted(self, posted: u64, now: u64) -> u64 {
        match self {
            Self::Posted => posted.min(now),
            Self::Closed | Self::TimedOut => now,
        }
    }
}

/// A semaphore over a futex, as that of the C library: [`Self::post`] is never lost, and each is taken once. Beyond that it
/// can be closed: then nobody waits any more, whatever was posted.
#[derive(Debug, Default)]
pub(crate) struct Semaphore(AtomicU32);

impl Semaphore {
    /// Lets one wait end, now or later; who takes it sees what was written before.
    pub(crate) fn post(&self) {
        self.0.fetch_add(ONCE, Ordering::AcqRel);
        wake_all(&self.0);
    }

    /// Ends all waits, for ever.
    pub(crate) fn close(&self) {
        self.0.fetch_or(CLOSED, Ordering::AcqRel);
        wake_all(&self.0);
    }

    /// Takes one that was posted, if there is one; does not wait.
    pub(crate) fn look(&self) -> Option<Taken> {
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            if word & CLOSED != 0 {
                return Some(Taken::Closed);
            }
            let less = word.checked_sub(ONCE)?;
            let taken = self
                .0
                .compare_exchange(word, less, Ordering::AcqRel, Ordering::Acquire);
            match taken {
                Ok(_) => return Some(Taken::Posted),
                Err(other) => word = other,
            }
        }
    }

    /// Waits for one that is posted, until `now` reads `deadline_nanos` at the latest, if there is such an instant.
    pub(crate) fn wait(&self, deadline_nanos: Option<u64>, now: impl Fn() -> u64) -> Taken {
        loop {
            if let Some(taken) = self.look() {
                return taken;
            }
            if deadline_nanos.is_some_and(|deadline| now() >= deadline) {
                return Taken::TimedOut;
            }
            // Nothing was posted, and it is open: the word is 0.
            wait_while(&self.0, 0, deadline_nanos);
        }
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// One side writes and posts twice, the other takes both, and sees with each what was written before it.
    fn two_posts(look: fn(&Semaphore) -> Option<Taken>) {
        loom::model(move || {
            let (semaphore, work) = (Arc::new(Semaphore::default()), Arc::new(AtomicU32::new(0)));
            let (other, other_work) = (Arc::clone(&semaphore), Arc::clone(&work));
            let poster = thread::spawn(move || {
                for done in 1..=2 {
                    other_work.store(done, Ordering::Relaxed);
                    other.post();
                }
            });
            for wanted in 1..=2 {
                while look(&semaphore).is_none() {
                    // As in the kernel there is no other way out of the wait than a change.
                    wait_while(&semaphore.0, 0, None);
                }
                assert!(work.load(Ordering::Relaxed) >= wanted, "an old word");
            }
            poster.join().unwrap();
            assert_eq!(semaphore.look(), None, "taken too seldom");
        });
    }

    #[test]
    fn each_post_is_taken_once_and_shows_what_was_written_before() {
        two_posts(Semaphore::look);
    }

    #[test]
    #[should_panic = "an old word"]
    fn refuted_a_look_that_takes_relaxed_shows_old_words() {
        two_posts(|semaphore| {
            let word = semaphore.0.load(Ordering::Relaxed);
            let less = word.checked_sub(ONCE)?;
            let taken =
                semaphore
                    .0
                    .compare_exchange(word, less, Ordering::Relaxed, Ordering::Relaxed);
            taken.ok().map(|_| Taken::Posted)
        });
    }

    #[test]
    #[should_panic = "taken too seldom"]
    fn refuted_a_look_that_takes_by_a_store_miscounts_posts() {
        two_posts(|semaphore| {
            let less = semaphore.0.load(Ordering::Acquire).checked_sub(ONCE)?;
            semaphore.0.store(less, Ordering::Release);
            Some(Taken::Posted)
        });
    }

    /// Two posts, two takers: none gets both.
    #[test]
    fn two_takers_take_one_each() {
        loom::model(|| {
            let semaphore = Arc::new(Semaphore::default());
            semaphore.post();
            let other = Arc::clone(&semaphore);
            let taker = thread::spawn(move || other.look());
            let here = semaphore.look();
            let there = taker.join().unwrap();
            assert_ne!(here.is_some(), there.is_some(), "{here:?} {there:?}");
        });
    }

    /// One waits for what is never posted, and the run ends: the wait does, too.
    #[test]
    fn a_semaphore_that_is_closed_frees_who_waits() {
        loom::model(|| {
            let semaphore = Arc::new(Semaphore::default());
            let other = Arc::clone(&semaphore);
            let waiting = thread::spawn(move || other.wait(None, || 0));
            semaphore.close();
            assert_eq!(waiting.join().unwrap(), Taken::Closed);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use vestal_sys::clock::monotonic_nanos;

    #[test]
    fn what_was_posted_is_taken_as_often_and_not_when_it_is_closed() {
        let semaphore = Semaphore::default();
        assert_eq!(semaphore.look(), None);
        semaphore.post();
        semaphore.post();
        assert_eq!(semaphore.wait(None, || 0), Taken::Posted);
        assert_eq!(semaphore.look(), Some(Taken::Posted));
        assert_eq!(semaphore.look(), None);
        semaphore.post();
        semaphore.close();
        semaphore.post();
        assert_eq!(semaphore.look(), Some(Taken::Closed));
        assert_eq!(semaphore.wait(None, || 0), Taken::Closed);
    }

    #[test]
    fn a_wait_ends_at_its_deadline_and_before_it_if_it_is_posted() {
        let semaphore = Semaphore::default();
        let until = monotonic_nanos() + 2_000_000;
        assert_eq!(
            semaphore.wait(Some(until), monotonic_nanos),
            Taken::TimedOut
        );
        assert!(monotonic_nanos() >= until);
        let far = monotonic_nanos() + 20_000_000_000;
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| semaphore.wait(Some(far), monotonic_nanos));
            semaphore.post();
            assert_eq!(waits.join().unwrap(), Taken::Posted);
        });
    }
}
