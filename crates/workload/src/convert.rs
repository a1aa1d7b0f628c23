//! From the resolved task set to the tasks that policies and analyses work on.

use crate::codes;
use crate::diagnostic::{Diagnostics, Sink, one_of, quote};
use crate::model::{PerLevel, TaskSet, TaskSpec};
use crate::quantity::time_text;
use crate::source::Span;
use std::sync::Arc;
use vestal_core::{Level, Service, Task, TaskError, Wcet};

impl TaskSet {
    /// The tasks in the order of the file, as `user` (the name of a test or policy, such as
    /// `amc-rtb`) needs them.
    ///
    /// # Errors
    /// `V0400` for each execution time that `user` requires and the file does not give, `V0401` if
    /// the file is a finite job set, `V0402` for degraded budgets that differ between modes.
    pub fn to_tasks(&self, user: &str) -> Result<Vec<Task>, Diagnostics> {
        let mut sink = Sink::new(Arc::clone(&self.origin.source));
        if self.tasks.is_empty() {
            let span = self.jobs.first().map(|job| job.place.0).unwrap_or_default();
            sink.error(
                codes::NEEDS_TASKS,
                span,
                "job",
                "a finite job set",
                format!("recurrent tasks: {} schedules those", quote(user)),
                "describe the system with `[[task]]`; job sets are for ocbp",
            );
        }
        let mut tasks = Vec::with_capacity(self.tasks.len());
        for (index, spec) in self.tasks.iter().enumerate() {
            tasks.extend(self.to_task(index, spec, user, &mut sink));
        }
        sink.into_result()?;
        Ok(tasks)
    }

    /// The priorities that the file gives, in the order of its tasks; `None` if it gives none.
    /// Larger is more urgent.
    ///
    /// # Errors
    /// `V0403` if some tasks have a priority and others have none.
    pub fn file_priorities(&self) -> Result<Option<Vec<u32>>, Diagnostics> {
        let given: Vec<u32> = self.tasks.iter().filter_map(|task| task.priority).collect();
        if given.is_empty() {
            return Ok(None);
        }
        if given.len() == self.tasks.len() {
            return Ok(Some(given));
        }
        let mut sink = Sink::new(Arc::clone(&self.origin.source));
        let without = || self.tasks.iter().filter(|task| task.priority.is_none());
        let span = without()
            .next()
            .map(|task| task.places.name.0)
            .unwrap_or_default();
        sink.error(
            codes::PRIORITIES_PARTIAL,
            span,
            "task.priority",
            format!(
                "no priority for {}",
                one_of(without().map(|task| task.name.as_str()))
            ),
            format!("a priority for all {} tasks, or for none", self.tasks.len()),
            "add the missing ones, or remove `priority` everywhere to let the policy assign them",
        );
        sink.into_result().map(|_| None)
    }

    /// Whether the platform is one that `user`, a policy or a test for one CPU, can honour.
    ///
    /// # Errors
    /// `V0405` if it has more CPUs.
    pub fn on_one_cpu(&self, user: &str) -> Result<(), Diagnostics> {
        let cpus = self.platform.cpus;
        let mut sink = Sink::new(Arc::clone(&self.origin.source));
        if cpus > 1 {
            sink.error(
                codes::ONE_CPU,
                self.platform.place.0,
                "platform.cpus",
                format!("{cpus} CPUs"),
                format!("one: {} schedules one CPU", quote(user)),
                "write `cpus = 1`, or use a policy for several CPUs such as pedf-vd",
            );
        }
        sink.into_result().map(|_| ())
    }

