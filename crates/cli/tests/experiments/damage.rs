//! Damages to the directory of a result: bits, bytes, truncations, exchanged files. After each of them
//! `regenerate` gives the set that was examined, and `sweep --resume` the bytes of the undisturbed
//! sweep and a word about what it found, or they refuse with a code. Nothing else, and no crash.
//!
//! `VESTAL_CAMPAIGN=long` makes 10 000 of them, and `scripts/damage.sh` says how to run that. A damage is
//! made from its number alone, which a failure names.

use crate::support::{Done, Scratch, vestal};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use vestal_workload::generate::{Random, derived_seed};

const EXPERIMENT: &str = r#"format = "vestal-experiment/1"
name   = "damaged"
recipe = "huang2014"
sets   = 30
chunk  = 15
weight_by = "utilization"
tests  = ["smc", "amc-rtb"]

[fixed]
tasks = 5

[vary]
utilization = [0.7, 0.9]
"#;

const SMOKE: u64 = 300;
const LONG: u64 = 10_000;

const CHUNKS: [&str; 4] = [
    "chunks/00000-00000.parquet",
    "chunks/00000-00001.parquet",
    "chunks/00001-00000.parquet",
    "chunks/00001-00001.parquet",
];
const OTHERS: [&str; 6] = [
    "manifest.json",
    "experiment.toml",
    "results.parquet",
    "summary.csv",
    "pairs.csv",
    "weighted.csv",
];
/// Point and index of a set of each chunk.
const SETS: [(&str, &str); 4] = [("0", "3"), ("0", "29"), ("1", "0"), ("1", "17")];

/// The files of a result by name.
type Files = BTreeMap<String, Vec<u8>>;

