//! What a table of answers says: shares with confidence intervals, weighted shares, and pairs.

use crate::evaluate::Answer;
use crate::file::{Experiment, Point};
use crate::measure::Asked;
use crate::measured::{self, Part, Sample};
use crate::number::as_f64;
use crate::table::Table;
use std::fmt::Write as _;
use vestal_statistics::{Confidence, Mean};

/// z of a two-sided 95 % interval.
const Z95: f64 = Confidence::USUAL.errors;

/// A share of sets with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The share itself.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Share {
    /// `yes` of `count` with Wilson's interval (JASA 22, 1927), which holds also near 0 and 1.
    #[must_use]
    pub fn wilson(yes: u64, count: u64) -> Self {
        Self::wilson_with(Z95, yes, count)
    }

    /// The same with an interval of `z` standard errors to each side.
    pub(crate) fn wilson_with(z: f64, yes: u64, count: u64) -> Self {
        if count == 0 {
            return Self {
                value: 0.0,
                low: 0.0,
                high: 1.0,
            };
        }
        let (n, p) = (as_f64(count), as_f64(yes) / as_f64(count));
        let square = z * z;
        let centre = p + square / (2.0 * n);
        let spread = z * (p * (1.0 - p) / n + square / (4.0 * n * n)).sqrt();
        let scale = 1.0 + square / n;
        Self {
            value: p,
            low: if yes == 0 {
                0.0
            } else {
                (centre - spread) / scale
            },
            high: if yes == count {
                1.0
            } else {
                (centre + spread) / scale
            },
        }
    }
}

/// The answers to one question at one point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Sets.
    pub sets: u64,
    /// Yes.
    pub yes: u64,
    /// Searches that reached their limit.
    pub undecided: u64,
    /// Sets about which it was not asked, because the policy or the test does not take them.
    pub refused: u64,
}

impl Count {
    /// About how many sets it was asked.
    #[must_use]
    pub const fn asked(self) -> u64 {
        self.sets.saturating_sub(self.refused)
    }

    /// The share of yes, of the sets about which it was asked; `None` if it was asked about none.
    #[must_use]
    pub fn share(self) -> Option<Share> {
        (self.asked() > 0).then(|| Share::wilson(self.yes, self.asked()))
    }
}

/// How two questions differ at one point, on the sets about which both were asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// How many these are.
    pub asked: u64,
    /// Sets for which both say yes.
    pub both: u64,
    /// Sets for which the first says yes and the second does not.
    pub only_first: u64,
    /// Sets for which the second says yes and the first does not.
    pub only_second: u64,
    /// Of the former, those of which the second says neither yes nor no.
    pub left_open: u64,
    /// Number and seed of the first few sets of the former kind.
    pub examples: Vec<(u32, u64)>,
}

/// What the answers of an experiment say.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The names of the axes.
    pub axes: Vec<String>,
    /// For each point the values of the axes.
    pub points: Vec<Vec<String>>,
    /// The names of the questions that are answered with yes and no.
    pub columns: Vec<String>,
    /// For each point the counts of each question.
    pub counts: Vec<Vec<Count>>,
    /// For each point and ordered pair (a, b) of questions, at a * columns + b.
    pub pairs: Vec<Vec<Pair>>,
    /// What measures found.
    pub measures: Vec<Part>,
    weight_by: Option<usize>,
}

/// A weighted share of a group of points: all that differ in the weight only.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    /// The values of the other axes.
    pub values: Vec<String>,
    /// For each question W = sum U pi(U) / sum U, with a 95 % interval; `None`: it was asked about no set.
    pub shares: Vec<Option<Share>>,
}

/// How many examples a pair keeps.
const EXAMPLES_MAX: usize = 3;

