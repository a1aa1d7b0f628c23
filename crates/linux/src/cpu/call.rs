//! How the manager is called.

use crate::sys::waiting::WakeEvent;
use crate::sys::{self, Tid};
use crate::words::Bell;

/// What the manager waits for, beside an instant.
#[derive(Debug)]
pub(crate) enum Call {
    /// Signals, of monitors and of threads of the run.
    Signal,
    /// A word.
    Futex(Bell),
    /// An event, and the signals of timers.
    Event(WakeEvent),
}

impl Call {
    /// Calls the manager, whose thread is `tid`.
    pub(super) fn call(&self, tid: Tid) {
        match self {
            Self::Signal => sys::signal::kick(tid),
            Self::Futex(bell) => bell.ring(),
            Self::Event(event) => event.signal(),
        }
    }

    /// The event, if it is one.
    pub(crate) const fn event(&self) -> Option<&WakeEvent> {
        match self {
            Self::Event(event) => Some(event),
            Self::Signal | Self::Futex(_) => None,
        }
    }
}
