//! Fixed job priorities: runs that refute the test `fjp-ija`. Every set that ever did is kept here.

use crate::common::judgement::cross_check;
use crate::reference::{AtLimit, Limits, Lists, ReferenceTask, Schedule, System};
use vestal_analysis::{Problem, Scratch, Verdict, find};
use vestal_core::{Duration, Level, LevelSet, Service, Task, Wcet};

/// z, T, D and C(0), ..., C(z).
type Row = (u8, u64, u64, &'static [u64]);

fn problem(levels: usize, rows: &[Row]) -> Problem {
    let task = |&(criticality, period, deadline, wcet): &Row| {
        let values: Vec<Service> = wcet.iter().copied().map(Service::from_nanos).collect();
        let span = Duration::from_nanos;
        let wcet = Wcet::new(&values).unwrap();
        Task::new(Level(criticality), span(period), span(deadline), wcet).unwrap()
    };
    let tasks = rows.iter().map(task).collect();
    Problem::new(tasks, LevelSet::new(levels).unwrap()).unwrap()
}

/// The set under the lists that the refuted test claims to suffice, after a check that the sound tests
/// do not accept it.
fn claimed(variant: &str, problem: &Problem, releases: &[&[u64]], demand: &[&[u64]]) -> System {
    let outcome = find("fjp-ija", Some(variant)).unwrap().analyse(problem);
    assert_eq!(outcome.claim, Some(Verdict::Schedulable));
    for sound in ["fjp-mode", "fjp-own", "fjp-lb"] {
        let test = find(sound, None).unwrap();
        assert!(!test.accepts(problem, &mut Scratch::default()), "{sound}");
    }
    let lists = outcome.parameters.job_priorities.unwrap();
    let entries = problem.tasks().iter().zip(lists);
    let owned = |lists: &[&[u64]]| lists.iter().map(|list| list.to_vec()).collect();
    System {
        tasks: entries
            .map(|(&task, list)| ReferenceTask {
                task,
                priority: 0,
                virtual_deadline: task.deadline.as_nanos(),
                slices: 1,
                zero_slack: None,
                abort_when_late: false,
                list,
            })
            .collect(),
        levels: problem.levels().count(),
        by_deadline: false,
        lists: Lists::Reused,
        limits: Limits::Adaptive,
        at_limit: AtLimit::Background,
        releases: owned(releases),
        demand: owned(demand),
        end: 24,
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

/// tau4 raises the mode, and the jobs of tau3 are gone; tau2, with priority 1, takes its five units from 6
/// to 11. The second job of tau1, with priority 0 and due at 10, comes after it.
#[test]
fn ija_rounded_up_lets_the_second_job_of_tau1_miss_at_10() {
    let rows: [Row; 4] = [
        (1, 5, 5, &[1, 2]),
        (1, 14, 14, &[2, 5]),
        (0, 4, 4, &[1]),
        (1, 14, 14, &[1, 5]),
    ];
    let releases: [&[u64]; 4] = [&[0, 5], &[0], &[0, 4], &[0]];
    let demand: [&[u64]; 4] = [&[1, 1], &[5], &[1, 1], &[5]];
    let problem = problem(2, &rows);
    for lists in [Lists::Reused, Lists::Recomputed] {
        let system = System {
            lists,
            ..claimed("ceil", &problem, &releases, &demand)
        };
        let (schedule, guaranteed) = cross_check(&system);
        assert_eq!(&ticks(&schedule)[..13], "144444222221.");
        assert_eq!(&schedule.modes[..3], [0, 0, 1]);
        assert_eq!(guaranteed, 1, "a guaranteed miss");
    }
}

/// Found by the campaign, with three levels: tau1, tau4 and tau3 (both its units, so the mode rises) go
/// before tau2, which has 6 of its 7 units at 10.
#[test]
fn ija_rounded_down_lets_tau2_miss_at_10() {
    let rows: [Row; 4] = [
        (0, 6, 6, &[1]),
        (2, 10, 10, &[5, 5, 7]),
        (1, 6, 6, &[1, 2]),
        (2, 12, 12, &[1, 1, 1]),
    ];
    let releases: [&[u64]; 4] = [&[2], &[0], &[3], &[3]];
    let demand: [&[u64]; 4] = [&[1], &[7], &[2], &[1]];
    let problem = problem(3, &rows);
    let system = claimed("floor", &problem, &releases, &demand);
    let (schedule, guaranteed) = cross_check(&system);
    assert_eq!(&ticks(&schedule)[..12], "22143322222.");
    assert_eq!(guaranteed, 1, "a guaranteed miss");
}
