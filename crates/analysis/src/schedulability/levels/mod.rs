//! MC² (Herman, Kenna, Mollison, Anderson and Johnson, RTAS 2012; Mollison et al., ICESS 2010): the tables of level A, when they
//! close a CPU for lower levels, and whether level B is schedulable in what they leave.
//!
//! Assumptions: A1 preemptive CPUs without overhead that do not delay one another. A2 level-A tasks are periodic and come at the
//! multiples of their periods, as tables begin at time 0; level-B tasks are sporadic; D <= T.
//!
//! This is no test yet. Slow twins: `oracle`. Known-wrong variants: `control`.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "the test that asks is not there yet")
)]

#[cfg(test)]
mod control;
mod given;
mod local;
#[cfg(test)]
mod oracle;
mod pattern;
mod table;
#[cfg(test)]
mod tests;

/// In which order the level-B tasks of a CPU go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Earliest deadline first.
    Deadlines,
    /// Shorter periods first, equal ones as the tasks stand.
    Rates,
}

/// How many steps may still be taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    left: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { left: 50_000_000 }
    }
}

impl Effort {
    /// Whether so many steps may be taken; they are.
    fn take(&mut self, steps: u64) -> bool {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}
