//! What it costs to watch the budget of a job that keeps it, and which monitor is the cheaper one for that.
//!
//! A monitor is armed when a job begins, and disarmed when the job ends. The timer behind it is usually the next one that is due on its
//! CPU: then the kernel sets the CPU's timer register when the monitor is armed, and again when it is disarmed. Behind an earlier
//! timer it only notes it down. On a virtual machine to set the register may be an exit to the hypervisor, and costs
//! microseconds.

use crate::armed::Armed;
use crate::monitor::Monitor;
use crate::scarce::{Resource, making};
use crate::sys::Processor;
use crate::sys::clock::monotonic_nanos;
use crate::sys::event::sleep_until;
use crate::sys::sched::{enter_real_time, own_tid};
use crate::sys::timer::SignalTimer;
use std::fmt;
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MonitorChoice {
    /// What was tried out: both candidates, or none where there was only one.
    pub tried: Vec<ArmingCost>,
    /// By how much each of them was late in 99 of 100 cases, in nanoseconds: looked at where the other one is cheaper.
    pub late: Vec<u64>,
    /// Why nothing could be tried out, if so.
    pub failed: Option<String>,
    /// Whether that is [`Monitor::Manager`]; else it is [`Monitor::Perf`].
    pub is_manager: bool,
}

/// A wall timer has to be cheaper by so much, in percent, to be preferred: it runs on while its job is preempted, and may wake the
/// manager in vain, which a trial does not see.
const CHEAPER_PERCENT: u64 = 20;

impl MonitorChoice {
    /// The cheaper of the two, by the medians of what it costs where their timers are the next ones due: that is how budgets of jobs
    /// mostly are.
    pub(crate) fn of(perf: ArmingCost, manager: ArmingCost) -> Self {
        let least = perf.next.median.saturating_mul(100 - CHEAPER_PERCENT) / 100;
        let is_manager = manager.next.count > 0 && manager.next.median < least;
        Self {
            tried: vec![perf, manager],
            is_manager,
            ..Self::default()
        }
    }

    /// Nothing could be tried out.
    pub(crate) fn failed(error: &io::Error) -> Self {
        Self {
            failed: Some(error.to_string()),
            ..Self::default()
        }
    }

    /// The same, where the manager could not be tried out any further.
    pub(crate) fn refused(self, error: &impl fmt::Display) -> Self {
        Self {
            failed: Some(error.to_string()),
            is_manager: false,
            ..self
        }
    }

    /// The same, where perf finds what was used up so late, and the manager so late, and any run tolerates so much: nothing is saved at the price of enforcement.
    pub(crate) fn if_as_sharp(self, (perf, manager): (u64, u64), tolerated: u64) -> Self {
        let as_sharp = manager <= perf.max(tolerated);
        Self {
            late: vec![perf, manager],
            is_manager: self.is_manager && as_sharp,
            ..self
        }
    }

    /// The monitor.
    #[must_use]
    pub const fn monitor(&self) -> Monitor {
        match self.is_manager {
            true => Monitor::Manager,
            false => Monitor::Perf,
        }
    }
}

/// Which monitor is the cheaper one on `cpu`, by a trial of both in turns; `None` where `monitor` is none that there is a choice from:
/// it was asked for, or perf is refused.
pub(crate) fn choose(
    monitor: Monitor,
    cpu: usize,
    priority: i32,
    rounds: u32,
) -> Option<MonitorChoice> {
    if monitor != Monitor::Perf {
        return None;
    }
    let kinds = [Monitor::Perf, Monitor::Manager];
    Some(match arming_costs(kinds, cpu, priority, rounds) {
        Ok([perf, manager]) => MonitorChoice::of(perf, manager),
        Err(error) => MonitorChoice::failed(&error),
    })
}

/// Tries out monitors in turns, in a thread of SCHED_FIFO at `priority` on `cpu`, so many `rounds` with an earlier timer and without.
/// A round takes some 0.3 ms for each.
///
/// # Errors
/// What a system call said, as without the right to SCHED_FIFO or, for [`Monitor::Perf`], to perf.
pub fn arming_costs<const N: usize>(
    monitors: [Monitor; N],
    cpu: usize,
    priority: i32,
    rounds: u32,
) -> io::Result<[ArmingCost; N]> {
    let thread = thread::Builder::new().name("vestal-trial".to_owned());
    let trial = thread.spawn(move || try_out(monitors, cpu, priority, rounds));
    let trial = trial.map_err(making(Resource::Thread))?;
    let panicked = |_| io::Error::other("the thread that arms monitors panicked");
    trial.join().map_err(panicked)?
}

