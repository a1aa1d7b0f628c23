//! A world of whole ticks for the levelled engine: releases periodically, executes, draws.
use vestal_core::*;

/// When the world calls the scheduler.
#[derive(Clone, Copy, PartialEq, Debug)]

pub(crate) enum Calls {
    /// At every tick.
    Always,
    /// Only when something happened, a budget is used up, or the plan asked for it.
    WhenDue,
    /// At every tick domain by domain, the CPUs in an order drawn from the seed; each plan is
    /// compared with the total one.
    ByDomain(u64),
}

/// What happened in one tick, per CPU: who ran, and which ghosts used up budget.
pub(crate) struct Tick {
    pub(crate) ran: Vec<Option<TaskId>>,
    pub(crate) ghosts: Vec<[Option<TaskId>; 2]>,
}

pub(crate) struct World<'a> {
    pub(crate) engine: Levelled,
    tasks: &'a [LevelledTask],
    calls: Calls,
    need: &'a dyn Fn(JobId) -> u64,
    /// Who runs on each CPU, as it was confirmed.
    pub(crate) running: Vec<Option<JobId>>,
    /// For each CPU what it executed since the last charge, and the budget it had then.
    uncharged: Vec<(u64, Option<u64>)>,
    /// What each task's oldest incomplete job has executed.
    executed: Vec<u64>,
    slots: Vec<Option<Slot>>,
    next: Option<Wake>,
}

impl<'a> World<'a> {
    pub(crate) fn new(
        configuration: &LevelledConfiguration<'a>,
        calls: Calls,
        need: &'a dyn Fn(JobId) -> u64,
    ) -> Self {
        let cpus = configuration.tables.len();
        Self {
            engine: Levelled::new(configuration).unwrap(),
            tasks: configuration.tasks,
            calls,
            need,
            running: vec![None; cpus],
            uncharged: vec![(0, None); cpus],
            executed: vec![0; configuration.tasks.len()],
            slots: vec![None; cpus],
            next: Some(Wake {
                at: Instant::EPOCH,
                why: WakeReason::TableSlot,
            }),
        }
    }

    /// One tick from `now` on; `releases`: periodic tasks release at the beginning of it.
    pub(crate) fn tick(&mut self, now: u64, releases: bool) -> Tick {
        let at = Instant::from_nanos(now);
        let mut facts = Vec::new();
        for (index, entry) in self.tasks.iter().enumerate() {
            let (task, period) = (TaskId(index as u16), entry.task.period.as_nanos());
            if releases && now.is_multiple_of(period) {
                let sequence = now / period;
                facts.push(Fact::Released {
                    job: JobId { task, sequence },
                });
            }
        }
        for cpu in 0..self.running.len() {
            let Some(job) = self.running[cpu] else {
                continue;
            };
            if self.executed[job.task.index()] == (self.need)(job) {
                self.executed[job.task.index()] = 0;
                self.charge(at, cpu);
                facts.push(Fact::Completed {
                    cpu: CpuId(cpu as u16),
                    job,
                });
                self.running[cpu] = None;
            }
        }
        let exhausted = self
            .uncharged
            .iter()
            .any(|&(used, budget)| budget == Some(used));
        let due = self.calls != Calls::WhenDue
            || exhausted
            || !facts.is_empty()
            || self.next.is_some_and(|wake| wake.at <= at);
        // The order of facts within an instant means nothing.
        if self.calls == Calls::WhenDue {
            facts.reverse();
        }
        for fact in facts {
            self.engine.apply(at, fact).unwrap();
        }
        if due {
            (0..self.running.len()).for_each(|cpu| self.charge(at, cpu));
            self.decide_and_enact(now);
        }
        self.execute()
    }

    fn charge(&mut self, at: Instant, cpu: usize) {
        let (used, _) = core::mem::take(&mut self.uncharged[cpu]);
        if let Some(job) = self.running[cpu].filter(|_| used > 0) {
            let (cpu, amount) = (CpuId(cpu as u16), Service::from_nanos(used));
            self.engine
                .apply(at, Fact::Charged { cpu, job, amount })
                .unwrap();
        }
    }

