//! `io-amc`: the figures of Missimer et al. (2016), what servers may execute in a window, and modes that jobs raise.

use crate::hsf::{drawn, row, simulated};
use crate::support::{Scratch, repository, vestal};
use std::fmt::Write as _;

const EVENTS: [&str; 2] = ["--scenario", "examples/missimer-figures-5-6.csv"];
const FIGURE_5: &str = "examples/missimer-figure-5.toml";
const FIGURE_6: &str = "examples/missimer-figure-6.toml";

fn example(file: &str) -> String {
    std::fs::read_to_string(repository().join(file)).unwrap()
}

/// As drawn in the paper: task1 goes on at 26, and has 6 of its 8 by its deadline, 32.
#[test]
fn figure_5_a_sporadic_server_postpones() {
    let (result, rows) = simulated("io-amc", FIGURE_5, 36, &EVENTS);
    assert_eq!(row(&rows, "task1"), drawn(&[(0, 8), (26, 34)], 36));
    let device = [(9, 10), (11, 12), (13, 14), (25, 26)];
    assert_eq!(row(&rows, "device"), drawn(&device, 36));
    let by_32 = row(&rows, "task1")[16..32].matches('#').count();
    assert_eq!(by_32, 6);
    // A job that blocks is promised nothing.
    let jobs = &result["jobs"];
    assert_eq!(
        (&jobs["missed"], &jobs["missed_guaranteed"]),
        (&1.into(), &0.into())
    );
}

/// As drawn in the paper: the PIBS gathers events, and task1 goes on at 16.
#[test]
fn figure_6_a_pibs_is_in_time() {
    let (result, rows) = simulated("io-amc", FIGURE_6, 36, &EVENTS);
    assert_eq!(
        row(&rows, "task1"),
        drawn(&[(0, 8), (16, 24), (32, 36)], 36)
    );
    assert_eq!(row(&rows, "device"), drawn(&[(9, 10), (13, 16)], 36));
    assert_eq!(result["jobs"]["missed"], 0);
}

/// A sporadic server in the place of the PIBS has 4 in 16, and a list that is long enough: nothing is postponed, each event is
/// served when it comes, and task1 goes on with the next budget of its server, at 16. By hand: 9, 11, 13 and 15, one unit
/// each.
#[test]
fn figure_6_with_a_sporadic_server_in_the_place_of_the_pibs() {
    let more = [&EVENTS[..], &["--set", "bottom-halves=sporadic"]].concat();
    let (result, rows) = simulated("io-amc", FIGURE_6, 36, &more);
    let device = [(9, 10), (11, 12), (13, 14), (15, 16)];
    assert_eq!(row(&rows, "device"), drawn(&device, 36));
    assert_eq!(
        row(&rows, "task1"),
        drawn(&[(0, 8), (16, 24), (32, 36)], 36)
    );
    assert_eq!(result["servers"][1]["postponed_ns"], 0);
    // One unit for each event instead of one burst of three: two more switches, with twice as many jobs of the PIBS' uses.
    assert_eq!(result["servers"][1]["replenishments"], 4);
}

/// Figure 5 with other rules for a full list. With `tail` the part just used joins the last one: at 14 there are (13, 1), (25,
/// 1), (29, 2), so that 15 finds one unit. With room for four: (25, 1), (27, 1), (29, 1), (31, 1) at 16. Both go on at 16.
#[test]
fn figure_5_with_other_lists_is_in_time() {
    let scratch = Scratch::new("io-amc-lists");
    let text = example(FIGURE_5);
    let (app, halves) = text.split_once("name           = \"bottom-half\"").unwrap();
    let tail = halves.replace(
        "replenishments = 3\n",
        "replenishments = 3\nfull = \"tail\"\n",
    );
    let longer = halves.replace("replenishments = 3", "replenishments = 4");
    for (name, halves) in [("tail.toml", tail), ("longer.toml", longer)] {
        let text = format!("{app}name           = \"bottom-half\"{halves}");
        let file = scratch.file(name, &text);
        let (_, rows) = simulated("io-amc", file.to_str().unwrap(), 64, &EVENTS);
        let device = [(9, 10), (11, 12), (13, 14), (15, 16)];
        assert_eq!(row(&rows, "device"), drawn(&device, 64), "{name}");
        let task1 = &row(&rows, "task1")[..32];
        assert_eq!(task1, drawn(&[(0, 8), (16, 24)], 32), "{name}");
    }
}

