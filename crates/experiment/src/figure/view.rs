//! A summary under one reading of the paper, as claims look at it.

use super::{Figure, READING};
use crate::summary::{Share, Summary};

/// The part of a summary that belongs to one reading.
#[derive(Debug)]
pub struct View<'a> {
    summary: &'a Summary,
    /// The reading: the value of [`READING`].
    reading: String,
    /// The axis of the chart.
    x: &'static str,
    points: Vec<usize>,
}

impl<'a> View<'a> {
    /// One view for each reading, in the order of the points.
    #[must_use]
    pub fn all(figure: &Figure, summary: &'a Summary) -> Vec<Self> {
        let Some(axis) = summary.axis(READING) else {
            return Vec::new();
        };
        let mut views: Vec<Self> = Vec::new();
        for (point, values) in summary.points.iter().enumerate() {
            match views.iter_mut().find(|view| view.reading == values[axis]) {
                Some(view) => view.points.push(point),
                None => views.push(Self {
                    summary,
                    reading: values[axis].clone(),
                    x: figure.x.0,
                    points: vec![point],
                }),
            }
        }
        views
    }

    /// The reading for a title.
    #[must_use]
    pub fn reading_text(&self) -> &'static str {
        match self.reading.as_str() {
            "true" => "CF applies to level 0 too",
            _ => "CF applies above level 0",
        }
    }

    /// The reading for a file name.
    #[must_use]
    pub fn reading_slug(&self) -> &'static str {
        match self.reading.as_str() {
            "true" => "literal",
            _ => "level0-plain",
        }
    }

    /// Whether curves show weighted shares.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        !self.summary.weighted().is_empty()
    }

    fn place(&self, test: &str) -> Option<usize> {
        self.summary.column(test)
    }

    /// The curve of a test: the value of the axis, and the share or weighted share there.
    #[must_use]
    pub fn curve(&self, test: &str) -> Vec<(f64, Share)> {
        let Some(question) = self.place(test) else {
            return Vec::new();
        };
        let number = |text: &str| text.parse().unwrap_or(0.0);
        if !self.is_weighted() {
            let x = self.summary.axis(self.x).unwrap_or(0);
            let points = self.points.iter();
            return points
                .map(|&point| {
                    let share = self.summary.counts[point][question].share();
                    (number(&self.summary.points[point][x]), share)
                })
                .collect();
        }
        // Groups have the values of all axes but the weight's; both of ours are among them.
        let groups = self.summary.weighted();
        let others = self.summary.weighted_axes();
        let at = |name: &str| others.iter().position(|axis| axis == name).unwrap_or(0);
        let (reading, x) = (at(READING), at(self.x));
        groups
            .iter()
            .filter(|group| group.values[reading] == self.reading)
            .map(|group| (number(&group.values[x]), group.shares[question]))
            .collect()
    }

    /// How many sets a test accepted, of how many.
    #[must_use]
    pub fn accepted(&self, test: &str) -> (u64, u64) {
        let Some(question) = self.place(test) else {
            return (0, 0);
        };
        let counts = self
            .points
            .iter()
            .map(|&point| self.summary.counts[point][question]);
        counts.fold((0, 0), |(yes, sets), count| {
            (yes + count.yes, sets + count.sets)
        })
    }

    /// Sets that `first` accepts and `second` does not: how many, and some as point and index.
    #[must_use]
    pub fn only(&self, first: &str, second: &str) -> (u64, Vec<(usize, u32)>) {
        let (Some(first), Some(second)) = (self.place(first), self.place(second)) else {
            return (0, Vec::new());
        };
        let (mut count, mut examples) = (0, Vec::new());
        for &point in &self.points {
            if let Some(pair) = self.summary.pair(point, first, second) {
                count += pair.only_first;
                let found = pair.examples.iter().map(|(index, _)| (point, *index));
                examples.extend(found.take(3usize.saturating_sub(examples.len())));
            }
        }
        (count, examples)
    }

    /// Every test of the result.
    #[must_use]
    pub fn tests(&self) -> Vec<&str> {
        self.summary.columns.iter().map(String::as_str).collect()
    }
}
