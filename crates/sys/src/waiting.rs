//! Waiting for signals and calls in one `epoll_wait`, as user-space schedulers of Linux commonly do.

use super::{checked, owned, signal};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;

/// An eventfd that any thread of the process may ring.
#[derive(Debug)]
pub struct WakeEvent(OwnedFd);

impl WakeEvent {
    /// Not rung.
    ///
    /// # Errors
    /// What the system call says.
    pub fn new() -> io::Result<Self> {
        // SAFETY: takes plain numbers.
        owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) }).map(Self)
    }

    /// Rings it.
    pub fn signal(&self) {
        let one = 1_u64;
        // SAFETY: the descriptor is open; eight bytes are read from `one`. It fails only when the
        // count is full, and then it is signalled already.
        unsafe {
            libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8);
        }
    }

    /// What to wait for.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    fn clear(&self) {
        let mut count = 0_u64;
        // SAFETY: the descriptor is open; there is room for eight bytes.
        unsafe {
            libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), 8);
        }
    }
}

/// Most signals that are taken at once.
const SIGNALS_MAX: usize = 64;

/// What ended a wait.
#[derive(Debug)]
pub struct Woken {
    /// The event was signalled.
    pub called: bool,
    tags: [u64; SIGNALS_MAX],
    count: usize,
}

impl Woken {
    /// Nothing came.
    #[must_use]
    pub const fn nothing() -> Self {
        Self {
            called: false,
            tags: [0; SIGNALS_MAX],
            count: 0,
        }
    }

    /// The tags of the timers that fired.
    pub fn tags(&self) -> impl Iterator<Item = usize> {
        let fired = self.tags.iter().take(self.count);
        fired.map(|&tag| usize::try_from(tag).unwrap_or(usize::MAX))
    }

    /// Neither a call nor a timer: the time was over.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        !self.called && self.count == 0
    }
}

/// Waits for a [`WakeEvent`], and for the signals of [`super::timer::SignalTimer`]s to the thread that made it.
#[derive(Debug)]
pub struct Waiter {
    poll: OwnedFd,
    signals: OwnedFd,
}

const CALLED: u64 = 0;
const SIGNALLED: u64 = 1;

impl Waiter {
    /// For the calling thread, which has blocked the signals.
    pub fn new(wake_event: &WakeEvent) -> io::Result<Self> {
        let set = signal::set_of(&[signal::monitor_signal()]);
        // SAFETY: `set` is valid for reading; -1 asks for a new descriptor.
        let signals = owned(unsafe {
            libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        })?;
        // SAFETY: takes plain numbers.
        let poll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        for (fd, token) in [
            (wake_event.0.as_raw_fd(), CALLED),
            (signals.as_raw_fd(), SIGNALLED),
        ] {
            let mut interest = libc::epoll_event {
                events: u32::try_from(libc::EPOLLIN).unwrap_or(1),
                u64: token,
            };
            // SAFETY: both descriptors are open; `interest` is valid for reading.
            checked(unsafe {
                libc::epoll_ctl(poll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &raw mut interest)
            })?;
        }
        Ok(Self { poll, signals })
    }

    /// Waits for `span_nanos` at most, rounded up to milliseconds, and takes what came.
    pub fn wait(&self, wake_event: &WakeEvent, span_nanos: u64) -> Woken {
        const MILLI: u64 = 1_000_000;
        let mut ready = [libc::epoll_event { events: 0, u64: 0 }; 2];
        let milliseconds = libc::c_int::try_from(span_nanos.div_ceil(MILLI)).unwrap_or(i32::MAX);
        // SAFETY: the descriptor is open; there is room for the two events asked for.
        let found =
            unsafe { libc::epoll_wait(self.poll.as_raw_fd(), ready.as_mut_ptr(), 2, milliseconds) };
        let found = usize::try_from(found).unwrap_or(0);
        let mut woken = Woken::nothing();
        for event in ready.iter().take(found) {
            if event.u64 == CALLED {
                woken.called = true;
                wake_event.clear();
            } else {
                self.take_signals(&mut woken);
            }
        }
        woken
    }

    fn take_signals(&self, woken: &mut Woken) {
        const SIZE: usize = size_of::<libc::signalfd_siginfo>();
        let mut infos = [const { MaybeUninit::<libc::signalfd_siginfo>::zeroed() }; SIGNALS_MAX];
        // SAFETY: the descriptor is open; there is room for so many bytes.
        let read = unsafe {
            libc::read(
                self.signals.as_raw_fd(),
                infos.as_mut_ptr().cast(),
                SIZE * SIGNALS_MAX,
            )
        };
        woken.count = usize::try_from(read).unwrap_or(0) / SIZE;
        for (tag, info) in woken.tags.iter_mut().zip(&infos).take(woken.count) {
            // SAFETY: every field is an integer, for which zeroed memory is a value.
            *tag = unsafe { info.assume_init_ref() }.ssi_ptr;
        }
    }
}

impl super::timer::SignalTimer {
    /// A timer on `CLOCK_MONOTONIC`, not running, that signals `manager` with a tag.
    pub fn wall_tagged(manager: super::Tid, tag: usize) -> io::Result<Self> {
        Self::on(
            libc::CLOCK_MONOTONIC,
            super::signal::monitor_signal(),
            manager,
            ptr::without_provenance_mut(tag),
        )
    }

    /// A timer on the CPU time of thread `tid` of this process, not running, that signals `manager`
    /// with a tag. The kernel looks at such timers in its tick only.
    pub fn cpu_time_of(tid: super::Tid, manager: super::Tid, tag: usize) -> io::Result<Self> {
        let clock = super::clock::cpu_clock_of(tid);
        let signal = super::signal::monitor_signal();
        Self::on(clock, signal, manager, ptr::without_provenance_mut(tag))
    }
}