    /// The execution-time vectors of a finite job set in the order of the file, as `user` needs them.
    /// Release, deadline and criticality are those of [`TaskSet::jobs`].
    ///
    /// # Errors
    /// `V0400` for each execution time that `user` requires and the file does not give, `V0404` if the
    /// file has tasks.
    pub fn to_jobs(&self, user: &str) -> Result<Vec<Wcet>, Diagnostics> {
        let mut sink = Sink::new(Arc::clone(&self.origin.source));
        if self.jobs.is_empty() {
            let first = self.tasks.first();
            let span = first.map(|task| task.places.name.0).unwrap_or_default();
            sink.error(
                codes::NEEDS_JOBS,
                span,
                "task",
                "recurrent tasks",
                format!("a finite job set: {} decides about those", quote(user)),
                "describe the jobs with `[[job]]`, or use a test for tasks",
            );
        }
        let mut wcets = Vec::with_capacity(self.jobs.len());
        for (index, spec) in self.jobs.iter().enumerate() {
            let owner = Owner {
                what: "job",
                index,
                name: &spec.name,
                criticality: spec.criticality,
                wcet: &spec.wcet,
                name_span: spec.place.0,
                wcet_span: spec.place.0,
            };
            wcets.extend(self.wcet_vector(&owner, user, &mut sink));
        }
        sink.into_result()?;
        Ok(wcets)
    }

    fn to_task(&self, index: usize, spec: &TaskSpec, user: &str, sink: &mut Sink) -> Option<Task> {
        let owner = Owner {
            what: "task",
            index,
            name: &spec.name,
            criticality: spec.criticality,
            wcet: &spec.wcet,
            name_span: spec.places.name.0,
            wcet_span: spec.places.wcet.0,
        };
        let wcet = self.wcet_vector(&owner, user, sink);
        let degraded = self.degraded_budget(index, spec, user, sink);
        match Task::new(spec.criticality, spec.period, spec.deadline, wcet?) {
            Ok(mut task) => {
                task.degraded = degraded?;
                Some(task)
            }
            Err(error) => {
                not_well_formed(&owner, error, sink);
                None
            }
        }
    }

    /// Every test and policy requires all levels up to the own one: at each of them the task is part of what is
    /// proved (Vestal 2007, section 2). Values above are optional estimates.
    fn wcet_vector(&self, spec: &Owner<'_>, user: &str, sink: &mut Sink) -> Option<Wcet> {
        let missing: Vec<&str> = spec
            .criticality
            .up_to_self()
            .filter(|level| spec.wcet.get(level.index()).is_none_or(Option::is_none))
            .map(|level| self.level_name(level))
            .collect();
        if !missing.is_empty() {
            let given = spec
                .wcet
                .iter()
                .zip(&self.levels)
                .filter(|(value, _)| value.is_some());
            let own = quote(self.level_name(spec.criticality));
            let example: Vec<String> = missing.iter().map(|name| format!("{name} = ...")).collect();
            sink.error(
                codes::WCET_MISSING,
                spec.wcet_span,
                &format!("{}[{}].wcet", spec.what, spec.index),
                format!(
                    "{} {} with values for {}",
                    spec.what,
                    quote(spec.name),
                    one_of(given.map(|(_, name)| name.as_str()))
                ),
                format!(
                    "also {}: {} needs all levels up to the {}'s own, {own}",
                    one_of(missing),
                    quote(user),
                    spec.what
                ),
                format!("add `{}` to the {}'s `wcet`", example.join(", "), spec.what),
            );
            return None;
        }
        // Above the own level an estimate may be missing between two others; the value below it
        // continues, which is what a vector without it means.
        let mut values: Vec<Service> = Vec::with_capacity(spec.wcet.len());
        for value in spec.wcet {
            let last = values.last().copied().unwrap_or(Service::ZERO);
            values.push(value.unwrap_or(last));
        }
        match Wcet::new(&values) {
            Ok(wcet) => Some(wcet),
            Err(error) => {
                not_well_formed(spec, error, sink);
                None
            }
        }
    }

