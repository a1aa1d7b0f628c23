//! Why a test says no, in numbers and in words.

use core::fmt;
use vestal_core::{Duration, Level, TaskId};

/// Why a test did not accept a problem.
///
/// [`fmt::Display`] names tasks and levels by number; [`Reason::with_names`] by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// C_i(z_i) > D_i: the task misses its deadline even when it is alone.
    WcetExceedsDeadline {
        /// Which task.
        task: TaskId,
    },
    /// The bound on a response time exceeds the deadline.
    ResponseExceedsDeadline {
        /// Whose response time.
        task: TaskId,
        /// In the runs of which level.
        level: Level,
        /// The bound is at least this much; above D_i.
        at_least: Duration,
        /// D_i.
        deadline: Duration,
    },
    /// Audsley's assignment: no task without a priority passes at this priority.
    NobodyFits {
        /// The priority for which no task was found; 1 is the least urgent.
        priority: u32,
        /// The tasks that were left.
        left: Vec<TaskId>,
    },
    /// Outside the assumptions: the task keeps running in modes above its own level.
    DegradedBudget {
        /// Which task.
        task: TaskId,
    },
    /// Outside the assumptions: the test is for sets with two levels.
    NotTwoLevels {
        /// How many the set has.
        found: usize,
    },
    /// Outside the assumptions: the test is for D_i = T_i.
    ConstrainedDeadline {
        /// A task with D_i < T_i.
        task: TaskId,
    },
    /// The search reached its limit before it had decided; a larger machine would not help, a test with
    /// a simpler bound may.
    SearchLimit {
        /// After how many steps.
        steps: u64,
    },
    /// EDF: sum of C_i(z_i) / T_i > 1.
    Overload {
        /// The sum in millionths, to the nearest, but above one million.
        utilization_ppm: u64,
    },
    /// EDF: the jobs that are released and due within the window need more than the window.
    DemandExceedsWindow {
        /// A window of this length ...
        window: Duration,
        /// ... contains jobs that need at least this much.
        demand: Duration,
    },
    /// EDF-VD: the utilisations, in millionths to the nearest, violate the test's condition.
    Utilizations {
        /// a: the tasks of level 0 at level 0.
        low_ppm: u64,
        /// b: the tasks of level 1 at level 0.
        high_at_low_ppm: u64,
        /// c: the tasks of level 1 at level 1.
        high_ppm: u64,
    },
    /// EDF-VD with given virtual deadlines: a task of level 0 has another one than its deadline.
    LowVirtualDeadline {
        /// Which task.
        task: TaskId,
    },
    /// EDF-VD with given virtual deadlines: what the two modes ask for, in millionths to the nearest,
    /// is more than the CPU in one of them.
    VirtualDeadlines {
        /// The density of mode 0, counted to the virtual deadlines.
        mode_0_ppm: u64,
        /// What remains to be done in mode 1.
        mode_1_ppm: u64,
    },
    /// The test is for tasks, and the problem is a finite job set.
    JobSet,
    /// The test is for finite job sets, and the problem has tasks.
    NotJobSet,
    /// Fixed job priorities: the tasks from this level on ask for the whole CPU, so a busy period of
    /// its mode may never end.
    BusyPeriodUnbounded {
        /// Which mode.
        level: Level,
        /// What they ask for in millionths, to the nearest, but at least one million.
        utilization_ppm: u64,
    },
    /// Fixed job priorities: a busy period may contain more jobs than the test follows.
    PatternTooLong {
        /// In this mode, or a lower one.
        level: Level,
        /// More than this many.
        jobs_max: u64,
    },
    /// Fixed job priorities: no job of those left passes at this priority below the others.
    NoLowestJob {
        /// The priority for which no job was found.
        priority: u32,
        /// The tasks whose jobs were left; of a finite job set the jobs.
        left: Vec<TaskId>,
    },
    /// Given job priorities: a busy period can contain more jobs of the task than its list has entries.
    JobListTooShort {
        /// Whose list.
        task: TaskId,
        /// How many jobs there can be.
        jobs: u64,
        /// How long the list is.
        found: u64,
    },
    /// Given job priorities: a job of a busy period and those above it may need longer than it has.
    ListedJobLate {
        /// Whose job.
        task: TaskId,
        /// Which of its jobs in a busy period, counted from 1.
        job: u64,
        /// What all of them need.
        needed: Duration,
        /// When the job is due, counted from the start of the busy period.
        due: Duration,
    },
    /// Period transformation would cut the jobs of this task into more slices than there may be
    /// ([`vestal_core::SliceCount::new`]): the periods of less critical tasks are too short.
    TooManySlices {
        /// Which task.
        task: TaskId,
    },
    /// Period transformation by servers: the server of this task does not get its capacity in each
    /// period, or that does not supply a job before its deadline.
    ServerTooSmall {
        /// Which task.
        task: TaskId,
    },
    /// The reason of a test that is not part of this crate ([`crate::Test::own`]): one sentence
    /// without a full stop.
    Own(String),
}

