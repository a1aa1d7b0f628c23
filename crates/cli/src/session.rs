//! What simulated and real runs have in common: the set, the system, the demand.

use crate::args::WorldArgs;
use crate::failure::{Exit, Failure};
use crate::input::{self, shown};
use crate::output::Output;
use crate::quantity::{exact, first_few};
use crate::registry::{policy_of, registry};
use std::path::{Path, PathBuf};
use vestal_analysis::Parameters;
use vestal_core::{
    Duration, Enforcement, Exhaustion, LevelSet, Rank, Scheduler, Service, Task, TaskId,
};
use vestal_experiment::costs::Simulated;
use vestal_experiment::takes_costs;
use vestal_policy::{
    Analysis, BACKLOG, Cluster, Configuration, Engine, Options, Policy, Precision, Registry,
    System, assemble, parameters, said_of_servers,
};
use vestal_result::run::Taken;
use vestal_sim::guarantee::Guarantee;
use vestal_workload::quantity::parse_time;
use vestal_workload::{Scenario, ScenarioSpec, TaskSet, Workload};

/// Everything a world needs, checked.
pub(crate) struct Session {
    pub(crate) file: PathBuf,
    pub(crate) set: TaskSet,
    pub(crate) tasks: Vec<Task>,
    pub(crate) levels: LevelSet,
    pub(crate) system: System,
    /// Under which limits deadlines are guaranteed, by cluster; `None` where nothing is, or servers or levels are what it goes by.
    limits: Vec<Option<(Enforcement, Exhaustion)>>,
    pub(crate) duration: Duration,
    pub(crate) workload: Workload,
    /// The scenario as it was written.
    pub(crate) scenario: String,
    pub(crate) seed: u64,
    /// What carrying the policy out costs in a simulated world, and where that is said.
    pub(crate) costs: Option<(Simulated, Taken)>,
}

/// What the command line says, checked before the file is looked at.
struct Opening<'a> {
    args: &'a WorldArgs,
    registry: &'a Registry,
    policy: &'a dyn Policy,
    options: Options,
    duration: Option<Duration>,
    /// What is about to be done.
    what: String,
}

impl<'a> Opening<'a> {
    fn new(registry: &'a Registry, args: &'a WorldArgs, verb: &str) -> Result<Self, Failure> {
        let what = format!("{verb} {}", shown(&args.file));
        let policy = policy_of(registry, &args.policy, &what)?;
        let options = pairs(&args.options, &what)?;
        let options = registry.options(policy, &options);
        Ok(Self {
            args,
            registry,
            policy,
            options: options.map_err(|refusal| Failure::refused(what.as_str(), refusal))?,
            duration: args
                .duration
                .as_deref()
                .map(|text| duration(text, &what))
                .transpose()?,
            what,
        })
    }
}

impl Session {
    /// Reads and checks what the command line names, with the policies and tests of this registry. `verb` is what is
    /// about to be done.
    pub(crate) fn open(
        registry: &Registry,
        args: &WorldArgs,
        verb: &str,
        output: &Output,
    ) -> Result<Self, Failure> {
        let opening = Opening::new(registry, args, verb)?;
        let set = input::task_set(&args.file, output)?;
        Self::asked(opening, set, None, output)
    }

    /// The same for a simulated world in which carrying out the policy with its options costs something.
    pub(crate) fn with_costs(
        registry: &Registry,
        args: &WorldArgs,
        costs: impl FnOnce(&dyn Policy, &Options) -> Result<Option<(Simulated, Taken)>, Failure>,
        output: &Output,
    ) -> Result<Self, Failure> {
        let opening = Opening::new(registry, args, "simulate")?;
        let costs = costs(opening.policy, &opening.options)?;
        let set = input::task_set(&args.file, output)?;
        Self::asked(opening, set, costs, output)
    }

    /// The same for a set that was read already.
    pub(crate) fn with_set(
        args: &WorldArgs,
        set: TaskSet,
        output: &Output,
    ) -> Result<Self, Failure> {
        Self::asked(Opening::new(registry(), args, "use")?, set, None, output)
    }

