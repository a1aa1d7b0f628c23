//! Why levels of MC² are not proved, in numbers and in words.

use crate::parameters::SlotFault;
use crate::shown::Time;
use vestal_core::{CpuId, Duration, TaskId};

/// Why a table of level A is none, level B of a CPU is not proved schedulable, or the tardiness of level C is not bounded as it is
/// to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelReason {
    /// Outside the assumptions: the levels are not those of MC².
    NotFourLevels,
    /// Outside the assumptions: a task of level A does not come at the multiples of its period.
    NotPeriodic {
        /// Which task.
        task: TaskId,
    },
    /// A job of level A or B may need more at its own level than there is between its release and its deadline.
    WcetExceedsDeadline {
        /// Which task.
        task: TaskId,
    },
    /// A task of level C or D has a CPU.
    HasCpu {
        /// Which task.
        task: TaskId,
    },
    /// Tables are given, and the task of level A has no slot in any.
    NoSlot {
        /// Which task.
        task: TaskId,
    },
    /// The table of the CPU would be for more than `jobs_max` jobs, or longer than any world runs.
    CycleTooLong {
        /// Whose table.
        cpu: CpuId,
        /// So many jobs of a cycle are looked at.
        jobs_max: u64,
    },
    /// No table has room for all jobs of the CPU's tasks of level A: not even one by earliest deadlines.
    NoTable {
        /// Whose table.
        cpu: CpuId,
        /// The task that is late in that one.
        task: TaskId,
        /// Which of its jobs in the cycle, counted from 0.
        job: u64,
    },
    /// Given table: a slot is not in order.
    SlotOrder {
        /// Whose table.
        cpu: CpuId,
        /// Which slot.
        position: usize,
        /// What is wrong with it.
        fault: SlotFault,
    },
    /// Given table: a slot of a task that is not one of level A of its CPU.
    WrongSlot {
        /// Whose table.
        cpu: CpuId,
        /// Which slot.
        position: usize,
        /// Whose slot.
        task: TaskId,
    },
    /// Given table: the cycle is not a multiple of the task's period.
    PeriodAndCycle {
        /// Whose table.
        cpu: CpuId,
        /// Whose period.
        task: TaskId,
    },
    /// Given table: slots between release and deadline of a job are shorter than it needs at its own level.
    SlotsTooShort {
        /// Whose table.
        cpu: CpuId,
        /// Whose job.
        task: TaskId,
        /// Which of its jobs in the cycle, counted from 0.
        job: u64,
    },
    /// The task has no CPU, and none takes it.
    FitsNowhere {
        /// Which task.
        task: TaskId,
    },
    /// Levels A and B need more than the whole CPU at the times of level B.
    Overload {
        /// Which CPU.
        cpu: CpuId,
    },
    /// Level B by deadlines: jobs that are released and due within a window may need more than level A leaves in one.
    SupplyBelowDemand {
        /// Which CPU.
        cpu: CpuId,
        /// How long the window is.
        window: Duration,
        /// What the jobs may need.
        demand: Duration,
        /// What level A leaves at least.
        supply: Duration,
    },
    /// Level B by rates: a response may take too long.
    Late {
        /// Which CPU.
        cpu: CpuId,
        /// Which task.
        task: TaskId,
        /// It takes so long at least.
        at_least: Duration,
        /// Its deadline.
        deadline: Duration,
    },
    /// A bound on the tardiness is given for a task that is not of level C.
    TardinessElsewhere {
        /// Which task.
        task: TaskId,
    },
    /// Levels A, B and C need more than all CPUs at the times of level C.
    OverloadOfAll,
    /// A job of level C may need longer than its period.
    WcetExceedsPeriod {
        /// Which task.
        task: TaskId,
    },
    /// What may be pending grows with the tardiness as fast as the tardiness: no bound is known.
    TardinessUnbounded {
        /// A task for which that is so.
        task: TaskId,
    },
    /// A bound on the tardiness is longer than any world runs.
    TardinessOutOfRange,
    /// Given tardiness: the task may be later.
    TardinessAboveGiven {
        /// Which task.
        task: TaskId,
        /// By so much.
        bound: Duration,
        /// What is given.
        given: Duration,
    },
    /// Not decided within the steps that a test may take.
    NotDecided {
        /// Which CPU was looked at.
        cpu: CpuId,
    },
}