/// The names of tasks and levels for messages. A name that is missing is replaced by the number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// Task names in task order.
    pub tasks: &'a [String],
    /// Level names, lowest first.
    pub levels: &'a [String],
}

impl Reason {
    /// The reason in words, with these names.
    #[must_use]
    pub fn with_names<'a>(&'a self, names: Names<'a>) -> impl fmt::Display + 'a {
        NamedReason {
            reason: self,
            names,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        NamedReason {
            reason: self,
            names: Names::default(),
        }
        .fmt(f)
    }
}

struct NamedReason<'a> {
    reason: &'a Reason,
    names: Names<'a>,
}

impl NamedReason<'_> {
    fn task(&self, f: &mut fmt::Formatter<'_>, task: TaskId) -> fmt::Result {
        match self.names.tasks.get(task.index()) {
            Some(name) => f.write_str(name),
            None => write!(f, "task {}", task.0),
        }
    }

    fn list(&self, f: &mut fmt::Formatter<'_>, tasks: &[TaskId]) -> fmt::Result {
        for (position, task) in tasks.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            self.task(f, *task)?;
        }
        Ok(())
    }

    fn level(&self, f: &mut fmt::Formatter<'_>, level: Level) -> fmt::Result {
        match self.names.levels.get(level.index()) {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", level.0),
        }
    }
}

impl fmt::Display for NamedReason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::Own(why) => f.write_str(why),
            Reason::ServerTooSmall { task } => {
                f.write_str("the server of ")?;
                self.task(f, *task)?;
                f.write_str(" may not supply a whole job before the deadline")
            }
            Reason::TooManySlices { task } => {
                f.write_str("the jobs of ")?;
                self.task(f, *task)?;
                f.write_str(
                    " would have to be cut into too many slices to fit between those of less \
                     critical tasks",
                )
            }
            Reason::JobSet => f.write_str("the test is for tasks, this is a finite job set"),
            Reason::NotJobSet => f.write_str("the test is for finite job sets, these are tasks"),
            Reason::BusyPeriodUnbounded {
                level,
                utilization_ppm,
            } => {
                f.write_str("a busy period may never end: in mode ")?;
                self.level(f, *level)?;
                f.write_str(" the tasks ask for ")?;
                write_millionths(f, *utilization_ppm)?;
                f.write_str(" of the CPU")
            }
            Reason::PatternTooLong { level, jobs_max } => {
                write!(f, "not decided: a busy period of mode ")?;
                self.level(f, *level)?;
                write!(f, " may contain more than {jobs_max} jobs")
            }
            Reason::NoLowestJob { priority, left } => {
                write!(
                    f,
                    "no job of those left meets its deadline at job priority {priority} below the \
                     others; left are jobs of: "
                )?;
                self.list(f, left)
            }
            Reason::JobListTooShort { task, jobs, found } => {
                write!(f, "a busy period may contain {jobs} jobs of ")?;
                self.task(f, *task)?;
                write!(f, ", for which its list has {found} priorities")
            }
            Reason::ListedJobLate {
                task,
                job,
                needed,
                due,
            } => {
                write!(f, "job {job} of ")?;
                self.task(f, *task)?;
                f.write_str(" in a busy period and those before it may need ")?;
                write_time(f, *needed)?;
                f.write_str(", it is due after ")?;
                write_time(f, *due)
            }
            Reason::WcetExceedsDeadline { task } => {
                self.task(f, *task)?;
                f.write_str(" needs more than its deadline at its own level, even when it is alone")
            }
            Reason::ResponseExceedsDeadline {
                task,
                level,
                at_least,
                deadline,
            } => {
                self.task(f, *task)?;
                f.write_str(" may take ")?;
                write_time(f, *at_least)?;
                f.write_str(" or more in runs of level ")?;
                self.level(f, *level)?;
                f.write_str(", its deadline is ")?;
                write_time(f, *deadline)
            }
            Reason::NobodyFits { priority, left } => {
                write!(
                    f,
                    "no task meets its deadline at priority {priority}; left for it: "
                )?;
                self.list(f, left)
            }
            Reason::DegradedBudget { task } => {
                self.task(f, *task)?;
                f.write_str(
                    " keeps a degraded budget in modes above its own level; this test covers only \
                     tasks that are dropped then",
                )
            }
            Reason::NotTwoLevels { found } => {
                write!(
                    f,
                    "the test is for sets with two levels, this one has {found}"
                )
            }
            Reason::ConstrainedDeadline { task } => {
                f.write_str("the test is for deadlines equal to the periods; ")?;
                self.task(f, *task)?;
                f.write_str(" has a shorter one")
            }
            Reason::SearchLimit { steps } => {
                write!(
                    f,
                    "not decided: the search limit was reached after {steps} steps"
                )
            }
            Reason::Overload { utilization_ppm } => {
                f.write_str("the tasks ask for ")?;
                write_millionths(f, *utilization_ppm)?;
                f.write_str(" of the CPU")
            }
            Reason::DemandExceedsWindow { window, demand } => {
                f.write_str("jobs that are released and due within ")?;
                write_time(f, *window)?;
                f.write_str(" may need ")?;
                write_time(f, *demand)
            }
            Reason::Utilizations {
                low_ppm,
                high_at_low_ppm,
                high_ppm,
            } => {
                f.write_str("the utilisations exceed what the test accepts: ")?;
                self.level(f, Level(0))?;
                f.write_str(" tasks ")?;
                write_millionths(f, *low_ppm)?;
                f.write_str(", ")?;
                self.level(f, Level(1))?;
                f.write_str(" tasks ")?;
                write_millionths(f, *high_at_low_ppm)?;
                f.write_str(" at ")?;
                self.level(f, Level(0))?;
                f.write_str(" and ")?;
                write_millionths(f, *high_ppm)?;
                f.write_str(" at ")?;
                self.level(f, Level(1))
            }
            Reason::LowVirtualDeadline { task } => {
                f.write_str("only deadlines of ")?;
                self.level(f, Level(1))?;
                f.write_str(" tasks may be shortened; the virtual deadline of ")?;
                self.task(f, *task)?;
                f.write_str(" is not its deadline")
            }
            Reason::VirtualDeadlines {
                mode_0_ppm,
                mode_1_ppm,
            } => {
                f.write_str("with these virtual deadlines the tasks ask for ")?;
                write_millionths(f, *mode_0_ppm)?;
                f.write_str(" of the CPU in mode ")?;
                self.level(f, Level(0))?;
                f.write_str(" and for ")?;
                write_millionths(f, *mode_1_ppm)?;
                f.write_str(" in mode ")?;
                self.level(f, Level(1))
            }
        }
    }
}

