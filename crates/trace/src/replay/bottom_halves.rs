//! Did the machine keep bottom halves below what is above them? (managed runs)
//!
//! A managed world starts what the plan names, and a replay shows that every plan is right. This looks at the time in between: a job
//! of a server above that of a bottom half is released, or has what it waited for, and until the manager has the CPU, has decided and has
//! carried that out the bottom half goes on. That is an *inversion* if it lasts for longer than a tolerance, less the time
//! in which the machine held the CPU ([`What::Gap`]).
//!
//! A job is *ready* from its release, its wake-up, the end of the job before it, or its preemption on, until it starts, ends, blocks
//! or is dropped; but not while its server may have used up its budget: from the charge that leaves nothing of what the last plan
//! said to be left, until a plan says again that there is something, or until what was charged before must have come back. Each charge comes
//! back at the latest a period after the plan that named the server, which had to use then what was charged, longer by what it exceeded; so there is a budget as soon as all charges that
//! are not back are less than the capacity, and certainly when all are back. Where the list of a sporadic server may have been full, which
//! merges what comes back, that is when the last one is. So this is for servers that keep their budgets while they have nothing to do.
//!
//! Who is *above* is decided as the run goes on: a PIBS is as urgent as the most urgent of those on whose behalf its bottom half was asked for
//! since it ended last, or as the one whom its configuration names, where nobody was named, or in a raised mode, which may leave those out that were.
//!
//! A manager tells of what happened since it looked last, in no order of time; what is told of a bottom half's end before the release
//! that it delayed is found all the same, up to the next decision.
//!
//! Complexity: O(tasks above + charges within a period) for each record of a bottom half, and O(gaps) for each inversion at the end. The memory grows
//! with the jobs that wait, the gaps and the inversions.

use super::inversion::Inversion;
use crate::record::{Record, What};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use vestal_core::{
    BudgetOwner, CpuId, DeviceId, Duration, Event, Fact, Instant, JobId, Level, OnExhaustion,
    ServerId, Service, StopReason, TaskId,
};

/// A task that may go before a bottom half, on the same CPU, and its server.
#[derive(Clone, Copy, Debug)]
pub struct Above {
    /// The task.
    pub task: TaskId,
    /// Its server.
    pub server: ServerId,
    /// How urgent that is; the larger, the more.
    pub priority: u32,
    /// What it has in each mode at least; zero: what it had comes back when a plan says so, and not before.
    pub capacity: Service,
    /// When that comes back.
    pub period: Duration,
    /// How many parts of it may be on their way back at once; `u16::MAX` if any number may.
    pub replenishments: u16,
}

/// What should have been kept.
#[derive(Clone, Copy, Debug)]
pub struct Below<'a> {
    /// The bottom half.
    pub half: TaskId,
    /// Its device.
    pub device: DeviceId,
    /// How urgent it is where nobody who waits lends it more or less: as its server, or as the one whom its PIBS serves then.
    pub priority: u32,
    /// How urgent it is on behalf of each server, by their numbers: `None`, and beyond the end, on whose it does not run. Empty if its server
    /// inherits from nobody.
    pub lends: &'a [Option<u32>],
    /// Tasks that are to go before it whenever their servers are more urgent.
    pub above: &'a [Above],
    /// What is left of a budget, and is at most so much, is nothing.
    pub granularity: Service,
    /// What is at most so long does not count.
    pub tolerance: Duration,
}

/// Finds the first inversion by a bottom half in a managed recording.
///
/// # Errors
/// What `records` gives.
pub fn first_inversion<E>(
    records: impl IntoIterator<Item = Result<Record, E>>,
    below: Below<'_>,
) -> Result<Option<Inversion>, E> {
    let mut state = State::new(below);
    for record in records {
        state.take(&record?);
    }
    Ok(state.first())
}

/// How many inversions there are in a managed recording, one for each interval of a bottom half and job above it.
///
/// # Errors
/// What `records` gives.
pub fn count_inversions<E>(
    records: impl IntoIterator<Item = Result<Record, E>>,
    below: Below<'_>,
) -> Result<usize, E> {
    let mut state = State::new(below);
    for record in records {
        state.take(&record?);
    }
    Ok(state.found().count())
}

/// When a bottom half had the CPU: from, and to, if that is over.
#[derive(Clone, Copy, Debug)]
struct Ran {
    job: JobId,
    cpu: CpuId,
    from: Instant,
    to: Option<Instant>,
    /// How urgent it may have been at most.
    priority: u32,
}

