//! The CPUs of the machine.

use std::fmt;

/// A CPU of the machine, by the number that Linux gives it. What runs on it may have CPUs of its own, with other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Processor(pub usize);

impl fmt::Display for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Each of them once, ascending.
pub fn distinct(processors: impl IntoIterator<Item = Processor>) -> Vec<Processor> {
    let mut each: Vec<Processor> = processors.into_iter().collect();
    each.sort_unstable();
    each.dedup();
    each
}
