//! `vestal report`: what it takes, what it refuses, and that it never leaves half a page.

use crate::support::{Done, Scratch, command};
use std::fs;
use std::path::Path;

const FMS: &str = "examples/fms.toml";

fn vestal(arguments: &[&str]) -> Done {
    command(arguments).output().unwrap().into()
}

/// A proof, a simulation and its trace, in files.
fn inputs(scratch: &Scratch) -> [String; 3] {
    let path = |name: &str| scratch.0.join(name).to_str().unwrap().to_owned();
    let trace = path("run.vtrace");
    let proof = vestal(&["--format", "json", "analyze", FMS, "--test", "amc-rtb"]);
    let run = vestal(&[
        "--format",
        "json",
        "simulate",
        FMS,
        "--policy",
        "amc",
        "--scenario",
        "overrun=0.5",
        "--for",
        "2s",
        "--trace",
        &trace,
    ]);
    scratch.file("proof.json", &proof.stdout);
    scratch.file("run.json", &run.stdout);
    [path("proof.json"), path("run.json"), trace]
}

/// The data of a page.
fn data(page: &Path) -> serde_json::Value {
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_shows_the_proof_and_the_run_with_its_trace() {
    let scratch = Scratch::new("report-page");
    let [proof, run, trace] = inputs(&scratch);
    let page = scratch.0.join("page.html");
    let done = vestal(&["report", &trace, &run, &proof, "-o", page.to_str().unwrap()]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(done.stdout.contains("page.html"), "{}", done.stdout);
    let model = data(&page);
    assert_eq!(model["runs"].as_array().unwrap().len(), 1);
    assert_eq!(model["analyses"][0]["policy"], "amc");
    assert_eq!(model["levels"], serde_json::json!(["LO", "HI"]));
    // The trace and the result count the same, task by task.
    let result: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(run).unwrap()).unwrap();
    for (row, task) in model["runs"][0]["trace"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .zip(result["tasks"].as_array().unwrap())
    {
        assert_eq!(row["jobs"]["count"], task["released"], "{task}");
        assert_eq!(row["responses"]["count"], task["completed"], "{task}");
        for figure in ["min", "mean", "max"] {
            assert_eq!(
                row["responses"]["spread"][figure], task["response_ns"][figure],
                "{figure} of {task}"
            );
        }
    }
}

#[test]
fn a_trace_alone_counts_what_the_simulation_counted() {
    let scratch = Scratch::new("report-trace");
    let [_, run, trace] = inputs(&scratch);
    let page = scratch.0.join("page.html");
    let done = vestal(&[
        "--format",
        "json",
        "report",
        &trace,
        "-o",
        page.to_str().unwrap(),
    ]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert_eq!(done.json()["page"], page.to_str().unwrap());
    assert_eq!(done.json()["bytes"], fs::metadata(&page).unwrap().len());
    let model = data(&page);
    let result: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(run).unwrap()).unwrap();
    for key in ["released", "completed", "dropped", "missed"] {
        assert_eq!(model["runs"][0]["jobs"][key], result["jobs"][key], "{key}");
    }
    let tasks = model["runs"][0]["tasks"].as_array().unwrap();
    for (found, task) in tasks.iter().zip(result["tasks"].as_array().unwrap()) {
        for key in [
            "name",
            "released",
            "completed",
            "dropped",
            "missed",
            "overruns",
            "preemptions",
        ] {
            assert_eq!(found[key], task[key], "{key} of {task}");
        }
    }
    let changes = model["runs"][0]["changes"].as_array().unwrap().len();
    assert_eq!(changes, result["modes"].as_array().unwrap().len());
}

#[test]
fn what_cannot_be_shown_is_refused_by_code_and_leaves_the_page_as_it_was() {
    let scratch = Scratch::new("report-refused");
    let [proof, _, trace] = inputs(&scratch);
    let page = scratch.file("page.html", "as it was");
    let page = page.to_str().unwrap();
    let text = |name: &str, text: &str| scratch.file(name, text).to_str().unwrap().to_owned();
    let damaged = {
        let mut bytes = fs::read(&trace).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let path = scratch.0.join("damaged.vtrace");
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let checked = vestal(&["--format", "json", "check", FMS]).stdout;
    let other = vestal(&[
        "--format",
        "json",
        "analyze",
        "examples/huang-table1.toml",
        "--test",
        "smc",
    ]);
    let cases = [
        (text("a.json", "{"), "V0820"),
        (text("b.json", "{\"format\":\"vestal-result/9\"}"), "V0821"),
        (text("c.json", &checked), "V0822"),
        (text("d.json", &other.stdout), "V0823"),
        (
            scratch.0.join("none.json").to_str().unwrap().to_owned(),
            "V0820",
        ),
        (
            scratch.0.join("none.csv").to_str().unwrap().to_owned(),
            "V0800",
        ),
        (text("e.vtrace", "nothing of the kind"), "V0801"),
        (damaged, "V0803"),
        (text("f.svg", "<svg/>"), "drawing"),
    ];
    for (input, code) in cases {
        let done = vestal(&["report", &proof, &input, "-o", page]);
        assert_eq!(done.exit, 2, "{input}");
        assert!(done.stderr.contains(code), "{input}: {}", done.stderr);
        assert_eq!(fs::read_to_string(page).unwrap(), "as it was", "{input}");
    }
    // The control: the same with what can be shown.
    assert_eq!(vestal(&["report", &proof, "-o", page]).exit, 0);
    assert_ne!(fs::read_to_string(page).unwrap(), "as it was");
    let left = fs::read_dir(&scratch.0).unwrap();
    let left = left.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .ends_with(".part")
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn an_input_is_not_overwritten_and_a_bad_place_is_named() {
    let scratch = Scratch::new("report-place");
    let [proof, ..] = inputs(&scratch);
    let before = fs::read_to_string(&proof).unwrap();
    let done = vestal(&["report", &proof, "-o", &proof]);
    assert_eq!(done.exit, 2);
    assert!(done.stderr.contains("V0825"), "{}", done.stderr);
    assert_eq!(fs::read_to_string(&proof).unwrap(), before);
    let nowhere = scratch.0.join("no/such/page.html");
    let done = vestal(&["report", &proof, "-o", nowhere.to_str().unwrap()]);
    assert!(
        done.exit == 2 && done.stderr.contains("V0825"),
        "{}",
        done.stderr
    );
    let directory = scratch.0.to_str().unwrap();
    assert_eq!(vestal(&["report", &proof, "-o", directory]).exit, 2);
    assert_eq!(vestal(&["report"]).exit, 2);
}
