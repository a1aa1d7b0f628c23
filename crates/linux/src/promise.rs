//! Which missed deadlines had been promised.
//!
//! Vestal's promise: a task of level z meets its deadlines as long as every job executes no more
//! than its C(z). The deadline of a job was therefore promised unless, in the same busy period and
//! before that deadline, some job (itself included) exceeded its C at the level of the job in
//! question. Under adaptive enforcement this says the same as "the mode was never above the task's
//! level": the mode exceeds z exactly when a job has used up its C(z).
//!
//! The busy period is reconstructed from what workers report: it goes on as long as a job is begun
//! that was released before the last one ended.

use crate::busy::BusyLog;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use vestal_core::Level;
use vestal_core::model::{LEVELS_MAX, Task};

const NEVER: u64 = u64::MAX;

/// The present busy period, and at which levels it was exceeded since when.
///
/// Written by workers that share a CPU and preempt each other in priority order only.
#[derive(Debug)]
pub(crate) struct Promises {
    active: AtomicU32,
    last_end: AtomicU64,
    busy_since: AtomicU64,
    /// What the threads of the run had consumed when the present busy period began.
    consumed_before: AtomicU64,
    exceeded_at: [AtomicU64; LEVELS_MAX],
    busy: BusyLog,
}

impl Promises {
    pub(crate) fn new() -> Self {
        Self {
            active: AtomicU32::new(0),
            last_end: AtomicU64::new(0),
            busy_since: AtomicU64::new(0),
            consumed_before: AtomicU64::new(0),
            exceeded_at: [const { AtomicU64::new(NEVER) }; LEVELS_MAX],
            busy: BusyLog::new(),
        }
    }

    /// A job released at `release` begins. `consumed` says what the threads of the run have consumed.
    pub(crate) fn begin(&self, release: u64, consumed: impl FnOnce() -> u64) {
        let first = self.active.fetch_add(1, Ordering::SeqCst) == 0;
        let last_end = self.last_end.load(Ordering::SeqCst);
        if first && release >= last_end {
            self.busy_since.store(release, Ordering::SeqCst);
            self.consumed_before.store(consumed(), Ordering::SeqCst);
            for level in &self.exceeded_at {
                level.store(NEVER, Ordering::SeqCst);
            }
            self.busy.begins(release, last_end);
        } else {
            self.busy.goes_on(release);
        }
    }

    /// The busy periods of a run that was stopped at `stopped`, without one that this cut short. For
    /// when no job begins any more.
    pub(crate) fn busy_periods(&self, stopped: u64) -> &BusyLog {
        let last_end = self.last_end.load(Ordering::SeqCst);
        if self.active.load(Ordering::SeqCst) == 0 && last_end <= stopped {
            self.busy.finish(last_end);
        }
        &self.busy
    }

    /// When the present busy period, or the last one, began.
    pub(crate) fn busy_since(&self) -> u64 {
        self.busy_since.load(Ordering::SeqCst)
    }

    /// What the threads of the run consume after this was consumed in the present busy period.
    pub(crate) fn consumed_before(&self) -> u64 {
        self.consumed_before.load(Ordering::SeqCst)
    }

    /// Whether no job has run since `instant`.
    pub(crate) fn free_since(&self, instant: u64) -> bool {
        self.active.load(Ordering::SeqCst) == 0 && self.last_end.load(Ordering::SeqCst) <= instant
    }

    /// A job of `task` ended at `now` after executing `executed` nanoseconds.
    pub(crate) fn end(&self, task: &Task, executed: u64, tolerance: u64, now: u64) {
        self.note_execution(task, executed, tolerance, now);
        self.last_end.fetch_max(now, Ordering::SeqCst);
        self.active.fetch_sub(1, Ordering::SeqCst);
    }

