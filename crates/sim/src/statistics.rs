//! What a run was like: counts, response times and percentiles, in constant memory.
//!
//! Response and execution times are those of *completed* jobs, late ones included; a job's response
//! time is the time from its release to its completion. A miss is judged when the job ends, or when
//! the run does ([`crate::guarantee`]).

use crate::costs::Cause;
use crate::count;
use crate::guarantee::{BurstCounts, Ending, Guarantee, Verdict};
use crate::observer::{JobState, Observer, Segment};
use std::ops::Deref;
use vestal_core::{
    Configuration, CpuId, DeviceId, DropReason, Drops, Duration, Enforcement, Exhaustion, Instant,
    JobId, Level, ServerId, Service, Task, TaskId,
};
use vestal_statistics::{Histogram, Spread};

/// How many mode changes are kept with instant and cause; later ones are only counted.
pub const MODE_CHANGES_KEPT: usize = 1000;

/// A mode change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeChange {
    /// When.
    pub at: Instant,
    /// The mode before.
    pub from: Level,
    /// The mode from then on.
    pub to: Level,
    /// The job that overran; `None` for the return at an idle instant.
    pub cause: Option<JobId>,
    /// Whose mode it is: the first CPU of those that have it in common.
    pub cpu: CpuId,
}

/// What became of the jobs of one task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskStatistics {
    /// Jobs that arrived.
    pub released: u64,
    /// Jobs that finished their work.
    pub completed: u64,
    /// Jobs that were incomplete at their deadline and had not been dropped before it.
    pub missed: u64,
    /// Those of them that the policy had guaranteed to complete in time.
    pub missed_guaranteed: u64,
    /// Jobs that were dropped, by reason.
    pub dropped: Drops,
    /// How often a job used up its limit of some level.
    pub overruns: u64,
    /// How often a pending job lost its CPU.
    pub preemptions: u64,
    /// Response times in ns.
    pub response: Histogram,
    /// Execution times in ns.
    pub execution: Spread,
    /// By how much jobs completed after their deadline, in ns; 0 for those in time.
    pub tardiness: Spread,
}

impl TaskStatistics {
    /// The mean response time over the period.
    #[must_use]
    pub fn relative_response(&self, task: &Task) -> Option<f64> {
        let spread = self.response.spread();
        let count = spread.count();
        #[expect(
            clippy::cast_precision_loss,
            reason = "a figure for display, not for decisions"
        )]
        let ratio = spread.sum() as f64 / count as f64 / task.period.as_nanos() as f64;
        (count > 0).then_some(ratio)
    }
}

/// What one CPU did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuStatistics {
    /// How long it executed jobs.
    pub busy: Service,
    /// How long it was taken for what carrying the policy out costs.
    pub overhead: Duration,
    /// How often a job got it.
    pub switches: u64,
    /// How often a pending job lost it.
    pub preemptions: u64,
    /// How often a job got it that had last run on another one.
    pub migrations: u64,
}

/// The sums over all tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobTotals {
    /// Jobs that arrived.
    pub released: u64,
    /// Jobs that finished their work.
    pub completed: u64,
    /// Jobs that were dropped, by reason.
    pub dropped: Drops,
    /// Jobs that were incomplete at their deadline and had not been dropped before it.
    pub missed: u64,
    /// Those of them that the policy had guaranteed to complete in time.
    pub missed_guaranteed: u64,
}

/// Everything about one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    tasks: Vec<TaskStatistics>,
    cpus: Vec<CpuStatistics>,
    /// By cause, in the order of [`Cause::ALL`], how long each time was for which a CPU was taken.
    taken: [Spread; Cause::ALL.len()],
    mode_changes: Vec<ModeChange>,
    mode_changes_count: u64,
    end: Instant,
}

/// An [`Observer`] that counts, and reads as the [`Figures`] that it has counted.
#[derive(Clone, Debug)]
pub struct Statistics {
    guarantee: Guarantee,
    figures: Figures,
}

impl Deref for Statistics {
    type Target = Figures;

    fn deref(&self) -> &Figures {
        &self.figures
    }
}

/// Figures of a part of a run, with the tasks and the CPUs of the whole that it has, in its order.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its figures, numbered as in the part.
    pub figures: &'a Figures,
    /// Its tasks.
    pub tasks: &'a [TaskId],
    /// Its CPUs.
    pub cpus: &'a [CpuId],
}

impl Statistics {
    /// For a run of `tasks` on `cpus` CPUs; enforcement says what was guaranteed. Zero-slack instants are the
    /// deadlines; [`Self::of`] knows of others.
    #[must_use]
    pub fn new(
        tasks: &[Task],
        cpus: u16,
        enforcement: Enforcement,
        exhaustion: Exhaustion,
    ) -> Self {
        let guarantee = Guarantee::new(tasks, enforcement, exhaustion);
        Self::of_guarantee(guarantee, tasks.len(), cpus)
    }

