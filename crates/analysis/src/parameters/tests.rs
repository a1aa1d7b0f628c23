//! The table of parameters, and what fits.

use super::*;
use vestal_core::{CpuId, Duration, Level, LevelSet, SliceCount, TableSlot, Task};

#[test]
fn the_table_stands_in_the_order_of_its_names() {
    for (position, row) in TABLE.iter().enumerate() {
        assert_eq!(row.parameter as usize, position);
        assert_eq!(row.parameter.row().name, row.name);
    }
}

fn two_tasks() -> [Task; 2] {
    [10, 20].map(|period| {
        let span = Duration::from_nanos(period);
        let wcet = vestal_core::Wcet::constant(vestal_core::Service::from_nanos(4));
        Task::new(vestal_core::Level(0), span, span, wcet).unwrap()
    })
}

const ONE_LEVEL: LevelSet = LevelSet::new(1).unwrap();

/// Two CPUs, one level.
fn scope(tasks: &[Task]) -> Scope<'_> {
    Scope {
        tasks,
        count: tasks.len(),
        levels: ONE_LEVEL,
        cpus: 2,
    }
}

/// A cycle of ten, with slots of start, length and task.
fn table(slots: &[(u64, u64, u16)]) -> DispatchTable {
    let slot = |&(start, length, task): &(u64, u64, u16)| TableSlot {
        start: Duration::from_nanos(start),
        length: Duration::from_nanos(length),
        task: TaskId(task),
    };
    DispatchTable {
        cycle: Duration::from_nanos(10),
        slots: slots.iter().map(slot).collect(),
    }
}

/// Two CPUs, one level.
fn frame_map(lists: &[&[u16]]) -> FrameMap {
    let tasks = |list: &&[u16]| list.iter().copied().map(TaskId).collect();
    let lists = lists.iter().map(tasks).collect();
    FrameMap::new(Duration::from_nanos(10), ONE_LEVEL, 2, lists).unwrap()
}

fn capacity(period: u64, by_level: &[u64]) -> ServerParameters {
    let by_level = by_level.iter().copied().map(Duration::from_nanos);
    ServerParameters {
        budget: ServerBudget::Capacity {
            period: Duration::from_nanos(period),
            by_level: by_level.collect(),
        },
        priority: 1,
    }
}

fn share(by_level: &[(u64, u64)]) -> ServerParameters {
    let ratio = |&(numerator, denominator): &(u64, u64)| Ratio {
        numerator,
        denominator,
    };
    ServerParameters {
        budget: ServerBudget::Utilization {
            by_level: by_level.iter().map(ratio).collect(),
        },
        priority: 2,
    }
}

#[test]
fn what_is_got_can_be_set_and_copied() {
    let tasks = two_tasks();
    let ns = Duration::from_nanos;
    let all = Parameters {
        priorities: Some(vec![1, 2]),
        virtual_deadlines: Some(vec![ns(5), ns(20)]),
        deadline_factor: Some(Ratio {
            numerator: 1,
            denominator: 2,
        }),
        slices: Some(vec![
            SliceCount::ONE,
            SliceCount::new(2, &tasks[1]).unwrap(),
        ]),
        zero_slack: Some(vec![ns(0), ns(7)]),
        job_priorities: Some(vec![vec![7, 3], vec![5]]),
        patterns: Some(vec![vec![2], vec![1]]),
        busy_periods: Some(vec![ns(9)]),
        partition: Some(vec![None, Some(CpuId(1))]),
        tables: Some(vec![
            table(&[(0, 3, 0), (3, 2, 1)]),
            DispatchTable::default(),
        ]),
        frames: Some(frame_map(&[&[0], &[1], &[], &[1]])),
        barriers: FrameBarriers::new(ONE_LEVEL, vec![ns(4), ns(5)]),
        servers: Some(vec![capacity(10, &[4]), share(&[(1, 3)])]),
        tardiness: Some(vec![Some(ns(30)), None]),
    };
    assert_eq!(all.check(&scope(&tasks)), Ok(()));
    let mut again = Parameters::default();
    for row in &TABLE {
        assert!(
            (row.set)(&mut again, (row.get)(&all).unwrap(), &tasks),
            "{}",
            row.name
        );
        let alone = all.only(&[row.parameter]);
        assert_eq!(
            alone.rows().map(|row| row.name).collect::<Vec<_>>(),
            [row.name]
        );
    }
    assert_eq!(again, all);
    assert_eq!(Parameters::default().or(&all), all);
    assert_eq!(all.or(&Parameters::default()), all);
}

#[test]
fn what_does_not_fit_the_tasks_is_named() {
    let tasks = two_tasks();
    let ns = Duration::from_nanos;
    let misfit = |give: &dyn Fn(&mut Parameters)| {
        let mut given = Parameters::default();
        give(&mut given);
        given.check(&scope(&tasks)).unwrap_err().to_string()
    };
    let times = |first, second| Some(vec![ns(first), ns(second)]);
    assert_eq!(
        misfit(&|given| given.zero_slack = times(10, 21)),
        "the zero-slack instant of task 1 is after its deadline"
    );
    assert_eq!(
        misfit(&|given| given.virtual_deadlines = times(0, 20)),
        "the virtual deadline of task 0 is zero or after its deadline"
    );
    let twice = misfit(&|given| given.job_priorities = Some(vec![vec![7], vec![7]]));
    assert!(twice.contains("stand for another task too"), "{twice}");
    assert_eq!(
        misfit(&|given| given.priorities = Some(vec![1])),
        "1 priorities for 2 tasks; each task needs exactly one"
    );
}

