//! MC²: levels A and B on a CPU of their own, C and D on all.

use crate::configuration::{BY_LEVEL, Configuration, Levels, Precision};
use crate::options::{BACKLOG, OptionKey, Options, Values};
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::{Cluster, Domain, Guarantee, Proof, System, Terms};
use std::sync::Arc;
use vestal_analysis::parameters::DispatchTable;
use vestal_analysis::{Grade, Parameter, Parameters};
use vestal_core::{
    Budgets, ConfigurationError, Container, CpuId, Duration, Enforcement, Exhaustion, LevelB,
    TableError, Task, TaskId,
};
use vestal_workload::codes::{self, Code};
use vestal_workload::diagnostic::{Diagnostics, Sink, one_of, quote};
use vestal_workload::model::{TaskSet, TaskSpec};
use vestal_workload::quantity::time_text;
use vestal_workload::source::Span;

/// Whether budgets hold (Herman et al., RTAS 2012, section 4, compares both).
const BUDGETS: OptionKey = OptionKey {
    name: "budgets",
    summary: "whether jobs of levels B and C keep to the budgets of their tasks and leave the rest as ghosts, or run \
              to completion",
    values: Values::OneOf(&["enforced", "ignored"]),
};

/// In which order level B goes (Herman et al., RTAS 2012, section 2.2, mentions both).
const LEVEL_B: OptionKey = OptionKey {
    name: "level-b",
    summary: "who goes first at level B of a CPU: the earliest deadline, or the shortest period",
    values: Values::OneOf(&["edf", "rms"]),
};

/// How many jobs of a task may wait behind its current one if nothing is said, and the bounds on the tardiness do not ask for
/// more. The schedulers of all domains set room aside for them.
const WAITING: usize = 64;

/// More than so many only if it is said: each scheduler keeps room for as many jobs of every task.
const WAITING_MOST: usize = 1024;

static ABOUT: About = About {
    name: "mc2",
    summary: "MC²: a table and earliest deadlines on each CPU, global earliest deadlines and best effort below",
    page: include_str!("../../../../docs/explain/mc2.md"),
    parameters: &[
        Parameter::Partition,
        Parameter::Tables,
        Parameter::Tardiness,
    ],
    options: &[BUDGETS, LEVEL_B],
    tests: &["mc2", "mc2:rms"],
    native: Native::No(BY_LEVEL),
};

pub(super) struct Mc2;

impl Policy for Mc2 {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            offset: Use::Rule(
                "counts; tables begin at time 0 all the same, so level-A jobs come when their slots expect them only \
                 with a multiple of their period",
            ),
            arrival: Use::Rule(
                "counts; level-A jobs come when their slots expect them only if they are periodic",
            ),
            cpu: Use::Rule(
                "tasks of levels A and B stay there, and who has none is placed by the test; those of levels C and D have none",
            ),
            on_miss: Use::Ignored("a job past its deadline goes on with the budgets of its task"),
            io: Use::Ignored(
                "budgets and ghosts of jobs that block are not in this version; jobs do not block",
            ),
            estimates: Use::Ignored(
                "budgets are those of the own level; only the scenario `beta` looks at them",
            ),
            cpus: Use::Reads,
            interrupt_master: Use::Rule(
                "the test places no task there that may be elsewhere; releases cost nothing in the simulator",
            ),
            ..Fields::ONE_CPU
        }
    }

    fn test(&self, options: &Options) -> Result<Option<&str>, Refusal> {
        Ok(Some(match level_b(options) {
            LevelB::EarliestDeadline => "mc2",
            LevelB::RateMonotonic => "mc2:rms",
        }))
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let wanted = Wanted::of(setup).map_err(Refusal::diagnosed)?;
        let containers = wanted.containers().map_err(Refusal::diagnosed)?;
        let no_tables = wanted.given.tables.is_none();
        let tables = wanted
            .tables(&containers)
            .map_err(|found| Refusal::diagnosed(found).lacking_parameters(no_tables))?;
        let late = wanted.tardiness(&containers);
        let need = need(setup, &late);
        let given = setup.options.number(&BACKLOG);
        let levels = Levels {
            tasks: setup.with_priorities(&[]),
            containers,
            tables,
            budgets: budgets(setup.options),
            level_b: level_b(setup.options),
            backlog: given.unwrap_or(need.clamp(WAITING, WAITING_MOST)),
        };
        if let Err(error) = levels.check(Precision::EXACT) {
            return Err(wanted.misfit(error, &levels));
        }
        let proof = match setup.proof {
            Proof::Proved { by } if levels.backlog < need => Proof::NotCovered {
                by: by.clone(),
                what: format!(
                    "{}={}, where {need} jobs of a task may wait",
                    BACKLOG.name, levels.backlog
                ),
            },
            Proof::Proved { .. }
            | Proof::Unproved { .. }
            | Proof::NotCovered { .. }
            | Proof::NoTest
            | Proof::NotAsked => setup.proof.clone(),
        };
        let parameters = parameters(&levels, &late);
        let has_b = wanted.levels.contains(&Grade::B);
        let below = match (has_b, levels.level_b) {
            (true, LevelB::EarliestDeadline) => "earliest deadlines by level",
            (true, LevelB::RateMonotonic) => "rates at level B, earliest deadlines below",
            (false, _) => "levels C and D",
        };
        let tables = setup.choose(|all| all.tables.as_ref());
        let origin = match tables.filter(|_| parameters.tables.is_some()) {
            Some((_, by)) => format!("tables {by}, then {below}"),
            None if has_b => below.to_owned(),
            None => "earliest deadlines by level".to_owned(),
        };
        Ok(System {
            policy: ABOUT.name.to_owned(),
            options: setup.options.clone(),
            parameters,
            cpus: wanted.cpus,
            clusters: vec![cluster(levels, wanted.cpus, (&late, &proof))],
            origin,
        })
    }
}

