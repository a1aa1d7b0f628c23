//! Simulations in which carrying the policy out takes time of the CPUs, with costs that were measured once or made up.

use crate::support::{Done, Scratch, vestal};
use serde_json::{Value, json};
use std::fmt::Write as _;

const ROVER: &str = "examples/advise.toml";
const TWO_CPUS: &str = "examples/two-cpus.toml";
const FRAMES: &str = "examples/frames.toml";
const EPYC: &str = "examples/overheads/epyc.json";
const PHI: &str = "examples/overheads/sigrist2015-table-1.json";

fn simulated(file: &str, policy: &str, more: &[&str]) -> Done {
    let usual = [
        "simulate",
        file,
        "--policy",
        policy,
        "--for",
        "2s",
        "--scenario",
        "overrun=0.3",
    ];
    vestal(&[usual.as_slice(), more].concat())
}

fn json_of(file: &str, policy: &str, more: &[&str]) -> Value {
    let done = simulated(file, policy, &[more, &["--format", "json"]].concat());
    assert_eq!(done.exit, 0, "{policy}: {}", done.stderr);
    done.json()
}

fn sum(document: &Value, of: &str) -> u64 {
    let cpus = document["cpus"].as_array().unwrap().iter();
    cpus.map(|cpu| cpu[of].as_u64().unwrap()).sum()
}

/// A file of costs with one mechanism for frame tables: 1 ms for a frame, 100 us for a sub-frame, 10 us for its barrier.
fn of_frames(scratch: &Scratch) -> String {
    let cost = |name: &str, nanos: u64| json!({ "name": name, "count": 1, "mean_ns": nanos, "median_ns": nanos, "p99_ns": nanos, "max_ns": nanos });
    let costs = [
        cost("job-start", 0),
        cost("job-end", 0),
        cost("switch", 0),
        cost("frame", 1_000_000),
        cost("sub-frame", 100_000),
        cost("barrier", 10_000),
    ];
    let document = json!({ "format": "vestal-result/1", "bench": "primitives", "primitives": [],
        "mechanisms": [{ "name": "frames", "what": "", "dispatch": "frames", "costs": costs }] });
    let file = scratch.file("frames.json", &document.to_string());
    file.to_str().unwrap().to_owned()
}

#[test]
fn costs_take_time_of_the_cpus_and_results_say_whose_they_are() {
    let plain = json_of(ROVER, "amc", &[]);
    assert_eq!(
        (&plain["overheads"], &plain["overhead"]),
        (&Value::Null, &json!({}))
    );
    assert_eq!(sum(&plain, "overhead_ns"), 0);
    let with = json_of(ROVER, "amc", &["--overheads", EPYC]);
    assert_eq!(
        with["overheads"],
        json!({ "file": EPYC, "statistic": "max", "mechanism": "native/perf" })
    );
    assert_eq!(with["proof"]["test"], "amc-rtb");
    // The same jobs arrive and want the same, and each takes longer.
    assert_eq!(with["jobs"]["released"], plain["jobs"]["released"]);
    for task in 0..3 {
        let response = |document: &Value| document["tasks"][task]["response_ns"]["min"].as_u64();
        assert!(response(&with) > response(&plain), "{with}");
    }
    // By cause they are what they are by CPU, up to the mean's rounding.
    let by_cause = with["overhead"].as_object().unwrap();
    let of_cause = |cost: &Value| cost["count"].as_f64().unwrap() * cost["mean"].as_f64().unwrap();
    let all: f64 = by_cause.values().map(of_cause).sum();
    assert!(
        (all - sum(&with, "overhead_ns") as f64).abs() < 1.0,
        "{by_cause:?}"
    );
    let shares: f64 = by_cause
        .values()
        .filter_map(|cost| cost["share"].as_f64())
        .sum();
    assert!((shares - all / 2e9).abs() < 1e-9);
    for cause in ["job", "release", "switch", "mode"] {
        assert!(by_cause[cause]["count"].as_u64() > Some(0), "{by_cause:?}");
    }
    // Another mechanism, and less of each.
    let managed = json_of(
        ROVER,
        "amc",
        &["--overheads", EPYC, "--mechanism", "managed/manager"],
    );
    let mean = json_of(ROVER, "amc", &["--overheads", EPYC, "--statistic", "mean"]);
    let drawn = json_of(ROVER, "amc", &["--overheads", EPYC, "--statistic", "drawn"]);
    assert!(sum(&managed, "overhead_ns") > sum(&with, "overhead_ns"));
    assert!(sum(&mean, "overhead_ns") < sum(&with, "overhead_ns"));
    assert!(sum(&drawn, "overhead_ns") < sum(&with, "overhead_ns"));
    let again = json_of(ROVER, "amc", &["--overheads", EPYC, "--statistic", "drawn"]);
    assert_eq!(again, drawn);
    let page = simulated(ROVER, "amc", &["--overheads", EPYC]).stdout;
    assert!(
        page.contains(&format!("overheads: max of native/perf, of {EPYC}")),
        "{page}"
    );
    assert!(
        page.contains("CPU 0: busy") && page.contains(", overhead "),
        "{page}"
    );
}

