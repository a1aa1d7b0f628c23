//! A stop that is requested with Ctrl-C or SIGTERM: one latch for the whole process.
//!
//! A command that takes long watches for stops from the moment on at which it would leave something
//! behind, and looks at the latch between its steps; see the table in `docs/interfaces.md`. Nothing
//! clears the latch, so that no step can miss a stop that came during another one. A second signal ends
//! the program at once, and so does the first one in a command that does not watch.

use crate::failure::Failure;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_os = "linux")]
type Watch = vestal_linux::stop::Watch;
#[cfg(not(target_os = "linux"))]
type Watch = std::sync::Arc<AtomicBool>;

/// Held to the end of the process.
static WATCH: OnceLock<Watch> = OnceLock::new();

/// From now on SIGINT and SIGTERM set the latch, which this gives.
pub(crate) fn watch() -> Result<&'static AtomicBool, Failure> {
    if WATCH.get().is_none() {
        let failed =
            |error: std::io::Error| Failure::machine("watch for interrupts", error.to_string());
        // One that came second is dropped, and has changed nothing.
        let _second = WATCH.set(begin().map_err(failed)?);
    }
    Ok(latch())
}

/// Whether a stop was requested.
pub(crate) fn asked() -> bool {
    latch().load(Ordering::SeqCst)
}

/// An error if a stop was requested; `what` follows "failed to".
pub(crate) fn check(what: impl FnOnce() -> String) -> Result<(), Failure> {
    if asked() {
        return Err(Failure::interrupted(what()));
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn begin() -> std::io::Result<Watch> {
    Watch::begin()
}

#[cfg(target_os = "linux")]
fn latch() -> &'static AtomicBool {
    vestal_linux::stop::latch()
}

#[cfg(not(target_os = "linux"))]
fn begin() -> std::io::Result<Watch> {
    let stop = Watch::default();
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // In this order: the first signal finds the flag unset and sets it.
        signal_hook::flag::register_conditional_default(signal, Watch::clone(&stop))?;
        signal_hook::flag::register(signal, Watch::clone(&stop))?;
    }
    Ok(stop)
}

#[cfg(not(target_os = "linux"))]
fn latch() -> &'static AtomicBool {
    static NEVER: AtomicBool = AtomicBool::new(false);
    WATCH.get().map_or(&NEVER, |watch| watch)
}
