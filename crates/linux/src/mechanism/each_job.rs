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

use crate::allowance::Allowance;
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
const BUDGET: usize = 2 << 16;
const INDEX: usize = (1 << 16) - 1;

/// The job whose budget is monitored: index of its task, number, and limit.
type Monitored = (usize, u64, Allowance);

/// The manager's timers.
struct Timers {
    waiter: Waiter,
    /// Of each task: the periodic timer of its releases, which run as long as this lives, and the timer
    /// on its worker's CPU time.
    releases: Vec<SignalTimer>,
    budgets: Vec<SignalTimer>,
    /// For the change of the criticality indicator.
    wall: SignalTimer,
    /// Per task: the job for which its CPU timer runs, and its limit.
    counting: Vec<Option<(u64, Allowance)>>,
    /// The job for which the wall-clock timer runs.
    monitored: Option<Monitored>,
}

impl Timers {
    fn new(shared: &Shared, wake_event: &WakeEvent) -> io::Result<Self> {
        let manager = own_tid();
        let mut timers = Self {
            waiter: Waiter::new(wake_event)?,
            releases: Vec::with_capacity(shared.tasks.len()),
            budgets: Vec::with_capacity(shared.tasks.len()),
            wall: SignalTimer::wall_tagged(manager, BUDGET | INDEX)?,
            counting: vec![None; shared.tasks.len()],
            monitored: None,
        };
        let epoch = shared.epoch();
        for (index, task) in shared.tasks.iter().enumerate() {
            let tid = task.tid();
            let budget = SignalTimer::cpu_time_of(tid, manager, BUDGET | index)?;
            timers.budgets.push(budget);
            let release = SignalTimer::wall_tagged(manager, RELEASE | index)?;
            let period = task.period_nanos();
            release.set_periodic(epoch.saturating_add(task.offset_nanos), period);
            timers.releases.push(release);
        }
        Ok(timers)
    }

    /// Cancels the timers of jobs that are over, and watches the job that runs when the manager waits.
    fn watch_running(&mut self, shared: &Shared) {
        let counted = self.counting.iter_mut().zip(&self.budgets);
        for (task, (counting, timer)) in shared.tasks.iter().zip(counted) {
            if counting.is_some_and(|(job, _)| task.release_counter.pending() != Some(job)) {
                timer.set(0);
                *counting = None;
            }
        }
        let next = running(shared);
        if next == self.monitored {
            return;
        }
        self.monitored = next;
        let Some((index, job, limit)) = next else {
            self.wall.set(0);
            return;
        };
        let (Some(task), Some(counting), Some(timer)) = (
            shared.tasks.get(index),
            self.counting.get_mut(index),
            self.budgets.get(index),
        ) else {
            return;
        };
        let Some(threshold) = shared.threshold(limit) else {
            timer.set(0);
            self.wall.set(0);
            return;
        };
        if *counting != Some((job, limit)) {
            *counting = Some((job, limit));
            let begun = task.running() == Some(job);
            let executed = begun.then(|| task.executed()).flatten().unwrap_or(0);
            timer.set(threshold.saturating_sub(executed).max(1));
        }
        self.wall.set(timer.remaining().max(QUANTUM_NANOS));
    }
}

/// The most urgent pending job that may run.
fn running(shared: &Shared) -> Option<Monitored> {
    shared.by_urgency.iter().find_map(|&index| {
        let task = shared.tasks.get(index)?;
        let job = pending_admitted(task)?;
        Some((index, job, task.limit.load()))
    })
}

fn pending_admitted(task: &TaskShared) -> Option<u64> {
    let job = task.release_counter.pending()?;
    let admitted = match task.running() {
        Some(running) => !task.is_demoted(running),
        None => task.limit.load() != Allowance::NotAdmitted,
    };
    admitted.then_some(job)
}

impl Manager {
    /// Manages each job until the run ends.
    pub(crate) fn manage_each_job(
        &mut self,
        shared: &Shared,
        wake_event: &WakeEvent,
    ) -> Result<(), ContractViolation> {
        let mut timers = match Timers::new(shared, wake_event) {
            Ok(timers) => timers,
            Err(_) => {
                shared.request_stop(StopCause::SetupFailed);
                return Ok(());
            }
        };
        let end = shared.end.load(Ordering::SeqCst);
        loop {
            let now = monotonic_nanos();
            if !crate::manager::goes_on(shared, now, end) {
                return Ok(());
            }
            let until = end.min(now + BEAT_NANOS);
            self.about_to_wait(shared);
            let woken = timers
                .waiter
                .wait(wake_event, until.saturating_sub(monotonic_nanos()));
            let wanted = first_release(shared, &woken).unwrap_or(until);
            let at = self.woken(shared, wanted);
            self.count_event(shared, &woken);
            if woken.is_nothing() {
                continue;
            }
            self.round(shared, at, |manager| {
                manager.handle_events(shared, &mut timers, &woken)
            })?;
        }
    }

    fn count_event(&mut self, shared: &Shared, woken: &Woken) {
        let wakeups = &mut self.record.wakeups;
        let count = if woken.called {
            &mut wakeups.completion
        } else if first_release(shared, woken).is_some() {
            &mut wakeups.release
        } else if woken.is_nothing() {
            &mut wakeups.beat
        } else {
            &mut wakeups.budget
        };
        *count += 1;
    }

    fn handle_events(
        &mut self,
        shared: &Shared,
        timers: &mut Timers,
        woken: &Woken,
    ) -> Result<(), ContractViolation> {
        if shared.phase() != RUN {
            return Ok(());
        }
        let now = shared.instant(monotonic_nanos()).as_nanos();
        let mut look = false;
        for tag in woken.tags() {
            if tag & !INDEX == BUDGET {
                look = true;
                // It fired: if the job may go on, it is set again.
                timers.monitored = None;
            } else if let Some(task) = shared.tasks.get(tag & INDEX)
                && let Some(newest) = task.newest_release(now)
            {
                task.release_counter.release(newest);
            }
        }
        let asks = |task: &TaskShared| {
            task.overran.is_there() || task.wants_priority.load(Ordering::SeqCst) == 1
        };
        if look || shared.tasks.iter().any(asks) {
            self.handle(shared, false)?;
        }
        if shared.idle_wanted.load(Ordering::SeqCst) == 1 && running(shared).is_none() {
            shared.idle_wanted.store(0, Ordering::SeqCst);
            shared.end_demoted();
            self.settle_idle(shared)?;
        }
        timers.watch_running(shared);
        Ok(())
    }
}

/// The earliest release that one of the timers stands for and that was not handled yet, on the clock.
fn first_release(shared: &Shared, woken: &Woken) -> Option<u64> {
    let epoch = shared.epoch();
    let releases = woken.tags().filter(|tag| tag & !INDEX == RELEASE);
    releases
        .filter_map(|tag| {
            let task = shared.tasks.get(tag & INDEX)?;
            Some(epoch.saturating_add(task.release_of(task.release_counter.next())))
        })
        .min()
}
