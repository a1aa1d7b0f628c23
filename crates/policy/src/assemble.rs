//! From a task set, a policy, options and parameters to a system.

use crate::options::Options;
use crate::policies;
use crate::policy::{Policy, Use};
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::servers::{self, ServerRules, User};
use crate::setup::{Given, Setup};
use crate::system::{Proof, System, Terms};
use std::cmp::Reverse;
use std::num::NonZeroU16;
use vestal_analysis::{
    Bus, FiniteJob, Grade, Names, Outcome, Overheads, Parameters, Phasing, Problem, ProblemError,
    Test, Verdict,
};
use vestal_core::{CpuId, Duration, Exhaustion, LevelSet, Task};
use vestal_workload::model::{Arrival, OnMiss, TaskSpec};
use vestal_workload::{Diagnostics, TaskSet};

/// Whether the policy's test is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Analysis {
    /// It finds what is not given, and says what is proved.
    Ask,
    /// The same where carrying the policy out costs this. What it does not prove with that is built of what it finds
    /// without.
    With(Overheads),
    /// It is not: everything is given, as by a recording.
    Skip,
}

impl Analysis {
    const fn overheads(self) -> Option<Overheads> {
        match self {
            Self::With(overheads) => Some(overheads),
            Self::Ask | Self::Skip => None,
        }
    }
}

/// Puts a system together: `parameters` are those of a file or a recording, of which the policy takes what it
/// knows. As long as its test takes, if that is asked; else O(n^2).
///
/// # Errors
/// What is wrong with the set for this policy, with the parameters for this set, or what the policy cannot do
/// without.
pub fn assemble(
    registry: &Registry,
    (policy, options): (&dyn Policy, &Options),
    set: &TaskSet,
    parameters: &Parameters,
    analysis: Analysis,
) -> Result<System, Refusal> {
    let about = policy.about();
    // What was recorded ran.
    if analysis != Analysis::Skip && policy.fields().cpus != Use::Reads {
        set.on_one_cpu(about.name).map_err(Refusal::diagnosed)?;
    }
    let tasks = set.to_tasks(about.name).map_err(Refusal::diagnosed)?;
    let mut given = given(set, parameters)?;
    given.parameters = given.parameters.only(about.parameters);
    given.file = given.file.only(about.parameters);
    let rule = policy.rule(&tasks);
    check_rule(&rule, tasks.len(), about.name)?;
    let test = policy.test(options)?.and_then(|name| registry.test(name));
    let asked = match (test, analysis) {
        (Some(test), Analysis::Ask | Analysis::With(_)) => {
            // A policy whose test is for one CPU schedules one, whatever the platform has.
            let cpus = match test.is_for_several_cpus {
                true => cpus(set),
                false => NonZeroU16::MIN,
            };
            let rules = policy.server_rules(options);
            let user = (about.name, &rules);
            let problem = of_tasks(set, tasks.clone(), cpus, (test, user, &given, &rule))?;
            Some(Asked::new(test, problem, analysis.overheads()))
        }
        (Some(_) | None, _) => None,
    };
    let proof = match (&asked, analysis) {
        (_, Analysis::Skip) => Proof::NotAsked,
        (Some(asked), _) => proof(asked.test, asked.proving(), options, set),
        (None, _) => Proof::NoTest,
    };
    let mut system = policy.build(&Setup {
        set,
        tasks: &tasks,
        levels: levels(set)?,
        options,
        given: &given,
        rule: &rule,
        problem: asked.as_ref().map(|asked| &asked.problem),
        found: asked.as_ref().map(|asked| (asked.test, &asked.found)),
        overheads: analysis.overheads(),
        proof: &proof,
    })?;
    if let Some(asked) = &asked {
        take_back(&mut system, asked.test, asked.proving());
        keep_bounds(&mut system, asked.proving());
    }
    Ok(system)
}

/// What the policy's test was asked and answered.
struct Asked<'a> {
    test: &'a Test,
    problem: Problem,
    /// Of what the system is built.
    found: Outcome,
    /// What is said of it with overheads, if that is something else.
    with_overheads: Option<Outcome>,
}

