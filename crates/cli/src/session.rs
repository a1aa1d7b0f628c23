//! What simulated and real runs have in common: the set, the policy, the order, the demand.

mod options;
mod order;
mod own;
mod proof;
mod servers;
mod zero_slack;

pub(crate) use options::KEYS as WORLD_KEYS;
pub(crate) use order::OrderTables;
pub(crate) use own::{check_native, check_native_simulation, check_real};
pub(crate) use proof::Proof;

use crate::args::WorldArgs;
use crate::catalogue;
use crate::failure::Failure;
use crate::input::{self, shown};
use crate::names;
use crate::output::Output;
use crate::parameters;
use crate::problem::{self, Given};
use crate::quantity::exact;
use options::{WorldOptions, pairs};
use order::choose;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vestal_analysis::{Test, Verdict};
use vestal_core::policy::{OrderRule, VirtualDeadlines};
use vestal_core::{
    ClassicOrder, Configuration, Enforcement, Exhaustion, LevelSet, OnMiss, Policy, Scheduler,
    Task, TaskConfiguration, TaskId,
};
use vestal_core::{Duration, Service};
use vestal_workload::quantity::parse_time;
use vestal_workload::{Scenario, ScenarioSpec, Source, TaskSet, Workload, model};

/// Everything a world needs, checked.
pub(crate) struct Session {
    pub(crate) file: PathBuf,
    pub(crate) set: TaskSet,
    pub(crate) tasks: Vec<Task>,
    pub(crate) levels: LevelSet,
    pub(crate) policy: &'static Policy,
    pub(crate) configurations: Vec<TaskConfiguration>,
    /// What orders jobs beside the priorities of tasks.
    pub(crate) tables: OrderTables,
    pub(crate) exhaustion: Exhaustion,
    /// How many jobs of one task may wait behind its current one; `None`: any number.
    pub(crate) backlog: Option<usize>,
    pub(crate) duration: Duration,
    pub(crate) workload: Workload,
    /// The scenario as it was written.
    pub(crate) scenario: String,
    pub(crate) seed: u64,
    /// Every key of `--set` with its value.
    pub(crate) options: Vec<(String, String)>,
    /// Values for the keys of `--set` that only an own policy knows.
    own_options: Vec<(String, String)>,
    /// Where the order comes from and what is promised, for people.
    pub(crate) order: String,
    /// What proves that the policy keeps its promise; without it nothing is guaranteed.
    pub(crate) proof: Option<Proof>,
    /// Whether servers on a fixed grid take the place of slices.
    pub(crate) by_servers: bool,
}

impl Session {
    /// Reads and checks what the command line names. `verb` is what is about to be done.
    pub(crate) fn open(args: &WorldArgs, verb: &str, output: &Output) -> Result<Self, Failure> {
        let what = format!("{verb} {}", shown(&args.file));
        let policy = find_policy(&args.policy, &what)?;
        let world = WorldOptions::read(&args.options, own::option_keys(policy), &what)?;
        let duration = args
            .duration
            .as_deref()
            .map(|text| duration(text, &what))
            .transpose()?;
        let set = input::task_set(&args.file, output)?;
        Self::of_set(
            Opening {
                args,
                policy,
                world,
                duration,
                recorded: None,
                what,
            },
            set,
            output,
        )
    }

    /// The same for a set that was read already.
    pub(crate) fn with_set(
        args: &WorldArgs,
        set: TaskSet,
        output: &Output,
    ) -> Result<Self, Failure> {
        let what = format!("use {}", shown(&args.file));
        let policy = find_policy(&args.policy, &what)?;
        let opening = Opening {
            args,
            policy,
            world: WorldOptions::read(&args.options, own::option_keys(policy), &what)?,
            duration: args
                .duration
                .as_deref()
                .map(|text| duration(text, &what))
                .transpose()?,
            recorded: None,
            what,
        };
        Self::of_set(opening, set, output)
    }

    /// The session of a recorded run with the task set `set`, which is the recorded one or another.
    /// Its parameters are those of the recording; what is doubtful about it was said when it ran.
    pub(crate) fn recorded(
        args: &WorldArgs,
        set: TaskSet,
        parameters: &Arc<Source>,
        output: &Output,
    ) -> Result<Self, Failure> {
        let what = format!("replay {}", shown(&args.file));
        let policy = find_policy(&args.policy, &what)?;
        let opening = Opening {
            args,
            policy,
            world: WorldOptions::read(&args.options, own::option_keys(policy), &what)?,
            duration: Some(Duration::ZERO),
            recorded: Some(parameters),
            what,
        };
        Self::of_set(opening, set, output)
    }

