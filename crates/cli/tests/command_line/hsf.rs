//! `hsf`: servers, devices, I/O and requests for modes, as files say them.

use crate::support::{Done, Scratch, repository, vestal};

const FIGURE_14: &str = "examples/hsf-figure-14.toml";

/// A row of a chart with one column for a millisecond, in which each of `intervals` was executed.
pub(crate) fn drawn(intervals: &[(usize, usize)], columns: usize) -> String {
    let mut row = vec![b'.'; columns];
    for &(from, to) in intervals {
        row[from..to].fill(b'#');
    }
    String::from_utf8(row).unwrap()
}

/// Simulates a file under a policy for so many milliseconds: what it printed as JSON, and what each task executed, by
/// name, from the chart. The complete trace of the run replays clean.
pub(crate) fn simulated(
    policy: &str,
    file: &str,
    milliseconds: usize,
    more: &[&str],
) -> (serde_json::Value, Vec<(String, String)>) {
    let scratch = Scratch::new(&format!("{policy}-{}", file.replace('/', "-")));
    let chart = scratch.0.join("chart.txt");
    let trace = scratch.0.join("trace.vtrace");
    let (chart, trace) = (chart.to_str().unwrap(), trace.to_str().unwrap());
    let duration = format!("{milliseconds}ms");
    let arguments = [
        "simulate", file, "--policy", policy, "--for", &duration, "--format", "json",
    ];
    let traces = ["--trace", chart, "--trace", trace];
    let done = vestal(&[&arguments[..], &traces, more].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let text = std::fs::read_to_string(chart).unwrap();
    // A column is as many milliseconds as make the row fit; these runs have at least one for each.
    let rows = text.lines().filter_map(|line| {
        let (name, rest) = line.split_once(" LO ")?;
        let cells: Vec<char> = rest.trim().chars().collect();
        let wide = cells.len() / milliseconds;
        let row = cells.chunks(wide).map(|cell| {
            assert!(cell.iter().all(|sign| *sign == cell[0]), "{text}");
            cell[0]
        });
        Some((name.trim().to_owned(), row.collect()))
    });
    let rows: Vec<(String, String)> = rows.collect();
    let replayed = vestal(&["replay", trace]);
    assert_eq!(replayed.exit, 0, "{}{}", replayed.stdout, replayed.stderr);
    (done.json(), rows)
}

pub(crate) fn row<'a>(rows: &'a [(String, String)], name: &str) -> &'a str {
    &rows.iter().find(|(known, _)| known == name).unwrap().1
}

/// By hand, budgets (deferrable, idling), both of 10 at 0, 25, 50, 75, 100:
///
/// - 0: task2 arrives; the idling server runs it to 5, which leaves it 5 of 10. 5: task1 arrives, more urgent, runs to
///   10, (5, 5). 10: the idling server has the CPU without work and idles its 5 away to 15.
/// - 25: (10, 10). It idles 25 to 30. 30: task2 arrives, runs to 35, (10, 0). The deferrable server kept its budget
///   since 25: task1 arrives at 35, runs to 40.
/// - 50: (10, 10). It idles 50 to 60. 60: task2 arrives when the budget is just used up, and waits. 65: task1 to 70.
/// - 75: (10, 10). task2 runs to 80; 5 are idled away to 85. 90: task2 arrives and waits. 95: task1 to 100.
/// - 100: (10, 10). task2 runs to 105, and 5 are idled away to 110.
#[test]
fn figure_14_of_holenderski_with_period_30() {
    let (result, rows) = simulated("hsf", FIGURE_14, 120, &[]);
    let task1 = [(5, 10), (35, 40), (65, 70), (95, 100)];
    let task2 = [(0, 5), (30, 35), (75, 80), (100, 105)];
    assert_eq!(row(&rows, "task1"), drawn(&task1, 120));
    assert_eq!(row(&rows, "task2"), drawn(&task2, 120));
    // The idling one used up its budget by 15, 35, 60, 85 and 110; what it idled away it did not serve.
    let servers = serde_json::json!([
        { "name": "deferrable", "served_ns": 20_000_000, "tolerated_ns": 0, "replenishments": 4, "exhausted": 0, "postponed_ns": 0, "longest_list": null },
        { "name": "idling", "served_ns": 20_000_000, "tolerated_ns": 0, "replenishments": 4, "exhausted": 5, "postponed_ns": 0, "longest_list": null },
    ]);
    assert_eq!(result["servers"], servers);
    assert_eq!(result["devices"], serde_json::json!([]));
    assert_eq!(result["proof"], serde_json::Value::Null);
}

