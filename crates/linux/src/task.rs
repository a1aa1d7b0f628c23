//! One task of a run, as its worker and the manager see it.

mod drops;
mod limits;
mod release_counter;
mod slack;

use crate::armed::Armed;
use crate::managed::Handover;
use crate::notes::TaskOnline;
use crate::request::Request;
use crate::suspension::Suspension;
use crate::sys::{self, Tid};
use crate::words::{Allowance, AllowanceWord, JobWord, Latest, Mailbox, Phase, Revoked};
use crate::zss::Slack;
use drops::Verdicts;
use release_counter::ReleaseCounter;
use std::sync::{Arc, OnceLock};
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
    pub(crate) tid: Latest<Tid>,
    pub(crate) monitor: OnceLock<Armed>,
    /// The job that the worker has begun, and whether the worker was demoted for it.
    job_word: JobWord,
    /// Written by the manager: what the next job may execute from its beginning.
    pub(crate) next: AllowanceWord,
    is_sliced: bool,
    /// Under native dispatch, of a sliced task: what the present job was granted so far. Written by the
    /// worker before it says what runs, and by the manager for the job that runs.
    present: AllowanceWord,
    /// Whether the worker is suspended in the middle of a body.
    pub(crate) suspension: Suspension,
    /// The text of the panic of its body; written before the stop that it is about.
    pub(crate) panic: OnceLock<String>,
    /// What somebody reads of what is noted of its jobs.
    pub(crate) online: TaskOnline,
    /// Which of its jobs have lost their priorities, and which of those shall end.
    revoked: Revoked,
    /// That of the run, whose end takes the priorities of all jobs.
    pub(crate) phase: Arc<Phase>,
    verdicts: Verdicts,
    /// From the worker to the manager.
    pub(crate) request: Mailbox<Request, 3>,
    /// Where the task suspends others, and is suspended, for want of slack.
    pub(crate) slack: Option<Slack>,
    /// Under managed dispatch: what the manager hands to the worker, and what comes back.
    pub(crate) handover: Handover,
    /// Where the manager handles each job: what it releases to the worker, and what is over.
    pub(crate) release_counter: ReleaseCounter,
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
            tid: Latest::default(),
            monitor: OnceLock::new(),
            job_word: JobWord::default(),
            next: AllowanceWord::new(limit),
            is_sliced: false,
            present: AllowanceWord::new(Allowance::Unlimited),
            suspension: Suspension::default(),
            panic: OnceLock::new(),
            online: TaskOnline::default(),
            revoked: Revoked::default(),
            phase: Arc::default(),
            verdicts: Verdicts::default(),
            request: Mailbox::default(),
            slack: None,
            handover: Handover::default(),
            release_counter: ReleaseCounter::default(),
        }
    }

    /// Its job number `sequence`.
    pub(crate) const fn job(&self, sequence: u64) -> JobId {
        let task = self.id;
        JobId { task, sequence }
    }

    /// The thread of its worker; 0 before that has started.
    pub(crate) fn tid(&self) -> Tid {
        self.tid.get()
    }

    /// Whether the worker waits for the manager: to learn of an overrun, or to give a priority back.
    pub(crate) fn asks(&self) -> bool {
        self.request.is_full()
    }

    pub(crate) const fn period_nanos(&self) -> u64 {
        self.configuration.task.period.as_nanos()
    }

    pub(crate) fn begin(&self, sequence: u64, cpu_nanos: u64) {
        self.job_word.begin(sequence, cpu_nanos);
    }

    /// The job's own work begins here: what came before, its account does not show.
    pub(crate) fn start_account(&self, cpu_nanos: u64) {
        self.job_word.start_account(cpu_nanos);
    }

    /// Where that account begins.
    pub(crate) fn account_base(&self) -> u64 {
        self.job_word.base()
    }

    /// Job `sequence` is off; says whether its worker was demoted since it began.
    pub(crate) fn finish(&self, sequence: u64) -> bool {
        self.job_word.end(sequence)
    }

    /// The job that was begun and has not ended.
    pub(crate) fn running(&self) -> Option<u64> {
        let begun = self.job_word.look();
        begun.runs.then_some(begun.number)
    }

    /// The job that was begun, has not ended, and keeps its priority.
    pub(crate) fn running_admitted(&self) -> Option<u64> {
        self.running().filter(|&job| !self.is_demoted(job))
    }

    /// Whether job `sequence` has lost its priority: by enforcement, or because the run ends.
    pub(crate) fn is_demoted(&self, sequence: u64) -> bool {
        self.revoked.is_revoked(sequence) || self.phase.is_ending()
    }

    /// Whether enforcement took the priority of job `sequence`, and not the end of the run.
    pub(crate) fn lost_its_priority(&self, sequence: u64) -> bool {
        self.revoked.is_revoked(sequence)
    }

    /// Job `sequence` and all before it lose their priorities.
    pub(crate) fn demote_up_to(&self, sequence: u64) {
        self.revoked.revoke(sequence);
    }

    /// The manager is about to demote the worker for job `sequence`; says whether that still runs.
    pub(crate) fn demote(&self, sequence: u64) -> bool {
        self.job_word.demote(sequence)
    }

    /// Whether the worker is demoted, and its job not off yet.
    pub(crate) fn is_in_background(&self) -> bool {
        self.job_word.look().demoted
    }

    /// Jobs that were demoted so far end at their next cancellation point.
    pub(crate) fn cancel_demoted(&self) {
        self.revoked.cancel();
    }

    /// Whether job `sequence` shall end at its next cancellation point.
    pub(crate) fn cancelled(&self, sequence: u64) -> bool {
        self.revoked.is_cancelled(sequence) || self.phase.is_ending()
    }

    /// The newest job released until `now_nanos` after the epoch.
    pub(crate) fn newest_release(&self, now_nanos: u64) -> Option<u64> {
        let since = now_nanos.checked_sub(self.offset_nanos)?;
        since.checked_div(self.period_nanos())
    }

    /// Takes its worker out of the real-time class, and stops its monitor.
    pub(crate) fn take_out_of_real_time(&self) {
        // A worker lives as long as the run, and leaving the class needs no right.
        let _ = sys::sched::set_other(self.tid());
        if let Some(monitor) = self.monitor.get() {
            monitor.stop();
        }
    }

    /// What the running job has executed; `None` if its thread is gone.
    pub(crate) fn executed(&self) -> Option<u64> {
        let cpu = sys::clock::cpu_nanos_of(self.tid())?;
        Some(cpu.saturating_sub(self.account_base()))
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
            crate::words::Allowance::UpTo(1_000_000),
        )
    }

    /// What the manager does to a task whose job `sequence` loses its priority.
    fn take_the_priority_of(task: &TaskShared, sequence: u64) {
        task.demote_up_to(sequence);
        if let Some(job) = task.running()
            && task.is_demoted(job)
        {
            assert!(task.demote(job));
        }
    }

    /// The steps of a job's end, with the manager before the step `at`; says whether the worker took
    /// itself for demoted when it looked, and whether it got its priority back.
    fn end_with_the_manager_before(at: usize) -> (bool, bool, bool) {
        let task = task();
        let (mut looked_demoted, mut demoted, mut returned) = (false, false, false);
        for step in 0..3 {
            if step == at {
                take_the_priority_of(&task, 7);
                demoted = task.running().is_some();
            }
            match step {
                0 => task.begin(7, 0),
                1 => looked_demoted = task.is_demoted(7),
                _ => returned = task.finish(7),
            }
        }
        (looked_demoted, demoted, returned)
    }

    #[test]
    fn whoever_was_demoted_returns_wherever_the_manager_came_between() {
        let outcomes: Vec<_> = (0..3).map(end_with_the_manager_before).collect();
        assert_eq!(
            outcomes,
            [
                (true, false, false),
                (true, true, true),
                // The job did not look demoted, and its thread was demoted all the same.
                (false, true, true),
            ]
        );
    }

    #[test]
    fn a_worker_returns_once_for_each_demotion() {
        let task = task();
        task.begin(0, 0);
        take_the_priority_of(&task, 0);
        assert!(task.finish(0));
        task.begin(1, 0);
        assert!(!task.finish(1));
    }
}
