//! What the threads of each CPU of a frame table executed when: a time for which one of them did, the process was not stopped.
//!
//! All is in nanoseconds after the epoch.

use std::collections::VecDeque;

/// How many of the newest are remembered of a CPU.
const REMEMBERED: usize = 4096;

/// A thread executed for so long between two instants, at which it was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) began: u64,
    pub(super) end: u64,
    pub(super) nanos: u64,
}

impl Ran {
    /// What it executed at least of that within a window: it may have been at work whenever it was outside.
    fn within(&self, since: u64, until: u64) -> u64 {
        let before = since.saturating_sub(self.began);
        let after = self.end.saturating_sub(until);
        self.nanos.saturating_sub(before).saturating_sub(after)
    }
}

/// What was executed, by CPU.
#[derive(Clone, Debug, Default)]
pub(super) struct RanLog(Vec<VecDeque<Ran>>);

impl RanLog {
    /// Notes it down. Times of one CPU may overlap, as where a thread preempted another one; what was executed does not.
    pub(super) fn record(&mut self, cpu: usize, ran: Ran) {
        while self.0.len() <= cpu {
            self.0.push(VecDeque::new());
        }
        if let Some(of_cpu) = self.0.get_mut(cpu) {
            if of_cpu.len() == REMEMBERED {
                of_cpu.pop_front();
            }
            of_cpu.push_back(ran);
        }
    }

    /// For how long, at most, no thread executed on any CPU at once in a window: on the CPU whose threads executed most, by
    /// what is remembered.
    pub(super) fn nobody_within(&self, since: u64, until: u64) -> u64 {
        let sums = self.0.iter().map(|of_cpu| {
            let parts = of_cpu.iter().map(|ran| ran.within(since, until));
            parts.fold(0, u64::saturating_add)
        });
        let most = sums.max().unwrap_or(0);
        until.saturating_sub(since).saturating_sub(most)
    }

    /// Nothing from before an instant will be asked for.
    pub(super) fn forget_until(&mut self, instant: u64) {
        for of_cpu in &mut self.0 {
            of_cpu.retain(|ran| ran.end > instant);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(began: u64, end: u64, nanos: u64) -> Ran {
        Ran { began, end, nanos }
    }

    #[test]
    fn of_a_window_counts_what_was_executed_in_it_for_sure() {
        let one = ran(10, 30, 15);
        assert_eq!(one.within(0, 100), 15);
        assert_eq!(one.within(10, 30), 15);
        // It may have executed all the time until 18, or from 22 on.
        assert_eq!(one.within(18, 100), 7);
        assert_eq!(one.within(0, 22), 7);
        assert_eq!(one.within(18, 22), 0);
        assert_eq!(one.within(40, 50), 0);
        assert_eq!(one.within(0, 5), 0);
    }

    #[test]
    fn nobody_executed_for_no_longer_than_on_the_cpu_that_did_most() {
        let mut log = RanLog::default();
        assert_eq!(log.nobody_within(0, 100), 100);
        log.record(1, ran(0, 20, 20));
        log.record(0, ran(0, 30, 30));
        log.record(1, ran(50, 90, 35));
        assert_eq!(log.nobody_within(0, 100), 45);
        assert_eq!(log.nobody_within(0, 40), 10);
        log.forget_until(30);
        assert_eq!(log.nobody_within(0, 100), 65);
        for _ in 0..REMEMBERED {
            log.record(1, ran(90, 90, 0));
        }
        assert_eq!(log.nobody_within(0, 100), 100);
    }
}
