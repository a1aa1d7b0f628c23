//! Zero slack under native dispatch: what a worker and the manager share about it.
//!
//! Each task has a timer that signals the manager at the zero-slack instant of its next job to end. The
//! worker sets it: when it begins to work, and whenever a job of its ends, before that end shows. So a job
//! that is complete in time costs one setting of a timer and no wake-up, and one that has not even
//! begun, because others have the CPU, is noticed all the same.
//!
//! ```text
//! worker:   timer := next job's instant    state := no job    ended := k + 1    then reads  incomplete
//! manager:  reads ended                    incomplete := k + 1   reports that job k is incomplete
//! ```
//! At least one of the two sees the other's word: a job that ends without slack is never forgotten.
//!
//! *Places.* The manager carries the permits of tasks out by priorities, whether their workers run or wait:
//!
//! ```text
//! own rank    low + 3 and above    permitted
//! below all    low + 2              a late job that may go on
//! suspended    low + 1              all that the suspension level suspends
//! (idle detector: low)
//! ```

use crate::shared::{Shared, TaskShared};
use crate::sys::Tid;
use crate::sys::signal::instant_signal;
use crate::sys::timer::SignalTimer;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// How many priorities of a run lie between the idle detector's and the workers' own.
pub(crate) const RANKS_BELOW: usize = 2;

/// Where a worker stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    /// By its own priority.
    Own,
    /// Below all that have their own.
    BelowAll,
    /// It waits, below all that may run.
    Suspended,
}

impl Rank {
    pub(crate) const ALL: [Self; 3] = [Self::Own, Self::BelowAll, Self::Suspended];
}

/// The zero slack of one task.
#[derive(Debug)]
pub(crate) struct Slack {
    /// How long after its release a job has no slack left: Z_i, or D_i.
    after_nanos: u64,
    /// The lowest priority of the run.
    low: i32,
    timer: OnceLock<SignalTimer>,
    /// Written by the worker: how many of its jobs have ended; the number of the first that has not.
    ended: AtomicU64,
    /// Written by the manager: the job, plus one, of which the guard knows that it is incomplete.
    incomplete: AtomicU64,
    /// Written by the manager: the priority of the worker.
    priority: AtomicI32,
}

impl Slack {
    pub(crate) const fn new(after_nanos: u64, low: i32, fifo: i32) -> Self {
        Self {
            after_nanos,
            low,
            timer: OnceLock::new(),
            ended: AtomicU64::new(0),
            incomplete: AtomicU64::new(0),
            priority: AtomicI32::new(fifo),
        }
    }

    /// Makes the timer, not running.
    pub(crate) fn create_timer(&self, manager: Tid) -> std::io::Result<()> {
        let timer = SignalTimer::wall_with(instant_signal(), manager)?;
        // Set once, here.
        let _ = self.timer.set(timer);
        Ok(())
    }

    /// The job released at `release`, on the clock, is the next one to end.
    pub(crate) fn await_end_of(&self, release: u64) {
        if let Some(timer) = self.timer.get() {
            timer.set_at(release.saturating_add(self.after_nanos));
        }
    }

    fn note_end(&self, sequence: u64) {
        self.ended
            .store(sequence.saturating_add(1), Ordering::SeqCst);
    }

    /// The first job that has not ended.
    pub(crate) fn first(&self) -> u64 {
        self.ended.load(Ordering::SeqCst)
    }

    /// The job of which the guard knows that it is incomplete.
    pub(crate) fn incomplete(&self) -> Option<u64> {
        self.incomplete.load(Ordering::SeqCst).checked_sub(1)
    }

    /// The guard takes a job for incomplete that has ended.
    pub(crate) fn is_end_unreported(&self) -> bool {
        self.incomplete()
            .is_some_and(|incomplete| incomplete < self.first())
    }

    pub(crate) fn note_incomplete(&self, sequence: u64) {
        self.incomplete
            .store(sequence.saturating_add(1), Ordering::SeqCst);
    }

    pub(crate) fn note_none_incomplete(&self) {
        self.incomplete.store(0, Ordering::SeqCst);
    }

    /// When a job released at `release` has no slack left; both on one clock.
    pub(crate) fn instant_of(&self, release: u64) -> u64 {
        release.saturating_add(self.after_nanos)
    }
}

impl TaskShared {
    /// The task suspends others where it has no slack left, and is suspended. `low` is the lowest
    /// priority of the run.
    pub(crate) fn with_slack(mut self, low: i32) -> Self {
        let after = self.configuration.critical_after().as_nanos();
        self.slack = Some(Slack::new(after, low, self.fifo));
        self
    }

    /// The SCHED_FIFO priority that its worker has, or gets back when it was taken from it.
    pub(crate) fn present_priority(&self) -> i32 {
        self.slack
            .as_ref()
            .map_or(self.fifo, |slack| slack.priority.load(Ordering::SeqCst))
    }