    fn of_set(opening: Opening<'_>, set: TaskSet, output: &Output) -> Result<Self, Failure> {
        let Opening {
            args,
            policy,
            world: WorldOptions {
                exhaustion,
                backlog,
            },
            duration,
            recorded,
            what,
        } = opening;
        let tasks = set
            .to_tasks(policy.name)
            .map_err(|found| Failure::diagnosed(what, found))?;
        let scenario = args.scenario.clone().unwrap_or_else(|| "lo".to_owned());
        let workload = Workload::new(
            &set,
            &tasks,
            read_scenario(&scenario, &set, output)?,
            args.seed,
        );
        let parameters = match recorded {
            Some(source) => parameters::parse(source, &args.file, &set)?,
            None => parameters::read(args.parameters.as_deref(), &set)?,
        };
        let given = problem::given(&args.file, &set, &parameters)?;
        let options = pairs(&args.options);
        let variant = servers::variant(policy, &options, &format!("use {}", shown(&args.file)))?;
        let by_servers = variant.is_some();
        let order = match catalogue::own_policy(policy.name) {
            Some(own) => Order::own(&args.file, &set, &tasks, own)?,
            None => {
                let test = match variant {
                    None => zero_slack::test_of(policy, &options)?,
                    Some(_) => servers::test_of(policy)?,
                };
                Order::find(&args.file, &set, &tasks, (policy, test), &given)?
            }
        };
        if let Some(doubt) = order.doubt(policy, exhaustion)
            && recorded.is_none()
        {
            output.warning(&doubt);
        }
        let configurations = tasks.iter().zip(&set.tasks).zip(&order.priorities);
        let configurations = configurations.zip(0..);
        let configurations =
            configurations.map(|(((task, spec), priority), place)| TaskConfiguration {
                task: *task,
                priority: *priority,
                on_miss: match spec.on_miss {
                    Some(model::OnMiss::Abort) => OnMiss::Abort,
                    Some(model::OnMiss::Continue) | None => OnMiss::Continue,
                },
                zero_slack: order
                    .zero_slack
                    .as_ref()
                    .and_then(|all| all.get::<usize>(place).copied()),
            });
        let configurations = configurations.collect();
        let duration = duration.unwrap_or_else(|| {
            let duration = set.default_duration();
            output.note(&format!(
                "for {}: two hyperperiods plus the largest offset, at most 10s; --for changes that",
                exact(duration.as_nanos())
            ));
            duration
        });
        Ok(Self {
            file: args.file.clone(),
            levels: problem::levels(&set)?,
            policy,
            // A server's budget stands in for the limits of its jobs.
            exhaustion: if by_servers {
                Exhaustion::Continue
            } else {
                exhaustion
            },
            backlog,
            duration,
            workload,
            scenario,
            seed: args.seed,
            options,
            own_options: own::options(policy, &args.options),
            proof: order.proof(exhaustion),
            by_servers,
            order: order.description,
            tables: order.tables,
            configurations,
            tasks,
            set,
        })
    }

