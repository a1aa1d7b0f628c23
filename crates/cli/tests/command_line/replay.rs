//! `replay`: what is recorded is decided again, what was changed is found, what is broken is named.

use crate::support::traces::read;
use crate::support::{Done, Scratch, vestal};
use crate::traces::{OVERLOAD, WORLDS, has_an_order, simulate};
use crate::{FMS, THREE};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use vestal_testkit::Random;

fn replay(path: &Path, arguments: &[&str]) -> Done {
    vestal(&[&["replay", path.to_str().unwrap()], arguments].concat())
}

/// A trace of the overload under `amc`: misses, drops, overruns, mode changes.
fn overload(scratch: &Scratch, dispatch: &str, name: &str) -> std::path::PathBuf {
    let set = scratch.file("overload.toml", OVERLOAD);
    let path = scratch.0.join(name);
    let done = simulate(
        set.to_str().unwrap(),
        ("amc", dispatch),
        &[
            "--for",
            "400ms",
            "--scenario",
            "overrun=0.4",
            "--trace",
            path.to_str().unwrap(),
        ],
    );
    assert!(done.exit <= 1, "{}", done.stderr);
    path
}

#[test]
fn every_simulated_world_replays_clean_with_the_figures_of_its_result() {
    let scratch = Scratch::new("clean");
    let set = scratch.file("overload.toml", OVERLOAD);
    for world in WORLDS {
        for (file, scenario) in [
            (FMS, "overrun=0.5"),
            (THREE, "hi"),
            (set.to_str().unwrap(), "hi"),
        ] {
            if !has_an_order(world, file) {
                continue;
            }
            for (set, name) in [("background", "x.vtrace"), ("abort", "x.csv")] {
                let path = scratch.0.join(name);
                let set = format!("exhaustion={set}");
                let done = simulate(
                    file,
                    world,
                    &[
                        "--for",
                        "2s",
                        "--scenario",
                        scenario,
                        "--set",
                        &set,
                        "--format",
                        "json",
                        "--trace",
                        path.to_str().unwrap(),
                    ],
                );
                assert!(done.exit <= 1, "{world:?} {file}: {}", done.stderr);
                let result = done.json();
                let done = replay(&path, &["--format", "json"]);
                let found = done.json();
                assert_eq!(done.exit, 0, "{world:?} {file} {set}: {found:#}");
                assert_eq!(found["equal"], true);
                assert_eq!(found["records"], read(&path).1.len() as u64);
                assert_eq!(
                    (&found["policy"], &found["dispatch"]),
                    (&world.0.into(), &world.1.into())
                );
                for key in [
                    "released",
                    "completed",
                    "dropped",
                    "missed",
                    "missed_guaranteed",
                ] {
                    assert_eq!(
                        found["jobs"][key], result["jobs"][key],
                        "{world:?} {file} {key}"
                    );
                }
                assert_eq!(
                    found["modes"],
                    result["modes"].as_array().unwrap().len() as u64
                );
                if world.1 == "managed" {
                    assert!(found["decisions"].as_u64() > Some(50), "{found:#}");
                } else {
                    assert!(
                        found["permits"].as_u64() > Some(0) || found["modes"] == 0,
                        "{found:#}"
                    );
                }
            }
        }
    }
}

#[test]
fn another_task_set_is_compared_and_its_first_difference_shown() {
    let scratch = Scratch::new("other");
    let path = scratch.0.join("x.vtrace");
    let arguments = [
        "--for",
        "60ms",
        "--scenario",
        "hi",
        "--trace",
        path.to_str().unwrap(),
    ];
    assert_eq!(simulate(THREE, ("amc", "managed"), &arguments).exit, 0);
    let text = fs::read_to_string(crate::support::repository().join(THREE)).unwrap();
    let same = scratch.file("same.toml", &text);
    let done = replay(&path, &[same.to_str().unwrap()]);
    assert_eq!(done.exit, 0, "{}{}", done.stdout, done.stderr);
    // tau2 may execute 2 ms in mode LO instead of 1 ms.
    let other = scratch.file(
        "other.toml",
        &text.replacen("LO = 1, HI = 5", "LO = 2, HI = 5", 1),
    );
    let done = replay(&path, &[other.to_str().unwrap()]);
    assert_eq!(done.exit, 1, "{}{}", done.stdout, done.stderr);
    for part in [
        "tau2: wcet = { LO = \"2ms\", HI = \"5ms\" }, in the trace wcet = { LO = \"1ms\", HI = \"5ms\" }",
        "at_ns,kind,cpu,task,job,value,detail",
        "the replay gives instead: ",
        "The replay differs at record ",
    ] {
        assert!(done.stdout.contains(part), "{part}:\n{}", done.stdout);
    }
    let document = replay(&path, &[other.to_str().unwrap(), "--format", "json"]).json();
    assert_eq!(document["equal"], false);
    assert_eq!(document["task_set"].as_array().unwrap().len(), 1);
    let difference = &document["difference"];
    let number = difference["number"].as_u64().unwrap();
    let (_, records) = read(&path);
    let line = |number: u64| records[number as usize].to_string();
    assert_eq!(difference["recorded"], line(number));
    assert_eq!(
        difference["before"].as_array().unwrap().last().unwrap(),
        &line(number - 1)
    );
    assert_eq!(difference["after"][0], line(number + 1));
    let stranger = replay(&path, &[FMS]);
    assert_eq!(stranger.exit, 2);
    assert!(
        stranger.stderr.contains("tau1, tau2, tau3"),
        "{}",
        stranger.stderr
    );
}

