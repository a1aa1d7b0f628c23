//! What would take for ever, or all memory, is seen before it is begun.

use crate::FMS;
use crate::support::{Scratch, vestal};

/// Two tasks: one takes the whole CPU, the other has a job in 146 years.
const FOR_EVER: &str = "format = \"vestal/1\"\nname = \"x\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ns\"\n\
    [[task]]\nname = \"always\"\ncriticality = \"LO\"\nperiod = 2\nwcet = { LO = 2 }\n\
    [[task]]\nname = \"seldom\"\ncriticality = \"HI\"\nperiod = 4611686018427387904\nwcet = { LO = 7, HI = 9 }\n";

#[test]
fn every_test_ends_where_more_than_the_whole_cpu_is_asked_for() {
    let scratch = Scratch::new("for-ever");
    let file = scratch.file("x.toml", FOR_EVER);
    let file = file.to_str().unwrap();
    for test in [
        "rms",
        "dms",
        "cms",
        "smc",
        "amc-rtb",
        "amc-max",
        "amc-ia",
        "zss",
        "zss:tightened",
        "pt",
        "edf",
    ] {
        let done = vestal(&["analyze", file, "--test", test, "--format", "json"]);
        let document = done.json();
        let found = &document["tests"][0];
        assert_ne!(found["verdict"], "schedulable", "{test}: {found}");
        assert_eq!(done.exit, 1, "{test}");
    }
    // All that there are, unsafe ones included.
    assert_eq!(vestal(&["analyze", file]).exit, 1);
}

#[test]
fn a_file_without_end_is_refused() {
    for arguments in [
        &["check", "/dev/zero"][..],
        &["analyze", FMS, "--overheads", "/dev/zero"],
    ] {
        let done = vestal(arguments);
        assert_eq!(done.exit, 2, "{}", done.stderr);
        assert!(done.stderr.contains("more than"), "{}", done.stderr);
    }
}

#[test]
fn more_tables_than_a_list_may_have_are_refused_before_they_are_read() {
    let scratch = Scratch::new("tables");
    let file = scratch.file("x.toml", &"[[task]]\n".repeat(1_300_000));
    let done = vestal(&["check", file.to_str().unwrap()]);
    assert_eq!(done.exit, 2);
    assert!(done.stderr.contains("131070 headers"), "{}", done.stderr);
}

#[test]
fn so_many_jobs_are_simulated_only_when_it_is_meant() {
    let scratch = Scratch::new("long");
    let file = scratch.file("x.toml", FOR_EVER);
    let file = file.to_str().unwrap();
    let simulate = |more: &[&str]| {
        let arguments = ["simulate", file, "--policy", "rms"];
        vestal(&[&arguments, more].concat())
    };
    let done = simulate(&["--for", "10s"]);
    assert_eq!(done.exit, 2);
    for part in ["some 5000000000 jobs", "--yes", "--for 2s"] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    assert_ne!(simulate(&["--for", "100us"]).exit, 2);
    assert_ne!(simulate(&["--for", "100us", "--yes"]).exit, 2);
}

#[test]
fn an_experiment_that_could_not_be_kept_is_refused() {
    let scratch = Scratch::new("experiment");
    let tests = vec!["\"smc\""; 50_000].join(",");
    let text = format!(
        "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"standard\"\nsets = 3\nseed = 1\ntests = [{tests}]\n"
    );
    let file = scratch.file("x.toml", &text);
    let into = scratch.0.join("out");
    let done = vestal(&[
        "sweep",
        file.to_str().unwrap(),
        "-o",
        into.to_str().unwrap(),
    ]);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(
        done.stderr.contains("50000 tests and simulations"),
        "{}",
        done.stderr
    );
    assert!(!into.exists());
}

/// Before it is known whether this machine lets anything run in real time, and before any of it is taken.
#[cfg(target_os = "linux")]
#[test]
fn what_no_real_run_can_have_is_refused_before_it_begins() {
    let scratch = Scratch::new("no-run");
    let set = |period: &str, work: &str| {
        format!(
            "format = \"vestal/1\"\nname = \"x\"\nlevels = [\"LO\"]\nunit = \"ns\"\n\
             [[task]]\nname = \"one\"\ncriticality = \"LO\"\nperiod = {period}\nwcet = {{ LO = 1 }}\nwork = \"{work}\"\n\
             [[task]]\nname = \"other\"\ncriticality = \"LO\"\nperiod = 1000000000\nwcet = {{ LO = 1 }}\nwork = \"array:1KiB\"\n"
        )
    };
    let served = |period: &str| {
        let server = format!(
            "[[server]]\nname = \"served\"\nkind = \"deferrable\"\nperiod = {period}\ncapacity = 10\ntasks = [\"one\", \"other\"]\n"
        );
        // The array is not there before that is known.
        set("1000000", "array:1024GiB") + &server
    };
    for (policy, text, exit, expected) in [
        (
            "rms",
            set("49999", "spin"),
            2,
            "one: its period of 49999 ns is below the granularity",
        ),
        (
            "hsf",
            served("49999"),
            2,
            "served: its period of 49999 ns is below the granularity",
        ),
        (
            "rms",
            set("1000000", "array:1024GiB"),
            3,
            "MemAvailable in /proc/meminfo",
        ),
        // Only who has servers.
        ("hsf", served("1000000"), 3, "MemAvailable in /proc/meminfo"),
    ] {
        let file = scratch.file("x.toml", &text);
        let file = file.to_str().unwrap();
        let done = vestal(&["run", file, "--policy", policy, "--for", "10ms"]);
        assert_eq!(done.exit, exit, "{}", done.stderr);
        // Lines are broken to fit.
        let said = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{said}");
    }
}
