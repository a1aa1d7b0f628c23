//! Memory of the fast paths.

use crate::demand::Demand;
use crate::tables::Tables;
use core::any::Any;
use core::fmt;
use vestal_core::model::LEVELS_MAX;

/// Memory that the fast path of a test uses again and again instead of allocating. One for each
/// thread; what it contains between two calls has no meaning.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Tables of tasks.
    pub(crate) tables: Tables,
    /// Jobs counted, one collection for each level.
    pub(crate) demands: [Demand; LEVELS_MAX],
    /// What single tests keep.
    pub(crate) own: Own,
    /// A search of the test asked last reached its limit, apart from those by `demands`.
    pub(crate) ran_out: bool,
}

impl Scratch {
    /// Another test is asked, or about another problem.
    pub(crate) fn begin(&mut self) {
        self.ran_out = false;
        self.demands.iter_mut().for_each(Demand::begin);
    }

    /// Whether a search of the test asked last reached its limit: then its refusal may not be one.
    pub(crate) fn is_undecided(&self) -> bool {
        self.ran_out || self.demands.iter().any(Demand::is_undecided)
    }
}

/// Memory of kinds that only the tests know which have it.
#[derive(Default)]
pub(crate) struct Own(Vec<Box<dyn Any + Send>>);

impl Own {
    /// That of one kind; empty at first. O(kinds in use), which are a handful.
    pub(crate) fn of<T: Any + Default + Send>(&mut self) -> &mut T {
        let index = self.0.iter().position(|memory| memory.is::<T>());
        let index = index.unwrap_or_else(|| {
            self.0.push(Box::new(T::default()));
            self.0.len() - 1
        });
        match self.0[index].downcast_mut() {
            Some(memory) => memory,
            None => unreachable!("the one at that index is of this kind"),
        }
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Own({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_ran_out_is_told_until_the_next_question() {
        let mut scratch = Scratch::default();
        assert!(!scratch.is_undecided());
        scratch.ran_out = true;
        assert!(scratch.is_undecided());
        scratch.begin();
        assert!(!scratch.is_undecided());
        for level in [0, LEVELS_MAX - 1] {
            scratch.demands[level] = Demand::with_passes(0);
            scratch.demands[level].solve(0, 1);
            assert!(scratch.is_undecided());
            scratch.begin();
            assert!(!scratch.is_undecided());
        }
    }
}
