//! Figures of papers: what is drawn, and which claims the paper makes about it.
//!
//! A figure is an experiment file, the axis of its charts, the readings of the paper, and claims. A claim is a sentence of the
//! paper and a function that looks at the data and says, with numbers, whether they confirm it, refute it
//! or leave it open. Where a paper can be read in several ways, every claim is looked at under each reading; one that
//! is confirmed under one of them and refuted under another *depends on the reading*.
//!
//! A paper is a file beside this one with its figures, a line in `PAPERS`, and the files of its experiments. Rules
//! for sentences about tests stand in `rules.rs` and `differences.rs`, about measures in `measured.rs`. Sentences that compare several figures
//! are looked at where all of these are there ([`across`]); figures of one task set are grids ([`grid`]),
//! figures of one run drawings ([`drawing`]), and figures of instructions that were counted follow from what is kept of them ([`counted`]).

pub mod across;
mod compare;
pub mod counted;
mod counted_rules;
mod differences;
pub mod drawing;
mod drawing_rules;
pub mod grid;
mod grid_rules;
mod herman2012;
mod holenderski2010;
mod huang2014;
pub mod kept;
pub mod measured;
mod missimer;
mod missimer_runs;
mod page;
mod rules;
mod sigrist2015;
mod sigrist2015_fig_2;
mod view;

pub use page::{Finding, Outcome, index, made_by, outcome};
pub use rules::Course;
pub use view::View;

use crate::charts::{self, Shown};
use crate::costs::{Costs, CostsError};
use crate::diagnose;
use crate::evaluate::{Question, check_label};
use crate::file::Experiment;
use crate::plot::Chart;
use crate::simulation::QuestionError;
use crate::summary::Summary;
use vestal_analysis::Test;
use vestal_policy::Registry;
use vestal_result::claim::Verdict;
use vestal_workload::{Diagnostics, Source};

/// A figure of a paper.
#[derive(Debug)]
pub struct Figure {
    /// `PAPER/FIGURE`.
    pub name: &'static str,
    /// What it shows.
    pub caption: &'static str,
    /// The experiment file.
    pub text: &'static str,
    /// The file of overheads that it names, if it names one.
    pub overheads: Option<&'static str>,
    /// What is on the horizontal axis.
    pub x: Axis,
    /// In which ways the paper can be read; `None`: in one only.
    pub readings: Option<&'static Readings>,
    /// Curves that are not what the paper drew under their names, with what they are.
    pub stand_ins: &'static [StandIn],
    /// What the paper says of it.
    pub claims: &'static [Claim],
}

/// A parameter that varies along a horizontal axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Its name in the experiment.
    pub parameter: &'static str,
    /// What the axis is called.
    pub label: &'static str,
}

/// Ways in which a paper can be read: values of a parameter of the experiment.
#[derive(Debug)]
pub struct Readings {
    /// The parameter.
    pub parameter: &'static str,
    /// All that are looked at.
    pub each: &'static [Reading],
    /// What a page says of them: a paragraph.
    pub words: &'static str,
}

/// A way in which a paper can be read.
#[derive(Debug)]
pub struct Reading {
    /// The value of the parameter.
    pub value: &'static str,
    /// What it is, for a title.
    pub text: &'static str,
    /// The same for the name of a file.
    pub slug: &'static str,
}

/// A curve's name, and what the curve is instead of what the paper drew under it.
pub type StandIn = (&'static str, &'static str);

/// A claim of a paper about a figure.
#[derive(Debug)]
pub struct Claim {
    /// The claim in a sentence.
    pub text: &'static str,
    /// The tests, and parts of measures, that it speaks of.
    pub needs: &'static [&'static str],
    /// What data under one reading say of it.
    pub check: fn(&View<'_>) -> Checked,
}

/// What some data say of a claim, and by which numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What they say.
    pub verdict: Verdict,
    /// The numbers.
    pub numbers: String,
}

/// The figures of every paper.
const PAPERS: &[&[Figure]] = &[
    huang2014::FIGURES,
    sigrist2015::FIGURES,
    missimer::FIGURES,
    herman2012::FIGURES,
];

/// All figures, in the order of the papers.
pub fn figures() -> impl Iterator<Item = &'static Figure> {
    PAPERS.iter().copied().flatten()
}

/// The figures that a name means: one, or all whose names go on with a letter or after a slash, as
/// `huang2014/fig4` and `huang2014` do.
#[must_use]
pub fn named(name: &str) -> Vec<&'static Figure> {
    figures().filter(|figure| fits(figure.name, name)).collect()
}

/// Whether `asked` means the figure `name`.
fn fits(name: &str, asked: &str) -> bool {
    name.strip_prefix(asked).is_some_and(|rest| {
        rest.is_empty()
            || rest.starts_with('/')
            || rest.len() == 1 && rest.starts_with(|c: char| c.is_ascii_lowercase())
    })
}

/// A figure ready to be computed.
#[derive(Debug)]
pub struct Prepared<'a> {
    /// Its experiment, with the number of sets that is wanted.
    pub experiment: Experiment,
    /// Those of its questions that can be asked.
    pub questions: Vec<Question<'a>>,
    /// Those that do not.
    pub missing: Vec<String>,
}