#[test]
fn parts_that_are_none_are_named() {
    let tasks = two_tasks();
    let wrong = |give: &dyn Fn(&mut Parameters)| {
        let mut given = Parameters::default();
        give(&mut given);
        given.check(&scope(&tasks)).unwrap_err().to_string()
    };
    assert_eq!(
        wrong(&|given| given.partition = Some(vec![Some(CpuId(1)), Some(CpuId(2))])),
        "the CPU of task 1 is none that the platform has"
    );
    assert_eq!(
        wrong(&|given| given.partition = Some(vec![None])),
        "1 CPUs for 2 tasks; each task needs exactly one"
    );
    assert!(wrong(&|given| given.tardiness = Some(vec![None; 3])).contains("3 tardiness bounds"));
    let tables = |second: &[(u64, u64, u16)]| {
        wrong(&|given| given.tables = Some(vec![DispatchTable::default(), table(second)]))
    };
    for slots in [
        &[(0, 3, 0), (2, 3, 1)][..],
        &[(5, 6, 0)],
        &[(5, 0, 0)],
        &[(5, 1, 0), (0, 1, 0)],
    ] {
        let said = tables(slots);
        assert!(
            said.starts_with("the dispatch tables, number 1") && said.contains("overlap"),
            "{said}"
        );
    }
    assert!(tables(&[(0, 3, 2)]).contains("a task that there is not"));
    assert!(wrong(&|given| given.tables = Some(vec![table(&[])])).contains("one for each CPU"));
    for lists in [
        [&[0][..], &[0], &[], &[]],
        [&[0, 0], &[], &[], &[]],
        [&[0], &[], &[], &[0]],
        [&[2], &[], &[], &[]],
    ] {
        let said = wrong(&|given| given.frames = Some(frame_map(&lists)));
        assert!(said.starts_with("the frame of task "), "{said}");
    }
    let two_levels = LevelSet::new(2).unwrap();
    let other = FrameMap::new(Duration::from_nanos(1), two_levels, 2, vec![Vec::new(); 4]);
    assert!(wrong(&|given| given.frames.clone_from(&other)).contains("other levels"));
    let barriers = |count| FrameBarriers::new(ONE_LEVEL, vec![Duration::from_nanos(1); count]);
    let said = wrong(&|given| {
        given.frames = Some(frame_map(&[&[0], &[]]));
        given.barriers = barriers(2);
    });
    assert!(said.contains("one for each frame"), "{said}");
    let servers = [
        capacity(10, &[11]),
        capacity(10, &[0]),
        capacity(10, &[5, 4]),
        capacity(10, &[]),
        share(&[(1, 2), (1, 3)]),
        share(&[(4, 3)]),
        share(&[(0, 3)]),
    ];
    for server in servers {
        let said =
            wrong(&|given| given.servers = Some(vec![capacity(10, &[1, 1]), server.clone()]));
        assert!(
            said.starts_with("the server parameters, number 1"),
            "{said}"
        );
    }
}

#[test]
fn frames_are_complete_and_answer_by_frame_level_and_cpu() {
    let two_levels = LevelSet::new(2).unwrap();
    let ns = Duration::from_nanos;
    let map = |length, cpus, lists: usize| {
        let list = |place| vec![TaskId(u16::try_from(place).unwrap())];
        let lists = (0..lists).map(list).collect();
        FrameMap::new(ns(length), two_levels, cpus, lists)
    };
    for (length, cpus, lists) in [(0, 3, 6), (5, 0, 6), (5, 3, 0), (5, 3, 9)] {
        assert_eq!(map(length, cpus, lists), None);
    }
    let whole = map(5, 3, 12).unwrap();
    assert_eq!(whole.frames(), 2);
    assert_eq!(whole.tasks(1, Level(1), CpuId(2)), [TaskId(11)]);
    assert_eq!(whole.tasks(1, Level(0), CpuId(1)), [TaskId(7)]);
    for (frame, level, cpu) in [(2, 0, 0), (0, 2, 0), (0, 0, 3)] {
        assert!(whole.tasks(frame, Level(level), CpuId(cpu)).is_empty());
    }
    for (frame, level, cpu, list) in whole.lists() {
        assert_eq!(whole.tasks(frame, level, cpu), list);
    }
    assert_eq!(whole.lists().count(), 12);

    assert_eq!(FrameBarriers::new(two_levels, vec![ns(1); 6]), None);
    assert_eq!(FrameBarriers::new(two_levels, Vec::new()), None);
    let barriers = FrameBarriers::new(two_levels, (1..=8).map(ns).collect()).unwrap();
    assert_eq!(barriers.frames(), 2);
    let at = |frame, k, l| barriers.barrier(frame, Level(k), Level(l)).as_nanos();
    assert_eq!([at(0, 0, 0), at(0, 1, 0), at(0, 1, 1)], [1, 3, 4]);
    assert_eq!([at(1, 0, 0), at(1, 1, 0), at(1, 1, 1)], [5, 7, 8]);
    assert_eq!([at(0, 0, 1), at(2, 0, 0), at(0, 2, 0)], [0, 0, 0]);
}
