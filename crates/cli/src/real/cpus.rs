//! A session's clusters as the CPUs of a real run: who decides on each, where it runs, which tasks it has.

use super::devices::{Devices, serve};
use super::frames;
use super::linux::{dispatch, proof};
use super::share;
use super::work::Body;
use super::{Mechanism, Monitor, Settings};
use crate::failure::Failure;
use crate::input::shown;
use crate::session::Session;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use vestal_core::{CpuId, Duration, Service, TaskConfiguration, TaskId};
use vestal_linux::config::TOLERANCE_MAX;
use vestal_linux::{
    Cancelled, Config, CpuSpec, Dispatcher, Executive, JobContext, Processor, TaskSpec, Termination,
};
use vestal_policy::{Cluster, DISPATCHER, Precision};
use vestal_trace::Dispatch;
use vestal_workload::Scenario;
use vestal_workload::model::Work;

/// The session's tasks, cluster by cluster, with bodies that do what the file and the scenario say; nothing comes from its
/// devices.
pub(super) fn executive(
    session: &Session,
    settings: &Settings,
    refused: &Arc<AtomicU64>,
) -> Result<Executive, Failure> {
    let devices = Devices::new(session, settings)?;
    with_devices(session, settings, &devices, refused)
}

/// The same with these devices.
pub(super) fn with_devices(
    session: &Session,
    settings: &Settings,
    devices: &Devices,
    refused: &Arc<AtomicU64>,
) -> Result<Executive, Failure> {
    if let Some(table) = frames::of(session) {
        let guarantee = proof(session, settings).is_some();
        return frames::executive(session, table, (settings, guarantee), refused);
    }
    let is_managed = dispatch(session, settings) == Dispatch::Managed;
    let mut executive = Executive::new(Config {
        dispatcher: dispatcher(session, settings),
        ..config(settings, is_managed)
    });
    for cluster in &session.system.clusters {
        executive = executive.cpu(cpu_of(session, cluster, settings, is_managed));
        for (&id, configuration) in cluster.tasks.iter().zip(cluster.configuration.tasks()) {
            executive = with_task(executive, session, (id, configuration), (devices, refused))?;
        }
    }
    Ok(executive)
}

pub(super) fn config(settings: &Settings, is_managed: bool) -> Config {
    let mut config = Config::new();
    config.monitor = match settings.monitor {
        Some(Monitor::Perf) => vestal_linux::Monitor::Perf,
        Some(Monitor::Manager) => vestal_linux::Monitor::Manager,
        Some(Monitor::Remainder) => vestal_linux::Monitor::Remainder,
        Some(Monitor::Heartbeat) => vestal_linux::Monitor::Heartbeat,
        Some(Monitor::PosixTimer) => vestal_linux::Monitor::PosixTimer,
        None if is_managed => vestal_linux::Monitor::Manager,
        None => vestal_linux::Monitor::Perf,
    };
    config.chooses_monitor = settings.monitor.is_none();
    if let Some(pace) = settings.pace_ns.map(Duration::from_nanos) {
        match config.monitor {
            vestal_linux::Monitor::Heartbeat => config.heartbeat = pace,
            vestal_linux::Monitor::Perf
            | vestal_linux::Monitor::Manager
            | vestal_linux::Monitor::Remainder
            | vestal_linux::Monitor::PosixTimer => config.bound = pace,
        }
    }
    config.mechanism = match settings.mechanism {
        Mechanism::Vestal => vestal_linux::Mechanism::Vestal,
        Mechanism::Huang2014 => vestal_linux::Mechanism::Huang2014,
        Mechanism::Sigrist2015 => vestal_linux::Mechanism::Sigrist2015,
    };
    // Sigrist et al. terminate deferred (section VI-C).
    let is_deferred = settings.mechanism == Mechanism::Sigrist2015;
    config.termination = match settings.deferred.unwrap_or(is_deferred) {
        true => Termination::Deferred,
        false => Termination::Immediate,
    };
    config.enforce = !settings.observe;
    if let Some(nanos) = settings.tolerance_ns {
        config.calibrate = false;
        config.tolerance = Some(Service::from_nanos(nanos));
    }
    if let Some(priorities) = settings.priorities {
        config.priorities = priorities;
    }
    config
}

/// Whether a manager has to dispatch the jobs of a cluster: where that was asked for, or the policy needs it, and where
/// fixed priorities cannot carry it out, unless they were asked for.
pub(super) fn needs_manager(cluster: &Cluster, settings: &Settings) -> bool {
    let fixed = || cluster.configuration.guard(Precision::EXACT).is_ok();
    settings.managed || (!settings.native && !fixed())
}