    /// What schedulers of this session are made from, for a world that enforces exactly.
    pub(crate) fn configuration(&self) -> Configuration<'_> {
        Configuration {
            tasks: &self.configurations,
            levels: self.levels,
            enforcement: self.policy.enforcement,
            exhaustion: self.exhaustion,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        }
    }

    /// A scheduler that decides everything: the policy's own, or an engine with its order.
    pub(crate) fn scheduler(&self, what: &str) -> Result<Box<dyn Scheduler + Send>, Failure> {
        if let Some(own) = self.own_scheduler(what)? {
            return Ok(own);
        }
        if self.by_servers {
            return servers::scheduler(self, what);
        }
        match self.tables.engine(&self.configuration()) {
            Ok(engine) => Ok(Box::new(engine)),
            Err(error) => Err(Failure::input(what, error.to_string())),
        }
    }

    /// The priorities of the tasks, if they alone order jobs while nobody is suspended or cut in slices.
    pub(crate) fn fixed_priorities(&self) -> Option<Vec<u32>> {
        let by_priority = matches!(self.tables, OrderTables::Priorities)
            && self.policy.enforcement != Enforcement::ZeroSlack
            && !own::has_scheduler(self.policy);
        let priorities = self.configurations.iter().map(|entry| entry.priority);
        by_priority.then(|| priorities.collect())
    }

    /// Whether the policy leaves priorities to an analysis or a parameters file. An own policy has a
    /// rule of its own.
    pub(crate) fn takes_priorities(&self) -> bool {
        let built_in = catalogue::own_policy(self.policy.name).is_none();
        built_in && problem::takes_priorities(Some(self.policy))
    }

    /// The same for virtual deadlines.
    pub(crate) fn takes_virtual_deadlines(&self) -> bool {
        problem::takes_virtual_deadlines(Some(self.policy))
    }

    /// The same for zero-slack instants.
    pub(crate) fn takes_zero_slack(&self) -> bool {
        problem::takes_zero_slack(Some(self.policy))
    }

    /// How urgent a task is, as a number that grows as it gets less urgent, and for people: its
    /// priority, or after which time its jobs count as due in mode 0.
    pub(crate) fn urgency(&self, task: usize) -> (u64, String) {
        if let Some(urgency) = self.tables.urgency(task) {
            return urgency;
        }
        if own::has_scheduler(self.policy) {
            return (0, "-".to_owned());
        }
        let entry = self.configurations.get(task);
        let priority = entry.map_or(0, |entry| entry.priority);
        (u64::from(u32::MAX - priority), priority.to_string())
    }

    /// The zero-slack instant of a task, for people.
    pub(crate) fn zero_slack(&self, task: usize) -> String {
        let entry = self.configurations.get(task);
        let instant = entry.and_then(|entry| entry.zero_slack);
        instant.map_or_else(|| "-".to_owned(), |after| exact(after.as_nanos()))
    }

    /// The name of a task; its number if there is none.
    pub(crate) fn task_name(&self, task: TaskId) -> String {
        match self.set.tasks.get(task.index()) {
            Some(spec) => spec.name.clone(),
            None => format!("task {}", task.0),
        }
    }

    /// The most that a job of a task can demand under the scenario within the run.
    pub(crate) fn demand_max(&self, task: TaskId) -> Service {
        let spec = self.tasks.get(task.index());
        match (self.workload.scenario(), spec) {
            (Scenario::Lo, Some(task)) => task.wcet.at(vestal_core::Level::LOWEST),
            (_, Some(task)) => task.own_wcet(),
            (_, None) => Service::ZERO,
        }
    }
}

/// What the command line says, before the file is looked at.
struct Opening<'a> {
    args: &'a WorldArgs,
    policy: &'static Policy,
    world: WorldOptions,
    duration: Option<Duration>,
    /// The parameters of a recording, instead of those of `args`.
    recorded: Option<&'a Arc<Source>>,
    what: String,
}

/// The policy of this name.
pub(crate) fn find_policy(name: &str, what: &str) -> Result<&'static Policy, Failure> {
    if let Some(policy) = catalogue::find_policy(name) {
        return Ok(policy);
    }
    if names::is_planned_policy(name) {
        return Err(Failure::not_in_this_version(&format!(
            "the policy `{name}`"
        )));
    }
    let known: Vec<String> = catalogue::policies()
        .map(|policy| policy.name.to_owned())
        .collect();
    Err(names::unknown(what, "policy", name, &known))
}

fn duration(text: &str, what: &str) -> Result<Duration, Failure> {
    match parse_time(text) {
        Some(nanos) if nanos > 0 => Ok(Duration::from_nanos(nanos)),
        Some(_) | None => Err(Failure::input(
            what,
            format!("--for `{text}` is not a positive time with its unit"),
        )
        .with_help("write for instance 10s, 500ms or 250us; the longest time is 2^62 ns")),
    }
}

