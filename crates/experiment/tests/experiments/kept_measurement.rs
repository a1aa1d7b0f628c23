//! The measurement of overheads that the documentation shows: everything said of it follows from
//! `docs/overhead/measured.json`. `scripts/keep-overhead.sh DIR` keeps another one; it calls this test with
//! `VESTAL_BLESS=1`, which writes the pages and figures instead of comparing them.

use crate::kept::{docs, expect, expect_files, expect_part, parted};
use crate::{
    kept_barriers, kept_cameras, kept_counts, kept_figures, kept_monitors, kept_shares, kept_sleeps,
};
use std::fs;
use vestal_experiment::overhead::{Measurement, figures, page};

pub(crate) const BEGIN: &str = "<!-- begin: written by scripts/keep-overhead.sh -->\n";
const NOTHING: &str = "No measurement is kept in this version.\n";

fn kept() -> Option<Measurement> {
    let text = fs::read_to_string(docs().join("overhead/measured.json")).ok()?;
    Some(Measurement::from_json(&text).unwrap())
}

#[test]
fn what_the_documentation_says_of_the_kept_measurement_follows_from_it() {
    let kept = kept();
    let block = match &kept {
        Some(measurement) => format!("\n{}\n", page::in_short(measurement, "overhead/claims.md")),
        None => NOTHING.to_owned(),
    };
    expect_part(&docs().join("overhead.md"), BEGIN, &block);
    let folder = docs().join("overhead");
    let mut names = Vec::new();
    if let Some(measurement) = kept {
        expect(&folder.join("claims.md"), &page::claims_page(&measurement));
        for (name, chart) in figures::charts(&measurement.table, &measurement.preemptions) {
            expect(&folder.join(name), &chart.to_svg());
            names.push(name.to_owned());
        }
        names.extend(["claims.md", "measured.json"].map(str::to_owned));
    }
    expect_files(&folder, names);
}

/// What is typed by hand for want of a measurement goes when there is one.
#[test]
fn words_for_want_of_a_measurement_are_there_as_long_as_there_is_none() {
    for (name, words) in [
        ("overhead.md", "## Figures of an earlier run"),
        ("../CAVEATS.md", "No measurement of overheads is kept"),
    ] {
        let text = fs::read_to_string(docs().join(name)).unwrap();
        let is_there = text.contains(words);
        assert_eq!(is_there, kept().is_none(), "\"{words}\" in {name}");
    }
}

/// A verdict stands in a cell of a table, or in bold. Words of a sentence that explain what a verdict means do
/// not.
fn verdicts(text: &str) -> Vec<&str> {
    const VERDICTS: [&str; 4] = [
        "confirmed",
        "refuted",
        "not decided",
        "depends on the reading",
    ];
    let is_verdict = |part: &str| {
        let part = part.trim().trim_matches('*').to_lowercase();
        VERDICTS.iter().any(|verdict| part.starts_with(verdict))
    };
    let said = |line: &&str| {
        let in_table = line.starts_with('|') && line.split('|').any(is_verdict);
        let in_bold = line.split("**").skip(1).step_by(2).any(is_verdict);
        in_table || in_bold
    };
    text.lines().filter(said).collect()
}

#[test]
fn nobody_types_a_verdict_into_the_documentation() {
    let read = |name: &str| fs::read_to_string(docs().join(name)).unwrap();
    let overhead = read("overhead.md");
    let (head, _, rest) = parted(&overhead, BEGIN);
    let (between, _, rest) = parted(rest, kept_shares::BEGIN);
    let (before_barriers, _, rest) = parted(rest, kept_barriers::BEGIN);
    let (before_monitors, _, rest) = parted(rest, kept_monitors::BEGIN);
    let (before_sleeps, _, rest) = parted(rest, kept_sleeps::BEGIN);
    let (before_cameras, _, tail) = parted(rest, kept_cameras::BEGIN);
    let experiments = read("experiments.md");
    let mut texts = vec![
        head,
        between,
        before_barriers,
        before_monitors,
        before_sleeps,
        before_cameras,
        tail,
    ];
    let mut rest = experiments.as_str();
    let begins = kept_figures::PAPERS.iter().map(|(_, begin)| *begin);
    for begin in begins.chain([kept_counts::BEGIN]) {
        let (before, _, after) = parted(rest, begin);
        texts.push(before);
        rest = after;
    }
    texts.push(rest);
    for text in texts {
        assert_eq!(verdicts(text), Vec::<&str>::new());
    }
    // What it looks for.
    assert_eq!(
        verdicts("| PLRS is shorter than PT | not decided: not run |").len(),
        1
    );
    assert_eq!(verdicts("So that claim is **refuted**.").len(), 1);
    assert_eq!(
        verdicts("It is *refuted* if it is the other way round."),
        Vec::<&str>::new()
    );
}
