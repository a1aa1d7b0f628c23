//! Servers, and the levels of MC² on one CPU.

use crate::support::stops::{Ending, stops};
use crate::support::{Scratch, repository, vestal};
use serde_json::{Value, json};
use std::time::Duration;

/// A server of each kind that keeps account by itself, at half a millisecond to two in ten; each task asks for more than its server gives.
const SET: &str = r#"
format = "vestal/1"
levels = ["LO"]
unit   = "ms"

[[task]]
name        = "short"
criticality = "LO"
period      = 0.5
wcet        = { LO = 0.1 }

[[task]]
name        = "greedy"
criticality = "LO"
period      = 20
wcet        = { LO = 5 }

[[task]]
name        = "steady"
criticality = "LO"
period      = 20
wcet        = { LO = 5 }

[[task]]
name        = "idle"
criticality = "LO"
period      = 20
wcet        = { LO = 1 }

[[server]]
name           = "sporadic"
kind           = "sporadic"
period         = 10
capacity       = 1
replenishments = 8
tasks          = ["short"]

[[server]]
name     = "deferrable"
kind     = "deferrable"
period   = 10
capacity = 2
tasks    = ["greedy"]

[[server]]
name     = "polling"
kind     = "polling"
period   = 20
capacity = 2
tasks    = ["steady"]

[[server]]
name     = "idling"
kind     = "idling-periodic"
period   = 40
capacity = 4
tasks    = ["idle"]
"#;

const SECOND: u64 = 1_000_000_000;

