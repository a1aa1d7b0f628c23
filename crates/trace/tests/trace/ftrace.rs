//! Recordings that ftrace's tools made.

use crate::common::written;
use crate::world::Random;
use vestal_core::*;
use vestal_trace::read::ftrace::{Options, Recording, read};
use vestal_trace::{Format, Problem, Record, TaskInfo, What};

/// Two threads on one CPU, in both spellings: `lo` is preempted by `hi`.
const REPORT: &str = "\
cpus=2
# a comment about sched_switch: nothing
          <idle>-0     [000]   100.000000: sched_wakeup:         lo:12 [89] CPU:000
          <idle>-0     [000]   100.000010: sched_switch:         swapper/0:0 [120] R ==> lo:12 [89]
              lo-12    [000]   100.001000: sched_wakeup:         hi:11 [49] CPU:000
              lo-12    [000] d..2.   100.001005: sched_switch: prev_comm=lo prev_pid=12 prev_prio=89 prev_state=R ==> next_comm=hi next_pid=11 next_prio=49
              hi-11    [000]   100.001500: irq_handler_entry:    irq=1 name=i8042
              hi-11    [000]   100.002005: sched_switch:         hi:11 [49] S ==> lo:12 [89]
              lo-12    [000]   100.003010: sched_switch:         lo:12 [89] S ==> kworker/0:1:77 [120]
     kworker/0:1-77    [000]   100.003020: sched_switch:         kworker/0:1:77 [120] I ==> swapper/0:0 [120]
";

fn task(name: &str, criticality: u8) -> TaskInfo {
    TaskInfo {
        name: name.to_owned(),
        criticality: Level(criticality),
        period: Duration::from_millis(10),
        deadline: Duration::from_millis(2),
    }
}

fn options() -> Options {
    Options {
        tasks: vec![task("hi", 1), task("lo", 0)],
        blocking: Vec::new(),
    }
}

fn recorded(text: &str, options: &Options) -> Recording {
    read(text.as_bytes(), options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn switches_and_wake_ups_become_jobs() {
    let recording = recorded(REPORT, &options());
    let lines: Vec<String> = recording.records.iter().map(Record::to_string).collect();
    assert_eq!(
        lines,
        [
            "0,seen-release,,1,0,,",
            "10000,seen-start,0,1,0,,",
            "1000000,seen-release,,0,0,,",
            "1005000,seen-stop,0,1,0,,preempted",
            "1005000,seen-start,0,0,0,,",
            "2005000,seen-complete,0,0,0,,",
            "2005000,seen-start,0,1,0,,",
            "3010000,seen-complete,0,1,0,,",
            "3020000,end,,,,0,",
        ]
    );
    assert_eq!(recording.other_lines, 3);
    let bytes = written(
        Format::Svg,
        &recording.header,
        vestal_trace::write::Options::default(),
        &recording.records,
    );
    let svg = String::from_utf8(bytes).unwrap();
    assert_eq!(svg.matches("on CPU 0").count(), 3, "{svg}");
}

#[test]
fn without_a_list_every_thread_but_the_idle_one_is_a_task() {
    let recording = recorded(REPORT, &Options::default());
    let names: Vec<&str> = recording
        .header
        .tasks
        .iter()
        .map(|task| task.name.as_str())
        .collect();
    assert_eq!(names, ["lo", "hi", "kworker/0:1"]);
}

#[test]
fn a_thread_that_blocks_keeps_its_job() {
    let mut options = options();
    options.blocking = vec!["hi".to_owned()];
    let recording = recorded(REPORT, &options);
    let stops = recording.records.iter().filter(|record| {
        matches!(
            record.what,
            What::Observed(Fact::Stopped {
                why: StopReason::Blocked,
                ..
            })
        )
    });
    assert_eq!(stops.count(), 1);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let error = |text: &str| read(text.as_bytes(), &options()).unwrap_err();
    let foreign = error("hello\nworld\n");
    assert!(
        matches!(foreign.problem, Problem::Foreign { .. }),
        "{foreign}"
    );
    let backwards = REPORT.replace("100.003010", "100.000001");
    assert!(error(&backwards).to_string().contains("line 9"));
    for (from, to) in [
        ("==> lo:12 [89]", "lo:12 [89]"),
        ("[000]   100.000010", "[zero]   100.000010"),
        ("100.000010:", "100-000010:"),
    ] {
        let error = error(&REPORT.replacen(from, to, 1));
        assert!(error.to_string().contains("line 4"), "{error}");
    }
}

#[test]
fn whatever_is_done_to_a_report_nothing_panics() {
    let mut refused = 0;
    for seed in 0..4000 {
        let mut random = Random::new(seed);
        let mut bytes = REPORT.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            if bytes.is_empty() {
                break;
            }
            let place = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes[place] = random.next() as u8,
                1 => bytes.insert(place, b"[]:=. \n\xff>9"[random.below(10) as usize]),
                2 => drop(bytes.drain(place..(place + 9).min(bytes.len()))),
                _ => bytes.truncate(place.max(1)),
            }
        }
        refused += u32::from(read(bytes.as_slice(), &options()).is_err());
    }
    assert!(refused > 400, "{refused}");
}
