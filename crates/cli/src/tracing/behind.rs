//! A trace of a real run into what is no plain file, such as a pipe: whoever reads it may be slow, or may have stopped reading.
//!
//! A thread of its own writes it, so that nobody who has the run's records waits for a reader. What the reader has not
//! taken stays in memory up to a limit; beyond it the trace has failed, as on a full disk. At the end of the run the rest is
//! waited for, and a stop ends that soon.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So much may wait for readers in all: a minute of a busy run, and half of what a run leaves for what it allocates while its memory
/// is locked. The stacks of the threads count.
const WAITING_MAX: usize = 8 << 20;
#[cfg(target_os = "linux")]
const _: () = assert!(2 * WAITING_MAX as u64 <= vestal_linux::LOCKED_RESERVE_BYTES);

/// What is left of that for one trace. All have equal shares: one that nobody reads takes nothing from the others.
#[derive(Debug)]
pub(super) struct Allowance(AtomicUsize);

impl Allowance {
    /// For each of so many traces.
    pub(super) fn share(traces: usize) -> Self {
        Self(AtomicUsize::new(WAITING_MAX / traces.max(1)))
    }

    /// Takes so much; an error where less is left.
    fn take(&self, bytes: usize) -> io::Result<()> {
        let less = |left: usize| left.checked_sub(bytes);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let taken = self.0.fetch_update(set, fetch, less);
        taken.map(|_| ()).map_err(|_| behind())
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

fn behind() -> io::Error {
    let most = WAITING_MAX >> 20;
    let why = format!(
        "whoever reads it is too far behind: at most {most} MiB wait for all readers together"
    );
    io::Error::new(io::ErrorKind::TimedOut, why)
}

/// The thread does little, and its stack is locked, too.
const STACK_BYTES: usize = 256 << 10;

/// How often is looked whether a stop was requested, and how often after one before the reader is waited for no longer.
const LOOK: Duration = Duration::from_millis(25);
const LOOKS_MAX: u32 = 12;

/// What was given to be written and is not yet.
#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    /// The bytes of those, and of the one that is being written.
    bytes: usize,
    /// Nothing more comes.
    closed: bool,
    /// Why nothing more is written.
    failed: Option<(io::ErrorKind, String)>,
}

impl State {
    fn check(&self) -> io::Result<()> {
        match &self.failed {
            None => Ok(()),
            Some((kind, why)) => Err(io::Error::new(*kind, why.clone())),
        }
    }

    /// Gives how much does not wait any more.
    fn fail(&mut self, error: &io::Error) -> usize {
        self.failed = Some((error.kind(), error.to_string()));
        self.waiting = VecDeque::new();
        std::mem::take(&mut self.bytes)
    }
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    allowance: Allowance,
}

impl Shared {
    /// Nobody panics with it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changed.notify_all();
        changed
    }

    /// What is to be written next; `None` at the end, also if nobody could write it.
    fn next(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        loop {
            if let Some(bytes) = state.waiting.pop_front() {
                return Some(bytes);
            }
            if state.closed || state.failed.is_some() {
                return None;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What takes a trace, and returns at once.
#[derive(Debug)]
pub(super) struct Behind(Arc<Shared>);

/// Whoever waits for the end of what it took.
#[derive(Debug)]
pub(super) struct Rest(Arc<Shared>);

impl Behind {
    /// Has a thread write to `out`.
    pub(super) fn start(
        mut out: impl Write + Send + 'static,
        allowance: Allowance,
    ) -> io::Result<(Self, Rest)> {
        allowance.take(STACK_BYTES)?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            allowance,
        });
        let written = Arc::clone(&shared);
        let thread = thread::Builder::new().name("vestal-trace".to_owned());
        let thread = thread.stack_size(STACK_BYTES);
        thread.spawn(move || {
            while let Some(bytes) = written.next() {
                let wrote = out.write_all(&bytes).and_then(|()| out.flush());
                let written_off = written.change(|state| match wrote {
                    Ok(()) => {
                        // Less where it has failed meanwhile.
                        let less = bytes.len().min(state.bytes);
                        state.bytes -= less;
                        less
                    }
                    Err(error) => state.fail(&error),
                });
                written.allowance.give_back(written_off);
            }
        })?;
        Ok((Self(Arc::clone(&shared)), Rest(shared)))
    }
}

impl Write for Behind {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let allowance = &self.0.allowance;
        self.0.change(|state| {
            state.check()?;
            match kept(bytes, allowance) {
                Ok(kept) => {
                    state.bytes += bytes.len();
                    state.waiting.push_back(kept);
                    Ok(())
                }
                Err(error) => {
                    allowance.give_back(state.fail(&error));
                    state.check()
                }
            }
        })?;
        Ok(bytes.len())
    }

    /// Says whether something went wrong so far.
    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().check()
    }
}

