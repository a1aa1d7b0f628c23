//! Devices of a file in a real run.

use crate::support::{Done, Scratch, VESTAL, repository, vestal};
use serde_json::Value;
use std::process::Command;

/// A task that waits for four events in the middle of each job, and a PIBS that gathers them.
const FIGURE_6: &str = "examples/missimer-figure-6.toml";

/// Runs that set for two seconds with this device; its replay has to decide the same.
fn run(device: &str) -> Value {
    run_of(FIGURE_6, device, "2s")
}

fn run_of(file: &str, device: &str, span: &str) -> Value {
    run_under("hsf", file, device, &["--for", span])
}

fn run_under(policy: &str, file: &str, device: &str, more: &[&str]) -> Value {
    let scratch = Scratch::new("devices");
    let trace = scratch.0.join("run.vtrace").to_str().unwrap().to_owned();
    let option = format!("--device=device={device}");
    let run = ["run", file, "--policy", policy, &option, "--trace", &trace];
    let done = vestal(&[&run[..], &["--format", "json"], more].concat());
    assert_eq!(done.exit, 0, "{device}: {}", done.stderr);
    let replayed = vestal(&["replay", &trace, "--format", "json"]);
    assert_eq!(replayed.exit, 0, "{}{}", replayed.stdout, replayed.stderr);
    let mut result = done.json();
    let replayed = replayed.json();
    // Each set has a sporadic server; no budget of one is lost, and none is made, in any decision.
    let lists = replayed["lists"].as_array().unwrap();
    let is_whole = |row: &Value| row["listed_ns"] == row["capacity_ns"];
    assert!(lists.iter().all(is_whole), "{lists:?}");
    result["windows"] = replayed["windows"].clone();
    result
}

