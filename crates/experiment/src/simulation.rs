//! Simulations of every set: whether deadlines are kept, and what is measured meanwhile.

use crate::carried::guarantee;
use crate::costs::{self, Costs, CostsError, Figure};
use crate::diagnose::problem;
use crate::file::Experiment;
use crate::measure::{Counted, Measure};
use crate::several::{self, Outcome};
use crate::spec::SimulationSpec;
use std::fmt;
use toml::Spanned;
use vestal_analysis::Parameters;
use vestal_core::{Instant, Task};
use vestal_policy::{Analysis, BACKLOG, Options, Policy, Refusal, Registry, System, assemble};
use vestal_sim::{Backlog, SimulationError};
use vestal_workload::diagnostic::did_you_mean;
use vestal_workload::generate::derived_seed;
use vestal_workload::{Diagnostics, TaskSet, Workload};

/// A simulation of every set.
#[derive(Clone, Debug)]
pub struct Simulation<'a> {
    registry: &'a Registry,
    policy: &'a dyn Policy,
    options: Options,
    spec: SimulationSpec,
    /// What carrying the policy out costs.
    costs: Option<costs::Simulated>,
}

/// A set with what it consists of, its own seed, and the point that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn<'a> {
    pub(crate) set: &'a TaskSet,
    pub(crate) tasks: &'a [Task],
    pub(crate) seed: u64,
    pub(crate) point: usize,
}

/// What became of a simulation.
pub(crate) enum Ran {
    /// The policy has no order for the set.
    NoOrder,
    /// The policy does not take such a set.
    Refused,
    /// It ran to its end.
    Whole(Box<Outcome>),
    /// Too many jobs waited before that.
    Cut(Box<Outcome>),
}

/// Why a question cannot be asked.
#[derive(Clone, Debug)]
pub enum QuestionError {
    /// There is no policy of this name.
    Unknown {
        /// The name.
        name: String,
        /// The same with its place.
        found: Box<Diagnostics>,
    },
    /// Something stands in the file that cannot be.
    Refused(Box<Diagnostics>),
    /// No policy has the test as its own.
    NoPolicy(String),
    /// There is no test of this name.
    UnknownTest {
        /// The name, without a figure of overheads.
        name: String,
        /// What the question would be called in results.
        label: String,
    },
    /// Overheads with which it cannot be asked.
    Overheads(CostsError),
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { found, .. } | Self::Refused(found) => found.fmt(f),
            Self::NoPolicy(test) => write!(
                f,
                "what `{test}` accepts cannot be checked: no policy has it as its test"
            ),
            Self::UnknownTest { name, .. } => write!(f, "no test is called `{name}`"),
            Self::Overheads(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for QuestionError {}

impl<'a> Simulation<'a> {
    /// The simulation that a file describes, tried with the first set of the first point.
    ///
    /// # Errors
    /// [`QuestionError`] if there is no such policy, it does not have an option, or it cannot be simulated here.
    pub(crate) fn new(
        registry: &'a Registry,
        experiment: &Experiment,
        (spec, costs): (&SimulationSpec, Option<&Costs>),
    ) -> Result<Self, QuestionError> {
        let name = spec.policy.as_ref();
        let Some(policy) = registry.policy(name) else {
            let known = registry.policies().map(|policy| policy.about().name);
            let names: Vec<&str> = known.clone().collect();
            let found = problem(
                &experiment.source,
                Some(spec.policy.span()),
                "policy",
                format!("`{name}`, which is no policy"),
                format!("one of {}", names.join(", ")),
                did_you_mean(name, known, "vestal explain lists the policies"),
            );
            return Err(QuestionError::Unknown {
                name: name.clone(),
                found: Box::new(found),
            });
        };
        let options = registry.options(policy, &spec.options).map_err(|refusal| {
            let found = refusal.why.clone();
            let expected = format!("an option of `{name}`");
            let help = refusal.help.join("; ");
            let span = Some(spec.options_span.clone());
            let found = problem(&experiment.source, span, "set", found, expected, help);
            QuestionError::Refused(Box::new(found))
        })?;
        let costs = match (&spec.costs, costs) {
            (Some(figure), Some(costs)) => {
                let by = (registry, policy, &options);
                Some(of_mechanism(experiment, by, (figure, costs))?)
            }
            (Some(figure), None) => return Err(without_file(experiment, figure)),
            (None, _) => None,
        };
        let simulation = Self {
            registry,
            policy,
            options,
            spec: spec.clone(),
            costs,
        };
        simulation.tried(experiment)?;
        Ok(simulation)
    }

    /// Puts the policy together with the first set: what it is not able to do concerns all of them.
    fn tried(&self, experiment: &Experiment) -> Result<(), QuestionError> {
        let refused = |found: String| {
            let field = "policy";
            let expected = "a policy that guarantees deadlines to the tasks of the sets";
            let help = "docs/experiments.md says which policies can be simulated in a sweep";
            let span = Some(self.spec.policy.span());
            let found = problem(&experiment.source, span, field, found, expected, help);
            QuestionError::Refused(Box::new(found))
        };
        let points = experiment.points();
        let first = points.first().and_then(|point| {
            let seed = derived_seed(experiment.seed, &[0, 0]);
            point.recipe.draw(seed).ok()
        });
        let Some(set) = first else {
            // That sets cannot be drawn is said when they are.
            return Ok(());
        };
        let name = self.policy.about().name;
        set.to_tasks(name)
            .map_err(|found| refused(found.to_string()))?;
        match self.system(&set) {
            Ok(Built::System(system)) => {
                several::check(&system, self.costs.is_some()).map_err(refused)
            }
            // Others may be different.
            Ok(Built::NoOrder | Built::Refused) => Ok(()),
            Err(why) => Err(refused(why)),
        }
    }

    fn system(&self, set: &TaskSet) -> Result<Built, String> {
        let analysis = match &self.costs {
            Some(costs) => Analysis::With(costs.overheads),
            None => Analysis::Ask,
        };
        let by = (self.policy, &self.options, analysis);
        built(self.registry, by, set, &Parameters::default())
    }

    /// Of whom its runs judge anything in this set; `None` where all tasks are judged, or there is no system.
    pub(crate) fn judged(&self, set: &TaskSet) -> Option<Judged> {
        let by = (self.policy, &self.options, Analysis::Skip);
        let system = system(self.registry, by, set, &Parameters::default());
        let system = system.ok().flatten()?;
        let mut clusters = system.clusters.iter();
        let served = clusters.find(|cluster| cluster.guaranteed_servers().is_some())?;
        let (tasks, pibs) = guarantee(served).judged();
        Some(Judged {
            tasks,
            pibs,
            all: served.configuration.tasks().len(),
        })
    }

    /// The policy that is simulated.
    #[must_use]
    pub const fn policy(&self) -> &'a dyn Policy {
        self.policy
    }

    /// What carrying the policy out costs, if it costs anything.
    #[must_use]
    pub fn taken(&self) -> Option<String> {
        let costs = self.costs.as_ref()?;
        Some(format!("{costs:?}"))
    }

    /// Its name in results: `sim:POLICY/SCENARIO`, with costs `sim:POLICY/SCENARIO@STATISTIC`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("sim:{}", self.spec.label)
    }

