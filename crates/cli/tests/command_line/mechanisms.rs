//! Whose mechanisms carry which policy out, and what is said of the others.

use crate::support::vestal;

const FRAMES: &str = "examples/frames.toml";
const TWO: &str = "examples/two-cpus.toml";
const FMS: &str = "examples/fms-200.toml";

/// What such a command is refused for, before anything runs.
fn refused(arguments: &[&str]) -> String {
    let done = vestal(&[arguments, &["--for", "10ms"]].concat());
    assert_eq!(done.exit, 2, "{arguments:?}: {}", done.stderr);
    assert_eq!(done.stdout, "", "{arguments:?}");
    done.stderr
}

#[test]
fn the_mechanism_of_sigrist_et_al_is_for_the_policies_of_their_paper() {
    const ASKED: &str = "--mechanism=sigrist2015";
    for (file, policy) in [
        (FMS, "amc"),
        (FMS, "smc"),
        (FMS, "edf"),
        (FMS, "pt"),
        (FMS, "plrs"),
    ] {
        let said = refused(&["run", file, "--policy", policy, ASKED]);
        let why = said.contains("frame tables, and for earliest deadlines first");
        let help = said.contains("use edf-vd, pedf-vd or ftts");
        assert!(why && help, "{policy}: {said}");
    }
    for (file, policy) in [(TWO, "pedf-vd"), (FRAMES, "ftts")] {
        for monitor in ["perf", "remainder", "posix-timer"] {
            let monitor = ["--monitor", monitor];
            let run = ["run", file, "--policy", policy, ASKED];
            let said = refused(&[&run[..], &monitor].concat());
            assert!(said.contains("take --monitor manager"), "{said}");
        }
    }
}

#[test]
fn arrivals_are_dispatched_by_that_mechanism_alone() {
    for (file, policy) in [(TWO, "pedf-vd"), (FMS, "edf-vd"), (FRAMES, "ftts")] {
        for command in ["run", "simulate"] {
            let said = refused(&[command, file, "--policy", policy, "--set=dispatcher=own"]);
            let why = said.contains("only the mechanism of Sigrist et al. (2015)");
            let help = said.contains("leave out --set dispatcher=own");
            assert!(why && help, "{command} {policy}: {said}");
        }
    }
    let said = refused(&["run", FMS, "--policy", "amc", "--set", "dispatcher=own"]);
    assert!(said.contains("no option is called `dispatcher`"), "{said}");
    let run = ["run", TWO, "--policy", "pedf-vd", "--mechanism=sigrist2015"];
    let said = refused(&[&run[..], &["--set", "dispatcher=all"]].concat());
    assert!(said.contains("dispatcher=shared|own"), "{said}");
}

#[test]
fn sub_frames_are_begun_for_all_cpus_or_by_each_in_that_mechanism_alone() {
    for command in ["run", "simulate"] {
        let asked = "--set=sub-frame-init=distributed";
        let said = refused(&[command, FRAMES, "--policy", "ftts", asked]);
        let why = said.contains("only the mechanism of Sigrist et al. (2015) has workers");
        let help = said.contains("leave out --set sub-frame-init=distributed");
        assert!(why && help, "{command}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_dispatcher_of_its_own_has_the_last_cpu() {
    let asked = ["--mechanism=sigrist2015", "--set=dispatcher=own"];
    for (file, policy) in [(TWO, "pedf-vd"), (FRAMES, "ftts")] {
        let run = [&["run", file, "--policy", policy][..], &asked].concat();
        let said = refused(&[&run[..], &["--cpus", "0,1"]].concat());
        assert!(said.contains("dispatches arrivals on one more"), "{said}");
        assert!(said.contains("write 3 entries"), "{said}");
        let said = refused(&[&run[..], &["--cpus", "0,1,0"]].concat());
        assert!(said.contains("for the dispatcher alone"), "{said}");
        assert!(said.contains("dispatcher=shared"), "{said}");
    }
}
