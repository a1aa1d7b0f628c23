//! What the manager of a CPU notes down for the report.

use crate::account::Suspensions;
use crate::report::{MODES_MAX, ModeChange, Wakeups};
use vestal_core::{Event, Notice};
use vestal_statistics::Histogram;
use vestal_trace::Record;

/// What the manager notes down.
#[derive(Clone, Debug, Default)]
pub(crate) struct ManagerRecord {
    pub(crate) modes: Vec<ModeChange>,
    pub(crate) modes_lost: u64,
    pub(crate) overruns: Vec<u64>,
    pub(crate) overshoot: Histogram,
    pub(crate) late: u64,
    pub(crate) late_beyond_nanos: u64,
    pub(crate) handling: Histogram,
    pub(crate) demotion: Histogram,
    /// Under managed dispatch: how late the manager woke for releases on a free CPU.
    pub(crate) lateness: Histogram,
    pub(crate) wakeups: Wakeups,
    pub(crate) suspensions: Suspensions,
    pub(crate) lost_notices: u64,
    /// The last record of a recording.
    pub(crate) end: Option<Record>,
}

impl ManagerRecord {
    pub(crate) fn new(tasks: usize, late_beyond_nanos: u64) -> Self {
        Self {
            modes: Vec::with_capacity(MODES_MAX),
            overruns: vec![0; tasks],
            late_beyond_nanos,
            ..Self::default()
        }
    }

    /// A budget was found exceeded by so much.
    pub(crate) fn note_overshoot(&mut self, overshoot: u64) {
        self.overshoot.record(overshoot);
        self.late += u64::from(overshoot > self.late_beyond_nanos);
    }

    /// Notes down what concerns the report.
    pub(crate) fn note(&mut self, notice: &Notice) {
        match notice.what {
            Event::ModeChanged { from, to, cause } => {
                if self.modes.len() < MODES_MAX {
                    let at = notice.at;
                    self.modes.push(ModeChange {
                        at,
                        from,
                        to,
                        cause,
                    });
                } else {
                    self.modes_lost += 1;
                }
            }
            Event::Overrun { job, .. } => {
                if let Some(overruns) = self.overruns.get_mut(job.task.index()) {
                    *overruns += 1;
                }
            }
            // Whoever has a dropped job counts it.
            Event::Dropped { .. } | Event::Late { .. } => {}
            Event::Depleted { .. }
            | Event::Postponed { .. }
            | Event::FrameOverrun { .. }
            | Event::FramesSkipped { .. } => {}
        }
    }
}
