//! Overload: jobs wait, however many; `--set backlog=N` lets fewer wait, and says why it drops the others.

use crate::support::traces::read;
use crate::support::{Done, Scratch, vestal};
use std::fs;
use std::path::{Path, PathBuf};
use vestal_core::{DropReason, Fact};
use vestal_trace::What;

/// Two tasks that need 120 % of a CPU.
const TWO: &str = r#"
format = "vestal/1"
name = "overload"
levels = ["LO", "HI"]
unit = "ms"
[[task]]
name = "first"
criticality = "LO"
period = 10
wcet = { LO = 6 }
[[task]]
name = "second"
criticality = "LO"
period = 10
wcet = { LO = 6 }
on_miss = "continue"
"#;

/// One that overruns its LO budget at 510 ms, if a scenario wants it.
const THIRD: &str = r#"
[[task]]
name = "third"
criticality = "HI"
period = 900
offset = 500
deadline = 15
wcet = { LO = 10, HI = 15 }
"#;

fn simulate(set: &Path, arguments: &[&str]) -> Done {
    vestal(&[&["simulate", set.to_str().unwrap()], arguments].concat())
}

fn number(value: &serde_json::Value) -> u64 {
    value.as_u64().unwrap()
}

/// What the result says, after its trace was found to say the same and to be replayed without difference.
fn traced(
    scratch: &Scratch,
    set: &Path,
    name: &str,
    arguments: &[&str],
) -> (serde_json::Value, PathBuf) {
    let trace = scratch.0.join(name);
    let own = ["--format", "json", "--trace", trace.to_str().unwrap()];
    let done = simulate(set, &[arguments, &own].concat());
    assert!([0, 1, 3].contains(&done.exit), "{}", done.stderr);
    let result = done.json();
    let replayed = vestal(&["replay", trace.to_str().unwrap(), "--format", "json"]);
    let found = replayed.json();
    assert_eq!(replayed.exit, 0, "{arguments:?} {found:#}");
    for key in ["released", "completed", "dropped", "dropped_by", "missed"] {
        assert_eq!(
            found["jobs"][key], result["jobs"][key],
            "{key} {arguments:?}"
        );
    }
    (result, trace)
}

#[test]
fn no_job_is_dropped_in_overload_unless_a_backlog_says_so_and_then_with_its_reason() {
    let scratch = Scratch::new("backlog");
    let set = scratch.file("two.toml", TWO);
    for dispatch in ["managed", "native"] {
        let world = ["--policy", "rms", "--dispatch", dispatch, "--for", "1s"];
        let (result, _) = traced(&scratch, &set, "free.csv", &world);
        assert_eq!(number(&result["jobs"]["dropped"]), 0);
        assert_eq!(number(&result["jobs"]["completed"]), 166);
        // Job k of the second task is complete at 18 + 15k ms or so: what waits adds up.
        assert_eq!(result["tasks"][1]["response_ns"]["max"], 340_000_000);

        let bounded = [&world[..], &["--set", "backlog=4"]].concat();
        let (result, trace) = traced(&scratch, &set, "bounded.csv", &bounded);
        let jobs = &result["jobs"];
        let reasons = serde_json::json!({
            "mode": 0, "exhausted": 0, "superseded": 0, "deadline": 0, "backlog-full": 29
        });
        assert_eq!(
            (number(&jobs["dropped"]), &jobs["dropped_by"]),
            (29, &reasons)
        );
        assert_eq!(result["tasks"][1]["dropped_by"], reasons);
        let (header, records) = read(&trace);
        assert_eq!(header.options, [("backlog".to_owned(), "4".to_owned())]);
        let full = |what: &What| {
            matches!(
                what,
                What::Dropped {
                    why: DropReason::BacklogFull,
                    ..
                }
            )
        };
        assert_eq!(
            records.iter().filter(|record| full(&record.what)).count(),
            29
        );
        let page = simulate(&set, &bounded).stdout;
        assert!(page.contains("29 backlog"), "{page}");
        let none = [&world[..], &["--set", "backlog=0"]].concat();
        let (result, _) = traced(&scratch, &set, "none.csv", &none);
        assert!(number(&result["jobs"]["dropped_by"]["backlog-full"]) > 29);
    }
}

#[test]
fn thousands_of_waiting_jobs_are_recorded_replayed_and_drawn() {
    let scratch = Scratch::new("thousands");
    let set = scratch.file("two.toml", TWO);
    for (policy, dispatch) in [("rms", "managed"), ("edf", "managed"), ("rms", "native")] {
        let drawing = scratch.0.join("x.txt");
        let world = ["--policy", policy, "--dispatch", dispatch, "--for", "100s"];
        let drawn = [&world[..], &["--trace", drawing.to_str().unwrap()]].concat();
        let (result, trace) = traced(&scratch, &set, "x.vtrace", &drawn);
        assert_eq!(number(&result["jobs"]["dropped"]), 0);
        let waiting = number(&result["jobs"]["released"]) - number(&result["jobs"]["completed"]);
        assert!(waiting > 3_000, "{waiting}");
        assert!(fs::read_to_string(&drawing).unwrap().contains("second"));
        let page = scratch.0.join("x.html");
        let report = vestal(&[
            "report",
            trace.to_str().unwrap(),
            "-o",
            page.to_str().unwrap(),
        ]);
        assert_eq!(report.exit, 0, "{}", report.stderr);
    }
}

