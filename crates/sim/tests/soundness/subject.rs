//! What a campaign is about: a test, the sets that are drawn for it, and the system that runs.

use crate::reference::{AtLimit, Limits, Lists, ReferenceTask, System};
use crate::sets::Sets;
use crate::trial::Bounds;
use vestal_analysis::{Outcome, Parameter, Parameters, Problem, Scratch, Test};
use vestal_core::{CpuId, Enforcement, Exhaustion};

/// A test, and how its policy is carried out.
pub(crate) struct Subject {
    pub(crate) test: &'static Test,
    pub(crate) sets: Sets,
    /// How job priorities are used, where the test gives any.
    pub(crate) lists: Lists,
    /// What happens at a job's own limit, if that is not what the test assumes.
    pub(crate) carried_out: Option<Exhaustion>,
    /// Only a missed deadline counts, not a response time above its bound.
    pub(crate) only_misses: bool,
    /// The bounds on response times are taken for this many ticks smaller.
    pub(crate) bounds_too_small_by: u64,
    /// Sets that this sound test accepts too are left out: nothing can be found there.
    pub(crate) unless: Option<&'static Test>,
}

impl Subject {
    pub(crate) fn real(test: &'static Test) -> Self {
        let sets = match () {
            () if takes(test, Parameter::Partition) => Sets::OnSeveralCpus,
            () if takes(test, Parameter::VirtualDeadlines) => Sets::TwoLevels,
            () if takes(test, Parameter::Slices) => Sets::InSlices,
            () => Sets::General,
        };
        Self {
            test,
            sets,
            lists: if takes(test, Parameter::JobPriorities) {
                Lists::Reused
            } else {
                Lists::No
            },
            carried_out: None,
            only_misses: false,
            bounds_too_small_by: 0,
            unless: None,
        }
    }

    pub(crate) fn control(test: &'static Test) -> Self {
        Self {
            only_misses: true,
            ..Self::real(test)
        }
    }

    /// Whether the test accepts the set, and gives what a run needs: there may be no virtual
    /// deadlines in whole ticks.
    pub(super) fn accepts(&self, problem: &Problem, scratch: &mut Scratch) -> bool {
        let needs_virtual_deadlines = takes(self.test, Parameter::VirtualDeadlines);
        self.test.accepts(problem, scratch)
            && self
                .unless
                .is_none_or(|other| !other.accepts(problem, scratch))
            && (!needs_virtual_deadlines
                || self
                    .test
                    .analyse(problem)
                    .parameters
                    .virtual_deadlines
                    .is_some())
    }
}

/// Whether the test speaks of jobs that need this to be ordered or cut.
pub(super) fn takes(test: &Test, parameter: Parameter) -> bool {
    test.takes.contains(&parameter)
}

/// Whether it speaks of jobs that go by deadlines, real or virtual ones.
pub(super) fn is_by_deadline(test: &Test) -> bool {
    takes(test, Parameter::VirtualDeadlines) || test.name == "edf"
}

pub(super) fn bounds_of(outcome: &Outcome, too_small_by: u64) -> Bounds {
    let tasks = outcome.tasks.iter();
    tasks
        .map(|task| {
            let responses = task.responses.iter().flatten();
            responses
                .map(|response| response.as_nanos() - too_small_by)
                .collect()
        })
        .collect()
}

/// Tests without response times guarantee the deadlines.
pub(super) fn deadlines_of(problem: &Problem) -> Bounds {
    let tasks = problem.tasks().iter();
    tasks
        .map(|task| vec![task.deadline.as_nanos(); task.criticality.index() + 1])
        .collect()
}

/// What happens on each CPU by itself: its tasks, and what was found of them. All of it where the test places no
/// task.
pub(super) fn parts_of(problem: &Problem, outcome: &Outcome) -> Vec<(Problem, Outcome)> {
    let Some(partition) = &outcome.parameters.partition else {
        return vec![(problem.clone(), outcome.clone())];
    };
    let on_cpu = |cpu: u16| {
        let home = Some(CpuId(cpu));
        let there = |position: &usize| partition[*position] == home;
        let positions: Vec<usize> = (0..partition.len()).filter(there).collect();
        let tasks = positions.iter().map(|&position| problem.tasks()[position]);
        let part = Problem::new(tasks.collect(), problem.levels()).unwrap();
        let found = Outcome {
            tasks: positions
                .iter()
                .map(|&position| outcome.tasks[position].clone())
                .collect(),
            parameters: Parameters {
                virtual_deadlines: outcome
                    .parameters
                    .virtual_deadlines
                    .as_ref()
                    .map(|all| positions.iter().map(|&position| all[position]).collect()),
                ..Parameters::default()
            },
            ..outcome.clone()
        };
        (!positions.is_empty()).then_some((part, found))
    };
    (0..problem.cpus()).filter_map(on_cpu).collect()
}

pub(super) fn system_of(
    problem: &Problem,
    outcome: &Outcome,
    subject: &Subject,
    guaranteed: Exhaustion,
) -> System {
    let by_deadline = is_by_deadline(subject.test);
    let virtual_deadlines = outcome.parameters.virtual_deadlines.as_ref();
    let found_slices = outcome.parameters.slices.as_ref();
    let lists = outcome.parameters.job_priorities.as_ref();
    let tasks = problem.tasks().iter().zip(&outcome.tasks).enumerate();
    System {
        tasks: tasks
            .map(|(position, (&task, found))| ReferenceTask {
                task,
                priority: if by_deadline || lists.is_some() {
                    0
                } else {
                    found.priority.unwrap()
                },
                virtual_deadline: virtual_deadlines
                    .map_or(task.deadline, |given| given[position])
                    .as_nanos(),
                zero_slack: outcome
                    .parameters
                    .zero_slack
                    .as_ref()
                    .map(|given| given[position].as_nanos()),
                abort_when_late: false,
                slices: found_slices.map_or(1, |counts| u64::from(counts[position].get())),
                list: lists.map_or_else(Vec::new, |lists| lists[position].clone()),
            })
            .collect(),
        levels: problem.levels().count(),
        by_deadline,
        lists: subject.lists,
        limits: match subject.test.limits {
            None | Some(Enforcement::Static | Enforcement::Slices) => Limits::Static,
            Some(Enforcement::Adaptive) => Limits::Adaptive,
            Some(Enforcement::ZeroSlack) => Limits::ZeroSlack,
        },
        at_limit: match subject.carried_out.unwrap_or(guaranteed) {
            Exhaustion::Background => AtLimit::Background,
            Exhaustion::Abort => AtLimit::Abort,
            Exhaustion::Continue => AtLimit::GoOn,
        },
        releases: Vec::new(),
        demand: Vec::new(),
        end: 0,
        backlog: None,
    }
}
