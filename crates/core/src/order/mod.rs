//! The order in which admitted jobs of one CPU go: by fixed priorities of tasks, by deadlines, or by
//! priorities that each job has.
//!
//! A policy says which ([`TaskOrder`]); what an engine has to remember for it is in `Order`, behind one
//! small interface: how urgent a job is. The engine does not know which order it has.
//!
//! A new order is a file of this room and a line in each `match` of this one.

mod classic;
mod edf_vd;
mod lists;
mod ocbp;
mod plrs;

pub use classic::ClassicOrder;
pub use lists::JobPriority;
pub use ocbp::RecomputedLists;
pub use plrs::ReusedLists;

use crate::configuration_error::ConfigurationError;
use crate::ids::TaskId;
use crate::model::Level;
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use crate::time::{Duration, Instant};
use crate::urgency::Urgency;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use edf_vd::VirtualDeadlines;

/// The order in which admitted jobs of one CPU go, with what it takes: borrowed or owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskOrder<'a> {
    /// By [`TaskConfiguration::priority`].
    FixedPriority,
    /// By absolute deadline (EDF). In mode 0 a job counts as due at its release plus its task's
    /// *virtual* deadline, in higher modes at its real one (EDF-VD; Baruah et al., ECRTS 2012).
    /// With virtual deadlines equal to the real ones this is plain EDF. Priorities are not used.
    EarliestDeadline {
        /// For each task its relative virtual deadline: positive, at most its deadline.
        virtual_deadlines: Cow<'a, [Duration]>,
        /// How ready jobs are kept: it changes no decision, only what decisions cost.
        queues: DeadlineQueues,
    },
    /// Each job has its own fixed priority, taken from its task's list when it is admitted, and lists are
    /// reused (PLRS). Priorities of tasks are not used.
    ReusedLists {
        /// For each task its list L_i, strictly decreasing; see [`ReusedLists`].
        lists: Cow<'a, [Cow<'a, [u32]>]>,
    },
    /// The same with priorities above those of pending jobs computed anew when jobs arrive (Li and
    /// Baruah's on-line OCBP); see [`RecomputedLists`].
    RecomputedLists {
        /// For each task its list, as above.
        lists: Cow<'a, [Cow<'a, [u32]>]>,
    },
}

/// How many queues of ready jobs there are under EDF-VD (Sigrist et al., RTAS 2015, section V-B).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeadlineQueues {
    /// One, sorted anew when the mode rises: O(n log n).
    #[default]
    One,
    /// One in the order of mode 0, and one of those that stay when the mode rises, in the order of the modes above.
    /// A rise sorts nothing; each job of a task that stays costs two insertions and removals in mode 0. An engine without a
    /// heap of its own has room for both whatever its order.
    Two,
}

/// Why fixed priorities cannot carry out what orders jobs by deadline.
pub const BY_DEADLINE: &str = "fixed priorities cannot order jobs by deadline";
/// Why they cannot give each job its own.
pub const BY_JOB: &str = "fixed priorities of tasks cannot give each job its own";

/// What an order says of a task's urgency before any job is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank<'a> {
    /// Its priority; larger is more urgent.
    Priority(u32),
    /// After which time its jobs count as due in mode 0.
    DueAfter(Duration),
    /// The priorities of its jobs.
    Jobs(&'a [u32]),
}

/// Borrowed lists of job priorities, as a [`TaskOrder`] takes them.
#[must_use]
pub fn lists_of<'a>(lists: &'a [&'a [u32]]) -> Vec<Cow<'a, [u32]>> {
    lists.iter().copied().map(Cow::Borrowed).collect()
}

impl TaskOrder<'_> {
    /// Whether the order among tasks never changes.
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        matches!(self, Self::FixedPriority)
    }

    /// Whether ready jobs are to be kept in two queues.
    pub(crate) const fn has_two_queues(&self) -> bool {
        matches!(
            self,
            Self::EarliestDeadline {
                queues: DeadlineQueues::Two,
                ..
            }
        )
    }

    /// Why fixed priorities of tasks cannot carry the order out, in one sentence without a full stop;
    /// `None` if they can.
    #[must_use]
    pub const fn beyond_fixed_priorities(&self) -> Option<&'static str> {
        match self {
            Self::FixedPriority => None,
            Self::EarliestDeadline { .. } => Some(BY_DEADLINE),
            Self::ReusedLists { .. } | Self::RecomputedLists { .. } => Some(BY_JOB),
        }
    }

    /// What it says of the task with this index, and this configuration.
    #[must_use]
    pub fn rank(&self, task: usize, entry: &TaskConfiguration) -> Rank<'_> {
        match self {
            Self::FixedPriority => Rank::Priority(entry.priority),
            Self::EarliestDeadline {
                virtual_deadlines, ..
            } => {
                let due = virtual_deadlines.get(task).copied();
                Rank::DueAfter(due.unwrap_or(Duration::ZERO))
            }
            Self::ReusedLists { lists } | Self::RecomputedLists { lists } => {
                Rank::Jobs(lists.get(task).map_or(&[], |list| list))
            }
        }
    }

    /// Checks what the order needs of tasks.
    pub(crate) fn check(&self, tasks: &[TaskConfiguration]) -> Result<(), ConfigurationError> {
        match self {
            Self::FixedPriority => Ok(()),
            Self::EarliestDeadline {
                virtual_deadlines, ..
            } => edf_vd::check(virtual_deadlines, tasks),
            Self::ReusedLists { lists } | Self::RecomputedLists { lists } => {
                match lists.len() == tasks.len() {
                    true => Ok(()),
                    false => Err(ConfigurationError::JobLists),
                }
            }
        }
    }
}

