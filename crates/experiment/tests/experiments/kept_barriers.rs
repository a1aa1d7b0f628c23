//! What the documentation says of barriers follows from `docs/overhead/barriers/barriers.json`, and from the shares that are kept.
//! `scripts/keep-overhead.sh DIR` keeps others; it calls this test with `VESTAL_BLESS=1`.

use crate::kept::{docs, expect_files, expect_part};
use std::fs;
use vestal_experiment::barriers::{in_runs, in_short};
use vestal_result::bench::Barriers;
use vestal_result::claim::Verdict;
use vestal_result::shares::Shares;

pub(crate) const BEGIN: &str = "<!-- begin: barriers, written by scripts/keep-overhead.sh -->\n";
const NOTHING: &str = "No measurement is kept in this version.\n";
const FILE: &str = "barriers.json";
const VARIANTS: [&str; 3] = ["ftts/spin", "ftts/futex", "ftts/pthread"];

const ABOUT: &str = "That is about CPUs that come together, awake. In runs there is little of it: one CPU comes to a barrier well before the other, and who has waited for 50 us sleeps \
     with `spin`, too, so that the last one wakes it as with `futex`.\n";

/// Median and interval of a barrier, in nanoseconds, as a finding says them: `spin 668 ns (660 to 670, 90 meetings)`.
fn said(numbers: &str, name: &str) -> [f64; 3] {
    let (_, rest) = numbers.split_once(&format!("{name} ")).unwrap();
    let (median, rest) = rest.split_once(" ns (").unwrap();
    let (low, rest) = rest.split_once(" to ").unwrap();
    let (high, _) = rest.split_once(',').unwrap();
    [median, low, high].map(|text| text.parse().unwrap())
}

/// The meetings themselves are not kept: the medians are those of the table, and the verdict follows from the intervals.
fn check(found: &Barriers) {
    let [claim] = &found.claims[..] else {
        panic!("{:?}", found.claims);
    };
    let [spin, pthread] = ["spin", "pthread"].map(|name| {
        let [median, low, high] = said(&claim.numbers, name);
        let barrier = found.barriers.iter().find(|one| one.name == name).unwrap();
        let both = barrier.costs.iter().find(|cost| cost.name == "both go on");
        assert!(
            (both.unwrap().median_ns as f64 - median).abs() < 1.0,
            "{name}"
        );
        [low, high]
    });
    let verdict = match (spin[1] * 10.0 <= pthread[0], spin[0] * 10.0 > pthread[1]) {
        (true, false) => Verdict::Confirmed,
        (false, true) => Verdict::Refuted,
        _ => Verdict::NotDecided,
    };
    assert_eq!(claim.verdict, verdict, "{}", claim.numbers);
}

#[test]
fn what_the_documentation_says_of_barriers_follows_from_their_meetings() {
    let folder = docs().join("overhead/barriers");
    let mut block = match fs::read_to_string(folder.join(FILE)) {
        Ok(text) => {
            let found: Barriers = serde_json::from_str(&text).unwrap();
            assert!(!found.machine.is_empty(), "where was it measured?");
            check(&found);
            expect_files(&folder, vec![FILE.to_owned()]);
            format!("\n{}\n{ABOUT}\n", in_short(&found))
        }
        Err(_) => format!("\n{NOTHING}\n"),
    };
    if let Ok(text) = fs::read_to_string(docs().join("overhead/sigrist2015/result.json")) {
        let shares: Shares = serde_json::from_str(&text).unwrap();
        block += &format!(
            "In runs, of the drawn sets of [above](#shares-on-one-machine), barriers took of the time of a CPU, in percent:\n\n{}\n",
            in_runs(&shares.cells, &VARIANTS)
        );
    }
    expect_part(&docs().join("overhead.md"), BEGIN, &block);
}
