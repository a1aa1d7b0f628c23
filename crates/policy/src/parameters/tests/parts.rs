//! Every parameter comes back as it was written, and a text that was damaged anywhere is refused with the place.

use crate::parameters::*;
use serde_json::json;
use vestal_analysis::Ratio;
use vestal_analysis::parameters::{
    DispatchTable, FrameBarriers, FrameMap, Parameter, ServerBudget, ServerParameters, TABLE,
};
use vestal_core::{CpuId, Duration, LevelSet, SliceCount, TableSlot, TaskId};
use vestal_workload::codes::{self, Code};
use vestal_workload::{Diagnostic, Source};

const SET: &str = r#"
format = "vestal/1"
levels = ["LO", "HI.1"]
unit = "ms"
[platform]
cpus = 2
[[task]]
name = "a"
criticality = "HI.1"
period = 10
wcet = { LO = 2, "HI.1" = 4 }
[[task]]
name = "b"
criticality = "LO"
period = 20
wcet = { LO = 3 }
[[task]]
name = "c"
criticality = "LO"
period = 20
wcet = { LO = 1 }
[[server]]
name = "app"
kind = "sporadic"
period = 10
capacity = { LO = 2, "HI.1" = 4 }
criticality = "HI.1"
tasks = ["a"]
[[server]]
name = "bottom"
kind = "pibs"
utilization = { LO = 0.01 }
"#;

fn set() -> TaskSet {
    TaskSet::parse("set.toml", SET).unwrap_or_else(|error| panic!("{error}"))
}

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// Something of every parameter; they agree where they have to.
fn all(set: &TaskSet) -> Parameters {
    let tasks = set.to_tasks("test").unwrap();
    let levels = LevelSet::new(2).unwrap();
    let slot = |start, length, task| TableSlot {
        start: ms(start),
        length: ms(length),
        task: TaskId(task),
    };
    let list = |tasks: &[u16]| tasks.iter().copied().map(TaskId).collect::<Vec<_>>();
    // Two frames; in each the sub-frame of LO and then that of HI.1, in each of them both CPUs.
    let lists: [&[u16]; 8] = [&[2, 1], &[], &[], &[0], &[], &[], &[], &[0]];
    let share = |numerator, denominator| Ratio {
        numerator,
        denominator,
    };
    Parameters {
        priorities: Some(vec![3, 1, 2]),
        virtual_deadlines: Some(vec![ms(5), ms(20), ms(20)]),
        deadline_factor: Some(share(1, 2)),
        slices: Some(
            tasks
                .iter()
                .map(|task| SliceCount::new(2, task).unwrap())
                .collect(),
        ),
        zero_slack: Some(vec![ms(0), ms(7), ms(20)]),
        job_priorities: Some(vec![vec![7, 3], vec![5], vec![]]),
        patterns: Some(vec![vec![1, 2], vec![1], vec![0]]),
        busy_periods: Some(vec![ms(9), ms(12)]),
        partition: Some(vec![Some(CpuId(1)), None, Some(CpuId(0))]),
        tables: Some(vec![
            DispatchTable {
                cycle: ms(20),
                slots: vec![slot(0, 3, 1), slot(3, 17, 2)],
            },
            DispatchTable::default(),
        ]),
        frames: FrameMap::new(ms(10), levels, 2, lists.map(list).to_vec()),
        barriers: FrameBarriers::new(levels, [4, 0, 2, 4, 0, 0, 2, 4].map(ms).to_vec()),
        servers: Some(vec![
            ServerParameters {
                budget: ServerBudget::Capacity {
                    period: ms(10),
                    by_level: vec![ms(2), ms(4)],
                },
                priority: 2,
            },
            ServerParameters {
                budget: ServerBudget::Utilization {
                    by_level: vec![share(1, 3)],
                },
                priority: u32::MAX,
            },
        ]),
        tardiness: Some(vec![None, Some(ms(90)), Some(ms(0))]),
    }
}

fn read_back(text: &str) -> Result<Parameters, Vec<Diagnostic>> {
    let found = read(&Source::new("p.json", text), &set());
    found.map_err(|errors| errors.list().to_vec())
}

