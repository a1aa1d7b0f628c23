//! Every claim of every figure against made-up answers of which the verdict is known.

use super::claims_cases::*;
use super::*;
use crate::evaluate::{Answer, Found};
use crate::measure::Asked;
use crate::table::{Table, Width};
use std::collections::BTreeSet;
use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};

/// The figures of a paper, made-up answers for their claims, and five values for each axis that they have.
pub(super) struct Made {
    pub(super) figures: &'static [Figure],
    pub(super) cases: &'static [&'static [Case]],
    pub(super) values: fn(&str) -> [&'static str; 5],
}

const HUANG: Made = Made {
    figures: huang2014::FIGURES,
    cases: &[CASES],
    values: |axis| match axis {
        "utilization" => ["0.50", "0.60", "0.70", "0.80", "0.90"],
        "criticality_factor" => ["1", "1.5", "2", "2.5", "3"],
        "levels" => ["2", "3", "4", "5", "6"],
        // The second is the last one in the lower half.
        _ => ["4", "8", "20", "24", "32"],
    },
};

pub(super) const SIGRIST: Made = Made {
    figures: sigrist2015::FIGURES,
    cases: &[sigrist2015_cases::CASES],
    values: |_| ["0.2", "0.4", "0.8", "3.2", "7.2"],
};

const MISSIMER: Made = Made {
    figures: missimer::FIGURES,
    cases: missimer_cases::CASES,
    values: |axis| match axis {
        "utilization" => ["0.2", "0.4", "0.6", "0.8", "0.9"],
        "share_high" => ["0.1", "0.3", "0.5", "0.7", "0.9"],
        "criticality_factor" => ["1.5", "2", "2.5", "3", "4"],
        _ => ["15", "30", "45", "60", "75"],
    },
};

const HERMAN: Made = Made {
    figures: herman2012::FIGURES,
    cases: herman2012_cases::CASES,
    values: |_| ["0.075", "0.1", "0.4", "0.6", "1"],
};

/// Every paper has made-up answers.
const MADE: &[Made] = &[HUANG, SIGRIST, MISSIMER, HERMAN];

/// The figure's questions and readings, with five values of its axis and two weights; what else varies has one value.
fn experiment(made: &Made, figure: &Figure, sets: u32) -> (Experiment, Vec<Asked>) {
    let registry = Registry::default();
    let prepared = figure.prepare(Some(sets), &registry).unwrap();
    let asked = prepared.questions.iter().map(Question::asked).collect();
    let mut experiment = prepared.experiment;
    let reading = figure.readings.map(|readings| readings.parameter);
    let texts = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    for axis in &mut experiment.axes {
        if axis.name == figure.x.parameter {
            axis.values = texts(&(made.values)(&axis.name));
        } else if Some(&axis.name) == experiment.weight_by.as_ref() {
            axis.values = texts(&["0.25", "0.75"]);
        } else if Some(axis.name.as_str()) != reading {
            axis.values.truncate(1);
        }
    }
    (experiment, asked)
}

fn answer(case: &Case, column: &str, position: usize, set: u32) -> Answer {
    let of = |holds| if holds { Answer::Yes } else { Answer::No };
    match column.strip_prefix("check:") {
        None if case.undecided.contains(&set)
            && !(case.accepts)(column, position).contains(&set) =>
        {
            Answer::Undecided
        }
        None => of((case.accepts)(column, position).contains(&set)),
        Some(test) if !(case.accepts)(test, position).contains(&set) => Answer::Undecided,
        Some(_) if case.missed.contains(&set) => Answer::No,
        Some(_) if case.proved.contains(&set) => Answer::Yes,
        Some(_) => Answer::Undecided,
    }
}

/// What the answers of the case come to, without the columns `without`.
pub(super) fn summary(made: &Made, figure: &Figure, case: &Case, without: &[&str]) -> Summary {
    summary_of(
        made,
        figure,
        case.sets,
        without,
        |column, _, position, set| Cell {
            answer: answer(case, column, position, set),
            counts: case
                .counts
                .map(|counts| move |part: &str| counts(part, position, set)),
        },
    )
}

/// What is found of a set: an answer, or what a measure counts of a level, by the name of the part.
struct Cell<C: Fn(&str) -> [u64; 2]> {
    answer: Answer,
    counts: Option<C>,
}

