//! Child processes, for the tests on the real kernel.

use super::checked;
use super::clock::monotonic_nanos;
use std::io;

/// Starts a child process that burns CPU time for `nanos` and ends; gives its number.
pub fn fork_burner(nanos: u64) -> io::Result<libc::pid_t> {
    fork(|| {
        let end = monotonic_nanos().saturating_add(nanos);
        while monotonic_nanos() < end {}
    })
}

/// Starts a child process that lives for `life` nanoseconds and takes `cpu` in SCHED_FIFO at `priority`,
/// with 0 in SCHED_OTHER, for `burst` of each `period`; gives its number. Without the right to that it ends at once.
pub fn fork_thief(
    cpu: usize,
    priority: libc::c_int,
    (burst, period, life): (u64, u64, u64),
) -> io::Result<libc::pid_t> {
    fork(|| {
        // The class first: a thread without it gets nothing on a processor that a real-time thread has.
        let ranked = match priority {
            0 => Ok(()),
            _ => super::sched::set_fifo(super::sched::own_tid(), priority),
        };
        let placed = ranked.and_then(|()| super::sched::pin_to(cpu));
        let start = monotonic_nanos();
        let mut next = start;
        while placed.is_ok() && next < start + life {
            next += period;
            let until = monotonic_nanos() + burst;
            while monotonic_nanos() < until {}
            let never = std::sync::atomic::AtomicU32::new(0);
            super::futex::wait_until(&never, 0, Some(next));
        }
    })
}

/// Starts a child process that does `work`, which makes system calls without allocation or locks; gives its number.
fn fork(work: impl FnOnce()) -> io::Result<libc::pid_t> {
    // SAFETY: the child does such work and ends without running any destructor or handler, which is
    // allowed after a fork of a process with several threads.
    let child = unsafe { libc::fork() };
    checked(child)?;
    if child == 0 {
        work();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) };
    }
    Ok(child)
}

/// Waits for the end of a child process.
///
/// # Errors
/// What the system call says.
pub fn reap(child: libc::pid_t) -> io::Result<()> {
    // SAFETY: no status is asked for.
    checked(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) })
}