/// Runs a set for a second, replays its trace, and gives the result with what standard error says.
fn run_and_replay(name: &str, file: &str, more: &[&str]) -> (Value, String) {
    let scratch = Scratch::new(name);
    let trace = scratch.0.join("run.csv");
    let trace = trace.to_str().unwrap();
    let run = ["run", file, "--for", "1s", "--trace", trace];
    let done = vestal(&[&run[..], &["--format", "json"], more].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let replayed = vestal(&["replay", trace]);
    assert_eq!(replayed.exit, 0, "{}{}", replayed.stdout, replayed.stderr);
    let result = done.json();
    assert_eq!(result["proof"], Value::Null, "nothing is guaranteed");
    assert_eq!(result["jobs"]["missed_guaranteed"], 0);
    (result, done.stderr)
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap()
}

/// What is used beyond a budget is taken off the next one: so in all nobody gets more than his share of the run, one
/// budget that was there in the beginning, and once what a budget may be exceeded by.
#[test]
fn no_kind_of_server_gives_more_than_its_share() {
    let scratch = Scratch::new("real-servers-set");
    let file = scratch.0.join("set.toml");
    std::fs::write(&file, SET).unwrap();
    let (result, _) = run_and_replay("real-servers", file.to_str().unwrap(), &["--policy", "hsf"]);
    let enforced = &result["machine"];
    let granularity = number(enforced, "server_granularity_ns");
    let lost = number(&result["machine"], "lost_ns");
    let rows = result["servers"].as_array().unwrap();
    let kinds = [
        ("sporadic", 10, 1, Value::Null),
        ("deferrable", 10, 2, json!(99)),
        ("polling", 20, 2, json!(49)),
        ("idling", 40, 4, json!(24)),
    ];
    assert_eq!(rows.len(), kinds.len());
    for (row, (name, period, capacity, replenishments)) in rows.iter().zip(kinds) {
        assert_eq!(row["name"], name);
        let served = number(row, "served_ns");
        let share = SECOND / period * capacity + capacity * 1_000_000;
        assert!(
            served <= share + granularity + lost,
            "{row}: {share}, {granularity}, {lost}"
        );
        // It is really used: an idling server gives its one task what that asks for, the others all they have.
        let least = if name == "idling" {
            share / 5
        } else {
            share / 2
        };
        assert!(served >= least, "{row}: {least}");
        assert!(number(row, "exhausted") > 10, "{row}");
        if replenishments.is_null() {
            assert_eq!(row["replenishments"], Value::Null);
        } else {
            // The run may end a moment after its time.
            let come = number(row, "replenishments");
            let expected = replenishments.as_u64().unwrap();
            assert!((expected..=expected + 1).contains(&come), "{row}");
        }
    }
    assert!(number(enforced, "server_budgets_judged") > 0, "{enforced}");
}

/// Two servers with these budgets of 20 ms, for tasks that ask for so much of theirs.
fn two_servers(budgets: [u64; 2], demands: [u64; 2]) -> String {
    let mut text = "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n".to_owned();
    for (number, (budget, demand)) in budgets.into_iter().zip(demands).enumerate() {
        text += &format!(
            "[[task]]\nname = \"t{number}\"\ncriticality = \"LO\"\nperiod = 20\nwcet = {{ LO = {demand} }}\n\
             [[server]]\nname = \"s{number}\"\nkind = \"deferrable\"\nperiod = 20\ncapacity = {budget}\ntasks = [\"t{number}\"]\n"
        );
    }
    text
}

/// RT throttling leaves less than all: budgets are what counts, unless jobs ask for less.
#[test]
fn servers_that_leave_throttling_no_margin_are_refused() {
    let scratch = Scratch::new("real-servers-throttled");
    let path = |name: &str| scratch.0.join(name).to_str().unwrap().to_owned();
    let (set, rows) = (path("set.toml"), path("rows.csv"));
    std::fs::write(&rows, "task,t0,2,,400ms\ntask,t1,2,,400ms\n").unwrap();
    let one = path("one.csv");
    std::fs::write(&one, "task,t0,2,,400ms\n").unwrap();
    let run = ["run", &set, "--policy", "hsf", "--for", "100ms"];
    for (budgets, demands, scenario, refused) in [
        ([9, 9], [12, 9], "hi", None),
        ([11, 9], [1, 1], "hi", None),
        ([11, 9], [11, 9], "hi", Some("100.0 %")),
        ([11, 9], [1, 1], &*rows, Some("100.0 %")),
        // The other keeps to its 5 %.
        ([11, 9], [1, 1], &*one, None),
    ] {
        std::fs::write(&set, two_servers(budgets, demands)).unwrap();
        let done = vestal(&[&run[..], &["--scenario", scenario]].concat());
        let expected = refused.map_or(0, |_| 3);
        assert_eq!(
            done.exit, expected,
            "{budgets:?} {demands:?}: {}",
            done.stderr
        );
        let said = refused.unwrap_or_default();
        assert!(done.stderr.contains(said), "{}", done.stderr);
    }
}

#[test]
fn figure_14_of_holenderski_for_real_replays_clean() {
    let file = "examples/hsf-figure-14.toml";
    let (result, _) = run_and_replay("real-figure-14", file, &["--policy", "hsf"]);
    assert_eq!(result["jobs"]["released"], 68);
    // What idles is used up, in each of the forty periods but perhaps the one that the end cuts short.
    let idling = &result["servers"][1];
    assert!((39..=41).contains(&number(idling, "exhausted")), "{idling}");
}

#[test]
fn servers_on_a_grid_carry_period_transformation_out_and_guarantee_nothing() {
    let file = "examples/period-transformation.toml";
    let options = ["--policy", "pt", "--set", "servers=deferrable"];
    let (result, _) = run_and_replay("real-pt-servers", file, &options);
    let rows = result["servers"].as_array().unwrap();
    let names: Vec<&Value> = rows.iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["sensor", "control"]);
    assert_eq!(result["machine"]["dispatch"], "managed");
}

