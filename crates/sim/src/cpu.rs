//! What a world knows of one CPU.

use vestal_core::{CpuId, Instant, JobId, Slot};

/// What runs on a CPU, and until when it may. The job there runs without a break, so that both are
/// instants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cpu {
    pub(crate) running: Option<JobId>,
    /// When the running job is complete.
    pub(crate) completes: Instant,
    /// What the last plan gave this CPU.
    pub(crate) planned: Option<JobId>,
    /// When the budget of the planned job is used up; [`NEVER`]: it has none.
    pub(crate) exhausts: Instant,
}

/// The number of the first CPU.
pub(crate) const FIRST: CpuId = CpuId(0);

/// An instant beyond every horizon.
pub(crate) const NEVER: Instant = Instant::from_nanos(u64::MAX);

impl Cpu {
    pub(crate) const IDLE: Self = Self {
        running: None,
        completes: NEVER,
        planned: None,
        exhausts: NEVER,
    };

    /// When the running job is complete or out of budget.
    #[inline]
    pub(crate) fn until(&self) -> Instant {
        match self.running {
            Some(_) => self.completes.min(self.exhausts),
            None => NEVER,
        }
    }

    /// Notes what the plan gives this CPU from `now` on; says whether that differs from what runs.
    #[inline]
    pub(crate) fn plan(&mut self, slot: Option<&Slot>, now: Instant) -> bool {
        self.planned = slot.map(|slot| slot.job);
        self.exhausts = match slot.and_then(|slot| slot.budget.as_ref()) {
            Some(budget) => now.saturating_add(budget.remaining.time_on_dedicated_cpu()),
            None => NEVER,
        };
        self.planned != self.running
    }
}
