//! *Native dispatch*: the kernel's fixed priorities keep the order of jobs, and the manager handles exceptions only.
//!
//! It waits for signals: of budget monitors, of timers for jobs without slack, and of threads that have something
//! to say.

use super::{Driver, Enactor, Step};
use crate::cpu::Cpu;
use crate::recording::Tracer;
use crate::round::ManagerRecord;
use crate::sys::clock::monotonic_nanos;
use crate::sys::signal::{ManagerSignals, instant_signal, kick_signal};
use crate::task::TaskShared;
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

    fn start(&mut self, _: &Cpu) -> io::Result<()> {
        Ok(())
    }

    fn arm(&mut self, shared: &Cpu) -> u64 {
        let beat = shared.heartbeat_nanos;
        let beat = beat.map_or(u64::MAX, |period| monotonic_nanos() + period);
        self.enactor.wake(shared).min(beat)
    }

    fn wait(&mut self, _: &Cpu, until: u64) -> Option<i32> {
        self.signals.wait(until.saturating_sub(monotonic_nanos()))
    }

    fn count(&self, shared: &Cpu, woken: &Option<i32>, now: u64, record: &mut ManagerRecord) {
        let wakeups = &mut record.wakeups;
        let reported = |task: &TaskShared| task.asks() || self.enactor.is_end_unreported(task);
        let count = match *woken {
            None if self.enactor.is_due(shared, now) => &mut wakeups.timer,
            Some(signal) if signal == instant_signal() => &mut wakeups.timer,
            None if shared.heartbeat_nanos.is_some() => &mut wakeups.budget,
            None => &mut wakeups.beat,
            Some(signal) if signal != kick_signal() => &mut wakeups.budget,
            Some(_) if shared.tasks.iter().any(reported) => &mut wakeups.completion,
            Some(_) if shared.question.is_answered() => &mut wakeups.idle,
            Some(_) => &mut wakeups.other,
        };
        *count += 1;
    }

    fn is_wanted(&self, shared: &Cpu, woken: &Option<i32>, now: u64) -> bool {
        woken.is_some() || shared.heartbeat_nanos.is_some() || self.enactor.is_due(shared, now)
    }

    fn round(
        &mut self,
        shared: &Cpu,
        record: &mut ManagerRecord,
        woken: &Option<i32>,
        _: u64,
    ) -> Step {
        let fired =
            woken.is_some_and(|signal| ![kick_signal(), instant_signal()].contains(&signal));
        self.enactor.handle(shared, record, fired)
    }

    fn finish(self, _: &Cpu) -> Recorder<Guard, Tracer> {
        self.enactor.guard
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::driver::tests::guard;
    use crate::monitor::Monitor;
    use crate::request::Request;
    use crate::sys::Processor;
    use crate::sys::signal::monitor_signal;
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};

    fn shared(monitor: Monitor) -> Cpu {
        let config = Config::new();
        let wcet = Wcet::new(&[Service::from_millis(1)]).unwrap();
        let period = Duration::from_millis(10);
        let model = Task::new(Level(0), period, period, wcet).unwrap();
        let limit = crate::words::Allowance::Unlimited;
        let configuration = TaskConfiguration::new(model, 1);
        let task = TaskShared::new("task".to_owned(), configuration, 0, 2, limit);
        Cpu::new(vec![task], &config, Processor(0), monitor, Service::ZERO)
    }

    /// Why the manager is awake, and whether it has something to do.
    fn reason(shared: &Cpu, woken: Option<i32>) -> (&'static str, bool) {
        let native = Native::new(Enactor::new(Recorder::new(guard(), Tracer::off()), 1));
        let mut record = ManagerRecord::new(1, 0);
        native.count(shared, &woken, 0, &mut record);
        let counts = [
            ("budget", record.wakeups.budget),
            ("completion", record.wakeups.completion),
            ("timer", record.wakeups.timer),
            ("idle", record.wakeups.idle),
            ("beat", record.wakeups.beat),
            ("other", record.wakeups.other),
        ];
        let counted: Vec<_> = counts.iter().filter(|(_, count)| *count > 0).collect();
        let [(name, 1)] = counted[..] else {
            panic!("{counted:?}");
        };
        (name, native.is_wanted(shared, &woken, 0))
    }

    #[test]
    fn a_wake_up_has_one_reason_and_only_a_beat_has_nothing_to_do() {
        let run = shared(Monitor::Perf);
        assert_eq!(reason(&run, None), ("beat", false));
        assert_eq!(reason(&run, Some(monitor_signal())), ("budget", true));
        assert_eq!(reason(&run, Some(instant_signal())), ("timer", true));
        assert_eq!(reason(&run, Some(kick_signal())), ("other", true));
        run.question.ask();
        run.question.answer();
        assert_eq!(reason(&run, Some(kick_signal())), ("idle", true));
        run.tasks[0].request.put(Request::Priority);
        assert_eq!(reason(&run, Some(kick_signal())), ("completion", true));
        // With a heartbeat a wait that is over is a look at all budgets.
        assert_eq!(reason(&shared(Monitor::Heartbeat), None), ("budget", true));
    }

    #[test]
    fn with_a_heartbeat_it_wakes_after_a_period_and_else_not_at_all() {
        let mut native = Native::new(Enactor::new(Recorder::new(guard(), Tracer::off()), 1));
        assert_eq!(native.arm(&shared(Monitor::Perf)), u64::MAX);
        let run = shared(Monitor::Heartbeat);
        let before = monotonic_nanos();
        let until = native.arm(&run);
        let period = run.heartbeat_nanos.unwrap();
        let periods = before + period..=monotonic_nanos() + period;
        assert!(periods.contains(&until));
    }
}
