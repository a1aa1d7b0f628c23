//! Waits of one job behind lower ones, each of them too short to count, that together are not.

use super::fault::Fault;
use alloc::vec::Vec;
use vestal_core::{CpuId, Duration, Instant, JobId};

/// What one job has waited since it ran last, or its task had no budget.
#[derive(Clone, Copy, Debug)]
struct Wait {
    job: JobId,
    cpu: CpuId,
    from: Instant,
    all: Duration,
    /// It has been said.
    is_said: bool,
}

/// The waits that go on.
#[derive(Debug, Default)]
pub(super) struct Waits(Vec<Wait>);

impl Waits {
    /// `job` has waited so long behind lower ones from then on; gives what is wrong with that if it is more than `most` with what it
    /// waited before. It is said once.
    pub(super) fn add(
        &mut self,
        (cpu, job): (CpuId, JobId),
        (from, length): (Instant, Duration),
        most: Duration,
    ) -> Option<(CpuId, Instant, Fault)> {
        let place = match self.0.iter().position(|wait| wait.job == job) {
            Some(place) => place,
            None => {
                let (all, is_said) = (Duration::ZERO, false);
                self.0.push(Wait {
                    job,
                    cpu,
                    from,
                    all,
                    is_said,
                });
                self.0.len().saturating_sub(1)
            }
        };
        let wait = self.0.get_mut(place)?;
        wait.all = wait.all.saturating_add(length);
        if wait.is_said || wait.all <= most {
            return None;
        }
        wait.is_said = true;
        let (waiting, all) = (job, wait.all);
        Some((wait.cpu, wait.from, Fault::Delays { waiting, all }))
    }

    /// Those that are not waiting any more begin anew.
    pub(super) fn keep(&mut self, is_waiting: impl Fn(JobId) -> bool) {
        self.0.retain(|wait| is_waiting(wait.job));
    }
}
