//! `vestal doctor` on machines that are directories: a bench machine prepared for real-time runs, a
//! laptop that is not, nothing at all, and rubbish. The first two are in `tests/machines`.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use vestal_core::Service;
use vestal_linux::doctor::{
    Basis, BudgetProbe, Facts, Finding, GapProbe, Probes, State, Verdict, WakeUpProbe, judge,
};
use vestal_linux::{ArmingCost, Monitor, MonitorChoice, Summary};

fn machine(name: &str) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.join("tests/machines").join(name)
}

fn read(root: &Path) -> Vec<Finding> {
    judge(&Facts::read(root, None), None)
}

fn states(findings: &[Finding]) -> BTreeMap<&str, State> {
    let states: BTreeMap<_, _> = findings
        .iter()
        .map(|finding| (finding.check, finding.state))
        .collect();
    assert_eq!(states.len(), findings.len(), "a name is given twice");
    states
}

fn found<'a>(findings: &'a [Finding], check: &str) -> &'a Finding {
    let mut findings = findings.iter();
    findings.find(|finding| finding.check == check).unwrap()
}

/// A directory of this test, removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("doctor-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The files of a machine, relative to its root.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_machine_prepared_for_real_time_runs_is_fit() {
    let findings = read(&machine("bench"));
    for finding in &findings {
        assert_eq!(finding.state, State::Good, "{finding:#?}");
        assert_eq!((finding.basis, &finding.remedy), (Basis::Read, &None));
        assert!(!finding.meaning.is_empty() && finding.source.starts_with('/'));
    }
    assert_eq!(Verdict::of(&findings), Verdict::Fit);
    assert_eq!(
        found(&findings, "preemption").source,
        "/sys/kernel/realtime"
    );
    assert_eq!(found(&findings, "interrupts").found, "none of 3");
    assert_eq!(
        found(&findings, "virtualization").found,
        "no (OptiPlex 7010)"
    );
    assert!(
        found(&findings, "idle-states").found.contains("C1"),
        "C6 is disabled"
    );
}

#[test]
fn a_virtual_machine_is_told_everything_that_is_wrong() {
    use State::{Good, Matters, Missing, Note};
    let findings = read(&machine("guest"));
    let expected = BTreeMap::from([
        ("sched-fifo", Missing),
        ("memory-lock", Missing),
        ("perf-events", Note),
        ("allowed-cpus", Good),
        ("timer-slack", Note),
        ("preemption", Matters),
        ("rt-throttling", Note),
        ("rt-group", Missing),
        ("clock-source", Matters),
        ("virtualization", Matters),
        ("stolen-time", Matters),
        ("isolation", Note),
        ("smt", Matters),
        ("governor", Matters),
        ("idle-states", Note),
        ("interrupts", Note),
        ("foreign-threads", Matters),
    ]);
    assert_eq!(states(&findings), expected);
    assert_eq!(Verdict::of(&findings), Verdict::Cannot);
    for finding in &findings {
        let mended = finding.state == Good || finding.remedy.is_some();
        assert!(mended, "{finding:#?} says what to do");
    }
    assert_eq!(found(&findings, "interrupts").found, "2 of 3");
    assert_eq!(
        found(&findings, "foreign-threads").found,
        "multipathd (pid 417, SCHED_RR 99), data-loop.0 (pid 1201, SCHED_FIFO 83)",
        "the kernel's own threads and those of the normal class are not among them"
    );
    assert_eq!(found(&findings, "smt").found, "CPU 3");
    let preemption = found(&findings, "preemption");
    assert_eq!(preemption.source, "/boot/config-6.8.0-51-generic");
    let group = found(&findings, "rt-group");
    assert_eq!(
        group.source,
        "/sys/fs/cgroup/cpu,cpuacct/user.slice/cpu.rt_runtime_us"
    );
}

