//! Every example of docs/format.md is what the page says it is.

use crate::common;

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
    assert_eq!(kinds["toml"], 4);
    assert_eq!(kinds["csv"], 2);
}

#[test]
fn the_page_names_every_key_of_the_schema() {
    let page = std::fs::read_to_string(common::root().join("docs/format.md")).unwrap();
    let schema = vestal_workload::schema::schema();
    let tables = schema["$defs"]
        .as_object()
        .unwrap()
        .values()
        .chain([&schema]);
    for table in tables {
        for key in table["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key)
        {
            let named = [
                format!("`{key}`"),
                format!("`[{key}]`"),
                format!("`[[{key}]]`"),
                format!("`{key}",),
            ];
            assert!(
                named.iter().any(|name| page.contains(name.as_str())),
                "{key} is not on the page"
            );
        }
    }
}
