//! Schedules from the papers, drawn. `VESTAL_BLESS=1 cargo test -p vestal-sim` rewrites the files;
//! what the papers say about each is asserted apart from the drawing.

use crate::common::judgement::cross_check;
use crate::common::recorder::{engine_of, run_engine};
use crate::common::system::{configuration, tasks_of, workload_of};
use crate::reference::{self, AtLimit, Limits, Lists, Reason, ReferenceTask, Schedule, System};
use std::path::Path;
use vestal_core::{Duration, Instant, Level, Service, Task, Wcet};
use vestal_sim::{Backlog, Setting, Statistics, simulate};
use vestal_testkit::gantt::Gantt;

pub(crate) fn task(
    criticality: u8,
    period: u64,
    deadline: u64,
    wcet: &[u64],
    priority: u32,
) -> ReferenceTask {
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
        slices: 1,
        zero_slack: None,
        abort_when_late: false,
        list: Vec::new(),
    }
}

pub(crate) fn amc(
    tasks: Vec<ReferenceTask>,
    releases: &[&[u64]],
    demand: &[&[u64]],
    end: u64,
) -> System {
    let owned = |lists: &[&[u64]]| lists.iter().map(|list| list.to_vec()).collect();
    System {
        tasks,
        levels: 2,
        by_deadline: false,
        lists: Lists::No,
        limits: Limits::Adaptive,
        at_limit: AtLimit::Background,
        releases: owned(releases),
        demand: owned(demand),
        end,
        backlog: None,
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
    let mut engine = engine_of(system, &configured);
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
        backlog: Backlog::UNLIMITED,
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

/// Over all instants AMC-IA accepts these three tasks in every unit: R_3 = 6. Here a unit has two ticks.
/// t2 is released half a unit before the second job of t1, which then runs before the mode rises.
#[test]
fn three_tasks_that_amc_ia_over_all_instants_accepts_miss_a_deadline() {
    let tasks = vec![
        task(0, 8, 4, &[2], 3),
        task(1, 12, 8, &[2, 4], 2),
        task(1, 16, 12, &[6, 6], 1),
    ];
    let releases: [&[u64]; 3] = [&[0, 8], &[7], &[0]];
    let demand: [&[u64]; 3] = [&[2, 2], &[4], &[6]];
    let schedule = draw(
        "amc-ia-over-all-instants",
        &amc(tasks, &releases, &demand, 16),
    );
    assert_eq!(&ticks(&schedule)[..12], "113333321122");
    assert_eq!(schedule.modes[10..12], [0, 1], "the switch comes at 11");
    assert!(misses(&schedule, 2, 0, 12));
}

/// The example of period transformation: tau_1 has T 4 and C 1, tau_2 T 15 and C 3 in three slices of
/// one unit. Its last slice begins at 10 together with a job of tau_1: the response time is 12. The
/// fixed point of Huang, Gill and Lu (2014, Eq. 3) is 2, where the first slice can be done.
#[test]
fn a_job_in_three_slices_responds_after_its_last_one() {
    let sliced = ReferenceTask {
        slices: 3,
        ..task(1, 15, 15, &[3, 3], 1)
    };
    let releases: [&[u64]; 2] = [&[2, 6, 10, 14], &[0]];
    let system = System {
        limits: Limits::Static,
        ..amc(
            vec![task(0, 4, 4, &[1], 2), sliced],
            &releases,
            &[&[1; 4], &[3]],
            16,
        )
    };
    let schedule = draw("three-slices", &system);
    assert_eq!(ticks(&schedule), "2.1..21...12..1.");
    assert!(schedule.completed.contains(&(12, 1, 0)));
}

/// AMC-IA over deadlines finds none in (0, 2] and takes 4 for the response time of tau_2, whose job
/// needs 5: one unit of tau_1 before the switch at 2 and four of its own.
#[test]
fn two_tasks_that_amc_ia_over_deadlines_accepts_miss_a_deadline() {
    let tasks = vec![task(0, 4, 4, &[1], 2), task(1, 4, 4, &[1, 4], 1)];
    let releases: [&[u64]; 2] = [&[0, 4], &[0]];
    let demand: [&[u64]; 2] = [&[1, 1], &[4]];
    let schedule = draw(
        "amc-ia-sees-no-deadline",
        &amc(tasks, &releases, &demand, 6),
    );
    assert_eq!(&ticks(&schedule)[..5], "12222");
    assert!(misses(&schedule, 1, 0, 4));
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

/// Table I of Huang, Gill and Lu (2014): tau_l (LO) has C 3, T 5 and the higher rate, tau_h (HI) C
/// 4/6, T 10 and Z 6. The demands are those of two hyperperiods.
fn table_one(low: &[u64], high: &[u64]) -> System {
    let mut tasks = vec![task(0, 5, 5, &[3], 2), task(1, 10, 10, &[4, 6], 1)];
    tasks[1].zero_slack = Some(6);
    let releases: [&[u64]; 2] = [&[0, 5, 10, 15], &[0, 10]];
    System {
        limits: Limits::ZeroSlack,
        ..amc(tasks, &releases, &[low, high], 20)
    }
}

/// With their normal values both tasks meet their deadlines. tau_h needs 4 units and has 3 when tau_l
/// comes at 5; from 6 on it is critical, and tau_l waits for one unit.
#[test]
fn table_one_of_huang_under_zero_slack_scheduling() {
    let schedule = draw("zss-table-one", &table_one(&[2; 4], &[4; 2]));
    assert_eq!(ticks(&schedule), "11222121..".repeat(2));
    assert!((0..4).all(|k| !misses(&schedule, 0, k, 5 * (k as u64 + 1))));
    assert!((0..2).all(|k| !misses(&schedule, 1, k, 10 * (k as u64 + 1))));
}

/// With the overload values tau_h is complete at its deadlines to the tick; tau_l's second job is
/// suspended at 6, late at 10, and goes on below all others only when tau_h is complete, at 20.
#[test]
fn table_one_of_huang_in_overload() {
    let schedule = draw("zss-table-one-overload", &table_one(&[3; 4], &[6; 2]));
    assert_eq!(ticks(&schedule), "11122122222222221111");
    assert!(!misses(&schedule, 1, 0, 10));
    assert!(!misses(&schedule, 1, 1, 20));
    assert!(!misses(&schedule, 0, 0, 5));
    assert!(misses(&schedule, 0, 1, 10));
}

/// `zss:harmonic` gives the HI task the instant 6 and claims the set schedulable. The LO job released
/// at 16 is suspended until 17, and its successor follows it at once: at 23, two ticks before its
/// deadline, the HI job released at 17 has three units to go.
#[test]
fn a_suspended_job_is_carried_in_and_the_published_instants_miss() {
    let mut tasks = vec![task(0, 4, 4, &[3], 2), task(1, 8, 8, &[2, 3], 1)];
    tasks[1].zero_slack = Some(6);
    let releases: [&[u64]; 2] = [&[4, 8, 12, 16, 20, 24], &[1, 9, 17]];
    let demand: [&[u64]; 2] = [&[3; 6], &[3; 3]];
    let system = System {
        limits: Limits::ZeroSlack,
        ..amc(tasks, &releases, &demand, 28)
    };
    let schedule = draw("zss-carry-in", &system);
    assert!(misses(&schedule, 1, 2, 25));
}

/// Without its condition the tightening takes the work of t1 before its instant for done: it gives t3
/// the bound 3 and t1 the instant 0. t1 suspends t3, not t2, and t2 runs ahead of t3 in its stead.
#[test]
fn tightening_without_its_condition_misses() {
    let mut tasks = vec![
        task(1, 10, 10, &[1, 4], 1),
        task(1, 6, 6, &[2, 2], 2),
        task(0, 3, 3, &[1], 3),
    ];
    tasks[0].zero_slack = Some(0);
    let releases: [&[u64]; 3] = [&[0], &[0], &[0]];
    let system = System {
        limits: Limits::ZeroSlack,
        ..amc(tasks, &releases, &[&[1], &[2], &[1]], 6)
    };
    let schedule = draw("zss-tightened-everywhere", &system);
    assert_eq!(ticks(&schedule), "2213..");
    assert!(misses(&schedule, 2, 0, 3));
}

/// `rms` accepts the set with the bounds 4, 1 and 3, and yet no HI job may wait until its deadline: in HI
/// runs t3 may be late; it then suspends t2, whose job and the next one follow each other. The HI job
/// released at 25 has two of its three units at 29.
#[test]
fn instants_at_the_deadlines_miss_although_rms_accepts() {
    let system = |after: u64| {
        let mut tasks = vec![
            task(1, 5, 4, &[1, 3], 2),
            task(0, 4, 3, &[1], 3),
            task(0, 6, 6, &[1], 1),
        ];
        for entry in &mut tasks {
            entry.zero_slack = Some(entry.task.deadline.as_nanos());
        }
        tasks[0].zero_slack = Some(after);
        let releases: [&[u64]; 3] = [
            &[0, 5, 10, 15, 20, 25],
            &[0, 4, 8, 12, 16, 20, 24, 28],
            &[0, 6, 12, 18],
        ];
        let demand: [&[u64]; 3] = [&[3; 6], &[1; 8], &[1; 4]];
        System {
            limits: Limits::ZeroSlack,
            ..amc(tasks, &releases, &demand, 30)
        }
    };
    let schedule = draw("zss-instants-at-deadlines", &system(4));
    assert!((0..5).all(|k| !misses(&schedule, 0, k, 5 * k as u64 + 4)));
    assert!(misses(&schedule, 0, 5, 29));
    // With the instant that `zss` chooses it has the CPU in time.
    let problem = problem_of(&system(4));
    let outcome = vestal_analysis::find("zss", None)
        .unwrap()
        .analyse(&problem);
    assert_eq!(outcome.verdict, vestal_analysis::Verdict::Schedulable);
    let instants = outcome.parameters.zero_slack.unwrap();
    let (schedule, _) = reference::schedule(&system(instants[0].as_nanos()));
    assert!(instants[0].as_nanos() < 4 && !misses(&schedule, 0, 5, 29));
}

fn problem_of(system: &System) -> vestal_analysis::Problem {
    let tasks = system.tasks.iter().map(|entry| entry.task).collect();
    let levels = vestal_core::LevelSet::new(system.levels).unwrap();
    vestal_analysis::Problem::new(tasks, levels).unwrap()
}

/// A HI job stands at its LO value from 2 to 8 and is critical from 7 on. A LO job is late at 6 whether or
/// not that one is complete, so that this was guaranteed not to happen; who is late at 8 has been suspended.
#[test]
fn a_standing_job_excuses_nobody_before_its_zero_slack_instant() {
    for (deadline, guaranteed) in [(6, 1), (7, 1), (8, 0)] {
        let critical = ReferenceTask {
            zero_slack: Some(7),
            ..task(1, 20, 20, &[2, 5], 2)
        };
        let tasks = vec![
            task(1, 20, 20, &[6], 3),
            critical,
            task(0, 20, deadline, &[1], 1),
        ];
        let system = System {
            limits: Limits::ZeroSlack,
            ..amc(tasks, &[&[2], &[0], &[0]], &[&[6], &[5], &[1]], 14)
        };
        let (schedule, found) = cross_check(&system);
        assert_eq!(ticks(&schedule), "221111112223..");
        assert_eq!(found, guaranteed, "due at {deadline}");
    }
}

/// Of the third task's job, which needs nothing, the CPU is never free before its zero-slack instant at 4.
/// Then it suspends the first task until the second one's job is complete.
#[test]
fn a_job_that_needs_nothing_suspends_others_all_the_same() {
    let with = |after, entry| ReferenceTask {
        zero_slack: Some(after),
        ..entry
    };
    let tasks = vec![
        task(0, 2, 1, &[1], 3),
        with(4, task(1, 4, 4, &[2, 2], 2)),
        with(4, task(1, 20, 20, &[0, 1], 1)),
    ];
    let system = System {
        limits: Limits::ZeroSlack,
        ..amc(
            tasks,
            &[&[0, 2, 4], &[0, 4], &[0]],
            &[&[1; 3], &[2; 2], &[0]],
            7,
        )
    };
    let set = problem_of(&system);
    let zss = vestal_analysis::find("zss", None).unwrap();
    assert!(zss.analyse(&set).why.is_some());
    let mut statistics = Statistics::of(&configuration(&system, &tasks_of(&system)), 1);
    run_engine(&system, &mut statistics);
    assert_eq!(statistics.tasks()[0].missed_guaranteed, 1);
}

/// Under adaptive limits the third task's job, which needs nothing at level 0, never has the CPU before its
/// deadline at 20: the mode stays 0, and no task is suspended or dropped for it.
#[test]
fn a_job_that_needs_nothing_below_its_level_may_never_raise_the_mode() {
    let tasks = vec![
        task(0, 2, 1, &[1], 3),
        task(1, 4, 4, &[2, 2], 2),
        task(1, 20, 20, &[0, 1], 1),
    ];
    let twos: Vec<u64> = (0..12).map(|job| 2 * job).collect();
    let fours: Vec<u64> = (0..6).map(|job| 4 * job).collect();
    let system = amc(
        tasks,
        &[&twos, &fours, &[0]],
        &[&[1; 12], &[2; 6], &[1]],
        23,
    );
    let mut statistics = Statistics::of(&configuration(&system, &tasks_of(&system)), 1);
    run_engine(&system, &mut statistics);
    assert_eq!(statistics.tasks()[2].missed_guaranteed, 1);
    let set = problem_of(&system);
    for name in ["amc-rtb", "amc-max", "fjp-mode"] {
        let test = vestal_analysis::find(name, None).unwrap();
        assert!(test.analyse(&set).why.is_some(), "{name}");
    }
}