    pub(crate) fn run(&self, drawn: Drawn<'_>) -> Result<Ran, String> {
        let system = match self.system(drawn.set)? {
            Built::System(system) => system,
            Built::NoOrder => return Ok(Ran::NoOrder),
            Built::Refused => return Ok(Ran::Refused),
        };
        let world = self
            .spec
            .world(drawn.point)
            .ok_or("a point without a scenario")?;
        let workload = Workload::new(drawn.set, drawn.tasks, world.scenario.clone(), drawn.seed);
        let run = several::Run {
            set: drawn.set,
            workload: &workload,
            end: Instant::EPOCH.saturating_add(world.duration),
            backlog: self
                .options
                .number(&BACKLOG)
                .map_or(Backlog::UNLIMITED, Backlog::at_most),
            costs: self.costs.as_ref().map(|costs| (costs, drawn.seed)),
        };
        let (outcome, ended) = run.of(&system, drawn.tasks.len())?;
        let outcome = Box::new(outcome);
        match ended {
            Ok(()) => Ok(Ran::Whole(outcome)),
            Err(SimulationError::TooManyKept { .. }) => Ok(Ran::Cut(outcome)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Nobody has read the file of overheads.
fn without_file(experiment: &Experiment, figure: &Spanned<Figure>) -> QuestionError {
    let found = format!("`{}`", figure.as_ref().name());
    let expected = "an experiment that `vestal sweep` reads with its file of overheads";
    let help = "docs/experiments.md describes every key".to_owned();
    let span = Some(figure.span());
    let found = problem(&experiment.source, span, "costs", found, expected, help);
    QuestionError::Refused(Box::new(found))
}

/// What the mechanism costs that carries a policy out.
fn of_mechanism(
    experiment: &Experiment,
    (registry, policy, options): (&Registry, &dyn Policy, &Options),
    (figure, costs): (&Spanned<Figure>, &Costs),
) -> Result<costs::Simulated, QuestionError> {
    let refused = |found: String, help: String| {
        let expected = "a policy that a mechanism of `overheads` carries out";
        let span = Some(figure.span());
        let found = problem(&experiment.source, span, "costs", found, expected, help);
        QuestionError::Refused(Box::new(found))
    };
    let name = policy.about().name;
    let test = policy.test(options).ok().flatten();
    let Some(test) = test.and_then(|test| registry.test(test)) else {
        let found = format!("`{name}`, which no test speaks of");
        return Err(refused(found, "leave `costs` out".to_owned()));
    };
    let mechanism = experiment.mechanism.as_deref();
    let found = costs.simulated((policy, test), *figure.as_ref(), mechanism);
    found.map_err(|error| refused(error.why, error.help))
}

/// Of whom a run in servers judges anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The tasks whose deadlines are.
    pub tasks: usize,
    /// The PIBS of which it is judged when bursts end.
    pub pibs: usize,
    /// All tasks, the bottom halves of devices included.
    pub all: usize,
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, pibs, all } = self;
        write!(f, "the deadlines of {tasks} of {all} tasks")?;
        match pibs {
            0 => Ok(()),
            _ => write!(f, " and the ends of bursts of {pibs} PIBS"),
        }
    }
}

/// A simulation in which something is measured.
#[derive(Clone, Debug)]
pub struct Measurement<'a> {
    pub(crate) simulation: Simulation<'a>,
    pub(crate) counted: Counted,
}

