//! Recordings of perf and ftrace: checked against a task set by `replay`, drawn by `report`.

use crate::support::{Done, Scratch, repository, vestal, vestal_with_input};
use std::fs;
use std::path::Path;

/// Eight, four and two jobs of three SCHED_FIFO threads, rate-monotonic, as real tools printed them.
pub(crate) const RECORDED: [&str; 2] = [
    "crates/trace/tests/trace/recordings/perf-script.txt",
    "crates/trace/tests/trace/recordings/tracefs.txt",
];

/// The threads as tasks.
pub(crate) const SET: &str = r#"format = "vestal/1"
name = "three threads"
levels = ["LO", "HI"]

[[task]]
name = "fast"
criticality = "LO"
period = "10ms"
wcet = { LO = "1ms" }

[[task]]
name = "the slow one"
criticality = "HI"
period = "20ms"
wcet = { LO = "5ms", HI = "6ms" }

[[task]]
name = "a:b [c]"
criticality = "LO"
period = "40ms"
wcet = { LO = "4ms" }
"#;

fn text(recorded: &str) -> String {
    fs::read_to_string(repository().join(recorded)).unwrap()
}

fn replay(recording: &str, set: &Path, arguments: &[&str]) -> Done {
    let set = set.to_str().unwrap();
    vestal(&[&["replay", recording, set], arguments].concat())
}

#[test]
fn what_threads_did_is_compared_with_the_task_set() {
    let scratch = Scratch::new("foreign-holds");
    let set = scratch.file("set.toml", SET);
    for recorded in RECORDED {
        let done = replay(recorded, &set, &["--policy", "rms"]);
        assert_eq!(done.exit, 0, "{}{}", done.stdout, done.stderr);
        for part in [
            "3 tasks on CPU 1",
            "rms proves the set schedulable; tolerance 100us",
            "The order was kept: no job ran for more than 100us while a more urgent one was ready.",
            "No job executed more than its own level's time.",
            "No deadline was missed.",
            "The recording does not say:\n- when jobs were released",
        ] {
            assert!(done.stdout.contains(part), "{part}:\n{}", done.stdout);
        }
        let found = replay(recorded, &set, &["--policy", "rms", "--format", "json"]).json();
        assert_eq!(
            (&found["equal"], &found["world"]),
            (&true.into(), &"foreign".into())
        );
        assert_eq!(
            (&found["policy"], &found["cpu"]),
            (&"rms".into(), &1.into())
        );
        assert_eq!(found["jobs"]["released"], 14);
        for (task, jobs) in [(0, 8), (1, 4), (2, 2)] {
            assert_eq!(found["tasks"][task]["completed"], jobs, "{found:#}");
        }
        let execution = found["tasks"][0]["execution_max_ns"].as_u64().unwrap();
        assert!((1_000_000..1_100_000).contains(&execution), "{execution}");
    }
}

