//! What the kernel's own traces see of a run: names of threads, clocks, and lines in its trace.

use crate::support::{HI, LO, alone, config, ms, native, real_time_threads, spec};
use std::sync::{Arc, Mutex};
use vestal_core::{Duration, Enforcement};
use vestal_linux::{Executive, Monitor, Recording, Started};
use vestal_sys::clock::{monotonic_nanos, realtime_nanos};
use vestal_trace::Record;

const RUN: Duration = Duration::from_millis(200);

fn executive(looks: impl Fn() + Send + 'static) -> Executive {
    Executive::new(config(Monitor::Manager))
        .cpu(native(Enforcement::Adaptive))
        .task(
            spec("a task with a long name", HI, 2, 20, &[2, 4]),
            move |job| {
                looks();
                job.burn(ms(1))
            },
        )
        .task(spec("a task with a longer one", LO, 1, 50, &[2]), |job| {
            job.burn(ms(1))
        })
}

/// The kernel keeps 15 bytes.
#[test]
fn threads_are_called_as_their_tasks_each_by_another_name() {
    let _alone = alone();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let looks = Arc::clone(&seen);
    let started = Arc::new(Mutex::new(None));
    let begun = Arc::clone(&started);
    let recording = Recording::new(move |beginning| {
        let start = beginning.start.clone();
        assert_eq!(start.get(), None, "before it begins");
        Ok(Box::new(move |_: &[Record]| {
            let mut begun = begun.lock().unwrap();
            *begun = begun.take().or_else(|| start.get());
        }))
    });
    let (before, before_by_day) = (monotonic_nanos(), realtime_nanos());
    let executive =
        executive(move || *looks.lock().unwrap() = real_time_threads(std::process::id()));
    executive.recorded(recording).run(RUN).unwrap();
    let (after, after_by_day) = (monotonic_nanos(), realtime_nanos());
    let started: Started = started.lock().unwrap().take().unwrap();
    assert!((before..after).contains(&started.clock.monotonic));
    assert!((before_by_day..after_by_day).contains(&started.clock.realtime));
    assert!(started.clock.boottime >= started.clock.monotonic);
    let threads = seen.lock().unwrap().clone();
    let named = |name: &str, wanted: &str| {
        let found = started.threads.iter().find(|thread| thread.name == name);
        let found = found.unwrap_or_else(|| panic!("no {name} in {started:?}"));
        assert_eq!(found.wanted, wanted);
        let stat = format!("{} ({name}) ", found.tid);
        assert!(
            threads.iter().any(|seen| seen.starts_with(&stat)),
            "{stat}: {threads:?}"
        );
    };
    named("a task with a l", "a task with a long name");
    named("a task with a~2", "a task with a longer one");
    named("vestal-manager", "vestal-manager");
    assert_eq!(started.threads.len(), threads.len());
}

/// A file in the place of the kernel's marker: what is written there.
#[test]
fn the_trace_marker_is_told_of_each_job_and_each_mode() {
    let _alone = alone();
    let path = std::env::temp_dir().join(format!("vestal-marks-{}", std::process::id()));
    std::fs::write(&path, "").unwrap();
    let report = Executive::new(config(Monitor::Manager))
        .cpu(native(Enforcement::Adaptive))
        .task(spec("hi", HI, 2, 50, &[2, 9]), |job| job.burn(ms(4)))
        .task(spec("lo", LO, 1, 50, &[2]), |job| job.burn(ms(1)))
        .marked(path.clone())
        .run(RUN)
        .unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let process = std::process::id();
    let of = |start: String| text.lines().filter(|line| line.starts_with(&start)).count() as u64;
    let hi = &report.cpus[0].tasks[0].jobs;
    assert_eq!(of(format!("B|{process}|hi ")), hi.completed, "{text}");
    assert_eq!(of(format!("B|{process}|")), of(format!("E|{process}")));
    let rises = of(format!("C|{process}|mode of CPU 0|1"));
    let changes = report.cpus[0].modes.len() as u64;
    // Of changes in one decision the last one is written.
    let written = of(format!("C|{process}|"));
    assert!(rises > 0 && written > rises && written <= changes, "{text}");
    for line in text.lines() {
        assert!(
            ["B|", "E|", "C|"]
                .iter()
                .any(|start| line.starts_with(start)),
            "{line}"
        );
    }
}

#[test]
fn without_a_trace_marker_the_run_is_refused_and_it_is_said_how_to_get_one() {
    let _alone = alone();
    let run = executive(|| {})
        .marked("/nowhere/trace_marker".into())
        .run(RUN);
    let error = run.unwrap_err();
    assert_eq!(error.kind(), vestal_linux::ErrorKind::MachineCannot);
    assert!(
        error.to_string().contains("/nowhere/trace_marker"),
        "{error}"
    );
    assert!(error.remedies()[0].contains("mount -t tracefs"));
}
