//! What a figure came to, as a page.

use super::{Claim, Figure, Prepared, StandIn, View, refuted_tests, upper_bounds};
use crate::evaluate::Question;
use crate::summary::Summary;
use std::fmt;
use std::fmt::Write as _;
use vestal_result::claim::Verdict;

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The data confirm it under every reading.
    Confirmed,
    /// They refute it under every reading.
    Refuted,
    /// They confirm it under one reading and refute it under another.
    DependsOnReading,
    /// Under some reading they leave it open.
    NotDecided,
    /// This version has not all tests that it speaks of.
    NotChecked,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::DependsOnReading => "depends on the reading",
            Self::NotDecided => "not decided",
            Self::NotChecked => "not checked",
        })
    }
}

/// A figure after its reproduction.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// `PAPER/FIGURE`.
    pub figure: &'static str,
    /// What it shows.
    pub caption: &'static str,
    /// Sets at each point.
    pub sets: u32,
    /// Tests that this version does not have.
    pub missing: Vec<String>,
    /// Curves that are not what the paper drew, with what they are.
    pub stand_ins: Vec<(&'static str, &'static str)>,
    /// Each claim with what became of it.
    pub findings: Vec<(&'static str, Finding)>,
    /// The names of the plots.
    pub plots: Vec<String>,
    /// The page.
    pub page: String,
}

/// Looks at every claim of a figure. `command` is the command that reproduces it, `version` the
/// program's.
#[must_use]
pub fn outcome(
    figure: &Figure,
    prepared: &Prepared<'_>,
    summary: &Summary,
    command: &str,
    version: &str,
) -> Outcome {
    let views = View::all(figure, summary);
    // Those that this version does not have too.
    let tests = prepared.experiment.tests.iter().cloned();
    let asked = prepared.questions.iter().map(Question::label);
    let curves: Vec<String> = tests.chain(asked).collect();
    let curves: Vec<&str> = curves.iter().map(String::as_str).collect();
    let judged = judged(prepared);
    let mut page = head(figure, prepared, &curves, command, version);
    page.push_str(&not_asked(summary));
    for (curve, of) in &judged {
        let _ = writeln!(page, "Runs of `{curve}` judge {of}.\n");
    }
    let mut findings = Vec::new();
    let mut details = String::new();
    for (number, claim) in (1..).zip(figure.claims) {
        let absent = claim.needs.iter().filter(|name| !summary.has(name));
        let absent: Vec<&str> = absent.copied().collect();
        let _ = write!(details, "\n{number}. **{}**\n", claim.text);
        let finding = if absent.is_empty() {
            looked_at(
                figure,
                claim,
                (views.as_slice(), judged.as_slice()),
                &mut details,
            )
        } else {
            let _ = writeln!(details, "   - not in this version: {}", absent.join(", "));
            Finding::NotChecked
        };
        findings.push((claim.text, finding));
    }
    page.push_str(&claims_table(&findings));
    page.push_str(&rules(figure, summary));
    page.push_str("\n## By which numbers\n");
    page.push_str(&details);
    page.push_str("\n## Plots\n\n");
    let charts = figure.shown(summary);
    for (name, shown, chart) in &charts {
        let what = shown.map_or_else(String::new, |_| format!(", {}", chart.y_label));
        let title = chart.title.as_deref().unwrap_or_default();
        let _ = writeln!(page, "![{title}{what}]({name})\n");
    }
    page.push_str(DATA);
    if !summary.measures.is_empty() {
        page.push_str(DATA_OF_MEASURES);
    }
    page.push_str(BACK);
    Outcome {
        figure: figure.name,
        caption: figure.caption,
        sets: prepared.experiment.sets,
        missing: prepared.missing.clone(),
        stand_ins: stand_ins(figure, &curves).copied().collect(),
        findings,
        plots: charts.into_iter().map(|(name, _, _)| name).collect(),
        page,
    }
}

