//! How sharp a budget monitor really is here: tried out on a thread that does nothing but run.

use crate::armed::Armed;
use crate::monitor::Monitor;
use crate::scarce::{Resource, making};
use crate::sys::clock::{cpu_nanos_of, monotonic_nanos, own_cpu_nanos};
use crate::sys::sched::enter_real_time;
use crate::sys::signal::ManagerSignals;
use crate::sys::{self, Processor, Tid};
use std::io;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use vestal_core::{Duration, Service};
use vestal_statistics::{Histogram, Summary};

/// Trials and their budget: 52 ms of burning. The rests in between let others use the CPU and its
/// caches, as they do between the overruns of a run. Neither is a multiple of a usual heartbeat, so
/// that budgets end anywhere between two beats.
const TRIALS: u32 = 40;
const BUDGET_NANOS: u64 = 1_300_000;
const REST_NANOS: u64 = 3_070_000;

/// No trial may take longer; on a machine on which one does, a run would be pointless.
const TRIAL_NANOS_MAX: u64 = 50_000_000;

/// What was tried out on the processor of a CPU before a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Calibration {
    /// By how much a thread exceeded its budget before its monitor said so.
    pub(crate) monitor: Option<Summary>,
    /// What a budget that outlives jobs may be exceeded by until the thread stands that used it up.
    pub(crate) servers: Option<Service>,
}

impl Calibration {
    /// The granularity obtained: the 99th percentile of what the monitor was late by.
    pub(crate) fn granularity(&self) -> Option<Service> {
        let monitor = self.monitor?;
        Some(Service::from_nanos(monitor.p99))
    }

    /// What a monitor with that granularity may be late by in nanoseconds, if it looks each `heartbeat_nanos` or by itself. Whatever
    /// was found by the few beats of a trial, a heartbeat finds what was used up just after one of them a period later.
    pub(crate) fn late_beyond(&self, heartbeat_nanos: Option<u64>) -> u64 {
        let obtained = self.granularity().map_or(0, Service::as_nanos);
        obtained.max(heartbeat_nanos.unwrap_or(0))
    }
}

/// The two threads of a calibration: one burns, the other waits for the monitor.
#[derive(Default)]
struct Trial {
    manager: AtomicI32,
    burner: AtomicI32,
    /// The CPU clock of the burner at the start of its budget.
    base: AtomicU64,
    /// Number of the trial whose budget the observer has seen exhausted.
    seen: AtomicU32,
    ended: AtomicU32,
    monitor: OnceLock<Armed>,
}

/// By how much a thread on `cpu` had exceeded its budget when the monitor's signal led to a look at
/// its clock, in nanoseconds. Takes about 170 ms.
///
/// `priorities` are the SCHED_FIFO priorities of that thread and, above it, of the one that looks;
/// `pace` is the period of a [`Monitor::Heartbeat`], and of another one the least that it waits before it looks again.
///
/// # Errors
/// What a system call said, as without the right to SCHED_FIFO or, for [`Monitor::Perf`], to perf.
pub fn calibrate(
    monitor: Monitor,
    pace: Duration,
    cpu: usize,
    priorities: (i32, i32),
) -> io::Result<Histogram> {
    let trial = Arc::new(Trial::default());
    let (burner_priority, observer_priority) = priorities;
    let observer = {
        let trial = Arc::clone(&trial);
        spawned(move || observe(&trial, (monitor, pace), cpu, observer_priority))?
    };
    let burner = {
        let trial = Arc::clone(&trial);
        spawned(move || {
            let outcome = burn_trials(&trial, monitor, cpu, burner_priority);
            trial.ended.store(1, Ordering::SeqCst);
            outcome
        })
    };
    let panicked = || io::Error::other("a thread of the calibration panicked");
    let burned = match burner {
        Ok(burner) => burner.join().map_err(|_| panicked())?,
        Err(error) => {
            // Who looks waits for it.
            trial.ended.store(1, Ordering::SeqCst);
            Err(error)
        }
    };
    let observed = observer.join().map_err(|_| panicked())?;
    burned?;
    observed
}