#[test]
fn every_parameter_comes_back_alone_and_together() {
    let set = set();
    let all = all(&set);
    assert_eq!(all.rows().count(), TABLE.len(), "one is missing here");
    assert_eq!(read_back(&to_file(&all, &set)), Ok(all.clone()));
    for row in &TABLE {
        let one = all.only(&[row.parameter]);
        let mut found =
            read_back(&to_file(&one, &set)).unwrap_or_else(|errors| panic!("{errors:?}"));
        if row.parameter == Parameter::DeadlineFactor {
            // Alone it stands for the virtual deadlines.
            found.virtual_deadlines = None;
        }
        assert_eq!(found, one, "{}", row.name);
    }
}

/// A step from a value to one inside it.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Position(usize),
}

fn paths(value: &Value, at: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    if !at.is_empty() {
        found.push(at.clone());
    }
    let inside: Vec<(Step, &Value)> = match value {
        Value::Object(map) => {
            let entries = map.iter();
            entries
                .map(|(key, value)| (Step::Key(key.clone()), value))
                .collect()
        }
        Value::Array(list) => {
            let items = list.iter().enumerate();
            items
                .map(|(position, value)| (Step::Position(position), value))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (step, value) in inside {
        at.push(step);
        paths(value, at, found);
        at.pop();
    }
}

/// What holds the value at the end of the path.
fn holder<'a>(root: &'a mut Value, path: &[Step]) -> &'a mut Value {
    let (_, before) = path.split_last().unwrap();
    before.iter().fold(root, |value, step| match step {
        Step::Key(key) => value.get_mut(key).unwrap(),
        Step::Position(position) => value.get_mut(position).unwrap(),
    })
}

/// The same with another value at the end of the path, or none, or under another name.
fn changed(root: &Value, path: &[Step], change: Option<Value>, rename: bool) -> Value {
    let mut root = root.clone();
    match (holder(&mut root, path), path.last().unwrap()) {
        (Value::Object(map), Step::Key(key)) => {
            let value = map.remove(key).unwrap();
            if rename {
                map.insert(format!("{key}x"), value);
            } else if let Some(value) = change {
                map.insert(key.clone(), value);
            }
        }
        (Value::Array(list), Step::Position(position)) => match change {
            Some(value) => list[*position] = value,
            None => drop(list.remove(*position)),
        },
        other => panic!("{other:?}"),
    }
    root
}

fn assert_refused(damaged: &Value, how: &str) {
    let text = format!("{damaged:#}");
    let errors = read_back(&text)
        .err()
        .unwrap_or_else(|| panic!("{how} is accepted: {text}"));
    for error in errors {
        assert!(error.line > 1 && error.column > 0, "{how}: {error:?}");
        assert!(!error.field.is_empty(), "{how}: {error:?}");
    }
}

/// Without these a file still is one.
fn may_be_missing(path: &[Step]) -> bool {
    let Some((Step::Key(part), inside)) = path.split_first() else {
        return false;
    };
    match (part.as_str(), inside) {
        // The whole part, tasks that have no CPU or bound, and slots.
        (_, []) | ("partition" | "tardiness", [_]) => true,
        ("tables", [_, Step::Key(_), Step::Position(_)]) => true,
        // A task of a frame: that each job has a place is for the engine to ask.
        ("frames", [_, _, Step::Key(_), Step::Position(_), Step::Position(_)]) => true,
        _ => false,
    }
}

