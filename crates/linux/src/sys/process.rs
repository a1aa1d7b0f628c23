//! Child processes, for the tests on the real kernel.

use super::checked;
use super::clock::monotonic_nanos;
use std::io;

/// Starts a child process that burns CPU time for `nanos` and ends; gives its number.
pub(crate) fn fork_burner(nanos: u64) -> io::Result<libc::pid_t> {
    // SAFETY: the child only reads the clock and ends without running any destructor or handler,
    // which is allowed after a fork of a process with several threads.
    let child = unsafe { libc::fork() };
    checked(child)?;
    if child == 0 {
        let end = monotonic_nanos().saturating_add(nanos);
        while monotonic_nanos() < end {}
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) };
    }
    Ok(child)
}

/// Waits for the end of a child.
pub(crate) fn reap(child: libc::pid_t) -> io::Result<()> {
    // SAFETY: no status is asked for.
    checked(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) })
}
