//! What the gatherer does with the notes about frames: it hands them to the judge of all CPUs, with what the judges of
//! each CPU have found.

use crate::account::{FrameFacts, FrameJudge, FrameVerdicts, Judge, Note};
use crate::notes::{Extent, NoteReader};

/// The notes about frames, and their judge.
#[derive(Debug)]
pub(crate) struct FrameEvidence {
    reader: NoteReader,
    judge: FrameJudge,
    /// How far the notes go that are to be handed on next.
    noted: Option<Extent>,
}

impl FrameEvidence {
    /// Of frames about which notes come from `reader`.
    pub(crate) fn new(reader: NoteReader, facts: FrameFacts) -> Self {
        let judge = FrameJudge::new(facts);
        Self {
            reader,
            judge,
            noted: None,
        }
    }

    /// Looks how far the notes go, unless there are some that were not handed on yet. To be called before those of the CPUs are
    /// read: whoever notes something about frames has noted before what led to it.
    pub(super) fn look(&mut self) {
        self.noted.get_or_insert_with(|| self.reader.extent());
    }

    /// Hands on all notes up to there, if those of the CPUs have been read, each to where it went then: a thread that was
    /// preempted within one may hold back what led to them. `now` is nanoseconds after the epoch.
    pub(super) fn take<'a>(
        &mut self,
        are_whole: bool,
        now: u64,
        cpus: impl Iterator<Item = &'a mut Judge>,
    ) {
        let mut cpus: Vec<&mut Judge> = cpus.collect();
        for (cpu, judge) in cpus.iter_mut().enumerate() {
            self.judge.hear(cpu, judge);
        }
        if are_whole && let Some(extent) = self.noted.take() {
            self.judge.lose(extent.newly_lost, now);
            self.hand_on(extent);
        }
        self.answer(&mut cpus);
    }

    /// The same when no thread writes any more, but for one that may have been left in the middle of a note.
    pub(super) fn take_last<'a>(&mut self, now: u64, cpus: impl Iterator<Item = &'a mut Judge>) {
        let mut cpus: Vec<&mut Judge> = cpus.collect();
        // What was held back, and what came since.
        for _ in 0..2 {
            self.look();
            self.take(true, now, cpus.iter_mut().map(|judge| &mut **judge));
        }
        let extent = self.reader.extent();
        while self.reader.skip(extent) {
            self.judge.lose(1, now);
            self.hand_on(extent);
        }
        self.judge.close();
        self.answer(&mut cpus);
    }

    pub(super) fn into_verdicts(self) -> FrameVerdicts {
        self.judge.into_verdicts()
    }

    fn hand_on(&mut self, extent: Extent) {
        while let Some(note) = self.reader.next(extent) {
            if let Note::Frame(note) = note {
                self.judge.take(note);
            }
        }
    }

    fn answer(&mut self, cpus: &mut [&mut Judge]) {
        for (cpu, judge) in cpus.iter_mut().enumerate() {
            self.judge.answer(cpu, judge);
        }
    }
}
