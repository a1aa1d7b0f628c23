//! A recorder stands between a world and any scheduler and writes down every call.

use crate::record::{Edge, Record, Refusal, What};
use crate::ring::Producer;
use alloc::vec::Vec;
use core::cell::RefCell;
use vestal_core::{
    ContractViolation, CpuId, Enforcer, Fact, Instant, Interest, JobId, Level, Listed, Notice,
    Permit, Plan, PlanHash, Scheduler, ServerId, Service, TaskId,
};

/// Where records go.
pub trait Sink {
    /// Takes one record. What cannot be kept is the sink's to count.
    fn put(&mut self, record: Record);

    /// The same, and whether there was room for it.
    fn try_put(&mut self, record: Record) -> bool {
        self.put(record);
        true
    }

    /// Whether the records are wanted. If not, none are made.
    fn is_open(&self) -> bool {
        true
    }
}

impl Sink for Vec<Record> {
    fn put(&mut self, record: Record) {
        self.push(record);
    }
}

impl Sink for Producer<Record> {
    fn put(&mut self, record: Record) {
        self.push(record);
    }
    fn try_put(&mut self, record: Record) -> bool {
        self.push(record)
    }
}

impl<K: Sink + ?Sized> Sink for &mut K {
    fn put(&mut self, record: Record) {
        (**self).put(record);
    }
    fn try_put(&mut self, record: Record) -> bool {
        (**self).try_put(record)
    }
    fn is_open(&self) -> bool {
        (**self).is_open()
    }
}

/// Several writers of one recording take turns; each record is put whole.
impl<K: Sink + ?Sized> Sink for &RefCell<K> {
    fn put(&mut self, record: Record) {
        // No sink calls back into the world, so no other borrow exists.
        if let Ok(mut sink) = self.try_borrow_mut() {
            sink.put(record);
        }
    }
    fn try_put(&mut self, record: Record) -> bool {
        self.try_borrow_mut()
            .is_ok_and(|mut sink| sink.try_put(record))
    }
}

/// A scheduler that behaves as the one inside and records what is reported to it and what it answers.
///
/// [`Recorder::finish`] has to be called at the end: a decision's permits can only be asked for when
/// its plan is no longer in use, so they are written with the next call. O(tasks) more for each
/// decision if permits are recorded; nothing is allocated after construction by the recorder itself.
#[derive(Clone, Debug)]
pub struct Recorder<S, K> {
    inner: S,
    sink: K,
    /// The permits recorded last, by task; empty if permits are not recorded.
    permits: Vec<Option<Permit>>,
    /// By task, where a ghost uses up its budget; empty if ghosts are not recorded.
    ghosts: Vec<Option<CpuId>>,
    /// The decision after which permits and ghosts have not been looked at yet.
    due: Option<Instant>,
    /// The instant of the latest call.
    clock: Instant,
    facts: u32,
}

impl<S: Scheduler, K: Sink> Recorder<S, K> {
    /// Records facts, decisions with their plans, refusals, and notices as the world takes them.
    pub const fn new(inner: S, sink: K) -> Self {
        Self {
            inner,
            sink,
            permits: Vec::new(),
            ghosts: Vec::new(),
            due: None,
            clock: Instant::EPOCH,
            facts: 0,
        }
    }

    /// The same, with the permits of the first `tasks` tasks: what a native world enacts.
    pub fn with_permits(inner: S, sink: K, tasks: usize) -> Self {
        Self {
            permits: alloc::vec![None; tasks],
            ..Self::new(inner, sink)
        }
    }

    /// The same as [`Self::new`], with the ghosts of the first `tasks` tasks, for drawings: at the instant of the decision
    /// if the notices are taken then.
    pub fn with_ghosts(inner: S, sink: K, tasks: usize) -> Self {
        Self {
            ghosts: alloc::vec![None; tasks],
            ..Self::new(inner, sink)
        }
    }

    /// Records something that is not a call: a miss, an overhead, an observation.
    pub fn put(&mut self, record: Record) {
        if self.sink.is_open() {
            self.settle_permits();
            self.sink.put(record);
        }
    }

    /// Where the records go.
    pub const fn sink(&self) -> &K {
        &self.sink
    }

    /// The same, to put something before the next call. Permits that are due come after it.
    pub const fn sink_mut(&mut self) -> &mut K {
        &mut self.sink
    }

    /// The scheduler inside.
    pub const fn inner(&self) -> &S {
        &self.inner
    }

    /// How many facts were reported since the last decision.
    pub(crate) const fn facts_told(&self) -> u32 {
        self.facts
    }

    /// Ends the recording at `at`, or at the last call if that was later; notices that were not taken
    /// are recorded first.
    pub fn finish(self, at: Instant) -> (S, K) {
        let (inner, mut sink, end) = self.leave(at);
        sink.put(end);
        (inner, sink)
    }

    /// The same without the last record, for worlds in which others still record. Whoever gathers
    /// the records puts it after them.
    pub fn leave(mut self, at: Instant) -> (S, K, Record) {
        self.settle_permits();
        if self.sink.is_open() {
            while self.take_notice().is_some() {}
        }
        let end = Record {
            at: at.max(self.clock),
            what: What::End { facts: self.facts },
        };
        (self.inner, self.sink, end)
    }

    /// Writes the permits and ghosts that the last decision changed, if they are recorded.
    #[inline]
    pub(crate) fn settle_permits(&mut self) {
        if !self.permits.is_empty() || !self.ghosts.is_empty() {
            self.put_permits();
        }
    }