/// The same of cells by column, values of the point, position on the axis and set.
fn summary_of<C: Fn(&str) -> [u64; 2]>(
    made: &Made,
    figure: &Figure,
    sets: u32,
    without: &[&str],
    cell: impl Fn(&str, &[String], usize, u32) -> Cell<C>,
) -> Summary {
    let (experiment, mut asked) = experiment(made, figure, sets);
    asked.retain(|asked| !without.contains(&asked.label.as_str()));
    let points = experiment.points();
    let mut axes = experiment.axes.iter();
    let axis = axes
        .position(|axis| axis.name == figure.x.parameter)
        .unwrap();
    let mut table = Table::new(Width::of(&asked));
    for (number, point) in (0..).zip(&points) {
        let known = &experiment.axes[axis].values;
        let position = known.iter().position(|value| *value == point.values[axis]);
        for set in 0..sets {
            let mut found = Found::default();
            for asked in &asked {
                let cell = cell(&asked.label, &point.values, position.unwrap(), set);
                let Some(counted) = &asked.counted else {
                    found.answers.push(cell.answer);
                    continue;
                };
                found.answers.push(Answer::Yes);
                for level in &counted.levels {
                    let counts = cell.counts.as_ref().unwrap();
                    found
                        .counts
                        .extend(counts(&format!("{}:{level}", asked.label)));
                }
            }
            table.push(number, set, u64::from(set), &found);
        }
    }
    Summary::new(&experiment, &points, &asked, &table)
}

/// That for every claim there are answers that confirm it, refute it, and leave it open.
pub(super) fn check_claims(made: &Made) {
    let mut seen: BTreeSet<(&str, &str, String)> = BTreeSet::new();
    for figure in made.figures {
        for case in made.cases.iter().copied().flatten() {
            let Some(claim) = figure.claims.iter().find(|claim| claim.text == case.claim) else {
                continue;
            };
            let summary = summary(made, figure, case, &[]);
            let views = View::all(figure, &summary);
            assert_eq!(
                views.len(),
                figure.readings.map_or(1, |readings| readings.each.len())
            );
            for view in views {
                let checked = (claim.check)(&view);
                assert_eq!(
                    checked.verdict, case.expected,
                    "{}: {}: {}",
                    figure.name, claim.text, checked.numbers
                );
            }
            seen.insert((figure.name, claim.text, case.expected.to_string()));
        }
        for claim in figure.claims {
            for verdict in [Confirmed, Refuted, NotDecided] {
                let position = (figure.name, claim.text, verdict.to_string());
                assert!(seen.contains(&position), "no data for {position:?}");
            }
        }
    }
}

#[test]
fn every_claim_is_confirmed_refuted_and_left_open_by_data_that_do_so() {
    let made: Vec<&str> = MADE
        .iter()
        .flat_map(|made| made.figures)
        .map(|figure| figure.name)
        .collect();
    assert_eq!(
        made,
        figures().map(|figure| figure.name).collect::<Vec<_>>()
    );
    MADE.iter().for_each(check_claims);
}

/// What a claim needs is what it looks at: without it, there is nothing to check, and what it does not need
/// may be missing.
#[test]
fn a_claim_is_checked_if_and_only_if_what_it_speaks_of_is_there() {
    for figure in HUANG.figures {
        for claim in figure.claims {
            let of_claim = |case: &&Case| case.claim == claim.text && case.expected == Confirmed;
            let case = CASES.iter().find(of_claim).unwrap();
            let registry = Registry::default();
            let prepared = figure.prepare(None, &registry).unwrap();
            for column in &prepared.missing {
                let summary = summary(&HUANG, figure, case, &[column]);
                let found = outcome(figure, &prepared, &summary, "", "").findings;
                let (_, found) = found.iter().find(|(text, _)| *text == claim.text).unwrap();
                let expected = match claim.needs.contains(&column.as_str()) {
                    true => Finding::NotChecked,
                    false => Finding::Confirmed,
                };
                // Where the best of all is sought, or all are looked at, a test less is another question.
                let of_all = [CMS, NOT_DOMINANT].contains(&claim.text);
                if !(of_all && expected == Finding::Confirmed) {
                    assert_eq!(
                        *found, expected,
                        "{}: {} without {column}",
                        figure.name, claim.text
                    );
                }
            }
        }
    }
}