impl<'a> Measurement<'a> {
    /// What a file describes. The first set of each point is drawn, to see which levels there are.
    ///
    /// # Errors
    /// As for [`Simulation::new`].
    pub(crate) fn new(
        simulation: Simulation<'a>,
        measure: &'static Measure,
        experiment: &Experiment,
    ) -> Self {
        let levels = levels(experiment);
        Self {
            simulation,
            counted: Counted { measure, levels },
        }
    }

    /// What it is done in.
    #[must_use]
    pub const fn simulation(&self) -> &Simulation<'a> {
        &self.simulation
    }

    /// Its name in results: `MEASURE:POLICY/SCENARIO`.
    #[must_use]
    pub fn label(&self) -> String {
        format!(
            "{}:{}",
            self.counted.measure.name, self.simulation.spec.label
        )
    }

    /// Whether there was a whole run to measure in, or else why not as an answer is given, and the counts of each level.
    pub(crate) fn counts(&self, drawn: Drawn<'_>) -> Result<(Ended, Vec<u64>), String> {
        let Counted { measure, levels } = &self.counted;
        let none = vec![0; 2 * levels.len()];
        Ok(match self.simulation.run(drawn)? {
            Ran::NoOrder => (Ended::NoOrder, none),
            Ran::Refused => (Ended::Refused, none),
            Ran::Whole(found) => (
                Ended::Whole,
                measure.counts(&found.figures, drawn.tasks, levels.len()),
            ),
            Ran::Cut(_) => (Ended::Cut, none),
        })
    }
}

/// What became of a run that was to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    NoOrder,
    Refused,
    Whole,
    Cut,
}

/// The names of the levels of all sets of an experiment, the lowest first. Where points differ in the names of a level
/// it is called by its number, `L0` the lowest.
fn levels(experiment: &Experiment) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (number, point) in (0..).zip(experiment.points()) {
        // That sets cannot be drawn is said when they are.
        let seed = derived_seed(experiment.seed, &[number, 0]);
        let Ok(set) = point.recipe.draw(seed) else {
            continue;
        };
        for (level, name) in set.levels.iter().enumerate() {
            match names.get_mut(level) {
                None => names.push(name.clone()),
                Some(known) if known != name => *known = format!("L{level}"),
                Some(_) => {}
            }
        }
    }
    names
}

/// A policy with a set.
pub(crate) enum Built {
    /// Both together.
    System(Box<System>),
    /// The policy has no order for the set.
    NoOrder,
    /// Something in the set is not for the policy.
    Refused,
}

/// A policy with a set. What a policy has against a set it shows in its file; where it shows nothing there, it only finds no
/// order.
pub(crate) fn built(
    registry: &Registry,
    (policy, options, analysis): (&dyn Policy, &Options, Analysis),
    set: &TaskSet,
    parameters: &Parameters,
) -> Result<Built, String> {
    match assemble(registry, (policy, options), set, parameters, analysis) {
        Ok(system) => Ok(Built::System(Box::new(system))),
        Err(refusal) if refusal.is_bug => Err(refusal.to_string()),
        // What only parameters can give is no fault of the set.
        Err(Refusal {
            found: Some(_),
            lacks_parameters: false,
            ..
        }) => Ok(Built::Refused),
        Err(_) => Ok(Built::NoOrder),
    }
}

/// A policy with a set; `None` if it has no order for it, or does not take it.
pub(crate) fn system(
    registry: &Registry,
    by: (&dyn Policy, &Options, Analysis),
    set: &TaskSet,
    parameters: &Parameters,
) -> Result<Option<System>, String> {
    Ok(match built(registry, by, set, parameters)? {
        Built::System(system) => Some(*system),
        Built::NoOrder | Built::Refused => None,
    })
}
