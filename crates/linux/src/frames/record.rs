//! What the threads of a CPU note down while they go through frames.

use super::common::Common;
use super::domain::Spent;
use crate::parts::{Part, Parts};
use crate::stamps::Stamp;
use vestal_statistics::Histogram;

/// What a walker notes down, or by the threads of a paper one of those.
#[derive(Debug)]
pub(super) struct WalkRecord {
    /// From when a barrier was opened until this walker went on.
    pub(super) passed: Histogram,
    /// How long it had the domain.
    pub(super) handling: Histogram,
    /// From when a frame should begin for which it waited until it knew its jobs.
    pub(super) begins: Histogram,
    /// From when it came to a barrier as the last until it opened it.
    pub(super) opens: Histogram,
    /// From when a barrier was opened until it knew what was next.
    pub(super) goes_on: Histogram,
    /// What no other CPU waited for.
    pub(super) parts: Parts,
    /// By the threads of a paper: what all CPUs waited for, beside what the domain has noted down.
    pub(super) of_all: Parts,
    /// What its decisions for all CPUs took.
    pub(super) decided_nanos: u64,
    /// By the threads of a paper: how many jobs began before all CPUs had been initialised for their sub-frame.
    pub(super) started_early: u64,
    /// How often a checker looked, and how many sub-frames it found too long.
    pub(super) checks: u64,
    pub(super) late: u64,
}

impl Default for WalkRecord {
    fn default() -> Self {
        Self {
            passed: Histogram::default(),
            handling: Histogram::default(),
            begins: Histogram::default(),
            opens: Histogram::default(),
            goes_on: Histogram::default(),
            parts: Parts::of(&Part::OF_FRAMES),
            of_all: Parts::of(&Part::OF_FRAMES),
            decided_nanos: 0,
            started_early: 0,
            checks: 0,
            late: 0,
        }
    }
}

impl WalkRecord {
    /// A thread went on at a barrier that was opened at `since`, and to which it had come at `begun`. `counts`: others wait for it.
    pub(super) fn note_passed(
        &mut self,
        common: &Common,
        (begun, counts): (Stamp, bool),
        (since, now): (Stamp, Stamp),
    ) {
        let stamps = common.stamps;
        let (waited, took) = (stamps.between(begun, since), stamps.between(since, now));
        let parts = &mut self.parts;
        let keeps = common.keeps_nanos;
        parts.waiting_nanos = parts.waiting_nanos.saturating_add(waited.min(keeps));
        if !counts {
            return;
        }
        self.passed.record(took);
        parts.record(Part::Barrier, took);
        if waited >= keeps {
            // It slept, and was to be woken.
            parts.elsewhere_nanos = parts.elsewhere_nanos.saturating_add(took);
        }
    }

    /// The parts of its CPU: what it did itself, and what all waited for. Nobody waits on a CPU without a walker.
    pub(super) fn parts(&self, of_all: &Parts, has_walker: bool) -> Parts {
        let mut parts = self.parts.clone();
        if has_walker {
            parts.add_of_all(of_all, self.decided_nanos);
        }
        parts
    }

    /// With what another thread of the same CPU noted down.
    pub(super) fn merge(&mut self, other: &Self) {
        self.passed.merge(&other.passed);
        self.handling.merge(&other.handling);
        self.begins.merge(&other.begins);
        self.opens.merge(&other.opens);
        self.goes_on.merge(&other.goes_on);
        self.parts.merge(&other.parts);
        self.of_all.merge(&other.of_all);
        self.decided_nanos = self.decided_nanos.saturating_add(other.decided_nanos);
        self.started_early += other.started_early;
        self.checks += other.checks;
        self.late += other.late;
    }

    /// A call of the domain took so long, once it was this walker's turn; without a decision it was for `part`. `all`: what
    /// was decided for all CPUs.
    pub(super) fn note_call(&mut self, all: &mut Parts, spent: Spent, (took, part): (u64, Part)) {
        if let Some(arrivals) = spent.arrivals {
            self.parts.record(Part::JobArrival, arrivals);
        }
        let rest = took.saturating_sub(spent.arrivals.unwrap_or(0));
        match spent.decided {
            Some(decided) => {
                all.record(decided, rest);
                self.decided_nanos = self.decided_nanos.saturating_add(rest);
            }
            None => self.parts.record(part, rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(parts: &Parts) -> Vec<(Part, u64)> {
        let sums = parts
            .iter()
            .map(|(part, times)| (part, times.summary().sum));
        sums.filter(|(_, sum)| *sum > 0).collect()
    }

    #[test]
    fn a_decision_is_for_all_but_for_the_releases_that_it_is_told_of() {
        let (mut record, mut all) = (WalkRecord::default(), Parts::of(&Part::OF_FRAMES));
        let own = (100, Part::Barrier);
        record.note_call(&mut all, Spent::default(), own);
        assert_eq!(sums(&record.parts), [(Part::Barrier, 100)]);
        assert_eq!((sums(&all), record.decided_nanos), (Vec::new(), 0));
        let spent = Spent {
            decided: Some(Part::SubFrameOverrun),
            arrivals: Some(30),
        };
        record.note_call(&mut all, spent, own);
        let expected = [(Part::Barrier, 100), (Part::JobArrival, 30)];
        assert_eq!(sums(&record.parts), expected);
        assert_eq!(sums(&all), [(Part::SubFrameOverrun, 70)]);
        assert_eq!(record.decided_nanos, 70);
    }

    #[test]
    fn what_all_walkers_wait_for_is_in_no_part_of_a_cpu_without_one() {
        let mut of_all = Parts::of(&Part::OF_FRAMES);
        of_all.record(Part::FrameInit, 50);
        let record = WalkRecord {
            decided_nanos: 20,
            ..WalkRecord::default()
        };
        let sums = |has_walker| {
            let parts = record.parts(&of_all, has_walker);
            (parts.sum_nanos(), parts.elsewhere_nanos)
        };
        assert_eq!(sums(true), (50, 30));
        assert_eq!(sums(false), (0, 0));
    }
}
