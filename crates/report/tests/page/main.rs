//! Pages of made-up runs: what stands in them, and for the browser's test a file of each.
//!
//! With `VESTAL_KEEP=DIRECTORY` every page is written there; `scripts/check_report.py` opens them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod inputs;
mod scenes;

use inputs::{Made, analysis, page, run};
use vestal_report::{Report, ReportError};

/// What no page may be larger than, without its data.
const FRAME_BYTES_MAX: usize = 300_000;

/// The data of a page, as the script gets it.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page
        .split_once("<script type=\"application/json\" id=\"data\">")
        .unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn every_page_is_complete_small_and_loads_nothing() {
    for (name, report) in scenes::all() {
        let page = page(&report);
        if let Some(directory) = std::env::var_os("VESTAL_KEEP") {
            let path = std::path::Path::new(&directory).join(format!("{name}.html"));
            std::fs::write(path, &page).unwrap();
        }
        let model = data(&page);
        assert!(model["tasks"].is_array(), "{name}");
        let (begin, rest) = page.split_once("id=\"data\">").unwrap();
        let (_, end) = rest.split_once("</script>").unwrap();
        assert!(begin.len() + end.len() < FRAME_BYTES_MAX, "{name}");
        // What is not data is ours, and refers to nothing outside.
        for text in [begin, end] {
            for word in ["http:", "https:", "src=", "@import", "url(", "fetch(", "{{"] {
                assert!(!text.contains(word), "{name}: {word}");
            }
        }
        assert!(begin.contains("default-src 'none'"), "{name}");
        // What somebody smuggled in would be as inline as ours is: only what is named by its digest may run.
        assert!(!begin.contains("unsafe"), "{name}");
        assert_eq!(begin.matches("'sha256-").count(), 2, "{name}");
        assert_eq!(page.matches("</script").count(), 2, "{name}");
    }
}

#[test]
fn names_cannot_end_the_data_and_arrive_unchanged() {
    let hostile = "</script><script>alert(1)</script>";
    let mut report = Report::new("test");
    report
        .add_result("a.json", &analysis(&[hostile, "<!--"]))
        .unwrap();
    let page = page(&report);
    assert!(!page.contains("<script>alert"));
    assert!(!data(&page).to_string().is_empty());
    assert_eq!(data(&page)["tasks"][0]["name"], hostile);
    assert_eq!(data(&page)["tasks"][1]["name"], "<!--");
}

#[test]
fn a_result_and_the_trace_of_the_same_run_are_one_run() {
    let made = Made::new(&["a", "b"], 20);
    let mut report = Report::new("test");
    report.add_recording("x.vtrace", made.recording()).unwrap();
    report
        .add_result("x.json", &run("simulator", 1, &made))
        .unwrap();
    let model = data(&page(&report));
    assert_eq!(model["runs"].as_array().unwrap().len(), 1);
    assert_eq!(
        model["runs"][0]["sources"],
        serde_json::json!(["x.json", "x.vtrace"])
    );
    assert!(model["runs"][0]["trace"].is_object());
}

#[test]
fn runs_that_differ_in_seed_world_or_counts_stay_apart() {
    let made = Made::new(&["a", "b"], 20);
    let others = [
        run("simulator", 2, &made),
        run("linux", 1, &made),
        run("simulator", 1, &Made::new(&["a", "b"], 19)),
    ];
    for other in others {
        let mut report = Report::new("test");
        report.add_recording("x.vtrace", made.recording()).unwrap();
        report.add_result("x.json", &other).unwrap();
        let model = data(&page(&report));
        assert_eq!(model["runs"].as_array().unwrap().len(), 2, "{other}");
        assert_eq!(model["runs"][1]["from_trace"], true);
    }
}

#[test]
fn the_figures_of_a_trace_are_exact_also_beyond_what_is_drawn() {
    let made = Made::new(&["a", "b"], 1000);
    for items_max in [usize::MAX, 100, 0] {
        let mut report = Report::new("test");
        report
            .add_recording("x.vtrace", made.recorded(items_max))
            .unwrap();
        let model = data(&page(&report));
        let shown = &model["runs"][0];
        assert_eq!(shown["jobs"]["released"], 2000);
        assert_eq!(shown["jobs"]["completed"], 2000);
        let responses = &shown["trace"]["rows"][0]["responses"];
        assert_eq!(responses["count"], 1000);
        assert_eq!(responses["spread"]["max"], made.longest("a"));
        assert_eq!(shown["trace"]["cut"].is_null(), items_max == usize::MAX);
        let drawn = shown["trace"]["rows"][0]["jobs"]["count"].as_u64().unwrap();
        assert!(drawn <= items_max as u64);
    }
}

