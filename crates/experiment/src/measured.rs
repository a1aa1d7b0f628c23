//! What measures say of the sets of a point: values, their mean, and its interval.

use crate::evaluate::Answer;
use crate::measure::{Asked, Measure, Values};
use crate::number::as_f64;
use crate::table::Table;
use vestal_statistics::{Confidence, Mean};

/// What a measure found of some jobs: of all, or of those of one level.
#[derive(Clone, Debug)]
pub struct Part {
    /// The question's name.
    pub question: String,
    /// The level; `None`: all jobs.
    pub level: Option<String>,
    /// The measure.
    pub measure: &'static Measure,
    /// For each point its sets.
    pub samples: Vec<Sample>,
}

/// The sets of a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// How many.
    pub sets: u64,
    /// For which the policy has no order, or which it does not take.
    pub without: u64,
    /// Whose simulation ended early.
    pub cut: u64,
    /// What was counted in the others, and of how many.
    pub counts: [u64; 2],
    /// By index the value of each set; `None` where there was no whole run, or nothing to count of.
    pub values: Vec<Option<f64>>,
}

impl Part {
    /// The name: that of the question, and of the level behind it.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.level {
            None => self.question.clone(),
            Some(level) => format!("{}:{level}", self.question),
        }
    }

    /// The mean of the sets of these points, as many of each, with its interval.
    #[must_use]
    pub fn mean(&self, points: &[usize], confidence: Confidence) -> Mean {
        mean(&self.rounds(points), self.measure.values, confidence)
    }

    /// The mean over these points of the sets with the same index, for every index of which all have a value. Points
    /// differ in what they are drawn from; such rounds do not, and are independent.
    pub(crate) fn rounds(&self, points: &[usize]) -> Vec<f64> {
        let samples = points.iter().filter_map(|point| self.samples.get(*point));
        let samples: Vec<&Sample> = samples.collect();
        let rounds = samples.iter().map(|sample| sample.values.len()).min();
        let round = |index: usize| {
            let each = samples.iter().map(|sample| sample.values[index]);
            let sum: Option<f64> = each.sum();
            sum.map(|sum| sum / as_f64(samples.len() as u64))
        };
        (0..rounds.unwrap_or(0)).filter_map(round).collect()
    }
}

/// The mean of values of this kind.
pub(crate) fn mean(values: &[f64], kind: Values, confidence: Confidence) -> Mean {
    match kind {
        Values::Shares => Mean::of_bounded(values, confidence),
        Values::Numbers { .. } => Mean::of(values, confidence),
    }
}

/// Everything that the measures among the questions found at `points` points.
#[must_use]
pub fn parts(asked: &[Asked], points: usize, table: &Table) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut first = 0;
    for (question, asked) in asked.iter().enumerate() {
        let Some(counted) = &asked.counted else {
            continue;
        };
        let levels = counted.levels.len();
        let columns = |level: usize| [first + 2 * level, first + 2 * level + 1];
        let all: Vec<[usize; 2]> = (0..levels).map(columns).collect();
        let mut part = |level: Option<&String>, columns: &[[usize; 2]]| {
            parts.push(Part {
                question: asked.label.clone(),
                level: level.cloned(),
                measure: counted.measure,
                samples: samples(table, (question, columns), points, counted.measure.values),
            });
        };
        part(None, &all);
        for (level, columns) in counted.levels.iter().zip(&all) {
            part(Some(level), &[*columns]);
        }
        first += 2 * levels;
    }
    parts
}

