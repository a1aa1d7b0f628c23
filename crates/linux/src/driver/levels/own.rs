//! Levels A and B of one CPU: its own domain, which nobody else has, and the workers that live there.

use super::hands::{Hands, Step};
use super::memory::{Memory, Next};
use crate::control::Class;
use crate::driver::dispatch::Worker;
use std::collections::VecDeque;
use vestal_core::fact::StopReason;
use vestal_core::plan::{Slot, Wake};
use vestal_core::{
    ContractViolation, CpuId, DropReason, Drops, Event, Fact, Instant, JobId, Notice, Scheduler,
    Service, TaskId,
};

/// One task.
#[derive(Debug)]
struct Own {
    /// By the number of the set.
    id: TaskId,
    memory: Memory,
    /// Released, not begun, not dropped, oldest first.
    waiting: VecDeque<u64>,
    dropped: Drops,
}

/// So many jobs of a task may wait before memory is asked for.
const WAITING: usize = 1_024;

/// The own domain of a CPU, and its workers.
pub(super) struct Local<D> {
    pub(super) domain: D,
    cpu: CpuId,
    /// By the numbers of the CPU.
    tasks: Vec<Own>,
    /// By the numbers of the set, which are those of the domain.
    numbers: Vec<Option<usize>>,
    /// What the domain takes for running (C5).
    running: Option<JobId>,
    pub(super) slot: Option<Slot>,
    pub(super) wake: Option<Wake>,
}

impl<D: Scheduler> Local<D> {
    /// Of tasks with these numbers in a set of so many.
    pub(super) fn new(domain: D, cpu: CpuId, (tasks, all): (&[TaskId], usize)) -> Self {
        let mut numbers = vec![None; all];
        for (index, task) in tasks.iter().enumerate() {
            if let Some(number) = numbers.get_mut(task.index()) {
                *number = Some(index);
            }
        }
        let own = tasks.iter().map(|&id| Own {
            id,
            memory: Memory::default(),
            waiting: VecDeque::with_capacity(WAITING),
            dropped: Drops::default(),
        });
        Self {
            domain,
            cpu,
            tasks: own.collect(),
            numbers,
            running: None,
            slot: None,
            wake: None,
        }
    }

    /// The number of its task here.
    fn index(&self, task: TaskId) -> Step<usize> {
        let index = self.numbers.get(task.index()).copied().flatten();
        index.ok_or(ContractViolation::UnknownTask(task))
    }