pub(super) fn cpu_of(
    session: &Session,
    cluster: &Cluster,
    settings: &Settings,
    is_managed: bool,
) -> CpuSpec {
    let configuration = cluster.configuration.clone();
    let precision = |granularity| Precision {
        granularity,
        wake_granularity: Duration::ZERO,
    };
    let spec = if is_managed {
        CpuSpec::managed(move |_, granularity| {
            let engine = configuration.engine(precision(granularity));
            engine
                .map(|engine| engine.boxed())
                .map_err(|refusal| refusal.why)
        })
    } else {
        CpuSpec::native(move |_, granularity| {
            let guard = configuration.guard(precision(granularity));
            guard.map_err(|refusal| refusal.why)
        })
    };
    let servers = cluster.configuration.servers();
    // A trial says how much it is, which comes later: the most that it may say.
    let tolerance = settings.tolerance_ns.map(Service::from_nanos);
    let tolerance = tolerance.unwrap_or(TOLERANCE_MAX);
    CpuSpec {
        // Their tests are for servers that have what one job of theirs needs.
        tolerates_each_job: servers.is_some_and(share::tolerates_each_job),
        processor: cluster
            .cpus
            .first()
            .and_then(|&cpu| entry_of(cpu, settings)),
        guarantee: proof(session, settings).is_some(),
        backlog: session.backlog(),
        utilization_ppm: share::share_ppm(&cluster.configuration, tolerance, |task| {
            match cluster.tasks.get(task.index()) {
                Some(task) if task.index() < session.set.tasks.len() => session.demand_max(*task),
                // A bottom half wants all that its server has.
                Some(_) => Service::from_nanos(u64::MAX),
                None => Service::ZERO,
            }
        }),
        ..spec
    }
}

pub(super) fn with_task(
    executive: Executive,
    session: &Session,
    (id, configuration): (TaskId, &TaskConfiguration),
    (devices, refused): (&Devices, &Arc<AtomicU64>),
) -> Result<Executive, Failure> {
    let Some(task) = session.set.tasks.get(id.index()) else {
        let place = id.index().saturating_sub(session.set.tasks.len());
        let half = (place, configuration);
        return Ok(with_bottom_half(executive, session, half, devices, serve));
    };
    let spec = TaskSpec {
        name: task.name.clone(),
        configuration: *configuration,
        offset: task.offset,
        demand_max: Some(session.demand_max(id)),
    };
    let workload = session.workload.clone();
    let work = task.work.unwrap_or(Work::Spin);
    let mut body = Body::new(work, session.seed, refused).ok_or_else(|| {
        Failure::machine(
            format!("run {}", shown(&session.file)),
            format!("there is not enough memory for the work of {}", task.name),
        )
        .with_help("make its `work` smaller")
    })?;
    let waits = devices.waits(&task.io);
    Ok(executive.task_with_demand(
        spec,
        move |job| workload.execution(id, job),
        move |job| {
            waits.iter().try_for_each(|wait| wait.run(job))?;
            body.run(job)
        },
    ))
}

