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

use crate::observer::{JobState, Observer, Segment};
use vestal_core::model::LEVELS_MAX;
use vestal_core::{
    AtLimit, Configuration, CpuId, DropReason, Duration, Enforcement, Exhaustion, Instant, Level,
    OnMiss, Service, Task, guarantee,
};

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
                return (at > job.deadline).then(|| self.missed(job));
            }
            _ if judged_before => return None,
            Ending::Unfinished => return (at >= job.deadline).then(|| self.missed(job)),
            Ending::Dropped(DropReason::BacklogFull) => {
                return Some(Verdict::Missed { guaranteed: false });
            }
            Ending::Completed => (at <= job.deadline).then_some(Verdict::Met),
            Ending::Dropped(
                DropReason::Mode
                | DropReason::Exhausted
                | DropReason::Superseded
                | DropReason::Deadline,
            ) => (at < job.deadline).then_some(Verdict::Dropped),
        };
        Some(complete_or_withdrawn.unwrap_or_else(|| self.missed(job)))
    }

    fn missed(&self, job: &JobState) -> Verdict {
        let guaranteed = self.tasks.get(job.id.task.index()).is_some_and(|task| {
            let crossing = self.crossing(task.criticality);
            guarantee::covers(job.deadline, crossing, job.demoted)
        });
        Verdict::Missed { guaranteed }
    }

    /// Records what the execution of `job` from `start` on, `ran` long, means for each level.
    #[inline]
    fn record(&mut self, job: &JobState, start: Instant, ran: Service) {
        let Some(&lowest) = self.lowest.get(job.id.task.index()) else {
            return;
        };
        if job.executed < lowest || (job.executed == lowest && job.demand <= lowest) {
            return;
        }
        self.record_crossings(job, start, ran);
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
        let ran = Service::supplied_during(segment.end.saturating_since(segment.start));
        self.record(job, segment.start, ran);
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
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.judge(job, at, Ending::Completed);
    }
    fn demoted(&mut self, at: Instant, job: &JobState) {
        self.judge(job, at, Ending::Demoted);
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{JobId, LevelSet, TaskConfiguration, TaskId, Wcet};

    const MISSED: Verdict = Verdict::Missed { guaranteed: true };
    const EXCUSED: Verdict = Verdict::Missed { guaranteed: false };

    fn ns(value: u64) -> Instant {
        Instant::from_nanos(value)
    }

    /// LO: C 3, D 10. HI: C 4/9, D 20. All deadlines are counted from 0.
    fn tasks() -> [Task; 2] {
        let wcet = |values: &[u64]| {
            let values: Vec<Service> = values.iter().copied().map(Service::from_nanos).collect();
            Wcet::new(&values).unwrap()
        };
        let span = Duration::from_nanos;
        [
            Task::new(Level(0), span(10), span(10), wcet(&[3])).unwrap(),
            Task::new(Level(1), span(20), span(20), wcet(&[4, 9])).unwrap(),
        ]
    }

    fn job(task: u16, executed: u64, demand: u64) -> JobState {
        JobState {
            id: JobId {
                task: TaskId(task),
                sequence: 0,
            },
            released: ns(0),
            deadline: ns(if task == 0 { 10 } else { 20 }),
            demand: Service::from_nanos(demand),
            executed: Service::from_nanos(executed),
            demoted: None,
            last_cpu: None,
        }
    }

    fn guarantee(enforcement: Enforcement, exhaustion: Exhaustion) -> Guarantee {
        Guarantee::new(&tasks(), enforcement, exhaustion)
    }

    /// `executed` is what the job has executed at `end`.
    fn runs(guarantee: &mut Guarantee, start: u64, end: u64, job: &JobState) {
        let segment = Segment {
            cpu: CpuId(0),
            start: ns(start),
            end: ns(end),
        };
        guarantee.executed(segment, job);
    }

    #[test]
    fn where_nothing_is_promised_no_miss_is_guaranteed() {
        let mut none = Guarantee::none();
        let (job, start) = (job(0, 2, 2), ns(9));
        let cpu = CpuId(0);
        none.started(start, cpu, &job);
        none.executed(
            Segment {
                cpu,
                start,
                end: ns(11),
            },
            &job,
        );
        assert_eq!(none.judge(&job, ns(11), Ending::Completed), Some(EXCUSED));
        assert_eq!(
            none.judge(&job, ns(10), Ending::Completed),
            Some(Verdict::Met)
        );
        // The control: the same under static limits.
        let one = Guarantee::new(&tasks(), Enforcement::Static, Exhaustion::Background);
        assert_eq!(one.judge(&job, ns(11), Ending::Completed), Some(MISSED));
    }

    #[test]
    fn a_miss_without_any_overrun_was_guaranteed_not_to_happen() {
        let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
        runs(&mut smc, 0, 4, &job(1, 4, 4));
        assert_eq!(
            smc.judge(&job(0, 3, 3), ns(11), Ending::Completed),
            Some(MISSED)
        );
        assert_eq!(
            smc.judge(&job(0, 3, 3), ns(10), Ending::Completed),
            Some(Verdict::Met)
        );
        assert_eq!(
            smc.judge(&job(0, 2, 3), ns(10), Ending::Unfinished),
            Some(MISSED)
        );
        assert_eq!(smc.judge(&job(0, 2, 3), ns(9), Ending::Unfinished), None);
    }

    #[test]
    fn a_hi_job_beyond_its_lo_value_excuses_lo_misses_and_no_hi_miss() {
        let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
        runs(&mut smc, 2, 9, &job(1, 7, 9));
        assert_eq!(smc.crossings[0], Some(ns(6)), "4 units after 2");
        assert_eq!(
            smc.judge(&job(0, 3, 3), ns(11), Ending::Completed),
            Some(EXCUSED)
        );
        assert_eq!(
            smc.judge(&job(1, 9, 9), ns(21), Ending::Completed),
            Some(MISSED)
        );
    }

    #[test]
    fn a_crossing_at_the_deadline_or_after_it_comes_too_late_to_excuse() {
        let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
        runs(&mut smc, 6, 12, &job(1, 6, 9));
        assert_eq!(smc.crossings[0], Some(ns(10)));
        assert_eq!(
            smc.judge(&job(0, 0, 3), ns(15), Ending::Completed),
            Some(MISSED)
        );
    }

    #[test]
    fn standing_exactly_at_the_lo_value_is_a_crossing_where_it_raises_the_mode() {
        let standing = job(1, 4, 9);
        let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
        runs(&mut smc, 0, 4, &standing);
        assert_eq!(smc.crossings[0], None);
        let mut amc = guarantee(Enforcement::Adaptive, Exhaustion::Background);
        runs(&mut amc, 0, 4, &standing);
        assert_eq!(amc.crossings[0], Some(ns(4)));
        let mut amc = guarantee(Enforcement::Adaptive, Exhaustion::Background);
        runs(&mut amc, 0, 4, &job(1, 4, 4));
        assert_eq!(amc.crossings[0], None, "it completed there");
    }

    /// Zero slack where the HI job's instant is so long after its release.
    fn zss(after: u64, on_miss: OnMiss, exhaustion: Exhaustion) -> Guarantee {
        let entries = tasks().map(|task| TaskConfiguration {
            on_miss,
            zero_slack: (task.criticality > Level(0)).then(|| Duration::from_nanos(after)),
            ..TaskConfiguration::new(task, 1)
        });
        Guarantee::of(&Configuration {
            tasks: &entries,
            levels: LevelSet::new(2).unwrap(),
            enforcement: Enforcement::ZeroSlack,
            exhaustion,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        })
    }

    #[test]
    fn a_job_that_stands_at_its_lo_value_is_beyond_it_when_it_is_critical_or_goes_on() {
        let with = |after| zss(after, OnMiss::Continue, Exhaustion::Background);
        let late_lo_job =
            |guarantee: &Guarantee| guarantee.judge(&job(0, 0, 3), ns(11), Ending::Completed);
        // It stands from 4 on, and suspends the LO job from 10 or from 9 on: due at 10.
        for (after, verdict) in [(10, MISSED), (9, EXCUSED), (4, EXCUSED), (2, EXCUSED)] {
            let mut zss = with(after);
            runs(&mut zss, 0, 4, &job(1, 4, 9));
            assert_eq!(
                zss.crossings[0],
                Some(ns(after.max(4))),
                "not before it stands"
            );
            assert_eq!(late_lo_job(&zss), Some(verdict), "critical after {after}");
            assert_eq!(zss.crossings[1], None);
        }
        let mut zss = with(10);
        runs(&mut zss, 0, 4, &job(1, 4, 9));
        runs(&mut zss, 7, 8, &job(1, 5, 9));
        assert_eq!(
            zss.crossings[0],
            Some(ns(7)),
            "it goes on before it is critical"
        );
        assert_eq!(late_lo_job(&zss), Some(EXCUSED));
        let mut zss = with(2);
        runs(&mut zss, 0, 4, &job(1, 4, 4));
        assert_eq!(zss.crossings[0], None, "it completed there");
    }

    /// Of a task whose values are all the same, that value is its last limit, too.
    #[test]
    fn a_job_that_stops_counting_where_it_stands_suspends_nobody() {
        let equal = |guarantee: &mut Guarantee| {
            let same = Wcet::constant(Service::from_nanos(4));
            guarantee.tasks[1].wcet = same;
            runs(guarantee, 0, 4, &job(1, 4, 9));
        };
        let mut demoted = zss(2, OnMiss::Continue, Exhaustion::Background);
        equal(&mut demoted);
        assert_eq!(demoted.crossings, [None; LEVELS_MAX]);
        let mut unlimited = zss(6, OnMiss::Continue, Exhaustion::Continue);
        equal(&mut unlimited);
        assert_eq!(unlimited.crossings, [Some(ns(6)); LEVELS_MAX]);
        // Critical at 20 only, when it is dropped.
        let mut dropped = zss(20, OnMiss::Abort, Exhaustion::Background);
        runs(&mut dropped, 0, 4, &job(1, 4, 9));
        assert_eq!(dropped.crossings[0], None);
        let mut dropped_later = zss(19, OnMiss::Abort, Exhaustion::Background);
        runs(&mut dropped_later, 0, 4, &job(1, 4, 9));
        assert_eq!(dropped_later.crossings[0], Some(ns(19)));
    }

    #[test]
    fn an_idle_instant_restores_the_guarantee() {
        let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
        runs(&mut smc, 0, 9, &job(1, 9, 9));
        smc.idle(ns(9));
        assert!(smc.holds_until(Level(0), ns(100)));
    }

    #[test]
    fn background_execution_voids_nothing_and_a_demoted_job_was_guaranteed_nothing() {
        let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
        let demoted = JobState {
            demoted: Some(ns(9)),
            ..job(1, 12, 15)
        };
        runs(&mut smc, 9, 12, &demoted);
        assert!(smc.holds_until(Level(0), ns(100)));
        assert_eq!(
            smc.judge(&demoted, ns(30), Ending::Completed),
            Some(EXCUSED)
        );
    }

    #[test]
    fn a_job_demoted_after_its_deadline_is_judged_then_and_only_then() {
        let smc = guarantee(Enforcement::Static, Exhaustion::Background);
        let demoted = JobState {
            demoted: Some(ns(21)),
            ..job(1, 9, 15)
        };
        assert_eq!(smc.judge(&demoted, ns(21), Ending::Demoted), Some(MISSED));
        assert_eq!(smc.judge(&demoted, ns(30), Ending::Completed), None);
    }

    #[test]
    fn without_enforcement_a_lo_job_beyond_its_own_value_voids_every_guarantee() {
        let mut smc = guarantee(Enforcement::Static, Exhaustion::Continue);
        runs(&mut smc, 0, 5, &job(0, 5, 5));
        assert_eq!(smc.crossings[0], Some(ns(3)));
        assert_eq!(smc.crossings[1], Some(ns(3)));
        let mut enforced = guarantee(Enforcement::Static, Exhaustion::Background);
        runs(&mut enforced, 0, 5, &job(0, 5, 5));
        assert!(enforced.holds_until(Level(0), ns(100)));
    }

    #[test]
    fn a_job_dropped_before_its_deadline_is_withdrawn_and_one_dropped_at_it_is_late() {
        let mut amc = guarantee(Enforcement::Adaptive, Exhaustion::Background);
        runs(&mut amc, 6, 10, &job(1, 4, 9));
        let by_mode = Ending::Dropped(DropReason::Mode);
        assert_eq!(
            amc.judge(&job(0, 1, 3), ns(9), by_mode),
            Some(Verdict::Dropped)
        );
        assert_eq!(
            amc.judge(&job(0, 1, 3), ns(10), by_mode),
            Some(MISSED),
            "the HI job may have completed at 10: the LO job was late all the same"
        );
        let full = Ending::Dropped(DropReason::BacklogFull);
        assert_eq!(amc.judge(&job(0, 0, 3), ns(0), full), Some(EXCUSED));
        let at_deadline = Ending::Dropped(DropReason::Deadline);
        assert_eq!(amc.judge(&job(0, 1, 3), ns(10), at_deadline), Some(MISSED));
    }
}
