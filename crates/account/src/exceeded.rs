//! By how much budgets that outlive jobs were exceeded, and which of those budgets the machine disturbed.

use super::stolen::StolenLog;
use vestal_statistics::Histogram;

/// A budget that was used up, as clock readings: its thread had run since `since`, and has gone on at `now`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// The clock when it began to run.
    pub since: u64,
    /// The clock when it goes on.
    pub now: u64,
    /// What the thread used beyond it until it stood.
    pub beyond: u64,
}

/// All budgets of a run that were used up.
#[derive(Clone, Debug, Default)]
pub struct ExceededLog {
    /// Of each, by how much.
    pub all: Histogram,
    /// Those of which nothing was stolen meanwhile.
    pub undisturbed: Histogram,
    /// The last one: the thread that went on is yet to say what it found.
    last: Option<Exceeded>,
}

impl ExceededLog {
    /// The next one; with what is known by now of stolen time the last one is judged.
    pub(super) fn take(&mut self, next: Exceeded, stolen: &StolenLog, lost_until: u64) {
        self.settle(stolen, lost_until);
        self.last = Some(next);
    }

    /// There is no other. Notes were lost until `lost_until`: of what was before nobody knows whether time was stolen.
    pub(super) fn settle(&mut self, stolen: &StolenLog, lost_until: u64) {
        let Some(Exceeded { since, now, beyond }) = self.last.take() else {
            return;
        };
        self.all.record(beyond);
        if since >= lost_until && stolen.within(since, now).nanos == 0 {
            self.undisturbed.record(beyond);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Thief;
    use crate::stolen::StolenInterval;

    fn steal(log: &mut StolenLog, from: u64, to: u64) {
        log.record(StolenInterval {
            from,
            to,
            charged: 0,
            thief: Thief::Unknown,
        });
    }

    #[test]
    fn a_budget_is_disturbed_by_what_is_found_stolen_before_the_next_one_is_used_up() {
        let (mut log, mut stolen) = (ExceededLog::default(), StolenLog::default());
        for (since, beyond) in [(100, 7), (200, 9), (300, 11)] {
            let now = since + 50;
            log.take(Exceeded { since, now, beyond }, &stolen, 0);
            if since == 200 {
                // Its thread says so when it goes on.
                steal(&mut stolen, 249, 260);
                steal(&mut stolen, 350, 360);
            }
        }
        log.settle(&stolen, 0);
        log.settle(&stolen, 0);
        let all = log.all.summary();
        assert_eq!((all.count, all.sum), (3, 27));
        let undisturbed = log.undisturbed.summary();
        assert_eq!((undisturbed.count, undisturbed.max), (2, 11));
        // A note that was lost may have been the one about stolen time.
        for (since, known) in [(400, 2), (500, 3)] {
            let (now, beyond) = (since + 50, 8);
            log.take(Exceeded { since, now, beyond }, &stolen, 450);
            log.settle(&stolen, 450);
            assert_eq!(log.undisturbed.summary().count, known);
        }
    }
}
