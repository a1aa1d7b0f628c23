//! What it costs to watch the budget of a job that keeps it, and which monitor is the cheaper one for that.
//!
//! A monitor is armed when a job begins, and disarmed when the job ends. The timer behind it is usually the next one that is due on its
//! CPU: then the kernel sets the CPU's timer register when the monitor is armed, and again when it is disarmed. Behind an earlier
//! timer it only notes it down. On a virtual machine to set the register may be an exit to the hypervisor, and costs
//! microseconds.

use crate::armed::Armed;
use crate::monitor::Monitor;
use crate::sys::Processor;
use crate::sys::clock::monotonic_nanos;
use crate::sys::event::sleep_until;
use crate::sys::sched::{enter_real_time, own_tid};
use crate::sys::timer::SignalTimer;
use std::io;
use std::thread;
use vestal_statistics::{Histogram, Summary};

/// A usual budget: shorter than the kernel's tick, so that its timer is mostly the next one that is due.
pub const BUDGET_NANOS: u64 = 500_000;
/// When an earlier timer is due.
const EARLIER_NANOS: u64 = 250_000;
/// Before each round the thread sleeps, as one that waits for a release does: its CPU is idle, and has set its timers for that.
const SLEEP_NANOS: u64 = 300_000;

/// Rounds of a trial before a run, which takes 30 ms.
pub(crate) const ROUNDS: u32 = 24;

/// What it costs to arm and to disarm a monitor, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmingCost {
    /// The monitor.
    pub monitor: Monitor,
    /// Where its timer is the next one due on its CPU.
    pub next: Summary,
    /// Where an earlier one is.
    pub behind: Summary,
}

/// The monitor that a run has because nobody asked for one, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct MonitorChoice {
    /// What was tried out: both candidates, or none where there was only one.
    pub tried: Vec<ArmingCost>,
    /// The monitor.
    pub monitor: Monitor,
}

/// A wall timer has to be cheaper by so much, in percent, to be preferred: it runs on while its job is preempted, and may wake the
/// manager in vain, which a trial does not see.
const CHEAPER_PERCENT: u64 = 20;

impl MonitorChoice {
    /// The cheaper of the two, by the medians of what it costs where their timers are the next ones due: that is how budgets of jobs
    /// mostly are.
    pub(crate) fn of(perf: ArmingCost, manager: ArmingCost) -> Self {
        let least = perf.next.median.saturating_mul(100 - CHEAPER_PERCENT) / 100;
        let is_cheaper = manager.next.count > 0 && manager.next.median < least;
        Self {
            tried: vec![perf, manager],
            monitor: if is_cheaper {
                Monitor::Manager
            } else {
                Monitor::Perf
            },
        }
    }
}

/// Which monitor is the cheaper one on `cpu`, by a trial; `None` where `monitor` is none that there is a choice from: it was asked for,
/// or perf is refused.
pub(crate) fn choose(
    monitor: Monitor,
    cpu: usize,
    priority: i32,
    rounds: u32,
) -> io::Result<Option<MonitorChoice>> {
    if monitor != Monitor::Perf {
        return Ok(None);
    }
    let cost = |monitor| arming_cost(monitor, cpu, priority, rounds);
    Ok(Some(MonitorChoice::of(
        cost(Monitor::Perf)?,
        cost(Monitor::Manager)?,
    )))
}

/// Tries out `monitor` in a thread of SCHED_FIFO at `priority` on `cpu`, so many `rounds` with an earlier timer and without.
/// A round takes some 0.3 ms.
///
/// # Errors
/// What a system call said, as without the right to SCHED_FIFO or, for [`Monitor::Perf`], to perf.
pub fn arming_cost(
    monitor: Monitor,
    cpu: usize,
    priority: i32,
    rounds: u32,
) -> io::Result<ArmingCost> {
    let thread = thread::Builder::new().name("vestal-trial".to_owned());
    let trial = thread.spawn(move || try_out(monitor, cpu, priority, rounds))?;
    let panicked = |_| io::Error::other("the thread that arms monitors panicked");
    trial.join().map_err(panicked)?
}

fn try_out(monitor: Monitor, cpu: usize, priority: i32, rounds: u32) -> io::Result<ArmingCost> {
    enter_real_time(Processor(cpu), priority)?;
    // No signal of either comes: they are stopped long before they fire, and blocked.
    let armed = Armed::of_this_thread(monitor, own_tid(), 0)?;
    let earlier = SignalTimer::wall(own_tid())?;
    let (mut next, mut behind) = (Histogram::default(), Histogram::default());
    if let Some(armed) = armed {
        for _ in 0..rounds {
            for (costs, earlier_nanos) in [(&mut next, 0), (&mut behind, EARLIER_NANOS)] {
                sleep_until(monotonic_nanos() + SLEEP_NANOS);
                earlier.set(earlier_nanos);
                let before = monotonic_nanos();
                armed.start(BUDGET_NANOS);
                armed.stop();
                costs.record(monotonic_nanos().saturating_sub(before));
                earlier.set(0);
            }
        }
    }
    Ok(ArmingCost {
        monitor,
        next: next.summary(),
        behind: behind.summary(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(monitor: Monitor, next: u64) -> ArmingCost {
        let mut costs = Histogram::default();
        // One that the machine kept says nothing.
        for value in [next, next, next * 100] {
            costs.record(value);
        }
        ArmingCost {
            monitor,
            next: costs.summary(),
            behind: Summary::default(),
        }
    }

    fn chosen(perf: u64, manager: u64) -> Monitor {
        let choice = MonitorChoice::of(cost(Monitor::Perf, perf), cost(Monitor::Manager, manager));
        assert_eq!(choice.tried.len(), 2);
        choice.monitor
    }

    #[test]
    fn a_wall_timer_is_taken_where_it_is_clearly_cheaper_to_set() {
        assert_eq!(chosen(20_000, 9_000), Monitor::Manager);
        assert_eq!(chosen(20_000, 15_000), Monitor::Manager);
        assert_eq!(chosen(20_000, 16_500), Monitor::Perf);
        assert_eq!(chosen(1_000, 3_000), Monitor::Perf);
    }

    #[test]
    fn what_was_not_measured_is_not_taken() {
        let none = ArmingCost {
            monitor: Monitor::Manager,
            next: Summary::default(),
            behind: Summary::default(),
        };
        let choice = MonitorChoice::of(cost(Monitor::Perf, 20_000), none);
        assert_eq!(choice.monitor, Monitor::Perf);
    }
}
