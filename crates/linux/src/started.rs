//! What is known of the threads of a run.

/// A thread of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedThread {
    /// The kernel's number for it.
    pub tid: u32,
    /// What the kernel calls it.
    pub name: String,
    /// Whether it executes jobs.
    pub works: bool,
    /// What it was to be called: a worker as its task, whose name may be longer.
    pub wanted: String,
}