/// The test is asked with the overheads, too: what it does not prove with them is not guaranteed.
#[test]
fn what_is_not_proved_with_overheads_is_not_guaranteed() {
    let done = simulated(
        TWO_CPUS,
        "pedf-vd",
        &["--overheads", EPYC, "--format", "json"],
    );
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(done.stderr.contains("with overheads"), "{}", done.stderr);
    let document = done.json();
    assert_eq!(document["proof"], Value::Null);
    let taken = |cpu: usize| document["cpus"][cpu]["overhead_ns"].as_u64();
    assert!(taken(0) > Some(0) && taken(1) > Some(0));
    let plain = json_of(TWO_CPUS, "pedf-vd", &[]);
    assert_eq!(plain["proof"]["test"], "pedf-vd");
}

/// By hand: each of the two frames of 10 ms costs 1 ms, and each sub-frame in which somebody has a job 110 us, on both
/// CPUs. Attitude (HI) runs at once after that.
#[test]
fn a_frame_costs_what_it_and_its_sub_frames_do() {
    let scratch = Scratch::new("costs-frames");
    let costs = of_frames(&scratch);
    let usual = [
        "simulate", FRAMES, "--policy", "ftts", "--for", "20ms", "--format", "json",
    ];
    let document = vestal(&[usual.as_slice(), &["--overheads", &costs]].concat()).json();
    let frame = &document["overhead"]["frame"];
    // Two sub-frames in each of two frames, on two CPUs.
    assert_eq!(frame["count"], 8);
    assert_eq!(frame["max"], 1_110_000);
    assert_eq!(sum(&document, "overhead_ns"), 4 * 1_000_000 + 8 * 110_000);
    assert_eq!(
        document["tasks"][0]["response_ns"]["min"],
        3_000_000 + 1_110_000
    );
    // o: the frame, and both sub-frames. The test has looked for a table with as much to spare.
    assert_eq!(document["options"]["frame-overhead"], "1220000ns");
    let asked = ["--set", "frame-overhead=500us"];
    let document = vestal(&[usual.as_slice(), &asked].concat()).json();
    assert_eq!(document["options"]["frame-overhead"], "500000ns");
    let slack = ["--set", "frame-overhead=slack"];
    let document = vestal(&[usual.as_slice(), &slack].concat()).json();
    assert_eq!(document["options"]["frame-overhead"], "1000000ns");
    // With less to spare than it costs nothing is proved, and jobs are dropped for nothing.
    let none = ["--set", "frame-overhead=0ns", "--overheads", &costs];
    let document = vestal(&[usual.as_slice(), &none].concat());
    assert!(
        document
            .stderr
            .contains("frame-overhead=0ns: what ftts guarantees is not covered"),
        "{}",
        document.stderr
    );
    let document = document.json();
    assert_eq!(document["proof"], Value::Null);
    assert_eq!(
        document["frames"]["unprovoked"],
        document["jobs"]["dropped"]
    );
    assert!(document["jobs"]["dropped"].as_u64() > Some(0), "{document}");
    for (value, why) in [
        ("frame-overhead=2ms", "frame 1 is shorter than"),
        (
            "frame-overhead=much",
            "`much` is no value of `frame-overhead`",
        ),
    ] {
        let done = vestal(&[usual.as_slice(), &["--set", value]].concat());
        assert_eq!(done.exit, 2, "{}", done.stderr);
        assert!(done.stderr.contains(why), "{}", done.stderr);
    }
}

/// What a run recorded is decided again, with the overhead of its frames, and shows when mechanisms had the CPUs.
#[test]
fn recorded_runs_with_costs_replay() {
    let scratch = Scratch::new("costs-replay");
    let frames = of_frames(&scratch);
    for (file, policy, costs) in [
        (ROVER, "edf-vd", EPYC),
        (ROVER, "zss", EPYC),
        (TWO_CPUS, "pedf-vd", EPYC),
        (FRAMES, "ftts", &frames),
    ] {
        let trace = scratch.0.join(format!("{policy}.vtrace"));
        let csv = scratch.0.join(format!("{policy}.csv"));
        let (trace, text) = (trace.to_str().unwrap(), csv.to_str().unwrap());
        let more = [
            "--overheads",
            costs,
            "--statistic",
            "drawn",
            "--trace",
            trace,
            "--trace",
            text,
        ];
        let done = simulated(file, policy, &more);
        assert_eq!(done.exit, 0, "{policy}: {}", done.stderr);
        let replay = vestal(&["replay", trace]);
        assert_eq!(
            replay.exit, 0,
            "{policy}: {}{}",
            replay.stdout, replay.stderr
        );
        let rows = std::fs::read_to_string(&csv).unwrap();
        let edge = |edge: &str| rows.lines().filter(|row| row.contains(edge)).count();
        assert!(edge("overhead-begin") > 10, "{policy}");
        assert_eq!(edge("overhead-begin"), edge("overhead-end"), "{policy}");
    }
}

