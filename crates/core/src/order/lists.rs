//! What both kinds of job-priority lists are made of.

use crate::store::Store;
use alloc::borrow::Cow;

/// The priority of a job within the lists; larger is more urgent, and 0 is below every list entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct JobPriority(pub u32);

impl JobPriority {
    /// The priority of a job that exceeds the pattern its lists were made for.
    pub const BEYOND_PATTERN: Self = Self(0);

    /// A priority counts from 1, an entry of a list from 0.
    pub(super) const fn of_entry(entry: u32) -> Self {
        Self(entry.saturating_add(1))
    }
}

/// All lists in one table; `None` if one of them does not fall strictly.
pub(super) fn offline<S: Store>(lists: &[Cow<'_, [u32]>]) -> Option<S::Table<u32>> {
    let falls = |list: &Cow<'_, [u32]>| list.windows(2).all(|pair| pair.first() > pair.last());
    if !lists.iter().all(falls) {
        return None;
    }
    let total = lists
        .iter()
        .try_fold(0_usize, |sum, list| sum.checked_add(list.len()))?;
    let mut table = S::table(total, 0)?;
    for (entry, priority) in table
        .iter_mut()
        .zip(lists.iter().flat_map(|list| list.iter()))
    {
        *entry = *priority;
    }
    Some(table)
}