/// Each claim with what became of it.
pub(super) fn claims_table(findings: &[(&'static str, Finding)]) -> String {
    let mut table = "## Claims\n\n| | the paper says | found |\n|---|---|---|\n".to_owned();
    for (number, (text, finding)) in (1..).zip(findings) {
        let _ = writeln!(table, "| {number} | {text} | **{finding}** |");
    }
    table
}

/// How verdicts come about, as far as it concerns the figure.
fn rules(figure: &Figure, summary: &Summary) -> String {
    let mut text = DECIDED.to_owned();
    if figure.readings.is_some() {
        text.push_str(READING);
    }
    text.push('\n');
    let of_tests = if summary.columns.is_empty() {
        &[]
    } else {
        OF_TESTS
    };
    let of_measures = if summary.measures.is_empty() {
        &[]
    } else {
        OF_MEASURES
    };
    let rules = of_tests.iter().chain(of_measures).chain(&[WORDS]);
    for (number, rule) in (1..).zip(rules) {
        let _ = writeln!(text, "{number}. {rule}");
    }
    text
}

const DECIDED: &str = "\n\
*Confirmed* and *refuted* are said only where the drawn sets say so for certain; *not decided* means that\n\
they do not, and more sets may.";
const READING: &str = " *Depends on the reading*: confirmed under one, refuted under the other.\n";

const OF_TESTS: &[&str] = &[
    "The sets of a point are independent; all tests answer about the same sets. So two tests are compared by\n\
the sets on which they differ (McNemar's test), not by their shares.",
    "Certain is what four standard errors on each side do not change. One such interval is wrong with a\n\
probability of 0.006 %, so 800 of them are all right with 95 %. The whiskers of the plots are narrower: 95 %\n\
each.",
    "*More* and *better* are strict: tests that answer alike confirm neither. They are refuted by the contrary,\n\
and if what the test alone accepts is rare and no more than what the other one alone accepts.",
    "*Every* and *none* are refuted by one set, *some* is confirmed by one. The contrary takes a share that is\n\
certainly rare. A set whose search reached its limit is not accepted, and no such set.",
    "What a published and refuted test accepts, and the sound test beside it does not, is looked at set by set: is\n\
it proved by another sound test of the same policy, and if not, does a search find a run of it in which a\n\
guaranteed deadline is missed, under the priorities that the test chose? Such a miss shows that the set was\n\
accepted wrongly. No miss shows nothing. An advantage is a gain if more than half of it is proved, none if\n\
more than half misses, and not decided otherwise.",
];

const OF_MEASURES: &[&str] = &[
    "What is measured is the mean over the sets of a point, each as heavy as any other; a set's value is counted in\n\
one simulation. Sets are independent; jobs of a set are not, and no interval takes them for it.",
    "Intervals of shares hold for every distribution and number of sets (Waudby-Smith and Ramdas, 2024); those of other\n\
numbers are Student's. Certain is what may be wrong with a probability of 0.006 %; the whiskers are 95 % each.",
    "Two policies are compared by the differences of their values for the same sets. Where points are put together, a\n\
value is the mean over the points of the sets with the same index.",
];

const WORDS: &str =
    "Numbers behind words such as *very small* are ours; they stand with each claim.";

const DATA: &str = "## Data\n\n\
`results.parquet` has a row for each set, with its seed and a column for each test; `summary.csv` the\n\
shares with Wilson's 95 % intervals, `weighted.csv` (if there is one) the weighted schedulability, and\n\
`pairs.csv` how many sets one test accepts and another does not, with some of them; `answers.txt` how many sets of each point\n\
have the same answers to all questions, and the first of them. A column `check:TEST` says\n\
of each set what became of the test's acceptance: 0 a run misses, 1 proved, 2 open or not accepted. ";

const DATA_OF_MEASURES: &str = "A column\n\
`MEASURE:POLICY/SCENARIO` says whether there was a whole run to measure in: 0 no order for the set, 1 yes, 2 it ended\n\
early; those behind it, by level, what was counted. `measures.csv` has their sums, and the means with 95 % intervals. ";

const BACK: &str = "Any set comes\n\
back as a file:\n\n\
```sh\n\
vestal regenerate . --point P --index I -o set.toml\n\
```\n\n\
The whiskers of the plots are the 95 % intervals. The same command gives the same bytes on every machine.\n";

fn head(
    figure: &Figure,
    prepared: &Prepared<'_>,
    curves: &[&str],
    command: &str,
    version: &str,
) -> String {
    let mut page = format!(
        "# {}\n\n{}.\n\n{} sets at each point, seed {}. Made by `{command}`, vestal {version}.\n\n",
        figure.name, figure.caption, prepared.experiment.sets, prepared.experiment.seed
    );
    if !prepared.missing.is_empty() {
        let _ = writeln!(
            page,
            "Not in this version, and left out: {}.\n",
            prepared.missing.join(", ")
        );
    }
    let refuted = refuted_tests(&prepared.questions);
    if !refuted.is_empty() {
        let _ = writeln!(
            page,
            "Published and refuted: {}. Their curves show what their papers claim; a set that only such \
             a test accepts may miss deadlines.\n",
            refuted.join(", ")
        );
    }
    let bounds = upper_bounds(&prepared.questions);
    if !bounds.is_empty() {
        let _ = writeln!(
            page,
            "Upper bounds on what tests accept, and no proofs: {}.\n",
            bounds.join(", ")
        );
    }
    for (curve, what) in stand_ins(figure, curves) {
        let _ = writeln!(
            page,
            "The curve `{curve}` {what}: what is found of it holds for this curve, and need not hold for the \
             paper's.\n"
        );
    }
    if let Some(readings) = figure.readings {
        page.push_str(readings.words);
        page.push_str("\n\n");
    }
    page
}

impl Finding {
    /// Of the verdicts under each reading.
    pub(super) fn of(verdicts: &[Verdict]) -> Self {
        let some = |verdict| verdicts.contains(&verdict);
        let open = verdicts.is_empty() || some(Verdict::NotDecided);
        match (some(Verdict::Confirmed), some(Verdict::Refuted)) {
            (true, true) => Self::DependsOnReading,
            _ if open => Self::NotDecided,
            (true, false) => Self::Confirmed,
            (false, _) => Self::Refuted,
        }
    }
}

fn looked_at(
    figure: &Figure,
    claim: &Claim,
    (views, judged): (&[View<'_>], &[(String, String)]),
    details: &mut String,
) -> Finding {
    let mut verdicts = Vec::new();
    for view in views {
        let checked = (claim.check)(view);
        verdicts.push(checked.verdict);
        let reading = view.reading();
        let reading = reading.map_or_else(String::new, |reading| format!("{}: ", reading.text));
        let _ = writeln!(
            details,
            "   - {reading}{}. {}.",
            checked.verdict, checked.numbers
        );
    }
    for (test, what) in stand_ins(figure, claim.needs) {
        let _ = writeln!(details, "   - `{test}` here {what}.");
    }
    for (curve, of) in judged {
        if claim.needs.contains(&curve.as_str()) {
            let _ = writeln!(details, "   - Runs of `{curve}` judge {of}.");
        }
    }
    Finding::of(&verdicts)
}

/// The simulations in servers, each with the words for whom they judge.
fn judged(prepared: &Prepared<'_>) -> Vec<(String, String)> {
    let questions = prepared.questions.iter();
    let each = questions.filter_map(|question| {
        let judged = question.judged(&prepared.experiment);
        let words: Vec<String> = judged.iter().map(ToString::to_string).collect();
        (!words.is_empty()).then(|| (question.label(), words.join(", or ")))
    });
    each.collect()
}

/// About how many sets questions were not asked.
fn not_asked(summary: &Summary) -> String {
    let columns = summary.columns.iter().enumerate();
    let refused = columns.filter_map(|(column, name)| {
        let counts = summary.counts.iter().map(|counts| counts[column]);
        let (refused, sets) = counts.fold((0, 0), |(refused, sets), count| {
            (refused + count.refused, sets + count.sets)
        });
        (refused > 0).then(|| format!("`{name}` about {refused} of {sets} sets"))
    });
    let refused: Vec<String> = refused.collect();
    match (summary.columns.is_empty(), refused.is_empty()) {
        (true, _) => String::new(),
        (false, true) => {
            "Every question with yes and no for its answer was asked about all sets.\n\n".to_owned()
        }
        (false, false) => format!(
            "Not asked, because the policy or the test does not take them: {}. They count neither way.\n\n",
            refused.join(", ")
        ),
    }
}

/// Those of the curves that are not what the paper drew, with what they are.
fn stand_ins<'a>(
    figure: &Figure,
    curves: &'a [&str],
) -> impl Iterator<Item = &'static StandIn> + 'a {
    let all = figure.stand_ins.iter();
    all.filter(move |(curve, _)| curves.contains(curve))
}

/// The command that a page says its figure was made by.
#[must_use]
pub fn made_by(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once("Made by `")?;
    let (command, _) = rest.split_once('`')?;
    Some(command)
}

/// A page about several figures.
#[must_use]
pub fn index(outcomes: &[Outcome], command: &str, version: &str) -> String {
    let mut page = format!(
        "# Figures, and what became of their claims\n\nMade by `{command}`, vestal {version}.\n\n\
         | figure | claim | found |\n|---|---|---|\n"
    );
    for outcome in outcomes {
        for (text, finding) in &outcome.findings {
            let _ = writeln!(
                page,
                "| [{0}]({0}/claims.md) | {text} | **{finding}** |",
                outcome.figure
            );
        }
    }
    for outcome in outcomes {
        let _ = write!(page, "\n## {}\n\n{}.", outcome.figure, outcome.caption);
        if outcome.sets > 1 {
            let _ = write!(page, " {} sets at each point.", outcome.sets);
        }
        if !outcome.missing.is_empty() {
            let _ = write!(
                page,
                " Not in this version: {}.",
                outcome.missing.join(", ")
            );
        }
        for (test, what) in &outcome.stand_ins {
            let _ = write!(page, " The curve `{test}` {what}.");
        }
        page.push_str("\n\n");
        for plot in &outcome.plots {
            let _ = writeln!(page, "![{0}]({0}/{plot})", outcome.figure);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::Finding::{self, DependsOnReading};
    use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};

    #[test]
    fn a_finding_is_that_of_all_readings() {
        let found = |verdicts: &[_]| Finding::of(verdicts);
        assert_eq!(found(&[Confirmed, Confirmed]), Finding::Confirmed);
        assert_eq!(found(&[Refuted, Refuted]), Finding::Refuted);
        assert_eq!(found(&[Confirmed, Refuted]), DependsOnReading);
        assert_eq!(found(&[Refuted, Confirmed]), DependsOnReading);
        assert_eq!(found(&[Confirmed, NotDecided]), Finding::NotDecided);
        assert_eq!(found(&[NotDecided, Refuted]), Finding::NotDecided);
        assert_eq!(found(&[NotDecided, NotDecided]), Finding::NotDecided);
        assert_eq!(found(&[]), Finding::NotDecided);
    }
}