/// A platform as large as the paper's, and twice.
#[test]
fn sixty_four_cpus_are_simulated() {
    let scratch = Scratch::new("costs-64");
    let mut text =
        "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nplatform = { cpus = 64 }\n".to_owned();
    for number in 0..128 {
        let (level, wcet) = match number % 2 {
            0 => ("LO", "LO = \"20ms\""),
            _ => ("HI", "LO = \"20ms\", HI = \"40ms\""),
        };
        write!(text, "[[task]]\nname = \"t{number}\"\ncriticality = \"{level}\"\nperiod = \"200ms\"\narrival = \"periodic\"\nwcet = {{ {wcet} }}\n").unwrap();
    }
    let file = scratch.file("many.toml", &text);
    let file = file.to_str().unwrap();
    let frames = json_of(
        file,
        "ftts",
        &[
            "--overheads",
            PHI,
            "--mechanism",
            "ftts/32",
            "--statistic",
            "mean",
        ],
    );
    assert_eq!(frames["cpus"].as_array().unwrap().len(), 64);
    assert!(
        frames["cpus"]
            .as_array()
            .unwrap()
            .iter()
            .all(|cpu| cpu["overhead_ns"].as_u64() > Some(0))
    );
    assert_eq!(
        frames["frames"],
        json!({ "total": 10, "skipped": 0, "lo_skipped": frames["frames"]["lo_skipped"], "overrun": 0, "unprovoked": 0, "unprovoked_undecided": 0,
            "overhead_ns": frames["frames"]["overhead_ns"], "barrier": null, "clock": null, "dispatcher": null, "sub_frame_init": null,
            "started_early": null, "checks": null, "found_late": null })
    );
    let edf = json_of(file, "pedf-vd", &["--overheads", EPYC]);
    assert_eq!(edf["jobs"]["missed"], 0);
    let used = edf["cpus"].as_array().unwrap().iter();
    let used = used.filter(|cpu| cpu["overhead_ns"].as_u64() > Some(0));
    assert!(used.count() > 16, "{edf}");
}

/// A file, a policy, more arguments; what is wrong, and what mends it.
type Refused = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
);

const REFUSED: [Refused; 8] = [
    (
        ROVER,
        "amc",
        &["--statistic", "mean"],
        "there are no overheads",
        "--overheads FILE",
    ),
    (
        ROVER,
        "amc",
        &["--overheads", "none.json"],
        "No such file",
        "name a file that exists",
    ),
    (
        ROVER,
        "amc",
        &["--overheads", EPYC, "--statistic", "median"],
        "median",
        "mean, p99, max, drawn",
    ),
    (
        ROVER,
        "amc",
        &["--overheads", EPYC, "--dispatch", "native"],
        "managed dispatch",
        "leave out --dispatch native",
    ),
    (
        ROVER,
        "edf-vd",
        &["--overheads", EPYC, "--mechanism", "native/perf"],
        "`native/perf` does not carry edf-vd out",
        "managed/manager do",
    ),
    (
        FRAMES,
        "ftts",
        &["--overheads", EPYC],
        "none of the mechanisms there carries ftts out",
        "vestal explain overheads",
    ),
    (
        "examples/mc2-two-cpus.toml",
        "mc2",
        &["--overheads", EPYC],
        "what tables, budgets and ghosts of levels cost",
        "leave out --overheads",
    ),
    (
        "examples/hsf-figure-14.toml",
        "hsf",
        &["--overheads", EPYC],
        "no test speaks of the policy",
        "leave out --overheads",
    ),
];

#[test]
fn what_cannot_be_is_refused_and_says_what_mends_it() {
    for (file, policy, more, why, help) in REFUSED {
        let done = vestal(&[&["simulate", file, "--policy", policy, "--for", "1s"], more].concat());
        assert_eq!(
            (done.exit, done.stdout.as_str()),
            (2, ""),
            "{policy} {more:?}"
        );
        let words: Vec<_> = done.stderr.split_whitespace().collect();
        let text = words.join(" ");
        assert!(
            text.contains(why) && text.contains(help),
            "{policy} {more:?}: {text}"
        );
    }
    // A test has no drawn overheads.
    let done = vestal(&[
        "analyze",
        ROVER,
        "--overheads",
        EPYC,
        "--statistic",
        "drawn",
    ]);
    assert_eq!(done.exit, 2);
    assert!(
        done.stderr.contains("mean, p99, max") && !done.stderr.contains("max, drawn"),
        "{}",
        done.stderr
    );
}
