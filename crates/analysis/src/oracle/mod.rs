//! The slow, obvious twins of the fast analyses.
//!
//! Nothing here shares code with what it checks: no warm start, no window that a whole set shares,
//! no reduction of candidates. A response time is found by trying every window from 0 on, an
//! assignment by Audsley's algorithm as printed, the existence of an order by trying all of them.
//! Fit for a handful of tasks with periods of some tens of nanoseconds. A task id that is not in the
//! set panics.

use vestal_core::{Level, Task};

mod assignment;
mod response;
mod schedule;

pub(crate) use assignment::assign_by;
pub use assignment::{assign, some_order_passes};
pub use response::{Formula, iterated_response, order_passes, passes, response};
pub use schedule::synchronous_response;

/// C(level). A job that needs nothing has to be given the CPU all the same, and counts for a nanosecond.
pub(crate) fn cost(task: &Task, level: Level) -> u64 {
    task.wcet.at(level).as_nanos().max(1)
}
