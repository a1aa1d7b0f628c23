//! `vestal doctor`: exit codes and the shape of its JSON. What it finds is tested in `crates/linux`; what
//! it prints for people stands in docs/doctor.md, which is compared with it.

use crate::keys;
use crate::support::{Scratch, repository, vestal};
use serde_json::{Value, json};
use vestal_testkit::json_schema::{strict, violations};

const BENCH: &str = "crates/linux/tests/machines/bench";
const GUEST: &str = "crates/linux/tests/machines/guest";

/// What in `document` is not as the schema says.
fn misfits(document: &Value) -> Vec<String> {
    let path = repository().join("docs/schema/doctor-1.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let schema = strict(&schema);
    let mut found = Vec::new();
    violations(document, &schema, &schema, "", &mut found);
    found
}

fn examined(arguments: &[&str]) -> (i32, Value) {
    let done = vestal(&[&["doctor", "--format", "json"], arguments].concat());
    assert!(!done.stderr.contains("error"), "{}", done.stderr);
    (done.exit, done.json())
}

#[test]
fn the_exit_code_is_that_of_the_verdict_and_the_shape_that_of_the_schema() {
    let nothing = Scratch::new("doctor-nothing");
    let nothing = nothing.0.to_str().unwrap();
    let cases: [(&[&str], i32, &str); 4] = [
        (&["--root", BENCH], 0, "fit"),
        // The watchdog may use every CPU but the last.
        (&["--root", BENCH, "--cpus", "0"], 1, "findings"),
        (&["--root", GUEST], 3, "cannot"),
        (&["--root", nothing], 1, "findings"),
    ];
    for (arguments, code, verdict) in cases {
        let (exit, document) = examined(arguments);
        assert_eq!((exit, &document["verdict"]), (code, &json!(verdict)));
        assert_eq!(misfits(&document), Vec::<String>::new(), "{arguments:?}");
        assert_eq!(document["measured"], Value::Null);
    }
    let (_, mut document) = examined(&["--root", BENCH]);
    assert_eq!(
        keys(&document),
        [
            "cpu", "cpus", "findings", "format", "kernel", "measured", "root", "verdict"
        ]
    );
    document["findings"][0]["state"] = json!("fine");
    document["more"] = json!(1);
    assert_eq!(misfits(&document).len(), 2, "the schema is not empty");
}

#[test]
fn this_machine_is_examined_without_starting_a_thread() {
    let (exit, document) = examined(&["--no-probes"]);
    let code = match document["verdict"].as_str().unwrap() {
        "fit" => 0,
        "findings" => 1,
        "cannot" => 3,
        other => panic!("{other}"),
    };
    assert_eq!(exit, code);
    assert_eq!(misfits(&document), Vec::<String>::new());
    let findings = document["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["basis"] == "read"));
    assert!(findings.len() >= 15, "{document:#}");
}

#[test]
fn what_makes_no_sense_on_the_command_line_is_refused() {
    for arguments in [["--root", "nowhere"], ["--cpus", "x"], ["--cpus", "0-1"]] {
        let done = vestal(&[&["doctor"], &arguments[..]].concat());
        assert_eq!(done.exit, 2, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains("help: "), "{}", done.stderr);
    }
}
