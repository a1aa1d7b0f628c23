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

use super::events::{BUDGET, RELEASE, SLICE, Timers};
use crate::shared::{QUANTUM_NANOS, Shared, TaskShared};
use crate::sys::sched::own_tid;
use crate::sys::timer::SignalTimer;
use std::io;

/// The timers of all tasks.
pub(crate) struct Budgets(Vec<Budget>);

/// The timers of one task.
struct Budget {
    /// One for each slice of a period, so that none drifts where a period is no multiple of its slices;
    /// they run as long as this lives.
    _slices: Vec<SignalTimer>,
    cpu: SignalTimer,
    wall: SignalTimer,
    /// Whether the last two run.
    armed: bool,
    /// A timer of the task fired, so that they have to be set.
    dirty: bool,
}

impl Budget {
    fn new(shared: &Shared, index: usize, task: &TaskShared) -> io::Result<Self> {
        let manager = own_tid();
        let period = task.period_nanos();
        let count = task.slices();
        let slices = (0..count).map(|slice| {
            let kind = if slice == 0 { RELEASE } else { SLICE };
            let timer = SignalTimer::wall_tagged(manager, kind | index)?;
            let begins = u128::from(period) * u128::from(slice);
            let begins = u64::try_from(begins.div_ceil(u128::from(count))).unwrap_or(period);
            let first = shared.release_of(task, 0).saturating_add(begins);
            timer.set_periodic(first, period);
            Ok(timer)
        });
        Ok(Self {
            _slices: slices.collect::<io::Result<_>>()?,
            cpu: SignalTimer::cpu_time_of(task.tid(), manager, BUDGET | index)?,
            wall: SignalTimer::wall_tagged(manager, BUDGET | index)?,
            armed: false,
            dirty: false,
        })
    }

    /// Sets, leaves or cancels the timers of the budget.
    fn settle(&mut self, shared: &Shared, task: &TaskShared) {
        let pending = task.release_counter.pending();
        let running = task.running();
        let ready = match running {
            Some(_) => task.running_ready().is_some(),
            None => pending.is_some(),
        };
        if !ready {
            if std::mem::take(&mut self.armed) {
                self.cpu.set(0);
                self.wall.set(0);
            }
        } else if self.dirty || !self.armed {
            if running.is_none() {
                // Not begun: its thread will find the same.
                task.grant_first();
            }
            self.armed = true;
            self.arm(shared, task, running.is_some());
        }
        self.dirty = false;
    }

    fn arm(&self, shared: &Shared, task: &TaskShared, begun: bool) {
        let Some(threshold) = shared.threshold(task.present_limit()) else {
            self.cpu.set(0);
            self.wall.set(0);
            return;
        };
        let executed = begun.then(|| task.executed()).flatten().unwrap_or(0);
        self.cpu
            .set(threshold.saturating_sub(executed).max(QUANTUM_NANOS));
        self.wall.set(self.cpu.remaining().max(QUANTUM_NANOS));
    }
}

impl Timers for Budgets {
    fn start(shared: &Shared) -> io::Result<Self> {
        let budgets = shared.tasks.iter().enumerate();
        let budgets = budgets.map(|(index, task)| Budget::new(shared, index, task));
        budgets.collect::<io::Result<_>>().map(Self)
    }

    fn fired(&mut self, shared: &Shared, kind: usize, index: usize, now: u64) {
        let (Some(task), Some(budget)) = (shared.tasks.get(index), self.0.get_mut(index)) else {
            return;
        };
        budget.dirty = true;
        if kind == RELEASE
            && let Some(newest) = task.newest_release(now)
        {
            task.release_counter.note_release(newest);
        }
    }

    fn is_idle(shared: &Shared) -> bool {
        let ready = |task: &TaskShared| task.running_ready().is_some();
        !shared.tasks.iter().any(ready)
    }

    fn settle(&mut self, shared: &Shared) {
        for (task, budget) in shared.tasks.iter().zip(&mut self.0) {
            budget.settle(shared, task);
        }
    }
}