impl Figure {
    /// The experiment, and those of its questions that can be asked. `sets` replaces the number of sets a point.
    ///
    /// # Errors
    /// What is wrong with the experiment file; a bug of Vestal.
    pub fn prepare<'a>(
        &self,
        sets: Option<u32>,
        registry: &'a Registry,
    ) -> Result<Prepared<'a>, Diagnostics> {
        let mut experiment = Experiment::parse(&Source::new(self.name, self.text))?;
        if let Some(sets) = sets {
            experiment = experiment.with_sets(sets);
        }
        let costs = self.overheads.map(Costs::from_json).transpose();
        let costs = costs.map_err(|error| costs_refused(&experiment, error))?;
        let (mut questions, mut missing) = (Vec::new(), Vec::new());
        for question in crate::questions(registry, &experiment, costs.as_ref()) {
            match question {
                Ok(question) => questions.push(question),
                Err(QuestionError::Unknown { name, .. }) => missing.push(name),
                Err(QuestionError::UnknownTest { label, .. }) => missing.push(label),
                Err(QuestionError::NoPolicy(test)) => missing.push(check_label(&test)),
                Err(QuestionError::Refused(found)) => return Err(*found),
                Err(QuestionError::Overheads(error)) => {
                    return Err(costs_refused(&experiment, error));
                }
            }
        }
        Ok(Prepared {
            experiment,
            questions,
            missing,
        })
    }

    /// Charts for each reading, each with the name of its file: one of what is accepted, and one for each kind of
    /// measure.
    #[must_use]
    pub fn charts(&self, summary: &Summary) -> Vec<(String, Chart)> {
        let charts = self.shown(summary).into_iter();
        charts.map(|(name, _, chart)| (name, chart)).collect()
    }

    fn shown(&self, summary: &Summary) -> Vec<(String, Shown, Chart)> {
        let views = View::all(self, summary).into_iter();
        let charts = views.flat_map(|view| {
            let (title, slug) = match view.reading() {
                None => (self.name.to_owned(), ""),
                Some(reading) => (format!("{}: {}", self.name, reading.text), reading.slug),
            };
            let charts = view.selection().charts(&title, self.x.label).into_iter();
            charts.map(move |(shown, chart)| (charts::file_name(slug, shown), shown, chart))
        });
        charts.collect()
    }
}

/// What is wrong with the figure's file of overheads.
fn costs_refused(experiment: &Experiment, error: CostsError) -> Diagnostics {
    let expected = "overheads with which everything can be asked";
    let source = &experiment.source;
    diagnose::problem(source, None, "overheads", error.why, expected, error.help)
}

/// The names of those tests that were published as proofs and are none, among the questions.
#[must_use]
pub fn refuted_tests(questions: &[Question<'_>]) -> Vec<String> {
    names_of(questions, Test::is_refuted)
}

/// The names of those tests that are upper bounds on what others accept, and no proofs, among the questions.
#[must_use]
pub fn upper_bounds(questions: &[Question<'_>]) -> Vec<String> {
    names_of(questions, |test| test.is_upper_bound)
}

fn names_of(questions: &[Question<'_>], is_one: impl Fn(&Test) -> bool) -> Vec<String> {
    let tests = questions.iter().filter_map(|question| question.test());
    tests
        .filter(|test| is_one(test))
        .map(ToString::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_an_experiment_that_varies_its_axis_and_its_readings() {
        for figure in figures() {
            let registry = Registry::default();
            let prepared = figure.prepare(None, &registry).unwrap();
            assert_eq!(prepared.experiment.name, figure.name);
            let named = prepared.experiment.overheads.is_some();
            assert_eq!(named, figure.overheads.is_some(), "{}", figure.name);
            for (curve, _) in figure.stand_ins {
                let mut figures = figures().filter(|other| other.stand_ins == figure.stand_ins);
                let is_there = |other: &Figure| {
                    let prepared = other.prepare(None, &registry).unwrap();
                    let mut labels = prepared.questions.iter().map(Question::label);
                    labels.any(|label| label == *curve)
                };
                assert!(figures.any(is_there), "{curve}");
            }
            let questions = prepared.questions.iter().map(Question::asked);
            let asked = questions.flat_map(|asked| match asked.counted {
                None => vec![asked.label],
                Some(_) => asked.parts(),
            });
            let asked: Vec<String> = asked.collect();
            assert!(prepared.missing.is_empty(), "{:?}", prepared.missing);
            let axes: Vec<&str> = prepared
                .experiment
                .axes
                .iter()
                .map(|axis| axis.name.as_str())
                .collect();
            assert!(axes.contains(&figure.x.parameter), "{}", figure.name);
            if let Some(readings) = figure.readings {
                let axes = &prepared.experiment.axes;
                let axis = axes.iter().find(|axis| axis.name == readings.parameter);
                let listed: Vec<&str> = readings.each.iter().map(|one| one.value).collect();
                assert_eq!(axis.unwrap().values, listed, "{}", figure.name);
            }
            for claim in figure.claims {
                for test in claim.needs {
                    assert!(asked.iter().any(|known| known == test), "{test}");
                }
            }
        }
    }

    #[test]
    fn a_name_means_a_figure_its_parts_or_a_paper() {
        let names = |name: &str| named(name).len();
        assert_eq!(
            (
                names("huang2014/fig1"),
                names("huang2014/fig4"),
                names("huang2014")
            ),
            (1, 4, huang2014::FIGURES.len())
        );
        assert_eq!(
            (names("huang2014/fig"), names("huang"), names("")),
            (0, 0, 0)
        );
    }
}

#[cfg(test)]
mod across_tests;
#[cfg(test)]
mod claims_cases;
#[cfg(test)]
mod claims_tests;
#[cfg(test)]
mod grid_tests;
#[cfg(test)]
mod herman2012_cases;
#[cfg(test)]
mod herman2012_tests;
#[cfg(test)]
mod made_up_tests;
#[cfg(test)]
mod missimer_cases;
#[cfg(test)]
mod sigrist2015_cases;