    fn asked(
        opening: Opening<'_>,
        set: TaskSet,
        costs: Option<(Simulated, Taken)>,
        output: &Output,
    ) -> Result<Self, Failure> {
        let scenario = opening.args.scenario.as_deref().unwrap_or("lo");
        let scenario = read_scenario(scenario, &set, output)?;
        let parameters = read_parameters(opening.args.parameters.as_deref(), &set)?;
        let analysis = match &costs {
            Some((simulated, _)) => Analysis::With(simulated.overheads),
            None => Analysis::Ask,
        };
        let what = opening.what.clone();
        let said = said_of_servers(opening.policy, &opening.options, &set);
        let mut session = Self::of_set(opening, set, scenario, (&parameters, analysis), output)?;
        if costs.is_some() {
            let mut clusters = session.system.clusters.iter();
            let refused = clusters.find_map(|cluster| takes_costs(cluster).err());
            if let Some(why) = refused {
                return Err(Failure::input(what, why).with_help("leave out --overheads"));
            }
        }
        session.costs = costs;
        // It was not refused: what there is are warnings.
        if let Some(warnings) = said {
            output.diagnostics(&warnings);
        }
        if let Some(doubt) = session.system.doubt() {
            output.warning(&doubt);
        }
        session.warn_of_rows_without_effect(output);
        Ok(session)
    }

    /// Only servers have devices, and modes that are asked for.
    fn warn_of_rows_without_effect(&self, output: &Output) {
        let Scenario::File(file) = self.workload.scenario() else {
            return;
        };
        let given = !file.modes.is_empty() || file.devices.iter().any(|rows| !rows.is_empty());
        if given && self.configuration().servers().is_none() {
            output.warning(&format!(
                "rows of the kinds device and mode have no effect under {}: it has no servers",
                self.system.policy
            ));
        }
    }

    /// The session of a recorded run with the task set `set`, which is the recorded one or another. Its
    /// parameters are those of the recording; what is doubtful about it was said when it ran.
    pub(crate) fn recorded(
        registry: &Registry,
        args: &WorldArgs,
        set: TaskSet,
        parameters: &Parameters,
        output: &Output,
    ) -> Result<Self, Failure> {
        let mut opening = Opening::new(registry, args, "replay")?;
        opening.duration = Some(Duration::ZERO);
        Self::of_set(
            opening,
            set,
            Scenario::Lo,
            (parameters, Analysis::Skip),
            output,
        )
    }

    fn of_set(
        opening: Opening<'_>,
        set: TaskSet,
        scenario: Scenario,
        (parameters, analysis): (&Parameters, Analysis),
        output: &Output,
    ) -> Result<Self, Failure> {
        let (args, what) = (opening.args, opening.what);
        let by = (opening.policy, &opening.options);
        let system = assemble(opening.registry, by, &set, parameters, analysis);
        let system = system.map_err(|refusal| Failure::refused(&what, refusal))?;
        let limits = |cluster: &Cluster| match cluster.promises_nothing()
            || cluster.guaranteed_servers().is_some()
            || cluster.guaranteed_levels().is_some()
        {
            true => Some(None),
            false => cluster.limits().map(Some),
        };
        let limits: Option<Vec<_>> = system.clusters.iter().map(limits).collect();
        let limits = limits.ok_or_else(|| {
            let policy = &system.policy;
            let why = "does not guarantee deadlines, and this version judges no other guarantee";
            Failure::input(what, format!("{policy} {why}"))
        })?;
        let numbers = (0..set.tasks.len()).filter_map(|task| u16::try_from(task).ok());
        let tasks = numbers.filter_map(|task| {
            let (cluster, task) = system.cluster_of(TaskId(task))?;
            let entry = cluster.configuration.tasks().get(task.index())?;
            Some(entry.task)
        });
        let tasks: Vec<Task> = tasks.collect();
        let duration = opening.duration.unwrap_or_else(|| {
            let duration = set.default_duration();
            output.note(&format!(
                "for {}: two hyperperiods plus the largest offset, at most 10s; --for changes that",
                exact(duration.as_nanos())
            ));
            duration
        });
        Ok(Self {
            file: args.file.clone(),
            workload: Workload::new(&set, &tasks, scenario, args.seed),
            scenario: args.scenario.clone().unwrap_or_else(|| "lo".to_owned()),
            seed: args.seed,
            levels: vestal_policy::levels(&set)
                .map_err(|refusal| Failure::refused("count the levels", refusal))?,
            duration,
            system,
            limits,
            tasks,
            set,
            costs: None,
        })
    }

