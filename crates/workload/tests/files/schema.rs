//! The JSON Schema is current, and the examples validate against it.

use crate::common;
use serde_json::{Value, json};
use vestal_testkit::json_schema::violations;
use vestal_workload::schema::{schema, schema_text};

#[test]
fn the_schema_that_is_checked_in_is_current() {
    common::assert_current("docs/schema/vestal-1.schema.json", &schema_text());
}

fn check(value: &Value) -> Vec<String> {
    let schema = schema();
    let mut found = Vec::new();
    violations(value, &schema, &schema, "", &mut found);
    found
}

fn as_json(name: &str, text: &str) -> Value {
    if name.ends_with(".json") {
        serde_json::from_str(text).unwrap()
    } else {
        let table: toml::Table = text.parse().unwrap();
        serde_json::to_value(table).unwrap()
    }
}

#[test]
fn every_example_has_the_shape_of_the_schema() {
    for (name, text) in common::examples() {
        assert_eq!(
            check(&as_json(&name, &text)),
            Vec::<String>::new(),
            "{name}"
        );
    }
}

#[test]
fn what_breaks_the_shape_breaks_the_schema() {
    let (_, text) = common::examples()
        .into_iter()
        .find(|(name, _)| name == "starter.json")
        .unwrap();
    let good: Value = serde_json::from_str(&text).unwrap();
    assert!(check(&good).is_empty());
    let edits: [fn(&mut Value); 8] = [
        |file| file["task"][0]["perod"] = json!(1),
        |file| file["task"][0]["period"] = json!(true),
        |file| file["task"][0]["period"] = json!(-1),
        |file| file["format"] = json!("vestal/2"),
        |file| file["levels"] = json!([]),
        |file| file["task"][0]["arrival"] = json!("sometimes"),
        |file| file["task"][0]["wcet"] = json!(4),
        |file| drop(file.as_object_mut().unwrap().remove("levels")),
    ];
    for (index, edit) in edits.iter().enumerate() {
        let mut bad = good.clone();
        edit(&mut bad);
        assert!(!check(&bad).is_empty(), "edit {index} is not noticed");
    }
}

#[test]
fn a_file_written_back_has_the_shape_too() {
    for (name, text) in common::examples() {
        let set = vestal_workload::TaskSet::parse(&name, &text).unwrap();
        let written = set.to_toml();
        assert_eq!(
            check(&as_json("a.toml", &written)),
            Vec::<String>::new(),
            "{written}"
        );
    }
}
