//! What is simulated of every set, as an experiment file describes it.
//!
//! Scenario and duration may name parameters that vary, in braces: `beta={mean},0.5`. Such a parameter need not be
//! one of the recipe.

use crate::costs::Figure;
use crate::diagnose::problem;
use crate::measure::{MEASURES, Measure};
use serde::Deserialize;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use vestal_core::Duration;
use vestal_workload::diagnostic::did_you_mean;
use vestal_workload::quantity::parse_time;
use vestal_workload::{Diagnostics, Scenario, ScenarioSpec, Source};

/// A simulation of every set, checked as far as it can be without policies.
#[derive(Clone, Debug)]
pub struct SimulationSpec {
    /// Its name in results, without that of what is asked: `POLICY/SCENARIO`.
    pub(crate) label: String,
    /// What is measured, if anything is.
    pub(crate) measure: Option<&'static Measure>,
    pub(crate) policy: Spanned<String>,
    /// Options of the policy, and where they stand.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) options_span: Range<usize>,
    /// Parameters of the recipe with which the set is drawn that is simulated.
    pub(crate) changes: Vec<(String, String)>,
    /// Which figure of the costs of the experiment's file of overheads is taken, if they are, and where that is said.
    pub(crate) costs: Option<Spanned<Figure>>,
    /// For each point, or one for all of them.
    worlds: Vec<World>,
}

/// What jobs execute, and for how long.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) scenario: Scenario,
    pub(crate) duration: Duration,
}

/// A table of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSpec {
    what: Option<Spanned<String>>,
    policy: Spanned<String>,
    #[serde(default)]
    set: Vec<Spanned<String>>,
    #[serde(default)]
    draw: Vec<Spanned<String>>,
    scenario: Option<Spanned<String>>,
    costs: Option<Spanned<String>>,
    #[serde(rename = "for")]
    duration: Spanned<String>,
}

/// The parameters that vary, with the values of each point.
pub(crate) struct Varied<'a> {
    pub(crate) names: Vec<&'a str>,
    pub(crate) points: Vec<Vec<&'a str>>,
}

impl SimulationSpec {
    /// The world of a point.
    pub(crate) fn world(&self, point: usize) -> Option<&World> {
        self.worlds.get(point).or_else(|| self.worlds.first())
    }
}

impl RawSpec {
    /// Where it says that carrying the policy out costs something, if it does.
    pub(crate) fn costs(&self) -> Option<&Spanned<String>> {
        self.costs.as_ref()
    }

    /// The parameters that it names in braces.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let texts = self.scenario.iter().chain([&self.duration]);
        texts.flat_map(|text| pieces(text.as_ref()).filter_map(Piece::name))
    }

    /// What it means; `is_measure` if it stands under `[[measure]]`, which begins at `span`.
    ///
    /// # Errors
    /// `V0700` with the place of what is wrong.
    pub(crate) fn checked(
        self,
        source: &Arc<Source>,
        (is_measure, span): (bool, Range<usize>),
        varied: &Varied<'_>,
    ) -> Result<SimulationSpec, Diagnostics> {
        let measure = match (&self.what, is_measure) {
            (Some(what), true) => Some(measure(source, what)?),
            (None, false) => None,
            (None, true) => {
                let found = "nothing that is measured".to_owned();
                return Err(wrong(source, span, "what", found, measures()));
            }
            (Some(what), false) => {
                let found = format!("`{}`", what.as_ref());
                let expected = "no such key: a simulation is asked whether a deadline is missed";
                return Err(wrong(source, what.span(), "what", found, expected));
            }
        };
        let options = pairs(source, "set", &self.set)?;
        let changes = pairs(source, "draw", &self.draw)?;
        let costs = self.costs.as_ref().map(|costs| figure(source, costs));
        let costs = costs.transpose()?;
        let first = self.set.first().map_or(0..0, Spanned::span);
        let scenario = self.scenario.as_ref();
        let text = scenario.map_or("lo", |scenario| scenario.as_ref().as_str());
        let scenario_span = scenario.map_or(span, Spanned::span);
        let of_point = |values: &[&str]| {
            let resolved = |text: &str, span, field| {
                resolve(text, &varied.names, values)
                    .map_err(|name| unknown(source, span, field, (&name, &varied.names)))
            };
            Ok(World {
                scenario: named(
                    source,
                    scenario_span.clone(),
                    &resolved(text, scenario_span.clone(), "scenario")?,
                )?,
                duration: time(
                    source,
                    self.duration.span(),
                    &resolved(self.duration.as_ref(), self.duration.span(), "for")?,
                )?,
            })
        };
        let some = self.names().next().is_some();
        let points = varied.points.iter().take(if some { usize::MAX } else { 1 });
        let worlds = points
            .map(|values| of_point(values))
            .collect::<Result<_, _>>()?;
        Ok(SimulationSpec {
            label: label(self.policy.as_ref(), &options, text, costs.as_ref()),
            measure,
            costs,
            options,
            options_span: first,
            changes,
            worlds,
            policy: self.policy,
        })
    }
}

/// Which figure of each cost is taken.
fn figure(source: &Arc<Source>, name: &Spanned<String>) -> Result<Spanned<Figure>, Diagnostics> {
    let found = Figure::named(name.as_ref());
    let found = found.map(|figure| Spanned::new(name.span(), figure));
    found.ok_or_else(|| {
        let found = format!("`{}`", name.as_ref());
        wrong(
            source,
            name.span(),
            "costs",
            found,
            "mean, p99, max or drawn",
        )
    })
}

