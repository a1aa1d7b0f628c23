//! Which missed deadlines had been guaranteed.
//!
//! Vestal's guarantee: a task of level z meets its deadlines as long as every job executes no more
//! than its C(z). The deadline of a job was therefore guaranteed unless, in the same busy period and
//! before that deadline, some job exceeded its C at the level of the job in question. Under adaptive
//! enforcement this says the same as "the mode was never above the task's level": the mode exceeds z
//! exactly when a job has used up its C(z).
//!
//! A job beyond C at its *own* level frees only itself from the guarantee, and the jobs of its task for as
//! long as its body has their thread: enforcement takes it out of the way of all others, and how late that
//! was is on the account of the run. Where nothing enforces that limit, such a job ends the guarantee to all.
//!
//! The busy period is reconstructed from what workers note: it goes on as long as a job is begun
//! that was released before the last one ended, or lost its priority. A job in the background delays none.

use super::busy::BusyLog;
use vestal_core::guarantee::bounds;
use vestal_core::model::{LEVELS_MAX, Task};
use vestal_core::{Instant, Level, Service};

/// The present busy period, and at which levels it was exceeded since when.
#[derive(Clone, Debug, Default)]
pub(super) struct Guarantees {
    /// How many jobs have begun and have their priorities.
    active: usize,
    last_end: u64,
    busy_since: u64,
    /// What the threads of the run had consumed when the present busy period began.
    consumed_before: u64,
    exceeded_at: [Option<u64>; LEVELS_MAX],
    busy: BusyLog,
}

impl Guarantees {
    /// A job released at `release` begins. `consumed` says what the threads of the run have consumed.
    pub(super) fn begin(&mut self, release: u64, consumed: impl FnOnce() -> u64) {
        if self.active == 0 && release >= self.last_end {
            self.busy_since = release;
            self.consumed_before = consumed();
            self.exceeded_at = [None; LEVELS_MAX];
            self.busy.begins(release, self.last_end);
        } else {
            self.busy.goes_on(release);
        }
        self.active += 1;
    }

    /// The busy periods of a run that was stopped at `stopped`, without one that this cut short. For
    /// when no job begins any more.
    pub(super) fn into_busy_periods(mut self, stopped: u64) -> BusyLog {
        if self.active == 0 && self.last_end <= stopped {
            self.busy.finish(self.last_end);
        }
        self.busy
    }

    /// When the present busy period, or the last one, began.
    pub(super) const fn busy_since(&self) -> u64 {
        self.busy_since
    }

    /// What the threads of the run consume after this was consumed in the present busy period.
    pub(super) const fn consumed_before(&self) -> u64 {
        self.consumed_before
    }

    /// Whether no job has run since `instant`.
    pub(super) const fn free_since(&self, instant: u64) -> bool {
        self.active == 0 && self.last_end <= instant
    }

    /// A job that began has ended, or lost its priority, at `now`.
    pub(super) fn leave(&mut self, now: u64) {
        self.last_end = self.last_end.max(now);
        self.active = self.active.saturating_sub(1);
    }

    /// A job of `task` has executed `executed` nanoseconds by `now`, and is stopped, or not, at the limit
    /// of its own level.
    pub(super) fn note_execution(
        &mut self,
        task: &Task,
        executed: u64,
        tolerance: u64,
        now: u64,
        is_stopped: bool,
    ) {
        for ((_, bound), exceeded_at) in bounds(task, is_stopped).zip(&mut self.exceeded_at) {
            if let Some(since) = beyond(bound, executed, tolerance, now) {
                *exceeded_at = Some(exceeded_at.map_or(since, |before| before.min(since)));
            }
        }
    }

    /// Since when the guarantee of `level` does not hold in the present busy period, if it does not.
    pub(super) fn exceeded(&self, level: Level) -> Option<Instant> {
        let since = *self.exceeded_at.get(level.index())?;
        since.map(Instant::from_nanos)
    }
}

/// The last body of a task that went on after its job had used up its limit or lost its priority: jobs behind
/// it wait for their thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockedBy(Option<(u64, u64)>);

impl BlockedBy {
    /// The body of job `by` returned at `until`.
    pub(super) const fn note(&mut self, by: u64, until: u64) {
        self.0 = Some((by, until));
    }

    /// Whether job `sequence`, released at `release`, waited for it.
    pub(super) fn blocks(self, sequence: u64, release: u64) -> bool {
        self.0
            .is_some_and(|(by, until)| by < sequence && release < until)
    }
}

