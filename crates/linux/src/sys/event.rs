//! Other ways to wait and to meet than the run uses, for the table of primitives.

use super::checked;
use super::clock::timespec;
use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

fn owned(fd: libc::c_int) -> io::Result<OwnedFd> {
    checked(fd)?;
    // SAFETY: the kernel has just given this descriptor to this call alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// An eventfd behind an epoll instance.
#[derive(Debug)]
pub(crate) struct PolledEvent {
    event: OwnedFd,
    poll: OwnedFd,
}

impl PolledEvent {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: takes plain numbers.
        let event = owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) })?;
        // SAFETY: takes plain numbers.
        let poll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        let mut interest = libc::epoll_event {
            events: u32::try_from(libc::EPOLLIN).unwrap_or(1),
            u64: 0,
        };
        let (poll_fd, event_fd) = (poll.as_raw_fd(), event.as_raw_fd());
        // SAFETY: both descriptors are open; `interest` is valid for reading.
        checked(unsafe {
            libc::epoll_ctl(poll_fd, libc::EPOLL_CTL_ADD, event_fd, &raw mut interest)
        })?;
        Ok(Self { event, poll })
    }

    pub(crate) fn signal(&self) {
        let one = 1_u64;
        // SAFETY: the descriptor is open; eight bytes are read from `one`.
        unsafe {
            libc::write(self.event.as_raw_fd(), (&raw const one).cast(), 8);
        }
    }

    /// Waits for a signal, `milliseconds` at most, and clears it.
    pub(crate) fn wait(&self, milliseconds: libc::c_int) {
        let mut ready = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: the descriptor is open; there is room for the one event asked for.
        let found =
            unsafe { libc::epoll_wait(self.poll.as_raw_fd(), &raw mut ready, 1, milliseconds) };
        let mut count = 0_u64;
        if found == 1 {
            // SAFETY: the descriptor is open; there is room for eight bytes.
            unsafe {
                libc::read(self.event.as_raw_fd(), (&raw mut count).cast(), 8);
            }
        }
    }
}

/// Sleeps until an instant on `CLOCK_MONOTONIC`.
pub(crate) fn sleep_until(nanos: u64) {
    let until = libc_time(nanos);
    // SAFETY: `until` is valid for reading; the remainder is not asked for.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const until,
            ptr::null_mut(),
        );
    }
}

/// A timer that is waited for by reading.
#[derive(Debug)]
pub(crate) struct TimerFd(OwnedFd);

impl TimerFd {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: takes plain numbers.
        owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) }).map(Self)
    }

    /// Waits for an instant on `CLOCK_MONOTONIC`.
    pub(crate) fn wait_until(&self, nanos: u64) -> io::Result<()> {
        let setting = libc::itimerspec {
            it_interval: libc_time(0),
            it_value: libc_time(nanos),
        };
        let fd = self.0.as_raw_fd();
        // SAFETY: the descriptor is open; `setting` is valid for reading.
        checked(unsafe {
            libc::timerfd_settime(
                fd,
                libc::TFD_TIMER_ABSTIME,
                &raw const setting,
                ptr::null_mut(),
            )
        })?;
        let mut count = 0_u64;
        // SAFETY: the descriptor is open; there is room for eight bytes.
        unsafe {
            libc::read(fd, (&raw mut count).cast(), 8);
        }
        Ok(())
    }
}

fn libc_time(nanos: u64) -> libc::timespec {
    let time = timespec(nanos);
    libc::timespec {
        tv_sec: time.tv_sec,
        tv_nsec: time.tv_nsec,
    }
}

/// The barrier of the C library.
pub(crate) struct PthreadBarrier(Box<UnsafeCell<libc::pthread_barrier_t>>);

// SAFETY: a pthread barrier is made to be shared; it stays at its place in the box.
unsafe impl Send for PthreadBarrier {}
// SAFETY: as above.
unsafe impl Sync for PthreadBarrier {}

impl PthreadBarrier {
    pub(crate) fn new(threads: u32) -> io::Result<Self> {
        // SAFETY: the type consists of bytes, for which zeroes are a value; it is initialised below.
        let barrier = unsafe { MaybeUninit::<libc::pthread_barrier_t>::zeroed().assume_init() };
        let barrier = Self(Box::new(UnsafeCell::new(barrier)));
        // SAFETY: the place is valid and stays where it is.
        let error = unsafe { libc::pthread_barrier_init(barrier.0.get(), ptr::null(), threads) };
        if error == 0 {
            Ok(barrier)
        } else {
            Err(io::Error::from_raw_os_error(error))
        }
    }

    pub(crate) fn wait(&self) {
        // SAFETY: initialised by `new`.
        unsafe {
            libc::pthread_barrier_wait(self.0.get());
        }
    }
}

impl Drop for PthreadBarrier {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`; no thread waits, because none borrows it any more.
        unsafe {
            libc::pthread_barrier_destroy(self.0.get());
        }
    }
}
