//! What the manager of a CPU notes down for the report.

use super::activations::Activations;
use crate::account::Suspensions;
use crate::parts::{Part, Parts};
use crate::report::{MODES_MAX, ModeChange, ServerReport, Wakeups};
use vestal_core::plan::BudgetOwner;
use vestal_core::{Event, Notice, ServerId, Service};
use vestal_statistics::Histogram;
use vestal_trace::Record;

/// Servers for which there is room without asking for memory while the run goes on, beside one for each task.
const SERVERS: usize = 64;

/// Why a manager is awake: the first of these that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A job was completed, or a worker wants its priority back.
    Completion,
    /// A job was released.
    Release,
    /// A device was ready, a job began to wait for events, or has those that it waited for.
    Device,
    /// A budget monitor said so.
    Budget,
    /// An instant came that the decider asked for.
    Timer,
    /// The idle detector ran.
    Idle,
    /// Only to show that it lives.
    Beat,
    /// Somebody called who was heard before.
    Other,
}

impl Reason {
    /// What a round is for that finds no overrun. Who ends a job calls, and so does the idle detector, after which what was
    /// terminated ends.
    const fn part(self) -> Part {
        match self {
            Self::Release | Self::Device => Part::JobArrival,
            Self::Completion | Self::Idle | Self::Other => Part::JobFinish,
            Self::Budget | Self::Timer | Self::Beat => Part::Monitoring,
        }
    }
}

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
    /// What each part of it took.
    pub(crate) parts: Parts,
    /// Whether a budget was found used up, or the mode has risen, since that was last asked.
    has_found_overrun: bool,
    pub(crate) demotion: Histogram,
    /// Under managed dispatch: how late the manager woke for releases on a free CPU.
    pub(crate) lateness: Histogram,
    pub(crate) wakeups: Wakeups,
    /// How long the manager waited for the one lock of all CPUs, where there is one.
    pub(crate) lock_waits: Histogram,
    /// How often level C left the CPU to ordinary threads, and for how long.
    pub(crate) yields: u64,
    pub(crate) yielded_nanos: u64,
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

    /// Counts a wake-up.
    pub(crate) fn note_woken(&mut self, reason: Reason) {
        let wakeups = &mut self.wakeups;
        let count = match reason {
            Reason::Completion => &mut wakeups.completion,
            Reason::Release => &mut wakeups.release,
            Reason::Device => &mut wakeups.device,
            Reason::Budget => &mut wakeups.budget,
            Reason::Timer => &mut wakeups.timer,
            Reason::Idle => &mut wakeups.idle,
            Reason::Beat => &mut wakeups.beat,
            Reason::Other => &mut wakeups.other,
        };
        *count += 1;
    }

    /// A round took so long, for which the manager was woken for this reason.
    pub(crate) fn note_round(&mut self, reason: Reason, nanos: u64) {
        self.handling.record(nanos);
        let part = match std::mem::take(&mut self.has_found_overrun) {
            true => Part::JobOverrun,
            false => reason.part(),
        };
        self.parts.record(part, nanos);
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

    /// So much was taken off what a budget was charged.
    pub(crate) fn note_tolerated(&mut self, owner: BudgetOwner, amount: Service) {
        if let BudgetOwner::Server(id) = owner {
            let server = self.server(id);
            server.tolerated = server.tolerated.saturating_add(amount);
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
                self.has_found_overrun |= to > from;
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
                self.has_found_overrun = true;
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

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{Instant, JobId, Level, TaskId};

    /// What each part took.
    fn sums(record: &ManagerRecord) -> [u64; 4] {
        Part::OF_MANAGERS.map(|wanted| {
            let mut parts = record.parts.iter();
            let of_part = parts.find(|(part, _)| *part == wanted);
            of_part.map_or(0, |(_, times)| times.summary().sum)
        })
    }

    #[test]
    fn a_round_is_for_what_it_was_woken_for_unless_it_finds_an_overrun() {
        let mut record = ManagerRecord::new(1, 0);
        for (reason, nanos) in [
            (Reason::Release, 1),
            (Reason::Completion, 10),
            (Reason::Idle, 20),
            (Reason::Other, 40),
            (Reason::Budget, 100),
            (Reason::Timer, 200),
            (Reason::Beat, 400),
        ] {
            record.note_round(reason, nanos);
        }
        assert_eq!(sums(&record), [1, 70, 700, 0]);
        let job = JobId {
            task: TaskId(0),
            sequence: 0,
        };
        let at = Instant::EPOCH;
        let changed = |from, to| Event::ModeChanged {
            from: Level(from),
            to: Level(to),
            cause: None,
        };
        let level = Level(0);
        let overrun = Event::Overrun {
            job,
            level,
            executed: Service::ZERO,
        };
        for (what, expected) in [
            (overrun, [1, 70, 700, 5]),
            (changed(0, 1), [1, 70, 700, 10]),
            // The return is no overrun, and each round begins anew.
            (changed(1, 0), [1, 75, 700, 10]),
        ] {
            record.note(&Notice { at, what });
            record.note_round(Reason::Completion, 5);
            assert_eq!(sums(&record), expected, "{what:?}");
        }
        assert_eq!(record.parts.sum_nanos(), record.handling.summary().sum);
    }
}
