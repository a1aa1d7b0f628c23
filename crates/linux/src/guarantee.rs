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
//! The busy period is reconstructed from what workers report: it goes on as long as a job is begun
//! that was released before the last one ended, or lost its priority. A job in the background delays none.

use crate::busy::BusyLog;
use crate::shared::{Shared, TaskShared};
use crate::sys::clock::monotonic_nanos;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use vestal_core::guarantee::{bounds, covers};
use vestal_core::model::{LEVELS_MAX, Task};
use vestal_core::{Instant, Level, Service};

const NEVER: u64 = u64::MAX;

/// The present busy period, and at which levels it was exceeded since when.
///
/// Written by workers that share a CPU and preempt each other in priority order only.
#[derive(Debug)]
pub(crate) struct Guarantees {
    active: AtomicU32,
    last_end: AtomicU64,
    busy_since: AtomicU64,
    /// What the threads of the run had consumed when the present busy period began.
    consumed_before: AtomicU64,
    exceeded_at: [AtomicU64; LEVELS_MAX],
    busy: BusyLog,
}

impl Guarantees {
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

    /// A job that began has ended, or lost its priority, at `now`.
    pub(crate) fn leave(&self, now: u64) {
        self.last_end.fetch_max(now, Ordering::SeqCst);
        self.active.fetch_sub(1, Ordering::SeqCst);
    }

    /// A job of `task` has executed `executed` nanoseconds by `now`, and is stopped, or not, at the limit
    /// of its own level.
    pub(crate) fn note_execution(
        &self,
        task: &Task,
        executed: u64,
        tolerance: u64,
        now: u64,
        is_stopped: bool,
    ) {
        for ((_, bound), exceeded_at) in bounds(task, is_stopped).zip(&self.exceeded_at) {
            if let Some(since) = since(bound, executed, tolerance, now) {
                exceeded_at.fetch_min(since, Ordering::SeqCst);
            }
        }
    }

    /// Since when the guarantee of `level` does not hold in the present busy period, if it does not.
    fn exceeded(&self, level: Level) -> Option<Instant> {
        let since = self.exceeded_at.get(level.index())?.load(Ordering::SeqCst);
        (since != NEVER).then(|| Instant::from_nanos(since))
    }
}

/// The last body of a task that went on after its job had used up its limit or lost its priority: jobs behind
/// it wait for their thread. Written by the worker.
#[derive(Debug, Default)]
pub(crate) struct BlockedBy {
    /// Its job, plus one.
    by: AtomicU64,
    /// When it returned.
    until: AtomicU64,
}

impl BlockedBy {
    fn note(&self, by: u64, until: u64) {
        self.by.store(by.saturating_add(1), Ordering::SeqCst);
        self.until.store(until, Ordering::SeqCst);
    }

    /// Whether job `sequence`, released at `release`, waited for it.
    fn blocks(&self, sequence: u64, release: u64) -> bool {
        (1..=sequence).contains(&self.by.load(Ordering::SeqCst))
            && release < self.until.load(Ordering::SeqCst)
    }
}

/// Since when a job that has executed `executed` nanoseconds by `now` is beyond `allowed`, if it is: the
/// latest instant at which what exceeds can have begun.
fn since(allowed: Service, executed: u64, tolerance: u64, now: u64) -> Option<u64> {
    let allowed = allowed.as_nanos();
    (executed > allowed.saturating_add(tolerance)).then(|| now.saturating_sub(executed - allowed))
}

impl Shared {
    /// Whether a job that used up the limit of its own level makes way for all others.
    fn stops_at_own_limit(&self) -> bool {
        self.duties.watches_budgets && self.stops_at_own_limit
    }

    /// Job `sequence` of `task`, released at `release`, begins.
    pub(crate) fn begin_at_priority(&self, task: &TaskShared, sequence: u64, release: u64) {
        self.guarantees.begin(release, || self.consumed());
        let deadline = task.configuration.task.deadline.as_nanos();
        self.note_due(task, release.saturating_add(deadline));
        task.has_priority.store(true, Ordering::SeqCst);
        // The manager could not see it there before.
        if task.lost_its_priority(sequence) {
            self.lose_priority(task);
        }
    }

