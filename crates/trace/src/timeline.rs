//! From records to what a drawing shows: slices of execution, arrows, marks, bands.
//!
//! The state is bounded by the number of tasks and CPUs, so that writers can stream. A job that starts
//! on a CPU where another one runs has preempted it: native worlds cannot see preemptions, but under
//! fixed priorities the interrupted job goes on when the other one ends, and one that permits suspend, that
//! used up its own limit or whose task is not admitted any more leaves the CPU to the job it had interrupted.
//! Items come in the order of time. Of a native run only what was observed is drawn: what its scheduler is
//! reported are exceptions.
//! A record whose instant lies before the latest one counts as happening then.
//! Each scheduling domain has a mode and an end of its own; what is drawn of its jobs ends with it.

use crate::header::{Dispatch, Header};
use crate::record::{DomainId, Edge, Mechanism, Record, What};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use vestal_core::{
    CpuId, DropReason, Duration, Event, Fact, Instant, JobId, Level, Permit, Service, StopReason,
    TaskId,
};

/// Something to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// A job arrived.
    Release {
        /// The job.
        job: JobId,
        /// Its absolute deadline, if its task's is known.
        deadline: Option<Instant>,
    },
    /// A deadline was reached.
    Deadline {
        /// The job.
        job: JobId,
    },
    /// A slice of execution begins.
    Begin {
        /// Where.
        cpu: CpuId,
        /// The job.
        job: JobId,
        /// It had run before.
        resumed: bool,
    },
    /// The slice of execution that began last on this CPU ends.
    Finish {
        /// Where.
        cpu: CpuId,
        /// The job.
        job: JobId,
        /// Why it ends.
        why: Ending,
    },
    /// A job used up a limit.
    Overrun {
        /// The job.
        job: JobId,
        /// The level whose limit it was.
        level: Level,
    },
    /// A job was late.
    Miss {
        /// The job.
        job: JobId,
        /// Its deadline.
        deadline: Instant,
    },
    /// A job was dropped.
    Drop {
        /// The job.
        job: JobId,
        /// Why.
        why: DropReason,
    },
    /// The mode of a domain changed.
    Mode {
        /// The domain.
        domain: DomainId,
        /// The mode before.
        from: Level,
        /// The mode from now on.
        to: Level,
    },
    /// What is left of the budget that a task's job spends.
    Budget {
        /// The task.
        task: TaskId,
        /// What is left.
        remaining: Service,
    },
    /// The ghost of a task begins or ends to use up its budget.
    Ghost {
        /// Where.
        cpu: CpuId,
        /// Whose.
        task: TaskId,
        /// Whether it begins.
        edge: Edge,
    },
    /// A mechanism begins or ends on a CPU.
    Overhead {
        /// Where.
        cpu: CpuId,
        /// Which.
        mechanism: Mechanism,
        /// Whether it begins.
        edge: Edge,
    },
    /// Something outside held a CPU until now.
    Gap {
        /// Which CPU.
        cpu: CpuId,
        /// For how long.
        length: Duration,
    },
    /// Records are missing.
    Lost {
        /// How many.
        count: u64,
    },
    /// The recording ends; every slice has ended.
    End,
}

/// Why a slice of execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The job is complete.
    Completed,
    /// The job stopped.
    Stopped(StopReason),
    /// The recording is over.
    Recording,
}

/// The state between records.
#[derive(Clone, Debug)]
pub struct Timeline {
    deadlines: Vec<Duration>,
    native: bool,
    clock: Instant,
    domains: Vec<Domain>,
    /// The domain that has the word.
    present: DomainId,
    /// The domain of each task; the first beyond the list.
    homes: Vec<DomainId>,
    /// For each CPU the jobs that started there and neither stopped nor completed, in that order.
    running: BTreeMap<CpuId, Vec<JobId>>,
    /// For each CPU the one of them that runs.
    drawn: BTreeMap<CpuId, JobId>,
    /// Of a native run the tasks that may not run by their priorities, and whether they may go on below all
    /// others.
    held_back: BTreeMap<TaskId, bool>,
    /// Of a native run the begun jobs that go on in the background only, until they end.
    demoted: BTreeSet<JobId>,
    levels: Vec<Level>,
    /// The latest release and the latest start of each task.
    released: BTreeMap<TaskId, u64>,
    started: BTreeMap<TaskId, u64>,
    /// Deadlines to come.
    due: BTreeSet<(Instant, JobId)>,
    budgets: BTreeMap<TaskId, Service>,
    /// Where ghosts use up budgets.
    ghosts: BTreeMap<TaskId, CpuId>,
    /// Mechanisms that began and have not ended, with the domain that said so.
    open: Vec<(CpuId, Mechanism, DomainId)>,
    ended: bool,
    /// What follows from the record at hand.
    items: Vec<(Instant, Item)>,
}

