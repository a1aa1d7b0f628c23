//! Policies that give each job its own priority, `plrs` and `ocbp`, and finite job sets.

use crate::support::{Scratch, vestal};

const TABLE: &str = "examples/huang-table1.toml";
const FOUR: &str = "examples/huang-four-tasks.toml";
const JOBS: &str = "examples/jobs.toml";

#[test]
fn lists_that_were_written_are_used_and_decided_about() {
    let scratch = Scratch::new("job-priorities");
    let path = scratch.0.join("p.json");
    let file = path.to_str().unwrap();
    let analyze = ["analyze", TABLE, "--test", "fjp-mode", "--format", "json"];
    let done = vestal(&[&analyze[..], &["--emit", file]].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let parameters = &done.json()["results"][0]["parameters"];
    assert_eq!(
        parameters["job_priorities"].to_string(),
        r#"{"high":[2,0],"low":[3,1]}"#
    );
    assert_eq!(parameters["busy_periods"]["HI"], "18ms");
    assert_eq!(parameters["patterns"]["high"].to_string(), "[1,2]");
    let again = vestal(&[&analyze[..], &["--parameters", file]].concat());
    assert_eq!(again.exit, 0, "{}", again.stderr);
    assert_eq!(&again.json()["results"][0]["parameters"], parameters);

    for policy in ["plrs", "ocbp"] {
        let run = |options: &[&str]| {
            let arguments = ["simulate", TABLE, "--policy", policy, "--for", "1s"];
            let arguments = [&arguments[..], &["--scenario", "overrun=0.5"], options].concat();
            vestal(&arguments)
        };
        let given = run(&["--parameters", file]);
        assert_eq!(given.exit, 0, "{}", given.stderr);
        assert!(given.stdout.contains(
            "order: job priorities of --parameters; fjp-mode proves the set schedulable"
        ));
        let rows = |text: &str| text.lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rows(&given.stdout), rows(&run(&[]).stdout));
        let native = [
            "run",
            TABLE,
            "--policy",
            policy,
            "--for",
            "1s",
            "--dispatch",
            "native",
        ];
        let native = vestal(&native);
        assert_eq!(native.exit, 2);
        assert!(
            native.stderr.contains("--dispatch managed"),
            "{}",
            native.stderr
        );
    }
}

/// Of lists that are longer than what a busy period can contain, the rest is cut off before a run: where
/// priorities are computed anew it would count.
#[test]
fn lists_that_are_too_long_are_cut_to_what_is_proved() {
    let scratch = Scratch::new("job-priorities-long");
    let with = |name: &str, lists: &str, command: &[&str]| {
        let text = format!("{{ \"job_priorities\": {lists} }}");
        let file = scratch.file(name, &text);
        let parameters = ["--parameters", file.to_str().unwrap()];
        let done = vestal(&[command, &parameters].concat());
        assert_eq!(done.exit, 0, "{}", done.stderr);
        done
    };
    let (long, exact) = (
        r#"{ "high": [22, 10], "low": [23, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12] }"#,
        r#"{ "high": [22, 10], "low": [23, 21] }"#,
    );
    let analyze = ["analyze", TABLE, "--test", "fjp-mode", "--format", "json"];
    let parameters = &with("a.json", long, &analyze).json()["results"][0]["parameters"];
    assert_eq!(
        parameters["job_priorities"].to_string(),
        r#"{"high":[22,10],"low":[23,21]}"#
    );
    for policy in ["plrs", "ocbp"] {
        let simulate = ["simulate", TABLE, "--policy", policy, "--for", "1s"];
        let simulate = [&simulate[..], &["--scenario", "overrun=0.5"]].concat();
        let given = with("l.json", long, &simulate).stdout;
        assert_eq!(given, with("e.json", exact, &simulate).stdout);
        assert!(given.contains("23 21 "), "{given}");
    }
}

