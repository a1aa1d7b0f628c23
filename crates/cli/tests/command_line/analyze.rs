//! What `analyze` shows people: all tests at a glance, one proof in full, and what it chose.

use super::support::{Scratch, command, vestal};
use super::{FMS, THREE};
use serde_json::Value;
use std::fmt::Write as _;

/// Two levels, and this many tasks of which none has to wait long.
fn many(tasks: usize) -> String {
    let mut text = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n".to_owned();
    for task in 0..tasks {
        let period = 1000 + task;
        let (criticality, wcet) = match task % 2 {
            0 => ("LO", "LO = 1"),
            _ => ("HI", "LO = 1, HI = 2"),
        };
        let _ = write!(
            text,
            "\n[[task]]\nname = \"t{task}\"\ncriticality = \"{criticality}\"\nperiod = {period}\nwcet = {{ {wcet} }}\n"
        );
    }
    text
}

/// The rows of the table of tests by the name of the test, with the other words of the row.
fn rows(page: &str) -> Vec<(&str, Vec<&str>)> {
    let lines = page.lines().skip_while(|line| !line.starts_with("---"));
    let lines = lines.skip(1).take_while(|line| !line.is_empty());
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            (words.next().unwrap(), words.collect())
        })
        .collect()
}

#[test]
fn forty_lines_say_it_and_the_first_names_verdict_and_proof() {
    let done = vestal(&["analyze", FMS]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let page = done.stdout;
    assert!(page.lines().count() <= 40, "{page}");
    let json = vestal(&["analyze", FMS, "--format", "json"]).json();
    let strongest = json["strongest"].as_str().unwrap();
    let results = json["results"].as_array().unwrap();
    let proofs = results.iter().filter(|one| one["verdict"] == "schedulable");
    let first = page.lines().next().unwrap();
    assert_eq!(
        first,
        format!(
            "Flight management system is schedulable by {} of {} tests; the strongest proof is {strongest}.",
            proofs.count(),
            results.len()
        )
    );
    let rows = rows(&page);
    assert_eq!(rows.len(), results.len());
    for ((name, words), result) in rows.iter().zip(results) {
        let test = match result["variant"].as_str() {
            Some(variant) => format!("{}:{variant}", result["test"].as_str().unwrap()),
            None => result["test"].as_str().unwrap().to_owned(),
        };
        assert_eq!(*name, test);
        assert_eq!(words[0], result["verdict"]);
        assert_eq!(words[1], result["kind"]);
        assert_eq!(words.last(), Some(&"us"));
        // A test that does not accept says why, in the same line.
        if result["verdict"] != "schedulable" {
            let why = result["why"].as_str().unwrap();
            assert!(
                page.lines()
                    .any(|line| line.starts_with(&test) && line.contains(why)),
                "{page}"
            );
        }
    }
    // The details are those of that proof, and of no other.
    let sections = page.lines().filter(|line| line.contains(" test, took "));
    let sections: Vec<&str> = sections.collect();
    assert_eq!(sections.len(), 1, "{page}");
    assert!(
        sections[0].starts_with(&format!("{strongest}: schedulable")),
        "{page}"
    );
}

#[test]
fn details_and_names_show_tests_in_full() {
    let sections = |arguments: &[&str]| {
        let page = vestal(&[&["analyze", THREE], arguments].concat()).stdout;
        let titles = page.lines().filter(|line| line.contains(" test, took "));
        (titles.count(), page)
    };
    let json = vestal(&["analyze", THREE, "--format", "json"]).json();
    let all = json["results"].as_array().unwrap().len();
    let (shown, page) = sections(&["--details"]);
    assert_eq!(shown, all, "{page}");
    assert_eq!(rows(&page).len(), all);
    let (shown, page) = sections(&["--test", "smc", "--test", "amc-rtb"]);
    assert_eq!(shown, 2, "{page}");
    assert!(page.starts_with("smc: "), "{page}");
    // Several names in one option, each of them once.
    let (shown, page) = sections(&["--test", "smc,amc-rtb", "--test", "amc-rtb"]);
    assert_eq!(shown, 2, "{page}");
    let unknown = vestal(&["analyze", THREE, "--test", "smc,amc-rtp"]);
    assert_eq!(unknown.exit, 2);
    assert!(
        unknown.stderr.contains("did you mean `amc-rtb`?"),
        "{}",
        unknown.stderr
    );
    assert!(
        page.ends_with("Huang 2014, three tasks is schedulable by amc-rtb.\n"),
        "{page}"
    );
    // Nothing is proved: no details, and no proof in JSON.
    let scratch = Scratch::new("analyze-none");
    let late = many(4).replace("HI = 2 ", "HI = 900 ");
    let file = scratch.file("late.toml", &late);
    let file = file.to_str().unwrap();
    let done = vestal(&["analyze", file]);
    assert_eq!(done.exit, 1, "{}{}", done.stdout, done.stderr);
    let first = done.stdout.lines().next().unwrap();
    assert_eq!(
        first,
        "The task set is not proved schedulable by any of these tests."
    );
    assert!(!done.stdout.contains(" test, took "), "{}", done.stdout);
    let json = vestal(&["analyze", file, "--format", "json"]).json();
    assert_eq!(json["strongest"], Value::Null);
}

#[test]
fn two_hundred_tasks_have_little_more_than_a_line_each() {
    let scratch = Scratch::new("analyze-many");
    let file = scratch.file("many.toml", &many(200));
    let done = vestal(&["analyze", file.to_str().unwrap()]);
    assert_eq!(done.exit, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.lines().count() <= 230, "{}", done.stdout);
}

/// The words of a line of a page that begins with this one.
fn words<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let line = page
        .lines()
        .find(|line| line.split_whitespace().next() == Some(name));
    let line = line.unwrap_or_else(|| panic!("{name} in {page}"));
    line.split_whitespace().collect()
}

