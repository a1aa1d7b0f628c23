//! When each thread of the run executes, and what it takes for its duties outside the bodies of jobs.
//!
//! A thread says when it gets the CPU, when a body begins and ends, and when it is about to wait or goes on. Of each
//! interval outside a body
//!
//! ```text
//! wall = executed + waited + away
//! ```
//! where *executed* is what its CPU clock says, *waited* is the time for which it was ready and another
//! thread had the CPU (schedstat), and *away* is the rest. CPU time on the account of a thread of the run
//! is always the run's, whoever caused it: from inside nothing tells a slow loop from an interrupt. *Away*
//! is the run's too, because the thread slept, unless the kernel says that it never lost the CPU; then a
//! hypervisor had it. Without schedstat (`CONFIG_SCHED_INFO`) all of *wall* is the run's.
//!
//! So a slow thread cannot excuse itself: what it took is in the reactions of the report, whether a
//! deadline was missed or not, and the CPU clocks of all threads keep it out of what counts as stolen.

use super::note::Waited;

/// The parts of an interval outside a body, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    executed: u64,
    /// For how long it was ready and had no CPU.
    pub(super) waited: u64,
    /// What is the run's: the thread executed, or slept.
    pub(super) ours: u64,
    /// What no thread on this system had.
    pub(super) by_nobody: u64,
    /// What threads had that are not of the run.
    pub(super) by_others: u64,
}

impl Parts {
    /// Of an interval of `wall` nanoseconds; `alone`: no other thread of the run can have had the CPU in it.
    pub const fn of(wall: u64, executed: u64, counted: Waited, alone: bool) -> Self {
        let missing = wall.saturating_sub(executed);
        let waited = if counted.nanos < missing {
            counted.nanos
        } else {
            missing
        };
        let known = wall.saturating_sub(waited);
        // If it lost the CPU at all, what it did not wait for counts as slept.
        let ours = if counted.times > 0 { known } else { executed };
        Self {
            executed,
            waited,
            ours,
            by_nobody: known.saturating_sub(ours),
            by_others: if alone { waited } else { 0 },
        }
    }

    /// What the thread slept, in nanoseconds.
    pub const fn slept(self) -> u64 {
        self.ours.saturating_sub(self.executed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The run's part, what no thread had, and what others had, of an interval so long.
    fn parts(wall: u64, executed: u64, (nanos, times): (u64, u64), alone: bool) -> [u64; 3] {
        let parts = Parts::of(wall, executed, Waited { nanos, times }, alone);
        [parts.ours, parts.by_nobody, parts.by_others]
    }

    #[test]
    fn what_a_thread_executed_or_slept_is_the_run_s_and_what_it_waited_is_not() {
        // A busy loop of 60 ms, a sleep of 20 ms, another thread's 30 ms, a hypervisor's 5 ms.
        assert_eq!(parts(60 * MS, 60 * MS, (0, 0), true), [60 * MS, 0, 0]);
        assert_eq!(parts(21 * MS, MS, (0, 1), true), [21 * MS, 0, 0]);
        assert_eq!(parts(31 * MS, MS, (30 * MS, 1), true), [MS, 0, 30 * MS]);
        assert_eq!(parts(6 * MS, MS, (0, 0), true), [MS, 5 * MS, 0]);
        // A busy loop while another thread has the CPU for a part of the time.
        let busy = parts(50 * MS, 20 * MS, (30 * MS, 1), true);
        assert_eq!(busy, [20 * MS, 0, 30 * MS]);
        // That thread may have been one of the run.
        assert_eq!(
            parts(50 * MS, 20 * MS, (30 * MS, 1), false),
            [20 * MS, 0, 0]
        );
        // What no account shows counts as slept, and leaves what was waited for stolen.
        let also_away = parts(9 * MS, 4 * MS, (4 * MS, 1), true);
        assert_eq!(also_away, [5 * MS, 0, 4 * MS]);
    }
}
