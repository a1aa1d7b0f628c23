//! MC², drawn tick by tick: one row per CPU, one character per tick, the task's number or a dot.
use crate::containers::{How, configuration, ghosts, slot, task, tick, world};
use vestal_core::*;

const CPU: CpuId = CpuId(0);

/// Runs for `ticks`: a row per CPU, and below it a row of the ghosts of level B and one of level C.
fn draw(
    configuration: &LevelledConfiguration<'_>,
    ticks: u64,
    calls: How,
    need: &dyn Fn(JobId) -> u64,
) -> (Vec<String>, Vec<[String; 2]>) {
    let cpus = configuration.tables.len();
    let mut world = world(configuration, calls, need);
    let mut beneath = vec![[String::new(), String::new()]; cpus];
    let sign = |task: Option<TaskId>| task.map_or('.', |task| char::from(b'1' + task.0 as u8));
    for _ in 0..ticks {
        tick(&mut world, configuration.tasks, true);
        for (cpu, rows) in beneath.iter_mut().enumerate() {
            for (row, ghost) in rows.iter_mut().zip(ghosts(&world, cpu)) {
                row.push(sign(ghost));
            }
        }
    }
    (world.rows, beneath)
}

const EVERY_WAY: [How; 3] = [How::Always, How::WhenDue, How::ByDomain(5)];

/// Herman et al. 2012, Table 1: seven tasks on one CPU, and the level-A table they imply.
fn table_1() -> (Vec<LevelledTask>, Vec<TableSlot>) {
    let tasks = vec![
        task(Container::Table(CPU), 5, 3),
        task(Container::Table(CPU), 10, 4),
        task(Container::Local(CPU), 10, 2),
        task(Container::Local(CPU), 20, 2),
        task(Container::Global, 10, 2),
        task(Container::Global, 20, 2),
        task(Container::BestEffort, 5, 2),
    ];
    let slots = vec![slot(0, 3, 0), slot(3, 2, 1), slot(5, 3, 0), slot(8, 2, 1)];
    (tasks, slots)
}

#[test]
fn table_1_runs_as_the_paper_has_it_whichever_level_execution_times_come_from() {
    let (tasks, slots) = table_1();
    let tables = [CpuTable {
        cycle: Duration::from_nanos(10),
        slots: &slots,
    }];
    let configuration = configuration(&tasks, &tables, 4);
    // Execution times at levels A to D by the tasks' numbers; 99 where the table has none: then no
    // lower level gets that far.
    let cases: [(_, [u64; 7], _); 4] = [
        ("A", [3, 4, 99, 99, 99, 99, 99], "1112211122"),
        ("B", [2, 2, 2, 2, 99, 99, 99], "1132211344"),
        ("C", [1, 2, 2, 1, 2, 2, 99], "1332214556"),
        ("D", [1, 2, 1, 1, 2, 2, 2], "1352214566"),
    ];
    for (level, need, expected) in cases {
        for calls in EVERY_WAY {
            let need = |job: JobId| need[job.task.index()];
            let (rows, _) = draw(&configuration, 10, calls, &need);
            assert_eq!(
                rows,
                [expected],
                "execution times of level {level}, {calls:?}"
            );
        }
    }
}

/// Utilization 1 of periods 20 and 30: by deadlines all are met, by periods T2 has 5 of its 15 left when it is due at 30.
#[test]
fn level_b_goes_by_deadlines_or_by_periods() {
    let local = Container::Local(CPU);
    let tasks = [task(local, 20, 10), task(local, 30, 15)];
    let tables = [CpuTable {
        cycle: Duration::ZERO,
        slots: &[],
    }];
    let by_deadline = configuration(&tasks, &tables, 4);
    let by_period = LevelledConfiguration {
        level_b: LevelB::RateMonotonic,
        ..by_deadline
    };
    let rows = |configuration: &LevelledConfiguration<'_>| {
        let need = |job: JobId| if job.task.0 == 0 { 10 } else { 15 };
        let drawn = EVERY_WAY.map(|calls| draw(configuration, 60, calls, &need).0);
        assert!(drawn.iter().all(|rows| *rows == drawn[0]));
        drawn[0].concat()
    };
    let (one, two) = ("1111111111", "2222222222");
    let edf = [one, two, "22222", one, "22222", one, two];
    assert_eq!(rows(&by_deadline), edf.concat());
    let rms = [one, two, one, two, one, two];
    assert_eq!(rows(&by_period), rms.concat());
}