impl<'a> Asked<'a> {
    fn new(test: &'a Test, problem: Problem, overheads: Option<Overheads>) -> Self {
        let Some(overheads) = overheads else {
            let found = test.analyse(&problem);
            return Self {
                test,
                problem,
                found,
                with_overheads: None,
            };
        };
        let costly = problem.clone().with_overheads(overheads);
        let answer = test.analyse(&costly);
        match answer.verdict {
            Verdict::Schedulable => Self {
                test,
                problem: costly,
                found: answer,
                with_overheads: None,
            },
            Verdict::Unschedulable | Verdict::NotProven => Self {
                test,
                found: test.analyse(&problem),
                problem,
                with_overheads: Some(answer),
            },
        }
    }

    /// What a proof follows from.
    fn proving(&self) -> &Outcome {
        self.with_overheads.as_ref().unwrap_or(&self.found)
    }
}

/// What is given instead of being found: parameters, and what stands in the file.
///
/// # Errors
/// A file in which only some tasks have a priority.
pub fn given(set: &TaskSet, parameters: &Parameters) -> Result<Given, Refusal> {
    let priorities = set.file_priorities().map_err(Refusal::diagnosed)?;
    Ok(Given {
        parameters: parameters.clone(),
        file: Parameters {
            priorities,
            partition: file_partition(set),
            ..Parameters::default()
        },
    })
}

/// The CPUs that the file gives to tasks; `None` if it gives none.
fn file_partition(set: &TaskSet) -> Option<Vec<Option<CpuId>>> {
    let homes = set.tasks.iter().map(|task| task.cpu.map(CpuId));
    let homes: Vec<Option<CpuId>> = homes.collect();
    homes.iter().any(Option::is_some).then_some(homes)
}

/// How many CPUs the platform has.
fn cpus(set: &TaskSet) -> NonZeroU16 {
    NonZeroU16::new(set.platform.cpus).unwrap_or(NonZeroU16::MIN)
}

/// What `test` is asked about a set, with what is given of what it takes.
///
/// # Errors
/// What the set does not have and the test needs; parameters that are not for this set.
pub fn problem(set: &TaskSet, test: &Test, given: &Given) -> Result<Problem, Refusal> {
    if test.is_for_job_sets {
        return of_jobs(set, test, given);
    }
    let tasks = set.to_tasks(test.name).map_err(Refusal::diagnosed)?;
    let rules = server_rules(test);
    let rule = Parameters::default();
    let user = (test.name, &rules);
    of_tasks(set, tasks, cpus(set), (test, user, given, &rule))
}

/// How the built-in policies that a test is about read servers, and so does the test.
#[must_use]
pub fn server_rules(test: &Test) -> ServerRules {
    let mut policies = policies::all().into_iter();
    let of_test = policies.find(|policy| {
        let mut names = policy.about().tests.iter();
        names.any(|name| test.is_called(name))
    });
    of_test.map_or(ServerRules::EVERY_KIND, |policy| {
        policy.server_rules(&Options::default())
    })
}

/// What a policy with these options has against the servers of a set, or, if it can use them, warns of.
#[must_use]
pub fn said_of_servers(
    policy: &dyn Policy,
    options: &Options,
    set: &TaskSet,
) -> Option<Diagnostics> {
    match policy.fields().servers {
        Use::Reads => {
            let user = User {
                name: policy.about().name,
                rules: &policy.server_rules(options),
                given: None,
            };
            servers::said(set, user)
        }
        Use::Rule(_) | Use::Ignored(_) => None,
    }
}

/// What `test` is asked about a set under a policy: the same, in the order that the policy has by a rule of its own.
///
/// # Errors
/// The same.
pub fn problem_under(
    policy: &dyn Policy,
    set: &TaskSet,
    test: &Test,
    given: &Given,
) -> Result<Problem, Refusal> {
    let tasks = set.to_tasks(test.name).map_err(Refusal::diagnosed)?;
    let rule = policy.rule(&tasks);
    check_rule(&rule, tasks.len(), policy.about().name)?;
    let rules = policy.server_rules(&Options::default());
    let user = (policy.about().name, &rules);
    of_tasks(set, tasks, cpus(set), (test, user, given, &rule))
}