fn budgets(options: &Options) -> Budgets {
    match options.value(&BUDGETS) {
        "ignored" => Budgets::Ignored,
        _ => Budgets::Enforced,
    }
}

fn level_b(options: &Options) -> LevelB {
    match options.value(&LEVEL_B) {
        "rms" => LevelB::RateMonotonic,
        _ => LevelB::EarliestDeadline,
    }
}

/// How many jobs of a task may wait behind its current one where none is later than so: those that come until it is complete, D + Theta
/// after its own release at the most. One of levels A and B is complete when the next one comes, or then.
fn need(setup: &Setup<'_>, late: &[Option<Duration>]) -> usize {
    let of = |(task, late): (&Task, &Option<Duration>)| {
        let span = task.deadline.saturating_add(late.unwrap_or_default());
        let jobs = span.div_floor(task.period).unwrap_or(0).saturating_add(1);
        usize::try_from(jobs).unwrap_or(usize::MAX)
    };
    setup.tasks.iter().zip(late).map(of).max().unwrap_or(0)
}

/// What the levels were built with: no tables if no task is in one.
fn parameters(levels: &Levels, late: &[Option<Duration>]) -> Parameters {
    let homes = (0..levels.tasks.len()).map(|task| levels.home(task));
    let homes: Vec<Option<CpuId>> = homes.collect();
    let mut containers = levels.containers.iter();
    let has_tables = containers.any(|container| matches!(container, Container::Table(_)));
    Parameters {
        partition: homes.iter().any(Option::is_some).then_some(homes),
        tables: has_tables.then(|| levels.tables.clone()),
        tardiness: late.iter().any(Option::is_some).then(|| late.to_vec()),
        ..Parameters::default()
    }
}

/// All CPUs with all tasks, and in it the domain of each CPU and the shared one, in this order.
fn cluster(levels: Levels, cpus: u16, (late, proof): (&[Option<Duration>], &Proof)) -> Cluster {
    let all: Vec<CpuId> = (0..cpus).map(CpuId).collect();
    let numbered = (0..).map(TaskId).zip(0..levels.tasks.len());
    let of = |home: Option<CpuId>| {
        let own = numbered
            .clone()
            .filter(|&(_, task)| levels.home(task) == home);
        own.map(|(task, _)| task).collect::<Vec<TaskId>>()
    };
    let domain = |cpus: Vec<CpuId>, tasks, terms| Domain {
        cpus,
        tasks,
        guarantee: Guarantee::new(terms, proof.clone()),
    };
    // A job that needs more than at its own level takes back what is promised to its task and to levels below.
    let deadlines = || Terms::Deadlines {
        enforcement: Enforcement::Static,
        exhaustion: Exhaustion::Continue,
    };
    let locals = all
        .iter()
        .map(|&cpu| domain(vec![cpu], of(Some(cpu)), deadlines()));
    let shared = std::iter::once_with(|| {
        let terms = Terms::Tardiness(late.to_vec());
        domain(all.clone(), of(None), terms)
    });
    Cluster {
        domains: locals.chain(shared).collect(),
        tasks: numbered.clone().map(|(task, _)| task).collect(),
        cpus: all,
        configuration: Configuration::Levels(levels),
    }
}

/// What a set asks for, and whom to tell what is wrong with it.
struct Wanted<'a> {
    set: &'a TaskSet,
    cpus: u16,
    /// By level of the file.
    levels: Vec<Grade>,
    /// What is given, and otherwise what the test found: that has the given homes in it.
    given: Parameters,
    /// Why the test places no task, if it does not.
    why: Option<String>,
}

