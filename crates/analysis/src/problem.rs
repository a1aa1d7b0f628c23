//! What is to be proved: sporadic tasks with criticality levels on one CPU.

use crate::finite_jobs::FiniteJob;
use core::fmt;
use vestal_core::model::{LEVELS_MAX, TASKS_MAX};
use vestal_core::time::HORIZON_NANOS;
use vestal_core::{Duration, Level, LevelSet, SliceCount, Task, TaskError, TaskId};

/// Which release patterns the tasks can produce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phasing {
    /// Any task may be released together with any others: sporadic tasks, periodic tasks of unknown
    /// phase, or periodic tasks of equal offset.
    #[default]
    Arbitrary,
    /// Offsets are known and differ, so that all tasks may never be released together. A test that
    /// is exact for arbitrary phases is then only sufficient. Also the value to choose where jobs
    /// are withdrawn at their deadlines: the run in which a task misses may then not exist either.
    Restricted,
}

/// A set of constrained-deadline sporadic tasks, and optionally the priorities, virtual deadlines or
/// zero-slack instants they have; or a finite set of jobs ([`Problem::of_jobs`]).
///
/// Invariants: every deadline is in 1..=T, every criticality is a level of the set, every period
/// is at most [`HORIZON_NANOS`] (so a demand that saturates exceeds every deadline), every given
/// virtual deadline is in 1..=D, every given zero-slack instant in 0..=D, every given number of
/// slices fits its task.
#[derive(Clone, Debug)]
pub struct Problem {
    tasks: Vec<Task>,
    rows: Vec<Row>,
    levels: LevelSet,
    priorities: Option<Vec<u32>>,
    virtual_deadlines: Option<Vec<Duration>>,
    zero_slack: Option<Vec<Duration>>,
    slices: Option<Vec<SliceCount>>,
    job_priorities: Option<Vec<Vec<u32>>>,
    /// A finite job set instead of tasks.
    pub(crate) jobs: Vec<FiniteJob>,
    phasing: Phasing,
}

impl Problem {
    /// The problem of `tasks` with `levels` criticality levels, phases arbitrary and priorities for
    /// the test to choose.
    ///
    /// # Errors
    /// Any of [`ProblemError`] except [`ProblemError::Priorities`] and those about virtual deadlines
    /// and zero-slack instants.
    pub fn new(tasks: Vec<Task>, levels: LevelSet) -> Result<Self, ProblemError> {
        if tasks.len() > TASKS_MAX {
            return Err(ProblemError::TooManyTasks { found: tasks.len() });
        }
        for (index, task) in tasks.iter().enumerate() {
            check(task_id(index), task, levels)?;
        }
        let rows = tasks
            .iter()
            .enumerate()
            .map(|(index, task)| Row::new(index, task))
            .collect();
        Ok(Self {
            tasks,
            rows,
            levels,
            priorities: None,
            virtual_deadlines: None,
            zero_slack: None,
            slices: None,
            job_priorities: None,
            jobs: Vec::new(),
            phasing: Phasing::Arbitrary,
        })
    }

    /// The same tasks (or jobs of a finite set) with given priorities, one for each, larger = more
    /// urgent. Among equal ones the one that comes first in the set is the more urgent.
    ///
    /// # Errors
    /// [`ProblemError::Priorities`] if there is not exactly one priority for each task.
    pub fn with_priorities(mut self, priorities: Vec<u32>) -> Result<Self, ProblemError> {
        let count = self.tasks.len() + self.jobs.len();
        if priorities.len() != count {
            return Err(ProblemError::Priorities {
                tasks: count,
                priorities: priorities.len(),
            });
        }
        self.priorities = Some(priorities);
        Ok(self)
    }

