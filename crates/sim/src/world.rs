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

mod around;
mod costing;
mod kept;
mod notices;
mod run;
mod steps;

pub use run::{Amid, simulate, simulate_amid};
pub use steps::{Steps, simulate_together, stepwise, stepwise_amid};

use crate::backlog::Backlog;
use crate::calendar::{Calendar, first_releases, release_after};
use crate::costs::Cause;
use crate::count;
use crate::cpu::{Cpu, FIRST, NEVER};
use crate::error::SimulationError;
use crate::observer::{JobState, Observer, Segment};
use crate::outside::Surroundings;
use crate::pending::Pending;
use crate::workload::{Demand, Releases};
use vestal_core::{
    ContractViolation, CpuId, Fact, Instant, JobId, Scheduler, Service, StopReason, Task, TaskId,
};

/// What is simulated, apart from scheduler and workload.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The tasks; a [`TaskId`] is the index in this list. Only deadlines and criticalities are read.
    pub tasks: &'a [Task],
    /// How many CPUs there are.
    pub cpus: u16,
    /// The run covers `[0, end)`.
    pub end: Instant,
    /// How many jobs may wait.
    pub backlog: Backlog,
}

/// How much work a run was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Calls of [`Scheduler::decide`].
    pub decisions: u64,
    /// Calls of [`Scheduler::apply`].
    pub facts: u64,
}

/// The outcome of a part of the loop. The error is boxed: it is rare, and a pointer is quick to look at.
type Step<T = ()> = Result<T, Box<SimulationError>>;

/// A run. With exactly one CPU (`ALONE`) the compiler leaves out what concerns the others.
struct World<'a, 'o, S: ?Sized, R: ?Sized, D: ?Sized, O: ?Sized, X, const ALONE: bool> {
    setting: &'a Setting<'a>,
    /// When it ends: as its setting says, or earlier where it was cut.
    end: Instant,
    releases: &'a R,
    demand: &'a D,
    scheduler: &'o mut S,
    observer: &'o mut O,
    /// Devices and who waits for them; for most runs nothing.
    outside: X,
    calendar: Calendar,
    /// By task.
    jobs: Vec<Pending>,
    /// How many jobs are kept, and of which tasks.
    kept: usize,
    crowded: Vec<TaskId>,
    /// How many jobs of one task the scheduler may have reported.
    room: usize,
    /// Most runs have one CPU: it is found without looking.
    first: Cpu,
    others: Vec<Cpu>,
    /// What the last plan asked for; [`NEVER`] if nothing.
    wake: Instant,
    now: Instant,
    /// At the last instant with more than one decision, how many there were.
    decisions_here: (Instant, u64),
    /// How many admitted jobs are pending.
    admitted: u64,
    /// How many of them were released at this very instant.
    fresh: u64,
    /// An admitted job has been pending since the last idle instant.
    busy: bool,
    lost: u64,
    effort: Effort,
}

