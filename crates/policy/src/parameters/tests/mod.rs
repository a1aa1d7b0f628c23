//! Parameters files: what is read back, and what is refused.

mod parts;

use super::*;
use vestal_core::Duration;
use vestal_workload::Source;
use vestal_workload::codes::{self, SCENARIO_SET};

#[test]
fn what_was_written_is_read_back() {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let parameters = Parameters {
        priorities: Some(vec![1, 7]),
        ..Parameters::default()
    };
    let source = Source::new("p.json", &to_file(&parameters, &set));
    assert_eq!(read(&source, &set).unwrap(), parameters);
    let toml = Source::new("p.toml", "[priorities]\ndisplay = 7\ncontrol = 1\n");
    assert_eq!(read(&toml, &set).unwrap(), parameters);
    for nothing in ["{}", ""] {
        let nothing = Source::new("p.json", nothing);
        assert_eq!(read(&nothing, &set).unwrap(), Parameters::default());
    }
    assert_eq!(to_file(&Parameters::default(), &set), "");
}

#[test]
fn everything_wrong_is_reported_together() {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let text = "{ \"priorities\": { \"contol\": 1, \"display\": 1 },\n  \"partition\": { \"display\": 1 }, \"colour\": 1 }";
    let error = read(&Source::new("p.json", text), &set).unwrap_err();
    let mut found: Vec<_> = error
        .list()
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            codes::UNKNOWN_KEY,
            codes::NO_SUCH_CPU,
            codes::PARAMETER_UNKNOWN_TASK,
            codes::PARAMETER_TASK_MISSING,
            codes::PRIORITY_TWICE
        ]
    );
    assert!(error.to_string().contains("did you mean `control`?"));
}

