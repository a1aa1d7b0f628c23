//! What a figure came to, as a page.

use super::huang2014::STAND_INS;
use super::{Claim, Figure, Prepared, View, unsafe_tests};
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
    /// Tests whose curves are not what the paper drew, with what they are.
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
    let tests = prepared.experiment.tests.iter();
    let tests: Vec<&str> = tests.map(String::as_str).collect();
    let mut page = head(figure, prepared, &tests, command, version);
    let mut findings = Vec::new();
    let mut details = String::new();
    for (number, claim) in (1..).zip(figure.claims) {
        let absent = claim
            .needs
            .iter()
            .filter(|test| summary.column(test).is_none());
        let absent: Vec<&str> = absent.copied().collect();
        let _ = write!(details, "\n{number}. **{}**\n", claim.text);
        let finding = if absent.is_empty() {
            looked_at(claim, &views, &mut details)
        } else {
            let _ = writeln!(details, "   - not in this version: {}", absent.join(", "));
            Finding::NotChecked
        };
        findings.push((claim.text, finding));
    }
    page.push_str("## Claims\n\n| | the paper says | found |\n|---|---|---|\n");
    for (number, (text, finding)) in (1..).zip(&findings) {
        let _ = writeln!(page, "| {number} | {text} | **{finding}** |");
    }
    page.push_str(RULES);
    page.push_str("\n## By which numbers\n");
    page.push_str(&details);
    page.push_str("\n## Plots\n\n");
    let plots: Vec<String> = figure
        .charts(summary)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    for (name, view) in plots.iter().zip(&views) {
        let _ = writeln!(
            page,
            "![{}: {}]({name})\n",
            figure.name,
            view.reading_text()
        );
    }
    page.push_str(DATA);
    Outcome {
        figure: figure.name,
        caption: figure.caption,
        sets: prepared.experiment.sets,
        missing: prepared.missing.clone(),
        stand_ins: stand_ins(&tests).copied().collect(),
        findings,
        plots,
        page,
    }
}

const RULES: &str = "\n\
*Confirmed* and *refuted* are said only where the drawn sets say so for certain; *not decided* means that\n\
they do not, and more sets may. *Depends on the reading*: confirmed under one, refuted under the other.\n\n\
1. The sets of a point are independent; all tests answer about the same sets. So two tests are compared by\n\
   the sets on which they differ (McNemar's test), not by their shares.\n\
2. Certain is what four standard errors on each side do not change. One such interval is wrong with a\n\
   probability of 0.006 %, so 800 of them are all right with 95 %. The whiskers of the plots are narrower: 95 %\n\
   each.\n\
3. *More* and *better* are strict: tests that answer alike confirm neither. They are refuted by the contrary,\n\
   and if what the test alone accepts is rare and no more than what the other one alone accepts.\n\
4. *Every* and *none* are refuted by one set, *some* is confirmed by one. The contrary takes a share that is\n\
   certainly rare. A set whose search reached its limit is not accepted, and no such set.\n\
5. What a published and refuted test accepts, and the sound test beside it does not, is looked at set by set: is\n\
   it proved by another sound test of the same policy, and if not, does a search find a run of it in which a\n\
   guaranteed deadline is missed, under the priorities that the test chose? Such a miss shows that the set was\n\
   accepted wrongly. No miss shows nothing. An advantage is a gain if more than half of it is proved, none if\n\
   more than half misses, and not decided otherwise.\n\
6. Numbers behind words such as *very small* are ours; they stand with each claim.\n";

const DATA: &str = "## Data\n\n\
`results.parquet` has a row for each set, with its seed and a column for each test; `summary.csv` the\n\
shares with Wilson's 95 % intervals, `weighted.csv` (if there is one) the weighted schedulability, and\n\
`pairs.csv` how many sets one test accepts and another does not, with some of them. A column `check:TEST` says\n\
of each set what became of the test's acceptance: 0 a run misses, 1 proved, 2 open or not accepted. Any set comes\n\
back as a file:\n\n\
```sh\n\
vestal regenerate . --point P --index I -o set.toml\n\
```\n\n\
The whiskers of the plots are the 95 % intervals. The same command gives the same bytes on every machine.\n";

fn head(
    figure: &Figure,
    prepared: &Prepared<'_>,
    tests: &[&str],
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
    let refuted = unsafe_tests(&prepared.questions);
    if !refuted.is_empty() {
        let _ = writeln!(
            page,
            "Published and refuted: {}. Their curves show what their papers claim; a set that only such \
             a test accepts may miss deadlines.\n",
            refuted.join(", ")
        );
    }
    for (test, what) in stand_ins(tests) {
        let _ = writeln!(
            page,
            "The curve `{test}` {what}: what is found of it holds for this test, and need not hold for the \
             paper's.\n"
        );
    }
    page.push_str(
        "The paper can be read in two ways: the criticality factor applies to tasks of every level, or \
         not to those of level 0 (`vestal explain` and the recipe's documentation say more). Every claim is \
         looked at under both.\n\n",
    );
    page
}

impl Finding {
    /// Of the verdicts under each reading.
    fn of(verdicts: &[Verdict]) -> Self {
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

fn looked_at(claim: &Claim, views: &[View<'_>], details: &mut String) -> Finding {
    let mut verdicts = Vec::new();
    for view in views {
        let checked = (claim.check)(view);
        verdicts.push(checked.verdict);
        let _ = writeln!(
            details,
            "   - {}: {}. {}.",
            view.reading_text(),
            checked.verdict,
            checked.numbers
        );
    }
    for (test, what) in stand_ins(claim.needs) {
        let _ = writeln!(details, "   - `{test}` here {what}.");
    }
    Finding::of(&verdicts)
}

/// Those of the tests whose curves are not what the paper drew, with what they are.
fn stand_ins<'a>(
    tests: &'a [&str],
) -> impl Iterator<Item = &'static (&'static str, &'static str)> + 'a {
    let all = STAND_INS.iter();
    all.filter(move |(test, _)| tests.contains(test))
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
        let _ = write!(
            page,
            "\n## {}\n\n{}. {} sets at each point.",
            outcome.figure, outcome.caption, outcome.sets
        );
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
