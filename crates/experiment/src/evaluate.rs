//! What is asked of one set: tests, simulations, and checks of what tests accept.
//!
//! A test has no time limit: with a clock, the same experiment would give other results on another
//! machine. Tests that may take too long count their own steps instead and give up at a fixed number
//! ([`vestal_analysis::Reason::SearchLimit`]); such a set is *not decided* and counted apart.

use crate::carried::{Carried, is_simple};
use crate::file::SimulationSpec;
use crate::misses;
use std::fmt;
use vestal_analysis::{Problem, Reason, Scratch, Test};
use vestal_core::policy::OrderRule;
use vestal_core::{Duration, Instant, LevelSet, Policy, Service, Task, TaskId, policy};
use vestal_sim::{Backlog, Demand, Releases, Setting, SimulationError, Statistics};
use vestal_workload::quantity::parse_time;
use vestal_workload::{Scenario, ScenarioSpec, TaskSet, Workload};

/// What a test or a simulation said of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The test's condition does not hold; a guaranteed deadline was missed.
    No = 0,
    /// The condition holds, or an unsafe test's paper claims it; no guaranteed deadline was missed.
    Yes = 1,
    /// The search was given up.
    Undecided = 2,
}

impl Answer {
    /// From the number that files hold.
    #[must_use]
    pub const fn from_number(number: i32) -> Option<Self> {
        match number {
            0 => Some(Self::No),
            1 => Some(Self::Yes),
            2 => Some(Self::Undecided),
            _ => None,
        }
    }
}

/// Something that is asked of every set.
#[derive(Clone, Debug)]
pub enum Question {
    /// Does this test accept it?
    Test(&'static Test),
    /// Does this simulation miss no guaranteed deadline?
    Simulation(Simulation),
    /// What becomes of the test's acceptance? *Yes*: a sound test of the same policy proves the set. *No*: a
    /// run misses a guaranteed deadline under what the test chose (a bounded search, `misses.rs`). *Undecided*: neither
    /// was found, or the test does not accept the set.
    Check(Check),
}

/// A check of what a test accepts.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    test: &'static Test,
    policy: &'static Policy,
}

impl Check {
    /// The test whose acceptances are checked.
    #[must_use]
    pub const fn test(&self) -> &'static Test {
        self.test
    }
}

/// What the names of checks begin with.
const CHECK: &str = "check:";

/// The name of the check of a test in results.
#[must_use]
pub fn check_label(test: &str) -> String {
    format!("{CHECK}{test}")
}

/// Whether a name is that of a check.
#[must_use]
pub fn is_check(label: &str) -> bool {
    label.starts_with(CHECK)
}

/// A simulation of every set.
#[derive(Clone, Debug)]
pub struct Simulation {
    policy: &'static Policy,
    scenario: Scenario,
    duration: Duration,
    /// Its name in results.
    label: String,
}

/// Why a question cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionError {
    /// There is no test or policy of this name.
    Unknown {
        /// `test` or `policy`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// The simulation is not described well.
    Simulation(String),
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { kind, name } => write!(f, "there is no {kind} `{name}`"),
            Self::Simulation(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for QuestionError {}

impl Question {
    /// The column's name in results: the test's, `sim:POLICY/SCENARIO`, or `check:TEST`.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Test(test) => test.to_string(),
            Self::Simulation(simulation) => simulation.label.clone(),
            Self::Check(check) => check_label(&check.test.to_string()),
        }
    }

    /// The test, if it is one.
    #[must_use]
    pub const fn test(&self) -> Option<&'static Test> {
        match self {
            Self::Test(test) => Some(test),
            Self::Simulation(_) | Self::Check(_) => None,
        }
    }

    /// The check of what a test accepts.
    ///
    /// # Errors
    /// [`QuestionError`] if sweeps do not simulate the test's policy.
    pub fn check(test: &'static Test) -> Result<Self, QuestionError> {
        let policy = policy::find(test.policy).filter(|policy| is_simple(policy));
        let policy = policy.ok_or_else(|| {
            QuestionError::Simulation(format!(
                "what `{test}` accepts cannot be checked: the policy `{}` is not simulated in sweeps in this version",
                test.policy
            ))
        })?;
        Ok(Self::Check(Check { test, policy }))
    }

    /// The simulation that a file describes.
    ///
    /// # Errors
    /// [`QuestionError`] if there is no such policy, or it needs more than one CPU, a scenario file or
    /// an order that no rule gives.
    pub fn simulation(spec: &SimulationSpec) -> Result<Self, QuestionError> {
        let policy = policy::find(&spec.policy).ok_or_else(|| QuestionError::Unknown {
            kind: "policy",
            name: spec.policy.clone(),
        })?;
        // Other orders and enforcements take parameters that a set of a sweep does not have.
        let has_lists = matches!(policy.order, OrderRule::JobLists(_));
        if !is_simple(policy) || has_lists {
            return Err(QuestionError::Simulation(format!(
                "the policy `{}` is not simulated in sweeps in this version",
                policy.name
            )));
        }
        let named = match Scenario::parse(&spec.scenario) {
            Ok(ScenarioSpec::Named(scenario)) => scenario,
            Ok(ScenarioSpec::File(_)) | Err(_) => {
                return Err(QuestionError::Simulation(format!(
                    "`{}` is no scenario for random sets: lo, hi, overrun=P or beta=MEAN,P",
                    spec.scenario
                )));
            }
        };
        let duration = parse_time(&spec.duration).filter(|&nanos| nanos > 0);
        let duration = duration.ok_or_else(|| {
            QuestionError::Simulation(format!("`{}` is no time such as 10s", spec.duration))
        })?;
        Ok(Self::Simulation(Simulation {
            policy,
            scenario: named,
            duration: Duration::from_nanos(duration),
            label: format!("sim:{}/{}", spec.policy, spec.scenario),
        }))
    }
}

