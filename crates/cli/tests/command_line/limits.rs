//! What would take for ever, or all memory, is seen before it is begun.

use crate::FMS;
use crate::support::{Scratch, VESTAL, vestal};

/// Two tasks: one takes the whole CPU, the other has a job in 146 years.
const FOR_EVER: &str = "format = \"vestal/1\"\nname = \"x\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ns\"\n\
    [[task]]\nname = \"always\"\ncriticality = \"LO\"\nperiod = 2\nwcet = { LO = 2 }\n\
    [[task]]\nname = \"seldom\"\ncriticality = \"HI\"\nperiod = 4611686018427387904\nwcet = { LO = 7, HI = 9 }\n";

#[test]
fn every_test_ends_where_more_than_the_whole_cpu_is_asked_for() {
    let scratch = Scratch::new("for-ever");
    let file = scratch.file("x.toml", FOR_EVER);
    let file = file.to_str().unwrap();
    for test in [
        "rms",
        "dms",
        "cms",
        "smc",
        "amc-rtb",
        "amc-max",
        "amc-ia",
        "zss",
        "zss:tightened",
        "pt",
        "edf",
    ] {
        let done = vestal(&["analyze", file, "--test", test, "--format", "json"]);
        let document = done.json();
        let found = &document["tests"][0];
        assert_ne!(found["verdict"], "schedulable", "{test}: {found}");
        assert_eq!(done.exit, 1, "{test}");
    }
    // All that there are, unsafe ones included.
    assert_eq!(vestal(&["analyze", file]).exit, 1);
}

#[test]
fn a_file_without_end_is_refused() {
    for arguments in [
        &["check", "/dev/zero"][..],
        &["analyze", FMS, "--overheads", "/dev/zero"],
    ] {
        let done = vestal(arguments);
        assert_eq!(done.exit, 2, "{}", done.stderr);
        assert!(done.stderr.contains("more than"), "{}", done.stderr);
    }
}

#[test]
fn more_tables_than_a_list_may_have_are_refused_before_anything_is_made_of_them() {
    let scratch = Scratch::new("tables");
    let file = scratch.file("x.toml", &"[[task]]\n".repeat(1_300_000));
    let done = vestal(&["check", file.to_str().unwrap()]);
    assert_eq!(done.exit, 2);
    assert!(done.stderr.contains("1300000 of them"), "{}", done.stderr);
}

#[test]
fn so_many_jobs_are_simulated_only_when_it_is_meant() {
    let scratch = Scratch::new("long");
    let file = scratch.file("x.toml", FOR_EVER);
    let file = file.to_str().unwrap();
    let simulate = |more: &[&str]| {
        let arguments = ["simulate", file, "--policy", "rms"];
        vestal(&[&arguments, more].concat())
    };
    let done = simulate(&["--for", "10s"]);
    assert_eq!(done.exit, 2);
    for part in ["some 5000000000 jobs", "--yes", "--for 2s"] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    assert_ne!(simulate(&["--for", "100us"]).exit, 2);
    assert_ne!(simulate(&["--for", "100us", "--yes"]).exit, 2);
}

#[test]
fn an_experiment_that_could_not_be_kept_is_refused() {
    let scratch = Scratch::new("experiment");
    let tests = vec!["\"smc\""; 20_000].join(",");
    let text = format!(
        "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"standard\"\nsets = 3\nseed = 1\ntests = [{tests}]\n"
    );
    let file = scratch.file("x.toml", &text);
    let into = scratch.0.join("out");
    let done = vestal(&[
        "sweep",
        file.to_str().unwrap(),
        "-o",
        into.to_str().unwrap(),
    ]);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(
        done.stderr.contains("20000 tests and simulations"),
        "{}",
        done.stderr
    );
    assert!(!into.exists());
}

