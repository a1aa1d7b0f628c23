//! What readers of results rely on.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use vestal_result::analysis::{Analysis, Kind, Verdict};
use vestal_result::claim;
use vestal_result::run::{Cost, Enforced, Machine, Proof, Run};
use vestal_result::{FORMAT, Format, schema};

/// As little as a result of the first version had.
fn oldest() -> Value {
    json!({
        "format": FORMAT, "file": "x.toml", "policy": "amc", "world": "simulator",
        "duration_ns": u64::MAX,
        "jobs": {"released": 1, "completed": 0, "dropped": 0, "missed": 1},
        "tasks": [{"name": "a", "released": 1, "completed": 0, "missed": 1, "dropped": 0}]
    })
}

fn run(document: Value) -> Run {
    serde_json::from_value(document).unwrap()
}

#[test]
fn a_result_of_an_older_version_is_read_and_says_nothing_that_it_did_not() {
    let run = run(oldest());
    assert_eq!(run.duration_ns, u64::MAX);
    assert_eq!(
        (run.proof, run.dispatch.as_str(), run.scenario.as_str()),
        (None, "", "")
    );
    assert!(run.modes.is_empty() && run.overhead.is_empty() && run.machine.enforced.is_none());
    assert_eq!(run.tasks[0].response_ns.max, None);
}

#[test]
fn a_key_of_a_later_version_is_no_error() {
    let mut later = oldest();
    later["later"] = json!({"unknown": true});
    later["jobs"]["postponed"] = json!(3);
    assert_eq!(run(later), run(oldest()));
}

#[test]
fn what_a_result_cannot_be_without_is_asked_for() {
    for key in ["file", "policy", "world", "duration_ns", "jobs", "tasks"] {
        let mut without = oldest();
        without.as_object_mut().unwrap().remove(key);
        let error = serde_json::from_value::<Run>(without)
            .unwrap_err()
            .to_string();
        assert!(error.contains(key), "{key}: {error}");
    }
    let mut negative = oldest();
    negative["jobs"]["missed"] = json!(-1);
    assert!(serde_json::from_value::<Run>(negative).is_err());
}

#[test]
fn that_nothing_proves_it_is_told_apart_from_not_saying_what_does() {
    let with = |proof: Value| {
        let mut document = oldest();
        document["proof"] = proof;
        run(document).proof
    };
    assert_eq!(with(Value::Null), Some(None));
    assert_eq!(
        with(json!({"test": "amc-rtb"})),
        Some(Some(Proof::by("amc-rtb")))
    );
    let refuted = json!({"test": "x", "verdict": "not-proven"});
    assert_eq!(with(refuted).unwrap().unwrap().verdict, Verdict::NotProven);
    let written = serde_json::to_value(run(oldest())).unwrap();
    assert_eq!(written["proof"], Value::Null);
}

#[test]
fn words_are_the_same_for_people_and_in_documents() {
    let word = |value: Value| value.as_str().unwrap().to_owned();
    for verdict in [
        Verdict::Schedulable,
        Verdict::Unschedulable,
        Verdict::NotProven,
    ] {
        assert_eq!(verdict.to_string(), word(json!(verdict)));
    }
    for kind in [Kind::Exact, Kind::Sufficient, Kind::Necessary, Kind::Unsafe] {
        assert_eq!(kind.to_string(), word(json!(kind)));
    }
    assert_eq!(format!("{:>12}|", Kind::Exact), "       exact|");
    assert_eq!(word(json!(claim::Verdict::NotDecided)), "not-decided");
    assert_eq!(word(json!(Format::V1)), FORMAT);
    assert!(serde_json::from_value::<Verdict>(json!("perhaps")).is_err());
}