#[test]
fn a_kept_release_that_is_told_at_another_instant_is_found() {
    let scratch = Scratch::new("moved");
    let set = scratch.file("two.toml", TWO);
    let world = ["--policy", "rms", "--for", "1s"];
    let (_, trace) = traced(&scratch, &set, "x.csv", &world);
    let (_, records) = read(&trace);
    let seen = |what: &What| matches!(what, What::Observed(Fact::Released { .. }));
    let kept = records.iter().rfind(|record| seen(&record.what)).unwrap();
    assert!(records.iter().filter(|record| seen(&record.what)).count() > 20);
    // The last one that was reported in the end.
    let text = fs::read_to_string(&trace).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let reported = lines.iter().enumerate().find_map(|(index, line)| {
        let (at, rest) = line.split_once(',')?;
        let clock: u64 = lines[index - 1].split(',').next()?.parse().ok()?;
        let at: u64 = at.parse().ok()?;
        (rest.starts_with("release,") && at + 50_000_000 < clock).then_some((index, at, rest))
    });
    let (index, at, rest) =
        reported.unwrap_or_else(|| panic!("nothing was reported late: {kept:?}"));
    let changed = format!("{},{rest}", at + 1);
    let mut lines: Vec<&str> = lines;
    lines[index] = &changed;
    let tampered = scratch.file("changed.csv", &(lines.join("\n") + "\n"));
    let done = vestal(&["replay", tampered.to_str().unwrap()]);
    assert_eq!(done.exit, 1, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("W8"), "{}", done.stdout);
}

#[test]
fn a_rise_of_the_mode_drops_what_waits_and_says_so() {
    let scratch = Scratch::new("rise");
    let set = scratch.file("three.toml", &format!("{TWO}{THIRD}"));
    let rows = "task,job,release,execution\nthird,0,,15ms\n";
    let scenario = scratch.file("overrun.csv", rows);
    let scenario = ["--scenario", scenario.to_str().unwrap()];
    let parameters =
        "format = \"vestal-parameters/1\"\n[priorities]\nthird = 3\nfirst = 2\nsecond = 1\n";
    let parameters = scratch.file("priorities.toml", parameters);
    let parameters = ["--parameters", parameters.to_str().unwrap()];
    for (policy, dispatch, end) in [
        ("amc", "managed", "520ms"),
        ("amc", "native", "520ms"),
        // By deadline the third task comes after what is late.
        ("edf-vd", "managed", "650ms"),
    ] {
        let mut world = vec!["--policy", policy, "--dispatch", dispatch, "--for", end];
        world.extend(scenario);
        if policy == "amc" {
            world.extend(parameters);
        }
        let (result, _) = traced(&scratch, &set, "x.vtrace", &world);
        let drops = &result["jobs"]["dropped_by"];
        assert_eq!(drops["backlog-full"], 0);
        // Half a second of 20 % too much.
        let lost = number(&drops["mode"]);
        assert!((10..30).contains(&lost), "{policy} {dispatch}: {result:#}");
        assert_eq!(number(&result["jobs"]["dropped"]), lost);
    }
}

#[test]
fn a_simulation_with_too_many_waiting_jobs_ends_with_what_is_known_and_exit_3() {
    let scratch = Scratch::new("cut");
    let fast = TWO.replace("period = 10", "period = \"1us\"");
    let set = scratch.file("fast.toml", &fast.replace("LO = 6", "LO = \"10us\""));
    let (result, _) = traced(
        &scratch,
        &set,
        "x.vtrace",
        &["--policy", "rms", "--for", "10s"],
    );
    let at = number(&result["cut"]["at_ns"]);
    assert_eq!(number(&result["duration_ns"]), at);
    assert!((500_000_000..600_000_000).contains(&at), "{at}");
    assert!(number(&result["jobs"]["completed"]) > 50_000);
    let why = result["cut"]["why"].as_str().unwrap();
    assert!(why.contains("1048576"), "{why}");
    let done = simulate(&set, &["--policy", "edf", "--for", "10s"]);
    assert_eq!(done.exit, 3);
    assert!(done.stdout.contains("Cut at 551.887ms"), "{}", done.stdout);
    assert!(done.stderr.contains("--set backlog=N"), "{}", done.stderr);
    let done = simulate(
        &set,
        &["--policy", "edf", "--for", "1s", "--set", "backlog=9"],
    );
    // Nothing is guaranteed without a proof.
    assert_eq!(done.exit, 0, "{}", done.stderr);
}

#[test]
fn a_backlog_that_is_no_number_is_bad_input() {
    let scratch = Scratch::new("bad-backlog");
    let set = scratch.file("two.toml", TWO);
    for command in ["simulate", "run"] {
        let set = set.to_str().unwrap();
        let done = vestal(&[command, set, "--policy", "rms", "--set", "backlog=many"]);
        assert_eq!(done.exit, 2);
        assert!(
            done.stderr.contains("whole number from 0"),
            "{}",
            done.stderr
        );
    }
}
