//! Which deadlines a policy had guaranteed to keep: the world's judgement over a miss.
//!
//! Vestal's guarantee (RTSS 2007) for a job of task i with criticality z_i: it meets its deadline in
//! every run in which no job of any task j executes for more than C_j(z_i). Schedulability tests
//! prove that, and this module says after the fact whether a run kept the condition. It measures
//! what every job really executed; from the scheduler it takes only which jobs it demoted or dropped.
//!
//! *Prefixes.* Whether a job is complete at its deadline d depends only on what happened before d.
//! If up to d no job has *exceeded* C_j(l), there is a run that is equal up to d and keeps the
//! assumption of level l: the one in which jobs that stand exactly at C_j(l) complete there. So a
//! miss at d breaks the guarantee of level l unless C_j(l) was exceeded strictly before d.
//!
//! *Busy periods.* At an instant at which no admitted job is pending, apart from those released just
//! then, everything before is forgotten by a work-conserving scheduler: what follows
//! is a run from a fresh start. So a crossing excuses misses only until the next such instant. Jobs
//! in the background do not count: they run below every admitted job.
//!
//! *Enforcement.* A task j with z_j <= l cannot void the guarantee of level l: its jobs leave the
//! admitted ones when they have executed C_j(z_j) <= C_j(l). Where nothing stops them
//! ([`Exhaustion::Continue`]) executing beyond C_j(z_j) voids the guarantee of every level. A job that
//! used up its own limit by its deadline was guaranteed nothing.
//!
//! *Standing jobs.* Whether a job that stands at C_j(l) is complete may make a difference before it goes
//! on; from then on the prefix above is no longer the same, and the crossing is that instant. Under
//! adaptive enforcement the job raises the mode there and then. Under zero slack it suspends a task
//! whom a complete one would not as soon as it is critical, or late: at its zero-slack instant if it
//! still stands there, at once if that has passed. A job that stands at its own level's limit is demoted
//! and suspends no task; nor does one, from its deadline on, that is dropped there.
//!
//! *Dropped jobs.* A job that was dropped before its deadline, because the mode rose or its limit
//! was used up, is no miss: the policy said beforehand that it would not be completed. A job that
//! was dropped because too many jobs of its task waited is a miss, and a consequence of the misses
//! before it, so that it is not counted as a broken guarantee once more.
//!
//! *Degraded budgets.* Under adaptive enforcement a task with one goes on in modes above its level. A job of it that needs no
//! more than that budget, nor than C_i(z_i), was guaranteed its deadline in every mode: it runs in each as if it were in
//! one of its own levels. Of one that needs more only the guarantee of its level is known here.
//!
//! *Servers* have rules of their own, in `served`, and so have bursts of PIBS, in `bursts`, and the levels of MC², in `levelled`.

mod bursts;
mod levelled;
mod served;
#[cfg(test)]
mod tests;

pub use bursts::BurstCounts;
pub use served::Excuse;

use crate::observer::{JobState, Observer, Segment};
use levelled::Levelled;
use served::Served;
use vestal_core::model::LEVELS_MAX;
use vestal_core::{
    AtLimit, Configuration, CpuId, DeviceId, DropReason, Duration, Enforcement, Exhaustion,
    HierarchyConfiguration, Instant, JobId, Level, LevelledConfiguration, OnMiss, ServerId,
    Service, Task, guarantee,
};

/// The level whose assumption covers runs of any mode.
#[expect(clippy::cast_possible_truncation, reason = "levels are few")]
const EVERY_MODE: Level = Level(LEVELS_MAX as u8 - 1);

/// How a job left the world, or lost what it had been guaranteed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It finished all its work.
    Completed,
    /// It used up its last limit and is in the background from now on. Judged at once if it is late
    /// already, because the guarantee may have to be looked up before the next idle instant.
    Demoted,
    /// It was dropped.
    Dropped(DropReason),
    /// It was still pending when the run ended.
    Unfinished,
}

/// What became of a job's deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was complete at its deadline.
    Met,
    /// It was dropped before its deadline.
    Dropped,
    /// It was incomplete at its deadline.
    Missed {
        /// The policy had guaranteed that this would not happen.
        guaranteed: bool,
    },
}