fn label(
    policy: &str,
    options: &[(String, String)],
    scenario: &str,
    costs: Option<&Spanned<Figure>>,
) -> String {
    let costs = costs.map_or_else(String::new, |costs| format!("@{}", costs.as_ref().name()));
    let options = options.iter().map(|(key, value)| format!("{key}={value}"));
    let options: Vec<String> = options.collect();
    match options.is_empty() {
        true => format!("{policy}/{scenario}{costs}"),
        false => format!("{policy}[{}]/{scenario}{costs}", options.join(",")),
    }
}

fn wrong(
    source: &Arc<Source>,
    span: Range<usize>,
    field: &str,
    found: String,
    expected: impl Into<String>,
) -> Diagnostics {
    let help = "docs/experiments.md describes every key";
    problem(source, Some(span), field, found, expected, help)
}

fn measures() -> String {
    let names: Vec<&str> = MEASURES.iter().map(|measure| measure.name).collect();
    format!("one of {}", names.join(", "))
}

fn measure(source: &Arc<Source>, what: &Spanned<String>) -> Result<&'static Measure, Diagnostics> {
    let name = what.as_ref();
    Measure::named(name).ok_or_else(|| {
        let known = MEASURES.iter().map(|measure| measure.name);
        let help = did_you_mean(name, known, "docs/experiments.md describes every measure");
        let found = format!("`{name}`, which is no measure");
        problem(source, Some(what.span()), "what", found, measures(), help)
    })
}

/// `KEY=VALUE` each; whether the policy or the recipe has them is seen later.
fn pairs(
    source: &Arc<Source>,
    field: &str,
    given: &[Spanned<String>],
) -> Result<Vec<(String, String)>, Diagnostics> {
    let option = |text: &Spanned<String>| {
        let (key, value) = text.as_ref().split_once('=').ok_or_else(|| {
            let found = format!("`{}`", text.as_ref());
            let expected = "KEY=VALUE, as after --set";
            wrong(source, text.span(), field, found, expected)
        })?;
        Ok((key.to_owned(), value.to_owned()))
    };
    given.iter().map(option).collect()
}

fn named(source: &Arc<Source>, span: Range<usize>, text: &str) -> Result<Scenario, Diagnostics> {
    match Scenario::parse(text) {
        Ok(ScenarioSpec::Named(scenario)) => Ok(scenario),
        Ok(ScenarioSpec::File(_) | ScenarioSpec::Level(_)) | Err(_) => {
            let found = format!("`{text}`, which is no scenario for random sets");
            let expected = "lo, hi, overrun=P or beta=MEAN,P";
            Err(wrong(source, span, "scenario", found, expected))
        }
    }
}

fn time(source: &Arc<Source>, span: Range<usize>, text: &str) -> Result<Duration, Diagnostics> {
    let nanos = parse_time(text).filter(|&nanos| nanos > 0);
    nanos.map(Duration::from_nanos).ok_or_else(|| {
        let expected = "a time above 0, such as 10s";
        wrong(source, span, "for", format!("`{text}`"), expected)
    })
}

fn unknown(
    source: &Arc<Source>,
    span: Range<usize>,
    field: &str,
    (name, known): (&str, &[&str]),
) -> Diagnostics {
    let found = format!("`{{{name}}}`, which does not vary");
    let expected = match known.is_empty() {
        true => "a parameter under [vary], of which there is none".to_owned(),
        false => format!("a parameter that varies: {}", known.join(", ")),
    };
    let help = did_you_mean(
        name,
        known.iter().copied(),
        "give it values under [vary]; docs/experiments.md describes every key",
    );
    problem(source, Some(span), field, found, expected, help)
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Plain(&'a str),
    /// In braces.
    Name(&'a str),
}

impl<'a> Piece<'a> {
    const fn name(self) -> Option<&'a str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Plain(_) => None,
        }
    }
}

/// A brace that is not closed is text like any other.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, after)) = rest.strip_prefix('{').and_then(|text| text.split_once('}')) {
            rest = after;
            return Some(Piece::Name(name));
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find('{').map_or(rest.len(), |at| first + at);
        let (plain, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Plain(plain))
    })
}

/// The text with values for names.
///
/// # Errors
/// A name that is none.
fn resolve(text: &str, names: &[&str], values: &[&str]) -> Result<String, String> {
    let part = |piece: Piece<'_>| match piece {
        Piece::Plain(text) => Ok(text.to_owned()),
        Piece::Name(name) => {
            let at = names.iter().position(|known| *known == name);
            let value = at.and_then(|at| values.get(at));
            value
                .map(|value| (*value).to_owned())
                .ok_or_else(|| name.to_owned())
        }
    };
    pieces(text).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_get_their_values() {
        let resolve = |text: &str| resolve(text, &["mean", "p"], &["0.25", "0.5"]);
        assert_eq!(resolve("beta={mean},{p}").unwrap(), "beta=0.25,0.5");
        assert_eq!(resolve("{p}").unwrap(), "0.5");
        assert_eq!(resolve("hi").unwrap(), "hi");
        assert_eq!(resolve("").unwrap(), "");
        assert_eq!(resolve("a{b").unwrap(), "a{b");
        assert_eq!(resolve("{").unwrap(), "{");
        assert_eq!(resolve("{{p}").unwrap_err(), "{p");
        assert_eq!(resolve("beta={men},1").unwrap_err(), "men");
    }
}
