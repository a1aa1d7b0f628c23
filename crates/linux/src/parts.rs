//! What carrying a policy out takes of a CPU, in the parts of Sigrist, Giannopoulou, Huang, Gomez and Thiele (RTAS 2015,
//! section VI-C).
//!
//! | part | a manager's CPU | a walker's CPU |
//! |---|---|---|
//! | frame-init | | who is there when a frame begins, or notices that the one before is not over, decides |
//! | sub-frame-init | | the last at a barrier decides; each takes its sequence, and begins its jobs |
//! | barrier | | to come to it as one of the others, to open it, and to go on once it is open |
//! | sub-frame-overrun | | the last at a barrier finds that the sub-frames below are dropped |
//! | job-arrival | rounds for releases; a worker begins its job | releases are reported to the scheduler |
//! | job-finish | rounds for ends, also of what was terminated; a worker ends its job | a walker ends a job |
//! | monitoring | rounds that look at budgets and instants in vain; what a manager arms | |
//! | job-overrun | rounds in which a budget was found used up or the mode rises | |
//!
//! By the threads of Sigrist et al. (2015) a frame table has the same parts: the scheduler's calls, with the waking of the first workers, are frame-init, sub-frame-init or
//! sub-frame-overrun of all CPUs, what the dispatcher does is job-arrival, to wake the next worker job-finish, and what the scheduler needs to go on at a
//! barrier barrier: nobody waits for the workers there. What checkers do is in no part.
//!
//! Each is the time between two readings of the clock, so that what others took of the CPU meanwhile counts. A decision
//! for all CPUs of a frame table counts once for each of them, as in the paper: they wait for it.

use vestal_statistics::Histogram;

/// A part of what carrying a policy out takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Frames begin.
    FrameInit,
    /// Sub-frames begin, with their jobs.
    SubFrameInit,
    /// CPUs wait for each other, once the last one is there.
    Barrier,
    /// A sub-frame is dropped, because those above took too long.
    SubFrameOverrun,
    /// Jobs are released, and begin where there are no sub-frames.
    JobArrival,
    /// Jobs end.
    JobFinish,
    /// Budgets are watched.
    Monitoring,
    /// A budget was used up.
    JobOverrun,
}

impl Part {
    /// The parts where walkers go through frames.
    pub const OF_FRAMES: [Self; 6] = [
        Self::FrameInit,
        Self::SubFrameInit,
        Self::Barrier,
        Self::SubFrameOverrun,
        Self::JobArrival,
        Self::JobFinish,
    ];

    /// The parts where a manager decides.
    pub const OF_MANAGERS: [Self; 4] = [
        Self::JobArrival,
        Self::JobFinish,
        Self::Monitoring,
        Self::JobOverrun,
    ];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FrameInit => "frame-init",
            Self::SubFrameInit => "sub-frame-init",
            Self::Barrier => "barrier",
            Self::SubFrameOverrun => "sub-frame-overrun",
            Self::JobArrival => "job-arrival",
            Self::JobFinish => "job-finish",
            Self::Monitoring => "monitoring",
            Self::JobOverrun => "job-overrun",
        }
    }
}

/// What the parts of one CPU took, time by time, in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    by_part: Vec<(Part, Histogram)>,
    /// Of all that: what no thread of the CPU consumed.
    pub(crate) elsewhere_nanos: u64,
    /// What a thread of the CPU consumed beside that while it only waited for others.
    pub(crate) waiting_nanos: u64,
}

impl Parts {
    /// Of these parts. No memory is asked for later.
    pub(crate) fn of(parts: &[Part]) -> Self {
        let each = parts.iter().map(|&part| (part, Histogram::default()));
        Self {
            by_part: each.collect(),
            elsewhere_nanos: 0,
            waiting_nanos: 0,
        }
    }

    /// A part took so long, if it is one of these.
    pub(crate) fn record(&mut self, part: Part, nanos: u64) {
        if let Some(histogram) = self.of_part(part) {
            histogram.record(nanos);
        }
    }

    /// The part took as long as `others` say each time.
    pub(crate) fn add(&mut self, part: Part, others: &Histogram) {
        if let Some(histogram) = self.of_part(part) {
            histogram.merge(others);
        }
    }

    /// With the others, of the same parts.
    pub(crate) fn merge(&mut self, others: &Self) {
        for (part, times) in others.iter() {
            self.add(part, times);
        }
        self.elsewhere_nanos = self.elsewhere_nanos.saturating_add(others.elsewhere_nanos);
        self.waiting_nanos = self.waiting_nanos.saturating_add(others.waiting_nanos);
    }

    /// What all CPUs waited for took so long, `own_nanos` of it on this one.
    pub(crate) fn add_of_all(&mut self, all: &Self, own_nanos: u64) {
        for (part, times) in all.iter() {
            self.add(part, times);
        }
        let elsewhere = all.sum_nanos().saturating_sub(own_nanos);
        self.elsewhere_nanos = self.elsewhere_nanos.saturating_add(elsewhere);
    }

    /// Whether it is one of these.
    pub(crate) fn has(&self, part: Part) -> bool {
        self.by_part.iter().any(|(one, _)| *one == part)
    }

    fn of_part(&mut self, part: Part) -> Option<&mut Histogram> {
        let mut all = self.by_part.iter_mut();
        all.find(|(one, _)| *one == part)
            .map(|(_, histogram)| histogram)
    }

    /// Each part, in the order in which they were named.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Part, &Histogram)> {
        let all = self.by_part.iter();
        all.map(|(part, histogram)| (*part, histogram))
    }

    /// All of them.
    pub(crate) fn sum_nanos(&self) -> u64 {
        let sums = self.iter().map(|(_, histogram)| histogram.spread().sum());
        u64::try_from(sums.sum::<u128>()).unwrap_or(u64::MAX)
    }
}

impl Default for Parts {
    fn default() -> Self {
        Self::of(&Part::OF_MANAGERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_of_a_part_is_in_it_alone_and_in_the_sum() {
        let mut parts = Parts::of(&Part::OF_FRAMES);
        parts.record(Part::Barrier, 5);
        parts.record(Part::Barrier, 7);
        let mut ends = Histogram::default();
        ends.record(100);
        parts.add(Part::JobFinish, &ends);
        // No part of frames.
        parts.record(Part::Monitoring, 1_000);
        let sums = parts
            .iter()
            .map(|(part, found)| (part, found.summary().sum));
        let some: Vec<_> = sums.filter(|(_, sum)| *sum > 0).collect();
        assert_eq!(some, [(Part::Barrier, 12), (Part::JobFinish, 100)]);
        assert_eq!(parts.sum_nanos(), 112);
    }

    #[test]
    fn what_all_wait_for_is_in_the_parts_of_each_and_elsewhere_but_for_what_it_did_itself() {
        let mut all = Parts::of(&Part::OF_FRAMES);
        all.record(Part::FrameInit, 50);
        all.record(Part::SubFrameInit, 20);
        for own in [0, 20, 70] {
            let mut parts = Parts::of(&Part::OF_FRAMES);
            parts.record(Part::SubFrameInit, 3);
            parts.add_of_all(&all, own);
            assert_eq!(parts.sum_nanos(), 73);
            assert_eq!(parts.elsewhere_nanos, 70 - own);
        }
    }
}
