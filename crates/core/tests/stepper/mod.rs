//! A world of one CPU that moves in whole ticks: it tells every fact, follows every plan, and draws
//! who ran, one character per tick.
#![allow(
    dead_code,
    reason = "each test file that shares this world uses its own part of it"
)]

use std::string::String;
use std::vec;
use std::vec::Vec;
use vestal_core::server::Chunk;
use vestal_core::*;

pub(crate) const CPU: CpuId = CpuId(0);

pub(crate) fn ns(amount: u64) -> Service {
    Service::from_nanos(amount)
}

pub(crate) fn span(amount: u64) -> Duration {
    Duration::from_nanos(amount)
}

pub(crate) fn at(now: u64) -> Instant {
    Instant::from_nanos(now)
}

/// A small generator, so that a run is named by its seed alone (Steele, Lea and Flood 2014).
#[derive(Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// A server of `kind` without criticality, under fixed priorities inside.
pub(crate) fn server(kind: ServerKind, priority: u32) -> ServerConfiguration {
    ServerConfiguration {
        kind,
        priority,
        criticality: Level(0),
        order: LocalOrder::FixedPriority,
    }
}

pub(crate) fn sporadic(capacity: u64, period: u64, replenishments: u16) -> ServerKind {
    ServerKind::Sporadic {
        period: span(period),
        capacity: ByLevel::constant(ns(capacity)),
        replenishments,
        full: WhenFull::MergeHead,
    }
}

pub(crate) fn pibs(numerator: u64, denominator: u64) -> ServerKind {
    ServerKind::Pibs {
        utilization: ByLevel::constant(Utilization::new(numerator, denominator).unwrap()),
    }
}

/// A task of `server` with a local priority and a relative deadline.
pub(crate) fn task(server: u16, priority: u32, deadline: u64) -> ServedTask {
    let wcet = Wcet::constant(ns(1));
    ServedTask {
        task: Task::new(Level(0), span(deadline), span(deadline), wcet).unwrap(),
        server: ServerId(server),
        priority,
        on_behalf_of: None,
    }
}

pub(crate) fn configuration<'a>(
    servers: &'a [ServerConfiguration],
    tasks: &'a [ServedTask],
    devices: &'a [DeviceConfiguration],
) -> HierarchyConfiguration<'a> {
    HierarchyConfiguration {
        servers,
        tasks,
        devices,
        levels: LevelSet::new(2).unwrap(),
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    }
}

/// What a job executes: segments, between which it blocks.
pub(crate) type Program = Vec<u64>;

/// The job that was started last, and what it has left.
#[derive(Clone, Copy)]
struct Progress {
    sequence: u64,
    segment: usize,
    left: u64,
}

pub(crate) struct World {
    pub(crate) engine: Hierarchy,
    pub(crate) now: u64,
    /// Who ran: a task's digit, an idling server's letter, or `.`.
    pub(crate) trace: String,
    pub(crate) completed: Vec<u64>,
    programs: Vec<Program>,
    progress: Vec<Option<Progress>>,
    sequences: Vec<u64>,
    /// What the last tick will have been when it is over.
    outcome: Vec<Fact>,
    /// Draws consequences after every single fact: what C3 forbids.
    pub(crate) eager: bool,
    /// Shuffles the facts of each instant.
    pub(crate) shuffle: Option<Random>,
    /// Decides only when the last plan asks for it or something happens.
    pub(crate) lazy: bool,
    pub(crate) decisions: u64,
    last_slot: Option<Slot>,
    pub(crate) last_wake: Option<Wake>,
}

impl World {
    /// Every job of task i executes `programs[i]`.
    pub(crate) fn new(configuration: &HierarchyConfiguration<'_>, programs: Vec<Program>) -> Self {
        let tasks = configuration.tasks.len();
        assert_eq!(programs.len(), tasks);
        Self {
            engine: Hierarchy::new(configuration).unwrap(),
            now: 0,
            trace: String::new(),
            completed: vec![0; tasks],
            programs,
            progress: vec![None; tasks],
            sequences: vec![0; tasks],
            outcome: Vec::new(),
            shuffle: None,
            eager: false,
            lazy: false,
            decisions: 0,
            last_slot: None,
            last_wake: None,
        }
    }

    pub(crate) fn release(&mut self, task: u16) -> Fact {
        let sequence = self.sequences[usize::from(task)];
        self.sequences[usize::from(task)] += 1;
        Fact::Released {
            job: JobId {
                task: TaskId(task),
                sequence,
            },
        }
    }

    /// Changes what jobs of `task` that start from now on execute.
    pub(crate) fn set_program(&mut self, task: u16, program: Program) {
        self.programs[usize::from(task)] = program;
    }

    /// Whether the tick that has just passed ended with the completion of a job of `task`.
    pub(crate) fn completes_now(&self, task: u16) -> bool {
        let of = |fact: &Fact| matches!(fact, Fact::Completed { job, .. } if job.task.0 == task);
        self.outcome.iter().any(of)
    }

