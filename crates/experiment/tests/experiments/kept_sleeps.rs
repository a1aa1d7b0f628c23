//! The sleeps that the documentation shows: what is said of them follows from `docs/sigrist2015/fig11/sleeps.json` and `sleeps-busy.json`.
//! `scripts/keep-overhead.sh DIR` keeps others; it calls this test with `VESTAL_BLESS=1`.

use crate::kept::{docs, expect_files, expect_part};
use std::fs;
use std::io::ErrorKind;
use vestal_experiment::sleeps::{in_short, smallest_takes_microseconds};
use vestal_result::bench::Sleeps;

pub(crate) const BEGIN: &str = "<!-- begin: sleeps, written by scripts/keep-overhead.sh -->\n";
const NOTHING: &str = "No measurement is kept in this version.\n";
/// How long a thread sleeps depends on whether its CPU was idle meanwhile.
const FILES: [(&str, &str); 2] = [
    ("sleeps.json", "Nothing else ran on the machine"),
    (
        "sleeps-busy.json",
        "Programs in no real-time class kept both CPUs from being idle",
    ),
];

#[test]
fn what_the_documentation_says_of_sleeps_follows_from_them() {
    let folder = docs().join("sigrist2015/fig11");
    let (mut names, mut block) = (Vec::new(), String::new());
    for (name, circumstances) in FILES {
        let text = match fs::read_to_string(folder.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            text => text.unwrap(),
        };
        let found: Sleeps = serde_json::from_str(&text).unwrap();
        assert!(
            !found.machine.is_empty(),
            "{name} does not say where it was measured"
        );
        assert_eq!(found.claims, [smallest_takes_microseconds(&found.sleeps)]);
        block += &format!("\n**{circumstances}**: {}", in_short(&found));
        names.push(name.to_owned());
    }
    let block = match names.is_empty() {
        true => NOTHING.to_owned(),
        false => format!("{block}\n"),
    };
    expect_files(&folder, names);
    expect_part(&docs().join("overhead.md"), BEGIN, &block);
}
