//! Who begins the sub-frames of a table.

/// Who gives workers their orders, by the threads of Sigrist et al. (RTAS 2015, section VI-A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Initialisation {
    /// The scheduler, for all CPUs, before any job begins.
    #[default]
    Global,
    /// Each CPU for itself: a job may begin while another CPU is not ready, which the paper avoids.
    Distributed,
}

impl Initialisation {
    /// The name on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Distributed => "distributed",
        }
    }
}
