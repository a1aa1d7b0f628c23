//! What a job does in a real run, after the field `work` of its task.
//!
//! Whatever the work is, a job ends when it has consumed what the scenario demands of it. Work that
//! cannot be stopped there, such as allocating memory, is how a job overruns without being told to.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use vestal_core::{JobId, Service};
use vestal_linux::{Cancelled, JobContext};
use vestal_workload::Ratio;
use vestal_workload::model::Work;

/// The body of a task's jobs.
#[derive(Debug)]
pub(super) enum Body {
    /// Counts time.
    Spin,
    /// Walks over an array.
    Walk {
        /// The array.
        array: Vec<u8>,
        /// Where the next job goes on.
        at: usize,
    },
    /// Allocates and fills blocks in some jobs.
    Allocate {
        /// How many.
        blocks: u64,
        /// The size of each.
        bytes: usize,
        /// In how many jobs.
        probability: Ratio,
        /// What decides which jobs those are.
        seed: u64,
        /// Blocks that the system refused.
        refused: Arc<AtomicU64>,
    },
}

/// The bytes that processors move at once between memory and caches.
const CACHE_LINE: usize = 64;
/// Lines touched between two looks at the clock: some microseconds if all of them come from memory.
const LINES_PER_LOOK: usize = 32;

impl Body {
    /// The body for `work`; `None` if the memory for it is not to be had.
    pub(super) fn new(work: Work, seed: u64, refused: &Arc<AtomicU64>) -> Option<Self> {
        match work {
            Work::Spin => Some(Self::Spin),
            Work::Array { bytes } => {
                let array = filled(usize::try_from(bytes).ok()?)?;
                Some(Self::Walk { array, at: 0 })
            }
            Work::Alloc {
                blocks,
                bytes,
                probability,
            } => Some(Self::Allocate {
                blocks,
                bytes: usize::try_from(bytes).ok()?,
                probability,
                seed,
                refused: Arc::clone(refused),
            }),
        }
    }

    /// Does one job.
    pub(super) fn run(&mut self, job: &mut JobContext<'_>) -> Result<(), Cancelled> {
        match self {
            Self::Spin => {}
            Self::Walk { array, at } => walk(array, at, job)?,
            Self::Allocate {
                blocks,
                bytes,
                probability,
                seed,
                refused,
            } => {
                if is_chosen(*probability, *seed, job.id()) {
                    let mut kept = Vec::new();
                    for _ in 0..*blocks {
                        job.checkpoint()?;
                        match filled(*bytes) {
                            Some(block) => kept.push(black_box(block)),
                            None => {
                                refused.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                }
            }
        }
        let left = job.demand().saturating_sub(job.executed());
        if left == Service::ZERO {
            job.checkpoint()
        } else {
            job.burn(left)
        }
    }
}

/// Touches line after line until the job's demand is met.
fn walk(array: &mut [u8], at: &mut usize, job: &mut JobContext<'_>) -> Result<(), Cancelled> {
    while job.executed() < job.demand() {
        job.checkpoint()?;
        for _ in 0..LINES_PER_LOOK {
            if let Some(byte) = array.get_mut(*at) {
                *byte = black_box(byte.wrapping_add(1));
            }
            *at = at
                .checked_add(CACHE_LINE)
                .filter(|next| *next < array.len())
                .unwrap_or(0);
        }
    }
    Ok(())
}

/// A block of memory of which every byte was written; `None` if the system refuses it.
fn filled(bytes: usize) -> Option<Vec<u8>> {
    let mut block = Vec::new();
    block.try_reserve_exact(bytes).ok()?;
    block.resize(bytes, 1);
    Some(block)
}

/// Whether this job is one of those that allocate: a pure function, so that runs can be repeated.
fn is_chosen(probability: Ratio, seed: u64, job: JobId) -> bool {
    let mut hash = seed;
    for part in [u64::from(job.task.0), job.sequence] {
        hash = mix(hash ^ part);
    }
    let (numerator, denominator) = (
        u128::from(probability.numerator()),
        u128::from(probability.denominator()),
    );
    (numerator << 64) > u128::from(hash) * denominator
}

/// One step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::TaskId;

    #[test]
    fn about_half_of_the_jobs_are_chosen_and_always_the_same_ones() {
        let chosen = |probability: Ratio, seed: u64| -> Vec<bool> {
            (0..10_000)
                .map(|sequence| {
                    is_chosen(
                        probability,
                        seed,
                        JobId {
                            task: TaskId(3),
                            sequence,
                        },
                    )
                })
                .collect()
        };
        let count = |jobs: &[bool]| jobs.iter().filter(|&&job| job).count();
        let half = Ratio::new(1, 2).unwrap();
        assert!((4_700..=5_300).contains(&count(&chosen(half, 1))));
        assert_eq!(chosen(half, 1), chosen(half, 1));
        assert_ne!(chosen(half, 1), chosen(half, 2));
        assert_eq!(count(&chosen(Ratio::new(0, 1).unwrap(), 1)), 0);
        assert_eq!(count(&chosen(Ratio::new(1, 1).unwrap(), 1)), 10_000);
    }

    #[test]
    fn blocks_are_filled_and_refused_when_they_are_too_large() {
        assert_eq!(filled(3), Some(vec![1, 1, 1]));
        assert_eq!(filled(usize::MAX / 2), None);
    }
}
