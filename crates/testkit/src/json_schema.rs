//! A validator for the schemas of this repository.

use serde_json::{Map, Value};

/// Structural validation by the keywords that the generated schema uses. A keyword that is not
/// known here fails the test instead of being skipped.
pub fn violations(
    value: &Value,
    schema: &Value,
    root: &Value,
    path: &str,
    found: &mut Vec<String>,
) {
    let Value::Object(rules) = schema else {
        if *schema == Value::Bool(false) {
            found.push(format!("{path}: not allowed"));
        }
        return;
    };
    let passes = |sub: &Value| {
        let mut inner = Vec::new();
        violations(value, sub, root, path, &mut inner);
        inner.is_empty()
    };
    for (rule, want) in rules {
        let fine = match rule.as_str() {
            "$schema" | "title" | "description" | "$defs" | "format" | "pattern" | "default" => {
                true
            }
            "$ref" => {
                let name = want.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                violations(value, &root["$defs"][name], root, path, found);
                true
            }
            "type" => match want.as_array() {
                Some(types) => types.iter().any(|one| is_type(value, one)),
                None => is_type(value, want),
            },
            "const" => value == want,
            "enum" => want.as_array().unwrap().contains(value),
            "anyOf" => want.as_array().unwrap().iter().any(passes),
            "oneOf" => {
                want.as_array()
                    .unwrap()
                    .iter()
                    .filter(|sub| passes(sub))
                    .count()
                    == 1
            }
            "minimum" => value.as_f64().is_none_or(|v| v >= want.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|v| v <= want.as_f64().unwrap()),
            "exclusiveMinimum" => value.as_f64().is_none_or(|v| v > want.as_f64().unwrap()),
            "minLength" => value
                .as_str()
                .is_none_or(|v| v.len() as u64 >= want.as_u64().unwrap()),
            "maxLength" => value
                .as_str()
                .is_none_or(|v| v.len() as u64 <= want.as_u64().unwrap()),
            "minItems" => value
                .as_array()
                .is_none_or(|v| v.len() as u64 >= want.as_u64().unwrap()),
            "maxItems" => value
                .as_array()
                .is_none_or(|v| v.len() as u64 <= want.as_u64().unwrap()),
            "required" => want.as_array().unwrap().iter().all(|key| {
                value
                    .as_object()
                    .is_none_or(|table| table.contains_key(key.as_str().unwrap()))
            }),
            "items" | "prefixItems" | "properties" | "additionalProperties" => {
                for (item, sub, path) in parts(value, rule, want, rules, path) {
                    violations(item, sub, root, &path, found);
                }
                true
            }
            other => panic!("this test does not know the keyword {other}"),
        };
        if !fine {
            found.push(format!("{path}: {rule} {want}, found {value}"));
        }
    }
}

/// The parts of a value that a rule speaks of, with their schemas and paths.
fn parts<'a>(
    value: &'a Value,
    rule: &str,
    want: &'a Value,
    rules: &Map<String, Value>,
    path: &str,
) -> Vec<(&'a Value, &'a Value, String)> {
    let table = || value.as_object().into_iter().flatten();
    let known = |key: &String| {
        rules
            .get("properties")
            .is_some_and(|all| all.get(key).is_some())
    };
    match rule {
        "items" => {
            let items = value.as_array().into_iter().flatten().enumerate();
            items
                .map(|(index, item)| (item, want, format!("{path}[{index}]")))
                .collect()
        }
        "prefixItems" => {
            let items = value.as_array().into_iter().flatten();
            let items = items.zip(want.as_array().unwrap()).enumerate();
            items
                .map(|(index, (item, want))| (item, want, format!("{path}[{index}]")))
                .collect()
        }
        "properties" => table()
            .filter_map(|(key, item)| Some((item, want.get(key)?, format!("{path}.{key}"))))
            .collect(),
        _ => table()
            .filter(|(key, _)| !known(key))
            .map(|(key, item)| (item, want, format!("{path}.{key}")))
            .collect(),
    }
}

fn is_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("unknown type {other}"),
    }
}

/// The schema that allows no property beside those it knows.
#[must_use]
pub fn strict(schema: &Value) -> Value {
    if let Value::Object(rules) = schema {
        let rules = rules.iter().map(|(key, rule)| (key.clone(), strict(rule)));
        let mut rules: Map<String, Value> = rules.collect();
        if rules.get("properties").is_some_and(Value::is_object) {
            rules.entry("additionalProperties").or_insert(false.into());
        }
        return rules.into();
    }
    let parts = schema
        .as_array()
        .map(|rules| rules.iter().map(strict).collect());
    parts.unwrap_or_else(|| schema.clone())
}
