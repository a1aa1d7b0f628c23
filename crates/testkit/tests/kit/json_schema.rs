//! The validator of schemas.

use serde_json::{Value, json};
use vestal_testkit::json_schema::{strict, violations};

fn found(value: &Value, schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    violations(value, schema, schema, "", &mut found);
    found
}

fn fits(value: Value, schema: Value) -> bool {
    found(&value, &schema).is_empty()
}

#[test]
fn types_are_told_apart() {
    for (value, name) in [
        (json!({}), "object"),
        (json!([]), "array"),
        (json!("x"), "string"),
        (json!(true), "boolean"),
        (json!(null), "null"),
        (json!(1), "integer"),
        (json!(1.5), "number"),
    ] {
        assert!(fits(value.clone(), json!({"type": name})), "{name}");
        let other = if name == "object" { "array" } else { "object" };
        assert!(!fits(value.clone(), json!({"type": other})), "{name}");
        assert!(fits(value, json!({"type": [other, name]})), "{name}");
    }
    assert!(!fits(json!(1.5), json!({"type": "integer"})));
}

#[test]
fn a_violation_says_where_it_is() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "integer"}}},
        "required": ["a"]
    });
    assert_eq!(found(&json!({"a": [1, 2]}), &schema), Vec::<String>::new());
    let wrong = found(&json!({"a": [1, "x"]}), &schema);
    assert!(
        wrong.len() == 1 && wrong[0].starts_with(".a[1]: type"),
        "{wrong:?}"
    );
    assert!(found(&json!({}), &schema)[0].contains("required"));
}

#[test]
fn bounds_words_and_constants_hold() {
    assert!(fits(
        json!(3),
        json!({"minimum": 3, "maximum": 3, "exclusiveMinimum": 2})
    ));
    assert!(!fits(json!(3), json!({"exclusiveMinimum": 3})));
    assert!(!fits(json!(4), json!({"maximum": 3})));
    assert!(fits(json!("b"), json!({"enum": ["a", "b"], "const": "b"})));
    assert!(!fits(json!("c"), json!({"enum": ["a", "b"]})));
    assert!(!fits(json!("abc"), json!({"maxLength": 2})));
    assert!(!fits(json!([1]), json!({"minItems": 2})));
}

#[test]
fn any_of_wants_one_and_one_of_no_more_than_one() {
    let both = [json!({"minimum": 1}), json!({"maximum": 5})];
    assert!(fits(json!(3), json!({"anyOf": both})));
    assert!(!fits(json!(3), json!({"oneOf": both})));
    assert!(fits(json!(7), json!({"oneOf": both})));
    assert!(!fits(
        json!(3),
        json!({"anyOf": [{"minimum": 4}, {"maximum": 2}]})
    ));
}

#[test]
fn references_and_tuples_are_followed() {
    let schema = json!({
        "prefixItems": [{"type": "string"}, {"$ref": "#/$defs/Count"}],
        "$defs": {"Count": {"type": "integer"}}
    });
    assert_eq!(found(&json!(["x", 1]), &schema), Vec::<String>::new());
    assert!(found(&json!(["x", "y"]), &schema)[0].starts_with("[1]"));
}

#[test]
fn strictly_nothing_beside_the_known_properties_is_allowed_at_any_depth() {
    let schema = json!({
        "properties": {"a": {"properties": {"b": true}}, "map": {"additionalProperties": true}}
    });
    let value = json!({"a": {"b": 1, "c": 2}, "map": {"x": 1}, "d": 3});
    assert_eq!(found(&value, &schema), Vec::<String>::new());
    let mut wrong = found(&value, &strict(&schema));
    wrong.sort();
    assert_eq!(wrong, [".a.c: not allowed", ".d: not allowed"]);
}

#[test]
#[should_panic(expected = "does not know the keyword")]
fn a_keyword_that_is_not_known_is_no_pass() {
    let _never = fits(json!(1), json!({"multipleOf": 2}));
}
