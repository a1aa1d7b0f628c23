//! What a worker asks of the manager, and waits for.
//!
//! A worker begins no other job before the manager has taken its request: where a job completed beyond its
//! limit before the monitor noticed, the scheduler takes the jobs of a task in their order, and would
//! refuse one whose successor was charged already.

use crate::words::Letter;

/// One at a time: see [`crate::words::Mailbox`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// At the end of a job: its priority. Taken when it has been restored.
    Priority,
    /// A job completed beyond its limit. Taken before it is charged.
    Overran { sequence: u64, executed: u64 },
}

impl Letter<3> for Request {
    fn to_words(self) -> [u64; 3] {
        match self {
            Self::Priority => [0, 0, 0],
            Self::Overran { sequence, executed } => [1, sequence, executed],
        }
    }

    fn from_words([kind, sequence, executed]: [u64; 3]) -> Self {
        match kind {
            0 => Self::Priority,
            _ => Self::Overran { sequence, executed },
        }
    }
}