    /// From what the schedulers of its first cluster are made: the only one in worlds that have one CPU.
    pub(crate) fn configuration(&self) -> &Configuration {
        &self.system.clusters[0].configuration
    }

    /// Under which limits deadlines are guaranteed in the cluster of a task; `None` where nothing is.
    #[cfg(all(target_os = "linux", feature = "watch"))]
    pub(crate) fn limits(&self, task: TaskId) -> Option<(Enforcement, Exhaustion)> {
        let mut clusters = self.system.clusters.iter().zip(&self.limits);
        let of_task = clusters.find(|(cluster, _)| cluster.tasks.contains(&task));
        of_task.and_then(|(_, limits)| *limits)
    }

    /// What is guaranteed in a cluster, if it is proved: what worlds judge by.
    pub(crate) fn guarantee(&self, cluster: usize) -> Guarantee {
        let of = &self.system.clusters[cluster];
        if let Some(servers) = of.guaranteed_servers() {
            let guarantee = Guarantee::of_servers(&servers.with(Precision::EXACT));
            return guarantee.within(of.server_bounds());
        }
        if let Some((levels, late)) = of.guaranteed_levels() {
            return levels.configured(Precision::EXACT, |all| Guarantee::of_levels(all, late));
        }
        let Some((enforcement, exhaustion)) = self.limits[cluster] else {
            return Guarantee::none();
        };
        Guarantee::of(&vestal_core::Configuration {
            tasks: of.configuration.tasks(),
            levels: self.levels,
            enforcement,
            exhaustion,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        })
    }

    /// How late jobs of a task may be by what is guaranteed and proved, if that says so.
    pub(crate) fn tardiness(&self, task: TaskId) -> Option<Duration> {
        self.system.proved_by()?;
        let (cluster, task) = self.system.cluster_of(task)?;
        let (_, late) = cluster.guaranteed_levels()?;
        late.get(task.index()).copied().flatten()
    }

    /// What each frame of a table has to spare.
    pub(crate) fn frame_overhead(&self) -> Duration {
        let clusters = self.system.clusters.iter();
        let tables = clusters.filter_map(|cluster| cluster.configuration.frames());
        let spare = tables.map(vestal_policy::FrameLists::overhead).max();
        spare.unwrap_or(Duration::ZERO)
    }

    /// How many jobs of one task may wait behind its current one; `None`: any number.
    pub(crate) fn backlog(&self) -> Option<usize> {
        self.system.options.number(&BACKLOG)
    }

    /// A scheduler that decides everything in a cluster.
    pub(crate) fn scheduler(
        cluster: &Cluster,
        what: &str,
    ) -> Result<Box<dyn Scheduler + Send>, Failure> {
        Self::engine(cluster, what).map(Engine::boxed)
    }

    /// The same, whose kind can be asked for.
    pub(crate) fn engine(cluster: &Cluster, what: &str) -> Result<Engine, Failure> {
        let engine = cluster.configuration.engine(Precision::EXACT);
        engine.map_err(|refusal| Failure::refused(what, refusal))
    }

