//! The inputs that fuzzers begin with, and what they found once, read again in `fuzz/corpus`.
#![expect(clippy::unwrap_used, reason = "tests may fail loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use vestal_readers::READERS;

/// No input of a corpus may take longer, without optimisation and on a busy machine.
const EACH_MAX: Duration = Duration::from_secs(10);

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// What is in a directory, sorted.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test of how long a reader takes reads a clock"
)]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn every_input_of_every_corpus_is_read_in_time_and_refused_or_accepted() {
    for reader in READERS {
        let folder = fuzz().join("corpus").join(reader.name);
        let (mut accepted, mut refused) = (0, 0);
        for name in names(&folder) {
            let bytes = fs::read(folder.join(&name)).unwrap();
            let since = now();
            let found = std::panic::catch_unwind(|| (reader.read)(&bytes));
            let Ok(found) = found else {
                panic!("{} panicked at {name}", reader.name);
            };
            let took = since.elapsed();
            assert!(took < EACH_MAX, "{} took {took:?} for {name}", reader.name);
            match found {
                true => accepted += 1,
                false => refused += 1,
            }
        }
        // Else the corpus leads a fuzzer nowhere, or the reader reads nothing.
        assert!(accepted > 0, "{} accepted none", reader.name);
        assert!(refused > 0, "{} refused none", reader.name);
    }
}

/// Whole inputs again, each cut short and with single bytes changed: what a fuzzer does first.
#[test]
fn what_is_cut_or_changed_panics_nowhere() {
    /// A few of each, as the corpora are long in all.
    const OF_EACH: usize = 12;
    for reader in READERS {
        let folder = fuzz().join("corpus").join(reader.name);
        // The shortest, which need no time.
        let mut inputs: Vec<Vec<u8>> = names(&folder)
            .iter()
            .map(|name| fs::read(folder.join(name)).unwrap())
            .collect();
        inputs.sort_by_key(Vec::len);
        for input in inputs.iter().filter(|input| input.len() < 4096).take(3) {
            for step in 0..OF_EACH {
                let at = input.len() * step / OF_EACH;
                (reader.read)(&input[..at]);
                let mut changed = input.clone();
                if let Some(byte) = changed.get_mut(at) {
                    *byte ^= [0x01, 0x10, 0x80, 0xff][step % 4];
                }
                (reader.read)(&changed);
            }
        }
    }
}

#[test]
fn every_reader_has_a_target_a_corpus_and_an_entry_in_the_manifest() {
    let expected: BTreeSet<String> = READERS.map(|reader| reader.name.to_owned()).into();
    assert_eq!(names(&fuzz().join("corpus")), expected);
    let targets = expected.iter().map(|name| format!("{name}.rs"));
    assert_eq!(names(&fuzz().join("fuzz_targets")), targets.collect());
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for name in &expected {
        let target = fs::read_to_string(fuzz().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(target.contains(&format!("named(\"{name}\")")), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}

/// Seconds that each target ran in all, at least, before a version has its record.
const RAN_MIN: u64 = 60;

/// What ran without a finding is on record by target and commit, in whole rows that `scripts/fuzz.sh` can add to.
#[test]
fn every_target_ran_for_a_minute_on_record() {
    let page = fs::read_to_string(fuzz().join("../docs/fuzz.md")).unwrap();
    let (_, table) = page.split_once("|---|--:|--:|---|\n").unwrap();
    let mut ran = std::collections::BTreeMap::new();
    let mut rows = BTreeSet::new();
    for line in table.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", target, seconds, inputs, commit, ""] = cells[..] else {
            panic!("{line}");
        };
        assert!(READERS.iter().any(|reader| reader.name == target), "{line}");
        assert!(rows.insert((target, commit)), "{line} stands there twice");
        let is_hex = |c: char| c.is_ascii_hexdigit();
        assert!(commit.len() == 12 && commit.chars().all(is_hex), "{line}");
        assert!(inputs.parse::<u64>().unwrap() > 0, "{line}");
        *ran.entry(target).or_insert(0) += seconds.parse::<u64>().unwrap();
    }
    for reader in READERS {
        let seconds = ran.get(reader.name).copied().unwrap_or(0);
        assert!(seconds >= RAN_MIN, "{} ran for {seconds} s", reader.name);
    }
}
