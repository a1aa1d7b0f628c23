//! Experiment files: which sets are drawn, which parameters vary, what is asked of every set.

use crate::diagnose::{self, problem};
use crate::spec::{RawSpec, SimulationSpec, Varied};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::{Spanned, Value};
use vestal_workload::diagnostic::did_you_mean;
use vestal_workload::document::has_more_words;
use vestal_workload::generate::Recipe;
use vestal_workload::{Diagnostics, Source};

/// The version of the format that this crate reads.
pub const FORMAT: &str = "vestal-experiment/1";

/// The most sets of a point, and the most points of an experiment.
const COUNT_MAX: u64 = 10_000_000;
const POINTS_MAX: usize = 100_000;
/// The most pairs of questions at all points together: each answer is compared with each other (some 300 MB).
const PAIRS_MAX: usize = 5_000_000;
/// The most words and marks of a file, of which a parser makes up to 350 bytes each.
const WORDS_MAX: usize = 1 << 16;
const CHUNK_DEFAULT: u32 = 100;

/// An experiment as its file describes it, checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// The recipe with everything that does not vary.
    pub recipe: Recipe,
    /// Everything random follows from it.
    pub seed: u64,
    /// How many sets are drawn at each point.
    pub sets: u32,
    /// How many sets make up a file that is written at once.
    pub chunk: u32,
    /// What varies, the outermost first.
    pub axes: Vec<Axis>,
    /// The parameter whose values weigh the results of a curve, if any.
    pub weight_by: Option<String>,
    /// Names of tests, with variant; behind an `@` the figure of each overhead with which it is asked.
    pub tests: Vec<String>,
    /// The file of overheads, as the experiment names it: relative to where that is.
    pub overheads: Option<String>,
    /// The only mechanism whose overheads count.
    pub mechanism: Option<String>,
    /// Names of tests whose acceptances are checked set by set.
    pub checks: Vec<String>,
    /// Simulations.
    pub simulations: Vec<SimulationSpec>,
    /// Simulations in which something is measured.
    pub measures: Vec<SimulationSpec>,
    /// The parameter on the horizontal axis of the plots, if there are to be any.
    pub plot: Option<String>,
    /// The text.
    pub source: Arc<Source>,
}

/// A parameter that varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The parameter of the recipe, or one that simulations name.
    pub name: String,
    /// Its values as text.
    pub values: Vec<String>,
}

/// One combination of the parameters that vary.
#[derive(Clone, Debug)]
pub struct Point {
    /// The value of each axis.
    pub values: Vec<String>,
    /// The recipe with these values.
    pub recipe: Recipe,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    format: Spanned<String>,
    name: String,
    recipe: Spanned<String>,
    #[serde(default)]
    seed: u64,
    sets: Spanned<u32>,
    chunk: Option<Spanned<u32>>,
    weight_by: Option<Spanned<String>>,
    #[serde(default)]
    tests: Vec<Spanned<String>>,
    overheads: Option<Spanned<String>>,
    mechanism: Option<Spanned<String>>,
    #[serde(default)]
    check: Vec<String>,
    #[serde(default)]
    fixed: BTreeMap<String, Spanned<Value>>,
    #[serde(default)]
    vary: BTreeMap<String, Spanned<Value>>,
    #[serde(default)]
    simulate: Vec<Spanned<RawSpec>>,
    #[serde(default)]
    measure: Vec<Spanned<RawSpec>>,
    plot: Option<Spanned<String>>,
}

