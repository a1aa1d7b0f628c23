//! The three places where an operating system calls: its timer, where it picks who executes next, and where its
//! tasks become ready or blocked.
//!
//! ```text
//!   timer interrupt ------> Hooks::timer ---+
//!                                           | something may have changed
//!   release, ready  ------> Hooks::task ----+----> Hooks::pick ----> switch of contexts
//!   end of job, delay, block -------^              once, after all calls of one instant
//! ```
//! A host that knows no more of a scheduler than this can be tried with several: the tests drive [`Hsf`] and the paper's
//! pseudo-code by one host. In C the same calls are functions (`crates/kernel/c`).
//!
//! ```
//! use vestal_hsf::{Change, Everything, Hooks, Hsf, Kind, LocalOrder, Pick, ServerSpec, nodes};
//!
//! let mut hsf: Hsf<Everything<u8>, 1, 1, { nodes(1, 1) }> = Hsf::new();
//! let server = hsf.create_server(&ServerSpec {
//!     kind: Kind::Idling,
//!     priority: 0,
//!     order: LocalOrder::FixedPriority,
//!     period: 10,
//!     capacity: 4,
//! })?;
//! let task = hsf.add_task(server, 0, 10)?;
//! // An interrupt releases a job, which ends two ticks later; then its server idles.
//! hsf.task(task, Change::Released)?;
//! assert_eq!(hsf.pick(), Pick::Task(task));
//! assert!(!hsf.timer(1));
//! assert!(!hsf.timer(1));
//! hsf.task(task, Change::EndOfJob)?;
//! assert_eq!(hsf.pick(), Pick::Idling(server));
//! assert_eq!(hsf.next_timer(), 2);
//! # Ok::<(), vestal_hsf::Error>(())
//! ```

use crate::hsf::{Error, Features, Hsf, Pick, TaskId};

/// What happens to a task, apart from time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A job arrives, as from an interrupt.
    Released,
    /// What its job was blocked for has come, or its delay ends early.
    Ready,
    /// Its job waits until it is [`Change::Ready`]. The task itself says so.
    Blocked,
    /// Its job has ended. The task itself says so.
    EndOfJob,
    /// Its job waits for so many ticks. The task itself says so.
    Delayed(u32),
    /// Its job waits until its server has consumed so many ticks. The task itself says so.
    DelayedVirtual(u32),
}

/// What a host calls, with interrupts masked.
pub trait Hooks {
    /// So many ticks have passed since the last call. Says whether [`Hooks::pick`] has to be called.
    #[must_use = "an event may have changed who is to run"]
    fn timer(&mut self, ticks: u32) -> bool;

    /// Ticks until [`Hooks::timer`] has to be called at the latest, at least 1. Any other call may change it.
    #[must_use]
    fn next_timer(&self) -> u32;

    /// Who executes from now on. Calling it once more changes nothing.
    fn pick(&mut self) -> Pick;

    /// Something happens to a task. Then [`Hooks::pick`] has to be called, before the next tick.
    ///
    /// # Errors
    /// [`Error::UnknownTask`]; [`Error::WrongState`] if the task cannot do that in the state in which it is.
    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error>;
}

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize> Hooks
    for Hsf<F, SERVERS, TASKS, NODES>
{
    fn timer(&mut self, ticks: u32) -> bool {
        self.advance(ticks)
    }

    fn next_timer(&self) -> u32 {
        self.next_event()
    }

    fn pick(&mut self) -> Pick {
        self.schedule()
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        match change {
            Change::Released => self.release(task),
            Change::Ready => self.ready(task),
            Change::Blocked => self.block(task),
            Change::EndOfJob => self.wait_period(task),
            Change::Delayed(ticks) => self.delay(task, ticks),
            Change::DelayedVirtual(ticks) => self.delay_virtual(task, ticks),
        }
    }
}
