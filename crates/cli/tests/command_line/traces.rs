//! Traces of simulated runs: which files are written, when, and that they say what the result says.

use crate::support::traces::{counts, figures, read};
use crate::support::{Done, Scratch, vestal};
use crate::{FMS, THREE};
use std::fs;
use std::path::PathBuf;
use vestal_trace::{Dispatch, Format};

/// Every policy under managed dispatch, and those of fixed priorities under native dispatch too.
pub(crate) const WORLDS: [(&str, &str); 17] = [
    ("rms", "managed"),
    ("dms", "managed"),
    ("cms", "managed"),
    ("smc", "managed"),
    ("amc", "managed"),
    ("edf", "managed"),
    ("edf-vd", "managed"),
    ("plrs", "managed"),
    ("ocbp", "managed"),
    ("zss", "managed"),
    ("pt", "managed"),
    ("rms", "native"),
    ("dms", "native"),
    ("cms", "native"),
    ("smc", "native"),
    ("amc", "native"),
    ("zss", "native"),
];

pub(crate) fn simulate(file: &str, world: (&str, &str), arguments: &[&str]) -> Done {
    let (policy, dispatch) = world;
    let common = ["simulate", file, "--policy", policy, "--dispatch", dispatch];
    vestal(&[&common, arguments].concat())
}

/// Whether the policy of `world` finds an order for the set: job priorities need a set that they can
/// schedule.
pub(crate) fn has_an_order(world: (&str, &str), file: &str) -> bool {
    !["plrs", "ocbp"].contains(&world.0) || !file.contains("overload")
}

/// Four tasks that ask for more than the CPU: deadlines are missed, jobs wait until there are too many.
pub(crate) const OVERLOAD: &str = r#"
format = "vestal/1"
name = "overload"
levels = ["LO", "HI"]
[[task]]
name = "a"
criticality = "HI"
period = "10ms"
wcet = { LO = "4ms", HI = "7ms" }
[[task]]
name = "b"
criticality = "LO"
period = "12ms"
wcet = { LO = "5ms" }
[[task]]
name = "c"
criticality = "HI"
period = "25ms"
wcet = { LO = "9ms", HI = "11ms" }
[[task]]
name = "d"
criticality = "LO"
period = "30ms"
wcet = { LO = "10ms" }
"#;

#[test]
fn a_trace_counts_what_the_result_counts_in_every_world() {
    let scratch = Scratch::new("counts");
    let overload = scratch.file("overload.toml", OVERLOAD);
    let (mut missed, mut dropped, mut modes, mut late) = (0, 0, 0, 0);
    for world in WORLDS {
        for (file, scenario) in [
            (FMS, "overrun=0.5"),
            (THREE, "hi"),
            (overload.to_str().unwrap(), "overrun=0.4"),
        ] {
            if !has_an_order(world, file) {
                continue;
            }
            for set in [&["--set", "exhaustion=abort"][..], &[]] {
                let paths = [scratch.0.join("x.vtrace"), scratch.0.join("x.csv")];
                let arguments = [
                    &["--for", "3s", "--scenario", scenario, "--format", "json"],
                    set,
                    &["--trace", paths[0].to_str().unwrap()],
                    &["--trace", paths[1].to_str().unwrap()],
                ];
                let done = simulate(file, world, &arguments.concat());
                assert!(done.exit <= 1, "{world:?} {file}: {}", done.stderr);
                let (header, records) = read(&paths[0]);
                assert_eq!(read(&paths[1]), (header.clone(), records.clone()));
                let found = counts(&header, &records);
                assert_eq!(found, figures(&done.json()), "{world:?} {file}");
                let native = header.dispatch == Dispatch::Native;
                assert_eq!(
                    (header.policy.as_str(), native),
                    (world.0, world.1 == "native")
                );
                missed += found.missed;
                dropped += found.dropped.total();
                modes += found.mode_changes;
                late += found.missed - found.missed_guaranteed;
            }
        }
    }
    assert!(
        missed > 100 && dropped > 100 && modes > 100 && late > 100,
        "{missed} {dropped} {modes} {late}"
    );
}

