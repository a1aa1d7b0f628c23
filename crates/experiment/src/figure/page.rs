//! What a figure came to, as a page.

use super::{Claim, Figure, Prepared, View, unsafe_tests};
use crate::summary::Summary;
use std::fmt;
use std::fmt::Write as _;

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It holds under every reading.
    Confirmed,
    /// It holds under none.
    Refuted,
    /// It holds under some.
    DependsOnReading,
    /// This version has not all tests that it speaks of.
    NotChecked,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::DependsOnReading => "depends on the reading",
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
    prepared: &Prepared,
    summary: &Summary,
    command: &str,
    version: &str,
) -> Outcome {
    let views = View::all(figure, summary);
    let mut page = head(figure, prepared, command, version);
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
        findings,
        plots,
        page,
    }
}

const DATA: &str = "## Data\n\n\
`results.parquet` has a row for each set, with its seed and a column for each test; `summary.csv` the\n\
shares with Wilson's 95 % intervals, `weighted.csv` (if there is one) the weighted schedulability, and\n\
`pairs.csv` how many sets one test accepts and another does not, with some of them. Any set comes back\n\
as a file:\n\n\
```sh\n\
vestal regenerate . --point P --index I -o set.toml\n\
```\n\n\
The whiskers of the plots are the 95 % intervals. The same command gives the same bytes on every machine.\n";

fn head(figure: &Figure, prepared: &Prepared, command: &str, version: &str) -> String {
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
    page.push_str(
        "The paper can be read in two ways: the criticality factor applies to tasks of every level, or \
         not to those of level 0 (`vestal explain` and the recipe's documentation say more). Every claim is \
         looked at under both.\n\n",
    );
    page
}

fn looked_at(claim: &Claim, views: &[View<'_>], details: &mut String) -> Finding {
    let mut held = 0;
    for view in views {
        let checked = (claim.check)(view);
        held += usize::from(checked.holds);
        let word = if checked.holds {
            "holds"
        } else {
            "does not hold"
        };
        let _ = writeln!(
            details,
            "   - {}: {word}. {}.",
            view.reading_text(),
            checked.numbers
        );
    }
    match held {
        0 => Finding::Refuted,
        all if all == views.len() => Finding::Confirmed,
        _ => Finding::DependsOnReading,
    }
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
        page.push_str("\n\n");
        for plot in &outcome.plots {
            let _ = writeln!(page, "![{0}]({0}/{plot})", outcome.figure);
        }
    }
    page
}
