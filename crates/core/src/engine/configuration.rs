//! What a one-CPU engine is built from.

use crate::enforce::{Enforcement, Exhaustion};
use crate::engine::table_error::TableError;
use crate::model::{Level, LevelSet, TASKS_MAX};
use crate::order::SliceCount;
use crate::task_configuration::TaskConfiguration;
use crate::time::{Duration, Service};
use core::fmt;

/// A fixed-priority policy on one CPU: order and enforcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration<'a> {
    /// The tasks; a [`crate::TaskId`] is the place in this list.
    pub tasks: &'a [TaskConfiguration],
    /// How many levels there are.
    pub levels: LevelSet,
    /// How long jobs may run.
    pub enforcement: Enforcement,
    /// What happens to a job that used up its own level's limit.
    pub exhaustion: Exhaustion,
    /// The smallest budget the world can enforce: a smaller remainder counts as exhausted (C2).
    pub granularity: Service,
    /// How late the world may wake the scheduler before that is worth a notice (C6).
    pub wake_granularity: Duration,
}

/// The order in which admitted jobs of one CPU go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskOrder<'a> {
    /// By [`TaskConfiguration::priority`].
    FixedPriority,
    /// By absolute deadline (EDF). In mode 0 a job counts as due at its release plus its task's
    /// *virtual* deadline, in higher modes at its real one (EDF-VD; Baruah et al., ECRTS 2012).
    /// With virtual deadlines equal to the real ones this is plain EDF. Priorities are not used.
    EarliestDeadline {
        /// For each task its relative virtual deadline: positive, at most its deadline.
        virtual_deadlines: &'a [Duration],
    },
    /// Each job has its own fixed priority, taken from its task's list when it is admitted (PLRS).
    /// Priorities of tasks are not used.
    JobLists {
        /// For each task its list L_i, strictly decreasing; see [`crate::order::JobLists`].
        lists: &'a [&'a [u32]],
    },
    /// The same with priorities above those of pending jobs computed anew when jobs arrive (Li and
    /// Baruah); see [`crate::order::RecomputedLists`].
    RecomputedLists {
        /// For each task its list, as above.
        lists: &'a [&'a [u32]],
    },
    /// By [`TaskConfiguration::priority`], and each job is given its static limit in slices (PT); see
    /// [`crate::order::Slices`].
    Slices {
        /// For each task into how many slices its jobs are cut.
        counts: &'a [SliceCount],
    },
}

/// A configuration that no engine can be built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigurationError {
    /// There is no task.
    NoTasks,
    /// More tasks than a task number can tell apart, or than the storage holds.
    TooManyTasks {
        /// How many there were.
        found: usize,
    },
    /// A task's criticality is not among the levels.
    UnknownLevel {
        /// Its place in the list.
        task: usize,
        /// Its criticality.
        level: Level,
    },
    /// The lists of job priorities are not one for each task, not strictly decreasing, or longer than
    /// the storage.
    JobLists,
    /// A virtual deadline is missing, zero, or after its task's deadline.
    VirtualDeadline {
        /// The task's place in the list.
        task: usize,
    },
    /// A number of slices is missing or not for this task, or limits are not static.
    Slices {
        /// The task's place in the list.
        task: usize,
    },
    /// A zero-slack instant is after its task's deadline.
    ZeroSlack {
        /// The task's place in the list.
        task: usize,
    },
    /// Zero-slack instants with another order than fixed task priorities.
    ZeroSlackOrder,
    /// A table does not fit the tasks.
    Table(TableError),
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTasks => f.write_str("there is no task to schedule"),
            Self::TooManyTasks { found } => {
                write!(f, "{found} tasks are more than there is room for")
            }
            Self::UnknownLevel {
                task,
                level: Level(level),
            } => {
                write!(
                    f,
                    "task {task} has criticality {level}, which is not among the levels"
                )
            }
            Self::JobLists => f.write_str(
                "the job-priority lists are not one strictly decreasing list for each task",
            ),
            Self::VirtualDeadline { task } => write!(
                f,
                "the virtual deadline of task {task} is missing, zero or after its deadline"
            ),
            Self::Slices { task } => write!(
                f,
                "the number of slices of task {task} is missing or too large, or limits are not static"
            ),
            Self::ZeroSlack { task } => write!(
                f,
                "the zero-slack instant of task {task} is after its deadline"
            ),
            Self::ZeroSlackOrder => {
                f.write_str("zero-slack instants go with fixed task priorities only")
            }
            Self::Table(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConfigurationError {}

impl Configuration<'_> {
    /// Checks what construction relies on.
    pub(crate) fn check(&self) -> Result<(), ConfigurationError> {
        if self.tasks.is_empty() {
            return Err(ConfigurationError::NoTasks);
        }
        // The largest number is never given out: tables use it for "nobody".
        if self.tasks.len() >= TASKS_MAX {
            return Err(ConfigurationError::TooManyTasks {
                found: self.tasks.len(),
            });
        }
        for (index, entry) in (0..self.tasks.len()).zip(self.tasks) {
            if entry.task.criticality > self.levels.highest() {
                let level = entry.task.criticality;
                return Err(ConfigurationError::UnknownLevel { task: index, level });
            }
            if self.enforcement == Enforcement::ZeroSlack
                && entry.critical_after() > entry.task.deadline
            {
                return Err(ConfigurationError::ZeroSlack { task: index });
            }
        }
        Ok(())
    }

    /// Checks the order against the tasks.
    pub(crate) fn check_order(&self, order: TaskOrder<'_>) -> Result<(), ConfigurationError> {
        let virtual_deadlines = match order {
            TaskOrder::FixedPriority => return Ok(()),
            TaskOrder::JobLists { .. }
            | TaskOrder::RecomputedLists { .. }
            | TaskOrder::EarliestDeadline { .. }
                if self.enforcement == Enforcement::ZeroSlack =>
            {
                return Err(ConfigurationError::ZeroSlackOrder);
            }
            TaskOrder::JobLists { lists } | TaskOrder::RecomputedLists { lists } => {
                return match lists.len() == self.tasks.len() {
                    true => Ok(()),
                    false => Err(ConfigurationError::JobLists),
                };
            }
            TaskOrder::Slices { counts } => return self.check_slices(counts),
            TaskOrder::EarliestDeadline { virtual_deadlines } => virtual_deadlines,
        };
        for (index, entry) in (0..self.tasks.len()).zip(self.tasks) {
            match virtual_deadlines.get(index) {
                Some(due) if !due.is_zero() && *due <= entry.task.deadline => {}
                Some(_) | None => return Err(ConfigurationError::VirtualDeadline { task: index }),
            }
        }
        Ok(())
    }

    /// Slices divide static limits: one number for each task, made for that task.
    pub(crate) fn check_slices(&self, counts: &[SliceCount]) -> Result<(), ConfigurationError> {
        let fits = |(entry, count): (&TaskConfiguration, &SliceCount)| {
            SliceCount::new(count.get(), &entry.task).is_some()
        };
        let pairs = self.tasks.iter().zip(counts);
        let all = pairs.take_while(|&pair| fits(pair)).count();
        if all < self.tasks.len() || self.enforcement != Enforcement::Static {
            return Err(ConfigurationError::Slices { task: all });
        }
        Ok(())
    }
}