/// Without a trace most runs take a loop that is compiled for their engine; with one they all have observers behind `dyn`.
#[test]
fn a_run_comes_to_the_same_with_and_without_a_trace() {
    let scratch = Scratch::new("untraced");
    let overload = scratch.file("overload.toml", OVERLOAD);
    let sporadic = OVERLOAD.replace("criticality", "arrival = \"sporadic\"\ncriticality");
    let sporadic = scratch.file("sporadic-overload.toml", &sporadic);
    let trace = scratch.0.join("x.vtrace");
    let traced = ["--trace", trace.to_str().unwrap()];
    let mut differing = Vec::new();
    let managed = WORLDS.iter().filter(|world| world.1 == "managed");
    for world in managed.copied() {
        for (file, scenario) in [
            (FMS, "overrun=0.5"),
            (THREE, "lo"),
            (overload.to_str().unwrap(), "overrun=0.4"),
            (sporadic.to_str().unwrap(), "beta=0.3,0.9"),
        ] {
            if !has_an_order(world, file) {
                continue;
            }
            let arguments = ["--for", "3s", "--scenario", scenario, "--format", "json"];
            let plain = simulate(file, world, &arguments);
            let recorded = simulate(file, world, &[&arguments[..], &traced].concat());
            assert_eq!(
                (plain.exit, &plain.stdout),
                (recorded.exit, &recorded.stdout),
                "{world:?} {file}"
            );
            differing.push(plain.json()["jobs"].to_string());
        }
    }
    // They are not all the same run.
    let runs = differing.len();
    differing.sort_unstable();
    differing.dedup();
    assert!(3 * differing.len() > runs, "{runs}: {differing:?}");
}

#[test]
fn both_dispatches_give_one_schedule_of_fixed_priorities() {
    for policy in ["rms", "smc", "amc"] {
        let result = |dispatch| {
            let arguments = ["--scenario", "overrun=0.5", "--format", "json"];
            simulate(FMS, (policy, dispatch), &arguments).json()
        };
        let (managed, native) = (result("managed"), result("native"));
        assert_eq!(managed["tasks"], native["tasks"], "{policy}");
        assert_eq!(managed["modes"], native["modes"], "{policy}");
    }
    let done = simulate(FMS, ("edf", "native"), &[]);
    assert_eq!(done.exit, 2);
    assert!(done.stderr.contains("by deadline"), "{}", done.stderr);
    assert_eq!(simulate(FMS, ("amc", "eager"), &[]).exit, 2);
}

#[test]
fn every_format_is_written_in_one_run() {
    let scratch = Scratch::new("formats");
    let paths: Vec<PathBuf> = Format::ALL
        .iter()
        .map(|format| scratch.0.join(format!("x.{}", format.extension())))
        .collect();
    let mut arguments = vec!["--for", "60ms", "--scenario", "hi"];
    for path in &paths {
        arguments.extend(["--trace", path.to_str().unwrap()]);
    }
    let done = simulate(THREE, ("amc", "managed"), &arguments);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    for path in &paths {
        assert!(fs::metadata(path).unwrap().len() > 100, "{path:?}");
        let note = format!("wrote the trace {}", path.display());
        assert!(done.stderr.contains(&note), "{}", done.stderr);
    }
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), paths.len());
}

/// So long that a run which had begun would not end within any patience.
const FOR_AGES: [&str; 3] = ["--for", "100000000s", "--yes"];

#[test]
fn a_trace_that_cannot_be_written_is_refused_before_the_run_begins() {
    let scratch = Scratch::new("refused");
    let path = |name: &str| scratch.0.join(name).to_str().unwrap().to_owned();
    let cases: [(&[String], &str); 6] = [
        (&[path("x.doc")], "V0811"),
        (&[path("x")], "V0811"),
        (&[path("no/such/x.vtrace")], "V0812"),
        (&["/proc/x.csv".to_owned()], "V0812"),
        (&[path("x.csv"), path("x.csv")], "named twice"),
        (&[path("x.csv"), path("no/such/x.csv")], "V0812"),
    ];
    for (names, part) in cases {
        let mut arguments = FOR_AGES.to_vec();
        for name in names {
            arguments.extend(["--trace", name]);
        }
        let done = simulate(FMS, ("amc", "managed"), &arguments);
        assert_eq!(done.exit, 2, "{names:?}: {}", done.stderr);
        assert!(done.stderr.contains(part), "{names:?}: {}", done.stderr);
        assert!(done.stderr.contains("help: "), "{}", done.stderr);
        assert_eq!(done.stdout, "");
        assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0, "{names:?}");
    }
}

#[test]
fn what_is_no_plain_file_is_written_to_and_stays() {
    let done = simulate(THREE, ("amc", "managed"), &["--trace", "/dev/null"]);
    assert_eq!(done.exit, 2, "it has no extension: {}", done.stderr);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let scratch = Scratch::new("device");
        let link = scratch.0.join("x.csv");
        symlink("/dev/null", &link).unwrap();
        let done = simulate(
            THREE,
            ("amc", "managed"),
            &["--trace", link.to_str().unwrap()],
        );
        assert_eq!(done.exit, 0, "{}", done.stderr);
        assert!(fs::metadata(&link).unwrap().file_type().is_char_device());
    }
}
