//! Why a run ends: the first cause wins.

use super::sync::{AtomicU64, Ordering};

/// Why a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Finished,
    /// The number of the signal.
    Signal(i32),
    SetupFailed,
    /// A body of this task of this CPU of the set panicked.
    BodyPanicked {
        cpu: u16,
        task: u16,
    },
    /// The manager of this CPU of the set panicked.
    ManagerPanicked(u16),
    /// The manager of this CPU of the set gives no sign of life.
    ManagerHung(u16),
}

/// In the lower half; above it stands the number of those that have one.
const NONE: u64 = 0;
const KIND_BITS: u32 = 32;

impl Cause {
    fn bits(self) -> u64 {
        let (kind, number) = match self {
            Self::Finished => (1, 0),
            Self::Signal(signal) => (2, signal.cast_unsigned()),
            Self::SetupFailed => (3, 0),
            Self::BodyPanicked { cpu, task } => (4, u32::from(cpu) << 16 | u32::from(task)),
            Self::ManagerPanicked(cpu) => (5, u32::from(cpu)),
            Self::ManagerHung(cpu) => (6, u32::from(cpu)),
        };
        kind | u64::from(number) << KIND_BITS
    }

    fn from_bits(bits: u64) -> Option<Self> {
        let number = u32::try_from(bits >> KIND_BITS).unwrap_or(0);
        let lower = |number: u32| u16::try_from(number & u32::from(u16::MAX)).unwrap_or(0);
        let cpu = lower(number);
        match bits & u64::from(u32::MAX) {
            1 => Some(Self::Finished),
            2 => Some(Self::Signal(number.cast_signed())),
            3 => Some(Self::SetupFailed),
            4 => Some(Self::BodyPanicked {
                cpu: lower(number >> 16),
                task: lower(number),
            }),
            5 => Some(Self::ManagerPanicked(cpu)),
            6 => Some(Self::ManagerHung(cpu)),
            _ => None,
        }
    }
}

/// Whether somebody asked for the end of the run, and why first.
#[derive(Debug, Default)]
pub(crate) struct Stop(AtomicU64);

impl Stop {
    /// Asks for the end of the run; says whether nobody did before. Who sees the cause also sees what the caller
    /// wrote before.
    pub(crate) fn ask(&self, cause: Cause) -> bool {
        let turned =
            self.0
                .compare_exchange(NONE, cause.bits(), Ordering::AcqRel, Ordering::Acquire);
        turned.is_ok()
    }

    /// The first cause, if there is one.
    pub(crate) fn cause(&self) -> Option<Cause> {
        Cause::from_bits(self.0.load(Ordering::Acquire))
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicBool;
    use loom::thread;

    fn panicked(task: u16) -> Cause {
        Cause::BodyPanicked { cpu: 0, task }
    }

    /// Two threads ask, each with a message that it wrote before.
    fn two_causes(ask: fn(&Stop, Cause) -> bool) {
        loom::model(move || {
            let stop = Arc::new(Stop::default());
            let messages = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
            let (other_stop, other_messages) = (Arc::clone(&stop), Arc::clone(&messages));
            let other = thread::spawn(move || {
                other_messages[0].store(true, Ordering::Relaxed);
                ask(&other_stop, panicked(0))
            });
            if let Some(Cause::BodyPanicked { task, .. }) = stop.cause() {
                let message = &messages[usize::from(task)];
                assert!(message.load(Ordering::Relaxed), "without its message");
            }
            messages[1].store(true, Ordering::Relaxed);
            let first = ask(&stop, panicked(1));
            let cause = stop.cause();
            assert_ne!(first, other.join().unwrap(), "one is the first");
            assert_eq!(cause, Some(panicked(u16::from(first))));
            assert_eq!(cause, stop.cause(), "it changed");
        });
    }

    #[test]
    fn the_first_cause_wins_and_comes_with_its_message() {
        two_causes(Stop::ask);
    }

    #[test]
    #[should_panic = "one is the first"]
    fn refuted_a_look_and_a_store() {
        two_causes(|stop, cause| {
            let first = stop.cause().is_none();
            if first {
                stop.0.store(cause.bits(), Ordering::SeqCst);
            }
            first
        });
    }

    #[test]
    #[should_panic = "without its message"]
    fn refuted_a_relaxed_exchange() {
        two_causes(|stop, cause| {
            let (bits, relaxed) = (cause.bits(), Ordering::Relaxed);
            stop.0
                .compare_exchange(NONE, bits, relaxed, relaxed)
                .is_ok()
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_what_it_was_made_of() {
        assert_eq!(Cause::from_bits(NONE), None);
        for cause in [
            Cause::Finished,
            Cause::Signal(15),
            Cause::Signal(-1),
            Cause::SetupFailed,
            Cause::BodyPanicked { cpu: 0, task: 0 },
            Cause::BodyPanicked { cpu: 1, task: 2 },
            Cause::BodyPanicked {
                cpu: u16::MAX,
                task: u16::MAX,
            },
            Cause::ManagerPanicked(3),
            Cause::ManagerHung(u16::MAX),
        ] {
            let stop = Stop::default();
            assert_eq!((stop.cause(), stop.ask(cause)), (None, true));
            assert!(!stop.ask(Cause::Finished));
            assert_eq!(stop.cause(), Some(cause));
        }
    }
}