    pub(crate) fn rank(&self) -> Rank {
        let Some(slack) = &self.slack else {
            return Rank::Own;
        };
        let present = slack.priority.load(Ordering::SeqCst);
        match present.saturating_sub(slack.low) {
            1 => Rank::Suspended,
            2 => Rank::BelowAll,
            _ => Rank::Own,
        }
    }

    /// Notes the worker's new rank; its new priority, if that is another one.
    pub(crate) fn turn_to(&self, rank: Rank) -> Option<i32> {
        let slack = self.slack.as_ref()?;
        let priority = match rank {
            Rank::Own => self.fifo,
            Rank::BelowAll => slack.low.saturating_add(2),
            Rank::Suspended => slack.low.saturating_add(1),
        };
        let before = slack.priority.swap(priority, Ordering::SeqCst);
        (before != priority).then_some(priority)
    }

    /// The worker's job number `sequence`, released at `release` on the clock, has come to its end; says whether
    /// the worker was demoted since it began.
    pub(crate) fn take_off(&self, sequence: u64, release: u64) -> bool {
        if let Some(slack) = &self.slack {
            let period = self.configuration.task.period.as_nanos();
            slack.await_end_of(release.saturating_add(period));
        }
        let demoted = self.finish(sequence);
        if let Some(slack) = &self.slack {
            slack.note_end(sequence);
        }
        demoted
    }
}

impl Shared {
    /// Calls the manager if the guard still takes job `sequence` of `task` for incomplete. Last of all
    /// that a worker does about a job: whoever was suspended may go on at once.
    pub(crate) fn report_end(&self, task: &TaskShared, sequence: u64) {
        let incomplete = task.slack.as_ref().and_then(Slack::incomplete);
        if incomplete.is_some_and(|incomplete| incomplete <= sequence) && !self.stop_requested() {
            self.kick_manager();
        }
    }

    /// The tasks as they stand just now, the most urgent first.
    pub(crate) fn by_rank(&self) -> impl Iterator<Item = &TaskShared> {
        Rank::ALL.into_iter().flat_map(|rank| {
            let tasks = self.by_urgency.iter();
            let tasks = tasks.filter_map(|&index| self.tasks.get(index));
            tasks.filter(move |task| task.rank() == rank)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Monitor};
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};

    fn shared() -> Shared {
        let task = |fifo: i32, after| {
            let wcet = Wcet::new(&[Service::from_millis(1)]).unwrap();
            let period = Duration::from_millis(10);
            let configuration = TaskConfiguration {
                zero_slack: Some(Duration::from_millis(after)),
                ..TaskConfiguration::new(Task::new(Level(0), period, period, wcet).unwrap(), 1)
            };
            TaskShared::new(
                fifo.to_string(),
                configuration,
                0,
                fifo,
                crate::allowance::Allowance::UpTo(1_000_000),
            )
            .with_slack(1)
        };
        let config = Config::new();
        let tasks = vec![task(4, 6), task(5, 10), task(6, 10)];
        Shared::new(tasks, &config, 0, Monitor::Manager, Service::ZERO)
    }

    fn order(shared: &Shared) -> Vec<&str> {
        shared.by_rank().map(|task| task.name.as_str()).collect()
    }

    #[test]
    fn tasks_stand_by_their_places_and_among_equals_by_their_priorities() {
        let shared = shared();
        assert_eq!(order(&shared), ["6", "5", "4"]);
        assert_eq!(shared.tasks[2].turn_to(Rank::Suspended), Some(2));
        assert_eq!(shared.tasks[1].turn_to(Rank::Suspended), Some(2));
        assert_eq!(shared.tasks[1].turn_to(Rank::Suspended), None);
        assert_eq!(order(&shared), ["4", "6", "5"]);
        assert_eq!(shared.tasks[0].turn_to(Rank::BelowAll), Some(3));
        assert_eq!(shared.tasks[1].turn_to(Rank::Own), Some(5));
        assert_eq!(order(&shared), ["5", "4", "6"]);
        assert_eq!(shared.tasks[0].present_priority(), 3);
    }

    #[test]
    fn a_job_is_incomplete_until_its_end_is_reported() {
        let shared = shared();
        let task = &shared.tasks[0];
        let slack = task.slack.as_ref().unwrap();
        assert_eq!((slack.first(), slack.incomplete()), (0, None));
        slack.note_incomplete(0);
        assert_eq!(slack.incomplete(), Some(0));
        task.begin(0, 0);
        task.take_off(0, 0);
        assert_eq!((slack.first(), task.running()), (1, None));
        assert_eq!(
            slack.incomplete(),
            Some(0),
            "that is the manager's to change"
        );
        slack.note_none_incomplete();
        assert_eq!(slack.incomplete(), None);
        assert_eq!(slack.instant_of(5), 6_000_005);
    }
}
