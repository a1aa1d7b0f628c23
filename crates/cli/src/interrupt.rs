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
use crate::output::Output;
use crate::whole;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
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

/// The same of what is told at last, which only waits if nobody reads it, and may come after the stop as a whole.
const LOOKS_TOLD_MAX: u32 = 10;

/// How long what is said at last may take: who should read it may not do so.
const WORDS: Duration = Duration::from_millis(400);

/// How long of that is waited for what may not be broken off.
const UNBROKEN: Duration = Duration::from_millis(250);

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
    within(asked, LOOKS_MAX, || end(last_words, Exit::DoesNotHold))
}

/// From now on a stop ends the process if what is told is not taken soon: as where standard output cannot be written, since what
/// was cut short is no answer. It is said on standard error alone.
pub(crate) fn told(output: &Output) -> Bounded {
    let why = "whoever reads it had not taken all of it soon after the stop";
    let cut = Failure::machine("write to standard output", why);
    let cut = cut.with_help("read it faster, or into a file");
    let again = output.again();
    let last_words = move || {
        again().complaint(&cut);
        cut.exit
    };
    within(asked, LOOKS_TOLD_MAX, || end(last_words, Exit::Machine))
}

/// What is bounded by whether a stop was `asked` for, by how often is looked after one, and by what is to `end` it.
fn within(
    asked: impl Fn() -> bool + Send + 'static,
    looks_max: u32,
    end: impl FnOnce() + Send + 'static,
) -> Bounded {
    let shared = Shared::new((Mutex::new(Work::Going), Condvar::new()));
    let watched = Arc::clone(&shared);
    // Without this thread the command ends when it looks at the latch.
    let _thread = thread::Builder::new().spawn(move || {
        if is_overdue(&watched, looks_max, asked) {
            end();
        }
    });
    Bounded(shared)
}

/// What `work` gives; nothing, soon after a stop, if that has not ended by then. It goes on beside what follows, so it is
/// nothing that has to be given back, and ends with the process.
pub(crate) fn unless_stopped<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>, Failure> {
    unless(asked, work)
}

fn unless<T: Send + 'static>(
    asked: impl Fn() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>, Failure> {
    let (done, found) = mpsc::channel();
    let spawned = thread::Builder::new().spawn(move || {
        let _nobody_waits = done.send(work());
    });
    let thread = spawned.map_err(|error| Failure::machine("start a thread", error.to_string()))?;
    let mut looks = 0;
    while looks <= LOOKS_MAX {
        match found.recv_timeout(LOOK) {
            Ok(found) => return Ok(Some(found)),
            Err(RecvTimeoutError::Timeout) => looks += u32::from(asked()),
            Err(RecvTimeoutError::Disconnected) => {
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
                return Ok(None);
            }
        }
    }
    Ok(None)
}

impl Bounded {
    /// The work is done, and what came of it is [`told`].
    pub(crate) fn told(self, output: &Output) -> Self {
        drop(self);
        told(output)
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
fn is_overdue(shared: &Shared, looks_max: u32, asked: impl Fn() -> bool) -> bool {
    let (work, changed) = &**shared;
    let mut work = lock(work);
    let mut looks = 0;
    while *work == Work::Going {
        if asked() {
            looks += 1;
        }
        if looks > looks_max {
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

/// Ends the process, whatever its other threads do, with this code where the last words take too long.
fn end(last_words: impl FnOnce() -> Exit + Send + 'static, unsaid: Exit) -> ! {
    let words = move || {
        whole::seal(UNBROKEN);
        last_words()
    };
    process::exit(i32::from(in_time(words, unsaid).code()))
}

/// The exit code of what is said, if that does not take too long.
fn in_time(words: impl FnOnce() -> Exit + Send + 'static, unsaid: Exit) -> Exit {
    let (said, heard) = mpsc::channel();
    let _thread = thread::Builder::new().spawn(move || {
        let _nobody_waits = said.send(words());
    });
    heard.recv_timeout(WORDS).unwrap_or(unsaid)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a thread comes to within a time that nothing here takes.
    fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (done, found) = mpsc::channel();
        thread::spawn(move || done.send(work()));
        found.recv_timeout(Duration::from_secs(20)).ok()
    }

    #[test]
    fn work_that_goes_on_after_a_stop_is_ended_once_and_waits_for_the_last_words() {
        let (ended, heard) = mpsc::channel();
        let (say, saying) = mpsc::channel::<()>();
        let bounded = within(
            || true,
            LOOKS_MAX,
            move || {
                ended.send(()).unwrap();
                let _until_told = saying.recv();
            },
        );
        heard.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(*lock(&bounded.0.0), Work::Ended);
        // The command, which comes to its end meanwhile, says nothing beside that.
        let (gone, is_gone) = mpsc::channel();
        thread::spawn(move || {
            drop(bounded);
            gone.send(()).unwrap();
        });
        assert_eq!(
            is_gone.recv_timeout(2 * LOOK),
            Err(RecvTimeoutError::Timeout)
        );
        drop(say);
        assert!(heard.recv().is_err(), "it was ended twice");
    }

    #[test]
    fn work_that_ends_before_or_without_a_stop_is_not_ended() {
        for asked in [true, false] {
            let (ended, heard) = mpsc::channel();
            let bounded = within(move || asked, LOOKS_MAX, move || ended.send(()).unwrap());
            drop(bounded);
            // Its thread is gone, and has ended nothing.
            let told = heard.recv_timeout(Duration::from_secs(20));
            assert_eq!(told, Err(RecvTimeoutError::Disconnected));
        }
        // Without a stop it may take as long as it likes.
        let (ended, heard) = mpsc::channel();
        let bounded = within(|| false, LOOKS_MAX, move || ended.send(()).unwrap());
        let told = heard.recv_timeout(LOOK * (LOOKS_MAX + 4));
        assert_eq!(told, Err(RecvTimeoutError::Timeout));
        drop(bounded);
    }

    #[test]
    fn words_that_nobody_reads_are_waited_for_no_longer_than_is_good() {
        let unsaid = Exit::DoesNotHold;
        assert_eq!(in_time(|| Exit::Machine, unsaid), Exit::Machine);
        let (_never, nobody) = mpsc::channel::<Exit>();
        let exit = soon(move || in_time(move || nobody.recv().unwrap(), unsaid));
        assert_eq!(exit, Some(unsaid));
    }

    #[test]
    fn what_is_measured_is_waited_for_until_a_stop() {
        assert_eq!(unless(|| false, || 7).ok().unwrap(), Some(7));
        assert_eq!(unless(|| true, || 7).ok().unwrap(), Some(7));
        let (_never, nobody) = mpsc::channel::<u8>();
        let left = soon(move || {
            unless(|| true, move || nobody.recv().unwrap())
                .ok()
                .unwrap()
        });
        assert_eq!(left, Some(None));
        let panicked = soon(|| {
            let work = || unless(|| false, || -> u8 { panic!("as a fault would") });
            std::panic::catch_unwind(work).is_err()
        });
        assert_eq!(panicked, Some(true));
    }
}
