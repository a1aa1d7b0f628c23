//! Requests to stop, by SIGINT (Ctrl-C) or SIGTERM: one latch for the whole process.
//!
//! The first signal sets the latch, and nothing but [`acknowledge`] clears it: a stop that comes
//! between two runs, or while one is being set up or has just ended, ends the next one as soon as it
//! begins. A second signal ends the process at once, as if no handler had been installed.
//!
//! [`crate::Executive::run`] takes the signals over for its own duration. A program with more to do
//! than one run holds a [`Watch`] from its beginning on, and looks at [`asked`] or at [`latch`] between
//! its steps.

use crate::sys;
use std::io;
use std::sync::atomic::AtomicBool;

/// SIGINT and SIGTERM set the latch while this lives; afterwards they do what they did before. The
/// latch stays set.
#[derive(Debug)]
#[must_use = "the signals are given back when this is dropped"]
pub struct Watch {
    _handlers: sys::stop::Handlers,
}

impl Watch {
    /// Takes the signals over. One that the process ignores stays ignored, as for every program that a
    /// shell starts in the background.
    ///
    /// # Errors
    /// What the system call says.
    pub fn begin() -> io::Result<Self> {
        sys::stop::Handlers::take_over().map(|_handlers| Self { _handlers })
    }
}

/// The latch itself, for code that knows nothing of signals.
#[must_use]
pub fn latch() -> &'static AtomicBool {
    sys::stop::latch()
}

/// The first signal that asked to stop, if one did.
#[must_use]
pub fn asked() -> Option<i32> {
    sys::stop::asked()
}

/// Asks to stop, as SIGINT would; not counted as the first of two signals.
pub fn ask() {
    sys::stop::ask(sys::stop::SIGINT);
}

/// Clears the latch, for a program that has done what a stop asks of it and goes on; gives the signal
/// that had set it.
pub fn acknowledge() -> Option<i32> {
    sys::stop::acknowledge()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    /// The latch belongs to the whole process, so that all of this is one test.
    #[test]
    fn a_stop_stays_asked_for_whoever_takes_the_signals_over_until_it_is_acknowledged() {
        let outer = Watch::begin().unwrap();
        assert_eq!(asked(), None);
        drop(Watch::begin().unwrap());
        // The inner watch has gone, and the signal still finds the outer one.
        sys::stop::raise(sys::stop::SIGTERM);
        assert_eq!(asked(), Some(sys::stop::SIGTERM));
        for _ in 0..3 {
            drop(Watch::begin().unwrap());
            ask();
            assert_eq!(asked(), Some(sys::stop::SIGTERM), "the first one is named");
            assert!(latch().load(Ordering::SeqCst));
        }
        assert_eq!(acknowledge(), Some(sys::stop::SIGTERM));
        assert_eq!((asked(), acknowledge()), (None, None));
        // And the next signal is a first one again. Not SIGINT, which a shell ignores for what it starts in
        // the background.
        sys::stop::raise(sys::stop::SIGTERM);
        assert_eq!(acknowledge(), Some(sys::stop::SIGTERM));
        drop(outer);
    }
}
