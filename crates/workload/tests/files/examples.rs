//! The examples say what their papers print.

use crate::common;

use vestal_core::{Duration, Level, Service};
use vestal_workload::{Rational, TaskSet, Utilisation};

fn load(name: &str) -> TaskSet {
    let text = std::fs::read_to_string(common::root().join("examples").join(name)).unwrap();
    TaskSet::parse(name, &text).unwrap_or_else(|error| panic!("{error}"))
}

fn wcet(set: &TaskSet, task: &str, level: &str) -> Option<u64> {
    let index = set.task_index(task).unwrap();
    let level = set.level(level).unwrap();
    set.tasks[index].wcet[level.index()].map(Service::as_nanos)
}

#[test]
fn every_example_is_valid_without_warning_and_converts() {
    for (name, text) in common::examples() {
        let set = TaskSet::parse(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        assert!(set.warnings().is_none(), "{name}");
        if !set.jobs.is_empty() {
            let jobs = set
                .to_jobs("ocbp")
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(jobs.len(), set.jobs.len());
            continue;
        }
        let tasks = set
            .to_tasks("amc-rtb")
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(tasks.len(), set.tasks.len());
    }
}

#[test]
fn writing_and_reading_again_gives_an_equal_set() {
    for (name, text) in common::examples() {
        let set = TaskSet::parse(&name, &text).unwrap();
        let again =
            TaskSet::parse("again.toml", &set.to_toml()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(set, again, "{name}");
        let json = set.to_json();
        assert!(
            json.starts_with("{\n  \"format\": \"vestal/1\",\n"),
            "{json}"
        );
        let again = TaskSet::parse("again.json", &json);
        assert_eq!(
            set,
            again.unwrap_or_else(|error| panic!("{error}")),
            "{name}"
        );
    }
}

#[test]
fn the_flight_management_system_is_table_three() {
    let set = load("fms.toml");
    assert_eq!(set.tasks.len(), 11);
    assert_eq!(
        set.tasks
            .iter()
            .filter(|task| task.criticality == Level(1))
            .count(),
        5
    );
    assert_eq!(set.platform.cpus, 1);
    assert_eq!(wcet(&set, "sensor-3", "LO"), Some(1_450_000));
    assert_eq!(wcet(&set, "nearest-airport", "LO"), Some(31_460_000));
    for task in &set.tasks {
        let high = wcet(&set, &task.name, "HI");
        assert_eq!(
            high,
            (task.criticality == Level(1)).then_some(10_000_000),
            "{}",
            task.name
        );
    }
    assert_eq!(set.hyperperiod(), Some(Duration::from_millis(5000)));
    // Two hyperperiods are exactly the limit.
    assert_eq!(set.default_duration(), Duration::from_millis(10_000));
    // 2 * 10/200 + 2 * 10/1000 + 10/5000
    assert_eq!(
        set.utilisation(Level(1)),
        Utilisation::Exact(Rational::new(122, 1000).unwrap())
    );
    // In microseconds per 5 s: (230 + 150 + 140) * 50 + (1450 + 150 + 1580) * 25
    // + (150 + 380 + 60 + 31460) * 5 + 140
    let low = (520 * 50 + 3180 * 25 + 32_050 * 5 + 140, 5_000_000);
    assert_eq!(
        set.utilisation(Level(0)),
        Utilisation::Exact(Rational::new(low.0, low.1).unwrap())
    );
}

#[test]
fn the_other_flight_management_systems_differ_where_they_say() {
    let table = load("fms.toml");
    let text = load("fms-200.toml");
    let mut changed = Vec::new();
    for (a, b) in table.tasks.iter().zip(&text.tasks) {
        assert_eq!((&a.name, &a.wcet), (&b.name, &b.wcet));
        if a.period != b.period {
            assert_eq!(
                (a.period, b.period),
                (Duration::from_millis(100), Duration::from_millis(200))
            );
            changed.push(a.name.as_str());
        }
    }
    assert_eq!(changed, ["sensor-1", "sensor-2", "localisation-4"]);
    let core = load("fms-core-i5.toml");
    assert_eq!(wcet(&core, "nearest-airport", "LO"), Some(1_474_000));
    assert_eq!(wcet(&core, "sensor-3", "LO"), Some(59_000));
    assert!(
        core.tasks
            .iter()
            .zip(&table.tasks)
            .all(|(a, b)| a.period == b.period)
    );
}

#[test]
fn the_small_examples_have_their_papers_numbers() {
    let three = load("huang-three-tasks.toml");
    assert_eq!(wcet(&three, "tau2", "HI"), Some(5_000_000));
    assert_eq!(three.tasks[2].period, Duration::from_millis(100));
    assert_eq!(
        three
            .tasks
            .iter()
            .map(|task| task.priority)
            .collect::<Vec<_>>(),
        [Some(3), Some(2), Some(1)]
    );
    let four = load("huang-four-tasks.toml");
    assert_eq!(four.hyperperiod(), Some(Duration::from_millis(60)));
    assert_eq!(wcet(&four, "tau1", "HI"), Some(6_000_000));
    let two = load("huang-table1.toml");
    assert_eq!(
        (wcet(&two, "high", "LO"), wcet(&two, "high", "HI")),
        (Some(4_000_000), Some(6_000_000))
    );
    let herman = load("herman-table1.toml");
    assert_eq!(herman.levels, ["D", "C", "B", "A"]);
    // Every task has a value at its own level and at all lower ones.
    for task in &herman.tasks {
        let given = task.wcet.iter().filter(|value| value.is_some()).count();
        assert_eq!(given, task.criticality.index() + 1, "{}", task.name);
    }
    // The table of level A fills its CPU: 3/5 + 4/10 = 1.
    assert_eq!(
        herman.utilisation(Level(3)),
        Utilisation::Exact(Rational::new(1, 1).unwrap())
    );
}

#[test]
fn the_starter_says_the_same_in_both_languages() {
    assert_eq!(load("starter.toml"), load("starter.json"));
}
