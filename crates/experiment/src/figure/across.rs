//! What a paper says of several figures together.

use super::page::claims_table;
use super::{Checked, Figure, Finding, Outcome, View, sigrist2015};
use crate::summary::Summary;
use std::fmt::Write as _;

/// Sentences about several figures.
#[derive(Debug)]
pub struct Across {
    /// `PAPER/FIGURES`.
    pub name: &'static str,
    /// What the figures show.
    pub caption: &'static str,
    /// The names of figures that can be read in one way only, in the order in which claims look at them.
    pub figures: &'static [&'static str],
    /// What the paper says of them.
    pub claims: &'static [AcrossClaim],
}

/// A claim of a paper about several figures.
#[derive(Debug)]
pub struct AcrossClaim {
    /// The claim in a sentence.
    pub text: &'static str,
    /// The tests, and parts of measures, that it speaks of; each figure has them.
    pub needs: &'static [&'static str],
    /// What the data of all figures say of it.
    pub check: fn(&[View<'_>]) -> Checked,
}

/// All of them, in the order of the papers.
pub fn all() -> impl Iterator<Item = &'static Across> {
    sigrist2015::ACROSS.iter()
}

impl Across {
    /// Looks at every claim, if all its figures are among those that were computed, of which each has its summary and the number of
    /// its sets. `command` is the command that reproduces them, `version` the program's.
    #[must_use]
    pub fn outcome(
        &self,
        computed: &[(&'static Figure, u32, Summary)],
        command: &str,
        version: &str,
    ) -> Option<Outcome> {
        let of = |name: &&str| {
            let mut all = computed.iter();
            all.find(|(figure, _, _)| figure.name == *name)
        };
        let parts: Option<Vec<_>> = self.figures.iter().map(of).collect();
        let parts = parts?;
        let views = parts
            .iter()
            .flat_map(|(figure, _, summary)| View::all(figure, summary));
        let views: Vec<View<'_>> = views.collect();
        let mut findings = Vec::new();
        let mut details = String::new();
        for (number, claim) in (1..).zip(self.claims) {
            let lacks = |name: &&&str| parts.iter().any(|(_, _, summary)| !summary.has(name));
            let absent: Vec<&str> = claim.needs.iter().filter(lacks).copied().collect();
            let _ = write!(details, "\n{number}. **{}**\n", claim.text);
            let finding = if absent.is_empty() {
                let Checked { verdict, numbers } = (claim.check)(&views);
                let _ = writeln!(details, "   - {verdict}. {numbers}.");
                Finding::of(&[verdict])
            } else {
                let _ = writeln!(details, "   - not in this version: {}", absent.join(", "));
                Finding::NotChecked
            };
            let stand_ins = parts.iter().flat_map(|(figure, _, _)| figure.stand_ins);
            let mut told: Vec<&str> = Vec::new();
            for (curve, what) in stand_ins {
                if claim.needs.contains(curve) && !told.contains(curve) {
                    told.push(curve);
                    let _ = writeln!(details, "   - `{curve}` here {what}.");
                }
            }
            findings.push((claim.text, finding));
        }
        let sets = parts.iter().map(|(_, sets, _)| *sets).min().unwrap_or(0);
        let mut page = format!(
            "# {}\n\n{}: {}. {sets} sets at each point. Made by `{command}`, vestal {version}.\n\n",
            self.name,
            self.caption,
            self.figures.join(", ")
        );
        page.push_str(&claims_table(&findings));
        page.push_str(RULES);
        page.push_str("\n## By which numbers\n");
        page.push_str(&details);
        Some(Outcome {
            figure: self.name,
            caption: self.caption,
            sets,
            missing: Vec::new(),
            stand_ins: Vec::new(),
            findings,
            plots: Vec::new(),
            page,
        })
    }
}

const RULES: &str = "\n\
The figures rest on different sets. What the largest difference of two curves may be follows from the intervals of all points, four\n\
standard errors to each side. *Grows as printed* is confirmed if each figure's interval lies above that of the one before and\n\
around what is printed for it, and refuted if one lies below or elsewhere. Data and plots are those of the figures.\n";