/// What is known of a task above.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// Released, and not over.
    pending: BTreeSet<u64>,
    /// Since when it wants the CPU.
    ready: Option<Instant>,
    blocked: bool,
}

/// What of a budget is on its way back.
#[derive(Clone, Copy, Debug)]
struct Charge {
    /// When it is back at the latest.
    back: Instant,
    amount: Service,
}

/// The server of the running job.
#[derive(Clone, Copy, Debug)]
struct Running {
    server: ServerId,
    /// When the plan named it: what it has to use was there then.
    since: Instant,
    left: Service,
    /// Whether the job stops when nothing is left.
    ends: bool,
}

/// On whose behalf the bottom half was asked for since it ended last.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    /// The most urgent of those who were named.
    lent: Option<u32>,
    /// Since the last decision: whether it was asked for, and somebody was named.
    is_asked: bool,
    is_named: bool,
}

struct State<'a> {
    below: Below<'a>,
    above: BTreeMap<TaskId, Waiting>,
    /// What had the CPU since the last decision, and what has it.
    ran: Vec<Ran>,
    running: Option<Running>,
    used_up: BTreeSet<ServerId>,
    /// What servers of tasks above were charged and may not have back.
    charges: BTreeMap<ServerId, VecDeque<Charge>>,
    asked: Asked,
    is_raised: bool,
    suspects: Vec<Inversion>,
    gaps: Vec<(CpuId, Instant, Instant)>,
}

impl<'a> State<'a> {
    fn new(below: Below<'a>) -> Self {
        let above = below.above.iter();
        Self {
            below,
            above: above
                .map(|above| (above.task, Waiting::default()))
                .collect(),
            ran: Vec::new(),
            running: None,
            used_up: BTreeSet::new(),
            charges: BTreeMap::new(),
            asked: Asked::default(),
            is_raised: false,
            suspects: Vec::new(),
            gaps: Vec::new(),
        }
    }

