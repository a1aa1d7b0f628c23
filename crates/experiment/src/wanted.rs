//! A chart of a result as somebody wants it: over which parameter, of what, and what the other parameters are.

use crate::charts::{Selection, without};
use crate::evaluate::is_check;
use crate::measure::Values;
use crate::plot::{Chart, Curve, Point, YAxis};
use crate::summary::{Share, Summary, grouped};
use vestal_statistics::Confidence;
use vestal_workload::diagnostic::did_you_mean;

/// More curves than this have no colours of their own.
pub const CURVES_MAX: usize = 8;

/// What is on the vertical axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vertical {
    /// What there is in the result: the share of accepted sets, weighted where it has weights that are on no axis, or else the
    /// first measure.
    Usual,
    /// The share of accepted sets.
    Fraction,
    /// The weighted share.
    Weighted,
    /// The mean of the measure of this name.
    Measure(String),
}

/// What a chart is to show.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The parameter on the horizontal axis.
    pub x: String,
    /// What is on the vertical one.
    pub y: Vertical,
    /// The questions that have a curve, or several in a text with commas between them; all but checks of tests if there are none.
    pub questions: Vec<String>,
    /// Of measures: the jobs of this level, or `all`; without it each has its curve.
    pub level: Option<String>,
    /// Parameters with their values.
    pub fixed: Vec<(String, String)>,
}

/// Why there is no such chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong.
    pub why: String,
    /// What mends it.
    pub help: String,
}

fn refused(why: String, help: impl Into<String>) -> Refused {
    let help = help.into();
    Refused { why, help }
}

/// A list of names in words.
fn listed(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let names = names.into_iter().map(|name| name.as_ref().to_owned());
    names.collect::<Vec<_>>().join(", ")
}

/// Something that has curves.
struct Named {
    /// The question that it answers.
    question: String,
    /// The name of that in results.
    label: String,
    /// What its curve is called.
    name: String,
    subject: Subject,
}

/// Something that has a curve for each combination of parameters.
#[derive(Clone, Copy)]
enum Subject {
    /// A question, by its place.
    Question(usize),
    /// A part of a measure, by its place.
    Part(usize),
}

impl Wanted {
    /// The chart, without a title. O(points x curves).
    ///
    /// # Errors
    /// [`Refused`] if there is no such parameter, value, question or measure, or if there were too many curves.
    pub fn chart(&self, summary: &Summary) -> Result<Chart, Refused> {
        let x = self.axis(summary, &self.x)?;
        if let Some(value) = texts(summary, x).find(|text| finite(text).is_none()) {
            let why = format!("`{}` has the value `{value}`, which is no number", self.x);
            return Err(refused(why, "choose a parameter whose values are numbers"));
        }
        let y = self.vertical(summary, x)?;
        let points = self.points(summary, x)?;
        // The weight has no curves: its values are added up.
        let weight = summary.weight_axis().filter(|_| y == Vertical::Weighted);
        let is_free = |axis: &usize| {
            let pinned = self
                .fixed
                .iter()
                .any(|(name, _)| *name == summary.axes[*axis]);
            *axis != x && Some(*axis) != weight && !pinned
        };
        let free: Vec<usize> = (0..summary.axes.len()).filter(is_free).collect();
        let groups = grouped(points.into_iter().map(|point| {
            let values = free
                .iter()
                .map(|axis| format!("{} = {}", summary.axes[*axis], summary.points[point][*axis]));
            (values.collect::<Vec<_>>().join(", "), point)
        }));
        let subjects = self.subjects(summary, &y)?;
        let many = groups.len() * subjects.len();
        if many > CURVES_MAX {
            let free: Vec<&str> = free
                .iter()
                .map(|axis| summary.axes[*axis].as_str())
                .collect();
            let why =
                format!("there were {many} curves, and at most {CURVES_MAX} can be told apart");
            let help = match free.is_empty() {
                true => "choose some with --tests, or with --level".to_owned(),
                false => format!(
                    "give each of {} a value with --where, or choose some curves with --tests",
                    listed(free)
                ),
            };
            return Err(refused(why, help));
        }
        let mut curves = Vec::with_capacity(many);
        for (values, points) in groups {
            let selection = Selection {
                summary,
                x: &self.x,
                points,
            };
            for (name, subject) in &subjects {
                let name = match (values.is_empty(), subjects.len()) {
                    (true, _) => name.clone(),
                    (false, 1) => values.clone(),
                    (false, _) => format!("{name}, {values}"),
                };
                curves.push(Curve {
                    name,
                    points: of(&selection, *subject, &y),
                });
            }
        }
        let (label, y_axis) = labels(summary, &y);
        let labels = (self.x.as_str(), label.as_str());
        let chart = Chart::new("", labels, y_axis, curves).whole();
        Ok(Chart {
            title: None,
            ..chart
        })
    }

