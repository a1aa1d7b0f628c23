//! Settling: every consequence, in the fixed order of C3.

use super::{Frames, NO_JOB, Phase, Placed};
use crate::ids::JobId;
use crate::model::Level;
use crate::notice::{DropReason, Event};
use crate::plan::{SequenceSpan, Slot, Wake, WakeReason};
use crate::queue::Cursor;
use crate::store::Store;
use crate::time::{Duration, Instant};

impl<S: Store> Frames<S> {
    /// The row of the present frame in the table.
    pub(super) fn row(&self) -> usize {
        u64::try_from(self.shape.frames)
            .ok()
            .and_then(|frames| self.frame.checked_rem(frames))
            .and_then(|row| usize::try_from(row).ok())
            .unwrap_or(0)
    }

    /// A CPU whose jobs are all complete waits at the barrier; one that waits there has completed
    /// all its jobs.
    pub(super) fn settle_completions(&mut self) {
        let Phase::Running(_) = self.phase else {
            return;
        };
        for cpu in self.cpus.iter_mut() {
            if cpu.completed >= cpu.len {
                cpu.reached = true;
            }
            while cpu.walked < cpu.len {
                let end = cpu.start.saturating_add(cpu.walked);
                let completed = self
                    .sequence
                    .get(end)
                    .and_then(|job| self.jobs.get(job.task.index()))
                    .and_then(|jobs| jobs.placed)
                    .is_none_or(|placed| placed.completed);
                if !completed && !cpu.reached {
                    break;
                }
                cpu.walked = cpu.walked.saturating_add(1);
            }
        }
    }

    /// What the present frame had still to run is dropped when it is over. Under `decide` this comes
    /// after [`Self::advance_frame`], so that a sub-frame which ends with its frame is no overrun.
    pub(super) fn settle_overrun(&mut self) {
        let Phase::Running(level) = self.phase else {
            return;
        };
        if self.overrun {
            return;
        }
        self.overrun = true;
        self.clock.notice(Event::FrameOverrun { frame: self.frame });
        if level > Level::LOWEST {
            self.drop_from(Level(level.0.saturating_sub(1)));
        }
    }

    /// The newest release of a task replaces one that still waits: the ready bit is one
    /// bit.
    pub(super) fn admit_all(&mut self) {
        let mut cursor = Cursor::default();
        while let Some(task) = self.dirty.next(&mut cursor) {
            while let Some(jobs) = self.jobs.get_mut(task.index())
                && let Some(arrival) = jobs.arrived.pop()
            {
                if let Some(sequence) = jobs.waiting.replace(arrival.sequence) {
                    let job = JobId { task, sequence };
                    let why = DropReason::Superseded;
                    self.clock.notice(Event::Dropped { job, why });
                }
            }
        }
        self.dirty.clear();
    }

    /// The frame in which the present instant lies begins, nominally when it should have.
    pub(super) fn begin_frame(&mut self) {
        let age = self.clock.now.saturating_since(Instant::EPOCH);
        let Some(number) = age.div_floor(self.frame_length) else {
            return;
        };
        let expected = if self.frame_end == Instant::EPOCH {
            0
        } else {
            self.frame.saturating_add(1)
        };
        if number > expected {
            self.clock.notice(Event::FramesSkipped {
                first: expected,
                count: number.saturating_sub(expected),
            });
        }
        self.frame = number;
        self.frame_end = Instant::EPOCH
            .saturating_add(self.frame_length.saturating_mul(number.saturating_add(1)));
        self.overrun = false;
        if self.mode > Level::LOWEST {
            self.set_mode(Level::LOWEST);
        }
        self.phase = Phase::Next(self.shape.levels.highest());
    }

    /// Closes and opens sub-frames of the present frame until one has to be waited for, or none is
    /// left. Each turn goes one step down, so there are at most two per level.
    pub(super) fn advance_frame(&mut self) {
        loop {
            match self.phase {
                Phase::BetweenFrames => break,
                Phase::Running(level) => {
                    if !self.cpus.iter().all(|cpu| cpu.reached) {
                        break;
                    }
                    self.close(level);
                }
                Phase::Next(level) => {
                    let highest = level == self.shape.levels.highest();
                    let age = self.clock.now.saturating_since(self.frame_start());
                    if highest || age <= self.allowance(level) {
                        self.open(level);
                    } else {
                        self.drop_from(level);
                        self.phase = Phase::BetweenFrames;
                    }
                }
            }
        }
    }

    fn frame_start(&self) -> Instant {
        self.frame_end.saturating_sub(self.frame_length)
    }