    fn take(&mut self, record: &Record) {
        let at = record.at;
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "most records say nothing of the order"
        )]
        match record.what {
            What::Fact(fact) => self.fact(at, fact),
            What::Notice(Event::Dropped { job, .. }) | What::Dropped { job, .. } => {
                self.over(at, job);
            }
            What::Decided { mode, .. } => self.decided(mode),
            What::Slot { slot, .. } => {
                self.running = slot.and_then(|slot| slot.budget).and_then(|budget| {
                    let BudgetOwner::Server(server) = budget.owner else {
                        return None;
                    };
                    Some(Running {
                        server,
                        since: at,
                        left: budget.remaining,
                        ends: !matches!(budget.on_exhaustion, OnExhaustion::RaiseMode(_)),
                    })
                });
                if let Some(Running { server, left, .. }) = self.running
                    && left > self.below.granularity
                    && self.used_up.contains(&server)
                {
                    self.gives(at, server);
                    self.used_up.remove(&server);
                }
            }
            What::Gap { cpu, length } => {
                let from = at.as_nanos().saturating_sub(length.as_nanos());
                self.gaps.push((cpu, Instant::from_nanos(from), at));
            }
            _ => {}
        }
    }

    fn fact(&mut self, at: Instant, fact: Fact) {
        match fact {
            Fact::Released { job } => {
                if let Some(above) = self.above.get_mut(&job.task) {
                    above.pending.insert(job.sequence);
                    if above.pending.len() == 1 {
                        self.gets_ready(at, job.task);
                    }
                }
            }
            Fact::Woken {
                task,
                on_behalf_of: None,
            } => {
                let above = self.above.get_mut(&task);
                if above.is_some_and(|above| core::mem::take(&mut above.blocked)) {
                    self.gets_ready(at, task);
                }
            }
            Fact::Started { cpu, job } => self.starts(at, cpu, job),
            Fact::Charged { amount, .. } => self.charge(at, amount),
            Fact::Stopped { job, why, .. } => {
                self.stops(at, job);
                match why {
                    StopReason::Cancelled => self.over(at, job),
                    StopReason::Preempted => self.gets_ready(at, job.task),
                    StopReason::Blocked => {
                        if let Some(above) = self.above.get_mut(&job.task) {
                            above.blocked = true;
                        }
                    }
                }
            }
            Fact::Completed { job, .. } => {
                self.stops(at, job);
                self.over(at, job);
            }
            Fact::Woken {
                task,
                on_behalf_of: Some(server),
            } => self.lend(task, server),
            Fact::Interrupt { device, .. } => {
                self.asked.is_asked |= device == self.below.device;
            }
            Fact::Timer
            | Fact::Idle { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => {}
        }
    }

    fn decided(&mut self, mode: Level) {
        self.ran.retain(|ran| ran.to.is_none());
        self.is_raised = mode > Level::LOWEST;
        // Nobody was named when it was: it may run on behalf of whom its configuration names, also when somebody is named later.
        let asked = &mut self.asked;
        if core::mem::take(&mut asked.is_asked) && !asked.is_named {
            asked.lent = asked.lent.max(Some(self.below.priority));
        }
        asked.is_named = false;
        self.is_as_urgent();
    }

    /// The bottom half is asked for on behalf of a server, if it is that of this task.
    fn lend(&mut self, task: TaskId, server: ServerId) {
        if task != self.below.half || self.below.lends.is_empty() {
            return;
        }
        // One that it cannot run for is as good as none.
        let lends = self.below.lends.get(server.index()).copied().flatten();
        let lends = lends.unwrap_or(self.below.priority);
        self.asked.lent = self.asked.lent.max(Some(lends));
        self.asked.is_named = true;
        self.is_as_urgent();
    }

    /// How urgent the bottom half may be at most.
    fn priority(&self) -> u32 {
        let own = self.below.priority;
        match self.asked.lent {
            Some(lent) if self.is_raised => lent.max(own),
            Some(lent) => lent,
            None => own,
        }
    }

    /// What has the CPU may be more urgent than it was.
    fn is_as_urgent(&mut self) {
        let priority = self.priority();
        for ran in self.ran.iter_mut().filter(|ran| ran.to.is_none()) {
            ran.priority = ran.priority.max(priority);
        }
    }

    /// A job of a task above wants the CPU, if its server has a budget.
    fn gets_ready(&mut self, at: Instant, task: TaskId) {
        if let Some(above) = self.above.get_mut(&task) {
            above.ready = Some(at);
        }
        // What was told of bottom halves before that.
        let over = self.ran.clone();
        for ran in over {
            if let Some(to) = ran.to {
                self.compare(&ran, task, to);
            }
        }
    }

    /// A plan says that there is something again of what was used up: not before it may have been back.
    fn gives(&mut self, at: Instant, server: ServerId) {
        let own = self.below.above.iter().filter(|it| it.server == server);
        for entry in own {
            let since = self.back_at(entry).map_or(at, |back| back.min(at));
            if let Some(above) = self.above.get_mut(&entry.task) {
                above.ready = above.ready.map(|ready| ready.max(since));
            }
        }
    }

    /// When a server that has used up what it had surely has something again; `None`: nobody knows before a plan says so.
    fn back_at(&self, entry: &Above) -> Option<Instant> {
        if entry.capacity <= self.below.granularity {
            return None;
        }
        let charges = self.charges.get(&entry.server)?;
        let all = charges.iter().map(|charge| charge.back).max()?;
        if charges.len() >= usize::from(entry.replenishments) {
            return Some(all);
        }
        // What is left of a part and cannot be enforced is gone with it, and a part that comes back may be as small.
        let mut away = charges.iter().fold(Service::ZERO, |sum, charge| {
            let amount = charge.amount.saturating_add(self.below.granularity);
            sum.saturating_add(amount)
        });
        let mut since = Instant::EPOCH;
        for charge in charges {
            if entry.capacity.saturating_sub(away) > self.below.granularity {
                return Some(since);
            }
            away = away.saturating_sub(charge.amount);
            since = since.max(charge.back);
        }
        Some(since)
    }

    /// A job of a task above does not want the CPU any more.
    fn wants_nothing(&mut self, at: Instant, task: TaskId) {
        let all = self.ran.clone();
        for ran in all.iter().filter(|ran| ran.to.is_none()) {
            self.compare(ran, task, at);
        }
        if let Some(above) = self.above.get_mut(&task) {
            above.ready = None;
        }
    }

    fn starts(&mut self, from: Instant, cpu: CpuId, job: JobId) {
        if self.below.half == job.task {
            let priority = self.priority();
            self.ran.push(Ran {
                job,
                cpu,
                from,
                to: None,
                priority,
            });
        }
        self.wants_nothing(from, job.task);
    }

    /// A bottom half loses the CPU, if the job is one: it is compared with all that wanted it meanwhile.
    fn stops(&mut self, at: Instant, job: JobId) {
        let mut running = self.ran.iter_mut();
        let Some(ran) = running.find(|ran| ran.job == job && ran.to.is_none()) else {
            return;
        };
        ran.to = Some(at);
        let ran = *ran;
        let tasks: Vec<TaskId> = self.above.keys().copied().collect();
        for task in tasks {
            self.compare(&ran, task, at);
        }
    }

    /// A bottom half had the CPU until `to`; did a job of `task` want it meanwhile?
    fn compare(&mut self, ran: &Ran, task: TaskId, to: Instant) {
        let mut entries = self.below.above.iter();
        let entry = entries.find(|above| above.task == task && above.priority > ran.priority);
        let (Some(entry), Some(above)) = (entry, self.above.get(&task)) else {
            return;
        };
        let (Some(ready), Some(&sequence)) = (above.ready, above.pending.first()) else {
            return;
        };
        let mut from = ready.max(ran.from);
        if self.used_up.contains(&entry.server) {
            let Some(back) = self.back_at(entry) else {
                return;
            };
            from = from.max(back);
        }
        if to.saturating_since(from) > self.below.tolerance {
            self.suspects.push(Inversion {
                cpu: ran.cpu,
                from,
                to,
                running: ran.job,
                waiting: JobId { task, sequence },
            });
        }
    }

    /// The running job was charged.
    fn charge(&mut self, at: Instant, amount: Service) {
        let Some(running) = &mut self.running else {
            return;
        };
        let (server, since) = (running.server, running.since);
        let beyond = amount.saturating_sub(running.left);
        running.left = running.left.saturating_sub(amount);
        if running.ends && running.left <= self.below.granularity {
            self.used_up.insert(server);
        }
        let mut entries = self.below.above.iter();
        if let Some(entry) = entries.find(|above| above.server == server) {
            self.goes_back((since, at), entry, (amount, beyond));
        }
    }

    /// What was charged to a server comes back; what it was exceeded by delays the rest.
    fn goes_back(
        &mut self,
        (since, at): (Instant, Instant),
        entry: &Above,
        (amount, beyond): (Service, Service),
    ) {
        let period = entry.period.as_nanos();
        let capacity = entry.capacity.as_nanos().max(1);
        let periods = (beyond.as_nanos() / capacity).saturating_add(1);
        let after = period.saturating_mul(periods);
        let after = after.saturating_add(beyond.as_nanos());
        let charges = self.charges.entry(entry.server).or_default();
        while charges.front().is_some_and(|charge| charge.back <= at) {
            charges.pop_front();
        }
        charges.push_back(Charge {
            back: since.saturating_add(Duration::from_nanos(after)),
            amount,
        });
    }

    /// A job is complete, or dropped.
    fn over(&mut self, at: Instant, job: JobId) {
        if job.task == self.below.half {
            self.asked = Asked::default();
        }
        let above = self.above.get_mut(&job.task);
        let Some(above) = above.filter(|above| above.pending.contains(&job.sequence)) else {
            return;
        };
        if above.pending.first() != Some(&job.sequence) {
            above.pending.remove(&job.sequence);
            return;
        }
        self.wants_nothing(at, job.task);
        if let Some(above) = self.above.get_mut(&job.task) {
            above.pending.remove(&job.sequence);
            above.blocked = false;
            if !above.pending.is_empty() {
                self.gets_ready(at, job.task);
            }
        }
    }

    /// Those that the machine does not explain.
    fn found(&self) -> impl Iterator<Item = &Inversion> {
        self.suspects.iter().filter(|suspect| {
            let taken = self.gaps.iter().filter(|(cpu, ..)| *cpu == suspect.cpu);
            let taken = taken.map(|(_, from, to)| {
                let (from, to) = ((*from).max(suspect.from), (*to).min(suspect.to));
                to.saturating_since(from)
            });
            let excused = taken.fold(self.below.tolerance, Duration::saturating_add);
            suspect.to.saturating_since(suspect.from) > excused
        })
    }

    fn first(self) -> Option<Inversion> {
        let first = self.found().min_by_key(|inversion| inversion.from);
        first.copied()
    }
}

#[cfg(test)]
#[path = "bottom_halves_tests.rs"]
mod tests;