    fn of<'a>(&mut self, hands: &impl Hands<'a>, task: TaskId) -> Step<(&mut Own, Worker<'a>)> {
        let index = self.index(task)?;
        let unknown = ContractViolation::UnknownTask(task);
        let worker = hands.worker(index).ok_or(unknown)?;
        Ok((self.tasks.get_mut(index).ok_or(unknown)?, worker))
    }

    /// The running job, the worker's clock account of it, and what its budget leaves it beyond what is charged.
    pub(super) fn to_watch<'a>(
        &self,
        worker: impl Fn(usize) -> Option<Worker<'a>>,
    ) -> Option<(JobId, u64)> {
        let job = self.running?;
        let slot = self.slot.filter(|slot| slot.job == job)?;
        let remaining = slot.budget?.remaining.as_nanos();
        let index = self.index(job.task).ok()?;
        let (own, worker) = (self.tasks.get(index)?, worker(index)?);
        Some((job, remaining.saturating_sub(own.memory.uncharged(worker))))
    }

    /// Takes the ends of jobs from the workers.
    pub(super) fn take_ends<'a>(&mut self, hands: &mut impl Hands<'a>) -> Step<u64> {
        let mut used = 0;
        for index in 0..self.tasks.len() {
            let Some(done) = hands.worker(index).and_then(Worker::take_done) else {
                continue;
            };
            let Some(own) = self.tasks.get_mut(index) else {
                continue;
            };
            let (id, sequence) = (own.id, done.sequence);
            let job = JobId { task: id, sequence };
            let is_running = self.running == Some(job);
            own.memory.end(&done, is_running);
            if is_running {
                let at = hands.instant(done.finished);
                used += self.charge(hands, at)?;
                self.running = None;
                self.domain
                    .apply(at, end_of(self.cpu, job, done.completed))?;
            }
        }
        Ok(used)
    }

    /// Charges the running job what its thread used (C2); gives that.
    pub(super) fn charge<'a>(&mut self, hands: &impl Hands<'a>, at: Instant) -> Step<u64> {
        let Some(job) = self.running else {
            return Ok(0);
        };
        let (own, worker) = self.of(hands, job.task)?;
        let used = own.memory.charge(worker, job.task);
        let slot = self.slot.filter(|slot| slot.job == job);
        // A slot without a rest ends with that: the job was looked at, and was not done.
        let is_over = slot.is_some_and(|slot| {
            let budget = slot.budget;
            budget.is_some_and(|budget| budget.remaining.is_zero())
        });
        if used > 0 || is_over {
            let (cpu, amount) = (self.cpu, Service::from_nanos(used));
            self.domain.apply(at, Fact::Charged { cpu, job, amount })?;
        }
        Ok(used)
    }

    /// A job was released. The domain takes a few of a task at once; then it decides, and takes the next.
    pub(super) fn release<'a>(
        &mut self,
        hands: &mut impl Hands<'a>,
        (at, job): (Instant, JobId),
        now: Instant,
    ) -> Step {
        let (own, _) = self.of(hands, job.task)?;
        own.waiting.push_back(job.sequence);
        let fact = Fact::Released { job };
        match self.domain.apply(at, fact) {
            Err(ContractViolation::TooManyFacts { .. }) => {
                self.domain.decide(now)?;
                self.take_notices(hands);
                self.domain.apply(at, fact)
            }
            outcome => outcome,
        }
    }

    /// Takes what the domain says, for the report and for the workers.
    pub(super) fn take_notices<'a>(&mut self, hands: &mut impl Hands<'a>) {
        while let Some(notice) = self.domain.take_notice() {
            if let Some(what) = self.renumbered(notice.what) {
                hands.take_notice(&Notice { what, ..notice });
            }
            if let Event::Dropped { job, why } = notice.what {
                self.drop_job(job, why);
            }
        }
    }

    /// With the task's number on this CPU; `None` where it is none of this CPU.
    fn renumbered(&self, what: Event) -> Option<Event> {
        let here = |job: JobId| {
            let index = self.index(job.task).ok()?;
            let task = TaskId(u16::try_from(index).ok()?);
            Some(JobId { task, ..job })
        };
        #[expect(clippy::wildcard_enum_match_arm, reason = "the rest is about no task")]
        Some(match what {
            Event::Overrun {
                job,
                level,
                executed,
            } => Event::Overrun {
                job: here(job)?,
                level,
                executed,
            },
            Event::Dropped { job, why } => Event::Dropped {
                job: here(job)?,
                why,
            },
            other => other,
        })
    }

    /// The domain had no room for a job, which so never begins.
    fn drop_job(&mut self, job: JobId, why: DropReason) {
        let Ok(index) = self.index(job.task) else {
            return;
        };
        if let Some(own) = self.tasks.get_mut(index)
            && let Some(place) = own.waiting.iter().position(|other| *other == job.sequence)
        {
            own.waiting.remove(place);
            own.dropped.add(why, 1);
        }
    }

    /// Carries out what the domain decided; says whether something came of it that needs another decision.
    pub(super) fn enact<'a>(&mut self, hands: &mut impl Hands<'a>, at: Instant) -> Step<bool> {
        let target = self.slot.map(|slot| slot.job);
        let named = target.and_then(|job| {
            let task = TaskId(u16::try_from(self.index(job.task).ok()?).ok()?);
            Some(JobId { task, ..job })
        });
        hands.plan(named);
        if self.running != target {
            self.stop(hands, at)?;
        } else if target.is_some() {
            return Ok(false);
        }
        match target {
            Some(job) => self.begin(hands, (at, job)),
            None => {
                self.hold_all(hands);
                Ok(false)
            }
        }
    }

    /// Takes the CPU from the running job.
    fn stop<'a>(&mut self, hands: &mut impl Hands<'a>, at: Instant) -> Step {
        let Some(job) = self.running.take() else {
            return Ok(());
        };
        let cpu = self.cpu;
        let (own, worker) = self.of(hands, job.task)?;
        own.memory.stop(hands, worker, Class::Suspended);
        let why = StopReason::Preempted;
        self.domain.apply(at, Fact::Stopped { cpu, job, why })
    }

    /// The CPU is for others: no begun job goes on. Those that were held before stay so.
    fn hold_all<'a>(&self, hands: &mut impl Hands<'a>) {
        for (index, own) in self.tasks.iter().enumerate() {
            if let Some(worker) = hands.worker(index) {
                own.memory.hold(hands, worker);
            }
        }
    }

    /// Gives the CPU to `job`; says whether it turned out to be over already.
    fn begin<'a>(&mut self, hands: &mut impl Hands<'a>, (at, job): (Instant, JobId)) -> Step<bool> {
        let cpu = self.cpu;
        let (own, worker) = self.of(hands, job.task)?;
        let release = hands.clock_at(worker.release_of(job.sequence));
        own.waiting.retain(|other| *other != job.sequence);
        let next = own.memory.run(hands, worker, (job.sequence, release));
        self.domain.apply(at, Fact::Started { cpu, job })?;
        match next {
            Next::GoesOn => self.running = Some(job),
            Next::Over { whole } => self.domain.apply(at, end_of(cpu, job, whole))?,
        }
        Ok(next != Next::GoesOn)
    }

    /// The job of its own that has the CPU.
    pub(super) const fn running(&self) -> Option<JobId> {
        self.running
    }

    /// The jobs of which no worker ever heard: by task those that wait, and how many were dropped.
    pub(super) fn rest(&self) -> impl Iterator<Item = (impl Iterator<Item = u64>, &Drops)> {
        let each = self.tasks.iter();
        each.map(|own| (own.waiting.iter().copied(), &own.dropped))
    }
}

/// What a domain is told of a job that has ended.
const fn end_of(cpu: CpuId, job: JobId, whole: bool) -> Fact {
    match whole {
        true => Fact::Completed { cpu, job },
        false => Fact::Stopped {
            cpu,
            job,
            why: StopReason::Cancelled,
        },
    }
}
