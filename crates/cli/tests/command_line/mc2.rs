//! `mc2` on the command line: the paper's example, several CPUs, traces of several domains.

use crate::support::traces::{counts, figures, read};
use crate::support::{Done, Scratch, vestal};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const TABLE_1: [&str; 2] = [
    "examples/herman-table1.toml",
    "examples/parameters/herman-table1.json",
];
const TWO_CPUS: [&str; 2] = [
    "examples/mc2-two-cpus.toml",
    "examples/parameters/mc2-two-cpus.json",
];

fn simulate([file, parameters]: [&str; 2], more: &[&str]) -> Done {
    let head = [
        "simulate",
        file,
        "--policy",
        "mc2",
        "--parameters",
        parameters,
    ];
    vestal(&[&head, more].concat())
}

/// Who runs in each millisecond of a text chart of one CPU.
fn row(chart: &str) -> String {
    let lanes = chart.lines().filter(|line| line.starts_with('T'));
    let lanes: Vec<(char, &str)> = lanes
        .map(|line| {
            let (name, cells) = line.split_once(' ').unwrap();
            (
                name.chars().nth(1).unwrap(),
                cells.split_once(' ').unwrap().1.trim_start(),
            )
        })
        .collect();
    assert_eq!(lanes.len(), 7, "{chart}");
    let tick = |tick: usize| {
        let cells = 10 * tick..10 * tick + 10;
        let ran = lanes
            .iter()
            .filter(|(_, lane)| lane[cells.clone()] == *"##########");
        let ran: Vec<char> = ran.map(|(name, _)| *name).collect();
        let [one] = ran[..] else {
            panic!("in tick {tick} runs {ran:?}: {chart}")
        };
        one
    };
    (0..10).map(tick).collect()
}

/// Herman et al. 2012, Table 1, on one CPU, and Figure 2 as far as it follows. The table is what EDF makes of the
/// level-A budgets in a hyperperiod of 10, ties to the shorter period: T1 [0, 3) (due 5), T2 [3, 5), T1 [5, 8) (due 10
/// as T2 is, and T1 has the shorter period), T2 [8, 10); no slot is free. A job that needs less than its budget leaves
/// a ghost, beneath which lower levels run; tasks are numbered 1 to 7.
///
/// | tick | times of level A | B | C | D |
/// |---|---|---|---|---|
/// | 0 | 1 | 1 | 1 | 1 |
/// | 1 | 1 | 1 | 3: 1 is done, its slot is a ghost's; 3 is due before 4 | 3 |
/// | 2 | 1 | 3: beneath the ghost of 1 | 3 | 5: ghosts of 1 and of 3, which has a budget of 2 and is done; 5 is due first |
/// | 3, 4 | 2 | 2 | 2 | 2 |
/// | 5 | 1 | 1 | 1 | 1 |
/// | 6 | 1 | 1 | 4: beneath the ghost of 1; 3 is done with its whole budget | 4: the budget of 3 was used up by its ghost in tick 2 |
/// | 7 | 1 | 3: its second unit | 5: ghosts of 1 and of 4 | 5: the same |
/// | 8 | 2 | 4: beneath the ghost of 2; 3 is done | 5: ghost of 2; the budget of 4 is used up | 6: 5 is done with its whole budget |
/// | 9 | 2 | 4 | 6: 5 is done | 6 |
///
/// 7, of level D, gets nothing: some budget of level C is always there.
#[test]
fn all_rows_of_figure_2_come_out_of_the_command() {
    let rows = [
        ("A", "1112211122"),
        ("B", "1132211344"),
        ("C", "1332214556"),
        ("D", "1352214566"),
    ];
    let scratch = Scratch::new("mc2-rows");
    let path = scratch.0.join("x.txt");
    let found = scratch.0.join("found.json");
    let found = found.to_str().unwrap();
    let [file, given] = TABLE_1;
    let done = vestal(&["analyze", file, "--test", "mc2", "--emit", found]);
    assert_eq!(done.exit, 0, "{}{}", done.stdout, done.stderr);
    let read = |path: &str| -> Value {
        let path = crate::support::repository().join(path);
        let text = fs::read_to_string(path).unwrap();
        serde_json::from_str(&text.replace("\"0ns\"", "\"0ms\"")).unwrap()
    };
    assert_eq!(read(found)["tables"], read(given)["tables"]);
    let theta = "19.714286ms";
    assert_eq!(
        read(found)["tardiness"],
        json!({ "T5": theta, "T6": theta })
    );
    for (level, expected) in rows {
        let scenario = format!("level={level}");
        let more = [
            "--scenario",
            &scenario,
            "--for",
            "10ms",
            "--trace",
            path.to_str().unwrap(),
        ];
        // The same tables: written down by hand, found by the test beforehand, and found on the way.
        let alone = [&["simulate", file, "--policy", "mc2"], &more[..]].concat();
        let runs = [
            simulate(TABLE_1, &more),
            simulate([file, found], &more),
            vestal(&alone),
        ];
        for done in runs {
            assert_eq!(done.exit, 0, "{}", done.stderr);
            let chart = fs::read_to_string(&path).unwrap();
            assert_eq!(row(&chart), expected, "{level}");
        }
    }
}