#[test]
fn the_page_prints_what_a_gain_consists_of_and_what_stands_in_for_what() {
    let page = |name: &str, case: &Case| {
        let figure = named(name)[0];
        let registry = Registry::default();
        let prepared = figure.prepare(None, &registry).unwrap();
        assert!(prepared.missing.is_empty(), "{:?}", prepared.missing);
        let outcome = outcome(
            figure,
            &prepared,
            &summary(&HUANG, figure, case, &[]),
            "",
            "",
        );
        let overview = index(std::slice::from_ref(&outcome), "", "");
        let is_told = overview.contains("The curve `zss` is Vestal's own sound test");
        assert_eq!(is_told, figure.name.contains("fig4"), "{overview}");
        outcome.page
    };
    let refuted = page(
        "huang2014/fig1",
        &checked(IA_GAINS, Refuted, ia_beyond, 400..480, 0..400),
    );
    for words in [
        "| 4 | AMC-IA's advantage over AMC-MAX is a gain in schedulability. | **refuted** |",
        "500 sets are accepted by amc-ia and not by the sound amc-max (for instance point 0 index 400",
        "of the 500, 400 are shown to miss a guaranteed deadline (80.00 % of 500;",
        "0 are proved by another sound test, and 100 are open",
        "Published and refuted: amc-ia.",
    ] {
        assert!(refuted.contains(words), "{words} is not in {refuted}");
    }
    assert!(!refuted.contains("zss"));
    for name in [
        "huang2014/fig4a",
        "huang2014/fig4b",
        "huang2014/fig4c",
        "huang2014/fig4d",
    ] {
        let page = page(name, &case(CMS, Confirmed, 20, |_, _| 0..10));
        for words in [
            "The curve `zss` is Vestal's own sound test for zero-slack scheduling",
            "   - `zss` here is Vestal's own sound test",
        ] {
            assert!(page.contains(words), "{words} is not in {page}");
        }
    }
    let stands_in = page("huang2014/fig3", &case(NONE, Confirmed, 20, |_, _| 0..0));
    assert!(
        stands_in.contains("   - `fjp-lb` here stands in for"),
        "{stands_in}"
    );
}

/// Of two points with the weights 1/4 and 3/4, `smc` accepts all sets of the first, and the others all of the
/// second.
#[test]
fn points_count_by_their_weights() {
    let figure = named("huang2014/fig2b")[0];
    let summary = summary_of(&HUANG, figure, 100, &[], |test, values, _, _| {
        let is_light = values.iter().any(|value| value == "0.25");
        let answer = match (test == "smc") == is_light {
            true => Answer::Yes,
            false => Answer::No,
        };
        Cell {
            answer,
            counts: None::<fn(&str) -> [u64; 2]>,
        }
    });
    let view = &View::all(figure, &summary)[0];
    for (test, share) in [("smc", 0.25), ("amc-ia", 0.75)] {
        let levels = view.levels(test);
        assert_eq!(levels.len(), 5);
        for (_, level) in levels {
            assert!((level.value - share).abs() < 1e-12, "{test}: {level:?}");
        }
    }
    let pairings = view.pairings("amc-ia", "smc");
    assert_eq!(pairings.len(), 5);
    for (_, pairing) in pairings {
        let found = pairing.difference();
        assert!((f64::midpoint(found.low, found.high) - 0.5).abs() < 1e-12);
        assert_eq!((pairing.first(), pairing.second()), (100, 100));
        assert_eq!(pairing.sign(), super::compare::Sign::Above);
    }
}

#[test]
fn numbers_name_searches_that_were_given_up() {
    let figure = named("huang2014/fig1")[0];
    let case = with_one_undecided(MAX_DOMINATES, Confirmed, one_more_by_rtb);
    let summary = summary(&HUANG, figure, &case, &[]);
    let view = &View::all(figure, &summary)[0];
    let mut claims = figure.claims.iter();
    let claim = claims.find(|claim| claim.text == MAX_DOMINATES);
    let numbers = (claim.unwrap().check)(view).numbers;
    for words in [
        "; amc-max leaves 5 undecided",
        "; amc-rtb leaves 4 undecided",
    ] {
        assert!(numbers.contains(words), "{words} is not in {numbers}");
    }
}

/// A figure with simulations says what they stand in for, in its head and with each claim about them.
#[test]
fn a_page_says_what_stands_in_for_runs() {
    let figure = named("sigrist2015/fig9b")[0];
    let registry = Registry::default();
    let prepared = figure.prepare(None, &registry).unwrap();
    let case = &SIGRIST.cases[0][0];
    let summary = summary(&SIGRIST, figure, case, &[]);
    let outcome = outcome(figure, &prepared, &summary, "", "");
    let page = &outcome.page;
    let extrapolated = "is extrapolated from Table I alone";
    for words in [
        format!("The curve `sim:ftts/overrun=0.3@drawn` {extrapolated}"),
        format!("   - `sim:ftts/overrun=0.3@drawn` here {extrapolated}"),
    ] {
        assert!(page.contains(&words), "{words} is not in {page}");
    }
    assert_eq!(page.matches(extrapolated).count(), 6, "{page}");
    assert!(!page.contains("pedf-vd"), "{page}");
    let (_, chart) = &figure.charts(&summary)[0];
    assert!(
        chart.x_label.contains("paper: U/m, m = 8"),
        "{}",
        chart.x_label
    );
    assert_eq!(chart.curves.len(), 4);
}