impl Summary {
    /// Counts the answers.
    #[must_use]
    pub fn new(experiment: &Experiment, points: &[Point], asked: &[Asked], table: &Table) -> Self {
        // Where the answers of each stand.
        let answered = asked.iter().enumerate();
        let answered = answered.filter(|(_, asked)| asked.counted.is_none());
        let (places, columns): (Vec<usize>, Vec<String>) = answered
            .map(|(place, asked)| (place, asked.label.clone()))
            .unzip();
        let questions = columns.len();
        let mut counts = vec![vec![Count::default(); questions]; points.len()];
        let mut pairs = vec![vec![Pair::default(); questions * questions]; points.len()];
        for row in 0..table.rows() {
            let point = table.points[row] as usize;
            let said = |question: usize| table.answers[places[question]][row];
            for first in 0..questions {
                let count = &mut counts[point][first];
                count.sets += 1;
                count.yes += u64::from(said(first) == Answer::Yes);
                count.undecided += u64::from(said(first) == Answer::Undecided);
                count.refused += u64::from(said(first) == Answer::Refused);
                for second in 0..questions {
                    if [said(first), said(second)].contains(&Answer::Refused) {
                        continue;
                    }
                    let pair = &mut pairs[point][first * questions + second];
                    pair.asked += 1;
                    pair.both +=
                        u64::from(said(first) == Answer::Yes && said(second) == Answer::Yes);
                    if said(first) == Answer::Yes && said(second) != Answer::Yes {
                        pair.only_first += 1;
                        pair.left_open += u64::from(said(second) == Answer::Undecided);
                        if pair.examples.len() < EXAMPLES_MAX {
                            pair.examples.push((table.indices[row], table.seeds[row]));
                        }
                        pairs[point][second * questions + first].only_second += 1;
                    }
                }
            }
        }
        let weight = experiment.weight_by.as_ref();
        Self {
            axes: experiment
                .axes
                .iter()
                .map(|axis| axis.name.clone())
                .collect(),
            points: points.iter().map(|point| point.values.clone()).collect(),
            columns,
            measures: measured::parts(asked, points.len(), table),
            counts,
            pairs,
            weight_by: weight
                .and_then(|name| experiment.axes.iter().position(|axis| axis.name == *name)),
        }
    }