#[test]
fn lists_that_do_not_fit_are_refused_or_not_proved() {
    let scratch = Scratch::new("job-priorities-wrong");
    let answer = |lists: &str| {
        let text = format!("{{ \"job_priorities\": {lists} }}");
        let file = scratch.file("p.json", &text);
        let file = file.to_str().unwrap();
        let parameters = ["--parameters", file];
        vestal(&[&["analyze", TABLE, "--test", "fjp-mode"][..], &parameters].concat())
    };
    let falling = answer(r#"{ "high": [0, 2], "low": [3, 1] }"#);
    assert_eq!(falling.exit, 2);
    assert!(falling.stderr.contains("V0620"), "{}", falling.stderr);
    let short = answer(r#"{ "high": [2], "low": [3, 1] }"#);
    assert_eq!(short.exit, 1, "{}", short.stderr);
    let why = "a busy period may contain 2 jobs of high, for which its list has 1 priorities";
    assert!(short.stdout.contains(why), "{}", short.stdout);
    // By task: high before low.
    let late = answer(r#"{ "high": [3, 2], "low": [1, 0] }"#);
    assert_eq!(late.exit, 1, "{}", late.stderr);
    // 4 + 4 of high and 3 + 3 of low, in mode LO.
    let why =
        "job 2 of low in a busy period and those before it may need 14 ms, it is due after 10 ms";
    assert!(late.stdout.contains(why), "{}", late.stdout);
}

#[test]
fn a_refuted_test_claims_and_does_not_prove_and_its_lists_guarantee_nothing() {
    let done = vestal(&["analyze", FOUR, "--test", "fjp-ija", "--format", "json"]);
    assert_eq!(done.exit, 1, "{}", done.stderr);
    let result = &done.json()["results"][0];
    assert_eq!(result["kind"], "unsafe");
    assert_eq!(result["verdict"], "not-proven");
    assert_eq!(result["claim"], "schedulable");
    let run = vestal(&["simulate", FOUR, "--policy", "plrs", "--for", "60ms"]);
    assert_eq!(run.exit, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("nothing is guaranteed"),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.contains("fjp-ija, which is refuted"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_set_without_any_lists_is_refused_with_the_way_out() {
    let full = "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n\
                [[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 2\nwcet = { LO = 2 }\n\
                [[task]]\nname = \"b\"\ncriticality = \"LO\"\nperiod = 4\nwcet = { LO = 1 }\n";
    let scratch = Scratch::new("no-lists");
    let file = scratch.file("full.toml", full);
    let done = vestal(&["simulate", file.to_str().unwrap(), "--policy", "plrs"]);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    for part in ["neither fjp-mode nor fjp-ija", "--parameters"] {
        assert!(done.stderr.contains(part), "{}", done.stderr);
    }
}

#[test]
fn a_finite_job_set_has_one_test_and_no_policy() {
    let scratch = Scratch::new("job-set");
    let path = scratch.0.join("p.json");
    let file = path.to_str().unwrap();
    let done = vestal(&["analyze", JOBS, "--format", "json", "--emit", file]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let results = &done.json()["results"];
    assert_eq!(results.as_array().unwrap().len(), 1);
    assert_eq!(results[0]["test"], "ocbp");
    assert_eq!(
        results[0]["parameters"]["priorities"].to_string(),
        r#"{"alarm":3,"display":2,"log":1}"#
    );
    let again = vestal(&["analyze", JOBS, "--parameters", file]);
    assert_eq!(again.exit, 0, "{}", again.stderr);
    let by_deadline = scratch.file(
        "d.json",
        "{ \"priorities\": { \"display\": 3, \"alarm\": 2, \"log\": 1 } }",
    );
    let by_deadline = by_deadline.to_str().unwrap();
    let late = vestal(&["analyze", JOBS, "--parameters", by_deadline]);
    assert_eq!(late.exit, 1, "{}", late.stderr);
    for (arguments, code) in [
        (&["analyze", JOBS, "--test", "fjp-mode"][..], "V0401"),
        (&["simulate", JOBS, "--policy", "plrs"], "V0401"),
        (&["analyze", FOUR, "--test", "ocbp"], "V0404"),
    ] {
        let done = vestal(arguments);
        assert_eq!(done.exit, 2, "{arguments:?}");
        assert!(done.stderr.contains(code), "{arguments:?}: {}", done.stderr);
    }
}
