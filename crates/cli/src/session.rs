//! What simulated and real runs have in common: the set, the policy, the order, the demand.

use crate::args::WorldArgs;
use crate::failure::Failure;
use crate::input::{self, shown};
use crate::names;
use crate::output::Output;
use crate::parameters;
use crate::problem::{self, Given, Giver};
use crate::quantity::exact;
use std::path::{Path, PathBuf};
use vestal_analysis::{Test, Verdict};
use vestal_core::policy::{self, OrderRule, POLICIES, VirtualDeadlines};
use vestal_core::{
    ClassicOrder, Exhaustion, LevelSet, OnMiss, Policy, Task, TaskConfiguration, TaskId, TaskOrder,
};
use vestal_core::{Duration, Service};
use vestal_workload::quantity::parse_time;
use vestal_workload::{Scenario, ScenarioSpec, TaskSet, Workload, model};

/// Everything a world needs, checked.
pub(crate) struct Session {
    pub(crate) file: PathBuf,
    pub(crate) set: TaskSet,
    pub(crate) tasks: Vec<Task>,
    pub(crate) levels: LevelSet,
    pub(crate) policy: &'static Policy,
    pub(crate) configurations: Vec<TaskConfiguration>,
    /// Where deadlines order jobs: after which time they count as due in mode 0.
    pub(crate) virtual_deadlines: Option<Vec<Duration>>,
    pub(crate) exhaustion: Exhaustion,
    pub(crate) duration: Duration,
    pub(crate) workload: Workload,
    /// The scenario as it was written.
    pub(crate) scenario: String,
    pub(crate) seed: u64,
    /// Where the order comes from and what is promised, for people.
    pub(crate) order: String,
    /// Whether the policy's test promises anything.
    pub(crate) promised: bool,
}

impl Session {
    /// Reads and checks what the command line names. `verb` is what is about to be done.
    pub(crate) fn open(args: &WorldArgs, verb: &str, output: &Output) -> Result<Self, Failure> {
        let what = format!("{verb} {}", shown(&args.file));
        let policy = find_policy(&args.policy, &what)?;
        let exhaustion = exhaustion(&args.options, &what)?;
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
                exhaustion,
                duration,
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
        let opening = Opening {
            args,
            policy: find_policy(&args.policy, &what)?,
            exhaustion: exhaustion(&args.options, &what)?,
            duration: args
                .duration
                .as_deref()
                .map(|text| duration(text, &what))
                .transpose()?,
            what,
        };
        Self::of_set(opening, set, output)
    }

    fn of_set(opening: Opening<'_>, set: TaskSet, output: &Output) -> Result<Self, Failure> {
        let Opening {
            args,
            policy,
            exhaustion,
            duration,
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
        let parameters = parameters::read(args.parameters.as_deref(), &set)?;
        let given = problem::given(&args.file, &set, &parameters)?;
        let order = Order::find(&args.file, &set, &tasks, policy, &given)?;
        if let Some(doubt) = order.doubt(policy, exhaustion) {
            output.warning(&doubt);
        }
        let configurations = tasks.iter().zip(&set.tasks).zip(&order.priorities);
        let configurations = configurations.map(|((task, spec), priority)| TaskConfiguration {
            task: *task,
            priority: *priority,
            on_miss: match spec.on_miss {
                Some(model::OnMiss::Abort) => OnMiss::Abort,
                Some(model::OnMiss::Continue) | None => OnMiss::Continue,
            },
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
            exhaustion,
            duration,
            workload,
            scenario,
            seed: args.seed,
            promised: order.unproved.is_none() && exhaustion != Exhaustion::Continue,
            order: order.description,
            virtual_deadlines: order.virtual_deadlines,
            configurations,
            tasks,
            set,
        })
    }

    /// Who goes first.
    pub(crate) fn task_order(&self) -> TaskOrder<'_> {
        match &self.virtual_deadlines {
            Some(virtual_deadlines) => TaskOrder::EarliestDeadline { virtual_deadlines },
            None => TaskOrder::FixedPriority,
        }
    }

    /// How urgent a task is, as a number that grows as it gets less urgent, and for people: its
    /// priority, or after which time its jobs count as due in mode 0.
    pub(crate) fn urgency(&self, task: usize) -> (u64, String) {
        let due = self
            .virtual_deadlines
            .as_ref()
            .and_then(|all| all.get(task));
        if let Some(due) = due {
            return (due.as_nanos(), exact(due.as_nanos()));
        }
        let entry = self.configurations.get(task);
        let priority = entry.map_or(0, |entry| entry.priority);
        (u64::from(u32::MAX - priority), priority.to_string())
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
    exhaustion: Exhaustion,
    duration: Option<Duration>,
    what: String,
}

/// The policy of this name.
pub(crate) fn find_policy(name: &str, what: &str) -> Result<&'static Policy, Failure> {
    if let Some(policy) = policy::find(name) {
        return Ok(policy);
    }
    if names::is_planned_policy(name) {
        return Err(Failure::not_in_this_version(&format!(
            "the policy `{name}`"
        )));
    }
    let known: Vec<String> = POLICIES
        .iter()
        .map(|policy| policy.name.to_owned())
        .collect();
    Err(names::unknown(what, "policy", name, &known))
}

