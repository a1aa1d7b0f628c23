//! When jobs are released, by one CPU's timers.
//!
//! A CPU has timers of its own levels A and B, and of its part of level C: task by task in turn, so that no CPU has them all. Where one CPU
//! is the *master* of releases, that has all timers and calls the others, which look at what it has counted.

use super::common::Home;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use vestal_core::{CpuId, JobId, TaskId};

/// Which releases are taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merging {
    /// All that are due, and that are within so many nanoseconds.
    Within(u64),
    /// Those of one instant; there is another round for the next ones.
    EachInstant,
}

/// How managers divide work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ways {
    pub(crate) merging: Merging,
    /// Who has the timers of all tasks.
    pub(crate) master: Option<CpuId>,
    /// Whether a CPU that takes itself back from level C leaves to the master what that means for others.
    pub(crate) redistributes: bool,
}

impl Ways {
    /// Whether the timers of this CPU's tasks are another one's.
    pub(super) fn follows(self, cpu: CpuId) -> bool {
        self.master.is_some_and(|master| master != cpu)
    }

    /// Whether `cpu` of so many looks for the releases of a task.
    fn concern(self, cpu: CpuId, cpus: usize, home: Home) -> bool {
        let is_master = self.master == Some(cpu);
        match (home, self.master) {
            (Home::Own(own, _), _) => own == cpu || is_master,
            (Home::Guest(_), Some(_)) => is_master,
            (Home::Guest(index), None) => index.checked_rem(cpus) == Some(cpu.index()),
            (Home::Nowhere, _) => false,
        }
    }
}

/// The timers of one CPU.
#[derive(Debug)]
pub(super) struct Releases {
    timers: BinaryHeap<Reverse<(u64, TaskId)>>,
    /// By task of the set the number of its next job.
    next: Vec<u64>,
    ways: Ways,
    /// Another CPU counts them.
    follows: bool,
}

/// A release, and its clock reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Release {
    pub(super) job: JobId,
    pub(super) clock: u64,
}

impl Releases {
    pub(super) fn new(tasks: usize, ways: Ways, cpu: CpuId) -> Self {
        Self {
            timers: BinaryHeap::with_capacity(tasks),
            next: vec![0; tasks],
            ways,
            follows: ways.follows(cpu),
        }
    }

    /// Begins with the timers of a CPU; `release_of` gives the clock reading of a job's release.
    pub(super) fn begin(
        &mut self,
        (homes, cpu, cpus): (impl Iterator<Item = (TaskId, Home)>, CpuId, usize),
        release_of: impl Fn(JobId) -> Option<u64>,
    ) {
        for (task, home) in homes {
            let first = JobId { task, sequence: 0 };
            if self.ways.concern(cpu, cpus, home)
                && let Some(clock) = release_of(first)
            {
                self.timers.push(Reverse((clock, task)));
            }
        }
    }

    /// The clock reading of the next release that is this CPU's to look for.
    pub(super) fn next(&self) -> Option<u64> {
        if self.follows {
            return None;
        }
        self.timers.peek().map(|&Reverse((clock, _))| clock)
    }

