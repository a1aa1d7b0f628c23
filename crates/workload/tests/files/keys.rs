//! Every key of the schema: written back, missing, of the wrong type, misspelt. What the schema does not say of a key
//! is not asked here, so that a new key is asked the same questions.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use vestal_workload::schema::schema;
use vestal_workload::{Diagnostics, TaskSet, codes};

const TASKS: &str = r#"
format = "vestal/1"
name = "all keys"
levels = ["LO", "HI"]
unit = "ms"

[platform]
cpus = 2
tick = "1ms"
interrupt_master = 1
bus = { arbitration = "fcfs", access = "50ns" }

[[task]]
name = "sensor"
criticality = "LO"
period = 20
deadline = 15
offset = 3
arrival = "sporadic"
wcet = { LO = 5 }
degraded = { HI = 2 }
priority = 7
cpu = 1
accesses = { LO = 3 }
on_miss = "abort"
io = [{ after = 1, device = "camera", events = 2 }]
work = "array:32KiB"

[[server]]
name = "app"
kind = "sporadic"
period = 25
capacity = { LO = 10 }
criticality = "LO"
priority = 3
cpu = 0
degraded = { HI = 4 }
scheduler = "edf"
tasks = ["sensor"]
replenishments = 8
full = "tail"

[[server]]
name = "camera-bh"
kind = "pibs"
utilization = { LO = 0.25 }
serves = ["app"]

[[device]]
name = "camera"
server = "camera-bh"
cost = 2
arrival = "burst"
period = 10
burst = 4
real = "pipe"
"#;

const JOBS: &str = r#"
format = "vestal/1"
levels = ["LO", "HI"]
unit = "ms"

[[job]]
name = "first"
release = 0
deadline = 4
criticality = "HI"
wcet = { LO = 1, HI = 2 }
"#;

fn files() -> [Value; 2] {
    [TASKS, JOBS].map(|text| serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap())
}

fn read(file: &Value) -> Result<TaskSet, Diagnostics> {
    TaskSet::parse("keys.json", &file.to_string())
}

/// The tables of a file: where each stands, what diagnostics call it, and what the schema calls it.
fn tables(file: &Value) -> Vec<(String, String, String)> {
    let mut tables = vec![(String::new(), String::new(), String::new())];
    let top = |key: &str, of: &str| (format!("/{key}/0"), format!("{key}[0]"), of.to_owned());
    if file["job"].is_array() {
        tables.push(top("job", "JobTable"));
        return tables;
    }
    for (key, of) in [
        ("task", "TaskTable"),
        ("server", "ServerTable"),
        ("device", "DeviceTable"),
    ] {
        tables.push(top(key, of));
    }
    for (at, path, of) in [
        ("/platform", "platform", "PlatformTable"),
        ("/platform/bus", "platform.bus", "BusTable"),
        ("/task/0/io/0", "task[0].io[0]", "IoTable"),
        ("/server/1", "server[1]", "ServerTable"),
    ] {
        tables.push((at.to_owned(), path.to_owned(), of.to_owned()));
    }
    tables
}

fn described(schema: &Value, of: &str) -> Value {
    if of.is_empty() {
        schema.clone()
    } else {
        schema["$defs"][of].clone()
    }
}

/// Every key that one of the files gives: the file, its table, what diagnostics call the key, and its name.
fn given() -> Vec<(Value, String, String, String, Value)> {
    let schema = schema();
    let mut all = Vec::new();
    for file in files() {
        for (at, path, of) in tables(&file) {
            let table = described(&schema, &of);
            for key in file.pointer(&at).unwrap().as_object().unwrap().keys() {
                let field = match path.as_str() {
                    "" => key.clone(),
                    path => format!("{path}.{key}"),
                };
                all.push((file.clone(), at.clone(), field, key.clone(), table.clone()));
            }
        }
    }
    assert!(all.len() > 50, "{}", all.len());
    all
}

fn table<'f>(file: &'f mut Value, at: &str) -> &'f mut serde_json::Map<String, Value> {
    file.pointer_mut(at).unwrap().as_object_mut().unwrap()
}