#[test]
fn inputs_of_other_tasks_are_refused_with_the_difference() {
    let refusal = |text: &str| {
        let mut report = Report::new("test");
        report
            .add_result("first.json", &analysis(&["a", "b"]))
            .unwrap();
        report.add_result("second.json", text).unwrap_err()
    };
    let what = refusal(&analysis(&["a"])).to_string();
    assert!(
        what.contains("V0823") && what.contains("1 tasks instead of 2"),
        "{what}"
    );
    let what = refusal(&analysis(&["a", "c"])).to_string();
    assert!(
        what.contains("`c` is not there") && what.contains("first.json"),
        "{what}"
    );
    let other = analysis(&["a", "b"]).replace("\"deadline_ns\":200000", "\"deadline_ns\":200001");
    assert!(
        refusal(&other)
            .to_string()
            .contains("deadline of 200001 ns, not 200000 ns")
    );
    let other = analysis(&["a", "b"]).replace("\"criticality\":\"HI\"", "\"criticality\":\"LO\"");
    assert!(refusal(&other).to_string().contains("level LO"));
    assert_eq!(
        Report::new("test").page(&inputs::NoOrigin),
        Err(ReportError::Empty)
    );
}

#[test]
fn a_demo_is_its_proof_and_both_of_its_runs() {
    let made = Made::new(&["a", "b"], 20);
    let of = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let demo = serde_json::json!({ "format": "vestal-result/1", "file": "x.toml", "refused": null,
        "analysis": of(analysis(&["a", "b"]))["results"][0],
        "simulation": of(run("simulator", 1, &made)), "run": of(run("linux", 1, &made)) });
    let mut report = Report::new("test");
    report.add_result("demo.json", &demo.to_string()).unwrap();
    let model = data(&page(&report));
    assert_eq!(model["analyses"].as_array().unwrap().len(), 1);
    assert_eq!(model["runs"][1]["world"], "linux");
    assert_eq!(model["title"], "x");
}

/// What makes a run of a frame table exit with 1 or 5 is no run that kept its guarantee.
#[test]
fn a_run_that_dropped_jobs_for_nothing_did_not_keep_its_guarantee() {
    let made = Made::new(&["a", "b"], 20);
    // The world; guaranteed misses, and how many of them stolen time does not explain; dropped jobs, and how many it does.
    let cases = [
        ("linux", (0, 0), (0, 0), (0, "kept")),
        ("linux", (0, 0), (2, 2), (2, "undecided")),
        ("linux", (0, 0), (3, 2), (3, "broken")),
        ("linux", (1, 0), (0, 0), (0, "undecided")),
        ("linux", (1, 0), (2, 2), (2, "undecided")),
        ("linux", (1, 1), (2, 2), (2, "broken")),
        ("linux", (1, 0), (2, 1), (2, "broken")),
        ("simulator", (0, 0), (3, 0), (0, "kept")),
        ("simulator", (1, 0), (0, 0), (0, "broken")),
    ];
    for (world, (missed, outside), (dropped, undecided), (shown, guarantee)) in cases {
        let mut document: serde_json::Value = serde_json::from_str(&run(world, 1, &made)).unwrap();
        document["jobs"]["missed_guaranteed"] = missed.into();
        document["machine"]["missed_outside_gaps"] = outside.into();
        document["frames"] = serde_json::json!({ "total": 9, "lo_skipped": 2, "overrun": 0,
            "unprovoked": dropped, "unprovoked_undecided": undecided });
        let mut report = Report::new("test");
        report.add_result("x.json", &document.to_string()).unwrap();
        let model = data(&page(&report));
        let found = &model["runs"][0];
        let case = (world, missed, outside, dropped, undecided);
        assert_eq!(found["guarantee"], guarantee, "{case:?}");
        assert_eq!(found["unprovoked"], shown, "{case:?}");
    }
}

/// A result of `simulate` under another policy, or with other keys.
fn changed(text: &str, changes: &[(&str, serde_json::Value)]) -> String {
    let mut document: serde_json::Value = serde_json::from_str(text).unwrap();
    for (key, value) in changes {
        document[key] = value.clone();
    }
    document.to_string()
}

