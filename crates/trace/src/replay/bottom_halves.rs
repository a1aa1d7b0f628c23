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
//! Who is *above* is decided as the run goes on, by on whose behalf a PIBS runs (`on_behalf`); of what a bottom half executed before that changed
//! it changes nothing.
//!
//! A manager tells of what happened since it looked last, in no order of time; what is told of a bottom half's end before the release
//! that it delayed is found all the same, up to the next decision.
//!
//! Complexity: O(tasks above + charges within a period) for each record of a bottom half, and O(gaps) for each inversion at the end. The memory grows
//! with the jobs that wait, the gaps and the inversions.

use super::inversion::Inversion;
use super::on_behalf::OnBehalf;
use crate::record::{Record, What};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use vestal_core::{
    Budget, BudgetOwner, CpuId, DeviceId, Duration, Event, Fact, Instant, JobId, Level,
    OnExhaustion, ServerId, Service, Slot, StopReason, TaskId,
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
    /// Its server.
    pub server: ServerId,
    /// Whether that serves other tasks as well.
    pub shares: bool,
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

/// When a bottom half had the CPU, until `to` if that is over.
#[derive(Clone, Debug)]
struct Ran {
    job: JobId,
    cpu: CpuId,
    to: Option<Instant>,
    /// How urgent it may have been at most, from when on; it began with the first.
    steps: Vec<(Instant, u32)>,
}

impl Ran {
    /// It may be more or less urgent from now on.
    fn step(&mut self, at: Instant, priority: u32) {
        let last = self.steps.last().copied();
        if last.is_none_or(|(_, last)| last != priority) {
            self.steps
                .push((last.map_or(at, |(last, _)| last.max(at)), priority));
        }
    }

    /// From and to of each part, up to `to`, in which it was less urgent than so much.
    fn below(&self, priority: u32, to: Instant) -> Vec<(Instant, Instant)> {
        let ends = self.steps.iter().skip(1).map(|&(at, _)| at).chain([to]);
        let mut parts: Vec<(Instant, Instant)> = Vec::new();
        for (&(from, of), end) in self.steps.iter().zip(ends) {
            match parts.last_mut() {
                _ if of >= priority => {}
                Some((_, last)) if *last == from => *last = end,
                Some(_) | None => parts.push((from, end)),
            }
        }
        parts
    }
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
    /// When a plan named the server for it first: what is charged by that one and those that go on with it is one part of a budget.
    since: Instant,
    /// When it is back at the latest.
    back: Instant,
    amount: Service,
}

/// The server of the running job.
#[derive(Clone, Copy, Debug)]
struct Running {
    server: ServerId,
    /// When a plan named it first for this: what it has to use was there then.
    since: Instant,
    left: Service,
    /// Whether the job stops when nothing is left.
    ends: bool,
}

struct State<'a> {
    below: Below<'a>,
    above: BTreeMap<TaskId, Waiting>,
    /// What had the CPU since the last decision, and what has it.
    ran: Vec<Ran>,
    running: Option<Running>,
    used_up: BTreeSet<ServerId>,
    /// The one that has nothing left unless the mode rises, which the next decision says.
    may_be_used_up: Option<ServerId>,
    /// What servers of tasks above were charged and may not have back.
    charges: BTreeMap<ServerId, VecDeque<Charge>>,
    on_behalf: OnBehalf<'a>,
    mode: Level,
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
            may_be_used_up: None,
            charges: BTreeMap::new(),
            on_behalf: OnBehalf::new(below),
            mode: Level::LOWEST,
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
            What::Decided { mode, .. } => self.decided(at, mode),
            What::Slot { slot, .. } => self.planned(at, slot),
            What::Gap { cpu, length } => {
                let from = at.as_nanos().saturating_sub(length.as_nanos());
                self.gaps.push((cpu, Instant::from_nanos(from), at));
            }
            _ => {}
        }
    }

    /// A plan names a job, or none.
    fn planned(&mut self, at: Instant, slot: Option<Slot>) {
        let of_server = |budget: Budget| match budget.owner {
            BudgetOwner::Server(server) => Some((server, budget)),
            BudgetOwner::Job | BudgetOwner::Task(_) => None,
        };
        let named = slot.and_then(|slot| of_server(slot.budget?));
        let before = self.running;
        self.running = named.map(|(server, budget)| {
            // What is left of what the plan before named: one use of one part of a budget.
            let goes_on = |old: &Running| old.server == server && old.left == budget.remaining;
            Running {
                server,
                since: before.filter(goes_on).map_or(at, |old| old.since),
                left: budget.remaining,
                ends: !matches!(budget.on_exhaustion, OnExhaustion::RaiseMode(_)),
            }
        });
        if slot.is_some_and(|slot| slot.job.task == self.below.half) {
            self.on_behalf.begins();
            self.is_as_urgent(at);
        }
        if let Some(Running { server, left, .. }) = self.running
            && left > self.below.granularity
            && self.used_up.contains(&server)
        {
            self.gives(at, server);
            self.used_up.remove(&server);
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
                self.leaves_no_more();
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
                self.leaves_no_more();
                self.stops(at, job);
                self.over(at, job);
            }
            Fact::Woken {
                task,
                on_behalf_of: Some(server),
            } if task == self.below.half => {
                self.on_behalf.name(server);
                // Else it counts from the next decision on.
                if self.below.shares {
                    self.is_as_urgent(at);
                }
            }
            Fact::Interrupt { device, count } if device == self.below.device => {
                self.on_behalf.interrupt(count);
            }
            Fact::Timer
            | Fact::Idle { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::Woken { .. }
            | Fact::Interrupt { .. }
            | Fact::ModeRequested { .. } => {}
        }
    }

    fn decided(&mut self, at: Instant, mode: Level) {
        self.ran.retain(|ran| ran.to.is_none());
        self.on_behalf.decided(mode);
        self.is_as_urgent(at);
        // What is left and cannot be enforced raises the mode, or it is gone.
        let emptied = self.may_be_used_up.take();
        self.used_up.extend(emptied.filter(|_| mode <= self.mode));
        self.mode = mode;
    }

    /// What has the CPU is as urgent from now on.
    fn is_as_urgent(&mut self, at: Instant) {
        let priority = self.on_behalf.priority();
        for ran in self.ran.iter_mut().filter(|ran| ran.to.is_none()) {
            ran.step(at, priority);
        }
    }

    /// The job that has the CPU loses it.
    fn leaves_no_more(&mut self) {
        let running = self.running.filter(|running| !running.ends);
        let empty = running.filter(|running| running.left <= self.below.granularity);
        self.may_be_used_up = self.may_be_used_up.or(empty.map(|running| running.server));
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
            self.on_behalf.begins();
            self.ran.push(Ran {
                job,
                cpu,
                to: None,
                steps: [(from, self.on_behalf.priority())].to_vec(),
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
        let ran = ran.clone();
        let tasks: Vec<TaskId> = self.above.keys().copied().collect();
        for task in tasks {
            self.compare(&ran, task, at);
        }
    }

    /// A bottom half had the CPU until `to`; did a job of `task` want it meanwhile?
    fn compare(&mut self, ran: &Ran, task: TaskId, to: Instant) {
        let mut entries = self.below.above.iter();
        let entry = entries.find(|above| above.task == task);
        let (Some(entry), Some(above)) = (entry, self.above.get(&task)) else {
            return;
        };
        let (Some(mut ready), Some(&sequence)) = (above.ready, above.pending.first()) else {
            return;
        };
        if self.used_up.contains(&entry.server) {
            let Some(back) = self.back_at(entry) else {
                return;
            };
            ready = ready.max(back);
        }
        for (from, to) in ran.below(entry.priority, to) {
            let from = ready.max(from);
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
    }

    /// The running job was charged.
    fn charge(&mut self, at: Instant, amount: Service) {
        let Some(running) = &mut self.running else {
            return;
        };
        let (server, since) = (running.server, running.since);
        let beyond = amount.saturating_sub(running.left);
        running.left = running.left.saturating_sub(amount);
        self.on_behalf.has_left(server, running.left);
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
        let back = since.saturating_add(Duration::from_nanos(after));
        match charges.back_mut() {
            Some(last) if last.since == since => {
                last.amount = last.amount.saturating_add(amount);
                last.back = last.back.max(back);
            }
            Some(_) | None => charges.push_back(Charge {
                since,
                back,
                amount,
            }),
        }
    }

    /// A job is complete, or dropped.
    fn over(&mut self, at: Instant, job: JobId) {
        if job.task == self.below.half {
            self.on_behalf.over();
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