#[test]
fn files_that_are_no_whole_trace_are_named_with_their_code() {
    let scratch = Scratch::new("broken");
    let path = overload(&scratch, "managed", "x.vtrace");
    let csv = overload(&scratch, "managed", "x.csv");
    let bytes = fs::read(&path).unwrap();
    let text = fs::read_to_string(&csv).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    let joined = [&bytes[..], &bytes[..]].concat();
    let without = |line: &str| text.replacen(line, "", 1);
    let policy = text.replacen("# policy\tamc", "# policy\tnobody", 1);
    let deadline = text.replacen("\t10000000\t10000000", "\t10000000\t9000000", 1);
    // A domain that the policy does not have, one that the trace cannot have, and the word for one without a name.
    let tasks = text.lines().filter(|line| line.starts_with("# task\t"));
    let tasks: Vec<String> = (0..tasks.count()).map(|task| task.to_string()).collect();
    let domain = |cpu: u8| {
        let line = format!("# domain\tleft\t0\t{cpu}\t{}\n# ordered\t", tasks.join(","));
        text.replacen("# ordered\t", &line, 1).into_bytes()
    };
    let word = text.replacen(",detail\n", ",detail\n0,domain,,,,1,\n", 1);
    let cases: [(&str, Vec<u8>, &str); 14] = [
        ("cut.vtrace", bytes[..bytes.len() - 9].to_vec(), "V0802"),
        ("flipped.vtrace", flipped, "V0803"),
        ("joined.vtrace", joined, "V0810"),
        ("foreign.vtrace", text.clone().into_bytes(), "V0801"),
        ("empty.vtrace", Vec::new(), "V0801"),
        ("foreign.csv", b"a,b\n1,2\n".to_vec(), "V0801"),
        (
            "cut.csv",
            text.as_bytes()[..text.len() - 20].to_vec(),
            "V08",
        ),
        ("header.csv", without("# seed\t1\n").into_bytes(), "V0805"),
        ("tasks.csv", deadline.into_bytes(), "V0805"),
        (
            "line.csv",
            text.replacen(",release,", ",relase,", 1).into_bytes(),
            "V0807",
        ),
        ("policy.csv", policy.into_bytes(), "nobody"),
        (
            "domain.csv",
            domain(0),
            "V0805: its domains are not those of its policy",
        ),
        ("cpu.csv", domain(1), "CPU 1 is none of 1"),
        ("word.csv", word.into_bytes(), "V0807"),
    ];
    for (name, bytes, code) in cases {
        let path = scratch.0.join(name);
        fs::write(&path, bytes).unwrap();
        let done = replay(&path, &[]);
        assert_eq!(done.exit, 2, "{name}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains(code), "{name}: {}", done.stderr);
        assert!(done.stderr.contains("help: "), "{name}: {}", done.stderr);
    }
    for (path, code) in [
        ("no/such.vtrace", "V0800"),
        (FMS, "V0811"),
        ("x.svg", "V0811"),
    ] {
        let done = replay(Path::new(path), &[]);
        assert_eq!(done.exit, 2, "{path}");
        assert!(done.stderr.contains(code), "{path}: {}", done.stderr);
    }
    for number in 800..=812 {
        let done = vestal(&["explain", &format!("V0{number}")]);
        assert_eq!(done.exit, 0, "{number}");
    }
}

#[test]
fn whatever_is_done_to_a_trace_the_answer_is_an_exit_code_of_the_interface() {
    let scratch = Scratch::new("mutated");
    let mut random = Random::new(7);
    let mut exits = BTreeSet::new();
    for (dispatch, name) in [
        ("managed", "x.vtrace"),
        ("managed", "x.csv"),
        ("native", "y.csv"),
    ] {
        let whole = fs::read(overload(&scratch, dispatch, name)).unwrap();
        for round in 0..60 {
            let mut bytes = whole.clone();
            for _ in 0..=random.index(3) {
                let index = random.index(bytes.len());
                let end = (index + random.index(60)).min(bytes.len());
                match random.index(5) {
                    0 => bytes[index] = u8::try_from(random.index(256)).unwrap(),
                    // Another digit keeps a line of text well formed.
                    1 => bytes[index] = b'0' + u8::try_from(random.index(10)).unwrap(),
                    2 => drop(bytes.drain(index..end)),
                    3 => {
                        let part = bytes[index..end].to_vec();
                        let at = random.index(bytes.len());
                        drop(bytes.splice(at..at, part));
                    }
                    _ => bytes.truncate(index.max(1)),
                }
            }
            let path = scratch.0.join(format!("m-{name}"));
            fs::write(&path, &bytes).unwrap();
            let done = replay(&path, &[]);
            assert!(
                (0..=2).contains(&done.exit),
                "{name} {round}: {}",
                done.stderr
            );
            assert!(
                !done.stderr.contains("panicked"),
                "{name} {round}: {}",
                done.stderr
            );
            exits.insert(done.exit);
        }
    }
    assert!(exits.contains(&1) && exits.contains(&2), "{exits:?}");
}

const CHANGES: [&str; 5] = ["dropped", "duplicated", "swapped", "job changed", "moved"];

/// The lines of records with one change at `index`; none where it makes no sense.
fn tampered(lines: &[&str], index: usize, change: &str) -> Option<Vec<String>> {
    let mut lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    let cells: Vec<String> = lines[index].split(',').map(str::to_owned).collect();
    let at = |line: &String| line.split(',').next().unwrap().parse::<u64>().unwrap();
    let with = |cell: usize, value: String| {
        let mut cells = cells.clone();
        cells[cell] = value;
        cells.join(",")
    };
    match change {
        "dropped" => drop(lines.remove(index)),
        "duplicated" => lines.insert(index, lines[index].clone()),
        "swapped" => {
            if lines.get(index + 1)? == &lines[index] {
                return None;
            }
            lines.swap(index, index + 1);
        }
        "job changed" => {
            let job: u64 = cells[4].parse().ok()?;
            lines[index] = with(4, (job + 1).to_string());
        }
        _ => {
            let now = at(&lines[index]);
            let later = lines[index..].iter().map(at).find(|&other| other > now)?;
            lines[index] = with(0, (later + 1).to_string());
        }
    }
    Some(lines)
}

/// Changes that a replay need not find, and why they do no harm. All others have to be found, at every
/// index that is tried.
const HARMLESS: [(&str, &str, &str); 14] = [
    (
        "charge",
        "swapped",
        "C3: the order of facts of one instant means nothing",
    ),
    (
        "complete",
        "swapped",
        "C3, or the world's own records of one instant",
    ),
    ("release", "swapped", "C3"),
    (
        "release",
        "job changed",
        "nothing else names the job, or the guard asks for the highest number only",
    ),
    (
        "drop",
        "swapped",
        "a world may take a notice earlier or later",
    ),
    (
        "mode",
        "swapped",
        "a world may take a notice earlier or later",
    ),
    (
        "overrun",
        "swapped",
        "a world may take a notice earlier or later",
    ),
    ("miss", "swapped", "the order in time is the same"),
    ("seen-release", "swapped", "the order in time is the same"),
    ("seen-complete", "swapped", "the order in time is the same"),
    ("seen-stop", "swapped", "the order in time is the same"),
    ("seen-start", "swapped", "the order in time is the same"),
    ("dropped", "swapped", "the order in time is the same"),
    (
        "dropped",
        "dropped",
        "the job looks unfinished: what a world drops by itself is not decided again",
    ),
];

/// One record of each kind, in the middle of a trace where there are several.
fn one_of_each<'a>(lines: &[&'a str]) -> BTreeMap<&'a str, usize> {
    let mut indices: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, line) in lines.iter().enumerate() {
        let kind = line.split(',').nth(1).unwrap();
        indices.entry(kind).or_default().push(index);
    }
    indices
        .into_iter()
        .map(|(kind, indices)| (kind, indices[indices.len() / 2]))
        .collect()
}

