//! Random sets on 1 to 3 CPUs: every tick of the engine is compared with the tick-by-tick reference,
//! however the engine is called.
use crate::containers::{How, configuration, ghosts, slot, task, tick, world};
use crate::levelled_reference::{Kind, RefTask, RefTick, Reference};
use vestal_core::*;
use vestal_testkit::Random;

/// How long every level-A cycle is.
pub(crate) const CYCLE: u64 = 8;

pub(crate) struct Set {
    pub(crate) tasks: Vec<RefTask>,
    pub(crate) tables: Vec<Vec<Option<usize>>>,
}

/// Level B stays within what its CPU has left, in periods that are multiples of the cycle, so that
/// it meets its deadlines; level C may be overloaded.
pub(crate) fn random_set(random: &mut Random) -> Set {
    let cpus = 1 + random.below(3) as usize;
    let mut tasks = Vec::new();
    let mut tables = vec![vec![None; CYCLE as usize]; cpus];
    for (cpu, table) in tables.iter_mut().enumerate() {
        // Level-A slots at random places of each period.
        for _ in 0..random.below(3) {
            let (period, budget) = (CYCLE >> random.below(2), 1 + random.below(2));
            let mut filled = table.clone();
            for start in (0..CYCLE).step_by(period as usize) {
                for _ in 0..budget {
                    let position = start as usize + random.below(period) as usize;
                    let end = (start + period) as usize;
                    let free = (position..end)
                        .chain(start as usize..position)
                        .find(|&p| filled[p].is_none());
                    if let Some(free) = free {
                        filled[free] = Some(tasks.len());
                    }
                }
            }
            let given = filled
                .iter()
                .filter(|&&owner| owner == Some(tasks.len()))
                .count() as u64;
            if given == budget * (CYCLE / period) {
                *table = filled;
                tasks.push(RefTask {
                    kind: Kind::A(cpu),
                    period,
                    budget,
                });
            }
        }
        let mut left = 3 * table.iter().filter(|slot| slot.is_none()).count() as u64;
        for _ in 0..random.below(3) {
            let (factor, budget) = (1 + 2 * random.below(2), 1 + random.below(5));
            let demand = 3 * budget / factor + u64::from(3 * budget % factor > 0);
            if demand <= left {
                left -= demand;
                tasks.push(RefTask {
                    kind: Kind::B(cpu),
                    period: factor * CYCLE,
                    budget,
                });
            }
        }
    }
    for _ in 0..random.below(4) {
        let (period, budget) = (3 + random.below(15), 1 + random.below(5));
        tasks.push(RefTask {
            kind: Kind::C,
            period,
            budget,
        });
    }
    for _ in 0..random.below(3) {
        let (period, budget) = (4 + random.below(10), 1);
        tasks.push(RefTask {
            kind: Kind::D,
            period,
            budget,
        });
    }
    if tasks.is_empty() {
        tasks.push(RefTask {
            kind: Kind::C,
            period: 5,
            budget: 2,
        });
    }
    Set { tasks, tables }
}

/// The same set for the engine: tasks, and the slots of each CPU.
pub(crate) fn translate(set: &Set) -> (Vec<LevelledTask>, Vec<Vec<TableSlot>>) {
    let container = |kind| match kind {
        Kind::A(cpu) => Container::Table(CpuId(cpu as u16)),
        Kind::B(cpu) => Container::Local(CpuId(cpu as u16)),
        Kind::C => Container::Global,
        Kind::D => Container::BestEffort,
    };
    let tasks = set
        .tasks
        .iter()
        .map(|t| task(container(t.kind), t.period, t.budget))
        .collect();
    let slots = |table: &Vec<Option<usize>>| {
        let mut slots: Vec<TableSlot> = Vec::new();
        for (position, owner) in table.iter().enumerate() {
            let Some(owner) = *owner else { continue };
            let end = slots
                .last()
                .map(|slot| (slot.task, slot.start.as_nanos() + slot.length.as_nanos()));
            if end == Some((TaskId(owner as u16), position as u64)) {
                let last = slots.last_mut().unwrap();
                last.length = last.length.saturating_add(Duration::from_nanos(1));
            } else {
                slots.push(slot(position as u64, 1, owner as u16));
            }
        }
        slots
    };
    (tasks, set.tables.iter().map(slots).collect())
}

/// What the jobs of a run need: mostly less than their budget, some more.
pub(crate) fn needs(set: &Set, salt: u64) -> impl Fn(usize, u64) -> u64 {
    let tasks = set.tasks.clone();
    move |task: usize, sequence: u64| {
        let mut random = Random::new(salt + 7919 * task as u64 + 104_729 * sequence);
        random.below(3);
        match tasks[task].kind {
            Kind::D => 1 + random.below(6),
            Kind::A(_) | Kind::B(_) | Kind::C if random.below(10) == 0 => {
                tasks[task].budget + 1 + random.below(3)
            }
            Kind::A(_) | Kind::B(_) | Kind::C => 1 + random.below(tasks[task].budget),
        }
    }
}