/// As the paper's text says, an arrival is postponed until 50: that of 40. By hand as above, with task2 at 0, 40, 80:
///
/// - 0: task2 to 5. 5: task1 to 10. Idle to 15. 25: the idling server idles to 35, where its budget ends. 35: task1
///   to 40. 40: task2 arrives and waits.
/// - 50: task2 runs to 55; idle to 60. 65: task1 to 70. 75: idle to 80; task2 arrives, runs to 85. 95: task1 to 100.
/// - 100: idle to 110.
#[test]
fn figure_14_of_holenderski_with_period_40() {
    let text = std::fs::read_to_string(repository().join(FIGURE_14)).unwrap();
    let (first, task2) = text.split_once("name        = \"task2\"").unwrap();
    let text = format!(
        "{first}name        = \"task2\"{}",
        task2.replacen("period      = 30", "period      = 40", 1)
    );
    let scratch = Scratch::new("figure-14-40");
    let file = scratch.file("set.toml", &text);
    let (_, rows) = simulated("hsf", file.to_str().unwrap(), 120, &[]);
    let task1 = [(5, 10), (35, 40), (65, 70), (95, 100)];
    let task2 = [(0, 5), (50, 55), (80, 85)];
    assert_eq!(row(&rows, "task1"), drawn(&task1, 120));
    assert_eq!(row(&rows, "task2"), drawn(&task2, 120));
}

const EVENTS: [&str; 2] = ["--scenario", "examples/missimer-figures-5-6.csv"];

/// By hand: task1 executes its server's 8 and waits at 8. The bottom half has 4, in one chunk. 9: one unit, back at 25,
/// leaves [9: 3, 25: 1]. 11: [11: 2, 25: 1, 27: 1], three places of three. 13: for the unit of 13, back at 29, there
/// is no place: what is left at hand joins the chunk of 25, [25: 2, 27: 1, 29: 1]. So the event of 15 waits until 25, and
/// task1, whose server has 8 again since 16, goes on at 26 and is done at 34, 2 after its deadline.
#[test]
fn figure_5_of_missimer_a_sporadic_server_postpones() {
    let (result, rows) = simulated("hsf", "examples/missimer-figure-5.toml", 36, &EVENTS);
    assert_eq!(row(&rows, "task1"), drawn(&[(0, 8), (26, 34)], 36));
    let device = [(9, 10), (11, 12), (13, 14), (25, 26)];
    assert_eq!(row(&rows, "device"), drawn(&device, 36));
    let device = serde_json::json!([{
        "name": "device", "arrived": 4, "served": 4, "queued": 0, "dropped": 0,
        "kind": null, "sent": null, "dropped_by": null, "unaccounted": null, "wakes": null, "spurious": null,
    }]);
    assert_eq!(result["devices"], device);
    let jobs = &result["jobs"];
    // Bottom halves are no jobs of the set, and a miss that nothing promised breaks no guarantee.
    assert_eq!(
        (&jobs["released"], &jobs["completed"]),
        (&2.into(), &1.into())
    );
    assert_eq!(
        (&jobs["missed"], &jobs["missed_guaranteed"]),
        (&1.into(), &0.into())
    );
}

/// By hand: on behalf of `app` the PIBS has 16 / 4 = 4. 9: one unit; the next burst may begin at 9 + 1 * 4 = 13. There
/// the events of 11 and 13 wait, and that of 15 comes when they are done: 13 to 16. task1 goes on at 16, when its
/// server has 8 again, and is done at 24. At 32 its next job begins.
#[test]
fn figure_6_of_missimer_a_pibs_is_in_time() {
    let (result, rows) = simulated("hsf", "examples/missimer-figure-6.toml", 36, &EVENTS);
    assert_eq!(
        row(&rows, "task1"),
        drawn(&[(0, 8), (16, 24), (32, 36)], 36)
    );
    assert_eq!(row(&rows, "device"), drawn(&[(9, 10), (13, 16)], 36));
    assert_eq!(result["jobs"]["missed"], 0);
}