/// `name` is what the user named, a policy or a test: what is wrong with servers is said of that.
fn of_tasks(
    set: &TaskSet,
    tasks: Vec<Task>,
    cpus: NonZeroU16,
    (test, (name, rules), given, rule): (&Test, (&str, &ServerRules), &Given, &Parameters),
) -> Result<Problem, Refusal> {
    let problem = Problem::new(tasks, levels(set)?).map(|new| new.with_phasing(phasing(set)));
    let taken = given.all().only(test.takes);
    let refused = |error: ProblemError| Refusal::input(error.to_string());
    let problem = problem
        .and_then(|new| new.with_cpus(cpus))
        .map_err(refused)?;
    let problem = problem
        .with_first_releases(first_releases(set))
        .with_aborted(aborted(set));
    let problem = on_platform(problem, set);
    // Policies that schedule tasks by themselves ignore servers, and so do their tests.
    let problem = match test.is_for_servers {
        true => {
            let user = User {
                name,
                rules,
                given: taken.servers.as_deref(),
            };
            servers::in_servers(problem, set, user, given)?
        }
        false => problem,
    };
    let problem = problem.with(&taken).and_then(|new| new.with(rule));
    problem.map_err(refused)
}

fn of_jobs(set: &TaskSet, test: &Test, given: &Given) -> Result<Problem, Refusal> {
    let wcets = set.to_jobs(test.name).map_err(Refusal::diagnosed)?;
    let jobs = set.jobs.iter().zip(wcets).map(|(job, wcet)| FiniteJob {
        criticality: job.criticality,
        release: job.release,
        deadline: job.deadline,
        wcet,
    });
    let problem = Problem::of_jobs(jobs.collect(), levels(set)?);
    let given = given.all().only(test.takes);
    problem
        .and_then(|new| new.with_cpus(cpus(set))?.with(&given))
        .map_err(|error| Refusal::input(error.to_string()))
}

/// How many levels the set has.
///
/// # Errors
/// None for a valid set.
pub fn levels(set: &TaskSet) -> Result<LevelSet, Refusal> {
    let count = set.levels.len();
    LevelSet::new(count).ok_or_else(|| Refusal::bug(format!("a valid file has {count} levels")))
}

/// When the first job of each periodic task is released.
fn first_releases(set: &TaskSet) -> Vec<Option<Duration>> {
    let of = |task: &TaskSpec| (task.arrival == Arrival::Periodic).then_some(task.offset);
    set.tasks.iter().map(of).collect()
}

/// Whose jobs are dropped at their deadlines.
fn aborted(set: &TaskSet) -> Vec<bool> {
    let tasks = set.tasks.iter();
    tasks
        .map(|task| task.on_miss == Some(OnMiss::Abort))
        .collect()
}

/// With what its levels are under MC², if they can be, with the CPU that takes all interrupts, and with the memory bus, if there is one.
/// Both arbitrations of that let an access wait for one of each other CPU at most.
fn on_platform(problem: Problem, set: &TaskSet) -> Problem {
    let problem = problem
        .with_grades(Grade::of_levels(&set.levels).unwrap_or_default())
        .with_interrupt_master(set.platform.interrupt_master.map(CpuId));
    match set.platform.bus {
        None => problem,
        Some(bus) => problem.with_bus(Bus {
            access: bus.access,
            accesses: set.tasks.iter().map(|task| task.accesses.clone()).collect(),
        }),
    }
}

/// Two periodic tasks with different offsets may never be released together; and where jobs are
/// dropped at their deadlines, the run in which a task misses may not exist.
fn phasing(set: &TaskSet) -> Phasing {
    let mut tasks = set.tasks.iter();
    if tasks.any(|task| task.on_miss == Some(OnMiss::Abort)) {
        return Phasing::Restricted;
    }
    let periodic = set
        .tasks
        .iter()
        .filter(|task| task.arrival == Arrival::Periodic);
    let mut offsets = periodic.map(|task| task.offset);
    let first = offsets.next();
    match offsets.all(|offset| Some(offset) == first) {
        true => Phasing::Arbitrary,
        false => Phasing::Restricted,
    }
}

/// A rule has a value for each task.
fn check_rule(rule: &Parameters, tasks: usize, name: &str) -> Result<(), Refusal> {
    let given = rule.priorities.as_ref().map_or(tasks, Vec::len);
    if given == tasks {
        return Ok(());
    }
    Err(
        Refusal::input(format!("it gives {given} priorities for {tasks} tasks"))
            .with_help("its rule returns one priority for each task, in the order of the tasks")
            .about(format!("use the policy {name}")),
    )
}