#[test]
fn ghosts_use_up_budgets_while_lower_levels_run() {
    let (tasks, slots) = table_1();
    let tables = [CpuTable {
        cycle: Duration::from_nanos(10),
        slots: &slots,
    }];
    let configuration = configuration(&tasks, &tables, 4);
    let need = [1, 2, 2, 1, 2, 2, 99];
    let need = |job: JobId| need[job.task.index()];
    let (_, ghosts) = draw(&configuration, 10, How::WhenDue, &need);
    // T4 needs 1 of its 2 at level C: its ghost uses up the rest beneath T5.
    assert_eq!(ghosts[0], [".......4..", ".........."]);
}

/// Draws one set in every way and checks that all are the same.
fn drawn(
    configuration: &LevelledConfiguration<'_>,
    ticks: u64,
    need: &dyn Fn(JobId) -> u64,
) -> (Vec<String>, Vec<[String; 2]>) {
    let first = draw(configuration, ticks, EVERY_WAY[0], need);
    for calls in EVERY_WAY {
        assert_eq!(draw(configuration, ticks, calls, need), first, "{calls:?}");
    }
    first
}

const NO_TABLE: CpuTable<'_> = CpuTable {
    cycle: Duration::ZERO,
    slots: &[],
};

/// Two CPUs: T1 has the table of CPU 0 (2 of 4), T2 is level B on CPU 1 (3 of 8), T3 (2 of 4) and T4
/// (3 of 8) are level C, T5 is level D.
fn two_cpus() -> (Vec<LevelledTask>, Vec<TableSlot>) {
    let tasks = vec![
        task(Container::Table(CPU), 4, 2),
        task(Container::Local(CpuId(1)), 8, 3),
        task(Container::Global, 4, 2),
        task(Container::Global, 8, 3),
        task(Container::BestEffort, 8, 3),
    ];
    (tasks, vec![slot(0, 2, 0)])
}

#[test]
fn two_cpus_share_level_c() {
    let (tasks, slots) = two_cpus();
    let cycle = Duration::from_nanos(4);
    let tables = [
        CpuTable {
            cycle,
            slots: &slots,
        },
        NO_TABLE,
    ];
    let configuration = configuration(&tasks, &tables, 4);
    let need = |job: JobId| match (job.task.0, job.sequence) {
        (0, 0) => 2,
        (0, _) => 1,
        (index, _) => [2, 2, 2, 3, 3][usize::from(index)],
    };
    let (rows, ghosts) = drawn(&configuration, 8, &need);
    // 0-2: A and B have their CPUs. 2: both open; the earlier deadline takes the first CPU, T2's
    //      ghost uses up its third unit beneath T4.
    // 4:   T1 is back, T3 (deadline 8, the lower number) takes CPU 1 from T4.
    // 5:   T1 is through: T4 goes on where its slot ends early. 6: none but D.
    assert_eq!(rows, ["11331455", "224433.."]);
    assert_eq!(ghosts[1], ["..2.....", "........"]);
    assert_eq!(ghosts[0], ["........", "........"]);
}

/// A world that kept a release would keep its budget, for which the job before it waits: for ever.
#[test]
fn every_release_is_reported_and_a_job_without_room_leaves_its_budget() {
    let tasks = [task(Container::Local(CPU), 2, 1)];
    for backlog in [0, 1, 4] {
        let tables = [NO_TABLE];
        let configuration = configuration(&tasks, &tables, backlog);
        let need = |job: JobId| if job.sequence == 0 { 6 } else { 1 };
        let mut world = world(&configuration, How::Always, &need);
        assert_eq!(Scheduler::backlog(&world.engine), usize::MAX);
        (0..12).for_each(|_| tick(&mut world, &tasks, true));
        assert_eq!(world.rows, ["1.1.1.1.1.1."]);
        // Five have come behind it.
        let notices = std::iter::from_fn(|| world.engine.take_notice());
        let full = |notice: &Notice| {
            let why = DropReason::BacklogFull;
            matches!(notice.what, Event::Dropped { why: found, .. } if found == why)
        };
        assert_eq!(notices.filter(full).count(), 5 - backlog);
        tick(&mut world, &tasks, false);
        assert_eq!(world.completed, [1]);
    }
}

