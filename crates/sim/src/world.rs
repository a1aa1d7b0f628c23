//! The event loop: exact time, one total plan at a time.
//!
//! The next instant at which anything can happen is the earliest of: the next release, the
//! completion of a running job, the exhaustion of a budget on a CPU, the wake-up that the last plan
//! asked for, and the end. The world jumps there, charges what ran (C2), reports completions and
//! releases, and only then asks for one decision (C3). What the plan gives to a CPU is confirmed
//! with `Stopped` and `Started` at the same instant (C5).
//!
//! A job of no execution at all completes at the instant at which it is first given a CPU; that
//! takes a second decision at the same instant. The end is exclusive for releases and inclusive for
//! everything else: a job that completes exactly then has completed.
//!
//! O(log n) per event apart from the scheduler, and no allocation per job: the queue of each task
//! keeps the room it once had.
//!
//! The loop is compiled for each kind of scheduler, workload and observer it meets, so that the
//! compiler sees through the calls between them; any of them may be `dyn` all the same.

use crate::calendar::Calendar;
use crate::error::SimulationError;
use crate::observer::{JobState, Observer, Segment};
use crate::pending::Pending;
use crate::workload::{Demand, Releases};
use vestal_core::{
    CpuId, Event, Fact, Instant, JobId, Level, Notice, Scheduler, Service, StopReason, Task, TaskId,
};

/// How many jobs of one task may be pending in the world. Schedulers drop what exceeds their
/// backlog, so that more than this is an error in a scheduler.
pub const PENDING_MAX: usize = 1024;

/// What is simulated, apart from scheduler and workload.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The tasks; a [`TaskId`] is the place in this list. Only deadlines and criticalities are read.
    pub tasks: &'a [Task],
    /// How many CPUs there are.
    pub cpus: u16,
    /// The run covers `[0, end)`.
    pub end: Instant,
}

/// How much work a run was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Calls of [`Scheduler::decide`].
    pub decisions: u64,
    /// Calls of [`Scheduler::apply`].
    pub facts: u64,
}

/// Simulates `scheduler` on `setting` from the epoch to the end.
///
/// # Errors
/// [`SimulationError`]: a workload that contradicts itself, or a broken invariant. Missed deadlines
/// are no errors.
pub fn simulate<S, R, D, O>(
    scheduler: &mut S,
    setting: &Setting<'_>,
    releases: &R,
    demand: &D,
    observer: &mut O,
) -> Result<Effort, SimulationError>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
{
    if setting.end > Instant::HORIZON {
        return Err(SimulationError::EndBeyondHorizon(setting.end));
    }
    let tasks = setting.tasks.len();
    let numbers = u16::try_from(tasks).map_err(|_| SimulationError::TooManyTasks(tasks))?;
    let first = (0..numbers)
        .map(|task| releases.release(TaskId(task), 0, None))
        .collect();
    let mut world = World {
        setting,
        releases,
        demand,
        scheduler,
        observer,
        calendar: Calendar::new(first),
        jobs: vec![Pending::default(); tasks],
        cpus: vec![Cpu::default(); usize::from(setting.cpus)],
        wake: None,
        differs: false,
        now: Instant::EPOCH,
        admitted: 0,
        fresh: 0,
        busy: false,
        lost: 0,
        effort: Effort::default(),
    };
    world.lost = world.scheduler.lost_notices();
    world.run()?;
    Ok(world.effort)
}

/// What runs on a CPU, and how much longer it may.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    running: Option<JobId>,
    /// What the running job still has to execute; kept here so that the next instant is found
    /// without looking the job up.
    remaining: Service,
    /// What the last plan gave this CPU.
    planned: Option<JobId>,
    /// What is left of that job's budget; `None`: no budget.
    budget: Option<Service>,
}