/// What pairs of columns of counts, added up, say of each point.
fn samples(
    table: &Table,
    (question, columns): (usize, &[[usize; 2]]),
    points: usize,
    kind: Values,
) -> Vec<Sample> {
    let mut samples = vec![Sample::default(); points];
    for row in 0..table.rows() {
        let Some(sample) = samples.get_mut(table.points[row] as usize) else {
            continue;
        };
        sample.sets += 1;
        let is_whole = match table.answers[question][row] {
            Answer::Yes => true,
            Answer::No | Answer::Refused => {
                sample.without += 1;
                false
            }
            Answer::Undecided => {
                sample.cut += 1;
                false
            }
        };
        let sum = |side: usize| {
            let counts = columns.iter().map(|pair| table.counts[pair[side]][row]);
            counts.fold(0_u64, u64::saturating_add)
        };
        let counts = [sum(0), sum(1)];
        for (all, more) in sample.counts.iter_mut().zip(counts) {
            *all = all.saturating_add(more);
        }
        let scale = match kind {
            Values::Shares => 1,
            Values::Numbers { scale } => scale,
        };
        let value = || as_f64(counts[0]) / as_f64(scale) / as_f64(counts[1]);
        sample.values.push((is_whole && counts[1] > 0).then(value));
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Found;
    use crate::measure::Counted;
    use crate::table::Width;

    fn asked(measure: &str) -> Asked {
        Asked {
            label: format!("{measure}:rms/hi"),
            counted: Some(Counted {
                measure: Measure::named(measure).unwrap(),
                levels: ["LO", "HI"].map(str::to_owned).to_vec(),
            }),
            taken: None,
        }
    }

    /// Two points, behind a test and another measure, which are not to be mistaken for it.
    fn found(measure: &str, rows: &[(u32, Answer, [u64; 4])]) -> Vec<Part> {
        let asked = [Asked::answered("smc"), asked("drop-ratio"), asked(measure)];
        let mut table = Table::new(Width::of(&asked));
        for (index, (point, answer, counts)) in (0..).zip(rows) {
            let found = Found {
                answers: vec![Answer::No, Answer::Yes, *answer],
                counts: [&[9, 9, 9, 9][..], counts].concat(),
            };
            table.push(*point, index, 1, &found);
        }
        parts(&asked, 2, &table).split_off(3)
    }

    #[test]
    fn values_are_those_computed_by_hand() {
        let parts = found(
            "miss-ratio",
            &[
                (0, Answer::Yes, [1, 4, 0, 4]),
                (0, Answer::Yes, [0, 0, 3, 4]),
                (0, Answer::No, [0, 0, 0, 0]),
                (0, Answer::Undecided, [0, 0, 0, 0]),
                (1, Answer::Yes, [0, 5, 0, 5]),
            ],
        );
        let names: Vec<String> = parts.iter().map(Part::name).collect();
        assert_eq!(
            names,
            [
                "miss-ratio:rms/hi",
                "miss-ratio:rms/hi:LO",
                "miss-ratio:rms/hi:HI",
            ]
        );
        let [all, low, high] = [0, 1, 2].map(|part| &parts[part].samples[0]);
        assert_eq!((all.sets, all.without, all.cut), (4, 1, 1));
        assert_eq!(all.values, [Some(0.125), Some(0.75), None, None]);
        assert_eq!(all.counts, [4, 12]);
        // A set without jobs of a level says nothing of it.
        assert_eq!(low.values, [Some(0.25), None, None, None]);
        assert_eq!(high.values, [Some(0.0), Some(0.75), None, None]);
        assert!((parts[0].mean(&[0], Confidence::USUAL).value - 0.4375).abs() < 1e-12);
        // Of the two points together there is one round that both have.
        assert_eq!(parts[0].rounds(&[0, 1]), [0.0625]);
        assert!(parts[0].rounds(&[]).is_empty());
    }

    #[test]
    fn numbers_without_bounds_are_scaled_and_have_student_s_interval() {
        let rows = [
            (0, Answer::Yes, [3_000_000, 2, 0, 0]),
            (0, Answer::Yes, [5_000_000, 2, 0, 0]),
        ];
        let parts = found("relative-response", &rows);
        assert_eq!(parts[1].samples[0].values, [Some(1.5), Some(2.5)]);
        let mean = parts[1].mean(&[0], Confidence::USUAL);
        // 2 +- 12.7062 * 0.5.
        assert!((mean.value - 2.0).abs() < 1e-12 && (mean.high - 8.3531).abs() < 1e-3);
    }
}
