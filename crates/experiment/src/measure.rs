//! What is measured in a simulation of each set: a row for each measure.
//!
//! A measure counts two things by criticality: what it is about, and of how many. Results hold these whole numbers; a set's
//! value is their quotient, and what is said of a point is the mean of its sets' values, each set as heavy as any other.
//! So sets are what an interval is over: they are drawn independently, which the jobs of a set are not.

use vestal_core::Task;
use vestal_sim::Figures;
use vestal_sim::statistics::TaskStatistics;

/// Something that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Its name in files and results.
    pub name: &'static str,
    /// What its values are, for an axis.
    pub label: &'static str,
    /// What is counted, and of what: the names of the two columns.
    pub counts: [&'static str; 2],
    /// What values there are.
    pub values: Values,
    /// Both counts of a task.
    count: fn(&TaskStatistics, &Task) -> [u64; 2],
}

/// What the values of a measure can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Shares, from 0 to 1.
    Shares,
    /// Numbers without bounds, of which so many times as much is counted.
    Numbers {
        /// How many times.
        scale: u64,
    },
}

/// Every measure.
pub const MEASURES: &[Measure] = &[
    Measure {
        name: "miss-ratio",
        label: "share of jobs that miss their deadline",
        counts: ["missed", "released"],
        values: Values::Shares,
        count: |task, _| [task.missed, task.released],
    },
    Measure {
        name: "drop-ratio",
        label: "share of jobs that are dropped",
        counts: ["dropped", "released"],
        values: Values::Shares,
        count: |task, _| [task.dropped.total(), task.released],
    },
    Measure {
        name: "pending-ratio",
        label: "share of jobs that are not complete at the end",
        counts: ["pending", "released"],
        values: Values::Shares,
        count: |task, _| {
            let over = task.completed.saturating_add(task.dropped.total());
            [task.released.saturating_sub(over), task.released]
        },
    },
    Measure {
        name: "relative-response",
        label: "response time over period",
        counts: ["millionths", "completed"],
        values: Values::Numbers { scale: MILLION },
        count: relative_response,
    },
];

const MILLION: u64 = 1_000_000;

/// The response times of completed jobs in millionths of their periods, their sum rounded down.
fn relative_response(task: &TaskStatistics, model: &Task) -> [u64; 2] {
    let sum = task.response.spread().sum();
    let period = u128::from(model.period.as_nanos().max(1));
    let millionths = sum.saturating_mul(u128::from(MILLION)) / period;
    [
        u64::try_from(millionths).unwrap_or(u64::MAX),
        task.completed,
    ]
}

impl Measure {
    /// The measure of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        MEASURES.iter().find(|measure| measure.name == name)
    }

    /// Both counts of each level, the lowest first: what results hold of a set. O(n).
    #[must_use]
    pub fn counts(&self, figures: &Figures, tasks: &[Task], levels: usize) -> Vec<u64> {
        let mut counts = vec![0_u64; 2 * levels];
        for (task, found) in tasks.iter().zip(figures.tasks()) {
            let first = 2 * task.criticality.index();
            let counted = (self.count)(found, task);
            for (sum, more) in counts.iter_mut().skip(first).zip(counted) {
                *sum = sum.saturating_add(more);
            }
        }
        counts
    }
}

/// Which columns of counts a question has, besides its answer.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The measure.
    pub measure: &'static Measure,
    /// The names of the levels, the lowest first.
    pub levels: Vec<String>,
}

/// How a question stands in a table: a column for its answer and, of a measure, two for each level.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its name.
    pub label: String,
    /// What is counted, if it is a measure.
    pub counted: Option<Counted>,
    /// What of overheads is taken into account, if any are.
    pub taken: Option<String>,
}

impl Asked {
    /// A question that is answered with yes, no or not decided.
    #[must_use]
    pub fn answered(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            counted: None,
            taken: None,
        }
    }

    /// Its name with what of overheads is taken into account, if any are.
    #[must_use]
    pub fn overheads(&self) -> Option<String> {
        let taken = self.taken.as_ref()?;
        Some(format!("{}: {taken}", self.label))
    }

    /// The names of its columns of counts.
    #[must_use]
    pub fn counts(&self) -> Vec<String> {
        let Some(Counted { measure, levels }) = &self.counted else {
            return Vec::new();
        };
        let columns = levels.iter().flat_map(|level| {
            let name = |count: &str| format!("{}:{level}:{count}", self.label);
            measure.counts.map(name)
        });
        columns.collect()
    }

    /// The names of what it gives numbers of: all jobs, and those of each level. None unless it is a measure.
    #[must_use]
    pub fn parts(&self) -> Vec<String> {
        let Some(Counted { levels, .. }) = &self.counted else {
            return Vec::new();
        };
        let of_levels = levels.iter().map(|level| format!("{}:{level}", self.label));
        std::iter::once(self.label.clone())
            .chain(of_levels)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use vestal_core::{Duration, Enforcement, Exhaustion, Level, Service, Wcet};
    use vestal_sim::Statistics;

    #[test]
    fn names_tell_measures_apart() {
        let names: BTreeSet<&str> = MEASURES.iter().map(|measure| measure.name).collect();
        assert_eq!(names.len(), MEASURES.len());
        for name in names {
            assert_eq!(Measure::named(name).unwrap().name, name);
        }
        assert!(Measure::named("mis-ratio").is_none());
    }

    #[test]
    fn a_measure_has_a_column_of_each_count_and_level_and_parts_for_all_and_each() {
        let asked = Asked {
            label: "miss-ratio:rms/hi".to_owned(),
            counted: Some(Counted {
                measure: Measure::named("miss-ratio").unwrap(),
                levels: ["LO", "HI"].map(str::to_owned).to_vec(),
            }),
            taken: None,
        };
        assert_eq!(
            asked.counts(),
            [
                "miss-ratio:rms/hi:LO:missed",
                "miss-ratio:rms/hi:LO:released",
                "miss-ratio:rms/hi:HI:missed",
                "miss-ratio:rms/hi:HI:released",
            ]
        );
        assert_eq!(
            asked.parts(),
            [
                "miss-ratio:rms/hi",
                "miss-ratio:rms/hi:LO",
                "miss-ratio:rms/hi:HI",
            ]
        );
        let plain = Asked::answered("smc");
        assert!(plain.counts().is_empty() && plain.parts().is_empty());
    }

    /// Without a run nothing is counted, and every level has its place.
    #[test]
    fn levels_without_jobs_count_nothing() {
        let span = Duration::from_nanos(10);
        let wcet = Wcet::new(&[Service::from_nanos(1)]).unwrap();
        let tasks = [Task::new(Level(0), span, span, wcet).unwrap()];
        let statistics = Statistics::new(&tasks, 1, Enforcement::Static, Exhaustion::Background);
        for measure in MEASURES {
            assert_eq!(measure.counts(&statistics, &tasks, 3), [0; 6]);
        }
    }
}