/// Follows a run and knows at each instant which levels' assumptions still hold.
///
/// O(levels) per segment, constant memory.
#[derive(Clone, Debug)]
pub struct Guarantee {
    tasks: Vec<Task>,
    /// By task, C_i(0). Every value of every level is at least that: a job below it has broken no
    /// assumption yet.
    lowest: Vec<Service>,
    /// Some task has a limit of nothing.
    some_have_nothing: bool,
    at_limit: AtLimit,
    exhaustion: Exhaustion,
    suspends: Vec<Suspends>,
    /// By level, the first instant since the last idle one at which its assumption was broken. It may be
    /// still to come: that a job will be critical is known as soon as it stands at its limit.
    crossings: [Option<Instant>; LEVELS_MAX],
    /// Tasks in servers, and none of the above.
    served: Option<Box<Served>>,
    /// Tasks of the levels of MC², and none of the above.
    levelled: Option<Box<Levelled>>,
}

impl Guarantee {
    /// The guarantee of a policy with this enforcement, provided that its test accepts the tasks. Zero-slack
    /// instants are the deadlines; [`Self::of`] knows of others.
    #[must_use]
    pub fn new(tasks: &[Task], enforcement: Enforcement, exhaustion: Exhaustion) -> Self {
        Self {
            at_limit: enforcement.at_limit(),
            exhaustion,
            ..Self::without_limits(tasks)
        }
    }

    /// The same of tasks that nothing stops: who executes more than its own C takes every level's guarantee back.
    #[must_use]
    pub fn without_limits(tasks: &[Task]) -> Self {
        Self {
            tasks: tasks.to_vec(),
            lowest: tasks.iter().map(|task| task.wcet.at(Level(0))).collect(),
            some_have_nothing: tasks.iter().any(|task| task.wcet.at(Level(0)).is_zero()),
            suspends: tasks
                .iter()
                .map(|task| Suspends {
                    after: task.deadline,
                    on_miss: OnMiss::Continue,
                })
                .collect(),
            ..Self::none()
        }
    }

    /// The guarantee of what is configured so.
    #[must_use]
    pub fn of(configuration: &Configuration<'_>) -> Self {
        let entries = configuration.tasks.iter();
        let tasks: Vec<Task> = entries.clone().map(|entry| entry.task).collect();
        let suspends = entries.map(|entry| Suspends {
            after: entry.critical_after(),
            on_miss: entry.on_miss,
        });
        Self {
            suspends: suspends.collect(),
            ..Self::new(&tasks, configuration.enforcement, configuration.exhaustion)
        }
    }

    /// Nothing is promised: no miss breaks anything.
    #[must_use]
    pub fn none() -> Self {
        // A job of a task that it does not know was guaranteed nothing.
        Self {
            tasks: Vec::new(),
            lowest: Vec::new(),
            some_have_nothing: false,
            at_limit: AtLimit::Harmless,
            exhaustion: Exhaustion::Continue,
            suspends: Vec::new(),
            crossings: [None; LEVELS_MAX],
            served: None,
            levelled: None,
        }
    }

    /// The guarantee of servers with this configuration, provided that a test accepts them: jobs of tasks with a sporadic
    /// server of their own that neither block nor execute more than C_i(z_i), and bursts of PIBS that serve one server. Where the
    /// mode rises on request alone nothing is promised.
    #[must_use]
    pub fn of_servers(configuration: &HierarchyConfiguration<'_>) -> Self {
        Self {
            served: Served::of(configuration).map(Box::new),
            ..Self::none()
        }
    }

    /// The same with the bounds that the test found, by server and by mode: then jobs that block are guaranteed what these
    /// leave them after their last wake-up, and bursts end within theirs. Those of a PIBS are to be the longest on behalf of anybody
    /// (`servers[].response_ns` of results). Without servers it has no effect.
    #[must_use]
    pub fn within(mut self, bounds: &[Vec<Option<Duration>>]) -> Self {
        if let Some(served) = &mut self.served {
            served.within(bounds);
        }
        self
    }

