//! Other ways to wait than the run uses, for the table of primitives.

use super::clock::libc_timespec;
use super::{checked, owned};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

/// Sleeps until an instant on `CLOCK_MONOTONIC`.
pub fn sleep_until(nanos: u64) {
    let until = libc_timespec(nanos);
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

/// Sleeps for so long from now on, on `CLOCK_MONOTONIC`, or until a signal comes.
pub fn sleep_for(nanos: u64) {
    let time = libc_timespec(nanos);
    // SAFETY: `time` is valid for reading; the remainder is not asked for.
    unsafe {
        libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const time, ptr::null_mut());
    }
}

/// A timer that is waited for by reading.
#[derive(Debug)]
pub struct TimerFd(OwnedFd);

impl TimerFd {
    /// A timer that does not run.
    ///
    /// # Errors
    /// What the system call says.
    pub fn new() -> io::Result<Self> {
        // SAFETY: takes plain numbers.
        owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) }).map(Self)
    }

    /// Waits for an instant on `CLOCK_MONOTONIC`.
    pub fn wait_until(&self, nanos: u64) -> io::Result<()> {
        let setting = libc::itimerspec {
            it_interval: libc_timespec(0),
            it_value: libc_timespec(nanos),
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
