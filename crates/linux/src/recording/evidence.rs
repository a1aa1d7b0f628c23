//! What the gatherer does with the notes of the run: it hands them to the judge, and has records of what that finds.

use crate::account::{Account, Closing, Judge, Rules, TaskFacts};
use crate::cpu::Cpu;
use crate::notes::NoteReader;
use crate::sys::clock::{is_steal_reported, monotonic_nanos};
use std::collections::VecDeque;
use vestal_core::{Duration, Instant};
use vestal_trace::Record;

/// The notes of a CPU, and their judge.
#[derive(Debug)]
pub(crate) struct Evidence {
    reader: NoteReader,
    judge: Judge,
    /// Records that wait for their turn, in the order of time.
    findings: VecDeque<Record>,
    /// Records until then have been handed on.
    handed_on: Instant,
}

impl Evidence {
    /// How often notes are read in a run that is not recorded.
    pub(super) const PERIOD: Duration = Duration::from_millis(100);

    /// Of the CPU that `shared` is of, whose notes come from `reader`.
    pub(crate) fn new(reader: NoteReader, shared: &Cpu) -> Self {
        let rules = Rules {
            tolerance_nanos: shared.tolerance_nanos,
            guarantee: shared.guarantee,
            stops_at_own_limit: shared.duties.watches_budgets && shared.stops_at_own_limit,
            steal_reported: is_steal_reported(),
            managed: shared.managed.is_some(),
        };
        let tasks = shared.tasks.iter().map(|task| TaskFacts {
            model: task.configuration.task,
            offset_nanos: task.offset_nanos,
        });
        Self {
            reader,
            judge: Judge::new(tasks, rules),
            findings: VecDeque::new(),
            handed_on: Instant::EPOCH,
        }
    }

    /// Hands on all notes that are there.
    pub(super) fn take_notes(&mut self, shared: &Cpu) {
        let extent = self.reader.extent();
        self.judge.lose(extent.newly_lost, monotonic_nanos());
        while let Some(note) = self.reader.next(extent) {
            self.judge.take(note);
        }
        let stolen = self.judge.stolen_by_threads();
        shared.online.note_stolen_by_threads(stolen);
        self.sort_findings();
    }

    /// The same when no thread writes any more, but for one that may have been left in the middle of a note.
    pub(super) fn take_last_notes(&mut self, shared: &Cpu) {
        self.take_notes(shared);
        let extent = self.reader.extent();
        while self.reader.skip(extent) {
            self.judge.lose(1, monotonic_nanos());
            while let Some(note) = self.reader.next(extent) {
                self.judge.take(note);
            }
        }
        self.sort_findings();
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
    pub(super) fn close(&mut self, shared: &Cpu) -> Vec<Record> {
        self.judge.close_run(Closing {
            stopped: shared.stopped_at.get(),
            end: shared.run.end.get(),
            at: monotonic_nanos(),
            consumed: shared.consumed(),
        });
        self.judge.take_records()
    }

    /// What came of the run.
    pub(super) fn into_account(self, shared: &Cpu) -> Account {
        let stopped = shared.stopped_at.get();
        self.judge.into_account(stopped)
    }
}