    /// What became of bursts of PIBS so far.
    #[must_use]
    pub fn bursts(&self) -> BurstCounts {
        let served = self.served.as_ref();
        served.map_or_else(BurstCounts::default, |served| served.bursts())
    }

    /// To how many tasks, and to bursts of how many PIBS, it promises anything.
    #[must_use]
    pub fn judged(&self) -> (usize, usize) {
        let alone = || (self.tasks.len(), 0);
        self.served
            .as_ref()
            .map_or_else(alone, |served| served.judged())
    }

    /// Why a job in a server is not guaranteed its deadline, as far as is known by now; `None`: it is, or nothing is known of
    /// servers.
    #[must_use]
    pub fn excuse(&self, job: &JobState) -> Option<Excuse> {
        self.served.as_ref()?.excuse(job)
    }

    /// The guarantee of MC² with this configuration, provided that a test accepts it: levels A and B keep their deadlines, and
    /// tasks of level C are no later than `tardiness` says of them. `None` there promises nothing. Tasks of level A are to be periodic and to come
    /// at multiples of their periods, as their tables do.
    #[must_use]
    pub fn of_levels(
        configuration: &LevelledConfiguration<'_>,
        tardiness: &[Option<Duration>],
    ) -> Self {
        Self {
            levelled: Some(Box::new(Levelled::of(configuration, tardiness))),
            ..Self::none()
        }
    }

    fn crossing(&self, level: Level) -> Option<Instant> {
        self.crossings.get(level.index()).copied().flatten()
    }

    /// Whether the assumption of `level` held from the last idle instant until `deadline`.
    #[must_use]
    pub fn holds_until(&self, level: Level, deadline: Instant) -> bool {
        guarantee::covers(deadline, self.crossing(level), None)
    }

    /// What became of the deadline of `job`, which ends at `at`. `None` if that was judged before,
    /// when the job was demoted, or if the run ended before the deadline.
    #[must_use]
    pub fn judge(&self, job: &JobState, at: Instant, ending: Ending) -> Option<Verdict> {
        let judged_before = job.demoted.is_some_and(|when| when > job.deadline);
        let complete_or_withdrawn = match ending {
            Ending::Demoted => {
                return (at > job.deadline).then(|| self.missed(job, at, ending));
            }
            _ if judged_before => return None,
            Ending::Unfinished => {
                return (at >= job.deadline).then(|| self.missed(job, at, ending));
            }
            // A consequence of misses before it, which were judged; at level C, where a miss is none, of a room too small.
            Ending::Dropped(DropReason::BacklogFull) if self.levelled.is_none() => {
                return Some(Verdict::Missed { guaranteed: false });
            }
            Ending::Dropped(DropReason::BacklogFull) => None,
            Ending::Completed => (at <= job.deadline).then_some(Verdict::Met),
            Ending::Dropped(
                DropReason::Mode
                | DropReason::Exhausted
                | DropReason::Superseded
                | DropReason::Deadline,
            ) => (at < job.deadline).then_some(Verdict::Dropped),
        };
        Some(complete_or_withdrawn.unwrap_or_else(|| self.missed(job, at, ending)))
    }

    fn missed(&self, job: &JobState, at: Instant, ending: Ending) -> Verdict {
        let guaranteed = if let Some(served) = &self.served {
            served.excuse(job).is_none()
        } else if let Some(levelled) = &self.levelled {
            levelled.promised(job, at, ending)
        } else {
            self.was_promised(job)
        };
        Verdict::Missed { guaranteed }
    }

    fn was_promised(&self, job: &JobState) -> bool {
        self.tasks.get(job.id.task.index()).is_some_and(|task| {
            let level = match self.is_kept(task, job) {
                true => EVERY_MODE,
                false => task.criticality,
            };
            let crossing = self.crossing(level);
            guarantee::covers(job.deadline, crossing, job.demoted)
        })
    }

    /// Whether a job has all that it needs in every mode.
    fn is_kept(&self, task: &Task, job: &JobState) -> bool {
        let is_kept = |budget: Service| job.demand <= budget.min(task.own_wcet());
        self.at_limit == AtLimit::RaisesMode && task.degraded.is_some_and(is_kept)
    }