#[test]
fn a_change_to_a_record_of_any_kind_is_found_or_listed_as_harmless() {
    let scratch = Scratch::new("tampered");
    let mut tried = BTreeSet::new();
    for (dispatch, name) in [("managed", "x.csv"), ("native", "y.csv")] {
        let text = fs::read_to_string(overload(&scratch, dispatch, name)).unwrap();
        let (head, rest) = text.split_once("at_ns,").unwrap();
        let (columns, rest) = rest.split_once('\n').unwrap();
        let (body, _) = rest.split_once("# records ").unwrap();
        let lines: Vec<&str> = body.lines().collect();
        for (kind, index) in one_of_each(&lines) {
            for change in CHANGES {
                let Some(changed) = tampered(&lines, index, change) else {
                    continue;
                };
                let path = scratch.0.join(format!("t-{name}"));
                let count = changed.len();
                let body = changed.join("\n");
                let text = format!("{head}at_ns,{columns}\n{body}\n# records {count}\n");
                fs::write(&path, text).unwrap();
                let done = replay(&path, &[]);
                let known = HARMLESS
                    .iter()
                    .any(|entry| (entry.0, entry.1) == (kind, change));
                assert!(
                    done.exit == 1 || (known && done.exit == 0),
                    "{dispatch}, {kind} at {index} {change}: {} {}\n{}{}",
                    done.exit,
                    lines[index],
                    done.stdout,
                    done.stderr
                );
                tried.insert(kind.to_owned());
            }
        }
    }
    for kind in [
        "charge",
        "complete",
        "decide",
        "drop",
        "dropped",
        "end",
        "idle",
        "miss",
        "mode",
        "overrun",
        "permit",
        "release",
        "seen-complete",
        "seen-release",
        "seen-start",
        "seen-stop",
        "slot",
        "start",
        "stop",
    ] {
        assert!(tried.contains(kind), "{kind} is not among {tried:?}");
    }
}

