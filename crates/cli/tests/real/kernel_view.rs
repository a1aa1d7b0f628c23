//! What a run says of its monitor, and what lays it beside a trace of the kernel.

use super::FMS;
use super::support::{Scratch, vestal};
use serde_json::Value;
use vestal_trace::{Format, Header, Trace};

fn run(options: &[&str]) -> super::Done {
    vestal(
        &[
            &["run", FMS, "--policy", "amc", "--for", "300ms"][..],
            options,
        ]
        .concat(),
    )
}

fn machine(options: &[&str]) -> Value {
    let done = run(&[&["--format", "json"][..], options].concat());
    assert!([0, 5].contains(&done.exit), "{}", done.stderr);
    done.json()["machine"].clone()
}

/// Where nobody asks for a monitor, one that is clearly cheaper here is taken, and what was tried is said; where somebody does, nothing
/// is tried.
#[test]
fn a_run_says_which_monitor_it_took_and_why() {
    let found = machine(&[]);
    let choices = found["monitor_choices"].as_array().unwrap();
    let [choice] = choices.as_slice() else {
        panic!("{found:#}");
    };
    assert_ne!(choice["why"], "", "{found:#}");
    let tried = choice["tried"].as_array().unwrap();
    let nanos = |cost: &Value, key: &str| cost[key].as_u64();
    let taken = match tried.as_slice() {
        // Perf is refused.
        [] => "manager",
        [perf, manager] => {
            let names = (&perf["monitor"], &manager["monitor"]);
            assert_eq!(names, (&"perf".into(), &"manager".into()));
            let [perf_next, manager_next] =
                [perf, manager].map(|cost| nanos(cost, "next_ns").unwrap());
            assert!(perf_next > 0 && manager_next > 0, "{found:#}");
            let late = [perf, manager].map(|cost| nanos(cost, "late_ns"));
            let is_sharp =
                matches!(late, [Some(perf), Some(manager)] if manager <= perf.max(50_000));
            match manager_next < perf_next * 80 / 100 && is_sharp {
                true => "manager",
                false => "perf",
            }
        }
        _ => panic!("{found:#}"),
    };
    assert_eq!(
        (&found["monitor"], &choice["monitor"]),
        (&taken.into(), &taken.into()),
        "{found:#}"
    );
    let words = run(&[]).stdout;
    let name = ["perf", "manager"].map(|name| format!("monitored by {name}, as nobody asked"));
    assert!(
        name.iter().any(|words_of| words.contains(words_of)),
        "{words}"
    );
    let asked = machine(&["--monitor", "perf"]);
    assert_eq!(asked["monitor_choices"], Value::Array(Vec::new()));
    assert!(asked["overshoot_p90_ns"].is_u64() && asked["overshoot_p99_ns"].is_u64());
    // Where nothing is enforced, or others' mechanisms have timers of their own, nobody chooses.
    for options in [&["--observe"][..], &["--mechanism", "huang2014"]] {
        assert_eq!(
            machine(options)["monitor_choices"],
            Value::Array(Vec::new()),
            "{options:?}"
        );
    }
}

/// A manager that dispatches has one timer for all jobs.
#[test]
fn under_a_manager_that_dispatches_there_is_no_choice() {
    let found = machine(&["--dispatch", "managed"]);
    assert_eq!(found["monitor"], "manager", "{found:#}");
    let choice = &found["monitor_choices"][0];
    assert!(
        choice["why"].as_str().unwrap().contains("dispatches"),
        "{found:#}"
    );
    assert_eq!(choice["tried"], Value::Array(Vec::new()));
}

fn header(path: &str, format: Format) -> Header {
    let bytes = std::fs::read(path).unwrap();
    let trace = match format == Format::Csv {
        true => Trace::csv(bytes.as_slice()).map(|trace| trace.header().clone()),
        false => Trace::vtrace(bytes.as_slice()).map(|trace| trace.header().clone()),
    };
    trace.unwrap()
}

#[test]
fn a_trace_of_a_run_has_its_clocks_and_a_thread_for_each_task() {
    let scratch = Scratch::new("kernel-view");
    let [whole, lines] =
        ["x.vtrace", "x.csv"].map(|name| scratch.0.join(name).display().to_string());
    let before = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_nanos();
    let done = run(&["--trace", &whole, "--trace", &lines]);
    let after = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_nanos();
    assert!([0, 5].contains(&done.exit), "{}", done.stderr);
    let header = header(&whole, Format::Vtrace);
    assert_eq!(self::header(&lines, Format::Csv), header);
    let origin = header.origin.unwrap();
    let realtime = u128::from(origin.clock.realtime);
    assert!((before..after).contains(&realtime), "{origin:?}");
    assert!(origin.clock.monotonic > 0 && origin.clock.boottime >= origin.clock.monotonic);
    for (number, task) in header.tasks.iter().enumerate() {
        let mut threads = origin.threads.iter();
        let own = threads.find(|thread| thread.task.is_some_and(|task| task.index() == number));
        let own = own.unwrap_or_else(|| panic!("{} has no thread: {origin:?}", task.name));
        // Those of this example are short enough.
        assert_eq!(own.name, task.name);
    }
    let replayed = vestal(&["replay", &whole]);
    assert_eq!(replayed.exit, 0, "{}{}", replayed.stdout, replayed.stderr);
}

#[test]
fn the_trace_marker_is_written_or_refused_with_what_mends_it() {
    let done = run(&["--trace-marker"]);
    if vestal_linux::trace_marker().is_ok() {
        assert!([0, 5].contains(&done.exit), "{}", done.stderr);
        return;
    }
    assert_eq!(done.exit, 3, "{}", done.stderr);
    assert!(
        done.stderr.contains("trace_marker cannot be written"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("help: mend it with: sudo "),
        "{}",
        done.stderr
    );
}
