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

use crate::manager::{BEAT_NANOS, Manager};
use crate::shared::{QUANTUM_NANOS, RUN, Shared, StopCause, TaskShared};
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::own_tid;
use crate::sys::timer::SignalTimer;
use crate::sys::waiting::{Waiter, WakeEvent, Woken};
use std::io;
use std::sync::atomic::Ordering;
use vestal_core::ContractViolation;

/// Tags of timers: a kind, and below that the index of the task.
const RELEASE: usize = 1 << 16;
const SLICE: usize = 2 << 16;
const BUDGET: usize = 3 << 16;
const INDEX: usize = (1 << 16) - 1;

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
        let epoch = shared.epoch();
        let period = task.period_nanos();
        let count = task.slices();
        let slices = (0..count).map(|slice| {
            let kind = if slice == 0 { RELEASE } else { SLICE };
            let timer = SignalTimer::wall_tagged(manager, kind | index)?;
            let begins = u128::from(period) * u128::from(slice);
            let begins = u64::try_from(begins.div_ceil(u128::from(count))).unwrap_or(period);
            let first = epoch
                .saturating_add(task.offset_nanos)
                .saturating_add(begins);
            timer.set_periodic(first, period);
            Ok(timer)
        });
        let tid = task.tid();
        Ok(Self {
            _slices: slices.collect::<io::Result<_>>()?,
            cpu: SignalTimer::cpu_time_of(tid, manager, BUDGET | index)?,
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

impl Manager {
    /// Manages the budget of each slice until the run ends.
    pub(crate) fn manage_pt(
        &mut self,
        shared: &Shared,
        wake_event: &WakeEvent,
    ) -> Result<(), ContractViolation> {
        let budgets = shared.tasks.iter().enumerate();
        let budgets = budgets.map(|(index, task)| Budget::new(shared, index, task));
        let made: io::Result<(Waiter, Vec<Budget>)> = Waiter::new(wake_event)
            .and_then(|waiter| Ok((waiter, budgets.collect::<io::Result<_>>()?)));
        let Ok((waiter, mut budgets)) = made else {
            shared.request_stop(StopCause::SetupFailed);
            return Ok(());
        };
        let end = shared.end.load(Ordering::SeqCst);
        loop {
            let now = monotonic_nanos();
            if !crate::manager::goes_on(shared, now, end) {
                return Ok(());
            }
            // The timers come first; where one is missing the guard is not late by more than this.
            let span = (end - now)
                .min(BEAT_NANOS)
                .min(self.until_wake(shared, now));
            let until = now + span;
            self.about_to_wait(shared);
            let woken = waiter.wait(wake_event, until.saturating_sub(monotonic_nanos()));
            let at = self.woken(shared, until);
            let due = self.until_wake(shared, monotonic_nanos()) == 0;
            self.count_slice_event(&woken, due);
            if woken.is_nothing() && !due {
                continue;
            }
            self.round(shared, at, |manager| {
                manager.handle_slices(shared, &mut budgets, &woken, due)
            })?;
        }
    }

    fn count_slice_event(&mut self, woken: &Woken, due: bool) {
        let wakeups = &mut self.record.wakeups;
        let mut kinds = woken.tags().map(|tag| tag & !INDEX);
        let count = if woken.called {
            &mut wakeups.completion
        } else if kinds.any(|kind| kind != BUDGET) || due {
            &mut wakeups.timer
        } else if woken.is_nothing() {
            &mut wakeups.beat
        } else {
            &mut wakeups.budget
        };
        *count += 1;
    }

    fn handle_slices(
        &mut self,
        shared: &Shared,
        budgets: &mut [Budget],
        woken: &Woken,
        due: bool,
    ) -> Result<(), ContractViolation> {
        if shared.phase() != RUN {
            return Ok(());
        }
        let now = shared.instant(monotonic_nanos()).as_nanos();
        let mut look = due;
        for tag in woken.tags() {
            let index = tag & INDEX;
            let (Some(task), Some(budget)) = (shared.tasks.get(index), budgets.get_mut(index))
            else {
                continue;
            };
            budget.dirty = true;
            look |= tag & !INDEX == BUDGET;
            if tag & !INDEX == RELEASE
                && let Some(newest) = task.newest_release(now)
            {
                task.release_counter.note_release(newest);
            }
        }
        let asks = |task: &TaskShared| {
            task.overran.is_there() || task.wants_priority.load(Ordering::SeqCst) == 1
        };
        if look || shared.tasks.iter().any(asks) {
            self.handle(shared, false)?;
        }
        let ready = |task: &TaskShared| task.running_ready().is_some();
        if shared.idle_wanted.load(Ordering::SeqCst) == 1 && !shared.tasks.iter().any(ready) {
            shared.idle_wanted.store(0, Ordering::SeqCst);
            shared.end_demoted();
        }
        for (task, budget) in shared.tasks.iter().zip(budgets) {
            budget.settle(shared, task);
        }
        Ok(())
    }
}