/// More than the CPU can do: jobs wait behind late ones that use up their limits, and no release is reported
/// after a later one of the same task.
#[test]
fn simulated_native_runs_in_overload_replay_clean_under_every_policy_that_has_them() {
    let scratch = Scratch::new("native-overload");
    let task = |name: &str, level: &str, period: u64, wcet: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\ncriticality = \"{level}\"\nperiod = {period}\nwcet = {wcet}\n"
        )
    };
    let text = format!(
        "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n{}{}{}",
        task("a", "LO", 10, "{ LO = 6 }"),
        task("b", "HI", 12, "{ LO = 6, HI = 11 }"),
        task("c", "HI", 15, "{ LO = 4, HI = 7 }"),
    );
    let set = scratch.file("set.toml", &text);
    let trace = scratch.0.join("t.csv");
    let trace = trace.to_str().unwrap();
    for policy in ["rms", "dms", "cms", "smc", "pt", "amc", "zss"] {
        let set = set.to_str().unwrap();
        let how = [
            "--for",
            "2s",
            "--scenario",
            "overrun=0.5",
            "--dispatch",
            "native",
        ];
        let simulate = ["simulate", set, "--policy", policy, "--trace", trace];
        let done = vestal(&[&simulate[..], &how].concat());
        assert_eq!(done.exit, 0, "{policy}: {}", done.stderr);
        let replay = vestal(&["replay", trace]);
        assert_eq!(replay.exit, 0, "{policy}: {}", replay.stdout);
    }
}

/// Rule S1: of each sporadic server, and of no PIBS; the mode rises and returns meanwhile.
#[test]
fn lists_of_sporadic_servers_sum_up_to_their_budgets() {
    let scratch = Scratch::new("replayed-lists");
    let trace = scratch.0.join("run.vtrace");
    let trace = trace.to_str().unwrap();
    let words = "simulate examples/io-amc.toml --policy io-amc --for 230ms --scenario hi --trace";
    let words: Vec<&str> = words.split(' ').chain([trace]).collect();
    let done = vestal(&words);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let replayed = vestal(&["replay", trace, "--format", "json"]).json();
    assert!(replayed["modes"].as_u64() > Some(2), "{replayed}");
    let rows = replayed["lists"].as_array().unwrap();
    let names: Vec<&Value> = rows.iter().map(|row| &row["server"]).collect();
    assert_eq!(names, ["video", "control", "planner"]);
    for row in rows {
        assert_eq!(row["listed_ns"], row["capacity_ns"], "{row}");
        assert!(row["longest"].as_u64() > Some(0), "{row}");
    }
    let said = vestal(&["replay", trace]).stdout;
    let said_of =
        "lists of sporadic servers, as replayed, summed up to their budgets after each decision";
    assert!(said.contains(said_of), "{said}");
}
