//! Timers that send a signal to one thread.

use super::{Tid, checked, signal};
use std::io;
use std::ptr;

/// A one-shot timer that wakes the manager. Any thread of the process may set it.
#[derive(Debug)]
pub(crate) struct SignalTimer(libc::timer_t);

// SAFETY: a timer_t is a number of the kernel's that belongs to the process, not to a thread; the C
// library declares it as a pointer but no memory is behind it that threads could race for.
unsafe impl Send for SignalTimer {}
// SAFETY: as above; the kernel serialises calls on one timer.
unsafe impl Sync for SignalTimer {}

impl SignalTimer {
    /// A timer on `CLOCK_MONOTONIC`, not running, that signals `manager` as a budget monitor.
    pub(crate) fn wall(manager: Tid) -> io::Result<Self> {
        Self::wall_with(signal::monitor_signal(), manager)
    }

    /// The same with another signal.
    pub(crate) fn wall_with(signal: libc::c_int, manager: Tid) -> io::Result<Self> {
        Self::on(libc::CLOCK_MONOTONIC, signal, manager)
    }

    /// A timer on the CPU time of the calling thread, not running, that signals `manager`. The kernel
    /// looks at such timers in its tick only.
    pub(crate) fn cpu_time_of_this_thread(manager: Tid) -> io::Result<Self> {
        let signal = signal::monitor_signal();
        Self::on(libc::CLOCK_THREAD_CPUTIME_ID, signal, manager)
    }

    fn on(clock: libc::clockid_t, signal: libc::c_int, manager: Tid) -> io::Result<Self> {
        let mut event = std::mem::MaybeUninit::<libc::sigevent>::zeroed();
        // SAFETY: sigevent consists of integers and one optional pointer: zeroes are a value.
        let event = unsafe { event.assume_init_mut() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = manager;
        let mut timer: libc::timer_t = ptr::null_mut();
        // SAFETY: `event` is valid for reading, `timer` for writing.
        checked(unsafe { libc::timer_create(clock, event, &raw mut timer) })?;
        Ok(Self(timer))
    }

    /// Lets it fire after `nanos`; zero stops it.
    pub(crate) fn set(&self, nanos: u64) {
        self.start(nanos, 0);
    }

    /// Lets it fire when its clock reads `nanos`, at once if it does already; zero stops it.
    pub(crate) fn set_at(&self, nanos: u64) {
        self.start(nanos, libc::TIMER_ABSTIME);
    }

    fn start(&self, nanos: u64, flags: libc::c_int) {
        let value = super::clock::timespec(nanos);
        let zero = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let setting = libc::itimerspec {
            it_interval: zero,
            it_value: libc::timespec {
                tv_sec: value.tv_sec,
                tv_nsec: value.tv_nsec,
            },
        };
        // SAFETY: `setting` is valid for reading; the timer lives as long as `self`. Failure would
        // need an invalid timer or time, which the types exclude.
        unsafe {
            libc::timer_settime(self.0, flags, &raw const setting, ptr::null_mut());
        }
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