    /// Whether the tick that has just passed ended with a job of `task` blocking.
    pub(crate) fn blocks_now(&self, task: u16) -> bool {
        let of = |fact: &Fact| matches!(fact, Fact::Stopped { job, why: StopReason::Blocked, .. } if job.task.0 == task);
        self.outcome.iter().any(of)
    }

    /// The present instant: tells the outcome of the last tick and `arrivals`, decides, follows the
    /// plan, and lets one tick pass.
    pub(crate) fn step(&mut self, arrivals: &[Fact]) {
        if self.lazy && arrivals.is_empty() && self.nothing_happened() {
            self.run_one_tick();
            return;
        }
        let plan = self.decide(arrivals);
        self.follow(plan);
        self.run_one_tick();
    }

    /// No job ended, no budget ran out, and no wake-up is due.
    fn nothing_happened(&self) -> bool {
        let only_charges = |fact: &Fact| matches!(fact, Fact::Charged { .. });
        let budget = self.last_slot.and_then(|slot| slot.budget);
        let left = budget.map_or(u64::MAX, |budget| budget.remaining.as_nanos());
        self.now > 0
            && self.outcome.iter().all(only_charges)
            && (self.outcome.len() as u64) < left
            && self.last_wake.is_none_or(|wake| wake.at > at(self.now))
    }

    /// The first half of a step.
    pub(crate) fn decide(&mut self, arrivals: &[Fact]) -> Option<Slot> {
        let mut facts = std::mem::take(&mut self.outcome);
        facts.extend_from_slice(arrivals);
        if let Some(random) = self.shuffle.as_mut() {
            random.shuffle(&mut facts);
        }
        let now = at(self.now);
        for fact in facts {
            self.engine.apply(now, fact).unwrap();
            if self.eager {
                self.engine.decide(now).unwrap();
            }
        }
        let plan = self.engine.decide(now).unwrap();
        self.last_wake = plan.next;
        let slot = plan.slot(CPU);
        self.last_slot = slot;
        self.decisions += 1;
        assert!(self.engine.check_invariants(), "at {}", self.now);
        slot
    }

    fn follow(&mut self, slot: Option<Slot>) {
        let (running, wanted) = (self.engine.running(), slot.map(|slot| slot.job));
        if running == wanted {
            return;
        }
        let now = at(self.now);
        if let Some(job) = running {
            let why = StopReason::Preempted;
            let stopped = Fact::Stopped { cpu: CPU, job, why };
            self.engine.apply(now, stopped).unwrap();
        }
        if let Some(job) = wanted {
            self.engine
                .apply(now, Fact::Started { cpu: CPU, job })
                .unwrap();
            let task = job.task.index();
            if self.progress[task].is_none_or(|progress| progress.sequence != job.sequence) {
                self.progress[task] = Some(Progress {
                    sequence: job.sequence,
                    segment: 0,
                    left: self.programs[task][0],
                });
            }
        }
    }

    fn run_one_tick(&mut self) {
        self.now += 1;
        let Some(job) = self.engine.running() else {
            let idler = self.engine.idling();
            self.trace.push(idler.map_or('.', |ServerId(server)| {
                char::from(b'a' + u8::try_from(server).unwrap())
            }));
            return;
        };
        let task = job.task.index();
        self.trace
            .push(char::from_digit(u32::from(job.task.0), 10).unwrap());
        let amount = ns(1);
        self.outcome.push(Fact::Charged {
            cpu: CPU,
            job,
            amount,
        });
        let program = &self.programs[task];
        let progress = self.progress[task].as_mut().unwrap();
        progress.left -= 1;
        if progress.left > 0 {
            return;
        }
        progress.segment += 1;
        if let Some(&next) = program.get(progress.segment) {
            progress.left = next;
            let why = StopReason::Blocked;
            self.outcome.push(Fact::Stopped { cpu: CPU, job, why });
        } else {
            self.completed[task] += 1;
            self.outcome.push(Fact::Completed { cpu: CPU, job });
        }
    }

    /// The replenishments of a sporadic server as (instant, amount).
    pub(crate) fn list(&self, server: u16) -> Vec<(u64, u64)> {
        let pair = |chunk: &Chunk| (chunk.due.as_nanos(), chunk.amount.as_nanos());
        let list = self.engine.replenishments(ServerId(server));
        list.iter().map(pair).collect()
    }

    pub(crate) fn events(&mut self) -> Vec<(u64, Event)> {
        std::iter::from_fn(|| self.engine.take_notice())
            .map(|notice| (notice.at.as_nanos(), notice.what))
            .collect()
    }
}

/// The trace in which each of `intervals` (who, from, to) ran and nothing else, `ticks` long.
pub(crate) fn drawn(intervals: &[(char, usize, usize)], ticks: usize) -> String {
    let mut trace = vec!['.'; ticks];
    for &(who, from, to) in intervals {
        trace[from..to].fill(who);
    }
    trace.into_iter().collect()
}
