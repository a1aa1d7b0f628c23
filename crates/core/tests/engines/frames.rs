//! FTTS, drawn tick by tick: one row per CPU, one character per tick, the task's number or a dot.
use vestal_core::*;
use vestal_testkit::frames::{Table, draw};
use vestal_testkit::short::{at, job, task};
use vestal_testkit::world::{Report, events};

/// Two CPUs and two frames of 10: HI tasks 0 (every frame) and 1 (frame 0), LO tasks 2 and 3.
fn two_cpus() -> (Vec<Task>, Table) {
    let tasks = vec![
        task(1, 10, &[2, 5]),
        task(1, 20, &[3, 4]),
        task(0, 10, &[3]),
        task(0, 20, &[4]),
    ];
    let table = Table {
        frame: 10,
        lists: vec![
            vec![vec![vec![2], vec![]], vec![vec![0], vec![1]]],
            vec![vec![vec![2], vec![3]], vec![vec![0], vec![]]],
        ],
        barriers: vec![vec![vec![3, 0], vec![3, 5]], vec![vec![4, 0], vec![2, 5]]],
    };
    (tasks, table)
}

fn lo(job: JobId, tasks: &[Task]) -> u64 {
    tasks[job.task.index()].wcet.at(Level(0)).as_nanos()
}

fn mode(at: u64, from: u8, to: u8) -> (u64, Event) {
    let (from, to) = (Level(from), Level(to));
    (
        at,
        Event::ModeChanged {
            from,
            to,
            cause: None,
        },
    )
}

fn dropped(at: u64, job: JobId, why: DropReason) -> (u64, Event) {
    (at, Event::Dropped { job, why })
}

#[test]
fn lo_jobs_start_together_once_the_slowest_cpu_is_through_with_its_hi_jobs() {
    let (tasks, table) = two_cpus();
    for report in [Report::Completions, Report::Barriers] {
        let mut engine = table.build(&tasks, 2).unwrap();
        let rows = draw(&mut engine, &tasks, 20, report, &|job| lo(job, &tasks));
        assert_eq!(rows, ["00.222....00222.....", "111.........3333...."]);
        assert_eq!(events(&mut engine), []);
    }
}

#[test]
fn hi_jobs_that_take_longer_than_their_lo_length_cost_the_lo_jobs_of_this_frame_only() {
    let (tasks, table) = two_cpus();
    for report in [Report::Completions, Report::Barriers] {
        let mut engine = table.build(&tasks, 2).unwrap();
        let need = |j: JobId| if j == job(0, 0) { 4 } else { lo(j, &tasks) };
        let rows = draw(&mut engine, &tasks, 20, report, &need);
        assert_eq!(rows, ["0000......00222.....", "111.........3333...."]);
        let expected = [
            mode(4, 0, 1),
            dropped(4, job(2, 0), DropReason::Mode),
            mode(10, 1, 0),
        ];
        assert_eq!(events(&mut engine), expected);
    }
}

#[test]
fn a_cpu_that_uses_its_spare_time_before_the_barrier_harms_nobody() {
    // Job 0 takes 3 instead of C(LO) = 2, but the other CPU takes 3 anyway.
    let (tasks, table) = two_cpus();
    let mut engine = table.build(&tasks, 2).unwrap();
    let need = |j: JobId| if j == job(0, 0) { 3 } else { lo(j, &tasks) };
    let rows = draw(&mut engine, &tasks, 10, Report::Completions, &need);
    assert_eq!(rows, ["000222....", "111......."]);
    assert_eq!(events(&mut engine), []);
}

/// One CPU, one frame of 12, three levels.
fn three_levels() -> (Vec<Task>, Table) {
    let tasks = vec![
        task(2, 12, &[2, 4, 8]),
        task(1, 12, &[1, 3]),
        task(0, 12, &[5]),
    ];
    let table = Table {
        frame: 12,
        lists: vec![vec![vec![vec![2]], vec![vec![1]], vec![vec![0]]]],
        barriers: vec![vec![vec![5, 0, 0], vec![1, 3, 0], vec![2, 4, 8]]],
    };
    (tasks, table)
}

#[test]
fn with_three_levels_each_sub_frame_is_judged_by_the_lengths_at_its_own_level() {
    let (tasks, table) = three_levels();
    let run = |needs: [u64; 3]| {
        let mut engine = table.build(&tasks, 1).unwrap();
        let need = |job: JobId| needs[job.task.index()];
        draw(&mut engine, &tasks, 12, Report::Barriers, &need).remove(0)
    };
    assert_eq!(run([2, 1, 5]), "00122222....");
    // Level 1 is late at level 0 (2 + 1 < 2 + 2), level 0 is dropped.
    assert_eq!(run([2, 2, 5]), "0011........");
    // Level 2 is late at level 0 but not at level 1: level 1 runs, and level 0 is too late.
    assert_eq!(run([4, 1, 5]), "00001.......");
    // Level 2 is late at level 1: it costs both.
    assert_eq!(run([5, 1, 5]), "00000.......");
}

