//! Every system call, and all of the crate's `unsafe`.
//!
//! Small wrappers only: nothing in here knows what a task or a mode is. `rustix` makes the calls it
//! has; the rest goes through `libc`.

pub(crate) mod capability;
pub(crate) mod clock;
pub(crate) mod continued;
pub(crate) mod event;
pub(crate) mod futex;
pub(crate) mod memory;
pub(crate) mod perf;
#[cfg(feature = "real")]
pub(crate) mod process;
pub(crate) mod sched;
pub(crate) mod schedstat;
pub(crate) mod signal;
pub(crate) mod stop;
pub(crate) mod suspension;
pub(crate) mod timer;
pub(crate) mod waiting;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// A kernel's number for a thread.
pub(crate) type Tid = libc::pid_t;

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
