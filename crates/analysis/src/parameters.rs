//! Parameters: what tests choose or are given, and what policies are built with.
//!
//! [`TABLE`] says of each how it is called, which shape it has, which values are in range and where it
//! stands in [`Parameters`]. Files, headers of traces, results and notes all go by it, so that a parameter
//! is described once.

use vestal_core::SLICES_MAX;
use vestal_core::{Duration, SliceCount, Task, TaskId};

/// What a test chose and a run may use; tables for all tasks stand in task order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Larger = more urgent; `None` if no complete order was found. For a finite job set one for each job.
    pub priorities: Option<Vec<u32>>,
    /// The relative virtual deadline of each task, in whole nanoseconds and never 0; `None` if the test
    /// chooses none, or if no integers do what the factor does.
    pub virtual_deadlines: Option<Vec<Duration>>,
    /// EDF-VD's factor x: the virtual deadline of a task above level 0 is x D_i. At most 1.
    pub deadline_factor: Option<Ratio>,
    /// Period transformation: into how many slices the jobs of each task are cut.
    pub slices: Option<Vec<SliceCount>>,
    /// The zero-slack instant of each task, counted from the release: its deadline where it need not
    /// suspend any task, 0 where no instant is early enough.
    pub zero_slack: Option<Vec<Duration>>,
    /// For each task the priorities of its first, second, ... job in a busy period, larger = more urgent
    /// (PLRS); no entry stands in two lists.
    pub job_priorities: Option<Vec<Vec<u32>>>,
    /// For each task and each level m up to its own, how many of its jobs a busy period can contain before
    /// the mode exceeds m.
    pub patterns: Option<Vec<Vec<u64>>>,
    /// For each level m, how long a busy period can be before the mode exceeds m.
    pub busy_periods: Option<Vec<Duration>>,
}

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    /// The numerator.
    pub numerator: u64,
    /// The denominator, never 0.
    pub denominator: u64,
}

/// The name of one of [`Parameters`], in the order in which files and results have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the table says what each of them is")]
pub enum Parameter {
    Priorities,
    VirtualDeadlines,
    DeadlineFactor,
    Slices,
    ZeroSlack,
    JobPriorities,
    Patterns,
    BusyPeriods,
}

/// What the values of a parameter belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One for each task.
    EachTask,
    /// A list for each task.
    ListEachTask,
    /// One for each criticality level.
    EachLevel,
    /// A single one.
    Single,
}

/// What kind of value it is, and which are in range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// Whole numbers within these bounds.
    Numbers {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// Times; 0 only if `zero`, and at most the task's deadline where it is one for each task.
    Times {
        /// Whether 0 is in range.
        zero: bool,
    },
    /// A fraction above 0 and at most 1.
    Fraction,
}

/// What several values must have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Nothing.
    Any,
    /// No value stands for two tasks.
    Distinct,
    /// Each list falls strictly, and no value stands in two of them.
    FallingLists,
    /// No value is below the one before it.
    NeverFalling,
}

/// The values of a parameter without its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// For [`Shape::EachTask`] with whole numbers.
    Numbers(Vec<u64>),
    /// For [`Shape::EachTask`] and [`Shape::EachLevel`] with times.
    Times(Vec<Duration>),
    /// For [`Shape::ListEachTask`].
    Lists(Vec<Vec<u64>>),
    /// For [`Shape::Single`].
    Fraction(Ratio),
}

/// A row of [`TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which parameter.
    pub parameter: Parameter,
    /// Its key in files, headers and results.
    pub name: &'static str,
    /// One of its values, with the article: `a priority`.
    pub one: &'static str,
    /// What its values are called: `priorities`.
    pub words: &'static str,
    /// What its values belong to.
    pub shape: Shape,
    /// Which values are in range.
    pub range: Range,
    /// What the values have in common.
    pub rule: Rule,
    /// What is wrong with a value that is not for its task, after its name.
    pub misfit: &'static str,
    /// Its values, if it is given.
    pub get: fn(&Parameters) -> Option<Values>,
    /// Makes it in the second what it is in the first.
    pub copy: fn(&Parameters, &mut Parameters),
    /// Sets it, for these tasks; `false` if the values are not of its type, or a number of slices is not
    /// one for its task.
    pub set: fn(&mut Parameters, Values, &[Task]) -> bool,
}

