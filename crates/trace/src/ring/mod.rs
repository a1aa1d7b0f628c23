//! A ring for records between one producer and one consumer, without locks.
//!
//! ```text
//!        tail (consumer)          head (producer)
//!          v                        v
//!   | free | full | full | full | full | free | free |      indices grow for ever;
//!                                                            the slot is index & (capacity - 1)
//! ```
//! The producer never waits: what finds no room is counted in [`Consumer::lost`]. Each side keeps a
//! copy of the other's index and looks at the shared one only when the copy says full (or empty), so
//! a record costs one store to a cache line that the other side seldom reads.
//!
//! Invariants: R1 `tail <= head <= tail + capacity`, and only the producer writes `head`, only the
//! consumer `tail`; R2 the slots in `tail..head` hold values, and only the consumer touches them;
//! R3 all other slots belong to the producer. An index is published with `Release` after the slot
//! was written (or read), and read with `Acquire` before the slot is read (or written): that hands
//! the slot over. Indices are taken modulo the range of `usize`, of which the capacity is a divisor
//! and at most a sixteenth: on 32-bit machines they wrap, and differences stay right.
//!
//! How it is checked: the tests run threads against each other; `RUSTFLAGS="--cfg loom" cargo test -p
//! vestal-trace --lib ring::` tries every interleaving of small cases with the loom model checker; `cargo
//! +nightly miri test -p vestal-trace --lib ring::` looks for undefined behaviour.

mod sync;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use core::mem::MaybeUninit;
use sync::{Arc, AtomicUsize, Ordering, UnsafeCell};

/// The largest capacity: 2^28 records.
pub const CAPACITY_MAX: usize = 1 << 28;

/// A line of the cache for itself, so that the two sides do not slow each other down.
#[repr(align(128))]
struct Line<T>(T);

struct Shared<T> {
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
    /// The index of the next slot to write. Written by the producer only.
    head: Line<AtomicUsize>,
    /// The index of the next slot to read. Written by the consumer only.
    tail: Line<AtomicUsize>,
    /// How many values found no room. Written by the producer only.
    lost: Line<AtomicUsize>,
}

// SAFETY: a slot is touched by one side at a time (R2, R3), and handing it over is ordered by the
// indices; so sharing the ring sends values of `T` between threads and nothing else. `T: Copy` has
// no drop code that could run on the wrong thread.
unsafe impl<T: Copy + Send> Sync for Shared<T> {}
// SAFETY: as above; the ring owns its slots.
unsafe impl<T: Copy + Send> Send for Shared<T> {}

impl<T> Shared<T> {
    fn slot(&self, index: usize) -> Option<&UnsafeCell<MaybeUninit<T>>> {
        // The length is a power of two: the mask is the remainder.
        self.slots.get(index & self.slots.len().wrapping_sub(1))
    }

    fn capacity(&self) -> usize {
        self.slots.len()
    }
}

/// The side that writes.
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
    /// The same as the shared head, which no other thread writes.
    head: usize,
    /// A tail seen earlier: the true one is at least this.
    tail_seen: usize,
    /// The same as the shared count, which no other thread writes.
    lost: usize,
}

/// The side that reads.
pub struct Consumer<T> {
    shared: Arc<Shared<T>>,
    /// The same as the shared tail, which no other thread writes.
    tail: usize,
    /// A head seen earlier: the true one is at least this.
    head_seen: usize,
}

/// A ring for at least `capacity` values: the next power of two, at least 2 and at most
/// [`CAPACITY_MAX`].
#[must_use]
pub fn channel<T: Copy + Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let capacity = capacity.clamp(2, CAPACITY_MAX).next_power_of_two();
    let shared = Arc::new(Shared {
        slots: (0..capacity)
            .map(|_| UnsafeCell::new(MaybeUninit::uninit()))
            .collect(),
        head: Line(AtomicUsize::new(0)),
        tail: Line(AtomicUsize::new(0)),
        lost: Line(AtomicUsize::new(0)),
    });
    let producer = Producer {
        shared: Arc::clone(&shared),
        head: 0,
        tail_seen: 0,
        lost: 0,
    };
    let consumer = Consumer {
        shared,
        tail: 0,
        head_seen: 0,
    };
    (producer, consumer)
}

impl<T: Copy + Send> Producer<T> {
    /// Puts a value in; false, and one more lost, if there is no room. Never waits.
    #[inline]
    pub fn push(&mut self, value: T) -> bool {
        if self.head.wrapping_sub(self.tail_seen) >= self.shared.capacity() {
            self.tail_seen = self.shared.tail.0.load(Ordering::Acquire);
            if self.head.wrapping_sub(self.tail_seen) >= self.shared.capacity() {
                self.lost = self.lost.wrapping_add(1);
                self.shared.lost.0.store(self.lost, Ordering::Relaxed);
                return false;
            }
        }
        let Some(slot) = self.shared.slot(self.head) else {
            return false;
        };
        slot.with_mut(|slot| {
            // SAFETY: `head - tail < capacity` was seen with an Acquire load of the tail, so the
            // consumer is done with this slot (R3), and it looks at it again only after the store
            // below. There is one producer, and `&mut self` keeps it from being used twice at once.
            unsafe { (*slot).write(value) };
        });
        self.head = self.head.wrapping_add(1);
        self.shared.head.0.store(self.head, Ordering::Release);
        true
    }

    /// How many values found no room so far.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost as u64
    }
}

impl<T: Copy + Send> Consumer<T> {
    /// Takes the oldest value out.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.tail == self.head_seen {
            self.head_seen = self.shared.head.0.load(Ordering::Acquire);
            if self.tail == self.head_seen {
                return None;
            }
        }
        let slot = self.shared.slot(self.tail)?;
        let value = slot.with(|slot| {
            // SAFETY: `tail < head` was seen with an Acquire load of the head, so the producer has
            // written this slot (R2) and leaves it alone until the store below. There is one
            // consumer, and `&mut self` keeps it from being used twice at once.
            unsafe { (*slot).assume_init() }
        });
        self.tail = self.tail.wrapping_add(1);
        self.shared.tail.0.store(self.tail, Ordering::Release);
        Some(value)
    }

    /// How many values found no room so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.lost.0.load(Ordering::Relaxed) as u64
    }
}

impl<T> core::fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Producer")
            .field("written", &self.head)
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

impl<T> core::fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Consumer")
            .field("read", &self.tail)
            .finish_non_exhaustive()
    }
}
