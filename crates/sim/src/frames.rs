//! What became of the frames of a table, in constant memory: an observer beside [`crate::Statistics`].

use crate::count;
use crate::guarantee::Guarantee;
use crate::observer::{JobState, Observer, Segment};
use vestal_core::{CpuId, DropReason, Duration, Instant, JobId, Level, Task};

/// What became of the frames of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameStatistics {
    /// How many began within the run by the clock: at multiples of their length, also those that were skipped.
    pub total: u64,
    /// How many of them were skipped as a whole, as far as the scheduler said so within the run: an earlier one had
    /// not ended. It says so when a frame begins again.
    pub skipped: u64,
    /// In how many the sub-frame of the lowest criticality was dropped, alone or with others above it.
    pub lowest_skipped: u64,
    /// How many ended before their last sub-frame did.
    pub overrun: u64,
    /// How many jobs were dropped with their sub-frame although no job had needed more than at their level.
    pub unprovoked: u64,
}

impl FrameStatistics {
    /// The sum with those of another table.
    #[must_use]
    pub const fn and(&self, other: &Self) -> Self {
        Self {
            total: self.total.saturating_add(other.total),
            skipped: self.skipped.saturating_add(other.skipped),
            lowest_skipped: self.lowest_skipped.saturating_add(other.lowest_skipped),
            overrun: self.overrun.saturating_add(other.overrun),
            unprovoked: self.unprovoked.saturating_add(other.unprovoked),
        }
    }
}

/// An [`Observer`] of frames. With several domains in a world it has to be told of that of the table alone.
#[derive(Clone, Debug)]
pub struct FrameCounter {
    length: Duration,
    tasks: Vec<Task>,
    guarantee: Guarantee,
    figures: FrameStatistics,
}

impl FrameCounter {
    /// For frames of this length with these tasks.
    #[must_use]
    pub fn new(length: Duration, tasks: Vec<Task>) -> Self {
        Self {
            length,
            guarantee: Guarantee::without_limits(&tasks),
            tasks,
            figures: FrameStatistics::default(),
        }
    }

    /// What became of them; complete once the run is over.
    #[must_use]
    pub const fn figures(&self) -> FrameStatistics {
        self.figures
    }
}

impl Observer for FrameCounter {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        self.guarantee.executed(segment, job);
    }
    fn started(&mut self, at: Instant, cpu: CpuId, job: &JobState) {
        self.guarantee.started(at, cpu, job);
    }
    fn idle(&mut self, at: Instant) {
        self.guarantee.idle(at);
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        let task = self.tasks.get(job.id.task.index());
        let held = task.is_some_and(|task| self.guarantee.holds_until(task.criticality, at));
        if why == DropReason::Mode && held {
            count(&mut self.figures.unprovoked);
        }
    }
    /// The indicator rises once in a frame at most: whatever is dropped, all below it is dropped too.
    fn mode_changed(&mut self, _: Instant, from: Level, to: Level, _: Option<JobId>) {
        if from == Level::LOWEST && to > from {
            count(&mut self.figures.lowest_skipped);
        }
    }
    fn frame_overran(&mut self, _: Instant, _: u64) {
        count(&mut self.figures.overrun);
    }
    fn frames_skipped(&mut self, _: Instant, _: u64, more: u64) {
        self.figures.skipped = self.figures.skipped.saturating_add(more);
    }
    fn finished(&mut self, end: Instant) {
        let run = end.saturating_since(Instant::EPOCH).as_nanos();
        if !self.length.is_zero() {
            self.figures.total = run.div_ceil(self.length.as_nanos());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_by_the_clock_and_by_what_the_scheduler_says() {
        let at = Instant::from_nanos;
        let totals = [0, 1, 9, 10, 11, 20].map(|end| {
            let mut counter = FrameCounter::new(Duration::from_nanos(10), Vec::new());
            counter.finished(at(end));
            counter.figures().total
        });
        assert_eq!(totals, [0, 1, 1, 1, 2, 2]);
        let mut counter = FrameCounter::new(Duration::from_nanos(10), Vec::new());
        let (low, middle, high) = (Level(0), Level(1), Level(2));
        counter.mode_changed(at(3), low, high, None);
        counter.mode_changed(at(10), high, low, None);
        counter.frame_overran(at(20), 1);
        counter.mode_changed(at(20), low, middle, None);
        counter.frames_skipped(at(45), 2, 2);
        counter.mode_changed(at(45), middle, low, None);
        counter.finished(at(50));
        let expected = FrameStatistics {
            total: 5,
            skipped: 2,
            lowest_skipped: 2,
            overrun: 1,
            unprovoked: 0,
        };
        assert_eq!(counter.figures(), expected);
    }
}