/// In which milliseconds of a text chart there is a ghost, task by task.
fn ghosts(chart: &str) -> Vec<String> {
    let lanes = chart.lines().filter(|line| line.starts_with('T'));
    let of = |line: &str| -> String {
        let cells = line.split_once(' ').unwrap().1;
        let cells = cells.split_once(' ').unwrap().1.trim_start();
        let sign = |tick: usize| match cells.get(10 * tick..10 * tick + 10) {
            Some("oooooooooo") => 'o',
            _ => '.',
        };
        (0..10).map(sign).collect()
    };
    lanes.map(of).collect()
}

/// The boxes of Figure 2 without a filling, as far as they follow: see the table above.
#[test]
fn ghosts_of_figure_2_are_drawn_and_counted() {
    let none = "..........";
    let rows = [
        ("A", [none; 4]),
        ("B", ["..o....o..", "........oo", none, none]),
        ("C", [".oo...oo..", "........oo", none, ".......o.."]),
        (
            "D",
            [".oo...oo..", "........oo", "..o.......", ".......o.."],
        ),
    ];
    let scratch = Scratch::new("mc2-ghosts");
    let path = scratch.0.join("x.txt");
    for (level, expected) in rows {
        let scenario = format!("level={level}");
        let more = ["--scenario", &scenario, "--for", "10ms", "--format", "json"];
        let trace = ["--trace", path.to_str().unwrap()];
        let plain = simulate(TABLE_1, &more).json();
        let traced = simulate(TABLE_1, &[&more[..], &trace].concat()).json();
        let chart = fs::read_to_string(&path).unwrap();
        let found = ghosts(&chart);
        assert_eq!(found[..4], expected, "{level}: {chart}");
        assert!(found[4..].iter().all(|row| row == none));
        assert_eq!(chart.contains("o a ghost"), level != "A");
        // So much is counted, with a trace and without.
        let drawn = found.iter().take(6).map(|row| {
            let ticks = row.matches('o').count() as u64;
            Value::from(ticks * 1_000_000)
        });
        let drawn: Vec<Value> = drawn.chain([Value::Null]).collect();
        for result in [plain, traced] {
            let tasks = result["tasks"].as_array().unwrap().iter();
            let counted: Vec<Value> = tasks.clone().map(|task| task["ghost_ns"].clone()).collect();
            assert_eq!(counted, drawn, "{level}");
            let bounds: Vec<Option<u64>> = tasks
                .map(|task| task["tardiness_bound_ns"].as_u64())
                .collect();
            let theta = Some(19_714_286);
            assert_eq!(bounds, [None, None, None, None, theta, theta, None]);
        }
    }
}