/// A copy, if there is memory for one.
fn kept(bytes: &[u8], allowance: &Allowance) -> io::Result<Vec<u8>> {
    allowance.take(bytes.len())?;
    let mut kept = Vec::new();
    if let Err(error) = kept.try_reserve_exact(bytes.len()) {
        allowance.give_back(bytes.len());
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, error));
    }
    kept.extend_from_slice(bytes);
    Ok(kept)
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.0.change(|state| state.closed = true);
    }
}

impl Rest {
    /// Waits until all is written; after a stop, which is `asked` for, not for long. `looks` counts how often was looked after one, for
    /// all that are waited for one after the other.
    pub(super) fn wait(self, asked: impl Fn() -> bool, looks: &mut u32) -> io::Result<()> {
        let mut state = self.0.lock();
        while state.bytes > 0 && state.failed.is_none() {
            *looks += u32::from(asked());
            if *looks > LOOKS_MAX {
                let why = "whoever reads it had not taken all of it soon after the stop";
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            let waited = self.0.changed.wait_timeout(state, LOOK);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{self, Receiver, Sender};

    /// Takes nothing until it is told to, and then passes it on.
    struct Slow(Receiver<()>, Sender<Vec<u8>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
            self.0.recv().map_err(gone)?;
            self.1.send(bytes.to_vec()).unwrap();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn slow() -> (Sender<()>, Receiver<Vec<u8>>, Behind, Rest) {
        let (go, told) = mpsc::channel();
        let (take, taken) = mpsc::channel();
        let (behind, rest) = Behind::start(Slow(told, take), Allowance::share(1)).unwrap();
        (go, taken, behind, rest)
    }

    #[test]
    fn what_a_slow_reader_takes_is_all_there_in_its_order() {
        let (go, taken, mut behind, rest) = slow();
        for number in 0..5_u8 {
            behind.write_all(&[number; 3]).unwrap();
        }
        behind.flush().unwrap();
        drop(behind);
        assert!(taken.try_recv().is_err(), "nobody waited for it");
        (0..5).for_each(|_| go.send(()).unwrap());
        rest.wait(|| false, &mut 0).unwrap();
        let taken: Vec<Vec<u8>> = taken.try_iter().collect();
        assert_eq!(taken, [0, 1, 2, 3, 4].map(|number| vec![number; 3]));
    }

    #[test]
    fn a_reader_that_takes_nothing_is_not_waited_for_after_a_stop() {
        let (_go, _taken, mut behind, rest) = slow();
        behind.write_all(b"begin").unwrap();
        drop(behind);
        let error = rest.wait(|| true, &mut 0).unwrap_err();
        assert!(error.to_string().contains("soon after the stop"), "{error}");
    }

    #[test]
    fn a_reader_that_goes_away_or_is_too_far_behind_ends_the_trace() {
        let (go, _taken, mut behind, rest) = slow();
        behind.write_all(b"begin").unwrap();
        drop(go);
        let error = rest.wait(|| false, &mut 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(
            behind.flush().unwrap_err().kind(),
            io::ErrorKind::BrokenPipe
        );
        let (_go, _taken, mut behind, rest) = slow();
        let mebibyte = vec![0; 1 << 20];
        for _ in 1..WAITING_MAX >> 20 {
            behind.write_all(&mebibyte).unwrap();
        }
        let error = behind.write_all(&mebibyte).unwrap_err();
        assert!(error.to_string().contains("at most 8 MiB"), "{error}");
        assert!(rest.wait(|| false, &mut 0).is_err());
    }

    /// Two have no more room together than one, each its half, and are waited for no longer.
    #[test]
    fn all_traces_share_the_room_and_are_waited_for_once() {
        let start = || {
            let (go, told) = mpsc::channel();
            let (take, taken) = mpsc::channel();
            let share = Allowance::share(2);
            let (behind, rest) = Behind::start(Slow(told, take), share).unwrap();
            (go, taken, behind, rest)
        };
        let (_go, _taken, mut first, first_rest) = start();
        let (_stay, _kept, mut second, second_rest) = start();
        let mebibyte = vec![0; 1 << 20];
        let take = |behind: &mut Behind, count| {
            (0..count).all(|_: u32| behind.write_all(&mebibyte).is_ok())
        };
        assert!(!take(&mut first, 4), "its stack takes the rest");
        // What became of that is nothing to the other.
        assert!(take(&mut second, 3));
        let mut looks = 0;
        assert!(first_rest.wait(|| true, &mut looks).is_err());
        assert!(second_rest.wait(|| true, &mut looks).is_err());
        assert_eq!(looks, LOOKS_MAX + 1);
    }
}