struct World<'a, 'o, S: ?Sized, R: ?Sized, D: ?Sized, O: ?Sized> {
    setting: &'a Setting<'a>,
    releases: &'a R,
    demand: &'a D,
    scheduler: &'o mut S,
    observer: &'o mut O,
    calendar: Calendar,
    /// By task.
    jobs: Vec<Pending>,
    cpus: Vec<Cpu>,
    wake: Option<Instant>,
    /// The plan wants something else than what runs.
    differs: bool,
    now: Instant,
    /// How many admitted jobs are pending.
    admitted: u64,
    /// How many of them were released at this very instant.
    fresh: u64,
    /// An admitted job has been pending since the last idle instant.
    busy: bool,
    lost: u64,
    effort: Effort,
}

impl<S, R, D, O> World<'_, '_, S, R, D, O>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
{
    fn run(&mut self) -> Result<(), SimulationError> {
        // Between two instants each job can be released, completed, and exhausted once per level.
        let limit = 64 + 16 * self.setting.tasks.len() as u64;
        let mut decisions_here = 0;
        loop {
            let next = self.next_instant();
            if next > self.now {
                decisions_here = 0;
                self.fresh = 0;
            }
            if decisions_here >= limit {
                return Err(SimulationError::NoProgress {
                    at: self.now,
                    decisions: decisions_here,
                });
            }
            decisions_here += 1;
            self.advance_to(next)?;
            if next >= self.setting.end {
                self.decide()?;
                self.finish();
                return Ok(());
            }
            self.release_due_jobs()?;
            self.decide()?;
            // On several CPUs a job that had to leave one may be wanted on another, which no
            // scheduler says before the job has stopped (C5).
            while self.differs && self.enact()? && self.cpus.len() > 1 {
                if decisions_here >= limit {
                    return Err(SimulationError::NoProgress {
                        at: self.now,
                        decisions: decisions_here,
                    });
                }
                decisions_here += 1;
                self.decide()?;
            }
        }
    }

    #[inline]
    fn next_instant(&self) -> Instant {
        let mut next = self.setting.end;
        if let Some((_, _, release)) = self.calendar.first() {
            next = next.min(release);
        }
        if let Some(wake) = self.wake {
            next = next.min(wake.max(self.now));
        }
        for cpu in &self.cpus {
            if cpu.running.is_none() {
                continue;
            }
            let mut left = cpu.remaining;
            if let Some(budget) = cpu.budget {
                left = left.min(budget);
            }
            next = next.min(self.now.saturating_add(left.time_on_dedicated_cpu()));
        }
        next
    }

    /// Lets every CPU run until `next`, and reports what became of the jobs there.
    fn advance_to(&mut self, next: Instant) -> Result<(), SimulationError> {
        let start = self.now;
        let amount = Service::supplied_during(next.saturating_since(start));
        self.now = next;
        for cpu in (0..self.setting.cpus).map(CpuId) {
            if let Some(id) = self.cpus[cpu.index()].running {
                self.run_job(cpu, id, start, amount)?;
            }
        }
        if self.wake.is_some_and(|wake| wake <= next) {
            self.wake = None;
            self.apply(Fact::Timer)?;
        }
        Ok(())
    }

    #[inline]
    fn run_job(
        &mut self,
        cpu: CpuId,
        id: JobId,
        start: Instant,
        amount: Service,
    ) -> Result<(), SimulationError> {
        let end = self.now;
        let slot = &mut self.cpus[cpu.index()];
        slot.remaining = slot.remaining.saturating_sub(amount);
        if let Some(budget) = slot.budget.as_mut() {
            *budget = budget.saturating_sub(amount);
        }
        let exhausted = slot.budget.is_some_and(Service::is_zero);
        let completed = slot.remaining.is_zero();
        let Some(job) = find(&mut self.jobs, id) else {
            return Err(SimulationError::UnknownJobPlanned {
                at: start,
                cpu,
                job: id,
            });
        };
        job.executed = job.executed.saturating_add(amount);
        if !amount.is_zero() {
            self.observer.executed(Segment { cpu, start, end }, job);
        }
        // A budget of nothing is exhausted without having run: the scheduler has to hear of it.
        if !amount.is_zero() || exhausted {
            let job = id;
            let charged = Fact::Charged { cpu, job, amount };
            tell(self.scheduler, &mut self.effort, end, charged)?;
        }
        if completed {
            slot.running = None;
            let job_completed = Fact::Completed { cpu, job: id };
            tell(self.scheduler, &mut self.effort, end, job_completed)?;
            self.observer.completed(end, job);
            let (released, admitted) = (job.released, job.demoted.is_none());
            if let Some(pending) = self.jobs.get_mut(id.task.index()) {
                pending.end(id);
            }
            if admitted {
                self.leave(released);
            }
        }
        Ok(())
    }

