//! Who releases a job next: a tree of losers over the tasks (Knuth, The Art of Computer Programming
//! vol. 3, section 5.4.1).
//!
//! Each leaf is a task with its next release, each inner node the one that lost the match there, and
//! the champion, who lost none, is the next release of all: O(1) to read. When the champion gets a
//! later release, it meets exactly those who lost on its path, one comparison a level: O(log n), and
//! nothing is allocated after construction. Ties go to the task that stands first.

use crate::count;
use crate::error::SimulationError;
use crate::workload::Releases;
use vestal_core::{Instant, TaskId};

/// A task and its next release. Ordered by the instant and then by the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    /// In nanoseconds; the largest number is never, since it is beyond the horizon of every world.
    at: u64,
    task: u16,
}

impl Key {
    /// Where there is no task at all.
    const NO_TASK: Self = Self {
        at: u64::MAX,
        task: u16::MAX,
    };

    fn new(task: u16, at: Option<Instant>) -> Self {
        let at = at.map_or(u64::MAX, Instant::as_nanos);
        Self { at, task }
    }

    #[inline]
    const fn wins_against(self, other: Self) -> bool {
        self.at < other.at || (self.at == other.at && self.task < other.task)
    }
}

/// The first releases of `tasks` tasks, for a run that ends at `end`.
pub(crate) fn first_releases<R: Releases + ?Sized>(
    releases: &R,
    tasks: usize,
    end: Instant,
) -> Result<Calendar, SimulationError> {
    if end > Instant::HORIZON {
        return Err(SimulationError::EndBeyondHorizon(end));
    }
    let numbers = u16::try_from(tasks).map_err(|_| SimulationError::TooManyTasks(tasks))?;
    let first = (0..numbers).map(|task| releases.release(TaskId(task), 0, None));
    Ok(Calendar::new(first.collect()))
}

/// The release of `task` that follows number `sequence`, which is `at` this instant.
#[inline(always)]
pub(crate) fn release_after<R: Releases + ?Sized>(
    releases: &R,
    (task, sequence, at): (TaskId, u64, Instant),
) -> Result<Option<Instant>, Box<SimulationError>> {
    let next = releases.release(task, sequence.saturating_add(1), Some(at));
    match next {
        Some(next) if next <= at => Err(not_ascending(task, at, next)),
        Some(_) | None => Ok(next),
    }
}

#[cold]
fn not_ascending(task: TaskId, previous: Instant, next: Instant) -> Box<SimulationError> {
    Box::new(SimulationError::ReleasesNotAscending {
        task,
        previous,
        next,
    })
}

/// The next release of each task.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    /// By task, the number of the next release.
    sequences: Vec<u64>,
    champion: Key,
    /// Who lost at each inner node, by the number of the node: the releases, and whose they are. Node
    /// 1 is the root, node k has the children 2k and 2k + 1, and the leaf of task i would be node
    /// `losers.len() + i`. Most matches are decided by the instants alone, which stand by themselves.
    losers: Vec<u64>,
    loser_tasks: Vec<u16>,
}

impl Calendar {
    /// Task i's first release is `first[i]`. There are at most `u16::MAX` tasks.
    pub(crate) fn new(first: Vec<Option<Instant>>) -> Self {
        let leaves = first.len();
        let mut winners = vec![Key::NO_TASK; 2 * leaves.max(1)];
        for ((leaf, number), at) in winners[leaves..].iter_mut().zip(0..=u16::MAX).zip(&first) {
            *leaf = Key::new(number, *at);
        }
        let mut losers = vec![Key::NO_TASK; leaves];
        for node in (1..leaves).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], losers[node]) = if right.wins_against(left) {
                (right, left)
            } else {
                (left, right)
            };
        }
        Self {
            sequences: vec![0; first.len()],
            champion: winners[1],
            losers: losers.iter().map(|key| key.at).collect(),
            loser_tasks: losers.iter().map(|key| key.task).collect(),
        }
    }

    /// When the next release of all is; beyond every horizon if there is none.
    #[inline]
    pub(crate) const fn next(&self) -> Instant {
        Instant::from_nanos(self.champion.at)
    }

    /// The next release of all: whose, which, when.
    #[inline]
    pub(crate) fn first(&self) -> Option<(TaskId, u64, Instant)> {
        let Key { at, task } = self.champion;
        if at == u64::MAX {
            return None;
        }
        let sequence = *self.sequences.get(usize::from(task))?;
        Some((TaskId(task), sequence, Instant::from_nanos(at)))
    }

    /// The release that [`Self::first`] names has taken place; the same task's next one is at `at`.
    #[inline]
    pub(crate) fn replace_first(&mut self, at: Option<Instant>) {
        let task = self.champion.task;
        let Some(sequence) = self.sequences.get_mut(usize::from(task)) else {
            return;
        };
        count(sequence);
        let mut winner = Key::new(task, at);
        let mut node = (self.losers.len() + usize::from(task)) / 2;
        while node >= 1 {
            let Some(at) = self.losers.get_mut(node) else {
                break;
            };
            if *at <= winner.at
                && let Some(task) = self.loser_tasks.get_mut(node)
            {
                let loser = Key {
                    at: *at,
                    task: *task,
                };
                if loser.wins_against(winner) {
                    (*at, *task) = (winner.at, winner.task);
                    winner = loser;
                }
            }
            node /= 2;
        }
        self.champion = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_come_in_the_order_of_time_and_then_of_tasks() {
        for count in 1..=9_u64 {
            let first = (0..count).map(|task| Some(Instant::from_nanos(task % 3)));
            let mut calendar = Calendar::new(first.collect());
            let mut expected: Vec<(u64, u64, u64)> = (0..count)
                .flat_map(|task| (0..5).map(move |k| (task % 3 + k * (task + 1), task, k)))
                .collect();
            expected.sort_unstable();
            for (at, task, sequence) in expected {
                let (found, number, instant) = calendar.first().unwrap();
                assert_eq!(
                    (instant.as_nanos(), u64::from(found.0), number),
                    (at, task, sequence)
                );
                let next = (sequence < 4).then(|| Instant::from_nanos(at + task + 1));
                calendar.replace_first(next);
            }
            assert_eq!(calendar.first(), None);
        }
    }
}