#[test]
fn the_files_give_every_key_and_what_is_written_back_gives_them_too() {
    let schema = schema();
    let mut missing: BTreeSet<(String, String)> = BTreeSet::new();
    let defs = schema["$defs"].as_object().unwrap();
    let tables_of = defs.iter().filter(|(_, of)| of["properties"].is_object());
    for (of, table) in tables_of
        .map(|(name, of)| (name.as_str(), of))
        .chain([("", &schema)])
    {
        let keys = table["properties"].as_object().unwrap().keys();
        missing.extend(keys.map(|key| (of.to_owned(), key.clone())));
    }
    for file in files() {
        let set = read(&file).unwrap_or_else(|errors| panic!("{errors}"));
        let written = set.to_toml();
        assert_eq!(
            TaskSet::parse("again.toml", &written).unwrap(),
            set,
            "{written}"
        );
        let written = serde_json::to_value(written.parse::<toml::Table>().unwrap()).unwrap();
        for (at, _, of) in tables(&file) {
            for key in file.pointer(&at).unwrap().as_object().unwrap().keys() {
                let back = written.pointer(&at).unwrap();
                assert!(!back[key].is_null(), "{of} is written without {key}");
                missing.remove(&(of.clone(), key.clone()));
            }
        }
    }
    assert!(missing.is_empty(), "not in any of the files: {missing:?}");
}

#[test]
fn a_required_key_that_is_missing_is_named_and_what_the_help_says_to_add_mends_the_file() {
    let mut counted = 0;
    for (file, at, field, key, of) in given() {
        let is_required = of["required"]
            .as_array()
            .is_some_and(|all| all.contains(&json!(key)));
        let mut without = file.clone();
        table(&mut without, &at).remove(&key);
        if !is_required {
            continue;
        }
        counted += 1;
        let errors = read(&without).unwrap_err();
        let named = |code| {
            errors
                .list()
                .iter()
                .find(|error| error.code == code && error.field == field)
        };
        let found = named(codes::MISSING_KEY).or_else(|| named(codes::WRONG_FORMAT));
        let found = found.unwrap_or_else(|| panic!("{field}: {errors}"));
        let example = found.help.split('`').nth(1).unwrap();
        let example: toml::Table = example
            .parse()
            .unwrap_or_else(|_| panic!("{field}: {example}"));
        let mut mended = without;
        for (key, value) in example {
            table(&mut mended, &at).insert(key, serde_json::to_value(value).unwrap());
        }
        if let Err(errors) = read(&mended) {
            // The example need not fit this file's other values, but it is right in itself.
            assert!(
                errors.list().iter().all(|error| error.field != field),
                "{field}: {errors}"
            );
        }
    }
    assert!(counted > 15, "{counted}");
}

#[test]
fn an_optional_key_may_be_left_out() {
    let mut counted = 0;
    for (file, at, field, key, of) in given() {
        let is_required = of["required"]
            .as_array()
            .is_some_and(|all| all.contains(&json!(key)));
        // These are required for their kind, hold what others refer to, or are all that there is.
        let others = [
            "period",
            "capacity",
            "utilization",
            "burst",
            "arrival",
            "unit",
            "task",
            "job",
            "server",
            "device",
            "platform",
            "cpus",
        ];
        if is_required || others.contains(&key.as_str()) {
            continue;
        }
        counted += 1;
        let mut without = file.clone();
        table(&mut without, &at).remove(&key);
        let set = read(&without).unwrap_or_else(|errors| panic!("{field}: {errors}"));
        assert_eq!(
            TaskSet::parse("again.toml", &set.to_toml()).unwrap(),
            set,
            "{field}"
        );
        assert_eq!(
            TaskSet::parse("again.json", &set.to_json()).unwrap(),
            set,
            "{field}"
        );
    }
    assert!(counted > 20, "{counted}");
}

#[test]
fn a_value_of_the_wrong_type_is_one_error_at_its_key() {
    for (file, at, field, key, _) in given() {
        let mut wrong = file.clone();
        table(&mut wrong, &at).insert(key.clone(), json!(true));
        let errors = read(&wrong).unwrap_err();
        let here: Vec<_> = errors
            .list()
            .iter()
            .filter(|error| error.field == field)
            .collect();
        assert_eq!(here.len(), 1, "{field}: {errors}");
        assert_eq!(here[0].code, codes::WRONG_TYPE, "{field}: {errors}");
        assert_eq!(here[0].found, "a truth value");
    }
}

#[test]
fn a_misspelt_key_is_told_the_right_one() {
    for (file, at, field, key, of) in given() {
        let mut wrong = file.clone();
        let here = table(&mut wrong, &at);
        let value = here.remove(&key).unwrap();
        here.insert(format!("{key}x"), value);
        let errors = read(&wrong).unwrap_err();
        let unknown: Vec<_> = errors
            .list()
            .iter()
            .filter(|error| error.code == codes::UNKNOWN_KEY)
            .collect();
        assert_eq!(unknown.len(), 1, "{field}: {errors}");
        assert_eq!(unknown[0].field, format!("{field}x"));
        let guess = unknown[0].help.split('`').nth(1).unwrap();
        // A short key may be nearer to another one of its table.
        assert!(
            guess == key || of["properties"][guess].is_object(),
            "{field}: {errors}"
        );
    }
}
