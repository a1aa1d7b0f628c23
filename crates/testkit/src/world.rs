//! A world that moves in whole ticks: it tells every fact, follows every plan, and draws who ran.
//!
//! **The notation of drawings**, one row a CPU and one character a tick: the number of the task that executes (then
//! `A`, `B` ...), counted from 0 or [`World::first`] in the order of the configuration, `.` where none does, or what
//! [`World::idler`] says of an idle CPU. [`drawn`] makes such a row of intervals.
//!
//! A tick is one nanosecond. At its beginning the world tells what the one before came to, and arrivals, lets the
//! scheduler decide, and follows the plan: stops first, then starts. Then the tick passes. With a plan of sequences
//! (frames) the workers walk theirs instead, and tell of ends only.

// The core's unit tests, which have no prelude of `std`, use this file too.
use super::random::Random;
use super::short::at;
use std::boxed::Box;
use std::string::String;
use std::vec;
use std::vec::Vec;
use vestal_core::{
    BarrierId, CpuId, Event, Fact, Instant, JobId, Level, Scheduler, Service, Slot, StopReason,
    Task, TaskId, Wake, WakeReason,
};

/// When the world calls the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// At every tick.
    Always,
    /// Only when something happened, a budget is used up, or the plan asked for it.
    WhenDue,
}

/// In which order the facts of an instant are told, which must not matter (contract C3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// What the last tick came to, CPU by CPU, and then arrivals.
    InOrder,
    /// The other way round, beside what was executed.
    Reversed,
    /// In any order.
    Shuffled(Random),
}

/// How a world of frames tells that a CPU is through with its sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// Each completion, and nothing else.
    Completions,
    /// Barriers only.
    Barriers,
}

/// The slots that a scheduler will give, if that is known.
pub type Expectation<'a, S> = Box<dyn Fn(&S, Instant) -> Option<Vec<Option<Slot>>> + 'a>;

/// What a job executes: segments, between which it blocks.
pub type Program = Vec<u64>;

/// The job of a task that was started last, and what it has left.
#[derive(Clone, Debug)]
struct Progress {
    sequence: u64,
    left: u64,
    /// What comes after that, the last first.
    rest: Program,
}

impl Progress {
    /// What the end of a segment is.
    fn end(&mut self, cpu: CpuId, job: JobId) -> Fact {
        let why = StopReason::Blocked;
        match self.rest.pop() {
            None => Fact::Completed { cpu, job },
            Some(next) => {
                self.left = next;
                Fact::Stopped { cpu, job, why }
            }
        }
    }
}

/// A worker on its way to a barrier.
#[derive(Clone, Debug)]
struct Walk {
    barrier: BarrierId,
    /// All its jobs.
    given: Vec<JobId>,
    /// Those that it has left, the last first.
    jobs: Vec<JobId>,
}

impl Walk {
    /// What is told of the end of its first job.
    fn end(&mut self, cpu: CpuId, job: JobId, report: Report) -> Option<Fact> {
        self.jobs.pop();
        let barrier = self.barrier;
        match report {
            Report::Completions => Some(Fact::Completed { cpu, job }),
            Report::Barriers if self.jobs.is_empty() => Some(Fact::BarrierReached { cpu, barrier }),
            Report::Barriers => None,
        }
    }
}

/// What was decided last.
#[derive(Clone, Debug)]
pub struct Decided {
    /// By CPU.
    pub slots: Vec<Option<Slot>>,
    /// When the scheduler wants to be asked again.
    pub next: Option<Wake>,
    /// The mode.
    pub mode: Level,
}

/// A scheduler in a world of whole ticks.
pub struct World<'a, S> {
    /// The scheduler.
    pub engine: S,
    /// The tick to come.
    pub now: u64,
    /// By CPU, who ran.
    pub rows: Vec<String>,
    /// By task, how many jobs completed.
    pub completed: Vec<u64>,
    /// By CPU, who runs, as it was confirmed; an end counts once it is told.
    pub running: Vec<Option<JobId>>,
    /// What was decided last.
    pub decided: Decided,
    /// How often the scheduler was asked.
    pub decisions: u64,
    /// When it is.
    pub calls: Calls,
    /// In which order facts are told.
    pub told: Told,
    /// Has the scheduler decide after every single fact: what C3 forbids.
    pub eager: bool,
    /// How sequences are told of.
    pub report: Report,
    /// The digit of the first task.
    pub first: u32,
    /// How an idle CPU is drawn.
    pub idler: fn(&S) -> char,
    /// Sees the scheduler after each decision.
    pub look: fn(&mut S, Instant),
    /// Sees it before, and may know the slots.
    pub expect: Expectation<'a, S>,
    program: Box<dyn FnMut(JobId) -> Program + 'a>,
    /// By task, what its jobs execute instead.
    programs: Vec<Option<Program>>,
    progress: Vec<Option<Progress>>,
    sequences: Vec<u64>,
    /// Whether plans have sequences.
    has_sequences: bool,
    walks: Vec<Option<Walk>>,
    /// By CPU, what was executed and not told.
    uncharged: Vec<u64>,
    /// What the last tick will have been when it is over, beside what was executed.
    outcome: Vec<Fact>,
}