#[test]
fn what_was_dropped_stays_dropped_although_a_lower_level_would_be_in_time() {
    // barrier(2,1) = 2 is below barrier(2,0) + barrier(1,0) = 2 + 3: at 3, level 1 is too late, and
    // level 0, whose turn would come at 5 at the latest, must not run past it.
    let tasks = vec![
        task(2, 12, &[2, 2, 6]),
        task(1, 12, &[3, 3]),
        task(0, 12, &[5]),
    ];
    let table = Table {
        frame: 12,
        lists: vec![vec![vec![vec![2]], vec![vec![1]], vec![vec![0]]]],
        barriers: vec![vec![vec![5, 0, 0], vec![3, 3, 0], vec![2, 2, 6]]],
    };
    let mut engine = table.build(&tasks, 1).unwrap();
    let need = |job: JobId| [3, 3, 5][job.task.index()];
    let rows = draw(&mut engine, &tasks, 12, Report::Barriers, &need);
    assert_eq!(rows, ["000........."]);
    let expected = [
        mode(3, 0, 2),
        dropped(3, job(1, 0), DropReason::Mode),
        dropped(3, job(2, 0), DropReason::Mode),
    ];
    assert_eq!(events(&mut engine), expected);
    assert_eq!(engine.permit(TaskId(1)), Permit::NotAdmitted);
    assert_eq!(engine.permit(TaskId(0)), Permit::Run { limit: None });
}

#[test]
fn barriers_may_be_reported_in_any_order_and_twice() {
    let (tasks, table) = two_cpus();
    let plan = |order: &[u16]| {
        let mut engine = table.build(&tasks, 2).unwrap();
        for (index, _) in tasks.iter().enumerate() {
            engine
                .apply(
                    at(0),
                    Fact::Released {
                        job: job(index as u16, 0),
                    },
                )
                .unwrap();
        }
        engine.decide(at(0)).unwrap();
        let barrier = engine.barrier(0, Level(1)).unwrap();
        for &cpu in order {
            let cpu = CpuId(cpu);
            engine
                .apply(at(3), Fact::BarrierReached { cpu, barrier })
                .unwrap();
        }
        engine.decide(at(3)).unwrap();
        // Again, and too late to mean anything: the LO sub-frame goes on.
        engine
            .apply(
                at(3),
                Fact::BarrierReached {
                    cpu: CpuId(0),
                    barrier,
                },
            )
            .unwrap();
        let plan = engine.decide(at(3)).unwrap();
        assert_eq!(plan.sequence(CpuId(0)).unwrap().jobs, [job(2, 0)]);
        assert_eq!(
            plan.next,
            Some(Wake {
                at: at(10),
                why: WakeReason::Frame
            })
        );
        engine
    };
    assert_eq!(plan(&[0, 1]), plan(&[1, 0]));
    assert_eq!(plan(&[0, 1]), plan(&[1, 0, 1]));
    let mut engine = plan(&[0, 1]);
    let unknown = Fact::BarrierReached {
        cpu: CpuId(0),
        barrier: BarrierId(4),
    };
    let violation = ContractViolation::UnknownBarrier(BarrierId(4));
    assert_eq!(engine.apply(at(3), unknown), Err(violation));
}

#[test]
fn a_sub_frame_that_outlasts_its_frame_delays_the_next_and_skips_those_that_passed() {
    let (tasks, table) = two_cpus();
    let mut engine = table.build(&tasks, 2).unwrap();
    // The HI job of frame 0 ends at 32, in frame 3; frames 1 and 2 pass. Frame 3 begins 2 late, so
    // its HI sub-frame ends at an age of 4, beyond barrier(f,1,LO) = 2.
    let need = |j: JobId| {
        if j == job(0, 0) { 32 } else { lo(j, &tasks) }
    };
    let rows = draw(&mut engine, &tasks, 50, Report::Completions, &need);
    assert_eq!(
        rows[0],
        format!("{}{}", "0".repeat(32), "00......00.222....")
    );
    assert_eq!(rows[1], format!("{:.<40}111.......", "111"));
    let superseded = |at, job| dropped(at, job, DropReason::Superseded);
    let expected = [
        (10, Event::FrameOverrun { frame: 0 }),
        mode(10, 0, 1),
        dropped(10, job(2, 0), DropReason::Mode),
        superseded(20, job(0, 1)),
        superseded(20, job(2, 1)),
        superseded(20, job(3, 0)),
        superseded(30, job(0, 2)),
        superseded(30, job(2, 2)),
        (32, Event::FramesSkipped { first: 1, count: 2 }),
        mode(32, 1, 0),
        mode(34, 0, 1),
        dropped(34, job(2, 3), DropReason::Mode),
        dropped(34, job(3, 1), DropReason::Mode),
        superseded(40, job(1, 1)),
        mode(40, 1, 0),
    ];
    assert_eq!(events(&mut engine), expected);
}

