//! Claims about several figures against made-up answers of which the verdict is known.

use super::across::{Across, all};
use super::claims_cases::case;
use super::claims_tests::{SIGRIST, summary};
use super::*;
use std::ops::Range;
use vestal_result::claim::Verdict::Confirmed;

const RUNS: &str = "sim:ftts/overrun=0.3@drawn";

/// Which sets a test accepts, by the position on the axis.
type Made = fn(&str, usize) -> Range<u32>;

/// In the order of the figures.
fn computed(made: [Made; 4], without: &[&str]) -> Vec<(&'static Figure, u32, Summary)> {
    let names = all().next().unwrap().figures;
    let figures = names.iter().map(|name| named(name)[0]);
    figures
        .zip(made)
        .map(|(figure, accepts)| {
            let case = case("", Confirmed, 1000, accepts);
            (figure, 1000, summary(&SIGRIST, figure, &case, without))
        })
        .collect()
}

/// Theory accepts so many sets more at one value of the axis.
macro_rules! apart {
    ($more:literal) => {
        |column: &str, position: usize| match (column, position) {
            ("ftts", 1) => 0..$more,
            (_, _) => 0..0,
        }
    };
}

fn found(made: [Made; 4]) -> (Finding, String) {
    let across: &Across = all().next().unwrap();
    let outcome = across.outcome(&computed(made, &[]), "x", "y").unwrap();
    (outcome.findings[0].1, outcome.page)
}

#[test]
fn the_gap_between_theory_and_runs_grows_or_does_not_or_nobody_knows() {
    let (grows, page) = found([apart!(200), apart!(503), apart!(822), apart!(973)]);
    assert_eq!(grows, Finding::Confirmed, "{page}");
    for words in [
        "20.00 % at 0.4 (",
        ", then by 50.30 % at 0.4 (",
        "97.30 % at 0.4",
        "sigrist2015/fig9a, sigrist2015/fig9b",
        "`sim:ftts/overrun=0.3@drawn` here is extrapolated from Table I alone",
    ] {
        assert!(page.contains(words), "{words} is not in {page}");
    }
    assert_eq!(page.matches("here is extrapolated").count(), 1, "{page}");
    // One step back refutes, whatever the others do.
    let (back, page) = found([apart!(200), apart!(503), apart!(300), apart!(973)]);
    assert_eq!(back, Finding::Refuted, "{page}");
    // So does one that is not what is printed, though each is above the one before.
    let (other, page) = found([apart!(200), apart!(503), apart!(600), apart!(973)]);
    assert_eq!(other, Finding::Refuted, "{page}");
    // Within the intervals it may be either.
    let (open, page) = found([apart!(200), apart!(503), apart!(850), apart!(880)]);
    assert_eq!(open, Finding::NotDecided, "{page}");
}

/// Nothing is said without all figures, or without what a claim speaks of.
#[test]
fn a_claim_across_figures_needs_them_all_and_what_it_speaks_of() {
    let across = all().next().unwrap();
    let made: [Made; 4] = [apart!(200), apart!(503), apart!(822), apart!(973)];
    let mut three = computed(made, &[]);
    three.remove(2);
    assert!(across.outcome(&three, "", "").is_none());
    let without = computed(made, &[RUNS]);
    let outcome = across.outcome(&without, "", "").unwrap();
    assert_eq!(outcome.findings[0].1, Finding::NotChecked);
    assert!(outcome.page.contains(RUNS), "{}", outcome.page);
    // The order of the figures is that of the claims, not that of the computation.
    let mut turned = computed(made, &[]);
    turned.reverse();
    let outcome = across.outcome(&turned, "", "").unwrap();
    assert_eq!(outcome.findings[0].1, Finding::Confirmed);
}

#[test]
fn figures_looked_at_together_are_there_and_have_one_reading() {
    for across in all() {
        for name in across.figures {
            assert!(named(name)[0].readings.is_none(), "{name}");
            assert!(super::fits(name, across.name), "{name}");
        }
    }
}
