//! Figures of papers: what is drawn, and which claims the paper makes about it.
//!
//! A figure is an experiment file, the axis of its chart, and claims. A claim is a sentence of the
//! paper and a function that looks at the data and says, with numbers, whether they confirm it, refute it
//! or leave it open. Every claim is looked at under each reading of the generator; one that is confirmed under
//! one of them and refuted under another *depends on the reading*.

mod compare;
mod huang2014;
mod page;
mod rules;
mod view;

pub use page::{Finding, Outcome, index, outcome};
pub use view::View;

use crate::evaluate::{Question, check_label};
use crate::file::Experiment;
use crate::plot::{Chart, Curve, YAxis};
use crate::summary::Summary;
use vestal_analysis::Kind;
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
    pub(crate) text: &'static str,
    /// The parameter on the horizontal axis, and its label.
    pub(crate) x: (&'static str, &'static str),
    pub(crate) claims: &'static [Claim],
}

/// A claim of a paper about a figure.
#[derive(Debug)]
pub struct Claim {
    /// The claim in a sentence.
    pub(crate) text: &'static str,
    /// The tests that it speaks of.
    pub(crate) needs: &'static [&'static str],
    pub(crate) check: fn(&View<'_>) -> Checked,
}

/// What some data say of a claim, and by which numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What they say.
    pub verdict: Verdict,
    /// The numbers.
    pub numbers: String,
}

/// The parameter whose values are readings of the paper.
pub(crate) const READING: &str = "inflate_level0";

/// All figures, in the order of the papers.
#[must_use]
pub fn figures() -> &'static [Figure] {
    huang2014::FIGURES
}

/// The figures that a name means: one, or all whose names go on with a letter or after a slash, as
/// `huang2014/fig4` and `huang2014` do.
#[must_use]
pub fn named(name: &str) -> Vec<&'static Figure> {
    let fits = |figure: &&Figure| {
        figure.name.strip_prefix(name).is_some_and(|rest| {
            rest.is_empty()
                || rest.starts_with('/')
                || rest.len() == 1 && rest.starts_with(|c: char| c.is_ascii_lowercase())
        })
    };
    figures().iter().filter(fits).collect()
}

/// A figure ready to be computed.
#[derive(Debug)]
pub struct Prepared<'a> {
    /// Its experiment, with the number of sets that is wanted.
    pub experiment: Experiment,
    /// Those of its tests that exist.
    pub questions: Vec<Question<'a>>,
    /// Those that do not.
    pub missing: Vec<String>,
}

impl Figure {
    /// The experiment, and those of its tests that there are. `sets` replaces the number of sets a point.
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
        let (mut questions, mut missing) = (Vec::new(), Vec::new());
        for name in &experiment.tests {
            match registry.test(name) {
                Some(test) => questions.push(Question::Test(test)),
                None => missing.push(name.clone()),
            }
        }
        for name in &experiment.checks {
            match registry
                .test(name)
                .map(|test| Question::check(registry, test))
            {
                Some(Ok(check)) => questions.push(check),
                Some(Err(_)) | None => missing.push(check_label(name)),
            }
        }
        Ok(Prepared {
            experiment,
            questions,
            missing,
        })
    }

    /// A chart for each reading, with the name of its file.
    #[must_use]
    pub fn charts(&self, summary: &Summary) -> Vec<(String, Chart)> {
        let charts = View::all(self, summary).into_iter().map(|view| {
            let curves = view.tests().into_iter().map(|name| Curve {
                name: name.to_owned(),
                points: view.curve(name),
            });
            let y_label = if view.is_weighted() {
                "weighted schedulability"
            } else {
                "fraction of sets accepted"
            };
            let chart = Chart {
                title: format!("{}: {}", self.name, view.reading_text()),
                x_label: self.x.1.to_owned(),
                y_label: y_label.to_owned(),
                y_axis: YAxis::Shares,
                curves: curves.collect(),
            };
            (format!("plot-{}.svg", view.reading_slug()), chart)
        });
        charts.collect()
    }
}

/// The names of tests whose yes proves nothing, among the questions.
#[must_use]
pub fn unsafe_tests(questions: &[Question<'_>]) -> Vec<String> {
    let tests = questions.iter().filter_map(|question| question.test());
    tests
        .filter(|test| test.kind == Kind::Unsafe)
        .map(ToString::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_an_experiment_that_varies_its_axis_and_the_reading() {
        for figure in figures() {
            let registry = Registry::default();
            let prepared = figure.prepare(None, &registry).unwrap();
            assert_eq!(prepared.experiment.name, figure.name);
            let tests = prepared.experiment.tests.iter().cloned();
            let checks = prepared.experiment.checks.iter();
            let asked: Vec<String> = tests.chain(checks.map(|name| check_label(name))).collect();
            let questions = prepared.questions.iter().map(Question::label);
            assert_eq!(questions.collect::<Vec<_>>(), asked);
            assert!(prepared.missing.is_empty(), "{:?}", prepared.missing);
            let axes: Vec<&str> = prepared
                .experiment
                .axes
                .iter()
                .map(|axis| axis.name.as_str())
                .collect();
            assert!(
                axes.contains(&figure.x.0) && axes.contains(&READING),
                "{}",
                figure.name
            );
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
            (1, 4, figures().len())
        );
        assert_eq!(
            (names("huang2014/fig"), names("huang"), names("")),
            (0, 0, 0)
        );
    }
}

#[cfg(test)]
mod claims_cases;
#[cfg(test)]
mod claims_tests;
