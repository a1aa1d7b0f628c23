//! What is guaranteed to jobs in servers whose mode rises by itself ([`Modes::Adaptive`]).
//!
//! A sporadic server interferes, and gets the CPU, like a periodic task (C, T) (Stanovich, Baker, Wang and González Harbour,
//! RTAS 2010); on that rest the bounds of Missimer, Missimer and West (2016, equations 10, 11 and 14). A job is guaranteed
//! its deadline if
//!
//! - its task has a sporadic server of its own, with a capacity of C_i(l) at least in each mode l up to its level, and no
//!   longer a period than the task; no bottom half runs there;
//! - no job of the task was pending at its release;
//! - its server was *clean* then: nothing that it did before bears on what it may do;
//! - it has executed no more than C_i(z_i), and has not blocked, or as below;
//! - the mode was not above z_i between its release and the deadline.
//!
//! What happened at the deadline or later is no excuse, but for what the job itself does there ([`covers`]): one that blocks,
//! or stands at C_i(z_i), may have had no more to execute. A server is clean at first, and
//!
//! | loses that | when |
//! |---|---|
//! | any | its job blocks, or executes more than C(z): its budget is in parts then, or lent from the next job |
//! | one that goes on with less above its level | the mode rises above it: it may have used more than it has now |
//!
//! and is clean again when a job is released, in no mode above its level, and it has not executed for a period, which brings
//! back all of its budget. A server that has no budget above its level stays as it was: what it had used before it lost its
//! jobs comes back when it would have anyway.
//!
//! *Jobs that block.* A bound R_i of its server, (10) in mode 0 and else the largest of (10), (11) and (14), is one on each *stretch* of
//! a job in it: from its release or from a wake-up to its next wait or its end. Take the last instant t before the stretch
//! begins at which nothing more urgent was pending, no server and no PIBS on behalf of one, or of this one: from there to the stretch only
//! such things execute, so that what the job had executed is not in that window, and the stretch ends R_i after t at the
//! latest. Its server has the rest of the capacity at hand: with a clean server only what the job itself used is missing.
//! Unless that is nothing, and be it that the job has nothing more to execute: it needs the CPU to say so; or the list is full, and a
//! part is postponed. How long the job waits in between no bound of its server says. So one that was woken
//! last at w is guaranteed its deadline d if w + R_i <= d, and one that waits at d, or where R_i is not known
//! ([`super::Guarantee::within`]), is not: that a test accepts says R_i <= D_i only.
//!
//! Instants decide, not the order in which a world reports what happened at one of them: a release comes before the
//! change of mode of the same decision. A job that is released when the mode returns was never in a raised mode, and begins
//! with what its server has then; one that is released when it rises was.

#[cfg(test)]
#[path = "served_tests.rs"]
mod tests;

use super::bursts::{BurstCounts, Bursts};
use crate::observer::{JobState, Segment};
use vestal_core::guarantee::covers;
use vestal_core::{
    ByLevel, DeviceId, Duration, HierarchyConfiguration, Instant, Level, Modes, ServedTask,
    ServerId, ServerKind, Service, Task, TaskId,
};

/// Why a job in a server was not guaranteed its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Excuse {
    /// Its task has no sporadic server of its own that is large enough.
    NoServer,
    /// Another job of its task was pending when it was released.
    Backlog,
    /// Its server was not clean at its release.
    Unclean,
    /// The mode was above its level before its deadline.
    Mode,
    /// By its deadline it had executed all of C(z) and was not done.
    UsedUp,
    /// It waited for a device: still at its deadline, or for too long for what its server guarantees from the wake-up on.
    Waits,
    /// It waited for a device, and nothing of its server's budget was sure to be at hand afterwards: it had used up the capacity of
    /// the mode, or the list of replenishments had no room for what it had used.
    NoBudget,
}

/// A task that has a server of its own.
#[derive(Clone, Debug)]
struct Owner {
    task: Task,
    server: ServerId,
    /// Of its server.
    period: Duration,
    /// How long a stretch of a job takes at most, if that is known.
    bound: Option<Duration>,
    capacity: ByLevel<Service>,
    clean: bool,
    /// When its server executed last.
    last_end: Option<Instant>,
    /// How many of its jobs are pending.
    pending: u64,
    /// The last one that was released when none was.
    job: Option<Job>,
}

