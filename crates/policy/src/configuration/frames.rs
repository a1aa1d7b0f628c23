//! Frame tables on several CPUs (FTTS).

use super::Precision;
use crate::refusal::Refusal;
use std::fmt;
use vestal_analysis::Parameters;
use vestal_analysis::parameters::{FrameBarriers, FrameMap};
use vestal_core::engine::frames::{FrameConfiguration, FrameTable, Frames, Span};
use vestal_core::{
    ConfigurationError, CpuId, Duration, Level, LevelSet, TableError, TaskConfiguration, TaskId,
};
use vestal_workload::TaskSet;
use vestal_workload::diagnostic::quote;

/// A cycle of frames with a sub-frame for each criticality, and in it a list of tasks for each CPU (Sigrist et al.,
/// RTAS 2015). It always fits its tasks: it is made by [`FrameLists::new`] alone, which checks that.
///
/// All CPUs are one domain, because they wait for each other at the end of each sub-frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameLists {
    pub(super) tasks: Vec<TaskConfiguration>,
    map: FrameMap,
    barriers: FrameBarriers,
    overhead: Duration,
}

/// Why frames and barriers do not fit a set of tasks. As text it has the numbers of tasks and levels;
/// [`FrameFault::refusal`] has their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFault {
    /// The frames or the barriers are for so many levels, and the tasks have others.
    Levels {
        /// Which parameter it is.
        parameter: &'static str,
        /// How many levels it has.
        found: usize,
        /// How many the tasks have.
        expected: usize,
    },
    /// The frames are for so many CPUs, and there are others.
    Cpus {
        /// How many CPUs they have.
        found: u16,
        /// How many there are.
        expected: u16,
    },
    /// There are not as many barriers as frames.
    Barriers {
        /// How many frames have barriers.
        found: usize,
        /// How many there are.
        expected: usize,
    },
    /// What the engine has against tasks, frames and barriers together.
    Engine(ConfigurationError),
}

impl fmt::Display for FrameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Levels {
                parameter,
                found,
                expected,
            } => write!(
                f,
                "`{parameter}` is for {found} levels, and there are {expected}"
            ),
            Self::Cpus { found, expected } => {
                write!(f, "`frames` is for {found} CPUs, and there are {expected}")
            }
            Self::Barriers { found, expected } => write!(
                f,
                "`barriers` has {found} frames, and `frames` has {expected}"
            ),
            Self::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FrameFault {}

impl FrameFault {
    /// The same for people: with the names that tasks and levels have in the set, and the place in the parameters
    /// file. Frames, CPUs and jobs are counted from 0.
    #[must_use]
    pub fn refusal(&self, set: &TaskSet) -> Refusal {
        let help = "correct `frames` and `barriers` of --parameters, or the task set";
        let why = match self {
            Self::Engine(ConfigurationError::Table(error)) => by_name(*error, set),
            Self::Levels { .. } | Self::Cpus { .. } | Self::Barriers { .. } | Self::Engine(_) => {
                None
            }
        };
        Refusal::input(why.unwrap_or_else(|| self.to_string())).with_help(help)
    }
}

/// A fault of a table that is about a task or a level; others have nothing that has a name.
fn by_name(error: TableError, set: &TaskSet) -> Option<String> {
    let task = |task: TaskId| set.tasks.get(task.index()).map(|spec| quote(&spec.name));
    let level = |level: Level| set.level_name(level);
    Some(match error {
        TableError::WrongSubFrame { task: of, frame } => format!(
            "`frames` has {} in a sub-frame of another criticality in frame {frame}",
            task(of)?
        ),
        TableError::TwoCpus(of) => format!("`frames` has {} on two CPUs", task(of)?),
        TableError::PeriodAndFrames(of) => format!(
            "the period of {} is not a whole number of frames that divides the cycle",
            task(of)?
        ),
        TableError::Places {
            task: of,
            job,
            found,
        } => format!(
            "`frames` has {found} places for job {job} of {}, not one",
            task(of)?
        ),
        TableError::SubFrameTooShort {
            frame,
            criticality,
            level: at,
        } => format!(
            "`barriers[{frame}].{0}.{1}` is shorter than what a CPU executes in sub-frame {0} at level {1}",
            level(criticality),
            level(at)
        ),
        TableError::FrameTooShort { frame, level: at } => format!(
            "frame {frame} is shorter than its barriers at level {} in all",
            level(at)
        ),
        TableError::NoCpus
        | TableError::NoFrames
        | TableError::Length { .. }
        | TableError::SpanOutside { .. }
        | TableError::UnknownTask(_)
        | TableError::UnknownCpu(_)
        | TableError::SlotOrder { .. }
        | TableError::WrongSlot { .. }
        | TableError::PeriodAndCycle(_)
        | TableError::SlotsTooShort { .. } => return None,
    })
}