#[test]
fn how_limits_were_enforced_stands_beside_what_the_machine_did() {
    let simulated = serde_json::to_value(Machine::default()).unwrap();
    let keys: Vec<&String> = simulated.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "gaps",
            "interrupts",
            "longest_gap_ns",
            "lost_ns",
            "missed_outside_gaps",
            "stolen"
        ]
    );
    let thread = json!({"cpu_ns": 1, "voluntary": 2, "involuntary": 3});
    let mut real = simulated.clone();
    let mut enforced = json!({
        "dispatch": "native", "inversions": null, "mechanism": "vestal", "observed_only": false,
        "monitor": "perf",
        "monitoring": {"activations": 9, "without_cpu": 1, "per_job_max": 2, "beyond_bound": null,
            "detected": {"first": 5, "second": 3, "later": 1}}, "granularity_ns": null, "tolerance_ns": 1, "overruns_noticed": 0,
        "overshoot_median_ns": 0, "overshoot_max_ns": 0, "noticed_late": 0, "held": null,
        "held_in_vain": null, "clock_skew": {"monotonic_ns": 99, "tsc_ns": null}, "records": null, "records_lost": 0, "server_granularity_ns": 1,
        "server_budgets_judged": 2, "server_overshoot_median_ns": 0, "server_overshoot_max_ns": 1,
        "own": {
            "manager": thread, "idle": thread, "watchdog": thread, "workers_cpu_ns": 5, "dispatcher": thread, "checkers": thread, "top_half": thread,
            "wakeups": {"completion": 1, "release": 1, "device": 1, "budget": 1, "timer": 1, "idle": 1, "beat": 1, "other": 1},
            "reactions_ns": {"decide": {"count": 1, "max": 9}}
        },
        "busy_periods": {"count": 1, "median_ns": 1, "mean_ns": 1, "max_ns": 1, "switches": 1}
    });
    // One macro has not room for all.
    enforced["overshoot_p90_ns"] = json!(1);
    enforced["overshoot_p99_ns"] = json!(2);
    enforced["monitor_choices"] = json!([{"monitor": "perf", "why": "cheaper", "tried": [{"monitor": "perf", "next_ns": 3, "behind_ns": 2, "late_ns": 9}]}]);
    let object = real.as_object_mut().unwrap();
    object.extend(enforced.as_object().unwrap().clone());
    let read: Machine = serde_json::from_value(real.clone()).unwrap();
    let Some(Enforced { own, monitor, .. }) = &read.enforced else {
        panic!("nothing was enforced: {read:?}")
    };
    assert_eq!(
        (own.reactions_ns["decide"].max, monitor.as_str()),
        (9, "perf")
    );
    assert_eq!(serde_json::to_value(read).unwrap(), real);
}

#[test]
fn fractions_come_back_as_they_were() {
    for mean in [0.1, 1.0 / 3.0, 16_894.5, 1e-300, 123_456_789.123_456_78] {
        let cost = Cost {
            mean: Some(mean),
            ..Cost::default()
        };
        let text = serde_json::to_string(&cost).unwrap();
        assert_eq!(serde_json::from_str::<Cost>(&text).unwrap(), cost, "{text}");
    }
}

#[test]
fn an_order_has_the_most_urgent_task_first_and_needs_all_priorities() {
    let analysis = |priorities: [Value; 3]| -> Analysis {
        let tasks = ["a", "b", "c"].into_iter().zip(priorities);
        let tasks = tasks.map(|(name, priority)| {
            json!({"name": name, "criticality": "LO", "deadline_ns": 1, "priority": priority})
        });
        serde_json::from_value(json!({
            "test": "smc", "variant": "printed", "verdict": "schedulable", "kind": "sufficient",
            "tasks": tasks.collect::<Vec<_>>()
        }))
        .unwrap()
    };
    let all = analysis([json!(1), json!(3), json!(2)]);
    assert_eq!(all.order(), Some(vec!["b", "c", "a"]));
    assert_eq!(all.name(), "smc:printed");
    assert_eq!(analysis([json!(1), Value::Null, json!(2)]).order(), None);
}

#[test]
fn a_document_is_read_as_what_it_is() {
    let kinds = |document: Value| -> Vec<&'static str> {
        let read = schema::read_as(&document.to_string());
        read.into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(kinds(oldest()), ["Run"]);
    assert_eq!(kinds(json!({"format": FORMAT, "topics": []})), ["Topics"]);
    assert_eq!(
        kinds(json!({"format": "vestal-result/2", "topics": []})),
        [""; 0]
    );
    assert_eq!(kinds(json!([])), [""; 0]);
}

#[test]
fn the_schema_describes_every_key_of_every_document() {
    let schema = schema::documents();
    let types = schema["$defs"].as_object().unwrap();
    assert!(types.len() > 60, "{}", types.len());
    for reference in schema["anyOf"].as_array().unwrap() {
        let name = reference["$ref"]
            .as_str()
            .unwrap()
            .rsplit('/')
            .next()
            .unwrap();
        assert!(
            types[name]["required"]
                .as_array()
                .unwrap()
                .contains(&json!("format")),
            "{name}"
        );
    }
    for (name, one) in types {
        assert!(one["description"].is_string(), "{name}");
        let properties = one["properties"].as_object().into_iter().flatten();
        for (key, property) in properties {
            assert!(property["description"].is_string(), "{name}.{key}");
        }
        assert!(
            !name.ends_with(|last: char| last.is_ascii_digit()),
            "two types are called {name}"
        );
    }
}
