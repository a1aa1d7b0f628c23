//! What is seen of a run: the bursts of PIBS by looking at the engine, everything else as an observer.

use vestal_core::server::{Activation, Server};
use vestal_core::{
    ContractViolation, CpuId, DeviceId, DropReason, Fact, Hierarchy, Instant, JobId, Level, Listed,
    Notice, Permit, Plan, Scheduler, ServerId, Service, TaskId,
};
use vestal_sim::{JobState, Observer, Segment};

/// A burst of a PIBS, from its activation on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Burst {
    pub(super) server: usize,
    pub(super) activation: Activation,
    pub(super) began: u64,
    /// `None`: it was under way at the end of the run.
    pub(super) ended: Option<u64>,
    /// A change of the mode was decided on when it ended.
    pub(super) is_cut: bool,
    /// From when on its PIBS was eligible: another instant means another burst.
    eligible: Instant,
}

/// An engine that is looked at after each decision.
pub(super) struct Watched {
    pub(super) engine: Hierarchy,
    /// When it decided last, if nobody has looked since.
    decided: Option<Instant>,
    mode: Level,
    pibs: Vec<usize>,
    open: Vec<Option<Burst>>,
    pub(super) bursts: Vec<Burst>,
}

impl Watched {
    pub(super) fn new(engine: Hierarchy, pibs: Vec<usize>) -> Self {
        Self {
            engine,
            decided: None,
            mode: Level(0),
            open: vec![None; pibs.len()],
            pibs,
            bursts: Vec::new(),
        }
    }

    fn look(&mut self) {
        let Some(at) = self.decided.take() else {
            return;
        };
        let mode = self.engine.mode();
        let changed = mode != std::mem::replace(&mut self.mode, mode);
        let returned = changed && mode == Level(0);
        for (place, &number) in self.pibs.iter().enumerate() {
            let Some(Server::Pibs(pibs)) = self.engine.server(ServerId(number as u16)) else {
                panic!("a PIBS");
            };
            let (activation, eligible) = (pibs.activation(), pibs.eligible());
            // A larger or smaller share gives a burst under way another capacity.
            let is_same = |burst: &Burst| {
                let host = activation.map(|found| (found.on_behalf_of, found.priority));
                let own = (burst.activation.on_behalf_of, burst.activation.priority);
                !returned && host == Some(own) && burst.eligible == eligible
            };
            if let Some(over) = self.open[place].take_if(|burst| !is_same(burst)) {
                self.bursts.push(Burst {
                    ended: Some(at.as_nanos()),
                    is_cut: changed,
                    ..over
                });
            }
            if let (None, Some(activation)) = (self.open[place], activation) {
                self.open[place] = Some(Burst {
                    server: number,
                    activation,
                    began: at.as_nanos(),
                    ended: None,
                    is_cut: false,
                    eligible,
                });
            }
        }
    }

    /// All bursts, in the order of their beginnings.
    pub(super) fn finish(mut self) -> Vec<Burst> {
        self.look();
        self.bursts.extend(self.open.into_iter().flatten());
        self.bursts.sort_by_key(|burst| burst.began);
        self.bursts
    }
}

impl Scheduler for Watched {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.look();
        self.engine.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.look();
        self.decided = Some(now);
        self.engine.decide(now)
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.engine.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.engine.take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.engine.lost_notices()
    }
    fn backlog(&self) -> usize {
        self.engine.backlog()
    }
    fn limit_at(&self, task: TaskId, level: Level) -> Option<Service> {
        self.engine.limit_at(task, level)
    }
    fn stops_at_own_limit(&self) -> bool {
        self.engine.stops_at_own_limit()
    }
    fn suspends_until_instants(&self) -> bool {
        self.engine.suspends_until_instants()
    }
    fn budgets_outlive_jobs(&self) -> bool {
        self.engine.budgets_outlive_jobs()
    }
    fn longest_list(&self, server: ServerId) -> Option<u16> {
        self.engine.longest_list(server)
    }
    fn listed(&self, server: ServerId) -> Option<Listed> {
        self.engine.listed(server)
    }
}

/// A job, or the end of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Released {
        at: u64,
        task: usize,
        sequence: u64,
    },
    Completed {
        at: u64,
        job: JobState,
    },
    /// Dropped, or pending at the end.
    Lost {
        at: u64,
        job: JobState,
    },
    Blocked {
        at: u64,
        task: usize,
        sequence: u64,
    },
    Executed {
        from: u64,
        to: u64,
        task: usize,
        executed: u64,
    },
    Mode {
        at: u64,
        to: u8,
    },
}

/// All of a run in the order of its reports.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    pub(super) entries: Vec<Entry>,
    pub(super) events: u64,
}

impl Observer for Log {
    fn released(&mut self, at: Instant, job: &JobState) {
        self.entries.push(Entry::Released {
            at: at.as_nanos(),
            task: job.id.task.index(),
            sequence: job.id.sequence,
        });
    }
    fn executed(&mut self, segment: Segment, job: &JobState) {
        self.entries.push(Entry::Executed {
            from: segment.start.as_nanos(),
            to: segment.end.as_nanos(),
            task: job.id.task.index(),
            executed: job.executed.as_nanos(),
        });
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        let (at, job) = (at.as_nanos(), *job);
        self.entries.push(Entry::Completed { at, job });
    }
    fn dropped(&mut self, at: Instant, job: &JobState, _: DropReason) {
        let (at, job) = (at.as_nanos(), *job);
        self.entries.push(Entry::Lost { at, job });
    }
    fn unfinished(&mut self, at: Instant, job: &JobState) {
        let (at, job) = (at.as_nanos(), *job);
        self.entries.push(Entry::Lost { at, job });
    }
    fn blocked(&mut self, at: Instant, _: CpuId, job: &JobState, _: DeviceId) {
        self.entries.push(Entry::Blocked {
            at: at.as_nanos(),
            task: job.id.task.index(),
            sequence: job.id.sequence,
        });
    }
    fn interrupted(&mut self, _: Instant, _: DeviceId, count: u64, _: u64) {
        self.events += count;
    }
    fn mode_changed(&mut self, at: Instant, _: Level, to: Level, _: Option<JobId>) {
        let (at, to) = (at.as_nanos(), to.0);
        self.entries.push(Entry::Mode { at, to });
    }
}