    /// How old the frame may be when the sub-frame of `level` begins.
    fn allowance(&self, level: Level) -> Duration {
        let row = self.row();
        self.shape
            .levels
            .iter()
            .filter(|&above| above > level)
            .filter_map(|above| self.barriers.get(self.shape.barrier(row, above, level)))
            .fold(self.overhead, |sum, &length| sum.saturating_add(length))
    }

    /// Gives every CPU the released jobs of its list.
    fn open(&mut self, level: Level) {
        let row = self.row();
        let mut position: usize = 0;
        for index in 0..self.cpus.len() {
            let start = position;
            let span = self.spans.get(self.shape.span(row, level, index)).copied();
            let entries = span
                .and_then(|span| Some(span.start..span.start.checked_add(span.len)?))
                .and_then(|range| self.entries.get(range))
                .unwrap_or(&[]);
            for &task in entries {
                let Some(jobs) = self.jobs.get_mut(task.index()) else {
                    continue;
                };
                let (Some(sequence), Some(entry)) =
                    (jobs.waiting.take(), self.sequence.get_mut(position))
                else {
                    continue;
                };
                jobs.placed = Some(Placed {
                    sequence,
                    cpu: index,
                    completed: false,
                });
                *entry = JobId { task, sequence };
                position = position.saturating_add(1);
            }
            if let Some(cpu) = self.cpus.get_mut(index) {
                cpu.start = start;
                cpu.len = position.saturating_sub(start);
                cpu.completed = 0;
                cpu.walked = 0;
                cpu.reached = cpu.len == 0;
            }
        }
        self.phase = Phase::Running(level);
    }

    /// All CPUs wait at the barrier: the sub-frame is over.
    fn close(&mut self, level: Level) {
        for entry in self.sequence.iter_mut() {
            if *entry == NO_JOB {
                break;
            }
            if let Some(jobs) = self.jobs.get_mut(entry.task.index()) {
                jobs.placed = None;
            }
            *entry = NO_JOB;
        }
        for cpu in self.cpus.iter_mut() {
            (cpu.start, cpu.len, cpu.completed, cpu.walked) = (0, 0, 0, 0);
            cpu.reached = false;
            cpu.running = None;
        }
        // After an overrun the rest was dropped when the frame was over.
        self.phase = if level == Level::LOWEST || self.overrun {
            Phase::BetweenFrames
        } else {
            Phase::Next(Level(level.0.saturating_sub(1)))
        };
    }

    /// Drops the sub-frame of `level` and all below it for this frame.
    fn drop_from(&mut self, level: Level) {
        let row = self.row();
        self.set_mode(level.next_higher());
        for dropped in level.up_to_self().rev() {
            for index in 0..self.cpus.len() {
                self.drop_list(self.shape.span(row, dropped, index));
            }
        }
    }

    fn drop_list(&mut self, span: usize) {
        let Some(&span) = self.spans.get(span) else {
            return;
        };
        for position in span.start..span.start.saturating_add(span.len) {
            let Some(&task) = self.entries.get(position) else {
                break;
            };
            if let Some(jobs) = self.jobs.get_mut(task.index())
                && let Some(sequence) = jobs.waiting.take()
            {
                let job = JobId { task, sequence };
                let why = DropReason::Mode;
                self.clock.notice(Event::Dropped { job, why });
            }
        }
    }

    fn set_mode(&mut self, to: Level) {
        let from = core::mem::replace(&mut self.mode, to);
        self.clock.notice(Event::ModeChanged {
            from,
            to,
            cause: None,
        });
    }

    /// The next wake-up is the next beginning of a frame that lies ahead.
    pub(super) fn select(&mut self) {
        let barrier = match self.phase {
            Phase::Running(level) => self.present_barrier(level),
            Phase::BetweenFrames | Phase::Next(_) => None,
        };
        for (cpu, (slot, sequence)) in self
            .cpus
            .iter()
            .zip(self.slots.iter_mut().zip(self.sequences.iter_mut()))
        {
            *sequence = barrier.map(|barrier| SequenceSpan {
                start: cpu.start,
                len: cpu.len,
                barrier,
            });
            let next = cpu.start.saturating_add(cpu.walked);
            *slot = self
                .sequence
                .get(next)
                .filter(|_| !cpu.reached && cpu.walked < cpu.len)
                .map(|&job| Slot { job, budget: None });
        }
        let age = self.clock.now.saturating_since(Instant::EPOCH);
        let begun = age.div_floor(self.frame_length).unwrap_or(0);
        let at = Instant::EPOCH
            .saturating_add(self.frame_length.saturating_mul(begun.saturating_add(1)));
        let why = WakeReason::Frame;
        self.wake = (at <= Instant::HORIZON).then_some(Wake { at, why });
    }
}