/// Job 3 of `flight` takes nine periods' worth of slots. Within its slots it delays nobody below, who all keep their deadlines.
#[test]
fn levels_of_mc2_on_one_cpu_keep_to_their_tables_and_budgets() {
    let (file, parameters) = (
        "examples/mc2-one-cpu.toml",
        "examples/parameters/mc2-one-cpu.json",
    );
    let policy = ["--policy", "mc2", "--parameters", parameters];
    let (result, _) = run_and_replay("real-mc2", file, &policy);
    let tasks = result["tasks"].as_array().unwrap();
    let counts: Vec<u64> = tasks.iter().map(|row| number(row, "released")).collect();
    assert_eq!(counts, [100, 50, 50, 25]);
    let scratch = Scratch::new("real-mc2-rows");
    let rows = scratch.0.join("rows.csv");
    std::fs::write(&rows, "task,flight,3,,18ms\n").unwrap();
    let overrun = [&policy[..], &["--scenario", rows.to_str().unwrap()]].concat();
    let (result, _) = run_and_replay("real-mc2-overrun", file, &overrun);
    let tasks = result["tasks"].as_array().unwrap();
    assert_eq!(number(&tasks[0], "overruns"), 1, "{}", tasks[0]);
    assert!(number(&tasks[0], "missed") >= 5, "{}", tasks[0]);
    let longest = number(&tasks[0]["response_ns"], "max");
    assert!(longest > 80_000_000, "two of ten milliseconds: {longest}");
    for below in &tasks[1..] {
        assert_eq!(number(below, "missed"), 0, "{below}");
    }
}

/// `runaway` may go first, but its one job of 300 ms only has what its server gives it: 2 ms of each 10.
const RUNAWAY: &str = r#"
format = "vestal/1"
levels = ["LO", "HI"]
unit   = "ms"

[[task]]
name        = "runaway"
criticality = "LO"
period      = 100
wcet        = { LO = 5 }

[[task]]
name        = "steady"
criticality = "HI"
period      = 100
wcet        = { LO = 10, HI = 10 }

[[server]]
name     = "first"
kind     = "deferrable"
period   = 10
capacity = { LO = 2 }
tasks    = ["runaway"]

[[server]]
name     = "second"
kind     = "deferrable"
period   = 20
capacity = { LO = 8, HI = 8 }
tasks    = ["steady"]
"#;

#[test]
fn a_job_that_runs_away_takes_from_its_own_server_only_and_no_row_changes_the_mode() {
    let scratch = Scratch::new("real-runaway");
    let (file, rows) = (scratch.0.join("set.toml"), scratch.0.join("rows.csv"));
    std::fs::write(&file, RUNAWAY).unwrap();
    std::fs::write(&rows, "task,runaway,0,,300ms\nmode,200ms,HI\n").unwrap();
    let scenario = ["--policy", "hsf", "--scenario", rows.to_str().unwrap()];
    let (result, stderr) = run_and_replay("runaway", file.to_str().unwrap(), &scenario);
    let [runaway, steady] = [0, 1].map(|task| &result["tasks"][task]);
    assert_eq!(number(steady, "missed"), 0, "{result:#}");
    assert!(number(runaway, "missed") >= 8, "{result:#}");
    // A second gives it 200 ms, so that the first job is not even done.
    assert_eq!(number(runaway, "completed"), 0, "{result:#}");
    assert!(
        stderr.contains("rows of the kind mode have no effect"),
        "{stderr}"
    );
    assert_eq!(result["modes"], json!([]));
}

/// Proved with servers of a million slices, because of what rounding each of them up adds.
#[test]
fn what_a_test_proves_of_servers_is_not_guaranteed_here() {
    let scratch = Scratch::new("real-pt-proved");
    let (file, slices) = (scratch.0.join("set.toml"), scratch.0.join("slices.json"));
    let set = "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ns\"\n[[task]]\nname = \"long\"\n\
               criticality = \"LO\"\nperiod = 1_000_000_000_000\nwcet = { LO = 700_000_000_001 }\n";
    std::fs::write(&file, set).unwrap();
    let million = r#"{ "format": "vestal-parameters/1", "slices": { "long": 1000000 } }"#;
    std::fs::write(&slices, million).unwrap();
    let file = file.to_str().unwrap();
    let policy = ["--policy", "pt", "--set", "servers=deferrable"];
    let more = [&policy[..], &["--parameters", slices.to_str().unwrap()]].concat();
    let simulated = ["simulate", file, "--for", "1ms", "--format", "json"];
    let simulated = vestal(&[&simulated[..], &more].concat());
    assert_ne!(
        simulated.json()["proof"],
        Value::Null,
        "{}",
        simulated.stderr
    );
    let (_, stderr) = run_and_replay("real-pt-proved", file, &more);
    assert!(stderr.contains("nothing is guaranteed"), "{stderr}");
}

