//! What the manager of a CPU notes down for the report.

use super::activations::Activations;
use crate::account::Suspensions;
use crate::report::{MODES_MAX, ModeChange, ServerReport, Wakeups};
use vestal_core::plan::BudgetOwner;
use vestal_core::{Event, Notice, ServerId, Service};
use vestal_statistics::Histogram;
use vestal_trace::Record;

/// Servers for which there is room without asking for memory while the run goes on, beside one for each task.
const SERVERS: usize = 64;

/// What the manager notes down.
#[derive(Clone, Debug, Default)]
pub(crate) struct ManagerRecord {
    pub(crate) modes: Vec<ModeChange>,
    pub(crate) modes_lost: u64,
    pub(crate) overruns: Vec<u64>,
    pub(crate) overshoot: Histogram,
    pub(crate) activations: Activations,
    pub(crate) late: u64,
    pub(crate) late_beyond_nanos: u64,
    pub(crate) handling: Histogram,
    pub(crate) demotion: Histogram,
    /// Under managed dispatch: how late the manager woke for releases on a free CPU.
    pub(crate) lateness: Histogram,
    pub(crate) wakeups: Wakeups,
    pub(crate) suspensions: Suspensions,
    pub(crate) lost_notices: u64,
    /// By server, as far as something was noted of one.
    pub(crate) servers: Vec<ServerReport>,
    /// The last record of a recording.
    pub(crate) end: Option<Record>,
}

impl ManagerRecord {
    pub(crate) fn new(tasks: usize, late_beyond_nanos: u64) -> Self {
        Self {
            modes: Vec::with_capacity(MODES_MAX),
            overruns: vec![0; tasks],
            activations: Activations::new(tasks),
            late_beyond_nanos,
            servers: Vec::with_capacity(tasks.saturating_add(SERVERS)),
            ..Self::default()
        }
    }

    /// A budget was found exceeded by so much.
    pub(crate) fn note_overshoot(&mut self, overshoot: u64) {
        self.overshoot.record(overshoot);
        self.late += u64::from(overshoot > self.late_beyond_nanos);
    }

    /// A budget was charged so much.
    pub(crate) fn note_charged(&mut self, owner: BudgetOwner, amount: Service) {
        if let BudgetOwner::Server(id) = owner {
            let server = self.server(id);
            server.charged = server.charged.saturating_add(amount);
        }
    }

    fn server(&mut self, id: ServerId) -> &mut ServerReport {
        let index = id.index();
        if self.servers.len() <= index {
            self.servers.resize(index + 1, ServerReport::default());
        }
        &mut self.servers[index]
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
            // No engine of one CPU has frames.
            Event::Depleted { server } => self.server(server).exhausted += 1,
            Event::Postponed { server, amount } => {
                let server = self.server(server);
                server.postponed = server.postponed.saturating_add(amount);
            }
            Event::FrameOverrun { .. } | Event::FramesSkipped { .. } => {}
        }
    }
}