    /// The position of a question.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The position of an axis.
    #[must_use]
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis == name)
    }

    /// The pair of two questions at a point.
    #[must_use]
    pub fn pair(&self, point: usize, first: usize, second: usize) -> Option<&Pair> {
        self.pairs
            .get(point)?
            .get(first * self.columns.len() + second)
    }

    /// Weighted shares (Bastoni, Brandenburg and Anderson, OSPERT 2010), a group for each
    /// combination of the other axes, in the order of the points. Empty without `weight_by`.
    #[must_use]
    pub fn weighted(&self) -> Vec<Weighted> {
        let Some(axis) = self.weight_by else {
            return Vec::new();
        };
        let groups = grouped(self.points.iter().enumerate().map(|(point, values)| {
            let mut others = values.clone();
            others.remove(axis);
            (others, point)
        }));
        let shares = |points: &[usize]| -> Vec<Option<Share>> {
            (0..self.columns.len())
                .map(|question| self.weighted_share(points, question))
                .collect()
        };
        groups
            .into_iter()
            .map(|(values, points)| Weighted {
                shares: shares(&points),
                values,
            })
            .collect()
    }

    /// The axes that the values of [`Summary::weighted`] belong to.
    #[must_use]
    pub fn weighted_axes(&self) -> Vec<String> {
        let mut axes = self.axes.clone();
        if let Some(weight) = self.weight_by {
            axes.remove(weight);
        }
        axes
    }

    /// The axis of the weights, if there are any.
    pub(crate) const fn weight_axis(&self) -> Option<usize> {
        self.weight_by
    }

    /// What a measure found of all jobs, or of those of a level, by its name.
    #[must_use]
    pub fn measured(&self, name: &str) -> Option<&Part> {
        self.measures.iter().find(|part| part.name() == name)
    }

    /// Whether there is a question, or a part of a measure, of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.column(name).is_some() || self.measured(name).is_some()
    }

    /// The weight of a point; 1 without `weight_by`.
    pub(crate) fn weight(&self, point: usize) -> f64 {
        let text = |axis: usize| self.points.get(point)?.get(axis);
        // That the values are numbers was seen when the experiment was read.
        let weight = |text: &String| text.parse().unwrap_or(0.0);
        self.weight_by
            .map_or(1.0, |axis| text(axis).map_or(0.0, weight))
    }

    /// The interval is the normal one for a weighted sum of independent shares. Points at which nobody was asked do not count.
    pub(crate) fn weighted_share(&self, points: &[usize], question: usize) -> Option<Share> {
        let (mut total, mut sum, mut variance) = (0.0, 0.0, 0.0);
        let mut is_asked = false;
        for &point in points {
            let weight = self.weight(point);
            let count = self.counts[point][question];
            let Some(Share { value: share, .. }) = count.share() else {
                continue;
            };
            is_asked = true;
            total += weight;
            sum += weight * share;
            variance += weight * weight * share * (1.0 - share) / as_f64(count.asked());
        }
        if total <= 0.0 {
            return is_asked.then(|| Share::wilson(0, 0));
        }
        let (value, spread) = (sum / total, Z95 * variance.sqrt() / total);
        Some(Share {
            value,
            low: (value - spread).max(0.0),
            high: (value + spread).min(1.0),
        })
    }

    /// A row for each point and question.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut text = format!(
            "point,{}question,sets,yes,undecided,share,low95,high95,refused\n",
            prefix(&self.axes)
        );
        for (point, values) in self.points.iter().enumerate() {
            for (name, count) in self.columns.iter().zip(&self.counts[point]) {
                let shares = count.share().map_or_else(
                    || ",,".to_owned(),
                    |Share { value, low, high }| format!("{value:.6},{low:.6},{high:.6}"),
                );
                // Writing into a string cannot fail.
                let _ = writeln!(
                    text,
                    "{point},{}{},{},{},{},{shares},{}",
                    prefix(values),
                    cell(name),
                    count.sets,
                    count.yes,
                    count.undecided,
                    count.refused
                );
            }
        }
        text
    }

    /// A row for each point and ordered pair of questions that differ there.
    #[must_use]
    pub fn pairs_csv(&self) -> String {
        let mut text = format!(
            "point,{}yes,not_yes,sets,examples_index_seed\n",
            prefix(&self.axes)
        );
        for (point, values) in self.points.iter().enumerate() {
            for (first, yes) in self.columns.iter().enumerate() {
                for (second, no) in self.columns.iter().enumerate() {
                    let Some(pair) = self.pair(point, first, second) else {
                        continue;
                    };
                    if pair.only_first == 0 {
                        continue;
                    }
                    let examples = pair.examples.iter();
                    let examples: Vec<String> = examples
                        .map(|(index, seed)| format!("{index}:{seed}"))
                        .collect();
                    let _ = writeln!(
                        text,
                        "{point},{}{},{},{},{}",
                        prefix(values),
                        cell(yes),
                        cell(no),
                        pair.only_first,
                        examples.join(" ")
                    );
                }
            }
        }
        text
    }

    /// A row for each point and part of a measure; `None` without measures. An end that is not known is left out.
    #[must_use]
    pub fn measures_csv(&self) -> Option<String> {
        if self.measures.is_empty() {
            return None;
        }
        let mut text = format!(
            "point,{}measure,jobs,sets,without,cut,values,counted,of,mean,low95,high95\n",
            prefix(&self.axes)
        );
        for (point, values) in self.points.iter().enumerate() {
            for part in &self.measures {
                let Some(sample) = part.samples.get(point) else {
                    continue;
                };
                let jobs = part.level.as_deref().unwrap_or("all");
                let _ = writeln!(
                    text,
                    "{point},{}{},{},{}",
                    prefix(values),
                    cell(&part.question),
                    cell(jobs),
                    row(sample, part.mean(&[point], Confidence::USUAL))
                );
            }
        }
        Some(text)
    }

    /// A row for each group and question; `None` without weights.
    #[must_use]
    pub fn weighted_csv(&self) -> Option<String> {
        self.weight_by?;
        let axes = self.weighted_axes();
        let mut text = format!("{}question,weighted,low95,high95\n", prefix(&axes));
        for group in self.weighted() {
            for (name, share) in self.columns.iter().zip(&group.shares) {
                let numbers = share.map_or(",,".to_owned(), |Share { value, low, high }| {
                    format!("{value:.6},{low:.6},{high:.6}")
                });
                let _ = writeln!(text, "{}{},{numbers}", prefix(&group.values), cell(name));
            }
        }
        Some(text)
    }
}