    #[inline]
    fn release_due_jobs(&mut self) -> Result<(), SimulationError> {
        while let Some((task, sequence, at)) = self.calendar.first() {
            if at > self.now {
                break;
            }
            let next = self
                .releases
                .release(task, sequence.saturating_add(1), Some(at));
            if let Some(next) = next
                && next <= at
            {
                return Err(SimulationError::ReleasesNotAscending {
                    task,
                    previous: at,
                    next,
                });
            }
            self.calendar.replace_first(next);
            let job = JobState {
                id: JobId { task, sequence },
                released: at,
                deadline: at.saturating_add(self.setting.tasks[task.index()].deadline),
                demand: self.demand.execution(task, sequence),
                executed: Service::ZERO,
                demoted: None,
                last_cpu: None,
            };
            let pending = &mut self.jobs[task.index()];
            if pending.len() >= PENDING_MAX {
                return Err(SimulationError::TooManyPending(task));
            }
            pending.push(job);
            self.admitted += 1;
            self.fresh += 1;
            self.apply(Fact::Released { job: job.id })?;
            self.observer.released(at, &job);
        }
        Ok(())
    }

    #[inline]
    fn decide(&mut self) -> Result<(), SimulationError> {
        let at = self.now;
        self.effort.decisions += 1;
        let mut differs = false;
        let plan = self
            .scheduler
            .decide(at)
            .map_err(|violation| SimulationError::Refused { at, violation })?;
        for (index, cpu) in self.cpus.iter_mut().enumerate() {
            let slot = plan.slots.get(index).and_then(Option::as_ref);
            cpu.planned = slot.map(|slot| slot.job);
            cpu.budget = slot
                .and_then(|slot| slot.budget.as_ref())
                .map(|budget| budget.remaining);
            differs |= cpu.planned != cpu.running;
        }
        self.differs = differs;
        self.wake = plan.next.map(|wake| wake.at);
        // Most decisions have nothing to say.
        if let Some(notice) = self.scheduler.take_notice() {
            self.hear_notices(notice);
        }
        let lost = self.scheduler.lost_notices();
        if lost > self.lost {
            let lost = lost - self.lost;
            return Err(SimulationError::NoticesLost { at, lost });
        }
        if self.admitted == self.fresh {
            if self.busy {
                self.observer.idle(at);
            }
            self.busy = self.admitted > 0;
        } else {
            self.busy = true;
        }
        Ok(())
    }

    /// Passes on what the scheduler says, of which `first` is the beginning.
    #[cold]
    fn hear_notices(&mut self, first: Notice) {
        let at = self.now;
        let mut next = Some(first);
        while let Some(notice) = next {
            match notice.what {
                Event::ModeChanged { from, to, cause } => {
                    self.observer.mode_changed(at, from, to, cause);
                }
                Event::Overrun { job, level, .. } => {
                    self.observer.overran(at, job, level);
                    self.demote(job, level);
                }
                Event::Dropped { job, why } => {
                    if let Some(state) = self.forget(job) {
                        self.observer.dropped(at, &state, why);
                    }
                }
                // What servers do shows in the plans.
                Event::Late { .. }
                | Event::Depleted { .. }
                | Event::Postponed { .. }
                | Event::FrameOverrun { .. }
                | Event::FramesSkipped { .. } => {}
            }
            next = self.scheduler.take_notice();
        }
    }

    /// A job that used up the limit of its own level, or of a mode above it, has lost its place.
    fn demote(&mut self, id: JobId, level: Level) {
        let own = self
            .setting
            .tasks
            .get(id.task.index())
            .map(|task| task.criticality);
        let at = self.now;
        if own.is_none_or(|own| level < own) {
            return;
        }
        if let Some(job) = find(&mut self.jobs, id)
            && job.demoted.is_none()
        {
            job.demoted = Some(at);
            let job = *job;
            self.leave(job.released);
            self.observer.demoted(at, &job);
        }
    }

