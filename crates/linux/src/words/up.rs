//! A queue of facts from one thread to whoever has the turn to read them.
//!
//! ```text
//! writer:   finds room (head, Acquire)     writes the words     tail := one more, Release
//! reader:   finds one (tail, Acquire)      reads the words      head := one more, Release
//! ```
//! There is one writer, and one reader at a time: readers follow one another by a word of their own ([`super::Turn`]).

use super::sync::{AtomicU64, Ordering};

/// So many facts of `N` words each at most.
#[derive(Debug)]
pub(crate) struct Up<const N: usize> {
    /// How many were read.
    head: AtomicU64,
    /// How many were written.
    tail: AtomicU64,
    /// Read and written Relaxed: head and tail say when.
    places: Box<[[AtomicU64; N]]>,
}

impl<const N: usize> Up<N> {
    /// For so many facts, at least one.
    pub(crate) fn new(places: usize) -> Self {
        let place = |_| std::array::from_fn(|_| AtomicU64::new(0));
        Self {
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            places: (0..places.max(1)).map(place).collect(),
        }
    }

    /// The place of the fact with this number.
    fn place(&self, number: u64) -> Option<&[AtomicU64; N]> {
        let index = number.checked_rem(self.room())?;
        self.places.get(usize::try_from(index).ok()?)
    }

    fn room(&self) -> u64 {
        u64::try_from(self.places.len()).unwrap_or(u64::MAX)
    }

    /// Adds a fact; says whether there was room for it. By the writer.
    pub(crate) fn push(&self, fact: [u64; N]) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        let waiting = tail.wrapping_sub(self.head.load(Ordering::Acquire));
        let place = self.place(tail).filter(|_| waiting < self.room());
        let Some(place) = place else {
            return false;
        };
        for (word, value) in place.iter().zip(fact) {
            word.store(value, Ordering::Relaxed);
        }
        self.tail.store(tail.wrapping_add(1), Ordering::Release);
        true
    }

    /// Takes the oldest fact out. By the reader.
    pub(crate) fn take(&self) -> Option<[u64; N]> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        let words = self.place(head)?.each_ref();
        let fact = words.map(|word| word.load(Ordering::Relaxed));
        self.head.store(head.wrapping_add(1), Ordering::Release);
        Some(fact)
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    type Pairs = Up<2>;
    type Take = fn(&Pairs) -> Option<[u64; 2]>;

    const FACTS: u64 = 2;

    /// There is room for one fact; the writer waits for it. The reader changes once. Three threads: all interleavings with at most
    /// three preemptions.
    fn two_facts(push: fn(&Pairs, [u64; 2]) -> bool, take: Take) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let up = Arc::new(Pairs::new(1));
            let taken = Arc::new(Mutex::new(0));
            let writer = Arc::clone(&up);
            let writer = thread::spawn(move || {
                for number in 1..=FACTS {
                    while !push(&writer, [number, 10 * number]) {
                        thread::yield_now();
                    }
                }
            });
            let look = move |up: &Pairs, taken: &Mutex<u64>| {
                let mut taken = taken.lock().unwrap();
                if let Some(fact) = take(up) {
                    *taken += 1;
                    assert_eq!(fact, [*taken, 10 * *taken], "torn, lost or twice");
                }
                *taken == FACTS
            };
            let (other, count) = (Arc::clone(&up), Arc::clone(&taken));
            let reader = thread::spawn(move || {
                look(&other, &count);
            });
            while !look(&up, &taken) {
                thread::yield_now();
            }
            reader.join().unwrap();
            writer.join().unwrap();
            assert_eq!(up.take(), None);
        });
    }

    #[test]
    fn facts_arrive_whole_in_order_and_once_whoever_reads() {
        two_facts(Pairs::push, Pairs::take);
    }

    #[test]
    #[should_panic = "torn, lost or twice"]
    fn refuted_a_tail_that_is_stored_relaxed() {
        two_facts(
            |up, fact| {
                let tail = up.tail.load(Ordering::Relaxed);
                if tail > up.head.load(Ordering::Acquire) {
                    return false;
                }
                for (word, value) in up.place(tail).unwrap().iter().zip(fact) {
                    word.store(value, Ordering::Relaxed);
                }
                up.tail.store(tail + 1, Ordering::Relaxed);
                true
            },
            Pairs::take,
        );
    }

    #[test]
    #[should_panic = "torn, lost or twice"]
    fn refuted_a_head_that_is_stored_before_the_words_are_read() {
        two_facts(Pairs::push, |up| {
            let head = up.head.load(Ordering::Relaxed);
            if head == up.tail.load(Ordering::Acquire) {
                return None;
            }
            up.head.store(head + 1, Ordering::Release);
            let words = up.place(head)?.each_ref();
            Some(words.map(|word| word.load(Ordering::Relaxed)))
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Against the queue of the standard library.
    #[test]
    fn what_finds_room_comes_out_in_its_order() {
        for room in [0, 1, 2, 3, 7] {
            let (up, mut twin) = (Up::<1>::new(room), VecDeque::new());
            let room = room.max(1);
            for step in 0..200_u64 {
                if step * step % 7 < 4 {
                    let has_room = twin.len() < room;
                    assert_eq!(up.push([step]), has_room);
                    if has_room {
                        twin.push_back([step]);
                    }
                } else {
                    assert_eq!(up.take(), twin.pop_front());
                }
            }
        }
    }

    /// Numbers wrap round after more facts than any run has.
    #[test]
    fn numbers_may_wrap_round() {
        let up = Up::<1>::new(4);
        up.head.store(u64::MAX, Ordering::Relaxed);
        up.tail.store(u64::MAX, Ordering::Relaxed);
        for fact in 0..4 {
            assert!(up.push([fact]));
        }
        assert!(!up.push([4]));
        assert_eq!(up.take(), Some([0]));
    }
}