impl LevelReason {
    /// Whether more steps might have found an answer.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        matches!(self, Self::CycleTooLong { .. } | Self::NotDecided { .. })
    }

    /// The reason as a sentence without a full stop; how tasks are called is given.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: one sentence for each variant"
    )]
    pub(crate) fn in_words(&self, task: impl Fn(TaskId) -> String) -> String {
        match *self {
            Self::NotFourLevels => {
                "the levels are not those of MC²: at most four, or some of D, C, B, A in this order"
                    .to_owned()
            }
            Self::TardinessElsewhere { task: id } => {
                format!("`tardiness` is for tasks of level C; {} is none", task(id))
            }
            Self::OverloadOfAll => {
                "levels A, B and C need more than all CPUs at the times of level C".to_owned()
            }
            Self::WcetExceedsPeriod { task: id } => {
                format!("a job of {} may need more than its period", task(id))
            }
            Self::TardinessUnbounded { task: id } => format!(
                "no bound on the tardiness of {} is known: what may be pending grows as fast as that",
                task(id)
            ),
            Self::TardinessOutOfRange => {
                "a bound on the tardiness is longer than any world runs".to_owned()
            }
            Self::TardinessAboveGiven {
                task: id,
                bound,
                given,
            } => format!(
                "{} may be late by {}, and `tardiness` says {}",
                task(id),
                Time(bound),
                Time(given)
            ),
            Self::NotPeriodic { task: id } => format!(
                "tables are for periodic tasks that come at the multiples of their periods; {} is none",
                task(id)
            ),
            Self::WcetExceedsDeadline { task: id } => format!(
                "a job of {} may need more than there is between its release and its deadline",
                task(id)
            ),
            Self::HasCpu { task: id } => {
                format!("{} is of a level that no CPU has for itself", task(id))
            }
            Self::NoSlot { task: id } => format!("no table has a slot for {}", task(id)),
            Self::CycleTooLong { cpu, jobs_max } => format!(
                "not decided: a cycle of the table of CPU {} would have more than {jobs_max} jobs",
                cpu.0
            ),
            Self::NoTable { cpu, task: id, job } => format!(
                "no table of CPU {} has room for its jobs of level A: by earliest deadlines job {job} of {} is late",
                cpu.0,
                task(id)
            ),
            Self::SlotOrder {
                cpu,
                position,
                fault,
            } => {
                let what = match fault {
                    SlotFault::Empty => "has no length",
                    SlotFault::Overlaps => "begins before the one before it ends",
                    SlotFault::BeyondCycle => "ends after the cycle",
                };
                format!("`tables[{}].slots[{position}]` {what}", cpu.0)
            }
            Self::WrongSlot {
                cpu,
                position,
                task: id,
            } => format!(
                "`tables[{0}].slots[{position}]` is for {1}, which is none of level A on CPU {0}",
                cpu.0,
                task(id)
            ),
            Self::PeriodAndCycle { cpu, task: id } => format!(
                "`tables[{}].cycle` is not a multiple of the period of {}",
                cpu.0,
                task(id)
            ),
            Self::SlotsTooShort { cpu, task: id, job } => format!(
                "`tables[{}]` has too short slots for job {job} of {} between its release and its deadline",
                cpu.0,
                task(id)
            ),
            Self::FitsNowhere { task: id } => format!("no CPU takes {}", task(id)),
            Self::Overload { cpu } => format!(
                "levels A and B need more than the whole of CPU {} at the times of level B",
                cpu.0
            ),
            Self::SupplyBelowDemand {
                cpu,
                window,
                demand,
                supply,
            } => format!(
                "jobs of level B on CPU {} that are released and due within {} may need {}, and level A leaves {}",
                cpu.0,
                Time(window),
                Time(demand),
                Time(supply)
            ),
            Self::Late {
                cpu,
                task: id,
                at_least,
                deadline,
            } => format!(
                "on CPU {} a response of {} may take {} or longer, and its deadline is {}",
                cpu.0,
                task(id),
                Time(at_least),
                Time(deadline)
            ),
            Self::NotDecided { cpu } => format!(
                "levels A and B of CPU {} were not decided within the steps that the test takes",
                cpu.0
            ),
        }
    }
}
