//! Benchmarks and measurements of the Linux world, on this machine.
//!
//! | module | what |
//! |---|---|
//! | [`primitives`] | what the system calls and wake-ups cost of which real runs are made |
//! | [`barriers`] | what it takes two CPUs to meet, by the barriers that frame tables have |
//! | [`preemption`] | what preemption and the adjustment of priorities cost by the number of threads, as in Fig. 6 of Huang, Gill and Lu (2014) |
//! | [`sleeps`] | how long a thread really sleeps that asks for so much, as in Fig. 11 of Sigrist et al. (2015) |
//! | [`slack_trace`] | who runs when under zero slack, read from inside the jobs, as in their section 5.4 |
//!
//! All of them need the right to SCHED_FIFO, and the machine for themselves. They run for some seconds, keep RT
//! throttling on, and leave the classes and the affinity of the calling thread as they were.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

pub mod barriers;
pub mod preemption;
pub mod primitives;
pub mod slack_trace;
pub mod sleeps;

use std::io;
use std::thread::JoinHandle;
use vestal_linux::RunError;

/// The outcome of a thread that measures.
fn measured<T>(thread: JoinHandle<io::Result<T>>) -> io::Result<T> {
    let ended = thread.join();
    ended.unwrap_or_else(|_| Err(io::Error::other("a measuring thread panicked")))
}

/// A system call failed while `what` was done.
fn system(what: &'static str) -> impl FnOnce(io::Error) -> RunError {
    move |source| RunError::System { what, source }
}
