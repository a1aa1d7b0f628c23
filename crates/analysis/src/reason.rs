//! Why a test says no, in numbers and in words.

use crate::frame_reason::FrameReason;
use crate::level_reason::LevelReason;
use crate::names::{Named, Names};
use crate::served_reason::ServedReason;
use crate::shown::Time;
use core::fmt;
use vestal_core::{CpuId, Duration, Level, TaskId};

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
    /// The test is for one CPU, and the problem has more.
    SeveralCpus {
        /// How many it has.
        cpus: u16,
    },
    /// Partitioning: no CPU takes the task.
    FitsNowhere {
        /// Which task.
        task: TaskId,
        /// When a CPU takes a task.
        rule: PlacementRule,
        /// What each CPU would have to do with it, in the order of the CPUs.
        tried: Vec<CpuLoad>,
    },
    /// Partitioning: every task has a CPU, and the tasks of this one are not proved schedulable there.
    OnCpu {
        /// Which CPU.
        cpu: CpuId,
        /// Why not.
        why: Box<Reason>,
    },
    /// With overheads, for the reason in it, in which execution times are those with overheads.
    WithOverheads {
        /// Why not.
        why: Box<Reason>,
    },
    /// The test cannot take overheads into account, or not these.
    OverheadsNotTaken {
        /// Which.
        what: &'static str,
    },
    /// The test is for tasks, and the problem is a finite job set.
    JobSet,
    /// The test is for finite job sets, and the problem has tasks.
    NotJobSet,
    /// The test is about tasks that are scheduled by themselves, and the problem has servers.
    HasServers,
    /// The test is about servers, and the problem has none.
    NoServers,
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
    /// Servers: what is wrong with them, or with the tasks inside.
    Served(ServedReason),
    /// Frame tables: what is wrong with the frames, or why none were found.
    Frames(FrameReason),
    /// MC²: why a level is not proved.
    Levels(LevelReason),
    /// The reason of a test that is not part of this crate ([`crate::Test::own`]): one sentence
    /// without a full stop.
    Own(String),
}

/// When a CPU takes a task (partitioned EDF-VD), in terms of the sums over the tasks that it then has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlacementRule {
    /// In neither mode more than 3/4 of the CPU.
    ThreeQuarters,
    /// The exact condition of `edf-vd`.
    EdfVd,
}

/// The utilisations of tasks on a CPU, in millionths to the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CpuLoad {
    /// Which CPU.
    pub cpu: CpuId,
    /// a: the tasks of level 0 at level 0.
    pub low_ppm: u64,
    /// b: the tasks of level 1 at level 0.
    pub high_at_low_ppm: u64,
    /// c: the tasks of level 1 at level 1.
    pub high_ppm: u64,
}

impl Reason {
    /// Whether a search reached its limit, with overheads or without, or the levels of MC² were not decided: the test does not say
    /// that its condition fails. A pattern of jobs or a table with more jobs than are looked at counts as a condition that fails.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        if let Self::WithOverheads { why } = self {
            return why.is_undecided();
        }
        let of_levels = matches!(self, Self::Levels(why) if why.is_undecided());
        of_levels || matches!(self, Self::SearchLimit { .. })
    }

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

impl<'a> NamedReason<'a> {
    const fn task(&self, task: TaskId) -> Named<'a> {
        self.names.task(task)
    }

    const fn level(&self, level: Level) -> Named<'a> {
        self.names.level(level)
    }

    /// What each CPU would have to do; the first ones of many.
    fn loads(&self, tried: &[CpuLoad]) -> String {
        const SHOWN_MAX: usize = 8;
        let (low, high) = (self.level(Level(0)), self.level(Level(1)));
        let shown = tried.iter().take(SHOWN_MAX).map(|load| {
            format!(
                "CPU {}: {low} tasks {}, {high} tasks {} at {low} and {} at {high}",
                load.cpu.0,
                Millionths(load.low_ppm),
                Millionths(load.high_at_low_ppm),
                Millionths(load.high_ppm)
            )
        });
        let mut shown: Vec<String> = shown.collect();
        if let Some(more @ 1..) = tried.len().checked_sub(SHOWN_MAX) {
            shown.push(format!("and {more} more CPUs"));
        }
        shown.join("; ")
    }

    fn list(&self, tasks: &[TaskId]) -> String {
        let names: Vec<String> = tasks
            .iter()
            .map(|&task| self.task(task).to_string())
            .collect();
        names.join(", ")
    }
}

