//! The manager of slices: section 5.2 of Huang, Gill and Lu (2014).
//!
//! It waits in `epoll_wait` for the signals of POSIX timers. A wall-clock timer of each task replenishes
//! its budget whenever a slice begins: the manager sets a timer on the thread's CPU time, which the
//! kernel looks at in its tick only, and a wall-clock timer over what the other one has left. When that
//! expires the budget is exhausted, or the timer is set anew for what is left by then. A task's thread
//! releases and ends its jobs itself; when one has ended, the manager cancels the timers of its budget.
//!
//! The guard decides as it does under our own mechanism, so budgets are those of slices counted from
//! releases; the paper's deferrable servers with the same periods keep what a job leaves over.

use super::timers::{Kind, Tag};
use crate::pace::BOUND;
use crate::sys::Tid;
use crate::sys::timer::SignalTimer;
use crate::task::Tasks;
use std::io;

/// The budgets of all tasks.
pub(super) struct SliceBudgets(Vec<Budget>);

/// The timers of one task.
struct Budget {
    cpu: SignalTimer,
    wall: SignalTimer,
    /// Whether they run.
    armed: bool,
    /// A timer of the task fired, so that they have to be set.
    dirty: bool,
}

impl Budget {
    fn new(index: usize, worker: Tid, manager: Tid) -> io::Result<Self> {
        let tag = Tag::new(Kind::Budget, index).word();
        Ok(Self {
            cpu: SignalTimer::cpu_time_of(worker, manager, tag)?,
            wall: SignalTimer::wall_tagged(manager, tag)?,
            armed: false,
            dirty: false,
        })
    }

    /// Sets, leaves or cancels the timers of the budget of a job that is `ready` or not; `rest` says what it has left.
    fn settle(&mut self, ready: bool, rest: impl FnOnce() -> Option<u64>) {
        if !ready {
            if std::mem::take(&mut self.armed) {
                self.arm(None);
            }
        } else if self.dirty || !self.armed {
            self.armed = true;
            self.arm(rest());
        }
        self.dirty = false;
    }

    fn arm(&self, rest: Option<u64>) {
        match rest {
            None => {
                self.cpu.set(0);
                self.wall.set(0);
            }
            Some(rest) => {
                self.cpu.set(rest.max(BOUND.as_nanos()));
                self.wall.set(self.cpu.remaining().max(BOUND.as_nanos()));
            }
        }
    }
}

impl SliceBudgets {
    /// Of the tasks' threads; their timers signal `manager`.
    pub(super) fn new(tasks: &Tasks, manager: Tid) -> io::Result<Self> {
        let budgets = tasks.iter().enumerate();
        let budgets = budgets.map(|(index, task)| Budget::new(index, task.jobs.tid(), manager));
        budgets.collect::<io::Result<_>>().map(Self)
    }

    /// A timer of the task with this index fired.
    pub(super) fn fired(&mut self, index: usize) {
        if let Some(budget) = self.0.get_mut(index) {
            budget.dirty = true;
        }
    }

    pub(super) fn is_idle(tasks: &Tasks) -> bool {
        tasks.iter().all(|task| task.running_ready().is_none())
    }

    pub(super) fn settle(&mut self, tasks: &Tasks) {
        for (task, budget) in tasks.iter().zip(&mut self.0) {
            let pending = task.release_counter.pending();
            let begun = task.jobs.running().is_some();
            let ready = match begun {
                true => task.running_ready().is_some(),
                false => pending.is_some(),
            };
            budget.settle(ready, || {
                if !begun {
                    // Its thread will find the same.
                    task.limits.grant_first();
                }
                let threshold = task.limits.threshold(task.limits.present_limit())?;
                let executed = begun.then(|| task.jobs.executed()).flatten();
                Some(threshold.saturating_sub(executed.unwrap_or(0)))
            });
        }
    }
}
