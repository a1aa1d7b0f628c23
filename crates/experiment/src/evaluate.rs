//! What is asked of one set: tests, simulations with what is measured in them, and checks of what tests accept.
//!
//! A test has no time limit: with a clock, the same experiment would give other results on another
//! machine. Tests that may take too long count their own steps instead and stop at a fixed number
//! ([`vestal_analysis::Reason::SearchLimit`]); such a set is *not decided* and counted apart.

use crate::carried::Carried;
use crate::costs::{Costs, Statistic};
use crate::file::Experiment;
use crate::measure::Asked;
use crate::misses;
use crate::redrawn::Redrawn;
use crate::several::Outcome;
use crate::simulation::{
    Built, Drawn, Ended, Judged, Measurement, QuestionError, Ran, Simulation, built, system,
};
use crate::spec::SimulationSpec;
use std::borrow::Cow;
use std::cell::LazyCell;
use std::fmt;
use vestal_analysis::{Decision, Overheads, Parameters, Problem, Scratch, Test};
use vestal_core::{LevelSet, Task};
use vestal_policy::{Analysis, Cluster, Given, Options, Policy, Registry, Use};
use vestal_sim::FrameStatistics;
use vestal_workload::TaskSet;
use vestal_workload::generate::{Tasks, derived_seed};

/// What a test or a simulation said of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The test's condition does not hold; the policy has no order for the set, or a guaranteed deadline was
    /// missed.
    No = 0,
    /// The condition holds, or an unsafe test's paper claims it; no guaranteed deadline was missed.
    Yes = 1,
    /// The search reached its limit.
    Undecided = 2,
    /// It was not asked: the policy, or the test of servers, does not take such a set.
    Refused = 3,
}

impl Answer {
    /// From the number that files hold.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::No),
            1 => Some(Self::Yes),
            2 => Some(Self::Undecided),
            3 => Some(Self::Refused),
            _ => None,
        }
    }
}

/// Something that is asked of every set.
#[derive(Clone, Debug)]
pub enum Question<'a> {
    /// Does this test accept it?
    Test(TestQuestion<'a>),
    /// Does this simulation miss no guaranteed deadline?
    Simulation(Simulation<'a>),
    /// What becomes of the test's acceptance? *Yes*: a sound test of the same policy proves the set. *No*: a
    /// run misses a guaranteed deadline under what the test chose (a bounded search, `misses.rs`). *Undecided*: neither
    /// was found, or the test does not accept the set. *Refused*: the policy does not take the set.
    Check(Check<'a>),
    /// What is counted in this simulation? *Yes*: it ran to its end; *no*: the policy has no order for the set;
    /// *undecided*: too many jobs waited before; *refused*: the policy does not take the set. Only of the first there are counts.
    Measure(Measurement<'a>),
    /// The same about the set that its seed gives with other parameters of the recipe.
    Redrawn(Redrawn<Self>),
}

/// A test, and the overheads with which it is asked.
#[derive(Clone, Debug)]
pub struct TestQuestion<'a> {
    /// The test.
    pub test: &'a Test,
    /// With which overheads; none: without.
    pub overheads: Option<(Statistic, Overheads)>,
}

impl<'a> From<&'a Test> for TestQuestion<'a> {
    fn from(test: &'a Test) -> Self {
        Self {
            test,
            overheads: None,
        }
    }
}

impl fmt::Display for TestQuestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.overheads {
            None => write!(f, "{}", self.test),
            Some((statistic, _)) => write!(f, "{}@{}", self.test, statistic.name()),
        }
    }
}

/// A check of what a test accepts.
#[derive(Clone, Debug)]
pub struct Check<'a> {
    test: &'a Test,
    registry: &'a Registry,
    policy: &'a dyn Policy,
    /// Those under which the test is about the policy.
    options: Options,
}

