//! Recordings that perf and ftrace's tools made.
//!
//! Those in `recordings` are of three SCHED_FIFO threads on CPU 1, with whatever else that CPU did:
//! `fast` (priority 30: 1 ms of 10), `the slow one` (20: 5 ms of 20) and `a:b [c]` (10: 4 ms of 40), 8, 4
//! and 2 jobs. Names of threads that have nothing to do with it are replaced.

use crate::common::written;
use vestal_core::*;
use vestal_testkit::Random;
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
        ..Options::default()
    }
}

/// What `perf script` printed, and what stood in `/sys/kernel/tracing/trace`.
const RECORDED: [&str; 2] = [
    include_str!("recordings/perf-script.txt"),
    include_str!("recordings/tracefs.txt"),
];

/// The threads of [`RECORDED`] as tasks.
fn recorded_tasks() -> Options {
    let tasks = ["fast", "the slow one", "a:b [c]"].map(|name| task(name, 0));
    Options {
        tasks: tasks.to_vec(),
        ..Options::default()
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
    for (from, to, expected) in [
        ("==> lo:12 [89]", "lo:12 [89]", "`==>` between"),
        (
            "[000]   100.000010",
            "[zero]   100.000010",
            "a CPU in brackets",
        ),
        ("100.000010:", "100-000010:", "an instant in seconds"),
        ("100.000010:", "100.0000000010:", "an instant in seconds"),
        (
            "lo:12 [89]\n              lo",
            "lo:12 [8\n              lo",
            "NAME:1 [120] R",
        ),
        ("[120] R", "[120] ?", "a state"),
        ("swapper/0:0", "swapper/0:x", "NAME:1 [120] R"),
    ] {
        let damaged = REPORT.replacen(from, to, 1);
        assert_ne!(damaged, REPORT, "{from}");
        let error = error(&damaged).to_string();
        for part in ["V0809", "line 4", expected, "found `", "perf script"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}

#[test]
fn a_file_that_perf_or_trace_cmd_wrote_itself_is_named_with_its_remedy() {
    for bytes in [
        &b"PERFILE2\x68\0\0\xff\xfe"[..],
        b"\x17\x08Dtracing6\0\n\xff",
    ] {
        let error = read(bytes, &Options::default()).unwrap_err();
        let problem = matches!(error.problem, Problem::Foreign { .. });
        let text = error.to_string();
        assert!(problem && text.contains("`perf script` makes it"), "{text}");
    }
}

/// What the job numbers of a task are that arrived, and that completed.
fn jobs(recording: &Recording, task: u16) -> (Vec<u64>, Vec<u64>) {
    let (mut arrived, mut completed) = (Vec::new(), Vec::new());
    for record in &recording.records {
        match record.what {
            What::Observed(Fact::Released { job }) if job.task.0 == task => {
                arrived.push(job.sequence);
            }
            What::Observed(Fact::Completed { job, .. }) if job.task.0 == task => {
                completed.push(job.sequence);
            }
            _ => {}
        }
    }
    (arrived, completed)
}

#[test]
fn recordings_of_the_real_tools_show_every_job_and_none_besides() {
    for text in RECORDED {
        let recording = recorded(text, &recorded_tasks());
        for (task, count) in [(0, 8), (1, 4), (2, 2)] {
            let (arrived, completed) = jobs(&recording, task);
            assert_eq!(arrived, completed, "task {task}");
            assert_eq!(arrived.len(), count, "task {task}");
        }
        let is_lost = |record: &&Record| matches!(record.what, What::Lost { .. });
        assert_eq!(recording.records.iter().filter(is_lost).count(), 0);
        // Without a list threads are called as they are called last, and numbered where that is not enough.
        let found = recorded(text, &Options::default()).header.tasks;
        let has = |name: &str| found.iter().filter(|task| task.name == name).count();
        for name in ["fast", "the slow one", "a:b [c]", "rcu_preempt"] {
            assert_eq!(has(name), 1, "{name} in {found:?}");
        }
        assert_eq!(has("other"), 0, "{found:?}");
        assert!(found.iter().any(|task| task.name.starts_with("other-")));
    }
}

/// A line of `perf script` with an event of CPU 0.
fn perf(at: u64, event: &str) -> String {
    format!(
        "x 1 [000] {}.{:06}: sched:{event}\n",
        at / 1_000_000,
        at % 1_000_000
    )
}

fn switch(at: u64, prev: (&str, u32), state: &str, next: (&str, u32)) -> String {
    perf(
        at,
        &format!(
            "sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state={state} ==> next_comm={} next_pid={} next_prio=120",
            prev.0, prev.1, next.0, next.1
        ),
    )
}

fn wakeup(at: u64, event: &str, thread: (&str, u32)) -> String {
    let (name, id) = thread;
    perf(
        at,
        &format!("{event}: comm={name} pid={id} prio=120 target_cpu=000"),
    )
}

const IDLE: (&str, u32) = ("swapper/0", 0);
const HI: (&str, u32) = ("hi", 11);
const LO: (&str, u32) = ("lo", 12);

fn lines(recording: &Recording) -> Vec<String> {
    recording.records.iter().map(Record::to_string).collect()
}

#[test]
fn a_wake_up_counts_once_and_what_was_not_seen_to_arrive_has_no_release() {
    let text = [
        // It ran from before the recording.
        switch(1, HI, "S", IDLE),
        wakeup(2, "sched_waking", HI),
        wakeup(3, "sched_wakeup", HI),
        switch(4, IDLE, "R", HI),
        wakeup(5, "sched_waking", LO),
        wakeup(5, "sched_wakeup", LO),
        // It waits for a disk in the middle of its job.
        switch(6, HI, "D", LO),
        wakeup(7, "sched_waking", HI),
        wakeup(7, "sched_wakeup", HI),
        switch(8, LO, "R+", HI),
        switch(9, HI, "S", LO),
        switch(10, LO, "X", IDLE),
        // What woke it was not seen.
        switch(11, IDLE, "R", HI),
        switch(12, HI, "S", IDLE),
    ];
    let recording = recorded(&text.concat(), &options());
    assert_eq!(
        lines(&recording),
        [
            "1000,seen-release,,0,0,,",
            "3000,seen-start,0,0,0,,",
            "4000,seen-release,,1,0,,",
            "5000,seen-stop,0,0,0,,blocked",
            "5000,seen-start,0,1,0,,",
            "6000,seen-wake,,0,,,",
            "7000,seen-stop,0,1,0,,preempted",
            "7000,seen-start,0,0,0,,",
            "8000,seen-complete,0,0,0,,",
            "8000,seen-start,0,1,0,,",
            "9000,seen-complete,0,1,0,,",
            "10000,seen-start,0,0,1,,",
            "11000,seen-complete,0,0,1,,",
            "11000,end,,,,0,",
        ]
    );
    assert_eq!((recording.wakeups, recording.wakeups_inside), (6, 1));
}

#[test]
fn what_a_thread_does_before_it_first_sleeps_is_no_job() {
    let text = [
        wakeup(1, "sched_wakeup_new", LO),
        switch(2, IDLE, "R", LO),
        switch(3, LO, "S", IDLE),
        // It is called otherwise until it runs.
        wakeup(4, "sched_wakeup", ("clone", 11)),
        switch(5, IDLE, "R", ("clone", 11)),
        switch(6, HI, "S", IDLE),
        wakeup(7, "sched_wakeup", HI),
        switch(8, IDLE, "R", HI),
        switch(9, HI, "S", IDLE),
    ];
    let recording = recorded(&text.concat(), &options());
    assert_eq!(jobs(&recording, 0), (vec![0], vec![0]));
    assert_eq!(jobs(&recording, 1), (vec![], vec![0]));
    // Nor is it if it is woken under its new name before it slept.
    let text = [
        switch(1, IDLE, "R", ("clone", 11)),
        wakeup(2, "sched_wakeup", HI),
        switch(3, HI, "S", IDLE),
    ];
    let recording = recorded(&text.concat(), &options());
    assert_eq!(jobs(&recording, 0), (vec![], vec![]));
}

#[test]
fn missing_events_are_marked_and_no_job_goes_on_across_them() {
    let before = [wakeup(1, "sched_wakeup", HI), switch(2, IDLE, "R", HI)].concat();
    let after = [switch(9, HI, "S", IDLE), wakeup(10, "sched_wakeup", HI)].concat();
    for gap in [
        "CPU:0 [LOST 7 EVENTS]\n".to_owned(),
        "CPU:0 [7 EVENTS DROPPED]\n".to_owned(),
        "x 1 [000] 0.000005: PERF_RECORD_LOST lost 7\n".to_owned(),
    ] {
        let recording = recorded(&format!("{before}{gap}{after}"), &options());
        assert_eq!(
            lines(&recording)[2..],
            [
                "1000,seen-stop,0,0,0,,cancelled",
                "1000,lost,,,,7,",
                "9000,seen-release,,0,1,,",
                "9000,end,,,,0,",
            ],
            "{gap}"
        );
        // Before the first event nothing of the recording is missing.
        let recording = recorded(&format!("{gap}{before}"), &options());
        assert!(!lines(&recording).iter().any(|line| line.contains("lost")));
    }
    // A thread leaves a CPU that another one got.
    let hole = switch(5, LO, "S", IDLE);
    let recording = recorded(&format!("{before}{hole}"), &options());
    assert!(lines(&recording).contains(&"4000,lost,,,,1,".to_owned()));
}

#[test]
fn two_threads_cannot_be_one_task_unless_one_has_ended() {
    let second = [wakeup(4, "sched_wakeup", ("hi", 44))];
    let first = |state| {
        [
            wakeup(1, "sched_wakeup", HI),
            switch(2, IDLE, "R", HI),
            switch(3, HI, state, IDLE),
        ]
    };
    let text = [&first("S")[..], &second].concat().concat();
    let error = read(text.as_bytes(), &options()).unwrap_err().to_string();
    for part in [
        "line 4",
        "two threads called `hi`, 11 and 44",
        "one thread for each task",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let text = [&first("X")[..], &second].concat().concat();
    assert_eq!(jobs(&recorded(&text, &options()), 0).0, [0, 1]);
}

#[test]
fn of_a_name_the_kernel_keeps_fifteen_bytes_whether_or_not_they_are_whole_letters() {
    let options = |name: &str| Options {
        tasks: vec![task(name, 0)],
        ..Options::default()
    };
    let text = wakeup(1, "sched_wakeup", ("localisation-10", 7));
    let recording = recorded(&text, &options("localisation-10-of-12"));
    assert_eq!(jobs(&recording, 0).0, [0]);
    assert_eq!(recording.header.tasks[0].name, "localisation-10-of-12");
    // 14 bytes and half a letter.
    let mut bytes = perf(1, "sched_wakeup: comm=")
        .trim_end()
        .as_bytes()
        .to_vec();
    bytes.extend_from_slice(&"Lageregelung-aää".as_bytes()[..15]);
    bytes.extend_from_slice(b" pid=7 prio=9 target_cpu=000\n");
    let recording = read(bytes.as_slice(), &options("Lageregelung-aää")).unwrap();
    assert_eq!(jobs(&recording, 0).0, [0]);
}

#[test]
fn whatever_is_done_to_a_recording_nothing_panics_and_what_is_refused_has_a_line() {
    let (mut refused, mut read_on) = (0, 0);
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let whole = [REPORT, RECORDED[0], RECORDED[1]][random.below(3) as usize];
        let mut bytes = whole.as_bytes().to_vec();
        for _ in 0..=random.below(6) {
            if bytes.is_empty() {
                break;
            }
            let place = random.below(bytes.len() as u64) as usize;
            let end = (place + random.below(120) as usize).min(bytes.len());
            match random.below(6) {
                0 => bytes[place] = random.next() as u8,
                1 => bytes.insert(place, b"[]:=. \n\xff>9"[random.below(10) as usize]),
                2 => drop(bytes.drain(place..end)),
                3 => {
                    let part = bytes[place..end].to_vec();
                    let at = random.below(bytes.len() as u64) as usize;
                    drop(bytes.splice(at..at, part));
                }
                4 => bytes[place] = b'0' + random.below(10) as u8,
                _ => bytes.truncate(place.max(1)),
            }
        }
        let options = [options(), recorded_tasks(), Options::default()];
        match read(bytes.as_slice(), &options[random.below(3) as usize]) {
            Ok(recording) => {
                read_on += 1;
                let instants = recording.records.iter().map(|record| record.at);
                assert!(instants.is_sorted(), "seed {seed}");
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("line "), "seed {seed}: {error}");
            }
        }
    }
    assert!(refused > 1500 && read_on > 1500, "{refused} {read_on}");
}