impl Experiment {
    /// Reads an experiment from its text.
    ///
    /// # Errors
    /// `V0700` with the place of the first thing that is wrong.
    pub fn parse(source: &Arc<Source>) -> Result<Self, Diagnostics> {
        let raw = read(source)?;
        let wrong =
            |span, field: &str, found, expected: &str| wrong(source, span, field, found, expected);
        if raw.format.as_ref() != FORMAT {
            let found = format!("\"{}\"", raw.format.as_ref());
            let expected = format!("\"{FORMAT}\"");
            return Err(wrong(raw.format.span(), "format", found, &expected));
        }
        let Some(mut recipe) = Recipe::named(raw.recipe.as_ref()) else {
            let expected = format!("one of {}", Recipe::NAMES.join(", "));
            let found = format!("\"{}\"", raw.recipe.as_ref());
            let usual = "docs/experiments.md describes every recipe";
            let help = did_you_mean(raw.recipe.as_ref(), Recipe::NAMES, usual);
            let span = Some(raw.recipe.span());
            return Err(problem(source, span, "recipe", found, expected, help));
        };
        for (name, value) in in_order(&raw.fixed) {
            let text = text_of(value.as_ref());
            set(&mut recipe, source, name, &text, value.span())?;
        }
        let axes = in_order(&raw.vary)
            .into_iter()
            .map(|(name, value)| {
                let simulations = raw.simulate.iter().chain(&raw.measure);
                let mut named = simulations.flat_map(|spec| spec.as_ref().names());
                let is_named = named.any(|known| known == name);
                read_axis((&recipe, is_named), source, name, value)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let sets = *raw.sets.as_ref();
        let (span, field) = (raw.sets.span(), "sets");
        check_size(&raw, sets, &axes)
            .map_err(|(found, expected)| wrong(span, field, found, expected))?;
        let chunk = raw
            .chunk
            .as_ref()
            .map_or(CHUNK_DEFAULT, |chunk| *chunk.as_ref());
        if chunk == 0 {
            let span = raw.chunk.as_ref().map_or(0..0, Spanned::span);
            return Err(wrong(span, "chunk", "0".to_owned(), "at least 1"));
        }
        check_asked(source, &raw, &axes)?;
        let mut experiment = Self {
            name: raw.name,
            recipe,
            seed: raw.seed,
            sets,
            chunk,
            axes,
            weight_by: raw.weight_by.map(Spanned::into_inner),
            tests: raw.tests.into_iter().map(Spanned::into_inner).collect(),
            overheads: raw.overheads.map(Spanned::into_inner),
            mechanism: raw.mechanism.map(Spanned::into_inner),
            checks: raw.check,
            simulations: Vec::new(),
            measures: Vec::new(),
            plot: raw.plot.map(Spanned::into_inner),
            source: Arc::clone(source),
        };
        (experiment.simulations, experiment.measures) =
            experiment.specs(raw.simulate, raw.measure)?;
        Ok(experiment)
    }

    /// Simulations and measures, with what they are at each point.
    fn specs(
        &self,
        simulations: Vec<Spanned<RawSpec>>,
        measures: Vec<Spanned<RawSpec>>,
    ) -> Result<(Vec<SimulationSpec>, Vec<SimulationSpec>), Diagnostics> {
        let points = self.points();
        let texts = |point: &'_ Point| point.values.clone();
        let values: Vec<Vec<String>> = points.iter().map(texts).collect();
        let varied = Varied {
            names: self.axes.iter().map(|axis| axis.name.as_str()).collect(),
            points: values
                .iter()
                .map(|point| point.iter().map(String::as_str).collect())
                .collect(),
        };
        let checked = |specs: Vec<Spanned<RawSpec>>, is_measure| {
            let specs = specs.into_iter().map(|spec| {
                let span = spec.span();
                let spec = spec.into_inner();
                spec.checked(&self.source, (is_measure, span), &varied)
            });
            specs.collect::<Result<Vec<_>, _>>()
        };
        Ok((checked(simulations, false)?, checked(measures, true)?))
    }

    /// Every combination of the axes' values; the last axis varies fastest.
    #[must_use]
    pub fn points(&self) -> Vec<Point> {
        let mut points = vec![Point {
            values: Vec::new(),
            recipe: self.recipe.clone(),
        }];
        for axis in &self.axes {
            let mut next = Vec::with_capacity(points.len() * axis.values.len());
            for point in &points {
                for value in &axis.values {
                    let mut point = point.clone();
                    // Every value was tried when the file was read; what only simulations name is none of its.
                    let _tried = point.recipe.set(&axis.name, value);
                    point.values.push(value.clone());
                    next.push(point);
                }
            }
            points = next;
        }
        points
    }

    /// How many chunks a point has.
    #[must_use]
    pub fn chunks_per_point(&self) -> u32 {
        self.sets.div_ceil(self.chunk)
    }

    /// The same experiment with another number of sets, for a quick look.
    #[must_use]
    pub fn with_sets(mut self, sets: u32) -> Self {
        self.sets = sets.max(1);
        self
    }
}

fn wrong(
    source: &Arc<Source>,
    span: std::ops::Range<usize>,
    field: &str,
    found: String,
    expected: &str,
) -> Diagnostics {
    let help = "docs/experiments.md describes every key";
    problem(source, Some(span), field, found, expected, help)
}

/// The tables of the file.
fn read(source: &Arc<Source>) -> Result<Raw, Diagnostics> {
    if has_more_words(&source.text, WORDS_MAX) {
        let found = format!("more than {WORDS_MAX} words and marks");
        let help = "name each test once, and write `{ from = ..., to = ..., step = ... }` for a long list of values";
        return Err(problem(
            source,
            Some(0..1),
            "",
            found,
            "at most 65536 words and marks",
            help,
        ));
    }
    toml::from_str(&source.text).map_err(|error| {
        let message = error.message().to_owned();
        let usual = "docs/experiments.md lists the keys; vestal explain V0700 shows a file";
        let help = diagnose::unreadable(&message, usual);
        problem(
            source,
            error.span(),
            "",
            message,
            "an experiment file",
            help,
        )
    })
}

/// Whether something is asked, and weights and plots are over parameters that vary.
fn check_asked(source: &Arc<Source>, raw: &Raw, axes: &[Axis]) -> Result<(), Diagnostics> {
    if let Some(weight) = &raw.weight_by {
        weights(axes, weight.as_ref()).map_err(|(found, expected)| {
            wrong(source, weight.span(), "weight_by", found, expected)
        })?;
    }
    if let Some(plot) = &raw.plot {
        numbers(axes, plot.as_ref())
            .map_err(|(found, expected)| wrong(source, plot.span(), "plot", found, expected))?;
    }
    check_overheads(source, raw)?;
    let nothing = raw.tests.is_empty() && raw.check.is_empty();
    if nothing && raw.simulate.is_empty() && raw.measure.is_empty() {
        let expected = "`tests`, `check`, `[[simulate]]`, or `[[measure]]`";
        let found = "nothing is asked of the sets".to_owned();
        return Err(wrong(source, 0..0, "", found, expected));
    }
    Ok(())
}

/// Whether what is said of overheads fits together.
fn check_overheads(source: &Arc<Source>, raw: &Raw) -> Result<(), Diagnostics> {
    let with = raw.tests.iter().find(|name| name.as_ref().contains('@'));
    let specs = raw.simulate.iter().chain(&raw.measure);
    let costs = specs.filter_map(|spec| spec.as_ref().costs()).next();
    match (&raw.overheads, with, costs) {
        (None, Some(name), _) => {
            let found = format!("\"{}\"", name.as_ref());
            let expected = "a name without `@`, or a file of `overheads`";
            return Err(wrong(source, name.span(), "tests", found, expected));
        }
        (None, None, Some(costs)) => {
            let found = format!("\"{}\"", costs.as_ref());
            let expected = "a file of `overheads`, or simulations without `costs`";
            return Err(wrong(source, costs.span(), "costs", found, expected));
        }
        (Some(file), None, None) => {
            let found = format!("\"{}\"", file.as_ref());
            let expected = "tests that are asked with overheads, as \"amc-rtb@max\", or simulations with `costs`";
            return Err(wrong(source, file.span(), "overheads", found, expected));
        }
        (Some(_), _, _) | (None, None, None) => {}
    }
    match (&raw.mechanism, &raw.overheads) {
        (Some(name), None) => {
            let found = format!("\"{}\"", name.as_ref());
            let expected = "a file of `overheads`, which has mechanisms";
            Err(wrong(source, name.span(), "mechanism", found, expected))
        }
        _ => Ok(()),
    }
}

/// Whether this many sets, points and questions can be counted and kept; if not, what was found and what was expected.
fn check_size(raw: &Raw, sets: u32, axes: &[Axis]) -> Result<(), (String, &'static str)> {
    let lengths = axes.iter().map(|axis| axis.values.len());
    let points = lengths.fold(1, usize::saturating_mul);
    let total = u64::from(sets).saturating_mul(points as u64);
    if sets == 0 || points > POINTS_MAX || total > COUNT_MAX * 10 {
        let many = match points {
            usize::MAX => "more points than can be counted".to_owned(),
            points => format!("{points} points"),
        };
        let expected = "at least one set, at most 100000 points and 10^8 sets together";
        return Err((format!("{sets} sets at {many}"), expected));
    }
    let questions = raw.tests.len() + raw.check.len() + raw.simulate.len() + raw.measure.len();
    let pairs = questions.saturating_mul(questions).saturating_mul(points);
    if pairs > PAIRS_MAX {
        let found = format!("{questions} tests and simulations at {points} points");
        let expected = "so few that the square of their number times the points is at most 5000000: each is compared with each";
        return Err((found, expected));
    }
    Ok(())
}

/// The values that a parameter takes: one of the recipe, each of whose values it can have, or one that only
/// simulations name.
fn read_axis(
    (recipe, is_named): (&Recipe, bool),
    source: &Arc<Source>,
    name: &str,
    value: &Spanned<Value>,
) -> Result<Axis, Diagnostics> {
    let values = axis(value.as_ref()).ok_or_else(|| {
        let found = value.as_ref().to_string();
        let expected = "a list of values, or { from, to, step } with at most 100000 of them";
        wrong(source, value.span(), name, found, expected)
    })?;
    let is_of_recipe = recipe.parameters().iter().any(|known| known.name == name);
    for text in values.iter().filter(|_| is_of_recipe || !is_named) {
        set(&mut recipe.clone(), source, name, text, value.span())?;
    }
    Ok(Axis {
        name: name.to_owned(),
        values,
    })
}

fn set(
    recipe: &mut Recipe,
    source: &Arc<Source>,
    name: &str,
    text: &str,
    span: std::ops::Range<usize>,
) -> Result<(), Diagnostics> {
    recipe
        .set(name, text)
        .map_err(|error| diagnose::parameter(source, span, name, text, &error))
}

/// The values of a parameter as numbers; if they are none, what was found and what was expected.
fn numbers(axes: &[Axis], name: &str) -> Result<Vec<f64>, (String, &'static str)> {
    let Some(axis) = axes.iter().find(|axis| axis.name == name) else {
        return Err((format!("\"{name}\""), "a parameter that varies"));
    };
    let number = |text: &String| {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| {
            let found = format!("\"{name}\", which has the value `{text}`");
            (found, "a parameter whose values are numbers")
        })
    };
    axis.values.iter().map(number).collect()
}

/// Whether the values of a parameter can be weights; if not, what was found and what was expected.
fn weights(axes: &[Axis], name: &str) -> Result<(), (String, &'static str)> {
    let values = numbers(axes, name)?;
    if let Some(below) = values.iter().find(|value| **value < 0.0) {
        let found = format!("\"{name}\", which has the value {below}");
        return Err((found, "a parameter without values below 0"));
    }
    match values.iter().sum::<f64>() > 0.0 {
        true => Ok(()),
        false => Err((
            format!("\"{name}\", which is 0"),
            "a parameter with a value above 0",
        )),
    }
}

/// The order of a file: tables are maps, so it follows from the places.
fn in_order(table: &BTreeMap<String, Spanned<Value>>) -> Vec<(&String, &Spanned<Value>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(_, value)| value.span().start);
    entries
}