/// Writes a number of millionths as a decimal fraction.
fn write_millionths(f: &mut fmt::Formatter<'_>, millionths: u64) -> fmt::Result {
    write!(
        f,
        "{}.{:06}",
        millionths / 1_000_000,
        millionths % 1_000_000
    )
}

/// Writes a time exactly, in the largest unit in which it is at least 1.
fn write_time(f: &mut fmt::Formatter<'_>, time: Duration) -> fmt::Result {
    let nanos = time.as_nanos();
    let (unit, digits, name) = match nanos {
        1_000_000_000.. => (1_000_000_000, 9, "s"),
        1_000_000.. => (1_000_000, 6, "ms"),
        1_000.. => (1_000, 3, "us"),
        _ => (1, 0, "ns"),
    };
    write!(f, "{}", nanos / unit)?;
    let fraction = nanos % unit;
    if fraction > 0 {
        let text = format!("{fraction:0digits$}");
        write!(f, ".{}", text.trim_end_matches('0'))?;
    }
    write!(f, " {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_tasks_and_levels_where_names_are_known() {
        let reason = Reason::ResponseExceedsDeadline {
            task: TaskId(1),
            level: Level(0),
            at_least: Duration::from_nanos(1_450_000),
            deadline: Duration::from_nanos(999),
        };
        let tasks = ["sensor".to_owned(), "video".to_owned()];
        let levels = ["LO".to_owned()];
        let names = Names {
            tasks: &tasks,
            levels: &levels,
        };
        assert_eq!(
            reason.with_names(names).to_string(),
            "video may take 1.45 ms or more in runs of level LO, its deadline is 999 ns"
        );
        assert_eq!(
            reason.to_string(),
            "task 1 may take 1.45 ms or more in runs of level 0, its deadline is 999 ns"
        );
        let left = Reason::NobodyFits {
            priority: 2,
            left: vec![TaskId(0), TaskId(4)],
        };
        assert_eq!(
            left.with_names(names).to_string(),
            "no task meets its deadline at priority 2; left for it: sensor, task 4"
        );
        let own = Reason::Own("the moon is full".to_owned());
        assert_eq!(own.with_names(names).to_string(), "the moon is full");
    }
}
