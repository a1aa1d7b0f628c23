//! The manager's loop with a driver that does as it is told, on an ordinary thread.

use super::{BEAT_NANOS, Driver, Manager, Step};
use crate::account::{Interval, Note, Thread};
use crate::control::{Control, ManagerRecord, Reason, Traced};
use crate::cpu::{Cpu, Terms};
use crate::monitor::Monitor;
use crate::notes::channel;
use crate::parts::Part;
use crate::recording::Tracer;
use crate::sys::clock::monotonic_nanos;
use crate::sys::event::sleep_until;
use crate::words::Cause;
use std::cell::Cell;
use std::io;
use std::sync::Arc;
use vestal_core::engine::Configuration;
use vestal_core::{
    ContractViolation, Duration, Enforcement, Exhaustion, Guard, Level, LevelSet, Service, Task,
    TaskConfiguration, TaskId, Wcet,
};
use vestal_trace::Recorder;

/// What a round comes to.
#[derive(Clone, Copy)]
enum Round {
    Idle,
    Done,
    AsksForTheEnd,
    /// It takes so many nanoseconds, asleep.
    Sleeps(u64),
    Violates,
    Panics,
}

struct Told {
    decider: Traced<Guard>,
    starts: bool,
    rounds: Vec<Round>,
    /// How often it waited.
    waits: usize,
    counted: Cell<usize>,
}

impl Told {
    fn round(&self) -> Round {
        let last = self.waits.saturating_sub(1);
        self.rounds.get(last).copied().unwrap_or(Round::Idle)
    }
}

impl Driver for Told {
    type Decider = Guard;
    type Woken = ();

    fn decider(&mut self) -> &mut Traced<Guard> {
        &mut self.decider
    }

    fn start(&mut self, _: &Control<'_>) -> io::Result<()> {
        match self.starts {
            true => Ok(()),
            false => Err(io::Error::other("no timers")),
        }
    }

    fn arm(&mut self, _: &Control<'_>) -> u64 {
        u64::MAX
    }

    fn wait(&mut self, control: &Control<'_>, until: u64) {
        let run = control.run;
        self.waits += 1;
        assert!(until <= run.end.get());
        assert!(until <= monotonic_nanos() + BEAT_NANOS);
        // Whoever asked to end the run waits no more.
        assert!(!run.is_stop_requested() || until <= monotonic_nanos());
        if self.waits > self.rounds.len() {
            // Nothing is left to be told: the time is over.
            while monotonic_nanos() < until {
                std::thread::yield_now();
            }
        }
    }

    fn reason(&self, _: &mut Control<'_>, (): &(), _: u64) -> Reason {
        self.counted.set(self.counted.get() + 1);
        Reason::Other
    }

    fn is_wanted(&self, _: &Control<'_>, (): &(), _: u64) -> bool {
        !matches!(self.round(), Round::Idle)
    }

    #[expect(clippy::panic, reason = "this is what it was told")]
    fn round(&mut self, control: &mut Control<'_>, (): &(), _: u64) -> Step {
        match Told::round(self) {
            Round::Idle | Round::Done => Ok(()),
            Round::Sleeps(nanos) => {
                sleep_until(monotonic_nanos() + nanos);
                Ok(())
            }
            Round::AsksForTheEnd => {
                control.run.request_stop(Cause::Signal(2));
                Ok(())
            }
            Round::Violates => Err(ContractViolation::UnknownTask(TaskId(7))),
            Round::Panics => panic!("as it was told"),
        }
    }

    fn finish(self, _: &Control<'_>) -> Traced<Guard> {
        assert_eq!(self.counted.get(), self.waits, "each wake-up counts once");
        self.decider
    }
}

/// A run of so many nanoseconds in which the driver is told these rounds.
fn managed(rounds: &[Round], starts: bool, nanos: u64) -> (Option<Cause>, ManagerRecord) {
    let (cpu, record, _) = noted(rounds, starts, nanos);
    (cpu.run.stop_cause(), record)
}

/// The CPU of such a run, and what the manager noted.
fn noted(rounds: &[Round], starts: bool, nanos: u64) -> (Arc<Cpu>, ManagerRecord, Vec<Note>) {
    let mut cpu = Cpu::in_test(Vec::new(), Terms::in_test(Monitor::Manager));
    let (notes, mut reader) = channel(64);
    cpu.notes = notes;
    let cpu = Arc::new(cpu);
    let epoch = monotonic_nanos();
    cpu.run.epoch.set(epoch);
    cpu.run.end.set(epoch.saturating_add(nanos));
    cpu.phase.begin();
    let driver = Told {
        decider: Recorder::new(guard(), Tracer::off()),
        starts,
        rounds: rounds.to_vec(),
        waits: 0,
        counted: Cell::new(0),
    };
    let record = ManagerRecord::new(0, 0);
    let record = Manager::new(Arc::clone(&cpu), driver, record, 1).main();
    assert!(cpu.stop_requested(), "halted, whatever happened");
    assert!(record.end.is_some());
    let extent = reader.extent();
    let notes = std::iter::from_fn(|| reader.next(extent)).collect();
    (cpu, record, notes)
}

