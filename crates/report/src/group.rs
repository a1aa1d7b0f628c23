//! Which tasks the inputs speak of, and which result and which trace are of the same run.

use crate::error::ReportError;
use crate::recording::Recording;
use std::collections::BTreeMap;
use vestal_result::analysis::Analysis;
use vestal_result::run::{Run, TaskRow};

/// What is known of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskFacts {
    pub(crate) name: String,
    /// The name of its level.
    pub(crate) criticality: Option<String>,
    pub(crate) period: Option<u64>,
    pub(crate) deadline: Option<u64>,
}

/// The tasks that all inputs have to speak of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks {
    pub(crate) list: Vec<TaskFacts>,
    /// Level names, lowest first, as far as inputs tell their order.
    pub(crate) levels: Vec<String>,
    /// The input that named the tasks first.
    first: String,
}

impl Tasks {
    /// Compares an input's tasks with those before it, and learns what it knows besides.
    ///
    /// # Errors
    /// [`ReportError::OtherTasks`] if names, levels or deadlines differ.
    pub(crate) fn join(&mut self, source: &str, tasks: Vec<TaskFacts>) -> Result<(), ReportError> {
        if self.list.is_empty() {
            source.clone_into(&mut self.first);
            self.list = tasks;
            return Ok(());
        }
        let differs = |what: String| {
            let first = self.first.clone();
            Err(ReportError::OtherTasks { what, first })
        };
        if tasks.len() != self.list.len() {
            let (found, known) = (tasks.len(), self.list.len());
            return differs(format!("it has {found} tasks instead of {known}"));
        }
        let mut indices = Vec::new();
        for (index, task) in tasks.iter().enumerate() {
            let Some(known) = self.index(index, &task.name) else {
                let name = task.name.escape_debug();
                return differs(format!("its task `{name}` is not there"));
            };
            indices.push(known);
            let facts = &self.list[known];
            let levels = facts.criticality.as_ref().zip(task.criticality.as_ref());
            let deadlines = facts.deadline.zip(task.deadline);
            let name = task.name.escape_debug();
            if let Some((known, found)) = levels.filter(|(known, found)| known != found) {
                return differs(format!("its task `{name}` has level {found}, not {known}"));
            }
            if let Some((known, found)) = deadlines.filter(|(known, found)| known != found) {
                return differs(format!(
                    "its task `{name}` has a deadline of {found} ns, not {known} ns"
                ));
            }
        }
        for (index, task) in indices.into_iter().zip(tasks) {
            let facts = &mut self.list[index];
            facts.criticality = facts.criticality.take().or(task.criticality);
            facts.period = facts.period.or(task.period);
            facts.deadline = facts.deadline.or(task.deadline);
        }
        Ok(())
    }

    /// Learns level names from a list that begins with the lowest level.
    pub(crate) fn learn_levels(&mut self, names: &[String]) {
        if names.len() > self.levels.len() {
            self.levels = names.to_vec();
        }
    }

    /// Where a task of an input stands in the list. Most inputs have the tasks in the same order; traces of others
    /// may repeat names.
    pub(crate) fn index(&self, index: usize, name: &str) -> Option<usize> {
        let is_there = |index: &usize| self.list.get(*index).is_some_and(|task| task.name == name);
        let anywhere = || self.list.iter().position(|task| task.name == name);
        Some(index).filter(is_there).or_else(anywhere)
    }

    /// The index of a task's level in the levels, as far as inputs tell both.
    pub(crate) fn level(&self, task: &TaskFacts) -> Option<usize> {
        let name = task.criticality.as_ref()?;
        self.levels.iter().position(|level| level == name)
    }
}

pub(crate) fn tasks_of_analysis(analysis: &Analysis) -> Vec<TaskFacts> {
    let facts = analysis.tasks.iter().map(|task| TaskFacts {
        name: task.name.clone(),
        criticality: Some(task.criticality.clone()),
        deadline: Some(task.deadline_ns),
        ..TaskFacts::default()
    });
    facts.collect()
}

pub(crate) fn tasks_of_run(run: &Run) -> Vec<TaskFacts> {
    let facts = run.tasks.iter().map(|task| TaskFacts {
        name: task.name.clone(),
        ..TaskFacts::default()
    });
    facts.collect()
}

pub(crate) fn tasks_of_recording(recording: &Recording) -> Vec<TaskFacts> {
    let header = &recording.header;
    let known = |value: u64| (value > 0).then_some(value);
    let facts = header.tasks.iter().map(|task| TaskFacts {
        name: task.name.clone(),
        criticality: (!header.levels.is_empty()).then(|| header.level_name(task.criticality)),
        period: known(task.period.as_nanos()),
        deadline: known(task.deadline.as_nanos()),
    });
    facts.collect()
}

/// For each run the index of its trace, and the traces that are left.
///
/// A result and a trace are of the same run if world, policy, seed, what the result says of dispatch and
/// options, and, where no record was lost, the number of jobs of each task agree. Several that agree are taken in the order given.
pub(crate) fn pair(runs: &[&Run], recordings: &[&Recording]) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut free: Vec<usize> = (0..recordings.len()).collect();
    let mut pairs = Vec::new();
    for run in runs {
        let found = free
            .iter()
            .position(|index| recordings.get(*index).is_some_and(|other| same(run, other)));
        pairs.push(found.map(|found| free.remove(found)));
    }
    (pairs, free)
}

fn same(run: &Run, recording: &Recording) -> bool {
    let header = &recording.header;
    // Results of older versions say neither.
    let old = run.dispatch.is_empty();
    let named = run.world == header.world.word()
        && run.policy == header.policy
        && run.seed == header.seed
        && (old || run.dispatch == header.dispatch.word())
        && (old || run.options == header.options.iter().cloned().collect::<BTreeMap<_, _>>());
    let (mut found, mut wanted): (Vec<_>, Vec<_>) = (
        recording
            .rows
            .iter()
            .map(|row| counts(&row.figures))
            .collect(),
        run.tasks.iter().map(counts).collect(),
    );
    found.sort_unstable();
    wanted.sort_unstable();
    named && (recording.lost > 0 || found == wanted)
}

fn counts(task: &TaskRow) -> (&str, u64, u64, u64) {
    (&task.name, task.released, task.completed, task.dropped)
}
