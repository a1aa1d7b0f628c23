//! Devices of a file in a real run.

use crate::support::{Scratch, vestal};
use serde_json::Value;

/// A task that waits for four events in the middle of each job, and a PIBS that gathers them.
const FIGURE_6: &str = "examples/missimer-figure-6.toml";

/// Runs that set for two seconds with this device; its replay has to decide the same.
fn run(device: &str) -> Value {
    let scratch = Scratch::new("devices");
    let trace = scratch.0.join("run.vtrace").to_str().unwrap().to_owned();
    let option = format!("--device=device={device}");
    let run = [
        "run", FIGURE_6, "--policy", "hsf", &option, "--for", "2s", "--trace", &trace, "--format",
        "json",
    ];
    let done = vestal(&run);
    assert_eq!(done.exit, 0, "{device}: {}", done.stderr);
    let replayed = vestal(&["replay", &trace]);
    assert_eq!(replayed.exit, 0, "{}{}", replayed.stdout, replayed.stderr);
    done.json()
}

/// Events that arrived; each of them was served, or is queued, or was dropped.
fn arrived(result: &Value) -> u64 {
    let device = &result["devices"][0];
    let count = |key: &str| device[key].as_u64().unwrap();
    let sum = count("served") + count("queued") + count("dropped");
    assert_eq!(count("arrived"), sum, "{device}");
    count("arrived")
}

#[test]
fn jobs_ask_for_their_events_and_wait_for_them() {
    let result = run("pipe");
    let task = &result["tasks"][0];
    let completed = task["completed"].as_u64().unwrap();
    assert!((50..=63).contains(&completed), "{task}");
    let arrived = arrived(&result);
    assert!(
        (completed * 4..=(completed + 2) * 4).contains(&arrived),
        "{arrived}"
    );
    assert_eq!(
        result["jobs"]["released"], task["released"],
        "bottom halves are no jobs"
    );
    assert_eq!(result["tasks"].as_array().unwrap().len(), 1);
    let own = &result["machine"]["own"];
    assert!(own["top_half"]["cpu_ns"].as_u64().unwrap() > 0, "{own}");
    assert!(own["reactions_ns"]["top-half"]["count"].as_u64().unwrap() >= completed);
}

#[test]
fn a_storm_gets_what_its_server_has_and_the_rest_is_counted() {
    let result = run("pipe,storm");
    let device = &result["devices"][0];
    assert!(device["dropped"].as_u64().unwrap() > 1_000, "{device}");
    arrived(&result);
    // A quarter of two seconds, a millisecond each.
    let served = device["served"].as_u64().unwrap();
    assert!((300..=540).contains(&served), "{device}");
    // Each burst has the events for one of them; they are late, because it is not theirs when they ask.
    let completed = result["tasks"][0]["completed"].as_u64().unwrap();
    assert!(completed > 20, "{completed}");
}

/// The kernel drops what finds no room in the socket, and says how much that is.
#[test]
fn a_storm_of_datagrams_is_counted_too() {
    let result = run("udp,storm");
    let device = &result["devices"][0];
    assert!(device["dropped"].as_u64().unwrap() > 1_000, "{device}");
    arrived(&result);
    let served = device["served"].as_u64().unwrap();
    assert!((300..=540).contains(&served), "{device}");
}

#[test]
fn a_terminal_s_bytes_are_events() {
    let result = run("pty,storm=200");
    let arrived = arrived(&result);
    assert!((300..=420).contains(&arrived), "{arrived}");
}
