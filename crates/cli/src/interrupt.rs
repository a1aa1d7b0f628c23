//! A stop that is requested with Ctrl-C or SIGTERM: one latch for the whole process.
//!
//! A command that takes long watches for stops from the moment on at which it would leave something
//! behind, and looks at the latch between its steps; see the table in `docs/interfaces.md`. Nothing
//! clears the latch, so that no step can miss a stop that came during another one. A second signal ends
//! the program at once, and so does the first one in a command that does not watch.
//!
//! Not everything can be asked to stop: a search inside a test, also one of a user's own; a simulation in which
//! nothing happens; a write to a pipe that nobody reads. What is [`bounded`] is ended from outside then, soon after the stop,
//! by the end of the process: files that are not whole are gone, and what the command has to say is said. That costs
//! nothing in any loop, and is right wherever nothing is lost but the time since the last whole file. Real runs are
//! not bounded so: they end by themselves, and give back what they took of the machine.

use crate::failure::{Exit, Failure};
use crate::whole;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

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

/// How often is looked whether a stop was requested, and how often after one before the process is ended: what looks
/// at the latch has done so long before.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS_MAX: u32 = 6;

/// How long what is said at last may take: who should read it may not do so.
const WORDS: Duration = Duration::from_millis(400);

/// How far something is that is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Going,
    Done,
    /// The process is being ended.
    Ended,
}

/// The work and whoever waits for its end.
type Shared = Arc<(Mutex<Work>, Condvar)>;

/// Something that a stop ends within a second, as long as this lives.
#[derive(Debug)]
#[must_use = "the bound ends when this is dropped"]
pub(crate) struct Bounded(Shared);

/// From now on a stop ends the process if what goes on does not end by itself soon. `last_words` says what there is to say,
/// and with which code to exit; it is called at most once, on another thread, and waits for nothing that the command may
/// hold.
pub(crate) fn bounded(last_words: impl FnOnce() -> Exit + Send + 'static) -> Bounded {
    let shared = Shared::new((Mutex::new(Work::Going), Condvar::new()));
    let watched = Arc::clone(&shared);
    // Without this thread the command ends when it looks at the latch.
    let _thread = thread::Builder::new().spawn(move || {
        if is_overdue(&watched) {
            end(last_words);
        }
    });
    Bounded(shared)
}

impl Bounded {
    /// The work is done, and what came of it is told: from now on a stop ends that soon, without a word that would stand
    /// beside what was told already.
    pub(crate) fn told(self) -> Self {
        drop(self);
        bounded(|| Exit::DoesNotHold)
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        let (work, changed) = &*self.0;
        let mut work = lock(work);
        while *work == Work::Ended {
            // The other thread says what there is to say.
            work = changed.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
        *work = Work::Done;
        changed.notify_all();
    }
}

/// Waits for the end of the work; whether it did not come soon after a stop.
fn is_overdue(shared: &Shared) -> bool {
    let (work, changed) = &**shared;
    let mut work = lock(work);
    let mut looks = 0;
    while *work == Work::Going {
        if asked() {
            looks += 1;
        }
        if looks > LOOKS_MAX {
            *work = Work::Ended;
            return true;
        }
        let waited = changed.wait_timeout(work, LOOK);
        (work, _) = waited.unwrap_or_else(PoisonError::into_inner);
    }
    false
}

fn lock(work: &Mutex<Work>) -> MutexGuard<'_, Work> {
    work.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the process, whatever its other threads do.
fn end(last_words: impl FnOnce() -> Exit + Send + 'static) -> ! {
    let (said, heard) = mpsc::channel();
    let _thread = thread::Builder::new().spawn(move || {
        whole::seal();
        let _nobody_waits = said.send(last_words());
    });
    let exit = heard.recv_timeout(WORDS).unwrap_or(Exit::DoesNotHold);
    process::exit(i32::from(exit.code()))
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