/// A LO server of 2 in 10 without a budget in HI, and a HI server of 2 in 10 with 3 there. The mode is asked for at 11, when
/// the job of `lo` has executed 1 of its 2: it goes on in mode 0 only, which comes when `hi` is done.
#[test]
fn a_mode_that_a_scenario_asks_for_takes_budgets_away_and_gives_them_back() {
    let text = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n\
        [[task]]\nname = \"lo\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\n\
        [[task]]\nname = \"hi\"\ncriticality = \"HI\"\nperiod = 20\nwcet = { LO = 3, HI = 3 }\n\
        [[server]]\nname = \"l\"\nkind = \"deferrable\"\nperiod = 10\ncapacity = 2\ntasks = [\"lo\"]\n\
        [[server]]\nname = \"h\"\nkind = \"deferrable\"\nperiod = 20\ncapacity = { LO = 2, HI = 3 }\n\
        criticality = \"HI\"\ntasks = [\"hi\"]\n";
    let scratch = Scratch::new("hsf-modes");
    let file = scratch.file("set.toml", text);
    let rows = scratch.file("rows.csv", "mode,1ms,HI\n");
    let arguments = [
        "simulate",
        file.to_str().unwrap(),
        "--for",
        "40ms",
        "--format",
        "json",
    ];
    let scenario = ["--scenario", rows.to_str().unwrap()];
    let run = |policy: &str| -> Done {
        let done = vestal(&[&arguments[..], &scenario, &["--policy", policy]].concat());
        assert_eq!(done.exit, 0, "{}", done.stderr);
        done
    };
    let done = run("hsf");
    let modes = &done.json()["modes"];
    let change = |index: usize| {
        let change = &modes[index];
        (
            change["at_ns"].as_u64().unwrap(),
            change["to"].as_str().unwrap().to_owned(),
            change["cause"].clone(),
        )
    };
    // `lo` ran 0 to 1; `hi` has 3 in HI, and runs 1 to 4. Then nothing is left that may run in HI.
    assert_eq!(
        change(0),
        (1_000_000, "HI".to_owned(), serde_json::Value::Null)
    );
    assert_eq!(
        change(1),
        (4_000_000, "LO".to_owned(), serde_json::Value::Null)
    );
    assert_eq!(modes.as_array().unwrap().len(), 2);
    let response = &done.json()["tasks"][0]["response_ns"]["max"];
    assert_eq!(*response, 5_000_000, "lo goes on at 4");
    assert!(!done.stderr.contains("have no effect"), "{}", done.stderr);
    // Who has no servers has no modes that are asked for.
    let amc = run("amc");
    assert!(
        amc.stderr.contains("have no effect under amc"),
        "{}",
        amc.stderr
    );
    assert_eq!(amc.json()["modes"], serde_json::json!([]));
}