    /// Follows the plan until it does not change any more: first all stops, then all starts.
    fn decide_and_enact(&mut self, now: u64) {
        let at = Instant::from_nanos(now);
        for round in 0.. {
            assert!(round < 4, "no plan is ever reached at {now}");
            self.decide(now);
            let mut changed = false;
            for cpu in 0..self.running.len() {
                let planned = self.slots[cpu].map(|slot| slot.job);
                if let Some(job) = self.running[cpu].filter(|&job| Some(job) != planned) {
                    let (cpu_id, why) = (CpuId(cpu as u16), StopReason::Preempted);
                    let fact = Fact::Stopped {
                        cpu: cpu_id,
                        job,
                        why,
                    };
                    self.engine.apply(at, fact).unwrap();
                    self.running[cpu] = None;
                    changed = true;
                }
            }
            for cpu in 0..self.running.len() {
                let Some(slot) = self.slots[cpu] else {
                    continue;
                };
                if self.running[cpu].is_none() {
                    let started = Fact::Started {
                        cpu: CpuId(cpu as u16),
                        job: slot.job,
                    };
                    self.engine.apply(at, started).unwrap();
                    self.running[cpu] = Some(slot.job);
                    changed = true;
                }
                let budget = slot.budget.map(|budget| budget.remaining.as_nanos());
                self.uncharged[cpu] = (0, budget);
            }
            if !changed {
                break;
            }
        }
    }

    fn decide(&mut self, now: u64) {
        let at = Instant::from_nanos(now);
        let mut by_domain = None;
        if let Calls::ByDomain(seed) = self.calls {
            let mut apart = self.engine.clone();
            let (locals, shared) = apart.domains();
            let cpus = locals.len();
            // All CPUs, from one that the seed chooses, upwards or downwards.
            for turn in 0..cpus {
                let first = (seed as usize).wrapping_mul(31).wrapping_add(now as usize);
                let turn = if (first / 7).is_multiple_of(2) {
                    turn
                } else {
                    cpus - 1 - turn
                };
                let cpu = (first + turn) % cpus;
                let id = CpuId(cpu as u16);
                engine::levelled::step(id, at, &mut locals[cpu], shared).unwrap();
            }
            let own = locals
                .iter_mut()
                .map(|local| local.settle(at).unwrap().slot);
            let own: Vec<_> = own.collect();
            let claims = (0..cpus).map(|cpu| shared.claim(CpuId(cpu as u16)));
            let both = own.into_iter().zip(claims);
            by_domain = Some(both.map(|(own, claim)| own.or(claim)).collect::<Vec<_>>());
        }
        let plan = self.engine.decide(at).unwrap();
        self.slots = plan.slots.to_vec();
        self.next = plan.next;
        if let Some(by_domain) = by_domain {
            assert_eq!(by_domain, self.slots, "tick {now}");
        }
        for slot in self.slots.iter().flatten() {
            let positions = self
                .slots
                .iter()
                .flatten()
                .filter(|other| other.job == slot.job);
            assert_eq!(positions.count(), 1, "{} is offered twice", slot.job);
        }
        assert!(self.engine.check_invariants());
    }

    fn execute(&mut self) -> Tick {
        let mut tick = Tick {
            ran: Vec::new(),
            ghosts: Vec::new(),
        };
        for cpu in 0..self.running.len() {
            let job = self.running[cpu];
            if let Some(job) = job {
                self.executed[job.task.index()] += 1;
                self.uncharged[cpu].0 += 1;
            }
            let id = CpuId(cpu as u16);
            tick.ran.push(job.map(|job| job.task));
            let ghosts = [true, false].map(|local| self.engine.ghost(id, local));
            tick.ghosts.push(ghosts);
        }
        tick
    }
}

/// A task of the given container; its budget is `budget`.
pub(crate) fn task(container: Container, period: u64, budget: u64) -> LevelledTask {
    let level = match container {
        Container::Table(_) => 3,
        Container::Local(_) => 2,
        Container::Global => 1,
        Container::BestEffort => 0,
    };
    let span = Duration::from_nanos(period);
    let wcet = Wcet::constant(Service::from_nanos(budget));
    let task = Task::new(Level(level), span, span, wcet).unwrap();
    LevelledTask { task, container }
}

/// A table slot.
pub(crate) fn slot(start: u64, length: u64, task: u16) -> TableSlot {
    TableSlot {
        start: Duration::from_nanos(start),
        length: Duration::from_nanos(length),
        task: TaskId(task),
    }
}

/// A configuration with a granularity of nothing.
pub(crate) fn configuration<'a>(
    tasks: &'a [LevelledTask],
    tables: &'a [CpuTable<'a>],
    backlog: usize,
) -> LevelledConfiguration<'a> {
    LevelledConfiguration {
        tasks,
        tables,
        backlog,
        budgets: Budgets::Enforced,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    }
}
