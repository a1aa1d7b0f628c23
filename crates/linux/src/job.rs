//! What became of a job, as the thread that ran it says it.

/// A job whose body has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) sequence: u64,
    /// The clock reading at which it was released.
    pub(crate) release: u64,
    pub(crate) finished: u64,
    pub(crate) executed: u64,
    /// It did all its work; otherwise it was cancelled.
    pub(crate) completed: bool,
}