fn try_out<const N: usize>(
    monitors: [Monitor; N],
    cpu: usize,
    priority: i32,
    rounds: u32,
) -> io::Result<[ArmingCost; N]> {
    enter_real_time(Processor(cpu), priority)?;
    // No signal of any comes: they are stopped long before they fire, and blocked.
    let armed = monitors.map(|monitor| Armed::of_this_thread(monitor, own_tid(), 0));
    let armed = armed.into_iter().collect::<io::Result<Vec<_>>>()?;
    let earlier = SignalTimer::wall(own_tid()).map_err(making(Resource::Timer))?;
    let mut costs = monitors.map(|_| (Histogram::default(), Histogram::default()));
    for _ in 0..rounds {
        for (armed, (next, behind)) in armed.iter().zip(&mut costs) {
            for (costs, earlier_nanos) in [(next, 0), (behind, EARLIER_NANOS)] {
                sleep_until(monotonic_nanos() + SLEEP_NANOS);
                earlier.set(earlier_nanos);
                let before = monotonic_nanos();
                if let Some(armed) = armed {
                    armed.start(BUDGET_NANOS);
                    armed.stop();
                    costs.record(monotonic_nanos().saturating_sub(before));
                }
                earlier.set(0);
            }
        }
    }
    let mut costs = costs.into_iter();
    Ok(monitors.map(|monitor| {
        let (next, behind) = costs.next().unwrap_or_default();
        ArmingCost {
            monitor,
            next: next.summary(),
            behind: behind.summary(),
        }
    }))
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
        choice.monitor()
    }

    #[test]
    fn a_wall_timer_is_taken_where_it_is_clearly_cheaper_to_set() {
        assert_eq!(chosen(20_000, 9_000), Monitor::Manager);
        assert_eq!(chosen(20_000, 15_000), Monitor::Manager);
        assert_eq!(chosen(20_000, 16_500), Monitor::Perf);
        assert_eq!(chosen(1_000, 3_000), Monitor::Perf);
    }

    /// What is cheaper and finds overruns later than the other one, and than any run tolerates, is not taken.
    #[test]
    fn nothing_is_saved_at_the_price_of_enforcement() {
        let cheaper =
            || MonitorChoice::of(cost(Monitor::Perf, 20_000), cost(Monitor::Manager, 9_000));
        for (perf, manager, taken) in [
            (60_000, 30_000, Monitor::Manager),
            (20_000, 50_000, Monitor::Manager),
            (20_000, 50_001, Monitor::Perf),
            (60_000, 300_000, Monitor::Perf),
        ] {
            let choice = cheaper().if_as_sharp((perf, manager), 50_000);
            assert_eq!(choice.monitor(), taken, "{perf} {manager}");
            assert_eq!(choice.late, [perf, manager]);
        }
        let dearer = MonitorChoice::of(cost(Monitor::Perf, 9_000), cost(Monitor::Manager, 9_000));
        assert_eq!(
            dearer.if_as_sharp((60_000, 30_000), 50_000).monitor(),
            Monitor::Perf
        );
    }

    #[test]
    fn a_trial_that_fails_changes_nothing() {
        let choice = MonitorChoice::failed(&io::Error::other("no timer"));
        assert_eq!(choice.monitor(), Monitor::Perf);
        assert_eq!(choice.failed.as_deref(), Some("no timer"));
        // Also in its second part, of the cheaper one alone.
        let (perf, manager) = (cost(Monitor::Perf, 20_000), cost(Monitor::Manager, 9_000));
        let cheaper = MonitorChoice::of(perf, manager);
        assert_eq!(cheaper.monitor(), Monitor::Manager);
        let choice = cheaper.refused(&io::Error::other("no timer"));
        assert_eq!(choice.monitor(), Monitor::Perf);
        assert!(choice.failed.is_some_and(|why| why.contains("no timer")));
    }

    #[test]
    fn what_was_not_measured_is_not_taken() {
        let none = ArmingCost {
            monitor: Monitor::Manager,
            next: Summary::default(),
            behind: Summary::default(),
        };
        let choice = MonitorChoice::of(cost(Monitor::Perf, 20_000), none);
        assert_eq!(choice.monitor(), Monitor::Perf);
    }
}