/// Events that arrived; each of them was served, or is queued, or was dropped.
fn arrived(result: &Value) -> u64 {
    let device = &result["devices"][0];
    let count = |key: &str| device[key].as_u64().unwrap();
    let sum = count("served") + count("queued") + count("dropped");
    assert_eq!(count("arrived"), sum, "{device}");
    assert_eq!(device["sent"], device["arrived"], "{device}");
    let by = &device["dropped_by"];
    let both = by["kernel"].as_u64().unwrap() + by["vestal"].as_u64().unwrap();
    assert_eq!(
        (both, device["unaccounted"].as_i64()),
        (count("dropped"), Some(0)),
        "{device}"
    );
    assert_eq!(device["spurious"], 0, "{device}");
    assert!(count("wakes") > 0, "{device}");
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

/// The kernel drops what finds no room in the socket or in the interface, and says how much that is.
#[test]
fn a_storm_of_datagrams_and_one_of_packets_are_counted_too() {
    for kind in ["udp", "tun"] {
        let result = run_of(FIGURE_6, &format!("{kind},storm"), "1s");
        let device = &result["devices"][0];
        assert_eq!(device["kind"], kind);
        let by_kernel = device["dropped_by"]["kernel"].as_u64().unwrap();
        assert!(by_kernel > 1_000, "{device}");
        arrived(&result);
        let served = device["served"].as_u64().unwrap();
        assert!((150..=270).contains(&served), "{device}");
    }
}

/// A critical task above a device of the lower level.
const BELOW: &str = r#"
format = "vestal/1"
levels = ["LO", "HI"]
unit   = "ms"

[[task]]
name        = "control"
criticality = "HI"
period      = 10
wcet        = { LO = 1, HI = 2 }

[[task]]
name        = "reader"
criticality = "LO"
period      = 20
wcet        = { LO = 2 }
io          = [{ after = 1, device = "device", events = 1 }]

[[server]]
name        = "control"
kind        = "sporadic"
criticality = "HI"
period      = 10
capacity    = 3
tasks       = ["control"]

[[server]]
name        = "reader"
kind        = "sporadic"
criticality = "LO"
period      = 20
capacity    = 4
tasks       = ["reader"]

[[server]]
name        = "device"
kind        = "pibs"
criticality = "LO"
utilization = 0.2
serves      = ["reader"]

[[device]]
name    = "device"
server  = "device"
cost    = 0.05
arrival = "sporadic"
period  = 2
"#;

/// It is not late more often than the machine took the CPU.
fn control_is_in_time(result: &Value) {
    let control = &result["tasks"][0];
    assert!(control["completed"].as_u64().unwrap() > 90, "{control}");
    let missed = control["missed"].as_u64().unwrap();
    let gaps = result["machine"]["gaps"].as_u64().unwrap();
    assert!(missed <= gaps, "{control} {gaps}");
}

/// Its jobs raise the mode, in which the device of the lower level goes without.
#[test]
fn a_storm_below_a_critical_task_that_raises_the_mode_keeps_nothing_of_it_waiting() {
    let scratch = Scratch::new("below-io-amc");
    let text = [
        ("capacity    = 3", "capacity    = { LO = 1, HI = 3 }"),
        ("capacity    = 4", "capacity    = { LO = 4 }"),
        ("utilization = 0.2", "utilization = { LO = 0.2 }"),
    ];
    let text = text
        .iter()
        .fold(BELOW.to_owned(), |text, (of_one, of_two)| {
            assert!(text.contains(of_one));
            text.replace(of_one, of_two)
        });
    let file = scratch.file("below.toml", &text);
    let more = ["--for", "1s", "--scenario", "overrun=0.3"];
    let result = run_under("io-amc", file.to_str().unwrap(), "pipe,storm", &more);
    arrived(&result);
    control_is_in_time(&result);
    let rises = result["modes"].as_array().unwrap().iter();
    let rises = rises.filter(|change| change["to"] == "HI").count();
    assert!(rises > 5, "{:#}", result["modes"]);
    assert!(result["devices"][0]["served"].as_u64().unwrap() > 500);
}

/// Who sends has the processor of the run, as there is no other one: what is received there is received in softirqs of it, which no budget bounds.
#[test]
fn what_softirqs_did_on_the_processor_of_a_run_is_reported() {
    let mut command = Command::new("taskset");
    command.args(["-c", "0", VESTAL, "run", FIGURE_6, "--policy", "hsf"]);
    command.args(["--device=device=udp,storm", "--for", "1s", "--format=json"]);
    let done: Done = command.current_dir(repository()).output().unwrap().into();
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let result = done.json();
    let rows = result["machine"]["interrupts"].as_array().unwrap();
    let [row] = rows.as_slice() else {
        panic!("{rows:?}")
    };
    let number = |key: &str| row[key].as_u64().unwrap();
    assert_eq!(
        [number("processor"), number("granularity_ns")],
        [0, 10_000_000]
    );
    assert!(number("received") > 100, "{row}");
}

/// That includes, says the replay, that no bottom half went on while the critical task was ready.
#[test]
fn a_storm_below_a_critical_task_keeps_nothing_of_it_waiting() {
    let scratch = Scratch::new("below");
    let file = scratch.file("below.toml", BELOW);
    let result = run_of(file.to_str().unwrap(), "udp,storm", "1s");
    arrived(&result);
    control_is_in_time(&result);
    let woken = result["machine"]["own"]["wakeups"]["device"]
        .as_u64()
        .unwrap();
    assert!(woken > 20, "{woken}");
    // That nothing preempts has no more in a window than its capacity, and what may be exceeded of one; of the other it is reported.
    let windows = result["windows"].as_array().unwrap();
    let of = |server: &str| {
        let row = windows.iter().find(|row| row["server"] == server);
        ["executed_ns", "unpreempted_ns"].map(|key| row.unwrap()[key].as_u64().unwrap())
    };
    let [executed, most] = of("control");
    assert!(
        executed > 900_000 && executed < most + 250_000,
        "{executed}"
    );
    let [executed, most] = of("device");
    assert_eq!(most, 7_200_000);
    assert!(executed > 1_000_000, "{executed}");
}

#[test]
fn without_rights_a_device_of_the_network_is_refused_and_nothing_is_taken_instead() {
    let nobody = [
        "--inh-caps=-all,+sys_nice,+ipc_lock",
        "--bounding-set=-all,+sys_nice,+ipc_lock",
    ];
    for kind in ["udp", "tun"] {
        let option = format!("--device=device={kind}");
        let mut command = Command::new("setpriv");
        command.args(nobody).arg(VESTAL);
        command.args(["run", FIGURE_6, "--policy", "hsf", &option, "--for", "1s"]);
        let done: Done = command.current_dir(repository()).output().unwrap().into();
        assert_eq!(done.exit, 3, "{kind}: {}", done.stderr);
        for part in ["CAP_SYS_ADMIN", "--device device=pipe", kind] {
            assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
        }
    }
}

#[test]
fn a_terminal_s_bytes_are_events() {
    let result = run("pty,storm=200");
    let arrived = arrived(&result);
    assert!((300..=420).contains(&arrived), "{arrived}");
}