/// Something wrong about a task: its code, the place in the file, and the field.
type Fault<'f> = (Code, Span, &'f str);

impl<'a> Wanted<'a> {
    /// # Errors
    /// Levels that are not those of MC².
    fn of(setup: &Setup<'a>) -> Result<Self, Diagnostics> {
        let set = setup.set;
        let mut sink = Sink::new(Arc::clone(&set.origin.source));
        let levels = Grade::of_levels(&set.levels);
        if levels.is_none() {
            let found = one_of(set.levels.iter().map(String::as_str));
            let expected = "at most four levels, or some of D, C, B, A in this order, lowest first";
            let help =
                "write `levels = [\"D\", \"C\", \"B\", \"A\"]` and give each task one of them";
            let code = codes::LEVELS_OF_MC2;
            sink.error(code, Span::default(), "levels", found, expected, help);
        }
        sink.into_result()?;
        Ok(Self {
            set,
            cpus: set.platform.cpus,
            levels: levels.unwrap_or_default(),
            given: match setup.found {
                Some((_, outcome)) => outcome.parameters.or(&setup.given.all()),
                None => setup.given.all(),
            },
            why: match setup.proof {
                Proof::Unproved { by, why, .. } => why.as_ref().map(|why| format!("{by}: {why}")),
                Proof::Proved { .. }
                | Proof::NotCovered { .. }
                | Proof::NoTest
                | Proof::NotAsked => None,
            },
        })
    }

    fn sink(&self) -> Sink {
        Sink::new(Arc::clone(&self.set.origin.source))
    }

    fn grade(&self, task: &TaskSpec) -> Grade {
        let grade = self.levels.get(task.criticality.index());
        grade.copied().unwrap_or(Grade::D)
    }

    /// A task with its level as people know both.
    fn called(&self, task: &TaskSpec) -> String {
        let (grade, own) = (
            self.grade(task).name(),
            self.set.level_name(task.criticality),
        );
        let name = quote(&task.name);
        match grade == own {
            true => format!("{name} of level {grade}"),
            false => format!("{name} of level {own}, which is level {grade} of MC²"),
        }
    }

    /// How late each task of level C may be, where that is known.
    fn tardiness(&self, containers: &[Container]) -> Vec<Option<Duration>> {
        let known = self.given.tardiness.iter().flatten().copied();
        let known = known.chain(std::iter::repeat(None));
        let of = |(container, late): (&Container, Option<Duration>)| match container {
            Container::Global => late,
            Container::Table(_) | Container::Local(_) | Container::BestEffort => None,
        };
        containers.iter().zip(known).map(of).collect()
    }

    /// What is missing, with the reason for which the test did not find it.
    fn missing(&self, what: String) -> String {
        match &self.why {
            Some(why) => format!("{what} ({why})"),
            None => what,
        }
    }

    /// Where each task is served.
    ///
    /// # Errors
    /// Tasks of levels A and B without a CPU, others with one; all of them.
    fn containers(&self) -> Result<Vec<Container>, Diagnostics> {
        let mut sink = self.sink();
        let mut containers = Vec::with_capacity(self.set.tasks.len());
        for (index, task) in self.set.tasks.iter().enumerate() {
            let homes = self.given.partition.as_deref();
            let home = homes.and_then(|homes| homes.get(index).copied().flatten());
            containers.push(match (self.grade(task), home) {
                (Grade::A, Some(cpu)) => Container::Table(cpu),
                (Grade::B, Some(cpu)) => Container::Local(cpu),
                (Grade::C, None) => Container::Global,
                (Grade::D, None) => Container::BestEffort,
                (Grade::A | Grade::B, None) => {
                    let field = format!("task[{index}].cpu");
                    let expected = "a CPU: tasks of levels A and B stay on one";
                    let help =
                        "add `cpu` to the task, or give all of them in `partition` of --parameters";
                    let found = self.missing(format!("no CPU for {}", self.called(task)));
                    let (code, span) = (codes::LEVEL_NEEDS_CPU, task.places.name.0);
                    sink.error(code, span, &field, found, expected, help);
                    continue;
                }
                (Grade::C | Grade::D, Some(cpu)) => {
                    let field = format!("task[{index}].cpu");
                    let expected = "none: tasks of levels C and D run wherever there is room";
                    let help =
                        "remove `cpu` from the task, or the task from `partition` of --parameters";
                    let found = format!("CPU {} for {}", cpu.0, self.called(task));
                    let (code, span) = (codes::LEVEL_HAS_NO_CPU, place_of_cpu(task));
                    sink.error(code, span, &field, found, expected, help);
                    continue;
                }
            });
        }
        sink.into_result()?;
        Ok(containers)
    }