/// The options of `--set`.
fn exhaustion(options: &[String], what: &str) -> Result<Exhaustion, Failure> {
    const KNOWN: &str = "this version knows: exhaustion=background|abort|continue";
    let mut exhaustion = Exhaustion::Background;
    for option in options {
        let failure = |why: String| Failure::input(what, why).with_help(KNOWN);
        let (key, value) = option
            .split_once('=')
            .ok_or_else(|| failure(format!("`--set {option}` is not of the form KEY=VALUE")))?;
        if key != "exhaustion" {
            let failure = failure(format!("no option is called `{key}`"));
            return Err(match names::nearest(key, ["exhaustion"]) {
                Some(name) => failure.with_help(format!("did you mean `{name}`?")),
                None => failure,
            });
        }
        exhaustion = match value {
            "background" => Exhaustion::Background,
            "abort" => Exhaustion::Abort,
            "continue" => Exhaustion::Continue,
            _ => return Err(failure(format!("`{value}` is no value of `exhaustion`"))),
        };
    }
    Ok(exhaustion)
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
    /// All equal where deadlines order jobs.
    priorities: Vec<u32>,
    virtual_deadlines: Option<Vec<Duration>>,
    description: String,
    /// Why nothing is promised.
    unproved: Option<String>,
}

/// Priorities, virtual deadlines, and where they come from.
type Chosen = (Vec<u32>, Option<Vec<Duration>>, String);

impl Order {
    fn find(
        path: &Path,
        set: &TaskSet,
        tasks: &[Task],
        policy: &Policy,
        given: &Given,
    ) -> Result<Self, Failure> {
        let test = vestal_analysis::find(policy.test, None).ok_or_else(|| {
            Failure::bug(
                format!("use the policy {}", policy.name),
                format!("there is no test {}", policy.test),
            )
        })?;
        let found = test.analyse(&problem::problem(path, set, test, given)?);
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
            (Verdict::Unschedulable | Verdict::NotProven, _, _) => {
                Some(("does not prove the set schedulable", Some(why)))
            }
        };
        let (priorities, virtual_deadlines, origin) =
            choose(policy.order, tasks, test, found.parameters, given);
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
            priorities,
            virtual_deadlines,
            description,
            unproved,
        })
    }

    /// What a person must know before trusting the run.
    fn doubt(&self, policy: &Policy, exhaustion: Exhaustion) -> Option<String> {
        match (&self.unproved, exhaustion) {
            (Some(doubt), _) => Some(doubt.clone()),
            (None, Exhaustion::Continue) => Some(format!(
                "exhaustion=continue: what {} promises is not covered by its test {} any more",
                policy.name, policy.test
            )),
            (None, Exhaustion::Background | Exhaustion::Abort) => None,
        }
    }
}

fn choose(
    rule: OrderRule,
    tasks: &[Task],
    test: &Test,
    found: vestal_analysis::Parameters,
    given: &Given,
) -> Chosen {
    let by_deadline = |deadlines: Vec<Duration>, origin: &str| {
        let origin = format!("earliest deadline first, {origin}");
        (vec![0; tasks.len()], Some(deadlines), origin)
    };
    let real = || tasks.iter().map(|task| task.deadline).collect();
    match rule {
        OrderRule::Classic(order) => (classic(order, tasks), None, order_name(order).to_owned()),
        OrderRule::Assigned => {
            let (priorities, origin) = match (&given.priorities, found.priorities) {
                (Some((priorities, Giver::Parameters)), _) => {
                    (priorities.clone(), "priorities of --parameters".to_owned())
                }
                (Some((priorities, Giver::File)), _) => {
                    (priorities.clone(), "priorities of the file".to_owned())
                }
                (None, Some(priorities)) => (priorities, format!("priorities found by {test}")),
                (None, None) => {
                    let order = ClassicOrder::DeadlineMonotonic;
                    (classic(order, tasks), order_name(order).to_owned())
                }
            };
            (priorities, None, origin)
        }
        OrderRule::EarliestDeadline(VirtualDeadlines::Real) => {
            by_deadline(real(), "real deadlines")
        }
        OrderRule::EarliestDeadline(VirtualDeadlines::Assigned) => {
            match (&given.virtual_deadlines, found.virtual_deadlines) {
                (Some(given), _) => by_deadline(given.clone(), "virtual deadlines of --parameters"),
                (None, Some(found)) => {
                    by_deadline(found, &format!("virtual deadlines found by {test}"))
                }
                (None, None) => by_deadline(real(), "real deadlines as virtual ones"),
            }
        }
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
    fn options_are_read_and_unknown_ones_list_the_known() {
        let read = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
            exhaustion(&options, "simulate x")
        };
        assert_eq!(read(&[]).unwrap(), Exhaustion::Background);
        assert_eq!(read(&["exhaustion=abort"]).unwrap(), Exhaustion::Abort);
        let failure = read(&["exhaustio=abort"]).unwrap_err();
        assert!(
            failure
                .help
                .iter()
                .any(|help| help.contains("background|abort|continue"))
        );
        assert!(
            failure
                .help
                .iter()
                .any(|help| help.contains("did you mean `exhaustion`"))
        );
        assert!(read(&["exhaustion"]).is_err());
        assert!(read(&["exhaustion=never"]).is_err());
    }

    #[test]
    fn times_need_a_unit_and_are_positive() {
        assert_eq!(duration("1.5s", "x").unwrap().as_nanos(), 1_500_000_000);
        for text in ["10", "0s", "-1s", "soon", "1e99s"] {
            assert!(duration(text, "x").is_err(), "{text}");
        }
    }
}