/// Since when a job that has executed `executed` nanoseconds by `now` is beyond `allowed`, if it is: the
/// latest instant at which what exceeds can have begun.
pub(super) fn beyond(allowed: Service, executed: u64, tolerance: u64, now: u64) -> Option<u64> {
    let allowed = allowed.as_nanos();
    (executed > allowed.saturating_add(tolerance)).then(|| now.saturating_sub(executed - allowed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::guarantee::covers;
    use vestal_core::{Duration, Wcet};

    /// A job of `task` ended at `now` after executing `executed` nanoseconds; its own limit is enforced.
    fn end(guarantees: &mut Guarantees, task: &Task, executed: u64, tolerance: u64, now: u64) {
        guarantees.note_execution(task, executed, tolerance, now, true);
        guarantees.leave(now);
    }

    impl Guarantees {
        fn guaranteed(&self, level: Level, deadline: u64) -> bool {
            covers(Instant::from_nanos(deadline), self.exceeded(level), None)
        }
    }

    fn hi_task() -> Task {
        let wcet = Wcet::new(&[Service::from_nanos(20), Service::from_nanos(50)]).unwrap();
        Task::new(Level(1), Duration::from_nanos(1_000), DEADLINE, wcet).unwrap()
    }

    const DEADLINE: Duration = Duration::from_nanos(50);

    #[test]
    fn an_overrun_of_c_lo_frees_from_the_guarantee_to_lo_jobs_but_not_to_hi_jobs() {
        let mut guarantees = Guarantees::default();
        guarantees.begin(0, || 0);
        end(&mut guarantees, &hi_task(), 40, 0, 100);
        guarantees.begin(10, || 0);
        assert!(!guarantees.guaranteed(Level(0), 200));
        assert!(guarantees.guaranteed(Level(1), 200));
    }

    #[test]
    fn a_deadline_before_the_overrun_was_guaranteed() {
        let mut guarantees = Guarantees::default();
        guarantees.begin(0, || 0);
        end(&mut guarantees, &hi_task(), 40, 0, 100);
        assert!(guarantees.guaranteed(Level(0), 80), "exceeded from 80 on");
        assert!(!guarantees.guaranteed(Level(0), 81));
    }

    #[test]
    fn the_cpu_is_free_from_the_end_of_the_last_job_on() {
        let mut guarantees = Guarantees::default();
        assert!(guarantees.free_since(0));
        guarantees.begin(0, || 0);
        assert!(!guarantees.free_since(50));
        end(&mut guarantees, &hi_task(), 20, 0, 100);
        assert!(!guarantees.free_since(99));
        assert!(guarantees.free_since(100));
    }

    #[test]
    fn busy_periods_span_jobs_that_wait_for_each_other() {
        let mut guarantees = Guarantees::default();
        let task = hi_task();
        guarantees.begin(10, || 0);
        guarantees.begin(20, || 0);
        end(&mut guarantees, &task, 5, 0, 30);
        end(&mut guarantees, &task, 5, 0, 40);
        // Released before the last one ended: the same busy period.
        guarantees.begin(35, || 0);
        end(&mut guarantees, &task, 5, 0, 60);
        guarantees.begin(100, || 0);
        end(&mut guarantees, &task, 5, 0, 130);
        let cut: Vec<_> = guarantees.clone().into_busy_periods(120).iter().collect();
        assert_eq!(cut, [(10, 60)]);
        let periods: Vec<_> = guarantees.into_busy_periods(130).iter().collect();
        assert_eq!(periods, [(10, 60), (100, 130)]);
    }

    #[test]
    fn the_next_busy_period_is_guaranteed_again() {
        let mut guarantees = Guarantees::default();
        guarantees.begin(0, || 0);
        end(&mut guarantees, &hi_task(), 40, 0, 100);
        assert!(!guarantees.guaranteed(Level(0), 200));
        guarantees.begin(100, || 0);
        assert!(guarantees.guaranteed(Level(0), 200));
    }

    #[test]
    fn a_job_beyond_its_own_c_ends_the_guarantee_to_others_only_where_nothing_stops_it() {
        for (is_stopped, guaranteed) in [(true, [false, true, true]), (false, [false; 3])] {
            let mut guarantees = Guarantees::default();
            guarantees.begin(0, || 0);
            guarantees.note_execution(&hi_task(), 60, 0, 100, is_stopped);
            let kept = [0, 1, 2].map(|level| guarantees.guaranteed(Level(level), 200));
            assert_eq!(kept, guaranteed);
            // 20 and 50 of the 60 were allowed.
            assert!(guarantees.guaranteed(Level(0), 60) && guarantees.guaranteed(Level(1), 90));
        }
    }

    #[test]
    fn execution_within_the_tolerance_breaks_no_guarantee() {
        let mut guarantees = Guarantees::default();
        guarantees.begin(0, || 0);
        end(&mut guarantees, &hi_task(), 25, 5, 100);
        guarantees.begin(50, || 0);
        assert!(guarantees.guaranteed(Level(0), 200));
        end(&mut guarantees, &hi_task(), 26, 5, 130);
        assert!(
            !guarantees.guaranteed(Level(0), 200),
            "and no more than that"
        );
    }
}
