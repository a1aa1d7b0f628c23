//! A trace of a real run into what is no plain file, such as a pipe: whoever reads it may be slow, or may have stopped reading.
//!
//! A thread of its own writes it, so that nobody who has the run's records waits for a reader. What the reader has not
//! taken stays in memory up to a limit; beyond it the trace has failed, as on a full disk. At the end of the run the rest is
//! waited for, and a stop ends that soon.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So much may wait for its reader: a minute of a busy run, and half of what a run leaves for what it allocates while its memory
/// is locked.
const WAITING_MAX: usize = 8 << 20;

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

    fn fail(&mut self, error: &io::Error) {
        self.failed = Some((error.kind(), error.to_string()));
        self.waiting.clear();
        self.bytes = 0;
    }
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
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
    pub(super) fn start(mut out: impl Write + Send + 'static) -> io::Result<(Self, Rest)> {
        let shared = Arc::<Shared>::default();
        let written = Arc::clone(&shared);
        let thread = thread::Builder::new().name("vestal-trace".to_owned());
        let thread = thread.stack_size(STACK_BYTES);
        thread.spawn(move || {
            while let Some(bytes) = written.next() {
                let wrote = out.write_all(&bytes).and_then(|()| out.flush());
                written.change(|state| match wrote {
                    Ok(()) => state.bytes = state.bytes.saturating_sub(bytes.len()),
                    Err(error) => state.fail(&error),
                });
            }
        })?;
        Ok((Self(Arc::clone(&shared)), Rest(shared)))
    }
}

impl Write for Behind {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.change(|state| {
            state.check()?;
            if state.bytes.saturating_add(bytes.len()) > WAITING_MAX {
                let why = format!("whoever reads it is {} MiB behind", WAITING_MAX >> 20);
                state.fail(&io::Error::new(io::ErrorKind::TimedOut, why));
                return state.check();
            }
            state.bytes += bytes.len();
            state.waiting.push_back(bytes.to_vec());
            Ok(())
        })?;
        Ok(bytes.len())
    }

    /// Says whether something went wrong so far.
    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().check()
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.0.change(|state| state.closed = true);
    }
}

impl Rest {
    /// Waits until all is written; after a stop, which is `asked` for, not for long.
    pub(super) fn wait(self, asked: impl Fn() -> bool) -> io::Result<()> {
        let mut state = self.0.lock();
        let mut looks = 0;
        while state.bytes > 0 && state.failed.is_none() {
            looks += u32::from(asked());
            if looks > LOOKS_MAX {
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
        let (behind, rest) = Behind::start(Slow(told, take)).unwrap();
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
        rest.wait(|| false).unwrap();
        let taken: Vec<Vec<u8>> = taken.try_iter().collect();
        assert_eq!(taken, [0, 1, 2, 3, 4].map(|number| vec![number; 3]));
    }

    #[test]
    fn a_reader_that_takes_nothing_is_not_waited_for_after_a_stop() {
        let (_go, _taken, mut behind, rest) = slow();
        behind.write_all(b"begin").unwrap();
        drop(behind);
        let error = rest.wait(|| true).unwrap_err();
        assert!(error.to_string().contains("soon after the stop"), "{error}");
    }

    #[test]
    fn a_reader_that_goes_away_or_is_too_far_behind_ends_the_trace() {
        let (go, _taken, mut behind, rest) = slow();
        behind.write_all(b"begin").unwrap();
        drop(go);
        let error = rest.wait(|| false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(
            behind.flush().unwrap_err().kind(),
            io::ErrorKind::BrokenPipe
        );
        let (_go, _taken, mut behind, rest) = slow();
        let mebibyte = vec![0; 1 << 20];
        for _ in 0..WAITING_MAX >> 20 {
            behind.write_all(&mebibyte).unwrap();
        }
        let error = behind.write_all(b"more").unwrap_err();
        assert!(error.to_string().contains("8 MiB behind"), "{error}");
        assert!(rest.wait(|| false).is_err());
    }
}