#[test]
fn slices_are_whole_numbers_for_every_task() {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let text = r#"{ "slices": { "display": 4, "control": 1 } }"#;
    let parameters = read(&Source::new("p.json", text), &set).unwrap();
    let again = Source::new("p.json", &to_file(&parameters, &set));
    assert_eq!(read(&again, &set).unwrap(), parameters);
    let counts = parameters.slices.unwrap();
    assert_eq!([counts[0].get(), counts[1].get()], [1, 4]);
    let part = |text: &str| codes_of(&format!("{{ \"slices\": {text} }}"));
    assert_eq!(part("3"), [codes::WRONG_TYPE]);
    assert_eq!(part(r#"{ "control": 3 }"#), [codes::PARAMETER_TASK_MISSING]);
    let of = |count: &str| part(&format!(r#"{{ "control": {count}, "display": 1 }}"#));
    assert_eq!(of("1048576"), []);
    for bad in ["0", "1.5", "-1", "1048577"] {
        assert_eq!(of(bad).len(), 1, "{bad}");
    }
    assert_eq!(of("true"), [codes::WRONG_TYPE]);
}

fn codes_of(text: &str) -> Vec<codes::Code> {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    match read(&Source::new("p.json", text), &set) {
        Ok(_) => Vec::new(),
        Err(error) => error.list().iter().map(|found| found.code).collect(),
    }
}

/// control has the deadline 10 ms, display 20 ms; only control is above the lowest level.
#[test]
fn virtual_deadlines_are_given_one_by_one_or_by_a_factor() {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let nanos = |text: &str| -> Vec<u64> {
        let parameters = read(&Source::new("p.json", text), &set).unwrap();
        let again = Source::new("p.json", &to_file(&parameters, &set));
        assert_eq!(read(&again, &set).unwrap(), parameters);
        let deadlines = parameters.virtual_deadlines.unwrap();
        deadlines.into_iter().map(Duration::as_nanos).collect()
    };
    let all =
        r#"{ "virtual_deadlines": { "control": 6, "display": "20ms" }, "deadline_factor": "3/5" }"#;
    assert_eq!(nanos(all), [6_000_000, 20_000_000]);
    let alone = r#"{ "virtual_deadlines": { "display": "19ms", "control": "1ns" } }"#;
    assert_eq!(nanos(alone), [1, 19_000_000]);
    assert_eq!(
        nanos(r#"{ "deadline_factor": "1/3" }"#),
        [3_333_333, 20_000_000]
    );
    assert_eq!(
        nanos(r#"{ "deadline_factor": 0.6 }"#),
        [6_000_000, 20_000_000]
    );
    assert_eq!(
        nanos(r#"{ "deadline_factor": 1 }"#),
        [10_000_000, 20_000_000]
    );
}

#[test]
fn virtual_deadlines_are_names_with_exact_times_within_the_deadline() {
    let of = |control: &str| {
        codes_of(&format!(
            r#"{{ "virtual_deadlines": {{ "control": {control}, "display": "20ms" }} }}"#
        ))
    };
    assert_eq!(of("10"), []);
    assert_eq!(of("10.000001"), [codes::VIRTUAL_DEADLINE_TOO_LONG]);
    assert_eq!(of("0"), [codes::NOT_POSITIVE]);
    assert_eq!(of("-1"), [codes::NEGATIVE_TIME]);
    assert_eq!(of("\"0.5ns\""), [codes::NOT_WHOLE]);
    assert_eq!(of("true"), [codes::WRONG_TYPE]);
    let part = |text: &str| codes_of(&format!("{{ \"virtual_deadlines\": {text} }}"));
    assert_eq!(part("3"), [codes::WRONG_TYPE]);
    assert_eq!(part(r#"{ "control": 3 }"#), [codes::PARAMETER_TASK_MISSING]);
    let wrong_name = part(r#"{ "contol": 3, "control": 3, "display": 3 }"#);
    assert_eq!(wrong_name, [codes::PARAMETER_UNKNOWN_TASK]);
}

#[test]
fn job_priorities_fall_are_distinct_and_agree_with_patterns() {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let all = r#"{ "job_priorities": { "display": [2], "control": [3, 0] },
        "patterns": { "control": [1, 2], "display": [1] },
        "busy_periods": { "HI": "12ms", "LO": 9 } }"#;
    let parameters = read(&Source::new("p.json", all), &set).unwrap();
    assert_eq!(parameters.job_priorities, Some(vec![vec![3, 0], vec![2]]));
    let ms = Duration::from_millis;
    assert_eq!(parameters.busy_periods, Some(vec![ms(9), ms(12)]));
    let again = Source::new("p.json", &to_file(&parameters, &set));
    assert_eq!(read(&again, &set).unwrap(), parameters);

    let lists = |control: &str, display: &str| {
        codes_of(&format!(
            r#"{{ "job_priorities": {{ "control": {control}, "display": {display} }} }}"#
        ))
    };
    assert_eq!(lists("[3, 0]", "[]"), []);
    assert_eq!(lists("[0, 3]", "[2]"), [codes::JOB_PRIORITIES_DO_NOT_FALL]);
    assert_eq!(lists("[3, 3]", "[2]"), [codes::JOB_PRIORITIES_DO_NOT_FALL]);
    assert_eq!(lists("[3, 2]", "[2]"), [codes::JOB_PRIORITY_TWICE]);
    assert_eq!(lists("3", "[2]"), [codes::WRONG_TYPE]);
    assert_eq!(lists("[-1]", "[2]"), [codes::OUT_OF_RANGE]);
    let missing = codes_of(r#"{ "job_priorities": { "control": [1] } }"#);
    assert_eq!(missing, [codes::PARAMETER_TASK_MISSING]);
    let unknown = codes_of(r#"{ "patterns": { "control": [1, 1], "display": [1], "a": [1] } }"#);
    assert_eq!(unknown, [codes::PARAMETER_UNKNOWN_TASK]);

    let patterns = |control: &str| {
        codes_of(&format!(
            r#"{{ "job_priorities": {{ "control": [3, 0], "display": [2] }},
                  "patterns": {{ "control": {control}, "display": [1] }} }}"#
        ))
    };
    assert_eq!(patterns("[0, 2]"), []);
    for wrong in ["[2]", "[3, 2]", "[1, 3]", "[1, 1, 2]"] {
        assert_eq!(patterns(wrong), [codes::PATTERN_DISAGREES], "{wrong}");
    }
    let busy = |text: &str| codes_of(&format!(r#"{{ "busy_periods": {text} }}"#));
    assert_eq!(busy(r#"{ "LO": 0, "HI": 0 }"#), []);
    assert_eq!(busy(r#"{ "LO": 2, "HI": 1 }"#), [codes::BUSY_PERIODS_FALL]);
    assert_eq!(busy(r#"{ "LO": 2 }"#), [codes::BUSY_PERIODS_FALL]);
    assert_eq!(
        busy(r#"{ "LO": 2, "HI": 3, "MID": 3 }"#),
        [codes::UNKNOWN_LEVEL]
    );
    assert_eq!(busy("[1]"), [codes::WRONG_TYPE]);
}

#[test]
fn a_factor_is_a_fraction_that_leaves_something_and_agrees_with_the_deadlines() {
    let factor = |text: &str| codes_of(&format!("{{ \"deadline_factor\": {text} }}"));
    for fine in ["\"1/1\"", "\"2/4\"", "0.5", "1"] {
        assert_eq!(factor(fine), [], "{fine}");
    }
    for bad in [
        "\"3/2\"", "\"0/2\"", "\"1/0\"", "\"+1/2\"", "\"0.5\"", "0", "1.5", "-1",
    ] {
        assert_eq!(factor(bad), [codes::BAD_FRACTION], "{bad}");
    }
    assert_eq!(factor("[]"), [codes::WRONG_TYPE]);
    assert_eq!(factor("\"1/10000001\""), [codes::NOT_POSITIVE]);
    let both =
        r#"{ "virtual_deadlines": { "control": 5, "display": 20 }, "deadline_factor": "3/5" }"#;
    assert_eq!(codes_of(both), [codes::FACTOR_DISAGREES]);
    let lowest =
        r#"{ "virtual_deadlines": { "control": 6, "display": 12 }, "deadline_factor": "3/5" }"#;
    assert_eq!(codes_of(lowest), [codes::FACTOR_DISAGREES]);
}

#[test]
fn zero_slack_instants_are_names_with_times_up_to_the_deadline() {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let text = r#"{ "zero_slack": { "display": "20ms", "control": 0 } }"#;
    let parameters = read(&Source::new("p.json", text), &set).unwrap();
    let again = Source::new("p.json", &to_file(&parameters, &set));
    assert_eq!(read(&again, &set).unwrap(), parameters);
    let instants = parameters.zero_slack.unwrap();
    let nanos: Vec<u64> = instants.into_iter().map(Duration::as_nanos).collect();
    assert_eq!(nanos, [0, 20_000_000]);
    let part = |text: &str| codes_of(&format!("{{ \"zero_slack\": {text} }}"));
    assert_eq!(
        part(r#"{ "control": "10.000001ms", "display": 20 }"#),
        [codes::ZERO_SLACK_TOO_LATE]
    );
    assert_eq!(part(r#"{ "control": 3 }"#), [codes::PARAMETER_TASK_MISSING]);
    assert_eq!(
        part(r#"{ "contol": 3, "control": 3, "display": 3 }"#),
        [codes::PARAMETER_UNKNOWN_TASK]
    );
    assert_eq!(
        part(r#"{ "control": -1, "display": 3 }"#),
        [codes::NEGATIVE_TIME]
    );
    assert_eq!(part("3"), [codes::WRONG_TYPE]);
}