impl<'a, S: Scheduler> World<'a, S> {
    /// `engine` on so many CPUs with so many tasks, whose jobs execute what `program` says when they start.
    pub fn new(
        engine: S,
        cpus: usize,
        tasks: usize,
        program: impl FnMut(JobId) -> Program + 'a,
    ) -> Self {
        Self {
            engine,
            now: 0,
            rows: vec![String::new(); cpus],
            completed: vec![0; tasks],
            running: vec![None; cpus],
            decided: Decided {
                slots: vec![None; cpus],
                next: Some(Wake {
                    at: Instant::EPOCH,
                    why: WakeReason::TableSlot,
                }),
                mode: Level::LOWEST,
            },
            decisions: 0,
            calls: Calls::Always,
            told: Told::InOrder,
            eager: false,
            report: Report::Completions,
            first: 0,
            idler: |_| '.',
            look: |_, _| {},
            expect: Box::new(|_, _| None),
            program: Box::new(program),
            programs: vec![None; tasks],
            progress: vec![None; tasks],
            sequences: vec![0; tasks],
            has_sequences: false,
            walks: vec![None; cpus],
            uncharged: vec![0; cpus],
            outcome: Vec::new(),
        }
    }

    /// The arrival of the next job of a task.
    pub fn release(&mut self, task: u16) -> Fact {
        let next = &mut self.sequences[usize::from(task)];
        let job = super::short::job(task, *next);
        *next += 1;
        Fact::Released { job }
    }

