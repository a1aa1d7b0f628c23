//! The manager that handles each release and each completion: section 5.3 of Huang, Gill and Lu (2014).
//!
//! It waits in `epoll_wait` for the signals of POSIX timers and for workers that are done. A periodic
//! timer for each task releases its jobs. From releases and completions the manager knows which job
//! runs when it waits again: the most urgent pending one. That job's execution is monitored by a timer
//! on its thread's CPU time, which the kernel looks at in its tick only, and therefore by a wall-clock
//! timer over what the other timer has left as well (section 5.2). Both are cancelled when the job is
//! over, and the wall-clock timer is set anew for the job that goes on.
//!
//! A CPU with no pending admitted job is idle, which the manager sees by itself: there is no idle
//! detector.

use super::timers::{Kind, Tag};
use crate::pace::BOUND;
use crate::sys::Tid;
use crate::sys::timer::SignalTimer;
use crate::task::Tasks;
use crate::words::Allowance;
use std::io;

/// The job whose budget is monitored: index of its task, number, and limit.
type Monitored = (usize, u64, Allowance);

/// The timers of budgets.
pub(super) struct JobBudgets {
    /// Of each task: the timer on its worker's CPU time.
    budgets: Vec<SignalTimer>,
    /// For the change of the criticality indicator.
    wall: SignalTimer,
    /// Per task: the job for which its CPU timer runs, and its limit.
    counting: Vec<Option<(u64, Allowance)>>,
    /// The job for which the wall-clock timer runs.
    monitored: Option<Monitored>,
}

impl JobBudgets {
    /// Of the tasks' threads; they signal `manager`.
    pub(super) fn new(tasks: &Tasks, manager: Tid) -> io::Result<Self> {
        let budgets = tasks.iter().enumerate();
        let budgets = budgets.map(|(index, task)| {
            let tag = Tag::new(Kind::Budget, index);
            SignalTimer::cpu_time_of(task.jobs.tid(), manager, tag.word())
        });
        Ok(Self {
            budgets: budgets.collect::<io::Result<_>>()?,
            // Whose it is says the monitored job.
            wall: SignalTimer::wall_tagged(manager, Tag::new(Kind::Budget, 0).word())?,
            counting: vec![None; tasks.len()],
            monitored: None,
        })
    }

    /// A budget may be used up: if its job may go on, the timer is set again.
    pub(super) fn fired(&mut self) {
        self.monitored = None;
    }

    pub(super) fn is_idle(tasks: &Tasks) -> bool {
        running(tasks).is_none()
    }

    /// Cancels the timers of jobs that are over, and watches the job that runs when the manager waits.
    pub(super) fn settle(&mut self, tasks: &Tasks) {
        let counted = self.counting.iter_mut().zip(&self.budgets);
        for (task, (counting, timer)) in tasks.iter().zip(counted) {
            if counting.is_some_and(|(job, _)| task.release_counter.pending() != Some(job)) {
                timer.set(0);
                *counting = None;
            }
        }
        let next = running(tasks);
        if next == self.monitored {
            return;
        }
        self.monitored = next;
        let Some((index, job, limit)) = next else {
            self.wall.set(0);
            return;
        };
        let (Some(task), Some(counting), Some(timer)) = (
            tasks.get(index),
            self.counting.get_mut(index),
            self.budgets.get(index),
        ) else {
            return;
        };
        let Some(threshold) = task.limits.threshold(limit) else {
            timer.set(0);
            self.wall.set(0);
            return;
        };
        if *counting != Some((job, limit)) {
            *counting = Some((job, limit));
            let begun = task.jobs.running() == Some(job);
            let executed = begun.then(|| task.jobs.executed()).flatten().unwrap_or(0);
            timer.set(threshold.saturating_sub(executed).max(1));
        }
        self.wall.set(timer.remaining().max(BOUND.as_nanos()));
    }
}

/// The most urgent pending job that may run.
fn running(tasks: &Tasks) -> Option<Monitored> {
    tasks.by_urgency().find_map(|task| {
        let job = task.pending_admitted()?;
        Some((task.id.index(), job, task.limits.next.get()))
    })
}
