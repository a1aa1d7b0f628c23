//! A summary under one reading of the paper, as claims look at it.

use super::compare::{Interval, Level, Pairing, Stratum};
use super::{Figure, Reading};
use crate::charts::Selection;
use crate::summary::{Count, Pair, Summary};

/// The part of a summary that belongs to one reading.
#[derive(Debug)]
pub struct View<'a> {
    selection: Selection<'a>,
    reading: Option<&'static Reading>,
}

impl<'a> View<'a> {
    /// One view for each reading that was looked at, in their order; one of all points without readings.
    #[must_use]
    pub fn all(figure: &Figure, summary: &'a Summary) -> Vec<Self> {
        let of = |reading, points| Self {
            selection: Selection {
                summary,
                x: figure.x.parameter,
                points,
            },
            reading,
        };
        let all = 0..summary.points.len();
        let Some(readings) = figure.readings else {
            return vec![of(None, all.collect())];
        };
        let Some(axis) = summary.axis(readings.parameter) else {
            return Vec::new();
        };
        let views = readings.each.iter().map(|reading| {
            let belongs = |point: &usize| summary.points[*point][axis] == reading.value;
            of(Some(reading), all.clone().filter(belongs).collect())
        });
        let is_there = |view: &Self| !view.selection.points.is_empty();
        views.filter(is_there).collect()
    }

    /// How the paper is read, if there are several ways.
    pub(super) const fn reading(&self) -> Option<&'static Reading> {
        self.reading
    }

    /// The points.
    #[must_use]
    pub const fn selection(&self) -> &Selection<'a> {
        &self.selection
    }

    const fn summary(&self) -> &'a Summary {
        self.selection.summary
    }

    fn position(&self, test: &str) -> Option<usize> {
        self.summary().column(test)
    }

    /// How many sets a test accepted, of how many.
    #[must_use]
    pub fn accepted(&self, test: &str) -> (u64, u64) {
        let yes = self.total(test, |count| count.yes);
        (yes, self.total(test, Count::asked))
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
            Some((point, self.summary().pair(point, first, second)?))
        })
    }

    /// Sets that `first` accepts and `second` does not: how many, and some as point and index.
    #[must_use]
    pub fn only(&self, first: &str, second: &str) -> (u64, Vec<(usize, u32)>) {
        let (mut count, mut examples) = (0, Vec::new());
        for (point, pair) in self.pairs_at(&self.selection.points, first, second) {
            count += pair.only_first;
            let found = pair.examples.iter().map(|(index, _)| (point, *index));
            examples.extend(found.take(3usize.saturating_sub(examples.len())));
        }
        (count, examples)
    }

    /// Every test of the result; checks of tests are none.
    #[must_use]
    pub fn tests(&self) -> Vec<&'a str> {
        self.selection.tests()
    }

    fn positions(&self) -> Vec<(f64, Vec<usize>)> {
        self.selection.positions()
    }

    fn paired(&self, first: &str, second: &str, points: &[usize]) -> Pairing {
        let strata = self
            .pairs_at(points, first, second)
            .map(|(point, pair)| Stratum {
                weight: self.summary().weight(point),
                sets: pair.asked,
                both: pair.both,
                first: pair.only_first,
                second: pair.only_second,
            });
        Pairing {
            strata: strata.collect(),
        }
    }

    /// How two tests differ on the same sets.
    pub(super) fn pairing(&self, first: &str, second: &str) -> Pairing {
        self.paired(first, second, &self.selection.points)
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
            let count = self.summary().counts[point][question];
            (self.summary().weight(point), count.asked(), count.yes)
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
            let counts = || points.iter().map(|&p| self.summary().counts[p][question]);
            let (yes, sets) = (counts().map(|c| c.yes), counts().map(Count::asked));
            Interval::of_share(yes.sum(), sets.sum())
        };
        let positions = self.positions().into_iter();
        positions.map(|(x, points)| (x, of(points))).collect()
    }

    fn total(&self, test: &str, of: impl Fn(Count) -> u64) -> u64 {
        let Some(question) = self.position(test) else {
            return 0;
        };
        let counts = self.selection.points.iter();
        counts
            .map(|&point| of(self.summary().counts[point][question]))
            .sum()
    }

    /// How many sets a test left undecided.
    pub(super) fn undecided(&self, test: &str) -> u64 {
        self.total(test, |count| count.undecided)
    }

    /// About how many sets it was not asked, because the policy or the test does not take them.
    pub(super) fn refused(&self, question: &str) -> u64 {
        self.total(question, |count| count.refused)
    }

    /// To how many sets the answer was no; of a check, those that were shown to miss.
    pub(super) fn said_no(&self, question: &str) -> u64 {
        self.total(question, |count| {
            count.asked().saturating_sub(count.yes + count.undecided)
        })
    }

    /// How many sets `first` accepts and `second` rejects: one whose search reached its limit is neither.
    pub(super) fn rejected(&self, first: &str, second: &str) -> u64 {
        let pairs = self.pairs_at(&self.selection.points, first, second);
        pairs
            .map(|(_, pair)| pair.only_first.saturating_sub(pair.left_open))
            .sum()
    }
}
