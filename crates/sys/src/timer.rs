//! Timers that send a signal to one thread.

use super::clock::libc_timespec;
use super::{Tid, checked, signal};
use std::io;
use std::ptr;

/// A one-shot timer that wakes the manager. Any thread of the process may set it.
#[derive(Debug)]
pub struct SignalTimer(libc::timer_t);

// SAFETY: a timer_t is a number of the kernel's that belongs to the process, not to a thread; the C
// library declares it as a pointer but no memory is behind it that threads could race for.
unsafe impl Send for SignalTimer {}
// SAFETY: as above; the kernel serialises calls on one timer.
unsafe impl Sync for SignalTimer {}

impl SignalTimer {
    /// A timer on `CLOCK_MONOTONIC`, not running, that signals `manager` as a budget monitor.
    pub fn wall(manager: Tid) -> io::Result<Self> {
        Self::wall_with(signal::monitor_signal(), manager)
    }

    /// The same with another signal.
    pub fn wall_with(signal: libc::c_int, manager: Tid) -> io::Result<Self> {
        Self::on(libc::CLOCK_MONOTONIC, signal, manager, ptr::null_mut())
    }

    /// A timer on the CPU time of the calling thread, not running, that signals `manager` with a tag. The kernel
    /// looks at such timers in its tick only.
    pub fn cpu_time_of_this_thread(manager: Tid, tag: usize) -> io::Result<Self> {
        let signal = signal::monitor_signal();
        let clock = libc::CLOCK_THREAD_CPUTIME_ID;
        Self::on(clock, signal, manager, ptr::without_provenance_mut(tag))
    }

    /// `tag` is a number that comes with the signal; no memory is behind it.
    pub(super) fn on(
        clock: libc::clockid_t,
        signal: libc::c_int,
        manager: Tid,
        tag: *mut libc::c_void,
    ) -> io::Result<Self> {
        let mut event = std::mem::MaybeUninit::<libc::sigevent>::zeroed();
        // SAFETY: sigevent consists of integers and one optional pointer: zeroes are a value.
        let event = unsafe { event.assume_init_mut() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = manager;
        event.sigev_value.sival_ptr = tag;
        let mut timer: libc::timer_t = ptr::null_mut();
        // SAFETY: `event` is valid for reading, `timer` for writing.
        checked(unsafe { libc::timer_create(clock, event, &raw mut timer) })?;
        Ok(Self(timer))
    }

    /// Lets it fire after `nanos`; zero stops it.
    pub fn set(&self, nanos: u64) {
        self.arm(0, nanos, 0);
    }

    /// Lets it fire when its clock reads `nanos`, at once if it does already.
    pub fn set_at(&self, nanos: u64) {
        self.arm(libc::TIMER_ABSTIME, nanos.max(1), 0);
    }

    /// Lets it fire at the clock's reading `first`, and every `period` nanoseconds from then on.
    pub fn set_periodic(&self, first: u64, period: u64) {
        self.arm(libc::TIMER_ABSTIME, first.max(1), period);
    }

    fn arm(&self, flags: libc::c_int, value: u64, interval: u64) {
        let setting = libc::itimerspec {
            it_interval: libc_timespec(interval),
            it_value: libc_timespec(value),
        };
        // SAFETY: `setting` is valid for reading; the timer lives as long as `self`. Failure would
        // need an invalid timer or time, which the types exclude.
        unsafe {
            libc::timer_settime(self.0, flags, &raw const setting, ptr::null_mut());
        }
    }

    /// How long until it fires; zero if it is not running.
    pub fn remaining(&self) -> u64 {
        let mut setting = std::mem::MaybeUninit::<libc::itimerspec>::zeroed();
        // SAFETY: `setting` is a valid place for one itimerspec; the timer lives as long as `self`.
        unsafe {
            libc::timer_gettime(self.0, setting.as_mut_ptr());
        }
        // SAFETY: every field is an integer, for which zeroed memory is a value.
        let value = unsafe { setting.assume_init() }.it_value;
        let seconds = u64::try_from(value.tv_sec).unwrap_or_default();
        let nanos = u64::try_from(value.tv_nsec).unwrap_or_default();
        seconds
            .saturating_mul(super::clock::NANOS)
            .saturating_add(nanos)
    }
}

impl Drop for SignalTimer {
    fn drop(&mut self) {
        // SAFETY: created by `on` and deleted only here.
        unsafe {
            libc::timer_delete(self.0);
        }
    }
}
