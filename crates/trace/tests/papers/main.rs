//! The papers' example schedules, recorded and drawn by the `.txt` writer. What a paper prints is
//! asserted beside the drawing; `VESTAL_BLESS=1` rewrites the drawings.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod ticks;

use ticks::{chart, header, periodic, released, row, same_as_golden};
use vestal_core::order::lists_of;
use vestal_core::*;
use vestal_testkit::frames;
use vestal_testkit::hierarchies::{self, configuration, pibs, server, sporadic};
use vestal_testkit::short::{CPU, ns, span, task};

fn configured(task: Task, priority: u32) -> TaskConfiguration {
    TaskConfiguration::new(task, priority)
}

fn adaptive<'a>(tasks: &'a [TaskConfiguration]) -> Configuration<'a> {
    Configuration {
        tasks,
        levels: LevelSet::new(2).unwrap(),
        enforcement: Enforcement::Adaptive,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    }
}

/// Huang, Gill and Lu (2014), the three-task example, in which the first job of t2 needs C(HI).
#[test]
fn amc_three_tasks() {
    let tasks = [
        configured(task(0, 2, &[1, 1]), 3),
        configured(task(1, 10, &[1, 5]), 2),
        configured(task(1, 100, &[20, 20]), 1),
    ];
    let engine = Uniprocessor::new(&adaptive(&tasks)).unwrap();
    let header = header(
        "amc",
        &["LO", "HI"],
        1,
        &[("t1", 0, 2, 2), ("t2", 1, 10, 10), ("t3", 1, 100, 100)],
    );
    let need = |job: JobId| match (job.task.0, job.sequence) {
        (1, 0) => vec![5],
        (task, _) => vec![[1, 1, 20][usize::from(task)]],
    };
    let chart = chart(&header, engine, 60, &periodic(&header), &need);
    // t1 is dropped from the overrun at 2 until the CPU is idle at 28.
    assert_eq!(&row(&chart, "mode")[..30], "..11111111111111111111111111..");
    assert_eq!(row(&chart, "t2")[..6].matches('#').count(), 5);
    same_as_golden("amc-three-tasks", &chart);
}

/// Huang, Gill and Lu (2014), the four-task example: lists by the job-arrival pattern, B(0) = 28.
#[test]
fn plrs_lists_of_the_four_tasks() {
    let tasks = [
        configured(task(1, 10, &[4, 6]), 0),
        configured(task(1, 20, &[3, 5]), 0),
        configured(task(0, 30, &[6, 6]), 0),
        configured(task(0, 15, &[2, 2]), 0),
    ];
    let lists: &[&[u32]] = &[&[7, 5, 2, 0], &[6, 1], &[3], &[8, 4]];
    let order = TaskOrder::ReusedLists {
        lists: lists_of(lists).into(),
    };
    let engine = Uniprocessor::with_order(&adaptive(&tasks), &order).unwrap();
    let header = header(
        "plrs",
        &["LO", "HI"],
        1,
        &[
            ("t1", 1, 10, 10),
            ("t2", 1, 20, 20),
            ("t3", 0, 30, 30),
            ("t4", 0, 15, 15),
        ],
    );
    let need = |job: JobId| vec![[4, 3, 6, 2][usize::from(job.task.0)]];
    let chart = chart(&header, engine, 60, &periodic(&header), &need);
    // The order that crates/core/tests/engines/plrs.rs derives.
    let order = "4411112223111134433331111222..";
    for (name, digit) in [("t1", '1'), ("t2", '2'), ("t3", '3'), ("t4", '4')] {
        let sign = |who: char| if who == digit { '#' } else { '.' };
        let expected: String = order.chars().map(sign).collect();
        assert_eq!(row(&chart, name)[..30], expected, "{name}");
    }
    same_as_golden("plrs-lists", &chart);
}

/// Herman et al. (2012), Table 1, at the execution times of level C.
#[test]
fn mc2_table_1() {
    let local = Container::Local(CPU);
    let (table, global) = (Container::Table(CPU), Container::Global);
    let kinds = [
        table,
        table,
        local,
        local,
        global,
        global,
        Container::BestEffort,
    ];
    let times = [
        (3, 5, 3),
        (3, 10, 4),
        (2, 10, 2),
        (2, 20, 2),
        (1, 10, 2),
        (1, 20, 2),
        (0, 5, 2),
    ];
    let tasks: Vec<LevelledTask> = kinds
        .into_iter()
        .zip(times)
        .map(|(container, (level, period, budget))| LevelledTask {
            task: task(level, period, &[budget]),
            container,
        })
        .collect();
    let slot = |start, length, task| TableSlot {
        start: span(start),
        length: span(length),
        task: TaskId(task),
    };
    let slots = [slot(0, 3, 0), slot(3, 2, 1), slot(5, 3, 0), slot(8, 2, 1)];
    let tables = [CpuTable {
        cycle: span(10),
        slots: &slots,
    }];
    let engine = Levelled::new(&LevelledConfiguration {
        tasks: &tasks,
        tables: &tables,
        backlog: 4,
        budgets: Budgets::Enforced,
        level_b: LevelB::EarliestDeadline,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    })
    .unwrap();
    let names = ["t1", "t2", "t3", "t4", "t5", "t6", "t7"];
    let tasks: Vec<(&str, u8, u64, u64)> = names
        .into_iter()
        .zip(times)
        .map(|(name, (level, period, _))| (name, level, period, period))
        .collect();
    let header = header("mc2", &["D", "C", "B", "A"], 1, &tasks);
    let need = |job: JobId| vec![[1, 2, 2, 1, 2, 2, 2][usize::from(job.task.0)]];
    let chart = chart(&header, engine, 10, &periodic(&header), &need);
    // The paper's row for level C: 1332214556.
    for (name, expected) in names.iter().zip([
        "#....#....",
        "...##.....",
        ".##.......",
        "......#...",
        ".......##.",
        ".........#",
        "..........",
    ]) {
        assert_eq!(row(&chart, name), expected, "{name}");
    }
    same_as_golden("mc2-table-1", &chart);
}

