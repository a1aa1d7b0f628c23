//! What one test said of a task set.

use super::{levels, servers};
use crate::args::AnalyzeArgs;
use vestal_analysis::{Kind, Names, Outcome, Parameters, Problem, Test, Verdict};
use vestal_core::Level;
use vestal_policy::parameters;
use vestal_result::analysis::{self as said, Analysis, TaskBound};
use vestal_workload::TaskSet;

/// What one test said, with what only commands are told.
pub(crate) struct TestResult {
    pub(crate) said: Analysis,
    pub(super) chosen: Parameters,
    sound: bool,
    pub(super) is_upper_bound: bool,
    /// Whether it speaks of budgets that it chose, and not of those of the file.
    pub(super) chooses_budgets: bool,
    /// Whether it is for levels of which some are promised no deadlines.
    pub(super) is_for_levels: bool,
}

impl TestResult {
    /// Whether it proves what was asked for: by name, or what the levels of the file stand for.
    pub(super) fn answers(&self, args: &AnalyzeArgs, set: &TaskSet) -> bool {
        let is_meant = !self.chooses_budgets && (!self.is_for_levels || levels::are_named(set));
        self.is_proved() && (args.names_tests() || is_meant)
    }

    pub(crate) fn new(
        test: &Test,
        set: &TaskSet,
        (problem, found): (&Problem, &Outcome),
        elapsed_us: u64,
    ) -> Self {
        let subjects = Subject::all(set);
        let task_names: Vec<String> = subjects.iter().map(|it| it.name.to_owned()).collect();
        let server_names = vestal_policy::server_names(set);
        let chosen = found.parameters.clone();
        let names = Names {
            tasks: &task_names,
            levels: &set.levels,
            servers: &server_names,
        };
        let tasks = subjects
            .iter()
            .zip(&found.tasks)
            .map(|(task, outcome)| TaskBound {
                name: task.name.to_owned(),
                criticality: set.level_name(task.criticality).to_owned(),
                priority: outcome.priority,
                cpu: match has_several_cpus(set) {
                    true => outcome.cpu.map(|cpu| u32::from(cpu.0)),
                    false => Some(0),
                },
                deadline_ns: task.deadline_ns,
                response_ns: set
                    .levels
                    .iter()
                    .take(outcome.responses.len().max(task.criticality.index() + 1))
                    .enumerate()
                    .map(|(level, name)| {
                        let bound = outcome.responses.get(level).copied().flatten();
                        (name.clone(), bound.map(|bound| bound.as_nanos()))
                    })
                    .collect(),
            });
        let said = Analysis {
            test: test.name.to_owned(),
            variant: test.variant.map(str::to_owned),
            verdict: verdict(found.verdict),
            kind: kind(found.kind),
            claim: found.claim.map(verdict),
            tasks: tasks.collect(),
            servers: servers::bounds(set, problem, found),
            parameters: parameters::to_json(&chosen, set),
            why: found
                .why
                .as_ref()
                .map(|why| why.with_names(names).to_string()),
            mechanism: None,
            elapsed_us,
        };
        Self {
            said,
            chosen,
            sound: test.is_sound(),
            is_upper_bound: test.is_upper_bound,
            chooses_budgets: test.chooses_budgets,
            is_for_levels: levels::is_for_levels(test),
        }
    }

    /// Whether a sound test says schedulable.
    pub(crate) fn is_proved(&self) -> bool {
        self.sound && self.said.verdict == said::Verdict::Schedulable
    }
}

/// What a row of a result is about: a task, or a job of a finite set.
struct Subject<'a> {
    name: &'a str,
    criticality: Level,
    /// Counted from the release.
    deadline_ns: u64,
}

impl<'a> Subject<'a> {
    fn all(set: &'a TaskSet) -> Vec<Self> {
        let tasks = set.tasks.iter().map(|task| Self {
            name: &task.name,
            criticality: task.criticality,
            deadline_ns: task.deadline.as_nanos(),
        });
        let jobs = set.jobs.iter().map(|job| Self {
            name: &job.name,
            criticality: job.criticality,
            deadline_ns: job.deadline.saturating_since(job.release).as_nanos(),
        });
        tasks.chain(jobs).collect()
    }
}

fn kind(kind: Kind) -> said::Kind {
    match kind {
        Kind::Exact => said::Kind::Exact,
        Kind::Sufficient => said::Kind::Sufficient,
        Kind::Necessary => said::Kind::Necessary,
        Kind::Unsafe => said::Kind::Unsafe,
    }
}

fn verdict(verdict: Verdict) -> said::Verdict {
    match verdict {
        Verdict::Schedulable => said::Verdict::Schedulable,
        Verdict::Unschedulable => said::Verdict::Unschedulable,
        Verdict::NotProven => said::Verdict::NotProven,
    }
}

pub(super) fn has_several_cpus(set: &TaskSet) -> bool {
    set.platform.cpus > 1
}
