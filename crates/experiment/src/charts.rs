//! Curves over an axis of an experiment: of what is accepted, and of what is measured.

use crate::evaluate::is_check;
use crate::measure::Values;
use crate::measured::Part;
use crate::plot::{Chart, Curve, Point, YAxis};
use crate::summary::{Share, Summary, grouped};
use vestal_statistics::{Confidence, Mean};

/// Points of a summary, looked at along an axis.
#[derive(Clone, Debug)]
pub struct Selection<'a> {
    /// What was found.
    pub(crate) summary: &'a Summary,
    /// The parameter on the axis.
    pub(crate) x: &'a str,
    /// The numbers of the points.
    pub(crate) points: Vec<usize>,
}

/// What a chart shows, for the name of its file: nothing of what is accepted, else the measure.
pub(crate) type Shown = Option<&'static str>;

impl<'a> Selection<'a> {
    /// Whether curves of what is accepted show weighted shares.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.summary
            .weight_axis()
            .is_some_and(|axis| self.summary.axis(self.x) != Some(axis))
    }

    /// The points with the same value of the axis, with that value, in the order of the axis.
    pub(crate) fn positions(&self) -> Vec<(f64, Vec<usize>)> {
        let points = self.points.iter();
        grouped(points.map(|&point| (self.value(point), point)))
    }

    fn value(&self, point: usize) -> f64 {
        let axis = self.summary.axis(self.x).unwrap_or(0);
        number(&self.summary.points[point][axis])
    }

    /// The curve of a test: the value of the axis, and the share or weighted share there, wherever it was asked.
    #[must_use]
    pub fn curve(&self, test: &str) -> Vec<(f64, Share)> {
        let Some(question) = self.summary.column(test) else {
            return Vec::new();
        };
        if self.is_weighted() {
            let positions = self.positions().into_iter();
            return positions
                .filter_map(|(x, points)| {
                    Some((x, self.summary.weighted_share(&points, question)?))
                })
                .collect();
        }
        let points = self.points.iter();
        points
            .filter_map(|&point| {
                let share = self.summary.counts[point][question].share()?;
                Some((self.value(point), share))
            })
            .collect()
    }

    /// The curve of what was measured: the value of the axis, and the mean there.
    #[must_use]
    pub fn measured(&self, part: &Part) -> Vec<(f64, Share)> {
        let positions = self.positions().into_iter();
        let found = positions.map(|(x, points)| (x, part.mean(&points, Confidence::USUAL)));
        found.map(|(x, mean)| (x, Share::from(mean))).collect()
    }

    /// The same as points, but for values of the axis at which no set has a value.
    pub(crate) fn known(&self, part: &Part) -> Vec<Point> {
        let positions = self.positions().into_iter();
        let known = positions.filter(|(_, points)| !part.rounds(points).is_empty());
        let found = known.map(|(x, points)| (x, part.mean(&points, Confidence::USUAL)));
        found.map(|(x, mean)| Share::from(mean).at(x)).collect()
    }

    /// Every test of the result; checks of tests are none.
    #[must_use]
    pub fn tests(&self) -> Vec<&'a str> {
        let names = self.summary.columns.iter().map(String::as_str);
        names.filter(|name| !is_check(name)).collect()
    }

    /// One chart of what is accepted, if anything is asked, and one for each kind of measure.
    #[must_use]
    pub(crate) fn charts(&self, title: &str, x_label: &str) -> Vec<(Shown, Chart)> {
        let mut charts = Vec::new();
        let mut chart = |shown: Shown, y_label: &str, y_axis, curves| {
            let chart = Chart::new(title, (x_label, y_label), y_axis, curves);
            charts.push((shown, chart));
        };
        let tests = self.tests();
        // Without measures there is a chart, whatever it shows.
        if !tests.is_empty() || self.summary.measures.is_empty() {
            let curves = tests.into_iter().map(|name| Curve {
                name: name.to_owned(),
                points: points(self.curve(name)),
            });
            let y_label = match self.is_weighted() {
                true => "weighted schedulability",
                false => "fraction of sets accepted",
            };
            chart(None, y_label, YAxis::Shares, curves.collect());
        }
        let measures = self.summary.measures.iter();
        for (name, parts) in grouped(measures.map(|part| (part.measure.name, part))) {
            let measure = parts[0].measure;
            let curves = parts.into_iter().map(|part| Curve {
                name: without(&part.name(), name),
                points: self.known(part),
            });
            let y_axis = match measure.values {
                Values::Shares => YAxis::Shares,
                Values::Numbers { .. } => YAxis::Numbers,
            };
            chart(Some(name), measure.label, y_axis, curves.collect());
        }
        charts
    }
}

fn points(shares: Vec<(f64, Share)>) -> Vec<Point> {
    shares.into_iter().map(|(x, share)| share.at(x)).collect()
}

/// The name of a part without that of its measure, which the axis has.
pub(crate) fn without(name: &str, measure: &str) -> String {
    let rest = name.strip_prefix(measure);
    let rest = rest.and_then(|rest| rest.strip_prefix(':'));
    rest.unwrap_or(name).to_owned()
}

/// The name of a chart's file; `which` tells charts of the same kind apart.
pub(crate) fn file_name(which: &str, shown: Shown) -> String {
    let parts = [Some(which).filter(|which| !which.is_empty()), shown];
    let parts = parts.into_iter().flatten();
    let name: String = parts.map(|part| format!("-{part}")).collect();
    format!("plot{name}.svg")
}

/// The charts of a sweep over the parameter `x`, with the names of their files: of each kind one for each combination
/// of the other parameters, apart from the weight's.
#[must_use]
pub fn of_sweep(experiment: &str, x: &str, summary: &Summary) -> Vec<(String, Chart)> {
    let is_other = |axis: usize| summary.axes[axis] != x && summary.weight_axis() != Some(axis);
    let others: Vec<usize> = (0..summary.axes.len())
        .filter(|axis| is_other(*axis))
        .collect();
    let of = |values: &[String]| -> Vec<String> {
        let others = others.iter();
        let text = |axis: &usize| format!("{} = {}", summary.axes[*axis], values[*axis]);
        others.map(text).collect()
    };
    let points = summary.points.iter().enumerate();
    let groups = grouped(points.map(|(point, values)| (of(values), point)));
    let many = groups.len() > 1;
    let mut charts = Vec::new();
    for (number, (values, points)) in (1..).zip(groups) {
        let selection = Selection { summary, x, points };
        let title = match values.is_empty() {
            true => experiment.to_owned(),
            false => format!("{experiment}: {}", values.join(", ")),
        };
        let which = if many {
            format!("{number}")
        } else {
            String::new()
        };
        for (shown, chart) in selection.charts(&title, x) {
            charts.push((file_name(&which, shown), chart.whole()));
        }
    }
    charts
}

impl From<Mean> for Share {
    fn from(Mean { value, low, high }: Mean) -> Self {
        Self { value, low, high }
    }
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(0.0)
}
