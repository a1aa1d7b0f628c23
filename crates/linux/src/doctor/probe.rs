//! What can only be found out by trying: rights, wake-ups, gaps, budgets. Bounded in time, and no CPU
//! is busy for longer than a tenth of a second at a time.

use crate::account::STOLEN_NANOS_MIN;
use crate::arming::{self, MonitorChoice};
use crate::calibrate::calibrate;
use crate::monitor::Monitor;
use crate::pace::BOUND;
use crate::rights::Rights;
use crate::sys::clock::monotonic_nanos;
use crate::sys::event::sleep_until;
use crate::sys::sched::enter_real_time;
use crate::sys::{self, Processor};
use std::io;
use std::thread;
use vestal_statistics::{Histogram, Summary};

/// Wake-ups of the latency probe, and the time between two of them: 0.4 s in all.
const WAKE_UPS: u32 = 400;
const WAKE_UP_NANOS: u64 = 1_000_000;
/// A machine that needs longer than this has been measured for long enough.
const WAKE_UPS_NANOS_MAX: u64 = 2_000_000_000;

/// Bursts of the gap probe and the rests between them, which leave the CPU to others and RT throttling
/// out of it: 0.5 s in all.
const BURSTS: u32 = 5;
const BURST_NANOS: u64 = 60_000_000;
const REST_NANOS: u64 = 40_000_000;

/// How often each monitor is armed, with an earlier timer and without: 0.1 s in all.
const ARMINGS: u32 = 80;

/// The priorities of the probes: burner or sleeper, and its observer.
const PRIORITIES: (i32, i32) = (1, 2);

/// What a probe found, or why it was not made.
pub type Outcome<T> = Result<T, String>;

/// How late a thread wakes that sleeps until an instant on an idle CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WakeUpProbe {
    /// Lateness in nanoseconds.
    pub lateness: Summary,
    /// Whether the thread was in SCHED_FIFO.
    pub real_time: bool,
}

/// Intervals in which a thread in SCHED_FIFO that never waits lost its CPU: to interrupts, firmware or
/// a hypervisor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapProbe {
    /// The gaps of 20 us and more, in nanoseconds.
    pub gaps: Summary,
    /// How long the thread ran in all, in nanoseconds.
    pub observed_nanos: u64,
}

/// By how much a thread had exceeded its budget when that was noticed.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetProbe {
    /// What monitored the budget.
    pub monitor: Monitor,
    /// The overshoot in nanoseconds.
    pub overshoot: Outcome<Summary>,
}

/// What was tried and measured on one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Probes {
    /// A trial thread was let into SCHED_FIFO.
    pub fifo: bool,
    /// `perf_event_open` gave a task-clock counter.
    pub perf: bool,
    /// How late a thread wakes.
    pub wake_up: Outcome<WakeUpProbe>,
    /// When the CPU was away.
    pub gaps: Outcome<GapProbe>,
    /// How sharp budgets are enforced, by the monitors of real runs.
    pub budgets: Vec<BudgetProbe>,
    /// Which monitor is the cheaper one, by what both cost.
    pub monitor: Outcome<MonitorChoice>,
}

impl Probes {
    /// Measures on `cpu`, for about two seconds.
    #[must_use]
    pub fn measure(cpu: usize) -> Self {
        let rights = Rights::probe();
        let (fifo, perf) = (rights.fifo_granted, rights.perf);
        let may = |what| {
            if fifo {
                Ok(())
            } else {
                Err(format!("{what} without SCHED_FIFO says nothing"))
            }
        };
        Self {
            fifo,
            perf,
            wake_up: in_a_thread("vestal-sleeper", move || wake_ups(cpu, fifo)),
            gaps: may("a look for gaps")
                .and_then(|()| in_a_thread("vestal-burner", move || look_for_gaps(cpu))),
            budgets: [Monitor::Perf, Monitor::Manager]
                .into_iter()
                .map(|monitor| BudgetProbe {
                    monitor,
                    overshoot: may("enforcement").and_then(|()| overshoot(monitor, perf, cpu)),
                })
                .collect(),
            monitor: may("to arm monitors").and_then(|()| choose(perf, cpu)),
        }
    }
}

fn choose(perf: bool, cpu: usize) -> Outcome<MonitorChoice> {
    if !perf {
        return Err("perf_event_open is refused, so there is no choice".to_owned());
    }
    let choice = arming::choose(Monitor::Perf, cpu, PRIORITIES.0, ARMINGS);
    match choice {
        Some(MonitorChoice {
            failed: Some(why), ..
        }) => Err(why),
        Some(choice) => Ok(choice),
        None => Err("there is no choice".to_owned()),
    }
}

/// A thread of its own, so that the class and the affinity of the caller stay what they are.
fn in_a_thread<T: Send + 'static>(
    name: &str,
    probe: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Outcome<T> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(probe);
    let thread = thread.map_err(|error| format!("no thread: {error}"))?;
    match thread.join() {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err("the measuring thread panicked".to_owned()),
    }
}

fn overshoot(monitor: Monitor, perf: bool, cpu: usize) -> Outcome<Summary> {
    if monitor == Monitor::Perf && !perf {
        return Err("perf_event_open is refused".to_owned());
    }
    calibrate(monitor, BOUND, cpu, PRIORITIES)
        .map(|overshoots| overshoots.summary())
        .map_err(|error| error.to_string())
        .and_then(|summary| match summary.count {
            0 => Err("no used-up budget was noticed".to_owned()),
            _ => Ok(summary),
        })
}

fn wake_ups(cpu: usize, real_time: bool) -> io::Result<WakeUpProbe> {
    if real_time {
        enter_real_time(Processor(cpu), PRIORITIES.1)?;
    } else {
        sys::sched::pin_to(cpu)?;
        sys::sched::no_timer_slack();
    }
    let mut lateness = Histogram::default();
    let end = monotonic_nanos() + WAKE_UPS_NANOS_MAX;
    for _ in 0..WAKE_UPS {
        let now = monotonic_nanos();
        if now >= end {
            break;
        }
        let until = now + WAKE_UP_NANOS;
        sleep_until(until);
        lateness.record(monotonic_nanos().saturating_sub(until));
    }
    Ok(WakeUpProbe {
        lateness: lateness.summary(),
        real_time,
    })
}

fn look_for_gaps(cpu: usize) -> io::Result<GapProbe> {
    enter_real_time(Processor(cpu), PRIORITIES.0)?;
    let mut gaps = Histogram::default();
    let mut observed_nanos = 0;
    for _ in 0..BURSTS {
        let begun = monotonic_nanos();
        let mut last = begun;
        while last - begun < BURST_NANOS {
            let now = monotonic_nanos();
            if now - last >= STOLEN_NANOS_MIN {
                gaps.record(now - last);
            }
            last = now;
        }
        observed_nanos += last - begun;
        sleep_until(last + REST_NANOS);
    }
    Ok(GapProbe {
        gaps: gaps.summary(),
        observed_nanos,
    })
}
