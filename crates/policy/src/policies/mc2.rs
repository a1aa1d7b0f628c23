//! MC²: levels A and B on a CPU of their own, C and D on all.

use crate::configuration::{BY_LEVEL, Configuration, Levels, Precision};
use crate::options::{BACKLOG, OptionKey, Options, Values};
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::{Cluster, Domain, Guarantee, System, Terms};
use std::sync::Arc;
use vestal_analysis::parameters::DispatchTable;
use vestal_analysis::{Parameter, Parameters};
use vestal_core::{Budgets, ConfigurationError, Container, CpuId, TableError, TaskId};
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

/// How many jobs of a task may wait behind its current one if nothing is said. The schedulers of all domains set room
/// aside for them.
const WAITING: usize = 64;

static ABOUT: About = About {
    name: "mc2",
    summary: "MC²: a table and earliest deadlines on each CPU, global earliest deadlines and best effort below",
    page: include_str!("../../../../docs/explain/mc2.md"),
    parameters: &[Parameter::Partition, Parameter::Tables],
    options: &[BUDGETS],
    tests: &[],
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
                 without one",
            ),
            arrival: Use::Rule(
                "counts; level-A jobs come when their slots expect them only if they are periodic",
            ),
            cpu: Use::Rule(
                "tasks of levels A and B stay there, and each needs one; those of levels C and D have none",
            ),
            on_miss: Use::Ignored("a job past its deadline goes on with the budgets of its task"),
            io: Use::Ignored(
                "budgets and ghosts of jobs that block are not in this version; jobs do not block",
            ),
            estimates: Use::Ignored(
                "budgets are those of the own level; only the scenario `beta` looks at them",
            ),
            cpus: Use::Reads,
            interrupt_master: Use::Ignored("releases cost nothing in the simulator"),
            ..Fields::ONE_CPU
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let wanted = Wanted::of(setup).map_err(Refusal::diagnosed)?;
        let containers = wanted.containers().map_err(Refusal::diagnosed)?;
        let no_tables = wanted.given.tables.is_none();
        let tables = wanted
            .tables(&containers)
            .map_err(|found| Refusal::diagnosed(found).lacking_parameters(no_tables))?;
        let levels = Levels {
            tasks: setup.with_priorities(&[]),
            containers,
            tables,
            budgets: budgets(setup.options),
            backlog: setup.options.number(&BACKLOG).unwrap_or(WAITING),
        };
        if let Err(error) = levels.check(Precision::EXACT) {
            return Err(wanted.misfit(error, &levels));
        }
        let parameters = parameters(&levels);
        let origin = match (&parameters.tables, wanted.levels.contains(&Grade::B)) {
            (Some(_), true) => "tables of --parameters, then earliest deadlines by level",
            (Some(_), false) => "tables of --parameters, then levels C and D",
            (None, _) => "earliest deadlines by level",
        };
        Ok(System {
            policy: ABOUT.name.to_owned(),
            options: setup.options.clone(),
            parameters,
            cpus: wanted.cpus,
            clusters: vec![cluster(setup, levels, wanted.cpus)],
            origin: origin.to_owned(),
        })
    }
}

fn budgets(options: &Options) -> Budgets {
    match options.value(&BUDGETS) {
        "ignored" => Budgets::Ignored,
        _ => Budgets::Enforced,
    }
}

/// What the levels were built with: no tables if no task is in one.
fn parameters(levels: &Levels) -> Parameters {
    let homes = (0..levels.tasks.len()).map(|task| levels.home(task));
    let homes: Vec<Option<CpuId>> = homes.collect();
    let mut containers = levels.containers.iter();
    let has_tables = containers.any(|container| matches!(container, Container::Table(_)));
    Parameters {
        partition: homes.iter().any(Option::is_some).then_some(homes),
        tables: has_tables.then(|| levels.tables.clone()),
        ..Parameters::default()
    }
}

/// All CPUs with all tasks, and in it the domain of each CPU and the shared one, in this order.
fn cluster(setup: &Setup<'_>, levels: Levels, cpus: u16) -> Cluster {
    let all: Vec<CpuId> = (0..cpus).map(CpuId).collect();
    let numbered = (0..).map(TaskId).zip(0..levels.tasks.len());
    let of = |home: Option<CpuId>| {
        let own = numbered
            .clone()
            .filter(|&(_, task)| levels.home(task) == home);
        own.map(|(task, _)| task).collect::<Vec<TaskId>>()
    };
    let domain = |cpus: Vec<CpuId>, tasks| Domain {
        cpus,
        tasks,
        guarantee: Guarantee::new(Terms::Nothing, setup.proof.clone()),
    };
    let locals = all.iter().map(|&cpu| domain(vec![cpu], of(Some(cpu))));
    let shared = std::iter::once_with(|| domain(all.clone(), of(None)));
    Cluster {
        domains: locals.chain(shared).collect(),
        tasks: numbered.clone().map(|(task, _)| task).collect(),
        cpus: all,
        configuration: Configuration::Levels(levels),
    }
}

/// A level of MC².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grade {
    D,
    C,
    B,
    A,
}

impl Grade {
    /// All, lowest first.
    const ALL: [Self; 4] = [Self::D, Self::C, Self::B, Self::A];

    const fn name(self) -> &'static str {
        match self {
            Self::D => "D",
            Self::C => "C",
            Self::B => "B",
            Self::A => "A",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grade| grade.name() == name)
    }

    /// Those of the levels of a file: by their names if they have names of MC², else counted from the highest,
    /// which is A.
    fn of_levels(names: &[String]) -> Option<Vec<Self>> {
        let named: Vec<Option<Self>> = names.iter().map(|name| Self::of_name(name)).collect();
        if named.iter().any(Option::is_some) {
            let grades: Vec<Self> = named.into_iter().collect::<Option<_>>()?;
            let rising = grades.windows(2).all(|pair| pair[0] as u8 <= pair[1] as u8);
            return rising.then_some(grades);
        }
        let first = Self::ALL.len().checked_sub(names.len())?;
        Self::ALL.get(first..).map(<[Self]>::to_vec)
    }
}

/// What a set asks for, and whom to tell what is wrong with it.
struct Wanted<'a> {
    set: &'a TaskSet,
    cpus: u16,
    /// By level of the file.
    levels: Vec<Grade>,
    given: Parameters,
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
            given: setup.given.all(),
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
                    let found = format!("no CPU for {}", self.called(task));
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
                let expected = "a dispatch table for each CPU: this version does not compute them";
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
    let key = task.places.keys.iter().find(|(key, _)| key == "cpu");
    key.map_or(task.places.name.0, |(_, place)| place.0)
}