/// A thread of a trial.
fn spawned<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<thread::JoinHandle<T>> {
    let thread = thread::Builder::new().name("vestal-trial".to_owned());
    thread.spawn(work).map_err(making(Resource::Thread))
}

fn observe(
    trial: &Trial,
    (monitor, pace): (Monitor, Duration),
    cpu: usize,
    priority: i32,
) -> io::Result<Histogram> {
    let pace = pace.as_nanos();
    let beat = match monitor {
        Monitor::Heartbeat => pace,
        Monitor::Perf | Monitor::Manager | Monitor::Remainder | Monitor::PosixTimer => {
            TRIAL_NANOS_MAX
        }
    };
    let mut overshoots = Histogram::default();
    // Published even on failure, else the burner would wait for it.
    let ready = enter_real_time(Processor(cpu), priority);
    trial.manager.store(sys::sched::own_tid(), Ordering::SeqCst);
    ready?;
    let signals = ManagerSignals::default();
    while trial.ended.load(Ordering::SeqCst) == 0 {
        // A signal, or the time for the next look.
        signals.wait(beat);
        let burner: Tid = trial.burner.load(Ordering::SeqCst);
        let base = trial.base.load(Ordering::SeqCst);
        let executed = cpu_nanos_of(burner).map_or(0, |cpu| cpu.saturating_sub(base));
        if base != 0 && executed >= BUDGET_NANOS {
            overshoots.record(executed - BUDGET_NANOS);
            trial.base.store(0, Ordering::SeqCst);
            trial.seen.fetch_add(1, Ordering::SeqCst);
        } else if base != 0
            && let Some(monitor) = trial.monitor.get()
        {
            // Fired early, as after a preemption: another round, as the manager does it.
            monitor.start((BUDGET_NANOS - executed).max(pace));
        }
    }
    Ok(overshoots)
}

fn burn_trials(trial: &Trial, monitor: Monitor, cpu: usize, priority: i32) -> io::Result<()> {
    let patience = monotonic_nanos() + TRIAL_NANOS_MAX;
    while trial.manager.load(Ordering::SeqCst) == 0 && monotonic_nanos() < patience {
        thread::yield_now();
    }
    enter_real_time(Processor(cpu), priority)?;
    let armed = Armed::of_this_thread(monitor, trial.manager.load(Ordering::SeqCst), 0)?;
    trial.burner.store(sys::sched::own_tid(), Ordering::SeqCst);
    if let Some(armed) = armed {
        // Set once, here.
        let _ = trial.monitor.set(armed);
    }
    let armed = trial.monitor.get();
    for _ in 0..TRIALS {
        let seen = trial.seen.load(Ordering::SeqCst);
        trial.base.store(own_cpu_nanos(), Ordering::SeqCst);
        if let Some(armed) = armed {
            armed.start(BUDGET_NANOS);
        }
        let patience = monotonic_nanos() + TRIAL_NANOS_MAX;
        while trial.seen.load(Ordering::SeqCst) == seen && monotonic_nanos() < patience {}
        if let Some(armed) = armed {
            armed.stop();
        }
        trial.base.store(0, Ordering::SeqCst);
        let rest = monotonic_nanos() + REST_NANOS;
        sys::futex::wait_until(&trial.ended, 0, Some(rest));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_may_be_late_by_its_period_whatever_a_trial_found() {
        let mut overshoots = Histogram::default();
        overshoots.record(711_000);
        let calibration = Calibration {
            monitor: Some(overshoots.summary()),
            servers: None,
        };
        let obtained = calibration.granularity().unwrap().as_nanos();
        assert!((700_000..720_000).contains(&obtained));
        assert_eq!(calibration.late_beyond(None), obtained);
        assert_eq!(calibration.late_beyond(Some(1_000_000)), 1_000_000);
        assert_eq!(calibration.late_beyond(Some(500_000)), obtained);
        assert_eq!(Calibration::default().late_beyond(Some(500_000)), 500_000);
    }
}
