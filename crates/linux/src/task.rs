//! One task of a run, as its worker and the manager see it.

mod handover;
mod jobs;
mod limits;
mod list;
mod release_counter;
mod verdicts;
mod watched;

use crate::armed::Armed;
use crate::notes::TaskOnline;
use crate::request::Request;
use crate::suspension::Suspension;
use crate::sys::{self, Tid};
use crate::words::{Allowance, Host, Latest, Mailbox, Rising, WatchWord};
use crate::zss::{Rank, Slack};
pub(crate) use handover::{Assignment, Handover, Wait};
pub(crate) use jobs::Jobs;
use limits::Limits;
pub(crate) use list::Tasks;
use release_counter::ReleaseCounter;
use std::sync::OnceLock;
use verdicts::Verdicts;
use vestal_core::{JobId, Level, TaskConfiguration, TaskId};
pub(crate) use watched::Counted;
use watched::Watched;

/// What a worker learns when it takes a job off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TakenOff {
    /// The worker was demoted since the job began.
    pub(crate) demoted: bool,
    /// The guard knows that the job is incomplete, and the manager awaits its end.
    pub(crate) awaited: bool,
}

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
    pub(crate) jobs: Jobs,
    pub(crate) limits: Limits,
    pub(crate) monitor: OnceLock<Armed>,
    /// How often it, or a heartbeat, had the manager look.
    pub(crate) watched: Watched,
    /// Of a thread that checks for overruns of its jobs; else 0.
    pub(crate) checker_tid: Latest<Tid>,
    /// From the manager to that thread: what it checks.
    pub(crate) watch: WatchWord,
    /// From that thread to the manager: how often it found an overrun.
    pub(crate) overruns: Rising,
    /// Whether the worker is suspended in the middle of a body.
    pub(crate) suspension: Suspension,
    /// The text of the panic of its body; written before the stop that it is about.
    pub(crate) panic: OnceLock<String>,
    /// What somebody reads of what is noted of its jobs.
    pub(crate) online: TaskOnline,
    pub(crate) verdicts: Verdicts,
    /// From the worker to the manager.
    pub(crate) request: Mailbox<Request, 3>,
    /// Where the task suspends others, and is suspended, for want of slack.
    pub(crate) slack: Option<Slack>,
    /// Under managed dispatch: what the manager hands to the worker, and what comes back.
    pub(crate) handover: Handover,
    /// Where the manager handles each job: what it releases to the worker, and what is over.
    pub(crate) release_counter: ReleaseCounter,
    /// Of a worker that is not always on the same CPU: which one has it.
    pub(crate) host: Host,
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
            jobs: Jobs::default(),
            limits: Limits::new(limit),
            monitor: OnceLock::new(),
            watched: Watched::default(),
            checker_tid: Latest::default(),
            watch: WatchWord::default(),
            overruns: Rising::default(),
            suspension: Suspension::default(),
            panic: OnceLock::new(),
            online: TaskOnline::default(),
            verdicts: Verdicts::default(),
            request: Mailbox::default(),
            slack: None,
            handover: Handover::default(),
            release_counter: ReleaseCounter::default(),
            host: Host::default(),
        }
    }

    /// Its job number `sequence`.
    pub(crate) const fn job(&self, sequence: u64) -> JobId {
        let task = self.id;
        JobId { task, sequence }
    }

    /// Whether the worker waits for the manager: to learn of an overrun, or to give a priority back.
    pub(crate) fn asks(&self) -> bool {
        self.request.is_full()
    }

    /// The same with jobs in slices.
    pub(crate) const fn in_slices(mut self) -> Self {
        self.limits.slice();
        self
    }

    /// Whether its jobs are granted their limits slice by slice.
    pub(crate) const fn is_sliced(&self) -> bool {
        self.limits.is_sliced()
    }

    /// The task suspends others where it has no slack left, and is suspended. `low` is the lowest
    /// priority of the run.
    pub(crate) fn with_slack(mut self, low: i32) -> Self {
        let after = self.configuration.critical_after().as_nanos();
        self.slack = Some(Slack::new(after, low, self.fifo));
        self
    }

    /// The SCHED_FIFO priority that its worker has, or gets back when it was taken from it.
    pub(crate) fn present_priority(&self) -> i32 {
        self.slack.as_ref().map_or(self.fifo, Slack::priority)
    }

    pub(crate) fn rank(&self) -> Rank {
        self.slack.as_ref().map_or(Rank::Own, Slack::rank)
    }

    /// Notes the worker's new rank; its new priority, if that is another one.
    pub(crate) fn turn_to(&self, rank: Rank) -> Option<i32> {
        self.slack.as_ref()?.turn_to(rank, self.fifo)
    }

    /// The worker's job number `sequence`, released at `release` on the clock, has come to its end.
    pub(crate) fn take_off(&self, sequence: u64, release: u64) -> TakenOff {
        if let Some(slack) = &self.slack {
            let period = self.configuration.task.period.as_nanos();
            slack.await_end_of(release.saturating_add(period));
        }
        let demoted = self.jobs.finish(sequence);
        let ended = |slack: &Slack| slack.end(sequence);
        TakenOff {
            demoted,
            awaited: self.slack.as_ref().is_some_and(ended),
        }
    }

    /// The scheduler says that job `sequence` used up its limit of `level`; says whether that is the limit of its own
    /// level.
    pub(crate) fn note_overrun(&self, sequence: u64, level: Level) -> bool {
        let is_own = level >= self.configuration.task.criticality;
        if is_own {
            self.verdicts.note_used_up(sequence);
        }
        is_own
    }

    /// The job that was begun, has not ended, keeps its priority, and is not suspended.
    pub(crate) fn running_ready(&self) -> Option<u64> {
        let running = self.jobs.running_admitted();
        running.filter(|_| !self.suspension.is_suspended())
    }

    /// The oldest job that the manager has released and the worker is not done with, if it may run.
    pub(crate) fn pending_admitted(&self) -> Option<u64> {
        let job = self.release_counter.pending()?;
        let admitted = match self.jobs.running() {
            Some(running) => !self.jobs.is_demoted(running),
            None => self.limits.next.get() != Allowance::NotAdmitted,
        };
        admitted.then_some(job)
    }

    /// Lets its monitor, if it has one, fire when its running job has used up what is left of its limit, after
    /// `least_nanos`, more than none, at the earliest; gives the monitor.
    pub(crate) fn arm_for_the_rest(&self, least_nanos: u64) -> Option<&Armed> {
        self.arm_for_the_rest_in(0, least_nanos)
    }

    /// The same for a job that gets the CPU back in so many nanoseconds.
    pub(crate) fn arm_for_the_rest_in(&self, nanos: u64, least_nanos: u64) -> Option<&Armed> {
        let monitor = self.monitor.get()?;
        self.limits.arm(monitor, |threshold| {
            let rest = threshold.saturating_sub(self.jobs.executed()?);
            Some(rest.saturating_add(nanos).max(least_nanos))
        });
        Some(monitor)
    }

    /// When job `sequence` is released, in nanoseconds after the epoch.
    pub(crate) fn release_of(&self, sequence: u64) -> u64 {
        let since = sequence.saturating_mul(self.period_nanos());
        self.offset_nanos.saturating_add(since)
    }

    pub(crate) const fn period_nanos(&self) -> u64 {
        self.configuration.task.period.as_nanos()
    }

    /// When a job released at `release` is due; both on one clock.
    pub(crate) const fn due(&self, release: u64) -> u64 {
        release.saturating_add(self.configuration.task.deadline.as_nanos())
    }

    /// The newest job released until `now_nanos` after the epoch.
    pub(crate) fn newest_release(&self, now_nanos: u64) -> Option<u64> {
        let since = now_nanos.checked_sub(self.offset_nanos)?;
        since.checked_div(self.period_nanos())
    }

    /// Takes its worker out of the real-time class, and stops its monitor.
    pub(crate) fn take_out_of_real_time(&self) {
        // A worker lives as long as the run, and leaving the class needs no right.
        let _ = sys::sched::set_other(self.jobs.tid());
        if let Some(monitor) = self.monitor.get() {
            monitor.stop();
        }
    }
}