fn text_of(value: &Value) -> String {
    match (value.as_str(), value.as_float()) {
        (Some(text), _) => text.to_owned(),
        (_, Some(number)) => number.to_string(),
        (None, None) => value.to_string(),
    }
}

/// The values of an axis; `None` if they are no axis.
fn axis(value: &Value) -> Option<Vec<String>> {
    let values: Vec<String> = if let Some(list) = value.as_array() {
        list.iter().map(text_of).collect()
    } else {
        let table = value.as_table().filter(|table| table.len() == 3)?;
        let number = |key: &str| table.get(key).and_then(billionths);
        range(number("from")?, number("to")?, number("step")?)?
    };
    (!values.is_empty() && values.len() <= POINTS_MAX).then_some(values)
}

const BILLION: u64 = 1_000_000_000;

/// A number in billionths: steps are added exactly, so that 0.55 + 3 * 0.01 is 0.58.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the number is between 0 and 10^6, so its billionths are below 2^53"
)]
fn billionths(value: &Value) -> Option<u64> {
    let whole = || value.as_integer().map(|number| number as f64);
    let number = value.as_float().or_else(whole)?;
    (0.0..=1e6)
        .contains(&number)
        .then(|| (number * BILLION as f64).round() as u64)
}

fn range(from: u64, to: u64, step: u64) -> Option<Vec<String>> {
    if step == 0 || to < from || (to - from) / step >= POINTS_MAX as u64 {
        return None;
    }
    let count = (to - from) / step;
    Some((0..=count).map(|i| decimal(from + i * step)).collect())
}

fn decimal(billionths: u64) -> String {
    let (whole, rest) = (billionths / BILLION, billionths % BILLION);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = format!("{rest:09}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