#[test]
fn a_mode_that_was_asked_for_is_told_to_people() {
    let text = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n\
        [[task]]\nname = \"hi\"\ncriticality = \"HI\"\nperiod = 20\nwcet = { LO = 3, HI = 3 }\n";
    let scratch = Scratch::new("hsf-asked");
    let file = scratch.file("set.toml", text);
    let rows = scratch.file("rows.csv", "mode,1ms,HI\n");
    let (file, rows) = (file.to_str().unwrap(), rows.to_str().unwrap());
    let done = vestal(&[
        "simulate",
        file,
        "--policy",
        "hsf",
        "--for",
        "20ms",
        "--scenario",
        rows,
    ]);
    assert!(
        done.stdout.contains("LO -> HI: it was asked for"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout
            .contains("HI -> LO: nothing admitted was left to do"),
        "{}",
        done.stdout
    );
}

/// Events are random as sporadic jobs are: the same by the same seed.
#[test]
fn sporadic_events_depend_on_the_seed_alone() {
    let text =
        std::fs::read_to_string(repository().join("examples/missimer-figure-6.toml")).unwrap();
    let text = text.replace(
        "cost   = 1\n",
        "cost   = 1\narrival = \"sporadic\"\nperiod = 5\n",
    );
    let scratch = Scratch::new("hsf-sporadic");
    let file = scratch.file("set.toml", &text);
    let run = |seed: &str| {
        let file = file.to_str().unwrap();
        let arguments = [
            "simulate", file, "--policy", "hsf", "--for", "1s", "--seed", seed, "--format", "json",
        ];
        let done = vestal(&arguments).json();
        (done["devices"].clone(), done["tasks"].clone())
    };
    assert_eq!(run("3"), run("3"));
    assert_ne!(run("3"), run("4"));
    let arrived = run("3").0[0]["arrived"].as_u64().unwrap();
    // At least 5 ms apart, 7.5 ms or so in the mean and a quarter more.
    assert!((120..=200).contains(&arrived), "{arrived}");
}

#[test]
fn real_runs_of_hsf_ask_what_devices_are_and_have_nothing_to_observe_without_budgets() {
    let devices = "examples/missimer-figure-5.toml";
    for (file, option, why) in [
        (
            devices,
            "--dispatch=managed",
            "nothing says what the device",
        ),
        (
            FIGURE_14,
            "--observe",
            "budgets of servers and tasks decide who runs",
        ),
        (FIGURE_14, "--dispatch=native", "cannot give them servers"),
        (
            FIGURE_14,
            "--mechanism=huang2014",
            "the paper's mechanisms for fixed priorities",
        ),
    ] {
        let refused = vestal(&["run", file, "--policy", "hsf", "--for", "1s", option]);
        assert_eq!(refused.exit, 2, "{option}: {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{option}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("help: "),
            "{option}: {}",
            refused.stderr
        );
        // What was not given cannot be left out.
        let other = if option.starts_with("--dispatch") {
            "--mechanism"
        } else {
            "leave out --dispatch"
        };
        assert!(!refused.stderr.contains(other), "{}", refused.stderr);
    }
    let native = [
        "simulate",
        FIGURE_14,
        "--policy",
        "hsf",
        "--dispatch",
        "native",
    ];
    assert_eq!(vestal(&native).exit, 2);
}

/// What `analyze --test hsf` says of a file.
fn analyzed(arguments: &[&str]) -> Done {
    let done = vestal(&[&["analyze", "--test", "hsf"], arguments].concat());
    assert!([0, 1].contains(&done.exit), "{}", done.stderr);
    done
}

#[test]
fn of_a_file_without_servers_it_is_said_which_ones_the_test_is_asked_about() {
    let words = "the file has no servers: hsf is asked about a deferrable one for each task";
    let done = analyzed(&["examples/fms.toml"]);
    assert!(done.stderr.contains(words), "{}", done.stderr);
    // Where no task is above the lowest level each server has the same budget in all modes.
    assert!(
        done.stdout.contains("server sensor-1 has others"),
        "{}",
        done.stdout
    );
    assert!(!analyzed(&[FIGURE_14]).stderr.contains(words));
}

/// Two tasks in one server: the more urgent one answers within 10, the other one within 15.
#[test]
fn given_priorities_are_those_inside_servers_and_nothing_else_is_said() {
    let scratch = Scratch::new("hsf-priorities");
    let task = |name: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\ncriticality = \"LO\"\nperiod = 100\nwcet = {{ LO = 5 }}\n"
        )
    };
    let text = format!(
        "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n{}{}[[server]]\nname = \"both\"\nkind = \"idling-periodic\"\nperiod = 20\ncapacity = 20\ntasks = [\"a\", \"b\"]\n",
        task("a"),
        task("b")
    );
    let file = scratch.file("two.toml", &text);
    let file = file.to_str().unwrap();
    let of = |first: u32, second: u32| {
        let given = format!(
            "{{ \"format\": \"vestal-parameters/1\", \"priorities\": {{ \"a\": {first}, \"b\": {second} }} }}"
        );
        let given = scratch.file("given.json", &given);
        let arguments = [
            file,
            "--parameters",
            given.to_str().unwrap(),
            "--format",
            "json",
        ];
        let done = analyzed(&arguments);
        assert!(!done.stderr.contains("do not use"), "{}", done.stderr);
        let json = done.json();
        let tasks = &json["results"][0]["tasks"];
        [0, 1].map(|task| tasks[task]["response_ns"]["LO"].as_u64().unwrap() / 1_000_000)
    };
    assert_eq!(of(2, 1), [5, 10]);
    assert_eq!(of(1, 2), [10, 5]);
}

