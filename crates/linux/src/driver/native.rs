//! *Native dispatch*: the kernel's fixed priorities keep the order of jobs, and the manager handles exceptions only.
//!
//! It waits for signals: of budget monitors, of timers for jobs without slack, and of threads that have something
//! to say.

use super::{Driver, Enactor, Step};
use crate::control::{Control, Reason, Traced};
use crate::pace::next_beat;
use crate::sys::clock::monotonic_nanos;
use crate::sys::signal::{ManagerSignals, instant_signal, kick_signal};
use std::io;
use vestal_core::Guard;

/// Waits for signals.
pub(crate) struct Native {
    enactor: Enactor,
    signals: ManagerSignals,
    /// When a heartbeat looks next, as a clock reading, once that is known.
    beat: Option<u64>,
    /// The task whose timer sent the last signal, by its index.
    fired: Option<usize>,
}

impl Native {
    pub(crate) fn new(enactor: Enactor) -> Self {
        Self {
            enactor,
            signals: ManagerSignals::default(),
            beat: None,
            fired: None,
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
        let epoch = control.run.epoch();
        if let (None, Some(period)) = (self.beat, control.terms.heartbeat_nanos) {
            self.beat = Some(next_beat(epoch, period, monotonic_nanos()));
        }
        self.enactor.wake(epoch).min(self.beat.unwrap_or(u64::MAX))
    }

    fn wait(&mut self, _: &Control<'_>, until: u64) -> Option<i32> {
        let came = self.signals.wait(until.saturating_sub(monotonic_nanos()));
        self.fired = came.and_then(|came| came.tag);
        came.map(|came| came.signal)
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

    fn round(&mut self, control: &mut Control<'_>, woken: &Option<i32>, now: u64) -> Step {
        let fired =
            woken.is_some_and(|signal| ![kick_signal(), instant_signal()].contains(&signal));
        // A beat that comes while the manager is awake is none the less one, and none is caught up with.
        let beats = self.beat.is_some_and(|beat| beat <= now);
        if beats {
            self.beat = None;
        }
        let by_monitor = fired || beats;
        control.record.activations.begin_round(now, by_monitor);
        if by_monitor {
            control.count_activation(now, self.fired);
        }
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
    use crate::words::Allowance;
    use vestal_trace::Recorder;

    fn cpu(monitor: Monitor) -> Cpu {
        let task = TaskShared::in_test(2, Allowance::Unlimited);
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
    fn a_heartbeat_keeps_its_period_whatever_else_wakes_the_manager() {
        let mut native = Native::new(Enactor::new(Recorder::new(guard(), Tracer::off()), 1));
        let mut arm = |cpu: &Cpu| {
            let mut record = ManagerRecord::new(1, 0);
            native.arm(&Control::new(cpu, &mut record))
        };
        assert_eq!(arm(&cpu(Monitor::Perf)), u64::MAX);
        let run = cpu(Monitor::Heartbeat);
        let period = run.terms.heartbeat_nanos.unwrap();
        let before = monotonic_nanos();
        let beat = arm(&run);
        assert_eq!((beat - run.run.epoch()) % period, 0);
        assert!((before..=monotonic_nanos() + period).contains(&beat));
        // Called meanwhile, and after a beat.
        let mut round = |now| {
            let mut record = ManagerRecord::new(1, 0);
            let mut control = Control::new(&run, &mut record);
            native.round(&mut control, &None, now).unwrap();
            let beats = record.activations.count;
            (beats, native.arm(&Control::new(&run, &mut record)))
        };
        assert_eq!(round(beat - 1), (0, beat));
        let (beats, next) = round(beat);
        assert_eq!((beats, (next - beat) % period), (1, 0));
        assert!(next > monotonic_nanos() - period);
    }
}