#[test]
fn traces_of_servers_and_levels_come_in_every_format_and_the_complete_ones_replay() {
    let parameters = "examples/parameters/mc2-one-cpu.json";
    let hsf = ["examples/hsf-figure-14.toml", "--policy", "hsf"];
    let mc2 = [
        "examples/mc2-one-cpu.toml",
        "--policy",
        "mc2",
        "--parameters",
        parameters,
    ];
    for set in [&hsf[..], &mc2] {
        let scratch = Scratch::new("real-servers-formats");
        let names = ["vtrace", "csv", "txt", "svg", "tex", "pftrace", "vcd"];
        let files = names.map(|name| format!("{}/run.{name}", scratch.0.display()));
        let traces = files.iter().flat_map(|file| ["--trace", file.as_str()]);
        let traces: Vec<&str> = traces.collect();
        let done = vestal(&[&["run"], set, &["--for", "300ms"], &traces].concat());
        assert_eq!(done.exit, 0, "{}", done.stderr);
        for file in &files {
            assert!(std::fs::metadata(file).unwrap().len() > 300, "{file}");
        }
        // The same records are behind both, whatever is said of the file.
        let [binary, text] = [&files[0], &files[1]].map(|file| {
            let replayed = vestal(&["replay", file]);
            assert_eq!(replayed.exit, 0, "{}{}", replayed.stdout, replayed.stderr);
            let (_, counts) = replayed.stdout.split_once('\n').unwrap();
            counts.to_owned()
        });
        assert_eq!(binary, text);
    }
}

#[test]
fn a_run_with_servers_that_is_stopped_says_what_they_did_till_then() {
    let file = repository().join("examples/hsf-figure-14.toml");
    let file = file.to_str().unwrap();
    let run = ["run", file, "--policy", "hsf", "--for", "60s"];
    let arguments = [&run[..], &["--trace", "x.vtrace", "--format", "json"]].concat();
    let within = Duration::from_secs(3);
    stops("hsf", &arguments, within, |stopped| match stopped.ending {
        Ending::Exit(code) => {
            assert_eq!(code, 0, "{}", stopped.stderr);
            let document = stopped.json();
            let lasted = number(&document, "duration_ns");
            assert!(lasted < 60 * SECOND);
            let idling = &document["servers"][1];
            let periods = lasted.saturating_sub(1) / 25_000_000;
            assert_eq!(number(idling, "replenishments"), periods, "{document:#}");
            let (used_up, most) = (number(idling, "exhausted"), periods + 1);
            assert!(used_up <= most && used_up + 2 >= most, "{document:#}");
            let trace = stopped.folder.join("x.vtrace");
            let replayed = vestal(&["replay", trace.to_str().unwrap()]);
            assert_eq!(replayed.exit, 0, "{}{}", replayed.stdout, replayed.stderr);
        }
        Ending::Killed => assert_eq!(stopped.files(), [""; 0]),
    });
}

/// Each has a server with what its jobs need in theory. Here that runs out while they begin and end, so that many an end is
/// told to the scheduler only with the next budget.
#[test]
fn ends_that_are_told_with_a_later_budget_replay_clean() {
    let scratch = Scratch::new("real-just-fit");
    let file = scratch.0.join("set.toml");
    let mut text = "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n".to_owned();
    for task in 0..100 {
        let period = 100 * (1 + task % 3);
        text += &format!("[[task]]\nname = \"t{task}\"\ncriticality = \"LO\"\n");
        text += &format!("period = {period}\nwcet = {{ LO = 0.2 }}\n");
    }
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let (result, _) = run_and_replay("real-just-fit", file, &["--policy", "hsf"]);
    let rows = result["servers"].as_array().unwrap();
    assert_eq!(rows.len(), 100);
    let used_up: u64 = rows.iter().map(|row| number(row, "exhausted")).sum();
    assert!(used_up > 100, "{result:#}");
}
