//! The event loop around a [`vestal_core::Guard`]: what a natively dispatched Linux run does, in exact time.
//!
//! Here the scheduler does not dispatch. The world keeps the order of SCHED_FIFO: among the first
//! job of each task the most urgent permitted one runs, jobs in the background below all of these.
//! The workers' own rules live here as well: a worker reads its permit at release and after each
//! decision, serves its jobs in the order of arrival, lets as many wait as may ([`Backlog`]), drops
//! a job in the background when its next one arrives, and a late one where its task wants that.
//!
//! The guard gets only exceptions reported: an exhausted limit (`Charged` with what the job has executed
//! since the last charge), before that, as its [`Interest`] is, `Released` with the newest job of each task,
//! or with the job itself and the instant of its release; `Timer` when the guard asked for it;
//! and `Idle` when nothing admitted is pending in a raised mode. Under zero slack the first job of
//! a task that is incomplete at its zero-slack instant is reported then, and so is its end. At an instant
//! that is idle and has releases, idle comes first, so that the schedule is that of [`vestal_core::Uniprocessor`] in [`crate::world`].

use crate::backlog::Backlog;
use crate::calendar::{Calendar, first_releases, release_after};
use crate::error::SimulationError;
use crate::observer::{JobState, Observer, Segment};
use crate::workload::{Demand, Releases};
use crate::world::Effort;
use std::collections::VecDeque;
use vestal_core::job_table::BACKLOG_MAX;
use vestal_core::{
    CpuId, DropReason, Enforcer, Event, Fact, Instant, Interest, JobId, Level, OnMiss, Permit,
    Service, StopReason, TaskConfiguration, TaskId, Until,
};

const CPU: CpuId = CpuId(0);

/// What is simulated, apart from guard and workload.
#[derive(Clone, Copy, Debug)]
pub struct NativeSetting<'a> {
    /// The tasks that the guard was built from.
    pub tasks: &'a [TaskConfiguration],
    /// The run covers `[0, end)`.
    pub end: Instant,
    /// How many jobs may wait. Those count as kept that the backlog of a scheduler that sees every job
    /// would have no room for.
    pub backlog: Backlog,
}

/// Simulates a natively dispatched run from the epoch to the end. O(n) per event.
///
/// The guard has to be new.
///
/// # Errors
/// [`SimulationError`]: a workload that contradicts itself, more waiting jobs than may be kept, or a
/// broken invariant.
pub fn simulate_native<G: Enforcer + ?Sized, O: Observer + ?Sized>(
    guard: &mut G,
    setting: &NativeSetting<'_>,
    releases: &dyn Releases,
    demand: &dyn Demand,
    observer: &mut O,
) -> Result<Effort, SimulationError> {
    let calendar = first_releases(releases, setting.tasks.len(), setting.end)?;
    let interest = guard.interest();
    let mut world = NativeWorld {
        guard,
        setting,
        releases,
        demand,
        observer,
        calendar,
        workers: vec![Worker::default(); setting.tasks.len()],
        running: None,
        wake: None,
        now: Instant::EPOCH,
        busy: false,
        interest,
        over: Vec::new(),
        undecided: false,
        effort: Effort::default(),
    };
    world.run()?;
    Ok(world.effort)
}

/// The thread of one task.
#[derive(Clone, Debug, Default)]
struct Worker {
    /// Jobs that arrived and are not over, oldest first; the first one is being served.
    jobs: VecDeque<JobState>,
    /// What the guard knows of the first job's execution.
    charged: Service,
    /// How many releases there were, and how many the guard knows of.
    released: u64,
    reported: u64,
    /// The guard knows that the first job is incomplete.
    known: bool,
}

impl Worker {
    fn end_first(&mut self) -> Option<JobState> {
        self.charged = Service::ZERO;
        self.known = false;
        self.jobs.pop_front()
    }
}

struct NativeWorld<'a, G: ?Sized, O: ?Sized> {
    guard: &'a mut G,
    setting: &'a NativeSetting<'a>,
    releases: &'a dyn Releases,
    demand: &'a dyn Demand,
    observer: &'a mut O,
    calendar: Calendar,
    workers: Vec<Worker>,
    running: Option<TaskId>,
    /// When the guard wants to be called.
    wake: Option<Instant>,
    now: Instant,
    busy: bool,
    /// What has to be reported to the guard.
    interest: Interest,
    /// How jobs ended that the guard knows as incomplete, until that is reported.
    over: Vec<Fact>,
    /// Something of jobs without slack was reported, and it has not decided yet.
    undecided: bool,
    effort: Effort,
}

