//! How a manager that leaves the order to the kernel moves workers out of the real-time class, and back.

use crate::cpu::Cpu;
use crate::recording::Tracer;
use crate::request::Request;
use crate::sys;
use crate::sys::clock::monotonic_nanos;
use crate::task::TaskShared;
use crate::words::Cause;
use vestal_core::Scheduler;
use vestal_core::engine::uniprocessor::CPU;
use vestal_trace::{Edge, Mechanism, Record, Recorder, What};

/// Takes a worker out of the real-time class, and stops its monitor.
pub(crate) fn take_out_of_real_time(task: &TaskShared) {
    // A worker lives as long as the run, and leaving the class needs no right.
    let _ = sys::sched::set_other(task.tid());
    if let Some(monitor) = task.monitor.get() {
        monitor.stop();
    }
}

/// Gives a worker its priority back.
pub(crate) fn restore_priority(shared: &Cpu, task: &TaskShared) {
    if shared.raise(task.tid(), task.present_priority()).is_err() {
        shared.run.request_stop(Cause::SetupFailed);
    }
}

/// Does so for workers between two jobs.
pub(crate) fn restore_priorities(shared: &Cpu) {
    for task in &shared.tasks {
        if task.request.look() == Some(Request::Priority) {
            #[cfg(feature = "real")]
            crate::fault::delay(shared, crate::fault::Point::BeforePriority);
            restore_priority(shared, task);
            task.request.take();
        }
    }
}

/// Changes a worker's class or priority; gives the time it took.
pub(crate) fn switch<S: Scheduler>(
    shared: &Cpu,
    decider: &mut Recorder<S, Tracer>,
    change: impl FnOnce(),
) -> u64 {
    let before = monotonic_nanos();
    span(shared, decider, before, (Mechanism::Switch, Edge::Begin));
    change();
    let after = monotonic_nanos();
    span(shared, decider, after, (Mechanism::Switch, Edge::End));
    after.saturating_sub(before)
}

/// Records where one of the manager's own mechanisms begins or ends.
pub(crate) fn span<S: Scheduler>(
    shared: &Cpu,
    decider: &mut Recorder<S, Tracer>,
    now: u64,
    (mechanism, edge): (Mechanism, Edge),
) {
    let what = What::Overhead {
        cpu: CPU,
        mechanism,
        edge,
    };
    let at = shared.instant(now);
    decider.put(Record { at, what });
}