    fn axis(&self, summary: &Summary, name: &str) -> Result<usize, Refused> {
        summary.axis(name).ok_or_else(|| {
            let usual = match summary.axes.is_empty() {
                true => "nothing varies in this result".to_owned(),
                false => format!("these vary: {}", listed(&summary.axes)),
            };
            let known = summary.axes.iter().map(String::as_str);
            let why = format!("`{name}` is no parameter that varies");
            refused(why, did_you_mean(name, known, &usual))
        })
    }

    /// What is on the vertical axis, and is there.
    fn vertical(&self, summary: &Summary, x: usize) -> Result<Vertical, Refused> {
        let measures = once(summary.measures.iter().map(|part| part.measure.name));
        let is_pinned = |axis: usize| {
            self.fixed
                .iter()
                .any(|(name, _)| *name == summary.axes[axis])
        };
        let weight = summary.weight_axis();
        let has_weights = weight.is_some_and(|axis| axis != x && !is_pinned(axis));
        let nothing = || {
            let why = "no question of this result is answered with yes or no".to_owned();
            refused(why, format!("it has the measures {}", listed(&measures)))
        };
        match &self.y {
            Vertical::Usual => match (summary.columns.is_empty(), measures.first()) {
                (true, Some(first)) => Ok(Vertical::Measure((*first).to_owned())),
                _ if has_weights => Ok(Vertical::Weighted),
                _ => Ok(Vertical::Fraction),
            },
            Vertical::Fraction | Vertical::Weighted if summary.columns.is_empty() => Err(nothing()),
            Vertical::Fraction => Ok(Vertical::Fraction),
            Vertical::Weighted if has_weights => Ok(Vertical::Weighted),
            Vertical::Weighted => {
                let why = "this result has no weights that are added up".to_owned();
                Err(refused(
                    why,
                    "`weight_by` of an experiment names a parameter, which is neither on the axis nor given by --where",
                ))
            }
            Vertical::Measure(name) if measures.contains(&name.as_str()) => Ok(self.y.clone()),
            Vertical::Measure(name) => {
                let usual = match measures.is_empty() {
                    true => "it has no measures: --y is fraction or weighted".to_owned(),
                    false => format!("--y is fraction, weighted, or one of {}", listed(&measures)),
                };
                let known = measures.iter().copied().chain(["fraction", "weighted"]);
                let why = format!("`{name}` was not measured");
                Err(refused(why, did_you_mean(name, known, &usual)))
            }
        }
    }

    /// The points at which the fixed parameters have their values.
    fn points(&self, summary: &Summary, x: usize) -> Result<Vec<usize>, Refused> {
        let mut points: Vec<usize> = (0..summary.points.len()).collect();
        for (name, value) in &self.fixed {
            let axis = self.axis(summary, name)?;
            if axis == x {
                let why = format!("`{name}` is on the horizontal axis");
                return Err(refused(why, "--range gives the ends of that axis"));
            }
            if !texts(summary, axis).any(|text| same(text, value)) {
                let known = listed(once(texts(summary, axis)));
                let why = format!("`{name}` is never `{value}`");
                return Err(refused(why, format!("its values are {known}")));
            }
            points.retain(|point| same(&summary.points[*point][axis], value));
        }
        Ok(points)
    }

    /// What has curves, with its name.
    fn subjects(&self, summary: &Summary, y: &Vertical) -> Result<Vec<(String, Subject)>, Refused> {
        let all = match y {
            Vertical::Usual | Vertical::Fraction | Vertical::Weighted if self.level.is_some() => {
                let why = "sets are accepted as a whole, and not by level".to_owned();
                return Err(refused(why, "choose a measure with --y"));
            }
            Vertical::Usual | Vertical::Fraction | Vertical::Weighted => Self::answered(summary),
            Vertical::Measure(measure) => self.measured(summary, measure),
        };
        if all.is_empty() {
            let level = self.level.as_deref().unwrap_or_default();
            let levels = summary.measures.iter();
            let levels = once(levels.filter_map(|part| part.level.as_deref()));
            let why = format!("nothing was measured of level `{level}`");
            return Err(refused(
                why,
                format!("there are all and {}", listed(levels)),
            ));
        }
        let questions = once(all.iter().map(|named| named.question.as_str()));
        // Results have the whole name.
        let labels = all.iter().map(|named| named.label.as_str());
        let known = once(questions.iter().copied().chain(labels));
        let wanted = self.named(&known);
        if let Some(name) = wanted.iter().find(|name| !known.contains(name)) {
            let usual = format!("these were asked: {}", listed(&questions));
            let why = format!("`{name}` was not asked");
            return Err(refused(why, did_you_mean(name, known, &usual)));
        }
        let is_wanted = |named: &Named| match wanted.is_empty() {
            true => !is_check(&named.question),
            false => [&named.question, &named.label]
                .iter()
                .any(|name| wanted.contains(&name.as_str())),
        };
        let all = all.iter().filter(|named| is_wanted(named));
        let all = all.map(|named| (named.name.clone(), named.subject));
        Ok(all.collect())
    }

