//! Figures of papers that the documentation shows: what is said of them follows from `docs/PAPER/FIGURE/answers.txt`, of figures
//! of one task set from a computation. `scripts/keep-figures.sh DIR` keeps others; it calls this test with `VESTAL_BLESS=1`, and with
//! `VESTAL_KEEP=DIR`.

use crate::kept::{docs, expect, expect_files, expect_part};
use std::fs;
use std::path::Path;
use vestal_experiment::figure::across::{self, Across};
use vestal_experiment::figure::grid::{self, Grid, PLOT};
use vestal_experiment::figure::kept::{ANSWERS, Kept};
use vestal_experiment::figure::{self, Figure, Finding, Outcome};
use vestal_experiment::{Question, Store, Summary, sweep};
use vestal_policy::Registry;

const NOTHING: &str = "No figure is kept in this version.\n";
/// Whose figures are kept, and where in `experiments.md` it is said what was found.
pub(crate) const PAPERS: [(&str, &str); 2] = [
    (
        "sigrist2015",
        "<!-- begin: figures of sigrist2015, written by scripts/keep-figures.sh -->\n",
    ),
    (
        "missimer",
        "<!-- begin: figures, written by scripts/keep-figures.sh -->\n",
    ),
];
/// The page about a figure's claims.
const CLAIMS: &str = "claims.md";
/// Figures of one task set are computed by the test: no result of another version is kept of them.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A figure of which answers are kept.
struct Known {
    figure: &'static Figure,
    kept: Kept,
    summary: Summary,
    outcome: Outcome,
}

impl Known {
    fn of(figure: &'static Figure) -> Option<Self> {
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
        Some(Self {
            figure,
            kept,
            summary,
            outcome,
        })
    }

    /// Its page without what stands beside results only.
    fn page(&self) -> String {
        let (page, _) = self.outcome.page.split_once("## Data\n").unwrap();
        format!(
            "{page}## Data\n\n`{ANSWERS}` says how many sets of each point have the same answers to all questions, and which the first of them are; all \
             above is computed from it. The command gives every set back.\n"
        )
    }

    fn expect(&self) {
        let folder = docs().join(self.figure.name);
        expect(&folder.join(CLAIMS), &self.page());
        let mut names = vec![ANSWERS.to_owned(), CLAIMS.to_owned()];
        for (name, chart) in self.figure.charts(&self.summary) {
            expect(&folder.join(&name), &chart.to_svg());
            names.push(name);
        }
        expect_files(&folder, names);
    }
}

/// What was found of a figure that is computed here, after its page and its plot.
fn computed(grid: &Grid) -> Vec<(&'static str, Finding)> {
    let command = format!("vestal reproduce {} -o DIR", grid.name);
    let drawn = grid.draw(&Registry::default(), &command, VERSION).unwrap();
    let folder = docs().join(grid.name);
    fs::create_dir_all(&folder).unwrap();
    let (page, _) = drawn.outcome.page.split_once("## Data\n").unwrap();
    let page = format!(
        "{page}## Data\n\nThe command writes `{}`, a row for each combination. None is kept: a test computes all above again.\n",
        grid::DATA
    );
    expect(&folder.join(CLAIMS), &page);
    expect(&folder.join(PLOT), &drawn.plot.to_svg());
    expect_files(&folder, [CLAIMS, PLOT].map(str::to_owned).to_vec());
    drawn.outcome.findings
}

/// What was found of several figures together, after its page, if all of them are kept.
fn together(across: &Across, known: &[Known]) -> Vec<(&'static str, Finding)> {
    let folder = docs().join(across.name);
    let parts = known
        .iter()
        .map(|known| (known.figure, known.kept.sets, known.summary.clone()));
    let parts: Vec<_> = parts.collect();
    let command = format!("vestal reproduce {} -o DIR", across.name);
    let is_part = |known: &&Known| across.figures.contains(&known.figure.name);
    let versions = known
        .iter()
        .filter(is_part)
        .map(|known| known.kept.version.as_str());
    let mut versions: Vec<&str> = versions.collect();
    versions.dedup();
    let Some(outcome) = across.outcome(&parts, &command, &versions.join(", ")) else {
        assert!(!folder.exists(), "{}", across.name);
        return Vec::new();
    };
    fs::create_dir_all(&folder).unwrap();
    expect(&folder.join(CLAIMS), &outcome.page);
    expect_files(&folder, vec![CLAIMS.to_owned()]);
    outcome.findings
}

fn rows(name: &str, findings: &[(&'static str, Finding)]) -> String {
    let rows = findings
        .iter()
        .map(|(text, finding)| format!("| [{name}]({name}/{CLAIMS}) | {text} | **{finding}** |\n"));
    rows.collect()
}

#[test]
fn what_the_documentation_says_of_figures_follows_from_their_answers() {
    if let Some(from) = std::env::var_os("VESTAL_KEEP") {
        keep(Path::new(&from));
    }
    for (paper, begin) in PAPERS {
        let mut block = String::new();
        for grid in grid::named(paper) {
            block += &rows(grid.name, &computed(grid));
        }
        let mut known = Vec::new();
        for figure in figure::named(paper) {
            match Known::of(figure) {
                Some(found) => {
                    found.expect();
                    block += &rows(figure.name, &found.outcome.findings);
                    known.push(found);
                }
                None => assert!(!docs().join(figure.name).exists(), "{}", figure.name),
            }
        }
        for across in across::all() {
            if across.figures.iter().all(|name| name.starts_with(paper)) {
                block += &rows(across.name, &together(across, &known));
            }
        }
        let block = match block.is_empty() {
            true => NOTHING.to_owned(),
            false => format!("\n| figure | the paper says | found |\n|---|---|---|\n{block}\n"),
        };
        expect_part(&docs().join("experiments.md"), begin, &block);
    }
}

/// Takes over what `vestal reproduce -o` has written to `from`, by whichever version: the answers to all questions, or the results
/// that they are counted from.
fn keep(from: &Path) {
    let figures = PAPERS.iter().flat_map(|(paper, _)| figure::named(paper));
    for figure in figures {
        let place = from.join(figure.name);
        let text = fs::read_to_string(place.join(ANSWERS)).ok();
        let Some(text) = text.or_else(|| counted(figure, &place)) else {
            continue;
        };
        let folder = docs().join(figure.name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(ANSWERS), text).unwrap();
    }
}

fn counted(figure: &Figure, place: &Path) -> Option<String> {
    if !place.join("results.parquet").exists() {
        return None;
    }
    let manifest = fs::read_to_string(place.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let store = Store::existing(place, manifest["version"].as_str().unwrap()).unwrap();
    let table = sweep::results(&store).unwrap();
    let registry = Registry::default();
    let whole = figure.prepare(None, &registry).unwrap().experiment.sets;
    let found = &store.manifest;
    let quick = if found.sets < whole { " --quick" } else { "" };
    let command = format!("vestal reproduce {}{quick} -o DIR", figure.name);
    let by = (command.as_str(), found.version.as_str());
    let kept = Kept::of(by, found.sets, found.columns.clone(), &table);
    Some(kept.unwrap().to_text())
}