/// The cells of a sample.
fn row(sample: &Sample, Mean { value, low, high }: Mean) -> String {
    let Sample {
        sets,
        without,
        cut,
        counts: [counted, of],
        values,
    } = sample;
    let known = values.iter().flatten().count();
    let end = |end: f64| match known > 0 && end.is_finite() {
        true => format!("{end:.6}"),
        false => String::new(),
    };
    format!(
        "{sets},{without},{cut},{known},{counted},{of},{},{},{}",
        end(value),
        end(low),
        end(high)
    )
}

/// The values of each key, in the order in which keys come first.
pub(crate) fn grouped<K: PartialEq, V>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Cells, each with its comma.
fn prefix(cells: &[String]) -> String {
    cells
        .iter()
        .map(|text| format!("{},", cell(text)))
        .collect()
}

/// A cell of a CSV file (RFC 4180).
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Found;
    use crate::table::Width;
    use vestal_workload::Source;

    #[test]
    fn wilson_s_interval_has_its_printed_values() {
        // 0 of 20: 0 to 0.1611; 10 of 20: 0.2993 to 0.7007 (Newcombe 1998, method 3).
        let none = Share::wilson(0, 20);
        assert!(none.low == 0.0 && (none.high - 0.1611).abs() < 1e-4);
        let half = Share::wilson(10, 20);
        assert!((half.low - 0.2993).abs() < 1e-4 && (half.high - 0.7007).abs() < 1e-4);
        // 81 of 263: 0.2553 to 0.3662.
        let some = Share::wilson(81, 263);
        assert!((some.low - 0.2553).abs() < 1e-4 && (some.high - 0.3662).abs() < 1e-4);
        assert_eq!(Share::wilson(5, 5).high, 1.0);
    }

    fn hand_computed() -> Summary {
        let text = "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"huang2014\"\nsets = 4\n\
                    weight_by = \"utilization\"\ntests = [\"a\", \"b\"]\n[vary]\nutilization = [0.2, 0.6]\n";
        let experiment = Experiment::parse(&Source::new("x", text)).unwrap();
        let asked = ["a", "b,c"].map(Asked::answered);
        let mut table = Table::new(Width::of(&asked));
        let (yes, no, undecided) = (Answer::Yes, Answer::No, Answer::Undecided);
        let rows = [
            (0, [yes, yes]),
            (0, [yes, no]),
            (0, [yes, yes]),
            (0, [yes, no]),
            (1, [no, yes]),
            (1, [yes, no]),
            (1, [no, no]),
            (1, [no, undecided]),
        ];
        for (at, (point, answers)) in (0u32..).zip(rows) {
            let found = Found {
                answers: answers.to_vec(),
                counts: Vec::new(),
            };
            table.push(point, at % 4, 100 + u64::from(at), &found);
        }
        Summary::new(&experiment, &experiment.points(), &asked, &table)
    }

    /// Of the sets of the first point, `a` is asked about two and says yes to one; `b` about three, yes to two; both about two. At
    /// the second point nobody asks `a`.
    #[test]
    fn sets_that_are_refused_count_neither_way() {
        let text = "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"huang2014\"\nsets = 4\n\
                    weight_by = \"utilization\"\ntests = [\"a\", \"b\"]\n[vary]\nutilization = [0.2, 0.6]\n";
        let experiment = Experiment::parse(&Source::new("x", text)).unwrap();
        let asked = ["a", "b"].map(Asked::answered);
        let mut table = Table::new(Width::of(&asked));
        let (yes, no, refused) = (Answer::Yes, Answer::No, Answer::Refused);
        let rows = [
            (0, [yes, no]),
            (0, [no, yes]),
            (0, [refused, yes]),
            (0, [refused, refused]),
            (1, [refused, yes]),
        ];
        for (at, (point, answers)) in (0u32..).zip(rows) {
            let found = Found {
                answers: answers.to_vec(),
                counts: Vec::new(),
            };
            table.push(point, at % 4, 100 + u64::from(at), &found);
        }
        let summary = Summary::new(&experiment, &experiment.points(), &asked, &table);
        let [a, b] = [summary.counts[0][0], summary.counts[0][1]];
        assert_eq!((a.sets, a.yes, a.refused, a.asked()), (4, 1, 2, 2));
        assert_eq!((b.sets, b.yes, b.refused, b.asked()), (4, 2, 1, 3));
        assert_eq!(a.share(), Some(Share::wilson(1, 2)));
        assert_eq!(summary.counts[1][0].share(), None);
        let pair = summary.pair(0, 0, 1).unwrap();
        let found = (pair.asked, pair.both, pair.only_first, pair.only_second);
        assert_eq!(found, (2, 0, 1, 1));
        let back = summary.pair(0, 1, 0).unwrap();
        assert_eq!((back.asked, back.only_first, back.left_open), (2, 1, 0));
        assert_eq!(summary.pair(1, 1, 0).unwrap().only_first, 0);
        // The second point says nothing of a, and does not weigh.
        let shares = &summary.weighted()[0].shares;
        assert!((shares[0].unwrap().value - 0.5).abs() < 1e-12);
        assert!((shares[1].unwrap().value - (0.2 * 2.0 / 3.0 + 0.6) / 0.8).abs() < 1e-12);
        // Of the second point alone nothing is said of a at all.
        assert_eq!(summary.weighted_share(&[1], 0), None);
        let csv = summary.to_csv();
        assert!(csv.contains("0,0.2,a,4,1,0,0.500000,"), "{csv}");
        assert!(csv.contains("\n1,0.6,a,1,0,0,,,,1\n"), "{csv}");
    }

    #[test]
    fn shares_weights_and_pairs_are_those_computed_by_hand() {
        let summary = hand_computed();
        let weighted = summary.weighted();
        assert_eq!(weighted.len(), 1);
        // a: (0.2 * 4/4 + 0.6 * 1/4) / 0.8; b: (0.2 * 2/4 + 0.6 * 1/4) / 0.8.
        let [a, b] = [0, 1].map(|question| weighted[0].shares[question].unwrap());
        assert!((a.value - 0.4375).abs() < 1e-12);
        assert!((b.value - 0.3125).abs() < 1e-12);
        // The spread of a: 1.96 * 0.6 * sqrt(0.25 * 0.75 / 4) / 0.8.
        let spread = a.high - 0.4375;
        assert!((spread - 1.959_964 * 0.6 * 0.046_875_f64.sqrt() / 0.8).abs() < 1e-6);
        let pair = summary.pair(1, 0, 1).unwrap();
        assert_eq!(
            (pair.only_first, pair.only_second, pair.left_open),
            (1, 1, 0)
        );
        assert_eq!(pair.examples, [(1, 105)]);
        assert_eq!(
            summary.counts[1][1],
            Count {
                sets: 4,
                yes: 1,
                undecided: 1,
                refused: 0
            }
        );
        let csv = summary.to_csv();
        assert!(csv.starts_with("point,utilization,question,sets,yes,undecided,share,low95,high95,refused\n0,0.2,a,4,4,0,1.000000,"));
        assert!(csv.contains("1,0.6,\"b,c\",4,1,1,0.250000,"));
        assert!(
            summary
                .pairs_csv()
                .contains("0,0.2,a,\"b,c\",2,1:101 3:103\n")
        );
        assert!(summary.weighted_csv().unwrap().contains("a,0.437500,"));
    }
}
