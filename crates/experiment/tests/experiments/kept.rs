//! Pages and files that follow from a measurement that is kept. With `VESTAL_BLESS=1` tests write them instead of comparing them.

use std::fs;
use std::path::{Path, PathBuf};

const END: &str = "<!-- end -->\n";

pub(crate) fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// A page in three parts, of which the one in the middle is written by a test.
pub(crate) fn parted<'a>(page: &'a str, begin: &str) -> (&'a str, &'a str, &'a str) {
    let (head, rest) = page.split_once(begin).unwrap();
    let (block, tail) = rest.split_once(END).unwrap();
    (head, block, tail)
}

/// Compares that part of a page, or writes it.
pub(crate) fn expect_part(page: &Path, begin: &str, block: &str) {
    let text = fs::read_to_string(page).unwrap();
    let (head, _, tail) = parted(&text, begin);
    expect(page, &format!("{head}{begin}{block}{END}{tail}"));
}

/// Compares a file, or writes it.
pub(crate) fn expect(path: &Path, text: &str) {
    if std::env::var_os("VESTAL_BLESS").is_some() {
        fs::write(path, text).unwrap();
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    let name = path.display();
    assert!(
        found == text,
        "{name} is not what the kept measurement says; see the head of this test"
    );
}

/// A folder has what belongs to its measurement, and no other file.
pub(crate) fn expect_files(folder: &Path, mut names: Vec<String>) {
    let files = fs::read_dir(folder).into_iter().flatten();
    let files = files
        .map(|file| file.unwrap())
        .filter(|file| file.path().is_file());
    let mut files: Vec<String> = files
        .map(|file| file.file_name().into_string().unwrap())
        .collect();
    files.sort();
    names.sort();
    assert_eq!(files, names, "in {}", folder.display());
}