/// A frame of FTTS on two CPUs, with an overrun of HI in the first frame.
#[test]
fn ftts_frames() {
    let tasks = [
        task(1, 10, &[2, 5]),
        task(1, 20, &[3, 4]),
        task(0, 10, &[3]),
        task(0, 20, &[4]),
    ];
    let table = frames::Table {
        frame: 10,
        lists: vec![
            vec![vec![vec![2], vec![]], vec![vec![0], vec![1]]],
            vec![vec![vec![2], vec![3]], vec![vec![0], vec![]]],
        ],
        barriers: vec![vec![vec![3, 0], vec![3, 5]], vec![vec![4, 0], vec![2, 5]]],
    };
    let header = header(
        "ftts",
        &["LO", "HI"],
        2,
        &[
            ("hi-1", 1, 10, 10),
            ("hi-2", 1, 20, 20),
            ("lo-1", 0, 10, 10),
            ("lo-2", 0, 20, 20),
        ],
    );
    let engine = table.build(&tasks, 2).unwrap();
    let need = |job: JobId| match (job.task.0, job.sequence) {
        (0, 0) => vec![5],
        (task, _) => vec![[2, 3, 3, 4][usize::from(task)]],
    };
    let chart = chart(&header, engine, 20, &periodic(&header), &need);
    // LO jobs start only after the slowest CPU is through with HI; in the first frame they are dropped.
    assert_eq!(row(&chart, "hi-1"), "#####.....##........");
    assert_eq!(row(&chart, "lo-1"), "............###.....");
    assert_eq!(row(&chart, "lo-2"), "............####....");
    same_as_golden("ftts-frames", &chart);
}

/// Missimer, Missimer and West (2016), Figure 6: bottom halves in a PIBS.
#[test]
fn pibs_figure_6() {
    let servers = [server(sporadic(8, 16, 3), 2), server(pibs(1, 4), 1)];
    let mut bottom_half = hierarchies::task(1, 1, 16);
    bottom_half.on_behalf_of = Some(ServerId(0));
    let tasks = [hierarchies::task(0, 1, 16), bottom_half];
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(1),
    }];
    let engine = Hierarchy::new(&configuration(&servers, &tasks, &devices)).unwrap();
    let header = header(
        "io-amc",
        &["LO"],
        1,
        &[("task", 0, 16, 16), ("bottom-half", 0, 0, 0)],
    );
    let woken = std::cell::Cell::new(false);
    let arrivals = |now: u64, completed: &[u64]| match now {
        0 => vec![released(0, 0)],
        9 | 11 | 13 | 15 => vec![Fact::Interrupt {
            device: DeviceId(0),
            count: 1,
        }],
        _ if completed[1] == 4 && !woken.replace(true) => vec![Fact::Woken {
            task: TaskId(0),
            on_behalf_of: None,
        }],
        _ => vec![],
    };
    let need = |job: JobId| if job.task.0 == 0 { vec![8, 8] } else { vec![1] };
    let chart = chart(&header, engine, 24, &arrivals, &need);
    // The PIBS gathers two interrupts; the task resumes at 16.
    assert_eq!(row(&chart, "task"), "########........########");
    assert_eq!(row(&chart, "bottom-half"), ".........#...###........");
    same_as_golden("pibs-figure-6", &chart);
}

/// Holenderski et al. (2010), Figure 14: a deferrable server above an idling one.
#[test]
fn hsf_figure_14() {
    let (period, capacity) = (span(25), ByLevel::constant(ns(10)));
    let servers = [
        server(ServerKind::Deferrable { period, capacity }, 2),
        server(ServerKind::IdlingPeriodic { period, capacity }, 1),
    ];
    let tasks = [hierarchies::task(0, 1, 30), hierarchies::task(1, 1, 40)];
    let engine = Hierarchy::new(&configuration(&servers, &tasks, &[])).unwrap();
    let header = header("hsf", &["LO"], 1, &[("t0", 0, 30, 30), ("t1", 0, 40, 40)]);
    let arrivals = |now: u64, _: &[u64]| {
        let mut facts = Vec::new();
        if now % 30 == 5 {
            facts.push(released(0, now / 30));
        }
        if now.is_multiple_of(40) {
            facts.push(released(1, now / 40));
        }
        facts
    };
    let chart = chart(&header, engine, 120, &arrivals, &|_| vec![5]);
    // The release at 40 is postponed until the idling server has budget again at 50.
    let runs = |name: &str, begins: &[usize]| {
        let mut expected = vec![b'.'; 120];
        for begin in begins {
            expected[*begin..begin + 5].fill(b'#');
        }
        assert_eq!(row(&chart, name), String::from_utf8(expected).unwrap());
    };
    runs("t0", &[5, 35, 65, 95]);
    runs("t1", &[0, 50, 80]);
    same_as_golden("hsf-figure-14", &chart);
}