    /// The same tasks with given relative virtual deadlines, one for each task: above zero and at
    /// most its deadline. Tests of policies that use none ignore them.
    ///
    /// # Errors
    /// [`ProblemError::VirtualDeadlines`] if there is not exactly one for each task,
    /// [`ProblemError::VirtualDeadline`] if one is zero or after its task's deadline.
    pub fn with_virtual_deadlines(mut self, given: Vec<Duration>) -> Result<Self, ProblemError> {
        if given.len() != self.tasks.len() {
            return Err(ProblemError::VirtualDeadlines {
                tasks: self.tasks.len(),
                virtual_deadlines: given.len(),
            });
        }
        let pairs = self.tasks.iter().zip(&given);
        let mut fits = pairs.map(|(task, due)| !due.is_zero() && *due <= task.deadline);
        if let Some(index) = fits.position(|fits| !fits) {
            let task = task_id(index);
            return Err(ProblemError::VirtualDeadline { task });
        }
        self.virtual_deadlines = Some(given);
        Ok(self)
    }

    /// The same tasks with given zero-slack instants, one for each task and counted from its release:
    /// at most its deadline. Tests of policies that use none ignore them.
    ///
    /// # Errors
    /// [`ProblemError::ZeroSlackInstants`] if there is not exactly one for each task,
    /// [`ProblemError::ZeroSlackInstant`] if one is after its task's deadline.
    pub fn with_zero_slack(mut self, given: Vec<Duration>) -> Result<Self, ProblemError> {
        if given.len() != self.tasks.len() {
            return Err(ProblemError::ZeroSlackInstants {
                tasks: self.tasks.len(),
                instants: given.len(),
            });
        }
        let mut pairs = self.tasks.iter().zip(&given);
        if let Some(index) = pairs.position(|(task, after)| *after > task.deadline) {
            let task = task_id(index);
            return Err(ProblemError::ZeroSlackInstant { task });
        }
        self.zero_slack = Some(given);
        Ok(self)
    }

    /// The same tasks, their jobs cut into given numbers of slices, one for each task. Tests of
    /// policies without slices ignore them.
    ///
    /// # Errors
    /// [`ProblemError::Slices`] if there is not exactly one for each task, [`ProblemError::SliceCount`]
    /// if one is not for its task ([`SliceCount::new`]).
    pub fn with_slices(mut self, given: Vec<SliceCount>) -> Result<Self, ProblemError> {
        if given.len() != self.tasks.len() {
            return Err(ProblemError::Slices {
                tasks: self.tasks.len(),
                slices: given.len(),
            });
        }
        let mut pairs = self.tasks.iter().zip(&given);
        if let Some(index) =
            pairs.position(|(task, count)| SliceCount::new(count.get(), task).is_none())
        {
            let task = task_id(index);
            return Err(ProblemError::SliceCount { task });
        }
        self.slices = Some(given);
        Ok(self)
    }

    /// The same tasks with given job priorities, a list for each task: the priorities of its first,
    /// second, ... job in a busy period, larger = more urgent. Tests of policies that use none ignore
    /// them.
    ///
    /// # Errors
    /// [`ProblemError::JobPriorities`] if there is not exactly one list for each task, each of them
    /// strictly decreasing, or if two have an entry in common.
    pub fn with_job_priorities(mut self, given: Vec<Vec<u32>>) -> Result<Self, ProblemError> {
        let mut all: Vec<u32> = given.iter().flatten().copied().collect();
        all.sort_unstable();
        let falls = |list: &Vec<u32>| list.windows(2).all(|pair| pair[0] > pair[1]);
        let distinct = all.windows(2).all(|pair| pair[0] != pair[1]);
        if given.len() != self.tasks.len() || !given.iter().all(falls) || !distinct {
            return Err(ProblemError::JobPriorities);
        }
        self.job_priorities = Some(given);
        Ok(self)
    }

    /// The same tasks with what is known about their phases.
    #[must_use]
    pub fn with_phasing(mut self, phasing: Phasing) -> Self {
        self.phasing = phasing;
        self
    }

    /// The tasks; a [`TaskId`] is a place in this table.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The criticality levels of the set.
    #[must_use]
    pub fn levels(&self) -> LevelSet {
        self.levels
    }

