//! What is asked of one set: tests, and simulations.
//!
//! A test has no time limit: with a clock, the same experiment would give other results on another
//! machine. Tests that may take too long count their own steps instead and give up at a fixed number
//! ([`vestal_analysis::Reason::SearchLimit`]); such a set is *not decided* and counted apart.

use crate::file::SimulationSpec;
use std::fmt;
use vestal_analysis::{Problem, Reason, Scratch, Test};
use vestal_core::policy::{OrderRule, VirtualDeadlines};
use vestal_core::{
    Configuration, Duration, Enforcement, Exhaustion, Instant, LevelSet, OnMiss, Policy, Service,
    Task, TaskConfiguration, TaskId, TaskOrder, Uniprocessor, policy,
};
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
    /// The column's name in results: the test's, or `sim:POLICY/SCENARIO`.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Test(test) => test.to_string(),
            Self::Simulation(simulation) => simulation.label.clone(),
        }
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
        let simple = matches!(
            policy.order,
            OrderRule::Classic(_) | OrderRule::Assigned | OrderRule::EarliestDeadline(_)
        ) && matches!(
            policy.enforcement,
            Enforcement::Static | Enforcement::Adaptive
        );
        if !simple {
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
        questions
            .iter()
            .map(|question| match question {
                Question::Test(test) => Ok(self.ask(test, &problem)),
                Question::Simulation(simulation) => {
                    simulation.run(set, &tasks, levels, &problem, seed)
                }
            })
            .collect()
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
        let (priorities, deadlines) = self.order(tasks, found)?;
        let configured: Vec<TaskConfiguration> = tasks
            .iter()
            .zip(&priorities)
            .map(|(task, priority)| TaskConfiguration {
                task: *task,
                priority: *priority,
                on_miss: OnMiss::Continue,
                zero_slack: None,
            })
            .collect();
        let configuration = Configuration {
            tasks: &configured,
            levels,
            enforcement: self.policy.enforcement,
            exhaustion: Exhaustion::Background,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        };
        let order = match &deadlines {
            Some(virtual_deadlines) => TaskOrder::EarliestDeadline { virtual_deadlines },
            None => TaskOrder::FixedPriority,
        };
        let mut scheduler =
            Uniprocessor::with_order(&configuration, order).map_err(|error| error.to_string())?;
        let setting = Setting {
            tasks,
            cpus: 1,
            end: Instant::EPOCH.saturating_add(self.duration),
            backlog: Backlog::UNLIMITED,
        };
        let workload = Workload::new(set, tasks, self.scenario.clone(), seed);
        let jobs = Jobs(&workload);
        let mut statistics = Statistics::of(&configuration, 1);
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

    /// Priorities, or virtual deadlines: what the policy's test chose, and where it chose nothing,
    /// deadline-monotonic priorities or the real deadlines.
    fn order(
        &self,
        tasks: &[Task],
        found: vestal_analysis::Parameters,
    ) -> Result<(Vec<u32>, Option<Vec<Duration>>), String> {
        let by = |order: vestal_core::ClassicOrder| -> Vec<u32> {
            let numbers = 0..u16::try_from(tasks.len()).unwrap_or(u16::MAX);
            numbers
                .filter_map(|task| order.priority_of(TaskId(task), tasks))
                .collect()
        };
        let real = || tasks.iter().map(|task| task.deadline).collect();
        if let OrderRule::Classic(order) = self.policy.order {
            return Ok((by(order), None));
        }
        if let OrderRule::Assigned = self.policy.order {
            let deadline_monotonic = || by(vestal_core::ClassicOrder::DeadlineMonotonic);
            return Ok((found.priorities.unwrap_or_else(deadline_monotonic), None));
        }
        if let OrderRule::EarliestDeadline(rule) = self.policy.order {
            let deadlines = match rule {
                VirtualDeadlines::Real => real(),
                VirtualDeadlines::Assigned => found.virtual_deadlines.unwrap_or_else(real),
            };
            return Ok((vec![0; tasks.len()], Some(deadlines)));
        }
        Err(format!("{} is no policy for a sweep", self.policy.name))
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
