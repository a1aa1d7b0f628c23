//! The slow, obvious twins of the fast analyses.
//!
//! Nothing here shares code with what it checks: no warm start, no window that a whole set shares,
//! no reduction of candidates. A response time is found by trying every window from 0 on, an
//! assignment by Audsley's algorithm as printed, the existence of an order by trying all of them.
//! Fit for a handful of tasks with periods of some tens of nanoseconds. A task id that is not in the
//! set panics.

use vestal_core::{Level, Task};

mod assignment;
mod change_instants;
mod demand;
mod interference;
mod job_order;
mod response;
mod schedule;
mod slices;
mod suspension;
mod zero_slack;

pub use assignment::{assign, some_order_passes};
pub use change_instants::{greatest_assign, greatest_passes, greatest_response};
pub use demand::first_overfull_window;
pub use interference::{interference_assign, interference_at, interference_response};
pub use job_order::{
    PatternRule, SlowPattern, job_order_passes, lists, load, pattern, some_job_order_passes,
    some_order_of_pattern_passes,
};
pub use response::{Formula, iterated_response, order_passes, passes, response};
pub use schedule::synchronous_response;
pub use slices::{
    first_slice_response, server_response, sliced_demand, sliced_response, sliced_schedule,
    slices_by_rule,
};
pub use suspension::{zero_slack_bounds, zero_slack_proves, zero_slack_search};
pub use zero_slack::{SlackFormula, zero_slack_instants, zero_slack_responses};

/// C(level). A job that needs nothing has to be given the CPU all the same, and counts for a nanosecond.
fn cost(task: &Task, level: Level) -> u64 {
    task.wcet.at(level).as_nanos().max(1)
}