impl<'a> Check<'a> {
    /// The test whose acceptances are checked.
    #[must_use]
    pub const fn test(&self) -> &'a Test {
        self.test
    }

    /// The policy under which runs are searched for a miss.
    #[must_use]
    pub const fn policy(&self) -> &'a dyn Policy {
        self.policy
    }

    /// The tests that prove what is accepted, if they accept it too: those that speak of the same system.
    fn sound(
        &self,
        set: &TaskSet,
        chosen: &LazyCell<Parameters, impl FnOnce() -> Parameters>,
    ) -> Result<Vec<&'a Test>, String> {
        let mut found = Vec::new();
        for name in self.policy.about().tests {
            let Some(test) = self.registry.test(name).filter(|test| test.is_sound()) else {
                continue;
            };
            let options = self.registry.options_of(self.policy, test);
            if options == self.options
                || self.system(&options, set, chosen)? == self.system(&self.options, set, chosen)?
            {
                found.push(test);
            }
        }
        Ok(found)
    }

    /// Whether the policy takes such a set, whatever its test says of it.
    fn takes(&self, set: &TaskSet) -> bool {
        let about = self.policy.about();
        let is_for_one = self.policy.fields().cpus != Use::Reads;
        if is_for_one && set.on_one_cpu(about.name).is_err() {
            return false;
        }
        let by = (self.policy, &self.options, Analysis::Skip);
        let built = built(self.registry, by, set, &Parameters::default());
        !matches!(built, Ok(Built::Refused))
    }

    /// What decides under these options, with what the test chose; `None` if there is nothing that could.
    fn system(
        &self,
        options: &Options,
        set: &TaskSet,
        chosen: &Parameters,
    ) -> Result<Option<Vec<Cluster>>, String> {
        let by = (self.policy, options, Analysis::Skip);
        Ok(system(self.registry, by, set, chosen)?.map(|system| system.clusters))
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

impl<'a> Question<'a> {
    /// The column's name in results: the test's, with overheads `TEST@STATISTIC`, `sim:POLICY/SCENARIO`, or `check:TEST`.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Test(test) => test.to_string(),
            Self::Simulation(simulation) => simulation.label(),
            Self::Check(check) => check_label(&check.test.to_string()),
            Self::Measure(measurement) => measurement.label(),
            Self::Redrawn(redrawn) => redrawn.label(&redrawn.question().label()),
        }
    }

    /// Which columns it has in results.
    #[must_use]
    pub fn asked(&self) -> Asked {
        if let Self::Redrawn(redrawn) = self {
            return Asked {
                label: self.label(),
                ..redrawn.question().asked()
            };
        }
        Asked {
            label: self.label(),
            counted: match self {
                Self::Measure(measurement) => Some(measurement.counted.clone()),
                Self::Test(_) | Self::Simulation(_) | Self::Check(_) | Self::Redrawn(_) => None,
            },
            taken: match self {
                Self::Test(question) => {
                    let overheads = question.overheads.as_ref();
                    overheads.map(|(_, overheads)| format!("{overheads:?}"))
                }
                Self::Simulation(simulation) => simulation.taken(),
                Self::Measure(measurement) => measurement.simulation().taken(),
                Self::Check(_) | Self::Redrawn(_) => None,
            },
        }
    }

    /// The test, if it is one.
    #[must_use]
    pub fn test(&self) -> Option<&'a Test> {
        match self {
            Self::Test(question) => Some(question.test),
            Self::Redrawn(redrawn) => redrawn.question().test(),
            Self::Simulation(_) | Self::Check(_) | Self::Measure(_) => None,
        }
    }

    /// Of whom a simulation in servers judges anything, in the first set of each point: each answer once.
    #[must_use]
    pub fn judged(&self, experiment: &Experiment) -> Vec<Judged> {
        let mut all: Vec<Judged> = Vec::new();
        for (number, point) in (0..).zip(experiment.points()) {
            let seed = derived_seed(experiment.seed, &[number, 0]);
            let set = point.recipe.draw(seed).ok();
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            let found = set.and_then(|set| self.judged_in(&set, (at, seed)));
            all.extend(found.filter(|found| !all.contains(found)));
        }
        all
    }

    fn judged_in(&self, set: &TaskSet, drawn: (usize, u64)) -> Option<Judged> {
        match self {
            Self::Simulation(simulation) => simulation.judged(set),
            Self::Redrawn(redrawn) => {
                let other = redrawn.draw(drawn).ok()?;
                redrawn.question().judged_in(&other, drawn)
            }
            Self::Test(_) | Self::Check(_) | Self::Measure(_) => None,
        }
    }

    /// The check of what a test accepts.
    ///
    /// # Errors
    /// [`QuestionError`] if the test speaks of no policy.
    pub fn check(registry: &'a Registry, test: &'a Test) -> Result<Self, QuestionError> {
        let policy = registry
            .policies_of(test)
            .next()
            .ok_or_else(|| QuestionError::NoPolicy(test.to_string()))?;
        Ok(Self::Check(Check {
            test,
            registry,
            policy,
            options: registry.options_of(policy, test),
        }))
    }

    /// The simulation that a file describes, or what is measured in one; with the costs of the experiment's file of
    /// overheads, if there is one.
    ///
    /// # Errors
    /// [`QuestionError`] if there is no such policy, it does not have an option, or it cannot be simulated here.
    pub fn simulation(
        registry: &'a Registry,
        experiment: &Experiment,
        (spec, costs): (&SimulationSpec, Option<&Costs>),
    ) -> Result<Self, QuestionError> {
        let simulation = Simulation::new(registry, experiment, (spec, costs))?;
        Ok(match spec.measure {
            None => Self::Simulation(simulation),
            Some(measure) => Self::Measure(Measurement::new(simulation, measure, experiment)),
        })
    }
}