/// Both tests, in words and as JSON, and what is not proved.
#[test]
fn the_test_is_asked_by_its_name() {
    let [file, _] = TABLE_1;
    let done = vestal(&["analyze", file, "--test", "mc2", "--test", "mc2:rms"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    for part in [
        "mc2: schedulable (sufficient",
        "mc2:rms: schedulable",
        "T5 19.714286ms",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let [two, _] = TWO_CPUS;
    let done = vestal(&["analyze", two, "--test", "mc2", "--format", "json"]);
    let result = &done.json()["results"][0];
    assert_eq!(
        (&result["verdict"], &result["kind"]),
        (&"schedulable".into(), &"sufficient".into())
    );
    let parameters = &result["parameters"];
    assert_eq!(
        parameters["partition"],
        json!({ "flight": 0, "engine": 1, "radar": 1 })
    );
    assert!(parameters["tardiness"]["video"].is_string());
    let scratch = Scratch::new("mc2-refused");
    let text = fs::read_to_string(crate::support::repository().join(two)).unwrap();
    let full = scratch.file("full.toml", &text.replace("D = 6, C = 9", "D = 6, C = 19"));
    let done = vestal(&["analyze", full.to_str().unwrap(), "--test", "mc2"]);
    assert_eq!(done.exit, 1, "{}", done.stderr);
    let why = "no bound on the tardiness of";
    assert!(done.stdout.contains(why), "{}", done.stdout);
}

#[test]
fn a_result_has_all_cpus_and_cpus_of_levels_a_and_b_only() {
    let more = ["--scenario", "level=C", "--for", "40ms", "--format", "json"];
    let done = simulate(TWO_CPUS, &more);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(
        !done.stderr.contains("nothing is guaranteed"),
        "{}",
        done.stderr
    );
    let result = done.json();
    assert_eq!(
        (&result["modes"], &result["proof"]["test"]),
        (&Value::Array(Vec::new()), &"mc2".into())
    );
    let homes = result["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["cpu"].as_u64());
    let homes: Vec<Option<u64>> = homes.collect();
    assert_eq!(homes, [Some(0), Some(1), Some(1), None, None, None]);
    let cpus = result["cpus"].as_array().unwrap();
    let busy: Vec<u64> = cpus
        .iter()
        .map(|cpu| cpu["busy_ns"].as_u64().unwrap())
        .collect();
    // 4 of flight, 4 each of engine and radar, 20 of map, 18 of video, 10 of log in 40 ms.
    assert_eq!(busy.len(), 2);
    assert_eq!(busy.iter().sum::<u64>(), 60_000_000);
    assert!(busy.iter().all(|&busy| busy > 0), "{busy:?}");
    // What is late is a miss and breaks no promise.
    let late = simulate(
        TABLE_1,
        &["--scenario", "level=A", "--for", "10ms", "--format", "json"],
    );
    assert_eq!(late.exit, 0);
    let jobs = &late.json()["jobs"];
    assert_eq!(
        (&jobs["missed"], &jobs["missed_guaranteed"]),
        (&4.into(), &0.into())
    );
}

/// A run in which a level-B job needs more than its budget, and level C is overloaded, so that there are misses and
/// overruns on both sides; in whichever formats.
pub(crate) fn recorded(scratch: &Scratch, names: &[&str]) -> (Value, Vec<PathBuf>) {
    let scenario = scratch.file(
        "late.csv",
        "kind,task,job,release,execution\ntask,radar,0,,12ms\ntask,video,0,,45ms\ntask,flight,1,,5ms\n",
    );
    let paths: Vec<PathBuf> = names.iter().map(|name| scratch.0.join(name)).collect();
    let mut more = vec![
        "--scenario",
        scenario.to_str().unwrap(),
        "--for",
        "80ms",
        "--format",
        "json",
    ];
    for path in &paths {
        more.extend(["--trace", path.to_str().unwrap()]);
    }
    let done = simulate(TWO_CPUS, &more);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    (done.json(), paths)
}

pub(crate) fn replay(path: &Path) -> Value {
    let done = vestal(&["replay", path.to_str().unwrap(), "--format", "json"]);
    let found = done.json();
    let expected = i32::from(found["equal"] == false);
    assert_eq!(done.exit, expected, "{}", done.stderr);
    found
}

#[test]
fn each_domain_of_a_recording_is_decided_again() {
    let scratch = Scratch::new("mc2-replay");
    let (result, paths) = recorded(&scratch, &["x.vtrace", "x.csv"]);
    for path in &paths {
        let found = replay(path);
        assert_eq!(found["equal"], true, "{found:#}");
        let levels = &found["levels"];
        assert_eq!(
            (&levels["broken"], &levels["first"]),
            (&0.into(), &Value::Null)
        );
        assert_eq!(levels["cpus"].as_array().unwrap().len(), 2, "{levels:#}");
        assert!(levels["spans"].as_u64().unwrap() > 0 && levels["budgets"].as_u64().unwrap() > 0);
        let domains = found["domains"].as_array().unwrap();
        let names: Vec<&str> = domains
            .iter()
            .map(|domain| domain["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["CPU 0", "CPU 1", "shared"]);
        let missed = |domain: &Value| domain["jobs"]["missed"].as_u64().unwrap();
        let missed: Vec<u64> = domains.iter().map(missed).collect();
        // The overrunning job of flight is late too, by the time until its next slot.
        assert!(missed.iter().all(|&missed| missed > 0), "{missed:?}");
        assert_eq!(found["jobs"], json_of(&result["jobs"], &found["jobs"]));
        let (header, records) = read(path);
        assert_eq!(counts(&header, &records), figures(&result));
    }
}

/// The values of `result` for the keys of `like`, but overruns, which a result has by task.
fn json_of(result: &Value, like: &Value) -> Value {
    let keys = like.as_object().unwrap().iter();
    let value = |(key, own): (&String, &Value)| {
        let value = if key == "overruns" { own } else { &result[key] };
        (key.clone(), value.clone())
    };
    Value::Object(keys.map(value).collect())
}

/// One line of a text trace is changed; the difference is found at that record, in its domain.
#[test]
fn what_was_changed_is_found_in_its_domain() {
    let scratch = Scratch::new("mc2-tampered");
    let (_, paths) = recorded(&scratch, &["x.csv"]);
    let text = fs::read_to_string(&paths[0]).unwrap();
    let mut domain = 0;
    let mut found = [0; 3];
    let lines: Vec<&str> = text.lines().collect();
    let first = lines
        .iter()
        .position(|line| line.starts_with("at_ns,"))
        .unwrap()
        + 1;
    for (place, line) in lines.iter().enumerate().skip(first) {
        if line.contains(",domain,") {
            domain = line.split(',').nth(5).unwrap().parse().unwrap();
            continue;
        }
        let Some((head, hash)) = line.split_once("hash=") else {
            continue;
        };
        // A few of each domain: a decision that was another one.
        if found[domain] == 4 || (place + domain) % 3 > 0 {
            continue;
        }
        let other = if hash.starts_with('0') { "1" } else { "0" };
        let mut changed = lines.clone();
        let tampered = format!("{head}hash={other}{}", &hash[1..]);
        changed[place] = &tampered;
        let path = scratch.file("changed.csv", &(changed.join("\n") + "\n"));
        let difference = &replay(&path)["difference"];
        assert_eq!(difference["number"], (place - first) as u64);
        assert_eq!(difference["domain"], ["CPU 0", "CPU 1", "shared"][domain]);
        found[domain] += 1;
    }
    assert_eq!(found, [4; 3]);
}

/// A publication that the shared domain did not get: its decisions are others from there on.
#[test]
fn a_publication_that_is_missing_is_found_in_the_shared_domain() {
    let scratch = Scratch::new("mc2-closed");
    let (_, paths) = recorded(&scratch, &["x.csv"]);
    let text = fs::read_to_string(&paths[0]).unwrap();
    let (before, after) = text.split_once(",cpu-closed,").unwrap();
    let path = scratch.file("changed.csv", &format!("{before},cpu-open,{after}"));
    let difference = &replay(&path)["difference"];
    assert_eq!(difference["domain"], "shared", "{difference:#}");
}

#[test]
fn what_cannot_be_done_says_why() {
    let [file, parameters] = TWO_CPUS;
    let run = vestal(&[
        "run",
        file,
        "--policy",
        "mc2",
        "--parameters",
        parameters,
        "--for",
        "10ms",
    ]);
    assert_eq!(run.exit, 2);
    assert!(
        run.stderr.contains("for simulations in this version"),
        "{}",
        run.stderr
    );
    let [file_of_one, table] = [
        "examples/mc2-one-cpu.toml",
        "examples/parameters/mc2-one-cpu.json",
    ];
    let run = ["run", file_of_one, "--policy", "mc2", "--parameters", table];
    for (option, why, help) in [
        (
            "--observe",
            "budgets of servers and tasks",
            "leave out --observe",
        ),
        (
            "--dispatch=native",
            "keep neither tables nor deadlines",
            "--dispatch managed can",
        ),
        (
            "--mechanism=huang2014",
            "the paper's mechanisms for fixed priorities",
            "leave out --mechanism",
        ),
        ("--cpus=0,1", "has 2 entries", "name one"),
    ] {
        let refused = vestal(&[&run[..], &["--for", "10ms", option]].concat());
        assert_eq!(refused.exit, 2, "{option}: {}", refused.stderr);
        for part in [why, help] {
            assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
        }
    }
    let native = simulate(TWO_CPUS, &["--dispatch", "native"]);
    assert_eq!(native.exit, 2);
    assert!(
        native.stderr.contains("keep neither tables nor deadlines"),
        "{}",
        native.stderr
    );
    let without = vestal(&["simulate", file, "--policy", "mc2", "--for", "10ms"]);
    assert_eq!(without.exit, 0, "{}", without.stderr);
    let option = simulate(TWO_CPUS, &["--set", "level-b=fifo"]);
    assert_eq!(option.exit, 2);
    assert!(
        option.stderr.contains("level-b=edf|rms"),
        "{}",
        option.stderr
    );
}

/// Level B by rates is proved by a test of its own, and another schedule: at 6 the job of the task with the longer period has the
/// earlier deadline.
#[test]
fn level_b_goes_by_deadlines_or_by_rates() {
    let scratch = Scratch::new("mc2-rates");
    let file = scratch.file(
        "b.toml",
        "format = \"vestal/1\"\nlevels = [\"C\", \"B\"]\nunit = \"ms\"\n\
         [[task]]\nname = \"T1\"\ncriticality = \"B\"\nperiod = 6\nwcet = { C = 2, B = 2 }\n\
         [[task]]\nname = \"T2\"\ncriticality = \"B\"\nperiod = 9\nwcet = { C = 5, B = 5 }\n",
    );
    let latest = |order: &str| {
        let option = format!("level-b={order}");
        let done = vestal(&[
            "simulate",
            file.to_str().unwrap(),
            "--policy",
            "mc2",
            "--set",
            &option,
            "--scenario",
            "level=B",
            "--for",
            "18ms",
            "--format",
            "json",
        ]);
        assert_eq!(done.exit, 0, "{}", done.stderr);
        let result = done.json();
        let max = |task: usize| {
            result["tasks"][task]["response_ns"]["max"]
                .as_u64()
                .unwrap()
        };
        (result["proof"]["test"].clone(), max(0), max(1))
    };
    // By rates T1 runs at 6 before the last of T2: 7 until 9, and the second job of T2 from 9 on.
    assert_eq!(latest("edf"), ("mc2".into(), 3_000_000, 7_000_000));
    assert_eq!(latest("rms"), ("mc2:rms".into(), 2_000_000, 9_000_000));
}

/// Without budgets the job of radar that runs away is not stopped when its budget is used up.
#[test]
fn budgets_hold_unless_they_are_ignored() {
    let scratch = Scratch::new("mc2-budgets");
    let scenario = scratch.file(
        "late.csv",
        "kind,task,job,release,execution\ntask,radar,0,,9ms\n",
    );
    let latest = |set: &[&str]| {
        let more = [
            "--scenario",
            scenario.to_str().unwrap(),
            "--for",
            "40ms",
            "--format",
            "json",
        ];
        let result = simulate(TWO_CPUS, &[&more, set].concat()).json();
        result["tasks"][2]["response_ns"]["max"].as_u64().unwrap()
    };
    // After 2 of engine: 5 of its first budget, and from 22 on, behind engine once more, 4 of the second.
    assert_eq!(latest(&[]), 26_000_000);
    assert_eq!(latest(&["--set", "budgets=ignored"]), 11_000_000);
}

/// Two tasks of the lowest of four levels, best effort under MC², never meet their deadlines.
const STARVED: &str = r#"
format = "vestal/1"
levels = [{LEVELS}]
[platform]
cpus = 2
[[task]]
name = "a"
criticality = "{HIGHEST}"
period = "10ms"
cpu = 0
wcet = { {ALL} }
[[task]]
name = "q"
criticality = "{LOWEST}"
period = "10ms"
wcet = { {LOWEST} = "9ms" }
[[task]]
name = "r"
criticality = "{LOWEST}"
period = "10ms"
wcet = { {LOWEST} = "9ms" }
"#;

fn starved(levels: [&str; 4]) -> String {
    let all = levels.map(|level| format!("{level} = \"9ms\""));
    STARVED
        .replace(
            "{LEVELS}",
            &levels.map(|level| format!("\"{level}\"")).join(", "),
        )
        .replace("{ALL}", &all.join(", "))
        .replace("{HIGHEST}", levels[3])
        .replace("{LOWEST}", levels[0])
}

#[test]
fn nobody_who_did_not_ask_for_best_effort_is_told_that_it_is_schedulable() {
    let scratch = Scratch::new("starved");
    let file = scratch.file("levels.toml", &starved(["QM", "L1", "L2", "L3"]));
    let file = file.to_str().unwrap();
    for more in [&[][..], &["--all"]] {
        let done = vestal(&[&["analyze", file][..], more].concat());
        assert_eq!(done.exit, 1, "{}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("not proved"), "{}", done.stdout);
    }
    let named = scratch.file("named.toml", &starved(["D", "C", "B", "A"]));
    for (file, more) in [
        (named.to_str().unwrap(), &[][..]),
        (file, &["--test", "mc2"]),
    ] {
        let done = vestal(&[&["analyze", file][..], more].concat());
        assert_eq!(done.exit, 0, "{}{}", done.stdout, done.stderr);
        let says = "Under mc2 nothing is promised to q, r.";
        assert!(done.stdout.contains(says), "{}", done.stdout);
    }
}