#[test]
fn a_table_that_does_not_fit_its_tasks_is_refused() {
    let (tasks, good) = two_cpus();
    let error = |change: &dyn Fn(&mut Table, &mut Vec<Task>)| {
        let (mut tasks, mut table) = two_cpus();
        change(&mut table, &mut tasks);
        table.build(&tasks, 2).err()
    };
    assert!(good.build(&tasks, 2).is_ok());
    let short = TableError::SubFrameTooShort {
        frame: 0,
        criticality: Level(1),
        level: Level(1),
    };
    assert_eq!(
        error(&|table, _| table.barriers[0][1][1] = 4),
        Some(short.into())
    );
    let long = TableError::FrameTooShort {
        frame: 1,
        level: Level(0),
    };
    assert_eq!(
        error(&|table, _| table.barriers[1][0][0] = 9),
        Some(long.into())
    );
    let twice = TableError::Places {
        task: TaskId(3),
        job: 0,
        found: 2,
    };
    assert_eq!(
        error(&|table, _| {
            table.lists[0][0][1].push(3);
            table.barriers[0][0][0] = 4;
        }),
        Some(twice.into())
    );
    let moved = TableError::TwoCpus(TaskId(2));
    assert_eq!(
        error(&|table, _| {
            table.lists[0][0][0].clear();
            table.lists[0][0][1].push(2);
        }),
        Some(moved.into())
    );
    let wrong = TableError::WrongSubFrame {
        task: TaskId(0),
        frame: 0,
    };
    assert_eq!(
        error(&|table, _| table.lists[0][0][0].push(0)),
        Some(wrong.into())
    );
    let period = TableError::PeriodAndFrames(TaskId(3));
    assert_eq!(
        error(&|_, tasks| tasks[3] = task(0, 25, &[4])),
        Some(period.into())
    );
    assert!(error(&|table, _| table.lists[0][0][0].push(9)).is_some());
    assert!(error(&|table, _| drop(table.barriers[1].pop())).is_some());
    assert!(table_without_cpus(&tasks).is_some());
}

fn table_without_cpus(tasks: &[Task]) -> Option<ConfigurationError> {
    two_cpus().1.build(tasks, 0).err()
}

#[test]
fn a_world_that_is_late_gets_the_plan_of_the_true_time() {
    let (tasks, table) = two_cpus();
    let mut engine = table.build(&tasks, 2).unwrap();
    for task in 0..4 {
        let released = Fact::Released { job: job(task, 0) };
        engine.apply(at(0), released).unwrap();
    }
    // No call came before 21: frames 0 and 1 are gone, and frame 2 is 1 old already.
    let plan = engine.decide(at(21)).unwrap();
    assert_eq!(plan.sequence(CpuId(0)).unwrap().jobs, [job(0, 0)]);
    assert_eq!(plan.next.map(|wake| wake.at), Some(at(30)));
    let skipped = Event::FramesSkipped { first: 0, count: 2 };
    assert_eq!(events(&mut engine), [(21, skipped)]);
    // Its HI jobs end at an age of 3 = barrier(0,1,LO): the LO jobs are in time.
    for cpu in [0, 1] {
        let (cpu, barrier) = (CpuId(cpu), engine.barrier(0, Level(1)).unwrap());
        engine
            .apply(at(23), Fact::BarrierReached { cpu, barrier })
            .unwrap();
    }
    let plan = engine.decide(at(23)).unwrap();
    assert_eq!(plan.slot(CpuId(0)).unwrap().job, job(2, 0));
    // Called 2 after the next frame should have begun; LO ended in time.
    for cpu in [0, 1] {
        let (cpu, barrier) = (CpuId(cpu), engine.barrier(0, Level(0)).unwrap());
        engine
            .apply(at(26), Fact::BarrierReached { cpu, barrier })
            .unwrap();
    }
    engine.decide(at(32)).unwrap();
    let by = Duration::from_nanos(2);
    assert_eq!(events(&mut engine), [(32, Event::Late { by })]);
    assert_eq!(engine.frame(), 3);
}

#[test]
fn the_overhead_is_how_much_later_a_sub_frame_may_begin() {
    let (tasks, table) = two_cpus();
    let need = |j: JobId| {
        if j == job(0, 0) { 4 } else { lo(j, &tasks) }
    };
    let overhead = Duration::from_nanos(1);
    let mut engine = table.build_with(&tasks, 2, overhead).unwrap();
    let rows = draw(&mut engine, &tasks, 10, Report::Barriers, &need);
    assert_eq!(rows, ["0000222...", "111......."]);
    // Frame 0 needs 3 + 3 at LO.
    let long = TableError::FrameTooShort {
        frame: 0,
        level: Level(0),
    };
    let overhead = Duration::from_nanos(5);
    let found = table.build_with(&tasks, 2, overhead).err();
    assert_eq!(found, Some(long.into()));
}