    /// Where a fault is looked for first if the scheduler is a user's.
    pub(crate) fn own_fault(&self, failure: Failure) -> Failure {
        if failure.exit != Exit::Bug || !self.configuration().is_own() {
            return failure;
        }
        failure.with_help(format!(
            "the scheduler of {} is this program's own: does it keep the rules C1 to C9 of vestal_core::scheduler?",
            self.system.policy
        ))
    }

    /// How urgent a task is, as a number that grows as it gets less urgent, and for people.
    pub(crate) fn urgency(&self, task: usize) -> (u64, String) {
        /// How many job priorities of a task a table shows.
        const SHOWN: usize = 4;
        let by_priority = |priority: u32| u64::from(u32::MAX - priority);
        match self.rank(task) {
            Some(Rank::Priority(priority)) => (by_priority(priority), priority.to_string()),
            Some(Rank::DueAfter(due)) => (due.as_nanos(), exact(due.as_nanos())),
            Some(Rank::Jobs(list)) => {
                let first = list.first().copied().unwrap_or(0);
                (by_priority(first), first_few(list, SHOWN))
            }
            None => (0, "-".to_owned()),
        }
    }

    fn rank(&self, task: usize) -> Option<Rank<'_>> {
        let (cluster, task) = self.system.cluster_of(TaskId(u16::try_from(task).ok()?))?;
        cluster.configuration.rank(task.index())
    }

    /// What a column of [`Self::urgency`] is called.
    pub(crate) fn urgency_column(&self) -> &'static str {
        match self.configuration().rank(0) {
            Some(Rank::Priority(_)) | None => "prio",
            Some(Rank::DueAfter(_)) => "due after",
            Some(Rank::Jobs(_)) => "job prio",
        }
    }

    /// The zero-slack instant of a task, for people; `None` if the policy has none.
    pub(crate) fn zero_slack(&self, task: usize) -> Option<String> {
        let (cluster, task) = self.system.cluster_of(TaskId(u16::try_from(task).ok()?))?;
        let entry = cluster.configuration.tasks().get(task.index())?;
        let instant = entry.zero_slack?;
        Some(exact(instant.as_nanos()))
    }

    /// The name of a task; its number if there is none.
    pub(crate) fn task_name(&self, task: TaskId) -> String {
        match self.set.tasks.get(task.index()) {
            Some(spec) => spec.name.clone(),
            None => format!("task {}", task.0),
        }
    }

    /// The most that a job of a task can demand under the scenario; in a file also more than its own level allows.
    pub(crate) fn demand_max(&self, task: TaskId) -> Service {
        let spec = self.tasks.get(task.index());
        match (self.workload.scenario(), spec) {
            (Scenario::Lo, Some(task)) => task.wcet.at(vestal_core::Level::LOWEST),
            (Scenario::File(file), Some(spec)) => {
                let rows = file.jobs.get(task.index()).into_iter().flatten();
                let executions = rows.filter_map(|row| row.execution);
                executions.fold(spec.own_wcet(), Service::max)
            }
            (_, Some(spec)) => spec.own_wcet(),
            (_, None) => Service::ZERO,
        }
    }
}

/// Options as keys and values.
fn pairs(options: &[String], what: &str) -> Result<Vec<(String, String)>, Failure> {
    let pair = |option: &String| match option.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(Failure::input(
            what,
            format!("`--set {option}` is not of the form KEY=VALUE"),
        )
        .with_help("write for instance --set exhaustion=abort")),
    };
    options.iter().map(pair).collect()
}

/// A parameters file, checked against the set; nothing without a file.
pub(crate) fn read_parameters(path: Option<&Path>, set: &TaskSet) -> Result<Parameters, Failure> {
    let Some(path) = path else {
        return Ok(Parameters::default());
    };
    let source = input::source(path)?;
    parameters::read(&source, set).map_err(|found| input::unreadable(path, found))
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
        Ok(ScenarioSpec::Level(name)) => {
            let level = Scenario::at_level(&name, set);
            return level.map_err(|found| Failure::diagnosed(what, found));
        }
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
    }
    Ok(scenario)
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
