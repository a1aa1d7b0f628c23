//! A letter at a time from one thread to another.
//!
//! ```text
//! sender:     finds it empty     writes the letter     state := full
//! receiver:   finds it full      reads the letter      state := empty     (and wakes the sender)
//! ```
//! Each side reads the state with Acquire and changes it with Release, so that a letter is read whole and
//! never overwritten while it is read.

use super::sync::{AtomicU32, AtomicU64, Ordering, wait_while, wake_all};
use std::marker::PhantomData;

/// What fits into a mailbox of `N` words.
pub(crate) trait Letter<const N: usize>: Copy {
    /// As words.
    fn to_words(self) -> [u64; N];
    /// What [`Self::to_words`] was made of.
    fn from_words(words: [u64; N]) -> Self;
}

const EMPTY: u32 = 0;
const FULL: u32 = 1;
/// Full, and the sender waits: whoever empties it wakes the sender.
const AWAITED: u32 = 2;

/// Holds one letter, or none. The receiver is called by other means; the sender can wait until it is empty.
#[derive(Debug)]
pub(crate) struct Mailbox<T, const N: usize> {
    state: AtomicU32,
    /// Read and written Relaxed: the state says when.
    words: [AtomicU64; N],
    letter: PhantomData<fn() -> T>,
}

impl<T, const N: usize> Default for Mailbox<T, N> {
    fn default() -> Self {
        Self {
            state: AtomicU32::new(EMPTY),
            words: std::array::from_fn(|_| AtomicU64::new(0)),
            letter: PhantomData,
        }
    }
}

impl<T: Letter<N>, const N: usize> Mailbox<T, N> {
    /// Whether there is a letter that was not taken. If not, the sender sees all that the receiver did before.
    pub(crate) fn is_full(&self) -> bool {
        self.state.load(Ordering::Acquire) != EMPTY
    }

    /// Puts a letter in; by the sender, which knows that the one before was taken.
    pub(crate) fn put(&self, letter: T) {
        debug_assert!(!self.is_full(), "the letter before was not taken");
        for (word, value) in self.words.iter().zip(letter.to_words()) {
            word.store(value, Ordering::Relaxed);
        }
        self.state.store(FULL, Ordering::Release);
    }

    /// The letter that is there, which stays; by the receiver.
    pub(crate) fn look(&self) -> Option<T> {
        self.is_full().then(|| {
            let words = self.words.each_ref();
            T::from_words(words.map(|word| word.load(Ordering::Relaxed)))
        })
    }

    /// Takes the letter out, and wakes the sender if it waits for that; by the receiver.
    pub(crate) fn take(&self) -> Option<T> {
        let letter = self.look()?;
        if self.state.swap(EMPTY, Ordering::AcqRel) == AWAITED {
            wake_all(&self.state);
        }
        Some(letter)
    }

    /// Waits until the letter was taken, or until the clock reads `deadline_nanos`. May return earlier; by the sender.
    pub(crate) fn wait_until_taken(&self, deadline_nanos: Option<u64>) {
        // Fails if it waited before, or if the letter was taken meanwhile: then so does the wait.
        let _ = self
            .state
            .compare_exchange(FULL, AWAITED, Ordering::AcqRel, Ordering::Acquire);
        wait_while(&self.state, AWAITED, deadline_nanos);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    impl Letter<2> for (u64, u64) {
        fn to_words(self) -> [u64; 2] {
            [self.0, self.1]
        }
        fn from_words([first, second]: [u64; 2]) -> Self {
            (first, second)
        }
    }

    type Pairs = Mailbox<(u64, u64), 2>;

    fn two_letters(put: fn(&Pairs, (u64, u64))) {
        loom::model(move || {
            let mailbox = Arc::new(Pairs::default());
            let done = Arc::new(AtomicU64::new(0));
            let (other, other_done) = (Arc::clone(&mailbox), Arc::clone(&done));
            let sender = thread::spawn(move || {
                put(&other, (1, 10));
                while other.is_full() {
                    other.wait_until_taken(None);
                }
                // What the receiver did about it before it took it.
                assert_eq!(other_done.load(Ordering::Relaxed), 1, "taken before done");
                put(&other, (2, 20));
            });
            for number in 1..=2 {
                while mailbox.look().is_none() {
                    thread::yield_now();
                }
                if number == 1 {
                    done.store(number, Ordering::Relaxed);
                }
                let letter = mailbox.take().unwrap();
                assert_eq!(letter, (number, 10 * number), "torn, lost or twice");
            }
            sender.join().unwrap();
            assert_eq!(mailbox.take(), None);
        });
    }

    #[test]
    fn letters_arrive_whole_in_order_and_once() {
        two_letters(|mailbox, letter| mailbox.put(letter));
    }

    #[test]
    #[should_panic = "torn, lost or twice"]
    fn refuted_a_state_that_is_stored_relaxed_shows_old_words() {
        two_letters(|mailbox, letter| {
            mailbox.words[0].store(letter.0, Ordering::Relaxed);
            mailbox.words[1].store(letter.1, Ordering::Relaxed);
            mailbox.state.store(FULL, Ordering::Relaxed);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    impl Letter<1> for u64 {
        fn to_words(self) -> [u64; 1] {
            [self]
        }
        fn from_words([word]: [u64; 1]) -> Self {
            word
        }
    }

    #[test]
    fn a_sender_that_waits_goes_on_when_its_letter_was_taken_and_not_before() {
        const LETTERS: u64 = 200;
        let (mailbox, begun) = (Mailbox::<u64, 1>::default(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..LETTERS {
                    begun.store(number + 1, Ordering::Relaxed);
                    mailbox.put(number);
                    while mailbox.is_full() {
                        mailbox.wait_until_taken(None);
                    }
                }
            });
            for number in 0..LETTERS {
                while mailbox.look().is_none() {
                    std::thread::yield_now();
                }
                assert_eq!(begun.load(Ordering::Relaxed), number + 1);
                assert_eq!(
                    (mailbox.look(), mailbox.take()),
                    (Some(number), Some(number))
                );
            }
            assert_eq!(mailbox.take(), None);
        });
    }
}
