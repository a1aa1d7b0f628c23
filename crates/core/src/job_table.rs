//! The jobs of one task that a scheduler has to remember: the current one and its bounded backlog.

use crate::ids::JobId;
pub use crate::model::BACKLOG_MAX;
use crate::order::JobPriority;
use crate::scheduler::ContractViolation;
use crate::time::{Instant, Service};
use core::hash::{Hash, Hasher};

/// A release that was reported, and of which nothing was decided yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Staged {
    /// Its number among the releases of its task.
    pub sequence: u64,
    /// When it was released.
    pub at: Instant,
}

/// A released job that has not become its task's current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrival {
    /// Its number among the releases of its task.
    pub sequence: u64,
    /// When it was released.
    pub at: Instant,
    /// Its fixed priority where each job has its own; taken from a list when it is admitted.
    pub priority: JobPriority,
}

impl Arrival {
    /// An arrival without a priority of its own so far.
    #[inline]
    #[must_use]
    pub const fn new(sequence: u64, at: Instant) -> Self {
        Self {
            sequence,
            at,
            priority: JobPriority::BEYOND_PATTERN,
        }
    }
}

impl From<Staged> for Arrival {
    #[inline]
    fn from(Staged { sequence, at }: Staged) -> Self {
        Self::new(sequence, at)
    }
}

/// How a current job stands with enforcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It competes by its urgency, and counts as pending.
    Admitted,
    /// It used up its limit: it runs only where no admitted job wants the CPU, and does not count.
    Background,
    /// It has executed what it was granted so far, and waits for more; it counts as pending.
    Suspended,
}

/// The job of a task that may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Current {
    /// Which release, and when.
    pub arrival: Arrival,
    /// What it has executed, as charged.
    pub executed: Service,
    /// How it stands with enforcement.
    pub standing: Standing,
}

/// The jobs of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Jobs {
    /// The job that may run.
    pub current: Option<Current>,
    /// Admitted jobs that wait for the current one to end, oldest first.
    pub waiting: Ring,
    /// Releases of the present instant that were not admitted yet, oldest first.
    pub arrived: Ring<Staged>,
    /// The smallest sequence the next release may have.
    pub next_sequence: u64,
    /// The current job was reported complete since the last decision.
    pub completed: bool,
    /// A job that completed since the last decision, although it had been charged more than its
    /// limit and the world's granularity allow: its number and what it executed.
    pub overran: Option<(u64, Service)>,
}

// A power of two: the place of a task in a table is one shift. Decisions look it up ten times for each job.
const _: () = assert!(size_of::<Jobs>() <= 256);

impl Jobs {
    /// No jobs so far.
    pub const NONE: Self = Self {
        current: None,
        waiting: Ring::EMPTY,
        arrived: Ring::EMPTY,
        next_sequence: 0,
        completed: false,
        overran: None,
    };

    /// The current job, if it is release number `sequence`.
    #[inline]
    #[must_use]
    pub fn current_if(&self, sequence: u64) -> Option<&Current> {
        self.current
            .as_ref()
            .filter(|current| current.arrival.sequence == sequence)
    }

    /// Whether the current job is in the background.
    #[inline]
    #[must_use]
    pub fn in_background(&self) -> bool {
        self.current
            .as_ref()
            .is_some_and(|current| current.standing == Standing::Background)
    }

    /// Makes an arrival the current job, of which nothing is known yet.
    #[inline]
    pub fn begin(&mut self, arrival: Arrival) {
        self.current = Some(Current {
            arrival,
            executed: Service::ZERO,
            standing: Standing::Admitted,
        });
        self.completed = false;
    }

    /// Makes the oldest waiting job the current one; says whether there was one.
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.completed = false;
        self.current = None;
        // No job waits but where a deadline was missed.
        !self.waiting.is_empty() && self.advance_waiting()
    }

    #[cold]
    fn advance_waiting(&mut self) -> bool {
        let Some(arrival) = self.waiting.pop() else {
            return false;
        };
        self.begin(arrival);
        true
    }
}

/// What a [`Ring`] holds.
pub trait Queued: Copy + PartialEq + Eq + Hash {
    /// Stands where nothing is queued.
    const FILLER: Self;
}

impl Queued for Staged {
    const FILLER: Self = Self {
        sequence: 0,
        at: Instant::EPOCH,
    };
}

impl Queued for Arrival {
    const FILLER: Self = Self::new(0, Instant::EPOCH);
}

/// A first-in, first-out queue of at most [`BACKLOG_MAX`] arrivals.
///
/// Two queues are equal if they hold the same; what stands behind their ends does not count.
#[derive(Clone, Copy, Debug)]
pub struct Ring<T: Queued = Arrival> {
    entries: [T; BACKLOG_MAX],
    len: usize,
}

impl<T: Queued> PartialEq for Ring<T> {
    fn eq(&self, other: &Self) -> bool {
        self.queued() == other.queued()
    }
}

impl<T: Queued> Eq for Ring<T> {}

impl<T: Queued> Hash for Ring<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.queued().hash(state);
    }
}

impl<T: Queued> Ring<T> {
    /// No arrivals.
    pub const EMPTY: Self = Self {
        entries: [T::FILLER; BACKLOG_MAX],
        len: 0,
    };

    /// Appends an arrival; says whether there was room.
    #[inline]
    #[must_use]
    pub fn push(&mut self, arrival: T) -> bool {
        let len = self.len;
        match self.entries.get_mut(len) {
            Some(entry) => {
                *entry = arrival;
                self.len = len.saturating_add(1);
                true
            }
            None => false,
        }
    }

    /// Takes the oldest arrival. The others move up: there are three at most.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        let [first, second, third, fourth] = self.entries;
        // What nearly every release finds: nothing has to move up.
        if self.len != 0 {
            self.entries = [second, third, fourth, fourth];
        }
        Some(first)
    }

    /// The arrivals in the queue.
    fn queued(&self) -> &[T] {
        self.entries.get(..self.len).unwrap_or(&self.entries)
    }

    /// Whether there is no room.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.len >= BACKLOG_MAX
    }

    /// Whether nothing waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Ring<Staged> {
    /// Records the release of a job whose sequence is at least `next_sequence`, which is the one after it then.
    pub(crate) fn stage(
        &mut self,
        next_sequence: &mut u64,
        at: Instant,
        job: JobId,
    ) -> Result<(), ContractViolation> {
        let next = match job.sequence.checked_add(1) {
            Some(next) if job.sequence >= *next_sequence => next,
            Some(_) | None => return Err(ContractViolation::ReleaseOutOfOrder(job)),
        };
        let sequence = job.sequence;
        if !self.push(Staged { sequence, at }) {
            let capacity = BACKLOG_MAX;
            return Err(ContractViolation::TooManyFacts { capacity });
        }
        *next_sequence = next;
        Ok(())
    }
}