    /// The questions that were named: with commas between them, unless one has commas itself.
    fn named<'a>(&'a self, known: &[&str]) -> Vec<&'a str> {
        let texts = self.questions.iter().map(String::as_str);
        let names = texts.flat_map(|text| match known.contains(&text) {
            true => vec![text],
            false => text.split(',').map(str::trim).collect(),
        });
        names.collect()
    }

    /// Every question that is answered with yes or no.
    fn answered(summary: &Summary) -> Vec<Named> {
        let columns = summary.columns.iter().enumerate();
        let named = columns.map(|(place, name)| Named {
            question: name.clone(),
            label: name.clone(),
            name: name.clone(),
            subject: Subject::Question(place),
        });
        named.collect()
    }

    /// Every part of a measure that is of the level.
    fn measured(&self, summary: &Summary, measure: &str) -> Vec<Named> {
        let parts = summary.measures.iter().enumerate();
        let parts = parts.filter(|(_, part)| part.measure.name == measure);
        let parts = parts.filter(|(_, part)| match self.level.as_deref() {
            None => true,
            Some("all") => part.level.is_none(),
            Some(level) => part.level.as_deref() == Some(level),
        });
        let named = parts.map(|(place, part)| {
            let question = without(&part.question, measure);
            Named {
                name: match &self.level {
                    None => without(&part.name(), measure),
                    Some(_) => question.clone(),
                },
                question,
                label: part.question.clone(),
                subject: Subject::Part(place),
            }
        });
        named.collect()
    }
}

/// Each of these once, in the order in which they come first.
fn once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let groups = grouped(all.map(|one| (one, ())));
    groups.into_iter().map(|(one, _)| one).collect()
}

/// The curve of a subject over the points of a selection.
fn of(selection: &Selection<'_>, subject: Subject, y: &Vertical) -> Vec<Point> {
    let summary = selection.summary;
    let positions = selection.positions().into_iter();
    let share = |points: &[usize]| -> Option<Share> {
        match subject {
            Subject::Part(place) => {
                let part = summary.measures.get(place)?;
                // Where no set has a value there is no point.
                let is_known = !part.rounds(points).is_empty();
                is_known.then(|| part.mean(points, Confidence::USUAL).into())
            }
            Subject::Question(place) if *y == Vertical::Weighted => {
                summary.weighted_share(points, place)
            }
            Subject::Question(place) => summary.counts[*points.first()?][place].share(),
        }
    };
    let points = positions.filter_map(|(x, points)| Some(share(&points)?.at(x)));
    let mut points: Vec<Point> = points.collect();
    // A file may have its values in any order.
    points.sort_by(|first, second| first.x.total_cmp(&second.x));
    points
}

/// What the vertical axis is called, and what it can show.
fn labels(summary: &Summary, y: &Vertical) -> (String, YAxis) {
    let measure = |name: &String| {
        let mut parts = summary.measures.iter();
        parts
            .find(|part| part.measure.name == name)
            .map(|part| part.measure)
    };
    match y {
        Vertical::Usual | Vertical::Fraction => {
            ("fraction of sets accepted".to_owned(), YAxis::Shares)
        }
        Vertical::Weighted => ("weighted schedulability".to_owned(), YAxis::Shares),
        Vertical::Measure(name) => match measure(name) {
            Some(measure) => {
                let axis = match measure.values {
                    Values::Shares => YAxis::Shares,
                    Values::Numbers { .. } => YAxis::Numbers,
                };
                (measure.label.to_owned(), axis)
            }
            None => (name.clone(), YAxis::Numbers),
        },
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The values of an axis, at each point.
fn texts(summary: &Summary, axis: usize) -> impl Iterator<Item = &String> {
    summary
        .points
        .iter()
        .filter_map(move |point| point.get(axis))
}

/// Whether two values are the same: as numbers, where both are.
fn same(first: &str, second: &str) -> bool {
    match (finite(first), finite(second)) {
        (Some(first), Some(second)) => first.total_cmp(&second).is_eq(),
        _ => first == second,
    }
}

/// The parameter over which a result is shown where nobody says: that of `plot`, else the first whose values are at least two numbers.
#[must_use]
pub fn usual_x(plot: Option<&str>, summary: &Summary) -> Option<String> {
    let has_numbers = |axis: &usize| {
        let values = once(texts(summary, *axis));
        values.len() > 1 && values.iter().all(|text| finite(text).is_some())
    };
    let first = || (0..summary.axes.len()).find(has_numbers);
    let named = plot.map(str::to_owned);
    named.or_else(|| first().map(|axis| summary.axes[axis].clone()))
}

#[cfg(test)]
#[path = "wanted_tests.rs"]
mod tests;
