//! Whether parameters fit what they are for.

use super::parts::FrameMap;
use super::table::{Row, Rule, Shape, TIME};
use super::values::Values;
use super::{Parameter, Parameters, task_id};
use vestal_core::{Duration, LevelSet, SliceCount, Task, TaskId};

/// What parameters have to fit.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The tasks; none for a finite job set.
    pub tasks: &'a [Task],
    /// How many tasks there are, or jobs of a finite set.
    pub count: usize,
    /// The criticality levels.
    pub levels: LevelSet,
    /// How many CPUs there are.
    pub cpus: u16,
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
    /// A part is not one: of the dispatch tables that of a CPU, of the server parameters those of a server, of
    /// the frames one of them.
    #[error("the {}, number {position} counted from 0: {what}", .parameter.row().words)]
    Part {
        /// Of which parameter.
        parameter: Parameter,
        /// Which part.
        position: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl Parameters {
    /// Whether everything that is given fits `scope`.
    ///
    /// # Errors
    /// The first [`ParameterError`], in the order of [`super::table::TABLE`].
    pub fn check(&self, scope: &Scope<'_>) -> Result<(), ParameterError> {
        self.rows().try_for_each(|row| check(row, self, scope))
    }
}

fn check(row: &Row, all: &Parameters, scope: &Scope<'_>) -> Result<(), ParameterError> {
    let Some(values) = (row.get)(all) else {
        return Ok(());
    };
    check_count(row, &values, scope)?;
    let misfit = |task: Option<usize>| match task {
        None => Ok(()),
        Some(task) => Err(ParameterError::Misfit {
            parameter: row.parameter,
            task: task_id(task),
        }),
    };
    match values {
        Values::Numbers(values) if row.parameter == Parameter::Slices => {
            misfit(unfit_slices(scope.tasks, &values))
        }
        Values::Times(values) if row.shape == Shape::EachTask => {
            misfit(unfit_time(row, scope.tasks, &values))
        }
        Values::Lists(lists) if row.rule == Rule::FallingLists => misfit(not_falling(&lists)),
        Values::Cpus(cpus) => {
            let beyond =
                |cpu: &Option<_>| cpu.is_some_and(|cpu: vestal_core::CpuId| cpu.0 >= scope.cpus);
            misfit(cpus.iter().position(beyond))
        }
        Values::Frames(map) => check_frames(row.parameter, &map, scope),
        Values::Tables(_) | Values::Barriers(_) | Values::Servers(_) => {
            check_parts(row.parameter, all, scope)
        }
        Values::Numbers(_)
        | Values::Times(_)
        | Values::Lists(_)
        | Values::Fraction(_)
        | Values::SomeTimes(_) => Ok(()),
    }
}

/// One value for each task, where it is one for each.
fn check_count(row: &Row, values: &Values, scope: &Scope<'_>) -> Result<(), ParameterError> {
    let found = match values {
        Values::Numbers(values) => values.len(),
        Values::Times(values) => values.len(),
        Values::Lists(values) => values.len(),
        Values::Cpus(values) => values.len(),
        Values::SomeTimes(values) => values.len(),
        Values::Fraction(_)
        | Values::Tables(_)
        | Values::Frames(_)
        | Values::Barriers(_)
        | Values::Servers(_) => return Ok(()),
    };
    let by_task = match row.shape {
        Shape::EachTask | Shape::ListEachTask | Shape::SomeTasks => true,
        Shape::EachLevel
        | Shape::Single
        | Shape::EachCpu
        | Shape::EachFrame
        | Shape::EachServer => false,
    };
    if !by_task || found == scope.count {
        return Ok(());
    }
    Err(ParameterError::Count {
        parameter: row.parameter,
        tasks: scope.count,
        found,
    })
}

fn unfit_slices(tasks: &[Task], counts: &[u64]) -> Option<usize> {
    let fits = |(task, count): (&Task, &u64)| {
        u32::try_from(*count).is_ok_and(|count| SliceCount::new(count, task).is_some())
    };
    tasks.iter().zip(counts).position(|pair| !fits(pair))
}

fn unfit_time(row: &Row, tasks: &[Task], times: &[Duration]) -> Option<usize> {
    let zero = row.range == TIME;
    let fits =
        |(task, time): (&Task, &Duration)| *time <= task.deadline && (zero || !time.is_zero());
    tasks.iter().zip(times).position(|pair| !fits(pair))
}

fn not_falling(lists: &[Vec<u64>]) -> Option<usize> {
    let falls = |list: &Vec<u64>| list.windows(2).all(|pair| pair[0] > pair[1]);
    let mut all: Vec<u64> = lists.iter().flatten().copied().collect();
    all.sort_unstable();
    let distinct = all.windows(2).all(|pair| pair[0] != pair[1]);
    let first = lists.iter().position(|list| !falls(list));
    first.or((!distinct).then_some(0))
}

fn check_frames(
    parameter: Parameter,
    map: &FrameMap,
    scope: &Scope<'_>,
) -> Result<(), ParameterError> {
    if map.levels() != scope.levels || map.cpus() != scope.cpus {
        let what = "they are for other levels or CPUs";
        return Err(ParameterError::Part {
            parameter,
            position: 0,
            what,
        });
    }
    let criticality = |task: TaskId| scope.tasks.get(task.index()).map(|task| task.criticality);
    match map.misplaced(criticality) {
        Some(task) => Err(ParameterError::Misfit { parameter, task }),
        None => Ok(()),
    }
}

fn check_parts(
    parameter: Parameter,
    all: &Parameters,
    scope: &Scope<'_>,
) -> Result<(), ParameterError> {
    let part = |position: usize, what: &'static str| {
        Err(ParameterError::Part {
            parameter,
            position,
            what,
        })
    };
    if let (Parameter::Tables, Some(tables)) = (parameter, &all.tables) {
        if tables.len() != usize::from(scope.cpus) {
            return part(tables.len(), "there is not one for each CPU");
        }
        let unknown = |task: TaskId| task.index() >= scope.count;
        for (cpu, table) in tables.iter().enumerate() {
            if table.fault().is_some() {
                return part(
                    cpu,
                    "its slots are empty, overlap, or do not fit into the cycle",
                );
            }
            if table.slots.iter().any(|slot| unknown(slot.task)) {
                return part(cpu, "it has a slot of a task that there is not");
            }
        }
    }
    if let (Parameter::Barriers, Some(barriers)) = (parameter, &all.barriers) {
        if barriers.levels() != scope.levels {
            return part(0, "they are for other levels");
        }
        let frames = all.frames.as_ref().map(FrameMap::frames);
        if frames.is_some_and(|frames| frames != barriers.frames()) {
            return part(barriers.frames(), "there is not one for each frame");
        }
    }
    if let (Parameter::Servers, Some(servers)) = (parameter, &all.servers)
        && let Some(wrong) = servers.iter().position(|server| !server.budget.is_sound())
    {
        return part(wrong, "its budget is out of range or falls with the level");
    }
    Ok(())
}
