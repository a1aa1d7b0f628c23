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

use super::events::{BUDGET, INDEX, RELEASE, Timers};
use crate::allowance::Allowance;
use crate::shared::{QUANTUM_NANOS, Shared, TaskShared};
use crate::sys::sched::own_tid;
use crate::sys::timer::SignalTimer;
use crate::sys::waiting::Woken;
use std::io;

/// The job whose budget is monitored: index of its task, number, and limit.
type Monitored = (usize, u64, Allowance);

/// The manager's timers.
pub(crate) struct JobTimers {
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

impl Timers for JobTimers {
    fn start(shared: &Shared) -> io::Result<Self> {
        let manager = own_tid();
        let mut timers = Self {
            releases: Vec::with_capacity(shared.tasks.len()),
            budgets: Vec::with_capacity(shared.tasks.len()),
            wall: SignalTimer::wall_tagged(manager, BUDGET | INDEX)?,
            counting: vec![None; shared.tasks.len()],
            monitored: None,
        };
        for (index, task) in shared.tasks.iter().enumerate() {
            let budget = SignalTimer::cpu_time_of(task.tid(), manager, BUDGET | index)?;
            timers.budgets.push(budget);
            let release = SignalTimer::wall_tagged(manager, RELEASE | index)?;
            release.set_periodic(shared.release_of(task, 0), task.period_nanos());
            timers.releases.push(release);
        }
        Ok(timers)
    }

    fn fired(&mut self, shared: &Shared, kind: usize, index: usize, now: u64) {
        if kind == BUDGET {
            // If the job may go on, it is set again.
            self.monitored = None;
        } else if let Some(task) = shared.tasks.get(index)
            && let Some(newest) = task.newest_release(now)
        {
            task.release_counter.release(newest);
        }
    }

    /// The earliest release that one of the timers stands for and that was not handled yet, on the clock.
    fn wanted_since(shared: &Shared, woken: &Woken) -> Option<u64> {
        let releases = woken.tags().filter(|tag| tag & !INDEX == RELEASE);
        releases
            .filter_map(|tag| {
                let task = shared.tasks.get(tag & INDEX)?;
                Some(shared.release_of(task, task.release_counter.next()))
            })
            .min()
    }

    fn is_idle(shared: &Shared) -> bool {
        running(shared).is_none()
    }

    /// Cancels the timers of jobs that are over, and watches the job that runs when the manager waits.
    fn settle(&mut self, shared: &Shared) {
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
        Some((index, job, task.next.get()))
    })
}

fn pending_admitted(task: &TaskShared) -> Option<u64> {
    let job = task.release_counter.pending()?;
    let admitted = match task.running() {
        Some(running) => !task.is_demoted(running),
        None => task.next.get() != Allowance::NotAdmitted,
    };
    admitted.then_some(job)
}