/// What is known of a job that found its task without another one.
#[derive(Clone, Copy, Debug)]
struct Job {
    sequence: u64,
    released: Instant,
    /// Its server had not executed for a period then.
    rested: bool,
    /// Its server was clean at its release.
    clean: bool,
    /// Since when the mode was above its level.
    disturbed: Option<Instant>,
    /// What became of its waits up to its deadline.
    wait: Wait,
    lacks_budget: bool,
    /// When it had executed all of C(z) and was not done.
    used_up: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Never,
    Waits,
    Woken(Instant),
}

impl Owner {
    fn of(configuration: &HierarchyConfiguration<'_>, index: usize) -> Option<Self> {
        let entry = configuration.tasks.get(index)?;
        let server = configuration.servers.get(entry.server.index())?;
        let ServerKind::Sporadic {
            period, capacity, ..
        } = server.kind
        else {
            return None;
        };
        let shares = |other: &&ServedTask| other.server == entry.server;
        let is_alone = configuration.tasks.iter().filter(shares).count() == 1;
        let mut bottom_halves = configuration
            .devices
            .iter()
            .map(|it| it.bottom_half.index());
        let is_bottom_half = bottom_halves.any(|it| it == index);
        let task = entry.task;
        let mut levels = task.criticality.up_to_self();
        let fits = levels.all(|level| task.wcet.at(level) <= capacity.at(level));
        (is_alone && !is_bottom_half && fits && period <= task.period).then_some(Self {
            task,
            server: entry.server,
            period,
            bound: None,
            capacity,
            clean: true,
            last_end: None,
            pending: 0,
            job: None,
        })
    }

    fn released(&mut self, at: Instant, job: &JobState, mode: Level) {
        self.pending += 1;
        if self.pending > 1 {
            return;
        }
        // Nobody else executes in the server: all that it has executed is known.
        let whole = |last: Instant| last.saturating_add(self.period) <= at;
        let rested = self.last_end.is_none_or(whole);
        let is_above = mode > self.task.criticality;
        self.clean |= rested && !is_above;
        self.job = Some(Job {
            sequence: job.id.sequence,
            released: at,
            rested,
            clean: self.clean,
            disturbed: is_above.then_some(at),
            wait: Wait::Never,
            lacks_budget: false,
            used_up: None,
        });
    }

    fn executed(&mut self, segment: Segment, job: &JobState) {
        self.last_end = Some(segment.end);
        let own = self.task.own_wcet();
        self.clean &= job.executed <= own;
        let stands = job.executed == own && job.demand > own;
        let known = self.job_mut(job);
        if let Some(known) = known
            && (stands || job.executed > own)
        {
            let beyond = job.executed.saturating_sub(own).time_on_dedicated_cpu();
            let at = segment.end.saturating_sub(beyond);
            known.used_up.get_or_insert(at);
        }
    }

    fn blocked(&mut self, at: Instant, job: &JobState, mode: Level) {
        self.clean = false;
        let has_rest = job.executed < self.capacity.at(mode);
        if let Some(known) = self.job_mut(job)
            && at <= job.deadline
        {
            known.wait = Wait::Waits;
            known.lacks_budget |= !has_rest;
        }
    }

    fn woken(&mut self, at: Instant, job: &JobState) {
        if let Some(known) = self.job_mut(job)
            && at <= job.deadline
        {
            known.wait = Wait::Woken(at);
        }
    }

    fn postponed(&mut self) {
        if let Some(known) = &mut self.job {
            known.lacks_budget = true;
        }
    }

    fn mode_changed(&mut self, at: Instant, from: Level, to: Level) {
        let own = self.task.criticality;
        let job = self.job.as_mut();
        if to > from && to > own {
            self.clean &= self.capacity.at(to).is_zero();
            if let Some(job) = job {
                job.disturbed.get_or_insert(at);
            }
        } else if to <= own
            && from > own
            && let Some(job) = job.filter(|job| job.released == at)
        {
            self.clean |= job.rested;
            job.clean = self.clean;
            job.disturbed = job.disturbed.filter(|since| *since < at);
        }
    }

    fn job_mut(&mut self, job: &JobState) -> Option<&mut Job> {
        let known = self.job.as_mut();
        known.filter(|known| known.sequence == job.id.sequence)
    }

    fn excuse(&self, job: &JobState) -> Option<Excuse> {
        let Some(known) = self.job.filter(|known| known.sequence == job.id.sequence) else {
            return Some(Excuse::Backlog);
        };
        let stretch_ends = |woken: Instant| Some(woken.saturating_add(self.bound?));
        let in_time = match known.wait {
            Wait::Never => true,
            Wait::Waits => false,
            Wait::Woken(at) => stretch_ends(at).is_some_and(|end| end <= job.deadline),
        };
        if !known.clean {
            Some(Excuse::Unclean)
        } else if !covers(job.deadline, known.disturbed, None) {
            Some(Excuse::Mode)
        } else if !covers(job.deadline, None, known.used_up) {
            Some(Excuse::UsedUp)
        } else if !in_time {
            Some(Excuse::Waits)
        } else {
            let has_waited = known.wait != Wait::Never;
            (has_waited && known.lacks_budget).then_some(Excuse::NoBudget)
        }
    }
}