impl Row {
    /// One of its values, without the article.
    fn value(&self) -> &'static str {
        self.one
            .split_once(' ')
            .map_or(self.one, |(_, value)| value)
    }
}

/// A type that values of a parameter have.
trait Column: Clone {
    fn values(&self) -> Values;
    fn of(values: Values, tasks: &[Task]) -> Option<Self>;
}

impl Column for Vec<u32> {
    fn values(&self) -> Values {
        Values::Numbers(self.iter().copied().map(u64::from).collect())
    }
    fn of(values: Values, _: &[Task]) -> Option<Self> {
        numbers(values)?
            .into_iter()
            .map(|value| u32::try_from(value).ok())
            .collect()
    }
}

impl Column for Vec<SliceCount> {
    fn values(&self) -> Values {
        Values::Numbers(self.iter().map(|count| u64::from(count.get())).collect())
    }
    fn of(values: Values, tasks: &[Task]) -> Option<Self> {
        let given = numbers(values)?;
        let pairs = tasks
            .iter()
            .zip(&given)
            .filter(|_| tasks.len() == given.len());
        let counts = pairs.map(|(task, count)| SliceCount::new(u32::try_from(*count).ok()?, task));
        counts.collect()
    }
}

impl Column for Vec<Duration> {
    fn values(&self) -> Values {
        Values::Times(self.clone())
    }
    fn of(values: Values, _: &[Task]) -> Option<Self> {
        match values {
            Values::Times(times) => Some(times),
            Values::Numbers(_) | Values::Lists(_) | Values::Fraction(_) => None,
        }
    }
}

impl<T: Copy + Into<u64> + TryFrom<u64>> Column for Vec<Vec<T>> {
    fn values(&self) -> Values {
        let lists = self
            .iter()
            .map(|list| list.iter().copied().map(T::into).collect());
        Values::Lists(lists.collect())
    }
    fn of(values: Values, _: &[Task]) -> Option<Self> {
        let Values::Lists(lists) = values else {
            return None;
        };
        let list = |list: Vec<u64>| {
            list.into_iter()
                .map(|value| T::try_from(value).ok())
                .collect()
        };
        lists.into_iter().map(list).collect()
    }
}

impl Column for Ratio {
    fn values(&self) -> Values {
        Values::Fraction(*self)
    }
    fn of(values: Values, _: &[Task]) -> Option<Self> {
        match values {
            Values::Fraction(ratio) => Some(ratio),
            Values::Numbers(_) | Values::Times(_) | Values::Lists(_) => None,
        }
    }
}

fn numbers(values: Values) -> Option<Vec<u64>> {
    match values {
        Values::Numbers(numbers) => Some(numbers),
        Values::Times(_) | Values::Lists(_) | Values::Fraction(_) => None,
    }
}

macro_rules! row {
    ($parameter:ident, $field:ident, $one:literal, $words:literal, $shape:ident, $range:expr, $rule:ident, $misfit:literal) => {
        Row {
            parameter: Parameter::$parameter,
            name: stringify!($field),
            one: $one,
            words: $words,
            shape: Shape::$shape,
            range: $range,
            rule: Rule::$rule,
            misfit: $misfit,
            get: |from| from.$field.as_ref().map(Column::values),
            copy: |from, to| to.$field.clone_from(&from.$field),
            set: |to, values, tasks| {
                to.$field = Column::of(values, tasks);
                to.$field.is_some()
            },
        }
    };
}

const PRIORITY: Range = Range::Numbers {
    least: 0,
    most: u32::MAX as u64,
};
/// The largest is that of a job beyond the pattern.
const JOB_PRIORITY: Range = Range::Numbers {
    least: 0,
    most: u32::MAX as u64 - 1,
};
const SLICES: Range = Range::Numbers {
    least: 1,
    most: SLICES_MAX as u64,
};
const TIME: Range = Range::Times { zero: true };

