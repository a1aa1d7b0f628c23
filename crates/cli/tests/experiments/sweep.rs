//! `vestal sweep`: the same bytes however the work was done.

use crate::support::{Scratch, command, interruptible, vestal};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const EXPERIMENT: &str = r#"format = "vestal-experiment/1"
name   = "small"
recipe = "huang2014"
seed   = 5
sets   = 40
chunk  = 4
weight_by = "utilization"
tests  = ["rms", "smc", "amc-rtb", "amc-max", "edf-vd"]

[fixed]
tasks = 10

[vary]
inflate_level0 = [true, false]
utilization    = { from = 0.5, to = 0.9, step = 0.1 }

[[simulate]]
policy = "amc"
scenario = "hi"
for = "100ms"
"#;

/// The files of a result that count, by name, with their bytes.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                files.push((name, fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn names(files: &[(PathBuf, Vec<u8>)]) -> Vec<&PathBuf> {
    files.iter().map(|(name, _)| name).collect()
}

pub(crate) fn assert_same(a: &Path, b: &Path) {
    let (a, b) = (contents(a), contents(b));
    assert_eq!(names(&a), names(&b));
    for ((name, a), (_, b)) in a.iter().zip(&b) {
        assert!(a == b, "{} differs", name.display());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test that waits for another process schedules nothing"
)]
pub(crate) fn wait(millis: u64) {
    std::thread::sleep(Duration::from_millis(millis));
}

pub(crate) struct Bench {
    pub(crate) scratch: Scratch,
    file: PathBuf,
}

impl Bench {
    pub(crate) fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let file = scratch.file("small.toml", EXPERIMENT);
        Self { scratch, file }
    }
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.scratch.0.join(name)
    }
    fn arguments<'a>(&'a self, folder: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
        let mut arguments = vec![
            "sweep",
            self.file.to_str().unwrap(),
            "-o",
            folder.to_str().unwrap(),
        ];
        arguments.extend(more);
        arguments
    }
    pub(crate) fn sweep(&self, folder: &Path, more: &[&str]) {
        let done = vestal(&self.arguments(folder, more));
        assert_eq!(done.exit, 0, "{}", done.stderr);
    }
}

#[test]
fn threads_and_shards_change_no_byte() {
    let bench = Bench::new("sweep-shards");
    let (whole, threads, shards) = (
        bench.folder("whole"),
        bench.folder("threads"),
        bench.folder("shards"),
    );
    bench.sweep(&whole, &["--jobs", "1"]);
    bench.sweep(&threads, &["--jobs", "3"]);
    for shard in ["2/3", "3/3", "1/3"] {
        assert!(!shards.join("results.parquet").exists());
        bench.sweep(&shards, &["--shard", shard]);
    }
    assert_same(&whole, &threads);
    assert_same(&whole, &shards);
    let summary = fs::read_to_string(whole.join("summary.csv")).unwrap();
    assert_eq!(summary.lines().count(), 1 + 10 * 6);
    assert!(
        summary.contains("0,true,0.5,sim:amc/hi,40,40,0,1.000000,"),
        "{summary}"
    );
    assert!(whole.join("weighted.csv").exists());
}

#[test]
fn a_sweep_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    let bench = Bench::new("sweep-killed");
    let (whole, killed) = (bench.folder("whole"), bench.folder("killed"));
    bench.sweep(&whole, &[]);
    // Moments from the start of the program into the merge, in no order; at last it may finish.
    let mut interrupted = 0;
    for millis in [3, 40, 9, 25, 70, 15, 110, 5, 55, 32, 150, 20, 90, 12, 200] {
        let mut child = command(&bench.arguments(&killed, &["--resume", "--jobs", "2"]))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait(millis);
        child.kill().unwrap();
        interrupted += usize::from(!child.wait().unwrap().success());
    }
    assert!(interrupted > 2, "the sweep is too small to be interrupted");
    bench.sweep(&killed, &["--resume"]);
    assert_same(&whole, &killed);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_sweep_with_a_word_about_how_to_go_on() {
    let bench = Bench::new("sweep-interrupted");
    let long = EXPERIMENT.replace("sets   = 40", "sets   = 400000");
    let file = bench.scratch.file("long.toml", &long);
    let folder = bench.folder("out");
    let child = interruptible(&[
        "sweep",
        file.to_str().unwrap(),
        "-o",
        folder.to_str().unwrap(),
    ])
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    while !fs::read_dir(folder.join("chunks")).is_ok_and(|mut entries| entries.next().is_some()) {
        wait(5);
    }
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(
        String::from_utf8(done.stdout)
            .unwrap()
            .contains("--resume goes on")
    );
}