    /// For a run on `cpus` CPUs of what is configured so.
    #[must_use]
    pub fn of(configuration: &Configuration<'_>, cpus: u16) -> Self {
        let tasks = configuration.tasks.len();
        Self::of_guarantee(Guarantee::of(configuration), tasks, cpus)
    }

    /// For a run of so many tasks on `cpus` CPUs, of which this was guaranteed.
    #[must_use]
    pub fn of_guarantee(guarantee: Guarantee, tasks: usize, cpus: u16) -> Self {
        Self {
            guarantee,
            figures: Figures::none(tasks, usize::from(cpus)),
        }
    }

    /// What became of bursts of PIBS so far ([`Guarantee::bursts`]).
    #[must_use]
    pub fn bursts(&self) -> BurstCounts {
        self.guarantee.bursts()
    }

    /// What it has counted.
    #[must_use]
    pub fn into_figures(self) -> Figures {
        self.figures
    }

    #[inline]
    fn task(&mut self, job: &JobState) -> Option<&mut TaskStatistics> {
        self.figures.tasks.get_mut(job.id.task.index())
    }

    #[cold]
    fn completed_late(&mut self, at: Instant, job: &JobState) {
        self.guarantee.completed(at, job);
        self.judge(job, at, Ending::Completed);
        if let Some(task) = self.task(job) {
            task.tardiness
                .record(at.saturating_since(job.deadline).as_nanos());
        }
    }

    fn judge(&mut self, job: &JobState, at: Instant, ending: Ending) {
        let verdict = self.guarantee.judge(job, at, ending);
        let Some(task) = self.task(job) else { return };
        match verdict {
            Some(Verdict::Missed { guaranteed }) => {
                task.missed += 1;
                task.missed_guaranteed += u64::from(guaranteed);
            }
            Some(Verdict::Met | Verdict::Dropped) | None => {}
        }
    }
}

impl Figures {
    fn none(tasks: usize, cpus: usize) -> Self {
        Self {
            tasks: vec![TaskStatistics::default(); tasks],
            cpus: vec![CpuStatistics::default(); cpus],
            ..Self::default()
        }
    }

    fn take(&mut self, segment: Segment, cause: Cause) {
        let span = segment.end.saturating_since(segment.start);
        let mut places = Cause::ALL.iter().zip(&mut self.taken);
        if let Some((_, spread)) = places.find(|(known, _)| **known == cause) {
            spread.record(span.as_nanos());
        }
        if let Some(cpu) = self.cpus.get_mut(segment.cpu.index()) {
            cpu.overhead = cpu.overhead.saturating_add(span);
        }
    }

    /// The figures of a run of `tasks` tasks on `cpus` CPUs, of which each was in one part at most. Of mode
    /// changes, the first [`MODE_CHANGES_KEPT`] of all are kept; at one instant in the order of CPUs.
    #[must_use]
    pub fn of_parts(tasks: usize, cpus: usize, parts: &[Part<'_>]) -> Self {
        let mut all = Self::none(tasks, cpus);
        for part in parts {
            let figures = part.figures;
            for (task, found) in part.tasks.iter().zip(&figures.tasks) {
                if let Some(place) = all.tasks.get_mut(task.index()) {
                    place.clone_from(found);
                }
            }
            for (cpu, found) in part.cpus.iter().zip(&figures.cpus) {
                if let Some(place) = all.cpus.get_mut(cpu.index()) {
                    *place = *found;
                }
            }
            let cpu = |cpu: CpuId| part.cpus.get(cpu.index()).copied().unwrap_or(cpu);
            let task = |job: JobId| JobId {
                task: part
                    .tasks
                    .get(job.task.index())
                    .copied()
                    .unwrap_or(job.task),
                ..job
            };
            let changes = figures.mode_changes.iter().map(|change| ModeChange {
                cause: change.cause.map(task),
                cpu: cpu(change.cpu),
                ..*change
            });
            all.mode_changes.extend(changes);
            for (sum, more) in all.taken.iter_mut().zip(&figures.taken) {
                sum.merge(more);
            }
            all.mode_changes_count += figures.mode_changes_count;
            all.end = all.end.max(figures.end);
        }
        // Those of one CPU are in order already, and stay so.
        all.mode_changes
            .sort_by_key(|change| (change.at, change.cpu));
        all.mode_changes.truncate(MODE_CHANGES_KEPT);
        all
    }

    /// By task.
    #[must_use]
    pub fn tasks(&self) -> &[TaskStatistics] {
        &self.tasks
    }
    /// By CPU.
    #[must_use]
    pub fn cpus(&self) -> &[CpuStatistics] {
        &self.cpus
    }
    /// For each cause for which a CPU was taken, how long that was each time, in ns; what a job does beyond its body is
    /// counted in as many parts as it was interrupted.
    pub fn taken(&self) -> impl Iterator<Item = (Cause, &Spread)> {
        Cause::ALL.into_iter().zip(&self.taken)
    }
    /// The first [`MODE_CHANGES_KEPT`] mode changes.
    #[must_use]
    pub fn mode_changes(&self) -> &[ModeChange] {
        &self.mode_changes
    }
    /// How many mode changes there were in all.
    #[must_use]
    pub const fn mode_changes_count(&self) -> u64 {
        self.mode_changes_count
    }
    /// When the run ended.
    #[must_use]
    pub const fn end(&self) -> Instant {
        self.end
    }
    /// The sums over all tasks.
    #[must_use]
    pub fn jobs(&self) -> JobTotals {
        self.tasks
            .iter()
            .fold(JobTotals::default(), |sum, task| JobTotals {
                released: sum.released + task.released,
                completed: sum.completed + task.completed,
                dropped: sum.dropped.and(&task.dropped),
                missed: sum.missed + task.missed,
                missed_guaranteed: sum.missed_guaranteed + task.missed_guaranteed,
            })
    }
}

impl Observer for Statistics {
    #[inline]
    fn released(&mut self, at: Instant, job: &JobState) {
        if let Some(task) = self.task(job) {
            count(&mut task.released);
        }
        self.guarantee.released(at, job);
    }