    /// Records what the execution of `job` from `start` on, `ran` long, means for each level.
    #[inline]
    fn record(&mut self, job: &JobState, start: Instant, ran: Service) {
        let Some(&lowest) = self.lowest.get(job.id.task.index()) else {
            return;
        };
        self.record_from(lowest, job, start, ran);
    }

    #[inline]
    fn record_from(&mut self, lowest: Service, job: &JobState, start: Instant, ran: Service) {
        if job.executed < lowest || (job.executed == lowest && job.demand <= lowest) {
            return;
        }
        self.record_crossings(job, start, ran);
    }

    /// A job of a task that is in a server, or of a level of MC².
    // By value and not in line: whoever has no such task need not write down what it would be told.
    #[cold]
    #[inline(never)]
    fn executed_elsewhere(&mut self, cpu: CpuId, (start, end): (Instant, Instant), job: &JobState) {
        let segment = Segment { cpu, start, end };
        if let Some(served) = &mut self.served {
            served.executed(segment, job);
        } else if let Some(levelled) = &mut self.levelled {
            levelled.executed(segment, job);
        }
    }

    fn record_crossings(&mut self, job: &JobState, start: Instant, ran: Service) {
        let index = job.id.task.index();
        let (Some(task), Some(suspends)) = (self.tasks.get(index), self.suspends.get(index)) else {
            return;
        };
        if job.demoted.is_some() {
            return;
        }
        let before = job.executed.saturating_sub(ran);
        let has_limit = self.exhaustion != Exhaustion::Continue;
        let bounds = guarantee::bounds(task, has_limit);
        for ((level, limit), crossing) in bounds.zip(self.crossings.iter_mut()) {
            let until = limit.saturating_sub(before).time_on_dedicated_cpu();
            let reached = start.saturating_add(until);
            let stands = job.executed == limit && job.demand > limit;
            let at = match self.at_limit {
                _ if job.executed > limit => Some(reached),
                _ if !stands => None,
                AtLimit::RaisesMode => (level < task.criticality).then_some(reached),
                AtLimit::Suspends if has_limit && limit == task.own_wcet() => None,
                AtLimit::Suspends => suspends.first(job, reached),
                AtLimit::Harmless => None,
            };
            *crossing = (*crossing).into_iter().chain(at).min();
        }
    }
}

/// When an incomplete job suspends others under zero slack.
#[derive(Clone, Copy, Debug)]
struct Suspends {
    /// From when on, counted from its release.
    after: Duration,
    on_miss: OnMiss,
}

impl Suspends {
    /// The first instant from `from` on at which `job` does, unless it is dropped then.
    fn first(self, job: &JobState, from: Instant) -> Option<Instant> {
        let at = from.max(job.released.saturating_add(self.after));
        match self.on_miss {
            OnMiss::Continue => Some(at),
            OnMiss::Abort => (at < job.deadline).then_some(at),
        }
    }
}

impl Observer for Guarantee {
    #[inline]
    fn executed(&mut self, segment: Segment, job: &JobState) {
        match self.lowest.get(job.id.task.index()) {
            Some(&lowest) => {
                let ran = Service::supplied_during(segment.end.saturating_since(segment.start));
                self.record_from(lowest, job, segment.start, ran);
            }
            None => self.executed_elsewhere(segment.cpu, (segment.start, segment.end), job),
        }
    }

    #[inline]
    fn released(&mut self, at: Instant, job: &JobState) {
        if let Some(served) = &mut self.served {
            served.released(at, job);
        }
    }

    #[inline]
    fn completed(&mut self, _: Instant, job: &JobState) {
        if let Some(served) = &mut self.served {
            served.ended(job);
        }
    }

    fn dropped(&mut self, _: Instant, job: &JobState, _: DropReason) {
        if let Some(served) = &mut self.served {
            served.ended(job);
        }
    }

    fn blocked(&mut self, at: Instant, _: CpuId, job: &JobState, device: DeviceId) {
        if let Some(served) = &mut self.served {
            served.blocked(at, job, device);
        }
    }

    fn woken(&mut self, at: Instant, job: &JobState) {
        if let Some(served) = &mut self.served {
            served.woken(at, job);
        }
    }