impl<G: Enforcer + ?Sized, O: Observer + ?Sized> NativeWorld<'_, G, O> {
    fn run(&mut self) -> Result<(), SimulationError> {
        loop {
            if self.releases.aborted() {
                return Err(SimulationError::Aborted(self.now));
            }
            let next = self.next_instant();
            self.advance_to(next);
            self.tell_of_ends()?;
            self.settle_exhaustion()?;
            self.settle_wake()?;
            self.give_up_late_jobs();
            self.settle_slack()?;
            self.settle_idle()?;
            if next >= self.setting.end {
                self.finish();
                return Ok(());
            }
            self.release_due_jobs()?;
            // A job may have no slack from the beginning.
            self.settle_slack()?;
            self.dispatch();
        }
    }

    fn finish(&mut self) {
        for job in self.workers.iter().flat_map(|worker| &worker.jobs) {
            self.observer.unfinished(self.now, job);
        }
        self.observer.finished(self.now);
    }

    fn numbers(&self) -> impl Iterator<Item = TaskId> + use<G, O> {
        (0..=u16::MAX).take(self.setting.tasks.len()).map(TaskId)
    }

    fn first_job(&self, task: TaskId) -> Option<&JobState> {
        self.workers.get(task.index())?.jobs.front()
    }

    /// What the job may execute in all until that has to be reported to the guard.
    fn limit(&self, job: &JobState) -> Option<Service> {
        let permit = self.guard.permit_for(job.id);
        permit.limit().filter(|_| job.demoted.is_none())
    }

    fn aborts_when_late(&self, task: TaskId) -> bool {
        self.setting
            .tasks
            .get(task.index())
            .is_some_and(|entry| entry.on_miss == OnMiss::Abort)
    }

    fn next_instant(&self) -> Instant {
        let mut next = self.setting.end;
        if let Some((_, _, release)) = self.calendar.first() {
            next = next.min(release);
        }
        if let Some(wake) = self.wake {
            next = next.min(wake.max(self.now));
        }
        for task in self.numbers() {
            if let Some(job) = self.first_job(task)
                && self.aborts_when_late(task)
            {
                next = next.min(job.deadline.max(self.now));
            }
            if let Some(instant) = self.unwatched_instant(task) {
                next = next.min(instant.max(self.now));
            }
        }
        if let Some(job) = self.running.and_then(|task| self.first_job(task)) {
            let mut left = job.remaining();
            if let Some(limit) = self.limit(job) {
                left = left.min(limit.saturating_sub(job.executed));
            }
            next = next.min(self.now.saturating_add(left.time_on_dedicated_cpu()));
        }
        next
    }

    fn advance_to(&mut self, next: Instant) {
        let start = self.now;
        let amount = Service::supplied_during(next.saturating_since(start));
        self.now = next;
        let Some(task) = self.running else { return };
        let worker = &mut self.workers[task.index()];
        let Some(job) = worker.jobs.front_mut() else {
            return;
        };
        job.executed = job.executed.saturating_add(amount);
        let job = *job;
        if !amount.is_zero() {
            let segment = Segment {
                cpu: CPU,
                start,
                end: next,
            };
            self.observer.executed(segment, &job);
        }
        if job.remaining().is_zero() {
            if worker.known {
                let (cpu, job) = (CPU, job.id);
                self.over.push(Fact::Completed { cpu, job });
            }
            worker.end_first();
            self.running = None;
            self.observer.completed(next, &job);
        }
    }

    /// Reports limits that are used up to the guard, until no job stands at one: a rise of the mode
    /// may leave another job with less than it has used.
    fn settle_exhaustion(&mut self) -> Result<(), SimulationError> {
        while let Some(task) = self.numbers().find(|&task| self.stands_at_limit(task)) {
            for other in self.numbers() {
                let worker = &mut self.workers[other.index()];
                if worker.reported < worker.released && self.interest == Interest::NewestReleases {
                    worker.reported = worker.released;
                    let job = JobId {
                        task: other,
                        sequence: worker.released - 1,
                    };
                    self.apply(Fact::Released { job })?;
                }
            }
            let worker = &mut self.workers[task.index()];
            if let Some(job) = worker.jobs.front().copied() {
                let amount = job.executed.saturating_sub(worker.charged);
                worker.charged = job.executed;
                if self.interest == Interest::Releases {
                    self.report(job.released, Fact::Released { job: job.id })?;
                }
                self.apply(Fact::Charged {
                    cpu: CPU,
                    job: job.id,
                    amount,
                })?;
            }
            self.decide()?;
            self.read_permits();
        }
        Ok(())
    }

    /// A job that has only just started at a limit of nothing has to be stopped as well, but not
    /// one that waits for the CPU.
    fn stands_at_limit(&self, task: TaskId) -> bool {
        self.first_job(task).is_some_and(|job| {
            let has_run = self.running == Some(task) || !job.executed.is_zero();
            has_run && self.limit(job).is_some_and(|limit| job.executed >= limit)
        })
    }

    /// Calls the guard at the instant at which it asked for it; a suspended job may go on then.
    fn settle_wake(&mut self) -> Result<(), SimulationError> {
        if self.wake.is_none_or(|wake| wake > self.now) {
            return Ok(());
        }
        self.apply(Fact::Timer)?;
        self.decide()?;
        self.read_permits();
        self.settle_exhaustion()
    }

    /// When the first job of `task` has no slack left, unless the guard watches it already.
    fn unwatched_instant(&self, task: TaskId) -> Option<Instant> {
        let worker = self.workers.get(task.index())?;
        let job = worker.jobs.front()?;
        let entry = self.setting.tasks.get(task.index())?;
        (self.interest == Interest::IncompleteJobs && !worker.known && job.demoted.is_none())
            .then(|| job.released.saturating_add(entry.critical_after()))
    }

    fn tell_of_ends(&mut self) -> Result<(), SimulationError> {
        for fact in core::mem::take(&mut self.over) {
            self.apply(fact)?;
            self.undecided = true;
        }
        Ok(())
    }

    /// Reports jobs that have no slack left to the guard, and the end of those it knows. No other
    /// costs it anything.
    fn settle_slack(&mut self) -> Result<(), SimulationError> {
        self.tell_of_ends()?;
        for task in self.numbers() {
            let reached = self.unwatched_instant(task);
            if reached.is_none_or(|instant| instant > self.now) {
                continue;
            }
            let worker = &mut self.workers[task.index()];
            worker.known = true;
            if let Some(job) = worker.jobs.front().copied() {
                self.report(job.released, Fact::Released { job: job.id })?;
                self.undecided = true;
            }
        }
        if core::mem::take(&mut self.undecided) {
            self.decide()?;
            self.read_permits();
        }
        Ok(())
    }

    fn apply(&mut self, fact: Fact) -> Result<(), SimulationError> {
        self.report(self.now, fact)
    }

    fn report(&mut self, at: Instant, fact: Fact) -> Result<(), SimulationError> {
        self.effort.facts += 1;
        self.guard
            .apply(at, fact)
            .map_err(|violation| SimulationError::Refused { at, violation })
    }

    fn decide(&mut self) -> Result<(), SimulationError> {
        let at = self.now;
        self.effort.decisions += 1;
        match self.guard.decide(at) {
            Ok(plan) => self.wake = plan.next.map(|wake| wake.at),
            Err(violation) => return Err(SimulationError::Refused { at, violation }),
        }
        while let Some(notice) = self.guard.take_notice() {
            match notice.what {
                Event::ModeChanged { from, to, cause } => {
                    self.observer.mode_changed(at, from, to, cause);
                }
                Event::Overrun { job, level, .. } => {
                    self.observer.overran(at, job, level);
                    self.demote(job, level);
                }
                // The worker finds that out by itself, from its permit.
                Event::Dropped { .. } | Event::Late { .. } => {}
                // A guard has no servers.
                Event::Depleted { .. } | Event::Postponed { .. } => {}
                // A guard has no frames.
                Event::FrameOverrun { .. } | Event::FramesSkipped { .. } => {}
            }
        }
        match self.guard.lost_notices() {
            0 => Ok(()),
            lost => Err(SimulationError::NoticesLost { at, lost }),
        }
    }

    fn demote(&mut self, id: JobId, level: Level) {
        let at = self.now;
        let own = self.setting.tasks[id.task.index()].task.criticality;
        if level >= own
            && let Some(job) = self.workers[id.task.index()].jobs.front_mut()
            && job.id == id
        {
            job.demoted = Some(at);
            self.observer.demoted(at, job);
            // It stands for nothing any more, and the guard has found that out itself.
            self.workers[id.task.index()].known = false;
        }
    }

    /// Every worker looks what its jobs are still allowed.
    fn read_permits(&mut self) {
        for task in self.numbers() {
            while let Some(job) = self.first_job(task) {
                let waiting = self.workers[task.index()].jobs.len() > 1;
                let permit = self.guard.permit_for(job.id);
                let why = if waiting && permit == Permit::Demoted {
                    Some(DropReason::Superseded)
                } else {
                    why_dropped(permit)
                };
                let Some(why) = why else { break };
                self.end(task, why);
            }
        }
    }

    fn end(&mut self, task: TaskId, why: DropReason) {
        let worker = &mut self.workers[task.index()];
        let known = worker.known;
        if let Some(job) = worker.end_first() {
            if known {
                let (cpu, job, why) = (CPU, job.id, StopReason::Cancelled);
                self.over.push(Fact::Stopped { cpu, job, why });
            }
            self.observer.dropped(self.now, &job, why);
        }
        if self.running == Some(task) {
            self.running = None;
        }
    }

    fn give_up_late_jobs(&mut self) {
        for task in self.numbers() {
            while self.aborts_when_late(task)
                && self
                    .first_job(task)
                    .is_some_and(|job| job.deadline <= self.now)
            {
                self.end(task, DropReason::Deadline);
            }
        }
    }

    fn settle_idle(&mut self) -> Result<(), SimulationError> {
        let mut pending = self.workers.iter().flat_map(|worker| &worker.jobs);
        if pending.any(|job| job.demoted.is_none()) {
            self.busy = true;
            return Ok(());
        }
        if self.guard.mode() > Level::LOWEST {
            self.apply(Fact::Idle { cpu: CPU })?;
            self.decide()?;
        }
        if core::mem::take(&mut self.busy) {
            self.observer.idle(self.now);
        }
        Ok(())
    }

    fn release_due_jobs(&mut self) -> Result<(), SimulationError> {
        while let Some(first) = self.calendar.first() {
            let (task, sequence, at) = first;
            if at > self.now {
                break;
            }
            let next = release_after(self.releases, first).map_err(|error| *error)?;
            self.calendar.replace_first(next);
            if let Some(kept) = self.kept_too_many(task) {
                self.finish();
                return Err(SimulationError::TooManyKept { at, kept });
            }
            let deadline = self.setting.tasks[task.index()].task.deadline;
            let demand = self.demand.execution(task, sequence);
            let job = JobId { task, sequence };
            self.release(JobState::arriving(job, at, deadline, demand));
        }
        Ok(())
    }

    /// How many jobs wait beyond the backlog of a scheduler, if a job of `task` would be one too many.
    fn kept_too_many(&self, task: TaskId) -> Option<usize> {
        let beyond = |worker: &Worker| worker.jobs.len().saturating_sub(1 + BACKLOG_MAX);
        let worker = self.workers.get(task.index())?;
        if worker.jobs.len() <= BACKLOG_MAX {
            return None;
        }
        let kept = self.workers.iter().map(beyond).sum();
        (kept >= self.setting.backlog.kept_max).then_some(kept)
    }

    fn release(&mut self, job: JobState) {
        let (at, task) = (self.now, job.id.task);
        self.observer.released(at, &job);
        self.workers[task.index()].released = job.id.sequence + 1;
        if let Some(why) = why_dropped(self.guard.permit_for(job.id)) {
            self.observer.dropped(at, &job, why);
            return;
        }
        if self
            .first_job(task)
            .is_some_and(|first| first.demoted.is_some())
        {
            self.end(task, DropReason::Superseded);
        }
        let worker = &mut self.workers[task.index()];
        let is_full = |most| worker.jobs.len() > most;
        if self.setting.backlog.per_task.is_some_and(is_full) {
            self.observer.dropped(at, &job, DropReason::BacklogFull);
        } else {
            worker.jobs.push_back(job);
            self.busy = true;
        }
    }

    /// What SCHED_FIFO does; equal priorities go to the task that stands first.
    fn dispatch(&mut self) {
        let at = self.now;
        let mut best: Option<(u8, u32, TaskId)> = None;
        for task in self.numbers() {
            let Some(job) = self.first_job(task) else {
                continue;
            };
            let position = match self.guard.permit_for(job.id) {
                Permit::Suspended { .. } => continue,
                _ if job.demoted.is_some() => 0,
                Permit::Below { .. } => 1,
                Permit::Run { .. }
                | Permit::Demoted
                | Permit::Dropped { .. }
                | Permit::NotAdmitted => 2,
            };
            let rank = (position, self.setting.tasks[task.index()].priority, task);
            if best.is_none_or(|best| (rank.0, rank.1) > (best.0, best.1)) {
                best = Some(rank);
            }
        }
        let chosen = best.map(|(_, _, task)| task);
        if chosen == self.running {
            return;
        }
        if let Some(job) = self.running.and_then(|task| self.first_job(task)).copied() {
            let permit = self.guard.permit_for(job.id);
            if matches!(
                permit,
                Permit::Suspended {
                    until: Until::At(_)
                }
            ) {
                self.observer.suspended(at, CPU, &job);
            } else {
                self.observer.preempted(at, CPU, &job);
            }
        }
        self.running = chosen;
        if let Some(task) = chosen
            && let Some(job) = self.workers[task.index()].jobs.front_mut()
        {
            self.observer.started(at, CPU, job);
            job.last_cpu = Some(CPU);
        }
    }
}

/// Why a job with this permit is dropped, if it is.
const fn why_dropped(permit: Permit) -> Option<DropReason> {
    match permit {
        Permit::Dropped { why } => Some(why),
        Permit::NotAdmitted => Some(DropReason::Mode),
        Permit::Run { .. } | Permit::Below { .. } | Permit::Suspended { .. } | Permit::Demoted => {
            None
        }
    }
}