#[test]
fn a_text_that_was_damaged_anywhere_is_refused_with_the_place() {
    let set = set();
    let whole: Value = serde_json::from_str(&to_file(&all(&set), &set)).unwrap();
    let mut found = Vec::new();
    paths(&whole, &mut Vec::new(), &mut found);
    let (mut types, mut removed, mut renamed) = (0, 0, 0);
    for path in found
        .iter()
        .filter(|path| path[0] != Step::Key("format".to_owned()))
    {
        for wrong in [
            json!(true),
            json!("nonsense"),
            json!(-1),
            json!([[]]),
            json!({ "x": 1 }),
        ] {
            assert_refused(
                &changed(&whole, path, Some(wrong), false),
                &format!("{path:?} changed"),
            );
            types += 1;
        }
        if !may_be_missing(path) {
            assert_refused(
                &changed(&whole, path, None, false),
                &format!("{path:?} removed"),
            );
            removed += 1;
        }
        if matches!(path.last(), Some(Step::Key(_))) {
            assert_refused(
                &changed(&whole, path, None, true),
                &format!("{path:?} renamed"),
            );
            renamed += 1;
        }
    }
    let counts = [types, removed, renamed];
    assert!(types > 400 && removed > 40 && renamed > 60, "{counts:?}");
}

/// The codes that a text has for it, and where the first of them stands.
fn said(text: &str) -> Vec<(Code, usize, usize)> {
    let errors = read_back(text).err().unwrap_or_default();
    errors
        .iter()
        .map(|found| (found.code, found.line, found.column))
        .collect()
}

