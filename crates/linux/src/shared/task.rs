//! One task of a run, as its worker and the manager see it.

use super::Armed;
use super::drops::Verdicts;
use crate::allowance::{Allowance, AllowanceWord};
use crate::guarantee::BlockedBy;
use crate::late::Late;
use crate::managed::Handover;
use crate::mechanism::ReleaseCounter;
use crate::report::TaskRecord;
use crate::request::Request;
use crate::suspension::Suspension;
use crate::sys::{self, Tid};
use crate::words::Mailbox;
use crate::zss::Slack;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use vestal_core::{JobId, TaskConfiguration, TaskId};

/// One task, as its worker and the manager see it.
#[derive(Debug)]
pub(crate) struct TaskShared {
    /// Its place among the tasks of the run, of which it is part.
    pub(crate) id: TaskId,
    pub(crate) name: String,
    pub(crate) configuration: TaskConfiguration,
    pub(crate) offset_nanos: u64,
    /// The SCHED_FIFO priority of its worker.
    pub(crate) fifo: i32,
    pub(crate) tid: AtomicI32,
    pub(crate) monitor: OnceLock<Armed>,
    /// Written by the worker: the job it has begun times two, plus one while it runs.
    state: AtomicU64,
    /// Written by the worker before `state`: its CPU clock when that job began.
    pub(crate) base: AtomicU64,
    /// Written by the manager: what a job may execute from its beginning.
    pub(crate) limit: AllowanceWord,
    pub(super) is_sliced: bool,
    /// Under native dispatch, of a sliced task: what the running job was granted so far. Written by the
    /// worker before it says what runs, and by the manager for the job that runs.
    pub(super) granted: AllowanceWord,
    /// Whether the worker is suspended in the middle of a body.
    pub(crate) suspension: Suspension,
    /// Whether a job of the task has begun and has its priority: see [`crate::guarantee`].
    pub(crate) has_priority: AtomicBool,
    pub(crate) blocked_by: BlockedBy,
    pub(crate) late: Late,
    /// Written by the manager, never falls: jobs with smaller numbers have lost their priorities.
    demoted_up_to: AtomicU64,
    /// Set by the manager when it demotes the worker, cleared by the worker when it has taken its
    /// job off and asks for its priority. The manager demotes only who runs a job, so nothing can
    /// set it after that.
    background: AtomicBool,
    /// The same without the end of the run.
    enforced_up_to: AtomicU64,
    pub(super) verdicts: Verdicts,
    /// Written by the manager: demoted jobs with smaller numbers shall end at their next
    /// cancellation point.
    cancelled_up_to: AtomicU64,
    /// From the worker to the manager.
    pub(crate) request: Mailbox<Request, 3>,
    /// Where the task suspends others, and is suspended, for want of slack.
    pub(crate) slack: Option<Slack>,
    /// Under managed dispatch: what the manager hands to the worker, and what comes back.
    pub(crate) handover: Handover,
    /// Where the manager handles each job: what it releases to the worker, and what is over.
    pub(crate) release_counter: ReleaseCounter,
    /// Written by the worker between jobs; read when it is gone.
    pub(crate) record: Mutex<TaskRecord>,
}

impl TaskShared {
    pub(crate) fn new(
        name: String,
        configuration: TaskConfiguration,
        offset_nanos: u64,
        fifo: i32,
        limit: Allowance,
    ) -> Self {
        Self {
            id: TaskId(0),
            name,
            configuration,
            offset_nanos,
            fifo,
            tid: AtomicI32::new(0),
            monitor: OnceLock::new(),
            state: AtomicU64::new(0),
            base: AtomicU64::new(0),
            limit: AllowanceWord::new(limit),
            is_sliced: false,
            granted: AllowanceWord::new(Allowance::Unlimited),
            suspension: Suspension::default(),
            has_priority: AtomicBool::new(false),
            blocked_by: BlockedBy::default(),
            late: Late::new(),
            demoted_up_to: AtomicU64::new(0),
            background: AtomicBool::new(false),
            enforced_up_to: AtomicU64::new(0),
            verdicts: Verdicts::default(),
            cancelled_up_to: AtomicU64::new(0),
            request: Mailbox::default(),
            slack: None,
            handover: Handover::default(),
            release_counter: ReleaseCounter::default(),
            record: Mutex::new(TaskRecord::new()),
        }
    }

    /// Its job number `sequence`.
    pub(crate) const fn job(&self, sequence: u64) -> JobId {
        let task = self.id;
        JobId { task, sequence }
    }

    /// The thread of its worker; 0 before that has started.
    pub(crate) fn tid(&self) -> Tid {
        self.tid.load(Ordering::SeqCst)
    }

    /// What its worker noted down.
    pub(crate) fn record(&self) -> MutexGuard<'_, TaskRecord> {
        // No thread panics while holding this lock.
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the worker waits for the manager: to learn of an overrun, or to give a priority back.
    pub(crate) fn asks(&self) -> bool {
        self.request.is_full()
    }

    pub(crate) const fn period_nanos(&self) -> u64 {
        self.configuration.task.period.as_nanos()
    }

    pub(crate) fn begin(&self, sequence: u64, cpu_nanos: u64) {
        self.base.store(cpu_nanos, Ordering::SeqCst);
        self.state.store(sequence << 1 | 1, Ordering::SeqCst);
    }