    /// The one budget of the modes above the own level, if there is one; `None` after an error.
    fn degraded_budget(
        &self,
        index: usize,
        spec: &TaskSpec,
        user: &str,
        sink: &mut Sink,
    ) -> Option<Option<Service>> {
        let above = spec
            .degraded
            .get(spec.criticality.index() + 1..)
            .unwrap_or_default();
        let first = above.first().copied().flatten();
        if above.iter().all(|value| *value == first) {
            return Some(first);
        }
        let shown: Vec<String> = above
            .iter()
            .map(|value| {
                value.map_or_else(|| "none".to_owned(), |value| time_text(value.as_nanos()))
            })
            .collect();
        sink.error(
            codes::DEGRADED_NOT_UNIFORM,
            spec.places.degraded.0,
            &format!("task[{index}].degraded"),
            format!(
                "task {} with the budgets {}",
                quote(&spec.name),
                shown.join(", ")
            ),
            format!(
                "the same budget in every mode above the task's own level for {}",
                quote(user)
            ),
            "give every level above the task's own the same value, or none of them any",
        );
        None
    }
}

/// A task or a job as its execution times are read.
struct Owner<'a> {
    /// `task` or `job`.
    what: &'static str,
    /// Its place in the file.
    index: usize,
    name: &'a str,
    criticality: Level,
    wcet: &'a PerLevel<Service>,
    name_span: Span,
    wcet_span: Span,
}

/// What the model refuses. A set that was read from a file has been checked before; one that a
/// program put together or changed may still come here, and no task is ever left out silently.
fn not_well_formed(spec: &Owner<'_>, error: TaskError, sink: &mut Sink) {
    let code = match error {
        TaskError::NoWcet | TaskError::NoPeriod | TaskError::NoDeadline => codes::NOT_POSITIVE,
        TaskError::TooManyLevels { .. } => codes::LEVEL_COUNT,
        TaskError::WcetDecreases => codes::FALLS_WITH_LEVEL,
        TaskError::DeadlineAfterPeriod { .. } => codes::DEADLINE_AFTER_PERIOD,
    };
    sink.error(
        code,
        spec.name_span,
        &format!("{}[{}]", spec.what, spec.index),
        format!("{} {}: {error}", spec.what, quote(spec.name)),
        "a task that the model knows",
        "change the task as the rule says",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::PRELUDE;

    fn set(part: &str) -> TaskSet {
        TaskSet::parse("a.toml", &format!("{PRELUDE}{part}")).unwrap()
    }

    #[test]
    fn a_missing_level_names_test_task_level_and_place() {
        let set = set(
            "[[task]]\nname = \"sensor\"\ncriticality = \"HI\"\nperiod = 10\nwcet = { HI = 2 }\n",
        );
        let error = set.to_tasks("amc-rtb").unwrap_err();
        let first = &error.list()[0];
        assert_eq!(
            (first.code, first.line, first.column),
            (codes::WCET_MISSING, 8, 8)
        );
        let text = first.to_string();
        for part in [
            "amc-rtb",
            "`sensor`",
            "`LO`",
            "task[0].wcet",
            "add `LO = ...`",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }

    #[test]
    fn values_above_the_own_level_are_estimates_and_otherwise_continue() {
        let set = set(
            "[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\ndeadline = 8\nwcet = { LO = 2, HI = 3.5 }\n\
             [[task]]\nname = \"b\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\ndegraded = { HI = 1 }\n",
        );
        let tasks = set.to_tasks("rms").unwrap();
        assert_eq!(tasks[0].wcet.at(Level(1)), Service::from_micros(3500));
        assert_eq!(tasks[0].deadline.as_nanos(), 8_000_000);
        assert_eq!(tasks[1].wcet.at(Level(1)), Service::from_millis(2));
        assert_eq!(tasks[1].degraded, Some(Service::from_millis(1)));
    }

    #[test]
    fn a_set_that_a_program_broke_loses_no_task_silently() {
        let mut set =
            set("[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 2 }\n");
        set.tasks[0].deadline = vestal_core::Duration::from_millis(11);
        let error = set.to_tasks("rms").unwrap_err();
        assert_eq!(error.list()[0].code, codes::DEADLINE_AFTER_PERIOD);
        set.tasks[0].deadline = vestal_core::Duration::from_millis(10);
        set.tasks[0].wcet[0] = Some(Service::ZERO);
        assert_eq!(
            set.to_tasks("rms").unwrap_err().list()[0].code,
            codes::NOT_POSITIVE
        );
    }
}
