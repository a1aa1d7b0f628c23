//! What the gatherer does with the notes of the run: it hands them to the judge, and has records of what that finds.

use crate::account::{Account, Closing, Judge, Rules, TaskFacts};
use crate::notes::NoteReader;
use crate::sys::clock::monotonic_nanos;
use std::collections::VecDeque;
use vestal_core::{Duration, Instant};
use vestal_trace::Record;

/// The notes of a CPU, and their judge.
#[derive(Debug)]
pub(super) struct Evidence {
    reader: NoteReader,
    judge: Judge,
    /// Records that wait for their turn, in the order of time.
    findings: VecDeque<Record>,
    /// Records until then have been handed on.
    handed_on: Instant,
    /// No note held others back when they were read last.
    is_whole: bool,
}

impl Evidence {
    /// How often notes are read in a run that is not recorded.
    pub(super) const PERIOD: Duration = Duration::from_millis(100);

    /// Of a CPU with these tasks, whose notes come from `reader`.
    pub(super) fn new(
        reader: NoteReader,
        tasks: impl Iterator<Item = TaskFacts>,
        rules: Rules,
    ) -> Self {
        Self {
            reader,
            judge: Judge::new(tasks, rules),
            findings: VecDeque::new(),
            handed_on: Instant::EPOCH,
            is_whole: true,
        }
    }

    /// Hands on all notes that are there; gives what was stolen by threads until then, in nanoseconds.
    pub(super) fn take_notes(&mut self) -> u64 {
        let extent = self.reader.extent();
        self.judge.lose(extent.newly_lost, monotonic_nanos());
        while let Some(note) = self.reader.next(extent) {
            self.judge.take(note);
        }
        self.is_whole = self.reader.has_read(extent);
        self.sort_findings();
        self.judge.stolen_by_threads()
    }

    /// Whether all was read that had been noted when that was done last: a thread that was preempted within a note holds
    /// back those that others have noted since.
    pub(super) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The same when no thread writes any more, but for one that may have been left in the middle of a note.
    pub(super) fn take_last_notes(&mut self) {
        self.take_notes();
        let extent = self.reader.extent();
        while self.reader.skip(extent) {
            self.judge.lose(1, monotonic_nanos());
            while let Some(note) = self.reader.next(extent) {
                self.judge.take(note);
            }
        }
        self.sort_findings();
    }

    pub(super) const fn judge(&mut self) -> &mut Judge {
        &mut self.judge
    }

    /// A finding may be about an instant before another one, of a thread that is in no group of records. None is about
    /// an instant until which all were handed on.
    fn sort_findings(&mut self) {
        let handed_on = self.handed_on;
        let new = self.judge.take_records().into_iter();
        self.findings.extend(new.map(|record| Record {
            at: record.at.max(handed_on),
            ..record
        }));
        self.findings
            .make_contiguous()
            .sort_by_key(|record| record.at);
    }

    /// When the next finding was.
    pub(super) fn next_finding(&self) -> Option<u64> {
        self.findings.front().map(|record| record.at.as_nanos())
    }

    pub(super) fn take_finding(&mut self) -> Option<Record> {
        self.findings.pop_front()
    }

    /// Records until `complete` have been handed on.
    pub(super) fn hand_on_until(&mut self, complete: Instant) {
        self.handed_on = self.handed_on.max(complete);
    }

    pub(super) fn forget_findings(&mut self) {
        self.findings.clear();
    }

    /// Judges what nobody has noted, when all is read that somebody has; gives the records about it.
    pub(super) fn close(&mut self, closing: Closing) -> Vec<Record> {
        self.judge.close_run(closing);
        self.judge.take_records()
    }

    /// What came of the run of a CPU that `stopped` then.
    pub(super) fn into_account(self, stopped: u64) -> Account {
        self.judge.into_account(stopped)
    }
}