/// What one domain says of itself.
#[derive(Clone, Copy, Debug, Default)]
struct Domain {
    mode: Level,
    /// Decisions say the mode, so notices need not be asked.
    decisions: bool,
    ended: bool,
}

/// The most deadlines to come that are kept; a run has one or few for each task.
const DUE_MAX: usize = 1 << 20;

impl Timeline {
    /// The state before the first record.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        Self {
            deadlines: header.tasks.iter().map(|task| task.deadline).collect(),
            native: header.dispatch == Dispatch::Native,
            clock: Instant::EPOCH,
            domains: vec![Domain::default(); header.domain_count()],
            present: DomainId::FIRST,
            homes: homes(header),
            running: BTreeMap::new(),
            drawn: BTreeMap::new(),
            held_back: BTreeMap::new(),
            demoted: BTreeSet::new(),
            levels: header.tasks.iter().map(|task| task.criticality).collect(),
            released: BTreeMap::new(),
            started: BTreeMap::new(),
            due: BTreeSet::new(),
            budgets: BTreeMap::new(),
            ghosts: BTreeMap::new(),
            open: Vec::new(),
            ended: false,
            items: Vec::new(),
        }
    }

    /// The latest instant seen.
    #[must_use]
    pub const fn clock(&self) -> Instant {
        self.clock
    }

    /// Takes in a record and gives the items that follow from it, each with its instant.
    pub fn feed(&mut self, record: &Record) -> Vec<(Instant, Item)> {
        if !self.ended {
            self.advance(record.at);
            if !self.domain().is_some_and(|domain| domain.ended)
                || matches!(record.what, What::Domain { .. })
            {
                self.take(record.what);
            }
        }
        core::mem::take(&mut self.items)
    }

    /// Ends every slice, if the recording did not.
    pub fn end(&mut self) -> Vec<(Instant, Item)> {
        self.end_slices();
        core::mem::take(&mut self.items)
    }

    fn domain(&mut self) -> Option<&mut Domain> {
        self.domains.get_mut(self.present.index())
    }

    fn home(&self, task: TaskId) -> DomainId {
        let home = self.homes.get(task.index()).copied();
        home.unwrap_or(DomainId::FIRST)
    }

    /// An item that happens now.
    fn give(&mut self, item: Item) {
        self.items.push((self.clock, item));
    }

    fn take(&mut self, what: What) {
        #[expect(clippy::wildcard_enum_match_arm, reason = "what is not drawn")]
        match what {
            What::Fact(_) if self.native => {}
            What::Fact(fact) | What::Observed(fact) => self.fact(fact),
            What::Decided { mode, .. } => {
                if let Some(domain) = self.domain() {
                    domain.decisions = true;
                }
                self.turn_to(mode);
            }
            What::Slot { slot, .. } => {
                if let Some(slot) = slot
                    && let Some(budget) = slot.budget
                {
                    self.budget(slot.job.task, budget.remaining);
                }
            }
            What::Budget { job, remaining, .. } => self.budget(job.task, remaining),
            What::Notice(event) => self.event(event),
            What::Miss { job, deadline, .. } => self.give(Item::Miss { job, deadline }),
            What::Overhead {
                cpu,
                mechanism,
                edge,
            } => self.overhead(cpu, mechanism, edge),
            What::Ghost { cpu, task, edge } => self.ghost(cpu, task, edge),
            What::Gap { cpu, length } => self.give(Item::Gap { cpu, length }),
            What::Dropped { job, why } => self.give(Item::Drop { job, why }),
            What::Lost { count } => self.give(Item::Lost { count }),
            What::Domain { domain } => self.present = domain,
            What::End { .. } => self.end_domain(),
            What::Permit { task, permit } if self.native => self.permit(task, permit),
            _ => {}
        }
    }

    /// A task is suspended, or so no more, or its begun jobs have lost their priority: under native
    /// dispatch no other record says who goes on then.
    fn permit(&mut self, task: TaskId, permit: Permit) {
        let held = match permit {
            Permit::Suspended { .. } => Some(false),
            Permit::Below { .. } => Some(true),
            Permit::Run { .. } | Permit::Demoted | Permit::Dropped { .. } | Permit::NotAdmitted => {
                None
            }
        };
        match held {
            Some(held) => self.held_back.insert(task, held),
            None => self.held_back.remove(&task),
        };
        if !permit.keeps_place() {
            let begun = self.running.values().flatten();
            let of_task = begun.filter(|job| job.task == task).copied();
            self.demoted.extend(of_task);
        }
        self.hand_over();
    }

    /// A job that used up its own level's limit goes on in the background: who it had interrupted goes on.
    fn demote(&mut self, job: JobId, level: Level) {
        let own = self.levels.get(job.task.index());
        let has_begun = self.running.values().flatten().any(|other| *other == job);
        if self.native && has_begun && own.is_some_and(|own| level >= *own) {
            self.demoted.insert(job);
            self.hand_over();
        }
    }

    /// Each CPU goes over to the job that goes on there, if that is another one now.
    fn hand_over(&mut self) {
        let cpus: Vec<(CpuId, JobId)> = self.drawn.iter().map(|(cpu, job)| (*cpu, *job)).collect();
        for (cpu, left) in cpus {
            let goes_on = self.goes_on(cpu).filter(|job| *job != left);
            if let Some(job) = goes_on {
                let why = Ending::Stopped(StopReason::Preempted);
                self.give(Item::Finish {
                    cpu,
                    job: left,
                    why,
                });
                self.resume(cpu, job);
            }
        }
    }

    fn resume(&mut self, cpu: CpuId, job: JobId) {
        self.drawn.insert(cpu, job);
        let resumed = true;
        self.give(Item::Begin { cpu, job, resumed });
    }

    /// Of the jobs begun on a CPU the one that goes on if nothing else is observed: the latest that is not
    /// suspended, or the latest that may go on below all others.
    fn goes_on(&self, cpu: CpuId) -> Option<JobId> {
        let position = |job: &&JobId| match self.held_back.get(&job.task) {
            _ if self.demoted.contains(*job) => 0,
            None => 2_u8,
            Some(true) => 1,
            Some(false) => 0,
        };
        self.running.get(&cpu)?.iter().max_by_key(position).copied()
    }

    /// The present domain ends; with the last one, the recording.
    fn end_domain(&mut self) {
        let ending = self.present;
        if let Some(domain) = self.domain() {
            domain.ended = true;
        }
        if self.domains.iter().all(|domain| domain.ended) {
            self.end_slices();
            return;
        }
        let drawn: Vec<(CpuId, JobId)> = self.drawn.iter().map(|(cpu, job)| (*cpu, *job)).collect();
        for (cpu, job) in drawn {
            if self.home(job.task) == ending {
                self.drawn.remove(&cpu);
                let why = Ending::Recording;
                self.give(Item::Finish { cpu, job, why });
            }
        }
        let homes = &self.homes;
        let home = |job: &JobId| homes.get(job.task.index()).copied().unwrap_or_default();
        for running in self.running.values_mut() {
            running.retain(|job| home(job) != ending);
        }
        let ghosts: Vec<(TaskId, CpuId)> = self
            .ghosts
            .iter()
            .map(|(task, cpu)| (*task, *cpu))
            .collect();
        for (task, cpu) in ghosts {
            if self.home(task) == ending {
                self.ghost(cpu, task, Edge::End);
            }
        }
        self.end_overheads(Some(ending));
    }

    fn end_slices(&mut self) {
        if core::mem::replace(&mut self.ended, true) {
            return;
        }
        self.running.clear();
        for (cpu, job) in core::mem::take(&mut self.drawn) {
            let why = Ending::Recording;
            self.give(Item::Finish { cpu, job, why });
        }
        for (task, cpu) in core::mem::take(&mut self.ghosts) {
            let edge = Edge::End;
            self.give(Item::Ghost { cpu, task, edge });
        }
        self.end_overheads(None);
        self.give(Item::End);
    }

    /// Ends the mechanisms of a domain, or of all.
    fn end_overheads(&mut self, of: Option<DomainId>) {
        let open = core::mem::take(&mut self.open);
        let (ending, others): (Vec<_>, Vec<_>) = open
            .into_iter()
            .partition(|(_, _, domain)| of.is_none_or(|of| of == *domain));
        self.open = others;
        for (cpu, mechanism, _) in ending.into_iter().rev() {
            let edge = Edge::End;
            self.give(Item::Overhead {
                cpu,
                mechanism,
                edge,
            });
        }
    }

    /// Moves the clock on; deadlines on the way are reached.
    fn advance(&mut self, at: Instant) {
        while let Some(&(due, job)) = self.due.first()
            && due <= at
        {
            self.due.pop_first();
            self.clock = self.clock.max(due);
            self.give(Item::Deadline { job });
        }
        self.clock = self.clock.max(at);
    }

    fn turn_to(&mut self, to: Level) {
        let present = self.present;
        let Some(domain) = self.domain() else { return };
        let from = core::mem::replace(&mut domain.mode, to);
        if from != to {
            let domain = present;
            self.give(Item::Mode { domain, from, to });
        }
    }

    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Released { job } => self.release(job),
            Fact::Started { cpu, job } => self.start(cpu, job),
            Fact::Stopped { cpu, job, why } => {
                self.leave(cpu, job, Ending::Stopped(why));
            }
            Fact::Completed { cpu, job } => self.leave(cpu, job, Ending::Completed),
            Fact::Charged { .. }
            | Fact::Timer
            | Fact::Idle { .. }
            | Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => {}
        }
    }

    fn release(&mut self, job: JobId) {
        // The same release may have been observed by a worker and reported by the manager.
        if self
            .released
            .get(&job.task)
            .is_some_and(|last| job.sequence <= *last)
        {
            return;
        }
        self.released.insert(job.task, job.sequence);
        let deadline = self
            .deadlines
            .get(job.task.index())
            .filter(|relative| !relative.is_zero())
            .map(|relative| self.clock.saturating_add(*relative));
        if let Some(deadline) = deadline
            && self.due.len() < DUE_MAX
        {
            self.due.insert((deadline, job));
        }
        self.give(Item::Release { job, deadline });
    }

    fn start(&mut self, cpu: CpuId, job: JobId) {
        let present = self.drawn.insert(cpu, job);
        if present == Some(job) {
            return;
        }
        if let Some(job) = present {
            let why = Ending::Stopped(StopReason::Preempted);
            self.give(Item::Finish { cpu, job, why });
        }
        let jobs = self.running.entry(cpu).or_default();
        jobs.retain(|other| *other != job);
        jobs.push(job);
        let resumed = self.started.insert(job.task, job.sequence) == Some(job.sequence);
        self.give(Item::Begin { cpu, job, resumed });
    }

    fn leave(&mut self, cpu: CpuId, job: JobId, why: Ending) {
        let Some(jobs) = self.running.get_mut(&cpu) else {
            return;
        };
        jobs.retain(|other| *other != job);
        self.demoted.remove(&job);
        if self.drawn.get(&cpu) != Some(&job) {
            return;
        }
        self.drawn.remove(&cpu);
        self.give(Item::Finish { cpu, job, why });
        if let Some(job) = self.goes_on(cpu) {
            self.resume(cpu, job);
        }
    }

    fn budget(&mut self, task: TaskId, remaining: Service) {
        if self.budgets.insert(task, remaining) != Some(remaining) {
            self.give(Item::Budget { task, remaining });
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::ModeChanged { to, .. } => {
                // A notice may be taken long after; where decisions say the mode, they say it better.
                if !self.domain().is_some_and(|domain| domain.decisions) {
                    self.turn_to(to);
                }
            }
            Event::Overrun { job, level, .. } => {
                self.give(Item::Overrun { job, level });
                self.demote(job, level);
            }
            Event::Dropped { job, why } => self.give(Item::Drop { job, why }),
            Event::Depleted { .. }
            | Event::Postponed { .. }
            | Event::FrameOverrun { .. }
            | Event::FramesSkipped { .. }
            | Event::Late { .. } => {}
        }
    }

    /// One that ended already does not end again.
    fn ghost(&mut self, cpu: CpuId, task: TaskId, edge: Edge) {
        let before = match edge {
            Edge::Begin => self.ghosts.insert(task, cpu),
            Edge::End => self.ghosts.remove(&task),
        };
        if (edge == Edge::Begin) == before.is_none() {
            self.give(Item::Ghost { cpu, task, edge });
        }
    }

    fn overhead(&mut self, cpu: CpuId, mechanism: Mechanism, edge: Edge) {
        match edge {
            Edge::Begin => self.open.push((cpu, mechanism, self.present)),
            Edge::End => {
                // Only the innermost span of a CPU may end; what does not is left out.
                let innermost = self.open.iter().rposition(|(other, _, _)| *other == cpu);
                let same = |position: &usize| {
                    let open = self.open.get(*position);
                    open.is_some_and(|(_, open, _)| *open == mechanism)
                };
                match innermost.filter(same) {
                    Some(position) => self.open.remove(position),
                    None => return,
                };
            }
        }
        self.give(Item::Overhead {
            cpu,
            mechanism,
            edge,
        });
    }
}

/// The domain of each task.
fn homes(header: &Header) -> Vec<DomainId> {
    let mut homes = vec![DomainId::FIRST; header.tasks.len()];
    for (domain, info) in header.domain_ids().zip(&header.domains) {
        for task in &info.tasks {
            if let Some(home) = homes.get_mut(task.index()) {
                *home = domain;
            }
        }
    }
    homes
}