    /// The given priorities in task order, larger = more urgent.
    #[must_use]
    pub fn priorities(&self) -> Option<&[u32]> {
        self.priorities.as_deref()
    }

    /// The given relative virtual deadlines in task order.
    #[must_use]
    pub fn virtual_deadlines(&self) -> Option<&[Duration]> {
        self.virtual_deadlines.as_deref()
    }

    /// The given zero-slack instants in task order.
    #[must_use]
    pub fn zero_slack(&self) -> Option<&[Duration]> {
        self.zero_slack.as_deref()
    }

    /// The given numbers of slices in task order.
    #[must_use]
    pub fn slices(&self) -> Option<&[SliceCount]> {
        self.slices.as_deref()
    }

    /// The given job-priority lists in task order.
    #[must_use]
    pub fn job_priorities(&self) -> Option<&[Vec<u32>]> {
        self.job_priorities.as_deref()
    }

    /// What is known about the phases.
    #[must_use]
    pub fn phasing(&self) -> Phasing {
        self.phasing
    }

    /// The tasks as the analyses read them, in task order.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// A task as plain numbers, small enough that a set of them stays in the nearest cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// T_i in ns.
    pub(crate) period: u64,
    /// D_i in ns, at most T_i.
    pub(crate) deadline: u64,
    /// C_i(l) in ns for every level l, at least 1: see [`Row::new`].
    pub(crate) wcet: [u64; LEVELS_MAX],
    /// Below how many levels C_i(l) is 0.
    pub(crate) zeros: usize,
    /// z_i, below [`LEVELS_MAX`].
    pub(crate) criticality: usize,
    /// The task's place in the problem.
    pub(crate) task: usize,
}

impl Row {
    /// A job that needs nothing at a level counts for a nanosecond there: it is incomplete until the CPU is
    /// free for it, which in a busy period that lasts it never is. An equation that takes it for complete
    /// once nobody else has work left, and lets the mode change by then, accepts sets that miss deadlines.
    fn new(index: usize, task: &Task) -> Self {
        let mut wcet = [0; LEVELS_MAX];
        for (level, value) in (0..).map(Level).zip(&mut wcet) {
            *value = task.wcet.at(level).as_nanos();
        }
        let zeros = wcet.iter().take_while(|&&value| value == 0).count();
        wcet[..zeros].fill(1);
        Self {
            period: task.period.as_nanos(),
            deadline: task.deadline.as_nanos(),
            wcet,
            zeros,
            criticality: task.criticality.index(),
            task: index,
        }
    }

    /// C_i(l), also if it is 0: for demand bounds, which ask for no instant at which a job is complete.
    pub(crate) const fn exact_wcet(&self, level: usize) -> u64 {
        if level < self.zeros {
            0
        } else {
            self.wcet[level]
        }
    }

    /// C_i(z_i).
    pub(crate) fn own_wcet(&self) -> u64 {
        self.wcet[self.criticality]
    }
}

/// The name of the task at `index` of a problem. A problem has at most [`TASKS_MAX`] tasks.
pub(crate) fn task_id(index: usize) -> TaskId {
    TaskId(u16::try_from(index).unwrap_or(u16::MAX))
}

fn check(id: TaskId, task: &Task, levels: LevelSet) -> Result<(), ProblemError> {
    Task::new(task.criticality, task.period, task.deadline, task.wcet)
        .map_err(|error| ProblemError::Task { task: id, error })?;
    if task.criticality > levels.highest() {
        return Err(ProblemError::UnknownLevel {
            task: id,
            criticality: task.criticality,
            levels: levels.count(),
        });
    }
    if task.period.as_nanos() > HORIZON_NANOS {
        return Err(ProblemError::PeriodBeyondHorizon { task: id });
    }
    Ok(())
}

