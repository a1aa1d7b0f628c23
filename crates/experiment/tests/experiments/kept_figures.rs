//! Figures of papers that the documentation shows: what is said of them follows from `docs/PAPER/FIGURE/answers.txt`.
//! `scripts/keep-figures.sh DIR` keeps others; it calls this test with `VESTAL_BLESS=1`.

use crate::kept::{docs, expect, expect_files, expect_part};
use std::fs;
use vestal_experiment::figure::kept::{ANSWERS, Kept};
use vestal_experiment::figure::{self, Outcome};
use vestal_experiment::{Question, Summary};
use vestal_policy::Registry;

pub(crate) const BEGIN: &str = "<!-- begin: figures, written by scripts/keep-figures.sh -->\n";
const NOTHING: &str = "No figure is kept in this version.\n";
/// Whose figures are kept.
const PAPER: &str = "missimer";

/// A figure of which answers are kept, with its page and its charts.
fn kept(figure: &figure::Figure) -> Option<(Outcome, Vec<(String, String)>)> {
    let text = fs::read_to_string(docs().join(figure.name).join(ANSWERS)).ok()?;
    let kept = Kept::from_text(&text).unwrap();
    let registry = Registry::default();
    let prepared = figure.prepare(Some(kept.sets), &registry).unwrap();
    let asked: Vec<_> = prepared.questions.iter().map(Question::asked).collect();
    let labels: Vec<&str> = asked.iter().map(|asked| asked.label.as_str()).collect();
    assert_eq!(kept.questions, labels, "{}", figure.name);
    let experiment = &prepared.experiment;
    let table = kept.table(experiment);
    let points = experiment.points();
    assert_eq!(table.rows(), points.len() * kept.sets as usize);
    let summary = Summary::new(experiment, &points, &asked, &table);
    let (command, version) = (&kept.command, &kept.version);
    let outcome = figure::outcome(figure, &prepared, &summary, command, version);
    let charts = figure.charts(&summary).into_iter();
    let charts = charts.map(|(name, chart)| (name, chart.to_svg())).collect();
    Some((outcome, charts))
}

/// The page without what stands beside results only.
fn page(outcome: &Outcome) -> String {
    let (page, _) = outcome.page.split_once("## Data\n").unwrap();
    format!(
        "{page}## Data\n\n`{ANSWERS}` says how many sets of each point have the same answers to all questions, and which the first of them are; all \
         above is computed from it. The command gives every set back.\n"
    )
}

#[test]
fn what_the_documentation_says_of_figures_follows_from_their_answers() {
    let mut block = String::new();
    for figure in figure::named(PAPER) {
        let folder = docs().join(figure.name);
        let Some((outcome, charts)) = kept(figure) else {
            assert!(!folder.exists(), "{}", figure.name);
            continue;
        };
        expect(&folder.join("claims.md"), &page(&outcome));
        let mut names = vec![ANSWERS.to_owned(), "claims.md".to_owned()];
        for (name, chart) in charts {
            expect(&folder.join(&name), &chart);
            names.push(name);
        }
        expect_files(&folder, names);
        for (text, finding) in &outcome.findings {
            let name = figure.name;
            block += &format!("| [{name}]({name}/claims.md) | {text} | **{finding}** |\n");
        }
    }
    let block = match block.is_empty() {
        true => NOTHING.to_owned(),
        false => format!("\n| figure | the paper says | found |\n|---|---|---|\n{block}\n"),
    };
    expect_part(&docs().join("experiments.md"), BEGIN, &block);
}
