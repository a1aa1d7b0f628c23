//! Real runs by the command line. They need the right to SCHED_FIFO and the machine for themselves,
//! so the target asks for the feature `real` and is run one test at a time.
//!
//! Asserted are shapes, orders and counts, never a latency.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "real/devices.rs"]
mod devices;
#[path = "real/frames.rs"]
mod frames;
#[path = "real/io_amc.rs"]
mod io_amc;
#[path = "real/kernel_view.rs"]
mod kernel_view;
#[path = "real/overheads.rs"]
mod overheads;
#[path = "real/servers.rs"]
mod servers;
#[path = "real/several.rs"]
mod several;
#[path = "real/sigrist2015.rs"]
mod sigrist2015;
#[path = "real/stops.rs"]
mod stops;
mod support;

use support::traces::{counts, figures, read};
use support::{Done, Scratch, shell, vestal};
use vestal_testkit::machine::stolen;
use vestal_trace::{Counts, Dispatch, What, World};

const FMS: &str = "examples/fms-200.toml";

#[test]
fn a_real_run_answers_in_the_shape_of_a_simulated_one() {
    let arguments = |command| {
        let options = [
            "--policy",
            "amc",
            "--scenario",
            "overrun=0.5",
            "--for",
            "2s",
            "--format",
            "json",
        ];
        [&[command, FMS][..], &options[..]].concat()
    };
    let done = vestal_well(&arguments("run"));
    let (real, simulated) = (done.json(), vestal(&arguments("simulate")).json());
    assert_eq!(real["world"], "linux", "{}", done.stderr);
    let keys = |document: &serde_json::Value| -> Vec<String> {
        document.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&real), keys(&simulated));
    for key in ["jobs", "frames"] {
        assert_eq!(keys(&real[key]), keys(&simulated[key]), "{key}");
    }
    assert_eq!(keys(&real["tasks"][0]), keys(&simulated["tasks"][0]));
    assert_eq!(keys(&real["cpus"][0]), keys(&simulated["cpus"][0]));
    for key in keys(&simulated["machine"]) {
        assert!(real["machine"].get(&key).is_some(), "{key}");
    }
    for mechanism in real["overhead"].as_object().unwrap().values() {
        let figures = ["count", "max", "mean", "p99", "share", "share_max"];
        assert_eq!(keys(mechanism), figures);
    }
    adds_up(&real);
    assert_eq!(simulated["parts"], serde_json::Value::Null);
    assert_eq!(real["jobs"]["released"], simulated["jobs"]["released"]);
    assert_eq!(real["modes"][0]["from"], "LO");
    assert_eq!(real["modes"][0]["to"], "HI");
    keeps_its_guarantees(&done, "amc");
}

/// The parts of each CPU are its overhead, and their shares that of the scheduler.
fn adds_up(real: &serde_json::Value) {
    for cpu in real["cpus"].as_array().unwrap() {
        let parts = cpu["parts_ns"].as_object().unwrap().values();
        let sum: u64 = parts.map(|nanos| nanos.as_u64().unwrap()).sum();
        assert!(sum > 0, "{cpu:#}");
        assert_eq!(cpu["overhead_ns"], sum, "{cpu:#}");
    }
    let parts = &real["parts"];
    let of_parts = parts["parts"].as_object().unwrap().values();
    let shares: f64 = of_parts.map(|cost| cost["share"].as_f64().unwrap()).sum();
    let all = parts["scheduler"]["share"].as_f64().unwrap();
    assert!((shares - all).abs() < 1e-9, "{parts:#}");
}

/// No guaranteed deadline was missed but where only stolen time explains it, which is said by 5.
fn keeps_its_guarantees(done: &Done, what: &str) {
    assert!([0, 5].contains(&done.exit), "{what}: {}", done.stderr);
    let result = done.json();
    assert_eq!(
        result["machine"]["missed_outside_gaps"], 0,
        "{what}: {result:#}"
    );
    let undecided = result["jobs"]["missed_undecided"] != 0;
    assert_eq!(done.exit == 5, undecided, "{what}: {result:#}");
    assert_eq!(slow_duties(&result), [""; 0], "{what}: {result:#}");
}

/// Longer than this no thread of a run may take for a duty, in nanoseconds; they take some ten microseconds.
const REACTION_MAX: u64 = 2_000_000;

fn slow_duties(result: &serde_json::Value) -> Vec<&String> {
    let reactions = result["machine"]["own"]["reactions_ns"].as_object();
    let slow = reactions.unwrap().iter().filter(|(_, reaction)| {
        let longest = reaction["max"].as_u64().unwrap();
        longest > REACTION_MAX
    });
    slow.map(|(duty, _)| duty).collect()
}

