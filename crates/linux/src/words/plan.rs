//! What a plan names.

use super::sync::{AtomicU64, Ordering};

/// The job that the plan names: the index of its task, and its number. Written by the manager.
#[derive(Debug, Default)]
pub(crate) struct PlanWord(AtomicU64);

const NONE: u64 = 0;
const NUMBER_BITS: u32 = 48;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;

impl PlanWord {
    /// The plan names this job now, or none.
    pub(crate) fn set(&self, named: Option<(u16, u64)>) {
        let word = named.map_or(NONE, |(task, number)| bits(task, number));
        self.0.store(word, Ordering::Release);
    }

    /// Whether it names job `number` of the task with this index.
    pub(crate) fn names(&self, task: u16, number: u64) -> bool {
        self.0.load(Ordering::Acquire) == bits(task, number)
    }
}

/// Never [`NONE`]: no run lasts for 2^48 jobs of one task.
fn bits(task: u16, number: u64) -> u64 {
    u64::from(task) << NUMBER_BITS | (number.wrapping_add(1) & NUMBER_MASK)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_names_what_was_set_and_nothing_else() {
        let plan = PlanWord::default();
        assert!(!plan.names(0, 0));
        for named in [(0, 0), (1, 0), (0, 1), (u16::MAX, NUMBER_MASK - 1)] {
            plan.set(Some(named));
            assert!(plan.names(named.0, named.1));
            assert!(!plan.names(named.0, named.1 + 2) && !plan.names(named.0 ^ 1, named.1));
            plan.set(None);
            assert!(!plan.names(named.0, named.1));
        }
    }
}