#[test]
fn the_cpu_that_is_asked_for_is_the_one_that_is_judged() {
    let findings = judge(&Facts::read(&machine("bench"), Some(0)), None);
    assert_eq!(found(&findings, "isolation").state, State::Note);
    assert!(
        found(&findings, "isolation")
            .remedy
            .as_deref()
            .unwrap()
            .contains("--cpus 2"),
        "an isolated CPU is there"
    );
    assert_eq!(found(&findings, "interrupts").found, "2 of 3");
    assert_eq!(
        found(&findings, "foreign-threads").found,
        "watchdogd (pid 612, SCHED_FIFO 99)"
    );
    let outside = judge(&Facts::read(&machine("bench"), Some(4)), None);
    assert_eq!(found(&outside, "allowed-cpus").state, State::Missing);
}

#[test]
fn many_foreign_threads_are_named_in_part_and_counted() {
    let mut facts = Facts::read(&machine("guest"), None);
    let threads = facts.foreign.as_mut().unwrap();
    threads.resize(7, threads[0].clone());
    let findings = judge(&facts, None);
    let found = &found(&findings, "foreign-threads").found;
    assert!(found.ends_with(", 2 more"), "{found}");
    assert_eq!(found.matches("(pid ").count(), 5);
    facts.foreign = None;
    let unseen = judge(&facts, None);
    let state = |findings| states(findings)["foreign-threads"];
    assert_eq!(state(&unseen), State::Unknown, "hidepid");
}

#[test]
fn where_nothing_can_be_read_nothing_is_claimed() {
    let empty = Scratch::new("empty");
    let findings = read(&empty.0);
    for finding in &findings {
        // Without a control group's file the kernel has no RT group scheduling.
        let expected = match finding.check {
            "rt-group" => State::Good,
            _ => State::Unknown,
        };
        assert_eq!(finding.state, expected, "{finding:#?}");
    }
    assert_eq!(
        Verdict::of(&findings),
        Verdict::Findings,
        "nor that it is fit"
    );
    assert_eq!(findings.len(), read(&machine("bench")).len());
    assert_eq!(read(&empty.0.join("nowhere")).len(), findings.len());
}

/// What may stand in a file instead of what should. None of it makes sense anywhere.
const RUBBISH: [&[u8]; 7] = [
    b"\xff\xfe\x00",
    b"-",
    b"\0",
    b"99999999999999999999999999999999999999",
    b"0-,,-7\n",
    b"PREEMPT_RT (performance\n\n\n",
    b"CapEff: zz\nVmSize: \nCpus_allowed_list: 9-1\nflags\ncpu3\ncpu7 -1\nMax realtime priority\n",
];

#[test]
fn rubbish_in_all_files_is_neither_believed_nor_a_panic() {
    for (number, rubbish) in RUBBISH.iter().enumerate() {
        let tree = Scratch::new(&format!("rubbish-{number}"));
        for name in ["bench", "guest"] {
            for file in files(&machine(name)) {
                let path = tree.0.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, rubbish).unwrap();
            }
        }
        for finding in judge(&Facts::read(&tree.0, Some(3)), None) {
            let believed = match finding.check {
                // Any word may be the name of a governor or a clock source that is new.
                "governor" | "clock-source" => {
                    [State::Unknown, State::Note, State::Matters].contains(&finding.state)
                }
                "rt-group" => finding.state == State::Good,
                "virtualization" => [State::Unknown, State::Good].contains(&finding.state),
                _ => finding.state == State::Unknown,
            };
            assert!(believed, "rubbish {number}: {finding:#?}");
        }
    }
}

