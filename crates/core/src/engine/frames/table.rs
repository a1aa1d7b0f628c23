//! The dispatch table of FTTS: what runs in which frame, sub-frame and CPU, and how long that takes.

use crate::configuration_error::ConfigurationError;
use crate::ids::TaskId;
use crate::model::{Level, LevelSet, TASKS_MAX, Task};
use crate::table_error::TableError;
use crate::time::{Duration, Service};

/// A part of [`FrameTable::entries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The index of the first entry.
    pub start: usize,
    /// How many entries.
    pub len: usize,
}

/// A cycle of frames. Each frame has one sub-frame per criticality, the highest first; in each
/// sub-frame each CPU runs a list of tasks of that criticality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTable<'a> {
    /// How long every frame is: L_f.
    pub frame: Duration,
    /// For frame f, criticality k and CPU c, at index `(f * levels + k) * cpus + c`, which entries
    /// run there, in their order. Spans may overlap: equal lists need to stand only once.
    pub spans: &'a [Span],
    /// What the spans point into.
    pub entries: &'a [TaskId],
    /// For frame f, criticality k and confidence l, at index `(f * levels + k) * levels + l`,
    /// barrier(f,k,l): how long the sub-frame takes on its slowest CPU while every job needs at
    /// most its C_i(l), interference between the CPUs included. Those with l > k are not used.
    pub barriers: &'a [Duration],
}

/// What an FTTS engine is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameConfiguration<'a> {
    /// The tasks; a [`TaskId`] is the index in this list.
    pub tasks: &'a [Task],
    /// How many levels there are.
    pub levels: LevelSet,
    /// How many CPUs there are.
    pub cpus: u16,
    /// The table.
    pub table: FrameTable<'a>,
    /// What every frame has to spare for barriers and dispatching (o in Sigrist et al.): a sub-frame
    /// may begin that much later than its predecessors' lengths say.
    pub overhead: Duration,
    /// How late the world may wake the scheduler before that is worth a notice (C6).
    pub wake_granularity: Duration,
}

/// Where the rows of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) frames: usize,
    pub(super) levels: LevelSet,
    pub(super) cpus: usize,
}

impl Shape {
    pub(super) fn span(&self, frame: usize, criticality: Level, cpu: usize) -> usize {
        self.sub_frame(frame, criticality)
            .saturating_mul(self.cpus)
            .saturating_add(cpu)
    }

    pub(super) fn barrier(&self, frame: usize, criticality: Level, level: Level) -> usize {
        self.sub_frame(frame, criticality)
            .saturating_mul(self.levels.count())
            .saturating_add(level.index())
    }

    pub(super) fn sub_frame(&self, frame: usize, criticality: Level) -> usize {
        frame
            .saturating_mul(self.levels.count())
            .saturating_add(criticality.index())
    }

    fn sub_frames(&self) -> impl Iterator<Item = (usize, Level)> + use<> {
        let levels = self.levels;
        (0..self.frames).flat_map(move |frame| levels.iter().map(move |level| (frame, level)))
    }
}