/// The bottom half of the device with this number, which does with an event what `work` says of its cost.
pub(super) fn with_bottom_half<W>(
    executive: Executive,
    session: &Session,
    (place, configuration): (usize, &TaskConfiguration),
    devices: &Devices,
    work: impl FnOnce(Service) -> W,
) -> Executive
where
    W: FnMut(&mut JobContext<'_>, &[u8]) -> Result<(), Cancelled> + Send + 'static,
{
    let (Some(device), Some(spec)) = (devices.device(place), session.set.devices.get(place)) else {
        return executive;
    };
    let task = TaskSpec {
        name: spec.name.clone(),
        configuration: *configuration,
        offset: Duration::ZERO,
        demand_max: Some(spec.cost),
    };
    executive.bottom_half(task, device, work(spec.cost))
}

/// What `--cpus` says of a CPU of the set.
pub(super) fn entry_of(cpu: CpuId, settings: &Settings) -> Option<Processor> {
    let entries = settings.cpus.as_ref()?;
    entries.get(cpu.index()).copied().map(Processor)
}

/// Where arrivals are dispatched: on the last CPU of `--cpus` if that is to be one of its own.
pub(super) fn dispatcher(session: &Session, settings: &Settings) -> Dispatcher {
    match session.system.options.has_own_dispatcher() {
        true => {
            let last = settings.cpus.as_ref().and_then(|entries| entries.last());
            Dispatcher::Own(last.copied().map(Processor))
        }
        false => Dispatcher::Shared,
    }
}

/// Whether budgets are a server's or a task's, and pay for more than jobs.
pub(super) fn has_shared_budgets(session: &Session) -> bool {
    let mut clusters = session.system.clusters.iter();
    clusters.any(|cluster| {
        let configuration = &cluster.configuration;
        configuration.servers().is_some() || configuration.levels().is_some()
    })
}

/// Whether something is left of the policy if no budget is kept.
pub(super) fn check_observed(session: &Session, settings: &Settings) -> Result<(), Failure> {
    if !settings.observe || !has_shared_budgets(session) {
        return Ok(());
    }
    let why = "budgets of servers and tasks decide who runs, so nothing can be planned without keeping them";
    let what = format!("use --observe with {}", session.system.policy);
    Err(Failure::input(what, why).with_help("leave out --observe"))
}

/// Whether `--cpus` has an entry for each CPU of the set, if it was given.
pub(super) fn check_entries(session: &Session, settings: &Settings) -> Result<(), Failure> {
    let Some(entries) = &settings.cpus else {
        return Ok(());
    };
    let has_own = session.system.options.has_own_dispatcher();
    let cpus = usize::from(session.system.cpus);
    let (given, needed) = (entries.len(), cpus + usize::from(has_own));
    if given == needed {
        return check_own(session, entries);
    }
    let list: Vec<String> = entries.iter().map(usize::to_string).collect();
    let (policy, has) = (&session.system.policy, |count| match count {
        1 => "one entry".to_owned(),
        more => format!("{more} entries"),
    });
    let why = match cpus {
        more if has_own => format!(
            "it has {}, and {policy} runs this set on {more} CPUs and dispatches arrivals on one more",
            has(given)
        ),
        1 => format!(
            "it has {}, and {policy} runs this set on one CPU",
            has(given)
        ),
        more => format!(
            "it has {}, and {policy} runs this set on {more} CPUs",
            has(given)
        ),
    };
    let help = match needed {
        _ if has_own => format!(
            "write {needed} entries, the last of them for the dispatcher of arrivals alone, or leave out --set {}=own",
            DISPATCHER.name
        ),
        1 => "name one, for instance --cpus 1".to_owned(),
        more => format!(
            "write {more} entries: CPU k of the set runs on the k-th, and entries may repeat, for instance --cpus {}",
            repeated(more)
        ),
    };
    let what = format!(
        "use --cpus {} with {}",
        list.join(","),
        shown(&session.file)
    );
    Err(Failure::input(what, why).with_help(help))
}

/// Whether a CPU that a dispatcher is to have for itself, the last entry, is no other entry.
fn check_own(session: &Session, entries: &[usize]) -> Result<(), Failure> {
    match entries.split_last() {
        Some((own, others))
            if session.system.options.has_own_dispatcher() && others.contains(own) =>
        {
            let option = DISPATCHER.name;
            let what = format!("use --set {option}=own with {}", shown(&session.file));
            let why = format!(
                "CPU {own} is the last entry of --cpus, for the dispatcher alone, and another one too"
            );
            let help = format!(
                "name a CPU that no task runs on as the last entry, or use --set {option}=shared"
            );
            Err(Failure::input(what, why).with_help(help))
        }
        _ => Ok(()),
    }
}

/// A list of so many entries that two CPUs are enough for.
fn repeated(count: usize) -> String {
    let entries = ["0", "1"].into_iter().cycle().take(count);
    entries.collect::<Vec<_>>().join(",")
}

/// Whether two CPUs of the set run on one of the machine.
pub(super) fn repeats(settings: &Settings) -> bool {
    let entries = settings.cpus.as_deref().unwrap_or_default();
    let mut sorted = entries.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len() < entries.len()
}

/// Why nothing is guaranteed where CPUs of the set share one of the machine, a line for each of those.
pub(super) fn sharing(session: &Session, settings: &Settings) -> Vec<String> {
    let mut on: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let entries = settings.cpus.iter().flatten();
    for (number, &entry) in entries.enumerate() {
        on.entry(entry).or_default().push(number.to_string());
    }
    let shared = on.into_iter().filter(|(_, cpus)| cpus.len() > 1);
    let policy = &session.system.policy;
    let lines = shared.map(|(processor, cpus)| {
        format!(
            "CPUs {} of the set share CPU {processor} of this machine: no test of {policy} speaks of that, so nothing is guaranteed",
            cpus.join(", ")
        )
    });
    lines.collect()
}

/// What a person must know of servers in a real run.
pub(super) fn serving(session: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    if !has_shared_budgets(session) {
        return lines;
    }
    if session.system.proved_by().is_some() {
        lines.push(format!(
            "budgets of servers and tasks also pay here for what it takes to begin and to end a job, of which no test of {} speaks: nothing is guaranteed",
            session.system.policy
        ));
    }
    // Where there are no servers that is said before, of every world.
    let mut clusters = session.system.clusters.iter();
    if let Scenario::File(file) = session.workload.scenario()
        && clusters.any(|cluster| cluster.configuration.servers().is_some())
        && !file.modes.is_empty()
    {
        lines.push("rows of the kind mode have no effect in a real run".to_owned());
    }
    lines
}

#[cfg(test)]
#[path = "cpus_tests.rs"]
mod tests;
