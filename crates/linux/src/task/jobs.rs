//! Which job of a task its worker has begun, and which of its jobs have lost their priority.

use crate::sys::Tid;
use crate::sys::clock::cpu_nanos_of;
use crate::words::{JobWord, Latest, Phase, Revoked};
use std::sync::Arc;

/// The jobs of one task, as its worker and the manager see them.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    pub(crate) tid: Latest<Tid>,
    /// The job that the worker has begun, and whether the worker was demoted for it.
    word: JobWord,
    /// Which of its jobs have lost their priorities, and which of those shall end.
    revoked: Revoked,
    /// The clock of the worker when its CPU ended; 0 before that, and if it was not read.
    at_stop: Latest<u64>,
    /// That of the CPU, whose end takes the priorities of all jobs.
    pub(crate) phase: Arc<Phase>,
}

impl Jobs {
    /// The thread of its worker; 0 before that has started.
    pub(crate) fn tid(&self) -> Tid {
        self.tid.get()
    }

    /// The CPU ends: what the worker executes from now on, it executes after the run.
    pub(crate) fn note_stop(&self) {
        if let Some(cpu_nanos) = cpu_nanos_of(self.tid()) {
            self.at_stop.set(cpu_nanos);
        }
    }

    /// The clock of the worker when its CPU ended: a body that this met goes on to its next cancellation point. Later than all
    /// if it was not read.
    pub(crate) fn at_stop(&self) -> u64 {
        let read = Some(self.at_stop.get()).filter(|&cpu_nanos| cpu_nanos > 0);
        read.unwrap_or(u64::MAX)
    }

    pub(crate) fn begin(&self, sequence: u64, cpu_nanos: u64) {
        self.word.begin(sequence, cpu_nanos);
    }

    /// The job's own work begins here: what came before, its account does not show.
    pub(crate) fn start_account(&self, cpu_nanos: u64) {
        self.word.start_account(cpu_nanos);
    }

    /// Where that account begins.
    pub(crate) fn account_base(&self) -> u64 {
        self.word.base()
    }

    /// Job `sequence` is off; says whether its worker was demoted since it began.
    pub(crate) fn finish(&self, sequence: u64) -> bool {
        self.word.end(sequence)
    }

    /// The job that was begun and has not ended.
    pub(crate) fn running(&self) -> Option<u64> {
        let begun = self.word.look();
        begun.runs.then_some(begun.number)
    }

    /// The job that was begun, has not ended, and keeps its priority.
    pub(crate) fn running_admitted(&self) -> Option<u64> {
        self.running().filter(|&job| !self.is_demoted(job))
    }

    /// Whether job `sequence` has lost its priority: by enforcement, or because the run ends.
    pub(crate) fn is_demoted(&self, sequence: u64) -> bool {
        self.revoked.is_revoked(sequence) || self.phase.is_ending()
    }

    /// Whether enforcement took the priority of job `sequence`, and not the end of the run.
    pub(crate) fn lost_its_priority(&self, sequence: u64) -> bool {
        self.revoked.is_revoked(sequence)
    }

    /// Job `sequence` and all before it lose their priorities.
    pub(crate) fn demote_up_to(&self, sequence: u64) {
        self.revoked.revoke(sequence);
    }

    /// The manager is about to demote the worker for job `sequence`; says whether that still runs.
    pub(crate) fn demote(&self, sequence: u64) -> bool {
        self.word.demote(sequence)
    }

    /// Whether the worker is demoted, and its job not off yet.
    pub(crate) fn is_in_background(&self) -> bool {
        self.word.look().demoted
    }

    /// Jobs that were demoted so far end at their next cancellation point.
    pub(crate) fn cancel_demoted(&self) {
        self.revoked.cancel();
    }

    /// Whether job `sequence` shall end at its next cancellation point.
    pub(crate) fn cancelled(&self, sequence: u64) -> bool {
        self.revoked.is_cancelled(sequence) || self.phase.is_ending()
    }

    /// What the running job has executed; `None` if its thread is gone.
    pub(crate) fn executed(&self) -> Option<u64> {
        let cpu = cpu_nanos_of(self.tid())?;
        Some(cpu.saturating_sub(self.account_base()))
    }
}