impl<'a, 'o, S, R, D, O, X, const ALONE: bool> World<'a, 'o, S, R, D, O, X, ALONE>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
    X: Surroundings<'a>,
{
    fn new(
        scheduler: &'o mut S,
        setting: &'a Setting<'a>,
        outside: X,
        (releases, demand): (&'a R, &'a D),
        observer: &'o mut O,
    ) -> Result<Self, SimulationError> {
        Ok(Self {
            setting,
            outside,
            end: setting.end,
            calendar: first_releases(releases, setting.tasks.len(), setting.end)?,
            jobs: setting.tasks.iter().map(Pending::of).collect(),
            kept: 0,
            crowded: Vec::new(),
            room: setting.backlog.room(scheduler.backlog()),
            first: Cpu::IDLE,
            others: vec![Cpu::IDLE; usize::from(setting.cpus.saturating_sub(1))],
            wake: NEVER,
            now: Instant::EPOCH,
            decisions_here: (Instant::EPOCH, 0),
            admitted: 0,
            fresh: 0,
            busy: false,
            lost: scheduler.lost_notices(),
            effort: Effort::default(),
            releases,
            demand,
            scheduler,
            observer,
        })
    }

    fn run(&mut self) -> Step {
        while !self.advance()? {}
        Ok(())
    }

    /// What came of a run that ended so.
    fn ended(&self, ended: Step) -> Result<Effort, SimulationError> {
        // What a lost notice would have said is missing from then on, and other errors may come of it.
        match self.look_for_lost_notices().and(ended) {
            Ok(()) => Ok(self.effort),
            Err(error) => Err(*error),
        }
    }

    /// Goes to the next instant at which anything can happen and does what is to be done there; says
    /// whether that was the end.
    #[inline(always)]
    fn advance(&mut self) -> Step<bool> {
        if self.releases.aborted() {
            return Err(Box::new(SimulationError::Aborted(self.now)));
        }
        let (next, end) = (self.next_instant(), self.end);
        if next > self.now {
            self.fresh = 0;
        } else {
            self.another_decision()?;
        }
        self.advance_to(next)?;
        if next < end {
            self.release_due_jobs()?;
            if self.outside.next() <= next {
                self.happen()?;
            }
        }
        loop {
            let differs = self.decide()?;
            if next >= end {
                self.finish();
                return Ok(true);
            }
            // On several CPUs a job that had to leave one may be wanted on another, which no
            // scheduler says before the job has stopped (C5).
            if !(differs && self.enact()? && !ALONE) {
                self.reckon();
                return Ok(false);
            }
            self.another_decision()?;
        }
    }

    /// Counts a decision that is not the first one at this instant, which nobody counts.
    #[cold]
    fn another_decision(&mut self) -> Step {
        let at = self.now;
        let (counted_at, mut decisions) = self.decisions_here;
        if counted_at < at {
            decisions = 1;
        }
        // Between two instants each job can be released, completed, and exhausted once per level.
        let limit = 64 + 16 * self.setting.tasks.len() as u64;
        if decisions < limit {
            self.decisions_here = (at, decisions + 1);
            return Ok(());
        }
        Err(Box::new(SimulationError::NoProgress { at, decisions }))
    }

    #[inline]
    fn next_instant(&self) -> Instant {
        let mut next = self.end.min(self.calendar.next());
        next = next.min(self.wake);
        next = next.min(self.outside.next());
        next = next.min(self.first.until());
        if ALONE {
            return next;
        }
        self.others.iter().map(Cpu::until).fold(next, Instant::min)
    }

    /// Lets every CPU run until `next`, and reports what became of the jobs there.
    #[inline]
    fn advance_to(&mut self, next: Instant) -> Step {
        let start = self.now;
        self.now = next;
        self.run_job(FIRST, start)?;
        self.on_others(|world, cpu| world.run_job(cpu, start))?;
        if self.wake <= next {
            self.wake = NEVER;
            self.apply(Fact::Timer)?;
            self.charge_wake();
        }
        Ok(())
    }

    #[inline(always)]
    fn run_job(&mut self, cpu: CpuId, start: Instant) -> Step {
        let end = self.now;
        let amount = Service::supplied_during(end.saturating_since(start));
        let slot = self.cpu(cpu);
        let Some(id) = slot.running else {
            return Ok(());
        };
        let (completed, exhausted) = (slot.completes <= end, slot.exhausts <= end);
        if completed {
            slot.running = None;
        }
        let Some(pending) = self.jobs.get_mut(id.task.index()) else {
            return Err(unknown_job_planned(start, cpu, id));
        };
        let Some(job) = pending.find(id) else {
            return Err(unknown_job_planned(start, cpu, id));
        };
        // Not beyond the horizon: a job executes for no longer than the run lasts.
        let (mut body, mut noticed, mut begins) = (amount, amount, start);
        if let Some(costing) = self.outside.costing() {
            let used = costing.used((cpu, id.task), (start, end), completed || exhausted);
            (body, noticed) = (used.body, used.noticed);
            begins = end.saturating_sub(body.time_on_dedicated_cpu());
            if !used.own.is_zero() {
                let start = begins.saturating_sub(used.own.time_on_dedicated_cpu());
                let end = begins;
                self.observer.prepared(Segment { cpu, start, end }, job);
            }
        }
        let executed = job.executed.as_nanos().wrapping_add(body.as_nanos());
        job.executed = Service::from_nanos(executed);
        if !body.is_zero() {
            let start = begins;
            self.observer.executed(Segment { cpu, start, end }, job);
        }
        // A budget of nothing is exhausted without having run: it has to be reported to the scheduler.
        if !noticed.is_zero() || exhausted {
            let (job, amount) = (id, noticed);
            let charged = Fact::Charged { cpu, job, amount };
            report(self.scheduler, &mut self.effort, end, charged)?;
        }
        if completed {
            if let Some(outside) = self.outside.outside()
                && let Some(pause) = outside.pause(job)
            {
                return self.pause(cpu, id, pause);
            }
            let job_completed = Fact::Completed { cpu, job: id };
            report(self.scheduler, &mut self.effort, end, job_completed)?;
            self.observer.completed(end, job);
            let (released, admitted) = (job.released, job.demoted.is_none());
            let others_wait = pending.end(id);
            if admitted {
                self.leave(released);
            }
            if others_wait {
                self.hand_on()?;
            }
            self.charge(cpu, Cause::Completion);
        }
        Ok(())
    }

    #[inline]
    fn release_due_jobs(&mut self) -> Step {
        while self.calendar.next() <= self.now {
            self.release_next()?;
        }
        Ok(())
    }

    /// Takes the next release from the calendar.
    #[inline(never)]
    fn release_next(&mut self) -> Step {
        let Some(first) = self.calendar.first() else {
            return Ok(());
        };
        let next = release_after(self.releases, first)?;
        self.calendar.replace_first(next);
        let (task, sequence, _) = first;
        self.charge_task(task, Cause::Release);
        if self.jobs[task.index()].is_empty() {
            let job = self.arrival(task, sequence);
            self.jobs[task.index()].begin(job);
            self.tell_of(&job)
        } else {
            self.release_behind(task, sequence)
        }
    }

    /// The job of `task` that is released just now.
    #[inline(always)]
    fn arrival(&self, task: TaskId, sequence: u64) -> JobState {
        let deadline = self.jobs[task.index()].deadline();
        let demand = self.demand.execution(task, sequence);
        JobState::arriving(JobId { task, sequence }, self.now, deadline, demand)
    }

    /// Reports a job that arrives just now and is pending from now on.
    #[inline(always)]
    fn tell_of(&mut self, job: &JobState) -> Step {
        count(&mut self.admitted);
        count(&mut self.fresh);
        self.apply(Fact::Released { job: job.id })?;
        self.observer.released(self.now, job);
        Ok(())
    }

    /// Asks the scheduler until no job waits for which it has room; says whether it wants something else
    /// than what runs.
    #[inline]
    fn decide(&mut self) -> Step<bool> {
        let mut differs = self.ask()?;
        loop {
            if self.kept > 0 {
                differs = self.settle_kept(differs)?;
            }
            if !self.notice_displaced()? {
                break;
            }
            differs = self.ask()?;
        }
        // Where an admitted job is older than this instant, an earlier decision has noted it.
        if self.admitted == self.fresh {
            if self.busy {
                self.observer.idle(self.now);
            }
            self.busy = self.admitted > 0;
        }
        Ok(differs)
    }

    #[inline(always)]
    fn ask(&mut self) -> Step<bool> {
        let at = self.now;
        count(&mut self.effort.decisions);
        let plan = match self.scheduler.decide(at) {
            Ok(plan) => plan,
            Err(violation) => return Err(refused(at, violation)),
        };
        let slot = |index| plan.slots.get(index).and_then(Option::as_ref);
        let mut differs = false;
        if ALONE || self.setting.cpus > 0 {
            differs = self.first.plan(slot(0), at);
        }
        if !ALONE {
            for (index, cpu) in (1..).zip(&mut self.others) {
                differs |= cpu.plan(slot(index), at);
            }
        }
        if let Some(costing) = self.outside.costing() {
            costing.see(&plan);
        }
        self.wake = match plan.next {
            // One in the past means "at once".
            Some(wake) => wake.at.max(at),
            None => NEVER,
        };
        // Most decisions have nothing to say, and then nothing can be lost for want of room. Where
        // something is lost all the same, the run has no other outcome than that: see `simulate_on`.
        if let Some(notice) = self.scheduler.take_notice() {
            self.hear_notices(notice)?;
        }
        Ok(differs)
    }

    /// Confirms what the plan wants: first the jobs that have to go, then those that come. Says
    /// whether a job stopped that may go on elsewhere.
    #[inline]
    fn enact(&mut self) -> Step<bool> {
        let mut displaced = self.displace(FIRST)?;
        self.on_others(|world, cpu| {
            displaced |= world.displace(cpu)?;
            Ok(())
        })?;
        self.dispatch(FIRST)?;
        self.on_others(Self::dispatch)?;
        Ok(displaced)
    }

    /// Stops what runs on `cpu` if the plan wants something else; says whether that job is pending.
    #[inline(always)]
    fn displace(&mut self, cpu: CpuId) -> Step<bool> {
        let at = self.now;
        let state = self.cpu(cpu);
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
        report(self.scheduler, &mut self.effort, at, stopped)?;
        let Some(state) = pending else {
            return Ok(false);
        };
        self.observer.preempted(at, cpu, state);
        Ok(true)
    }

    /// Starts on `cpu` what the plan wants if it does not run.
    #[inline(always)]
    fn dispatch(&mut self, cpu: CpuId) -> Step {
        let at = self.now;
        let state = self.cpu(cpu);
        let Some(job) = state.planned else {
            return Ok(());
        };
        if state.running == Some(job) {
            return Ok(());
        }
        if !ALONE && self.runs_somewhere(job) {
            return Err(Box::new(SimulationError::PlannedTwice { at, job }));
        }
        let started = Fact::Started { cpu, job };
        report(self.scheduler, &mut self.effort, at, started)?;
        let Some(pending) = find(&mut self.jobs, job) else {
            return Err(unknown_job_planned(at, cpu, job));
        };
        self.observer.started(at, cpu, pending);
        if let Some(costing) = self.outside.costing()
            && pending.last_cpu.is_none()
        {
            costing.begin(job.task);
        }
        pending.last_cpu = Some(cpu);
        let stretch = match self.outside.outside() {
            Some(outside) => outside.stretch(pending),
            None => pending.remaining(),
        };
        let completes = at.saturating_add(stretch.time_on_dedicated_cpu());
        let state = self.cpu(cpu);
        state.running = Some(job);
        state.completes = completes;
        self.charge(cpu, Cause::Switch);
        Ok(())
    }

    fn runs_somewhere(&self, job: JobId) -> bool {
        let runs_it = |cpu: &Cpu| cpu.running == Some(job);
        runs_it(&self.first) || self.others.iter().any(runs_it)
    }

    #[inline]
    fn cpu(&mut self, cpu: CpuId) -> &mut Cpu {
        match cpu.index().checked_sub(1) {
            Some(position) if !ALONE => &mut self.others[position],
            Some(_) | None => &mut self.first,
        }
    }

    /// The same for every CPU but the first, in order.
    #[inline]
    fn on_others(&mut self, mut step: impl FnMut(&mut Self, CpuId) -> Step) -> Step {
        if ALONE {
            return Ok(());
        }
        (1..self.setting.cpus).try_for_each(|cpu| step(self, CpuId(cpu)))
    }

    fn finish(&mut self) {
        let end = self.now;
        self.cut_costs();
        self.report_unfinished(end);
        self.observer.finished(end);
    }

    #[inline]
    fn apply(&mut self, fact: Fact) -> Step {
        report(self.scheduler, &mut self.effort, self.now, fact)
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

/// Reports a fact to the scheduler.
// The kind of the fact is known at each call: inlined, only the part for that kind is left.
#[inline(always)]
fn report<S: Scheduler + ?Sized>(
    scheduler: &mut S,
    effort: &mut Effort,
    at: Instant,
    fact: Fact,
) -> Step {
    count(&mut effort.facts);
    match scheduler.apply(at, fact) {
        Ok(()) => Ok(()),
        Err(violation) => Err(refused(at, violation)),
    }
}

#[cold]
fn refused(at: Instant, violation: ContractViolation) -> Box<SimulationError> {
    Box::new(SimulationError::Refused { at, violation })
}

#[cold]
fn unknown_job_planned(at: Instant, cpu: CpuId, job: JobId) -> Box<SimulationError> {
    Box::new(SimulationError::UnknownJobPlanned { at, cpu, job })
}

#[inline]
fn find(jobs: &mut [Pending], id: JobId) -> Option<&mut JobState> {
    jobs.get_mut(id.task.index())?.find(id)
}