/// How long the lists of replenishments became, by hand. `app` has used up its 8 at once, so that there is never more than one
/// part: 1. The bottom half uses one unit at a time, each of which is a part of its own, back 16 later:
///
/// - figure 5, 3 places: at 12 [11: 2, 25: 1, 27: 1]; at 14 what is left joins the part of 25, [25: 2, 27: 1, 29: 1]. 3.
/// - 4 places: at 14 [13: 1, 25: 1, 27: 1, 29: 1], at 16 [25: 1, 27: 1, 29: 1, 31: 1]. 4, and no more with 32.
/// - 3 places and `tail`: at 14 the last two are one part, [13: 1, 25: 1, 29: 2]. 3.
/// - figure 6: a PIBS has one replenishment and no list. With a sporadic server in its place, of 4 in 16 as well: 4.
#[test]
fn figures_5_and_6_say_how_long_lists_became() {
    let scratch = Scratch::new("io-amc-longest");
    let text = example(FIGURE_5);
    let (app, halves) = text.split_once("name           = \"bottom-half\"").unwrap();
    let longest = |policy: &str, places: &str, full: &str| {
        let said = format!("replenishments = {places}\n{full}");
        let halves = halves.replace("replenishments = 3\n", &said);
        let text = format!("{app}name           = \"bottom-half\"{halves}");
        let file = scratch.file(&format!("{policy}-{places}.toml"), &text);
        let (result, _) = simulated(policy, file.to_str().unwrap(), 36, &EVENTS);
        ["app", "bottom-half"].map(|name| {
            let mut rows = result["servers"].as_array().unwrap().iter();
            rows.find(|row| row["name"] == name).unwrap()["longest_list"].clone()
        })
    };
    for policy in ["io-amc", "hsf"] {
        for (places, full, bottom_half) in [
            ("3", "", 3),
            ("4", "", 4),
            ("32", "", 4),
            ("3", "full = \"tail\"\n", 3),
        ] {
            let expected = [1, bottom_half].map(serde_json::Value::from);
            assert_eq!(
                longest(policy, places, full),
                expected,
                "{policy} {places} {full}"
            );
        }
    }
    let of_figure_6 = |more: &[&str]| {
        let (result, _) = simulated("io-amc", FIGURE_6, 36, &[&EVENTS[..], more].concat());
        let rows = result["servers"].as_array().unwrap().iter();
        rows.map(|row| row["longest_list"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of_figure_6(&[]), [1.into(), serde_json::Value::Null]);
    let sporadic = ["--set", "bottom-halves=sporadic"];
    assert_eq!(of_figure_6(&sporadic), [serde_json::json!(1), 4.into()]);
    // Recorded or not, for people or not; who has no list has no column.
    let table = |arguments: &[&str]| {
        let done = vestal(&[&["simulate"], arguments, &["--for", "36ms"]].concat());
        assert_eq!(done.exit, 0, "{}", done.stderr);
        let mut lines = done.stdout.lines().map(str::to_owned);
        let heading = lines.find(|line| line.starts_with("server ")).unwrap();
        let lines = lines.skip(1).take(2).collect::<Vec<_>>();
        (heading.ends_with("longest list"), lines)
    };
    let scenario = [&[FIGURE_6, "--policy", "io-amc"], &EVENTS[..]].concat();
    let (has_lists, lines) = table(&scenario);
    assert!(
        has_lists && lines[0].ends_with(" 1") && lines[1].ends_with(" -"),
        "{lines:?}"
    );
    assert!(!table(&["examples/hsf-figure-14.toml", "--policy", "hsf"]).0);
}

/// The set of figure 6 with a device that raises its events by itself as `rows` say, and nobody who waits.
fn device_alone(name: &str, server: &str, rows: &str, milliseconds: usize) -> String {
    let scratch = Scratch::new(name);
    let file = scratch.file("set.toml", &device_set(server));
    let rows = scratch.file("rows.csv", rows);
    let scenario = ["--scenario", rows.to_str().unwrap()];
    let (_, rows) = simulated("io-amc", file.to_str().unwrap(), milliseconds, &scenario);
    row(&rows, "device").to_owned()
}

/// Its file, with this server for bottom halves.
fn device_set(server: &str) -> String {
    let text = format!(
        "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n\
        [[task]]\nname = \"idle\"\ncriticality = \"LO\"\nperiod = 1000\noffset = 900\nwcet = {{ LO = 1 }}\n\
        [[server]]\nname = \"app\"\nkind = \"sporadic\"\nperiod = 16\ncapacity = 1\n\
        [[server]]\nname = \"bh\"\n{server}\n\
        [[device]]\nname = \"device\"\nserver = \"bh\"\ncost = 1\n"
    );
    text.replace("capacity = 1\n", "capacity = 1\ntasks = [\"idle\"]\n")
}

/// The most units of a row in any window of so many.
fn most_in(row: &str, window: usize) -> usize {
    let cells = row.as_bytes().windows(window);
    let busy = |cells: &[u8]| cells.iter().filter(|cell| **cell == b'#').count();
    cells.map(busy).max().unwrap()
}

/// U = 1/4 of 16: a burst of 3 of its 4 at 0 makes the next possible at 0 + 3 * 4 = 12, and that has all 4. (2 - U) U T = 7.
#[test]
fn a_pibs_that_nothing_preempts_reaches_its_bound_in_a_window_exactly() {
    let pibs = "kind = \"pibs\"\nutilization = 0.25\nserves = [\"app\"]";
    let row = device_alone(
        "io-amc-bound",
        pibs,
        "device,device,0ms,3\ndevice,device,12ms,40\n",
        64,
    );
    assert_eq!(row[..16], drawn(&[(0, 3), (12, 16)], 16));
    assert_eq!(most_in(&row, 16), 7);
}

/// The same PIBS, alone and below a server that takes the CPU from 1 to 15. By hand: its burst of 4 begins at 0 and goes on at 15, so that the next is
/// possible at 18, at once; that uses 2, and at 18 + 8 the third has 4 again. In the 16 from 15 on there are 3 + 2 + 4, where (2 - U) U T is 7.
#[test]
fn a_replay_says_how_much_a_pibs_executed_in_a_window_also_where_others_preempt_it() {
    let pibs = "kind = \"pibs\"\nutilization = 0.25\nserves = [\"app\"]";
    let alone = device_set(pibs);
    let urgent = "[[task]]\nname = \"urgent\"\ncriticality = \"LO\"\nperiod = 1000\noffset = 1\nwcet = { LO = 14 }\n\
        [[server]]\nname = \"urgent\"\nkind = \"sporadic\"\nperiod = 1000\ncapacity = 14\npriority = 2\ntasks = [\"urgent\"]\n";
    let below = alone.replace("period = 16\n", "period = 16\npriority = 1\n") + urgent;
    for (text, rows, executed, from) in [
        (&alone, "device,device,0ms,3\ndevice,device,12ms,40\n", 7, 0),
        (
            &below,
            "device,device,0ms,4\ndevice,device,18ms,2\ndevice,device,26ms,4\n",
            9,
            14,
        ),
    ] {
        let scratch = Scratch::new("io-amc-replayed-windows");
        let file = scratch.file("set.toml", text);
        let rows = scratch.file("rows.csv", rows);
        let trace = scratch.0.join("run.vtrace");
        let [file, rows, trace] = [&file, &rows, &trace].map(|path| path.to_str().unwrap());
        let simulate = ["simulate", file, "--policy", "io-amc", "--for", "64ms"];
        let more = ["--scenario", rows, "--trace", trace];
        assert_eq!(vestal(&[&simulate[..], &more].concat()).exit, 0);
        let replayed = vestal(&["replay", trace, "--format", "json"]);
        assert_eq!(replayed.exit, 0, "{}", replayed.stderr);
        let replayed = replayed.json();
        let mut windows = replayed["windows"].as_array().unwrap().iter();
        let found = windows.find(|row| row["server"] == "bh").unwrap();
        let millis = |key: &str| found[key].as_u64().unwrap() / 1_000_000;
        let found = ["window_ns", "executed_ns", "from_ns", "unpreempted_ns"].map(millis);
        assert_eq!(found, [16, executed, from, 7]);
        // A sporadic server has what nothing keeps from it.
        if let Some(urgent) = windows.find(|row| row["server"] == "urgent") {
            assert_eq!(urgent["executed_ns"], urgent["unpreempted_ns"]);
        }
        let said = vestal(&["replay", trace]).stdout;
        let line = format!("bh executed at most {executed}ms in any 16ms");
        assert!(said.contains(&line), "{said}");
    }
}

/// Random events, of many at once and few: what a sporadic server and a PIBS execute in any window of 16, if nothing
/// preempts them.
#[test]
fn in_any_window_servers_that_nothing_preempts_stay_within_their_bounds() {
    let mut state: u64 = 17;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut of_sporadic, mut of_pibs) = (0, 0);
    for round in 0..8 {
        let (mut rows, mut at) = (String::new(), 0);
        while at < 100 {
            writeln!(rows, "device,device,{at}ms,{}", 1 + random(6)).unwrap();
            at += 1 + random(14);
        }
        let list = 2 + random(5);
        let full = ["head", "tail"][usize::try_from(random(2)).unwrap()];
        let server = format!(
            "kind = \"sporadic\"\nperiod = 16\ncapacity = 4\nreplenishments = {list}\nfull = \"{full}\""
        );
        let row = device_alone(&format!("io-amc-windows-{round}"), &server, &rows, 100);
        of_sporadic = of_sporadic.max(most_in(&row, 16));
        let pibs = "kind = \"pibs\"\nutilization = 0.25\nserves = [\"app\"]";
        let row = device_alone(&format!("io-amc-bursts-{round}"), pibs, &rows, 100);
        of_pibs = of_pibs.max(most_in(&row, 16));
    }
    // Each is reached, so that neither is a bound of something else.
    assert_eq!(of_sporadic, 4);
    assert!(of_pibs > 4 && of_pibs <= 7, "{of_pibs}");
}

/// l (LO) T 10 C 2, h (HI) T 20 C 3/6, i (HI) T 40 C 5/10: by the level HI each job of h and i raises the mode, and what
/// io-amc-rtb proves is kept.
const MODES: &str = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n\
    [[task]]\nname = \"l\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\n\
    [[task]]\nname = \"h\"\ncriticality = \"HI\"\nperiod = 20\nwcet = { LO = 3, HI = 6 }\n\
    [[task]]\nname = \"i\"\ncriticality = \"HI\"\nperiod = 40\nwcet = { LO = 5, HI = 10 }\n";

/// By hand: 0: l to 2; h has executed 3 at 5 and raises the mode; l's job of 10 is not admitted. h is done at 8; i has 10 at once,
/// 8 to 18. Then no critical job is left, and the mode returns. 20: l, then h from 22 on, which raises it at 25 and is done at 28.
#[test]
fn a_job_raises_the_mode_and_low_jobs_are_dropped_until_it_returns() {
    let scratch = Scratch::new("io-amc-modes");
    let file = scratch.file("set.toml", MODES);
    let file = file.to_str().unwrap();
    let run = |more: &[&str]| {
        let arguments = [
            "simulate", file, "--policy", "io-amc", "--for", "40ms", "--format", "json",
        ];
        let done = vestal(&[&arguments[..], more].concat());
        assert_eq!(done.exit, 0, "{}", done.stderr);
        done
    };
    let done = run(&["--scenario", "level=HI"]).json();
    let changes = done["modes"].as_array().unwrap().iter();
    let changes: Vec<(u64, String)> = changes
        .map(|change| {
            let at = change["at_ns"].as_u64().unwrap() / 1_000_000;
            (at, change["to"].as_str().unwrap().to_owned())
        })
        .collect();
    let of = |text: &str| text.to_owned();
    assert_eq!(
        changes,
        [
            (5, of("HI")),
            (18, of("LO")),
            (25, of("HI")),
            (28, of("LO"))
        ]
    );
    assert_eq!(done["tasks"][0]["dropped"], 1);
    assert_eq!(done["proof"]["test"], "io-amc-rtb");
    assert_eq!(done["jobs"]["missed"], 0);
    // Nobody needs more than the low times: no mode, and nothing is dropped.
    let done = run(&[]).json();
    assert_eq!(done["modes"], serde_json::json!([]));
    assert_eq!(done["jobs"]["dropped"], 0);
}

#[test]
fn a_wait_that_is_longer_than_a_period_is_warned_of() {
    let scratch = Scratch::new("io-amc-long");
    let text = example(FIGURE_6).replace("events = 4", "events = 5");
    let file = scratch.file("set.toml", &text);
    let file = file.to_str().unwrap();
    let done = vestal(&["simulate", file, "--policy", "io-amc", "--for", "36ms"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(done.stderr.contains("V0419"), "{}", done.stderr);
    let done = vestal(&["analyze", file, "--test", "io-amc-rtb"]);
    assert!(done.stderr.contains("V0419"), "{}", done.stderr);
    let done = vestal(&["simulate", FIGURE_6, "--policy", "io-amc", "--for", "36ms"]);
    assert!(!done.stderr.contains("V0419"), "{}", done.stderr);
}

/// Each names its place, or what is expected, and how to mend it.
#[test]
fn what_servers_cannot_be_is_said_with_codes_and_help() {
    let scratch = Scratch::new("io-amc-refused");
    let text = example("examples/io-amc.toml");
    let file = scratch.file("set.toml", &text);
    let file = file.to_str().unwrap();
    let simulated = |more: &[&str]| {
        let policy = ["simulate", file, "--policy", "io-amc", "--for", "1s"];
        vestal(&[&policy[..], more].concat())
    };
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        std::fs::write(file, text.replacen(from, to, 1)).unwrap();
    };
    // A PIBS without a share and without a device.
    changed("utilization = { LO = 0.1 }", "utilization = { LO = 0 }");
    let none = std::fs::read_to_string(file).unwrap();
    let (before, after) = none.split_once("[[device]]").unwrap();
    let (_, sensor) = after.split_once("[[device]]").unwrap();
    std::fs::write(file, format!("{before}[[device]]{sensor}")).unwrap();
    let analysed = vestal(&["analyze", file, "--test", "io-amc-rtb"]);
    for done in [analysed, simulated(&[])] {
        assert_eq!(done.exit, 2);
        for part in ["V0413", "`camera`", "set.toml:", "help"] {
            assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
        }
    }
    changed(
        "capacity    = { LO = 5, HI = 10 }",
        "capacity    = { LO = 4, HI = 10 }",
    );
    let done = simulated(&[]);
    assert_eq!(done.exit, 2);
    for part in [
        "V0425",
        "`planner`",
        "5000000 ns",
        "4000000 ns",
        "`LO`",
        "help",
    ] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    // Parameters of PIBS, for sporadic servers.
    std::fs::write(file, &text).unwrap();
    let parameters = scratch.0.join("p.json");
    let parameters = parameters.to_str().unwrap();
    let done = vestal(&[
        "analyze",
        file,
        "--test",
        "io-amc-rtb",
        "--emit",
        parameters,
    ]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert_eq!(simulated(&["--parameters", parameters]).exit, 0);
    let done = simulated(&[
        "--parameters",
        parameters,
        "--set",
        "bottom-halves=sporadic",
    ]);
    assert_eq!(done.exit, 2);
    for part in [
        "`utilization` of `camera`",
        "`period` and `capacity`",
        "help",
        "bottom-halves",
    ] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
}

/// `check` asks what `simulate` does, and says the same.
#[test]
fn check_refuses_what_the_policy_would_refuse() {
    let scratch = Scratch::new("io-amc-check");
    let refused = example(FIGURE_5).replacen("\"sporadic\"", "\"deferrable\"", 1);
    let refused = refused.replacen("replenishments = 3\n", "", 1);
    let file = scratch.file("refused.toml", &refused);
    let file = file.to_str().unwrap();
    let policy = [file, "--policy", "io-amc"];
    let checked = vestal(&[&["check"], &policy[..]].concat());
    let simulated = vestal(&[&["simulate"], &policy[..], &["--for", "36ms"]].concat());
    assert_eq!((checked.exit, simulated.exit), (2, 2));
    assert_eq!(checked.stdout, "");
    // All but the last line, which says what could not be done.
    let found = |text: &str| {
        let (found, _) = text.split_once("error: failed to").unwrap();
        found.to_owned()
    };
    assert_eq!(found(&checked.stderr), found(&simulated.stderr));
    assert!(checked.stderr.contains("V0415"), "{}", checked.stderr);
    // Who has no such servers is the policy that was named, not its test; of a test that is named it is that.
    let of_policy = "`io-amc` has no others";
    assert!(checked.stderr.contains(of_policy), "{}", checked.stderr);
    let analyzed = vestal(&["analyze", file, "--test", "io-amc-rtb"]);
    let of_test = "`io-amc-rtb` has no others";
    assert!(analyzed.stderr.contains(of_test), "{}", analyzed.stderr);
    let json = vestal(&[&["--format", "json", "check"], &policy[..]].concat());
    let document = json.json();
    assert_eq!((json.exit, &document["valid"]), (2, &false.into()));
    assert_eq!(document["diagnostics"][0]["code"], "V0415");
    assert_eq!(document["set"], serde_json::Value::Null);
    // It is a task set, and others take it.
    for more in [&["check", file][..], &["check", file, "--policy", "hsf"]] {
        assert_eq!(vestal(more).exit, 0);
    }
    // What is warned of is warned of in both.
    let long = example(FIGURE_6).replace("events = 4", "events = 5");
    let long = scratch.file("long.toml", &long);
    let policy = [long.to_str().unwrap(), "--policy", "io-amc"];
    let checked = vestal(&[&["check"], &policy[..]].concat());
    assert_eq!(checked.exit, 0);
    assert!(checked.stderr.contains("V0419"), "{}", checked.stderr);
    let json = vestal(&[&["--format", "json", "check"], &policy[..]].concat());
    let document = json.json();
    assert_eq!(document["valid"], true);
    assert_eq!(document["diagnostics"][0]["code"], "V0419");
    // What only parameters can give is no fault of the file.
    let text = example("examples/mc2-two-cpus.toml");
    let sporadic = "criticality = \"A\"\narrival = \"sporadic\"\n";
    let sporadic = text.replacen("criticality = \"A\"\n", sporadic, 1);
    let sporadic = scratch.file("sporadic.toml", &sporadic);
    let mc2 = ["check", sporadic.to_str().unwrap(), "--policy", "mc2"];
    let mc2 = vestal(&mc2);
    assert_eq!(mc2.exit, 0, "{}", mc2.stderr);
    assert!(mc2.stderr.contains("dispatch table"), "{}", mc2.stderr);
    // Several CPUs are no less wrong for a policy of one; an order that no test finds is not the file's fault.
    let two = vestal(&["check", "examples/two-cpus.toml", "--policy", "amc"]);
    assert_eq!(two.exit, 2);
    assert!(two.stderr.contains("V0405"), "{}", two.stderr);
    let late = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n[[task]]\nname = \"a\"\n\
                criticality = \"HI\"\nperiod = 10\nwcet = { LO = 6, HI = 9 }\n[[task]]\nname = \"b\"\n\
                criticality = \"HI\"\nperiod = 10\nwcet = { LO = 6, HI = 9 }\n";
    let late = scratch.file("late.toml", late);
    let late = vestal(&["check", late.to_str().unwrap(), "--policy", "ftts"]);
    assert_eq!(late.exit, 0, "{}", late.stderr);
    assert!(
        late.stderr.contains("there is no frame table"),
        "{}",
        late.stderr
    );
}

/// Tests of tasks alone answer as if there were no servers, and say so; tests of servers do not.
#[test]
fn analyze_says_which_tests_ignore_the_servers() {
    let note = |arguments: &[&str]| {
        let done = vestal(&[&["analyze"], arguments].concat());
        assert!(done.exit < 2, "{}", done.stderr);
        let mut lines = done.stderr.lines().map(str::to_owned);
        let found = lines.find(|line| line.contains("are ignored by"));
        assert!(lines.all(|line| !line.contains("are ignored by")));
        found
    };
    let all = note(&["examples/io-amc.toml"]).unwrap();
    let (what, tests) = all.split_once(" of the file are ignored by ").unwrap();
    assert_eq!(what, "note: the servers and devices");
    let tests: Vec<&str> = tests.split(", ").collect();
    for test in ["rms", "smc", "amc-rtb", "edf-vd"] {
        assert!(tests.contains(&test), "{all}");
    }
    for test in ["hsf", "ss-rta", "ss-pibs-rta", "io-amc-rtb"] {
        assert!(!tests.contains(&test), "{all}");
    }
    assert_eq!(
        note(&[
            "examples/hsf-figure-14.toml",
            "--test",
            "smc",
            "--test",
            "hsf"
        ])
        .unwrap(),
        "note: the servers of the file are ignored by smc"
    );
    assert_eq!(
        note(&["examples/io-amc.toml", "--test", "io-amc-rtb"]),
        None
    );
    assert_eq!(note(&["examples/fms.toml"]), None);
}

/// An upper bound claims nothing that could be refuted, and neither it nor a necessary test that passes proves anything.
#[test]
fn upper_bounds_are_told_apart_from_what_is_refuted() {
    let said = |arguments: &[&str]| {
        let done = vestal(&[&["analyze"], arguments].concat());
        assert_eq!(done.exit, 1, "{}", done.stderr);
        let lines = done.stdout.lines().map(str::to_owned);
        let (verdict, worth) = (lines.clone().next().unwrap(), lines.clone().nth(1).unwrap());
        assert!(!done.stdout.contains("is schedulable"), "{}", done.stdout);
        let (verdict, _) = verdict.split_once(", took").unwrap();
        (verdict.to_owned(), worth)
    };
    let of = |verdict: &str, worth: &str| (verdict.to_owned(), worth.to_owned());
    let accepts = "  as an upper bound it accepts the set, which proves nothing";
    assert_eq!(
        said(&["examples/io-amc.toml", "--test", "io-amc-ub"]),
        of("io-amc-ub: not-proven (unsafe test", accepts)
    );
    let scratch = Scratch::new("io-amc-worth");
    let overloaded = MODES.replace("HI = 10 }", "HI = 30 }");
    let file = scratch.file("overloaded.toml", &overloaded);
    let file = file.to_str().unwrap();
    let (verdict, worth) = said(&[file, "--test", "io-amc-ub"]);
    assert_eq!(verdict, "io-amc-ub: not-proven (unsafe test");
    assert_eq!(
        worth,
        "  as an upper bound it does not accept the set, which shows nothing either"
    );
    // A necessary one refutes it. That is a refutation, and has its reason.
    let (verdict, worth) = said(&[file, "--test", "amc-ub"]);
    assert_eq!(verdict, "amc-ub: unschedulable (necessary test");
    assert!(worth.starts_with("  why: "), "{worth}");
    let passes = "  it passes, as every set has to that can be proved; that alone proves nothing";
    assert_eq!(
        said(&["examples/huang-three-tasks.toml", "--test", "amc-ub"]),
        of("amc-ub: not-proven (necessary test", passes)
    );
    let (_, refuted) = said(&["examples/huang-four-tasks.toml", "--test", "fjp-ija"]);
    assert!(refuted.contains("this test is refuted"), "{refuted}");
}

/// Where a test proves the set, by its bounds; else nothing is guaranteed. Given parameters are no less.
#[test]
fn simulations_judge_bursts_by_the_bounds_of_the_proof() {
    let scratch = Scratch::new("io-amc-bursts");
    let parameters = scratch.0.join("p.json");
    let parameters = parameters.to_str().unwrap();
    let file = "examples/io-amc.toml";
    let emit = [
        "analyze",
        file,
        "--test",
        "io-amc-rtb",
        "--emit",
        parameters,
    ];
    assert_eq!(vestal(&emit).exit, 0);
    let bursts = |file: &str, more: &[&str]| {
        let given = ["simulate", file, "--policy", "io-amc", "--format", "json"];
        let done = vestal(&[&given[..], more].concat());
        (done.exit, done.json()["bursts"].clone())
    };
    let hi = ["--scenario", "hi", "--for", "1s"];
    let (exit, found) = bursts(file, &hi);
    let [kept, broken] = ["kept", "broken"].map(|key| found[key].as_u64().unwrap());
    assert!(exit == 0 && kept > 100 && broken == 0, "{exit} {found}");
    let given = [&hi[..], &["--parameters", parameters]].concat();
    assert_eq!(bursts(file, &given), (0, found));
    let said = vestal(&[&["simulate", file, "--policy", "io-amc"], &hi[..]].concat());
    let words = "no burst of a PIBS took longer than guaranteed";
    assert!(said.stdout.contains(words), "{}", said.stdout);
    // There is no proof.
    let (exit, found) = bursts(FIGURE_6, &[&EVENTS[..], &["--for", "36ms"]].concat());
    let expected = serde_json::json!({ "kept": 0, "broken": 0, "not_guaranteed": 2 });
    assert_eq!((exit, found), (0, expected));
    // Who has no PIBS has no bursts.
    let (_, found) = bursts(FIGURE_5, &[&EVENTS[..], &["--for", "36ms"]].concat());
    let none = serde_json::json!({ "kept": 0, "broken": 0, "not_guaranteed": 0 });
    assert_eq!(found, none);
}
