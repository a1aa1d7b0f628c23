//! `analyze` of a platform with two CPUs: which tests run, what is said of CPUs, and placements that are given.

use crate::support::{Scratch, vestal};
use crate::{FMS, THREE};
use serde_json::{Value, json};

const TWO_CPUS: &str = "examples/two-cpus.toml";

/// The CPU of each task.
fn cpus(result: &Value) -> Vec<Value> {
    let tasks = result["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["cpu"].clone()).collect()
}

#[test]
fn without_names_the_tests_for_the_platform_are_run() {
    let done = vestal(&["analyze", TWO_CPUS, "--format", "json"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(
        done.stderr
            .contains("the platform has 2 CPUs; the tests for one CPU are left out")
    );
    let document = done.json();
    let results = document["results"].as_array().unwrap();
    let names = results
        .iter()
        .map(|result| (&result["test"], &result["variant"]));
    let edf = json!("pedf-vd");
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            (&edf, &Value::Null),
            (&edf, &json!("decreasing")),
            (&edf, &json!("edf-vd")),
            (&json!("ftts"), &Value::Null),
            (&json!("mc2"), &Value::Null),
            (&json!("mc2"), &json!("rms")),
        ]
    );
    assert_eq!(cpus(&results[0]), [0, 0, 0, 1, 1]);
    assert_eq!(cpus(&results[1]), [0, 0, 1, 1, 0]);
    let all = vestal(&["analyze", TWO_CPUS, "--all", "--format", "json"]);
    assert_eq!(all.json()["results"].as_array().unwrap().len(), 6);

    // On one CPU it is run by name, and there is no column for it.
    let none = vestal(&["analyze", THREE]);
    assert!(
        !none.stdout.contains("pedf-vd") && !none.stdout.contains("  CPU  "),
        "{}",
        none.stdout
    );
    let named = vestal(&[
        "analyze",
        THREE,
        "--test",
        "pedf-vd:edf-vd",
        "--format",
        "json",
    ]);
    assert_eq!(named.exit, 0, "{}", named.stderr);
    assert_eq!(cpus(&named.json()["results"][0]), [0, 0, 0]);
}

#[test]
fn a_test_for_one_cpu_proves_nothing_of_two() {
    let done = vestal(&["analyze", TWO_CPUS, "--test", "edf-vd", "--format", "json"]);
    assert_eq!(done.exit, 1, "{}", done.stderr);
    let result = &done.json()["results"][0];
    assert_eq!(result["verdict"], "not-proven");
    assert_eq!(
        result["why"],
        "the test is for one CPU, and the platform has 2"
    );
    assert_eq!(cpus(result), vec![Value::Null; 5]);
    let table = vestal(&["analyze", TWO_CPUS, "--test", "pedf-vd"]);
    assert!(table.stdout.contains("  CPU  "), "{}", table.stdout);
    let one = vestal(&["analyze", FMS, "--test", "edf-vd", "--format", "json"]);
    assert_eq!(cpus(&one.json()["results"][0])[0], 0);
}

#[test]
fn placements_that_were_written_are_used_and_checked() {
    let scratch = Scratch::new("placements");
    let path = scratch.0.join("p.json");
    let file = path.to_str().unwrap();
    let analyze = ["analyze", TWO_CPUS, "--test", "pedf-vd", "--format", "json"];
    let written = vestal(&[&analyze[..], &["--emit", file]].concat());
    assert_eq!(written.exit, 0, "{}", written.stderr);
    let parameters = written.json()["results"][0]["parameters"].clone();
    let by_task = json!({ "brake": 0, "steering": 0, "mapping": 0, "radio": 1, "camera": 1 });
    assert_eq!(parameters["partition"], by_task);
    assert_eq!(parameters["virtual_deadlines"]["brake"], "7.5ms");
    let again = vestal(&[&analyze[..], &["--parameters", file]].concat());
    assert_eq!(again.exit, 0, "{}", again.stderr);
    assert_eq!(again.json()["results"][0]["parameters"], parameters);

    let with = |text: &str| {
        std::fs::write(&path, text).unwrap();
        vestal(&[&analyze[..], &["--parameters", file]].concat())
    };
    let whole = std::fs::read_to_string(&path).unwrap();
    let moved = with(&whole.replace("\"mapping\": 0", "\"mapping\": 1"));
    assert_eq!(moved.exit, 1);
    let why = moved.json()["results"][0]["why"].clone();
    let why = why.as_str().unwrap();
    assert!(
        why.starts_with("on CPU 1: the utilisations exceed"),
        "{why}"
    );
    assert!(why.contains("LO tasks 1.150000"), "{why}");
    let late = with(&whole.replace("7.5ms", "10ms"));
    let why = late.json()["results"][0]["why"].clone();
    let why = why.as_str().unwrap();
    assert!(
        why.starts_with("on CPU 0: with these virtual deadlines"),
        "{why}"
    );
    let beyond = with(&whole.replace("\"mapping\": 0", "\"mapping\": 2"));
    assert_eq!(beyond.exit, 2);
    assert!(
        beyond.stderr.contains("V0207") && beyond.stderr.contains("p.json:6:"),
        "{}",
        beyond.stderr
    );
    // Some tasks are enough: the others find their places.
    std::fs::write(&path, "{ \"partition\": { \"brake\": 1 } }").unwrap();
    let exact = [
        "analyze",
        TWO_CPUS,
        "--test",
        "pedf-vd:edf-vd",
        "--format",
        "json",
    ];
    let some = vestal(&[&exact[..], &["--parameters", file]].concat());
    assert_eq!(some.exit, 0, "{}", some.stderr);
    assert_eq!(cpus(&some.json()["results"][0]), [1, 0, 0, 0, 1]);
}

#[test]
fn a_file_gives_tasks_their_cpus() {
    let scratch = Scratch::new("cpus-of-a-file");
    let path = scratch.0.join("set.toml");
    let text = std::fs::read_to_string(crate::support::repository().join(TWO_CPUS)).unwrap();
    let given = text.replace("name        = \"brake\"", "name = \"brake\"\ncpu = 1");
    assert_ne!(text, given);
    std::fs::write(&path, given).unwrap();
    let file = path.to_str().unwrap();
    let done = vestal(&[
        "analyze",
        file,
        "--test",
        "pedf-vd:edf-vd",
        "--format",
        "json",
    ]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(
        done.stderr.contains("those tasks are placed there first"),
        "{}",
        done.stderr
    );
    assert_eq!(cpus(&done.json()["results"][0]), [1, 0, 0, 0, 1]);
    let parameters = scratch.0.join("p.json");
    std::fs::write(&parameters, "{ \"partition\": { \"steering\": 1 } }").unwrap();
    let other = ["--parameters", parameters.to_str().unwrap()];
    let done = vestal(
        &[
            &[
                "analyze",
                file,
                "--test",
                "pedf-vd:edf-vd",
                "--format",
                "json",
            ],
            &other[..],
        ]
        .concat(),
    );
    assert_eq!(cpus(&done.json()["results"][0]), [0, 1, 0, 0, 1]);
}