#[test]
fn what_a_test_chose_for_each_task_is_a_column_and_what_is_single_is_a_line() {
    for (file, test, column, lines) in [
        (
            THREE,
            "edf-vd",
            "virtual deadline",
            &["deadline factor: x = "][..],
        ),
        (
            "examples/period-transformation.toml",
            "pt",
            "number of slices",
            &[],
        ),
        (
            "examples/huang-table1.toml",
            "zss",
            "zero-slack instant",
            &[],
        ),
    ] {
        let done = vestal(&["analyze", file, "--test", test]);
        // What is not enough is shown, too.
        assert!(done.exit < 2, "{test}: {}", done.stderr);
        let page = &done.stdout;
        let header = page.lines().find(|line| line.starts_with("task ")).unwrap();
        assert!(header.contains(column), "{page}");
        for line in lines {
            assert!(page.contains(line), "{page}");
        }
        // Each cell is what JSON has of the task.
        let json = vestal(&["analyze", file, "--test", test, "--format", "json"]).json();
        let key = match test {
            "pt" => "slices",
            "zss" => "zero_slack",
            _ => "virtual_deadlines",
        };
        let values = json["results"][0]["parameters"][key].as_object().unwrap();
        assert!(!values.is_empty());
        for (task, value) in values {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(words(page, task)[4], value, "{test}: {page}");
        }
    }
}

#[test]
fn a_row_is_a_line_in_a_pipe_and_fits_a_terminal() {
    let piped = vestal(&["analyze", THREE]).stdout;
    assert!(
        piped.lines().any(|line| line.chars().count() > 100),
        "{piped}"
    );
    let output = command(&["analyze", THREE])
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    let narrow = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        rows(&narrow).len(),
        rows(&piped).len(),
        "reasons are cut and not wrapped:\n{narrow}"
    );
    let table = narrow
        .lines()
        .take_while(|line| !line.contains(" test, took "));
    for line in table.skip(1) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(narrow.contains("..."), "{narrow}");
    // Other tables still wrap at a terminal, and only there.
    let listed = |columns: Option<&str>| {
        let mut explain = command(&["explain"]);
        if let Some(columns) = columns {
            explain.env("COLUMNS", columns);
        }
        String::from_utf8(explain.output().unwrap().stdout).unwrap()
    };
    let json = vestal(&["explain", "--format", "json"]).json();
    let topics = json["topics"].as_array().unwrap().len();
    assert_eq!(listed(None).lines().count(), topics + 2);
    assert!(listed(Some("60")).lines().count() > topics + 2);
}