    /// The table of each CPU.
    ///
    /// # Errors
    /// None where there are tasks of level A; a slot of a task that is not one of its CPU: all of them.
    fn tables(&self, containers: &[Container]) -> Result<Vec<DispatchTable>, Diagnostics> {
        let mut sink = self.sink();
        let in_tables = |container: &Container| matches!(container, Container::Table(_));
        let none = vec![DispatchTable::default(); usize::from(self.cpus)];
        let Some(tables) = &self.given.tables else {
            let first = containers.iter().position(in_tables);
            if let Some(task) = first.and_then(|first| self.set.tasks.get(first)) {
                let found = format!("no dispatch tables, and {}", self.called(task));
                let found = self.missing(found);
                let expected = "a dispatch table for each CPU, given or found by the test";
                let code = codes::TABLES_MISSING;
                let span = task.places.name.0;
                sink.error(code, span, "tables", found, expected, self.example());
            }
            return sink.into_result().map(|_| none);
        };
        for (cpu, table) in tables.iter().enumerate() {
            for (position, slot) in table.slots.iter().enumerate() {
                let container = containers.get(slot.task.index());
                if container.is_some_and(
                    |home| matches!(home, Container::Table(home) if home.index() == cpu),
                ) {
                    continue;
                }
                let Some(task) = self.set.tasks.get(slot.task.index()) else {
                    continue;
                };
                let field = format!("tables[{cpu}].slots[{position}].task");
                let fault = (codes::TABLE_MISFIT, task.places.name.0, field.as_str());
                let found = format!("a slot for {}", self.called(task));
                tell(
                    &mut sink,
                    fault,
                    found,
                    format!("a task of level A on CPU {cpu}"),
                );
            }
        }
        sink.into_result()?;
        match containers.iter().any(in_tables) {
            true => Ok(tables.clone()),
            false => Ok(none),
        }
    }

    /// What to write to have tables.
    fn example(&self) -> String {
        let name = self.set.tasks.iter();
        let first = name.clone().find(|task| self.grade(task) == Grade::A);
        let (name, length, cycle) = first.map_or(("...", 0, 0), |task| {
            let own = task.wcet.get(task.criticality.index()).copied().flatten();
            let own = own.map_or(0, |own| own.as_nanos());
            (task.name.as_str(), own, task.period.as_nanos())
        });
        format!(
            "write `{{ \"tables\": [{{ \"cycle\": \"{}\", \"slots\": [{{ \"start\": \"0ms\", \"length\": \"{}\", \
             \"task\": \"{name}\" }}] }}] }}` into a file, with all slots of each CPU, and give it as --parameters",
            time_text(cycle),
            time_text(length)
        )
    }

    /// What the core has against tables, at the task that it is about.
    fn misfit(&self, error: ConfigurationError, levels: &Levels) -> Refusal {
        let plain = || Refusal::input(error.to_string());
        let (task, job) = if let ConfigurationError::Table(TableError::PeriodAndCycle(task)) = error
        {
            (task, None)
        } else if let ConfigurationError::Table(TableError::SlotsTooShort { task, job }) = error {
            (task, Some(job))
        } else {
            return plain();
        };
        let (Some(spec), Some(cpu)) = (self.set.tasks.get(task.index()), levels.home(task.index()))
        else {
            return plain();
        };
        let (called, cpu) = (self.called(spec), cpu.index());
        let (field, found, expected) = if let Some(job) = job {
            let own = spec.wcet.get(spec.criticality.index()).copied().flatten();
            let own = time_text(own.map_or(0, |own| own.as_nanos()));
            (
                format!("tables[{cpu}].slots"),
                format!("too short slots for job {job} of {called}"),
                format!("slots of {own} in all between its release and its deadline"),
            )
        } else {
            let cycle = levels
                .tables
                .get(cpu)
                .map_or(0, |table| table.cycle.as_nanos());
            let period = time_text(spec.period.as_nanos());
            (
                format!("tables[{cpu}].cycle"),
                format!("a cycle of {} for {called}", time_text(cycle)),
                format!("a multiple of its period, {period}"),
            )
        };
        let mut sink = self.sink();
        let fault = (codes::TABLE_MISFIT, spec.places.name.0, field.as_str());
        tell(&mut sink, fault, found, expected);
        match sink.into_result() {
            Err(found) => Refusal::diagnosed(found),
            Ok(_) => plain(),
        }
    }
}

fn tell(sink: &mut Sink, (code, span, field): Fault<'_>, found: String, expected: String) {
    let help = "correct the tables of --parameters, or the task";
    sink.error(code, span, field, found, expected, help);
}

/// Where the CPU of a task stands; its name if it stands in another file.
fn place_of_cpu(task: &TaskSpec) -> Span {
    let key = task.places.keys.iter().find(|(key, _)| *key == "cpu");
    key.map_or(task.places.name.0, |(_, place)| place.0)
}