impl fmt::Display for NamedReason<'_> {
    #[expect(
        clippy::too_many_lines,
        reason = "a table: one sentence for each variant"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = |id: &TaskId| self.task(*id);
        let level = |level: &Level| self.level(*level);
        let (low, high) = (self.level(Level(0)), self.level(Level(1)));
        match self.reason {
            Reason::Own(why) => f.write_str(why),
            Reason::Frames(why) => f.write_str(&why.in_words(
                |id| self.task(id).to_string(),
                |at| self.level(at).to_string(),
            )),
            Reason::Levels(why) => f.write_str(&why.in_words(|id| self.task(id).to_string())),
            Reason::Served(why) => f.write_str(&why.in_words(self.names)),
            Reason::ServerTooSmall { task: id } => write!(
                f,
                "the server of {} may not supply a whole job before the deadline",
                task(id)
            ),
            Reason::TooManySlices { task: id } => write!(
                f,
                "the jobs of {} would have to be cut into too many slices to fit between those of \
                 less critical tasks",
                task(id)
            ),
            Reason::SeveralCpus { cpus } => {
                write!(f, "the test is for one CPU, and the platform has {cpus}")
            }
            Reason::FitsNowhere {
                task: id,
                rule,
                tried,
            } => {
                let rule = match rule {
                    PlacementRule::ThreeQuarters => "use more than 0.75 of it in a mode",
                    PlacementRule::EdfVd => "break the condition of edf-vd there",
                };
                let (task, loads) = (task(id), self.loads(tried));
                write!(
                    f,
                    "{task} fits on no CPU, it would {rule}; utilisations with it: {loads}"
                )
            }
            Reason::OnCpu { cpu, why } => {
                write!(f, "on CPU {}: {}", cpu.0, why.with_names(self.names))
            }
            Reason::WithOverheads { why } => {
                write!(f, "with overheads: {}", why.with_names(self.names))
            }
            Reason::OverheadsNotTaken { what } => {
                write!(f, "the test cannot take {what} into account")
            }
            Reason::JobSet => f.write_str("the test is for tasks, this is a finite job set"),
            Reason::NotJobSet => f.write_str("the test is for finite job sets, these are tasks"),
            Reason::HasServers => {
                f.write_str("the test is for tasks without servers, these have some")
            }
            Reason::NoServers => f.write_str("the test is for servers, there are none"),
            Reason::BusyPeriodUnbounded {
                level: mode,
                utilization_ppm,
            } => write!(
                f,
                "a busy period may never end: in mode {} the tasks ask for {} of the CPU",
                level(mode),
                Millionths(*utilization_ppm)
            ),
            Reason::PatternTooLong {
                level: mode,
                jobs_max,
            } => write!(
                f,
                "not decided: a busy period of mode {} may contain more than {jobs_max} jobs",
                level(mode)
            ),
            Reason::NoLowestJob { priority, left } => write!(
                f,
                "no job of those left meets its deadline at job priority {priority} below the \
                 others; left are jobs of: {}",
                self.list(left)
            ),
            Reason::JobListTooShort {
                task: id,
                jobs,
                found,
            } => write!(
                f,
                "a busy period may contain {jobs} jobs of {}, for which its list has {found} priorities",
                task(id)
            ),
            Reason::ListedJobLate {
                task: id,
                job,
                needed,
                due,
            } => write!(
                f,
                "job {job} of {} in a busy period and those before it may need {}, it is due after {}",
                task(id),
                Time(*needed),
                Time(*due)
            ),
            Reason::WcetExceedsDeadline { task: id } => write!(
                f,
                "{} needs more than its deadline at its own level, even when it is alone",
                task(id)
            ),
            Reason::ResponseExceedsDeadline {
                task: id,
                level: of,
                at_least,
                deadline,
            } => write!(
                f,
                "{} may take {} or more in runs of level {}, its deadline is {}",
                task(id),
                Time(*at_least),
                level(of),
                Time(*deadline)
            ),
            Reason::NobodyFits { priority, left } => write!(
                f,
                "no task meets its deadline at priority {priority}; left for it: {}",
                self.list(left)
            ),
            Reason::DegradedBudget { task: id } => write!(
                f,
                "{} keeps a degraded budget in modes above its own level; this test covers only \
                 tasks that are dropped then",
                task(id)
            ),
            Reason::NotTwoLevels { found } => write!(
                f,
                "the test is for sets with two levels, this one has {found}"
            ),
            Reason::ConstrainedDeadline { task: id } => write!(
                f,
                "the test is for deadlines equal to the periods; {} has a shorter one",
                task(id)
            ),
            Reason::SearchLimit { steps } => write!(
                f,
                "not decided: the search limit was reached after {steps} steps"
            ),
            Reason::Overload { utilization_ppm } => write!(
                f,
                "the tasks ask for {} of the CPU",
                Millionths(*utilization_ppm)
            ),
            Reason::DemandExceedsWindow { window, demand } => write!(
                f,
                "jobs that are released and due within {} may need {}",
                Time(*window),
                Time(*demand)
            ),
            Reason::Utilizations {
                low_ppm,
                high_at_low_ppm,
                high_ppm,
            } => write!(
                f,
                "the utilisations exceed what the test accepts: {low} tasks {}, {high} tasks {} at {low} \
                 and {} at {high}",
                Millionths(*low_ppm),
                Millionths(*high_at_low_ppm),
                Millionths(*high_ppm)
            ),
            Reason::LowVirtualDeadline { task: id } => write!(
                f,
                "only deadlines of {high} tasks may be shortened; the virtual deadline of {} is not \
                 its deadline",
                task(id)
            ),
            Reason::VirtualDeadlines {
                mode_0_ppm,
                mode_1_ppm,
            } => write!(
                f,
                "with these virtual deadlines the tasks ask for {} of the CPU in mode {low} and for {} \
                 in mode {high}",
                Millionths(*mode_0_ppm),
                Millionths(*mode_1_ppm)
            ),
        }
    }
}

/// A number of millionths as a decimal fraction.
struct Millionths(u64);

impl fmt::Display for Millionths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
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
            servers: &[],
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
