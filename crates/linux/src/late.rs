//! What a late job lacked at its deadline.
//!
//! A job that is late by a moment may be preempted in that moment, and end much later: its tardiness has
//! the jobs in it that were released since. To be in time it would have needed
//!
//! ```text
//! from its deadline to a later look at it  +  what it executes after that look
//! ```
//! if it had the CPU just before that look, so that nothing released before its deadline was in its way.
//! The first thread of the run that takes the CPU after the deadline, for something that came after it
//! too, looks. Where none could, the job lacked its whole tardiness.

use crate::intervals::Thread;
use crate::shared::{Shared, TaskShared};
use std::sync::atomic::{AtomicU64, Ordering};

const NOT_DUE: u64 = u64::MAX;

/// The present job of a task, as far as it may become late.
#[derive(Debug, Default)]
pub(crate) struct Late {
    /// Its deadline, until a thread has looked at it after that; [`NOT_DUE`].
    due: AtomicU64,
    /// The clock at that look; 0: there was none.
    at: AtomicU64,
    executed: AtomicU64,
    consumed: AtomicU64,
}

/// A look at a job after its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) at: u64,
    /// What the job had executed.
    pub(crate) executed: u64,
    /// What the threads of the run had consumed.
    pub(crate) consumed: u64,
}

impl Late {
    pub(crate) fn new() -> Self {
        Self {
            due: AtomicU64::new(NOT_DUE),
            ..Self::default()
        }
    }

    fn begin(&self, due: u64) {
        self.at.store(0, Ordering::SeqCst);
        self.due.store(due, Ordering::SeqCst);
    }

    /// The job has ended, or lost its priority.
    pub(crate) fn end(&self) {
        self.due.store(NOT_DUE, Ordering::SeqCst);
    }

    /// The look at the job that ended last, if there was one.
    pub(crate) fn look(&self) -> Option<Look> {
        let at = self.at.load(Ordering::SeqCst);
        (at != 0).then(|| Look {
            at,
            executed: self.executed.load(Ordering::SeqCst),
            consumed: self.consumed.load(Ordering::SeqCst),
        })
    }
}

impl Shared {
    /// A job of `task` begins that is due then.
    pub(crate) fn note_due(&self, task: &TaskShared, due: u64) {
        task.late.begin(due);
        self.earliest_due.fetch_min(due, Ordering::SeqCst);
    }

    /// `thread` has taken the CPU at `now` for something that came at `wanted`. Looks at the job that it
    /// preempts, if that is late. O(1) where none is, else O(n), with a system call for each thread of the
    /// run that does not wait.
    pub(crate) fn look_at_late(&self, thread: Thread, wanted: u64, now: u64) {
        if now <= self.earliest_due.load(Ordering::SeqCst) {
            return;
        }
        // Those that begin meanwhile put theirs in again.
        self.earliest_due.store(NOT_DUE, Ordering::SeqCst);
        for task in &self.tasks {
            let due = task.late.due.load(Ordering::SeqCst);
            if due < now && due <= wanted && self.had_the_cpu(thread, task) {
                self.look(task, due, now);
            } else {
                self.earliest_due.fetch_min(due, Ordering::SeqCst);
            }
        }
    }

    fn look(&self, task: &TaskShared, due: u64, now: u64) {
        let late = &task.late;
        let claim = late
            .due
            .compare_exchange(due, NOT_DUE, Ordering::SeqCst, Ordering::SeqCst);
        if let (Ok(_), Some(executed)) = (claim, task.executed()) {
            late.executed.store(executed, Ordering::SeqCst);
            late.consumed.store(self.consumed(), Ordering::SeqCst);
            // Last: whoever reads it finds the rest.
            late.at.store(now, Ordering::SeqCst);
        }
    }