    /// The present job of `task` loses its priority, if it has one.
    pub(crate) fn lose_priority(&self, task: &TaskShared) {
        if task.has_priority.load(Ordering::SeqCst) {
            self.leave_priority(task, task.executed().unwrap_or(0), monotonic_nanos());
        }
    }

    /// Job `sequence` of `task` ended at `now` after executing `executed` nanoseconds. What it did in the
    /// background delays none but those behind it.
    pub(crate) fn end_at_priority(
        &self,
        task: &TaskShared,
        sequence: u64,
        executed: u64,
        now: u64,
    ) {
        let used_up = self.used_up(task, executed, now).is_some();
        if used_up || task.lost_its_priority(sequence) {
            task.blocked_by.note(sequence, now);
        }
        self.leave_priority(task, executed, now);
    }

    /// The body of job `sequence` of `task` does not return.
    pub(crate) fn stays(&self, task: &TaskShared, sequence: u64) {
        let executed = task.executed().unwrap_or(0);
        let used_up = self.used_up(task, executed, monotonic_nanos()).is_some();
        if used_up || task.lost_its_priority(sequence) {
            task.blocked_by.note(sequence, u64::MAX);
        }
        self.lose_priority(task);
    }

    fn leave_priority(&self, task: &TaskShared, executed: u64, now: u64) {
        task.late.end();
        if task.has_priority.swap(false, Ordering::SeqCst) {
            self.note_execution(task, executed, now);
            self.guarantees.leave(now);
        }
    }

    /// Since when a job of `task` is beyond its own limit, if it is.
    fn used_up(&self, task: &TaskShared, executed: u64, now: u64) -> Option<u64> {
        let own = task.configuration.task.own_wcet();
        since(own, executed, self.tolerance_nanos, now)
    }

    /// A job of `task` has executed `executed` nanoseconds by `now`.
    fn note_execution(&self, task: &TaskShared, executed: u64, now: u64) {
        let (model, is_stopped) = (&task.configuration.task, self.stops_at_own_limit());
        self.guarantees
            .note_execution(model, executed, self.tolerance_nanos, now, is_stopped);
    }

