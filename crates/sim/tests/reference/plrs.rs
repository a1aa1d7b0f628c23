//! Job-priority lists as the papers state them: plain lists, copied and cut.

use super::System;
use vestal_core::model::Level;

/// Where arriving jobs have their priorities from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lists {
    /// Jobs go by their tasks.
    No,
    /// List reuse (PLRS).
    Reused,
    /// Computed anew (Li and Baruah).
    Recomputed,
}

/// By task, the rest A_i of its list.
#[derive(Clone, Debug)]
pub(super) struct Rests {
    rests: Vec<Vec<u32>>,
    /// How many jobs found nothing left.
    pub(super) beyond: u64,
}

impl Rests {
    pub(super) fn new(system: &System) -> Self {
        Self {
            rests: whole(system),
            beyond: 0,
        }
    }

    /// Before the first of the jobs that are admitted at an instant. `pending` is the entry of the most
    /// urgent job that was pending before, `Some(None)` if that one has none.
    pub(super) fn begin_arrivals(&mut self, system: &System, pending: Option<Option<u32>>) {
        let Some(p) = pending else {
            self.rests = whole(system);
            return;
        };
        let above = |rest: &Vec<u32>| rest.iter().filter(|&&e| p.is_none_or(|p| e > p)).count();
        let counts: Vec<usize> = self.rests.iter().map(above).collect();
        let fresh = match system.lists {
            Lists::No => return,
            Lists::Reused => {
                let pairs = system.tasks.iter().zip(&counts);
                pairs.map(|(entry, &r)| entry.list[..r].to_vec()).collect()
            }
            Lists::Recomputed => recomputed(system, &counts, p.map_or(0, |p| p + 1)),
        };
        for ((rest, r), mut fresh) in self.rests.iter_mut().zip(counts).zip(fresh) {
            fresh.extend(&rest[r..]);
            *rest = fresh;
        }
    }

    pub(super) fn take(&mut self, i: usize) -> Option<u32> {
        if self.rests[i].is_empty() {
            self.beyond += 1;
            return None;
        }
        Some(self.rests[i].remove(0))
    }
}

fn whole(system: &System) -> Vec<Vec<u32>> {
    system
        .tasks
        .iter()
        .map(|entry| entry.list.clone())
        .collect()
}

/// Lists for so many jobs of each task, all released now, with the numbers from `first` on.
fn recomputed(system: &System, counts: &[usize], first: u32) -> Vec<Vec<u32>> {
    let tasks: Vec<_> = system.tasks.iter().map(|entry| entry.task).collect();
    let mut left: Vec<u64> = counts.iter().map(|&r| r as u64).collect();
    let mut lists = vec![Vec::new(); tasks.len()];
    let due = |i: usize, left: &[u64]| {
        (left[i] - 1) * tasks[i].period.as_nanos() + tasks[i].deadline.as_nanos()
    };
    let needed = |i: usize, left: &[u64]| -> u64 {
        let cost = |j: usize| {
            let level: Level = tasks[i].criticality.min(tasks[j].criticality);
            left[j] * tasks[j].wcet.at(level).as_nanos()
        };
        (0..tasks.len()).map(cost).sum()
    };
    for number in (first..).take(counts.iter().sum()) {
        let with_jobs = || (0..tasks.len()).filter(|&i| left[i] > 0);
        let fitting = with_jobs().find(|&i| needed(i, &left) <= due(i, &left));
        // Of several that are due last the first one.
        let lowest = fitting.or_else(|| with_jobs().rev().max_by_key(|&i| due(i, &left)));
        let Some(i) = lowest else { break };
        lists[i].insert(0, number);
        left[i] -= 1;
    }
    lists
}
