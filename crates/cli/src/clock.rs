//! The clock of the person at the terminal: how long a computation took, and whether it is time
//! to show progress. Nothing that schedules reads it.

use std::time::{Duration, Instant};

/// Measures from its creation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line may read a clock, and does it here only"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
