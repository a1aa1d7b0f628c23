//! What a test found, and what that is worth.

use core::fmt;
use vestal_core::{Duration, Level, TaskId};

/// The answer of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Every guarantee holds in every run the model allows.
    Schedulable,
    /// Some run the model allows breaks a guarantee.
    Unschedulable,
    /// The test decides neither.
    NotProven,
}

/// What a test's yes and no are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Yes means schedulable, no means unschedulable.
    Exact,
    /// Yes means schedulable, no means nothing.
    Sufficient,
    /// Yes means nothing, no means unschedulable.
    Necessary,
    /// Published and refuted, kept to reproduce its paper: neither answer means anything.
    Unsafe,
}

impl Kind {
    /// The verdict that a test of this kind may give when its condition holds or fails.
    #[must_use]
    pub fn verdict(self, condition_holds: bool) -> Verdict {
        match (self, condition_holds) {
            (Self::Exact | Self::Sufficient, true) => Verdict::Schedulable,
            (Self::Exact | Self::Necessary, false) => Verdict::Unschedulable,
            (Self::Sufficient, false) | (Self::Necessary, true) | (Self::Unsafe, _) => {
                Verdict::NotProven
            }
        }
    }

    /// What the paper of an unsafe test says; `None` for every other kind.
    #[must_use]
    pub fn claim(self, condition_holds: bool) -> Option<Verdict> {
        match (self, condition_holds) {
            (Self::Unsafe, true) => Some(Verdict::Schedulable),
            (Self::Unsafe, false) => Some(Verdict::NotProven),
            (Self::Exact | Self::Sufficient | Self::Necessary, _) => None,
        }
    }
}

/// What a test found out about one problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// What the answer is worth for this problem: an exact test is only sufficient where the phases
    /// are restricted.
    pub kind: Kind,
    /// What an unsafe test's paper says; `None` for every other test.
    pub claim: Option<Verdict>,
    /// One entry for each task, in task order.
    pub tasks: Vec<TaskOutcome>,
    /// Why the condition fails, or why the test does not apply; `None` if the condition holds.
    pub why: Option<Reason>,
    /// What the test chose.
    pub parameters: Parameters,
}

/// What a test found out about one task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOutcome {
    /// Larger = more urgent; `None` if the assignment failed before this task had its place.
    pub priority: Option<u32>,
    /// The bound on the response time at level l, for each l from 0 to the task's own level;
    /// `None`: not bounded within the deadline. Empty if the test did not come that far.
    pub responses: Vec<Option<Duration>>,
}

/// What a test chose and a run may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// One for each task in task order, larger = more urgent; `None` if no complete order was found.
    pub priorities: Option<Vec<u32>>,
    /// EDF-VD's factor x: the virtual deadline of a task above level 0 is x T_i. At most 1.
    pub deadline_factor: Option<Ratio>,
    /// The relative virtual deadline of each task in task order, in whole nanoseconds and never 0;
    /// `None` if the test chooses none, or if no integers do what x does.
    pub virtual_deadlines: Option<Vec<Duration>>,
}

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    /// The numerator.
    pub numerator: u64,
    /// The denominator, never 0.
    pub denominator: u64,
}

impl Outcome {
    /// The outcome of a test of `kind` whose condition holds or fails.
    pub(crate) fn decided(kind: Kind, why: Option<Reason>, tasks: Vec<TaskOutcome>) -> Self {
        let holds = why.is_none();
        let priorities = tasks.iter().map(|task| task.priority).collect();
        Self {
            verdict: kind.verdict(holds),
            kind,
            claim: kind.claim(holds),
            tasks,
            why,
            parameters: Parameters {
                priorities,
                ..Parameters::default()
            },
        }
    }

    /// The outcome of a test whose assumptions the problem does not keep: it decides nothing.
    pub(crate) fn outside(kind: Kind, why: Reason, tasks: usize) -> Self {
        Self {
            verdict: Verdict::NotProven,
            kind,
            claim: None,
            tasks: vec![TaskOutcome::default(); tasks],
            why: Some(why),
            parameters: Parameters::default(),
        }
    }
}

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
    /// The search was given up before it had decided; a larger machine would not help, a test with
    /// a simpler bound may.
    SearchLimit {
        /// After how many steps.
        steps: u64,
    },
    /// EDF: sum of C_i(z_i) / T_i > 1.
    Overload {
        /// The sum in millionths, rounded up.
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
                for (place, task) in left.iter().enumerate() {
                    if place > 0 {
                        f.write_str(", ")?;
                    }
                    self.task(f, *task)?;
                }
                Ok(())
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
                    "not decided: the search was given up after {steps} steps"
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
    fn no_kind_says_more_than_it_may() {
        assert_eq!(Kind::Exact.verdict(true), Verdict::Schedulable);
        assert_eq!(Kind::Exact.verdict(false), Verdict::Unschedulable);
        assert_eq!(Kind::Sufficient.verdict(true), Verdict::Schedulable);
        assert_eq!(Kind::Sufficient.verdict(false), Verdict::NotProven);
        assert_eq!(Kind::Necessary.verdict(true), Verdict::NotProven);
        assert_eq!(Kind::Necessary.verdict(false), Verdict::Unschedulable);
        assert_eq!(Kind::Unsafe.verdict(true), Verdict::NotProven);
        assert_eq!(Kind::Unsafe.verdict(false), Verdict::NotProven);
        assert_eq!(Kind::Unsafe.claim(true), Some(Verdict::Schedulable));
        assert_eq!(Kind::Exact.claim(true), None);
    }

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
    }
}