fn read_scenario(spec: &str, set: &TaskSet, output: &Output) -> Result<Scenario, Failure> {
    let what = format!("use the scenario `{spec}`");
    let path = match Scenario::parse(spec) {
        Ok(ScenarioSpec::Named(scenario)) => return Ok(scenario),
        Ok(ScenarioSpec::File(path)) => path,
        Err(found) => return Err(Failure::diagnosed(what, found)),
    };
    let path = Path::new(&path);
    let source = input::source(path)?;
    let scenario =
        Scenario::from_source(&source, set).map_err(|found| input::unreadable(path, found))?;
    if let Scenario::File(file) = &scenario {
        for note in &file.notes {
            output.note(&note.to_string());
        }
        if !file.devices.is_empty() || !file.modes.is_empty() {
            output.warning("rows of the kinds device and mode have no effect in this version");
        }
    }
    Ok(scenario)
}

/// The order of the tasks, and what the policy's test says of it.
struct Order {
    /// The test that was asked, with its variant.
    test: String,
    /// All equal where something else orders jobs.
    priorities: Vec<u32>,
    tables: OrderTables,
    zero_slack: Option<Vec<Duration>>,
    description: String,
    /// Why nothing is promised.
    unproved: Option<String>,
}

impl Order {
    fn find(
        path: &Path,
        set: &TaskSet,
        tasks: &[Task],
        (policy, test): (&Policy, &Test),
        given: &Given,
    ) -> Result<Self, Failure> {
        let problem = problem::problem(path, set, test, given)?;
        let found = test.analyse(&problem);
        let task_names: Vec<String> = set.tasks.iter().map(|task| task.name.clone()).collect();
        let level_names = vestal_analysis::Names {
            tasks: &task_names,
            levels: &set.levels,
        };
        let why = found.why.as_ref();
        let why = why.map(|why| why.with_names(level_names).to_string());
        let doubt = match (found.verdict, policy.order, &found.parameters) {
            (
                Verdict::Schedulable,
                OrderRule::EarliestDeadline(VirtualDeadlines::Assigned),
                vestal_analysis::Parameters {
                    virtual_deadlines: None,
                    ..
                },
            ) => Some((
                "proves the set schedulable only by virtual deadlines that are no whole nanoseconds",
                None,
            )),
            (Verdict::Schedulable, _, _) => None,
            (Verdict::NotProven, _, _) if found.claim == Some(Verdict::Schedulable) => {
                Some(("claims the set schedulable and proves nothing", None))
            }
            (Verdict::Unschedulable | Verdict::NotProven, _, _) => {
                Some(("does not prove the set schedulable", Some(why)))
            }
        };
        let instants = found.parameters.zero_slack.clone();
        let (priorities, tables, mut origin) =
            choose(policy.order, tasks, test, &problem, found.parameters, given)?;
        let mut zero_slack = None;
        if let Some((instants, source)) = zero_slack::choose(policy, test, given, instants) {
            origin = format!("{origin}, {source}");
            zero_slack = Some(instants);
        }
        let (description, unproved) = match doubt {
            None => (format!("{origin}; {test} proves the set schedulable"), None),
            Some((says, why)) => {
                let why = why.map_or_else(String::new, |why| {
                    let why = why.unwrap_or_else(|| "no reason is known".to_owned());
                    format!(": {why}")
                });
                let doubt = format!(
                    "{test} {says}, so nothing is promised{why}; the order used is: {origin}"
                );
                (format!("{origin}; {test} {says}"), Some(doubt))
            }
        };
        Ok(Self {
            test: test.to_string(),
            priorities,
            tables,
            zero_slack,
            description,
            unproved,
        })
    }
}

fn classic(order: ClassicOrder, tasks: &[Task]) -> Vec<u32> {
    let numbers = 0..u16::try_from(tasks.len()).unwrap_or(u16::MAX);
    numbers
        .filter_map(|task| order.priority_of(TaskId(task), tasks))
        .collect()
}

fn order_name(order: ClassicOrder) -> &'static str {
    match order {
        ClassicOrder::RateMonotonic => "rate-monotonic order",
        ClassicOrder::DeadlineMonotonic => "deadline-monotonic order",
        ClassicOrder::CriticalityMonotonic => "criticality-monotonic order",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_a_unit_and_are_positive() {
        assert_eq!(duration("1.5s", "x").unwrap().as_nanos(), 1_500_000_000);
        for text in ["10", "0s", "-1s", "soon", "1e99s"] {
            assert!(duration(text, "x").is_err(), "{text}");
        }
    }
}