fn read(folder: &Path) -> Files {
    let mut files = Files::new();
    for (folder, prefix) in [(folder.to_owned(), ""), (folder.join("chunks"), "chunks/")] {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.path().is_file() {
                files.insert(format!("{prefix}{name}"), fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

fn write(folder: &Path, files: &Files) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join("chunks")).unwrap();
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// A sweep, and what it and its sets are undisturbed.
struct Undisturbed {
    scratch: Scratch,
    file: PathBuf,
    files: Files,
    sets: Vec<String>,
}

impl Undisturbed {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let file = scratch.file("damaged.toml", EXPERIMENT);
        let folder = scratch.0.join("undisturbed");
        let mut this = Self {
            files: Files::new(),
            sets: Vec::new(),
            scratch,
            file,
        };
        let done = this.sweep(&folder);
        assert_eq!((done.exit, done.stderr.as_str()), (0, ""));
        this.files = read(&folder);
        let names: Vec<&str> = this.files.keys().map(String::as_str).collect();
        let mut expected = [&CHUNKS[..], &OTHERS[..]].concat();
        expected.sort_unstable();
        assert_eq!(names, expected);
        this.sets = SETS.map(|set| regenerate(&folder, set).stdout).to_vec();
        this
    }

    fn sweep(&self, folder: &Path) -> Done {
        let (file, folder) = (self.file.to_str().unwrap(), folder.to_str().unwrap());
        vestal(&["sweep", file, "-o", folder, "--resume", "--jobs", "1"])
    }

    /// What becomes of a directory with these files.
    fn outcome(&self, folder: &Path, damaged: &Files, set: usize) -> Outcome {
        write(folder, damaged);
        let done = regenerate(folder, SETS[set]);
        let is_right = done.exit == 0 && done.stdout == self.sets[set];
        if !is_right && !is_refusal(&done) {
            return Outcome::Wrong(format!("regenerate: {} {}", done.exit, done.stderr));
        }
        let done = self.sweep(folder);
        if is_refusal(&done) {
            return Outcome::Refused;
        }
        let same = read(folder) == self.files;
        if done.exit == 0 && same && done.stderr.contains("V0702") {
            return Outcome::Mended;
        }
        Outcome::Wrong(format!(
            "sweep: exit {}, the same: {same}, {}",
            done.exit, done.stderr
        ))
    }
}

fn regenerate(folder: &Path, (point, index): (&str, &str)) -> Done {
    let folder = folder.to_str().unwrap();
    let set = ["--point", point, "--index", index, "-o", "-"];
    vestal(&[&["regenerate", folder][..], &set[..]].concat())
}

fn is_refusal(done: &Done) -> bool {
    done.exit == 2 && (done.stderr.contains("V0701") || done.stderr.contains("V0702"))
}

enum Outcome {
    /// The bytes of the undisturbed sweep, and a word about the damage.
    Mended,
    /// Exit code 2 and a code.
    Refused,
    /// Anything else, in words.
    Wrong(String),
}

/// A damage: what it is called, and the files that it changes with what they are then.
fn damage(random: &mut Random, files: &Files) -> (String, Files) {
    let pick = |random: &mut Random, n: usize| random.below(n as u64) as usize;
    let name = match random.below(3) {
        0 => OTHERS[pick(random, OTHERS.len())],
        _ => CHUNKS[pick(random, CHUNKS.len())],
    };
    let mut bytes = files[name].clone();
    let at = pick(random, bytes.len());
    let kind = match random.below(4) {
        0 => {
            bytes[at] ^= 1 << random.below(8);
            "bit"
        }
        1 => {
            let end = (at + 1 + pick(random, 32)).min(bytes.len());
            bytes[at] = !bytes[at];
            bytes[at + 1..end].fill_with(|| random.below(256) as u8);
            "bytes"
        }
        2 => {
            bytes.truncate(at);
            "truncation"
        }
        _ => {
            let kin: &[&str] = match CHUNKS.contains(&name) {
                true => &CHUNKS,
                false => &OTHERS,
            };
            let others: Vec<&&str> = kin.iter().filter(|&&other| other != name).collect();
            let other = *others[pick(random, others.len())];
            let mut changed = Files::from([(name.to_owned(), files[other].clone())]);
            // Exchanged, or one twice and the other lost.
            if random.below(4) > 0 {
                changed.insert(other.to_owned(), files[name].clone());
            }
            return (format!("exchange of {name} and {other}"), changed);
        }
    };
    let what = format!("{kind} {at} of {name}");
    (what, Files::from([(name.to_owned(), bytes)]))
}

/// What became of some damages.
#[derive(Debug, Default)]
struct Counts {
    mended: u64,
    refused: u64,
    wrong: Vec<String>,
}

impl Counts {
    fn add(&mut self, number: u64, what: &str, outcome: Outcome) {
        match outcome {
            Outcome::Mended => self.mended += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::Wrong(how) => self.wrong.push(format!("{number}: {what}: {how}")),
        }
    }
}

/// Damages of these numbers; `seal` may change what they left.
fn campaign(
    undisturbed: &Undisturbed,
    folder: &str,
    numbers: impl Iterator<Item = u64>,
    seal: impl Fn(&mut [u8]),
) -> Counts {
    let folder = undisturbed.scratch.0.join(folder);
    let mut counts = Counts::default();
    for number in numbers {
        let mut random = Random::new(derived_seed(11, &[number]));
        let (what, mut changed) = damage(&mut random, &undisturbed.files);
        changed.values_mut().for_each(|bytes| seal(bytes));
        let mut files = undisturbed.files.clone();
        files.extend(changed);
        let set = random.below(4) as usize;
        let outcome = undisturbed.outcome(&folder, &files, set);
        counts.add(number, &what, outcome);
    }
    counts
}

#[test]
fn a_damaged_result_is_mended_or_refused() {
    let long = std::env::var("VESTAL_CAMPAIGN").is_ok_and(|size| size == "long");
    let damages = if long { LONG } else { SMOKE };
    let undisturbed = Undisturbed::new("damage");
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let parts: Vec<Counts> = std::thread::scope(|scope| {
        let start = |thread: u64| {
            let numbers = (thread..damages).step_by(threads as usize);
            let undisturbed = &undisturbed;
            scope.spawn(move || campaign(undisturbed, &format!("copy{thread}"), numbers, |_| ()))
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Counts>| thread.join().unwrap();
        running.into_iter().map(join).collect()
    });
    let wrong: Vec<&String> = parts.iter().flat_map(|part| &part.wrong).collect();
    let mended: u64 = parts.iter().map(|part| part.mended).sum();
    let refused: u64 = parts.iter().map(|part| part.refused).sum();
    println!(
        "{damages} damages: {mended} mended, {refused} refused, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(mended + refused, damages);
    assert!(mended > damages / 2 && refused > 0, "{mended} {refused}");
}

/// The checksum as docs/experiments.md describes it: FNV-1a over all bytes, with zeros for its digits.
fn seal(bytes: &mut [u8]) {
    const KEY: &[u8] = b"vestal.checksum";
    let Some(key) = bytes.windows(KEY.len()).rposition(|window| window == KEY) else {
        return;
    };
    let first = key + KEY.len() + 2;
    if first + 16 > bytes.len() {
        return;
    }
    bytes[first..first + 16].fill(b'0');
    let checksum = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |state: u64, &byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    bytes[first..first + 16].copy_from_slice(format!("{checksum:016x}").as_bytes());
}

/// Where the checksum of what a damage left is right, as if it were not looked at, the same campaign
/// finds wrong results.
#[test]
fn control_without_checksums_the_campaign_finds_wrong_results() {
    let undisturbed = Undisturbed::new("damage-control");
    for (name, bytes) in &undisturbed.files {
        let mut sealed = bytes.clone();
        seal(&mut sealed);
        assert!(sealed == *bytes, "{name} is not sealed as its page says");
    }
    let counts = campaign(&undisturbed, "copy", 0..SMOKE, seal);
    let other = |how: &&String| how.contains("sweep: exit 0, the same: false");
    let others = counts.wrong.iter().filter(other).count();
    println!("{others} other results, {} wrong", counts.wrong.len());
    assert!(others > 0, "{:#?}", counts.wrong);
}
