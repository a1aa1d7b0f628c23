//! *Native dispatch*: the kernel's fixed priorities keep the order of jobs, and the manager handles exceptions only.
//!
//! It waits for signals: of budget monitors, of timers for jobs without slack, and of threads that have something
//! to say.

use super::{Driver, Enactor, Step};
use crate::config::Monitor;
use crate::feature::slack::is_end_unreported;
use crate::recording::Tracer;
use crate::report::ManagerRecord;
use crate::shared::{Shared, TaskShared};
use crate::sys::clock::monotonic_nanos;
use crate::sys::signal::{ManagerSignals, instant_signal, kick_signal};
use std::io;
use vestal_core::Guard;
use vestal_trace::Recorder;

/// Waits for signals.
pub(crate) struct Native {
    enactor: Enactor,
    signals: ManagerSignals,
}

impl Native {
    pub(crate) fn new(enactor: Enactor) -> Self {
        Self {
            enactor,
            signals: ManagerSignals::default(),
        }
    }
}

impl Driver for Native {
    type Decider = Guard;
    /// The signal; none: the time was over.
    type Woken = Option<i32>;

    fn decider(&mut self) -> &mut Recorder<Guard, Tracer> {
        &mut self.enactor.guard
    }

    fn start(&mut self, _: &Shared) -> io::Result<()> {
        Ok(())
    }

    fn arm(&mut self, shared: &Shared) -> u64 {
        let wake = self.enactor.wake(shared);
        match shared.monitor {
            Monitor::Heartbeat => wake.min(monotonic_nanos() + shared.heartbeat_nanos),
            Monitor::Perf | Monitor::Manager | Monitor::PosixTimer => wake,
        }
    }

    fn wait(&mut self, _: &Shared, until: u64) -> Option<i32> {
        self.signals.wait(until.saturating_sub(monotonic_nanos()))
    }

    fn count(&self, shared: &Shared, woken: &Option<i32>, now: u64, record: &mut ManagerRecord) {
        let wakeups = &mut record.wakeups;
        let reported = |task: &TaskShared| task.asks() || is_end_unreported(task);
        let count = match *woken {
            None if self.enactor.is_due(shared, now) => &mut wakeups.timer,
            Some(signal) if signal == instant_signal() => &mut wakeups.timer,
            None if shared.monitor == Monitor::Heartbeat => &mut wakeups.budget,
            None => &mut wakeups.beat,
            Some(signal) if signal != kick_signal() => &mut wakeups.budget,
            Some(_) if shared.tasks.iter().any(reported) => &mut wakeups.completion,
            Some(_) if shared.question.is_answered() => &mut wakeups.idle,
            Some(_) => &mut wakeups.other,
        };
        *count += 1;
    }

    fn is_wanted(&self, shared: &Shared, woken: &Option<i32>, now: u64) -> bool {
        let looks = shared.monitor == Monitor::Heartbeat;
        woken.is_some() || looks || self.enactor.is_due(shared, now)
    }

    fn round(
        &mut self,
        shared: &Shared,
        record: &mut ManagerRecord,
        woken: &Option<i32>,
        _: u64,
    ) -> Step {
        let fired =
            woken.is_some_and(|signal| ![kick_signal(), instant_signal()].contains(&signal));
        self.enactor.handle(shared, record, fired)
    }

    fn finish(self, _: &Shared) -> Recorder<Guard, Tracer> {
        self.enactor.guard
    }
}
