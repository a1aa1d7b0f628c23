//! Nothing that is there is lost: not an input, not a result beside a trace that cannot be written.

use crate::support::{Scratch, vestal};
use crate::{FMS, THREE};
use std::os::unix::fs::symlink;
use std::path::Path;

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn no_command_writes_over_what_it_reads() {
    let scratch = Scratch::new("own-input");
    let set = std::fs::read_to_string(crate::support::repository().join(FMS)).unwrap();
    let file = scratch.file("set.toml", &set);
    let csv = scratch.file("scenario.csv", "task,job,demand\n");
    std::fs::create_dir_all(scratch.0.join("inner")).unwrap();
    let link = scratch.0.join("parameters.json");
    symlink(&file, &link).unwrap();
    let spelled = scratch.0.join("inner/../set.toml");
    for emit in [&file, &link, &spelled] {
        let arguments = [
            "analyze",
            file.to_str().unwrap(),
            "--test",
            "amc-rtb",
            "--emit",
            emit.to_str().unwrap(),
        ];
        let done = vestal(&arguments);
        assert_eq!(done.exit, 2, "{}", done.stderr);
        assert!(
            done.stderr.contains("overwrite the input"),
            "{}",
            done.stderr
        );
    }
    let simulate = |traces: &[&Path]| {
        let mut arguments = vec![
            "simulate",
            file.to_str().unwrap(),
            "--policy",
            "amc",
            "--scenario",
            csv.to_str().unwrap(),
        ];
        for trace in traces {
            arguments.extend(["--trace", trace.to_str().unwrap()]);
        }
        vestal(&arguments)
    };
    let done = simulate(&[&csv]);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(
        done.stderr.contains("overwrite the input"),
        "{}",
        done.stderr
    );
    // One file under two names.
    let done = simulate(&[&scratch.0.join("x.csv"), &scratch.0.join("inner/../x.csv")]);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stderr.contains("named twice"), "{}", done.stderr);
    assert_eq!(text(&file), set);
}

#[test]
fn a_trace_that_cannot_be_written_costs_neither_the_numbers_nor_the_other_traces() {
    let scratch = Scratch::new("full");
    let (full, whole) = (scratch.0.join("full.vtrace"), scratch.0.join("whole.csv"));
    symlink("/dev/full", &full).unwrap();
    let arguments = [
        "simulate", THREE, "--policy", "amc", "--for", "20s", "--format", "json",
    ];
    let plain = vestal(&arguments);
    let traces = [
        "--trace",
        full.to_str().unwrap(),
        "--trace",
        whole.to_str().unwrap(),
    ];
    let done = vestal(&[&arguments[..], &traces].concat());
    assert_eq!(done.exit, 3, "{}", done.stderr);
    assert_eq!(done.json(), plain.json());
    for part in ["can no longer be written", "V0812", "No space left"] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    let alone = scratch.0.join("alone.csv");
    assert_eq!(
        vestal(&[&arguments[..], &["--trace", alone.to_str().unwrap()]].concat()).exit,
        plain.exit
    );
    assert_eq!(text(&whole), text(&alone));
}

/// What was written of a trace when there was no more room is there, under the name that is said.
#[test]
fn what_was_written_of_a_trace_is_kept() {
    let scratch = Scratch::new("limited");
    let trace = scratch.0.join("x.vtrace");
    // In blocks of 512 bytes; the signal that would end the program is ignored.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let arguments = [
        "simulate",
        THREE,
        "--policy",
        "amc",
        "--for",
        "20s",
        "--trace",
        trace.to_str().unwrap(),
    ];
    let done = std::process::Command::new("sh")
        .args(["-c", script, "sh", crate::support::VESTAL])
        .args(arguments)
        .current_dir(crate::support::repository())
        .output()
        .unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(3), "{stderr}");
    assert!(!trace.exists());
    let (_, kept) = stderr
        .split_once("what was written until then is in ")
        .unwrap();
    let kept = scratch.0.join(kept.lines().next().unwrap());
    let bytes = std::fs::read(&kept).unwrap();
    let whole = scratch.0.join("whole.vtrace");
    let all = vestal(&[
        "simulate",
        THREE,
        "--policy",
        "amc",
        "--for",
        "20s",
        "--trace",
        whole.to_str().unwrap(),
    ]);
    assert_ne!(all.exit, 3);
    let whole = std::fs::read(&whole).unwrap();
    assert!(
        bytes.len() > 16_384 && whole.starts_with(&bytes),
        "{}",
        bytes.len()
    );
}

#[test]
fn a_full_disk_is_the_machine_s() {
    let scratch = Scratch::new("disk");
    let [page, parameters] = ["page.html", "p.json"].map(|name| {
        let path = scratch.0.join(name);
        symlink("/dev/full", &path).unwrap();
        path.display().to_string()
    });
    let trace = scratch.0.join("x.vtrace").display().to_string();
    assert_ne!(
        vestal(&["simulate", THREE, "--policy", "amc", "--trace", &trace]).exit,
        2
    );
    for arguments in [
        &["report", &trace, "-o", &page][..],
        &["analyze", FMS, "--test", "amc-rtb", "--emit", &parameters],
    ] {
        let done = vestal(arguments);
        assert_eq!(done.exit, 3, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains("make room"), "{}", done.stderr);
    }
}

#[test]
fn text_of_files_does_not_steer_the_terminal() {
    let scratch = Scratch::new("escapes");
    let file = scratch.file("a\x1b[2Jb\u{202e}c.toml", "format = 3\n");
    let done = vestal(&["check", file.to_str().unwrap()]);
    assert_eq!(done.exit, 2);
    assert!(
        !done.stderr.contains('\x1b') && !done.stderr.contains('\u{202e}'),
        "{:?}",
        done.stderr
    );
    assert!(
        done.stderr.contains("a\\u{1b}[2Jb\\u{202e}c.toml"),
        "{}",
        done.stderr
    );
    // A name that reads otherwise than it is.
    let set = std::fs::read_to_string(crate::support::repository().join(THREE)).unwrap();
    for unseen in ['\u{202e}', '\u{200b}', '\u{feff}'] {
        let set = set.replacen("\"tau1\"", &format!("\"tau{unseen}1\""), 1);
        let file = scratch.file("set.toml", &set);
        let done = vestal(&["check", file.to_str().unwrap()]);
        assert_eq!(done.exit, 2, "{unseen:?}: {}", done.stdout);
    }
}