impl FrameLists {
    /// The tasks of a set on so many CPUs by these parameters. O(n * e) for n tasks and e entries of all lists.
    ///
    /// # Errors
    /// The first thing that does not fit: levels or CPUs, the number of barriers, a task in a wrong sub-frame, on two
    /// CPUs, or without one place for each job, a barrier that its jobs exceed, barriers that exceed a frame.
    pub fn new(
        tasks: Vec<TaskConfiguration>,
        levels: LevelSet,
        cpus: u16,
        (map, barriers): (&FrameMap, &FrameBarriers),
    ) -> Result<Self, FrameFault> {
        let expected = levels.count();
        for (parameter, found) in [("frames", map.levels()), ("barriers", barriers.levels())] {
            if found != levels {
                return Err(FrameFault::Levels {
                    parameter,
                    found: found.count(),
                    expected,
                });
            }
        }
        if map.cpus() != cpus {
            return Err(FrameFault::Cpus {
                found: map.cpus(),
                expected: cpus,
            });
        }
        if map.frames() != barriers.frames() {
            return Err(FrameFault::Barriers {
                found: barriers.frames(),
                expected: map.frames(),
            });
        }
        let lists = Self {
            tasks,
            map: map.clone(),
            barriers: barriers.clone(),
            overhead: Duration::ZERO,
        };
        lists.with_overhead(Duration::ZERO)
    }

    /// The same with so much of each frame to spare for barriers and dispatching (o in Sigrist et al.): a sub-frame
    /// may begin that much later than the barriers before it say.
    ///
    /// # Errors
    /// A frame that is too short for that.
    pub fn with_overhead(self, overhead: Duration) -> Result<Self, FrameFault> {
        let lists = Self { overhead, ..self };
        match lists.build(Precision::EXACT) {
            Ok(_) => Ok(lists),
            Err(error) => Err(FrameFault::Engine(error)),
        }
    }

    /// The tasks.
    #[must_use]
    pub fn tasks(&self) -> &[TaskConfiguration] {
        &self.tasks
    }

    /// What runs in which frame.
    #[must_use]
    pub const fn map(&self) -> &FrameMap {
        &self.map
    }

    /// How long sub-frames last.
    #[must_use]
    pub const fn barriers(&self) -> &FrameBarriers {
        &self.barriers
    }

    /// What each frame has to spare.
    #[must_use]
    pub const fn overhead(&self) -> Duration {
        self.overhead
    }

    /// What each frame has to spare at most: how much shorter than a frame the longest of them is. O(F) for F frames.
    #[must_use]
    pub fn slack(&self) -> Duration {
        let levels = self.map.levels();
        let longest = (0..self.barriers.frames()).flat_map(|frame| {
            levels.iter().map(move |level| {
                let above = levels.iter().filter(move |&above| above >= level);
                let lengths = above.map(|above| self.barriers.barrier(frame, above, level));
                lengths.fold(Duration::ZERO, Duration::saturating_add)
            })
        });
        let longest = longest.max().unwrap_or(Duration::ZERO);
        self.map.length().saturating_sub(longest)
    }

    /// The parameters from which it can be made again; the overhead is none of them.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        Parameters {
            frames: Some(self.map.clone()),
            barriers: Some(self.barriers.clone()),
            ..Parameters::default()
        }
    }

    /// The CPU of a task, on which all its jobs run, by its number inside. O(e) for e entries.
    #[must_use]
    pub fn home(&self, task: TaskId) -> Option<CpuId> {
        let mut lists = self.map.lists();
        lists.find_map(|(_, _, cpu, list)| list.contains(&task).then_some(cpu))
    }

    /// A scheduler for all CPUs. What the world cannot do better than by `granularity` is to spare in each frame, besides
    /// [`FrameLists::overhead`].
    ///
    /// # Errors
    /// A frame that is too short for that granularity. In an exact world none is known: what is wrong with a table
    /// [`FrameLists::new`] has said.
    pub fn engine(&self, precision: Precision) -> Result<Frames, Refusal> {
        let engine = self.build(precision);
        engine.map_err(|error| {
            let why = error.to_string();
            match precision.granularity.is_zero() {
                true => Refusal::bug(why),
                false => Refusal::input(why),
            }
        })
    }

    /// The engine, out of the core's borrowed form.
    fn build(&self, precision: Precision) -> Result<Frames, ConfigurationError> {
        let tasks: Vec<_> = self.tasks.iter().map(|entry| entry.task).collect();
        let mut entries = Vec::new();
        let mut spans = Vec::new();
        for (_, _, _, list) in self.map.lists() {
            spans.push(Span {
                start: entries.len(),
                len: list.len(),
            });
            entries.extend_from_slice(list);
        }
        Frames::new(&FrameConfiguration {
            tasks: &tasks,
            levels: self.map.levels(),
            cpus: self.map.cpus(),
            table: FrameTable {
                frame: self.map.length(),
                spans: &spans,
                entries: &entries,
                barriers: self.barriers.times(),
            },
            overhead: self
                .overhead
                .saturating_add(Duration::from_nanos(precision.granularity.as_nanos())),
            wake_granularity: precision.wake_granularity,
        })
    }
}
