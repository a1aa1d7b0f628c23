//! What several test files need.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::PathBuf;
use vestal_workload::codes::{PRELUDE, Sample};

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every example: its file name and text.
pub(crate) fn examples() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = std::fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|ext| ext == "toml" || ext == "json")
        })
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    all.sort();
    assert!(all.len() >= 9);
    all
}

/// Compares a generated file with the one that is checked in; `VESTAL_BLESS=1` rewrites it.
pub(crate) fn assert_current(path: &str, generated: &str) {
    let full = root().join(path);
    if std::env::var_os("VESTAL_BLESS").is_some() {
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(&full, generated).unwrap();
    }
    let current = std::fs::read_to_string(&full).unwrap_or_default();
    assert!(
        current == generated,
        "{path} is not current: run the tests with VESTAL_BLESS=1"
    );
}

/// A part of a file with what must stand before it.
pub(crate) fn with_prelude(part: &str) -> String {
    if part.starts_with("levels") {
        // The part brings its own levels.
        let head: Vec<&str> = PRELUDE
            .lines()
            .filter(|line| !line.starts_with("levels"))
            .collect();
        return format!("{}\n{part}", head.join("\n"));
    }
    format!("{PRELUDE}{part}")
}

/// The text of a task-set sample, complete.
pub(crate) fn file_text(sample: Sample) -> Option<String> {
    match sample {
        Sample::File(text) => Some(text.to_owned()),
        Sample::Part(part) => Some(with_prelude(part)),
        Sample::None | Sample::Spec(_) | Sample::Scenario(_) | Sample::Parameters(_) => None,
    }
}