    fn put_permits(&mut self) {
        let Some(at) = self.due.take() else {
            return;
        };
        // One ends before another one begins on the same CPU.
        for edge in [Edge::End, Edge::Begin] {
            self.put_ghosts(at, edge);
        }
        for (number, known) in (0..=u16::MAX).zip(self.permits.iter_mut()) {
            let task = TaskId(number);
            let permit = self.inner.permit(task);
            if *known != Some(permit) {
                *known = Some(permit);
                let what = What::Permit { task, permit };
                self.sink.put(Record { at, what });
            }
        }
    }
}

impl<S: Scheduler, K: Sink> Recorder<S, K> {
    /// The ghosts that end, or those that begin.
    fn put_ghosts(&mut self, at: Instant, edge: Edge) {
        for (number, known) in (0..=u16::MAX).zip(self.ghosts.iter_mut()) {
            let task = TaskId(number);
            let present = self.inner.ghost_of(task);
            if *known == present {
                continue;
            }
            let cpu = match edge {
                Edge::End => known.take(),
                Edge::Begin => {
                    *known = present;
                    present
                }
            };
            if let Some(cpu) = cpu {
                let what = What::Ghost { cpu, task, edge };
                self.sink.put(Record { at, what });
            }
        }
    }
}

impl<S: Scheduler, K: Sink> Scheduler for Recorder<S, K> {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.settle_permits();
        self.sink.put(Record::fact(at, fact));
        self.facts = self.facts.saturating_add(1);
        match self.inner.apply(at, fact) {
            Ok(()) => {
                self.clock = self.clock.max(at);
                Ok(())
            }
            Err(violation) => {
                let what = What::Refused(Refusal::of(&violation));
                self.sink.put(Record { at, what });
                Err(violation)
            }
        }
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.settle_permits();
        match self.inner.decide(now) {
            Ok(plan) => {
                self.clock = self.clock.max(now);
                if self.sink.is_open() {
                    put_plan(&mut self.sink, now, &plan, self.facts);
                }
                self.facts = 0;
                if !self.permits.is_empty() || !self.ghosts.is_empty() {
                    self.due = Some(now);
                }
                Ok(plan)
            }
            Err(violation) => {
                // A refused instant may be before the clock: the record stands where it was made.
                self.sink.put(Record {
                    at: self.clock,
                    what: What::DecisionRefused {
                        refusal: Refusal::of(&violation),
                        now,
                    },
                });
                Err(violation)
            }
        }
    }

    fn permit(&self, task: TaskId) -> Permit {
        self.inner.permit(task)
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.settle_permits();
        let notice = self.inner.take_notice()?;
        self.sink.put(Record {
            at: notice.at,
            what: What::Notice(notice.what),
        });
        Some(notice)
    }

    fn lost_notices(&self) -> u64 {
        self.inner.lost_notices()
    }

    fn backlog(&self) -> usize {
        self.inner.backlog()
    }

    fn limit_at(&self, task: TaskId, level: Level) -> Option<Service> {
        self.inner.limit_at(task, level)
    }

    fn stops_at_own_limit(&self) -> bool {
        self.inner.stops_at_own_limit()
    }

    fn suspends_until_instants(&self) -> bool {
        self.inner.suspends_until_instants()
    }

    fn budgets_outlive_jobs(&self) -> bool {
        self.inner.budgets_outlive_jobs()
    }

    fn longest_list(&self, server: ServerId) -> Option<u16> {
        self.inner.longest_list(server)
    }

    fn listed(&self, server: ServerId) -> Option<Listed> {
        self.inner.listed(server)
    }

    fn ghost_of(&self, task: TaskId) -> Option<CpuId> {
        self.inner.ghost_of(task)
    }

    fn ghost_time(&self, task: TaskId) -> Option<Service> {
        self.inner.ghost_time(task)
    }
}

/// A native world takes the notices after each decision, and with them the permits are written.
impl<S: Enforcer, K: Sink> Enforcer for Recorder<S, K> {
    fn mode(&self) -> Level {
        self.inner.mode()
    }

    fn permit_for(&self, job: JobId) -> Permit {
        self.inner.permit_for(job)
    }

    fn interest(&self) -> Interest {
        self.inner.interest()
    }

    fn has_modes(&self) -> bool {
        self.inner.has_modes()
    }
}

/// The records of one decision.
fn put_plan(sink: &mut impl Sink, at: Instant, plan: &Plan<'_>, facts: u32) {
    let slots = u16::try_from(plan.slots.len()).unwrap_or(u16::MAX);
    let what = What::Decided {
        mode: plan.mode,
        slots,
        facts,
        hash: PlanHash::of(at, plan).value(),
    };
    sink.put(Record { at, what });
    for (number, slot) in (0..slots).zip(plan.slots) {
        let what = What::Slot {
            cpu: CpuId(number),
            slot: *slot,
        };
        sink.put(Record { at, what });
    }
    if !plan.sequences.spans.is_empty() {
        put_sequences(sink, at, plan);
    }
    if let Some(wake) = plan.next {
        let what = What::Wake(wake);
        sink.put(Record { at, what });
    }
}

/// What each CPU walks through by itself.
fn put_sequences(sink: &mut impl Sink, at: Instant, plan: &Plan<'_>) {
    let cpus = (0..=u16::MAX).map(CpuId).zip(plan.sequences.spans);
    for sequence in cpus.filter_map(|(cpu, _)| Some((cpu, plan.sequence(cpu)?))) {
        let (cpu, sequence) = sequence;
        let what = What::Sequence {
            cpu,
            jobs: sequence.jobs.len() as u64,
            barrier: sequence.barrier,
        };
        sink.put(Record { at, what });
        for &job in sequence.jobs {
            let what = What::Queued { cpu, job };
            sink.put(Record { at, what });
        }
    }
}