/// One file at a time, so that what is damaged takes nothing along with it.
#[test]
fn a_damaged_file_costs_its_own_findings_only() {
    let whole = read(&machine("bench"));
    let of_status = ["sched-fifo", "memory-lock", "allowed-cpus"];
    for damaged in files(&machine("bench")) {
        let tree = Scratch::new("damaged");
        for file in files(&machine("bench")) {
            let path = tree.0.join(&file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if file == damaged {
                // A directory: there, and not to be read.
                fs::create_dir(path).unwrap();
            } else {
                fs::copy(machine("bench").join(&file), path).unwrap();
            }
        }
        let found = judge(&Facts::read(&tree.0, Some(3)), None);
        let changed: Vec<&str> = whole
            .iter()
            .zip(&found)
            .filter(|(before, after)| before.state != after.state)
            .map(|(before, _)| before.check)
            .collect();
        if damaged.ends_with("self/status") {
            // The limits still say what the capabilities do not.
            assert_eq!(changed, of_status);
        } else {
            assert!(changed.len() <= 1, "{}: {changed:?}", damaged.display());
        }
    }
}

fn summary(p99: u64) -> Summary {
    Summary {
        count: 40,
        min: p99 / 4,
        mean: 0.0,
        median: p99 / 2,
        p90: p99 / 2,
        p99,
        max: p99,
        sum: p99,
    }
}

/// Measurements in which everything takes `nanos`.
fn probes(nanos: u64) -> Probes {
    Probes {
        fifo: true,
        perf: true,
        wake_up: Ok(WakeUpProbe {
            lateness: summary(nanos),
            real_time: true,
        }),
        gaps: Ok(GapProbe {
            gaps: summary(nanos),
            observed_nanos: Service::from_millis(300).as_nanos(),
        }),
        budgets: vec![BudgetProbe {
            monitor: Monitor::Perf,
            overshoot: Ok(summary(nanos)),
        }],
        monitor: Ok(MonitorChoice {
            tried: vec![
                arming(Monitor::Perf, nanos),
                arming(Monitor::Manager, nanos / 2),
            ],
            is_manager: true,
            ..MonitorChoice::default()
        }),
    }
}

fn arming(monitor: Monitor, nanos: u64) -> ArmingCost {
    ArmingCost {
        monitor,
        next: summary(2 * nanos),
        behind: summary(nanos / 5),
    }
}

#[test]
fn what_a_run_takes_by_default_is_said_with_what_both_monitors_cost() {
    let facts = Facts::read(&machine("bench"), None);
    let findings = judge(&facts, Some(&probes(23_140)));
    let monitor = found(&findings, "monitor");
    assert_eq!(
        (monitor.state, monitor.basis),
        (State::Good, Basis::Measured)
    );
    assert_eq!(
        monitor.found,
        "manager: perf takes 23.2 us a job, 2.4 behind an earlier timer; manager takes 11.6 us a job, 1.2 behind an earlier timer"
    );
    let refused = Probes {
        monitor: Err("perf_event_open is refused".to_owned()),
        ..probes(23_140)
    };
    let findings = judge(&facts, Some(&refused));
    let monitor = found(&findings, "monitor");
    assert_eq!(monitor.state, State::Unknown);
    assert!(monitor.found.contains("refused"), "{monitor:?}");
}

#[test]
fn measurements_are_judged_by_their_size() {
    let facts = Facts::read(&machine("bench"), None);
    let measured = |nanos| {
        let findings = judge(&facts, Some(&probes(nanos)));
        let state = |check| found(&findings, check).state;
        [state("wake-up"), state("gaps"), state("budget-perf")]
    };
    use State::{Good, Matters, Note};
    assert_eq!(measured(40_000), [Good, Good, Good]);
    assert_eq!(measured(150_000), [Good, Good, Note]);
    assert_eq!(measured(300_000), [Note, Note, Matters]);
    assert_eq!(measured(1_500_000), [Matters, Matters, Matters]);
}

#[test]
fn what_was_tried_counts_more_than_what_was_read() {
    // The guest's files say no, the trial says yes; and the other way round.
    let mut tried = probes(0);
    let guest = Facts::read(&machine("guest"), None);
    let findings = judge(&guest, Some(&tried));
    let right = found(&findings, "sched-fifo");
    assert_eq!((right.state, right.basis), (State::Good, Basis::Tried));
    tried.fifo = false;
    tried.perf = false;
    tried.gaps = Err("not without SCHED_FIFO".to_owned());
    let bench = Facts::read(&machine("bench"), None);
    let findings = judge(&bench, Some(&tried));
    let right = found(&findings, "sched-fifo");
    assert_eq!((right.state, right.basis), (State::Missing, Basis::Tried));
    assert!(
        right.found.contains("in spite of CAP_SYS_NICE"),
        "{right:#?}"
    );
    assert_eq!(found(&findings, "perf-events").state, State::Note);
    let gaps = found(&findings, "gaps");
    assert_eq!(gaps.state, State::Unknown);
    assert!(gaps.found.contains("not measured"));
    assert_eq!(Verdict::of(&findings), Verdict::Cannot);
}
