//! MC² (Herman, Kenna, Mollison, Anderson and Johnson, RTAS 2012; Mollison et al., ICESS 2010): the tables of level A, and when they
//! close a CPU for lower levels.
//!
//! Assumptions: A1 preemptive CPUs without overhead that do not delay one another. A2 level-A tasks are periodic and come at the
//! multiples of their periods, as tables begin at time 0; D <= T.
//!
//! This is no test yet. Slow twins: `oracle`.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "no test of levels B and C is there yet")
)]

mod given;
#[cfg(test)]
mod oracle;
mod pattern;
mod table;
#[cfg(test)]
mod tests;