    /// The arrivals of this instant where all tasks release periodically from the epoch on.
    pub fn periodic<'t>(&mut self, tasks: impl IntoIterator<Item = &'t Task>) -> Vec<Fact> {
        let now = self.now;
        let due = |task: &&Task| now.is_multiple_of(task.period.as_nanos());
        let tasks = (0..).zip(tasks).filter(|(_, task)| due(task));
        tasks.map(|(number, _)| self.release(number)).collect()
    }

    /// Changes what jobs of `task` that start from now on execute.
    pub fn set_program(&mut self, task: u16, program: Program) {
        self.programs[usize::from(task)] = Some(program);
    }

    /// The task that a CPU executed in the tick that has just passed.
    #[must_use]
    pub fn ran(&self, cpu: usize) -> Option<TaskId> {
        self.running[cpu].map(|job| job.task)
    }

    /// Whether the tick that has just passed ended with the completion of a job of `task`.
    #[must_use]
    pub fn completes_now(&self, task: u16) -> bool {
        let of = |fact: &Fact| matches!(fact, Fact::Completed { job, .. } if job.task.0 == task);
        self.outcome.iter().any(of)
    }

    /// Whether it ended with a job of `task` blocking.
    #[must_use]
    pub fn blocks_now(&self, task: u16) -> bool {
        let of = |fact: &Fact| matches!(fact, Fact::Stopped { job, .. } if job.task.0 == task);
        self.outcome.iter().any(of)
    }

    /// The present instant, and the tick that begins with it.
    pub fn step(&mut self, arrivals: &[Fact]) {
        if self.calls == Calls::Always || self.is_due(arrivals) {
            self.decide(arrivals);
            self.enact();
            self.show();
        }
        self.run();
    }

    /// A job without budget goes on for no time, which shows that it was not complete.
    ///
    /// # Panics
    /// If it gets none for that.
    fn show(&mut self) {
        for round in 0.. {
            let Some((cpu, job)) = self.without_budget() else {
                break;
            };
            assert!(
                round < vestal_core::model::LEVELS_MAX,
                "{job} never gets a budget"
            );
            let amount = Service::ZERO;
            self.tell(&[Fact::Charged { cpu, job, amount }]);
            self.settle();
            self.enact();
        }
    }

    /// A CPU that is to run a job and has nothing for it.
    fn without_budget(&self) -> Option<(CpuId, JobId)> {
        let mut slots = (0..).map(CpuId).zip(&self.decided.slots);
        slots.find_map(|(cpu, slot)| {
            let slot = (*slot)?;
            let nothing = slot.budget.is_some_and(|budget| budget.remaining.is_zero());
            let runs = self.running[cpu.index()] == Some(slot.job);
            (nothing && runs).then_some((cpu, slot.job))
        })
    }

    /// Whether something happened, a budget is used up, or the plan asked to be called.
    fn is_due(&self, arrivals: &[Fact]) -> bool {
        let used_up = |(slot, used): (&Option<Slot>, &u64)| {
            let budget = slot.and_then(|slot| slot.budget);
            budget.is_some_and(|budget| budget.remaining.as_nanos() <= *used)
        };
        !arrivals.is_empty()
            || !self.outcome.is_empty()
            || self.decided.slots.iter().zip(&self.uncharged).any(used_up)
            || self
                .decided
                .next
                .is_some_and(|wake| wake.at <= at(self.now))
    }

    /// Tells the outcome of the last tick and `arrivals`, and has the scheduler decide; the slot of the first CPU.
    ///
    /// # Panics
    /// If the scheduler refuses a fact, or decides something else than was known.
    pub fn decide(&mut self, arrivals: &[Fact]) -> Option<Slot> {
        let mut facts = self.facts();
        facts.extend_from_slice(arrivals);
        match &mut self.told {
            Told::InOrder => {}
            Told::Reversed => {
                let charges = |fact: &Fact| matches!(fact, Fact::Charged { .. });
                let executed = facts.iter().take_while(|fact| charges(fact)).count();
                facts[executed..].reverse();
            }
            Told::Shuffled(random) => random.shuffle(&mut facts),
        }
        self.tell(&facts);
        self.settle();
        self.decided.slots.first().copied().flatten()
    }

    /// What there is to tell of the last tick.
    pub fn facts(&mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (cpu, used) in (0..).map(CpuId).zip(&mut self.uncharged) {
            if let Some(job) = self.running[cpu.index()].filter(|_| *used > 0) {
                let amount = Service::from_nanos(std::mem::take(used));
                facts.push(Fact::Charged { cpu, job, amount });
            }
        }
        for fact in std::mem::take(&mut self.outcome) {
            if let Fact::Completed { cpu, .. } | Fact::Stopped { cpu, .. } = fact {
                self.running[cpu.index()] = None;
            }
            facts.push(fact);
        }
        facts
    }

    /// Tells these facts.
    ///
    /// # Panics
    /// If the scheduler refuses one.
    pub fn tell(&mut self, facts: &[Fact]) {
        let now = at(self.now);
        for fact in facts {
            self.engine.apply(now, *fact).expect("a fact");
            if self.eager {
                self.engine.decide(now).expect("a plan");
            }
        }
    }

    /// Has the scheduler decide.
    ///
    /// # Panics
    /// If it refuses, decides something else than was known, or offers a job twice.
    pub fn settle(&mut self) {
        let now = at(self.now);
        let expected = (self.expect)(&self.engine, now);
        let plan = self.engine.decide(now).expect("a plan");
        let cpus = (0..self.running.len() as u16).map(CpuId);
        self.decided = Decided {
            slots: cpus.clone().map(|cpu| plan.slot(cpu)).collect(),
            next: plan.next,
            mode: plan.mode,
        };
        self.has_sequences = !plan.sequences.spans.is_empty();
        for (cpu, walk) in cpus.zip(&mut self.walks) {
            let sequence = plan.sequence(cpu);
            // A frame that overran the whole cycle is followed by the same barrier, and other jobs.
            let given = sequence.map(|sequence| (sequence.barrier, sequence.jobs));
            let known = walk.as_ref().map(|walk| (walk.barrier, &walk.given[..]));
            if given != known {
                *walk = given.map(|(barrier, jobs)| Walk {
                    barrier,
                    given: jobs.to_vec(),
                    jobs: jobs.iter().rev().copied().collect(),
                });
            }
        }
        self.decisions += 1;
        let slots = &self.decided.slots;
        if let Some(expected) = expected {
            assert_eq!(expected, *slots, "tick {}", self.now);
        }
        for (place, slot) in slots.iter().enumerate() {
            let again = slots[..place].iter().flatten();
            let twice = again
                .clone()
                .any(|other| slot.is_some_and(|slot| slot.job == other.job));
            assert!(!twice, "{slot:?} is offered twice");
        }
        (self.look)(&mut self.engine, now);
    }

    /// Follows the plan until it does not change any more: first all stops, then all starts.
    ///
    /// # Panics
    /// If no plan is ever reached, or the scheduler refuses what it asked for.
    pub fn enact(&mut self) {
        if self.has_sequences {
            return self.walk();
        }
        for round in 0.. {
            assert!(round < 4, "no plan is ever reached at {}", self.now);
            let changed = self.stop() | self.start();
            if !changed || self.running.len() == 1 {
                break;
            }
            self.settle();
        }
    }

    fn stop(&mut self) -> bool {
        let (now, mut changed) = (at(self.now), false);
        for (cpu, (running, slot)) in self.running.iter_mut().zip(&self.decided.slots).enumerate() {
            let planned = slot.map(|slot| slot.job);
            let Some(job) = running.filter(|&job| Some(job) != planned) else {
                continue;
            };
            let (cpu, why) = (CpuId(cpu as u16), StopReason::Preempted);
            let stopped = Fact::Stopped { cpu, job, why };
            self.engine.apply(now, stopped).expect("a stop");
            (*running, changed) = (None, true);
        }
        changed
    }

    fn start(&mut self) -> bool {
        let (now, mut changed) = (at(self.now), false);
        for place in 0..self.running.len() {
            let Some(slot) = self.decided.slots[place] else {
                continue;
            };
            if self.running[place].is_none() {
                let (cpu, job) = (CpuId(place as u16), slot.job);
                self.engine
                    .apply(now, Fact::Started { cpu, job })
                    .expect("a start");
                self.running[place] = Some(job);
                self.begin(job);
                changed = true;
            }
        }
        changed
    }

    /// The workers of a frame table: each goes on with its sequence.
    fn walk(&mut self) {
        for place in 0..self.running.len() {
            let job = self.walks[place]
                .as_ref()
                .and_then(|walk| walk.jobs.last().copied());
            self.running[place] = job;
            job.into_iter().for_each(|job| self.begin(job));
            if self.report == Report::Completions {
                let slot = self.decided.slots[place].map(|slot| slot.job);
                assert_eq!(slot, job, "tick {}", self.now);
            }
        }
    }

    /// What a job executes is asked for when it starts for the first time.
    fn begin(&mut self, job: JobId) {
        let progress = &mut self.progress[job.task.index()];
        let same = |known: &Progress| known.sequence == job.sequence;
        if !progress.as_ref().is_some_and(same) {
            let own = self.programs[job.task.index()].clone();
            let mut rest = own.unwrap_or_else(|| (self.program)(job));
            rest.reverse();
            let left = rest.pop().expect("a program of at least one segment");
            *progress = Some(Progress {
                sequence: job.sequence,
                left,
                rest,
            });
        }
    }

    /// Lets the tick pass.
    ///
    /// # Panics
    /// If a job runs that was never started.
    pub fn run(&mut self) {
        self.now += 1;
        for place in 0..self.running.len() {
            let Some(job) = self.running[place] else {
                let idler = (self.idler)(&self.engine);
                self.rows[place].push(idler);
                continue;
            };
            let sign = char::from_digit(self.first + u32::from(job.task.0), 36);
            self.rows[place].push(sign.expect("few tasks").to_ascii_uppercase());
            let cpu = CpuId(place as u16);
            let progress = self.progress[job.task.index()]
                .as_mut()
                .expect("a job that began");
            progress.left -= 1;
            let is_through = progress.left == 0;
            match &mut self.walks[place] {
                None => {
                    self.uncharged[place] += 1;
                    if is_through {
                        let end = progress.end(cpu, job);
                        self.completed[job.task.index()] += u64::from(progress.left == 0);
                        self.outcome.push(end);
                    }
                }
                Some(walk) if is_through => self.outcome.extend(walk.end(cpu, job, self.report)),
                Some(_) => {}
            }
        }
    }

    /// What the scheduler has to say since it was last asked, with its instants.
    pub fn events(&mut self) -> Vec<(u64, Event)> {
        events(&mut self.engine)
    }
}

/// What a scheduler has to say since it was last asked, with its instants.
pub fn events(engine: &mut impl Scheduler) -> Vec<(u64, Event)> {
    std::iter::from_fn(|| engine.take_notice())
        .map(|notice| (notice.at.as_nanos(), notice.what))
        .collect()
}

/// The row in which each of `intervals` (who, from, to) ran and nothing else, `ticks` long.
#[must_use]
pub fn drawn(intervals: &[(char, usize, usize)], ticks: usize) -> String {
    let mut row = vec!['.'; ticks];
    for &(who, from, to) in intervals {
        row[from..to].fill(who);
    }
    row.into_iter().collect()
}
