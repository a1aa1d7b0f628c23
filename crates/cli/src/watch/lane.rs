//! What a live view knows of one domain: its mode, and which jobs have its CPUs. A run has one for each CPU of the set, or one
//! for all of them.

use super::model::{MODES_REMEMBERED, remember};
use std::collections::VecDeque;
use vestal_core::{CpuId, Instant, JobId, Level, TaskId};

/// A domain so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    /// The mode and its changes, the latest last.
    pub(crate) mode: Level,
    pub(crate) mode_changes: u64,
    modes: VecDeque<(Instant, Level)>,
    /// The jobs that were begun and are not over, in that order, and where.
    begun: Vec<(CpuId, JobId)>,
    /// Under native dispatch the tasks that permits suspend for want of slack.
    suspended: Vec<TaskId>,
}

impl Lane {
    /// The mode changes at `at`.
    pub(super) fn turn_to(&mut self, at: Instant, mode: Level) {
        self.mode = mode;
        self.mode_changes += 1;
        remember(&mut self.modes, (at, mode), MODES_REMEMBERED);
    }

    /// `job` gets a CPU.
    pub(super) fn begin(&mut self, cpu: CpuId, job: JobId) {
        self.leave(job);
        self.begun.push((cpu, job));
    }

    /// `job` is off its CPU.
    pub(super) fn leave(&mut self, job: JobId) {
        self.begun.retain(|(_, begun)| *begun != job);
    }

    /// A natively dispatched task is suspended, or so no more.
    pub(super) fn suspend(&mut self, task: TaskId, is_suspended: bool) {
        self.suspended.retain(|held| *held != task);
        if is_suspended {
            self.suspended.push(task);
        }
    }

    /// The jobs that have a CPU: of each the latest begun job that nothing holds back, or else the latest of all.
    pub(super) fn running(&self) -> impl Iterator<Item = (CpuId, JobId)> {
        let latest = self.begun.iter().enumerate().rev();
        let last_there = latest.filter(|&(place, (cpu, _))| {
            let later = self.begun.iter().skip(place + 1);
            later.into_iter().all(|(other, _)| other != cpu)
        });
        last_there.map(|(_, &(cpu, last))| {
            let mut there = self.begun.iter().rev();
            let free =
                there.find(|(other, job)| *other == cpu && !self.suspended.contains(&job.task));
            (cpu, free.map_or(last, |&(_, job)| job))
        })
    }

    /// The highest mode in each of `columns` equal parts of the `window` before `now`; `None` before the
    /// run began.
    pub(crate) fn mode_band(
        &self,
        now: Instant,
        window_ns: u64,
        columns: u64,
    ) -> Vec<Option<Level>> {
        let end = now.as_nanos();
        let part = window_ns.checked_div(columns).unwrap_or(0).max(1);
        // Parts begin at multiples of their length, so that the band moves and does not flicker.
        let last = end / part;
        let columns = (0..columns).rev().map(|back| {
            let index = last.checked_sub(back)?;
            Some(self.highest_mode(index * part, (index + 1) * part))
        });
        columns.collect()
    }

    fn highest_mode(&self, from: u64, to: u64) -> Level {
        let mut at_start = Level::LOWEST;
        let mut highest = None;
        for (at, mode) in &self.modes {
            let at = at.as_nanos();
            if at <= from {
                at_start = *mode;
            } else if at < to {
                highest = highest.max(Some(*mode));
            }
        }
        highest.unwrap_or(at_start).max(at_start)
    }
}
