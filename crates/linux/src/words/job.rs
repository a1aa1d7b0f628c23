//! Which job a worker has begun, and whether its thread was demoted for it: one word.
//!
//! ```text
//!              begin, by the worker            demote, by the manager
//!   no job ------------------------> runs -----------------------------> runs, demoted
//!      ^                               |  end, by the worker                   |
//!      +-------------------------------+---------------------------------------+
//! ```
//! Worker and manager read-modify-write it. The manager first says which jobs lose their priorities, elsewhere, and then
//! looks here; the worker first begins here, and then reads that. So no job begins unknown: either the
//! manager sees that it runs, or the worker sees what was said of it. Only a job that runs is demoted, and its
//! end tells the worker whether it was.

use super::sync::{AtomicU64, Ordering};

const RUNS: u64 = 1;
const DEMOTED: u64 = 2;
/// Numbers stand above the two.
const SHIFT: u32 = 2;

/// The job of one worker. At first it has none.
#[derive(Debug, Default)]
pub(crate) struct JobWord {
    word: AtomicU64,
    /// The worker's CPU clock when the job began; written by the worker before the word.
    base: AtomicU64,
}

/// What the word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    /// The number of the job that was begun last.
    pub(crate) number: u64,
    pub(crate) runs: bool,
    /// Its thread was demoted; only while it runs.
    pub(crate) demoted: bool,
}

impl JobWord {
    /// Job `number` begins, at `base` on the worker's CPU clock. What others said before they looked, the worker
    /// sees from here on.
    pub(crate) fn begin(&self, number: u64, base: u64) {
        self.base.store(base, Ordering::Release);
        self.word.swap(number << SHIFT | RUNS, Ordering::AcqRel);
    }

    /// The job's own work begins at `base`: what came before, its account does not show. By the worker.
    pub(crate) fn start_account(&self, base: u64) {
        self.base.store(base, Ordering::Release);
    }

    /// Where the account of the job begins.
    pub(crate) fn base(&self) -> u64 {
        self.base.load(Ordering::Acquire)
    }

    /// Job `number` is off; says whether its thread was demoted since it began. By the worker.
    pub(crate) fn end(&self, number: u64) -> bool {
        let before = self.word.swap(number << SHIFT, Ordering::AcqRel);
        before & DEMOTED != 0
    }

    /// What was begun. Who wrote something before looks here afterwards: then the worker sees it when it
    /// begins, or this sees that it has begun.
    pub(crate) fn look(&self) -> Begun {
        let word = self.word.fetch_or(0, Ordering::AcqRel);
        Begun {
            number: word >> SHIFT,
            runs: word & RUNS != 0,
            demoted: word & DEMOTED != 0,
        }
    }

    /// Job `number` is to be demoted; says whether it runs, so that its thread has to be, or was already.
    pub(crate) fn demote(&self, number: u64) -> bool {
        let demoted = number << SHIFT | RUNS | DEMOTED;
        let turned = self.word.compare_exchange(
            number << SHIFT | RUNS,
            demoted,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        turned.map_or_else(|present| present == demoted, |_| true)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_demoted_only_while_it_runs_and_its_end_says_so_once() {
        let job = JobWord::default();
        assert!(!job.look().runs && !job.demote(0), "none was begun");
        job.begin(0, 5);
        assert!(!job.demote(1), "another one");
        assert!(job.demote(0) && job.demote(0));
        let demoted = Begun {
            number: 0,
            runs: true,
            demoted: true,
        };
        assert_eq!((job.look(), job.base()), (demoted, 5));
        assert!(job.end(0) && !job.end(0) && !job.demote(0));
        job.begin(1, 6);
        job.start_account(7);
        assert_eq!(job.base(), 7);
        assert!(!job.end(1));
        assert_eq!(job.look().number, 1);
    }
}
