//! What happened, out of records: in the order of instants, and what is wrong with starts, stops and charges alone.

use super::fault::{Broken, Fault};
use crate::record::{DomainId, Edge, Mechanism, Record, What};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use vestal_core::{
    BudgetOwner, CpuId, DropReason, Duration, Event, Fact, Instant, JobId, Service, StopReason,
    TaskId,
};

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happening {
    Released(JobId),
    /// It is complete, or was cancelled.
    Over(JobId),
    Dropped(JobId),
    /// The same because there was no room, says the scheduler.
    NoRoom(JobId),
    /// The same says the world, whose scheduler is to know of every release, and did not say so.
    NotAsked(JobId),
    Begins(CpuId, JobId),
    Ends(CpuId, JobId),
    Charged(TaskId, Service),
    /// So much was left of a budget, says the scheduler.
    Left(CpuId, TaskId, Service),
    Ghost(CpuId, TaskId, Edge),
    Open(CpuId, bool),
    /// The CPU is left to threads beside the run.
    Yield(CpuId, Edge),
}

/// What a job does between a start and a stop.
#[derive(Clone, Copy, Debug)]
struct Piece {
    cpu: CpuId,
    from: Instant,
    charged: Service,
}

/// All of a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Collected {
    /// In the order of their instants, and of the records at each.
    pub(super) happenings: Vec<(Instant, Happening)>,
    pub(super) broken: Vec<Broken>,
    /// When the machine held a CPU.
    pub(super) gaps: Vec<(CpuId, Instant, Instant)>,
    pub(super) end: Instant,
    pub(super) has_ghosts: bool,
    pub(super) has_publications: bool,
    pub(super) spans: u64,
}

/// Reads records.
#[derive(Debug)]
pub(super) struct Collector {
    tolerance: Duration,
    present: DomainId,
    /// By domain the latest fact, which may be refused yet.
    told: BTreeMap<DomainId, (Instant, Fact)>,
    pieces: BTreeMap<JobId, Piece>,
    /// What the scheduler dropped for want of room.
    no_room: BTreeSet<JobId>,
    all: Collected,
}

impl Collector {
    pub(super) fn new(tolerance: Duration) -> Self {
        Self {
            tolerance,
            present: DomainId::FIRST,
            told: BTreeMap::new(),
            pieces: BTreeMap::new(),
            no_room: BTreeSet::new(),
            all: Collected::default(),
        }
    }

    pub(super) fn take(&mut self, record: Record) {
        let at = record.at;
        if let What::Domain { domain } = record.what {
            self.present = domain;
            return;
        }
        self.all.end = self.all.end.max(at);
        let told = self.told.remove(&self.present);
        if let Some((at, fact)) = told
            && !matches!(record.what, What::Refused(_))
        {
            self.fact(at, fact);
        }
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the rest says nothing of CPUs and budgets"
        )]
        match record.what {
            What::Fact(fact) => {
                self.told.insert(self.present, (at, fact));
            }
            What::Notice(Event::Dropped {
                job,
                why: DropReason::BacklogFull,
            }) => {
                self.no_room.insert(job);
                self.add(at, Happening::NoRoom(job));
            }
            // Else a worker found what the scheduler had dropped.
            What::Dropped {
                job,
                why: DropReason::BacklogFull,
            } if !self.no_room.contains(&job) => self.add(at, Happening::NotAsked(job)),
            What::Notice(Event::Dropped { job, .. }) | What::Dropped { job, .. } => {
                self.add(at, Happening::Dropped(job));
            }
            What::Slot {
                cpu,
                slot: Some(slot),
            } => {
                if let Some(budget) = slot.budget
                    && let BudgetOwner::Task(task) = budget.owner
                {
                    self.add(at, Happening::Left(cpu, task, budget.remaining));
                }
            }
            What::Ghost { cpu, task, edge } => {
                self.all.has_ghosts = true;
                self.add(at, Happening::Ghost(cpu, task, edge));
            }
            What::Overhead {
                cpu,
                mechanism: Mechanism::YIELD,
                edge,
            } => self.add(at, Happening::Yield(cpu, edge)),
            What::Gap { cpu, length } => {
                self.all.gaps.push((cpu, at.saturating_sub(length), at));
            }
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> Collected {
        for (at, fact) in core::mem::take(&mut self.told).into_values() {
            self.fact(at, fact);
        }
        // At one instant they stay as they were recorded.
        self.all.happenings.sort_by_key(|(at, _)| *at);
        self.all
    }

    fn add(&mut self, at: Instant, what: Happening) {
        self.all.happenings.push((at, what));
    }

    fn wrong(&mut self, cpu: CpuId, (from, to): (Instant, Instant), what: Fault) {
        self.all.broken.push(Broken {
            cpu,
            from,
            to,
            what,
        });
    }

    /// A fact that the scheduler took.
    fn fact(&mut self, at: Instant, fact: Fact) {
        match fact {
            Fact::Released { job } => self.add(at, Happening::Released(job)),
            Fact::Started { cpu, job } => {
                if let Some(piece) = self.pieces.get(&job) {
                    let other = piece.cpu;
                    self.wrong(cpu, (at, at), Fault::Twice { job, other });
                    return;
                }
                let (from, charged) = (at, Service::ZERO);
                self.pieces.insert(job, Piece { cpu, from, charged });
                self.add(at, Happening::Begins(cpu, job));
            }
            Fact::Charged { cpu, job, amount } => {
                match self.pieces.get_mut(&job).filter(|piece| piece.cpu == cpu) {
                    Some(piece) => piece.charged = piece.charged.saturating_add(amount),
                    None => self.wrong(cpu, (at, at), Fault::NotRunning { job }),
                }
                self.add(at, Happening::Charged(job.task, amount));
            }
            Fact::Stopped { cpu, job, why } => {
                self.ends(at, cpu, job);
                if why == StopReason::Cancelled {
                    self.add(at, Happening::Over(job));
                }
            }
            Fact::Completed { cpu, job } => {
                self.ends(at, cpu, job);
                self.add(at, Happening::Over(job));
            }
            Fact::CpuOpen { cpu, open } => {
                self.all.has_publications = true;
                self.add(at, Happening::Open(cpu, open));
            }
            Fact::Timer
            | Fact::Idle { .. }
            | Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::ModeRequested { .. } => {}
        }
    }

    fn ends(&mut self, at: Instant, cpu: CpuId, job: JobId) {
        let Some(piece) = self.pieces.get(&job).filter(|piece| piece.cpu == cpu) else {
            self.wrong(cpu, (at, at), Fault::NotRunning { job });
            return;
        };
        let (from, charged) = (piece.from, piece.charged);
        self.pieces.remove(&job);
        self.all.spans = self.all.spans.saturating_add(1);
        let ran = at.saturating_since(from);
        let is_right = if self.tolerance.is_zero() {
            charged.time_on_dedicated_cpu() == ran && from <= at
        } else {
            !charged.exceeds(ran.saturating_add(self.tolerance))
        };
        if !is_right {
            self.wrong(cpu, (from, at), Fault::Charges { job, charged });
        }
        self.add(at, Happening::Ends(cpu, job));
    }
}
