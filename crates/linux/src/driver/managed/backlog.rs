//! The releases of one task that the scheduler has no room for, and how much room it has (contract C7).
//!
//! Memory is set aside beforehand: a manager in a real-time class asks for none. Kept releases are numbers,
//! because the instant of each follows from its number, and numbers that follow one another are one entry:
//! without a limit there is never more than one.

use std::collections::VecDeque;
use vestal_core::job_table::BACKLOG_MAX;

/// So many jobs of a task may wait in a scheduler that lets any number wait before memory is asked for.
pub(super) const WAITING: usize = 1_024;

/// The jobs that the scheduler knows, and those that it does not know yet.
#[derive(Debug)]
pub(super) struct Backlog {
    /// How many jobs the scheduler may know.
    room: usize,
    /// How many may wait behind the current one; `None`: any number.
    most: Option<usize>,
    /// Reported, and neither ended nor dropped.
    known: VecDeque<u64>,
    /// Not reported: first and last number of each entry, oldest first.
    kept: VecDeque<(u64, u64)>,
    kept_count: usize,
}

impl Backlog {
    /// For a scheduler that lets `waiting` jobs of a task wait. One that lets any number wait has to know of every
    /// release, and drops what finds no room itself: then nothing is kept or dropped here, whatever `most` says.
    pub(super) fn new(waiting: usize, most: Option<usize>) -> Self {
        let most = most.filter(|_| waiting < usize::MAX);
        let behind = most.map_or(waiting, |most| most.min(waiting));
        let room = behind.saturating_add(1);
        let entries = most.map_or(1, |most| most / 2 + 2);
        let known = if waiting < usize::MAX {
            room.min(2 * BACKLOG_MAX)
        } else {
            WAITING
        };
        Self {
            room,
            most,
            known: VecDeque::with_capacity(known.saturating_add(1)),
            kept: VecDeque::with_capacity(entries),
            kept_count: 0,
        }
    }

    /// For how many known jobs memory was set aside.
    pub(super) fn reserved(&self) -> usize {
        self.known.capacity()
    }

    /// How many jobs are kept.
    pub(super) const fn kept(&self) -> usize {
        self.kept_count
    }

    /// Whether the scheduler has room for one more job; one in the background makes room.
    pub(super) fn has_room(&self, in_background: bool) -> bool {
        self.known.len() < self.room.saturating_add(usize::from(in_background))
    }

    /// Whether as many jobs wait as may.
    pub(super) fn is_full(&self, in_background: bool) -> bool {
        let current = 1 + usize::from(in_background);
        let waiting = self.known.len().saturating_sub(current) + self.kept_count;
        self.most.is_some_and(|most| waiting >= most)
    }

    /// The scheduler knows of job `sequence`.
    pub(super) fn report(&mut self, sequence: u64) {
        self.known.push_back(sequence);
    }

    /// Job `sequence` has ended, or was dropped, and the scheduler knows it.
    pub(super) fn forget(&mut self, sequence: u64) {
        self.known.retain(|known| *known != sequence);
    }

    /// Keeps job `sequence`, the youngest.
    pub(super) fn keep(&mut self, sequence: u64) {
        self.kept_count += 1;
        if let Some((_, last)) = self.kept.back_mut()
            && last.checked_add(1) == Some(sequence)
        {
            *last = sequence;
            return;
        }
        self.kept.push_back((sequence, sequence));
    }

    /// Takes the oldest kept job.
    pub(super) fn take_kept(&mut self) -> Option<u64> {
        let (first, last) = self.kept.front_mut()?;
        let sequence = *first;
        if sequence == *last {
            self.kept.pop_front();
        } else {
            *first = sequence.saturating_add(1);
        }
        self.kept_count -= 1;
        Some(sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_jobs_come_back_in_their_order_and_need_no_memory_that_was_not_set_aside() {
        for most in [None, Some(0), Some(3), Some(8)] {
            let mut backlog = Backlog::new(4, most);
            let capacity = (backlog.known.capacity(), backlog.kept.capacity());
            let (mut known, mut kept): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
            let mut dropped = 0;
            let room = 1 + most.unwrap_or(4).min(4);
            let mut arrivals = 0..;
            for step in 0..2_000_u64 {
                // Three arrive for each that ends.
                if step % 4 == 3 && !known.is_empty() {
                    backlog.forget(known.remove(0));
                    assert!(backlog.has_room(false));
                    let next = backlog.take_kept();
                    assert_eq!(next, (!kept.is_empty()).then(|| kept.remove(0)));
                    next.into_iter().for_each(|job| {
                        backlog.report(job);
                        known.push(job);
                    });
                    continue;
                }
                let job: u64 = arrivals.next().unwrap();
                if kept.is_empty() && known.len() < room {
                    assert!(backlog.has_room(false));
                    backlog.report(job);
                    known.push(job);
                } else {
                    assert!(kept.is_empty() || !backlog.has_room(false));
                    let full = most.is_some_and(|most| known.len() - 1 + kept.len() >= most);
                    assert_eq!(backlog.is_full(false), full, "{most:?} {step}");
                    if full {
                        dropped += 1;
                    } else {
                        backlog.keep(job);
                        kept.push(job);
                    }
                }
                assert_eq!(backlog.kept(), kept.len());
            }
            assert_eq!(
                (backlog.known.capacity(), backlog.kept.capacity()),
                capacity
            );
            assert_eq!(dropped > 0, most.is_some());
        }
    }

    #[test]
    fn a_scheduler_that_knows_of_every_release_always_has_room() {
        for most in [None, Some(0), Some(3)] {
            let mut backlog = Backlog::new(usize::MAX, most);
            for job in 0..100 {
                assert!(backlog.has_room(false) && !backlog.is_full(false));
                backlog.report(job);
            }
        }
    }

    #[test]
    fn a_job_in_the_background_makes_room_for_the_next_one() {
        let mut backlog = Backlog::new(4, Some(0));
        backlog.report(0);
        assert!(!backlog.has_room(false) && backlog.is_full(false));
        assert!(backlog.has_room(true));
    }
}
