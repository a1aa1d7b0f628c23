//! Schedules from the papers, drawn. `VESTAL_BLESS=1 cargo test -p vestal-sim` rewrites the files;
//! what the papers say about each is asserted apart from the drawing.

use crate::common::recorder::run_engine;
use crate::common::system::{configuration, tasks_of, workload_of};
use crate::reference::{self, AtLimit, Limits, Reason, ReferenceTask, Schedule, System};
use std::path::Path;
use vestal_core::{Duration, Instant, Level, Service, Task, Uniprocessor, Wcet};
use vestal_sim::{Gantt, Setting, simulate};

fn task(criticality: u8, period: u64, deadline: u64, wcet: &[u64], priority: u32) -> ReferenceTask {
    let values: Vec<Service> = wcet.iter().copied().map(Service::from_nanos).collect();
    let span = Duration::from_nanos;
    let task = Task::new(
        Level(criticality),
        span(period),
        span(deadline),
        Wcet::new(&values).unwrap(),
    )
    .unwrap();
    ReferenceTask {
        task,
        priority,
        virtual_deadline: deadline,
        abort_when_late: false,
    }
}

fn amc(tasks: Vec<ReferenceTask>, releases: &[&[u64]], demand: &[&[u64]], end: u64) -> System {
    let owned = |lists: &[&[u64]]| lists.iter().map(|list| list.to_vec()).collect();
    System {
        tasks,
        levels: 2,
        by_deadline: false,
        limits: Limits::Adaptive,
        at_limit: AtLimit::Background,
        releases: owned(releases),
        demand: owned(demand),
        end,
    }
}

/// One symbol per tick: the task counted from 1, or a dot.
fn ticks(schedule: &Schedule) -> String {
    let sign = |ran: &Option<(usize, usize)>| match ran {
        Some((task, _)) => (task + 1).to_string(),
        None => ".".to_owned(),
    };
    schedule.ran.iter().map(sign).collect()
}

/// Draws the system, compares with the golden file, and returns what engine and reference agree on.
fn draw(name: &str, system: &System) -> Schedule {
    let (expected, _) = reference::schedule(system);
    assert_eq!(
        run_engine(system, &mut ()),
        expected,
        "engine against reference"
    );
    let configured = tasks_of(system);
    let tasks: Vec<Task> = configured.iter().map(|entry| entry.task).collect();
    let mut engine = Uniprocessor::new(&configuration(system, &configured)).unwrap();
    let (releases, demand) = workload_of(system);
    let names = (1..=tasks.len()).zip(&tasks);
    let names = names.map(|(number, task)| {
        let level = ["LO", "HI"][task.criticality.index()];
        format!("t{number} {level}")
    });
    let end = Instant::from_nanos(system.end);
    let mut gantt = Gantt::new(names.collect(), end, None);
    let setting = Setting {
        tasks: &tasks,
        cpus: 1,
        end,
    };
    simulate(&mut engine, &setting, &releases, &demand, &mut gantt).unwrap();
    check(name, &gantt.text());
    expected
}

fn check(name: &str, drawing: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/schedules/golden")
        .join(name)
        .with_extension("txt");
    if std::env::var_os("VESTAL_BLESS").is_some() {
        std::fs::write(&path, drawing).unwrap();
        return;
    }
    let golden = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; VESTAL_BLESS=1 writes it", path.display()));
    assert!(
        golden == drawing,
        "{name}: the drawing differs\n--- golden\n{golden}--- now\n{drawing}"
    );
}

fn misses(schedule: &Schedule, task: usize, number: usize, deadline: u64) -> bool {
    !schedule
        .completed
        .iter()
        .any(|&(at, i, k)| (i, k) == (task, number) && at <= deadline)
}

