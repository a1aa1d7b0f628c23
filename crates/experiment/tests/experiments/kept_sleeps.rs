//! The sleeps that the documentation shows: what is said of them follows from `docs/sigrist2015/fig11/sleeps.json`.
//! `scripts/keep-overhead.sh DIR` keeps others; it calls this test with `VESTAL_BLESS=1`.

use crate::kept::{docs, expect_files, expect_part};
use std::fs;
use vestal_experiment::sleeps::{in_short, smallest_takes_microseconds};
use vestal_result::bench::Sleeps;

pub(crate) const BEGIN: &str = "<!-- begin: sleeps, written by scripts/keep-overhead.sh -->\n";
const NOTHING: &str = "No measurement is kept in this version.\n";
const FILE: &str = "sleeps.json";

#[test]
fn what_the_documentation_says_of_sleeps_follows_from_them() {
    let folder = docs().join("sigrist2015/fig11");
    let block = match fs::read_to_string(folder.join(FILE)) {
        Ok(text) => {
            let found: Sleeps = serde_json::from_str(&text).unwrap();
            assert_eq!(found.claims, [smallest_takes_microseconds(&found.sleeps)]);
            expect_files(&folder, vec![FILE.to_owned()]);
            format!("\n{}\n", in_short(&found))
        }
        Err(_) => NOTHING.to_owned(),
    };
    expect_part(&docs().join("overhead.md"), BEGIN, &block);
}