/// `amc-rtb` proves `amc`; `amc-max` another order of it; `one-point` is of another program.
fn proofs(names: &[&str]) -> String {
    let mut document: serde_json::Value = serde_json::from_str(&analysis(names)).unwrap();
    let first = document["results"][0].clone();
    let mut other = first.clone();
    other["test"] = "amc-max".into();
    for (task, priority) in other["tasks"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .zip([9, 4])
    {
        task["priority"] = priority.into();
    }
    let mut own = first.clone();
    own["test"] = "one-point".into();
    document["results"] = serde_json::json!([first, other, own]);
    document.to_string()
}

#[test]
fn no_run_is_compared_with_the_bound_of_another_policy() {
    let names = ["a", "b"];
    let result = run("simulator", 1, &Made::new(&names, 20));
    let proof = |test: &str| serde_json::json!({ "test": test, "verdict": "schedulable" });
    let cases = [
        // What older results say; the order is not known.
        (vec![], vec![0, 1]),
        (vec![("policy", "dms".into())], vec![]),
        (vec![("proof", proof("amc-rtb"))], vec![0]),
        (vec![("proof", proof("amc-max"))], vec![1]),
        (vec![("proof", serde_json::Value::Null)], vec![]),
        (
            vec![("policy", "mine".into()), ("proof", proof("one-point"))],
            vec![2],
        ),
        // Its order is not that of the test's own assignment.
        (
            vec![("policy", "mine".into()), ("proof", proof("amc-rtb"))],
            vec![],
        ),
    ];
    for (changes, expected) in cases {
        let mut report = Report::new("test");
        report.add_result("proofs.json", &proofs(&names)).unwrap();
        report
            .add_result("run.json", &changed(&result, &changes))
            .unwrap();
        let model = data(&page(&report));
        let found = &model["runs"][0]["bounded_by"];
        assert_eq!(*found, serde_json::json!(expected), "{changes:?}");
    }
    // Of a trace alone the policy is known.
    let mut other = Made::new(&names, 20);
    for (policy, expected) in [("amc", vec![0, 1]), ("dms", vec![])] {
        policy.clone_into(&mut other.header.policy);
        let mut report = Report::new("test");
        report.add_result("proofs.json", &proofs(&names)).unwrap();
        report.add_recording("x.vtrace", other.recording()).unwrap();
        let model = data(&page(&report));
        let found = &model["runs"][0]["bounded_by"];
        assert_eq!(*found, serde_json::json!(expected), "{policy}");
    }
}

#[test]
fn a_page_says_where_a_run_comes_from() {
    let made = Made::new(&["a", "b"], 20);
    let changes = [
        ("scenario", "overrun=0.5".into()),
        ("dispatch", "managed".into()),
        ("options", serde_json::json!({ "exhaustion": "abort" })),
        ("proof", serde_json::Value::Null),
    ];
    let result = changed(&run("simulator", 1, &made), &changes);
    let mut recorded = made.clone();
    recorded.header.options = vec![("exhaustion".to_owned(), "abort".to_owned())];
    for (options, runs) in [(recorded.header.options.clone(), 1), (Vec::new(), 2)] {
        recorded.header.options = options;
        let mut report = Report::new("test");
        report.add_result("x.json", &result).unwrap();
        report
            .add_recording("x.vtrace", recorded.recording())
            .unwrap();
        let model = data(&page(&report));
        // A trace with other options is one of another run.
        assert_eq!(model["runs"].as_array().unwrap().len(), runs);
        let shown = &model["runs"][0];
        assert_eq!(shown["scenario"], "overrun=0.5");
        assert_eq!(shown["seed"], 1);
        assert_eq!(shown["dispatch"], "managed");
        assert_eq!(shown["options"], serde_json::json!(["exhaustion=abort"]));
        assert_eq!(
            (&shown["proof"], &shown["unproved"]),
            (&serde_json::Value::Null, &true.into())
        );
    }
}

/// Each domain has its own mode, and each task says in which it is.
#[test]
fn modes_of_several_domains_are_not_mixed_up() {
    let shown = |report: &Report| data(&page(report))["runs"][0].clone();
    let run = shown(&scenes::domains());
    let trace = &run["trace"];
    let lane = |place: usize| {
        (
            &trace["modes"][place]["name"],
            &trace["modes"][place]["changes"]["count"],
        )
    };
    assert_eq!(lane(0), (&"left".into(), &0.into()));
    assert_eq!(lane(1), (&"right".into(), &2.into()));
    let domains: Vec<_> = (0..2).map(|row| &trace["rows"][row]["domain"]).collect();
    assert_eq!(domains, [1, 0]);
    let changes = run["changes"].as_array().unwrap();
    let told: Vec<_> = changes
        .iter()
        .map(|change| (&change["at_ns"], &change["to"], &change["cpu"]))
        .collect();
    let expected = [
        (&10_000.into(), &"HI".into(), &1.into()),
        (&30_000.into(), &"LO".into(), &1.into()),
    ];
    assert_eq!(told, expected);
    assert_eq!(run["cpus"].as_array().unwrap().len(), 2);
    // One domain has one lane without a name, and no CPU.
    let mut report = Report::new("test");
    let made = Made::new(&["a", "b"], 20);
    report.add_recording("x.vtrace", made.recording()).unwrap();
    let modes = &shown(&report)["trace"]["modes"];
    assert_eq!(modes.as_array().unwrap().len(), 1);
    assert!(modes[0]["name"].is_null());
}

/// Of four tasks with 60 jobs each every other job leaves a ghost.
#[test]
fn ghosts_are_in_the_page() {
    let all = scenes::all();
    let (_, report) = all.iter().find(|(name, _)| *name == "levels").unwrap();
    let model = data(&page(report));
    let rows = model["runs"][0]["trace"]["rows"].as_array().unwrap();
    let counts = rows
        .iter()
        .map(|row| row["ghosts"]["count"].as_u64().unwrap());
    let counts: Vec<u64> = counts.collect();
    assert_eq!((counts.len(), counts.iter().sum()), (4, 120));
    let page = page(report);
    assert!(page.contains("a ghost uses up what jobs left of their budget"));
}