    /// Whether the present job of `task` ran, or could have, when `thread` took the CPU.
    fn had_the_cpu(&self, thread: Thread, task: &TaskShared) -> bool {
        let Some(sequence) = task.running_ready() else {
            return false;
        };
        if let Some(managed) = &self.managed {
            return thread == Thread::Manager && managed.names(task.job(sequence));
        }
        let is_behind = |other: &TaskShared| {
            other.id == task.id
                || thread == Thread::Worker(other.id.index())
                || other.running_ready().is_none()
                || other.present_priority() < task.present_priority()
        };
        self.tasks.iter().all(is_behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Monitor};
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};

    const WORKERS: [Thread; 3] = [Thread::Worker(0), Thread::Worker(1), Thread::Worker(2)];

    /// Three tasks, the most urgent first, of which the last two have jobs, due at 50.
    fn shared() -> Shared {
        let task = |fifo: i32| {
            let wcet = Wcet::new(&[Service::from_nanos(30)]).unwrap();
            let span = Duration::from_nanos(1_000);
            let configuration =
                TaskConfiguration::new(Task::new(Level(0), span, span, wcet).unwrap(), 1);
            TaskShared::new(
                fifo.to_string(),
                configuration,
                0,
                fifo,
                crate::allowance::Allowance::UpTo(1_000),
            )
        };
        let config = Config::new();
        let tasks = vec![task(5), task(4), task(3)];
        let shared = Shared::new(tasks, &config, 0, Monitor::Manager, Service::ZERO);
        for task in &shared.tasks[1..] {
            // By the clock of this thread they have executed nothing.
            task.begin(7, u64::MAX);
            shared.note_due(task, 50);
        }
        shared
    }

    fn looks(shared: &Shared) -> [Option<u64>; 3] {
        [0, 1, 2].map(|index| shared.tasks[index].late.look().map(|look| look.at))
    }

    #[test]
    fn who_takes_the_cpu_after_a_deadline_looks_at_the_job_that_had_it() {
        let shared = shared();
        shared.look_at_late(WORKERS[0], 40, 45);
        assert_eq!(looks(&shared), [None; 3], "no job is late");
        shared.look_at_late(WORKERS[0], 60, 61);
        assert_eq!(
            looks(&shared),
            [None, Some(61), None],
            "the last one waited"
        );
        shared.look_at_late(WORKERS[0], 70, 71);
        assert_eq!(
            looks(&shared),
            [None, Some(61), None],
            "the first look counts"
        );
        shared.tasks[1].finish(7);
        shared.tasks[1].late.end();
        shared.look_at_late(WORKERS[0], 80, 81);
        assert_eq!(looks(&shared), [None, Some(61), Some(81)]);
        shared.note_due(&shared.tasks[1], 1_050);
        assert_eq!(looks(&shared), [None, None, Some(81)], "the next job");
    }

    #[test]
    fn what_came_before_the_deadline_says_nothing_when_it_comes_late() {
        let shared = shared();
        shared.look_at_late(Thread::Manager, 49, 110);
        assert_eq!(looks(&shared), [None; 3]);
        shared.look_at_late(Thread::Manager, 50, 120);
        assert_eq!(looks(&shared), [None, Some(120), None]);
    }

    #[test]
    fn a_job_that_waits_for_one_more_urgent_is_not_looked_at() {
        let shared = shared();
        shared.tasks[0].begin(3, u64::MAX);
        shared.look_at_late(Thread::Manager, 60, 61);
        assert_eq!(looks(&shared), [None; 3]);
        // It is the one that takes the CPU.
        shared.look_at_late(WORKERS[0], 60, 62);
        assert_eq!(looks(&shared), [None, Some(62), None]);
    }

    #[test]
    fn nobody_is_late_before_the_earliest_deadline_and_those_not_looked_at_stay() {
        let shared = shared();
        let earliest = || shared.earliest_due.load(Ordering::SeqCst);
        assert_eq!(earliest(), 50);
        shared.look_at_late(WORKERS[0], 60, 61);
        assert_eq!(earliest(), 50, "the last one was not looked at");
        shared.tasks[2].late.end();
        shared.look_at_late(WORKERS[0], 60, 62);
        assert_eq!(earliest(), NOT_DUE);
    }
}
