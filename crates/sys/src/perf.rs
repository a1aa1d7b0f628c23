//! The software counter `task-clock` of `perf_event_open`: a timer that runs while its thread runs.

use super::{Tid, checked, owned, signal};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

// From linux/perf_event.h and asm-generic/fcntl.h, which `libc` does not carry for every target.
const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_SW_TASK_CLOCK: u64 = 1;
const PERF_EVENT_IOC_ENABLE: libc::c_ulong = 0x2400;
const PERF_EVENT_IOC_DISABLE: libc::c_ulong = 0x2401;
const PERF_EVENT_IOC_PERIOD: libc::c_ulong = 0x4008_2404;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;
const FLAG_DISABLED: u64 = 1;
const F_SETSIG: libc::c_int = 10;
const F_SETOWN_EX: libc::c_int = 15;
const F_OWNER_TID: libc::c_int = 0;

/// `struct perf_event_attr` in its first published size (PERF_ATTR_SIZE_VER0), which every kernel
/// accepts.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const ATTRIBUTES_SIZE: u32 = 64;
const _: () = assert!(size_of::<Attributes>() == ATTRIBUTES_SIZE as usize);

#[repr(C)]
struct Owner {
    kind: libc::c_int,
    pid: libc::pid_t,
}

/// A counter of the CPU time of one thread that signals the manager.
#[derive(Debug)]
pub struct TaskClock(OwnedFd);

impl TaskClock {
    /// A stopped counter of the calling thread's CPU time that signals `manager`.
    ///
    /// Time in the kernel counts and fires too: with `exclude_kernel` the counter would silently
    /// pass over an overflow that meets the thread inside a system call. That is why a
    /// `perf_event_paranoid` of 2 without CAP_PERFMON is a refusal.
    pub fn of_this_thread(manager: Tid) -> io::Result<Self> {
        let attributes = Attributes {
            kind: PERF_TYPE_SOFTWARE,
            size: ATTRIBUTES_SIZE,
            config: PERF_COUNT_SW_TASK_CLOCK,
            sample_period: u64::from(u32::MAX),
            sample_type: 0,
            read_format: 0,
            flags: FLAG_DISABLED,
            wakeup_events: 1,
            breakpoint_type: 0,
            config1: 0,
        };
        let (own_thread, any_cpu, no_group): (libc::pid_t, libc::c_int, libc::c_int) = (0, -1, -1);
        // SAFETY: `attributes` has the layout and the size it states; the call only reads it.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                own_thread,
                any_cpu,
                no_group,
                PERF_FLAG_FD_CLOEXEC,
            )
        };
        let counter = Self(owned(libc::c_int::try_from(fd).unwrap_or(-1))?);
        counter.signal_to(manager)?;
        Ok(counter)
    }

    fn signal_to(&self, manager: Tid) -> io::Result<()> {
        let fd = self.0.as_raw_fd();
        let owner = Owner {
            kind: F_OWNER_TID,
            pid: manager,
        };
        // SAFETY: the descriptor is open; F_SETOWN_EX reads one `struct f_owner_ex`.
        checked(unsafe { libc::fcntl(fd, F_SETOWN_EX, &raw const owner) })?;
        // SAFETY: the descriptor is open; F_SETSIG takes a number.
        checked(unsafe { libc::fcntl(fd, F_SETSIG, signal::monitor_signal()) })?;
        // SAFETY: the descriptor is open; F_SETFL takes flags.
        checked(unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) })
    }

    /// Lets it fire after `nanos` more CPU time of its thread, and again every `nanos` until
    /// [`Self::stop`]; also while it runs.
    pub fn start(&self, nanos: u64) {
        let fd = self.0.as_raw_fd();
        let period = nanos.max(1);
        // SAFETY: the descriptor is open; PERIOD reads one u64. A period of 0 is the only one that
        // is refused.
        unsafe {
            libc::ioctl(fd, PERF_EVENT_IOC_PERIOD, &raw const period);
        }
        // Not REFRESH: its allowance of overflows adds up over jobs that never overflow.
        // SAFETY: the descriptor is open; ENABLE takes no argument.
        unsafe {
            libc::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        }
    }

    /// Stops it.
    pub fn stop(&self) {
        // SAFETY: the descriptor is open; DISABLE takes no argument.
        unsafe {
            libc::ioctl(self.0.as_raw_fd(), PERF_EVENT_IOC_DISABLE, 0);
        }
    }
}
