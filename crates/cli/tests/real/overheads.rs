//! What is measured of overheads, and what is made of it.

use crate::FMS;
use crate::support::{Scratch, shell, vestal};
use serde_json::Value;

/// Counts and structure; which variant costs how much is for a machine without other work.
#[test]
fn the_overhead_experiment_measures_every_variant_that_runs() {
    let scratch = Scratch::new("overhead");
    let folder = scratch.0.join("out");
    let line = "bench overhead --paper huang2014 --quick --repetitions 2 --format json -o";
    let arguments: Vec<&str> = line.split(' ').collect();
    let done = vestal(&[&arguments[..], &[folder.to_str().unwrap()]].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    assert_eq!(
        (&document["repetitions"], &document["interrupted"]),
        (&2.into(), &false.into())
    );
    let list = |key: &str| document[key].as_array().unwrap().clone();
    let ran: Vec<String> = list("variants")
        .iter()
        .filter(|variant| variant["not_run"].is_null())
        .map(|variant| variant["name"].as_str().unwrap().to_owned())
        .collect();
    for name in [
        "smc/none",
        "smc/perf",
        "amc/perf",
        "amc/timer",
        "amc/managed",
        "plrs/managed",
        "amc/huang2014",
    ] {
        assert!(
            ran.iter().any(|known| known == name),
            "{name} is not in {ran:?}"
        );
    }
    let cells = list("busy_periods");
    for name in ["smc/none", "amc/perf", "amc/huang2014", "plrs/managed"] {
        let sizes: Vec<u64> = cells
            .iter()
            .filter(|cell| cell["variant"] == name)
            .map(|cell| {
                assert_eq!(cell["runs"], 2, "{cell}");
                cell["size"].as_u64().unwrap()
            })
            .collect();
        assert_eq!(sizes, [4, 8], "{name}");
    }
    // Two cells for each variant, and two runs in each.
    let runs = std::fs::read_to_string(folder.join("runs.csv")).unwrap();
    assert_eq!(runs.lines().count(), 1 + 2 * cells.len());
    assert_eq!(list("preemptions").len(), 2);
    assert_eq!(list("claims").len(), 18);
    assert_costs_are_taken(&list("mechanisms"), &folder.join("result.json"));
    for name in [
        "claims.md",
        "table2.csv",
        "table3.csv",
        "fig5.svg",
        "fig6a.svg",
        "set-32.toml",
        "result.json",
        "measured.json",
    ] {
        assert!(folder.join(name).exists(), "{name}");
    }
    let whole = vestal(&["check", folder.join("set-32.toml").to_str().unwrap()]);
    assert_eq!(whole.exit, 0, "{}", whole.stderr);
}

/// What a benchmark wrote is taken for overheads, with every mechanism.
fn assert_costs_are_taken(mechanisms: &[serde_json::Value], result: &std::path::Path) {
    assert_eq!(mechanisms.len(), 10);
    for mechanism in mechanisms {
        assert_eq!(mechanism["not_run"], serde_json::Value::Null, "{mechanism}");
        let name = mechanism["name"].as_str().unwrap();
        let taken = ["--overheads", result.to_str().unwrap(), "--mechanism", name];
        let test = match name.strip_prefix("ftts/") {
            Some(_) => "ftts",
            None => "amc-rtb",
        };
        let asked = ["analyze", FMS, "--test", test];
        let done = vestal(&[asked.as_slice(), &taken].concat());
        assert!([0, 1].contains(&done.exit), "{name}: {}", done.stderr);
        let with = format!("with the overheads of {name}");
        assert!(done.stdout.contains(&with), "{}", done.stdout);
        if test == "ftts" {
            assert_advised(result, name);
        }
    }
}

/// Advice on a set for two CPUs, by what this barrier cost: the choice is accepted as it says.
fn assert_advised(result: &std::path::Path, mechanism: &str) {
    let set = "examples/frames.toml";
    let costs = ["--overheads", result.to_str().unwrap(), "--statistic=mean"];
    let taken = [&costs[..], &["--mechanism", mechanism]].concat();
    let advised = vestal(&[&["advise", set, "--format", "json"][..], &taken].concat());
    let advice = advised.json();
    let choice = &advice["choices"][0];
    assert_eq!([&choice["policy"], &choice["test"]], ["ftts", "ftts"]);
    assert_eq!(choice["mechanism"], mechanism);
    let exit = vestal(&[&["analyze", set, "--test", "ftts"][..], &taken].concat()).exit;
    assert_eq!(
        [advised.exit, exit],
        [0; 2],
        "milliseconds to spare: {choice}"
    );
}

/// Counts and structure; what the shares are is for a machine without other work.
#[test]
fn shares_of_the_time_are_measured_and_kept() {
    let scratch = Scratch::new("shares");
    let folder = scratch.0.join("out");
    let line = "bench overhead --paper sigrist2015 --quick --repetitions 1 --format json -o";
    let arguments: Vec<&str> = line.split(' ').collect();
    let done = vestal(&[&arguments[..], &[folder.to_str().unwrap()]].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    let list = |key: &str| document[key].as_array().unwrap().clone();
    assert_eq!(document["interrupted"], false);
    let cells = list("cells");
    for (name, parts) in [
        ("ftts/spin", 6),
        ("ftts/futex", 6),
        ("ftts/pthread", 6),
        ("pedf-vd/manager", 4),
        ("pedf-vd/remainder", 4),
        ("pedf-vd/heartbeat", 4),
    ] {
        let own = cells.iter().filter(|cell| cell["variant"] == name);
        let own = own.filter(|cell| cell["extrapolated"] == false);
        let cpus: Vec<u64> = own
            .clone()
            .map(|cell| cell["cpus"].as_u64().unwrap())
            .collect();
        assert_eq!(cpus, [1, 2], "{name}");
        for cell in own {
            let count = |key: &str| cell[key].as_u64().unwrap();
            assert_eq!(count("runs") + count("left_out"), 1, "{cell}");
            let found = cell["parts"].as_object().unwrap();
            assert_eq!(found.len(), parts, "{cell}");
            let shares = found.values().map(|part| part["mean"].as_f64().unwrap());
            let all = cell["scheduler"]["mean"].as_f64().unwrap();
            assert!((shares.sum::<f64>() - all).abs() < 1e-6, "{cell}");
            // Of one that was late, for instance because others had the CPU, nothing counts.
            assert_eq!(all > 0.0, count("runs") == 1, "{cell}");
        }
    }
    assert_eq!(list("claims").len(), 15);
    for name in ["claims.md", "result.json"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    let all: u64 = cells.iter().chain(&list("flight")).fold(0, |sum, cell| {
        let counts = |key: &str| cell[key].as_u64().unwrap();
        match cell["extrapolated"] == false {
            true => sum + counts("runs") + counts("left_out"),
            false => sum,
        }
    });
    let kept = std::fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    // A line for what all have in common.
    assert_eq!(kept.lines().count() as u64, 1 + all);
}

/// Only what is told apart by pairs is run, and a second call has nothing left to run.
#[test]
fn pairs_of_sets_are_measured_and_kept() {
    let scratch = Scratch::new("pairs");
    let folder = scratch.0.join("out");
    let line =
        "bench overhead --paper sigrist2015 --paired --quick --repetitions 1 --format json -o";
    let arguments: Vec<&str> = line.split(' ').collect();
    let measure = || vestal(&[&arguments[..], &[folder.to_str().unwrap()]].concat());
    let done = measure();
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    assert_eq!(document["measurement"], "pairs");
    let list = |key: &str| document[key].as_array().unwrap().clone();
    assert_eq!(list("claims").len(), 5);
    for key in ["flight", "alternatives", "mechanisms"] {
        assert!(list(key).is_empty(), "{key}");
    }
    // Two utilizations on one and on two CPUs by two mechanisms.
    let cells = list("cells");
    assert_eq!(cells.len(), 8);
    for cell in &cells {
        let counts = ["runs", "left_out"].map(|key| cell[key].as_u64().unwrap());
        assert_eq!(counts.iter().sum::<u64>(), 1, "{cell}");
        let name = cell["variant"].as_str().unwrap();
        assert!(name.ends_with("/sigrist2015"), "{cell}");
    }
    let runs = || std::fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    let before = runs();
    assert_eq!(before.lines().count(), 1 + cells.len());
    let again = measure();
    assert_eq!(again.exit, 0, "{}", again.stderr);
    assert_eq!((again.json(), runs()), (document, before));
}

/// One mechanism at the four ends of both axes; what pairs have measured is not gone on with.
#[test]
fn growth_is_measured_of_other_sets() {
    let scratch = Scratch::new("growth");
    let folder = scratch.0.join("out");
    let line =
        "bench overhead --paper sigrist2015 --growth --quick --repetitions 1 --format json -o";
    let arguments: Vec<&str> = line.split(' ').collect();
    let arguments = [&arguments[..], &[folder.to_str().unwrap()]].concat();
    let done = vestal(&arguments);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    assert_eq!(document["measurement"], "growth");
    let found: Vec<String> = document["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| {
            let counts = ["runs", "left_out"].map(|key| cell[key].as_u64().unwrap());
            assert_eq!(counts.iter().sum::<u64>(), 1, "{cell}");
            format!(
                "{} {} {}",
                cell["variant"], cell["cpus"], cell["utilization_permille"]
            )
        })
        .collect();
    let at = |rest: &str| format!("\"ftts/sigrist2015\" {rest}");
    assert_eq!(found, ["1 100", "1 400", "2 100", "2 400"].map(at));
    let claims = document["claims"].as_array().unwrap();
    assert!(
        claims.len() == 4 && claims.iter().all(|one| one["verdict"] == "not-decided"),
        "{claims:?}"
    );
    let of_pairs = vestal(
        &arguments
            .iter()
            .map(|&word| match word {
                "--growth" => "--paired",
                word => word,
            })
            .collect::<Vec<_>>(),
    );
    assert_eq!(of_pairs.exit, 2, "{}", of_pairs.stderr);
}

/// Every mechanism once, and a row for each in one table; a dispatcher of its own has the second CPU.
#[test]
fn each_alternative_is_measured_once() {
    let done = vestal(
        &"bench overhead --paper sigrist2015 --alternatives --quick --format json"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    let rows = document["alternatives"].as_array().unwrap();
    assert_eq!(rows.len(), 16);
    for row in rows {
        let name = row["variant"].as_str().unwrap();
        let has_own = name.ends_with("/own");
        assert_eq!(row["cpus"], if has_own { 1 } else { 2 }, "{row}");
        let cells = document["cells"].as_array().unwrap().iter();
        let cell = cells
            .clone()
            .find(|cell| (&cell["variant"], &cell["cpus"]) == (&row["variant"], &row["cpus"]));
        let cell = cell.unwrap_or_else(|| panic!("{name} was not run"));
        assert_eq!(row["scheduler"].is_null(), cell["runs"] == 0, "{cell}");
        // Of frame tables on two CPUs it would be a third one.
        let is_asked = !(has_own && name.starts_with("ftts"));
        assert_eq!(
            !row["accepted"].as_array().unwrap().is_empty(),
            is_asked,
            "{row}"
        );
        let frame = &row["frame"];
        let has_frames = is_asked && name.starts_with("ftts");
        assert_eq!(!frame.is_null(), has_frames, "{row}");
        let of = |key: &str| frame[key].as_u64().unwrap_or(0);
        assert!(of("mean_ns") <= of("max_ns"), "{row}");
    }
}

/// What carries policies out, as far as it is measured.
const MECHANISMS: [&str; 10] = [
    "native/perf",
    "native/manager",
    "native/remainder",
    "native/heartbeat",
    "native/posix-timer",
    "managed/manager",
    "huang2014",
    "ftts/spin",
    "ftts/futex",
    "ftts/pthread",
];

/// The mechanisms of choices.
fn mechanisms_of(choices: &[serde_json::Value]) -> std::collections::BTreeSet<&str> {
    let named = choices.iter().map(|choice| choice["mechanism"].as_str());
    named.flatten().collect()
}

/// Without a file it is measured first. That no choice lacks a cost that was measured too seldom is asserted, too: each mechanism is
/// there.
#[test]
fn advice_is_given_about_this_machine() {
    // A small set: annealing for frame tables would take longer than measuring.
    let file = "examples/advise.toml";
    let quickly = ["advise", file, "--quick", "--statistic", "mean"];
    let done = vestal(&[&quickly[..], &["--format", "json"]].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    assert_eq!(document["overheads"]["file"], serde_json::Value::Null);
    let choices = document["choices"].as_array().unwrap();
    let native = |choice: &&serde_json::Value| choice["mechanism"] == "native/perf";
    let mut native = choices.iter().filter(native);
    assert!(
        native.any(|choice| choice["schedulable"] == true),
        "{choices:?}"
    );
    assert_eq!(mechanisms_of(choices), MECHANISMS.into());
}

/// The whole measurement, which advice is given by unless it is asked for quickly: five times as many rounds. Of a set for two CPUs it has
/// every barrier among the choices, and what is chosen is accepted. It takes half a minute, and is there with `VESTAL_CAMPAIGN=long`.
#[test]
fn what_is_measured_at_length_is_enough_for_advice_on_frame_tables() {
    if !crate::frames::is_long() {
        return;
    }
    let done = vestal(&["bench", "primitives", "--format", "json"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    let list = |key: &str| document[key].as_array().unwrap();
    let counts = list("primitives").iter();
    let counts = counts.map(|it| it["count"].as_u64().unwrap());
    assert!(counts.clone().all(|count| count > 0));
    assert!(counts.filter(|&count| count >= 1_000).count() >= 5);
    let measured = list("mechanisms").iter();
    let measured: Vec<&str> = measured.map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(measured, MECHANISMS);

    let scratch = Scratch::new("advice-frames");
    let costs = scratch.0.join("costs.json").to_str().unwrap().to_owned();
    std::fs::write(&costs, &done.stdout).unwrap();
    let taken = ["--overheads", &costs, "--statistic", "mean"];
    let set = "examples/frames.toml";
    let asked = ["advise", set, "--format", "json"];
    let advised = vestal(&[&asked[..], &taken].concat());
    assert_eq!(advised.exit, 0, "{}", advised.stderr);
    let advice = advised.json();
    let choices = advice["choices"].as_array().unwrap();
    let frames = choices.iter().filter(|choice| choice["policy"] == "ftts");
    let frames: Vec<serde_json::Value> = frames.cloned().collect();
    let barriers = ["ftts/spin", "ftts/futex", "ftts/pthread"];
    assert_eq!(mechanisms_of(&frames), barriers.into());
    for choice in &frames {
        let mechanism = choice["mechanism"].as_str().unwrap();
        let asked = ["analyze", set, "--test", "ftts", "--mechanism", mechanism];
        let exit = vestal(&[&asked[..], &taken].concat()).exit;
        let accepted = choice["schedulable"] == true;
        assert_eq!(exit, i32::from(!accepted), "{choice}");
        assert!(accepted, "a table with milliseconds to spare: {choice}");
    }
}

#[test]
fn an_overhead_experiment_that_is_interrupted_keeps_whole_repetitions() {
    let scratch = Scratch::new("overhead-ended");
    let text = shell(&format!(
        "vestal bench overhead --paper huang2014 --repetitions 900 --format json >{0} & pid=$!; \
         sleep 2; kill -TERM $pid; wait $pid; echo exit $?; cat {0}",
        scratch.0.join("out.json").display()
    ));
    assert!(text.contains("exit 1"), "{text}");
    assert!(text.contains("\"interrupted\": true"), "{text}");
    assert!(text.contains("\"repetitions\": 0"), "{text}");
}

/// Structure, and that the verdict is that of the numbers; how they come about is tested with the benchmark.
#[test]
fn barriers_are_compared_in_one_run() {
    let done = vestal(&["bench", "barriers", "--format", "json"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    let barriers = document["barriers"].as_array().unwrap();
    let names: Vec<&str> = barriers
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    let without_counter = ["spin", "futex", "pthread"];
    let with_counter = ["spin", "spin by tsc", "futex", "pthread"];
    assert!(
        names == with_counter || names == without_counter,
        "{names:?}"
    );
    for barrier in barriers {
        let costs = barrier["costs"].as_array().unwrap();
        assert_eq!(costs.len(), 2, "{barrier}");
        for cost in costs {
            let counted = cost["count"].as_u64().unwrap() + barrier["apart"].as_u64().unwrap();
            assert_eq!(counted, 1_000, "{barrier}");
        }
    }
    let both = |index: &serde_json::Value| index["costs"][1]["median_ns"].as_u64().unwrap();
    let claim = &document["claims"][0];
    // A histogram's medians are up to 1/64 above the true ones.
    let (spin, pthread) = (both(&barriers[0]), both(&barriers[names.len() - 1]));
    if spin * 11 < pthread {
        assert_eq!(claim["verdict"], "confirmed", "{claim}");
    }
    if spin * 9 > pthread {
        assert_eq!(claim["verdict"], "refuted", "{claim}");
    }
}

/// Counts and structure; what servers take is for a machine without other work.
#[test]
fn cameras_are_measured_and_a_measurement_goes_on_where_it_was() {
    let scratch = Scratch::new("cameras");
    let folder = scratch.0.join("out");
    let line = "bench overhead --paper missimer --quick --repetitions 1 --format json -o";
    let arguments: Vec<&str> = line.split(' ').collect();
    let arguments = [&arguments[..], &[folder.to_str().unwrap()]].concat();
    let done = vestal(&arguments);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    let cells = document["cells"].as_array().unwrap();
    let kinds = |cell: &Value| format!("{} {}", cell["place"], cell["system"]).replace('"', "");
    let found: Vec<String> = cells.iter().map(kinds).collect();
    let expected = [
        "one-camera SS-only",
        "one-camera SS+PIBS",
        "two-cameras SS-only",
        "two-cameras SS+PIBS",
        "change SS+PIBS",
    ];
    assert_eq!(found, expected);
    for cell in cells {
        let count = |key: &str| cell[key].as_u64().unwrap();
        let [runs, left_out] = ["runs", "left_out"].map(count);
        assert_eq!(runs + left_out, 1, "{cell}");
        // Nothing but what others took of the CPU, and of a sender's, leaves a run out; and no server gives too much or too little.
        assert_eq!(
            left_out,
            (count("disturbed") + count("starved")).min(1),
            "{cell}"
        );
        assert_eq!((count("too_much"), count("too_little")), (0, 0), "{cell}");
        for (figure, least) in [
            (&cell["overhead_percent"], 0.0),
            (&cell["completed_each_second"][0], 3.0),
        ] {
            let median = figure["median"].as_f64();
            assert_eq!(u64::from(median.is_some()), runs, "{cell}");
            assert!(median.is_none_or(|median| median > least), "{cell}");
        }
        for camera in cell["cameras"].as_array().unwrap() {
            let sum = ["served", "queued", "dropped"].map(|key| camera[key].as_u64().unwrap());
            assert_eq!(
                camera["sent"].as_u64().unwrap(),
                sum.iter().sum::<u64>(),
                "{cell}"
            );
            assert!(sum[0] > 0, "{cell}");
            assert!(camera["charged_ns"].as_u64() > Some(0), "{cell}");
            assert!(camera["share_ns"].as_u64() > Some(0), "{cell}");
        }
    }
    let rises = cells[4]["rises"]["median"].as_f64();
    assert!(rises.is_none_or(|rises| rises >= 1.0), "{}", cells[4]);
    for file in ["claims.md", "result.json", "runs.jsonl"] {
        assert!(folder.join(file).exists(), "{file}");
    }
    // What no run counts for has nothing to draw.
    let counts = |cells: &[Value]| cells.iter().any(|cell| cell["runs"] != 0);
    let of_change = |key: &str| cells[4][key].as_u64().unwrap();
    let others = of_change("wrong_changes") + of_change("explained_changes");
    let is_judged = of_change("runs") > others;
    for (figure, is_there) in [("fig12", counts(&cells[..2])), ("fig15", is_judged)] {
        let path = folder.join(figure).with_extension("svg");
        assert_eq!(path.exists(), is_there, "{figure}: {cells:?}");
    }
    // One run is missing: that alone is made again.
    let path = folder.join("runs.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    std::fs::write(&path, lines[..5].join("\n") + "\n").unwrap();
    assert_eq!(vestal(&arguments).exit, 0);
    let again = std::fs::read_to_string(&path).unwrap();
    assert!(again.starts_with(&lines[..5].join("\n")) && again.lines().count() == 6);
}