#[test]
fn a_standard_set_whose_tasks_all_came_out_hi_ends_no_sweep() {
    let bench = Bench::new("sweep-all-hi");
    let text = "format = \"vestal-experiment/1\"\nname = \"all HI\"\nrecipe = \"standard\"\nsets = 50\n\
                tests = [\"smc\"]\n[fixed]\ntasks = 3\nutilization = 0.7\n[vary]\n\
                utilization_high = [0.4, 0.9]\n";
    let file = bench.scratch.file("all-hi.toml", text);
    let folder = bench.folder("out");
    let (file, folder) = (file.to_str().unwrap(), folder.to_str().unwrap());
    let done = vestal(&["sweep", file, "-o", folder]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
}

#[test]
fn results_of_two_experiments_never_mix() {
    let bench = Bench::new("sweep-foreign");
    let folder = bench.folder("out");
    bench.sweep(&folder, &[]);
    let refused = |file: &Path, folder: &Path, more: &[&str]| {
        let mut arguments = vec![
            "sweep",
            file.to_str().unwrap(),
            "-o",
            folder.to_str().unwrap(),
        ];
        arguments.extend(more);
        let done = vestal(&arguments);
        assert_eq!(done.exit, 2, "{}", done.stderr);
        done.stderr
    };
    assert!(refused(&bench.file, &folder, &[]).contains("--resume goes on with it"));
    let changed = bench.scratch.file(
        "changed.toml",
        &EXPERIMENT.replace("seed   = 5", "seed   = 6"),
    );
    let says = refused(&changed, &folder, &["--resume"]);
    assert!(
        says.contains("V0701") && says.contains("was changed since"),
        "{says}"
    );
    let manifest = folder.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let another = text.replace("vestal-sweep/3", "vestal-sweep/2");
    fs::write(&manifest, another).unwrap();
    assert!(refused(&bench.file, &folder, &["--resume"]).contains("its format is vestal-sweep/2"));
    let another = text.replace("\"version\": \"", "\"version\": \"9");
    fs::write(&manifest, another).unwrap();
    let says = refused(&bench.file, &folder, &["--resume"]);
    assert!(
        says.contains("V0702") && says.contains("remove that file"),
        "{says}"
    );
    fs::remove_file(&manifest).unwrap();
    bench.sweep(&folder, &["--resume"]);
    assert_eq!(fs::read_to_string(&manifest).unwrap(), text);
    // A chunk of another experiment is whole, and not to be replaced.
    let other = bench.folder("other");
    let done = vestal(&[
        "sweep",
        changed.to_str().unwrap(),
        "-o",
        other.to_str().unwrap(),
    ]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let chunk = "chunks/00003-00002.parquet";
    let ours = fs::read(folder.join(chunk)).unwrap();
    fs::copy(other.join(chunk), folder.join(chunk)).unwrap();
    let says = refused(&bench.file, &folder, &["--resume"]);
    assert!(
        says.contains("V0701") && says.contains("00003-00002"),
        "{says}"
    );
    fs::write(folder.join(chunk), ours).unwrap();
    let stranger = bench.scratch.0.join("stranger");
    fs::create_dir(&stranger).unwrap();
    fs::write(stranger.join("thesis.tex"), "x").unwrap();
    assert!(refused(&bench.file, &stranger, &["--resume"]).contains("no manifest.json"));
}

#[test]
fn a_damaged_chunk_is_computed_again_and_what_follows_from_the_chunks_is_written_again() {
    let bench = Bench::new("sweep-mended");
    let (whole, folder) = (bench.folder("whole"), bench.folder("out"));
    bench.sweep(&whole, &[]);
    bench.sweep(&folder, &[]);
    let chunk = folder.join("chunks/00003-00002.parquet");
    let mut bytes = fs::read(&chunk).unwrap();
    bytes[201] ^= 1;
    fs::write(&chunk, bytes).unwrap();
    fs::copy(
        folder.join("chunks/00004-00001.parquet"),
        folder.join("chunks/00004-00000.parquet"),
    )
    .unwrap();
    fs::write(folder.join("results.parquet"), "PAR1 nonsense PAR1").unwrap();
    fs::write(folder.join("summary.csv"), "point,share\n0,1.0\n").unwrap();
    // A shard leaves what belongs to others, and says so.
    let run = |more: &[&str]| {
        let done = vestal(&bench.arguments(&folder, more));
        assert_eq!(done.exit, 0, "{}", done.stderr);
        done
    };
    let done = run(&["--resume", "--shard", "1/100"]);
    assert_eq!(done.stderr.matches("makes it anew in its shard").count(), 2);
    assert!(!done.stdout.contains("results in"), "{}", done.stdout);
    let done = run(&["--resume", "--format", "json"]);
    assert_eq!(done.json()["mended"].as_array().unwrap().len(), 4);
    assert_eq!(done.json()["computed"], 8);
    for what in [
        "00003-00002.parquet is damaged: its checksum is not that of its bytes; it was made anew",
        "00004-00000.parquet is damaged: its sets are not those of its name; it was made anew",
        "results.parquet is damaged: it is not what the chunks give; it was made anew",
        "summary.csv is damaged",
    ] {
        assert!(done.stderr.contains(what), "{}", done.stderr);
    }
    assert_same(&whole, &folder);
    assert_eq!(run(&["--resume"]).stderr, "");
}

#[test]
fn experiments_that_cannot_be_run_say_why() {
    let bench = Bench::new("sweep-refused");
    let says = |from: &str, to: &str, more: &[&str]| {
        assert!(EXPERIMENT.contains(from));
        let file = bench
            .scratch
            .file("wrong.toml", &EXPERIMENT.replace(from, to));
        let folder = bench.folder("never");
        let mut arguments = vec![
            "sweep",
            file.to_str().unwrap(),
            "-o",
            folder.to_str().unwrap(),
        ];
        arguments.extend(more);
        let done = vestal(&arguments);
        assert_eq!(done.exit, 2, "{}", done.stderr);
        assert!(!folder.exists());
        done.stderr
    };
    let unknown = says("\"smc\"", "\"smcc\"", &[]);
    assert!(unknown.contains("did you mean `smc`?"), "{unknown}");
    assert!(says("\"hi\"", "\"high\"", &[]).contains("no scenario"));
    assert!(says("step = 0.1", "stop = 0.1", &[]).contains("V0700"));
    let weight = says("by = \"utilization\"", "by = \"inflate_level0\"", &[]);
    assert!(
        weight.contains("V0700") && weight.contains("values are numbers"),
        "{weight}"
    );
    assert!(says("sets", "sets", &["--shard", "4/3"]).contains("1 <= i <= n"));
    assert!(says("sets", "sets", &["--cluster", "host"]).contains("not in this version"));
}

/// A check is a column of its own: every acceptance of a test is proved by a sound one, shown to miss, or open.
#[test]
fn what_a_refuted_test_accepts_is_checked_set_by_set() {
    let scratch = Scratch::new("checks");
    let text = "format = \"vestal-experiment/1\"\nname = \"checks\"\nrecipe = \"huang2014\"\nseed = 1\nsets = 100\nchunk = 30\n\
                tests = [\"fjp-ija\", \"fjp-mode\"]\ncheck = [\"fjp-ija\"]\n\
                [fixed]\ntasks = 4\nlevels = 4\ncriticality_factor = 3\n[vary]\nutilization = [0.4, 0.6]\n";
    let file = scratch.0.join("checks.toml");
    fs::write(&file, text).unwrap();
    let (one, two) = (scratch.0.join("one"), scratch.0.join("two"));
    for (folder, jobs) in [(&one, "1"), (&two, "2")] {
        let arguments = [
            file.to_str().unwrap(),
            "-o",
            folder.to_str().unwrap(),
            "--jobs",
            jobs,
        ];
        let done = vestal(&[&["sweep"], &arguments[..]].concat());
        assert_eq!(done.exit, 0, "{}", done.stderr);
    }
    assert_same(&one, &two);
    // What is missing is computed again, to the same answers.
    fs::remove_file(two.join("chunks/00001-00002.parquet")).unwrap();
    fs::remove_file(two.join("results.parquet")).unwrap();
    let resume = [
        "sweep",
        file.to_str().unwrap(),
        "--resume",
        "-o",
        two.to_str().unwrap(),
    ];
    assert_eq!(vestal(&resume).exit, 0);
    assert_same(&one, &two);
    // Without the check it is another experiment.
    let other = scratch.0.join("other.toml");
    fs::write(&other, text.replace("check = [\"fjp-ija\"]\n", "")).unwrap();
    let refused = vestal(&[
        "sweep",
        other.to_str().unwrap(),
        "--resume",
        "-o",
        two.to_str().unwrap(),
    ]);
    assert_eq!(refused.exit, 2);
    assert!(refused.stderr.contains("V0701"), "{}", refused.stderr);
    let summary = fs::read_to_string(one.join("summary.csv")).unwrap();
    let counts = |question: &str| -> (u64, u64, u64) {
        let rows = summary
            .lines()
            .map(|line| line.split(',').collect::<Vec<&str>>());
        let rows = rows.filter(|row| row[2] == question);
        let number = |text: &str| text.parse::<u64>().unwrap();
        let rows = rows.map(|row| (number(row[3]), number(row[4]), number(row[5])));
        rows.fold((0, 0, 0), |sum, row| {
            (sum.0 + row.0, sum.1 + row.1, sum.2 + row.2)
        })
    };
    let (sets, claimed, _) = counts("fjp-ija");
    let (_, proved, _) = counts("fjp-mode");
    let (_, yes, undecided) = counts("check:fjp-ija");
    let missed = sets - yes - undecided;
    assert!(proved < claimed && claimed < sets, "{summary}");
    // Nothing else proves more here, and some of the rest is shown to be wrong.
    assert_eq!(yes, proved, "{summary}");
    assert!(0 < missed && missed <= claimed - proved, "{summary}");
}

#[test]
fn every_test_of_tasks_can_be_checked_under_the_policy_that_it_is_about() {
    let scratch = Scratch::new("checks");
    let file = scratch.0.join("checks.toml");
    let sweep = |tests: &[String], folder: &str| {
        let text = format!(
            "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"huang2014\"\nsets = 20\ncheck = {tests:?}\n"
        );
        fs::write(&file, text).unwrap();
        let folder = scratch.0.join(folder);
        let done = vestal(&[
            "sweep",
            file.to_str().unwrap(),
            "-o",
            folder.to_str().unwrap(),
        ]);
        (done, folder)
    };
    let listed = vestal(&["explain", "--format", "json"]).json();
    let topics = listed["topics"].as_array().unwrap().iter();
    let tests = topics.filter(|topic| topic["kind"] == "test");
    let tests: Vec<String> = tests
        .map(|test| test["topic"].as_str().unwrap().to_owned())
        // A sweep simulates one CPU; and no policy has the tests for servers.
        .filter(|test| !test.starts_with("pedf-vd") && !test.starts_with("hsf"))
        .collect();
    assert!(tests.len() > 20, "{tests:?}");
    let (done, folder) = sweep(&tests, "all");
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let summary = fs::read_to_string(folder.join("summary.csv")).unwrap();
    // No job misses where a sound test accepts, and none of these is refuted so soon.
    for row in summary.lines().skip(1) {
        let row: Vec<&str> = row.split(',').collect();
        let number = |place: usize| row[place].parse::<u64>().unwrap();
        assert_eq!(number(2), 20);
        let sound = ["check:zss:harmonic", "check:pt:servers", "check:amc-max"];
        assert!(
            !sound.contains(&row[1]) || number(3) + number(4) == 20,
            "{row:?}"
        );
    }
    let (done, _) = sweep(&["amc-ai".to_owned()], "none");
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stderr.contains("amc-ia"), "{}", done.stderr);
}

/// edf-vd is for one CPU: sets for two are no failures of it.
#[test]
fn sets_that_a_policy_does_not_take_are_not_asked_about() {
    let scratch = Scratch::new("not-asked");
    let file = scratch.0.join("not-asked.toml");
    let text = "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"sigrist2015\"\nsets = 4\n\
                tests = [\"edf-vd\"]\n[fixed]\nutilization = 0.5\n[vary]\ncpus = [2, 1]\n\
                [[simulate]]\npolicy = \"edf-vd\"\nscenario = \"hi\"\nfor = \"1s\"\n\
                [[measure]]\nwhat = \"miss-ratio\"\npolicy = \"edf-vd\"\nscenario = \"hi\"\nfor = \"1s\"\n";
    fs::write(&file, text).unwrap();
    let folder = scratch.0.join("out");
    let arguments = [file.to_str().unwrap(), "-o", folder.to_str().unwrap()];
    let done = vestal(&[&["sweep"], &arguments[..]].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let summary = read("summary.csv");
    let rows = summary.lines().filter(|row| row.contains("sim:edf-vd/hi"));
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows[0], "0,2,sim:edf-vd/hi,4,0,0,,,,4", "{summary}");
    assert!(
        rows[1].starts_with("1,1,sim:edf-vd/hi,4,4,0,1.000000,"),
        "{summary}"
    );
    assert!(rows[1].ends_with(",0"), "{summary}");
    // Where it was not asked it differs from no test.
    let pairs = read("pairs.csv");
    assert_eq!(pairs.lines().count(), 1, "{pairs}");
    let measures = read("measures.csv");
    let mut rows = measures.lines().filter(|row| row.contains(",all,"));
    assert!(rows.next().unwrap().contains(",all,4,4,0,0,"), "{measures}");
    assert!(rows.next().unwrap().contains(",all,4,0,0,4,"), "{measures}");
    // It is what `check` says of such a set.
    let set = scratch.0.join("set.toml");
    let set = set.to_str().unwrap();
    let given = [
        "regenerate",
        folder.to_str().unwrap(),
        "--point",
        "0",
        "--index",
        "0",
        "-o",
        set,
    ];
    assert_eq!(vestal(&given).exit, 0);
    let checked = vestal(&["check", set, "--policy", "edf-vd"]);
    assert_eq!(checked.exit, 2);
    assert!(checked.stderr.contains("V0405"), "{}", checked.stderr);
}