/// What was found of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The answer to each question.
    pub answers: Vec<Answer>,
    /// What measures counted, in the order of the questions.
    pub counts: Vec<u64>,
}

/// A set, and what it consists of.
struct Whole<'a> {
    set: &'a TaskSet,
    tasks: Vec<Task>,
    problem: Problem,
}

impl<'a> Whole<'a> {
    fn of(set: &'a TaskSet) -> Result<Self, String> {
        let tasks = set.to_tasks("sweep").map_err(|error| error.to_string())?;
        let levels = LevelSet::new(set.levels.len()).ok_or("no level")?;
        let problem = Problem::new(tasks.clone(), levels).map_err(|error| error.to_string())?;
        Ok(Self {
            set,
            tasks,
            problem,
        })
    }
}

/// Whether all questions are about tasks on one CPU, and about nothing else of a set.
#[must_use]
pub fn asks_about_tasks(questions: &[Question<'_>]) -> bool {
    questions.iter().all(|question| match question {
        Question::Test(question) => is_about_tasks(question.test),
        Question::Simulation(_)
        | Question::Check(_)
        | Question::Measure(_)
        | Question::Redrawn(_) => false,
    })
}

const fn is_about_tasks(test: &Test) -> bool {
    !test.is_for_several_cpus && !test.is_for_servers
}

/// Asks questions; keeps what it has allocated from set to set.
#[derive(Debug, Default)]
pub struct Evaluator {
    scratch: Scratch,
}

impl Evaluator {
    /// The answers to all questions about one set of the point with this number. `seed` is the set's own.
    ///
    /// # Errors
    /// What is wrong with the set; a bug in a recipe.
    pub fn answers(
        &mut self,
        set: &TaskSet,
        (point, seed): (usize, u64),
        questions: &[Question<'_>],
    ) -> Result<Found, String> {
        let whole = Whole::of(set)?;
        let mut found = Found::default();
        for question in questions {
            self.answer(question, &whole, (point, seed), &mut found)?;
        }
        Ok(found)
    }

    /// The same about tasks alone, where that is all that the questions are about ([`asks_about_tasks`]).
    ///
    /// # Errors
    /// As [`Self::answers`].
    pub fn answers_about_tasks(
        &mut self,
        drawn: Tasks,
        questions: &[Question<'_>],
    ) -> Result<Found, String> {
        let levels = LevelSet::new(drawn.levels).ok_or("no level")?;
        let problem = Problem::new(drawn.tasks, levels).map_err(|error| error.to_string())?;
        let mut found = Found::default();
        for question in questions {
            let about_tasks = match question {
                Question::Test(asked) if is_about_tasks(asked.test) => Some(asked),
                Question::Test(_)
                | Question::Simulation(_)
                | Question::Check(_)
                | Question::Measure(_)
                | Question::Redrawn(_) => None,
            };
            let Some(question) = about_tasks else {
                return Err(format!("{} asks about more than tasks", question.label()));
            };
            let answer = self.asked_with_overheads(question, Cow::Borrowed(&problem));
            found.answers.push(answer);
        }
        Ok(found)
    }

    /// Adds the answer to one of them.
    fn answer(
        &mut self,
        question: &Question<'_>,
        whole: &Whole<'_>,
        (point, seed): (usize, u64),
        found: &mut Found,
    ) -> Result<(), String> {
        let (set, problem) = (whole.set, &whole.problem);
        let drawn = Drawn {
            set,
            tasks: &whole.tasks,
            seed,
            point,
        };
        let answer = match question {
            Question::Test(question) => self.asked(question, (set, problem))?,
            Question::Simulation(simulation) => is_kept(&simulation.run(drawn)?),
            Question::Check(check) => self.check(check, (set, problem), seed)?,
            Question::Measure(measurement) => {
                let (ended, counts) = measurement.counts(drawn)?;
                found.counts.extend(counts);
                match ended {
                    Ended::NoOrder => Answer::No,
                    Ended::Refused => Answer::Refused,
                    Ended::Whole => Answer::Yes,
                    Ended::Cut => Answer::Undecided,
                }
            }
            Question::Redrawn(redrawn) => {
                let other = redrawn.draw((point, seed))?;
                let other = Whole::of(&other)?;
                return self.answer(redrawn.question(), &other, (point, seed), found);
            }
        };
        found.answers.push(answer);
        Ok(())
    }

    fn check(
        &mut self,
        check: &Check<'_>,
        (set, problem): (&TaskSet, &Problem),
        seed: u64,
    ) -> Result<Answer, String> {
        let test = check.test;
        let Some(of_test) = problem_of(test, set, problem)? else {
            return Ok(Answer::Refused);
        };
        if !check.takes(set) {
            return Ok(Answer::Refused);
        }
        if !test.accepts(&of_test, &mut self.scratch) {
            return Ok(Answer::Undecided);
        }
        // As long as a test takes that others accept faster.
        let chosen = LazyCell::new(|| test.analyse(&of_test).parameters);
        let sound = check.sound(set, &chosen)?;
        for other in &sound {
            let of_other = problem_of(other, set, problem)?;
            if of_other.is_some_and(|asked| other.accepts(&asked, &mut self.scratch)) {
                return Ok(Answer::Yes);
            }
        }
        if test.is_for_servers {
            // The search has no devices and no jobs that wait for them: its runs would be those of another system.
            return Ok(Answer::Undecided);
        }
        let weak = weak_tasks(problem, chosen.priorities.as_deref(), sound);
        let by = (check.policy, &check.options, Analysis::Skip);
        let Some(system) = system(check.registry, by, set, &chosen)? else {
            return Ok(Answer::Undecided);
        };
        let carried = Carried::new(problem.tasks(), &system)?;
        Ok(match misses::finds_miss(&carried, &weak, seed)? {
            true => Answer::No,
            false => Answer::Undecided,
        })
    }

    fn asked(
        &mut self,
        question: &TestQuestion<'_>,
        (set, problem): (&TaskSet, &Problem),
    ) -> Result<Answer, String> {
        let test = question.test;
        Ok(match problem_of(test, set, problem)? {
            Some(problem) => self.asked_with_overheads(question, problem),
            None => Answer::Refused,
        })
    }

    fn asked_with_overheads(
        &mut self,
        question: &TestQuestion<'_>,
        mut problem: Cow<'_, Problem>,
    ) -> Answer {
        if let Some((_, overheads)) = question.overheads {
            problem = Cow::Owned(problem.into_owned().with_overheads(overheads));
        }
        self.ask(question.test, &problem)
    }

    fn ask(&mut self, test: &Test, problem: &Problem) -> Answer {
        match test.decides(problem, &mut self.scratch) {
            Decision::Holds => Answer::Yes,
            Decision::Fails => Answer::No,
            Decision::Undecided => Answer::Undecided,
        }
    }
}

/// What a test is asked about: the tasks alone, or, where it speaks of several CPUs or of servers, all of the set. A test for
/// several CPUs may want to know of offsets. `None`: the servers of the set are not for it.
fn problem_of<'a>(
    test: &Test,
    set: &TaskSet,
    tasks: &'a Problem,
) -> Result<Option<Cow<'a, Problem>>, String> {
    if is_about_tasks(test) {
        return Ok(Some(Cow::Borrowed(tasks)));
    }
    match vestal_policy::problem(set, test, &Given::default()) {
        Ok(whole) => Ok(Some(Cow::Owned(whole))),
        Err(refusal) if refusal.found.is_some() => Ok(None),
        Err(refusal) => Err(refusal.to_string()),
    }
}

/// Whether no guarantee was broken.
fn is_kept(ran: &Ran) -> Answer {
    // A frame that ended before its jobs did is a failure, whether or not one of them is late, and so are jobs that were
    // dropped although nobody had needed more. Bottom halves have no deadlines: what is guaranteed of them is when bursts end.
    let missed = |carried: &Outcome| {
        let failed = |frames: FrameStatistics| frames.overrun > 0 || frames.unprovoked > 0;
        let overran = carried.frames.is_some_and(failed);
        overran || carried.figures.jobs().missed_guaranteed > 0 || carried.bursts_broken > 0
    };
    match ran {
        Ran::NoOrder => Answer::No,
        Ran::Refused => Answer::Refused,
        Ran::Whole(carried) | Ran::Cut(carried) if missed(carried) => Answer::No,
        Ran::Whole(_) => Answer::Yes,
        Ran::Cut(_) => Answer::Undecided,
    }
}

/// The tasks whose deadlines a miss is looked for at: those that no sound test bounds under the given
/// priorities, or all, where the tests say nothing of single tasks.
fn weak_tasks(problem: &Problem, priorities: Option<&[u32]>, sound: Vec<&Test>) -> Vec<usize> {
    let all = 0..problem.tasks().len();
    let given = priorities.map(|given| problem.clone().with_priorities(given.to_vec()));
    let Some(Ok(given)) = given else {
        return all.collect();
    };
    let outcomes: Vec<_> = sound
        .into_iter()
        .map(|test| test.analyse(&given).tasks)
        .collect();
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

#[cfg(test)]
#[path = "evaluate_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "evaluate_levels_tests.rs"]
mod levels_tests;