/// The three tasks of Huang, Gill and Lu (2014, section 3.1): C 1/1, T 2; C 1/5, T 10; C 20/20,
/// T 100; tau_1 is LO. Here the first job of tau_2 needs its HI value.
#[test]
fn the_three_task_example_with_an_overrun() {
    let tasks = vec![
        task(0, 2, 2, &[1], 3),
        task(1, 10, 10, &[1, 5], 2),
        task(1, 100, 100, &[20, 20], 1),
    ];
    let every = |period: u64| (0..100).step_by(period as usize).collect::<Vec<u64>>();
    let (first, second) = (every(2), every(10));
    let (ones, mut hi) = (vec![1; first.len()], vec![1; second.len()]);
    hi[0] = 5;
    let releases: [&[u64]; 3] = [&first, &second, &[0]];
    let schedule = draw(
        "three-tasks-overrun",
        &amc(tasks, &releases, &[&ones, &hi, &[20]], 100),
    );
    // tau_1 runs at 0, tau_2 overruns C(LO) = 1 at 2. Up to the first instant at which nothing is
    // pending no job of tau_1 is admitted: 1 + 5 + 1 + 1 + 20 = 28 units of work until then.
    assert!(ticks(&schedule).starts_with("1222223333233333333323333333"));
    let mode_up: Vec<usize> = (0..100).filter(|&t| schedule.modes[t] == 1).collect();
    assert_eq!(mode_up, (2..28).collect::<Vec<usize>>());
    let lost = schedule.dropped.iter();
    assert!(
        lost.clone()
            .all(|drop| drop.1 == 0 && drop.3 == Reason::Mode)
    );
    assert_eq!(lost.count(), 13, "the arrivals at 2, 4, ..., 26");
    assert!(!misses(&schedule, 2, 0, 100));
}

/// A job that was stopped by a mode change is gone. Resuming it at the idle instant would be
/// unsound: t2 would run its first job at 2, `1 1 2 1 2 3 1 2`, and t3, released at 2, would have 1
/// of its 2 units at its deadline 8.
#[test]
fn dropped_jobs_are_not_resumed_at_the_idle_instant() {
    let tasks = vec![
        task(1, 3, 2, &[1, 2], 3),
        task(0, 3, 3, &[1], 2),
        task(0, 6, 6, &[2], 1),
    ];
    let releases: [&[u64]; 3] = [&[0, 3, 6], &[0, 3, 6], &[2]];
    let demand: [&[u64]; 3] = [&[2, 1, 1], &[1, 1, 1], &[2]];
    let schedule = draw("nothing-is-resumed", &amc(tasks, &releases, &demand, 9));
    assert_eq!(ticks(&schedule), "11312312.");
    assert_eq!(schedule.dropped, [(1, 1, 0, Reason::Mode)]);
    assert!(!misses(&schedule, 2, 0, 8));
}

/// AMC-IA accepts these four tasks with implicit deadlines (Huang, Gill and Lu 2014, section 3.1,
/// with the range of switch instants corrected): R_4 = 10. They miss: tau_4 has 2 of 3 units at 10.
#[test]
fn four_tasks_that_amc_ia_accepts_miss_a_deadline() {
    let tasks = vec![
        task(0, 4, 4, &[1], 4),
        task(0, 10, 10, &[2], 3),
        task(1, 5, 5, &[1, 2], 2),
        task(1, 10, 10, &[2, 3], 1),
    ];
    let releases: [&[u64]; 4] = [&[0, 4, 8], &[2], &[2, 7], &[0]];
    let demand: [&[u64]; 4] = [&[1, 1, 1], &[2], &[2, 2], &[3]];
    let schedule = draw("amc-ia-is-optimistic", &amc(tasks, &releases, &demand, 12));
    assert_eq!(&ticks(&schedule)[..10], "1422133334");
    assert_eq!(schedule.modes[5..7], [0, 1], "the switch comes at 6");
    assert!(misses(&schedule, 3, 0, 10));
}

/// A job in the background is drawn as such, and a column that is used in part too.
#[test]
fn a_runaway_job_in_the_background() {
    let tasks = vec![task(0, 10, 10, &[3], 2), task(1, 20, 15, &[4, 9], 1)];
    let releases: [&[u64]; 2] = [&[0, 10, 20, 30], &[0, 20]];
    let demand: [&[u64]; 2] = [&[30, 2, 3, 3], &[4, 9]];
    let schedule = draw("runaway-in-background", &amc(tasks, &releases, &demand, 40));
    assert_eq!(schedule.dropped[0], (10, 0, 0, Reason::Superseded));
}