#[test]
fn a_job_that_overruns_goes_on_with_its_tasks_next_budget() {
    let tasks = [
        task(Container::Local(CPU), 4, 2),
        task(Container::BestEffort, 8, 8),
    ];
    let tables = [NO_TABLE];
    let configuration = configuration(&tasks, &tables, 4);
    let need = |job: JobId| match (job.task.0, job.sequence) {
        (0, 0) => 3,
        (0, _) => 1,
        _ => 8,
    };
    let (rows, _) = drawn(&configuration, 8, &need);
    assert_eq!(rows, ["11221122"]);
    let mut world = world(&configuration, How::Always, &need);
    (0..8).for_each(|_| tick(&mut world, &tasks, true));
    let overrun = Event::Overrun {
        job: JobId {
            task: TaskId(0),
            sequence: 0,
        },
        level: Level(2),
        executed: Service::from_nanos(2),
    };
    let notice = Notice {
        at: Instant::from_nanos(2),
        what: overrun,
    };
    assert_eq!(world.engine.take_notice(), Some(notice));
    assert_eq!(world.engine.take_notice(), None);
}

#[test]
fn a_tardy_task_keeps_each_budget_with_its_own_deadline() {
    // Both level C with 3 of 4 on one CPU: more than there is.
    let tasks = [
        task(Container::Global, 4, 3),
        task(Container::Global, 4, 3),
        task(Container::BestEffort, 12, 9),
    ];
    let tables = [NO_TABLE];
    let configuration = configuration(&tasks, &tables, 4);
    let need = |job: JobId| [3, 1, 9][job.task.index()];
    let (rows, ghosts) = drawn(&configuration, 12, &need);
    // 3: T2 uses 1 of its first budget (deadline 4), 4: its second job another, 5: the ghost the
    // rest. 6: T1's second budget (deadline 8), used beyond 8. 9: T2's second.
    assert_eq!(rows, ["111223111233"]);
    assert_eq!(ghosts[0][1], ".....2....22");
}

fn charged(cpu: u16, job: JobId, amount: u64) -> Fact {
    let (cpu, amount) = (CpuId(cpu), Service::from_nanos(amount));
    Fact::Charged { cpu, job, amount }
}

#[test]
fn a_job_is_offered_elsewhere_only_after_it_stopped() {
    // T1 is level B on CPU 0 and comes at 2, T2 is level C, T3 level D.
    let tasks = [
        task(Container::Local(CPU), 8, 3),
        task(Container::Global, 8, 6),
        task(Container::BestEffort, 8, 6),
    ];
    let tables = [NO_TABLE, NO_TABLE];
    let mut engine = Levelled::new(&configuration(&tasks, &tables, 4)).unwrap();
    let job = |task| JobId {
        task: TaskId(task),
        sequence: 0,
    };
    let at = Instant::from_nanos;
    let slots = |engine: &mut Levelled, now| {
        let plan = engine.decide(at(now)).unwrap();
        [0, 1].map(|cpu| plan.slot(CpuId(cpu)).map(|slot| slot.job))
    };
    engine.apply(at(0), Fact::Released { job: job(1) }).unwrap();
    engine.apply(at(0), Fact::Released { job: job(2) }).unwrap();
    assert_eq!(slots(&mut engine, 0), [Some(job(1)), Some(job(2))]);
    for cpu in [0, 1] {
        let started = Fact::Started {
            cpu: CpuId(cpu),
            job: job(cpu + 1),
        };
        engine.apply(at(0), started).unwrap();
    }
    engine.apply(at(2), Fact::Released { job: job(0) }).unwrap();
    engine.apply(at(2), charged(0, job(1), 2)).unwrap();
    // CPU 1 is reserved for T2, but it may still run on CPU 0.
    assert_eq!(slots(&mut engine, 2), [Some(job(0)), None]);
    assert_eq!(slots(&mut engine, 3), [Some(job(0)), None]);
    // The world took one more unit to stop it: that is charged before it goes on.
    engine.apply(at(3), charged(0, job(1), 1)).unwrap();
    let why = StopReason::Preempted;
    let stopped = Fact::Stopped {
        cpu: CpuId(0),
        job: job(1),
        why,
    };
    engine.apply(at(3), stopped).unwrap();
    assert_eq!(slots(&mut engine, 3), [Some(job(0)), Some(job(1))]);
    let budget = engine
        .decide(at(3))
        .unwrap()
        .slot(CpuId(1))
        .unwrap()
        .budget
        .unwrap();
    assert_eq!(budget.remaining, Service::from_nanos(3));
    assert_eq!(
        engine.permit(TaskId(1)),
        Permit::Run {
            limit: Some(Service::from_nanos(6))
        }
    );
    assert_eq!(engine.permit(TaskId(2)), Permit::Below { limit: None });
}