    #[inline]
    fn executed(&mut self, segment: Segment, job: &JobState) {
        self.guarantee.executed(segment, job);
        if let Some(cpu) = self.figures.cpus.get_mut(segment.cpu.index()) {
            let span = segment.end.saturating_since(segment.start);
            // Segments of one CPU do not overlap: their sum is below the horizon.
            let busy = cpu.busy.as_nanos().wrapping_add(span.as_nanos());
            cpu.busy = Service::from_nanos(busy);
        }
    }

    // Once for each job, and called from one place.
    #[inline(always)]
    fn completed(&mut self, at: Instant, job: &JobState) {
        let Some(task) = self.task(job) else { return };
        count(&mut task.completed);
        task.response
            .record(at.saturating_since(job.released).as_nanos());
        task.execution.record(job.executed.as_nanos());
        // A job that completes in time is nothing to judge.
        if at <= job.deadline {
            task.tardiness.record_zero();
            self.guarantee.completed(at, job);
        } else {
            self.completed_late(at, job);
        }
    }

    fn overran(&mut self, _: Instant, job: JobId, _: Level) {
        if let Some(task) = self.figures.tasks.get_mut(job.task.index()) {
            task.overruns += 1;
        }
    }

    fn demoted(&mut self, at: Instant, job: &JobState) {
        self.judge(job, at, Ending::Demoted);
    }

    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        self.guarantee.dropped(at, job, why);
        self.judge(job, at, Ending::Dropped(why));
        if let Some(task) = self.task(job) {
            task.dropped.add(why, 1);
        }
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

    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, cause: Option<JobId>) {
        self.guarantee.mode_changed(at, from, to, cause);
        self.figures.mode_changes_count += 1;
        if self.figures.mode_changes.len() < MODE_CHANGES_KEPT {
            self.figures.mode_changes.push(ModeChange {
                at,
                from,
                to,
                cause,
                cpu: CpuId(0),
            });
        }
    }

    fn idle(&mut self, at: Instant) {
        self.guarantee.idle(at);
    }

    #[inline]
    fn preempted(&mut self, _: Instant, cpu: CpuId, job: &JobState) {
        if let Some(task) = self.task(job) {
            count(&mut task.preemptions);
        }
        if let Some(cpu) = self.figures.cpus.get_mut(cpu.index()) {
            count(&mut cpu.preemptions);
        }
    }

    #[inline]
    fn started(&mut self, at: Instant, cpu: CpuId, job: &JobState) {
        self.guarantee.started(at, cpu, job);
        if let Some(entry) = self.figures.cpus.get_mut(cpu.index()) {
            count(&mut entry.switches);
            if job.last_cpu.is_some_and(|last| last != cpu) {
                count(&mut entry.migrations);
            }
        }
    }

    fn mechanism_ended(&mut self, segment: Segment, cause: Cause) {
        self.figures.take(segment, cause);
    }

    fn prepared(&mut self, segment: Segment, _: &JobState) {
        self.figures.take(segment, Cause::Job);
    }

    fn unfinished(&mut self, end: Instant, job: &JobState) {
        self.judge(job, end, Ending::Unfinished);
    }

    fn finished(&mut self, end: Instant) {
        self.guarantee.finished(end);
        self.figures.end = end;
    }
}