/// Every parameter, in the order of [`Parameter`].
#[rustfmt::skip]
pub static TABLE: [Row; 8] = [
    row!(Priorities, priorities, "a priority", "priorities", EachTask, PRIORITY,
        Distinct, ""),
    row!(VirtualDeadlines, virtual_deadlines, "a virtual deadline", "virtual deadlines", EachTask, Range::Times { zero: false },
        Any, "is zero or after its deadline"),
    row!(DeadlineFactor, deadline_factor, "a factor", "the deadline factor", Single, Range::Fraction,
        Any, ""),
    row!(Slices, slices, "a number of slices", "slices", EachTask, SLICES,
        Any, "is none into which its jobs can be cut"),
    row!(ZeroSlack, zero_slack, "a zero-slack instant", "zero-slack instants", EachTask, TIME,
        Any, "is after its deadline"),
    row!(JobPriorities, job_priorities, "a list of job priorities", "job priorities", ListEachTask, JOB_PRIORITY,
        FallingLists, "do not fall strictly, or stand for another task too"),
    row!(Patterns, patterns, "numbers of jobs", "patterns", ListEachTask, PRIORITY,
        NeverFalling, ""),
    row!(BusyPeriods, busy_periods, "a busy period", "busy periods", EachLevel, TIME,
        NeverFalling, ""),
];

impl Parameter {
    /// What is to be known of it.
    #[must_use]
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

impl Parameters {
    /// Those of `which`, and nothing else.
    #[must_use]
    pub fn only(&self, which: &[Parameter]) -> Self {
        let mut found = Self::default();
        for parameter in which {
            (parameter.row().copy)(self, &mut found);
        }
        found
    }

    /// These, and where one is not given, that of `otherwise`.
    #[must_use]
    pub fn or(&self, otherwise: &Self) -> Self {
        let mut found = otherwise.clone();
        for row in self.rows() {
            (row.copy)(self, &mut found);
        }
        found
    }

    /// The rows of those that are given.
    pub fn rows(&self) -> impl Iterator<Item = &'static Row> {
        TABLE.iter().filter(|row| (row.get)(self).is_some())
    }

    /// Whether nothing is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether everything that is given fits `tasks` (or the jobs of a finite set, `count` in all).
    ///
    /// # Errors
    /// The first [`ParameterError`], in the order of [`TABLE`].
    pub fn check(&self, tasks: &[Task], count: usize) -> Result<(), ParameterError> {
        self.rows()
            .try_for_each(|row| check(row, self, tasks, count))
    }
}

fn check(row: &Row, all: &Parameters, tasks: &[Task], count: usize) -> Result<(), ParameterError> {
    let parameter = row.parameter;
    let misfit = |task: usize| {
        Err(ParameterError::Misfit {
            parameter,
            task: task_id(task),
        })
    };
    let found = match (row.get)(all) {
        Some(Values::Numbers(values)) => values.len(),
        Some(Values::Times(values)) => values.len(),
        Some(Values::Lists(values)) => values.len(),
        Some(Values::Fraction(_)) | None => return Ok(()),
    };
    let by_task = matches!(row.shape, Shape::EachTask | Shape::ListEachTask);
    if by_task && found != count {
        return Err(ParameterError::Count {
            parameter,
            tasks: count,
            found,
        });
    }
    match (row.get)(all) {
        Some(Values::Numbers(values)) if row.parameter == Parameter::Slices => {
            let fits = |(task, count): (&Task, &u64)| {
                u32::try_from(*count).is_ok_and(|count| SliceCount::new(count, task).is_some())
            };
            tasks
                .iter()
                .zip(&values)
                .position(|pair| !fits(pair))
                .map_or(Ok(()), misfit)
        }
        Some(Values::Times(values)) if by_task => {
            let zero = row.range == TIME;
            let fits = |(task, time): (&Task, &Duration)| {
                *time <= task.deadline && (zero || !time.is_zero())
            };
            tasks
                .iter()
                .zip(&values)
                .position(|pair| !fits(pair))
                .map_or(Ok(()), misfit)
        }
        Some(Values::Lists(lists)) if row.rule == Rule::FallingLists => {
            let falls = |list: &Vec<u64>| list.windows(2).all(|pair| pair[0] > pair[1]);
            let mut all: Vec<u64> = lists.iter().flatten().copied().collect();
            all.sort_unstable();
            let distinct = all.windows(2).all(|pair| pair[0] != pair[1]);
            let first = lists.iter().position(|list| !falls(list));
            match first.or((!distinct).then_some(0)) {
                Some(task) => misfit(task),
                None => Ok(()),
            }
        }
        Some(_) | None => Ok(()),
    }
}

