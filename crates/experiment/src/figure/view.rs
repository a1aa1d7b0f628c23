//! A summary under one reading of the paper, as claims look at it.

use super::compare::{Interval, Level, Pairing, Stratum};
use super::{Figure, READING};
use crate::evaluate::is_check;
use crate::summary::{Count, Pair, Share, Summary, grouped};

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
        let points = summary.points.iter().enumerate();
        let views = grouped(points.map(|(point, values)| (values[axis].clone(), point)));
        let view = |(reading, points)| Self {
            summary,
            reading,
            x: figure.x.0,
            points,
        };
        views.into_iter().map(view).collect()
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

    fn position(&self, test: &str) -> Option<usize> {
        self.summary.column(test)
    }

    /// The curve of a test: the value of the axis, and the share or weighted share there.
    #[must_use]
    pub fn curve(&self, test: &str) -> Vec<(f64, Share)> {
        let Some(question) = self.position(test) else {
            return Vec::new();
        };
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
        // Groups have the values of all axes but the weight's; both that are asked for are among them.
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
        let yes = self.total(test, |count| count.yes);
        (yes, self.total(test, |count| count.sets))
    }

    /// The pairs of two tests at these points, each with its point; none if there is no such test.
    fn pairs_at(
        &self,
        points: &[usize],
        first: &str,
        second: &str,
    ) -> impl Iterator<Item = (usize, &'a Pair)> {
        let both = self.position(first).zip(self.position(second));
        points.iter().filter_map(move |&point| {
            let (first, second) = both?;
            Some((point, self.summary.pair(point, first, second)?))
        })
    }

    /// Sets that `first` accepts and `second` does not: how many, and some as point and index.
    #[must_use]
    pub fn only(&self, first: &str, second: &str) -> (u64, Vec<(usize, u32)>) {
        let (mut count, mut examples) = (0, Vec::new());
        for (point, pair) in self.pairs_at(&self.points, first, second) {
            count += pair.only_first;
            let found = pair.examples.iter().map(|(index, _)| (point, *index));
            examples.extend(found.take(3usize.saturating_sub(examples.len())));
        }
        (count, examples)
    }

    /// Every test of the result; checks of tests are none.
    #[must_use]
    pub fn tests(&self) -> Vec<&'a str> {
        let names = self.summary.columns.iter().map(String::as_str);
        names.filter(|name| !is_check(name)).collect()
    }

    /// The points with the same value of the axis, with that value, in the order of the axis.
    fn positions(&self) -> Vec<(f64, Vec<usize>)> {
        let x = self.summary.axis(self.x).unwrap_or(0);
        let points = self.points.iter();
        grouped(points.map(|&point| (number(&self.summary.points[point][x]), point)))
    }

    fn paired(&self, first: &str, second: &str, points: &[usize]) -> Pairing {
        let strata = self.pairs_at(points, first, second).map(|(point, pair)| {
            let counts = self
                .position(first)
                .map(|at| self.summary.counts[point][at]);
            let count = counts.unwrap_or_default();
            Stratum {
                weight: self.summary.weight(point),
                sets: count.sets,
                both: count.yes.saturating_sub(pair.only_first),
                first: pair.only_first,
                second: pair.only_second,
            }
        });
        Pairing {
            strata: strata.collect(),
        }
    }

    /// How two tests differ on the same sets.
    pub(super) fn pairing(&self, first: &str, second: &str) -> Pairing {
        self.paired(first, second, &self.points)
    }

    /// The same at each value of the axis.
    pub(super) fn pairings(&self, first: &str, second: &str) -> Vec<(f64, Pairing)> {
        let positions = self.positions().into_iter();
        positions
            .map(|(x, points)| (x, self.paired(first, second, &points)))
            .collect()
    }

    /// The curve of a test as levels, which rest on different sets at each value of the axis.
    pub(super) fn levels(&self, test: &str) -> Vec<(f64, Level)> {
        let Some(question) = self.position(test) else {
            return Vec::new();
        };
        let of = |point: usize| {
            let count = self.summary.counts[point][question];
            (self.summary.weight(point), count.sets, count.yes)
        };
        let positions = self.positions().into_iter();
        positions
            .map(|(x, points)| (x, Level::of(points.into_iter().map(of))))
            .collect()
    }

    /// The share of sets that a test accepts, with its interval, at each value of the axis. Points of
    /// different weights are not told apart.
    pub(super) fn shares(&self, test: &str) -> Vec<(f64, Interval)> {
        let Some(question) = self.position(test) else {
            return Vec::new();
        };
        let of = |points: Vec<usize>| {
            let counts = || points.iter().map(|&p| self.summary.counts[p][question]);
            let (yes, sets) = (counts().map(|c| c.yes), counts().map(|c| c.sets));
            Interval::of_share(yes.sum(), sets.sum())
        };
        let positions = self.positions().into_iter();
        positions.map(|(x, points)| (x, of(points))).collect()
    }

    fn total(&self, test: &str, of: impl Fn(Count) -> u64) -> u64 {
        let Some(question) = self.position(test) else {
            return 0;
        };
        let counts = self.points.iter();
        counts
            .map(|&point| of(self.summary.counts[point][question]))
            .sum()
    }

    /// How many sets a test left undecided.
    pub(super) fn undecided(&self, test: &str) -> u64 {
        self.total(test, |count| count.undecided)
    }

    /// To how many sets the answer was no; of a check, those that were shown to miss.
    pub(super) fn refused(&self, question: &str) -> u64 {
        self.total(question, |count| {
            count.sets.saturating_sub(count.yes + count.undecided)
        })
    }

    /// How many sets `first` accepts and `second` rejects: one whose search reached its limit is neither.
    pub(super) fn rejected(&self, first: &str, second: &str) -> u64 {
        let pairs = self.pairs_at(&self.points, first, second);
        pairs
            .map(|(_, pair)| pair.only_first.saturating_sub(pair.left_open))
            .sum()
    }
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(0.0)
}