#[test]
fn placements_are_on_cpus_that_there_are() {
    let of = |text: &str| said(&format!("{{\"partition\":\n{text}}}"));
    assert_eq!(of(r#"{ "a": 1, "c": 0 }"#), []);
    assert_eq!(of("{}"), []);
    assert_eq!(of(r#"{ "a": 2 }"#), [(codes::NO_SUCH_CPU, 2, 8)]);
    assert_eq!(of(r#"{ "a": 65536 }"#), [(codes::OUT_OF_RANGE, 2, 8)]);
    assert_eq!(of(r#"{ "a": 0.5 }"#), [(codes::OUT_OF_RANGE, 2, 8)]);
    assert_eq!(of(r#"{ "d": 1 }"#), [(codes::PARAMETER_UNKNOWN_TASK, 2, 3)]);
    assert_eq!(of("[0, 1]"), [(codes::WRONG_TYPE, 2, 1)]);
}

#[test]
fn slots_are_in_order_within_their_cycle() {
    let slots = |text: &str| {
        let empty = r#"{ "cycle": 0, "slots": [] }"#;
        said(&format!(
            "{{\"tables\": [{{ \"cycle\": 10, \"slots\": [\n{text}] }}, {empty}] }}"
        ))
    };
    let slot = |start: &str, length: &str, task: &str| {
        format!("{{ \"start\": {start}, \"length\": {length}, \"task\": \"{task}\" }}")
    };
    let first = slot("0", "4", "a");
    let with = |second: String| slots(&format!("{first},\n{second}"));
    assert_eq!(with(slot("4", "6", "b")), []);
    let part = codes::PARAMETER_PART;
    assert_eq!(with(slot("\"3.999999ms\"", "1", "b")), [(part, 3, 1)]);
    assert_eq!(with(slot("4", "\"6000001ns\"", "b")), [(part, 3, 1)]);
    assert_eq!(with(slot("4", "0", "b")), [(part, 3, 1)]);
    assert_eq!(
        with(slot("4", "1", "d")),
        [(codes::PARAMETER_UNKNOWN_TASK, 3, 36)]
    );
    assert_eq!(
        with("{ \"start\": 4, \"task\": \"b\" }".to_owned()),
        [(codes::MISSING_KEY, 3, 1)]
    );
    let one = r#"{ "tables": [{ "cycle": 10, "slots": [] }] }"#;
    assert_eq!(said(one), [(part, 1, 13)]);
}

#[test]
fn frames_have_a_place_for_every_task_and_barriers_belong_to_them() {
    let frame = |lo: &str, hi: &str| format!("{{ \"LO\": {lo},\n\"HI.1\": {hi} }}");
    let frames = |list: &[String]| {
        let list = list.join(",\n");
        said(&format!(
            "{{\"frames\": {{ \"length\": 10, \"frames\": [\n{list}] }} }}"
        ))
    };
    let part = codes::PARAMETER_PART;
    let fine = frame("[[\"b\"], []]", "[[], [\"a\"]]");
    assert_eq!(frames(&[fine.clone(), fine.clone()]), []);
    let moved = frame("[[], [\"b\"]]", "[[], []]");
    assert_eq!(frames(&[fine.clone(), moved]), [(part, 4, 15)]);
    for (lo, hi, line) in [
        ("[[\"a\"], []]", "[[], []]", 2),
        ("[[\"b\", \"b\"], []]", "[[], []]", 2),
        ("[[\"b\"], []]", "[[\"b\"], []]", 3),
        ("[[\"b\"]]", "[[], []]", 2),
        ("[[], [], []]", "[[], []]", 2),
    ] {
        let found = frames(&[frame(lo, hi)]);
        assert_eq!(found.len(), 1, "{lo} {hi}: {found:?}");
        assert_eq!((found[0].0, found[0].1), (part, line), "{lo} {hi}");
    }
    assert_eq!(frames(&[]), [(part, 1, 38)]);

    let barriers = |text: &str| said(&format!("{{\"barriers\": [\n{text}] }}"));
    assert_eq!(
        barriers(r#"{ "LO": { "LO": 3 }, "HI.1": { "LO": 1, "HI.1": 2 } }"#),
        []
    );
    let falls = r#"{ "LO": { "LO": 3 }, "HI.1": { "LO": 2, "HI.1": 1 } }"#;
    assert_eq!(barriers(falls), [(part, 2, 30)]);
    let above = r#"{ "LO": { "LO": 3, "HI.1": 4 }, "HI.1": { "LO": 2, "HI.1": 2 } }"#;
    assert_eq!(barriers(above), [(part, 2, 20)]);
    let few = r#"{ "LO": { "LO": 3 }, "HI.1": { "HI.1": 1 } }"#;
    assert_eq!(barriers(few), [(part, 2, 30)]);
    assert_eq!(barriers(""), [(part, 1, 14)]);
}

#[test]
fn servers_have_what_their_kind_has() {
    let servers = |app: &str, bottom: &str| {
        said(&format!(
            "{{\"servers\": {{ \"app\":\n{app}, \"bottom\":\n{bottom} }} }}"
        ))
    };
    let app = r#"{ "period": 10, "capacity": { "LO": 2, "HI.1": 4 }, "priority": 2 }"#;
    let bottom = r#"{ "utilization": { "LO": "1/100" }, "priority": 1 }"#;
    assert_eq!(servers(app, bottom), []);
    let part = codes::PARAMETER_PART;
    for (from, to, code) in [
        ("\"LO\": 2", "\"LO\": 5", part),
        ("\"HI.1\": 4", "\"HI.1\": 11", part),
        (", \"HI.1\": 4", "", part),
        ("\"LO\": 2", "\"LO\": 0", codes::NOT_POSITIVE),
        ("\"HI.1\"", "\"HI\"", codes::UNKNOWN_LEVEL),
        (
            "\"priority\": 2",
            "\"priority\": 4294967296",
            codes::OUT_OF_RANGE,
        ),
        ("\"period\": 10, ", "", codes::MISSING_KEY),
    ] {
        let damaged = app.replace(from, to);
        assert_ne!(damaged, app, "{from}");
        let found = servers(&damaged, bottom);
        assert!(
            found
                .iter()
                .any(|&(found, line, _)| found == code && line == 2),
            "{from} {to} {found:?}"
        );
    }
    for (from, to, code) in [
        ("\"LO\"", "\"HI.1\"", part),
        ("1/100", "3/2", codes::BAD_FRACTION),
        // Of the server with a period that a policy may put in its place.
        ("\"utilization\"", "\"capacity\"", codes::MISSING_KEY),
    ] {
        let found = servers(app, &bottom.replace(from, to));
        assert!(
            found
                .iter()
                .any(|&(found, line, _)| found == code && line == 3),
            "{from} {to} {found:?}"
        );
    }
    let missing = said(&format!("{{\"servers\": {{ \"app\": {app} }} }}"));
    assert_eq!(missing, [(part, 1, 13)]);
    let unknown = format!("{bottom}, \"top\": {bottom}");
    assert!(
        servers(app, &unknown)
            .iter()
            .any(|&(code, line, _)| code == codes::UNKNOWN_SERVER && line == 3)
    );
}
