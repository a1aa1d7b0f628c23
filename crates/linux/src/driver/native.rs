//! *Native dispatch*: the kernel's fixed priorities keep the order of jobs, and the manager handles exceptions only.
//!
//! It waits for signals: of budget monitors, of timers for jobs without slack, and of threads that have something
//! to say.

use super::{Driver, Enactor, Step};
use crate::control::{Control, Reason, Traced};
use crate::sys::clock::monotonic_nanos;
use crate::sys::signal::{ManagerSignals, instant_signal, kick_signal};
use std::io;
use vestal_core::Guard;

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

    fn decider(&mut self) -> &mut Traced<Guard> {
        &mut self.enactor.guard
    }

    fn start(&mut self, _: &Control<'_>) -> io::Result<()> {
        Ok(())
    }

    fn arm(&mut self, control: &Control<'_>) -> u64 {
        let beat = control.terms.heartbeat_nanos;
        let beat = beat.map_or(u64::MAX, |period| monotonic_nanos() + period);
        self.enactor.wake(control.run.epoch()).min(beat)
    }

    fn wait(&mut self, _: &Control<'_>, until: u64) -> Option<i32> {
        self.signals.wait(until.saturating_sub(monotonic_nanos()))
    }

    fn reason(&self, control: &mut Control<'_>, woken: &Option<i32>, now: u64) -> Reason {
        match *woken {
            None if self.enactor.is_due(control.run.epoch(), now) => Reason::Timer,
            Some(signal) if signal == instant_signal() => Reason::Timer,
            None if control.terms.heartbeat_nanos.is_some() => Reason::Budget,
            None => Reason::Beat,
            Some(signal) if signal != kick_signal() => Reason::Budget,
            Some(_) if self.enactor.is_called_by_a_worker(control.tasks) => Reason::Completion,
            Some(_) if control.question.is_answered() => Reason::Idle,
            Some(_) => Reason::Other,
        }
    }

    fn is_wanted(&self, control: &Control<'_>, woken: &Option<i32>, now: u64) -> bool {
        woken.is_some()
            || control.terms.heartbeat_nanos.is_some()
            || self.enactor.is_due(control.run.epoch(), now)
    }

    fn round(&mut self, control: &mut Control<'_>, woken: &Option<i32>, _: u64) -> Step {
        let fired =
            woken.is_some_and(|signal| ![kick_signal(), instant_signal()].contains(&signal));
        self.enactor.handle(control, fired)
    }

    fn finish(self, _: &Control<'_>) -> Traced<Guard> {
        self.enactor.guard
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ManagerRecord;
    use crate::cpu::{Cpu, Terms};
    use crate::driver::tests::guard;
    use crate::monitor::Monitor;
    use crate::recording::Tracer;
    use crate::request::Request;
    use crate::sys::signal::monitor_signal;
    use crate::task::TaskShared;
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};
    use vestal_trace::Recorder;

    fn cpu(monitor: Monitor) -> Cpu {
        let wcet = Wcet::new(&[Service::from_millis(1)]).unwrap();
        let period = Duration::from_millis(10);
        let model = Task::new(Level(0), period, period, wcet).unwrap();
        let limit = crate::words::Allowance::Unlimited;
        let configuration = TaskConfiguration::new(model, 1);
        let task = TaskShared::new("task".to_owned(), configuration, 0, 2, limit);
        Cpu::in_test(vec![task], Terms::in_test(monitor))
    }

    /// Why the manager is awake, and whether it has something to do.
    fn reason(cpu: &Cpu, woken: Option<i32>) -> (Reason, bool) {
        let native = Native::new(Enactor::new(Recorder::new(guard(), Tracer::off()), 1));
        let mut record = ManagerRecord::new(1, 0);
        let mut control = Control::new(cpu, &mut record);
        let reason = native.reason(&mut control, &woken, 0);
        (reason, native.is_wanted(&control, &woken, 0))
    }

    #[test]
    fn a_wake_up_has_one_reason_and_only_a_beat_has_nothing_to_do() {
        let run = cpu(Monitor::Perf);
        assert_eq!(reason(&run, None), (Reason::Beat, false));
        assert_eq!(reason(&run, Some(monitor_signal())), (Reason::Budget, true));
        assert_eq!(reason(&run, Some(instant_signal())), (Reason::Timer, true));
        assert_eq!(reason(&run, Some(kick_signal())), (Reason::Other, true));
        run.question.ask();
        run.question.answer();
        assert_eq!(reason(&run, Some(kick_signal())), (Reason::Idle, true));
        run.tasks[0].request.put(Request::Priority);
        assert_eq!(
            reason(&run, Some(kick_signal())),
            (Reason::Completion, true)
        );
        // With a heartbeat a wait that is over is a look at all budgets.
        assert_eq!(
            reason(&cpu(Monitor::Heartbeat), None),
            (Reason::Budget, true)
        );
    }

    #[test]
    fn with_a_heartbeat_it_wakes_after_a_period_and_else_not_at_all() {
        let mut native = Native::new(Enactor::new(Recorder::new(guard(), Tracer::off()), 1));
        let mut arm = |cpu: &Cpu| {
            let mut record = ManagerRecord::new(1, 0);
            native.arm(&Control::new(cpu, &mut record))
        };
        assert_eq!(arm(&cpu(Monitor::Perf)), u64::MAX);
        let run = cpu(Monitor::Heartbeat);
        let before = monotonic_nanos();
        let until = arm(&run);
        let period = run.terms.heartbeat_nanos.unwrap();
        let periods = before + period..=monotonic_nanos() + period;
        assert!(periods.contains(&until));
    }
}