/// Before it is known whether this machine lets anything run in real time, and before any of it is taken.
#[cfg(target_os = "linux")]
#[test]
fn what_no_real_run_can_have_is_refused_before_it_begins() {
    let scratch = Scratch::new("no-run");
    let set = |period: &str, work: &str| {
        format!(
            "format = \"vestal/1\"\nname = \"x\"\nlevels = [\"LO\"]\nunit = \"ns\"\n\
             [[task]]\nname = \"one\"\ncriticality = \"LO\"\nperiod = {period}\nwcet = {{ LO = 1 }}\nwork = \"{work}\"\n\
             [[task]]\nname = \"other\"\ncriticality = \"LO\"\nperiod = 1000000000\nwcet = {{ LO = 1 }}\nwork = \"array:1KiB\"\n"
        )
    };
    let served = |period: &str| {
        let server = format!(
            "[[server]]\nname = \"served\"\nkind = \"deferrable\"\nperiod = {period}\ncapacity = 10\ntasks = [\"one\", \"other\"]\n"
        );
        // The array is not there before that is known.
        set("1000000", "array:1024GiB") + &server
    };
    for (policy, text, exit, expected) in [
        (
            "rms",
            set("49999", "spin"),
            2,
            "one: its period of 49999 ns is below the granularity",
        ),
        (
            "hsf",
            served("49999"),
            2,
            "served: its period of 49999 ns is below the granularity",
        ),
        (
            "rms",
            set("1000000", "array:1024GiB"),
            3,
            "MemAvailable in /proc/meminfo",
        ),
        // Only who has servers.
        ("hsf", served("1000000"), 3, "MemAvailable in /proc/meminfo"),
    ] {
        let file = scratch.file("x.toml", &text);
        let file = file.to_str().unwrap();
        let done = vestal(&["run", file, "--policy", policy, "--for", "10ms"]);
        assert_eq!(done.exit, exit, "{}", done.stderr);
        // Lines are broken to fit.
        let said = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{said}");
    }
}

/// The most memory, in bytes, that the program had while it checked a file, as it was last seen before its end; and its exit code.
#[cfg(target_os = "linux")]
fn peak(file: &str) -> (u64, i32) {
    let mut child = std::process::Command::new(VESTAL)
        .args(["check", file])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let (mut peak, mut looks) = (0, 0);
    let exit = loop {
        // Gone, or about to be: then there is no such line.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        if let Some(kibibytes) = line.and_then(|line| line.trim().strip_suffix(" kB")) {
            peak = kibibytes.trim().parse::<u64>().unwrap() << 10;
            looks += 1;
        }
        if let Some(status) = child.try_wait().unwrap() {
            break status.code().unwrap();
        }
        std::thread::park_timeout(std::time::Duration::from_micros(300));
    };
    assert!(looks > 0, "it was never seen");
    (peak, exit)
}

#[cfg(target_os = "linux")]
const SET: &str = "format = \"vestal/1\"\nname = \"x\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n";

/// Sets as people and programs write them, with few keys and with many, in both languages.
#[cfg(target_os = "linux")]
fn large_sets() -> Vec<(&'static str, String)> {
    let each = |count: usize, one: &dyn Fn(usize) -> String, between: &str| {
        let all: Vec<String> = (0..count).map(one).collect();
        all.join(between)
    };
    let short = |number| {
        format!(
            "[[task]]\nname = \"t{number}\"\ncriticality = \"HI\"\nperiod = 1000\nwcet = {{ LO = 0.001, HI = 0.002 }}\n"
        )
    };
    let dotted = |number| {
        format!(
            "[[task]]\nname = \"t{number}\"\ncriticality = \"HI\"\nperiod = 1000\n[task.wcet]\nLO = 0.001\nHI = 0.002\n"
        )
    };
    let inline = |number| {
        format!(
            "  {{ name = \"t{number}\", criticality = \"HI\", period = 1000, wcet = {{ LO = 0.001, HI = 0.002 }} }},\n"
        )
    };
    let long = |number| {
        format!(
            "{{\"name\":\"t{number}\",\"criticality\":\"HI\",\"period\":1000,\"deadline\":900,\"offset\":0,\"cpu\":0,\"wcet\":{{\"LO\":1,\"HI\":2}},\"degraded\":{{\"HI\":1}}}}"
        )
    };
    let compact = |number| {
        format!(
            "{{\"name\":\"t{number}\",\"criticality\":\"HI\",\"period\":1000,\"wcet\":{{\"LO\":1,\"HI\":2}}}}"
        )
    };
    let head = "\"format\":\"vestal/1\",\"name\":\"x\",\"levels\":[\"LO\",\"HI\"],\"unit\":\"ms\"";
    let json = |tasks: String| format!("{{{head},\"task\":[{tasks}]}}");
    vec![
        ("set.toml", SET.to_owned() + &each(20_000, &short, "")),
        ("dotted.toml", SET.to_owned() + &each(14_000, &dotted, "")),
        (
            "inline.toml",
            format!("{SET}task = [\n{}]\n", each(14_000, &inline, "")),
        ),
        ("set.json", json(each(18_000, &compact, ","))),
        ("long.json", json(each(10_000, &long, ","))),
    ]
}

