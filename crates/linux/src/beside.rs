//! What the threads of a paper that work beside the manager of a CPU have counted, put down when they leave.

use crate::account::ThreadCost;
use crate::detections::Detections;
use vestal_statistics::Histogram;

/// Of the dispatcher and the overrun checkers of one CPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    pub(crate) dispatcher: ThreadCost,
    /// All of them together.
    pub(crate) checkers: ThreadCost,
    /// How long it took to register arrivals, each time, if that was on the CPU.
    pub(crate) arrivals: Histogram,
    /// How long the checkers took, each time.
    pub(crate) checks: Histogram,
    /// How often checkers looked at a job.
    pub(crate) activations: u64,
    pub(crate) detected: Detections,
}

impl Beside {
    /// One more checker: what it used, how long it took each time, how often it looked and what it found.
    pub(crate) fn add(
        &mut self,
        used: ThreadCost,
        checks: &Histogram,
        (looks, found): (u64, Detections),
    ) {
        self.checkers = self.checkers.and(used);
        self.checks.merge(checks);
        self.activations += looks;
        self.detected.first += found.first;
        self.detected.second += found.second;
        self.detected.later += found.later;
    }
}
