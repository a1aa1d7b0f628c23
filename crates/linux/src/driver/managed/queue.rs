//! What the manager remembers about one task and its worker.

use super::Step;
use super::backlog::Backlog;
use crate::control::Class;
use crate::driver::dispatch::{Lane, cpu_of};
use crate::task::{Jobs, Wait};
use crate::words::Watched;
use std::collections::VecDeque;
use vestal_core::job_table::BACKLOG_MAX;
use vestal_core::{ContractViolation, Drops, Instant, TaskId};

/// One task and its worker.
#[derive(Debug)]
pub(super) struct TaskQueue {
    /// The job that the worker has: assigned, and not handed back.
    pub(super) busy: Option<u64>,
    /// A job that ended while the scheduler did not count it as running, and whether it did all its
    /// work. It is reported to the scheduler when its plan names the job.
    pub(super) ended: Option<(u64, bool)>,
    /// Whether that waits for events, and the scheduler knows it.
    pub(super) is_blocked: bool,
    /// Since when, if it does or did so last.
    pub(super) blocked_at: Instant,
    /// That it has begun to wait while the scheduler did not count it as running. It is reported when the plan names the job.
    pub(super) waits: Option<Wait>,
    /// Released, not begun, not dropped, oldest first: number and clock reading of the release.
    waiting: VecDeque<(u64, u64)>,
    /// The next release.
    pub(super) next_sequence: u64,
    /// Which releases the scheduler knows, and which it has no room for.
    pub(super) backlog: Backlog,
    /// Releases reported to the scheduler since its last decision.
    pub(super) staged: usize,
    /// The job that was charged last, plus one, and what the scheduler knows that it executed.
    reported: (u64, u64),
    /// The worker's account when it went on with a demoted job in the name of the next one, which
    /// pays for the way to the cancellation point.
    cleaning_since: Option<u64>,
    /// The job of which something was taken off last, plus one, and how much in all.
    tolerated: (u64, u64),
    /// Whose account is open, plus one.
    account: u64,
    /// What its thread used of budgets that outlive jobs.
    pub(super) lane: Lane,
    /// What that job has paid for the way to a cancellation point.
    carried: u64,
    pub(super) class: Class,
    /// What the checker of the task was told last.
    pub(super) watched: Option<Watched>,
    /// How many overruns it had found when the manager looked last.
    pub(super) overruns: u64,
    /// Jobs that were dropped before they began.
    pub(super) dropped: Drops,
}

/// That of the task with this number.
pub(super) fn queue_of(queues: &mut [TaskQueue], task: TaskId) -> Step<&mut TaskQueue> {
    let queue = queues.get_mut(task.index());
    queue.ok_or(ContractViolation::UnknownTask(task))
}

impl TaskQueue {
    pub(super) fn new(backlog: Backlog) -> Self {
        Self {
            busy: None,
            ended: None,
            is_blocked: false,
            blocked_at: Instant::EPOCH,
            waits: None,
            // One current, the backlog, and the arrivals of one step.
            waiting: VecDeque::with_capacity(backlog.reserved().max(2 * BACKLOG_MAX + 2)),
            next_sequence: 0,
            backlog,
            staged: 0,
            reported: (0, 0),
            cleaning_since: None,
            tolerated: (0, 0),
            account: 0,
            lane: Lane::default(),
            carried: 0,
            class: Class::Run,
            watched: None,
            overruns: 0,
            dropped: Drops::default(),
        }
    }

    pub(super) fn released(&mut self, sequence: u64, release: u64) {
        self.waiting.push_back((sequence, release));
    }

    /// Takes a job from those that wait; gives the clock reading of its release.
    pub(super) fn take_waiting(&mut self, sequence: u64) -> Option<u64> {
        let index = self.waiting.iter().position(|&(job, _)| job == sequence)?;
        self.waiting.remove(index).map(|(_, release)| release)
    }

    /// The jobs that never began, with their releases.
    pub(super) fn never_begun(&self) -> impl Iterator<Item = (u64, u64)> {
        self.waiting.iter().copied()
    }

    /// Begins an account for job `sequence` unless it has one.
    pub(super) fn open_account(&mut self, sequence: u64) {
        if self.account != sequence.saturating_add(1) {
            self.account = sequence.saturating_add(1);
            self.cleaning_since = None;
            self.carried = 0;
        }
    }

    /// From now on what the worker executes is on the account of job `sequence`, which it has not
    /// begun.
    pub(super) fn begin_cleaning(&mut self, jobs: &Jobs, sequence: u64) {
        self.open_account(sequence);
        self.cleaning_since = cpu_of(jobs);
    }

    /// The worker is stopped, or has come to its cancellation point.
    pub(super) fn end_cleaning(&mut self, jobs: &Jobs) {
        if let (Some(since), Some(now)) = (self.cleaning_since.take(), cpu_of(jobs)) {
            self.carried = self.carried.saturating_add(now.saturating_sub(since));
        }
    }

    /// What job `sequence`, which the scheduler counts as running, has executed.
    pub(super) fn executed(&self, jobs: &Jobs, sequence: u64) -> u64 {
        if jobs.running() == Some(sequence) {
            return self.carried.saturating_add(jobs.executed().unwrap_or(0));
        }
        let cleaning = match (self.cleaning_since, cpu_of(jobs)) {
            (Some(since), Some(now)) => now.saturating_sub(since),
            (_, _) => 0,
        };
        self.carried.saturating_add(cleaning)
    }

    /// What a job that ended paid before it began.
    pub(super) const fn carried(&self) -> u64 {
        self.carried
    }

    /// What the scheduler knows that job `sequence` executed.
    pub(super) const fn reported(&self, sequence: u64) -> u64 {
        if self.reported.0 == sequence.saturating_add(1) {
            self.reported.1
        } else {
            0
        }
    }

    /// Of `tolerance` in all, what may still be taken off what job `sequence` is charged.
    pub(super) const fn tolerable(&self, sequence: u64, tolerance: u64) -> u64 {
        let taken = if self.tolerated.0 == sequence.saturating_add(1) {
            self.tolerated.1
        } else {
            0
        };
        tolerance.saturating_sub(taken)
    }

    /// Takes so much off what job `sequence` is charged.
    pub(super) fn tolerate(&mut self, sequence: u64, amount: u64) {
        let job = sequence.saturating_add(1);
        let before = if self.tolerated.0 == job {
            self.tolerated.1
        } else {
            0
        };
        self.tolerated = (job, before.saturating_add(amount));
    }

    /// Reports `amount` in all; says what is new of that.
    pub(super) fn report(&mut self, sequence: u64, amount: u64) -> u64 {
        let before = self.reported(sequence);
        self.reported = (sequence.saturating_add(1), amount.max(before));
        amount.saturating_sub(before)
    }
}