/// A real run, made again if a thread of it was slow, or if a guarantee was broken while the hypervisor took
/// its CPU: what it takes may be on a job's account, but three times in a row it is us. The real tests of
/// `vestal-linux` have the control of that rule.
fn vestal_well(arguments: &[&str]) -> Done {
    for _ in 1..3 {
        let before = stolen();
        let done = vestal(arguments);
        let stolen = stolen() > before;
        let kept = [0, 5].contains(&done.exit) || !stolen;
        if kept && slow_duties(&done.json()).is_empty() {
            return done;
        }
        // What takes a CPU away does so for a while.
        shell("sleep 5");
    }
    vestal(arguments)
}

#[test]
fn a_run_that_is_ended_early_shows_what_it_measured() {
    let text = shell(&format!(
        "vestal run {FMS} --policy amc --for 60s & pid=$!; sleep 1; kill -TERM $pid; wait $pid; echo exit $?"
    ));
    assert!(text.contains("ended the run after"), "{text}");
    assert!(
        text.contains("signal 15 ended the run."),
        "its result says so too: {text}"
    );
    assert!(text.contains("jobs: "), "{text}");
    assert!(text.contains("exit 0") || text.contains("exit 5"), "{text}");
}

/// Every policy that runs here, under the dispatches that can keep its order.
const WORLDS: [(&str, &str); 14] = [
    ("rms", "native"),
    ("dms", "native"),
    ("cms", "native"),
    ("smc", "native"),
    ("amc", "native"),
    ("amc", "managed"),
    ("edf", "managed"),
    ("edf-vd", "managed"),
    ("plrs", "managed"),
    ("ocbp", "managed"),
    ("zss", "managed"),
    ("zss", "native"),
    ("pt", "native"),
    ("pt", "managed"),
];

#[test]
fn the_mechanisms_of_the_paper_are_selected_counted_and_replayed() {
    let scratch = Scratch::new("mechanisms");
    let trace = scratch.0.join("x.vtrace").to_str().unwrap().to_owned();
    let run = |policy: &str, mechanism: &str| {
        let options = [
            "--for",
            "1s",
            "--scenario",
            "overrun=0.5",
            "--trace",
            &trace,
        ];
        let chosen = [
            "--policy",
            policy,
            "--mechanism",
            mechanism,
            "--format",
            "json",
        ];
        let done = vestal_well(&[&["run", FMS][..], &options, &chosen].concat());
        keeps_its_guarantees(&done, &format!("{policy} {mechanism}"));
        let result = done.json();
        assert_eq!(result["machine"]["mechanism"], mechanism);
        let replayed = vestal(&["replay", &trace, "--format", "json"]);
        assert_eq!(replayed.exit, 0, "{policy}: {}", replayed.stdout);
        std::fs::remove_file(&trace).unwrap();
        let machine = &result["machine"];
        let released = machine["own"]["wakeups"]["release"].as_u64().unwrap();
        let enforced = machine["observed_only"] == false;
        assert!(machine["busy_periods"]["count"].as_u64().unwrap() > 0);
        (released > 0, enforced)
    };
    assert_eq!(run("amc", "huang2014"), (true, true));
    assert_eq!(run("amc", "vestal"), (false, true));
    assert_eq!(run("zss", "huang2014"), (false, true));
    assert_eq!(run("smc", "huang2014"), (false, false));
    assert_eq!(run("smc", "vestal"), (false, true));
}

