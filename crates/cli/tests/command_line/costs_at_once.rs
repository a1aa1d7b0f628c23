//! What mechanisms take of a CPU where many things happen at once: no job is later than its test says with the same overheads.

use crate::support::{Scratch, vestal};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A file with one native mechanism that costs so much.
fn costs(scratch: &Scratch, given: &[(&str, u64)]) -> String {
    let names = [
        "job-start",
        "job-end",
        "switch",
        "release",
        "manager",
        "demotion",
        "detection",
        "tolerance",
    ];
    let costs = names.map(|name| {
        let nanos = given.iter().find(|(known, _)| *known == name);
        let nanos = nanos.map_or(0, |(_, nanos)| *nanos);
        json!({ "name": name, "count": 1, "mean_ns": nanos, "median_ns": nanos, "p99_ns": nanos, "max_ns": nanos })
    });
    let document = json!({ "format": "vestal-result/1", "bench": "primitives", "primitives": [],
        "mechanisms": [{ "name": "native", "what": "", "dispatch": "native", "costs": costs }] });
    let file = scratch.file("costs.json", &document.to_string());
    file.to_str().unwrap().to_owned()
}

/// The longest response of the first task in a simulation, and what the policy's test says it is at most, in ns.
fn response_and_bound(arguments: &[&str], (file, costs, test): (&str, &str, &str)) -> (u64, u64) {
    let with = ["--overheads", costs, "--format", "json"];
    let analysed = vestal(&[&["analyze", file, "--test", test], with.as_slice()].concat());
    assert_eq!(analysed.exit, 0, "{}", analysed.stdout);
    let responses = analysed.json()["results"][0]["tasks"][0]["response_ns"].clone();
    let bounds = responses.as_object().unwrap().values();
    let bound = bounds.filter_map(Value::as_u64).max().unwrap();
    let simulated = vestal(&[&["simulate", file], arguments, with.as_slice()].concat());
    assert_eq!(simulated.exit, 0, "{}", simulated.stderr);
    let longest = simulated.json()["tasks"][0]["response_ns"]["max"].clone();
    (longest.as_u64().unwrap(), bound)
}

fn task(
    text: &mut String,
    name: &str,
    level: &str,
    (period, deadline, offset): (u64, u64, u64),
    more: &str,
) {
    write!(
        text,
        "[[task]]\nname = \"{name}\"\ncriticality = \"{level}\"\narrival = \"periodic\"\nperiod = {period}\n\
         deadline = {deadline}\noffset = {offset}\n{more}\n"
    )
    .unwrap();
}

const HEAD: &str = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"us\"\n";

/// Ten jobs, each more urgent than the one before, in the time of one switch, and then the most urgent one: of the switches
/// to them one at most is under way.
#[test]
fn switches_do_not_pile_up() {
    let scratch = Scratch::new("costs-switches");
    let costs = costs(&scratch, &[("switch", 20_000)]);
    let mut text = HEAD.to_owned();
    task(
        &mut text,
        "urgent",
        "HI",
        (50_000, 1_000, 10),
        "wcet = { LO = 10, HI = 10 }",
    );
    for number in 0..10 {
        let period = 90_000 - number * 1_000;
        task(
            &mut text,
            &format!("t{number}"),
            "LO",
            (period, period, number),
            "wcet = { LO = 1000 }",
        );
    }
    let file = scratch.file("many.toml", &text);
    let by = (file.to_str().unwrap(), costs.as_str(), "dms");
    let (longest, bound) = response_and_bound(&["--policy", "dms", "--for", "50ms"], by);
    // The rest of a switch under way, its own, its body.
    assert!(
        longest > 20_000 + 10_000 && longest <= 20_000 + 20_000 + 10_000,
        "{longest}"
    );
    assert!(longest <= bound, "{longest} {bound}");
}

/// A HI job completes a little beyond its LO budget before that was noticed: the mode rises, ten LO jobs are terminated, it
/// returns. Then comes the next HI job, the LO jobs again, and it raises the mode as well.
#[test]
fn terminations_of_two_changes_of_mode_are_counted() {
    let scratch = Scratch::new("costs-terminations");
    let costs = costs(&scratch, &[("demotion", 100_000), ("detection", 50_000)]);
    let mut text = HEAD.to_owned();
    task(
        &mut text,
        "urgent",
        "HI",
        (40_000, 4_000, 40_001),
        "wcet = { LO = 100, HI = 300 }",
    );
    task(
        &mut text,
        "long",
        "HI",
        (40_000, 9_000, 38_970),
        "wcet = { LO = 1000, HI = 1100 }",
    );
    let mut rows = "task,job,release,execution\n".to_owned();
    for number in 0..10 {
        task(
            &mut text,
            &format!("l{number}"),
            "LO",
            (40_000, 40_000, 1),
            "wcet = { LO = 10 }",
        );
        write!(rows, "l{number},0,1us,100ms\nl{number},1,40002us,100ms\n").unwrap();
    }
    rows.push_str("long,0,38970us,1030us\nurgent,0,40001us,300us\n");
    let file = scratch.file("many.toml", &text.replace("arrival = \"periodic\"\n", ""));
    let scenario = scratch.file("rows.csv", &rows);
    let by = (file.to_str().unwrap(), costs.as_str(), "amc-rtb");
    let arguments = [
        "--policy",
        "amc",
        "--for",
        "60ms",
        "--scenario",
        scenario.to_str().unwrap(),
    ];
    let (longest, bound) = response_and_bound(&arguments, by);
    // Both times ten, of 100 us each.
    assert!(longest > 2_000_000, "{longest}");
    assert!(longest <= bound, "{longest} {bound}");
}