#[test]
fn each_thing_that_does_not_agree_is_named_and_ends_with_one() {
    let scratch = Scratch::new("foreign-differs");
    let set = |name: &str, from: &str, to: &str| {
        let text = SET.replacen(from, to, 1);
        assert_ne!(text, SET, "{from}");
        scratch.file(name, &text)
    };
    let same = scratch.file("same.toml", SET);
    let cases = [
        (
            same.clone(),
            &["--policy", "cms"][..],
            "inversion",
            "of fast ran although job 0 of the slow one was ready",
        ),
        (
            set("short.toml", "LO = \"4ms\"", "LO = \"3ms\""),
            &["--policy", "rms"],
            "beyond",
            "more than the 3ms of its own level",
        ),
        (
            same.clone(),
            &["--policy", "rms", "--tolerance", "60us"],
            "beyond",
            "more than the 1ms of its own level",
        ),
        (
            set(
                "tight.toml",
                "period = \"40ms\"",
                "period = \"40ms\"\ndeadline = \"9ms\"",
            ),
            &["--policy", "rms"],
            "missed",
            "guaranteed, the first at",
        ),
    ];
    for (set, arguments, key, part) in cases {
        let done = replay(RECORDED[0], &set, arguments);
        assert_eq!(done.exit, 1, "{part}: {}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains(part), "{part}:\n{}", done.stdout);
        let document = replay(
            RECORDED[0],
            &set,
            &[arguments, &["--format", "json"]].concat(),
        )
        .json();
        assert_eq!(document["equal"], false);
        for other in ["inversion", "beyond", "missed", "lost_at_ns"] {
            assert_eq!(
                document[other].is_null(),
                other != key,
                "{other}: {document:#}"
            );
        }
    }
}

/// It is no violation by itself, and takes the guarantee from LO jobs.
#[test]
fn an_overrun_of_c_lo_does_not_differ() {
    let scratch = Scratch::new("foreign-overrun");
    let over = SET.replacen("LO = \"5ms\", HI", "LO = \"3ms\", HI", 1);
    let over = over.replacen(
        "period = \"40ms\"",
        "period = \"40ms\"\ndeadline = \"9ms\"",
        1,
    );
    let over = scratch.file("over.toml", &over);
    let done = replay(RECORDED[0], &over, &["--policy", "rms", "--format", "json"]);
    let found = done.json();
    assert_eq!(done.exit, 0, "{found:#}");
    assert_eq!(found["tasks"][1]["exceeded"], serde_json::json!([4, 0]));
    assert!(found["jobs"]["missed"].as_u64() > Some(0), "{found:#}");
    assert_eq!(found["jobs"]["missed_guaranteed"], 0);
}

#[test]
fn where_events_are_missing_nothing_more_is_judged() {
    let scratch = Scratch::new("foreign-lossy");
    let same = scratch.file("same.toml", SET);
    let whole = text(RECORDED[0]);
    let lines: Vec<&str> = whole.lines().collect();
    let mut lossy = lines.clone();
    lossy.insert(lines.len() / 2, "CPU:1 [LOST 3 EVENTS]");
    let lossy = scratch.file("lossy.txt", &lossy.join("\n"));
    let done = replay(lossy.to_str().unwrap(), &same, &["--policy", "rms"]);
    assert_eq!(done.exit, 1, "{}{}", done.stdout, done.stderr);
    assert!(
        done.stdout.contains("nothing from then on was judged"),
        "{}",
        done.stdout
    );
}

#[test]
fn the_order_is_that_of_the_file_unless_a_policy_is_named() {
    let scratch = Scratch::new("foreign-order");
    let with = |priorities: [u32; 3]| {
        let mut text = SET.to_owned();
        for (period, priority) in ["10ms", "20ms", "40ms"].iter().zip(priorities) {
            let period = format!("period = \"{period}\"\n");
            text = text.replacen(&period, &format!("{period}priority = {priority}\n"), 1);
        }
        scratch.file(&format!("{priorities:?}.toml"), &text)
    };
    assert_eq!(replay(RECORDED[0], &with([3, 2, 1]), &[]).exit, 0);
    // Threads of the same priority are in no order.
    assert_eq!(replay(RECORDED[0], &with([2, 2, 2]), &[]).exit, 0);
    let done = replay(RECORDED[0], &with([1, 2, 3]), &["--format", "json"]);
    assert_eq!(
        (done.exit, &done.json()["policy"]),
        (1, &serde_json::Value::Null)
    );
    assert!(!done.json()["inversion"].is_null());
}

/// The task `fast` runs on CPU 0, too.
fn on_another_cpu() -> String {
    let switch = |comm: &str, other: &str| {
        format!(
            "x 1 [000] 822.0: sched:sched_switch: prev_comm={comm} prev_prio=1 prev_state=S ==> next_comm={other} next_prio=1\n"
        )
    };
    switch("swapper/0 prev_pid=0", "fast next_pid=16832")
        + &switch("fast prev_pid=16832", "swapper/0 next_pid=0")
}

#[test]
fn what_cannot_be_judged_ends_with_two_and_how_to_mend_it() {
    let scratch = Scratch::new("foreign-refused");
    let set = scratch.file("set.toml", SET);
    let whole = text(RECORDED[0]);
    let file = |name: &str, text: &str| scratch.file(name, text).to_str().unwrap().to_owned();
    let without_wakeups: Vec<&str> = whole
        .lines()
        .filter(|line| !line.contains("sched_wak"))
        .collect();
    let two_cpus = whole.clone() + &on_another_cpu();
    let cut = &whole[..whole.rfind(" next_pid").unwrap()];
    let long = SET.replace("\"fast\"", "\"a task of a long name 1\"");
    let long = scratch.file(
        "long.toml",
        &long.replace("\"the slow one\"", "\"a task of a long name 2\""),
    );
    let strangers = scratch.file("strangers.toml", &SET.replace("name = \"", "name = \"no "));
    let rms = "--policy rms";
    let real = RECORDED[0].to_owned();
    let cases = [
        (real.clone(), &set, "", "nothing says which order"),
        (real.clone(), &set, "--policy edf", "by fixed priorities"),
        (real.clone(), &set, "--policy zss", "by fixed priorities"),
        (real.clone(), &set, "--policy no", "no policy is called"),
        (
            real.clone(),
            &set,
            "--policy rms --tolerance soon",
            "100us or 0ns",
        ),
        (
            real.clone(),
            &strangers,
            rms,
            "the tasks are: no fast, no the slow one, no a:b [c]",
        ),
        (real, &long, rms, "the kernel keeps 15 bytes"),
        (
            file("w.txt", &without_wakeups.join("\n")),
            &set,
            rms,
            "sched:sched_waking",
        ),
        (file("two.txt", &two_cpus), &set, rms, "on the CPUs 0, 1"),
        (file("cut.txt", cut), &set, rms, "V0809: line 169: found `"),
        (
            file("perf.data", "PERFILE2"),
            &set,
            rms,
            "`perf script` makes it",
        ),
        (
            file("none.txt", "no event\n"),
            &set,
            rms,
            "V0811: .txt traces are only written",
        ),
        (file("empty", ""), &set, rms, "V0811"),
        ("no/such.txt".to_owned(), &set, rms, "V0800"),
    ];
    for (recording, set, arguments, part) in cases {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let done = replay(&recording, set, &arguments);
        assert_eq!(done.exit, 2, "{part}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
        assert!(done.stderr.contains("help: "), "{part}: {}", done.stderr);
    }
}

#[test]
fn a_recording_of_others_wants_a_set_and_a_trace_of_vestal_does_not() {
    let done = vestal(&["replay", RECORDED[0]]);
    assert_eq!(done.exit, 2);
    assert!(
        done.stderr.contains("vestal replay RECORDING FILE"),
        "{}",
        done.stderr
    );
    // A trace of Vestal says itself how it was scheduled.
    let scratch = Scratch::new("foreign-not");
    let trace = scratch.0.join("x.vtrace");
    let trace = trace.to_str().unwrap();
    let set = scratch.file("set.toml", SET);
    let set = set.to_str().unwrap();
    assert_eq!(
        vestal(&["simulate", set, "--policy", "rms", "--trace", trace]).exit,
        0
    );
    let done = vestal(&["replay", trace, "--policy", "rms"]);
    assert!(
        done.exit == 2 && done.stderr.contains("leave out --policy"),
        "{}",
        done.stderr
    );
}

#[test]
fn tasks_without_a_thread_are_named_and_the_others_judged() {
    let scratch = Scratch::new("foreign-missing");
    let set = scratch.file("set.toml", &SET.replace("\"a:b [c]\"", "\"absent\""));
    let done = replay(RECORDED[0], &set, &["--policy", "rms"]);
    assert_eq!(done.exit, 0, "{}", done.stdout);
    assert!(
        done.stdout.contains("No thread is called absent"),
        "{}",
        done.stdout
    );
}

/// The data of a page.
fn data(page: &str) -> serde_json::Value {
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_draws_the_threads_or_those_that_are_tasks_of_the_other_inputs() {
    let scratch = Scratch::new("foreign-report");
    let page = scratch.0.join("page.html");
    let page = page.to_str().unwrap();
    let names = || -> Vec<String> {
        let model = data(page);
        let tasks = model["runs"][0]["tasks"].as_array().unwrap();
        tasks
            .iter()
            .map(|task| task["name"].as_str().unwrap().to_owned())
            .collect()
    };
    for recorded in RECORDED {
        let done = vestal(&["report", recorded, "-o", page]);
        assert_eq!(done.exit, 0, "{}", done.stderr);
        assert!(names().contains(&"the slow one".to_owned()) && names().len() > 5);
    }
    let done = vestal_with_input(&["report", "-", "-o", page], text(RECORDED[0]).as_bytes());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(names().contains(&"a:b [c]".to_owned()));
    let set = scratch.file("set.toml", SET);
    let proof = vestal(&[
        "analyze",
        set.to_str().unwrap(),
        "--test",
        "rms",
        "--format",
        "json",
    ]);
    let proof = scratch.file("proof.json", &proof.stdout);
    // In whichever order they are given.
    let done = vestal(&["report", RECORDED[0], proof.to_str().unwrap(), "-o", page]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert_eq!(names(), ["fast", "the slow one", "a:b [c]"]);
    let run = &data(page)["runs"][0];
    assert_eq!(run["world"], "foreign");
    assert_eq!(
        (&run["jobs"]["released"], &run["jobs"]["completed"]),
        (&14.into(), &14.into())
    );
    let other = vestal(&[
        "analyze",
        "examples/fms.toml",
        "--test",
        "rms",
        "--format",
        "json",
    ]);
    let other = scratch.file("other.json", &other.stdout);
    let text = scratch.file("chart.txt", "tau1 ####\n");
    let cases = [
        (other.to_str().unwrap(), RECORDED[0], "V0823"),
        (text.to_str().unwrap(), "examples/fms.toml", "drawing"),
    ];
    for (first, second, part) in cases {
        let done = vestal(&["report", first, second, "-o", page]);
        assert_eq!(done.exit, 2, "{part}");
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
}

#[test]
fn whatever_is_done_to_a_recording_the_answer_is_an_exit_code_of_the_interface() {
    let scratch = Scratch::new("foreign-mutated");
    let set = scratch.file("set.toml", SET);
    let whole = text(RECORDED[0]);
    let lines: Vec<&str> = whole.lines().collect();
    let mut exits = [0; 3];
    // Each line once removed, once cut in the middle, once doubled.
    for place in 0..lines.len() {
        let mut changed: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        match place % 3 {
            0 => drop(changed.remove(place)),
            1 => changed[place].truncate(lines[place].len() / 2),
            _ => changed.insert(place, lines[place].to_owned()),
        }
        let path = scratch.file("changed.txt", &changed.join("\n"));
        let done = replay(path.to_str().unwrap(), &set, &["--policy", "rms"]);
        assert!((0..=2).contains(&done.exit), "{place}: {}", done.stderr);
        assert!(
            !done.stderr.contains("panicked"),
            "{place}: {}",
            done.stderr
        );
        exits[usize::try_from(done.exit).unwrap()] += 1;
        // A switch that is not there, or there twice, is seen.
        let ours = ["fast", "the slow", "a:b"]
            .iter()
            .any(|name| lines[place].contains(name));
        if lines[place].contains("sched_switch")
            && ours
            && place % 3 != 1
            && place + 1 < lines.len()
        {
            assert_ne!(done.exit, 0, "{}:\n{}", lines[place], done.stdout);
        }
    }
    assert!(exits.iter().all(|count| *count > 10), "{exits:?}");
}