/// Asks questions; keeps what it has allocated from set to set.
#[derive(Debug, Default)]
pub struct Evaluator {
    scratch: Scratch,
}

impl Evaluator {
    /// The answers to all questions about one set. `seed` is the set's own.
    ///
    /// # Errors
    /// What is wrong with the set; a bug in a recipe.
    pub fn answers(
        &mut self,
        set: &TaskSet,
        seed: u64,
        questions: &[Question],
    ) -> Result<Vec<Answer>, String> {
        let tasks = set.to_tasks("sweep").map_err(|error| error.to_string())?;
        let levels = LevelSet::new(set.levels.len()).ok_or("no level")?;
        let problem = Problem::new(tasks.clone(), levels).map_err(|error| error.to_string())?;
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            answers.push(match question {
                Question::Test(test) => self.ask(test, &problem),
                Question::Simulation(simulation) => {
                    simulation.run(set, &tasks, levels, &problem, seed)?
                }
                Question::Check(check) => self.check(*check, &problem, seed)?,
            });
        }
        Ok(answers)
    }

    fn check(&mut self, check: Check, problem: &Problem, seed: u64) -> Result<Answer, String> {
        let Check { test, policy } = check;
        if !test.accepts(problem, &mut self.scratch) {
            return Ok(Answer::Undecided);
        }
        let sound = || {
            let tests = vestal_analysis::tests().iter();
            tests.filter(|other| other.is_sound() && other.policy == test.policy)
        };
        if sound().any(|other| other.accepts(problem, &mut self.scratch)) {
            return Ok(Answer::Yes);
        }
        let chosen = test.analyse(problem).parameters;
        let weak = weak_tasks(problem, chosen.priorities.as_deref(), sound());
        let tasks = problem.tasks();
        let Some(carried) = Carried::with(policy, tasks, problem.levels(), chosen) else {
            return Ok(Answer::Undecided);
        };
        Ok(match misses::finds_miss(&carried, &weak, seed)? {
            true => Answer::No,
            false => Answer::Undecided,
        })
    }

    fn ask(&mut self, test: &Test, problem: &Problem) -> Answer {
        if test.accepts(problem, &mut self.scratch) {
            return Answer::Yes;
        }
        // Only the full answer tells a refusal from a search that was given up.
        match test.analyse(problem).why {
            Some(Reason::SearchLimit { .. }) => Answer::Undecided,
            Some(_) | None => Answer::No,
        }
    }
}

impl Simulation {
    fn run(
        &self,
        set: &TaskSet,
        tasks: &[Task],
        levels: LevelSet,
        problem: &Problem,
        seed: u64,
    ) -> Result<Answer, String> {
        let test = vestal_analysis::find(self.policy.test, None).ok_or("no such test")?;
        let found = test.analyse(problem).parameters;
        let carried = Carried::with_or_by_deadline(self.policy, tasks, levels, found);
        let carried = carried.ok_or_else(|| format!("{} in a sweep", self.policy.name))?;
        let mut scheduler = carried.scheduler()?;
        let setting = Setting {
            tasks,
            cpus: 1,
            end: Instant::EPOCH.saturating_add(self.duration),
            backlog: Backlog::UNLIMITED,
        };
        let workload = Workload::new(set, tasks, self.scenario.clone(), seed);
        let jobs = Jobs(&workload);
        let mut statistics = Statistics::new(tasks, 1, carried.enforcement(), Carried::EXHAUSTION);
        let ended = vestal_sim::simulate(&mut scheduler, &setting, &jobs, &jobs, &mut statistics);
        let cut = match ended {
            Ok(_) => false,
            Err(SimulationError::TooManyKept { .. }) => true,
            Err(error) => return Err(error.to_string()),
        };
        Ok(match statistics.jobs().missed_guaranteed {
            0 if cut => Answer::Undecided,
            0 => Answer::Yes,
            _ => Answer::No,
        })
    }
}