    /// Confirms what the plan wants: first everybody who has to go, then everybody who comes. Says
    /// whether a job stopped that may go on elsewhere.
    #[inline]
    fn enact(&mut self) -> Result<bool, SimulationError> {
        let mut displaced = false;
        for cpu in (0..self.setting.cpus).map(CpuId) {
            displaced |= self.withdraw(cpu)?;
        }
        for cpu in (0..self.setting.cpus).map(CpuId) {
            self.dispatch(cpu)?;
        }
        Ok(displaced)
    }

    /// Stops what runs on `cpu` if the plan wants something else; says whether that job is pending.
    #[inline]
    fn withdraw(&mut self, cpu: CpuId) -> Result<bool, SimulationError> {
        let at = self.now;
        let state = &mut self.cpus[cpu.index()];
        let Some(job) = state.running else {
            return Ok(false);
        };
        if state.planned == Some(job) {
            return Ok(false);
        }
        state.running = None;
        let pending = find(&mut self.jobs, job);
        let why = match pending {
            Some(_) => StopReason::Preempted,
            None => StopReason::Cancelled,
        };
        let stopped = Fact::Stopped { cpu, job, why };
        tell(self.scheduler, &mut self.effort, at, stopped)?;
        let Some(state) = pending else {
            return Ok(false);
        };
        self.observer.preempted(at, cpu, state);
        Ok(true)
    }

    /// Starts on `cpu` what the plan wants if it does not run.
    #[inline]
    fn dispatch(&mut self, cpu: CpuId) -> Result<(), SimulationError> {
        let at = self.now;
        let state = &self.cpus[cpu.index()];
        let Some(job) = state.planned else {
            return Ok(());
        };
        if state.running == Some(job) {
            return Ok(());
        }
        let elsewhere = |other: &Cpu| other.running == Some(job);
        if self.cpus.len() > 1 && self.cpus.iter().any(elsewhere) {
            return Err(SimulationError::PlannedTwice { at, job });
        }
        let started = Fact::Started { cpu, job };
        tell(self.scheduler, &mut self.effort, at, started)?;
        let Some(pending) = find(&mut self.jobs, job) else {
            return Err(SimulationError::UnknownJobPlanned { at, cpu, job });
        };
        let state = &mut self.cpus[cpu.index()];
        state.running = Some(job);
        state.remaining = pending.remaining();
        self.observer.started(at, cpu, pending);
        pending.last_cpu = Some(cpu);
        Ok(())
    }

    fn finish(&mut self) {
        let end = self.now;
        for job in self.jobs.iter().flat_map(Pending::iter) {
            self.observer.unfinished(end, job);
        }
        self.observer.finished(end);
    }

    #[inline]
    fn apply(&mut self, fact: Fact) -> Result<(), SimulationError> {
        tell(self.scheduler, &mut self.effort, self.now, fact)
    }

    fn forget(&mut self, id: JobId) -> Option<JobState> {
        let job = self.jobs.get_mut(id.task.index())?.remove(id)?;
        if job.demoted.is_none() {
            self.leave(job.released);
        }
        Some(job)
    }

    /// A job of that release no longer counts as admitted.
    #[inline]
    fn leave(&mut self, released: Instant) {
        self.admitted -= 1;
        if released == self.now {
            self.fresh -= 1;
        }
    }
}

/// Tells the scheduler a fact.
#[inline]
fn tell<S: Scheduler + ?Sized>(
    scheduler: &mut S,
    effort: &mut Effort,
    at: Instant,
    fact: Fact,
) -> Result<(), SimulationError> {
    effort.facts += 1;
    scheduler
        .apply(at, fact)
        .map_err(|violation| SimulationError::Refused { at, violation })
}

#[inline]
fn find(jobs: &mut [Pending], id: JobId) -> Option<&mut JobState> {
    jobs.get_mut(id.task.index())?.find(id)
}