/// The bounds of the example in `vestal explain io-amc-rtb`, and the order that was found as parameters.
#[test]
fn bounds_of_servers_have_the_numbers_of_their_equations() {
    let file = "examples/io-amc.toml";
    let scratch = Scratch::new("io-amc");
    let parameters = scratch.0.join("servers.json");
    let parameters = parameters.to_str().unwrap();
    let analyze = ["analyze", file, "--test", "io-amc-rtb", "--format", "json"];
    let done = vestal(&[&analyze[..], &["--emit", parameters]].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let found = done.json();
    let servers = &found["results"][0]["servers"];
    assert_eq!(servers[2]["priority"], 1);
    let expected = serde_json::json!([
        { "equation": 12, "on_behalf_of": "control", "bound_ns": 8_850_000 },
        { "equation": 13, "on_behalf_of": "control", "bound_ns": 9_800_000 },
        { "equation": 15, "on_behalf_of": "control", "bound_ns": 13_700_000 },
    ]);
    assert_eq!(servers[4]["equations"], expected);
    let again = vestal(&[&analyze[..], &["--parameters", parameters]].concat());
    assert_eq!(again.json()["results"][0]["servers"], *servers);
    let other = vestal(&["analyze", FIGURE_14, "--test", "hsf", "--format", "json"]);
    let other = other.json();
    assert_eq!(other["results"][0]["servers"][0].get("equations"), None);
    let why = vestal(&["analyze", "examples/pibs.toml", "--test", "ss-rta"]);
    assert!(
        why.stdout.contains("server bottom-half is a PIBS"),
        "{}",
        why.stdout
    );
}

/// What `hsf:least-budgets` finds is written, and proves the set by `hsf`; a microsecond less does not.
#[test]
fn least_budgets_are_emitted_and_prove_the_set() {
    let scratch = Scratch::new("least-budgets");
    let path = |name: &str| scratch.0.join(name).to_str().unwrap().to_owned();
    let (set, budgets, fewer) = (path("set.toml"), path("budgets.json"), path("fewer.json"));
    let text_of = |capacity: u32, deadline: u32| {
        format!(
            "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 40\n\
             deadline = {deadline}\nwcet = {{ LO = 3 }}\n[[server]]\nname = \"idling\"\nkind = \"idling-periodic\"\nperiod = 10\n\
             capacity = {capacity}\ntasks = [\"a\"]\n"
        )
    };
    std::fs::write(&set, text_of(9, 27)).unwrap();
    let found = vestal(&[
        "analyze",
        &set,
        "--test",
        "hsf:least-budgets",
        "--emit",
        &budgets,
    ]);
    assert_eq!(found.exit, 0, "{}{}", found.stdout, found.stderr);
    let text = std::fs::read_to_string(&budgets).unwrap();
    assert!(text.contains("\"2ms\""), "{text}");
    std::fs::write(&fewer, text.replace("\"2ms\"", "\"1999us\"")).unwrap();
    for (file, test, exit) in [
        (&budgets, "hsf", 0),
        (&budgets, "hsf:davis-burns", 0),
        (&fewer, "hsf", 1),
    ] {
        let done = vestal(&["analyze", &set, "--test", test, "--parameters", file]);
        assert_eq!(done.exit, exit, "{test}: {}{}", done.stdout, done.stderr);
    }
    assert!(
        found
            .stdout
            .contains("it chose, idling 2ms, and not of those of the file"),
        "{}",
        found.stdout
    );
    // Of a file with too small a capacity it says nothing unless it is named.
    let small = text_of(2, 18);
    std::fs::write(&set, small).unwrap();
    for more in [&[][..], &["--all"]] {
        let done = vestal(&[&["analyze", &set][..], more].concat());
        // Tests of tasks alone see no servers.
        let line = done.stdout.lines().find(|line| line.starts_with("hsf "));
        let verdict = line.and_then(|line| line.split_whitespace().nth(1));
        assert_eq!(verdict, Some("not-proven"), "{}", done.stdout);
        assert!(!done.stdout.contains("least-budgets"), "{}", done.stdout);
    }
    let named = vestal(&["analyze", &set, "--test", "hsf:least-budgets"]);
    assert_eq!(named.exit, 0, "{}", named.stderr);
    assert!(named.stdout.contains("idling 3ms"), "{}", named.stdout);
}