/// Why tasks do not make up a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemError {
    /// A task is not well-formed.
    Task {
        /// Which one.
        task: TaskId,
        /// What is wrong with it.
        error: TaskError,
    },
    /// A task's criticality is not a level of the set.
    UnknownLevel {
        /// Whose criticality.
        task: TaskId,
        /// The level it names.
        criticality: Level,
        /// How many levels there are.
        levels: usize,
    },
    /// A period is longer than any world runs ([`HORIZON_NANOS`]).
    PeriodBeyondHorizon {
        /// Whose period.
        task: TaskId,
    },
    /// More tasks than [`TASKS_MAX`].
    TooManyTasks {
        /// How many there were.
        found: usize,
    },
    /// Not exactly one priority for each task.
    Priorities {
        /// The number of tasks.
        tasks: usize,
        /// The number of priorities.
        priorities: usize,
    },
    /// Not exactly one virtual deadline for each task.
    VirtualDeadlines {
        /// The number of tasks.
        tasks: usize,
        /// The number of virtual deadlines.
        virtual_deadlines: usize,
    },
    /// Not exactly one number of slices for each task.
    Slices {
        /// The number of tasks.
        tasks: usize,
        /// The number of numbers of slices.
        slices: usize,
    },
    /// A number of slices does not fit its task.
    SliceCount {
        /// Whose number.
        task: TaskId,
    },
    /// A virtual deadline is zero or after the task's deadline.
    VirtualDeadline {
        /// Whose virtual deadline.
        task: TaskId,
    },
    /// Not exactly one zero-slack instant for each task.
    ZeroSlackInstants {
        /// The number of tasks.
        tasks: usize,
        /// The number of instants.
        instants: usize,
    },
    /// A zero-slack instant is after the task's deadline.
    ZeroSlackInstant {
        /// Whose instant.
        task: TaskId,
    },
    /// The job-priority lists are not one strictly decreasing list for each task, or two of them
    /// have an entry in common.
    JobPriorities,
    /// A job of a finite set is not due after its release, or beyond the horizon.
    JobWindow {
        /// Which job.
        job: TaskId,
    },
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task { task, error } => write!(f, "task {}: {error}", task.0),
            Self::UnknownLevel {
                task,
                criticality,
                levels,
            } => write!(
                f,
                "task {} has criticality {}, but the set has only {levels} levels, counted from 0",
                task.0, criticality.0
            ),
            Self::PeriodBeyondHorizon { task } => write!(
                f,
                "the period of task {} is above {HORIZON_NANOS} ns, the longest time supported",
                task.0
            ),
            Self::TooManyTasks { found } => {
                write!(f, "{found} tasks, at most {TASKS_MAX} are supported")
            }
            Self::Priorities { tasks, priorities } => {
                write!(
                    f,
                    "{priorities} priorities for {tasks} tasks; each task needs exactly one"
                )
            }
            Self::VirtualDeadlines {
                tasks,
                virtual_deadlines,
            } => write!(
                f,
                "{virtual_deadlines} virtual deadlines for {tasks} tasks; each task needs exactly one"
            ),
            Self::Slices { tasks, slices } => write!(
                f,
                "{slices} numbers of slices for {tasks} tasks; each task needs exactly one"
            ),
            Self::SliceCount { task } => write!(
                f,
                "the jobs of task {} cannot be cut into so many slices",
                task.0
            ),
            Self::VirtualDeadline { task } => write!(
                f,
                "the virtual deadline of task {} is zero or after its deadline",
                task.0
            ),
            Self::ZeroSlackInstants { tasks, instants } => write!(
                f,
                "{instants} zero-slack instants for {tasks} tasks; each task needs exactly one"
            ),
            Self::ZeroSlackInstant { task } => write!(
                f,
                "the zero-slack instant of task {} is after its deadline",
                task.0
            ),
            Self::JobPriorities => f.write_str(
                "the job priorities are not one strictly decreasing list for each task, without an entry in two",
            ),
            Self::JobWindow { job } => write!(
                f,
                "job {} is not due after its release, or after {HORIZON_NANOS} ns",
                job.0
            ),
        }
    }
}

impl core::error::Error for ProblemError {}
