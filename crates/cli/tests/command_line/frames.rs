//! What `run` has against a frame table, and against a barrier without one.

use crate::support::{Scratch, vestal};

const FRAMES: &str = "examples/frames.toml";

/// What such a run is refused for.
fn refused(arguments: &[&str]) -> String {
    let done = vestal(&[&["run"], arguments, &["--for", "10ms"]].concat());
    assert_eq!(done.exit, 2, "{arguments:?}: {}", done.stderr);
    assert_eq!(done.stdout, "", "{arguments:?}");
    done.stderr
}

#[test]
fn what_a_frame_table_does_not_have_is_refused_with_what_mends_it() {
    for (option, why, help) in [
        (
            "--monitor=perf",
            "has a budget that is watched",
            "leave out --monitor",
        ),
        (
            "--termination=deferred",
            "is stopped once it has begun",
            "leave out --termination deferred",
        ),
        (
            "--observe",
            "without its order nothing is left",
            "leave out --observe",
        ),
        (
            "--mechanism=huang2014",
            "has the paper's mechanisms for",
            "leave out --mechanism huang2014",
        ),
        (
            "--dispatch=native",
            "neither frames nor their barriers",
            "--dispatch managed can",
        ),
        (
            "--barrier=tree",
            "`tree` is no value of --barrier",
            "this version knows: pthread, futex, spin",
        ),
        (
            "--clock=sundial",
            "`sundial` is no value of --clock",
            "this version knows: monotonic, tsc",
        ),
        (
            "--cpus=0,1,0",
            "it has 3 entries",
            "for instance --cpus 0,1",
        ),
        // No live view without a terminal.
        ("--watch", "live view", ""),
    ] {
        let said = refused(&[FRAMES, "--policy", "ftts", option]);
        assert!(
            said.contains(why) && said.contains(help),
            "{option}: {said}"
        );
    }
}

#[test]
fn a_barrier_is_for_cpus_that_wait_for_each_other() {
    for (file, policy) in [
        ("examples/two-cpus.toml", "pedf-vd"),
        ("examples/fms-200.toml", "amc"),
    ] {
        let said = refused(&[file, "--policy", policy, "--barrier", "futex"]);
        let expected = format!("failed to use --barrier with {policy}: its CPUs do not wait");
        assert!(said.contains(&expected), "{said}");
        assert!(said.contains("help: leave out --barrier"), "{said}");
        let said = refused(&[file, "--policy", policy, "--clock", "tsc"]);
        let expected = format!("failed to use --clock with {policy}: nothing is measured");
        assert!(said.contains(&expected), "{said}");
        assert!(said.contains("help: leave out --clock"), "{said}");
    }
}

/// Its only job takes all of its frame.
#[test]
fn a_frame_without_room_for_barriers_is_simulated_and_not_run() {
    let scratch = Scratch::new("frames-full");
    let text = r#"
format = "vestal/1"
levels = ["LO"]
unit   = "ms"

[[task]]
name        = "all"
criticality = "LO"
period      = 10
wcet        = { LO = 9.8 }
"#;
    let file = scratch.file("full.toml", text);
    let file = file.to_str().unwrap();
    let simulated = vestal(&["simulate", file, "--policy", "ftts", "--for", "10ms"]);
    assert_eq!(simulated.exit, 0, "{}", simulated.stderr);
    let said = refused(&[file, "--policy", "ftts"]);
    for expected in [
        "frame 0 is shorter than its barriers at level LO in all, with 500us to spare",
        "use `vestal simulate`",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

/// The shortest frame has a millisecond to spare, of which a real run takes a half.
#[test]
fn a_run_of_a_table_that_keeps_what_it_takes_says_how_much_is_left() {
    for (overhead, takes) in [("slack", "1ms"), ("501us", "501us")] {
        let option = format!("frame-overhead={overhead}");
        let why = refused(&[FRAMES, "--policy", "ftts", "--set", &option]);
        for words in [
            format!("frame-overhead takes {takes} of the 1ms").as_str(),
            "a real run takes 500us beside the jobs",
            "leave frame-overhead out, or let it be 500us at most",
        ] {
            assert!(why.contains(words), "{overhead}: {why}");
        }
    }
}
