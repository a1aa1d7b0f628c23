//! Fixed job priorities from lists: PLRS (Guan, Ekberg, Stigge and Yi, RTSS 2011; the lists are
//! those of Li and Baruah, RTSS 2010).
//!
//! An analysis bounds the number of jobs of each task in a busy period and gives each of them a
//! priority: task i has the decreasing list L_i. At run time task i has a remaining list A_i.
//!
//! - When jobs arrive and none is pending, A_j := L_j for every task.
//! - When jobs arrive and the most urgent pending job has priority p, a fresh busy period of all
//!   priorities above p begins: for every task the r entries of A_j above p are replaced by the first
//!   r entries of L_j.
//! - An arriving job takes the head of its task's list and keeps that priority until it ends.
//!
//! The reuse step is done once for all arrivals of an instant, before any of them takes a priority,
//! and after the completions and drops of that instant. A job that finds its list empty exceeds the
//! pattern that was analysed: it goes behind all others and is counted. With a sound pattern the
//! count stays 0.
//!
//! Invariants: every A_j is decreasing; no entry stands in two lists; entries of A_j at or below p
//! are never touched by the reuse step. Complexity: O(entries above p) per instant with arrivals.

use crate::ids::TaskId;
use crate::store::Store;

/// The priority of a job within the lists; larger is more urgent, and 0 is below every list entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct JobPriority(pub u32);

impl JobPriority {
    /// The priority of a job that exceeds the pattern its lists were made for.
    pub const BEYOND_PATTERN: Self = Self(0);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Span {
    /// Where the task's list starts in the tables.
    first: usize,
    /// How long it is.
    len: usize,
    /// How many entries at its front have been taken.
    taken: usize,
}

/// The lists of all tasks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobLists<S: Store> {
    offline: S::Table<u32>,
    /// A_i stands in its task's span from `taken` on.
    remaining: S::Table<u32>,
    spans: S::Table<Span>,
    exceeded: u64,
}

impl<S: Store> JobLists<S> {
    /// Lists from L_i of each task in task order, entries counted from 0 as in the literature.
    ///
    /// `None` if the storage is too small, or if a list is not strictly decreasing.
    #[must_use]
    pub fn new(lists: &[&[u32]]) -> Option<Self> {
        if lists
            .iter()
            .any(|list| list.windows(2).any(|pair| pair.first() <= pair.last()))
        {
            return None;
        }
        let total = lists
            .iter()
            .try_fold(0_usize, |sum, list| sum.checked_add(list.len()))?;
        let mut offline = S::table(total, 0)?;
        let mut spans = S::table(
            lists.len(),
            Span {
                first: 0,
                len: 0,
                taken: 0,
            },
        )?;
        let mut first = 0_usize;
        for (span, list) in spans.iter_mut().zip(lists) {
            *span = Span {
                first,
                len: list.len(),
                taken: 0,
            };
            for (entry, priority) in offline.iter_mut().skip(first).zip(*list) {
                *entry = *priority;
            }
            first = first.checked_add(list.len())?;
        }
        Some(Self {
            remaining: offline.clone(),
            offline,
            spans,
            exceeded: 0,
        })
    }

    /// How many tasks have a list.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.spans.len()
    }

    /// How many jobs exceeded the pattern.
    #[must_use]
    pub const fn exceeded(&self) -> u64 {
        self.exceeded
    }

    /// The reuse step: call it once per instant with admitted arrivals, with the most urgent job
    /// that was pending just before them.
    pub fn begin_arrivals(&mut self, pending: Option<JobPriority>) {
        for span in self.spans.iter_mut() {
            let end = span.first.saturating_add(span.len);
            let reused = match pending {
                None => {
                    span.taken = 0;
                    span.len
                }
                Some(JobPriority(above)) => {
                    let start = span.first.saturating_add(span.taken);
                    let left = self.remaining.get(start..end).unwrap_or(&[]);
                    // A priority counts from 1, an entry from 0.
                    left.iter()
                        .take_while(|&&entry| entry >= above)
                        .fold(0_usize, |n, _| n.saturating_add(1))
                }
            };
            let start = span.first.saturating_add(span.taken);
            let target = self.remaining.iter_mut().skip(start);
            for (entry, fresh) in target
                .zip(self.offline.iter().skip(span.first))
                .take(reused)
            {
                *entry = *fresh;
            }
        }
    }

    /// The priority of the job of `task` that arrives now.
    pub fn take(&mut self, task: TaskId) -> JobPriority {
        let entry = self.spans.get_mut(task.index()).and_then(|span| {
            if span.taken >= span.len {
                return None;
            }
            let entry = self
                .remaining
                .get(span.first.saturating_add(span.taken))
                .copied();
            span.taken = span.taken.saturating_add(1);
            entry
        });
        match entry {
            Some(entry) => JobPriority(entry.saturating_add(1)),
            None => {
                self.exceeded = self.exceeded.saturating_add(1);
                JobPriority::BEYOND_PATTERN
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Boxed;

    fn lists() -> JobLists<Boxed> {
        JobLists::new(&[&[7, 5, 2, 0], &[6, 1], &[3], &[8, 4]]).unwrap()
    }

    #[test]
    fn a_fresh_busy_period_starts_every_list_anew() {
        let mut lists = lists();
        lists.begin_arrivals(None);
        assert_eq!(lists.take(TaskId(0)), JobPriority(8));
        lists.begin_arrivals(None);
        assert_eq!(lists.take(TaskId(0)), JobPriority(8));
        assert_eq!(lists.take(TaskId(0)), JobPriority(6));
    }

    #[test]
    fn entries_above_the_pending_job_are_reused_and_the_others_stay() {
        let mut lists = lists();
        lists.begin_arrivals(None);
        for task in 0..4 {
            lists.take(TaskId(task));
        }
        // Task 2 is pending with entry 3: 5 becomes 7 again, 2 and 0 stay; 4 becomes 8; 1 stays.
        lists.begin_arrivals(Some(JobPriority(4)));
        let rest: [u32; 3] = core::array::from_fn(|_| lists.take(TaskId(0)).0 - 1);
        assert_eq!(rest, [7, 2, 0]);
        assert_eq!(lists.take(TaskId(3)), JobPriority(9));
        assert_eq!(lists.take(TaskId(1)), JobPriority(2));
        assert_eq!(lists.exceeded(), 0);
        assert_eq!(lists.take(TaskId(1)), JobPriority::BEYOND_PATTERN);
        assert_eq!(lists.exceeded(), 1);
    }

    #[test]
    fn a_list_that_does_not_fall_is_refused() {
        assert!(JobLists::<Boxed>::new(&[&[3, 3]]).is_none());
        assert!(JobLists::<Boxed>::new(&[&[3, 4]]).is_none());
    }
}