    /// Takes a release that belongs to a round at `now` in which that of `first` was the first, if there is one. `is_counted` says whether
    /// another CPU has come by a job's.
    pub(super) fn take(
        &mut self,
        (now, first): (u64, Option<u64>),
        (release_of, is_counted): (impl Fn(JobId) -> Option<u64>, impl Fn(JobId) -> bool),
    ) -> Option<Release> {
        let &Reverse((clock, task)) = self.timers.peek()?;
        let sequence = *self.next.get(task.index())?;
        let is_due = match (self.ways.merging, first) {
            _ if self.follows => is_counted(JobId { task, sequence }),
            (Merging::Within(nanos), _) => clock <= now.saturating_add(nanos),
            (Merging::EachInstant, None) => clock <= now,
            (Merging::EachInstant, Some(first)) => clock == first,
        };
        if !is_due {
            return None;
        }
        self.timers.pop();
        let entry = self.next.get_mut(task.index())?;
        *entry = sequence.saturating_add(1);
        let next = JobId {
            task,
            sequence: *entry,
        };
        if let Some(next) = release_of(next) {
            self.timers.push(Reverse((next, task)));
        }
        let job = JobId { task, sequence };
        Some(Release { job, clock })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks of levels A, B and C on CPU 1, released 300 ns after one another and then never again; the rounds that take them.
    fn rounds(merging: Merging) -> Vec<Vec<u16>> {
        let homes = [
            Home::Own(CpuId(1), 0),
            Home::Own(CpuId(1), 1),
            Home::Guest(1),
        ];
        let ways = Ways {
            merging,
            master: None,
            redistributes: false,
        };
        let mut releases = Releases::new(homes.len(), ways, CpuId(1));
        let release_of = |job: JobId| {
            let place = u64::from(job.task.0);
            (job.sequence == 0).then_some(5_000 + 300 * place)
        };
        let homes = (0..).map(TaskId).zip(homes);
        releases.begin((homes, CpuId(1), 2), release_of);
        let mut rounds = Vec::new();
        while let Some(now) = releases.next() {
            let (mut round, mut first) = (Vec::new(), None);
            let of = (release_of, |_| unreachable!("it has its own timers"));
            while let Some(release) = releases.take((now, first), of) {
                first = first.or(Some(release.clock));
                round.push(release.job.task.0);
            }
            rounds.push(round);
        }
        rounds
    }

    #[test]
    fn releases_near_one_another_are_one_event_where_they_are_merged() {
        assert_eq!(rounds(Merging::EachInstant), [[0], [1], [2]]);
        assert_eq!(rounds(Merging::Within(1_000)), [[0, 1, 2]]);
        assert_eq!(rounds(Merging::Within(300)), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn each_timer_is_one_cpu_s() {
        let all = [
            Home::Own(CpuId(0), 0),
            Home::Own(CpuId(2), 0),
            Home::Guest(0),
            Home::Guest(1),
            Home::Guest(5),
            Home::Nowhere,
        ];
        let by_cpu = |master| {
            let ways = Ways {
                merging: Merging::EachInstant,
                master,
                redistributes: false,
            };
            [0, 1, 2].map(|cpu| {
                let own = |home: &&Home| ways.concern(CpuId(cpu), 3, **home);
                all.iter().filter(own).copied().collect::<Vec<Home>>()
            })
        };
        let alone = by_cpu(None);
        assert_eq!(alone[0], [all[0], all[2]]);
        assert_eq!(alone[1], [all[3]]);
        assert_eq!(alone[2], [all[1], all[4]]);
        // The master has all, and the others look at what it counts of theirs.
        let mastered = by_cpu(Some(CpuId(1)));
        assert_eq!(mastered[0], [all[0]]);
        assert_eq!(mastered[1], all[..5]);
        assert_eq!(mastered[2], [all[1]]);
    }

    /// Whoever follows a master has no timer, and takes what was counted, whatever its own clock says.
    #[test]
    fn a_cpu_with_a_master_goes_by_what_that_has_counted() {
        let ways = Ways {
            merging: Merging::Within(0),
            master: Some(CpuId(0)),
            redistributes: false,
        };
        let mut releases = Releases::new(1, ways, CpuId(1));
        let release_of = |job: JobId| Some(10 * job.sequence);
        let homes = [(TaskId(0), Home::Own(CpuId(1), 0))];
        releases.begin((homes.into_iter(), CpuId(1), 2), release_of);
        assert_eq!(releases.next(), None);
        for counted in [0, 2, 2, 3] {
            let before = releases.next[0];
            let of = (release_of, |job: JobId| job.sequence < counted);
            while let Some(Release { job, clock }) = releases.take((5, None), of) {
                assert_eq!(clock, 10 * job.sequence);
            }
            assert_eq!(releases.next[0], counted.max(before));
        }
    }
}
