//! Every example of docs/format.md is what the page says it is.

use crate::common;

use serde_json::{Value, json};
use vestal_policy::parameters;
use vestal_workload::codes::SCENARIO_SET;
use vestal_workload::{Scenario, Source, TaskSet};

/// The fenced blocks of the page: their info strings and texts.
fn blocks() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(common::root().join("docs/format.md")).unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.to_owned(), String::new())),
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some((_, text)), _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

#[test]
fn every_example_of_the_page_is_accepted_without_warning() {
    let set = TaskSet::parse("set.toml", SCENARIO_SET).unwrap();
    let task = "[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n";
    let mut kinds = std::collections::BTreeMap::new();
    let mut complete = Vec::new();
    for (info, text) in blocks() {
        *kinds.entry(info.clone()).or_insert(0) += 1;
        let parsed = match info.as_str() {
            "toml" | "json" => Some(TaskSet::parse(&format!("page.{info}"), &text)),
            "toml fragment" => Some(TaskSet::parse(
                "page.toml",
                &common::with_prelude(&format!("{text}\n{task}")),
            )),
            "toml scenario" | "csv" => {
                let name = if info == "csv" { "s.csv" } else { "s.toml" };
                let scenario = Scenario::from_source(&Source::new(name, &text), &set);
                let Scenario::File(file) = scenario.unwrap_or_else(|errors| panic!("{errors}"))
                else {
                    panic!("not a file")
                };
                assert_eq!(file.jobs[0].len(), 2);
                assert_eq!(
                    file.notes.len(),
                    1,
                    "the task runs away in each of these examples"
                );
                None
            }
            "json parameters" => {
                let parameters = parameters::read(&Source::new("p.json", &text), &set);
                let parameters = parameters.unwrap_or_else(|errors| panic!("{errors}"));
                assert_eq!(
                    parameters::to_file(&parameters, &set),
                    text,
                    "written as the page shows it"
                );
                None
            }
            // The same, in fewer lines than they are written.
            "json parameters of the set above" => {
                let set: &TaskSet = complete.last().unwrap();
                let parameters = parameters::read(&Source::new("p.json", &text), set);
                let parameters = parameters.unwrap_or_else(|errors| panic!("{errors}"));
                let shown: Value = serde_json::from_str(&text).unwrap();
                let written = Value::Object(parameters::to_json(&parameters, set));
                assert_eq!(written, shown);
                None
            }
            "sh" => {
                for line in text.lines() {
                    Scenario::parse(line).unwrap_or_else(|errors| panic!("{errors}"));
                }
                None
            }
            "text" => None,
            other => panic!("what is a block of kind {other}?"),
        };
        if let Some(parsed) = parsed {
            let parsed = parsed.unwrap_or_else(|errors| panic!("{errors}\nin\n{text}"));
            assert!(parsed.warnings().is_none(), "{text}");
            if info != "toml fragment" {
                complete.push(parsed);
            }
        }
    }
    assert_eq!(
        complete[0], complete[1],
        "the page says that these two are the same"
    );
    assert_eq!(kinds["toml"], 5);
    assert_eq!(kinds["json parameters of the set above"], 2);
    assert_eq!(kinds["csv"], 2);
}

/// What a key takes beyond its description: words, bounds, shapes.
fn takes(property: &Value, schema: &Value) -> Option<String> {
    let one = property["anyOf"]
        .as_array()
        .map_or(property, |parts| &parts[0]);
    let name = one["$ref"]
        .as_str()
        .and_then(|name| name.rsplit('/').next());
    let of = name.map_or(one, |name| &schema["$defs"][name]);
    if let Some(words) = of["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let (last, rest) = words.split_last()?;
        return Some(match rest {
            [] => last.clone(),
            _ => format!("{} or {last}", rest.join(", ")),
        });
    }
    let shape = |of: &Value| match of["$ref"].as_str() {
        Some("#/$defs/Time") => Some("time"),
        Some("#/$defs/Share") => Some("number from 0 to 1"),
        _ => (of["format"] == "uint32").then_some("number"),
    };
    let per_level = |of: &Value| {
        Some(format!(
            "a table from level to {}",
            shape(&of["additionalProperties"])?
        ))
    };
    if let Some(parts) = of["anyOf"].as_array().filter(|_| name != Some("Time")) {
        return Some(format!(
            "one {}, or {}",
            shape(&parts[0])?,
            per_level(&parts[1])?
        ));
    }
    let bound = |least: &str, most: &str| {
        Some((
            of[least].as_u64()?,
            of[most].as_u64().filter(|&most| most < 65_535),
        ))
    };
    match bound("minimum", "maximum").or_else(|| bound("minItems", "maxItems")) {
        Some((least, Some(most))) => Some(format!("{least} to {most}")),
        Some((1, None)) if of["type"] != json!(["array", "null"]) => Some("at least 1".to_owned()),
        _ => per_level(of),
    }
}

/// The rows of a table's keys: those that stand there keep their order, new ones follow.
fn rows(table: &Value, there: &[&str], schema: &Value) -> String {
    let is_top = table["$defs"].is_object();
    let properties = table["properties"].as_object().unwrap();
    let known = there
        .iter()
        .copied()
        .filter(|key| properties.contains_key(*key));
    let new = properties
        .keys()
        .map(String::as_str)
        .filter(|key| !there.contains(key));
    let row = |key: &str| {
        let property = &properties[key];
        let text = property["description"]
            .as_str()
            .unwrap()
            .trim_end_matches('.');
        let (text, default) = match text.split_once("; default: ") {
            Some((text, default)) => (text, default),
            None => {
                let required = table["required"]
                    .as_array()
                    .is_some_and(|all| all.contains(&json!(key)));
                assert!(required, "{key}: what holds if it is not given?");
                (text, "required")
            }
        };
        let takes = takes(property, schema).map_or(String::new(), |takes| format!(": {takes}"));
        let shown = match (
            property["items"]["$ref"].as_str(),
            property["anyOf"][0]["$ref"].as_str(),
        ) {
            (Some(of), _) if is_top && of.ends_with("Table") => format!("[[{key}]]"),
            (_, Some(of)) if is_top && of.ends_with("Table") => format!("[{key}]"),
            _ => key.to_owned(),
        };
        format!("| `{shown}` | {text}{takes} | {default} |\n")
    };
    let head = "| key | value | default |\n|---|---|---|\n".to_owned();
    known.chain(new).fold(head, |rows, key| rows + &row(key))
}

#[test]
fn the_tables_of_the_page_are_those_of_the_schema() {
    let page = std::fs::read_to_string(common::root().join("docs/format.md")).unwrap();
    let schema = vestal_workload::schema::schema();
    let mut written = String::new();
    let mut described = std::collections::BTreeSet::new();
    let mut parts = page.split("<!-- keys of ");
    written.push_str(parts.next().unwrap());
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").unwrap();
        let (old, after) = rest.split_once("\n\n").unwrap();
        let there: Vec<&str> = old
            .lines()
            .filter_map(|line| Some(line.split('`').nth(1)?.trim_matches(['[', ']'])))
            .collect();
        let table = match name {
            "the file" => &schema,
            name => &schema["$defs"][name],
        };
        let rows = rows(table, &there, &schema);
        written.push_str(&format!("<!-- keys of {name} -->\n{rows}\n{after}"));
        described.insert(name.to_owned());
    }
    common::assert_current("docs/format.md", &written);
    let tables = schema["$defs"].as_object().unwrap().iter();
    for (name, _) in tables.filter(|(_, one)| one["properties"].is_object()) {
        assert!(described.contains(name), "{name} is not on the page");
    }
}
