//! Servers, and the levels of MC² on one CPU.

use crate::support::{Scratch, vestal};
use serde_json::{Value, json};

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

/// At the times of level A `flight` fills its slots, and the others go on all the same.
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
    let overloaded = [&policy[..], &["--scenario", "level=A"]].concat();
    let (result, _) = run_and_replay("real-mc2-overload", file, &overloaded);
    let tasks = result["tasks"].as_array().unwrap();
    assert!(number(&tasks[0], "overruns") > 50, "{}", tasks[0]);
    assert!(
        number(&tasks[3], "completed") >= 20,
        "level D goes on: {}",
        tasks[3]
    );
}