impl FrameConfiguration<'_> {
    /// Checks all that construction and running rely on. O(n * e) for n tasks and e entries of all
    /// sub-frames together.
    pub(super) fn check(&self) -> Result<Shape, ConfigurationError> {
        if self.tasks.is_empty() {
            return Err(ConfigurationError::NoTasks);
        }
        let found = self.tasks.len();
        if found >= TASKS_MAX {
            return Err(ConfigurationError::TooManyTasks { found });
        }
        for (task, model) in self.tasks.iter().enumerate() {
            if model.criticality > self.levels.highest() {
                let level = model.criticality;
                return Err(ConfigurationError::UnknownLevel { task, level });
            }
        }
        let shape = self.shape()?;
        for (frame, criticality) in shape.sub_frames() {
            self.check_sub_frame(&shape, frame, criticality)?;
        }
        for frame in 0..shape.frames {
            self.check_length(&shape, frame)?;
        }
        for index in 0..found {
            self.check_task(&shape, index)?;
        }
        Ok(shape)
    }

    fn shape(&self) -> Result<Shape, TableError> {
        let cpus = usize::from(self.cpus);
        let levels = self.levels.count();
        let row = cpus.saturating_mul(levels);
        let table = &self.table;
        if cpus == 0 {
            return Err(TableError::NoCpus);
        }
        let frames = table.spans.len().checked_div(row).unwrap_or(0);
        if frames == 0 || table.frame.is_zero() {
            return Err(TableError::NoFrames);
        }
        let lengths = [
            ("spans", frames.saturating_mul(row), table.spans.len()),
            (
                "barriers",
                frames.saturating_mul(levels).saturating_mul(levels),
                table.barriers.len(),
            ),
        ];
        for (list, expected, found) in lengths {
            if expected != found {
                return Err(TableError::Length {
                    list,
                    expected,
                    found,
                });
            }
        }
        // Barriers are numbered with 32 bits.
        if u32::try_from(table.spans.len()).is_err() {
            return Err(TableError::Length {
                list: "spans",
                expected: u32::MAX as usize,
                found: table.spans.len(),
            });
        }
        Ok(Shape {
            frames,
            levels: self.levels,
            cpus,
        })
    }

    fn entries(&self, position: usize) -> Result<&[TaskId], TableError> {
        let outside = TableError::SpanOutside { position };
        let span = self.table.spans.get(position).ok_or(outside)?;
        let end = span.start.checked_add(span.len).ok_or(outside)?;
        self.table.entries.get(span.start..end).ok_or(outside)
    }

    fn barrier(&self, position: usize) -> Duration {
        self.table
            .barriers
            .get(position)
            .copied()
            .unwrap_or(Duration::ZERO)
    }

    fn check_sub_frame(
        &self,
        shape: &Shape,
        frame: usize,
        criticality: Level,
    ) -> Result<(), TableError> {
        for cpu in 0..shape.cpus {
            let entries = self.entries(shape.span(frame, criticality, cpu))?;
            for &task in entries {
                let model = self
                    .tasks
                    .get(task.index())
                    .ok_or(TableError::UnknownTask(task))?;
                if model.criticality != criticality {
                    return Err(TableError::WrongSubFrame { task, frame });
                }
            }
            for level in criticality.up_to_self() {
                let work = entries
                    .iter()
                    .filter_map(|task| self.tasks.get(task.index()))
                    .map(|model| model.wcet.at(level))
                    .fold(Service::ZERO, Service::saturating_add);
                if work.exceeds(self.barrier(shape.barrier(frame, criticality, level))) {
                    return Err(TableError::SubFrameTooShort {
                        frame,
                        criticality,
                        level,
                    });
                }
            }
        }
        Ok(())
    }

    /// For every level l the sub-frames of at least that criticality fit into the frame, at l.
    fn check_length(&self, shape: &Shape, frame: usize) -> Result<(), TableError> {
        for level in self.levels.iter() {
            let length = self
                .levels
                .iter()
                .filter(|&criticality| criticality >= level)
                .map(|criticality| self.barrier(shape.barrier(frame, criticality, level)))
                .fold(self.overhead, Duration::saturating_add);
            if length > self.table.frame {
                return Err(TableError::FrameTooShort { frame, level });
            }
        }
        Ok(())
    }

    /// Every job has one place between its release and its task's next one, always on one CPU.
    fn check_task(&self, shape: &Shape, index: usize) -> Result<(), TableError> {
        let (Some(model), Ok(number)) = (self.tasks.get(index), u16::try_from(index)) else {
            return Ok(());
        };
        let task = TaskId(number);
        let per_period = model
            .period
            .div_floor(self.table.frame)
            .filter(|&frames| self.table.frame.checked_mul(frames) == Some(model.period))
            .and_then(|frames| usize::try_from(frames).ok())
            .filter(|&frames| shape.frames.checked_rem(frames) == Some(0))
            .ok_or(TableError::PeriodAndFrames(task))?;
        let mut home = None;
        for job in 0..shape.frames.checked_div(per_period).unwrap_or(0) {
            let first = job.saturating_mul(per_period);
            let mut found: usize = 0;
            for frame in first..first.saturating_add(per_period) {
                for cpu in 0..shape.cpus {
                    let entries = self.entries(shape.span(frame, model.criticality, cpu))?;
                    for _ in entries.iter().filter(|&&entry| entry == task) {
                        if *home.get_or_insert(cpu) != cpu {
                            return Err(TableError::TwoCpus(task));
                        }
                        found = found.saturating_add(1);
                    }
                }
            }
            if found != 1 {
                return Err(TableError::Places { task, job, found });
            }
        }
        Ok(())
    }
}