#[test]
fn what_a_job_takes_beyond_its_budgets_is_paid_by_the_next_one() {
    let tasks = [task(Container::Local(CPU), 8, 3)];
    let tables = [NO_TABLE];
    let mut engine = Levelled::new(&configuration(&tasks, &tables, 4)).unwrap();
    let job = |sequence| JobId {
        task: TaskId(0),
        sequence,
    };
    let at = Instant::from_nanos;
    engine.apply(at(0), Fact::Released { job: job(0) }).unwrap();
    assert!(engine.decide(at(0)).unwrap().slot(CPU).is_some());
    engine
        .apply(
            at(0),
            Fact::Started {
                cpu: CPU,
                job: job(0),
            },
        )
        .unwrap();
    // The world stops it 2 too late.
    engine.apply(at(5), charged(0, job(0), 5)).unwrap();
    assert_eq!(engine.decide(at(5)).unwrap().slot(CPU), None);
    assert_eq!(
        engine.permit(TaskId(0)),
        Permit::Suspended {
            until: Until::Event
        }
    );
    engine.apply(at(8), Fact::Released { job: job(1) }).unwrap();
    let slot = engine.decide(at(8)).unwrap().slot(CPU).unwrap();
    assert_eq!(slot.job, job(0));
    assert_eq!(slot.budget.unwrap().remaining, Service::from_nanos(1));
}

#[test]
fn a_remainder_below_the_granularity_counts_as_used_up() {
    let tasks = [task(Container::Local(CPU), 8, 5)];
    let tables = [NO_TABLE];
    let configuration = LevelledConfiguration {
        granularity: Service::from_nanos(2),
        ..configuration(&tasks, &tables, 4)
    };
    let mut engine = Levelled::new(&configuration).unwrap();
    let job = JobId {
        task: TaskId(0),
        sequence: 0,
    };
    let at = Instant::from_nanos;
    engine.apply(at(0), Fact::Released { job }).unwrap();
    engine.decide(at(0)).unwrap();
    engine
        .apply(at(0), Fact::Started { cpu: CPU, job })
        .unwrap();
    engine.apply(at(3), charged(0, job, 3)).unwrap();
    let remaining = engine
        .decide(at(3))
        .unwrap()
        .slot(CPU)
        .unwrap()
        .budget
        .unwrap()
        .remaining;
    assert_eq!(remaining, Service::from_nanos(2));
    engine.apply(at(4), charged(0, job, 1)).unwrap();
    assert_eq!(engine.decide(at(4)).unwrap().slot(CPU), None);
    let notice = engine.take_notice().map(|notice| notice.what);
    let executed = Service::from_nanos(4);
    assert_eq!(
        notice,
        Some(Event::Overrun {
            job,
            level: Level(2),
            executed
        })
    );
    // Completing then is too late for the budget, and no second overrun.
    engine
        .apply(at(4), Fact::Completed { cpu: CPU, job })
        .unwrap();
    engine.decide(at(4)).unwrap();
    assert_eq!(engine.take_notice(), None);
}

#[test]
fn a_violation_leaves_the_state_as_it_was() {
    let (tasks, slots) = two_cpus();
    let cycle = Duration::from_nanos(4);
    let tables = [
        CpuTable {
            cycle,
            slots: &slots,
        },
        NO_TABLE,
    ];
    let mut engine = Levelled::new(&configuration(&tasks, &tables, 4)).unwrap();
    let job = |task| JobId {
        task: TaskId(task),
        sequence: 1,
    };
    let at = Instant::from_nanos;
    for task in 0..5 {
        engine
            .apply(at(4), Fact::Released { job: job(task) })
            .unwrap();
    }
    engine.decide(at(4)).unwrap();
    engine
        .apply(
            at(4),
            Fact::Started {
                cpu: CPU,
                job: job(0),
            },
        )
        .unwrap();
    let before = engine.clone();
    let started = |cpu, task| Fact::Started {
        cpu: CpuId(cpu),
        job: job(task),
    };
    let wrong = [
        Fact::Released { job: job(2) },
        Fact::Released { job: job(9) },
        started(0, 1),
        started(7, 2),
        charged(1, job(0), 1),
        charged(0, job(2), 1),
        charged(0, job(0), u64::MAX - 1),
        Fact::Completed {
            cpu: CPU,
            job: job(2),
        },
        Fact::BarrierReached {
            cpu: CPU,
            barrier: BarrierId(0),
        },
    ];
    engine.apply(at(4), charged(0, job(0), 2)).unwrap();
    let after = engine.clone();
    for fact in wrong {
        assert!(engine.apply(at(5), fact).is_err(), "{fact:?}");
        assert_eq!(engine, after, "{fact:?}");
    }
    assert_ne!(before, after);
    assert!(engine.decide(at(3)).is_err());
    assert_eq!(engine, after);
}

