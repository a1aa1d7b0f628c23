//! Figures of papers that the documentation shows: what is said of them follows from `docs/PAPER/FIGURE/answers.txt`, of figures
//! of one task set from a computation. `scripts/keep-figures.sh DIR` keeps others; it calls this test with `VESTAL_BLESS=1`, and with
//! `VESTAL_KEEP=DIR`.

use crate::kept::{docs, expect, expect_files, expect_part};
use std::fs;
use std::path::{Path, PathBuf};
use vestal_experiment::figure::across::{self, Across};
use vestal_experiment::figure::grid::{self, Grid, PLOT};
use vestal_experiment::figure::kept::{ANSWERS, Kept};
use vestal_experiment::figure::{self, Figure, Finding, Outcome, made_by};
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
    /// That of which answers stand in the documentation.
    fn of(figure: &'static Figure) -> Option<Self> {
        let text = fs::read_to_string(docs().join(figure.name).join(ANSWERS)).ok()?;
        Some(Self::from_text(figure, &text).unwrap())
    }

    /// Of these answers; in words, what is wrong with them.
    fn from_text(figure: &'static Figure, text: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("{}: {what}", figure.name);
        let kept = Kept::from_text(text).ok_or_else(|| wrong("these are no answers"))?;
        let registry = Registry::default();
        let prepared = figure.prepare(Some(kept.sets), &registry).unwrap();
        let asked: Vec<_> = prepared.questions.iter().map(Question::asked).collect();
        let labels: Vec<&str> = asked.iter().map(|asked| asked.label.as_str()).collect();
        if kept.questions != labels {
            return Err(wrong("other questions were asked"));
        }
        let experiment = &prepared.experiment;
        let table = kept.table(experiment);
        let points = experiment.points();
        for point in 0..points.len() {
            let rows = table.points.iter().filter(|row| **row as usize == point);
            if rows.count() != kept.sets as usize {
                let what = format!("point {point} has not the answers of {} sets", kept.sets);
                return Err(wrong(&what));
            }
        }
        if table.rows() != points.len() * kept.sets as usize {
            return Err(wrong("there are answers at points that it has not"));
        }
        let summary = Summary::new(experiment, &points, &asked, &table);
        let (command, version) = (&kept.command, &kept.version);
        let outcome = figure::outcome(figure, &prepared, &summary, command, version);
        Ok(Self {
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
        keep(Path::new(&from), &docs()).unwrap();
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

/// Takes over into `to` what `vestal reproduce -o` has written to `from`, by whichever version: the answers to all questions, or the
/// results that they are counted from. Writes nothing unless all of it is right.
fn keep(from: &Path, to: &Path) -> Result<(), String> {
    let figures = PAPERS.iter().flat_map(|(paper, _)| figure::named(paper));
    let mut found = Vec::new();
    for figure in figures {
        let place = from.join(figure.name);
        let text = match fs::read_to_string(place.join(ANSWERS)) {
            Ok(text) => text,
            Err(_) if place.join("results.parquet").exists() => counted(figure, &place)?,
            Err(_) => continue,
        };
        Known::from_text(figure, &text)?;
        found.push((to.join(figure.name), text));
    }
    for (folder, text) in found {
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(ANSWERS), text).unwrap();
    }
    Ok(())
}

fn counted(figure: &Figure, place: &Path) -> Result<String, String> {
    let manifest = fs::read_to_string(place.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let store = Store::existing(place, manifest["version"].as_str().unwrap()).unwrap();
    let table = sweep::results(&store).unwrap();
    let found = &store.manifest;
    let command = command(figure, place)?;
    let by = (command.as_str(), found.version.as_str());
    let kept = Kept::of(by, found.sets, found.columns.clone(), &table);
    let kept = kept.ok_or_else(|| format!("{} has measures, which are not kept", figure.name))?;
    Ok(kept.to_text())
}

/// The command that made the results of a figure, as the page beside them says.
fn command(figure: &Figure, place: &Path) -> Result<String, String> {
    let text = fs::read_to_string(place.join(CLAIMS)).unwrap_or_default();
    let begin = format!("vestal reproduce {} ", figure.name);
    let found = made_by(&text).filter(|command| command.starts_with(&begin));
    let found = found.ok_or_else(|| format!("{CLAIMS} of {} names no command", figure.name))?;
    Ok(found.to_owned())
}

/// A folder of its own, which is gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("vestal-kept-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Of two figures the second lacks answers: neither is written.
#[test]
fn kept_answers_that_lack_rows_are_refused_before_anything_is_written() {
    let (from, to) = (Folder::new("from"), Folder::new("to"));
    let names = ["sigrist2015/fig9a", "sigrist2015/fig9b"];
    for name in names {
        let folder = from.0.join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::copy(docs().join(name).join(ANSWERS), folder.join(ANSWERS)).unwrap();
    }
    let last = from.0.join(names[1]).join(ANSWERS);
    let whole = fs::read_to_string(&last).unwrap();
    let (all_but_one, _) = whole.trim_end().rsplit_once('\n').unwrap();
    for (text, why) in [
        (format!("{all_but_one}\n"), "has not the answers of"),
        (
            whole.replacen("question ", "question x", 1),
            "other questions",
        ),
        (whole.replacen("vestal-answers/1", "x", 1), "no answers"),
    ] {
        fs::write(&last, text).unwrap();
        let refused = keep(&from.0, &to.0).unwrap_err();
        assert!(refused.starts_with(names[1]), "{refused}");
        assert!(refused.contains(why), "{refused}");
        assert_eq!(fs::read_dir(&to.0).unwrap().count(), 0);
    }
    fs::write(&last, &whole).unwrap();
    keep(&from.0, &to.0).unwrap();
    let kept = fs::read_to_string(to.0.join(names[1]).join(ANSWERS));
    assert_eq!(kept.unwrap(), whole);
}

/// As many sets as the figure has, and quickly all the same: a figure that has few is.
#[test]
fn kept_figures_name_the_command_that_made_them() {
    let place = Folder::new("command");
    let figure = figure::named("sigrist2015/fig9a")[0];
    let says = |text: &str| {
        fs::write(place.0.join(CLAIMS), text).unwrap();
        command(figure, &place.0)
    };
    for quick in ["", " --quick"] {
        let line = format!("vestal reproduce {}{quick} -o DIR", figure.name);
        let found = says(&format!(
            "1000 sets at each point. Made by `{line}`, vestal 1.\n"
        ));
        assert_eq!(found, Ok(line));
    }
    for other in [
        "",
        "Made by `vestal reproduce x -o DIR`, vestal 1.",
        "Made by `vestal",
    ] {
        assert!(says(other).is_err(), "{other}");
    }
    // What stands in the documentation is such a page.
    let kept = Known::of(figure).unwrap();
    assert_eq!(made_by(&kept.page()), Some(kept.kept.command.as_str()));
}
