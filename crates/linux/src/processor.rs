//! The CPUs of the machine, as against those of the set.

use std::fmt;

/// A CPU of the machine, by the number that Linux gives it.
///
/// A CPU of the set, which runs on one, is a [`vestal_core::CpuId`]: number k of a set runs on the k-th of the
/// processors that were asked for, and two of them may run on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Processor(pub usize);

impl fmt::Display for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Each of them once, ascending.
pub(crate) fn distinct(processors: impl IntoIterator<Item = Processor>) -> Vec<Processor> {
    let mut each: Vec<Processor> = processors.into_iter().collect();
    each.sort_unstable();
    each.dedup();
    each
}
