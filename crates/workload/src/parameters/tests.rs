//! Parameters files: what is read back, and what is refused.

use super::*;
use crate::codes::SCENARIO_SET;

#[test]
fn what_was_written_is_read_back_and_orders_the_tasks() {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let parameters = Parameters::with_priorities(&set, &[1, 7]);
    let source = Source::new("p.json", &parameters.to_file());
    assert_eq!(Parameters::parse(&source, &set).unwrap(), parameters);
    assert_eq!(
        parameters.priority_order(&set),
        Some(vec![TaskId(1), TaskId(0)])
    );
    let toml = Source::new("p.toml", "[priorities]\ncontrol = 1\ndisplay = 7\n");
    assert_eq!(Parameters::parse(&toml, &set).unwrap(), parameters);
    let nothing = Source::new("p.json", "{}");
    assert_eq!(
        Parameters::parse(&nothing, &set).unwrap(),
        Parameters::default()
    );
}

#[test]
fn everything_wrong_is_reported_together() {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let text = "{ \"priorities\": { \"contol\": 1, \"display\": 1 },\n  \"partition\": {}, \"colour\": 1 }";
    let error = Parameters::parse(&Source::new("p.json", text), &set).unwrap_err();
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
            codes::PARAMETER_UNKNOWN_TASK,
            codes::PARAMETER_TASK_MISSING,
            codes::PRIORITY_TWICE,
            codes::PARAMETER_NOT_IN_VERSION
        ]
    );
    assert!(error.to_string().contains("did you mean `control`?"));
}

#[test]
fn slices_are_whole_numbers_for_every_task() {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let text = r#"{ "slices": { "display": 4, "control": 1 } }"#;
    let parameters = Parameters::parse(&Source::new("p.json", text), &set).unwrap();
    let again = Source::new("p.json", &parameters.to_file());
    assert_eq!(Parameters::parse(&again, &set).unwrap(), parameters);
    let mut counts = parameters.slices_of(&set).unwrap();
    counts.sort_unstable();
    assert_eq!(counts, [1, 4]);
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
    match Parameters::parse(&Source::new("p.json", text), &set) {
        Ok(_) => Vec::new(),
        Err(error) => error.list().iter().map(|found| found.code).collect(),
    }
}

/// control has the deadline 10 ms, display 20 ms; only control is above the lowest level.
#[test]
fn virtual_deadlines_are_given_one_by_one_or_by_a_factor() {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let nanos = |text: &str| -> Vec<u64> {
        let parameters = Parameters::parse(&Source::new("p.json", text), &set).unwrap();
        let again = Source::new("p.json", &parameters.to_file());
        assert_eq!(Parameters::parse(&again, &set).unwrap(), parameters);
        let deadlines = parameters.virtual_deadlines_of(&set).unwrap();
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
    assert_eq!(Parameters::default().virtual_deadlines_of(&set), None);
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
    let parameters = Parameters::parse(&Source::new("p.json", all), &set).unwrap();
    assert_eq!(
        parameters.job_priorities_of(&set),
        Some(vec![vec![3, 0], vec![2]])
    );
    let ms = Duration::from_millis;
    let busy = vec![("LO".to_owned(), ms(9)), ("HI".to_owned(), ms(12))];
    assert_eq!(parameters.busy_periods, Some(busy));
    let again = Source::new("p.json", &parameters.to_file());
    assert_eq!(Parameters::parse(&again, &set).unwrap(), parameters);

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