/// The tasks whose deadlines a miss is looked for at: those that no sound test bounds under the given
/// priorities, or all, where the tests say nothing of single tasks.
fn weak_tasks<'a>(
    problem: &Problem,
    priorities: Option<&[u32]>,
    sound: impl Iterator<Item = &'a Test>,
) -> Vec<usize> {
    let all = 0..problem.tasks().len();
    let given = priorities.map(|given| problem.clone().with_priorities(given.to_vec()));
    let Some(Ok(given)) = given else {
        return all.collect();
    };
    let outcomes: Vec<_> = sound.map(|test| test.analyse(&given).tasks).collect();
    let is_bounded = |task: usize| {
        let mut each = outcomes.iter().filter_map(|tasks| tasks.get(task));
        each.any(|found| !found.responses.is_empty() && found.responses.iter().all(Option::is_some))
    };
    let weak: Vec<usize> = all.clone().filter(|task| !is_bounded(*task)).collect();
    match weak.is_empty() {
        true => all.collect(),
        false => weak,
    }
}

/// The jobs of a workload as the simulator asks for them.
struct Jobs<'a>(&'a Workload);

impl Releases for Jobs<'_> {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        match previous {
            None => self.0.release(task, sequence),
            Some(previous) => self.0.next_release(task, sequence, previous),
        }
    }
}

impl Demand for Jobs<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        self.0.execution(task, sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{Level, Wcet};

    /// z, T = D, and C(0), ..., C(z) in nanoseconds.
    fn problem(rows: &[(u8, u64, &[u64])]) -> Problem {
        let tasks = rows.iter().map(|&(criticality, period, wcet)| {
            let values: Vec<Service> = wcet.iter().map(|c| Service::from_nanos(*c)).collect();
            let (span, wcet) = (Duration::from_nanos(period), Wcet::new(&values).unwrap());
            Task::new(Level(criticality), span, span, wcet).unwrap()
        });
        Problem::new(tasks.collect(), LevelSet::new(2).unwrap()).unwrap()
    }

    fn checked(name: &str, problem: &Problem) -> Answer {
        let test = vestal_analysis::find(name, None).unwrap();
        let Question::Check(check) = Question::check(test).unwrap() else {
            unreachable!("it is a check")
        };
        Evaluator::default().check(check, problem, 1).unwrap()
    }

    #[test]
    fn an_acceptance_is_proved_shown_to_be_wrong_or_open() {
        let easy = problem(&[(0, 10, &[2]), (1, 20, &[2, 4])]);
        assert_eq!(checked("amc-ia", &easy), Answer::Yes);
        assert_eq!(checked("fjp-ija", &easy), Answer::Yes);
        // What is not accepted is not looked at, whatever would be found.
        let overloaded = problem(&[(0, 10, &[7]), (1, 20, &[8, 19])]);
        let ordered = overloaded.with_priorities(vec![2, 1]).unwrap();
        assert_eq!(checked("amc-ia", &ordered), Answer::Undecided);
        let wrong = problem(&[
            (1, 5, &[1, 2]),
            (1, 14, &[2, 5]),
            (0, 4, &[1]),
            (1, 14, &[1, 5]),
        ]);
        assert_eq!(checked("fjp-ija", &wrong), Answer::No);
    }

    #[test]
    fn only_what_no_sound_test_bounds_is_looked_at() {
        let problem = problem(&[(0, 4, &[1]), (1, 10, &[3, 3]), (1, 10, &[2, 8])]);
        let sound = || {
            let tests = vestal_analysis::tests().iter();
            tests.filter(|test| test.is_sound() && test.policy == "amc")
        };
        assert_eq!(weak_tasks(&problem, Some(&[3, 2, 1]), sound()), [2]);
        assert_eq!(weak_tasks(&problem, None, sound()), [0, 1, 2]);
        assert_eq!(
            weak_tasks(&problem, Some(&[3, 2, 1]), [].into_iter()),
            [0, 1, 2]
        );
    }
}