#[cfg(test)]
impl TaskShared {
    /// One of the lowest level, with a millisecond every ten.
    pub(crate) fn in_test(fifo: i32, limit: Allowance) -> Self {
        use vestal_core::{Duration, Service, Task, Wcet};
        let wcet = Wcet::new(&[Service::from_millis(1)]).unwrap();
        let period = Duration::from_millis(10);
        let task = Task::new(Level::LOWEST, period, period, wcet).unwrap();
        let configuration = TaskConfiguration::new(task, 1);
        Self::new("task".to_owned(), configuration, 0, fifo, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> TaskShared {
        TaskShared::in_test(2, Allowance::UpTo(1_000_000))
    }

    /// What the manager does to a task whose job `sequence` loses its priority.
    fn take_the_priority_of(task: &TaskShared, sequence: u64) {
        task.jobs.demote_up_to(sequence);
        if let Some(job) = task.jobs.running()
            && task.jobs.is_demoted(job)
        {
            assert!(task.jobs.demote(job));
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
                demoted = task.jobs.running().is_some();
            }
            match step {
                0 => task.jobs.begin(7, 0),
                1 => looked_demoted = task.jobs.is_demoted(7),
                _ => returned = task.jobs.finish(7),
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
        task.jobs.begin(0, 0);
        take_the_priority_of(&task, 0);
        assert!(task.jobs.finish(0));
        task.jobs.begin(1, 0);
        assert!(!task.jobs.finish(1));
    }
}