#[test]
fn a_trace_of_a_real_run_counts_what_its_result_counts_and_replays_clean() {
    let scratch = Scratch::new("real-traces");
    let path = |name: &str| scratch.0.join(name).to_str().unwrap().to_owned();
    let (mut modes, mut dropped) = (0, 0);
    for (policy, dispatch) in WORLDS {
        let (vtrace, csv) = (path("x.vtrace"), path("x.csv"));
        let done = vestal_well(&[
            "run",
            FMS,
            "--policy",
            policy,
            "--dispatch",
            dispatch,
            "--for",
            "1s",
            "--scenario",
            "overrun=0.5",
            "--format",
            "json",
            "--trace",
            &vtrace,
            "--trace",
            &csv,
        ]);
        keeps_its_guarantees(&done, &format!("{policy} {dispatch}"));
        let result = done.json();
        let (header, records) = read(vtrace.as_ref());
        assert_eq!(read(csv.as_ref()), (header.clone(), records.clone()));
        assert_eq!(
            (header.world, header.policy.as_str()),
            (World::Linux, policy)
        );
        assert_eq!(header.dispatch == Dispatch::Native, dispatch == "native");
        let expected = Counts {
            gaps: result["machine"]["gaps"].as_u64().unwrap(),
            ..figures(&result)
        };
        let found = counts(&header, &records);
        assert_eq!(found, expected, "{policy} {dispatch}");
        assert_eq!(result["machine"]["records"], records.len() as u64);
        assert_eq!(result["machine"]["records_lost"], 0);
        let done = vestal(&["replay", &vtrace, "--format", "json"]);
        let replayed = done.json();
        assert_eq!(done.exit, 0, "{policy} {dispatch}: {replayed:#}");
        for key in ["released", "completed", "dropped", "missed"] {
            assert_eq!(replayed["jobs"][key], result["jobs"][key], "{key}");
        }
        modes += found.mode_changes;
        dropped += found.dropped.total();
        if header.ordered {
            // A native world tells its guard of releases when they matter, with their own instants.
            let reported_later =
                |what: &What| dispatch == "native" && matches!(what, What::Fact(_));
            let timely = records
                .iter()
                .filter(|record| !reported_later(&record.what));
            let mut times = timely.map(|record| record.at);
            let mut last = times.next().unwrap();
            assert!(times.all(|at| std::mem::replace(&mut last, at) <= at));
        }
    }
    assert!(modes > 6 && dropped > 6, "{modes} {dropped}");
}

#[test]
fn the_trace_of_a_run_that_is_ended_early_is_complete() {
    let scratch = Scratch::new("real-ended");
    let file = scratch.0.join("x.csv");
    let text = shell(&format!(
        "vestal run {FMS} --policy amc --for 60s --trace {0} & pid=$!; sleep 1; kill -TERM $pid; wait $pid; tail -1 {0}",
        file.display()
    ));
    assert!(text.contains("# records "), "{text}");
    let killed = scratch.0.join("killed.csv");
    let text = shell(&format!(
        "vestal run {FMS} --policy amc --for 60s --trace {} & pid=$!; sleep 1; kill -KILL $pid; wait $pid; ls -A {}",
        killed.display(),
        scratch.0.display()
    ));
    assert!(text.lines().all(|name| name != "killed.csv"), "{text}");
}

/// A monitor with a lower bound of its own says what it did.
#[test]
fn a_monitor_that_keeps_the_remainder_says_what_it_did() {
    let line =
        "--policy amc --scenario overrun=0.5 --for 2s --monitor remainder=20us --format json";
    let options: Vec<&str> = line.split(' ').collect();
    let done = vestal_well(&[&["run", FMS][..], &options[..]].concat());
    let result = done.json();
    let machine = &result["machine"];
    assert_eq!(machine["monitor"], "remainder", "{result:#}");
    let monitoring = &machine["monitoring"];
    let count = |value: &serde_json::Value| value.as_u64().unwrap();
    let detected = &monitoring["detected"];
    assert!(count(&detected["first"]) > 0, "{result:#}");
    assert_eq!(
        (&detected["second"], &detected["later"]),
        (&0.into(), &0.into())
    );
    let found = count(&machine["overruns_noticed"]);
    assert!(count(&monitoring["activations"]) >= count(&detected["first"]));
    assert!(found >= count(&detected["first"]), "{result:#}");
    assert!(count(&monitoring["per_job_max"]) >= 1, "{result:#}");
    assert!(monitoring["beyond_bound"].is_u64(), "{result:#}");
    keeps_its_guarantees(&done, "amc");
}

