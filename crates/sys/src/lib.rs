//! The system calls of Linux that Vestal makes, and all the `unsafe` that they need.
//!
//! Small wrappers only: nothing in here knows what a task or a mode is, and no other crate of Vestal is known.
//! `rustix` makes the calls it has; the rest goes through `libc`. Times are nanoseconds; an error is what the
//! system call said.
#![cfg(target_os = "linux")]

pub mod barrier;
pub mod capability;
pub mod clock;
pub mod continued;
pub mod event;
pub mod futex;
pub mod irq;
pub mod memory;
mod net;
pub mod perf;
pub mod pipe;
#[cfg(feature = "real")]
pub mod process;
mod processor;
pub mod pty;
pub mod readiness;
pub mod sched;
pub mod schedstat;
pub mod signal;
pub mod source;
pub mod stamp;
pub mod stop;
pub mod suspension;
pub mod timer;
pub mod tun;
pub mod udp;
pub mod waiting;

pub use processor::{Processor, distinct};

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// A kernel's number for a thread.
pub type Tid = libc::pid_t;

/// The outcome of a system call that reports failure as -1.
fn checked(outcome: libc::c_int) -> io::Result<()> {
    if outcome == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// The outcome of a system call that has just given a descriptor to its caller alone, or -1.
fn owned(fd: libc::c_int) -> io::Result<OwnedFd> {
    checked(fd)?;
    // SAFETY: nobody else owns the descriptor, see above.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
