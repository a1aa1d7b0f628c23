//! Which barrier a frame table has.

/// Where the CPUs of a frame table wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Barrier {
    /// `pthread_barrier_wait`, as in Sigrist et al. (RTAS 2015, section V).
    Pthread,
    /// A word in memory, on which the kernel lets threads wait.
    Futex,
    /// The same word, which threads look at for some microseconds before they ask the kernel to wait; not where CPUs of
    /// the set share a processor.
    #[default]
    Spin,
}

impl Barrier {
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pthread => "pthread",
            Self::Futex => "futex",
            Self::Spin => "spin",
        }
    }
}