/// What a test's answer is worth for a run with these options.
fn proof(test: &Test, outcome: &Outcome, options: &Options, set: &TaskSet) -> Proof {
    let by = test.to_string();
    let unproved = |says: String, why| Proof::Unproved {
        by: by.clone(),
        says,
        why,
    };
    match outcome.verdict {
        Verdict::Schedulable => {
            let nowhere =
                |row: &&vestal_analysis::parameters::Row| (row.get)(&outcome.parameters).is_none();
            let mut takes = test.takes.iter().map(|parameter| parameter.row());
            if let Some(row) = takes.find(nowhere) {
                let says = format!(
                    "proves the set schedulable only by {} that are no whole nanoseconds",
                    row.words
                );
                return unproved(says, None);
            }
            match options.exhaustion() {
                Exhaustion::Continue => Proof::NotCovered {
                    by,
                    what: "exhaustion=continue".to_owned(),
                },
                Exhaustion::Background | Exhaustion::Abort => Proof::Proved { by },
            }
        }
        Verdict::NotProven if outcome.claim == Some(Verdict::Schedulable) => unproved(
            "claims the set schedulable and proves nothing".to_owned(),
            None,
        ),
        Verdict::Unschedulable | Verdict::NotProven => {
            let tasks: Vec<String> = set.tasks.iter().map(|task| task.name.clone()).collect();
            let servers = servers::server_names(set);
            let names = Names {
                tasks: &tasks,
                levels: &set.levels,
                servers: &servers,
            };
            let why = outcome
                .why
                .as_ref()
                .map(|why| why.with_names(names).to_string());
            let why = why.unwrap_or_else(|| "no reason is known".to_owned());
            unproved("does not prove the set schedulable".to_owned(), Some(why))
        }
    }
}

/// Takes a proof back that is about other limits or another order than were built.
fn take_back(system: &mut System, test: &Test, outcome: &Outcome) {
    let policy = system.policy.clone();
    for cluster in &mut system.clusters {
        let priorities: Vec<u32> = cluster
            .configuration
            .tasks()
            .iter()
            .map(|entry| entry.priority)
            .collect();
        let proved = outcome.parameters.priorities.as_deref();
        let same_order = proved.is_none_or(|proved| by_urgency(proved) == by_urgency(&priorities));
        for domain in &mut cluster.domains {
            let same_limits = match (&domain.guarantee.terms, test.limits) {
                (Terms::Deadlines { enforcement, .. }, Some(limits)) => *enforcement == limits,
                (Terms::Deadlines { .. }, None)
                | (Terms::Servers | Terms::Tardiness(_) | Terms::Nothing, _) => true,
            };
            let other = match (same_limits, same_order) {
                (true, true) => continue,
                (false, _) => "other limits",
                (true, false) => "another order",
            };
            if let Proof::Proved { by } | Proof::NotCovered { by, .. } = &domain.guarantee.proof {
                domain.guarantee.proof = Proof::Unproved {
                    by: by.clone(),
                    says: "does not prove the set schedulable".to_owned(),
                    why: Some(format!("it speaks of {other} than {policy} has")),
                };
            }
        }
    }
}

/// Keeps what was found of servers where that proves something.
fn keep_bounds(system: &mut System, outcome: &Outcome) {
    let servers = outcome.servers.iter();
    let bounds: Vec<Vec<_>> = servers.map(|found| found.responses.clone()).collect();
    let domains = system
        .clusters
        .iter_mut()
        .flat_map(|cluster| &mut cluster.domains);
    for domain in domains {
        let guarantee = &mut domain.guarantee;
        let is_proved = matches!(guarantee.proof, Proof::Proved { .. });
        if is_proved && guarantee.terms == Terms::Servers {
            guarantee.bounds.clone_from(&bounds);
        }
    }
}

/// The positions of the tasks, most urgent first; among equal priorities the first one is.
fn by_urgency(priorities: &[u32]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..priorities.len()).collect();
    positions.sort_by_key(|&position| Reverse(priorities.get(position)));
    positions
}