    /// The job's own work begins here: what came before, its account does not show.
    pub(crate) fn start_account(&self, cpu_nanos: u64) {
        self.base.store(cpu_nanos, Ordering::SeqCst);
    }

    pub(crate) fn finish(&self, sequence: u64) {
        self.state.store(sequence << 1, Ordering::SeqCst);
    }

    /// The job that was begun and has not ended.
    pub(crate) fn running(&self) -> Option<u64> {
        let state = self.state.load(Ordering::SeqCst);
        (state & 1 == 1).then_some(state >> 1)
    }

    /// The job that was begun, has not ended, and keeps its priority.
    pub(crate) fn running_admitted(&self) -> Option<u64> {
        self.running().filter(|&job| !self.is_demoted(job))
    }

    pub(crate) fn is_demoted(&self, sequence: u64) -> bool {
        sequence < self.demoted_up_to.load(Ordering::SeqCst)
    }

    /// Whether enforcement took the priority of job `sequence`, and not the end of the run.
    pub(crate) fn lost_its_priority(&self, sequence: u64) -> bool {
        sequence < self.enforced_up_to.load(Ordering::SeqCst)
    }

    /// Job `sequence` and all before it lose their priorities.
    pub(super) fn demote_up_to(&self, sequence: u64) {
        self.enforced_up_to
            .fetch_max(sequence.saturating_add(1), Ordering::SeqCst);
        self.demoted_up_to
            .fetch_max(sequence.saturating_add(1), Ordering::SeqCst);
    }

    /// The manager is about to demote the worker.
    pub(crate) fn enter_background(&self) {
        self.background.store(true, Ordering::SeqCst);
    }

    /// Whether the worker is demoted, and has not asked for its priority yet.
    pub(crate) fn is_in_background(&self) -> bool {
        self.background.load(Ordering::SeqCst)
    }

    /// Whether the worker was demoted since it asked last; asked when its job is off.
    pub(crate) fn leave_background(&self) -> bool {
        self.background.swap(false, Ordering::SeqCst)
    }

    /// The run ends, and with it the priority of every job.
    pub(super) fn demote_all(&self) {
        self.demoted_up_to.store(u64::MAX, Ordering::SeqCst);
        self.cancel_demoted();
    }

    /// Jobs that were demoted so far end at their next cancellation point.
    pub(super) fn cancel_demoted(&self) {
        let demoted = self.demoted_up_to.load(Ordering::SeqCst);
        self.cancelled_up_to.store(demoted, Ordering::SeqCst);
    }

    /// Whether job `sequence` shall end at its next cancellation point.
    pub(crate) fn cancelled(&self, sequence: u64) -> bool {
        sequence < self.cancelled_up_to.load(Ordering::SeqCst)
    }

    /// The newest job released until `now_nanos` after the epoch.
    pub(crate) fn newest_release(&self, now_nanos: u64) -> Option<u64> {
        let since = now_nanos.checked_sub(self.offset_nanos)?;
        since.checked_div(self.period_nanos())
    }

    /// What the running job has executed; `None` if its thread is gone.
    pub(crate) fn executed(&self) -> Option<u64> {
        let cpu = sys::clock::cpu_nanos_of(self.tid())?;
        Some(cpu.saturating_sub(self.base.load(Ordering::SeqCst)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{Duration, Level, Service, Task, Wcet};

    fn task() -> TaskShared {
        let wcet = Wcet::new(&[Service::from_millis(1)]).unwrap();
        let period = Duration::from_millis(10);
        let configuration =
            TaskConfiguration::new(Task::new(Level(0), period, period, wcet).unwrap(), 1);
        TaskShared::new(
            "task".to_owned(),
            configuration,
            0,
            2,
            crate::allowance::Allowance::UpTo(1_000_000),
        )
    }

    /// What the manager does to a task whose job `sequence` loses its priority.
    fn take_the_priority_of(task: &TaskShared, sequence: u64) {
        task.demote_up_to(sequence);
        if task.running().is_some_and(|job| task.is_demoted(job)) {
            task.enter_background();
        }
    }

    /// The steps of a job's end, with the manager before the step `at`; says whether the worker took
    /// itself for demoted when it looked, and whether it got its priority back.
    fn end_with_the_manager_before(at: usize) -> (bool, bool, bool) {
        let task = task();
        let (mut looked_demoted, mut demoted, mut returned) = (false, false, false);
        for step in 0..4 {
            if step == at {
                take_the_priority_of(&task, 7);
                demoted = task.running().is_some();
            }
            match step {
                0 => task.begin(7, 0),
                1 => looked_demoted = task.is_demoted(7),
                2 => task.finish(7),
                _ => returned = task.leave_background(),
            }
        }
        (looked_demoted, demoted, returned)
    }

    #[test]
    fn whoever_was_demoted_returns_wherever_the_manager_came_between() {
        let outcomes: Vec<_> = (0..4).map(end_with_the_manager_before).collect();
        assert_eq!(
            outcomes,
            [
                (true, false, false),
                (true, true, true),
                // The job did not look demoted, and its thread was demoted all the same.
                (false, true, true),
                (false, false, false),
            ]
        );
    }

    #[test]
    fn a_worker_returns_once_for_each_demotion() {
        let task = task();
        task.begin(0, 0);
        take_the_priority_of(&task, 0);
        task.finish(0);
        assert!(task.leave_background());
        assert!(!task.leave_background());
    }
}