#[test]
fn the_doctor_measures_what_it_says() {
    let done = vestal(&["doctor", "--format", "json"]);
    let document = done.json();
    let measured = &document["measured"];
    assert_eq!(measured["fifo"], true, "{document:#}");
    assert_eq!(measured["wake_up"]["real_time"], true);
    assert_eq!(measured["wake_up"]["lateness_ns"]["count"], 400);
    assert!(measured["gaps"]["observed_ns"].as_u64().unwrap() >= 300_000_000);
    let monitors: Vec<&serde_json::Value> = measured["budgets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|budget| &budget["monitor"])
        .collect();
    assert_eq!(monitors, ["perf", "manager"]);
    assert!(
        measured["budgets"][1]["overshoot_ns"]["count"]
            .as_u64()
            .unwrap()
            > 0
    );
    let of_basis = |basis| {
        let findings = document["findings"].as_array().unwrap();
        findings
            .iter()
            .filter(|finding| finding["basis"] == basis)
            .count()
    };
    assert_eq!(
        (of_basis("measured"), of_basis("tried")),
        (5, 2),
        "{document:#}"
    );
}

/// The live view, in a terminal of its own.
#[cfg(feature = "watch")]
mod watch {
    use super::FMS;
    use super::support::{Scratch, VESTAL, repository};
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    const OPENED: &str = "\x1b[?1049h";
    const PUT_BACK: &str = "\x1b[?1049l";

    /// What a terminal of 100 columns gets while a run of `span` is watched: the view, and what is
    /// printed when the view is closed. `before` stands before the program on the command line; `keys`
    /// are pressed after two seconds.
    fn watched(before: &str, span: &str, keys: &str) -> (String, String) {
        let amc = format!("{FMS} --policy amc --scenario overrun=0.5");
        watched_set(before, &format!("{amc} --for {span}"), keys)
    }

    /// The same of any run.
    fn watched_set(before: &str, set: &str, keys: &str) -> (String, String) {
        let scratch = Scratch::new("watch");
        let typescript = scratch.0.join("typescript");
        let run = format!("{before} {VESTAL} run {set} --watch");
        let line = format!("stty rows 20 cols 100; {run}; echo exit $?");
        let mut terminal = Command::new("script")
            .args(["-q", "-e", "-c", &line])
            .arg(&typescript)
            .current_dir(repository())
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Open until the end, because a terminal without a keyboard would be another thing.
        let mut keyboard = terminal.stdin.take().unwrap();
        if !keys.is_empty() {
            std::thread::park_timeout(Duration::from_secs(2));
            keyboard.write_all(keys.as_bytes()).unwrap();
        }
        terminal.wait().unwrap();
        let bytes = std::fs::read(&typescript).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for sequence in [OPENED, PUT_BACK] {
            assert_eq!(text.matches(sequence).count(), 1, "{text}");
        }
        let (view, rest) = text.split_once(PUT_BACK).unwrap();
        assert!(view.contains(OPENED), "{text}");
        // The cursor is back, and nothing of the view comes later.
        assert!(rest.starts_with("\x1b[?25h"), "{text}");
        (view.to_owned(), rest.to_owned())
    }

    #[test]
    fn a_run_is_shown_and_the_terminal_put_back() {
        let (view, rest) = watched("", "2s", "");
        // Blanks are not drawn on an empty screen, so only words are there in one piece.
        let (first, later) = view.split_once("choose").unwrap();
        for part in ["sensor-3", "waiting", "mode", "busy", "lost"] {
            assert!(first.contains(part), "{part} is not in {first}");
        }
        // Only what changes is drawn again: the full height of a mode or of a budget was not there.
        assert!(!first.contains('█') && later.contains('█'), "{view}");
        assert!(rest.contains("jobs: ") && rest.contains("exit 0"), "{rest}");
        assert!(!rest.contains("live view"), "{rest}");
    }

    #[test]
    fn servers_levels_and_frame_tables_are_shown_by_their_tasks() {
        let parameters = "examples/parameters/mc2-one-cpu.json";
        let mc2 = format!("examples/mc2-one-cpu.toml --policy mc2 --parameters {parameters}");
        let hsf = "examples/hsf-figure-14.toml --policy hsf".to_owned();
        // Time that is stolen from it is not what is looked at here; what it would be to blame for fails none the less.
        let ftts = "examples/frames.toml --policy ftts --cpus 0,1 --tolerate-stolen-time";
        let ftts = ftts.to_owned();
        for (set, tasks) in [
            (hsf, ["task1", "task2"].as_slice()),
            (mc2, &["flight", "radar", "map", "log"]),
            (ftts, &["attitude", "position", "map", "radio"]),
        ] {
            let (view, rest) = watched_set("", &format!("{set} --for 1s"), "");
            for task in tasks {
                assert!(view.contains(task), "{task} is not in {view}");
            }
            assert!(rest.contains("jobs: ") && rest.contains("exit 0"), "{rest}");
        }
    }

    #[test]
    fn q_ends_the_run_and_so_does_a_signal() {
        let by_key = watched("", "60s", "q");
        let by_signal = watched(
            "timeout --foreground --preserve-status -s TERM 2",
            "60s",
            "",
        );
        for (_, rest) in [by_key, by_signal] {
            assert!(rest.contains("ended the run after"), "{rest}");
            assert!(rest.contains("jobs: "), "{rest}");
        }
    }

    #[test]
    fn whoever_draws_stays_away_from_the_cpu_of_the_run() {
        // The last CPU has the run, unless it is the only one.
        let look = "sleep 1; for s in /proc/$$/task/*/status; do \
                    grep -q vestal-watch $s && grep Cpus_allowed_list $s >&3; done";
        let scratch = Scratch::new("watch-place");
        let places = scratch.0.join("places");
        let shell = format!("sh -c '({look}) 3>{} & exec \"$@\"' sh", places.display());
        watched(&shell, "2s", "");
        let allowed = std::fs::read_to_string(places).unwrap();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let own = status
            .lines()
            .find(|line| line.starts_with("Cpus_allowed_list"))
            .unwrap();
        assert!(allowed.starts_with("Cpus_allowed_list"), "{allowed}");
        if own.contains([',', '-']) {
            assert_ne!(allowed.trim(), own.trim(), "one CPU less");
        }
    }
}

/// The set of `examples/period-transformation.toml`, four times as slow, and with more to spare: there the
/// first slice, the tolerance of its limit and what a busy machine adds leave next to nothing of it.
const SLICED: &str = r#"
format = "vestal/1"
levels = ["LO", "HI"]
unit = "ms"

[[task]]
name = "sensor"
criticality = "LO"
period = 16
wcet = { LO = 6 }

[[task]]
name = "control"
criticality = "HI"
period = 48
wcet = { LO = 12, HI = 18 }
"#;

/// Jobs are suspended between their slices, twice each, and a replay decides the same.
#[test]
fn slices_are_kept_and_replay_clean() {
    let scratch = Scratch::new("real-slices");
    let path = scratch.0.join("pt.vtrace").to_str().unwrap().to_owned();
    let set = scratch.file("sliced.toml", SLICED);
    let set = set.to_str().unwrap();
    for dispatch in ["native", "managed"] {
        let done = vestal_well(&[
            "run",
            set,
            "--policy",
            "pt",
            "--dispatch",
            dispatch,
            "--for",
            "2880ms",
            "--scenario",
            "hi",
            "--format",
            "json",
            "--trace",
            &path,
        ]);
        let result = done.json();
        keeps_its_guarantees(&done, dispatch);
        let (machine, jobs) = (&result["machine"], 60);
        assert_eq!(result["tasks"][1]["released"], jobs, "control");
        // Where the machine was away, a slice may have begun before the last one was used up.
        let held = machine["held"].as_u64().unwrap();
        assert!((jobs..=2 * jobs).contains(&held), "{dispatch}: {result:#}");
        assert!(
            machine["held_in_vain"].as_u64().unwrap() * 8 <= held,
            "{dispatch}: {result:#}"
        );
        if dispatch == "managed" {
            assert_eq!(machine["inversions"], 0, "{result:#}");
        }
        let (header, records) = read(path.as_ref());
        let expected = Counts {
            gaps: machine["gaps"].as_u64().unwrap(),
            ..figures(&result)
        };
        assert_eq!(counts(&header, &records), expected, "{dispatch}");
        let done = vestal(&["replay", &path, "--format", "json"]);
        assert_eq!(done.exit, 0, "{dispatch}: {:#}", done.json());
    }
}

/// Table I of Huang, Gill and Lu (2014): at 6 ms the high task takes the CPU from the low one.
#[test]
fn the_slack_trace_has_the_order_of_the_paper_and_the_gaps_of_the_tick() {
    let done = vestal(&["bench", "zero-slack-trace", "--format", "json"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let trace = done.json();
    assert_eq!(trace["bench"], "zero-slack-trace");
    let number = |key: &str| trace[key].as_u64().unwrap();
    assert_eq!(number("hyperperiods"), 500);
    assert!(number("in_order") > 250, "{trace:#}");
    let runs = trace["schedule"].as_array().unwrap();
    let who: Vec<&str> = runs
        .iter()
        .map(|run| run["task"].as_str().unwrap())
        .collect();
    assert_eq!(who, ["low", "high", "low", "high", "low"]);
    // The instant is that of the simulation, or the switch takes a little time.
    let taken = &runs[3];
    assert_eq!(taken["simulated_start_ns"], 6_000_000);
    assert!(taken["measured_start_ns"].as_u64().unwrap() >= 6_000_000);
    assert!((1_000_000..=10_000_000).contains(&number("tick_ns")));
    let gaps = |key: &str| trace[key]["count"].as_u64().unwrap();
    assert!(
        gaps("gaps_at_the_tick") * 2 > number("ticks_due"),
        "{trace:#}"
    );
    assert!(gaps("gaps") >= gaps("gaps_at_the_tick"));
}