    /// Whether job `sequence` of `task`, released at `release`, which has executed `executed` nanoseconds
    /// by `now`, had been guaranteed its deadline.
    pub(crate) fn was_guaranteed(
        &self,
        task: &TaskShared,
        (sequence, release): (u64, u64),
        (executed, now): (u64, u64),
    ) -> bool {
        let model = &task.configuration.task;
        let due = release.saturating_add(model.deadline.as_nanos());
        let by_account = self.used_up(task, executed, now);
        let epoch = self.epoch.get();
        let by_scheduler = task.used_up_at(sequence).map(|at| epoch.saturating_add(at));
        let used_up = by_account.into_iter().chain(by_scheduler).min();
        let exceeded = self.guarantees.exceeded(model.criticality);
        let (due, used_up) = (Instant::from_nanos(due), used_up.map(Instant::from_nanos));
        self.guarantee
            && !task.blocked_by.blocks(sequence, release)
            && covers(due, exceeded, used_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Monitor};
    use vestal_core::{Duration, Event, Instant, Notice};
    use vestal_core::{JobId, TaskConfiguration, TaskId, Wcet};

    /// A job of `task` ended at `now` after executing `executed` nanoseconds; its own limit is enforced.
    fn end(guarantees: &Guarantees, task: &Task, executed: u64, tolerance: u64, now: u64) {
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

    /// The release of a job that is due then.
    const fn due(at: u64) -> u64 {
        at - DEADLINE.as_nanos()
    }

    #[test]
    fn an_overrun_of_c_lo_frees_from_the_guarantee_to_lo_jobs_but_not_to_hi_jobs() {
        let guarantees = Guarantees::new();
        guarantees.begin(0, || 0);
        end(&guarantees, &hi_task(), 40, 0, 100);
        guarantees.begin(10, || 0);
        assert!(!guarantees.guaranteed(Level(0), 200));
        assert!(guarantees.guaranteed(Level(1), 200));
    }

    #[test]
    fn a_deadline_before_the_overrun_was_guaranteed() {
        let guarantees = Guarantees::new();
        guarantees.begin(0, || 0);
        end(&guarantees, &hi_task(), 40, 0, 100);
        assert!(guarantees.guaranteed(Level(0), 80), "exceeded from 80 on");
        assert!(!guarantees.guaranteed(Level(0), 81));
    }

    #[test]
    fn the_cpu_is_free_from_the_end_of_the_last_job_on() {
        let guarantees = Guarantees::new();
        assert!(guarantees.free_since(0));
        guarantees.begin(0, || 0);
        assert!(!guarantees.free_since(50));
        end(&guarantees, &hi_task(), 20, 0, 100);
        assert!(!guarantees.free_since(99));
        assert!(guarantees.free_since(100));
    }

    #[test]
    fn busy_periods_span_jobs_that_wait_for_each_other() {
        let guarantees = Guarantees::new();
        let task = hi_task();
        guarantees.begin(10, || 0);
        guarantees.begin(20, || 0);
        end(&guarantees, &task, 5, 0, 30);
        end(&guarantees, &task, 5, 0, 40);
        // Released before the last one ended: the same busy period.
        guarantees.begin(35, || 0);
        end(&guarantees, &task, 5, 0, 60);
        guarantees.begin(100, || 0);
        end(&guarantees, &task, 5, 0, 130);
        let cut: Vec<_> = guarantees.busy_periods(120).iter().collect();
        assert_eq!(cut, [(10, 60)]);
        let periods: Vec<_> = guarantees.busy_periods(130).iter().collect();
        assert_eq!(periods, [(10, 60), (100, 130)]);
    }

    #[test]
    fn the_next_busy_period_is_guaranteed_again() {
        let guarantees = Guarantees::new();
        guarantees.begin(0, || 0);
        end(&guarantees, &hi_task(), 40, 0, 100);
        assert!(!guarantees.guaranteed(Level(0), 200));
        guarantees.begin(100, || 0);
        assert!(guarantees.guaranteed(Level(0), 200));
    }

    #[test]
    fn a_job_beyond_its_own_c_ends_the_guarantee_to_others_only_where_nothing_stops_it() {
        for (is_stopped, guaranteed) in [(true, [false, true, true]), (false, [false; 3])] {
            let guarantees = Guarantees::new();
            guarantees.begin(0, || 0);
            guarantees.note_execution(&hi_task(), 60, 0, 100, is_stopped);
            let kept = [0, 1, 2].map(|level| guarantees.guaranteed(Level(level), 200));
            assert_eq!(kept, guaranteed);
            // 20 and 50 of the 60 were allowed.
            assert!(guarantees.guaranteed(Level(0), 60) && guarantees.guaranteed(Level(1), 90));
        }
    }

    fn shared(config: &Config) -> Shared {
        let task = |model: Task| {
            let configuration = TaskConfiguration::new(model, 1);
            TaskShared::new(
                "task".to_owned(),
                configuration,
                0,
                2,
                crate::allowance::Allowance::UpTo(50),
            )
        };
        let wcet = Wcet::new(&[Service::from_nanos(30)]).unwrap();
        let lo = Task::new(Level(0), Duration::from_nanos(1_000), DEADLINE, wcet).unwrap();
        let tasks = vec![task(lo), task(hi_task())];
        Shared::new(tasks, config, 0, Monitor::Manager, Service::from_nanos(5))
    }

    fn enforced() -> Config {
        Config::new()
    }

    #[test]
    fn a_job_that_used_up_its_own_c_was_guaranteed_nothing_and_the_others_were() {
        {
            let shared = shared(&enforced());
            let [lo, hi] = [&shared.tasks[0], &shared.tasks[1]];
            shared.begin_at_priority(lo, 0, 0);
            shared.begin_at_priority(hi, 0, 0);
            shared.end_at_priority(lo, 0, 36, 100);
            assert!(!shared.was_guaranteed(lo, (0, due(200)), (36, 100)));
            assert!(
                shared.was_guaranteed(lo, (0, due(93)), (36, 100)),
                "it was late before"
            );
            assert!(
                !shared.was_guaranteed(lo, (0, due(94)), (36, 100)),
                "it had had all of its limit by then"
            );
            assert!(
                shared.was_guaranteed(lo, (0, due(200)), (35, 100)),
                "within the tolerance"
            );
            // The next one waited for the thread, unless it was released later.
            assert!(!shared.was_guaranteed(lo, (1, 99), (30, 150)));
            assert!(shared.was_guaranteed(lo, (1, 100), (30, 150)));
            assert!(shared.was_guaranteed(hi, (0, due(200)), (50, 150)));
            // As the scheduler saw it, however long the account runs on in the background.
            shared.note_notice(&Notice {
                at: Instant::from_nanos(80),
                what: Event::Overrun {
                    job: JobId {
                        task: TaskId(0),
                        sequence: 0,
                    },
                    level: Level(0),
                    executed: Service::from_nanos(30),
                },
            });
            assert!(!shared.was_guaranteed(lo, (0, due(90)), (36, 100)));
        }
        for (makes_way, enforce) in [(false, true), (true, false)] {
            let mut shared = shared(&Config {
                enforce,
                ..enforced()
            });
            shared.stops_at_own_limit = makes_way;
            let [lo, hi] = [&shared.tasks[0], &shared.tasks[1]];
            shared.begin_at_priority(lo, 0, 0);
            shared.end_at_priority(lo, 0, 36, 100);
            assert!(!shared.was_guaranteed(hi, (0, due(200)), (50, 150)));
        }
    }

    #[test]
    fn those_behind_a_body_that_does_not_return_were_guaranteed_something_while_it_has_its_place() {
        let behind =
            |shared: &Shared| shared.was_guaranteed(&shared.tasks[0], (4, 1_000), (0, 2_000));
        let started = || {
            let shared = shared(&enforced());
            let lo = &shared.tasks[0];
            // By the clock of this thread it has executed nothing.
            lo.begin(3, u64::MAX);
            shared.begin_at_priority(lo, 3, 0);
            shared
        };
        let blocked = started();
        blocked.stays(&blocked.tasks[0], 3);
        assert!(behind(&blocked));
        let lost = started();
        lost.demote_job(&lost.tasks[0], 3);
        lost.stays(&lost.tasks[0], 3);
        assert!(!behind(&lost));
        let burning = started();
        // All that this thread ever executed.
        burning.tasks[0].begin(3, 0);
        burning.stays(&burning.tasks[0], 3);
        assert!(!behind(&burning));
    }

    #[test]
    fn a_job_in_the_background_is_of_no_busy_period() {
        let shared = shared(&enforced());
        let [lo, hi] = [&shared.tasks[0], &shared.tasks[1]];
        lo.begin(0, 0);
        shared.begin_at_priority(lo, 0, 10);
        shared.begin_at_priority(hi, 0, 10);
        shared.demote_job(hi, 0);
        assert!(
            !shared.guarantees.guaranteed(Level(0), u64::MAX),
            "it was charged with this thread's time"
        );
        shared.demote_job(lo, 0);
        let free = shared.guarantees.last_end.load(Ordering::SeqCst);
        assert!(shared.guarantees.free_since(free));
        // The next busy period begins, and what goes on in the background does nothing to it.
        shared.begin_at_priority(hi, 1, free);
        shared.end_at_priority(lo, 0, u64::MAX, free + 10);
        assert!(shared.guarantees.guaranteed(Level(0), u64::MAX));
        assert!(!shared.guarantees.free_since(free + 10), "one is active");
        shared.end_at_priority(hi, 1, 20, free + 20);
        assert!(shared.guarantees.free_since(free + 20));
        // One that lost its priority before it began never had it.
        shared.begin_at_priority(lo, 0, free + 30);
        assert_eq!(shared.guarantees.active.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn execution_within_the_tolerance_breaks_no_guarantee() {
        let guarantees = Guarantees::new();
        guarantees.begin(0, || 0);
        end(&guarantees, &hi_task(), 25, 5, 100);
        guarantees.begin(50, || 0);
        assert!(guarantees.guaranteed(Level(0), 200));
        end(&guarantees, &hi_task(), 26, 5, 130);
        assert!(
            !guarantees.guaranteed(Level(0), 200),
            "and no more than that"
        );
    }
}