/// What no set is like: little text of which a parser could make much.
#[cfg(target_os = "linux")]
fn dense_texts() -> Vec<(&'static str, String)> {
    let letter = |number: usize| char::from(b"abcdefghijklmnopqrstuvwxyz"[number % 26]);
    let key = |number: usize| -> String {
        let places = [17_576, 676, 26, 1];
        places.map(|place| letter(number / place)).iter().collect()
    };
    let keys = |count: usize, line: &dyn Fn(String) -> String| -> String {
        (0..count).map(|number| line(key(number))).collect()
    };
    let toml = |text: String| SET.to_owned() + &text;
    vec![
        (
            "keys.toml",
            toml(keys(200_000, &|key| format!("{key}=1\n"))),
        ),
        (
            "dots.toml",
            toml(keys(100_000, &|key| format!("{key}.a.b.c.d=1\n"))),
        ),
        (
            "tables.toml",
            toml(keys(120_000, &|key| format!("[{key}]\na=1\n"))),
        ),
        (
            "inline.toml",
            toml(format!("x = [{}]\n", "{a=1},".repeat(250_000))),
        ),
        (
            "list.toml",
            toml(format!("x = [{}]\n", "1,".repeat(750_000))),
        ),
        (
            "lists.toml",
            toml(format!("x = [{}]\n", "[1],".repeat(400_000))),
        ),
        ("lines.toml", toml("\n".repeat(2 << 20))),
        ("headers.toml", "[[task]]\n".repeat(1 << 18)),
        (
            "list.json",
            format!("{{\"x\":[{}1]}}", "1,".repeat(750_000)),
        ),
        (
            "lists.json",
            format!("{{\"x\":[{}1]}}", "[1],".repeat(400_000)),
        ),
        (
            "keys.json",
            format!(
                "{{{}\"x\":1}}",
                keys(200_000, &|key| format!("\"{key}\":1,"))
            ),
        ),
    ]
}

/// Whatever is in it: reading a file takes at most 20 times its size, beside what the program takes for a small one.
#[cfg(target_os = "linux")]
#[test]
fn reading_takes_memory_in_proportion_to_the_file() {
    let scratch = Scratch::new("memory");
    let set = SET.to_owned() + "x = 1\n";
    let small = scratch.file("small.toml", &set);
    let (of_small, exit) = peak(small.to_str().unwrap());
    assert_eq!(exit, 2);
    let sets = large_sets().into_iter().map(|(name, text)| (name, text, 0));
    let dense = dense_texts()
        .into_iter()
        .map(|(name, text)| (name, text, 2));
    let mut most: f64 = 0.0;
    for (name, text, expected) in sets.chain(dense) {
        assert!(text.len() > 1 << 20, "{name} is short");
        let file = scratch.file(name, &text);
        let (peak, exit) = peak(file.to_str().unwrap());
        assert_eq!(exit, expected, "{name}");
        let times = peak.saturating_sub(of_small) as f64 / text.len() as f64;
        assert!(
            times <= 20.0,
            "{name}: {times:.1} times its {} bytes",
            text.len()
        );
        most = most.max(times);
    }
    // The limit is not far from what there is.
    assert!(most > 5.0, "{most}");
}
