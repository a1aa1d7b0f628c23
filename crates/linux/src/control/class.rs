//! Where a worker stands among the threads of its CPU, under managed dispatch.

/// In which class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Run,
    Suspended,
    Background,
}

/// The priorities of the run, the manager's own apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Classes {
    pub(crate) run: i32,
    pub(crate) suspended: i32,
}

impl Classes {
    /// Where `low` is the lowest priority of the run.
    pub(crate) const fn above(low: i32) -> Self {
        Self {
            run: low + 1,
            suspended: low,
        }
    }
}