/// Follows the tasks in servers.
#[derive(Clone, Debug)]
pub(super) struct Served {
    /// By task; `None`: nothing is ever guaranteed to it.
    owners: Vec<Option<Owner>>,
    bursts: Bursts,
    mode: Level,
}

impl Served {
    /// `None` if nothing is guaranteed to anybody: a mode that rises on request alone keeps what no analysis knows of.
    pub(super) fn of(configuration: &HierarchyConfiguration<'_>) -> Option<Self> {
        match configuration.modes {
            Modes::Requested => None,
            Modes::Adaptive { .. } => {
                let tasks = 0..configuration.tasks.len();
                Some(Self {
                    owners: tasks.map(|task| Owner::of(configuration, task)).collect(),
                    bursts: Bursts::of(configuration),
                    mode: Level::LOWEST,
                })
            }
        }
    }

    fn owner(&mut self, task: TaskId) -> Option<&mut Owner> {
        self.owners.get_mut(task.index())?.as_mut()
    }

    /// Bounds by server and mode.
    pub(super) fn within(&mut self, bounds: &[Vec<Option<Duration>>]) {
        for owner in self.owners.iter_mut().flatten() {
            let found = bounds.get(owner.server.index());
            let found = found.map_or(&[][..], Vec::as_slice);
            owner.bound = match owner.task.criticality {
                Level::LOWEST => found.first().copied().flatten(),
                _ => found
                    .iter()
                    .copied()
                    .collect::<Option<Vec<_>>>()
                    .and_then(|all| all.into_iter().max()),
            };
        }
        self.bursts.within(bounds);
    }

    pub(super) const fn bursts(&self) -> BurstCounts {
        self.bursts.counts()
    }

    /// How many tasks, and how many PIBS, can be guaranteed anything.
    pub(super) fn judged(&self) -> (usize, usize) {
        (self.owners.iter().flatten().count(), self.bursts.judged())
    }

    pub(super) fn excuse(&self, job: &JobState) -> Option<Excuse> {
        match self.owners.get(job.id.task.index()) {
            Some(Some(owner)) => owner.excuse(job),
            Some(None) | None => Some(Excuse::NoServer),
        }
    }

    pub(super) fn released(&mut self, at: Instant, job: &JobState) {
        let mode = self.mode;
        if let Some(owner) = self.owner(job.id.task) {
            owner.released(at, job, mode);
        }
    }

    pub(super) fn executed(&mut self, segment: Segment, job: &JobState) {
        self.bursts.executed(segment, job);
        if let Some(owner) = self.owner(job.id.task) {
            owner.executed(segment, job);
        }
    }

    pub(super) fn ended(&mut self, job: &JobState) {
        if let Some(owner) = self.owner(job.id.task) {
            owner.pending = owner.pending.saturating_sub(1);
        }
    }

    pub(super) fn blocked(&mut self, at: Instant, job: &JobState, device: DeviceId) {
        self.bursts.blocked(at, job.id.task, device);
        let mode = self.mode;
        if let Some(owner) = self.owner(job.id.task) {
            owner.blocked(at, job, mode);
        }
    }

    pub(super) fn woken(&mut self, at: Instant, job: &JobState) {
        if let Some(owner) = self.owner(job.id.task) {
            owner.woken(at, job);
        }
    }

    pub(super) fn postponed(&mut self, server: ServerId) {
        let owners = self.owners.iter_mut().flatten();
        for owner in owners.filter(|owner| owner.server == server) {
            owner.postponed();
        }
    }

    pub(super) fn interrupted(&mut self, at: Instant, device: DeviceId, accepted: u64) {
        self.bursts.interrupted(at, device, accepted);
    }

    pub(super) fn handled(&mut self, at: Instant, device: DeviceId) {
        self.bursts.served(at, device);
    }

    pub(super) fn finished(&mut self, end: Instant) {
        self.bursts.finished(end);
    }

    pub(super) fn mode_changed(&mut self, at: Instant, from: Level, to: Level) {
        self.mode = to;
        self.bursts.mode_changed(at, from, to);
        for owner in self.owners.iter_mut().flatten() {
            owner.mode_changed(at, from, to);
        }
    }
}