const TICKS: u64 = 96;

const EDF: LevelB = LevelB::EarliestDeadline;

/// Runs the engine and compares each tick; afterwards no task releases until all budgets are gone.
fn compare(
    set: &Set,
    backlog: usize,
    salt: u64,
    calls: How,
    (budgets, level_b): (Budgets, LevelB),
) -> (usize, Vec<RefTick>) {
    let (tasks, slots) = translate(set);
    let cycle = Duration::from_nanos(CYCLE);
    let tables: Vec<CpuTable<'_>> = slots
        .iter()
        .map(|slots| CpuTable { cycle, slots })
        .collect();
    let configuration = LevelledConfiguration {
        budgets,
        level_b,
        ..configuration(&tasks, &tables, backlog)
    };
    let need = needs(set, salt);
    let need_of_job = |job: JobId| need(job.task.index(), job.sequence);
    let mut world = world(&configuration, calls, &need_of_job);
    let mut reference = Reference::new(
        &set.tasks,
        &set.tables,
        (backlog, budgets == Budgets::Enforced),
        &need,
    );
    if level_b == LevelB::RateMonotonic {
        reference.by_period();
    }
    let mut ticks = Vec::new();
    for now in 0.. {
        let releases = now < TICKS;
        if !releases && reference.all_used_up() {
            break;
        }
        assert!(
            now < 50 * TICKS,
            "budgets are never used up: {:?}",
            set.tasks
        );
        let expected = reference.tick(now, releases);
        tick(&mut world, &tasks, releases);
        let index = |task: Option<TaskId>| task.map(TaskId::index);
        let cpus = 0..tables.len();
        let found = RefTick {
            ran: cpus.clone().map(|cpu| index(world.ran(cpu))).collect(),
            ghosts: cpus.map(|cpu| ghosts(&world, cpu).map(index)).collect(),
        };
        assert_eq!(
            found, expected,
            "tick {now}, {calls:?}, {:?} {:?}",
            set.tasks, set.tables
        );
        ticks.push(expected);
    }
    (reference.dropped, ticks)
}

#[test]
fn every_tick_is_as_the_rule_says_however_the_engine_is_called() {
    let mut random = Random::new(1);
    let (mut dropped, mut migrated, mut ghosts) = (0, 0, 0);
    for round in 0..2400 {
        let set = random_set(&mut random);
        let backlog = 1 + random.below(6) as usize;
        let salt = random.below(1 << 20);
        let every_tick = if round % 3 == 0 {
            How::Always
        } else {
            How::ByDomain(round)
        };
        for calls in [How::WhenDue, every_tick] {
            let (lost, ticks) = compare(&set, backlog, salt, calls, (Budgets::Enforced, EDF));
            dropped += lost;
            ghosts += ticks
                .iter()
                .flat_map(|tick| tick.ghosts.iter().flatten())
                .flatten()
                .count();
            migrated += ticks
                .windows(2)
                .flat_map(|pair| {
                    pair[1]
                        .ran
                        .iter()
                        .enumerate()
                        .map(move |(cpu, task)| (pair, cpu, *task))
                })
                .filter(|(pair, cpu, task)| {
                    task.is_some() && pair[0].ran[*cpu] != *task && pair[0].ran.contains(task)
                })
                .count();
        }
    }
    // Positive controls: what the comparison is about did happen.
    assert!(
        dropped > 3_000 && migrated > 3_000 && ghosts > 30_000,
        "{dropped} {migrated} {ghosts}"
    );
}

#[test]
fn each_budget_is_used_up_once_by_jobs_and_ghost_together() {
    let mut random = Random::new(2);
    let mut periods = 0;
    for _ in 0..500 {
        let set = random_set(&mut random);
        // No backlog is ever full: every release brings its budget.
        let (dropped, ticks) = compare(
            &set,
            200,
            random.below(1 << 20),
            How::WhenDue,
            (Budgets::Enforced, EDF),
        );
        assert_eq!(dropped, 0);
        for (index, task) in set.tasks.iter().enumerate() {
            let uses = |tick: &RefTick| {
                let ran = tick.ran.iter().filter(|&&ran| ran == Some(index)).count();
                ran + tick
                    .ghosts
                    .iter()
                    .flatten()
                    .filter(|&&ghost| ghost == Some(index))
                    .count()
            };
            match task.kind {
                // Level B meets its deadlines: exactly once in every period.
                Kind::B(_) => {
                    for (number, period) in ticks.chunks(task.period as usize).enumerate() {
                        let released = (number as u64 * task.period) < TICKS;
                        let used = period.iter().map(uses).sum::<usize>() as u64;
                        assert_eq!(
                            used,
                            if released { task.budget } else { 0 },
                            "{:?}",
                            set.tasks
                        );
                        periods += 1;
                    }
                }
                // Level C may be late, but no budget is lost or used twice.
                Kind::C => {
                    let used = ticks.iter().map(uses).sum::<usize>() as u64;
                    assert_eq!(used, TICKS.div_ceil(task.period) * task.budget);
                }
                // A slot without work is over when its time is: only its jobs count, and they
                // stay within its slots.
                Kind::A(cpu) => {
                    for (now, tick) in ticks.iter().enumerate() {
                        let owner = set.tables[cpu][now % CYCLE as usize];
                        assert!(tick.ran[cpu] != Some(index) || owner == Some(index));
                        assert!(uses(tick) <= 1);
                    }
                }
                Kind::D => {}
            }
        }
    }
    assert!(periods > 1000);
}