    fn interrupted(&mut self, at: Instant, device: DeviceId, count: u64, dropped: u64) {
        if let Some(served) = &mut self.served {
            served.interrupted(at, device, count.saturating_sub(dropped));
        }
    }

    fn served(&mut self, at: Instant, device: DeviceId, _: &JobState) {
        if let Some(served) = &mut self.served {
            served.handled(at, device);
        }
    }

    fn postponed(&mut self, _: Instant, server: ServerId, _: Service) {
        if let Some(served) = &mut self.served {
            served.postponed(server);
        }
    }

    fn finished(&mut self, end: Instant) {
        if let Some(served) = &mut self.served {
            served.finished(end);
        }
    }

    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, _: Option<JobId>) {
        if let Some(served) = &mut self.served {
            served.mode_changed(at, from, to);
        }
    }

    /// A limit of nothing is used up before the job has run at all. Every other one was recorded when
    /// the job ran, and no idle instant has come since: the job has been pending.
    #[inline]
    fn started(&mut self, at: Instant, _: CpuId, job: &JobState) {
        if self.some_have_nothing {
            self.record(job, at, Service::ZERO);
        }
    }

    fn idle(&mut self, _: Instant) {
        self.crossings = [None; LEVELS_MAX];
    }
}

/// Judges the deadlines of a run, and says of each miss when it was judged, and whether it had been
/// guaranteed that there would be none. An [`Observer`]; counts as [`crate::Statistics`] does.
#[derive(Clone, Debug)]
pub struct Judge<F> {
    guarantee: Guarantee,
    missed: F,
}

impl<F: FnMut(Instant, &JobState, bool)> Judge<F> {
    /// A judge with the knowledge of `guarantee`, which calls `missed`.
    pub const fn new(guarantee: Guarantee, missed: F) -> Self {
        Self { guarantee, missed }
    }

    /// What it knows by now.
    pub const fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    fn judge(&mut self, job: &JobState, at: Instant, ending: Ending) {
        match self.guarantee.judge(job, at, ending) {
            Some(Verdict::Missed { guaranteed }) => (self.missed)(at, job, guaranteed),
            Some(Verdict::Met | Verdict::Dropped) | None => {}
        }
    }
}

impl<F: FnMut(Instant, &JobState, bool)> Observer for Judge<F> {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        self.guarantee.executed(segment, job);
    }
    fn released(&mut self, at: Instant, job: &JobState) {
        self.guarantee.released(at, job);
    }
    fn blocked(&mut self, at: Instant, cpu: CpuId, job: &JobState, device: DeviceId) {
        self.guarantee.blocked(at, cpu, job, device);
    }
    fn woken(&mut self, at: Instant, job: &JobState) {
        self.guarantee.woken(at, job);
    }
    fn interrupted(&mut self, at: Instant, device: DeviceId, count: u64, dropped: u64) {
        self.guarantee.interrupted(at, device, count, dropped);
    }
    fn served(&mut self, at: Instant, device: DeviceId, job: &JobState) {
        self.guarantee.served(at, device, job);
    }
    fn postponed(&mut self, at: Instant, server: ServerId, amount: Service) {
        self.guarantee.postponed(at, server, amount);
    }
    fn finished(&mut self, end: Instant) {
        self.guarantee.finished(end);
    }
    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, cause: Option<JobId>) {
        self.guarantee.mode_changed(at, from, to, cause);
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.guarantee.completed(at, job);
        self.judge(job, at, Ending::Completed);
    }
    fn demoted(&mut self, at: Instant, job: &JobState) {
        self.judge(job, at, Ending::Demoted);
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        self.guarantee.dropped(at, job, why);
        self.judge(job, at, Ending::Dropped(why));
    }
    fn idle(&mut self, at: Instant) {
        self.guarantee.idle(at);
    }
    fn started(&mut self, at: Instant, cpu: CpuId, job: &JobState) {
        self.guarantee.started(at, cpu, job);
    }
    fn unfinished(&mut self, end: Instant, job: &JobState) {
        self.judge(job, end, Ending::Unfinished);
    }
}