#[test]
fn checks_of_tests_are_no_curves() {
    let figure = named("huang2014/fig3")[0];
    let summary = summary(&HUANG, figure, &case(NONE, Confirmed, 20, |_, _| 0..0), &[]);
    assert!(summary.column("check:fjp-ija").is_some());
    let (_, chart) = &figure.charts(&summary)[0];
    let names: Vec<&str> = chart
        .curves
        .iter()
        .map(|curve| curve.name.as_str())
        .collect();
    assert_eq!(names, ["fjp-lb", "fjp-ija", "fjp-mode"]);
}

/// The figures of two systems ask tests of servers about both, and the page of the curves says so.
#[test]
fn the_systems_of_missimer_are_asked_about_in_servers() {
    let registry = Registry::default();
    for figure in missimer::FIGURES {
        let prepared = figure.prepare(None, &registry).unwrap();
        for question in &prepared.questions {
            if let Some(test) = question.test() {
                assert!(test.is_for_servers, "{}: {}", figure.name, question.label());
            }
        }
    }
}

/// Of those four curves every two are compared.
#[test]
fn the_order_of_curves_is_that_of_all_their_pairs() {
    let figure = named("missimer/fig10")[0];
    let case = &missimer_cases::CASES[0][0];
    let summary = summary(&MISSIMER, figure, case, &[]);
    let view = &View::all(figure, &summary)[0];
    for claim in figure.claims.iter().filter(|claim| claim.needs.len() > 2) {
        let numbers = (claim.check)(view).numbers;
        let pairs = numbers.lines().filter(|line| line.contains("above"));
        let pairs: BTreeSet<BTreeSet<&str>> = pairs
            .map(|line| {
                let tests = claim.needs.iter().copied();
                let (pair, _) = line.split_once(": **").unwrap();
                let words: Vec<&str> = pair.split(' ').collect();
                tests.filter(|test| words.contains(test)).collect()
            })
            .collect();
        assert!(pairs.iter().all(|pair| pair.len() == 2), "{numbers}");
        assert_eq!((claim.needs.len(), pairs.len()), (4, 6), "{numbers}");
    }
}

/// About how many sets a question was not asked stands in the head, and with what is said of it; and whom runs judge with each
/// claim about them.
#[test]
fn a_page_says_about_how_many_sets_nothing_was_asked_and_whom_runs_judge() {
    let figure = named("missimer/fig7")[0];
    let registry = Registry::default();
    let prepared = figure.prepare(None, &registry).unwrap();
    let refused = |curve: &'static str| {
        let summary = summary_of(&MISSIMER, figure, 20, &[], |test, _, position, set| {
            let answer = match (test == curve, position, set) {
                (true, 1, 0..3) => Answer::Refused,
                (_, _, 0..10) => Answer::Yes,
                (_, _, _) => Answer::No,
            };
            let counts = None::<fn(&str) -> [u64; 2]>;
            Cell { answer, counts }
        });
        outcome(figure, &prepared, &summary, "", "").page
    };
    let curve = "sim:io-amc/lo[events=burst]";
    let page = refused(curve);
    for words in [
        "Not asked, because the policy or the test does not take them: `sim:io-amc/lo[events=burst]` about 3 of 100 sets.",
        "; sim:io-amc/lo[events=burst] is not asked about 3",
        "\nRuns of `sim:io-amc/lo[io=sporadic]` judge the deadlines of 20 of 20 tasks.",
        "   - Runs of `sim:io-amc/lo[io=sporadic,events=burst]` judge the deadlines of 15 of 20 tasks.",
        "   - Runs of `sim:io-amc/lo[events=burst]` judge the deadlines of 15 of 20 tasks and the ends of bursts of 5 PIBS.",
    ] {
        assert!(page.contains(words), "{words} is not in {page}");
    }
    let page = refused("");
    assert!(page.contains("was asked about all sets"), "{page}");
    assert!(!page.contains("not asked"), "{page}");
}