pub(super) fn guard() -> Guard {
    configured(|configuration| Guard::new(configuration).unwrap())
}

/// What is made for one task.
pub(super) fn configured<T>(make: impl FnOnce(&Configuration<'_>) -> T) -> T {
    let wcet = Wcet::new(&[Service::from_millis(1)]).unwrap();
    let period = Duration::from_millis(10);
    let task = Task::new(Level(0), period, period, wcet).unwrap();
    let configuration = Configuration {
        tasks: &[TaskConfiguration::new(task, 1)],
        levels: LevelSet::new(2).unwrap(),
        enforcement: Enforcement::Static,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    make(&configuration)
}

#[test]
fn a_run_ends_in_time_and_has_a_span_for_each_round_that_was_wanted() {
    let rounds = [Round::Idle, Round::Done, Round::Done, Round::Idle];
    let (cause, record) = managed(&rounds, true, 3_000_000);
    assert_eq!(cause, Some(Cause::Finished));
    let spans = record.handling.summary().count;
    assert_eq!((spans, record.wakeups.other), (2, 5));
}

#[test]
fn each_round_that_was_wanted_is_in_a_part_and_so_is_what_is_armed_before_each_wait() {
    const LONG: u64 = 2_000_000;
    // The run would last for ever.
    let rounds = [
        Round::Idle,
        Round::Sleeps(LONG),
        Round::Done,
        Round::AsksForTheEnd,
    ];
    let (_, record) = managed(&rounds, true, u64::MAX);
    let of = |wanted| {
        let mut parts = record.parts.iter();
        let found = parts.find(|(part, _)| *part == wanted);
        found.unwrap().1.summary()
    };
    // Somebody called, who had ended a job.
    let (rounds, armed) = (of(Part::JobFinish), of(Part::Monitoring));
    assert_eq!(rounds, record.handling.summary());
    assert_eq!(rounds.count, 3);
    assert!(rounds.sum >= LONG);
    assert_eq!(armed.count, record.wakeups.other);
    assert_eq!(record.parts.sum_nanos(), rounds.sum + armed.sum);
}

#[test]
fn a_run_that_is_to_end_since_a_round_ends_after_a_wait_that_takes_no_time() {
    // The run would last for ever.
    let rounds = [Round::Done, Round::AsksForTheEnd, Round::Panics];
    let (cause, record) = managed(&rounds, true, u64::MAX);
    assert_eq!(cause, Some(Cause::Signal(2)));
    let rounds = record.handling.summary().count;
    assert_eq!((record.wakeups.other, rounds), (3, 2));
}

#[test]
fn a_manager_that_panics_or_breaks_the_contract_ends_the_run_and_says_why() {
    let message_after = |round| {
        let (cpu, record, _) = noted(&[Round::Done, round], true, u64::MAX);
        assert_eq!(record.handling.summary().count, 1);
        let cause = cpu.run.stop_cause();
        assert_eq!(cause, Some(Cause::ManagerPanicked(0)));
        cpu.panic_of_manager()
    };
    assert_eq!(message_after(Round::Panics), "as it was told");
    let violated = message_after(Round::Violates);
    assert!(violated.starts_with("contract violated: "), "{violated}");
}

#[test]
fn a_driver_that_cannot_start_ends_the_run() {
    let (cause, record) = managed(&[Round::Done], false, u64::MAX);
    assert_eq!(cause, Some(Cause::SetupFailed));
    assert_eq!(record.wakeups.other, 0);
}

/// What it slept would else be free time of the CPU, which those claim that wake at the end.
#[test]
fn what_a_manager_takes_for_its_last_round_is_noted() {
    const LAST: u64 = 8_000_000;
    let (cpu, _, notes) = noted(&[Round::Done, Round::Sleeps(LAST)], true, LAST / 2);
    assert_eq!(cpu.run.stop_cause(), Some(Cause::Finished));
    let is_last = |note: &&Note| {
        let Note::Interval(Interval {
            thread,
            began,
            now,
            waits,
            ..
        }) = note
        else {
            return false;
        };
        *thread == Thread::Manager && *waits && now - began >= LAST
    };
    assert_eq!(notes.iter().filter(is_last).count(), 1, "{notes:?}");
}