/// The name of the task at `index` of a problem. A problem has at most [`TASKS_MAX`] tasks.
pub(crate) fn task_id(index: usize) -> TaskId {
    TaskId(u16::try_from(index).unwrap_or(u16::MAX))
}

/// Why parameters are not for these tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// Not exactly one value for each task.
    #[error("{found} {} for {tasks} tasks; each task needs exactly one", .parameter.row().words)]
    Count {
        /// Of which parameter.
        parameter: Parameter,
        /// The number of tasks.
        tasks: usize,
        /// The number of values.
        found: usize,
    },
    /// A value is not for its task.
    #[error("the {} of task {} {}", .parameter.row().value(), .task.0, .parameter.row().misfit)]
    Misfit {
        /// Of which parameter.
        parameter: Parameter,
        /// The task.
        task: TaskId,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_its_names() {
        for (position, row) in TABLE.iter().enumerate() {
            assert_eq!(row.parameter as usize, position);
            assert_eq!(row.parameter.row().name, row.name);
        }
    }

    fn two_tasks() -> [Task; 2] {
        [10, 20].map(|period| {
            let span = Duration::from_nanos(period);
            let wcet = vestal_core::Wcet::constant(vestal_core::Service::from_nanos(4));
            Task::new(vestal_core::Level(0), span, span, wcet).unwrap()
        })
    }

    #[test]
    fn what_is_got_can_be_set_and_copied() {
        let tasks = two_tasks();
        let ns = Duration::from_nanos;
        let all = Parameters {
            priorities: Some(vec![1, 2]),
            virtual_deadlines: Some(vec![ns(5), ns(20)]),
            deadline_factor: Some(Ratio {
                numerator: 1,
                denominator: 2,
            }),
            slices: Some(vec![
                SliceCount::ONE,
                SliceCount::new(2, &tasks[1]).unwrap(),
            ]),
            zero_slack: Some(vec![ns(0), ns(7)]),
            job_priorities: Some(vec![vec![7, 3], vec![5]]),
            patterns: Some(vec![vec![2], vec![1]]),
            busy_periods: Some(vec![ns(9)]),
        };
        assert_eq!(all.check(&tasks, 2), Ok(()));
        let mut again = Parameters::default();
        for row in &TABLE {
            assert!(
                (row.set)(&mut again, (row.get)(&all).unwrap(), &tasks),
                "{}",
                row.name
            );
            let alone = all.only(&[row.parameter]);
            assert_eq!(
                alone.rows().map(|row| row.name).collect::<Vec<_>>(),
                [row.name]
            );
        }
        assert_eq!(again, all);
        assert_eq!(Parameters::default().or(&all), all);
        assert_eq!(all.or(&Parameters::default()), all);
    }

    #[test]
    fn what_does_not_fit_the_tasks_is_named() {
        let tasks = two_tasks();
        let ns = Duration::from_nanos;
        let misfit = |give: &dyn Fn(&mut Parameters)| {
            let mut given = Parameters::default();
            give(&mut given);
            given.check(&tasks, 2).unwrap_err().to_string()
        };
        let times = |first, second| Some(vec![ns(first), ns(second)]);
        assert_eq!(
            misfit(&|given| given.zero_slack = times(10, 21)),
            "the zero-slack instant of task 1 is after its deadline"
        );
        assert_eq!(
            misfit(&|given| given.virtual_deadlines = times(0, 20)),
            "the virtual deadline of task 0 is zero or after its deadline"
        );
        let twice = misfit(&|given| given.job_priorities = Some(vec![vec![7], vec![7]]));
        assert!(twice.contains("stand for another task too"), "{twice}");
        assert_eq!(
            misfit(&|given| given.priorities = Some(vec![1])),
            "1 priorities for 2 tasks; each task needs exactly one"
        );
    }
}