#[test]
fn with_budgets_ignored_jobs_run_to_their_completion_by_their_own_deadlines() {
    let mut random = Random::new(3);
    for round in 0..600 {
        let set = random_set(&mut random);
        let (backlog, salt) = (1 + random.below(6) as usize, random.below(1 << 20));
        for calls in [How::WhenDue, How::ByDomain(round)] {
            let (_, ticks) = compare(&set, backlog, salt, calls, (Budgets::Ignored, EDF));
            let ghosts = ticks.iter().flat_map(|tick| tick.ghosts.iter().flatten());
            assert_eq!(ghosts.flatten().count(), 0);
        }
    }
}

#[test]
fn every_tick_is_as_the_rule_says_where_level_b_goes_by_periods() {
    let mut random = Random::new(6);
    let mut differ = 0;
    for round in 0..600 {
        let set = random_set(&mut random);
        let (backlog, salt) = (1 + random.below(6) as usize, random.below(1 << 20));
        for budgets in [Budgets::Enforced, Budgets::Ignored] {
            let of = |level_b, calls| compare(&set, backlog, salt, calls, (budgets, level_b));
            let (_, by_period) = of(LevelB::RateMonotonic, How::WhenDue);
            of(LevelB::RateMonotonic, How::ByDomain(round));
            differ += u64::from(by_period != of(EDF, How::WhenDue).1);
        }
    }
    assert!(differ > 20, "{differ}");
}

/// A world that is late with everything: it decides now and then, follows a plan on some CPUs only,
/// and charges what really ran.
#[test]
fn a_late_world_never_has_a_job_offered_on_a_second_cpu() {
    let mut random = Random::new(4);
    let mut moved = 0;
    for _ in 0..600 {
        let set = random_set(&mut random);
        let (tasks, slots) = translate(&set);
        let cycle = Duration::from_nanos(CYCLE);
        let tables: Vec<CpuTable<'_>> = slots
            .iter()
            .map(|slots| CpuTable { cycle, slots })
            .collect();
        let mut engine = Levelled::new(&configuration(&tasks, &tables, 3)).unwrap();
        let mut running: Vec<Option<JobId>> = vec![None; tables.len()];
        for now in 0..200 {
            let at = Instant::from_nanos(now);
            for (index, entry) in set.tasks.iter().enumerate() {
                if now % entry.period == 0 && random.below(8) > 0 {
                    let (task, sequence) = (TaskId(index as u16), now / entry.period);
                    let job = JobId { task, sequence };
                    // A world that does not decide for long may run out of room for facts.
                    let full = ContractViolation::TooManyFacts { capacity: 4 };
                    let result = engine.apply(at, Fact::Released { job });
                    assert!(result.is_ok() || result == Err(full));
                }
            }
            for (cpu, running) in running.iter_mut().enumerate() {
                let Some(job) = *running else { continue };
                let cpu = CpuId(cpu as u16);
                let amount = Service::from_nanos(1);
                let charged = Fact::Charged { cpu, job, amount };
                engine.apply(at, charged).unwrap();
                if random.below(4) == 0 {
                    engine.apply(at, Fact::Completed { cpu, job }).unwrap();
                    *running = None;
                }
            }
            if random.below(3) == 0 {
                continue;
            }
            let slots = engine.decide(at).unwrap().slots.to_vec();
            assert!(engine.check_invariants());
            assert_eq!(
                slots,
                engine.decide(at).unwrap().slots,
                "a plan is idempotent"
            );
            for (cpu, slot) in slots.iter().enumerate() {
                let elsewhere =
                    |job| (0..running.len()).any(|o| o != cpu && running[o] == Some(job));
                assert!(
                    slot.is_none_or(|slot| !elsewhere(slot.job)),
                    "offered twice"
                );
            }
            let slots = slots.into_iter().enumerate();
            for (cpu, slot) in slots.filter(|_| random.below(3) > 0) {
                let (id, why) = (CpuId(cpu as u16), StopReason::Preempted);
                let planned = slot.map(|slot| slot.job);
                if let Some(job) = running[cpu].filter(|&job| Some(job) != planned) {
                    let stopped = Fact::Stopped { cpu: id, job, why };
                    engine.apply(at, stopped).unwrap();
                    running[cpu] = None;
                    moved += 1;
                }
                if let (None, Some(job)) = (running[cpu], planned) {
                    engine.apply(at, Fact::Started { cpu: id, job }).unwrap();
                    running[cpu] = Some(job);
                }
            }
        }
    }
    assert!(moved > 5000, "{moved}");
}
