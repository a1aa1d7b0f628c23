//! What it costs to watch the budget of a job that keeps it.
//!
//! The monitor is armed when the job begins and disarmed when it ends, after a sleep. Where its timer is the next one due on its CPU, the
//! kernel sets the CPU's timer register both times; behind an earlier timer it does not. A counter of perf stands still while its
//! thread has not the CPU, so that each preemption stops its timer and starts it again; a wall timer runs on.

use super::{Effort, HIGH, Helper, PATIENCE_NANOS, SLEEP_NANOS};
use std::io;
use std::sync::atomic::Ordering;
use vestal_linux::Monitor;
use vestal_linux::measure::{BUDGET_NANOS, arming_costs};
use vestal_statistics::{Histogram, Summary};
use vestal_sys::clock::monotonic_nanos;
use vestal_sys::event::sleep_until;
use vestal_sys::perf::TaskClock;
use vestal_sys::timer::SignalTimer;
use vestal_sys::{futex, sched};

/// To arm and to disarm each monitor on `cpu` in SCHED_FIFO at `priority`, in both cases.
pub(super) fn armings(
    perf: bool,
    (cpu, priority): (usize, i32),
    effort: Effort,
    row: &mut impl FnMut(&'static str, Summary),
) -> io::Result<()> {
    let rounds = effort.sleeps();
    if perf {
        let [cost] = arming_costs([Monitor::Perf], cpu, priority, rounds)?;
        row("arm and disarm: perf, next timer due", cost.next);
        row("arm and disarm: perf, behind another timer", cost.behind);
    }
    let [cost] = arming_costs([Monitor::Manager], cpu, priority, rounds)?;
    row("arm and disarm: wall timer, next timer due", cost.next);
    row("arm and disarm: wall timer, behind another", cost.behind);
    Ok(())
}

/// What a thread loses that wakes a more urgent one, which goes back to sleep at once, with each monitor armed.
pub(super) fn round_trips(
    perf: bool,
    cpu: usize,
    effort: Effort,
    row: &mut impl FnMut(&'static str, Summary),
) -> io::Result<()> {
    let own = sched::own_tid();
    let nothing = round_trip(cpu, effort, || {}, || {})?;
    row("preemption round trip", nothing.summary());
    if perf {
        let counter = TaskClock::of_this_thread(own)?;
        let found = round_trip(
            cpu,
            effort,
            || counter.start(BUDGET_NANOS),
            || counter.stop(),
        )?;
        row("preemption round trip: perf", found.summary());
    }
    let timer = SignalTimer::wall(own)?;
    let found = round_trip(cpu, effort, || timer.set(BUDGET_NANOS), || timer.set(0))?;
    row("preemption round trip: wall timer", found.summary());
    Ok(())
}

fn round_trip(
    cpu: usize,
    effort: Effort,
    arm: impl Fn(),
    disarm: impl Fn(),
) -> io::Result<Histogram> {
    let helper = Helper::start(cpu, HIGH, Helper::answer)?;
    let words = &helper.words;
    let mut costs = Histogram::default();
    for round in 1..=effort.rounds() {
        arm();
        let before = monotonic_nanos();
        words.ask.store(round, Ordering::SeqCst);
        futex::wake_all(&words.ask);
        let after = monotonic_nanos();
        disarm();
        // It had the CPU before this thread went on.
        if words.answer.load(Ordering::SeqCst) == round {
            costs.record(after.saturating_sub(before));
        }
        // The helper goes back to its wait, if it has not.
        sleep_until(monotonic_nanos() + SLEEP_NANOS / 10);
        if monotonic_nanos() > before + PATIENCE_NANOS {
            break;
        }
    }
    helper.end();
    Ok(costs)
}