    /// A job of `task` has executed `executed` nanoseconds by `now`.
    pub(crate) fn note_execution(&self, task: &Task, executed: u64, tolerance: u64, now: u64) {
        for (level, exceeded_at) in (0_u8..).zip(&self.exceeded_at) {
            let allowed = task.wcet.at(Level(level)).as_nanos();
            if executed > allowed.saturating_add(tolerance) {
                // What exceeds was executed since: this is the latest instant it can have begun.
                let since = now.saturating_sub(executed - allowed);
                exceeded_at.fetch_min(since, Ordering::SeqCst);
            }
        }
    }

    /// A job of `task` was found to have used up C at its own level at `now`.
    pub(crate) fn note_used_up(&self, task: &Task, now: u64) {
        for exceeded_at in self.exceeded_at.iter().skip(task.criticality.index()) {
            exceeded_at.fetch_min(now, Ordering::SeqCst);
        }
    }

    /// Whether the present busy period kept the promise to a job of level `level` due at `deadline`.
    pub(crate) fn promised(&self, level: Level, deadline: u64) -> bool {
        self.exceeded_at
            .get(level.index())
            .is_some_and(|exceeded_at| exceeded_at.load(Ordering::SeqCst) >= deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{Duration, Service, Wcet};

    fn hi_task() -> Task {
        let wcet = Wcet::new(&[Service::from_nanos(20), Service::from_nanos(50)]).unwrap();
        let span = Duration::from_nanos(1_000);
        Task::new(Level(1), span, span, wcet).unwrap()
    }

    #[test]
    fn an_overrun_of_c_lo_frees_from_the_promise_to_lo_jobs_but_not_to_hi_jobs() {
        let promises = Promises::new();
        promises.begin(0, || 0);
        promises.end(&hi_task(), 40, 0, 100);
        promises.begin(10, || 0);
        assert!(!promises.promised(Level(0), 200));
        assert!(promises.promised(Level(1), 200));
    }

    #[test]
    fn a_deadline_before_the_overrun_was_promised() {
        let promises = Promises::new();
        promises.begin(0, || 0);
        promises.end(&hi_task(), 40, 0, 100);
        assert!(promises.promised(Level(0), 80), "exceeded from 80 on");
        assert!(!promises.promised(Level(0), 81));
    }

    #[test]
    fn the_cpu_is_free_from_the_end_of_the_last_job_on() {
        let promises = Promises::new();
        assert!(promises.free_since(0));
        promises.begin(0, || 0);
        assert!(!promises.free_since(50));
        promises.end(&hi_task(), 20, 0, 100);
        assert!(!promises.free_since(99));
        assert!(promises.free_since(100));
    }

    #[test]
    fn busy_periods_span_jobs_that_wait_for_each_other() {
        let promises = Promises::new();
        let task = hi_task();
        promises.begin(10, || 0);
        promises.begin(20, || 0);
        promises.end(&task, 5, 0, 30);
        promises.end(&task, 5, 0, 40);
        // Released before the last one ended: the same busy period.
        promises.begin(35, || 0);
        promises.end(&task, 5, 0, 60);
        promises.begin(100, || 0);
        promises.end(&task, 5, 0, 130);
        let cut: Vec<_> = promises.busy_periods(120).iter().collect();
        assert_eq!(cut, [(10, 60)]);
        let periods: Vec<_> = promises.busy_periods(130).iter().collect();
        assert_eq!(periods, [(10, 60), (100, 130)]);
    }

    #[test]
    fn the_next_busy_period_is_promised_again() {
        let promises = Promises::new();
        promises.begin(0, || 0);
        promises.end(&hi_task(), 60, 0, 100);
        assert!(!promises.promised(Level(1), 200));
        promises.begin(100, || 0);
        assert!(promises.promised(Level(1), 200));
    }

    #[test]
    fn execution_within_the_tolerance_breaks_no_promise() {
        let promises = Promises::new();
        promises.begin(0, || 0);
        promises.end(&hi_task(), 25, 5, 100);
        promises.begin(50, || 0);
        assert!(promises.promised(Level(0), 200));
        promises.end(&hi_task(), 26, 5, 130);
        assert!(!promises.promised(Level(0), 200), "and no more than that");
    }
}