#[test]
fn a_table_that_does_not_serve_its_tasks_is_refused() {
    let (tasks, _) = two_cpus();
    let error = |slots: &[TableSlot], cycle| {
        let cycle = Duration::from_nanos(cycle);
        let tables = [CpuTable { cycle, slots }, NO_TABLE];
        Levelled::new(&configuration(&tasks, &tables, 4)).err()
    };
    assert_eq!(error(&[slot(0, 2, 0)], 4), None);
    assert_eq!(error(&[slot(1, 1, 0), slot(3, 1, 0)], 4), None);
    let order = |position| Some(TableError::SlotOrder { cpu: 0, position }.into());
    assert_eq!(error(&[slot(0, 2, 0), slot(1, 1, 0)], 4), order(1));
    assert_eq!(error(&[slot(0, 2, 0), slot(3, 2, 0)], 4), order(1));
    let wrong = TableError::WrongSlot {
        cpu: 0,
        task: TaskId(2),
    };
    assert_eq!(
        error(&[slot(0, 2, 0), slot(2, 1, 2)], 4),
        Some(wrong.into())
    );
    let short = |job| {
        Some(
            TableError::SlotsTooShort {
                task: TaskId(0),
                job,
            }
            .into(),
        )
    };
    assert_eq!(error(&[slot(0, 1, 0)], 4), short(0));
    assert_eq!(error(&[slot(0, 4, 0)], 8), short(1));
    let cycle = TableError::PeriodAndCycle(TaskId(0));
    assert_eq!(error(&[slot(0, 2, 0)], 6), Some(cycle.into()));
    let tables = [CpuTable {
        cycle: Duration::from_nanos(4),
        slots: &[slot(0, 2, 0)],
    }];
    let missing = TableError::UnknownCpu(TaskId(1));
    let found = Levelled::new(&configuration(&tasks, &tables, 4)).err();
    assert_eq!(found, Some(missing.into()));
}

#[test]
fn a_deadline_counts_from_the_release_however_late_the_decision_is() {
    let tasks = [
        task(Container::Local(CPU), 8, 3),
        task(Container::Local(CPU), 7, 3),
    ];
    let tables = [NO_TABLE];
    let mut engine = Levelled::new(&configuration(&tasks, &tables, 4)).unwrap();
    let job = |task| JobId {
        task: TaskId(task),
        sequence: 0,
    };
    let at = Instant::from_nanos;
    // Due at 8 and at 9; as seen from 4 it would be 12 and 11.
    engine.apply(at(2), Fact::Released { job: job(1) }).unwrap();
    engine.apply(at(0), Fact::Released { job: job(0) }).unwrap();
    let slot = engine.decide(at(4)).unwrap().slot(CPU).unwrap();
    assert_eq!(slot.job, job(0));
}

#[test]
fn domains_live_where_their_storage_says() {
    let (tasks, slots) = table_1();
    let tables = [CpuTable {
        cycle: Duration::from_nanos(10),
        slots: &slots,
    }];
    let configuration = configuration(&tasks, &tables, 1);
    // Seven tasks with two budgets each: 14 entries.
    let mut local = LocalDomain::<store::Inline<14>>::with_store(&configuration, CPU).unwrap();
    let mut shared = SharedDomain::<store::Inline<14>>::with_store(&configuration).unwrap();
    let job = |task| JobId {
        task: TaskId(task),
        sequence: 0,
    };
    let mut run = |now, released: &[u16]| {
        let at = Instant::from_nanos(now);
        for &task in released {
            let released = Fact::Released { job: job(task) };
            let here = local.apply(at, released);
            // Each task belongs to exactly one of the domains.
            let unknown = Err(ContractViolation::UnknownTask(TaskId(task)));
            assert!((here == unknown) != (shared.apply(at, released) == unknown));
        }
        let slot = engine::levelled::step(CPU, at, &mut local, &mut shared).unwrap();
        slot.map(|slot| slot.job)
    };
    assert_eq!(run(0, &[]), None);
    assert_eq!(run(0, &[0, 4]), Some(job(0)));
    // The slot from 3 to 5 belongs to T2, which has no work.
    assert_eq!(run(3, &[]), Some(job(4)));
    let too_small = SharedDomain::<store::Inline<13>>::with_store(&configuration).err();
    assert_eq!(
        too_small,
        Some(ConfigurationError::TooManyTasks { found: 7 })
    );
}