/// A job as an order sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranked<'a> {
    pub(crate) task: TaskId,
    pub(crate) entry: &'a TaskConfiguration,
    pub(crate) mode: Level,
    pub(crate) released: Instant,
    /// Its own priority, where jobs have one.
    pub(crate) priority: JobPriority,
}

/// What an engine remembers for its order. Each method says what it means under every order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Order<S: Store> {
    /// Nothing.
    FixedPriority,
    /// Virtual deadlines.
    EarliestDeadline(VirtualDeadlines<S>),
    /// What is left of the lists.
    ReusedLists(ReusedLists<S>),
    /// The same, with their new priorities.
    RecomputedLists(RecomputedLists<S>),
}

impl<S: Store> Order<S> {
    /// No job yet.
    pub(crate) fn new(order: &TaskOrder<'_>) -> Result<Self, ConfigurationError> {
        let made = match order {
            TaskOrder::FixedPriority => Some(Self::FixedPriority),
            TaskOrder::EarliestDeadline {
                virtual_deadlines, ..
            } => {
                let found = virtual_deadlines.len();
                let made = VirtualDeadlines::new(virtual_deadlines);
                let made = made.ok_or(ConfigurationError::TooManyTasks { found })?;
                Some(Self::EarliestDeadline(made))
            }
            TaskOrder::ReusedLists { lists } => ReusedLists::new(lists).map(Self::ReusedLists),
            TaskOrder::RecomputedLists { lists } => {
                RecomputedLists::new(lists).map(Self::RecomputedLists)
            }
        };
        made.ok_or(ConfigurationError::JobLists)
    }

    /// How urgent a job is in a mode.
    #[inline]
    pub(crate) fn urgency(&self, job: &Ranked<'_>) -> Urgency {
        match self {
            Self::FixedPriority => Urgency::of_priority(job.entry.priority),
            Self::EarliestDeadline(deadlines) => deadlines.urgency(job),
            Self::ReusedLists(_) | Self::RecomputedLists(_) => {
                let JobPriority(priority) = job.priority;
                Urgency::of_priority(priority)
            }
        }
    }

    /// Whether urgencies change when the mode rises.
    pub(crate) const fn follows_the_mode(&self) -> bool {
        matches!(self, Self::EarliestDeadline(_))
    }

    /// Whether each job gets a priority of its own when it is admitted.
    pub(crate) const fn gives_priorities(&self) -> bool {
        matches!(self, Self::ReusedLists(_) | Self::RecomputedLists(_))
    }

    /// Jobs arrive: once an instant, before the first of them gets its priority. `pending` is the most
    /// urgent job before.
    pub(crate) fn begin_arrivals(
        &mut self,
        pending: Option<JobPriority>,
        tasks: &[TaskConfiguration],
    ) {
        match self {
            Self::FixedPriority | Self::EarliestDeadline(_) => {}
            Self::ReusedLists(lists) => lists.begin_arrivals(pending),
            Self::RecomputedLists(lists) => lists.begin_arrivals(pending, tasks),
        }
    }

    /// The priority of its own that the next job of `task` gets.
    pub(crate) fn next_priority(&mut self, task: TaskId) -> JobPriority {
        match self {
            Self::FixedPriority | Self::EarliestDeadline(_) => JobPriority::BEYOND_PATTERN,
            Self::ReusedLists(lists) => lists.take(task),
            Self::RecomputedLists(lists) => lists.take(task),
        }
    }

    /// How many jobs exceeded the pattern that was proved.
    pub(crate) const fn exceeded(&self) -> u64 {
        match self {
            Self::FixedPriority | Self::EarliestDeadline(_) => 0,
            Self::ReusedLists(lists) => lists.exceeded(),
            Self::RecomputedLists(lists) => lists.exceeded(),
        }
    }

    /// At how many instants no job could be the least urgent, which a proof excludes.
    pub(crate) const fn stuck(&self) -> u64 {
        match self {
            Self::FixedPriority | Self::EarliestDeadline(_) | Self::ReusedLists(_) => 0,
            Self::RecomputedLists(lists) => lists.stuck(),
        }
    }
}
